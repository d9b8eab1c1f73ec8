//! `ggp host`: a match between network players and built-in agents.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{anyhow, bail};

use super::{legal, replay};
use crate::agent_limits::AgentLimits;
use crate::numbers::unknown_seed;
use crate::rule_files::RuleOptions;
use crate::value_files::ValueOptions;
use crate::{Context, Exit, format, kinds};
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_gdl::game::Game;
use ggp_gdl::symbol::Case;
use ggp_play::contest::Resources;
use ggp_play::protocol::host::{
    BUSY, HostError, HostOptions, Party, PartyError, PerceptForm, Seen, host, info,
};
use ggp_play::record::MatchRecord;
use ggp_play::referee::Lapse;

/// The options of `ggp host`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp host game.kif --player http://localhost:9147 --player mcts
  ggp host game.kif --player cross=http://10.0.0.2 --player nought=random --scramble
  ggp host game.kif --player http://a --player http://b --save match.json
  ggp host --player http://a --player http://b --resume match.json

Players are given in the order of the roles, or with ROLE=. A role named random needs no
player. The match ends with STOP, or with ABORT after Ctrl-C. A player that offers no legal
move gets a random one; lines and records state the reason:

  [TO]      no answer in time
  [CE]      no connection, a broken connection, or invalid HTTP
  [IL ...]  the answer is not a legal move; [IL busy]: the player is in another match
  [CR ...]  a built-in agent failed

--resume continues a match after its last joint move, with the rules in its record unless
others are given. Players first receive all earlier moves again, because their state is
unknown. The seed and the match ID are those of the record. A record without clocks is resumed with
the default clocks.

Exit code 0: completed without errors; 1: completed with errors of players, which are counted;
2: not completed.")]
#[command(mut_arg("files", |files| files.required(false).required_unless_present("resume")))]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Player: an address such as http://HOST:9147, or an agent as in `ggp play`
    #[arg(long = "player", value_name = "[ROLE=]PLAYER")]
    #[arg(value_parser = kinds::OrList::<RolePlayer>::new())]
    players: Vec<RolePlayer>,
    /// Seconds before the first move [default: 30]
    #[arg(long, value_name = "S", help_heading = "Match")]
    start_clock: Option<u32>,
    /// Seconds for each move [default: 10]
    #[arg(long, value_name = "S", help_heading = "Match")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    play_clock: Option<u32>,
    /// Send players a PREVIEW of the rules with this number of seconds
    #[arg(long, value_name = "S", help_heading = "Match")]
    preview_clock: Option<u32>,
    /// Abort the match after this number of joint moves
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        help_heading = "Match"
    )]
    depth: usize,
    /// Additional seconds for each answer beyond its clock
    #[arg(long, value_name = "S", default_value_t = 1.0, help_heading = "Match")]
    grace: f64,
    /// Wait for the end of each clock even if all players have answered
    #[arg(long, help_heading = "Match")]
    whole_clock: bool,
    /// Seconds for connecting
    #[arg(long, value_name = "S", default_value_t = 5.0, help_heading = "Match")]
    connect: f64,
    /// Send players rules with scrambled names
    #[arg(long, help_heading = "Match")]
    scramble: bool,
    /// Send players INFO before the match
    #[arg(long, help_heading = "Match")]
    ping: bool,
    /// Send percepts in place of moves, as hosts did in 2011
    ///
    /// For games with `sees`. By default PLAY and STOP have the number of the turn, the move of
    /// the player and its percepts.
    #[arg(long, help_heading = "Match")]
    percepts_alone: bool,
    /// Send headers with the match and the move number
    #[arg(long, help_heading = "Match")]
    headers: bool,
    /// Seed of random moves and of the names of --scramble [default: drawn by the system]
    #[arg(long, value_name = "N", help_heading = "Match")]
    seed: Option<u64>,
    /// Name of the match [default: ggp, the game and the time]
    #[arg(long, value_name = "NAME", help_heading = "Match")]
    match_id: Option<String>,
    /// Name of the tournament in the record
    #[arg(long, value_name = "NAME", default_value = "", help_heading = "Match")]
    tournament: String,
    /// Write the record to this file after each move
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Resume the match in this file and write to it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "match_id", "scramble", "seed"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    values: ValueOptions,
    /// Threads of each built-in agent
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Limits")]
    threads: NonZeroUsize,
    /// Maximum memory for the search tables of each built-in agent, in MB
    #[arg(
        long,
        value_name = "MB",
        default_value_t = 1024,
        help_heading = "Limits"
    )]
    memory: u64,
    #[command(flatten)]
    agents: AgentLimits,
    /// Maximum size of an answer, in bytes
    #[arg(long, value_name = "N", default_value_t = 1 << 20, help_heading = "Limits")]
    max_answer: usize,
}

/// A player for a role, or for the next free role.
#[derive(Clone, PartialEq, Debug)]
struct RolePlayer {
    role: Option<String>,
    text: String,
    party: Party,
}

impl FromStr for RolePlayer {
    type Err = PartyError;

    fn from_str(text: &str) -> Result<Self, PartyError> {
        // An option of an agent may contain another `=`.
        let split = text.find('=').filter(|at| !text[..*at].contains(':'));
        let (role, text) = match split {
            Some(at) => (Some(text[..at].to_owned()), &text[at + 1..]),
            None => (None, text),
        };
        Ok(RolePlayer {
            role,
            text: text.to_owned(),
            party: text.parse()?,
        })
    }
}

/// The default clocks in seconds.
const START_CLOCK: u32 = 30;
const PLAY_CLOCK: u32 = 10;
/// The bits of a seed, as JSON has them. Players know the match ID and the time, so neither may say
/// what chance will do.
const SEED_BITS: u32 = 53;

/// Runs the command.
///
/// # Errors
///
/// If the rules, the players or a file are invalid, an error in the rules appears during play,
/// or the match is interrupted.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let resumed = options.resume.as_deref().map(replay::load).transpose()?;
    let game = replay::game(resumed.as_ref(), &options.rules, context)?;
    let machine = options.rules.machine_for(&game, context)?;
    if let Some(record) = resumed.as_ref().filter(|record| record.is_completed) {
        return ended_before(record, machine, context);
    }
    let mut players = options.assign(&game)?;
    let path = options.resume.as_ref().or(options.save.as_ref());
    if let Some(path) = path {
        Context::can_write(path)?;
    }
    let mut record = match resumed {
        Some(record) => options.resumed(record, context),
        None => options.record(&game),
    };
    let settings = options.settings(&record, &game, context)?;
    if options.ping {
        for (role, player) in game.roles().zip(&mut players) {
            let Party::Remote(address, name) = &mut player.party else {
                continue;
            };
            let role = game.role_name(role);
            match info(address, &settings) {
                Ok(info) => {
                    let status = info.status.unwrap_or_else(|| "no status".to_owned());
                    *name = info.name.unwrap_or_default();
                    context.note(format_args!("{role}: {} {name}, {status}", player.text));
                }
                Err(error) => context.note(format_args!("{role}: {}: {error}", player.text)),
            }
        }
    }
    record.player_names_from_host = players.iter().map(RolePlayer::name).collect();
    record.is_player_human = vec![false; players.len()];
    let roles = format::role_names(&game);
    let parties: Vec<Party> = players.into_iter().map(|player| player.party).collect();
    let agents = parties
        .iter()
        .filter(|party| matches!(party, Party::Agent(_)));
    options.agents.check(agents.count())?;
    let ended = host(
        machine,
        &parties,
        &settings,
        &mut record,
        &mut |record, seen| {
            if let Some(path) = path {
                record.save(path).map_err(|error| {
                    let message = format!("cannot write {}: {error}", path.display());
                    io::Error::new(error.kind(), message)
                })?;
            }
            match seen {
                Seen::Begun(lapses) => {
                    for (role, lapse) in game.roles().zip(lapses) {
                        if let Some(lapse) = lapse {
                            let role = format::printable(game.role_name(role));
                            let why = match meaning(lapse) {
                                why if why == meaning_of("IL") => {
                                    "no answer of the protocol".to_owned()
                                }
                                why => why,
                            };
                            context.note(format_args!("{role} is not ready: {why}"));
                        }
                    }
                    Ok(())
                }
                Seen::Moved(_) if !context.json() => {
                    let of_last = |lists: &[Vec<String>]| lists.last().cloned().unwrap_or_default();
                    let (joint, errors) = (of_last(&record.moves), of_last(&record.errors));
                    context.print(format::recorded_line(
                        record.moves.len(),
                        &roles,
                        &joint,
                        &errors,
                    ))
                }
                Seen::Moved(_) | Seen::Ended => Ok(()),
            }
        },
    );
    if context.json() {
        context.print_json(&record)?;
    }
    let faults = faults(&game, &record);
    for fault in &faults {
        context.note(fault);
    }
    match ended {
        Ok(()) => {}
        Err(HostError::Play(error)) => return Err(error.into()),
        Err(HostError::Observer(error)) => return Err(error.into()),
        Err(error @ HostError::TooLong(_)) => bail!("{error}; see --depth"),
        Err(error) => return Err(anyhow!("{error}")),
    }
    if !context.json() {
        print_end(&game, &record, context)?;
    }
    Ok(match faults.is_empty() {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

/// Prints the end of a match.
fn print_end(game: &Game, record: &MatchRecord, context: &Context) -> io::Result<()> {
    let moves = format::counted(record.moves.len(), "joint move");
    context.print(format!("the game is over after {moves}"))?;
    context.print_lines(format::score_lines(game, &record.goal_values))
}

/// Reports that the match to resume has already ended. The record is unchanged.
fn ended_before(
    record: &MatchRecord,
    machine: AnyMachine,
    context: &Context,
) -> anyhow::Result<Exit> {
    let played = record.replay(machine, |_, _| ());
    let mut played = played.map_err(|difference| anyhow!("the record: {difference}"))?;
    let game = played.machine().game().clone();
    context.note("this match is already over; there is nothing to resume");
    match context.json() {
        true => context.print_json(record)?,
        false => print_end(&game, record, context)?,
    }
    Ok(match faults(&game, record).is_empty() {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

/// A description of a lapse.
fn meaning(lapse: &Lapse) -> String {
    let meaning = meaning_of(code(&lapse.to_string())).to_owned();
    match lapse {
        Lapse::Crashed(why) => format!("{meaning}: {}", format::printable(why)),
        _ => meaning,
    }
}

/// The code of an error in a record.
fn code(error: &str) -> &str {
    match error.strip_prefix("IL ") {
        Some(BUSY) => error,
        _ => error.get(..2).unwrap_or_default(),
    }
}

fn meaning_of(code: &str) -> &'static str {
    match code {
        "TO" => "no answer in time",
        "CE" => "no connection or invalid HTTP",
        "IL" => "no legal move",
        "IL busy" => "busy with another match",
        _ => "the agent failed",
    }
}

/// The number of lapses by player and kind: `a: [TO] 3 times: no answer in time`.
fn faults(game: &Game, record: &MatchRecord) -> Vec<String> {
    let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for errors in &record.errors {
        for (role, error) in errors
            .iter()
            .enumerate()
            .filter(|(_, error)| !error.is_empty())
        {
            *counts.entry((role, code(error))).or_default() += 1;
        }
    }
    let names = format::role_names(game);
    let line = |((role, code), count): (&(usize, &str), &usize)| {
        let times = format::counted(*count, "time");
        let role = format::printable(names.get(*role).map_or("", String::as_str));
        format!(
            "{role}: [{}] {times}: {}",
            format::printable(code),
            meaning_of(code)
        )
    };
    counts.iter().map(line).collect()
}

impl RolePlayer {
    fn name(&self) -> String {
        match &self.party {
            Party::Remote(_, name) if !name.is_empty() => name.clone(),
            _ => self.text.clone(),
        }
    }
}

impl Options {
    /// The player of each role.
    fn assign(&self, game: &Game) -> anyhow::Result<Vec<RolePlayer>> {
        let mut players: Vec<Option<RolePlayer>> = vec![None; game.role_count()];
        for player in &self.players {
            let Some(name) = &player.role else { continue };
            let role = legal::find_role(game, name)?;
            if players[role.index()].replace(player.clone()).is_some() {
                bail!("the role {name} has two players");
            }
        }
        let mut others = self.players.iter().filter(|player| player.role.is_none());
        for role in game.roles() {
            let player = &mut players[role.index()];
            if player.is_none() && game.is_random(role) {
                *player = Some(RolePlayer {
                    role: None,
                    text: "random".to_owned(),
                    party: Party::Chance,
                });
            }
            if player.is_none() {
                *player = others.next().cloned();
            }
        }
        if others.next().is_some() {
            bail!(
                "there are more players than roles{}",
                if game.roles().any(|role| game.is_random(role)) {
                    " that choose: chance draws its moves unless `--player random=PLAYER` names one for it"
                } else {
                    ""
                }
            );
        }
        let player = |(role, player): (_, Option<RolePlayer>)| {
            player.ok_or_else(|| anyhow!("no player for {}; see --player", game.role_name(role)))
        };
        game.roles().zip(players).map(player).collect()
    }

    /// The record of a match that has not begun.
    fn record(&self, game: &Game) -> MatchRecord {
        let begun = MatchRecord::begin(game, self.match_id.as_deref());
        MatchRecord {
            preview_clock: self.preview_clock.map_or(-1, i64::from),
            start_clock: self.start_clock.unwrap_or(START_CLOCK),
            play_clock: self.play_clock.unwrap_or(PLAY_CLOCK),
            tournament_name_from_host: self.tournament.clone(),
            scrambled: self.scramble,
            seed: Some(self.seed.unwrap_or_else(|| unknown_seed(SEED_BITS))),
            ..begun
        }
    }

    /// The record to resume, with the requested clocks or its own.
    fn resumed(&self, record: MatchRecord, context: &Context) -> MatchRecord {
        let clock = |what: &str, given: Option<u32>, recorded: u32, usual: u32| match given {
            Some(seconds) => seconds,
            None if recorded > 0 => recorded,
            // A clock of 0 seconds leaves no time to answer.
            None => {
                context.note(format_args!(
                    "the record has no {what} clock: it is {usual} s; --{what}-clock sets it"
                ));
                usual
            }
        };
        MatchRecord {
            start_clock: clock("start", self.start_clock, record.start_clock, START_CLOCK),
            play_clock: clock("play", self.play_clock, record.play_clock, PLAY_CLOCK),
            ..record
        }
    }

    fn settings(
        &self,
        record: &MatchRecord,
        game: &Game,
        context: &Context,
    ) -> anyhow::Result<HostOptions> {
        let time = |seconds: f64, what: &str| {
            let time = Duration::try_from_secs_f64(seconds).ok();
            let time = time.filter(|time| *time <= Duration::from_secs(1_000_000_000));
            time.ok_or_else(|| anyhow!("{what} is not a time in seconds"))
        };
        let is_word = |c: char| c.is_ascii_graphic() && !"();".contains(c);
        if record.match_id.is_empty() || !record.match_id.chars().all(is_word) {
            bail!("`{}` is not a valid name of a match", record.match_id);
        }
        Ok(HostOptions {
            start_clock: record.start_clock,
            play_clock: record.play_clock,
            most_moves: self.depth,
            whole_clock: self.whole_clock,
            preview_clock: self.preview_clock,
            grace: time(self.grace, "the grace")?,
            connect: time(self.connect, "the time to connect")?,
            most_bytes: self.max_answer,
            headers: self.headers,
            percepts: match self.percepts_alone {
                true => PerceptForm::List,
                false => PerceptForm::Own,
            },
            case: match self.rules.case_sensitive {
                true => Case::Keep,
                false => Case::Fold,
            },
            stop: context.stop().clone(),
            resources: Resources {
                threads: self.threads.get(),
                memory_bytes: self.memory.saturating_mul(1 << 20),
                values: self.values.library(Some(&[game]), context)?,
                tables: self.values.tables(Some(&[game]))?,
                limits: self.rules.limits(context),
            },
        })
    }
}
