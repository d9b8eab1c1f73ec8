//! Lower bounds on the number of moves where moves flip facts.
//!
//! If every move either flips a fact or leaves it unchanged, whatever the state, then the
//! final value of the fact depends only on which moves are made an odd number of times. Each
//! plan therefore solves a system of linear equations over GF(2), and has at least as many
//! moves as the lightest solution has ones. All solutions are enumerated.

use ggp_gdl::counted::counted;
use std::collections::BTreeSet;

use super::{Doubt, Sums, Value};
use crate::{Failure, Limits};

/// The most free unknowns; each doubles the number of solutions.
const MOST_FREE: usize = 24;
/// The number of solutions between two looks at the clock.
const TOGETHER: u64 = 1 << 16;

impl Sums<'_> {
    /// Checks that a solution takes at least `moves` moves, according to these facts. Returns
    /// the fewest moves according to these facts.
    ///
    /// # Errors
    ///
    /// If a solution may take fewer moves, if a move flips one of the facts in some states
    /// only, or if there are too many solutions.
    pub fn needs(
        &self,
        facts: &[String],
        moves: u32,
        doubt: &mut Doubt<'_, '_>,
    ) -> Result<u32, Failure> {
        let ones: Vec<(String, i64)> = facts.iter().map(|fact| (fact.clone(), 1)).collect();
        let weights = self.weights(&ones)?;
        let facts = (0..weights.len()).filter(|&fact| weights[fact] != 0);
        let facts: Vec<usize> = facts.collect();
        // Moves that flip the same facts count as one.
        let mut flipped = BTreeSet::new();
        for chosen in 0..self.legal.len() {
            flipped.insert(self.flipped(chosen, &facts, doubt)?);
        }
        flipped.remove(&Vec::new());
        let mut fewest = u32::MAX;
        let mut is_known = true;
        for solution in &self.solutions {
            let mut system = System::new(flipped.len());
            for &fact in &facts {
                let value = self.now(fact, solution);
                is_known &= matches!(value, Value::Known(_));
                if let Value::Known(holds) = value {
                    let by = flipped.iter().enumerate();
                    let by = by.filter(|(_, flipped)| flipped.contains(&fact));
                    let differs = self.program.facts[fact].holds != holds;
                    system.add(by.map(|(number, _)| number), differs);
                }
            }
            if let Some(found) = system.lightest(self.question.limits)? {
                fewest = fewest.min(found);
            }
        }
        let why = || {
            let fewest = counted(fewest, "move");
            format!("by the facts that moves flip, {fewest} may be enough")
        };
        match fewest >= moves {
            true => Ok(fewest),
            false if is_known => Err(Failure::Wrong(why())),
            // The end may require more than is known here.
            false => Err(Failure::Unchecked(why())),
        }
    }

    /// The facts among these that a move flips; empty if it is never legal.
    fn flipped(
        &self,
        chosen: usize,
        facts: &[usize],
        doubt: &mut Doubt<'_, '_>,
    ) -> Result<Vec<usize>, Failure> {
        let Some((known, values)) = self.made(chosen)? else {
            return Ok(Vec::new());
        };
        let mut flipped = Vec::new();
        for &fact in facts {
            let next = self.next[fact];
            let next = values[next.node()].negated_if(next.is_negated());
            let flips = match (self.now(fact, &known), next) {
                (Value::Known(now), Value::Known(next)) => Some(now != next),
                (Value::Fact(now, one), Value::Fact(next, other)) if now == next => {
                    Some(one != other)
                }
                _ => doubt.flips(self.program, chosen, fact)?,
            };
            match flips {
                Some(true) => flipped.push(fact),
                Some(false) => {}
                None => {
                    let fact = self.question.text(self.program.facts[fact].term);
                    let by = self.text(chosen);
                    let why = format!("{by} may flip {fact}, and may leave it as it is");
                    return Err(Failure::Wrong(why));
                }
            }
        }
        Ok(flipped)
    }
}

/// Equations over GF(2): the sum of a row's unknowns is its last bit.
struct System {
    unknowns: usize,
    rows: Vec<Vec<u64>>,
}

fn bit(row: &[u64], at: usize) -> bool {
    row[at / 64] >> (at % 64) & 1 == 1
}

fn flip(row: &mut [u64], at: usize) {
    row[at / 64] ^= 1 << (at % 64);
}

fn add(row: &mut [u64], other: &[u64]) {
    for (word, other) in row.iter_mut().zip(other) {
        *word ^= other;
    }
}

impl System {
    fn new(unknowns: usize) -> System {
        System {
            unknowns,
            rows: Vec::new(),
        }
    }

    fn add(&mut self, unknowns: impl Iterator<Item = usize>, sum: bool) {
        let mut row = vec![0; self.unknowns / 64 + 1];
        unknowns.for_each(|unknown| flip(&mut row, unknown));
        if sum {
            flip(&mut row, self.unknowns);
        }
        self.rows.push(row);
    }

    /// The least number of ones in a solution; `None` if there is no solution.
    fn lightest(mut self, limits: &Limits) -> Result<Option<u32>, Failure> {
        let (rows, last) = (&mut self.rows, self.unknowns);
        // Gauss-Jordan: afterwards each of the first rows has an unknown of its own.
        let mut bound = Vec::new();
        let mut free = Vec::new();
        for unknown in 0..last {
            let rank = bound.len();
            match (rank..rows.len()).find(|&row| bit(&rows[row], unknown)) {
                None => free.push(unknown),
                Some(row) => {
                    rows.swap(rank, row);
                    let own = rows[rank].clone();
                    for (number, other) in rows.iter_mut().enumerate() {
                        if number != rank && bit(other, unknown) {
                            add(other, &own);
                        }
                    }
                    bound.push(unknown);
                }
            }
        }
        if rows[bound.len()..].iter().any(|row| bit(row, last)) {
            return Ok(None);
        }
        if free.len() > MOST_FREE {
            let free = free.len();
            let why = format!("2^{free} sets of moves would have to be checked");
            return Err(Failure::Unchecked(why));
        }
        // The bound unknowns whose row has this bit.
        let ones = |of: usize| -> Vec<u64> {
            let mut ones = vec![0; last / 64 + 1];
            let bound = bound.iter().zip(rows.iter());
            let with = bound.filter(|(_, row)| bit(row, of));
            with.for_each(|(&unknown, _)| flip(&mut ones, unknown));
            ones
        };
        let mut solution = ones(last);
        let changes = free.iter().map(|&unknown| {
            let mut change = ones(unknown);
            flip(&mut change, unknown);
            change
        });
        let changes: Vec<Vec<u64>> = changes.collect();
        let weight = |row: &[u64]| row.iter().map(|word| word.count_ones()).sum::<u32>();
        let mut fewest = weight(&solution);
        // In Gray code order: one change leads from each solution to the next.
        for number in 1..1_u64 << changes.len() {
            if number % TOGETHER == 0 && limits.is_over() {
                return Err(Failure::out_of_time());
            }
            add(&mut solution, &changes[number.trailing_zeros() as usize]);
            fewest = fewest.min(weight(&solution));
        }
        Ok(Some(fewest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lightest_of_all_solutions_is_found() {
        // Compares with all assignments of up to six unknowns.
        let mut state = 1_u64;
        let mut next = |end: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % end
        };
        let (mut none, mut some) = (0, 0);
        for _ in 0..500 {
            let unknowns = 1 + next(6);
            let equations: Vec<(u64, bool)> = (0..next(7))
                .map(|_| (next(1 << unknowns), next(2) == 1))
                .collect();
            let solves = |chosen: &u64| {
                let mut all = equations.iter();
                all.all(|(row, sum)| ((row & chosen).count_ones() % 2 == 1) == *sum)
            };
            let solutions = (0..1 << unknowns).filter(solves);
            let expected = solutions.map(u64::count_ones).min();
            let mut system = System::new(unknowns as usize);
            for &(row, sum) in &equations {
                system.add((0..unknowns as usize).filter(|&at| row >> at & 1 == 1), sum);
            }
            assert_eq!(
                system.lightest(&Limits::default()),
                Ok(expected),
                "{equations:?}"
            );
            match expected {
                None => none += 1,
                Some(_) => some += 1,
            }
        }
        assert!(none > 50 && some > 50, "{none} {some}");
    }
}
