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
        is_aborted: false,
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
    // A match that a fault of the rules ends is aborted, as a host does it.
    if machine.is_terminal(last)? {
        let scores = match ggp_play::scores(machine, last) {
            Ok(scores) => Some(scores.into_iter().map(|score| score.get()).collect()),
            Err(error) if error.fault().is_some() => None,
            Err(error) => return Err(error),
        };
        record.is_completed = scores.is_some();
        record.is_aborted = scores.is_none();
        record.goal_values = scores.unwrap_or_default();
    } else {
        for role in machine.game().clone().roles() {
            match machine.legal(last, role, &mut Vec::new()) {
                Err(error) if error.fault().is_some() => record.is_aborted = true,
                legal => legal?,
            }
        }
    }
    Ok(record)
}
