//! The explored graph itself, level by level, for pictures and tables.
//!
//! In: a problem and options for merging and pruning. Out: nodes with states and arcs with
//! actions. Output formats such as DOT and JSON are not here.

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::budget::{Budget, BudgetKind, Meter};
use super::stats::{Observer, Stats, bump};
use super::visited::{Visit, Visited};
use super::{Compare, Problem, Prune, Status, Stop};

/// The identity of nodes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Merge {
    /// All states with one key are one node, which has the state reached first.
    #[default]
    Key,
    /// Each exact state is a node.
    State,
    /// Each path is a node, so that the graph is the search tree.
    Nothing,
}

/// The options of an exploration. [`Budget::depth`] is the depth limit, [`Budget::nodes`] the
/// most states to expand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Explore {
    /// The identity of nodes.
    pub merge: Merge,
    /// The states to leave out. Without `cycle` the graph has all arcs; with it, only arcs to
    /// keys not seen on a smaller level, in a tree to keys not seen at all. Dead leaves are
    /// dropped with their arcs until none is left.
    pub prune: Prune,
    /// The most nodes. The graph ends with the arc that would lead to one more.
    pub most: usize,
}

impl Default for Explore {
    fn default() -> Self {
        Explore {
            merge: Merge::Key,
            prune: Prune::NONE,
            most: usize::MAX,
        }
    }
}

/// An explored graph. Node 0 is the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph<S, A> {
    nodes: Vec<Node<S>>,
    arcs: Vec<Arc<A>>,
    stopped: Option<BudgetKind>,
}

/// The graph of a problem.
pub type GraphOf<P> = Graph<<P as Problem>::State, <P as Problem>::Action>;

/// A callback that receives a problem and its graph so far and decides whether to continue.
pub type OnProgress<'t, P> = dyn FnMut(&P, &GraphOf<P>) -> ControlFlow<()> + 't;

/// A node of a [`Graph`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node<S> {
    /// The state by which it was reached first.
    pub state: S,
    /// The least number of actions from the start.
    pub level: u32,
    /// The status of `state`.
    pub status: Status,
    /// True if its actions were tried. False for an open state at the depth
    /// limit, or where the budget ran out.
    pub expanded: bool,
}

/// An arc of a [`Graph`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arc<A> {
    /// The node in which the action was taken.
    pub from: usize,
    /// The action.
    pub action: A,
    /// The node it led to.
    pub to: usize,
}

impl<S, A> Graph<S, A> {
    /// The nodes, level after level, and within one in the order of discovery.
    pub fn nodes(&self) -> &[Node<S>] {
        &self.nodes
    }

    /// The arcs, sorted by `from`, and within one node in action order.
    pub fn arcs(&self) -> &[Arc<A>] {
        &self.arcs
    }

    /// The arcs out of `node`.
    pub fn arcs_from(&self, node: usize) -> &[Arc<A>] {
        let begin = self.arcs.partition_point(|arc| arc.from < node);
        let end = self.arcs.partition_point(|arc| arc.from <= node);
        &self.arcs[begin..end]
    }

    /// The nodes of each level, as ranges into [`Graph::nodes`].
    pub fn levels(&self) -> Vec<Range<usize>> {
        let mut levels: Vec<Range<usize>> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if levels.len() <= node.level as usize {
                levels.push(index..index);
            }
            let last = levels
                .last_mut()
                .expect("a level was just pushed, if there was none");
            last.end = index + 1;
        }
        levels
    }

    /// The number of nodes without outgoing arcs.
    pub fn leaf_count(&self) -> usize {
        (0..self.nodes.len())
            .filter(|&node| self.arcs_from(node).is_empty())
            .count()
    }

    /// The nodes from which no solution is reachable, ascending.
    pub fn hopeless(&self) -> Vec<usize> {
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for arc in &self.arcs {
            sources[arc.to].push(arc.from);
        }
        let is_solved = |node: &Node<S>| node.status == Status::Solved;
        let mut has_hope: Vec<bool> = self.nodes.iter().map(is_solved).collect();
        let mut open: Vec<usize> = (0..self.nodes.len()).filter(|&n| has_hope[n]).collect();
        while let Some(node) = open.pop() {
            for &from in &sources[node] {
                if !std::mem::replace(&mut has_hope[from], true) {
                    open.push(from);
                }
            }
        }
        (0..self.nodes.len()).filter(|&n| !has_hope[n]).collect()
    }

    /// The limit that was exhausted before the graph was complete up to the depth limit.
    pub fn stopped(&self) -> Option<BudgetKind> {
        self.stopped
    }

    /// Returns true if every open state was expanded.
    pub fn is_complete(&self) -> bool {
        self.nodes
            .iter()
            .all(|node| node.expanded || node.status != Status::Open)
    }
}

/// Explores all states that are at most [`Budget::depth`] actions from the start.
///
/// If the budget runs out, the result is the graph so far, including dead leaves, and
/// [`Graph::stopped`] is set.
///
/// # Errors
///
/// The first error of `problem`.
pub fn explore<P: Problem>(
    problem: &mut P,
    options: &Explore,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Graph<P::State, P::Action>, P::Error> {
    let on_progress = &mut |_: &P, _: &_| ControlFlow::Continue(());
    explore_with_progress(problem, options, budget, stats, observer, on_progress)
}

/// As [`explore`]. After each expansion, `on_progress` receives the graph so far and may end
/// the exploration like an interrupt. Until dead leaves are dropped, nodes and arcs are only
/// appended.
///
/// # Errors
///
/// The first error of `problem`.
pub fn explore_with_progress<P: Problem>(
    problem: &mut P,
    options: &Explore,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
    on_progress: &mut OnProgress<'_, P>,
) -> Result<Graph<P::State, P::Action>, P::Error> {
    let meter = &mut Meter::new(budget, stats, observer);
    let mut survey = Survey::<P> {
        options: *options,
        graph: Graph {
            nodes: Vec::new(),
            arcs: Vec::new(),
            stopped: None,
        },
        keys: Visited::new(),
        by_key: Vec::new(),
        by_state: FxHashMap::default(),
        heap_bytes: 0,
    };
    match survey.explore(problem, budget.depth, meter, on_progress) {
        Ok(()) => {}
        Err(ended) => survey.graph.stopped = Some(meter.exhausted(ended)?),
    }
    let mut graph = survey.graph;
    if options.prune.dead_leaf && graph.stopped.is_none() {
        let dropped = drop_dead_leaves(&mut graph);
        bump(&mut meter.level().counts.dead_leaves, dropped as u64);
    }
    Ok(graph)
}

/// An exploration in progress.
struct Survey<P: Problem> {
    options: Explore,
    graph: Graph<P::State, P::Action>,
    keys: Visited<P::Key>,
    /// The graph's node for each number that `keys` gave out.
    by_key: Vec<usize>,
    by_state: FxHashMap<P::State, usize>,
    /// The bytes on the heap of all states.
    heap_bytes: u64,
}

impl<P: Problem> Survey<P> {
    fn explore(
        &mut self,
        problem: &mut P,
        depth: u32,
        meter: &mut Meter<'_>,
        on_progress: &mut OnProgress<'_, P>,
    ) -> Result<(), Stop<P::Error>> {
        let compare = match self.options.merge {
            Merge::Key => Compare::Key,
            Merge::State | Merge::Nothing => Compare::State,
        };
        meter.begin_level(0, compare);
        let start = problem.start().map_err(Stop::Error)?;
        self.enter(problem, start, 0, meter)?;
        meter.end_level();
        let mut begin = 0;
        for step in 1..=depth {
            let level = begin..self.graph.nodes.len();
            if level.is_empty() {
                break;
            }
            begin = level.end;
            meter.begin_level(step, compare);
            for from in level {
                if self.graph.nodes[from].status == Status::Open {
                    self.expand(problem, from, step, meter)?;
                    if on_progress(problem, &self.graph).is_break() {
                        return Err(Stop::Budget(BudgetKind::Interrupt));
                    }
                }
            }
            meter.end_level();
        }
        Ok(())
    }

    fn expand(
        &mut self,
        problem: &mut P,
        from: usize,
        step: u32,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop<P::Error>> {
        meter.expand(self.graph.nodes.len(), self.bytes())?;
        let state = self.graph.nodes[from].state.clone();
        let mut actions = Vec::new();
        problem.actions(&state, &mut actions).map_err(Stop::Error)?;
        for action in actions {
            meter.arc()?;
            let child = problem.result(&state, &action).map_err(Stop::Error)?;
            match self.enter(problem, child, step, meter)? {
                Some(to) => self.graph.arcs.push(Arc { from, action, to }),
                None => bump(&mut meter.level().counts.cycles, 1),
            }
        }
        self.graph.nodes[from].expanded = true;
        Ok(())
    }

    /// The node of `state`, which is added if it is new; `None` if it is pruned.
    fn enter(
        &mut self,
        problem: &mut P,
        state: P::State,
        step: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Stop<P::Error>> {
        let Explore { merge, prune, most } = self.options;
        let fresh = self.graph.nodes.len();
        if merge == Merge::Key || prune.cycle {
            let key = problem.key(&state);
            let heap_bytes = problem.key_heap_bytes(&key);
            let visit = self.keys.visit(key, heap_bytes, step)?;
            match (visit, merge) {
                (Visit::Fresh(_), _) => self.by_key.push(fresh),
                (Visit::Farther(_) | Visit::Nearer(_), _) if prune.cycle => return Ok(None),
                (Visit::SameStep(_), Merge::Nothing) => return Ok(None),
                (
                    Visit::SameStep(number) | Visit::Farther(number) | Visit::Nearer(number),
                    Merge::Key,
                ) => return Ok(Some(self.by_key[number as usize])),
                (Visit::SameStep(_) | Visit::Farther(_) | Visit::Nearer(_), _) => {}
            }
        }
        if merge == Merge::State {
            let known = *self.by_state.entry(state.clone()).or_insert(fresh);
            if known != fresh {
                return Ok(Some(known));
            }
        }
        if fresh >= most {
            return Err(Stop::Budget(BudgetKind::Nodes));
        }
        let status = problem.status(&state).map_err(Stop::Error)?;
        let level = meter.level();
        bump(&mut level.counts.generated, 1);
        bump(
            &mut level.counts.solutions,
            u64::from(status == Status::Solved),
        );
        bump(&mut level.frontier, u64::from(status == Status::Open));
        let copies = 1 + u64::from(merge == Merge::State);
        let heap_bytes = problem.state_heap_bytes(&state).saturating_mul(copies);
        self.heap_bytes = self.heap_bytes.saturating_add(heap_bytes);
        self.graph.nodes.push(Node {
            state,
            level: step,
            status,
            expanded: false,
        });
        Ok(Some(fresh))
    }

    fn bytes(&self) -> u64 {
        let node = size_of::<Node<P::State>>() as u64;
        let arc = size_of::<Arc<P::Action>>() as u64;
        let entry = size_of::<(P::State, usize)>() as u64 + 1;
        (self.graph.nodes.len() as u64)
            .saturating_mul(node)
            .saturating_add((self.graph.arcs.len() as u64).saturating_mul(arc))
            .saturating_add((self.by_state.len() as u64).saturating_mul(entry))
            .saturating_add(self.heap_bytes)
            .saturating_add(self.keys.bytes())
    }
}

/// Repeatedly drops nodes that have no outgoing arc, are not solutions and were not cut off by
/// the depth limit. Returns the number of dropped nodes; the start is never dropped.
fn drop_dead_leaves<S, A>(graph: &mut Graph<S, A>) -> usize {
    let count = graph.nodes.len();
    let mut arcs_out = vec![0usize; count];
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); count];
    for arc in &graph.arcs {
        arcs_out[arc.from] += 1;
        sources[arc.to].push(arc.from);
    }
    let may_drop = |node: usize| {
        let Node {
            status, expanded, ..
        } = graph.nodes[node];
        node != 0 && (status == Status::Dead || (status == Status::Open && expanded))
    };
    let mut dropped = vec![false; count];
    let mut open: Vec<usize> = (0..count)
        .filter(|&node| arcs_out[node] == 0 && may_drop(node))
        .collect();
    while let Some(node) = open.pop() {
        dropped[node] = true;
        for &from in &sources[node] {
            arcs_out[from] -= 1;
            if arcs_out[from] == 0 && may_drop(from) {
                open.push(from);
            }
        }
    }
    let mut kept = 0;
    let renumbered: Vec<Option<usize>> = dropped
        .iter()
        .map(|&gone| {
            let number = kept;
            kept += usize::from(!gone);
            (!gone).then_some(number)
        })
        .collect();
    graph
        .arcs
        .retain_mut(|arc| match (renumbered[arc.from], renumbered[arc.to]) {
            (Some(from), Some(to)) => {
                (arc.from, arc.to) = (from, to);
                true
            }
            _ => false,
        });
    let mut gone = dropped.iter().copied();
    graph.nodes.retain(|_| !gone.next().unwrap_or(false));
    count - kept
}

#[cfg(test)]
mod tests;
