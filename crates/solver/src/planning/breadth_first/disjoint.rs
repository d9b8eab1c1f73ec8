//! A test whether the levels are disjoint, so that no state is on two of them.
//!
//! If facts can be given weights such that every move, in every state, increases
//! the weighted sum of the facts that hold by one, then the sum determines the
//! number of moves made. Whether such weights exist is a system of linear
//! equations. It is solved modulo a prime larger than any number of moves, which
//! suffices.
//!
//! The mean of such weights over a group of symmetries has the same property and is
//! invariant under the group, so classes of states are on one level too. The mean
//! exists because the prime does not divide the order of any such group.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::planning::Puzzle;
use crate::planning::effects::{Effects, Sparse};
use crate::planning::expand::Layout;

const PRIME: u64 = (1 << 61) - 1;
/// Limit on the number of products.
const MOST_WORK: usize = 100_000_000;

/// True if keys of states at different depths always differ. False if this could
/// not be proved.
pub(super) fn is_disjoint(puzzle: &Puzzle, layout: &Layout) -> bool {
    let Some(effects) = Effects::of(puzzle) else {
        return false;
    };
    let mut column = FxHashMap::default();
    let in_key = layout.key_facts();
    for fact in (0..in_key.len()).filter(|&fact| in_key[fact] && effects.free[fact]) {
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
            // Facts that are not in the key have weight 0.
            if let Some(&column) = column.get(&fact) {
                row[column] = plus(row[column], residue(weight));
            }
        }
        row[width] = u64::from(one);
        system.add(row)
    };
    effects.moves.iter().flatten().all(|form| {
        // All options must have the same effect on the sum, so the first represents
        // them.
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

/// A consistent system of linear equations in echelon form.
struct System {
    width: usize,
    /// By pivot, the first column that is not 0; its coefficient is 1.
    rows: Vec<(usize, Vec<u64>)>,
    work: usize,
}

impl System {
    /// Adds an equation. Returns false if the system becomes inconsistent or the
    /// work limit is reached.
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
    // 2^61 is congruent to 1 modulo the prime.
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
        let game = Game::from_text("test.kif", rules).expect("the rules are valid");
        let (mut net, _) =
            Propnet::ground(&game, &GroundLimits::default()).expect("the puzzle is small");
        net.simplify();
        let start = pack(net.initial().iter().copied());
        let puzzle = Puzzle::new(net, start, Score::MAX).expect("the game has one role");
        let layout = Layout::new(&puzzle, Facts::Relevant);
        assert_eq!(is_disjoint(&puzzle, &layout), expected, "{rules}");
    }

    #[test]
    fn a_fact_deleted_by_each_move_counts_moves() {
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
    fn reversible_moves_have_no_counter() {
        let rules = "(role r) (init (at 1)) (next_to 1 2) (next_to 2 1) (next_to 2 3) (next_to 3 2)
            (<= (legal r (go ?y)) (true (at ?x)) (next_to ?x ?y))
            (<= (next (at ?y)) (does r (go ?y)))
            (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3)))";
        check(rules, false);
    }

    #[test]
    fn a_step_counter_counts_moves() {
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
