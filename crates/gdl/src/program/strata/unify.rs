//! A test for whether two atoms can denote the same fact.

use crate::program::Term;
use crate::terms::Terms;

/// True if some values of the variables make the two argument lists equal. The lists
/// share no variables, even where their numbers agree.
///
/// Repeated variables are followed only one binding deep, so the result may be true
/// for lists that cannot be equal, but is never false for lists that can.
pub fn can_be_equal(left: &[Term], right: &[Term], terms: &Terms) -> bool {
    let mut bindings = Bindings::default();
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(l, r)| bindings.match_terms(l, r, terms))
}

/// The terms with which the variables of each side were first compared.
#[derive(Default)]
struct Bindings<'t> {
    left: Vec<(usize, &'t Term)>,
    right: Vec<(usize, &'t Term)>,
}

impl<'t> Bindings<'t> {
    fn match_terms(&mut self, left: &'t Term, right: &'t Term, terms: &Terms) -> bool {
        match (left, right) {
            (Term::Variable(v), other) => {
                let index = v.index();
                match self.left.iter().find(|(bound, _)| *bound == index) {
                    Some(&(_, earlier)) => may_share(earlier, other, terms),
                    None => {
                        self.left.push((index, other));
                        self.bind_right(left, other, terms)
                    }
                }
            }
            (other, Term::Variable(_)) => self.bind_right(other, right, terms),
            _ => {
                left.functor(terms) == right.functor(terms)
                    && match (left, right) {
                        (Term::Ground(l), Term::Ground(r)) => l == r,
                        (Term::Apply(_, l), Term::Apply(_, r)) => {
                            l.iter().zip(r).all(|(l, r)| self.match_terms(l, r, terms))
                        }
                        _ => may_share(left, right, terms),
                    }
            }
        }
    }

    fn bind_right(&mut self, left: &'t Term, right: &'t Term, terms: &Terms) -> bool {
        let Term::Variable(v) = right else {
            return true;
        };
        let index = v.index();
        match self.right.iter().find(|(bound, _)| *bound == index) {
            Some(&(_, earlier)) => may_share(earlier, left, terms),
            None => {
                self.right.push((index, left));
                true
            }
        }
    }
}

/// True if two terms can be equal when every variable may be any term.
fn may_share(left: &Term, right: &Term, terms: &Terms) -> bool {
    match (left, right) {
        (Term::Variable(_), _) | (_, Term::Variable(_)) => true,
        (Term::Ground(l), Term::Ground(r)) => l == r,
        _ => {
            left.functor(terms) == right.functor(terms)
                && left
                    .arguments(terms)
                    .iter()
                    .zip(&right.arguments(terms))
                    .all(|(l, r)| may_share(l, r, terms))
        }
    }
}
