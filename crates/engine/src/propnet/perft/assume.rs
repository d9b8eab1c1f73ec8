//! Simplification of gates under assumptions.
//!
//! In: literals that are true wherever the answer matters. Out: the gates that the
//! answer needs, simplified by the consequences of these literals.

use rustc_hash::FxHashMap;

use crate::propnet::network::{Builder, Literal, Network, Node};
use crate::propnet::rewrite::{live, same_gate, transcribe};

/// The values of nodes that follow from the assumed literals.
#[derive(Clone, Debug, Default)]
pub(super) struct Assumed {
    values: FxHashMap<usize, bool>,
}

impl Assumed {
    /// Assumes that a literal is true.
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

    /// A network with the same inputs and the simplified gates of the outputs. The
    /// outputs are updated to its literals.
    pub fn simplified<'o>(
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
    fn assumed_literals_are_removed_from_the_gates() {
        let mut builder = Builder::new(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| builder.input(i));
        let (one, other) = (builder.and(&[a, b]), builder.and(&[c, d]));
        let end = builder.or(&[one, other]);
        let moved = builder.and(&[a, !c]);
        let later = builder.or(&[other, moved]);
        let mut assumed = Assumed::default();
        assumed.assume(builder.network(), !end);
        let mut output = later;
        let network = assumed.simplified(builder.network(), [&mut output].into_iter());
        assert_eq!(network.gates(), 1);
    }
}
