//! The states of a few random playouts.
//!
//! In: a network. Out: states, 64 in parallel, from which candidates for invariants
//! are derived.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Propnet;
use super::network::read;
use ggp_stop::Stop;

/// The number of passes of the playouts.
const PASSES: usize = 48;
/// The maximum number of gates evaluated; large networks get fewer passes.
const GATES: usize = 4_000_000;

/// The states of a few playouts, 64 at a time: one word per fact, whose bit `k` is
/// its value in state `k`. There are fewer of them after a stop.
pub(super) fn sample(net: &Propnet, stop: &Stop) -> Vec<Vec<u64>> {
    let mut states = Vec::new();
    let passes = PASSES.min(2 + GATES / net.network.gates().max(1));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let word = |holds: &bool| if *holds { u64::MAX } else { 0 };
    let initial: Vec<u64> = net.initial.iter().map(word).collect();
    let mut state = initial.clone();
    let by_moves = net.network.dependent(state.len()..net.network.inputs());
    let mut values = vec![0; net.network.len()];
    for _ in 0..passes {
        if stop.is_over() {
            break;
        }
        let mut inputs = vec![0; net.network.inputs()];
        inputs[..state.len()].copy_from_slice(&state);
        net.network
            .update(&inputs, &mut values, |node| !by_moves[node]);
        let over = read(net.terminal, &values);
        let mut input = state.len();
        for legal in &net.legal {
            let words: Vec<u64> = legal
                .iter()
                .map(|literal| read(*literal, &values))
                .collect();
            let chosen = choose(&words, &mut random);
            inputs[input..input + chosen.len()].copy_from_slice(&chosen);
            input += chosen.len();
        }
        net.network
            .update(&inputs, &mut values, |node| by_moves[node]);
        let next = net
            .next
            .iter()
            .zip(&initial)
            .map(|(next, first)| (read(*next, &values) & !over) | (first & over))
            .collect();
        states.push(std::mem::replace(&mut state, next));
    }
    states
}

/// In each lane, selects one of the words that are set in it, uniformly at random.
fn choose(words: &[u64], random: &mut impl Rng) -> Vec<u64> {
    let mut seen = [0u32; 64];
    let mut choice = [0usize; 64];
    for (number, word) in words.iter().enumerate() {
        let mut left = *word;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            seen[lane] += 1;
            if random.random_range(0..seen[lane]) == 0 {
                choice[lane] = number;
            }
        }
    }
    let mut chosen = vec![0; words.len()];
    for lane in (0..64).filter(|&lane| seen[lane] > 0) {
        chosen[choice[lane]] |= 1 << lane;
    }
    chosen
}
