//! Games that one evaluation plays against itself, hundreds at a time.
//!
//! In: an evaluation. Out: finished games with a target value for each position.
//! The target mixes the final score with the values found by one ply of look-ahead
//! (TD(λ)); it does not look beyond a random move.
//!
//! Sources: Sutton, "Learning to predict by the methods of temporal differences",
//! 1988; Watkins, "Learning from delayed rewards", 1989 (traces end at moves that
//! explore); Veness et al., "Bootstrapping from game tree search", 2009.

use ggp_engine::propnet::batch::Packed;
use ggp_stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::expansion::{Expansion, best};
use crate::positions::Positions;
use crate::samples::Samples;
use crate::values::Values;

/// Parameters of self-play.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Play {
    /// The number of games at a time.
    pub games: usize,
    /// The probability that all roles move at random.
    pub epsilon: f32,
    /// The spread of the noise on values, in logarithms of odds.
    pub noise: f32,
    /// The maximum number of random joint moves at the start of a game.
    pub opening: u32,
    /// The share of the later value in a target; the rest is the value of the best
    /// child.
    pub lambda: f32,
    /// True if targets do not look beyond random moves.
    pub cuts: bool,
    /// The maximum number of joint moves; a longer game counts as half a win.
    pub depth: u32,
}

/// The memory of a state apart from its bits.
const STATE_OVERHEAD: usize = 64;
/// The least number of games at a time.
const FEWEST_GAMES: usize = 16;

/// A game in progress.
#[derive(Clone, Debug)]
struct Line {
    state: Packed,
    /// The random moves still to make.
    opening: u32,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    state: Packed,
    /// By output: the value of the best child.
    backed: Vec<f32>,
    is_random: bool,
}

/// Games in progress.
#[derive(Debug)]
pub(crate) struct SelfPlay {
    pub positions: Positions,
    play: Play,
    lines: Vec<Line>,
    pub random: Xoshiro256PlusPlus,
    /// The most moves of a position that are compared.
    most_moves: usize,
    /// The number of finished games.
    pub finished: u64,
    /// The number of positions evaluated.
    pub evaluated: u64,
}

impl SelfPlay {
    /// Begins games. Positions and children of all games together take about `bytes`
    /// of memory.
    pub fn new(positions: Positions, mut play: Play, seed: u64, bytes: usize) -> SelfPlay {
        let of_state = 8 * positions.initial().len() + STATE_OVERHEAD;
        let of_game = of_state * play.depth as usize;
        play.games = play.games.min(bytes / of_game).max(FEWEST_GAMES);
        let most_moves = (bytes / play.games / of_state).max(2);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let lines = (0..play.games).map(|_| line(&positions, &play, &mut random));
        SelfPlay {
            lines: lines.collect(),
            positions,
            play,
            random,
            most_moves,
            finished: 0,
            evaluated: 0,
        }
    }

    /// Makes one joint move in every game. Positions of finished games are added to
    /// `out`. Games stay as they are if `stop` is over.
    pub fn advance(&mut self, values: &Values, out: &mut Samples, stop: &Stop) {
        let states: Vec<Packed> = self.lines.iter().map(|line| line.state.clone()).collect();
        let status = self.positions.status(&states);
        let mut has_ended = vec![false; states.len()];
        for (index, has_ended) in has_ended.iter_mut().enumerate() {
            let is_long = self.lines[index].steps.len() >= self.play.depth as usize;
            let ending = if status.is_over(index) {
                outputs(values, status.scores(index))
            } else if status.is_stuck(index) || is_long {
                vec![0.5; values.outputs]
            } else {
                continue;
            };
            *has_ended = true;
            self.finish(index, ending, out);
        }
        let lines = &self.lines;
        let expansion = Expansion::new(
            &mut self.positions,
            &states,
            &status,
            |position, _| !has_ended[position] && lines[position].opening == 0,
            self.most_moves,
            &mut self.random,
            stop,
        );
        let Some(mut expansion) = expansion else {
            return;
        };
        let worths = expansion.worths(values);
        self.evaluated += worths.len() as u64;
        let choices = std::mem::take(&mut expansion.choices);
        let mut backed: Vec<Option<Vec<f32>>> = vec![None; states.len()];
        let mut is_random = vec![false; states.len()];
        for choice in &choices {
            let worths = &worths[choice.children.clone()];
            let found = best(worths, &mut self.random);
            backed[choice.position] =
                Some(self.backed(values, &expansion, choice, found, worths[found]));
            if self.random.random::<f32>() < self.play.epsilon {
                is_random[choice.position] = true;
                continue;
            }
            let chosen = match self.play.noise > 0.0 {
                true => noisy_best(worths, self.play.noise, &mut self.random),
                false => found,
            };
            let chosen = expansion.moves[choice.children.start + chosen];
            expansion.choose(choice.position, choice.role, chosen);
        }
        let next = self.positions.step(&states, expansion.joints());
        for (index, next) in next.into_iter().enumerate() {
            if has_ended[index] {
                continue;
            }
            let line = &mut self.lines[index];
            let state = std::mem::replace(&mut line.state, next);
            if line.opening > 0 {
                line.opening -= 1;
                continue;
            }
            let backed = backed[index].take().unwrap_or_else(|| {
                let mut shares = vec![0.0; values.roles];
                values.shares(&line.state, &mut shares);
                shares.truncate(values.outputs);
                shares
            });
            line.steps.push(Step {
                state,
                backed,
                is_random: is_random[index],
            });
        }
    }

    /// By output: the value of the best child of a choice.
    fn backed(
        &self,
        values: &Values,
        expansion: &Expansion,
        choice: &crate::expansion::Choice,
        found: usize,
        worth: f32,
    ) -> Vec<f32> {
        if values.outputs == 1 {
            return vec![if choice.role == 0 { worth } else { 1.0 - worth }];
        }
        let child = choice.children.start + found;
        match expansion.ends.binary_search_by_key(&child, |end| end.0) {
            Ok(end) => outputs(values, &expansion.ends[end].1),
            Err(_) => {
                let mut shares = vec![0.0; values.roles];
                values.shares(&expansion.children[child], &mut shares);
                shares
            }
        }
    }

    /// Records a finished game and begins another one.
    fn finish(&mut self, index: usize, ending: Vec<f32>, out: &mut Samples) {
        let fresh = line(&self.positions, &self.play, &mut self.random);
        let line = std::mem::replace(&mut self.lines[index], fresh);
        let lambda = self.play.lambda;
        let mut target = ending;
        for step in line.steps.iter().rev() {
            let later = match step.is_random && self.play.cuts {
                true => 0.0,
                false => lambda,
            };
            for (target, backed) in target.iter_mut().zip(&step.backed) {
                *target = later * *target + (1.0 - later) * backed;
            }
            out.push(&step.state, &target);
        }
        self.finished += 1;
    }
}

fn line(positions: &Positions, play: &Play, random: &mut Xoshiro256PlusPlus) -> Line {
    Line {
        state: positions.initial(),
        opening: random.random_range(0..=play.opening),
        steps: Vec::new(),
    }
}

/// The values that are learned, given all scores.
fn outputs(values: &Values, scores: &[f32]) -> Vec<f32> {
    scores[..values.outputs].to_vec()
}

/// The index of the largest value after noise is added to the logarithms of the
/// odds. The noise is Gumbel's, so this draws from the softmax distribution.
fn noisy_best(values: &[f32], noise: f32, random: &mut Xoshiro256PlusPlus) -> usize {
    let mut found = (0, f32::NEG_INFINITY);
    for (index, &value) in values.iter().enumerate() {
        let value = value.clamp(1e-6, 1.0 - 1e-6);
        let odds = (value / (1.0 - value)).ln();
        let uniform: f32 = random.random_range(1e-9..1.0);
        let key = odds - noise * (-uniform.ln()).ln();
        if key > found.1 {
            found = (index, key);
        }
    }
    found.0
}
