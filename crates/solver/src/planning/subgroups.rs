//! Plans by way of smaller and smaller groups of moves, for puzzles whose moves permute the
//! values of parts.
//!
//! In: a puzzle whose moves are always legal. Out: a plan that need not be the shortest, unless
//! there is one stage, or the proof that no moves lead to a solution. Each sequence of moves is
//! an element of a group, and one element `g` takes a solution to the start. A chain of
//! subgroups, each with fewer moves and the last one without any, divides the way back into
//! stages: the moves of a group take `g` into the next group. A stage is a search from both ends
//! among the cosets of that subgroup, and few cosets are easily searched. Subgroups are those
//! that some of the moves and of their powers generate; the chain with the fewest expected moves
//! is taken.
//!
//! Source: Thistlethwaite's method of 1981, in Singmaster, Cubic Circular 1 (1981); Sims,
//! Computational methods in the study of permutation groups (1970).

mod chain;
mod cosets;
mod group;

use rustc_hash::FxHashSet;

use super::permutations::Permutations;
use super::{Outcome, Plan, Puzzle, Reason};
use chain::{Groups, Stage};
use ggp_search::{Budget, BudgetKind, Meter, Observer, Stats};
use group::{Group, Permutation, Work, identity, inverse, product};

/// Limits on the number of cosets of a stage, and on those that its search keeps. A search from
/// both ends meets after about the square root of all, if each move leads to new ones. Where it
/// does not meet in time, smaller stages are tried.
const COSETS: [f64; 4] = [1e11, 1e9, 1e7, 1e5];
const MOST_KEPT: usize = 1 << 21;
/// Limit on the number of points.
const MOST_POINTS: usize = 1 << 12;
/// Limit on the number of comparisons that show which parts are alike.
const MOST_COMPARISONS: usize = 1 << 26;
/// Limit on the number of images computed for the groups.
const MOST_IMAGES: usize = 1 << 28;
/// Limit on the number of solutions to which ways are searched.
const MOST_GOALS: usize = 4;

/// Searches for a plan of at most [`Budget::depth`] moves.
///
/// Level `n` of `stats` describes stage `n`.
pub fn subgroups(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let puzzle = &puzzle.until(budget.end());
    let Some(permutations) = Permutations::of(puzzle) else {
        return Outcome::Unknown;
    };
    let Some(moves) = Moves::of(&permutations, budget.memory_bytes) else {
        return Outcome::Unknown;
    };
    let most = budget.depth.min(permutations.last);
    let mut meter = Meter::new(budget, stats, observer);
    let result = moves.search(puzzle, most, &mut meter);
    meter.ended(result).unwrap_or(Outcome::Unknown)
}

/// The moves as permutations of points, which are the values of all parts.
struct Moves {
    points: usize,
    /// The moves and their powers, each one once.
    elements: Vec<Permutation>,
    /// By element: a move, and the number of times that it is made.
    words: Vec<(u32, u32)>,
    /// The points of the values at the start.
    start: Vec<u16>,
    /// The same for each solution.
    solutions: Vec<Vec<u16>>,
    /// Limit on the memory of a stage, in bytes.
    memory_bytes: u64,
}

impl Moves {
    /// None if there are too many points or elements.
    fn of(permutations: &Permutations, memory_bytes: u64) -> Option<Moves> {
        let (places, points) = places(permutations)?;
        let mut elements: Vec<Permutation> = Vec::new();
        let mut words = Vec::new();
        let mut known: FxHashSet<Permutation> = FxHashSet::default();
        let moves: Vec<(u32, Permutation)> = (permutations.names.iter())
            .map(|&name| {
                let mut images = identity(points);
                for (part, places) in permutations.parts.iter().zip(&places) {
                    for (&next, &place) in part.next[name as usize].iter().zip(places) {
                        images[place as usize] = places[next as usize];
                    }
                }
                (name, images)
            })
            .collect();
        // Few repetitions first.
        let mut powers: Vec<Permutation> = vec![identity(points); moves.len()];
        known.insert(identity(points));
        for times in 1.. {
            let before = elements.len();
            for ((name, images), power) in moves.iter().zip(&mut powers) {
                *power = product(images, power);
                if known.insert(power.clone()) {
                    elements.push(power.clone());
                    words.push((*name, times));
                }
            }
            if elements.len() > chain::MOST_ELEMENTS {
                return None;
            }
            if elements.len() == before {
                break;
            }
        }
        let code = |code: &[u64]| {
            let values = permutations.parts.iter().map(|part| part.value(code));
            let points = values.zip(&places).map(|(value, places)| places[value]);
            points.collect()
        };
        let [start, solutions] = &permutations.ends;
        Some(Moves {
            points,
            elements,
            words,
            start: code(start),
            solutions: solutions.chunks(permutations.stride).map(code).collect(),
            memory_bytes,
        })
    }

    /// Searches for a plan of at most `most` moves.
    fn search(
        &self,
        puzzle: &Puzzle,
        most: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome, BudgetKind> {
        let mut work = Work {
            products: MOST_IMAGES / self.points,
            kept: (self.memory_bytes / 8) as usize / (2 * self.points),
        };
        let all: Vec<&[u16]> = self.elements.iter().map(|element| &element[..]).collect();
        let Some(mut group) = Group::new(self.points, &self.start, &all, &mut work) else {
            return Ok(Outcome::Unknown);
        };
        let taken = |group: &Group| -> Vec<(&Vec<u16>, Permutation)> {
            let solutions = self.solutions.iter().take_while(|_| !puzzle.stop.is_over());
            let taking = solutions.filter_map(|solution| Some((solution, group.taking(solution)?)));
            taking.take(MOST_GOALS).collect()
        };
        let mut goals = taken(&group);
        if goals.is_empty() {
            if group.complete(&mut work).is_none() {
                return Ok(Outcome::Unknown);
            }
            goals = taken(&group);
        }
        if puzzle.stop.is_over() {
            return Ok(Outcome::Unknown);
        }
        if goals.is_empty() {
            return Ok(Outcome::Unsolvable(Reason::Refuted {
                what: format!(
                    "no element of the group of all moves leads to any solution of {}",
                    self.solutions.len()
                ),
            }));
        }
        work.products /= goals.len();
        let ways = goals.into_iter().map(|(goal, taking)| {
            let work = &mut Work { ..work };
            let groups = Groups::find(self, goal, COSETS[0].ln(), work, &puzzle.stop);
            (groups, inverse(&taking))
        });
        let ways: Vec<_> = ways.collect();
        let mut is_short = false;
        for cosets in COSETS {
            for (groups, element) in &ways {
                let work = &mut Work { ..work };
                let Some(stages) = groups.stages(cosets.ln(), work) else {
                    continue;
                };
                let plan = match self.plan(&stages, element.clone(), most, meter) {
                    // Smaller stages may fit.
                    Err(BudgetKind::Memory) => {
                        is_short = true;
                        continue;
                    }
                    plan => plan?,
                };
                let Some(plan) = plan.filter(|plan| puzzle.is_plan(plan)) else {
                    continue;
                };
                // A single search with each move counted once finds a shortest way.
                let is_move = |&element: &usize| self.words[element].1 == 1;
                let optimal = self.solutions.len() == 1
                    && stages.len() == 1
                    && stages[0].elements.iter().all(is_move);
                return Ok(Outcome::Solved { plan, optimal });
            }
        }
        match is_short {
            true => Err(BudgetKind::Memory),
            false => Ok(Outcome::Unknown),
        }
    }

    /// The moves that take an element, which leads from a solution to the start, to an element
    /// that leads from the solution to itself. None if they are more than `most`.
    fn plan(
        &self,
        stages: &[Stage],
        mut element: Permutation,
        most: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Plan>, BudgetKind> {
        let mut plan = Plan::new();
        for (stage, number) in stages.iter().zip(0..) {
            meter.begin_level(number, ggp_search::Compare::Key);
            let way = cosets::way(self, stage, &element, meter);
            meter.end_level();
            let Some(way) = way? else {
                return Ok(None);
            };
            for made in way {
                element = product(&self.elements[made], &element);
                let (name, times) = self.words[made];
                plan.extend((0..times).map(|_| name));
            }
            if plan.len() > most as usize {
                return Ok(None);
            }
        }
        Ok(Some(plan))
    }
}

/// By part and value: its point. Parts whose values are permuted alike share their points.
fn places(permutations: &Permutations) -> Option<(Vec<Vec<u16>>, usize)> {
    let next = |part: usize, name: u32| &permutations.parts[part].next[name as usize];
    let names = &permutations.names;
    let mut places: Vec<Vec<u16>> = Vec::new();
    let (mut points, mut work) = (0, 0);
    // The parts with points of their own.
    let mut firsts: Vec<usize> = Vec::new();
    for (number, part) in permutations.parts.iter().enumerate() {
        let size = part.values.len();
        let mut like = None;
        'first: for &first in &firsts {
            if permutations.parts[first].values.len() != size {
                continue;
            }
            for image in 0..size {
                work += size * names.len();
                if work > MOST_COMPARISONS {
                    break 'first;
                }
                let pairs = names
                    .iter()
                    .map(|&name| (next(number, name), next(first, name)));
                if let Some(images) = alike(size, image as u32, pairs) {
                    like = Some((first, images));
                    break 'first;
                }
            }
        }
        places.push(match like {
            Some((first, images)) => {
                let place = |&image: &u32| places[first][image as usize];
                images.iter().map(place).collect()
            }
            None => {
                firsts.push(number);
                points += size;
                if points > MOST_POINTS {
                    return None;
                }
                (points - size..points).map(|point| point as u16).collect()
            }
        });
    }
    Some((places, points))
}

/// By value of one part: the value of another part that moves permute in the same way, if the
/// first value of the one belongs to `image` of the other. `moves` has the next values of both.
fn alike<'v>(
    size: usize,
    image: u32,
    moves: impl Iterator<Item = (&'v Vec<u32>, &'v Vec<u32>)> + Clone,
) -> Option<Vec<u32>> {
    let mut images = vec![u32::MAX; size];
    images[0] = image;
    let mut known = vec![0];
    let mut next = 0;
    while next < known.len() {
        let value = known[next];
        for (one, other) in moves.clone() {
            let after = one[value] as usize;
            let expected = other[images[value] as usize];
            if images[after] == u32::MAX {
                images[after] = expected;
                known.push(after);
            } else if images[after] != expected {
                return None;
            }
        }
        next += 1;
    }
    let mut seen = vec![false; size];
    let differ = |&image: &u32| !std::mem::replace(&mut seen[image as usize], true);
    (known.len() == size && images.iter().all(differ)).then_some(images)
}

#[cfg(test)]
mod tests;
