//! Three backends give the same answers along random play.

use std::time::Duration;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::TermId;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::small_limits;

/// The most joint moves.
const MOVES: usize = 8;

/// Everything that a machine says about a state.
#[derive(PartialEq, Debug)]
struct Answers {
    facts: Vec<TermId>,
    is_terminal: bool,
    /// By role.
    legal: Vec<Result<Vec<Move>, PlayError>>,
    goals: Vec<Vec<TermId>>,
}

pub fn run(text: &str, seed: u64) -> Result<u64, String> {
    match super::read::reading(text).game {
        Some(game) => compare(&game, seed),
        None => Ok(0),
    }
}

fn compare(game: &Game, seed: u64) -> Result<u64, String> {
    let limits = small_limits(Duration::from_secs(4));
    let mut machines = Vec::new();
    let backends = [
        Backend::Naive,
        Backend::Datalog,
        Backend::Propnet,
        Backend::Mixed,
    ];
    for backend in backends {
        match begun(game, backend, &limits) {
            Ok(machine) => machines.push(machine),
            Err(error) if is_limit(&error) => {}
            Err(error) => return Err(format!("{backend:?}: {error}")),
        }
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut compared = 0;
    for _ in 0..MOVES {
        let mut first: Option<(Backend, Answers)> = None;
        let mut kept = Vec::new();
        for (mut machine, state) in machines {
            let found = match answers(&mut machine, &state) {
                Ok(found) => found,
                Err(error) if is_limit(&error) => continue,
                Err(error) => return Err(format!("{:?}: {error}", machine.backend())),
            };
            match &first {
                None => first = Some((machine.backend(), found)),
                Some((backend, known)) if *known != found => {
                    return Err(format!(
                        "{backend:?} and {:?} differ in {}:\n{known:?}\n{found:?}",
                        machine.backend(),
                        machine.state_text(&state),
                    ));
                }
                Some(_) => compared += 1,
            }
            kept.push((machine, state));
        }
        machines = kept;
        let Some((_, known)) = first.filter(|(_, known)| !known.is_terminal) else {
            break;
        };
        let joint: Option<Vec<Move>> = known
            .legal
            .iter()
            .map(|moves| {
                let moves = moves.as_ref().ok()?;
                Some(moves[random.random_range(0..moves.len())])
            })
            .collect();
        let Some(joint) = joint else { break };
        let mut moved = Vec::new();
        for (mut machine, state) in machines {
            match machine.next(&state, &joint) {
                Ok(next) => moved.push((machine, next)),
                Err(error) if is_limit(&error) => {}
                Err(error) => return Err(format!("{:?}: {error}", machine.backend())),
            }
        }
        machines = moved;
    }
    Ok(compared)
}

type Begun = (AnyMachine, <AnyMachine as Machine>::State);

fn begun(game: &Game, backend: Backend, limits: &Limits) -> Result<Begun, PlayError> {
    let mut machine = AnyMachine::new(game, backend, limits.clone())?;
    let state = machine.initial()?;
    Ok((machine, state))
}

fn answers(
    machine: &mut AnyMachine,
    state: &<AnyMachine as Machine>::State,
) -> Result<Answers, PlayError> {
    let is_terminal = machine.is_terminal(state)?;
    let roles: Vec<_> = machine.game().roles().collect();
    let mut legal = Vec::new();
    let mut goals = Vec::new();
    for role in roles {
        let mut moves = Vec::new();
        legal.push(match machine.legal(state, role, &mut moves) {
            Ok(()) => Ok(moves),
            Err(error) if is_limit(&error) => return Err(error),
            // After the end, a role without moves is no fault.
            Err(_) if is_terminal => Ok(Vec::new()),
            Err(error) => Err(error),
        });
        goals.push(machine.goal_values(state, role)?);
    }
    let mut facts = machine.facts(state);
    facts.sort_unstable();
    Ok(Answers {
        facts,
        is_terminal,
        legal,
        goals,
    })
}

fn is_limit(error: &PlayError) -> bool {
    matches!(error, PlayError::TooLarge(_) | PlayError::Interrupted)
}
