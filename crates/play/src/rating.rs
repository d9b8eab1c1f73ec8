//! Ratings of players from the results of their matches.
//!
//! In: comparisons of two players. Out: Elo ratings with their uncertainty, and
//! Glicko-2 ratings.
//!
//! Source: R. A. Bradley and M. E. Terry, Rank analysis of incomplete block
//! designs (1952); D. R. Hunter, MM algorithms for generalized Bradley-Terry
//! models (2004); M. E. Glickman, Example of the Glicko-2
//! system (2013).

use std::cmp::Ordering;

use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2_rating_period};

/// The result of a meeting of two players.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The numbers of the players.
    pub players: [usize; 2],
    /// The share of the point that the first player got, 0 to 1.
    pub share: f64,
    /// The weight of the result.
    pub weight: f64,
}

/// The comparisons of a match of several players: every two of them. `scored` has their numbers and
/// scores, and `share` is that of the first of two scores.
pub fn comparisons(scored: &[(usize, u8)], share: impl Fn(u8, u8) -> f64) -> Vec<Comparison> {
    let mut found = Vec::new();
    for (place, &(a, mine)) in scored.iter().enumerate() {
        for &(b, theirs) in scored[place + 1..].iter().filter(|(b, _)| *b != a) {
            found.push(Comparison {
                players: [a, b],
                share: share(mine, theirs),
                // Comparisons of one match depend on each other.
                weight: 1.0 / (scored.len() - 1) as f64,
            });
        }
    }
    found
}

/// The share of who has a higher score than the other: 1, or 1/2 if the scores are equal.
pub fn share_of_result(mine: u8, theirs: u8) -> f64 {
    match mine.cmp(&theirs) {
        Ordering::Greater => 1.0,
        Ordering::Equal => 0.5,
        Ordering::Less => 0.0,
    }
}

/// An estimate of a player's strength.
#[derive(Copy, Clone, PartialEq, Debug, serde::Serialize)]
pub struct Rating {
    /// The estimate.
    pub rating: f64,
    /// Half the width of the 95% confidence interval.
    pub margin: f64,
}

/// The rating points of one unit of log-odds.
const SCALE: f64 = 400.0 / std::f64::consts::LN_10;
/// The standard deviation of the prior in points. It keeps the ratings of players that always
/// win finite.
const PRIOR: f64 = 1000.0;
/// The number of standard deviations on both sides that contain 95% of a normal distribution.
const TWO_SIDED: f64 = 1.96;

/// Maximum-likelihood ratings of the Bradley-Terry model: of two players 400 points apart,
/// the stronger is expected to get ten times as many points. The mean rating of the first
/// `middle` players is 0.
///
/// The margins are those of the ratings relative to that mean, from the curvature at the
/// maximum. They assume that all results are wins or losses; draws make them too wide.
pub fn elo(players: usize, comparisons: &[Comparison], middle: usize) -> Vec<Rating> {
    let precision = (SCALE / PRIOR).powi(2);
    let mut strength = vec![0.0; players];
    let mut inverse = Vec::new();
    // Newton's method with bounded steps; the likelihood is concave.
    for _ in 0..200 {
        let mut slope: Vec<f64> = strength.iter().map(|value| -precision * value).collect();
        let mut curvature = vec![vec![0.0; players]; players];
        for (player, row) in curvature.iter_mut().enumerate() {
            row[player] = precision;
        }
        for Comparison {
            players: [a, b],
            share,
            weight,
        } in comparisons.iter().copied()
        {
            let expected = 1.0 / (1.0 + (strength[b] - strength[a]).exp());
            let surprise = weight * (share - expected);
            let information = weight * expected * (1.0 - expected);
            slope[a] += surprise;
            slope[b] -= surprise;
            curvature[a][a] += information;
            curvature[b][b] += information;
            curvature[a][b] -= information;
            curvature[b][a] -= information;
        }
        inverse = inverted(curvature);
        let step = |row: &Vec<f64>| row.iter().zip(&slope).map(|(a, b)| a * b).sum::<f64>();
        let steps: Vec<f64> = inverse.iter().map(step).collect();
        let longest = steps
            .iter()
            .fold(0.0, |most: f64, step| most.max(step.abs()));
        for (value, step) in strength.iter_mut().zip(&steps) {
            *value += step / longest.max(1.0);
        }
        if longest < 1e-9 {
            break;
        }
    }
    let mean = |values: &[f64]| values[..middle].iter().sum::<f64>() / middle as f64;
    let among: Vec<f64> = inverse.iter().map(|row| mean(row)).collect();
    let rate = |player: usize| {
        let variance = inverse[player][player] - 2.0 * among[player] + mean(&among);
        Rating {
            rating: SCALE * (strength[player] - mean(&strength)),
            margin: SCALE * TWO_SIDED * variance.max(0.0).sqrt(),
        }
    };
    (0..players).map(rate).collect()
}

/// The inverse of a positive definite matrix, by elimination.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for (index, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|column| f64::from(u8::from(column == index))));
    }
    for pivot in 0..size {
        let lead = matrix[pivot][pivot];
        matrix[pivot].iter_mut().for_each(|value| *value /= lead);
        let row = matrix[pivot].clone();
        for (index, other) in matrix.iter_mut().enumerate() {
            let factor = other[pivot];
            if index != pivot {
                other
                    .iter_mut()
                    .zip(&row)
                    .for_each(|(a, b)| *a -= factor * b);
            }
        }
    }
    matrix.into_iter().map(|row| row[size..].to_vec()).collect()
}

/// Glicko-2 ratings after periods of comparisons, starting from 1500. Shares above and below
/// one half are wins and losses; weights are ignored.
pub fn glicko2(players: usize, periods: &[Vec<Comparison>]) -> Vec<Rating> {
    let mut ratings = vec![Glicko2Rating::new(); players];
    for period in periods {
        let mut results: Vec<Vec<(Glicko2Rating, Outcomes)>> = vec![Vec::new(); players];
        for Comparison {
            players: [a, b],
            share,
            ..
        } in period
        {
            results[*a].push((ratings[*b], outcome(*share)));
            results[*b].push((ratings[*a], outcome(1.0 - *share)));
        }
        let config = Glicko2Config::new();
        let rate = |(rating, results): (&Glicko2Rating, &Vec<_>)| {
            glicko2_rating_period(rating, results, &config)
        };
        ratings = ratings.iter().zip(&results).map(rate).collect();
    }
    let rating = |found: Glicko2Rating| Rating {
        rating: found.rating,
        margin: TWO_SIDED * found.deviation,
    };
    ratings.into_iter().map(rating).collect()
}

fn outcome(share: f64) -> Outcomes {
    match share {
        share if share > 0.5 => Outcomes::WIN,
        share if share < 0.5 => Outcomes::LOSS,
        _ => Outcomes::DRAW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(a: usize, b: usize, share: f64, times: usize) -> Vec<Comparison> {
        let once = Comparison {
            players: [a, b],
            share,
            weight: 1.0,
        };
        vec![once; times]
    }

    #[test]
    fn two_players_are_as_far_apart_as_their_results() {
        // 3 to 1 is 400 * log10(3) = 190.8 points; the information of 400 matches at
        // 0.75 is 75, so their difference has a margin of 1.96 * 173.7 / sqrt(75) = 39.3.
        let results = [met(0, 1, 1.0, 300), met(0, 1, 0.0, 100)].concat();
        let found = elo(2, &results, 2);
        let apart = found[0].rating - found[1].rating;
        assert!((apart - 190.8).abs() < 0.2, "{apart}");
        assert!((found[0].margin - 39.3 / 2.0).abs() < 0.1, "{found:?}");
        assert!((found[0].rating + found[1].rating).abs() < 1e-6);
        let draws = elo(2, &met(0, 1, 0.5, 10), 2);
        assert!(draws[0].rating.abs() < 1e-6, "{draws:?}");
    }

    #[test]
    fn a_player_that_always_wins_has_a_finite_rating_with_a_wide_margin() {
        let few = elo(2, &met(0, 1, 1.0, 5), 2);
        let many = elo(2, &met(0, 1, 1.0, 500), 2);
        assert!(few[0].rating > 100.0 && many[0].rating > few[0].rating);
        assert!(
            many[0].rating < 2000.0 && few[0].margin > 200.0,
            "{few:?} {many:?}"
        );
    }

    #[test]
    fn ratings_are_transitive_over_common_opponents() {
        let results = [
            met(0, 1, 1.0, 75),
            met(0, 1, 0.0, 25),
            met(1, 2, 1.0, 75),
            met(1, 2, 0.0, 25),
        ];
        let found = elo(3, &results.concat(), 3);
        let apart = found[0].rating - found[2].rating;
        assert!((apart - 2.0 * 190.8).abs() < 1.0, "{apart}");
    }

    #[test]
    fn glicko_orders_players_and_more_results_narrow_the_margin() {
        let period = [met(0, 1, 1.0, 8), met(1, 0, 1.0, 2)].concat();
        let once = glicko2(2, std::slice::from_ref(&period));
        let twice = glicko2(2, &[period.clone(), period]);
        assert!(once[0].rating > 1500.0 && once[1].rating < 1500.0);
        assert!(twice[0].margin < once[0].margin && once[0].margin < 1.96 * 350.0);
    }
}
