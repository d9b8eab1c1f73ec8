//! The changes of rules before they are grounded, and the passes over gates: what each of them
//! saves, and that none changes an answer.

use std::path::Path;

use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed, Tally};
use ggp_engine::propnet::{Approach, GroundLimits, Grounded, Passes, Propnet, Rewrites};
use ggp_gdl::game::Game;

use crate::common::names::scrambled;
use crate::common::some_own_games;

/// A king walks on seven by seven squares and must not be seen along a row or column by one of
/// two hunters, who do not see through each other. A step may be onto a hunter. Whether a square
/// is seen afterwards depends on the square that the king leaves and the one that it enters.
/// Hunters step only while the king is neither seen without them nor watched.
const HUNT: &str = "
    (role king) (role hunters)
    (number 1) (number 2) (number 3) (number 4) (number 5) (number 6) (number 7)
    (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
    (init (on king 4 4)) (init (on one 1 1)) (init (on two 7 6)) (init (turn king)) (init (at 1))
    (hunter one) (hunter two)
    (<= (near ?x ?y) (succ ?x ?y))
    (<= (near ?x ?y) (succ ?y ?x))
    (<= (taken ?x ?y) (true (on ?who ?x ?y)))
    (<= (clear_row ?x ?y ?z ?left ?top) (succ ?x ?z) (number ?y) (number ?left) (number ?top))
    (<= (clear_row ?x ?y ?z ?left ?top) (succ ?x ?between) (not (taken ?between ?y))
        (clear_row ?between ?y ?z ?left ?top))
    (<= (clear_row ?x ?top ?z ?left ?top) (succ ?x ?left) (clear_row ?left ?top ?z ?left ?top))
    (<= (clear_column ?x ?y ?z ?left ?top) (succ ?y ?z) (number ?x) (number ?left) (number ?top))
    (<= (clear_column ?x ?y ?z ?left ?top) (succ ?y ?between) (not (taken ?x ?between))
        (clear_column ?x ?between ?z ?left ?top))
    (<= (clear_column ?left ?y ?z ?left ?top) (succ ?y ?top)
        (clear_column ?left ?top ?z ?left ?top))
    (<= (line ?x ?y ?z ?y ?left ?top) (clear_row ?x ?y ?z ?left ?top))
    (<= (line ?z ?y ?x ?y ?left ?top) (clear_row ?x ?y ?z ?left ?top))
    (<= (line ?x ?y ?x ?z ?left ?top) (clear_column ?x ?y ?z ?left ?top))
    (<= (line ?x ?z ?x ?y ?left ?top) (clear_column ?x ?y ?z ?left ?top))
    (<= (apart ?x ?y ?u ?v) (distinct ?x ?u) (number ?x) (number ?y) (number ?u) (number ?v))
    (<= (apart ?x ?y ?u ?v) (distinct ?y ?v) (number ?x) (number ?y) (number ?u) (number ?v))
    (<= (seen ?x ?y ?gone ?gone2 ?left ?top) (hunter ?who) (true (on ?who ?u ?v))
        (apart ?u ?v ?gone ?gone2) (line ?u ?v ?x ?y ?left ?top))
    (<= (step ?who (way ?x ?y ?u ?y)) (true (on ?who ?x ?y)) (near ?x ?u))
    (<= (step ?who (way ?x ?y ?x ?u)) (true (on ?who ?x ?y)) (near ?y ?u))
    (<= (legal king (move king ?x ?y ?u ?v)) (true (turn king)) (step king (way ?x ?y ?u ?v))
        (not (seen ?u ?v ?u ?v ?x ?y)))
    (<= (legal hunters (move ?who ?x ?y ?u ?v)) (true (turn hunters)) (hunter ?who)
        (step ?who (way ?x ?y ?u ?v)) (not (taken ?u ?v)) (true (on king ?a ?b))
        (not (watched ?a ?b)) (not (seen ?a ?b ?x ?y ?u ?v)))
    (<= (legal hunters wait) (true (turn hunters)))
    (<= (watched ?x ?y) (hunter ?who) (true (on ?who ?x ?z)) (near ?y ?z))
    (<= (legal king wait) (true (turn hunters)))
    (<= (legal hunters wait) (true (turn king)))
    (<= (next (on ?who ?u ?v)) (does ?role (move ?who ?x ?y ?u ?v)))
    (<= (moved ?who) (does ?role (move ?who ?x ?y ?u ?v)))
    (<= (entered ?u ?v) (does ?role (move ?who ?x ?y ?u ?v)))
    (<= (next (on ?who ?x ?y)) (true (on ?who ?x ?y)) (not (moved ?who)) (not (entered ?x ?y)))
    (<= (next (turn king)) (true (turn hunters)))
    (<= (next (turn hunters)) (true (turn king)))
    (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
    (<= can_step (legal king (move king ?x ?y ?u ?v)))
    (<= terminal (true (turn king)) (not can_step))
    (<= terminal (true (at 7)))
    (<= (goal king 100) can_step)
    (<= (goal king 0) (not can_step))
    (<= (goal hunters 0) can_step)
    (<= (goal hunters 100) (not can_step))";

/// [`HUNT`] with a relation for pairs of numbers that nothing else restricts.
fn hunt_on_squares() -> String {
    let squares = "(<= (square ?x ?y) (number ?x) (number ?y))";
    let rules = HUNT.replace("(number ?left) (number ?top)", "(square ?left ?top)");
    assert_ne!(rules, HUNT);
    rules + squares
}

/// A relation that holds for all values of a domain, or for some, and is used in every way: with a
/// value outside of the domain, with one variable in two columns, within alternatives, behind a
/// negation in them, and for no value in particular.
const EVERY_USE: &str = "
    (role r) (some a) (some b) (all a) (all b) (all c) (pair a b) (pair b c) (pair c c)
    (init (lit a)) (init (at 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
    (<= (open ?x ?any ?other) (true (lit ?x)) (some ?any) (all ?other))
    (<= (open ?x ?y ?z) (not (true (lit ?x))) (pair ?x ?y) (pair ?y ?z))
    (<= (passed ?x ?any ?other) (pair ?y ?x) (open ?y ?any ?other))
    (<= (both ?any) (open a ?any ?any) (passed b ?any c))
    (<= (legal r (toggle ?x)) (all ?x))
    (<= (legal r (mark ?x ?y)) (all ?x) (all ?y) (not (open ?x ?y ?y)))
    (<= (legal r (pass ?x)) (all ?x) (or (open ?x ?x b) (not (passed ?x ?x ?x))))
    (<= (legal r (join ?x)) (both ?x))
    (<= (legal r (any ?x)) (all ?x) (passed ?x ?y ?z))
    (<= (next (lit ?x)) (does r (toggle ?x)) (not (true (lit ?x))))
    (<= (next (lit ?x)) (true (lit ?x)) (not (does r (toggle ?x))))
    (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
    (<= terminal (true (at 5)))
    (<= (goal r 100) (both b))
    (<= (goal r 50) (passed a c a) (not (both b)))
    (<= (goal r 0) (not (passed a c a)) (not (both b)))";

/// Relations with up to eight sets of free columns, several of which meet in a rule for a move.
const MANY_FORMS: &str = "
    (role r) (all a) (all b) (pair a b) (init (lit a)) (init (at 1)) (after 1 2) (after 2 3)
    (<= (open ?x ?y ?z) (true (lit ?x)) (all ?y) (all ?z))
    (<= (open ?x ?y ?z) (true (lit ?y)) (all ?x) (all ?z))
    (<= (open ?x ?y ?z) (true (lit ?z)) (all ?x) (all ?y))
    (<= (open ?x ?y ?z) (true (lit b)) (all ?x) (pair ?y ?z))
    (<= (open ?x ?y ?z) (true (lit b)) (all ?y) (pair ?x ?z))
    (<= (wide ?x ?y ?z) (true (lit ?x)) (true (lit ?y)) (all ?z))
    (<= (wide ?x ?y ?z) (true (lit ?x)) (all ?y) (all ?z))
    (<= (wide ?x ?y ?z) (true (lit a)) (all ?x) (all ?y) (all ?z))
    (<= (wide ?x ?y ?z) (true (lit b)) (pair ?x ?y) (pair ?y ?z))
    (<= (legal r (toggle ?x)) (all ?x))
    (<= (legal r (go ?x ?y ?z)) (open ?x ?y ?z) (open ?y ?z ?x) (wide ?z ?x ?y) (wide ?x ?x ?z))
    (<= (next (lit ?x)) (does r (toggle ?x)) (not (true (lit ?x))))
    (<= (next (lit ?x)) (true (lit ?x)) (not (does r (toggle ?x))))
    (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
    (<= terminal (true (at 3)))
    (<= (goal r 100) (open a b a) (wide b b a))
    (<= (goal r 0) (not (open a b a)))
    (<= (goal r 50) (open a b a) (not (wide b b a)))";

/// A move with 64,000 forms, and another that asks for some of them in a negation only.
const ASKED_MOVES: &str = "
    (role r) (init (at d1)) (init (near d1)) (init (near d2)) (next (near d1))
    (d d1) (d d2) (d d3) (d d4) (d d5) (d d6) (d d7) (d d8) (d d9) (d d10) (d d11) (d d12) (d d13)
    (d d14) (d d15) (d d16) (d d17) (d d18) (d d19) (d d20) (d d21) (d d22) (d d23) (d d24) (d d25)
    (d d26) (d d27) (d d28) (d d29) (d d30) (d d31) (d d32) (d d33) (d d34) (d d35) (d d36) (d d37)
    (d d38) (d d39) (d d40)
    (<= (legal r (go ?x ?y ?z)) (true (near ?x)) (d ?x) (d ?y) (d ?z))
    (<= (legal r (stay ?x)) (true (at ?x)) (not (legal r (go ?x ?x ?x))))
    (<= (next (at ?y)) (does r (go ?x ?y ?z)))
    (<= (next (near ?x)) (does r (go ?x ?y ?z)))
    (<= (next (near ?z)) (does r (go ?x ?y ?z)))
    (<= terminal (true (at d40)))
    (<= (goal r 100) (true (at d40)))
    (<= (goal r 0) (not (true (at d40))))";

/// A square is kept if either of two roles makes one of the eleven moves that do not touch it.
const KEPT: &str = "
    (role left) (role right) (square 1) (square 2) (square 3) (init (at 1)) (init (at 2))
    (init (at 3)) (init (step 1)) (after 1 2) (after 2 3)
    (way a) (way b) (way c) (way d) (way e) (way f) (way g) (way h) (way i) (way j) (way k)
    (touches a 1) (touches b 2) (touches c 3)
    (<= (legal ?r ?w) (role ?r) (way ?w))
    (<= (made ?w) (does ?r ?w))
    (<= (next (at ?s)) (true (at ?s)) (made ?w) (not (touches ?w ?s)))
    (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
    (<= terminal (true (step 3)))
    (<= (goal ?r 100) (role ?r) (true (at 1)))
    (<= (goal ?r 0) (role ?r) (not (true (at 1))))";

/// Rules that ask which tokens are next to a king, and which are between two without a condition.
const ALL_BETWEEN: &str = "
    (<= (legal r (wait ?m)) (between ?l ?m ?r) (not (kind ?m king)))
    (<= (legal r (swap ?l)) (token ?l) (not (between ?l ?l ?l)))";

/// Forty tokens on three squares. Of three that are on different squares, only those with a king
/// at one end and a tower at the other matter, if there are no more rules.
fn between(more: &str) -> String {
    let mut rules = String::from(
        "(role r) (kind t1 king) (kind t2 tower) (kind t3 tower) (kind t4 king)
         (init (on t1 1)) (init (on t2 3)) (init (on t5 2)) (init (turn 1))
         (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7)
         (<= (plain ?t) (token ?t) (not (special ?t)))
         (<= (special ?t) (kind ?t ?kind))
         (<= (between ?l ?m ?r) (true (on ?l 1)) (true (on ?m 2)) (true (on ?r 3)))
         (<= (held ?m) (between ?l ?m ?r) (kind ?l king) (kind ?r tower) (plain ?m))
         (<= (held ?m) (between ?l ?m ?r) (kind ?r king) (or (kind ?l tower) (kind ?l queen))
             (token ?m) (distinct ?l ?m))
         (<= (legal r (put ?t ?s)) (token ?t) (square ?s) (not (held ?t)))
         (<= (moved ?t) (does r (put ?t ?s)))
         (<= (next (on ?t ?s)) (does r (put ?t ?s)))
         (<= (next (on ?t ?s)) (true (on ?t ?s)) (not (moved ?t)))
         (<= (next (turn ?n)) (true (turn ?m)) (after ?m ?n))
         (<= terminal (true (turn 7)))
         (<= (goal r 100) (held ?t))
         (<= any (held ?t))
         (<= (goal r 0) (not any))
         (square 1) (square 2) (square 3)",
    );
    for token in 1..=40 {
        rules.push_str(&format!("(token t{token})"));
    }
    rules + more
}

/// All rewrites but one, by name.
const WITHOUT: [(&str, Rewrites); 5] = [
    (
        "nested columns",
        Rewrites {
            nested_columns: false,
            ..Rewrites::ALL
        },
    ),
    (
        "free columns",
        Rewrites {
            free_columns: false,
            ..Rewrites::ALL
        },
    ),
    (
        "shared pieces",
        Rewrites {
            shared_pieces: false,
            ..Rewrites::ALL
        },
    ),
    (
        "asked rows",
        Rewrites {
            asked_rows: false,
            ..Rewrites::ALL
        },
    ),
    (
        "used rows",
        Rewrites {
            used_rows: false,
            ..Rewrites::ALL
        },
    ),
];

/// A pass over gates, and how to leave it out.
type Pass = (&'static str, fn(&mut Passes));

const PASSES: [Pass; 10] = [
    ("shared gates", |passes| passes.shared_gates = false),
    ("exclusive moves", |passes| passes.exclusive_moves = false),
    ("split moves", |passes| passes.split_moves = false),
    ("early factors", |passes| passes.early_factors = false),
    ("dead gates", |passes| passes.dead_gates = false),
    ("constants", |passes| passes.constants = false),
    ("exclusive facts", |passes| passes.exclusive_facts = false),
    ("factors", |passes| passes.factors = false),
    ("equal facts", |passes| passes.equal_facts = false),
    ("factors again", |passes| passes.factors_again = false),
];

fn grounded(game: &Game, approach: Approach, rewrites: Rewrites) -> (Propnet, Grounded) {
    let limits = GroundLimits {
        approach,
        rewrites,
        ..GroundLimits::default()
    };
    Propnet::ground(game, &limits).unwrap()
}

fn playouts(net: &Propnet) -> Tally {
    let options = PlayoutOptions {
        depth: Some(40),
        phases: 1,
        ..PlayoutOptions::default()
    };
    Playouts::new(net, &options).run(1_000, 5, 1, || Proceed::On)
}

/// Compares random playouts with and without each rewrite.
fn check(name: &str, game: &Game) {
    let (whole, _) = grounded(game, Approach::Whole, Rewrites::NONE);
    let expected = playouts(&whole);
    for (without, rewrites) in [("nothing", Rewrites::ALL)].iter().chain(&WITHOUT) {
        let (net, _) = grounded(game, Approach::Pieces, *rewrites);
        assert_eq!(playouts(&net), expected, "{name} without {without}");
    }
}

/// The network after passes over its gates.
fn simplified(game: &Game, passes: Passes) -> Propnet {
    let limits = GroundLimits {
        passes,
        ..GroundLimits::default()
    };
    Propnet::simplified(game, &limits).unwrap()
}

/// Compares random playouts with and without each pass, and without any.
fn check_passes(name: &str, game: &Game) {
    let expected = playouts(&simplified(game, Passes::NONE));
    assert_eq!(playouts(&simplified(game, Passes::ALL)), expected, "{name}");
    for (without, leave_out) in PASSES {
        let mut passes = Passes::ALL;
        leave_out(&mut passes);
        let net = simplified(game, passes);
        assert_eq!(playouts(&net), expected, "{name} without {without}");
    }
}

fn game(text: &str) -> Game {
    Game::from_text("game.kif", text).unwrap_or_else(|reading| panic!("{:?}", reading.findings))
}

#[test]
fn no_rewrite_changes_an_answer() {
    check("hunt", &game(HUNT));
    check("hunt on squares", &game(&hunt_on_squares()));
    check("every use", &game(EVERY_USE));
    check("many forms", &game(MANY_FORMS));
    check("asked moves", &game(ASKED_MOVES));
    check("between", &game(&between("")));
    check("all between", &game(&between(ALL_BETWEEN)));
    for (name, game) in some_own_games(4) {
        check(&name, &game);
    }
}

#[test]
fn no_pass_changes_an_answer() {
    let texts = [HUNT, EVERY_USE, MANY_FORMS, ASKED_MOVES, KEPT];
    for (name, text) in ["hunt", "every use", "many forms", "asked moves", "kept"]
        .iter()
        .zip(texts)
    {
        check_passes(name, &game(text));
    }
    for (name, game) in some_own_games(12) {
        check_passes(&name, &game);
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("games")
            .join(&name);
        let text = std::fs::read_to_string(file).expect("it was read before");
        let other = self::game(&scrambled(&text));
        check_passes(&format!("{name}, scrambled"), &other);
    }
}

#[test]
fn each_pass_saves_gates() {
    let own = |name: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("games")
            .join(name);
        game(&std::fs::read_to_string(file).expect("it is there"))
    };
    let games = [
        ("shared gates", own("kuhn_poker.kif")),
        ("exclusive moves", own("chomp.kif")),
        ("split moves", game(KEPT)),
        ("early factors", own("hex.kif")),
        ("dead gates", own("kuhn_poker.kif")),
        ("constants", own("light_cycles.kif")),
        ("exclusive facts", own("nim.kif")),
        ("factors", own("hitori.kif")),
        ("equal facts", own("kuhn_poker.kif")),
        ("factors again", own("kuhn_poker.kif")),
    ];
    for ((without, leave_out), (name, game)) in PASSES.into_iter().zip(games) {
        assert_eq!(without, name);
        let mut passes = Passes::ALL;
        leave_out(&mut passes);
        let gates = |passes| simplified(&game, passes).network().gates();
        let (less, more) = (gates(Passes::ALL), gates(passes));
        assert!(less < more, "{without}: {less} {more}");
    }
}

#[test]
fn a_simplified_network_keeps_no_room() {
    let net = simplified(&game(HUNT), Passes::ALL);
    let (nodes, gates) = (net.network().len(), net.network().gates());
    assert!(net.network().regions().is_empty());
    // A node has a kind and a start, and one operand more than gates, but the constant none.
    assert_eq!(
        net.network().bytes(),
        nodes + 4 * (nodes + 1) + 4 * (gates + nodes - 1)
    );
}

#[test]
fn terms_with_many_levels_stay_terms() {
    let nested = |levels: usize, open: &str, close: &str| {
        format!("{}z{}", open.repeat(levels), close.repeat(levels))
    };
    let (deep, wide) = (nested(150, "(s ", ")"), nested(150, "(list a ", ")"));
    let rules = format!(
        "(role r) (deep {deep}) (wide {wide}) (init (at 1))
         (<= (legal r (go ?x)) (deep (s ?x)))
         (<= (legal r (take ?x)) (wide (list ?x ?rest)))
         (<= (next (at 2)) (does r (take a)))
         (<= terminal (true (at 2))) (<= (goal r 100) (true (at 2)))
         (<= (goal r 0) (true (at 1)))"
    );
    check("levels", &game(&rules));
}

#[test]
fn each_rewrite_saves_rows_matches_or_gates() {
    let game = game(HUNT);
    let (net, all) = grounded(&game, Approach::Pieces, Rewrites::ALL);
    let [nested, free, shared, asked, _] =
        WITHOUT.map(|(_, rewrites)| grounded(&game, Approach::Pieces, rewrites));
    let gates = |(net, _): &(Propnet, Grounded)| net.network().gates();
    let all_gates = net.network().gates();
    assert!(
        gates(&nested) > all_gates + all_gates / 50,
        "{all_gates} {nested:?}",
        nested = gates(&nested)
    );
    assert!(
        gates(&shared) > all_gates + all_gates / 10,
        "{all_gates} {shared:?}",
        shared = gates(&shared)
    );
    assert!(
        free.1.rows > 2 * all.rows,
        "{all:?} {free:?}",
        free = free.1
    );
    let (_, squares) = grounded(
        &self::game(&hunt_on_squares()),
        Approach::Pieces,
        Rewrites::ALL,
    );
    assert_eq!(
        squares.rows, all.rows,
        "a product is as good as its domains"
    );
    assert!(
        2 * asked.1.instances > 3 * all.instances,
        "{all:?} {asked:?}",
        asked = asked.1
    );
}

#[test]
fn rows_that_no_use_allows_are_not_derived() {
    let matches = |text: &str, rewrites| {
        let (_, grounded) = grounded(&game(text), Approach::Pieces, rewrites);
        grounded.instances
    };
    let (_, without) = WITHOUT[4];
    let text = between("");
    assert!(matches(&text, Rewrites::ALL) * 5 < matches(&text, without));
    let text = between(ALL_BETWEEN);
    assert_eq!(matches(&text, Rewrites::ALL), matches(&text, without));
}
