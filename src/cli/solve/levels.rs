//! What `--strategy levels` takes beside the options of all searches.

use anyhow::bail;

use crate::solve::{Method, SolveOptions, Strategy};

/// Options of breadth-first search on packed states.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Levels")]
pub(super) struct Flags {
    /// Look at every position that can be reached, also past a plan
    #[arg(long)]
    pub whole: bool,
}

impl Flags {
    /// Adds what is asked for to the options of a search.
    pub fn apply(&self, how: &mut SolveOptions) -> anyhow::Result<()> {
        if self.whole && how.strategy != Strategy::Network(Method::Levels) {
            bail!("--whole goes with --strategy levels");
        }
        how.levels.whole = self.whole;
        Ok(())
    }
}
