use super::workplace::Workplace;

pub const COMMANDS: &[&str] = &[
    "check",
    "fmt",
    "rename",
    "scramble",
    "diff",
    "convert",
    "lsp",
    "info",
    "init",
    "legal",
    "next",
    "goal",
    "why",
    "perft",
    "bench",
    "playout",
    "play",
    "draw",
    "player",
    "web",
    "tournament",
    "host",
    "replay",
    "solve",
    "prove",
    "tabulate",
    "learn",
    "verify",
    "graph",
    "export",
    "plot",
    "seeds",
    "conformance",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_with_examples() {
    let place = Workplace::new();
    let all = place.run("--help");
    assert_eq!(all.code, Some(0));
    for command in COMMANDS {
        assert!(all.out.contains(&format!("  {command} ")), "{command}");
        let found = place.run(&format!("{command} --help"));
        assert_eq!(found.code, Some(0), "{command}");
        assert!(
            found.out.contains("Examples:\n  "),
            "{command}\n{}",
            found.out
        );
    }
    assert!(place.run("--version").out.starts_with("ggp "));
}

#[test]
fn there_are_completions_for_the_usual_shells() {
    let place = Workplace::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let found = place.run(&format!("completions {shell}"));
        assert_eq!(found.code, Some(0), "{shell}");
        assert!(found.out.contains("playout"), "{shell}");
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let place = Workplace::new();
    assert!(place.run("man").out.contains(".TH ggp 1"));
    let found = place.run("man --dir pages/man1");
    assert_eq!(
        (found.code, found.out.as_str()),
        (Some(0), ""),
        "{found:#?}"
    );
    for command in COMMANDS {
        let path = place.folder().join(format!("pages/man1/ggp-{command}.1"));
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page.contains(".SH NAME"), "{command}");
    }
    place.write("taken", "");
    place.check_failure(
        "man --dir taken",
        &[],
        "",
        2,
        &["cannot create the folder taken"],
    );
}

#[test]
fn options_of_other_names_or_commands_are_suggested() {
    let place = Workplace::new();
    for (line, part) in [
        (
            "prove matches.kif --time 3",
            "a similar argument exists: '--budget-time'",
        ),
        (
            "play matches.kif --time 3",
            "a similar argument exists: '--play-clock'",
        ),
        (
            "tabulate matches.kif --save x",
            "a similar argument exists: '--output'",
        ),
        (
            "play matches.kif --output x",
            "a similar argument exists: '--save'",
        ),
        (
            "solve lights.kif --strategy x",
            "a similar argument exists: '--method'",
        ),
        (
            "legal matches.kif --positions 3",
            "'--positions' is an option of ggp draw, why and replay",
        ),
        (
            "check matches.kif --save x",
            "'--save' is an option of ggp play and host",
        ),
        (
            "perft matches.kif --depth 3",
            "write its value without '--depth', after the files",
        ),
    ] {
        place.check_failure(line, &[], "", 2, &["unexpected argument '--", part]);
    }
    let short = "a similar argument exists: '--count'";
    place.check_failure(
        "playout matches.kif -n 5",
        &[],
        "",
        2,
        &["unexpected argument '-n'", short],
    );
    let wrong = place.run("prove matches.kif --frobnicate");
    assert!(!wrong.err.contains("as a value"), "{wrong:#?}");
    for (line, part) in [
        (
            "draw matches.kif --positions 0",
            "'--positions <N>': the number must be at least 1",
        ),
        (
            "draw matches.kif --most 0",
            "'--most <N>': the number must be from 1 to 65535",
        ),
    ] {
        place.check_failure(line, &[], "", 2, &[part]);
    }
}
