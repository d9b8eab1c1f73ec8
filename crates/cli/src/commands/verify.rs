//! `ggp verify`: checks the answers of `ggp solve --answer`, and the files of `ggp tabulate`.

mod table;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{anyhow, bail};
use serde::Serialize;

use crate::rule_files::{self, RuleOptions};
use crate::{Context, Exit, Reported, json};
use ggp_engine::machine::{DatalogMachine, Machine};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, GoalChoice, Score};
use ggp_verify::{Checked, Failure, Limits, Record, verify};

/// The options of `ggp verify`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp solve lights.kif --answer lights.json
  ggp verify lights.kif lights.json
  ggp verify hitori.kif --grid board.txt board.json --budget-time 600
  ggp verify nim.kif nim.table --whole

Answers, files of values and rules are told apart by their first bytes. Rules and grid must be those
that were solved. Plans are played again by the naive evaluator. Exhausted searches, bounds and
shortest plans are checked by another search; a bound that is out of reach for a search is checked
by a SAT solver, with clauses made from the rules again. Sums and invariants are checked move by
move. Grounding, clauses and searches are written apart from those of the solver; the reader of
rules, the evaluators and the SAT solver are the same.

Of some positions of a file of `ggp tabulate`, or of all with --whole, the value is derived again
from those of the positions after it, by the Datalog evaluator.

Exit codes: 0 right, with a list of claims that were not checked; 1 wrong; 2 not checked, or bad
input.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Maximum number of positions of each search
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        help_heading = "Check"
    )]
    budget_nodes: u64,
    /// Time limit for each answer, in seconds
    #[arg(long, value_name = "S", default_value = "300", value_parser = crate::numbers::seconds)]
    #[arg(help_heading = "Check")]
    budget_time: Duration,
    /// Maximum number of facts, and of rule instances, that are translated to clauses
    #[arg(long, value_name = "N", default_value_t = Limits::default().instances)]
    #[arg(help_heading = "Check")]
    budget_instances: usize,
    /// Number of positions of a file of values to check, drawn at random
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        help_heading = "Check"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    /// Check all positions of a file of values
    #[arg(long, conflicts_with = "sample", help_heading = "Check")]
    whole: bool,
}

/// The result of checking an answer, as `--json` prints it.
#[derive(Serialize)]
struct Report {
    file: String,
    /// `right`, `wrong` or `unchecked`.
    verdict: &'static str,
    /// The start state and the target, if they are not the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    about: Vec<String>,
    checked: Vec<String>,
    unchecked: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Options {
    fn limits(&self, context: &Context) -> Limits {
        Limits {
            positions: self.budget_nodes,
            instances: self.budget_instances,
            stop: context.stop().within(Some(self.budget_time)),
            ..Limits::default()
        }
    }
}

impl Report {
    fn new(file: String, about: Vec<String>, outcome: Result<Checked, Failure>) -> Report {
        let (verdict, checked, unchecked, reason) = match outcome {
            Ok(checked) => ("right", checked.how, checked.open, None),
            Err(Failure::Wrong(why)) => ("wrong", Vec::new(), Vec::new(), Some(why)),
            Err(Failure::Unchecked(why)) => ("unchecked", Vec::new(), Vec::new(), Some(why)),
        };
        Report {
            file,
            verdict,
            about,
            checked,
            unchecked,
            reason,
        }
    }

    fn line(&self) -> String {
        let mut parts = [self.about.clone(), self.checked.clone()].concat();
        parts.extend(self.reason.clone());
        parts.extend(
            self.unchecked
                .iter()
                .map(|claim| format!("not checked: {claim}")),
        );
        format!("{}: {}: {}", self.file, self.verdict, parts.join("; "))
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read, is an answer for other rules, or could not be checked.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut rules = options.rules.clone();
    let mut answers = Vec::new();
    rules.files.retain(|path| {
        let kind = Kind::of(path);
        answers.extend(kind.map(|kind| (path.clone(), kind)));
        kind.is_none()
    });
    if rules.files.is_empty() || answers.is_empty() {
        bail!("rule files are needed, and files of `ggp solve --answer` or `ggp tabulate -o`");
    }
    let game = rules.game(context)?;
    let (mut any_wrong, mut any_unknown) = (false, false);
    for (path, kind) in &answers {
        let checked = match kind {
            Kind::Values => table::check(options, &game, path, context),
            Kind::Answer => check(options, &game, path, context),
        };
        if context.is_interrupted() {
            bail!("interrupted");
        }
        match checked {
            Ok(report) => {
                any_wrong |= report.verdict == "wrong";
                any_unknown |= report.verdict == "unchecked";
                match context.json() {
                    true => context.print_json(&report)?,
                    false => context.print(report.line())?,
                }
            }
            Err(error) if options.rules.files.len() == rules.files.len() + 1 => return Err(error),
            Err(error) => {
                any_unknown = true;
                eprintln!("{} {error:#}", context.error_word());
            }
        }
    }
    match (any_wrong, any_unknown) {
        (true, _) => Ok(Exit::Negative),
        (false, true) => Err(Reported.into()),
        (false, false) => Ok(Exit::Done),
    }
}

/// A kind of file that is checked.
#[derive(Copy, Clone)]
enum Kind {
    /// An answer of `ggp solve`.
    Answer,
    /// A file of values of `ggp tabulate`.
    Values,
}

impl Kind {
    /// The kind of a file; `None` for rules. Of a file that is neither read nor known by its first
    /// bytes, such as a damaged one, the ending of its name decides.
    fn of(path: &Path) -> Option<Kind> {
        let mut first = Vec::new();
        // A pipe could be read only once.
        if path.is_file()
            && let Ok(file) = File::open(path)
        {
            // What cannot be read is reported by its reader.
            let _ = file.take(table::FIRST.len() as u64).read_to_end(&mut first);
        }
        let ends_in = |ending| {
            let own = path.extension().unwrap_or_default();
            own.eq_ignore_ascii_case(ending)
        };
        if first == table::FIRST.as_bytes() || ends_in("table") {
            Some(Kind::Values)
        } else if first.trim_ascii_start().starts_with(b"{") || ends_in("json") {
            Some(Kind::Answer)
        } else {
            None
        }
    }
}

fn check(options: &Options, game: &Game, path: &Path, context: &Context) -> anyhow::Result<Report> {
    let file = rule_files::shown_name(path);
    let text = rule_files::read_text(path, options.rules.max_bytes, context)?;
    let expected = "a JSON object, as `ggp solve --answer` writes it";
    let record: Record =
        json::parse(&text, expected).map_err(|why| anyhow!("{file} is not an answer: {why}"))?;
    // A second way to write an answer would be read as one, but be another file than the solver's.
    let parsed: serde_json::Value = serde_json::from_str(&text)?;
    if serde_json::to_value(&record)? != parsed {
        bail!("{file} is not an answer: it has values that `ggp solve` writes in another way");
    }
    let (start, target) = record.question(game).map_err(|why| {
        let with = |choice: &GoalChoice| record.question(&game.choosing_goals(*choice)).is_ok();
        match GoalChoice::ALL.into_iter().find(with) {
            Some(choice) => anyhow!("{file}: it was made with --goals {choice}"),
            None => anyhow!("{file}: {why}"),
        }
    })?;
    let mut about = Vec::new();
    let mut machine = DatalogMachine::new(game, options.rules.limits(context))?;
    let initial = machine.initial()?;
    if machine.state(&start)? != initial {
        about.push("from another state than the initial one".to_owned());
    }
    if target < Score::MAX {
        about.push(format!("for {} or more", counted(target, "point")));
    }
    let limits = options.limits(context);
    let spinner = context.spinner(format!("checking {file}"));
    let outcome = verify(game, &start, target, &record.answer, &limits);
    spinner.finish_and_clear();
    Ok(Report::new(file, about, outcome))
}
