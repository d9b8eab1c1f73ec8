use super::workplace::Workplace;

/// One player names cells that hold an `x` and have a neighbour to the right.
const RULES: &str = "
    (role me) (init start)
    (<= (legal me (cell ?r ?c)) (grid ?r ?c x) (grid_next ?c ?d) (grid ?r ?d ?v))
    (<= (legal me (size ?r ?c)) (grid_rows ?r) (grid_columns ?c))
    (<= (next done) (does me ?m))
    (<= terminal (true done))
    (<= (goal me 100) (true done))";

#[test]
fn every_way_to_write_a_grid_gives_the_same_game() {
    let place = Workplace::new();
    place.write("rules.kif", RULES);
    let expected = "(cell 1 1)\n(cell 2 2)\n(size 2 3)";
    for text in [
        "x.x\n.x.\n",
        "x . x\n. x .",
        "x,.,x\r\n.,x,.\r\n\r\n",
        "x.x/.x.",
        "[[x,.,x],[.,x,.]]",
    ] {
        place.write("board.txt", text);
        let line = "legal rules.kif --role me --grid board.txt";
        place.check(line, &[], "", 0, expected);
        place.check("legal rules.kif --role me --grid -", &[], text, 0, expected);
        // What the rules do not use is no finding.
        assert_eq!(place.run(line).err, "");
    }
}

#[test]
fn what_is_no_grid_is_bad_input_with_its_line() {
    let place = Workplace::new();
    place.write("rules.kif", RULES);
    for (text, part) in [
        ("", "<stdin>:1: the text contains no grid"),
        ("ab\nabc\n", "<stdin>:2: row 2 has 3 cells, but row 1 has 2"),
        (
            "ab\n(a\n",
            "<stdin>:2: the character `(` cannot be part of a cell",
        ),
    ] {
        place.check_failure("legal rules.kif --grid -", &[], text, 2, &[part]);
    }
    let parts = ["cannot open nowhere.txt"];
    place.check_failure("legal rules.kif --grid nowhere.txt", &[], "", 2, &parts);
}

#[test]
fn findings_about_a_grid_name_its_file_and_line() {
    let place = Workplace::new();
    place.write("rules.kif", RULES);
    place.write("board.txt", "\nxR\n.r\n");
    let found = place.run("check rules.kif --grid board.txt");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("warning[W201]"), "{found:#?}");
    assert!(found.out.contains("board.txt:3:"), "{found:#?}");
}
