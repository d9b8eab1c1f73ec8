//! Trees with transpositions, proofs, batches and pruning.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// All features of the search.
pub(super) fn full(seed: u64) -> Mcts {
    Mcts {
        graph: true,
        solver: true,
        batch: 16,
        each: 4,
        seed,
        ..Mcts::default()
    }
}

/// Grows a tree to a number of iterations or until it is settled.
fn grown<G: GameProblem<Error = Infallible>>(
    game: &mut G,
    root: G::State,
    options: Mcts,
    iterations: u64,
) -> Tree<G::State, G::Move> {
    let mut game = OneByOne::new(game, options.playout_depth);
    let mut tree = Tree::new(&mut game, root, &options).unwrap();
    while tree.iterations() < iterations && !tree.is_settled(0) {
        let most = iterations - tree.iterations();
        tree.grow(&mut game, most, &mut None, &mut || true).unwrap();
    }
    tree
}

#[test]
fn heaps_are_proved_won_or_lost() {
    for heap in 1..40 {
        let tree = grown(&mut Heap, (heap, 0), full(u64::from(heap)), 5_000);
        let report = tree.report(BudgetKind::Iterations);
        let score = if heap % 4 == 0 { 0 } else { 100 };
        assert_eq!(report.roles[0].bounds, [score; 2], "heap {heap}");
        let [low, high] = report.roles[1].bounds;
        assert!((low..=high).contains(&(100 - score)), "heap {heap}");
        if score == 100 {
            assert_eq!(report.roles[0].best().unwrap().action, heap % 4);
        }
        // 40 heaps with two players to move: equal states share a node.
        assert!(tree.len() <= 80, "{} positions", tree.len());
    }
}

/// Walks a random graph with marks at its nodes; two players move in turn.
struct Walk {
    arcs: Vec<Vec<usize>>,
    marks: Vec<u8>,
    /// The number of moves of a game.
    last: u32,
    /// True if both players get the same score, so that the game is not constant-sum.
    is_shared: bool,
}

impl Walk {
    fn random(seed: u64) -> Walk {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = rng.random_range(2..=7);
        Walk {
            arcs: (0..count)
                .map(|_| {
                    (0..rng.random_range(1..=3))
                        .map(|_| rng.random_range(0..count))
                        .collect()
                })
                .collect(),
            marks: (0..count).map(|_| 10 * rng.random_range(0..=10)).collect(),
            last: rng.random_range(1..=6),
            is_shared: rng.random_bool(0.3),
        }
    }

    /// The scores of both players under optimal play.
    fn value(&self, (node, step): (usize, u32)) -> [u8; 2] {
        if step == self.last {
            let mark = self.marks[node];
            return [mark, if self.is_shared { mark } else { 100 - mark }];
        }
        let turn = (step % 2) as usize;
        let values = self.arcs[node].iter().map(|&to| self.value((to, step + 1)));
        values.max_by_key(|value| value[turn]).unwrap()
    }
}

impl GameProblem for Walk {
    type State = (usize, u32);
    type Move = usize;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn is_terminal(&mut self, &(_, step): &(usize, u32)) -> Result<bool, Infallible> {
        Ok(step == self.last)
    }

    fn legal(
        &mut self,
        &(node, step): &(usize, u32),
        role: usize,
        out: &mut Vec<usize>,
    ) -> Result<(), Infallible> {
        match role == (step % 2) as usize {
            true => out.extend(0..self.arcs[node].len()),
            false => out.push(0),
        }
        Ok(())
    }

    fn next(
        &mut self,
        &(node, step): &(usize, u32),
        joint: &[usize],
    ) -> Result<(usize, u32), Infallible> {
        let chosen = joint[(step % 2) as usize];
        Ok((self.arcs[node][chosen], step + 1))
    }

    fn goals(&mut self, &(node, _): &(usize, u32), out: &mut [u8]) -> Result<(), Infallible> {
        out[0] = self.marks[node];
        out[1] = if self.is_shared { out[0] } else { 100 - out[0] };
        Ok(())
    }
}

#[test]
fn bounds_hold_the_value_of_the_game_and_meet_at_it() {
    for seed in 0..300 {
        let mut walk = Walk::random(seed);
        let value = walk.value((0, 0));
        for (graph, iterations) in [(false, 40), (true, 40), (true, 20_000)] {
            let options = Mcts {
                graph,
                ..full(seed)
            };
            let tree = grown(&mut walk, (0, 0), options, iterations);
            let report = tree.report(BudgetKind::Iterations);
            let [low, high] = report.roles[0].bounds;
            assert!(low <= value[0] && value[0] <= high, "seed {seed}");
            if iterations > 40 {
                assert_eq!(low, high, "seed {seed}");
                let best = report.roles[0].best().unwrap().action;
                let to = (walk.arcs[0][best], 1);
                assert_eq!(walk.value(to)[0], value[0], "seed {seed}");
            }
        }
    }
}

fn rock_paper_scissors() -> Matrix {
    let values = vec![
        vec![[50, 50], [25, 75], [75, 25]],
        vec![[75, 25], [50, 50], [25, 75]],
        vec![[25, 75], [75, 25], [50, 50]],
    ];
    Matrix { values }
}

#[test]
fn decoupled_selection_stays_near_the_value_of_a_simultaneous_game() {
    let tree = grown(&mut rock_paper_scissors(), None, full(1), 10_000);
    let report = tree.report(BudgetKind::Iterations);
    assert!((40.0..60.0).contains(&report.roles[0].mean), "{report:?}");
}

#[test]
fn a_tree_follows_the_game() {
    for graph in [false, true] {
        let options = Mcts {
            graph,
            solver: false,
            ..full(5)
        };
        let mut tree = grown(&mut Heap, (21, 0), options, 2_000);
        let heap = &mut Heap;
        let mut game = OneByOne::new(heap, 100);
        assert!(tree.reroot(&mut game, (20, 1)).unwrap());
        let kept = tree.visits();
        assert!(kept > 10, "{kept}");
        let legal: Vec<u32> = (tree.report(BudgetKind::Time).roles[1].moves.iter())
            .map(|entry| entry.action)
            .collect();
        assert_eq!(legal, [1, 2, 3]);
        assert!(!tree.reroot(&mut game, (39, 0)).unwrap());
        assert_eq!((tree.visits(), *tree.root()), (0, (39, 0)));
        tree.reset(&mut game, (21, 0)).unwrap();
        assert_eq!((tree.visits(), tree.len()), (0, 1));
        check(&tree);
    }
}

#[test]
fn batches_are_reproducible_by_seed() {
    let report =
        |seed| grown(&mut Walk::random(8), (0, 0), full(seed), 300).report(BudgetKind::Time);
    assert_eq!(report(1), report(1));
}

#[test]
fn interrupted_playouts_leave_the_tree_consistent() {
    let heap = &mut Heap;
    let mut game = OneByOne::new(heap, 100);
    let mut tree = Tree::new(&mut game, (21, 0), &full(2)).unwrap();
    let mut asked = 0;
    while tree.iterations() < 500 && !tree.is_settled(0) {
        // Some calls return false.
        let proceed = &mut || {
            asked += 1;
            asked % 50 > 0
        };
        tree.grow(&mut game, 50, &mut None, proceed).unwrap();
    }
    let report = tree.report(BudgetKind::Time);
    assert_eq!(report.roles[0].best().unwrap().action, 1);
}

/// A ring without a forced end: a line that repeats a position is cut.
struct Ring;

impl GameProblem for Ring {
    type State = u32;
    type Move = u32;
    type Error = Infallible;

    fn roles(&self) -> usize {
        1
    }

    fn is_terminal(&mut self, state: &u32) -> Result<bool, Infallible> {
        Ok(*state == 5)
    }

    fn legal(&mut self, _state: &u32, _role: usize, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.extend([1, 7]);
        Ok(())
    }

    fn next(&mut self, state: &u32, joint: &[u32]) -> Result<u32, Infallible> {
        Ok((state + joint[0]) % 8)
    }

    fn goals(&mut self, _state: &u32, out: &mut [u8]) -> Result<(), Infallible> {
        out[0] = 100;
        Ok(())
    }
}

#[test]
fn lines_that_repeat_a_position_are_cut() {
    let tree = grown(&mut Ring, 0, full(0), 10_000);
    assert_eq!(tree.report(BudgetKind::Time).roles[0].bounds, [100, 100]);
    assert!(tree.len() <= 8);
}
