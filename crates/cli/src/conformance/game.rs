//! One game of the corpus: read, then compared record by record.

use super::Options;
use super::compare::{Budget, Comparison, End};
use super::corpus::{Demand, Entry};
use super::hidden;
use super::report::{Difference, GameReport, Outcome};
use ggp_engine::machine::{AnyMachine, Limits, Machine, PerftOptions, PlayError, perft};
use ggp_gdl::check::{self, ReadOptions, Reading};
use ggp_gdl::diagnostic::{Code, Severity};
use ggp_gdl::game::Game;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_stop::Stop;

/// An estimate of the work for a game, for comparison with others.
pub(super) fn effort(entry: &Entry, options: &Options) -> u64 {
    let steps: usize = entry
        .traces
        .iter()
        .map(|t| t.record.steps.len().min(options.steps))
        .sum();
    let counts = entry.perft.iter().flat_map(|p| &p.record.perft);
    let states: u64 = counts.map(|level| level.distinct.min(options.paths)).sum();
    // A step costs about ten states: it needs digests of all moves and facts.
    (states + 10 * steps as u64).saturating_mul(entry.rules.len() as u64)
}

/// Compares everything that the corpus has about one game.
pub(super) fn compare(entry: &Entry, options: &Options, stop: &Stop) -> GameReport {
    let mut report = GameReport::new(&entry.subject.key, &entry.file);
    let case_matters = compare_reading(entry, options, options.case, stop, &mut report);
    if !report.differences.is_empty() && case_matters && options.case == Case::Fold {
        let mut kept = GameReport::new(&entry.subject.key, &entry.file);
        compare_reading(entry, options, Case::Keep, stop, &mut kept);
        if kept.differences.is_empty() {
            // If it was interrupted, neither is known; the game is reported as not finished.
            if kept.finished {
                kept.outcome = Outcome::AgreesWithCaseKept;
            }
            report = kept;
        }
    }
    explain(&mut report, options);
    report
}

/// Separates the differences that are explained.
fn explain(report: &mut GameReport, options: &Options) {
    for difference in std::mem::take(&mut report.differences) {
        let known = options
            .explanations
            .iter()
            .find(|known| known.key == difference.game && difference.what.starts_with(&known.what));
        match known {
            Some(known) => report.explained.push((difference, known.why.clone())),
            None => report.differences.push(difference),
        }
    }
}

/// Compares under one treatment of letter case. Returns whether names differ only in case.
fn compare_reading(
    entry: &Entry,
    options: &Options,
    case: Case,
    stop: &Stop,
    report: &mut GameReport,
) -> bool {
    let text = String::from_utf8_lossy(&entry.rules);
    let sources = Sources::from(Source::new(&*entry.file, text));
    let read = ReadOptions {
        case,
        ..ReadOptions::default()
    };
    let reading = check::read(sources, &read);
    report.outcome = match &reading.game {
        Some(_) => Outcome::Accepted,
        None => Outcome::Refused {
            codes: error_codes(&reading),
        },
    };
    let limits = Limits {
        stop: stop.clone(),
        ..options.limits.clone()
    };
    report.finished = compare_verdict(entry, options, &reading, &limits, report)
        && match &reading.game {
            Some(game) => compare_play(entry, options, game, &limits, report),
            None => true,
        };
    reading.findings.iter().any(|f| f.code == Code::CaseDiffers)
}

/// Compares the verdict on the rules; false if interrupted.
fn compare_verdict(
    entry: &Entry,
    options: &Options,
    reading: &Reading,
    limits: &Limits,
    report: &mut GameReport,
) -> bool {
    let found = match (&reading.game, entry.demand) {
        (None, Demand::Accept) => match reading.findings.iter().find(|f| is_error(f.severity)) {
            Some(error) => {
                let place = error.span.map(|span| reading.sources.place(span) + " ");
                let place = place.unwrap_or_default();
                Some(format!("refused: {place}{}: {}", error.code, error.message))
            }
            None => Some("refused".to_owned()),
        },
        (Some(_), Demand::Refuse) => Some("accepted".to_owned()),
        (Some(game), Demand::Fault) => {
            let remarked = reading
                .findings
                .iter()
                .any(|f| f.code == Code::BadGoalValue);
            match remarked || is_faulty(game, options, limits) == Some(true) {
                true => None,
                // A search that was cut off proves nothing.
                false if is_interrupted(limits) => return false,
                false => Some("accepted, and play shows no error".to_owned()),
            }
        }
        _ => None,
    };
    report.verdicts += 1;
    if let Some(found) = found {
        let expected = match entry.demand {
            Demand::Accept => "accepted",
            Demand::Refuse => "refused",
            Demand::Fault => "refused, or an error in play",
            Demand::Either => unreachable!("no verdict differs from either"),
        };
        report.differences.push(Difference {
            game: entry.subject.key.clone(),
            place: entry.place.clone(),
            what: "verdict".to_owned(),
            expected: expected.to_owned(),
            found,
        });
    }
    true
}

fn is_interrupted(limits: &Limits) -> bool {
    limits.stop.is_raised()
}

/// Whether play from the initial state, over all moves to a fixed depth, reaches a state
/// with an invalid goal or without a move; `None` if that is unknown.
fn is_faulty(game: &Game, options: &Options, limits: &Limits) -> Option<bool> {
    let mut machine = AnyMachine::new(game, options.backend, limits.clone()).ok()?;
    let mut bounds = PerftOptions::default();
    bounds.depth = 20;
    bounds.states = 2_000;
    let counted = match machine.initial() {
        Ok(from) => perft(&mut machine, &from, bounds, |_| {}),
        Err(error) => Err(error),
    };
    match counted {
        Ok(counts) => Some(counts.levels.iter().any(|level| level.goal_errors > 0)),
        Err(PlayError::NoLegalMove(_)) => Some(true),
        Err(_) => None,
    }
}

/// Compares answers of play; false if interrupted.
fn compare_play(
    entry: &Entry,
    options: &Options,
    game: &Game,
    limits: &Limits,
    report: &mut GameReport,
) -> bool {
    let mut machine = match AnyMachine::new(game, options.backend, limits.clone()) {
        Ok(machine) => machine,
        Err(PlayError::Interrupted) => return false,
        Err(error) => {
            report.differences.push(Difference {
                game: entry.subject.key.clone(),
                place: entry.place.clone(),
                what: "machine".to_owned(),
                expected: "an answer".to_owned(),
                found: error.to_string(),
            });
            return true;
        }
    };
    let budget = Budget {
        paths: options.paths,
        steps: options.steps,
    };
    // Playouts first: they reach deepest for their time.
    let mut outcomes = Vec::new();
    for line in &entry.answers {
        outcomes.push(Comparison::new(&mut machine, &line.place, report).answers(&line.record));
    }
    for line in &entry.traces {
        outcomes
            .push(Comparison::new(&mut machine, &line.place, report).trace(&line.record, budget));
    }
    for line in &entry.perft {
        outcomes
            .push(Comparison::new(&mut machine, &line.place, report).perft(&line.record, budget));
    }
    outcomes.extend(hidden::compare(entry, game, limits, report));
    !outcomes
        .iter()
        .any(|end| matches!(end, Err(End::Interrupted)))
}

fn is_error(severity: Severity) -> bool {
    severity == Severity::Error
}

fn error_codes(reading: &Reading) -> Vec<&'static str> {
    let errors = reading.findings.iter().filter(|f| is_error(f.severity));
    let mut codes: Vec<&str> = errors.map(|f| f.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}
