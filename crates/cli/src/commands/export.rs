//! `ggp export`: a game in a format of other programs.

use ggp_gdl::counted::counted;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use ggp_stop::Stop;
use serde::Serialize;

use crate::numbers::seconds;
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, text_files};
use ggp_engine::machine::PlayError;
use ggp_play::extensive_form::{ExtensiveForm, ExtensiveFormError, watched_extensive_form};

/// The options of `ggp export`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp export oshi_zumo.kif --efg -o oshi_zumo.efg
  ggp export tic_tac_toe.kif --efg --moves '(mark 2 2); (mark 1 1)' > rest.efg

The tree has all matches from the position on. Roles that choose at once do so one after another in
the tree, in information sets that hide the choices of the same turn. All earlier moves are known to
all players. If the rules have `sees`, a player knows only its own moves and its percepts after each
turn; they are the label of an information set. A role named random is chance.

Gambit reads such files, and OpenSpiel as well: pyspiel.load_efg_game(text).")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Write the game tree in the EFG format of Gambit
    #[arg(long, required = true)]
    efg: bool,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Maximum number of nodes of the tree, with the turns in which nobody has a choice
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_nodes: usize,
    /// Time limit in seconds, including the time to read the rules
    #[arg(long, value_name = "S", value_parser = seconds)]
    budget_time: Option<Duration>,
    #[command(flatten)]
    position: PositionOptions,
}

/// The result; the text unless it is written to a file.
#[derive(Serialize)]
struct Report {
    nodes: usize,
    information_sets: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are invalid, the tree is too large, or the file cannot be written.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let output = options.output.as_ref();
    let output = output.filter(|path| !text_files::is_stdin(path));
    if let Some(path) = output {
        Context::can_write(path)?;
    }
    let stop = context.stop().within(options.budget_time);
    let made = form(options, &stop, context);
    let form = made.map_err(|error| match error.downcast_ref() {
        Some(PlayError::Interrupted) if !context.is_interrupted() => anyhow!(
            "the time limit was reached before the game tree was complete, and nothing is \
             written; raise --budget-time"
        ),
        _ => error,
    })?;
    let sets: Vec<String> = form.information_sets.iter().map(usize::to_string).collect();
    let note = format!(
        "{}; information sets: {}",
        counted(form.nodes, "node"),
        sets.join(", ")
    );
    let text = match output {
        Some(path) => {
            context.write_file(path, form.text.as_bytes())?;
            None
        }
        None => Some(form.text),
    };
    if context.json() {
        context.print_json(&Report {
            nodes: form.nodes,
            information_sets: form.information_sets,
            text,
        })?;
        return Ok(Exit::Done);
    }
    if let Some(text) = text {
        context.print(text.trim_end())?;
    }
    context.note(note);
    Ok(Exit::Done)
}

/// The tree, unless `stop` is over before.
fn form(options: &Options, stop: &Stop, context: &Context) -> anyhow::Result<ExtensiveForm> {
    let game = options.rules.game_until(stop, context)?;
    let mut limits = options.rules.limits(context);
    limits.stop = stop.clone();
    limits.ground.stop = stop.clone();
    let mut machine = options.rules.machine_within(&game, limits, context)?;
    let position = &options.position;
    let state = position.state(&mut machine, &options.rules, context)?;
    let spinner = context.spinner("writing the game tree");
    let most = options.max_nodes;
    let made = watched_extensive_form(&mut machine, &state, most, |nodes| {
        spinner.set_message(format!(
            "writing the game tree, {nodes} of at most {}",
            counted(most, "node")
        ));
    });
    spinner.finish_and_clear();
    made.map_err(|error| match error {
        ExtensiveFormError::Play(error) => anyhow::Error::new(error),
        ExtensiveFormError::TooLarge(_) => anyhow!("{error}; --max-nodes sets this limit"),
        error => anyhow::Error::new(error),
    })
}
