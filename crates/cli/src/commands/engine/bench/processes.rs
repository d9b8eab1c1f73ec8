//! The child processes: started, timed, stopped and read.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::task::{Limits, Message, TOO_MUCH_MEMORY, Task};
use crate::Context;
use crate::bench::{Failure, Row};

/// The interval at which the clock and Ctrl-C are checked.
const TICK: Duration = Duration::from_millis(50);

/// Runs each task in a separate process, several at the same time. `take` gets each row when it and
/// all before it are there, in the order of the tasks; after Ctrl-C, or an error of `take`, those
/// of unfinished tasks are missing.
///
/// # Errors
///
/// If the path of this program is unknown, and the first error of `take`.
pub(super) fn measure(
    tasks: &[Task],
    limits: Limits,
    jobs: usize,
    context: &Context,
    take: &mut (dyn FnMut(Row) -> anyhow::Result<()> + Send),
) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let bar = context.bar(tasks.len() as u64, "starting");
    let next = AtomicUsize::new(0);
    let waiting = Mutex::new((VecDeque::from(vec![None; tasks.len()]), take, Ok(())));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(task) = tasks.get(index) else { break };
                    bar.set_message(format!("{}, {}", task.game(), task.backend));
                    let Some(row) = work(&program, task, limits, context) else {
                        break;
                    };
                    let (rows, take, outcome) = &mut *waiting.lock().expect("no holder panics");
                    let before = tasks.len() - rows.len();
                    rows[index - before] = Some(row);
                    while outcome.is_ok() && matches!(rows.front(), Some(Some(_))) {
                        let row = rows.pop_front().flatten().expect("it is there");
                        *outcome = take(row);
                    }
                    if outcome.is_err() {
                        break;
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let (rows, take, outcome) = waiting.into_inner().expect("no holder panics");
    outcome?;
    // After Ctrl-C, rows may wait for one that is missing.
    rows.into_iter().flatten().try_for_each(take)
}

/// Runs one task; `None` after Ctrl-C.
fn work(program: &Path, task: &Task, limits: Limits, context: &Context) -> Option<Row> {
    let mut row = task.row();
    if context.is_interrupted() {
        return None;
    }
    let text = match serde_json::to_string(task) {
        Ok(text) => text,
        // Only paths can fail to be JSON.
        Err(error) => {
            row.fail(Failure::Rules, format!("the name of the file: {error}"));
            return Some(row);
        }
    };
    let mut command = Command::new(program);
    command.args(["engine", "bench", "--quiet", "--child", &text]);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Ok(mut child) => follow(&mut child, row, limits, context),
        Err(error) => {
            row.fail(Failure::Crash, format!("cannot start a process: {error}"));
            Some(row)
        }
    }
}

/// The end of a process.
enum End {
    /// It ended by itself.
    Own,
    /// It exceeded its time.
    Late,
    /// Ctrl-C was pressed.
    Interrupted,
}

fn follow(child: &mut Child, mut row: Row, limits: Limits, context: &Context) -> Option<Row> {
    let out = child.stdout.take().expect("it is piped");
    let err = child.stderr.take().expect("it is piped");
    let (sender, messages) = mpsc::channel();
    let (end, remarks) = std::thread::scope(|scope| {
        scope.spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line) {
                    // A receiver that is gone needs nothing.
                    let _ = sender.send(message);
                }
            }
        });
        let remarks = scope.spawn(move || {
            let mut text = Vec::new();
            // A broken pipe counts as the end of the output.
            let _ = BufReader::new(err).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut is_done = false;
        let end = listen(&messages, &mut row, &mut is_done, limits, context);
        if !matches!(end, End::Own) {
            // A process that cannot be stopped has already ended.
            let _ = child.kill();
        }
        let remarks = remarks.join().expect("reading does not panic");
        ((end, is_done), remarks)
    });
    let status = child.wait();
    let mebibytes = |bytes: u64| bytes >> 20;
    match (end, status) {
        // Ctrl-C stops child processes too, so their last output may be incomplete.
        _ if context.is_interrupted() => return None,
        ((End::Interrupted, _), _) => return None,
        ((_, true), _) => {}
        ((End::Late, _), _) => {
            let (limit, what) = match row.start_cpu_seconds {
                Some(_) => (limits.play, "to play"),
                None => (limits.start, "to be ready"),
            };
            let seconds = limit.as_secs_f64();
            row.fail(Failure::Time, format!("more than {seconds} s {what}"));
        }
        ((End::Own, _), Ok(status)) => match (status.code(), limits.memory) {
            (Some(TOO_MUCH_MEMORY), Some(memory)) => {
                let most = mebibytes(memory);
                row.fail(Failure::Memory, format!("more than {most} MB of memory"));
            }
            _ => {
                let said: Vec<&str> = remarks.lines().filter(|line| !line.is_empty()).collect();
                let said = said.get(said.len().saturating_sub(4)..).unwrap_or_default();
                let said = said.join(" ");
                row.fail(
                    Failure::Crash,
                    format!("the process ended: {status}; {said}"),
                );
            }
        },
        ((End::Own, _), Err(error)) => {
            row.fail(
                Failure::Crash,
                format!("cannot wait for the process: {error}"),
            );
        }
    }
    Some(row)
}

/// Reads the messages of the process until it ends or must be stopped.
fn listen(
    messages: &Receiver<Message>,
    row: &mut Row,
    is_done: &mut bool,
    limits: Limits,
    context: &Context,
) -> End {
    let mut deadline = Instant::now() + limits.start;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match messages.recv_timeout(left.min(TICK)) {
            Ok(Message::Ready(ready)) => {
                *row = *ready;
                deadline = Instant::now() + limits.play;
            }
            Ok(Message::Done(done)) => {
                *row = *done;
                *is_done = true;
            }
            Err(RecvTimeoutError::Disconnected) => return End::Own,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if context.is_interrupted() {
            return End::Interrupted;
        }
        if Instant::now() >= deadline && !*is_done {
            return End::Late;
        }
    }
}
