//! The values of all positions of a game, backwards from the ends.
//!
//! In: a game with any roles. Out: for each position and player (a role that is not chance), the score
//! that it can force, and the score that the others can force it down to; and the number of joint moves
//! to the end. A breadth-first search finds the positions, and keeps the joint moves if there is room for
//! them; else positions are expanded again, and their children looked up. A sweep goes over the levels, last
//! first. A position whose children are all settled is settled. One sweep is enough if all children are on
//! later levels; else there are more over the positions left, until nothing changes.
//!
//! The scores that a player can force are a least fixpoint, and those that the others can force a
//! greatest one. Where they differ, play never ends if all play well, or chance decides. Others know the
//! move of a role, and nobody that of chance.
//!
//! Source: Ströhlein, "Untersuchungen über kombinatorische Spiele", 1970; Thompson, "Retrograde analysis of
//! certain endgames", 1986.

mod ask;
mod backward;
mod form;
mod waiting;

use std::ops::Range;

use serde::{Deserialize, Serialize};

#[cfg(feature = "distributed")]
use super::BreadthFirstError;
use super::arcs::{Joints, Kept, places};
use super::peers::{Lost, Peers};
use super::shards::{Piece, Shards};
use super::workers::LANES;
use super::{BreadthFirstOptions, MIN_PARENTS, Search, Stop};
use crate::planning::Puzzle;
use crate::planning::expand::scorer::Scorer;
use crate::planning::expand::{Facts, Layout};
use backward::Backward;
use form::{Form, Sweep};
use ggp_engine::propnet::Propnet;
use ggp_search::{Budget, BudgetKind, Meter, Observer, Stats};

/// The distance that stands for an unknown one.
pub(crate) const FAR: u16 = u16::MAX;

/// The reason why there are no values.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Fault {
    /// The work was stopped.
    Stopped,
    /// There are more positions than allowed.
    TooMany,
    /// They need more memory than allowed.
    TooLarge,
    /// This role has no legal move in some position.
    NoMove(usize),
    /// This role has no score, or several, at some end.
    NoScore(usize),
    /// A position has more than [`MOST_JOINT_MOVES`](crate::planning::expand::MOST_JOINT_MOVES) joint
    /// moves.
    Wide,
    /// Another process is lost; its number, if it is known.
    Lost(Option<usize>),
}

impl From<Lost> for Fault {
    fn from(Lost(process): Lost) -> Self {
        Fault::Lost(process)
    }
}

/// The reason why there are no values, also before the work began.
pub(crate) enum ValueError {
    Fault(Fault),
    /// The processes cannot connect.
    #[cfg(feature = "distributed")]
    Processes(BreadthFirstError),
}

impl From<Fault> for ValueError {
    fn from(fault: Fault) -> Self {
        ValueError::Fault(fault)
    }
}

/// The part of the work that is going on, with the number of positions done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Positions were found.
    Found(u64),
    /// Positions have their values.
    Valued(u64),
}

/// All positions of a game, or those of this process, with their values.
pub(crate) struct Valued {
    /// By player: its role.
    pub players: Vec<usize>,
    /// Number of positions and of their joint moves, of all processes.
    pub positions: u64,
    pub joint_moves: u64,
    pub has_distances: bool,
    layout: Layout,
    shards: Shards,
    values: Values,
    /// The scores and the distance of the first position.
    pub first: (Vec<[u8; 2]>, u16),
}

/// The values of the positions of each shard.
struct Values {
    /// By shard and number: an entry.
    entries: Vec<Vec<u8>>,
    form: Form,
}

/// New entries of some positions.
#[derive(Default)]
struct Update {
    places: Vec<(usize, usize)>,
    entries: Vec<u8>,
    /// True if several roles choose at once somewhere.
    is_joint: bool,
    /// True if some of the positions are not settled.
    is_open: bool,
}

struct Told<'o>(&'o mut dyn FnMut(Progress));

impl Observer for Told<'_> {
    fn tick(&mut self, stats: &Stats) {
        (self.0)(Progress::Found(stats.total().generated));
    }
}

/// Finds and values all positions, at most `most` of them, within the memory and until the stop of a
/// budget. Of the options, the number of threads and the processes count. Returns the connections to the
/// other processes as well.
pub(crate) fn value_all(
    net: &Propnet,
    options: &BreadthFirstOptions,
    most: u64,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Valued, Peers), ValueError> {
    let stop = budget.end();
    let puzzle = Puzzle::without_target(net, stop.clone());
    let options = BreadthFirstOptions {
        whole: true,
        ..options.clone()
    };
    let form = Form::new(net);
    // A position needs its code, a place in a table, its value, and twice a number to be written.
    let code = Layout::new(&puzzle, Facts::Each).bits().div_ceil(8) + 6;
    let share = code as f64 / (code + form.bytes() + 8) as f64;
    // With joint moves, it may wait for another one.
    let others = (code + form.bytes() + 16) as f64 / code as f64;
    let forward = Budget {
        memory_bytes: (budget.memory_bytes as f64 * share) as u64,
        ..budget.clone()
    };
    let search = Search::new(&puzzle, Facts::Each, &options, &forward);
    let mut search = search.ok_or(Fault::Stopped)?;
    #[cfg(feature = "distributed")]
    if let Some(processes) = &options.processes {
        let linked = search.link(processes, &options, &forward);
        linked.map_err(ValueError::Processes)?;
    }
    if !search.peers.are_several() {
        search.arcs = Some(Kept::new(budget.memory_bytes, others));
        search.workers.keep_joints(true);
    }
    let joint_moves = find(&mut search, most, &forward, progress)?;
    let scorer = Scorer::new(&puzzle, &search.layout, LANES).ok_or(Fault::Stopped)?;
    search.workers.score_with(&scorer);
    search.workers.keep_joints(true);
    let kept = search.arcs.take();
    let mut backward = Backward {
        lens: search
            .shards
            .lens()
            .iter()
            .map(|&len| len as usize)
            .collect(),
        round: (search.round_children as u64)
            .saturating_mul(search.positions())
            .checked_div(joint_moves)
            .map_or(u64::MAX, |parents| parents.max(MIN_PARENTS as u64)),
        values: Values {
            entries: Vec::new(),
            form,
        },
        peers: std::mem::take(&mut search.peers),
        search: &search,
        stop: &stop,
        progress,
        is_joint: false,
    };
    backward.run(kept.map(|kept| kept.all))?;
    let Backward {
        values,
        is_joint,
        mut peers,
        ..
    } = backward;
    let (shard, number) = search.span(0).place(0);
    let first = peers.own(shard).then(|| {
        let entry = values.entry(shard, number as usize);
        (
            values.form.scores(entry).to_vec(),
            values.form.distance(entry),
        )
    });
    let first = peers.gather(first).map_err(Fault::from)?;
    let first = first.into_iter().flatten().next();
    let positions = search.positions();
    let Search {
        layout, mut shards, ..
    } = search;
    shards.forget();
    let valued = Valued {
        players: values.form.players.clone(),
        positions,
        joint_moves,
        has_distances: values.form.floors.is_some() && !is_joint,
        layout,
        shards,
        values,
        first: first.ok_or(Fault::Lost(None))?,
    };
    Ok((valued, peers))
}

/// Finds all positions, and returns the number of joint moves.
fn find(
    search: &mut Search<'_>,
    most: u64,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, Fault> {
    let mut stats = Stats::default();
    let mut told = Told(progress);
    let mut meter = Meter::new(budget, &mut stats, &mut told);
    let mut between = |search: &mut Search<'_>, _: &mut Meter<'_>| match search.positions() > most {
        true => Err(Stop::Budget(BudgetKind::Nodes)),
        false => Ok(()),
    };
    let found = search.run(u32::MAX, &mut meter, &mut between);
    drop(meter);
    (told.0)(Progress::Found(search.positions()));
    found.map_err(|stop| match stop {
        Stop::Budget(BudgetKind::Nodes) => Fault::TooMany,
        Stop::Budget(BudgetKind::Memory) => Fault::TooLarge,
        Stop::Budget(_) => Fault::Stopped,
        Stop::Lost(lost) => lost.into(),
        // There are no files.
        Stop::Spill(_) => Fault::Stopped,
    })?;
    match search.positions() > most {
        true => Err(Fault::TooMany),
        false => Ok(stats.total().arcs),
    }
}

impl Valued {
    /// By shard: number of positions.
    pub fn lens(&self) -> Box<[u32]> {
        self.shards.lens()
    }

    /// The scores of a position by player.
    pub fn scores(&self, shard: usize, number: usize) -> &[[u8; 2]] {
        (self.values.form).scores(self.values.entry(shard, number))
    }

    /// The distance of a position.
    pub fn distance(&self, shard: usize, number: usize) -> u16 {
        let values = &self.values;
        values.form.distance(values.entry(shard, number))
    }

    /// Replaces `states` by those of at most 64 positions.
    pub fn read(&self, places: &[(usize, usize)], codes: &mut Vec<u64>, states: &mut Vec<u64>) {
        let stride = self.layout.words();
        codes.clear();
        for &(shard, number) in places {
            let at = codes.len();
            codes.resize(at + stride, 0);
            self.shards.all()[shard].read(number, &mut codes[at..]);
        }
        self.layout.decode_64(codes, states);
    }
}

impl Values {
    fn entry(&self, shard: usize, number: usize) -> &[u8] {
        let bytes = self.form.bytes();
        &self.entries[shard][number * bytes..][..bytes]
    }

    fn entry_mut(&mut self, shard: usize, number: usize) -> &mut [u8] {
        let bytes = self.form.bytes();
        &mut self.entries[shard][number * bytes..][..bytes]
    }

    fn is_settled(&self, shard: usize, number: usize) -> bool {
        self.form.is_settled(self.entry(shard, number))
    }

    /// The positions of a piece that are not settled.
    fn open(&self, piece: &Piece) -> Vec<Piece> {
        let mut open: Vec<Piece> = Vec::new();
        for number in piece.numbers.clone() {
            if self.is_settled(piece.shard, number as usize) {
                continue;
            }
            match open.last_mut() {
                Some(last) if last.numbers.end == number => last.numbers.end += 1,
                _ => open.push(Piece {
                    numbers: number..number + 1,
                    ..piece.clone()
                }),
            }
        }
        open
    }

    /// The new entries of the open positions in some pieces, which have these joint moves;
    /// `put` appends the entries of the children in a range.
    fn update(
        &self,
        sweep: Sweep,
        pieces: &[Piece],
        joints: &Joints,
        mut put: impl FnMut(Range<usize>, &mut Vec<u8>),
    ) -> Result<Update, Fault> {
        let form = &self.form;
        let mut update = Update::default();
        let mut children = Vec::new();
        for ((shard, number), choices) in places(pieces).zip(joints.choices(form.roles())) {
            let old = self.entry(shard, number);
            if form.is_settled(old) {
                continue;
            }
            if choices.children.is_empty() {
                return Err(choices.chooser.map_or(Fault::Wide, Fault::NoMove));
            }
            update.is_joint |= choices.chooser.is_none();
            children.clear();
            put(choices.children.clone(), &mut children);
            update.places.push((shard, number));
            let start = update.entries.len();
            form.put_after(sweep, &choices, &children, old, &mut update.entries);
            update.is_open |= !form.is_settled(&update.entries[start..]);
        }
        Ok(update)
    }
}
