//! The memory of a tree: its root moves, and positions are pruned step by step.
//!
//! When memory runs short, a pass goes over the tree in small steps between batches, while the
//! search goes on. It reaches positions from the root, leaves out those with few visits if
//! being reachable is not enough, cuts the arms that lead to positions it does not reach, and
//! frees their slots. So no step takes long, however large the tree is.
//!
//! Source: Dijkstra et al., "On-the-fly garbage collection: an exercise in cooperation", 1978.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::arms::heap_bytes;
use super::simulator::Simulator;
use super::tree::{Chooser, FREE, NONE, Node, Tree, WAITING};

/// The work of a step for each line of a batch, in arms or slots. A pass takes about three
/// for each position, and has a quarter of the memory left when it begins.
const WORK_PER_LINE: usize = 24;
/// The work of a step if there is no room at all: about two milliseconds.
const WORK_IF_FULL: usize = 20_000;
/// A tree with at most this many positions grows even without memory.
const FEW: usize = 64;
/// The most positions to look at for a new root, if equal states do not share a node.
const NEAR: usize = 1 << 16;

/// The state of pruning.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// The most bytes of the tree.
    limit: u64,
    /// The number of the current or last pass.
    pass: u16,
    phase: Phase,
    /// The slots that are not in use.
    pub(super) free: Vec<u32>,
    /// The number of positions that were dropped at once and whose slots are not free yet.
    pub(super) dropped: usize,
    /// The reached positions whose arms are not followed yet.
    queue: Vec<u32>,
    /// By the number of binary digits of their visits: the bytes of positions.
    bytes: [u64; 33],
    /// Arms with fewer visits are not followed. After a pass, 0 if it made enough room.
    least: u32,
    /// True if arms with few visits are followed if their value is proved.
    keeps_proofs: bool,
    /// True if the root moved since the last pass began.
    is_moved: bool,
    /// The number of bytes at which the next pass begins.
    next: u64,
}

/// The work of a pass that comes next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Phase {
    Rest,
    /// Adds up the bytes of positions by their visits, from this slot on.
    Count(usize),
    /// Follows arms from the positions in the queue.
    Reach,
    /// Frees the slots that were not reached, from this one on.
    Sweep(usize),
}

impl Default for Room {
    fn default() -> Self {
        Room {
            limit: u64::MAX,
            pass: FREE + 1,
            phase: Phase::Rest,
            free: Vec::new(),
            dropped: 0,
            queue: Vec::new(),
            bytes: [0; 33],
            least: 0,
            keeps_proofs: true,
            is_moved: false,
            next: 0,
        }
    }
}

impl Room {
    /// The age of a new position.
    pub fn age(&self) -> u16 {
        self.pass
    }

    fn begin_pass(&mut self) {
        self.pass = self.pass.checked_add(1).unwrap_or(FREE + 1);
        self.queue.clear();
    }
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Sets the most bytes that the tree uses. The least visited positions are pruned to stay
    /// within it.
    pub fn set_memory(&mut self, bytes: u64) {
        self.room.limit = bytes;
    }

    /// The approximate number of bytes that the tree uses.
    pub fn bytes(&self) -> u64 {
        let table = self.table.as_ref().map_or(0, |table| table.bytes());
        self.nodes.len() as u64 * self.slot_bytes() + table + self.heap
    }

    fn slot_bytes(&self) -> u64 {
        let by_role = size_of::<f64>() + size_of::<[u8; 2]>();
        let fixed = size_of::<Node<M>>() + size_of::<Option<S>>() + size_of::<u32>();
        (fixed + self.roles * by_role) as u64
    }

    /// The bytes without those of free slots.
    fn bytes_in_use(&self) -> u64 {
        self.bytes() - self.room.free.len() as u64 * self.slot_bytes()
    }

    fn is_full(&self) -> bool {
        self.bytes() >= self.room.limit && self.len() > FEW
    }

    /// Moves the root to another position and returns whether it was in the tree. Positions
    /// that are unreachable from the new root are pruned when memory runs short.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn reroot<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        root: S,
    ) -> Result<bool, G::Error> {
        let known = match self.options.graph {
            true => self.find(self.hash(&root), &root),
            false => self.find_near(&root),
        };
        match known {
            Some(node) => {
                self.root = node;
                self.keep(node);
            }
            None => self.set_root(game, root)?,
        }
        self.room.is_moved = true;
        Ok(known.is_some())
    }

    /// The most visited node of a state among those near the root.
    fn find_near(&self, state: &S) -> Option<u32> {
        let mut open = VecDeque::from([self.root]);
        let mut met: FxHashSet<u32> = open.iter().copied().collect();
        let mut same = Vec::new();
        while let Some(node) = open.pop_front() {
            if self.state(node) == state {
                same.push(node);
            }
            self.follow(node, |child, _, _| {
                if met.len() < NEAR && met.insert(child) {
                    open.push_back(child);
                }
            });
        }
        { same.into_iter() }.max_by_key(|&node| self.nodes[node as usize].visits)
    }

    /// Drops all positions and starts from another root.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn reset<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        root: S,
    ) -> Result<(), G::Error> {
        self.drop_all();
        self.set_root(game, root)
    }

    /// Drops all positions. Their slots are freed step by step.
    fn drop_all(&mut self) {
        self.room.begin_pass();
        self.room.phase = Phase::Sweep(0);
        self.room.dropped = self.nodes.len() - self.room.free.len();
    }

    /// Starts again from the root, without bounds and with a single visit.
    pub(super) fn restart<G: Simulator<State = S, Move = M>>(&mut self, game: &G) {
        let root = self.root;
        let means: Vec<f64> = (0..self.roles).map(|role| self.mean(root, role)).collect();
        let (state, data) = (self.state(root).clone(), self.nodes[root as usize].clone());
        self.drop_all();
        let bytes = game.state_heap_bytes(&state);
        self.root = self.add_copy(state, bytes, &data);
        let first = self.root as usize * self.roles;
        self.values[first..first + self.roles].copy_from_slice(&means);
    }

    /// Returns true if a node is not about to be freed.
    pub(super) fn is_kept(&self, node: u32) -> bool {
        let is_swept = matches!(self.room.phase, Phase::Sweep(_));
        !is_swept || self.nodes[node as usize].age == self.room.pass
    }

    /// Notes that a node is reached from the tree.
    pub(super) fn keep(&mut self, node: u32) {
        let age = &mut self.nodes[node as usize].age;
        if self.room.phase == Phase::Reach && *age != self.room.pass {
            *age = self.room.pass;
            self.room.queue.push(node);
        }
    }

    /// Takes a step of a few milliseconds at most to make room, if memory runs short. Returns
    /// whether the tree has room to grow. [`Tree::grow`] calls it.
    pub fn make_room<G: Simulator<State = S, Move = M>>(&mut self, game: &G) -> bool {
        let is_full = self.is_full();
        if self.room.phase == Phase::Rest {
            let used = self.bytes_in_use();
            if used <= self.room.limit / 4 * 3 || (used < self.room.next && !is_full) {
                return true;
            }
            self.begin_pass();
        }
        let mut work = match is_full {
            true => WORK_IF_FULL,
            false => WORK_PER_LINE * self.options.batch.max(1) as usize,
        };
        while work > 0 && self.room.phase != Phase::Rest {
            work = work.saturating_sub(self.work(game, work));
        }
        !self.is_full()
    }

    fn begin_pass(&mut self) {
        let room = &mut self.room;
        if std::mem::take(&mut room.is_moved) {
            (room.least, room.keeps_proofs) = (0, true);
            self.begin_to_reach();
        } else {
            room.bytes = [0; 33];
            room.phase = Phase::Count(0);
        }
    }

    fn begin_to_reach(&mut self) {
        self.room.begin_pass();
        self.room.phase = Phase::Reach;
        self.keep(self.root);
    }

    /// Does a part of a pass, at most a little more than `most`, and returns the amount.
    fn work<G: Simulator<State = S, Move = M>>(&mut self, game: &G, most: usize) -> usize {
        let slots = |at: usize, nodes: usize| at..nodes.min(at + most);
        match self.room.phase {
            Phase::Rest => 1,
            Phase::Count(at) => {
                let fixed = self.slot_bytes();
                let part = slots(at, self.nodes.len());
                for node in &self.nodes[part.clone()] {
                    let bytes = fixed + heap_bytes(size_of_val(&*node.moves)) + node.arms.bytes();
                    let digits = (32 - node.visits.leading_zeros()) as usize;
                    self.room.bytes[digits] += if node.age == FREE { 0 } else { bytes };
                }
                self.room.phase = Phase::Count(part.end);
                if part.end == self.nodes.len() {
                    self.set_least();
                    self.begin_to_reach();
                }
                part.len() / 8 + 1
            }
            Phase::Reach => match self.room.queue.pop() {
                Some(node) => self.cut(node),
                None => {
                    self.room.phase = Phase::Sweep(0);
                    1
                }
            },
            Phase::Sweep(at) => {
                let part = slots(at, self.nodes.len());
                for slot in part.clone() {
                    let age = self.nodes[slot].age;
                    if age != FREE && age != self.room.pass {
                        self.free(game, slot);
                    }
                }
                self.room.phase = Phase::Sweep(part.end);
                if part.end == self.nodes.len() {
                    let (used, limit) = (self.bytes_in_use(), self.room.limit);
                    self.room.dropped = 0;
                    self.room.phase = Phase::Rest;
                    self.room.next = used + limit / 16;
                    if used <= limit / 8 * 5 {
                        self.room.least = 0;
                    }
                }
                part.len() + 1
            }
        }
    }

    /// Chooses the visits below which arms are not followed, so that about half of the memory
    /// is left.
    fn set_least(&mut self) {
        let all = self.room.bytes.iter().sum::<u64>().max(1);
        let wanted = all as f64 / self.bytes_in_use() as f64 * (self.room.limit / 2) as f64;
        let (mut kept, mut digits) = (0, 33);
        while digits > 0 && ((kept + self.room.bytes[digits - 1]) as f64) < wanted {
            digits -= 1;
            kept += self.room.bytes[digits];
        }
        let least = 1_u32.checked_shl(digits.saturating_sub(1) as u32);
        let (least, before) = (least.unwrap_or(u32::MAX), self.room.least);
        // The last pass did not leave enough room.
        self.room.keeps_proofs = before == 0;
        self.room.least = least.max(2).max(before.saturating_mul(2));
    }

    /// Follows the arms of a reached node and cuts those with too few visits.
    fn cut(&mut self, node: u32) -> usize {
        let (least, keeps_proofs) = (self.room.least, self.room.keeps_proofs);
        let keeps_proofs = keeps_proofs || node == self.root;
        let mut arms = std::mem::take(&mut self.nodes[node as usize].arms);
        for arm in 0..arms.len() {
            let child = arms.child(arm);
            if child >= WAITING {
                continue;
            }
            let [low, high] = arms.bounds(arm);
            if arms.visits(arm) >= least || (keeps_proofs && low == high) {
                self.keep(child);
            } else {
                arms.set_child(arm, NONE);
            }
        }
        let work = arms.len() / 4 + 2;
        self.nodes[node as usize].arms = arms;
        let Some(mut many) = self.nodes[node as usize].many.take() else {
            return work;
        };
        let before = many.bytes();
        many.edges.retain(|_, child| {
            let data = &self.nodes[*child as usize];
            let is_kept = data.visits >= least || (keeps_proofs && data.is_end);
            if is_kept {
                self.keep(*child);
            }
            is_kept
        });
        many.edges.shrink_to_fit();
        self.heap = self.heap - before + many.bytes();
        let work = work + many.edges.len();
        self.nodes[node as usize].many = Some(many);
        work
    }

    /// Frees a slot.
    fn free<G: Simulator<State = S, Move = M>>(&mut self, game: &G, slot: usize) {
        let data = &mut self.nodes[slot];
        let moves = std::mem::take(&mut data.moves);
        let (arms, many) = (std::mem::take(&mut data.arms), data.many.take());
        (data.age, data.visits, data.chooser) = (FREE, 0, Chooser::Closed);
        self.heap -=
            heap_bytes(size_of_val(&*moves)) + arms.bytes() + many.map_or(0, |many| many.bytes());
        if let Some(state) = self.states[slot].take() {
            self.heap -= game.state_heap_bytes(&state);
            let hash = self.hash(&state);
            if let Some(table) = &mut self.table {
                table.remove(hash, slot as u32);
            }
        }
        self.room.free.push(slot as u32);
        self.room.dropped = self.room.dropped.saturating_sub(1);
    }
}
