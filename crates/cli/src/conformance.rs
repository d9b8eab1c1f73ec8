//! Comparison with reference answers, over many games.
//!
//! In: a folder of answers about rule files, and folders that contain these files under any
//! names: their digests identify them. Out: a [`Report`] of the files found, the comparisons
//! made and the differences.
//!
//! The page `docs/reference/conformance.md` describes the format of the folder. Facts and
//! moves are written as [`Game::canonical`](ggp_gdl::game::Game::canonical) writes them, in
//! lower case; the digest of a list is [`list_digest`].

mod compare;
mod corpus;
mod digest;
mod game;
mod glob;
mod hidden;
mod record;
mod report;
mod search;
mod sources;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;

use ggp_engine::machine::{Backend, Limits};
use ggp_gdl::symbol::Case;

pub use corpus::{BadCorpus, answers_text};
pub use digest::{list_digest, sha256};
pub use report::{Difference, GameReport, Outcome, Report};
pub use sources::{Collection, Found, RuleFiles};

/// The scope and the limits of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folders that are searched for rule files, after the folder of answers.
    pub rules: Vec<PathBuf>,
    /// Keys of games, with `*` for any text and `?` for any character; all games if the list
    /// is empty.
    pub games: Vec<String>,
    /// The evaluator.
    pub backend: Backend,
    /// Whether letter case distinguishes names. Under [`Case::Fold`] a game with names that
    /// differ only in case is also compared under [`Case::Keep`] before a difference is
    /// reported.
    pub case: Case,
    /// Games compared at the same time; 0 counts as 1.
    pub threads: usize,
    /// Approximate maximum of joint moves for the counts of one game; depths that would need
    /// more are left out.
    pub paths: u64,
    /// Maximum number of steps compared in each playout.
    pub steps: usize,
    /// Time for the whole run.
    pub time: Option<Duration>,
    /// Time for each game.
    pub time_per_game: Option<Duration>,
    /// The limits of a machine for one question; its `interrupt` stops the run.
    pub limits: Limits,
    /// Accepted differences.
    pub explanations: Vec<Explanation>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            rules: Vec::new(),
            games: Vec::new(),
            backend: Backend::default(),
            case: Case::default(),
            threads: 1,
            paths: 100_000,
            steps: usize::MAX,
            time: None,
            time_per_game: None,
            limits: Limits::default(),
            explanations: Vec::new(),
        }
    }
}

/// A difference that is a fault of the corpus, or a choice of this program where the
/// language leaves one.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The game.
    pub key: String,
    /// The beginning of [`Difference::what`].
    pub what: String,
    /// The reason.
    pub why: String,
}

/// Compares with the answers of a folder.
///
/// `on_game` is called for each game when it is done, in any order and from any thread, with
/// the number of all games. The report does not depend on the number of threads.
///
/// # Errors
///
/// [`BadCorpus`] if there are no answers, a folder or a file of answers cannot be read, or a line
/// is malformed.
pub fn run(
    folder: &Path,
    options: &Options,
    on_game: impl Fn(&GameReport, usize) + Sync,
) -> Result<Report, BadCorpus> {
    let watch = watch::Watch::new(options.threads.max(1), options);
    let (entries, rule_files) = corpus::read(folder, options, || watch.is_over())?;
    // Long games come first, so that no thread is left with one at the end.
    let mut queue: Vec<usize> = (0..entries.len()).collect();
    queue.sort_by_key(|&index| std::cmp::Reverse(game::effort(&entries[index], options)));
    let taken = AtomicUsize::new(0);
    let reports: Vec<Mutex<Option<GameReport>>> =
        entries.iter().map(|_| Mutex::default()).collect();
    let threads = options.threads.clamp(1, entries.len().max(1));
    std::thread::scope(|scope| {
        scope.spawn(|| watch.run());
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (taken, queue, watch) = (&taken, &queue, &watch);
                let (entries, reports, on_game) = (&entries, &reports, &on_game);
                scope.spawn(move || {
                    while let Some(&index) = queue.get(taken.fetch_add(1, Ordering::Relaxed)) {
                        let Some(stop) = watch.begin(thread) else {
                            return;
                        };
                        let report = game::compare(&entries[index], options, &stop);
                        on_game(&report, entries.len());
                        *reports[index].lock().expect("no writer panics") = Some(report);
                    }
                })
            })
            .collect();
        let outcomes: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        watch.end();
        for outcome in outcomes {
            outcome.expect("a comparison does not panic");
        }
    });
    let games = entries.iter().zip(reports).map(|(entry, report)| {
        let report = report.into_inner().expect("no writer panics");
        report.unwrap_or_else(|| GameReport::new(&entry.subject.key, &entry.file))
    });
    Ok(Report {
        games: games.collect(),
        rule_files,
    })
}
