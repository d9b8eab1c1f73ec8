//! The choice of a grounding method within limits.
//!
//! In: a game, and limits for its network. Out: the network. Two methods are tried within
//! limits that grow: rules that derive only what is needed (on demand), and decomposed
//! rules. Where a network has many gates, the other method is tried within what it took,
//! and the network with fewer gates is taken.

mod last_resort;

use ggp_stop::Stop;
use std::fmt;
use std::time::Duration;

use super::decompose::Pieces;
use super::free_columns::separate;
use super::grounding::{ground_pieces, output_relations};
use super::nested_columns::unnest;
use super::relax::{components, dynamic, relaxed};
use super::{NetworkCache, Passes, Propnet, UsefulPasses, used_rows};
use crate::excess::Excess;
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{ColumnValues, Layer, RowMemory, on_demand};
use ggp_gdl::game::Game;
use ggp_gdl::game::flat::{Flat, Wrapped, flatten};
use ggp_gdl::program::strata::for_each_body_atom;
use ggp_gdl::program::{RelationId, reach};

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

/// The changes of rules before they are grounded. None of them changes an answer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Rewrites {
    /// Columns in place of terms that always have the same functor.
    pub nested_columns: bool,
    /// Rows that hold for all values of a column are derived once.
    pub free_columns: bool,
    /// Pieces for conditions that other rules, or all values of further variables, share.
    pub shared_pieces: bool,
    /// Relations that only negations use are derived as far as these ask for rows, in pieces.
    pub asked_rows: bool,
    /// Relations whose uses all have fixed conditions are derived as far as these allow.
    pub used_rows: bool,
    /// Conditions on values of which a state has one at most are separate, if there is no network without
    /// that.
    pub unique_values: bool,
}

impl Rewrites {
    /// All of them.
    pub const ALL: Rewrites = Rewrites {
        nested_columns: true,
        free_columns: true,
        shared_pieces: true,
        asked_rows: true,
        used_rows: true,
        unique_values: true,
    };
    /// The rules as they are.
    pub const NONE: Rewrites = Rewrites {
        nested_columns: false,
        free_columns: false,
        shared_pieces: false,
        asked_rows: false,
        used_rows: false,
        unique_values: false,
    };
}

/// Limits of grounding.
#[derive(Clone, Debug)]
pub struct GroundLimits {
    /// The number of rows that all relations together that depend on the state can ever have. All
    /// others together, which need no gates, may have twice as many.
    pub facts: usize,
    /// The number of rows examined in one rule, or while the rows are found.
    pub work: u64,
    /// The number of matches of all rules together.
    pub instances: u64,
    /// The approximate number of bytes of rows and gates.
    pub memory: usize,
    /// The number of symbols in the text of all facts.
    pub symbols: usize,
    /// The total CPU time, of which a busy machine gives less: on the clock it may take four times as long.
    pub time: Option<Duration>,
    /// The rules that are grounded.
    pub approach: Approach,
    /// The changes of rules that come first.
    pub rewrites: Rewrites,
    /// The passes over gates, while they are made and, for [`Propnet::simplified`], afterwards.
    pub passes: Passes,
    /// The passes that changed another network of the same rules, for [`Propnet::simplified`].
    pub useful: Option<UsefulPasses>,
    /// Ends grounding when it fires.
    pub stop: Stop,
    /// The networks of earlier runs, for [`Propnet::simplified`].
    pub cache: Option<NetworkCache>,
}

impl GroundLimits {
    /// The end of a grounding that begins now.
    pub(crate) fn end(&self) -> Stop {
        let most = self.time.map(|time| BUSY * time);
        self.stop.within(most).within_work(self.time)
    }
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
            rewrites: Rewrites::ALL,
            passes: Passes::ALL,
            useful: None,
            stop: Stop::new(),
            cache: None,
        }
    }
}

/// The reason why a game has no network.
#[derive(Clone, PartialEq, Eq)]
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

ggp_gdl::debug_as_display!(GroundError);

/// Statistics of grounding.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Grounded {
    /// The number of rows that relations can ever have.
    pub rows: usize,
    /// The number of matches of rules among them.
    pub instances: u64,
    /// The number of rows examined to find them.
    pub work: u64,
    /// The memory of the rows when all matches were found.
    pub memory: RowMemory,
}

/// The number of combinations of values above which only rows that are asked for are derived.
const MANY: f64 = 50_000.0;
/// The number of values of a column that is assumed if it is unknown.
const UNKNOWN: f64 = 1_000.0;

/// The rows, matches and work within which a method is tried first.
#[derive(Copy, Clone)]
struct Trial {
    rows: usize,
    matches: u64,
    work: u64,
    gates: usize,
}

/// Games that need no decomposition.
const SMALL: Trial = Trial {
    rows: 100_000,
    matches: 120_000,
    work: 2_000_000,
    gates: usize::MAX,
};
/// Games with recursive relations that have too many rows if not on demand.
const MIDDLE: Trial = Trial {
    rows: 200_000,
    matches: 500_000,
    work: 20_000_000,
    gates: usize::MAX,
};
/// The last trial on demand: the rows and matches.
const LAST: (usize, u64) = (500_000, 3_000_000);
/// The most time on the clock for each second of CPU time.
const BUSY: u32 = 4;
/// This many times as many fixed rows as others are allowed.
const FIXED: usize = 2;
/// This many times as many combinations of values as rows are too many.
const FAR: f64 = 8.0;
/// The sizes, in gates, of networks for which another method is likely to give
/// fewer gates.
const AMBIGUOUS: std::ops::Range<usize> = 20_000..300_000;
/// The maximum number of matches per gate of a known network for a method that may give a
/// smaller one.
const MATCHES_PER_GATE: u64 = 24;

/// Decomposed rules are taken if they save more than one gate in this many.
const CLEARLY: usize = 50;

impl Trial {
    /// The limits of a trial.
    fn within(self, limits: &GroundLimits) -> GroundLimits {
        GroundLimits {
            facts: limits.facts.min(self.rows),
            instances: limits.instances.min(self.matches),
            work: limits.work.min(self.work),
            ..limits.clone()
        }
    }

    /// The trial of another method, which can be better only if it has hardly more rows, not
    /// many matches for each gate of the known network, and hardly more gates.
    fn against((net, known): &(Propnet, Grounded)) -> Trial {
        let gates = net.network.gates();
        Trial {
            rows: 3 * known.rows + 50_000,
            matches: (MATCHES_PER_GATE * gates as u64).min(LAST.1),
            work: (4 * known.work).max(SMALL.work),
            gates: gates + gates / 4,
        }
    }

    /// True if a trial may be worth its time after another one exceeded its limit of something.
    fn is_far_from(&self, failed: &Trial, what: &str) -> bool {
        match what {
            ROWS => self.rows >= 2 * failed.rows,
            WORK => self.work >= 8 * failed.work,
            _ => self.matches >= 2 * failed.matches,
        }
    }
}

type Outcome = Result<(Propnet, Grounded), GroundError>;

/// Grounds a game.
///
/// # Errors
///
/// [`GroundError`] of the last attempt if a limit is exceeded.
pub(super) fn ground(game: &Game, limits: &GroundLimits) -> Outcome {
    let grounding = Grounding {
        game,
        flat: &flat_rules(game, limits.rewrites),
        rewrites: limits.rewrites,
        stop: &limits.end(),
    };
    match limits.approach {
        Approach::Best => {
            let outcome = grounding.best(limits);
            match limits.rewrites.unique_values && may_go_on(&outcome) {
                true => grounding.with_unique_values(limits).unwrap_or(outcome),
                false => outcome,
            }
        }
        Approach::Whole => grounding.attempt(grounding.whole(), limits),
        Approach::Pieces => grounding.attempt(grounding.pieces(), limits),
        Approach::OnDemand => grounding.attempt(grounding.on_demand(), limits),
        Approach::PiecesOnDemand => grounding.attempt(grounding.cut(grounding.on_demand()), limits),
    }
}

/// Grounds a game without the rules that only goals need.
///
/// # Errors
///
/// As [`ground`].
pub(super) fn ground_without_goals(game: &Game, limits: &GroundLimits) -> Outcome {
    let flat = flat_rules(game, limits.rewrites);
    let moves = [&flat.next, &flat.init, &flat.legal];
    let moves = moves.into_iter().flat_map(Wrapped::relations);
    let fixed = [Keyword::Terminal, Keyword::Role].map(|keyword| game.keyword(keyword));
    let wanted = moves.chain(fixed.into_iter().flatten());
    let is_needed = reach::needed(&flat.rules, wanted);
    let mut rules = flat.rules.clone();
    let is_kept = |relation: RelationId| is_needed[relation.index()];
    rules.rules.retain(|rule| is_kept(rule.head.relation));
    rules.facts.retain(|fact| is_kept(fact.relation));
    let grounding = Grounding {
        game,
        flat: &flat.with(rules),
        rewrites: limits.rewrites,
        stop: &limits.end(),
    };
    grounding.best(limits)
}

/// A game to be grounded.
struct Grounding<'a> {
    game: &'a Game,
    flat: &'a Flat,
    rewrites: Rewrites,
    stop: &'a Stop,
}

impl Grounding<'_> {
    /// The smaller network, if both methods give one in a short time.
    fn best(&self, limits: &GroundLimits) -> Outcome {
        let is_ambiguous = |net: &Propnet| AMBIGUOUS.contains(&net.network.gates());
        let first = self.trial(self.on_demand(), &SMALL.within(limits));
        let failed = match first {
            Ok(on_demand) if is_ambiguous(&on_demand.0) => {
                let rival = Trial::against(&on_demand);
                return Ok(match self.rival(self.pieces(), rival, limits) {
                    Ok(cut) => smaller(cut, on_demand, limits.passes),
                    Err(_) => on_demand,
                });
            }
            Err(GroundError::TooLarge(excess)) if excess.what != LATE => excess,
            _ => return first,
        };
        if self.may_explode(limits) {
            let middle = self.trial(self.on_demand(), &MIDDLE.within(limits));
            if !may_go_on(&middle) {
                return middle;
            }
        }
        let cut = self.attempt(self.pieces(), limits);
        match cut {
            Ok(cut) if cut.0.network.gates() < AMBIGUOUS.end => {
                let rival = Trial::against(&cut);
                if !rival.is_far_from(&SMALL, &failed.what) {
                    return Ok(cut);
                }
                return Ok(match self.rival(self.on_demand(), rival, limits) {
                    Ok(on_demand) => smaller(cut, on_demand, limits.passes),
                    Err(_) => cut,
                });
            }
            Err(_) if may_go_on(&cut) => {}
            _ => return cut,
        }
        let last = GroundLimits {
            facts: limits.facts.min(LAST.0),
            instances: limits.instances.min(LAST.1),
            ..limits.clone()
        };
        self.trial(self.on_demand(), &last).or(cut)
    }

    /// True if a relation that depends on itself has far more combinations of values than rows
    /// are allowed.
    fn may_explode(&self, limits: &GroundLimits) -> bool {
        let rules = &self.flat.rules;
        let all: Vec<RelationId> = rules.relations().collect();
        let dynamic = dynamic(self.flat);
        let mut recursive = vec![false; rules.arity.len()];
        for relations in components(rules, &all) {
            if dynamic[relations[0]] {
                for &relation in &relations {
                    recursive[relation] = relations.len() > 1;
                }
            }
        }
        for rule in &rules.rules {
            let head = rule.head.relation;
            for_each_body_atom(rule, |atom, _| {
                recursive[head.index()] |= atom.relation == head && dynamic[head.index()];
            });
        }
        if !recursive.contains(&true) {
            return false;
        }
        let Some(values) = values(self.game, self.flat, &self.whole()) else {
            return false;
        };
        let most = limits.facts as f64 * FAR;
        let is_large = |relation: &RelationId| {
            let columns = 0..rules.arity[relation.index()];
            recursive[relation.index()] && combinations(&values, *relation, columns) > most
        };
        all.iter().any(is_large)
    }

    /// The network of another method, within limits.
    fn rival(&self, pieces: Pieces, rival: Trial, limits: &GroundLimits) -> Outcome {
        self.attempt_within(pieces, &rival.within(limits), rival.gates, None)
    }

    /// The network of a method within small limits, where all rows count.
    fn trial(&self, pieces: Pieces, limits: &GroundLimits) -> Outcome {
        self.attempt_within(pieces, limits, usize::MAX, None)
    }

    fn attempt(&self, pieces: Pieces, limits: &GroundLimits) -> Outcome {
        self.attempt_within(pieces, limits, usize::MAX, Some(FIXED * limits.facts))
    }

    fn attempt_within(
        &self,
        pieces: Pieces,
        limits: &GroundLimits,
        gates: usize,
        fixed: Option<usize>,
    ) -> Outcome {
        let (game, flat) = (self.game, self.flat);
        let outcome = ground_pieces(game, flat, pieces, limits, gates, fixed, self.stop);
        let (mut net, grounded) = outcome?;
        net.remove_dead_gates(limits.passes);
        Ok((net, grounded))
    }

    fn whole(&self) -> Pieces {
        Pieces::whole(self.flat.rules.clone())
    }

    /// Rules that derive only what is needed.
    fn on_demand(&self) -> Pieces {
        let layered = |wrapped: &Wrapped, layer| {
            let layered = wrapped.relations().map(|relation| (relation, layer));
            layered.collect::<Vec<_>>()
        };
        let inputs = [
            layered(&self.flat.state, Layer::First),
            layered(&self.flat.does, Layer::Second),
        ];
        let queries = [(0, output_relations(self.game, self.flat))];
        let rules = &self.flat.rules;
        match on_demand(
            rules,
            &inputs.concat(),
            &queries,
            self.game.terms(),
            self.stop,
        ) {
            Some(program) => Pieces::on_demand(program),
            None => self.whole(),
        }
    }

    /// Decomposed rules.
    fn pieces(&self) -> Pieces {
        let mut whole = self.whole();
        if self.rewrites.free_columns
            && let Some(values) = values(self.game, self.flat, &whole)
        {
            let fixed = fixed_relations(self.game, self.flat);
            let separate = separate(&whole.rules, &dynamic(self.flat), &values, fixed);
            whole = Pieces::whole(separate);
        }
        if self.rewrites.used_rows {
            self.used(&mut whole);
        }
        let pieces = self.cut(whole);
        match self.rewrites.asked_rows {
            true => self.asked(pieces),
            false => pieces,
        }
    }

    fn cut(&self, pieces: Pieces) -> Pieces {
        let dynamic = dynamic(&self.flat.with(pieces.rules.clone()));
        pieces.cut(self.rewrites.shared_pieces, dynamic)
    }

    /// Restricts large relations to the rows that negations ask for.
    fn asked(&self, pieces: Pieces) -> Pieces {
        let flat = self.flat.with(pieces.rules.clone());
        let Some(values) = values(self.game, &flat, &pieces) else {
            return pieces;
        };
        let (dynamic, fixed) = (dynamic(&flat), fixed_relations(self.game, &flat));
        pieces.asked(|relation| {
            let columns = 0..flat.rules.arity[relation.index()];
            let is_asked = dynamic[relation.index()] && !fixed.contains(&relation);
            is_asked && combinations(&values, relation, columns) > MANY
        })
    }

    /// Restricts large relations to the rows that fixed conditions of all uses allow.
    fn used(&self, pieces: &mut Pieces) {
        let flat = self.flat.with(pieces.rules.clone());
        let (dynamic, fixed) = (dynamic(&flat), fixed_relations(self.game, &flat));
        let used = used_rows::candidates(&pieces.rules, &dynamic, &fixed);
        if used.is_empty() {
            return;
        }
        let Some(values) = values(self.game, &flat, pieces) else {
            return;
        };
        let combinations = |relation: RelationId, columns: &[usize]| {
            combinations(&values, relation, columns.iter().copied())
        };
        let (terms, stop) = (self.game.terms(), self.stop);
        used_rows::restrict(pieces, used, &dynamic, combinations, MANY, (terms, stop));
    }
}

/// The network of decomposed rules if it is clearly smaller than that on demand, not counting gates
/// of constants: of about as many gates, those on demand are read closer to where they are made.
fn smaller(
    mut cut: (Propnet, Grounded),
    mut on_demand: (Propnet, Grounded),
    passes: Passes,
) -> (Propnet, Grounded) {
    if passes.constants {
        cut.0.drop_constants(passes);
        on_demand.0.drop_constants(passes);
    }
    let gates = on_demand.0.network.gates();
    match cut.0.network.gates() < gates - gates / CLEARLY {
        true => cut,
        false => on_demand,
    }
}

/// The rules over flat relations.
fn flat_rules(game: &Game, rewrites: Rewrites) -> Flat {
    let mut flat = flatten(game);
    if rewrites.nested_columns {
        let arity = |functor| game.functors().functor(functor).arity();
        let fixed = fixed_relations(game, &flat);
        unnest(&mut flat.rules, game.terms(), arity, fixed);
    }
    flat
}

/// The relations whose columns have a meaning outside of the rules.
fn fixed_relations(game: &Game, flat: &Flat) -> Vec<RelationId> {
    let mut fixed = output_relations(game, flat);
    fixed.extend(game.keyword(Keyword::Role));
    fixed
}

/// The values that columns of pieces may ever have. `None` if the table of terms is full.
fn values(game: &Game, flat: &Flat, pieces: &Pieces) -> Option<ColumnValues> {
    let mut terms = game.terms().clone();
    let relaxed = relaxed(game, flat, pieces, &dynamic(flat), &mut terms).ok()?;
    Some(ColumnValues::of(&relaxed))
}

/// The number of combinations of the values of some columns.
fn combinations(
    values: &ColumnValues,
    relation: RelationId,
    columns: impl Iterator<Item = usize>,
) -> f64 {
    let sizes = columns.map(|column| match values.get(relation, column) {
        Some(values) => values.len() as f64,
        None => UNKNOWN,
    });
    sizes.product()
}

fn may_go_on<T>(outcome: &Result<T, GroundError>) -> bool {
    matches!(outcome, Err(GroundError::TooLarge(excess)) if excess.what != LATE)
}

/// The quantity that exceeds its limit when the time is over.
pub(super) const LATE: &str = "milliseconds of grounding";
/// The quantities that exceed limits while rows are found.
pub(super) const ROWS: &str = "facts that can ever hold";
pub(super) const WORK: &str = "rows examined";
