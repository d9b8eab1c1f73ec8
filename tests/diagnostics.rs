//! Every diagnostic, as users see it.
//!
//! Each code has a minimal rule set `tests/bad/CODE.kif`, possibly further ones named
//! `CODE_what.kif`, each with the expected output next to it. A first line `; read
//! with LIMIT=NUMBER` lowers limits. With `GGP_BLESS=1` the expected output is
//! overwritten instead of compared; review it before you commit it.

use ggp_stop::Stop;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use ggp_gdl::check::{ReadOptions, Reading, read};
use ggp_gdl::diagnostic::{Code, Severity, Strictness, Style};
use ggp_gdl::rewrite::from_infix;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::SyntaxLimits;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

/// All examples, sorted by name.
fn examples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("tests/bad exists")
        .map(|entry| entry.expect("tests/bad can be listed").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == "kif" || ending == "hrf")
        })
        .collect();
    files.sort();
    files
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().expect("a plain name")
}

/// The code that an example demonstrates.
fn code(path: &Path) -> &str {
    stem(path).split('_').next().unwrap()
}

fn read_example(path: &Path, strictness: Strictness) -> Reading {
    let text = fs::read_to_string(path).expect("an example can be read");
    let mut options = ReadOptions {
        strictness,
        ..ReadOptions::default()
    };
    let first = text.lines().next().unwrap_or_default();
    if let Some(limits) = first.strip_prefix("; read with ") {
        for limit in limits.split(' ') {
            let (name, value) = limit.split_once('=').expect("LIMIT=NUMBER");
            let number = || value.parse().expect("a number");
            match name {
                "nesting" => options.syntax.nesting = number(),
                "bytes" => options.syntax.bytes = number(),
                "rules" => options.rules = number(),
                "alternatives" => options.alternatives = number(),
                "case" => options.case = Case::Keep,
                _ => panic!("{}: no limit is called {name}", path.display()),
            }
        }
    }
    let name = path.file_name().unwrap().to_string_lossy();
    if path.extension().is_some_and(|ending| ending == "hrf") {
        return read_infix(Source::new(name, text), options.syntax);
    }
    read(Sources::from(Source::new(name, text)), &options)
}

/// The findings for a text in infix notation.
fn read_infix(source: Source, limits: SyntaxLimits) -> Reading {
    let findings = from_infix(&source, limits, &Stop::new()).err();
    // Everything else of a reading is as for a text without forms.
    let mut reading = read(Sources::from(source), &ReadOptions::default());
    reading.findings = findings.unwrap_or_default();
    reading
}

fn render(reading: &Reading) -> String {
    let findings = reading.findings.iter();
    findings
        .map(|finding| finding.render(&reading.sources, Style::Plain) + "\n")
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_code_has_an_example() {
    let shown: BTreeSet<String> = examples().iter().map(|p| code(p).to_owned()).collect();
    // Codes found by playing have examples in tests/playcheck.rs.
    let known = Code::ALL.iter().map(|c| c.as_str().to_owned());
    let known: BTreeSet<String> = known.filter(|code| !code.starts_with('P')).collect();
    assert_eq!(shown, known);
}

/// Each code has a row in the table of findings.
#[test]
fn the_language_reference_lists_every_code() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/language.md");
    let page = fs::read_to_string(page).expect("the page is there");
    for code in Code::ALL {
        let row = format!("| {code} | {} | ", code.summary());
        assert!(page.contains(&row), "no row begins with {row}");
    }
}

#[test]
fn an_example_shows_its_code_and_no_other() {
    for path in examples() {
        let reading = read_example(&path, Strictness::Tolerant);
        let codes: BTreeSet<&str> = reading.findings.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(codes, BTreeSet::from([code(&path)]), "{}", path.display());
    }
}

#[test]
fn a_name_that_is_written_in_two_ways_may_also_be_undefined() {
    let text = "(role p) (init a) (<= (legal p m) (not (x))) (<= (next a) (not x))
        (<= terminal (true a)) (goal p 100)";
    let reading = read(
        Sources::from(Source::new("x.kif", text)),
        &ReadOptions::default(),
    );
    let codes: Vec<&str> = reading.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["W202", "W202", "W207"]);
}

#[test]
fn words_for_a_missing_keyword_are_told_from_names() {
    let helps = |text: &str| -> Vec<String> {
        let text = format!("(role p) (init (a 1)) (legal p m) (goal p 100) {text}");
        let sources = Sources::from(Source::new("x.kif", text));
        let reading = read(sources, &ReadOptions::default());
        let helps = reading
            .findings
            .into_iter()
            .filter_map(|finding| finding.help);
        helps.collect()
    };
    let meant = "did you mean terminal?".to_owned();
    assert!(helps("(<= end (true (a 1)))").contains(&meant));
    assert!(
        helps("(<= (end p) (true (a 1)))")
            .iter()
            .all(|help| *help != meant)
    );
    assert_eq!(
        helps("(<= end (true (a 1))) (<= terminal (true (a 1)))"),
        [""; 0]
    );
    let next = "(<= (next (wpawn 1)) (true (a 1))) (<= (next (bpawn 1)) (true (bpawn 1)))";
    assert_eq!(helps(&format!("terminal {next}")), [""; 0]);
}

/// Of two similar names, the one that is written less is called the wrong one, in both findings.
#[test]
fn of_two_names_the_rarer_one_is_called_misspelt() {
    let helps = |facts: &str, conditions: &str| -> Vec<String> {
        let text = format!(
            "(role p) (init (a 1)) (legal p m) (goal p 100) (<= (next (a ?x)) (true (a ?x)))
             {facts} (<= terminal (true (a ?x)) {conditions})"
        );
        let sources = Sources::from(Source::new("x.kif", text));
        let reading = read(sources, &ReadOptions::default());
        let findings = reading.findings.into_iter();
        findings.filter_map(|finding| finding.help).collect()
    };
    assert_eq!(
        helps("(follows 1 2) (follows 2 3)", "(folows ?x 2)"),
        [
            "is folows a misspelling of follows?",
            "did you mean follows?"
        ]
    );
    assert_eq!(
        helps("(folows 1 2)", "(follows ?x 2) (follows ?x 3)"),
        [
            "did you mean follows?",
            "is folows a misspelling of follows?"
        ]
    );
    assert_eq!(
        helps("(folows 1 2)", "(follows ?x 2)"),
        ["write follows or folows in both places"; 2]
    );
}

#[test]
fn messages_are_as_expected() {
    let bless = env::var_os("GGP_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for path in examples() {
        let found = render(&read_example(&path, Strictness::Tolerant));
        let expected = path.with_extension("txt");
        if bless {
            fs::write(&expected, found).expect("tests/bad can be written");
        } else if fs::read_to_string(&expected).ok().as_ref() != Some(&found) {
            wrong.push(format!("{}:\n{found}", expected.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "these messages changed; GGP_BLESS=1 writes them anew\n\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_expected_message_has_an_example() {
    for entry in fs::read_dir(folder()).expect("tests/bad exists") {
        let path = entry.expect("tests/bad can be listed").path();
        let has = ["kif", "hrf"].map(|ending| path.with_extension(ending).exists());
        assert!(has.contains(&true), "{}", path.display());
    }
}

#[test]
fn errors_prevent_a_game_and_warnings_do_not() {
    for path in examples() {
        let reading = read_example(&path, Strictness::Tolerant);
        let warning = code(&path).starts_with('W');
        assert_eq!(reading.game.is_some(), warning, "{}", path.display());
    }
}

#[test]
fn strict_reading_turns_most_warnings_into_errors() {
    for path in examples() {
        let reading = read_example(&path, Strictness::Strict);
        for finding in &reading.findings {
            let warning = finding.code.as_str().starts_with('W') && !finding.code.is_sloppy();
            let severity = match warning {
                true => Severity::Warning,
                false => Severity::Error,
            };
            assert_eq!(finding.severity, severity, "{}", path.display());
        }
        let passed = reading
            .findings
            .iter()
            .all(|f| f.severity == Severity::Warning);
        assert_eq!(reading.game.is_some(), passed, "{}", path.display());
    }
}

#[test]
fn a_finding_points_into_its_text() {
    for path in examples() {
        let reading = read_example(&path, Strictness::Tolerant);
        for finding in &reading.findings {
            let places = finding
                .span
                .iter()
                .chain(finding.notes.iter().map(|(s, _)| s));
            for span in places {
                assert!(
                    !reading.sources.text(*span).is_empty(),
                    "{}",
                    path.display()
                );
            }
        }
    }
}

/// Checks the lines of duplicates, each with the line of the first occurrence.
fn check_twice(files: &[&str], expected: &str) {
    let files = files.iter().map(|text| Source::new("t", *text));
    let reading = read(Sources::new(files.collect()), &ReadOptions::default());
    let twice = reading
        .findings
        .iter()
        .filter(|f| f.code == Code::Duplicate);
    let lines: Vec<String> = twice
        .map(|finding| {
            let line = |span| reading.sources.line_column(span).0;
            let again = line(finding.span.unwrap());
            let first = finding.notes.first().map_or(0, |(span, _)| line(*span));
            format!("{again}:{first}")
        })
        .collect();
    assert_eq!(lines.join(" "), expected);
}

#[test]
fn names_of_variables_and_order_do_not_matter() {
    check_twice(
        &["(<= (p ?x) (q ?x ?y) (r ?y))\n(<= (p ?b) (r ?a) (q ?b ?a))"],
        "2:1",
    );
    check_twice(
        &["(<= p (q ?x ?y) (q ?y ?z))\n(<= p (q ?a ?b) (q ?c ?a))"],
        "2:1",
    );
    check_twice(
        &["(<= p (q ?x ?y) (distinct ?x ?y))\n(<= p (q ?a ?b) (distinct ?b ?a))"],
        "2:1",
    );
    check_twice(
        &["(<= p (q ?x) (or (r ?x) (not (s ?x))))\n(<= p (q ?y) (or (not (s ?y)) (r ?y)))"],
        "2:1",
    );
    check_twice(&["(p a)\n(<= (p A))\n(p b)\n(p a)"], "2:1 4:1");
}

#[test]
fn different_rules_are_not_duplicates() {
    for rules in [
        "(<= (p ?x ?y) (q ?x ?y))\n(<= (p ?x ?y) (q ?y ?x))",
        "(<= p (q ?x ?y) (q ?y ?x))\n(<= p (q ?x ?y) (q ?x ?y))",
        "(<= p (q ?x) (r ?x))\n(<= p (q ?x) (r ?y))",
        "(<= p (q ?x) (not (r ?x)))\n(<= p (q ?x) (r ?x))",
        "(<= p (q ?x) (r (f ?x)))\n(<= p (q (f ?x)) (r ?x))",
        "(<= p (or q r))\n(<= p q)\n(<= p r)",
        "(<= p (or q q))",
        // Each variable occurs in the same places, but two cycles are not one.
        "(<= p (q ?a ?b) (q ?b ?c) (q ?c ?a) (q ?d ?e) (q ?e ?f) (q ?f ?d))
         (<= p (q ?a ?b) (q ?b ?c) (q ?c ?d) (q ?d ?e) (q ?e ?f) (q ?f ?a))",
    ] {
        check_twice(&[rules], "");
    }
}

#[test]
fn an_instance_may_repeat_facts_but_no_rule() {
    let rules = "(q a)\n(<= p (q ?x))";
    check_twice(&[rules, "(q a)"], "");
    check_twice(&[rules, "\n\n(<= p (q ?z))"], "3:2");
}

#[test]
fn only_the_first_duplicates_are_reported_individually() {
    let text = "(p a)\n".repeat(40);
    let first: Vec<String> = (2..22).map(|line| format!("{line}:1")).collect();
    check_twice(&[&text], &format!("{} 22:0", first.join(" ")));
}

#[test]
fn a_value_before_its_role_is_told() {
    let rules = "(role ann) (init (at 1)) (legal ann go) (<= (next (at 2)) (does ann go))
        (<= terminal (true (at 2))) (goal 100 ann) (goal ann 0)";
    let reading = read(Source::new("own", rules).into(), &ReadOptions::default());
    let mut help = reading
        .findings
        .iter()
        .filter_map(|finding| finding.help.as_deref());
    assert!(help.any(|help| help == "write the role first, then the value"));
}
