//! `ggp engine`: counts and measurements of the evaluators.

mod bench;
mod conformance;
mod perft;

use clap::Subcommand;

use crate::{Context, Exit};

/// The options of `ggp engine`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp engine perft tic_tac_toe.kif 5
  ggp engine bench games
  ggp engine conformance --games collections")]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Count the positions at each depth
    Perft(Box<perft::Options>),
    /// Measure random playouts on every backend
    Bench(Box<bench::Options>),
    /// Compare answers with a folder of reference answers
    Conformance(Box<conformance::Options>),
}

/// Runs the command.
///
/// # Errors
///
/// Those of the command below it.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    match &options.command {
        Command::Perft(options) => perft::run(options, context),
        Command::Bench(options) => bench::run(options, context),
        Command::Conformance(options) => conformance::run(options, context),
    }
}
