//! The choice of a grounding method within limits.
//!
//! In: a game, and limits for its network. Out: the network. If rules that derive
//! only what is needed (on demand) have few matches, they are used. Otherwise the
//! network is built from decomposed rules or from the on-demand rules, whichever
//! has fewer gates. The size found by one method limits what the other may try.

use ggp_stop::Stop;
use std::fmt;
use std::time::Duration;

use super::Propnet;
use super::decompose::Pieces;
use super::grounding::{Attempt, ground_pieces, output_relations};
use crate::excess::Excess;
use ggp_gdl::datalog::{Layer, on_demand};
use ggp_gdl::game::Game;
use ggp_gdl::game::flat::flatten;
use ggp_gdl::program::RelationId;

/// The rules that are grounded. All approaches give the same answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Approach {
    /// The approach that gives the smaller network in a short time.
    #[default]
    Best,
    /// The rules as written.
    Whole,
    /// The rules decomposed into pieces that have fewer matches.
    Pieces,
    /// Rules that derive only what is needed.
    OnDemand,
    /// On-demand rules, decomposed into pieces.
    PiecesOnDemand,
}

/// Limits of grounding.
#[derive(Clone, Debug)]
pub struct GroundLimits {
    /// The number of rows that all relations together can ever have.
    pub facts: usize,
    /// The number of rows examined in one rule, or while the rows are found.
    pub work: u64,
    /// The number of matches of all rules together.
    pub instances: u64,
    /// The approximate number of bytes of rows and gates.
    pub memory: usize,
    /// The number of symbols in the text of all facts.
    pub symbols: usize,
    /// The total time.
    pub time: Option<Duration>,
    /// The rules that are grounded.
    pub approach: Approach,
    /// Ends grounding when it fires.
    pub stop: Stop,
}

impl Default for GroundLimits {
    fn default() -> Self {
        GroundLimits {
            facts: 2_500_000,
            work: 200_000_000,
            instances: 5_000_000,
            memory: 1 << 30,
            symbols: 1_000_000,
            time: None,
            approach: Approach::Best,
            stop: Stop::new(),
        }
    }
}

/// The reason why a game has no network.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GroundError {
    /// Grounding exceeded a limit.
    TooLarge(Excess),
    /// Grounding was stopped from outside.
    Interrupted,
}

impl fmt::Display for GroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GroundError::TooLarge(excess) => excess.fmt(f),
            GroundError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for GroundError {}

/// Statistics of grounding.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Grounded {
    /// The number of rows that relations can ever have.
    pub rows: usize,
    /// The number of matches of rules among them.
    pub instances: u64,
    /// The number of rows examined to find them.
    pub work: u64,
}

/// The limits of an attempt.
#[derive(Copy, Clone, Debug)]
pub(super) struct Allowance {
    pub instances: u64,
    pub gates: usize,
}

/// The rows, work and matches of a game whose rules need no decomposition.
const SMALL: (usize, u64, u64) = (500_000, 60_000_000, 400_000);
/// The sizes, in gates, of networks for which another method is likely to give
/// fewer gates.
const AMBIGUOUS: std::ops::Range<usize> = 20_000..300_000;
/// The maximum number of matches for the other method, in total and per gate of the
/// first network.
const MOST_MATCHES: (u64, usize) = (3_000_000, 24);

/// The limits for another method, which can be smaller only if it has hardly more
/// rows than the known one.
fn near(limits: &GroundLimits, known: Grounded) -> GroundLimits {
    GroundLimits {
        facts: limits.facts.min(2 * known.rows + 50_000),
        work: limits.work.min(known.work + known.work / 2 + 2_000_000),
        ..limits.clone()
    }
}

/// The number of gates that another method may make before dead gates are removed.
fn rival_gates(net: &Propnet) -> usize {
    net.network.gates() * 3 / 2
}

/// Grounds a game.
///
/// # Errors
///
/// [`GroundError`] of the last attempt if a limit is exceeded.
pub(super) fn ground(
    game: &Game,
    limits: &GroundLimits,
) -> Result<(Propnet, Grounded), GroundError> {
    let stop = &limits.stop.within(limits.time);
    let flat = flatten(game);
    let ground = |pieces: Pieces, attempt: Attempt| {
        let (mut net, grounded) = ground_pieces(game, &flat, pieces, attempt)?;
        net.remove_dead_gates();
        Ok((net, grounded))
    };
    let attempt = |pieces: Pieces, limits: &GroundLimits, gates: usize| {
        let attempt = Attempt {
            limits,
            stop,
            gates,
            more: &mut |_| None,
        };
        ground(pieces, attempt)
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
    let queries = [(0, output_relations(game, &flat))];
    let on_demand_pieces = || match on_demand(&flat.rules, &inputs, &queries, game.terms(), stop) {
        Some(program) => Pieces::on_demand(program),
        None => whole(),
    };
    match limits.approach {
        Approach::Best => {}
        Approach::Whole => return attempt(whole(), limits, usize::MAX),
        Approach::Pieces => return attempt(whole().cut(), limits, usize::MAX),
        Approach::OnDemand => return attempt(on_demand_pieces(), limits, usize::MAX),
        Approach::PiecesOnDemand => return attempt(on_demand_pieces().cut(), limits, usize::MAX),
    }
    let some = GroundLimits {
        facts: limits.facts.min(SMALL.0),
        instances: limits.instances.min(MOST_MATCHES.0),
        ..limits.clone()
    };
    let small = GroundLimits {
        work: limits.work.min(SMALL.1),
        instances: limits.instances.min(SMALL.2),
        ..some.clone()
    };
    let is_ambiguous = |net: &Propnet| AMBIGUOUS.contains(&net.network.gates());
    // If there are many matches, the decomposed rules are tried before the
    // remaining matches are enumerated.
    let mut cut = None;
    let first = ground(
        on_demand_pieces(),
        Attempt {
            limits: &small,
            stop,
            gates: usize::MAX,
            more: &mut |known| {
                if cut.is_some() {
                    return None;
                }
                let outcome = attempt(whole().cut(), &near(limits, known), usize::MAX);
                let more = match &outcome {
                    Ok((net, _)) => is_ambiguous(net).then(|| Allowance {
                        instances: some
                            .instances
                            .min((MOST_MATCHES.1 * net.network.gates()) as u64),
                        gates: rival_gates(net),
                    }),
                    Err(_) => may_go_on(&outcome).then_some(Allowance {
                        instances: some.instances,
                        gates: usize::MAX,
                    }),
                };
                cut = Some(outcome);
                more
            },
        },
    );
    let is_near = cut.is_some();
    let cut = match (cut, &first) {
        (Some(cut), _) => cut,
        (None, Ok((net, known))) if is_ambiguous(net) => {
            attempt(whole().cut(), &near(limits, *known), rival_gates(net))
        }
        (None, Err(_)) if may_go_on(&first) => attempt(whole().cut(), limits, usize::MAX),
        (None, _) => return first,
    };
    match (first, cut) {
        (Ok(first), Ok(cut)) => match cut.0.network.gates() <= first.0.network.gates() {
            true => Ok(cut),
            false => Ok(first),
        },
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        // Methods that may have been stopped too early are repeated with the full
        // limits.
        (Err(_), cut @ Err(_)) if !may_go_on(&cut) => cut,
        (Err(_), Err(_)) if is_near => attempt(whole().cut(), limits, usize::MAX),
        (Err(GroundError::TooLarge(excess)), _) if excess.what == WORK => {
            attempt(on_demand_pieces(), &some, usize::MAX)
        }
        (Err(_), cut) => cut,
    }
}

fn may_go_on<T>(outcome: &Result<T, GroundError>) -> bool {
    matches!(outcome, Err(GroundError::TooLarge(excess)) if excess.what != LATE)
}

/// The quantity that exceeds its limit when the time is over.
pub(super) const LATE: &str = "milliseconds of grounding";
/// The quantity that exceeds its limit when finding the rows takes too much work.
pub(super) const WORK: &str = "rows examined";
