use ggp_stop::Stop;
use std::convert::Infallible;
use std::hash::Hash;
use std::time::Duration;

use super::*;
use crate::Problem;
use crate::toy_problems::{Lights, Lit, Paid, is_plan};

mod growth;
mod priors;
mod room;
mod summary;
mod threads;

/// The three lights as a game; three lights score 100, fewer 20 each.
struct LightsGame {
    lights: Lights,
    /// The score of all lights on.
    top: u8,
}

impl LightsGame {
    fn new() -> LightsGame {
        LightsGame {
            lights: Lights {
                paid: Paid::AtAnyStep,
            },
            top: 100,
        }
    }
}

impl GameProblem for LightsGame {
    type State = Lit;
    type Move = char;
    type Error = Infallible;

    fn roles(&self) -> usize {
        1
    }

    fn is_terminal(&mut self, state: &Lit) -> Result<bool, Infallible> {
        Ok(state.step == 7 || state.lights == [true; 3])
    }

    fn legal(&mut self, state: &Lit, _role: usize, out: &mut Vec<char>) -> Result<(), Infallible> {
        self.lights.actions(state, out)
    }

    fn next(&mut self, state: &Lit, joint: &[char]) -> Result<Lit, Infallible> {
        self.lights.result(state, &joint[0])
    }

    fn goals(&mut self, state: &Lit, out: &mut [u8]) -> Result<(), Infallible> {
        let on = state.lights.iter().filter(|&&light| light).count();
        out[0] = if on == 3 { self.top } else { 20 * on as u8 };
        Ok(())
    }
}

/// Two players in turn take one to three from a heap; taking the last one wins. Role 0
/// begins; the waiting role has the single move 0.
struct Heap;

impl GameProblem for Heap {
    type State = (u32, usize);
    type Move = u32;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn is_terminal(&mut self, &(heap, _): &(u32, usize)) -> Result<bool, Infallible> {
        Ok(heap == 0)
    }

    fn legal(
        &mut self,
        &(heap, turn): &(u32, usize),
        role: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), Infallible> {
        out.extend(if role == turn { 1..=heap.min(3) } else { 0..=0 });
        Ok(())
    }

    fn next(
        &mut self,
        &(heap, turn): &(u32, usize),
        joint: &[u32],
    ) -> Result<(u32, usize), Infallible> {
        Ok((heap - joint[turn], 1 - turn))
    }

    fn goals(&mut self, &(_, turn): &(u32, usize), out: &mut [u8]) -> Result<(), Infallible> {
        out[turn] = 0;
        out[1 - turn] = 100;
        Ok(())
    }
}

/// A game of one simultaneous joint move with the scores `values[a][b]`.
struct Matrix {
    values: Vec<Vec<[u8; 2]>>,
}

impl GameProblem for Matrix {
    type State = Option<[usize; 2]>;
    type Move = usize;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn is_terminal(&mut self, state: &Option<[usize; 2]>) -> Result<bool, Infallible> {
        Ok(state.is_some())
    }

    fn legal(
        &mut self,
        _state: &Option<[usize; 2]>,
        role: usize,
        out: &mut Vec<usize>,
    ) -> Result<(), Infallible> {
        out.extend(0..[self.values.len(), self.values[0].len()][role]);
        Ok(())
    }

    fn next(
        &mut self,
        _state: &Option<[usize; 2]>,
        joint: &[usize],
    ) -> Result<Option<[usize; 2]>, Infallible> {
        Ok(Some([joint[0], joint[1]]))
    }

    fn goals(&mut self, state: &Option<[usize; 2]>, out: &mut [u8]) -> Result<(), Infallible> {
        let [a, b] = state.unwrap();
        out.copy_from_slice(&self.values[a][b]);
        Ok(())
    }
}

/// A game that never ends; the state counts the moves.
struct Treadmill;

impl GameProblem for Treadmill {
    type State = u32;
    type Move = ();
    type Error = Infallible;

    fn roles(&self) -> usize {
        1
    }

    fn is_terminal(&mut self, _state: &u32) -> Result<bool, Infallible> {
        Ok(false)
    }

    fn legal(&mut self, _state: &u32, _role: usize, out: &mut Vec<()>) -> Result<(), Infallible> {
        out.extend([(), ()]);
        Ok(())
    }

    fn next(&mut self, state: &u32, _joint: &[()]) -> Result<u32, Infallible> {
        Ok(state.saturating_add(1))
    }

    fn goals(&mut self, _state: &u32, _out: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("the game never ends")
    }
}

fn report<G: GameProblem<Error = Infallible>>(
    game: &mut G,
    root: G::State,
    options: Mcts,
    budget: &Budget,
) -> MctsReport<G::Move> {
    mcts(
        game,
        &root,
        &options,
        budget,
        &mut Stats::default(),
        &mut (),
    )
    .unwrap()
}

fn solve(game: &mut LightsGame, options: Mcts, budget: &Budget) -> MctsVerdict<char> {
    let root = game.lights.start().unwrap();
    solve_with_mcts(
        game,
        &root,
        &options,
        budget,
        &mut Stats::default(),
        &mut (),
    )
    .unwrap()
}

#[test]
fn the_winning_move_of_a_turn_taking_game_is_visited_most() {
    for (heap, best) in [(2, 2), (3, 3), (5, 1), (6, 2), (7, 3)] {
        for seed in 0..3 {
            let options = Mcts {
                seed,
                ..Mcts::default()
            };
            let report = report(&mut Heap, (heap, 0), options, &Budget::default());
            assert_eq!(
                report.roles[0].best().unwrap().action,
                best,
                "heap {heap} seed {seed}"
            );
            assert_eq!(report.roles[1].moves.len(), 1);
            assert_eq!(report.roles[1].moves[0].visits, 9_999);
        }
    }
}

#[test]
fn both_players_of_a_lost_position_know_its_worth() {
    let report = report(&mut Heap, (4, 0), Mcts::default(), &Budget::default());
    assert!(
        report.roles[0].moves.iter().all(|entry| entry.mean < 10.0),
        "{report:?}"
    );
    assert!(report.roles[1].moves[0].mean > 90.0, "{report:?}");
}

#[test]
fn dominant_moves_of_simultaneous_games_are_found_by_both_roles() {
    let values = vec![vec![[60, 60], [0, 100]], vec![[100, 0], [20, 20]]];
    let report = report(
        &mut Matrix { values },
        None,
        Mcts::default(),
        &Budget::default(),
    );
    for role in &report.roles {
        assert_eq!(role.best().unwrap().action, 1, "{report:?}");
        assert_eq!(
            role.moves.iter().map(|entry| entry.visits).sum::<u64>(),
            9_999
        );
    }
}

#[test]
fn equal_seeds_give_equal_reports() {
    let options = Mcts {
        iterations: 500,
        seed: 7,
        ..Mcts::default()
    };
    let budget = Budget::default();
    let first = report(&mut Heap, (21, 0), options, &budget);
    assert_eq!(first, report(&mut Heap, (21, 0), options, &budget));
    let other = Mcts { seed: 8, ..options };
    assert_ne!(first, report(&mut Heap, (21, 0), other, &budget));
}

#[test]
fn a_terminal_root_has_no_moves() {
    let report = report(&mut Heap, (0, 0), Mcts::default(), &Budget::default());
    assert_eq!((report.iterations, report.positions), (0, 1));
    assert!(report.roles.iter().all(|role| role.best().is_none()));
}

#[test]
fn playouts_that_are_too_long_are_worth_50() {
    let options = Mcts {
        iterations: 50,
        playout_depth: 9,
        ..Mcts::default()
    };
    let report = report(&mut Treadmill, 0, options, &Budget::default());
    assert!(
        report.roles[0].moves.iter().all(|entry| entry.mean == 50.0),
        "{report:?}"
    );
}

#[test]
fn a_full_tree_continues_with_playouts() {
    let budget = Budget {
        memory_bytes: 10_000,
        ..Budget::default()
    };
    let report = report(&mut Heap, (21, 0), Mcts::default(), &budget);
    assert!(report.positions < 100, "{}", report.positions);
    assert_eq!(
        (report.iterations, report.stopped),
        (10_000, BudgetKind::Iterations)
    );
    assert_eq!(
        report.roles[0]
            .moves
            .iter()
            .map(|entry| entry.visits)
            .sum::<u64>(),
        9_999
    );
}

#[test]
fn each_budget_ends_a_search_of_moves() {
    let options = Mcts {
        iterations: u64::MAX,
        ..Mcts::default()
    };
    let set = Stop::raised();
    let budgets = [
        (
            Budget {
                nodes: 100,
                ..Budget::default()
            },
            BudgetKind::Nodes,
        ),
        (
            Budget {
                time: Some(Duration::from_millis(5)),
                ..Budget::default()
            },
            BudgetKind::Time,
        ),
        (
            Budget {
                stop: set,
                ..Budget::default()
            },
            BudgetKind::Interrupt,
        ),
    ];
    for (budget, expected) in budgets {
        let report = report(&mut Heap, (21, 0), options, &budget);
        assert_eq!(report.stopped, expected);
        assert!(expected != BudgetKind::Nodes || report.iterations == 100);
    }
}

#[test]
fn a_plan_for_the_lights_is_found_by_playouts() {
    for seed in 0..5 {
        let options = Mcts {
            seed,
            ..Mcts::default()
        };
        let verdict = solve(&mut LightsGame::new(), options, &Budget::default());
        let MctsVerdict::Solved { plan } = verdict else {
            panic!("seed {seed}: {verdict:?}")
        };
        assert!(
            is_plan(
                &mut Lights {
                    paid: Paid::AtAnyStep
                },
                &plan
            ),
            "seed {seed}"
        );
    }
}

#[test]
fn without_a_plan_the_best_line_is_returned() {
    let game = &mut LightsGame {
        top: 99,
        ..LightsGame::new()
    };
    let verdict = solve(game, Mcts::default(), &Budget::default());
    let MctsVerdict::OutOfBudget {
        best: Some(best),
        what,
    } = verdict
    else {
        panic!("{verdict:?}")
    };
    assert_eq!((best.score, what), (99, BudgetKind::Iterations));
    assert!(is_plan(&mut game.lights, &best.plan));
}

#[test]
fn a_line_without_a_terminal_state_is_not_a_plan() {
    let options = Mcts {
        iterations: 9,
        playout_depth: 9,
        ..Mcts::default()
    };
    let (budget, stats) = (Budget::default(), &mut Stats::default());
    let verdict = solve_with_mcts(&mut Treadmill, &0, &options, &budget, stats, &mut ());
    let expected = MctsVerdict::OutOfBudget {
        best: None,
        what: BudgetKind::Iterations,
    };
    assert_eq!(verdict, Ok(expected));
    assert_eq!(stats.total().expanded, 9);
}

#[test]
fn a_root_that_is_solved_has_the_empty_plan() {
    let root = Lit {
        lights: [true; 3],
        step: 1,
    };
    let (budget, stats) = (Budget::default(), &mut Stats::default());
    let game = &mut LightsGame::new();
    let verdict = solve_with_mcts(game, &root, &Mcts::default(), &budget, stats, &mut ());
    assert_eq!(verdict, Ok(MctsVerdict::Solved { plan: Vec::new() }));
}

/// Checks that no line waits, that the visits of each role's arms are those of the node without
/// its own evaluation, that arms lead to positions of the tree only, and that the table and the
/// bytes are those of the positions.
fn check<S: Clone + Eq + Hash, M: Clone + Eq + Hash>(tree: &Tree<S, M>) {
    let in_use = |node: u32| tree.nodes[node as usize].age != tree::FREE && tree.is_kept(node);
    let mut heap = 0;
    for (number, node) in (0..).zip(&tree.nodes) {
        assert_eq!(
            node.age == tree::FREE,
            tree.states[number as usize].is_none()
        );
        heap += node.arms.bytes() + arms::heap_bytes(size_of_val(&*node.moves));
        heap += node.many.as_ref().map_or(0, |many| many.bytes());
        if node.age == tree::FREE || !tree.is_kept(number) {
            continue;
        }
        assert_eq!(node.pending, 0);
        if tree.options.graph {
            let state = tree.state(number);
            assert_eq!(tree.find(tree.hash(state), state), Some(number));
        }
        for &child in node.arms.children() {
            assert!(child == tree::NONE || in_use(child));
        }
        if let Some(many) = &node.many {
            assert!(many.edges.values().all(|&child| in_use(child)));
        }
        if node.arms.is_empty() {
            continue;
        }
        for (_, arms) in tree.choosers(number) {
            let visits = arms.clone().map(|arm| node.arms.visits(arm)).sum::<u32>();
            assert_eq!(node.visits.max(1), visits + 1);
            assert!(arms.into_iter().all(|arm| node.arms.pending(arm) == 0));
        }
    }
    assert_eq!(tree.heap, heap);
    let free = tree
        .nodes
        .iter()
        .filter(|node| node.age == tree::FREE)
        .count();
    assert_eq!(free, tree.room.free.len());
    assert!(in_use(tree.root));
}
