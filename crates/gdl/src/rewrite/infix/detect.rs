//! Detection of the notation of a text.

use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::span::{Source, Sources, Span};

/// The message about a text in infix notation where KIF is expected.
pub const NOT_KIF: &str = "this is infix notation, not KIF";

/// The finding about the first file in infix notation, if there is one.
pub fn infix_finding(sources: &Sources) -> Option<Diagnostic> {
    let is_infix = |file: &Source| detect_infix(file.text()) == Some(true);
    let file = sources.files().iter().position(is_infix)?;
    let first = sources.files()[file].text().trim_end().lines().next();
    let span = Span {
        file: file as u32,
        start: 0,
        end: first.map_or(0, str::len) as u32,
    };
    let message = NOT_KIF.to_owned();
    let finding = Diagnostic::new(Code::BadInfix, Strictness::Tolerant, span, message);
    Some(finding.help("`ggp rules convert FILE` converts it to KIF"))
}

/// Maximum number of bytes examined.
const SEEN: usize = 1 << 20;

/// Detects whether a text is in infix notation, from its beginning after comments. A
/// bracket means KIF. A name followed by its bracket or an arrow, as in `p(a)`,
/// `'a+'(b)` or `p :-`, means infix. `None` if the text begins with names only.
pub fn detect_infix(text: &str) -> Option<bool> {
    let mut end = text.len().min(SEEN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let is_blank = |c: char| " \t\n\r\u{b}\u{c}\u{a0}\u{feff}".contains(c);
    let mut rest = &text[..end];
    loop {
        rest = rest.trim_start_matches(is_blank);
        if rest.starts_with([';', '%']) {
            rest = &rest[rest.find(['\n', '\r'])?..];
            continue;
        }
        if rest.starts_with(":-") {
            return Some(true);
        }
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let behind = &rest[name..];
        match behind.chars().next() {
            Some('(') => return Some(name > 0),
            Some(':') if name > 0 && behind.starts_with(":-") => return Some(true),
            Some('\'') if name == 0 => {
                let end = behind[1..].find(['\'', '\n'])?;
                let quoted = behind[1 + end..].strip_prefix('\'')?;
                return quoted.starts_with('(').then_some(true);
            }
            Some(c) if name > 0 && (is_blank(c) || c == '.') => {
                rest = behind.strip_prefix('.').unwrap_or(behind);
            }
            _ => return None,
        }
    }
}
