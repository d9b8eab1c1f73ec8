//! The result of a match as a line of JSON.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::contest::MatchResult;
use crate::record::MatchRecord;
use crate::referee::Lapse;
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, Score};

/// The result of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// A digest of everything that determines the match.
    pub id: String,
    /// The name of the game.
    pub game: String,
    /// The number of the round.
    pub round: u64,
    /// The number of the match within its round.
    #[serde(default)]
    pub number: usize,
    /// The names of the players by role; `None` for chance.
    pub players: Vec<Option<String>>,
    /// The names of the roles.
    pub roles: Vec<String>,
    /// The seed of the match.
    pub seed: u64,
    /// The scores by role; `None` if the match was aborted.
    pub scores: Option<Vec<u8>>,
    /// The lapses of players.
    pub errors: Vec<RowError>,
    /// The longest time for one move in seconds, by role.
    pub slowest: Vec<f64>,
    /// The joint moves, as texts by role.
    pub moves: Vec<Vec<String>>,
    /// The number of joint moves of the opening.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub opening: usize,
    /// The seconds for which threads of the match waited for a processor, as a share of its time, if
    /// that was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waited: Option<f64>,
    /// An error in the rules that appeared during play.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault: Option<String>,
}

/// Whether a number is 0 and goes without saying.
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A lapse of a player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RowError {
    /// The number of joint moves before; `None` during preparation.
    pub ply: Option<usize>,
    /// The number of the role.
    pub role: usize,
    /// The code of match records: `TO`, `CE`, `IL`, `CR`.
    pub error: String,
}

impl Row {
    /// Returns true if late answers may be the machine's fault: threads waited for a processor for
    /// a tenth of the time or more.
    pub fn is_overbooked(&self) -> bool {
        self.waited.is_some_and(|share| share >= 0.1)
    }

    /// The number of moves that a player was asked for, and of those that had to be drawn.
    pub fn moves_of(&self, name: &str) -> (usize, usize) {
        let player = |role: usize| self.players.get(role)?.as_deref();
        let is_it = |role: usize| player(role) == Some(name);
        let roles = (0..self.players.len()).filter(|role| is_it(*role)).count();
        let errors = self.errors.iter();
        let drawn = errors.filter(|error| error.ply.is_some() && is_it(error.role));
        let asked = self.moves.len().saturating_sub(self.opening);
        (roles * asked, drawn.count())
    }

    /// Sets the result of the match.
    pub fn set(&mut self, result: MatchResult) {
        self.fault = result.fault.map(|fault| fault.to_string());
        let scores = result
            .scores
            .map(|scores| scores.into_iter().map(|score| score.get()));
        self.scores = scores.map(Iterator::collect);
        let error = |(ply, role, lapse): (_, _, Lapse)| RowError {
            ply,
            role,
            error: lapse.to_string(),
        };
        self.errors = result.lapses.into_iter().map(error).collect();
        let seconds = |time: &std::time::Duration| (time.as_secs_f64() * 1e4).round() / 1e4;
        self.slowest = result.slowest.iter().map(seconds).collect();
        self.moves = result.moves;
        self.opening = result.opening;
    }

    /// The match as a record, with the states that the rules of a machine give, up to the first move
    /// that is not legal. The states after it are empty.
    ///
    /// # Errors
    ///
    /// If there is no initial state.
    pub fn record<M: Machine>(&self, machine: &mut M) -> Result<MatchRecord, PlayError> {
        let players = self.players.iter();
        let players = players.map(|name| name.clone().unwrap_or_else(|| "random".to_owned()));
        let mut record = MatchRecord {
            match_id: self.id.clone(),
            is_completed: self.scores.is_some(),
            is_aborted: self.scores.is_none(),
            goal_values: self.scores.clone().unwrap_or_default(),
            player_names_from_host: players.collect(),
            seed: Some(self.seed),
            ..MatchRecord::default()
        };
        let mut state = Some(machine.initial()?);
        for number in 0..=self.moves.len() {
            match &state {
                Some(state) => record.reached(machine, state, &[]),
                None => record.states.push("( )".to_owned()),
            }
            let Some(joint) = self.moves.get(number) else {
                break;
            };
            record.moved(joint);
            let moves = joint.iter().map(|text| machine.read_move(text));
            let moves = moves.collect::<Result<Vec<Move>, _>>().ok();
            let both = state.zip(moves);
            state = both.and_then(|(state, moves)| machine.play(&state, &moves).ok());
        }
        // When states were reached is not known.
        record.state_times.clear();
        record.errors = vec![vec![String::new(); self.roles.len()]; record.states.len()];
        for error in &self.errors {
            let state = error.ply.map_or(0, |ply| ply + 1);
            let of_state = record.errors.get_mut(state);
            if let Some(text) = of_state.and_then(|roles| roles.get_mut(error.role)) {
                text.clone_from(&error.error);
            }
        }
        Ok(record)
    }

    /// The first contradiction in this finished match: against the match that was to be played, or
    /// against the rules.
    pub fn contradiction<M: Machine>(&self, task: &Row, machine: &mut M) -> Option<String> {
        let roles = self.roles.len();
        if self.roles != task.roles || self.players != task.players {
            return Some("other roles or players".to_owned());
        }
        if self.seed != task.seed {
            return Some("another seed".to_owned());
        }
        if self.slowest.len() != roles || !self.slowest.iter().all(|time| *time >= 0.0) {
            return Some("times that are not those of the roles".to_owned());
        }
        if self.opening > self.moves.len() {
            return Some("an opening that is longer than the match".to_owned());
        }
        let plies = |error: &RowError| error.ply.is_none_or(|ply| ply <= self.moves.len());
        if !self.errors.iter().all(|e| e.role < roles && plies(e)) {
            return Some("an error of no role or no move".to_owned());
        }
        match scores(machine, &self.moves) {
            // A match with a fault ends where its rules do.
            _ if self.fault.is_some() => None,
            Err(why) => Some(why),
            Ok(scores) if scores == self.scores => None,
            Ok(None) => Some("scores, but the match is not over".to_owned()),
            Ok(Some(scores)) => Some(format!("other scores than {scores:?}")),
        }
    }
}

/// The scores after these joint moves; `None` if the game is not over then.
///
/// # Errors
///
/// The first move that is not legal, or fault of the rules.
fn scores<M: Machine>(machine: &mut M, moves: &[Vec<String>]) -> Result<Option<Vec<u8>>, String> {
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
    let scores = crate::scores(machine, &state).map_err(|error| error.to_string())?;
    Ok(Some(scores.into_iter().map(Score::get).collect()))
}
