//! What the lanes of one run are at.
//!
//! In: after each pass, the lanes whose playout is over, and why. Out: the lanes
//! that go on, those that begin anew, and in the end a [`Tally`].

use multiversion::multiversion;

use super::Tally;
use super::circuit::{OVER, STUCK, TERMINAL};

/// One bit a lane, and sums by word: added up only at the end.
#[derive(Debug)]
pub(super) struct Course {
    /// Whether a playout that counts is running.
    live: Vec<u64>,
    /// Whether it runs on after this pass.
    going: Vec<u64>,
    /// Whether it ends in this pass.
    ended: Vec<u64>,
    /// By word: playouts to begin.
    remaining: Vec<u64>,
    state_changes: Vec<u64>,
    /// By phase: playouts that ended in it, row by row as those that say how.
    sums: Vec<Vec<u64>>,
    is_idle: bool,
}

impl Course {
    /// By word: how many playouts to begin, now and later. By phase: how many
    /// rows say how playouts end.
    pub fn new(remaining: Vec<u64>, ends: impl Iterator<Item = usize>) -> Self {
        let words = remaining.len();
        let zeros = vec![0; words];
        let mut course = Course {
            live: zeros.clone(),
            going: zeros.clone(),
            ended: zeros.clone(),
            remaining,
            state_changes: zeros,
            sums: ends.map(|rows| vec![0; rows * words]).collect(),
            is_idle: false,
        };
        begin(&mut course.live, &mut course.remaining);
        course
    }

    /// The lanes that go on.
    pub fn going(&self) -> &[u64] {
        &self.going
    }

    /// Whether nothing is running or to begin.
    pub fn is_done(&self) -> bool {
        let mut all = self.live.iter().chain(&self.remaining);
        self.is_idle && all.all(|&none| none == 0)
    }

    /// Begins no playout from now on.
    pub fn begin_no_more(&mut self) {
        self.remaining.fill(0);
    }

    /// Says which playouts are over, among others. The result is whether any of
    /// those that count is.
    pub fn settle(&mut self, over: &[u64]) -> bool {
        let lanes = [&mut self.live, &mut self.going, &mut self.ended];
        let (ended, going) = settle(over, lanes.map(Vec::as_mut_slice), &mut self.state_changes);
        self.is_idle = !going;
        ended
    }

    /// Counts the playouts that were just found to be over; rows say how they
    /// end.
    pub fn count(&mut self, phase: usize, ends: &[u64]) {
        count(&self.ended, ends, &mut self.sums[phase]);
    }

    /// Begins playouts in lanes without one. `refill` becomes the lanes that do
    /// not go on.
    pub fn begin(&mut self, refill: &mut [u64]) {
        for (refill, going) in refill.iter_mut().zip(&self.going) {
            *refill = !going;
        }
        begin(&mut self.live, &mut self.remaining);
    }

    /// Adds what ended in one phase; with the first, also all joint moves.
    /// `goals`: by role and goal value, its row.
    pub fn add_to(&self, tally: &mut Tally, phase: usize, goals: &[Vec<usize>]) {
        if phase == 0 {
            tally.state_changes += self.state_changes.iter().sum::<u64>();
        }
        let words = self.live.len();
        let rows = self.sums[phase].chunks_exact(words);
        let sums: Vec<u64> = rows.map(|row| row.iter().sum()).collect();
        tally.playouts += sums[OVER];
        tally.stuck += sums[STUCK];
        tally.cut += sums[OVER] - sums[TERMINAL] - sums[STUCK];
        for (role, rows) in goals.iter().enumerate() {
            let mut errors = sums[TERMINAL];
            for (goal, &row) in tally.goals[role].iter_mut().zip(rows) {
                *goal += sums[row];
                errors -= sums[row];
            }
            tally.goal_errors[role] += errors;
        }
    }
}

/// Whether any lane ends, and whether any goes on. `lanes`: those live, which
/// become those that go on; these again; those that end.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn settle(over: &[u64], lanes: [&mut [u64]; 3], changes: &mut [u64]) -> (bool, bool) {
    let words = over.len();
    let [live, going, ended] = lanes;
    let (live, going, ended) = (&mut live[..words], &mut going[..words], &mut ended[..words]);
    let changes = &mut changes[..words];
    let (mut any_ended, mut any_going) = (0, 0);
    for i in 0..words {
        ended[i] = live[i] & over[i];
        live[i] &= !over[i];
        going[i] = live[i];
        any_ended |= ended[i];
        any_going |= live[i];
        changes[i] += u64::from(live[i].count_ones());
    }
    (any_ended != 0, any_going != 0)
}

/// Adds to each word of sums the lanes that the rows have in common with others.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn count(lanes: &[u64], rows: &[u64], sums: &mut [u64]) {
    let rows = rows.chunks_exact(lanes.len());
    for (row, sums) in rows.zip(sums.chunks_exact_mut(lanes.len())) {
        for i in 0..lanes.len() {
            sums[i] += u64::from((row[i] & lanes[i]).count_ones());
        }
    }
}

/// Begins playouts in lanes without one, the lowest first.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn begin(live: &mut [u64], remaining: &mut [u64]) {
    for i in 0..live.len() {
        let mut free = !live[i];
        if free == 0 || remaining[i] == 0 {
            continue;
        }
        while u64::from(free.count_ones()) > remaining[i] {
            free &= !(1 << (63 - free.leading_zeros()));
        }
        remaining[i] -= u64::from(free.count_ones());
        live[i] |= free;
    }
}
