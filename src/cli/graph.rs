//! `ggp graph`: the positions of a game and the moves between them.

mod dot;
mod json;

use std::path::PathBuf;

use anyhow::bail;

use super::position::PositionOptions;
use super::rules::RuleOptions;
use super::solve::{Progress, PruneChoice, Report};
use super::{Context, Exit};
use crate::game::{Move, Score};
use crate::machine::{AnyMachine, Machine};
use crate::search::graph::{Explore, Graph, Merge, explore};
use crate::search::{Budget, Stats};
use crate::solve::{GameProblem, Keys};

/// The options of `ggp graph`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp graph buttons_and_lights.kif | dot -Tsvg > lights.svg
  ggp graph buttons_and_lights.kif --exact --depth 3 --labels facts
  ggp graph buttons_and_lights.kif --prune cycle,deadleaf --format json

Nodes of one step stand in one rank. Solved positions have a double border, other
ends are grey. --tree shows each way as a node of its own.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    /// Moves from the start to explore
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// One node for each whole position
    #[arg(long, conflicts_with = "stripped")]
    exact: bool,
    /// One node for positions that differ in step counters only (the default)
    #[arg(long)]
    stripped: bool,
    /// One node for each way from the start
    #[arg(long, conflicts_with_all = ["exact", "stripped"])]
    tree: bool,
    /// What to leave out
    #[arg(long, value_enum, value_delimiter = ',', default_value = "none")]
    prune: Vec<PruneChoice>,
    /// How to write the graph
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What stands in the nodes
    #[arg(long, value_enum, default_value_t)]
    labels: Labels,
    /// Least score at the end that counts as solved
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    goal: u8,
    /// Most positions to expand
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    budget_nodes: u64,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Format {
    /// For Graphviz
    #[default]
    Dot,
    /// One JSON object
    Json,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Labels {
    /// The facts that are not the same in all nodes
    #[default]
    Facts,
    /// Numbers from 0
    Numbers,
}

type Explored = Graph<<AnyMachine as Machine>::State, Move>;

/// A graph with the texts to write.
struct Drawing {
    name: String,
    graph: Explored,
    /// For each node the facts that make it differ from others.
    facts: Vec<Vec<String>>,
    /// For each arc its move.
    moves: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, the rules have errors or cannot be
/// evaluated, or the game has several roles.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine(context)?;
    if machine.game().role_count() > 1 {
        bail!(
            "a graph is for a game with one role, and this one has {}",
            machine.game().role_count()
        );
    }
    let start = options.position.state(&mut machine, &options.rules, context)?;
    let keys = match options.exact || options.tree {
        true => Keys::Exact,
        false => Keys::Stripped,
    };
    let prune = PruneChoice::combined(&options.prune);
    let target = Score::new(options.goal).unwrap_or(Score::MAX);
    let mut problem = GameProblem::new(&machine, &start, target, keys)?;
    let how = Explore {
        merge: match (options.tree, options.exact) {
            (true, _) => Merge::Nothing,
            (false, true) => Merge::State,
            (false, false) => Merge::Key,
        },
        prune,
    };
    let budget = Budget {
        nodes: options.budget_nodes,
        interrupt: Some(context.interrupt().clone()),
        depth: options.depth.unwrap_or(u32::MAX),
        ..Budget::default()
    };
    let mut stats = Stats::default();
    let mut progress = Progress::new(Report::default(), context);
    let graph = explore(&mut problem, &how, &budget, &mut stats, &mut progress);
    progress.finish();
    let graph = graph?;
    let drawing = drawing(&mut machine, &problem, graph);
    let text = match (options.format, context.json()) {
        (Format::Json, _) | (_, true) => json::text(&drawing),
        (Format::Dot, false) => dot::text(&drawing, options.labels),
    };
    match &options.output {
        Some(path) => context.write_file(path, text.as_bytes())?,
        None => context.print(text.trim_end())?,
    }
    let levels = drawing.graph.levels();
    let sizes: Vec<String> = levels.iter().map(|level| level.len().to_string()).collect();
    context.note(format_args!(
        "{} nodes, {} arcs, {} levels: {}",
        drawing.graph.nodes().len(),
        drawing.graph.arcs().len(),
        levels.len(),
        sizes.join(", ")
    ));
    if drawing.graph.stopped().is_some() {
        context.note("the graph is not complete; raise --budget-nodes or set --depth");
    }
    Ok(Exit::Done)
}

fn drawing(
    machine: &mut AnyMachine,
    problem: &GameProblem<AnyMachine>,
    graph: Explored,
) -> Drawing {
    machine.terms_mut().refresh();
    let game = machine.game();
    let texts = |state: &<AnyMachine as Machine>::State| {
        let facts = problem.compared_facts(state).into_iter();
        let mut texts: Vec<String> = facts
            .map(|fact| game.canonical(machine.terms(), fact))
            .collect();
        texts.sort_unstable();
        texts
    };
    let facts = graph.nodes().iter().map(|node| texts(&node.state)).collect();
    let moves = graph.arcs().iter();
    let moves = moves
        .map(|arc| game.canonical(machine.terms(), arc.action.term()))
        .collect();
    Drawing {
        name: game.name(),
        graph,
        facts,
        moves,
    }
}
