//! Matches as lines of a file, one after another as they end.
//!
//! A line is written at once, and one that is cut off is taken away before others
//! follow, so whatever happens no finished match is lost and none is there by half.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use ggp_play::contest::MatchResult;
use ggp_play::referee::Lapse;

/// What came of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    /// Stands for all that makes the match what it is.
    pub id: String,
    pub game: String,
    pub round: u64,
    /// Its place in the round.
    #[serde(default)]
    pub number: usize,
    /// Who played the roles; none for chance.
    pub players: Vec<Option<String>>,
    pub roles: Vec<String>,
    pub seed: u64,
    /// By role; none if the game was not played to its end.
    pub scores: Option<Vec<u8>>,
    pub errors: Vec<RowError>,
    /// The longest time for one move in seconds, by role.
    pub slowest: Vec<f64>,
    pub moves: Vec<Vec<String>>,
    /// What play has shown to be wrong with the rules.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault: Option<String>,
}

/// What a player did wrong.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct RowError {
    /// The number of joint moves before; none if there was to be no move yet.
    pub ply: Option<usize>,
    /// The number of the role.
    pub role: usize,
    /// As in match records: `TO`, `CE`, `IL`, `CR`.
    pub error: String,
}

impl Row {
    /// Takes over what came of the match.
    pub fn set(&mut self, result: MatchResult) {
        let scores = result.scores.map(|scores| scores.into_iter().map(|score| score.get()));
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
    }
}

/// The matches that have ended.
#[derive(Default)]
pub(super) struct Results {
    file: Option<File>,
    /// By their ids.
    known: HashMap<String, Row>,
    was_begun: bool,
}

impl Results {
    /// Those in a file, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be read or written, or holds something else.
    pub fn open(path: Option<&Path>) -> anyhow::Result<Results> {
        let Some(path) = path else {
            return Ok(Results::default());
        };
        let name = path.display();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path);
        let mut file = file.with_context(|| format!("cannot open {name}"))?;
        let mut text = String::new();
        let read = file.read_to_string(&mut text);
        read.with_context(|| format!("cannot read {name}"))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut known = HashMap::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let row: Row = match serde_json::from_str(line) {
                Ok(row) => row,
                Err(error) => bail!("{name}:{}: this is no match: {error}", number + 1),
            };
            known.insert(row.id.clone(), row);
        }
        // The rest was cut off when it was written.
        let cut = file.set_len(whole as u64);
        let end = cut.and_then(|()| file.seek(SeekFrom::End(0)));
        end.with_context(|| format!("cannot write {name}"))?;
        Ok(Results {
            file: Some(file),
            was_begun: !text.is_empty(),
            known,
        })
    }

    /// Whether there was something in the file.
    pub fn was_begun(&self) -> bool {
        self.was_begun
    }

    /// Matches that nobody has taken out.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.known.values()
    }

    /// Takes a match out, if it has ended.
    pub fn take(&mut self, id: &str) -> Option<Row> {
        self.known.remove(id)
    }

    /// Matches that nobody has asked for.
    pub fn others(&self) -> usize {
        self.known.len()
    }

    /// Writes a match down.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn add(&mut self, row: &Row) -> anyhow::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut line = serde_json::to_string(row)?;
        line.push('\n');
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
        written.context("cannot write the results")
    }
}
