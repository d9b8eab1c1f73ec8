//! A folder of reference answers, grouped by game.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Component, Path};

use serde::de::DeserializeOwned;

use super::record::{
    Answers, AnswersRecord, BeliefRecord, Expect, Kind, PerftRecord, Subject, TraceRecord,
    ValueRecord, VerdictRecord,
};

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

/// Everything that the corpus has about one rule file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub subject: Subject,
    /// The place of the game's first record.
    pub place: String,
    pub demand: Demand,
    pub rules: Vec<u8>,
    pub perft: Vec<Placed<PerftRecord>>,
    pub traces: Vec<Placed<TraceRecord>>,
    pub answers: Vec<Placed<Answers>>,
    pub beliefs: Vec<Placed<BeliefRecord>>,
    pub values: Vec<Placed<ValueRecord>>,
}

/// All entries, in the order in which the files, sorted by name, mention them.
pub(super) fn read(folder: &Path) -> Result<Vec<Entry>, BadCorpus> {
    let listing = fs::read_dir(folder)
        .map_err(|error| BadCorpus(format!("cannot read the folder {}: {error}", show(folder))))?;
    let mut names: Vec<String> = listing
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    names.sort_unstable_by_key(|name| (order(name), name.clone()));
    names.retain(|name| order(name).is_some());
    if names.is_empty() {
        return Err(BadCorpus(format!(
            "{} has no file perft*.jsonl, traces*.jsonl, invalid*.jsonl, beliefs*.jsonl or values*.jsonl",
            show(folder)
        )));
    }
    let mut corpus = Corpus {
        folder,
        entries: Vec::new(),
        by_key: HashMap::new(),
    };
    for name in &names {
        let text = fs::read_to_string(folder.join(name))
            .map_err(|error| BadCorpus(format!("cannot read {name}: {error}")))?;
        let played = match name.contains("lenient") {
            true => Demand::Either,
            false => Demand::Accept,
        };
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let place = format!("{name}:{}", index + 1);
            if name.starts_with("perft") {
                let record: PerftRecord = parse(line, &place)?;
                let entry = corpus.entry(&record.subject, &place, played)?;
                entry.perft.push(Placed { place, record });
            } else if name.starts_with("traces") {
                let record: TraceRecord = parse(line, &place)?;
                let entry = corpus.entry(&record.subject, &place, played)?;
                entry.traces.push(Placed { place, record });
            } else if name.starts_with("beliefs") {
                let record: BeliefRecord = parse(line, &place)?;
                let entry = corpus.entry(&record.subject, &place, played)?;
                entry.beliefs.push(Placed { place, record });
            } else if name.starts_with("values") {
                let record: ValueRecord = parse(line, &place)?;
                let entry = corpus.entry(&record.subject, &place, played)?;
                entry.values.push(Placed { place, record });
            } else {
                let record: VerdictRecord = parse(line, &place)?;
                let demand = demand(&record, &place)?;
                let entry = corpus.entry(&record.subject, &place, demand)?;
                if let Some(AnswersRecord::Given(record)) = record.clingo
                    && matches!(demand, Demand::Accept | Demand::Either)
                {
                    entry.answers.push(Placed { place, record });
                }
            }
        }
    }
    Ok(corpus.entries)
}

/// The rank of a file among the others; `None` if it is not part of the corpus.
fn order(name: &str) -> Option<usize> {
    ["perft", "traces", "invalid", "beliefs", "values"]
        .iter()
        .position(|start| name.starts_with(start))
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

struct Corpus<'a> {
    folder: &'a Path,
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
}

impl Corpus<'_> {
    /// The entry of a record, created at its first mention.
    fn entry(
        &mut self,
        subject: &Subject,
        place: &str,
        demand: Demand,
    ) -> Result<&mut Entry, BadCorpus> {
        let mut subject = subject.clone();
        if subject.file.is_empty() {
            subject.file = format!("games/{}.kif", subject.key);
        }
        if let Some(&index) = self.by_key.get(&subject.key) {
            let entry = &mut self.entries[index];
            let known = &entry.subject;
            if (&known.file, &known.sha256, entry.demand)
                != (&subject.file, &subject.sha256, demand)
            {
                return Err(BadCorpus(format!(
                    "{place}: {} has another file, sha256 or verdict at {}",
                    subject.key, entry.place
                )));
            }
            return Ok(entry);
        }
        let inside = Path::new(&subject.file)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(BadCorpus(format!(
                "{place}: the file {} is not inside the folder",
                subject.file
            )));
        }
        let rules = fs::read(self.folder.join(&subject.file)).map_err(|error| {
            BadCorpus(format!("{place}: cannot read {}: {error}", subject.file))
        })?;
        self.by_key.insert(subject.key.clone(), self.entries.len());
        self.entries.push(Entry {
            subject,
            place: place.to_owned(),
            demand,
            rules,
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
