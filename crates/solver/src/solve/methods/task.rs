//! One puzzle on its network, and what methods learn about it.

use ggp_stop::{Instant, Stop};
use std::sync::Arc;
use std::time::Duration;

use super::super::{Attempt, BestEnd, SolveOptions};
use super::{Method, OnNetwork};
use crate::planning::breadth_first::{BreadthFirstError, Seen};
use crate::planning::depth_first::DeadEndDetector;
use crate::planning::effects::Effects;
use crate::planning::partial_order::PartialOrder;
use crate::planning::potential::Potentials;
use crate::planning::potential::bound::Bound;
use crate::planning::{BestSoFar, Outcome, Plan, Puzzle};
use ggp_gdl::game::Move;
use ggp_search::{Budget, BudgetKind, Coverage, Observer, Stats, Verdict};

/// Games with more gates get no lower bound before the search.
const BOUNDED: usize = 20_000;
/// Time for linear programs at the start of a portfolio.
pub(super) const HASTY: Duration = Duration::from_millis(400);

/// A puzzle for methods on the network, and what they learned about it.
pub(in crate::solve) struct Task<'p> {
    /// Its analyses end with the method that runs.
    pub puzzle: Puzzle,
    pub options: &'p SolveOptions,
    /// Whether methods take turns: linear programs are few then, and move sets whose plans
    /// may fail in play are not tried.
    pub in_portfolio: bool,
    /// Whether depth-first search uses one move order at a time.
    pub one_order: bool,
    /// The best end met whose score is too low.
    pub best: Option<BestSoFar>,
    /// The positions that a breadth-first search has seen.
    pub seen: Option<Seen>,
    /// A failure to read or write a file.
    pub failure: Option<BreadthFirstError>,
    /// Made when a method first asks for them; `Some(None)` if there are none.
    potentials: Option<Option<Learned>>,
    partial_order: Option<Option<Arc<PartialOrder>>>,
}

impl<'p> Task<'p> {
    pub fn new(puzzle: &'p Puzzle, options: &'p SolveOptions) -> Self {
        Task {
            puzzle: puzzle.clone(),
            options,
            potentials: None,
            partial_order: None,
            in_portfolio: false,
            one_order: false,
            best: None,
            seen: None,
            failure: None,
        }
    }

    /// Runs a method. A plan has at most [`Budget::depth`] moves.
    pub fn run(
        &mut self,
        method: Method,
        run: OnNetwork,
        budget: &Budget,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Attempt {
        let began = Instant::now();
        let (outcome, why) = self.outcome(method, run, budget, stats, observer);
        let reason = match &outcome {
            Outcome::Unsolvable(reason) => Some(reason.clone()),
            _ => None,
        };
        Attempt {
            verdict: verdict(&self.puzzle, outcome, budget, began, stats),
            reason,
            best: self.best.as_ref().map(|best| BestEnd {
                score: best.score,
                plan: moves(&self.puzzle, &best.plan),
            }),
            bound: None,
            seen: self.seen,
            why: format!("{method}: {why}"),
        }
    }

    /// Runs a method as [`Task::run`] does, and returns the result in terms of the network.
    pub fn outcome(
        &mut self,
        method: Method,
        run: OnNetwork,
        budget: &Budget,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> (Outcome, String) {
        stats.method = Some(method.name());
        self.puzzle.stop = budget.end();
        let (outcome, why) = run(self, budget, stats, observer);
        let outcome = match outcome {
            Outcome::Solved { plan, optimal } if plan.len() > budget.depth as usize => {
                match optimal {
                    true => Outcome::NoPlanWithin(budget.depth),
                    false => Outcome::Unknown,
                }
            }
            outcome => outcome,
        };
        (outcome, why)
    }

    /// The least number of moves that a plan can have, by sums over facts, as far as the
    /// budget suffices to find it.
    pub fn bound(&mut self, budget: &Budget) -> u32 {
        self.puzzle.stop = budget.end();
        let puzzle = self.puzzle.clone();
        if puzzle.net.network().gates() > BOUNDED {
            return 0;
        }
        let bound = self
            .effects()
            .and_then(|effects| Bound::of(&puzzle, &effects, Some(HASTY)));
        bound.map_or(0, |bound| bound.moves(&puzzle.start))
    }

    pub(super) fn effects(&self) -> Option<Arc<Effects>> {
        Effects::of(&self.puzzle)
    }

    pub(super) fn partial_order(&mut self) -> Option<Arc<PartialOrder>> {
        let puzzle = &self.puzzle;
        learn(&mut self.partial_order, &puzzle.stop, || {
            PartialOrder::of(puzzle).map(Arc::new)
        });
        self.partial_order.as_ref()?.clone()
    }

    pub(super) fn potentials(&mut self) -> Option<&mut Learned> {
        if self.potentials.is_none() {
            let puzzle = self.puzzle.clone();
            let made = self
                .effects()
                .and_then(|effects| Potentials::of(&puzzle, &effects));
            learn(&mut self.potentials, &puzzle.stop, || made.map(Learned));
        }
        self.potentials.as_mut()?.as_mut()
    }
}

/// Makes a value once. What a stop prevented is tried again later.
fn learn<T>(known: &mut Option<Option<T>>, stop: &Stop, make: impl FnOnce() -> Option<T>) {
    if known.is_none() {
        let made = make();
        if made.is_some() || !stop.is_over() {
            *known = Some(made);
        }
    }
}

/// Potentials that a search asks before it goes on.
pub(super) struct Learned(pub Potentials);

impl DeadEndDetector for Learned {
    fn is_dead(&mut self, state: &[u64]) -> bool {
        self.0.refutes(state)
    }

    fn stuck(&mut self, state: &[u64]) {
        self.0.learn(state);
    }
}

/// The moves of a plan.
pub(in crate::solve) fn moves(puzzle: &Puzzle, plan: &Plan) -> Vec<Move> {
    let chosen = plan.iter();
    chosen
        .map(|&chosen| puzzle.net.moves()[0][chosen as usize])
        .collect()
}

/// The verdict of an outcome on a network.
fn verdict(
    puzzle: &Puzzle,
    outcome: Outcome,
    budget: &Budget,
    began: Instant,
    stats: &Stats,
) -> Verdict<Move> {
    let refuted = match outcome {
        Outcome::Solved { plan, optimal } => {
            return Verdict::Solved {
                plans: vec![moves(puzzle, &plan)],
                optimal,
                coverage: Coverage::Unknown,
            };
        }
        Outcome::Unsolvable(_) => return Verdict::Unsolvable,
        Outcome::NoPlanWithin(depth) if depth >= budget.depth => {
            return Verdict::NoSolutionWithin(depth);
        }
        Outcome::NoPlanWithin(depth) => stats.refuted.max(Some(depth)),
        Outcome::Unknown => stats.refuted,
    };
    Verdict::OutOfBudget {
        depth_completed: refuted,
        what: stats.ran_out.unwrap_or_else(|| match budget.time {
            _ if budget.stop.is_raised() => BudgetKind::Interrupt,
            Some(time) if began.elapsed() >= time => BudgetKind::Time,
            _ if budget.stop.is_late() => BudgetKind::Time,
            _ if stats.total().expanded >= budget.nodes => BudgetKind::Nodes,
            _ => BudgetKind::Method,
        }),
    }
}
