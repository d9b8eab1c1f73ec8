//! The agent for games that one role decides: plan first, then play the plan.

use std::time::Duration;

use super::{Advice, Agent, Backends, Brief, MctsAgent, Pace, PlayerError};
use crate::game::{Move, Score};
use crate::machine::PlayError;
use crate::search::{Budget, Stats, Verdict};
use crate::solve::{Checker, SolveError, SolveOptions, solve_best_from};

/// Of the time for a move, the part that goes into looking for plans as long as
/// there is none worth anything; the rest goes into simulations.
const PLANNING: f64 = 0.6;
/// Time that is left for a search to come to its end.
const SLACK: Duration = Duration::from_millis(50);

/// Keeps the best line that was ever found and plays it, and looks for a better
/// one as long as there may be one. Where none is known that is worth anything,
/// it asks Monte Carlo tree search.
#[derive(Debug)]
pub struct PuzzleAgent {
    brief: Brief,
    backends: Option<Backends>,
    line: Option<Line>,
    sampler: MctsAgent,
    /// Positions looked at for the current move.
    nodes: u64,
}

/// Moves from the beginning of the match to an end.
#[derive(Debug)]
struct Line {
    moves: Vec<Move>,
    score: Score,
    /// Whether no line is worth more.
    is_best: bool,
}

impl PuzzleAgent {
    /// An agent for a game of one role.
    pub fn new(brief: Brief) -> Self {
        let sampler = MctsAgent::new(brief.clone(), &[]).expect("it is given no options");
        PuzzleAgent {
            brief,
            backends: None,
            line: None,
            sampler,
            nodes: 0,
        }
    }

    fn backends(&mut self) -> Result<&mut Backends, PlayError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::new(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }

    /// Looks for a better line from the state after some moves.
    fn improve(&mut self, played: &[Vec<Move>], budget: Budget) -> Result<(), PlayerError> {
        let options = SolveOptions {
            budget,
            seed: self.brief.seed,
            threads: self.brief.threads,
            // What a move leads to is found out by making it.
            checker: Checker::Nobody,
            ..SolveOptions::default()
        };
        let backends = self.backends()?;
        let state = backends.state_after(played)?;
        let (machine, stats) = (backends.machine().clone(), &mut Stats::default());
        let answer = match solve_best_from(&machine, &state, &options, stats, &mut ()) {
            Ok(answer) => answer,
            Err(SolveError::Play(error)) => return Err(error.into()),
            Err(error) => return Err(PlayerError::Other(error.into())),
        };
        self.nodes += stats
            .levels
            .iter()
            .map(|level| level.counts.expanded)
            .sum::<u64>();
        let found = match answer.verdict {
            Verdict::Solved { mut plans, .. } => {
                let is_best = answer.target == Score::MAX || answer.bound == Some(answer.target);
                plans.pop().map(|plan| (plan, answer.target, is_best))
            }
            _ => answer
                .best
                .map(|end| (end.plan, end.score, answer.bound == Some(end.score))),
        };
        let known = self.line.as_ref().map(|line| line.score);
        if let Some((plan, score, is_best)) = found
            && (known.is_none_or(|known| score > known) || is_best)
        {
            let made = played.iter().map(|joint| joint[0]);
            self.line = Some(Line {
                moves: made.chain(plan).collect(),
                score,
                is_best,
            });
        }
        Ok(())
    }

    /// The next move of the line.
    fn advice(&self, made: usize) -> Option<Advice> {
        let line = self.line.as_ref()?;
        let score = f64::from(line.score.get());
        Some(Advice {
            value: Some(score),
            bounds: (score, if line.is_best { score } else { 100.0 }),
            nodes: self.nodes,
            ..Advice::of(*line.moves.get(made)?)
        })
    }

    /// What is left of the pace for planning: a part of it, if it ends.
    fn budget(&self, pace: &Pace, part: f64) -> Budget {
        let mut budget = pace.budget(self.brief.memory_bytes);
        budget.time = budget
            .time
            .map(|time| time.mul_f64(part).saturating_sub(SLACK));
        budget
    }
}

impl Agent for PuzzleAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.backends()?.wait(pace);
        match pace.deadline() {
            Some(_) => self.improve(&[], self.budget(pace, 1.0)),
            None => Ok(()),
        }
    }

    fn choose(&mut self, played: &[Vec<Move>], pace: &Pace) -> Result<Advice, PlayerError> {
        self.nodes = 0;
        self.backends()?.poll();
        let made = played.iter().map(|joint| joint[0]);
        let is_on_it = |line: &Line| {
            line.moves
                .iter()
                .copied()
                .take(played.len())
                .eq(made.clone())
        };
        self.line = self.line.take().filter(is_on_it);
        if let Some(advice) = self.advice(played.len()) {
            if self.line.as_ref().is_some_and(|line| line.is_best) {
                return Ok(advice);
            }
            pace.publish(advice);
        }
        let part = match &self.line {
            Some(line) if line.score.get() > 0 => 1.0,
            _ => PLANNING,
        };
        self.improve(played, self.budget(pace, part))?;
        let line = self.line.as_ref();
        let is_good = line.is_some_and(|line| line.is_best || line.score.get() > 0);
        match self.advice(played.len()).filter(|_| is_good) {
            Some(advice) => Ok(advice),
            None => self.sampler.choose(played, pace),
        }
    }
}
