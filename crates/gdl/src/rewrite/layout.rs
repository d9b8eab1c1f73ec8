//! A uniform layout for rule files.
//!
//! A fact is on one line, together with other facts if it was before. A rule has its
//! head on the line of the arrow and each literal of its body on a separate line.
//! Lists that are too long are broken at their arguments. Comments stay where
//! [`Tree`] has them; empty lines between forms stay, at most one in a row.
//! The line breaks and a byte order mark are those of the text that was read.
//! Formatting the result again does not change it.

use ggp_stop::Stop;
use std::borrow::Cow;

use super::tree::{Node, Note, Tree};

/// Indentation of a rule's parts, and of the arguments of long names, in columns.
const INDENT: usize = 4;

/// Options for the layout.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Maximum length of a line that can be broken.
    pub width: usize,
}

impl Layout {
    /// The default width of a line.
    pub const WIDTH: usize = 80;
}

impl Default for Layout {
    fn default() -> Self {
        Layout {
            width: Layout::WIDTH,
        }
    }
}

/// The text of a tree. Once `stop` is over, the rest is omitted.
pub fn laid_out(tree: &Tree<'_>, layout: Layout, stop: &Stop) -> String {
    let mut writer = Writer::new(layout.width);
    let mut may_join = false;
    for item in &tree.items {
        if stop.is_over() {
            break;
        }
        let is_rule = item.node.is_rule();
        let joins = may_join && item.near && item.before.is_empty() && !is_rule;
        writer.notes(&item.before, 0);
        match joins.then(|| writer.flat(&item.node, 1)).flatten() {
            Some(flat) => writer.push(&format!(" {flat}")),
            None => writer.line(0),
        }
        let line = writer.lines;
        if writer.column == 0 {
            writer.node(&item.node, 0);
        }
        may_join = !is_rule && item.behind.is_empty() && line == writer.lines;
        writer.behind(&item.behind);
    }
    writer.notes(&tree.after, 0);
    let mut out = writer.out;
    out.truncate(out.trim_end_matches([' ', '\n']).len());
    if !out.is_empty() {
        out.push('\n');
    }
    tree.form.apply(out)
}

/// The text of one indented node; `closing` brackets will follow it.
pub fn node_laid_out(node: &Node<'_>, indent: usize, closing: usize, layout: Layout) -> String {
    let mut writer = Writer::new(layout.width);
    writer.pad(indent);
    writer.node(node, closing);
    writer.out
}

struct Writer {
    out: String,
    width: usize,
    /// Number of finished lines.
    lines: usize,
    column: usize,
    /// True if the line ends with a comment, so that nothing may follow on it.
    commented: bool,
}

impl Writer {
    fn new(width: usize) -> Self {
        Writer {
            out: String::new(),
            width,
            lines: 0,
            column: 0,
            commented: false,
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn pad(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
        self.column += columns;
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.lines += 1;
        self.column = 0;
        self.commented = false;
    }

    /// Begins a new line unless the current one is empty.
    fn line(&mut self, indent: usize) {
        if self.column > 0 {
            self.end_line();
        }
        self.pad(indent);
    }

    /// Writes comments on separate lines. Empty lines are kept between forms only.
    fn notes(&mut self, notes: &[Note<'_>], indent: usize) {
        for note in notes {
            match note {
                Note::Comment(comment) => {
                    self.line(indent);
                    self.push(comment);
                    self.commented = true;
                }
                Note::Blank if indent == 0 && !self.out.is_empty() => {
                    self.line(0);
                    if !self.out.ends_with("\n\n") {
                        self.end_line();
                    }
                }
                Note::Blank => {}
            }
        }
    }

    fn behind(&mut self, comments: &[Cow<'_, str>]) {
        let column = self.column + 2;
        for (number, comment) in comments.iter().enumerate() {
            match number {
                0 => self.pad(2),
                _ => self.line(column),
            }
            self.push(comment);
            self.commented = true;
        }
    }

    /// Writes a node at the current position. `closing` brackets will follow.
    fn node(&mut self, node: &Node<'_>, closing: usize) {
        let (items, after) = match node {
            Node::Word(word) => return self.push(word),
            Node::List { items, after } => (items, after),
        };
        let is_rule = node.is_rule();
        if !(is_rule && items.len() > 2)
            && let Some(flat) = self.flat(node, closing)
        {
            return self.push(&flat);
        }
        let start = self.column.min(self.width);
        let name = match items.first().map(|first| &first.node) {
            Some(Node::Word(word)) => Some(word.chars().count()),
            _ => None,
        };
        let is_short = name.is_some_and(|length| length + 2 <= 3 * INDENT);
        let beside = is_rule || is_short || (items.len() == 2 && name.is_some());
        let inner = match name {
            None => start + 1,
            Some(length) if is_short && !is_rule => start + length + 2,
            Some(_) => start + INDENT,
        };
        let inner = inner.min(self.width);
        let fills = !is_rule && items.iter().all(|item| item.node.word().is_some());
        self.push("(");
        for (number, item) in items.iter().enumerate() {
            let is_last = number + 1 == items.len();
            let ends = is_last && after.is_empty() && item.behind.is_empty();
            let closing = if ends { closing + 1 } else { 0 };
            self.notes(&item.before, inner);
            let has_room = || self.flat(&item.node, closing + 1).is_some();
            match number {
                0 => {}
                1 if beside && !self.commented => self.pad(1),
                _ if !self.commented && fills && number > 1 && has_room() => self.pad(1),
                _ => self.line(inner),
            }
            self.node(&item.node, closing);
            self.behind(&item.behind);
        }
        self.notes(after, inner);
        if self.commented {
            self.line(start);
        }
        self.push(")");
    }

    /// The node in the rest of the line, followed by `more` further characters, if it
    /// has no comments and fits.
    fn flat(&self, node: &Node<'_>, more: usize) -> Option<String> {
        let mut room = self.width.checked_sub(self.column + more)?;
        let mut flat = String::new();
        flatten(node, &mut room, &mut flat)?;
        Some(flat)
    }
}

/// Writes a node on one line, if it has no comments and fits.
fn flatten(node: &Node<'_>, room: &mut usize, out: &mut String) -> Option<()> {
    match node {
        Node::Word(word) => {
            *room = room.checked_sub(word.chars().count())?;
            out.push_str(word);
        }
        Node::List { items, after } => {
            let has_comment = |notes: &[Note<'_>]| notes.iter().any(|note| *note != Note::Blank);
            *room = room.checked_sub((items.len() + 1).max(2))?;
            out.push('(');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push(' ');
                }
                if has_comment(&item.before) || !item.behind.is_empty() {
                    return None;
                }
                flatten(&item.node, room, out)?;
            }
            out.push(')');
            if has_comment(after) {
                return None;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::{Source, Sources};
    use crate::syntax::SyntaxLimits;

    fn lay(text: &str) -> String {
        let sources = Sources::from(Source::new("t", text));
        let stop = Stop::new();
        let tree = Tree::read(&sources, SyntaxLimits::default(), &stop);
        laid_out(
            &tree.expect("brackets are right"),
            Layout { width: 40 },
            &stop,
        )
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(lay(text), expected);
        assert_eq!(lay(expected), expected, "again");
    }

    #[test]
    fn each_literal_has_its_own_line() {
        check("(role  a)\n(role\n b)", "(role a)\n(role b)\n");
        check(
            "(<= (legal ?x go) (role ?x)   (not (true (at ?x  b))))",
            "(<= (legal ?x go)\n    (role ?x)\n    (not (true (at ?x b))))\n",
        );
        check("(<= terminal)\n( )", "(<= terminal)\n()\n");
        check("", "");
        check("\n\n", "");
    }

    #[test]
    fn facts_stay_on_one_line_if_they_fit() {
        check(
            "(p 1)(p 2)   (p 3)\n\n\n(p 4)",
            "(p 1) (p 2) (p 3)\n\n(p 4)\n",
        );
        check(
            "(after 1 2) (after 2 3) (after 3 4) (after 4 5)",
            "(after 1 2) (after 2 3) (after 3 4)\n(after 4 5)\n",
        );
        check("(p) (<= q p) (r)", "(p)\n(<= q\n    p)\n(r)\n");
    }

    #[test]
    fn long_lists_are_broken_at_their_arguments() {
        check(
            "(<= a (or (something quite long) (something even longer)))",
            "(<= a\n    (or (something quite long)\n        (something even longer)))\n",
        );
        check(
            "(row something very long indeed that goes on and on)",
            "(row something very long indeed that\n     goes on and on)\n",
        );
        check(
            "(a_name_of_some_length (and something) (very long) (indeed) yes)",
            "(a_name_of_some_length\n    (and something)\n    (very long)\n    (indeed)\n    yes)\n",
        );
    }

    #[test]
    fn comments_stay_where_they_belong() {
        check(
            "; head\n\n\n\n;; more\n(a) ; behind\n\n(<= b\n  ; before c\n  (c) ; of c\n ; last\n)\n;end",
            "; head\n\n;; more\n(a)  ; behind\n\n(<= b\n    ; before c\n    (c)  ; of c\n    ; last\n)\n;end\n",
        );
        check("(<= a b ; why\n)", "(<= a\n    b)  ; why\n");
        check("(<= a b ; why\n) ; and", "(<= a\n    b  ; why\n)  ; and\n");
        check("(a ; x\n b)", "(a  ; x\n   b)\n");
        check(
            "(<= a\n  (b (c) ; of c\n  ) ; of b\n)",
            "(<= a\n    (b (c))  ; of c\n)  ; of b\n",
        );
    }

    #[test]
    fn comments_at_the_start_of_a_list_go_before_it() {
        check("( ; x\n a b)", "; x\n(a b)\n");
        check(
            "(<= ; x\n ; y\n a (;z\n b))",
            "; x\n; y\n(<= a\n    ;z\n    (b))\n",
        );
        check("(p (; x\n))", "(p\n   ; x\n   ())\n");
    }

    #[test]
    fn comments_below_a_comment_continue_it() {
        check(
            "(a b)   ; one\n        ; two\n; three\n(c)",
            "(a b)  ; one\n       ; two\n; three\n(c)\n",
        );
    }

    #[test]
    fn line_breaks_become_those_that_the_text_has_most() {
        check(
            "(a)\r\n\r\n(b)\r(c) ; x\r",
            "(a)\r\n\r\n(b)\r\n(c)  ; x\r\n",
        );
        check("\u{feff}(a)\r\r\r(b)", "\u{feff}(a)\r\r(b)\r");
    }
}
