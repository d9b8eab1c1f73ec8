//! A game at a glance: a drawing from the middle of a match, and traits by which games are
//! sorted.
//!
//! In: a game that is ready. Out: the preview, which is the same each time, within limits of
//! work.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::loaded_game::{LoadedGame, drawn};
use ggp_engine::machine::{AnyMachine, Backend, Machine, PlayError, PropnetMachine};
use ggp_engine::machine::{PropnetState, joint_moves};
use ggp_gdl::game::{Move, RoleId};
use ggp_picture::{Drawing, DrawingLimits, Picture};
use ggp_stop::Stop;

/// Limits for a network that is built only for a preview: rows and matches, and work.
const NETWORK: (usize, u64) = (5_000, 2_000_000);
/// Maximum number of joint moves of a random match, and the number of matches.
const MATCHES: (usize, u64) = (90, 3);
/// Approximate maximum number of legal moves that are listed in random matches.
const WORK: usize = 6_000;
/// Maximum number of positions of a small game, and of joint moves to count them.
const SMALL: (usize, usize) = (1_000, 6_000);

/// Maximum number of moves that are listed for a game without a board.
const CHOICES: usize = 4;

/// A game at a glance.
#[derive(Debug)]
pub struct Preview {
    /// The boards of a position after a third of a match.
    pub svg: String,
    /// The traits by which games are sorted.
    pub traits: Traits,
}

/// The traits of a game by which games are sorted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Traits {
    /// True if several roles have a choice at the same time.
    simultaneous: bool,
    /// The number of positions, if there are few.
    positions: Option<usize>,
    /// The numbers of rows and columns, if the drawing has one board.
    board: Option<(usize, usize)>,
    /// Some legal moves of a role that has a choice, if there is no board to show.
    moves: Vec<String>,
}

impl Preview {
    /// Makes the preview of a game.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated.
    pub fn new(loaded: &LoadedGame, stop: &Stop) -> Result<Self, PlayError> {
        let mut machine = small_machine(loaded, stop)?;
        let picture = drawn(&mut machine, loaded.picture_options())?.named;
        let start = machine.initial()?;
        let mut sampler = Sampler::new(&machine);
        let mut longest = Vec::new();
        // Each state of large rules takes milliseconds.
        let matches = match machine {
            AnyMachine::Propnet(_) => MATCHES.1,
            _ => 1,
        };
        for seed in 0..matches {
            let states = sampler.states(&mut machine, &start, seed)?;
            if states.len() > longest.len() {
                longest = states;
            }
        }
        let at_start = drawing(&machine, &picture, &start);
        let middle = &longest[longest.len() / 3];
        let in_middle = match machine.is_terminal(middle)? {
            true => at_start.clone(),
            false => drawing(&machine, &picture, middle),
        };
        let board = match &at_start.boards[..] {
            [board] => Some((board.rows.len(), board.columns.len())),
            _ => None,
        };
        let moves = match ggp_picture::board_svg(&at_start, "") {
            Some(_) => Vec::new(),
            None => choices(&mut machine, &start)?,
        };
        Ok(Preview {
            svg: ggp_picture::thumbnail(&in_middle, &loaded.game.name()),
            traits: Traits {
                simultaneous: sampler.simultaneous,
                positions: positions(&mut machine, start)?,
                board,
                moves,
            },
        })
    }
}

/// A machine with a small network, or else Datalog.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub(crate) fn small_machine(loaded: &LoadedGame, stop: &Stop) -> Result<AnyMachine, PlayError> {
    let mut limits = loaded.limits(stop);
    limits.ground.facts = NETWORK.0;
    limits.ground.instances = NETWORK.0 as u64;
    limits.ground.work = NETWORK.1;
    match PropnetMachine::new(&loaded.game, limits) {
        Ok(network) => Ok(AnyMachine::Propnet(Box::new(network))),
        Err(_) => AnyMachine::new(&loaded.game, Backend::Datalog, loaded.limits(stop)),
    }
}

/// The drawing of a state.
pub(crate) fn drawing(machine: &AnyMachine, picture: &Picture, state: &PropnetState) -> Drawing {
    let facts = machine.facts(state);
    picture.draw(machine.terms(), &facts, DrawingLimits::default())
}

/// Random matches, and what they show of the game.
pub(crate) struct Sampler {
    roles: Vec<RoleId>,
    /// True once several roles had a choice at the same time.
    simultaneous: bool,
    work: usize,
}

impl Sampler {
    pub(crate) fn new(machine: &AnyMachine) -> Self {
        Sampler {
            roles: machine.game().roles().collect(),
            simultaneous: false,
            work: 0,
        }
    }

    /// The states of a random match, without the last one if the game is over there. A
    /// fault in the rules ends the match.
    pub(crate) fn states(
        &mut self,
        machine: &mut AnyMachine,
        start: &PropnetState,
        seed: u64,
    ) -> Result<Vec<PropnetState>, PlayError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut states = vec![start.clone()];
        while states.len() <= MATCHES.0 && self.work < WORK {
            let next = self.next(machine, &states[states.len() - 1], &mut random);
            match next {
                Ok(Some(next)) => states.push(next),
                Err(error @ PlayError::Interrupted) => return Err(error),
                Ok(None) | Err(_) => break,
            }
        }
        Ok(states)
    }

    fn next(
        &mut self,
        machine: &mut AnyMachine,
        state: &PropnetState,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<Option<PropnetState>, PlayError> {
        if machine.is_terminal(state)? {
            return Ok(None);
        }
        let mut joint: Vec<Move> = Vec::with_capacity(self.roles.len());
        let mut choosing = 0;
        let mut legal = Vec::new();
        for &role in &self.roles {
            machine.legal(state, role, &mut legal)?;
            self.work += legal.len();
            choosing += usize::from(legal.len() > 1 && !machine.game().is_random(role));
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        self.simultaneous |= choosing > 1;
        let next = machine.next(state, &joint)?;
        Ok((!machine.is_terminal(&next)?).then_some(next))
    }
}

/// Some legal moves of the first role that has a choice.
fn choices(machine: &mut AnyMachine, state: &PropnetState) -> Result<Vec<String>, PlayError> {
    let mut moves = Vec::new();
    let roles: Vec<_> = machine.game().roles().collect();
    for role in roles {
        machine.legal(state, role, &mut moves)?;
        if moves.len() > 1 {
            let shown = moves.iter().take(CHOICES);
            return Ok(shown.map(|action| machine.text(*action)).collect());
        }
    }
    Ok(Vec::new())
}

/// The number of positions that can be reached, if there are few.
fn positions(machine: &mut AnyMachine, start: PropnetState) -> Result<Option<usize>, PlayError> {
    let AnyMachine::Propnet(_) = machine else {
        return Ok(None);
    };
    let roles: Vec<_> = machine.game().roles().collect();
    let (mut known, mut open) = (FxHashSet::default(), vec![start.clone()]);
    known.insert(start);
    let mut tried = 0;
    while let Some(state) = open.pop() {
        if machine.is_terminal(&state)? {
            continue;
        }
        let mut legal = vec![Vec::new(); roles.len()];
        for (&role, moves) in roles.iter().zip(&mut legal) {
            if let Err(error) = machine.legal(&state, role, moves) {
                return match error {
                    PlayError::Interrupted => Err(error),
                    _ => Ok(None),
                };
            }
        }
        for joint in joint_moves(&legal) {
            tried += 1;
            if known.len() > SMALL.0 || tried > SMALL.1 {
                return Ok(None);
            }
            let next = machine.next(&state, &joint)?;
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Ok(Some(known.len()))
}
