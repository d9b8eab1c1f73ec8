//! The line breaks and the byte order mark of a text.

use std::cmp::Reverse;

/// The form of a text that rewriting keeps: its line breaks and its byte order mark.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TextForm {
    line_break: &'static str,
    has_mark: bool,
}

impl Default for TextForm {
    /// Line feeds without a byte order mark.
    fn default() -> Self {
        TextForm {
            line_break: "\n",
            has_mark: false,
        }
    }
}

impl TextForm {
    /// The character that some editors write at the beginning of a text.
    const MARK: char = '\u{feff}';

    /// The form of a text. If it has several kinds of line breaks, the most frequent one
    /// counts; of equally frequent ones, the one that comes first.
    pub fn of(text: &str) -> Self {
        let pairs = text.matches("\r\n").count();
        let kinds = [
            ("\n", text.matches('\n').count() - pairs),
            ("\r", text.matches('\r').count() - pairs),
            ("\r\n", pairs),
        ];
        // The last maximum counts, so that `\r\n` at the same place precedes `\r`.
        let used = kinds.into_iter().filter(|(_, count)| *count > 0);
        let most = used.max_by_key(|(kind, count)| (*count, Reverse(text.find(kind))));
        TextForm {
            line_break: most.map_or("\n", |(kind, _)| kind),
            has_mark: text.starts_with(TextForm::MARK),
        }
    }

    /// A text with line feeds, in this form.
    pub fn apply(self, text: String) -> String {
        let mut text = match self.line_break {
            "\n" => text,
            other => text.replace('\n', other),
        };
        if self.has_mark {
            text.insert(0, TextForm::MARK);
        }
        text
    }

    /// The texts of several files as one, with a line break of this form between them.
    pub fn join(self, texts: &[String]) -> String {
        let mut whole = String::new();
        for (number, text) in texts.iter().enumerate() {
            match number {
                0 => whole.push_str(text),
                _ => {
                    whole.push_str(self.line_break);
                    whole.push_str(text.trim_start_matches(TextForm::MARK));
                }
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_line_break_counts() {
        for (text, expected) in [
            ("", "\n"),
            ("a", "\n"),
            ("a\nb", "\n"),
            ("a\r\nb\r\n", "\r\n"),
            ("a\rb\r", "\r"),
            ("a\nb\r\nc\r\n", "\r\n"),
            ("a\nb\r\n", "\n"),
            ("a\r\nb\n", "\r\n"),
            ("a\rb\nc\r", "\r"),
            ("a\rb\r\n", "\r"),
            ("a\r\nb\rc\n", "\r\n"),
        ] {
            assert_eq!(
                TextForm::of(text).apply("\n".to_owned()),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_byte_order_mark_stays_at_the_beginning() {
        let form = TextForm::of("\u{feff}a\r\n");
        assert_eq!(form.apply("a\nb\n".to_owned()), "\u{feff}a\r\nb\r\n");
        let texts = ["\u{feff}a\r\n", "\u{feff}b"].map(str::to_owned);
        assert_eq!(form.join(&texts), "\u{feff}a\r\n\r\nb");
    }
}
