//! Runs the playouts of some blocks of lanes.
//!
//! In: tapes, and the number of playouts of each block. Out: a [`Tally`].

use std::ops::Range;

use super::circuit::{BANKS, DRAWN, LOOK, NEXT, STATE};
use super::lane_progress::{LaneProgress, Pass};
use super::plan::Phase;
use super::{Playouts, Proceed, Tally};
use crate::propnet::lanes::Rows;
use crate::propnet::streams::{Limits, Streams};

/// One thread's tapes and rows.
#[derive(Debug)]
pub(super) struct Runner<'p> {
    playouts: &'p Playouts,
    phases: Vec<Phase>,
    banks: [Rows; BANKS],
    seed: u64,
}

impl<'p> Runner<'p> {
    pub fn new(playouts: &'p Playouts, seed: u64) -> Self {
        Runner {
            playouts,
            phases: playouts.phases.clone(),
            banks: playouts.rows.map(|rows| Rows::new(rows, playouts.words)),
            seed,
        }
    }

    /// Plays the share of each block.
    pub fn run(
        &mut self,
        blocks: Range<u64>,
        share: impl Fn(u64) -> u64,
        proceed: &impl Fn() -> Proceed,
    ) -> Tally {
        let (mut progress, mut streams) = self.begin(blocks, share);
        let asked = self.playouts.passes_asked();
        let mut left = asked;
        for phase in (0..self.phases.len()).cycle() {
            left -= 1;
            if left == 0 {
                left = asked;
                match proceed() {
                    Proceed::On => {}
                    Proceed::Finish => progress.begin_no_more(),
                    Proceed::Drop => break,
                }
            }
            self.look(phase, &mut progress);
            if progress.is_done() {
                break;
            }
            self.play(phase, progress.going(), &mut streams);
        }
        let mut tally = self.playouts.none.clone();
        for (number, phase) in self.phases.iter_mut().enumerate() {
            count_pool(phase, number, &mut progress);
            progress.add_to(&mut tally, number, &phase.goals);
        }
        for (errors, is_chance) in tally.goal_errors.iter_mut().zip(&self.playouts.chance) {
            if *is_chance {
                *errors = 0;
            }
        }
        tally
    }

    /// Begins the lanes of some blocks.
    fn begin(&mut self, blocks: Range<u64>, share: impl Fn(u64) -> u64) -> (LaneProgress, Streams) {
        for (row, &holds) in self.playouts.start.iter().enumerate() {
            self.banks[STATE as usize].fill(row, if holds { u64::MAX } else { 0 });
        }
        let streams = Streams::new(self.seed, blocks.start, self.playouts.words);
        let scores: Vec<usize> = self.phases.iter().map(|phase| phase.scores).collect();
        let shares: Vec<u64> = blocks.map(share).collect();
        let progress = LaneProgress::new(&shares, self.playouts.depth, &scores);
        (progress, streams)
    }

    /// Counts the playouts that are over, and begins others in their lanes.
    fn look(&mut self, number: usize, progress: &mut LaneProgress) {
        let phase = &mut self.phases[number];
        phase.look.run(&mut self.banks);
        let [look, drawn] = self
            .banks
            .get_disjoint_mut([LOOK as usize, DRAWN as usize])
            .expect("the banks are different");
        let pass = Pass {
            phase: number,
            refill: phase.refill,
            scored: phase.pool.is_none(),
        };
        let any_finished = progress.settle(pass, look, drawn);
        if !any_finished {
            return;
        }
        if phase
            .pool
            .as_ref()
            .is_some_and(|pool| pool.overlaps(progress.finished()))
        {
            count_pool(phase, number, progress);
        }
        if let Some(pool) = &mut phase.pool {
            pool.add(progress.finished(), &self.banks);
        }
    }

    /// Selects moves for the lanes that continue, and makes them.
    fn play(&mut self, phase: usize, going: &[u64], streams: &mut Streams) {
        let words = self.playouts.words;
        let phase = &mut self.phases[phase];
        let [look, drawn] = self
            .banks
            .get_disjoint_mut([LOOK as usize, DRAWN as usize])
            .expect("the banks are different");
        let span = |rows: &Range<usize>| rows.start * words..rows.end * words;
        for choice in &phase.choices {
            let limits = Limits {
                counts: &look.flat()[span(&choice.counts)],
                masks: &look.flat()[span(&choice.masks)],
                bits: choice.masks.len(),
            };
            streams.draw(going, limits, &mut drawn.flat_mut()[span(&choice.numbers)]);
        }
        phase.play.run(&mut self.banks);
        let [state, next] = self
            .banks
            .get_disjoint_mut([STATE as usize, NEXT as usize])
            .expect("the banks are different");
        std::mem::swap(state, next);
    }
}

/// Counts the scores of the states in the pool and empties it.
fn count_pool(phase: &mut Phase, number: usize, progress: &mut LaneProgress) {
    if let Some(pool) = &mut phase.pool {
        if let Some((lanes, scores)) = pool.score() {
            progress.score(number, lanes, scores);
        }
        pool.clear();
    }
}

/// Playouts that advance on demand, so that the tapes alone can be timed on their
/// states.
#[derive(Debug)]
pub struct Tapes<'p> {
    runner: Runner<'p>,
    progress: LaneProgress,
    streams: Streams,
    phase: usize,
}

impl<'p> Tapes<'p> {
    pub(super) fn new(playouts: &'p Playouts, seed: u64) -> Self {
        let mut runner = Runner::new(playouts, seed);
        let (progress, streams) = runner.begin(0..playouts.words as u64, |_| u64::MAX);
        Tapes {
            runner,
            progress,
            streams,
            phase: 0,
        }
    }

    /// Makes a joint move in all lanes. Lanes whose playouts are over begin another
    /// one.
    pub fn advance(&mut self) {
        self.runner.look(self.phase, &mut self.progress);
        let going = self.progress.going();
        self.runner.play(self.phase, going, &mut self.streams);
        self.phase = (self.phase + 1) % self.runner.phases.len();
    }

    /// The states of all lanes.
    #[cfg(test)]
    pub(super) fn state(&self) -> &[u64] {
        self.runner.banks[STATE as usize].flat()
    }

    /// Runs the tapes of a pass `times` times on the same states. Nothing is
    /// selected, counted or kept. Goals are evaluated only if they are part of
    /// these tapes.
    pub fn run(&mut self, times: u64) {
        let phase = &mut self.runner.phases[self.phase];
        for _ in 0..times {
            phase.look.run(&mut self.runner.banks);
            phase.play.run(&mut self.runner.banks);
        }
    }
}
