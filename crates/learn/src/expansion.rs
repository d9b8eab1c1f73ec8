//! One ply of look-ahead from many positions at once.
//!
//! In: positions and their status. Out: for each role that chooses, the positions
//! after each of its moves. If several roles choose at the same time, the others'
//! moves are drawn at random, once for each position.

use std::ops::Range;

use ggp_engine::propnet::batch::Packed;
use ggp_stop::Stop;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::positions::{Positions, Status};
use crate::values::Values;

/// The choice of one role in one position.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub position: usize,
    pub role: usize,
    /// The children, one for each move.
    pub children: Range<usize>,
}

/// The positions after each move of each role that chooses.
#[derive(Debug)]
pub(crate) struct Expansion {
    roles: usize,
    /// By position and role: a legal move; 0 if the game is over.
    joints: Vec<usize>,
    pub choices: Vec<Choice>,
    /// By child: the move that the role chooses.
    pub moves: Vec<usize>,
    pub children: Vec<Packed>,
    /// The children in which the game is over, with the scores, in ascending order.
    pub ends: Vec<(usize, Vec<f32>)>,
}

impl Expansion {
    /// Expands the choices of all roles for which `is_wanted` holds, given the
    /// position and the role. Moves of chance are never expanded. Of more than `most`
    /// moves, this number is drawn at random. Returns `None` if `stop` is over.
    pub fn new(
        positions: &mut Positions,
        states: &[Packed],
        status: &Status,
        is_wanted: impl Fn(usize, usize) -> bool,
        most: usize,
        random: &mut Xoshiro256PlusPlus,
        stop: &Stop,
    ) -> Option<Expansion> {
        let roles = positions.roles();
        let mut joints = vec![0; states.len() * roles];
        let mut expansion = Expansion {
            roles,
            joints: Vec::new(),
            choices: Vec::new(),
            moves: Vec::new(),
            children: Vec::new(),
            ends: Vec::new(),
        };
        let (mut before, mut all) = (Vec::new(), Vec::new());
        for (position, state) in states.iter().enumerate() {
            if status.is_over(position) || status.is_stuck(position) {
                continue;
            }
            let joint = &mut joints[position * roles..][..roles];
            for (role, chosen) in joint.iter_mut().enumerate() {
                let legal = status.moves(position, role);
                *chosen = *legal.choose(random).expect("no role is stuck") as usize;
            }
            for role in 0..roles {
                let legal = status.moves(position, role);
                if legal.len() < 2 || positions.is_chance(role) || !is_wanted(position, role) {
                    continue;
                }
                let first = before.len();
                let few: Vec<u32>;
                let legal = match legal.len() > most {
                    true => {
                        few = legal.sample(random, most).copied().collect();
                        &few
                    }
                    false => legal,
                };
                for &chosen in legal {
                    let start = all.len();
                    all.extend_from_slice(joint);
                    all[start + role] = chosen as usize;
                    expansion.moves.push(chosen as usize);
                    before.push(state.clone());
                }
                expansion.choices.push(Choice {
                    position,
                    role,
                    children: first..before.len(),
                });
            }
        }
        (expansion.children, expansion.ends) = positions.children(&before, &all, stop);
        expansion.joints = joints;
        (expansion.children.len() == before.len()).then_some(expansion)
    }

    /// By child: its value for the role that chooses, from 0 to 1.
    pub fn worths(&self, values: &Values) -> Vec<f32> {
        let shares = values.all_shares(&self.children);
        let mut worths = vec![0.0; self.children.len()];
        for choice in &self.choices {
            for child in choice.children.clone() {
                worths[child] = shares[child * self.roles + choice.role];
            }
        }
        self.with_ends(worths)
    }

    /// The same values, with the scores where the game is over.
    pub fn with_ends(&self, mut worths: Vec<f32>) -> Vec<f32> {
        for (child, scores) in &self.ends {
            let after = |choice: &Choice| choice.children.end <= *child;
            let choice = &self.choices[self.choices.partition_point(after)];
            worths[*child] = scores[choice.role];
        }
        worths
    }

    /// Makes a role choose a move.
    pub fn choose(&mut self, position: usize, role: usize, chosen: usize) {
        self.joints[position * self.roles + role] = chosen;
    }

    /// The joint moves: those chosen, and random legal ones of the roles that did
    /// not choose.
    pub fn joints(&self) -> &[usize] {
        &self.joints
    }
}

/// The index of the largest value, at random among equal ones.
pub(crate) fn best(values: &[f32], random: &mut Xoshiro256PlusPlus) -> usize {
    let (mut found, mut equal) = (0, 0);
    for (index, &value) in values.iter().enumerate() {
        if equal == 0 || value > values[found] {
            (found, equal) = (index, 1);
        } else if value == values[found] {
            equal += 1;
            if random.random_range(0..equal) == 0 {
                found = index;
            }
        }
    }
    found
}
