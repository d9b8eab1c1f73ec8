//! `ggp lsp`: a language server for rule files.

use crate::{Context, Exit};
use ggp_gdl::check::ReadOptions;
use ggp_gdl::syntax::SyntaxLimits;

/// The options of `ggp lsp`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp lsp                    speak with an editor over standard input and output

Editors start this themselves: editors/README.md says how for the usual ones. What is wrong
with rules is shown as one types; hover tells what keywords mean and which names can stand
where; there are go to definition, references, renaming, mends, completion, formatting, an
outline, and lenses that count positions, play a game, and check what only play shows.")]
pub struct Options {
    /// Most seconds for what a lens starts
    #[arg(long, value_name = "S", value_parser = crate::numbers::seconds, default_value = "5")]
    time: std::time::Duration,
    /// Most bytes of a file
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().bytes)]
    max_bytes: usize,
    /// Speak over standard input and output, as is done anyway; some editors pass it
    #[arg(long)]
    stdio: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If the other side does not speak the protocol.
pub fn run(options: &Options, _context: &Context) -> anyhow::Result<Exit> {
    // A letter of a file can be six bytes of JSON.
    let most = (options.max_bytes as u64).saturating_mul(6).saturating_add(1 << 20);
    let (connection, threads) = ggp_lsp::stdio(most);
    let settings = ggp_lsp::Settings {
        time: options.time,
        read: ReadOptions {
            syntax: SyntaxLimits {
                bytes: options.max_bytes,
                ..SyntaxLimits::default()
            },
            ..ReadOptions::default()
        },
    };
    let came = ggp_lsp::serve(connection, &settings);
    match &came {
        // Nobody waits for the rest of the input.
        Err(error) if !error.channel_is_disconnected() => {}
        // What cannot be read is why the server hears no more.
        _ => threads.join()?,
    }
    came?;
    Ok(Exit::Done)
}
