//! Knowledge of the players in a game with hidden information.
//!
//! In: the joint moves of a game tree and the percepts after them. Out: for each player and each
//! turn, a number for what the player knows. It is the same in two turns exactly if the player has
//! made the same moves before and saw the same percepts after each of them (perfect recall).

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use std::collections::HashMap;

use super::ExtensiveFormError;

/// Knowledge of the players in the turns of a tree.
pub(super) struct Knowledge {
    players: Vec<Player>,
    /// The lists of percepts, each once.
    percepts: Table<Box<[TermId]>>,
    turns: Turns,
}

/// A turn: what each player knows there, and the moves that lead there.
#[derive(Clone)]
pub(super) struct Known {
    /// By player.
    knows: Box<[u32]>,
    turn: u32,
}

struct Player {
    role: RoleId,
    /// The second number of each is that of another one, with which it begins.
    steps: Table<(Move, u32, u32)>,
    /// By number, like the steps, but the first is for the beginning.
    choices: Vec<Option<Choice>>,
    sets: usize,
}

/// The choice of a player with some knowledge.
struct Choice {
    /// The moves as they were first listed, and a turn in which they were.
    legal: Box<[Move]>,
    turn: u32,
    /// The number of the information set, if there is more than one move.
    set: usize,
}

/// Values with numbers.
struct Table<T> {
    numbers: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn new() -> Self {
        Table {
            numbers: HashMap::default(),
            values: Vec::new(),
        }
    }

    fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            index(self.values.len() - 1)
        })
    }
}

/// The turns of a tree: the joint move before each, and the turn before that. The first turn is 0.
struct Turns {
    before: Vec<u32>,
    joint: Vec<Move>,
    roles: usize,
}

impl Turns {
    fn add(&mut self, before: u32, joint: &[Move]) -> u32 {
        self.before.push(before);
        self.joint.extend_from_slice(joint);
        index(self.before.len())
    }

    /// The joint moves before a turn as text, as `--moves` reads them.
    fn text<M: Machine>(&self, machine: &M, mut turn: u32) -> String {
        let mut joint_moves = Vec::new();
        while turn > 0 {
            let at = turn as usize - 1;
            let joint = &self.joint[at * self.roles..][..self.roles];
            joint_moves.push(texts(machine, joint).join(" "));
            turn = self.before[at];
        }
        joint_moves.reverse();
        joint_moves.join("; ")
    }
}

impl Knowledge {
    /// The players of a game with some roles.
    pub fn new(players: &[RoleId], roles: usize) -> Self {
        let player = |&role| Player {
            role,
            steps: Table::new(),
            choices: vec![None],
            sets: 0,
        };
        Knowledge {
            players: players.iter().map(player).collect(),
            percepts: Table::new(),
            turns: Turns {
                before: Vec::new(),
                joint: Vec::new(),
                roles,
            },
        }
    }

    /// The first turn, before which nothing was played.
    pub fn start(&self) -> Known {
        Known {
            knows: vec![0; self.players.len()].into(),
            turn: 0,
        }
    }

    /// The turn after a joint move.
    pub fn after<M: Machine>(
        &mut self,
        machine: &mut M,
        known: &Known,
        state: &M::State,
        joint: &[Move],
    ) -> Result<Known, PlayError> {
        let mut knows = Vec::with_capacity(self.players.len());
        let mut told = Vec::new();
        for (player, &before) in self.players.iter_mut().zip(&known.knows) {
            told.clear();
            machine.percepts(state, joint, player.role, &mut told)?;
            let told = self.percepts.number(told.as_slice().into());
            let own = joint[player.role.index()];
            let step = player.steps.number((own, before, told));
            if player.choices.len() < player.steps.values.len() + 1 {
                player.choices.push(None);
            }
            knows.push(step + 1);
        }
        Ok(Known {
            knows: knows.into(),
            turn: self.turns.add(known.turn, joint),
        })
    }

    /// The number of a player's information set in a turn with these legal moves. They are put in
    /// the order that they have in other turns of the set.
    pub fn set<M: Machine>(
        &mut self,
        machine: &M,
        player: usize,
        known: &Known,
        legal: &mut [Move],
    ) -> Result<usize, ExtensiveFormError> {
        let Player {
            role,
            choices,
            sets,
            ..
        } = &mut self.players[player];
        let choice = &mut choices[known.knows[player] as usize];
        let choice = choice.get_or_insert_with(|| {
            *sets += usize::from(legal.len() > 1);
            Choice {
                legal: (*legal).into(),
                turn: known.turn,
                set: *sets,
            }
        });
        if *legal != *choice.legal {
            let sorted = |moves: &[Move]| {
                let mut moves = moves.to_vec();
                moves.sort_unstable();
                moves
            };
            if sorted(legal) != sorted(&choice.legal) {
                let after = [choice.turn, known.turn];
                let moves = [&*choice.legal, legal];
                return Err(ExtensiveFormError::LegalMoves {
                    role: machine.game().role_name(*role).to_owned(),
                    matches: after.map(|turn| self.turns.text(machine, turn)),
                    moves: moves.map(|moves| texts(machine, moves).join(", ")),
                });
            }
            legal.copy_from_slice(&choice.legal);
        }
        Ok(choice.set)
    }

    /// The knowledge of a player in a turn, as text: its moves, and the percepts after each.
    pub fn text<M: Machine>(&self, machine: &M, player: usize, known: &Known) -> String {
        let mut steps = Vec::new();
        let mut number = known.knows[player];
        while number > 0 {
            let (own, before, told) = self.players[player].steps.values[number as usize - 1];
            let mut step = format!("did {}", machine.text(own));
            let told = self.percepts.values[told as usize].iter();
            let told = told.map(|&percept| machine.game().text(machine.terms(), percept));
            let told: Vec<String> = told.collect();
            if !told.is_empty() {
                step.push_str(" | saw ");
                step.push_str(&told.join(", "));
            }
            steps.push(step);
            number = before;
        }
        steps.reverse();
        steps.join("; ")
    }
}

fn texts<M: Machine>(machine: &M, moves: &[Move]) -> Vec<String> {
    moves.iter().map(|made| machine.text(*made)).collect()
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("memory ends before")
}
