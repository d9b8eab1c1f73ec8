//! Facts and images of states as gates over the bits of a code.

use super::Layout;
use ggp_engine::propnet::network::{Builder, Literal};

impl Layout {
    /// The code of a state's image under a permutation of facts, by bit, as a
    /// function of the bits of the state's own code, which are the builder's first
    /// inputs. `from` maps each fact to its preimage.
    pub(in crate::planning) fn image(&self, from: &[u32], builder: &mut Builder) -> Vec<Literal> {
        let holds = self.represented(builder);
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
            // A field whose facts all move to another field in the same order keeps
            // its bits.
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

    /// By fact: whether it holds, as a function of the bits of a code, which are
    /// the builder's first inputs. Facts that the code does not represent are
    /// false.
    pub(in crate::planning) fn facts(&self, builder: &mut Builder) -> Vec<Literal> {
        let mut holds = self.represented(builder);
        for &(fact, equal) in &self.equal {
            // The inputs follow node 0, and the facts are the first inputs.
            let value = match equal.node() {
                0 => Literal::FALSE,
                node => holds[node - 1],
            };
            holds[fact] = value.negated_if(equal.is_negated());
        }
        holds
    }

    fn represented(&self, builder: &mut Builder) -> Vec<Literal> {
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
}
