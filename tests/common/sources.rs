//! The project's own sources, split into code, comments and string literals.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub struct SourceFile {
    /// The path from the root of the project, with `/` between folders.
    pub path: String,
    /// The text.
    pub text: String,
}

impl SourceFile {
    /// The crate's folder below `crates`, or `ggp` for the root package.
    pub fn package(&self) -> &str {
        match self.path.strip_prefix("crates/") {
            Some(rest) => rest.split('/').next().expect("a path has a first part"),
            None => "ggp",
        }
    }

    /// The path below `src`, without `.rs`.
    pub fn module(&self) -> &str {
        let at = self.path.find("src/").expect("sources are in src") + "src/".len();
        self.path[at..].trim_end_matches(".rs")
    }

    /// The text before the unit tests inside the file, which come last by convention;
    /// nothing of a file that has only tests.
    pub fn without_tests(&self) -> &str {
        if self.path.ends_with("/tests.rs") || self.path.contains("/tests/") {
            return "";
        }
        match self.text.find("\n#[cfg(test)]\nmod tests {") {
            Some(end) => &self.text[..end],
            None => &self.text,
        }
    }
}

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files in `src` and `crates/*/src`, sorted by path.
pub fn rust_files() -> Vec<SourceFile> {
    let mut folders = vec![root().join("src"), root().join("python/src")];
    for entry in fs::read_dir(root().join("crates")).expect("crates can be listed") {
        folders.push(entry.expect("crates can be listed").path().join("src"));
    }
    let files = folders.into_iter().filter(|folder| folder.is_dir());
    let files = files.flat_map(|folder| files_in(&folder, &["rs"]));
    let mut files: Vec<SourceFile> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The text files with one of these extensions in a folder, at any depth.
pub fn files_in(folder: &Path, extensions: &[&str]) -> Vec<SourceFile> {
    let mut open = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources can be listed") {
            let path = entry.expect("a folder of sources can be listed").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                open.push(path);
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                files.push(file(path));
            }
        }
    }
    files
}

/// One file of the project.
pub fn file(path: PathBuf) -> SourceFile {
    let text = fs::read_to_string(&path).expect("a source is UTF-8");
    let path = path
        .strip_prefix(root())
        .expect("sources are in the project");
    let path = path
        .to_str()
        .expect("file names are ASCII")
        .replace('\\', "/");
    SourceFile { path, text }
}

/// A line comment or string literal, with the line where it begins, counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub line: usize,
    pub text: String,
}

/// The parts of a Rust source.
#[derive(Default)]
pub struct Parts {
    /// The text without comments and with empty string literals.
    pub code: String,
    /// Line comments with their slashes.
    pub comments: Vec<Piece>,
    /// The contents of string literals, with escapes as they are written; continued lines
    /// are joined.
    pub literals: Vec<Piece>,
}

/// Splits a Rust source into its parts.
pub fn split(text: &str) -> Parts {
    let chars: Vec<char> = text.chars().collect();
    let mut parts = Parts::default();
    let mut line = 1;
    let mut at = 0;
    let starts = |at: usize, what: &str| {
        let mut what = what.chars().enumerate();
        what.all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    while at < chars.len() {
        let begin = line;
        if starts(at, "//") {
            let mut comment = String::new();
            while at < chars.len() && chars[at] != '\n' {
                comment.push(chars[at]);
                at += 1;
            }
            parts.comments.push(Piece {
                line,
                text: comment,
            });
        } else if starts(at, "r\"") || starts(at, "r#\"") {
            let close = if starts(at, "r#\"") { "\"#" } else { "\"" };
            at += 1 + close.len();
            let mut literal = String::new();
            while at < chars.len() && !starts(at, close) {
                line += usize::from(chars[at] == '\n');
                literal.push(chars[at]);
                at += 1;
            }
            at += close.len();
            parts.literals.push(Piece {
                line: begin,
                text: literal,
            });
            parts.code.push_str("\"\"");
        } else if chars[at] == '"' {
            at += 1;
            let mut literal = String::new();
            while at < chars.len() && chars[at] != '"' {
                if chars[at] == '\\' && chars.get(at + 1) == Some(&'\n') {
                    at += 1;
                    while chars.get(at).is_some_and(|c| c.is_whitespace()) {
                        line += usize::from(chars[at] == '\n');
                        at += 1;
                    }
                    continue;
                }
                if chars[at] == '\\' {
                    at += 1;
                }
                line += usize::from(chars.get(at) == Some(&'\n'));
                literal.extend(chars.get(at));
                at += 1;
            }
            at += 1;
            parts.literals.push(Piece {
                line: begin,
                text: literal,
            });
            parts.code.push_str("\"\"");
        } else if chars[at] == '\'' && chars.get(at + 1) == Some(&'\\') {
            // '\'' and other escapes; a lifetime never begins with a backslash.
            at += 3;
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else if chars[at] == '\'' && chars.get(at + 2) == Some(&'\'') {
            at += 3;
        } else {
            line += usize::from(chars[at] == '\n');
            parts.code.push(chars[at]);
            at += 1;
        }
    }
    parts
}

#[test]
fn sources_are_split_into_code_comments_and_literals() {
    let text =
        "/// A \"doc\".\nfn f() { g(\"a \\\n      b\", '\"'); } // end\nlet s = r#\"x\"y\"#;";
    let parts = split(text);
    assert_eq!(parts.code, "\nfn f() { g(\"\", ); } \nlet s = \"\";");
    let piece = |line, text: &str| Piece {
        line,
        text: text.to_owned(),
    };
    assert_eq!(
        parts.comments,
        [piece(1, "/// A \"doc\"."), piece(3, "// end")]
    );
    assert_eq!(parts.literals, [piece(2, "a b"), piece(4, "x\"y")]);
}
