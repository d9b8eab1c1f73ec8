//! Check: keywords occur only where they are allowed, with the right number of
//! arguments.

use super::{Lowering, Malformed, Position};
use crate::check::Keyword;
use crate::diagnostic::Code;
use crate::span::Sources;
use crate::syntax::{Sexp, SexpKind};

/// The most bytes of a form in a suggestion.
const LONGEST_FORM: usize = 80;

/// True if the head of a form is `sees`.
pub(super) fn has_percepts(sources: &Sources, forms: &[Sexp]) -> bool {
    let first = |form: &Sexp| match &form.kind {
        SexpKind::List(members) => members
            .first()
            .map(|first| sources.text(first.span).to_owned()),
        _ => None,
    };
    let sees = Keyword::Sees.as_str();
    forms.iter().any(|form| {
        let head = match &form.kind {
            SexpKind::List(members) => members.get(1).and_then(first),
            _ => None,
        };
        let names = [first(form), head];
        let mut names = names.iter().flatten();
        names.any(|name| name.eq_ignore_ascii_case(sees))
    })
}

const SUCCESSOR_HELP: &str = "next is a keyword: give the relation another name, such as succ";

impl Lowering<'_> {
    pub(super) fn check_keyword_place(
        &mut self,
        keyword: Keyword,
        sexp: &Sexp,
        position: Position,
    ) -> Result<(), Malformed> {
        let word = keyword.as_str();
        let finding = match (position, keyword) {
            (Position::Head, Keyword::True) => self
                .error(
                    Code::KeywordInHead,
                    sexp.span,
                    "true cannot be a fact or the head of a rule",
                )
                .help("use (init ...) for the initial state and (next ...) for the next state"),
            (Position::Head, Keyword::Does) => self
                .error(
                    Code::KeywordInHead,
                    sexp.span,
                    "does cannot be a fact or the head of a rule",
                )
                .help("players choose their moves; use (legal ...) to define the legal ones"),
            (Position::Head, word) if word.is_connective() => {
                let word = word.as_str();
                let message = format!("{word} cannot be a fact or the head of a rule");
                self.error(Code::KeywordInHead, sexp.span, message)
                    .help(format!("`{word}` may stand only in the body of a rule"))
            }
            // Percepts may tell of the next state. What may depend on it is checked later.
            (Position::Body, Keyword::Next) if self.is_successor(keyword, sexp, position) => self
                .error(
                    Code::KeywordInBody,
                    sexp.span,
                    "next is a keyword and cannot be used in a body",
                )
                .help(SUCCESSOR_HELP),
            (Position::Body, Keyword::Next) if self.has_percepts => return Ok(()),
            (Position::Body, Keyword::Init | Keyword::Next) => self
                .error(
                    Code::KeywordInBody,
                    sexp.span,
                    format!("{word} cannot be used in a body"),
                )
                .help(
                    "define a separate relation for the shared condition and use it in both rules",
                ),
            _ => return Ok(()),
        };
        Err(self.give_up(finding))
    }

    pub(super) fn check_keyword_arity(
        &mut self,
        keyword: Keyword,
        sexp: &Sexp,
        found: usize,
        position: Position,
    ) -> Result<(), Malformed> {
        let Some(arity) = keyword.arity().filter(|arity| *arity != found) else {
            return Ok(());
        };
        let word = keyword.as_str();
        let plural = if arity == 1 { "" } else { "s" };
        let message = format!("{word} takes {arity} argument{plural}, not {found}");
        let form = self.with_one_term(keyword, sexp);
        let form = form.unwrap_or_else(|| keyword.form().to_owned());
        let finding = match (position, keyword) {
            // They are no keywords in rule sets of 2008 and before, and nothing depends on them.
            (Position::Head, Keyword::Base | Keyword::Input) => {
                let message = format!("{message}, so this has no effect");
                self.error(Code::KeywordAsName, sexp.span, message)
            }
            _ => self.error(Code::KeywordArity, sexp.span, message),
        };
        let finding = if self.is_successor(keyword, sexp, position) {
            finding.help(SUCCESSOR_HELP)
        } else {
            finding.help(format!("write {form}"))
        };
        Err(self.give_up(finding))
    }

    /// Whether `next` is meant as the relation between a number and the one after it.
    fn is_successor(&self, keyword: Keyword, sexp: &Sexp, position: Position) -> bool {
        let SexpKind::List(members) = &sexp.kind else {
            return false;
        };
        let is_simple = |sexp: &Sexp| !matches!(sexp.kind, SexpKind::List(_));
        keyword == Keyword::Next
            && members.len() == 3
            && members[1..].iter().all(is_simple)
            && (self.is_fact || position == Position::Body)
    }

    /// A literal with its last arguments as one term: `(true (cell 1 b))` for
    /// `(true cell 1 b)`, `(init at_home)` for `(init "at home")`.
    fn with_one_term(&self, keyword: Keyword, sexp: &Sexp) -> Option<String> {
        let place = match keyword {
            Keyword::Init | Keyword::True | Keyword::Next | Keyword::Base => 1,
            Keyword::Legal | Keyword::Does | Keyword::Input | Keyword::Sees => 2,
            _ => return None,
        };
        let SexpKind::List(members) = &sexp.kind else {
            return None;
        };
        let (before, parts) = members.split_at_checked(place)?;
        if parts.len() < 2 || parts[0].kind != SexpKind::Symbol {
            return None;
        }
        let text = |parts: &[Sexp]| {
            let texts = parts.iter().map(|part| self.sources.text(part.span));
            let words = texts.flat_map(str::split_ascii_whitespace);
            words.collect::<Vec<_>>().join(" ")
        };
        let words = text(parts);
        let quoted = words
            .strip_prefix('"')
            .and_then(|words| words.strip_suffix('"'));
        let form = match quoted {
            Some(words) if !words.contains(['"', '(']) => {
                format!("({} {})", text(before), words.replace(' ', "_"))
            }
            _ => format!("({} ({words}))", text(before)),
        };
        (form.len() <= LONGEST_FORM && !form.contains(';')).then_some(form)
    }
}
