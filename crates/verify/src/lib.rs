//! Checks answers with code of its own.
//!
//! It has nothing of the solver's analyses, searches and clauses. The reader of rules, the naive and
//! the Datalog evaluator, the type of networks and the SAT solver are the ones that the solver uses,
//! too: an error in these can be in both.
//!
//! In: a game, its first state, the target score, and a [`Claim`]. Out: whether the claim is
//! right, and how this was checked. Plans are replayed on the naive evaluator, and
//! exhausted searches are repeated by plain breadth-first search. For all other claims the
//! rules are grounded again (`ground`). A SAT solver checks invariants, and bounds that are
//! too large for a search (`formula`); sums are followed through each move (`sums`).

mod claim;
mod doubt;
mod formula;
mod gates;
mod ground;
mod invariant;
mod program;
mod rows;
mod search;
mod sums;
mod table;

use ggp_stop::Stop;
use rustc_hash::FxHashSet;
use std::time::Duration;

use ggp_engine::machine::{
    DatalogMachine, Limits as MachineLimits, Machine, NaiveMachine, PlayError,
};
use ggp_gdl::counted::{counted, counted_range};
use ggp_gdl::game::{Game, Move, Score};
use ggp_gdl::terms::TermId;

pub use claim::{BadRecord, Claim, End, Flips, Given, Proof, Record, digest};
use doubt::Doubt;
use formula::{First, Formula};
use program::Program;
use search::search;
use sums::Sums;
pub use table::{TableBytes, TableClaim, verify_table};

/// Limits of the naive evaluator: the time for one plan, and the matches in one state.
const NAIVE: Duration = Duration::from_secs(10);
const NAIVE_WORK: u64 = 50_000_000;

/// The limits of a check.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most positions that are searched again.
    pub positions: u64,
    /// The most ground facts and rules.
    pub instances: usize,
    /// The most conflicts of the SAT solver for each query; a negative number means no limit.
    pub conflicts: i32,
    /// The flag and deadline that end the check.
    pub stop: Stop,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            positions: 200_000,
            instances: 5_000_000,
            conflicts: -1,
            stop: Stop::new(),
        }
    }
}

impl Limits {
    /// Returns true if the check must end now.
    fn is_over(&self) -> bool {
        self.stop.is_over()
    }

    fn machine(&self) -> MachineLimits {
        MachineLimits {
            stop: self.stop.clone(),
            ..MachineLimits::default()
        }
    }
}

/// The result of a check that found no error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The statements that were checked, and how.
    pub how: Vec<String>,
    /// The statements that could not be checked, and why.
    pub open: Vec<String>,
}

/// The reason why an answer was not confirmed.
#[derive(Clone, PartialEq, Eq)]
pub enum Failure {
    /// The claim, or its proof, is wrong.
    Wrong(String),
    /// The claim could not be checked.
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

ggp_gdl::debug_as_display!(Failure);

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Interrupted => Failure::out_of_time(),
            other => Failure::unchecked(other),
        }
    }
}

/// Checks a claim about a game of one role whose first state has the facts `start`.
///
/// # Errors
///
/// [`Failure`] if the claim is wrong or could not be checked.
pub fn verify(
    game: &Game,
    start: &[TermId],
    target: Score,
    claim: &Claim,
    limits: &Limits,
) -> Result<Checked, Failure> {
    if game.role_count() != 1 || game.roles().any(|role| game.is_random(role)) {
        return Err(Failure::unchecked("plans exist only for games of one role"));
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
    match claim {
        Claim::Solved {
            plans,
            optimal,
            all,
            least,
        } => {
            let least = least.as_ref().filter(|_| *optimal);
            question.solved(plans, *optimal, *all, least, &mut checked)?;
        }
        Claim::Counted { plans, all, proof } => {
            question.counted(plans, *all, proof.as_ref(), &mut checked)?;
        }
        Claim::NoSolutionWithin { moves } => checked.how.push(question.nothing_within(*moves)?),
        Claim::OutOfBudget {
            no_solution_within,
            best,
        } => {
            if no_solution_within.is_none() && best.is_none() {
                return Err(Failure::unchecked("nothing is claimed"));
            }
            if let Some(best) = best {
                let Ended { score, by, .. } = question.replay(&best.plan)?;
                if score.get() != best.score {
                    let claimed = best.score;
                    return Err(Failure::Wrong(format!(
                        "the plan ends with {}, not with {claimed}",
                        counted(score, "point")
                    )));
                }
                checked.how.push(format!(
                    "a plan that ends with {} was played again {by}",
                    counted(score, "point")
                ));
            }
            if let Some(moves) = no_solution_within {
                checked.how.push(question.nothing_within(*moves)?);
            }
        }
        Claim::Unsolvable { proof } => checked.how.push(question.proof(proof)?),
    }
    Ok(checked)
}

/// The question that a claim answers.
struct Question<'q> {
    game: &'q Game,
    start: &'q [TermId],
    target: Score,
    limits: &'q Limits,
}

/// The end of a plan, and the evaluator that played it.
struct Ended {
    /// The moves made. Texts of one move may differ in blanks and case.
    moves: Vec<Move>,
    score: Score,
    /// Ascending.
    facts: Vec<TermId>,
    by: &'static str,
}

impl Question<'_> {
    fn solved(
        &self,
        plans: &[Vec<String>],
        optimal: bool,
        all: bool,
        least: Option<&Flips>,
        checked: &mut Checked,
    ) -> Result<(), Failure> {
        let Some(first) = plans.first() else {
            return Err(Failure::wrong("there is no plan"));
        };
        let mut players = Vec::new();
        let mut known = FxHashSet::default();
        for plan in plans {
            let end = self.replay(plan)?;
            players.push(end.by);
            if end.score < self.target {
                return Err(self.too_few(end.score));
            }
            if !known.insert(end.moves) {
                return Err(Failure::wrong("a plan occurs twice"));
            }
            if (optimal || all) && plan.len() != first.len() {
                return Err(Failure::wrong("the plans differ in length"));
            }
        }
        players.dedup();
        let by = players.join(" and ");
        checked.how.push(match plans.len() {
            1 => format!(
                "a plan of {} was played again {by}",
                counted(first.len(), "move")
            ),
            count => format!("{count} plans were played again {by}"),
        });
        let mut claims: Vec<(&str, Result<String, Failure>)> = Vec::new();
        if optimal {
            let shorter = match (first.len() as u32, least) {
                (0, _) => Ok("no plan is shorter than the empty one".to_owned()),
                (moves, Some(flips)) => match self.needs(flips, moves) {
                    Err(Failure::Unchecked(_)) if !self.limits.is_over() => {
                        self.nothing_within(moves - 1)
                    }
                    needed => needed,
                },
                (moves, None) => self.nothing_within(moves - 1),
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

    fn counted(
        &self,
        plans: &[Vec<String>],
        all: bool,
        proof: Option<&Given>,
        checked: &mut Checked,
    ) -> Result<(), Failure> {
        let mut ends = Vec::with_capacity(plans.len());
        let mut known = FxHashSet::default();
        for plan in plans {
            let end = self.replay(plan)?;
            if end.score < self.target {
                return Err(self.too_few(end.score));
            }
            if !known.insert(end.facts.clone()) {
                return Err(Failure::wrong("two plans lead to the same end"));
            }
            ends.push(end.facts);
        }
        let count = ends.len();
        checked.how.push(match count {
            1 => "the plan leads to an end".to_owned(),
            _ => format!("{count} plans lead to {count} different ends"),
        });
        if !all {
            return Ok(());
        }
        let searched = match search(self, u32::MAX, search::Plans::Ends) {
            Ok(found) if found.plans == count as u64 => {
                let searched = all_of(found.positions);
                Ok(format!("a search of {searched} found no other end"))
            }
            Ok(found) => return Err(Failure::Wrong(format!("ends found: {}", found.plans))),
            Err(failure) => Err(failure),
        };
        let outcome = match (searched, proof) {
            (Err(Failure::Unchecked(_)), Some(given)) => self.invariant(given, &ends),
            (searched, _) => searched,
        };
        match outcome {
            Ok(how) => checked.how.push(how),
            Err(Failure::Unchecked(why)) => {
                checked
                    .open
                    .push(format!("that there are no other ends: {why}"));
            }
            Err(wrong) => return Err(wrong),
        }
        Ok(())
    }

    /// The failure of a plan whose score is less than the target.
    fn too_few(&self, score: Score) -> Failure {
        let target = self.target;
        Failure::Wrong(format!(
            "a plan ends with {}, and a solution needs {target}",
            counted(score, "point")
        ))
    }

    /// The end of a plan.
    fn replay(&self, plan: &[String]) -> Result<Ended, Failure> {
        let naive = Limits {
            stop: self.limits.stop.within_work(Some(NAIVE)),
            ..self.limits.clone()
        };
        let machine = MachineLimits {
            work: NAIVE_WORK,
            ..self.limits.machine()
        };
        let machine = NaiveMachine::new(self.game, machine);
        match self.replay_on(machine, plan, &naive, "on the naive evaluator") {
            Err(Failure::Unchecked(_)) if !self.limits.is_over() => {
                let machine = DatalogMachine::new(self.game, self.limits.machine())?;
                let by = "on the Datalog evaluator";
                self.replay_on(machine, plan, self.limits, by)
            }
            end => end,
        }
    }

    fn replay_on<M: Machine>(
        &self,
        mut machine: M,
        plan: &[String],
        limits: &Limits,
        by: &'static str,
    ) -> Result<Ended, Failure> {
        let game = self.game;
        let role = game.roles().next().expect("there is one");
        let mut state = machine.state(self.start)?;
        let mut moves = Vec::with_capacity(plan.len());
        for (number, text) in (1..).zip(plan) {
            if limits.is_over() {
                return Err(Failure::out_of_time());
            }
            let wrong = |error: String| Failure::Wrong(format!("move {number}: {error}"));
            let chosen = machine.read_move(text);
            let chosen = chosen.map_err(|error| wrong(error.to_string()))?;
            moves.push(chosen);
            state = match machine.play(&state, &[chosen]) {
                Err(error @ (PlayError::Interrupted | PlayError::TooLarge { .. })) => {
                    return Err(error.into());
                }
                after => after.map_err(|error| wrong(error.to_string()))?,
            };
        }
        if !machine.is_terminal(&state)? {
            return Err(Failure::wrong("the game is not over after the plan"));
        }
        match machine.goal(&state, role) {
            Err(error @ (PlayError::Interrupted | PlayError::TooLarge { .. })) => Err(error.into()),
            score => Ok(Ended {
                moves,
                score: score.map_err(Failure::wrong)?,
                facts: machine.facts(&state),
                by,
            }),
        }
    }

    /// Counts the plans with this number of moves.
    fn count(&self, moves: u32, plans: u64) -> Result<String, Failure> {
        let found = search(self, moves, search::Plans::Count)?;
        match found.plans == plans {
            true => Ok(format!(
                "a search found the same number of plans with {}",
                counted(moves, "move")
            )),
            false => Err(Failure::Wrong(match found.plans {
                1 => "there is 1 such plan".to_owned(),
                count => format!("there are {count} such plans"),
            })),
        }
    }

    /// Checks that no plan has `moves` moves or fewer.
    fn nothing_within(&self, moves: u32) -> Result<String, Failure> {
        match search(self, moves, search::Plans::Refuse) {
            Ok(found) => Ok(format!(
                "a search of {} found no plan within {}",
                counted(found.positions, "position"),
                counted(moves, "move")
            )),
            Err(Failure::Unchecked(_)) if !self.limits.is_over() => {
                let program = self.ground()?;
                let mut formula = self.formula(&program, First::Start);
                for moves in 0..=moves as usize {
                    self.refute(&mut formula, moves)?;
                }
                Ok(clauses(moves))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Checks that flipping these facts takes at least `moves` moves.
    fn needs(&self, flips: &Flips, moves: u32) -> Result<String, Failure> {
        let program = self.ground()?;
        let (known, mut formula) = self.kept(&program, &flips.given)?;
        let sums = Sums::new(self, &program, &known);
        let fewest = sums.needs(&flips.facts, moves, &mut Doubt::new(&mut formula))?;
        Ok(format!(
            "moves flip {} whatever the state, and a solution takes {}",
            counted(flips.facts.len(), "fact"),
            counted(fewest, "move")
        ))
    }

    /// Checks that no plan has exactly `moves` moves, given that no plan has fewer; then
    /// adds one more move to the formula.
    fn refute(&self, formula: &mut Formula<'_>, moves: usize) -> Result<(), Failure> {
        let solved = formula.solved(moves);
        if formula.solve(&[solved])? {
            let moves = counted(moves, "move");
            return Err(Failure::Wrong(format!("there is a plan of {moves}")));
        }
        formula.add(&[-solved]);
        let goes_on = formula.goes_on(moves);
        formula.add(&[goes_on]);
        Ok(())
    }

    fn ground(&self) -> Result<Program, Failure> {
        ground::ground(self.game, self.start, self.limits).map_err(|error| match error {
            ground::TooLarge::Limit(what) => {
                Failure::Unchecked(format!("there are too many {what} to ground"))
            }
            ground::TooLarge::Interrupted => Failure::out_of_time(),
        })
    }

    fn formula<'p>(&'p self, program: &'p Program, first: First) -> Formula<'p> {
        Formula::new(program, self.enough(program), first, self.limits)
    }

    /// The goal atoms whose score is at least the target.
    fn enough(&self, program: &Program) -> Vec<u32> {
        let mut terms = self.game.terms().clone();
        terms.refresh();
        let score = |value| self.game.score(&terms, value);
        let enough = |value| score(value).is_ok_and(|score| score >= self.target);
        let goals = program.goals.iter().filter(|goal| enough(goal.0));
        goals.map(|goal| goal.1).collect()
    }

    fn text(&self, term: TermId) -> String {
        let mut terms = self.game.terms().clone();
        terms.refresh();
        self.game.text(&terms, term)
    }

    fn proof(&self, proof: &Proof) -> Result<String, Failure> {
        match proof {
            Proof::Exhausted { positions } => {
                let found = search(self, u32::MAX, search::Plans::Refuse)?.positions;
                if positions.is_some_and(|positions| positions > found) {
                    let found = counted(found, "position");
                    return Err(Failure::Wrong(format!("a search finds only {found}")));
                }
                Ok(format!("a search of {} found no plan", all_of(found)))
            }
            Proof::Parity { facts, told, given } => {
                let program = self.ground()?;
                let (known, mut formula) = self.kept(&program, given)?;
                Sums::new(self, &program, &known).parity(
                    facts,
                    told,
                    &mut Doubt::new(&mut formula),
                )?;
                let count = counted(facts.len(), "fact");
                Ok(format!(
                    "each move changes an even number of {count}, and a solution needs an \
                     odd number"
                ))
            }
            Proof::Potential { weights, given } => {
                let program = self.ground()?;
                let (known, mut formula) = self.kept(&program, given)?;
                Sums::new(self, &program, &known)
                    .potential(weights, &mut Doubt::new(&mut formula))?;
                let count = counted(weights.len(), "fact");
                Ok(format!(
                    "no move makes a sum of {count} larger, and a solution needs a larger one"
                ))
            }
            Proof::Invariant(given) => self.invariant(given, &[]),
            Proof::Over { moves } => self.ends_within(*moves),
            Proof::Refuted { what } => Err(Failure::Unchecked(format!(
                "the answer gives no proof that can be checked: {what}"
            ))),
        }
    }

    /// Checks that no play has more than `moves` moves, and that no play is a solution.
    fn ends_within(&self, moves: u32) -> Result<String, Failure> {
        let program = self.ground()?;
        let mut formula = self.formula(&program, First::Start);
        for moves in 0..=moves as usize {
            self.refute(&mut formula, moves)?;
        }
        match formula.solve(&[])? {
            true => Err(Failure::Wrong(format!(
                "a play may have more than {}",
                counted(moves, "move")
            ))),
            false => Ok(format!("{}, and no play is longer", clauses(moves))),
        }
    }
}

/// The result of clauses for each number of moves up to this one.
fn clauses(moves: u32) -> String {
    format!(
        "the clauses for {} have no model",
        counted_range(0, moves, "move")
    )
}

/// All positions that a search found, in words.
fn all_of(positions: u64) -> String {
    match positions {
        1 => "the only position".to_owned(),
        _ => format!("all {}", counted(positions, "position")),
    }
}
