//! Order-free SAT encoding: which moves are made, not when.
//!
//! In: a puzzle. Out: a plan, or a proof that there is none, from clauses about the
//! *set* of moves that are made. If every relevant fact changes at most once, the
//! last state is a function of that set. A SAT solver then finds the set in one
//! call, where a search would also have to find an order. Afterwards the moves are
//! replayed in an order that the rules allow. Whatever prevents that is added to
//! the clauses, and they are solved again: moves that exclude each other in a
//! cycle, what the rules require at the time of a move, and facts that support only
//! each other in the last state.
//!
//! Every play that solves the puzzle satisfies the clauses, so their refutation is
//! a proof. Two assumptions make it more likely that a model is a plan: no move is
//! made twice, and no fact changes twice. A refutation that needs one of them
//! proves nothing.

mod candidates;
pub(super) mod effects;
mod formula;
mod replay;
mod single_changes;
mod ternary;
pub(super) mod timed_facts;

use super::{Outcome, Plan, Puzzle, Reason};
use effects::Effects;
use formula::{Formula, Requirement};
use ggp_engine::propnet::network::read;
use ggp_gdl::counted::counted;
use ggp_search::Budget;
use ggp_stop::Stop;
use replay::{Replay, in_order_of_needs, replay};
use single_changes::SingleChanges;
use std::sync::Arc;
use timed_facts::Timeline;

/// The outcome of a SAT method, with a summary of the analysis.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The outcome.
    pub outcome: Outcome,
    /// A one-line summary of the analysis.
    pub found: String,
}

/// Solutions that differ in their sets of moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solutions {
    /// A plan for each set of moves.
    pub plans: Vec<Plan>,
    /// True if it is proved that there are no others.
    pub is_all: bool,
}

/// Limit on the number of sets of moves that are tried.
const MOST_ROUNDS: usize = 20_000;
/// Limits on conflicts and on sets of moves for puzzles in which most facts may
/// change more than once.
const UNRELIABLE_LIMITS: (i32, usize) = (5_000, 100);
/// Limit on the number of conflicts before moves are compared.
const EASY_CONFLICTS: i32 = 1_000;

/// Searches for a plan or a proof that there is none.
pub fn move_set(puzzle: &Puzzle, budget: &Budget) -> Answer {
    attempt(puzzle, budget, |_| true)
}

/// Runs [`move_set`] if most facts change at most once; otherwise the outcome is
/// unknown.
pub fn move_set_if_reliable(puzzle: &Puzzle, budget: &Budget) -> Answer {
    attempt(puzzle, budget, |analysis| !analysis.is_unreliable())
}

fn attempt(puzzle: &Puzzle, budget: &Budget, fits: impl Fn(&Analysis) -> bool) -> Answer {
    let stop = budget.end();
    let puzzle = &puzzle.until(stop.clone());
    match at_start(puzzle) {
        Some(outcome) => Answer {
            outcome,
            found: "the first state is terminal".to_owned(),
        },
        None => with_analysis(puzzle, |analysis| {
            let found = analysis.found();
            if !fits(analysis) {
                let outcome = Outcome::Unknown;
                return Answer { outcome, found };
            }
            let mut search = analysis.search(puzzle, budget, stop.clone());
            let outcome = match search.next() {
                Next::Plan(plan) => Outcome::Solved {
                    plan,
                    optimal: false,
                },
                Next::None if search.formula.is_sound => Outcome::Unsolvable(Reason::Refuted {
                    what: analysis.found(),
                }),
                _ => Outcome::Unknown,
            };
            Answer { outcome, found }
        })
        .unwrap_or_else(|| Answer {
            outcome: Outcome::Unknown,
            found: "moves occur in recursive rules, or the puzzle is too large".to_owned(),
        }),
    }
}

/// Plans that differ in their sets of moves, at most `at_most` of them.
pub fn count(puzzle: &Puzzle, budget: &Budget, at_most: usize) -> Solutions {
    let stop = budget.end();
    let puzzle = &puzzle.until(stop.clone());
    let mut solutions = Solutions {
        plans: Vec::new(),
        is_all: false,
    };
    if let Some(outcome) = at_start(puzzle) {
        if let Outcome::Solved { plan, .. } = outcome {
            solutions.plans.push(plan);
        }
        solutions.is_all = true;
        return solutions;
    }
    let found = with_analysis(puzzle, |analysis| {
        let mut search = analysis.search(puzzle, budget, stop.clone());
        while solutions.plans.len() < at_most {
            match search.next() {
                Next::Plan(plan) => solutions.plans.push(plan),
                Next::None => {
                    solutions.is_all = search.formula.is_sound;
                    break;
                }
                Next::Unknown => break,
            }
        }
        solutions.clone()
    });
    found.unwrap_or(solutions)
}

/// Candidate invariants: clauses over facts, many of which every move preserves.
pub(super) fn candidates(puzzle: &Puzzle) -> Vec<Vec<(u32, bool)>> {
    with_analysis(puzzle, |analysis| {
        let (effects, single_changes) = (&analysis.effects, &analysis.single_changes);
        single_changes.compare(puzzle, effects);
        candidates::candidates(puzzle, effects, single_changes)
    })
    .unwrap_or_default()
}

/// The outcome of a puzzle whose first state is terminal.
pub(super) fn at_start(puzzle: &Puzzle) -> Option<Outcome> {
    let network = puzzle.net.network();
    let mut inputs = vec![0; network.inputs()];
    for (fact, input) in inputs.iter_mut().take(puzzle.net.facts().len()).enumerate() {
        *input = puzzle.start[fact / 64] >> (fact % 64) & 1;
    }
    let values = network.evaluate(&inputs);
    if read(puzzle.solved, &values) & 1 == 1 {
        let plan = Plan::new();
        return Some(Outcome::Solved {
            plan,
            optimal: true,
        });
    }
    (read(puzzle.net.terminal(), &values) & 1 == 1)
        .then_some(Outcome::Unsolvable(Reason::Exhausted { positions: 1 }))
}

/// The analysis of a puzzle that the clauses are built from.
struct Analysis {
    effects: Arc<Effects>,
    timeline: Timeline,
    single_changes: SingleChanges,
}

fn with_analysis<T>(puzzle: &Puzzle, then: impl FnOnce(&Analysis) -> T) -> Option<T> {
    let effects = Effects::of(puzzle)?;
    let timeline = Timeline::new(puzzle, &effects);
    let single_changes = SingleChanges::new(puzzle, &effects, &timeline);
    if puzzle.stop.is_over() {
        return None;
    }
    Some(then(&Analysis {
        effects,
        timeline,
        single_changes,
    }))
}

impl Analysis {
    /// True if most facts change more than once, or may do so.
    fn is_unreliable(&self) -> bool {
        let (facts, inexact) = self.facts();
        2 * inexact > facts
    }

    /// The number of relevant facts that change, and of those among them that may
    /// change more than once.
    fn facts(&self) -> (usize, usize) {
        let moved = self
            .single_changes
            .movers
            .iter()
            .filter(|mover| !mover.is_still());
        let exact = moved.clone().filter(|mover| mover.is_exact());
        let (moved, exact) = (moved.count(), exact.count());
        (moved, moved - exact)
    }

    fn found(&self) -> String {
        let (facts, inexact) = self.facts();
        let moves = self
            .single_changes
            .possible
            .iter()
            .filter(|&&possible| possible)
            .count();
        let clock = match self.timeline.facts.len() {
            0 => String::new(),
            clock => format!(", depending only on time: {}", counted(clock, "fact")),
        };
        let (moves, facts) = (counted(moves, "move"), counted(facts, "fact"));
        match inexact {
            0 => format!("at most one change of {facts} by {moves} each{clock}"),
            _ => format!("{facts} changed by {moves}, {inexact} possibly more than once{clock}"),
        }
    }

    fn search<'p>(&'p self, puzzle: &'p Puzzle, budget: &'p Budget, stop: Stop) -> Search<'p> {
        let conflicts = i32::try_from(budget.nodes).unwrap_or(-1);
        let (conflicts, rounds) = match (self.is_unreliable(), conflicts) {
            (false, _) => (conflicts, MOST_ROUNDS),
            (_, 0..) => (conflicts.min(UNRELIABLE_LIMITS.0), UNRELIABLE_LIMITS.1),
            _ => UNRELIABLE_LIMITS,
        };
        // Where the last state depends on the set of moves alone, the clauses may suffice
        // without a comparison of all pairs of moves.
        if self.facts().1 > 0 || !self.timeline.facts.is_empty() {
            self.single_changes.compare(puzzle, &self.effects);
        }
        Search {
            puzzle,
            analysis: self,
            budget,
            conflicts,
            rounds,
            stop: stop.clone(),
            formula: Formula::new(
                puzzle,
                &self.effects,
                &self.timeline,
                &self.single_changes,
                stop,
            ),
            returned: Vec::new(),
        }
    }
}

/// An iterator over sets of moves that lead to a plan.
struct Search<'p> {
    puzzle: &'p Puzzle,
    analysis: &'p Analysis,
    budget: &'p Budget,
    conflicts: i32,
    rounds: usize,
    stop: Stop,
    formula: Formula<'p>,
    /// The sets of moves of the plans returned so far.
    returned: Vec<Vec<u32>>,
}

enum Next {
    Plan(Plan),
    /// There is no further set of moves.
    None,
    Unknown,
}

impl Search<'_> {
    fn next(&mut self) -> Next {
        while self.rounds > 0 {
            self.rounds -= 1;
            if self.stop.is_over() || self.formula.memory() > self.budget.memory_bytes {
                break;
            }
            let is_compared = self.analysis.single_changes.is_compared();
            let conflicts = match (is_compared, self.conflicts) {
                (false, limit @ 0..=EASY_CONFLICTS) => limit,
                (false, _) => EASY_CONFLICTS,
                (true, limit) => limit,
            };
            let set = match self.formula.solve(conflicts) {
                None if !is_compared => {
                    self.compare();
                    continue;
                }
                None => break,
                Some(Err(())) => return Next::None,
                Some(Ok(set)) => set,
            };
            let Some(plan) = self.plan(&set) else {
                continue;
            };
            let mut moves = plan.clone();
            moves.sort_unstable();
            if moves == set {
                self.formula.block(&set);
            } else {
                // The game ended before the remaining moves, which may have to come
                // earlier.
                self.compare();
                let left = set
                    .iter()
                    .filter(|chosen| moves.binary_search(chosen).is_err());
                let left = left.copied().collect();
                self.learn(&set, left, Requirement::Open);
            }
            if plan.len() > self.budget.depth as usize {
                break;
            }
            if !self.returned.contains(&moves) {
                self.returned.push(moves);
                return Next::Plan(plan);
            }
        }
        Next::Unknown
    }

    /// Compares the pairs of moves, and excludes those that are never both made.
    fn compare(&mut self) {
        let single_changes = &self.analysis.single_changes;
        if !single_changes.is_compared() {
            single_changes.compare(self.puzzle, &self.analysis.effects);
            self.formula.exclude();
        }
    }

    /// A plan that makes these moves; if there is none, the clauses are extended.
    fn plan(&mut self, set: &[u32]) -> Option<Plan> {
        if self.formula.cut_loops() {
            return None;
        }
        let Analysis {
            effects, timeline, ..
        } = self.analysis;
        if !self.analysis.single_changes.is_compared() {
            let plan = in_order_of_needs(self.puzzle, effects, timeline, set);
            if plan.is_none() {
                self.compare();
            }
            return plan;
        }
        let before = self.formula.before(set)?;
        let has_requirement = |moves: &[u32]| {
            let stated = |&chosen: &u32| self.formula.has_requirement(chosen, Requirement::Legal);
            moves.iter().all(stated)
        };
        let (moves, requirement) = match replay(
            self.puzzle,
            effects,
            timeline,
            set,
            &before,
            has_requirement,
        ) {
            Replay::Solved(plan) => return Some(plan),
            Replay::Illegal(moves) => (moves, Requirement::Legal),
            Replay::TooEarly(moves) => (moves, Requirement::Open),
        };
        self.learn(set, moves, requirement);
        None
    }

    /// Adds the requirements of some moves to the clauses, or excludes this set of
    /// moves.
    fn learn(&mut self, set: &[u32], moves: Vec<u32>, requirement: Requirement) {
        let mut is_more = false;
        for chosen in moves {
            is_more |= self.formula.add_requirement(chosen, requirement);
        }
        if !is_more {
            self.formula.block(set);
            self.formula.is_sound = false;
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
