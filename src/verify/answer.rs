//! Answers as text, for people and programs.
//!
//! In: what a method came to. Out: the same with facts and moves as canonical
//! texts, to be written as JSON and read again.

use serde::{Deserialize, Serialize};

use crate::propnet::Propnet;
use crate::puzzle::{Outcome, Reason};

/// What came of a puzzle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Answer {
    /// These moves lead to the target.
    Solved {
        /// Moves, in order.
        plan: Vec<String>,
        /// Whether it is claimed that no plan is shorter.
        optimal: bool,
    },
    /// Nothing leads to the target.
    Unsolvable {
        /// Why.
        proof: Proof,
    },
    /// No plan has so many moves or fewer.
    NoPlanWithin {
        /// Moves.
        moves: u32,
    },
    /// Nothing was found out.
    Unknown,
}

/// Why there is no plan; see [`Reason`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// All positions were looked at.
    Exhausted {
        /// So many.
        positions: u64,
    },
    /// A set of facts of which each move changes an even number.
    Parity {
        /// The facts.
        facts: Vec<String>,
        /// Sums that tell what can hold in a solution.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<Vec<(String, i64)>>,
    },
    /// A sum that no move makes larger.
    Potential {
        /// Facts and their weights.
        weights: Vec<(String, i64)>,
    },
    /// Clauses that contradict each other.
    Refuted {
        /// Which, in words.
        what: String,
    },
}

impl Answer {
    /// What a method came to on a network.
    pub fn of(net: &Propnet, outcome: &Outcome) -> Answer {
        let terms = net.terms();
        let fact = |&fact: &u32| net.game.canonical(&terms, net.facts[fact as usize]);
        let sum = |weights: &Vec<(u32, i64)>| -> Vec<(String, i64)> {
            let weights = weights.iter();
            weights.map(|(one, weight)| (fact(one), *weight)).collect()
        };
        let unsolvable = |proof| Answer::Unsolvable { proof };
        match outcome {
            Outcome::Solved { plan, optimal } => {
                let text = |&chosen: &u32| {
                    let chosen = net.moves[0][chosen as usize];
                    net.game.canonical(&terms, chosen.term())
                };
                Answer::Solved {
                    plan: plan.iter().map(text).collect(),
                    optimal: *optimal,
                }
            }
            Outcome::NoPlanWithin(moves) => Answer::NoPlanWithin { moves: *moves },
            Outcome::Unknown => Answer::Unknown,
            Outcome::Unsolvable(Reason::Exhausted { positions }) => unsolvable(Proof::Exhausted {
                positions: *positions,
            }),
            Outcome::Unsolvable(Reason::Parity { facts, told }) => unsolvable(Proof::Parity {
                facts: facts.iter().map(fact).collect(),
                told: told.iter().map(sum).collect(),
            }),
            Outcome::Unsolvable(Reason::Potential { weights }) => unsolvable(Proof::Potential {
                weights: sum(weights),
            }),
            Outcome::Unsolvable(Reason::Refuted { what }) => {
                unsolvable(Proof::Refuted { what: what.clone() })
            }
        }
    }
}
