//! States to guess from: games played at random, always the same ones.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::terms::TermId;

/// States with which another game is begun when one is over.
const FEW: usize = 30;
/// Facts and moves that are looked at, more or less.
const WORK: usize = 20_000;

/// The facts of the states of a random game from its start on, in order, and, if it is
/// short, of others after it; so many at most. They are cut where that would be much work or the rules
/// are wrong.
///
/// # Errors
///
/// If there is no first state, or the user wants it no longer.
pub fn sample<M: Machine>(machine: &mut M, most: usize) -> Result<Vec<Vec<TermId>>, PlayError> {
    let start = machine.initial()?;
    let mut state = start.clone();
    let mut states = vec![machine.facts(&state)];
    let roles: Vec<_> = machine.game().roles().collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut work = states[0].len();
    while states.len() < most && work < WORK {
        let mut next = || {
            if machine.is_terminal(&state)? {
                return Ok(None);
            }
            let mut joint = Vec::with_capacity(roles.len());
            for &role in &roles {
                let mut moves = Vec::new();
                machine.legal(&state, role, &mut moves)?;
                work += moves.len();
                if moves.is_empty() {
                    return Ok(None);
                }
                joint.push(moves[random.random_range(0..moves.len())]);
            }
            machine.next(&state, &joint).map(Some)
        };
        match next() {
            Ok(Some(next)) => state = next,
            Ok(None) if state != start && states.len() < FEW => state = start.clone(),
            Ok(None) => break,
            Err(stopped @ PlayError::Interrupted) => return Err(stopped),
            Err(_) => break,
        }
        let facts = machine.facts(&state);
        work += facts.len();
        states.push(facts);
    }
    Ok(states)
}
