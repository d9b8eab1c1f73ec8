//! Trees that stay within their memory.

use super::growth::full;
use super::*;

/// Grows a tree within a limit on memory, checks it again and again, and returns it.
fn grown(
    options: &Mcts,
    root: (u32, usize),
    limit: u64,
    iterations: u64,
) -> Tree<(u32, usize), u32> {
    let heap = &mut Heap;
    let mut game = OneByOne::new(heap, 1_000);
    let mut tree = Tree::new(&mut game, root, options).unwrap();
    tree.set_memory(limit);
    let mut steps = 0_u32;
    while tree.iterations() < iterations {
        let before = tree.bytes();
        tree.grow(&mut game, 100, &mut None, &mut || true).unwrap();
        // A batch may begin with a little room left.
        assert!(
            tree.bytes() <= limit.max(before) + 16_000,
            "{}",
            tree.bytes()
        );
        steps += 1;
        if steps.is_multiple_of(16) {
            check(&tree);
        }
        assert!(steps < 1_000_000);
    }
    check(&tree);
    tree
}

#[test]
fn a_tree_stays_within_its_memory() {
    for graph in [false, true] {
        for solver in [false, true] {
            let options = Mcts {
                graph,
                solver,
                ..full(5)
            };
            let tree = grown(&options, (2_001, 0), 100_000, 20_000);
            assert!(
                tree.visits() >= 19_000,
                "pruning keeps the statistics of the root: {}",
                tree.visits()
            );
            assert!(tree.len() > 100, "{} positions", tree.len());
        }
    }
}

#[test]
fn a_tree_that_follows_the_game_stays_within_its_memory() {
    let options = Mcts {
        solver: false,
        ..full(6)
    };
    let heap = &mut Heap;
    let mut game = OneByOne::new(heap, 1_000);
    let (mut heap, mut role) = (1_500, 0);
    let mut tree = Tree::new(&mut game, (heap, role), &options).unwrap();
    tree.set_memory(60_000);
    let (mut known, mut turns) = (0, 0);
    while heap > 1_300 {
        for _ in 0..30 {
            tree.grow(&mut game, 100, &mut None, &mut || true).unwrap();
            assert!(tree.bytes() <= 76_000, "{}", tree.bytes());
        }
        (heap, role) = (heap - 1 - turns % 3, 1 - role);
        known += u32::from(tree.reroot(&mut game, (heap, role)).unwrap());
        assert_eq!(*tree.root(), (heap, role));
        check(&tree);
        turns += 1;
    }
    assert!(known > turns / 2, "{known} of {turns}");
}

#[test]
fn what_was_proved_stays_proved_without_the_positions() {
    let tree = grown(&full(7), (30, 0), 40_000, 3_000);
    assert_eq!(tree.report(BudgetKind::Time).roles[0].bounds, [100, 100]);
    let report = tree.report(BudgetKind::Time);
    assert_eq!(report.roles[0].best().unwrap().action, 2);
}
