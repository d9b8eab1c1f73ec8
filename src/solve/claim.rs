//! Answers as claims that [`verify`](crate::verify) checks.

use std::time::Duration;

use crate::game::{Move, Score};
use crate::machine::Machine;
use crate::puzzle::{Outcome, Puzzle, invariant};
use crate::search::{Budget, Coverage, Verdict};
use crate::verify::{self, End, Proof};

use super::Answer;

/// What may be spent on a proof that can be checked, if the budget says no less.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// What an answer says. Where a refutation was not written down, an invariant is
/// looked for that shows the same.
pub fn claim<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    answer: &Answer,
    budget: &Budget,
) -> verify::Answer {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let game = machine.game();
    let texts = |plan: &Vec<Move>| -> Vec<String> {
        let text = |chosen: &Move| game.canonical(&terms, chosen.term());
        plan.iter().map(text).collect()
    };
    match &answer.verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => verify::Answer::Solved {
            plans: plans.iter().map(texts).collect(),
            optimal: *optimal,
            all: *coverage == Coverage::All,
        },
        Verdict::Unsolvable => {
            let mut proof = proof(answer).expect("there is one");
            if let Proof::Refuted { .. } = proof
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
                plan: texts(&best.plan),
            }),
        },
    }
}

fn by_invariant<M: Machine>(
    machine: &M,
    start: &M::State,
    target: Score,
    budget: &Budget,
) -> Option<Proof> {
    let (net, packed) = machine.network(start)?;
    let puzzle = Puzzle::new(net.clone(), packed, target)?;
    let budget = Budget {
        time: Some(budget.time.map_or(PATIENCE, |time| time.min(PATIENCE))),
        ..budget.clone()
    };
    let outcome = Outcome::Unsolvable(invariant::prove(&puzzle, &budget)?);
    match verify::Answer::of(&puzzle.net, &outcome) {
        verify::Answer::Unsolvable { proof } => Some(proof),
        _ => None,
    }
}
