//! Escaping of text for SVG, HTML and terminals.

/// Escapes text for XML and HTML, in an element or an attribute.
#[doc(hidden)]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Makes untrusted text safe for a terminal: one line, without control characters,
/// truncated after `longest` characters.
#[doc(hidden)]
pub fn plain(text: &str, longest: usize) -> String {
    // Direction marks can make a line look different from what it contains.
    let is_control =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = text.chars().take(longest);
    let mut plain: String = shown
        .map(|c| if is_control(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(longest).is_some() {
        plain.push_str("...");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_removed() {
        let text = "a\u{1b}[2J\r\nb\u{9b}1m\u{202e}c\u{2066}";
        assert_eq!(
            plain(text, 100),
            "a\u{fffd}[2J\u{fffd}\u{fffd}b\u{fffd}1m\u{fffd}c\u{fffd}"
        );
        assert_eq!(plain("hätten", 2), "hä...");
        assert_eq!(plain("hä", 2), "hä");
    }
}
