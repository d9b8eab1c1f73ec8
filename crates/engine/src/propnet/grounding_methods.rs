//! How a game is grounded within limits.
//!
//! In: a game, and what its network may cost. Out: the network: from rules that
//! derive only what is asked for, if they have few matches; otherwise from rules
//! cut into pieces or from the former, whichever has fewer gates. What one way
//! has shown of its size limits what the other may try.

use ggp_stop::Stop;
use std::fmt;
use std::time::Duration;

use super::Propnet;
use super::decompose::Pieces;
use super::grounding::{Attempt, ground_pieces, wanted};
use ggp_gdl::datalog::{Layer, on_demand};
use ggp_gdl::game::Game;
use ggp_gdl::game::flat::flatten;
use ggp_gdl::program::RelationId;

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
    /// When grounding must end.
    pub stop: Stop,
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
            stop: Stop::new(),
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
    /// Rows looked at to find them.
    pub work: u64,
}

/// How far an attempt may go.
#[derive(Copy, Clone, Debug)]
pub(super) struct Allowance {
    pub instances: u64,
    pub gates: usize,
}

/// Rows, work and matches of a game whose rules need no cutting.
const LITTLE: (usize, u64, u64) = (500_000, 60_000_000, 400_000);
/// Gates of a network from which on, and up to which, another way to ground may
/// well give one of fewer gates.
const DOUBTFUL: std::ops::Range<usize> = 20_000..300_000;
/// Matches that are tried then, in all and for each gate that there is already.
const MOST_MATCHES: (u64, usize) = (3_000_000, 24);

/// Limits for another way to ground, which is smaller only if it has hardly more
/// rows than the one that is known.
fn near(limits: &GroundLimits, known: Grounded) -> GroundLimits {
    GroundLimits {
        facts: limits.facts.min(2 * known.rows + 50_000),
        work: limits.work.min(known.work + known.work / 2 + 2_000_000),
        ..limits.clone()
    }
}

/// Gates that another way may make before it is tidied.
fn rival(net: &Propnet) -> usize {
    net.network.gates() * 3 / 2
}

/// Grounds a game.
///
/// # Errors
///
/// [`TooLarge`] past a limit: what the last attempt met.
pub(super) fn ground(game: &Game, limits: &GroundLimits) -> Result<(Propnet, Grounded), TooLarge> {
    let stop = &limits.stop.within(limits.time);
    let flat = flatten(game);
    let ground = |pieces: Pieces, attempt: Attempt| {
        let (mut net, grounded) = ground_pieces(game, &flat, pieces, attempt)?;
        net.tidy();
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
    let queries = [(0, wanted(game, &flat))];
    let asked = || match on_demand(&flat.rules, &inputs, &queries, game.terms()) {
        Some(program) => Pieces::on_demand(program),
        None => whole(),
    };
    match limits.approach {
        Approach::Best => {}
        Approach::Whole => return attempt(whole(), limits, usize::MAX),
        Approach::Pieces => return attempt(whole().cut(), limits, usize::MAX),
        Approach::OnDemand => return attempt(asked(), limits, usize::MAX),
        Approach::PiecesOnDemand => return attempt(asked().cut(), limits, usize::MAX),
    }
    let some = GroundLimits {
        facts: limits.facts.min(LITTLE.0),
        instances: limits.instances.min(MOST_MATCHES.0),
        ..limits.clone()
    };
    let little = GroundLimits {
        work: limits.work.min(LITTLE.1),
        instances: limits.instances.min(LITTLE.2),
        ..some.clone()
    };
    let is_doubtful = |net: &Propnet| DOUBTFUL.contains(&net.network.gates());
    // Where there are many matches, the others are not looked at before it is
    // known what the rules cut into pieces give.
    let mut cut = None;
    let first = ground(
        asked(),
        Attempt {
            limits: &little,
            stop,
            gates: usize::MAX,
            more: &mut |known| {
                if cut.is_some() {
                    return None;
                }
                let outcome = attempt(whole().cut(), &near(limits, known), usize::MAX);
                let more = match &outcome {
                    Ok((net, _)) => is_doubtful(net).then(|| Allowance {
                        instances: some
                            .instances
                            .min((MOST_MATCHES.1 * net.network.gates()) as u64),
                        gates: rival(net),
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
        (None, Ok((net, known))) if is_doubtful(net) => {
            attempt(whole().cut(), &near(limits, *known), rival(net))
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
        // What may have been given up too early is tried in earnest.
        (Err(_), cut @ Err(_)) if !may_go_on(&cut) => cut,
        (Err(_), Err(_)) if is_near => attempt(whole().cut(), limits, usize::MAX),
        (Err(first), _) if first.what == WORK => attempt(asked(), &some, usize::MAX),
        (Err(_), cut) => cut,
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
/// What grew if too much work was needed to find the rows.
pub(super) const WORK: &str = "rows looked at";
