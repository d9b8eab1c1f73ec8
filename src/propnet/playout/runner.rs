//! Runs the playouts of some blocks of lanes.
//!
//! In: tapes, and how many playouts each block shall play. Out: a [`Tally`].

use std::ops::Range;

use super::circuit::{BANKS, DRAWN, LOOK, NEXT, OVER, REFILL, STATE};
use super::course::Course;
use super::{PASSES_ASKED, Phase, Playouts, Proceed, Tally};
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
        let words = self.playouts.words;
        let mut streams = Streams::new(self.seed, blocks.start, words);
        for (row, &holds) in self.playouts.start.iter().enumerate() {
            self.banks[STATE as usize].fill(row, if holds { u64::MAX } else { 0 });
        }
        let ends = self.phases.iter().map(|phase| phase.ends);
        let mut course = Course::new(blocks.map(share).collect(), ends);
        let mut passes = 0u32;
        for phase in (0..self.phases.len()).cycle() {
            passes = passes.wrapping_add(1);
            if passes.is_multiple_of(PASSES_ASKED as u32) {
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
            self.banks.swap(STATE as usize, NEXT as usize);
        }
        let mut tally = self.playouts.none.clone();
        for (number, phase) in self.phases.iter().enumerate() {
            course.add_to(&mut tally, number, &phase.goals);
        }
        tally
    }

    /// Runs the tapes alone.
    pub fn run_tapes(&mut self, passes: u64) {
        let count = self.phases.len() as u64;
        for pass in 0..passes {
            let phase = &mut self.phases[(pass % count) as usize];
            phase.look.run(&mut self.banks);
            phase.play.run(&mut self.banks);
            self.banks.swap(STATE as usize, NEXT as usize);
        }
    }

    /// Counts the playouts that are over, and has others begin in their place.
    fn look(&mut self, number: usize, course: &mut Course) {
        let phase = &mut self.phases[number];
        phase.look.run(&mut self.banks);
        let look = LOOK as usize;
        if course.settle(self.banks[look].row(OVER)) {
            if let Some(score) = &mut phase.score {
                score.run(&mut self.banks);
            }
            let ends = phase.ends * self.playouts.words;
            course.count(number, &self.banks[look].flat()[..ends]);
        }
        if phase.refill {
            course.begin(self.banks[DRAWN as usize].row_mut(REFILL));
        }
    }

    /// Draws moves for the lanes that go on, and makes them.
    fn play(&mut self, phase: usize, going: &[u64], streams: &mut Streams) {
        let words = self.playouts.words;
        let phase = &mut self.phases[phase];
        let span = |rows: &Range<usize>| rows.start * words..rows.end * words;
        for draw in &phase.draws {
            let [look, drawn] = self
                .banks
                .get_disjoint_mut([LOOK as usize, DRAWN as usize])
                .expect("they are different banks");
            let limits = Limits {
                counts: &look.flat()[span(&draw.counts)],
                masks: &look.flat()[span(&draw.masks)],
            };
            streams.draw(going, limits, &mut drawn.flat_mut()[span(&draw.numbers)]);
        }
        phase.play.run(&mut self.banks);
    }
}
