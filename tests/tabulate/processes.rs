//! The values of all positions do not depend on threads, memory and processes.

use std::time::{Duration, Instant};

use super::{COINS, ENDLESS, code, game, json};
use crate::common::{ggp, in_processes, sized};
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Game;
use ggp_solver::planning::breadth_first::Processes;
use ggp_solver::table::{TabulateLimits, tabulate};
use ggp_stop::Stop;

#[test]
fn values_do_not_depend_on_threads_memory_and_processes() {
    let mut made = 0;
    for name in [
        "nim",
        "tic_tac_toe",
        "goofspiel",
        "three_player_race",
        "hanoi",
        ENDLESS,
        COINS,
    ]
    .iter()
    .chain(sized(&[][..], &["passing_place", "eight_puzzle"]))
    {
        let name = *name;
        let text = match name.starts_with('(') {
            true => name.to_owned(),
            false => std::fs::read_to_string(game(name)).unwrap(),
        };
        let rules = Game::from_text(name, &text).unwrap();
        let (net, _) = Propnet::ground(&rules, &GroundLimits::default()).unwrap();
        let file = |memory_bytes: u64, threads: usize, processes: Option<Processes>| {
            let limits = TabulateLimits {
                positions: u64::MAX,
                memory_bytes,
                threads,
                processes,
                stop: Stop::new(),
            };
            let mut found = tabulate(&net, &limits, &mut |_| {}).ok()?;
            let mut bytes = Vec::new();
            found.write(&net, &mut bytes).unwrap();
            Some(bytes)
        };
        let first = file(1 << 30, 1, None).unwrap();
        assert!(file(1 << 30, 3, None).as_ref() == Some(&first), "{name}");
        // What repeats takes long there, and connecting takes a while.
        let counts = match name {
            "nim" | "goofspiel" | ENDLESS | COINS => 2..4,
            _ => 0..0,
        };
        for count in counts {
            let files = std::thread::scope(|scope| {
                let all = in_processes(count).into_iter().enumerate();
                let all = all.map(|(index, own)| {
                    scope.spawn(move || file(1 << 30, index % 2 + 1, Some(own)).unwrap())
                });
                let all: Vec<_> = all.collect();
                all.into_iter()
                    .map(|one| one.join().unwrap())
                    .collect::<Vec<_>>()
            });
            assert!(files[0] == first, "{name} in {count} processes");
            assert!(files[1..].iter().all(Vec::is_empty));
        }
        // With little memory, joint moves are found again and again. The least one is looked for.
        let (most, step) = match name {
            "eight_puzzle" => (16 << 20, 0.75_f64),
            _ => (1 << 20, 0.85),
        };
        let steps = (0..60).map(|number| (f64::from(most) * step.powi(number)) as u64);
        let found = steps.map_while(|memory| file(memory, 2, None));
        let found: Vec<bool> = found.map(|bytes| bytes == first).collect();
        assert!(
            found.len() > 1 && found.iter().all(|is_same| *is_same),
            "{name}: {found:?}"
        );
        made += found.len();
    }
    assert!(made > 25, "{made}");
}

#[test]
fn processes_of_the_command_make_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let [alone, file] = ["alone.table", "file.table"].map(|name| folder.path().join(name));
    let [alone, file] = [&alone, &file].map(|path| path.to_str().unwrap());
    let rules = game("kalah");
    let arguments = ["tabulate", &rules, "--json", "-o"];
    let tiny = game("tic_tac_toe");
    let small = ["tabulate", &tiny, "--json", "-o"];
    let made = json(&[&small[..], &[alone]].concat());
    let shared = json(&[&small[..], &[file, "--processes", "3"]].concat());
    for key in ["positions", "joint_moves", "first", "distance", "bytes"] {
        assert_eq!(made[key], shared[key]);
    }
    let expected = std::fs::read(alone).unwrap();
    assert!(std::fs::read(file).unwrap() == expected);
    // What one of them finds, or a limit, is said once, and the old file stays.
    for (more, says) in [
        (["--budget-memory", "40"], "--budget-memory"),
        (["--budget-nodes", "9000"], "--budget-nodes"),
        (["--budget-time", "0.5"], "--budget-time"),
    ] {
        let processes = [file, "--processes", "2"];
        let (code, text) = code(&ggp(&[&arguments[..], &processes, &more].concat()));
        assert_eq!(code, 2, "{text}");
        assert_eq!(text.matches(says).count(), 1, "{text}");
        assert!(std::fs::read(file).unwrap() == expected);
    }
    let (code, text) = code(&ggp(&["tabulate", "-", "-o", file, "--processes", "2"]));
    assert!(code == 2 && text.contains("rules in files"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_lost_process_ends_the_others_and_no_file_is_written() {
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.table");
    // While they connect, find positions, and value them or write.
    for milliseconds in [20, 300, 900] {
        let mut running = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args([
                "tabulate",
                &game("connect_four_small"),
                "--processes",
                "3",
                "-o",
            ])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let id = running.id();
        let members = || {
            let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
            let children = children.unwrap_or_default();
            children
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let patience = Instant::now() + Duration::from_secs(20);
        while members().len() < 3 && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        let killed = members();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let kill = Command::new("kill").args(["-9", &killed[1]]).status();
        assert!(kill.unwrap().success());
        let mut text = String::new();
        std::io::Read::read_to_string(running.stderr.as_mut().unwrap(), &mut text).unwrap();
        assert_eq!(running.wait().unwrap().code(), Some(2), "{text}");
        assert!(text.contains("process 1 is lost"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
