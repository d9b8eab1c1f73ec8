//! `ggp why`: the reason why a fact holds in a position or does not.

pub(super) mod known;

use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;
use serde::Serialize;

use crate::knowledge::SampleLimits;
use crate::position::{self, PositionOptions};
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, format};
use ggp_engine::machine::Machine;
use ggp_explain::tree::Tree;
use ggp_explain::{ExplainOptions, Explainer, FactHistories, Situation};
use ggp_gdl::game::Move;

/// The options of `ggp why`.
#[derive(clap::Args)]
#[command(override_usage = "ggp why [OPTIONS] <FILE>... <FACT>...")]
#[command(after_help = "\
Examples:
  ggp why tic_tac_toe.kif '(legal cross (mark 1 1))'
  ggp why tic_tac_toe.kif --moves '(mark 1 1) wait' '(legal nought (mark 1 1))'
  ggp why tic_tac_toe.kif --moves '(mark 1 1) wait' --history '(cell 1 1 cross)'
  ggp why tic_tac_toe.kif terminal '(goal cross 100)'
  ggp why tic_tac_toe.kif '(goal ?player 100)'
  ggp why tic_tac_toe.kif --does '(mark 2 2) wait' '(next (cell 2 2 cross))'
  ggp why kuhn_poker.kif --moves 'wait wait (deal jack king)' --known-by left '(card right king)'

FACT is an atom of the rules, or a fact of the state; its variables match anything.
(not FACT) and (distinct A B) are allowed too, and outer brackets may be omitted.
Several facts are answered in turn; the exit code is 0 if all hold.
For a fact that holds, the smallest derivation is printed: each line is a fact and the rule
that derives it, with the facts it rests on below. For a fact that does not hold, the rules
closest to deriving it are printed, with the literal that fails first. Facts that hold in
every position, and the other true literals of a rule that fails, are folded (--full).")]
pub struct Options {
    /// The rules, and the facts in question after their files, as options may come between.
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    /// Suppose that this joint move is made in the position; without it, facts that depend
    /// on moves refer to the last move made
    #[arg(long, value_name = "MOVES", help_heading = "Position")]
    does: Option<String>,
    /// Show when the fact appeared, persisted and disappeared over the moves
    #[arg(long, conflicts_with = "does")]
    history: bool,
    /// In a game with hidden information, ask whether this role knows the facts: whether they hold
    /// in all positions that fit its moves and percepts, and in which the match is over, or goes on, as it does
    #[arg(long, value_name = "ROLE", conflicts_with_all = ["does", "history", "format", "output", "depth", "shown_rules", "shown_facts", "full"])]
    known_by: Option<String>,
    /// Maximum number of positions that fit, for --known-by; of more, a sample is kept
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        requires = "known_by"
    )]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    positions: usize,
    /// Seed of the sample, for --known-by; with it, work is counted instead of time, so that the
    /// answer can be repeated, but may take longer
    #[arg(long, value_name = "N", requires = "known_by")]
    seed: Option<u64>,
    /// Levels of rules examined to explain why a fact does not hold
    #[arg(long, value_name = "N", default_value_t = ExplainOptions::default().depth)]
    depth: usize,
    /// Maximum number of rules shown on each of these levels
    #[arg(long = "rules", id = "shown_rules", value_name = "N")]
    #[arg(default_value_t = ExplainOptions::default().rules)]
    most_rules: usize,
    /// Maximum number of matching facts that are explained or followed
    #[arg(long = "facts", id = "shown_facts", value_name = "N")]
    #[arg(default_value_t = ExplainOptions::default().facts)]
    most_facts: usize,
    /// Show everything, folding nothing
    #[arg(long)]
    full: bool,
    /// Maximum number of lines; the deepest are left out
    #[arg(long, value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    lines: usize,
    /// Output format: text, JSON, or a page whose lines fold [default: by the extension of
    /// --output]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Maximum number of rule instances and facts examined for one derivation or rule
    #[arg(long, value_name = "N", default_value_t = ExplainOptions::default().work)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    max_instances: u64,
}

/// The format of an explanation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Html,
}

impl Options {
    fn format(&self, context: &Context) -> anyhow::Result<Format> {
        let ending = self.output.as_deref().and_then(|path| path.extension());
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        Ok(match (self.format, ending.as_deref()) {
            _ if context.json() => Format::Json,
            (Some(format), _) => format,
            (None, Some("json")) => Format::Json,
            (None, Some("html" | "htm")) => Format::Html,
            (None, Some("txt") | None) => Format::Text,
            (None, Some(other)) => bail!(
                "the file name of an explanation must end in .txt, .json or .html, \
                 not .{other}; or choose the format with --format"
            ),
        })
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the position or the question are invalid, or a limit is exceeded.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    options.format(context)?;
    let rules = &mut options.rules.clone();
    let questions = take_questions(&mut rules.files)?;
    let mut machine = rules.machine_for_one_position(context)?;
    let game = machine.game().clone();
    let mut depths = ExplainOptions::default();
    depths.facts = options.most_facts.max(1);
    depths.depth = options.depth.max(1);
    depths.rules = options.most_rules.max(1);
    depths.margin = match options.most_rules > ExplainOptions::default().rules {
        true => u32::MAX / 2,
        false => ExplainOptions::default().margin,
    };
    depths.work = options.max_instances;
    let (start, made) = options
        .position
        .start_and_moves(&mut machine, rules, context)
        // Exit code 1 is for facts that do not hold, not for illegal moves.
        .map_err(|error| anyhow!("{error:#}"))?;
    let mut states = vec![machine.facts(&start)];
    let mut joints: Vec<Vec<Move>> = Vec::new();
    let last = made
        .last()
        .map_or(start.clone(), |(_, state)| state.clone());
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
    if let Some(name) = &options.known_by {
        let role = super::legal::find_role(&game, name)?;
        let played = known::Match {
            machine: &mut machine,
            states: &states,
            joints: &joints,
            limits: rules.limits(context),
        };
        let sample = SampleLimits {
            positions: options.positions,
            seed: options.seed,
        };
        let limits = (sample, options.lines);
        return known::run(role, &questions, &mut explainer, played, limits, context);
    }
    let mut answers = Vec::with_capacity(questions.len());
    let mut answer = |question: &String| {
        let asked = explainer
            .question(question)
            .map_err(|error| match questions.len() {
                1 => anyhow!(error),
                _ => anyhow!("`{question}`: {error}; write facts {WHOLE}"),
            })?;
        let (holds, trees) = if options.history {
            if !asked.is_of_state(&game) {
                bail!("`{question}`: only facts of the state have a history");
            }
            let courses = explainer.history(&asked, &states, &joints)?;
            let was_true = matches!(courses, FactHistories::Some { .. });
            (was_true, explainer.course_trees(&courses))
        } else {
            let (at, joint): (usize, Option<&[Move]>) = match joints.last() {
                Some(joint) if explainer.needs_moves(&asked) => {
                    let made = format::joint_line(&machine, joint);
                    context.note(format_args!("in the position before the move: {made}"));
                    (joints.len() - 1, Some(joint))
                }
                None if explainer.needs_moves(&asked) => {
                    bail!("`{question}` depends on the moves made: add --does \"MOVES\"")
                }
                _ => (states.len() - 1, None),
            };
            explainer.set_past(&states[..at]);
            let facts = &states[at];
            let answer = explainer.explain(&asked, Situation { facts, joint })?;
            if asked.is_of_state(&game)
                && !answer.holds()
                && is_like_a_move(&mut machine, &last, question)
            {
                context.note(format_args!("for a move, ask (legal ROLE {question})"));
            }
            if !answer.holds() {
                let forms = asked.other_forms(&game).into_iter();
                forms.for_each(|form| context.note(format_args!("the rules also have {form}")));
            }
            (answer.holds(), explainer.trees(&answer))
        };
        let question = question.clone();
        Ok(Answered {
            question,
            holds,
            trees,
        })
    };
    // An error in one question does not hide the answers to the others.
    let mut faults: Vec<anyhow::Error> = Vec::new();
    for question in &questions {
        match answer(question) {
            Ok(answered) => answers.push(answered),
            // Words without brackets are most likely one question without quotes.
            Err(fault) if !question.starts_with('(') => return Err(fault),
            Err(fault) => faults.push(fault),
        }
    }
    let all = answers.iter().all(|answer| answer.holds);
    if !answers.is_empty() || faults.is_empty() {
        write(options, context, answers)?;
    }
    outcome(faults, all, context)
}

/// The outcome of questions, of which some may have failed.
fn outcome(faults: Vec<anyhow::Error>, all_hold: bool, context: &Context) -> anyhow::Result<Exit> {
    let word = match context.json() {
        true => "",
        false => &format!("{} ", context.error_word()),
    };
    match faults
        .into_iter()
        .reduce(|first, fault| anyhow!("{first:#}\n{word}{fault:#}"))
    {
        Some(fault) => Err(fault),
        None if all_hold => Ok(Exit::Done),
        None => Ok(Exit::Negative),
    }
}

/// A question with its answer; JSON output is a list of these if there are several.
#[derive(Serialize)]
struct Answered {
    question: String,
    holds: bool,
    trees: Vec<Tree>,
}

/// The place of questions on the command line.
const WHOLE: &str = "after the files, each fact in quotes: ggp why FILE... '(...)'";

/// Splits the questions off the files: everything from the first argument that is not a
/// file, and always the last one. `;` separates questions, as it separates moves.
fn take_questions(files: &mut Vec<PathBuf>) -> anyhow::Result<Vec<String>> {
    let is_file = |path: &PathBuf| path.as_os_str() == "-" || path.exists();
    let rest = files.iter().skip(1).position(|path| !is_file(path));
    let first = rest.map_or(files.len().saturating_sub(1), |at| at + 1);
    if first == 0 {
        bail!("give the rules and then a fact: ggp why FILE... FACT");
    }
    let asked = files.split_off(first);
    if let Some(late) = asked[..asked.len() - 1].iter().find(|path| is_file(path)) {
        let word = asked[0].display();
        let late = late.display();
        bail!("there is no file {word}, but {late} is a file; write facts {WHOLE}");
    }
    let texts = asked.iter().flat_map(|text| {
        let text = text.to_string_lossy().into_owned();
        let parts = text.split(';').map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>()
    });
    match texts.collect::<Vec<_>>() {
        texts if texts.is_empty() => Ok(vec![String::new()]),
        texts => Ok(texts),
    }
}

/// Whether a text has the form of a legal move.
fn is_like_a_move<M: Machine>(machine: &mut M, state: &M::State, text: &str) -> bool {
    let game = machine.game().clone();
    let Ok(term) = game.parse_term(machine.terms_mut(), text) else {
        return false;
    };
    let mut legal = Vec::new();
    game.roles().any(|role| {
        machine.legal(state, role, &mut legal).is_ok()
            && (legal.iter())
                .any(|m| machine.terms().functor(m.term()) == machine.terms().functor(term))
    })
}

fn write(options: &Options, context: &Context, mut answers: Vec<Answered>) -> anyhow::Result<()> {
    let format = options.format(context)?;
    let finish = |trees: &mut Vec<Tree>| {
        if format == Format::Text && !options.full {
            trees.iter_mut().for_each(Tree::fold);
        }
        Tree::share(trees);
        Tree::cut(trees, options.lines);
    };
    let text = if let (Format::Json, 2..) = (format, answers.len()) {
        answers
            .iter_mut()
            .for_each(|answer| finish(&mut answer.trees));
        serde_json::to_string_pretty(&answers)?
    } else {
        let questions: Vec<&str> = answers.iter().map(|answer| &*answer.question).collect();
        let title = questions.join("; ");
        let mut trees = answers
            .into_iter()
            .flat_map(|answer| answer.trees)
            .collect();
        finish(&mut trees);
        match format {
            Format::Text => {
                let texts: Vec<String> = trees.iter().map(Tree::text).collect();
                texts.join("\n\n")
            }
            Format::Json => serde_json::to_string_pretty(&trees)?,
            Format::Html => Tree::page(&title, &trees),
        }
    };
    match &options.output {
        Some(path) => context.write_file(path, text.as_bytes()),
        None => Ok(context.print(text)?),
    }
}
