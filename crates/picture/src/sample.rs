//! Sample states for deriving a picture: random matches with a fixed seed.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::terms::TermId;

/// While there are fewer states than this, another match begins when one is over.
const FEW: usize = 30;
/// Approximate limit on the number of facts and moves that are visited.
const WORK: usize = 20_000;

/// The facts of the states of a random match from its initial state on, in order, followed
/// by those of further matches if it is short. At most `most` states; fewer if they would
/// take much work or the rules are wrong.
///
/// # Errors
///
/// If there is no initial state, or the user interrupts.
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
