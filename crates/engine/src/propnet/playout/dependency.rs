//! Dependencies between the nodes of a network.

use rustc_hash::FxHashSet;

use crate::propnet::network::{Network, Region};

/// The region that a node belongs to.
fn region(network: &Network, node: usize) -> Option<&Region> {
    let regions = network.regions();
    let at = regions.partition_point(|region| region.nodes.end <= node);
    regions
        .get(at)
        .filter(|region| region.nodes.contains(&node))
}

/// The nodes that the roots depend on, roots included, in no order. The operands of
/// a node are omitted if `enter` is false for it.
pub(super) fn reached(
    network: &Network,
    roots: impl IntoIterator<Item = usize>,
    mut enter: impl FnMut(usize) -> bool,
) -> Vec<usize> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut open: Vec<usize> = roots.into_iter().collect();
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        found.push(node);
        if !enter(node) {
            continue;
        }
        open.extend(network.reads(node).iter().map(|literal| literal.node()));
        // A cycle is computed as a whole.
        if let Some(region) = region(network, node) {
            open.extend(region.nodes.clone());
            open.extend(region.definitions.iter().map(|literal| literal.node()));
        }
    }
    found
}

/// By node: true if it depends on an input that is set in `inputs`.
pub(super) fn depends(network: &Network, inputs: &[bool]) -> Vec<bool> {
    let mut depends = vec![false; network.len()];
    let mut regions = network.regions().iter().peekable();
    for node in 0..network.len() {
        depends[node] = match network.input_number(node) {
            Some(number) => inputs[number],
            None => network.reads(node).iter().any(|read| depends[read.node()]),
        };
        while let Some(region) = regions.next_if(|region| region.nodes.end == node + 1) {
            let inner = depends[region.nodes.clone()].contains(&true);
            let outer = region.definitions.iter().any(|read| depends[read.node()]);
            if inner || outer {
                depends[region.nodes.clone()].fill(true);
            }
        }
    }
    depends
}
