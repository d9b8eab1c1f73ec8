//! Answers as claims that [`crate::verify`] checks.

use std::time::Duration;

use crate::planning::effects::Effects;
use crate::planning::{Outcome, Puzzle, invariant, linear};
use crate::verify::{self, End, Flips, Given, Proof};
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::batch::Packed;
use ggp_gdl::game::{Move, Score};
use ggp_search::{Budget, Coverage, Verdict};

use super::Answer;

/// What may be spent on a proof that can be checked, if the budget says no less.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Positions that are tedious to look at again.
const MANY: u64 = 1_000_000;

/// Why there is no plan, as far as it was written down while solving.
pub fn proof(answer: &Answer) -> Option<Proof> {
    match (&answer.verdict, &answer.proof) {
        (Verdict::Unsolvable, Some((net, outcome))) => match verify::Answer::of(net, outcome) {
            verify::Answer::Unsolvable { proof } => Some(proof),
            _ => None,
        },
        (Verdict::Unsolvable, None) => Some(Proof::Exhausted { positions: None }),
        _ => None,
    }
}

/// Whether it was not written down why there is no plan, or is tedious to check.
pub fn lacks_proof(answer: &Answer) -> bool {
    match proof(answer) {
        Some(Proof::Refuted { .. }) => true,
        Some(Proof::Exhausted { positions }) => {
            let symmetries = answer.seen.map_or(1, |seen| seen.symmetries as u64);
            positions.is_some_and(|count| count.saturating_mul(symmetries) > MANY)
        }
        _ => false,
    }
}

/// What an answer says. Where a refutation was not written down, or many positions
/// were looked at, an invariant is looked for that shows the same.
pub fn claim<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    answer: &Answer,
    budget: &Budget,
) -> verify::Answer {
    match &answer.verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => verify::Answer::Solved {
            plans: plans.iter().map(|plan| texts(machine, plan)).collect(),
            optimal: *optimal,
            all: *coverage == Coverage::All,
            least: match plans.first() {
                Some(plan) if *optimal => by_flips(machine, start, target, plan.len()),
                _ => None,
            },
        },
        Verdict::Unsolvable => {
            let mut proof = proof(answer).expect("there is one");
            if lacks_proof(answer)
                && let Some(better) = by_invariant(machine, start, target, budget)
            {
                proof = better;
            }
            verify::Answer::Unsolvable { proof }
        }
        Verdict::NoSolutionWithin(moves) => verify::Answer::NoSolutionWithin { moves: *moves },
        Verdict::OutOfBudget {
            depth_completed, ..
        } => verify::Answer::OutOfBudget {
            no_solution_within: *depth_completed,
            best: answer.best.as_ref().map(|best| End {
                score: best.score.get(),
                plan: texts(machine, &best.plan),
            }),
        },
    }
}

/// Why no plan is shorter, if moves flip facts.
fn by_flips<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    moves: usize,
) -> Option<Flips> {
    let (net, packed) = machine.network(start)?;
    let puzzle = Puzzle::new(net.clone(), packed, target)?;
    let effects = Effects::of(&puzzle)?;
    let facts = linear::reason(&puzzle, &effects, moves)?;
    Some(Flips::of(&puzzle.net, &facts))
}

fn by_invariant<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    budget: &Budget,
) -> Option<Proof> {
    let (net, packed) = machine.network(start)?;
    let puzzle = Puzzle::new(net.clone(), packed, target)?;
    let outcome = Outcome::Unsolvable(invariant::prove(&puzzle, &patient(budget))?);
    match verify::Answer::of(&puzzle.net, &outcome) {
        verify::Answer::Unsolvable { proof } => Some(proof),
        _ => None,
    }
}

/// What was counted: plans, and whether there are no other ends than theirs. Of
/// plans that lead to one end the first stays.
///
/// # Errors
///
/// [`PlayError`] if a plan can not be played.
pub fn claim_count<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    plans: &[Vec<Move>],
    is_all: bool,
    budget: &Budget,
) -> Result<verify::Answer, PlayError> {
    let mut machine = machine.clone();
    let mut ends: Vec<M::State> = Vec::new();
    let mut kept = Vec::new();
    for plan in plans {
        let mut state = start.clone();
        for &chosen in plan {
            state = machine.next(&state, &[chosen])?;
        }
        if !ends.contains(&state) {
            ends.push(state);
            kept.push(texts(&machine, plan));
        }
    }
    let proof = match is_all {
        true => no_other(&machine, start, target, &ends, budget),
        false => None,
    };
    Ok(verify::Answer::Counted {
        plans: kept,
        all: is_all,
        proof,
    })
}

fn no_other<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    ends: &[M::State],
    budget: &Budget,
) -> Option<Given> {
    let (net, packed) = machine.network(start)?;
    let puzzle = Puzzle::new(net.clone(), packed, target)?;
    let ends = ends.iter().map(|end| Some(machine.network(end)?.1));
    let ends: Vec<Packed> = ends.collect::<Option<_>>()?;
    let clauses = invariant::prove_no_other(&puzzle, &ends, &patient(budget))?;
    Some(Given::with(&puzzle.net, &clauses))
}

/// The budget, with an end.
fn patient(budget: &Budget) -> Budget {
    Budget {
        time: Some(budget.time.map_or(PATIENCE, |time| time.min(PATIENCE))),
        ..budget.clone()
    }
}

fn texts<M: Machine>(machine: &M, plan: &[Move]) -> Vec<String> {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let text = |chosen: &Move| machine.game().canonical(&terms, chosen.term());
    plan.iter().map(text).collect()
}
