//! Semantic comparison of two rule sets, rule by rule.
//!
//! In: the forms of two texts. Out: forms that only one of them has, and pairs of
//! similar forms. The order of forms, literals and alternatives, the names of
//! variables, layout and comments are ignored; the order of roles is not.

mod literals;
mod pairing;

use ggp_stop::Stop;
use std::collections::HashMap;

use super::tree::Node;
use crate::check::Keyword;
use crate::span::{Sources, Span};
use crate::symbol::Case;
use crate::syntax::{Sexp, SexpKind};
use literals::Match;

pub use literals::Part;

/// A form of one of the texts.
#[derive(Clone, Debug)]
pub struct Form<'s> {
    /// Its place.
    pub span: Span,
    /// The head or fact, followed by the literals of the body.
    pub parts: Vec<Node<'s>>,
    /// True if it is written with an arrow.
    pub is_rule: bool,
}

impl<'s> Form<'s> {
    /// All forms of the texts.
    pub fn all(forms: &[Sexp], sources: &'s Sources) -> Vec<Form<'s>> {
        forms.iter().map(|form| Form::new(form, sources)).collect()
    }

    fn new(form: &Sexp, sources: &'s Sources) -> Self {
        let node = node(form, sources);
        let is_rule = node.is_rule() && node.items().len() > 1;
        let parts = match node {
            Node::List { items, .. } if is_rule => {
                items.into_iter().skip(1).map(|item| item.node).collect()
            }
            fact => vec![fact],
        };
        Form {
            span: form.span,
            parts,
            is_rule,
        }
    }

    /// Its words in alphabetical order; all variables count as the same word.
    fn words(&self, case: Case) -> Vec<String> {
        let mut open: Vec<&Node<'_>> = self.parts.iter().collect();
        let mut words = Vec::new();
        while let Some(node) = open.pop() {
            match node {
                Node::Word(word) if word.starts_with('?') => words.push("?".to_owned()),
                Node::Word(word) => words.push(key(word, case).into_owned()),
                Node::List { items, .. } => open.extend(items.iter().map(|item| &item.node)),
            }
        }
        words.sort_unstable();
        words
    }

    /// The relation of the head.
    fn relation(&self, case: Case) -> String {
        let head = &self.parts[0];
        key(head.word().or(head.functor()).unwrap_or_default(), case).into_owned()
    }
}

fn node<'s>(sexp: &Sexp, sources: &'s Sources) -> Node<'s> {
    match &sexp.kind {
        SexpKind::List(members) => Node::list(members.iter().map(|member| node(member, sources))),
        _ => Node::Word(sources.text(sexp.span).into()),
    }
}

/// The form of a name used for comparison.
fn key(name: &str, case: Case) -> std::borrow::Cow<'_, str> {
    match case {
        Case::Fold if name.chars().any(char::is_uppercase) => name.to_lowercase().into(),
        _ => name.into(),
    }
}

/// The difference between two rule sets. Forms are identified by their numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// Forms that only the old rules have.
    pub removed: Vec<usize>,
    /// Forms that only the new rules have.
    pub added: Vec<usize>,
    /// Pairs of similar but different forms, in the order of the old rules.
    pub changed: Vec<Change>,
    /// True if the same roles are declared in a different order.
    pub roles_moved: bool,
}

/// A form that has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The old form.
    pub old: usize,
    /// The new form.
    pub new: usize,
    /// The changes of its parts, the head first.
    pub parts: Vec<Part>,
    /// Variables of the old form, with their names in the new form.
    pub variables: HashMap<String, String>,
}

impl Difference {
    /// True if there is no difference.
    pub fn is_empty(&self) -> bool {
        *self == Difference::default()
    }

    /// Compares two rule sets. Once `stop` is over, fewer forms are paired.
    pub fn between(old: &[Form<'_>], new: &[Form<'_>], case: Case, stop: &Stop) -> Self {
        let (left, right) = unequal(old, new, case, stop);
        let mut difference = Difference {
            roles_moved: roles_moved(old, new, case),
            ..Difference::default()
        };
        let pairs = pairing::pairs(old, new, left, right, case, stop);
        difference.removed = pairs.removed;
        difference.added = pairs.added;
        for (a, b) in pairs.changed {
            let found = Match::near(&old[a], &new[b], case);
            difference.changed.push(Change {
                old: a,
                new: b,
                parts: found.parts(),
                variables: found.variables(),
            });
        }
        difference.changed.sort_by_key(|change| change.old);
        difference
    }
}

/// The forms of either text that have no equal form in the other.
fn unequal(
    old: &[Form<'_>],
    new: &[Form<'_>],
    case: Case,
    stop: &Stop,
) -> (Vec<usize>, Vec<usize>) {
    // Equal forms have equal shapes when variables are ignored.
    let mut alike: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for (number, form) in new.iter().enumerate() {
        alike
            .entry(literals::shape(form, case))
            .or_default()
            .push(number);
    }
    let mut left = Vec::new();
    for (number, form) in old.iter().enumerate() {
        let candidates = alike.get_mut(&literals::shape(form, case));
        let found = candidates.and_then(|candidates| {
            let is_same =
                |&other: &usize| !stop.is_over() && Match::is_same(form, &new[other], case);
            let place = candidates.iter().position(is_same)?;
            Some(candidates.remove(place))
        });
        if found.is_none() {
            left.push(number);
        }
    }
    let mut right: Vec<usize> = alike.into_values().flatten().collect();
    right.sort_unstable();
    (left, right)
}

/// True if the roles are the same in a different order.
fn roles_moved(old: &[Form<'_>], new: &[Form<'_>], case: Case) -> bool {
    let roles = |forms: &[Form<'_>]| -> Vec<Vec<String>> {
        let is_role =
            |form: &&Form<'_>| form.parts[0].functor().and_then(Keyword::of) == Some(Keyword::Role);
        forms
            .iter()
            .filter(is_role)
            .map(|form| literals::shape(form, case))
            .collect()
    };
    let (mut old, mut new) = (roles(old), roles(new));
    if old == new {
        return false;
    }
    old.sort_unstable();
    new.sort_unstable();
    old == new
}

#[cfg(test)]
mod tests;
