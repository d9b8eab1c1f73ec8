//! Answers and their proofs against the checker: right ones stand, and nothing
//! else does.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp::game::{Game, Move, Score};
use ggp::ground::TermId;
use ggp::machine::{AnyMachine, Backend, Limits as MachineLimits, Machine};
use ggp::puzzle::{Outcome, Puzzle, collapse, invariant};
use ggp::search::{Budget, Plans, Stats};
use ggp::solve::{Method, SolveOptions, Strategy, claim, claim_count, solve};
use ggp::verify::{Answer, Checked, Failure, Given, Limits, Proof, digest, verify};

fn game(text: &str) -> Game {
    Game::from_text("test.kif", text).unwrap_or_else(|found| panic!("{text}\n{:?}", found.findings))
}

fn machine(game: &Game) -> AnyMachine {
    AnyMachine::new(game, Backend::Propnet, MachineLimits::default()).expect("it is small")
}

fn start(machine: &AnyMachine) -> Vec<TermId> {
    let mut machine = machine.clone();
    let state = machine.initial().expect("there is a state");
    machine.facts(&state)
}

/// What the checker says, with an answer written and read again.
fn checked(game: &Game, answer: &Answer, limits: &Limits) -> Result<Checked, Failure> {
    let text = serde_json::to_string(answer).expect("it can be written");
    let answer: Answer = serde_json::from_str(&text).expect("it can be read again");
    verify(game, &start(&machine(game)), Score::MAX, &answer, limits)
}

fn is_right(game: &Game, answer: &Answer) -> bool {
    match checked(game, answer, &Limits::default()) {
        Ok(checked) => {
            assert!(!checked.how.is_empty());
            true
        }
        Err(Failure::Wrong(_)) => false,
        Err(Failure::Unchecked(why)) => panic!("{why}: {answer:?}"),
    }
}

fn unsolvable(proof: Proof) -> Answer {
    Answer::Unsolvable { proof }
}

/// What a strategy answers.
fn answer(game: &Game, strategy: Strategy, plans: Plans) -> Answer {
    let machine = machine(game);
    let options = SolveOptions {
        strategy,
        plans,
        budget: Budget {
            nodes: 20_000,
            depth: 40,
            ..Budget::default()
        },
        ..SolveOptions::default()
    };
    let mut stats = Stats::default();
    let found = solve(&machine, &options, &mut stats, &mut ()).expect("it has one role");
    let start = machine.clone().initial().expect("there is a state");
    claim(&machine, &start, Score::MAX, &found, &Budget::default())
}

/// Without a search: clauses only.
fn no_search() -> Limits {
    Limits {
        positions: 0,
        ..Limits::default()
    }
}

fn invariant_of(game: &Game) -> Option<Answer> {
    let mut machine = machine(game);
    let start = machine.initial().expect("there is a state");
    let (net, packed) = machine.network(&start).expect("it is a network");
    let puzzle = Puzzle::new(net.clone(), packed, Score::MAX).expect("it has one role");
    let reason = invariant::prove(&puzzle, &Budget::default())?;
    Some(Answer::of(&puzzle.net, &Outcome::Unsolvable(reason)))
}

/// By length of a shortest plan, how many there are; None if there is none.
fn shortest(game: &Game) -> Option<(usize, u64)> {
    let mut machine = machine(game);
    let role = game.roles().next().unwrap();
    let first = machine.initial().unwrap();
    let mut known = vec![machine.facts(&first)];
    let mut level = BTreeMap::from([(machine.facts(&first), 1)]);
    for depth in 0.. {
        let mut below: BTreeMap<Vec<TermId>, u64> = BTreeMap::new();
        let mut plans = 0;
        for (facts, ways) in level {
            let state = machine.state(&facts).unwrap();
            if machine.is_terminal(&state).unwrap() {
                if machine.goal(&state, role).unwrap() == Score::MAX {
                    plans += ways;
                }
                continue;
            }
            let mut legal = Vec::new();
            machine.legal(&state, role, &mut legal).unwrap();
            for chosen in legal {
                let after = machine.next(&state, &[chosen]).unwrap();
                *below.entry(machine.facts(&after)).or_default() += ways;
            }
        }
        if plans > 0 {
            return Some((depth, plans));
        }
        below.retain(|facts, _| !known.contains(facts));
        known.extend(below.keys().cloned());
        if below.is_empty() {
            return None;
        }
        level = below;
    }
    None
}

/// A way of two to three moves, with a side step.
const WALK: &str = "(role r) (init (at 0)) (way 0 go 1) (way 1 go 2) (way 2 go 3)
    (way 0 on 1) (way 1 back 0)
    (<= (legal r ?m) (true (at ?x)) (way ?x ?m ?y))
    (<= (next (at ?y)) (true (at ?x)) (does r ?m) (way ?x ?m ?y))
    (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3)))
    (<= (goal r 0) (not (true (at 3))))";

fn plan(moves: &[&str]) -> Vec<String> {
    moves.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn plans_are_what_they_claim_to_be() {
    let game = game(WALK);
    let solved = |plans: &[&[&str]], optimal, all| {
        let plans = plans.iter().map(|moves| plan(moves)).collect();
        is_right(
            &game,
            &Answer::Solved {
                plans,
                optimal,
                all,
            },
        )
    };
    let (one, two) = (&["go", "go", "go"][..], &["on", "go", "go"][..]);
    let longer = &["go", "back", "go", "go", "go"][..];
    assert!(solved(&[one], true, false));
    assert!(solved(&[one, two], true, true));
    assert!(solved(&[longer], false, false));
    assert!(!solved(&[], false, false), "no plan is none");
    assert!(!solved(&[longer], true, false), "there is a shorter one");
    assert!(!solved(&[one], true, true), "there is another");
    assert!(!solved(&[one, one], true, false), "it is the same twice");
    assert!(
        !solved(&[&["go", "go", "on"]], false, false),
        "a move is illegal"
    );
    assert!(!solved(&[&["go", "go"]], false, false), "it is not over");
    assert!(
        !solved(&[&["go", "on", "go"]], false, false),
        "moves are swapped"
    );
    assert!(
        !solved(&[&["go", "go", "go", "go"]], false, false),
        "it is over"
    );
}

#[test]
fn bounds_hold_by_search_and_by_clauses() {
    let game = game(WALK);
    for limits in [Limits::default(), no_search()] {
        for moves in 0..6 {
            let bound = Answer::NoSolutionWithin { moves };
            let outcome = checked(&game, &bound, &limits);
            match moves {
                0..=2 => assert!(outcome.is_ok(), "{moves}: {outcome:?}"),
                _ => assert!(
                    matches!(outcome, Err(Failure::Wrong(_))),
                    "{moves}: {outcome:?}"
                ),
            }
        }
    }
    let best = |score, moves: &[&str], no_solution_within| Answer::OutOfBudget {
        no_solution_within,
        best: Some(ggp::verify::End {
            score,
            plan: plan(moves),
        }),
    };
    let short = &["go", "go", "go"];
    assert!(is_right(&game, &best(100, short, Some(2))));
    assert!(!is_right(&game, &best(100, short, Some(3))));
    assert!(!is_right(&game, &best(99, short, None)));
    assert!(!is_right(&game, &best(100, &["go"], None)));
    let refuted = unsolvable(Proof::Refuted {
        what: "so it is".to_owned(),
    });
    let nothing = Answer::OutOfBudget {
        no_solution_within: None,
        best: None,
    };
    let exhausted = unsolvable(Proof::Exhausted { positions: None });
    for (answer, limits) in [
        (refuted, Limits::default()),
        (nothing, Limits::default()),
        (exhausted, no_search()),
    ] {
        let outcome = checked(&game, &answer, &limits);
        assert!(matches!(outcome, Err(Failure::Unchecked(_))), "{outcome:?}");
    }
}

/// Three fields of which no two neighbours take the same colour; they are in a
/// ring, so three colours are needed.
fn colours(count: usize) -> String {
    let mut rules = String::from(
        "(role r) (ring a b) (ring b c) (ring c a)
        (<= (beside ?x ?y) (ring ?x ?y)) (<= (beside ?x ?y) (ring ?y ?x))
        (<= (field ?x) (ring ?x ?y))
        (<= (full ?x) (true (has ?x ?c)))
        (<= (taken ?x ?c) (beside ?x ?y) (true (has ?y ?c)))
        (<= (legal r (paint ?x ?c)) (field ?x) (colour ?c) (not (full ?x)) (not (taken ?x ?c)))
        (legal r wait)
        (<= (next (has ?x ?c)) (does r (paint ?x ?c)))
        (<= (next (has ?x ?c)) (true (has ?x ?c)))
        (<= open (field ?x) (not (full ?x)))
        (<= terminal (not open)) (<= (goal r 100) (not open)) (<= (goal r 0) open)",
    );
    (0..count).for_each(|colour| write!(rules, "(colour c{colour})").unwrap());
    rules
}

#[test]
fn what_is_written_once_is_refuted_by_what_excludes_each_other() {
    let two = game(&colours(2));
    let answer = answer(&two, Strategy::Network(Method::MoveSet), Plans::First);
    let is_invariant = |answer: &Answer| {
        matches!(
            answer,
            Answer::Unsolvable {
                proof: Proof::Invariant(_)
            }
        )
    };
    assert!(is_invariant(&answer), "{answer:?}");
    assert!(is_right(&two, &answer));
    let three = game(&colours(3));
    assert!(!is_right(&three, &answer), "another game");
    let mut clauses = Vec::new();
    for (one, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
        for colour in ["c0", "c1"] {
            let not = |field| format!("(not (has {field} {colour}))");
            clauses.push(vec![not(one), not(other)]);
        }
    }
    let claims = |clauses: &[Vec<String>]| {
        is_right(
            &two,
            &unsolvable(Proof::Invariant(Given {
                clauses: clauses.to_vec(),
                ..Given::default()
            })),
        )
    };
    assert!(claims(&clauses));
    for dropped in 0..clauses.len() {
        let mut fewer = clauses.clone();
        fewer.remove(dropped);
        assert!(!claims(&fewer), "{:?} is needed", clauses[dropped]);
        let mut turned = clauses.clone();
        let fact = turned[dropped][0].clone();
        turned[dropped][0] = match fact.strip_prefix("(not ") {
            Some(inner) => inner[..inner.len() - 1].to_owned(),
            None => format!("(not {fact})"),
        };
        assert!(!claims(&turned), "{:?} is not it", turned[dropped]);
    }
    let mut more = clauses.clone();
    more.push(Vec::new());
    assert!(!claims(&more), "nothing never holds");
    more.pop();
    more.push(vec!["(has a c9)".to_owned()]);
    assert!(!claims(&more), "there is no such fact");
}

#[test]
fn groups_are_looked_at_too() {
    // Who carries the torch is one of three; the end wants two of them.
    let rules = "(role r) (init (torch a)) (init (tired c)) (who a) (who b) (who c)
        (<= (legal r (pass ?x ?y)) (true (torch ?x)) (who ?y) (distinct ?x ?y))
        (<= (next (torch ?y)) (does r (pass ?x ?y)))
        (<= (next (tired ?x)) (does r (pass ?x ?y)))
        (<= won (true (torch a)) (true (torch b)))
        (<= terminal won) (<= (goal r 100) won) (<= (goal r 0) (not won))";
    let game = game(rules);
    let torch = |who: &[&str]| who.iter().map(|who| format!("(torch {who})")).collect();
    let claims = |exclusive: Vec<Vec<String>>| {
        let clauses = Vec::new();
        is_right(
            &game,
            &unsolvable(Proof::Invariant(Given { clauses, exclusive })),
        )
    };
    assert!(claims(vec![torch(&["a", "b"])]));
    assert!(claims(vec![torch(&["a", "b", "c"])]));
    assert!(!claims(vec![]), "then both may hold");
    assert!(!claims(vec![torch(&["b", "c"])]), "it says nothing of one");
    let mut wrong: Vec<String> = torch(&["a", "b"]);
    wrong.push("(tired a)".to_owned());
    assert!(!claims(vec![wrong]), "one passes and is tired");
    assert!(is_right(&game, &invariant_of(&game).expect("it is small")));
}

#[test]
fn what_holds_only_because_of_itself_is_no_solution() {
    // The island is reached from itself alone; building links none to the shore.
    let rules = "(role r) (init (link isle bay)) (site bay cape) (site cape isle)
        (<= (legal r (build ?x ?y)) (site ?x ?y) (not (true (link ?x ?y))))
        (legal r wait)
        (<= (next (link ?x ?y)) (does r (build ?x ?y)))
        (<= (next (link ?x ?y)) (true (link ?x ?y)))
        (reached shore)
        (<= (reached ?y) (reached ?x) (true (link ?x ?y)))
        (<= won (reached isle))
        (<= terminal won) (<= (goal r 100) won) (<= (goal r 0) (not won))";
    let island = game(rules);
    let nothing = unsolvable(Proof::Invariant(Given::default()));
    assert!(is_right(&island, &nothing));
    let joined = game(&rules.replace("(site bay cape)", "(site bay cape) (site shore bay)"));
    assert!(!is_right(&joined, &nothing));
    let bound = |moves| checked(&joined, &Answer::NoSolutionWithin { moves }, &no_search());
    assert!(bound(2).is_ok());
    assert!(matches!(bound(3), Err(Failure::Wrong(_))));
}

#[test]
fn plays_end_when_they_are_said_to() {
    let rules = |last: u32| {
        let mut rules = String::from(
            "(role r) (legal r a) (legal r b) (init (n 0))
            (<= (next (n ?j)) (true (n ?i)) (after ?i ?j))
            (<= (next on) (does r a) (not (true on)))
            (<= (next on) (true on) (does r b))
            (<= (next off) (does r b) (not (true on)))
            (<= won (true on) (true off))
            (<= terminal won) (<= (goal r 100) won) (<= (goal r 0) (not won))",
        );
        write!(rules, "(<= terminal (true (n {last})))").unwrap();
        (0..last).for_each(|n| write!(rules, "(after {n} {})", n + 1).unwrap());
        rules
    };
    let game = game(&rules(4));
    let over = |moves| unsolvable(Proof::Over { moves });
    assert!(is_right(&game, &over(4)));
    assert!(is_right(&game, &over(5)));
    assert!(!is_right(&game, &over(3)), "a play has one move more");
    let found = answer(&game, Strategy::Network(Method::Steps), Plans::First);
    assert_eq!(found, over(4));
}

#[test]
fn digests_tell_rules_apart_and_nothing_else() {
    let one = digest(&game(WALK));
    let spaced = WALK
        .replace("(role r)", "(ROLE r) ; the only one\n")
        .replace("?x", "?from");
    assert_eq!(one, digest(&game(&spaced)));
    for (from, to) in [
        ("(way 1 back 0)", "(way 1 back 2)"),
        ("(init (at 0))", "(init (at 1))"),
        ("(goal r 0)", "(goal r 1)"),
        ("(not (true (at 3)))", "(true (at 2))"),
    ] {
        assert_ne!(one, digest(&game(&WALK.replace(from, to))), "{from}");
    }
}

#[test]
fn ends_are_counted() {
    let three = game(&colours(3));
    let answer = count(&three);
    let Answer::Counted {
        plans,
        all: true,
        proof: Some(proof),
    } = &answer
    else {
        panic!("{answer:?}");
    };
    assert_eq!(plans.len(), 6);
    assert!(is_right(&three, &answer), "by a search");
    assert!(
        checked(&three, &answer, &no_search()).is_ok(),
        "by the proof"
    );
    let claims = |plans: &[Vec<String>], all, proof: Option<&Given>, limits: &Limits| {
        let counted = Answer::Counted {
            plans: plans.to_vec(),
            all,
            proof: proof.cloned(),
        };
        checked(&three, &counted, limits)
    };
    let is_wrong = |outcome| matches!(outcome, Err(Failure::Wrong(_)));
    for limits in [Limits::default(), no_search()] {
        assert!(is_wrong(claims(&plans[1..], true, Some(proof), &limits)));
        assert!(claims(&plans[1..], false, None, &limits).is_ok());
    }
    let open = claims(plans, true, None, &no_search()).expect("the plans are right");
    assert_eq!(open.open.len(), 1);
    let nothing = Given::default();
    assert!(is_wrong(claims(plans, true, Some(&nothing), &no_search())));
    let twice = [plans.as_slice(), &plans[..1]].concat();
    assert!(is_wrong(claims(&twice, false, None, &no_search())));
    let mut short = plans.clone();
    short[3].pop();
    assert!(is_wrong(claims(&short, false, None, &no_search())));
    let two = game(&colours(2));
    let Answer::Counted { plans, .. } = count(&two) else {
        panic!("it counts");
    };
    assert!(plans.is_empty());
    assert!(is_right(&two, &count(&two)));
}

/// Counts by sets of moves.
fn count(game: &Game) -> Answer {
    let mut machine = machine(game);
    let start = machine.initial().unwrap();
    let (net, packed) = machine.network(&start).unwrap();
    let puzzle = Puzzle::new(net.clone(), packed, Score::MAX).unwrap();
    let budget = Budget::default();
    let found = collapse::count(&puzzle, &budget, 100);
    let plan = |plan: &Vec<u32>| {
        let chosen = plan
            .iter()
            .map(|&chosen| puzzle.net.moves[0][chosen as usize]);
        chosen.collect::<Vec<Move>>()
    };
    let plans: Vec<Vec<Move>> = found.plans.iter().map(plan).collect();
    claim_count(&machine, &start, Score::MAX, &plans, found.is_all, &budget).unwrap()
}

/// Rules of a small random game: facts that moves set, drop or turn, a relation
/// that is defined by itself, and perhaps a clock.
fn random_rules(random: &mut Xoshiro256PlusPlus) -> String {
    let facts = random.random_range(2..6);
    let moves = random.random_range(2..5);
    let mut text = String::from("(role me) (legal me pass)\n");
    let literal = |random: &mut Xoshiro256PlusPlus| {
        let fact = random.random_range(0..facts);
        match random.random_range(0..5) {
            0 => format!("(linked {fact})"),
            1 => format!("(not (linked {fact}))"),
            2 => format!("(or (true (f {fact})) (not (linked 0)))"),
            3 => format!("(true (f {fact}))"),
            _ => format!("(not (true (f {fact})))"),
        }
    };
    for fact in 0..facts {
        if random.random_bool(0.3) {
            writeln!(text, "(init (f {fact}))").unwrap();
        }
        if random.random_bool(0.3) {
            writeln!(text, "(<= (linked {fact}) (true (f {fact})))").unwrap();
        }
        writeln!(text, "(near {fact} {})", random.random_range(0..facts)).unwrap();
        for chosen in 0..moves {
            let stays = format!("(<= (next (f {fact})) (does me (m {chosen})) (true (f {fact})))");
            let rule = match random.random_range(0..8) {
                0 => format!("(<= (next (f {fact})) (does me (m {chosen})))"),
                1 => String::new(),
                2 => {
                    format!("(<= (next (f {fact})) (does me (m {chosen})) (not (true (f {fact}))))")
                }
                3 => format!(
                    "(<= (next (f {fact})) (does me (m {chosen})) {})",
                    literal(random)
                ),
                _ => stays,
            };
            writeln!(text, "{rule}").unwrap();
        }
        writeln!(
            text,
            "(<= (next (f {fact})) (does me pass) (true (f {fact})))"
        )
        .unwrap();
    }
    writeln!(
        text,
        "(<= (linked ?y) (linked ?x) (near ?x ?y) (true (f ?y)))"
    )
    .unwrap();
    writeln!(
        text,
        "(<= (linked ?y) (linked ?x) (near ?y ?x) (true (f ?y)))"
    )
    .unwrap();
    writeln!(text, "(<= (linked 0) (true (f 0)))").unwrap();
    for chosen in 0..moves {
        let condition = literal(random);
        writeln!(text, "(<= (legal me (m {chosen})) {condition})").unwrap();
    }
    let goal: Vec<String> = (0..random.random_range(3..6))
        .map(|_| literal(random))
        .collect();
    writeln!(
        text,
        "(<= won {})\n(<= terminal won)\n(<= (goal me 100) won)\n(<= (goal me 0) (not won))",
        goal.join(" ")
    )
    .unwrap();
    if random.random_bool(0.4) {
        let last = random.random_range(2..7);
        writeln!(text, "(init (tick 0)) (<= terminal (true (tick {last})))").unwrap();
        writeln!(text, "(<= (next (tick ?u)) (true (tick ?t)) (after ?t ?u))").unwrap();
        (0..last).for_each(|tick| writeln!(text, "(after {tick} {})", tick + 1).unwrap());
    }
    if random.random_bool(0.2) {
        writeln!(text, "(<= terminal {})", literal(random)).unwrap();
    }
    text
}

#[test]
fn every_answer_to_random_games_is_right_and_no_other() {
    let mut strategies = vec![
        Strategy::Auto,
        Strategy::Iterative,
        Strategy::BreadthFirst,
        Strategy::DepthFirst,
    ];
    strategies.extend(Strategy::methods().map(Strategy::Network));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut solved, mut refuted, mut kinds) = (0, 0, BTreeMap::new());
    for number in 0..100 {
        let rules = random_rules(&mut random);
        let game = game(&rules);
        let expected = shortest(&game);
        for &strategy in &strategies {
            let what = format!("{number}, {}\n{rules}", strategy.name());
            let answer = answer(&game, strategy, Plans::First);
            match (&answer, expected) {
                (Answer::Solved { plans, optimal, .. }, Some((least, _))) => {
                    let length = plans[0].len();
                    assert!(length >= least && (!optimal || length == least), "{what}");
                }
                (Answer::Unsolvable { .. }, None) => {}
                (Answer::NoSolutionWithin { moves }, least) => {
                    assert!(
                        least.is_none_or(|(least, _)| least > *moves as usize),
                        "{what}"
                    );
                }
                (Answer::OutOfBudget { .. }, _) => continue,
                _ => panic!("{answer:?}, but {expected:?}: {what}"),
            }
            if let Answer::Unsolvable { proof } = &answer {
                let value = serde_json::to_value(proof).unwrap();
                *kinds.entry(value["kind"].to_string()).or_insert(0) += 1;
            }
            assert!(is_right(&game, &answer), "{answer:?}: {what}");
        }
        let bound = |moves| {
            let bound = Answer::NoSolutionWithin { moves };
            let [plain, clauses] = [Limits::default(), no_search()]
                .map(|limits| checked(&game, &bound, &limits).is_ok());
            assert_eq!(plain, clauses, "{number}, {moves}\n{rules}");
            plain
        };
        match expected {
            Some((least, count)) => {
                solved += 1;
                assert!(!bound(least as u32), "{number}\n{rules}");
                assert!(least == 0 || bound(least as u32 - 1), "{number}\n{rules}");
                let all = answer(
                    &game,
                    Strategy::BreadthFirst,
                    Plans::AllShortest { max: 1_000 },
                );
                let Answer::Solved {
                    plans, all: true, ..
                } = &all
                else {
                    panic!("{all:?}: {number}\n{rules}");
                };
                assert_eq!(plans.len() as u64, count, "{number}\n{rules}");
                assert!(is_right(&game, &all), "{number}\n{rules}");
                assert_eq!(invariant_of(&game), None, "{number}\n{rules}");
                for proof in [
                    Proof::Exhausted { positions: None },
                    Proof::Over { moves: 9 },
                    Proof::Invariant(Given::default()),
                ] {
                    assert!(!is_right(&game, &unsolvable(proof)), "{number}\n{rules}");
                }
            }
            None => {
                refuted += 1;
                assert!(bound(9), "{number}\n{rules}");
                let answer = invariant_of(&game).expect("a small game has one");
                assert!(is_right(&game, &answer), "{answer:?}: {number}\n{rules}");
            }
        }
    }
    assert!(solved > 20 && refuted > 20, "{solved} and {refuted}");
    let known = ["\"exhausted\"", "\"invariant\"", "\"parity\""];
    assert!(
        known.iter().all(|&kind| kinds.contains_key(kind)),
        "{kinds:?}"
    );
    assert!(!kinds.contains_key("\"refuted\""), "{kinds:?}");
}
