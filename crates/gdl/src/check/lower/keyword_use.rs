//! Check: keywords occur only where they are allowed, with the right number of
//! arguments.

use super::{Lowering, Malformed, Position};
use crate::check::Keyword;
use crate::diagnostic::Code;
use crate::span::Sources;
use crate::syntax::{Sexp, SexpKind};

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
                    .help(format!("use {word} only in the body of a rule"))
            }
            // Percepts may tell of the next state. What may depend on it is checked later.
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
    ) -> Result<(), Malformed> {
        match keyword.arity() {
            Some(arity) if arity != found => {
                let word = keyword.as_str();
                let plural = if arity == 1 { "" } else { "s" };
                let message = format!("{word} takes {arity} argument{plural}, not {found}");
                let finding = self
                    .error(Code::KeywordArity, sexp.span, message)
                    .help(format!("write {}", keyword.form()));
                Err(self.give_up(finding))
            }
            _ => Ok(()),
        }
    }
}
