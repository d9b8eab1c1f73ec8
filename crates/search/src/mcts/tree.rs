//! The tree itself: positions, their moves, and what is known of both.
//!
//! Everything lies in a few long vectors, by node or by arm, so that a position
//! takes little room and the whole moves fast. A node gets arms when it is
//! passed for the second time.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Mcts;
use super::bounds::Total;
use super::rave::Memory;
use super::simulator::{Simulator, View, Views};

/// Where there is no node, or no arm.
pub(super) const NONE: u32 = u32::MAX;
/// A node that is about to be made.
pub(super) const WAITING: u32 = u32::MAX - 1;

/// Whose choice decides what follows a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Chooser {
    /// The game is over, or somebody cannot move.
    Nobody,
    /// The others have one legal move each.
    One(u16),
    /// Several have a choice at the same time.
    Many,
}

/// A position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where its moves begin.
    pub(super) moves: u32,
    /// Where its arms begin; [`NONE`] at first.
    pub(super) arms: u32,
    /// How often it was evaluated or passed; 0 until its first evaluation.
    pub(super) visits: u32,
    /// Lines through it whose ends are not evaluated yet.
    pub(super) pending: u32,
    /// The last line that passed it, to see a repetition.
    pub(super) mark: u32,
    pub(super) chooser: Chooser,
    /// How often its bounds have changed.
    pub(super) stamp: u16,
    /// Joint moves to the end, where all is proved.
    pub(super) distance: u16,
    pub(super) is_end: bool,
}

/// A move of a role that has a choice.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    /// Where it leads to, if nobody else has a choice.
    pub(super) child: u32,
    pub(super) visits: u32,
    pub(super) pending: u32,
    /// The child's stamp when the bounds were taken from it.
    pub(super) stamp: u16,
    /// What it is proved to be worth to whom it belongs.
    pub(super) bounds: [u8; 2],
}

/// The positions seen, from the root on.
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
    /// By node and role: the sum of what the visits were worth.
    pub(super) worth: Vec<f64>,
    /// By node and role: what it is proved to be worth.
    pub(super) bounds: Vec<[u8; 2]>,
    /// By node and role: number of legal moves.
    pub(super) counts: Vec<u32>,
    pub(super) moves: Vec<M>,
    pub(super) arms: Vec<Arm>,
    /// By arm and role: the sum of what the visits were worth.
    pub(super) arm_worth: Vec<f64>,
    /// By arm: regret and strategy so far, if that is how choices are made.
    pub(super) regrets: Vec<[f64; 2]>,
    /// Of nodes where many choose: where joint moves lead, by their number.
    pub(super) edges: FxHashMap<(u32, u128), u32>,
    /// By state; empty unless equal states are one node.
    pub(super) table: HashTable<u32>,
    /// By role and move: how often it was made in the tree, and its worth.
    pub(super) history: FxHashMap<(u16, M), (u32, f64)>,
    /// By node: what it remembers of moves made later on.
    pub(super) memories: FxHashMap<u32, Memory<M>>,
    /// How many moves all of them remember.
    pub(super) remembered: usize,
    pub(super) state_bytes: u64,
    pub(super) lines: u32,
    /// Lines that are neither credited nor released.
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
        let mut tree = Tree::bare(*options, rng, chance, range);
        tree.plant(game, root)?;
        Ok(tree)
    }

    /// A tree without a position.
    fn bare(
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
            worth: Vec::new(),
            bounds: Vec::new(),
            counts: Vec::new(),
            moves: Vec::new(),
            arms: Vec::new(),
            arm_worth: Vec::new(),
            regrets: Vec::new(),
            edges: FxHashMap::default(),
            table: HashTable::new(),
            history: FxHashMap::default(),
            memories: FxHashMap::default(),
            remembered: 0,
            state_bytes: 0,
            lines: 0,
            waiting: 0,
            iterations: 0,
        }
    }

    /// Takes all positions out of it; what was learned of the game and of moves
    /// stays.
    pub(super) fn take(&mut self) -> Self {
        let (chance, range) = (self.chance.clone(), self.range.clone());
        let mut bare = Tree::bare(self.options, self.rng.clone(), chance, range);
        bare.total = self.total;
        bare.history = std::mem::take(&mut self.history);
        bare.iterations = self.iterations;
        std::mem::replace(self, bare)
    }

    /// Begins anew from another position; what was learned of moves stays.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn plant<G: Simulator<State = S, Move = M>>(
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

    /// The number of positions, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is empty, which it never is.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// How often the root was evaluated or passed.
    pub fn visits(&self) -> u64 {
        self.nodes[self.root as usize].visits.into()
    }

    /// The position at the root.
    pub fn root(&self) -> &S {
        &self.states[self.root as usize]
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> u64 {
        let by_node = size_of::<Node>()
            + size_of::<S>()
            + self.roles * (size_of::<f64>() + size_of::<[u8; 2]>() + size_of::<u32>());
        let by_arm = size_of::<Arm>() + self.roles * size_of::<f64>();
        let own = self.nodes.len() * by_node
            + self.arms.len() * by_arm
            + self.regrets.len() * size_of::<[f64; 2]>()
            + self.moves.len() * size_of::<M>()
            // Hash tables are half full at least.
            + self.edges.len() * 2 * size_of::<((u32, u128), u32)>()
            + self.table.len() * 10
            + self.history.len() * 2 * size_of::<((u16, M), (u32, f64))>()
            + self.memories.len() * 2 * size_of::<(u32, Memory<M>)>()
            + self.remembered * 2 * size_of::<((u16, M), [f32; 2])>();
        own as u64 + self.state_bytes
    }

    /// The node of a state, if equal states are one.
    pub(super) fn find(&self, state: &S) -> Option<u32> {
        if !self.options.graph {
            return None;
        }
        let is_it = |&node: &u32| self.states[node as usize] == *state;
        self.table
            .find(FxBuildHasher.hash_one(state), is_it)
            .copied()
    }

    /// Makes a node of the next position of the views.
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
            self.settle_end(node, goals);
        }
        node
    }

    /// Makes a node of a position that ends the game.
    pub(super) fn add_end(&mut self, state: S, goals: &[u8], heap_bytes: u64) -> u32 {
        let node = self.add_node(state, View::End, heap_bytes);
        self.counts.resize(self.counts.len() + self.roles, 0);
        self.settle_end(node, goals);
        node
    }

    fn settle_end(&mut self, node: u32, goals: &[u8]) {
        let first = node as usize * self.roles;
        for (role, &goal) in goals.iter().enumerate() {
            self.bounds[first + role] = [goal, goal];
            self.worth[first + role] = goal.into();
        }
        self.nodes[node as usize].stamp = 1;
        let sum = self.sum_of(goals.iter().map(|&goal| f64::from(goal)));
        self.witness(sum, 1);
    }

    fn add_node(&mut self, state: S, view: View, heap_bytes: u64) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            moves: self.moves.len() as u32,
            arms: NONE,
            visits: u32::from(view != View::Open),
            pending: 0,
            mark: 0,
            chooser: Chooser::Nobody,
            stamp: 0,
            distance: 0,
            is_end: view == View::End,
        });
        self.worth.resize(self.worth.len() + self.roles, 50.0);
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

    /// Gives a node its arms: those of the role that chooses, or of all that do,
    /// one role after the other.
    pub(super) fn unfold(&mut self, node: u32) {
        let first = node as usize * self.roles;
        let roles = match self.nodes[node as usize].chooser {
            Chooser::One(role) => role as usize..role as usize + 1,
            Chooser::Many => 0..self.roles,
            Chooser::Nobody => return,
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
        self.arm_worth.resize(self.arms.len() * self.roles, 0.0);
        if self.options.regret {
            self.regrets.resize(self.arms.len(), [0.0; 2]);
        }
    }

    /// The roles that have arms at a node, each with its arms' places.
    pub(super) fn choosers(&self, node: u32) -> impl Iterator<Item = (usize, ArmRange)> + '_ {
        let first = node as usize * self.roles;
        let data = &self.nodes[node as usize];
        let (chooser, mut at) = (data.chooser, data.arms as usize);
        (0..self.roles).filter_map(move |role| {
            let count = self.counts[first + role] as usize;
            let has_arms = match chooser {
                Chooser::Nobody => false,
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

    /// Whether all is proved that can be.
    pub(super) fn is_solved(&self, node: u32) -> bool {
        let first = node as usize * self.roles;
        (0..self.roles).all(|role| {
            let [low, high] = self.bounds[first + role];
            low == high || self.chance[role]
        })
    }

    /// What a node is worth to a role, 0 to 100.
    pub(super) fn mean(&self, node: u32, role: usize) -> f64 {
        let at = node as usize * self.roles + role;
        let [low, high] = self.bounds[at];
        let mean = self.worth[at] / f64::from(self.nodes[node as usize].visits.max(1));
        mean.clamp(low.into(), high.into())
    }
}

/// Places of arms.
pub(super) type ArmRange = std::ops::Range<usize>;

/// How far views were read.
#[derive(Default)]
pub(super) struct Cursor {
    position: usize,
    moves: usize,
}

impl Cursor {
    /// Passes over the next position.
    pub(super) fn skip<M>(&mut self, views: &Views<M>, roles: usize) {
        let first = self.position * roles;
        let counts = &views.counts[first..first + roles];
        self.moves += counts.iter().map(|&count| count as usize).sum::<usize>();
        self.position += 1;
    }
}

fn chooser(view: View, counts: &[u32]) -> Chooser {
    if view != View::Open {
        return Chooser::Nobody;
    }
    let mut choosers = (0..).zip(counts).filter(|(_, count)| **count > 1);
    match (choosers.next(), choosers.next()) {
        (None, _) => Chooser::One(0),
        (Some((role, _)), None) => Chooser::One(role),
        _ => Chooser::Many,
    }
}
