//! Places in rule files.
//!
//! A rule set may consist of several files; a [`Span`] contains the file's index.

use std::sync::OnceLock;

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
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    index: OnceLock<Index>,
}

impl Source {
    /// A file with a name (used in messages only) and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source {
            name: name.into(),
            text: text.into(),
            index: OnceLock::new(),
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

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.text))
    }

    /// The number of the line at a place in the text, counted from 0.
    pub(crate) fn line(&self, at: u32) -> usize {
        let starts = &self.index().starts;
        starts.partition_point(|&start| start <= at) - 1
    }

    /// The place at which a line begins; the end of the text after the last line.
    pub(crate) fn line_start(&self, line: usize) -> u32 {
        let start = self.index().starts.get(line);
        start.copied().unwrap_or(self.text.len() as u32)
    }

    /// The number of characters before a place in the text.
    fn characters_before(&self, at: u32) -> usize {
        let block = at as usize / BLOCK;
        let rest = &self.text.as_bytes()[block * BLOCK..at as usize];
        self.index().characters[block] as usize + characters(rest)
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

impl Eq for Source {}

/// The number of bytes of a text for each count of its characters.
const BLOCK: usize = 1 << 12;

/// The lines and characters of a text, so that places in it are found without reading it.
#[derive(Clone, Debug)]
struct Index {
    /// The places at which lines begin, ascending.
    starts: Vec<u32>,
    /// The number of characters before each block.
    characters: Vec<u32>,
}

impl Index {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1));
        let mut sum = 0;
        let blocks = bytes.chunks(BLOCK).map(|block| {
            sum += characters(block) as u32;
            sum
        });
        Index {
            starts: starts.collect(),
            characters: std::iter::once(0).chain(blocks).collect(),
        }
    }
}

/// The number of characters that begin in a part of a text.
fn characters(bytes: &[u8]) -> usize {
    let begins = |byte: &&u8| byte.cast_signed() >= -64;
    bytes.iter().filter(begins).count()
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

    /// These files, and more after them.
    #[must_use]
    pub fn and(mut self, more: Vec<Source>) -> Self {
        self.files.extend(more);
        self
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
        let source = &self.files[span.file as usize];
        let line = source.line(span.start);
        let before = |at| source.characters_before(at);
        let start = source.line_start(line);
        (line + 1, before(span.start) - before(start) + 1)
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

    #[test]
    fn places_in_long_texts_are_those_of_a_slow_count() {
        let line = "aä\u{1F600}b";
        let text = format!("{line}\n").repeat(100) + &line.repeat(3_000) + "\r\n" + line;
        let sources = Sources::from(Source::new("a", text.clone()));
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        for at in ends.step_by(97).chain([text.len()]) {
            let before = &text[..at];
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            let span = Span {
                file: 0,
                start: at as u32,
                end: at as u32,
            };
            let line = 1 + before.matches('\n').count();
            assert_eq!(sources.line_column(span), (line, column), "{at}");
        }
    }
}
