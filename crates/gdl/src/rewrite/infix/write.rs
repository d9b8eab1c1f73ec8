//! Writes rules in infix notation.

use std::borrow::Cow;

use crate::check::Keyword;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::rewrite::tree::{Item, Node, Note, Tree};
use crate::syntax::{Sexp, SexpKind};

/// Maximum length of a line that can be broken.
const WIDTH: usize = 80;

/// The indentation of each literal of a rule.
const INDENT: &str = "  ";

/// Findings for lists that cannot be written in infix notation, because they do not
/// begin with a name.
pub fn unwritable(forms: &[Sexp]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut open: Vec<&Sexp> = forms.iter().rev().collect();
    while let Some(sexp) = open.pop() {
        let SexpKind::List(members) = &sexp.kind else {
            continue;
        };
        let (code, span, message) = match members.first() {
            Some(first) if first.kind == SexpKind::Symbol => {
                open.extend(members.iter().rev());
                continue;
            }
            None => (Code::EmptyList, sexp.span, "an empty list"),
            Some(first) => (
                Code::BadListHead,
                first.span,
                "a list that begins with no name",
            ),
        };
        let message = format!("{message} cannot be written in infix notation");
        findings.push(Diagnostic::new(code, Strictness::Tolerant, span, message));
    }
    findings
}

/// The text of a tree in which every list begins with a name.
pub fn to_infix(tree: &Tree<'_>) -> String {
    let mut out = String::new();
    for item in &tree.items {
        notes(&item.before, "", &mut out);
        match (item.node.is_rule(), item.node.items()) {
            (true, [_, head, body @ ..]) => rule(item, head, body, &mut out),
            _ => {
                inner_comments(&item.node, "", &mut out);
                out.push_str(&prefix(&item.node));
            }
        }
        match &item.node {
            // A comment on the last line extends to the end of the line.
            Node::List { items, after }
                if items.len() > 2
                    && item.node.is_rule()
                    && (has_comment(after) || !items[items.len() - 1].behind.is_empty()) =>
            {
                for comment in &item.behind {
                    out.push('\n');
                    out.push_str(INDENT);
                    out.push_str(&comment_text(comment));
                }
            }
            _ => behind(&item.behind, "", &mut out),
        }
        out.push('\n');
    }
    notes(&tree.after, "", &mut out);
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    tree.form.apply(out)
}

fn rule(item: &Item<'_>, head: &Item<'_>, body: &[Item<'_>], out: &mut String) {
    inner_comments(&head.node, "", out);
    out.push_str(&prefix(&head.node));
    out.push_str(" :-");
    if let [literal] = body
        && !has_comments(item)
    {
        let literal = formula(&literal.node);
        let line = out.rfind('\n').map_or(0, |end| end + 1);
        if out[line..].chars().count() + 1 + literal.chars().count() <= WIDTH {
            out.push(' ');
            out.push_str(&literal);
            return;
        }
    }
    behind(&head.behind, INDENT, out);
    for (number, literal) in body.iter().enumerate() {
        out.push('\n');
        notes(&literal.before, INDENT, out);
        inner_comments(&literal.node, INDENT, out);
        out.push_str(INDENT);
        out.push_str(&wrapped(&literal.node, INDENT.len()));
        if number + 1 < body.len() {
            out.push_str(" &");
        }
        behind(&literal.behind, INDENT, out);
    }
    if let Node::List { after, .. } = &item.node
        && !after.is_empty()
    {
        out.push('\n');
        notes(after, INDENT, out);
        out.truncate(out.trim_end().len());
    }
    if body.is_empty() {
        let needs_line = !head.behind.is_empty() || has_comments(item);
        out.push_str(if needs_line { "\n." } else { " ." });
    }
}

/// True if a rule contains comments.
fn has_comments(item: &Item<'_>) -> bool {
    let Node::List { items, after } = &item.node else {
        return false;
    };
    let has = |item: &Item<'_>| {
        has_comment(&item.before) || !item.behind.is_empty() || has_comments(item)
    };
    has_comment(after) || items.iter().any(has)
}

fn has_comment(notes: &[Note<'_>]) -> bool {
    notes.iter().any(|note| *note != Note::Blank)
}

/// Writes comments on separate lines.
fn notes(notes: &[Note<'_>], indent: &str, out: &mut String) {
    for note in notes {
        match note {
            Note::Comment(comment) => {
                out.push_str(indent);
                out.push_str(&comment_text(comment));
                out.push('\n');
            }
            Note::Blank if indent.is_empty() && !out.is_empty() => out.push('\n'),
            Note::Blank => {}
        }
    }
}

fn behind(comments: &[Cow<'_, str>], indent: &str, out: &mut String) {
    for (number, comment) in comments.iter().enumerate() {
        match number {
            0 => out.push_str("  "),
            _ => {
                out.push('\n');
                out.push_str(indent);
            }
        }
        out.push_str(&comment_text(comment));
    }
}

/// Writes the comments inside a term or literal, which itself is written without
/// them.
fn inner_comments(node: &Node<'_>, indent: &str, out: &mut String) {
    let Node::List { items, after } = node else {
        return;
    };
    for item in items {
        notes(&item.before, indent, out);
        inner_comments(&item.node, indent, out);
        for comment in &item.behind {
            notes(&[Note::Comment(comment.clone())], indent, out);
        }
    }
    notes(after, indent, out);
}

/// A comment with each leading `;` replaced by `%`, or after a `%` if reading would not restore it.
fn comment_text(comment: &str) -> String {
    let text = comment.trim_start_matches(';');
    match text.starts_with('%') {
        true => format!("%{comment}"),
        false => "%".repeat(comment.len() - text.len()) + text,
    }
}

/// A formula, on several lines if it is long.
fn wrapped(node: &Node<'_>, indent: usize) -> String {
    let flat = formula(node);
    match connective(node) {
        Some((sign, parts)) if indent + flat.chars().count() > WIDTH => {
            let parts = parts.iter().map(|part| wrapped(&part.node, indent + 1));
            let between = format!(" {sign}\n{}", " ".repeat(indent + 1));
            format!("({})", parts.collect::<Vec<_>>().join(&between))
        }
        _ => flat,
    }
}

fn formula(node: &Node<'_>) -> String {
    if let Some((sign, parts)) = connective(node) {
        let parts: Vec<String> = parts.iter().map(|part| formula(&part.node)).collect();
        return format!("({})", parts.join(&format!(" {sign} ")));
    }
    match (node.functor().and_then(Keyword::of), node.items()) {
        (Some(Keyword::Not), [_, negated]) => format!("~{}", formula(&negated.node)),
        _ => prefix(node),
    }
}

/// The operator and the operands of a disjunction or a conjunction.
fn connective<'n, 't>(node: &'n Node<'t>) -> Option<(char, &'n [Item<'t>])> {
    let sign = match node.functor().and_then(Keyword::of)? {
        Keyword::Or => '|',
        Keyword::And => '&',
        _ => return None,
    };
    let parts = &node.items()[1..];
    (parts.len() > 1).then_some((sign, parts))
}

fn prefix(node: &Node<'_>) -> String {
    match node {
        Node::Word(word) => word_text(word).into_owned(),
        Node::List { items, .. } => {
            let mut parts = items.iter().map(|item| prefix(&item.node));
            let name = parts.next().unwrap_or_default();
            format!("{name}({})", parts.collect::<Vec<_>>().join(","))
        }
    }
}

fn word_text(word: &str) -> Cow<'_, str> {
    if let Some(name) = word.strip_prefix('?') {
        return variable_text(name).into();
    }
    if let Some(keyword) = Keyword::of(word) {
        return keyword.as_str().into();
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let starts = word.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    match starts && is_plain(word) || word.strip_prefix('-').is_some_and(digits) {
        true => word.into(),
        false => quoted(word).into(),
    }
}

fn variable_text(name: &str) -> String {
    let mut chars = name.chars();
    let second = name.chars().nth(1);
    match chars.next() {
        Some(first) if !is_plain(name) || first.is_ascii_digit() => format!("?{}", quoted(name)),
        Some(first) if first.is_ascii_lowercase() => {
            format!("{}{}", first.to_ascii_uppercase(), chars.as_str())
        }
        Some(first) if first.is_ascii_uppercase() => format!("_{name}"),
        // The name begins with `_`.
        Some(_) if second.is_some_and(|c| !c.is_ascii_uppercase()) => name.to_owned(),
        _ => format!("?{}", quoted(name)),
    }
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}
