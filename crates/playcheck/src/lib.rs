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

mod alarm;
mod bodies;
mod claims;
mod coverage;
mod dead_rules;
mod facts;
mod fluents;
mod frame;
mod idle_moves;
mod plays;
mod proof;
mod role_symmetry;
mod space;
mod tally;

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;
use serde::Serialize;

pub use alarm::Alarm;
use coverage::Coverage;
use fluents::Step;
use frame::Keeping;
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError};
use ggp_gdl::analysis::{Counter, counters};
use ggp_gdl::diagnostic::Diagnostic;
use ggp_gdl::game::{Game, Move, Score};
use ggp_gdl::terms::TermId;
use ggp_search::{Budget, Stats};
use ggp_solver::solve::{SolveOptions, solve};
use idle_moves::Idle;
use plays::{Orders, play};
use space::{Space, State, joint_moves};
use tally::{Path, Seen, Tally};

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
    /// Positions in which rules were watched; 0 if it is not known which of them fired.
    pub watched: u64,
    /// Rules that never fired. The findings about them are in `findings`.
    pub silent: usize,
    /// Whether time was over before all that was asked for was looked at.
    pub cut: bool,
    /// Whether it was interrupted before that.
    pub interrupted: bool,
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
    /// Facts that are needed later are kept.
    Kept,
    /// A place has one value at a time.
    Single,
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

/// Shares of the time: all positions, plays, a plan, rules that fire, rules that do not;
/// the rest is for proofs.
const SHARES: [f64; 5] = [0.25, 0.5, 0.65, 0.78, 0.88];
/// Joint moves of all plays in which rules are watched, and the plays that are
/// looked at even if all rules have fired.
const KEPT: usize = 1_000_000;
const ENOUGH: usize = 100;
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
    keeping: Keeping,
    idle: Idle,
}

/// Looks at a game. `limits` are those of the machine.
///
/// # Errors
///
/// As [`audit_within`].
pub fn audit(
    machine: &mut AnyMachine,
    limits: &Limits,
    options: &AuditOptions,
) -> Result<Report, PlayError> {
    let alarm = Alarm::new(limits.stop.clone());
    let report = audit_within(machine, limits, &alarm, options)?;
    match report.interrupted {
        true => Err(PlayError::Interrupted),
        false => Ok(report),
    }
}

/// Looks at a game. `limits` are those of the machine; where it is interrupted by the
/// bell of the alarm, not even a single step takes more than the time. Where somebody
/// interrupts, the report is of what was seen until then.
///
/// # Errors
///
/// [`PlayError::Interrupted`] where the machine is interrupted without the alarm, or what
/// makes the rules impossible to evaluate.
pub fn audit_within(
    machine: &mut AnyMachine,
    limits: &Limits,
    alarm: &Alarm,
    options: &AuditOptions,
) -> Result<Report, PlayError> {
    let began = Instant::now();
    let game = machine.game().clone();
    let until = |part: usize| began + options.time.mul_f64(SHARES[part]);
    let over = |part: usize| move || alarm.is_raised() || Instant::now() >= until(part);
    let counters = counters(&game, Score::MAX);
    let apart: Vec<TermId> = counters
        .iter()
        .flat_map(|counter| counter.values.concat())
        .collect();
    let space = alarm.within(until(0), || {
        Space::of(machine, options.states, &apart, &over(0))
    })?;
    let space = space.flatten();
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
        stop: &over(1),
        apart: &apart,
        kept: KEPT,
    };
    let mut kept = Vec::new();
    alarm.within(until(1), || {
        play(machine, &orders, &mut played, &mut kept, &mut random)
    })?;
    let coverage = Coverage::new(&game, machine.terms(), limits, until(4));
    let start = machine.initial()?;
    let keeping = Keeping::new(
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
        apart,
        played,
        kept,
        space,
        plan: None,
        lost: FxHashSet::default(),
        gained: FxHashSet::default(),
        coverage,
        keeping,
        idle: Idle::default(),
    };
    let time = options.time.mul_f64(SHARES[2] - SHARES[1]);
    let plan = alarm.within(until(2), || Ok(evidence.find_plan(time)))?;
    evidence.plan = plan.flatten();
    let mut closer = Vec::new();
    let watched = alarm.within(until(3), || evidence.watch(&over(3), &mut closer))?;
    let plays = evidence.played.ends + evidence.played.cut + evidence.played.stuck;
    // Where next to nothing was seen, next to nothing fired.
    let silent = match evidence.coverage.positions > 0 && (plays > 0 || evidence.space.is_some()) {
        true if !alarm.is_raised() => {
            alarm.within(until(4), || evidence.coverage.silent(&closer))?
        }
        true => None,
        false => None,
    };
    let complete = watched == Some(true) && evidence.space.is_some() && evidence.coverage.is_exact;
    let findings: Vec<Diagnostic> = match &silent {
        Some(silent) => evidence.silent(silent, complete),
        None => Vec::new(),
    };
    let claims = alarm.within(evidence.deadline, || match alarm.is_raised() {
        true => Err(PlayError::Interrupted),
        false => evidence.claims(),
    })?;
    let claims = match claims {
        Some(claims) => claims,
        // Without proofs.
        None => {
            evidence.deadline = Instant::now();
            evidence.claims()?
        }
    };
    let is_late = Instant::now() >= evidence.deadline;
    Ok(Report {
        plays,
        cut: plays < options.plays || watched != Some(true) || is_late,
        interrupted: alarm.is_raised(),
        positions: evidence.played.positions,
        space: evidence
            .space
            .as_ref()
            .map(|space| space.states.len() as u64),
        lengths: evidence.played.lengths,
        claims,
        watched: match silent {
            Some(_) => evidence.coverage.positions,
            None => 0,
        },
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
                stop: self.limits.stop.clone(),
                ..Budget::default()
            },
            seed: self.options.seed,
            ..SolveOptions::default()
        };
        let answer = solve(&*self.machine, &options, &mut Stats::default(), &mut ()).ok()?;
        match answer.verdict {
            ggp_search::Verdict::Solved { plans, .. } => {
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
    /// was at all of them, or enough. Some of them are looked at more closely later.
    fn watch(
        &mut self,
        stop: &dyn Fn() -> bool,
        closer: &mut Vec<Seen>,
    ) -> Result<bool, PlayError> {
        if let Some(space) = self.space.take() {
            let watched = self.watch_all(&space, stop, closer);
            self.space = Some(space);
            return watched;
        }
        let kept = std::mem::take(&mut self.kept);
        for (number, path) in self.telling().into_iter().chain(kept).enumerate() {
            if self.coverage.is_full() && number >= ENOUGH {
                break;
            }
            let mut state = self.machine.initial()?;
            for (place, joint) in path.iter().enumerate() {
                if stop() {
                    return Ok(false);
                }
                let next = self.machine.next(&state, joint)?;
                let way = || path[..place].to_vec();
                self.look(&state, vec![joint.clone()], (place, &way), closer)?;
                state = next;
                let facts = self.machine.facts(&state);
                let way = || path[..=place].to_vec();
                self.keeping
                    .look(&facts, self.machine.terms(), place + 1, &way);
            }
            let way = || path.clone();
            self.look(&state, Vec::new(), (path.len(), &way), closer)?;
        }
        Ok(true)
    }

    fn watch_all(
        &mut self,
        space: &Space,
        stop: &dyn Fn() -> bool,
        closer: &mut Vec<Seen>,
    ) -> Result<bool, PlayError> {
        for (number, state) in space.states.iter().enumerate() {
            if stop() {
                return Ok(false);
            }
            let joints = match self.machine.is_terminal(state)? {
                true => Vec::new(),
                false => joint_moves(&plays::legal(self.machine, state)?).collect(),
            };
            let path = || space.path(number);
            let length = space.length(number);
            self.look(state, joints, (length, &path), closer)?;
            if number > 0 {
                let facts = self.machine.facts(state);
                self.keeping
                    .look(&facts, self.machine.terms(), length, &path);
            }
        }
        Ok(true)
    }

    /// Looks at a position, and at moves made there; so many lead to it on this way.
    fn look(
        &mut self,
        state: &State,
        joints: Vec<Vec<Move>>,
        (length, path): (usize, &dyn Fn() -> Path),
        closer: &mut Vec<Seen>,
    ) -> Result<(), PlayError> {
        let facts = self.machine.facts(state);
        let here: FxHashSet<TermId> = facts.iter().copied().collect();
        let has_choice: Option<Vec<bool>> = match self.tally().idle.is_some() && !joints.is_empty()
        {
            true => {
                let legal = plays::legal(self.machine, state)?;
                Some(legal.iter().map(|moves| moves.len() > 1).collect())
            }
            false => None,
        };
        for joint in &joints {
            let after = self.machine.next(state, joint)?;
            let next: FxHashSet<TermId> = self.machine.facts(&after).into_iter().collect();
            self.lost.extend(here.difference(&next));
            self.gained.extend(next.difference(&here));
            let is_idle = (here.symmetric_difference(&next)).all(|f| self.apart.contains(f));
            if let Some(has_choice) = &has_choice {
                self.idle.look(joint, has_choice, !is_idle);
            }
            let step = Step {
                facts: &here,
                after: &next,
                joint,
                is_idle,
                is_last: self.keeping.places.is_watching() && self.machine.is_terminal(&after)?,
                length,
                path,
            };
            self.keeping.step(&step, self.machine.terms());
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
                true => closer.push((facts, joints, path())),
                false => {
                    let place = self.coverage.positions as usize % CLOSER;
                    closer[place] = (facts, joints, path());
                }
            }
        }
        Ok(())
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
