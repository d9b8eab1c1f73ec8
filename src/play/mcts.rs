//! The player that searches by simulation.

use super::{Choice, Player, PlayerError, Turn};
use crate::game::Move;
use crate::machine::{Machine, PlayError};
use crate::search::mcts::{GameProblem, Mcts, MctsReport, mcts};
use crate::search::{Budget, BudgetKind, Stats};

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
#[derive(Clone, Debug)]
pub struct MctsPlayer {
    options: Mcts,
    budget: Budget,
    moves: u64,
}

impl MctsPlayer {
    /// A player that may spend the budget on each move. Without a limit on
    /// time, equal seeds give equal choices.
    pub fn new(options: Mcts, budget: Budget) -> Self {
        MctsPlayer {
            options,
            budget,
            moves: 0,
        }
    }

    /// What the search finds in a state.
    ///
    /// # Errors
    ///
    /// Whatever play shows to be wrong with the rules, but for scores and
    /// missing moves in states that the match may never reach; or
    /// [`PlayError::Interrupted`].
    pub fn report<M: Machine>(
        &mut self,
        machine: &mut M,
        state: &M::State,
    ) -> Result<MctsReport<Move>, PlayError> {
        let options = Mcts {
            // Each search shall draw other playouts.
            seed: self.options.seed.wrapping_add(self.moves),
            ..self.options
        };
        self.moves += 1;
        let mut game = Simulation(machine);
        let stats = &mut Stats::default();
        let report = mcts(&mut game, state, &options, &self.budget, stats, &mut ())?;
        match report.stopped {
            BudgetKind::Interrupt => Err(PlayError::Interrupted),
            _ => Ok(report),
        }
    }
}

impl<M: Machine> Player<M> for MctsPlayer {
    fn choose(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        let report = self.report(machine, turn.history.state())?;
        let best = report.roles[turn.role.index()].best();
        Ok(Choice::Play(best.map_or(turn.legal[0], |best| best.action)))
    }
}
