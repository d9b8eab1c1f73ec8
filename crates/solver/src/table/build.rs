//! The values of all positions, backwards from the ends.
//!
//! The scores that a role can force are a least fixpoint, and those that the others can force a greatest
//! one. Both are reached by going over all positions, last first: once, if no position can repeat, else until
//! nothing changes. Where they differ, play never ends if all play well, or chance decides.
//!
//! Source: Ströhlein, "Untersuchungen über kombinatorische Spiele", 1970; Thompson, "Retrograde analysis of
//! certain endgames", 1986.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::file::{Header, TableValue, Writer};
use super::graph::{Chooser, Graph, Order};
use super::{FAR, bucket};
use ggp_engine::propnet::Propnet;
use ggp_stop::Stop;

/// The mean number of positions in a bucket of a file, at most twice as many.
const BUCKET: u64 = 4;

/// The limits of [`tabulate`].
#[derive(Clone, Debug)]
pub struct TabulateLimits {
    /// The most positions.
    pub positions: u64,
    /// The most bytes.
    pub memory_bytes: u64,
    /// The flag and the deadline that end the work.
    pub stop: Stop,
}

/// The reason why there are no values.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TabulateError {
    /// It was stopped.
    Stopped,
    /// There are more positions than allowed; the number of those found by then.
    TooMany(usize),
    /// They need more memory than allowed; the number of those found by then.
    TooLarge(usize),
    /// A position has more than 65,536 joint moves.
    Wide,
    /// A role has no legal move in some position.
    NoMove {
        /// The number of the role.
        role: usize,
    },
    /// A role has no score, or several, at some end.
    NoScore {
        /// The number of the role.
        role: usize,
    },
    /// There are more different values than a file can have.
    TooVarious,
}

impl fmt::Display for TabulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TabulateError::Stopped => f.write_str("stopped before all positions were known"),
            TabulateError::TooMany(found) => {
                write!(f, "more positions than allowed: {found} found")
            }
            TabulateError::TooLarge(found) => {
                write!(f, "the positions do not fit into the memory: {found} found")
            }
            TabulateError::Wide => f.write_str("a position has more than 65536 joint moves"),
            TabulateError::NoMove { role } => {
                write!(f, "role {} has no legal move in some position", role + 1)
            }
            TabulateError::NoScore { role } => {
                write!(f, "role {} has no score, or several, at some end", role + 1)
            }
            TabulateError::TooVarious => f.write_str("more than 65536 different values"),
        }
    }
}

impl std::error::Error for TabulateError {}

/// The values of all positions.
pub struct Tabulation {
    graph: Graph,
    /// The roles that are not chance.
    players: Vec<usize>,
    /// By position and player: the score that it can force, and that the others can force it down to.
    values: Vec<[u8; 2]>,
    /// By position: the number of joint moves to the end; empty if it is not defined.
    distances: Vec<u16>,
}

/// Computes the values of all positions that are reachable from the first one of a network. `seen` is
/// called now and then with the number of positions found.
///
/// # Errors
///
/// If a limit is reached, or the rules have a fault.
pub fn tabulate(
    net: &Propnet,
    limits: &TabulateLimits,
    seen: &mut dyn FnMut(usize),
) -> Result<Tabulation, TabulateError> {
    let graph = Graph::new(net, limits, seen)?;
    let (game, roles) = (net.game(), net.game().role_count());
    let players = game.roles().filter(|role| !game.is_random(*role));
    let players: Vec<usize> = players.map(|role| role.index()).collect();
    let mut values = vec![[0, 100]; graph.len() * players.len()];
    let mut sums: Option<[u32; 2]> = None;
    let mut ranges = vec![[100, 0]; players.len()];
    for (position, scores) in graph.ends(roles) {
        let own: Vec<u8> = players.iter().map(|role| scores[*role]).collect();
        for (player, &score) in own.iter().enumerate() {
            values[position * players.len() + player] = [score; 2];
            let [least, most] = ranges[player];
            ranges[player] = [least.min(score), most.max(score)];
        }
        let sum = own.iter().map(|score| u32::from(*score)).sum();
        let [least, most] = sums.unwrap_or([sum, sum]);
        sums = Some([least.min(sum), most.max(sum)]);
    }
    let is_constant = sums.is_none_or(|[least, most]| least == most);
    let mut table = Tabulation {
        graph,
        players,
        values,
        distances: Vec::new(),
    };
    let order = table.graph.order();
    table.repeat(&order, &limits.stop, Tabulation::update_values)?;
    let is_one_at_a_time = !table.graph.choosers.contains(&Chooser::Many);
    let is_duel = table.players.len() == 2 && roles == 2 && is_constant && is_one_at_a_time;
    if is_duel || roles == 1 {
        table.distances = vec![FAR; table.graph.len()];
        for (position, _) in table.graph.ends(roles) {
            table.distances[position] = 0;
        }
        // A single role, or one that gets the same at every end, has nothing to delay.
        let floors = ranges
            .iter()
            .map(|[least, most]| match least < most && roles > 1 {
                true => Some(*least),
                false => None,
            });
        let floors: Vec<Option<u8>> = floors.collect();
        table.repeat(&order, &limits.stop, |table, position| {
            table.update_distance(position, &floors)
        })?;
    }
    Ok(table)
}

/// Both scores of two values, chosen alike.
fn both(choose: fn(u8, u8) -> u8) -> impl Fn([u8; 2], [u8; 2]) -> [u8; 2] {
    move |[a, b], [c, d]| [choose(a, c), choose(b, d)]
}

impl Tabulation {
    /// Goes over all positions, last first: once, or if positions can repeat, until an update changes
    /// none.
    fn repeat(
        &mut self,
        order: &Order,
        stop: &Stop,
        update: impl Fn(&mut Self, usize) -> bool,
    ) -> Result<(), TabulateError> {
        loop {
            let mut is_changed = false;
            for number in (0..self.len()).rev() {
                let position = match order {
                    Order::List(order) => order[number] as usize,
                    Order::Numbers | Order::Cycles => number,
                };
                if number % (1 << 16) == 0 && stop.is_over() {
                    return Err(TabulateError::Stopped);
                }
                if self.graph.choosers[position] != Chooser::End {
                    is_changed |= update(self, position);
                }
            }
            if !is_changed || !matches!(order, Order::Cycles) {
                return Ok(());
            }
        }
    }

    /// The values of a position.
    fn of(&self, position: usize) -> &[[u8; 2]] {
        &self.values[position * self.players.len()..][..self.players.len()]
    }

    /// Sets the values of a position by those of the positions after it, and returns whether they
    /// changed.
    fn update_values(&mut self, position: usize) -> bool {
        let mut is_changed = false;
        for player in 0..self.players.len() {
            let new = self.value_after(position, player);
            let known = &mut self.values[position * self.players.len() + player];
            is_changed |= *known != new;
            *known = new;
        }
        is_changed
    }

    /// The value of a position for a player by those of the positions after it. Chance is against the
    /// player in the lower score, and for it in the upper one.
    fn value_after(&self, position: usize, player: usize) -> [u8; 2] {
        let count = self.players.len();
        let role = self.players[player];
        let children = self.graph.children(position).iter();
        let values = children.map(|child| self.values[*child as usize * count + player]);
        let of_chance = |[a, b]: [u8; 2], [c, d]: [u8; 2]| [a.min(c), b.max(d)];
        let one = match self.graph.choosers[position] {
            Chooser::End => return self.of(position)[player],
            Chooser::One(chooser) if usize::from(chooser) == role => values.reduce(both(u8::max)),
            Chooser::One(chooser) if self.players.contains(&chooser.into()) => {
                values.reduce(both(u8::min))
            }
            Chooser::One(_) => values.reduce(of_chance),
            Chooser::Many => {
                // The others know the move of the role, and nobody that of chance.
                let counts = self.graph.counts(position);
                let own = counts[role] as usize;
                let others =
                    (0..counts.len()).filter(|at| *at != role && self.players.contains(at));
                let others: Vec<usize> = others.collect();
                let groups: usize = others.iter().map(|at| counts[*at] as usize).product();
                let mut left: Vec<Option<[u8; 2]>> = vec![None; own * groups];
                let mut made = vec![0; counts.len()];
                for value in values {
                    let group = others
                        .iter()
                        .fold(0, |all, at| all * counts[*at] as usize + made[*at]);
                    let known = &mut left[made[role] * groups + group];
                    *known = Some(known.map_or(value, |known| of_chance(known, value)));
                    // The next joint move.
                    for (made, count) in made.iter_mut().zip(counts) {
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
                least.reduce(both(u8::max))
            }
        };
        one.unwrap_or([0, 100])
    }

    /// Sets the distance of a position by those of the positions after it, and returns whether it
    /// changed. A role whose value is the lowest possible one delays the end, others hasten it.
    fn update_distance(&mut self, position: usize, floors: &[Option<u8>]) -> bool {
        let Chooser::One(role) = self.graph.choosers[position] else {
            return false;
        };
        let Some(player) = self
            .players
            .iter()
            .position(|own| *own == usize::from(role))
        else {
            return false;
        };
        let value = self.of(position)[player];
        if value[0] != value[1] {
            return false;
        }
        let children = self
            .graph
            .children(position)
            .iter()
            .map(|child| *child as usize);
        let best = children.filter(|child| self.of(*child)[player] == value);
        let distances = best.map(|child| self.distances[child]);
        let distance = match Some(value[0]) == floors[player] {
            true => distances.max(),
            false => distances.min(),
        };
        let new = match distance {
            Some(FAR) | None => FAR,
            Some(distance) => distance.saturating_add(1).min(FAR - 1),
        };
        std::mem::replace(&mut self.distances[position], new) != new
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// The value of the first position.
    pub fn first(&self) -> TableValue {
        let distance = self.distances.first().copied();
        TableValue {
            scores: self.of(0).to_vec(),
            distance: distance.filter(|distance| *distance != FAR),
        }
    }

    /// Always false: there is the first position.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of joint moves of all positions.
    pub fn joint_moves(&self) -> usize {
        self.graph.arcs()
    }

    /// Writes the file of the values of a game with this network.
    ///
    /// # Errors
    ///
    /// Those of writing; [`io::ErrorKind::InvalidData`] with [`TabulateError::TooVarious`] if
    /// there are more different values than a file can have.
    pub fn write(&self, net: &Propnet, out: &mut dyn Write) -> io::Result<()> {
        let count = self.len() as u64;
        let mut known: FxHashMap<&[[u8; 2]], u16> = FxHashMap::default();
        let (mut values, mut numbers) = (Vec::new(), Vec::with_capacity(self.len()));
        for position in 0..self.len() {
            let own = self.of(position);
            let number = match known.get(own) {
                Some(number) => *number,
                None => {
                    let number = u16::try_from(values.len()).map_err(|_| {
                        io::Error::new(io::ErrorKind::InvalidData, TabulateError::TooVarious)
                    })?;
                    known.insert(own, number);
                    values.push(own.to_vec());
                    number
                }
            };
            numbers.push(number);
        }
        let bits = (count / BUCKET).checked_ilog2().unwrap_or(0);
        let has_distances = !self.distances.is_empty();
        let header = Header::new(net, &self.players, count, bits, values, has_distances);
        let bytes = header.key_bytes();
        let put_key = |position: usize, out: &mut Vec<u8>| {
            let end = out.len() + bytes;
            for word in self.graph.key(position) {
                out.extend_from_slice(&word.to_le_bytes());
            }
            out.truncate(end);
        };
        let mut key = Vec::new();
        let mut places = Vec::with_capacity(self.len());
        // Positions by bucket, in their order.
        let mut firsts = vec![0_u32; (1 << bits) + 1];
        for position in 0..self.len() {
            key.clear();
            put_key(position, &mut key);
            let place = bucket(&key, bits) as usize;
            firsts[place + 1] += 1;
            places.push(place as u32);
        }
        for at in 1..firsts.len() {
            firsts[at] += firsts[at - 1];
        }
        let mut next = firsts.clone();
        let mut order = vec![0_u32; self.len()];
        for (place, position) in places.into_iter().zip(0..) {
            let at = &mut next[place as usize];
            order[*at as usize] = position;
            *at += 1;
        }
        let mut writer = Writer::new(out, &header)?;
        for first in firsts {
            writer.write(&first.to_le_bytes())?;
        }
        for position in order {
            let position = position as usize;
            key.clear();
            put_key(position, &mut key);
            key.extend_from_slice(&numbers[position].to_le_bytes());
            if let Some(distance) = self.distances.get(position) {
                key.extend_from_slice(&distance.to_le_bytes());
            }
            writer.write(&key)?;
        }
        writer.finish()
    }
}
