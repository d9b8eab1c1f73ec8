//! `ggp solve`: plans of a game with one role, or the proof that there is none.

mod batch;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;

use super::position::PositionOptions;
use super::rules::RuleOptions;
use super::{Context, Exit};
use crate::game::{Game, Score};
use crate::machine::{AnyMachine, Machine};
use crate::search::{Budget, Observer, Plans, Prune, Stats, Verdict};
use crate::solve::{
    Answer, Checker, Keys, Method, SolveOptions, Strategy, evaluate, solve_from,
};

/// The options of `ggp solve`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp solve buttons_and_lights.kif --all
  ggp solve eight_puzzle.kif --strategy iterative --stats table
  ggp solve hitori.kif --grid board.txt --budget-time 10
  ggp solve hitori.kif --each puzzles.txt --threads 2
  ggp solve --suite games --roles 1 --budget-time 10

A plan is a line of moves; compound moves are in brackets. Every plan is played
again before it is printed, by the naive evaluator unless --check says otherwise. In a game of several roles the
moves of each are evaluated by playouts instead.

Exit codes: 0 solved; 1 unsolvable, or no plan found; 2 bad input or a failure.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    #[command(flatten)]
    search: SearchOptions,
    /// Print all shortest plans, not only one
    #[arg(long)]
    all: bool,
    /// Most plans to print with --all
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max_plans: usize,
    /// Print what was counted, level by level
    #[arg(long, value_enum, value_name = "FORMAT")]
    stats: Option<StatsFormat>,
    /// Write what was counted to this file; as CSV unless --stats says otherwise
    #[arg(long, value_name = "FILE")]
    stats_file: Option<PathBuf>,
    /// Solve the rules once for each puzzle in this file, as if by --grid
    ///
    /// A puzzle is a line, as `[[1,2],[3,4]]` or with `/` between the rows.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grid", "state", "moves", "moves_file"])]
    each: Option<PathBuf>,
    /// Solve each rule file by itself, and those in each folder
    #[arg(long, conflicts_with_all = ["each", "grid", "state", "moves", "moves_file"])]
    suite: bool,
    /// Only games of --suite with so many roles
    #[arg(long, value_name = "N", requires = "suite")]
    roles: Option<usize>,
    /// Puzzles of --each or games of --suite to solve at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
}

/// How to search, as `ggp solve` is told.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
struct SearchOptions {
    /// How to search
    #[arg(long, value_enum, default_value_t)]
    strategy: StrategyChoice,
    /// What iterative deepening leaves out
    #[arg(long, value_enum, value_delimiter = ',', default_value = "cycle")]
    prune: Vec<PruneChoice>,
    /// What is compared to find a position again
    #[arg(long, value_enum, default_value_t)]
    keys: KeysChoice,
    /// Longest plan to look for, in moves
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Least score at the end that counts as solved
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    goal: u8,
    /// Most seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    budget_time: Option<Duration>,
    /// Most positions to expand
    #[arg(long, value_name = "N")]
    budget_nodes: Option<u64>,
    /// Most memory for tables, in MiB
    #[arg(long, value_name = "MB", default_value_t = 2_048)]
    budget_memory: u64,
    /// Who plays each plan again before it is printed
    #[arg(long, value_enum, default_value_t)]
    check: CheckChoice,
    /// Seed for what is chosen by chance
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum StrategyChoice {
    /// Several searches in turn, with growing budgets
    #[default]
    Auto,
    /// Iterative deepening; positions compared without step counters
    Iterative,
    /// Breadth-first, level by level
    Bfs,
    /// Depth-first with a table of positions
    Dfs,
    /// Monte Carlo tree search
    Mcts,
    /// Linear systems, parities and potentials, from the network
    Algebra,
    /// A set of moves that brings about a final state, by SAT
    SatSet,
    /// A state and a move for each step, by SAT
    SatSteps,
    /// Breadth-first on packed states
    Levels,
    /// Depth-first on packed states, in many orders at once
    Dive,
    /// Greedy best-first by additive estimates
    Greedy,
    /// What is new first
    Novelty,
    /// A* by a lower bound
    AStar,
    /// The best of each level only
    Beam,
    /// Playouts whose choices are learned, in levels
    Nrpa,
    /// Nested playouts
    Nested,
    /// Monte Carlo tree search, many leaves at once
    Uct,
    /// Iterative deepening by lower bounds of the moves to come
    IdaStar,
    /// Iterative deepening on packed states
    Deepening,
    /// Breadth-first on packed states from both ends
    Bidirectional,
    /// Greedy by facts that have to change, those that few moves change first
    Scarce,
    /// Greedy by relaxed plans, and the moves that they begin with
    RelaxedPlans,
    /// What is new first, apart for each progress
    Progress,
}

impl StrategyChoice {
    fn strategy(self) -> Strategy {
        Strategy::Network(match self {
            StrategyChoice::Auto => return Strategy::Auto,
            StrategyChoice::Iterative => return Strategy::Iterative,
            StrategyChoice::Bfs => return Strategy::BreadthFirst,
            StrategyChoice::Dfs => return Strategy::DepthFirst,
            StrategyChoice::Mcts => return Strategy::Mcts,
            StrategyChoice::Algebra => Method::Algebra,
            StrategyChoice::SatSet => Method::MoveSet,
            StrategyChoice::SatSteps => Method::Steps,
            StrategyChoice::Levels => Method::Levels,
            StrategyChoice::Dive => Method::Dive,
            StrategyChoice::Greedy => Method::Greedy,
            StrategyChoice::Novelty => Method::Novelty,
            StrategyChoice::AStar => Method::AStar,
            StrategyChoice::Beam => Method::Beam,
            StrategyChoice::Nrpa => Method::Nrpa,
            StrategyChoice::Nested => Method::Nested,
            StrategyChoice::Uct => Method::Uct,
            StrategyChoice::IdaStar => Method::IdaStar,
            StrategyChoice::Deepening => Method::Deepening,
            StrategyChoice::Bidirectional => Method::Bidirectional,
            StrategyChoice::Scarce => Method::Scarce,
            StrategyChoice::RelaxedPlans => Method::RelaxedPlans,
            StrategyChoice::Progress => Method::Progress,
        })
    }
}

/// What is left out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum PruneChoice {
    /// Positions that were reached before
    Cycle,
    /// Positions without continuation that are no goal
    Deadleaf,
    /// Nothing
    None,
}

impl PruneChoice {
    /// What a list of choices comes to.
    pub(super) fn combined(choices: &[PruneChoice]) -> Prune {
        Prune {
            cycle: choices.contains(&PruneChoice::Cycle),
            dead_leaf: choices.contains(&PruneChoice::Deadleaf),
        }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum KeysChoice {
    /// Without step counters as far as that is safe, else whole
    #[default]
    Auto,
    /// Whole positions
    Exact,
    /// Without any step counter
    Stripped,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum StatsFormat {
    /// Columns for reading
    Table,
    /// One JSON object
    Json,
    /// A line for each level
    Csv,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum CheckChoice {
    /// The naive evaluator; with --each the one that searched
    #[default]
    Auto,
    /// The naive evaluator, for some seconds; then the one that searched
    Naive,
    /// The evaluator that searched
    Same,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

/// Whether there are many puzzles to solve.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Batch {
    No,
    Yes,
}

impl SearchOptions {
    fn options(&self, plans: Plans, batch: Batch, context: &Context) -> SolveOptions {
        SolveOptions {
            strategy: self.strategy.strategy(),
            target: Score::new(self.goal).unwrap_or(Score::MAX),
            plans,
            prune: PruneChoice::combined(&self.prune),
            keys: match self.keys {
                KeysChoice::Auto => Keys::Auto,
                KeysChoice::Exact => Keys::Exact,
                KeysChoice::Stripped => Keys::Stripped,
            },
            budget: Budget {
                nodes: self.budget_nodes.unwrap_or(u64::MAX),
                memory_bytes: self.budget_memory.saturating_mul(1 << 20),
                time: self.budget_time,
                interrupt: Some(context.interrupt().clone()),
                depth: self.depth.unwrap_or(u32::MAX),
            },
            seed: self.seed,
            checker: match (self.check, batch) {
                (CheckChoice::Naive, _) | (CheckChoice::Auto, Batch::No) => Checker::Naive,
                (CheckChoice::Same, _) | (CheckChoice::Auto, Batch::Yes) => Checker::Same,
            },
            ..SolveOptions::default()
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, the rules have errors or cannot be
/// evaluated.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let plans = match options.all {
        true => Plans::AllShortest {
            max: options.max_plans.max(1),
        },
        false => Plans::First,
    };
    let by_length = [Strategy::Auto, Strategy::Iterative, Strategy::BreadthFirst];
    if options.all && !by_length.contains(&options.search.strategy.strategy()) {
        bail!("--all needs a search by length: --strategy auto, iterative or bfs");
    }
    let batch = match options.each.is_some() || options.suite {
        true => Batch::Yes,
        false => Batch::No,
    };
    let how = options.search.options(plans, batch, context);
    if let Some(path) = &options.each {
        return batch::each(options, path, &how, context);
    }
    if options.suite {
        return batch::suite(options, &how, context);
    }
    let mut machine = options.rules.machine(context)?;
    let start = options.position.state(&mut machine, &options.rules, context)?;
    let mut progress = Progress::new(context);
    let mut stats = Stats::default();
    if machine.game().role_count() > 1 {
        if !matches!(how.strategy, Strategy::Auto | Strategy::Mcts) {
            bail!(
                "{} needs a game with one role, and this one has {}; \
                 --strategy mcts evaluates the moves of each role",
                how.strategy.name(),
                machine.game().role_count()
            );
        }
        let evaluation = evaluate(&machine, &start, &how, &mut stats, &mut progress)?;
        progress.finish();
        report::print_evaluation(&evaluation, context)?;
        return Ok(Exit::Done);
    }
    let answer = solve_from(&machine, &start, &how, &mut stats, &mut progress);
    progress.finish();
    let answer = answer?;
    report::print(&machine, &how, &answer, &stats, options, context)?;
    Ok(exit(&answer))
}

fn exit(answer: &Answer) -> Exit {
    match answer.verdict {
        Verdict::Solved { .. } => Exit::Done,
        _ => Exit::Negative,
    }
}

/// A line on standard error that says how far a search is.
pub(super) struct Progress(indicatif::ProgressBar);

impl Progress {
    pub(super) fn new(context: &Context) -> Self {
        Progress(context.spinner("searching"))
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }

    fn show(&self, stats: &Stats) {
        if self.0.is_hidden() {
            return;
        }
        if let Some(level) = stats.levels.last() {
            self.0.set_message(format!(
                "depth {}, {} positions expanded, {} open, {} MiB",
                level.depth,
                stats.total().expanded,
                level.frontier,
                stats.peak_bytes >> 20
            ));
        }
    }
}

impl Observer for Progress {
    fn level(&mut self, stats: &Stats) {
        self.show(stats);
    }

    fn tick(&mut self, stats: &Stats) {
        self.show(stats);
    }
}

/// The canonical texts of a plan's moves.
pub(super) fn texts(machine: &AnyMachine, plan: &[crate::game::Move]) -> Vec<String> {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let game: &Game = machine.game();
    plan.iter()
        .map(|chosen| game.canonical(&terms, chosen.term()))
        .collect()
}
