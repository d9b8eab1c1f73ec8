//! Facts that depend on the number of steps alone: step counters, clocks, turns.
//!
//! In: a game. Out: its [`Counter`]s, found by structure, and whether a search for a
//! plan may ignore them when it compares states.
//!
//! A functor is *autonomous* if no rule for its next facts depends on a move or on a
//! fact of a functor that is not autonomous. The autonomous facts at step `k` are
//! then a function of `k` alone. A counter is a minimal set of autonomous functors
//! that depend on no other autonomous functors.
//!
//! # When a counter may be ignored
//!
//! A state is a pair `(k, r)` of the counter at step `k` and the rest. Solved states
//! are terminal and have a goal of at least the target. Suppose that
//!
//! 1. neither `legal` nor the next facts outside the counter depend on it, so the
//!    same moves lead from `(k, r)` and `(l, r)` to the same rests;
//! 2. no goal rule whose value can reach the target depends on it;
//! 3. every rule for `terminal` that depends on it depends on no fact that is not
//!    autonomous: it ends the game at certain steps whatever the rest is, so no state
//!    lies beyond the first of them, `E`;
//! 4. where a goal reaches the target, `terminal` follows from the conditions of that
//!    goal, and so without the counter.
//!
//! Let `k < l` and let a plan of `(l, r)` run over the rests `r = r0, …, rn`. Then
//! `l + n <= E`. The rest `rn` has the goal by 2 and, by 4, is terminal at any step.
//! No earlier `ri` is terminal at step `l + i`, so by 3 it is not terminal at step
//! `k + i < E` either. Hence the plan is also a plan of `(k, r)`: *the earlier state is
//! never worse*, and a table of the smallest step for each rest is exact, both for
//! shortest plans and for "no plan". If `terminal` does not depend on the counter
//! either, then by 1 and 2 equal rests have the same plans.
//!
//! Without 4, a rest that has the goal may not be a solution until the clock runs
//! out, and equal rests at different steps are not interchangeable.

mod ends;
mod survey;

use std::collections::BTreeSet;
use std::fmt;

use ggp_stop::Stop;
use serde::Serialize;

use super::dependencies::{Dependencies, Read, Uses};
use super::implication::goal_implies_terminal;
use super::trajectory::Script;
use crate::check::Keyword;
use crate::game::{Game, Score};
use crate::program::{FunctorId, Rule};
use crate::terms::{TermId, Terms};

use ends::ends;
use survey::Survey;

/// Facts that depend on the number of steps alone.
#[derive(Clone, Debug)]
pub struct Counter {
    game: Game,
    terms: Terms,
    /// The functors of the facts, ascending.
    pub functors: Vec<FunctorId>,
    /// The facts that hold at each step, as far as the steps were followed.
    pub values: Vec<Vec<TermId>>,
    /// The development of the facts over the steps.
    pub course: Course,
    /// The first step at which they end the game; 0 is the initial state.
    pub ends_at: Option<usize>,
    /// Everything else that depends on them.
    pub readers: Readers,
    /// The reason why a search may or may not ignore the counter.
    pub stripping: Stripping,
}

impl Counter {
    /// The facts of the first `count` steps or fewer, each step sorted;
    /// `nothing` for a step without facts. Only the beginnings of long
    /// lists and of long facts are shown.
    pub fn texts(&self, count: usize) -> Vec<String> {
        const SHOWN: usize = 8;
        let text = |facts: &Vec<TermId>| {
            let all = facts.len();
            let facts = facts.iter().take(1_000);
            let mut texts: Vec<String> = facts
                .map(|fact| self.game.start_of_text(&self.terms, *fact))
                .collect();
            texts.sort_unstable();
            texts.truncate(SHOWN);
            if all > SHOWN {
                texts.push(format!("and {} more", all - SHOWN));
            }
            match texts.is_empty() {
                true => "nothing".to_owned(),
                false => texts.join(" "),
            }
        };
        self.values.iter().take(count).map(text).collect()
    }
}

/// The development of a counter over the steps.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Course {
    /// Each step has different facts, up to the end of the game or of the counter.
    Runs {
        /// Number of steps with facts.
        steps: usize,
    },
    /// The facts repeat.
    Cycle {
        /// The first step of the cycle.
        from: usize,
        /// The length of the cycle, in steps.
        period: usize,
    },
    /// Each step followed so far has different facts.
    Open,
}

/// Dependencies on a counter, direct or through other relations.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Readers {
    /// True if legal moves depend on it.
    pub legal: bool,
    /// True if other facts of the next state depend on it.
    pub next: bool,
    /// True if goals of at least the target depend on it.
    pub goal: bool,
    /// True if the end of the game depends on it.
    pub terminal: bool,
}

/// The reason why a search may or may not ignore a counter; see the module
/// documentation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stripping {
    /// Nothing depends on it: states that differ only in it have the same plans.
    Unread,
    /// It only ends the game: of two states that differ only in it, the earlier has
    /// every plan of the later.
    EndsOnly,
    /// The goal depends on it.
    GoalReads,
    /// `terminal` depends on it together with other facts.
    EndsWithOthers,
    /// A state with the goal may continue until the counter ends the game.
    GoalWithoutEnd,
    /// Legal moves depend on it.
    LegalReads,
    /// Other facts of the next state depend on it.
    NextReads,
}

impl Stripping {
    /// True if ignoring the counter loses neither plans nor proofs.
    pub fn is_harmless(self) -> bool {
        matches!(self, Stripping::Unread | Stripping::EndsOnly)
    }

    /// True if states that differ only in the counter have the same moves. Ignoring
    /// the counter may then guide a search, but proves nothing.
    pub fn may_guide_search(self) -> bool {
        self.is_harmless() || matches!(self, Stripping::GoalReads | Stripping::EndsWithOthers)
    }
}

impl fmt::Display for Stripping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stripping::Unread => "a search can ignore it: nothing depends on it",
            Stripping::EndsOnly => "a search can ignore it: it only ends the game",
            Stripping::GoalReads => "a search needs it: the goal depends on it",
            Stripping::EndsWithOthers => {
                "a search needs it: the end of the game depends on it together with other facts"
            }
            Stripping::GoalWithoutEnd => {
                "a search needs it: a state with the goal may continue until it ends the game"
            }
            Stripping::LegalReads => "a search needs it: legal moves depend on it",
            Stripping::NextReads => "a search needs it: other facts depend on it",
        })
    }
}

/// The counters of a game, in the order of their first functors. Facts that never
/// change are not counters. `target` is the score that the search has to reach. Soon
/// after `stop` is over the analysis ends with what it knows, perhaps with nothing.
pub fn counters(game: &Game, target: Score, stop: &Stop) -> Vec<Counter> {
    if stop.is_over() {
        return Vec::new();
    }
    let dependencies = Dependencies::new(game);
    let next = next_rules(game, &dependencies);
    let keyword = game.keyword(Keyword::Next);
    let others = game.rules().rules.iter();
    let others = others.filter(|rule| Some(rule.head.relation) != keyword);
    let uses = Uses::new(&dependencies, others.chain(&next));
    let autonomous = autonomous(game, &dependencies, &uses);
    if autonomous.is_empty() {
        return Vec::new();
    }
    let mut own = Vec::new();
    for rule in &next {
        let heads = dependencies.functors_of(game.terms(), &rule.head.arguments[0]);
        if heads.iter().any(|functor| autonomous.contains(functor)) {
            own.push(rule.clone());
        }
    }
    let Some(ends) = ends(game, &dependencies, &autonomous, stop) else {
        return Vec::new();
    };
    let script = Script {
        game,
        dependencies: &dependencies,
        functors: &autonomous,
        next: &own,
        ends: &ends.alone,
        stop,
    };
    let Some(table) = script.follow().filter(|_| !stop.is_over()) else {
        return Vec::new();
    };
    let implied = goal_implies_terminal(game, target, stop);
    let survey = Survey {
        game,
        dependencies: &dependencies,
        uses: &uses,
        ends: &ends,
        target,
        goal_ends: implied,
    };
    survey.counters(dependencies.groups(&autonomous, &own), &table, stop)
}

/// The rules for the next state, without conditions that always hold.
fn next_rules(game: &Game, dependencies: &Dependencies) -> Vec<Rule> {
    let next = game.keyword(Keyword::Next);
    let rules = game.rules().rules.iter();
    rules
        .filter(|rule| Some(rule.head.relation) == next)
        .map(|rule| dependencies.without_empty_conditions(game, rule))
        .collect()
}

/// The autonomous functors. `uses` are those in all rules.
fn autonomous(game: &Game, dependencies: &Dependencies, uses: &Uses) -> BTreeSet<FunctorId> {
    let mut autonomous = dependencies.fact_functors().clone();
    let next = game.keyword(Keyword::Next);
    let moves = game.keyword(Keyword::Does).map(Read::Relation);
    uses.for_each(moves, |rule, found| {
        if Some(rule.head.relation) == next {
            for functor in dependencies.functors_of(game.terms(), &rule.head.arguments[0]) {
                if autonomous.remove(&functor) {
                    found.push(Read::Facts(functor));
                }
            }
        }
    });
    autonomous
}

#[cfg(test)]
mod tests;
