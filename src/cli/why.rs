//! `ggp why`: why something holds in a position, or why not.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use super::position::{self, PositionOptions};
use super::rules::{BackendChoice, RuleOptions};
use super::{Context, Exit, show};
use crate::explain::tree::Tree;
use crate::explain::{Courses, Explainer, Options as Depths, Situation};
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
(not FACT) and (distinct A B) can be asked too, and outer brackets may be left out.
What holds gets its smallest derivation: each line a fact and the rule that gives it,
with what that rests on beneath. What does not hold gets the rules that come nearest to
giving it, what they miss first. In text, what holds in every position and what else holds
of a rule that does not apply is folded (--full).")]
pub struct Options {
    /// The rules; the last of their files is what is asked, as options may stand between.
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
    /// Most facts explained or followed, of those that match
    #[arg(long = "facts", id = "shown_facts", value_name = "N")]
    #[arg(default_value_t = Depths::default().facts)]
    most_facts: usize,
    /// Fold nothing
    #[arg(long)]
    full: bool,
    /// Most lines in all; what lies deepest is left out
    #[arg(long, value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    lines: usize,
    /// Text, JSON, or a page whose lines fold; without this, as the name of the output ends
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Most instances of rules and facts looked at for one derivation or rule
    #[arg(long, value_name = "N", default_value_t = Depths::default().work)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    max_instances: u64,
}

/// How an explanation is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
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
    let rules = &mut options.rules.clone();
    let question = match (rules.files.pop(), rules.files.is_empty()) {
        (Some(question), false) => &question.to_string_lossy().into_owned(),
        _ => bail!("give the rules and then what is asked: ggp why FILE... FACT"),
    };
    if let Some((first, rest)) = rules.files.split_first()
        && first.exists()
        && let Some(word) = rest.iter().find(|file| !file.exists())
    {
        bail!(
            "there is no file {}; if it is part of what is asked, put that in quotes: \
             ggp why {} '(...)'",
            word.display(),
            first.display()
        );
    }
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
        .start_and_moves(&mut machine, rules, context)?;
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
    let asked = explainer.question(question)?;
    if options.history {
        if !asked.is_of_state(&game) {
            bail!("`{question}`: only facts of the state have a history");
        }
        let courses = explainer.history(&asked, &states, &joints)?;
        write(options, question, context, explainer.course_trees(&courses))?;
        return Ok(match courses {
            Courses::Some { .. } => Exit::Done,
            Courses::Never(..) => Exit::Negative,
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
    if asked.is_of_state(&game) && !answer.holds() && is_like_a_move(&mut machine, &last, question) {
        context.note(format_args!("for a move ask for (legal ROLE {question})"));
    }
    let trees = explainer.trees(&answer);
    write(options, question, context, trees)?;
    Ok(match answer.holds() {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

/// Whether a text is of the form of a move that is legal.
fn is_like_a_move<M: Machine>(machine: &mut M, state: &M::State, text: &str) -> bool {
    let game = machine.game().clone();
    let Ok(term) = game.parse_term(machine.terms_mut(), text) else {
        return false;
    };
    let mut legal = Vec::new();
    game.roles().any(|role| {
        machine.legal(state, role, &mut legal).is_ok()
            && (legal.iter()).any(|m| {
                machine.terms().functor(m.term()) == machine.terms().functor(term)
            })
    })
}

fn write(
    options: &Options,
    question: &str,
    context: &Context,
    mut trees: Vec<Tree>,
) -> anyhow::Result<()> {
    let named = || {
        let name = options.output.as_ref()?.extension()?.to_str()?;
        Format::from_str(if name == "htm" { "html" } else { name }, true).ok()
    };
    let format = match context.json() {
        true => Format::Json,
        false => options.format.or_else(named).unwrap_or(Format::Text),
    };
    if format == Format::Text && !options.full {
        trees.iter_mut().for_each(Tree::fold);
    }
    Tree::share(&mut trees);
    Tree::cut(&mut trees, options.lines);
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
