//! Plain breadth-first search, position by position.

use ggp_gdl::counted::counted;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Failure, Question};
use ggp_engine::machine::{DatalogMachine, Machine, PlayError};

/// The treatment of plans in a search.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Plans {
    /// Any plan is an error.
    Refuse,
    /// Plans of the last level are counted, shorter plans are an error.
    Count,
    /// The ends of plans are counted.
    Ends,
}

/// The result of a search.
pub(crate) struct Found {
    pub positions: u64,
    /// The number of plans of the last level, or of ends of plans.
    pub plans: u64,
}

/// Searches all positions within `moves` moves.
pub(crate) fn search(question: &Question<'_>, moves: u32, plans: Plans) -> Result<Found, Failure> {
    let limits = question.limits;
    let mut machine = DatalogMachine::new(question.game, limits.machine())?;
    let role = question.game.roles().next().expect("there is one");
    let first = machine.state(question.start)?;
    let mut known = FxHashSet::from_iter([first.clone()]);
    // Positions, with the number of move sequences that reach each.
    let mut level = FxHashMap::from_iter([(first, 1u64)]);
    let mut found = Found {
        positions: 1,
        plans: 0,
    };
    let mut legal = Vec::new();
    let mut depth = 0;
    while !level.is_empty() {
        let mut below = FxHashMap::default();
        for (state, ways) in level {
            if limits.is_over() {
                return Err(Failure::out_of_time());
            }
            if machine.is_terminal(&state)? {
                // An end without exactly one score counts as 0.
                let is_solved = match machine.goal(&state, role) {
                    Err(error @ (PlayError::Interrupted | PlayError::TooLarge { .. })) => {
                        return Err(error.into());
                    }
                    score => score.is_ok_and(|score| score >= question.target),
                };
                match is_solved {
                    true if plans == Plans::Ends => found.plans += 1,
                    true if depth == moves && plans == Plans::Count => {
                        found.plans = found.plans.saturating_add(ways);
                    }
                    true => {
                        let moves = counted(depth, "move");
                        return Err(Failure::Wrong(format!("there is a plan of {moves}")));
                    }
                    false => {}
                }
                continue;
            }
            if depth == moves {
                continue;
            }
            match machine.legal(&state, role, &mut legal) {
                Err(PlayError::NoLegalMove(_)) => continue,
                other => other?,
            }
            for &chosen in &legal {
                let after = machine.next(&state, &[chosen])?;
                if known.insert(after.clone()) {
                    below.insert(after, ways);
                } else if let Some(others) = below.get_mut(&after) {
                    *others = others.saturating_add(ways);
                }
            }
            if known.len() as u64 > limits.positions {
                return Err(Failure::Unchecked(format!(
                    "there are more than {} to look at again",
                    counted(limits.positions, "position")
                )));
            }
        }
        level = below;
        depth += 1;
    }
    found.positions = known.len() as u64;
    Ok(found)
}
