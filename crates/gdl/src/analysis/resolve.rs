//! Unfolding of rule bodies by one level of definitions.
//!
//! In: a conjunction of literals and one of them. Out: the conjunctions whose
//! disjunction is equivalent, with the literal replaced by each of its definitions.

use crate::check::Keyword;
use crate::game::Game;
use crate::program::unify::{Unifier, applied};
use crate::program::{Atom, Literal, Rule, Term};
use crate::terms::Terms;

/// A conjunction.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The conditions.
    pub(super) literals: Vec<Literal>,
    /// Atoms that also hold, because conditions were derived from them.
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

    /// The bodies whose disjunction is equivalent, one for each definition of the
    /// literal at `index`; that literal is then known. `None` if the literal is
    /// neither a disjunction nor defined by rules, if there are more than `most` bodies,
    /// or if a term grows too large.
    pub(super) fn split(
        &self,
        game: &Game,
        index: usize,
        most: usize,
        terms: &mut Terms,
    ) -> Option<Vec<Body>> {
        let mut rest = self.clone();
        match rest.literals.remove(index) {
            Literal::Any(branches) if branches.len() > most => None,
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
                    if bodies.len() > most {
                        return None;
                    }
                }
                for rule in &rules.rules {
                    if rule.head.relation == atom.relation {
                        let (head, body) = (&rule.head.arguments, &rule.body);
                        let count = rule.variables.len();
                        bodies.extend(rest.joined(&atom, head, body, count, terms)?);
                        if bodies.len() > most {
                            return None;
                        }
                    }
                }
                Some(bodies)
            }
            Literal::Negative(_) | Literal::Distinct(..) | Literal::Same(..) => None,
        }
    }

    /// This body joined with that of a rule with `count` variables whose head is
    /// unified with `atom`: one body, or none if they do not unify. `None` if a term
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
        let mut unifier = Unifier::new(offset + count, terms);
        for (left, right) in atom.arguments.iter().zip(head) {
            if !unifier.unify((left, 0), (right, offset)) {
                return Some(None);
            }
        }
        let mut literals = Vec::with_capacity(self.literals.len() + body.len());
        for literal in &self.literals {
            literals.push(unifier.literal(literal, 0)?);
        }
        for literal in body {
            literals.push(unifier.literal(literal, offset)?);
        }
        let mut known = Vec::with_capacity(self.known.len());
        for atom in &self.known {
            known.push(unifier.atom(atom, 0)?);
        }
        Some(Some(Body {
            literals,
            known,
            variables: offset + count,
        }))
    }
}

/// The term with each variable replaced, or `None` if it grows too large.
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

/// True if two terms differ for all values of their variables.
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
