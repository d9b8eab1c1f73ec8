//! Methods that work on the network of a game, and a portfolio of them.
//!
//! In: a [`Puzzle`] and a budget. Out: what the first method came to that came to
//! anything, and why it did. What analysis finds comes first: linear systems,
//! sums that no move makes larger, final states that a set of moves brings about.
//! Then searches take turns in growing slices.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::SolveOptions;
use crate::puzzle::best_first::{BestFirst, Order, best_first};
use crate::puzzle::bidirectional::bidirectional;
use crate::puzzle::collapse::{collapse, collapse_sure};
use crate::puzzle::deepening::{Bounds, Deepening, deepening};
use crate::puzzle::dive::{DeadEnd, DiveOptions, dive};
use crate::puzzle::effects::Effects;
use crate::puzzle::estimate::Estimate;
use crate::puzzle::levels::levels;
use crate::puzzle::nested::{Nested, nested};
use crate::puzzle::nrpa::{Nrpa, nrpa};
use crate::puzzle::potential::Potentials;
use crate::puzzle::rollout::Sampling;
use crate::puzzle::uct::{Uct, uct};
use crate::puzzle::unroll::unroll;
use crate::puzzle::{Outcome, Puzzle, Reason, linear, parity};
use crate::search::{Budget, Compare, Observer, Stats};

/// A method on the network.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Linear systems, parities and potentials.
    Algebra,
    /// A set of moves that brings about a final state, by SAT.
    MoveSet,
    /// A state and a move for each step, by SAT.
    Steps,
    /// Level by level, packed states.
    Levels,
    /// Depth-first, many at a time, in several orders.
    Dive,
    /// The least estimate first.
    Greedy,
    /// What is new first, then greedily.
    Novelty,
    /// Moves made and a lower bound of those to come.
    AStar,
    /// The best of each level only.
    Beam,
    /// Nested rollout policy adaptation.
    Nrpa,
    /// Nested Monte Carlo search.
    Nested,
    /// Monte Carlo tree search in lanes.
    Uct,
    /// Iterative deepening by lower bounds.
    IdaStar,
    /// Iterative deepening.
    Deepening,
    /// Breadth-first from both ends.
    Bidirectional,
    /// Facts that few moves change first.
    Scarce,
    /// By relaxed plans and the moves they begin with.
    RelaxedPlans,
    /// What is new for its progress first.
    Progress,
}

impl Method {
    /// Every method.
    pub const ALL: [Method; 18] = [
        Method::Algebra,
        Method::MoveSet,
        Method::Steps,
        Method::Levels,
        Method::Dive,
        Method::Greedy,
        Method::Novelty,
        Method::AStar,
        Method::Beam,
        Method::Nrpa,
        Method::Nested,
        Method::Uct,
        Method::IdaStar,
        Method::Deepening,
        Method::Bidirectional,
        Method::Scarce,
        Method::RelaxedPlans,
        Method::Progress,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Method::Algebra => "algebra",
            Method::MoveSet => "a set of moves by SAT",
            Method::Steps => "steps by SAT",
            Method::Levels => "breadth-first on packed states",
            Method::Dive => "depth-first on packed states",
            Method::Greedy => "greedy best-first",
            Method::Novelty => "novelty",
            Method::AStar => "A*",
            Method::Beam => "beam",
            Method::Nrpa => "nested rollout policy adaptation",
            Method::Nested => "nested Monte Carlo search",
            Method::Uct => "Monte Carlo tree search in lanes",
            Method::IdaStar => "IDA*",
            Method::Deepening => "iterative deepening on packed states",
            Method::Bidirectional => "breadth-first from both ends",
            Method::Scarce => "greedy by scarcity",
            Method::RelaxedPlans => "greedy by relaxed plans",
            Method::Progress => "novelty by progress",
        }
    }
}

/// What a method came to.
pub(super) struct Found {
    pub outcome: Outcome,
    /// Which one, and why, in one line.
    pub why: String,
}

/// States that a beam keeps of each level.
const BEAM: usize = 4_096;
/// States that a search may expand in the first round, how much more it may in
/// the next, and rounds.
const FIRST_ROUND: u64 = 20_000;
const GROWTH: u64 = 6;
/// States that breadth-first may expand in any round, times gates: for small games
/// it ends with a shortest plan or a proof.
const LEVELS: u64 = 100_000_000;
const MOST_LEVELS: u64 = 200_000;
const ROUNDS: u32 = 8;
/// Seconds of a SAT solver in the first round.
const FIRST_SECONDS: f64 = 0.5;

/// What takes turns.
const SEARCHES: [Method; 7] = [
    Method::Levels,
    Method::Dive,
    Method::Greedy,
    Method::Novelty,
    Method::Steps,
    Method::AStar,
    Method::Beam,
];

/// Methods on one puzzle, and what they learned.
pub(super) struct Methods<'p> {
    puzzle: &'p Puzzle,
    options: &'p SolveOptions,
    started: Instant,
    /// Once it is needed.
    effects: Option<Option<Effects>>,
    potentials: Option<Option<Learned>>,
    /// Whether linear programs, and sets of moves that may be none, are left out.
    is_hasty: bool,
    /// Whether there is one order of moves at a time.
    is_alone: bool,
}

impl<'p> Methods<'p> {
    pub fn new(puzzle: &'p Puzzle, options: &'p SolveOptions) -> Self {
        Methods {
            puzzle,
            options,
            started: Instant::now(),
            effects: None,
            potentials: None,
            is_hasty: false,
            is_alone: false,
        }
    }

    /// Runs one method.
    pub fn run(
        &mut self,
        method: Method,
        budget: &Budget,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Found {
        let puzzle = self.puzzle;
        let mut best = |order, estimate| {
            best_first(
                puzzle,
                &BestFirst::new(order, estimate),
                budget,
                stats,
                observer,
            )
        };
        let (outcome, why) = match method {
            Method::Algebra => return self.algebra(),
            Method::MoveSet => {
                let answer = match self.is_hasty {
                    true => collapse_sure(puzzle, budget),
                    false => collapse(puzzle, budget),
                };
                (answer.outcome, answer.found)
            }
            Method::Steps => {
                let answer = unroll(puzzle, budget);
                (answer.outcome, answer.found)
            }
            Method::Greedy => (
                best(Order::Greedy, Estimate::Additive),
                "by additive estimates".into(),
            ),
            Method::Scarce => {
                let how = BestFirst {
                    together: 16,
                    ..BestFirst::new(Order::Greedy, Estimate::Scarce)
                };
                (
                    best_first(puzzle, &how, budget, stats, observer),
                    "facts that few moves change weigh most".into(),
                )
            }
            Method::RelaxedPlans => {
                let how = BestFirst {
                    prefers: true,
                    ..BestFirst::new(Order::Greedy, Estimate::RelaxedPlan)
                };
                (
                    best_first(puzzle, &how, budget, stats, observer),
                    "and by their first moves".into(),
                )
            }
            Method::Progress => (
                best(Order::Progress, Estimate::Distance),
                "by goal distance".into(),
            ),
            Method::IdaStar | Method::Deepening => {
                let how = Deepening {
                    bounds: match method {
                        Method::IdaStar => Bounds::Sums,
                        _ => Bounds::One,
                    },
                    compare: Compare::Key,
                };
                let outcome = deepening(puzzle, &how, budget, stats, observer);
                (outcome, "by limits".into())
            }
            Method::Bidirectional => {
                let outcome = bidirectional(puzzle, budget, stats, observer);
                (outcome, "level by level".into())
            }
            Method::Novelty => (
                best(Order::Novelty, Estimate::Distance),
                "by goal distance".into(),
            ),
            Method::AStar => (
                best(Order::AStar, Estimate::Latest),
                "by a lower bound".into(),
            ),
            Method::Beam => (
                best(Order::Beam(BEAM), Estimate::Additive),
                "by additive estimates".into(),
            ),
            Method::Nrpa | Method::Nested | Method::Uct => {
                let sampling = Sampling {
                    seed: self.options.seed,
                    ..Sampling::default()
                };
                let mut end = None;
                let out = &mut end;
                let outcome = match method {
                    Method::Nrpa => {
                        let how = Nrpa {
                            sampling,
                            ..Nrpa::default()
                        };
                        nrpa(puzzle, &how, budget, out, stats, observer)
                    }
                    Method::Nested => {
                        nested(puzzle, &Nested { sampling }, budget, out, stats, observer)
                    }
                    _ => {
                        let how = Uct {
                            sampling,
                            ..Uct::default()
                        };
                        uct(puzzle, &how, budget, out, stats, observer)
                    }
                };
                let best = end.map_or(0, |end| end.score.get());
                (outcome, format!("the best end met has {best} points"))
            }
            Method::Levels => {
                let why = "level by level".to_owned();
                (levels(puzzle, budget, stats, observer), why)
            }
            Method::Dive => {
                let mut how = DiveOptions {
                    seed: self.options.seed,
                    ..DiveOptions::default()
                };
                if self.is_alone {
                    how.divers = 1;
                }
                let learned = match self.is_hasty {
                    true => None,
                    false => self.potentials(),
                };
                let why = match &learned {
                    Some(_) => "states that potentials refute are left out",
                    None => "many orders of moves",
                };
                let learned = learned.map(|learned| learned as &mut dyn DeadEnd);
                let outcome = dive(puzzle, &how, learned, budget, stats, observer);
                (outcome, why.to_owned())
            }
        };
        let why = format!("{}: {why}", method.name());
        Found { outcome, why }
    }

    fn effects(&mut self) -> Option<&Effects> {
        let puzzle = self.puzzle;
        self.effects
            .get_or_insert_with(|| Effects::of(puzzle))
            .as_ref()
    }

    fn potentials(&mut self) -> Option<&mut Learned> {
        if self.potentials.is_none() {
            let puzzle = self.puzzle;
            let made = self
                .effects()
                .and_then(|effects| Potentials::of(puzzle, effects));
            self.potentials = Some(made.map(Learned));
        }
        self.potentials.as_mut()?.as_mut()
    }

    fn algebra(&mut self) -> Found {
        let puzzle = self.puzzle;
        let found = |outcome, why: &str| Found {
            outcome,
            why: format!("{}: {why}", Method::Algebra.name()),
        };
        let Some(effects) = self.effects() else {
            return found(Outcome::Unknown, "too many moves and facts");
        };
        let solved = linear::solve(puzzle, effects);
        if solved != Outcome::Unknown {
            return found(solved, "moves flip facts, whatever the state");
        }
        let parity = parity::refute(puzzle, effects, None);
        if let Outcome::Unsolvable(Reason::Parity { facts, .. }) = &parity {
            let why = match facts.is_empty() {
                true => "no state at all is a solution",
                false => "a parity that every move keeps",
            };
            return found(parity, why);
        }
        if self.is_hasty {
            return found(Outcome::Unknown, "nothing linear");
        }
        let Some(Learned(potentials)) = self.potentials() else {
            return found(Outcome::Unknown, "nothing linear");
        };
        let potential = potentials.refute(puzzle);
        if potential != Outcome::Unknown {
            return found(potential, "a sum that no move makes larger");
        }
        let effects = self.effects.as_ref().and_then(Option::as_ref);
        let potentials = self.potentials.as_ref().and_then(Option::as_ref);
        let narrowed = effects
            .zip(potentials)
            .map_or(Outcome::Unknown, |(effects, learned)| {
                parity::refute(puzzle, effects, Some(&learned.0))
            });
        found(
            narrowed,
            "a parity that every move keeps, of what potentials leave",
        )
    }

    /// Runs methods until one comes to something; none if the budget, or
    /// `patience`, ends before.
    pub fn portfolio(
        &mut self,
        patience: Option<Duration>,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Found> {
        let whole = &self.options.budget;
        self.is_hasty = true;
        let mut nodes = FIRST_ROUND;
        let mut seconds = FIRST_SECONDS;
        for round in 0..=ROUNDS {
            // In some games many orders help, in others they are in the way.
            self.is_alone = round % 2 == 0;
            let methods = match round {
                0 => &[Method::MoveSet, Method::Algebra][..],
                _ => &SEARCHES,
            };
            for &method in methods {
                let left = patience.map(|all| all.saturating_sub(self.started.elapsed()));
                let raised = whole.interrupt.as_ref();
                let left_nodes = whole.nodes.saturating_sub(stats.total().expanded);
                if left.is_some_and(|left| left.is_zero())
                    || raised.is_some_and(|flag| flag.load(Ordering::Relaxed))
                    || left_nodes == 0
                {
                    return None;
                }
                let slice = match method {
                    Method::MoveSet if round == 0 => Some(Duration::from_secs(20)),
                    Method::MoveSet | Method::Steps => Some(Duration::from_secs_f64(seconds)),
                    _ => None,
                };
                let gates = self.puzzle.net.network.gates().max(1) as u64;
                let share = match method {
                    Method::Levels => nodes.max(MOST_LEVELS.min(LEVELS / gates)),
                    _ => nodes,
                };
                let budget = Budget {
                    nodes: share.min(left_nodes),
                    time: [left, slice].into_iter().flatten().min(),
                    ..whole.clone()
                };
                let found = self.run(method, &budget, stats, observer);
                let is_answer = match found.outcome {
                    Outcome::Unknown => false,
                    Outcome::NoPlanWithin(depth) => depth >= whole.depth,
                    _ => true,
                };
                if is_answer {
                    let why = match round {
                        0 => format!("auto: {}", found.why),
                        _ => format!("auto: {} (round {round})", found.why),
                    };
                    return Some(Found { why, ..found });
                }
            }
            if round > 0 {
                nodes = nodes.saturating_mul(GROWTH);
                seconds *= GROWTH as f64;
            }
        }
        None
    }
}

/// Potentials as what a search asks before it goes on.
struct Learned(Potentials);

impl DeadEnd for Learned {
    fn is_dead(&mut self, state: &[u64]) -> bool {
        self.0.refutes(state)
    }

    fn stuck(&mut self, state: &[u64]) {
        self.0.learn(state);
    }
}
