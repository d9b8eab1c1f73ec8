//! `ggp replay`: a check of a match record against the rules.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use serde::Serialize;

use crate::picture_options::{self, PictureOptions};
use crate::rule_files::RuleOptions;
use crate::whole_text;
use crate::{Context, Exit, format, json};

use ggp_engine::machine::{AnyMachine, Backend, Machine, canonical_facts, canonical_moves};
use ggp_gdl::game::Game;
use ggp_gdl::span::{Source, Sources};
use ggp_picture::{PictureOptions as DrawingOptions, SAMPLE_STATES};
use ggp_play::Match;
use ggp_play::record::{Difference, MatchRecord};
use ggp_play::tournament::Row;

/// The options of `ggp replay`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp replay match.json
  ggp replay match.json --step 3
  ggp replay match.json --game rules.kif --game board.kif --json
  ggp replay cup.jsonl --match 4a201f74dbb14948 --game rules.kif

Compares each state, move and score and the end with the rules. Reports the first difference
with exit code 1.

In games with hidden information (rules with `sees`), it also tells what each role sees of each
joint move. With --step and --json, `sees` has a list of percepts for each role.")]
pub struct Options {
    /// Match record, as written by `ggp host --save`, or results of `ggp tournament`
    #[arg(value_name = "RECORD")]
    record: PathBuf,
    /// The match of a tournament: its `id` in the results
    #[arg(long = "match", value_name = "ID", requires = "game")]
    id: Option<String>,
    /// Rule files, if the record has no rules or others should be used
    #[arg(long = "game", value_name = "FILE")]
    game: Vec<PathBuf>,
    /// Treat names as case-sensitive
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    picture: PictureOptions,
    /// Show this state with its legal moves and the moves made
    #[arg(long, value_name = "N")]
    step: Option<usize>,
}

/// The result, as printed by `--json`.
#[derive(Serialize)]
struct Answer {
    match_id: String,
    roles: Vec<String>,
    players: Vec<String>,
    /// The number of joint moves.
    moves: usize,
    completed: bool,
    aborted: bool,
    scores: Vec<u8>,
    /// The number of moves that were drawn for players.
    errors: usize,
    /// The first difference from the rules.
    difference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
}

/// A state and the joint move made in it.
#[derive(Serialize)]
struct Step {
    number: usize,
    /// Canonical texts of the facts, sorted.
    state: Vec<String>,
    /// Canonical texts of the legal moves by role, sorted; empty if the game is over.
    legal: Vec<Vec<String>>,
    /// The drawing of the state, if there is a board.
    #[serde(skip)]
    drawing: Option<String>,
    /// The joint move.
    joint: Option<Vec<String>>,
    /// The percepts of each role of the joint move, if the rules have `sees`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sees: Option<Vec<Vec<String>>>,
    /// The lapses of the joint move.
    errors: Option<Vec<String>>,
}

/// Runs the command.
///
/// # Errors
///
/// If the record or the rules cannot be read, or the state does not exist.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let text = whole_text::read(&options.record)?;
    let row = row(options, &text)?;
    let mut record = match row {
        Some(_) => MatchRecord::default(),
        None => parse(&options.record, &text)?,
    };
    let files = match &options.game[..] {
        [] => std::slice::from_ref(&options.record),
        files => files,
    };
    let rules = RuleOptions {
        case_sensitive: options.case_sensitive,
        ..RuleOptions::of(files)
    };
    let game = match options.game.is_empty() {
        true => recorded(&record, &rules, context)?,
        false => rules.game(context)?,
    };
    let mut machine = AnyMachine::new(&game, Backend::Datalog, rules.limits(context))?;
    if let Some(row) = row {
        record = row.record(&mut machine)?;
    }
    if options.step.is_some_and(|step| step >= record.states.len()) {
        let states = format::counted(record.states.len(), "state");
        bail!("the record has {states}, numbered from 0");
    }
    let drawing_options = options.picture.read(&rules, &game, context)?;
    let mut shown: Option<Step> = None;
    // What roles saw of each joint move, in games with `sees`.
    let mut seen = Vec::new();
    // Only checked parts of the record are shown.
    let mut right = 0;
    let replayed = record.replay(machine, |number, played| {
        right = number;
        if game.is_hidden()
            && let Some(ply) = played.history().clone().plies().last()
        {
            let machine = played.machine();
            let each = ply.percepts.iter();
            let sees = each.map(|told| format::percept_texts(machine, told));
            seen.push(sees.collect::<Vec<_>>());
        }
        if options.step == Some(number) {
            shown = Some(step(&record, number, played, drawing_options.clone()));
        }
    });
    if let Some(step) = &mut shown {
        step.sees = seen.get(step.number).cloned();
    }
    let difference = match replayed {
        Ok(_) => None,
        Err(Difference::Rules(error)) => return Err(error.into()),
        Err(difference) => Some(difference.to_string()),
    };
    let lapses = record
        .errors
        .iter()
        .flatten()
        .filter(|error| !error.is_empty());
    let answer = Answer {
        roles: format::role_names(&game),
        players: record.player_names_from_host.clone(),
        moves: record.moves.len(),
        completed: record.is_completed,
        aborted: record.is_aborted,
        scores: record.goal_values.clone(),
        errors: lapses.count(),
        difference,
        step: shown,
        match_id: record.match_id,
    };
    match context.json() {
        true => context.print_json(&answer)?,
        false => {
            if options.step.is_none() {
                let line = |number: usize| {
                    let errors = record.errors.get(number).map_or(&[][..], Vec::as_slice);
                    let joint = &record.moves[number - 1];
                    let line = format::recorded_line(number, &answer.roles, joint, errors);
                    match seen.get(number - 1) {
                        None => line,
                        Some(sees) => format!("{line}\n   {}", format::sees_line(&game, sees)),
                    }
                };
                context.print_lines((1..=right).map(line))?;
            }
            context.print_lines(answer.lines(&game))?;
        }
    }
    Ok(match answer.difference {
        None => Exit::Done,
        Some(_) => Exit::Negative,
    })
}

/// The record in a file.
///
/// # Errors
///
/// If the file cannot be read or is not a match record.
pub(super) fn load(path: &Path) -> anyhow::Result<MatchRecord> {
    parse(path, &whole_text::read(path)?)
}

/// The match of a tournament that is asked for; `None` if the file has no results of one.
fn row(options: &Options, text: &str) -> anyhow::Result<Option<Row>> {
    let name = options.record.display();
    let rows = text
        .lines()
        .map_while(|line| serde_json::from_str(line).ok());
    let mut rows: Vec<Row> = rows.collect();
    match &options.id {
        Some(id) => match rows.iter().position(|row| row.id == *id) {
            Some(at) => Ok(Some(rows.swap_remove(at))),
            None => bail!("{name} has no match {id} of a tournament"),
        },
        None if rows.len() > 1 => bail!(
            "{name} has the results of {} matches; select one by its id, such as --match {}",
            rows.len(),
            rows[0].id
        ),
        None => Ok(rows.pop()),
    }
}

/// The record in a text.
fn parse(path: &Path, text: &str) -> anyhow::Result<MatchRecord> {
    let name = path.display();
    let expected = "a JSON object, as `ggp play --save` and `ggp host --save` write it";
    json::parse(text, expected).map_err(|why| anyhow!("{name} is not a match record: {why}"))
}

/// The game of the given rules, or of the rules in the record.
///
/// # Errors
///
/// If there are no rules, or they are invalid.
pub(super) fn game(
    record: Option<&MatchRecord>,
    rules: &RuleOptions,
    context: &Context,
) -> anyhow::Result<Game> {
    match record.filter(|_| rules.files.is_empty()) {
        Some(record) => recorded(record, rules, context),
        None => rules.game(context),
    }
}

/// The game of the rules in a record.
fn recorded(record: &MatchRecord, rules: &RuleOptions, context: &Context) -> anyhow::Result<Game> {
    let Some(text) = &record.rulesheet else {
        bail!("the record has no rules; give the rule files");
    };
    let source = Source::new("the record's rules", &text[..]);
    let reading = rules.read_sources(Sources::from(source), context.stop(), context)?;
    rules.accept(reading, context)
}

/// A state with its legal moves by the rules, and the joint move made in it.
fn step(
    record: &MatchRecord,
    number: usize,
    played: &mut Match<AnyMachine>,
    drawing_options: DrawingOptions,
) -> Step {
    let state = played.history().state().clone();
    let is_over = played.is_over().unwrap_or(true);
    let machine = played.machine();
    let mut legal = Vec::new();
    if !is_over {
        for role in machine.game().roles() {
            let mut moves = Vec::new();
            // A role without legal moves has an empty list.
            let _ = machine.legal(&state, role, &mut moves);
            legal.push(canonical_moves(machine, &moves));
        }
    }
    // Without a board, a drawing would repeat the facts.
    let picture = picture_options::picture(machine, SAMPLE_STATES, drawing_options);
    let picture = picture.ok().filter(|picture| picture.has_boards());
    let drawing = picture.map(|picture| {
        let facts = machine.facts(&state);
        ggp_picture::text(&picture.draw(
            machine.terms(),
            &facts,
            ggp_picture::DrawingLimits::default(),
        ))
    });
    Step {
        number,
        drawing,
        state: canonical_facts(machine, &state),
        legal,
        joint: record.moves.get(number).cloned(),
        sees: None,
        errors: record.errors.get(number + 1).cloned(),
    }
}

impl Answer {
    fn lines(&self, game: &Game) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(step) = &self.step {
            let facts = format::counted(step.state.len(), "fact");
            lines.push(format!("state {}: {facts}", step.number));
            lines.push(format::wrapped(&printable_terms(&step.state), 100));
            lines.extend(step.drawing.clone());
            for (role, legal) in self.roles.iter().zip(&step.legal) {
                lines.push(format!("legal moves of {}:", format::printable(role)));
                lines.push(format::wrapped(&printable_terms(legal), 100));
            }
            if let Some(joint) = &step.joint {
                let errors = step.errors.as_deref().unwrap_or_default();
                lines.push(format::recorded_line(
                    step.number + 1,
                    &self.roles,
                    joint,
                    errors,
                ));
                let sees = step.sees.iter();
                lines.extend(sees.map(|sees| format::sees_line(game, sees)));
            }
        }
        if let Some(difference) = &self.difference {
            lines.push(format!(
                "the record differs {}",
                format::printable(difference)
            ));
            return lines;
        }
        let moves = format::counted(self.moves, "joint move");
        let end = match (self.completed, self.aborted) {
            (true, _) => "completed",
            (false, true) => "aborted",
            (false, false) => "not completed",
        };
        lines.push(format!("the record is valid: {moves}, {end}"));
        let scores = self.roles.iter().zip(&self.scores);
        lines.extend(scores.map(|(role, score)| format!("{} {score}", format::printable(role))));
        lines
    }
}

/// Terms as printable text.
fn printable_terms(terms: &[String]) -> Vec<String> {
    terms.iter().map(|term| format::printable(term)).collect()
}
