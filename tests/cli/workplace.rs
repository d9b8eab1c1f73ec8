//! A folder of small rule files to run the command in.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Two players take one or two of five matches in turn; who takes the last wins.
pub const MATCHES: &str = "
    (role ann) (role bob)
    (init (left 5)) (init (turn ann))
    (minus 5 1 4) (minus 4 1 3) (minus 3 1 2) (minus 2 1 1) (minus 1 1 0)
    (minus 5 2 3) (minus 4 2 2) (minus 3 2 1) (minus 2 2 0)
    (other ann bob) (other bob ann)
    (<= (legal ?r (take ?k)) (true (turn ?r)) (true (left ?n)) (minus ?n ?k ?m))
    (<= (legal ?r wait) (true (turn ?s)) (other ?r ?s))
    (<= (next (left ?m)) (true (left ?n)) (does ?r (take ?k)) (minus ?n ?k ?m))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (left 0)))
    (<= (goal ?r 100) (true (left 0)) (true (turn ?s)) (other ?r ?s))
    (<= (goal ?r 0) (true (left 0)) (true (turn ?r)))";

/// One player switches two lights, which must both be on.
pub const LIGHTS: &str = "
    (role me) (light 1) (light 2)
    (<= (legal me (press ?l)) (light ?l))
    (<= (next (on ?l)) (does me (press ?l)) (not (true (on ?l))))
    (<= (next (on ?l)) (true (on ?l)) (does me (press ?k)) (distinct ?k ?l))
    (init (on 1))
    (<= terminal (true (on 1)) (true (on 2)))
    (<= (goal me 100) terminal)
    (<= (goal me 0) (not terminal))";

/// So many lights that nobody sees the end of it.
pub fn many_lights() -> String {
    let lights: Vec<String> = (3..=40).map(|light| format!("(light {light})")).collect();
    LIGHTS.replace(
        "(<= terminal",
        &format!("{}\n(<= terminal", lights.join(" ")),
    )
}

/// Scores that go wrong: none after `none`, two after `two`, 101 after `much`;
/// and after `stuck` there is no move.
pub const FAULTY: &str = "
    (role me) (init start)
    (choice none) (choice two) (choice much) (choice stuck)
    (<= (legal me ?c) (true start) (choice ?c))
    (<= (next (done ?c)) (does me ?c))
    (<= terminal (true (done ?c)) (distinct ?c stuck))
    (<= (goal me 1) (true (done two)))
    (<= (goal me 2) (true (done two)))
    (<= (goal me 101) (true (done much)))";

/// What a run came to.
#[derive(PartialEq, Eq, Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A folder of its own, removed in the end.
pub struct Workplace {
    folder: TempDir,
}

impl Workplace {
    /// A folder with the rule files above.
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let workplace = Workplace { folder };
        workplace.write("matches.kif", MATCHES);
        workplace.write("lights.kif", LIGHTS);
        workplace.write("faulty.kif", FAULTY);
        workplace
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder().join(name), content).unwrap();
    }

    /// The command in the folder, with arguments that hold no blanks.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
        command.args(line.split_whitespace());
        command.current_dir(self.folder());
        command.env_remove("NO_COLOR");
        command
    }

    /// Runs the command without input.
    pub fn run(&self, line: &str) -> Answer {
        self.run_with(line, &[], "")
    }

    /// Runs the command with further arguments, which may hold blanks, and an
    /// input.
    pub fn run_with(&self, line: &str, more: &[&str], input: impl AsRef<[u8]>) -> Answer {
        let mut command = self.command(line);
        command.args(more);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The command need not read what it is given.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        answer(child.wait_with_output().unwrap())
    }

    /// Runs the command and checks its exit code and whole standard output.
    pub fn check(&self, line: &str, more: &[&str], input: &str, code: i32, expected: &str) {
        let found = self.run_with(line, more, input);
        assert_eq!(found.code, Some(code), "{line} {more:?}\n{found:#?}");
        assert_eq!(
            found.out.trim_end(),
            expected,
            "{line} {more:?}\n{}",
            found.err
        );
    }

    /// Runs the command, which must fail with a message that has these parts,
    /// and must not print anything else.
    pub fn check_failure(&self, line: &str, more: &[&str], input: &str, code: i32, parts: &[&str]) {
        let found = self.run_with(line, more, input);
        assert_eq!(found.code, Some(code), "{line} {more:?}\n{found:#?}");
        assert_eq!(found.out, "", "{line} {more:?}");
        for part in parts {
            assert!(
                found.err.contains(part),
                "{part:?} is not in\n{}",
                found.err
            );
        }
    }

    /// Runs the command with `--json` and reads its answer.
    pub fn json(&self, line: &str, more: &[&str]) -> serde_json::Value {
        let found = self.run_with(&format!("--json {line}"), more, "");
        serde_json::from_str(&found.out).unwrap_or_else(|error| panic!("{error}\n{found:#?}"))
    }
}

/// The output as text.
pub fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
