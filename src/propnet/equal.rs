//! Facts that always equal each other, or each other's negation.
//!
//! In: a network. Out: for each fact the one that stands for it. Candidates are
//! facts that agree in a few random playouts; assuming all candidates at once,
//! those whose next value is not the same gate are told apart, until the
//! assumption confirms itself.
//!
//! Source: van Eijk, Sequential equivalence checking based on structural
//! similarities (2000).

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use super::Propnet;
use super::network::{Builder, Literal, read};
use super::rewrite::{live, same_gate, transcribe};

/// Passes of the sample playouts, 64 of which are made side by side.
const SAMPLE_PASSES: usize = 48;
/// Gates evaluated in the sample, at most; large networks get fewer passes.
const SAMPLE_GATES: usize = 4_000_000;
/// Rounds after which the attempt is given up.
const MOST_ROUNDS: usize = 24;
/// Gates rewritten in all rounds, about.
const ROUND_GATES: usize = 2_000_000;

/// By fact: the fact that equals it, itself if there is no earlier one, and
/// whether its negation does instead.
pub(super) fn representatives(net: &Propnet) -> Vec<(usize, bool)> {
    let count = net.facts.len();
    let itself: Vec<(usize, bool)> = (0..count).map(|fact| (fact, false)).collect();
    let mut class = candidates(net);
    let live = live(&net.network, net.next.iter().copied());
    let rounds = MOST_ROUNDS.min(2 + ROUND_GATES / net.network.gates().max(1));
    for _ in 0..rounds {
        let representative = first_of_each(&class);
        if representative
            .iter()
            .enumerate()
            .all(|(fact, &first)| fact == first)
        {
            return itself;
        }
        let stands: Vec<(usize, bool)> = representative
            .iter()
            .enumerate()
            .map(|(fact, &first)| (first, net.initial[fact] != net.initial[first]))
            .collect();
        let mut builder = Builder::new(net.network.inputs());
        let inputs: Vec<Literal> = (0..net.network.inputs())
            .map(|input| match stands.get(input) {
                Some(&(first, negated)) => builder.input(first).negated_if(negated),
                None => builder.input(input),
            })
            .collect();
        let became = transcribe(
            &net.network,
            &live,
            &inputs,
            &mut builder,
            |b, node, operands| same_gate(&net.network, b, node, operands),
        );
        let mut split: FxHashMap<(usize, Literal), usize> = FxHashMap::default();
        let refined: Vec<usize> = (0..count)
            .map(|fact| {
                let next = net.next[fact];
                let next = became[next.node()].negated_if(next.is_negated());
                let (first, negated) = stands[fact];
                let number = split.len();
                *split
                    .entry((first, next.negated_if(negated)))
                    .or_insert(number)
            })
            .collect();
        if first_of_each(&refined) == representative {
            return stands;
        }
        class = refined;
    }
    itself
}

/// By fact: the first fact of its class.
fn first_of_each(class: &[usize]) -> Vec<usize> {
    let mut first: FxHashMap<usize, usize> = FxHashMap::default();
    let of = |(fact, &class): (usize, &usize)| *first.entry(class).or_insert(fact);
    class.iter().enumerate().map(of).collect()
}

/// By fact: a number that facts share which agree, up to negation, in all states
/// of a few random playouts.
fn candidates(net: &Propnet) -> Vec<usize> {
    let mut signature = vec![0u64; net.facts.len()];
    let passes = SAMPLE_PASSES.min(2 + SAMPLE_GATES / net.network.gates().max(1));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let word = |holds: &bool| if *holds { u64::MAX } else { 0 };
    let initial: Vec<u64> = net.initial.iter().map(word).collect();
    let mut state = initial.clone();
    for _ in 0..passes {
        for ((signature, now), first) in signature.iter_mut().zip(&state).zip(&initial) {
            *signature =
                (signature.rotate_left(7) ^ now ^ first).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let mut inputs = vec![0; net.network.inputs()];
        inputs[..state.len()].copy_from_slice(&state);
        let values = net.network.evaluate(&inputs);
        let over = read(net.terminal, &values);
        for (role, legal) in net.legal.iter().enumerate() {
            let words: Vec<u64> = legal
                .iter()
                .map(|literal| read(*literal, &values))
                .collect();
            for (number, chosen) in choose(&words, &mut random).into_iter().enumerate() {
                inputs[net.move_input(role, number)] = chosen;
            }
        }
        let values = net.network.evaluate(&inputs);
        state = net
            .next
            .iter()
            .zip(&initial)
            .map(|(next, first)| (read(*next, &values) & !over) | (first & over))
            .collect();
    }
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    signature
        .iter()
        .map(|signature| {
            let number = numbers.len();
            *numbers.entry(*signature).or_insert(number)
        })
        .collect()
}

/// In each lane one of the words that have it, each with the same chance.
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
