//! Random play of a game, as texts.

use std::time::Duration;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_gdl::game::Game;
use ggp_stop::Stop;
use rand::{Rng, RngExt};

/// Up to `most` random joint moves from the initial state. Play ends early where the rules
/// do not allow it to go on, or where they take long.
pub fn random_moves(game: &Game, most: usize, random: &mut impl Rng) -> Vec<Vec<String>> {
    let mut joints = Vec::new();
    let limits = Limits {
        facts: 3_000,
        work: 1_000_000,
        stop: Stop::after(Duration::from_secs(2)),
        ..Limits::default()
    };
    // What an error means is the business of another target.
    let _ = play(game, limits, most, random, &mut joints);
    joints
}

fn play(
    game: &Game,
    limits: Limits,
    most: usize,
    random: &mut impl Rng,
    joints: &mut Vec<Vec<String>>,
) -> Result<(), PlayError> {
    let mut machine = AnyMachine::new(game, Backend::Datalog, limits)?;
    let mut state = machine.initial()?;
    let roles: Vec<_> = game.roles().collect();
    while joints.len() < most && !machine.is_terminal(&state)? {
        let mut joint = Vec::new();
        for &role in &roles {
            let mut legal = Vec::new();
            machine.legal(&state, role, &mut legal)?;
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        state = machine.next(&state, &joint)?;
        joints.push(joint.iter().map(|&chosen| machine.text(chosen)).collect());
    }
    Ok(())
}
