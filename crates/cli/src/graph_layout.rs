//! Layered drawing of graphs whose nodes already have ranks.
//!
//! In: nodes with a rank and a size, and edges. Out: the positions of the nodes and the
//! curves of the edges. Ranks are not changed; labels are not known here.
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

/// A node to be placed.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Node {
    /// The rank, counted from 0 at the top.
    pub rank: usize,
    /// Width and height.
    pub size: [f64; 2],
}

/// Minimum distances.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Spacing {
    /// Between nodes of one rank.
    pub nodes: f64,
    /// Between an edge that passes through a rank and the nodes there.
    pub edges: f64,
    /// Between ranks; more where edges are slanted.
    pub ranks: f64,
}

/// The positions of nodes and edges, in coordinates from 0 to the right and downwards.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// The centre of each node.
    pub middles: Vec<[f64; 2]>,
    /// For each edge its start, then for each Bézier curve two control points and an end.
    /// Edges leave and reach nodes vertically.
    pub routes: Vec<Vec<[f64; 2]>>,
    /// The upper and lower end of each rank.
    pub ranks: Vec<[f64; 2]>,
    /// The width and height of the drawing.
    pub size: [f64; 2],
    /// The number of crossings of edges between different ranks.
    pub crossings: u64,
}

/// Nodes, and bends where edges pass through a rank, with their neighbours above and below.
/// Vertices below the number of nodes are nodes.
struct Net {
    nodes: usize,
    /// By rank, from left to right.
    layers: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// By edge, the vertices it runs through from its upper end to its lower one; empty if
    /// it stays within a rank.
    chains: Vec<Vec<usize>>,
}

/// Places nodes and edges; equal input gives equal output. `None` if `is_stopped` returned
/// true.
///
/// # Panics
///
/// If an edge names a node that does not exist.
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

    /// The position of each vertex in its rank.
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
