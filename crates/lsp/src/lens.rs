//! What can be started from a file: counting positions, a playout, a check.

use ggp_stop::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lsp_server::{ErrorCode, Message, Notification, RequestId, Response};
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{CodeLens, Command, MessageType, Range, ShowMessageParams};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::document::Document;
use ggp_engine::machine::{
    AnyMachine, Limits, Machine, PerftOptions, PlayError, PlayoutOptions, perft, playout,
};
use ggp_gdl::game::Game;
use ggp_playcheck::{AuditOptions, Verdict, Weight, audit};

/// The commands and their titles.
pub(super) const COMMANDS: [(&str, &str); 3] = [
    ("ggp.perft", "count positions"),
    ("ggp.playout", "play at random"),
    ("ggp.check", "check by play"),
];

/// The lenses of a document, at its top.
pub(super) fn lenses(document: &Document) -> Vec<CodeLens> {
    if document.game().is_none() {
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
) -> Result<(), String> {
    let run: fn(&Game, &Limits, Duration) -> Result<String, PlayError> = match command {
        "ggp.perft" => positions,
        "ggp.playout" => play,
        "ggp.check" => check,
        _ => return Err(format!("there is no command {command}")),
    };
    let game = game.clone();
    thread::spawn(move || {
        let mut limits = Limits::default();
        limits.ground.time = Some(time / 2);
        let stop = limits.stop.clone();
        limits.ground.stop = stop.clone();
        let done = Arc::new(AtomicBool::new(false));
        let watch = watch(time, stop.clone(), Arc::clone(&done));
        let came = run(&game, &limits, time);
        done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        let (kind, text) = match came {
            Ok(text) => (MessageType::INFO, Ok(text)),
            Err(PlayError::Interrupted) => {
                let seconds = time.as_secs_f64();
                (
                    MessageType::WARNING,
                    Err(format!("not done within {seconds} seconds")),
                )
            }
            Err(error) => (MessageType::ERROR, Err(error.to_string())),
        };
        let message = match &text {
            Ok(text) | Err(text) => text.clone(),
        };
        let shown = ShowMessageParams { typ: kind, message };
        sender(Notification::new(ShowMessage::METHOD.to_owned(), shown).into());
        let answer = match text {
            Ok(text) => Response::new_ok(id, text),
            Err(message) => Response::new_err(id, ErrorCode::RequestFailed as i32, message),
        };
        sender(answer.into());
    });
    Ok(())
}

/// Raises a flag after some time, unless all is done before.
fn watch(time: Duration, stop: Stop, done: Arc<AtomicBool>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
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
    let options = PerftOptions {
        time: Some(time / 4),
        states: 1_000_000,
        ..PerftOptions::default()
    };
    let came = perft(&mut machine, &start, options, |level| {
        lines.push(format!(
            "{}: {} ways, {} positions, {} of them ends",
            level.depth, level.paths, level.distinct, level.terminal_distinct
        ));
    });
    match came {
        Err(error) if lines.is_empty() => Err(error),
        _ => Ok(format!("by joint moves\n{}", lines.join("\n"))),
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
        None => "cut".to_owned(),
    });
    Ok(lines.join("\n"))
}

fn check(game: &Game, limits: &Limits, time: Duration) -> Result<String, PlayError> {
    let (mut machine, _) = AnyMachine::auto(game, limits.clone())?;
    let options = AuditOptions {
        time: time / 4,
        ..AuditOptions::default()
    };
    let report = audit(&mut machine, limits, &options)?;
    let fails = (report.claims.iter())
        .filter(|claim| claim.verdict != Verdict::Holds && claim.weight > Weight::Remark);
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
        true => format!("nothing is wrong in {} plays", report.plays),
        false => lines.join("\n"),
    })
}
