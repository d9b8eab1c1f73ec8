//! Rule text as forms with their comments.
//!
//! In: the lists read by [`syntax`]. Out: the same forms, each with its comments in
//! one of a few places, so that printers need not handle comments anywhere else.

use ggp_stop::Stop;
use std::borrow::Cow;

use super::text_form::TextForm;
use crate::diagnostic::Diagnostic;
use crate::span::Sources;
use crate::syntax::{self, Sexp, SexpKind, SyntaxLimits};

/// The contents of a rule file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree<'t> {
    /// The forms.
    pub items: Vec<Item<'t>>,
    /// Comments and empty lines after the last form.
    pub after: Vec<Note<'t>>,
    /// The line breaks and the byte order mark of the first file.
    pub form: TextForm,
}

/// A form, a literal or a term, with its comments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item<'t> {
    /// Comments on lines before it. Always empty for the first item of a list and for
    /// the head of a rule.
    pub before: Vec<Note<'t>>,
    /// The word or list.
    pub node: Node<'t>,
    /// The comment on the same line, and its continuation right below it.
    pub behind: Vec<Cow<'t, str>>,
    /// True if it is on the same line as the previous item.
    pub near: bool,
}

/// The node types of KIF text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node<'t> {
    /// A name, or a variable with its `?`.
    Word(Cow<'t, str>),
    /// A bracketed list.
    List {
        /// The members.
        items: Vec<Item<'t>>,
        /// Comments on lines before the closing bracket.
        after: Vec<Note<'t>>,
    },
}

/// A comment or gap between items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note<'t> {
    /// A comment, including its `;`.
    Comment(Cow<'t, str>),
    /// Empty lines.
    Blank,
}

impl<'t> Item<'t> {
    /// An item without comments.
    pub fn new(node: Node<'t>) -> Self {
        Item {
            before: Vec::new(),
            node,
            behind: Vec::new(),
            near: false,
        }
    }
}

impl<'t> Node<'t> {
    /// A list without comments.
    pub fn list(nodes: impl IntoIterator<Item = Node<'t>>) -> Self {
        Node::List {
            items: nodes.into_iter().map(Item::new).collect(),
            after: Vec::new(),
        }
    }

    /// The name or variable, if the node is a word.
    pub fn word(&self) -> Option<&str> {
        match self {
            Node::Word(word) => Some(word),
            Node::List { .. } => None,
        }
    }

    /// The members of a list; empty for a word.
    pub fn items(&self) -> &[Item<'t>] {
        match self {
            Node::Word(_) => &[],
            Node::List { items, .. } => items,
        }
    }

    /// The name at the beginning of a list.
    pub fn functor(&self) -> Option<&str> {
        self.items().first()?.node.word()
    }

    /// True if the node is a rule with an arrow.
    pub fn is_rule(&self) -> bool {
        self.functor() == Some("<=")
    }
}

impl<'t> Tree<'t> {
    /// Reads the texts as one. If `stop` is over, ends early with a part of them.
    ///
    /// # Errors
    ///
    /// The findings about brackets.
    pub fn read(
        sources: &'t Sources,
        limits: SyntaxLimits,
        stop: &Stop,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (forms, findings) = syntax::read_until(sources, limits, stop);
        if !findings.is_empty() {
            return Err(findings);
        }
        let first = sources.files().first();
        let mut tree = Tree {
            form: first.map_or_else(TextForm::default, |file| TextForm::of(file.text())),
            ..Tree::default()
        };
        let mut rest = &forms[..];
        for (file, source) in sources.files().iter().enumerate() {
            let count = rest.partition_point(|form| form.span.file as usize <= file);
            let (own, others) = rest.split_at(count);
            rest = others;
            let text = source.text();
            let (items, after) = items(text, own, 0, text.len());
            // Comments at the end of a file come before the next file.
            let mut before = std::mem::replace(&mut tree.after, after);
            let at = tree.items.len();
            tree.items.extend(items);
            match tree.items.get_mut(at) {
                Some(first) => {
                    before.append(&mut first.before);
                    first.before = before;
                }
                None => {
                    before.append(&mut tree.after);
                    tree.after = before;
                }
            }
        }
        Ok(tree)
    }
}

/// The forms of a part of the text, with the comments between and after them.
fn items<'t>(
    text: &'t str,
    forms: &[Sexp],
    from: usize,
    to: usize,
) -> (Vec<Item<'t>>, Vec<Note<'t>>) {
    let mut out: Vec<Item<'t>> = Vec::with_capacity(forms.len());
    let mut at = from;
    for form in forms {
        let (start, end) = (form.span.start as usize, form.span.end as usize);
        let gap = Gap::read(text, at, start, !out.is_empty());
        if let Some(last) = out.last_mut() {
            last.behind = gap.behind;
        }
        let mut item = match &form.kind {
            SexpKind::List(members) => {
                let (items, after) = items(text, members, start + 1, end - 1);
                list(gap.notes, items, after)
            }
            _ => Item {
                before: gap.notes,
                ..Item::new(Node::Word(text[start..end].into()))
            },
        };
        item.near = !gap.breaks && !out.is_empty();
        out.push(item);
        at = end;
    }
    let gap = Gap::read(text, at, to, !out.is_empty());
    if let Some(last) = out.last_mut() {
        last.behind = gap.behind;
    }
    out.iter_mut().for_each(settle_behind);
    (out, gap.notes)
}

/// A list; comments at its start are moved before it.
pub(super) fn list<'t>(
    mut before: Vec<Note<'t>>,
    mut items: Vec<Item<'t>>,
    mut after: Vec<Note<'t>>,
) -> Item<'t> {
    let is_comment = |note: &Note<'_>| *note != Note::Blank;
    match items.first_mut() {
        None => before.extend(std::mem::take(&mut after).into_iter().filter(is_comment)),
        Some(first) => {
            before.extend(
                std::mem::take(&mut first.before)
                    .into_iter()
                    .filter(is_comment),
            );
            if first.node.word() == Some("<=") {
                let behind = std::mem::take(&mut first.behind).into_iter();
                before.extend(behind.map(Note::Comment));
                let head = items
                    .get_mut(1)
                    .map(|head| std::mem::take(&mut head.before));
                before.extend(head.into_iter().flatten().filter(is_comment));
            }
        }
    }
    after.retain(is_comment);
    Item {
        before,
        ..Item::new(Node::List { items, after })
    }
}

/// Moves a comment behind the last part of a list behind the list.
pub(super) fn settle_behind(item: &mut Item<'_>) {
    if let Node::List { items, after } = &mut item.node
        && item.behind.is_empty()
        && after.is_empty()
        && let Some(last) = items.last_mut()
    {
        item.behind = std::mem::take(&mut last.behind);
        // A comment behind a part of that part has room to move now, too.
        settle_behind(last);
    }
}

/// The text between two tokens.
#[derive(Default)]
pub(super) struct Gap<'t> {
    /// Comments that belong to the item before.
    pub behind: Vec<Cow<'t, str>>,
    pub notes: Vec<Note<'t>>,
    /// True if it contains a line break.
    pub breaks: bool,
}

impl<'t> Gap<'t> {
    /// Reads blanks and comments; `follows` if comments on the first line belong to
    /// the item before.
    pub fn read(text: &'t str, from: usize, to: usize, follows: bool) -> Self {
        let mut gap = Gap::default();
        let mut column = None;
        let (mut start, mut number) = (from, 0);
        loop {
            let rest = &text[start..to];
            let length = rest.find(['\n', '\r']);
            let line = &rest[..length.unwrap_or(rest.len())];
            match line.find([';', '%']) {
                Some(at) => {
                    let comment = Cow::from(line[at..].trim_end());
                    let here = Some(column_of(text, start + at));
                    let goes_on = column == here && gap.notes.is_empty();
                    if (number == 0 && follows) || goes_on {
                        column = here;
                        gap.behind.push(comment);
                    } else {
                        gap.notes.push(Note::Comment(comment));
                    }
                }
                // The first and the last line are shared with the tokens around.
                None if number > 0
                    && length.is_some()
                    && gap.notes.last() != Some(&Note::Blank) =>
                {
                    gap.notes.push(Note::Blank);
                }
                None => {}
            }
            let Some(length) = length else {
                gap.breaks = number > 0;
                return gap;
            };
            let long = if rest[length..].starts_with("\r\n") {
                2
            } else {
                1
            };
            start += length + long;
            number += 1;
        }
    }
}

/// The column of a place, counted from 0, as an editor shows it.
pub(super) fn column_of(text: &str, at: usize) -> usize {
    let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    text[line..at].chars().fold(0, |column, c| match c {
        '\t' => (column / 8 + 1) * 8,
        '\u{feff}' => column,
        _ => column + 1,
    })
}
