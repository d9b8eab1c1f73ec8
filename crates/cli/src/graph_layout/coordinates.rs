//! Horizontal coordinates of vertices, given the order of each rank.
//!
//! Each vertex is aligned with its median neighbour above, or below, from the left and from
//! the right; of these four places the middle two are averaged. Edges that pass through
//! several ranks run straight. Instead of the original's compaction by classes, blocks are
//! pushed apart along longest paths, which keeps all distances.

use rustc_hash::FxHashSet;

use super::Net;

/// The centre of each vertex. `gap` is the minimum distance of two neighbours in a rank.
pub(super) fn coordinates(net: &Net, gap: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    let crossed = crossed(net);
    let mut found: Vec<Vec<f64>> = Vec::with_capacity(4);
    for is_up in [false, true] {
        for is_right in [false, true] {
            let mut layers = net.layers.clone();
            if is_up {
                layers.reverse();
            }
            if is_right {
                layers.iter_mut().for_each(|layer| layer.reverse());
            }
            let near = if is_up { &net.below } else { &net.above };
            let root = blocks(&layers, near, &crossed);
            let mut x = compact(&layers, &root, gap);
            if is_right {
                x.iter_mut().for_each(|x| *x = -*x);
            }
            found.push(x);
        }
    }
    let least = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = |x: &&Vec<f64>| most(x) - least(x);
    let narrowest = found
        .iter()
        .min_by(|a, b| width(a).total_cmp(&width(b)))
        .expect("there are four");
    let (left, right) = (least(narrowest), most(narrowest));
    for (k, x) in found.iter_mut().enumerate() {
        let by = match k % 2 {
            0 => left - least(x),
            _ => right - most(x),
        };
        x.iter_mut().for_each(|x| *x += by);
    }
    let middle = |vertex: usize| {
        let mut places = [0, 1, 2, 3].map(|k| found[k][vertex]);
        places.sort_by(f64::total_cmp);
        (places[1] + places[2]) / 2.0
    };
    (0..net.above.len()).map(middle).collect()
}

/// Segments that cross one between two bends, upper end first; these give way.
fn crossed(net: &Net) -> FxHashSet<(usize, usize)> {
    let positions = net.positions();
    let mut crossed = FxHashSet::default();
    for pair in net.layers.windows(2) {
        let (upper, lower) = (&pair[0], &pair[1]);
        let mut left = 0;
        let mut begin = 0;
        for (k, &vertex) in lower.iter().enumerate() {
            let above = net.above[vertex].first().filter(|_| net.is_bend(vertex));
            let inner = above.filter(|above| net.is_bend(**above));
            if inner.is_none() && k + 1 < lower.len() {
                continue;
            }
            let right = inner.map_or(upper.len(), |above| positions[*above]);
            for &other in &lower[begin..=k] {
                for &above in &net.above[other] {
                    let is_outside = positions[above] < left || positions[above] > right;
                    if is_outside && !(net.is_bend(above) && net.is_bend(other)) {
                        crossed.insert((above, other));
                    }
                }
            }
            (begin, left) = (k + 1, right);
        }
    }
    crossed
}

/// For each vertex, the first vertex of its block; the vertices of a block are aligned
/// vertically.
fn blocks(
    layers: &[Vec<usize>],
    near: &[Vec<usize>],
    crossed: &FxHashSet<(usize, usize)>,
) -> Vec<usize> {
    let mut position = vec![0; near.len()];
    for layer in layers {
        for (place, &vertex) in layer.iter().enumerate() {
            position[vertex] = place;
        }
    }
    let mut root: Vec<usize> = (0..near.len()).collect();
    let mut has_next = vec![false; near.len()];
    for layer in layers {
        let mut last = None;
        for &vertex in layer {
            let mut near = near[vertex].clone();
            near.sort_by_key(|other| position[*other]);
            let Some(most) = near.len().checked_sub(1) else {
                continue;
            };
            for &other in &near[most / 2..=most.div_ceil(2)] {
                let is_free = root[vertex] == vertex && !has_next[other];
                let is_right = last.is_none_or(|last| last < position[other]);
                let gives_way =
                    crossed.contains(&(other, vertex)) || crossed.contains(&(vertex, other));
                if is_free && is_right && !gives_way {
                    has_next[other] = true;
                    root[vertex] = root[other];
                    last = Some(position[other]);
                }
            }
        }
    }
    root
}

/// Places blocks as far left as possible, and then to the right where there is room.
fn compact(layers: &[Vec<usize>], root: &[usize], gap: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut to: Vec<Vec<(usize, f64)>> = vec![Vec::new(); root.len()];
    let mut open_sources = vec![0usize; root.len()];
    for layer in layers {
        for pair in layer.windows(2) {
            let (left, right) = (root[pair[0]], root[pair[1]]);
            to[left].push((right, gap(pair[0], pair[1])));
            open_sources[right] += 1;
        }
    }
    let is_root = |vertex: &usize| root[*vertex] == *vertex;
    let mut order: Vec<usize> = (0..root.len())
        .filter(|vertex| is_root(vertex) && open_sources[*vertex] == 0)
        .collect();
    let mut x = vec![0.0f64; root.len()];
    let mut done = 0;
    // Blocks do not cross, so each one comes after all blocks to its left are placed.
    while let Some(&block) = order.get(done) {
        done += 1;
        for &(right, gap) in &to[block] {
            x[right] = x[right].max(x[block] + gap);
            open_sources[right] -= 1;
            if open_sources[right] == 0 {
                order.push(right);
            }
        }
    }
    for &block in order.iter().rev() {
        let room = to[block].iter().map(|(right, gap)| x[*right] - gap);
        let room = room.fold(f64::INFINITY, f64::min);
        if room.is_finite() {
            x[block] = x[block].max(room);
        }
    }
    root.iter().map(|root| x[*root]).collect()
}
