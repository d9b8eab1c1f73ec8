//! `ggp replay`: a match record, checked against the rules.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::picture_options::{self, PictureOptions};
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, format};

use ggp_gdl::game::Game;
use ggp_engine::machine::{AnyMachine, Backend, Machine, canonical_facts, canonical_moves};
use ggp_picture::{PictureOptions as DrawingOptions, SAMPLE_STATES};
use ggp_play::Match;
use ggp_play::record::{Difference, MatchRecord};
use ggp_gdl::span::{Source, Sources};

/// The options of `ggp replay`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp replay match.json
  ggp replay match.json --step 3
  ggp replay match.json --game rules.kif --game board.kif --json

Each state, move, score and the end are compared with what the rules say. Exit code 1 if
something differs; the first such thing is named.")]
pub struct Options {
    /// A match record, as `ggp host --save` writes it
    #[arg(value_name = "RECORD")]
    record: PathBuf,
    /// Rule files, if the record has none or others are meant
    #[arg(long = "game", value_name = "FILE")]
    game: Vec<PathBuf>,
    /// Tell `Cell` from `cell`
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    picture: PictureOptions,
    /// Show this state, the moves that were legal and those that were made
    #[arg(long, value_name = "N")]
    step: Option<usize>,
}

/// What was found, as `--json` prints it.
#[derive(Serialize)]
struct Answer {
    match_id: String,
    roles: Vec<String>,
    players: Vec<String>,
    /// Joint moves.
    moves: usize,
    completed: bool,
    aborted: bool,
    scores: Vec<u8>,
    /// Moves that were drawn for players.
    errors: usize,
    /// The first thing that differs.
    difference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
}

/// A state and what was done in it.
#[derive(Serialize)]
struct Step {
    number: usize,
    /// Canonical texts of the facts, sorted.
    state: Vec<String>,
    /// Canonical texts of the legal moves by role, sorted; none if the game is over.
    legal: Vec<Vec<String>>,
    /// The facts as they are drawn, if there is a board.
    #[serde(skip)]
    drawing: Option<String>,
    /// What was made.
    joint: Option<Vec<String>>,
    /// What went wrong with it.
    errors: Option<Vec<String>>,
}

/// Runs the command.
///
/// # Errors
///
/// If the record or the rules cannot be read, or there is no such state.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let record = load(&options.record)?;
    if options.step.is_some_and(|step| step >= record.states.len()) {
        let states = format::counted(record.states.len(), "state");
        bail!("the record has {states}, counted from 0");
    }
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
    let machine = AnyMachine::new(&game, Backend::Datalog, rules.limits(context))?;
    let drawing_options = options.picture.read(&rules, &game, context)?;
    let mut shown = None;
    // What is shown of a record is what has been found right.
    let mut right = 0;
    let replayed = record.replay(machine, |number, played| {
        right = number;
        if options.step == Some(number) {
            shown = Some(step(&record, number, played, drawing_options.clone()));
        }
    });
    let difference = match replayed {
        Ok(_) => None,
        Err(Difference::Rules(error)) => return Err(error.into()),
        Err(difference) => Some(difference.to_string()),
    };
    let lapses = record.errors.iter().flatten().filter(|error| !error.is_empty());
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
                    format::recorded_line(number, &answer.roles, joint, errors)
                };
                context.print_lines((1..=right).map(line))?;
            }
            context.print_lines(answer.lines())?;
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
/// If it cannot be read or is none.
pub(super) fn load(path: &Path) -> anyhow::Result<MatchRecord> {
    let name = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {name}"))?;
    serde_json::from_str(&text).with_context(|| format!("{name} is no match record"))
}

/// The game of the rules given, or else of those that a record has.
///
/// # Errors
///
/// If there are none, or they are wrong.
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

/// The game of the rules that a record has, read as the options say.
fn recorded(
    record: &MatchRecord,
    rules: &RuleOptions,
    context: &Context,
) -> anyhow::Result<Game> {
    let Some(text) = &record.rulesheet else {
        bail!("the record has no rules; say which they are");
    };
    let source = Source::new("the record's rules", &text[..]);
    rules.accept(rules.read_sources(Sources::from(source), context)?, context)
}

/// What the rules say of a state, and what was done in it.
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
            // A role without a legal move has none to show.
            let _ = machine.legal(&state, role, &mut moves);
            legal.push(canonical_moves(machine, &moves));
        }
    }
    // Without a board a drawing would say the facts again.
    let picture = picture_options::picture(machine, SAMPLE_STATES, drawing_options);
    let picture = picture.ok().filter(|picture| picture.has_boards());
    let drawing = picture.map(|picture| {
        let facts = machine.facts(&state);
        ggp_picture::text(&picture.draw(machine.terms(), &facts, ggp_picture::DrawingLimits::default()))
    });
    Step {
        number,
        drawing,
        state: canonical_facts(machine, &state),
        legal,
        joint: record.moves.get(number).cloned(),
        errors: record.errors.get(number + 1).cloned(),
    }
}

impl Answer {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(step) = &self.step {
            let facts = format::counted(step.state.len(), "fact");
            lines.push(format!("state {}: {facts}", step.number));
            lines.push(format::wrapped(&said(&step.state), 100));
            lines.extend(step.drawing.clone());
            for (role, legal) in self.roles.iter().zip(&step.legal) {
                lines.push(format!("{} may play:", format::printable(role)));
                lines.push(format::wrapped(&said(legal), 100));
            }
            if let Some(joint) = &step.joint {
                let errors = step.errors.as_deref().unwrap_or_default();
                lines.push(format::recorded_line(step.number + 1, &self.roles, joint, errors));
            }
        }
        if let Some(difference) = &self.difference {
            lines.push(format!("the record differs {}", format::printable(difference)));
            return lines;
        }
        let moves = format::counted(self.moves, "joint move");
        let end = match (self.completed, self.aborted) {
            (true, _) => "to the end",
            (false, true) => "broken off",
            (false, false) => "not at its end",
        };
        lines.push(format!("the record is right: {moves}, {end}"));
        let scores = self.roles.iter().zip(&self.scores);
        lines.extend(scores.map(|(role, score)| format!("{} {score}", format::printable(role))));
        lines
    }
}

/// Terms as people read them.
fn said(terms: &[String]) -> Vec<String> {
    terms.iter().map(|term| format::printable(term)).collect()
}
