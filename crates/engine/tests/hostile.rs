//! Malicious rule sets: each ends in an answer or a message, soon and in bounded
//! memory.
//!
//! Time is not asserted, since machines differ; cases that take minutes are
//! noticed. Memory is asserted: a counting allocator measures the maximum allocated
//! at a time.

#![allow(unsafe_code)]

use ggp_stop::{Instant, Stop};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_gdl::check::{ReadOptions, Reading, read, read_until};
use ggp_gdl::diagnostic::{Severity, Style};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::terms::TermLimits;

/// Counts the bytes in use and their maximum.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded unchanged to the system's allocator; apart from
// that, only numbers are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the memory was allocated by `alloc` above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory is counted for all threads, so one case runs at a time.
static ONE: Mutex<()> = Mutex::new(());

const MEBI: usize = 1 << 20;

/// The rest of a complete game.
const REST: &str = "
(role robot)
(legal robot go)
(<= (next (at 0)) (does robot go))
(init (at 0))
(goal robot 50)
(<= terminal (true over))
(<= (next over) (true never))
";

/// Reads the rules, prints every finding and, if there is a game, makes three moves
/// with both evaluators. Returns the codes of the errors or the errors of play.
fn outcome(name: &str, text: String, most_memory: usize) -> String {
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let begin = Instant::now();
    let before = USED.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let found = answer(text);
    let most = MOST.load(Ordering::Relaxed) - before;
    let time = begin.elapsed().as_secs_f32();
    println!("{name}: {time:.2} s, {} MiB: {found}", most / MEBI);
    assert!(most < most_memory, "{name} took {} MiB", most / MEBI);
    found
}

fn answer(text: String) -> String {
    // The limits on terms are lowered so that a small machine suffices.
    let options = ReadOptions {
        terms: TermLimits {
            count: 1_000_000,
            ..TermLimits::default()
        },
        ..ReadOptions::default()
    };
    let reading = read(Sources::from(Source::new("hostile.kif", text)), &options);
    for finding in reading.findings.iter().take(100) {
        let shown = finding.render(&reading.sources, Style::Plain);
        assert!(shown.len() < 20_000, "a message of {} bytes", shown.len());
        // No characters that control a terminal or reverse the text.
        let is_control =
            |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!shown.contains(is_control), "{shown:?}");
        let record = serde_json::to_string(&finding.to_record(&reading.sources)).unwrap();
        assert!(record.len() < 20_000, "a record of {} bytes", record.len());
    }
    match &reading.game {
        None => codes(&reading),
        Some(game) => {
            let limits = Limits {
                facts: 200_000,
                work: 2_000_000,
                ..Limits::default()
            };
            let mut answers = Vec::new();
            for backend in [Backend::Naive, Backend::Datalog] {
                let played = AnyMachine::new(game, backend, limits.clone()).and_then(play);
                answers.push(match played {
                    Ok(()) => "played".to_owned(),
                    Err(PlayError::TooLarge(_)) => "too large".to_owned(),
                    Err(error) => error.to_string(),
                });
            }
            answers.dedup();
            answers.join(" / ")
        }
    }
}

fn play(mut machine: AnyMachine) -> Result<(), PlayError> {
    let role = machine.game().roles().next().expect("there is one");
    let mut state = machine.initial()?;
    let mut moves = Vec::new();
    for _ in 0..3 {
        if machine.is_terminal(&state)? {
            break;
        }
        machine.goal_values(&state, role)?;
        machine.legal(&state, role, &mut moves)?;
        state = machine.next(&state, &moves[..1])?;
    }
    Ok(())
}

fn codes(reading: &Reading) -> String {
    let errors = reading
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Error);
    let mut codes: Vec<&str> = errors.map(|f| f.code.as_str()).collect();
    codes.dedup();
    codes.truncate(5);
    codes.join(" ")
}

/// The size of a text, or a fifth of it without `GGP_THOROUGH=1`.
fn sized(size: usize) -> usize {
    match std::env::var_os("GGP_THOROUGH").is_some_and(|value| value == "1") {
        true => size,
        false => size / 5,
    }
}

fn check(name: &str, rules: impl Into<String>, expected: &str) {
    let rules = rules.into() + REST;
    // The reader takes about a hundred bytes per byte of text.
    let most = 300 * MEBI + 100 * rules.len();
    let found = outcome(name, rules, most);
    assert_eq!(found, expected, "{name}");
}

#[test]
fn unbalanced_brackets() {
    let many = sized(1_000_000);
    check("open", "(".repeat(many), "K001 K004");
    check("closed", ")".repeat(many), "K002");
    check("nested", "(".repeat(many) + &")".repeat(many), "K004");
    check("term", "(f ".repeat(many) + "x" + &")".repeat(many), "K004");
    check(
        "negation",
        format!("(<= p {}q{})", "(not ".repeat(many), ")".repeat(many)),
        "K004",
    );
}

#[test]
fn one_line_of_megabytes() {
    check("facts", "(at 1) ".repeat(sized(1_400_000)), "played");
    let wrong = "(legal) ".repeat(sized(100_000));
    check("errors", wrong, "G103");
    check("lines", "(legal)\n".repeat(sized(100_000)), "G103");
    let long = "x".repeat(sized(10_000_000));
    check("name", format!("({long})"), "played");
    check("comment", format!(";{long}\n"), "played");
}

#[test]
fn bytes_that_are_not_text() {
    check("nul", "(a\0b \0)\0", "played");
    check("control", "(a\u{1}\u{7f}\u{1b}[31m b)", "played");
    check("direction", "(\u{202e}evil\u{202c})", "played");
    let broken = String::from_utf8_lossy(b"(a \xff\xfe\xc0)").into_owned();
    check("latin", broken, "played");
}

#[test]
fn alternatives_multiply() {
    let mut ors = String::new();
    for i in 0..5_000 {
        let _ = write!(ors, "(or (true (at ?x{i})) (not (true (at ?x{i}))))");
    }
    check("free", format!("(<= p {ors})"), "G117");
    check(
        "ground",
        format!("(<= p {})", "(or (true (at 0)) (true (at 1)))".repeat(500)),
        "played",
    );
    let mut nested = "(true (at ?x))".to_owned();
    for _ in 0..60 {
        nested = format!("(or (and {nested} (true (at ?x))) (true (at 1)))");
    }
    check(
        "nested",
        format!("(<= (p ?x) (true (at ?x)) {nested})"),
        "played",
    );
    let mut doubled = "(true (at ?x))".to_owned();
    for _ in 0..14 {
        doubled = format!("(or {doubled} {doubled})");
    }
    check("doubled", format!("(<= (p ?x) {doubled})"), "G117");
    let conjunction = "(and (or (true a) (true b)) (or (true c) (true d)))";
    let many = format!("(or {})", format!("{conjunction} ").repeat(400));
    check(
        "conjunctions",
        format!("(<= p {} {many} {many})", "(true (at 0))"),
        "played",
    );
}

#[test]
fn long_chains_of_rules() {
    let mut chain = String::from("(<= p0 (true (at 0)))\n");
    for i in 0..50_000 {
        let _ = writeln!(chain, "(<= p{} p{i})", i + 1);
    }
    check("upwards", chain, "played");
    let mut chain = String::new();
    for i in 0..20_000 {
        let _ = writeln!(chain, "(<= p{i} (not p{}))", i + 1);
    }
    check("negations", chain, "played");
    let mut cycle = String::new();
    for i in 0..20_000 {
        let _ = writeln!(cycle, "(<= p{i} p{})", (i + 1) % 20_000);
    }
    check("cycle", cycle.clone(), "played");
    check("cycle with a negation", cycle + "(<= p0 (not p7))", "G109");
}

#[test]
fn many_of_everything() {
    let mut variables = String::from("(<= p");
    for i in 0..10_000 {
        let _ = write!(variables, " (true (at ?x{i}))");
    }
    check("variables", variables + ")", "G118");
    let mut different = String::from("(<= p");
    for i in 0..40 {
        let _ = write!(different, " (true (at ?x{i}))");
        for j in 0..i {
            let _ = write!(different, " (distinct ?x{i} ?x{j})");
        }
    }
    check("distinct", different + ")", "played");
    let mut roles = String::new();
    for i in 0..2_000 {
        let _ = writeln!(roles, "(role r{i}) (legal r{i} go) (goal r{i} 0)");
    }
    check("roles", roles, "played");
    let arity = "x ".repeat(60_000);
    check("arity", format!("(wide {arity})"), "G118");
    check("arity of a term", format!("(wide (f {arity}))"), "played");
    check("too wide", format!("(wide {arity}{arity})"), "G118");
    let mut arities = String::new();
    for i in 0..2_000 {
        let _ = writeln!(arities, "(p{})", " x".repeat(i));
    }
    check("arities", arities, "G107");
}

#[test]
fn interrupted_reading_has_no_findings() {
    let sources = Sources::from(Source::new(
        "rules.kif",
        "(role a) (<= (p ?x) (not (q ?x)))",
    ));
    let reading = read_until(sources, &ReadOptions::default(), &Stop::raised());
    assert!(reading.game.is_none() && reading.findings.is_empty());
}

#[test]
fn products_stop_at_the_limit() {
    let mut numbers = String::new();
    for i in 0..1_000 {
        let _ = writeln!(numbers, "(number {i})");
    }
    let pair =
        "(<= (pair ?x ?y) (number ?x) (number ?y)) (<= (legal robot (two ?x ?y)) (pair ?x ?y))";
    check("facts", format!("{numbers}{pair}"), "too large");
    let state = "(<= (next (at ?x)) (number ?x) (number ?y) (number ?z) (distinct ?x ?y)
                 (distinct ?y ?z) (distinct ?z 3) (not (true (at ?z))) (not (true (with ?x ?y ?z))))";
    check("work", format!("{numbers}{state}"), "too large");
    let moves = "(<= (legal robot (put ?x ?y ?z)) (number ?x) (number ?y) (number ?z))";
    check("moves", format!("{numbers}{moves}"), "too large");
}

#[test]
fn terms_that_grow() {
    check("in a state", "(n z) (<= (n (s ?x)) (n ?x))", "G110");
    check(
        "through two relations",
        "(n z) (<= (m (s ?x)) (n ?x)) (<= (n ?x) (m ?x))",
        "G110",
    );
    check(
        "hidden by an argument that does not grow",
        "(n z z) (<= (n (s ?x) ?y) (n ?x ?y) (n ?y ?y))",
        "G110",
    );
    check(
        "from state to state",
        "(init (n z)) (<= (next (n (s ?x))) (true (n ?x)))",
        "played",
    );
    let mut doubling = String::from("(d0 z)");
    for i in 0..60 {
        let _ = writeln!(doubling, "(<= (d{} (g ?x ?x)) (d{i} ?x))", i + 1);
    }
    // Datalog derives only what is asked for, and nobody asks for these terms.
    let found = "too large / played";
    check("shared, but long to write", doubling, found);
    let mut combining = String::from("(c0 y) (c0 z)");
    for i in 0..8 {
        let _ = writeln!(combining, "(<= (c{} (g ?x ?y)) (c{i} ?x) (c{i} ?y))", i + 1);
    }
    combining.push_str("(<= (legal robot ?x) (c8 ?x))");
    check("doubly exponential", combining, "too large");
    let deep = "(f ".repeat(190) + "?x" + &")".repeat(190);
    check(
        "deep from state to state",
        format!("(init (n z)) (<= (next (n {deep})) (true (n ?x)))"),
        "played",
    );
}
