//! One puzzle on its network, and what methods learn about it.

use ggp_stop::Instant;
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
    pub puzzle: &'p Puzzle,
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
    effects: Option<Option<Effects>>,
    potentials: Option<Option<Learned>>,
    partial_order: Option<Option<Arc<PartialOrder>>>,
}

impl<'p> Task<'p> {
    pub fn new(puzzle: &'p Puzzle, options: &'p SolveOptions) -> Self {
        Task {
            puzzle,
            options,
            effects: None,
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
            verdict: verdict(self.puzzle, outcome, budget, began, stats),
            reason,
            best: self.best.as_ref().map(|best| BestEnd {
                score: best.score,
                plan: moves(self.puzzle, &best.plan),
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

    pub(super) fn effects(&mut self) -> Option<&Effects> {
        let puzzle = self.puzzle;
        self.effects
            .get_or_insert_with(|| Effects::of(puzzle))
            .as_ref()
    }

    pub(super) fn partial_order(&mut self) -> Option<Arc<PartialOrder>> {
        let puzzle = self.puzzle;
        let found = self
            .partial_order
            .get_or_insert_with(|| PartialOrder::of(puzzle).map(Arc::new));
        found.clone()
    }

    pub(super) fn potentials(&mut self) -> Option<&mut Learned> {
        if self.potentials.is_none() {
            let puzzle = self.puzzle;
            let made = self
                .effects()
                .and_then(|effects| Potentials::of(puzzle, effects));
            self.potentials = Some(made.map(Learned));
        }
        self.potentials.as_mut()?.as_mut()
    }

    /// The effects of moves and the potentials, if both are known by now.
    pub(super) fn learned(&self) -> Option<(&Effects, &Potentials)> {
        let effects = self.effects.as_ref()?.as_ref()?;
        let potentials = self.potentials.as_ref()?.as_ref()?;
        Some((effects, &potentials.0))
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
