//! Summaries of trees.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::*;
use crate::Joint;

fn grown<G: GameProblem<Error = Infallible>>(
    game: &mut G,
    root: G::State,
    options: &Mcts,
    iterations: u64,
) -> Tree<G::State, G::Move> {
    let mut game = OneByOne::new(game, 100);
    let mut tree = Tree::new(&mut game, root, options).unwrap();
    while tree.iterations() < iterations && !tree.is_settled(0) {
        let most = iterations - tree.iterations();
        tree.grow(&mut game, most, &mut None, &mut || true).unwrap();
    }
    tree
}

/// Checks a summary and the lines of each role.
fn check<S, M>(tree: &Tree<S, M>, most: usize) -> TreeSummary<M>
where
    S: Clone + Eq + Hash,
    M: Clone + Eq + Hash + std::fmt::Debug,
{
    for (role, report) in tree.report(BudgetKind::Nodes).roles.iter().enumerate() {
        for first in &report.moves {
            let line = tree.line(role, &first.action);
            assert_eq!(line[0][role].0, first.action);
            assert!(line.iter().all(|joint| joint.len() == tree.roles));
        }
    }
    let summary = tree.summary(0, most);
    let nodes = &summary.nodes;
    assert_eq!(summary.total, tree.len());
    assert_eq!(nodes.len(), most.min(nodes.len()));
    assert_eq!((nodes[0].parent, nodes[0].joint.len()), (None, 0));
    let mut together: BTreeMap<usize, u64> = BTreeMap::new();
    for (place, node) in nodes.iter().enumerate().skip(1) {
        let from = node.parent.expect("only the root has no parent");
        assert!(from < place && !nodes[from].is_end, "{place} {node:?}");
        assert!(node.visits <= nodes[place - 1].visits, "{place} {node:?}");
        assert!((0.0..=100.0).contains(&node.value), "{node:?}");
        assert_eq!(node.joint.len(), tree.roles);
        *together.entry(from).or_default() += node.visits;
    }
    // If equal states share a node, lines also arrive from other parents.
    let is_tree = !tree.options.graph;
    for (from, visits) in together {
        let own = nodes[from].visits;
        assert!(visits <= own || !is_tree, "{from}: {visits} of {own}");
    }
    summary
}

#[test]
fn a_summary_is_connected_and_has_the_most_visited_positions() {
    for (graph, solver, batch) in [(false, false, 1), (true, false, 4), (true, true, 16)] {
        for seed in 0..4 {
            let options = Mcts {
                graph,
                solver,
                batch,
                seed,
                ..Mcts::default()
            };
            let tree = grown(&mut Heap, (21, 0), &options, 400);
            for most in [1, 2, 10, 1_000] {
                check(&tree, most);
            }
            let few = check(&tree, 10);
            let all = check(&tree, usize::MAX);
            assert_eq!(few.nodes, all.nodes[..10]);
        }
    }
}

#[test]
fn without_merging_a_summary_can_have_all_positions() {
    let tree = grown(&mut Heap, (15, 0), &Mcts::default(), 300);
    let all = check(&tree, usize::MAX);
    assert_eq!(all.nodes.len(), tree.len());
    // The waiting role has no choice.
    let is_right =
        |joint: &Joint<u32>| joint.iter().filter(|(_, is_chosen)| *is_chosen).count() < 2;
    assert!(all.nodes.iter().all(|node| is_right(&node.joint)));
    // The value of a terminal state is its score.
    let mut ends = all.nodes.iter().filter(|node| node.is_end);
    assert!(ends.all(|node| node.value == 0.0 || node.value == 100.0));
}

#[test]
fn simultaneous_moves_are_in_a_summary() {
    let values = vec![vec![[60, 60], [0, 100]], vec![[100, 0], [20, 20]]];
    let tree = grown(&mut Matrix { values }, None, &Mcts::default(), 500);
    let all = check(&tree, usize::MAX);
    assert_eq!(all.nodes.len(), 5);
    let joints = all.nodes[1..].iter().map(|node| {
        assert!(node.is_end);
        let [(one, true), (other, true)] = node.joint[..] else {
            panic!("{node:?}")
        };
        ((one, other), node.value as u8)
    });
    let values: BTreeMap<_, _> = joints.collect();
    let expected = [((0, 0), 60), ((0, 1), 0), ((1, 0), 100), ((1, 1), 20)];
    assert_eq!(values, BTreeMap::from(expected));
}

#[test]
fn a_line_follows_the_best_moves() {
    let options = Mcts {
        graph: true,
        solver: true,
        ..Mcts::default()
    };
    let tree = grown(&mut Heap, (6, 0), &options, 5_000);
    let best = tree.report(BudgetKind::Nodes).roles[0]
        .best()
        .unwrap()
        .action;
    let line = tree.line(0, &best);
    // The winner leaves a multiple of four.
    let left = line.iter().scan(6, |left, joint| {
        let taken: u32 = joint.iter().map(|(taken, _)| taken).sum();
        *left -= taken;
        Some(*left)
    });
    let left: Vec<u32> = left.collect();
    assert_eq!(left[0], 4, "{line:?}");
    assert!(left.iter().step_by(2).all(|left| left % 4 == 0), "{line:?}");
    // After one iteration the line has one joint move.
    let young = grown(&mut Heap, (21, 0), &Mcts::default(), 1);
    assert_eq!(young.line(0, &2), [[(2, true), (0, false)]]);
}
