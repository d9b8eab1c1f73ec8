//! A match between programs, as an animation for the start page.
//!
//! In: a game that is ready. Out: an animated drawing, which is the same each time.

use crate::loaded_game::{LoadedGame, drawn};
use crate::preview::{Sampler, drawing, small_machine};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::game::Move;
use ggp_play::AgentSpec;
use ggp_play::contest::{AgentContender, Clocks, Contest, Opening, Resources};
use ggp_play::referee::{Asking, Contender};
use ggp_stop::Stop;

/// The player of all roles, which needs little time for a move and plays well enough to watch.
const PLAYER: &str = "mcts:300";
/// Maximum number of joint moves.
const MOST: usize = 120;
/// Memory of a player in bytes.
const MEMORY: u64 = 16 << 20;

/// Plays a match and draws it. Moves are random if the rules are too large for a player that
/// needs little time.
///
/// # Errors
///
/// If the rules cannot be evaluated, or the match is stopped.
pub(crate) fn made(loaded: &LoadedGame, stop: &Stop) -> Result<String, PlayError> {
    let mut machine = small_machine(loaded, stop)?;
    let picture = drawn(&mut machine, loaded.picture_options())?.named;
    let states = match machine {
        AnyMachine::Propnet(_) => played(loaded, &mut machine, stop)?,
        _ => {
            let start = machine.initial()?;
            Sampler::new(&machine).states(&mut machine, &start, 0)?
        }
    };
    let frames = states
        .iter()
        .map(|state| drawing(&machine, &picture, state));
    let frames: Vec<_> = frames.collect();
    Ok(ggp_picture::thumbnail_film(&frames, &loaded.game.name()))
}

/// The states of a match between players.
fn played(
    loaded: &LoadedGame,
    machine: &mut AnyMachine,
    stop: &Stop,
) -> Result<Vec<PropnetState>, PlayError> {
    let resources = Resources {
        threads: 1,
        memory_bytes: MEMORY,
        values: Default::default(),
        tables: Default::default(),
        limits: loaded.limits(stop),
    };
    let spec: AgentSpec = PLAYER.parse().expect("it is a player");
    let clocks = Clocks::default();
    let contender = |role| {
        let brief = resources.brief(&loaded.game, role, clocks, 0);
        let contender = AgentContender::new(brief, &spec, clocks).expect("it has no options");
        Some(Box::new(contender) as Box<dyn Contender>)
    };
    let mut contenders: Vec<_> = loaded.game.roles().map(contender).collect();
    for (role, contender) in loaded.game.roles().zip(&mut contenders) {
        if loaded.game.is_random(role) {
            *contender = None;
        }
    }
    let contest = Contest {
        machine: machine.clone(),
        asking: Asking::InTurn,
        seed: 0,
        opening: Opening::default(),
        most_moves: MOST,
        stop: stop.clone(),
    };
    let result = contest.play(&mut contenders)?;
    let mut state = machine.initial()?;
    let mut states = vec![state.clone()];
    for texts in &result.moves {
        let terms = texts.iter().map(|text| {
            let term = loaded.game.parse_term(machine.terms_mut(), text);
            Move::new(term.expect("a machine wrote it"))
        });
        let joint: Vec<Move> = terms.collect();
        state = machine.next(&state, &joint)?;
        states.push(state.clone());
    }
    Ok(states)
}
