//! `ggp completions`: completion scripts for shells.

use clap_complete::Shell;

use crate::{Context, Exit};

/// The options of `ggp completions`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp completions bash > ~/.local/share/bash-completion/completions/ggp
  ggp completions zsh > ~/.zfunc/_ggp
  ggp completions fish > ~/.config/fish/completions/ggp.fish")]
pub struct Options {
    /// Shell to complete in
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the command.
///
/// # Errors
///
/// If standard output cannot be written.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut crate::command(), "ggp", &mut script);
    context.print_bytes(&script)?;
    Ok(Exit::Done)
}
