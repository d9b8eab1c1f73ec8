//! Lists and words of a message text.
//!
//! The rules of a message are extracted as text and not parsed, so that a long message needs
//! one pass over its bytes and no tree. Whitespace and comments are those of
//! `grammar/kif.pest`.

use super::MessageError;

/// Returns true if a character separates words.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{a0}' | '\u{feff}'
    )
}

fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// A bracket or a word.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Word,
}

/// The next token at or after an offset, with its start and end.
fn token(text: &str, mut at: usize) -> Option<(Token, usize, usize)> {
    loop {
        let rest = &text[at..];
        let skipped = rest.find(|c| !is_blank(c))?;
        at += skipped;
        let rest = &rest[skipped..];
        match rest.as_bytes()[0] {
            b'(' => return Some((Token::Open, at, at + 1)),
            b')' => return Some((Token::Close, at, at + 1)),
            b';' => at += rest.find(ends_line)?,
            _ => {
                let ends = |c| is_blank(c) || matches!(c, '(' | ')' | ';');
                let length = rest.find(ends).unwrap_or(rest.len());
                return Some((Token::Word, at, at + length));
            }
        }
    }
}

/// An iterator over the top-level words and lists of a text, in their spelling.
pub(super) struct Elements<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
}

impl<'t> Elements<'t> {
    pub(super) fn new(text: &'t str, nesting: usize) -> Self {
        Elements {
            text,
            at: 0,
            nesting,
        }
    }

    /// The text from the next word or bracket on; empty if there is none.
    pub(super) fn rest(&self) -> &'t str {
        let next = token(self.text, self.at);
        next.map_or("", |(_, start, _)| &self.text[start..])
    }
}

impl<'t> Iterator for Elements<'t> {
    type Item = Result<&'t str, MessageError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (first, start, mut end) = token(self.text, self.at)?;
        let mut depth = 0_usize;
        let mut kind = first;
        loop {
            match kind {
                Token::Open => depth += 1,
                // Only the first token can close a list that is not open.
                Token::Close if depth == 0 => return Some(Err(MessageError::Unbalanced)),
                Token::Close => depth -= 1,
                Token::Word => {}
            }
            self.at = end;
            if depth > self.nesting {
                return Some(Err(MessageError::TooDeep(self.nesting)));
            }
            if depth == 0 {
                return Some(Ok(&self.text[start..end]));
            }
            match token(self.text, end) {
                Some((next, _, next_end)) => (kind, end) = (next, next_end),
                None => return Some(Err(MessageError::Unbalanced)),
            }
        }
    }
}

/// The text between the brackets of a list; `None` for a word.
pub(super) fn inside(element: &str) -> Option<&str> {
    element.strip_prefix('(')?.strip_suffix(')')
}

/// A text with one space between words and brackets, without comments.
pub fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((_, start, end)) = token(text, at) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&text[start..end]);
        at = end;
    }
    out
}

/// A text without spaces inside brackets.
pub fn compact(text: &str) -> String {
    text.replace("( ", "(").replace(" )", ")")
}

/// A text without whitespace and zero bytes at its ends. Some programs in C send the zero byte
/// that ends their strings.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
}

/// An incremental check of whether a message is complete.
#[derive(Copy, Clone, Debug, Default)]
pub struct Balance {
    depth: u64,
    in_comment: bool,
    is_whole: bool,
}

impl Balance {
    /// Processes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' | b'\r' => self.in_comment = false,
                _ if self.in_comment => {}
                b';' => self.in_comment = true,
                b'(' => self.depth += 1,
                b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Returns true if a list was closed and none is open.
    pub fn is_whole(&self) -> bool {
        self.is_whole && self.depth == 0
    }

    /// Returns true if a list is open.
    pub fn is_open(&self) -> bool {
        self.depth > 0
    }
}
