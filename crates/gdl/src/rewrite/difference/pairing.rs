//! Which forms of one text became which of the other.

use ggp_stop::Stop;
use std::collections::BTreeMap;

use super::Form;
use super::literals::Match;
use crate::symbol::Case;

/// How much two forms must have in common to be one that changed.
const ENOUGH: f64 = 0.5;

/// How many of their words two forms must share to be looked at.
const LIKELY: f64 = 0.4;

/// Most pairs of forms that are looked at; of more, none are paired.
const MOST_PAIRS: usize = 250_000;

/// What became of forms.
#[derive(Default)]
pub(super) struct Pairs {
    pub changed: Vec<(usize, usize)>,
    pub removed: Vec<usize>,
    pub added: Vec<usize>,
}

/// Pairs forms so that they have as much as possible in common: those with heads of
/// one relation first, then all others.
pub(super) fn pairs(
    old: &[Form<'_>],
    new: &[Form<'_>],
    left: Vec<usize>,
    right: Vec<usize>,
    case: Case,
    stop: &Stop,
) -> Pairs {
    let mut groups: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for number in left {
        groups
            .entry(old[number].relation(case))
            .or_default()
            .0
            .push(number);
    }
    for number in right {
        groups
            .entry(new[number].relation(case))
            .or_default()
            .1
            .push(number);
    }
    let mut pairs = Pairs::default();
    let mut rest = (Vec::new(), Vec::new());
    for (left, right) in groups.into_values() {
        let (left, right) = pairs.pair(old, new, (left, right), case, stop);
        rest.0.extend(left);
        rest.1.extend(right);
    }
    let (mut removed, mut added) = pairs.pair(old, new, rest, case, stop);
    removed.sort_unstable();
    added.sort_unstable();
    Pairs {
        removed,
        added,
        ..pairs
    }
}

impl Pairs {
    /// Pairs some forms; the others come back.
    fn pair(
        &mut self,
        old: &[Form<'_>],
        new: &[Form<'_>],
        (left, right): (Vec<usize>, Vec<usize>),
        case: Case,
        stop: &Stop,
    ) -> (Vec<usize>, Vec<usize>) {
        if left.is_empty() || right.is_empty() || left.len() * right.len() > MOST_PAIRS {
            return (left, right);
        }
        let words = |forms: &[Form<'_>], numbers: &[usize]| -> Vec<Vec<String>> {
            numbers
                .iter()
                .map(|&number| forms[number].words(case))
                .collect()
        };
        let (of_left, of_right) = (words(old, &left), words(new, &right));
        let worth = |row: usize, column: usize| {
            if stop.is_over() || shared(&of_left[row], &of_right[column]) < LIKELY {
                return 0;
            }
            let found = Match::near(&old[left[row]], &new[right[column]], case);
            match found.similarity() {
                similarity if similarity < ENOUGH => 0,
                similarity => (similarity * 1e6) as i64,
            }
        };
        let columns = || 0..right.len();
        let worth: Vec<Vec<i64>> = (0..left.len())
            .map(|row| columns().map(|column| worth(row, column)).collect())
            .collect();
        let chosen = best_assignment(&worth);
        let mut taken = vec![false; right.len()];
        let mut alone = Vec::new();
        for (row, a) in left.into_iter().enumerate() {
            match chosen[row].filter(|&column| worth[row][column] > 0) {
                Some(column) => {
                    taken[column] = true;
                    self.changed.push((a, right[column]));
                }
                None => alone.push(a),
            }
        }
        let right = right.into_iter().zip(taken);
        let right = right.filter(|(_, taken)| !taken).map(|(b, _)| b);
        (alone, right.collect())
    }
}

/// The share of words, which are in order, that two forms have in common.
fn shared(left: &[String], right: &[String]) -> f64 {
    let (mut a, mut b, mut count) = (0, 0, 0);
    while a < left.len() && b < right.len() {
        match left[a].cmp(&right[b]) {
            std::cmp::Ordering::Less => a += 1,
            std::cmp::Ordering::Greater => b += 1,
            std::cmp::Ordering::Equal => (a, b, count) = (a + 1, b + 1, count + 1),
        }
    }
    f64::from(count) / left.len().max(right.len()) as f64
}

/// For each row a column of its own, so that the sum is the largest: the Hungarian
/// method, by potentials.
fn best_assignment(worth: &[Vec<i64>]) -> Vec<Option<usize>> {
    let (rows, columns) = (worth.len(), worth[0].len());
    if rows > columns {
        let turned: Vec<Vec<i64>> = (0..columns)
            .map(|column| worth.iter().map(|row| row[column]).collect())
            .collect();
        let mut chosen = vec![None; rows];
        for (column, row) in best_assignment(&turned).into_iter().enumerate() {
            if let Some(row) = row {
                chosen[row] = Some(column);
            }
        }
        return chosen;
    }
    // Row and column 0 stand for none; `owner` is the row of a column.
    let (mut of_row, mut of_column) = (vec![0; rows + 1], vec![0; columns + 1]);
    let mut owner = vec![0; columns + 1];
    for row in 1..=rows {
        owner[0] = row;
        let mut column = 0;
        let mut least = vec![i64::MAX; columns + 1];
        let mut from = vec![0; columns + 1];
        let mut seen = vec![false; columns + 1];
        while owner[column] != 0 {
            seen[column] = true;
            let (at, mut delta, mut next) = (owner[column], i64::MAX, 0);
            for other in (1..=columns).filter(|&other| !seen[other]) {
                let cost = -worth[at - 1][other - 1] - of_row[at] - of_column[other];
                if cost < least[other] {
                    (least[other], from[other]) = (cost, column);
                }
                if least[other] < delta {
                    (delta, next) = (least[other], other);
                }
            }
            for other in 0..=columns {
                if seen[other] {
                    of_row[owner[other]] += delta;
                    of_column[other] -= delta;
                } else if least[other] < i64::MAX {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            owner[column] = owner[from[column]];
            column = from[column];
        }
    }
    let mut chosen = vec![None; rows];
    for (column, &row) in owner.iter().enumerate().skip(1) {
        if row != 0 {
            chosen[row - 1] = Some(column - 1);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_assignment_is_worth_more() {
        let check = |worth: &[&[i64]], expected: &[Option<usize>]| {
            let worth: Vec<Vec<i64>> = worth.iter().map(|row| row.to_vec()).collect();
            assert_eq!(best_assignment(&worth), expected, "{worth:?}");
        };
        check(&[&[1]], &[Some(0)]);
        check(&[&[5, 4], &[5, 1]], &[Some(1), Some(0)]);
        check(&[&[5], &[7]], &[None, Some(0)]);
        check(&[&[1, 2, 3], &[3, 1, 9]], &[Some(1), Some(2)]);
        check(
            &[&[7, 5, 3], &[6, 1, 2], &[6, 2, 0]],
            &[Some(1), Some(2), Some(0)],
        );
    }
}
