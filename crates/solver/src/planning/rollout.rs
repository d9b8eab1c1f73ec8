//! Rollouts: hundreds of games played to the end in parallel, one per lane.
//!
//! In: a start for each lane, and the weights of moves. Out: the rollouts and their
//! values; the best one is kept.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hash::Hasher;

use super::estimate::{Estimate, Estimator};
use super::expand::{Facts, Layout};
use super::{BestSoFar, Plan, Puzzle};
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::game::Score;
use ggp_search::{Budget, BudgetKind, Meter, StateHasher};

/// The values of rollouts.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Scoring {
    /// The score at the end; among equal scores, fewer facts that would have to
    /// change are better.
    #[default]
    Points,
    /// A repeated state counts −1 and ends the rollout. Reaching the limit counts
    /// 0, as does an end that is not a solution. A solution counts the limit − its
    /// moves + 1, so the shortest of several is preferred.
    Length,
}

/// Options of rollouts.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// The values of rollouts.
    pub scoring: Scoring,
    /// Maximum number of moves.
    pub longest: usize,
    /// Seed of the random choices.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            scoring: Scoring::Points,
            longest: 512,
            seed: 0,
        }
    }
}

/// Number of lanes of a batch.
pub(super) const LANES: usize = 512;
/// The value of one point of the score, which exceeds any number of facts.
const POINT: i64 = 1 << 17;

/// The first state of a lane, and the moves that lead to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    pub state: Packed,
    pub plan: Plan,
}

/// A rollout.
#[derive(Clone, Debug, Default)]
pub(super) struct Rollout {
    /// The moves from the beginning of the game.
    pub plan: Plan,
    /// The legal moves of each state from the lane's start on, concatenated; and
    /// the start of each state's moves, with the total number at the end.
    pub legal: Vec<u32>,
    pub starts: Vec<usize>,
    pub value: i64,
}

/// Plays rollouts.
pub(super) struct Rollouts {
    pub random: Xoshiro256PlusPlus,
    pub best: Option<BestSoFar>,
    /// Maximum number of moves.
    pub limit: usize,
    /// True if the limit ended a rollout.
    pub is_cut: bool,
    batch: Batch,
    layout: Layout,
    estimator: Estimator,
    /// By goal value, in the network's order: its score.
    scores: Vec<Score>,
    target: Score,
    scoring: Scoring,
    rollouts: Vec<Rollout>,
    /// By lane: its legal moves.
    legal: Vec<Vec<u32>>,
    /// By lane: the hashes of the states visited.
    visited: Vec<Vec<u64>>,
    /// Lanes that have ended, and the codes of their last states.
    ended: Vec<usize>,
    codes: Vec<u64>,
    moves: usize,
}

impl Rollouts {
    /// None after the end of the budget.
    pub fn new(puzzle: &Puzzle, options: &Sampling, budget: &Budget) -> Option<Rollouts> {
        let stop = budget.end();
        let net = &puzzle.net;
        let terms = net.terms();
        let nothing = Score::new(0).expect("it is a score");
        let scores = net.goals()[0].iter();
        let scores = scores.map(|&(value, _)| net.game().score(&terms, value).unwrap_or(nothing));
        let layout = Layout::new(puzzle, Facts::Relevant);
        Some(Rollouts {
            random: Xoshiro256PlusPlus::seed_from_u64(options.seed),
            best: None,
            limit: options.longest.min(budget.depth as usize),
            is_cut: false,
            batch: Batch::until(net, LANES, Engine::Auto, &stop)?,
            estimator: Estimator::new(puzzle, &layout, Estimate::GoalCount, stop),
            layout,
            scores: scores.collect(),
            target: puzzle.target,
            scoring: options.scoring,
            rollouts: Vec::new(),
            legal: vec![Vec::new(); LANES],
            visited: vec![Vec::new(); LANES],
            ended: Vec::new(),
            codes: Vec::new(),
            moves: puzzle.moves(),
        })
    }

    /// The rollouts of the last call of [`Rollouts::play`].
    pub fn rollouts(&mut self) -> &mut [Rollout] {
        &mut self.rollouts
    }

    /// Plays a rollout in each lane. Returns a solution, if one is found. `weights`
    /// gives the weights of moves by group of neighbouring lanes.
    ///
    /// # Panics
    ///
    /// If there are more starts than lanes.
    pub fn play(
        &mut self,
        starts: &[Start],
        weights: &[Vec<f64>],
        meter: &mut Meter<'_>,
    ) -> Result<Option<Plan>, BudgetKind> {
        let count = starts.len();
        let states: Vec<Packed> = starts.iter().map(|start| start.state.clone()).collect();
        self.batch.set_states(&states);
        self.rollouts.resize_with(count, Rollout::default);
        for (rollout, start) in self.rollouts.iter_mut().zip(starts) {
            rollout.plan.clone_from(&start.plan);
            rollout.legal.clear();
            rollout.starts.clear();
            rollout.value = 0;
        }
        self.visited.iter_mut().for_each(Vec::clear);
        self.ended.clear();
        self.codes.clear();
        let mut open: Vec<u64> = first(count).collect();
        let mut joint = vec![0; count];
        loop {
            if let Some(lane) = self.close_over(&mut open) {
                meter.level().counts.solutions += 1;
                return Ok(Some(self.rollouts[lane].plan.clone()));
            }
            self.close_long(&mut open);
            if self.scoring == Scoring::Length {
                self.close_cycles(&mut open);
            }
            self.gather(&open);
            let stuck: Vec<usize> = lanes(&open)
                .filter(|&lane| self.legal[lane].is_empty())
                .collect();
            self.close(&stuck, &mut open);
            let left = lanes(&open).count() as u64;
            if left == 0 {
                break;
            }
            if left > meter.nodes_left() {
                return Err(BudgetKind::Nodes);
            }
            let listed = self.rollouts.iter().map(|one| one.legal.capacity());
            let bytes = (listed.sum::<usize>() * size_of::<u32>()) as u64;
            if !meter.fits(bytes) {
                return Err(BudgetKind::Memory);
            }
            meter.spend(left, left, 0, bytes)?;
            for lane in lanes(&open) {
                let legal = &self.legal[lane];
                let rollout = &mut self.rollouts[lane];
                let weights = &weights[lane / (LANES / weights.len())];
                rollout.starts.push(rollout.legal.len());
                rollout.legal.extend_from_slice(legal);
                let chosen = sample(&mut self.random, legal, weights);
                rollout.plan.push(chosen);
                joint[lane] = chosen as usize;
            }
            self.batch.step(&joint);
        }
        for rollout in &mut self.rollouts {
            rollout.starts.push(rollout.legal.len());
        }
        if self.scoring == Scoring::Points {
            let mut distances = Vec::new();
            // Without time left, the distances no longer matter.
            let _ = self.estimator.estimate(&self.codes, &mut distances);
            for (&lane, &distance) in self.ended.iter().zip(&distances) {
                self.rollouts[lane].value -= i64::from(distance);
            }
        }
        Ok(None)
    }

    /// Collects the legal moves of each lane in `open`.
    fn gather(&mut self, open: &[u64]) {
        self.legal.iter_mut().for_each(Vec::clear);
        for chosen in 0..self.moves {
            for (word, (&legal, &open)) in self.batch.legal(0, chosen).iter().zip(open).enumerate()
            {
                let mut lanes = legal & open;
                while lanes != 0 {
                    let lane = 64 * word + lanes.trailing_zeros() as usize;
                    self.legal[lane].push(chosen as u32);
                    lanes &= lanes - 1;
                }
            }
        }
    }

    /// Ends the lanes whose game is over. Returns a solved lane, if there is any.
    fn close_over(&mut self, open: &mut [u64]) -> Option<usize> {
        let over = self.batch.terminal().iter().zip(open.iter());
        let over: Vec<u64> = over.map(|(over, open)| over & open).collect();
        let over: Vec<usize> = lanes(&over).collect();
        if over.is_empty() {
            return None;
        }
        for value in 0..self.scores.len() {
            let score = self.scores[value];
            let due = self.batch.goal(0, value);
            for &lane in &over {
                if !is_set(due, lane) {
                    continue;
                }
                let rollout = &mut self.rollouts[lane];
                if self.scoring == Scoring::Points {
                    rollout.value = rollout.value.max(POINT * i64::from(score.get()));
                }
                let best = self.best.as_ref();
                let rank = |best: &BestSoFar| (best.score, std::cmp::Reverse(best.plan.len()));
                if best
                    .is_none_or(|best| rank(best) < (score, std::cmp::Reverse(rollout.plan.len())))
                {
                    self.best = Some(BestSoFar {
                        score,
                        plan: rollout.plan.clone(),
                    });
                }
                if score >= self.target {
                    return Some(lane);
                }
            }
        }
        self.close(&over, open);
        None
    }

    /// Ends the lanes that have reached the limit.
    fn close_long(&mut self, open: &mut [u64]) {
        let long = |&lane: &usize| self.rollouts[lane].plan.len() >= self.limit;
        let long: Vec<usize> = lanes(open).filter(long).collect();
        self.is_cut |= !long.is_empty();
        self.close(&long, open);
    }

    /// Ends the lanes that have returned to an earlier state.
    fn close_cycles(&mut self, open: &mut [u64]) {
        let states = self.batch.states(self.rollouts.len());
        let mut again = Vec::new();
        for lane in lanes(open) {
            let key = self.key(&states[lane]);
            if self.visited[lane].contains(&key) {
                self.rollouts[lane].value = -1;
                again.push(lane);
            }
            self.visited[lane].push(key);
        }
        self.close(&again, open);
    }

    /// A hash of a state's key.
    fn key(&self, state: &[u64]) -> u64 {
        let code = self.layout.encode(state);
        let mut left = self.layout.key_bits();
        let mut hasher = StateHasher::default();
        for word in code {
            let mask = u64::MAX.checked_shr(64 - left.min(64) as u32);
            hasher.write_u64(word & mask.unwrap_or(0));
            left = left.saturating_sub(64);
        }
        hasher.finish()
    }

    fn close(&mut self, over: &[usize], open: &mut [u64]) {
        if over.is_empty() {
            return;
        }
        if self.scoring == Scoring::Points {
            let states = self.batch.states(self.rollouts.len());
            for &lane in over {
                self.codes.extend(self.layout.encode(&states[lane]));
            }
        }
        self.ended.extend(over);
        for lane in over {
            open[lane / 64] &= !(1 << (lane % 64));
        }
    }
}

/// Draws a move at random by weight.
fn sample(random: &mut impl RngExt, legal: &[u32], weights: &[f64]) -> u32 {
    let sum: f64 = legal.iter().map(|&chosen| weights[chosen as usize]).sum();
    let mut left = random.random::<f64>() * sum;
    let (last, others) = legal.split_last().expect("some move is legal");
    let drawn = others.iter().find(|&&chosen| {
        left -= weights[chosen as usize];
        left < 0.0
    });
    *drawn.unwrap_or(last)
}

fn is_set(bits: &[u64], lane: usize) -> bool {
    bits[lane / 64] >> (lane % 64) & 1 == 1
}

/// Words in which the bits of the first `count` lanes are set.
fn first(count: usize) -> impl Iterator<Item = u64> {
    (0..LANES / 64).map(move |word| match count.saturating_sub(64 * word) {
        0 => 0,
        some => u64::MAX >> (64 - some.min(64)),
    })
}

/// The lanes whose bits are set.
fn lanes(bits: &[u64]) -> impl Iterator<Item = usize> {
    let words = bits.iter().enumerate();
    words.flat_map(|(number, &word)| {
        (0..64)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| 64 * number + bit)
    })
}
