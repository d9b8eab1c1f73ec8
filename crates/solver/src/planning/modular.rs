//! Puzzles whose moves turn things on by fixed amounts, whatever the state: dials, lamps of several colours,
//! things that are one of two facts.
//!
//! In: the effects of moves. Out: a plan, which need not be a shortest one. Facts that moves exchange for each
//! other are the values of one variable. If each move turns a variable on along one and the same cycle, only
//! the number of times counts that a move is made: a linear system modulo the lengths of the cycles. It is
//! brought to Smith's normal form; what may be added to a solution is tried for a shorter one. Nothing is
//! claimed that the network does not confirm: the plan is played on it.
//!
//! Source: Anderson, Feil, Turning Lights Out with Linear Algebra, Mathematics Magazine 71 (4), 1998, here
//! modulo any number; Cohen, A Course in Computational Algebraic Number Theory, 1993, section 2.4 (normal form).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{Effects, Form};
use super::linear::in_order;
use super::{Outcome, Plan, Puzzle};
use ggp_engine::propnet::batch::holds;
use ggp_stop::Stop;

/// The largest modulus.
const MOST_MODULUS: u32 = 1 << 15;
/// The most entries of the matrices.
const MOST_ENTRIES: usize = 4_000_000;
/// The most moves of a plan.
const MOST_MOVES: u64 = 10_000;
/// The most sums of vectors that are tried for a shorter plan.
const MOST_SUMS: usize = 1 << 16;

/// A value of a variable: one of its facts, or none of them.
type Value = Option<u32>;

/// Facts of which moves turn one into the next.
struct Cycle {
    /// By value: its place on the cycle.
    places: FxHashMap<Value, u32>,
    length: u32,
    /// By move that turns the variable on: by how much.
    shifts: BTreeMap<u32, u32>,
}

/// A plan by linear equations, or nothing.
pub fn solve(puzzle: &Puzzle, effects: &Effects) -> Outcome {
    let cycles = cycles(puzzle, effects);
    let modulus = cycles.iter().try_fold(1, |modulus, cycle| {
        let is_short = cycle.length <= MOST_MODULUS;
        let all = is_short.then(|| lcm(modulus, cycle.length))?;
        (all <= MOST_MODULUS).then_some(all)
    });
    let (Some(modulus), false) = (modulus, cycles.is_empty()) else {
        return Outcome::Unknown;
    };
    // By the shifts of variables: the first move that has them.
    let mut by_move: BTreeMap<u32, Vec<(usize, u32)>> = BTreeMap::new();
    for (variable, cycle) in cycles.iter().enumerate() {
        for (chosen, shift) in &cycle.shifts {
            by_move.entry(*chosen).or_default().push((variable, *shift));
        }
    }
    let mut by_shifts: BTreeMap<Vec<(usize, u32)>, u32> = BTreeMap::new();
    for (chosen, shifts) in by_move {
        by_shifts.entry(shifts).or_insert(chosen);
    }
    let moves: Vec<(u32, Vec<(usize, u32)>)> = by_shifts
        .into_iter()
        .map(|(shifts, chosen)| (chosen, shifts))
        .collect();
    if moves.len() * (moves.len() + cycles.len()) > MOST_ENTRIES {
        return Outcome::Unknown;
    }
    let mut best: Option<Plan> = None;
    for solution in &effects.solutions {
        // An equation modulo a part of the modulus is one modulo the whole, times the rest.
        let mut rows = vec![vec![0; moves.len() + 1]; cycles.len()];
        let Some(targets) = targets(&cycles, solution) else {
            continue;
        };
        let factor = |variable: usize| modulus / cycles[variable].length;
        for (column, (_, shifts)) in moves.iter().enumerate() {
            for (variable, shift) in shifts {
                rows[*variable][column] = shift * factor(*variable);
            }
        }
        for (variable, target) in targets.iter().enumerate() {
            match target {
                Some(target) => rows[variable][moves.len()] = target * factor(variable),
                None => rows[variable].fill(0),
            }
        }
        let Some((counts, kernel)) = smith(rows, moves.len(), modulus, &puzzle.stop) else {
            continue;
        };
        // Made as often as this, a move changes nothing.
        let orders = moves.iter().map(|(_, shifts)| {
            let of_shift = shifts.iter().map(|(variable, shift)| {
                let length = cycles[*variable].length;
                length / gcd(length, *shift)
            });
            of_shift.fold(1, lcm)
        });
        let orders: Vec<u32> = orders.collect();
        let counts = shortest(counts, &kernel, &orders, &puzzle.stop);
        if counts.iter().map(|count| u64::from(*count)).sum::<u64>() > MOST_MOVES {
            continue;
        }
        let plan = counts.iter().zip(&moves);
        let plan = plan.flat_map(|(count, (chosen, _))| vec![*chosen; *count as usize]);
        let plan: Plan = plan.collect();
        if best.as_ref().is_none_or(|best| plan.len() < best.len()) {
            best = Some(plan);
        }
    }
    match best.and_then(|plan| in_order(puzzle, plan)) {
        Some(plan) => Outcome::Solved {
            plan,
            optimal: false,
        },
        None => Outcome::Unknown,
    }
}

/// The variables that every move turns along one cycle.
fn cycles(puzzle: &Puzzle, effects: &Effects) -> Vec<Cycle> {
    // By fact: another one of the same variable, or itself.
    let mut leaders: Vec<u32> = (0..effects.free.len() as u32).collect();
    let find = |leaders: &mut Vec<u32>, mut fact: u32| {
        while leaders[fact as usize] != fact {
            leaders[fact as usize] = leaders[leaders[fact as usize] as usize];
            fact = leaders[fact as usize];
        }
        fact
    };
    // The values that a vector leads from and to; none if it is no step of a variable.
    let step = |vector: &[(u32, i32)]| -> Option<(Value, Value)> {
        match vector {
            [(fact, 1)] => Some((None, Some(*fact))),
            [(fact, -1)] => Some((Some(*fact), None)),
            [(from, -1), (to, 1)] | [(to, 1), (from, -1)] => Some((Some(*from), Some(*to))),
            _ => None,
        }
    };
    let forms = || effects.moves.iter().zip(0_u32..);
    let forms = || forms().filter_map(|(form, chosen)| Some((form.as_ref()?, chosen)));
    let vectors = |form: &Form| form.choices.iter().flatten().cloned().collect::<Vec<_>>();
    for (form, _) in forms() {
        if puzzle.stop.is_over() {
            return Vec::new();
        }
        for vector in vectors(form) {
            for pair in vector.windows(2) {
                let pair = [pair[0].0, pair[1].0].map(|fact| find(&mut leaders, fact));
                leaders[pair[0] as usize] = pair[1];
            }
        }
    }
    // By variable and move: the next value of each value that changes; none if that is not all.
    let mut maps: BTreeMap<u32, BTreeMap<u32, Option<FxHashMap<Value, Value>>>> = BTreeMap::new();
    for (form, chosen) in forms() {
        if puzzle.stop.is_over() {
            return Vec::new();
        }
        for vector in vectors(form) {
            let Some((fact, _)) = vector.first() else {
                continue;
            };
            let of_variable = maps.entry(find(&mut leaders, *fact)).or_default();
            let map = of_variable
                .entry(chosen)
                .or_insert_with(|| Some(FxHashMap::default()));
            let known = map.as_mut().zip(step(&vector));
            let is_new = known.is_some_and(|(map, (from, to))| map.insert(from, to).is_none());
            if !is_new {
                *map = None;
            }
        }
        for (fact, _) in &form.sure {
            let of_variable = maps.entry(find(&mut leaders, *fact)).or_default();
            of_variable.insert(chosen, None);
        }
    }
    let mut started: FxHashMap<u32, u32> = FxHashMap::default();
    for fact in 0..leaders.len() as u32 {
        if holds(&puzzle.start, fact as usize) {
            started.insert(find(&mut leaders, fact), fact);
        }
    }
    let cycles = maps.into_iter().filter_map(|(variable, maps)| {
        let maps = maps.into_iter().map(|(chosen, map)| Some((chosen, map?)));
        let maps: Vec<(u32, FxHashMap<Value, Value>)> = maps.collect::<Option<_>>()?;
        Cycle::new(&maps, started.get(&variable).copied())
    });
    cycles.collect()
}

impl Cycle {
    /// The cycle from a value on along which all of the moves lead.
    fn new(maps: &[(u32, FxHashMap<Value, Value>)], start: Value) -> Option<Cycle> {
        let next = |map: &FxHashMap<Value, Value>, value| map.get(&value).copied().unwrap_or(value);
        let around = |map: &FxHashMap<Value, Value>| {
            let mut order = vec![start];
            let mut value = next(map, start);
            while value != start && order.len() <= map.len() {
                order.push(value);
                value = next(map, value);
            }
            order
        };
        let order = maps
            .iter()
            .map(|(_, map)| around(map))
            .max_by_key(Vec::len)?;
        let length = order.len() as u32;
        let places: FxHashMap<Value, u32> = order.iter().copied().zip(0..).collect();
        let shift = |map: &FxHashMap<Value, Value>| {
            let shift = *places.get(&next(map, start))?;
            let mut values = order.iter().zip(0..);
            let is_shift = values.all(|(value, place)| {
                places.get(&next(map, *value)) == Some(&((place + shift) % length))
            });
            is_shift.then_some(shift)
        };
        let shifts = maps
            .iter()
            .map(|(chosen, map)| Some((*chosen, shift(map)?)));
        let mut shifts: BTreeMap<u32, u32> = shifts.collect::<Option<_>>()?;
        shifts.retain(|_, shift| *shift != 0);
        (length > 1).then_some(Cycle {
            places,
            length,
            shifts,
        })
    }
}

/// By variable: the place of its value in a solution, if it is known. `None` if it cannot be there.
fn targets(cycles: &[Cycle], solution: &Form) -> Option<Vec<Option<u32>>> {
    let held: FxHashSet<u32> = solution.sure.iter().map(|(fact, _)| *fact).collect();
    let loose = solution.choices.iter().flatten().flatten();
    let loose: FxHashSet<u32> = loose.map(|(fact, _)| *fact).collect();
    let of_cycle = |cycle: &Cycle| {
        let facts = || cycle.places.keys().flatten();
        let is_held = facts().any(|fact| held.contains(fact));
        let may_have = |value: &Value| match value {
            Some(fact) if is_held => held.contains(fact),
            Some(fact) => loose.contains(fact),
            None => !is_held,
        };
        let mut values = cycle.places.iter().filter(|(value, _)| may_have(value));
        let (_, place) = values.next()?;
        Some(values.next().is_none().then_some(*place))
    };
    cycles.iter().map(of_cycle).collect()
}

/// A solution of linear equations, each with its right side at the end, and vectors of which all sums may be
/// added to it. `None` if there is no solution, or after the stop.
fn smith(
    mut rows: Vec<Vec<u32>>,
    unknowns: usize,
    modulus: u32,
    stop: &Stop,
) -> Option<(Vec<u32>, Vec<Vec<u32>>)> {
    // By column: the multiples of unknowns that it stands for.
    let mut stands: Vec<Vec<u32>> = (0..unknowns)
        .map(|unknown| {
            (0..unknowns)
                .map(|other| u32::from(other == unknown))
                .collect()
        })
        .collect();
    let mut counts = vec![0; unknowns];
    let mut kernel = Vec::new();
    let mut rank = 0;
    while rank < unknowns {
        // The entry that divides most.
        let entries = rows
            .iter()
            .enumerate()
            .skip(rank)
            .flat_map(|(row, entries)| {
                let entries = entries[..unknowns].iter().enumerate().skip(rank);
                let entries = entries.filter(|(_, entry)| **entry != 0);
                entries.map(move |(column, entry)| (gcd(*entry, modulus), row, column))
            });
        let mut least = None;
        for entry in entries {
            if least.is_none_or(|least| entry < least) {
                least = Some(entry);
            }
            if entry.0 == 1 {
                break;
            }
        }
        let Some((divisor, row, column)) = least else {
            break;
        };
        rows.swap(rank, row);
        for entries in &mut rows {
            entries.swap(rank, column);
        }
        stands.swap(rank, column);
        // A unit makes the entry the divisor that it has in common with the modulus.
        let unit = (1..modulus).find(|unit| {
            gcd(*unit, modulus) == 1 && product(rows[rank][rank], *unit, modulus) == divisor
        });
        let unit = unit.unwrap_or(1);
        for entry in &mut rows[rank] {
            *entry = product(*entry, unit, modulus);
        }
        let pivot = rows[rank].clone();
        let mut is_alone = true;
        for (other, entries) in rows.iter_mut().enumerate() {
            if other % LOOK == 0 && stop.is_over() {
                return None;
            }
            if other != rank && entries[rank] != 0 {
                let times = entries[rank] / divisor;
                subtract(entries, &pivot, times, modulus);
                // A smaller entry is left where the divisor does not divide it.
                is_alone &= entries[rank] == 0;
            }
        }
        for column in rank + 1..unknowns {
            if column % LOOK == 0 && stop.is_over() {
                return None;
            }
            let times = pivot[column] / divisor;
            if times == 0 {
                is_alone &= pivot[column] == 0;
                continue;
            }
            for entries in &mut rows {
                let taken = product(entries[rank], times, modulus);
                entries[column] = (entries[column] + modulus - taken) % modulus;
            }
            is_alone &= rows[rank][column] == 0;
            let (first, rest) = stands.split_at_mut(column);
            subtract(&mut rest[0], &first[rank], times, modulus);
        }
        if is_alone {
            let right = rows[rank][unknowns];
            if !right.is_multiple_of(divisor) {
                return None;
            }
            let stand = &stands[rank];
            subtract(&mut counts, stand, modulus - right / divisor, modulus);
            if divisor > 1 {
                let times = |one: &u32| product(*one, modulus / divisor, modulus);
                kernel.push(stand.iter().map(times).collect());
            }
            rank += 1;
        }
    }
    if rows[rank.min(rows.len())..]
        .iter()
        .any(|row| row[unknowns] != 0)
    {
        return None;
    }
    kernel.extend(stands.drain(rank..));
    Some((counts, kernel))
}

/// The number of rows and columns between two looks at the stop.
const LOOK: usize = 16;

/// Counts with the least sum that is found among those plus sums of vectors, each below its order.
fn shortest(counts: Vec<u32>, kernel: &[Vec<u32>], orders: &[u32], stop: &Stop) -> Vec<u32> {
    let reduced = |counts: &[u32]| -> Vec<u32> {
        let pairs = counts.iter().zip(orders);
        pairs.map(|(count, order)| count % order).collect()
    };
    let length = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    let modulus = orders.iter().copied().fold(1, lcm);
    let mut best = reduced(&counts);
    // Each vector is added as often as makes the sum smaller, until none does.
    let mut tried = 0;
    loop {
        let before = length(&best);
        for vector in kernel {
            let mut sum = best.clone();
            for _ in 1..modulus {
                tried += 1;
                if tried > MOST_SUMS || stop.is_over() {
                    return best;
                }
                let pairs = sum.iter().zip(vector).zip(orders);
                sum = pairs.map(|((a, b), order)| (a + b) % order).collect();
                if length(&sum) < length(&best) {
                    best.clone_from(&sum);
                }
            }
        }
        if length(&best) == before {
            return best;
        }
    }
}

/// Subtracts a vector some times, modulo a number.
fn subtract(from: &mut [u32], vector: &[u32], times: u32, modulus: u32) {
    for (entry, other) in from.iter_mut().zip(vector) {
        *entry = (*entry + modulus - product(*other, times, modulus)) % modulus;
    }
}

/// The product of two numbers below 2^15 or equal to it, modulo a third.
fn product(a: u32, b: u32, modulus: u32) -> u32 {
    a * b % modulus
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u32, b: u32) -> u32 {
    a / gcd(a, b) * b
}
