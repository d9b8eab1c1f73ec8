//! What a play does by itself, whatever moves are made.
//!
//! In: a network and a start. Out: the facts that come back to where they began
//! after a few joint moves, such as those that say whose turn it is. Playouts
//! that go in step agree on these facts, so they are constants there.

use super::dependency::{depends, reached};
use crate::propnet::Propnet;
use crate::propnet::network::read;

/// Facts that go in a circle, and the values they take on the way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Phases {
    /// By phase: by fact, its value if it is one of those. The first phase is
    /// the one of the start.
    pub values: Vec<Vec<Option<bool>>>,
}

impl Phases {
    /// The shortest circle, of at most `longest` phases, with the most facts. One
    /// of a single phase is made of facts that never change.
    pub fn find(net: &Propnet, start: &[bool], longest: usize) -> Phases {
        let network = &net.network;
        let free = autonomous(net);
        // The course of the free facts; what the others say does not matter.
        let mut course = vec![start.to_vec()];
        for _ in 0..longest {
            let now = &course[course.len() - 1];
            let mut inputs = vec![0; network.inputs()];
            for (fact, &holds) in now.iter().enumerate() {
                inputs[net.fact_input(fact)] = u64::from(holds);
            }
            let values = network.evaluate(&inputs);
            let next = net.next.iter();
            let next = next.map(|&literal| read(literal, &values) & 1 == 1);
            course.push(next.collect());
        }
        let needs = needs(net, &free);
        let circle = |period: usize| -> Vec<bool> {
            let returns = |fact: usize| course[period][fact] == course[0][fact];
            let mut inside: Vec<bool> = (0..free.len()).map(|f| free[f] && returns(f)).collect();
            // A fact stays if all that it depends on come back as well.
            loop {
                let before = inside.clone();
                for fact in 0..inside.len() {
                    inside[fact] &= needs[fact].iter().all(|&need| inside[need]);
                }
                if inside == before {
                    return inside;
                }
            }
        };
        let size = |inside: &Vec<bool>| inside.iter().filter(|&&is| is).count();
        let mut best = circle(1);
        let mut period = 1;
        for longer in 2..=longest {
            let inside = circle(longer);
            if size(&inside) > size(&best) {
                (best, period) = (inside, longer);
            }
        }
        let phase = |values: &Vec<bool>| {
            let facts = values.iter().zip(&best);
            facts.map(|(&value, &is)| is.then_some(value)).collect()
        };
        Phases {
            values: course[..period].iter().map(phase).collect(),
        }
    }

    /// Number of phases.
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

/// By fact: whether no move, now or before, has a say in it.
fn autonomous(net: &Propnet) -> Vec<bool> {
    let facts = net.facts.len();
    let mut touched = vec![false; net.network.inputs()];
    touched[facts..].fill(true);
    loop {
        let depends = depends(&net.network, &touched);
        let mut changed = false;
        for (fact, next) in net.next.iter().enumerate() {
            let input = net.fact_input(fact);
            if depends[next.node()] && !touched[input] {
                touched[input] = true;
                changed = true;
            }
        }
        if !changed {
            return (0..facts)
                .map(|fact| !touched[net.fact_input(fact)])
                .collect();
        }
    }
}

/// By fact that is free: the facts that its next value depends on.
fn needs(net: &Propnet, free: &[bool]) -> Vec<Vec<usize>> {
    let mut needs = vec![Vec::new(); free.len()];
    for (fact, needs) in needs.iter_mut().enumerate() {
        if free[fact] {
            let nodes = reached(&net.network, [net.next[fact].node()], |_| true);
            let inputs = nodes
                .iter()
                .filter_map(|&node| net.network.input_number(node));
            needs.extend(inputs);
        }
    }
    needs
}
