//! The search tree: positions with their moves, visits, values and bounds.
//!
//! All data is in a few long vectors indexed by node or by arm, so that a position needs
//! little memory and a tree is copied quickly. A node gets its arms when a line passes it for
//! the second time.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Mcts;
use super::bounds::Total;
use super::simulator::{Simulator, View, Views};

/// The index that stands for no node or no arm.
pub(super) const NONE: u32 = u32::MAX;
/// The index that stands for a node that is being evaluated.
pub(super) const WAITING: u32 = u32::MAX - 1;

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
pub(super) struct Node {
    /// The index of its first move.
    pub(super) moves: u32,
    /// The index of its first arm; [`NONE`] until it has arms.
    pub(super) arms: u32,
    /// The number of evaluations and backups; 0 until its first evaluation.
    pub(super) visits: u32,
    /// The number of lines through it that wait for an evaluation.
    pub(super) pending: u32,
    /// The number of the last line that passed it, for the detection of repetitions.
    pub(super) mark: u32,
    pub(super) chooser: Chooser,
    /// A counter that changes with its bounds.
    pub(super) stamp: u16,
    /// The number of joint moves to the end of the game, if the value is proved.
    pub(super) distance: u16,
    pub(super) is_end: bool,
}

/// A move of a role that has a choice.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    /// The child, if no other role has a choice.
    pub(super) child: u32,
    pub(super) visits: u32,
    pub(super) pending: u32,
    /// The stamp of the child at the last update of the bounds.
    pub(super) stamp: u16,
    /// Proved bounds of the score of the role that has this move.
    pub(super) bounds: [u8; 2],
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
    pub(super) nodes: Vec<Node>,
    pub(super) states: Vec<S>,
    /// By node and role: the sum of the values of all visits.
    pub(super) values: Vec<f64>,
    /// By node and role: proved score bounds.
    pub(super) bounds: Vec<[u8; 2]>,
    /// By node and role: the number of legal moves.
    pub(super) counts: Vec<u32>,
    pub(super) moves: Vec<M>,
    pub(super) arms: Vec<Arm>,
    /// By arm and role: the sum of the values of all visits.
    pub(super) arm_values: Vec<f64>,
    /// The children of nodes where several roles choose, by node and joint move number.
    pub(super) edges: FxHashMap<(u32, u128), u32>,
    /// The node of each state; empty unless equal states share a node.
    pub(super) table: HashTable<u32>,
    pub(super) state_bytes: u64,
    pub(super) lines: u32,
    /// The number of lines that are neither backed up nor released.
    pub(super) waiting: u64,
    pub(super) iterations: u64,
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
        let chance = roles.clone().map(|role| game.is_chance(role)).collect();
        let range = roles.map(|role| game.range(role)).collect();
        let rng = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        let mut tree = Tree::empty(*options, rng, chance, range);
        tree.reset(game, root)?;
        Ok(tree)
    }

    /// A tree without positions.
    fn empty(
        options: Mcts,
        rng: Xoshiro256PlusPlus,
        chance: Vec<bool>,
        range: Vec<[u8; 2]>,
    ) -> Self {
        Tree {
            options,
            rng,
            roles: range.len(),
            chance,
            range,
            total: Total::default(),
            root: 0,
            nodes: Vec::new(),
            states: Vec::new(),
            values: Vec::new(),
            bounds: Vec::new(),
            counts: Vec::new(),
            moves: Vec::new(),
            arms: Vec::new(),
            arm_values: Vec::new(),
            edges: FxHashMap::default(),
            table: HashTable::new(),
            state_bytes: 0,
            lines: 0,
            waiting: 0,
            iterations: 0,
        }
    }

    /// Replaces the tree by an empty one and returns the old one. The iterations and the
    /// constant-sum statistics stay.
    pub(super) fn take(&mut self) -> Self {
        let (chance, range) = (self.chance.clone(), self.range.clone());
        let mut empty = Tree::empty(self.options, self.rng.clone(), chance, range);
        empty.total = self.total;
        empty.iterations = self.iterations;
        std::mem::replace(self, empty)
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
        self.take();
        let mut views = Views::default();
        game.look(std::slice::from_ref(&root), &mut views)?;
        let bytes = game.state_heap_bytes(&root);
        self.root = self.add(root, &views, &mut Cursor::default(), bytes);
        Ok(())
    }

    /// The number of positions, including the root.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Always false: a tree has at least its root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
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
        &self.states[self.root as usize]
    }

    /// The approximate number of bytes that the tree uses.
    pub fn bytes(&self) -> u64 {
        let by_node = size_of::<Node>()
            + size_of::<S>()
            + self.roles * (size_of::<f64>() + size_of::<[u8; 2]>() + size_of::<u32>());
        let by_arm = size_of::<Arm>() + self.roles * size_of::<f64>();
        let own = self.nodes.len() * by_node
            + self.arms.len() * by_arm
            + self.moves.len() * size_of::<M>()
            // Hash tables are at least half full.
            + self.edges.len() * 2 * size_of::<((u32, u128), u32)>()
            + self.table.len() * 10;
        own as u64 + self.state_bytes
    }

    /// The node of a state, if equal states share a node.
    pub(super) fn find(&self, state: &S) -> Option<u32> {
        if !self.options.graph {
            return None;
        }
        let is_same = |&node: &u32| self.states[node as usize] == *state;
        self.table
            .find(FxBuildHasher.hash_one(state), is_same)
            .copied()
    }

    /// Adds a node for the next position of the views.
    pub(super) fn add(
        &mut self,
        state: S,
        views: &Views<M>,
        at: &mut Cursor,
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
        let node = self.add_node(state, view, heap_bytes);
        self.nodes[node as usize].chooser = chooser(view, counts);
        self.counts.extend_from_slice(counts);
        self.moves.extend_from_slice(moves);
        if view == View::End {
            self.set_terminal(node, goals);
        }
        node
    }

    /// Adds a node for a terminal state.
    pub(super) fn add_end(&mut self, state: S, goals: &[u8], heap_bytes: u64) -> u32 {
        let node = self.add_node(state, View::End, heap_bytes);
        self.counts.resize(self.counts.len() + self.roles, 0);
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

    fn add_node(&mut self, state: S, view: View, heap_bytes: u64) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            moves: self.moves.len() as u32,
            arms: NONE,
            visits: u32::from(view != View::Open),
            pending: 0,
            mark: 0,
            chooser: Chooser::Closed,
            stamp: 0,
            distance: 0,
            is_end: view == View::End,
        });
        self.values.resize(self.values.len() + self.roles, 50.0);
        self.bounds.extend_from_slice(&self.range);
        self.state_bytes += heap_bytes;
        if self.options.graph {
            let hash = FxBuildHasher.hash_one(&state);
            let states = &self.states;
            let rehash = |&other: &u32| match states.get(other as usize) {
                Some(other) => FxBuildHasher.hash_one(other),
                None => hash,
            };
            self.table.insert_unique(hash, node, rehash);
        }
        self.states.push(state);
        node
    }

    /// Adds the arms of a node: those of each role that has a choice, in the order of the
    /// roles.
    pub(super) fn add_arms(&mut self, node: u32) {
        let first = node as usize * self.roles;
        let roles = match self.nodes[node as usize].chooser {
            Chooser::One(role) => role as usize..role as usize + 1,
            Chooser::Many => 0..self.roles,
            Chooser::Closed => return,
        };
        let is_alone = roles.len() == 1;
        self.nodes[node as usize].arms = self.arms.len() as u32;
        for role in roles {
            let count = self.counts[first + role] as usize;
            if count == 1 && !is_alone {
                continue;
            }
            let arm = Arm {
                child: NONE,
                visits: 0,
                pending: 0,
                stamp: 0,
                bounds: self.range[role],
            };
            self.arms.resize(self.arms.len() + count, arm);
        }
        self.arm_values.resize(self.arms.len() * self.roles, 0.0);
    }

    /// The roles that have arms at a node, each with the range of its arms.
    pub(super) fn choosers(&self, node: u32) -> impl Iterator<Item = (usize, ArmRange)> + '_ {
        let first = node as usize * self.roles;
        let data = &self.nodes[node as usize];
        let (chooser, mut at) = (data.chooser, data.arms as usize);
        (0..self.roles).filter_map(move |role| {
            let count = self.counts[first + role] as usize;
            let has_arms = match chooser {
                Chooser::Closed => false,
                Chooser::One(one) => role == one as usize,
                Chooser::Many => count > 1,
            };
            has_arms.then(|| {
                at += count;
                (role, at - count..at)
            })
        })
    }

    /// A role's legal moves at a node.
    pub(super) fn moves_of(&self, node: u32, role: usize) -> &[M] {
        let counts = &self.counts[node as usize * self.roles..][..=role];
        let before: u32 = counts[..role].iter().sum();
        let first = (self.nodes[node as usize].moves + before) as usize;
        &self.moves[first..first + counts[role] as usize]
    }

    /// Returns true if the score of every role except chance is proved.
    pub(super) fn is_solved(&self, node: u32) -> bool {
        let first = node as usize * self.roles;
        (0..self.roles).all(|role| {
            let [low, high] = self.bounds[first + role];
            low == high || self.chance[role]
        })
    }

    /// The mean value of a node for a role, 0 to 100, within the proved bounds.
    pub(super) fn mean(&self, node: u32, role: usize) -> f64 {
        let at = node as usize * self.roles + role;
        let [low, high] = self.bounds[at];
        let mean = self.values[at] / f64::from(self.nodes[node as usize].visits.max(1));
        mean.clamp(low.into(), high.into())
    }
}

/// A range of arms.
pub(super) type ArmRange = std::ops::Range<usize>;

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
