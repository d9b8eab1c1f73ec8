//! The text of a file, and positions in it.

use lsp_types::{Position, Range};

use ggp_gdl::span::{Source, Span};

/// The characters that end a line.
const ENDS: [char; 2] = ['\r', '\n'];

/// The text of a file. Its lines end with a line feed, a carriage return, or both.
pub(super) struct Text {
    name: String,
    text: String,
    /// The byte offset of each line.
    lines: Vec<usize>,
}

impl Text {
    pub(super) fn new(name: String, text: String) -> Self {
        let bytes = text.as_bytes();
        let is_end = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = (0..bytes.len()).filter(is_end);
        let lines = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        Text { name, text, lines }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The text as a file of a rule set.
    pub(super) fn source(&self) -> Source {
        Source::new(self.name.clone(), self.text.clone())
    }

    /// The text with another one in place of a range, or of everything.
    pub(super) fn changed(&self, range: Option<Range>, text: &str) -> Self {
        let text = match range {
            None => text.to_owned(),
            Some(range) => {
                let (start, end) = (self.offset(range.start), self.offset(range.end));
                let mut whole = self.text.clone();
                whole.replace_range(start..end.max(start), text);
                whole
            }
        };
        Text::new(self.name.clone(), text)
    }

    /// The byte offset of a position. A position beyond the line or the text is at its end.
    pub(super) fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else {
            return self.text.len();
        };
        let next = self.lines.get(position.line as usize + 1);
        let line = &self.text[start..next.map_or(self.text.len(), |&next| next)];
        let line = line.trim_end_matches(ENDS);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            if units >= position.character as usize {
                return start + at;
            }
            units += c.len_utf16();
        }
        start + line.len()
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        // An offset within the end of a line is at the end of the line.
        let before = self.text[self.lines[line]..offset].trim_end_matches(ENDS);
        Position {
            line: line as u32,
            character: before.chars().map(char::len_utf16).sum::<usize>() as u32,
        }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        Range {
            start: self.position(span.start as usize),
            end: self.position(span.end as usize),
        }
    }
}
