//! `ggp fmt` and the other commands that rewrite rule files.

use super::workplace::Workplace;

const UNTIDY: &str =
    "(role ann)   (role bob) ; two\n(<= terminal (true (left 0))\n  ; once\n (role ?r))";
const TIDY: &str =
    "(role ann) (role bob)  ; two\n(<= terminal\n    (true (left 0))\n    ; once\n    (role ?r))\n";

fn read(place: &Workplace, name: &str) -> String {
    std::fs::read_to_string(place.folder().join(name)).unwrap()
}

#[test]
fn fmt_writes_files_that_differ() {
    let place = Workplace::new();
    place.write("a.kif", UNTIDY);
    place.write("b.kif", TIDY);
    place.check("fmt --check a.kif b.kif", &[], "", 1, "a.kif");
    assert_eq!(read(&place, "a.kif"), UNTIDY);
    place.check("fmt a.kif b.kif", &[], "", 0, "");
    assert_eq!(read(&place, "a.kif"), TIDY);
    place.check("fmt --check a.kif b.kif", &[], "", 0, "");
    place.check("fmt -", &[], UNTIDY, 0, TIDY.trim_end());
    place.check("fmt --check -", &[], UNTIDY, 1, "<stdin>");
}

#[test]
fn fmt_shows_what_would_change() {
    let place = Workplace::new();
    place.write("a.kif", "(role   ann)\n(role bob)\n");
    let diff = "--- a.kif\n+++ a.kif\n@@ -1,2 +1,2 @@\n-(role   ann)\n+(role ann)\n (role bob)";
    place.check("fmt --diff a.kif", &[], "", 1, diff);
    let found = place.json("fmt --check", &["a.kif"]);
    assert_eq!(found, serde_json::json!([{"file": "a.kif"}]));
}

#[test]
fn fmt_goes_through_folders() {
    let place = Workplace::new();
    std::fs::create_dir_all(place.folder().join("games/inner")).unwrap();
    for name in ["games/b.kif", "games/inner/a.kif", "games/notes.txt"] {
        place.write(name, "(role   ann)");
    }
    let names = "games/b.kif\ngames/inner/a.kif";
    place.check("fmt --check games", &[], "", 1, names);
    place.write("empty.kif", "");
    place.check("fmt games empty.kif", &[], "", 0, "");
    assert_eq!(read(&place, "games/inner/a.kif"), "(role ann)\n");
    assert_eq!(read(&place, "games/notes.txt"), "(role   ann)");
    assert_eq!(read(&place, "empty.kif"), "");
}

#[test]
fn fmt_leaves_files_alone_that_it_cannot_read() {
    let place = Workplace::new();
    place.write("a.kif", "(role   ann");
    place.write("b.kif", "(role   bob)");
    place.check_failure("fmt a.kif b.kif", &[], "", 2, &["K001", "a.kif:1:1"]);
    assert_eq!(read(&place, "a.kif"), "(role   ann");
    assert_eq!(read(&place, "b.kif"), "(role bob)\n");
    place.write("c.kif", b"(role \xff)");
    place.check_failure(
        "fmt c.kif",
        &[],
        "",
        2,
        &["c.kif is not UTF-8 from byte 6 on"],
    );
    place.write("d.hrf", "role(ann)");
    place.check_failure("fmt d.hrf", &[], "", 2, &["d.hrf is in infix notation"]);
    place.check_failure("fmt none.kif", &[], "", 2, &["cannot open none.kif"]);
    place.check_failure(
        "fmt --max-bytes 5 b.kif",
        &[],
        "",
        2,
        &["larger than 5 bytes"],
    );
}

#[cfg(unix)]
#[test]
fn fmt_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Workplace::new();
    place.write("a.kif", UNTIDY);
    let path = place.folder().join("a.kif");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("a.kif", place.folder().join("b.kif")).unwrap();
    place.check("fmt b.kif", &[], "", 0, "");
    assert!(place.folder().join("b.kif").is_symlink());
    assert_eq!(read(&place, "a.kif"), TIDY);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn rename_replaces_a_name_and_nothing_else() {
    let place = Workplace::new();
    let text = "(role ann) ; ann\n(<= (legal ann   (take ?ann)) (heap ?ann ann))";
    place.write("a.kif", text);
    place.write("b.kif", "(heap 1 ann) (pile 2)");
    let found = place.run("rules rename a.kif ann ada --with b.kif");
    assert_eq!((found.code, &*found.out), (Some(0), ""), "{found:?}");
    assert_eq!(
        found.err,
        "a.kif: renamed in 3 places\nb.kif: renamed in 1 place\n"
    );
    let expected = text
        .replace("ann)", "ada)")
        .replace("?ada", "?ann")
        .replace("legal ann", "legal ada");
    assert_eq!(read(&place, "a.kif"), expected);
    assert_eq!(read(&place, "b.kif"), "(heap 1 ada) (pile 2)");
    let to_stdout = "(HEAP 1 ada) (pile 2)";
    place.check(
        "rules rename --stdout b.kif heap/2 HEAP",
        &[],
        "",
        0,
        to_stdout,
    );
    place.check(
        "rules rename - p/1 q --only term",
        &[],
        "(p 1) (r (p 2) p)",
        0,
        "(p 1) (r (q 2) p)",
    );
    let report = place.json("rules rename b.kif ada eve", &[]);
    assert_eq!(report, serde_json::json!([{"file": "b.kif", "places": 1}]));
}

#[test]
fn rename_refuses_what_would_change_the_rules() {
    let place = Workplace::new();
    place.write("a.kif", "(role ann) (heap 1)");
    place.write("b.kif", "(pile 2)");
    for (line, part) in [
        (
            "rules rename a.kif heap ann",
            "the name ann is already used, at a.kif:1:7",
        ),
        (
            "rules rename a.kif heap pile --with b.kif",
            "the name pile is already used, at b.kif:1:2",
        ),
        ("rules rename a.kif heap true", "true is a reserved word"),
        ("rules rename a.kif role x", "role is a reserved word"),
        ("rules rename a.kif 1 x", "1 is a number"),
        ("rules rename a.kif heap ?x", "is not a valid name"),
        (
            "rules rename a.kif heep x",
            "the name heep does not occur; did you mean heap?",
        ),
        (
            "rules rename a.kif heap/2 x",
            "heap is not a name with 2 arguments: it is a relation with 1 argument, at a.kif:1:13",
        ),
        (
            "rules rename a.kif ann x --only relation",
            "ann is not a relation: it is a term with 0 arguments, at a.kif:1:7",
        ),
        (
            "rules rename a.kif heap x --with -",
            "cannot be renamed together with files",
        ),
    ] {
        place.check_failure(line, &[], "", 2, &[part]);
    }
    assert_eq!(read(&place, "a.kif"), "(role ann) (heap 1)");
    place.check_failure("rules rename - p q", &[], "(p", 2, &["K001"]);
}

#[test]
fn scramble_goes_and_comes_back() {
    let place = Workplace::new();
    let tidy = place.run("fmt - ");
    assert_eq!(tidy.code, Some(0));
    place.check(
        "rules scramble lights.kif --seed 3 --map names.json -o other.kif",
        &[],
        "",
        0,
        "",
    );
    let other = read(&place, "other.kif");
    assert!(
        !other.contains("light") && other.contains("(<= terminal"),
        "{other}"
    );
    place.check(
        "check other.kif",
        &[],
        "",
        0,
        "ok: 1 role, 9 relations, 4 facts, 6 rules",
    );
    place.write("laid.kif", super::workplace::LIGHTS);
    place.check("fmt laid.kif", &[], "", 0, "");
    let laid = read(&place, "laid.kif");
    place.check(
        "rules scramble --back names.json other.kif",
        &[],
        "",
        0,
        laid.trim_end(),
    );
    place.check("rules diff lights.kif laid.kif", &[], "", 0, "");
    place.check(
        "rules scramble lights.kif --seed 3",
        &[],
        "",
        0,
        other.trim_end(),
    );
    let ordered = place.run("rules scramble lights.kif --seed 3 --order");
    assert_ne!(ordered.out, other);
    place.write("ordered.kif", &ordered.out);
    place.check("rules diff other.kif ordered.kif", &[], "", 0, "");
    place.check_failure(
        "rules scramble --back lights.kif other.kif",
        &[],
        "",
        2,
        &["is not a map written by --map"],
    );
    place.check_failure(
        "rules scramble lights.kif -o no/such",
        &[],
        "",
        2,
        &["cannot write no/such"],
    );
}

#[test]
fn diff_shows_changed_rules() {
    let place = Workplace::new();
    place.write(
        "a.kif",
        "(role ann)\n(p 1 2)\n(<= (q ?x) (p ?x ?y) (not (r ?y)))\n(old)",
    );
    place.write(
        "b.kif",
        "(<= (q ?a) ; same\n (not (r ?a)) (p ?a ?b))\n(role ann) (p 1 2) (new thing)",
    );
    let expected = "\
--- a.kif
+++ b.kif
@@ a.kif:3:1 b.kif:1:1 changed @@
 (<= (q ?a)
     (p ?a ?b)
-    (not (r ?b)))
+    (not (r ?a)))
@@ a.kif:4:1 only in the old rules @@
-(old)
@@ b.kif:3:20 only in the new rules @@
+(new thing)";
    place.check("rules diff a.kif b.kif", &[], "", 1, expected);
    let coloured = place.run("rules diff a.kif b.kif --color always").out;
    assert!(
        coloured.contains("\x1b[32m+    (not (r ?a)))\x1b[0m"),
        "{coloured}"
    );
    let report = place.json("rules diff a.kif b.kif", &[]);
    assert_eq!(report["same"], false);
    assert_eq!(
        report["changed"][0]["added"],
        serde_json::json!(["(not (r ?a))"])
    );
    assert_eq!(report["removed"][0]["place"], "a.kif:4:1");
    // A variable that the new rule has no place for keeps apart from one of its name.
    place.write("d.kif", "(<= (p ?a) (q ?b) (r ?b ?a))");
    place.write("e.kif", "(<= (p ?b) (q ?b))");
    let expected = "\
--- d.kif
+++ e.kif
@@ d.kif:1:1 e.kif:1:1 changed @@
 (<= (p ?b)
-    (r ?b_ ?b)
-    (q ?b_))
+    (q ?b))";
    place.check("rules diff d.kif e.kif", &[], "", 1, expected);
    place.check("rules diff a.kif a.kif", &[], "", 0, "");
    place.check("rules diff - b.kif", &[], &read(&place, "b.kif"), 0, "");
    place.check_failure(
        "rules diff a.kif none.kif",
        &[],
        "",
        2,
        &["cannot open none.kif"],
    );
    place.check_failure("rules diff - -", &[], "", 2, &["only once"]);
    let roles = "(role b) (role a)";
    place.write("c.kif", "(role a) (role b)");
    let moved = "--- <stdin>\n+++ c.kif\n@@ the roles are in a different order @@";
    place.check("rules diff - c.kif", &[], roles, 1, moved);
}

/// The lines of a difference are either file, each with all its brackets.
#[test]
fn both_sides_of_a_changed_rule_are_whole() {
    let place = Workplace::new();
    for (old, new) in [
        ("(<= (p ?x) (q ?x))", "(<= (p ?x) (q ?x) (r ?x))"),
        ("(<= (p a) (q b) r)", "(<= (p a) (q b))"),
        ("(<= (p a) (q b))", "(<= (p a))"),
        ("(<= (p a) (q a) (r b))", "(<= (p c) (q a) (r b))"),
        ("(<= (p a) (q a) (r b))", "(<= (p a) (s c) (r b) (t d))"),
        ("(<= (p a b c d) q)", "(p a b c d)"),
        ("(p a b c d)", "(<= (p a b c d) q)"),
    ] {
        place.write("a.kif", old);
        place.write("b.kif", new);
        let found = place.run("rules diff a.kif b.kif");
        assert_eq!(found.code, Some(1));
        for (sign, other, file) in [('-', '+', "a.kif"), ('+', '-', "b.kif")] {
            let lines = found.out.lines().skip(2);
            let own = lines.filter(|line| !line.starts_with(other) && !line.starts_with('@'));
            let side: Vec<&str> = own
                .map(|line| line.strip_prefix([sign, ' ']).unwrap())
                .collect();
            place.write("side.kif", side.join("\n"));
            let differs = place.run(&format!("rules diff side.kif {file}"));
            assert_eq!(differs.code, Some(0), "{old} and {new}:\n{}", found.out);
        }
    }
}

#[test]
fn with_comments_all_comes_back_as_it_was() {
    let place = Workplace::new();
    let long =
        "(a_relation with_names that_are_longer than_those_that_are_drawn for_them x) ; or so";
    let text = format!("; first\n(p   a)\n\n\n{long}\n  ; and below it\n");
    place.write("a.kif", &text);
    place.check(
        "rules scramble a.kif --comments --map map.json -o b.kif",
        &[],
        "",
        0,
        "",
    );
    assert!(read(&place, "b.kif").contains(") ; or so"));
    place.check(
        "rules scramble --back map.json b.kif -o c.kif",
        &[],
        "",
        0,
        "",
    );
    assert_eq!(read(&place, "c.kif"), text);
}

#[test]
fn the_map_of_another_text_is_refused() {
    let place = Workplace::new();
    place.check(
        "rules scramble lights.kif --map lights.json -o a.kif",
        &[],
        "",
        0,
        "",
    );
    place.check(
        "rules scramble matches.kif --map matches.json -o b.kif",
        &[],
        "",
        0,
        "",
    );
    for (map, text) in [("lights", "b"), ("matches", "a"), ("lights", "lights")] {
        let line = format!("rules scramble --back {map}.json {text}.kif");
        let told = "it is the map of another text";
        place.check_failure(&line, &[], "", 2, &[&format!("{text}.kif:"), told]);
    }
    let answer = "solved in 2 moves";
    place.check(
        "rules scramble --back lights.json -",
        &[],
        answer,
        0,
        answer,
    );
}

#[test]
fn texts_are_json_where_that_is_asked_for() {
    let place = Workplace::new();
    place.write("a.kif", "(role   ann)");
    let json = serde_json::json!([{"file": "a.kif", "text": "(role ann)\n"}]);
    assert_eq!(place.json("fmt --stdout a.kif", &[]), json);
    let json = serde_json::json!([{"file": "a.kif", "places": 1, "text": "(role   bob)"}]);
    assert_eq!(place.json("rules rename --stdout a.kif ann bob", &[]), json);
    let json = serde_json::json!({"notation": "infix", "text": "role(ann)\n"});
    assert_eq!(place.json("rules convert a.kif", &[]), json);
    let json = serde_json::json!({"notation": "infix"});
    assert_eq!(place.json("rules convert a.kif -o b.hrf", &[]), json);
    assert_eq!(read(&place, "b.hrf"), "role(ann)\n");
    let found = place.json("rules scramble a.kif --map map.json", &[]);
    let word = found["names"]["ann"].as_str().unwrap();
    assert_eq!(found["text"], format!("(role {word})\n"));
    place.write("b.kif", found["text"].as_str().unwrap());
    let json = serde_json::json!({"text": "(role ann)\n"});
    assert_eq!(
        place.json("rules scramble --back map.json b.kif", &[]),
        json
    );
    assert_eq!(read(&place, "a.kif"), "(role   ann)");
}

#[test]
fn convert_goes_and_comes_back() {
    let place = Workplace::new();
    place.check("rules convert lights.kif -o lights.hrf", &[], "", 0, "");
    let infix = read(&place, "lights.hrf");
    assert!(
        infix.contains("next(on(L)) :-\n  does(me,press(L)) &\n  ~true(on(L))\n"),
        "{infix}"
    );
    place.check("rules convert lights.hrf -o back.kif", &[], "", 0, "");
    place.check("rules diff lights.kif back.kif", &[], "", 0, "");
    place.check(
        "rules convert -",
        &[],
        "% x\np(X) :- q(X).",
        0,
        "; x\n(<= (p ?x)\n    (q ?x))",
    );
    place.check("rules convert -", &[], "; x\n(p ?x)", 0, "% x\np(X)");
    place.check("rules convert - --to infix", &[], "terminal", 0, "terminal");
    place.check_failure("rules convert -", &[], "p(X", 2, &["K001", "<stdin>:1:2"]);
    place.check_failure(
        "rules convert -",
        &[],
        "((p) q)",
        2,
        &["K006", "cannot be written in infix"],
    );
    // What is in it already is laid out.
    place.check("rules convert - --to kif", &[], UNTIDY, 0, TIDY.trim_end());
    let infix = infix.trim_end();
    place.check("rules convert lights.hrf --to infix", &[], "", 0, infix);
    let hint = "lights.hrf is in infix notation; `ggp rules convert lights.hrf` converts it to KIF";
    place.check_failure("check lights.hrf", &[], "", 2, &[hint]);
    place.check_failure("rules diff lights.hrf lights.kif", &[], "", 2, &[hint]);
}

#[test]
fn infix_is_known_by_its_text_and_written_over_by_nothing() {
    let place = Workplace::new();
    place.check("rules convert lights.kif -o inf.kif", &[], "", 0, "");
    let infix = format!(
        "% a comment that is longer than a line of so many letters, to be sure, is long\n{}",
        read(&place, "inf.kif")
    );
    place.write("inf.kif", &infix);
    for line in [
        "fmt inf.kif",
        "fmt --check inf.kif",
        "rules scramble inf.kif",
        "rules scramble inf.kif -o inf.kif",
        "rules rename inf.kif on off",
        "rules diff lights.kif inf.kif",
        "check inf.kif",
        "legal inf.kif",
        "graph inf.kif",
    ] {
        let hint = "inf.kif is in infix notation; `ggp rules convert inf.kif` converts it to KIF";
        match line.contains("-o") {
            true => place.check_failure(line, &[], "", 2, &["inf.kif"]),
            false => place.check_failure(line, &[], "", 2, &[hint]),
        }
    }
    for line in ["check -", "fmt -", "rules scramble -"] {
        let hint = "<stdin> is in infix notation; `ggp rules convert -` converts it to KIF";
        place.check_failure(line, &[], &infix, 2, &[hint]);
    }
    assert_eq!(read(&place, "inf.kif"), infix);
    let told = [
        "K007",
        "<stdin>:1:26",
        "& or | is missing before done",
        "full stop",
    ];
    place.check_failure(
        "rules convert -",
        &[],
        "legal(P,noop) :- role(P) done",
        2,
        &told,
    );
    place.check(
        "rules convert -",
        &[],
        "c :- not b",
        0,
        "(<= c\n    (not b))",
    );
    let told = ["<stdin>:1:10", "write or as |"];
    place.check_failure("rules convert -", &[], "c :- a(b ; c).", 2, &told);
    // The ending says nothing where the text does.
    place.write("kif.hrf", UNTIDY);
    place.check("fmt --stdout kif.hrf", &[], "", 0, TIDY.trim_end());
}

#[test]
fn nothing_is_written_over_what_it_is_made_of() {
    let place = Workplace::new();
    let lights = read(&place, "lights.kif");
    std::fs::create_dir(place.folder().join("sub")).unwrap();
    for line in [
        "rules scramble lights.kif -o lights.kif",
        "rules scramble lights.kif -o sub/../lights.kif",
        "rules scramble lights.kif --map lights.kif",
        "graph lights.kif --format svg -o lights.kif",
        "why lights.kif --format html -o ./lights.kif terminal",
    ] {
        let told = "lights.kif is an input and would be overwritten: write to another file";
        place.check_failure(line, &[], "", 2, &[told]);
        assert_eq!(read(&place, "lights.kif"), lights, "{line}");
    }
    for line in [
        "rules scramble lights.kif -o new --map new",
        "rules scramble lights.kif -o sub/../new --map ./new",
        "rules scramble lights.kif --map -",
    ] {
        place.check_failure(line, &[], "", 2, &["two outputs would be written to"]);
    }
    assert!(!place.folder().join("new").exists());
    place.check(
        "rules scramble lights.kif --map map.json -o a.kif",
        &[],
        "",
        0,
        "",
    );
    let told = "map.json is an input and would be overwritten";
    place.check_failure(
        "rules scramble --back map.json a.kif -o map.json",
        &[],
        "",
        2,
        &[told],
    );
    // Names that come back are no loss.
    place.check(
        "rules scramble --back map.json a.kif -o a.kif",
        &[],
        "",
        0,
        "",
    );
    place.check("rules diff a.kif lights.kif", &[], "", 0, "");
}

#[test]
fn names_come_back_in_any_answer() {
    let place = Workplace::new();
    let rules = read(&place, "matches.kif").replace("take", "take\\\"");
    place.write("a.kif", rules);
    place.check(
        "rules scramble a.kif --map map.json -o b.kif",
        &[],
        "",
        0,
        "",
    );
    let names: std::collections::BTreeMap<String, String> =
        serde_json::from_str(&read(&place, "map.json")).unwrap();
    for line in [
        "legal",
        "info",
        "draw",
        "playout --seed 1",
        "why --full",
        "check --play",
        "legal --json",
    ] {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        let rest: Vec<String> = words.collect();
        let asked = if command == "why" {
            "(legal ann (take\\\" 1))"
        } else {
            ""
        };
        let asked_b = if command == "why" {
            format!("(legal {} ({} 1))", names["ann"], names["take\\\""])
        } else {
            String::new()
        };
        let answer = |file: &str, asked: &str| {
            let more: Vec<&str> = [asked]
                .into_iter()
                .filter(|asked| !asked.is_empty())
                .collect();
            place.run_with(&format!("{command} {file} {}", rest.join(" ")), &more, "")
        };
        let (own, other) = (answer("a.kif", asked), answer("b.kif", &asked_b));
        let back = place.run_with("rules scramble --back map.json -", &[], &other.out);
        assert_eq!(back.code, Some(0), "{line}: {back:?}");
        for word in names.values() {
            let is_left = back.out.contains(word.trim_start_matches('?'));
            assert!(!is_left, "{line}: {word} in\n{}", back.out);
        }
        assert!(
            !own.out.is_empty() && !own.out.contains(&names["ann"]),
            "{own:?}"
        );
        if line.ends_with("--json") {
            let [own, back] = [own, back].map(|answer| {
                serde_json::from_str::<serde_json::Value>(&answer.out).expect("JSON")
            });
            assert_eq!(own, back);
        }
    }
    // In rules only names are names.
    place.write("c.kif", "(role ann) ; ann");
    place.check(
        "rules scramble c.kif --comments --map c.json -o d.kif",
        &[],
        "",
        0,
        "",
    );
    let word = read(&place, "d.kif")[6..12].to_owned();
    place.write("d.kif", format!("(role {word}) ; {word}"));
    place.check(
        "rules scramble --back c.json d.kif",
        &[],
        "",
        0,
        &format!("(role ann) ; {word}"),
    );
    place.check(
        "rules scramble --back c.json -",
        &[],
        &format!("x:{word}, \"{word}\""),
        0,
        "x:ann, \"ann\"",
    );
}
