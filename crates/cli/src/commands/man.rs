//! `ggp man`: the manual pages.

use std::io;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::{Context, Exit};

/// The options of `ggp man`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp man | man -l -
  ggp man --dir ~/.local/share/man/man1")]
pub struct Options {
    /// Write the pages of all commands to this folder, which is created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// If the pages cannot be written.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut command = crate::command();
    command.build();
    let Some(folder) = &options.dir else {
        context.print_bytes(&page(command)?)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let mut pages = vec![command];
    while let Some(command) = pages.pop() {
        let subcommands = command.get_subcommands();
        pages.extend(subcommands.filter(|c| c.get_name() != "help").cloned());
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        context.write_file(&path, &page(command)?)?;
        context.note(format_args!("wrote {}", path.display()));
    }
    Ok(Exit::Done)
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
