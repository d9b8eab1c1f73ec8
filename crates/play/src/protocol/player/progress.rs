//! The progress of a match, with or without hidden moves.

use super::match_progress::{MatchProgress, OutOfStep, Received};
use super::percept_progress::PerceptProgress;
use crate::Observation;
use crate::protocol::message::LastTurn;
use ggp_engine::machine::{Limits, PlayError};
use ggp_gdl::game::{Game, Move, RoleId};

/// The progress of a match by the host's messages.
#[derive(Debug)]
pub(super) enum Progress {
    /// All moves are seen.
    Moves(MatchProgress, RoleId),
    /// The player knows its own moves and percepts: the rules have `sees`.
    Percepts(PerceptProgress),
}

/// The interpretation of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Receipt {
    /// The number of turns to which the message refers.
    pub made: usize,
    /// Remarks on what was missing or unreadable.
    pub remarks: Vec<String>,
}

impl Receipt {
    /// A message without remarks.
    pub(super) fn after(made: usize) -> Self {
        Receipt {
            made,
            remarks: Vec::new(),
        }
    }
}

impl Progress {
    /// A match without moves.
    pub(super) fn new(game: &Game, role: RoleId, limits: &Limits) -> Self {
        match game.is_hidden() {
            true => Progress::Percepts(PerceptProgress::new(game)),
            false => Progress::Moves(MatchProgress::new(game, role, limits), role),
        }
    }

    /// Returns true if the last turn of a `STOP` says something.
    pub(super) fn needs(&self, last: &LastTurn) -> bool {
        // An empty list of percepts is still a turn.
        matches!(self, Progress::Percepts(_)) || !last.is_empty()
    }

    /// The number of turns so far.
    pub(super) fn made(&self) -> usize {
        match self {
            Progress::Moves(progress, _) => progress.played().len(),
            Progress::Percepts(progress) => progress.made(),
        }
    }

    /// The player's knowledge after a number of turns.
    pub(super) fn observation(&self, made: usize) -> Observation {
        match self {
            Progress::Moves(progress, role) => {
                Observation::of_joint_moves(*role, &progress.played()[..made])
            }
            Progress::Percepts(progress) => progress.observation(made),
        }
    }

    /// The move that the host made for the player in a turn.
    pub(super) fn own_move(&self, turn: usize) -> Move {
        match self {
            Progress::Moves(progress, role) => progress.played()[turn][role.index()],
            Progress::Percepts(progress) => progress.own_move(turn),
        }
    }

    /// The answer after a number of turns.
    pub(super) fn answer(&self, made: usize) -> Option<Move> {
        match self {
            Progress::Moves(progress, _) => progress.answer(made),
            Progress::Percepts(progress) => progress.answer(made),
        }
    }

    /// Records the answer after a number of turns.
    pub(super) fn set_answer(&mut self, made: usize, chosen: Move) {
        match self {
            Progress::Moves(progress, _) => progress.set_answer(made, chosen),
            Progress::Percepts(progress) => progress.set_answer(made, chosen),
        }
    }

    /// A move in the spelling of the rules; `None` if it is too long to send.
    pub(super) fn text(&mut self, chosen: Move) -> Option<String> {
        match self {
            Progress::Moves(progress, _) => progress.text(chosen),
            Progress::Percepts(progress) => progress.text(chosen),
        }
    }

    /// The scores of all roles; none if the game is not over or the state is unknown.
    ///
    /// # Errors
    ///
    /// As [`MatchProgress::scores`].
    pub(super) fn scores(&mut self) -> Result<Vec<(String, u8)>, PlayError> {
        match self {
            Progress::Moves(progress, _) => progress.scores(),
            Progress::Percepts(_) => Ok(Vec::new()),
        }
    }

    /// Processes the last turn of a message. `is_answered` is whether the host received the
    /// last answer.
    ///
    /// # Errors
    ///
    /// The reason why the turn does not follow. Nothing is changed then.
    pub(super) fn receive(
        &mut self,
        last: &LastTurn,
        is_answered: bool,
    ) -> Result<Receipt, OutOfStep> {
        let progress = match self {
            Progress::Moves(progress, _) => progress,
            Progress::Percepts(progress) => return progress.receive(last, is_answered),
        };
        if let LastTurn::Own { .. } = last {
            let reason = "percepts were sent in place of moves, and the rules have no `sees`";
            return Err(OutOfStep::Lost(reason.to_owned()));
        }
        Ok(match progress.receive(last.list(), is_answered)? {
            Received::After(made) => Receipt::after(made),
            Received::Inferred => Receipt {
                made: progress.played().len(),
                remarks: vec![
                    "a message was lost; its moves were inferred from this one".to_owned(),
                ],
            },
        })
    }
}
