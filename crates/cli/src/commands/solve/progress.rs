//! Progress reports of a search.

use ggp_gdl::counted::counted;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Context;
use ggp_search::{Observer, Stats};

/// The format of progress reports.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(crate) enum Report {
    /// A line on the terminal that is updated
    #[default]
    Line,
    /// JSON on standard error, a line per second
    Json,
    /// No reports
    None,
}

/// The time between two lines of JSON.
const PAUSE: Duration = Duration::from_secs(1);

/// Reports the progress of a search on standard error.
pub(crate) struct Progress {
    line: indicatif::ProgressBar,
    is_json: bool,
    started: Instant,
    /// The time of the last line, and the number of states expanded until then.
    last: (Instant, u64),
}

/// A line of JSON.
#[derive(Serialize)]
struct Now {
    seconds: f64,
    /// Moves from the start, in a search by length.
    depth: u32,
    nodes: u64,
    nodes_per_second: u64,
    generated: u64,
    /// States that are not yet expanded.
    frontier: u64,
    bytes: u64,
    /// No plan has at most this number of moves.
    no_plan_within: Option<u32>,
    best_length: Option<usize>,
    best_score: Option<u8>,
}

impl Progress {
    pub(crate) fn new(report: Report, context: &Context) -> Self {
        let now = Instant::now();
        Progress {
            line: match report {
                Report::Line => context.spinner("searching"),
                _ => indicatif::ProgressBar::hidden(),
            },
            is_json: report == Report::Json,
            started: now,
            last: (now, 0),
        }
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.line.finish_and_clear();
    }

    fn show(&mut self, stats: &Stats) {
        let since = self.last.0.elapsed();
        let is_due = self.is_json && since >= PAUSE || !self.line.is_hidden();
        let Some(level) = stats.levels.last().filter(|_| is_due) else {
            return;
        };
        let total = stats.total();
        if self.is_json {
            let nodes = total.expanded.saturating_sub(self.last.1);
            self.last = (Instant::now(), total.expanded);
            let now = Now {
                seconds: self.started.elapsed().as_secs_f64(),
                depth: level.depth,
                nodes: total.expanded,
                nodes_per_second: (nodes as f64 / since.as_secs_f64()) as u64,
                generated: total.generated,
                frontier: level.frontier,
                bytes: stats.peak_bytes,
                no_plan_within: stats.refuted,
                best_length: stats.best_length,
                best_score: stats.best_score,
            };
            eprintln!("{}", serde_json::to_string(&now).expect("numbers are JSON"));
            return;
        }
        let rate = total.expanded as f64 / self.started.elapsed().as_secs_f64();
        let mut message = format!(
            "depth {}, {} expanded ({rate:.0} per second), {} open, {} MB",
            level.depth,
            counted(total.expanded, "position"),
            level.frontier,
            stats.peak_bytes >> 20
        );
        if let Some(length) = stats.best_length {
            message += &format!(", plan of {} found", counted(length, "move"));
        }
        if let Some(score) = stats.best_score {
            message += &format!(", best end {score}");
        }
        if let Some(depth) = stats.refuted {
            message += &format!(", more than {} needed", counted(depth, "move"));
        }
        self.line.set_message(message);
    }
}

impl Observer for Progress {
    fn level(&mut self, stats: &Stats) {
        self.show(stats);
    }

    fn tick(&mut self, stats: &Stats) {
        self.show(stats);
    }

    fn warning(&mut self, text: &str) {
        match self.is_json {
            true => eprintln!("{}", serde_json::json!({ "warning": text })),
            false => self.line.suspend(|| eprintln!("warning: {text}")),
        }
    }
}
