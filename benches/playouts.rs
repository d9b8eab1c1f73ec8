//! Random playouts a second, on each rule file given or on those of
//! `games/` and `../shared/conformance/games`.
//!
//! ```text
//! cargo bench --bench playouts -- [--seconds S] [--backend naive] [FILE or NAME ...]
//! ```
//!
//! One thread; a state change is one joint move. Time is CPU time of the
//! process where the system tells it. Where `../shared/design/peers.csv` has
//! the game, the ratio to the fastest prover there stands beside it. Before a
//! game is timed, a few states are compared with the naive evaluator's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ggp::game::Game;
use ggp::machine::{AnyMachine, Backend, Limits, Machine};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() {
    let mut seconds = 1.0;
    let mut backend = Backend::Datalog;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--seconds" => {
                let value = arguments.next().and_then(|v| v.parse().ok());
                seconds = value.expect("--seconds takes a number");
            }
            "--backend" => {
                backend = match arguments.next().as_deref() {
                    Some("naive") => Backend::Naive,
                    _ => Backend::Datalog,
                };
            }
            name => wanted.push(name.to_owned()),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let peers = peers(&root.join("../shared/design/peers.csv"));
    let mut files = files(&root.join("games"));
    files.extend(self::files(&root.join("../shared/conformance/games")));
    println!(
        "{:34} {:>9} {:>8} {:>12} {:>12} {:>8}",
        "game", "start ms", "playouts", "changes/s", "provers", "ratio"
    );
    let mut ratios = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        // Our own games are other rules, also where a name is the same.
        let is_ours = file.starts_with(root.join("games"));
        let peer = peers.get(&name).copied().filter(|_| !is_ours);
        let chosen = match wanted.is_empty() {
            true => peer.is_some() || is_ours,
            false => wanted.iter().any(|w| *w == name || Path::new(w) == file),
        };
        if !chosen {
            continue;
        }
        let text = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text);
        let Ok(game) = Game::from_text(&file.to_string_lossy(), &text) else {
            continue;
        };
        let start = cpu_time();
        let mut machine = AnyMachine::new(&game, backend, Limits::default()).unwrap();
        let start = cpu_time() - start;
        if backend != Backend::Naive {
            assert_agreement(&game, &mut machine);
        }
        let (playouts, changes, time) = run(&mut machine, Duration::from_secs_f64(seconds));
        let rate = changes as f64 / time.as_secs_f64();
        let (peer, ratio) = match peer {
            Some(peer) => {
                ratios.push((rate / peer, name.clone()));
                (format!("{peer:.0}"), format!("{:.2}", rate / peer))
            }
            None => Default::default(),
        };
        println!(
            "{name:34} {:>9.1} {playouts:>8} {rate:>12.0} {peer:>12} {ratio:>8}",
            start.as_secs_f64() * 1e3
        );
    }
    if !ratios.is_empty() {
        let mean = ratios.iter().map(|(r, _)| r.ln()).sum::<f64>() / ratios.len() as f64;
        let least = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        println!(
            "geometric mean {:.2} over {} games, least {:.2} ({})",
            mean.exp(),
            ratios.len(),
            least.0,
            least.1
        );
    }
}

/// Plays until the time is over; playouts, joint moves, CPU time.
fn run(machine: &mut AnyMachine, time: Duration) -> (u64, u64, Duration) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let roles: Vec<_> = machine.game().roles().collect();
    let initial = machine.initial().unwrap();
    let (mut playouts, mut changes) = (0, 0);
    let mut legal = Vec::new();
    let mut joint = Vec::new();
    let wall = Instant::now();
    let start = cpu_time();
    'playouts: loop {
        let mut state = initial.clone();
        while !machine.is_terminal(&state).unwrap() {
            joint.clear();
            for role in &roles {
                machine.legal(&state, *role, &mut legal).unwrap();
                joint.push(legal[random.random_range(0..legal.len())]);
            }
            state = machine.next(&state, &joint).unwrap();
            changes += 1;
            if changes % 64 == 0 && wall.elapsed() >= time {
                break 'playouts;
            }
        }
        for role in &roles {
            let _ = machine.goal(&state, *role);
        }
        playouts += 1;
        if changes == 0 {
            // Rules without an instance end at once.
            break;
        }
    }
    (playouts, changes, cpu_time() - start)
}

/// Plays a little on both evaluators, as far as the naive one comes.
fn assert_agreement(game: &Game, machine: &mut AnyMachine) {
    let limits = Limits {
        work: 1_000_000,
        ..Limits::default()
    };
    let mut oracle = AnyMachine::new(game, Backend::Naive, limits).unwrap();
    let mut state = machine.initial().unwrap();
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let Ok(terminal) = oracle.is_terminal(&state) else {
            return;
        };
        assert_eq!(machine.is_terminal(&state), Ok(terminal), "{}", game.name());
        if terminal {
            return;
        }
        let mut joint = Vec::new();
        for role in game.roles() {
            if oracle.legal(&state, role, &mut expected).is_err() {
                return;
            }
            machine.legal(&state, role, &mut found).unwrap();
            assert_eq!(found, expected, "{}", game.name());
            joint.push(found[found.len() / 2]);
        }
        let Ok(next) = oracle.next(&state, &joint) else {
            return;
        };
        state = machine.next(&state, &joint).unwrap();
        assert_eq!(state, next, "{}", game.name());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "kif"))
        .collect();
    files.sort();
    files
}

/// The fastest prover of each game.
fn peers(file: &Path) -> BTreeMap<String, f64> {
    let mut best = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
        let fields: Vec<&str> = line.split(',').collect();
        if let [game, engine, rate] = fields[..]
            && engine.starts_with("prover")
            && let Ok(rate) = rate.parse::<f64>()
        {
            let known = best.entry(game.to_owned()).or_insert(rate);
            *known = known.max(rate);
        }
    }
    best
}

/// CPU time of this process so far; wall time where it cannot be told.
fn cpu_time() -> Duration {
    // Fields 14 and 15 of the line are user and system time in ticks of 10 ms,
    // too coarse for starts; the scheduler's own count is in nanoseconds.
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|n| n.parse().ok());
    match nanos {
        Some(nanos) => Duration::from_nanos(nanos),
        None => {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            START.get_or_init(Instant::now).elapsed()
        }
    }
}
