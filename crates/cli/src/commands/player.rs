//! `ggp player`: a GGP network player.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Context as _;

use crate::numbers::seconds;
use crate::rule_files::EngineOptions;
use crate::rule_limits::EvaluationOptions;
use crate::value_files::ValueOptions;
use crate::{Context, Exit, kinds, listening};
use ggp_gdl::check::ReadOptions;
use ggp_gdl::game::Game;
use ggp_gdl::symbol::Case;
use ggp_play::protocol::message::MessageLimits;
use ggp_play::protocol::player::{Event, Log, PORT, Player, PlayerOptions};
use ggp_play::{AgentSpec, Brief};

/// The time limit for grounding the network, which runs in the background.
const GROUND_TIME: Duration = Duration::from_secs(600);
/// The maximum size of rules in bytes. The longest published rules have 70 KiB.
const RULE_BYTES: usize = 4 << 20;
/// The maximum number of literals and terms of rules.
const RULE_SIZE: usize = 4_000_000;

/// The options of `ggp player`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp player                                        port 9147, this machine only
  ggp player --listen 0.0.0.0 --name Deep_Thought   for hosts on other machines
  ggp player --player mcts:2s --margin 1            at most 2 s a move, 1 s for the network
  ggp player --port 0 --matches 1 --json            any free port, one match, JSON lines

Hosts use the GGP protocol: INFO, PREVIEW, START, PLAY, STOP and ABORT over HTTP. Events are
printed on standard error; with --json, as JSON lines on standard output. Anyone who can reach
the port can start a match; --listen opens it to other machines.")]
pub struct Options {
    /// Port; 0 is any free port [default: 9147 or the next free port]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Address to listen on; 0.0.0.0 means all addresses of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    #[arg(value_parser = listening::address)]
    listen: IpAddr,
    /// Agent, as in `ggp play`; `list` shows all
    #[arg(long, value_name = "KIND", default_value = "auto")]
    #[arg(value_parser = kinds::OrList::<AgentSpec>::new())]
    player: AgentSpec,
    /// Name of the player
    #[arg(long, value_name = "NAME", default_value = "ggp")]
    name: String,
    /// Threads that search and prepare a search [default: number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<u16>>,
    /// Maximum memory for search tables, in MB
    #[arg(long, value_name = "MB", default_value_t = 1_024)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    memory: u64,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Seconds of each clock reserved for the network [default: adaptive]
    ///
    /// By default half a second, or 0.15 s for a host on this machine, plus twice the delay of late
    /// answers, and more after the host has replaced a move that took the whole clock; at most a
    /// third of the clock.
    #[arg(long, value_name = "S", value_parser = seconds)]
    margin: Option<Duration>,
    /// Do not think while others choose
    #[arg(long)]
    no_ponder: bool,
    /// Stop after this number of matches
    #[arg(long, value_name = "N")]
    matches: Option<u64>,
    /// Treat names as case-sensitive
    #[arg(long)]
    case_sensitive: bool,
    /// Also print each message
    #[arg(long, short)]
    verbose: bool,
    /// Append all events to a file, as JSON lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    values: ValueOptions,
    #[command(flatten)]
    engine: EngineOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Limits on hosts and their games.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Maximum size of a message, in bytes
    #[arg(long, value_name = "N", default_value_t = MessageLimits::default().bytes)]
    max_body: usize,
    /// Maximum number of connections; for one more, an idle one is closed
    #[arg(long, value_name = "N", default_value_t = 256)]
    max_connections: u16,
    /// Seconds after which a silent connection is closed
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    idle_timeout: Duration,
    /// Seconds of silence after a clock until a match is aborted [default: ten play clocks, from
    /// a minute to an hour]
    #[arg(long, value_name = "S", value_parser = seconds)]
    patience: Option<Duration>,
    /// Maximum size of rules, in bytes
    #[arg(long, value_name = "N", default_value_t = RULE_BYTES)]
    max_rule_bytes: usize,
    /// Maximum number of literals and terms of rules, with alternatives expanded
    #[arg(long, value_name = "N", default_value_t = RULE_SIZE)]
    #[arg(hide_short_help = true)]
    max_rule_size: usize,
    #[command(flatten)]
    evaluation: EvaluationOptions,
}

/// Runs the command.
///
/// # Errors
///
/// If the port or the log file is not available.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    options.check_agent()?;
    let player = options.player_options(context)?;
    let player = match options.port {
        Some(port) => Player::bind((options.listen, port).into(), player)
            .with_context(|| format!("cannot listen on {} port {port}", options.listen)),
        None => Player::bind_default(options.listen, player)
            .with_context(|| format!("cannot listen on {} near port {PORT}", options.listen)),
    }?;
    let log = options.log(context)?;
    player.run(context.stop(), log)?;
    Ok(Exit::Done)
}

/// The rules of a minimal game.
const ANY: &str = "(role r) (init f) (next f) (legal r m) (<= terminal (true g)) (goal r 0)";

impl Options {
    /// Checks the options of the agent, which are read when it is created, before the first
    /// match.
    fn check_agent(&self) -> anyhow::Result<()> {
        let game = Game::from_text("any", ANY).expect("the rules are valid");
        let role = game.roles().next().expect("the game has a role");
        let made = self.player.agent(Brief::new(&game, role));
        made.map(drop).map_err(anyhow::Error::msg)
    }

    fn player_options(&self, context: &Context) -> anyhow::Result<PlayerOptions> {
        let limits = &self.limits;
        let evaluation = &limits.evaluation;
        let cores = || available_parallelism().map_or(1, NonZero::get);
        Ok(PlayerOptions {
            name: self.name.clone(),
            threads: self.threads.map_or_else(cores, |n| usize::from(n.get())),
            memory_bytes: self.memory.saturating_mul(1 << 20),
            seed: self.seed,
            values: self.values.library(None, context)?,
            tables: self.values.tables(None)?,
            ponders: !self.no_ponder,
            margin: self.margin,
            reading: ReadOptions {
                case: match self.case_sensitive {
                    true => Case::Keep,
                    false => Case::Fold,
                },
                size: limits.max_rule_size,
                ..evaluation.read_options(limits.max_rule_bytes)
            },
            limits: evaluation.limits(GROUND_TIME, self.engine.engine(), context),
            message: MessageLimits {
                bytes: limits.max_body,
                // The rules are a list inside the message.
                nesting: evaluation.max_nesting().saturating_add(2),
                ..MessageLimits::default()
            },
            connections: limits.max_connections.into(),
            idle: limits.idle_timeout,
            patience: limits.patience,
            matches: self.matches,
            ..PlayerOptions::new(self.player.clone())
        })
    }

    fn log(&self, context: &Context) -> anyhow::Result<Log> {
        let open = |path: &PathBuf| -> anyhow::Result<Mutex<File>> {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file = file.with_context(|| format!("cannot write {}", path.display()))?;
            Ok(Mutex::new(file))
        };
        let file = self.log.as_ref().map(open).transpose()?;
        let (json, quiet, verbose) = (context.json(), context.quiet(), self.verbose);
        Ok(Log::new(move |event: &Event| {
            // A full disk or a closed pipe must not end a match.
            if let Some(file) = &file {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = file.write_all(line(event).as_bytes());
            }
            if event.is_detail() && !verbose {
                return;
            }
            if json {
                let _ = io::stdout().lock().write_all(line(event).as_bytes());
            } else if !quiet {
                let _ = writeln!(io::stderr(), "{event}");
            }
        }))
    }
}

/// An event as a line of JSON.
fn line(event: &Event) -> String {
    let line = serde_json::to_string(event).expect("strings and numbers are JSON");
    line + "\n"
}
