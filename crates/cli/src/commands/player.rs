//! `ggp player`: a player that match hosts reach over the network.

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
use crate::rule_files::{EngineOptions, GroundOptions, nesting};
use crate::{Context, Exit, kinds};
use ggp_gdl::check::ReadOptions;
use ggp_gdl::game::Game;
use ggp_play::protocol::message::MessageLimits;
use ggp_play::protocol::player::{Event, Log, PORT, Player, PlayerOptions};
use ggp_gdl::terms::TermLimits;
use ggp_engine::machine::Limits;
use ggp_play::{AgentSpec, Brief};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::SyntaxLimits;

/// Time for a network, which is made beside everything else.
const GROUND_TIME: Duration = Duration::from_secs(600);
/// Bytes of rules from anybody; the longest that are published have 70 KiB.
const RULE_BYTES: usize = 4 << 20;
/// Literals and terms of rules from anybody.
const RULE_SIZE: usize = 4_000_000;

/// The options of `ggp player`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp player                                        port 9147, this machine only
  ggp player --listen 0.0.0.0 --name Deep_Thought   for hosts elsewhere
  ggp player --player mcts:2s --margin 1            at most 2 s a move, 1 s for the network
  ggp player --port 0 --matches 1 --json            any free port, one match, JSON lines

Hosts speak the GGP protocol: INFO, PREVIEW, START, PLAY, STOP and ABORT over HTTP. What
happens is told on standard error; with --json, as JSON lines on standard output. Anybody
who reaches the port can begin a match: --listen opens it to other machines.")]
pub struct Options {
    /// The port; 0 is any free one [default: 9147, or the next free one]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// The address to be reached at; 0.0.0.0 is all of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Who thinks, as in `ggp play`; `list` shows the kinds
    #[arg(long, value_name = "KIND", default_value = "mcts")]
    #[arg(value_parser = kinds::OrList::<AgentSpec>::new())]
    player: AgentSpec,
    /// What it calls itself
    #[arg(long, value_name = "NAME", default_value = "ggp")]
    name: String,
    /// Threads that may search at once [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<u16>>,
    /// Most memory for tables, in MiB
    #[arg(long, value_name = "MB", default_value_t = 1_024)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    memory: u64,
    /// The seed of random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Seconds of each clock that are left for the network [default: adjusts itself]
    ///
    /// By default half a second, and twice the longest time by which one of the last 16
    /// answers was late, and more whenever the host did not get a move that took the whole
    /// clock; a third of the clock at most.
    #[arg(long, value_name = "S", value_parser = seconds)]
    margin: Option<Duration>,
    /// Do not think while others choose
    #[arg(long)]
    no_ponder: bool,
    /// End after so many matches
    #[arg(long, value_name = "N")]
    matches: Option<u64>,
    /// Tell `Cell` from `cell`
    #[arg(long)]
    case_sensitive: bool,
    /// Also tell of each message
    #[arg(long, short)]
    verbose: bool,
    /// Add what happens to a file, as JSON lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// What hosts and their games may cost.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Most bytes of a message
    #[arg(long, value_name = "N", default_value_t = MessageLimits::default().bytes)]
    max_body: usize,
    /// Most connections; past them the one is closed that has been silent for longest
    #[arg(long, value_name = "N", default_value_t = 256)]
    max_connections: u16,
    /// Seconds after which a silent connection is closed
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    idle_timeout: Duration,
    /// Seconds after a clock's end without a message until a match is given up [default: ten
    /// play clocks, from a minute to an hour]
    #[arg(long, value_name = "S", value_parser = seconds)]
    patience: Option<Duration>,
    /// Most bytes of rules
    #[arg(long, value_name = "N", default_value_t = RULE_BYTES)]
    max_rule_bytes: usize,
    /// Most literals and terms of rules, alternatives multiplied out
    #[arg(long, value_name = "N", default_value_t = RULE_SIZE)]
    #[arg(hide_short_help = true)]
    max_rule_size: usize,
    /// Deepest nesting of lists, from 1 to 1000
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().nesting)]
    #[arg(hide_short_help = true, value_parser = nesting)]
    max_nesting: usize,
    /// Most facts and rules, alternatives multiplied out
    #[arg(long, value_name = "N", default_value_t = ReadOptions::default().rules)]
    #[arg(hide_short_help = true)]
    max_rules: usize,
    /// Most rules that one rule with alternatives may stand for
    #[arg(long, value_name = "N", default_value_t = ReadOptions::default().alternatives)]
    #[arg(hide_short_help = true)]
    max_alternatives: usize,
    /// Most different terms
    #[arg(long, value_name = "N", default_value_t = TermLimits::default().count)]
    #[arg(hide_short_help = true)]
    max_terms: usize,
    /// Most facts derived in one state
    #[arg(long, value_name = "N", default_value_t = Limits::default().facts)]
    #[arg(hide_short_help = true)]
    max_facts: usize,
    /// Most matches tried in one state
    #[arg(long, value_name = "N", default_value_t = Limits::default().work)]
    #[arg(hide_short_help = true)]
    max_work: u64,
    #[command(flatten)]
    ground: GroundOptions,
}

/// Runs the command.
///
/// # Errors
///
/// If the port or the log is not to be had.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    options.check_agent()?;
    let player = options.player_options(context);
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

/// Rules of a game, any game.
const ANY: &str = "(role r) (init f) (next f) (legal r m) (<= terminal (true g)) (goal r 0)";

impl Options {
    /// Options of an agent are read when it is made: that shall not wait until a
    /// match begins.
    fn check_agent(&self) -> anyhow::Result<()> {
        let game = Game::from_text("any", ANY).expect("the rules are right");
        let role = game.roles().next().expect("there is one");
        let made = self.player.agent(Brief::new(&game, role));
        made.map(drop).map_err(anyhow::Error::msg)
    }

    fn player_options(&self, context: &Context) -> PlayerOptions {
        let limits = &self.limits;
        let syntax = SyntaxLimits {
            bytes: limits.max_rule_bytes,
            nesting: limits.max_nesting,
        };
        let cores = || available_parallelism().map_or(1, NonZero::get);
        PlayerOptions {
            name: self.name.clone(),
            threads: self.threads.map_or_else(cores, |n| usize::from(n.get())),
            memory_bytes: self.memory.saturating_mul(1 << 20),
            seed: self.seed,
            ponders: !self.no_ponder,
            margin: self.margin,
            reading: ReadOptions {
                case: match self.case_sensitive {
                    true => Case::Keep,
                    false => Case::Fold,
                },
                syntax,
                rules: limits.max_rules,
                alternatives: limits.max_alternatives,
                size: limits.max_rule_size,
                terms: TermLimits {
                    count: limits.max_terms,
                    ..TermLimits::default()
                },
                ..ReadOptions::default()
            },
            limits: Limits {
                facts: limits.max_facts,
                work: limits.max_work,
                ground: limits.ground.limits(GROUND_TIME, context),
                engine: self.engine.engine(),
                ..Limits::default()
            },
            message: MessageLimits {
                bytes: limits.max_body,
                // Rules stand in a list inside the message.
                nesting: limits.max_nesting.saturating_add(2),
                ..MessageLimits::default()
            },
            connections: limits.max_connections.into(),
            idle: limits.idle_timeout,
            patience: limits.patience,
            matches: self.matches,
            ..PlayerOptions::new(self.player.clone())
        }
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
