//! Networks: their limits, states that they do not cover, and playouts.

use std::borrow::Cow;
use std::collections::HashMap;

use ggp_engine::machine::Excess;
use ggp_engine::machine::{
    AnyMachine, Backend, Limits, Machine, PlayError, PlayoutOptions, PropnetMachine, PropnetState,
    canonical_facts, canonical_moves, playout, scores,
};
use ggp_engine::propnet::playout::{PlayoutOptions as LaneOptions, Playouts, Proceed, Tally};
use ggp_engine::propnet::rollouts::RolloutOptions;
use ggp_engine::propnet::{Approach, GroundError, GroundLimits, Grounded, Propnet};
use ggp_gdl::game::{Game, Move};
use ggp_stop::Stop;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Two roles move simultaneously; a third one watches. The lamp `always` never goes
/// out, `never` cannot be lit, and `twin` is lit when `lamp` is.
const LAMPS: &str = "
    (role left) (role right) (role watcher)
    (init always) (init (at 0)) (init lamp) (init twin)
    (after 0 1) (after 1 2) (after 2 3) (after 3 4)
    (<= (legal left (press ?x)) (true (at ?x)))
    (<= (legal left wait) (true (at ?x)))
    (<= (legal right (press ?x)) (true (at ?x)))
    (<= (legal right wait) (true lamp))
    (<= (legal watcher look))
    (<= (legal watcher cheat) (true never))
    (<= (next never) (does watcher cheat))
    (<= (next always) (true always))
    (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
    (<= (next lamp) (does left (press ?x)) (does right wait))
    (<= (next lamp) (true lamp) (does left wait))
    (<= (next twin) (does left (press ?x)) (does right wait))
    (<= (next twin) (true twin) (does left wait))
    (<= (goal left 100) (true lamp))
    (<= (goal left 0) (not (true lamp)))
    (<= (goal right 50) (true twin))
    (<= (goal right 10) (not (true twin)))
    (goal watcher 7)
    (<= terminal (true (at 4)))";

fn lamps() -> Game {
    Game::from_text("lamps.kif", LAMPS).unwrap_or_else(|reading| panic!("{:?}", reading.findings))
}

fn machine(game: &Game) -> PropnetMachine {
    PropnetMachine::new(game, Limits::default()).unwrap()
}

/// Compares the answers of the network and of Datalog in one position. `packed` is
/// true if the network covers it.
fn check_position(facts: &[&str], packed: bool) {
    let game = lamps();
    let mut left = machine(&game);
    let mut right = AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap();
    let facts: Vec<_> = facts
        .iter()
        .map(|fact| game.parse_term(left.terms_mut(), fact).unwrap())
        .collect();
    right.terms_mut().refresh();
    let mine = left.state(&facts).unwrap();
    let theirs = right.state(&facts).unwrap();
    assert_eq!(matches!(mine, PropnetState::Packed(_)), packed, "{facts:?}");
    assert_eq!(
        canonical_facts(&left, &mine),
        canonical_facts(&right, &theirs)
    );
    assert_eq!(left.is_terminal(&mine), right.is_terminal(&theirs));
    let mut joint: Vec<Move> = Vec::new();
    for role in game.roles() {
        let (mut moves, mut others) = (Vec::new(), Vec::new());
        assert_eq!(
            left.legal(&mine, role, &mut moves),
            right.legal(&theirs, role, &mut others)
        );
        assert_eq!(
            canonical_moves(&left, &moves),
            canonical_moves(&right, &others)
        );
        assert_eq!(
            left.goal_values(&mine, role),
            right.goal_values(&theirs, role)
        );
        joint.extend(moves.last());
    }
    let mine = left.next(&mine, &joint).unwrap();
    let theirs = right.next(&theirs, &joint).unwrap();
    assert_eq!(
        canonical_facts(&left, &mine),
        canonical_facts(&right, &theirs)
    );
}

#[test]
fn reachable_states_are_packed() {
    check_position(&["always", "(at 0)", "lamp", "twin"], true);
    check_position(&["always", "(at 2)"], true);
}

#[test]
fn unreachable_states_are_answered_by_datalog() {
    // A constant fact has another value, equal facts differ, or the network lacks a
    // fact.
    check_position(&["(at 0)", "lamp", "twin"], false);
    check_position(&["always", "(at 0)", "lamp"], false);
    check_position(&["always", "never", "lamp", "twin", "(at 1)"], false);
    check_position(&["always", "lamp", "twin", "(at lamp)", "(at 1)"], false);
}

#[test]
fn a_move_that_is_never_legal_can_be_made_unchecked() {
    let game = lamps();
    let mut machine = machine(&game);
    let start = machine.initial().unwrap();
    let mut term = |text: &str| Move::new(game.parse_term(machine.terms_mut(), text).unwrap());
    let joint = [term("wait"), term("wait"), term("cheat")];
    let next = machine.next(&start, &joint).unwrap();
    assert_eq!(
        canonical_facts(&machine, &next),
        ["(at 1)", "always", "lamp", "never", "twin"]
    );
    let checked = machine.play(&start, &joint);
    assert!(
        matches!(checked, Err(PlayError::IllegalMove { .. })),
        "{checked:?}"
    );
}

/// A game with a fact for each subset of ten things.
const SUBSETS: &str = "
    (role one)
    (bit 0) (bit 1)
    (init (s 0 0 0 0 0 0 0 0 0 0))
    (<= (legal one (set ?a ?b ?c ?d ?e ?f ?g ?h ?i ?j))
        (bit ?a) (bit ?b) (bit ?c) (bit ?d) (bit ?e)
        (bit ?f) (bit ?g) (bit ?h) (bit ?i) (bit ?j))
    (<= (next (s ?a ?b ?c ?d ?e ?f ?g ?h ?i ?j))
        (does one (set ?a ?b ?c ?d ?e ?f ?g ?h ?i ?j)))
    (<= terminal (true (s 1 1 1 1 1 1 1 1 1 1)))
    (goal one 100)";

/// The counted things, the limit and the rule of the error that grounding gives.
fn exceeded(limits: &GroundLimits) -> (&'static str, u64, Option<String>) {
    let game = Game::from_text("subsets.kif", SUBSETS).unwrap();
    match Propnet::ground(&game, limits).expect_err("it is too large") {
        GroundError::TooLarge(Excess {
            what: Cow::Borrowed(what),
            limit,
            rule,
            ..
        }) => (what, limit, rule),
        error => panic!("{error}"),
    }
}

#[test]
fn the_error_names_the_exceeded_limit_and_the_rule() {
    // The moves do not depend on the state, so twice as many are allowed.
    let (what, limit, rule) = exceeded(&GroundLimits {
        facts: 500,
        ..GroundLimits::default()
    });
    assert_eq!((what, limit), ("facts that can ever hold", 1_000));
    assert_eq!(rule.as_deref(), Some("subsets.kif:5:5"));
    let (what, limit, _) = exceeded(&GroundLimits {
        instances: 1_000,
        ..GroundLimits::default()
    });
    assert_eq!((what, limit), ("instances of rules", 1_000));
    let (what, limit, _) = exceeded(&GroundLimits {
        memory: 1_000,
        ..GroundLimits::default()
    });
    assert_eq!((what, limit), ("bytes of rows and gates", 1_000));
    let (what, limit, _) = exceeded(&GroundLimits {
        time: Some(std::time::Duration::ZERO),
        ..GroundLimits::default()
    });
    assert_eq!((what, limit), ("milliseconds of grounding", 0));
}

#[test]
fn rows_that_need_no_gates_have_a_limit_of_their_own() {
    let mut rules = "(role r) (init (at n0)) (init (turn n0))
        (<= (linked ?x ?y) (number ?x) (number ?y) (distinct ?x ?y))
        (<= (legal r (go ?y)) (true (at ?x)) (linked ?x ?y))
        (<= (next (at ?y)) (does r (go ?y)))
        (<= terminal (true (at n9))) (<= (goal r 100) (true (at n9)))
        (<= (goal r 0) (not (true (at n9))))"
        .to_owned();
    for number in 0..40 {
        rules += &format!("(number n{number})");
    }
    // There are 1,560 pairs, and fewer than 200 facts and moves.
    let game = Game::from_text("linked.kif", &rules).unwrap();
    let ground = |facts| {
        let limits = GroundLimits {
            facts,
            ..GroundLimits::default()
        };
        Propnet::ground(&game, &limits)
    };
    let (_, grounded) = ground(800).unwrap();
    assert!(grounded.rows > 1_600, "{grounded:?}");
    assert!(ground(700).is_err());
}

#[test]
fn an_interrupted_grounding_reports_that() {
    let game = Game::from_text("subsets.kif", SUBSETS).unwrap();
    let limits = GroundLimits {
        stop: Stop::raised(),
        ..GroundLimits::default()
    };
    let error = Propnet::ground(&game, &limits).expect_err("it is interrupted");
    assert_eq!(error, GroundError::Interrupted);
}

#[test]
fn auto_falls_back_to_datalog() {
    let game = Game::from_text("subsets.kif", SUBSETS).unwrap();
    let limits = Limits {
        ground: GroundLimits {
            facts: 500,
            ..GroundLimits::default()
        },
        ..Limits::default()
    };
    let (mut machine, why_not) = AnyMachine::auto(&game, limits).unwrap();
    assert_eq!(machine.backend(), Backend::Datalog);
    assert_eq!(
        why_not.unwrap().to_string(),
        "more than 1000 facts that can ever hold, reached by the rule at subsets.kif:5:5"
    );
    let start = machine.initial().unwrap();
    let mut moves = Vec::new();
    let role = game.roles().next().unwrap();
    machine.legal(&start, role, &mut moves).unwrap();
    assert_eq!(moves.len(), 1_024);
}

/// One moves four counters and wins if they all differ, for which there is no decomposition.
const DIFFER: &str = "
    (role one) (counter a) (counter b) (counter c) (counter d)
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
    (init (at a 0)) (init (at b 0)) (init (at c 0)) (init (at d 0)) (init (left 8))
    (<= (legal one (up ?x)) (counter ?x))
    (<= (next (at ?x ?n)) (does one (up ?x)) (true (at ?x ?m)) (succ ?m ?n))
    (<= (next (at ?x ?n)) (true (at ?x ?n)) (does one (up ?y)) (distinct ?x ?y))
    (<= (next (left ?n)) (true (left ?m)) (succ ?n ?m))
    (<= differ (true (at a ?a)) (true (at b ?b)) (true (at c ?c)) (true (at d ?d))
        (distinct ?a ?b) (distinct ?a ?c) (distinct ?a ?d) (distinct ?b ?c) (distinct ?b ?d)
        (distinct ?c ?d))
    (<= terminal (true (left 0)))
    (<= (goal one 100) differ) (<= (goal one 0) (not differ))";

#[test]
fn goals_that_cannot_be_grounded_are_asked_of_datalog() {
    let limits = Limits {
        ground: GroundLimits {
            instances: 2_000,
            ..GroundLimits::default()
        },
        ..Limits::default()
    };
    let game = Game::from_text("differ.kif", DIFFER).unwrap();
    let (mut mixed, why_not) = AnyMachine::auto(&game, limits.clone()).unwrap();
    let why_not = why_not.expect("it is too large").to_string();
    assert!(why_not.contains("more than 2000"), "{why_not}");
    let start = mixed.initial().unwrap();
    // Nobody may take it for a state of a whole network.
    assert!(mixed.network(&start).is_none());
    let mut datalog = AnyMachine::new(&game, Backend::Datalog, limits.clone()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let role = game.roles().next().unwrap();
    let (mut ends, mut won) = (Vec::new(), 0.0);
    for _ in 0..1_000 {
        let first = datalog.initial().unwrap();
        let options = PlayoutOptions::default();
        let played = playout(&mut datalog, &first, options, &mut random).unwrap();
        let mut state = start.clone();
        for step in &played.steps {
            assert!(!mixed.is_terminal(&state).unwrap());
            let mut legal = Vec::new();
            mixed.legal(&state, role, &mut legal).unwrap();
            assert_eq!(legal, step.legal[0]);
            state = mixed.next(&state, &step.joint).unwrap();
        }
        assert!(mixed.is_terminal(&state).unwrap());
        let scores = scores(&mut mixed, &state).unwrap();
        won += f64::from(scores[0].get()) / 100.0;
        assert_eq!(Some(scores), played.scores);
        ends.push(state);
    }
    let AnyMachine::Mixed(mut machine) = mixed else {
        panic!("{:?}", mixed.backend());
    };
    let packed = |state: &PropnetState| match state {
        PropnetState::Mixed(packed) => packed.to_vec(),
        other => panic!("{other:?}"),
    };
    let options = RolloutOptions {
        lists_ends: true,
        ..RolloutOptions::default()
    };
    let mut rollouts = machine.moves().rollouts(options, 1).unwrap();
    // From the start, and from ends, which are ends of playouts at once.
    let starts = [packed(&start), packed(&ends[0]), packed(&ends[1])];
    rollouts.run(&starts, 4_000, &mut || Proceed::On);
    rollouts.score_ends(|state| Some(machine.scores(state).unwrap()));
    let mean = |number: usize| rollouts.outcomes()[number].mean(0).unwrap();
    assert!((won / 10.0 - mean(0)).abs() < 5.0, "{won} {}", mean(0));
    assert!(won > 10.0, "{won}");
    for (number, end) in ends[..2].iter().enumerate() {
        let score = machine.goal(end, role).unwrap();
        assert_eq!(mean(1 + number), f64::from(score.get()));
        assert_eq!(rollouts.outcomes()[1 + number].playouts, 4_000);
    }
    // What is not scored is left out.
    rollouts.run(&starts[..1], 100, &mut || Proceed::On);
    let mut left = 30;
    rollouts.score_ends(|state| {
        left -= 1;
        (left >= 0).then(|| machine.scores(state).unwrap())
    });
    assert_eq!(rollouts.outcomes()[0].playouts, 30);
}

/// A step counter without an end has infinitely many facts.
#[test]
fn endless_growth_ends_with_a_limit() {
    let rules = "(role one) (legal one go) (init (n 0)) (goal one 0)
                 (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true over))
                 (<= (next over) (true never))";
    let game = Game::from_text("endless", rules).unwrap();
    let reason = Propnet::ground(&game, &GroundLimits::default()).expect_err("it is endless");
    assert_ne!(reason, GroundError::Interrupted);
}

/// The mean and the variance of numbers, given the frequency of each.
fn moments(numbers: impl IntoIterator<Item = (f64, u64)>) -> (f64, f64) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (number, times) in numbers {
        let times = times as f64;
        count += times;
        sum += times * number;
        squares += times * number * number;
    }
    let mean: f64 = sum / count;
    (mean, (squares / count - mean * mean).max(0.0))
}

#[test]
fn playouts_of_lanes_have_the_means_of_single_ones() {
    const SINGLE: u64 = 400;
    const LANES: u64 = 40_000;
    let is_small = |name: &str| {
        !["hitori", "sudoku", "lights_out"]
            .iter()
            .any(|n| name.starts_with(n))
    };
    for (name, game) in crate::common::own_games() {
        if !is_small(&name) {
            continue;
        }
        let mut single = AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap();
        let start = single.initial().unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(crate::common::seed());
        let mut columns = vec![Vec::new(); 1 + game.role_count()];
        for _ in 0..SINGLE {
            let options = PlayoutOptions { depth: 300 };
            let played = playout(&mut single, &start, options, &mut random).unwrap();
            columns[0].push((played.steps.len() as f64, 1));
            for (column, score) in columns[1..].iter_mut().zip(played.scores.iter().flatten()) {
                column.push((f64::from(score.get()), 1));
            }
        }
        if columns.iter().any(|column| column.len() as u64 != SINGLE) {
            // Some playouts were cut, so their lengths are not comparable.
            continue;
        }
        let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).unwrap();
        net.simplify();
        let lanes = Playouts::new(&net, &LaneOptions::default());
        let tally = lanes.run(LANES, crate::common::seed(), 1, || Proceed::On);
        assert_eq!(tally.playouts, LANES, "{name}");
        let mut terms = game.terms().clone();
        terms.refresh();
        let length = tally.state_changes as f64 / LANES as f64;
        let square = tally.squared_lengths as f64 / LANES as f64;
        let mut found = vec![(length, (square - length * length).max(0.0))];
        for (goals, counts) in net.goals().iter().zip(&tally.goals) {
            let score = |value| f64::from(game.score(&terms, value).unwrap().get());
            let goals = goals.iter().map(|&(value, _)| score(value));
            found.push(moments(goals.zip(counts.iter().copied())));
        }
        for (column, (mean, variance)) in columns.into_iter().zip(found) {
            let single = moments(column).0;
            // The standard error of the difference, by the variance of the larger
            // sample: rare events may be missing in the smaller one.
            let error = (variance * (1.0 / SINGLE as f64 + 1.0 / LANES as f64)).sqrt();
            assert!(
                (single - mean).abs() <= 5.0 * error + 1e-9,
                "{name}: {single} and {mean}, standard error {error}"
            );
        }
    }
}

/// Compares the playouts of all approaches to grounding, made for one phase and for
/// the usual number of phases. The result is the latter, by approach.
fn check_approaches(name: &str, game: &Game) -> [usize; 3] {
    // Playouts of networks with different numbers of phases draw other numbers.
    let mut by_phases: HashMap<usize, Tally> = HashMap::new();
    [Approach::Whole, Approach::Pieces, Approach::OnDemand].map(|approach| {
        let limits = GroundLimits {
            approach,
            ..GroundLimits::default()
        };
        let (mut net, _) = Propnet::ground(game, &limits).unwrap();
        net.simplify();
        let usual = LaneOptions {
            depth: Some(60),
            ..LaneOptions::default()
        };
        let single = LaneOptions {
            phases: 1,
            ..usual.clone()
        };
        let [single, usual] = [single, usual].map(|options| Playouts::new(&net, &options));
        assert_eq!(single.phases(), 1, "{name}, {approach:?}");
        let both = [&single, &usual].into_iter();
        for playouts in both.take(usual.phases().min(2)) {
            let tally = playouts.run(2_000, 3, 1, || Proceed::On);
            let phases = playouts.phases();
            let known = by_phases.entry(phases).or_insert_with(|| tally.clone());
            assert_eq!(*known, tally, "{name}, {approach:?}, {phases} phases");
        }
        usual.phases()
    })
}

#[test]
fn all_approaches_to_grounding_give_the_same_playouts() {
    for (name, game) in crate::common::own_games() {
        check_approaches(&name, &game);
    }
}

/// Two roles in turn darken one of two lamps, of sixteen in a ring. The rules ask which
/// lamps are joined to a given one, from either side. On demand, each side has its own
/// copy of the recursive gates. The gates that depend on whose turn it is are then too
/// small a part for two phases.
const RING: &str = "
    (role a) (role b) (other a b) (other b a) (init (turn a)) (weak 1) (weak 2)
    (way 1 2) (way 2 3) (way 3 4) (way 4 5) (way 5 6) (way 6 7) (way 7 8) (way 8 9)
    (way 9 10) (way 10 11) (way 11 12) (way 12 13) (way 13 14) (way 14 15) (way 15 16) (way 16 1)
    (<= (init (lit ?x)) (way ?x ?y))
    (<= (legal ?r (darken ?x)) (true (turn ?r)) (weak ?x))
    (<= (legal ?r wait) (other ?r ?s) (true (turn ?s)))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= (next (lit ?x)) (true (lit ?x)) (not (does a (darken ?x))) (not (does b (darken ?x))))
    (<= (joined ?x ?y) (near ?x ?y))
    (<= (joined ?x ?z) (joined ?x ?y) (near ?y ?z))
    (<= (near ?x ?y) (way ?x ?y) (true (lit ?x)) (true (lit ?y)))
    (<= (near ?y ?x) (way ?x ?y) (true (lit ?x)) (true (lit ?y)))
    (<= terminal (not (joined 2 4)) (not (joined 3 1)))
    (<= terminal (joined ?x 3) (way ?x ?y) (not (joined ?x 1)))
    (<= (goal a 100) (true (turn b)))
    (<= (goal a 0) (true (turn a)))
    (<= (goal b 100) (true (turn a)))
    (<= (goal b 0) (true (turn b)))";

#[test]
fn networks_of_different_phases_are_compared_in_one_phase() {
    let game = Game::from_text("ring.kif", RING).unwrap();
    assert_eq!(check_approaches("ring", &game), [2, 2, 1]);
}

#[test]
fn the_network_does_not_depend_on_terms_interned_before() {
    for name in ["three_player_race", "senku", "breakthrough", "hitori"] {
        let game = || {
            let path = format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).expect("the built-in games exist");
            Game::from_text(&path, &text).expect("the built-in games are valid")
        };
        let limits = GroundLimits::default();
        let (first, grounded) = Propnet::ground(&game(), &limits).expect("it is small");
        let of_roles = |moves: &Vec<Move>| moves.iter().map(|m| m.term()).collect::<Vec<_>>();
        let written = |net: &Propnet| {
            let mut terms = net.game().terms().clone();
            terms.refresh();
            let moves = net.moves().iter().flat_map(of_roles);
            let listed = net.facts().iter().copied().chain(moves);
            let texts = listed.map(|term| net.game().text(&terms, term).to_string());
            texts.collect::<Vec<_>>()
        };
        // The same terms, made in another order.
        let other = game();
        let mut terms = other.terms().clone();
        for text in written(&first).iter().rev() {
            other.parse_term(&mut terms, text).expect("it is a term");
        }
        let (second, again) = Propnet::ground(&other, &limits).expect("it is small");
        assert_ne!(first.facts(), second.facts(), "{name}: ids differ");
        assert_eq!(written(&first), written(&second), "{name}");
        // The bytes of rows depend on the ids.
        let counted = |of: &Grounded| (of.rows, of.instances, of.work, of.memory.rows);
        assert_eq!(counted(&grounded), counted(&again), "{name}");
        assert_eq!(first.network().gates(), second.network().gates(), "{name}");
        assert_eq!(first.roots(), second.roots(), "{name}");
    }
}
