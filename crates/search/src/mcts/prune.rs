//! Moving the root of a tree, and pruning positions that are unreachable or seldom visited.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

use super::simulator::Simulator;
use super::tree::{NONE, Tree, WAITING};

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Moves the root to another position and returns whether it was in the tree. Positions
    /// that are unreachable from the new root are pruned when memory runs short. No line may
    /// be waiting.
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
            None => self.reset(game, root)?,
        }
        Ok(known.is_some())
    }

    /// Returns true if the tree can grow within a limit on memory.
    pub fn fits(&self, bytes: u64) -> bool {
        // Pruning copies the rest of the tree.
        self.bytes() <= bytes / 3 * 2
    }

    /// Prunes the positions that are unreachable from the root, then the least visited ones,
    /// until the tree has room to grow. No line may be waiting.
    pub fn prune_to_fit<G: Simulator<State = S, Move = M>>(&mut self, game: &G, bytes: u64) {
        self.prune(game, self.root, 0);
        let mut least = 1;
        while self.bytes() > bytes / 3 {
            least *= 2;
            if u64::from(least) > 2 * self.visits() {
                return;
            }
            let kept = (self.nodes.iter()).filter(|node| node.is_end || node.visits >= least);
            let share = kept.count() as f64 / self.nodes.len() as f64;
            if share * self.bytes() as f64 <= bytes as f64 / 3.0 {
                self.prune(game, self.root, least);
            }
        }
    }

    /// Keeps the positions that are reachable from `root` and terminal or visited at least
    /// `least` times, and drops all others.
    fn prune<G: Simulator<State = S, Move = M>>(&mut self, game: &G, root: u32, least: u32) {
        let mut edges: Vec<_> = self.edges.drain().collect();
        edges.sort_unstable();
        let mut new_numbers = vec![NONE; self.nodes.len()];
        let (mut order, mut open) = (Vec::new(), VecDeque::from([root]));
        new_numbers[root as usize] = 0;
        while let Some(node) = open.pop_front() {
            order.push(node);
            let mut visit = |child: u32| {
                if child < WAITING && new_numbers[child as usize] == NONE {
                    let data = &self.nodes[child as usize];
                    if data.is_end || data.visits >= least {
                        new_numbers[child as usize] = (order.len() + open.len()) as u32;
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
        let renumbered = |child: u32| match child {
            NONE | WAITING => NONE,
            child => new_numbers[child as usize],
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
                    arm.child = renumbered(arm.child);
                    self.arms.push(arm);
                }
                let values = &old.arm_values[arms.start * roles..arms.end * roles];
                self.arm_values.extend_from_slice(values);
            }
            for &((_, choice), child) in &edges[edges_of(&edges, node)] {
                if renumbered(child) != NONE {
                    self.edges
                        .insert((new_numbers[at], choice), renumbered(child));
                }
            }
            data.mark = 0;
            self.nodes.push(data);
            self.values.extend_from_slice(&old.values[by_role.clone()]);
            self.bounds.extend_from_slice(&old.bounds[by_role.clone()]);
            self.counts.extend_from_slice(&old.counts[by_role]);
            let state = states[at].take().expect("each node is copied once");
            self.state_bytes += game.state_heap_bytes(&state);
            self.states.push(state);
        }
        if self.options.graph {
            for node in 0..self.nodes.len() as u32 {
                let hash = |&node: &u32| FxBuildHasher.hash_one(&self.states[node as usize]);
                self.table.insert_unique(hash(&node), node, hash);
            }
        }
    }

    fn arms_at(&self, node: u32) -> Option<std::ops::Range<usize>> {
        let ranges = match self.nodes[node as usize].arms {
            NONE => return None,
            _ => self.choosers(node).map(|(_, arms)| arms),
        };
        ranges.reduce(|all, arms| all.start..arms.end)
    }
}

type Edge = ((u32, u128), u32);

/// The range of a node's edges in the sorted list.
fn edges_of(edges: &[Edge], node: u32) -> std::ops::Range<usize> {
    let first = edges.partition_point(|edge| edge.0.0 < node);
    first..edges.partition_point(|edge| edge.0.0 <= node)
}
