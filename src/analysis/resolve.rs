//! Bodies of rules, and what they stand for one level of definitions down.
//!
//! In: a conjunction of literals and one of them. Out: the conjunctions that
//! together mean the same, with the literal replaced by the ways to derive it.

use crate::check::Keyword;
use crate::game::Game;
use crate::ground::Terms;
use crate::program::{Atom, Literal, Rule, Term, Variable};

/// A conjunction.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The conditions.
    pub(super) literals: Vec<Literal>,
    /// Atoms that hold as well, because conditions were derived from them.
    pub(super) known: Vec<Atom>,
    /// Number of variables; they are `0..variables`.
    pub(super) variables: usize,
}

impl Body {
    /// The body of a rule.
    pub(super) fn of(rule: &Rule) -> Body {
        Body {
            literals: rule.body.clone(),
            known: Vec::new(),
            variables: rule.variables.len(),
        }
    }

    /// The bodies that together mean the same, one for each way in which the
    /// literal at `index` can hold, that literal being known then. Nothing if
    /// the literal is no disjunction and not defined by rules, or a term grows
    /// too large.
    pub(super) fn split(&self, game: &Game, index: usize, terms: &mut Terms) -> Option<Vec<Body>> {
        let mut rest = self.clone();
        match rest.literals.remove(index) {
            Literal::Any(branches) => Some(
                branches
                    .into_iter()
                    .map(|branch| {
                        let mut body = rest.clone();
                        body.literals.extend(branch);
                        body
                    })
                    .collect(),
            ),
            Literal::Positive(atom) => {
                let given = [Keyword::True, Keyword::Does];
                if given
                    .iter()
                    .any(|k| game.keyword(*k) == Some(atom.relation))
                {
                    return None;
                }
                rest.known.push(atom.clone());
                let rules = game.rules();
                let mut bodies = Vec::new();
                for fact in rules.facts.iter().filter(|f| f.relation == atom.relation) {
                    let values: Vec<Term> =
                        fact.arguments.iter().map(|t| Term::Ground(*t)).collect();
                    bodies.extend(rest.joined(&atom, &values, &[], 0, terms)?);
                }
                for rule in &rules.rules {
                    if rule.head.relation == atom.relation {
                        let (head, body) = (&rule.head.arguments, &rule.body);
                        let count = rule.variables.len();
                        bodies.extend(rest.joined(&atom, head, body, count, terms)?);
                    }
                }
                Some(bodies)
            }
            Literal::Negative(_) | Literal::Distinct(..) | Literal::Same(..) => None,
        }
    }

    /// This body and that of a rule with `count` variables whose head is made
    /// equal to `atom`: one, or none if they cannot be equal. Nothing if a term
    /// grows too large.
    fn joined(
        &self,
        atom: &Atom,
        head: &[Term],
        body: &[Literal],
        count: usize,
        terms: &mut Terms,
    ) -> Option<Option<Body>> {
        let offset = self.variables;
        let mut unifier = Unifier {
            bindings: vec![None; offset + count],
            terms,
        };
        for (left, right) in atom.arguments.iter().zip(head) {
            let mut renamed = |v: usize| Term::Variable(Variable::new(v + offset));
            let right = rebuilt(right, &mut renamed, unifier.terms)?;
            if !unifier.unify(left, &right) {
                return Some(None);
            }
        }
        let own = |literal: &Literal, unifier: &mut Unifier<'_>| {
            map_literal(literal, &mut |term| unifier.value(term, 0))
        };
        let other = |literal: &Literal, unifier: &mut Unifier<'_>| {
            map_literal(literal, &mut |term| unifier.value(term, offset))
        };
        let mut literals = Vec::with_capacity(self.literals.len() + body.len());
        for literal in &self.literals {
            literals.push(own(literal, &mut unifier)?);
        }
        for literal in body {
            literals.push(other(literal, &mut unifier)?);
        }
        let mut known = Vec::with_capacity(self.known.len());
        for atom in &self.known {
            known.push(map_atom(atom, &mut |term| unifier.value(term, 0))?);
        }
        Some(Some(Body {
            literals,
            known,
            variables: offset + count,
        }))
    }
}

/// A most general unifier in the making.
struct Unifier<'t> {
    bindings: Vec<Option<Term>>,
    terms: &'t mut Terms,
}

impl Unifier<'_> {
    fn unify(&mut self, left: &Term, right: &Term) -> bool {
        let (left, right) = (self.followed(left), self.followed(right));
        match (&left, &right) {
            (Term::Variable(l), Term::Variable(r)) if l == r => true,
            (Term::Variable(v), other) | (other, Term::Variable(v)) => {
                if self.occurs(*v, other) {
                    return false;
                }
                self.bindings[v.index()] = Some(other.clone());
                true
            }
            (Term::Ground(l), Term::Ground(r)) => l == r,
            _ => {
                left.functor(self.terms) == right.functor(self.terms)
                    && left
                        .arguments(self.terms)
                        .iter()
                        .zip(&right.arguments(self.terms))
                        .all(|(l, r)| self.unify(l, r))
            }
        }
    }

    /// The term, or what it is bound to if it is a variable.
    fn followed(&self, term: &Term) -> Term {
        let mut term = term;
        while let Term::Variable(v) = term
            && let Some(bound) = &self.bindings[v.index()]
        {
            term = bound;
        }
        term.clone()
    }

    fn occurs(&self, variable: Variable, term: &Term) -> bool {
        let mut found = false;
        term.for_each_variable(&mut |v, _| {
            found |= v == variable
                || self.bindings[v.index()]
                    .as_ref()
                    .is_some_and(|bound| self.occurs(variable, bound));
        });
        found
    }

    /// The term with its variables, moved by `offset`, replaced by their values
    /// all the way down. Nothing if it grows too large.
    fn value(&mut self, term: &Term, offset: usize) -> Option<Term> {
        match term {
            Term::Ground(id) => Some(Term::Ground(*id)),
            Term::Variable(v) => {
                let moved = Term::Variable(Variable::new(v.index() + offset));
                match self.followed(&moved) {
                    Term::Variable(v) => Some(Term::Variable(v)),
                    bound => self.value(&bound, 0),
                }
            }
            Term::Apply(functor, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.value(argument, offset))
                    .collect::<Option<Vec<_>>>()?;
                applied(*functor, arguments, self.terms)
            }
        }
    }
}

/// The term with each variable replaced. Nothing if it grows too large.
pub(super) fn rebuilt(
    term: &Term,
    value: &mut impl FnMut(usize) -> Term,
    terms: &mut Terms,
) -> Option<Term> {
    match term {
        Term::Ground(id) => Some(Term::Ground(*id)),
        Term::Variable(v) => Some(value(v.index())),
        Term::Apply(functor, arguments) => {
            let mut rebuilt_arguments = Vec::with_capacity(arguments.len());
            for argument in arguments {
                rebuilt_arguments.push(rebuilt(argument, value, terms)?);
            }
            applied(*functor, rebuilt_arguments, terms)
        }
    }
}

/// A functor applied to terms, as a ground term if they all are.
fn applied(
    functor: crate::program::FunctorId,
    arguments: Vec<Term>,
    terms: &mut Terms,
) -> Option<Term> {
    let ground: Option<Vec<_>> = arguments
        .iter()
        .map(|argument| match argument {
            Term::Ground(id) => Some(*id),
            _ => None,
        })
        .collect();
    match ground {
        Some(ids) => terms.intern(functor, &ids).ok().map(Term::Ground),
        None => Some(Term::Apply(functor, arguments.into())),
    }
}

/// Whether two terms differ whatever their variables stand for.
pub(super) fn are_apart(left: &Term, right: &Term, terms: &Terms) -> bool {
    match (left, right) {
        (Term::Variable(_), _) | (_, Term::Variable(_)) => false,
        (Term::Ground(l), Term::Ground(r)) => l != r,
        _ => {
            left.functor(terms) != right.functor(terms)
                || left
                    .arguments(terms)
                    .iter()
                    .zip(&right.arguments(terms))
                    .any(|(l, r)| are_apart(l, r, terms))
        }
    }
}

fn map_atom(atom: &Atom, change: &mut impl FnMut(&Term) -> Option<Term>) -> Option<Atom> {
    Some(Atom {
        relation: atom.relation,
        arguments: atom
            .arguments
            .iter()
            .map(change)
            .collect::<Option<Vec<_>>>()?,
        span: atom.span,
    })
}

fn map_literal(
    literal: &Literal,
    change: &mut impl FnMut(&Term) -> Option<Term>,
) -> Option<Literal> {
    Some(match literal {
        Literal::Positive(atom) => Literal::Positive(map_atom(atom, change)?),
        Literal::Negative(atom) => Literal::Negative(map_atom(atom, change)?),
        Literal::Distinct(left, right, span) => {
            Literal::Distinct(change(left)?, change(right)?, *span)
        }
        Literal::Same(left, right, span) => Literal::Same(change(left)?, change(right)?, *span),
        Literal::Any(branches) => {
            let mut mapped = Vec::with_capacity(branches.len());
            for branch in branches {
                let mut literals = Vec::with_capacity(branch.len());
                for literal in branch {
                    literals.push(map_literal(literal, change)?);
                }
                mapped.push(literals);
            }
            Literal::Any(mapped)
        }
    })
}
