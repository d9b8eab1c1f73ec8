//! Answers checked by code that had no part in finding them.
//!
//! In: a game, where it begins, the score that is wanted, and an [`Answer`]. Out:
//! whether the answer is right, and by what that was found out. Plans are played
//! on the naive evaluator, and exhausted searches are searched again, by plain
//! breadth-first search. For invariants, and for bounds too far for a search, the
//! rules are grounded anew ([`ground`]) and put to a SAT solver ([`formula`]).
//! Sums are checked on a network of their own, into which each move is put in
//! turn; all that is shared with the methods there is how networks are made, and
//! what is known of facts that exclude each other.

mod answer;
mod formula;
mod ground;
mod invariant;
mod program;
mod rows;
mod search;
mod sums;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::game::{Game, Move, Score};
use crate::ground::TermId;
use crate::machine::{Limits as MachineLimits, Machine, NaiveMachine, PlayError};

pub use answer::{Answer, End, Proof, Record, digest};
use formula::{First, Formula};
use program::Program;
use search::search;
use sums::Sums;

/// What a check may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Positions that are looked at again.
    pub positions: u64,
    /// Facts and instances of rules that are written down.
    pub instances: usize,
    /// Conflicts of a SAT solver, for each question to it; less than none is no
    /// limit.
    pub conflicts: i32,
    /// When it is over.
    pub deadline: Option<Instant>,
    /// Raised from outside.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            positions: 200_000,
            instances: 5_000_000,
            conflicts: -1,
            deadline: None,
            interrupt: Arc::default(),
        }
    }
}

impl Limits {
    /// Whether to stop now.
    fn is_over(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn machine(&self) -> MachineLimits {
        MachineLimits {
            interrupt: Arc::clone(&self.interrupt),
            ..MachineLimits::default()
        }
    }
}

/// What was found right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// What was checked, and how, in words.
    pub how: Vec<String>,
    /// What else the answer claims, which was not checked, and why.
    pub open: Vec<String>,
}

/// Why an answer does not stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The answer, or its proof, is wrong.
    Wrong(String),
    /// It is not known whether it is right.
    Unchecked(String),
}

impl Failure {
    fn wrong(text: impl ToString) -> Failure {
        Failure::Wrong(text.to_string())
    }

    fn unchecked(text: impl ToString) -> Failure {
        Failure::Unchecked(text.to_string())
    }

    fn out_of_time() -> Failure {
        Failure::unchecked("the time is up")
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Wrong(text) => write!(f, "wrong: {text}"),
            Failure::Unchecked(text) => write!(f, "not checked: {text}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Interrupted => Failure::out_of_time(),
            other => Failure::unchecked(other),
        }
    }
}

/// Checks an answer about a game of one role that begins with these facts.
///
/// # Errors
///
/// Why the answer is wrong, or was not checked.
pub fn verify(
    game: &Game,
    start: &[TermId],
    target: Score,
    answer: &Answer,
    limits: &Limits,
) -> Result<Checked, Failure> {
    if game.role_count() != 1 {
        return Err(Failure::unchecked("the game has several roles"));
    }
    let question = Question {
        game,
        start,
        target,
        limits,
    };
    let mut checked = Checked {
        how: Vec::new(),
        open: Vec::new(),
    };
    match answer {
        Answer::Solved {
            plans,
            optimal,
            all,
        } => question.solved(plans, *optimal, *all, &mut checked)?,
        Answer::NoSolutionWithin { moves } => checked.how.push(question.nothing_within(*moves)?),
        Answer::OutOfBudget {
            no_solution_within,
            best,
        } => {
            if no_solution_within.is_none() && best.is_none() {
                return Err(Failure::unchecked("nothing is claimed"));
            }
            if let Some(best) = best {
                let score = question.replay(&best.plan)?;
                if score.get() != best.score {
                    return Err(Failure::wrong(format!("the plan is worth {score}")));
                }
                checked
                    .how
                    .push(format!("a plan worth {score} was played again"));
            }
            if let Some(moves) = no_solution_within {
                checked.how.push(question.nothing_within(*moves)?);
            }
        }
        Answer::Unsolvable { proof } => checked.how.push(question.proof(proof)?),
    }
    Ok(checked)
}

/// What an answer is an answer to.
struct Question<'q> {
    game: &'q Game,
    start: &'q [TermId],
    target: Score,
    limits: &'q Limits,
}

impl Question<'_> {
    fn solved(
        &self,
        plans: &[Vec<String>],
        optimal: bool,
        all: bool,
        checked: &mut Checked,
    ) -> Result<(), Failure> {
        let Some(first) = plans.first() else {
            return Err(Failure::wrong("there is no plan"));
        };
        for (number, plan) in plans.iter().enumerate() {
            let score = self.replay(plan)?;
            if score < self.target {
                return Err(Failure::wrong(format!("the plan is worth {score}")));
            }
            if plans[..number].contains(plan) {
                return Err(Failure::wrong("a plan is there twice"));
            }
            if optimal && plan.len() != first.len() {
                return Err(Failure::wrong("the plans differ in length"));
            }
        }
        checked.how.push(match plans.len() {
            1 => format!("a plan of {} moves was played again", first.len()),
            count => format!("{count} plans were played again"),
        });
        let mut claims: Vec<(&str, Result<String, Failure>)> = Vec::new();
        if optimal {
            let shorter = match first.len() as u32 {
                0 => Ok("no plan is shorter than none".to_owned()),
                moves => self.nothing_within(moves - 1),
            };
            claims.push(("that no plan is shorter", shorter));
        }
        if all {
            let counted = self.count(first.len() as u32, plans.len() as u64);
            claims.push(("that there are no other plans of that length", counted));
        }
        for (claim, outcome) in claims {
            match outcome {
                Ok(how) => checked.how.push(how),
                Err(Failure::Unchecked(why)) => checked.open.push(format!("{claim}: {why}")),
                Err(wrong) => return Err(wrong),
            }
        }
        Ok(())
    }

    /// The score at the end of a plan.
    fn replay(&self, plan: &[String]) -> Result<Score, Failure> {
        let game = self.game;
        let mut machine = NaiveMachine::new(game, self.limits.machine());
        let role = game.roles().next().expect("there is one");
        let mut state = machine.state(self.start)?;
        for (number, text) in (1..).zip(plan) {
            if self.limits.is_over() {
                return Err(Failure::out_of_time());
            }
            let wrong = |error: String| Failure::Wrong(format!("move {number}: {error}"));
            let term = game.parse_term(machine.terms_mut(), text);
            let term = term.map_err(|error| wrong(error.to_string()))?;
            state = match machine.play(&state, &[Move::new(term)]) {
                Err(error @ (PlayError::Interrupted | PlayError::TooLarge { .. })) => {
                    return Err(error.into());
                }
                after => after.map_err(|error| wrong(error.to_string()))?,
            };
        }
        if !machine.is_terminal(&state)? {
            return Err(Failure::wrong("the game is not over after the plan"));
        }
        Ok(machine.goal(&state, role)?)
    }

    /// Counts the plans of so many moves.
    fn count(&self, moves: u32, plans: u64) -> Result<String, Failure> {
        let found = search(self, moves, search::Plans::Count)?;
        match found.plans == plans {
            true => Ok(format!("a search counted as many of {moves} moves")),
            false => Err(Failure::Wrong(format!(
                "there are {} such plans",
                found.plans
            ))),
        }
    }

    /// Checks that no plan has so many moves or fewer.
    fn nothing_within(&self, moves: u32) -> Result<String, Failure> {
        match search(self, moves, search::Plans::Refuse) {
            Ok(found) => Ok(format!(
                "a search of {} positions met no plan within {moves} moves",
                found.positions
            )),
            Err(Failure::Unchecked(_)) if !self.limits.is_over() => {
                let program = self.ground()?;
                let mut formula = self.formula(&program, First::Start);
                for moves in 0..=moves as usize {
                    self.refute(&mut formula, moves)?;
                }
                Ok(format!("clauses for each of {moves} moves have no model"))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Checks that no plan has exactly so many moves, if none has fewer; from then
    /// on one more move is made.
    fn refute(&self, formula: &mut Formula<'_>, moves: usize) -> Result<(), Failure> {
        let solved = formula.solved(moves);
        if formula.solve(&[solved])? {
            return Err(Failure::Wrong(format!("there is a plan of {moves} moves")));
        }
        formula.add(&[-solved]);
        let goes_on = formula.goes_on(moves);
        formula.add(&[goes_on]);
        Ok(())
    }

    fn ground(&self) -> Result<Program, Failure> {
        ground::ground(self.game, self.start, self.limits).map_err(|error| match error {
            ground::TooLarge::Limit(what) => {
                Failure::Unchecked(format!("there are too many {what} to write down"))
            }
            ground::TooLarge::Interrupted => Failure::out_of_time(),
        })
    }

    fn formula<'p>(&'p self, program: &'p Program, first: First) -> Formula<'p> {
        Formula::new(program, self.game, self.target, first, self.limits)
    }

    fn proof(&self, proof: &Proof) -> Result<String, Failure> {
        let sums = || Sums::new(self.game, self.start, self.target).map_err(Failure::unchecked);
        match proof {
            Proof::Exhausted { positions } => {
                let found = search(self, u32::MAX, search::Plans::Refuse)?.positions;
                if positions.is_some_and(|positions| positions > found) {
                    return Err(Failure::Wrong(format!("there are only {found} positions")));
                }
                Ok(format!("a search of all {found} positions met no plan"))
            }
            Proof::Parity { facts, told } => {
                sums()?.parity(facts, told).map_err(Failure::wrong)?;
                Ok(format!(
                    "every move changes an even number of {} facts",
                    facts.len()
                ))
            }
            Proof::Potential { weights } => {
                sums()?.potential(weights).map_err(Failure::wrong)?;
                Ok(format!(
                    "no move makes a sum of {} facts larger",
                    weights.len()
                ))
            }
            Proof::Invariant { clauses, exclusive } => self.invariant(clauses, exclusive),
            Proof::Over { moves } => self.ends_within(*moves),
            Proof::Refuted { what } => Err(Failure::Unchecked(format!(
                "the answer gives no proof that can be checked: {what}"
            ))),
        }
    }

    /// Checks that no play is longer, and that none is a solution.
    fn ends_within(&self, moves: u32) -> Result<String, Failure> {
        let program = self.ground()?;
        let mut formula = self.formula(&program, First::Start);
        for moves in 0..=moves as usize {
            self.refute(&mut formula, moves)?;
        }
        match formula.solve(&[])? {
            true => Err(Failure::Wrong(format!(
                "a play may have more than {moves} moves"
            ))),
            false => Ok(format!(
                "clauses for each of {moves} moves have no model, nor for one more"
            )),
        }
    }
}
