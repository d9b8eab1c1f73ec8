//! The laboratory: comparisons with the published figures of other programs, and charts of what was
//! measured. Not published; `cargo run --release -p ggp-lab -- seeds` runs it.
//!
//! In: lists of runs, rule files, CSV tables. Out: tables, CSV files and charts. All else, from reading files
//! to exit codes, is that of the command line.

mod line_chart;
mod plot;
mod seeds;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ggp_cli::GeneralOptions;

/// Compare with other programs, and plot what was measured
#[derive(Parser)]
#[command(name = "ggp-lab", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    general: GeneralOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare solving times with the published times of other programs
    Seeds(Box<seeds::Options>),
    /// Plot columns of a CSV table
    Plot(Box<plot::Options>),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let code = ggp_cli::carried_out(&cli.general, "--budget-time", false, |context| {
        match &cli.command {
            Command::Seeds(options) => seeds::run(options, context),
            Command::Plot(options) => plot::run(options, context),
        }
    });
    ExitCode::from(code)
}
