//! `ggp lsp`: a language server for rule files.

use anyhow::{Context as _, bail};

use crate::{Context, Exit};
use ggp_gdl::check::ReadOptions;
use ggp_gdl::syntax::SyntaxLimits;
use ggp_lsp::End;

/// The options of `ggp lsp`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp lsp                    serve an editor over standard input and output

Editors start this command themselves; editors/README.md describes the setup for common
ones. The server offers diagnostics while typing, hover texts for keywords and the values
of arguments, go to definition, references, renaming, fixes, completion, formatting, an
outline, and lenses that count positions, play a game, and check the rules by playing.")]
pub struct Options {
    /// Maximum seconds for a task started by a lens
    #[arg(long, value_name = "S", value_parser = crate::numbers::seconds, default_value = "5")]
    time: std::time::Duration,
    /// Maximum size of a file, in bytes
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().bytes)]
    max_bytes: usize,
    /// Serve over standard input and output, which is the default; some editors pass this
    /// option
    #[arg(long)]
    stdio: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If the input is not a sequence of messages, or ends before the session.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    // One character of a file can take six bytes of JSON.
    let most = (options.max_bytes as u64)
        .saturating_mul(6)
        .saturating_add(1 << 20);
    let (connection, threads) = ggp_lsp::stdio(most).context("cannot start a thread")?;
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
    // A signal ends the server at once: it has nothing to save.
    let end = context.waiting(|| ggp_lsp::serve(connection, &settings));
    // An unreadable input ends the session, too.
    threads.join()?;
    match end {
        End::Done => Ok(Exit::Done),
        End::WithoutShutdown => Ok(Exit::Negative),
        End::Closed => bail!("the editor closed the connection before the end of the session"),
    }
}
