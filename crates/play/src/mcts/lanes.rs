//! A network as the tree search sees it: hundreds of states at a time.

use std::convert::Infallible;

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{MoveSum, Record, RolloutOptions, Rollouts, learned_levels};
use ggp_search::mcts::{Ahead, Sample, Seen, Simulator, View, Views};

/// States that are asked and changed together.
const LANES: usize = 256;
/// The most gates with which it costs little to look at all that can follow.
const SMALL: usize = 50_000;

/// Bits of what playouts have learned of a move.
const LEVEL_BITS: u32 = 3;
/// Playouts between lessons.
const LESSON: u64 = 4_096;
/// A move counts as one made in so many playouts more, each worth as much as all
/// moves on average.
const PRIOR: u64 = 16;

/// How playouts learn which moves are worth more.
///
/// Source: Finnsson and Björnsson, "Learning simulation control in general
/// game-playing agents", 2010; Tak, Winands and Björnsson, "N-grams and the
/// last-good-reply policy applied in general game playing", 2012, and "Decaying
/// simulation strategies", 2014.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Learning {
    /// How often any legal move may be made.
    pub epsilon: f64,
    /// How much of what was learned counts after the next move of the game.
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

/// A game in lanes. Moves are positions in [`Propnet::moves`].
#[derive(Clone, Debug)]
pub struct Lanes {
    batch: Batch,
    rollouts: Rollouts,
    chance: Vec<bool>,
    /// By role and goal value: the score, 0 where the rules' value is none.
    scores: Vec<Vec<u8>>,
    range: Vec<[u8; 2]>,
    is_small: bool,
    learning: Option<Learning>,
    /// Whether it tells which moves playouts made.
    tells_moves: bool,
    /// Playouts since the last lesson.
    unlearned: u64,
}

impl Lanes {
    /// Compiles the network. Playouts are cut after so many joint moves; which moves
    /// they made is told if wanted.
    pub fn new(
        net: &Propnet,
        engine: Engine,
        depth: u32,
        learning: Option<Learning>,
        tells_moves: bool,
        seed: u64,
    ) -> Self {
        let (game, terms) = (net.game(), net.terms());
        let score = |value: &(_, _)| game.score(&terms, value.0).map_or(0, |score| score.get());
        let scores = |role: &Vec<_>| role.iter().map(score).collect::<Vec<u8>>();
        let scores: Vec<Vec<u8>> = net.goals().iter().map(scores).collect();
        let range = |scores: &Vec<u8>| {
            [
                // Ends without a score are worth nothing.
                0,
                scores.iter().copied().max().unwrap_or(100),
            ]
        };
        let options = RolloutOptions {
            engine,
            depth: Some(depth.into()),
            level_bits: learning.map_or(0, |_| LEVEL_BITS),
            record: match learning.is_some() || tells_moves {
                true => Record::Moves,
                false => Record::Nothing,
            },
            by_state: tells_moves,
            ..RolloutOptions::default()
        };
        let mut rollouts = Rollouts::new(net, &options, seed);
        if let Some(learning) = learning {
            rollouts.set_exploration(learning.epsilon);
        }
        Lanes {
            batch: Batch::new(net, LANES, engine),
            rollouts,
            learning,
            tells_moves,
            unlearned: 0,
            chance: game.roles().map(|role| game.is_random(role)).collect(),
            range: scores.iter().map(range).collect(),
            scores,
            is_small: net.network().gates() <= SMALL,
        }
    }

    /// The same for another thread, with other random numbers. It learns for itself.
    pub fn another(&self, seed: u64) -> Self {
        let mut other = self.clone();
        other.rollouts.reseed(seed);
        other
    }

    /// Has what playouts have learned count for less, as the game goes on.
    pub fn fade(&mut self) {
        if let Some(learning) = self.learning {
            self.rollouts.fade_moves(learning.fade);
        }
    }

    /// Has playouts choose by what they have learned so far.
    fn learn(&mut self) {
        for role in 0..self.scores.len() {
            let sums = self.rollouts.moves(role);
            let levels = learned_levels(&sobered(sums), LEVEL_BITS);
            self.rollouts.set_levels(role, &levels);
        }
    }

    /// The scores of a lane whose game is over.
    fn goals(&mut self, lane: usize, out: &mut Vec<u8>) {
        for (role, scores) in self.scores.iter().enumerate() {
            let mut due = self.batch.goal_values(lane, role);
            out.push(match (due.next(), due.next()) {
                (Some(value), None) => scores[value],
                _ => 0,
            });
        }
    }

    /// What there is to see of so many lanes.
    fn look_at(&mut self, count: usize, out: &mut Views<u32>) {
        let roles = self.scores.len();
        let over: Vec<u64> = self.batch.terminal().to_vec();
        let is_over = |lane: usize| over[lane / 64] >> (lane % 64) & 1 == 1;
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
        for (lane, lists) in lists.chunks(roles).enumerate() {
            let view = match is_over(lane) {
                true => View::End,
                false if lists.iter().any(Vec::is_empty) => View::Stuck,
                false => View::Open,
            };
            out.views.push(view);
            for list in lists {
                let is_open = view == View::Open;
                out.counts.push(if is_open { list.len() as u32 } else { 0 });
                if is_open {
                    out.moves.extend_from_slice(list);
                }
            }
            match view {
                View::End => self.goals(lane, &mut out.goals),
                _ => out.goals.resize(out.goals.len() + roles, 0),
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

    fn step(&mut self, states: &[Packed], joints: &[u32]) -> Result<Vec<Packed>, Infallible> {
        let mut next = Vec::with_capacity(states.len());
        let joints = joints.chunks(LANES * self.scores.len());
        for (states, joints) in states.chunks(LANES).zip(joints) {
            self.batch.set_states(states);
            let joints: Vec<usize> = joints.iter().map(|&chosen| chosen as usize).collect();
            self.batch.step(&joints);
            next.append(&mut self.batch.states(states.len()));
        }
        Ok(next)
    }

    fn look(&mut self, states: &[Packed], out: &mut Views<u32>) -> Result<(), Infallible> {
        for states in states.chunks(LANES) {
            self.batch.set_states(states);
            self.look_at(states.len(), out);
        }
        Ok(())
    }

    fn looks_ahead(&self) -> bool {
        self.is_small
    }

    fn ahead(
        &mut self,
        states: &[Packed],
        joints: &[u32],
    ) -> Result<Vec<Ahead<Packed>>, Infallible> {
        let mut ends = Vec::new();
        let joints = joints.chunks(LANES * self.scores.len());
        for (part, (states, joints)) in states.chunks(LANES).zip(joints).enumerate() {
            self.batch.set_states(states);
            let joints: Vec<usize> = joints.iter().map(|&chosen| chosen as usize).collect();
            self.batch.step(&joints);
            let over: Vec<u64> = self.batch.terminal().to_vec();
            for lane in (0..states.len()).filter(|lane| over[lane / 64] >> (lane % 64) & 1 == 1) {
                let mut goals = Vec::with_capacity(self.scores.len());
                self.goals(lane, &mut goals);
                ends.push(Ahead {
                    index: part * LANES + lane,
                    state: self.batch.state(lane),
                    goals,
                });
            }
        }
        Ok(ends)
    }

    fn playouts(
        &mut self,
        states: &[Packed],
        each: u32,
        _seed: u64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<u32>>, Infallible> {
        let mut proceed = || match proceed() {
            true => Proceed::On,
            false => Proceed::Drop,
        };
        let outcomes = self.rollouts.run(states, each, &mut proceed);
        let mut made = 0;
        let samples = outcomes.iter().map(|outcome| {
            let undecided = outcome.stuck + outcome.cut;
            let worth = |sum: &ggp_engine::propnet::rollouts::Sum| {
                // Everybody gets half where nothing is decided.
                sum.total as f64 + 50.0 * undecided as f64
            };
            made += outcome.playouts;
            Sample {
                playouts: outcome.playouts + undecided + outcome.faulty,
                sums: outcome.scores.iter().map(worth).collect(),
                ended: undecided + outcome.faulty == 0,
                line: None,
                seen: Vec::new(),
            }
        });
        let mut samples: Vec<Sample<u32>> = samples.collect();
        if self.tells_moves {
            for (sample, made) in samples.iter_mut().zip(self.rollouts.made()) {
                let all = sample.playouts as f32;
                sample.seen.extend(made.iter().map(|made| Seen {
                    role: made.role as u16,
                    action: made.index as u32,
                    share: made.sum.playouts as f32 / all,
                    worth: made.sum.total as f32 / all,
                }));
            }
        }
        self.unlearned += made;
        if self.learning.is_some() && self.unlearned >= LESSON {
            self.unlearned = 0;
            self.learn();
        }
        Ok(samples)
    }

    fn state_heap_bytes(&self, state: &Packed) -> u64 {
        // With what the allocator keeps beside it.
        state.len() as u64 * 8 + 16
    }
}

/// Moves of a role, those made in a few playouts closer to the average.
fn sobered(sums: &[MoveSum]) -> Vec<MoveSum> {
    let all = sums.iter().fold(MoveSum::default(), |all, sum| MoveSum {
        playouts: all.playouts + sum.playouts,
        total: all.total + sum.total,
    });
    let share = (PRIOR as f64 * all.mean().unwrap_or(0.0)).round() as u64;
    let sober = |sum: &MoveSum| MoveSum {
        playouts: sum.playouts + PRIOR,
        total: sum.total + share,
    };
    sums.iter().map(sober).collect()
}

#[cfg(test)]
mod tests;
