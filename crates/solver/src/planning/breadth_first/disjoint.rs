//! Whether no state can be on two levels.
//!
//! If there are weights of facts such that every move, whatever the state, makes
//! the sum of what holds larger by one, then the sum tells how many moves were
//! made. Whether there are any is a system of linear equations; it is solved
//! modulo a prime larger than any number of moves, which proves as much.
//!
//! The mean of such weights over some symmetries does the same and is the same for all
//! states of a class, so classes are on one level too: the prime divides the number of
//! no symmetries.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::planning::Puzzle;
use crate::planning::effects::{Effects, Sparse};
use crate::planning::expand::Layout;

const PRIME: u64 = (1 << 61) - 1;
/// Products, beyond which it takes too long.
const MOST_WORK: usize = 100_000_000;

/// Whether keys of states at different depths always differ. If it is not found
/// out, no.
pub(super) fn is_disjoint(puzzle: &Puzzle, layout: &Layout) -> bool {
    let Some(effects) = Effects::of(puzzle) else {
        return false;
    };
    let mut column = FxHashMap::default();
    let told = layout.key_facts();
    for fact in (0..told.len()).filter(|&fact| told[fact] && effects.free[fact]) {
        let next = column.len();
        column.insert(fact as u32, next);
    }
    let width = column.len();
    let mut system = System {
        width,
        rows: Vec::new(),
        work: 0,
    };
    let mut seen: FxHashSet<(Sparse, bool)> = FxHashSet::default();
    let mut add = |vector: Sparse, one: bool| {
        if !seen.insert((vector.clone(), one)) {
            return true;
        }
        let mut row = vec![0; width + 1];
        for (fact, weight) in vector {
            // What keys do not tell can have no weight.
            if let Some(&column) = column.get(&fact) {
                row[column] = plus(row[column], residue(weight));
            }
        }
        row[width] = u64::from(one);
        system.add(row)
    };
    effects.moves.iter().flatten().all(|form| {
        // A choice must not matter, so that the first will do.
        let firsts = form.choices.iter().flat_map(|options| &options[0]);
        let change = form.sure.iter().chain(firsts).copied().collect();
        let mut differences = form.choices.iter().flat_map(|options| {
            let first = &options[0];
            options[1..].iter().map(move |option| {
                let first = first.iter().map(|&(fact, weight)| (fact, -weight));
                option.iter().copied().chain(first).collect()
            })
        });
        add(change, true) && differences.all(|difference| add(difference, false))
    })
}

/// Equations that can all hold.
struct System {
    width: usize,
    /// By first column other than 0, which is 1.
    rows: Vec<(usize, Vec<u64>)>,
    work: usize,
}

impl System {
    /// Adds an equation; whether all can hold, as far as is found out.
    fn add(&mut self, mut row: Vec<u64>) -> bool {
        for (pivot, other) in &self.rows {
            if row[*pivot] != 0 {
                let factor = PRIME - row[*pivot];
                for (value, &other) in row.iter_mut().zip(other).skip(*pivot) {
                    *value = plus(*value, times(factor, other));
                }
                self.work += self.width;
            }
        }
        if self.work > MOST_WORK {
            return false;
        }
        let Some(pivot) = row.iter().position(|&value| value != 0) else {
            return true;
        };
        if pivot == self.width {
            return false;
        }
        let inverse = power(row[pivot], PRIME - 2);
        row.iter_mut()
            .for_each(|value| *value = times(*value, inverse));
        let at = self.rows.partition_point(|(other, _)| *other < pivot);
        self.rows.insert(at, (pivot, row));
        true
    }
}

fn residue(weight: i32) -> u64 {
    match u64::try_from(weight) {
        Ok(weight) => weight,
        Err(_) => PRIME - u64::from(weight.unsigned_abs()),
    }
}

fn plus(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2^61 is 1 more than the prime.
    plus(product as u64 & PRIME, (product >> 61) as u64)
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut product = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = times(product, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::expand::Facts;
    use ggp_engine::propnet::batch::pack;
    use ggp_engine::propnet::{GroundLimits, Propnet};
    use ggp_gdl::game::{Game, Score};

    fn check(rules: &str, expected: bool) {
        let game = Game::from_text("test.kif", rules).expect("the rules are right");
        let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
        net.simplify();
        let start = pack(net.initial().clone());
        let puzzle = Puzzle::new(net, start, Score::MAX).expect("it has one role");
        let layout = Layout::new(&puzzle, Facts::Relevant);
        assert_eq!(is_disjoint(&puzzle, &layout), expected, "{rules}");
    }

    #[test]
    fn what_each_move_takes_away_counts_moves() {
        let rules = "(role r) (thing 1) (thing 2) (thing 3)
            (<= (init (has ?x)) (thing ?x))
            (<= (legal r (drop ?x)) (true (has ?x)))
            (<= (next (has ?x)) (true (has ?x)) (not (does r (drop ?x))))
            (<= terminal (not some)) (<= some (true (has ?x)))
            (<= (goal r 100) (not some))";
        check(rules, true);
        // One more move that changes nothing.
        check(&format!("{rules} (legal r wait)"), false);
    }

    #[test]
    fn moves_that_can_be_taken_back_count_nothing() {
        let rules = "(role r) (init (at 1)) (beside 1 2) (beside 2 1) (beside 2 3) (beside 3 2)
            (<= (legal r (go ?y)) (true (at ?x)) (beside ?x ?y))
            (<= (next (at ?y)) (does r (go ?y)))
            (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3)))";
        check(rules, false);
    }

    #[test]
    fn a_counter_that_moves_read_counts_moves() {
        let rules = "(role r) (init (at 0)) (init (time 0))
            (after 0 1) (after 1 2) (after 2 3)
            (<= (legal r flip) (true (time ?t)) (after ?t ?u))
            (<= (legal r stay) (true (time 1)))
            (<= (next (time ?u)) (true (time ?t)) (after ?t ?u))
            (<= (next (at 1)) (does r flip) (true (at 0)))
            (<= (next (at 0)) (does r flip) (true (at 1)))
            (<= (next (at ?x)) (does r stay) (true (at ?x)))
            (<= terminal (true (time 3)))
            (<= (goal r 100) (true (at 1)))";
        check(rules, true);
    }
}
