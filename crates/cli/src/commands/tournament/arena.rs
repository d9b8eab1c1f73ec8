//! A game of a tournament.

use std::path::PathBuf;

use crate::Context;
use crate::conformance::sha256;
use crate::rule_files::RuleOptions;
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};

/// A game of the tournament.
pub(super) struct Arena {
    pub(super) name: String,
    pub(super) machine: AnyMachine,
    /// A digest of the rules.
    pub(super) digest: String,
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
        let texts = game.sources().files().iter().map(|file| file.text());
        let texts: Vec<&str> = texts.collect();
        let stems = files.iter().filter_map(|file| file.file_stem());
        let stems: Vec<_> = stems.map(|stem| stem.to_string_lossy()).collect();
        Ok(Arena {
            name: stems.join("+"),
            digest: sha256(texts.join("\n").as_bytes()),
            machine: AnyMachine::new(&game, Backend::Datalog, limits.clone())?,
            limits,
        })
    }

    /// The numbers of the roles with players.
    pub(super) fn played_roles(&self) -> Vec<usize> {
        let game = self.machine.game();
        let roles = game.roles().filter(|role| !game.is_random(*role));
        roles.map(|role| role.index()).collect()
    }
}
