//! What bits of codes say, as gates: facts, and codes of renamed states.

use super::Layout;
use ggp_engine::propnet::network::{Builder, Literal};

impl Layout {
    /// By bit of the code of a renamed state: what it is in terms of the bits of
    /// the state's own code, which are the builder's first inputs. `from` says by
    /// fact which fact is renamed to it.
    pub(in crate::planning) fn image(&self, from: &[u32], builder: &mut Builder) -> Vec<Literal> {
        let holds = self.told(builder);
        let mut places = vec![None; self.facts];
        for (number, field) in self.fields.iter().enumerate() {
            for (position, &fact) in field.facts.iter().enumerate() {
                places[fact] = Some((number, position));
            }
        }
        let mut image = Vec::with_capacity(self.bits);
        for field in &self.fields {
            let facts = field.facts.iter();
            let origins: Vec<usize> = facts.map(|&fact| from[fact] as usize).collect();
            // A field that moves as a whole, number by number, keeps its bits.
            let whole = places[origins[0]].map(|(number, _)| (number, &self.fields[number]));
            let whole = whole.filter(|&(number, other)| {
                let mut each = origins.iter().enumerate();
                other.facts.len() == field.facts.len()
                    && other.first == field.first
                    && each.all(|(position, &fact)| places[fact] == Some((number, position)))
            });
            for bit in 0..field.width {
                image.push(match whole {
                    Some((_, other)) => builder.input(other.at + bit),
                    None => {
                        let set = origins.iter().enumerate();
                        let set = set.filter(|(place, _)| (field.first + place) >> bit & 1 == 1);
                        let set: Vec<Literal> = set.map(|(_, &fact)| holds[fact]).collect();
                        builder.or(&set)
                    }
                });
            }
        }
        image
    }

    /// By fact: whether it holds, in terms of the bits of a code, which are the
    /// builder's first inputs. Facts that the code does not tell do not hold.
    pub(in crate::planning) fn facts(&self, builder: &mut Builder) -> Vec<Literal> {
        let mut holds = self.told(builder);
        for &(fact, equal) in &self.equal {
            // Inputs follow node 0, facts come first among them.
            let value = match equal.node() {
                0 => Literal::FALSE,
                node => holds[node - 1],
            };
            holds[fact] = value.negated_if(equal.is_negated());
        }
        holds
    }

    fn told(&self, builder: &mut Builder) -> Vec<Literal> {
        let mut holds = vec![Literal::FALSE; self.facts];
        for field in &self.fields {
            for (position, &fact) in field.facts.iter().enumerate() {
                let value = field.first + position;
                let bits: Vec<Literal> = (0..field.width)
                    .map(|bit| {
                        let input = builder.input(field.at + bit);
                        input.negated_if(value >> bit & 1 == 0)
                    })
                    .collect();
                holds[fact] = builder.and(&bits);
            }
        }
        holds
    }

    /// By fact: whether the key tells it.
    pub(in crate::planning) fn in_key(&self) -> Vec<bool> {
        let mut told = vec![false; self.facts];
        for field in self.fields.iter().filter(|field| field.at < self.key_bits) {
            field.facts.iter().for_each(|&fact| told[fact] = true);
        }
        told
    }
}
