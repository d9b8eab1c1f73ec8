//! `--no-jit`, wherever rules are played.

use ggp_engine::propnet::code::Engine;

use super::workplace::Workplace;

/// Rows of switches, which no move can all turn on, so that the network is
/// larger than what a move changes.
const SWITCHES: &str = "
    (role ann) (role bob)
    (index 1) (index 2) (index 3) (index 4) (index 5)
    (init (turn ann)) (other ann bob) (other bob ann)
    (<= (legal ?r (press ?x ?y)) (true (turn ?r)) (index ?x) (index ?y) (not (true (on ?x ?y))))
    (<= (legal ?r wait) (true (turn ?s)) (other ?r ?s))
    (<= (next (on ?x ?y)) (true (on ?x ?y)))
    (<= (next (on ?x ?y)) (does ?r (press ?x ?y)))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= (row ?x) (true (on ?x 1)) (true (on ?x 2)) (true (on ?x 3)))
    (<= (goal ?r 100) (row ?x) (true (turn ?r)))
    (<= (goal ?r 0) (row ?x) (not (true (turn ?r))) (role ?r))
    (<= terminal (row ?x))";

const ROUNDS: &str = "
    (role me) (init (round 0)) (after 0 1) (after 1 2) (after 2 3)
    (legal me go) (legal me stay)
    (<= (next (round ?y)) (true (round ?x)) (does me go) (after ?x ?y))
    (<= (next (round ?x)) (true (round ?x)) (does me stay))
    (<= (goal me ?x) (true (round ?x)))
    (<= terminal (true (round 3)))";

fn place() -> Workplace {
    let place = Workplace::new();
    place.write("switches.kif", SWITCHES);
    place.write("rounds.kif", ROUNDS);
    place
}

#[test]
fn no_command_answers_otherwise_without_machine_code() {
    let place = place();
    for line in [
        "state switches.kif",
        "legal switches.kif",
        "next rounds.kif --move go",
        "state rounds.kif --moves go;go",
        "playout switches.kif --seed 3",
        "play switches.kif --player ann=random --player bob=random --seed 3",
        "solve lights.kif --all",
        "graph lights.kif",
        "engine perft switches.kif 2",
        "engine perft switches.kif 3 --no-transpositions",
    ] {
        let run = |more: &str| {
            let line = format!("--quiet {line} --backend propnet {more}");
            place.run(&line)
        };
        let (with, without) = (run(""), run("--no-jit"));
        println!("{line}\n{with:#?}");
        assert_eq!(with.code, Some(0), "{line}");
        assert_eq!((without.code, without.out), (with.code, with.out), "{line}");
        assert_eq!(without.err, with.err, "{line}");
    }
}

#[test]
fn machine_code_runs_unless_it_is_not_wanted() {
    let place = place();
    let evaluation = |more: &str| {
        let info = place.json(&format!("info switches.kif {more}"), &[]);
        info["evaluation"].as_str().unwrap().to_owned()
    };
    let has_code = Engine::Avx2.is_available(4) || Engine::Avx512.is_available(4);
    let with = evaluation("--backend propnet");
    assert_eq!(with.contains("machine code"), has_code);
    let without = evaluation("--backend propnet --no-jit");
    assert!(without.ends_with("of the network"), "{without}");
    assert!(!without.contains("machine code"), "{without}");
    // Few states do not pay for a network.
    for backend in ["", "--backend datalog --no-jit"] {
        assert_eq!(evaluation(backend), "datalog");
    }
    assert_eq!(evaluation("--backend naive"), "naive");
    let mixed = "datalog for goals, a network for the rest";
    assert_eq!(evaluation("--backend mixed"), mixed);
    // The rules for goals have too many matches, and the others have not.
    let row = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/row.kif");
    let perft = place.run(&format!("engine perft {row} 1 --ground-instances 200000"));
    let note = "Datalog evaluates goals; their network would exceed a limit: more than";
    assert!(perft.err.contains(note), "{}", perft.err);
}

#[test]
fn every_command_with_a_backend_has_the_option() {
    let place = place();
    for command in [
        "info",
        "state",
        "legal",
        "next",
        "engine perft",
        "playout",
        "play",
        "solve",
        "graph",
        "engine bench",
        "engine conformance",
    ] {
        let help = place.run(&format!("{command} --help")).out;
        assert!(help.contains("--backend <"), "{command}\n{help}");
        assert!(help.contains("--no-jit"), "{command}\n{help}");
    }
}
