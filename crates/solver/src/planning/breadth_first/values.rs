//! The values of all positions of a game, backwards from the ends.
//!
//! In: a game with any roles. Out: for each position and player (a role that is not chance), the score
//! that it can force, and the score that the others can force it down to; and the number of joint moves
//! to the end. A breadth-first search finds the positions. No joint move is stored: going over the levels, last
//! first, expands positions again and looks their children up. A position whose children are all settled
//! is settled. One sweep is enough if all children are on later levels; else there are sweeps over the
//! positions left until nothing changes.
//!
//! The scores that a player can force are a least fixpoint, and those that the others can force a
//! greatest one. Where they differ, play never ends if all play well, or chance decides. Others know the
//! move of a role, and nobody that of chance.
//!
//! Source: Ströhlein, "Untersuchungen über kombinatorische Spiele", 1970; Thompson, "Retrograde analysis of
//! certain endgames", 1986.

use std::ops::Range;

use super::next_level::{PORTION, batches};
use super::shards::{Piece, Shards, Span, key_words};
use super::workers::{LANES, Question, Worker};
use super::{BreadthFirstOptions, MIN_PARENTS, Search, Stop};
use crate::planning::Puzzle;
use crate::planning::expand::scorer::{Scored, Scorer};
use crate::planning::expand::{Facts, Layout};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Packed;
use ggp_search::{Budget, BudgetKind, Meter, Observer, Stats};

/// The distance that stands for an unknown one.
pub(crate) const FAR: u16 = u16::MAX;

/// The reason why there are no values.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A limit was reached.
    Budget(BudgetKind),
    /// This role has no legal move in some position.
    NoMove(usize),
    /// This role has no score, or several, at some end.
    NoScore(usize),
    /// A position has more than [`MOST_JOINT_MOVES`](crate::planning::expand::MOST_JOINT_MOVES) joint
    /// moves.
    Wide,
}

/// The part of the work that is going on, with the number of positions done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Positions were found.
    Found(u64),
    /// Positions have their values.
    Valued(u64),
}

/// All positions of a game, with their values.
pub(crate) struct Valued {
    /// By player: its role.
    pub players: Vec<usize>,
    /// Number of joint moves of all positions.
    pub joint_moves: u64,
    pub has_distances: bool,
    layout: Layout,
    shards: Shards,
    values: Values,
    /// The shard and the number of the first position.
    pub first: (usize, usize),
}

/// The values of the positions of each shard.
struct Values {
    /// By shard and number: an entry.
    entries: Vec<Vec<u8>>,
    form: Form,
}

/// The bytes of an entry: for each player its two scores, the distance (little-endian), and 1 if the entry
/// is settled.
#[derive(Clone)]
struct Form {
    players: Vec<usize>,
    /// By role: its number as a player.
    player_of: Vec<Option<usize>>,
    /// If there are distances, by player: the score for which it delays the end.
    floors: Option<Vec<Option<u8>>>,
}

/// The scores at the ends.
#[derive(Clone)]
struct Ends {
    /// The least and the greatest sum.
    sums: [u32; 2],
    /// By player: the least and the greatest score.
    ranges: Vec<[u8; 2]>,
}

/// New entries of some positions.
struct Update {
    places: Vec<(usize, usize)>,
    entries: Vec<u8>,
    /// True if several roles choose at once somewhere.
    is_joint: bool,
}

/// The kind of a sweep.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Sweep {
    /// Scores, and distances where all children are settled.
    Scores,
    /// Distances. All scores are known.
    Distances,
}

struct Told<'o>(&'o mut dyn FnMut(Progress));

impl Observer for Told<'_> {
    fn tick(&mut self, stats: &Stats) {
        (self.0)(Progress::Found(stats.total().generated));
    }
}

/// Finds and values all positions, at most `most` of them, within the memory and until the stop of a
/// budget.
pub(crate) fn value_all(
    net: &Propnet,
    threads: usize,
    most: u64,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress),
) -> Result<Valued, Fault> {
    let stop = budget.end();
    let puzzle = Puzzle::without_target(net, stop.clone());
    let options = BreadthFirstOptions {
        whole: true,
        threads,
        ..BreadthFirstOptions::default()
    };
    let form = Form::new(net);
    // A position needs its code, a place in a table, its value, and twice a number to be written.
    let code = Layout::new(&puzzle, Facts::Each).bits().div_ceil(8) + 6;
    let share = code as f64 / (code + form.bytes() + 8) as f64;
    let forward = Budget {
        memory_bytes: (budget.memory_bytes as f64 * share) as u64,
        ..budget.clone()
    };
    let stopped = Fault::Budget(BudgetKind::Interrupt);
    let mut search = Search::new(&puzzle, Facts::Each, &options, &forward).ok_or(stopped)?;
    let mut stats = Stats::default();
    let mut told = Told(progress);
    let mut meter = Meter::new(&forward, &mut stats, &mut told);
    let mut between = |search: &mut Search<'_>, _: &mut Meter<'_>| match search.positions() > most {
        true => Err(Stop::Budget(BudgetKind::Nodes)),
        false => Ok(()),
    };
    let found = search.run(u32::MAX, &mut meter, &mut between);
    found.map_err(|stop| match stop {
        Stop::Budget(kind) => Fault::Budget(kind),
        // There are no files and no other processes.
        Stop::Spill(_) | Stop::Lost(_) => stopped,
    })?;
    if search.positions() > most {
        return Err(Fault::Budget(BudgetKind::Nodes));
    }
    drop(meter);
    let joint_moves = stats.total().arcs;
    let scorer = Scorer::new(&puzzle, &search.layout, LANES).ok_or(stopped)?;
    search.workers.score_with(&scorer);
    let mut backward = Backward {
        lens: search.lens.iter().map(|&len| len as usize).collect(),
        round: (search.round_children as u64)
            .saturating_mul(search.positions())
            .checked_div(joint_moves)
            .map_or(u64::MAX, |parents| parents.max(MIN_PARENTS as u64)),
        values: Values {
            entries: Vec::new(),
            form,
        },
        search: &search,
        stop: &stop,
        progress,
        is_joint: false,
    };
    backward.run()?;
    let Backward {
        values, is_joint, ..
    } = backward;
    let (shard, number) = search.span(0).place(0);
    let Search {
        layout, mut shards, ..
    } = search;
    shards.forget();
    Ok(Valued {
        players: values.form.players.clone(),
        joint_moves,
        has_distances: values.form.floors.is_some() && !is_joint,
        layout,
        shards,
        values,
        first: (shard, number as usize),
    })
}

impl Valued {
    /// By shard: number of positions.
    pub fn lens(&self) -> Box<[u32]> {
        self.shards.lens()
    }

    /// The scores of a position by player.
    pub fn scores(&self, shard: usize, number: usize) -> &[[u8; 2]] {
        let entry = self.values.entry(shard, number);
        &entry.as_chunks().0[..self.players.len()]
    }

    /// The distance of a position.
    pub fn distance(&self, shard: usize, number: usize) -> u16 {
        let values = &self.values;
        values.form.distance(values.entry(shard, number))
    }

    /// Replaces `code` and `state` by those of a position.
    pub fn read(&self, shard: usize, number: usize, code: &mut Vec<u64>, state: &mut Packed) {
        code.clear();
        code.resize(self.layout.words(), 0);
        self.shards.all()[shard].read(number, code);
        self.layout.decode(code, state);
    }
}

impl Form {
    fn new(net: &Propnet) -> Form {
        let mut form = Form {
            players: Vec::new(),
            player_of: Vec::new(),
            floors: None,
        };
        for role in net.game().roles() {
            let is_player = !net.game().is_random(role);
            form.player_of.push(is_player.then_some(form.players.len()));
            if is_player {
                form.players.push(role.index());
            }
        }
        form
    }

    /// Bytes of an entry.
    fn bytes(&self) -> usize {
        2 * self.players.len() + 3
    }

    fn roles(&self) -> usize {
        self.player_of.len()
    }

    /// Distances are known in games of one role, and of two with a constant sum, who have nothing to
    /// gain from each other's knowledge. A role that gets the lowest of several scores delays the end.
    fn know_ends(&mut self, ends: &Ends) {
        let is_constant = ends.sums[0] >= ends.sums[1];
        let (players, roles) = (self.players.len(), self.roles());
        if players == roles && (players == 1 || players == 2 && is_constant) {
            let floors = ends.ranges.iter();
            let floors = floors.map(|[least, most]| (least < most && players > 1).then_some(*least));
            self.floors = Some(floors.collect());
        }
    }

    /// The entry of a position of which nothing is known.
    fn put_unknown(&self, out: &mut Vec<u8>) {
        self.players.iter().for_each(|_| out.extend([0, 100]));
        out.extend(FAR.to_le_bytes());
        out.push(0);
    }

    fn put_end(&self, scores: &[u8], out: &mut Vec<u8>) {
        scores.iter().for_each(|&score| out.extend([score; 2]));
        out.extend(0_u16.to_le_bytes());
        out.push(1);
    }

    fn score(&self, entry: &[u8], player: usize) -> [u8; 2] {
        [entry[2 * player], entry[2 * player + 1]]
    }

    fn distance(&self, entry: &[u8]) -> u16 {
        let at = 2 * self.players.len();
        u16::from_le_bytes([entry[at], entry[at + 1]])
    }

    fn is_settled(&self, entry: &[u8]) -> bool {
        entry[entry.len() - 1] == 1
    }

    /// Appends the entry that follows from the entries of all children; `old` is the last one. With
    /// several roles, `choices` are the numbers of their legal moves.
    fn put_after(
        &self,
        sweep: Sweep,
        choices: &[u32],
        children: &[u8],
        old: &[u8],
        out: &mut Vec<u8>,
    ) {
        let each = || children.chunks_exact(self.bytes());
        let chooser = chooser(choices);
        let start = out.len();
        for player in 0..self.players.len() {
            out.extend(match (sweep, chooser) {
                (Sweep::Distances, _) => self.score(old, player),
                (_, Some(role)) => self.after_choice(role, player, each()),
                (_, None) => self.after_joint(choices, player, each()),
            });
        }
        let is_settled = each().all(|child| self.is_settled(child));
        let distance = match (&self.floors, chooser) {
            (Some(floors), Some(role)) if is_settled || sweep == Sweep::Distances => {
                self.distance_after(role, &out[start..], floors, each())
            }
            _ => FAR,
        };
        out.extend(distance.to_le_bytes());
        out.push(u8::from(is_settled));
    }

    /// The scores of a player where one role chooses. Chance is against it in the lower score, and for
    /// it in the upper one.
    fn after_choice<'e>(
        &self,
        role: usize,
        player: usize,
        children: impl Iterator<Item = &'e [u8]>,
    ) -> [u8; 2] {
        let scores = children.map(|child| self.score(child, player));
        let after = match self.player_of[role] {
            Some(own) if own == player => scores.reduce(both(u8::max)),
            Some(_) => scores.reduce(both(u8::min)),
            None => scores.reduce(of_chance),
        };
        after.unwrap_or([0, 100])
    }

    /// The scores of a player where several roles choose.
    fn after_joint<'e>(
        &self,
        choices: &[u32],
        player: usize,
        children: impl Iterator<Item = &'e [u8]>,
    ) -> [u8; 2] {
        let role = self.players[player];
        let is_other = |at: &usize| *at != role && self.player_of[*at].is_some();
        let others: Vec<usize> = (0..choices.len()).filter(is_other).collect();
        let groups: usize = others.iter().map(|at| choices[*at] as usize).product();
        let mut left: Vec<Option<[u8; 2]>> = vec![None; choices[role] as usize * groups];
        let mut made = vec![0; choices.len()];
        for child in children {
            let score = self.score(child, player);
            let group = |all: usize, at: &usize| all * choices[*at] as usize + made[*at];
            let group = others.iter().fold(0, group);
            let known = &mut left[made[role] * groups + group];
            *known = Some(known.map_or(score, |known| of_chance(known, score)));
            // The next joint move.
            for (made, count) in made.iter_mut().zip(choices) {
                *made += 1;
                if *made < *count as usize {
                    break;
                }
                *made = 0;
            }
        }
        let least = left.chunks(groups).map(|left| {
            let left = left.iter().copied().flatten();
            left.reduce(both(u8::min)).unwrap_or([0, 100])
        });
        least.reduce(both(u8::max)).unwrap_or([0, 100])
    }

    /// The distance after the choice of a role, where the scores are known. A role whose score is the
    /// lowest possible one delays the end, others hasten it.
    fn distance_after<'e>(
        &self,
        role: usize,
        scores: &[u8],
        floors: &[Option<u8>],
        children: impl Iterator<Item = &'e [u8]>,
    ) -> u16 {
        let Some(player) = self.player_of[role] else {
            return FAR;
        };
        let score = self.score(scores, player);
        if score[0] != score[1] {
            return FAR;
        }
        let best = children.filter(|child| self.score(child, player) == score);
        let distances = best.map(|child| self.distance(child));
        let distance = match Some(score[0]) == floors[player] {
            true => distances.max(),
            false => distances.min(),
        };
        match distance {
            Some(FAR) | None => FAR,
            Some(distance) => distance.saturating_add(1).min(FAR - 1),
        }
    }
}

/// The role that chooses, if it is only one.
fn chooser(choices: &[u32]) -> Option<usize> {
    let mut choosers = (0..).zip(choices).filter(|(_, count)| **count > 1);
    match (choosers.next(), choosers.next()) {
        (None, _) => Some(0),
        (Some((role, _)), None) => Some(role),
        _ => None,
    }
}

/// Both scores of two values, chosen alike.
fn both(choose: fn(u8, u8) -> u8) -> impl Fn([u8; 2], [u8; 2]) -> [u8; 2] {
    move |[a, b], [c, d]| [choose(a, c), choose(b, d)]
}

fn of_chance([a, b]: [u8; 2], [c, d]: [u8; 2]) -> [u8; 2] {
    [a.min(c), b.max(d)]
}

impl Values {
    fn entry(&self, shard: usize, number: usize) -> &[u8] {
        let bytes = self.form.bytes();
        &self.entries[shard][number * bytes..][..bytes]
    }
}

/// The work in progress.
struct Backward<'s, 'p> {
    search: &'s Search<'p>,
    /// By shard: number of positions.
    lens: Vec<usize>,
    /// Number of positions of a level that are valued together.
    round: u64,
    values: Values,
    stop: &'s ggp_stop::Stop,
    progress: &'s mut dyn FnMut(Progress),
    is_joint: bool,
}

impl Backward<'_, '_> {
    fn run(&mut self) -> Result<(), Fault> {
        self.begin()?;
        self.repeat(Sweep::Scores)?;
        if self.values.form.floors.is_some() && !self.is_joint {
            self.repeat(Sweep::Distances)?;
        }
        Ok(())
    }

    /// Scores the ends.
    fn begin(&mut self) -> Result<(), Fault> {
        let search = self.search;
        let form = &self.values.form;
        let bytes = form.bytes();
        let entries = self.lens.iter().map(|len| vec![0; len * bytes]);
        self.values.entries = entries.collect();
        let span = Span::new(self.lens.iter().map(|&len| 0..len as u64).collect());
        let mut all = Ends {
            sums: [u32::MAX, 0],
            ranges: vec![[100, 0]; form.players.len()],
        };
        let rounds = (0..span.len()).step_by(ENDS_AT_ONCE as usize);
        for first in rounds {
            self.check()?;
            let some = first..span.len().min(first + ENDS_AT_ONCE);
            let pieces = span.pieces(some.clone()).into_iter().map(|piece| (piece, 0));
            let form = &self.values.form;
            let work = (some.end - some.start) as usize;
            let (shards, stride) = (&search.shards, search.layout.words());
            let scored = (search.workers).each(work, batches(pieces, PORTION), |worker, batch| {
                let scored = worker.scores_of(shards, stride, &batch, form);
                (batch, scored)
            });
            for (batch, scored) in scored {
                let (entries, ends) = scored?;
                let mut from = 0;
                for (piece, _) in batch {
                    let length = piece.len() as usize * bytes;
                    let to = piece.numbers.start as usize * bytes;
                    self.values.entries[piece.shard][to..to + length]
                        .copy_from_slice(&entries[from..from + length]);
                    from += length;
                }
                all.add(&ends);
            }
        }
        self.values.form.know_ends(&all);
        Ok(())
    }

    /// Goes over the levels, last first, until nothing changes.
    fn repeat(&mut self, sweep: Sweep) -> Result<(), Fault> {
        loop {
            let (mut is_changed, mut left, mut done) = (false, false, 0);
            for level in (0..self.search.levels.len() as u32).rev() {
                let span = self.search.span(level);
                let mut first = 0;
                while first < span.len() {
                    let end = span.len().min(first.saturating_add(self.round));
                    for update in self.round(sweep, &span, first..end)? {
                        self.is_joint |= update.is_joint;
                        let entries = update.entries.chunks_exact(self.values.form.bytes());
                        for (&(shard, number), new) in update.places.iter().zip(entries) {
                            let at = number * new.len();
                            let old = &mut self.values.entries[shard][at..at + new.len()];
                            is_changed |= old != new;
                            left |= !self.values.form.is_settled(new);
                            old.copy_from_slice(new);
                        }
                    }
                    done += end - first;
                    (self.progress)(Progress::Valued(done));
                    first = end;
                }
            }
            if !is_changed || !left {
                return Ok(());
            }
        }
    }

    /// The new entries of the open positions among some of a level.
    fn round(
        &self,
        sweep: Sweep,
        span: &Span,
        positions: Range<u64>,
    ) -> Result<Vec<Update>, Fault> {
        self.check()?;
        let (search, values) = (self.search, &self.values);
        let shards = &search.shards;
        let (stride, words) = (search.layout.words(), key_words(search.layout.key_bits()));
        let pieces = span.pieces(positions).into_iter();
        let open = |piece: Piece| {
            let is_open = |number: &usize| {
                !(values.form).is_settled(values.entry(piece.shard, *number))
            };
            let numbers = piece.numbers.start as usize..piece.numbers.end as usize;
            let places = numbers.filter(is_open).map(|number| (piece.shard, number));
            places.collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> = pieces.flat_map(open).collect();
        let batches: Vec<_> = places.chunks(PORTION as usize).collect();
        let valued = search.workers.each(usize::MAX, batches, |worker, places| {
            let question = worker.question(|out| {
                let suffix = vec![0; stride];
                for &(shard, number) in places {
                    let number = number as u64;
                    shards.read(shard, number..number + 1, &suffix, out);
                }
            });
            let question = question.ok_or(Fault::Budget(BudgetKind::Interrupt))?;
            let answers = values.answers(shards, words, &question);
            values.update(sweep, places, &question, &answers)
        });
        valued.into_iter().collect()
    }

    fn check(&self) -> Result<(), Fault> {
        match self.stop.is_over() {
            true => Err(Fault::Budget(BudgetKind::Interrupt)),
            false => Ok(()),
        }
    }
}

/// Number of positions whose scores are computed together.
const ENDS_AT_ONCE: u64 = 1 << 20;

impl Ends {
    fn add(&mut self, other: &Ends) {
        let wider = |a: &mut [u8; 2], b: &[u8; 2]| *a = [a[0].min(b[0]), a[1].max(b[1])];
        let [least, most] = other.sums;
        self.sums = [self.sums[0].min(least), self.sums[1].max(most)];
        let ranges = self.ranges.iter_mut().zip(&other.ranges);
        ranges.for_each(|(own, other)| wider(own, other));
    }
}

impl Worker {
    /// The entries of the positions in some pieces, of which only ends are known, and the scores of the ends.
    fn scores_of(
        &mut self,
        shards: &Shards,
        stride: usize,
        batch: &[(Piece, u32)],
        form: &Form,
    ) -> Result<(Vec<u8>, Ends), Fault> {
        let suffix = vec![0; stride];
        self.parents.clear();
        for (piece, _) in batch {
            shards.read(piece.shard, piece.numbers.clone(), &suffix, &mut self.parents);
        }
        let mut ends = Ends {
            sums: [u32::MAX, 0],
            ranges: vec![[100, 0]; form.players.len()],
        };
        let (mut entries, mut fault) = (Vec::new(), None);
        let scorer = self.scorer.as_mut().expect("workers score positions");
        scorer.score(&self.parents, |scored| match scored {
            Scored::Open => form.put_unknown(&mut entries),
            Scored::End(scores) => {
                let sum = scores.iter().map(|score| u32::from(*score)).sum();
                ends.add(&Ends {
                    sums: [sum; 2],
                    ranges: scores.iter().map(|score| [*score; 2]).collect(),
                });
                form.put_end(&scores, &mut entries);
            }
            Scored::NoScore(role) => fault = Some(Fault::NoScore(role)),
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok((entries, ends)),
        }
    }
}

impl Values {
    /// The entries of children, in their order by shard.
    fn answers(&self, shards: &Shards, words: usize, question: &Question) -> Vec<u8> {
        let mut answers = Vec::with_capacity(question.shards.len() * self.form.bytes());
        let mut numbers = Vec::new();
        for (shard, states) in shards.all().iter().enumerate() {
            numbers.clear();
            states.find_all(question.children.of(shard), words, |number| {
                numbers.push(number.expect("the search found all positions"));
            });
            for &number in &numbers {
                answers.extend_from_slice(self.entry(shard, number as usize));
            }
        }
        answers
    }

    /// The new entries of positions.
    fn update(
        &self,
        sweep: Sweep,
        places: &[(usize, usize)],
        question: &Question,
        answers: &[u8],
    ) -> Result<Update, Fault> {
        let (form, bytes) = (&self.form, self.form.bytes());
        let roles = form.roles();
        // By shard: its next answer.
        let mut at = question.children.firsts();
        let mut children = Vec::with_capacity(answers.len());
        for &shard in &question.shards {
            let next = &mut at[usize::from(shard)];
            children.extend_from_slice(&answers[*next * bytes..][..bytes]);
            *next += 1;
        }
        let mut update = Update {
            places: places.to_vec(),
            entries: Vec::with_capacity(places.len() * bytes),
            is_joint: false,
        };
        for (number, &(shard, at)) in places.iter().enumerate() {
            let choices = match roles {
                1 => &[],
                _ => &question.choices[number * roles..][..roles],
            };
            let [first, end] = [0, 1].map(|more| question.firsts[number + more] as usize);
            if first == end {
                let role = choices.iter().position(|&count| count == 0);
                return Err(match role {
                    Some(role) => Fault::NoMove(role),
                    None if roles == 1 => Fault::NoMove(0),
                    None => Fault::Wide,
                });
            }
            update.is_joint |= chooser(choices).is_none();
            let children = &children[first * bytes..end * bytes];
            let old = self.entry(shard, at);
            form.put_after(sweep, choices, children, old, &mut update.entries);
        }
        Ok(update)
    }
}
