use std::convert::Infallible;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

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
            choices: [1, 1],
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
            choices: [1, 1],
        };
        // The first choice is made alone; the prizes follow.
        let (legal, children) = match *at {
            0 => {
                let children = (1..=self.0.len()).map(|state| Child {
                    state,
                    scores: None,
                    is_wrong: false,
                    choices: [1, 1],
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

/// A tree without end that raises a stop at one of its positions, and fails after it.
struct Broken {
    stop: ggp_stop::Stop,
    expansions_left: u32,
}

impl MinimaxGame for Broken {
    type State = u64;
    type Move = u64;
    type Error = &'static str;

    fn roles(&self) -> usize {
        1
    }

    fn expand(&mut self, at: &u64, _role: usize) -> Result<Expansion<u64, u64>, Self::Error> {
        if self.expansions_left == 0 {
            self.stop.raise();
            return Err("broken off");
        }
        self.expansions_left -= 1;
        let child = |action: &u64| Child {
            state: (2 * at + action) % 100_003,
            scores: (at % 7 == 5).then(|| vec![*action as u8]),
            is_wrong: false,
            choices: [1, 1],
        };
        Ok(Expansion {
            legal: vec![vec![0, 1]],
            children: [0, 1].iter().map(child).collect(),
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&u64],
        _role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Self::Error> {
        out.extend(states.iter().map(|_| 50.0));
        Ok(())
    }
}

/// The evaluation fails at any time: ahead, in the expected line, in retrograde analysis.
#[test]
fn a_stop_that_breaks_off_an_evaluation_leaves_a_report() {
    for expansions_left in (0..200).chain((200..30_000).step_by(997)) {
        let stop = ggp_stop::Stop::new();
        let budget = Budget {
            stop: stop.clone(),
            ..Budget::default()
        };
        let mut game = Broken {
            stop,
            expansions_left,
        };
        let table = &mut TranspositionTable::new(1 << 22);
        let (options, stats) = (Minimax::default(), &mut Stats::default());
        let report = prove(&mut game, table, &1, 0, &options, &budget, stats, &mut ());
        let report = report.expect("an answer");
        assert_eq!(report.stopped, Some(BudgetKind::Interrupt));
        // Without the first position there are no moves to report.
        let moves = if expansions_left == 0 { 0 } else { 2 };
        assert_eq!(report.moves.len(), moves);
    }
}
