//! `ggp draw` and its picture files.

use std::process::Command;
use std::{env, fs, process};

#[test]
fn edges_of_squares_are_lines_and_the_first_kind_is_horizontal() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args([
        "draw",
        "games/dots_and_boxes.kif",
        "--moves",
        "(draw flat 1 2)",
    ]);
    let output = command.output().unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    let expected = "      1   2   3
    +   +   +   +
  1
    +---+   +   +
  2
    +   +   +   +
  3
    +   +   +   +
  (- flat, | upright)

  to move: right
  points: left 0, right 0";
    assert_eq!(found.trim_end(), expected, "{found}");
}

#[test]
fn what_a_role_knows_is_drawn_with_shares() {
    let draw = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = command.arg("draw").args(options).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    // Nought names the cell that cross has marked, and cross does not know the second cell.
    let krieg = "games/krieg_tic_tac_toe.kif";
    let moves = "(mark 1 1); (mark 1 1); (mark 2 2)";
    let (code, found, _) = draw(&[krieg, "--moves", moves, "--known-by", "cross"]);
    let expected = "      1  2  3
   1 Xo O? O?
   2 O? O? O?
   3 O? O? O?
  (O cell/nought, X cell/cross, o refused/nought)
  1 2: empty 88 %, cell/nought 13 %   1 3: empty 88 %, cell/nought 13 %";
    let trimmed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(0));
    assert!(trimmed(&found).starts_with(&trimmed(expected)), "{found}");
    // Nought knows both.
    let (_, found, _) = draw(&[krieg, "--moves", moves, "--known-by", "nought"]);
    assert!(!found.contains('?') && !found.contains('%'), "{found}");
    // Contents of tables have shares, too.
    let deal = ["--moves", "wait wait (deal jack queen)"];
    let (_, found, _) = draw(&[
        "games/kuhn_poker.kif",
        deal[0],
        deal[1],
        "--known-by",
        "left",
    ]);
    assert!(
        found.contains("left jack") && found.contains("queen 50 %"),
        "{found}"
    );
    // Faint contents are in pictures, and data for programs names the alternatives.
    let (_, found, _) = draw(&[krieg, "--moves", moves, "--known-by", "cross", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let unsure = found["boards"][0]["unsure"].as_array().unwrap();
    assert_eq!(unsure.len(), 8);
    let [likeliest, share] = [0, 1].map(|part| &unsure[0]["contents"][0][part]);
    assert_eq!(likeliest, &serde_json::json!([]));
    assert!((share.as_f64().unwrap() - 0.875).abs() < 1e-9, "{share}");
    for (options, expected) in [
        ([krieg, "--known-by", "cros"], "there is no role cros"),
        (
            ["games/hex.kif", "--known-by", "red"],
            "the rules have no `sees`",
        ),
    ] {
        let (code, _, message) = draw(&options);
        assert_eq!(code, Some(2));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn drawings_are_written_to_files() {
    let file = |ending: &str| env::temp_dir().join(format!("drawing_{}.{ending}", process::id()));
    let draw = |ending: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command
            .args(["draw", "games/nim.kif", "--output"])
            .arg(file(ending));
        command.output().unwrap()
    };
    for (ending, start) in [("svg", "<svg "), ("txt", "  to move: left")] {
        let output = draw(ending);
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(file(ending)).unwrap();
        assert!(text.starts_with(start), "{text}");
        fs::remove_file(file(ending)).unwrap();
    }
    let output = draw("bmp");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("must end in .svg, .png or .txt"),
        "{message}"
    );
}

/// Runs `ggp draw` with a picture file of the given text.
fn drawn_with(game: &str, picture: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.toml");
    fs::write(&path, picture).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--quiet", "draw", game, "--picture"])
        .arg(&path)
        .output()
        .unwrap();
    let [out, message] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let message = message.replace(path.to_str().unwrap(), "FILE");
    (output.status.code(), out, message)
}

#[test]
fn a_picture_file_overrides_the_derived_picture() {
    let picture = "hide = [\"wall\"]
        [[board]]
        facts = \"at\"
        row = 3
        column = 2
        first_row = \"bottom\"
        first_column = \"right\"
        [signs]
        west = \"W\"
        east = \"♞\"";
    let (code, out, message) = drawn_with("games/light_cycles.kif", picture);
    assert_eq!((code, message.as_str()), (Some(0), ""));
    let expected = "
    6 5 4 3 2 1
  6 . . . . . .
  5 . . . . . .
  4 ♞ . . . . .
  3 . . . . . W
  2 . . . . . .
  1 . . . . . .
  (W west, ♞ east)";
    assert_eq!(out.trim_end(), expected.trim_start_matches('\n'));
    // A line as long as the board is wide, if no row is named.
    let line = "board = [{ facts = \"heap\", column = 1 }]";
    let (code, out, message) = drawn_with("games/nim.kif", line);
    assert_eq!((code, message.as_str()), (Some(0), ""));
    assert!(out.contains("a b c\n  heap 3 4 5"), "{out}");
    let (_, out, _) = drawn_with("games/nim.kif", "hide = [\"heap\"]");
    assert!(out.contains("turn") && !out.contains("heap"), "{out}");
    let (_, out, _) = drawn_with("games/nim.kif", "captions = { turn = \"to move\" }");
    assert!(out.contains("to move: left"), "{out}");
}

#[test]
fn symbols_are_drawn_for_contents_and_for_empty_places() {
    let picture = "[colours]
        west = \"#123456\"
        [symbols]
        west = \"M10 10 H90 V90 Z\"
        east = [
          { path = \"M0 0 L9 9\", fill = \"none\", stroke = \"ink\", width = 7 },
          { path = \"M5 5 h2\", fill = \"paper\", stroke = \"#abc\" },
        ]
        nothing = \"M50 50 h1\"
        \"\" = \"M50 50 h2\"
        [[board]]
        facts = \"at\"
        row = 3
        column = 2";
    let rules = "(role you) (init (at west 1 1)) (init (at east 1 2)) (init (at nothing 2 1))
        (init (at nothing 2 2)) (succ 1 2)
        (<= (legal you stay) (true (at west 1 1)))
        (<= (next (at ?what ?x ?y)) (true (at ?what ?x ?y)))
        (<= (goal you 0) (succ 1 2)) (<= terminal (not (true (at west 1 1))))";
    let folder = tempfile::tempdir().unwrap();
    let game = folder.path().join("game.kif");
    fs::write(&game, rules).unwrap();
    let with_empty = picture.to_owned() + "\nempty = \"nothing\"";
    fs::write(folder.path().join("game.picture.toml"), with_empty).unwrap();
    let svg_path = folder.path().join("picture.svg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command
        .args(["--quiet", "draw"])
        .arg(&game)
        .arg("--output")
        .arg(&svg_path);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let drawn = fs::read_to_string(&svg_path).unwrap();
    for (path, count) in [
        // On the board and in the legend.
        (
            "d=\"M10 10 H90 V90 Z\" style=\"fill:#123456;stroke:none;\"",
            2,
        ),
        (
            "class=\"stroke-ink\" d=\"M0 0 L9 9\" style=\"fill:none;stroke-width:7;stroke-linejoin:round\"",
            2,
        ),
        (
            "class=\"fill-paper\" d=\"M5 5 h2\" style=\"stroke:#abc;stroke-width:4;stroke-linejoin:round\"",
            2,
        ),
        // Two cells are empty.
        ("d=\"M50 50 h1\"", 2),
        ("d=\"M50 50 h2\"", 0),
    ] {
        assert_eq!(drawn.matches(path).count(), count, "{path}: {drawn}");
    }
    // The text output keeps its letters.
    let (code, out, message) = drawn_with(game.to_str().unwrap(), picture);
    assert_eq!((code, message.as_str()), (Some(0), ""));
    assert!(out.contains('w') && !out.contains("M10"), "{out}");
}

#[test]
fn static_text_is_drawn_below_symbols_and_marks_leave_empty_cells() {
    let svg = |arguments: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let picture = folder.path().join("picture.svg");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command
            .args(["--quiet", "draw"])
            .args(arguments)
            .arg("--output")
            .arg(&picture);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(&picture).unwrap()
    };
    let digits = |drawn: &str| {
        let digit = |n: usize| drawn.matches(&format!(">{n}</text>")).count();
        (1..=3).map(digit).collect::<Vec<_>>()
    };
    let board = ["games/hitori.kif", "games/instances/hitori_3x3_a.kif"];
    let before = svg(&board);
    let after = svg(&[board[0], board[1], "--moves", "(shade 1 1)"]);
    assert!(after.contains("M0 0 H100 V100 H0 Z") && !before.contains("M0 0 H100 V100 H0 Z"));
    assert_eq!(digits(&before), digits(&after));
    // All holes of a peg board, without the corners.
    let drawn = svg(&["games/senku.kif"]);
    assert_eq!(drawn.matches("M50 38 A12").count(), 1);
}

#[test]
fn the_file_next_to_the_rules_is_found() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let out = run(&["--quiet", "draw", "games/light_cycles.kif"]);
    assert!(out.contains("  3 W#"), "{out}");
    let svg = run(&[
        "--quiet",
        "graph",
        "games/light_cycles.kif",
        "--depth",
        "1",
        "--format",
        "svg",
    ]);
    assert!(svg.contains("W west"));
}

#[test]
fn errors_in_a_picture_file_are_reported_with_line_and_suggestion() {
    for (picture, expected) in [
        (
            "[signs]\nwset = \"W\"",
            "FILE:2:1: the rules do not contain the name \"wset\"; did you mean west?",
        ),
        (
            "[signs]\nwest = \"west\"",
            "FILE:2:8: a sign has 1 to 3 letters",
        ),
        (
            "[colours]\nwest = \"#12\"",
            "FILE:2:8: a colour is written #rrggbb",
        ),
        (
            "hide = [\"at\", \"walls\"]",
            "FILE:1:15: the rules do not contain the name \"walls\"; did you mean wall?",
        ),
        (
            "[[board]]\nfacts = \"at\"\nrow = 4\ncolumn = 1",
            "FILE:3:7: at has 3 arguments",
        ),
        (
            "[[board]]\nfacts = \"at\"\nrow = 2\ncolumn = 2",
            "row and column are the same",
        ),
        (
            "sings = 1",
            "unknown field `sings`, expected one of `board`, `signs`",
        ),
        (
            "[symbols]\nwest = \"<path/>\"",
            "FILE:2:8: a path begins with M and a point",
        ),
        (
            "[symbols]\nwest = \"M1 1\\\"/><script>\"",
            "FILE:2:8: '\"' is not a command of an SVG path",
        ),
        (
            "[symbols]\nwest = []",
            "FILE:2:8: a symbol is a path, such as \"M10 10 H90 V90 Z\", or a list",
        ),
        (
            "[symbols]\nwest = [{ path = \"M1 1\", colour = \"red\" }]",
            "FILE:2:8: unknown key \"colour\": a shape is a path, or { path =",
        ),
        (
            "[symbols]\nwest = [{ path = \"M1 1\", fill = \"url(#x)\" }]",
            "or none, role, ink or paper",
        ),
        (
            "[symbols]\nwest = [{ path = \"M1 1\", width = 1000 }]",
            "FILE:2:8: the width of an outline is from 1 to 50",
        ),
        (
            "[symbols]\nwest = [{ fill = \"red\" }]",
            "FILE:2:8: a shape has no path",
        ),
        (
            "[symbols]\nwset = \"M1 1\"",
            "FILE:2:1: the rules do not contain the name \"wset\"; did you mean west?",
        ),
        ("signs", "FILE is not a picture file"),
    ] {
        let (code, _, message) = drawn_with("games/light_cycles.kif", picture);
        assert_eq!(code, Some(2), "{picture}");
        assert!(message.contains(expected), "{picture}: {message}");
    }
}

#[test]
fn at_the_end_a_turn_has_the_name_of_its_facts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.kif");
    let rules = "(role a) (role b) (init (mover a)) (init (left 1))
        (<= (legal ?r take) (true (mover ?r)))
        (<= (legal ?r rest) (role ?r) (not (true (mover ?r))))
        (<= (next (mover b)) (true (mover a))) (<= (next (mover a)) (true (mover b)))
        (<= (next (left 0)) (true (left 1)))
        (<= terminal (true (left 0))) (goal a 50) (goal b 50)";
    std::fs::write(&file, rules).unwrap();
    for (moves, mover) in [("", "mover: a"), ("take rest", "mover: b")] {
        let drawn = crate::common::ggp(&["draw", file.to_str().unwrap(), "--moves", moves]);
        let text = String::from_utf8(drawn.stdout).unwrap();
        assert!(text.contains(mover), "{text}");
    }
}
