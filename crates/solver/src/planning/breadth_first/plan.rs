//! The way to a state, without a word about it in any table.
//!
//! A state came in the round in which its first parent was expanded, so that
//! round is expanded once more, and so on back to the start. Of all shortest
//! plans it is the one whose states come first in their levels, from the end on.

use std::io;
use std::ops::Range;

use super::workers::{LANES, Worker};
use super::{Flood, Round};
use crate::planning::Plan;
use crate::planning::expand::states::low;
use crate::planning::symmetry::lift;

/// A state that is on the way, and what follows it there.
struct Step {
    /// Its position in its level.
    at: u64,
    code: Vec<u64>,
    chosen: u32,
    /// What the move leads to, as it is.
    reached: Vec<u64>,
}

impl Flood<'_> {
    /// A shortest plan, whose last state is the first that came in a round.
    ///
    /// # Errors
    ///
    /// Those of reading files.
    pub(super) fn plan(&self, last: &Round) -> io::Result<Plan> {
        let solved = |worker: &mut Worker| {
            worker.look_at_children();
            worker.ends.first_solved()
        };
        let step = self.first(last.level, last.first..last.end, solved)?;
        let mut way = vec![step.expect("the round had a solution")];
        let (bits, stride) = (self.layout.key_bits(), self.layout.words());
        for level in (0..last.level).rev() {
            let Step { at, code, .. } = &way[way.len() - 1];
            let range = self.round_of(level + 1, *at);
            let is_it = |child: &[u64]| {
                let mut left = bits;
                child.iter().zip(code).all(|(child, code)| {
                    let mask = low(left);
                    left = left.saturating_sub(64);
                    (child ^ code) & mask == 0
                })
            };
            let step = self.first(level, range, |worker| {
                worker.kept_children().chunks(stride).position(is_it)
            })?;
            way.push(step.expect("the round led to it before"));
        }
        let steps = way.into_iter().rev();
        let steps: Vec<(u32, Vec<u64>)> = steps.map(|step| (step.chosen, step.reached)).collect();
        Ok(match (&self.symmetries, &mut self.crew.first().canonical) {
            (Some(symmetries), Some(canonical)) => {
                let start = self.layout.encode(&self.puzzle.start);
                lift(&self.layout, symmetries, canonical, &start, &steps)
            }
            _ => steps.into_iter().map(|step| step.0).collect(),
        })
    }

    /// The first of some states of a level with a child that is looked for.
    fn first(
        &self,
        level: u32,
        positions: Range<u64>,
        mut wanted: impl FnMut(&mut Worker) -> Option<usize>,
    ) -> io::Result<Option<Step>> {
        let stride = self.layout.words();
        let source = self.source(level);
        let beside = &self.levels[level as usize].beside;
        let mut worker = self.crew.first();
        for first in positions.clone().step_by(LANES) {
            let some = first..positions.end.min(first + LANES as u64);
            worker.expand(|out| source.read(some, beside, out))?;
            if let Some(child) = wanted(&mut worker) {
                let code = |codes: &[u64], at: usize| codes[at * stride..][..stride].to_vec();
                let parent = worker.children.parents[child];
                return Ok(Some(Step {
                    at: first + u64::from(parent),
                    code: code(&worker.parents, parent as usize),
                    chosen: worker.children.moves[child],
                    reached: code(&worker.children.states, child),
                }));
            }
        }
        Ok(None)
    }

    /// What was expanded when a state of a level came; all of the level before,
    /// where that is not known.
    fn round_of(&self, level: u32, position: u64) -> Range<u64> {
        let made = level - 1;
        let from = self.rounds.partition_point(|round| round.level < made);
        let to = self.rounds.partition_point(|round| round.level <= made);
        let rounds = &self.rounds[from..to];
        if rounds.is_empty() {
            return 0..self.source(made).len();
        }
        let (shard, number) = self.span(level).place(position);
        let behind = rounds.partition_point(|round| round.starts[shard] <= number);
        let round = &rounds[behind - 1];
        round.first..round.end
    }
}
