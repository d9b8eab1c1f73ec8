//! The value of one position, as bytes.

use serde::{Deserialize, Serialize};

use super::super::arcs::Choices;
use super::FAR;
use ggp_engine::propnet::Propnet;

/// The bytes of an entry: for each player its two scores, the distance (little-endian), and 1 if the entry
/// is settled.
#[derive(Clone)]
pub struct Form {
    pub players: Vec<usize>,
    /// By role: its number as a player.
    player_of: Vec<Option<usize>>,
    /// If there are distances, by player: the score for which it delays the end.
    pub floors: Option<Vec<Option<u8>>>,
}

/// The scores at the ends.
#[derive(Clone, Serialize, Deserialize)]
pub struct Ends {
    /// The least and the greatest sum.
    pub sums: [u32; 2],
    /// By player: the least and the greatest score.
    pub ranges: Vec<[u8; 2]>,
}

/// The kind of a sweep.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Sweep {
    /// Scores, and distances where all children are settled.
    Scores,
    /// Distances. All scores are known.
    Distances,
}

impl Form {
    pub fn new(net: &Propnet) -> Form {
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
    pub fn bytes(&self) -> usize {
        2 * self.players.len() + 3
    }

    pub fn roles(&self) -> usize {
        self.player_of.len()
    }

    /// Distances are known in games of one role, and of two with a constant sum, who have nothing to
    /// gain from each other's knowledge. A role that gets the lowest of several scores delays the end.
    pub fn know_ends(&mut self, ends: &Ends) {
        let is_constant = ends.sums[0] >= ends.sums[1];
        let (players, roles) = (self.players.len(), self.roles());
        if players == roles && (players == 1 || players == 2 && is_constant) {
            let floors = ends.ranges.iter();
            let floors =
                floors.map(|[least, most]| (least < most && players > 1).then_some(*least));
            self.floors = Some(floors.collect());
        }
    }

    /// The entry of a position of which nothing is known. Nobody opposes a single role, so it gets the
    /// best score of the ends that it can reach, and 0 if it can reach no end.
    pub fn put_unknown(&self, out: &mut Vec<u8>) {
        let most = if self.roles() == 1 { 0 } else { 100 };
        self.players.iter().for_each(|_| out.extend([0, most]));
        out.extend(FAR.to_le_bytes());
        out.push(0);
    }

    pub fn put_end(&self, scores: &[u8], out: &mut Vec<u8>) {
        scores.iter().for_each(|&score| out.extend([score; 2]));
        out.extend(0_u16.to_le_bytes());
        out.push(1);
    }

    pub fn score(&self, entry: &[u8], player: usize) -> [u8; 2] {
        [entry[2 * player], entry[2 * player + 1]]
    }

    /// The scores by player.
    pub fn scores<'e>(&self, entry: &'e [u8]) -> &'e [[u8; 2]] {
        &entry.as_chunks().0[..self.players.len()]
    }

    pub fn distance(&self, entry: &[u8]) -> u16 {
        let at = 2 * self.players.len();
        u16::from_le_bytes([entry[at], entry[at + 1]])
    }

    pub fn is_settled(&self, entry: &[u8]) -> bool {
        entry[entry.len() - 1] == 1
    }

    /// Appends the entry that follows from the entries of all children; `old` is the last one.
    pub fn put_after(
        &self,
        sweep: Sweep,
        choices: &Choices<'_>,
        children: &[u8],
        old: &[u8],
        out: &mut Vec<u8>,
    ) {
        let each = || children.chunks_exact(self.bytes());
        let chooser = choices.chooser;
        let start = out.len();
        for player in 0..self.players.len() {
            out.extend(match (sweep, chooser) {
                (Sweep::Distances, _) => self.score(old, player),
                (_, Some(role)) => self.after_choice(role, player, each()),
                (_, None) => self.after_joint(choices.counts, player, each()),
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

/// Both scores of two values, chosen alike.
fn both(choose: fn(u8, u8) -> u8) -> impl Fn([u8; 2], [u8; 2]) -> [u8; 2] {
    move |[a, b], [c, d]| [choose(a, c), choose(b, d)]
}

fn of_chance([a, b]: [u8; 2], [c, d]: [u8; 2]) -> [u8; 2] {
    [a.min(c), b.max(d)]
}

impl Ends {
    /// Those of no end.
    pub fn none(players: usize) -> Ends {
        Ends {
            sums: [u32::MAX, 0],
            ranges: vec![[100, 0]; players],
        }
    }

    pub fn add(&mut self, other: &Ends) {
        let wider = |a: &mut [u8; 2], b: &[u8; 2]| *a = [a[0].min(b[0]), a[1].max(b[1])];
        let [least, most] = other.sums;
        self.sums = [self.sums[0].min(least), self.sums[1].max(most)];
        let ranges = self.ranges.iter_mut().zip(&other.ranges);
        ranges.for_each(|(own, other)| wider(own, other));
    }
}
