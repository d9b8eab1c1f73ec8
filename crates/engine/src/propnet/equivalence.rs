//! Facts that always equal each other, or each other's negation.
//!
//! In: a network. Out: a representative for each fact. Candidates are facts that
//! agree in a few random playouts. All candidate equalities are assumed at once,
//! and facts whose next values are then different gates are separated, until the
//! assumption proves itself.
//!
//! Source: van Eijk, Sequential equivalence checking based on structural
//! similarities (2000).

use rustc_hash::FxHashMap;

use super::Propnet;
use super::network::{Builder, Literal};
use super::rewrite::{copy, live};
use ggp_stop::Stop;

/// The maximum number of rounds.
const MOST_ROUNDS: usize = 24;
/// The approximate number of gates rewritten in all rounds.
const ROUND_GATES: usize = 2_000_000;

/// By fact: the first fact that equals it (possibly itself), and true if it equals
/// the negation instead. The candidates are taken from states of
/// [`sample`](super::sample). After a stop no fact equals another one.
pub(super) fn representatives(
    net: &Propnet,
    states: &[Vec<u64>],
    stop: &Stop,
) -> Vec<(usize, bool)> {
    let count = net.facts.len();
    let itself: Vec<(usize, bool)> = (0..count).map(|fact| (fact, false)).collect();
    let mut class = candidates(net, states);
    let live = live(&net.network, net.next.iter().copied());
    let rounds = MOST_ROUNDS.min(2 + ROUND_GATES / net.network.gates().max(1));
    for _ in 0..rounds {
        if stop.is_over() {
            break;
        }
        let representative = first_of_each(&class);
        if representative
            .iter()
            .enumerate()
            .all(|(fact, &first)| fact == first)
        {
            return itself;
        }
        let substitutes: Vec<(usize, bool)> = representative
            .iter()
            .enumerate()
            .map(|(fact, &first)| (first, net.initial[fact] != net.initial[first]))
            .collect();
        let mut builder = Builder::with_room(net.network.inputs(), net.network.len());
        let inputs: Vec<Literal> = (0..net.network.inputs())
            .map(|input| match substitutes.get(input) {
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
                let (first, negated) = substitutes[fact];
                let number = split.len();
                *split
                    .entry((first, next.negated_if(negated)))
                    .or_insert(number)
            })
            .collect();
        if first_of_each(&refined) == representative {
            return substitutes;
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

/// By fact: the number of its class. Facts of one class agree, up to negation, in
/// all states of a few random playouts.
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
