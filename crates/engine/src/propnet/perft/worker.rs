//! One thread's search through the states of some depths.
//!
//! In: the code of these depths, and states of the first. Out: the numbers of
//! joint-move sequences by length, the numbers of those that end the game, and
//! their scores.
//!
//! The search is depth-first, a row of lanes at a time. A joint move is made in all
//! lanes, and the resulting lanes are searched before the next joint move is made.
//! If few lanes are left, they wait until there are enough of them for a row.

#[cfg(feature = "simd")]
use multiversion::multiversion;

use super::compile::Compiled;
use super::gather::Gather;
use super::stage::{BANKS, DONE, LEFT, SEEN, STATE, STUCK, Stage, TERMINAL};
use crate::propnet::lanes::Rows;

/// States in the first `lanes` lanes; the other lanes are unused.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub rows: Rows,
    pub lanes: usize,
}

/// The counts of the sequences of one length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    pub paths: u128,
    pub terminal: u128,
    /// By role.
    pub sums: Vec<u128>,
    /// By role: the ending sequences in which it has exactly one valid score.
    pub scores: Vec<u128>,
}

/// The reason why a search was stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    /// A role has no legal move in the given state: by fact, its value.
    Stuck(Vec<bool>),
    Interrupted,
    /// There are more states after the first depth than allowed.
    TooManyStates,
}

/// The depths of a search.
#[derive(Debug)]
pub(super) struct Route<'s, 'n> {
    /// From the first depth to the last.
    pub stages: Vec<&'s Stage<'n>>,
    /// If set, the states after the first depth are kept and not searched. The
    /// value is their approximate maximum number.
    pub keep: Option<usize>,
    pub words: usize,
}

/// One thread's code and rows.
#[derive(Debug)]
pub(super) struct Worker<'s, 'n> {
    route: &'s Route<'s, 'n>,
    /// [`BANKS`] per depth.
    banks: Vec<Rows>,
    own: Vec<ThreadCode>,
    gathers: Vec<Gather>,
    frames: Vec<Frame>,
    pub tallies: Vec<Tally>,
    pub kept: Vec<Batch>,
}

/// One depth's code.
#[derive(Debug)]
struct ThreadCode {
    status: Compiled,
    /// The code for scores; then by joint move, and for odometers at the end: the
    /// code for inner depths, and for the last one.
    score: Option<Compiled>,
    moves: Vec<[Option<Compiled>; 2]>,
}

/// The joint moves of one row of lanes.
#[derive(Debug)]
struct Frame {
    /// The lanes whose game continues.
    going: Vec<u64>,
    /// The lanes after a joint move.
    lanes: Vec<u64>,
    next: Next,
    /// The number of rows entered, and the operations since.
    entered: u64,
    spent: u64,
}

#[derive(Debug)]
enum Next {
    Joint(usize),
    Odometer,
}

enum Step {
    Down,
    Stay,
    Up,
}

/// The fixed cost of running code, in operations.
const OVERHEAD: usize = 60;
/// The cost of a row of waiting lanes, in operations.
const GATHERED: u64 = 50;

impl<'s, 'n> Worker<'s, 'n> {
    pub fn new(route: &'s Route<'s, 'n>) -> Self {
        let words = route.words;
        let mut banks = Vec::new();
        let mut own = Vec::new();
        let mut gathers = Vec::new();
        let mut frames = Vec::new();
        let mut tallies = Vec::new();
        for stage in &route.stages {
            let sizes = stage.sizes();
            banks.extend(sizes.map(|rows| Rows::new(rows, words)));
            gathers.push(Gather::new(sizes[STATE], words));
            let mut moves = Vec::new();
            moves.resize_with(stage.joints() + 1, || [None, None]);
            own.push(ThreadCode {
                status: stage.status.clone(),
                score: None,
                moves,
            });
            frames.push(Frame {
                going: vec![0; words],
                lanes: vec![0; words],
                next: Next::Odometer,
                entered: 0,
                spent: 0,
            });
            tallies.push(Tally {
                paths: 0,
                terminal: 0,
                sums: vec![0; stage.roles()],
                scores: vec![0; stage.roles()],
            });
        }
        Worker {
            route,
            banks,
            own,
            gathers,
            frames,
            tallies,
            kept: Vec::new(),
        }
    }

    /// Searches from some lanes of a batch.
    pub fn walk_from(
        &mut self,
        batch: &Batch,
        lanes: &[u64],
        proceed: &impl Fn() -> bool,
    ) -> Result<(), Halt> {
        let rows = batch.rows.flat();
        self.banks[STATE].flat_mut()[..rows.len()].copy_from_slice(rows);
        self.walk(0, lanes, proceed)
    }

    /// Searches from the lanes that still wait.
    pub fn finish(&mut self, proceed: &impl Fn() -> bool) -> Result<(), Halt> {
        for depth in 1..self.route.stages.len() {
            if self.route.keep.is_some() {
                if self.gathers[depth].count() > 0 {
                    self.keep(depth);
                }
            } else if self.gathers[depth].count() > 0 {
                let lanes = self.take(depth);
                self.walk(depth, &lanes, proceed)?;
            }
        }
        Ok(())
    }

    fn walk(
        &mut self,
        first: usize,
        lanes: &[u64],
        proceed: &impl Fn() -> bool,
    ) -> Result<(), Halt> {
        if !self.enter(first, lanes)? {
            return Ok(());
        }
        let mut depth = first;
        loop {
            match self.step(depth)? {
                Step::Down => {
                    depth += 1;
                    if !proceed() {
                        return Err(Halt::Interrupted);
                    }
                }
                Step::Stay => {}
                Step::Up if depth == first => return Ok(()),
                Step::Up => depth -= 1,
            }
        }
    }

    fn last(&self) -> usize {
        self.route.stages.len() - 1
    }

    /// Examines the states of a depth. Returns true if there are joint moves to
    /// make.
    fn enter(&mut self, depth: usize, lanes: &[u64]) -> Result<bool, Halt> {
        let is_end = depth == self.last() && self.route.keep.is_none();
        let stage = self.route.stages[depth];
        let (banks, own) = (&mut self.banks[depth * BANKS..], &mut self.own[depth]);
        own.status.code.run(banks);
        let terminal = banks[SEEN].row(TERMINAL);
        let frame = &mut self.frames[depth];
        let mut ended = vec![0; lanes.len()];
        for word in 0..lanes.len() {
            ended[word] = lanes[word] & terminal[word];
            frame.going[word] = lanes[word] & !terminal[word];
        }
        let tally = &mut self.tallies[depth];
        tally.paths += u128::from(ones(lanes, lanes));
        if ended.iter().any(|&word| word != 0) {
            let work = match own.status.scores {
                Some(_) => &own.status,
                None => {
                    let score = own.score.get_or_insert_with(|| stage.score().clone());
                    score.code.run(banks);
                    score
                }
            };
            tally.add(work, &banks[SEEN], &ended);
        }
        if is_end || frame.going.iter().all(|&word| word == 0) {
            return Ok(false);
        }
        let stuck = banks[SEEN].row(STUCK).iter().zip(&frame.going);
        let stuck = stuck
            .enumerate()
            .find(|(_, (stuck, going))| *stuck & *going != 0);
        if let Some((word, (stuck, going))) = stuck {
            let lane = 64 * word + (stuck & going).trailing_zeros() as usize;
            return Err(Halt::Stuck(stage.state(&banks[STATE], lane)));
        }
        self.begin(depth);
        Ok(true)
    }

    /// Chooses between the two ways to enumerate joint moves.
    fn begin(&mut self, depth: usize) {
        let stage = self.route.stages[depth];
        let last = self.is_last(depth);
        let banks = &mut self.banks[depth * BANKS..];
        let frame = &mut self.frames[depth];
        frame.entered += 1;
        if stage.joints() > 0 {
            let going = ones(&frame.going, &frame.going);
            let (mut children, mut cost) = (0, 0);
            for joint in 0..stage.joints() {
                let lanes = legal(stage, joint, &banks[SEEN], &frame.going, &mut frame.lanes);
                if lanes > 0 {
                    children += lanes;
                    cost += stage.joint(joint, last).operations + OVERHEAD;
                }
            }
            // The lane with the most joint moves has at least the average number.
            let rounds = (11 * children).div_ceil(10 * going) as usize;
            if cost <= rounds * (stage.odometer(last).operations + OVERHEAD) {
                frame.next = Next::Joint(0);
                return;
            }
        }
        frame.next = Next::Odometer;
        let [seen, left] = banks
            .get_disjoint_mut([SEEN, LEFT])
            .expect("the banks are different");
        for (done, going) in left.row_mut(DONE).iter_mut().zip(&frame.going) {
            *done = !going;
        }
        for (row, &from) in stage.choices.iter().flatten().enumerate() {
            left.row_mut(DONE + 1 + row).copy_from_slice(seen.row(from));
        }
    }

    fn is_last(&self, depth: usize) -> bool {
        depth + 1 == self.last() && self.route.keep.is_none()
    }

    /// Makes a joint move in all lanes.
    fn step(&mut self, depth: usize) -> Result<Step, Halt> {
        let stage = self.route.stages[depth];
        let last = self.is_last(depth);
        let banks = &mut self.banks[depth * BANKS..];
        let frame = &mut self.frames[depth];
        let (number, count) = match &mut frame.next {
            Next::Joint(next) => loop {
                if *next == stage.joints() {
                    return Ok(Step::Up);
                }
                let number = *next;
                *next += 1;
                let count = legal(stage, number, &banks[SEEN], &frame.going, &mut frame.lanes);
                if count > 0 {
                    break (number, count);
                }
            },
            Next::Odometer => {
                let done = banks[LEFT].row(DONE);
                for (lanes, done) in frame.lanes.iter_mut().zip(done) {
                    *lanes = !done;
                }
                match ones(&frame.lanes, &frame.lanes) {
                    0 => return Ok(Step::Up),
                    count => (stage.joints(), count),
                }
            }
        };
        let work = self.own[depth].work(stage, number, last);
        work.code.run(banks);
        frame.spent += (work.operations + OVERHEAD) as u64;
        if last {
            let terminal = banks[BANKS + SEEN].row(TERMINAL);
            let tally = &mut self.tallies[depth + 1];
            tally.paths += u128::from(count);
            let mut any = 0;
            for (lanes, terminal) in frame.lanes.iter_mut().zip(terminal) {
                *lanes &= terminal;
                any |= *lanes;
            }
            if any != 0 && work.scores.is_some() {
                tally.add(work, &banks[BANKS + SEEN], &frame.lanes);
            } else if any != 0 {
                self.own[depth].work(stage, number, false).code.run(banks);
                let after = self.route.stages[depth + 1];
                let score = &mut self.own[depth + 1].score;
                let score = score.get_or_insert_with(|| after.score().clone());
                score.code.run(&mut banks[BANKS..]);
                tally.add(score, &banks[BANKS + SEEN], &frame.lanes);
            }
        }
        if matches!(frame.next, Next::Odometer) {
            banks.swap(LEFT, LEFT + 1);
        }
        match last {
            true => Ok(Step::Stay),
            false => self.descend(depth + 1, count),
        }
    }

    /// Continues with the new states, or lets them wait.
    fn descend(&mut self, depth: usize, count: u64) -> Result<Step, Halt> {
        let lanes = std::mem::take(&mut self.frames[depth - 1].lanes);
        let all = 64 * lanes.len() as u64;
        let least = self.least(depth, all);
        let keeps = self.route.keep;
        let mut entered = false;
        if keeps.is_none() && count >= least {
            entered = self.enter(depth, &lanes)?;
        } else {
            let gather = &mut self.gathers[depth];
            gather.add(&self.banks[depth * BANKS + STATE], &lanes);
            if gather.is_full() {
                if let Some(most) = keeps {
                    self.keep(depth);
                    if self.kept.len() * all as usize > most {
                        return Err(Halt::TooManyStates);
                    }
                } else {
                    let lanes = self.take(depth);
                    entered = self.enter(depth, &lanes)?;
                }
            }
        }
        self.frames[depth - 1].lanes = lanes;
        Ok(if entered { Step::Down } else { Step::Stay })
    }

    /// The number of lanes from which on they need not wait for others.
    fn least(&self, depth: usize, all: u64) -> u64 {
        let most = all / 4 * 3;
        if !self.is_last(depth) {
            return most;
        }
        // There, joint moves are made only once, which may cost less than
        // compacting the lanes.
        let frame = &self.frames[depth];
        let waiting = GATHERED * self.banks[depth * BANKS + STATE].len() as u64;
        let going = frame.spent / frame.entered.max(1);
        all.saturating_sub(all * waiting / going.max(1)).min(most)
    }

    /// Moves waiting lanes to the rows where states are examined.
    fn take(&mut self, depth: usize) -> Vec<u64> {
        let rows = &mut self.banks[depth * BANKS + STATE];
        let count = self.gathers[depth].take(rows);
        first(count, self.route.words)
    }

    fn keep(&mut self, depth: usize) {
        let rows = self.banks[depth * BANKS + STATE].len();
        let mut rows = Rows::new(rows, self.route.words);
        let lanes = self.gathers[depth].take(&mut rows);
        self.kept.push(Batch { rows, lanes });
    }
}

impl ThreadCode {
    /// The code for a joint move, or for the odometer.
    fn work(&mut self, stage: &Stage, number: usize, last: bool) -> &mut Compiled {
        self.moves[number][usize::from(last)].get_or_insert_with(|| {
            match number == stage.joints() {
                true => stage.odometer(last),
                false => stage.joint(number, last),
            }
            .clone()
        })
    }
}

impl Tally {
    /// Adds the scores of lanes that ended.
    fn add(&mut self, work: &Compiled, seen: &Rows, ended: &[u64]) {
        self.terminal += u128::from(ones(ended, ended));
        let scores = work.scores.iter().flatten();
        let of_roles = self.sums.iter_mut().zip(&mut self.scores);
        for ((sum, scored), scores) in of_roles.zip(scores) {
            for &(row, score) in scores {
                let count = u128::from(ones(seen.row(row), ended));
                *sum += count * u128::from(score);
                *scored += count;
            }
        }
    }

    /// Adds the counts of another thread.
    pub fn add_all(&mut self, other: &Tally) {
        self.paths += other.paths;
        self.terminal += other.terminal;
        let own = self.sums.iter_mut().chain(&mut self.scores);
        for (sum, more) in own.zip(other.sums.iter().chain(&other.scores)) {
            *sum += more;
        }
    }
}

/// The first `count` lanes.
pub(super) fn first(count: usize, words: usize) -> Vec<u64> {
    (0..words)
        .map(|word| match count.saturating_sub(64 * word) {
            64.. => u64::MAX,
            rest => (1 << rest) - 1,
        })
        .collect()
}

/// Computes the lanes in which a joint move is legal, and returns their number.
fn legal(stage: &Stage, joint: usize, seen: &Rows, going: &[u64], lanes: &mut [u64]) -> u64 {
    lanes.copy_from_slice(going);
    for &row in stage.joint_rows(joint) {
        for (lanes, legal) in lanes.iter_mut().zip(seen.row(row)) {
            *lanes &= legal;
        }
    }
    ones(lanes, lanes)
}

/// The number of lanes that are in both.
#[cfg_attr(
    feature = "simd",
    multiversion(targets(
        "x86_64+avx512f+avx512vl+avx512vpopcntdq+popcnt",
        "x86_64+avx2+popcnt",
        "x86_64+popcnt"
    ))
)]
fn ones(a: &[u64], b: &[u64]) -> u64 {
    let both = a.iter().zip(b);
    both.map(|(a, b)| u64::from((a & b).count_ones())).sum()
}
