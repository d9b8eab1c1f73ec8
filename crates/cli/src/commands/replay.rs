//! `ggp replay`: a check of a match record against the rules.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use serde::Serialize;

use crate::knowledge::{DrawnKnowledge, Known, KnownByOptions};
use crate::picture_options::PictureOptions;
use crate::rule_files::{GoalOptions, RuleOptions};
use crate::whole_text;
use crate::{Context, Exit, format, json};

use ggp_engine::machine::{AnyMachine, Backend, Machine, canonical_facts, canonical_moves};
use ggp_gdl::game::{Game, RoleId};
use ggp_gdl::span::{Source, Sources};
use ggp_picture::{Drawing, DrawingLimits, Picture};
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
  ggp replay match.json --known-by cross --picture krieg_tic_tac_toe.picture.toml

Compares each state, move and score and the end with the rules. Reports the first difference
with exit code 1.

In games with hidden information (rules with `sees`), it also tells what each role sees of each
joint move. With --step and --json, `sees` has a list of percepts for each role. With --known-by, it
draws what a role knows at the start and after each joint move, or in the state of --step.

The rules of the record are in no file, so no picture file is next to them: use --game or --picture.")]
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
    goals: GoalOptions,
    #[command(flatten)]
    picture: PictureOptions,
    #[command(flatten)]
    knowledge: KnownByOptions,
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
    /// The knowledge of the role of --known-by: in the state of --step, or else in each state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known: Vec<KnownState>,
}

/// The knowledge of a role in a state.
#[derive(Serialize)]
struct KnownState {
    role: String,
    state: usize,
    drawing: Drawing,
    /// The number of positions that fit, and whether they are all.
    positions: usize,
    exact: bool,
    /// A note where the drawing is that of a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A state and the joint move made in it.
#[derive(Serialize)]
struct Step {
    number: usize,
    /// Texts of the facts, sorted.
    state: Vec<String>,
    /// Texts of the legal moves by role, sorted; empty if the game is over.
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
        goals: options.goals,
        ..RuleOptions::of(files)
    };
    let rules = as_recorded(&rules, &record)?;
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
    let picture = Picture::of(&mut machine.clone(), drawing_options);
    let start = machine.initial()?;
    let facts = machine.facts(&start);
    let (sample, limits) = (options.knowledge.sample(), rules.limits(context));
    let knower = match &options.knowledge.known_by {
        Some(name) => Some(super::legal::find_role(&game, name)?),
        None => None,
    };
    let knowledge = knower.map(|role| {
        let picture = picture.clone()?;
        let known = Known::at_start(&game, role, &facts, limits, sample)?;
        Ok::<_, anyhow::Error>((role, known, picture))
    });
    let mut knowledge = knowledge.transpose()?;
    let mut known: Vec<KnownState> = Vec::new();
    let mut fault: Option<anyhow::Error> = None;
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
            shown = Some(step(&record, number, played, picture.as_ref().ok()));
        }
        if let Some((role, of_role, picture)) = &mut knowledge
            && fault.is_none()
            && options.step.is_none_or(|step| number <= step)
        {
            let is_shown = options.step.is_none_or(|step| number == step);
            let picture = is_shown.then_some(&*picture);
            match known_after(played, *role, of_role, picture) {
                Ok(Some(drawn)) => known.push(KnownState {
                    role: game.role_name(*role).to_owned(),
                    state: number,
                    drawing: drawn.drawing,
                    positions: drawn.known_by.positions,
                    exact: drawn.known_by.exact,
                    note: drawn.note,
                }),
                Ok(None) => {}
                Err(error) => fault = Some(error),
            }
        }
    });
    if let Some(step) = &mut shown {
        step.sees = seen.get(step.number).cloned();
    }
    if let Some(error) = fault {
        return Err(error);
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
        known,
        match_id: record.match_id,
    };
    match context.json() {
        true => context.print_json(&answer)?,
        false => {
            if options.step.is_none() {
                let line = |number: usize| {
                    let errors = record.errors.get(number).map_or(&[][..], Vec::as_slice);
                    let joint = &record.moves[number - 1];
                    let mut lines =
                        vec![format::recorded_line(number, &answer.roles, joint, errors)];
                    let sees = seen.get(number - 1);
                    lines.extend(sees.map(|sees| format!("   {}", format::sees_line(&game, sees))));
                    let known = answer.known.get(number);
                    lines.extend(known.map(KnownState::text));
                    lines.join("\n")
                };
                let start = answer.known.first().map(KnownState::text);
                context.print_lines(start.into_iter().chain((1..=right).map(line)))?;
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
    let Some(record) = record else {
        return rules.game(context);
    };
    let rules = as_recorded(rules, record)?;
    if rules.files.is_empty() {
        recorded(record, &rules, context)
    } else {
        rules.game(context)
    }
}

/// The options with the choice among several goal values of a record, unless they have another.
fn as_recorded(rules: &RuleOptions, record: &MatchRecord) -> anyhow::Result<RuleOptions> {
    let recorded = record.goal_choice.as_deref().map(str::parse).transpose();
    let recorded = recorded.map_err(|why| anyhow!("`goalChoice` of the record: {why}"))?;
    let goals = rules.goals.goals.or(recorded);
    Ok(RuleOptions {
        goals: GoalOptions { goals },
        ..rules.clone()
    })
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
    picture: Option<&Picture>,
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
    let picture = picture.filter(|picture| picture.has_boards());
    let drawing = picture.map(|picture| {
        let facts = machine.facts(&state);
        let drawing = picture.draw(machine.terms(), &facts, DrawingLimits::default());
        ggp_picture::text(&if is_over { drawing.at_end() } else { drawing })
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

/// Adds the last turn of a match to what a role knows, and draws that if there is a picture.
fn known_after(
    played: &mut Match<AnyMachine>,
    role: RoleId,
    known: &mut Known,
    picture: Option<&Picture>,
) -> anyhow::Result<Option<DrawnKnowledge>> {
    if let Some(ply) = played.history().plies().last() {
        known.turn(ply.joint[role.index()], &ply.percepts[role.index()])?;
    }
    let Some(picture) = picture else {
        return Ok(None);
    };
    known.is_over = played.is_over()?;
    let limits = DrawingLimits::default();
    Ok(Some(known.drawing(played.machine(), picture, limits)?))
}

impl KnownState {
    fn text(&self) -> String {
        let role = format::printable(&self.role);
        // What is the same in all positions of a sample looks certain.
        let kind = match self.exact {
            true => String::new(),
            false => format!(
                ", {} of a sample",
                format::counted(self.positions, "position")
            ),
        };
        let mut text = format!(
            "known by {role}{kind}:\n{}",
            ggp_picture::text(&self.drawing)
        );
        let note = self.note.iter();
        text.extend(note.flat_map(|note| ["\n", note]));
        text
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
            lines.extend(self.known.iter().map(KnownState::text));
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
        lines.extend(format::score_lines(game, &self.scores));
        lines
    }
}

/// Terms as printable text.
fn printable_terms(terms: &[String]) -> Vec<String> {
    terms.iter().map(|term| format::printable(term)).collect()
}
