//! One game on one backend, in a separate process.

use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::task::{Message, TOO_MUCH_MEMORY, Task};
use crate::bench::{
    Failure, LanesSubject, MachineSubject, MixedSubject, Row, Run, Settings, Subject, Until, usage,
};
use crate::rule_files::{backend_named, read_text, shown_name};
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Backend, Limits, PlayError};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::check::{self, ReadOptions};
use ggp_gdl::diagnostic::Severity;
use ggp_gdl::game::Game;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::SyntaxLimits;

/// The interval of memory checks.
const TICK: Duration = Duration::from_millis(5);

/// The game prepared by a backend.
fn subject(
    game: &Game,
    backend: Backend,
    settings: &Settings,
    mut limits: Limits,
) -> Result<Box<dyn Subject>, PlayError> {
    let began = Instant::now();
    Ok(match backend {
        Backend::Auto => match LanesSubject::new(game, settings, &limits.ground) {
            Ok(subject) => Box::new(subject),
            Err(PlayError::TooLarge(excess)) => {
                let why_not = excess.to_string();
                let time = &mut limits.ground.time;
                *time = time.map(|time| time.saturating_sub(began.elapsed()));
                match MixedSubject::new(game, settings, limits.clone()) {
                    Ok(subject) => Box::new(subject.instead(why_not)),
                    Err(_) => {
                        let machine = AnyMachine::new(game, Backend::Datalog, limits)?;
                        Box::new(MachineSubject::new("datalog", machine)?.instead(why_not))
                    }
                }
            }
            Err(error) => return Err(error),
        },
        Backend::Propnet => Box::new(LanesSubject::new(game, settings, &limits.ground)?),
        Backend::Mixed => Box::new(MixedSubject::new(game, settings, limits)?),
        Backend::Datalog => {
            let machine = AnyMachine::new(game, backend, limits)?;
            Box::new(MachineSubject::new("datalog", machine)?)
        }
        Backend::Naive => {
            let machine = AnyMachine::new(game, backend, limits)?;
            Box::new(MachineSubject::new("naive", machine)?)
        }
    })
}

/// Runs a task, given as JSON, and prints [`Message`]s, one per line.
///
/// # Errors
///
/// If the task is malformed. Errors in the game are in the row.
pub(super) fn run(task: &str, context: &Context) -> anyhow::Result<Exit> {
    let task: Task = serde_json::from_str(task)?;
    let backend = backend_named(&task.backend)
        .ok_or_else(|| anyhow!("there is no backend {}", task.backend))?;
    watch(task.memory);
    let mut row = task.row();
    if let Err((failure, error)) = measure(&task, backend, &mut row, context) {
        row.fail(failure, error);
    }
    row.peak_memory_bytes = usage::peak_memory();
    context.print_json(&Message::Done(Box::new(row)))?;
    Ok(Exit::Done)
}

fn measure(
    task: &Task,
    backend: Backend,
    row: &mut Row,
    context: &Context,
) -> Result<(), (Failure, String)> {
    let engine = match task.no_jit {
        true => Engine::Interpreter,
        false => Engine::Auto,
    };
    let limits = task.evaluation.limits(task.ground_time, engine, context);
    let settings = Settings {
        lanes: task.lanes,
        engine,
        threads: task.threads,
    };
    let begun = usage::cpu_time();
    let game = game(task, context).map_err(|error| (Failure::Rules, error))?;
    row.roles = format::role_names(&game);
    let mut subject = subject(&game, backend, &settings, limits).map_err(failure)?;
    row.start_cpu_seconds = since(begun).map(|time| time.as_secs_f64());
    row.take_readiness(subject.readiness());
    let Some(time) = task.seconds else {
        return Ok(());
    };
    row.peak_memory_bytes = usage::peak_memory();
    // If the process is stopped later, at least its start is reported. A closed pipe is
    // noticed when the end is printed.
    let _ = context.print_json(&Message::Ready(Box::new(row.clone())));
    let run = Run {
        until: match task.playouts {
            Some(count) => Until::Playouts(count),
            None => Until::Time(time),
        },
        threads: task.threads,
        seed: task.seed,
        depth: task.depth,
        stop: context.stop().clone(),
    };
    let (begun, wall) = (usage::cpu_time(), Instant::now());
    let tally = subject.run(&run).map_err(failure)?;
    let wall = wall.elapsed();
    row.take_tally(tally, wall, since(begun));
    row.take_readiness(subject.readiness());
    match &row.fault {
        // There is nothing to measure.
        Some(fault) if row.scored == 0 => Err((Failure::Rules, fault.clone())),
        _ => Ok(()),
    }
}

fn since(begun: Option<Duration>) -> Option<Duration> {
    Some(usage::cpu_time()?.saturating_sub(begun?))
}

fn failure(error: PlayError) -> (Failure, String) {
    let failure = match &error {
        PlayError::TooLarge(_) => Failure::TooLarge,
        PlayError::Interrupted => Failure::Crash,
        _ => Failure::Rules,
    };
    (failure, error.to_string())
}

/// The game of the rule files, or its first error.
fn game(task: &Task, context: &Context) -> Result<Game, String> {
    let options = ReadOptions {
        case: match task.case_sensitive {
            true => Case::Keep,
            false => Case::Fold,
        },
        ..task.evaluation.read_options(SyntaxLimits::default().bytes)
    };
    let mut sources = Vec::new();
    for file in &task.files {
        let text = read_text(file, options.syntax.bytes, context);
        let text = text.map_err(|error| format!("{error:#}"))?;
        sources.push(Source::new(shown_name(file), text));
    }
    let reading = check::read(Sources::new(sources), &options);
    if let Some(game) = reading.game {
        return Ok(game);
    }
    let findings = reading.findings.iter();
    let mut errors = findings.filter(|finding| finding.severity == Severity::Error);
    let first = errors.next().expect("rules without an error are a game");
    let place = first.span.map(|span| reading.sources.place(span) + ": ");
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" (and {more} more; see `ggp check`)"),
    };
    let (code, message) = (first.code, &first.message);
    let place = place.unwrap_or_default();
    Err(format!("{place}error[{code}]: {message}{more}"))
}

/// Ends the process when it exceeds its memory limit, or when its parent is gone.
fn watch(memory: Option<u64>) {
    let parent = usage::parent();
    std::thread::spawn(move || {
        loop {
            let is_over = |most| usage::peak_memory().is_some_and(|peak| peak > most);
            if memory.is_some_and(is_over) {
                std::process::exit(TOO_MUCH_MEMORY);
            }
            if usage::parent() != parent {
                std::process::exit(2);
            }
            std::thread::sleep(TICK);
        }
    });
}
