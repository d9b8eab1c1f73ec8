//! Random playouts: the mean score of each role if all move at random.
//!
//! cargo run --release --example random_playouts -- games/tic_tac_toe.kif 1000

use ggp::{AnyMachine, Backend, Game, Limits, Machine};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give a rule file")?;
    let count: u32 = arguments.next().map_or(Ok(1000), |count| count.parse())?;
    let game = Game::from_text(&path, &std::fs::read_to_string(&path)?)?;
    let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut sums = vec![0.0; game.role_count()];
    for _ in 0..count {
        let mut state = machine.initial()?;
        while !machine.is_terminal(&state)? {
            let mut joint = Vec::new();
            for role in game.roles() {
                let legal = machine.legal_moves(&state, role)?;
                joint.push(*legal.choose(&mut random).expect("there is a move"));
            }
            state = machine.next(&state, &joint)?;
        }
        for role in game.roles().filter(|role| !game.is_random(*role)) {
            sums[role.index()] += f64::from(machine.goal(&state, role)?.get());
        }
    }
    for role in game.roles().filter(|role| !game.is_random(*role)) {
        println!(
            "{} {:.1}",
            game.role_name(role),
            sums[role.index()] / f64::from(count)
        );
    }
    Ok(())
}
