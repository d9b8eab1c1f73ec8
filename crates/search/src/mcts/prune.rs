//! What stays of a tree: what can follow a position, or what fits.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

use super::simulator::Simulator;
use super::tree::{NONE, Tree, WAITING};

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Moves the root to another position; whether it was in the tree. What cannot
    /// follow it is forgotten when there is need of room. No line may be waiting.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn reroot<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        root: S,
    ) -> Result<bool, G::Error> {
        let same = (0..self.nodes.len() as u32).filter(|&node| self.states[node as usize] == root);
        let known = match self.options.graph {
            true => self.find(&root),
            false => same.max_by_key(|&node| self.nodes[node as usize].visits),
        };
        match known {
            Some(node) => self.root = node,
            None => self.plant(game, root)?,
        }
        Ok(known.is_some())
    }

    /// Whether the tree takes no more room than that.
    pub fn fits(&self, bytes: u64) -> bool {
        // What stays is copied when something has to go.
        self.bytes() <= bytes / 3 * 2
    }

    /// Forgets what cannot follow the root, and what was visited least, until
    /// there is room to grow. No line may be waiting.
    pub fn fit<G: Simulator<State = S, Move = M>>(&mut self, game: &G, bytes: u64) {
        self.keep(game, self.root, 0);
        let mut least = 1;
        while self.bytes() > bytes / 3 {
            least *= 2;
            if u64::from(least) > 2 * self.visits() {
                self.history.clear();
                self.memories.clear();
                self.remembered = 0;
                return;
            }
            let stay = (self.nodes.iter()).filter(|node| node.is_end || node.visits >= least);
            let share = stay.count() as f64 / self.nodes.len() as f64;
            if share * self.bytes() as f64 <= bytes as f64 / 3.0 {
                self.keep(game, self.root, least);
            }
        }
    }

    /// Keeps what follows a node and was visited so often, or is an end.
    fn keep<G: Simulator<State = S, Move = M>>(&mut self, game: &G, root: u32, least: u32) {
        let mut edges: Vec<_> = self.edges.drain().collect();
        edges.sort_unstable();
        let mut became = vec![NONE; self.nodes.len()];
        let (mut order, mut open) = (Vec::new(), VecDeque::from([root]));
        became[root as usize] = 0;
        while let Some(node) = open.pop_front() {
            order.push(node);
            let mut visit = |child: u32| {
                if child < WAITING && became[child as usize] == NONE {
                    let data = &self.nodes[child as usize];
                    if data.is_end || data.visits >= least {
                        became[child as usize] = (order.len() + open.len()) as u32;
                        open.push_back(child);
                    }
                }
            };
            if let Some(arms) = self.arms_at(node) {
                self.arms[arms].iter().for_each(|arm| visit(arm.child));
            }
            edges[edges_of(&edges, node)]
                .iter()
                .for_each(|(_, child)| visit(*child));
        }
        let (roles, old) = (self.roles, self.take());
        let mut states: Vec<Option<S>> = old.states.into_iter().map(Some).collect();
        let new_name = |child: u32| match child {
            NONE | WAITING => NONE,
            child => became[child as usize],
        };
        for &node in &order {
            let at = node as usize;
            let mut data = old.nodes[at].clone();
            let by_role = at * roles..(at + 1) * roles;
            let moves: u32 = old.counts[by_role.clone()].iter().sum();
            let moves = data.moves as usize..(data.moves + moves) as usize;
            data.moves = self.moves.len() as u32;
            self.moves.extend_from_slice(&old.moves[moves]);
            if data.arms != NONE {
                let count = match data.chooser {
                    super::tree::Chooser::One(role) => old.counts[at * roles + role as usize],
                    _ => old.counts[by_role.clone()].iter().filter(|n| **n > 1).sum(),
                };
                let arms = data.arms as usize..(data.arms + count) as usize;
                data.arms = self.arms.len() as u32;
                for arm in &old.arms[arms.clone()] {
                    let mut arm = arm.clone();
                    arm.child = new_name(arm.child);
                    self.arms.push(arm);
                }
                let worth = &old.arm_worth[arms.start * roles..arms.end * roles];
                self.arm_worth.extend_from_slice(worth);
                if old.options.regret {
                    self.regrets.extend_from_slice(&old.regrets[arms]);
                }
            }
            for &((_, choice), child) in &edges[edges_of(&edges, node)] {
                if new_name(child) != NONE {
                    self.edges.insert((became[at], choice), new_name(child));
                }
            }
            data.mark = 0;
            self.nodes.push(data);
            self.worth.extend_from_slice(&old.worth[by_role.clone()]);
            self.bounds.extend_from_slice(&old.bounds[by_role.clone()]);
            self.counts.extend_from_slice(&old.counts[by_role]);
            let state = states[at].take().expect("each node is kept once");
            self.state_bytes += game.state_heap_bytes(&state);
            self.states.push(state);
        }
        for (node, memory) in old.memories {
            if became[node as usize] != NONE {
                self.remembered += memory.len();
                self.memories.insert(became[node as usize], memory);
            }
        }
        if self.options.graph {
            for node in 0..self.nodes.len() as u32 {
                let hash = |&node: &u32| FxBuildHasher.hash_one(&self.states[node as usize]);
                self.table.insert_unique(hash(&node), node, hash);
            }
        }
    }

    fn arms_at(&self, node: u32) -> Option<std::ops::Range<usize>> {
        let places = match self.nodes[node as usize].arms {
            NONE => return None,
            _ => self.choosers(node).map(|(_, arms)| arms),
        };
        places.reduce(|all, arms| all.start..arms.end)
    }
}

type Edge = ((u32, u128), u32);

/// Where the edges of a node are.
fn edges_of(edges: &[Edge], node: u32) -> std::ops::Range<usize> {
    let first = edges.partition_point(|edge| edge.0.0 < node);
    first..edges.partition_point(|edge| edge.0.0 <= node)
}
