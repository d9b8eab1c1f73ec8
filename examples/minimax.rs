//! Minimax: what the first role can force in a game whose roles take turns, by looking at all matches.
//!
//! cargo run --release --example minimax -- games/nim.kif

use ggp::{AnyMachine, Backend, Game, Limits, Machine, PlayError, RoleId};

/// The score that a role can force from a state, if all others play against it.
fn value<M: Machine>(machine: &mut M, state: &M::State, me: RoleId) -> Result<u8, PlayError> {
    if machine.is_terminal(state)? {
        return Ok(machine.goal(state, me)?.get());
    }
    // One role has a choice; the others have one move each.
    let (mut joint, mut mover, mut choices) = (Vec::new(), me, Vec::new());
    for role in machine.game().clone().roles() {
        let legal = machine.legal_moves(state, role)?;
        joint.push(legal[0]);
        if legal.len() > choices.len() {
            (mover, choices) = (role, legal);
        }
    }
    let mut values = Vec::new();
    for choice in choices {
        joint[mover.index()] = choice;
        let next = machine.next(state, &joint)?;
        values.push(value(machine, &next, me)?);
    }
    let best = if mover == me {
        values.iter().max()
    } else {
        values.iter().min()
    };
    Ok(*best.expect("there is a move"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a rule file")?;
    let game = Game::from_text(&path, &std::fs::read_to_string(&path)?)?;
    let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
    let (start, me) = (
        machine.initial()?,
        game.roles().next().expect("there is a role"),
    );
    println!(
        "{} gets {}",
        game.role_name(me),
        value(&mut machine, &start, me)?
    );
    Ok(())
}
