//! A [`Simulator`] that evaluates hundreds of states at once on a network.

mod patience;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ggp_engine::machine::{BatchOptions, MixedMachine, PropnetMachine};
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::playout::{Proceed, Width};
use ggp_engine::propnet::rollouts::{MoveSum, Record, RolloutOptions, Rollouts, learned_levels};
use ggp_learn::Values;
use ggp_search::mcts::{Sample, Simulator, TerminalChild, View, Views};
use patience::Patience;

/// The number of states that are evaluated together.
const LANES: usize = 256;
/// The most gates of a network that is cheap enough to probe all children of a state.
const SMALL: usize = 50_000;

/// The number of bits of a learned move level.
const LEVEL_BITS: u32 = 3;
/// The number of playouts between updates of the levels.
const LESSON: u64 = 4_096;
/// The number of prior playouts of each move, with the average score of all moves.
const PRIOR: u64 = 16;

/// The parameters of playouts that prefer moves with high average scores (MAST).
///
/// Source: Finnsson and Björnsson, "Learning simulation control in general
/// game-playing agents", 2010; Tak, Winands and Björnsson, "N-grams and the
/// last-good-reply policy applied in general game playing", 2012, and "Decaying
/// simulation strategies", 2014.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Learning {
    /// The probability of a uniformly random move.
    pub epsilon: f64,
    /// The share of the statistics that is kept after each move of the game.
    pub fade: f64,
}

impl Default for Learning {
    fn default() -> Self {
        Learning {
            epsilon: 0.8,
            fade: 0.2,
        }
    }
}

/// A game on the lanes of a network. Moves are indices into
/// [`Propnet::moves`](ggp_engine::propnet::Propnet::moves).
#[derive(Clone, Debug)]
pub struct Lanes {
    batch: Batch,
    rollouts: Rollouts,
    /// The machine that knows goals, if the network has none.
    asked: Option<Box<MixedMachine>>,
    chance: Vec<bool>,
    /// By role and goal value: the score, 0 if the value is not a valid score.
    scores: Vec<Vec<u8>>,
    range: Vec<[u8; 2]>,
    is_small: bool,
    learning: Option<Learning>,
    /// The number of playouts since the last update of the levels.
    unlearned: u64,
    /// Learned values, and their share in the values of new positions.
    values: Option<(Arc<Values>, f32)>,
    patience: Patience,
    /// Scratch space.
    joints: Vec<usize>,
}

impl Lanes {
    /// Lanes on the network of a machine. Playouts have at most `depth` joint moves. If goals are
    /// asked of another machine, nothing is learned about moves. `None` if the machine is stopped
    /// before its code is compiled.
    pub fn new(
        machine: &PropnetMachine,
        asked: Option<&MixedMachine>,
        engine: Engine,
        depth: u32,
        learning: Option<Learning>,
        decisive: bool,
        seed: u64,
    ) -> Option<Self> {
        let net = machine.net();
        let (game, terms) = (net.game(), net.terms());
        let score = |value: &(_, _)| game.score(&terms, value.0).map_or(0, |score| score.get());
        let scores = |role: &Vec<_>| role.iter().map(score).collect::<Vec<u8>>();
        let scores: Vec<Vec<u8>> = net.goals().iter().map(scores).collect();
        let range = |scores: &Vec<u8>| {
            [
                // Terminal states without a valid score count as 0.
                0,
                scores.iter().copied().max().unwrap_or(100),
            ]
        };
        let (learning, decisive) = (
            learning.filter(|_| asked.is_none()),
            decisive && asked.is_none(),
        );
        let options = RolloutOptions {
            // Vectors of WebAssembly are short: fewer lanes end a batch sooner.
            width: match cfg!(target_family = "wasm") {
                true => Width::W256,
                false => Width::W512,
            },
            engine,
            depth: Some(depth.into()),
            decisive,
            level_bits: learning.map_or(0, |_| LEVEL_BITS),
            record: match learning {
                Some(_) => Record::Moves,
                None => Record::Nothing,
            },
            lists_ends: asked.is_some(),
            ..RolloutOptions::default()
        };
        let is_small = net.network().gates() <= SMALL;
        let lanes = BatchOptions {
            lanes: LANES,
            engine,
            looks_ahead: is_small,
        };
        let (mut rollouts, batch) = machine.rollouts_and_batch(options, seed, lanes)?;
        if let Some(learning) = learning {
            rollouts.set_exploration(learning.epsilon);
        }
        Some(Lanes {
            batch,
            rollouts,
            asked: asked.map(|machine| Box::new(machine.clone())),
            learning,
            unlearned: 0,
            chance: game.roles().map(|role| game.is_random(role)).collect(),
            range: scores.iter().map(range).collect(),
            scores,
            is_small,
            values: None,
            patience: Patience::default(),
            joints: Vec::new(),
        })
    }

    /// A copy for another thread, with its own random numbers and learned levels.
    pub fn another(&self, seed: u64) -> Self {
        let mut other = self.clone();
        other.rollouts.reseed(seed);
        other
    }

    /// Sets learned values, and their share in the values of new positions.
    pub fn set_values(&mut self, values: Arc<Values>, share: f32) {
        self.values = Some((values, share));
    }

    /// Mixes learned values into the results of playouts from some states.
    fn mix(&self, states: &[&Packed], samples: &mut [Sample<u32>]) {
        let Some((values, share)) = &self.values else {
            return;
        };
        let mut learned = vec![0.0; states.len() * self.scores.len()];
        values.evaluate(states, &mut learned);
        let share = f64::from(*share);
        for (sample, learned) in samples.iter_mut().zip(learned.chunks(self.scores.len())) {
            let playouts = sample.playouts as f64;
            for (sum, &value) in sample.sums.iter_mut().zip(learned) {
                *sum = (1.0 - share) * *sum + share * playouts * f64::from(value);
            }
            // The sums of the scores of all roles are rounded.
            sample.ended = false;
        }
    }

    /// Reduces the weight of the statistics after a move of the game.
    pub fn fade(&mut self) {
        if let Some(learning) = self.learning {
            self.rollouts.fade_moves(learning.fade);
        }
    }

    /// Updates the levels by which playouts choose from the statistics.
    fn learn(&mut self) {
        for role in 0..self.scores.len() {
            let sums = self.rollouts.moves(role);
            let levels = learned_levels(&with_prior(sums), LEVEL_BITS);
            self.rollouts.set_levels(role, &levels);
        }
    }

    /// Makes a joint move in each of the first lanes.
    fn make(&mut self, joints: &[u32]) {
        self.joints.clear();
        self.joints
            .extend(joints.iter().map(|&chosen| chosen as usize));
        self.batch.step(&self.joints);
    }

    /// Appends the scores of a terminal lane.
    fn goals(&mut self, lane: usize, out: &mut Vec<u8>) {
        if let Some(machine) = &mut self.asked {
            let due = machine.scores(&self.batch.state(lane));
            // As for other backends, what cannot be answered counts as no score.
            let due = due.unwrap_or_else(|_| vec![None; self.scores.len()]);
            out.extend(due.into_iter().map(|score| score.unwrap_or(0)));
            return;
        }
        for (role, scores) in self.scores.iter().enumerate() {
            let mut due = self.batch.goal_values(lane, role);
            out.push(match (due.next(), due.next()) {
                (Some(value), None) => scores[value],
                _ => 0,
            });
        }
    }

    /// Appends the status, moves and scores of the first `count` lanes.
    fn look_at(&mut self, count: usize, out: &mut Views<u32>) {
        let roles = self.scores.len();
        let over: Vec<u64> = self.batch.terminal().to_vec();
        let is_over = |lane: usize| over[lane / 64] >> (lane % 64) & 1 == 1;
        // By lane and role: the number of legal moves, then where the next one goes.
        let mut counts = vec![0_u32; count * roles];
        self.for_each_legal(&over, count, |slot, _| counts[slot] += 1);
        let mut next = Vec::with_capacity(counts.len());
        for (lane, counts) in counts.chunks_mut(roles).enumerate() {
            let view = match is_over(lane) {
                true => View::End,
                false if counts.contains(&0) => View::Stuck,
                false => View::Open,
            };
            out.views.push(view);
            if view != View::Open {
                counts.fill(0);
            }
            match view {
                View::End => self.goals(lane, &mut out.goals),
                _ => out.goals.resize(out.goals.len() + roles, 0),
            }
        }
        let mut at = out.moves.len();
        for &count in &counts {
            next.push(at);
            at += count as usize;
        }
        out.moves.resize(at, 0);
        let moves = &mut out.moves;
        self.for_each_legal(&over, count, |slot, chosen| {
            if counts[slot] > 0 {
                moves[next[slot]] = chosen;
                next[slot] += 1;
            }
        });
        out.counts.append(&mut counts);
    }

    /// Calls `visit` with each legal move of the first `count` lanes that are not over, in
    /// ascending order for each lane and role: the number of the lane times the number of
    /// roles plus that of the role, and the move.
    fn for_each_legal(&mut self, over: &[u64], count: usize, mut visit: impl FnMut(usize, u32)) {
        let roles = self.scores.len();
        for role in 0..roles {
            for chosen in 0..self.batch.moves(role) {
                let row = self.batch.legal(role, chosen);
                for (word, (&bits, over)) in row.iter().zip(over).enumerate() {
                    if 64 * word >= count {
                        break;
                    }
                    let left = (count - 64 * word).min(64);
                    let mut bits = bits & !over & (u64::MAX >> (64 - left));
                    while bits != 0 {
                        let lane = 64 * word + bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        visit(lane * roles + role, chosen as u32);
                    }
                }
            }
        }
    }
}

impl Simulator for Lanes {
    type State = Packed;
    type Move = u32;
    type Error = Infallible;

    fn roles(&self) -> usize {
        self.scores.len()
    }

    fn is_chance(&self, role: usize) -> bool {
        self.chance[role]
    }

    fn range(&self, role: usize) -> [u8; 2] {
        self.range[role]
    }

    fn lanes(&self) -> usize {
        self.rollouts.lanes()
    }

    fn step(&mut self, states: &[&Packed], joints: &[u32]) -> Result<Vec<Packed>, Infallible> {
        let mut next = Vec::with_capacity(states.len());
        let joints = joints.chunks(LANES * self.scores.len());
        for (states, joints) in states.chunks(LANES).zip(joints) {
            self.batch.set_states(states);
            self.make(joints);
            next.append(&mut self.batch.states(states.len()));
        }
        Ok(next)
    }

    fn look(&mut self, states: &[&Packed], out: &mut Views<u32>) -> Result<(), Infallible> {
        for states in states.chunks(LANES) {
            self.batch.set_states(states);
            self.look_at(states.len(), out);
        }
        Ok(())
    }

    fn looks_ahead(&self) -> bool {
        self.is_small
    }

    fn terminal_children(
        &mut self,
        states: &[&Packed],
        counts: &[usize],
        joints: &[u32],
    ) -> Result<Vec<TerminalChild<Packed>>, Infallible> {
        let roles = self.scores.len();
        let parents = states.iter().zip(counts);
        let parents = parents.flat_map(|(state, &count)| std::iter::repeat_n(*state, count));
        let parents: Vec<&Packed> = parents.collect();
        let (mut ends, mut first) = (Vec::new(), 0);
        for (parents, joints) in parents.chunks(LANES).zip(joints.chunks(LANES * roles)) {
            self.batch.set_states(parents);
            self.make(joints);
            for word in 0..parents.len().div_ceil(64) {
                let mut over = self.batch.terminal_only()[word];
                while over != 0 {
                    let lane = 64 * word + over.trailing_zeros() as usize;
                    over &= over - 1;
                    if lane >= parents.len() {
                        break;
                    }
                    let mut goals = Vec::with_capacity(roles);
                    self.goals(lane, &mut goals);
                    ends.push(TerminalChild {
                        index: first + lane,
                        state: self.batch.state(lane),
                        goals,
                    });
                }
            }
            first += parents.len();
        }
        Ok(ends)
    }

    fn has_values(&self) -> bool {
        self.values.is_some()
    }

    fn values_after(
        &mut self,
        states: &[&Packed],
        counts: &[usize],
        joints: &[u32],
    ) -> Result<Vec<f32>, Infallible> {
        let Some((values, _)) = self.values.clone() else {
            return Ok(Vec::new());
        };
        let mut parents = Vec::new();
        for (state, &count) in states.iter().zip(counts) {
            parents.extend(std::iter::repeat_n(*state, count));
        }
        let children = self.step(&parents, joints)?;
        let mut learned = vec![0.0; children.len() * self.scores.len()];
        values.evaluate(&children, &mut learned);
        Ok(learned)
    }

    fn begin_move(&mut self, time: Option<Duration>) {
        self.patience.begin(time);
    }

    fn playouts(
        &mut self,
        states: &[&Packed],
        each: u32,
        _seed: u64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<u32>>, Infallible> {
        let mut proceed = || match proceed() {
            true => Proceed::On,
            false => Proceed::Drop,
        };
        self.rollouts.set_time(self.patience.most());
        self.rollouts.run(states, each, &mut proceed);
        if let Some(machine) = &mut self.asked {
            let ask = |state: &[u64]| match proceed() {
                Proceed::Drop => None,
                _ => machine.scores(state).ok(),
            };
            self.rollouts.score_ends(ask);
        }
        let outcomes = self.rollouts.outcomes();
        self.patience.learn(outcomes);
        let mut made = 0;
        let samples = outcomes.iter().map(|outcome| {
            let undecided = outcome.stuck + outcome.cut;
            let total = |sum: &ggp_engine::propnet::rollouts::Sum| {
                // Playouts without a terminal state score 50 for every role.
                sum.total as f64 + 50.0 * undecided as f64
            };
            made += outcome.playouts;
            Sample {
                playouts: outcome.playouts + undecided + outcome.faulty,
                sums: outcome.scores.iter().map(total).collect(),
                ended: undecided + outcome.faulty == 0,
                line: None,
            }
        });
        let mut samples: Vec<Sample<u32>> = samples.collect();
        self.mix(states, &mut samples);
        self.unlearned += made;
        if self.learning.is_some() && self.unlearned >= LESSON {
            self.unlearned = 0;
            self.learn();
        }
        Ok(samples)
    }

    fn state_heap_bytes(&self, state: &Packed) -> u64 {
        // With the overhead of the allocator.
        state.len() as u64 * 8 + 16
    }
}

/// The statistics of moves with a prior, which moves seldom played ones closer to the
/// average.
fn with_prior(sums: &[MoveSum]) -> Vec<MoveSum> {
    let all = sums.iter().fold(MoveSum::default(), |all, sum| MoveSum {
        playouts: all.playouts + sum.playouts,
        total: all.total + sum.total,
    });
    let share = (PRIOR as f64 * all.mean().unwrap_or(0.0)).round() as u64;
    let smoothed = |sum: &MoveSum| MoveSum {
        playouts: sum.playouts + PRIOR,
        total: sum.total + share,
    };
    sums.iter().map(smoothed).collect()
}

#[cfg(test)]
mod tests;
