//! The examples that a picture is derived from: states of random matches with a fixed seed, and all
//! facts that can ever hold. They follow from the rules alone, not from the backend of a machine.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Picture, PictureOptions};
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::possible_facts;
use ggp_gdl::datalog::Bounds;
use ggp_gdl::terms::TermId;

/// While there are fewer states than this, another match begins when one is over.
const FEW: usize = 30;
/// Approximate limit on the number of facts and moves that are visited.
const WORK: usize = 20_000;
/// Maximum number of rows examined to find the facts that can ever hold.
const POSSIBLE_WORK: u64 = 5_000_000;

/// The examples that a picture is derived from, the same with every backend.
#[derive(Clone, Debug)]
pub struct Examples {
    /// The facts of states of random matches, the initial state first.
    pub states: Vec<Vec<TermId>>,
    /// The facts that can ever hold, unless there are too many.
    possible: Option<Vec<TermId>>,
}

impl Examples {
    /// At most `most` states, and the facts that can ever hold.
    ///
    /// # Errors
    ///
    /// If there is no initial state, or the machine is stopped.
    pub fn of<M: Machine>(machine: &mut M, most: usize) -> Result<Self, PlayError> {
        let mut states = sample(machine, most)?;
        let (game, terms) = (machine.game(), machine.terms());
        for facts in &mut states {
            facts.sort_by(|a, b| game.compare_terms(terms, *a, *b));
        }
        let bounds = Bounds {
            work: POSSIBLE_WORK,
            stop: machine.stop().clone(),
            ..Bounds::default()
        };
        let possible = possible_facts(game, bounds);
        if machine.stop().is_over() {
            return Err(PlayError::Interrupted);
        }
        // The shared table of terms may have grown.
        machine.terms_mut().refresh();
        Ok(Examples { states, possible })
    }

    /// The picture that follows from the examples. The machine is that of [`Examples::of`], or a clone
    /// of it.
    pub fn picture<M: Machine>(&self, machine: &M, options: PictureOptions) -> Picture {
        Picture::new(
            machine.game(),
            machine.terms(),
            &self.states,
            self.possible.as_deref(),
            options,
        )
    }
}

/// The facts of the states of a random match from its initial state on, in order, followed
/// by those of further matches if it is short. At most `most` states; fewer if they would
/// take much work or the rules are wrong.
///
/// # Errors
///
/// If there is no initial state, or the user interrupts.
fn sample<M: Machine>(machine: &mut M, most: usize) -> Result<Vec<Vec<TermId>>, PlayError> {
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
