//! Answers checked by code that had no part in finding them.
//!
//! In: a game, where it begins, the score that is wanted, and an [`Answer`]. Out:
//! whether the answer is right. Plans are played on the naive evaluator, and
//! exhausted searches are searched again, by plain breadth-first search. Proofs
//! are checked on a network of their own, into which each move is put in turn;
//! all that is shared with the methods is that network, and what is known there
//! of facts that exclude each other.

mod answer;
mod sums;

use rustc_hash::FxHashSet;

use crate::game::{Game, Move, Score};
use crate::ground::TermId;
use crate::machine::{DatalogMachine, Limits, Machine, NaiveMachine};

pub use answer::{Answer, Proof};
use sums::Sums;

/// Positions that are looked at again, at most.
const MOST_POSITIONS: usize = 200_000;

/// Checks an answer about a game of one role that begins with these facts. That a
/// plan is the shortest is not checked.
///
/// # Errors
///
/// Why the answer is wrong, or can not be checked.
pub fn verify(game: &Game, start: &[TermId], target: Score, answer: &Answer) -> Result<(), String> {
    if game.role_count() != 1 {
        return Err("the game has several roles".to_owned());
    }
    match answer {
        Answer::Solved { plan, .. } => replay(game, start, target, plan),
        Answer::NoPlanWithin { moves } => search(game, start, target, *moves).map(|_| ()),
        Answer::Unknown => Err("nothing is claimed".to_owned()),
        Answer::Unsolvable { proof } => match proof {
            Proof::Exhausted { positions } => {
                let found = search(game, start, target, u32::MAX)?;
                match *positions <= found {
                    true => Ok(()),
                    false => Err(format!("there are only {found} positions")),
                }
            }
            Proof::Parity { facts, told } => Sums::new(game, start, target)?.parity(facts, told),
            Proof::Potential { weights } => Sums::new(game, start, target)?.potential(weights),
            Proof::Refuted { what } => Err(format!("this can not be checked: {what}")),
        },
    }
}

/// Plays a plan.
fn replay(game: &Game, start: &[TermId], target: Score, plan: &[String]) -> Result<(), String> {
    let mut machine = NaiveMachine::new(game, Limits::default());
    let role = game.roles().next().expect("there is one");
    let mut state = machine.state(start).map_err(|error| error.to_string())?;
    for (number, text) in (1..).zip(plan) {
        let at = |error: String| format!("move {number}: {error}");
        let term = game.parse_term(machine.terms_mut(), text);
        let term = term.map_err(|error| at(error.to_string()))?;
        let after = machine.play(&state, &[Move::new(term)]);
        state = after.map_err(|error| at(error.to_string()))?;
    }
    if !machine
        .is_terminal(&state)
        .map_err(|error| error.to_string())?
    {
        return Err("the game is not over after the plan".to_owned());
    }
    let score = machine
        .goal(&state, role)
        .map_err(|error| error.to_string())?;
    match score >= target {
        true => Ok(()),
        false => Err(format!("the plan is worth {}", score.get())),
    }
}

/// Looks at all positions within so many moves; how many there are.
fn search(game: &Game, start: &[TermId], target: Score, moves: u32) -> Result<u64, String> {
    let text = |error: crate::machine::PlayError| error.to_string();
    let mut machine = DatalogMachine::new(game, Limits::default()).map_err(text)?;
    let role = game.roles().next().expect("there is one");
    let first = machine.state(start).map_err(text)?;
    let mut known = FxHashSet::from_iter([first.clone()]);
    let mut level = vec![first];
    let mut legal = Vec::new();
    let mut depth = 0;
    while !level.is_empty() {
        let mut below = Vec::new();
        for state in level {
            if machine.is_terminal(&state).map_err(text)? {
                if machine.goal(&state, role).map_err(text)? >= target {
                    return Err(format!("there is a plan of {depth} moves"));
                }
                continue;
            }
            if depth == moves {
                continue;
            }
            machine.legal(&state, role, &mut legal).map_err(text)?;
            for &chosen in &legal {
                let after = machine.next(&state, &[chosen]).map_err(text)?;
                if known.insert(after.clone()) {
                    below.push(after);
                }
            }
            if known.len() > MOST_POSITIONS {
                return Err("there are too many positions to look at again".to_owned());
            }
        }
        level = below;
        depth += 1;
    }
    Ok(known.len() as u64)
}
