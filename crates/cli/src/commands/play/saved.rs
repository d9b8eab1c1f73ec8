//! Match records of matches at the terminal.

use std::path::Path;

use anyhow::anyhow;

use crate::format;
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_gdl::game::Move;
use ggp_play::History;
use ggp_play::record::MatchRecord;

/// The joint moves of a record, after a check against the rules.
///
/// # Errors
///
/// If the record differs from the rules.
pub fn moves(
    record: &MatchRecord,
    path: &Path,
    machine: &AnyMachine,
) -> anyhow::Result<Vec<Vec<Move>>> {
    let played = record.replay(machine.clone(), |_, _| {});
    let name = path.display();
    let played = played.map_err(|why| anyhow!("{name} is not a match of this game: {why}"))?;
    let moves = played.history().plies().map(|ply| ply.joint.clone());
    Ok(moves.collect())
}

/// The record of the match so far, with the header `begun`.
///
/// # Errors
///
/// An error in the rules.
pub fn record<S>(
    machine: &mut AnyMachine,
    history: &History<S>,
    begun: &MatchRecord,
) -> Result<MatchRecord, PlayError>
where
    AnyMachine: Machine<State = S>,
    S: Clone,
{
    let lapses = vec![None; machine.game().role_count()];
    let mut record = MatchRecord {
        is_completed: false,
        states: Vec::new(),
        moves: Vec::new(),
        state_times: Vec::new(),
        errors: Vec::new(),
        goal_values: Vec::new(),
        ..begun.clone()
    };
    record.reached(machine, history.state_after(0), &lapses);
    for ply in history.plies() {
        record.moved(&format::joint_texts(machine, &ply.joint));
        record.reached(machine, &ply.state, &lapses);
    }
    let last = history.state();
    record.is_completed = machine.is_terminal(last)?;
    if record.is_completed {
        let goals = format::goals(machine, last)?.0;
        let scores: Option<Vec<u8>> = goals.iter().map(|goal| Some(goal.goal?.get())).collect();
        record.goal_values = scores.unwrap_or_default();
    }
    Ok(record)
}
