//! The agent that searches by simulation.

use super::{Advice, Agent, Backends, Brief, Pace, PlayerError};
use crate::game::Move;
use crate::machine::{Machine, PlayError};
use crate::search::Stats;
use crate::search::mcts::{GameProblem, Mcts, mcts};

/// A machine as the tree search sees it.
#[derive(Debug)]
pub struct Simulation<'m, M>(pub &'m mut M);

impl<M: Machine> GameProblem for Simulation<'_, M> {
    type State = M::State;
    type Move = Move;
    type Error = PlayError;

    fn roles(&self) -> usize {
        self.0.game().role_count()
    }

    fn is_terminal(&mut self, state: &M::State) -> Result<bool, PlayError> {
        self.0.is_terminal(state)
    }

    fn legal(
        &mut self,
        state: &M::State,
        role: usize,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        let role = self.0.game().roles().nth(role).expect("a role of the game");
        match self.0.legal(state, role, out) {
            // It concerns the match only if the match gets there.
            Err(PlayError::NoLegalMove(_)) => {
                out.clear();
                Ok(())
            }
            other => other,
        }
    }

    fn next(&mut self, state: &M::State, joint: &[Move]) -> Result<M::State, PlayError> {
        self.0.next(state, joint)
    }

    fn goals(&mut self, state: &M::State, out: &mut [f64]) -> Result<(), PlayError> {
        for (role, value) in self.0.game().roles().zip(out) {
            *value = match self.0.goal(state, role) {
                Ok(score) => score.get().into(),
                // A state without a valid score is worth nothing to the role.
                Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
                    0.0
                }
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

/// Plays the move that Monte Carlo tree search visits most.
#[derive(Debug)]
pub struct MctsAgent {
    brief: Brief,
    options: Mcts,
    backends: Option<Backends>,
    moves: u64,
}

impl MctsAgent {
    /// An agent with these options, by name: `exploration`.
    ///
    /// # Errors
    ///
    /// If there is no such option, or it has no such value.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, String> {
        let mut options = Mcts {
            iterations: u64::MAX,
            seed: brief.seed,
            ..Mcts::default()
        };
        for (name, value) in settings {
            match &name[..] {
                "exploration" => {
                    let weight = value.parse().ok().filter(|w| (0.0..=100.0).contains(w));
                    options.exploration =
                        weight.ok_or_else(|| format!("exploration is not `{value}`"))?;
                }
                _ => return Err(format!("there is no option `{name}`")),
            }
        }
        Ok(MctsAgent {
            brief,
            options,
            backends: None,
            moves: 0,
        })
    }

    fn backends(&mut self) -> Result<&mut Backends, PlayError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::new(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }
}

impl Agent for MctsAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.backends()?.wait(pace);
        Ok(())
    }

    fn choose(&mut self, played: &[Vec<Move>], pace: &Pace) -> Result<Advice, PlayerError> {
        let options = Mcts {
            // Each search shall draw other playouts.
            seed: self.options.seed.wrapping_add(self.moves),
            ..self.options
        };
        self.moves += 1;
        let (role, budget) = (self.brief.role, pace.budget(self.brief.memory_bytes));
        let backends = self.backends()?;
        backends.poll();
        let state = backends.state_after(played)?;
        let stats = &mut Stats::default();
        let mut game = Simulation(backends.machine());
        let report = mcts(&mut game, &state, &options, &budget, stats, &mut ())?;
        let found = &report.roles[role.index()];
        let best = found.best().ok_or(PlayError::Interrupted)?;
        Ok(Advice {
            value: Some(best.mean),
            nodes: report.iterations,
            ..Advice::of(best.action)
        })
    }
}
