//! `ggp solve`: plans of a game with one role, or a proof that there is none.

mod answer;
mod batch;
mod breadth_first;
mod film;
mod progress;
mod reference;
mod refusals;
mod report;

pub use report::verdict_name;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::numbers::seconds;
use crate::position::PositionOptions;
use crate::processes::{self, Member, Sharing, Watch};
use crate::rule_files::{GoalOptions, RuleOptions};
use crate::{Context, Exit};
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, GoalChoice, Score};
use ggp_search::{Budget, Plans, Prune, Stats, Verdict};
use ggp_solver::solve::{
    Answer, Checker, Keys, Method, Scoring, SolveError, SolveOptions, count_from, role_of_plan,
    solve_best_from, solve_from,
};
use ggp_stop::Stop;
pub(super) use progress::{Progress, Report};

/// The options of `ggp solve`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp solve buttons_and_lights.kif --all
  ggp solve eight_puzzle.kif --method iterative-deepening --stats table
  ggp solve hitori.kif --grid board.txt --budget-time 10
  ggp solve eight_puzzle.kif --animate plan.svg
  ggp solve hitori.kif --each puzzles.txt --threads 2
  ggp solve eight_puzzle.kif --answer plan.json && ggp verify eight_puzzle.kif plan.json
  ggp solve --suite games --roles 1 --budget-time 10
  ggp solve --suite games --roles 1 --reference benches/single_player.csv

A plan is a line of moves; compound moves are in brackets. Every plan is played again before it
is printed, by the naive evaluator unless --check selects another. A game of several roles, or with
chance, has no plan: `ggp prove` computes the value of a position and its best moves.

Exit codes: 0 solved; 1 unsolvable, or no plan found; 2 bad input or a failure. With
--reference: 0 no contradictions, 1 contradictions.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    #[command(flatten)]
    search: SearchOptions,
    /// Print all shortest plans, not only one
    #[arg(long, conflicts_with_all = ["each", "suite"])]
    all: bool,
    /// Maximum number of plans to print with --all
    #[arg(long, value_name = "N", default_value = "1000", requires = "all")]
    max_plans: NonZeroUsize,
    /// Look for up to N solutions that differ in more than the order of moves, and for a proof
    /// that there are no others
    #[arg(long, value_name = "N", conflicts_with_all = ["all", "optimal", "suite"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Format of progress reports
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    progress: Report,
    /// Print statistics of each level of the search
    #[arg(long, value_enum, value_name = "FORMAT")]
    #[arg(conflicts_with_all = ["each", "suite", "count"])]
    stats: Option<StatsFormat>,
    /// Write statistics to this file, as CSV unless --stats selects another format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["each", "suite", "count"])]
    stats_file: Option<PathBuf>,
    /// Write the answer and its proof to this file, for `ggp verify`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["each", "suite"])]
    answer: Option<PathBuf>,
    /// Solve the rules with each puzzle in this file, as with --grid
    ///
    /// A puzzle is a line, either `[[1,2],[3,4]]` or rows separated by `/`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grid", "state", "moves", "moves_file"])]
    each: Option<PathBuf>,
    /// Solve each rule file separately, including those in folders
    #[arg(long, conflicts_with_all = ["each", "grid", "state", "moves", "moves_file"])]
    suite: bool,
    /// Solve only games of --suite with this number of roles
    #[arg(long, value_name = "N", requires = "suite")]
    roles: Option<usize>,
    /// Show known results of the games of --suite from this table (CSV), and report
    /// contradictions
    #[arg(long, value_name = "FILE", requires = "suite")]
    reference: Option<PathBuf>,
    /// Number of threads for a search; with --each or --suite, number of puzzles to solve at
    /// the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    #[command(flatten)]
    film: film::FilmOptions,
    #[command(flatten)]
    levels: breadth_first::Flags,
    #[command(flatten, next_help_heading = "With --method breadth-first-packed")]
    processes: Sharing,
}

/// The search options of `ggp solve`.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
struct SearchOptions {
    /// The search method
    #[arg(long, value_parser = methods(), default_value = "auto")]
    method: Method,
    /// Positions that iterative deepening leaves out [default: cycle]
    #[arg(long, value_enum, value_delimiter = ',')]
    prune: Vec<PruneChoice>,
    /// The part of a position that is compared to recognize it [default: auto]
    #[arg(long, value_parser = choice(KEYS))]
    keys: Option<Keys>,
    /// Length of the longest plan to look for, in moves
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// The least score that counts as solved, or `best` for the highest that can be reached
    #[arg(long, value_name = "N", default_value = "100", value_parser = goal)]
    goal: Goal,
    /// Continue until it is proved that no plan is shorter
    #[arg(long)]
    optimal: bool,
    /// Time limit in seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    budget_time: Option<Duration>,
    /// Maximum number of positions expanded
    #[arg(long, value_name = "N")]
    budget_nodes: Option<u64>,
    /// Maximum memory for tables, in MB
    #[arg(long, value_name = "MB", default_value_t = 2_048)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    budget_memory: u64,
    /// The evaluator that plays each plan again before it is printed
    #[arg(long, value_enum, default_value_t)]
    check: CheckChoice,
    /// The value of a playout of nrpa [default: points]
    #[arg(long, value_parser = choice(SCORINGS))]
    scoring: Option<Scoring>,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// A parser for an option with these values, each with its name and its help.
fn choice<T: Copy + Send + Sync + 'static>(
    values: &'static [(&str, &str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter();
    let names = names.map(|&(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(|name| {
        let chosen = values.iter().find(|value| value.0 == name);
        chosen.expect("the parser lists only these names").2
    })
}

/// A parser for the names in the table of methods.
fn methods() -> impl TypedValueParser<Value = Method> {
    let values = Method::all().map(|m| PossibleValue::new(m.name()).help(m.about()));
    PossibleValuesParser::new(values).map(|name| {
        name.parse()
            .expect("the parser lists only names of methods")
    })
}

/// Positions that a search leaves out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum PruneChoice {
    /// Positions that were reached before
    Cycle,
    /// Positions without continuation that are not solutions
    Deadleaf,
    /// No positions
    None,
}

impl PruneChoice {
    /// The combination of a list of choices.
    pub(super) fn combined(choices: &[PruneChoice]) -> Prune {
        Prune {
            cycle: choices.contains(&PruneChoice::Cycle),
            dead_leaf: choices.contains(&PruneChoice::Deadleaf),
        }
    }
}

const KEYS: &[(&str, &str, Keys)] = &[
    (
        "auto",
        "Positions without step counters where this is safe, otherwise whole positions",
        Keys::Auto,
    ),
    ("exact", "Whole positions", Keys::Exact),
    (
        "stripped",
        "Positions without any step counter",
        Keys::Stripped,
    ),
];

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum StatsFormat {
    /// A table in columns
    Table,
    /// One JSON object
    Json,
    /// CSV with a line for each level
    Csv,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum CheckChoice {
    /// The naive evaluator; with --each and --suite the Datalog evaluator
    #[default]
    Auto,
    /// The naive evaluator; the Datalog evaluator if that takes too long
    Naive,
    /// The Datalog evaluator
    Datalog,
}

const SCORINGS: &[(&str, &str, Scoring)] = &[
    (
        "points",
        "The score at the end, then the number of facts that are as required",
        Scoring::Points,
    ),
    (
        "length",
        "More for a shorter solution, -1 for a repeated position, otherwise 0",
        Scoring::Length,
    ),
];

/// The required score of an end.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Goal {
    /// At least this score.
    Least(Score),
    /// The highest score that can be reached.
    Best,
}

fn goal(text: &str) -> Result<Goal, String> {
    let number = text.parse::<u8>().ok().filter(|&number| number > 0);
    match (text, number.and_then(Score::new)) {
        ("best", _) => Ok(Goal::Best),
        (_, Some(score)) => Ok(Goal::Least(score)),
        _ => Err("neither a number from 1 to 100 nor `best`".to_owned()),
    }
}

/// Whether there are many puzzles to solve.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Batch {
    No,
    Yes,
}

impl SearchOptions {
    fn options(
        &self,
        plans: Plans,
        batch: Batch,
        threads: usize,
        context: &Context,
    ) -> SolveOptions {
        let mut options = SolveOptions::default();
        options.method = self.method;
        options.target = match self.goal {
            Goal::Least(score) => score,
            Goal::Best => Score::MAX,
        };
        options.optimal = self.optimal;
        options.threads = threads;
        options.plans = plans;
        if !self.prune.is_empty() {
            options.prune = PruneChoice::combined(&self.prune);
        }
        options.keys = self.keys.unwrap_or_default();
        options.budget = Budget {
            nodes: self.budget_nodes.unwrap_or(u64::MAX),
            memory_bytes: self.budget_memory.saturating_mul(1 << 20),
            time: self.budget_time,
            stop: context.stop().clone(),
            depth: self.depth.unwrap_or(u32::MAX),
            ..Budget::default()
        };
        options.seed = self.seed;
        options.scoring = self.scoring.unwrap_or_default();
        options.checker = match (self.check, batch) {
            (CheckChoice::Naive, _) | (CheckChoice::Auto, Batch::No) => Checker::Naive,
            (CheckChoice::Datalog, _) | (CheckChoice::Auto, Batch::Yes) => Checker::Datalog,
        };
        options
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or the rules have errors or cannot be evaluated.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let plans = match options.all {
        true => Plans::AllShortest {
            max: options.max_plans.get(),
        },
        false => Plans::First,
    };
    refusals::refuse(options)?;
    let batch = match options.each.is_some() || options.suite {
        true => Batch::Yes,
        false => Batch::No,
    };
    let threads = match batch {
        Batch::No => usize::from(options.threads),
        Batch::Yes => 1,
    };
    let mut how = options.search.options(plans, batch, threads, context);
    options
        .levels
        .apply(batch == Batch::No, &options.processes, &mut how)?;
    let uses_stdin = options.rules.uses_stdin() || options.position.uses_stdin();
    options.processes.refuse_stdin(uses_stdin)?;
    if options.processes.are_several() && options.search.goal == Goal::Best {
        bail!("--processes and --hosts need a score to reach, so --goal best cannot be used");
    }
    let member = options.processes.member()?;
    match &member {
        Some(member) => member.follow(context),
        None if options.processes.are_several() => {
            let work = Watch {
                checkpoint: options.levels.checkpoint(),
                prepare: &|has_first| options.levels.prepare(has_first),
                advice: match options.levels.spill().is_some() {
                    true => "",
                    false => "; with --checkpoint the search would go on from there",
                },
                elsewhere: "the search has ended; process 0 has the answer",
            };
            let spill = options.levels.spill();
            let made = spill.filter(|folder| !folder.exists());
            let ended = processes::run(&options.processes, &work, context);
            if let Some(made) = made {
                // The process that made it may not be the last to leave it.
                let _ = std::fs::remove_dir(made);
            }
            return ended;
        }
        None => {}
    }
    if member.as_ref().is_none_or(Member::is_first) {
        note_goals(options.rules.goals, context);
    }
    if let Some(path) = &options.each {
        return batch::each(options, path, &how, context);
    }
    if options.suite {
        return batch::suite(options, &how, context);
    }
    let began = Instant::now();
    let game = game(&options.rules, &how.budget, context)?;
    options.film.can_write()?;
    if let Err(error) = role_of_plan(&game) {
        let value = "`ggp prove` for the value of a position and its best moves";
        if game.is_hidden() && matches!(error, SolveError::NotOneRole(_)) {
            bail!(
                "{error}; use `ggp play` to play a match, {value} if all roles know the position, or \
                 `ggp export --efg` for a solver of games with hidden information"
            );
        }
        bail!("{error}; use {value}, or `ggp play` to play a match");
    }
    how.budget = left(&how.budget, began);
    let began = Instant::now();
    let mut machine = machine(&options.rules, &game, &how.budget, context)?;
    how.budget = left(&how.budget, began);
    if how.budget.time == Some(Duration::ZERO) {
        context.note("note: the time limit was reached before the rules were ready");
    }
    let began = Instant::now();
    let start = options
        .position
        .state(&mut machine, &options.rules, context)?;
    if let Some(at_most) = options.count {
        let counted = count_from(&machine, &start, &how, at_most as usize)?;
        let is_cut_short =
            context.is_interrupted() || how.budget.time.is_some_and(|time| began.elapsed() >= time);
        if counted.plans.is_empty() && !counted.is_all && !is_cut_short {
            bail!(
                "--count does not apply: it is for games in which each fact that a solution \
                 needs is written once, and it has no result for this game"
            );
        }
        if let Some(path) = &options.answer {
            how.budget = left(&how.budget, began);
            answer::write_count(path, &machine, &start, &how, &counted, context)?;
        }
        report::print_count(&machine, &counted, how.target, context)?;
        return Ok(match counted.plans.is_empty() {
            true => Exit::Negative,
            false => Exit::Done,
        });
    }
    let mut progress = Progress::new(options.progress, context);
    let mut stats = Stats::default();
    let solve = match options.search.goal {
        Goal::Least(_) => solve_from,
        Goal::Best => solve_best_from,
    };
    let answer = solve(&machine, &start, &how, &mut stats, &mut progress);
    progress.finish();
    if let Some(member) = &member {
        if let Err(SolveError::Files(error)) = &answer {
            member.leave_if_lost(error);
        }
        if !member.is_first() {
            return Ok(exit(&answer?));
        }
    }
    let answer = answer?;
    if let Some(path) = &options.answer {
        how.budget = left(&how.budget, began);
        answer::write(path, &machine, &start, &how, &answer, context)?;
    }
    report::print(&machine, &how, &answer, &stats, options, context)?;
    let is_shared = member.is_some();
    options.levels.note(&answer, &stats, is_shared, context);
    options
        .film
        .write(&options.rules, &machine, &start, &answer, context)?;
    Ok(exit(&answer))
}

/// Reports the choice among several goal values, if one was asked for.
fn note_goals(options: GoalOptions, context: &Context) {
    match options.goals {
        None | Some(GoalChoice::Error) => {}
        Some(choice) => context.note(format_args!(
            "note: where the rules give several goal values, the {choice} is the score"
        )),
    }
}

/// Reads the rules within the time limit of the search, but at least for a moment.
pub(super) fn game(
    rules: &RuleOptions,
    budget: &Budget,
    context: &Context,
) -> anyhow::Result<Game> {
    let time = budget.time.map(|time| time.max(MOMENT));
    let stop = context.stop().within(time);
    context.waiting_at_most(time, || rules.game_until(&stop, context))
}

/// Creates a machine within the time limit of the search, of which a network gets half. If it
/// is not ready by then, the machine works without it.
pub(super) fn machine(
    rules: &RuleOptions,
    game: &Game,
    budget: &Budget,
    context: &Context,
) -> anyhow::Result<AnyMachine> {
    let limits = rules.limits_within(budget.time, context);
    machine_within(rules, game, budget, limits, context)
}

/// Creates a machine as [`machine`] does, within other limits too.
fn machine_within(
    rules: &RuleOptions,
    game: &Game,
    budget: &Budget,
    mut limits: Limits,
    context: &Context,
) -> anyhow::Result<AnyMachine> {
    if let Some(time) = budget.time {
        limits.ground.time = limits.ground.time.map(|usual| usual.min(time / 2));
        limits.stop = limits.stop.within(Some(time));
        // The network has CPU time, and a busy machine leaves a part of the time for the search.
        limits.ground.stop = limits.stop.within(Some(time * 3 / 4));
    }
    // The first state is a part of what is made ready.
    let ready = |mut machine: AnyMachine| {
        machine.initial()?;
        machine.set_stop(context.stop());
        Ok(machine)
    };
    let made = rules.machine_within(game, limits, context).and_then(ready);
    let made = match made {
        Err(PlayError::Interrupted) if !context.is_interrupted() => {
            // The naive evaluator needs no preparation, only a moment for the first state.
            let limits = Limits {
                stop: context.stop().within(Some(MOMENT)),
                ..rules.limits(context)
            };
            AnyMachine::new(game, Backend::Naive, limits).and_then(ready)
        }
        made => made,
    };
    in_time(made.map_err(Into::into), context)
}

/// The time for reading the rules, and then for the first state, after a time limit was reached.
const MOMENT: Duration = Duration::from_millis(200);

/// The time by which an evaluation may be later than the search that asks for it.
const LATE: Duration = Duration::from_millis(100);

/// A result that a search needs before it begins. If the user did not interrupt it, its time was
/// over.
pub(super) fn in_time<T>(result: anyhow::Result<T>, context: &Context) -> anyhow::Result<T> {
    result.map_err(|error| match error.downcast_ref() {
        Some(PlayError::Interrupted) if !context.is_interrupted() => anyhow!(
            "the time limit was reached before the first position was known; \
             raise --budget-time (or --time)"
        ),
        _ => error,
    })
}

/// The stop of the evaluations in a search with a budget, which should end by itself before.
pub(super) fn evaluation(budget: &Budget, context: &Context) -> Stop {
    context.stop().within(budget.time.map(|time| time + LATE))
}

/// The rest of a budget.
pub(super) fn left(budget: &Budget, since: Instant) -> Budget {
    Budget {
        time: budget.time.map(|time| time.saturating_sub(since.elapsed())),
        ..budget.clone()
    }
}

fn exit(answer: &Answer) -> Exit {
    match answer.verdict {
        Verdict::Solved { .. } => Exit::Done,
        _ => Exit::Negative,
    }
}

/// The texts of a plan's moves.
pub fn texts(machine: &AnyMachine, plan: &[ggp_gdl::game::Move]) -> Vec<String> {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let game: &Game = machine.game();
    plan.iter()
        .map(|chosen| game.text(&terms, chosen.term()))
        .collect()
}
