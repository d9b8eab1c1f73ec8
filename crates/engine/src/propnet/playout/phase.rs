//! Facts that cycle by themselves, whatever moves are made.
//!
//! In: a network and a start state. Out: the facts that return to their initial
//! values after a fixed number of joint moves, such as those that record whose turn
//! it is. Playouts that advance in lockstep agree on these facts, so the facts are
//! constants in each phase.

use super::dependency::{Search, depends};
use crate::propnet::Propnet;
use crate::propnet::network::read;
use crate::propnet::rewrite::live;

/// Facts that cycle, and their values along the cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Phases {
    /// By phase and fact: the fact's value if it cycles. The first phase is that of
    /// the start state.
    pub values: Vec<Vec<Option<bool>>>,
}

impl Phases {
    /// The facts that never change, as a cycle of one phase; and the cycle of at most `longest`
    /// phases with the most facts; among equals, the shortest.
    pub fn find(net: &Propnet, start: &[bool], longest: usize) -> [Phases; 2] {
        let network = &net.network;
        let free = autonomous(net);
        // The trajectory of the free facts. The values of the others are
        // irrelevant.
        let mut trajectory = vec![start.to_vec()];
        let roots = (0..free.len()).filter(|&fact| free[fact]);
        let needed = live(network, roots.map(|fact| net.next[fact]));
        let mut values = vec![0; network.len()];
        for _ in 0..longest {
            let now = &trajectory[trajectory.len() - 1];
            let mut inputs = vec![0; network.inputs()];
            for (fact, &holds) in now.iter().enumerate() {
                inputs[net.fact_input(fact)] = u64::from(holds);
            }
            network.update(&inputs, &mut values, |node| needed[node]);
            let next = net.next.iter();
            let next = next.map(|&literal| read(literal, &values) & 1 == 1);
            trajectory.push(next.collect());
        }
        let needs = needs(net, &free);
        let cycle = |period: usize| -> Vec<bool> {
            let returns = |fact: usize| trajectory[period][fact] == trajectory[0][fact];
            let mut inside: Vec<bool> = (0..free.len()).map(|f| free[f] && returns(f)).collect();
            // A fact cycles only if all facts that it depends on do.
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
        let fixed = cycle(1);
        let (mut best, mut period) = (fixed.clone(), 1);
        for longer in 2..=longest {
            let inside = cycle(longer);
            if size(&inside) > size(&best) {
                (best, period) = (inside, longer);
            }
        }
        let phases = |facts: Vec<bool>, period: usize| {
            let phase = |values: &Vec<bool>| {
                let facts = values.iter().zip(&facts);
                facts.map(|(&value, &is)| is.then_some(value)).collect()
            };
            Phases {
                values: trajectory[..period].iter().map(phase).collect(),
            }
        };
        [phases(fixed, 1), phases(best, period)]
    }

    /// The number of phases.
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

/// By fact: true if no current or earlier move influences it.
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

/// By free fact: the facts that its next value depends on.
fn needs(net: &Propnet, free: &[bool]) -> Vec<Vec<usize>> {
    let mut needs = vec![Vec::new(); free.len()];
    let mut search = Search::new(&net.network);
    for (fact, needs) in needs.iter_mut().enumerate() {
        if free[fact] {
            let nodes = search.from([net.next[fact].node()], |_| true);
            search.forget(&nodes);
            let inputs = nodes
                .iter()
                .filter_map(|&node| net.network.input_number(node));
            needs.extend(inputs);
        }
    }
    needs
}
