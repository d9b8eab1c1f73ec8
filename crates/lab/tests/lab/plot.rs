//! `ggp-lab plot`.

use std::process::Command;

use tempfile::TempDir;

/// A folder of its own, removed in the end.
struct Workplace(TempDir);

/// The outputs of a run, and its exit code.
#[derive(Debug)]
struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Workplace {
    fn new() -> Self {
        Workplace(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    /// Runs the program in the folder, with arguments that hold no blanks.
    fn run(&self, line: &str) -> Answer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ggp-lab"));
        let command = command.args(line.split_whitespace());
        let output = command.current_dir(self.0.path()).output().unwrap();
        Answer {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

const TABLE: &str = "depth,kind,count,seconds\n0,a,1,0.5\n1,b,30,0.25\n2,c,,0.75\n3,d,4000,1\n";

/// How many lines a picture has, without those of the legend.
fn lines(picture: &str) -> usize {
    picture.matches("stroke-width=\"2\"").count() / 2
}

#[test]
fn columns_of_numbers_become_curves() {
    let place = Workplace::new();
    place.write("table.csv", TABLE);
    let found = place.run("plot table.csv");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(
        found.out.starts_with("<svg") && lines(&found.out) == 2,
        "{}",
        found.out
    );
    for word in ["depth", "count", "seconds", "table.csv"] {
        assert!(found.out.contains(word), "{word}");
    }
    assert!(!found.out.contains("kind"));
    // Of one column there are names of both axes; a column can be any but the first.
    let found = place.run("plot table.csv --x seconds --y count --title Growth -o growth.svg");
    assert_eq!(
        (found.code, found.out.as_str()),
        (Some(0), ""),
        "{found:#?}"
    );
    let picture = std::fs::read_to_string(place.0.path().join("growth.svg")).unwrap();
    assert_eq!(lines(&picture), 1);
    assert!(
        picture.contains("Growth") && !picture.contains("depth"),
        "{picture}"
    );
    // Several files are several curves, by their names.
    place.write("other.csv", "depth,count\n0,2\n5,3\n");
    let found = place.run("plot table.csv other.csv --y count");
    assert_eq!(lines(&found.out), 2);
    assert!(found.out.contains(">\nother.csv\n<"), "{}", found.out);
}

#[test]
fn large_and_small_numbers_are_drawn_on_a_logarithmic_scale() {
    let place = Workplace::new();
    place.write("table.csv", TABLE);
    let [auto, log, linear] = ["auto", "log", "linear"].map(|scale| {
        place
            .run(&format!("plot table.csv --y count --scale {scale}"))
            .out
    });
    assert!(auto == log && auto != linear);
    let [auto, linear] = ["auto", "linear"].map(|scale| {
        place
            .run(&format!("plot table.csv --y seconds --scale {scale}"))
            .out
    });
    assert_eq!(auto, linear);
}

#[test]
fn what_the_search_counted_is_drawn() {
    let place = Workplace::new();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games");
    let line = format!("seeds --table 1 --games {games} --csv .");
    let found = place.run(&line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let found = place.run("plot levels.csv --y generated,frontier");
    assert_eq!((found.code, lines(&found.out)), (Some(0), 2), "{found:#?}");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let place = Workplace::new();
    place.write("table.csv", TABLE);
    place.write("words.csv", "a,b\nc,d\n");
    place.write("empty.csv", "");
    place.write("ragged.csv", "a,b\n1,2\n1\n");
    place.write("matches.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":1}\n");
    let many: Vec<String> = (0..40).map(|k| format!("c{k}")).collect();
    let row = vec!["1"; 40].join(",");
    place.write("many.csv", &format!("{}\n{row}\n", many.join(",")));
    for (arguments, told) in [
        (
            "plot table.csv --y cuont",
            "has no column \"cuont\"; its columns are depth, kind, count, seconds",
        ),
        (
            "plot table.csv --y kind",
            "table.csv:2: \"a\" is not a number, so kind cannot be plotted",
        ),
        ("plot table.csv -o table.pdf", "must end in .svg or .png"),
        ("plot words.csv", "has no numeric column"),
        ("plot empty.csv", "has no numeric column"),
        ("plot ragged.csv", "ragged.csv is not a CSV table"),
        ("plot matches.jsonl", "matches.jsonl is JSON"),
        ("plot many.csv", "39 curves are too many"),
        ("plot missing.csv", "missing.csv"),
        ("plot .", ". is a folder; give CSV tables"),
        ("plot table.csv --max-bytes 10", "table.csv"),
        ("plot", "FILE"),
    ] {
        let found = place.run(arguments);
        assert_eq!(
            (found.code, found.out.as_str()),
            (Some(2), ""),
            "{arguments}: {found:#?}"
        );
        assert!(found.err.contains(told), "{arguments}: {}", found.err);
    }
}
