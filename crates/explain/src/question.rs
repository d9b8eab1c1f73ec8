//! Questions as users write them.

use std::fmt;

use super::Explainer;
use super::model::bind;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, ParseTermError};
use ggp_gdl::program::{Atom, Functor, RelationId, Shape, Term, Variable};
use ggp_gdl::span::{Source, Sources, Span};
use ggp_gdl::syntax::{self, Sexp, SexpKind, SyntaxLimits};
use ggp_gdl::terms::{TermId, Terms};

/// A question: whether facts match, such as `(legal white (mark 1 1))`, `terminal` or
/// `(goal white ?n)`, its negation, or a comparison of terms.
#[derive(Clone, Debug)]
pub struct Question {
    pub(super) kind: QuestionKind,
    /// The names of its variables.
    pub(super) names: Vec<Box<str>>,
}

/// The kind of a question.
#[derive(Clone, Debug)]
pub(super) enum QuestionKind {
    /// Does a fact match?
    Some(Atom),
    /// Does no fact match?
    None(Atom),
    /// Are two terms equal, or do they differ?
    Test {
        equal: bool,
        left: TermId,
        right: TermId,
    },
}

/// The reason why a text is not a question.
#[derive(Clone, PartialEq, Eq)]
pub enum QuestionError {
    /// The text is empty.
    Empty,
    /// A variable alone.
    Variable(String),
    /// `and` or `or`, which combine several conditions.
    Several(String),
    /// `<=`, which begins a rule.
    Rule,
    /// `;`, which begins a comment.
    Comment,
    /// `not` or `distinct` with a wrong number of arguments, or `distinct` with
    /// variables.
    Test(&'static str),
    /// A name with a wrong number of arguments; the numbers that the rules have follow.
    Arity(String, Vec<usize>),
    /// The text is not one list or name.
    Malformed(String),
    /// A name or term that the rules do not have.
    Term(ParseTermError),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = "write a fact such as `terminal` or `(legal ?role ?move)`";
        match self {
            QuestionError::Empty => write!(f, "the question is empty; {write}"),
            QuestionError::Variable(name) => {
                write!(f, "a variable alone (`{name}`) matches anything; {write}")
            }
            QuestionError::Several(word) => {
                write!(
                    f,
                    "`{word}` combines several conditions; ask one question at a time: {write}"
                )
            }
            QuestionError::Comment => {
                f.write_str("`;` begins a comment; ask one question at a time")
            }
            QuestionError::Rule => write!(f, "this is a rule; ask about its head: {write}"),
            QuestionError::Test("distinct") => {
                f.write_str("write two terms without variables, as in `(distinct 1 2)`")
            }
            QuestionError::Test(word) => {
                write!(
                    f,
                    "write one fact after `{word}`, as in `({word} terminal)`"
                )
            }
            QuestionError::Arity(name, arities) if arities[..] == [0] => {
                write!(f, "write `{name}` without parentheses: it has no arguments")
            }
            QuestionError::Arity(name, arities) => {
                let forms = arities.iter().map(|arity| form(name, *arity));
                let forms: Vec<String> = forms.collect();
                write!(
                    f,
                    "write {}, or terms in place of the variables: the rules have no other form of \
                     `{name}`",
                    forms.join(" or ")
                )
            }
            QuestionError::Malformed(text) => write!(f, "`{text}` is not one fact; {write}"),
            QuestionError::Term(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for QuestionError {}

ggp_gdl::debug_as_display!(QuestionError);

impl From<ParseTermError> for QuestionError {
    fn from(error: ParseTermError) -> Self {
        QuestionError::Term(error)
    }
}

impl Question {
    /// The relation of the question, if it has one.
    pub fn relation(&self) -> Option<RelationId> {
        match &self.kind {
            QuestionKind::Some(atom) | QuestionKind::None(atom) => Some(atom.relation),
            QuestionKind::Test { .. } => None,
        }
    }

    /// Whether the question is that some atom holds, and not that none does; `None` for a comparison
    /// of terms.
    pub fn is_positive(&self) -> Option<bool> {
        match &self.kind {
            QuestionKind::Some(_) => Some(true),
            QuestionKind::None(_) => Some(false),
            QuestionKind::Test { .. } => None,
        }
    }

    /// True if the question is about this atom, perhaps among others.
    pub fn matches(&self, relation: RelationId, arguments: &[TermId], terms: &Terms) -> bool {
        let (QuestionKind::Some(atom) | QuestionKind::None(atom)) = &self.kind else {
            return false;
        };
        let mut bindings = vec![None; self.names.len()];
        let mut pairs = atom.arguments.iter().zip(arguments);
        atom.relation == relation
            && atom.arguments.len() == arguments.len()
            && pairs.all(|(term, given)| bind(term, *given, &mut bindings, &mut Vec::new(), terms))
    }

    /// The other forms in which the rules have the name of a question's relation, which may be meant:
    /// a fact of the state may have the name of a relation.
    pub fn other_forms(&self, game: &Game) -> Vec<String> {
        let is_keyword = |one: &RelationId| {
            let mut keywords = Keyword::ALL.iter();
            keywords.any(|keyword| game.keyword(*keyword) == Some(*one))
        };
        let Some(relation) = self.relation().filter(|one| !is_keyword(one)) else {
            return Vec::new();
        };
        let name = game.relation_name(relation);
        let functor = game.functors().functor(game.relation_functor(relation));
        let shapes = shapes(game, name).into_iter();
        let others = shapes.filter(|shape| *shape != functor.shape);
        others.map(|shape| form(name, arity(shape))).collect()
    }

    /// True if the question is whether a fact of the state is true.
    pub fn is_of_state(&self, game: &Game) -> bool {
        match &self.kind {
            QuestionKind::Some(atom) => game.keyword(Keyword::True) == Some(atom.relation),
            _ => false,
        }
    }
}

impl Explainer {
    /// Reads a question; outer brackets may be omitted. A name that is not a relation
    /// of the rules, but a function in them, is taken as a fact of the state: `(cell
    /// 1 1 b)` means `(true (cell 1 1 b))`.
    ///
    /// # Errors
    ///
    /// [`QuestionError`] if the text is not a question, or uses names that the rules
    /// do not have.
    pub fn question(&mut self, text: &str) -> Result<Question, QuestionError> {
        let malformed = || QuestionError::Malformed(text.trim().to_owned());
        if text.contains(';') {
            return Err(QuestionError::Comment);
        }
        let sources = Sources::from(Source::new("", text));
        let (mut forms, findings) = syntax::read(&sources, SyntaxLimits::default());
        if !findings.is_empty() {
            return Err(malformed());
        }
        let form = match &forms[..] {
            [] => return Err(QuestionError::Empty),
            [_] => forms.remove(0),
            [first, ..] if first.kind == SexpKind::Symbol => {
                return self.question(&format!("({text}\n)"));
            }
            _ => return Err(malformed()),
        };
        let game = self.game.clone();
        let mut reader = Reader {
            game: &game,
            terms: &mut self.terms,
            sources: &sources,
            names: Vec::new(),
        };
        let kind = reader.kind(&form)?;
        let names = reader.names;
        Ok(Question { kind, names })
    }
}

/// A name with this number of arguments.
fn form(name: &str, arity: usize) -> String {
    let variables = (1..=arity).map(|number| format!(" ?{number}"));
    match arity {
        0 => format!("`{name}`"),
        _ => format!("`({name}{})`", variables.collect::<String>()),
    }
}

fn arity(shape: Shape) -> usize {
    match shape {
        Shape::Bare => 0,
        Shape::Applied(arity) => arity.into(),
    }
}

/// The forms in which the rules have a name, with fewer arguments first.
fn shapes(game: &Game, name: &str) -> Vec<Shape> {
    let symbol = game.symbols().get(name);
    let functors = game.functors().iter().map(|(_, functor)| functor);
    let named = functors.filter(|functor| Some(functor.name) == symbol);
    let mut shapes: Vec<Shape> = named.map(|functor| functor.shape).collect();
    shapes.sort_unstable();
    shapes
}

struct Reader<'a> {
    game: &'a Game,
    terms: &'a mut Terms,
    sources: &'a Sources,
    names: Vec<Box<str>>,
}

impl Reader<'_> {
    fn kind(&mut self, form: &Sexp) -> Result<QuestionKind, QuestionError> {
        let text = self.sources.text(form.span);
        let malformed = || QuestionError::Malformed(text.to_owned());
        let (name, arguments, shape) = match &form.kind {
            SexpKind::Variable => return Err(QuestionError::Variable(text.to_owned())),
            SexpKind::Symbol => (text, &[][..], Shape::Bare),
            SexpKind::List(members) => match members.split_first() {
                None => return Err(QuestionError::Empty),
                Some((first, rest)) if first.kind == SexpKind::Symbol => {
                    let arity = u16::try_from(rest.len()).map_err(|_| malformed())?;
                    (self.sources.text(first.span), rest, Shape::Applied(arity))
                }
                Some(_) => return Err(malformed()),
            },
        };
        match (name.to_lowercase().as_str(), arguments) {
            ("not", [inner]) => {
                return Ok(match self.kind(inner)? {
                    QuestionKind::Some(atom) => QuestionKind::None(atom),
                    QuestionKind::None(atom) => QuestionKind::Some(atom),
                    QuestionKind::Test { equal, left, right } => QuestionKind::Test {
                        equal: !equal,
                        left,
                        right,
                    },
                });
            }
            ("not", _) => return Err(QuestionError::Test("not")),
            ("distinct", [left, right]) if !has_variable(form) => {
                let [left, right] = [left, right].map(|term| self.sources.text(term.span));
                return Ok(QuestionKind::Test {
                    equal: false,
                    left: self.game.parse_term(self.terms, left)?,
                    right: self.game.parse_term(self.terms, right)?,
                });
            }
            ("distinct", _) => return Err(QuestionError::Test("distinct")),
            (word @ ("and" | "or"), _) => return Err(QuestionError::Several(word.to_owned())),
            ("<=", _) => return Err(QuestionError::Rule),
            _ => {}
        }
        let (relation, arguments) = match self.relation(name, shape) {
            Some(relation) => {
                let terms = arguments.iter().map(|argument| self.term(argument));
                (relation, terms.collect::<Result<Vec<_>, _>>()?)
            }
            None => {
                let state = self.game.keyword(Keyword::True).ok_or_else(malformed)?;
                let term = self.term(form).map_err(|error| {
                    let shapes = shapes(self.game, name);
                    match shapes.is_empty() || shapes.contains(&shape) {
                        true => error.into(),
                        false => {
                            let arities = shapes.into_iter().map(arity);
                            QuestionError::Arity(name.to_owned(), arities.collect())
                        }
                    }
                })?;
                (state, vec![term])
            }
        };
        Ok(QuestionKind::Some(Atom {
            relation,
            arguments,
            span: Span::default(),
        }))
    }

    fn relation(&self, name: &str, shape: Shape) -> Option<RelationId> {
        let mut named = self.named(name);
        named
            .find(|(_, functor)| functor.shape == shape)
            .map(|(relation, _)| relation)
    }

    fn named(&self, name: &str) -> impl Iterator<Item = (RelationId, Functor)> {
        let symbol = self.game.symbols().get(name);
        let relations = self.game.rules().relations();
        let functors = relations.map(|relation| {
            let functor = self.game.relation_functor(relation);
            (relation, self.game.functors().functor(functor))
        });
        functors.filter(move |(_, functor)| Some(functor.name) == symbol)
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
