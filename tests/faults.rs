//! Disks that are full and processes that are killed, at every byte and every call of the
//! writing.
//!
//! A limit on the size of files stands for a full disk: what crosses it fails, or kills the
//! process, as it does unless the signal is ignored. Calls that fail are those that `strace`
//! lets fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::cli::workplace::{LIGHTS, Workplace};
use crate::common::sized;

/// The end of a process that writes more than it may.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Fault {
    /// It gets an error.
    Full,
    /// It is killed.
    Killed,
}

const FAULTS: [Fault; 2] = [Fault::Full, Fault::Killed];

/// The signal for a file that is too large.
const TOO_LARGE: i32 = 25;

/// Runs the command with files of at most this size.
fn limited(place: &Workplace, fault: Fault, bytes: u64, line: &[&str]) -> Output {
    let ignore = match fault {
        Fault::Full => "trap '' 25;",
        Fault::Killed => "",
    };
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -c 0; {ignore} exec prlimit --fsize={bytes}:{bytes} \"$@\""
        ))
        .args(["sh", env!("CARGO_BIN_EXE_ggp")])
        .args(line)
        .current_dir(place.folder())
        .stdin(Stdio::null())
        .output()
        .expect("there are a shell, and prlimit of util-linux")
}

/// Runs the command without limits; it must succeed.
fn whole(place: &Workplace, line: &[&str]) -> String {
    let found = place.run_with("", line, "");
    assert_eq!(found.code, Some(0), "{line:?}\n{found:#?}");
    found.out
}

/// The limits that are tried for a file of this size: about this number of them.
fn limits(size: u64, number: u64) -> Vec<u64> {
    let step = size.div_ceil(number).max(1);
    let steps = (0..size).step_by(step as usize);
    steps.chain(size.checked_sub(1)).collect()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect()
}

/// A file that a command writes as a whole.
struct Case {
    line: Vec<&'static str>,
    file: &'static str,
}

/// Commands that write a file as a whole, and what they need.
fn cases() -> (Workplace, Vec<Case>) {
    let place = Workplace::new();
    whole(
        &place,
        &["engine", "perft", "matches.kif", "4", "--csv", "table.csv"],
    );
    let cup = "tournament --games matches.kif --player random --player first";
    let lines = [
        ("fmt lights.kif", "lights.kif"),
        ("rules rename lights.kif light lamp", "lights.kif"),
        ("rules convert lights.kif -o out.hrf", "out.hrf"),
        ("rules scramble lights.kif -o out.kif", "out.kif"),
        ("rules scramble lights.kif --map out.json", "out.json"),
        ("draw lights.kif -o out.svg", "out.svg"),
        ("draw lights.kif -o out.txt", "out.txt"),
        ("graph lights.kif -o out.dot", "out.dot"),
        ("engine perft matches.kif 4 --csv out.csv", "out.csv"),
        ("solve lights.kif --answer out.json", "out.json"),
        (
            "solve lights.kif --stats json --stats-file out.json",
            "out.json",
        ),
        ("solve lights.kif --animate out.svg", "out.svg"),
        ("man --dir pages", "pages/ggp.1"),
    ];
    let mut cases: Vec<Case> = (lines.into_iter())
        .map(|(line, file)| Case {
            line: line.split(' ').collect(),
            file,
        })
        .collect();
    cases.push(Case {
        line: vec!["why", "lights.kif", "(light 1)", "-o", "out.html"],
        file: "out.html",
    });
    for (option, file) in [("--csv", "out.csv"), ("--plot", "out.svg")] {
        cases.push(Case {
            line: cup.split(' ').chain([option, file]).collect(),
            file,
        });
    }
    (place, cases)
}

/// The content of the file before the command: rules that it rewrites, or something else.
fn before(case: &Case) -> &'static str {
    match case.file {
        "lights.kif" => LIGHTS,
        _ => "something old\n",
    }
}

#[test]
fn a_file_is_replaced_as_a_whole_or_stays() {
    let (place, cases) = cases();
    fs::create_dir(place.folder().join("pages")).unwrap();
    for case in &cases {
        let path = place.folder().join(case.file);
        let folder = path.parent().unwrap();
        let old = before(case);
        fs::write(&path, old).unwrap();
        whole(&place, &case.line);
        let size = fs::metadata(&path).unwrap().len();
        for (fault, bytes) in FAULTS.into_iter().flat_map(|fault| {
            let limits = limits(size, sized(3, 300)).into_iter();
            limits.map(move |bytes| (fault, bytes))
        }) {
            fs::write(&path, old).unwrap();
            let known = names(folder);
            let output = limited(&place, fault, bytes, &case.line);
            let about = format!("{:?} {fault:?} {bytes}: {output:?}", case.line);
            let err = String::from_utf8_lossy(&output.stderr);
            let now = fs::read_to_string(&path).unwrap();
            let left: Vec<String> = names(folder).difference(&known).cloned().collect();
            match (fault, output.status.code()) {
                // The time that it took can be written with fewer digits.
                (_, Some(0)) => assert!(bytes > 0 && now != old, "{about}"),
                (Fault::Full, code) => {
                    assert_eq!(code, Some(2), "{about}");
                    // Of several files, the first that cannot be written is named.
                    let file = match case.line[0] {
                        "man" => "pages/ggp",
                        _ => case.file,
                    };
                    let is_told = err.contains("cannot write ") && err.contains(file);
                    assert!(is_told, "{about}");
                    assert!(left.is_empty(), "{about}");
                    assert_eq!(now, old, "{about}");
                }
                (Fault::Killed, _) => {
                    assert_eq!(output.status.signal(), Some(TOO_LARGE), "{about}");
                    assert!(now == old, "{about}\n{now}");
                    // The part that was written has a name of its own.
                    assert!(left.len() <= 1, "{about} {left:?}");
                    for part in left {
                        assert!(part.ends_with(".part"), "{about} {part}");
                        fs::remove_file(folder.join(part)).unwrap();
                    }
                }
            }
        }
        fs::write(&path, old).unwrap();
        whole(&place, &case.line);
        assert_ne!(fs::read_to_string(&path).unwrap(), old, "{:?}", case.line);
        fs::write(place.folder().join("lights.kif"), LIGHTS).unwrap();
    }
}

#[test]
#[ignore = "needs strace"]
fn strace_lets_a_call_of_the_writing_fail_and_the_file_stays() {
    let traced = |place: &Workplace, calls: &str, line: &[&str]| {
        Command::new("strace")
            .args(["-f", "-o", "/dev/null"])
            .arg(format!("--inject={calls}:error=ENOSPC"))
            .arg(env!("CARGO_BIN_EXE_ggp"))
            .args(line)
            .current_dir(place.folder())
            .output()
            .expect("strace is installed")
    };
    let (place, cases) = cases();
    let calls = [
        "fsync,fdatasync",
        "rename,renameat,renameat2",
        "ftruncate,chmod,fchmod,fchmodat",
    ];
    for case in cases.iter().take(sized(4, cases.len())) {
        let path = place.folder().join(case.file);
        for calls in calls {
            let _ = fs::create_dir(path.parent().unwrap());
            fs::write(&path, before(case)).unwrap();
            let known = names(path.parent().unwrap());
            let output = traced(&place, calls, &case.line);
            let about = format!("{:?} {calls}: {output:?}", case.line);
            assert_eq!(output.status.code(), Some(2), "{about}");
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(err.contains("cannot write "), "{about}");
            assert_eq!(fs::read_to_string(&path).unwrap(), before(case), "{about}");
            assert_eq!(names(path.parent().unwrap()), known, "{about}");
        }
        fs::write(place.folder().join("lights.kif"), LIGHTS).unwrap();
    }
}

/// Eight lights, of which the first is on.
fn eight_lights() -> String {
    let others: String = (3..=8).map(|light| format!("(light {light})")).collect();
    let on: String = (3..=8)
        .map(|light| format!("(true (on {light}))"))
        .collect();
    LIGHTS
        .replace("(light 2)", &format!("(light 2) {others}"))
        .replace("(true (on 2)))", &format!("(true (on 2)) {on})"))
}

#[test]
fn a_search_goes_on_without_its_checkpoint_and_from_any_that_is_left() {
    let place = Workplace::new();
    place.write("eight.kif", eight_lights());
    let search = [
        "solve",
        "eight.kif",
        "--method",
        "breadth-first-packed",
        "--whole",
    ];
    let on = [&search[..], &["--resume", "save"]].concat();
    let expected = whole(&place, &search);
    let path = place.folder().join("save");
    // The search ends at a limit, with a checkpoint.
    let save = ["--checkpoint", "save", "--checkpoint-every", "1000"];
    let begun = [&search[..], &save[..], &["--budget-nodes", "50"]].concat();
    assert_eq!(place.run_with("", &begun, "").code, Some(1));
    let old = fs::read(&path).unwrap();
    assert_eq!(whole(&place, &on), expected);
    let further = [&on[..], &save[..], &["--budget-nodes", "100"]].concat();
    let undisturbed = place.run_with("", &further, "");
    assert_eq!(undisturbed.code, Some(1));
    let new = fs::read(&path).unwrap();
    assert_ne!(new, old);
    for bytes in limits(new.len() as u64, sized(8, 300)) {
        for fault in FAULTS {
            fs::write(&path, &old).unwrap();
            let output = limited(&place, fault, bytes, &further);
            let about = format!("{fault:?} {bytes}: {output:?}");
            if fault == Fault::Full {
                assert_eq!(output.status.code(), Some(1), "{about}");
                let out = String::from_utf8_lossy(&output.stdout);
                assert_eq!(out, undisturbed.out, "{about}");
                let err = String::from_utf8_lossy(&output.stderr);
                let told = "this does not affect the search";
                assert!(err.contains("save: ") && err.contains(told), "{about}");
                assert!(!place.folder().join("save.new").exists(), "{about}");
            } else {
                assert_eq!(output.status.signal(), Some(TOO_LARGE), "{about}");
                // A part of a checkpoint is not accepted, whatever its name.
                let part = [&search[..], &["--resume", "save.new"]].concat();
                assert_eq!(place.run_with("", &part, "").code, Some(2), "{about}");
            }
            assert!(fs::read(&path).unwrap() == old, "{about}");
        }
    }
    assert_eq!(whole(&place, &on), expected);
    // The part that was written when the process was killed is replaced.
    assert_eq!(place.run_with("", &further, "").code, Some(1));
    assert!(fs::read(&path).unwrap() != old);
    assert!(!place.folder().join("save.new").exists());
    assert_eq!(whole(&place, &on), expected);
}

/// The matches of a results file by their ids, without their times.
fn matches(path: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(path).unwrap();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line).expect(line);
        row.as_object_mut().unwrap().remove("slowest");
        let id = row["id"].as_str().unwrap().to_owned();
        assert!(found.insert(id, row).is_none(), "twice: {line}");
    }
    found
}

#[test]
fn a_tournament_loses_no_match_and_counts_none_twice() {
    let place = Workplace::new();
    let cup = "tournament --games matches.kif --player äöüß=random --player first --rounds 2 \
               --jobs 2 --results cup.jsonl";
    let cup: Vec<&str> = cup.split_whitespace().collect();
    let path = place.folder().join("cup.jsonl");
    whole(&place, &cup);
    let expected = matches(&path);
    assert_eq!(expected.len(), 4);
    let size = fs::metadata(&path).unwrap().len();
    // Each of the bytes of a name is the last once.
    let text = fs::read_to_string(&path).unwrap();
    let name = text.find('ä').unwrap() as u64;
    let limits = limits(size, sized(10, 2000)).into_iter();
    for bytes in limits.chain([name + 1, name + 2]) {
        for fault in FAULTS {
            let _ = fs::remove_file(&path);
            let output = limited(&place, fault, bytes, &cup);
            let about = format!("{fault:?} {bytes}: {output:?}");
            let finished = if output.status.code() == Some(0) {
                expected.clone()
            } else if fault == Fault::Full {
                assert_eq!(output.status.code(), Some(2), "{about}");
                let err = String::from_utf8_lossy(&output.stderr);
                assert!(err.contains("cannot write cup.jsonl"), "{about}");
                matches(&path)
            } else {
                assert_eq!(output.status.signal(), Some(TOO_LARGE), "{about}");
                BTreeMap::new()
            };
            let left = fs::read(&path).unwrap();
            let lines = left.iter().rposition(|byte| *byte == b'\n');
            let kept = left[..lines.map_or(0, |end| end + 1)].to_owned();
            whole(&place, &cup);
            let all = fs::read(&path).unwrap();
            assert!(all.starts_with(&kept), "{about}");
            assert_eq!(matches(&path), expected, "{about}");
            assert!(finished.iter().all(|(id, row)| expected[id] == *row));
        }
    }
}

#[test]
fn a_record_has_the_moves_before_the_fault() {
    let place = Workplace::new();
    let path = place.folder().join("match.json");
    let record = || -> Value { serde_json::from_slice(&fs::read(&path).unwrap()).unwrap() };
    for command in ["play", "host"] {
        let line = [
            command,
            "matches.kif",
            "--player",
            "ann=random",
            "--player",
            "bob=random",
            "--seed",
            "5",
            "--save",
            "match.json",
        ];
        let _ = fs::remove_file(&path);
        whole(&place, &line);
        let size = fs::metadata(&path).unwrap().len();
        let made = record()["moves"].as_array().unwrap().clone();
        let mut left = BTreeSet::new();
        for bytes in limits(size, sized(16, 2000)) {
            for fault in FAULTS {
                let _ = fs::remove_file(&path);
                let output = limited(&place, fault, bytes, &line);
                let about = format!("{command} {fault:?} {bytes}: {output:?}");
                match (fault, output.status.code()) {
                    // The times in the record can have fewer digits.
                    (_, Some(0)) => {}
                    (Fault::Full, code) => {
                        assert_eq!(code, Some(2), "{about}");
                        let err = String::from_utf8_lossy(&output.stderr);
                        assert!(err.contains("cannot write match.json"), "{about}");
                        let parts = names(place.folder());
                        assert!(!parts.iter().any(|name| name.ends_with("part")), "{about}");
                    }
                    (Fault::Killed, _) => {
                        assert_eq!(output.status.signal(), Some(TOO_LARGE), "{about}");
                        for name in names(place.folder()) {
                            if name.ends_with(".part") {
                                fs::remove_file(place.folder().join(name)).unwrap();
                            }
                        }
                    }
                }
                if path.exists() {
                    let moves = record()["moves"].as_array().unwrap().clone();
                    assert!(made.starts_with(&moves), "{about}");
                    whole(&place, &["replay", "match.json"]);
                    left.insert(moves.len());
                }
            }
        }
        assert!(left.len() > 1, "{command} {left:?}");
    }
}

#[test]
fn a_full_standard_output_is_reported() {
    let place = Workplace::new();
    for line in [
        "--help",
        "--version",
        "solve --help",
        "play --player list",
        "check lights.kif",
        "fmt --stdout lights.kif",
        "fmt --diff lights.kif",
        "rules rename lights.kif light lamp --stdout",
        "rules scramble lights.kif",
        "rules diff lights.kif matches.kif",
        "rules convert lights.kif",
        "info lights.kif",
        "state lights.kif",
        "draw lights.kif",
        "legal lights.kif",
        "why lights.kif terminal",
        "engine perft matches.kif 4",
        "playout matches.kif",
        "play matches.kif --player ann=random --player bob=random",
        "host matches.kif --player ann=random --player bob=random",
        "tournament --games matches.kif --player random --player first",
        "solve lights.kif",
        "prove matches.kif",
        "graph lights.kif",
        "completions bash",
        "man",
        "web --port 0",
    ] {
        for more in [&[][..], &["--json"]] {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let mut command = place.command(line);
            command.args(more).stdin(Stdio::null()).stdout(full);
            let output = command.output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{line} {more:?} {err}");
            let told = "cannot write to standard output";
            assert!(err.contains(told), "{line} {more:?} {err}");
            assert!(!err.contains("panicked"), "{line} {more:?} {err}");
        }
    }
}
