//! Places in rule files.
//!
//! A rule set may consist of several files; a [`Span`] contains the file's index.

/// A half-open range of bytes in one source file.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Index of the file in its [`Sources`].
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both; they must be in the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// One rule file: its name for messages, and its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// A file with a name (used in messages only) and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source {
            name: name.into(),
            text: text.into(),
        }
    }

    /// The name shown in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The files of one rule set, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// A rule set of these files, in this order.
    pub fn new(files: Vec<Source>) -> Self {
        Sources { files }
    }

    /// The files, indexed by [`Span::file`].
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        &self.files[span.file as usize].text[span.start as usize..span.end as usize]
    }

    /// Line and column of a span's start, both counted from 1, the column in
    /// characters. `\n`, `\r\n` and a lone `\r` each end a line.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let before = &self.files[span.file as usize].text[..span.start as usize];
        let mut line = 1;
        let mut line_start = 0;
        let bytes = before.as_bytes();
        for (i, &byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(i + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                line += 1;
                line_start = i + 1;
            }
        }
        (line, before[line_start..].chars().count() + 1)
    }

    /// The start of a span as `name:line:column`.
    pub fn place(&self, span: Span) -> String {
        let (line, column) = self.line_column(span);
        format!("{}:{line}:{column}", self.files[span.file as usize].name)
    }
}

impl From<Source> for Sources {
    fn from(file: Source) -> Self {
        Sources { files: vec![file] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let sources = Sources::from(Source::new("a", "x\ny\r\nz\rä b"));
        let at = |start| {
            sources.line_column(Span {
                file: 0,
                start,
                end: start,
            })
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (2, 1));
        assert_eq!(at(5), (3, 1));
        assert_eq!(at(7), (4, 1));
        assert_eq!(at(10), (4, 3));
    }
}
