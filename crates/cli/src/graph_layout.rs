//! Pictures of graphs whose nodes stand in ranks already.
//!
//! In: nodes with a rank and a size, and edges. Out: where nodes stand and the curves of
//! the edges. Ranks are taken as they are; what is written on nodes and edges is not
//! known here.
//!
//! Source: Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical
//! system structures (1981); Gansner et al., A technique for drawing directed graphs
//! (1993), for sweeps and exchanges; Brandes and Köpf, Fast and simple horizontal
//! coordinate assignment (2001).

mod coordinates;
mod order;
mod routes;
#[cfg(test)]
mod tests;

/// A node to place.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Node {
    /// Ranks lie below each other, from 0.
    pub rank: usize,
    /// Width and height.
    pub size: [f64; 2],
}

/// Least distances.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Spacing {
    /// Between nodes of a rank.
    pub nodes: f64,
    /// Between an edge that passes a rank and what stands there.
    pub edges: f64,
    /// Between ranks; more where edges are slanted.
    pub ranks: f64,
}

/// Where all stands, right of and below 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// The middle of each node.
    pub middles: Vec<[f64; 2]>,
    /// For each edge a start, and for each Bézier curve of it two control points and an
    /// end. Edges leave and reach nodes straight from above or below.
    pub routes: Vec<Vec<[f64; 2]>>,
    /// Upper and lower end of each rank.
    pub ranks: Vec<[f64; 2]>,
    /// Width and height of all.
    pub size: [f64; 2],
    /// How often edges between different ranks cross.
    pub crossings: u64,
}

/// Nodes, and bends where edges pass a rank, with their neighbours above and below.
/// Vertices below the number of nodes are nodes.
struct Net {
    nodes: usize,
    /// By rank, from left to right.
    layers: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// By edge, the vertices it runs through from its upper end to its lower one; empty
    /// if it stays in a rank.
    chains: Vec<Vec<usize>>,
}

/// Places nodes and edges, the same for the same input. `None` if `is_stopped` said so.
///
/// # Panics
///
/// If an edge names a node that is not there.
pub fn layout(
    nodes: &[Node],
    edges: &[(usize, usize)],
    spacing: Spacing,
    is_stopped: &dyn Fn() -> bool,
) -> Option<Layout> {
    let mut net = Net::new(nodes, edges);
    let crossings = order::order(&mut net, is_stopped)?;
    let half: Vec<f64> = (0..net.above.len())
        .map(|vertex| nodes.get(vertex).map_or(0.0, |node| node.size[0] / 2.0))
        .collect();
    let gap = |left: usize, right: usize| {
        let is_bend = |vertex: usize| vertex >= nodes.len();
        let between = match is_bend(left) || is_bend(right) {
            true => spacing.edges,
            false => spacing.nodes,
        };
        half[left] + half[right] + between
    };
    let mut x = coordinates::coordinates(&net, &gap);
    if is_stopped() {
        return None;
    }
    let left = x.iter().zip(&half).map(|(x, half)| x - half);
    let left = left.fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x -= left);
    Some(routes::lay(nodes, edges, &net, &x, spacing, crossings))
}

impl Net {
    fn new(nodes: &[Node], edges: &[(usize, usize)]) -> Self {
        let ranks = nodes.iter().map(|node| node.rank + 1).max().unwrap_or(0);
        let mut net = Net {
            nodes: nodes.len(),
            layers: vec![Vec::new(); ranks],
            above: vec![Vec::new(); nodes.len()],
            below: vec![Vec::new(); nodes.len()],
            chains: Vec::with_capacity(edges.len()),
        };
        for (number, node) in nodes.iter().enumerate() {
            net.layers[node.rank].push(number);
        }
        for &(from, to) in edges {
            let (upper, lower) = match nodes[from].rank <= nodes[to].rank {
                true => (from, to),
                false => (to, from),
            };
            let mut chain = Vec::new();
            if nodes[upper].rank < nodes[lower].rank {
                chain.push(upper);
                for rank in nodes[upper].rank + 1..nodes[lower].rank {
                    let bend = net.above.len();
                    net.layers[rank].push(bend);
                    net.above.push(Vec::new());
                    net.below.push(Vec::new());
                    chain.push(bend);
                }
                chain.push(lower);
            }
            for pair in chain.windows(2) {
                net.below[pair[0]].push(pair[1]);
                net.above[pair[1]].push(pair[0]);
            }
            net.chains.push(chain);
        }
        net
    }

    fn is_bend(&self, vertex: usize) -> bool {
        vertex >= self.nodes
    }

    /// Where each vertex stands in its rank.
    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.above.len()];
        for layer in &self.layers {
            for (position, &vertex) in layer.iter().enumerate() {
                positions[vertex] = position;
            }
        }
        positions
    }
}
