//! A signal ends every command soon, in every method, whenever it comes.
//!
//! The time from the signal to the end is measured as CPU time, so that a busy machine does not matter.
//! docs/measurements/performance.md has the real times.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::{seed, sized};
use ggp_gdl::game::Game;
use ggp_solver::solve::{Method, role_of_plan};

/// The most CPU time between a signal and the end: many times what it takes in a release build.
const SOON: Duration = Duration::from_millis(1_500);
/// A command that has not ended by then never will.
const NEVER: Duration = Duration::from_secs(120);

/// The CPU time that a process has used, of all its threads.
fn cpu_time(process: Pid) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may have spaces.
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
    Some(Duration::from_millis(1000 * ticks / 100))
}

/// The CPU time from a signal after some time to the end of a command; `None` if it ended before.
fn after_a_signal(arguments: &[String], delay: Duration) -> Option<Duration> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command.args(arguments).env("GGP_CACHE", "");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let process = Pid::from_raw(child.id() as i32);
    std::thread::sleep(delay);
    if child.try_wait().unwrap().is_some() {
        return None;
    }
    let before = cpu_time(process)?;
    let _ = kill(process, Signal::SIGTERM);
    let (began, mut last) = (Instant::now(), before);
    while child.try_wait().unwrap().is_none() {
        // The last figure before the end, up to a few milliseconds.
        last = cpu_time(process).unwrap_or(last).max(last);
        if began.elapsed() > NEVER {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{arguments:?} after {delay:?}: no end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(last.saturating_sub(before))
}

/// All commands whose time depends on the game, on a file of rules.
fn commands(file: &Path, output: &Path) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
    let Ok(game) = Game::from_text("rules.kif", &text) else {
        return Vec::new();
    };
    let is_puzzle = role_of_plan(&game).is_ok();
    let [file, output] = [file, output].map(|path| path.display().to_string());
    let words = |text: &str| -> Vec<String> {
        let words = text.split(' ');
        let filled = words.map(|word| word.replace("FILE", &file).replace("OUTPUT", &output));
        filled.collect()
    };
    let mut all = vec![
        words("check --play FILE"),
        words("info FILE"),
        words("playout FILE --count 1000000"),
        words("engine perft FILE 30"),
        words("prove FILE"),
        words("tabulate FILE --output OUTPUT.table"),
        words("graph FILE --depth 20 --output OUTPUT.json"),
        words("play FILE --roles auto"),
        words("learn FILE --time 60 --output OUTPUT.values"),
        words("export --efg FILE --output OUTPUT.efg"),
        words("draw FILE"),
    ];
    let methods = Method::all().filter(|_| is_puzzle);
    all.extend(methods.map(|method| words(&format!("solve FILE --method {}", method.name()))));
    all
}

/// Stops `count` commands on these files, each after a random time.
pub fn check(files: &[PathBuf], count: usize, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut late = Vec::new();
    let mut running = 0;
    for number in 0..count {
        let file = &files[random.random_range(0..files.len())];
        let all = commands(file, &folder.path().join(number.to_string()));
        if all.is_empty() {
            continue;
        }
        let arguments = &all[random.random_range(0..all.len())];
        // Short times are as likely as long ones.
        let delay = Duration::from_secs_f64(0.005 * 400_f64.powf(random.random()));
        let Some(time) = after_a_signal(arguments, delay) else {
            continue;
        };
        running += 1;
        if time > SOON {
            late.push(format!(
                "{time:?} after {delay:?}: ggp {}",
                arguments.join(" ")
            ));
        }
    }
    assert!(late.is_empty(), "{}", late.join("\n"));
    assert!(
        3 * running > count,
        "only {running} of {count} were running"
    );
}

/// A thing with a speed on a large board, whose sums come from a table: moves are few, and each may change
/// every fact.
fn speeds() -> String {
    let size = 27_u32;
    let mut text = String::from("(role p) (init (at 13 13)) (init (speed 13 13)) (init (tick 0)) ");
    for a in 0..size {
        for b in 0..size {
            if let Some(sum) = (a + b).checked_sub(13).filter(|sum| *sum < size) {
                text += &format!("(plus {a} {b} {sum}) ");
            }
            if (12..15).contains(&a) || (12..15).contains(&b) {
                text += &format!("(open {a} {b}) ");
            }
        }
    }
    for n in 0..20 {
        text += &format!("(after {n} {}) ", n + 1);
    }
    text + "(push 12) (push 13) (push 14) (<= (legal p (burn ?x ?y)) (push ?x) (push ?y))
        (<= (faster ?u ?v) (does p (burn ?x ?y)) (true (speed ?a ?b)) (plus ?a ?x ?u) (plus ?b ?y ?v))
        (<= (ahead ?p ?q) (faster ?u ?v) (true (at ?a ?b)) (plus ?a ?u ?p) (plus ?b ?v ?q))
        (<= safe (ahead ?p ?q) (open ?p ?q)) (<= (next (at ?p ?q)) (ahead ?p ?q) safe)
        (<= (next (speed ?u ?v)) (faster ?u ?v) safe) (<= (next (at ?p ?q)) (true (at ?p ?q)) (not safe))
        (<= (next (speed 13 13)) (not safe)) (<= (next (tick ?n)) (true (tick ?m)) (after ?m ?n))
        (<= home (true (at 26 13)) (true (speed 13 13))) (<= terminal home) (<= terminal (true (tick 20)))
        (<= (goal p 100) home) (<= (goal p 0) (not home))"
}

/// Dials that one move turns all at once, so that there are many moves.
fn dials(count: usize) -> String {
    let variables = (0..count).map(|dial| format!("?m{dial}"));
    let made = variables.collect::<Vec<_>>().join(" ");
    let turns = (0..count).map(|dial| format!("(turn ?m{dial})"));
    let turns = turns.collect::<Vec<_>>().join(" ");
    let mut text = format!(
        "(role p) (turn left) (turn right) (turn stay) (init (step 1)) (after 1 2) (after 2 3) (after 3 4)
        (clock n e) (clock e s) (clock s w) (clock w n) (<= (legal p (set {made})) {turns})
        (<= (next (dial ?d ?b)) (turned ?d right) (true (dial ?d ?a)) (clock ?a ?b))
        (<= (next (dial ?d ?a)) (turned ?d left) (true (dial ?d ?b)) (clock ?a ?b))
        (<= (next (dial ?d ?a)) (turned ?d stay) (true (dial ?d ?a)))
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n)) (<= terminal (true (step 4)))
        (<= open (true (dial 0 s)) (true (dial 1 w))) (<= (goal p 100) open) (<= (goal p 0) (not open)) "
    );
    for dial in 0..count {
        text +=
            &format!("(init (dial {dial} n)) (<= (turned {dial} ?m{dial}) (does p (set {made}))) ");
    }
    text
}

#[test]
fn a_signal_ends_every_command_soon() {
    let folder = tempfile::tempdir().unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let listed = std::fs::read_dir(own).unwrap();
    let mut files: Vec<PathBuf> = listed.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "kif"));
    files.sort();
    for (name, text) in [("speeds", speeds()), ("dials", dials(9))] {
        let file = folder.path().join(format!("{name}.kif"));
        std::fs::write(&file, text).unwrap();
        // As likely as a tenth of all others each.
        files.extend(vec![file; files.len() / 10]);
    }
    check(&files, sized(60, 1_000), seed());
}

#[test]
fn a_signal_ends_every_method_on_many_moves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dials.kif");
    std::fs::write(&file, dials(10)).unwrap();
    let methods = Method::all().map(Method::name);
    let some = |method: &&str| sized(["sat-steps", "sat-set"].contains(method), true);
    for method in methods.filter(some) {
        let words = ["solve", file.to_str().unwrap(), "--method", method];
        let time = after_a_signal(&words.map(str::to_owned), Duration::from_secs(4));
        assert!(time.is_none_or(|time| time <= SOON), "{method}: {time:?}");
    }
}
