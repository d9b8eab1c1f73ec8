//! The graph of shortest paths, as predecessor arcs, and the plans in it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::BudgetKind;
use super::visited::node_number;

/// For each node the arcs by which it was reached at its least step.
///
/// Nodes are the numbers of the visited table; 0 is the start and has none.
/// Every arc goes to a larger step, so the graph has no cycle.
pub(super) struct PlanGraph<A> {
    /// The newest arc into each node, or [`NONE`].
    newest: Vec<u32>,
    arcs: Vec<Arc<A>>,
}

struct Arc<A> {
    from: u32,
    action: A,
    /// The arc into the same node that was linked before this one, or [`NONE`].
    older: u32,
}

const NONE: u32 = u32::MAX;

impl<A: Clone> PlanGraph<A> {
    pub(super) fn new() -> Self {
        PlanGraph {
            newest: Vec::new(),
            arcs: Vec::new(),
        }
    }

    /// Removes everything and keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        self.newest.clear();
        self.arcs.clear();
    }

    /// The approximate size of the tables.
    pub(super) fn bytes(&self) -> u64 {
        let newest = self.newest.capacity().saturating_mul(size_of::<u32>());
        let arcs = self.arcs.capacity().saturating_mul(size_of::<Arc<A>>());
        newest.saturating_add(arcs) as u64
    }

    /// Removes the arcs into `node`, because a smaller step was found for it.
    pub(super) fn unlink(&mut self, node: u32) {
        if let Some(newest) = self.newest.get_mut(node as usize) {
            *newest = NONE;
        }
    }

    /// Adds an arc. The arcs out of one node are added in action order.
    ///
    /// # Errors
    ///
    /// [`BudgetKind::Memory`] if arc numbers run out.
    pub(super) fn link(&mut self, from: u32, action: A, to: u32) -> Result<(), BudgetKind> {
        let arc = node_number(self.arcs.len())?;
        let to = to as usize;
        if self.newest.len() <= to {
            self.newest.resize(to + 1, NONE);
        }
        self.arcs.push(Arc {
            from,
            action,
            older: self.newest[to],
        });
        self.newest[to] = arc;
        Ok(())
    }

    /// The plans from the start to any of `goals`, at most `max` of them in
    /// lexicographic order, and whether there are more.
    ///
    /// Costs time in proportion to the part of the graph that leads to the
    /// goals, and to the plans returned.
    pub(super) fn plans(&self, goals: &[u32], max: usize) -> (Vec<Vec<A>>, bool) {
        let forward = self.arcs_towards(goals);
        let goals: FxHashSet<u32> = goals.iter().copied().collect();
        let mut plans = Vec::new();
        // Arcs still to try, and below them those of the current path. Every
        // node here leads to a goal, so no work is lost in dead ends.
        let mut plan: Vec<A> = Vec::new();
        let mut path = vec![(0u32, 0usize)];
        while let Some((node, next)) = path.last_mut() {
            if goals.contains(node) {
                if plans.len() == max {
                    return (plans, true);
                }
                plans.push(plan.clone());
            } else if let Some(&(arc, to)) = forward.get(node).and_then(|arcs| arcs.get(*next)) {
                *next += 1;
                plan.push(self.arcs[arc as usize].action.clone());
                path.push((to, 0));
                continue;
            }
            path.pop();
            plan.pop();
        }
        (plans, false)
    }

    /// For each node that leads to a goal, its arcs that do, as (arc, node led
    /// to) in action order.
    fn arcs_towards(&self, goals: &[u32]) -> FxHashMap<u32, Vec<(u32, u32)>> {
        let mut forward: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        let mut reached: FxHashSet<u32> = goals.iter().copied().collect();
        let mut open: Vec<u32> = reached.iter().copied().collect();
        while let Some(to) = open.pop() {
            let mut arc = self.newest.get(to as usize).copied().unwrap_or(NONE);
            while arc != NONE {
                let Arc { from, older, .. } = self.arcs[arc as usize];
                forward.entry(from).or_default().push((arc, to));
                if reached.insert(from) {
                    open.push(from);
                }
                arc = older;
            }
        }
        for arcs in forward.values_mut() {
            arcs.sort_unstable();
        }
        forward
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arcs: &[(u32, char, u32)], goals: &[u32], max: usize, expected: &str) {
        let mut graph = PlanGraph::new();
        for &(from, action, to) in arcs {
            graph.link(from, action, to).unwrap();
        }
        let (plans, more) = graph.plans(goals, max);
        let mut text: Vec<String> = plans.iter().map(|plan| plan.iter().collect()).collect();
        if more {
            text.push("…".to_owned());
        }
        assert_eq!(text.join(" "), expected);
    }

    const DIAMOND: &[(u32, char, u32)] = &[
        (0, 'a', 1),
        (0, 'b', 2),
        (0, 'c', 2),
        (1, 'a', 3),
        (1, 'b', 4),
        (2, 'a', 3),
    ];

    #[test]
    fn plans_come_in_the_order_of_their_actions() {
        check(DIAMOND, &[3], 9, "aa ba ca");
        check(DIAMOND, &[4, 3], 9, "aa ab ba ca");
    }

    #[test]
    fn more_plans_than_requested_are_reported() {
        check(DIAMOND, &[3], 3, "aa ba ca");
        check(DIAMOND, &[3], 2, "aa ba …");
    }

    #[test]
    fn unlinked_arcs_are_in_no_plan() {
        let mut graph = PlanGraph::new();
        graph.link(0, 'a', 1).unwrap();
        graph.link(1, 'b', 2).unwrap();
        graph.unlink(2);
        graph.link(0, 'c', 2).unwrap();
        assert_eq!(graph.plans(&[2], 9), (vec![vec!['c']], false));
    }
}
