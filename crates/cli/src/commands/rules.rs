//! `ggp rules`: commands that change or compare rule files.

mod convert;
mod diff;
mod rename;
mod scramble;

use clap::Subcommand;

use crate::{Context, Exit};

/// The options of `ggp rules`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp rules convert game.kif > game.hrf
  ggp rules rename game.kif heap pile
  ggp rules diff old.kif new.kif
  ggp rules scramble game.kif --map names.json")]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Convert between KIF and infix notation
    Convert(Box<convert::Options>),
    /// Rename a symbol
    Rename(Box<rename::Options>),
    /// Compare two rule files rule by rule
    Diff(Box<diff::Options>),
    /// Obfuscate all names (reversible)
    Scramble(Box<scramble::Options>),
}

/// Runs the command.
///
/// # Errors
///
/// Those of the command below it.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    match &options.command {
        Command::Convert(options) => convert::run(options, context),
        Command::Rename(options) => rename::run(options, context),
        Command::Diff(options) => diff::run(options, context),
        Command::Scramble(options) => scramble::run(options, context),
    }
}
