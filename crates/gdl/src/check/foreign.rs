//! Words of other notations that beginners write in rules.

use super::keywords::Keyword;

/// A word of another notation.
pub(super) struct Foreign {
    /// The kind, of which the first word is reported.
    pub kind: &'static str,
    /// The advice on how GDL says it.
    pub help: &'static str,
}

pub(super) const ARROW_HELP: &str = "write a rule as (<= head literal ...)";
const COMMENT_HELP: &str = "a comment in GDL begins with ; and ends with the line";
const QUOTES_HELP: &str = "quotes have no meaning in GDL: remove them";
const QUOTES: [char; 7] = ['“', '”', '„', '‘', '’', '«', '»'];

pub(super) const ARITHMETIC_HELP: &str = "GDL has no numbers to calculate with or to compare: list the results \
     as facts, such as (plus 1 2 3), (minus 3 1 2) or (less 1 3), and ask for them in the body of a rule";

pub(super) const CONNECTIVE_HELP: &str =
    "all literals of a body must hold; where one of several is enough, write (or LITERAL ...)";

pub(super) const EQUALITY_HELP: &str = "write the same variable or name in both places for equal terms, and (distinct TERM TERM) for others";

/// Whether a word is the arrow of a rule in another notation.
pub(super) fn is_arrow(text: &str) -> bool {
    matches!(
        text,
        "=>" | "->" | "-->" | "==>" | "<-" | "<--" | "<==" | ":-" | ":=" | "⇒" | "→" | "⇐" | "←"
    )
}

/// Whether a name says in another notation that a condition has a consequence.
pub(super) fn is_conditional(text: &str) -> bool {
    ["if", "when", "implies", "<"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// The keyword that a word of everyday language stands for.
pub(super) fn keyword_meant(text: &str) -> Option<Keyword> {
    let text = text.to_ascii_lowercase();
    match &text[..] {
        "player" => Some(Keyword::Role),
        "initial" | "initially" | "start" => Some(Keyword::Init),
        "end" | "ended" | "final" | "finished" | "game_over" | "gameover" | "over" => {
            Some(Keyword::Terminal)
        }
        "score" | "points" | "utility" => Some(Keyword::Goal),
        _ => None,
    }
}

/// Whether a name is a sign of arithmetic or of a comparison.
pub(super) fn is_operator(text: &str) -> bool {
    let of = |text: &str| text.chars().all(|sign| "+-*/%^<>=!~≤≥≠".contains(sign));
    (1..=2).contains(&text.chars().count()) && of(text) && !is_arrow(text) && text != "<="
}

/// Whether a name says in another notation that two terms differ.
pub(super) fn is_inequality(text: &str) -> bool {
    [
        "!=",
        "/=",
        "<>",
        "~=",
        "\\=",
        "≠",
        "neq",
        "different",
        "unequal",
        "not_equal",
        "notequal",
    ]
    .iter()
    .any(|word| text.eq_ignore_ascii_case(word))
}

/// Recognizes a word of another notation; `is_form` is true for a word that is a whole form.
pub(super) fn foreign(text: &str, is_form: bool) -> Option<Foreign> {
    let of = |kind, help| Some(Foreign { kind, help });
    let begins = |signs: &[&str]| signs.iter().any(|sign| text.starts_with(sign));
    if text == "<=" || text.starts_with(":-") || is_arrow(text) {
        of("arrow", ARROW_HELP)
    } else if begins(&["#|", "|#", "//", "/*", "*/"]) || is_form && begins(&["#", "%", "--"]) {
        of("comment", COMMENT_HELP)
    } else if text.starts_with('"') || text.contains(QUOTES) || is_quoted(text) {
        of("quotes", QUOTES_HELP)
    } else {
        None
    }
}

fn is_quoted(text: &str) -> bool {
    text.len() > 2 && text.starts_with('\'') && text.ends_with('\'')
}
