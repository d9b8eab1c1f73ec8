//! `ggp why`: why something holds in a position, or why not.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use super::position::{self, PositionOptions};
use super::rules::{BackendChoice, RuleOptions};
use super::{Context, Exit, show};
use crate::explain::tree::Tree;
use crate::explain::{Answer, Explainer, Options as Depths, Situation};
use crate::check::Keyword;
use crate::game::Move;
use crate::ground::TermId;
use crate::machine::{AnyMachine, DatalogMachine, Machine};

/// The options of `ggp why`.
#[derive(clap::Args)]
#[command(override_usage = "ggp why [OPTIONS] <FILE>... <FACT>")]
#[command(after_help = "\
Examples:
  ggp why tic_tac_toe.kif '(legal cross (mark 1 1))'
  ggp why tic_tac_toe.kif --moves '(mark 1 1) wait' '(legal nought (mark 1 1))'
  ggp why tic_tac_toe.kif --moves '(mark 1 1) wait' --history '(cell 1 1 cross)'
  ggp why tic_tac_toe.kif terminal
  ggp why tic_tac_toe.kif '(goal ?player 100)'
  ggp why tic_tac_toe.kif --does '(mark 2 2) wait' '(next (cell 2 2 cross))'

FACT is an atom of the rules, or a fact of the state; its variables stand for anything.
What holds gets its smallest derivation: each line a fact and the rule that gives it,
with what that rests on beneath; what holds in every position is folded in text (--full). What does not hold gets the rules that come nearest to
giving it, what they miss first.")]
pub struct Options {
    /// The rules; the last of their files is what is asked.
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    /// Suppose this joint move is made in the position; otherwise what depends on moves is
    /// asked of the last one that was
    #[arg(long, value_name = "MOVES", help_heading = "Position")]
    does: Option<String>,
    /// How the fact came, stayed and went over the moves
    #[arg(long, conflicts_with = "does")]
    history: bool,
    /// Levels of rules looked at to say why something does not hold
    #[arg(long, value_name = "N", default_value_t = Depths::default().depth)]
    depth: usize,
    /// Most rules shown on each of these levels
    #[arg(long = "rules", id = "shown_rules", value_name = "N")]
    #[arg(default_value_t = Depths::default().rules)]
    most_rules: usize,
    /// Most facts explained, of those that match
    #[arg(long = "facts", id = "shown_facts", value_name = "N")]
    #[arg(default_value_t = Depths::default().facts)]
    most_facts: usize,
    /// Say also why things hold that hold in every position
    #[arg(long)]
    full: bool,
    /// Most lines; what lies deepest is left out
    #[arg(long, value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    lines: usize,
    /// Text, JSON, or a page whose lines fold
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Most instances of rules and facts looked at for one derivation or rule
    #[arg(long, value_name = "N", default_value_t = Depths::default().work)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    max_instances: u64,
}

/// How an explanation is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Html,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the position or the question are wrong, or there is too much to
/// look at.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut rules = options.rules.clone();
    let question = match (rules.files.pop(), rules.files.is_empty()) {
        (Some(question), false) => question.to_string_lossy().into_owned(),
        _ => bail!("give the rules and then what is asked: ggp why FILE... FACT"),
    };
    let game = rules.game(context)?;
    // A network is not worth its making for the states of one question.
    let mut machine = match rules.backend {
        BackendChoice::Auto => {
            let machine = DatalogMachine::for_few_states(&game, rules.limits(context))?;
            AnyMachine::Datalog(Box::new(machine))
        }
        _ => rules.machine_for(&game, context)?,
    };
    let depths = Depths {
        facts: options.most_facts.max(1),
        depth: options.depth.max(1),
        rules: options.most_rules.max(1),
        margin: match options.most_rules > Depths::default().rules {
            true => u32::MAX / 2,
            false => Depths::default().margin,
        },
        work: options.max_instances,
    };
    let (start, made) = options
        .position
        .start_and_moves(&mut machine, &rules, context)?;
    let mut states = vec![machine.facts(&start)];
    let mut joints: Vec<Vec<Move>> = Vec::new();
    let last = made.last().map_or(start.clone(), |(_, state)| state.clone());
    for (joint, state) in made {
        states.push(machine.facts(&state));
        joints.push(joint);
    }
    if let Some(text) = &options.does {
        let joint = position::parse_joint(&mut machine, &last, text).context("--does")?;
        joints.push(joint);
    }
    let terms = machine.terms().clone();
    let mut explainer = Explainer::new(&game, terms, rules.limits(context), depths);
    let asked = explainer.question(&question)?;
    if options.history {
        if game.keyword(Keyword::True) != Some(asked.relation()) {
            bail!("`{question}`: only facts of the state have a history");
        }
        let course = explainer.history(&asked, &states, &joints);
        let course = course.map_err(anyhow::Error::from)?;
        write(options, &question, context, vec![explainer.course_tree(&course)])?;
        return Ok(match course.never {
            None => Exit::Done,
            Some(_) => Exit::Negative,
        });
    }
    let (facts, joint): (&[TermId], Option<&[Move]>) = match joints.last() {
        Some(joint) if explainer.needs_moves(&asked) => {
            let made = show::joint_line(&machine, joint);
            context.note(format_args!("in the position before the move: {made}"));
            (&states[joints.len() - 1], Some(joint))
        }
        None if explainer.needs_moves(&asked) => bail!(
            "`{question}` depends on the moves made: give them with --does \"MOVES\""
        ),
        _ => (&states[states.len() - 1], None),
    };
    let answer = explainer.explain(&asked, Situation { facts, joint })?;
    let trees = explainer.trees(&answer);
    write(options, &question, context, trees)?;
    Ok(match answer {
        Answer::Holds { .. } => Exit::Done,
        Answer::Fails(_) => Exit::Negative,
    })
}

fn write(
    options: &Options,
    question: &str,
    context: &Context,
    mut trees: Vec<Tree>,
) -> anyhow::Result<()> {
    let format = match context.json() {
        true => Format::Json,
        false => options.format,
    };
    for tree in &mut trees {
        if format == Format::Text && !options.full {
            tree.fold();
        }
        tree.cut(options.lines);
    }
    let text = match format {
        Format::Text => {
            let texts: Vec<String> = trees.iter().map(Tree::text).collect();
            texts.join("\n\n")
        }
        Format::Json => serde_json::to_string_pretty(&trees)?,
        Format::Html => Tree::page(question, &trees),
    };
    match &options.output {
        Some(path) => context.write_file(path, text.as_bytes()),
        None => Ok(context.print(text)?),
    }
}
