//! What a Monte Carlo search found.

use std::hash::Hash;

use super::tree::{Chooser, NONE, Tree, WAITING};
use crate::BudgetKind;

/// What is known of the moves in one state.
#[derive(Clone, PartialEq, Debug)]
pub struct MctsReport<M> {
    /// One entry per role. All are empty if the state is terminal.
    pub roles: Vec<RoleReport<M>>,
    /// The iterations that were completed.
    pub iterations: u64,
    /// The positions in the tree, the root included.
    pub positions: usize,
    /// What ended the search.
    pub stopped: BudgetKind,
}

/// What is known of one role's moves.
#[derive(Clone, PartialEq, Debug)]
pub struct RoleReport<M> {
    /// One entry per legal move, in the order in which the game gave them.
    pub moves: Vec<MoveReport<M>>,
    /// The least and the most that it gets, as far as that is proved.
    pub bounds: [u8; 2],
    /// What it is thought to get, 0 to 100.
    pub mean: f64,
    /// The least that an end is worth to it.
    floor: u8,
}

/// What is known of one move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveReport<M> {
    /// The move.
    pub action: M,
    /// The iterations in which it was played.
    pub visits: u64,
    /// The mean of what those were worth to the role, 0 to 100; 0 if none.
    pub mean: f64,
    /// The least and the most that the role gets by it, as far as that is proved.
    pub bounds: [u8; 2],
    /// Joint moves to the end, where all is proved.
    pub distance: Option<u16>,
    /// How often it is to be played, where moves are to be drawn.
    pub share: Option<f64>,
}

impl<M> RoleReport<M> {
    /// The move to make. It is the one visited most, of equals the one with the
    /// larger mean, and then the first; but one that is proved to be worth more
    /// goes before it, and one that is proved to be worth less than another never
    /// is. Of what is proved to be all the same, what wins soonest or loses
    /// latest. `None` if there are no moves.
    pub fn best(&self) -> Option<&MoveReport<M>> {
        let low = self.moves.iter().map(|m| m.bounds[0]).max()?;
        let open = (self.moves.iter()).filter(|m| m.bounds[1] > low || m.bounds[0] == low);
        let is_proved = self.moves.iter().all(|m| m.bounds[1] <= low);
        if is_proved {
            // All that is left is worth the same.
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

    /// The move to make where moves are to be drawn, by a number from 0 to 1;
    /// else [`RoleReport::best`].
    pub fn draw(&self, mut number: f64) -> Option<&MoveReport<M>> {
        let low = self.moves.iter().map(|m| m.bounds[0]).max()?;
        for entry in self.moves.iter().filter(|m| m.bounds[1] >= low) {
            number -= entry.share.unwrap_or(0.0);
            if number < 0.0 {
                return Some(entry);
            }
        }
        self.best()
    }
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Whether nothing is left to be found out about a role's choice: all is
    /// proved, or the game is over.
    pub fn is_settled(&self, role: usize) -> bool {
        let root = self.root as usize;
        let [low, high] = self.bounds[root * self.roles + role];
        match self.nodes[root].chooser {
            Chooser::Nobody => true,
            Chooser::One(_) => self.options.solver && low == high && self.nodes[root].arms != NONE,
            Chooser::Many => self.options.solver && self.is_solved(self.root),
        }
    }

    /// What role 0 gets, if the game is over.
    pub(super) fn ended(&self) -> Option<u8> {
        let root = self.root as usize;
        self.nodes[root]
            .is_end
            .then(|| self.bounds[root * self.roles][0])
    }

    /// What is known of the root.
    pub fn report(&self, stopped: BudgetKind) -> MctsReport<M> {
        MctsReport {
            roles: self.known(self.root),
            iterations: self.iterations,
            positions: self.len(),
            stopped,
        }
    }

    /// What is known of a position, by role.
    pub(super) fn known(&self, node: u32) -> Vec<RoleReport<M>> {
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
                        share: None,
                    })
                    .collect(),
                bounds: self.bounds[node as usize * self.roles + role],
                mean: self.mean(node, role),
                floor: self.range[role][0],
            })
            .collect();
        for (role, arms) in self.choosers(node) {
            if data.arms == NONE {
                roles[role].moves.iter_mut().for_each(|m| m.visits = 0);
                continue;
            }
            let draws = self.options.regret && data.chooser == Chooser::Many;
            let regrets = if draws {
                &self.regrets[arms.clone()]
            } else {
                &[]
            };
            let sum: f64 = regrets.iter().map(|regret| regret[1]).sum();
            for (index, arm) in arms.enumerate() {
                let (known, entry) = (&self.arms[arm], &mut roles[role].moves[index]);
                let mean = match known.visits {
                    0 => 0.0,
                    visits => self.arm_worth[arm * self.roles + role] / f64::from(visits),
                };
                let [low, high] = known.bounds;
                entry.bounds = known.bounds;
                entry.visits = known.visits.into();
                entry.mean = mean.clamp(low.into(), high.into());
                entry.share = regrets.get(index).map(|regret| regret[1] / sum.max(1e-9));
                if known.child < WAITING && self.is_solved(known.child) {
                    let steps = self.nodes[known.child as usize].distance;
                    entry.distance = Some(steps.saturating_add(1));
                }
            }
        }
        roles
    }
}

/// The answer of a search for a plan by Monte Carlo tree search.
#[derive(Clone, PartialEq, Debug)]
pub enum MctsVerdict<M> {
    /// The plan ends in a terminal state that is worth 100.
    Solved {
        /// The moves from the root.
        plan: Vec<M>,
    },
    /// No such line was played.
    OutOfBudget {
        /// The best line that ended in a terminal state, if there was one.
        best: Option<BestLine<M>>,
        /// What ran out.
        what: BudgetKind,
    },
}

/// A line that was played to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct BestLine<M> {
    /// What its terminal state is worth.
    pub score: u8,
    /// The moves from the root.
    pub plan: Vec<M>,
}
