//! The way to a state, without a word about it in any table.
//!
//! A state came in the round in which its first parent was expanded, so that
//! round is expanded once more, and so on back to the start. Of all shortest
//! plans it is the one whose states come first in their levels, from the end on.

use std::io;
use std::ops::Range;

use super::crew::{LANES, Worker};
use super::{Flood, Round};
use crate::puzzle::Plan;
use crate::puzzle::expand::states::low;

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
        let (mut at, chosen, mut code) = self
            .first(last.level, last.first..last.end, solved)?
            .expect("the round had a solution");
        let mut plan = vec![chosen];
        let bits = self.layout.key_bits();
        for level in (0..last.level).rev() {
            let range = self.round_of(level + 1, at);
            let is_it = |child: &[u64]| {
                let mut left = bits;
                child.iter().zip(&code).all(|(child, code)| {
                    let mask = low(left);
                    left = left.saturating_sub(64);
                    (child ^ code) & mask == 0
                })
            };
            let stride = self.layout.words();
            let found = self.first(level, range, |worker| {
                worker.children.states.chunks(stride).position(is_it)
            })?;
            let (parent, chosen, parents_code) = found.expect("the round led to it before");
            plan.push(chosen);
            (at, code) = (parent, parents_code);
        }
        plan.reverse();
        Ok(plan)
    }

    /// The first of some states of a level with a child that is looked for: its
    /// position, the move, and its code.
    fn first(
        &self,
        level: u32,
        positions: Range<u64>,
        mut wanted: impl FnMut(&mut Worker) -> Option<usize>,
    ) -> io::Result<Option<(u64, u32, Vec<u64>)>> {
        let stride = self.layout.words();
        let source = self.source(level);
        let beside = &self.levels[level as usize].beside;
        let mut worker = self.crew.first();
        for first in positions.clone().step_by(LANES) {
            let some = first..positions.end.min(first + LANES as u64);
            worker.expand(|out| source.read(some, beside, out))?;
            if let Some(child) = wanted(&mut worker) {
                let parent = worker.children.parents[child];
                let code = &worker.parents[parent as usize * stride..][..stride];
                let chosen = worker.children.moves[child];
                return Ok(Some((first + u64::from(parent), chosen, code.to_vec())));
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
