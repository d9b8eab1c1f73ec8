//! Dependencies between the nodes of a network.

use crate::propnet::network::{Network, Region};

/// The region that a node belongs to.
fn region(network: &Network, node: usize) -> Option<&Region> {
    let regions = network.regions();
    let at = regions.partition_point(|region| region.nodes.end <= node);
    regions
        .get(at)
        .filter(|region| region.nodes.contains(&node))
}

/// Searches for the nodes that others depend on.
pub(super) struct Search<'n> {
    network: &'n Network,
    /// By node: true if it was found.
    seen: Vec<bool>,
}

impl<'n> Search<'n> {
    pub fn new(network: &'n Network) -> Self {
        let seen = vec![false; network.len()];
        Search { network, seen }
    }

    /// The nodes that the roots depend on and that were not found before, roots included, in
    /// no order. The operands of a node are omitted if `enter` is false for it.
    pub fn from(
        &mut self,
        roots: impl IntoIterator<Item = usize>,
        mut enter: impl FnMut(usize) -> bool,
    ) -> Vec<usize> {
        let network = self.network;
        let mut found = Vec::new();
        let mut open: Vec<usize> = roots.into_iter().collect();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut self.seen[node], true) {
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

    /// Makes these nodes new again.
    pub fn forget(&mut self, nodes: &[usize]) {
        nodes.iter().for_each(|&node| self.seen[node] = false);
    }
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
