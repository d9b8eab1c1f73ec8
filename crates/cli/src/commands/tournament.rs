//! `ggp tournament`: many matches between players, and their ratings.

mod arena;
mod report;
mod rows;
mod setup;
mod tally;
mod work;

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};

use crate::agent_limits::AgentLimits;
use crate::conformance::sha256;
use crate::value_files::ValueOptions;
use crate::{Context, Exit, format, kinds};
use ggp_engine::machine::{Limits, Machine};
use ggp_gdl::game::Game;
use ggp_learn::Library;
use ggp_play::contest::{Opening, Resources};
use ggp_play::protocol::host::HostOptions;
use ggp_play::schedule::{Seating, round_robin, swiss};

use arena::Arena;
use ggp_gdl::symbol::Case;
use rows::{Results, Row};
use setup::{Entrant, Pairing, Points, Setup};
use tally::Names;
use work::{Queue, Task, Worker};

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

Every group of players plays once in each rotation of the roles. In a game for one role, the
game is the opponent. Elo ratings are maximum-likelihood estimates with 95% intervals; rounds
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
    let names: BTreeSet<&String> = arenas.iter().map(|arena| &arena.name).collect();
    if names.len() < arenas.len() {
        bail!("two games have the same name");
    }
    let players = setup.players.len();
    for arena in &arenas {
        let roles = arena.played_roles().len();
        options.agents.check(roles)?;
        if players == 1 && roles > 1 {
            bail!(
                "{} has {roles} roles, and there is one player: add a --player, for example the \
                 same one with another name, NAME=KIND",
                arena.name
            );
        }
        if let Some(remote) = setup
            .players
            .iter()
            .find(|player| player.address().is_some())
            && players < roles
        {
            bail!(
                "{} has {roles} roles, and the network player {} plays only one role of a match: \
                 add players",
                arena.name,
                remote.name
            );
        }
    }
    let games: Vec<&Game> = arenas.iter().map(|arena| arena.machine.game()).collect();
    let values = options.values.library(Some(&games), context)?;
    let mut cup = Cup {
        values_digest: (!values.is_empty()).then(|| sha256(values.texts().join("\n").as_bytes())),
        values,
        results: Results::open(options.results.as_deref())?,
        rows: Vec::new(),
        setup,
        arenas,
        options,
        context,
    };
    cup.check_results()?;
    let ended = cup.play();
    cup.report()?;
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
    setup: Setup,
    arenas: Vec<Arena>,
    values: Arc<Library>,
    /// A digest of the values, if there are any.
    values_digest: Option<String>,
    results: Results,
    rows: Vec<Row>,
    options: &'a Options,
    context: &'a Context,
}

impl Cup<'_> {
    /// Returns true if the results may include matches of other tournaments.
    fn check_results(&self) -> anyhow::Result<()> {
        let strangers = || self.results.rows().filter(|row| !self.has(row));
        let (Some(path), Some(first)) = (&self.options.results, strangers().next()) else {
            return Ok(());
        };
        if self.options.append {
            return Ok(());
        }
        let (path, rounds) = (path.display(), self.setup.rounds);
        if strangers().all(|row| row.round >= rounds && self.is_seated(row)) {
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
            self.strangeness(first)
        );
    }

    /// The reason why a match belongs to another tournament.
    fn strangeness(&self, row: &Row) -> String {
        let mut players = row.players.iter().flatten();
        let is_known = |name: &&String| {
            self.setup
                .players
                .iter()
                .any(|player| player.name == **name)
        };
        if !self.arenas.iter().any(|arena| arena.name == row.game) {
            return format!("{} is not a game of this tournament", row.game);
        }
        match players.find(|name| !is_known(name)) {
            Some(name) => format!("{name} is not a player of this tournament"),
            None => "the rules, clocks, options of players, limits or the seed differ".to_owned(),
        }
    }

    /// Returns true if a match belongs to this tournament.
    fn has(&self, row: &Row) -> bool {
        row.round < self.setup.rounds && self.is_seated(row)
    }

    /// Returns true if a match would belong to this tournament with more rounds.
    fn is_seated(&self, row: &Row) -> bool {
        let Some(game) = self.arenas.iter().position(|arena| arena.name == row.game) else {
            return false;
        };
        let number = |name: &String| {
            let mut players = self.setup.players.iter();
            players.position(|player| player.name == *name)
        };
        let seating: Option<Seating> = row.players.iter().flatten().map(number).collect();
        let is_full = |seating: &Seating| seating.len() == self.arenas[game].played_roles().len();
        seating.filter(is_full).is_some_and(|seating| {
            self.task(game, row.round, row.number, &seating).row.id == row.id
        })
    }

    fn play(&mut self) -> anyhow::Result<()> {
        let rounds = 0..self.setup.rounds;
        match self.setup.pairing {
            Pairing::RoundRobin => {
                let mut tasks = Vec::new();
                for round in rounds {
                    tasks.extend(self.round(round)?);
                    self.limit(tasks.len())?;
                }
                self.batch(tasks)
            }
            Pairing::Swiss => {
                for round in rounds {
                    let tasks = self.round(round)?;
                    self.limit(tasks.len() + self.rows.len())?;
                    self.batch(tasks)?;
                }
                Ok(())
            }
        }
    }

    fn limit(&self, matches: usize) -> anyhow::Result<()> {
        let most = self.options.max_matches;
        match matches > most {
            true => Err(anyhow!("more than {most} matches; see --max-matches")),
            false => Ok(()),
        }
    }

    /// The matches of a round.
    fn round(&self, round: u64) -> anyhow::Result<Vec<Task>> {
        let mut tasks = Vec::new();
        for (game, arena) in self.arenas.iter().enumerate() {
            let (players, roles) = (self.setup.players.len(), arena.played_roles().len());
            let seed = self.seed(&[&arena.digest, "seatings", &round.to_string()]);
            let seatings = match self.setup.pairing {
                Pairing::RoundRobin => {
                    let seatings = round_robin(players, roles, seed, self.options.max_matches);
                    seatings.ok_or_else(|| {
                        let most = self.options.max_matches;
                        anyhow!("{}: more than {most} matches a round", arena.name)
                    })?
                }
                Pairing::Swiss => self.swiss(roles, seed),
            };
            for (number, seating) in seatings.iter().enumerate() {
                tasks.push(self.task(game, round, number, seating));
            }
        }
        Ok(tasks)
    }

    fn swiss(&self, roles: usize, seed: u64) -> Vec<Seating> {
        let names: Vec<String> = self.player_names();
        let standings = self.names(&names, &self.game_names()).standings(&self.rows);
        let met = |a: usize, b: usize| {
            let has = |row: &&Row, player: usize| {
                row.players
                    .iter()
                    .flatten()
                    .any(|name| *name == names[player])
            };
            self.rows
                .iter()
                .filter(|row| has(row, a) && has(row, b))
                .count() as u64
        };
        swiss(&standings, roles, seed, met)
    }

    fn player_names(&self) -> Vec<String> {
        let players = self.setup.players.iter();
        players.map(|player| player.name.clone()).collect()
    }

    fn game_names(&self) -> Vec<String> {
        self.arenas.iter().map(|arena| arena.name.clone()).collect()
    }

    fn names<'n>(&self, players: &'n [String], games: &'n [String]) -> Names<'n> {
        Names {
            players,
            games,
            points: self.setup.points,
        }
    }

    /// A number that depends only on the seed and some words.
    fn seed(&self, words: &[&str]) -> u64 {
        let text = format!("{} {}", self.setup.seed, words.join(" "));
        let digits = &sha256(text.as_bytes())[..16];
        u64::from_str_radix(digits, 16).expect("16 hexadecimal digits are 64 bits")
    }

    fn task(&self, game: usize, round: u64, number: usize, seating: &Seating) -> Task {
        let arena = &self.arenas[game];
        let mut seated = vec![None; arena.machine.game().role_count()];
        for (role, player) in arena.played_roles().into_iter().zip(seating) {
            seated[role] = Some(*player);
        }
        let entrant = |player: &Option<usize>| player.map(|player| &self.setup.players[player]);
        let texts = seated
            .iter()
            .map(|player| entrant(player).map_or("random", |e| &e.text));
        let texts: Vec<&str> = texts.collect();
        let place = format!("{round} {number}");
        let seed = self.seed(&[&arena.digest, &place, &texts.join(" ")]);
        let named = seated
            .iter()
            .map(|player| Some(entrant(player)?.name.clone()));
        let players: Vec<Option<String>> = named.collect();
        let mut what = format!(
            "{seed} {place} {players:?} {:?} {} {} {}",
            self.setup.clocks, self.options.threads, self.options.memory, self.options.depth
        );
        let opening = Opening {
            moves: self.setup.opening,
            seed: self.seed(&[&arena.digest, "opening", &round.to_string()]),
        };
        if let Some(digest) = &self.values_digest {
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
                roles: format::role_names(arena.machine.game()),
                seed,
                scores: None,
                errors: Vec::new(),
                slowest: Vec::new(),
                moves: Vec::new(),
                opening: 0,
                fault: None,
            },
            game,
            players: seated,
            opening,
        }
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
            case: Case::Fold,
            stop: self.context.stop().clone(),
            resources: Resources {
                threads: self.options.threads.get(),
                memory_bytes: self.options.memory.saturating_mul(1 << 20),
                values: Arc::clone(&self.values),
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
                    let arena = &self.arenas[task.game];
                    if let Some(why) = arena.contradiction(&task.row, &row) {
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
                let row = row.and_then(|row| self.results.add(&row).map(|()| row));
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
        let place = |row: &Row| self.arenas.iter().position(|arena| arena.name == row.game);
        self.rows
            .sort_by_key(|row| (row.round, place(row), row.players.clone(), row.id.clone()));
        let (players, games) = (self.player_names(), self.game_names());
        let tally = self.names(&players, &games).tally(&self.rows);
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
        for row in &self.rows {
            let cut = || "the match was aborted; see --depth".to_owned();
            if row.scores.is_none() {
                let why = row.fault.clone().unwrap_or_else(cut);
                self.context
                    .note(format_args!("{}, round {}: {why}", row.game, row.round + 1));
            }
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
