//! Dynamic checks: mistakes are found, proofs are correct, examples can be replayed, and
//! names carry no meaning.

mod knowledge;
mod mistakes;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, NaiveMachine, PlayError};
use ggp_gdl::game::{Game, GoalChoice, Move};
use ggp_playcheck::{
    Alarm, Basis, Claim, ClaimVerdict, PlaycheckOptions, Report, Severity, Subject, playcheck,
    playcheck_within,
};
use ggp_stop::Stop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn game(text: &str) -> Game {
    Game::from_text("test.kif", text).expect("the rules can be read")
}

fn report(game: &Game, options: &PlaycheckOptions) -> Report {
    let mut machine = AnyMachine::new(game, Backend::Auto, Limits::default()).expect("it is small");
    playcheck(&mut machine, &Limits::default(), options).expect("it can be played")
}

/// Enough for a test, whatever the load of the machine.
fn options(states: usize) -> PlaycheckOptions {
    let mut options = PlaycheckOptions::default();
    options.playouts = 300;
    options.states = states;
    options.time = Duration::from_secs(120);
    options
}

fn claim(report: &Report, subject: Subject) -> &Claim {
    let mut claims = report.claims.iter();
    let found = claims.find(|claim| claim.subject == subject);
    found.unwrap_or_else(|| panic!("there is no claim about {subject:?}"))
}

type State = <NaiveMachine as Machine>::State;

/// Replays an example with the naive machine; every move must be legal.
fn replayed(game: &Game, moves: &[String]) -> (NaiveMachine, State, Vec<State>) {
    let mut machine = NaiveMachine::new(game, Limits::default());
    let mut state = machine.initial().expect("there is a start");
    let mut before = Vec::new();
    for text in moves {
        let joint = game
            .parse_terms(machine.terms_mut(), text)
            .expect("moves are terms");
        let joint: Vec<Move> = joint.into_iter().map(Move::new).collect();
        let next = machine.play(&state, &joint).expect("it is legal");
        before.push(std::mem::replace(&mut state, next));
    }
    (machine, state, before)
}

/// Checks that an example of a claim shows what the claim says.
fn check_example(game: &Game, claim: &Claim) -> Result<(), String> {
    let Some(moves) = &claim.moves else {
        return Ok(());
    };
    let (mut machine, state, before) = replayed(game, moves);
    let roles: Vec<_> = game.roles().collect();
    let role = claim
        .role
        .as_ref()
        .map(|name| game.role_named(name).expect("it is a role"));
    let fails = claim.verdict == ClaimVerdict::Fails;
    let is_so = match claim.subject {
        // The game is over before it begins.
        Subject::Ends if claim.cycle.is_none() => machine.is_terminal(&state).expect("it is small"),
        Subject::Ends => {
            let around = claim.cycle.clone().unwrap_or_default();
            let (_, back, _) = replayed(game, &[&moves[..], &around[..]].concat());
            !around.is_empty() && back == state
        }
        Subject::Legal => matches!(
            machine.legal(&state, role.expect("it has one"), &mut Vec::new()),
            Err(PlayError::NoLegalMove(_))
        ),
        Subject::Goal => {
            machine.is_terminal(&state).expect("it is small")
                && machine.goal(&state, role.expect("it has one")).is_err()
        }
        Subject::Winnable => {
            let score = machine
                .goal(&state, role.expect("it has one"))
                .expect("it has a goal");
            machine.is_terminal(&state).expect("it is small")
                && (score.get() == 100) == (claim.verdict == ClaimVerdict::Holds)
        }
        Subject::Turns => {
            let choices = roles.iter().filter(|role| {
                let mut legal = Vec::new();
                machine
                    .legal(&state, **role, &mut legal)
                    .expect("it is small");
                legal.len() > 1
            });
            fails == (choices.count() > 1)
        }
        Subject::Sum => machine.is_terminal(&state).expect("it is small"),
        Subject::Change => !before.is_empty(),
        Subject::SingleValue => {
            let facts = machine.facts(&state);
            let facts = facts.iter().map(|fact| game.text(machine.terms(), *fact));
            facts.filter(|fact| claim.text.contains(&**fact)).count() >= 2
        }
        Subject::Frame => !before.is_empty(),
        Subject::Knows => knowledge::is_gap(game, role.expect("it has one"), claim, moves),
        Subject::Facts | Subject::Used | Subject::RoleSymmetry | Subject::Roles => true,
    };
    match is_so {
        true => Ok(()),
        false => Err(format!("not so: {claim:?}")),
    }
}

const WALK: &str = "
    (role a) (role b) (init (at 1)) (init (turn a)) (init idle)
    (after 1 2) (after 2 3) (after 3 4) (other a b) (other b a)
    (<= (legal ?r go) (true (turn ?r)) (true (at ?x)) (after ?x ?y))
    (<= (legal ?r jump) (true (turn ?r)) (true (at 1)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (at ?y)) (does ?r go) (true (at ?x)) (after ?x ?y))
    (<= (next (at 3)) (does ?r jump))
    (<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
    (<= (next idle) (true idle))
    (<= terminal (true (at 4)))
    (<= (goal ?r 100) (true (at 4)) (true (turn ?r)))
    (<= (goal ?r 0) (role ?r) (not (true (turn ?r))))";

/// The rules with one line changed.
fn with(from: &str, to: &str) -> Game {
    assert_eq!(WALK.matches(from).count(), 1, "{from}");
    game(&WALK.replace(from, to))
}

#[test]
fn correct_rules_have_no_errors() {
    let walk = game(WALK);
    for states in [0, 1_000] {
        let report = report(&walk, &options(states));
        assert!(!report.has_errors(), "{:?}", report.claims);
        for subject in [
            Subject::Ends,
            Subject::Legal,
            Subject::Goal,
            Subject::Sum,
            Subject::Turns,
        ] {
            let claim = claim(&report, subject);
            assert_eq!(claim.verdict, ClaimVerdict::Holds, "{}", claim.text);
            assert_ne!(claim.basis, Basis::Seen, "{}", claim.text);
        }
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        assert!(
            claim(&report, Subject::RoleSymmetry)
                .text
                .contains("except for the initial state")
        );
        // A fact that always holds and that nothing reads.
        assert!(claim(&report, Subject::Facts).text.contains("idle"));
        let unread = &claim(&report, Subject::Used).text;
        assert!(
            unread.ends_with("depends on: idle (test.kif:2:53)"),
            "{unread}"
        );
    }
    assert_eq!(report(&walk, &options(1_000)).space, Some(6));
}

#[test]
fn consequences_of_a_failed_claim_are_not_claimed() {
    // Terminal positions without a goal have no sum; a stuck match does not end.
    let goalless = with(
        "(<= (goal ?r 0) (role ?r)",
        "(<= (goal ?r 0) (role ?r) (true (at 1))",
    );
    let stuck = with(
        "(<= (legal ?r go) (true (turn ?r)) (true (at ?x)) (after ?x ?y))",
        "(<= (legal ?r go) (true (turn ?r)) (true (at 1)))",
    );
    for states in [0, 1_000] {
        let goalless = report(&goalless, &options(states));
        let mut claims = goalless.claims.iter();
        assert!(claims.all(|claim| claim.subject != Subject::Sum));
        let stuck = report(&stuck, &options(states));
        assert_eq!(claim(&stuck, Subject::Ends).verdict, ClaimVerdict::Open);
    }
}

#[test]
fn dead_rules_are_reported_at_the_failing_literal() {
    for (game, at, proved) in [
        // A name with two spellings, and its consequences.
        (
            with(
                "(<= terminal (true (at 4)))",
                "(<= terminal (true (at 4))) (<= near (true (att 3))) (<= (next (told)) near)",
            ),
            "(true (att 3))",
            true,
        ),
        // Two conditions that are satisfied alone, but never together.
        (
            with(
                "(<= terminal (true (at 4)))",
                "(<= terminal (true (at 4))) (<= terminal (true (at 2)) (true (at 3)))",
            ),
            "(true (at 3))",
            true,
        ),
        (
            with(
                "(<= terminal (true (at 4)))",
                "(<= terminal (or (true (at 4)) (true (at 9))))",
            ),
            "(true (at 9))",
            true,
        ),
    ] {
        let report = report(&game, &options(1_000));
        let [finding] = &report.findings[..] else {
            panic!("{:?}", report.findings);
        };
        let (span, _) = finding.notes.first().expect("it says where");
        assert_eq!(game.sources().text(*span), at);
        assert_eq!(
            finding.message.contains("proved"),
            proved,
            "{}",
            finding.message
        );
    }
}

#[test]
fn a_rule_that_was_not_seen_to_fire_is_not_said_never_to_fire() {
    let rules = with(
        "(<= terminal (true (at 4)))",
        "(<= terminal (true (at 4))) (<= terminal (true (at 2)) (true (at 3)))",
    );
    for (states, sure) in [(0, false), (1_000, true)] {
        let report = report(&rules, &options(states));
        let [finding] = &report.findings[..] else {
            panic!("{:?}", report.findings);
        };
        let text = format!("{} {}", finding.message, finding.notes[0].1);
        assert_eq!(text.contains("never"), sure, "{text}");
        assert_eq!(text.contains("did not fire in"), !sure, "{text}");
    }
}

/// The notes and help texts of findings about rules that did not fire.
fn words(report: &Report) -> Vec<String> {
    let findings = report.findings.iter();
    let said = findings.map(|finding| {
        let notes = finding.notes.iter().map(|(_, note)| note.clone());
        let help = finding.help.clone();
        notes.chain(help).collect::<Vec<_>>().join("; ")
    });
    said.collect()
}

#[test]
fn causes_are_reported_before_their_consequences() {
    for states in [0, 1_000] {
        // The game is stuck immediately because of one word; rules that cannot be reached
        // are not reported.
        let stuck = with(
            "(<= (legal ?r go) (true (turn ?r)) (true (at ?x)) (after ?x ?y))",
            "(<= (legal ?r go) (true (turn ?r)) (hour noon) (true (at ?x)) (after ?x ?y)) (hour noom)",
        );
        let stuck = Game::from_text(
            "test.kif",
            &stuck.sources().files()[0]
                .text()
                .replace("(<= (legal ?r jump) (true (turn ?r)) (true (at 1)))", ""),
        );
        let report_of_stuck = report(&stuck.expect("it can be read"), &options(states));
        let said = words(&report_of_stuck);
        let [said] = &said[..] else {
            panic!("{:#?}", report_of_stuck.findings);
        };
        assert!(
            said.starts_with("no fact matches this, and nothing can produce one"),
            "{said}"
        );
        assert!(said.contains("did you mean noom?; "), "{said}");
        assert!(
            said.contains("no match reaches a position in which this rule fires: test.kif:8:5"),
            "{said}"
        );
        // A cause is reported once, together with its consequences.
        let needed = with(
            "(<= terminal (true (at 4)))",
            "(<= terminal (true (at 4))) (<= (next odd) (true (at five))) (<= even (true odd))
             (<= (next six) even) (<= terminal (true six))",
        );
        let said = words(&report(&needed, &options(states)));
        let [said] = &said[..] else {
            panic!("{said:#?}");
        };
        let (_, follows) = said
            .split_once("as a consequence, test.kif:11:")
            .expect("it follows");
        assert!(follows.ends_with(" never fire either"), "{said}");
        assert_eq!(follows.matches("test.kif:12:").count(), 2, "{said}");
    }
    // Rules that depend on each other have no other cause.
    let round = with(
        "(<= terminal (true (at 4)))",
        "(<= terminal (true (at 4))) (<= (next hen) (true egg)) (<= (next egg) (true hen))",
    );
    assert_eq!(report(&round, &options(1_000)).findings.len(), 1);
}

#[test]
fn consequences_of_an_error_are_not_reported() {
    let subjects = |game: &Game, states| -> Vec<(Subject, ClaimVerdict)> {
        let report = report(game, &options(states));
        let claims = report.claims.iter();
        claims.map(|claim| (claim.subject, claim.verdict)).collect()
    };
    for states in [0, 1_000] {
        // A role with two goals gets neither.
        let several = with(
            "(<= (goal ?r 0) (role ?r) (not (true (turn ?r))))",
            "(<= (goal ?r 0) (role ?r))",
        );
        let found = subjects(&several, states);
        assert!(
            found.contains(&(Subject::Goal, ClaimVerdict::Fails)),
            "{found:?}"
        );
        let winnable = |(subject, verdict): &&(Subject, ClaimVerdict)| {
            *subject == Subject::Winnable && *verdict != ClaimVerdict::Holds
        };
        assert_eq!(found.iter().find(winnable), None);
        // If no move is ever made, that is the only report about moves.
        let wait = "(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))";
        let stuck = with(wait, "(<= (legal ?r wait) (role ?r) (true (turn ?r)))");
        let found = subjects(&stuck, states);
        assert!(found.contains(&(Subject::Legal, ClaimVerdict::Fails)));
        for subject in [Subject::Change, Subject::Turns, Subject::Legal] {
            assert!(
                !found.contains(&(subject, ClaimVerdict::Holds)),
                "{subject:?}"
            );
        }
    }
}

const CELLS: &str = "
    (role x) (spot 1) (spot 2) (spot 3)
    (<= (init (on ?n free)) (spot ?n))
    (<= (legal x (fill ?n)) (true (on ?n free)))
    (<= (next (on ?n full)) (does x (fill ?n)))
    (<= (next (on ?n ?v)) (true (on ?n ?v)) (not (does x (fill ?n))))
    (<= terminal (not open)) (<= open (true (on ?n free)))
    (<= (goal x 100) (true (on 1 full)) (true (on 2 full)) (true (on 3 full)))
    (<= (goal x 0) open)";

#[test]
fn facts_without_frame_rules_and_keys_with_two_values_are_reported() {
    let keep = "(<= (next (on ?n ?v)) (true (on ?n ?v)) (not (does x (fill ?n))))";
    for states in [0, 1_000] {
        let fine = report(&game(CELLS), &options(states));
        let told = [Subject::Frame, Subject::SingleValue];
        let is_about_values = |claim: &Claim| told.contains(&claim.subject);
        assert!(
            !fine.claims.iter().any(is_about_values),
            "{:#?}",
            fine.claims
        );

        let forgotten = game(&CELLS.replace(keep, ""));
        let report_of = report(&forgotten, &options(states));
        let kept = claim(&report_of, Subject::Frame);
        assert_eq!(
            kept.text,
            "no rule keeps on (test.kif:3:9): these facts are lost after one move"
        );
        check_example(&forgotten, kept).expect("it is so");

        let both = game(&CELLS.replace(" (not (does x (fill ?n))))", ")"));
        let mut short = options(states);
        short.depth = 20;
        let report_of = report(&both, &short);
        let single = claim(&report_of, Subject::SingleValue);
        assert_eq!(single.verdict, ClaimVerdict::Fails);
        assert_eq!(single.moves.as_ref().map(Vec::len), Some(1));
        check_example(&both, single).expect("it is so");
    }
}

/// Cells with keys of `parts` arguments are switched on, and the others are kept where `differs` says so.
fn cells(parts: usize, differs: impl Fn(&[String]) -> String) -> Game {
    let names = |name: &str| {
        (0..parts)
            .map(|part| format!("?{name}{part}"))
            .collect::<Vec<_>>()
    };
    let (key, made) = (names("k"), names("m"));
    let sizes = key
        .iter()
        .map(|part| format!("(n {part})"))
        .collect::<Vec<_>>();
    let distinct = key
        .iter()
        .zip(&made)
        .map(|(key, made)| format!("(distinct {key} {made})"));
    let (key, made, sizes) = (key.join(" "), made.join(" "), sizes.join(" "));
    let keep = differs(&distinct.collect::<Vec<_>>());
    game(&format!(
        "(role p) (n 1) (n 2) (n 3)
        (<= (init (cell {key} off)) {sizes})
        (<= (legal p (on {key})) (true (cell {key} off)))
        (<= (next (cell {key} on)) (does p (on {key})))
        (<= (next (cell {key} ?w)) (does p (on {made})) (true (cell {key} ?w)) {keep})
        (<= open (true (cell {key} off))) (<= terminal (not open))
        (<= (goal p 100) (not open)) (<= (goal p 0) open)"
    ))
}

#[test]
fn keys_that_the_frame_leaves_out_are_reported() {
    let is_lost = |game: &Game| {
        let report = report(game, &options(200));
        let mut claims = report.claims.iter();
        let lost = claims.find(|claim| claim.subject == Subject::Frame);
        lost.inspect(|claim| check_example(game, claim).expect("it is so"))
            .map(|claim| claim.text.clone())
    };
    for parts in 1..=3 {
        let any = cells(parts, |distinct| format!("(or {})", distinct.join(" ")));
        assert_eq!(is_lost(&any), None, "{parts}");
        let all = is_lost(&cells(parts, |distinct| distinct.join(" ")));
        assert_eq!(all.is_some(), parts > 1, "{all:?}");
        if let Some(text) = all {
            assert!(
                text.ends_with("write (or (distinct ...) (distinct ...))"),
                "{text}"
            );
        }
    }
    // A piece moves, and its cell is left without a content.
    let moved = |rest: &str| {
        game(&format!(
            "(role p) (succ 1 2) (succ 2 3) (succ 3 4)
            (init (cell 1 man)) (init (cell 2 free)) (init (cell 3 free)) (init (cell 4 free))
            (<= (legal p (move ?a ?b)) (true (cell ?a man)) (succ ?a ?b) (true (cell ?b free)))
            (<= (next (cell ?b man)) (does p (move ?a ?b))) {rest}
            (<= (next (cell ?c ?w)) (true (cell ?c ?w)) (does p (move ?a ?b)) (distinct ?c ?a) (distinct ?c ?b))
            (<= terminal (true (cell 4 man))) (goal p 100)"
        ))
    };
    let text = is_lost(&moved("")).expect("it is left out");
    assert!(text.contains("(cell 1 man) disappears"), "{text}");
    assert_eq!(
        is_lost(&moved("(<= (next (cell ?a free)) (does p (move ?a ?b)))")),
        None
    );
}

#[test]
fn roles_without_a_choice_are_named() {
    for (number_of_moves, expected) in [
        (1, "no role ever has a choice"),
        (2, "b never has a choice"),
    ] {
        let takes: String = (0..number_of_moves)
            .map(|n| format!("(take {n}) "))
            .collect();
        let game = game(&format!(
            "(role a) (role b) (init (left 3)) (down 3 2) (down 2 1) (down 1 0) {takes}
            (<= (legal a (take ?n)) (take ?n)) (legal b noop)
            (<= (next (left ?m)) (true (left ?n)) (down ?n ?m))
            (<= terminal (true (left 0))) (goal a 100) (goal b 0)"
        ));
        let report = report(&game, &options(200));
        let turns = claim(&report, Subject::Turns);
        assert_eq!(
            turns.text,
            format!("at most one role has a choice at a time: {expected}")
        );
    }
}

/// A role named random is chance, whose draws are no choices of a role, but not nothing either.
#[test]
fn chance_is_no_role_without_a_choice() {
    let game = game(
        "(role x) (role random) (init start) (legal random a) (legal random b) (legal x wait)
        (<= (next (win x)) (does random a)) (<= (next lost) (does random b))
        (<= terminal (not (true start))) (<= (goal x 100) (true (win x))) (<= (goal x 0) (not (true (win x))))",
    );
    let report = report(&game, &options(200));
    let turns = claim(&report, Subject::Turns);
    let expected =
        "at most one role has a choice at a time: no role except chance ever has a choice";
    assert_eq!(turns.text, expected);
}

/// Facts that hold at the start alone depend on the number of moves, but count nothing.
#[test]
fn a_move_that_loses_facts_changes_something() {
    let game = game(
        "(role ann) (init (pin 1)) (init (pin 2)) (<= (legal ann (take ?x)) (true (pin ?x)))
        (<= some (true (pin ?x))) (<= terminal (not some)) (goal ann 100)",
    );
    let report = report(&game, &options(200));
    assert_eq!(claim(&report, Subject::Change).verdict, ClaimVerdict::Holds);
}

#[test]
fn a_rotation_of_roles_is_no_swap() {
    // Each beats the next one in a circle.
    let rules =
        "(role red) (role green) (role blue) (beats red green) (beats green blue) (beats blue red)
        (init (round 1)) (<= (legal ?r (hit ?s)) (role ?r) (role ?s) (distinct ?r ?s))
        (<= (next (hurt ?s)) (does ?r (hit ?s)) (beats ?r ?s)) (<= terminal (not (true (round 1))))
        (<= (goal ?r 0) (true (hurt ?r))) (<= (goal ?r 100) (role ?r) (not (true (hurt ?r))))";
    let report = report(&game(rules), &options(1_000));
    let text = &claim(&report, Subject::RoleSymmetry).text;
    let is_rotation = [
        "red to green, green to blue, blue to red",
        "red to blue, green to red, blue to green",
    ];
    let is_rotation =
        is_rotation.map(|pairs| format!("the rules are symmetric in the roles: rename {pairs}"));
    assert!(is_rotation.contains(text), "{text}");
}

#[test]
fn roles_can_be_symmetric_where_chance_is_a_role_too() {
    let rules = |roles: &str| {
        format!(
            "{roles} (init fresh) (<= (legal random (give ?r)) (role ?r) (distinct ?r random))
            (<= (legal ?r wait) (role ?r) (distinct ?r random))
            (<= (next (lucky ?r)) (does random (give ?r))) (<= terminal (not (true fresh)))
            (<= (goal ?r 100) (true (lucky ?r)))
            (<= (goal ?r 0) (role ?r) (distinct ?r random) (not (true (lucky ?r))))"
        )
    };
    for two in [
        "(role random) (role ann) (role bob)",
        "(role ann) (role bob) (role random)",
    ] {
        let report = report(&game(&rules(two)), &options(100));
        let symmetry = claim(&report, Subject::RoleSymmetry);
        let text = "the rules are symmetric in the roles: swap ann and bob";
        assert_eq!(symmetry.text, text);
    }
    let one = report(&game(&rules("(role random) (role ann)")), &options(100));
    let is_symmetry = |claim: &&Claim| claim.subject == Subject::RoleSymmetry;
    assert!(one.claims.iter().find(is_symmetry).is_none());
}

#[test]
fn an_atom_below_not_that_always_holds_is_not_said_to_fail() {
    let game = game(
        "(role r) (init (lamp on)) (init (n 0)) (s 0 1) (s 1 2) (legal r wait)
        (<= (next (lamp on)) (true (lamp on))) (<= (next (n ?y)) (true (n ?x)) (s ?x ?y))
        (<= lit (true (lamp on))) (<= terminal (not lit)) (<= terminal (true (n 2)))
        (<= terminal (true (n ?x)) (not lit))
        (<= (goal r 100) (true (n 2))) (<= (goal r 0) (not (true (n 2))))",
    );
    let notes: Vec<String> = report(&game, &options(1_000))
        .findings
        .iter()
        .flat_map(|finding| finding.notes.iter().map(|note| note.1.clone()))
        .collect();
    let both = [
        "this always holds, so `not` never does",
        "this holds whenever the conditions before it do, so `not` never does",
    ];
    assert_eq!(notes, both);
}

#[test]
fn a_choice_among_goal_values_is_said() {
    let rules = "(role s) (init on) (legal s stop) (<= (next off) (true on))
        (<= terminal (true off)) (goal s 10) (goal s 100)";
    let chosen = game(rules).choosing_goals(GoalChoice::Highest);
    let report = report(&chosen, &options(1_000));
    let text = &claim(&report, Subject::Goal).text;
    assert!(
        text.ends_with(", if the highest of several counts"),
        "{text}"
    );
}

#[test]
fn what_nobody_looked_at_is_no_warning() {
    let mut none = options(0);
    none.playouts = 0;
    let zero = "(<= (goal ?r 0) (role ?r) (not (true (turn ?r))))";
    let report = report(&with(zero, "(<= (goal ?r 0) (role ?r))"), &none);
    assert_eq!((report.playouts, report.space), (0, None));
    let goal = claim(&report, Subject::Goal);
    assert_eq!(goal.verdict, ClaimVerdict::Open, "{goal:#?}");
    let is_blamed =
        |claim: &&Claim| claim.verdict == ClaimVerdict::Open && claim.severity > Severity::Remark;
    assert!(!report.claims.iter().any(|claim| is_blamed(&claim)));
}

#[test]
fn an_interrupt_keeps_the_observations() {
    let stop = Stop::new();
    let alarm = Alarm::new(stop.clone());
    let limits = Limits {
        stop: alarm.bell(),
        ..Limits::default()
    };
    let walk = game(WALK);
    let mut machine = AnyMachine::new(&walk, Backend::Auto, limits.clone()).expect("it is small");
    let mut options = options(0);
    options.playouts = u64::MAX;
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            stop.raise();
        });
        playcheck_within(&mut machine, &limits, &alarm, &options)
    });
    let report = report.expect("it is what was seen");
    assert!(report.interrupted && report.cut && report.playouts > 0);
    assert_eq!(claim(&report, Subject::Goal).verdict, ClaimVerdict::Holds);
}

#[test]
fn proved_claims_hold_in_all_positions() {
    crate::common::for_each(&crate::common::some_own_games(4), |_, game| {
        let some = report(game, &options(0));
        for claim in &some.claims {
            check_example(game, claim)?;
        }
        if some.has_errors() {
            return Err(format!("{:?}", some.claims));
        }
        let all = report(game, &options(crate::common::sized(250, 30_000)));
        if all.space.is_none() {
            return Ok(());
        }
        for claim in &some.claims {
            let same = |other: &&Claim| other.subject == claim.subject && other.role == claim.role;
            let Some(whole) = all.claims.iter().find(same) else {
                return Err(format!("nothing of {claim:?}"));
            };
            let is_proved = matches!(
                claim.basis,
                Basis::Induction | Basis::Rules | Basis::Example
            );
            if is_proved && claim.verdict != ClaimVerdict::Open && claim.verdict != whole.verdict {
                return Err(format!("{claim:?}, but {whole:?}"));
            }
            // A bound is at least as large as the exact number.
            let most = |claim: &Claim| {
                claim
                    .text
                    .split_whitespace()
                    .find_map(|word| word.parse::<u64>().ok())
            };
            if is_proved && claim.subject == Subject::Ends && most(claim) < most(whole) {
                return Err(format!("{claim:?}, but {whole:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn reports_do_not_depend_on_names() {
    let compared = AtomicUsize::new(0);
    crate::common::for_each(&crate::common::some_own_games(3), |_, game| {
        let text: String = game
            .sources()
            .files()
            .iter()
            .map(|file| file.text().to_owned())
            .collect();
        let other = Game::from_text("other.kif", &crate::common::names::scrambled(&text))
            .map_err(|_| "not read".to_owned())?;
        let [one, other] = [game, &other].map(|game| {
            let report = report(game, &options(crate::common::sized(50, 5_000)));
            let said: Vec<_> = report
                .claims
                .iter()
                .map(|c| {
                    (
                        c.subject,
                        c.verdict,
                        c.basis,
                        c.severity,
                        c.moves.as_ref().map(Vec::len),
                    )
                })
                .collect();
            (
                said,
                report.space,
                report.positions,
                report.lengths,
                report.dead_rules,
            )
        });
        // Goals other than 0, 50 and 100 are renamed, too.
        let is_goal = |(subject, verdict, ..): &&(_, _, _, _, _)| {
            *subject == Subject::Goal && *verdict == ClaimVerdict::Fails
        };
        if other.0.iter().any(|claim| is_goal(&claim)) {
            return Ok(());
        }
        compared.fetch_add(1, Ordering::Relaxed);
        match one == other {
            true => Ok(()),
            false => Err(format!("{one:?}, but {other:?}")),
        }
    });
    assert!(compared.into_inner() > 5);
}
