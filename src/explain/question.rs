//! What is asked, as a user writes it.

use super::Explainer;
use crate::check::Keyword;
use crate::game::{Game, ParseTermError};
use crate::ground::Terms;
use crate::program::{Atom, Functor, RelationId, Shape, Term, Variable};
use crate::span::{Source, Sources, Span};
use crate::syntax::{self, Sexp, SexpKind, SyntaxLimits};

/// An atom that facts may match: `(legal white (mark 1 1))`, `terminal`,
/// `(goal white ?n)`.
#[derive(Clone, Debug)]
pub struct Question {
    pub(super) atom: Atom,
    pub(super) names: Vec<Box<str>>,
}

impl Question {
    /// The relation asked for.
    pub fn relation(&self) -> RelationId {
        self.atom.relation
    }

    /// The same question about another relation of one column, such as `next`
    /// where `true` was asked.
    pub(super) fn of(&self, relation: RelationId) -> Question {
        let mut question = self.clone();
        question.atom.relation = relation;
        question
    }
}

impl Explainer {
    /// Reads a question. What is no relation of the rules, but a term that they
    /// speak of, is asked of the state: `(cell 1 1 b)` is `(true (cell 1 1 b))`.
    ///
    /// # Errors
    ///
    /// [`ParseTermError`] if it is no atom or uses what the rules don't have.
    pub fn question(&mut self, text: &str) -> Result<Question, ParseTermError> {
        let malformed = || ParseTermError::Malformed(text.trim().to_owned());
        let sources = Sources::from(Source::new("", text));
        let (forms, findings) = syntax::read(&sources, SyntaxLimits::default());
        let ([form], []) = (&forms[..], &findings[..]) else {
            return Err(malformed());
        };
        let game = self.game.clone();
        let mut reader = Reader {
            game: &game,
            terms: &mut self.terms,
            sources: &sources,
            names: Vec::new(),
        };
        let (name, arguments) = match &form.kind {
            SexpKind::Symbol => (form, &[][..]),
            SexpKind::List(members) => match members.split_first() {
                Some((first, rest)) if first.kind == SexpKind::Symbol => (first, rest),
                _ => return Err(malformed()),
            },
            SexpKind::Variable => return Err(malformed()),
        };
        let shape = match form.kind {
            SexpKind::Symbol => Shape::Bare,
            _ => Shape::Applied(u16::try_from(arguments.len()).map_err(|_| malformed())?),
        };
        let (relation, arguments) = match reader.relation(sources.text(name.span), shape) {
            Some(relation) => {
                let terms = arguments.iter().map(|argument| reader.term(argument));
                (relation, terms.collect::<Result<Vec<_>, _>>()?)
            }
            None => {
                let term = reader.term(form)?;
                match game.keyword(Keyword::True) {
                    Some(relation) => (relation, vec![term]),
                    None => return Err(malformed()),
                }
            }
        };
        Ok(Question {
            names: reader.names,
            atom: Atom {
                relation,
                arguments,
                span: Span::default(),
            },
        })
    }
}

struct Reader<'a> {
    game: &'a Game,
    terms: &'a mut Terms,
    sources: &'a Sources,
    names: Vec<Box<str>>,
}

impl Reader<'_> {
    fn relation(&self, name: &str, shape: Shape) -> Option<RelationId> {
        let symbol = self.game.symbols().get(name)?;
        self.game.rules().relations().find(|relation| {
            let functor = self
                .game
                .functors()
                .functor(self.game.relation_functor(*relation));
            functor.name == symbol && functor.shape == shape
        })
    }

    fn term(&mut self, form: &Sexp) -> Result<Term, ParseTermError> {
        let text = self.sources.text(form.span);
        match &form.kind {
            SexpKind::Variable => {
                let known = self.names.iter().position(|name| **name == *text);
                let index = known.unwrap_or_else(|| {
                    self.names.push(text.into());
                    self.names.len() - 1
                });
                Ok(Term::Variable(Variable::new(index)))
            }
            SexpKind::List(members) if has_variable(form) => {
                let malformed = || ParseTermError::Malformed(text.to_owned());
                let (first, rest) = members.split_first().ok_or_else(malformed)?;
                let arity = u16::try_from(rest.len()).map_err(|_| malformed())?;
                let name = self.sources.text(first.span);
                let symbol = self.game.symbols().get(name).ok_or_else(malformed)?;
                let functor = Functor {
                    name: symbol,
                    shape: Shape::Applied(arity),
                };
                let functor = self.game.functors().get(functor).ok_or_else(|| {
                    ParseTermError::UnknownFunction(name.to_owned(), usize::from(arity))
                })?;
                let arguments = rest.iter().map(|argument| self.term(argument));
                let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
                Ok(Term::Apply(functor, arguments.into()))
            }
            _ => Ok(Term::Ground(self.game.parse_term(self.terms, text)?)),
        }
    }
}

fn has_variable(form: &Sexp) -> bool {
    match &form.kind {
        SexpKind::Variable => true,
        SexpKind::Symbol => false,
        SexpKind::List(members) => members.iter().any(has_variable),
    }
}
