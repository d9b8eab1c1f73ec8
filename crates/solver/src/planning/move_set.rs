//! Games in which facts are written once: which moves, not when.
//!
//! In: a puzzle. Out: a plan, or a proof that there is none, from clauses about
//! the *set* of moves that are made. Where every fact that matters changes at
//! most once, the last state is a function of that set, and a solver finds it in
//! one question where a search has to find an order as well. Then the moves are
//! played in an order that the rules allow. What stands in the way of that is
//! added to the clauses and they are solved again: moves that rule each other
//! out in a circle, what the rules ask of a move at its time, and what holds
//! in the last state only because of itself.
//!
//! The clauses hold for every play that solves the puzzle, so their refutation
//! is a proof. Two assumptions make them more likely to lead to a plan, that no
//! move is made twice and no fact changes twice; a refutation that needs one of
//! them proves nothing.

pub(super) mod effects;
mod formula;
mod guesses;
mod replay;
mod single_changes;
mod ternary;
pub(super) mod timed_facts;

use std::time::Instant;

use super::{Outcome, Plan, Puzzle, Reason};
use effects::Effects;
use formula::{Duty, Formula};
use ggp_engine::propnet::network::read;
use ggp_search::Budget;
use ggp_stop::Stop;
use replay::{Replay, replay};
use single_changes::Once;
use timed_facts::Course;

/// What came of a puzzle, and what was found out about it on the way.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The outcome.
    pub outcome: Outcome,
    /// What the analysis found, in one line.
    pub found: String,
}

/// Solutions that differ in the moves that are made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solutions {
    /// A plan for each set of moves.
    pub plans: Vec<Plan>,
    /// Whether it is proved that there are no others.
    pub is_all: bool,
}

/// Sets of moves that are tried.
const MOST_ROUNDS: usize = 20_000;
/// Conflicts, and sets of moves, for puzzles most of whose facts change more than
/// once.
const DOUBTFUL: (i32, usize) = (5_000, 100);

/// A plan, or a proof that there is none.
pub fn collapse(puzzle: &Puzzle, budget: &Budget) -> Answer {
    attempt(puzzle, budget, |_| true)
}

/// As [`collapse`], of puzzles most of whose facts change once at most; of others
/// nothing is said.
pub fn collapse_sure(puzzle: &Puzzle, budget: &Budget) -> Answer {
    attempt(puzzle, budget, |analysis| !analysis.is_doubtful())
}

fn attempt(puzzle: &Puzzle, budget: &Budget, fits: impl Fn(&Analysis) -> bool) -> Answer {
    let stop = budget.stop.within(budget.time);
    match at_start(puzzle) {
        Some(outcome) => Answer {
            outcome,
            found: "the game ends where it begins".to_owned(),
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
            found: "moves take part in cycles, or too much to look at".to_owned(),
        }),
    }
}

/// Plans that differ in the moves that are made, until there are so many.
pub fn count(puzzle: &Puzzle, budget: &Budget, at_most: usize) -> Solutions {
    let stop = budget.stop.within(budget.time);
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

/// Clauses, facts and whether they hold, of which many are kept by every move.
pub(super) fn guesses(puzzle: &Puzzle) -> Vec<Vec<(u32, bool)>> {
    with_analysis(puzzle, |analysis| {
        guesses::guesses(puzzle, &analysis.effects, &analysis.once)
    })
    .unwrap_or_default()
}

/// What a puzzle comes to that is over before the first move.
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

/// What does not change while a puzzle is solved.
struct Analysis {
    effects: Effects,
    course: Course,
    once: Once,
}

fn with_analysis<T>(puzzle: &Puzzle, then: impl FnOnce(&Analysis) -> T) -> Option<T> {
    let effects = Effects::new(puzzle)?;
    let course = Course::new(puzzle, &effects);
    let once = Once::new(puzzle, &effects, &course);
    Some(then(&Analysis {
        effects,
        course,
        once,
    }))
}

impl Analysis {
    /// Whether most facts change more than once, or may.
    fn is_doubtful(&self) -> bool {
        let (facts, inexact) = self.facts();
        2 * inexact > facts
    }

    /// Relevant facts that change, and those that do so more than once or not
    /// for sure.
    fn facts(&self) -> (usize, usize) {
        let moved = self.once.movers.iter().filter(|mover| !mover.is_still());
        let exact = moved.clone().filter(|mover| mover.is_exact());
        let (moved, exact) = (moved.count(), exact.count());
        (moved, moved - exact)
    }

    fn found(&self) -> String {
        let (facts, inexact) = self.facts();
        let moves = self
            .once
            .possible
            .iter()
            .filter(|&&possible| possible)
            .count();
        let clock = match self.course.facts.len() {
            0 => String::new(),
            clock => format!(", {clock} facts count moves"),
        };
        match inexact {
            0 => format!("{moves} moves write {facts} facts once each{clock}"),
            _ => {
                format!("{moves} moves write {facts} facts, {inexact} of them not only once{clock}")
            }
        }
    }

    fn search<'p>(&'p self, puzzle: &'p Puzzle, budget: &'p Budget, stop: Stop) -> Search<'p> {
        let conflicts = i32::try_from(budget.nodes).unwrap_or(-1);
        let (conflicts, rounds) = match (self.is_doubtful(), conflicts) {
            (false, _) => (conflicts, MOST_ROUNDS),
            (_, 0..) => (conflicts.min(DOUBTFUL.0), DOUBTFUL.1),
            _ => DOUBTFUL,
        };
        Search {
            puzzle,
            analysis: self,
            budget,
            conflicts,
            rounds,
            stop: stop.clone(),
            formula: Formula::new(puzzle, &self.effects, &self.course, &self.once, stop),
            shown: Vec::new(),
        }
    }
}

/// Sets of moves, one after the other.
struct Search<'p> {
    puzzle: &'p Puzzle,
    analysis: &'p Analysis,
    budget: &'p Budget,
    conflicts: i32,
    rounds: usize,
    stop: Stop,
    formula: Formula<'p>,
    /// The sets of moves that came out.
    shown: Vec<Vec<u32>>,
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
            let set = match self.formula.solve(self.conflicts) {
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
                // It was over before the rest, which may be made earlier.
                let left = set
                    .iter()
                    .filter(|chosen| moves.binary_search(chosen).is_err());
                let left = left.copied().collect();
                self.learn(&set, left, Duty::Open);
            }
            if plan.len() > self.budget.depth as usize {
                break;
            }
            if !self.shown.contains(&moves) {
                self.shown.push(moves);
                return Next::Plan(plan);
            }
        }
        Next::Unknown
    }

    /// A plan that makes these moves; without one, the clauses know why.
    fn plan(&mut self, set: &[u32]) -> Option<Plan> {
        if self.formula.cut_loops() {
            return None;
        }
        let before = self.formula.before(set)?;
        let Analysis {
            effects, course, ..
        } = self.analysis;
        let is_stated = |moves: &[u32]| {
            let stated = |&chosen: &u32| self.formula.is_stated(chosen, Duty::Legal);
            moves.iter().all(stated)
        };
        let (moves, duty) = match replay(self.puzzle, effects, course, set, &before, is_stated) {
            Replay::Solved(plan) => return Some(plan),
            Replay::Illegal(moves) => (moves, Duty::Legal),
            Replay::TooEarly(moves) => (moves, Duty::Open),
        };
        self.learn(set, moves, duty);
        None
    }

    /// Adds to the clauses what the rules ask of some moves, or else that it was
    /// not this set.
    fn learn(&mut self, set: &[u32], moves: Vec<u32>, duty: Duty) {
        let mut is_more = false;
        for chosen in moves {
            is_more |= self.formula.state_duty(chosen, duty);
        }
        if !is_more {
            self.formula.block(set);
            self.formula.is_sound = false;
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
