use super::workplace::Workplace;

/// The commands of the list in `ggp --help`.
const LISTED: &[&str] = &[
    "check",
    "fmt",
    "rules",
    "lsp",
    "info",
    "state",
    "legal",
    "next",
    "draw",
    "why",
    "play",
    "web",
    "tournament",
    "replay",
    "learn",
    "solve",
    "prove",
    "tabulate",
    "verify",
    "graph",
    "player",
    "host",
    "playout",
    "export",
    "engine",
];
/// The others.
const OTHERS: &[&str] = &[
    "rules convert",
    "rules rename",
    "rules diff",
    "rules scramble",
    "engine perft",
    "engine bench",
    "engine conformance",
    "completions",
    "man",
];

/// All commands.
pub fn commands() -> impl Iterator<Item = &'static str> {
    LISTED.iter().chain(OTHERS).copied()
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Workplace::new();
    let all = place.run("--help");
    assert_eq!(all.code, Some(0));
    let listed = all.out.lines().filter_map(|line| line.strip_prefix("  "));
    let listed = listed.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let listed: Vec<_> = listed.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(listed, LISTED);
    // It fits a screen.
    let short = place.run("-h").out;
    assert!(short.lines().count() <= 50, "{short}");
    for command in commands() {
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
    for command in commands() {
        let name = command.replace(' ', "-");
        let path = place.folder().join(format!("pages/man1/ggp-{name}.1"));
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
            "engine perft matches.kif --depth 3",
            "write its value without '--depth', after the files",
        ),
    ] {
        place.check_failure(line, &[], "", 2, &["unexpected argument '--", part]);
    }
    for line in ["diff a.kif b.kif", "engine diff a.kif b.kif"] {
        place.check_failure(line, &[], "", 2, &["the command is 'ggp rules diff'"]);
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
