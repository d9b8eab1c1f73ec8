//! The command line: one file for each command.
//!
//! In: the arguments. Out: text or JSON on standard output, everything else on standard
//! error, and an exit code. Nothing here knows how anything is computed.
//!
//! To add a command `name`:
//! 1. write `commands/name.rs` with `#[derive(clap::Args)] pub struct Options` and `pub fn
//! run(options: &Options, context: &Context) -> anyhow::Result<Exit>`;
//! 2. add one row to the table in `commands.rs`, in its group: its doc comment is the one-line help.
//!
//! Rule files and limits come from [`rule_files::RuleOptions`], a position from
//! [`position::PositionOptions`], pictures from `picture_options`; `format` turns roles,
//! moves and scores into text, and `text_files` reads and writes rule text that is rewritten
//! as a whole. Help, completions and manual pages follow from the options.
//!
//! Exit codes: 0 done; 1 a negative answer, such as an illegal move; 2 bad input or a
//! failure. A reader that closes the pipe early is not a failure.

mod agent_limits;
#[cfg(feature = "web")]
mod allocator;
pub mod bench;
mod commands;
pub mod conformance;
mod context;
pub mod format;
mod graph_layout;
pub mod json;
mod kinds;
mod knowledge;
mod listening;
pub mod numbers;
mod picture_options;
pub mod png;
pub mod position;
mod processes;
pub mod record;
pub mod rule_files;
pub mod rule_limits;
mod text_files;
mod value_files;
pub mod whole_text;

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser};
use serde::Serialize;

use ggp_engine::machine::PlayError;

use ggp_solver::solve::SolveError;

pub use commands::solve::{texts, verdict_name};
use commands::{Command, GROUPS};
pub use context::{ColourChoice, Context, Reported};

/// The result of a command that did not fail.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The command has done its work.
    Done,
    /// The answer is negative: illegal, unsolvable or unequal.
    Negative,
}

/// Play, solve and check games from their rules alone.
///
/// A game is a file of rules in GDL, the Game Description Language. Several files on one
/// command line are read as one rule set.
#[derive(Parser)]
#[command(
    name = "ggp",
    version,
    max_term_width = 100,
    subcommand_required = true,
    after_help = "`ggp COMMAND --help` has the options of a command, and examples; `ggp completions` and \
                  `ggp man` print shell completions and manual pages.\n\
                  Exit codes: 0 done; 1 a negative answer (an illegal move, no solution); 2 bad input \
                  or a failure."
)]
struct Cli {
    #[command(flatten)]
    general: GeneralOptions,
    #[command(subcommand)]
    command: Command,
}

/// The options of every command.
#[derive(clap::Args)]
#[command(next_help_heading = "General")]
pub struct GeneralOptions {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Print neither warnings nor progress
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to colour the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(visible_alias = "colour", hide_possible_values = false)]
    color: ColourChoice,
}

/// The reach of a seed.
const SEED: &str = "Equal seeds give equal choices for the same rules in the same order. Rules in another \
                    order lead to other choices";

/// The whole command line, for completions and manual pages.
pub fn command() -> clap::Command {
    let mut all = Cli::command();
    let mut listed = String::new();
    for (group, names) in GROUPS {
        if group.is_empty() {
            for name in *names {
                all = all.mut_subcommand(name, |command| command.hide(true));
            }
            continue;
        }
        listed += &format!("{group}:\n");
        for name in *names {
            let about = all.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            listed += &format!("  {name:<11} {about}\n");
        }
    }
    all.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}\n{{options}}{{after-help}}"
    ))
    .mut_subcommands(|command| completed(command).mut_subcommands(completed))
}

/// A command with what all commands have in common.
fn completed(command: clap::Command) -> clap::Command {
    let has_seed = command
        .get_arguments()
        .any(|argument| argument.get_id() == "seed");
    let command = if has_seed {
        command.mut_arg("seed", explained)
    } else {
        command
    };
    // -1 is read as a number that is out of range, not as an option.
    command.allow_negative_numbers(true)
}

/// The command of these words with its arguments, such as `rules diff`.
fn chosen<'a>(
    all: &'a clap::Command,
    given: &'a clap::ArgMatches,
) -> Option<(&'a clap::Command, &'a clap::ArgMatches)> {
    let (name, given) = given.subcommand()?;
    let here = all.find_subcommand(name)?;
    chosen(here, given).or(Some((here, given)))
}

/// All commands that do something, with their words, such as `rules diff`.
pub fn all_commands(all: &clap::Command) -> Vec<(String, &clap::Command)> {
    let mut commands = Vec::new();
    for command in all.get_subcommands() {
        let name = command.get_name();
        let below = all_commands(command).into_iter();
        let below: Vec<_> = below
            .map(|(words, below)| (format!("{name} {words}"), below))
            .collect();
        if below.is_empty() {
            commands.push((name.to_owned(), command));
        }
        commands.extend(below);
    }
    commands
}

/// The option `--seed` of any command, with the reach of a seed in its long help.
fn explained(seed: clap::Arg) -> clap::Arg {
    let help = seed.get_long_help().or(seed.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    seed.long_help(format!("{help}\n\n{SEED}"))
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

/// Runs a command line, whose first word is the name of the program, and returns the exit code.
/// The process ends at once after help, after a malformed command line, and after signals.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut all = command();
    let matches = all.try_get_matches_from_mut(arguments);
    let matches = matches.unwrap_or_else(|error| {
        let error = in_plain_words(error);
        end(error.print(), error.exit_code())
    });
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => end(error.print(), error.exit_code()),
    };
    let chosen = chosen(&all, &matches);
    let has = |option| chosen.is_some_and(|(here, _)| has_option(here, option));
    let time_option = if has("budget-time") {
        "--budget-time"
    } else {
        "--time"
    };
    carried_out(&cli.general, time_option, has("goals"), |context| {
        if let Some((here, given)) = chosen {
            outputs_are_no_inputs(here, given)?;
        }
        cli.command.run(context)
    })
}

/// Runs a command, whose time is limited by an option of this name, and which may have the option
/// `--goals`; prints its failure, and returns the exit code of the process.
pub fn carried_out(
    general: &GeneralOptions,
    time_option: &'static str,
    has_goals: bool,
    run: impl FnOnce(&Context) -> anyhow::Result<Exit>,
) -> u8 {
    let context = match Context::new(general.json, general.quiet, general.color) {
        Ok(context) => context.with_time_option(time_option),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            return 2;
        }
    };
    match run(&context) {
        Ok(Exit::Done) => 0,
        Ok(Exit::Negative) => 1,
        Err(error) => fail(&error, has_goals, &context),
    }
}

/// The options of all commands that name a file to write.
const OUTPUTS: &[&str] = &[
    "animate",
    "answer",
    "checkpoint",
    "csv",
    "efg",
    "log",
    "map",
    "output",
    "results",
    "save",
    "stats-file",
];
/// The options that name a file to go on with, which may be the file to write.
const RESUMED: &[&str] = &["resume", "back"];

/// Checks that no file to write is a file to read, nor two of them the same, and that none but rules gets
/// the ending of rules.
///
/// # Errors
///
/// The name of such a file.
fn outputs_are_no_inputs(here: &clap::Command, given: &clap::ArgMatches) -> anyhow::Result<()> {
    /// The commands that write rules.
    const REWRITING: &[&str] = &["convert", "rename", "scramble"];

    let (mut outputs, mut inputs, mut wrong) = (Vec::new(), Vec::new(), None);
    let is_back = here.get_name() == "scramble" && given.contains_id("back");
    for argument in here.get_arguments() {
        let id = argument.get_id().as_str();
        let names = argument.get_value_names().unwrap_or_default();
        let is_file = |name: &str| name.starts_with("FILE") || name.starts_with("RECORD");
        let name = argument.get_long().unwrap_or(id);
        let is_given = given.value_source(id) == Some(ValueSource::CommandLine);
        // What is restored has all of the text before.
        if !is_given
            || !names.iter().any(|name| is_file(name))
            || RESUMED.contains(&name)
            || is_back
        {
            continue;
        }
        let files = given.get_raw(id).into_iter().flatten().map(Path::new);
        if OUTPUTS.contains(&name) {
            let is_rules = |file: &&Path| {
                let ending = file.extension().unwrap_or_default();
                ["kif", "hrf"]
                    .iter()
                    .any(|known| ending.eq_ignore_ascii_case(known))
            };
            let writes_rules = name == "output" && REWRITING.contains(&here.get_name());
            if !writes_rules {
                wrong = wrong.or(files.clone().find(is_rules).map(|file| (file, name)));
            }
            outputs.extend(files);
        } else {
            inputs.extend(files);
        }
    }
    text_files::keep_apart(&outputs, &inputs)?;
    match wrong {
        Some((file, option)) => Err(anyhow::anyhow!(
            "{} is a name for rules, which --{option} does not write; choose another ending",
            file.display()
        )),
        None => Ok(()),
    }
}

/// The error of a command line. A value that is not a number is described in plain words, not
/// in those of the number parser.
fn in_plain_words(error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        return with_a_tip(error);
    }
    let text = |kind: ContextKind| error.get(kind).map_or(String::new(), ToString::to_string);
    if error.kind() == ErrorKind::InvalidSubcommand {
        return with_whole_name(&text(ContextKind::InvalidSubcommand), error);
    }
    let value = text(ContextKind::InvalidValue);
    let Some(source) = error.source() else {
        return error;
    };
    let why = match source.downcast_ref().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "the number is too large",
        Some(IntErrorKind::Zero) => "the number must be at least 1",
        Some(_) if value.starts_with('-') => "the number must not be negative",
        Some(_) => "expected a whole number",
        None if source.is::<ParseFloatError>() => "expected a number",
        None => match range(&source.to_string()) {
            Some(range) => &format!("the number must be {range}"),
            None => return error,
        },
    };
    let option = text(ContextKind::InvalidArg);
    let message = format!(
        "invalid value '{value}' for '{option}': {why}\n\nFor more information, try '--help'.\n"
    );
    clap::Error::raw(error.kind(), message).with_cmd(&command())
}

/// The error of an unknown command, with the whole name of one that ends like it.
fn with_whole_name(given: &str, mut error: clap::Error) -> clap::Error {
    let all = command();
    let ending = format!(" {given}");
    let words = all_commands(&all).into_iter().map(|(words, _)| words);
    for words in words.filter(|words| words.ends_with(&ending)) {
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = ContextValue::StyledStrs(vec![format!("the command is 'ggp {words}'").into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// The range in the text of an error such as `0 is not in 1..=65535`.
fn range(text: &str) -> Option<String> {
    let (least, most) = text.split_once(" is not in ")?.1.split_once("..")?;
    let most: u64 = most.trim_start_matches('=').parse().ok()?;
    Some(match most {
        u64::MAX => format!("at least {least}"),
        most => format!("from {least} to {most}"),
    })
}

/// Whether a command has a long option.
fn has_option(command: &clap::Command, option: &str) -> bool {
    let mut options = command.get_arguments();
    options.any(|known| known.get_long() == Some(option))
}

/// Names of options in other programs or commands, with the names of similar ones.
const OTHER_NAMES: [(&str, &[&str]); 6] = [
    ("n", &["count"]),
    ("strategy", &["method"]),
    ("time", &["budget-time", "play-clock", "timeout"]),
    ("budget-time", &["time", "play-clock", "timeout"]),
    ("save", &["output"]),
    ("output", &["save"]),
];
/// The most commands that a tip names.
const NAMED: usize = 3;

/// The error of an unknown option. It has the option that does the same, or the commands that have
/// the option; what is similar only in letters helps less.
fn with_a_tip(mut error: clap::Error) -> clap::Error {
    let text = |kind: ContextKind| error.get(kind).map_or(String::new(), ToString::to_string);
    let (usage, given) = (text(ContextKind::Usage), text(ContextKind::InvalidArg));
    let option = given.trim_start_matches('-');
    if option == given {
        return error;
    }
    let all = command();
    let words = usage.split_whitespace().skip_while(|word| *word != "ggp");
    let mut here = None;
    for word in words.skip(1) {
        match here.unwrap_or(&all).find_subcommand(word) {
            Some(below) => here = Some(below),
            None => break,
        }
    }
    let known = OTHER_NAMES.iter().find(|(name, _)| *name == option);
    let mut others = known.map_or(&[][..], |(_, others)| others).iter();
    let same = here.and_then(|here| others.find(|other| has_option(here, other)));
    let commands = all_commands(&all);
    let others = commands
        .iter()
        .filter(|(_, other)| has_option(other, option));
    let mut names: Vec<&str> = others.map(|(words, _)| &words[..]).collect();
    let unnamed = here.and_then(|here| {
        here.get_positionals()
            .find(|known| known.get_id() == option)
    });
    if same.is_none() && names.is_empty() && known.is_none() && unnamed.is_none() {
        // A file whose name begins with a dash is rare.
        error.remove(ContextKind::Suggested);
        return error;
    }
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::Usage);
    if let Some(same) = same {
        let same = ContextValue::String(format!("--{same}"));
        error.insert(ContextKind::SuggestedArg, same);
    } else if unnamed.is_some() {
        let tip = format!("write its value without '{given}', after the files");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    } else if !names.is_empty() {
        if names.len() > NAMED {
            names.truncate(NAMED);
            names.push("other commands");
        }
        let last = names.pop().expect("there is one");
        let tip = match names.is_empty() {
            true => format!("'{given}' is an option of ggp {last}"),
            false => format!(
                "'{given}' is an option of ggp {} and {last}",
                names.join(", ")
            ),
        };
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// Ends the process after printing help or a list, with this exit code. A closed pipe is not
/// an error.
pub(crate) fn end(printed: io::Result<()>, code: i32) -> ! {
    match context::printed(printed) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: {error}");
            std::process::exit(2)
        }
        _ => std::process::exit(code),
    }
}

/// The advice about several goal values, for commands with the option `--goals`.
const GOALS: &str = "--goals highest or --goals lowest takes one of the values";

/// The error of play that made a command fail, if it was one.
fn play_error(error: &anyhow::Error) -> Option<&PlayError> {
    let of_solver = || match error.downcast_ref()? {
        SolveError::Play(error) => Some(error),
        _ => None,
    };
    error.downcast_ref().or_else(of_solver)
}

/// Prints a failure of a command, which may have the option `--goals`, and returns its exit code.
fn fail(error: &anyhow::Error, has_goals: bool, context: &Context) -> u8 {
    let is_broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>();
        io.or(json.and_then(serde_json::Error::io_error_kind)) == Some(io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(is_broken_pipe) {
        return 0;
    }
    if error.is::<Reported>() {
        return 2;
    }
    let play = play_error(error);
    if context.json() {
        let failure = Failure {
            error: play.is_none().then_some("failure"),
            play,
            message: format!("{error:#}"),
        };
        let text = serde_json::to_string(&failure);
        let text = text.expect("strings and numbers are JSON");
        let _ = writeln!(io::stderr(), "{text}");
    } else {
        let text = format!("{} {error:#}", context.error_word());
        let _ = writeln!(io::stderr(), "{}", context::harmless(&text));
        let caused = error.chain().find_map(|cause| cause.downcast_ref());
        let help = match caused.or(play) {
            Some(PlayError::TooLarge(excess)) => {
                rule_limits::option_of(excess).map(|option| format!("{option} sets this limit"))
            }
            Some(PlayError::AmbiguousGoal(_)) if has_goals => Some(GOALS.to_owned()),
            _ => None,
        };
        if let Some(help) = help {
            let _ = writeln!(io::stderr(), "  help: {help}");
        }
    }
    match play {
        Some(PlayError::IllegalMove { .. } | PlayError::GameOver) => 1,
        _ => 2,
    }
}

/// A failure, as `--json` prints it on standard error.
#[derive(Serialize)]
struct Failure<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(flatten)]
    play: Option<&'a PlayError>,
    message: String,
}
