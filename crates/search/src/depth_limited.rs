//! One depth-limited pass in depth-first order, with an explicit stack.
//!
//! In: a problem, an open start state and a depth limit. Out: whether a solution was found
//! and whether the limit cut anything off. Iterative deepening is a sequence of such passes,
//! depth-first search a single one.

use super::budget::Meter;
use super::plan_graph::PlanGraph;
use super::stats::bump;
use super::visited::{Visit, Visited};
use super::{Coverage, Plans, Problem, Prune, Status, Stop};

/// The options of a pass.
#[derive(Copy, Clone)]
pub(super) struct Rules {
    pub(super) prune: Prune,
    pub(super) plans: Plans,
    /// The treatment of a key that is reached again at a smaller step.
    pub(super) reopen: Reopen,
}

#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Reopen {
    /// A key that is reached at a smaller step is expanded again.
    Nearer,
    /// Keys are expanded once. This is only correct for keys that have the same plans at
    /// every step, without a depth limit.
    Never,
}

/// True if a pass is complete.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Completeness {
    Whole,
    Stopped,
}

/// The end of a pass.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// A solution was found.
    Solved,
    /// No solution was found, and the limit cut off open states.
    Cut,
    /// No reachable state is a solution.
    Exhausted,
}

/// A depth-limited search that can run several passes with different limits. The tables keep
/// their allocated memory.
pub(super) struct DepthLimited<P: Problem> {
    rules: Rules,
    start: P::State,
    visited: Visited<P::Key>,
    plan_graph: PlanGraph<P::Action>,
    /// The solved nodes, if all plans are wanted and keys are merged.
    goals: Vec<u32>,
    /// The plans found otherwise.
    plans: Vec<Vec<P::Action>>,
    more: bool,
    merged: bool,
    path: Vec<Frame<P::State>>,
    /// The actions of all states on the path, concatenated.
    actions: Vec<P::Action>,
    scratch: Vec<P::Action>,
    state_bytes: u64,
}

struct Frame<S> {
    state: S,
    node: u32,
    /// The range of this state's actions, and the next one to try.
    begin: usize,
    next: usize,
    end: usize,
    /// True if a child is not a dead leaf.
    continues: bool,
}

impl<P: Problem> DepthLimited<P> {
    /// `start` must be [`Status::Open`].
    pub(super) fn new(problem: &P, start: P::State, rules: Rules) -> Self {
        let heap_bytes = problem.state_heap_bytes(&start);
        DepthLimited {
            rules,
            start,
            visited: Visited::new(),
            plan_graph: PlanGraph::new(),
            goals: Vec::new(),
            plans: Vec::new(),
            more: false,
            merged: false,
            path: Vec::new(),
            actions: Vec::new(),
            scratch: Vec::new(),
            state_bytes: heap_bytes.saturating_add(size_of::<Frame<P::State>>() as u64),
        }
    }

    /// Returns true if an arc was pruned because of its key, in any pass.
    pub(super) fn merged(&self) -> bool {
        self.merged
    }

    /// Returns true if the last pass found a solution, even if it was stopped.
    pub(super) fn has_found(&self) -> bool {
        !self.goals.is_empty() || !self.plans.is_empty()
    }

    /// The plans of the last pass, with their completeness.
    pub(super) fn into_plans(self, completeness: Completeness) -> (Vec<Vec<P::Action>>, Coverage) {
        let (plans, more) = match self.rules.plans {
            Plans::AllShortest { max } if self.rules.prune.cycle => {
                self.plan_graph.plans(&self.goals, max.max(1))
            }
            _ => (self.plans, self.more),
        };
        let coverage = match (self.rules.plans, completeness) {
            _ if more => Coverage::Capped,
            (Plans::AllShortest { .. }, Completeness::Whole) => Coverage::All,
            _ => Coverage::Unknown,
        };
        (plans, coverage)
    }

    /// Searches all states that are at most `limit` actions from the start.
    pub(super) fn pass(
        &mut self,
        problem: &mut P,
        limit: u32,
        meter: &mut Meter<'_>,
    ) -> Result<End, Stop<P::Error>> {
        self.visited.clear();
        self.plan_graph.clear();
        self.path.clear();
        self.actions.clear();
        bump(&mut meter.level().counts.generated, 1);
        if limit == 0 {
            bump(&mut meter.level().frontier, 1);
            return Ok(End::Cut);
        }
        let start = self.start.clone();
        let (_, node) = self.visit(problem, &start, 0)?;
        self.push(problem, start, node, meter)?;
        let mut cut = false;
        while let Some(frame) = self.path.last_mut() {
            if frame.next == frame.end {
                self.pop(meter);
                continue;
            }
            let from = frame.node;
            let action = self.actions[frame.next].clone();
            frame.next += 1;
            meter.arc()?;
            let child = problem.result(&frame.state, &action).map_err(Stop::Error)?;
            let step = self.path.len() as u32;
            let (entered, node) = self.visit(problem, &child, step)?;
            self.link(from, action, node, entered)?;
            let level = meter.level();
            if matches!(entered, Entered::AtSameStep | Entered::Not) {
                bump(&mut level.counts.cycles, 1);
                // The state has a continuation by the arcs of another visit.
                if entered == Entered::AtSameStep {
                    self.keep_parent();
                }
                continue;
            }
            bump(&mut level.counts.generated, 1);
            match problem.status(&child).map_err(Stop::Error)? {
                Status::Solved => {
                    bump(&mut level.counts.solutions, 1);
                    self.keep_parent();
                    if self.solved(node) {
                        return Ok(End::Solved);
                    }
                }
                Status::Dead if self.rules.prune.dead_leaf => {
                    bump(&mut level.counts.dead_leaves, 1);
                }
                Status::Dead => self.keep_parent(),
                Status::Open if step >= limit => {
                    bump(&mut level.frontier, 1);
                    cut = true;
                    self.keep_parent();
                }
                Status::Open => self.push(problem, child, node, meter)?,
            }
        }
        Ok(match (self.has_found(), cut) {
            (true, _) => End::Solved,
            (false, true) => End::Cut,
            (false, false) => End::Exhausted,
        })
    }

    fn visit(
        &mut self,
        problem: &P,
        state: &P::State,
        step: u32,
    ) -> Result<(Entered, u32), Stop<P::Error>> {
        if !self.rules.prune.cycle {
            return Ok((Entered::First, 0));
        }
        let key = problem.key(state);
        let heap_bytes = problem.key_heap_bytes(&key);
        Ok(match self.visited.visit(key, heap_bytes, step)? {
            Visit::Fresh(node) => (Entered::First, node),
            Visit::Nearer(node) if self.rules.reopen == Reopen::Nearer => (Entered::Again, node),
            Visit::SameStep(node) => (Entered::AtSameStep, node),
            Visit::Nearer(node) | Visit::Farther(node) => (Entered::Not, node),
        })
    }

    /// Records the arc if it is on a shortest path so far.
    fn link(
        &mut self,
        from: u32,
        action: P::Action,
        to: u32,
        entered: Entered,
    ) -> Result<(), Stop<P::Error>> {
        self.merged |= entered != Entered::First;
        if self.rules.prune.cycle && self.rules.plans != Plans::First {
            if entered == Entered::Again {
                self.plan_graph.unlink(to);
            }
            if entered != Entered::Not {
                self.plan_graph.link(from, action, to)?;
            }
        }
        Ok(())
    }

    /// Records a solution at the end of the current path and returns whether the search is
    /// over.
    fn solved(&mut self, node: u32) -> bool {
        match self.rules.plans {
            Plans::AllShortest { .. } if self.rules.prune.cycle => {
                self.goals.push(node);
                false
            }
            Plans::AllShortest { max } if self.plans.len() >= max.max(1) => {
                self.more = true;
                true
            }
            plans => {
                let taken = |frame: &Frame<_>| self.actions[frame.next - 1].clone();
                self.plans.push(self.path.iter().map(taken).collect());
                plans == Plans::First
            }
        }
    }

    fn push(
        &mut self,
        problem: &mut P,
        state: P::State,
        node: u32,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop<P::Error>> {
        meter.expand(self.visited.len().max(self.path.len()), self.bytes())?;
        problem
            .actions(&state, &mut self.scratch)
            .map_err(Stop::Error)?;
        let begin = self.actions.len();
        self.actions.append(&mut self.scratch);
        let end = self.actions.len();
        self.path.push(Frame {
            state,
            node,
            begin,
            next: begin,
            end,
            continues: false,
        });
        Ok(())
    }

    fn pop(&mut self, meter: &mut Meter<'_>) {
        let frame = self.path.pop().expect("the loop has just seen it");
        self.actions.truncate(frame.begin);
        if frame.continues || !self.rules.prune.dead_leaf {
            self.keep_parent();
        } else if !self.path.is_empty() {
            bump(&mut meter.level().counts.dead_leaves, 1);
        }
    }

    fn keep_parent(&mut self) {
        if let Some(parent) = self.path.last_mut() {
            parent.continues = true;
        }
    }

    fn bytes(&self) -> u64 {
        let actions = self
            .actions
            .capacity()
            .saturating_mul(size_of::<P::Action>());
        (self.path.len() as u64)
            .saturating_mul(self.state_bytes)
            .saturating_add(actions as u64)
            .saturating_add(self.visited.bytes())
            .saturating_add(self.plan_graph.bytes())
    }
}

/// The result of a visit.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Entered {
    First,
    /// The key was reached at a smaller step than before.
    Again,
    /// The key was reached by another arc of a shortest path.
    AtSameStep,
    Not,
}
