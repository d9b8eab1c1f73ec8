use std::io::Read;
use std::process::Stdio;

use super::workplace::{MATCHES, Workplace, answer};

#[test]
fn files_that_cannot_be_read_are_named() {
    let place = Workplace::new();
    place.check_failure(
        "check nowhere.kif",
        &[],
        "",
        2,
        &["cannot open nowhere.kif"],
    );
    place.check_failure("check .", &[], "", 2, &[". is a folder"]);
    place.check_failure("check", &[""], "", 2, &["the name of a file is empty"]);
    place.check_failure(
        "state matches.kif nowhere.kif",
        &[],
        "",
        2,
        &["nowhere.kif"],
    );
}

#[test]
fn failures_are_json_if_asked() {
    let place = Workplace::new();
    let found = place.run("state nowhere.kif --json");
    let failure: serde_json::Value = serde_json::from_str(&found.err).unwrap();
    assert_eq!(failure["error"], "failure");
    assert!(failure["message"].as_str().unwrap().contains("nowhere.kif"));
    let found = place.run_with("next matches.kif --json --move", &["(take 5)"], "");
    assert_eq!(
        (found.code, found.out.as_str()),
        (Some(1), ""),
        "{found:#?}"
    );
    let failure: serde_json::Value = serde_json::from_str(&found.err).unwrap();
    assert_eq!(failure["error"], "illegal_move");
    assert_eq!(
        failure["legal"],
        serde_json::json!(["(take 1)", "(take 2)"])
    );
}

#[test]
fn files_without_rules_are_refused() {
    let place = Workplace::new();
    place.write("empty.kif", "");
    let found = place.run("check empty.kif");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(found.out.contains("error["), "{found:#?}");
    place.check_failure("engine perft empty.kif 2", &[], "", 2, &["error["]);
}

#[test]
fn other_encodings_are_refused_with_one_line_by_every_command() {
    let place = Workplace::new();
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let without_mark: Vec<u8> = little(MATCHES);
    let with_mark = [&b"\xff\xfe"[..], &without_mark].concat();
    let big = MATCHES.encode_utf16().flat_map(u16::to_be_bytes);
    let big = b"\xfe\xff".iter().copied().chain(big).collect();
    let wide: Vec<u8> = MATCHES
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    let binary = (0..=255).cycle().take(5000).collect();
    let program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".repeat(9);
    for (bytes, part) in [
        (program, "is not a text file"),
        (without_mark, "is in UTF-16 or UTF-32: save it as UTF-8"),
        (with_mark, "is in UTF-16 or UTF-32: save it as UTF-8"),
        (big, "is in UTF-16 or UTF-32: save it as UTF-8"),
        (wide, "is in UTF-16 or UTF-32: save it as UTF-8"),
        (binary, "is not a text file"),
    ] {
        place.write("other.kif", bytes);
        for command in [
            "check",
            "fmt",
            "rules convert",
            "info",
            "legal",
            "draw",
            "play",
            "playout",
            "engine perft",
            "solve",
            "prove",
            "graph",
            "rules scramble",
            "why",
            "state",
            "replay",
        ] {
            let last = if command == "engine perft" {
                " 2"
            } else if command == "why" {
                " terminal"
            } else {
                ""
            };
            let found = place.run(&format!("{command} other.kif{last}"));
            assert_eq!(found.code, Some(2), "{command}: {found:#?}");
            assert_eq!(
                found.err.trim_end(),
                format!("error: other.kif {part}"),
                "{command}"
            );
            assert_eq!(found.out, "", "{command}");
        }
    }
}

#[test]
fn text_that_is_not_utf_8_is_read_as_far_as_possible() {
    let place = Workplace::new();
    let mut bytes = b"; J\xF6rg\n".to_vec();
    bytes.extend(MATCHES.as_bytes());
    place.write("latin.kif", bytes);
    let found = place.run("check latin.kif");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(
        found.err.contains("latin.kif is not UTF-8 from byte 3 on"),
        "{found:#?}"
    );
}

#[test]
fn standard_input_can_hold_rules_but_only_once() {
    let place = Workplace::new();
    let found = place.run_with("state -", &[], MATCHES);
    assert!(
        found.out.starts_with("(left 5)\n(turn ann)\n; "),
        "{found:#?}"
    );
    let once = ["can be read only once"];
    place.check_failure("state - -", &[], MATCHES, 2, &once);
    place.check_failure("state - --state -", &[], MATCHES, 2, &once);
    place.check_failure(
        "state matches.kif --state - --moves-file -",
        &[],
        "",
        2,
        &once,
    );
}

#[test]
fn limits_are_named_with_their_option() {
    let place = Workplace::new();
    place.check_failure(
        "state matches.kif --max-bytes 100",
        &[],
        "",
        2,
        &["error[K005]", "larger than 100 bytes", "--max-bytes"],
    );
    place.check_failure("state - --max-bytes 100", &[], MATCHES, 2, &["error[K005]"]);
    place.check_failure(
        "fmt matches.kif --max-bytes 100",
        &[],
        "",
        2,
        &["error[K005]"],
    );
    let found = place.json("check matches.kif --max-bytes 100", &[]);
    assert_eq!(found["findings"][0]["code"], "K005", "{found}");
    for line in [
        "check matches.kif --max-nesting 1001",
        "fmt matches.kif --max-nesting 1001",
        "check matches.kif --max-nesting 0",
        "player --max-nesting 2000",
    ] {
        place.check_failure(line, &[], "", 2, &["--max-nesting", "from 1 to 1000"]);
    }
    assert_eq!(
        place.run("state matches.kif --max-nesting 1000").code,
        Some(0)
    );
    place.check_failure(
        "state matches.kif --max-rules 5",
        &[],
        "",
        2,
        &["--max-rules"],
    );
    let found = place.run("state matches.kif --max-terms 3");
    assert_eq!(found.code, Some(2));
    assert_eq!(found.err.matches("error[G118]").count(), 1, "{}", found.err);
    assert!(found.err.contains("--max-terms"), "{}", found.err);
    place.check_failure(
        "state matches.kif --max-nesting 1",
        &[],
        "",
        2,
        &["error[K004]"],
    );
    let numbers: String = (0..40).map(|n| format!("(number {n})")).collect();
    let pairs = "(<= (legal bob (pair ?x ?y)) (number ?x) (number ?y) (true (left 5)))";
    place.write("pairs.kif", format!("{MATCHES} {numbers} {pairs}"));
    place.check_failure(
        "legal pairs.kif --max-facts 500 --backend datalog",
        &[],
        "",
        2,
        &["more than 500 facts", "pairs.kif:"],
    );
}

#[test]
fn wrong_arguments_are_bad_input() {
    let place = Workplace::new();
    for line in [
        "",
        "fly",
        "state",
        "rules",
        "engine fly",
        "state matches.kif --fly",
        "engine perft matches.kif deep",
        "engine perft matches.kif 2 --time -1",
        "play matches.kif --player ann=wizard",
        "completions tcl",
    ] {
        let found = place.run(line);
        assert_eq!(found.code, Some(2), "{line}\n{found:#?}");
        assert_eq!(found.out, "", "{line}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let place = Workplace::new();
    for (line, input) in [
        ("engine perft matches.kif 4", ""),
        ("playout matches.kif", ""),
        ("state matches.kif", ""),
        ("state matches.kif --json", ""),
        ("check matches.kif", ""),
        ("play matches.kif", "1\n1\n1\n"),
        ("man", ""),
        ("completions zsh", ""),
    ] {
        let mut command = place.command(line);
        let (reader, writer) = std::io::pipe().unwrap();
        let (questions, mut answers) = std::io::pipe().unwrap();
        command
            .stdin(questions)
            .stdout(writer)
            .stderr(Stdio::piped());
        drop(reader);
        std::io::Write::write_all(&mut answers, input.as_bytes()).unwrap();
        drop(answers);
        let child = command.spawn().unwrap();
        let found = answer(child.wait_with_output().unwrap());
        assert_eq!(found.code, Some(0), "{line}\n{found:#?}");
        assert!(!found.err.contains("error"), "{line}\n{found:#?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_a_failure() {
    let place = Workplace::new();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = place.command("state matches.kif");
    command.stdout(full).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{err}");
    assert!(err.contains("error: "), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_end_are_refused() {
    let place = Workplace::new();
    let results =
        "tournament --games matches.kif --player first --player random --results /dev/zero";
    for line in ["replay /dev/zero", "play --resume /dev/zero", results] {
        let told = "/dev/zero is not a file, and has more than 256 MB";
        place.check_failure(line, &[], "", 2, &[told]);
    }
}

#[test]
fn what_is_no_message_of_an_editor_is_told() {
    let place = Workplace::new();
    for (input, told) in [
        ("hello\r\n\r\n", "\"hello\" is not a header line"),
        (
            "Content-Length: 1000000000000\r\n\r\n{}",
            "--max-bytes allows larger files",
        ),
        (
            "Content-Length: 2\r\n\r\n[]",
            "the editor closed the connection before the end",
        ),
    ] {
        let found = place.run_with("lsp", &[], input);
        assert_eq!(found.code, Some(2), "{found:#?}");
        assert!(found.err.contains(told), "{found:#?}");
    }
}

#[test]
fn wrong_numbers_are_described_in_plain_words() {
    let place = Workplace::new();
    for (line, part) in [
        ("web --port abc", "expected a whole number"),
        ("playout matches.kif --count abc", "expected a whole number"),
        ("playout matches.kif --count -1", "must not be negative"),
        (
            "playout matches.kif --count 99999999999999999999",
            "the number is too large",
        ),
        ("solve matches.kif --budget-time abc", "expected a number"),
        // Later instants may not exist.
        (
            "engine bench matches.kif --timeout 1e19",
            "from 0 to 1000000000",
        ),
        (
            "play matches.kif --roles mcts:1e19s,first",
            "is not a number",
        ),
        ("host matches.kif --threads 0", "must be at least 1"),
    ] {
        let found = place.run(line);
        assert_eq!(found.code, Some(2), "{line}: {found:#?}");
        assert!(found.err.contains(part), "{line}: {found:#?}");
    }
}

#[test]
fn the_time_for_reading_is_a_part_of_the_budget() {
    let place = Workplace::new();
    let many: String = (0..300_000).map(|n| format!("(fact{n} {n})\n")).collect();
    place.write("many.kif", format!("{MATCHES} {many}"));
    for line in ["solve many.kif", "prove many.kif"] {
        let options = ["--budget-time", "0.001", "--max-bytes", "10000000"];
        place.check_failure(
            line,
            &options,
            "",
            2,
            &["before the rules were read", "--budget-time"],
        );
    }
}

#[test]
fn no_command_overwrites_what_it_reads() {
    const OUTPUTS: [&str; 11] = [
        "animate",
        "answer",
        "checkpoint",
        "csv",
        "efg",
        "log",
        "map",
        "output",
        "results",
        "save",
        "stats-file",
    ];
    let place = Workplace::new();
    let mut refused = 0;
    let all = ggp_cli::command();
    for (name, command) in ggp_cli::all_commands(&all) {
        let files = command.get_arguments().filter(|argument| {
            let names = argument.get_value_names().unwrap_or_default();
            names
                .iter()
                .any(|name| name.starts_with("FILE") || name.starts_with("RECORD"))
        });
        let (outputs, inputs): (Vec<_>, Vec<_>) = files.partition(|argument| {
            argument
                .get_long()
                .is_some_and(|long| OUTPUTS.contains(&long))
        });
        for output in &outputs {
            for input in &inputs {
                let is_gone_on_with = ["resume", "back"].map(Some).contains(&input.get_long());
                if is_gone_on_with {
                    continue;
                }
                place.write("both.kif", MATCHES);
                let output = output.get_long().unwrap();
                let line = match input.get_long() {
                    Some(input) => {
                        format!("{name} matches.kif --{input} both.kif --{output} ./both.kif")
                    }
                    None => format!("{name} both.kif --{output} ./both.kif"),
                };
                let found = place.run(&line);
                assert_eq!(found.code, Some(2), "{line}: {found:#?}");
                let kept = std::fs::read_to_string(place.folder().join("both.kif")).unwrap();
                assert_eq!(kept, MATCHES, "{line}");
                refused += usize::from(found.err.contains("is an input and would be overwritten"));
            }
        }
    }
    assert!(refused > 40, "{refused} were refused for that reason");
    // Nor rules that it does not read.
    place.write("other.kif", MATCHES);
    for line in [
        "solve matches.kif --answer",
        "play matches.kif --roles random,random --save",
        "graph matches.kif -o",
    ] {
        let line = format!("{line} other.kif");
        place.check_failure(&line, &[], "", 2, &["other.kif is a name for rules"]);
    }
    let after = std::fs::read_to_string(place.folder().join("other.kif")).unwrap();
    assert_eq!(after, MATCHES);
    // What is no text of rules is not laid out.
    let program =
        "import sys\nfor line in sys.stdin:\n    print(line, end='')\nfor a, b in pairs: show(a)\n";
    for (name, text) in [("a.py", program), ("a.json", "{\"a\": [1, 2]}\n")] {
        place.write(name, text);
        for command in ["fmt", "rules scramble", "check"] {
            let line = format!("{command} {name}");
            place.check_failure(&line, &[], "", 2, &[name]);
        }
        let after = std::fs::read_to_string(place.folder().join(name)).unwrap();
        assert_eq!(after, text);
    }
    // A file of another kind is not called a checkpoint.
    place.write("note.txt", "a note");
    place.check_failure(
        "solve matches.kif --method breadth-first-packed --checkpoint note.txt",
        &[],
        "",
        2,
        &["note.txt is there, and is not a checkpoint"],
    );
}

#[test]
fn a_record_is_not_read_as_rules() {
    let place = Workplace::new();
    place.write("match.json", "{\"matchId\": \"1\"}");
    let message = "match.json is JSON, not rules: `ggp replay` reads match records";
    place.check_failure("check match.json", &[], "", 2, &[message]);
}

#[test]
fn names_with_needless_brackets_are_explained() {
    let place = Workplace::new();
    let message = "the rules write `wait` without brackets, as a name";
    place.check_failure(
        "legal matches.kif --moves",
        &["(take 1) (wait)"],
        "",
        2,
        &[message],
    );
    let found = place.run_with("next matches.kif --move", &["take(1) wait"], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
}

#[test]
fn a_difference_begins_where_its_header_says() {
    let place = Workplace::new();
    place.write(
        "five.kif",
        "(role a)\n(role b)\n(role c)\n(role d)\n(role e)\n(role   f)\n",
    );
    let found = place.run("fmt --diff five.kif");
    let lines: Vec<&str> = found.out.lines().collect();
    assert_eq!(lines[2], "@@ -3,4 +3,4 @@", "{found:#?}");
    assert_eq!(lines[3], " (role c)", "{found:#?}");
}
