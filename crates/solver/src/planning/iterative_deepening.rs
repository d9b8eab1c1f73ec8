//! Iterative deepening over packed states, many at a time.
//!
//! In: a puzzle, with a lower bound on the moves to come by weighted sums. Out: a
//! shortest plan, or the proof that there is none. Each pass goes depth-first to
//! where moves made and to come exceed its limit; the least sum that did so is the
//! limit of the next. A table of limited size keeps how far each state was
//! searched, also from pass to pass, by its key alone where that is safe. States
//! on top of the stack are expanded together.
//!
//! Source: Korf, Depth-first iterative-deepening: an optimal admissible tree
//! search (1985); the table as in Reinefeld and Marsland, Enhanced
//! iterative-deepening search (1994).

mod table;

use super::effects::Effects;
use super::expand::{Children, Ends, Expander, Facts, Layout};
use super::potential::bound::Bound;
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};
use table::Table;

/// Lanes of the expander.
const LANES: usize = 512;
/// States expanded together, at most.
const TOGETHER: usize = 64;

/// The linear program may take the budget's time, divided by this.
const SHARE: u32 = 4;

/// Looks for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `n` of `stats` holds what was done in a pass, and its limit.
pub fn iterative_deepening(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let time = budget.time.map(|time| time / SHARE);
    let bound = Effects::of(puzzle).and_then(|effects| Bound::of(puzzle, &effects, time));
    // Sums may weigh any fact.
    let layout = match bound.is_some() {
        true => Layout::new(puzzle, Facts::All),
        false => Layout::new(puzzle, Facts::Relevant),
    };
    let key_bits = layout.key_bits();
    let mut search = Search {
        start: layout.encode(&puzzle.start),
        expander: Expander::new(puzzle, &layout, LANES, Engine::Auto),
        bound,
        table: Table::new(key_bits, budget.memory_bytes / 2),
        most_beside: budget.memory_bytes / 2,
        stack: Vec::new(),
        codes: Vec::new(),
        ways: Vec::new(),
        free: Vec::new(),
        state: Packed::new(),
        layout,
    };
    let came = search.run(budget.depth, &mut meter);
    meter.ended(came).unwrap_or(Outcome::Unknown)
}

struct Search {
    layout: Layout,
    start: Vec<u64>,
    expander: Expander,
    bound: Option<Bound>,
    table: Table,
    /// States to be expanded, the next last, and their codes.
    stack: Vec<Step>,
    codes: Vec<u64>,
    /// How states that lead to others were reached, and which places are free.
    ways: Vec<Way>,
    free: Vec<u32>,
    most_beside: u64,
    /// For bounds.
    state: Packed,
}

/// A move from a state to another, so many moves from the start.
#[derive(Copy, Clone)]
struct Step {
    parent: u32,
    chosen: u32,
    depth: u32,
}

#[derive(Copy, Clone)]
struct Way {
    parent: u32,
    chosen: u32,
    /// Steps and ways that go on from here.
    used: u32,
}

/// The start has no parent.
const NOBODY: u32 = u32::MAX;

/// How a pass ended.
enum Pass {
    Solved(Plan),
    /// Plans have so many moves at least.
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
            // A relaxation that ends nowhere has looked at the start alone.
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
        self.ways.clear();
        self.free.clear();
        self.codes.clear();
        self.codes.extend_from_slice(&self.start);
        self.stack.clear();
        self.stack.push(Step {
            parent: NOBODY,
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
                taken.push((self.way(step), step.depth));
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
                let (way, _) = taken[children.parents[child] as usize];
                let mut plan = self.plan(way);
                plan.push(children.moves[child]);
                return Ok(Pass::Solved(plan));
            }
            let bounds = self.bounds(&children.states);
            for (position, &(way, depth)) in taken.iter().enumerate() {
                let range = children.starts[position]..children.starts[position + 1];
                // The first of all comes to lie on top.
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
                            parent: way,
                            chosen: children.moves[child],
                            depth: depth + 1,
                        });
                        self.ways[way as usize].used += 1;
                    } else {
                        meter.level().counts.cycles += 1;
                    }
                }
                self.release(way);
            }
        }
        Ok(match next == u32::MAX || self.table.is_closed() {
            true => Pass::Over,
            false => Pass::Cut(next),
        })
    }

    /// By state: how many moves are to come at least if it is no end, at least
    /// one; `u32::MAX` if no solution can follow.
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

    /// Keeps a step as long as something goes on from it.
    fn way(&mut self, step: Step) -> u32 {
        let way = Way {
            parent: step.parent,
            chosen: step.chosen,
            used: 0,
        };
        match self.free.pop() {
            Some(place) => {
                self.ways[place as usize] = way;
                place
            }
            None => {
                self.ways.push(way);
                self.ways.len() as u32 - 1
            }
        }
    }

    /// Frees a way, and those that led to it alone, if nothing goes on.
    fn release(&mut self, mut way: u32) {
        while way != NOBODY && self.ways[way as usize].used == 0 {
            self.free.push(way);
            way = self.ways[way as usize].parent;
            if way != NOBODY {
                self.ways[way as usize].used -= 1;
            }
        }
    }

    fn plan(&self, mut way: u32) -> Plan {
        let mut plan = Plan::new();
        while self.ways[way as usize].parent != NOBODY {
            plan.push(self.ways[way as usize].chosen);
            way = self.ways[way as usize].parent;
        }
        plan.reverse();
        plan
    }

    /// Bytes taken, about, if there is room for what is beside the table.
    fn memory(&self) -> Result<u64, BudgetKind> {
        let stack = self.stack.len() * size_of::<Step>() + 8 * self.codes.len();
        let beside = (stack + self.ways.len() * size_of::<Way>()) as u64;
        if beside > self.most_beside {
            return Err(BudgetKind::Memory);
        }
        Ok(beside + self.table.memory())
    }
}
