//! A game of a tournament.

use std::fmt::Display;
use std::path::PathBuf;

use super::rows::{Row, RowError};
use crate::Context;
use crate::conformance::sha256;
use crate::rule_files::RuleOptions;
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Move, Score};

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

    /// The first contradiction in a finished match: against the match that was to be played, or
    /// against the rules.
    pub(super) fn contradiction(&self, task: &Row, row: &Row) -> Option<String> {
        let mut machine = self.machine.clone();
        let roles = row.roles.len();
        if row.roles != task.roles || row.players != task.players {
            return Some("other roles or players".to_owned());
        }
        if row.seed != task.seed {
            return Some("another seed".to_owned());
        }
        if row.slowest.len() != roles || !row.slowest.iter().all(|time| *time >= 0.0) {
            return Some("times that are not those of the roles".to_owned());
        }
        if row.opening > row.moves.len() {
            return Some("an opening that is longer than the match".to_owned());
        }
        let plies = |error: &RowError| error.ply.is_none_or(|ply| ply <= row.moves.len());
        if !row.errors.iter().all(|e| e.role < roles && plies(e)) {
            return Some("an error of no role or no move".to_owned());
        }
        match self.scores(&mut machine, &row.moves) {
            // A match with a fault ends where its rules do.
            _ if row.fault.is_some() => None,
            Err(why) => Some(why),
            Ok(scores) if scores == row.scores => None,
            Ok(None) => Some("scores, but the match is not over".to_owned()),
            Ok(Some(scores)) => Some(format!("other scores than {scores:?}")),
        }
    }

    /// The scores after these joint moves; `None` if the game is not over then.
    ///
    /// # Errors
    ///
    /// The first move that is not legal, or fault of the rules.
    fn scores(
        &self,
        machine: &mut AnyMachine,
        moves: &[Vec<String>],
    ) -> Result<Option<Vec<u8>>, String> {
        let said = |number: usize, why: &dyn Display| format!("joint move {number}: {why}");
        let mut state = machine.initial().map_err(|error| error.to_string())?;
        for (joint, number) in moves.iter().zip(1..) {
            let read = joint.iter().map(|text| machine.read_move(text));
            let read = read.collect::<Result<Vec<Move>, _>>();
            let read = read.map_err(|why| said(number, &why))?;
            let next = machine.play(&state, &read);
            state = next.map_err(|why| said(number, &why))?;
        }
        let is_over = machine.is_terminal(&state);
        if !is_over.map_err(|error| error.to_string())? {
            return Ok(None);
        }
        let game = machine.game().clone();
        let scores = game.roles().map(|role| machine.goal(&state, role));
        let scores = scores.map(|score| score.map(Score::get));
        let scores = scores.collect::<Result<Vec<u8>, _>>();
        scores.map(Some).map_err(|error| error.to_string())
    }

    /// The numbers of the roles with players.
    pub(super) fn played_roles(&self) -> Vec<usize> {
        let game = self.machine.game();
        let roles = game.roles().filter(|role| !game.is_random(*role));
        roles.map(|role| role.index()).collect()
    }
}
