//! Facts that always equal each other, or each other's negation.
//!
//! In: a network. Out: for each fact the one that stands for it. Candidates are
//! facts that agree in a few random playouts; assuming all candidates at once,
//! those whose next value is not the same gate are told apart, until the
//! assumption confirms itself.
//!
//! Source: van Eijk, Sequential equivalence checking based on structural
//! similarities (2000).

use rustc_hash::FxHashMap;

use super::Propnet;
use super::network::{Builder, Literal};
use super::rewrite::{copy, live};

/// Rounds after which the attempt is given up.
const MOST_ROUNDS: usize = 24;
/// Gates rewritten in all rounds, about.
const ROUND_GATES: usize = 2_000_000;

/// By fact: the fact that equals it, itself if there is no earlier one, and
/// whether its negation does instead; guessed from states of
/// [`sample`](super::sample).
pub(super) fn representatives(net: &Propnet, states: &[Vec<u64>]) -> Vec<(usize, bool)> {
    let count = net.facts.len();
    let itself: Vec<(usize, bool)> = (0..count).map(|fact| (fact, false)).collect();
    let mut class = candidates(net, states);
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
        let became = copy(&net.network, &live, &inputs, &mut builder);
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
fn candidates(net: &Propnet, states: &[Vec<u64>]) -> Vec<usize> {
    let mut signatures = vec![0u64; net.facts.len()];
    for state in states {
        for ((signature, now), holds) in signatures.iter_mut().zip(state).zip(&net.initial) {
            let first = if *holds { u64::MAX } else { 0 };
            *signature =
                (signature.rotate_left(7) ^ now ^ first).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    signatures
        .iter()
        .map(|signature| {
            let number = numbers.len();
            *numbers.entry(*signature).or_insert(number)
        })
        .collect()
}
