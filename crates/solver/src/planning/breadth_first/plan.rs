//! Plan reconstruction without stored parents.
//!
//! A state was generated in the round in which its first parent was expanded. That
//! round is expanded again, and so on back to the start. Of all shortest plans, the
//! result is the one whose states come first in their levels, compared from the
//! end.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::next_level::batches;
use super::workers::{LANES, Worker};
use super::{Round, Search, Stop};
use crate::planning::Plan;
use crate::planning::expand::states::low;
use crate::planning::symmetry::lift;

/// A state on the plan, and the move made there.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Step {
    /// Its position in its level.
    at: u64,
    code: Vec<u64>,
    chosen: u32,
    /// The code that the move leads to, before it is made canonical.
    reached: Vec<u64>,
}

impl Search<'_> {
    /// A shortest plan to the first solved state of a round.
    ///
    /// # Errors
    ///
    /// Those of reading files; [`io::ErrorKind::InvalidData`] if nothing leads to a state. Also
    /// if another process is lost.
    pub(super) fn plan(&mut self, last: &Round) -> Result<Plan, Stop> {
        let solved = |worker: &mut Worker| {
            worker.classify_children();
            worker.ends.first_solved()
        };
        let step = self.first(last.level, last.first..last.end, solved)?;
        // It is missing only if the states are those of a false checkpoint.
        let mut path = vec![step.ok_or(io::ErrorKind::InvalidData)?];
        let (bits, stride) = (self.layout.key_bits(), self.layout.words());
        for level in (0..last.level).rev() {
            let Step { at, code, .. } = &path[path.len() - 1];
            let range = self.round_of(level + 1, *at);
            let matches = |child: &[u64]| {
                let mut left = bits;
                child.iter().zip(code).all(|(child, code)| {
                    let mask = low(left);
                    left = left.saturating_sub(64);
                    (child ^ code) & mask == 0
                })
            };
            let step = self.first(level, range, |worker| {
                worker.stored_children().chunks(stride).position(matches)
            })?;
            path.push(step.ok_or(io::ErrorKind::InvalidData)?);
        }
        let steps = path.into_iter().rev();
        let steps: Vec<(u32, Vec<u64>)> = steps.map(|step| (step.chosen, step.reached)).collect();
        Ok(
            match (&self.symmetries, &mut self.workers.first().canonical) {
                (Some(symmetries), Some(canonical)) => {
                    let start = self.layout.encode(&self.puzzle.start);
                    lift(&self.layout, symmetries, canonical, &start, &steps)
                }
                _ => steps.into_iter().map(|step| step.0).collect(),
            },
        )
    }

    /// The first of some states of a level that has a wanted child.
    fn first(
        &mut self,
        level: u32,
        positions: Range<u64>,
        wanted: impl FnMut(&mut Worker) -> Option<usize>,
    ) -> Result<Option<Step>, Stop> {
        let own = self.first_own(level, positions, wanted)?;
        let all = self.peers.gather(own)?;
        Ok(all.into_iter().flatten().min_by_key(|step| step.at))
    }

    /// The first of those of this process.
    fn first_own(
        &self,
        level: u32,
        positions: Range<u64>,
        mut wanted: impl FnMut(&mut Worker) -> Option<usize>,
    ) -> Result<Option<Step>, Stop> {
        let stride = self.layout.words();
        let source = self.source(level);
        let suffix = &self.levels[level as usize].suffix;
        let mut worker = self.workers.first();
        let pieces = source.span.pieces(positions).into_iter().zip(0..);
        let own = pieces.filter(|(piece, _)| self.peers.own(piece.shard));
        for batch in batches(own, LANES as u64) {
            let mut pieces = batch.iter();
            worker
                .expand(|out| pieces.try_for_each(|(piece, _)| source.read(piece, suffix, out)))?;
            if let Some(child) = wanted(&mut worker) {
                let code = |codes: &[u64], at: usize| codes[at * stride..][..stride].to_vec();
                let parent = worker.children.parents[child];
                let mut positions = batch.iter().flat_map(|(piece, _)| piece.positions());
                let at = positions.nth(parent as usize);
                return Ok(Some(Step {
                    at: at.expect("it is one of the parents"),
                    code: code(&worker.parents, parent as usize),
                    chosen: worker.children.moves[child],
                    reached: code(&worker.children.states, child),
                }));
            }
        }
        Ok(None)
    }

    /// The range of states that were expanded when a state was generated; the whole
    /// previous level if that is not known.
    fn round_of(&self, level: u32, position: u64) -> Range<u64> {
        let previous = level - 1;
        let from = self.rounds.partition_point(|round| round.level < previous);
        let to = self.rounds.partition_point(|round| round.level <= previous);
        let rounds = &self.rounds[from..to];
        if rounds.is_empty() {
            return 0..self.level_len(previous);
        }
        let (shard, number) = self.span(level).place(position);
        let behind = rounds.partition_point(|round| u64::from(round.starts[shard]) <= number);
        let round = &rounds[behind - 1];
        round.first..round.end
    }
}
