//! Random playouts: the mean score of each role if all move at random.
//!
//! cargo run --release --example random_playouts -- games/tic_tac_toe.kif 1000

use ggp::{Game, State};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give a rule file")?;
    let count: u32 = arguments.next().map_or(Ok(1000), |count| count.parse())?;
    let game = Game::from_text(&path, &std::fs::read_to_string(&path)?)?;
    let mut state = State::new(&game)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut sums = vec![0.0; game.role_count()];
    for _ in 0..count {
        state.restart()?;
        while !state.is_terminal()? {
            let mut joint = Vec::new();
            for role in game.roles() {
                let legal = state.legal_moves(role)?;
                joint.push(*legal.choose(&mut random).expect("there is a move"));
            }
            state.play(&joint)?;
        }
        for role in game.roles().filter(|role| !game.is_random(*role)) {
            sums[role.index()] += f64::from(state.goal(role)?.get());
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
