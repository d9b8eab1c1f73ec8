//! A test whether two runs may be runs of the same game.
//!
//! In: two rows with the means of their playouts. Out: the means that differ by more than
//! chance allows.
//!
//! Source: Welch's comparison of two means of unequal variance. A sample in
//! which rare goals happen not to occur has too small a variance, so the
//! standard error is not taken smaller than that of the pooled variance.

use serde::{Deserialize, Serialize};

use super::Row;

/// Means at least this many standard errors apart belong to different games. By chance this
/// happens to one in three million normal means.
pub const MOST_STANDARD_ERRORS: f64 = 5.0;

/// With fewer playouts no conclusion is drawn.
const LEAST_PLAYOUTS: u64 = 30;

/// A mean and its sample.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Sample {
    /// Number of playouts.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one playout.
    pub deviation: f64,
}

/// Two means that cannot belong to the same game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Disagreement {
    /// The name of the mean: `length`, or `goal` and the role.
    pub of: String,
    /// The mean found.
    pub found: f64,
    /// The other mean.
    pub expected: f64,
    /// The source of the other mean.
    pub source: String,
    /// The distance of the means in standard errors; `None` if neither varies.
    pub standard_errors: Option<f64>,
}

impl std::fmt::Display for Disagreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Disagreement {
            of,
            found,
            expected,
            source,
            ..
        } = self;
        write!(f, "the mean {of} is {found:.4}, but {expected:.4} {source}")?;
        match self.standard_errors {
            Some(errors) => write!(f, "; {errors:.1} standard errors apart"),
            None => write!(f, "; neither varies"),
        }
    }
}

/// The distance of two means in standard errors: infinite if they differ and neither varies,
/// `None` if there are too few playouts.
pub fn standard_errors(left: Sample, right: Sample) -> Option<f64> {
    if left.count.min(right.count) < LEAST_PLAYOUTS {
        return None;
    }
    let (n, m) = (left.count as f64, right.count as f64);
    let (a, b) = (left.deviation.powi(2), right.deviation.powi(2));
    let welch = a / n + b / m;
    let pooled = ((n - 1.0) * a + (m - 1.0) * b) / (n + m - 2.0) * (1.0 / n + 1.0 / m);
    let apart = (left.mean - right.mean).abs();
    // Equal means may be rounded differently.
    if apart <= 1e-9 * left.mean.abs().max(1.0) {
        return Some(0.0);
    }
    Some(apart / welch.max(pooled).sqrt())
}

/// The means of a row that those of another contradict. `source` names the other row in
/// messages, as in `in FILE`. Playouts cut off at different depths are not compared.
pub fn disagreements(row: &Row, other: &Row, source: &str) -> Vec<Disagreement> {
    let is_cut_alike = row.depth == other.depth || row.cut + other.cut == 0;
    if row.playouts == 0 || other.playouts == 0 || !is_cut_alike {
        return Vec::new();
    }
    let mut pairs = vec![("length".to_owned(), length(row), length(other))];
    for role in 0..row.mean_goals.len().max(other.mean_goals.len()) {
        let name = row.roles.get(role).or(other.roles.get(role));
        let name = name.map_or(format!("goal of role {}", role + 1), |name| {
            format!("goal of {name}")
        });
        pairs.push((name, goal(row, role), goal(other, role)));
    }
    let mut found: Vec<Disagreement> = pairs
        .into_iter()
        .filter_map(|(of, left, right)| compare(of, left?, right?, source))
        .collect();
    let (roles, others) = (row.mean_goals.len(), other.mean_goals.len());
    if roles != others && others > 0 {
        found.push(Disagreement {
            of: "number of roles".to_owned(),
            found: roles as f64,
            expected: others as f64,
            source: source.to_owned(),
            standard_errors: None,
        });
    }
    found
}

fn compare(of: String, found: Sample, expected: Sample, source: &str) -> Option<Disagreement> {
    let apart = standard_errors(found, expected)?;
    (apart > MOST_STANDARD_ERRORS).then(|| Disagreement {
        of,
        found: found.mean,
        expected: expected.mean,
        source: source.to_owned(),
        standard_errors: apart.is_finite().then_some(apart),
    })
}

fn length(row: &Row) -> Option<Sample> {
    Some(Sample {
        count: row.playouts,
        mean: row.mean_length?,
        deviation: row.length_deviation?,
    })
}

fn goal(row: &Row, role: usize) -> Option<Sample> {
    Some(Sample {
        count: row.scored,
        mean: (*row.mean_goals.get(role)?)?,
        deviation: (*row.goal_deviations.get(role)?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: (u64, f64, f64), right: (u64, f64, f64), expected: Option<f64>) {
        let sample = |(count, mean, deviation)| Sample {
            count,
            mean,
            deviation,
        };
        for (a, b) in [(left, right), (right, left)] {
            let found = standard_errors(sample(a), sample(b));
            let is_close = match (found, expected) {
                (Some(found), Some(expected)) => {
                    found == expected || (found - expected).abs() < 1e-3
                }
                (found, expected) => found == expected,
            };
            assert!(is_close, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn the_distance_is_that_of_welchs_test() {
        check((100, 7.0, 2.0), (100, 7.0, 3.0), Some(0.0));
        check((400, 10.0, 4.0), (400, 11.0, 3.0), Some(4.0));
    }

    #[test]
    fn rare_goals_missing_in_one_sample_are_not_a_contradiction() {
        check((1000, 0.0, 0.0), (1_000_000, 0.01, 1.0), Some(0.316));
    }

    #[test]
    fn means_that_do_not_vary_must_be_equal() {
        check((50, 7.0, 0.0), (50, 7.0, 0.0), Some(0.0));
        check((50, 7.0, 0.0), (50, 9.0, 0.0), Some(f64::INFINITY));
    }

    #[test]
    fn few_playouts_give_no_distance() {
        check((29, 0.0, 0.0), (1000, 100.0, 0.0), None);
    }

    #[test]
    fn playouts_cut_at_different_depths_are_not_compared() {
        let row = |depth, cut| Row {
            playouts: 100,
            depth,
            cut,
            mean_length: Some(depth as f64),
            length_deviation: Some(0.0),
            ..Row::default()
        };
        assert_eq!(disagreements(&row(7, 0), &row(9, 3), "there"), []);
        assert_eq!(disagreements(&row(7, 0), &row(9, 0), "there").len(), 1);
    }

    #[test]
    fn goals_are_compared_role_by_role() {
        let row = |goal| Row {
            playouts: 100,
            scored: 100,
            roles: vec!["ann".into(), "bob".into()],
            mean_length: Some(4.0),
            length_deviation: Some(1.0),
            mean_goals: vec![Some(50.0), Some(goal)],
            goal_deviations: vec![Some(10.0), Some(10.0)],
            ..Row::default()
        };
        assert_eq!(disagreements(&row(50.0), &row(55.0), "there"), []);
        let found = disagreements(&row(50.0), &row(60.0), "there");
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected =
            "the mean goal of bob is 50.0000, but 60.0000 there; 7.1 standard errors apart";
        assert_eq!(texts, [expected]);
    }
}
