//! Breadth-first search over packed states, level by level.
//!
//! In: a puzzle. Out: a shortest plan, or the proof that there is none, of any
//! length or of so many moves. A state takes its bits and a word of a table; the
//! way to it is found by expanding once more the states among which its parent
//! must be.

use crate::propnet::code::Engine;
use crate::search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

use super::expand::states::{Full, States};
use super::expand::{Children, Ends, Expander, Facts, Layout};
use super::{Outcome, Plan, Puzzle, Reason};

/// States expanded at once.
const LANES: usize = 512;

/// Looks for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `d` of `stats` holds what is `d` moves from the start. Equal positions
/// are those that differ in nothing that matters, see [`Layout`].
pub fn levels(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let mut flood = Flood::new(puzzle, budget.memory_bytes);
    flood
        .run(&puzzle.start, budget.depth, &mut meter)
        .unwrap_or(Outcome::Unknown)
}

/// A search in progress.
struct Flood {
    layout: Layout,
    expander: Expander,
    states: States,
    /// By level: what its states have besides their keys.
    beside: Vec<Vec<u64>>,
    /// By batch of states expanded.
    batches: Vec<Batch>,
    parents: Vec<u64>,
    children: Children,
    ends: Ends,
    /// New states whose ends were not looked at: the last of all.
    fresh: Vec<u64>,
}

/// States expanded at once: from the first to before the end, of one level. The
/// first child has the number of the next state at that time.
#[derive(Copy, Clone)]
struct Batch {
    level: u32,
    first: u32,
    end: u32,
    child: u32,
}

impl Flood {
    fn new(puzzle: &Puzzle, most_bytes: u64) -> Flood {
        let layout = Layout::new(puzzle, Facts::Relevant);
        Flood {
            expander: Expander::new(puzzle, &layout, LANES, Engine::Auto),
            // A little is left to the batches.
            states: States::new(layout.key_bits(), most_bytes - most_bytes / 16),
            beside: Vec::new(),
            batches: Vec::new(),
            parents: Vec::new(),
            children: Children::default(),
            ends: Ends::default(),
            fresh: Vec::new(),
            layout,
        }
    }

    fn run(
        &mut self,
        start: &[u64],
        depth: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome, BudgetKind> {
        let start = self.layout.encode(start);
        meter.begin_level(0, Compare::Key);
        self.beside.push(start.clone());
        let mut solved = match self.enter(&start, meter)? {
            Some(solved) => Some(solved),
            None => self.look(meter),
        };
        meter.end_level();
        let (mut first, mut end) = (0, self.states.len());
        while solved.is_none() && first < end {
            let level = self.beside.len() as u32 - 1;
            if level >= depth {
                return Ok(Outcome::NoPlanWithin(depth));
            }
            meter.begin_level(level + 1, Compare::Key);
            while first < end && solved.is_none() {
                let count = LANES.min(end - first);
                let count = count.min(usize::try_from(meter.nodes_left()).unwrap_or(count));
                if count == 0 {
                    return Err(BudgetKind::Nodes);
                }
                let batch = Batch {
                    level,
                    first: first as u32,
                    end: (first + count) as u32,
                    child: self.states.len() as u32,
                };
                first += count;
                solved = self.advance(batch, meter)?;
            }
            if solved.is_none() {
                solved = self.look(meter);
            }
            meter.end_level();
            end = self.states.len();
        }
        meter.record(self.states.len(), self.memory());
        Ok(match solved {
            Some(solved) => Outcome::Solved {
                plan: self.plan(solved),
                optimal: true,
            },
            None => Outcome::Unsolvable(Reason::Exhausted {
                positions: self.states.len() as u64,
            }),
        })
    }

    /// Expands some states; a state that is solved, if one was met.
    fn advance(
        &mut self,
        batch: Batch,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, BudgetKind> {
        self.expand(batch);
        let arcs = self.children.len() as u64;
        meter.spend(self.children.open, arcs, self.states.len(), self.memory())?;
        if self.children.is_empty() {
            return Ok(None);
        }
        if self.beside.len() == batch.level as usize + 1 {
            let child = &self.children.states[..self.layout.words()];
            self.beside.push(child.to_vec());
        }
        self.batches.push(batch);
        let children = std::mem::take(&mut self.children.states);
        let solved = self.enter(&children, meter);
        self.children.states = children;
        solved
    }

    fn expand(&mut self, batch: Batch) {
        let stride = self.layout.words();
        let beside = &self.beside[batch.level as usize];
        self.parents.clear();
        for number in batch.first..batch.end {
            let at = self.parents.len();
            self.parents.extend_from_slice(beside);
            self.states
                .read(number as usize, &mut self.parents[at..at + stride]);
        }
        self.expander.expand(&self.parents, &mut self.children);
    }

    /// Adds states; one that is solved, if one was met.
    fn enter(
        &mut self,
        children: &[u64],
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, BudgetKind> {
        let stride = self.layout.words();
        let fresh = &mut self.fresh;
        let before = self.states.len();
        let see = |position: usize, _, is_new| {
            if is_new {
                fresh.extend_from_slice(&children[position * stride..][..stride]);
            }
        };
        let entered = self.states.insert_all(children, stride, see);
        entered.map_err(|Full| BudgetKind::Memory)?;
        let generated = (self.states.len() - before) as u64;
        let counts = &mut meter.level().counts;
        counts.generated += generated;
        counts.cycles += (children.len() / stride) as u64 - generated;
        let is_enough = self.fresh.len() >= LANES * stride;
        Ok(if is_enough { self.look(meter) } else { None })
    }

    /// Looks at new states; the first that is solved.
    fn look(&mut self, meter: &mut Meter<'_>) -> Option<usize> {
        self.expander.ends(&self.fresh, &mut self.ends);
        let count = self.fresh.len() / self.layout.words();
        self.fresh.clear();
        let over: u32 = self.ends.over.iter().map(|word| word.count_ones()).sum();
        let level = meter.level();
        level.frontier += count as u64 - u64::from(over);
        let solved: u32 = self.ends.solved.iter().map(|word| word.count_ones()).sum();
        level.counts.solutions += u64::from(solved);
        let word = self.ends.solved.iter().position(|&word| word != 0)?;
        let position = 64 * word + self.ends.solved[word].trailing_zeros() as usize;
        Some(self.states.len() - count + position)
    }

    /// The way to a state: its parent is among those that were expanded when it
    /// came.
    fn plan(&mut self, solved: usize) -> Plan {
        let mut plan = Plan::new();
        let mut number = solved as u32;
        let stride = self.layout.words();
        while number != 0 {
            let behind = self.batches.partition_point(|batch| batch.child <= number);
            let batch = self.batches[behind - 1];
            self.expand(batch);
            let mut found = None;
            let children = std::mem::take(&mut self.children.states);
            for (position, child) in children.chunks(stride).enumerate() {
                if self.states.find(child) == Some(number) {
                    found = Some(position);
                    break;
                }
            }
            self.children.states = children;
            let child = found.expect("the batch led to it before");
            plan.push(self.children.moves[child]);
            number = batch.first + self.children.parents[child];
        }
        plan.reverse();
        plan
    }

    fn memory(&self) -> u64 {
        self.states.memory() + (self.batches.capacity() * size_of::<Batch>()) as u64
    }
}
