//! The JSON output of a match or a playout.

use serde::Serialize;

use super::format::{self, Goal};
use ggp_engine::machine::{Machine, PlayError, canonical_facts};
use ggp_gdl::game::Move;
use ggp_play::History;

/// A match or a playout, step by step.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The seed of random choices, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The roles in order. Other lists by role have the same order.
    pub roles: Vec<String>,
    /// The states before the last one.
    pub steps: Vec<StepRecord>,
    /// The last state.
    pub last: StateRecord,
    /// True if the last state is terminal.
    pub terminal: bool,
    /// The scores in the last state; absent if the game is not over.
    pub goals: Option<Vec<Goal>>,
    /// The choice among several goal values, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_choice: Option<&'static str>,
    /// The reason for the end: `terminal`, `depth`, `quit`, `interrupted` or `error`.
    pub end: &'static str,
}

/// A state.
#[derive(Clone, Debug, Serialize)]
pub struct StateRecord {
    /// The number of facts.
    pub facts: usize,
    /// Texts of the facts, sorted, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Vec<String>>,
}

/// A state and the joint move made in it.
#[derive(Clone, Debug, Serialize)]
pub struct StepRecord {
    /// The state.
    #[serde(flatten)]
    pub state: StateRecord,
    /// The number of legal moves of each role.
    pub legal: Vec<usize>,
    /// The move of each role.
    pub joint: Vec<String>,
    /// The percepts of each role, if the rules have `sees`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sees: Option<Vec<Vec<String>>>,
}

/// True if a record lists the facts of its states.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Facts {
    /// The record has only the number of facts.
    Counted,
    /// The record lists all facts.
    Listed,
}

impl StateRecord {
    /// The record of a state.
    pub fn new<M: Machine>(machine: &M, state: &M::State, facts: Facts) -> Self {
        StateRecord {
            facts: machine.facts(state).len(),
            state: (facts == Facts::Listed).then(|| canonical_facts(machine, state)),
        }
    }
}

impl StepRecord {
    /// The record of a state and a joint move made in it.
    ///
    /// # Errors
    ///
    /// If a role has no legal move.
    pub fn new<M: Machine>(
        machine: &mut M,
        state: &M::State,
        joint: &[Move],
        facts: Facts,
    ) -> Result<Self, PlayError> {
        let mut legal = Vec::new();
        let mut counts = Vec::new();
        for role in machine.game().roles() {
            machine.legal(state, role, &mut legal)?;
            counts.push(legal.len());
        }
        Ok(StepRecord {
            state: StateRecord::new(machine, state, facts),
            legal: counts,
            joint: format::joint_texts(machine, joint),
            sees: format::sees(machine, state, joint)?,
        })
    }
}

impl Record {
    /// The record of a match. `end` is the reason for the end if the game is not over.
    ///
    /// # Errors
    ///
    /// An error in the rules, except for missing scores.
    pub fn new<M: Machine>(
        machine: &mut M,
        history: &History<M::State>,
        facts: Facts,
        end: &'static str,
    ) -> Result<Self, PlayError> {
        let mut steps = Vec::with_capacity(history.len());
        for (moves, ply) in history.plies().enumerate() {
            let state = history.state_after(moves);
            steps.push(StepRecord::new(machine, state, &ply.joint, facts)?);
        }
        let last = history.state();
        let terminal = machine.is_terminal(last)?;
        Ok(Record {
            seed: None,
            roles: format::role_names(machine.game()),
            steps,
            last: StateRecord::new(machine, last, facts),
            terminal,
            goals: match terminal {
                true => Some(format::goals(machine, last)?.0),
                false => None,
            },
            goal_choice: format::choice_name(machine.game()),
            end: if terminal { "terminal" } else { end },
        })
    }
}
