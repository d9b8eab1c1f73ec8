//! Tournaments: which matches there are, their results, and the statistics of players.
//!
//! In: the names of games and players, and the conditions. Out: a [`Task`] for each match. A match
//! is known by a digest of everything that determines it, so it may be played anywhere, and twice. Who
//! plays it is not here.

mod results;
mod row;
mod tally;

use std::fmt::Write as _;
use std::ops::Range;

use hmac_sha256::Hash as Sha256;

use crate::contest::{Clocks, Opening};
use crate::schedule::{Seating, round_robin, swiss};
use ggp_gdl::game::Game;
pub use results::{Results, ResultsError};
pub use row::{Row, RowError};
pub use tally::{GameTally, PlayerTally, Tally};

/// The pairing of players.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Pairing {
    /// Every player meets every other in each round.
    #[default]
    RoundRobin,
    /// Swiss pairing: players with similar standings that have seldom met.
    Swiss,
}

/// The points for a match.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Points {
    /// 1 point for a higher score than the other player, 1/2 for an equal score.
    #[default]
    Result,
    /// 1/2 point plus a share of the score difference.
    Score,
}

/// A game of a tournament.
#[derive(Clone, Debug)]
pub struct PlannedGame {
    /// Its name.
    pub name: String,
    /// A digest of its rules.
    pub digest: String,
    /// The names of its roles.
    pub roles: Vec<String>,
    /// The numbers of the roles with players.
    pub played: Vec<usize>,
}

impl PlannedGame {
    /// A game with a name.
    pub fn new(name: String, game: &Game) -> Self {
        let texts = game.sources().files().iter().map(|file| file.text());
        let texts: Vec<&str> = texts.collect();
        let names = game.roles().map(|role| game.role_name(role).to_owned());
        let played = game.roles().filter(|role| !game.is_random(*role));
        PlannedGame {
            name,
            digest: sha256(texts.join("\n").as_bytes()),
            roles: names.collect(),
            played: played.map(|role| role.index()).collect(),
        }
    }
}

/// A player of a tournament.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedPlayer {
    /// Its name.
    pub name: String,
    /// The text that says how it plays.
    pub text: String,
}

/// A tournament.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The games, with different names.
    pub games: Vec<PlannedGame>,
    /// The players, with different names.
    pub players: Vec<PlannedPlayer>,
    /// The number of rounds.
    pub rounds: u64,
    /// The pairing of players.
    pub pairing: Pairing,
    /// The points for a match.
    pub points: Points,
    /// The clocks of all matches.
    pub clocks: Clocks,
    /// The least and the greatest number of random joint moves at the beginning.
    pub opening: (usize, usize),
    /// The seed of all random choices.
    pub seed: u64,
    /// The threads of each player.
    pub threads: usize,
    /// The most memory of each player, in megabytes.
    pub memory: u64,
    /// The number of joint moves after which a match is aborted.
    pub most_moves: usize,
    /// The most matches.
    pub most_matches: usize,
    /// A digest of learned values, if players use any.
    pub values: Option<String>,
}

/// A match to play.
#[derive(Clone, Debug)]
pub struct Task {
    /// The number of the game.
    pub game: usize,
    /// The number of each role's player; `None` for chance.
    pub players: Vec<Option<usize>>,
    /// The opening.
    pub opening: Opening,
    /// The row of the match, without its result.
    pub row: Row,
}

impl Plan {
    /// The rounds that are paired together: with Swiss pairing, each by the results of those before.
    pub fn stages(&self) -> Vec<Range<u64>> {
        match self.pairing {
            Pairing::RoundRobin => std::iter::once(0..self.rounds).collect(),
            Pairing::Swiss => (0..self.rounds).map(|round| round..round + 1).collect(),
        }
    }

    /// The matches of some rounds, after the matches of those before; `None` if there are too many
    /// matches.
    pub fn tasks(&self, rounds: Range<u64>, before: &[Row]) -> Option<Vec<Task>> {
        let mut tasks = Vec::new();
        for round in rounds {
            for (game, arena) in self.games.iter().enumerate() {
                let (players, roles) = (self.players.len(), arena.played.len());
                let seed = self.seed_of(&[&arena.digest, "seatings", &round.to_string()]);
                let left = self.most_matches.checked_sub(tasks.len() + before.len())?;
                let seatings = match self.pairing {
                    Pairing::RoundRobin => round_robin(players, roles, seed, left)?,
                    Pairing::Swiss => self.swiss(before, roles, seed),
                };
                for (number, seating) in seatings.iter().enumerate() {
                    tasks.push(self.task(game, round, number, seating));
                }
            }
            if tasks.len() + before.len() > self.most_matches {
                return None;
            }
        }
        Some(tasks)
    }

    fn swiss(&self, rows: &[Row], roles: usize, seed: u64) -> Vec<Seating> {
        let met = |a: usize, b: usize| {
            let has = |row: &&Row, player: usize| {
                let mut names = row.players.iter().flatten();
                names.any(|name| *name == self.players[player].name)
            };
            let both = rows.iter().filter(|row| has(row, a) && has(row, b));
            both.count() as u64
        };
        swiss(&self.standings(rows), roles, seed, met)
    }

    /// Returns true if a match belongs to this tournament.
    pub fn has(&self, row: &Row) -> bool {
        row.round < self.rounds && self.is_seated(row)
    }

    /// Returns true if a match would belong to this tournament with more rounds.
    pub fn is_seated(&self, row: &Row) -> bool {
        let Some(game) = self.games.iter().position(|game| game.name == row.game) else {
            return false;
        };
        let number = |name: &String| {
            let mut players = self.players.iter();
            players.position(|player| player.name == *name)
        };
        let seating: Option<Seating> = row.players.iter().flatten().map(number).collect();
        let is_full = |seating: &Seating| seating.len() == self.games[game].played.len();
        seating.filter(is_full).is_some_and(|seating| {
            self.task(game, row.round, row.number, &seating).row.id == row.id
        })
    }

    /// The reason why a match belongs to another tournament.
    pub fn strangeness(&self, row: &Row) -> String {
        let is_known = |name: &&String| self.players.iter().any(|player| player.name == **name);
        if !self.games.iter().any(|game| game.name == row.game) {
            return format!("{} is not a game of this tournament", row.game);
        }
        match row.players.iter().flatten().find(|name| !is_known(name)) {
            Some(name) => format!("{name} is not a player of this tournament"),
            None => "the rules, clocks, options of players, limits or the seed differ".to_owned(),
        }
    }

    /// A number that depends only on the seed and some words.
    fn seed_of(&self, words: &[&str]) -> u64 {
        let text = format!("{} {}", self.seed, words.join(" "));
        let digits = &sha256(text.as_bytes())[..16];
        u64::from_str_radix(digits, 16).expect("16 hexadecimal digits are 64 bits")
    }

    /// The match of a game with this number in its round, and these players by role but chance.
    pub fn task(&self, game: usize, round: u64, number: usize, seating: &[usize]) -> Task {
        let arena = &self.games[game];
        let mut seated = vec![None; arena.roles.len()];
        for (role, player) in arena.played.iter().zip(seating) {
            seated[*role] = Some(*player);
        }
        let planned = |player: &Option<usize>| player.map(|player| &self.players[player]);
        let texts = seated.iter().map(planned);
        let texts = texts.map(|player| player.map_or("random", |player| &player.text));
        let texts: Vec<&str> = texts.collect();
        let place = format!("{round} {number}");
        let seed = self.seed_of(&[&arena.digest, &place, &texts.join(" ")]);
        let named = seated
            .iter()
            .map(|player| Some(planned(player)?.name.clone()));
        let players: Vec<Option<String>> = named.collect();
        let mut what = format!(
            "{seed} {place} {players:?} {:?} {} {} {}",
            self.clocks, self.threads, self.memory, self.most_moves
        );
        let opening = Opening {
            moves: self.opening,
            seed: self.seed_of(&[&arena.digest, "opening", &round.to_string()]),
        };
        if let Some(digest) = &self.values {
            write!(what, " {digest}").expect("texts can be written");
        }
        if opening.moves.1 > 0 {
            write!(what, " {:?}", opening.moves).expect("texts can be written");
        }
        Task {
            row: Row {
                id: sha256(what.as_bytes())[..16].to_owned(),
                game: arena.name.clone(),
                round,
                number,
                players,
                roles: arena.roles.clone(),
                seed,
                scores: None,
                errors: Vec::new(),
                slowest: Vec::new(),
                moves: Vec::new(),
                opening: 0,
                waited: None,
                fault: None,
            },
            game,
            players: seated,
            opening,
        }
    }

    /// Sorts matches by round, game and players.
    pub fn sort(&self, rows: &mut [Row]) {
        let place = |row: &Row| self.games.iter().position(|game| game.name == row.game);
        rows.sort_by_key(|row| (row.round, place(row), row.players.clone(), row.id.clone()));
    }
}

/// The SHA-256 of bytes, in lower-case hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::hash(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
