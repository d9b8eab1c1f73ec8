//! The results file: one line for each finished match.
//!
//! A line is written as soon as a match ends. An incomplete line at the end of the file is
//! removed before others follow, so that no finished match is lost or damaged.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::row::Row;

/// The greatest size of a results file in bytes.
const MOST_BYTES: u64 = 1 << 28;

/// The finished matches.
#[derive(Debug, Default)]
pub struct Results {
    file: Option<File>,
    /// The name of the file, and the length of its complete lines.
    name: String,
    whole: u64,
    /// The matches by id.
    known: HashMap<String, Row>,
    was_begun: bool,
}

/// The reason why a results file cannot be used.
#[derive(Debug)]
pub struct ResultsError(String);

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ResultsError {}

impl Results {
    /// Reads the matches of a file, which is created if it does not exist. Without a file, results
    /// are not kept.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, has more than 256 MB, or is not a results file.
    pub fn open(path: Option<&Path>) -> Result<Results, ResultsError> {
        let Some(path) = path else {
            return Ok(Results::default());
        };
        let name = path.display().to_string();
        let failed = |what: &str| {
            let what = format!("cannot {what} {name}");
            move |error: io::Error| ResultsError(format!("{what}: {error}"))
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed("open"))?;
        let mut content = Vec::new();
        let read = { &file }.take(MOST_BYTES + 1).read_to_end(&mut content);
        read.map_err(failed("read"))?;
        if content.len() as u64 > MOST_BYTES {
            let what = match file.metadata().is_ok_and(|known| known.is_file()) {
                true => "",
                false => "is not a file, and ",
            };
            let most = MOST_BYTES >> 20;
            return Err(ResultsError(format!(
                "{name} {what}has more than {most} MB"
            )));
        }
        let was_begun = !content.is_empty();
        // An incomplete line may end within a character.
        let last = content.iter().rposition(|byte| *byte == b'\n');
        content.truncate(last.map_or(0, |end| end + 1));
        let text = String::from_utf8(content);
        let text = text.map_err(|why| ResultsError(format!("cannot read {name}: {why}")))?;
        let whole = text.len() as u64;
        let mut known = HashMap::new();
        for (line, number) in text.lines().zip(1..) {
            let row: Result<Row, _> = serde_json::from_str(line);
            let row =
                row.map_err(|why| ResultsError(format!("{name}:{number}: not a match: {why}")))?;
            known.insert(row.id.clone(), row);
        }
        // The last line is incomplete.
        let cut = file.set_len(whole);
        let end = cut.and_then(|()| file.seek(SeekFrom::End(0)));
        end.map_err(failed("write"))?;
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
    pub fn add(&mut self, row: &Row) -> Result<(), ResultsError> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let line = serde_json::to_string(row).map(|line| line + "\n");
        let written = line.map_err(io::Error::from).and_then(|line| {
            let written = file.write_all(line.as_bytes());
            written.and_then(|()| file.sync_data())?;
            Ok(line.len() as u64)
        });
        match written {
            Ok(length) => {
                self.whole += length;
                Ok(())
            }
            Err(error) => {
                // Another match would follow a part of this one.
                let cut = file.set_len(self.whole);
                let _ = cut.and_then(|()| file.seek(SeekFrom::End(0)));
                let name = &self.name;
                Err(ResultsError(format!("cannot write {name}: {error}")))
            }
        }
    }
}
