//! Code lenses: counting positions, a random playout and a check, started from a file.

use ggp_stop::Stop;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, RequestId, Response};
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{CodeLens, Command, MessageType, Range, ShowMessageParams};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::document::Document;
use super::error::RequestError;
use ggp_engine::machine::{
    AnyMachine, Limits, Machine, PerftOptions, PlayError, PlayoutOptions, perft, playout,
};
use ggp_gdl::counted::counted;
use ggp_gdl::game::Game;
use ggp_playcheck::{ClaimVerdict, PlaycheckOptions, Severity, playcheck};

/// The commands and their titles.
pub(super) const COMMANDS: [(&str, &str); 3] = [
    ("ggp.perft", "Count positions"),
    ("ggp.playout", "Random playout"),
    ("ggp.check", "Check with playouts"),
];

/// The lenses of a document, shown at its top.
pub(super) fn lenses(document: &Document) -> Vec<CodeLens> {
    if document.rules.game().is_none() {
        return Vec::new();
    }
    let uri = serde_json::Value::from(document.uri.as_str());
    let lenses = COMMANDS.map(|(command, title)| CodeLens {
        range: Range::default(),
        command: Some(Command {
            title: title.to_owned(),
            command: command.to_owned(),
            arguments: Some(vec![uri.clone()]),
        }),
        data: None,
    });
    lenses.to_vec()
}

/// Starts a command; its thread answers the request and shows the message.
///
/// # Errors
///
/// If there is no such command.
pub(super) fn start(
    command: &str,
    game: &Game,
    time: Duration,
    id: RequestId,
    sender: impl Fn(Message) + Send + 'static,
) -> Result<(), RequestError> {
    let run: fn(&Game, &Limits, Duration) -> Result<String, PlayError> = match command {
        "ggp.perft" => positions,
        "ggp.playout" => play,
        "ggp.check" => check,
        _ => return Err(RequestError::UnknownCommand(command.to_owned())),
    };
    let game = game.clone();
    let work = move || {
        let mut limits = Limits::default();
        limits.ground.time = Some(time / 2);
        let stop = limits.stop.clone();
        limits.ground.stop = stop.clone();
        let done = Arc::new(AtomicBool::new(false));
        let watch = watch(time, stop.clone(), Arc::clone(&done));
        let result = match &watch {
            Ok(_) => run(&game, &limits, time),
            // Nothing would end it.
            Err(_) => Err(PlayError::Interrupted),
        };
        done.store(true, Ordering::Relaxed);
        if let Ok(watch) = watch {
            watch.thread().unpark();
        }
        let (kind, text) = match result {
            Ok(text) => (MessageType::INFO, Ok(text)),
            Err(PlayError::Interrupted) => {
                (MessageType::WARNING, Err(RequestError::TimeOver(time)))
            }
            Err(error) => (
                MessageType::ERROR,
                Err(RequestError::Failed(error.to_string())),
            ),
        };
        let message = match &text {
            Ok(text) => text.clone(),
            Err(error) => error.to_string(),
        };
        let shown = ShowMessageParams { typ: kind, message };
        sender(Notification::new(ShowMessage::METHOD.to_owned(), shown).into());
        let answer = match text {
            Ok(text) => Response::new_ok(id, text),
            Err(error) => error.answer(id),
        };
        sender(answer.into());
    };
    let started = thread::Builder::new().spawn(work);
    started.map_err(|error| RequestError::Failed(format!("cannot start a thread: {error}")))?;
    Ok(())
}

/// Raises a flag after some time, unless the work is done before.
fn watch(time: Duration, stop: Stop, done: Arc<AtomicBool>) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().spawn(move || {
        let end = Instant::now() + time;
        while !done.load(Ordering::Relaxed) {
            match end.checked_duration_since(Instant::now()) {
                Some(left) => thread::park_timeout(left),
                None => return stop.raise(),
            }
        }
    })
}

fn positions(game: &Game, limits: &Limits, time: Duration) -> Result<String, PlayError> {
    let (mut machine, _) = AnyMachine::auto(game, limits.clone())?;
    let start = machine.initial()?;
    let mut lines = Vec::new();
    let mut options = PerftOptions::default();
    options.time = Some(time / 4);
    options.states = 1_000_000;
    // More lines than these are not read in a message.
    options.depth = 20;
    let result = perft(&mut machine, &start, options, |level| {
        lines.push(format!(
            "{}: {}, {}, {} of them terminal",
            level.depth,
            counted(level.paths, "path"),
            counted(level.distinct, "position"),
            level.terminal_distinct
        ));
    });
    match result {
        Err(error) if lines.is_empty() => Err(error),
        _ => Ok(format!(
            "Positions by number of joint moves:\n{}",
            lines.join("\n")
        )),
    }
}

fn play(game: &Game, limits: &Limits, _time: Duration) -> Result<String, PlayError> {
    let (mut machine, _) = AnyMachine::auto(game, limits.clone())?;
    let start = machine.initial()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let played = playout(&mut machine, &start, PlayoutOptions::default(), &mut random)?;
    let mut lines: Vec<String> = Vec::new();
    for (number, step) in played.steps.iter().enumerate() {
        let joint = step.joint.iter().map(|chosen| machine.text(*chosen));
        lines.push(format!(
            "{}. {}",
            number + 1,
            joint.collect::<Vec<_>>().join(" ")
        ));
    }
    lines.push(match played.scores {
        Some(scores) => {
            let scores = game.roles().zip(scores);
            let scores = scores.map(|(role, score)| format!("{} {score}", game.role_name(role)));
            scores.collect::<Vec<_>>().join(", ")
        }
        None => "stopped at the move limit".to_owned(),
    });
    Ok(lines.join("\n"))
}

fn check(game: &Game, limits: &Limits, time: Duration) -> Result<String, PlayError> {
    let (mut machine, _) = AnyMachine::auto(game, limits.clone())?;
    let mut options = PlaycheckOptions::default();
    options.time = time / 4;
    let report = playcheck(&mut machine, limits, &options)?;
    let fails = (report.claims.iter())
        .filter(|claim| claim.verdict != ClaimVerdict::Holds && claim.severity > Severity::Remark);
    let mut lines: Vec<String> = fails.map(|claim| claim.text.clone()).collect();
    for finding in &report.findings {
        let place = finding.span.map(|span| game.sources().place(span));
        lines.push(format!(
            "{}: {}",
            place.unwrap_or_default(),
            finding.message
        ));
    }
    Ok(match lines.is_empty() {
        true => format!("no errors found in {}", counted(report.playouts, "playout")),
        false => lines.join("\n"),
    })
}
