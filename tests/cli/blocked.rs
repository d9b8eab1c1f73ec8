//! Commands that wait for somebody else: the first signal ends them, and so does a time limit.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::workplace::Workplace;

/// Named pipes of which nobody uses the other end: one is only read, one only written.
const PIPES: [&str; 2] = ["pipe", "drain"];
/// The longest time for an end that is not asserted to be soon, since tests share processors.
const PATIENCE: Duration = Duration::from_secs(60);

fn with_pipes() -> Workplace {
    let place = Workplace::new();
    for pipe in PIPES {
        let path = place.folder().join(pipe);
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }
    place
}

fn ended(child: &mut Child, what: &str) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("{what} does not end");
        }
        sleep(Duration::from_millis(20));
    }
}

/// Asserts that one signal ends each command with exit code 2.
fn check(place: &Workplace, lines: &[&str]) {
    let mut open: Vec<&str> = lines.to_vec();
    // A signal that comes before it can be handled ends a process, too: then again, later.
    for wait in 1.. {
        let started = open.iter().map(|line| {
            let mut command = place.command(line);
            let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
            command.stderr(Stdio::null()).spawn().unwrap()
        });
        let mut started: Vec<Child> = started.collect();
        sleep(Duration::from_millis(500 * wait));
        for (child, line) in started.iter_mut().zip(&open) {
            assert!(child.try_wait().unwrap().is_none(), "{line} has ended");
            let id = child.id().to_string();
            let told = Command::new("kill").args(["-TERM", &id]).status();
            assert!(told.unwrap().success());
        }
        let mut early = Vec::new();
        for (child, line) in started.iter_mut().zip(open) {
            match ended(child, line).code() {
                Some(code) => assert_eq!(code, 2, "{line}"),
                None => early.push(line),
            }
        }
        if early.is_empty() {
            return;
        }
        assert!(wait < 10, "no command has handled a signal: {early:?}");
        open = early;
    }
}

#[test]
fn a_signal_ends_a_command_that_waits_for_a_file() {
    let place = with_pipes();
    check(
        &place,
        &[
            "replay pipe",
            "tournament pipe",
            "tournament --games matches.kif --player first --player random --results pipe",
            "play matches.kif --resume pipe",
            "rules scramble matches.kif --back pipe",
            "play matches.kif --roles first,random --save drain",
            "rules scramble matches.kif --map drain",
            "solve lights.kif --answer drain",
            "engine perft lights.kif 2 --csv drain",
        ],
    );
}

#[test]
fn a_signal_ends_a_command_whose_output_nobody_reads() {
    let place = Workplace::new();
    let facts: Vec<String> = (0..20_000)
        .map(|n| format!("(legal r (choose {n}))"))
        .collect();
    let rules = "(role r) (init (s 0)) (<= (next (s ?x)) (true (s ?x)))
        (<= terminal (true (s 1))) (goal r 0)";
    place.write("wide.kif", format!("{rules} {}", facts.join(" ")));
    check(&place, &["legal wide.kif", "legal wide.kif --json"]);
}

#[test]
fn a_time_limit_holds_while_input_does_not_come() {
    let place = with_pipes();
    for command in ["solve", "prove", "graph", "tabulate -o table"] {
        let line = format!("{command} pipe --budget-time 0.3");
        let mut command = place.command(&line);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        assert_eq!(ended(&mut child, &line).code(), Some(2), "{line}");
        let said = child.wait_with_output().unwrap().stderr;
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("before all input came"), "{line}: {said}");
    }
}
