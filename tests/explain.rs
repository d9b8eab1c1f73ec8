//! Explanations: each step is an instance of its rule, no step is superfluous, and
//! everything reported as missing is missing.

mod steps;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_explain::tree::Tree;
use ggp_explain::{ExplainOptions, Explainer, Explanation, Situation};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::TermId;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use steps::{check_derivation, check_missing};

/// A position, and a joint move in it unless the game is over.
type Place = (Vec<TermId>, Option<Vec<Move>>);

/// Some positions of one random playout, and questions about it that hold somewhere.
fn visited(machine: &mut AnyMachine, seed: u64) -> (Vec<Place>, Vec<String>) {
    let game = machine.game().clone();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut state = machine.initial().unwrap();
    let mut places = Vec::new();
    let mut questions = vec!["terminal".to_owned()];
    for number in 0..400 {
        let facts = machine.facts(&state);
        if machine.is_terminal(&state).unwrap() {
            places.push((facts, None));
            break;
        }
        let mut joint = Vec::new();
        for role in game.roles() {
            let mut legal = Vec::new();
            machine.legal(&state, role, &mut legal).unwrap();
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        state = machine.next(&state, &joint).unwrap();
        if number % 8 == 0 {
            for (role, chosen) in game.roles().zip(&joint) {
                let chosen = game.text(machine.terms(), chosen.term());
                questions.push(format!("(legal {} {chosen})", game.role_name(role)));
            }
            if let Some(&fact) = machine.facts(&state).last() {
                questions.push(format!("(next {})", game.text(machine.terms(), fact)));
            }
            places.push((facts, Some(joint)));
        }
    }
    for role in game.roles() {
        for value in machine.goal_values(&state, role).unwrap() {
            let value = game.text(machine.terms(), value);
            questions.push(format!("(goal {} {value})", game.role_name(role)));
        }
    }
    questions.dedup();
    questions.truncate(12);
    let kept = places.len().div_ceil(3);
    (places.into_iter().step_by(kept).collect(), questions)
}

fn machine(game: &Game) -> AnyMachine {
    AnyMachine::new(game, Backend::Datalog, Limits::default()).unwrap()
}

fn explainer(game: &Game, machine: &AnyMachine) -> Explainer {
    let terms = machine.terms().clone();
    Explainer::new(game, terms, Limits::default(), ExplainOptions::default())
}

fn situation(place: &Place) -> Situation<'_> {
    Situation {
        facts: &place.0,
        joint: place.1.as_deref(),
    }
}

#[test]
fn derivations_are_rule_instances_and_minimal() {
    let (mut facts, mut mended) = (0, 0);
    for (name, game) in crate::common::own_games() {
        let mut machine = machine(&game);
        let (places, questions) = visited(&mut machine, crate::common::seed());
        let mut explainer = explainer(&game, &machine);
        for place in &places {
            for text in &questions {
                let question = explainer.question(text).unwrap();
                if place.1.is_none() && explainer.needs_moves(&question) {
                    continue;
                }
                match explainer.explain(&question, situation(place)) {
                    Ok(Explanation::Holds { derivations, .. }) => {
                        for derivation in &derivations {
                            facts += check_derivation(&mut explainer, derivation, place);
                        }
                    }
                    Ok(Explanation::Fails(missing)) => {
                        mended += check_missing(&mut explainer, &missing, place);
                    }
                    Ok(answer) => panic!("{name}: {text}: {answer:?}"),
                    Err(error) => panic!("{name}: {text}: {error}"),
                }
            }
        }
    }
    assert!(facts > 1000, "{facts} facts were looked at");
    assert!(mended > 50, "{mended} rules were mended");
}

/// The parts of a tree that do not depend on names.
fn shape(tree: &Tree) -> String {
    let inner: Vec<String> = tree.because.iter().map(shape).collect();
    let line = tree.place.as_ref().map_or(0, |place| place.line);
    let bound = tree.bindings.len();
    format!("{:?} {line} {bound} [{}]", tree.mark, inner.join(" "))
}

#[test]
fn explanations_do_not_depend_on_names() {
    for (name, game) in crate::common::own_games() {
        let text = game.sources().files()[0].text();
        let other = Game::from_text(&name, &crate::common::names::scrambled(text)).unwrap();
        let mut shapes = Vec::new();
        for game in [&game, &other] {
            let mut machine = machine(game);
            let (places, mut questions) = visited(&mut machine, 1);
            let mut explainer = explainer(game, &machine);
            // The order of state facts depends on names.
            questions.retain(|text| !text.starts_with("(next"));
            let mut found = Vec::new();
            for text in &questions {
                let question = explainer.question(text).unwrap();
                let answer = explainer.explain(&question, situation(&places[0])).unwrap();
                found.extend(explainer.trees(&answer).iter().map(shape));
            }
            shapes.push(found);
        }
        assert_eq!(shapes[0], shapes[1], "{name}");
    }
}

/// The trees that answer a question in the initial position.
fn trees(rules: &str, question: &str) -> Vec<Tree> {
    let game = Game::from_text("rules", rules).unwrap();
    let mut machine = machine(&game);
    let start = machine.initial().unwrap();
    let mut explainer = explainer(&game, &machine);
    let question = explainer.question(question).unwrap();
    let facts = machine.facts(&start);
    let situation = Situation {
        facts: &facts,
        joint: None,
    };
    let answer = explainer.explain(&question, situation).unwrap();
    explainer.trees(&answer)
}

fn text(trees: &[Tree]) -> String {
    let texts: Vec<String> = trees.iter().map(Tree::text).collect();
    texts.join("\n")
}

/// The text that answers a question in the initial position.
fn said(rules: &str, question: &str) -> String {
    let mut trees = trees(rules, question);
    Tree::share(&mut trees);
    text(&trees)
}

/// Towns and roads; the state is the current town.
const ROADS: &str = "(role r) (init (at a))
(road a b) (road b c) (road c d) (road a d) (road d a)
(<= (way ?x ?y) (road ?x ?y))
(<= (way ?x ?z) (way ?x ?y) (way ?y ?z))
(<= (legal r (go ?y)) (true (at ?x)) (road ?x ?y) (not (closed ?x ?y)))
(<= (next (at ?y)) (does r (go ?y)))
(<= (closed ?x ?y) (road ?x ?y) (or (toll ?x) (distinct ?x a)))
(toll d)
(<= terminal (true (at d)))
(goal r 100)";

#[test]
fn the_smallest_derivation_is_found_despite_cycles() {
    let expected = "\
(way a d)  holds: rule at rules:3:1 with ?x = a, ?y = d
└─ ✓ (road a d)  stated at rules:2:34";
    assert_eq!(said(ROADS, "(way a d)"), expected);
    let found = said(ROADS, "(way d d)");
    // Derived from the two roads d a and a d, not from four.
    assert_eq!(found.matches("stated").count(), 2, "{found}");
}

#[test]
fn missing_facts_are_shown_with_similar_facts() {
    let expected = "\
(legal r (go c))  does not hold
└─ rule at rules:5:1
   ├─ ✗ (road a c)  not a fact of the rules; similar: (road a b) (road a d) (road b c)
   ├─ ✓ (true (at a))
   └─ ✓ (not (closed a c))";
    assert_eq!(said(ROADS, "(legal r (go c))"), expected);
}

#[test]
fn alternatives_and_tests_are_explained() {
    let expected = "\
(closed a b)  does not hold
└─ rule at rules:7:1
   ├─ ✗ (or (toll a) (distinct a a))  none of these holds
   │  ├─ ✗ (toll a)  not a fact of the rules; similar: (toll d)
   │  └─ ✗ (distinct a a)  is false
   └─ ✓ (road a b)";
    assert_eq!(said(ROADS, "(closed a b)"), expected);
    let expected = "\
(closed d a)  holds: rule at rules:7:1 with ?x = d, ?y = a
├─ ✓ (road d a)  stated at rules:2:45
└─ ✓ (toll d)  stated at rules:8:1";
    assert_eq!(said(ROADS, "(closed d a)"), expected);
}

#[test]
fn unmatched_heads_are_distinguished_from_missing_conditions() {
    let expected = "\
(legal r (go b))  holds: rule at rules:5:1 with ?y = b, ?x = a
├─ ✓ (true (at a))  in the state
├─ ✓ (road a b)  stated at rules:2:1
└─ ✓ (not (closed a b))  nothing derives it
also:
└─ ✓ (legal r (go d))";
    assert_eq!(said(ROADS, "(legal r ?m)"), expected);
    let expected = "\
(legal a ?m)  does not hold: no rule can derive it; similar: (legal r (go b)) (legal r (go d))
└─ (legal r (go ?y))  is the head of the rule at rules:5:1";
    assert_eq!(said(ROADS, "(legal a ?m)"), expected);
}

/// A lock with too many codes to derive them all.
const LOCK: &str = "(role r) (init (dials 1 2 3 4 5 6 7))
(digit 0) (digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6) (digit 7) (digit 8) (digit 9)
(<= (code ?a ?b ?c ?d ?e ?f ?g)
    (digit ?a) (digit ?b) (digit ?c) (digit ?d) (digit ?e) (digit ?f) (digit ?g))
(<= (right ?a ?b) (true (dials ?a ?b ?c ?d ?e ?f ?g)) (code ?a ?b ?c ?d ?e ?f ?g))
(<= (legal r stay) (right 1 2))
(<= (next (dials 1 2 3 4 5 6 7)) (right 1 2))
(<= terminal (right 2 2))
(goal r 100)";

#[test]
fn relations_too_large_to_derive_are_derived_on_demand() {
    let found = said(LOCK, "(right ?a ?b)");
    assert_eq!(found.matches("(code 1 2 3 4 5 6 7)").count(), 1, "{found}");
    assert_eq!(found.matches("(digit ").count(), 7, "{found}");
    let expected = "\
terminal  does not hold: missing (true (dials 2 2 0 0 0 0 0))
└─ rule at rules:8:1
   └─ ✗ (right 2 2)
      └─ rule at rules:5:1";
    let found = said(LOCK, "terminal");
    assert!(found.starts_with(expected), "{found}");
    let expected = "(code 1 2 3 4 5 6 x)  does not hold";
    let found = said(&format!("{LOCK} (digitless x)"), "(code 1 2 3 4 5 6 x)");
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn equal_lines_are_explained_once() {
    // Both rules lack the same conditions and share those that hold.
    let rules = "(role r) (init (at a)) (init (lit a)) (legal r go) (goal r 0) (other)
(<= (next ?f) (true ?f))
(<= (seen ?x) (true (at ?x)) (true (lit ?x)))
(<= (good ?x) (seen ?x) (seen ?x))
(<= terminal (good b) (distinct a b))
(<= terminal (good b) (other))";
    let expected = "\
terminal  does not hold: missing (true (at b)), (true (lit b))
├─ rule at rules:5:1
│  ├─ ✗ (good b)
│  │  └─ 2 missing: rule at rules:4:1
│  │     ├─ ✗ (seen b)
│  │     │  └─ 2 missing: rule at rules:3:1
│  │     │     ├─ ✗ (true (at b))  not in the state; similar: (true (at a))
│  │     │     └─ ✗ (true (lit b))  not in the state; similar: (true (lit a))
│  │     └─ ✗ (seen b)  as above
│  └─ ✓ (distinct a b)
└─ rule at rules:6:1
   ├─ ✗ (good b)  as above
   └─ ✓ (other)";
    assert_eq!(said(rules, "terminal"), expected);
    let mut found = trees(rules, "terminal");
    Tree::share(&mut found);
    let json = serde_json::to_value(&found).unwrap();
    let first = &json[0]["because"][0]["because"][0];
    let second = &json[0]["because"][1]["because"][0];
    assert!(first["id"].is_u64());
    assert_eq!(first["id"], second["same_as"]);
    assert_eq!(second["because"], serde_json::json!([]));
    let page = Tree::page("terminal", &found);
    let link = format!("<a href=\"#n{}\">as above</a>", first["id"]);
    assert!(page.contains(&link) && page.contains(&format!("id=\"n{}\"", first["id"])));
    assert!(!page.contains("<script") && !page.contains("http"));
}

#[test]
fn impossible_conditions_come_before_missing_facts() {
    let rules = "(role r) (init (at north)) (road north south) (road south north)
(<= (legal r (go ?y)) (true (at ?x)) (road ?x ?y))
(<= (next (at ?y)) (does r (go ?y)))
(<= done (true (at south)))
(<= done (bridge ?x ?y) (true (at ?x)) (road ?x ?y))
(<= done (true (at soth)))
(<= terminal done) (goal r 0)";
    let expected = "\
done  does not hold
├─ rule at rules:5:1
│  ├─ ✗ (bridge north south)  nothing defines it
│  ├─ ✓ (true (at north))
│  └─ ✓ (road north south)
├─ rule at rules:6:1
│  └─ ✗ (true (at soth))  no rule can make this true, did you mean south?; similar: (true (at north))
└─ rule at rules:4:1
   └─ ✗ (true (at south))  not in the state; similar: (true (at north))";
    assert_eq!(said(rules, "done"), expected);
}

#[test]
fn the_line_limit_is_respected() {
    for most in 1..12 {
        let mut found = trees(ROADS, "(legal r ?m)");
        let whole = text(&found).lines().count() + 1;
        Tree::cut(&mut found, most);
        let lines = found.len() - 1 + text(&found).lines().count();
        assert!(
            lines <= most && lines + 1 >= most.min(whole),
            "{lines} of {most}"
        );
        assert!(!text(&found).contains(" 1 more lines"));
    }
    let mut found = trees(ROADS, "(legal r (go c))");
    Tree::cut(&mut found, 4);
    assert!(text(&found).contains("└─ rule at rules:5:1  … 1 more line (--lines)\n"));
}

#[test]
fn surplus_conditions_that_hold_are_folded() {
    let rules = format!("{ROADS} (<= (far) (road a b) (road b c) (road c d) (toll d) (toll a))");
    let mut found = trees(&rules, "(far)");
    found.iter_mut().for_each(Tree::fold);
    let expected = "\
(far)  does not hold
└─ rule at rules:10:14
   ├─ ✗ (toll a)  not a fact of the rules; similar: (toll d)
   └─ ✓ 4 other conditions hold";
    assert_eq!(text(&found), expected);
}

#[test]
fn negations_and_comparisons_are_explained() {
    let expected = "\
(not (road a c))  holds, because
└─ ✗ (road a c)  does not hold: not a fact of the rules; similar: (road a b) (road a d) (road b c)";
    assert_eq!(said(ROADS, "(not (road a c))"), expected);
    let expected = "\
(not (road a b))  does not hold, because
└─ ✓ (road a b)  holds: stated at rules:2:1";
    assert_eq!(said(ROADS, "not (road a b)"), expected);
    for (question, expected) in [
        ("(distinct a b)", "(distinct a b)  holds: the terms differ"),
        (
            "distinct a a",
            "(distinct a a)  does not hold: the terms are equal",
        ),
        (
            "(not (distinct a a))",
            "(not (distinct a a))  holds: the terms are equal",
        ),
    ] {
        assert_eq!(said(ROADS, question), expected);
    }
    assert_eq!(
        said(ROADS, "road a b"),
        said(ROADS, "(not (not (road a b)))")
    );
}

#[test]
fn invalid_questions_are_rejected_with_a_hint() {
    let game = Game::from_text("rules", ROADS).unwrap();
    let mut explainer = explainer(&game, &machine(&game));
    for (text, part) in [
        ("", "the question is empty; write a fact such as `terminal`"),
        ("()", "the question is empty"),
        ("?x", "a variable alone (`?x`) matches anything"),
        (
            "(and (road a b) terminal)",
            "`and` combines several conditions",
        ),
        ("(<= terminal (road a b))", "this is a rule"),
        ("(not)", "write one fact after `not`"),
        ("(distinct ?x a)", "write two terms without variables"),
        ("(road a b", "is not one fact"),
        ("(road a b) (road b c)", "is not one fact"),
        ("(raod a b)", "did you mean `road`?"),
        ("(road a b); (road b c)", "`;` begins a comment"),
    ] {
        let error = explainer.question(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn matching_facts_are_followed_or_listed() {
    let rules = "(role r) (init (on a)) (init (on b)) (light a) (light b) (light c)
(<= (legal r (press ?x)) (light ?x))
(<= (next (on ?x)) (true (on ?x)) (not (does r (press ?x))))
(<= (next (on ?x)) (does r (press ?x)) (not (true (on ?x))))
(<= terminal (not (true (on a)))) (goal r 100)";
    let game = Game::from_text("rules", rules).unwrap();
    let mut machine = machine(&game);
    let mut states = vec![machine.initial().unwrap()];
    let mut joints = Vec::new();
    for text in ["(press c)", "(press b)"] {
        let term = game.parse_term(machine.terms_mut(), text).unwrap();
        joints.push(vec![Move::new(term)]);
        states.push(
            machine
                .next(states.last().unwrap(), joints.last().unwrap())
                .unwrap(),
        );
    }
    let states: Vec<Vec<TermId>> = states.iter().map(|state| machine.facts(state)).collect();
    let told = |facts: usize| {
        let mut options = ExplainOptions::default();
        options.facts = facts;
        let terms = machine.terms().clone();
        let mut explainer = Explainer::new(&game, terms, Limits::default(), options);
        let question = explainer.question("(on ?x)").unwrap();
        let courses = explainer.history(&question, &states, &joints).unwrap();
        text(&explainer.course_trees(&courses))
    };
    // The answer says until when the fact was true.
    let terms = machine.terms().clone();
    let mut explainer = Explainer::new(&game, terms, Limits::default(), ExplainOptions::default());
    explainer.set_past(&states[..2]);
    let question = explainer.question("(on b)").unwrap();
    let facts = &states[2];
    let answer = explainer.explain(&question, Situation { facts, joint: None });
    let gone = text(&explainer.trees(&answer.unwrap()));
    let expected = "does not hold: not in the state, it was true until move 2 (--history)";
    assert!(gone.contains(expected), "{gone}");
    let one = told(1);
    assert!(one.starts_with("(true (on a))  over the moves:\n"), "{one}");
    let others = "also true at some time (--facts):\n├─ (true (on c))\n└─ (true (on b))";
    assert!(one.ends_with(others), "{one}");
    let all = told(3);
    assert_eq!(all.matches("over the moves:").count(), 3, "{all}");
    assert!(
        all.contains("no longer true after move 2") && !all.contains("also"),
        "{all}"
    );
}

#[test]
fn similar_names_are_suggested() {
    let rules = |wrong: &str| {
        format!(
            "(role r) (init (alpha 1)) (beta 2) (<= (legal r (go 1)) {wrong})
            (<= (next (alpha 2)) (does r (go 1))) (<= terminal (true (alpha 2))) (goal r 100)"
        )
    };
    for (wrong, meant) in [
        (
            "(true (alpa 1))",
            "no rule can make this true, did you mean alpha?",
        ),
        ("(betta 2)", "nothing defines it, did you mean beta?"),
        (
            "(alpha 1)",
            "nothing defines it, did you mean (true (alpha 1))?",
        ),
        (
            "(go 1)",
            "nothing defines it, did you mean (does ROLE (go 1))?",
        ),
    ] {
        let found = said(&rules(wrong), "(legal r (go 1))");
        assert!(found.contains(meant), "{found}");
    }
    let found = said(&rules("(true (omega 1))"), "(legal r (go 1))");
    assert!(!found.contains("did you mean"), "{found}");
}

/// Explanations of `terminal` after playouts, with names that scrambling gives turned back.
#[test]
fn other_names_have_the_same_explanations() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let run = |arguments: &[&str]| {
        let output = crate::common::ggp(arguments);
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    };
    let (names, other, told) = (path("names.json"), path("other.kif"), path("told.txt"));
    for game in [
        "nim",
        "connect_four_small",
        "tic_tac_toe",
        "three_player_race",
    ] {
        let rules = format!("games/{game}.kif");
        let text = run(&[
            "rules",
            "scramble",
            &rules,
            "--seed",
            "1",
            "--comments",
            "--map",
            &names,
        ]);
        std::fs::write(&other, text).expect("it can be written");
        for seed in ["1", "2", "3"] {
            let ask = |rules: &str| {
                let played = ["playout", rules, "--seed", seed, "--depth", "4", "--json"];
                let played: serde_json::Value =
                    serde_json::from_str(&run(&played)).expect("it is JSON");
                let steps = played["steps"].as_array().expect("it has steps").iter();
                let joints = steps.map(|step| {
                    let moves = step["joint"]
                        .as_array()
                        .expect("a move for each role")
                        .iter();
                    let moves: Vec<&str> = moves.map(|text| text.as_str().expect("text")).collect();
                    moves.join(" ")
                });
                let moves = joints.collect::<Vec<_>>().join("; ");
                run(&["why", rules, "--moves", &moves, "terminal", "(goal ?r 100)"])
            };
            std::fs::write(&told, ask(&other)).expect("it can be written");
            let back = run(&["rules", "scramble", "--back", &names, &told]);
            assert_eq!(back.replace(&other, &rules), ask(&rules), "{game} {seed}");
        }
    }
}
