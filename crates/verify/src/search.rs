//! Plain breadth-first search, position by position.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Failure, Question};
use ggp_engine::machine::{DatalogMachine, Machine, PlayError};

/// What to do about plans.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Plans {
    /// There is to be none.
    Refuse,
    /// Those of the last level are counted, others are refused.
    Count,
    /// The ends that they lead to are counted.
    Ends,
}

/// What was found.
pub(crate) struct Found {
    pub positions: u64,
    /// Plans of the last level, or ends of plans.
    pub plans: u64,
}

/// Looks at all positions within so many moves.
pub(crate) fn search(question: &Question<'_>, moves: u32, plans: Plans) -> Result<Found, Failure> {
    let limits = question.limits;
    let mut machine = DatalogMachine::new(question.game, limits.machine())?;
    let role = question.game.roles().next().expect("there is one");
    let first = machine.state(question.start)?;
    let mut known = FxHashSet::from_iter([first.clone()]);
    // Positions, and in how many ways each is reached.
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
                // An end without one score is worth nothing.
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
                        return Err(Failure::Wrong(format!("there is a plan of {depth} moves")));
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
                    "there are more than {} positions to look at again",
                    limits.positions
                )));
            }
        }
        level = below;
        depth += 1;
    }
    found.positions = known.len() as u64;
    Ok(found)
}
