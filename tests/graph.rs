//! Pictures of graphs, and the commands that made those of the handbook.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::Value;

use crate::common::ggp;

const LIGHTS: &str = "games/buttons_and_lights.kif";

fn svg(arguments: &[&str]) -> String {
    let output = ggp(&[&["graph", "--format", "svg"], arguments].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).expect("an SVG is UTF-8")
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

/// Cards of nodes, without the samples in the legend, which stand in no group.
fn cards(text: &str, class: &str) -> usize {
    let groups = text.split("<title>").skip(1);
    let groups = groups.filter_map(|group| group.split("</g>").next());
    groups
        .filter(|group| group.contains(&format!("<rect class=\"c {class}\"")))
        .count()
}

#[test]
fn every_position_and_every_move_is_there() {
    let text = svg(&[LIGHTS]);
    assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"));
    assert_eq!((cards(&text, "k0"), cards(&text, "k1")), (7, 1));
    assert!(text.contains("8 positions, 21 moves; positions that differ only in step counters"));
    assert!(text.contains("2 shortest solutions, 6 moves long"));
    assert_eq!(
        count(&text, "class=\"p\""),
        8 + 1,
        "eight arcs of plans, and the legend"
    );
    assert_eq!(count(&text, ">step "), 7);
    assert!(text.contains("prefers-color-scheme:dark") && !text.contains("<script"));
}

/// A walk from home to town, in which something that counts moves matters in one place: a cycle of
/// two lights, or a clock.
fn counted_walks() -> Vec<String> {
    let light = "(init (light red)) (<= (next (light green)) (true (light red)))
        (<= (next (light red)) (true (light green)))";
    let clock = "(init (t 0)) (after 0 1) (after 1 2) (after 2 3) (after 3 4)
        (<= (next (t ?n)) (true (t ?m)) (after ?m ?n)) (<= terminal (true (t 4)))";
    let mut games = Vec::new();
    for (counter, now) in [(light, "(true (light green))"), (clock, "(true (t 2))")] {
        for place in ["", "legal", "next", "goal", "terminal"] {
            let when = |own: &str| if place == own { now } else { "" };
            games.push(format!(
                "(role car) (init (at home)) {counter} (legal car wait)
                (<= (legal car drive) (true (at home)) {})
                (<= (next (at town)) (does car drive) {})
                (<= (next (at ?x)) (true (at ?x)) (does car wait))
                (<= arrived (true (at town)) {}) (<= terminal (true (at town)) {})
                (<= (goal car 100) arrived) (<= (goal car 0) (not arrived))",
                when("legal"),
                when("next"),
                when("goal"),
                when("terminal"),
            ));
        }
    }
    games
}

#[test]
fn merged_positions_have_the_same_shortest_plans() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("walk.kif");
    let path = file.to_str().expect("it is UTF-8");
    let mut lengths = Vec::new();
    for rules in counted_walks() {
        fs::write(&file, &rules).expect("it can be written");
        let json = |arguments: &[&str]| -> Value {
            let output = ggp(arguments);
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
        };
        let solved = |more: &[&str]| {
            let graph = json(&[&["graph", path, "--format", "json"], more].concat());
            assert_eq!(graph["complete"], true);
            let nodes = graph["nodes"].as_array().expect("it has nodes").clone();
            let solved = nodes.into_iter().filter(|node| node["status"] == "solved");
            solved.filter_map(|node| node["level"].as_u64()).min()
        };
        let plan = json(&["solve", path, "--optimal", "--json"]);
        let plan = plan["plans"][0].as_array().map(|plan| plan.len() as u64);
        assert_eq!(solved(&[]), plan, "{rules}");
        assert_eq!(solved(&["--exact"]), plan, "{rules}");
        lengths.push(plan);
    }
    lengths.dedup();
    assert!(lengths.len() > 4, "{lengths:?}");
}

#[test]
fn what_leads_nowhere_is_told_from_what_is_over() {
    let text = svg(&[LIGHTS, "--exact"]);
    let kinds = ["k0", "k1", "k2", "k3", "k4"].map(|class| cards(&text, class));
    assert_eq!(kinds, [7, 1, 7, 17, 0]);
    let cut = svg(&[LIGHTS, "--exact", "--depth", "3"]);
    let kinds = ["k0", "k1", "k2", "k3", "k4"].map(|class| cards(&cut, class));
    assert_eq!(
        kinds,
        [6, 0, 0, 0, 5],
        "nothing is known of what was not tried"
    );
}

#[test]
fn a_pruned_graph_has_only_what_leads_on() {
    let text = svg(&[LIGHTS, "--exact", "--prune", "cycle,deadleaf"]);
    assert!(text.contains("8 positions, 8 moves"));
    assert!(text.contains("repetitions and dead leaves are pruned"));
    assert_eq!((cards(&text, "k2"), cards(&text, "k3")), (0, 0));
}

#[test]
fn games_of_several_roles_have_a_graph_too() {
    let text = svg(&["games/tic_tac_toe.kif", "--depth", "2"]);
    assert!(text.contains("82 positions, 81 moves") && text.contains("n nought"));
    let text = svg(&["games/rock_paper_scissors.kif", "--depth", "1"]);
    assert!(text.contains("paper &amp; rock"), "both move at once");
    let wrong = ggp(&["graph", "games/tic_tac_toe.kif", "--role", "nobody"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("cross, nought"));
}

#[test]
fn a_picture_leaves_later_steps_out_and_says_so() {
    let output = ggp(&[
        "graph",
        "games/eight_puzzle.kif",
        "--depth",
        "6",
        "--most",
        "40",
        "--format",
        "svg",
    ]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("92 nodes of later steps"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((cards(&text, "k0"), cards(&text, "k4")), (21, 16));
}

#[test]
fn a_film_shows_each_depth_limit_and_stands_still_where_that_is_wished() {
    let text = svg(&[LIGHTS, "--exact", "--animate"]);
    assert_eq!(count(&text, ">depth limit "), 7);
    assert!(
        text.contains(">depth limit 2: 3 new positions, 3 moves; pruned: 2 repetitions, 0 dead")
    );
    assert!(text.contains(">solved in 6 moves<"));
    assert!(text.contains("@media (prefers-reduced-motion:no-preference){.t0{animation:"));
    let keyframes = count(&text, "@keyframes ");
    assert_eq!(count(&text, "{animation:"), keyframes);
    let crossing = svg(&["games/wolf_goat_cabbage.kif", "--animate"]);
    assert!(crossing.contains(
        ">depth limit 1: 4 new positions, 4 moves; pruned: 0 repetitions, 3 dead leaves<"
    ));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    for (arguments, expected) in [
        (
            &["--animate", "--format", "dot"][..],
            "only SVG can be animated",
        ),
        (&["--animate", "--prune", "cycle"], "cannot be used with"),
        (
            &["--format", "png"],
            "PNG is not written to standard output",
        ),
        (
            &["--output", "no/such/folder.svg"],
            "its folder does not exist",
        ),
        (
            &["--output", "graph.foo"],
            "must end in .svg, .png, .dot or .json, not .foo",
        ),
    ] {
        let output = ggp(&[&["graph", LIGHTS], arguments].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
}

#[test]
fn a_png_is_one_or_a_clear_no() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("graph.png");
    let _ = fs::remove_file(&path);
    let output = ggp(&["graph", LIGHTS, "--output", path.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    match fs::read(&path) {
        Ok(bytes) => assert!(bytes.starts_with(b"\x89PNG") && output.status.success()),
        Err(_) => {
            assert_eq!(output.status.code(), Some(2));
            assert!(told.contains("write an SVG"), "{told}");
        }
    }
}

/// The words beside the arcs are within the picture.
#[test]
fn no_move_is_cut_off() {
    for more in [&["--depth", "2"][..], &["--depth", "2", "--animate"]] {
        let text = svg(&[&["games/rock_paper_scissors.kif", "--most", "40"], more].concat());
        let number = |text: &str, name: &str| -> f64 {
            let (_, rest) = text
                .split_once(&format!(" {name}=\""))
                .expect("it is there");
            rest.split('"').next().unwrap().parse().expect("a number")
        };
        let width = number(&text, "width");
        let moves: Vec<&str> = text.split("<g class=\"lg").skip(1).collect();
        assert!(moves.len() > 3);
        for one in moves {
            assert!(number(one, "x") + number(one, "width") < width, "{one}");
        }
    }
}

/// Each picture of the handbook is what its command makes.
#[test]
fn the_pictures_of_the_handbook_are_what_their_commands_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("docs/pictures");
    let mut made = Vec::new();
    for page in [
        "README.md",
        "docs/reference/graphs.md",
        "docs/reference/drawing.md",
    ] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        for line in text
            .lines()
            .filter(|line| line.contains("--output docs/pictures/"))
        {
            let words = words(line);
            assert_eq!(words[0], "ggp", "{line}");
            let name = words.last().unwrap().rsplit('/').next().unwrap();
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
            let mut arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            *arguments.last_mut().unwrap() = path.to_str().unwrap();
            let output = ggp(&arguments);
            assert!(output.status.success(), "{line}");
            let [is, was] = [path, folder.join(name)].map(|path| fs::read_to_string(path).unwrap());
            assert!(is == was, "{name} is not what is made by: {line}");
            made.push(name.to_owned());
        }
    }
    made.sort();
    let files = fs::read_dir(&folder).unwrap();
    let mut files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(made, files, "each file has its command");
    assert!(files.len() > 4);
}

/// The words of a command line, quotes taken off.
fn words(line: &str) -> Vec<String> {
    let parts = line.trim().split('"').enumerate();
    let words = parts.flat_map(|(k, part)| match k % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}
