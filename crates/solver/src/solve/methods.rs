//! Methods that work on the network of a game.
//!
//! In: a [`Puzzle`] and a budget. Out: what a method came to, and why it applied.

use std::sync::Arc;
use std::time::Duration;

use super::{Method, Scoring, SolveOptions, Strategy};
use crate::planning::best_first::{BestFirst, Order, best_first};
use crate::planning::bidirectional::bidirectional;
use crate::planning::bounded::bounded;
use crate::planning::breadth_first::{BreadthFirstOptions, Seen, breadth_first};
use crate::planning::depth_first::{DeadEndDetector, DepthFirstOptions, depth_first};
use crate::planning::effects::Effects;
use crate::planning::estimate::Estimate;
use crate::planning::factored::factored;
use crate::planning::iterative_deepening::{Bounds, Deepening, iterative_deepening};
use crate::planning::move_set::{move_set, move_set_if_reliable};
use crate::planning::nested::{Nested, nested};
use crate::planning::nrpa::{Nrpa, nrpa};
use crate::planning::partial_order::PartialOrder;
use crate::planning::potential::Potentials;
use crate::planning::potential::bound::Bound;
use crate::planning::rollout::Sampling;
use crate::planning::uct::{Uct, uct};
use crate::planning::{BestSoFar, Outcome, Puzzle, Reason, linear, parity};
use ggp_search::{Budget, Compare, Observer, Stats};

/// What a method came to.
pub(super) struct Found {
    pub outcome: Outcome,
    /// Which one, and why, in one line.
    pub why: String,
}

/// States that a beam keeps of each level.
const BEAM: usize = 4_096;
/// Gates of a game for which the fewest moves are estimated before the search.
const BOUNDED: usize = 20_000;
/// Time for linear programs at the start.
const HASTY: Duration = Duration::from_millis(400);

/// Methods on one puzzle, and what they learned.
pub(super) struct Methods<'p> {
    puzzle: &'p Puzzle,
    options: &'p SolveOptions,
    /// Once it is needed.
    effects: Option<Option<Effects>>,
    potentials: Option<Option<Learned>>,
    commuting: Option<Option<Arc<PartialOrder>>>,
    /// Whether linear programs are few, and sets of moves that may be none left out.
    pub is_hasty: bool,
    /// Whether there is one order of moves at a time.
    pub is_alone: bool,
    /// The best end that was met on the way to none that is good enough.
    pub best: Option<BestSoFar>,
    /// What a search level by level looked at.
    pub seen: Option<Seen>,
    /// What went wrong with files.
    pub failure: Option<String>,
}

impl<'p> Methods<'p> {
    pub fn new(puzzle: &'p Puzzle, options: &'p SolveOptions) -> Self {
        Methods {
            puzzle,
            options,
            effects: None,
            potentials: None,
            commuting: None,
            is_hasty: false,
            is_alone: false,
            best: None,
            seen: None,
            failure: None,
        }
    }

    /// Runs one method. A plan is one of the length asked for.
    pub fn run(
        &mut self,
        method: Method,
        budget: &Budget,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Found {
        stats.method = Some(Strategy::Network(method).name());
        let mut found = self.run_any(method, budget, stats, observer);
        if let Outcome::Solved { plan, optimal } = &found.outcome
            && plan.len() > budget.depth as usize
        {
            found.outcome = match optimal {
                true => Outcome::NoPlanWithin(budget.depth),
                false => Outcome::Unknown,
            };
        }
        found
    }

    fn run_any(
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
            Method::Algebra => return self.algebra(budget),
            Method::MoveSet => {
                let answer = match self.is_hasty {
                    true => move_set_if_reliable(puzzle, budget),
                    false => move_set(puzzle, budget),
                };
                (answer.outcome, answer.found)
            }
            Method::Steps => {
                let answer = bounded(puzzle, budget);
                (answer.outcome, answer.found)
            }
            Method::Greedy => (
                best(Order::Greedy, Estimate::HAdd),
                "by additive estimates".into(),
            ),
            Method::Scarce => {
                let how = BestFirst {
                    together: 16,
                    ..BestFirst::new(Order::Greedy, Estimate::WeightedGoalCount)
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
                best(Order::Progress, Estimate::GoalCount),
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
                let outcome = iterative_deepening(puzzle, &how, budget, stats, observer);
                (outcome, "by limits".into())
            }
            Method::Mobility => (
                best(Order::Deepest, Estimate::Mobility),
                "deepest first".into(),
            ),
            Method::Parts => (
                factored(puzzle, budget, stats, observer),
                "what a solution needs falls apart".into(),
            ),
            Method::Bidirectional => {
                let outcome = bidirectional(puzzle, budget, stats, observer);
                (outcome, "level by level".into())
            }
            Method::Novelty => (
                best(Order::Bfws2, Estimate::GoalCount),
                "by goal distance".into(),
            ),
            Method::AStar => (
                best(Order::AStar, Estimate::HMax),
                "by a lower bound".into(),
            ),
            Method::Beam => (
                best(Order::Beam(BEAM), Estimate::HAdd),
                "by additive estimates".into(),
            ),
            Method::Nrpa | Method::Nested | Method::Uct => {
                let sampling = Sampling {
                    seed: self.options.seed,
                    scoring: self.options.scoring,
                    ..Sampling::default()
                };
                let out = &mut self.best;
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
                let why = match self.options.scoring {
                    Scoring::Points => "by points, then by facts as wanted",
                    Scoring::Length => "by the lengths of solutions",
                };
                (outcome, why.to_owned())
            }
            Method::Levels => {
                let asked = match self.is_hasty {
                    true => BreadthFirstOptions::default(),
                    false => self.options.levels.clone(),
                };
                let how = BreadthFirstOptions {
                    threads: match self.is_hasty {
                        // In a portfolio the threads have a search each.
                        true => 1,
                        false => self.options.threads,
                    },
                    ..asked
                };
                let why = "level by level".to_owned();
                match breadth_first(puzzle, &how, budget, stats, observer) {
                    Ok((outcome, seen)) => {
                        self.seen = Some(seen);
                        match seen.symmetries {
                            1 => (outcome, why),
                            count => (outcome, format!("{why}, up to {count} symmetries")),
                        }
                    }
                    Err(error) => {
                        self.failure = Some(error.to_string());
                        (Outcome::Unknown, why)
                    }
                }
            }
            Method::Dive => {
                let mut how = DepthFirstOptions {
                    seed: self.options.seed,
                    commuting: self.commuting(),
                    ..DepthFirstOptions::default()
                };
                if self.is_alone {
                    how.divers = 1;
                }
                let mut learned = match self.is_hasty {
                    true => None,
                    false => self.potentials(),
                };
                if let Some(learned) = &mut learned {
                    learned.0.within(budget);
                }
                let why = match &learned {
                    Some(_) => "states that potentials refute are left out",
                    None => "many orders of moves",
                };
                let learned = learned.map(|learned| learned as &mut dyn DeadEndDetector);
                let outcome = depth_first(puzzle, &how, learned, budget, stats, observer);
                (outcome, why.to_owned())
            }
        };
        let why = format!("{}: {why}", Strategy::Network(method).name());
        Found { outcome, why }
    }

    /// The least number of moves that a plan can have, by sums over facts.
    pub fn bound(&mut self) -> u32 {
        let puzzle = self.puzzle;
        if puzzle.net.network().gates() > BOUNDED {
            return 0;
        }
        let bound = self
            .effects()
            .and_then(|effects| Bound::of(puzzle, effects, Some(HASTY)));
        bound.map_or(0, |bound| bound.moves(&puzzle.start))
    }

    fn effects(&mut self) -> Option<&Effects> {
        let puzzle = self.puzzle;
        self.effects
            .get_or_insert_with(|| Effects::of(puzzle))
            .as_ref()
    }

    fn commuting(&mut self) -> Option<Arc<PartialOrder>> {
        let puzzle = self.puzzle;
        let found = self
            .commuting
            .get_or_insert_with(|| PartialOrder::of(puzzle).map(Arc::new));
        found.clone()
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

    fn algebra(&mut self, budget: &Budget) -> Found {
        let puzzle = self.puzzle;
        let found = |outcome, why: &str| Found {
            outcome,
            why: format!("{}: {why}", Strategy::Network(Method::Algebra).name()),
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
        let most = self.is_hasty.then_some(HASTY);
        let Some(Learned(potentials)) = self.potentials() else {
            return found(Outcome::Unknown, "nothing linear");
        };
        potentials.within(&Budget {
            time: [budget.time, most].into_iter().flatten().min(),
            ..budget.clone()
        });
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
}

/// Potentials as what a search asks before it goes on.
struct Learned(Potentials);

impl DeadEndDetector for Learned {
    fn is_dead(&mut self, state: &[u64]) -> bool {
        self.0.refutes(state)
    }

    fn stuck(&mut self, state: &[u64]) {
        self.0.learn(state);
    }
}
