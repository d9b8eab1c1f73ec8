use super::order::crossings;
use super::*;

const SPACING: Spacing = Spacing {
    nodes: 10.0,
    edges: 6.0,
    ranks: 30.0,
};

fn nodes(ranks: &[usize]) -> Vec<Node> {
    let node = |rank: &usize| Node {
        rank: *rank,
        size: [20.0 + 3.0 * *rank as f64, 12.0],
    };
    ranks.iter().map(node).collect()
}

fn laid(ranks: &[usize], edges: &[(usize, usize)]) -> Layout {
    layout(&nodes(ranks), edges, SPACING, &|| false).unwrap()
}

/// A random graph of a few ranks, with edges of any length and direction.
fn any(seed: u64) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let count = 2 + next(40);
    let ranks: Vec<usize> = (0..count).map(|_| next(7)).collect();
    let edges = (0..next(3 * count)).map(|_| (next(count), next(count)));
    let edges = edges.collect();
    (ranks, edges)
}

#[test]
fn planar_graphs_are_drawn_without_crossings() {
    // A tree whose children are listed from right to left.
    let edges = [(0, 2), (0, 1), (1, 6), (1, 5), (2, 4), (2, 3)];
    assert_eq!(laid(&[0, 1, 1, 2, 2, 2, 2], &edges).crossings, 0);
    assert_eq!(laid(&[0, 0, 1, 1], &[(0, 3), (1, 2)]).crossings, 0);
    let all = [(0, 2), (0, 3), (1, 2), (1, 3)];
    assert_eq!(laid(&[0, 0, 1, 1], &all).crossings, 1);
}

#[test]
fn crossings_are_counted_as_by_pairs_of_edges() {
    for seed in 0..100 {
        let (ranks, edges) = any(seed);
        let net = Net::new(&nodes(&ranks), &edges);
        let positions = net.positions();
        let mut expected = 0;
        for layer in &net.layers {
            let segments: Vec<(usize, usize)> = layer
                .iter()
                .flat_map(|&a| net.below[a].iter().map(move |&b| (a, b)))
                .map(|(a, b)| (positions[a], positions[b]))
                .collect();
            for (k, one) in segments.iter().enumerate() {
                let crosses = |other: &&(usize, usize)| {
                    (one.0 < other.0 && one.1 > other.1) || (one.0 > other.0 && one.1 < other.1)
                };
                expected += segments[..k].iter().filter(crosses).count() as u64;
            }
        }
        assert_eq!(crossings(&net, &positions), expected, "seed {seed}");
    }
}

#[test]
fn sorting_never_adds_crossings() {
    for seed in 0..100 {
        let (ranks, edges) = any(seed);
        let net = Net::new(&nodes(&ranks), &edges);
        let before = crossings(&net, &net.positions());
        assert!(laid(&ranks, &edges).crossings <= before, "seed {seed}");
    }
}

#[test]
fn nodes_of_a_rank_keep_the_minimum_distance() {
    for seed in 0..200 {
        let (ranks, edges) = any(seed);
        let all = nodes(&ranks);
        let layout = laid(&ranks, &edges);
        for (a, one) in all.iter().enumerate() {
            for (b, other) in all.iter().enumerate().skip(a + 1) {
                let apart = (layout.middles[a][0] - layout.middles[b][0]).abs();
                let least = (one.size[0] + other.size[0]) / 2.0 + SPACING.edges;
                assert!(
                    one.rank != other.rank || apart > least - 1e-6,
                    "seed {seed}: {a} {b}"
                );
            }
            let left = layout.middles[a][0] - one.size[0] / 2.0;
            assert!(left > -1e-6, "seed {seed}");
        }
    }
}

#[test]
fn edges_end_at_their_nodes() {
    for seed in 0..200 {
        let (ranks, edges) = any(seed);
        let all = nodes(&ranks);
        let layout = laid(&ranks, &edges);
        for (route, &(from, to)) in layout.routes.iter().zip(&edges) {
            for (end, node) in [(route[0], from), (route[route.len() - 1], to)] {
                let away = [0, 1].map(|axis| (end[axis] - layout.middles[node][axis]).abs());
                let half = all[node].size.map(|length| length / 2.0 + 1e-6);
                let is_at = away[0] <= half[0] && away[1] <= half[1];
                assert!(is_at, "seed {seed}: {from} {to}");
            }
            assert_eq!(route.len() % 3, 1);
        }
    }
}

#[test]
fn an_edge_that_passes_ranks_runs_straight_there() {
    let layout = laid(&[0, 1, 2, 3, 4], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    let bends: Vec<f64> = layout.routes[4][3..]
        .iter()
        .step_by(3)
        .map(|p| p[0])
        .collect();
    let inner = &bends[..bends.len() - 1];
    assert!(
        inner
            .windows(2)
            .all(|pair| (pair[0] - pair[1]).abs() < 1e-6),
        "{bends:?}"
    );
}

#[test]
fn layout_is_deterministic_and_can_be_interrupted() {
    let (ranks, edges) = any(7);
    assert_eq!(laid(&ranks, &edges), laid(&ranks, &edges));
    assert_eq!(layout(&nodes(&ranks), &edges, SPACING, &|| true), None);
    assert_eq!(laid(&[], &[]).size, [0.0, 0.0]);
}
