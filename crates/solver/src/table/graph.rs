//! All positions of a game, and the joint moves between them.

use std::hint::black_box;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::build::{TabulateError, TabulateLimits};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Batch;
use ggp_engine::propnet::code::Engine;

/// The number of positions that are looked at together.
const LANES: usize = 512;
/// The most joint moves of one position.
const MOST_JOINT_MOVES: usize = 1 << 16;

/// The roles that choose in a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Chooser {
    /// The game is over.
    End,
    /// Only this role may have several legal moves.
    One(u8),
    /// Several roles have a choice.
    Many,
}

/// The order of positions in which each comes before those after it.
pub(super) enum Order {
    /// That of their numbers.
    Numbers,
    /// This one.
    List(Vec<u32>),
    /// No order: positions can repeat.
    Cycles,
}

/// All positions of a game, in the order of discovery from the first one.
pub(super) struct Graph {
    /// The words of a position, at least one.
    words: usize,
    /// The words of a position that have facts.
    used: usize,
    roles: usize,
    /// By position: its words.
    keys: Vec<u64>,
    numbers: HashTable<u32>,
    pub choosers: Vec<Chooser>,
    /// By position: the number of its first joint move; the last entry is the number of all.
    firsts: Vec<u64>,
    /// By joint move: the position after it. Those of one position are in the order in which the
    /// move of the first role changes fastest.
    arcs: Vec<u32>,
    /// The numbers of legal moves by role, where several roles choose.
    counts: FxHashMap<u32, Box<[u32]>>,
    /// By end, in the order of positions: the scores by role.
    ends: Vec<u8>,
    /// True if every joint move leads to a position that was found later.
    pub is_forward: bool,
}

impl Graph {
    /// Finds all positions.
    ///
    /// # Errors
    ///
    /// If a limit is reached, or the rules have a fault.
    pub fn new(
        net: &Propnet,
        limits: &TabulateLimits,
        seen: &mut dyn FnMut(usize),
    ) -> Result<Graph, TabulateError> {
        let stop = &limits.stop;
        let batch = Batch::until(net, LANES, Engine::Auto, stop);
        let mut batch = batch.ok_or(TabulateError::Stopped)?;
        let first = batch.initial().to_vec();
        let mut graph = Graph {
            words: first.len().max(1),
            used: first.len(),
            roles: batch.roles(),
            keys: Vec::new(),
            numbers: HashTable::new(),
            choosers: Vec::new(),
            firsts: vec![0],
            arcs: Vec::new(),
            counts: FxHashMap::default(),
            ends: Vec::new(),
            is_forward: true,
        };
        graph.number(&first, hash_of(&first));
        let scores = scores(net);
        let mut found = Found::default();
        while graph.choosers.len() < graph.len() {
            if stop.is_over() {
                return Err(TabulateError::Stopped);
            }
            if graph.len() as u64 > limits.positions || graph.len() >= u32::MAX as usize {
                return Err(TabulateError::TooMany(graph.len()));
            }
            if graph.bytes() > limits.memory_bytes {
                return Err(TabulateError::TooLarge(graph.len()));
            }
            seen(graph.len());
            graph.look(&mut batch, &scores, &mut found)?;
            graph.make(&mut batch, &found);
        }
        Ok(graph)
    }

    pub fn len(&self) -> usize {
        self.keys.len() / self.words
    }

    /// The facts of a position as bits.
    pub fn key(&self, position: usize) -> &[u64] {
        &self.keys[position * self.words..][..self.used]
    }

    /// The positions after all joint moves of a position.
    pub fn children(&self, position: usize) -> &[u32] {
        let [first, end] = [position, position + 1].map(|at| self.firsts[at] as usize);
        &self.arcs[first..end]
    }

    /// The number of joint moves of all positions.
    pub fn arcs(&self) -> usize {
        self.arcs.len()
    }

    /// An order in which each position comes before those after it, if no position can repeat.
    ///
    /// Source: Kahn, "Topological sorting of large networks", 1962.
    pub fn order(&self) -> Order {
        if self.is_forward {
            return Order::Numbers;
        }
        let mut open: Vec<u32> = vec![0; self.len()];
        for child in &self.arcs {
            open[*child as usize] += 1;
        }
        let mut order = Vec::with_capacity(self.len());
        if open[0] == 0 {
            order.push(0);
        }
        let mut at = 0;
        while let Some(position) = order.get(at).copied() {
            at += 1;
            for child in self.children(position as usize) {
                let left = &mut open[*child as usize];
                *left -= 1;
                if *left == 0 {
                    order.push(*child);
                }
            }
        }
        match order.len() == self.len() {
            true => Order::List(order),
            false => Order::Cycles,
        }
    }

    /// The numbers of legal moves by role, where several roles choose.
    pub fn counts(&self, position: usize) -> &[u32] {
        &self.counts[&(position as u32)]
    }

    /// The ends with their scores by role.
    pub fn ends(&self, roles: usize) -> impl Iterator<Item = (usize, &[u8])> {
        let choosers = self.choosers.iter().enumerate();
        let ends = choosers.filter(|(_, chooser)| **chooser == Chooser::End);
        ends.map(|(position, _)| position)
            .zip(self.ends.chunks(roles))
    }

    /// The bytes in use, with those of the values to come.
    fn bytes(&self) -> u64 {
        let keys = self.keys.capacity() * 8 + self.numbers.capacity() * 6;
        let others =
            self.choosers.capacity() * 2 + self.firsts.capacity() * 8 + self.arcs.capacity() * 4;
        let ends = self.ends.capacity() + self.counts.len() * 64;
        // Two scores for each role, a distance, an order, and what writing needs.
        let values = self.len() * (2 * self.roles + 14);
        (keys + others + ends + values) as u64
    }

    /// The number of a position, which may be new.
    fn number(&mut self, key: &[u64], hash: u64) -> u32 {
        let (words, used) = (self.words, self.used);
        let new = self.len() as u32;
        let keys = &self.keys;
        let key_of = |number: &u32| &keys[*number as usize * words..][..used];
        if let Some(known) = self.numbers.find(hash, |number| key_of(number) == key) {
            return *known;
        }
        let hash_of = |number: &u32| hash_of(key_of(number));
        self.numbers.insert_unique(hash, new, hash_of);
        self.keys.extend_from_slice(key);
        self.keys.resize((new as usize + 1) * words, 0);
        new
    }

    /// Reads what finding positions with these hashes reads, so that the processor waits for all of it
    /// together.
    fn touch(&self, hashes: &[u64]) {
        let mut all = 0;
        for &hash in hashes {
            let found = self.numbers.find(hash, |_| true);
            all ^= found.map_or(0, |number| self.keys[*number as usize * self.words]);
        }
        black_box(all);
    }

    /// Looks at the next positions: who chooses, and which joint moves are to be made.
    fn look(
        &mut self,
        batch: &mut Batch,
        scores: &[Scores],
        found: &mut Found,
    ) -> Result<(), TabulateError> {
        let first = self.choosers.len();
        let count = (self.len() - first).min(LANES);
        let roles = scores.len();
        let keys: Vec<&[u64]> = (first..first + count).map(|at| self.key(at)).collect();
        batch.set_states(&keys);
        let over = batch.terminal().to_vec();
        found.moves.clear();
        found.moves.resize(count * roles, Vec::new());
        for role in 0..roles {
            for chosen in 0..batch.moves(role) {
                let row = batch.legal(role, chosen);
                for (word, bits) in row.iter().enumerate().take(count.div_ceil(64)) {
                    let mut bits = bits & !over[word];
                    while bits != 0 {
                        let lane = 64 * word + bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        if lane < count {
                            found.moves[lane * roles + role].push(chosen);
                        }
                    }
                }
            }
        }
        found.parents.clear();
        found.joints.clear();
        for lane in 0..count {
            let is_over = over[lane / 64] >> (lane % 64) & 1 == 1;
            if is_over {
                for (role, scores) in scores.iter().enumerate() {
                    // Chance has no scores.
                    let Some(scores) = scores else {
                        self.ends.push(0);
                        continue;
                    };
                    let mut due = batch.goal_values(lane, role);
                    let score = match (due.next(), due.next()) {
                        (Some(value), None) => scores[value],
                        _ => None,
                    };
                    self.ends
                        .push(score.ok_or(TabulateError::NoScore { role })?);
                }
                self.choosers.push(Chooser::End);
                self.firsts.push(self.firsts[self.firsts.len() - 1]);
                continue;
            }
            let moves = &found.moves[lane * roles..][..roles];
            if let Some(role) = moves.iter().position(Vec::is_empty) {
                return Err(TabulateError::NoMove { role });
            }
            let joints = moves.iter().map(Vec::len);
            let joints = joints.fold(1, usize::saturating_mul);
            if joints > MOST_JOINT_MOVES {
                return Err(TabulateError::Wide);
            }
            let mut choosers = (0..).zip(moves).filter(|(_, moves)| moves.len() > 1);
            let chooser = match (choosers.next(), choosers.next()) {
                (None, _) => Chooser::One(0),
                (Some((role, _)), None) => Chooser::One(role),
                _ => {
                    let counts = moves.iter().map(|moves| moves.len() as u32);
                    let position = self.choosers.len() as u32;
                    self.counts.insert(position, counts.collect());
                    Chooser::Many
                }
            };
            self.choosers.push(chooser);
            self.firsts
                .push(self.firsts[self.firsts.len() - 1] + joints as u64);
            for joint in 0..joints {
                let mut rest = joint;
                found.parents.push((first + lane) as u32);
                for moves in moves {
                    found.joints.push(moves[rest % moves.len()]);
                    rest /= moves.len();
                }
            }
        }
        Ok(())
    }

    /// Makes the joint moves that were found.
    fn make(&mut self, batch: &mut Batch, found: &Found) {
        let roles = batch.roles();
        let joints = found.joints.chunks(LANES * roles);
        for (parents, joints) in found.parents.chunks(LANES).zip(joints) {
            let keys: Vec<&[u64]> = { parents.iter() }
                .map(|at| self.key(*at as usize))
                .collect();
            batch.set_states(&keys);
            batch.step(joints);
            let states = batch.states(parents.len());
            let hashes: Vec<u64> = states.iter().map(|state| hash_of(state)).collect();
            self.touch(&hashes);
            for ((state, hash), parent) in states.iter().zip(hashes).zip(parents) {
                let child = self.number(state, hash);
                self.is_forward &= child > *parent;
                self.arcs.push(child);
            }
        }
    }
}

/// By goal value: the score, if it is one; `None` for chance.
type Scores = Option<Vec<Option<u8>>>;

/// The joint moves of some positions.
#[derive(Default)]
struct Found {
    /// By position and role: the legal moves.
    moves: Vec<Vec<usize>>,
    /// By joint move: its position, and the moves by role.
    parents: Vec<u32>,
    joints: Vec<usize>,
}

/// A hash whose bits all depend on all bits of the key.
fn hash_of(key: &[u64]) -> u64 {
    key.iter().fold(0, |hash: u64, word| {
        let product = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
        product as u64 ^ (product >> 64) as u64
    })
}

/// By role: the scores of goal values.
fn scores(net: &Propnet) -> Vec<Scores> {
    let terms = net.terms();
    let score = |value: &(_, _)| {
        net.game()
            .score(&terms, value.0)
            .map(|score| score.get())
            .ok()
    };
    let of_role = |role: &Vec<_>| role.iter().map(score).collect();
    let roles = net.game().roles().zip(net.goals());
    roles
        .map(|(role, goals)| (!net.game().is_random(role)).then(|| of_role(goals)))
        .collect()
}
