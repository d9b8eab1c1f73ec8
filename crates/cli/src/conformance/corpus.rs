//! A folder of reference answers, grouped by game, with the rule files that they are about.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

use super::record::{
    Answers, AnswersRecord, BeliefRecord, Expect, Kind, PerftRecord, Subject, TraceRecord, Value,
    VerdictRecord,
};
use super::search::{RuleFile, Search};
use super::sources::{RuleFiles, Sources};
use super::{Options, glob};

/// The size limit of a file of answers in bytes, unpacked.
const MOST_BYTES: u64 = 1 << 28;

/// An error in the folder, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadCorpus(pub(super) String);

impl fmt::Display for BadCorpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadCorpus {}

/// Whether a rule set must be read without an error.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Demand {
    Accept,
    Refuse,
    Either,
    /// Refuse, or report an error in play.
    Fault,
}

/// A record and its place, as `file:line`.
#[derive(Clone, Debug)]
pub(super) struct Placed<R> {
    pub place: String,
    pub record: R,
}

/// Everything that the corpus has about one game, whose rules were found.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub subject: Subject,
    /// The place of the game's first record.
    pub place: String,
    pub demand: Demand,
    /// The path of the rule file.
    pub file: String,
    pub rules: Arc<[u8]>,
    pub perft: Vec<Placed<PerftRecord>>,
    pub traces: Vec<Placed<TraceRecord>>,
    pub answers: Vec<Placed<Answers>>,
    pub beliefs: Vec<Placed<BeliefRecord>>,
    pub values: Vec<Placed<Value>>,
}

/// The kinds of records, by the beginnings of the names of their files.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Answer {
    Perft,
    Trace,
    Verdict,
    Belief,
    Value,
}

const NAMES: [(&str, Answer); 5] = [
    ("perft", Answer::Perft),
    ("traces", Answer::Trace),
    ("invalid", Answer::Verdict),
    ("beliefs", Answer::Belief),
    ("values", Answer::Value),
];

/// A record that is not parsed as a whole yet.
struct Line {
    place: String,
    answer: Answer,
    /// For [`Answer::Verdict`] the record has it.
    demand: Demand,
    subject: Subject,
    text: String,
}

impl Line {
    /// The whole record.
    fn placed<R: DeserializeOwned>(&self) -> Result<Placed<R>, BadCorpus> {
        Ok(Placed {
            place: self.place.clone(),
            record: parse(&self.text, &self.place)?,
        })
    }
}

/// The entries of the games whose rules are found, in the order in which the files, sorted by
/// kind and name, mention them.
pub(super) fn read(
    folder: &Path,
    options: &Options,
    is_over: impl Fn() -> bool,
) -> Result<(Vec<Entry>, RuleFiles), BadCorpus> {
    let lines = lines(folder, options)?;
    let sources = Sources::read(folder)?;
    let mut wanted = Vec::new();
    let mut known = HashSet::new();
    for line in &lines {
        let digest = &line.subject.sha256;
        if known.insert(digest.clone()) {
            wanted.push((digest.clone(), line.subject.key.clone()));
        }
    }
    let mut search = Search::new(known.into_iter());
    search.search(folder, &is_over);
    for folder in &options.rules {
        // Whatever is wrong inside the folder is part of the report.
        fs::metadata(folder).map_err(|error| {
            BadCorpus(format!(
                "cannot search {}: {error}; give a folder that contains rule files, such as a clone of a collection",
                show(folder)
            ))
        })?;
        search.search(folder, &is_over);
    }
    let mut entries = Entries::default();
    for line in lines {
        if let Some(rules) = search.found.get(&line.subject.sha256) {
            entries.add(line, rules)?;
        }
    }
    Ok((entries.entries, sources.count(&wanted, search)))
}

/// The records of the chosen games.
fn lines(folder: &Path, options: &Options) -> Result<Vec<Line>, BadCorpus> {
    let listing = fs::read_dir(folder)
        .map_err(|error| BadCorpus(format!("cannot read the folder {}: {error}", show(folder))))?;
    let names = listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names
        .filter_map(|name| Some((answer(&name)?, name)))
        .collect();
    names.sort_unstable();
    // A file that was unpacked, and is still there as it was, has the same records twice.
    names.dedup_by(|(_, next), (_, kept)| next.strip_suffix(".gz") == Some(kept));
    if names.is_empty() {
        return Err(BadCorpus(format!(
            "{} has no file perft*.jsonl, traces*.jsonl, invalid*.jsonl, beliefs*.jsonl or values*.jsonl, \
             packed (.gz) or not; --games takes folders that contain rule files only",
            show(folder)
        )));
    }
    let globs = &options.games;
    let is_chosen = |key: &str| globs.is_empty() || globs.iter().any(|g| glob::matches(g, key));
    let mut lines = Vec::new();
    for (answer, name) in names {
        let text = answers_text(&folder.join(&name))
            .map_err(|error| BadCorpus(format!("cannot read {name}: {error}")))?;
        let demand = if name.contains("lenient") {
            Demand::Either
        } else {
            Demand::Accept
        };
        for (index, text) in text.lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let place = format!("{name}:{}", index + 1);
            let subject: Subject = parse(text, &place)?;
            if is_chosen(&subject.key) {
                lines.push(Line {
                    place,
                    answer,
                    demand,
                    subject,
                    text: text.to_owned(),
                });
            }
        }
    }
    if lines.is_empty() && !globs.is_empty() {
        Err(BadCorpus(format!("no game matches {}", globs.join(" "))))
    } else {
        Ok(lines)
    }
}

/// The kind of answers in a file; `None` if it is not part of the corpus.
fn answer(name: &str) -> Option<Answer> {
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let mut names = NAMES.iter();
    let (_, answer) = names.find(|(start, _)| name.starts_with(start))?;
    stem.ends_with(".jsonl").then_some(*answer)
}

/// The text of a file of answers, which is packed if its name ends in `.gz`.
///
/// # Errors
///
/// If it cannot be read or unpacked, is not UTF-8, or has more than 256 MB.
pub fn answers_text(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let is_packed = path.extension().is_some_and(|ending| ending == "gz");
    let unpacked: Box<dyn Read> = if is_packed {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut text = String::new();
    unpacked.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        Err(io::Error::other(format!(
            "it has more than {} MB",
            MOST_BYTES >> 20
        )))
    } else {
        Ok(text)
    }
}

fn demand(record: &VerdictRecord, place: &str) -> Result<Demand, BadCorpus> {
    Ok(match (record.kind, record.expect) {
        (Kind::Rejected, _) => Demand::Refuse,
        (Kind::Lenient, _) => Demand::Either,
        (Kind::PlayableWithRemarks, _) => Demand::Accept,
        (Kind::Mini, Some(Expect::Ok)) => Demand::Accept,
        (Kind::Mini, Some(Expect::Reject)) => Demand::Refuse,
        (Kind::Mini, Some(Expect::Policy)) => Demand::Either,
        (Kind::Mini, Some(Expect::RuntimeError)) => Demand::Fault,
        (Kind::Mini, None) => {
            return Err(BadCorpus(format!("{place}: a mini without `expect`")));
        }
    })
}

fn parse<R: DeserializeOwned>(line: &str, place: &str) -> Result<R, BadCorpus> {
    serde_json::from_str(line).map_err(|error| {
        // Each record is one line, so only the column matters.
        let text = error.to_string();
        let text = text.replacen(" at line 1 column", " at column", 1);
        BadCorpus(format!("{place}: {text}"))
    })
}

/// The entries so far.
#[derive(Default)]
struct Entries {
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
}

impl Entries {
    /// Adds a record to the entry of its game.
    fn add(&mut self, line: Line, rules: &RuleFile) -> Result<(), BadCorpus> {
        match line.answer {
            Answer::Perft => self
                .entry(&line, line.demand, rules)?
                .perft
                .push(line.placed()?),
            Answer::Trace => self
                .entry(&line, line.demand, rules)?
                .traces
                .push(line.placed()?),
            Answer::Belief => self
                .entry(&line, line.demand, rules)?
                .beliefs
                .push(line.placed()?),
            Answer::Value => self
                .entry(&line, line.demand, rules)?
                .values
                .push(line.placed()?),
            Answer::Verdict => {
                let verdict: Placed<VerdictRecord> = line.placed()?;
                let demand = demand(&verdict.record, &line.place)?;
                let entry = self.entry(&line, demand, rules)?;
                if let Some(AnswersRecord::Given(record)) = verdict.record.clingo
                    && matches!(demand, Demand::Accept | Demand::Either)
                {
                    let place = verdict.place;
                    entry.answers.push(Placed { place, record });
                }
            }
        }
        Ok(())
    }

    /// The entry of a record, created at its first mention.
    fn entry(
        &mut self,
        line: &Line,
        demand: Demand,
        rules: &RuleFile,
    ) -> Result<&mut Entry, BadCorpus> {
        let key = &line.subject.key;
        if let Some(&index) = self.by_key.get(key) {
            let entry = &mut self.entries[index];
            if (&entry.subject, entry.demand) != (&line.subject, demand) {
                let (here, there) = (&line.place, &entry.place);
                return Err(BadCorpus(format!(
                    "{here}: {key} has another sha256 or verdict at {there}"
                )));
            }
            return Ok(entry);
        }
        self.by_key.insert(key.clone(), self.entries.len());
        self.entries.push(Entry {
            subject: line.subject.clone(),
            place: line.place.clone(),
            demand,
            file: rules.path.display().to_string(),
            rules: rules.rules.clone(),
            perft: Vec::new(),
            traces: Vec::new(),
            answers: Vec::new(),
            beliefs: Vec::new(),
            values: Vec::new(),
        });
        Ok(self.entries.last_mut().expect("one was pushed"))
    }
}

fn show(path: &Path) -> impl fmt::Display {
    path.display()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers that belong to the repository.
    fn folder() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
    }

    #[test]
    fn every_record_of_the_repository_is_well_formed() {
        let rules = RuleFile {
            path: "none.kif".into(),
            rules: Vec::new().into(),
        };
        let mut entries = Entries::default();
        for line in lines(&folder(), &Options::default()).unwrap() {
            entries.add(line, &rules).unwrap();
        }
        assert!(entries.entries.len() > 400);
    }

    #[test]
    fn the_sources_list_all_records_of_rule_files_outside_the_repository() {
        let (entries, _) = read(&folder(), &Options::default(), || false).unwrap();
        let own: HashSet<String> = entries.into_iter().map(|own| own.subject.sha256).collect();
        let mut records: HashMap<String, usize> = HashMap::new();
        for line in lines(&folder(), &Options::default()).unwrap() {
            *records.entry(line.subject.sha256).or_default() += 1;
        }
        records.retain(|digest, _| !own.contains(digest));
        let sources = std::fs::read_to_string(folder().join("sources.json")).unwrap();
        let sources: serde_json::Value = serde_json::from_str(&sources).unwrap();
        let listed = sources["files"].as_array().unwrap().iter().map(|file| {
            let digest = file["sha256"].as_str().unwrap().to_owned();
            (digest, file["records"].as_u64().unwrap() as usize)
        });
        assert_eq!(listed.collect::<HashMap<_, _>>(), records);
    }
}
