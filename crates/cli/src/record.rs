//! A match as `--json` prints it.

use serde::Serialize;

use super::format::{self, Goal};
use ggp_engine::machine::{Machine, PlayError, canonical_facts};
use ggp_gdl::game::Move;
use ggp_play::History;

/// A match or playout: what happened, step by step.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The seed of its random choices, if it had any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The roles, in order; lists of one entry for each role follow it.
    pub roles: Vec<String>,
    /// The states before the last one.
    pub steps: Vec<StepRecord>,
    /// The last state.
    pub last: StateRecord,
    /// Whether the game is over there.
    pub terminal: bool,
    /// The scores there; nothing if it was not played to the end.
    pub goals: Option<Vec<Goal>>,
    /// Why there is no further step: `terminal`, `depth`, `quit`, `interrupted`
    /// or `error`.
    pub end: &'static str,
}

/// A state.
#[derive(Clone, Debug, Serialize)]
pub struct StateRecord {
    /// Number of its facts.
    pub facts: usize,
    /// Canonical texts of the facts, sorted, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Vec<String>>,
}

/// A state and the joint move made in it.
#[derive(Clone, Debug, Serialize)]
pub struct StepRecord {
    /// The state.
    #[serde(flatten)]
    pub state: StateRecord,
    /// Number of legal moves of each role.
    pub legal: Vec<usize>,
    /// The move of each role.
    pub joint: Vec<String>,
}

/// Whether a record lists the facts of its states.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Facts {
    /// Only their number.
    Counted,
    /// All of them.
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
        })
    }
}

impl Record {
    /// The record of a match. `end` is why it stopped if the game is not over.
    ///
    /// # Errors
    ///
    /// Whatever play shows to be wrong with the rules, but for scores.
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
            end: if terminal { "terminal" } else { end },
        })
    }
}
