//! The order of each rank, with few edge crossings.

use super::Net;

/// Maximum number of sweeps from each starting order.
const SWEEPS: usize = 24;
/// Sweeps without improvement after which the search ends.
const PATIENCE: usize = 6;
/// Maximum number of segments examined in all sweeps together; a few sweeps are always made.
const WORK: usize = 30_000_000;

/// Orders the ranks of a net and returns the number of crossings left; `None` if stopped.
pub(super) fn order(net: &mut Net, is_stopped: &dyn Fn() -> bool) -> Option<u64> {
    let segments: usize = net.below.iter().map(Vec::len).sum();
    let sweeps = (WORK / segments.max(1)).clamp(4, SWEEPS);
    let found = net.layers.clone();
    let mut best = (crossings(net, &net.positions()), found.clone());
    for layers in [found, by_depth(net)] {
        net.layers = layers;
        let mut idle = 0;
        for sweep in 0..sweeps {
            if best.0 == 0 || idle == PATIENCE {
                break;
            }
            if is_stopped() {
                return None;
            }
            sort(net, sweep);
            exchange(net);
            let now = crossings(net, &net.positions());
            idle += 1;
            if now < best.0 {
                best = (now, net.layers.clone());
                idle = 0;
            }
        }
    }
    net.layers = best.1;
    Some(best.0)
}

/// Each rank in the order in which a depth-first walk first visits its vertices.
fn by_depth(net: &Net) -> Vec<Vec<usize>> {
    let mut layers = vec![Vec::new(); net.layers.len()];
    let mut rank = vec![0; net.above.len()];
    for (number, layer) in net.layers.iter().enumerate() {
        layer.iter().for_each(|vertex| rank[*vertex] = number);
    }
    let mut is_met = vec![false; net.above.len()];
    for &start in net.layers.iter().flatten() {
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut is_met[vertex], true) {
                layers[rank[vertex]].push(vertex);
                open.extend(net.below[vertex].iter().rev());
            }
        }
    }
    layers
}

/// Sorts each rank by the average position of the neighbours in the rank before: downwards
/// in even sweeps, upwards in odd ones. Vertices with equal averages are reversed in every
/// other pair of sweeps.
fn sort(net: &mut Net, sweep: usize) {
    let mut positions = net.positions();
    let ranks = net.layers.len();
    let is_down = sweep.is_multiple_of(2);
    for k in 1..ranks {
        let rank = if is_down { k } else { ranks - 1 - k };
        let neighbours = if is_down { &net.above } else { &net.below };
        let layer = &mut net.layers[rank];
        let average = |vertex: usize| {
            let near = &neighbours[vertex];
            match near.len() {
                0 => positions[vertex] as f64,
                count => near.iter().map(|v| positions[*v]).sum::<usize>() as f64 / count as f64,
            }
        };
        let mut keyed: Vec<(f64, usize)> = layer.iter().map(|v| (average(*v), *v)).collect();
        if sweep % 4 >= 2 {
            keyed.reverse();
        }
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        layer.clear();
        layer.extend(keyed.into_iter().map(|(_, vertex)| vertex));
        for (position, &vertex) in layer.iter().enumerate() {
            positions[vertex] = position;
        }
    }
}

/// Exchanges neighbours in a rank while that reduces crossings.
fn exchange(net: &mut Net) {
    let mut positions = net.positions();
    let sorted = |vertices: &[usize], positions: &[usize]| {
        let mut sorted: Vec<usize> = vertices.iter().map(|v| positions[*v]).collect();
        sorted.sort_unstable();
        sorted
    };
    for rank in 0..net.layers.len() {
        let layer = &mut net.layers[rank];
        let mut near: Vec<[Vec<usize>; 2]> = layer
            .iter()
            .map(|&v| [&net.above[v], &net.below[v]].map(|near| sorted(near, &positions)))
            .collect();
        for _ in 0..4 {
            let mut has_gained = false;
            for k in 1..layer.len() {
                let (left, right) = (&near[k - 1], &near[k]);
                let now = inversions(&left[0], &right[0]) + inversions(&left[1], &right[1]);
                let then = inversions(&right[0], &left[0]) + inversions(&right[1], &left[1]);
                if then < now {
                    layer.swap(k - 1, k);
                    near.swap(k - 1, k);
                    has_gained = true;
                }
            }
            if !has_gained {
                break;
            }
        }
        for (position, &vertex) in layer.iter().enumerate() {
            positions[vertex] = position;
        }
    }
}

/// The number of pairs in which the element of `left` is larger; both are ascending.
fn inversions(left: &[usize], right: &[usize]) -> usize {
    let mut smaller = 0;
    let mut count = 0;
    for one in left {
        while right.get(smaller).is_some_and(|other| other < one) {
            smaller += 1;
        }
        count += smaller;
    }
    count
}

/// The number of edge crossings between neighbouring ranks.
///
/// Source: Barth, Jünger and Mutzel, Simple and efficient bilayer cross counting (2002).
pub(super) fn crossings(net: &Net, positions: &[usize]) -> u64 {
    let mut total = 0;
    let widest = net.layers.iter().map(Vec::len).max().unwrap_or(0);
    // The number of edges that end at or left of a position, as a tree of sums.
    let mut ended = vec![0u64; widest + 1];
    for layer in &net.layers {
        ended.fill(0);
        let mut count = 0;
        for &upper in layer {
            let mut ends: Vec<usize> = net.below[upper].iter().map(|v| positions[*v]).collect();
            ends.sort_unstable();
            for &end in &ends {
                let mut at = end + 1;
                let mut left = 0;
                while at > 0 {
                    left += ended[at];
                    at &= at - 1;
                }
                total += count - left;
            }
            // Edges of one node do not cross each other.
            for end in ends {
                count += 1;
                let mut at = end + 1;
                while at <= widest {
                    ended[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    total
}
