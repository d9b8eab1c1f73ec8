//! Conversion between terms of a game and text.

use std::cmp::Ordering;
use std::fmt;

use super::{Game, parse_score};
use crate::counted::counted;
use crate::program::{Functor, Shape};
use crate::span::{Source, Sources};
use crate::symbol::Case;
use crate::syntax::{self, Sexp, SexpKind, SyntaxLimits};
use crate::terms::{TermId, Terms};

/// The reason why a text is not a term of a game.
#[derive(Clone, PartialEq, Eq)]
pub enum ParseTermError {
    /// The text is not one well-formed term without variables.
    Malformed(String),
    /// A name that the rules do not have, and a similar one that they do have.
    UnknownName(String, Option<String>),
    /// The rules never use the name with this number of arguments.
    UnknownFunction(String, usize),
    /// The name has brackets, and the rules write it without.
    NotBracketed(String),
    /// A term that is a fact in no state.
    NotAFact(String),
    /// The term table is full.
    TooLarge,
}

impl fmt::Display for ParseTermError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseTermError::Malformed(text) => {
                write!(f, "`{text}` is not one term such as `noop` or `(f a 1)`")
            }
            ParseTermError::UnknownName(name, _) if parse_score(name).is_ok() => {
                write!(f, "the rules have no number {name}")
            }
            ParseTermError::UnknownName(name, None) => {
                write!(f, "the rules have no name `{name}`")?;
                match name.contains(',') {
                    true => f.write_str("; terms are separated by blanks"),
                    false => Ok(()),
                }
            }
            ParseTermError::UnknownName(name, Some(nearest)) => {
                write!(
                    f,
                    "the rules have no name `{name}`; did you mean `{nearest}`?"
                )
            }
            ParseTermError::NotBracketed(name) => {
                write!(f, "the rules write `{name}` without brackets, as a name")
            }
            ParseTermError::UnknownFunction(name, 0) => {
                write!(
                    f,
                    "the rules never use `{name}` without arguments; with arguments it is `({name} ...)`"
                )
            }
            ParseTermError::UnknownFunction(name, arity) => {
                let arguments = counted(arity, "argument");
                write!(f, "the rules never use `{name}` with {arguments}")
            }
            ParseTermError::NotAFact(text) => {
                write!(f, "no rule makes or reads `{text}` as a fact of a state")
            }
            ParseTermError::TooLarge => f.write_str("the term table is full"),
        }
    }
}

impl std::error::Error for ParseTermError {}

crate::debug_as_display!(ParseTermError);

/// The characters of a term's text that messages show.
const SHORT: usize = 60;

impl Game {
    /// A term, with one blank between arguments and each name as the rules write it first:
    /// `(cell 1 1 b)`, `noop`, `(f)`. All output has this spelling.
    ///
    /// `terms` must be a view of this game's terms that knows the term.
    pub fn text(&self, terms: &Terms, term: TermId) -> String {
        self.text_until(terms, term, usize::MAX)
    }

    /// The beginning of a term's text, for messages: all of it if it is short.
    pub fn start_of_text(&self, terms: &Terms, term: TermId) -> String {
        let text = self.text_until(terms, term, 4 * SHORT + 1);
        match text.char_indices().nth(SHORT) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    /// The text of a term, or a beginning with at least `enough` bytes.
    fn text_until(&self, terms: &Terms, term: TermId, enough: usize) -> String {
        let mut out = String::new();
        // A stack of the parts still to be written.
        enum Part {
            Term(TermId),
            Blank,
            Close,
        }
        let mut parts = vec![Part::Term(term)];
        while let Some(part) = parts.pop().filter(|_| out.len() < enough) {
            match part {
                Part::Blank => out.push(' '),
                Part::Close => out.push(')'),
                Part::Term(term) => {
                    let functor = self.functors().functor(terms.functor(term));
                    let name = self.symbols().name(functor.name);
                    if functor.shape == Shape::Bare {
                        out.push_str(name);
                        continue;
                    }
                    out.push('(');
                    out.push_str(name);
                    parts.push(Part::Close);
                    for &argument in terms.arguments(term).iter().rev() {
                        parts.push(Part::Term(argument));
                        parts.push(Part::Blank);
                    }
                }
            }
        }
        out
    }

    /// A term in canonical text: as [`Game::text`], but in lower case unless the game
    /// distinguishes letter case. Sorted lists of canonical texts identify states and moves
    /// in files, whose rules may be written in other letter case.
    pub fn canonical(&self, terms: &Terms, term: TermId) -> String {
        let text = self.text(terms, term);
        let plain = |b: u8| b.is_ascii() && !b.is_ascii_uppercase();
        match self.symbols().case() {
            Case::Fold if !text.bytes().all(plain) => text.to_lowercase(),
            _ => text,
        }
    }

    /// Orders terms by first appearance of their names in the rules, compound terms
    /// argument by argument. The order does not depend on the names.
    pub fn compare_terms(&self, terms: &Terms, left: TermId, right: TermId) -> Ordering {
        let (mut left, mut right) = (left, right);
        while left != right {
            let order = terms.functor(left).cmp(&terms.functor(right));
            if order != Ordering::Equal {
                return order;
            }
            // Equal terms have equal ids, so the first pair of different arguments
            // decides.
            let mut arguments = terms.arguments(left).iter().zip(terms.arguments(right));
            let differ = arguments.find(|(left, right)| left != right);
            (left, right) = differ
                .map(|(left, right)| (*left, *right))
                .expect("different terms of one functor differ in an argument");
        }
        Ordering::Equal
    }

    /// The term denoted by a text. Extra blanks and letter case do not matter.
    ///
    /// # Errors
    ///
    /// [`ParseTermError`] if the text is not a term or uses names that the rules do
    /// not have.
    pub fn parse_term(&self, terms: &mut Terms, text: &str) -> Result<TermId, ParseTermError> {
        match &self.parse_terms(terms, text)?[..] {
            [term] => Ok(*term),
            _ => Err(ParseTermError::Malformed(text.trim().to_owned())),
        }
    }

    /// The fact of a state denoted by a text, as [`Game::parse_term`].
    ///
    /// # Errors
    ///
    /// As [`Game::parse_term`], and if no rule makes or reads facts with this name and number of
    /// arguments.
    pub fn parse_fact(&self, terms: &mut Terms, text: &str) -> Result<TermId, ParseTermError> {
        let fact = self.parse_term(terms, text)?;
        match self.has_facts_of(terms.functor(fact)) {
            true => Ok(fact),
            false => Err(ParseTermError::NotAFact(self.start_of_text(terms, fact))),
        }
    }

    /// The terms listed in a text, separated by blanks where needed.
    ///
    /// # Errors
    ///
    /// See [`Game::parse_term`].
    pub fn parse_terms(
        &self,
        terms: &mut Terms,
        text: &str,
    ) -> Result<Vec<TermId>, ParseTermError> {
        let sources = Sources::from(Source::new("", text));
        let (forms, findings) = syntax::read(&sources, SyntaxLimits::default());
        if !findings.is_empty() {
            return Err(ParseTermError::Malformed(text.trim().to_owned()));
        }
        forms
            .iter()
            .map(|form| self.term_of(terms, form, &sources))
            .collect()
    }

    fn term_of(
        &self,
        terms: &mut Terms,
        form: &Sexp,
        sources: &Sources,
    ) -> Result<TermId, ParseTermError> {
        let malformed = || ParseTermError::Malformed(sources.text(form.span).to_owned());
        let (name, arguments, shape) = match &form.kind {
            SexpKind::Variable => return Err(malformed()),
            SexpKind::Symbol => (form, &[][..], Shape::Bare),
            SexpKind::List(members) => match members.first() {
                Some(first) if first.kind == SexpKind::Symbol => {
                    let arity = u16::try_from(members.len() - 1).map_err(|_| malformed())?;
                    (first, &members[1..], Shape::Applied(arity))
                }
                _ => return Err(malformed()),
            },
        };
        let text = sources.text(name.span);
        let Some(symbol) = self.symbols().get(text) else {
            return Err(ParseTermError::UnknownName(
                text.into(),
                self.nearest_name(text),
            ));
        };
        let functor = Functor {
            name: symbol,
            shape,
        };
        let Some(functor) = self.functors().get(functor) else {
            let arity = functor.arity();
            let bare = Functor {
                shape: Shape::Bare,
                ..functor
            };
            if functor.shape == Shape::Applied(0) && self.functors().get(bare).is_some() {
                return Err(ParseTermError::NotBracketed(text.into()));
            }
            return Err(ParseTermError::UnknownFunction(text.into(), arity));
        };
        let arguments = arguments
            .iter()
            .map(|argument| self.term_of(terms, argument, sources))
            .collect::<Result<Vec<_>, _>>()?;
        terms
            .intern(functor, &arguments)
            .map_err(|_| ParseTermError::TooLarge)
    }

    fn nearest_name(&self, text: &str) -> Option<String> {
        let functors = self.functors().iter();
        let names = functors.map(|(_, functor)| self.symbols().name(functor.name));
        nearest(text, names).map(str::to_owned)
    }

    /// The name of the role that is most similar to a text, if one is similar.
    pub fn nearest_role(&self, text: &str) -> Option<&str> {
        nearest(text, self.roles().map(|role| self.role_name(role)))
    }
}

/// The most similar of some names, if at most a third of the characters differ.
fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (distance, name) = names
        .map(|name| (strsim::damerau_levenshtein(text, name), name))
        .min()?;
    (3 * distance <= text.chars().count()).then_some(name)
}
