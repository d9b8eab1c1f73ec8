//! The public collections that rule files come from, and the numbers of files found.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::corpus::BadCorpus;
use super::search::Search;

/// The file of a folder of answers that lists the collections.
const FILE: &str = "sources.json";

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Sources {
    collections: Vec<Source>,
    files: Vec<Listed>,
}

/// A public collection of rule files.
#[derive(Debug, Deserialize)]
struct Source {
    name: String,
    address: String,
}

/// A rule file of collections.
#[derive(Debug, Deserialize)]
struct Listed {
    sha256: String,
    places: Vec<Place>,
}

#[derive(Debug, Deserialize)]
struct Place {
    collection: String,
}

/// The rule files that a run found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RuleFiles {
    /// Those that a collection has, each counted once.
    pub listed: Found,
    /// Those by collection. A file may be in several.
    pub collections: Vec<Collection>,
    /// Those that no collection has.
    pub unlisted: Found,
    /// Number of files that were read.
    pub files_read: usize,
    /// Files and folders that cannot be read, each with the reason.
    pub unreadable: Vec<String>,
    /// Whether the search was stopped.
    pub is_stopped: bool,
}

/// The rule files of a public collection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// The address that Git can clone.
    pub address: String,
    /// Its files.
    #[serde(flatten)]
    pub files: Found,
}

/// Numbers of rule files with answers, by their digests.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Found {
    /// Number of those that were found.
    pub found: usize,
    /// Number of all.
    pub of: usize,
    /// The games whose rules were not found.
    pub missing: Vec<String>,
}

impl Found {
    /// Whether there are files, and none was found.
    fn is_missing(&self) -> bool {
        self.found == 0 && self.of > 0
    }

    fn count(&mut self, key: &str, is_found: bool) {
        self.of += 1;
        if is_found {
            self.found += 1;
        } else {
            self.missing.push(key.to_owned());
        }
    }
}

impl Sources {
    /// The collections of a folder of answers; none if it has no list.
    pub fn read(folder: &Path) -> Result<Self, BadCorpus> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(Sources::default());
        }
        let text = fs::read_to_string(&path)
            .map_err(|error| BadCorpus(format!("cannot read {FILE}: {error}")))?;
        serde_json::from_str(&text).map_err(|error| BadCorpus(format!("{FILE}: {error}")))
    }

    /// Counts rule files, each given by its digest and the key of a game.
    pub fn count(&self, wanted: &[(String, String)], search: Search) -> RuleFiles {
        let mut listed = Found::default();
        let mut unlisted = Found::default();
        let collection = |source: &Source| Collection {
            name: source.name.clone(),
            address: source.address.clone(),
            files: Found::default(),
        };
        let mut collections: Vec<_> = self.collections.iter().map(collection).collect();
        let files = self.files.iter();
        let places: HashMap<_, _> = files.map(|file| (&file.sha256, &file.places)).collect();
        for (digest, key) in wanted {
            let is_found = search.found.contains_key(digest);
            let places = places.get(digest).map_or(&[][..], |places| places);
            match places {
                [] => unlisted.count(key, is_found),
                _ => listed.count(key, is_found),
            }
            for collection in &mut collections {
                if places
                    .iter()
                    .any(|place| place.collection == collection.name)
                {
                    collection.files.count(key, is_found);
                }
            }
        }
        RuleFiles {
            listed,
            collections,
            unlisted,
            files_read: search.files_read,
            unreadable: search.unreadable,
            is_stopped: search.is_stopped,
        }
    }
}

/// Names listed in a text before the number of the others.
const MOST_NAMES: usize = 5;

/// Printed for people. Each line ends with a line break.
impl fmt::Display for RuleFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unreadable[..] {
            [] => {}
            [one] => writeln!(f, "cannot read {one}")?,
            [first, ..] => {
                let count = self.unreadable.len();
                writeln!(f, "cannot read {count} files and folders, such as {first}")?;
            }
        }
        if self.is_stopped {
            writeln!(
                f,
                "the search for rule files was stopped; some may be counted as missing"
            )?;
        }
        let Found { found, of, .. } = self.listed;
        if of > 0 {
            writeln!(f, "{found} of {of} rule files of public collections found")?;
        }
        for collection in self.collections.iter().filter(|one| one.files.of > 0) {
            let what = format!("rule files of {}", collection.name);
            let remedy = format!("to get them: git clone {}", collection.address);
            f.write_str("  ")?;
            collection.files.line(f, &what, Some(remedy))?;
        }
        if self.collections.iter().any(|one| one.files.is_missing()) {
            writeln!(
                f,
                "  --games FOLDER searches a folder that contains the clones"
            )?;
        }
        match (self.unlisted.of, of) {
            (0, _) => Ok(()),
            (_, 0) => self.unlisted.line(f, "rule files", None),
            _ => {
                let what = "rule files that belong to no collection";
                self.unlisted.line(f, what, None)
            }
        }
    }
}

impl Found {
    /// `2 of 9 rule files found`, and the missing ones, or the remedy if there is one and all are
    /// missing.
    fn line(&self, f: &mut fmt::Formatter<'_>, what: &str, remedy: Option<String>) -> fmt::Result {
        write!(f, "{} of {} {what} found", self.found, self.of)?;
        let listed = self.missing.len().min(MOST_NAMES);
        let names = self.missing[..listed].join(", ");
        match (self.missing.len() - listed, remedy) {
            (_, Some(remedy)) if self.is_missing() => writeln!(f, "; {remedy}"),
            (0, _) if listed == 0 => writeln!(f),
            (0, _) => writeln!(f, "; missing: {names}"),
            (more, _) => writeln!(f, "; missing: {names} and {more} more"),
        }
    }
}
