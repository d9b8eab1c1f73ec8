//! Pairing of similar forms of two texts.

use ggp_stop::Stop;
use std::collections::BTreeMap;

use super::Form;
use super::literals::Match;
use crate::symbol::Case;

/// Minimum similarity of two forms that count as one changed form.
const MIN_SIMILARITY: f64 = 0.5;

/// Minimum share of common words of two forms that are compared.
const MIN_SHARED_WORDS: f64 = 0.4;

/// Maximum number of pairs of forms compared; if there are more, no forms are paired.
const MAX_PAIRS: usize = 250_000;

/// The paired and unpaired forms.
#[derive(Default)]
pub(super) struct Pairs {
    pub changed: Vec<(usize, usize)>,
    pub removed: Vec<usize>,
    pub added: Vec<usize>,
}

/// Pairs forms so that they are as similar as possible: first forms with heads of the
/// same relation, then all others.
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
    /// Pairs some forms and returns the others.
    fn pair(
        &mut self,
        old: &[Form<'_>],
        new: &[Form<'_>],
        (left, right): (Vec<usize>, Vec<usize>),
        case: Case,
        stop: &Stop,
    ) -> (Vec<usize>, Vec<usize>) {
        if left.is_empty() || right.is_empty() || left.len() * right.len() > MAX_PAIRS {
            return (left, right);
        }
        let words = |forms: &[Form<'_>], numbers: &[usize]| -> Vec<Vec<String>> {
            numbers
                .iter()
                .map(|&number| forms[number].words(case))
                .collect()
        };
        let (of_left, of_right) = (words(old, &left), words(new, &right));
        let values = |row: usize, column: usize| {
            if stop.is_over() || shared(&of_left[row], &of_right[column]) < MIN_SHARED_WORDS {
                return 0;
            }
            let found = Match::near(&old[left[row]], &new[right[column]], case);
            match found.similarity() {
                similarity if similarity < MIN_SIMILARITY => 0,
                similarity => (similarity * 1e6) as i64,
            }
        };
        let columns = || 0..right.len();
        let values: Vec<Vec<i64>> = (0..left.len())
            .map(|row| columns().map(|column| values(row, column)).collect())
            .collect();
        let chosen = best_assignment(&values);
        let mut taken = vec![false; right.len()];
        let mut alone = Vec::new();
        for (row, a) in left.into_iter().enumerate() {
            match chosen[row].filter(|&column| values[row][column] > 0) {
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

/// The share of common words of two forms; both lists are sorted.
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

/// Assigns a different column to each row, so that the sum of values is maximal: the
/// Hungarian method, with potentials.
fn best_assignment(values: &[Vec<i64>]) -> Vec<Option<usize>> {
    let (rows, columns) = (values.len(), values[0].len());
    if rows > columns {
        let turned: Vec<Vec<i64>> = (0..columns)
            .map(|column| values.iter().map(|row| row[column]).collect())
            .collect();
        let mut chosen = vec![None; rows];
        for (column, row) in best_assignment(&turned).into_iter().enumerate() {
            if let Some(row) = row {
                chosen[row] = Some(column);
            }
        }
        return chosen;
    }
    // Row and column 0 are sentinels; `owner` is the row of a column.
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
                let cost = -values[at - 1][other - 1] - of_row[at] - of_column[other];
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
    fn the_assignment_has_the_maximal_value() {
        let check = |values: &[&[i64]], expected: &[Option<usize>]| {
            let values: Vec<Vec<i64>> = values.iter().map(|row| row.to_vec()).collect();
            assert_eq!(best_assignment(&values), expected, "{values:?}");
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
