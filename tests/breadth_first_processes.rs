//! Breadth-first search level by level in processes that are killed, interrupted,
//! or short of memory.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A path of its own under the build folder, where nothing is.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("processes-{name}"));
    let _ = fs::remove_dir_all(&path);
    let _ = fs::remove_file(&path);
    path
}

fn ggp(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--json", "solve", "--method", "breadth-first-packed"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built")
}

/// What a search printed: the verdict, the length of its plan, counts by level.
fn told(child: Child) -> (Value, Value, Vec<Value>) {
    let output = child.wait_with_output().unwrap();
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let levels = value["statistics"]["levels"].as_array_mut().unwrap();
    let levels = levels.iter_mut().map(|level| {
        level.as_object_mut().unwrap().remove("seconds");
        level.take()
    });
    let levels = levels.collect();
    (value["verdict"].take(), value["length"].take(), levels)
}

#[test]
fn who_is_killed_goes_on_where_the_last_checkpoint_was() {
    let file = scratch("killed");
    let path = file.to_str().unwrap();
    let search = ["games/senku.kif", "--whole", "--depth", "11"];
    let expected = told(ggp(&search));
    let often = ["--checkpoint", path, "--checkpoint-every", "0.02"];
    let mut killed = ggp(&[&search[..], &often].concat());
    while !file.exists() && killed.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    killed.kill().unwrap();
    let output = killed.wait_with_output().unwrap();
    assert!(output.stdout.is_empty(), "it was killed midway");
    // Without --resume, the checkpoint is kept.
    let before = fs::read(&file).unwrap();
    let another = ggp(&[&search[..], &often].concat()).wait_with_output();
    assert_eq!(another.unwrap().status.code(), Some(2));
    assert_eq!(fs::read(&file).unwrap(), before);
    let resumed = ggp(&[&search[..], &["--resume", path, "--threads", "2"]].concat());
    assert_eq!(told(resumed), expected);
}

/// The processes that a search has started, as far as they run.
#[cfg(target_os = "linux")]
fn members(search: &Child) -> Vec<u32> {
    let id = search.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    children
        .split_whitespace()
        .map(|id| id.parse().unwrap())
        .collect()
}

#[cfg(target_os = "linux")]
fn signal(id: u32, name: &str) {
    let id = id.to_string();
    // It may have ended by itself.
    let _ = Command::new("kill")
        .args([name, &id])
        .stderr(Stdio::null())
        .status();
}

#[cfg(target_os = "linux")]
#[test]
fn processes_that_are_killed_change_nothing() {
    let search = [
        "games/senku.kif",
        "--whole",
        "--symmetry",
        "on",
        "--depth",
        "12",
    ];
    let expected = told(ggp(&search));
    let mut killed = 0;
    // While they connect, while they search, while files are written, and with little memory, so that
    // levels are in files.
    for (kills, (processes, awaited, memory, seconds)) in [
        ("2", "", "4096", "0"),
        ("3", "manifest", "4096", "0"),
        ("2", "manifest.new", "4096", "0"),
        ("2", "states-1-1.new", "4096", "0"),
        ("4", "states-3-2", "4096", "0"),
        ("2", "states-1-4", "2", "0.1"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = scratch(&format!("members-{kills}"));
        let levels = scratch(&format!("levels-{kills}"));
        let path = folder.to_str().unwrap();
        let flags = ["--processes", processes, "--checkpoint", path];
        let often = ["--checkpoint-every", seconds];
        let files = [
            "--spill",
            levels.to_str().unwrap(),
            "--budget-memory",
            memory,
        ];
        let mut running = ggp(&[&search[..], &flags, &often, &files].concat());
        let mut left = 2;
        while left > 0 && running.try_wait().unwrap().is_none() {
            let members = members(&running);
            let is_there = awaited.is_empty() || folder.join(awaited).exists();
            if members.len() == processes.parse::<usize>().unwrap() && is_there {
                signal(members[(kills + left) % members.len()], "-KILL");
                left -= 1;
                thread::sleep(Duration::from_millis(20));
            }
        }
        assert_eq!(
            told(running),
            expected,
            "{processes} processes, {awaited:?}"
        );
        killed += 2 - left;
        let are_files = fs::read_dir(&levels).is_ok_and(|mut entries| entries.next().is_some());
        assert_eq!(are_files, memory == "2");
    }
    // A file that is there for a moment only may not be seen.
    assert!(killed > 6, "{killed}");
}

/// A file with two processes on this machine.
#[cfg(target_os = "linux")]
fn two_hosts(name: &str) -> PathBuf {
    let ports = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let lines = ports.map(|port| format!("{}\n", port.local_addr().unwrap()));
    let hosts = scratch(name);
    fs::write(&hosts, format!("# two\n{}", lines.concat())).unwrap();
    hosts
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_was_killed_comes_back() {
    let search = ["games/senku.kif", "--whole", "--symmetry", "on"];
    let search = [&search[..], &["--depth", "12"]].concat();
    let expected = told(ggp(&search));
    for lost in [1, 0] {
        let hosts = two_hosts("back-hosts");
        let folder = scratch("back");
        let path = folder.to_str().unwrap();
        let often = ["--checkpoint", path, "--checkpoint-every", "0"];
        let start = |process: usize, more: &[&str]| {
            let number = process.to_string();
            let flags = ["--hosts", hosts.to_str().unwrap(), "--process", &number];
            ggp(&[&search[..], &flags, &often, more].concat())
        };
        let mut commands = [start(0, &[]), start(1, &[])];
        while !folder.join("manifest").exists() {
            assert!(commands[0].try_wait().unwrap().is_none());
            thread::sleep(Duration::from_millis(1));
        }
        let workers = members(&commands[lost]);
        commands[lost].kill().unwrap();
        commands[lost].wait().unwrap();
        workers.iter().for_each(|&id| signal(id, "-KILL"));
        commands[lost] = start(lost, &["--resume", path]);
        let [first, second] = commands;
        assert_eq!(told(first), expected, "process {lost}");
        assert_eq!(second.wait_with_output().unwrap().status.code(), Some(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn processes_on_hosts_begin_again_after_a_kill() {
    let search = [
        "games/senku.kif",
        "--whole",
        "--symmetry",
        "on",
        "--depth",
        "12",
    ];
    let expected = told(ggp(&search));
    let hosts = two_hosts("hosts");
    let folders = ["hosts-0", "hosts-1"].map(scratch);
    let start = |process: usize| {
        let number = process.to_string();
        let folder = folders[process].to_str().unwrap();
        let flags = ["--hosts", hosts.to_str().unwrap(), "--process", &number];
        ggp(&[&search[..], &flags, &["--checkpoint", folder]].concat())
    };
    let commands = [start(0), start(1)];
    while members(&commands[1]).is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    // They have no checkpoint yet, and each has a folder of its own.
    thread::sleep(Duration::from_millis(100));
    members(&commands[1])
        .iter()
        .for_each(|&id| signal(id, "-KILL"));
    let [first, second] = commands;
    assert_eq!(told(first), expected);
    let second = second.wait_with_output().unwrap();
    assert_eq!(
        (second.status.code(), &second.stdout[..]),
        (Some(1), &b""[..])
    );
}

#[test]
fn a_checkpoint_of_several_processes_is_kept() {
    let folder = scratch("kept");
    let path = folder.to_str().unwrap();
    let run = |game: &str, flags: &[&str]| {
        let first = ["solve", game, "--method", "breadth-first-packed", "--whole"];
        let output = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(first)
            .args(flags)
            .output()
            .expect("the program was built");
        let text = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (eight, hanoi) = ("games/eight_puzzle.kif", "games/hanoi.kif");
    let two = ["--processes", "2"];
    let ended = run(
        eight,
        &[&two[..], &["--checkpoint", path, "--checkpoint-every", "0"]].concat(),
    );
    assert_eq!(ended.0, 0, "{ended:?}");
    let three = ["--processes", "3", "--resume", path];
    for (game, flags, says) in [
        (
            hanoi,
            &["--processes", "2", "--checkpoint", path][..],
            "has a checkpoint: add --resume",
        ),
        (
            hanoi,
            &["--processes", "2", "--resume", path],
            "a checkpoint of another search: the rules differ",
        ),
        (
            eight,
            &three,
            "was written by 2 processes, and this search has 3",
        ),
        (
            eight,
            &["--resume", path],
            "the checkpoint of several processes",
        ),
        (
            eight,
            &["--processes", "2", "--resume", "README.md"],
            "the checkpoint of one process",
        ),
        (
            eight,
            &["--processes", "2", "--resume", "games"],
            "has no checkpoint",
        ),
    ] {
        let (code, text) = run(game, flags);
        assert!(code == 2 && text.contains(says), "{flags:?}: {text}");
    }
    let (code, text) = run(eight, &[&two[..], &["--resume", path]].concat());
    assert!(
        code == 0 && text.contains("all 181440 positions were seen"),
        "{text}"
    );
    fs::remove_file(folder.join("states-1-0")).unwrap();
    let (code, text) = run(eight, &[&two[..], &["--resume", path]].concat());
    assert!(
        code == 2 && text.contains("states-1-0: the checkpoint is damaged"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_lost_process_without_checkpoint_ends_the_search() {
    let search = ["games/senku.kif", "--whole", "--processes", "2"];
    for name in ["-KILL", "-TERM"] {
        let running = ggp(&search);
        while members(&running).len() < 2 {
            thread::sleep(Duration::from_millis(1));
        }
        // By then they search.
        thread::sleep(Duration::from_secs(1));
        // A signal to the command is for all of its processes.
        let all = members(&running);
        match name {
            "-KILL" => signal(all[1], name),
            _ => signal(running.id(), name),
        }
        let output = running.wait_with_output().unwrap();
        let code = if name == "-KILL" { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{name}");
        let exists = |id: &u32| Path::new(&format!("/proc/{id}")).exists();
        assert!(!all.iter().any(exists), "{name}");
    }
    // Processes end with the command that started them.
    let mut running = ggp(&search);
    while members(&running).len() < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    let all = members(&running);
    running.kill().unwrap();
    running.wait().unwrap();
    let goes_on = |id: &u32| {
        let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let began = Instant::now();
    while all.iter().any(goes_on) {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "a process goes on"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_a_killed_search_left_is_deleted_by_the_next() {
    let folder = scratch("left");
    let path = folder.to_str().unwrap();
    let search = [
        "games/senku.kif",
        "--whole",
        "--budget-memory",
        "1",
        "--spill",
        path,
    ];
    let entries = || fs::read_dir(&folder).map_or(0, Iterator::count);
    let mut killed = ggp(&search);
    while entries() < 2 && killed.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(entries(), 2, "its folder and its lock");
    // One that goes on is left alone.
    fs::create_dir(folder.join("ggp-1-0")).unwrap();
    let living = fs::File::create(folder.join("ggp-1-0.lock")).unwrap();
    living.lock().unwrap();
    let shallow = ["--depth", "9"];
    let (verdict, ..) = told(ggp(&[&search[..], &shallow].concat()));
    assert_eq!(verdict, "no_solution_within");
    let names: BTreeSet<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["ggp-1-0", "ggp-1-0.lock"].map(Into::into).into());
}

#[cfg(unix)]
#[test]
fn who_is_interrupted_says_so_and_goes_on() {
    let file = scratch("interrupted");
    let path = file.to_str().unwrap();
    let search = ["games/senku.kif", "--whole", "--depth", "11"];
    let often = ["--checkpoint", path, "--checkpoint-every", "0.02"];
    let mut child = ggp(&[&search[..], &often].concat());
    while !file.exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let number = child.id().to_string();
    let signal = Command::new("kill").args(["-INT", &number]).status();
    assert!(signal.unwrap().success());
    let (verdict, _, levels) = told(child);
    assert_eq!(verdict, "out_of_budget");
    let expected = told(ggp(&search));
    assert!(levels.len() > 2 && levels != expected.2);
    let resumed = ggp(&[&search[..], &["--resume", path]].concat());
    assert_eq!(told(resumed), expected);
}

#[test]
fn flags_of_levels_are_for_levels() {
    for flags in [
        &["--method", "depth-first-packed", "--whole"][..],
        &[
            "--method",
            "breadth-first-packed",
            "--checkpoint-every",
            "9",
        ],
        &["--method", "breadth-first-packed", "--budget-disk", "9"],
        &["--symmetry", "on"],
        &["--resume", "here"],
        &[
            "--method",
            "breadth-first-packed",
            "--suite",
            "--checkpoint",
            "there",
        ],
        &["--processes", "2"],
        &["--method", "breadth-first-packed", "--processes", "0"],
        &["--method", "breadth-first-packed", "--processes", "129"],
        &["--method", "breadth-first-packed", "--process", "1"],
        &["--method", "breadth-first-packed", "--hosts", "games"],
        &[
            "--method",
            "breadth-first-packed",
            "--hosts",
            "missing",
            "--process",
            "0",
        ],
        &[
            "--method",
            "breadth-first-packed",
            "--hosts",
            "README.md",
            "--process",
            "0",
        ],
        &[
            "--method",
            "breadth-first-packed",
            "--processes",
            "2",
            "--goal",
            "best",
        ],
        &[
            "--method",
            "breadth-first-packed",
            "--processes",
            "2",
            "--suite",
        ],
        &[
            "--method",
            "breadth-first-packed",
            "--processes",
            "2",
            "--checkpoint",
            "README.md",
        ],
        &[
            "--method",
            "breadth-first-packed",
            "--processes",
            "2",
            "--resume",
            "missing",
        ],
        &["--method", "breadth-first-packed", "--processes", "2", "-"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args(["solve", "games/hanoi.kif"])
            .args(flags)
            .output()
            .expect("the program was built");
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(output.stdout.is_empty(), "{flags:?}");
    }
}

/// The most memory that a process had resident, in KiB.
#[cfg(target_os = "linux")]
fn peak(mut child: Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(number.unwrap_or(0));
        thread::sleep(Duration::from_millis(1));
    }
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_keeps_to_its_memory() {
    let folder = scratch("memory");
    let spill = folder.to_str().unwrap();
    // On a loaded machine the end of such a short process may be missed.
    let short = || peak(ggp(&["games/senku.kif", "--depth", "1"]));
    let little = (0..5).map(|_| short()).max().expect("there are five");
    let (memory, depth) = crate::common::sized((24, "11"), (48, "12"));
    let budget = memory.to_string();
    for threads in ["1", "2"] {
        let search = [
            "games/senku.kif",
            "--threads",
            threads,
            "--budget-memory",
            &budget,
        ];
        let full = peak(ggp(&search));
        // It ends because the memory is full.
        let most = memory * 1_024;
        assert!(full > most * 3 / 4, "{full} KiB, {threads} threads");
        assert!(
            full < little + most * 11 / 10,
            "{full} KiB, {threads} threads"
        );
        let files = ["--spill", spill, "--whole", "--depth", depth];
        let spilled = peak(ggp(&[&search[..], &files].concat()));
        assert!(
            spilled < little + most * 11 / 10,
            "{spilled} KiB, {threads} threads"
        );
    }
}

#[test]
fn what_ran_out_is_said() {
    let folder = scratch("ran-out");
    let little = ["games/senku.kif", "--budget-memory", "1"];
    let files = ["--budget-disk", "0", "--spill", folder.to_str().unwrap()];
    for (flags, expected) in [(&[][..], "memory"), (&files, "disk")] {
        let output = ggp(&[&little, flags].concat()).wait_with_output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["ran_out"], expected);
        assert_eq!(output.status.code(), Some(1));
    }
    assert!(!folder.exists(), "the search has made it");
}
