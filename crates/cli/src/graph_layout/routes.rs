//! The curves of edges and the distances of ranks.

use super::{Layout, Net, Node, Spacing};

/// The part of a node's width at which edges leave and reach it.
const PORTS: f64 = 0.72;
/// Maximum distance of neighbouring edge ends at a node.
const PORT: f64 = 16.0;

/// The horizontal positions of an edge's ends, at its first and its second node.
type Ends = Vec<[f64; 2]>;

/// Places ranks below each other and edges along the ranks they pass.
pub(super) fn lay(
    nodes: &[Node],
    edges: &[(usize, usize)],
    net: &Net,
    x: &[f64],
    spacing: Spacing,
    crossings: u64,
) -> Layout {
    let ends = ends(nodes, edges, net, x);
    let ranks = ranks(nodes, edges, net, x, spacing);
    let middles: Vec<[f64; 2]> = nodes
        .iter()
        .zip(x)
        .map(|(node, x)| [*x, (ranks[node.rank][0] + ranks[node.rank][1]) / 2.0])
        .collect();
    let routes: Vec<Vec<[f64; 2]>> = (0..edges.len())
        .map(|edge| {
            let (from, to) = edges[edge];
            let chain = &net.chains[edge];
            if from == to {
                return round(nodes[from].size, middles[from], spacing);
            }
            let below = |node: usize| middles[node][1] + nodes[node].size[1] / 2.0;
            if chain.is_empty() {
                let [left, right] = ends[edge];
                let from = [left, below(from)];
                return same_rank(from, [right, below(to)], spacing);
            }
            let is_down = chain[0] == from;
            let [first, second] = ends[edge];
            let (upper, lower) = if is_down {
                (first, second)
            } else {
                (second, first)
            };
            let last = chain[chain.len() - 1];
            let above = middles[last][1] - nodes[last].size[1] / 2.0;
            let mut points = vec![[upper, below(chain[0])]];
            let rank = nodes[chain[0]].rank;
            for (k, &bend) in chain.iter().enumerate().take(chain.len() - 1).skip(1) {
                points.extend(ranks[rank + k].map(|y| [x[bend], y]));
            }
            points.push([lower, above]);
            if !is_down {
                points.reverse();
            }
            smooth(&points)
        })
        .collect();
    let reach = middles
        .iter()
        .zip(nodes)
        .map(|(m, node)| m[0] + node.size[0] / 2.0);
    let width = reach
        .chain(routes.iter().flatten().map(|point| point[0]))
        .fold(0.0, f64::max);
    let height = ranks.last().map_or(0.0, |rank| rank[1]);
    let low = routes.iter().flatten().map(|point| point[1]);
    let size = [width, low.fold(height, f64::max)];
    Layout {
        middles,
        routes,
        ranks,
        size,
        crossings,
    }
}

/// Spreads the ends of edges along the sides of nodes, ordered by their direction.
fn ends(nodes: &[Node], edges: &[(usize, usize)], net: &Net, x: &[f64]) -> Ends {
    // By node and side, above and below: the next position of an edge, its number and its
    // end.
    let mut sides: Vec<[Vec<(f64, usize, usize)>; 2]> = vec![Default::default(); nodes.len()];
    for (number, &(from, to)) in edges.iter().enumerate() {
        let chain = &net.chains[number];
        if from == to {
            continue;
        }
        if chain.is_empty() {
            sides[from][1].push((x[to], number, 0));
            sides[to][1].push((x[from], number, 1));
            continue;
        }
        let (upper, lower) = (chain[0], chain[chain.len() - 1]);
        let is_down = usize::from(upper != from);
        sides[upper][1].push((x[chain[1]], number, is_down));
        sides[lower][0].push((x[chain[chain.len() - 2]], number, 1 - is_down));
    }
    let mut ends = vec![[0.0; 2]; edges.len()];
    for (node, sides) in sides.into_iter().enumerate() {
        for mut side in sides {
            side.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let count = side.len() as f64;
            let apart = (nodes[node].size[0] * PORTS / count).min(PORT);
            for (k, (_, edge, end)) in side.into_iter().enumerate() {
                ends[edge][end] = x[node] + (k as f64 - (count - 1.0) / 2.0) * apart;
            }
        }
    }
    ends
}

/// The upper and lower end of each rank. Slanted edges get more room.
fn ranks(
    nodes: &[Node],
    edges: &[(usize, usize)],
    net: &Net,
    x: &[f64],
    spacing: Spacing,
) -> Vec<[f64; 2]> {
    let mut heights = vec![0.0f64; net.layers.len()];
    for node in nodes {
        heights[node.rank] = heights[node.rank].max(node.size[1]);
    }
    let mut slants = vec![0.0f64; net.layers.len()];
    for chain in &net.chains {
        for (k, pair) in chain.windows(2).enumerate() {
            let slant = &mut slants[nodes[chain[0]].rank + k];
            *slant = slant.max((x[pair[0]] - x[pair[1]]).abs());
        }
    }
    for &(from, to) in edges {
        if nodes[from].rank == nodes[to].rank && from != to {
            let slant = &mut slants[nodes[from].rank];
            *slant = slant.max((x[from] - x[to]).abs());
        }
    }
    let mut y = 0.0;
    let tops = heights.iter().zip(&slants).map(|(height, slant)| {
        let top = y;
        y += height + spacing.ranks + (slant * 0.12).min(4.0 * spacing.ranks);
        [top, top + height]
    });
    tops.collect()
}

/// A curve through points that runs vertically at each of them.
fn smooth(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut route = vec![points[0]];
    for pair in points.windows(2) {
        let middle = (pair[0][1] + pair[1][1]) / 2.0;
        route.extend([[pair[0][0], middle], [pair[1][0], middle], pair[1]]);
    }
    route
}

/// A curve below two nodes of one rank.
fn same_rank(from: [f64; 2], to: [f64; 2], spacing: Spacing) -> Vec<[f64; 2]> {
    let depth = (12.0 + (from[0] - to[0]).abs() * 0.12).min(spacing.ranks * 0.8);
    let low = from[1].max(to[1]) + depth;
    vec![from, [from[0], low], [to[0], low], to]
}

/// A curve from a node to itself, on its right.
fn round(size: [f64; 2], middle: [f64; 2], spacing: Spacing) -> Vec<[f64; 2]> {
    let below = middle[1] + size[1] / 2.0;
    let right = middle[0] + size[0] / 2.0;
    let out = spacing.nodes.min(28.0);
    let low = middle[1] + size[1] / 4.0;
    vec![
        [right, middle[1]],
        [right + out, middle[1]],
        [right + out, below],
        [right, low],
    ]
}
