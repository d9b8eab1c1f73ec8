//! Estimated values of the moves of each role in a state.

use serde::Serialize;

use super::simulation::{Faults, Table};
use super::{SolveError, SolveOptions, or_interrupted};
use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_search::mcts::{Mcts, mcts};
use ggp_search::{BudgetKind, Observer, Stats};

/// The result of Monte Carlo tree search in a state.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Evaluation {
    /// One entry for each role, in the order of the game.
    pub roles: Vec<RoleValue>,
    /// The number of playouts.
    pub iterations: u64,
    /// The limit that ended the search.
    #[serde(serialize_with = "by_name")]
    pub stopped: BudgetKind,
}

/// The estimated values of one role's moves.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RoleValue {
    /// The role's name.
    pub role: String,
    /// Whether chance plays the role.
    pub random: bool,
    /// The canonical text of the role's best move. `None` if the role is chance or has no
    /// move.
    pub best: Option<String>,
    /// The expected score, 0 to 100; the score itself if the game is over.
    pub expected: Option<f64>,
    /// The legal moves, in descending order of visits.
    pub moves: Vec<MoveValue>,
}

/// The estimated value of one move.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MoveValue {
    /// The canonical text of the move.
    #[serde(rename = "move")]
    pub text: String,
    /// The number of visits.
    pub visits: u64,
    /// The mean score, 0 to 100.
    pub mean: f64,
}

fn by_name<S: serde::Serializer>(kind: &BudgetKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(budget_name(*kind))
}

/// The name of an exhausted budget in file formats.
pub fn budget_name(kind: BudgetKind) -> &'static str {
    match kind {
        BudgetKind::Nodes => "nodes",
        BudgetKind::Memory => "memory",
        BudgetKind::Disk => "disk",
        BudgetKind::Time => "time",
        BudgetKind::Interrupt => "interrupt",
        BudgetKind::Iterations => "iterations",
        BudgetKind::Method => "method",
    }
}

/// Evaluates the moves of every role in a state. Of the options, the budget and
/// the seed are used; the budget's nodes are playouts, 10,000 unless limited.
///
/// # Errors
///
/// [`SolveError::Play`] if the rules cannot be evaluated.
pub fn evaluate(
    machine: &AnyMachine,
    state: &PropnetState,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Evaluation, SolveError> {
    let mut machine = machine.clone();
    let budget = &options.budget;
    let is_limited = budget.nodes != u64::MAX || budget.time.is_some();
    let how = Mcts {
        iterations: if is_limited { u64::MAX } else { 10_000 },
        seed: options.seed,
        ..Mcts::default()
    };
    let whole = machine.stop().clone();
    machine.set_stop(&whole.within(budget.time));
    let mut table = Table::new(&mut machine, Faults::End);
    let outcome = mcts(&mut table, state, &how, budget, stats, observer);
    machine.set_stop(&whole);
    let report = or_interrupted(outcome.map(Some), || None)?;
    let game = machine.game().clone();
    let is_over = machine.is_terminal(state)?;
    machine.terms_mut().refresh();
    let mut roles = Vec::new();
    for (index, role) in game.roles().enumerate() {
        let random = game.is_random(role);
        let report = report.as_ref().and_then(|report| report.roles.get(index));
        let text = |m: &ggp_gdl::game::Move| machine.text(*m);
        let best = report.and_then(|report| report.best());
        let mut value = RoleValue {
            role: game.role_name(role).to_owned(),
            random,
            best: best.filter(|_| !random).map(|best| text(&best.action)),
            expected: best.filter(|_| !random).map(|best| best.mean),
            moves: Vec::new(),
        };
        for known in report.iter().flat_map(|report| &report.moves) {
            value.moves.push(MoveValue {
                text: text(&known.action),
                visits: known.visits,
                mean: known.mean,
            });
        }
        value.moves.sort_by_key(|m| std::cmp::Reverse(m.visits));
        if is_over && !random {
            value.expected = Some(f64::from(machine.goal(state, role)?.get()));
        }
        roles.push(value);
    }
    Ok(Evaluation {
        roles,
        iterations: report.as_ref().map_or(0, |report| report.iterations),
        stopped: report.map_or(BudgetKind::Interrupt, |report| report.stopped),
    })
}
