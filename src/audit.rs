//! What only play shows of a rule set.
//!
//! In: a game and a machine for it. Out: a [`Report`]: claims such as that every
//! play ends or that each end has one goal, each *seen* in random plays or
//! *proved*, with moves that lead to an example; and the rules that never fire.
//!
//! Four sources are asked: all positions of a small game (`space`), random plays
//! (`plays`, on lanes where there is a network), induction over
//! the rules by a SAT solver (`proof`), and the structure of the rules (counters,
//! facts nothing depends on, renamings). What fails was always seen to fail.
//!
//! What is asked for is what the language demands of a game (the definitions of
//! termination, playability and winnability in Love et al., General Game Playing:
//! Game Description Language Specification, 2008), and what its author would want
//! to know.

mod alike;
mod claims;
mod coverage;
mod plays;
mod proof;
mod space;
mod tally;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::analysis::{Counter, counters};
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::game::{Game, Move, Score};
use crate::ground::TermId;
use crate::machine::{AnyMachine, Limits, Machine, PlayError};
use crate::search::{self, Budget, Stats};
use crate::solve::{SolveOptions, solve};
use crate::span::Span;
use coverage::{Coverage, Silent};
use plays::{Orders, play};
use space::{Space, State, joint_moves};
use tally::{Path, Tally};

/// How much is looked at.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct AuditOptions {
    /// Random plays.
    pub plays: u64,
    /// Joint moves after which a play is cut.
    pub depth: usize,
    /// Most positions of a game that is looked at as a whole.
    pub states: usize,
    /// The seed of the plays.
    pub seed: u64,
    /// Time on the clock for everything.
    pub time: Duration,
}

impl Default for AuditOptions {
    fn default() -> Self {
        AuditOptions {
            plays: 1_000,
            depth: 10_000,
            states: 100_000,
            seed: 0,
            time: Duration::from_secs(20),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Random plays made to the end, or cut.
    pub plays: u64,
    /// Positions of these plays, with repetitions.
    pub positions: u64,
    /// All positions that can be reached, where they were all looked at.
    pub space: Option<u64>,
    /// Fewest and most joint moves of the plays that ended.
    pub lengths: Option<(usize, usize)>,
    /// The claims, in a fixed order.
    pub claims: Vec<Claim>,
    /// Positions in which rules were watched.
    pub watched: u64,
    /// Rules that never fired. The findings about them are in `findings`.
    pub silent: usize,
    /// Findings with a place in the rules.
    #[serde(skip)]
    pub findings: Vec<Diagnostic>,
}

/// What a claim is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Every play ends.
    Ends,
    /// A role always has a legal move.
    Legal,
    /// A role has exactly one goal at each end, from 0 to 100.
    Goal,
    /// A role can get 100.
    Winnable,
    /// At most one role has a choice.
    Turns,
    /// The scores of all roles have the same sum at each end.
    Sum,
    /// Every move changes something.
    Change,
    /// Every fact changes in some play.
    Facts,
    /// Something depends on every fact.
    Read,
    /// Moves and goals are those of roles.
    Roles,
    /// The rules treat all roles alike.
    Alike,
}

/// Whether a claim holds.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As far as its basis goes.
    Holds,
    /// There is an example against it.
    Fails,
    /// Nothing was seen that tells.
    Open,
}

/// What a claim rests on.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Random plays.
    Seen,
    /// An example, which is enough.
    Example,
    /// All positions: proved.
    Positions,
    /// Induction over the rules: proved.
    Induction,
    /// The structure of the rules: proved.
    Rules,
}

/// How much it matters that a claim fails.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It tells what kind of game this is.
    Remark,
    /// Good rules have it so.
    Warning,
    /// Play fails.
    Error,
}

/// Something said of all plays.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// What it is about.
    pub subject: Subject,
    /// The role that it is about, if it is about one.
    pub role: Option<String>,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What it rests on.
    pub basis: Basis,
    /// How much it matters.
    pub weight: Weight,
    /// In words.
    pub text: String,
    /// Joint moves from the initial state that lead to an example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<String>>,
    /// Joint moves that lead from there back to the same position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<Vec<String>>,
}

impl Report {
    /// Whether play fails somewhere.
    pub fn has_errors(&self) -> bool {
        self.count(Weight::Error) > 0
    }

    /// Number of claims of this weight that do not hold.
    pub fn count(&self, weight: Weight) -> usize {
        let claims = self.claims.iter();
        claims
            .filter(|claim| claim.verdict != Verdict::Holds && claim.weight == weight)
            .count()
    }
}

/// Shares of the time: all positions, plays, a plan, rules; the rest is for proofs.
const SHARES: [f64; 4] = [0.25, 0.5, 0.65, 0.85];
/// Joint moves of all plays in which rules are watched, and the plays that are
/// looked at even if all rules have fired.
const KEPT: usize = 1_000_000;
const ENOUGH: usize = 100;
/// Rules named that follow from others.
const FOLLOWERS: usize = 5;
/// Positions in which silent rules are looked at once more.
const CLOSER: usize = 300;

/// Everything that claims are made from.
struct Evidence<'a> {
    game: &'a Game,
    machine: &'a mut AnyMachine,
    options: &'a AuditOptions,
    limits: &'a Limits,
    deadline: Instant,
    /// Facts that depend on the number of moves alone.
    counters: Vec<Counter>,
    apart: Vec<TermId>,
    /// Random plays.
    played: Tally,
    kept: Vec<Path>,
    space: Option<Space>,
    /// The way of a single role to 100.
    plan: Option<Path>,
    /// By fact, among those seen: whether it was lost or gained.
    lost: FxHashSet<TermId>,
    gained: FxHashSet<TermId>,
    coverage: Coverage,
}

/// Looks at a game. `limits` are those of the machine.
///
/// # Errors
///
/// [`PlayError::Interrupted`], or what makes the rules impossible to evaluate.
pub fn audit(
    machine: &mut AnyMachine,
    limits: &Limits,
    options: &AuditOptions,
) -> Result<Report, PlayError> {
    let began = Instant::now();
    let game = machine.game().clone();
    let over = |share: f64| {
        let until = options.time.mul_f64(share);
        let interrupt = Arc::clone(&limits.interrupt);
        move || interrupt.load(Ordering::Relaxed) || began.elapsed() >= until
    };
    let counters = counters(&game, Score::MAX);
    let apart: Vec<TermId> = counters
        .iter()
        .flat_map(|counter| counter.values.concat())
        .collect();
    let space = Space::of(machine, options.states, &apart, &over(SHARES[0]))?;
    // Where play goes round, plays need not be longer than a way through all positions.
    let longest = match &space {
        Some(space) => options.depth.min(2 * space.states.len()),
        None => options.depth,
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut played = Tally::new(game.role_count());
    let orders = Orders {
        plays: options.plays,
        depth: longest,
        stop: &over(SHARES[1]),
        apart: &apart,
        kept: KEPT,
    };
    let kept = play(machine, &orders, &mut played, &mut random)?;
    let coverage = Coverage::new(
        &game,
        machine.terms(),
        limits,
        began + options.time.mul_f64(SHARES[3]),
    );
    let mut evidence = Evidence {
        game: &game,
        machine,
        options,
        limits,
        deadline: began + options.time,
        counters,
        apart,
        played,
        kept,
        space,
        plan: None,
        lost: FxHashSet::default(),
        gained: FxHashSet::default(),
        coverage,
    };
    evidence.plan = evidence.find_plan(options.time.mul_f64(SHARES[2] - SHARES[1]));
    let (complete, silent) = evidence.watch(&over(SHARES[3]))?;
    let findings: Vec<Diagnostic> = evidence.silent(&silent, complete);
    let claims = evidence.claims()?;
    if limits.interrupt.load(Ordering::Relaxed) {
        return Err(PlayError::Interrupted);
    }
    Ok(Report {
        plays: evidence.played.ends + evidence.played.cut + evidence.played.stuck,
        positions: evidence.played.positions,
        space: evidence
            .space
            .as_ref()
            .map(|space| space.states.len() as u64),
        lengths: evidence.played.lengths,
        claims,
        watched: evidence.coverage.positions,
        silent: findings.len(),
        findings,
    })
}

impl Evidence<'_> {
    /// A plan of the only role, unless one was seen.
    fn find_plan(&mut self, time: Duration) -> Option<Path> {
        let best = self.played.roles[0].best.as_ref();
        if self.space.is_some()
            || self.game.role_count() > 1
            || best.is_some_and(|best| best.what == 100)
        {
            return None;
        }
        let options = SolveOptions {
            budget: Budget {
                time: Some(time),
                interrupt: Some(Arc::clone(&self.limits.interrupt)),
                ..Budget::default()
            },
            seed: self.options.seed,
            ..SolveOptions::default()
        };
        let answer = solve(&*self.machine, &options, &mut Stats::default(), &mut ()).ok()?;
        match answer.verdict {
            search::Verdict::Solved { plans, .. } => {
                let plan = plans.into_iter().next()?;
                Some(plan.into_iter().map(|chosen| vec![chosen]).collect())
            }
            _ => None,
        }
    }

    /// Ways to what is rare.
    fn telling(&self) -> Vec<Path> {
        let tally = &self.played;
        let of_roles = tally.roles.iter();
        let best = of_roles.filter_map(|role| role.best.as_ref().map(|best| &best.path));
        let sums = [&tally.least, &tally.most].into_iter().flatten();
        let paths = best.chain(sums.map(|sum| &sum.path));
        self.plan.iter().chain(paths).cloned().collect()
    }

    /// Looks at rules in all positions, or in those of the plays kept; whether it
    /// was all of them.
    fn watch(&mut self, stop: &dyn Fn() -> bool) -> Result<(bool, Vec<Silent>), PlayError> {
        let mut closer: Vec<(Vec<TermId>, Vec<Vec<Move>>)> = Vec::new();
        let mut complete = self.space.is_some();
        if let Some(space) = &self.space {
            let states = space.states.clone();
            for state in &states {
                if stop() {
                    complete = false;
                    break;
                }
                let joints = match self.machine.is_terminal(state)? {
                    true => Vec::new(),
                    false => joint_moves(&plays::legal(self.machine, state)?).collect(),
                };
                self.look(state, joints, &mut closer)?;
            }
        } else {
            let kept = std::mem::take(&mut self.kept);
            for (number, path) in self.telling().into_iter().chain(kept).enumerate() {
                let enough = self.coverage.is_full() && number >= ENOUGH;
                if enough || stop() {
                    break;
                }
                let mut state = self.machine.initial()?;
                for joint in path {
                    let next = self.machine.next(&state, &joint)?;
                    self.look(&state, vec![joint], &mut closer)?;
                    state = next;
                }
                self.look(&state, Vec::new(), &mut closer)?;
            }
        }
        let closer = closer
            .iter()
            .map(|(facts, joints)| (&facts[..], &joints[..]));
        let silent = self.coverage.silent(closer)?;
        Ok((complete && self.coverage.is_exact, silent))
    }

    fn look(
        &mut self,
        state: &State,
        joints: Vec<Vec<Move>>,
        closer: &mut Vec<(Vec<TermId>, Vec<Vec<Move>>)>,
    ) -> Result<(), PlayError> {
        let facts = self.machine.facts(state);
        let here: FxHashSet<TermId> = facts.iter().copied().collect();
        for joint in &joints {
            let next = self.machine.next(state, joint)?;
            let next: FxHashSet<TermId> = self.machine.facts(&next).into_iter().collect();
            self.lost.extend(here.difference(&next));
            self.gained.extend(next.difference(&here));
        }
        self.coverage.look(&facts, &joints)?;
        // Positions spread over all that are seen: fewer and fewer of them.
        if closer.len() < CLOSER
            || self
                .coverage
                .positions
                .is_multiple_of(1 + self.coverage.positions / CLOSER as u64)
        {
            match closer.len() < CLOSER {
                true => closer.push((facts, joints)),
                false => {
                    let place = self.coverage.positions as usize % CLOSER;
                    closer[place] = (facts, joints);
                }
            }
        }
        Ok(())
    }

    /// The findings about rules that never fired, one for each place; those that
    /// follow from others are only counted.
    fn silent(&self, silent: &[Silent], complete: bool) -> Vec<Diagnostic> {
        let rules = &self.game.rules().rules;
        let mut told: FxHashSet<(Span, Option<Span>)> = FxHashSet::default();
        let mut findings = Vec::new();
        let mut followers: Vec<Span> = Vec::new();
        let any = self.coverage.positions > 0;
        for silent in silent.iter().filter(|silent| any || silent.proved) {
            let rule = &rules[silent.rule];
            if silent.follows {
                followers.push(rule.span);
                continue;
            }
            if !told.insert((rule.span, silent.stops_at)) {
                continue;
            }
            let some = self.coverage.has_fired(rule.span);
            let what = match some {
                true => "an alternative of this rule",
                false => "this rule",
            };
            let message = match (silent.proved || complete, self.coverage.positions) {
                (true, _) => format!("{what} never fires (proved)"),
                (false, positions) => {
                    format!("{what} never fired in {positions} positions of play")
                }
            };
            let place = rule.head.span;
            let mut finding =
                Diagnostic::new(Code::SilentRule, Strictness::Tolerant, place, message);
            if let Some(place) = silent.stops_at {
                let note = match silent.reached {
                    _ if silent.alone => "no fact matches this",
                    0 => "this is never fulfilled",
                    _ => "this is never fulfilled together with what stands before it",
                };
                finding = finding.note(place, note);
            }
            findings.push(finding.help(match some {
                true => "if the alternative is not needed, take it out",
                false => "ask `ggp why` for a fact that it should give, or take the rule out",
            }));
        }
        followers.retain(|span| findings.iter().all(|finding| !self.is_told(finding, *span)));
        followers.sort_unstable();
        followers.dedup();
        findings.sort_by_key(|finding| finding.span);
        if let (Some(last), false) = (findings.last_mut(), followers.is_empty()) {
            let sources = self.game.sources();
            let places = followers.iter().map(|span| sources.place(*span));
            let places = listed(places, FOLLOWERS, ", ");
            let help = last.help.take().unwrap_or_default();
            last.help = Some(format!(
                "{help}; rules that need what these would give do not fire either: {places}"
            ));
        }
        findings
    }

    /// Whether a finding is about the rule with this place.
    fn is_told(&self, finding: &Diagnostic, rule: Span) -> bool {
        finding.span.is_some_and(|span| {
            span.file == rule.file && rule.start <= span.start && span.end <= rule.end
        })
    }
}

/// The first texts, and how many more there are.
fn listed(texts: impl ExactSizeIterator<Item = String>, most: usize, between: &str) -> String {
    let more = texts.len().saturating_sub(most);
    let mut list = texts.take(most).collect::<Vec<_>>().join(between);
    if more > 0 {
        list += &format!(" and {more} more");
    }
    list
}
