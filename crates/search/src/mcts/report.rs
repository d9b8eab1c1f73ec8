//! The results of a Monte Carlo tree search.

use std::hash::Hash;

use super::bounds::both;
use super::tree::{Chooser, Tree, WAITING};
use crate::BudgetKind;

/// The statistics of the moves in one state.
#[derive(Clone, PartialEq, Debug)]
pub struct MctsReport<M> {
    /// One entry per role. All are empty if the state is terminal.
    pub roles: Vec<RoleReport<M>>,
    /// The number of completed iterations.
    pub iterations: u64,
    /// The number of positions in the tree, including the root.
    pub positions: usize,
    /// The limit that ended the search.
    pub stopped: BudgetKind,
}

/// The statistics of one role's moves.
#[derive(Clone, PartialEq, Debug)]
pub struct RoleReport<M> {
    /// One entry per legal move, in the order in which the game gave them.
    pub moves: Vec<MoveReport<M>>,
    /// Proved bounds of the role's score.
    pub bounds: [u8; 2],
    /// The role's mean score, 0 to 100.
    pub mean: f64,
    /// The lowest possible score of the role.
    floor: u8,
}

/// The statistics of one move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveReport<M> {
    /// The move.
    pub action: M,
    /// The number of iterations that played it.
    pub visits: u64,
    /// The role's mean score over these iterations, 0 to 100; 0 without iterations.
    pub mean: f64,
    /// Proved bounds of the role's score after the move.
    pub bounds: [u8; 2],
    /// The number of joint moves to the end of the game, if the value is proved.
    pub distance: Option<u16>,
}

impl<M: Clone> MctsReport<M> {
    /// Adds the statistics of another search of the same state.
    pub fn add(&mut self, other: &Self) {
        for (role, other) in self.roles.iter_mut().zip(&other.roles) {
            role.add(other);
        }
        self.iterations += other.iterations;
        self.positions += other.positions;
    }
}

impl<M> RoleReport<M> {
    fn add(&mut self, other: &Self) {
        let visits = |role: &Self| role.moves.iter().map(|m| m.visits).sum::<u64>();
        self.mean = joined([(self.mean, visits(self)), (other.mean, visits(other))]);
        self.bounds = both(self.bounds, other.bounds);
        for (own, other) in self.moves.iter_mut().zip(&other.moves) {
            own.mean = joined([(own.mean, own.visits), (other.mean, other.visits)]);
            own.visits += other.visits;
            own.bounds = both(own.bounds, other.bounds);
            own.distance = own.distance.or(other.distance);
        }
    }

    /// The best move: the most visited one, among equals the one with the larger mean, then
    /// the first. A move proved to be better precedes it; a move proved to be worse than
    /// another is never chosen. If the best value is proved, the result is the fastest win or
    /// the slowest loss. `None` if there are no moves.
    pub fn best(&self) -> Option<&MoveReport<M>> {
        let low = self.moves.iter().map(|m| m.bounds[0]).max()?;
        let open = (self.moves.iter()).filter(|m| m.bounds[1] > low || m.bounds[0] == low);
        let is_proved = self.moves.iter().all(|m| m.bounds[1] <= low);
        if is_proved {
            // All remaining moves have the same value.
            let lasts = |m: &&MoveReport<M>| (m.distance.unwrap_or(u16::MAX), 0);
            let proved = open.filter(|m| m.bounds[0] == low);
            return match low == self.floor {
                true => proved.reduce(|best, m| {
                    let order = (m.distance.unwrap_or(0), m.visits)
                        .cmp(&(best.distance.unwrap_or(0), best.visits));
                    if order.is_gt() { m } else { best }
                }),
                false => proved.min_by_key(lasts),
            };
        }
        let robust = open.clone().reduce(|best, other| {
            let order = other
                .visits
                .cmp(&best.visits)
                .then(other.mean.total_cmp(&best.mean));
            if order.is_gt() { other } else { best }
        })?;
        if robust.mean < f64::from(low) {
            return self.moves.iter().find(|m| m.bounds[0] == low);
        }
        Some(robust)
    }
}

/// The mean of two means with their numbers of visits.
fn joined(means: [(f64, u64); 2]) -> f64 {
    let visits = means.iter().map(|(_, visits)| visits).sum::<u64>().max(1);
    let sum: f64 = { means.iter() }
        .map(|(mean, visits)| mean * *visits as f64)
        .sum();
    sum / visits as f64
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Returns true if a role's choice is final: its value is proved, or the game is over.
    pub fn is_settled(&self, role: usize) -> bool {
        let root = self.root as usize;
        let [low, high] = self.bounds[root * self.roles + role];
        match self.nodes[root].chooser {
            Chooser::Closed => true,
            Chooser::One(_) => {
                self.options.solver && low == high && !self.nodes[root].arms.is_empty()
            }
            Chooser::Many => self.options.solver && self.is_solved(self.root),
        }
    }

    /// The score of role 0, if the root is terminal.
    pub(super) fn terminal_score(&self) -> Option<u8> {
        let root = self.root as usize;
        self.nodes[root]
            .is_end
            .then(|| self.bounds[root * self.roles][0])
    }

    /// The statistics of the root.
    pub fn report(&self, stopped: BudgetKind) -> MctsReport<M> {
        MctsReport {
            roles: self.statistics(self.root),
            iterations: self.iterations,
            positions: self.len(),
            stopped,
        }
    }

    /// The statistics of a position, by role.
    pub(super) fn statistics(&self, node: u32) -> Vec<RoleReport<M>> {
        let data = &self.nodes[node as usize];
        let visits = u64::from(data.visits.max(1)) - 1;
        let mut roles: Vec<RoleReport<M>> = (0..self.roles)
            .map(|role| RoleReport {
                moves: (self.moves_of(node, role).iter())
                    .map(|action| MoveReport {
                        action: action.clone(),
                        visits,
                        mean: self.mean(node, role),
                        bounds: self.bounds[node as usize * self.roles + role],
                        distance: None,
                    })
                    .collect(),
                bounds: self.bounds[node as usize * self.roles + role],
                mean: self.mean(node, role),
                floor: self.range[role][0],
            })
            .collect();
        for (role, arms) in self.choosers(node) {
            if data.arms.is_empty() {
                roles[role].moves.iter_mut().for_each(|m| m.visits = 0);
                continue;
            }
            for (index, arm) in arms.enumerate() {
                let (known, entry) = (&data.arms, &mut roles[role].moves[index]);
                let [low, high] = known.bounds(arm);
                entry.bounds = [low, high];
                entry.visits = known.visits(arm).into();
                entry.mean = known.mean(arm, role).clamp(low.into(), high.into());
                let child = known.child(arm);
                if child < WAITING && self.is_solved(child) {
                    let steps = self.nodes[child as usize].distance;
                    entry.distance = Some(steps.saturating_add(1));
                }
            }
        }
        roles
    }
}

/// The result of a search for a plan by Monte Carlo tree search.
#[derive(Clone, PartialEq, Debug)]
pub enum MctsVerdict<M> {
    /// A plan that ends in a terminal state with score 100.
    Solved {
        /// The moves from the root.
        plan: Vec<M>,
    },
    /// The search found no plan within its limits.
    OutOfBudget {
        /// The best line that reached a terminal state.
        best: Option<BestLine<M>>,
        /// The limit that ended the search.
        what: BudgetKind,
    },
}

/// A line to a terminal state.
#[derive(Clone, PartialEq, Debug)]
pub struct BestLine<M> {
    /// The score of the terminal state.
    pub score: u8,
    /// The moves from the root.
    pub plan: Vec<M>,
}
