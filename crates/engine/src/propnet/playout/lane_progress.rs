//! The progress of the lanes of one run.
//!
//! In: after each pass, the lanes whose playout is over, and why. Out: the lanes
//! that continue, the lanes that restart, and finally a [`Tally`].

use multiversion::multiversion;

use super::Tally;
use super::circuit::{OVER, REFILL, SCORES, STUCK, TERMINAL};
use crate::propnet::lanes::Rows;

/// The state of all lanes and the counts of their finished playouts.
#[derive(Debug)]
pub(super) struct LaneProgress {
    octets: Vec<Octet>,
    marks: Marks,
    /// The number of joint moves after which playouts are cut.
    depth: Option<u64>,
    is_idle: bool,
}

/// Rows of lanes, by what happens to them in the current pass.
#[derive(Debug)]
struct Marks {
    /// The playout continues.
    going: Vec<u64>,
    /// The playout ends in a terminal state.
    finished: Vec<u64>,
}

/// One bit for each of 512 lanes, or one number for each 64 of them. It fills one
/// cache line, since loads across two take twice as long.
#[derive(Copy, Clone, Default, Debug)]
#[repr(align(64))]
struct Vector([u64; 8]);

/// Eight words of lanes. If rows are shorter, the rest never have a playout.
#[derive(Debug, Default)]
struct Octet {
    /// Lanes with a running playout that counts.
    live: Vector,
    /// The number of playouts still to begin.
    remaining: Vector,
    changes: Vector,
    /// The joint moves of the running playouts, as binary numbers: one vector per
    /// bit.
    ages: Vec<Vector>,
    /// The sum of the ages at all joint moves.
    aged: Vector,
    /// By phase: the playouts that ended in it, by row: [`OVER`], [`TERMINAL`],
    /// [`STUCK`], then the scores.
    sums: Vec<Vec<Vector>>,
}

/// The properties of a pass.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pass {
    pub phase: usize,
    /// True if lanes may restart.
    pub refill: bool,
    /// True if the first tape has computed the scores.
    pub scored: bool,
}

/// The result of a pass.
#[derive(Copy, Clone, Debug)]
struct PassResult {
    is_any_going: bool,
    is_any_finished: bool,
}

impl LaneProgress {
    /// `remaining`: by word, the number of playouts to begin, now and later.
    /// `depth`: the number of joint moves after which they are cut. `scores`: by
    /// phase, the number of rows of scores.
    pub fn new(remaining: &[u64], depth: Option<u64>, scores: &[usize]) -> Self {
        let octet = |remaining: &[u64]| {
            let rows = |&scores: &usize| vec![Vector::default(); SCORES + scores];
            let mut octet = Octet {
                remaining: padded(remaining),
                sums: scores.iter().map(rows).collect(),
                ..Octet::default()
            };
            octet.begin();
            octet
        };
        LaneProgress {
            octets: remaining.chunks(8).map(octet).collect(),
            marks: Marks {
                going: vec![0; remaining.len()],
                finished: vec![0; remaining.len()],
            },
            depth,
            is_idle: false,
        }
    }

    /// The lanes that continue.
    pub fn going(&self) -> &[u64] {
        &self.marks.going
    }

    /// The lanes whose playouts have just ended in a terminal state.
    pub fn finished(&self) -> &[u64] {
        &self.marks.finished
    }

    /// True if no playout is running or left to begin.
    pub fn is_done(&self) -> bool {
        let is_done = |octet: &Octet| {
            let mut all = octet.live.0.iter().chain(&octet.remaining.0);
            all.all(|&none| none == 0)
        };
        self.is_idle && self.octets.iter().all(is_done)
    }

    /// Begins no more playouts.
    pub fn begin_no_more(&mut self) {
        for octet in &mut self.octets {
            octet.remaining = Vector::default();
        }
    }

    /// Counts the playouts that are over according to `look`, cuts those at the
    /// depth limit, and advances the age of the rest. If lanes may restart,
    /// playouts begin in idle lanes, and [`REFILL`] is set to the lanes that do not
    /// continue. Returns true if any playout ended in a terminal state.
    pub fn settle(&mut self, pass: Pass, look: &Rows, drawn: &mut Rows) -> bool {
        let (mut any_finished, mut any_going) = (false, false);
        for (at, octet) in (0..).step_by(8).zip(&mut self.octets) {
            let rows = (look, &mut self.marks, drawn.row_mut(REFILL));
            let result = settle(octet, pass, self.depth, rows, at);
            any_finished |= result.is_any_finished;
            any_going |= result.is_any_going;
        }
        self.is_idle = !any_going;
        any_finished
    }

    /// Counts the scores of finished playouts in these lanes.
    pub fn score(&mut self, phase: usize, lanes: &[u64], scores: &Rows) {
        for (at, octet) in (0..).step_by(8).zip(&mut self.octets) {
            let lanes = &lanes[at..lanes.len().min(at + 8)];
            let sums = &mut octet.sums[phase][SCORES..];
            count(padded(lanes), Part::new(scores, at), sums);
        }
    }

    /// Adds the playouts that ended in one phase, and with phase 0 also all joint
    /// moves. `goals` gives the row of each role's goal values.
    pub fn add_to(&self, tally: &mut Tally, phase: usize, goals: &[Vec<usize>]) {
        for octet in &self.octets {
            if phase == 0 {
                let changes: u64 = octet.changes.0.iter().sum();
                tally.state_changes += changes;
                // n² is the sum of 2 i + 1 for all i below n.
                let aged = octet.aged.0.iter().map(|&aged| u128::from(aged));
                tally.squared_lengths += 2 * aged.sum::<u128>() + u128::from(changes);
            }
            let rows = octet.sums[phase].iter();
            let sums: Vec<u64> = rows.map(|row| row.0.iter().sum()).collect();
            tally.playouts += sums[OVER];
            tally.stuck += sums[STUCK];
            tally.cut += sums[OVER] - sums[TERMINAL] - sums[STUCK];
            for (role, rows) in goals.iter().enumerate() {
                let mut errors = sums[TERMINAL];
                for (goal, &row) in tally.goals[role].iter_mut().zip(rows) {
                    *goal += sums[SCORES + row];
                    errors -= sums[SCORES + row];
                }
                tally.goal_errors[role] += errors;
            }
        }
    }
}

impl Octet {
    /// Begins playouts in idle lanes, the lowest first.
    #[inline(always)]
    fn begin(&mut self) {
        let (live, mut left) = (self.live, self.remaining);
        let mut short = Vector::default();
        for i in 0..8 {
            let free = u64::from((!live.0[i]).count_ones());
            short.0[i] = u64::from(left.0[i] < free);
            left.0[i] = left.0[i].wrapping_sub(free);
        }
        if !is_any(short) {
            self.remaining = left;
            self.live = Vector([u64::MAX; 8]);
            return;
        }
        for (live, remaining) in self.live.0.iter_mut().zip(&mut self.remaining.0) {
            let mut free = !*live;
            while u64::from(free.count_ones()) > *remaining {
                free &= !(1 << (63 - free.leading_zeros()));
            }
            *remaining -= u64::from(free.count_ones());
            *live |= free;
        }
    }

    /// The lanes whose age is `depth`.
    #[inline(always)]
    fn with_age(&self, depth: u64) -> Vector {
        let mut equal = self.live;
        if depth.checked_shr(self.ages.len() as u32).unwrap_or(0) != 0 {
            return Vector::default();
        }
        for (bit, age) in self.ages.iter().enumerate() {
            let other = if depth >> bit & 1 == 1 { 0 } else { u64::MAX };
            for i in 0..8 {
                equal.0[i] &= age.0[i] ^ other;
            }
        }
        equal
    }

    /// Advances the age of these lanes and resets that of all others.
    #[inline(always)]
    fn age(&mut self, going: Vector) {
        let (mut carry, mut aged) = (going, self.aged);
        for (bit, row) in self.ages.iter_mut().enumerate() {
            let mut age = *row;
            for i in 0..8 {
                let old = age.0[i] & going.0[i];
                aged.0[i] += u64::from(old.count_ones()) << bit;
                age.0[i] = old ^ carry.0[i];
                carry.0[i] &= old;
            }
            *row = age;
        }
        self.aged = aged;
        add(&mut self.changes, going);
        if is_any(carry) {
            self.ages.push(carry);
        }
    }
}

/// A vector with the given words first and zeros after them.
#[cold]
fn padded(words: &[u64]) -> Vector {
    let mut vector = Vector::default();
    vector.0[..words.len()].copy_from_slice(words);
    vector
}

/// The eight words of a row that belong to an octet.
#[derive(Copy, Clone, Debug)]
struct Part<'r> {
    flat: &'r [u64],
    words: usize,
    at: usize,
}

impl<'r> Part<'r> {
    #[inline(always)]
    fn new(rows: &'r Rows, at: usize) -> Self {
        Part {
            flat: rows.flat(),
            words: rows.words(),
            at,
        }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> Vector {
        let words = &self.flat[row * self.words + self.at..];
        match words.first_chunk() {
            Some(&whole) if self.words >= 8 => Vector(whole),
            _ => padded(&words[..self.words]),
        }
    }
}

/// Stores a vector in a row from the word `at` on.
#[inline(always)]
fn set(row: &mut [u64], at: usize, vector: Vector) {
    let words = &mut row[at..];
    match words.first_chunk_mut() {
        Some(whole) => *whole = vector.0,
        None => set_few(words, vector),
    }
}

#[cold]
fn set_few(words: &mut [u64], vector: Vector) {
    words.copy_from_slice(&vector.0[..words.len()]);
}

/// Adds the number of set lanes to a sum.
#[inline(always)]
fn add(sum: &mut Vector, lanes: Vector) {
    for i in 0..8 {
        sum.0[i] += u64::from(lanes.0[i].count_ones());
    }
}

#[inline(always)]
fn is_any(lanes: Vector) -> bool {
    let mut any = 0;
    for lanes in lanes.0 {
        any |= lanes;
    }
    any != 0
}

/// See [`LaneProgress::settle`]; `at` is the first word of the octet.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn settle(
    octet: &mut Octet,
    pass: Pass,
    depth: Option<u64>,
    (look, marks, refill): (&Rows, &mut Marks, &mut [u64]),
    at: usize,
) -> PassResult {
    let look = Part::new(look, at);
    let mut over = look.row(OVER);
    if let Some(depth) = depth {
        let cut = octet.with_age(depth);
        for i in 0..8 {
            over.0[i] |= cut.0[i];
        }
    }
    let (mut ended, mut going, mut finished) = (over, over, over);
    let terminal = look.row(TERMINAL);
    let mut restarted = over;
    for i in 0..8 {
        ended.0[i] = octet.live.0[i] & over.0[i];
        going.0[i] = octet.live.0[i] & !over.0[i];
        finished.0[i] = ended.0[i] & terminal.0[i];
        restarted.0[i] = !going.0[i];
    }
    set(&mut marks.going, at, going);
    set(&mut marks.finished, at, finished);
    octet.age(going);
    octet.live = going;
    if is_any(ended) {
        let (ends, scores) = octet.sums[pass.phase].split_at_mut(SCORES);
        let stuck = look.row(STUCK);
        let mut both = ended;
        for i in 0..8 {
            both.0[i] &= stuck.0[i];
        }
        add(&mut ends[OVER], ended);
        add(&mut ends[TERMINAL], finished);
        add(&mut ends[STUCK], both);
        if pass.scored {
            count_all(finished, look, SCORES, scores);
        }
    }
    if pass.refill {
        set(refill, at, restarted);
        octet.begin();
    }
    PassResult {
        is_any_going: is_any(going),
        is_any_finished: is_any(finished),
    }
}

/// Adds to each sum the number of lanes that its row has in common with `lanes`.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn count(lanes: Vector, rows: Part<'_>, sums: &mut [Vector]) {
    count_all(lanes, rows, 0, sums);
}

#[inline(always)]
fn count_all(lanes: Vector, rows: Part<'_>, first: usize, sums: &mut [Vector]) {
    for (number, sum) in sums.iter_mut().enumerate() {
        let mut both = rows.row(first + number);
        for i in 0..8 {
            both.0[i] &= lanes.0[i];
        }
        add(sum, both);
    }
}
