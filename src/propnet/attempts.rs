//! How a game is grounded within limits.
//!
//! In: a game, and what its network may cost. Out: the network: from rules that
//! derive only what is asked for, if they have few matches; otherwise from rules
//! cut into pieces or from the former, whichever has fewer gates.

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

/// Which rules are grounded. All ways give the same answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Approach {
    /// Whichever gives the smaller network in a short time.
    #[default]
    Best,
    /// The rules as they are.
    Whole,
    /// The rules cut into pieces that have fewer matches.
    Pieces,
    /// Rules that derive only what is asked for.
    OnDemand,
    /// These, cut into pieces.
    PiecesOnDemand,
}

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
    /// Which rules are grounded.
    pub approach: Approach,
    /// Raised from outside to stop soon.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for GroundLimits {
    fn default() -> Self {
        GroundLimits {
            facts: 2_500_000,
            work: 200_000_000,
            instances: 5_000_000,
            memory: 1 << 30,
            time: None,
            approach: Approach::Best,
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

/// Rows, work and matches of a game whose rules need no cutting.
const LITTLE: (usize, u64, u64) = (500_000, 60_000_000, 400_000);
/// Gates of a network from which on, and up to which, another way to ground may
/// well give one of fewer gates.
const DOUBTFUL: std::ops::Range<usize> = 20_000..300_000;
/// Matches of the rules as they are that are tried then.
const MOST_MATCHES: u64 = 3_000_000;

/// Grounds a game.
///
/// # Errors
///
/// [`TooLarge`] past a limit: what the last attempt met.
pub(super) fn ground(game: &Game, limits: &GroundLimits) -> Result<(Propnet, Grounded), TooLarge> {
    let deadline = limits.time.map(|time| Instant::now() + time);
    let flat = flatten(game);
    let attempt = |pieces: Pieces, limits: &GroundLimits| {
        let (mut net, grounded) = ground_pieces(game, &flat, pieces, limits, deadline)?;
        net.tidy();
        Ok((net, grounded))
    };
    let whole = || Pieces::whole(flat.rules.clone());
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
    let asked = || match on_demand(&flat.rules, &inputs, &queries, game.terms()) {
        Some(program) => Pieces::on_demand(program),
        None => whole(),
    };
    match limits.approach {
        Approach::Best => {}
        Approach::Whole => return attempt(whole(), limits),
        Approach::Pieces => return attempt(whole().cut(), limits),
        Approach::OnDemand => return attempt(asked(), limits),
        Approach::PiecesOnDemand => return attempt(asked().cut(), limits),
    }
    let little = GroundLimits {
        facts: limits.facts.min(LITTLE.0),
        work: limits.work.min(LITTLE.1),
        instances: limits.instances.min(LITTLE.2),
        ..limits.clone()
    };
    let is_doubtful = |net: &Propnet| DOUBTFUL.contains(&net.network.gates());
    let first = attempt(asked(), &little);
    if matches!(&first, Ok((net, _)) if !is_doubtful(net)) || first.is_err() && !may_go_on(&first) {
        return first;
    }
    let cut = attempt(whole().cut(), limits);
    let second = match (&first, &cut) {
        (Ok(_), _) => first,
        (Err(_), Ok((net, _))) if !is_doubtful(net) => return cut,
        (Err(_), Err(_)) if !may_go_on(&cut) => return cut,
        (Err(_), _) => {
            let some = GroundLimits {
                facts: limits.facts.min(LITTLE.0),
                instances: limits.instances.min(MOST_MATCHES),
                ..limits.clone()
            };
            attempt(asked(), &some)
        }
    };
    match (cut, second) {
        (Ok(cut), Ok(asked)) => match cut.0.network.gates() <= asked.0.network.gates() {
            true => Ok(cut),
            false => Ok(asked),
        },
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(reason), Err(_)) => Err(reason),
    }
}

fn may_go_on<T>(outcome: &Result<T, TooLarge>) -> bool {
    let over = [INTERRUPTED, LATE];
    matches!(outcome, Err(reason) if !over.contains(&reason.what))
}

/// What did not grow: grounding was stopped from outside.
pub(super) const INTERRUPTED: &str = "";
/// What grew if the time was over.
pub(super) const LATE: &str = "milliseconds of grounding";
