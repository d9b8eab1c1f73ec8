//! Facts known in all states of one depth.
//!
//! In: a network and the start state. Out: by depth, the facts that have the same
//! value in all states after that many joint moves: those that no move influences,
//! and those that take longer to change.

use crate::propnet::Propnet;
use crate::propnet::network::{Literal, Network, Node};
use crate::propnet::rewrite::live;

/// By fact: its value, if all states of a depth agree on it.
pub(super) type Known = Vec<Option<bool>>;

/// The facts that any answer depends on, now or later.
pub(super) fn relevant(net: &Propnet) -> Vec<bool> {
    let facts = net.facts.len();
    let mut roots: Vec<Literal> = net.legal.iter().flatten().copied().collect();
    roots.push(net.terminal);
    roots.extend(net.goals.iter().flatten().map(|goal| goal.1));
    let mut relevant = vec![false; facts];
    loop {
        let live = live(&net.network, roots.iter().copied());
        let before = roots.len();
        for (fact, relevant) in relevant.iter_mut().enumerate() {
            let input = net.network.input(net.fact_input(fact));
            if live[input.node()] && !*relevant {
                *relevant = true;
                roots.push(net.next[fact]);
            }
        }
        if roots.len() == before {
            return relevant;
        }
    }
}

/// The facts known one joint move later.
pub(super) fn after(net: &Propnet, known: &Known) -> Known {
    let mut inputs = known.clone();
    inputs.resize(net.network.inputs(), None);
    let values = evaluate(&net.network, &inputs);
    for (role, legal) in net.legal.iter().enumerate() {
        let possible: Vec<usize> = (0..legal.len())
            .filter(|&number| read(legal[number], &values) != Some(false))
            .collect();
        for number in 0..legal.len() {
            inputs[net.move_input(role, number)] = match possible.as_slice() {
                // If the game goes on, the role makes it.
                [only] if *only == number => Some(true),
                _ if possible.contains(&number) => None,
                _ => Some(false),
            };
        }
    }
    let values = evaluate(&net.network, &inputs);
    let next = net.next.iter();
    next.map(|&literal| read(literal, &values)).collect()
}

fn read(literal: Literal, values: &[Option<bool>]) -> Option<bool> {
    values[literal.node()].map(|value| value != literal.is_negated())
}

/// The values of all nodes that follow from those of some inputs.
fn evaluate(network: &Network, inputs: &[Option<bool>]) -> Vec<Option<bool>> {
    let mut values = vec![None; network.len()];
    for node in 0..network.len() {
        values[node] = match network.node(node) {
            Node::False => Some(false),
            Node::Input(number) => inputs[number],
            Node::Feedback(_) => None,
            Node::And(operands) => {
                let mut all = Some(true);
                for &operand in operands {
                    match read(operand, &values) {
                        Some(true) => {}
                        Some(false) => {
                            all = Some(false);
                            break;
                        }
                        None => all = None,
                    }
                }
                all
            }
            Node::Xor(a, b) => match (read(a, &values), read(b, &values)) {
                (Some(a), Some(b)) => Some(a != b),
                _ => None,
            },
        };
    }
    values
}
