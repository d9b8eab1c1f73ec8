//! Dynamic checks: properties of a rule set that only show up during play.
//!
//! In: a game and a machine for it. Out: a [`Report`] with claims, such as that every match
//! ends or that each role has exactly one goal value in each terminal position. Each claim
//! is *observed* in random playouts or *proved*, with moves that lead to an example. The
//! report also lists the rules that never fire.
//!
//! There are four sources: all positions of a small game (`space`), random playouts
//! (`playouts`, in lanes if there is a network), induction over the rules by a SAT solver
//! (`proof`), and the structure of the rules (counters, facts that nothing depends on,
//! symmetries). A claim fails only if a counterexample was observed or its negation is
//! proved.
//!
//! The claims are the requirements of the language on a game (the definitions of
//! termination, playability and winnability in Love et al., General Game Playing: Game
//! Description Language Specification, 2008), and further properties that an author wants
//! to know.

mod alarm;
mod bodies;
mod claims;
mod coverage;
mod dead_rules;
mod facts;
mod fluents;
mod frame;
mod idle_moves;
mod knowledge;
mod playouts;
mod proof;
mod role_symmetry;
mod space;
mod tally;
mod trial;

use std::time::Duration;

use ggp_stop::Instant;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;
use serde::Serialize;

pub use alarm::Alarm;
use claims::MOST_ROLES;
use coverage::Coverage;
use fluents::Transition;
use frame::Frame;
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError, joint_moves};
use ggp_gdl::analysis::{Counter, counters};
use ggp_gdl::diagnostic::Diagnostic;
use ggp_gdl::game::{Game, Move, Score};
use ggp_gdl::terms::TermId;
use ggp_search::Stats;
use ggp_solver::solve::{SolveOptions, solve};
use idle_moves::IdleMoves;
use playouts::{SamplingOptions, play};
use space::{Space, State};
use tally::{Path, SampledPosition, Tally};
pub use trial::{Trial, TrialFault, TrialFaultKind, TrialOptions, trial};

/// The extent of a check.
#[derive(Copy, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct PlaycheckOptions {
    /// Number of random playouts.
    pub playouts: u64,
    /// Maximum number of joint moves of a playout.
    pub depth: usize,
    /// Maximum number of positions of a game whose state space is explored completely.
    pub states: usize,
    /// The seed of the playouts.
    pub seed: u64,
    /// Wall-clock time for everything.
    pub time: Duration,
}

impl Default for PlaycheckOptions {
    fn default() -> Self {
        PlaycheckOptions {
            playouts: 1_000,
            depth: 10_000,
            states: 100_000,
            seed: 0,
            time: Duration::from_secs(20),
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Number of random playouts, including those stopped early.
    pub playouts: u64,
    /// Number of playouts that were stopped early, after `most_moves` joint moves.
    pub stopped: u64,
    /// Maximum number of joint moves of a playout. Where all positions are known, it is twice their number at most.
    pub most_moves: usize,
    /// Number of playouts that ended where a role has no legal move.
    pub stuck: u64,
    /// Number of positions of these playouts, with repetitions.
    pub positions: u64,
    /// Number of all reachable positions, if the state space was explored completely.
    pub space: Option<u64>,
    /// Minimum and maximum number of joint moves of the playouts that ended.
    pub lengths: Option<(usize, usize)>,
    /// The claims, in a fixed order.
    pub claims: Vec<Claim>,
    /// Number of positions in which rule coverage was measured; 0 if it is unknown which
    /// rules fired.
    pub watched: u64,
    /// Number of rules that never fired. `findings` has a finding about each.
    pub dead_rules: usize,
    /// True if time ran out before all requested checks were done.
    pub cut: bool,
    /// True if the user interrupted before that.
    pub interrupted: bool,
    /// Findings with a location in the rules.
    #[serde(skip)]
    pub findings: Vec<Diagnostic>,
}

/// The property that a claim is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Every match ends.
    Ends,
    /// A role always has a legal move.
    Legal,
    /// A role has exactly one goal value in each terminal position, from 0 to 100.
    Goal,
    /// A role can get 100.
    Winnable,
    /// At most one role has a choice at a time.
    Turns,
    /// The scores of all roles have the same sum in each terminal position.
    Sum,
    /// Every move changes something.
    Change,
    /// Every fact changes in some match.
    Facts,
    /// Something depends on every fact.
    Used,
    /// All moves and goals are those of roles.
    Roles,
    /// Facts that are needed later are kept.
    Frame,
    /// A fluent has one value at a time.
    SingleValue,
    /// The rules are symmetric in the roles.
    RoleSymmetry,
    /// A role can find out its legal moves, the end and its score by its percepts.
    Knows,
}

/// The truth of a claim.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The claim holds, as far as its basis goes.
    Holds,
    /// There is a counterexample.
    Fails,
    /// The observations do not decide it.
    Open,
}

/// The evidence for a claim.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Random playouts.
    Seen,
    /// An example, which is sufficient.
    Example,
    /// All positions; this is a proof.
    Positions,
    /// Induction over the rules; this is a proof.
    Induction,
    /// The structure of the rules; this is a proof.
    Rules,
}

/// The severity if a claim fails.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The claim classifies the game.
    Remark,
    /// Good rules fulfil the claim.
    Warning,
    /// Matches fail.
    Error,
}

/// A statement about all matches.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Claim {
    /// The property.
    pub subject: Subject,
    /// The role concerned, if the property is about one.
    pub role: Option<String>,
    /// True if the claim holds.
    pub verdict: ClaimVerdict,
    /// The evidence.
    pub basis: Basis,
    /// The severity if it fails.
    pub severity: Severity,
    /// The claim as a sentence.
    pub text: String,
    /// Whether it fails because the role has several goal values.
    #[serde(skip)]
    pub has_several_goals: bool,
    /// Joint moves from the initial state that lead to an example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<String>>,
    /// Joint moves that lead from there back to the same position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<String>>,
    /// Joint moves of another match, which looks alike to the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alike: Option<Vec<String>>,
    /// The rules concerned, as `file:line:column`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

impl Report {
    /// Returns whether some match fails.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// Number of claims of this severity that do not hold.
    pub fn count(&self, severity: Severity) -> usize {
        let claims = self.claims.iter();
        claims
            .filter(|claim| claim.verdict != ClaimVerdict::Holds && claim.severity == severity)
            .count()
    }
}

/// Shares of the time for the state space, playouts, a plan, rule coverage and dead rules;
/// the rest is for proofs.
const SHARES: [f64; 5] = [0.25, 0.5, 0.65, 0.78, 0.88];
/// Maximum number of joint moves of the playouts that are sampled for rule coverage, and the
/// number of playouts that are visited even if all rules have fired.
const SAMPLE_MOVES: usize = 1_000_000;
const ENOUGH_PLAYOUTS: usize = 100;
/// Maximum number of positions in which dead rules are evaluated once more.
const REVISITED: usize = 300;

/// The observations that claims are derived from.
struct Evidence<'a> {
    game: &'a Game,
    machine: &'a mut AnyMachine,
    options: &'a PlaycheckOptions,
    limits: &'a Limits,
    deadline: Instant,
    /// Facts that depend only on the number of moves.
    counters: Vec<Counter>,
    ignored: Vec<TermId>,
    /// The tally of the random playouts.
    played: Tally,
    /// The maximum length of these.
    longest: usize,
    samples: Vec<Path>,
    space: Option<Space>,
    /// The single role's plan for 100.
    plan: Option<Path>,
    /// Facts that were seen to be lost, and to be gained.
    lost: FxHashSet<TermId>,
    gained: FxHashSet<TermId>,
    coverage: Coverage,
    frame: Frame,
    idle: IdleMoves,
}

/// Checks a game. `limits` are those of the machine.
///
/// # Errors
///
/// As for [`playcheck_within`].
pub fn playcheck(
    machine: &mut AnyMachine,
    limits: &Limits,
    options: &PlaycheckOptions,
) -> Result<Report, PlayError> {
    let alarm = Alarm::new(limits.stop.clone());
    let report = playcheck_within(machine, limits, &alarm, options)?;
    match report.interrupted {
        true => Err(PlayError::Interrupted),
        false => Ok(report),
    }
}

/// Checks a game. `limits` are those of the machine. If the machine is interrupted by the
/// alarm's flag, not even a single step exceeds the time. If the user interrupts, the
/// report covers the observations so far.
///
/// # Errors
///
/// [`PlayError::Interrupted`] if the machine is interrupted without the alarm; other errors
/// if the rules cannot be evaluated.
pub fn playcheck_within(
    machine: &mut AnyMachine,
    limits: &Limits,
    alarm: &Alarm,
    options: &PlaycheckOptions,
) -> Result<Report, PlayError> {
    let began = Instant::now();
    let game = machine.game().clone();
    let until = |part: usize| began + options.time.mul_f64(SHARES[part]);
    let over = |part: usize| move || alarm.is_raised() || Instant::now() >= until(part);
    let counters = counters(
        &game,
        Score::MAX,
        &machine.stop().within(Some(options.time / 10)),
    );
    // What holds at the start alone is lost rather than counted.
    let goes_on = |values: &Vec<Vec<TermId>>| values.get(1).is_some_and(|facts| !facts.is_empty());
    let ignored: Vec<TermId> = counters
        .iter()
        .filter(|counter| goes_on(&counter.values))
        .flat_map(|counter| counter.values.concat())
        .collect();
    let space = alarm.within(until(0), || {
        Space::of(machine, options.states, &ignored, &over(0))
    })?;
    let space = space.flatten();
    // In a game with cycles, playouts need not be longer than a path through all positions.
    let longest = match &space {
        Some(space) => options.depth.min(2 * space.states.len()),
        None => options.depth,
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut played = Tally::new(game.role_count());
    let playout_options = SamplingOptions {
        playouts: options.playouts,
        depth: longest,
        stop: &over(1),
        ignored: &ignored,
        samples: SAMPLE_MOVES,
    };
    let mut samples = Vec::new();
    alarm.within(until(1), || {
        play(
            machine,
            &playout_options,
            &mut played,
            &mut samples,
            &mut random,
        )
    })?;
    let coverage = Coverage::new(&game, machine.terms(), limits, until(4));
    let start = machine.initial()?;
    let frame = Frame::new(
        &game,
        machine.terms(),
        &machine.facts(&start),
        coverage.bounds(),
    );
    let mut evidence = Evidence {
        game: &game,
        machine,
        options,
        limits,
        deadline: began + options.time,
        counters,
        ignored,
        played,
        longest,
        samples,
        space,
        plan: None,
        lost: FxHashSet::default(),
        gained: FxHashSet::default(),
        coverage,
        frame,
        idle: IdleMoves::default(),
    };
    let time = options.time.mul_f64(SHARES[2] - SHARES[1]);
    let plan = alarm.within(until(2), || Ok(evidence.find_plan(time)))?;
    evidence.plan = plan.flatten();
    let mut revisited = Vec::new();
    let watched = alarm.within(until(3), || evidence.watch(&over(3), &mut revisited))?;
    let playouts = evidence.played.ends + evidence.played.cut + evidence.played.stuck;
    // Where hardly any position was seen, hardly any rule fired.
    let dead_rules =
        match evidence.coverage.positions > 0 && (playouts > 0 || evidence.space.is_some()) {
            true if !alarm.is_raised() => {
                alarm.within(until(4), || evidence.coverage.dead_rules(&revisited))?
            }
            true => None,
            false => None,
        };
    let complete = watched == Some(true) && evidence.space.is_some() && evidence.coverage.is_exact;
    let findings: Vec<Diagnostic> = match &dead_rules {
        Some(dead_rules) => evidence.findings(dead_rules, complete),
        None => Vec::new(),
    };
    let claims = alarm.within(evidence.deadline, || match alarm.is_raised() {
        true => Err(PlayError::Interrupted),
        false => evidence.claims(),
    })?;
    let mut claims = match claims {
        Some(claims) => claims,
        // The claims are made again, without proofs.
        None => {
            evidence.deadline = Instant::now();
            evidence.claims()?
        }
    };
    if game.is_hidden() && !alarm.is_raised() {
        let deadline = evidence.deadline;
        let limits = Limits {
            stop: alarm.bell(),
            ..limits.clone()
        };
        let is_wrong = |claim: &Claim| {
            claim.severity == Severity::Error && claim.verdict != ClaimVerdict::Holds
        };
        let is_faulty = claims.iter().any(is_wrong);
        let more = alarm.within(deadline, || {
            match knowledge::claims(&game, &limits, options, &mut random) {
                // Matches that meet a fault of the rules show nothing more, and it is reported already.
                Err(error) if is_faulty && error.fault().is_some() => Ok(Vec::new()),
                found => found,
            }
        })?;
        claims.extend(more.into_iter().flatten());
    }
    // What nobody looked at is no fault of the rules.
    let is_blind = playouts == 0 && evidence.space.is_none();
    if is_blind || alarm.is_raised() {
        let open = (claims.iter_mut()).filter(|claim| claim.verdict == ClaimVerdict::Open);
        open.for_each(|claim| claim.severity = Severity::Remark);
    }
    let is_late = Instant::now() >= evidence.deadline;
    Ok(Report {
        playouts,
        stopped: evidence.played.cut,
        most_moves: evidence.longest,
        stuck: evidence.played.stuck,
        cut: playouts < options.playouts || watched != Some(true) || is_late,
        interrupted: alarm.is_raised(),
        positions: evidence.played.positions,
        space: evidence
            .space
            .as_ref()
            .map(|space| space.states.len() as u64),
        lengths: evidence.played.lengths,
        claims,
        watched: match dead_rules {
            Some(_) if evidence.coverage.is_exact => evidence.coverage.positions,
            _ => 0,
        },
        dead_rules: findings.len(),
        findings,
    })
}

impl Evidence<'_> {
    /// A plan for a single-role game, unless a playout was one.
    fn find_plan(&mut self, time: Duration) -> Option<Path> {
        let best = self.played.roles[0].best.as_ref();
        if self.space.is_some()
            || self.game.role_count() > 1
            || best.is_some_and(|best| best.what == 100)
        {
            return None;
        }
        let mut options = SolveOptions::default();
        options.budget.time = Some(time);
        options.budget.stop = self.limits.stop.clone();
        options.seed = self.options.seed;
        let answer = solve(&*self.machine, &options, &mut Stats::default(), &mut ()).ok()?;
        match answer.verdict {
            ggp_search::Verdict::Solved { plans, .. } => {
                let plan = plans.into_iter().next()?;
                Some(plan.into_iter().map(|chosen| vec![chosen]).collect())
            }
            _ => None,
        }
    }

    /// Paths to rare observations.
    fn telling(&self) -> Vec<Path> {
        let tally = &self.played;
        let of_roles = tally.roles.iter().take(MOST_ROLES);
        let best = of_roles.filter_map(|role| role.best.as_ref().map(|best| &*best.path));
        let sums = [&tally.least, &tally.most].into_iter().flatten();
        let paths = best.chain(sums.map(|sum| &*sum.path));
        self.plan.iter().chain(paths).cloned().collect()
    }

    /// Measures rule coverage in all positions, or in those of the sampled playouts. Returns
    /// whether it got through all of them or saw enough. Some of the positions are kept for
    /// a second visit.
    fn watch(
        &mut self,
        stop: &dyn Fn() -> bool,
        revisited: &mut Vec<SampledPosition>,
    ) -> Result<bool, PlayError> {
        if let Some(space) = self.space.take() {
            let watched = self.watch_all(&space, stop, revisited);
            self.space = Some(space);
            return watched;
        }
        let samples = std::mem::take(&mut self.samples);
        for (number, path) in self.telling().into_iter().chain(samples).enumerate() {
            if self.coverage.is_full() && number >= ENOUGH_PLAYOUTS {
                break;
            }
            let mut state = self.machine.initial()?;
            for (place, joint) in path.iter().enumerate() {
                if stop() {
                    return Ok(false);
                }
                let next = self.machine.next(&state, joint)?;
                let way = || path[..place].to_vec();
                self.visit(&state, vec![joint.clone()], (place, &way), revisited)?;
                state = next;
                let facts = self.machine.facts(&state);
                let way = || path[..=place].to_vec();
                self.frame
                    .visit(&facts, self.machine.terms(), place + 1, &way);
            }
            let way = || path.clone();
            self.visit(&state, Vec::new(), (path.len(), &way), revisited)?;
        }
        Ok(true)
    }

    fn watch_all(
        &mut self,
        space: &Space,
        stop: &dyn Fn() -> bool,
        revisited: &mut Vec<SampledPosition>,
    ) -> Result<bool, PlayError> {
        for (number, state) in space.states.iter().enumerate() {
            if stop() {
                return Ok(false);
            }
            let joints = match self.machine.is_terminal(state)? {
                true => Vec::new(),
                false => joint_moves(&playouts::legal(self.machine, state)?).collect(),
            };
            let path = || space.path(number);
            let length = space.length(number);
            self.visit(state, joints, (length, &path), revisited)?;
            if number > 0 {
                let facts = self.machine.facts(state);
                self.frame
                    .visit(&facts, self.machine.terms(), length, &path);
            }
        }
        Ok(true)
    }

    /// Visits a position and moves made there; `length` moves lead to it on this path.
    fn visit(
        &mut self,
        state: &State,
        joints: Vec<Vec<Move>>,
        (length, path): (usize, &dyn Fn() -> Path),
        revisited: &mut Vec<SampledPosition>,
    ) -> Result<(), PlayError> {
        let facts = self.machine.facts(state);
        let here: FxHashSet<TermId> = facts.iter().copied().collect();
        let has_choice: Option<Vec<bool>> = match self.tally().idle.is_some() && !joints.is_empty()
        {
            true => {
                let legal = playouts::legal(self.machine, state)?;
                Some(legal.iter().map(|moves| moves.len() > 1).collect())
            }
            false => None,
        };
        for joint in &joints {
            let after = self.machine.next(state, joint)?;
            let next: FxHashSet<TermId> = self.machine.facts(&after).into_iter().collect();
            self.lost.extend(here.difference(&next));
            self.gained.extend(next.difference(&here));
            let is_idle = (here.symmetric_difference(&next)).all(|f| self.ignored.contains(f));
            if let Some(has_choice) = &has_choice {
                self.idle.visit(joint, has_choice, !is_idle);
            }
            let step = Transition {
                facts: &here,
                after: &next,
                joint,
                is_idle,
                is_last: self.frame.fluents.is_watching() && self.machine.is_terminal(&after)?,
                length,
                path,
            };
            self.frame.step(&step, self.machine.terms());
        }
        self.coverage.visit(&facts, &joints)?;
        // Positions spread over all that are seen, with decreasing density.
        if revisited.len() < REVISITED
            || self
                .coverage
                .positions
                .is_multiple_of(1 + self.coverage.positions / REVISITED as u64)
        {
            match revisited.len() < REVISITED {
                true => revisited.push((facts, joints, path())),
                false => {
                    let place = self.coverage.positions as usize % REVISITED;
                    revisited[place] = (facts, joints, path());
                }
            }
        }
        Ok(())
    }
}

/// The first texts, and the number of the others.
fn listed(texts: impl ExactSizeIterator<Item = String>, most: usize, between: &str) -> String {
    let more = texts.len().saturating_sub(most);
    let mut list = texts.take(most).collect::<Vec<_>>().join(between);
    if more > 0 {
        list += &format!(" and {more} more");
    }
    list
}
