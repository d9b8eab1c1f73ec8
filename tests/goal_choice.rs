//! Several goal values of one role in one state, and a choice among them.

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError, joint_moves};
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_engine::propnet::{GroundLimits, Propnet, batch, playout::Proceed};
use ggp_gdl::game::{Game, GoalChoice, RoleId, Score};
use ggp_search::{Stats, Verdict};
use ggp_solver::solve::{Method, Refutes, SolveError, SolveOptions, solve};

use crate::cli::workplace::Workplace;

/// A place is worth the values of all bags there. The robot chooses one of two places and then
/// nothing, and the other robot looks on. Values are constants, variables and odd spellings.
const BAGS: &str = "
    (role robot)
    (role guest)
    (init start) (place left) (place right)
    (bag left 40) (bag right 30) (bag right 90) (bag right +30)
    (<= (legal robot (go ?p)) (true start) (place ?p))
    (<= (legal robot wait) (not (true start)))
    (legal guest wait)
    (<= (next (at ?p)) (does robot (go ?p)))
    (<= (next (at ?p)) (true (at ?p)))
    (<= (next late) (not (true start)))
    (<= terminal (true late))
    (<= (goal robot ?v) (true (at ?p)) (bag ?p ?v))
    (<= (goal guest 0) (true start))
    (<= (goal guest 10) (true (at ?p)))
    (<= (goal guest 20) (true (at left)))";

const CHOICES: [GoalChoice; 2] = [GoalChoice::Highest, GoalChoice::Lowest];

fn bags() -> Game {
    Game::from_text("bags", BAGS).unwrap()
}

/// By state in breadth-first order, and by role: the goal, or `None` for no value.
fn goals(game: &Game, backend: Backend) -> Vec<Vec<Result<Option<u8>, PlayError>>> {
    let mut machine = AnyMachine::new(game, backend, Limits::default()).unwrap();
    let mut open = vec![machine.initial().unwrap()];
    let mut found = Vec::new();
    let roles: Vec<RoleId> = game.roles().collect();
    while let Some(state) = open.pop() {
        let mut goal = |role| match machine.goal(&state, role) {
            Ok(score) => Ok(Some(score.get())),
            Err(PlayError::NoGoal(_)) => Ok(None),
            Err(error) => Err(error),
        };
        found.push(roles.iter().map(|role| goal(*role)).collect());
        if machine.is_terminal(&state).unwrap() {
            continue;
        }
        let legal = roles.iter().map(|role| {
            let mut legal = Vec::new();
            machine.legal(&state, *role, &mut legal).unwrap();
            legal
        });
        let legal: Vec<_> = legal.collect();
        open.extend(joint_moves(&legal).map(|joint| machine.next(&state, &joint).unwrap()));
    }
    found
}

#[test]
fn all_backends_choose_the_same_value() {
    let backends = [
        Backend::Naive,
        Backend::Datalog,
        Backend::Mixed,
        Backend::Propnet,
    ];
    for (choice, left, right) in [
        (GoalChoice::Highest, [40, 20], [90, 10]),
        (GoalChoice::Lowest, [40, 10], [30, 10]),
    ] {
        let game = bags().choosing_goals(choice);
        for backend in backends {
            let found = goals(&game, backend);
            let found: Vec<Vec<Option<u8>>> = { found.into_iter() }
                .map(|state| state.into_iter().map(Result::unwrap).collect())
                .collect();
            let both = |pair: [u8; 2]| pair.map(Some).to_vec();
            // Without a value there is still none.
            let expected = vec![
                vec![None, Some(0)],
                both(right),
                both(right),
                both(left),
                both(left),
            ];
            assert_eq!(found, expected, "{choice} {backend:?}");
        }
    }
    for backend in backends {
        let found = goals(&bags(), backend);
        let error = found[1][0].as_ref().unwrap_err();
        assert!(matches!(error, PlayError::AmbiguousGoal(_)), "{backend:?}");
        assert_eq!(found[0], [Ok(None), Ok(Some(0))], "{backend:?}");
    }
}

#[test]
fn lanes_count_the_chosen_values() {
    for (choice, mean) in CHOICES.into_iter().zip([65.0, 35.0]) {
        let game = bags().choosing_goals(choice);
        let (net, _) = Propnet::ground(&game, &GroundLimits::default()).unwrap();
        let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
        let start = batch::pack(net.initial().iter().copied());
        let outcomes = rollouts.run(&[start], 4_000, &mut || Proceed::On);
        assert_eq!(outcomes[0].faulty, 0, "{choice}");
        let found = outcomes[0].mean(0).unwrap();
        assert!((found - mean).abs() < 4.0, "{choice}: {found}");
    }
}

/// The rules with one role.
fn alone() -> String {
    let rules: Vec<&str> = BAGS
        .lines()
        .filter(|line| !line.contains("guest"))
        .collect();
    rules.join("\n")
}

#[test]
fn players_and_solvers_follow_the_choice() {
    let place = Workplace::new();
    place.write("bags.kif", BAGS);
    place.write("alone.kif", alone());
    for (choice, best, points) in [("highest", "right", 90), ("lowest", "left", 40)] {
        for player in ["auto", "mcts:300", "minimax:100"] {
            for backend in ["naive", "datalog", "mixed", "propnet"] {
                let line = format!(
                    "play bags.kif --roles {player},first --goals {choice} --backend {backend}"
                );
                let found = place.run(&line);
                assert_eq!(found.code, Some(0), "{line}: {found:#?}");
                let parts = [
                    format!("1: robot plays (go {best})"),
                    format!("\nrobot {points}"),
                ];
                for part in parts {
                    assert!(found.out.contains(&part), "{line}: {found:#?}");
                }
                if choice == "highest" {
                    let part = "(several goal values: +30, 30, 90; the highest was taken)";
                    assert!(found.out.contains(part), "{line}: {found:#?}");
                }
            }
        }
        for method in [
            "auto",
            "breadth-first-packed",
            "breadth-first",
            "sat-steps",
            "a-star",
        ] {
            let line = format!(
                "solve alone.kif --goal best --goals {choice} --method {method} --answer answer.json"
            );
            let found = place.run(&line);
            assert_eq!(found.code, Some(0), "{line}: {found:#?}");
            assert!(
                found.out.starts_with(&format!("(go {best}) ")),
                "{line}: {found:#?}"
            );
            let part = format!("the {choice} is the score");
            assert!(found.err.contains(&part), "{line}: {found:#?}");
            let found = place.run(&format!("verify alone.kif answer.json --goals {choice}"));
            assert_eq!(found.code, Some(0), "{line}: {found:#?}");
            let found = place.run("verify alone.kif answer.json");
            assert_ne!(found.code, Some(0), "{line}: {found:#?}");
        }
        let line = format!("prove bags.kif --role robot --goals {choice}");
        let found = place.run(&line);
        assert!(
            found.err.contains(&format!("at least {points}")),
            "{found:#?}"
        );
    }
}

#[test]
fn without_a_choice_the_error_names_the_option() {
    let place = Workplace::new();
    place.write("bags.kif", BAGS);
    let found = place.run_with(
        "play bags.kif --roles random,first --moves",
        &["(go right) wait"],
        "",
    );
    assert_eq!(found.code, Some(2), "{found:#?}");
    for part in [
        "robot has several goal values: +30, 30, 90",
        "help: --goals highest or --goals lowest takes one of the values",
    ] {
        assert!(found.err.contains(part), "{found:#?}");
    }
    // A choice is no value where there is none, and no score where there is another value.
    for (chosen, part) in [("none", "me has no goal value"), ("much", "101")] {
        let found = place.run_with("state faulty.kif --goals lowest --moves", &[chosen], "");
        assert_eq!(found.code, Some(2), "{chosen}: {found:#?}");
        assert!(found.err.contains(part), "{chosen}: {found:#?}");
    }
    place.check(
        "state faulty.kif --goals lowest --moves two",
        &[],
        "",
        0,
        "(done two)\n; terminal true\n; me 1 (several goal values: 1, 2; the lowest was taken)",
    );
}

#[test]
fn a_saved_match_is_replayed_with_the_same_choice() {
    let place = Workplace::new();
    place.write("bags.kif", BAGS);
    let found = place.run("play bags.kif --roles auto,first --goals highest --save match.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for line in ["replay match.json", "replay match.json --goals highest"] {
        let found = place.run(line);
        assert_eq!(found.code, Some(0), "{line}: {found:#?}");
    }
    let found = place.run("play --resume match.json --json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let json: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(
        (&json["goal_choice"], &json["goals"][0]["goal"]),
        (&"highest".into(), &90.into())
    );
    let found = place.run("replay match.json --goals lowest");
    assert_eq!(found.code, Some(1), "{found:#?}");
    let found = place.run("replay match.json --goals error");
    assert_eq!(found.code, Some(2), "{found:#?}");
}

/// A robot marks two cells. The end has these values.
fn cells(values: &[u8]) -> String {
    let goals = values.iter().map(|value| format!("(goal p {value}) "));
    let rules = "(role p) (cell a) (cell b) (init start)
        (<= (legal p (mark ?c)) (cell ?c) (not (true (marked ?c))))
        (<= (next (marked ?c)) (does p (mark ?c))) (<= (next (marked ?c)) (true (marked ?c)))
        (<= terminal (true (marked a)) (true (marked b))) ";
    rules.to_owned() + &goals.collect::<String>()
}

/// Each method that searches states, on each backend without a network, from rules without a choice: several
/// values at an end that it meets are an error, and nothing is proved without them.
#[test]
fn several_values_are_an_error_for_every_method_and_backend() {
    let alone = alone();
    for (rules, goal) in [
        (cells(&[70, 100]), 100),
        (cells(&[40, 70]), 100),
        (cells(&[40, 70]), 50),
        (alone, 100),
    ] {
        let game = Game::from_text("faulty", &rules).unwrap();
        for backend in [Backend::Mixed, Backend::Datalog, Backend::Naive] {
            let machine = AnyMachine::new(&game, backend, Limits::default()).unwrap();
            for method in Method::all() {
                if method.needs_network() {
                    continue;
                }
                let mut options = SolveOptions::default();
                options.method = method;
                options.target = Score::new(goal).unwrap();
                options.budget.nodes = 10_000;
                options.budget.time = Some(std::time::Duration::from_secs(5));
                let found = solve(&machine, &options, &mut Stats::default(), &mut ());
                let verdict = found.as_ref().map(|answer| &answer.verdict);
                let what = format!("{rules}\n{method} {backend:?} {goal}: {verdict:?}");
                match &found {
                    Err(SolveError::Play(PlayError::AmbiguousGoal(_))) => {}
                    // Methods that search everything have met the end, but one does not apply.
                    Ok(answer) => {
                        assert!(
                            matches!(answer.verdict, Verdict::OutOfBudget { .. }),
                            "{what}"
                        );
                        let is_whole = method.proves().none == Refutes::BySearch;
                        assert!(!is_whole || method.name() == "bidirectional", "{what}");
                    }
                    Err(_) => panic!("{what}"),
                }
            }
        }
    }
}

#[test]
fn every_command_that_has_the_option_names_it() {
    let place = Workplace::new();
    place.write("cells.kif", cells(&[40, 70]));
    place.write("bags.kif", BAGS);
    place.write("each.txt", "[[1,2],[2,1]]\n");
    let help = "--goals highest or --goals lowest takes one of the values";
    for (line, code) in [
        ("solve cells.kif", 2),
        ("solve cells.kif --method breadth-first", 2),
        ("solve cells.kif --goal best", 2),
        ("solve cells.kif --goal 50 --count 2", 2),
        ("solve cells.kif --suite", 2),
        ("solve cells.kif --each each.txt", 2),
        ("check cells.kif --play", 2),
        ("prove bags.kif --role robot", 1),
        ("playout cells.kif", 2),
    ] {
        let found = place.run(line);
        assert_eq!(found.code, Some(code), "{line}: {found:#?}");
        let said = format!("{}{}", found.out, found.err);
        assert!(said.contains(help), "{line}: {found:#?}");
    }
}

#[test]
fn every_answer_names_the_choice() {
    let place = Workplace::new();
    place.write("cells.kif", cells(&[40, 100]));
    place.write("each.txt", "[[1,2],[2,1]]\n");
    for more in ["", "--count 2", "--suite", "--each each.txt"] {
        for (choice, code) in [("highest", 0), ("lowest", 1)] {
            let line = format!("solve cells.kif --goals {choice} {more}");
            let found = place.run(&line);
            assert_eq!(found.code, Some(code), "{line}: {found:#?}");
            let part = format!("the {choice} is the score");
            assert!(found.err.contains(&part), "{line}: {found:#?}");
            let found = place.run(&format!("{line} --json"));
            let json: serde_json::Value = serde_json::from_str(&found.out).unwrap();
            assert_eq!(json["goals"], choice, "{line}: {found:#?}");
        }
    }
}

#[test]
fn files_made_with_another_choice_name_it() {
    let place = Workplace::new();
    place.write("bags.kif", BAGS);
    place.write("alone.kif", alone());
    let made = [
        place.run("tabulate bags.kif --goals lowest -o bags.table"),
        place.run("solve alone.kif --goal best --goals lowest --answer answer.json"),
    ];
    for made in made {
        assert_eq!(made.code, Some(0), "{made:#?}");
    }
    for line in [
        "prove bags.kif --goals highest --table bags.table",
        "play bags.kif --goals highest --roles auto,first --table bags.table",
        "verify bags.kif bags.table",
        "verify alone.kif answer.json --goals highest",
    ] {
        let found = place.run(line);
        assert_eq!(found.code, Some(2), "{line}: {found:#?}");
        let part = "it was made with --goals lowest";
        assert!(found.err.contains(part), "{line}: {found:#?}");
    }
}

#[test]
fn a_playout_to_several_values_shows_its_moves_and_no_score() {
    let place = Workplace::new();
    place.write("cells.kif", cells(&[40, 70]));
    let found = place.run("playout cells.kif");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(found.out.contains("\nstep 1: "), "{found:#?}");
    let end =
        "end after 2 moves (the rules fail): 2 facts\n  (marked a) (marked b)\np several: 40, 70";
    assert!(found.out.trim_end().ends_with(end), "{found:#?}");
}
