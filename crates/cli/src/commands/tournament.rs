//! `ggp tournament`: many matches between players, and their ratings.

mod arena;
mod report;
mod setup;
mod work;

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::agent_limits::AgentLimits;
use crate::conformance::sha256;
use crate::value_files::ValueOptions;
use crate::{Context, Exit, kinds};
use ggp_engine::machine::{Limits, Machine};
use ggp_gdl::counted::counted;
use ggp_gdl::game::Game;
use ggp_learn::Library;
use ggp_play::Tables;
use ggp_play::contest::Resources;
use ggp_play::protocol::host::{HostOptions, PerceptForm};
use ggp_play::tournament::{Plan, PlannedPlayer, Results, Row, Task};

use arena::Arena;
use ggp_gdl::symbol::Case;
use setup::{Entrant, Pairing, Points, Setup};
use work::{Queue, Worker};

/// The options of `ggp tournament`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp tournament --games a.kif,b.kif --player mcts:500 --player random --rounds 20
  ggp tournament cup.toml --jobs 4 --results cup.jsonl --plot cup.svg
  ggp tournament --games a.kif --player deep=mcts:2000 --player mcts:200 --rounds 50 --json
  ggp tournament --games a.kif --player far=http://10.0.0.2:9147 --player mcts \\
      --start-clock 10 --play-clock 2

A file such as cup.toml has any of these keys; command-line options take precedence:
  games = [\"a.kif\", \"rules.kif+board.kif\"]    # relative to the file
  players = [\"mcts:500\", \"random\"]            # or a table of names and players
  rounds = 20
  pairing = \"swiss\"                           # or \"round-robin\"
  points = \"score\"                            # or \"result\"
  start_clock = 10                            # seconds; without clocks,
  play_clock = 1                              # matches are reproducible
  iterations = 500                            # for players without their own number
  opening = \"2-4\"                             # random joint moves before the first choice
  seed = 1

Every group of players plays once in each rotation of the roles; in a game with more roles than
players, a player has several. Of each match, the scores of two roles with different players are
compared: won, drawn and lost count these. In a game for one role, the game is the opponent. Elo ratings are maximum-likelihood estimates with 95% intervals; rounds
are the periods of Glicko-2. Players move one after another, and --jobs matches are played at
once. A network player is in one match at a time, thinks at the same time as the others, and
needs clocks in whole seconds.")]
pub struct Options {
    /// Tournament file in TOML, or in JSON if its name ends in .json
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Rule files or folders; several files of one game are joined by `+`
    #[arg(long, value_name = "FILE,...", value_delimiter = ',')]
    games: Vec<PathBuf>,
    /// Player: an agent as in `ggp play`, or an address such as http://HOST:9147
    #[arg(long = "player", value_name = "[NAME=]PLAYER", value_parser = kinds::OrList::<Entrant>::new())]
    players: Vec<Entrant>,
    /// Number of rounds [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rounds: Option<u64>,
    /// Pairing of players [default: round-robin]
    #[arg(long, value_enum)]
    pairing: Option<Pairing>,
    /// Points for a match [default: result]
    #[arg(long, value_enum)]
    points: Option<Points>,
    #[command(flatten)]
    values: ValueOptions,
    /// Seconds before the first move
    #[arg(long, value_name = "S")]
    start_clock: Option<f64>,
    /// Seconds for each move
    #[arg(long, value_name = "S")]
    play_clock: Option<f64>,
    /// Additional seconds for each answer from the network beyond its clock
    #[arg(long, value_name = "S", default_value = "1", value_parser = crate::numbers::seconds)]
    grace: Duration,
    /// Send network players percepts in place of moves, as hosts did in 2011
    ///
    /// For games with `sees`, as in `ggp host`.
    #[arg(long)]
    percepts_alone: bool,
    /// Iterations a move for players without their own number
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Begin each match with N random joint moves, or with N to M; all matches of a round with a
    /// game have the same [default: 0]
    #[arg(long, value_name = "N[-M]", value_parser = setup::parse_opening)]
    opening: Option<(usize, usize)>,
    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Simultaneous matches [default: processors divided by threads]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Threads of each player
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Maximum memory for the search tables of each player, in MB
    #[arg(long, value_name = "MB", default_value_t = 256)]
    memory: u64,
    #[command(flatten)]
    agents: AgentLimits,
    /// Abort a match after this number of joint moves
    #[arg(long, value_name = "N", default_value_t = 1000)]
    depth: usize,
    /// Maximum number of matches in total
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_matches: usize,
    /// Append finished matches to this file and skip those it already has
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Keep matches of other tournaments in the results
    #[arg(long, requires = "results")]
    append: bool,
    /// Write a line for each role of each match to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the cross table to this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// The time limit for connecting to a player.
const CONNECT: Duration = Duration::from_secs(5);
/// The maximum size of an answer from the network, in bytes.
const MOST_ANSWER: usize = 1 << 20;

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written or has the wrong format, the options are not a valid
/// tournament, or it is interrupted. Finished matches are kept.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let setup = Setup::new(options)?;
    for path in [&options.csv, &options.plot].into_iter().flatten() {
        Context::can_write(path)?;
    }
    let mut arenas = Vec::new();
    for files in &setup.games {
        arenas.push(Arena::new(files, context)?);
    }
    let names: BTreeSet<&String> = arenas.iter().map(|arena| &arena.planned.name).collect();
    if names.len() < arenas.len() {
        bail!("two games have the same name");
    }
    let players = setup.players.len();
    for arena in &arenas {
        let (name, roles) = (&arena.planned.name, arena.planned.played.len());
        options.agents.check(roles)?;
        if players == 1 && roles > 1 {
            bail!(
                "{name} has {roles} roles, and there is one player: add a --player, for example the \
                 same one with another name, NAME=KIND"
            );
        }
        if let Some(remote) = setup
            .players
            .iter()
            .find(|player| player.address().is_some())
            && players < roles
        {
            bail!(
                "{name} has {roles} roles, and the network player {} plays only one role of a match: \
                 add players",
                remote.name
            );
        }
    }
    let games: Vec<&Game> = arenas.iter().map(|arena| arena.machine.game()).collect();
    let values = options.values.library(Some(&games), context)?;
    let tables = options.values.tables(Some(&games))?;
    let texts = values.texts().into_iter().map(str::to_owned);
    let mut texts: Vec<String> = texts.collect();
    // Who plays perfectly is another player as well.
    let perfect = games.iter().filter(|game| tables.of(game).is_some());
    texts.extend(perfect.map(|game| format!("table {}", ggp_verify::digest(game))));
    let texts = texts.join("\n");
    let planned = |player: &Entrant| PlannedPlayer {
        name: player.name.clone(),
        text: player.text.clone(),
    };
    let plan = Plan {
        games: arenas.iter().map(|arena| arena.planned.clone()).collect(),
        players: setup.players.iter().map(planned).collect(),
        rounds: setup.rounds,
        pairing: setup.pairing.into(),
        points: setup.points.into(),
        clocks: setup.clocks,
        opening: setup.opening,
        seed: setup.seed,
        threads: options.threads.get(),
        memory: options.memory,
        most_moves: options.depth,
        most_matches: options.max_matches,
        values: (!texts.is_empty()).then(|| sha256(texts.as_bytes())),
    };
    let mut cup = Cup {
        plan,
        values,
        tables,
        results: Results::open(options.results.as_deref())?,
        rows: Vec::new(),
        setup,
        arenas,
        options,
        context,
    };
    cup.check_results()?;
    let ended = cup.play();
    if !cup.rows.is_empty() {
        cup.report()?;
    }
    options.values.warn_of_gaps(&cup.tables, context);
    ended?;
    let faults = cup.rows.iter().any(|row| row.fault.is_some());
    let is_empty_handed = !cup.empty_handed().is_empty();
    Ok(match faults || is_empty_handed {
        true => Exit::Negative,
        false => Exit::Done,
    })
}

/// A tournament in progress.
struct Cup<'a> {
    plan: Plan,
    setup: Setup,
    arenas: Vec<Arena>,
    values: Arc<Library>,
    tables: Arc<Tables>,
    results: Results,
    rows: Vec<Row>,
    options: &'a Options,
    context: &'a Context,
}

impl Cup<'_> {
    /// Returns true if the results may include matches of other tournaments.
    fn check_results(&self) -> anyhow::Result<()> {
        let strangers = || self.results.rows().filter(|row| !self.plan.has(row));
        let (Some(path), Some(first)) = (&self.options.results, strangers().next()) else {
            return Ok(());
        };
        if self.options.append {
            return Ok(());
        }
        let (path, rounds) = (path.display(), self.setup.rounds);
        if strangers().all(|row| row.round >= rounds && self.plan.is_seated(row)) {
            let last = strangers().map(|row| row.round + 1).max().unwrap_or(rounds);
            bail!(
                "{path} has {last} rounds of this tournament, and it is to have {rounds}: say \
                 --rounds {last}, or --append to leave the others aside"
            );
        }
        bail!(
            "{path} has matches of another tournament ({}; {}): take another file, or --append \
             to keep them in this one",
            strangers().count(),
            self.plan.strangeness(first)
        );
    }

    fn play(&mut self) -> anyhow::Result<()> {
        for rounds in self.plan.stages() {
            let most = self.plan.most_matches;
            let tasks = self.plan.tasks(rounds, &self.rows);
            self.batch(tasks.with_context(|| {
                format!("more than {}; see --max-matches", counted(most, "match"))
            })?)?;
        }
        Ok(())
    }

    /// The settings for network players.
    fn host(&self) -> HostOptions {
        let seconds = |clock: Option<Duration>| clock.map_or(0, |clock| clock.as_secs() as u32);
        HostOptions {
            start_clock: seconds(self.setup.clocks.start),
            play_clock: seconds(self.setup.clocks.play),
            most_moves: self.options.depth,
            whole_clock: false,
            preview_clock: None,
            grace: self.options.grace,
            connect: CONNECT,
            most_bytes: MOST_ANSWER,
            headers: false,
            percepts: match self.options.percepts_alone {
                true => PerceptForm::List,
                false => PerceptForm::Own,
            },
            case: Case::Fold,
            stop: self.context.stop().clone(),
            resources: Resources {
                threads: self.options.threads.get(),
                memory_bytes: self.options.memory.saturating_mul(1 << 20),
                values: Arc::clone(&self.values),
                tables: Arc::clone(&self.tables),
                limits: Limits::default(),
            },
        }
    }

    /// Plays the unfinished matches on all job threads.
    fn batch(&mut self, tasks: Vec<Task>) -> anyhow::Result<()> {
        let mut open = VecDeque::new();
        for task in tasks {
            match self.results.take(&task.row.id) {
                Some(row) => {
                    let mut machine = self.arenas[task.game].machine.clone();
                    if let Some(why) = row.contradiction(&task.row, &mut machine) {
                        let (name, id) = (self.results.name(), row.id);
                        bail!("{name}: the match {id} has {why}; remove its line to play it again");
                    }
                    self.rows.push(row);
                }
                None => open.push_back(task),
            }
        }
        let bar = self.context.bar(open.len() as u64, "matches");
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        let jobs = self
            .options
            .jobs
            .map_or(processors / self.options.threads, NonZeroUsize::get);
        let jobs = jobs.clamp(1, open.len().max(1));
        let (host, is_resumed) = (self.host(), self.results.was_begun());
        let queue = Queue::new(&self.setup.players, open);
        let ended = std::thread::scope(|scope| {
            let (sender, ended) = channel();
            let (mut running, mut refused) = (0, None);
            for _ in 0..jobs {
                let worker = Worker {
                    machines: self
                        .arenas
                        .iter()
                        .map(|arena| arena.machine.clone())
                        .collect(),
                    limits: self
                        .arenas
                        .iter()
                        .map(|arena| arena.limits.clone())
                        .collect(),
                    clocks: self.setup.clocks,
                    host: host.clone(),
                    most_moves: self.options.depth,
                    is_resumed,
                };
                let (sender, queue) = (sender.clone(), &queue);
                let start = std::thread::Builder::new();
                match start.spawn_scoped(scope, move || worker.work(queue, &sender)) {
                    Ok(_) => running += 1,
                    Err(error) => refused = Some(error),
                }
            }
            drop(sender);
            // With fewer threads than asked for, the tournament takes longer.
            let mut result = match refused.filter(|_| running == 0) {
                Some(error) => Err(error).context("cannot start a thread"),
                None => Ok(()),
            };
            for row in ended {
                bar.inc(1);
                let row = row.and_then(|row| Ok(self.results.add(&row).map(|()| row)?));
                match row {
                    Ok(row) => self.rows.push(row),
                    Err(error) => {
                        queue.clear();
                        result = Err(error);
                    }
                }
            }
            result
        });
        bar.finish_and_clear();
        ended
    }

    /// The players whose moves all had to be drawn.
    fn empty_handed(&self) -> Vec<&str> {
        let names = self.setup.players.iter().map(|player| &player.name[..]);
        let moves = |name: &str| -> (usize, usize) {
            let counts = self.rows.iter().map(|row| row.moves_of(name));
            counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
        };
        let names =
            names.filter(|name| matches!(moves(name), (made @ 1.., drawn) if made == drawn));
        names.collect()
    }

    fn report(&mut self) -> anyhow::Result<()> {
        self.plan.sort(&mut self.rows);
        let tally = self.plan.tally(&self.rows);
        if self.context.json() {
            self.context.print_json(&tally)?;
        } else {
            self.context.print(report::text(&tally).trim_end())?;
        }
        if self.results.others() > 0 {
            let others = self.results.others();
            self.context.note(format_args!(
                "matches of other tournaments in the results: {others}"
            ));
        }
        // One fault of the rules ends many matches.
        let mut faults: Vec<(&str, &str, u64, usize)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.scores.is_none()) {
            let cut = "the match was aborted; see --depth";
            let why = row.fault.as_deref().unwrap_or(cut);
            let same = |why: &str| why.lines().next().map(str::to_owned);
            match faults
                .iter_mut()
                .find(|fault| fault.0 == row.game && same(fault.1) == same(why))
            {
                Some(fault) => fault.3 += 1,
                None => faults.push((&row.game, why, row.round + 1, 0)),
            }
        }
        for (game, why, round, others) in faults {
            let more = match others {
                0 => String::new(),
                _ => format!("\n  and so {}", counted(others, "more match")),
            };
            self.context
                .note(format_args!("{game}, round {round}: {why}{more}"));
        }
        let overbooked: u64 = tally.players.iter().map(|player| player.overbooked).sum();
        if overbooked > 0 {
            self.context.note(format_args!(
                "{overbooked} late answers came while their match waited for a processor for a tenth \
                 of the time or more: the machine was too busy for the clocks"
            ));
        }
        for name in self.empty_handed() {
            self.context
                .note(format_args!("{name} never made a legal move in time"));
        }
        if let Some(path) = &self.options.csv {
            self.context.write_file(path, &report::csv(&self.rows)?)?;
        }
        if let Some(path) = &self.options.plot {
            self.context
                .write_file(path, report::svg(&tally)?.as_bytes())?;
        }
        Ok(())
    }
}
