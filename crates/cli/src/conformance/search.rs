//! A search for rule files by their digests, in folders with everything in them.
//!
//! In: folders, and the digests of the rule files that are wanted. Out: the files found, under
//! any names. Links are followed; a folder that is reached twice is searched once.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::digest::sha256;

/// The size limit of a rule file in bytes, about ten times the size of the largest published one.
const MOST_BYTES: u64 = 1 << 20;

/// A rule file that was found.
#[derive(Clone, Debug)]
pub(super) struct RuleFile {
    pub path: PathBuf,
    /// The text that has the digest.
    pub rules: Arc<[u8]>,
}

/// The state of a search.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// The digests of files that are not found yet.
    wanted: HashSet<String>,
    pub found: HashMap<String, RuleFile>,
    /// Number of files that were read.
    pub files_read: usize,
    /// Files and folders that cannot be read, each with the reason.
    pub unreadable: Vec<String>,
    pub is_stopped: bool,
    /// The folders that were searched, by their real paths.
    folders: HashSet<PathBuf>,
}

impl Search {
    pub fn new(wanted: impl Iterator<Item = String>) -> Self {
        Search {
            wanted: wanted.collect(),
            ..Search::default()
        }
    }

    /// Searches a folder until everything is found or `is_over`.
    pub fn search(&mut self, folder: &Path, is_over: impl Fn() -> bool) {
        let mut paths = vec![folder.to_owned()];
        while let Some(path) = paths.pop() {
            self.is_stopped |= is_over();
            if self.wanted.is_empty() || self.is_stopped {
                return;
            }
            match self.visit(&path) {
                Ok(inside) => paths.extend(inside),
                Err(error) => {
                    self.unreadable.push(format!("{}: {error}", path.display()));
                }
            }
        }
    }

    /// Reads a file, or lists a folder: what is in it, in the reverse order of the names.
    fn visit(&mut self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let known = fs::metadata(path)?;
        if known.is_file() && known.len() <= MOST_BYTES {
            let mut text = Vec::new();
            // Some files of the system are empty by their size, and reading them never ends.
            if known.len() > 0 {
                File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
            }
            self.take(path, text);
        }
        if !known.is_dir() || !self.folders.insert(fs::canonicalize(path)?) {
            return Ok(Vec::new());
        }
        let inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut inside = inside.collect::<io::Result<Vec<_>>>()?;
        // The history of a repository contains no file as it is.
        inside.retain(|path| path.file_name() != Some(OsStr::new(".git")));
        inside.sort_unstable_by(|a, b| b.cmp(a));
        Ok(inside)
    }

    fn take(&mut self, path: &Path, text: Vec<u8>) {
        self.files_read += 1;
        for line_ends in [as_it_is, with_line_feeds, with_carriage_returns] {
            let Some(text) = line_ends(&text) else {
                continue;
            };
            let digest = sha256(&text);
            if self.wanted.remove(&digest) {
                let file = RuleFile {
                    path: path.to_owned(),
                    rules: text.into(),
                };
                self.found.insert(digest, file);
                return;
            }
        }
    }
}

fn as_it_is(text: &[u8]) -> Option<Vec<u8>> {
    Some(text.to_vec())
}

/// The text as it was before Git wrote carriage returns into a working tree; `None` if there are
/// none.
fn with_line_feeds(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = lines(text).collect();
    let has_returns = lines.iter().any(|line| line.ends_with(b"\r"));
    let bare = |line: &&[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
    has_returns.then(|| lines.iter().map(bare).collect::<Vec<_>>().join(&b'\n'))
}

/// The text as it was before Git removed carriage returns; `None` if some are left.
fn with_carriage_returns(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = lines(text).collect();
    let has_returns = lines.iter().any(|line| line.ends_with(b"\r"));
    (lines.len() > 1 && !has_returns).then(|| lines.join(&b"\r\n"[..]))
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}
