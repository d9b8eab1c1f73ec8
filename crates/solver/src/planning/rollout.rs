//! Games played to their ends by hundreds, one a lane.
//!
//! In: where each lane begins, and how gladly each move is chosen. Out: the lines
//! played and what they are worth; the best of all is kept. What samplings have
//! in common is here, and how they choose is theirs.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHasher;
use std::hash::Hasher;

use super::estimate::{Estimate, Estimator};
use super::expand::{Facts, Layout};
use super::{BestSoFar, Plan, Puzzle};
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::game::Score;
use ggp_search::{Budget, BudgetKind, Meter};

/// What lines are worth.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Scoring {
    /// The points at the end; of equal ones, where fewer facts would have to
    /// change.
    #[default]
    Points,
    /// A state that the line was in before counts −1 and ends it; the limit
    /// counts 0, and so does an end that is no solution; a solution counts the
    /// limit − its moves + 1: of those met at once the shortest is taken.
    Length,
}

/// What samplings have in common.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// What lines are worth.
    pub scoring: Scoring,
    /// The most moves of a line.
    pub longest: usize,
    /// For what is chosen by chance.
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

/// Lanes of a batch.
pub(super) const LANES: usize = 512;
/// A point is worth more than any number of facts.
const POINT: i64 = 1 << 17;

/// Where a lane begins, and the moves that lead there.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    pub state: Packed,
    pub plan: Plan,
}

/// A line that was played.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// From the beginning of the game.
    pub plan: Plan,
    /// The moves among which each was chosen, from the lane's start on; where
    /// those of each begin, and where the last end.
    pub legal: Vec<u32>,
    pub starts: Vec<usize>,
    pub value: i64,
}

/// How gladly moves are chosen.
pub(super) enum Policy<'p> {
    /// All alike.
    Uniform,
    /// By group of neighbouring lanes and by move: the weight.
    Weights(&'p [Vec<f64>]),
}

/// Plays lines.
pub(super) struct Rollouts {
    pub random: Xoshiro256PlusPlus,
    pub best: Option<BestSoFar>,
    /// The most moves of a line.
    pub limit: usize,
    /// Whether the limit ended a line.
    pub is_cut: bool,
    batch: Batch,
    layout: Layout,
    estimator: Estimator,
    /// By goal value, in the network's order.
    scores: Vec<Score>,
    target: Score,
    scoring: Scoring,
    lines: Vec<Line>,
    /// By lane: its legal moves.
    legal: Vec<Vec<u32>>,
    /// By lane: what stands for the states it was in.
    been: Vec<Vec<u64>>,
    /// Lanes that have ended, and the codes of their states.
    ended: Vec<usize>,
    codes: Vec<u64>,
    moves: usize,
}

impl Rollouts {
    pub fn new(puzzle: &Puzzle, how: &Sampling, budget: &Budget) -> Rollouts {
        let net = &puzzle.net;
        let terms = net.terms();
        let nothing = Score::new(0).expect("it is a score");
        let scores = net.goals()[0].iter();
        let scores = scores.map(|&(value, _)| net.game().score(&terms, value).unwrap_or(nothing));
        let layout = Layout::new(puzzle, Facts::Relevant);
        Rollouts {
            random: Xoshiro256PlusPlus::seed_from_u64(how.seed),
            best: None,
            limit: how.longest.min(budget.depth as usize),
            is_cut: false,
            batch: Batch::new(net, LANES, Engine::Auto),
            estimator: Estimator::new(puzzle, &layout, Estimate::GoalCount),
            layout,
            scores: scores.collect(),
            target: puzzle.target,
            scoring: how.scoring,
            lines: Vec::new(),
            legal: vec![Vec::new(); LANES],
            been: vec![Vec::new(); LANES],
            ended: Vec::new(),
            codes: Vec::new(),
            moves: puzzle.moves(),
        }
    }

    /// The lines of the last play.
    pub fn lines(&mut self) -> &mut [Line] {
        &mut self.lines
    }

    /// The states after one move each.
    pub fn step(&mut self, states: &[Packed], moves: &[usize]) -> Vec<Packed> {
        self.batch.set_states(states);
        self.batch.step(moves);
        self.batch.states(states.len())
    }

    /// The legal moves in some states; none where the game is over.
    pub fn legal(&mut self, states: &[Packed]) -> Vec<Vec<u32>> {
        let mut all = Vec::with_capacity(states.len());
        for states in states.chunks(LANES) {
            self.batch.set_states(states);
            let over = self.batch.terminal().to_vec();
            let open: Vec<u64> = first(states.len()).zip(over).map(|(a, b)| a & !b).collect();
            self.gather(&open);
            all.extend_from_slice(&self.legal[..states.len()]);
        }
        all
    }

    /// Plays a line in each lane. A solution, if one is met.
    ///
    /// # Panics
    ///
    /// If there are more starts than lanes.
    pub fn play(
        &mut self,
        starts: &[Start],
        policy: &Policy<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Plan>, BudgetKind> {
        let count = starts.len();
        let states: Vec<Packed> = starts.iter().map(|start| start.state.clone()).collect();
        self.batch.set_states(&states);
        self.lines.resize_with(count, Line::default);
        for (line, start) in self.lines.iter_mut().zip(starts) {
            line.plan.clone_from(&start.plan);
            line.legal.clear();
            line.starts.clear();
            line.value = 0;
        }
        self.been.iter_mut().for_each(Vec::clear);
        self.ended.clear();
        self.codes.clear();
        let mut open: Vec<u64> = first(count).collect();
        let mut joint = vec![0; count];
        loop {
            if let Some(lane) = self.close_over(&mut open) {
                meter.level().counts.solutions += 1;
                return Ok(Some(self.lines[lane].plan.clone()));
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
            meter.spend(left, left, 0, 0)?;
            for lane in lanes(&open) {
                let legal = &self.legal[lane];
                let line = &mut self.lines[lane];
                let chosen = match policy {
                    Policy::Uniform => legal[self.random.random_range(0..legal.len())],
                    Policy::Weights(groups) => {
                        let weights = &groups[lane / (LANES / groups.len())];
                        line.starts.push(line.legal.len());
                        line.legal.extend_from_slice(legal);
                        draw(&mut self.random, legal, weights)
                    }
                };
                line.plan.push(chosen);
                joint[lane] = chosen as usize;
            }
            self.batch.step(&joint);
        }
        for line in &mut self.lines {
            line.starts.push(line.legal.len());
        }
        if self.scoring == Scoring::Points {
            let mut distances = Vec::new();
            self.estimator.estimate(&self.codes, &mut distances);
            for (&lane, &distance) in self.ended.iter().zip(&distances) {
                self.lines[lane].value -= i64::from(distance);
            }
        }
        Ok(None)
    }

    /// By lane of `open`: its legal moves.
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

    /// Ends lanes whose game is over. One that is solved, if there is any.
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
                let line = &mut self.lines[lane];
                if self.scoring == Scoring::Points {
                    line.value = line.value.max(POINT * i64::from(score.get()));
                }
                let best = self.best.as_ref();
                let rank = |best: &BestSoFar| (best.score, std::cmp::Reverse(best.plan.len()));
                if best.is_none_or(|best| rank(best) < (score, std::cmp::Reverse(line.plan.len())))
                {
                    self.best = Some(BestSoFar {
                        score,
                        plan: line.plan.clone(),
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

    /// Ends lanes that have reached the limit.
    fn close_long(&mut self, open: &mut [u64]) {
        let long = |&lane: &usize| self.lines[lane].plan.len() >= self.limit;
        let long: Vec<usize> = lanes(open).filter(long).collect();
        self.is_cut |= !long.is_empty();
        self.close(&long, open);
    }

    /// Ends lanes that are where they were before.
    fn close_cycles(&mut self, open: &mut [u64]) {
        let states = self.batch.states(self.lines.len());
        let mut again = Vec::new();
        for lane in lanes(open) {
            let key = self.key(&states[lane]);
            if self.been[lane].contains(&key) {
                self.lines[lane].value = -1;
                again.push(lane);
            }
            self.been[lane].push(key);
        }
        self.close(&again, open);
    }

    /// What stands for a state.
    fn key(&self, state: &[u64]) -> u64 {
        let code = self.layout.encode(state);
        let mut left = self.layout.key_bits();
        let mut hasher = FxHasher::default();
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
            let states = self.batch.states(self.lines.len());
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

/// A move by weight.
fn draw(random: &mut impl RngExt, legal: &[u32], weights: &[f64]) -> u32 {
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

/// Rows in which the first so many lanes are set.
fn first(count: usize) -> impl Iterator<Item = u64> {
    (0..LANES / 64).map(move |word| match count.saturating_sub(64 * word) {
        0 => 0,
        some => u64::MAX >> (64 - some.min(64)),
    })
}

/// The lanes that are set.
fn lanes(bits: &[u64]) -> impl Iterator<Item = usize> {
    let words = bits.iter().enumerate();
    words.flat_map(|(number, &word)| {
        (0..64)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| 64 * number + bit)
    })
}
