//! One thread's walk through the states of some depths.
//!
//! In: the code of these depths, and states of the first. Out: how many
//! sequences of joint moves there are of each length, how many of them end the
//! game, and what these are worth.
//!
//! Depth first, a row of lanes at a time: a joint move is made in all lanes, and
//! the lanes after it are gone through before the next one is made. Where few
//! lanes are left, they wait until there are enough of them for a row.

use multiversion::multiversion;

use super::gather::Gather;
use super::stage::{BANKS, DONE, LEFT, SEEN, STATE, STUCK, Stage, TERMINAL};
use super::work::Work;
use crate::propnet::lanes::Rows;

/// States side by side, those beyond so many lanes being nothing.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub rows: Rows,
    pub lanes: usize,
}

/// What the sequences of one length add up to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    pub paths: u128,
    pub terminal: u128,
    /// By role.
    pub sums: Vec<u128>,
    /// Pairs of an ending sequence and a role with exactly one valid score.
    pub scores: u128,
}

/// Why a walk was given up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    /// A role has no legal move; by fact, whether it holds in that state.
    Stuck(Vec<bool>),
    Interrupted,
    /// There are more states after the first depth than allowed.
    Crowd,
}

/// Where a walk begins and ends.
#[derive(Debug)]
pub(super) struct Route<'s, 'n> {
    /// By depth, from the first one to the last.
    pub stages: Vec<&'s Stage<'n>>,
    /// If so, the states after the first depth are kept, and no more is done.
    /// There are at most so many, about.
    pub keep: Option<usize>,
    pub words: usize,
}

/// One thread's code and rows.
#[derive(Debug)]
pub(super) struct Worker<'s, 'n> {
    route: &'s Route<'s, 'n>,
    /// [`BANKS`] a depth.
    banks: Vec<Rows>,
    own: Vec<Own>,
    gathers: Vec<Gather>,
    frames: Vec<Frame>,
    pub tallies: Vec<Tally>,
    pub kept: Vec<Batch>,
}

/// One depth's code.
#[derive(Debug)]
struct Own {
    status: Work,
    /// Score; then by joint move, and for ranks at the end: as made, and as made
    /// at the last depth.
    score: Option<Work>,
    moves: Vec<[Option<Work>; 2]>,
}

/// The joint moves of one row of lanes.
#[derive(Debug)]
struct Frame {
    /// The lanes that go on.
    going: Vec<u64>,
    /// The lanes after a joint move.
    lanes: Vec<u64>,
    next: Next,
    /// How often it was begun, and operations since.
    entered: u64,
    spent: u64,
}

#[derive(Debug)]
enum Next {
    Joint(usize),
    Rank,
}

enum Step {
    Down,
    Stay,
    Up,
}

/// What running code costs besides its operations, in operations.
const OVERHEAD: usize = 60;
/// What a row of lanes that wait costs, in operations.
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
            own.push(Own {
                status: stage.status.clone(),
                score: None,
                moves,
            });
            frames.push(Frame {
                going: vec![0; words],
                lanes: vec![0; words],
                next: Next::Rank,
                entered: 0,
                spent: 0,
            });
            tallies.push(Tally {
                paths: 0,
                terminal: 0,
                sums: vec![0; stage.roles()],
                scores: 0,
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

    /// Walks from some lanes of a batch.
    pub fn walk_from(
        &mut self,
        batch: &Batch,
        lanes: &[u64],
        go_on: &impl Fn() -> bool,
    ) -> Result<(), Halt> {
        let rows = batch.rows.flat();
        self.banks[STATE].flat_mut()[..rows.len()].copy_from_slice(rows);
        self.walk(0, lanes, go_on)
    }

    /// Walks from the lanes that still wait.
    pub fn finish(&mut self, go_on: &impl Fn() -> bool) -> Result<(), Halt> {
        for depth in 1..self.route.stages.len() {
            if self.route.keep.is_some() {
                if self.gathers[depth].count() > 0 {
                    self.keep(depth);
                }
            } else if self.gathers[depth].count() > 0 {
                let lanes = self.take(depth);
                self.walk(depth, &lanes, go_on)?;
            }
        }
        Ok(())
    }

    fn walk(&mut self, first: usize, lanes: &[u64], go_on: &impl Fn() -> bool) -> Result<(), Halt> {
        if !self.enter(first, lanes)? {
            return Ok(());
        }
        let mut depth = first;
        loop {
            match self.step(depth)? {
                Step::Down => {
                    depth += 1;
                    if !go_on() {
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

    /// Looks at the states of a depth; whether there are joint moves to make.
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
            let work = match own.status.worth {
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

    /// Chooses how to go through the joint moves.
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
            // No lane has fewer joint moves than the average, some have more.
            let rounds = (11 * children).div_ceil(10 * going) as usize;
            if cost <= rounds * (stage.rank(last).operations + OVERHEAD) {
                frame.next = Next::Joint(0);
                return;
            }
        }
        frame.next = Next::Rank;
        let [seen, left] = banks
            .get_disjoint_mut([SEEN, LEFT])
            .expect("they are different banks");
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
            Next::Rank => {
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
            if any != 0 && work.worth.is_some() {
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
        if matches!(frame.next, Next::Rank) {
            banks.swap(LEFT, LEFT + 1);
        }
        match last {
            true => Ok(Step::Stay),
            false => self.descend(depth + 1, count),
        }
    }

    /// Goes on with the states just made, or lets them wait.
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
                        return Err(Halt::Crowd);
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

    /// Number of lanes from which on they need not wait for others.
    fn least(&self, depth: usize, all: u64) -> u64 {
        let most = all / 4 * 3;
        if !self.is_last(depth) {
            return most;
        }
        // Joint moves are made only once there, which may cost less than to put
        // the lanes side by side.
        let frame = &self.frames[depth];
        let waiting = GATHERED * self.banks[depth * BANKS + STATE].len() as u64;
        let going = frame.spent / frame.entered.max(1);
        all.saturating_sub(all * waiting / going.max(1)).min(most)
    }

    /// Puts lanes that wait where states are looked at.
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

impl Own {
    /// The code for a joint move, or for ranks.
    fn work(&mut self, stage: &Stage, number: usize, last: bool) -> &mut Work {
        self.moves[number][usize::from(last)].get_or_insert_with(|| {
            match number == stage.joints() {
                true => stage.rank(last),
                false => stage.joint(number, last),
            }
            .clone()
        })
    }
}

impl Tally {
    /// Adds the worth of some lanes that ended.
    fn add(&mut self, work: &Work, seen: &Rows, ended: &[u64]) {
        self.terminal += u128::from(ones(ended, ended));
        let worth = work.worth.iter().flatten();
        for (sum, scores) in self.sums.iter_mut().zip(worth) {
            for &(row, score) in scores {
                let count = u128::from(ones(seen.row(row), ended));
                *sum += count * u128::from(score);
                self.scores += count;
            }
        }
    }

    /// Adds what another thread counted.
    pub fn add_all(&mut self, other: &Tally) {
        self.paths += other.paths;
        self.terminal += other.terminal;
        self.scores += other.scores;
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
    }
}

/// The first so many lanes.
pub(super) fn first(count: usize, words: usize) -> Vec<u64> {
    (0..words)
        .map(|word| match count.saturating_sub(64 * word) {
            64.. => u64::MAX,
            rest => (1 << rest) - 1,
        })
        .collect()
}

/// The lanes in which a joint move is legal, and how many they are.
fn legal(stage: &Stage, joint: usize, seen: &Rows, going: &[u64], lanes: &mut [u64]) -> u64 {
    lanes.copy_from_slice(going);
    for &row in stage.joint_rows(joint) {
        for (lanes, legal) in lanes.iter_mut().zip(seen.row(row)) {
            *lanes &= legal;
        }
    }
    ones(lanes, lanes)
}

/// How many lanes are in both.
#[multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512vpopcntdq+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
fn ones(a: &[u64], b: &[u64]) -> u64 {
    let both = a.iter().zip(b);
    both.map(|(a, b)| u64::from((a & b).count_ones())).sum()
}
