//! Analysis of one counter: its course, its readers, and whether it may be ignored.

use std::collections::BTreeSet;

use ggp_stop::Stop;
use rustc_hash::FxHashMap;

use super::ends::Ends;
use super::{Counter, Course, Readers, Stripping};
use crate::analysis::dependencies::{Dependencies, Read, Uses};
use crate::analysis::implication::may_reward;
use crate::analysis::trajectory::Trajectory;
use crate::check::Keyword;
use crate::game::{Game, Score};
use crate::program::FunctorId;
use crate::terms::TermId;

/// Everything needed to classify counters.
pub(super) struct Survey<'g> {
    pub(super) game: &'g Game,
    pub(super) dependencies: &'g Dependencies<'g>,
    /// The uses in all rules; those for the next state without empty conditions.
    pub(super) uses: &'g Uses<'g>,
    pub(super) ends: &'g Ends,
    pub(super) target: Score,
    pub(super) goal_ends: bool,
}

impl Survey<'_> {
    /// The counters among these groups of functors, without those that never change; an
    /// empty list if `stop` is over before the end.
    pub(super) fn counters(
        &self,
        groups: Vec<BTreeSet<FunctorId>>,
        table: &Trajectory,
        stop: &Stop,
    ) -> Vec<Counter> {
        let mut group_of = FxHashMap::default();
        for (group, functors) in groups.iter().enumerate() {
            group_of.extend(functors.iter().map(|functor| (*functor, group)));
        }
        // By group: its facts by step, in order.
        let mut facts: Vec<Vec<(usize, TermId)>> = vec![Vec::new(); groups.len()];
        for (step, all) in table.steps.iter().enumerate() {
            for fact in all {
                if let Some(&group) = group_of.get(&table.terms.functor(*fact)) {
                    facts[group].push((step, *fact));
                }
            }
        }
        let mut counters = Vec::new();
        for (functors, facts) in groups.into_iter().zip(facts) {
            if stop.is_over() {
                return Vec::new();
            }
            counters.extend(self.counter(functors, &facts, table));
        }
        counters
    }

    /// The counter of a group of functors, or `None` if it never changes.
    fn counter(
        &self,
        functors: BTreeSet<FunctorId>,
        facts: &[(usize, TermId)],
        table: &Trajectory,
    ) -> Option<Counter> {
        let (values, course) = self.course(facts, table)?;
        let ends_at = self.ends.alone_reads.iter().zip(&table.ends);
        let ends_at = ends_at
            .filter(|(reads, _)| !reads.is_disjoint(&functors))
            .filter_map(|(_, step)| *step)
            .min();
        let readers = self.readers(&functors);
        let stripping = self.stripping(&functors, readers);
        Some(Counter {
            game: self.game.clone(),
            terms: table.terms.clone(),
            functors: functors.into_iter().collect(),
            values,
            course,
            ends_at,
            readers,
            stripping,
        })
    }

    /// The values up to their end or repetition, or `None` if they never change.
    fn course(
        &self,
        mut facts: &[(usize, TermId)],
        table: &Trajectory,
    ) -> Option<(Vec<Vec<TermId>>, Course)> {
        let mut values: Vec<Vec<TermId>> = Vec::new();
        let mut first_at: FxHashMap<Vec<TermId>, usize> = FxHashMap::default();
        let mut again = None;
        for step in 0..table.steps.len() {
            let now = facts.partition_point(|(at, _)| *at <= step);
            let value: Vec<TermId> = facts[..now].iter().map(|(_, fact)| *fact).collect();
            facts = &facts[now..];
            if let Some(from) = first_at.insert(value.clone(), step) {
                again = Some((from, step));
                break;
            }
            values.push(value);
        }
        let is_over = table.ends.iter().any(Option::is_some);
        let course = match again {
            Some((0, 1)) => return None,
            Some((from, step)) if values[from].is_empty() && step == from + 1 => {
                values.truncate(from);
                Course::Runs { steps: from }
            }
            Some((from, step)) => Course::Cycle {
                from,
                period: step - from,
            },
            None if is_over && values.len() > 1 => Course::Runs {
                steps: values.len(),
            },
            None if values.len() > 1 => Course::Open,
            None => return None,
        };
        Some((values, course))
    }

    fn readers(&self, functors: &BTreeSet<FunctorId>) -> Readers {
        let game = self.game;
        let [legal, next, goal, terminal] = [
            Keyword::Legal,
            Keyword::Next,
            Keyword::Goal,
            Keyword::Terminal,
        ]
        .map(|keyword| game.keyword(keyword));
        let mut readers = Readers::default();
        let facts = functors.iter().map(|functor| Read::Facts(*functor));
        self.uses.for_each(facts, |rule, _| {
            let (head, arguments) = (Some(rule.head.relation), &rule.head.arguments);
            if head == legal {
                readers.legal = true;
            } else if head == terminal {
                readers.terminal = true;
            } else if head == goal {
                readers.goal |= may_reward(game, arguments, self.target);
            } else if head == next && !readers.next {
                let heads = self.dependencies.functors_of(game.terms(), &arguments[0]);
                readers.next = !heads.iter().all(|head| functors.contains(head));
            }
        });
        readers
    }

    fn stripping(&self, functors: &BTreeSet<FunctorId>, readers: Readers) -> Stripping {
        match readers {
            Readers { next: true, .. } => Stripping::NextReads,
            Readers { legal: true, .. } => Stripping::LegalReads,
            Readers {
                terminal: true,
                goal: false,
                ..
            } if !self.goal_ends => Stripping::GoalWithoutEnd,
            Readers { goal: true, .. } => Stripping::GoalReads,
            Readers { terminal: true, .. } if !self.ends.mixed.is_disjoint(functors) => {
                Stripping::EndsWithOthers
            }
            Readers { terminal: true, .. } => Stripping::EndsOnly,
            Readers { .. } => Stripping::Unread,
        }
    }
}
