//! The results file: one line for each finished match.
//!
//! A line is written as soon as a match ends. An incomplete line at the end of the file is
//! removed before others follow, so that no finished match is lost or damaged.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::whole_text;
use ggp_play::contest::MatchResult;
use ggp_play::referee::Lapse;

/// The result of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    /// A digest of everything that determines the match.
    pub id: String,
    pub game: String,
    pub round: u64,
    /// The number of the match within its round.
    #[serde(default)]
    pub number: usize,
    /// The players by role; `None` for chance.
    pub players: Vec<Option<String>>,
    pub roles: Vec<String>,
    pub seed: u64,
    /// The scores by role; `None` if the match was aborted.
    pub scores: Option<Vec<u8>>,
    pub errors: Vec<RowError>,
    /// The longest time for one move in seconds, by role.
    pub slowest: Vec<f64>,
    pub moves: Vec<Vec<String>>,
    /// The number of joint moves of the opening.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub opening: usize,
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
pub(super) struct RowError {
    /// The number of joint moves before; `None` during preparation.
    pub ply: Option<usize>,
    /// The number of the role.
    pub role: usize,
    /// The code of match records: `TO`, `CE`, `IL`, `CR`.
    pub error: String,
}

impl Row {
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
}

/// The finished matches.
#[derive(Default)]
pub(super) struct Results {
    file: Option<File>,
    /// The name of the file, and the length of its complete lines.
    name: String,
    whole: u64,
    /// The matches by id.
    known: HashMap<String, Row>,
    was_begun: bool,
}

impl Results {
    /// Reads the matches of a file, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, or is not a results file.
    pub fn open(path: Option<&Path>) -> anyhow::Result<Results> {
        let Some(path) = path else {
            return Ok(Results::default());
        };
        let name = path.display().to_string();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path);
        let mut file = file.with_context(|| format!("cannot open {name}"))?;
        let mut content = whole_text::read_bytes(&file, &name)?;
        let was_begun = !content.is_empty();
        // An incomplete line may end within a character.
        let last = content.iter().rposition(|byte| *byte == b'\n');
        content.truncate(last.map_or(0, |end| end + 1));
        let text = String::from_utf8(content);
        let text = text.with_context(|| format!("cannot read {name}"))?;
        let whole = text.len() as u64;
        let mut known = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let row: Row = match serde_json::from_str(line) {
                Ok(row) => row,
                Err(error) => bail!("{name}:{}: not a match: {error}", number + 1),
            };
            known.insert(row.id.clone(), row);
        }
        // The last line is incomplete.
        let cut = file.set_len(whole);
        let end = cut.and_then(|()| file.seek(SeekFrom::End(0)));
        end.with_context(|| format!("cannot write {name}"))?;
        Ok(Results {
            file: Some(file),
            name,
            whole,
            was_begun,
            known,
        })
    }

    /// Returns true if the file had matches.
    pub fn was_begun(&self) -> bool {
        self.was_begun
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The matches that were not removed.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.known.values()
    }

    /// Removes and returns a match, if it has finished.
    pub fn take(&mut self, id: &str) -> Option<Row> {
        self.known.remove(id)
    }

    /// The remaining matches.
    pub fn others(&self) -> usize {
        self.known.len()
    }

    /// Appends a match to the file. After an error, the file is as before, if that is possible.
    ///
    /// # Errors
    ///
    /// The error of writing.
    pub fn add(&mut self, row: &Row) -> anyhow::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut line = serde_json::to_string(row)?;
        line.push('\n');
        let written = file
            .write_all(line.as_bytes())
            .and_then(|()| file.sync_data());
        match written {
            Ok(()) => self.whole += line.len() as u64,
            Err(_) => {
                // Another match would follow a part of this one.
                let cut = file.set_len(self.whole);
                let _ = cut.and_then(|()| file.seek(SeekFrom::End(0)));
            }
        }
        written.with_context(|| format!("cannot write {}", self.name))
    }
}
