//! The solving methods on games with one role: how soon they stop, and how `auto` compares to
//! the best of them.
//!
//! ```text
//! cargo bench --bench methods -- [--stops MS,...] [--method NAME] [FILE|FOLDER ...]
//! cargo bench --bench methods -- --auto SECONDS [FILE|FOLDER ...]
//! ```
//!
//! Without files it takes the games of `games`.
//!
//! Stops: each method starts, and after each delay in milliseconds its stop is raised. The
//! result is the time until the method returns. `ready` is the making of the network. Where a
//! stop took long, the same delay is tried again, and the shortest time counts, since other
//! processes may have been in the way.
//!
//! `--auto`: the CPU time until the answer of `auto`, and of the method that is fastest. Each
//! run has a limit in seconds. Games that `auto` settles in less than [`TRIVIAL`] are left out.

use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_engine::propnet::GroundLimits;
use ggp_gdl::game::Game;
use ggp_search::{Stats, Verdict};
use ggp_solver::solve::{Checker, Method, SolveOptions, solve};
use ggp_stop::Stop;

/// The name of the making of the network in the results.
const READY: &str = "ready";
/// The delays until the stop is raised, in milliseconds.
const DELAYS: &[u64] = &[5, 20, 100, 300, 1000];
/// A stop that takes longer is tried again, this many times.
const LONG: Duration = Duration::from_millis(20);
const TRIES: usize = 3;
/// A method that has not returned after this time counts as one that never stops.
const MOST: Duration = Duration::from_secs(60);

/// A method on a game that was stopped after a delay.
struct Stopped {
    took: Duration,
    game: String,
    method: String,
    delay: u64,
}

/// Games that take less CPU time than this are not compared.
const TRIVIAL: Duration = Duration::from_millis(100);

fn main() {
    let mut method = None;
    let mut delays = DELAYS.to_vec();
    let mut limit = None;
    let mut paths: Vec<PathBuf> = Vec::new();
    // Cargo adds an option of its own.
    let mut arguments = std::env::args().skip(1).filter(|one| one != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--method" => method = arguments.next(),
            "--stops" => {
                let list = arguments.next().expect("--stops needs milliseconds");
                let number = |text: &str| text.parse().expect("a delay is a number");
                delays = list.split(',').map(number).collect();
            }
            "--auto" => {
                let text = arguments.next().expect("--auto needs seconds");
                let seconds = text.parse().expect("the limit is a number");
                limit = Some(Duration::from_secs_f64(seconds));
            }
            path => paths.push(path.into()),
        }
    }
    if paths.is_empty() {
        paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("games"));
    }
    let games = paths.iter().flat_map(|path| files(path));
    let games: Vec<Game> = games.filter_map(|path| game(&path)).collect();
    match limit {
        Some(limit) => compare(&games, limit),
        None => measure_stops(&games, method.as_deref(), &delays),
    }
}

/// Prints the longest stop of each game, then the longest of all.
fn measure_stops(games: &[Game], method: Option<&str>, delays: &[u64]) {
    let mut all: Vec<Stopped> = Vec::new();
    for game in games {
        let name = game.name();
        let is_asked = |name: &str| method.is_none_or(|only| only == name);
        let mut found = Vec::new();
        if is_asked(READY) {
            found.extend(longest(&name, READY, delays, |stop| {
                let game = game.clone();
                move || drop(machine(&game, &stop))
            }));
        }
        let Some(machine) = machine(game, &Stop::new().within(Some(MOST))) else {
            continue;
        };
        for method in Method::all().filter(|method| is_asked(method.name())) {
            found.extend(longest(&name, method.name(), delays, |stop| {
                let mut machine = machine.clone();
                machine.set_stop(&stop);
                let mut options = SolveOptions::default();
                options.method = method;
                options.budget.stop = stop;
                move || drop(solve(&machine, &options, &mut Stats::default(), &mut ()))
            }));
        }
        if let Some(worst) = found.iter().max_by_key(|one| one.took) {
            println!("{}", line(worst));
        }
        all.extend(found);
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.took));
    println!("\nthe longest:");
    for one in all.iter().take(40) {
        println!("{}", line(one));
    }
}

/// Prints for each game the CPU time of `auto` and of the fastest method.
fn compare(games: &[Game], limit: Duration) {
    println!("| game | fastest | s | `auto`, s | times | answer of `auto` |");
    println!("|---|---|--:|--:|--:|---|");
    let mut factors: Vec<f64> = Vec::new();
    let (mut missed, mut open) = (Vec::new(), Vec::new());
    for game in games {
        let name = game.name();
        let Some(machine) = machine(game, &Stop::new().within(Some(limit))) else {
            println!("| {name} | not ready in time | | | | |");
            continue;
        };
        let auto = answer(&machine, Method::auto(), limit);
        if auto.as_ref().is_some_and(|(took, _)| *took < TRIVIAL) {
            continue;
        }
        let mut best: Option<(Duration, Method)> = None;
        for method in Method::all().filter(|&method| method != Method::auto()) {
            let limit = best.map_or(limit, |(took, _)| took.max(TRIVIAL / 2));
            if let Some((took, _)) = answer(&machine, method, limit)
                && best.is_none_or(|(best, _)| took < best)
            {
                best = Some((took, method));
            }
        }
        let seconds = |time: Duration| format!("{:.2}", time.as_secs_f64());
        let fastest = best.map_or("none".to_owned(), |(_, method)| method.to_string());
        let least = best.map_or(String::new(), |(took, _)| seconds(took));
        let mut factor = None;
        match (best, &auto) {
            (None, None) => open.push(name.clone()),
            (Some(_), None) => missed.push(name.clone()),
            // A shorter time cannot be measured.
            (Some((took, _)), Some((of_auto, _))) => {
                let least = took.max(Duration::from_millis(10));
                factor = Some(of_auto.as_secs_f64() / least.as_secs_f64());
            }
            (None, Some(_)) => {}
        }
        factors.extend(factor);
        let times = factor.map_or(String::new(), |factor| format!("{factor:.1}"));
        let (took, why) = match auto {
            Some((took, why)) => (seconds(took), why),
            None => (String::new(), "none".to_owned()),
        };
        println!("| {name} | {fastest} | {least} | {took} | {times} | {why} |");
    }
    factors.sort_by(f64::total_cmp);
    let of = |place: usize| {
        factors
            .get(place)
            .map_or(String::new(), |f| format!("{f:.1}"))
    };
    println!(
        "\n{} games compared: median {}, most {}",
        factors.len(),
        of(factors.len() / 2),
        of(factors.len().saturating_sub(1))
    );
    println!("settled by a method and not by auto: {}", missed.join(", "));
    println!("not settled: {}", open.join(", "));
}

/// The CPU time until a method has a plan or a proof, and its reason; `None` if it has none
/// within the limit.
fn answer(machine: &AnyMachine, method: Method, limit: Duration) -> Option<(Duration, String)> {
    let mut options = SolveOptions::default();
    options.method = method;
    options.budget.time = Some(limit);
    // The plan is not played again, which may take longer than to find it.
    options.checker = Checker::Nobody;
    let began = cpu_time();
    let answer = solve(machine, &options, &mut Stats::default(), &mut ()).ok()?;
    let took = cpu_time().saturating_sub(began);
    let is_settled = matches!(answer.verdict, Verdict::Solved { .. } | Verdict::Unsolvable);
    is_settled.then_some((took, answer.chosen))
}

/// The CPU time of this process so far, in hundredths of a second; where the system does not
/// tell, the time on the clock.
fn cpu_time() -> Duration {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let began = BEGAN.get_or_init(Instant::now);
    let ticks = || -> Option<u64> {
        let line = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in parentheses, may contain spaces.
        let fields: Vec<&str> = line.rsplit(')').next()?.split_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(number(11)? + number(12)?)
    };
    ticks().map_or_else(
        || began.elapsed(),
        |ticks| Duration::from_millis(10 * ticks),
    )
}

fn line(one: &Stopped) -> String {
    let ms = one.took.as_secs_f64() * 1e3;
    format!(
        "{ms:9.1} ms  {}, {}, after {} ms",
        one.game, one.method, one.delay
    )
}

/// The stop that took longest among those after all delays; `None` if the work ends before
/// the first delay.
fn longest<W: FnOnce() + Send + 'static>(
    game: &str,
    method: &str,
    delays: &[u64],
    mut work: impl FnMut(Stop) -> W,
) -> Option<Stopped> {
    let mut longest: Option<Stopped> = None;
    for &delay in delays {
        let mut shortest: Option<Duration> = None;
        for _ in 0..TRIES {
            let took = stopped(Duration::from_millis(delay), &mut work);
            shortest = [shortest, took].into_iter().flatten().min();
            if took.is_none_or(|took| took < LONG) {
                break;
            }
        }
        let Some(took) = shortest else { break };
        if longest.as_ref().is_none_or(|longest| took > longest.took) {
            longest = Some(Stopped {
                took,
                game: game.to_owned(),
                method: method.to_owned(),
                delay,
            });
        }
    }
    longest
}

/// Starts work in a thread and stops it after a delay: the time until it returns, or `None`
/// if it was done before.
fn stopped<W: FnOnce() + Send + 'static>(
    delay: Duration,
    work: &mut impl FnMut(Stop) -> W,
) -> Option<Duration> {
    let stop = Stop::new();
    let work = work(stop.clone());
    let (done, ended) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        let _ = done.send(Instant::now());
    });
    if ended.recv_timeout(delay).is_ok() {
        worker.join().expect("a method does not panic");
        return None;
    }
    let raised = Instant::now();
    stop.raise();
    match ended.recv_timeout(MOST) {
        Ok(end) => {
            worker.join().expect("a method does not panic");
            Some(end.saturating_duration_since(raised))
        }
        // The thread ends with the process.
        Err(_) => Some(MOST),
    }
}

/// The machine on the network, or on Datalog where there is none, in its first state.
fn machine(game: &Game, stop: &Stop) -> Option<AnyMachine> {
    let limits = Limits {
        stop: stop.clone(),
        ground: GroundLimits {
            stop: stop.clone(),
            ..GroundLimits::default()
        },
        ..Limits::default()
    };
    let (mut machine, _) = AnyMachine::auto(game, limits).ok()?;
    machine.initial().ok()?;
    Some(machine)
}

/// The game in a file, if it has one role.
fn game(path: &Path) -> Option<Game> {
    let name = path.file_stem()?.to_str()?;
    let text = std::fs::read_to_string(path).ok()?;
    let game = Game::from_text(name, &text).ok()?;
    let role = game.roles().next()?;
    (game.role_count() == 1 && !game.is_random(role)).then_some(game)
}

/// A file itself, or the rule files of a folder.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(folder) = std::fs::read_dir(path) else {
        return vec![path.to_owned()];
    };
    let paths = folder.filter_map(|entry| Some(entry.ok()?.path()));
    let is_rules = |path: &PathBuf| path.extension().is_some_and(|end| end == "kif");
    let mut files: Vec<PathBuf> = paths.filter(is_rules).collect();
    files.sort();
    files
}
