//! A game of a tournament.

use std::path::PathBuf;

use crate::Context;
use crate::rule_files::RuleOptions;
use ggp_engine::machine::{AnyMachine, Backend, Limits};
use ggp_play::tournament::PlannedGame;

/// A game of the tournament.
pub(super) struct Arena {
    pub(super) planned: PlannedGame,
    pub(super) machine: AnyMachine,
    pub(super) limits: Limits,
}

impl Arena {
    /// Reads the rules of a game.
    ///
    /// # Errors
    ///
    /// If they cannot be read or are invalid.
    pub(super) fn new(files: &[PathBuf], context: &Context) -> anyhow::Result<Arena> {
        let rules = RuleOptions::of(files);
        let game = rules.game(context)?;
        let limits = rules.limits(context);
        let stems = files.iter().filter_map(|file| file.file_stem());
        let stems: Vec<_> = stems.map(|stem| stem.to_string_lossy()).collect();
        Ok(Arena {
            planned: PlannedGame::new(stems.join("+"), &game),
            machine: AnyMachine::new(&game, Backend::Datalog, limits.clone())?,
            limits,
        })
    }
}
