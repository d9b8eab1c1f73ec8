//! Gates made smaller by what is taken for granted.
//!
//! In: literals that hold wherever the answer matters. Out: the gates that the
//! answer needs, with what follows from these literals put in.

use rustc_hash::FxHashMap;

use crate::propnet::network::{Builder, Literal, Network, Node};
use crate::propnet::rewrite::{live, same_gate, transcribe};

/// Nodes whose values follow from some literals.
#[derive(Clone, Debug, Default)]
pub(super) struct Assumed {
    values: FxHashMap<usize, bool>,
}

impl Assumed {
    /// Takes for granted that a literal holds.
    pub fn assume(&mut self, network: &Network, literal: Literal) {
        let mut open = vec![literal];
        while let Some(literal) = open.pop() {
            if literal.is_constant() {
                continue;
            }
            let value = !literal.is_negated();
            if self.values.insert(literal.node(), value).is_some() {
                continue;
            }
            if let (true, Node::And(operands)) = (value, network.node(literal.node())) {
                open.extend(operands);
            }
        }
    }

    /// The gates of the outputs in a network of their own with the same inputs;
    /// the outputs become literals of it.
    pub fn put_in<'o>(
        &self,
        network: &Network,
        outputs: impl Iterator<Item = &'o mut Literal>,
    ) -> Network {
        let mut outputs: Vec<&mut Literal> = outputs.collect();
        let live = live(network, outputs.iter().map(|output| **output));
        let mut builder = Builder::new(network.inputs());
        let of = |value: bool| Literal::FALSE.negated_if(value);
        let inputs: Vec<Literal> = (0..network.inputs())
            .map(
                |number| match self.values.get(&network.input(number).node()) {
                    Some(&value) => of(value),
                    None => builder.input(number),
                },
            )
            .collect();
        let became = transcribe(
            network,
            &live,
            &inputs,
            &mut builder,
            |b, node, reads| match self.values.get(&node) {
                Some(&value) => of(value),
                None => same_gate(network, b, node, reads),
            },
        );
        for output in &mut outputs {
            **output = became[output.node()].negated_if(output.is_negated());
        }
        builder.into_network()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_of_the_ways_to_end_is_left() {
        let mut builder = Builder::new(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| builder.input(i));
        let (one, other) = (builder.and(&[a, b]), builder.and(&[c, d]));
        let end = builder.or(&[one, other]);
        let moved = builder.and(&[a, !c]);
        let later = builder.or(&[other, moved]);
        let mut assumed = Assumed::default();
        assumed.assume(builder.network(), !end);
        let mut output = later;
        let network = assumed.put_in(builder.network(), [&mut output].into_iter());
        assert_eq!(network.gates(), 1);
    }
}
