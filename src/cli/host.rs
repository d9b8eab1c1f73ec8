//! `ggp host`: a match between players on the network and programs of ours.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};

use super::rules::RuleOptions;
use super::{Context, Exit, legal, show};
use crate::conformance::sha256;
use crate::game::Game;
use crate::ggp::host::{HostError, HostOptions, Party, host, info};
use crate::machine::Machine;
use crate::play::contest::Means;
use crate::play::record::{MatchRecord, now};
use crate::play::referee::Round;
use crate::symbol::Case;

/// The options of `ggp host`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp host game.kif --player http://localhost:9147 --player mcts
  ggp host game.kif --player cross=http://10.0.0.2 --player nought=random --scramble
  ggp host game.kif --player http://a --player http://b --save match.json
  ggp host game.kif --player http://a --player http://b --resume match.json

Players are named in the order of the roles, or with ROLE=. A role called random needs
none. A player that is late, cannot be reached or answers no legal move has one drawn for
it; the record says so: TO, CE, IL and what was said. The match ends by STOP, or by ABORT
at Ctrl-C. A match is gone on with after its last joint move; players are told all
moves again first, since nobody knows what they heard last.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Who plays: an address such as http://HOST:9147, or a program as in `ggp play`
    #[arg(long = "player", value_name = "[ROLE=]PLAYER")]
    players: Vec<Seat>,
    /// Seconds before the first move [default: 30]
    #[arg(long, value_name = "S", help_heading = "Match")]
    start_clock: Option<u32>,
    /// Seconds for each move [default: 10]
    #[arg(long, value_name = "S", help_heading = "Match")]
    play_clock: Option<u32>,
    /// Show the rules to players before the match, for so many seconds
    #[arg(long, value_name = "S", help_heading = "Match")]
    preview_clock: Option<u32>,
    /// Seconds that an answer may take beyond its clock
    #[arg(long, value_name = "S", default_value_t = 1.0, help_heading = "Match")]
    grace: f64,
    /// Seconds that connecting may take
    #[arg(long, value_name = "S", default_value_t = 5.0, help_heading = "Match")]
    connect: f64,
    /// Players see other names than those of the rules
    #[arg(long, help_heading = "Match")]
    scramble: bool,
    /// Ask players who they are before the match
    #[arg(long, help_heading = "Match")]
    ping: bool,
    /// Send headers that say which match and which move it is
    #[arg(long, help_heading = "Match")]
    headers: bool,
    /// What moves of chance, and words of --scramble, are drawn by [default: the time]
    #[arg(long, value_name = "N", help_heading = "Match")]
    seed: Option<u64>,
    /// The match's name [default: ggp, the game and the time]
    #[arg(long, value_name = "NAME", help_heading = "Match")]
    match_id: Option<String>,
    /// The tournament that the record names
    #[arg(long, value_name = "NAME", default_value = "", help_heading = "Match")]
    tournament: String,
    /// Write the record to this file after each move
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Go on with the match in this file, and write to it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "match_id", "scramble", "seed"])]
    resume: Option<PathBuf>,
    /// Threads of each program of ours
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Limits")]
    threads: NonZeroUsize,
    /// Megabytes that each program of ours may take for its tables
    #[arg(long, value_name = "MB", default_value_t = 1024, help_heading = "Limits")]
    memory: u64,
    /// Most bytes of an answer
    #[arg(long, value_name = "N", default_value_t = 1 << 20, help_heading = "Limits")]
    max_answer: usize,
}

/// A player for a role, or for the next one.
#[derive(Clone, PartialEq, Debug)]
struct Seat {
    role: Option<String>,
    text: String,
    party: Party,
}

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // An option of a program may hold another `=`.
        let split = text.find('=').filter(|at| !text[..*at].contains(':'));
        let (role, text) = match split {
            Some(at) => (Some(text[..at].to_owned()), &text[at + 1..]),
            None => (None, text),
        };
        let party = match text.contains("://") {
            true => Party::Remote(text.parse()?, String::new()),
            false => Party::Agent(text.parse().map_err(|why| {
                format!("{why}; and addresses such as http://localhost:9147")
            })?),
        };
        Ok(Seat {
            role,
            text: text.to_owned(),
            party,
        })
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the players or a file are wrong, play shows the rules to be, or the
/// match is interrupted.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let machine = options.rules.machine(context)?;
    let game = machine.game().clone();
    let mut seats = options.assign(&game)?;
    let path = options.resume.as_ref().or(options.save.as_ref());
    if let Some(path) = path {
        Context::can_write(path)?;
    }
    let mut record = match &options.resume {
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {name}"))?;
            serde_json::from_str(&text).with_context(|| format!("{name} is no match record"))?
        }
        None => options.record(&game),
    };
    record.start_clock = options.start_clock.unwrap_or(record.start_clock);
    record.play_clock = options.play_clock.unwrap_or(record.play_clock);
    let settings = options.settings(&record, context)?;
    if options.ping {
        for (role, seat) in game.roles().zip(&mut seats) {
            let Party::Remote(address, name) = &mut seat.party else { continue };
            let role = game.role_name(role);
            match info(address, &settings) {
                Ok(info) => {
                    let status = info.status.unwrap_or_else(|| "no status".to_owned());
                    *name = info.name.unwrap_or_default();
                    context.note(format_args!("{role}: {} {name}, {status}", seat.text));
                }
                Err(error) => context.note(format_args!("{role}: {}: {error}", seat.text)),
            }
        }
    }
    record.player_names_from_host = seats.iter().map(Seat::name).collect();
    record.is_player_human = vec![false; seats.len()];
    let parties: Vec<Party> = seats.into_iter().map(|seat| seat.party).collect();
    let ended = host(machine, &parties, &settings, &mut record, &mut |(record, round)| {
        if let Some(path) = path {
            record.save(path)?;
        }
        match (round, context.json()) {
            (Some(round), false) => context.print(line(&game, record, round)),
            _ => Ok(()),
        }
    });
    if context.json() {
        context.print_json(&record)?;
    }
    match ended {
        Ok(()) => {}
        Err(HostError::Play(error)) => return Err(error.into()),
        Err(HostError::Observer(error)) => return Err(error.into()),
        Err(error) => return Err(anyhow!("{error}")),
    }
    if !context.json() {
        let moves = show::counted(record.moves.len(), "joint move");
        context.print(format!("the game is over after {moves}"))?;
        let scores = show::role_names(&game).into_iter().zip(&record.goal_values);
        context.print_lines(scores.map(|(role, score)| format!("{role} {score}")))?;
    }
    Ok(Exit::Done)
}

/// `3: a plays x, b plays y (TO)`.
fn line(game: &Game, record: &MatchRecord, round: &Round) -> String {
    let number = record.moves.len();
    let joint = record.moves.last().into_iter().flatten();
    let plays = game.roles().zip(joint).zip(&round.lapses).map(|((role, chosen), lapse)| {
        let role = game.role_name(role);
        match lapse {
            None => format!("{role} plays {chosen}"),
            Some(lapse) => format!("{role} plays {chosen} [{lapse}]"),
        }
    });
    format!("{number}: {}", plays.collect::<Vec<_>>().join(", "))
}

impl Seat {
    fn name(&self) -> String {
        match &self.party {
            Party::Remote(_, name) if !name.is_empty() => name.clone(),
            _ => self.text.clone(),
        }
    }
}

impl Options {
    /// The player of each role.
    fn assign(&self, game: &Game) -> anyhow::Result<Vec<Seat>> {
        let mut seats: Vec<Option<Seat>> = vec![None; game.role_count()];
        for seat in &self.players {
            let Some(name) = &seat.role else { continue };
            let role = legal::find_role(game, name)?;
            if seats[role.index()].replace(seat.clone()).is_some() {
                bail!("the role {name} has two players");
            }
        }
        let mut others = self.players.iter().filter(|seat| seat.role.is_none());
        for role in game.roles() {
            let seat = &mut seats[role.index()];
            if seat.is_none() && game.is_random(role) {
                *seat = Some(Seat {
                    role: None,
                    text: "random".to_owned(),
                    party: Party::Chance,
                });
            }
            if seat.is_none() {
                *seat = others.next().cloned();
            }
        }
        if others.next().is_some() {
            bail!("there are more players than roles");
        }
        let seat = |(role, seat): (_, Option<Seat>)| {
            seat.ok_or_else(|| anyhow!("nobody plays {}; see --player", game.role_name(role)))
        };
        game.roles().zip(seats).map(seat).collect()
    }

    /// The record of a match that has not begun.
    fn record(&self, game: &Game) -> MatchRecord {
        let time = now();
        let id = self.match_id.clone().unwrap_or_else(|| {
            let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let name: String = game.name().chars().map(letters).collect();
            format!("ggp.{name}.{time}")
        });
        let files = game.sources().files().iter().map(|file| file.text());
        let token = format!("{id} {time} {} {:?}", std::process::id(), std::time::Instant::now());
        MatchRecord {
            random_token: sha256(token.as_bytes())[..32].to_owned(),
            match_id: id,
            start_time: time,
            preview_clock: self.preview_clock.map_or(-1, i64::from),
            start_clock: 30,
            play_clock: 10,
            tournament_name_from_host: self.tournament.clone(),
            scrambled: self.scramble,
            rulesheet: Some(files.collect::<Vec<_>>().join("\n")),
            seed: Some(self.seed.unwrap_or(time)),
            ..MatchRecord::default()
        }
    }

    fn settings(&self, record: &MatchRecord, context: &Context) -> anyhow::Result<HostOptions> {
        let time = |seconds: f64, what: &str| {
            let time = Duration::try_from_secs_f64(seconds).ok();
            let time = time.filter(|time| *time <= Duration::from_secs(1_000_000_000));
            time.ok_or_else(|| anyhow!("{what} is not a time in seconds"))
        };
        let is_word = |c: char| c.is_ascii_graphic() && !"();".contains(c);
        if record.match_id.is_empty() || !record.match_id.chars().all(is_word) {
            bail!("`{}` is no name for a match", record.match_id);
        }
        Ok(HostOptions {
            start_clock: record.start_clock,
            play_clock: record.play_clock,
            preview_clock: self.preview_clock,
            grace: time(self.grace, "the grace")?,
            connect: time(self.connect, "the time to connect")?,
            most_bytes: self.max_answer,
            headers: self.headers,
            case: match self.rules.case_sensitive {
                true => Case::Keep,
                false => Case::Fold,
            },
            interrupt: Arc::clone(context.interrupt()),
            means: Means {
                threads: self.threads.get(),
                memory_bytes: self.memory << 20,
                limits: self.rules.limits(context),
            },
        })
    }
}
