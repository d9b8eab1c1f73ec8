//! Runs the playouts of some blocks of lanes.
//!
//! In: tapes, and how many playouts each block shall play. Out: a [`Tally`].

use std::ops::Range;

use super::circuit::{BANKS, DRAWN, LOOK, NEXT, STATE};
use super::lane_progress::{Course, Turn};
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

    /// Plays what each block shall play.
    pub fn run(
        &mut self,
        blocks: Range<u64>,
        share: impl Fn(u64) -> u64,
        proceed: &impl Fn() -> Proceed,
    ) -> Tally {
        let (mut course, mut streams) = self.begin(blocks, share);
        let asked = self.playouts.passes_asked();
        let mut left = asked;
        for phase in (0..self.phases.len()).cycle() {
            left -= 1;
            if left == 0 {
                left = asked;
                match proceed() {
                    Proceed::On => {}
                    Proceed::Finish => course.begin_no_more(),
                    Proceed::Drop => break,
                }
            }
            self.look(phase, &mut course);
            if course.is_done() {
                break;
            }
            self.play(phase, course.going(), &mut streams);
        }
        let mut tally = self.playouts.none.clone();
        for (number, phase) in self.phases.iter_mut().enumerate() {
            count_kept(phase, number, &mut course);
            course.add_to(&mut tally, number, &phase.goals);
        }
        tally
    }

    /// Has the lanes of some blocks begin.
    fn begin(&mut self, blocks: Range<u64>, share: impl Fn(u64) -> u64) -> (Course, Streams) {
        for (row, &holds) in self.playouts.start.iter().enumerate() {
            self.banks[STATE as usize].fill(row, if holds { u64::MAX } else { 0 });
        }
        let streams = Streams::new(self.seed, blocks.start, self.playouts.words);
        let scores: Vec<usize> = self.phases.iter().map(|phase| phase.scores).collect();
        let shares: Vec<u64> = blocks.map(share).collect();
        let course = Course::new(&shares, self.playouts.depth, &scores);
        (course, streams)
    }

    /// Counts the playouts that are over, and has others begin in their place.
    fn look(&mut self, number: usize, course: &mut Course) {
        let phase = &mut self.phases[number];
        phase.look.run(&mut self.banks);
        let [look, drawn] = self
            .banks
            .get_disjoint_mut([LOOK as usize, DRAWN as usize])
            .expect("they are different banks");
        let turn = Turn {
            phase: number,
            refill: phase.refill,
            scored: phase.pool.is_none(),
        };
        let any_due = course.settle(turn, look, drawn);
        if !any_due {
            return;
        }
        if phase
            .pool
            .as_ref()
            .is_some_and(|pool| pool.is_taken(course.due()))
        {
            count_kept(phase, number, course);
        }
        if let Some(pool) = &mut phase.pool {
            pool.keep(course.due(), &self.banks);
        }
    }

    /// Draws moves for the lanes that go on, and makes them.
    fn play(&mut self, phase: usize, going: &[u64], streams: &mut Streams) {
        let words = self.playouts.words;
        let phase = &mut self.phases[phase];
        let [look, drawn] = self
            .banks
            .get_disjoint_mut([LOOK as usize, DRAWN as usize])
            .expect("they are different banks");
        let span = |rows: &Range<usize>| rows.start * words..rows.end * words;
        for draw in &phase.draws {
            let limits = Limits {
                counts: &look.flat()[span(&draw.counts)],
                masks: &look.flat()[span(&draw.masks)],
                bits: draw.masks.len(),
            };
            streams.draw(going, limits, &mut drawn.flat_mut()[span(&draw.numbers)]);
        }
        phase.play.run(&mut self.banks);
        let [state, next] = self
            .banks
            .get_disjoint_mut([STATE as usize, NEXT as usize])
            .expect("they are different banks");
        std::mem::swap(state, next);
    }
}

/// Counts what the states kept are worth, and keeps them no longer.
fn count_kept(phase: &mut Phase, number: usize, course: &mut Course) {
    if let Some(pool) = &mut phase.pool {
        if let Some((lanes, scores)) = pool.score() {
            course.score(number, lanes, scores);
        }
        pool.clear();
    }
}

/// Playouts that are stopped at will, so that the tapes alone can be timed on
/// the states that they are in.
#[derive(Debug)]
pub struct Tapes<'p> {
    runner: Runner<'p>,
    course: Course,
    streams: Streams,
    phase: usize,
}

impl<'p> Tapes<'p> {
    pub(super) fn new(playouts: &'p Playouts, seed: u64) -> Self {
        let mut runner = Runner::new(playouts, seed);
        let (course, streams) = runner.begin(0..playouts.words as u64, |_| u64::MAX);
        Tapes {
            runner,
            course,
            streams,
            phase: 0,
        }
    }

    /// Makes a joint move in all lanes. Those whose playouts are over begin
    /// another one.
    pub fn advance(&mut self) {
        self.runner.look(self.phase, &mut self.course);
        let going = self.course.going();
        self.runner.play(self.phase, going, &mut self.streams);
        self.phase = (self.phase + 1) % self.runner.phases.len();
    }

    /// The states of all lanes.
    #[cfg(test)]
    pub(super) fn state(&self) -> &[u64] {
        self.runner.banks[STATE as usize].flat()
    }

    /// Runs the tapes that each pass needs, so many times on the same states.
    /// Nothing is drawn, counted or kept; goals are evaluated only if they are
    /// part of these tapes.
    pub fn run(&mut self, times: u64) {
        let phase = &mut self.runner.phases[self.phase];
        for _ in 0..times {
            phase.look.run(&mut self.runner.banks);
            phase.play.run(&mut self.runner.banks);
        }
    }
}
