//! The search tree: positions with their moves, visits, values and bounds.
//!
//! A position has a slot with a number. Slots of pruned positions are used again, so a tree
//! that has reached its limit on memory keeps its size; see [`room`](super::room). A node
//! gets its arms when a line passes it for the second time.

use std::hash::Hash;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use super::Mcts;
use super::arms::{ArmRange, Arms, heap_bytes};
use super::bounds::Total;
use super::expand::{Batch, LINES_PER_VISIT};
use super::room::Room;
use super::simulator::{Simulator, View, Views};
use super::table::Table;
use crate::state_hash;

/// The index that stands for no node.
pub(super) const NONE: u32 = u32::MAX;
/// The index that stands for a node that is being evaluated.
pub(super) const WAITING: u32 = u32::MAX - 1;
/// The age of a free slot.
pub(super) const FREE: u16 = 0;

/// The roles that have a choice in a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Chooser {
    /// The game is over, or a role has no legal move.
    Closed,
    /// Only this role may have several legal moves.
    One(u16),
    /// Several roles have a choice at the same time.
    Many,
}

/// A position.
#[derive(Clone, Debug)]
pub(super) struct Node<M> {
    /// The number of evaluations and backups; 0 until its first evaluation.
    pub(super) visits: u32,
    /// The number of lines through it or to it that wait for an evaluation.
    pub(super) pending: u32,
    /// The number of joint moves from the first root on the way on which it was found first.
    pub(super) ply: u32,
    pub(super) chooser: Chooser,
    /// A counter that changes with its bounds.
    pub(super) stamp: u16,
    /// The number of joint moves to the end of the game, if the value is proved.
    pub(super) distance: u16,
    /// The last pass of pruning that reached it; [`FREE`] if the slot is free.
    pub(super) age: u16,
    pub(super) is_end: bool,
    /// True if an arm has bounds other than the range of the score.
    pub(super) has_proofs: bool,
    /// True if all arms have visits.
    pub(super) is_tried: bool,
    /// True if the priors of its arms are known.
    pub(super) has_priors: bool,
    /// True if a line of the batch in hand waits for its first evaluation.
    pub(super) is_awaited: bool,
    /// The legal moves of all roles; empty unless the position is open.
    pub(super) moves: Box<[M]>,
    pub(super) arms: Arms,
    /// Present where several roles choose.
    pub(super) many: Option<Box<Many>>,
}

/// The part of a position in which several roles choose.
#[derive(Clone, Debug, Default)]
pub(super) struct Many {
    /// By role: the number of legal moves.
    pub(super) counts: Box<[u32]>,
    /// The children, by joint move number.
    pub(super) edges: FxHashMap<u128, u32>,
}

impl Many {
    /// The bytes on the heap, with those of the structure itself.
    pub(super) fn bytes(&self) -> u64 {
        let edges = self.edges.capacity() * (size_of::<(u128, u32)>() + 1);
        heap_bytes(size_of::<Many>()) + heap_bytes(size_of_val(&*self.counts)) + heap_bytes(edges)
    }
}

impl<M> Node<M> {
    pub(super) fn many(&self) -> &Many {
        self.many.as_ref().expect("several roles choose")
    }
}

/// A search tree, or a directed graph if equal states share a node.
#[derive(Clone, Debug)]
pub struct Tree<S, M> {
    pub(super) options: Mcts,
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) roles: usize,
    /// By role.
    pub(super) chance: Vec<bool>,
    pub(super) range: Vec<[u8; 2]>,
    pub(super) total: Total,
    pub(super) root: u32,
    pub(super) nodes: Vec<Node<M>>,
    /// By node.
    pub(super) states: Vec<Option<S>>,
    /// By node and role: the sum of the values of all visits.
    pub(super) values: Vec<f64>,
    /// By node and role: proved score bounds.
    pub(super) bounds: Vec<[u8; 2]>,
    /// The node of each state, if equal states share a node.
    pub(super) table: Option<Table>,
    pub(super) room: Room,
    /// The bytes on the heap of states, moves and arms.
    pub(super) heap: u64,
    pub(super) iterations: u64,
    pub(super) batch: Batch<M>,
    /// The number of lines of a batch for each root visit so far.
    pub(super) lines_per_visit: f64,
    pub(super) scores: Vec<f32>,
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// A tree of one position.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn new<G: Simulator<State = S, Move = M>>(
        game: &mut G,
        root: S,
        options: &Mcts,
    ) -> Result<Self, G::Error> {
        let roles = 0..game.roles();
        let mut tree = Tree {
            options: *options,
            rng: Xoshiro256PlusPlus::seed_from_u64(options.seed),
            roles: roles.len(),
            chance: roles.clone().map(|role| game.is_chance(role)).collect(),
            range: roles.map(|role| game.range(role)).collect(),
            total: Total::default(),
            root: 0,
            nodes: Vec::new(),
            states: Vec::new(),
            values: Vec::new(),
            bounds: Vec::new(),
            table: options.graph.then(Table::new),
            room: Room::default(),
            heap: 0,
            iterations: 0,
            batch: Batch::default(),
            lines_per_visit: LINES_PER_VISIT,
            scores: Vec::new(),
        };
        tree.set_root(game, root)?;
        Ok(tree)
    }

    /// Adds a position that may be unknown and makes it the root.
    pub(super) fn set_root<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        root: S,
    ) -> Result<(), G::Error> {
        let mut views = Views::default();
        game.look(&[&root], &mut views)?;
        let (hash, bytes) = (self.hash(&root), game.state_heap_bytes(&root));
        let ply = self
            .nodes
            .get(self.root as usize)
            .map_or(0, |node| node.ply + 1);
        self.root = self.add(root, hash, &views, &mut Cursor::default(), ply, bytes);
        Ok(())
    }

    /// The number of positions, including the root. Positions that are unreachable count until
    /// they are pruned.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.room.free.len() - self.room.dropped
    }

    /// Always false: a tree has at least its root.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The number of visits of the root.
    pub fn visits(&self) -> u64 {
        self.nodes[self.root as usize].visits.into()
    }

    /// The position at the root.
    pub fn root(&self) -> &S {
        self.state(self.root)
    }

    #[inline]
    pub(super) fn state(&self, node: u32) -> &S {
        let state = self.states[node as usize].as_ref();
        state.expect("a slot in use has a state")
    }

    /// The part of a state's hash that the table uses.
    pub(super) fn hash(&self, state: &S) -> u32 {
        match self.table {
            Some(_) => (state_hash(state) >> 32) as u32,
            None => 0,
        }
    }

    /// The node of a state, if equal states share a node.
    pub(super) fn find(&self, hash: u32, state: &S) -> Option<u32> {
        let is_same =
            |node: u32| self.is_kept(node) && self.states[node as usize].as_ref() == Some(state);
        self.table.as_ref()?.find(hash, is_same)
    }

    /// Adds a node for the next position of the views.
    pub(super) fn add(
        &mut self,
        state: S,
        hash: u32,
        views: &Views<M>,
        at: &mut Cursor,
        ply: u32,
        heap_bytes: u64,
    ) -> u32 {
        let view = views.views[at.position];
        let first = at.position * self.roles;
        let counts = &views.counts[first..first + self.roles];
        let goals = &views.goals[first..first + self.roles];
        let count = counts.iter().map(|&count| count as usize).sum::<usize>();
        let moves = &views.moves[at.moves..at.moves + count];
        at.position += 1;
        at.moves += count;
        let node = self.add_node(state, hash, view, moves.into(), ply, heap_bytes);
        let chooser = chooser(view, counts);
        self.nodes[node as usize].chooser = chooser;
        if chooser == Chooser::Many {
            let many = Many {
                counts: counts.into(),
                edges: FxHashMap::default(),
            };
            self.heap += many.bytes();
            self.nodes[node as usize].many = Some(Box::new(many));
        }
        if view == View::End {
            self.set_terminal(node, goals);
        }
        node
    }

    /// Adds a node with the state, the moves and the evaluation of another one.
    pub(super) fn add_copy(&mut self, state: S, heap_bytes: u64, of: &Node<M>) -> u32 {
        let view = if of.is_end { View::End } else { View::Open };
        let hash = self.hash(&state);
        let node = self.add_node(state, hash, view, of.moves.clone(), of.ply, heap_bytes);
        if let Some(many) = &of.many {
            let many = Many {
                counts: many.counts.clone(),
                edges: FxHashMap::default(),
            };
            self.heap += many.bytes();
            self.nodes[node as usize].many = Some(Box::new(many));
        }
        let data = &mut self.nodes[node as usize];
        (data.chooser, data.visits) = (of.chooser, of.visits.min(1));
        node
    }

    /// Adds a node for a terminal state.
    pub(super) fn add_end(
        &mut self,
        state: S,
        hash: u32,
        goals: &[u8],
        ply: u32,
        heap_bytes: u64,
    ) -> u32 {
        let node = self.add_node(state, hash, View::End, Box::new([]), ply, heap_bytes);
        self.set_terminal(node, goals);
        node
    }

    fn set_terminal(&mut self, node: u32, goals: &[u8]) {
        let first = node as usize * self.roles;
        for (role, &goal) in goals.iter().enumerate() {
            self.bounds[first + role] = [goal, goal];
            self.values[first + role] = goal.into();
        }
        self.nodes[node as usize].stamp = 1;
        let sum = self.sum_of(goals.iter().map(|&goal| f64::from(goal)));
        self.record_sum(sum, 1);
    }

    fn add_node(
        &mut self,
        state: S,
        hash: u32,
        view: View,
        moves: Box<[M]>,
        ply: u32,
        state_bytes: u64,
    ) -> u32 {
        self.heap += state_bytes + heap_bytes(size_of_val(&*moves));
        let data = Node {
            visits: u32::from(view != View::Open),
            pending: 0,
            ply,
            chooser: Chooser::Closed,
            stamp: 0,
            distance: 0,
            age: self.room.age(),
            is_end: view == View::End,
            has_proofs: false,
            is_tried: false,
            has_priors: false,
            is_awaited: false,
            moves,
            arms: Arms::default(),
            many: None,
        };
        let (node, roles) = (self.room.free.pop(), self.roles);
        let node = match node {
            Some(node) => {
                let first = node as usize * roles;
                self.nodes[node as usize] = data;
                self.states[node as usize] = Some(state);
                self.values[first..first + roles].fill(50.0);
                self.bounds[first..first + roles].copy_from_slice(&self.range);
                node
            }
            None => {
                self.nodes.push(data);
                self.states.push(Some(state));
                self.values.resize(self.values.len() + roles, 50.0);
                self.bounds.extend_from_slice(&self.range);
                (self.nodes.len() - 1) as u32
            }
        };
        if let Some(table) = &mut self.table {
            table.insert(hash, node);
        }
        node
    }

    /// Adds the arms of a node: those of each role that has a choice, in the order of the
    /// roles.
    pub(super) fn add_arms(&mut self, node: u32) {
        let mut bounds = Vec::new();
        let choosers: Vec<_> = self.choosers(node).collect();
        for (role, arms) in choosers {
            bounds.resize(arms.end, self.range[role]);
        }
        let mut arms = Arms::new(self.roles, &bounds);
        if self.nodes[node as usize].chooser == Chooser::Many {
            for (_, range) in self.choosers(node) {
                let share = 1.0 / range.len() as f32;
                range.for_each(|arm| arms.set_prior(arm, share));
            }
        }
        self.heap += arms.bytes();
        self.nodes[node as usize].arms = arms;
    }

    /// The number of a role's legal moves at a node.
    #[inline]
    pub(super) fn count(&self, node: u32, role: usize) -> usize {
        let data = &self.nodes[node as usize];
        match data.chooser {
            Chooser::Closed => 0,
            Chooser::One(one) if one as usize == role => data.moves.len() - (self.roles - 1),
            Chooser::One(_) => 1,
            Chooser::Many => data.many().counts[role] as usize,
        }
    }

    /// The roles that have arms at a node, each with the range of its arms.
    pub(super) fn choosers(&self, node: u32) -> impl Iterator<Item = (usize, ArmRange)> + '_ {
        let chooser = self.nodes[node as usize].chooser;
        let mut at = 0;
        (0..self.roles).filter_map(move |role| {
            let has_arms = match chooser {
                Chooser::Closed => false,
                Chooser::One(one) => role == one as usize,
                Chooser::Many => self.count(node, role) > 1,
            };
            has_arms.then(|| {
                let first = at;
                at += self.count(node, role);
                (role, first..at)
            })
        })
    }

    /// A role's legal moves at a node.
    pub(super) fn moves_of(&self, node: u32, role: usize) -> &[M] {
        let first: usize = (0..role).map(|role| self.count(node, role)).sum();
        &self.nodes[node as usize].moves[first..first + self.count(node, role)]
    }

    /// The child of a node after a joint move, [`NONE`] if it is not in the tree.
    #[inline]
    pub(super) fn child(&self, node: u32, choice: u128) -> u32 {
        let data = &self.nodes[node as usize];
        match data.chooser {
            Chooser::Many => data.many().edges.get(&choice).copied().unwrap_or(NONE),
            _ if data.arms.is_empty() => NONE,
            _ => data.arms.child(choice as usize),
        }
    }

    pub(super) fn link(&mut self, node: u32, choice: u128, child: u32) {
        if child < WAITING {
            self.keep(child);
        }
        let data = &mut self.nodes[node as usize];
        match &mut data.many {
            Some(many) => {
                let before = many.bytes();
                match child {
                    NONE => many.edges.remove(&choice),
                    child => many.edges.insert(choice, child),
                };
                self.heap = self.heap - before + many.bytes();
            }
            None => data.arms.set_child(choice as usize, child),
        }
    }

    /// Returns true if the score of every role except chance is proved.
    #[inline]
    pub(super) fn is_solved(&self, node: u32) -> bool {
        let first = node as usize * self.roles;
        (0..self.roles).all(|role| {
            let [low, high] = self.bounds[first + role];
            low == high || self.chance[role]
        })
    }

    /// The mean value of a node for a role, 0 to 100, within the proved bounds.
    #[inline]
    pub(super) fn mean(&self, node: u32, role: usize) -> f64 {
        let at = node as usize * self.roles + role;
        let [low, high] = self.bounds[at];
        let mean = self.values[at] / f64::from(self.nodes[node as usize].visits.max(1));
        mean.clamp(low.into(), high.into())
    }
}

/// A reading position in [`Views`].
#[derive(Default)]
pub(super) struct Cursor {
    position: usize,
    moves: usize,
}

impl Cursor {
    /// Skips the next position.
    pub(super) fn skip<M>(&mut self, views: &Views<M>, roles: usize) {
        let first = self.position * roles;
        let counts = &views.counts[first..first + roles];
        self.moves += counts.iter().map(|&count| count as usize).sum::<usize>();
        self.position += 1;
    }
}

fn chooser(view: View, counts: &[u32]) -> Chooser {
    if view != View::Open {
        return Chooser::Closed;
    }
    let mut choosers = (0..).zip(counts).filter(|(_, count)| **count > 1);
    match (choosers.next(), choosers.next()) {
        (None, _) => Chooser::One(0),
        (Some((role, _)), None) => Chooser::One(role),
        _ => Chooser::Many,
    }
}
