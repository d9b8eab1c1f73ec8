//! The setup of a tournament, from a file and the command line.
//!
//! In: TOML or JSON, and options, which take precedence. Out: games, players and pairing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use serde::Deserialize;

use super::Options;
use crate::json;
use crate::whole_text;
use ggp_play::AgentSpec;
use ggp_play::contest::Clocks;
use ggp_play::protocol::host::{Address, Party, PartyError};
use ggp_play::tournament;

/// The most joint moves of an opening.
const MOST_OPENING: usize = 10_000;

/// The pairing of players.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// Every player meets every other in each round
    #[default]
    RoundRobin,
    /// Swiss pairing: players with similar standings that have seldom met
    Swiss,
}

/// The points for a match.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Points {
    /// 1 point for a higher score than the other player, 1/2 for an equal score
    #[default]
    Result,
    /// 1/2 point plus a share of the score difference
    Score,
}

impl From<Pairing> for tournament::Pairing {
    fn from(pairing: Pairing) -> Self {
        match pairing {
            Pairing::RoundRobin => Self::RoundRobin,
            Pairing::Swiss => Self::Swiss,
        }
    }
}

impl From<Points> for tournament::Points {
    fn from(points: Points) -> Self {
        match points {
            Points::Result => Self::Result,
            Points::Score => Self::Score,
        }
    }
}

/// A tournament file. Missing entries come from the command line.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    games: Vec<PathBuf>,
    players: Option<Players>,
    rounds: Option<u64>,
    pairing: Option<Pairing>,
    points: Option<Points>,
    start_clock: Option<f64>,
    play_clock: Option<f64>,
    iterations: Option<u64>,
    opening: Option<String>,
    seed: Option<u64>,
}

/// Players, optionally with names.
#[derive(Deserialize)]
#[serde(untagged)]
enum Players {
    Plain(Vec<String>),
    Named(BTreeMap<String, String>),
}

/// A player and its name.
#[derive(Clone, PartialEq, Debug)]
pub struct Entrant {
    pub name: String,
    /// The text of the player, including default iterations.
    pub text: String,
    pub party: Party,
}

impl Entrant {
    fn new(name: &str, text: &str) -> Result<Self, PartyError> {
        Ok(Entrant {
            name: name.to_owned(),
            text: text.to_owned(),
            party: text.parse()?,
        })
    }

    /// The address of a network player.
    pub fn address(&self) -> Option<&Address> {
        match &self.party {
            Party::Remote(address, _) => Some(address),
            _ => None,
        }
    }
}

/// A tournament.
pub(super) struct Setup {
    /// The rule files of each game.
    pub games: Vec<Vec<PathBuf>>,
    pub players: Vec<Entrant>,
    pub rounds: u64,
    pub pairing: Pairing,
    pub points: Points,
    pub clocks: Clocks,
    /// The least and the greatest number of random joint moves at the beginning.
    pub opening: (usize, usize),
    pub seed: u64,
}

impl std::str::FromStr for Entrant {
    type Err = PartyError;

    fn from_str(text: &str) -> Result<Self, PartyError> {
        // An option of a player may contain another `=`.
        let split = text.find('=').filter(|at| !text[..*at].contains(':'));
        let (name, text) = match split {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, text),
        };
        Entrant::new(name, text)
    }
}

impl Setup {
    /// The tournament of a command line.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the setup is not a valid tournament.
    pub fn new(options: &Options) -> anyhow::Result<Setup> {
        let (file, folder) = match &options.file {
            None => (File::default(), Path::new("")),
            Some(path) => (read(path)?, path.parent().unwrap_or(Path::new(""))),
        };
        let listed = file.games.iter().map(|game| resolve(folder, game));
        let games: Vec<PathBuf> = listed.chain(options.games.iter().cloned()).collect();
        let mut players = match file.players {
            None => Vec::new(),
            Some(Players::Plain(specs)) => {
                let entrants = specs.iter().map(|spec| entrant(spec, spec));
                entrants.collect::<anyhow::Result<_>>()?
            }
            Some(Players::Named(specs)) => {
                let entrants = specs.iter().map(|(name, spec)| entrant(name, spec));
                entrants.collect::<anyhow::Result<_>>()?
            }
        };
        players.extend(options.players.iter().cloned());
        if let Some(iterations) = options.iterations.or(file.iterations) {
            for player in &mut players {
                if let Party::Agent(spec) = &player.party {
                    let spec = limited(spec, iterations)?;
                    player.text = spec.to_string();
                    player.party = Party::Agent(spec);
                }
            }
        }
        for (number, player) in players.iter().enumerate() {
            let before = &players[..number];
            if before.iter().any(|other| other.name == player.name) {
                bail!("two players are called {}; write NAME=KIND", player.name);
            }
            let same = |other: &&Entrant| match (player.address(), other.address()) {
                (Some(one), Some(other)) => one.shares(other),
                _ => false,
            };
            if let Some(other) = before.iter().find(same) {
                let (name, other) = (&player.name, &other.name);
                bail!("{other} and {name} are the same player on the network");
            }
        }
        if games.is_empty() || players.is_empty() {
            bail!("a tournament needs games and players; see --games and --player");
        }
        let clock = |given: Option<f64>, listed: Option<f64>, what: &str| {
            let Some(seconds) = given.or(listed) else {
                return Ok(None);
            };
            if !(0.0..=1e9).contains(&seconds) {
                bail!("{what} is not a time from 0 to 1000000000 seconds");
            }
            Ok(Some(Duration::from_secs_f64(seconds)))
        };
        let clocks = Clocks {
            start: clock(options.start_clock, file.start_clock, "the start clock")?,
            play: clock(options.play_clock, file.play_clock, "the play clock")?,
        };
        if clocks.play == Some(Duration::ZERO) {
            bail!("the play clock is 0: no time to choose; omit it for no clock");
        }
        let is_whole = |clock: Option<Duration>| clock.is_some_and(|time| time.subsec_nanos() == 0);
        let remote = players.iter().find(|player| player.address().is_some());
        if let Some(remote) = remote
            && !(is_whole(clocks.start) && is_whole(clocks.play))
        {
            bail!(
                "{} is on the network, where clocks are whole seconds: give --start-clock and \
                 --play-clock",
                remote.name
            );
        }
        let listed = file.opening.as_deref().map(parse_opening).transpose();
        let listed = listed.map_err(|why| anyhow!("opening: {why}"))?;
        let opening = options.opening.or(listed).unwrap_or_default();
        if let (Some(remote), true) = (remote, opening.1 > 0) {
            bail!(
                "{} is on the network, where every match begins with the first position of the \
                 rules: leave out --opening",
                remote.name
            );
        }
        Ok(Setup {
            games: crate::rule_files::rule_sets(&games)?,
            players,
            rounds: options.rounds.or(file.rounds).unwrap_or(1),
            pairing: options.pairing.or(file.pairing).unwrap_or_default(),
            points: options.points.or(file.points).unwrap_or_default(),
            clocks,
            opening,
            seed: options.seed.or(file.seed).unwrap_or(0),
        })
    }
}

/// A number of joint moves, or the least and the greatest number, such as `2-4`.
pub(super) fn parse_opening(text: &str) -> Result<(usize, usize), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse().ok().filter(|&n: &usize| n <= MOST_OPENING);
    match (number(least), number(most)) {
        (Some(least), Some(most)) if least <= most => Ok((least, most)),
        _ => Err(format!(
            "`{text}` is not a number of moves up to {MOST_OPENING}, or two such as 2-4"
        )),
    }
}

fn read(path: &Path) -> anyhow::Result<File> {
    let name = path.display();
    let text = whole_text::read(path)?;
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    if is_json {
        json::parse(&text, "a JSON object with `games` and `players`")
            .map_err(|why| anyhow!("{name} is not a tournament: {why}"))
    } else {
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        let hint = match is_toml {
            true => String::new(),
            false => format!("; if it has rules, write --games {name}"),
        };
        toml::from_str(&text).with_context(|| format!("{name} is not a tournament{hint}"))
    }
}

/// Rule files joined by `+`, relative to a folder.
fn resolve(folder: &Path, game: &Path) -> PathBuf {
    let text = game.to_string_lossy();
    let parts = text
        .split('+')
        .map(|part| folder.join(part).display().to_string());
    parts.collect::<Vec<_>>().join("+").into()
}

fn entrant(name: &str, spec: &str) -> anyhow::Result<Entrant> {
    Ok(Entrant::new(name, spec)?)
}

/// The player with a number of iterations, unless it has its own or does not search.
fn limited(spec: &AgentSpec, iterations: u64) -> anyhow::Result<AgentSpec> {
    if !spec.thinks() {
        return Ok(spec.clone());
    }
    let text = spec.to_string();
    // The last of several numbers is used.
    let text = match text.split_once(':') {
        None => format!("{text}:{iterations}"),
        Some((kind, rest)) => format!("{kind}:{iterations},{rest}"),
    };
    Ok(text.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_iterations_are_for_players_without_their_own() {
        let limits = |text: &str| {
            let spec: AgentSpec = text.parse().unwrap();
            limited(&spec, 70).unwrap().limits(None)
        };
        assert_eq!(limits("mcts").1, Some(70));
        assert_eq!(limits("mcts:exploration=2").1, Some(70));
        assert_eq!(limits("mcts:9").1, Some(9));
        assert_eq!(limits("random").1, None);
    }

    #[test]
    fn openings_are_numbers_or_ranges() {
        assert_eq!(parse_opening("3"), Ok((3, 3)));
        assert_eq!(parse_opening("2-4"), Ok((2, 4)));
        for wrong in ["", "-1", "4-2", "2-", "2-x", "99999999"] {
            let why = parse_opening(wrong).unwrap_err();
            assert!(why.starts_with(&format!("`{wrong}` is not")), "{why}");
        }
    }

    #[test]
    fn players_have_names() {
        let player: Entrant = "mcts:exploration=2".parse().unwrap();
        assert_eq!(player.name, "mcts:exploration=2");
        let player: Entrant = "bold=mcts:exploration=2".parse().unwrap();
        assert_eq!(
            (&player.name[..], &player.text[..]),
            ("bold", "mcts:exploration=2")
        );
        let player: Entrant = "far=http://127.0.0.1:9147".parse().unwrap();
        assert!(player.name == "far" && player.address().is_some());
        assert!("bold=wizard".parse::<Entrant>().is_err());
    }
}
