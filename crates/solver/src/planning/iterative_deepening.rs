//! Iterative-deepening A* over packed states, many at a time.
//!
//! In: a puzzle, with a lower bound on the remaining moves from weighted sums. Out:
//! a shortest plan, or a proof that there is none. Each pass searches depth-first
//! and cuts off states where the moves made plus the lower bound exceed its limit.
//! The least such sum is the limit of the next pass. A table of limited size
//! records how deeply each state was searched, also across passes, by its key alone
//! where that is safe. The states on top of the stack are expanded together.
//!
//! Source: Korf, Depth-first iterative-deepening: an optimal admissible tree search
//! (1985); the table as in Reinefeld and Marsland, Enhanced iterative-deepening
//! search (1994).

mod table;

use super::effects::Effects;
use super::expand::{Children, Ends, Expander, Facts, Layout};
use super::potential::bound::Bound;
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};
use std::sync::Arc;
use table::TranspositionTable;

/// Number of lanes of the expander.
const LANES: usize = 512;
/// Maximum number of states expanded together.
const TOGETHER: usize = 64;

/// The linear program may use this fraction of the time budget.
const SHARE: u32 = 4;

/// Searches for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `n` of `stats` describes the pass with limit `n`.
pub fn iterative_deepening(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let puzzle = &puzzle.until(budget.end());
    let time = budget.time.map(|time| time / SHARE);
    let bound = Effects::of(puzzle).and_then(|effects| Bound::of(puzzle, &effects, time));
    // Weighted sums may involve any fact.
    let layout = match bound.is_some() {
        true => Layout::new(puzzle, Facts::All),
        false => Layout::new(puzzle, Facts::Relevant),
    };
    let key_bits = layout.key_bits();
    let Some(expander) = Expander::new(puzzle, &layout, LANES, Engine::Auto) else {
        return Outcome::Unknown;
    };
    let mut search = Search {
        start: layout.encode(&puzzle.start),
        expander,
        bound,
        table: TranspositionTable::new(key_bits, budget.memory_bytes / 2),
        most_stack_bytes: budget.memory_bytes / 2,
        stack: Vec::new(),
        codes: Vec::new(),
        links: Vec::new(),
        free: Vec::new(),
        state: Packed::new(),
        layout,
    };
    let result = search.run(budget.depth, &mut meter);
    meter.ended(result).unwrap_or(Outcome::Unknown)
}

struct Search {
    layout: Layout,
    start: Vec<u64>,
    expander: Expander,
    bound: Option<Arc<Bound>>,
    table: TranspositionTable,
    /// The states to expand, the next one last, and their codes.
    stack: Vec<Step>,
    codes: Vec<u64>,
    /// The links of states with open successors, and the indices of unused links.
    links: Vec<Link>,
    free: Vec<u32>,
    most_stack_bytes: u64,
    /// Buffer for computing bounds.
    state: Packed,
}

/// A move to a state, which is `depth` moves from the start.
#[derive(Copy, Clone)]
struct Step {
    parent: u32,
    chosen: u32,
    depth: u32,
}

#[derive(Copy, Clone)]
struct Link {
    parent: u32,
    chosen: u32,
    /// Number of steps and links that refer to this one.
    used: u32,
}

/// The parent of the start.
const NO_PARENT: u32 = u32::MAX;

/// The result of a pass.
enum Pass {
    Solved(Plan),
    /// Plans have at least this many moves.
    Cut(u32),
    /// Nothing was cut off.
    Over,
}

impl Search {
    fn run(&mut self, depth: u32, meter: &mut Meter<'_>) -> Result<Outcome, BudgetKind> {
        let mut ends = Ends::default();
        self.expander.ends(&self.start, &mut ends);
        if ends.solved[0] == 1 {
            return Ok(Outcome::Solved {
                plan: Plan::new(),
                optimal: true,
            });
        }
        let start = self.start.clone();
        meter.begin_level(0, Compare::Key);
        let mut limit = self.bounds(&start)[0];
        meter.end_level();
        if ends.over[0] == 1 || limit == u32::MAX {
            // The relaxation proved unsolvability from the start state alone.
            return Ok(Outcome::Unsolvable(Reason::Exhausted { positions: 1 }));
        }
        while limit <= depth {
            meter.begin_level(limit, Compare::Key);
            let end = self.pass(limit, meter)?;
            meter.end_level();
            match end {
                Pass::Solved(plan) => {
                    return Ok(Outcome::Solved {
                        plan,
                        optimal: true,
                    });
                }
                Pass::Cut(next) => limit = next,
                Pass::Over => {
                    return Ok(Outcome::Unsolvable(Reason::Exhausted {
                        positions: self.table.len() as u64,
                    }));
                }
            }
        }
        Ok(Outcome::NoPlanWithin(depth))
    }

    fn pass(&mut self, limit: u32, meter: &mut Meter<'_>) -> Result<Pass, BudgetKind> {
        let stride = self.layout.words();
        let mut children = Children::default();
        let mut ends = Ends::default();
        let mut next = u32::MAX;
        let mut taken: Vec<(u32, u32)> = Vec::new();
        self.links.clear();
        self.free.clear();
        self.codes.clear();
        self.codes.extend_from_slice(&self.start);
        self.stack.clear();
        self.stack.push(Step {
            parent: NO_PARENT,
            chosen: 0,
            depth: 0,
        });
        self.table.enter(&self.start, limit);
        while !self.stack.is_empty() {
            let left = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
            let count = TOGETHER.min(self.stack.len()).min(left);
            if count == 0 {
                return Err(BudgetKind::Nodes);
            }
            let first = self.stack.len() - count;
            taken.clear();
            for at in first..self.stack.len() {
                let step = self.stack[at];
                taken.push((self.link(step), step.depth));
            }
            self.stack.truncate(first);
            let parents = self.codes.split_off(first * stride);
            self.expander.expand(&parents, &mut children);
            meter.spend(
                children.open,
                children.len() as u64,
                self.table.len(),
                self.memory()?,
            )?;
            self.expander.ends(&children.states, &mut ends);
            if let Some(child) = ends.first_solved() {
                meter.level().counts.solutions += 1;
                let (link, _) = taken[children.parents[child] as usize];
                let mut plan = self.plan(link);
                plan.push(children.moves[child]);
                return Ok(Pass::Solved(plan));
            }
            let bounds = self.bounds(&children.states);
            for (position, &(link, depth)) in taken.iter().enumerate() {
                let range = children.starts[position]..children.starts[position + 1];
                // The first child ends up on top of the stack.
                for child in range.rev().map(|child| child as usize) {
                    let is_over = ends.over[child / 64] >> (child % 64) & 1 == 1;
                    if is_over || bounds[child] == u32::MAX {
                        meter.level().counts.dead_leaves += 1;
                        continue;
                    }
                    let code = &children.states[child * stride..][..stride];
                    let sum = (depth + 1).saturating_add(bounds[child]);
                    if sum > limit {
                        next = next.min(sum);
                        self.table.see(code);
                        meter.level().frontier += 1;
                    } else if self.table.enter(code, limit - depth - 1) {
                        meter.level().counts.generated += 1;
                        self.codes.extend_from_slice(code);
                        self.stack.push(Step {
                            parent: link,
                            chosen: children.moves[child],
                            depth: depth + 1,
                        });
                        self.links[link as usize].used += 1;
                    } else {
                        meter.level().counts.cycles += 1;
                    }
                }
                self.release(link);
            }
        }
        Ok(match next == u32::MAX || self.table.is_closed() {
            true => Pass::Over,
            false => Pass::Cut(next),
        })
    }

    /// By state: a lower bound of at least 1 on the remaining moves of a state that
    /// is not terminal.
    fn bounds(&mut self, states: &[u64]) -> Vec<u32> {
        let stride = self.layout.words();
        let mut bounds = vec![1; states.len() / stride];
        if let Some(bound) = &self.bound {
            for (code, most) in states.chunks(stride).zip(&mut bounds) {
                self.layout.decode(code, &mut self.state);
                *most = bound.moves(&self.state).max(1);
            }
        }
        bounds
    }

    /// Stores a step as a link for as long as others refer to it.
    fn link(&mut self, step: Step) -> u32 {
        let link = Link {
            parent: step.parent,
            chosen: step.chosen,
            used: 0,
        };
        match self.free.pop() {
            Some(place) => {
                self.links[place as usize] = link;
                place
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        }
    }

    /// Frees a link to which nothing refers, and its predecessors likewise.
    fn release(&mut self, mut link: u32) {
        while link != NO_PARENT && self.links[link as usize].used == 0 {
            self.free.push(link);
            link = self.links[link as usize].parent;
            if link != NO_PARENT {
                self.links[link as usize].used -= 1;
            }
        }
    }

    fn plan(&self, mut link: u32) -> Plan {
        let mut plan = Plan::new();
        while self.links[link as usize].parent != NO_PARENT {
            plan.push(self.links[link as usize].chosen);
            link = self.links[link as usize].parent;
        }
        plan.reverse();
        plan
    }

    /// Approximate memory used, in bytes.
    ///
    /// # Errors
    ///
    /// If the data other than the table exceed their share.
    fn memory(&self) -> Result<u64, BudgetKind> {
        let stack = self.stack.len() * size_of::<Step>() + 8 * self.codes.len();
        let bytes = (stack + self.links.len() * size_of::<Link>()) as u64;
        if bytes > self.most_stack_bytes {
            return Err(BudgetKind::Memory);
        }
        Ok(bytes + self.table.memory())
    }
}
