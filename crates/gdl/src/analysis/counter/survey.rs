//! Analysis of one counter: its course, its readers, and whether it may be ignored.

use std::collections::BTreeSet;

use super::ends::Ends;
use super::{Counter, Course, Readers, Stripping};
use crate::analysis::dependencies::{Dependencies, Reads};
use crate::analysis::implication::may_reward;
use crate::analysis::trajectory::Trajectory;
use crate::check::Keyword;
use crate::game::{Game, Score};
use crate::program::{FunctorId, Rule};
use crate::terms::TermId;

/// Everything needed to classify counters.
pub(super) struct Survey<'g> {
    pub(super) game: &'g Game,
    pub(super) dependencies: &'g Dependencies,
    pub(super) next: &'g [Rule],
    pub(super) ends: &'g Ends,
    pub(super) target: Score,
    pub(super) goal_ends: bool,
}

impl Survey<'_> {
    /// The counter of a group of functors, or `None` if it never changes.
    pub(super) fn counter(
        &self,
        functors: BTreeSet<FunctorId>,
        table: &Trajectory,
    ) -> Option<Counter> {
        let values: Vec<Vec<TermId>> = table
            .steps
            .iter()
            .map(|facts| {
                let is_ours = |fact: &TermId| functors.contains(&table.terms.functor(*fact));
                facts.iter().copied().filter(is_ours).collect()
            })
            .collect();
        let (values, course) = self.course(values, table)?;
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
        mut values: Vec<Vec<TermId>>,
        table: &Trajectory,
    ) -> Option<(Vec<Vec<TermId>>, Course)> {
        let first_again = (1..values.len()).find_map(|step| {
            let from = values[..step]
                .iter()
                .position(|facts| *facts == values[step])?;
            Some((from, step))
        });
        let is_over = table.ends.iter().any(Option::is_some);
        let course = match first_again {
            Some((0, 1)) => return None,
            Some((from, step)) if values[from].is_empty() && step == from + 1 => {
                values.truncate(from);
                Course::Runs { steps: from }
            }
            Some((from, step)) => {
                values.truncate(step);
                Course::Cycle {
                    from,
                    period: step - from,
                }
            }
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
        let reads_us = |reads: &Reads| !reads.facts.is_disjoint(functors);
        let relation = |keyword| self.dependencies.relation(game.keyword(keyword));
        let next = self.next.iter().any(|rule| {
            let heads = self
                .dependencies
                .functors_of(game.terms(), &rule.head.arguments[0]);
            !heads.iter().all(|head| functors.contains(head))
                && reads_us(&self.dependencies.rule(game.terms(), rule))
        });
        let goal = game.keyword(Keyword::Goal);
        let goal = game.rules().rules.iter().any(|rule| {
            Some(rule.head.relation) == goal
                && may_reward(game, &rule.head.arguments, self.target)
                && reads_us(&self.dependencies.rule(game.terms(), rule))
        });
        Readers {
            legal: reads_us(&relation(Keyword::Legal)),
            next,
            goal,
            terminal: reads_us(&relation(Keyword::Terminal)),
        }
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
