use std::collections::HashMap;
use std::convert::Infallible;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// A random game in layers: each state leads to states of the next layer only,
/// some of which are terminal.
struct Toy {
    roles: usize,
    /// By layer and place: by role its number of moves, and the children.
    layers: Vec<Vec<(Vec<usize>, Vec<usize>)>>,
    /// By layer and place: scores of terminal states, estimates of others.
    values: Vec<Vec<(Option<Vec<u8>>, f64)>>,
}

type Place = (usize, usize);

const LAYERS: usize = 6;
const WIDTH: usize = 7;

impl Toy {
    /// A game of two roles in turn with opposite scores, or of any number of roles that move
    /// simultaneously.
    fn random(seed: u64, roles: usize, takes_turns: bool) -> Toy {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut toy = Toy {
            roles,
            layers: Vec::new(),
            values: Vec::new(),
        };
        for layer in 0..=LAYERS {
            let mut states = Vec::new();
            let mut values = Vec::new();
            for _ in 0..WIDTH {
                let mover = random.random_range(0..roles);
                let moves: Vec<usize> = (0..roles)
                    .map(|role| match !takes_turns || role == mover {
                        true => random.random_range(1..4),
                        false => 1,
                    })
                    .collect();
                let joints: usize = moves.iter().product();
                let children = (0..joints).map(|_| random.random_range(0..WIDTH)).collect();
                states.push((moves, children));
                let is_end = layer == LAYERS || layer > 0 && random.random_bool(0.2);
                let scores = is_end.then(|| {
                    let own = [0, 0, 20, 50, 50, 70, 100, 100][random.random_range(0..8)];
                    let mut scores = vec![own, 100 - own];
                    scores.resize_with(roles, || random.random_range(0..=100));
                    scores
                });
                values.push((scores, random.random_range(0.0..100.0)));
            }
            toy.layers.push(states);
            toy.values.push(values);
        }
        toy
    }

    /// The score for a role by definition, without distances.
    fn plain(&self, (layer, at): Place, role: usize, depth: u32) -> f64 {
        if let Some(scores) = &self.values[layer][at].0 {
            return scores[role].into();
        }
        if depth == 0 {
            return 1.0 + 0.98 * self.values[layer][at].1;
        }
        let (moves, children) = &self.layers[layer][at];
        let stride: usize = moves[role + 1..].iter().product();
        let mut worst = vec![f64::MAX; moves[role]];
        for (place, child) in children.iter().enumerate() {
            let value = self.plain((layer + 1, *child), role, depth - 1);
            let own = place / stride % moves[role];
            worst[own] = worst[own].min(value);
        }
        worst.into_iter().fold(f64::MIN, f64::max)
    }
}

impl MinimaxGame for Toy {
    type State = Place;
    type Move = usize;
    type Error = Infallible;

    fn roles(&self) -> usize {
        self.roles
    }

    fn expand(
        &mut self,
        &(layer, at): &Place,
        _role: usize,
    ) -> Result<Expansion<Place, usize>, Infallible> {
        let (moves, children) = &self.layers[layer][at];
        let children = children.iter().map(|&child| Child {
            state: (layer + 1, child),
            scores: self.values[layer + 1][child].0.clone(),
            is_wrong: false,
        });
        Ok(Expansion {
            legal: moves.iter().map(|count| (0..*count).collect()).collect(),
            children: children.collect(),
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&Place],
        role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        assert_eq!(role, 0, "the tests ask for the first role");
        out.extend(states.iter().map(|&&(layer, at)| self.values[layer][at].1));
        Ok(())
    }
}

fn search(
    toy: &mut Toy,
    table: &mut TranspositionTable<Place>,
    wanted: Wanted,
    budget: &Budget,
) -> MinimaxReport<usize> {
    let options = Minimax { wanted, seed: 3 };
    let stats = &mut Stats::default();
    let root = (0, 0);
    let Ok(report) = minimax(
        toy,
        table,
        &root,
        0,
        &options,
        budget,
        stats,
        &mut (),
        &mut |_| (),
    );
    report
}

fn to_depth(depth: u32) -> Budget {
    Budget {
        depth,
        ..Budget::default()
    }
}

/// Values of depth-first searches differ from the definition by distances only.
fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-3
}

/// The first moves and their values by the definition.
fn moves_by_definition(toy: &Toy, depth: u32) -> HashMap<usize, f64> {
    let (moves, children) = &toy.layers[0][0];
    let stride: usize = moves[1..].iter().product();
    let mut values = HashMap::new();
    for (place, child) in children.iter().enumerate() {
        let value = toy.plain((1, *child), 0, depth - 1);
        let least = values.entry(place / stride).or_insert(value);
        *least = value.min(*least);
    }
    values
}

#[test]
fn alpha_beta_is_minimax_at_every_depth() {
    for seed in 0..300 {
        for (roles, takes_turns) in [(2, true), (2, false), (3, true), (3, false), (1, false)] {
            let mut toy = Toy::random(seed, roles, takes_turns);
            for depth in 1..=LAYERS as u32 {
                let expected = moves_by_definition(&toy, depth);
                let best = expected.values().copied().fold(f64::MIN, f64::max);
                let context = format!("seed {seed}, {roles} roles, depth {depth}");
                // With a tiny, a small and a large table.
                for bytes in [0, 2_000, 1 << 30] {
                    let mut table = TranspositionTable::new(bytes);
                    let report = search(&mut toy, &mut table, Wanted::Best, &to_depth(depth));
                    let first = &report.moves[0];
                    assert!(is_close(first.value, best), "{context}: {report:?} {best}");
                    assert!(is_close(expected[&first.action], best), "{context}");
                    let report = search(&mut toy, &mut table, Wanted::All, &to_depth(depth));
                    for found in &report.moves {
                        let value = expected[&found.action];
                        assert!(
                            is_close(found.value, value),
                            "{context}: {report:?} {value}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn proofs_are_correct() {
    for seed in 0..300 {
        for (roles, takes_turns) in [(2, true), (2, false), (3, true)] {
            let mut toy = Toy::random(seed, roles, takes_turns);
            let expected = moves_by_definition(&toy, LAYERS as u32);
            let best = expected.values().copied().fold(f64::MIN, f64::max);
            for depth in 1..=LAYERS as u32 {
                let mut table = TranspositionTable::new(1 << 30);
                let report = search(&mut toy, &mut table, Wanted::Best, &to_depth(depth));
                let values = report.moves.iter().map(|m| (m.bounds, expected[&m.action]));
                for ((least, most), value) in values.chain([(report.bounds(), best)]) {
                    let is_within = f64::from(least) <= value && value <= f64::from(most);
                    assert!(is_within, "seed {seed} depth {depth}: {report:?}");
                }
            }
            let mut table = TranspositionTable::new(1 << 30);
            let budget = Budget::default();
            let report = search(&mut toy, &mut table, Wanted::All, &budget);
            assert_eq!(report.stopped, None, "it comes to an end by itself");
            for found in &report.moves {
                let value = expected[&found.action] as u8;
                assert_eq!(found.bounds.0, value, "seed {seed}: {report:?}");
                assert!([value, 100].contains(&found.bounds.1), "seed {seed}");
                assert!(!takes_turns || roles > 2 || found.bounds.1 == value);
            }
        }
    }
}

#[test]
fn budgets_end_the_search_with_its_results_so_far() {
    let mut toy = Toy::random(1, 2, true);
    for nodes in 1..40 {
        let budget = Budget {
            nodes,
            ..Budget::default()
        };
        let run = |toy: &mut Toy| {
            search(
                toy,
                &mut TranspositionTable::new(1 << 20),
                Wanted::Best,
                &budget,
            )
        };
        let report = run(&mut toy);
        assert!(report.positions <= nodes);
        assert!(!report.moves.is_empty());
        assert_eq!(report, run(&mut toy), "the same each time");
        if report.positions == nodes && report.stopped.is_some() {
            assert_eq!(report.stopped, Some(BudgetKind::Nodes));
        }
    }
}

/// One heap of counters; taking the last one wins. The state is the number left and the role
/// to move. A role may take none, so that play can be infinite.
struct Idle;

impl MinimaxGame for Idle {
    type State = (u8, usize);
    type Move = u8;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn expand(
        &mut self,
        &(left, mover): &(u8, usize),
        _role: usize,
    ) -> Result<Expansion<(u8, usize), u8>, Infallible> {
        let mut legal = vec![vec![0], vec![0]];
        legal[mover] = (0..=left.min(2)).collect();
        let children = legal[mover].iter().map(|taken| Child {
            state: (left - taken, 1 - mover),
            scores: (left == *taken).then(|| match mover {
                0 => vec![100, 0],
                _ => vec![0, 100],
            }),
            is_wrong: false,
        });
        Ok(Expansion {
            children: children.collect(),
            legal,
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&(u8, usize)],
        _role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        out.extend(states.iter().map(|_| 50.0));
        Ok(())
    }
}

#[test]
fn a_won_game_is_won_and_not_put_off() {
    for seed in 0..20 {
        let mut table = TranspositionTable::new(1 << 20);
        let options = Minimax {
            seed,
            ..Minimax::default()
        };
        let budget = to_depth(12);
        // Two left: there is an immediate win, and later ones.
        let search = |table: &mut TranspositionTable<_>, state| {
            let stats = &mut Stats::default();
            let on_report = &mut |_: &MinimaxReport<u8>| ();
            minimax(
                &mut Idle,
                table,
                &state,
                0,
                &options,
                &budget,
                stats,
                &mut (),
                on_report,
            )
        };
        let Ok(report) = search(&mut table, (2, 0));
        assert_eq!(report.moves[0].action, 2, "{report:?}");
        assert_eq!(report.bounds(), (100, 100));
        assert_eq!(report.depth, 1);
        // Three left: taking loses, so nothing is proved.
        let Ok(report) = search(&mut table, (3, 0));
        assert_eq!(report.moves[0].action, 0, "{report:?}");
        assert_eq!(report.bounds(), (0, 100));
        assert_eq!(report.depth, 12);
    }
}

/// Runs `prove` with a limit on the number of positions only.
fn proving<G: MinimaxGame<Error = Infallible>>(
    game: &mut G,
    root: &G::State,
    wanted: Wanted,
    nodes: u64,
) -> MinimaxReport<G::Move> {
    let options = Minimax { wanted, seed: 1 };
    let budget = Budget {
        nodes,
        ..Budget::default()
    };
    let table = &mut TranspositionTable::new(1 << 26);
    let stats = &mut Stats::default();
    let Ok(report) = prove(game, table, root, 0, &options, &budget, stats, &mut ());
    report
}

#[test]
fn play_that_goes_on_for_ever_is_seen() {
    for wanted in [Wanted::Best, Wanted::All] {
        let report = proving(&mut Idle, &(3, 0), wanted, u64::MAX);
        assert!(report.is_endless && report.has_cycles, "{report:?}");
        assert_eq!((report.bounds(), report.stopped), ((0, 100), None));
        // Taking one or two loses, and no role has to take.
        let found = |action| report.moves.iter().find(|m| m.action == action).unwrap();
        assert_eq!(found(0).bounds, (0, 100));
        assert_eq!((found(1).bounds, found(2).bounds), ((0, 0), (0, 0)));
    }
    let report = proving(&mut Idle, &(2, 0), Wanted::All, u64::MAX);
    assert!(!report.is_endless, "{report:?}");
    assert_eq!(report.bounds(), (100, 100));
    assert_eq!(report.line, [[(2, true), (0, false)]]);
}

/// A game with cycles: for each position the role to move and its successors, each a position
/// or a terminal state with the score of the first role.
#[derive(Debug)]
struct Maze(Vec<(usize, Vec<Result<usize, u8>>)>);

impl Maze {
    fn random(seed: u64) -> Maze {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let size = random.random_range(2..12);
        let position = |random: &mut Xoshiro256PlusPlus| {
            let ways = (0..random.random_range(1..4))
                .map(|_| match random.random_bool(0.2) {
                    true => Err([0, 20, 50, 50, 100][random.random_range(0..5)]),
                    false => Ok(random.random_range(0..size)),
                })
                .collect();
            (random.random_range(0..2), ways)
        };
        Maze((0..size).map(|_| position(&mut random)).collect())
    }

    /// The scores that each role can force, by definition: the least fixpoint from no
    /// information.
    fn forced(&self) -> (Vec<Option<u8>>, Vec<Option<u8>>) {
        let size = self.0.len();
        let (mut least, mut most) = (vec![None; size], vec![None; size]);
        for _ in 0..=size * 101 {
            for (at, (mover, ways)) in self.0.iter().enumerate() {
                let low = ways
                    .iter()
                    .map(|way| way.map_or_else(Some, |next| least[next]));
                let high = ways
                    .iter()
                    .map(|way| way.map_or_else(Some, |next| most[next]));
                // `None` is less than all.
                let high = high.map(|score: Option<u8>| score.map(|score| 100 - score));
                let (low, high): (Vec<Option<u8>>, Vec<Option<u8>>) =
                    (low.collect(), high.collect());
                let pick = |scores: &[Option<u8>], is_own| match is_own {
                    true => scores.iter().copied().max().flatten(),
                    false => scores.iter().copied().min().flatten(),
                };
                least[at] = pick(&low, *mover == 0);
                most[at] = pick(&high, *mover == 1).map(|score| 100 - score);
            }
        }
        (least, most)
    }
}

impl MinimaxGame for Maze {
    type State = usize;
    type Move = usize;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn expand(&mut self, at: &usize, _role: usize) -> Result<Expansion<usize, usize>, Infallible> {
        let (mover, ways) = &self.0[*at];
        let mut legal = vec![vec![0], vec![0]];
        legal[*mover] = (0..ways.len()).collect();
        let children = ways.iter().map(|way| Child {
            state: way.unwrap_or(1_000),
            scores: way.err().map(|score| vec![score, 100 - score]),
            is_wrong: false,
        });
        Ok(Expansion {
            children: children.collect(),
            legal,
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&usize],
        _role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        out.extend(states.iter().map(|_| 50.0));
        Ok(())
    }
}

#[test]
fn proofs_are_correct_in_games_with_cycles() {
    let (mut endless, mut lines) = (0, 0);
    for seed in 0..400 {
        let mut maze = Maze::random(seed);
        let (least, most) = maze.forced();
        let of = |way: Result<usize, u8>| match way {
            Err(score) => (score, score),
            Ok(next) => (least[next].unwrap_or(0), most[next].unwrap_or(100)),
        };
        let (mover, ways) = maze.0[0].clone();
        let expected: Vec<(u8, u8)> = match mover {
            0 => ways.iter().map(|way| of(*way)).collect(),
            _ => vec![(least[0].unwrap_or(0), most[0].unwrap_or(100))],
        };
        for nodes in [100, 6_000, u64::MAX] {
            let report = proving(&mut maze, &0, Wanted::All, nodes);
            for found in &report.moves {
                let (low, high) = expected[found.action];
                let (least, most) = found.bounds;
                match report.stopped {
                    Some(_) => assert!(least <= low && most >= high, "seed {seed}: {report:?}"),
                    None => assert_eq!((least, most), (low, high), "seed {seed}: {report:?}"),
                }
            }
            if nodes == u64::MAX {
                assert_eq!(report.stopped, None, "seed {seed}");
                let open = expected.iter().filter(|(low, high)| low < high).count();
                assert!(!report.is_endless || open > 0, "seed {seed}");
                endless += usize::from(report.is_endless);
                lines += usize::from(!report.line.is_empty());
            }
        }
    }
    assert!(endless > 20 && lines > 100, "{endless} {lines}");
}

/// A game in which chance selects a terminal state after a move.
struct Lottery(Vec<Vec<Option<u8>>>);

impl MinimaxGame for Lottery {
    type State = usize;
    type Move = usize;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn is_chance(&self, role: usize) -> bool {
        role == 1
    }

    fn expand(&mut self, at: &usize, _role: usize) -> Result<Expansion<usize, usize>, Infallible> {
        let scores = |score: Option<u8>| vec![score.unwrap_or(0), 0];
        let end = |score: &Option<u8>| Child {
            state: 1_000,
            scores: Some(scores(*score)),
            is_wrong: score.is_none(),
        };
        // The first choice is made alone; the prizes follow.
        let (legal, children) = match *at {
            0 => {
                let children = (1..=self.0.len()).map(|state| Child {
                    state,
                    scores: None,
                    is_wrong: false,
                });
                (
                    vec![(0..self.0.len()).collect(), vec![0]],
                    children.collect(),
                )
            }
            at => {
                let prizes = &self.0[at - 1];
                let legal = vec![vec![0], (0..prizes.len()).collect()];
                (legal, prizes.iter().map(end).collect())
            }
        };
        Ok(Expansion {
            legal,
            children,
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&usize],
        _role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        out.extend(states.iter().map(|_| 50.0));
        Ok(())
    }
}

#[test]
fn chance_nodes_have_the_mean_value_and_the_worst_bounds() {
    let prizes = |all: &[&[u8]]| {
        let each = |prizes: &&[u8]| prizes.iter().map(|prize| Some(*prize)).collect();
        Lottery(all.iter().map(each).collect())
    };
    let mut lottery = prizes(&[&[40, 40], &[0, 90], &[30, 31, 50]]);
    let report = proving(&mut lottery, &0, Wanted::All, u64::MAX);
    assert_eq!(report.stopped, None);
    let rows = |report: &MinimaxReport<usize>| {
        let moves = report.moves.iter();
        let rows: Vec<_> = moves
            .map(|m| (m.action, m.value.round(), m.bounds))
            .collect();
        rows
    };
    assert_eq!(
        rows(&report),
        [(1, 45.0, (0, 90)), (0, 40.0, (40, 40)), (2, 37.0, (30, 50))]
    );
    // Against an opponent in place of chance, the safe move would be best.
    let best = proving(&mut lottery, &0, Wanted::Best, u64::MAX);
    assert_eq!((best.moves[0].action, best.stopped), (1, None));
}

#[test]
fn a_fault_is_reported_with_the_moves_that_lead_to_it() {
    let mut lottery = Lottery(vec![vec![Some(60)], vec![Some(10), None]]);
    let report = proving(&mut lottery, &0, Wanted::All, u64::MAX);
    assert_eq!(report.fault, Some(vec![vec![1, 0], vec![0, 1]]));
    assert_eq!(report.stopped, None);
    let bounds = |action| {
        report
            .moves
            .iter()
            .find(|m| m.action == action)
            .unwrap()
            .bounds
    };
    assert_eq!((bounds(0), bounds(1)), ((60, 60), (0, 100)));
    // No role has a move.
    let report = proving(&mut Lottery(vec![vec![]]), &0, Wanted::All, u64::MAX);
    assert_eq!(report.fault, Some(vec![vec![0, 0]]));
    assert_eq!((report.bounds(), report.stopped), ((0, 100), None));
}
