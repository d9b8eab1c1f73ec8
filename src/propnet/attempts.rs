//! How a game is grounded within limits.
//!
//! In: a game, and what its network may cost. Out: the network, from the first of
//! three attempts that keeps within its share: the rules as they are, if that is
//! little; the rules cut into pieces; the pieces deriving only what is asked
//! for.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::Propnet;
use super::decompose::Pieces;
use super::grounding::{ground_pieces, wanted};
use crate::datalog::{Layer, on_demand};
use crate::game::Game;
use crate::game::flat::flatten;
use crate::program::RelationId;

/// What grounding may cost.
#[derive(Clone, Debug)]
pub struct GroundLimits {
    /// Rows that all relations together can ever have.
    pub facts: usize,
    /// Rows looked at in one rule, or while the rows are found.
    pub work: u64,
    /// Matches of all rules together.
    pub instances: u64,
    /// Bytes of rows and gates, about.
    pub memory: usize,
    /// Time for everything.
    pub time: Option<Duration>,
    /// Raised from outside to stop soon.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for GroundLimits {
    fn default() -> Self {
        GroundLimits {
            facts: 3_000_000,
            work: 200_000_000,
            instances: 5_000_000,
            memory: 1 << 30,
            time: None,
            interrupt: None,
        }
    }
}

/// Why a game has no network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// What grew; nothing if grounding was interrupted.
    pub what: &'static str,
    /// How far it may grow.
    pub limit: u64,
    /// The rule that was being grounded, as `file:line:column`.
    pub rule: Option<String>,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.what == INTERRUPTED {
            return f.write_str("interrupted");
        }
        write!(f, "more than {} {}", self.limit, self.what)?;
        match &self.rule {
            Some(rule) => write!(f, ", reached by the rule at {rule}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TooLarge {}

/// What grounding found.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Grounded {
    /// Rows that relations can ever have.
    pub rows: usize,
    /// Matches of rules among them.
    pub instances: u64,
}

/// Rows, work and matches within which rules are tried as they are.
const WHOLE: (usize, u64, u64) = (500_000, 20_000_000, 50_000);
/// Rows and work within which all rows are tried before those asked for.
const CUT: (usize, u64) = (1_500_000, 100_000_000);

/// Grounds a game.
///
/// # Errors
///
/// [`TooLarge`] past a limit: what the last attempt met.
pub(super) fn ground(game: &Game, limits: &GroundLimits) -> Result<(Propnet, Grounded), TooLarge> {
    let deadline = limits.time.map(|time| Instant::now() + time);
    let flat = flatten(game);
    let whole = || Pieces::whole(flat.rules.clone());
    let asked = || {
        let first = flat
            .state
            .relations()
            .map(|relation| (relation, Layer::First));
        let second = flat
            .does
            .relations()
            .map(|relation| (relation, Layer::Second));
        let inputs: Vec<(RelationId, Layer)> = first.chain(second).collect();
        let queries = [(0, wanted(game, &flat))];
        on_demand(&flat.rules, &inputs, &queries, game.terms())
    };
    let little = GroundLimits {
        facts: limits.facts.min(WHOLE.0),
        work: limits.work.min(WHOLE.1),
        instances: limits.instances.min(WHOLE.2),
        ..limits.clone()
    };
    let some = GroundLimits {
        facts: limits.facts.min(CUT.0),
        work: limits.work.min(CUT.1),
        ..limits.clone()
    };
    let mut outcome = ground_pieces(game, &flat, whole(), &little, deadline);
    if may_go_on(&outcome) {
        outcome = ground_pieces(game, &flat, whole().cut(), &some, deadline);
    }
    if may_go_on(&outcome) {
        let pieces = match asked() {
            Some(program) => Pieces::on_demand(program).cut(),
            None => whole().cut(),
        };
        outcome = ground_pieces(game, &flat, pieces, limits, deadline);
    }
    outcome
}

fn may_go_on<T>(outcome: &Result<T, TooLarge>) -> bool {
    let over = [INTERRUPTED, LATE];
    matches!(outcome, Err(reason) if !over.contains(&reason.what))
}

/// What did not grow: grounding was stopped from outside.
pub(super) const INTERRUPTED: &str = "";
/// What grew if the time was over.
pub(super) const LATE: &str = "milliseconds of grounding";
