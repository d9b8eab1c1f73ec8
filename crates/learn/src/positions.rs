//! Positions of a game, hundreds at a time: legal moves, ends, scores, successors.
//!
//! In: a network and packed states. Out: what self-play and trial matches need to
//! know about them. Scores are fractions of 100. Nothing here chooses moves.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_stop::Stop;

/// The number of positions that are evaluated together.
const LANES: usize = 256;

/// The score of a role whose score the rules do not give.
const NO_SCORE: f32 = 0.0;

/// The status of a list of positions.
#[derive(Debug, Default)]
pub struct Status {
    roles: usize,
    /// By position: true if the game is over.
    over: Vec<bool>,
    /// By position and role: the end of its moves in `moves`.
    ends: Vec<u32>,
    moves: Vec<u32>,
    /// By position and role: the score, if the game is over.
    scores: Vec<f32>,
}

impl Status {
    /// True if the game is over.
    pub fn is_over(&self, position: usize) -> bool {
        self.over[position]
    }

    /// The legal moves of a role. Empty if the game is over.
    pub fn moves(&self, position: usize, role: usize) -> &[u32] {
        let index = position * self.roles + role;
        let first = match index {
            0 => 0,
            _ => self.ends[index - 1],
        };
        &self.moves[first as usize..self.ends[index] as usize]
    }

    /// True if the game is not over, but a role has no legal move.
    pub fn is_stuck(&self, position: usize) -> bool {
        !self.over[position] && (0..self.roles).any(|role| self.moves(position, role).is_empty())
    }

    /// By role: the score, from 0 to 1, of a position in which the game is over.
    pub fn scores(&self, position: usize) -> &[f32] {
        &self.scores[position * self.roles..][..self.roles]
    }
}

/// A game on the lanes of a network.
#[derive(Clone, Debug)]
pub struct Positions {
    batch: Batch,
    /// By role and goal value: the score.
    scores: Vec<Vec<f32>>,
    chance: Vec<bool>,
}

impl Positions {
    /// Compiles a network.
    pub fn new(net: &Propnet, engine: Engine) -> Positions {
        let (game, terms) = (net.game(), net.terms());
        let score = |value: &(_, _)| {
            let score = game.score(&terms, value.0);
            score.map_or(NO_SCORE, |score| f32::from(score.get()) / 100.0)
        };
        let goals = net.goals().iter();
        Positions {
            batch: Batch::new(net, LANES, engine),
            scores: goals
                .map(|goals| goals.iter().map(score).collect())
                .collect(),
            chance: game.roles().map(|role| game.is_random(role)).collect(),
        }
    }

    /// The number of roles.
    pub fn roles(&self) -> usize {
        self.scores.len()
    }

    /// True if a role moves at random.
    pub fn is_chance(&self, role: usize) -> bool {
        self.chance[role]
    }

    /// The initial state.
    pub fn initial(&self) -> Packed {
        self.batch.initial().to_vec()
    }

    /// The status of positions.
    pub fn status(&mut self, states: &[Packed]) -> Status {
        let mut status = Status {
            roles: self.roles(),
            ..Status::default()
        };
        for states in states.chunks(LANES) {
            self.batch.set_states(states);
            self.add_status(states.len(), &mut status);
        }
        status
    }

    fn add_status(&mut self, count: usize, out: &mut Status) {
        let roles = self.roles();
        let over = self.batch.terminal().to_vec();
        let mut lists = vec![Vec::new(); count * roles];
        for role in 0..roles {
            for chosen in 0..self.batch.moves(role) {
                let row = self.batch.legal(role, chosen);
                for (word, (&bits, over)) in row.iter().zip(&over).enumerate() {
                    let mut bits = bits & !over;
                    while bits != 0 {
                        let lane = 64 * word + bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        if lane < count {
                            lists[lane * roles + role].push(chosen as u32);
                        }
                    }
                }
            }
        }
        for list in lists {
            out.moves.extend_from_slice(&list);
            out.ends.push(out.moves.len() as u32);
        }
        for lane in 0..count {
            let is_over = over[lane / 64] >> (lane % 64) & 1 == 1;
            out.over.push(is_over);
            match is_over {
                true => self.add_scores(lane, &mut out.scores),
                false => out.scores.resize(out.scores.len() + roles, NO_SCORE),
            }
        }
    }

    fn add_scores(&mut self, lane: usize, out: &mut Vec<f32>) {
        for (role, scores) in self.scores.iter().enumerate() {
            let mut values = self.batch.goal_values(lane, role);
            out.push(match (values.next(), values.next()) {
                (Some(value), None) => scores[value],
                _ => NO_SCORE,
            });
        }
    }

    /// The states after joint moves: `joints` has one move for each state and role. If a
    /// role has no moves in the whole game, states stay as they are.
    pub fn step(&mut self, states: &[Packed], joints: &[usize]) -> Vec<Packed> {
        if (0..self.roles()).any(|role| self.batch.moves(role) == 0) {
            return states.to_vec();
        }
        let mut next = Vec::with_capacity(states.len());
        let joints = joints.chunks(LANES * self.roles());
        for (states, joints) in states.chunks(LANES).zip(joints) {
            self.batch.set_states(states);
            self.batch.step(joints);
            next.append(&mut self.batch.states(states.len()));
        }
        next
    }

    /// The states after joint moves, as [`Positions::step`], and the index and the
    /// scores of each one in which the game is over. If `stop` is over, states after
    /// the first ones are missing.
    pub fn children(
        &mut self,
        states: &[Packed],
        joints: &[usize],
        stop: &Stop,
    ) -> (Vec<Packed>, Vec<(usize, Vec<f32>)>) {
        let mut next = Vec::with_capacity(states.len());
        let mut ends = Vec::new();
        let joints = joints.chunks(LANES * self.roles());
        for (part, (states, joints)) in states.chunks(LANES).zip(joints).enumerate() {
            if stop.is_over() {
                break;
            }
            self.batch.set_states(states);
            self.batch.step(joints);
            next.append(&mut self.batch.states(states.len()));
            let over = self.batch.terminal().to_vec();
            for lane in (0..states.len()).filter(|lane| over[lane / 64] >> (lane % 64) & 1 == 1) {
                let mut scores = Vec::new();
                self.add_scores(lane, &mut scores);
                ends.push((part * LANES + lane, scores));
            }
        }
        (next, ends)
    }
}
