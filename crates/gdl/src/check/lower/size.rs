//! The size of a rule.

use crate::program::{Atom, Literal, Term};

/// Maximum number of literals and terms in one rule; evaluators number them with 16
/// bits.
pub(super) const MAX_IN_RULE: usize = 20_000;

/// Number of literals and terms of a rule.
pub(super) fn rule_size(head: &Atom, body: &[Literal]) -> usize {
    atom_size(head) + body.iter().map(literal_size).sum::<usize>()
}

fn literal_size(literal: &Literal) -> usize {
    match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => atom_size(atom),
        Literal::Distinct(left, right, _) | Literal::Same(left, right, _) => {
            1 + term_size(left) + term_size(right)
        }
        Literal::Any(branches) => branches.iter().flatten().map(literal_size).sum(),
    }
}

fn atom_size(atom: &Atom) -> usize {
    1 + atom.arguments.iter().map(term_size).sum::<usize>()
}

fn term_size(term: &Term) -> usize {
    match term {
        Term::Variable(_) | Term::Ground(_) => 1,
        Term::Apply(_, arguments) => 1 + arguments.iter().map(term_size).sum::<usize>(),
    }
}
