//! Runs the playouts of some blocks of lanes.
//!
//! In: tapes, and how many playouts each block shall play. Out: a [`Tally`].

use std::ops::Range;

use super::circuit::{BANKS, DRAWN, LOOK, NEXT, OVER, REFILL, SCORE, STATE, STUCK, TERMINAL};
use super::{Phase, Playouts, Proceed, Tally};
use crate::propnet::lanes::Rows;
use crate::propnet::streams::{Limits, Streams};

/// Passes after which it asks whether to go on.
const PATIENCE: u32 = 16;

/// One thread's tapes and rows.
#[derive(Debug)]
pub(super) struct Runner<'p> {
    playouts: &'p Playouts,
    phases: Vec<Phase>,
    banks: [Rows; BANKS],
    seed: u64,
}

/// What the lanes of one run do.
struct Course {
    /// By lane: whether a playout is running.
    live: Vec<u64>,
    /// By lane: whether it runs on after this pass.
    going: Vec<u64>,
    /// By word: playouts to begin.
    remaining: Vec<u64>,
    tally: Tally,
}

impl Course {
    /// Begins playouts in lanes without one, the lowest first.
    fn begin(&mut self) {
        for (live, remaining) in self.live.iter_mut().zip(&mut self.remaining) {
            let mut free = !*live;
            if *remaining == 0 || free == 0 {
                continue;
            }
            while u64::from(free.count_ones()) > *remaining {
                free &= !(1 << (63 - free.leading_zeros()));
            }
            *remaining -= u64::from(free.count_ones());
            *live |= free;
        }
    }
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
        let mut course = Course {
            live: vec![0; words],
            going: vec![0; words],
            remaining: blocks.map(share).collect(),
            tally: self.playouts.none.clone(),
        };
        course.begin();
        let mut passes = 0u32;
        for phase in (0..self.phases.len()).cycle() {
            passes = passes.wrapping_add(1);
            if passes.is_multiple_of(PATIENCE) {
                match proceed() {
                    Proceed::On => {}
                    Proceed::Finish => course.remaining.fill(0),
                    Proceed::Drop => break,
                }
            }
            self.look(phase, &mut course);
            if course
                .live
                .iter()
                .chain(&course.remaining)
                .all(|&none| none == 0)
            {
                break;
            }
            self.play(phase, &course.going, &mut streams);
            self.banks.swap(STATE as usize, NEXT as usize);
        }
        course.tally
    }

    /// Counts the playouts that are over, and has others begin in their place.
    fn look(&mut self, phase: usize, course: &mut Course) {
        let phase = &mut self.phases[phase];
        phase.look.run(&mut self.banks);
        let over = self.banks[LOOK as usize].row(OVER);
        let mut ended = 0;
        for ((live, going), over) in course.live.iter().zip(&mut course.going).zip(over) {
            ended |= live & over;
            *going = live & !over;
            course.tally.state_changes += u64::from(going.count_ones());
        }
        if ended != 0 {
            if let Some(score) = &mut phase.score {
                score.run(&mut self.banks);
            }
            count(&self.banks, &phase.goals, course);
            course.live.copy_from_slice(&course.going);
        }
        if phase.refill {
            course.begin();
            let refill = self.banks[DRAWN as usize].row_mut(REFILL);
            for (refill, going) in refill.iter_mut().zip(&course.going) {
                *refill = !going;
            }
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

/// Counts the playouts that do not go on.
fn count(banks: &[Rows; BANKS], goals: &[Vec<usize>], course: &mut Course) {
    let tally = &mut course.tally;
    let look = &banks[LOOK as usize];
    let ones = |row: &[u64], of: &[u64]| -> u64 {
        row.iter()
            .zip(of)
            .map(|(a, b)| u64::from((a & b).count_ones()))
            .sum()
    };
    let lanes = course.live.iter().zip(&course.going);
    let ended: Vec<u64> = lanes.map(|(live, going)| live & !going).collect();
    let terminal: Vec<u64> = ended
        .iter()
        .zip(look.row(TERMINAL))
        .map(|(a, b)| a & b)
        .collect();
    let all = ones(&ended, &ended);
    let scored = ones(&terminal, &terminal);
    let stuck = ones(&ended, look.row(STUCK));
    tally.playouts += all;
    tally.stuck += stuck;
    tally.cut += all - scored - stuck;
    let by_row: Vec<u64> = {
        let score = &banks[SCORE as usize];
        (0..score.len())
            .map(|row| ones(score.row(row), &terminal))
            .collect()
    };
    for (role, rows) in goals.iter().enumerate() {
        let mut errors = scored;
        for (goal, &row) in tally.goals[role].iter_mut().zip(rows) {
            *goal += by_row[row];
            errors -= by_row[row];
        }
        tally.goal_errors[role] += errors;
    }
}
