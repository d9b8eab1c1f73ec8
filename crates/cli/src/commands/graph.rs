//! `ggp graph`: the graph of positions and moves that a search explores.

mod animation;
mod dot;
mod explored;
mod json;
mod labels;
mod scene;
mod svg;
mod values;

use ggp_gdl::counted::counted;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

use super::solve::{self, PruneChoice, left};
use crate::numbers::seconds;
use crate::picture_options::PictureOptions;
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, png};
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_search::{Budget, BudgetKind, Status};

/// The time for the whole, as a multiple of the time for exploring: what was found in some time
/// takes up to twice that time to write.
const WRITING: u32 = 3;
/// The most levels whose sizes are printed.
const LEVELS: usize = 40;

/// The options of `ggp graph`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp graph buttons_and_lights.kif --output lights.svg
  ggp graph buttons_and_lights.kif --exact --animate --output deepening.svg
  ggp graph buttons_and_lights.kif --prune cycle,deadleaf --format json
  ggp graph eight_puzzle.kif --depth 8 --format dot | dot -Tsvg > puzzle.svg

The nodes of one step form one rank. Solved positions have a double border, other final
positions are grey. --tree shows each path as a separate node.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    #[command(flatten)]
    picture: PictureOptions,
    /// Number of moves from the start to explore
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Merge only positions that are equal in every fact
    #[arg(long, conflicts_with = "stripped")]
    exact: bool,
    /// Merge positions that differ only in step counters that a search can ignore, see `ggp info` (the default)
    #[arg(long)]
    stripped: bool,
    /// Merge nothing: one node for each path from the start
    #[arg(long, conflicts_with_all = ["exact", "stripped"])]
    tree: bool,
    /// Nodes to leave out
    #[arg(long, value_enum, value_delimiter = ',', default_value = "none")]
    prune: Vec<PruneChoice>,
    /// Output format [default: by the extension of --output, otherwise dot]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Content of the nodes
    #[arg(long, value_enum, default_value_t)]
    labels: Labels,
    /// Animate iterative deepening: the findings of each depth limit, and the nodes pruned
    #[arg(long, conflicts_with = "prune")]
    animate: bool,
    /// Maximum number of nodes in a picture; later steps are left out
    #[arg(long, value_name = "N", default_value_t = 500)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20_000))]
    most: u32,
    /// Colour positions by the score that the role can force, from a file of `ggp tabulate`
    ///
    /// Positions are merged only if they are equal in every fact, since counters decide on scores.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["animate", "stripped"])]
    table: Option<PathBuf>,
    /// The role whose score counts, if there are several [default: the first that is not chance]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Minimum final score that counts as solved
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    goal: u8,
    /// Maximum number of positions to expand
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    budget_nodes: u64,
    /// Maximum seconds for reading the rules, exploring and writing; a third is for exploring
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    budget_time: Duration,
    /// Approximate maximum of memory for the positions, and for their texts, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    budget_memory: u64,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Format {
    /// DOT, for Graphviz
    Dot,
    /// One JSON object
    Json,
    /// SVG, a vector picture
    Svg,
    /// PNG, a raster picture
    Png,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Labels {
    /// The board, if the game has one and it is small; otherwise facts
    #[default]
    Auto,
    /// The facts that differ between nodes
    Facts,
    /// Numbers from 0
    Numbers,
}

/// A graph with its texts. Nodes are ordered by level, arcs by the node they begin at.
struct Drawing {
    name: String,
    /// The texts of all facts, in order.
    texts: Vec<String>,
    nodes: Vec<DrawnNode>,
    arcs: Vec<DrawnArc>,
    /// Whether all positions up to the depth limit were examined.
    is_complete: bool,
    /// Whether equal positions reached on different paths are separate nodes.
    is_tree: bool,
    /// Whether a single role makes all decisions.
    is_alone: bool,
    /// Whether positions are compared without some step counters.
    is_stripped: bool,
    /// The name of the role whose values the nodes have, if they have any.
    valued: Option<String>,
}

struct DrawnNode {
    level: u32,
    status: Status,
    expanded: bool,
    /// The numbers of its facts among the texts, in order.
    facts: Vec<u32>,
    /// The first node that differs only in step counters.
    same: usize,
    /// Its value, if values were looked up.
    value: Option<values::Value>,
}

struct DrawnArc {
    from: usize,
    to: usize,
    chosen: String,
}

impl Drawing {
    /// The texts of a node's facts.
    fn facts(&self, node: &DrawnNode) -> Vec<&str> {
        let text = |fact: &u32| &self.texts[*fact as usize][..];
        node.facts.iter().map(text).collect()
    }
}

impl Options {
    /// Whether only positions that are equal in every fact are merged.
    fn is_exact(&self) -> bool {
        self.exact || self.table.is_some()
    }

    fn budget(&self, context: &Context) -> Budget {
        Budget {
            nodes: self.budget_nodes,
            time: Some(self.budget_time),
            memory_bytes: self.budget_memory.saturating_mul(1 << 20),
            stop: context.stop().clone(),
            depth: self.depth.unwrap_or(u32::MAX),
            ..Budget::default()
        }
    }

    fn format(&self, context: &Context) -> anyhow::Result<Format> {
        let ending = self.output.as_deref().and_then(|path| path.extension());
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        let format = match (self.format, ending.as_deref()) {
            (Some(format), _) => format,
            (None, _) if context.json() => Format::Json,
            (None, Some("svg")) => Format::Svg,
            (None, Some("png")) => Format::Png,
            (None, Some("json")) => Format::Json,
            (None, Some("dot")) => Format::Dot,
            (None, Some(other)) => bail!(
                "the file name of a graph must end in .svg, .png, .dot or .json, \
                 not .{other}; or choose the format with --format"
            ),
            (None, None) if self.animate => Format::Svg,
            (None, None) => Format::Dot,
        };
        if self.animate && format != Format::Svg {
            bail!("only SVG can be animated: use --format svg, or a file name that ends in .svg");
        }
        if format == Format::Png {
            if self.output.is_none() {
                bail!("PNG is not written to standard output: add --output FILE");
            }
            png::check()?;
        }
        Ok(format)
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or the rules have errors or cannot be
/// evaluated.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let format = options.format(context)?;
    if let Some(path) = &options.output {
        Context::can_write(path)?;
    }
    let began = Instant::now();
    let budget = options.budget(context);
    let game = solve::game(&options.rules, &budget, context)?;
    let mut machine = solve::machine(&options.rules, &game, &left(&budget, began), context)?;
    let mut budget = left(&budget, began);
    budget.time = budget.time.map(|time| time / WRITING);
    machine.set_stop(&solve::evaluation(&budget, context));
    let explore = || explored::explored(options, &mut machine, &budget, context);
    let mut explored = solve::in_time(context.preparing(explore), context)?;
    machine.set_stop(context.stop());
    if let Some(path) = &options.table {
        let role = explored::role(machine.game(), options.role.as_deref())?;
        values::look_up(path, &machine, role, &mut explored)?;
    }
    let levels = levels(&explored.drawing);
    let mut sizes: Vec<String> = levels
        .iter()
        .map(ToString::to_string)
        .take(LEVELS)
        .collect();
    if levels.len() > LEVELS {
        sizes.push("...".to_owned());
    }
    let note = format!(
        "{}, {}, {}: {}",
        counted(explored.drawing.nodes.len(), "node"),
        counted(explored.drawing.arcs.len(), "arc"),
        counted(levels.len(), "level"),
        sizes.join(", ")
    );
    let stopped = explored.stopped;
    let content = match format {
        Format::Json => json::text(&explored.drawing).into_bytes(),
        Format::Dot => {
            let go_on = || !context.is_interrupted();
            dot::text(&explored.drawing, options.labels, &go_on)
                .ok_or(PlayError::Interrupted)?
                .into_bytes()
        }
        Format::Svg => picture(options, &mut machine, explored, context)?.into_bytes(),
        Format::Png => png::png(&picture(options, &mut machine, explored, context)?)?,
    };
    match &options.output {
        Some(path) => context.write_file(path, &content)?,
        None => context.print(String::from_utf8_lossy(&content).trim_end())?,
    }
    context.note(note);
    if let Some(what) = stopped {
        let option = match what {
            BudgetKind::Time => "--budget-time",
            BudgetKind::Memory => "--budget-memory",
            _ => "--budget-nodes",
        };
        context.note(format!(
            "the graph is incomplete; raise {option} or set --depth"
        ));
    }
    Ok(Exit::Done)
}

/// The number of nodes at each level.
fn levels(drawing: &Drawing) -> Vec<usize> {
    let mut levels: Vec<usize> = Vec::new();
    for node in &drawing.nodes {
        let level = node.level as usize;
        levels.resize(levels.len().max(level + 1), 0);
        levels[level] += 1;
    }
    levels
}

/// The graph as SVG.
fn picture(
    options: &Options,
    machine: &mut AnyMachine,
    mut explored: explored::Explored,
    context: &Context,
) -> anyhow::Result<String> {
    explored.cut(options.most as usize);
    let cut = explored.left_out;
    if cut > 0 {
        context.note(format_args!(
            "{} of later steps {} left out; raise --most or set --depth",
            counted(cut, "node"),
            if cut == 1 { "is" } else { "are" }
        ));
    }
    let drawings = match options.labels {
        Labels::Auto => {
            let picture_options = options
                .picture
                .read(&options.rules, machine.game(), context)?;
            Some(explored.boards(machine, picture_options)?)
        }
        _ => None,
    };
    let mut written = labels::labels(options.labels, &explored.drawing, drawings.as_deref());
    let (drawing, film) = match options.animate {
        true => {
            let (drawing, film, kept) = animation::film(explored.drawing);
            let mut kept = kept.into_iter();
            written.labels.retain(|_| kept.next().unwrap_or(false));
            (drawing, Some(film))
        }
        false => (explored.drawing, None),
    };
    if drawing.valued.is_some() {
        let texts = (0..drawing.nodes.len()).filter_map(|number| drawing.value_text(number));
        for (label, text) in written.labels.iter_mut().zip(texts) {
            label.lines.push(text);
        }
    }
    let mut words = drawing.words(options, cut);
    if !written.remark.is_empty() {
        words.push(std::mem::take(&mut written.remark));
    }
    let interrupted = || context.is_interrupted();
    let scene = scene::scene(&drawing, written, film.is_none(), &interrupted)
        .ok_or_else(|| anyhow!(PlayError::Interrupted))?;
    Ok(svg::text(&drawing, &scene, &words, film.as_ref()))
}
