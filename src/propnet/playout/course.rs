//! What the lanes of one run are at.
//!
//! In: after each pass, the lanes whose playout is over, and why. Out: the lanes
//! that go on, those that begin anew, and in the end a [`Tally`].

use multiversion::multiversion;

use super::Tally;

/// One bit a lane, and sums over all lanes.
#[derive(Debug)]
pub(super) struct Course {
    /// Whether a playout that counts is running.
    live: Vec<u64>,
    /// Whether it runs on after this pass.
    going: Vec<u64>,
    /// Whether it ends in this pass, and in a terminal state.
    ended: Vec<u64>,
    terminal: Vec<u64>,
    /// By word: playouts to begin.
    remaining: Vec<u64>,
    state_changes: u64,
    /// By phase.
    sums: Vec<Sums>,
}

/// Playouts that ended in one phase.
#[derive(Clone, Default, Debug)]
struct Sums {
    ended: u64,
    terminal: u64,
    stuck: u64,
    /// By row of the scores.
    scores: Vec<u64>,
}

impl Course {
    /// By word: how many playouts to begin, now and later.
    pub fn new(remaining: Vec<u64>, phases: usize) -> Self {
        let words = remaining.len();
        let mut course = Course {
            live: vec![0; words],
            going: vec![0; words],
            ended: vec![0; words],
            terminal: vec![0; words],
            remaining,
            state_changes: 0,
            sums: vec![Sums::default(); phases],
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
        let all = self.live.iter().chain(&self.remaining);
        all.fold(0, |any, word| any | word) == 0
    }

    /// Begins no playout from now on.
    pub fn begin_no_more(&mut self) {
        self.remaining.fill(0);
    }

    /// Says which playouts are over, among others. The result is whether any of
    /// those that count is.
    pub fn settle(&mut self, over: &[u64]) -> bool {
        let (changes, any) = settle(over, &mut self.live, &mut self.going, &mut self.ended);
        self.state_changes += changes;
        any
    }

    /// Counts the playouts that were just found to be over; rows say why.
    pub fn count(&mut self, phase: usize, terminal: &[u64], stuck: &[u64], scores: &[u64]) {
        let sums = &mut self.sums[phase];
        sums.scores.resize(scores.len() / terminal.len(), 0);
        for ((both, ended), terminal) in self.terminal.iter_mut().zip(&self.ended).zip(terminal) {
            *both = ended & terminal;
        }
        let mut counts = [0; 3];
        count(&self.ended, &self.ended, &mut counts[..1]);
        count(&self.ended, terminal, &mut counts[1..2]);
        count(&self.ended, stuck, &mut counts[2..]);
        sums.ended += counts[0];
        sums.terminal += counts[1];
        sums.stuck += counts[2];
        count(&self.terminal, scores, &mut sums.scores);
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
    /// `goals`: by role and goal value, its row of the scores.
    pub fn add_to(&self, tally: &mut Tally, phase: usize, goals: &[Vec<usize>]) {
        if phase == 0 {
            tally.state_changes += self.state_changes;
        }
        let sums = &self.sums[phase];
        tally.playouts += sums.ended;
        tally.stuck += sums.stuck;
        tally.cut += sums.ended - sums.terminal - sums.stuck;
        if sums.ended == 0 {
            return;
        }
        for (role, rows) in goals.iter().enumerate() {
            let mut errors = sums.terminal;
            for (goal, &row) in tally.goals[role].iter_mut().zip(rows) {
                *goal += sums.scores[row];
                errors -= sums.scores[row];
            }
            tally.goal_errors[role] += errors;
        }
    }
}

/// The number of lanes that go on, and whether any ends.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn settle(over: &[u64], live: &mut [u64], going: &mut [u64], ended: &mut [u64]) -> (u64, bool) {
    let words = over.len();
    let (live, going, ended) = (&mut live[..words], &mut going[..words], &mut ended[..words]);
    let mut changes = 0;
    let mut any = 0;
    for i in 0..words {
        ended[i] = live[i] & over[i];
        going[i] = live[i] & !over[i];
        live[i] = going[i];
        any |= ended[i];
        changes += u64::from(going[i].count_ones());
    }
    (changes, any != 0)
}

/// Adds to each count the lanes that its row has in common with others.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn count(lanes: &[u64], rows: &[u64], counts: &mut [u64]) {
    let words = lanes.len();
    for (number, sum) in counts.iter_mut().enumerate() {
        let row = &rows[number * words..][..words];
        for i in 0..words {
            *sum += u64::from((row[i] & lanes[i]).count_ones());
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
