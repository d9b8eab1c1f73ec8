//! Unification: most general unifiers of atoms.
//!
//! In: terms of two rules; the variable numbers of the second are shifted by an
//! offset. Out: both with their variables replaced.

use crate::program::{Atom, FunctorId, Literal, Term, Variable};
use crate::terms::Terms;

/// A most general unifier under construction.
#[doc(hidden)]
pub struct Unifier<'t> {
    bindings: Vec<Option<Term>>,
    terms: &'t mut Terms,
}

impl<'t> Unifier<'t> {
    /// A unifier for the given number of variables, none of them bound.
    #[doc(hidden)]
    pub fn new(variables: usize, terms: &'t mut Terms) -> Self {
        Unifier {
            bindings: vec![None; variables],
            terms,
        }
    }

    /// Unifies two terms if possible; each comes with the offset of its variable
    /// numbers.
    #[doc(hidden)]
    pub fn unify(&mut self, left: (&Term, usize), right: (&Term, usize)) -> bool {
        let (left, right) = (self.followed(left), self.followed(right));
        match ((&left.0, left.1), (&right.0, right.1)) {
            ((Term::Variable(l), _), (Term::Variable(r), _)) if l == r => true,
            ((Term::Variable(v), _), other) | (other, (Term::Variable(v), _)) => {
                if self.occurs(*v, other) {
                    return false;
                }
                self.bindings[v.index()] = Some(raised(other.0, other.1));
                true
            }
            ((Term::Ground(l), _), (Term::Ground(r), _)) => l == r,
            _ => {
                left.0.functor(self.terms) == right.0.functor(self.terms)
                    && left
                        .0
                        .arguments(self.terms)
                        .iter()
                        .zip(&right.0.arguments(self.terms))
                        .all(|(l, r)| self.unify((l, left.1), (r, right.1)))
            }
        }
    }

    /// The term, or its binding if it is a variable; a variable is returned with
    /// offset zero.
    fn followed(&self, (term, offset): (&Term, usize)) -> (Term, usize) {
        let Term::Variable(v) = term else {
            return (term.clone(), offset);
        };
        let mut variable = Variable::new(v.index() + offset);
        loop {
            match &self.bindings[variable.index()] {
                None => return (Term::Variable(variable), 0),
                Some(Term::Variable(next)) => variable = *next,
                Some(bound) => return (bound.clone(), 0),
            }
        }
    }

    fn occurs(&self, variable: Variable, (term, offset): (&Term, usize)) -> bool {
        let mut found = false;
        term.for_each_variable(&mut |v, _| {
            let v = Variable::new(v.index() + offset);
            found |= v == variable
                || self.bindings[v.index()]
                    .as_ref()
                    .is_some_and(|bound| self.occurs(variable, (bound, 0)));
        });
        found
    }

    /// The term with its variables replaced by their values, recursively. `None` if
    /// it grows too large.
    pub(crate) fn value(&mut self, term: &Term, offset: usize) -> Option<Term> {
        match self.followed((term, offset)) {
            (Term::Apply(functor, arguments), offset) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.value(argument, offset))
                    .collect::<Option<Vec<_>>>()?;
                applied(functor, arguments, self.terms)
            }
            (term, _) => Some(term),
        }
    }

    /// Applies [`Unifier::value`] to all terms of an atom.
    #[doc(hidden)]
    pub fn atom(&mut self, atom: &Atom, offset: usize) -> Option<Atom> {
        let arguments = atom.arguments.iter().map(|term| self.value(term, offset));
        Some(Atom {
            relation: atom.relation,
            arguments: arguments.collect::<Option<Vec<_>>>()?,
            span: atom.span,
        })
    }

    /// Applies [`Unifier::value`] to all terms of a literal.
    #[doc(hidden)]
    pub fn literal(&mut self, literal: &Literal, offset: usize) -> Option<Literal> {
        Some(match literal {
            Literal::Positive(atom) => Literal::Positive(self.atom(atom, offset)?),
            Literal::Negative(atom) => Literal::Negative(self.atom(atom, offset)?),
            Literal::Distinct(left, right, span) => {
                Literal::Distinct(self.value(left, offset)?, self.value(right, offset)?, *span)
            }
            Literal::Same(left, right, span) => {
                Literal::Same(self.value(left, offset)?, self.value(right, offset)?, *span)
            }
            Literal::Any(branches) => {
                let branches = branches.iter().map(|branch| {
                    let literals = branch.iter().map(|literal| self.literal(literal, offset));
                    literals.collect::<Option<Vec<_>>>()
                });
                Literal::Any(branches.collect::<Option<Vec<_>>>()?)
            }
        })
    }
}

/// The term with the numbers of its variables raised by `offset`.
fn raised(term: &Term, offset: usize) -> Term {
    match term {
        Term::Ground(id) => Term::Ground(*id),
        Term::Variable(v) => Term::Variable(Variable::new(v.index() + offset)),
        Term::Apply(functor, arguments) => {
            let arguments = arguments.iter().map(|argument| raised(argument, offset));
            Term::Apply(*functor, arguments.collect())
        }
    }
}

/// A functor applied to terms, as a ground term if they all are ground. `None` if it
/// grows too large.
pub(crate) fn applied(functor: FunctorId, arguments: Vec<Term>, terms: &mut Terms) -> Option<Term> {
    let ground = arguments.iter().map(|argument| match argument {
        Term::Ground(id) => Some(*id),
        _ => None,
    });
    match ground.collect::<Option<Vec<_>>>() {
        Some(ids) => terms.intern(functor, &ids).ok().map(Term::Ground),
        None => Some(Term::Apply(functor, arguments.into())),
    }
}
