//! `ggp prove` as a command.

use std::path::Path;
use std::process::{Command, Stdio};

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

use crate::common::{ggp, sized};

/// Runs `ggp prove` and checks its exit code and standard output.
fn check_prove(arguments: &[&str], code: i32, expected: &str) {
    let output = ggp(&[&["--quiet", "prove"], arguments].concat());
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found, expected, "{arguments:?}");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
}

#[test]
fn values_of_positions_are_printed() {
    let nim = "games/nim.kif";
    check_prove(&[nim, "--best"], 0, "(take a 2) 100\n");
    let near = "(take c 5); (take b 3); (take a 2)";
    check_prove(&[nim, "--moves", near], 0, "(take a 1) 0\n(take b 1) 0\n");
    let talk = "games/prisoners_dilemma.kif";
    let sure = "talk at least 20\nsilent at least 18\n";
    check_prove(&[talk, "--role", "left"], 0, sure);
    // Chance makes the only choice, and is not asked what is best for it.
    let dice = "(role random) (role a) (init start) (face 1) (face 2)
        (<= (legal random (roll ?x)) (face ?x)) (legal a wait)
        (<= (next (is ?x)) (does random (roll ?x))) (<= terminal (not (true start)))
        (<= (goal a 40) (true (is ?x))) (<= (goal a 40) (true start)) (goal random 0)";
    check_prove(&[&rules("dice", dice)], 0, "wait 40.0000\n");
    // One position is not enough for a proof.
    let output = ggp(&["prove", nim, "--budget-nodes", "1", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["proved"], false);
    assert_eq!(answer["ran_out"], "positions");
    assert_eq!(answer["moves"].as_array().unwrap().len(), 12);
}

/// A walk to higher nodes, by the moves of one role, of two in turns, or of two at once, and by chance,
/// which may lead back.
struct Walk {
    /// By node, moves of the roles and of chance: the next node.
    arcs: Vec<[[[usize; 2]; 2]; 2]>,
    /// By node: the score of the first role at the end.
    scores: Vec<u8>,
    kind: usize,
}

impl Walk {
    fn new(kind: usize, repeats: bool, random: &mut Xoshiro256PlusPlus) -> Walk {
        let arc = |node: usize, random: &mut Xoshiro256PlusPlus| {
            let mut next = |back: bool| {
                if back {
                    random.random_range(0..=node)
                } else {
                    node + random.random_range(1..4)
                }
            };
            [(); 2].map(|()| [(); 2].map(|()| [next(repeats), next(false)]))
        };
        Walk {
            arcs: (0..9).map(|node| arc(node, random)).collect(),
            scores: (0..12).map(|_| random.random_range(0..=100)).collect(),
            kind,
        }
    }

    /// Whether the roles choose in a node.
    fn choose(&self, node: usize) -> [bool; 2] {
        match self.kind {
            0 => [true, false],
            1 => [0, 1].map(|side| node % 2 == side),
            _ => [true, true],
        }
    }

    fn rules(&self, sees: bool) -> String {
        let mut text = String::from(
            "(role p) (role random) (init (at 0)) (choice a0) (choice a1) (side c0) (side c1)
            (<= (legal ?r ?m) (true (at ?n)) (chooses ?r ?n) (choice ?m))
            (<= (legal ?r wait) (decides ?r) (true (at ?n)) (not (chooses ?r ?n)))
            (<= (legal random ?m) (side ?m)) (decides p)
            (<= (takes ?r ?m) (does ?r ?m) (choice ?m)) (<= (takes ?r a0) (does ?r wait))
            (<= (next (at ?m)) (true (at ?n)) (takes p ?a) (second ?b) (does random ?c) (arc ?n ?a ?b ?c ?m))
            (<= terminal (true (at ?n)) (score ?n ?s)) (<= (goal p ?s) (true (at ?n)) (score ?n ?s))
            (<= (goal p 0) (true (at ?n)) (not (ended ?n))) (<= (ended ?n) (score ?n ?s)) ",
        );
        text += match self.kind {
            0 => "(second a0)",
            _ => "(role q) (decides q) (<= (second ?b) (takes q ?b))
                (<= (goal q ?t) (true (at ?n)) (other ?n ?t)) (<= (goal q 0) (true (at ?n)) (not (ended ?n)))",
        };
        if sees {
            text += " (<= (sees ?r (moved ?who ?m)) (role ?r) (does ?who ?m))";
        }
        for (node, arcs) in self.arcs.iter().enumerate() {
            for (role, chooses) in ["p", "q"].into_iter().zip(self.choose(node)) {
                text += &if chooses {
                    format!(" (chooses {role} {node})")
                } else {
                    String::new()
                };
            }
            for (number, next) in arcs.as_flattened().as_flattened().iter().enumerate() {
                let [a, b, c] = [number / 4, number / 2 % 2, number % 2];
                text += &format!(" (arc {node} a{a} a{b} c{c} {next})");
            }
        }
        for end in self.arcs.len()..self.scores.len() {
            let score = self.scores[end];
            text += &format!(" (score {end} {score}) (other {end} {})", 100 - score);
        }
        text
    }

    /// The values of the moves of the first role, slow and obvious: with so many turns left that hardly
    /// any match is longer.
    fn moves(&self, node: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.scores.len()];
        for (value, score) in values.iter_mut().zip(&self.scores).skip(self.arcs.len()) {
            *value = f64::from(*score);
        }
        for _ in 0..20_000 {
            let before = values.clone();
            for (node, value) in values[..self.arcs.len()].iter_mut().enumerate() {
                *value = self
                    .moves_before(node, &before)
                    .into_iter()
                    .fold(0.0, f64::max);
            }
        }
        self.moves_before(node, &values)
    }

    /// The same if positions have these values in the next turn.
    fn moves_before(&self, node: usize, values: &[f64]) -> Vec<f64> {
        let [first, second] = self.choose(node).map(|chooses| if chooses { 2 } else { 1 });
        let mean = |a: usize, b: usize| {
            let next = self.arcs[node][a][b];
            (values[next[0]] + values[next[1]]) / 2.0
        };
        let worst = |a| {
            (0..second)
                .map(|b| mean(a, b))
                .fold(f64::INFINITY, f64::min)
        };
        (0..first).map(worst).collect()
    }
}

#[test]
fn games_of_chance_have_means() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    for number in 0..sized(24, 400) {
        let (kind, repeats) = (number % 3, number % 2 == 1);
        let walk = Walk::new(kind, repeats, &mut random);
        // The positions that a role reckons with do not end where positions repeat.
        for sees in [false, true].into_iter().take(if repeats { 1 } else { 2 }) {
            let file = rules(&format!("walk{number}{sees}"), &walk.rules(sees));
            let output = ggp(&["prove", &file, "--role", "p", "--json"]);
            assert_eq!(output.status.code(), Some(0), "{file}");
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let values: Vec<(String, f64)> = (answer["moves"].as_array().unwrap().iter())
                .map(|one| {
                    (
                        one["move"].as_str().unwrap().to_owned(),
                        one["value"].as_f64().unwrap(),
                    )
                })
                .collect();
            let expected = walk.moves(0);
            assert_eq!(values.len(), expected.len(), "{file}: {answer}");
            for (chosen, value) in values {
                let at = usize::from(chosen == "a1");
                assert!(
                    (value - expected[at]).abs() < 1e-6,
                    "{file}: {answer}, {expected:?}"
                );
            }
            if answer["exact"] != serde_json::Value::Null {
                assert_eq!(answer["exact"], kind < 2, "{file}: {answer}");
            }
        }
    }
}

#[test]
fn who_can_wait_for_ever_leaves_a_mean_open() {
    // The role can go round and round, or throw a coin.
    let text = "(role p) (role random) (init home) (legal p stay) (legal p throw) (side heads) (side tails)
        (<= (legal random ?s) (side ?s)) (<= (next home) (true home) (does p stay))
        (<= (next (at ?s)) (true home) (does p throw) (does random ?s)) (<= terminal (not (true home)))
        (<= (goal p 80) (true (at heads))) (<= (goal p 20) (true (at tails))) (<= (goal p 0) (true home))";
    let file = rules("wait", text);
    check_prove(
        &[&file],
        0,
        "stay from 50.0000 to 100.0000\nthrow 50.0000\n",
    );
    let output = ggp(&["prove", &file, "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["exact"], false, "{answer}");
    assert_eq!(answer["moves"][0]["most"], 100.0, "{answer}");
    assert_eq!(answer["moves"][1]["most"], serde_json::Value::Null);
}

/// Writes rules to a file and returns its path.
fn rules(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("prove_{name}.kif"));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A walk between two players; leaving the ring gives the points to the other.
const RING: &str = "
    (role left) (role right) (init (at 0)) (init (turn left))
    (other left right) (other right left) (next_to 0 1) (next_to 1 2) (next_to 2 0)
    (<= (legal ?r walk) (true (turn ?r))) (<= (legal ?r leave) (true (turn ?r)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= (next (at ?y)) (does ?r walk) (true (at ?x)) (next_to ?x ?y))
    (<= (next (left ?r)) (does ?r leave))
    (<= terminal (true (left ?r))) (<= (goal ?r 0) (true (left ?r)))
    (<= (goal ?s 100) (true (left ?r)) (other ?r ?s))";

#[test]
fn endless_play_is_said_to_be_endless() {
    let ring = rules("ring", RING);
    check_prove(&[&ring], 0, "walk endless, 0 to 100\nleave 0\n");
    let output = ggp(&["prove", &ring, "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["moves"][0]["endless"], true);
    assert!(answer["proved"] == true && answer["endless"] == true);
    let output = |file: &str| String::from_utf8(ggp(&["prove", file]).stderr).unwrap();
    let part = "nor right one worth less than 100: proved, retrograde analysis, ";
    assert!(output(&ring).contains(part), "{}", output(&ring));
    let alone = "(role a) (init on) (<= (next on) (true on)) (legal a go) (legal a stay)
        (<= terminal (not (true on))) (goal a 50)";
    let part = "play can go on forever, and a cannot reach an end worth more than 0: proved";
    assert!(output(&rules("alone", alone)).contains(part));
}

/// The second role gets 0 whatever happens, so that nothing follows from what it can force.
#[test]
fn a_role_without_a_score_to_win_bounds_nobody() {
    let text = "(role a) (role b) (init (at 0)) (own 0 a) (own 1 b)
        (arc 0 quit 2) (arc 0 go 1) (arc 1 back 0) (arc 1 give 3)
        (<= (legal ?r ?m) (true (at ?s)) (own ?s ?r) (arc ?s ?m ?t))
        (<= (legal ?r noop) (role ?r) (true (at ?s)) (not (own ?s ?r)))
        (<= (next (at ?t)) (true (at ?s)) (does ?r ?m) (arc ?s ?m ?t))
        (<= terminal (true (at 2))) (<= terminal (true (at 3)))
        (<= (goal a 0) (true (at 2))) (<= (goal a 100) (true (at 3))) (<= (goal b 0) terminal)";
    let file = rules("given", text);
    check_prove(&[&file, "--role", "a"], 0, "go at least 0\nquit 0\n");
}

/// A random graph with two roles, each of which owns some positions; positions may repeat, and the scores of
/// an end have a constant sum or not.
struct Graph {
    owner: Vec<usize>,
    arcs: Vec<Vec<usize>>,
    /// By position: the scores, if it is an end.
    scores: Vec<Option<[u8; 2]>>,
}

impl Graph {
    fn new(random: &mut Xoshiro256PlusPlus) -> Graph {
        let (inner, ends) = (random.random_range(2..6), random.random_range(1..4));
        let step = if random.random_bool(0.5) { 10 } else { 50 };
        let kind = random.random_range(0..3);
        let mut score = || step * random.random_range(0..=100 / step);
        let scores = (0..ends).map(|_| [score(), score()]);
        let scores = scores.map(|[one, two]| {
            Some(match kind {
                0 => [one, 100 - one],
                1 => [one, 0],
                _ => [one, two],
            })
        });
        let scores: Vec<_> = std::iter::repeat_n(None, inner).chain(scores).collect();
        let mut arcs = || {
            let count = random.random_range(1..4);
            let arcs = (0..count).map(|_| random.random_range(0..inner + ends));
            arcs.collect()
        };
        let arcs = (0..inner).map(|_| arcs()).collect();
        let owner = (0..inner).map(|_| random.random_range(0..2)).collect();
        Graph {
            owner,
            arcs,
            scores,
        }
    }

    fn rules(&self) -> String {
        let mut text = "(role p0) (role p1) (init (at 0))
            (<= (legal ?r (go ?m)) (true (at ?s)) (own ?s ?r) (arc ?s ?m ?t))
            (<= (legal ?r noop) (role ?r) (true (at ?s)) (not (own ?s ?r)))
            (<= (next (at ?t)) (true (at ?s)) (does ?r (go ?m)) (arc ?s ?m ?t))
            (<= terminal (true (at ?s)) (end ?s))
            (<= (goal ?r ?v) (true (at ?s)) (score ?s ?r ?v))"
            .to_owned();
        for (from, (owner, arcs)) in self.owner.iter().zip(&self.arcs).enumerate() {
            text += &format!(" (own {from} p{owner})");
            for (number, to) in arcs.iter().enumerate() {
                text += &format!(" (arc {from} m{number} {to})");
            }
        }
        for (place, scores) in self.scores.iter().enumerate() {
            if let Some([one, two]) = scores {
                text +=
                    &format!(" (end {place}) (score {place} p0 {one}) (score {place} p1 {two})");
            }
        }
        text
    }

    /// The score that a role can force from the first position, and the one that the other role can hold it to:
    /// who cannot force an end gets 0, or leaves the other 100.
    fn forced(&self, role: usize) -> (u8, u8) {
        let value = |nobody: u8| {
            let of_end = |scores: &Option<[u8; 2]>| scores.map_or(nobody, |scores| scores[role]);
            let mut values: Vec<u8> = self.scores.iter().map(of_end).collect();
            for _ in 0..values.len() {
                for (from, (owner, arcs)) in self.owner.iter().zip(&self.arcs).enumerate() {
                    let next = arcs.iter().map(|to| values[*to]);
                    values[from] = if *owner == role {
                        next.max()
                    } else {
                        next.min()
                    }
                    .unwrap();
                }
            }
            values[0]
        };
        (value(0), value(100))
    }
}

#[test]
fn bounds_hold_where_positions_repeat_and_sums_differ() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut upper = 0;
    for number in 0..60 {
        let graph = Graph::new(&mut random);
        let file = rules(&format!("graph_{number}"), &graph.rules());
        for role in 0..2 {
            let (least, most) = graph.forced(role);
            let output = ggp(&["prove", &file, "--json", "--role", &format!("p{role}")]);
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let text = format!("{role}: {least} to {most}\n{}\n{answer}", graph.rules());
            let [found_least, found_most] =
                ["least", "most"].map(|key| answer[key].as_u64().unwrap());
            assert!(found_least <= u64::from(least), "{text}");
            assert!(found_most >= u64::from(most), "{text}");
            if answer["proved"] == true {
                assert_eq!(found_least, u64::from(least), "{text}");
            }
            upper += usize::from(found_most < 100);
        }
    }
    assert!(upper > 10, "{upper} upper bounds");
}

#[test]
fn faults_in_the_rules_are_reported_with_the_moves_that_lead_to_them() {
    let check = |name: &str, text: &str, what: &str| {
        let file = rules(name, text);
        let output = ggp(&["prove", &file]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(what), "{name}: {text}");
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        let output = ggp(&["prove", &file, "--json"]);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            answer["fault"]["moves"].as_array().unwrap().len(),
            2,
            "{name}"
        );
    };
    let head = "
        (role me) (init (at 0)) (after 0 1) (after 1 2) (mine go)
        (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))";
    let goals = "(<= terminal (true (at 2))) (<= (goal me 70) (true (at 1)))";
    let legal = "(<= (legal me ?m) (mine ?m))";
    let what = "the rules are wrong after go; go: me has no goal value";
    check("no_goal", &format!("{head}{legal}{goals}"), what);
    let stuck = "
        (<= (legal me go) (after ?x ?y) (true (at ?x)))
        (<= terminal (true (at 3))) (<= (goal me 100) terminal)";
    let what = "the rules are wrong after go; go: me has no legal move";
    check("stuck", &format!("{head}{stuck}"), what);
}

#[test]
fn the_best_estimate_is_reported_without_a_proof() {
    let answer = |arguments: &[&str]| -> serde_json::Value {
        let output = ggp(&[&["prove", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let connect = answer(&["games/connect_four.kif", "--budget-nodes", "2000"]);
    let moves = connect["moves"].as_array().unwrap();
    let estimates: Vec<f64> = moves
        .iter()
        .filter_map(|m| m["estimate"].as_f64())
        .collect();
    assert_eq!(estimates.len(), 7, "{connect}");
    assert!(!connect["line"].as_array().unwrap().is_empty());
    // A time limit is not an error.
    let late = answer(&["games/connect_four.kif", "--budget-time", "0"]);
    assert_eq!(late["ran_out"], "time");
}

#[test]
fn invalid_arguments_of_prove_are_rejected() {
    let refused = |arguments: &[&str], why: &str| {
        let output = ggp(&[&["prove"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(why), "{text}");
    };
    let end = "(take c 5); (take b 4); (take a 3)";
    refused(&["games/nim.kif", "--moves", end], "the game is over");
}

/// A chase: both move at the same time, and one of them can force the end.
const CHASE: &str = "
    (role cat) (role mouse) (init (at 0)) (after 0 1) (after 1 2)
    (legal cat run) (legal cat rest) (legal mouse hide) (legal mouse flee)
    (<= (next (at ?y)) (does cat run) (true (at ?x)) (after ?x ?y))
    (<= (next (at ?x)) (does cat rest) (true (at ?x)))
    (<= (next tired) (does mouse flee)) (<= (next tired) (true tired))
    (<= terminal (true (at 2))) (<= (goal cat 100) (true (at 2)))
    (<= (goal cat 0) (not (true (at 2)))) (<= (goal mouse 0) (true (at 2)))
    (<= (goal mouse 100) (not (true (at 2))))";

#[test]
fn roles_that_choose_at_once_are_all_answered_and_share_a_constant_sum() {
    let chase = rules("chase", CHASE);
    let both = "cat run 100\ncat rest 100\nmouse hide 0\nmouse flee 0\n";
    check_prove(&[&chase], 0, both);
    check_prove(&[&chase, "--best"], 0, "cat run 100\nmouse hide 0\n");
    let output = ggp(&["prove", &chase, "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let answers: Vec<serde_json::Value> = answers.collect();
    let value = |at: usize| {
        (
            &answers[at]["role"],
            &answers[at]["least"],
            &answers[at]["most"],
        )
    };
    let expected = |role: &str, value: u8| (json!(role), json!(value), json!(value));
    for (at, (role, least, most)) in [expected("cat", 100), expected("mouse", 0)]
        .iter()
        .enumerate()
    {
        assert_eq!(value(at), (role, least, most));
    }
    let output = String::from_utf8(ggp(&["prove", &chase]).stderr).unwrap();
    for part in ["cat gets 100: proved", "mouse gets 0: proved"] {
        assert!(output.contains(part), "{output}");
    }
    // Without a constant sum, and with a third role that decides, nothing follows for the others.
    let other = CHASE.replace(
        "(goal mouse 0) (true (at 2))",
        "(goal mouse 30) (true (at 2)) (true tired)",
    );
    let other = format!("{other} (<= (goal mouse 0) (true (at 2)) (not (true tired)))");
    let both = "cat run 100\ncat rest 100\nmouse hide at least 0\nmouse flee at least 0\n";
    check_prove(&[&rules("chase_apart", &other)], 0, both);
    let third = format!("{CHASE} (role dog) (legal dog bark) (goal dog 50)");
    let both = "cat run 100\ncat rest 100\nmouse hide at least 0\nmouse flee at least 0\n";
    check_prove(&[&rules("chase_third", &third)], 0, both);
    let stones = "games/rock_paper_scissors.kif";
    let each =
        |role: &str| ["rock", "scissors", "paper"].map(|one| format!("{role} {one} at least 0\n"));
    let both = [each("left"), each("right")].concat().concat();
    check_prove(&[stones], 0, &both);
}

/// A matrix game in which both roles choose at once, perhaps after a move without choices. The first role
/// gets the entry of the matrix, and the other what is left of the sum.
fn matrix(entries: &[Vec<u8>], sum: u8, is_late: bool) -> String {
    use std::fmt::Write as _;
    let mut text = "(role a) (role b) (init start) ".to_owned();
    let begin = if is_late {
        text += "(<= (legal a w) (true start)) (<= (legal b w) (true start)) (<= (next mid) (true start)) ";
        "mid"
    } else {
        "start"
    };
    for i in 0..entries.len() {
        write!(text, "(<= (legal a (x {i})) (true {begin})) ").unwrap();
    }
    for j in 0..entries[0].len() {
        write!(text, "(<= (legal b (y {j})) (true {begin})) ").unwrap();
    }
    text += "(<= (next (r ?i ?j)) (does a (x ?i)) (does b (y ?j))) (<= terminal (true (r ?i ?j))) ";
    for (i, row) in entries.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            let end = format!("(true (r {i} {j}))");
            write!(
                text,
                "(<= (goal a {entry}) {end}) (<= (goal b {}) {end}) ",
                sum - entry
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn a_constant_sum_bounds_a_role_that_is_asked_for_alone() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut gaps = 0;
    for number in 0..12 {
        let (sum, is_late) = ([100, 130, 60][number % 3], number % 2 == 0);
        let mut entry = || (random.random_range(sum.max(100) - 100..=sum.min(100)) / 10) * 10;
        let entries: Vec<Vec<u8>> = (0..2 + number % 2)
            .map(|_| (0..3).map(|_| entry()).collect())
            .collect();
        let columns = 0..entries[0].len();
        let column = |j: usize| entries.iter().map(move |row| row[j]);
        // What each role can force if the other knows its move.
        let first = entries
            .iter()
            .map(|row| *row.iter().min().unwrap())
            .max()
            .unwrap();
        let other = columns
            .map(|j| sum - column(j).max().unwrap())
            .max()
            .unwrap();
        gaps += usize::from(first + other < sum);
        let file = rules(&format!("matrix_{number}"), &matrix(&entries, sum, is_late));
        for (role, least, most) in [("a", first, sum - other), ("b", other, sum - first)] {
            let output = ggp(&["prove", &file, "--role", role, "--json"]);
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let found = (&answer["least"], &answer["most"], &answer["proved"]);
            let expected = (&json!(least), &json!(most.min(100)), &json!(true));
            assert_eq!(found, expected, "{role} {sum} {is_late} {entries:?}");
            let all = ggp(&["prove", &file, "--json"]);
            let all = String::from_utf8(all.stdout).unwrap();
            let mut all = all.lines().map(|line| serde_json::from_str(line).unwrap());
            let same = all.find(|one: &serde_json::Value| one["role"] == role);
            // With no choice in the position, the first role is answered.
            assert_eq!(
                same.is_some(),
                !is_late || role == "a",
                "{role} {entries:?}"
            );
            if let Some(same) = same {
                let bounds = (&same["least"], &same["most"]);
                assert_eq!(
                    bounds,
                    (&answer["least"], &answer["most"]),
                    "{role} {entries:?}"
                );
            }
        }
    }
    assert!(gaps > 0, "some games have no value in moves that are known");
}

#[test]
fn a_table_claims_no_upper_bound_where_both_move_at_once() {
    // Matching pennies: each role can be sure of 0, and may get 100.
    let file = rules(
        "pennies",
        &matrix(&[vec![100, 0], vec![0, 100]], 100, false),
    );
    let table = format!("{file}.table");
    let summary = ggp(&["tabulate", &file, "-o", &table, "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&summary.stdout).unwrap();
    let looked_up = ggp(&["prove", &file, "--table", &table, "--json"]);
    let looked_up = String::from_utf8(looked_up.stdout).unwrap();
    let answers = looked_up
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let first = summary["first"].as_array().unwrap().iter().cloned();
    let bounds: Vec<serde_json::Value> = first.chain(answers).collect();
    assert_eq!(bounds.len(), 4);
    for one in bounds {
        assert_eq!(
            (&one["least"], &one["most"]),
            (&json!(0), &json!(null)),
            "{one}"
        );
    }
}

#[test]
fn an_estimate_is_within_the_bounds_that_are_proved() {
    let mut estimates = 0;
    // The first has moves with proved bounds on one side of the estimate, the others are far from a proof.
    for (game, nodes) in [
        ("light_cycles", "30000"),
        ("connect_four_small", "3000"),
        ("hex", "300"),
    ] {
        let file = format!("games/{game}.kif");
        let output = ggp(&["prove", &file, "--budget-nodes", nodes, "--json"]);
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let answer: serde_json::Value = serde_json::from_str(line).unwrap();
            for made in answer["moves"].as_array().unwrap() {
                let number = |name: &str| made[name].as_f64();
                let (least, most) = (number("least").unwrap(), number("most").unwrap());
                let Some(estimate) = number("estimate") else {
                    continue;
                };
                assert!((least..=most).contains(&estimate), "{game}: {made}");
                estimates += 1;
            }
        }
    }
    assert!(estimates >= 25, "each move of hex has an estimate");
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_proved() {
    // It cannot end by itself, so it does not matter how far it gets.
    let arguments = ["prove", "games/hex.kif", "--budget-time", "600", "--json"];
    let child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let number = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &number]).status();
    assert!(killed.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!(answer["ran_out"], "interrupted");
    assert!(!answer["moves"].as_array().expect("a list").is_empty());
}
