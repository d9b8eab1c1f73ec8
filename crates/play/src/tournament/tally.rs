//! The statistics of players over matches.

use serde::Serialize;

use super::row::Row;
use super::{Plan, Points};
use crate::rating::{Comparison, Rating, comparisons, elo, glicko2, share_of_result};
use crate::schedule::Standing;

/// The statistics of all players.
#[derive(Clone, Debug, Serialize)]
pub struct Tally {
    /// The statistics of each player.
    pub players: Vec<PlayerTally>,
    /// The statistics of each game.
    pub games: Vec<GameTally>,
    /// By player and opponent: the mean share of the point that the player got.
    pub cross: Vec<Vec<Option<f64>>>,
    /// The number of matches.
    pub matches: usize,
    /// The number of matches that were aborted or had an error in the rules.
    pub unfinished: usize,
}

/// The statistics of a player.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlayerTally {
    /// Its name.
    pub name: String,
    /// `None` without comparisons.
    pub elo: Option<Rating>,
    /// `None` without comparisons.
    pub glicko2: Option<Rating>,
    /// The number of roles that it played in matches with scores; a match may give it several.
    pub roles: u64,
    /// The number of comparisons with others that it won, by role.
    pub won: u64,
    /// Those that were drawn.
    pub drawn: u64,
    /// Those that it lost.
    pub lost: u64,
    /// The sum of scores; see `mean_score`.
    #[serde(skip)]
    scores: f64,
    /// The mean score, 0 to 100.
    pub mean_score: Option<f64>,
    /// The number of late answers.
    pub late: u64,
    /// The number of those in matches whose threads waited for a processor for a tenth of the time or
    /// more.
    #[serde(skip_serializing_if = "is_zero")]
    pub overbooked: u64,
    /// The number of questions for which it could not be reached.
    pub unreachable: u64,
    /// The number of illegal moves.
    pub illegal: u64,
    /// The number of failures.
    pub crashed: u64,
    /// The longest time for one move, in seconds.
    pub slowest: f64,
}

/// Whether a number is 0 and goes without saying.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The statistics of a game.
#[derive(Clone, Debug, Serialize)]
pub struct GameTally {
    /// Its name.
    pub name: String,
    /// The rating of a game for one role as an opponent of its players.
    pub elo: Option<Rating>,
    /// By player.
    pub mean_scores: Vec<Option<f64>>,
    /// The number of matches.
    pub matches: u64,
    /// The mean number of joint moves.
    pub mean_length: f64,
}

impl Plan {
    fn player(&self, name: &str) -> usize {
        let place = self.players.iter().position(|player| player.name == name);
        place.expect("rows only name known players")
    }

    fn game(&self, row: &Row) -> usize {
        let place = self.games.iter().position(|game| game.name == row.game);
        place.expect("rows only name known games")
    }

    /// The players of a match with their scores; `None` if it has no scores.
    fn scored(&self, row: &Row) -> Vec<(usize, u8)> {
        let scores = row.scores.iter().flatten();
        let pairs = row.players.iter().zip(scores);
        pairs
            .filter_map(|(player, &score)| Some((self.player(player.as_deref()?), score)))
            .collect()
    }

    /// The comparisons of a match. A game for one role is the opponent of its player, with a
    /// number after those of the players.
    fn comparisons(&self, row: &Row) -> Vec<Comparison> {
        let scored = self.scored(row);
        if let [(player, score)] = scored[..] {
            return vec![Comparison {
                players: [player, self.players.len() + self.game(row)],
                share: f64::from(score) / 100.0,
                weight: 1.0,
            }];
        }
        comparisons(&scored, |mine, theirs| match self.points {
            Points::Score => (100.0 + f64::from(mine) - f64::from(theirs)) / 200.0,
            Points::Result => share_of_result(mine, theirs),
        })
    }

    /// The standings of players after some matches.
    pub(super) fn standings(&self, rows: &[Row]) -> Vec<Standing> {
        let mut standings = vec![Standing::default(); self.players.len()];
        for row in rows {
            for Comparison {
                players,
                share,
                weight,
            } in self.comparisons(row)
            {
                for (player, share) in players.into_iter().zip([share, 1.0 - share]) {
                    if let Some(standing) = standings.get_mut(player) {
                        standing.points += weight * share;
                    }
                }
            }
            for player in row.players.iter().flatten() {
                standings[self.player(player)].matches += 1;
            }
        }
        standings
    }

    /// The statistics of all matches.
    pub fn tally(&self, rows: &[Row]) -> Tally {
        let count = self.players.len();
        let mut players: Vec<PlayerTally> = Vec::new();
        players.extend(self.players.iter().map(|player| PlayerTally {
            name: player.name.clone(),
            ..PlayerTally::default()
        }));
        for row in rows {
            self.count(row, &mut players);
        }
        let comparisons: Vec<Comparison> =
            rows.iter().flat_map(|row| self.comparisons(row)).collect();
        let mut cross = vec![vec![(0.0, 0.0); count]; count];
        for Comparison {
            players: [a, b],
            share,
            ..
        } in comparisons.iter().copied()
        {
            let tally = &mut players[a];
            let [won, lost] = [share > 0.5, share < 0.5].map(u64::from);
            (tally.won, tally.lost) = (tally.won + won, tally.lost + lost);
            tally.drawn += 1 - won - lost;
            if b < count {
                let other = &mut players[b];
                (other.won, other.lost) = (other.won + lost, other.lost + won);
                other.drawn += 1 - won - lost;
                for (a, b, share) in [(a, b, share), (b, a, 1.0 - share)] {
                    cross[a][b].0 += share;
                    cross[a][b].1 += 1.0;
                }
            }
        }
        let (elos, glickos) = self.rate(rows, &comparisons);
        for (number, player) in players.iter_mut().enumerate() {
            (player.elo, player.glicko2) = (elos[number], glickos[number]);
            player.mean_score = mean(player.scores, player.roles as f64);
        }
        let games =
            (0..self.games.len()).map(|game| self.game_tally(game, rows, elos[count + game]));
        Tally {
            games: games.collect(),
            players,
            cross: cross
                .iter()
                .map(|row| row.iter().map(|c| mean(c.0, c.1)).collect())
                .collect(),
            matches: rows.len(),
            unfinished: rows.iter().filter(|row| row.scores.is_none()).count(),
        }
    }

    /// Elo and Glicko-2 ratings of players and games, where there are any.
    fn rate(&self, rows: &[Row], comparisons: &[Comparison]) -> (Ratings, Ratings) {
        let all = self.players.len() + self.games.len();
        let is_met = |number: &usize| comparisons.iter().any(|met| met.players.contains(number));
        let rated: Vec<usize> = (0..all).filter(is_met).collect();
        // Players without matches would only make the mean uncertain.
        let dense = |met: &Comparison| Comparison {
            players: met
                .players
                .map(|number| rated.partition_point(|other| *other < number)),
            ..*met
        };
        let spread = |ratings: Vec<Rating>| {
            let mut found = vec![None; all];
            rated
                .iter()
                .zip(ratings)
                .for_each(|(number, rating)| found[*number] = Some(rating));
            found
        };
        let middle = rated.partition_point(|number| *number < self.players.len());
        let met: Vec<Comparison> = comparisons.iter().map(dense).collect();
        let elos = elo(rated.len(), &met, middle);
        let rounds = rows.iter().map(|row| row.round + 1).max().unwrap_or(0);
        let mut periods = vec![Vec::new(); rounds as usize];
        for row in rows {
            periods[row.round as usize].extend(self.comparisons(row).iter().map(dense));
        }
        (spread(elos), spread(glicko2(rated.len(), &periods)))
    }

    fn count(&self, row: &Row, players: &mut [PlayerTally]) {
        for (player, score) in self.scored(row) {
            players[player].roles += 1;
            players[player].scores += f64::from(score);
        }
        for (player, &slowest) in row.players.iter().zip(&row.slowest) {
            if let Some(player) = player {
                let player = &mut players[self.player(player)];
                player.slowest = player.slowest.max(slowest);
            }
        }
        for error in &row.errors {
            let Some(player) = &row.players[error.role] else {
                continue;
            };
            let player = &mut players[self.player(player)];
            match error.error.get(..2) {
                Some("TO") => {
                    player.late += 1;
                    player.overbooked += u64::from(row.is_overbooked());
                }
                Some("CE") => player.unreachable += 1,
                Some("IL") => player.illegal += 1,
                _ => player.crashed += 1,
            }
        }
    }

    fn game_tally(&self, game: usize, rows: &[Row], elo: Option<Rating>) -> GameTally {
        let rows = || rows.iter().filter(|row| self.game(row) == game);
        let mut sums = vec![(0.0, 0.0); self.players.len()];
        for (player, score) in rows().flat_map(|row| self.scored(row)) {
            sums[player].0 += f64::from(score);
            sums[player].1 += 1.0;
        }
        let matches = rows().count();
        let moves: usize = rows().map(|row| row.moves.len()).sum();
        GameTally {
            name: self.games[game].name.clone(),
            elo,
            mean_scores: sums
                .into_iter()
                .map(|(sum, count)| mean(sum, count))
                .collect(),
            matches: matches as u64,
            mean_length: moves as f64 / matches.max(1) as f64,
        }
    }
}

/// Values by number; `None` where unknown.
type Ratings = Vec<Option<Rating>>;

fn mean(sum: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| sum / count)
}
