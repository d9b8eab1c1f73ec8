//! Rewriting a network.
//!
//! In: a network and its roots. Out: the same functions, gate by gate, in a
//! [`Builder`], with the changes of a pass.

use super::network::{Builder, Literal, Network, Node};

/// By node: true if any root depends on it. A cycle is live or dead as a whole.
pub fn live(network: &Network, roots: impl IntoIterator<Item = Literal>) -> Vec<bool> {
    let mut live = vec![false; network.len()];
    for root in roots {
        live[root.node()] = true;
    }
    let mut regions = network.regions().iter().rev().peekable();
    for node in (0..network.len()).rev() {
        // Nodes are visited backwards, so the end of a cycle comes first.
        while let Some(region) = regions.next_if(|region| region.nodes.end == node + 1) {
            if live[region.nodes.clone()].contains(&true) {
                live[region.nodes.clone()].fill(true);
                for definition in &region.definitions {
                    live[definition.node()] = true;
                }
            }
        }
        if live[node] {
            for operand in network.reads(node) {
                live[operand.node()] = true;
            }
        }
    }
    live
}

/// Writes the live part of a network into a builder. `inputs` is the replacement of
/// each input. `gate` makes the new gate for an old one, given its operands in
/// terms of the new network, which it may modify.
///
/// The result gives the new literal for each old node; dead nodes become false.
pub fn transcribe(
    network: &Network,
    live: &[bool],
    inputs: &[Literal],
    builder: &mut Builder,
    mut gate: impl FnMut(&mut Builder, usize, &mut Vec<Literal>) -> Literal,
) -> Vec<Literal> {
    let mut became = vec![Literal::FALSE; network.len()];
    let mut regions = network.regions().iter().peekable();
    let mut feedbacks: Vec<Literal> = Vec::new();
    let mut first = 0;
    let mut operands = Vec::new();
    for node in 0..network.len() {
        if let Some(region) = regions.peek()
            && region.nodes.start == node
            && live[node]
        {
            first = region.feedbacks.start;
            feedbacks = builder.open(region.feedbacks.len());
        }
        if live[node] {
            became[node] =
                match network.node(node) {
                    Node::False => Literal::FALSE,
                    Node::Input(number) => inputs[number],
                    Node::Feedback(number) => feedbacks[number - first],
                    Node::And(_) | Node::Xor(..) => {
                        operands.clear();
                        operands.extend(network.operands(node).iter().map(|operand| {
                            became[operand.node()].negated_if(operand.is_negated())
                        }));
                        gate(builder, node, &mut operands)
                    }
                };
        }
        while let Some(region) = regions.next_if(|region| region.nodes.end == node + 1) {
            if live[region.nodes.start] {
                let definitions: Vec<Literal> = region
                    .definitions
                    .iter()
                    .map(|literal| became[literal.node()].negated_if(literal.is_negated()))
                    .collect();
                builder.close(&definitions);
            }
        }
    }
    became
}

/// Copies the live part of a network into a builder with its gates unchanged. The
/// result is that of [`transcribe`].
pub fn copy(
    network: &Network,
    live: &[bool],
    inputs: &[Literal],
    builder: &mut Builder,
) -> Vec<Literal> {
    transcribe(network, live, inputs, builder, |builder, node, operands| {
        same_gate(network, builder, node, operands)
    })
}

/// Copies the live part of a network without cycles, as [`copy`] does, given the result for other
/// inputs. Only gates whose operands differ from those are made.
pub fn copy_changes(
    network: &Network,
    live: &[bool],
    before: &[Literal],
    inputs: &[Literal],
    builder: &mut Builder,
) -> Vec<Literal> {
    let mut became = before.to_vec();
    let mut operands = Vec::new();
    for node in (0..network.len()).filter(|&node| live[node]) {
        if let Node::Input(number) = network.node(node) {
            became[node] = inputs[number];
            continue;
        }
        let reads = network.reads(node);
        if reads
            .iter()
            .any(|read| became[read.node()] != before[read.node()])
        {
            operands.clear();
            operands.extend(
                reads
                    .iter()
                    .map(|read| became[read.node()].negated_if(read.is_negated())),
            );
            became[node] = same_gate(network, builder, node, &operands);
        }
    }
    became
}

/// Makes the same gate from the given operands: the `gate` of a [`transcribe`] that
/// changes nothing.
pub fn same_gate(
    network: &Network,
    builder: &mut Builder,
    node: usize,
    operands: &[Literal],
) -> Literal {
    match network.node(node) {
        Node::Xor(..) => builder.xor(operands[0], operands[1]),
        _ => builder.and(operands),
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::propnet::network::tests::random_network;

    #[test]
    fn a_copy_of_changes_is_a_copy() {
        let mut checked = 0;
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (network, outputs) = random_network(12, 60, &mut random);
            if !network.regions().is_empty() {
                continue;
            }
            checked += 1;
            let live = live(&network, outputs);
            let mut builder = Builder::new(12);
            let mut inputs: Vec<Literal> = (0..12).map(|input| builder.input(input)).collect();
            let before = copy(&network, &live, &inputs, &mut builder);
            for _ in 0..3 {
                let changed = random.random_range(0..12);
                inputs[changed] = match random.random_range(0..3) {
                    0 => Literal::FALSE,
                    1 => Literal::TRUE,
                    _ => builder.input(random.random_range(0..12)),
                };
            }
            let changed = copy_changes(&network, &live, &before, &inputs, &mut builder);
            let whole = copy(&network, &live, &inputs, &mut builder);
            assert_eq!(changed, whole, "seed {seed}");
        }
        assert!(
            checked >= 20,
            "{checked} networks without cycles are too few"
        );
    }
}
