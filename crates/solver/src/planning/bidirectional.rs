//! Breadth-first search from both ends, for puzzles whose moves can be undone.
//!
//! In: a puzzle whose moves are always legal. Out: a shortest plan, or the number of
//! moves that no plan can do with. The facts fall into parts such that a move changes
//! each part by the values of that part alone. If each move permutes the values of each
//! part, then each position has one predecessor by each move. The search goes on from
//! the start and back from all solutions until it meets a position from both sides. Each
//! time the smaller of the two outermost levels is expanded.
//!
//! Ends of the game are not looked at on the way. What is unreachable without them is
//! unreachable with them, and plans are played before they are returned.
//!
//! Source: Pohl, Bi-directional search (1971).

use super::expand::states::{Full, States};
use super::permutations::Permutations;
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_gdl::counted::counted;
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

/// Number of positions that are expanded together.
const TOGETHER: usize = 256;

/// Searches for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `n` of `stats` describes the step from plans of `n` moves to those of one more.
pub fn bidirectional(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let puzzle = &puzzle.until(budget.end());
    let Some(permutations) = Permutations::of(puzzle) else {
        return Outcome::Unknown;
    };
    let side = || Side {
        states: States::new(permutations.bits, budget.memory_bytes / 2),
        ends: Vec::new(),
    };
    let mut search = Search {
        puzzle,
        sides: [side(), side()],
        is_full: false,
        permutations,
    };
    let last = search.permutations.last;
    let mut meter = Meter::new(budget, stats, observer);
    let result = search.run(budget.depth, last, &mut meter);
    meter.ended(result).unwrap_or(Outcome::Unknown)
}

/// The positions found from one end.
struct Side {
    states: States,
    /// By distance from the end: the number of positions up to it.
    ends: Vec<usize>,
}

impl Side {
    /// The numbers of the positions at a distance.
    fn level(&self, distance: usize) -> std::ops::Range<usize> {
        let before = distance
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        before..self.ends[distance]
    }

    fn outermost(&self) -> std::ops::Range<usize> {
        self.level(self.ends.len() - 1)
    }
}

/// The sides of [`Search::sides`].
const FROM_START: usize = 0;
const FROM_SOLUTIONS: usize = 1;

struct Search<'p> {
    puzzle: &'p Puzzle,
    permutations: Permutations,
    sides: [Side; 2],
    /// True if a level did not fit into the memory, so that none is kept any more.
    is_full: bool,
}

impl Search<'_> {
    /// Searches for plans of at most `depth` moves; no play has more than `last`.
    fn run(&mut self, depth: u32, last: u32, meter: &mut Meter<'_>) -> Result<Outcome, BudgetKind> {
        let stride = self.permutations.stride;
        for (side, codes) in self.sides.iter_mut().zip(&self.permutations.ends) {
            let added = side.states.insert_all(codes, stride, |_, _, _| {});
            added.map_err(|Full| BudgetKind::Memory)?;
            side.ends.push(side.states.len());
        }
        let start = &self.permutations.ends[FROM_START];
        if self.sides[FROM_SOLUTIONS].states.find(start).is_some() {
            // Whether the start is a solution is for others to say.
            return Ok(Outcome::Unknown);
        }
        for moves in 0.. {
            if self.sides.iter().any(|side| side.outermost().is_empty()) {
                let [from, to] = [0, 1].map(|side| self.sides[side].states.len());
                return Ok(Outcome::Unsolvable(Reason::Refuted {
                    what: format!(
                        "{} from the start, {to} from the solutions",
                        counted(from, "position")
                    ),
                }));
            }
            if moves == last {
                return Ok(Outcome::Unsolvable(Reason::Over { moves }));
            }
            if moves == depth {
                return Ok(Outcome::NoPlanWithin(moves));
            }
            if self.is_full {
                return Err(BudgetKind::Memory);
            }
            meter.begin_level(moves, Compare::Key);
            let found = self.step(moves + 1 == depth.min(last), meter)?;
            meter.end_level();
            if let Some(plan) = found {
                return Ok(match self.puzzle.is_plan(&plan) {
                    true => Outcome::Solved {
                        plan,
                        optimal: true,
                    },
                    false => Outcome::Unknown,
                });
            }
            meter.refuted(moves + 1);
        }
        unreachable!("the number of moves has no end")
    }

    /// Expands the outermost level of the smaller side. Its children are not kept if they
    /// are the last or do not fit.
    fn step(&mut self, is_last: bool, meter: &mut Meter<'_>) -> Result<Option<Plan>, BudgetKind> {
        let sizes = self.sides.each_ref().map(|side| side.outermost().len());
        let chosen = match sizes[FROM_START] <= sizes[FROM_SOLUTIONS] {
            true => FROM_START,
            false => FROM_SOLUTIONS,
        };
        let outermost = self.sides[chosen].outermost();
        let kept = self.sides[chosen].states.len();
        let mut begin = outermost.start;
        if !is_last {
            while begin < outermost.end {
                let end = outermost.end.min(begin + TOGETHER);
                match self.expand(chosen, begin..end, true, meter)? {
                    Err(Full) => break,
                    Ok(Some(plan)) => return Ok(Some(plan)),
                    Ok(None) => begin = end,
                }
            }
            if begin == outermost.end {
                let side = &mut self.sides[chosen];
                side.ends.push(side.states.len());
                return Ok(None);
            }
            self.sides[chosen].states.truncate(kept);
            self.is_full = true;
        }
        while begin < outermost.end {
            let end = outermost.end.min(begin + TOGETHER);
            if let Ok(Some(plan)) = self.expand(chosen, begin..end, false, meter)? {
                return Ok(Some(plan));
            }
            begin = end;
        }
        Ok(None)
    }

    /// Expands positions of a side. Returns a plan if a child is on the other side.
    fn expand(
        &mut self,
        chosen: usize,
        numbers: std::ops::Range<usize>,
        is_kept: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Result<Option<Plan>, Full>, BudgetKind> {
        if numbers.len() as u64 > meter.nodes_left() {
            return Err(BudgetKind::Nodes);
        }
        let stride = self.permutations.stride;
        let tables = &self.permutations.moves[chosen];
        let mut parents = vec![0; numbers.len() * stride];
        for (number, parent) in numbers.zip(parents.chunks_mut(stride)) {
            self.sides[chosen].states.read(number, parent);
        }
        let mut children = Vec::with_capacity(parents.len() * tables.len());
        for parent in parents.chunks(stride) {
            for table in tables {
                self.permutations.apply(table, parent, &mut children);
            }
        }
        let (entries, bytes) = self.memory();
        let nodes = (parents.len() / stride) as u64;
        meter.spend(nodes, nodes * tables.len() as u64, entries, bytes)?;
        // The positions of the children in question.
        let mut sought: Vec<usize> = Vec::new();
        match is_kept {
            true => {
                let note = |child, _, is_new| {
                    if is_new {
                        sought.push(child);
                    }
                };
                let states = &mut self.sides[chosen].states;
                if let Err(full) = states.insert_all(&children, stride, note) {
                    return Ok(Err(full));
                }
                meter.level().counts.generated += sought.len() as u64;
            }
            false => sought.extend(0..children.len() / stride),
        }
        let code = |child: usize| &children[child * stride..][..stride];
        let codes: Vec<u64> = sought
            .iter()
            .flat_map(|&child| code(child))
            .copied()
            .collect();
        let (mut at, mut met) = (0, None);
        let other = &self.sides[1 - chosen];
        other.states.find_all(&codes, stride, |number| {
            if let (Some(_), None) = (number, met) {
                met = Some(sought[at]);
            }
            at += 1;
        });
        Ok(Ok(met.map(|child| {
            meter.level().counts.solutions += 1;
            let parent = &parents[child / tables.len() * stride..][..stride];
            let made = self.permutations.names[child % tables.len()];
            let (before, after) = match chosen {
                FROM_START => (parent, code(child)),
                _ => (code(child), parent),
            };
            let mut plan = self.way(FROM_START, before);
            plan.reverse();
            plan.push(made);
            plan.extend(self.way(FROM_SOLUTIONS, after));
            plan
        })))
    }

    /// The moves between a position of a side and the end of that side, from the position on.
    fn way(&self, side: usize, from: &[u64]) -> Plan {
        let Side { states, ends } = &self.sides[side];
        let distance = |code: &[u64]| {
            let number = states.find(code)? as usize;
            Some(ends.partition_point(|&end| end <= number))
        };
        let back = &self.permutations.moves[1 - side];
        let mut code = from.to_vec();
        let mut plan = Plan::new();
        let mut left = distance(&code).expect("it is a position of this side");
        while left > 0 {
            left -= 1;
            let mut nearer = back
                .iter()
                .zip(&self.permutations.names)
                .map(|(table, &name)| {
                    let mut next = Vec::with_capacity(code.len());
                    self.permutations.apply(table, &code, &mut next);
                    (next, name)
                });
            let found = nearer.find(|(next, _)| distance(next) == Some(left));
            let (next, name) = found.expect("it was found from a nearer one");
            code = next;
            plan.push(name);
        }
        plan
    }

    /// The number of positions kept, and the memory used, in bytes.
    fn memory(&self) -> (usize, u64) {
        let states = || self.sides.iter().map(|side| &side.states);
        let entries = states().map(States::len).sum();
        (entries, states().map(States::memory).sum())
    }
}

#[cfg(test)]
pub(in crate::planning) mod tests;
