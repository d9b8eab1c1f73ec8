//! What the lanes of one run are at.
//!
//! In: after each pass, the lanes whose playout is over, and why. Out: the lanes
//! that go on, those that begin anew, and in the end a [`Tally`].

use multiversion::multiversion;

use super::Tally;
use super::circuit::{OVER, REFILL, SCORES, STUCK, TERMINAL};
use crate::propnet::lanes::Rows;

/// Where the lanes stand, and what they have come to.
#[derive(Debug)]
pub(super) struct Course {
    octets: Vec<Octet>,
    marks: Marks,
    /// Joint moves after which playouts are cut.
    depth: Option<u64>,
    is_idle: bool,
}

/// Rows that say what becomes of lanes in this pass.
#[derive(Debug)]
struct Marks {
    /// The playout goes on.
    going: Vec<u64>,
    /// It ends at a terminal state.
    due: Vec<u64>,
}

/// A bit for each of 512 lanes, or a number for each 64 of them.
/// On a cache line of its own: loads across two take twice as long.
#[derive(Copy, Clone, Default, Debug)]
#[repr(align(64))]
struct Vector([u64; 8]);

/// Eight words of lanes. If rows are shorter, some never have a playout.
#[derive(Debug, Default)]
struct Octet {
    /// Whether a playout that counts is running.
    live: Vector,
    /// Playouts to begin.
    remaining: Vector,
    changes: Vector,
    /// Joint moves of the running playouts, as binary numbers.
    ages: Vec<Vector>,
    /// The sum of the ages at all joint moves.
    aged: Vector,
    /// By phase: playouts that ended in it, row by row: [`OVER`], [`TERMINAL`],
    /// [`STUCK`], then what they were worth.
    sums: Vec<Vec<Vector>>,
}

/// What to do after looking at the states.
#[derive(Copy, Clone, Debug)]
pub(super) struct Turn {
    pub phase: usize,
    /// Whether lanes may begin anew.
    pub refill: bool,
    /// Whether it was seen what the states are worth.
    pub scored: bool,
}

/// What happened in a pass.
#[derive(Copy, Clone, Debug)]
struct Passed {
    is_any_going: bool,
    is_any_due: bool,
}

impl Course {
    /// By word: how many playouts to begin, now and later. The joint moves after
    /// which they are cut. By phase: how many rows say what playouts are worth.
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
        Course {
            octets: remaining.chunks(8).map(octet).collect(),
            marks: Marks {
                going: vec![0; remaining.len()],
                due: vec![0; remaining.len()],
            },
            depth,
            is_idle: false,
        }
    }

    /// The lanes that go on.
    pub fn going(&self) -> &[u64] {
        &self.marks.going
    }

    /// The lanes whose playouts end now at a terminal state.
    pub fn due(&self) -> &[u64] {
        &self.marks.due
    }

    /// Whether nothing is running or to begin.
    pub fn is_done(&self) -> bool {
        let is_done = |octet: &Octet| {
            let mut all = octet.live.0.iter().chain(&octet.remaining.0);
            all.all(|&none| none == 0)
        };
        self.is_idle && self.octets.iter().all(is_done)
    }

    /// Begins no playout from now on.
    pub fn begin_no_more(&mut self) {
        for octet in &mut self.octets {
            octet.remaining = Vector::default();
        }
    }

    /// Counts the playouts that `look` says are over, cuts those that are old
    /// enough, and makes a joint move in the rest. If lanes may begin anew,
    /// playouts begin in those without one, and [`REFILL`] becomes the lanes
    /// that do not go on. The result is whether any playout ends that is to be
    /// scored.
    pub fn settle(&mut self, turn: Turn, look: &Rows, drawn: &mut Rows) -> bool {
        let (mut any_due, mut any_going) = (false, false);
        for (at, octet) in (0..).step_by(8).zip(&mut self.octets) {
            let rows = (look, &mut self.marks, drawn.row_mut(REFILL));
            let passed = settle(octet, turn, self.depth, rows, at);
            any_due |= passed.is_any_due;
            any_going |= passed.is_any_going;
        }
        self.is_idle = !any_going;
        any_due
    }

    /// Counts what playouts that are over are worth, as rows say, in these lanes.
    pub fn score(&mut self, phase: usize, lanes: &[u64], scores: &Rows) {
        for (at, octet) in (0..).step_by(8).zip(&mut self.octets) {
            let lanes = &lanes[at..lanes.len().min(at + 8)];
            let sums = &mut octet.sums[phase][SCORES..];
            count(padded(lanes), Part::new(scores, at), sums);
        }
    }

    /// Adds what ended in one phase; with the first, also all joint moves.
    /// `goals`: by role and goal value, its row.
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
    /// Begins playouts in lanes without one, the lowest first.
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

    /// The lanes that are as old as that.
    #[inline(always)]
    fn of_age(&self, depth: u64) -> Vector {
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

    /// Makes a joint move in these lanes; all others become young.
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

/// Words as a vector, with zeros behind.
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

/// Sets the words of a row from a given one on.
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

/// Adds the lanes to a sum.
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

/// See [`Course::settle`]; `at` is the word that the octet begins with.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn settle(
    octet: &mut Octet,
    turn: Turn,
    depth: Option<u64>,
    (look, marks, refill): (&Rows, &mut Marks, &mut [u64]),
    at: usize,
) -> Passed {
    let look = Part::new(look, at);
    let mut over = look.row(OVER);
    if let Some(depth) = depth {
        let cut = octet.of_age(depth);
        for i in 0..8 {
            over.0[i] |= cut.0[i];
        }
    }
    let (mut ended, mut going, mut due) = (over, over, over);
    let terminal = look.row(TERMINAL);
    let mut anew = over;
    for i in 0..8 {
        ended.0[i] = octet.live.0[i] & over.0[i];
        going.0[i] = octet.live.0[i] & !over.0[i];
        due.0[i] = ended.0[i] & terminal.0[i];
        anew.0[i] = !going.0[i];
    }
    set(&mut marks.going, at, going);
    set(&mut marks.due, at, due);
    octet.age(going);
    octet.live = going;
    if is_any(ended) {
        let (ends, scores) = octet.sums[turn.phase].split_at_mut(SCORES);
        let stuck = look.row(STUCK);
        let mut both = ended;
        for i in 0..8 {
            both.0[i] &= stuck.0[i];
        }
        add(&mut ends[OVER], ended);
        add(&mut ends[TERMINAL], due);
        add(&mut ends[STUCK], both);
        if turn.scored {
            count_all(due, look, SCORES, scores);
        }
    }
    if turn.refill {
        set(refill, at, anew);
        octet.begin();
    }
    Passed {
        is_any_going: is_any(going),
        is_any_due: is_any(due),
    }
}

/// Adds to sums the lanes that rows have in common with others.
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
