//! Removal of dead gates, and level order.
//!
//! In: a network and its roots. Out: the network without gates that no root depends
//! on, each gate after all gates of lower level. The level of a gate is one more
//! than the highest level of its operands; a cycle counts as one gate.

use super::network::{Literal, Network};
use super::rewrite::live;

/// Removes the gates that no root depends on and sorts the rest by level. `roots`
/// are updated in place. Inputs keep their numbers.
pub(super) fn remove_dead_gates(network: &Network, roots: &mut [Literal]) -> Network {
    let mut live = live(network, roots.iter().copied());
    live[0] = true;
    let level = levels(network);
    let mut order: Vec<usize> = (0..network.len())
        .filter(|&node| live[node] || network.input_number(node).is_some())
        .collect();
    order.sort_by_key(|&node| level[node]);
    let mut place = vec![0; network.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    for root in roots {
        *root = Literal::of(place[root.node()]).negated_if(root.is_negated());
    }
    network.permuted(&order, &place)
}

/// By node: its level. Constants and inputs have level 0. The nodes of a cycle
/// share a level of their own, so that sorting keeps them together.
fn levels(network: &Network) -> Vec<u64> {
    let mut level = vec![0u64; network.len()];
    let mut regions = network.regions().iter().enumerate().peekable();
    let mut node = 0;
    while node < network.len() {
        // The definitions of a cycle's feedbacks may precede the cycle.
        let (end, own, defined) = match regions.next_if(|(_, region)| region.nodes.start == node) {
            Some((number, region)) => (
                region.nodes.end,
                number as u64 + 1,
                region.definitions.as_slice(),
            ),
            None => (node + 1, 0, &[][..]),
        };
        let highest = (node..end)
            .flat_map(|inside| network.reads(inside))
            .chain(defined)
            .filter(|read| !(node..end).contains(&read.node()))
            .map(|read| level[read.node()] >> 32)
            .max();
        if let Some(highest) = highest {
            level[node..end].fill((highest + 1) << 32 | own);
        } else if own > 0 {
            level[node..end].fill(1 << 32 | own);
        }
        node = end;
    }
    level
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::propnet::network::read;
    use crate::propnet::network::tests::random_network;

    #[test]
    fn removing_dead_gates_keeps_the_values() {
        for seed in 0..300 {
            let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
            let (network, roots) = random_network(10, 120, &mut random);
            let mut moved = roots.clone();
            let cleaned = remove_dead_gates(&network, &mut moved);
            let inputs: Vec<u64> = (0..10).map(|_| random.random()).collect();
            let (before, after) = (network.evaluate(&inputs), cleaned.evaluate(&inputs));
            for (root, moved) in roots.into_iter().zip(moved) {
                assert_eq!(read(root, &before), read(moved, &after), "seed {seed}");
            }
        }
    }
}
