//! Whether two atoms can ever be the same fact.

use crate::program::Term;
use crate::terms::Terms;

/// Whether some choice of values for the variables makes the two argument
/// lists equal. The lists have no variable in common, even where numbers agree.
///
/// Variables that occur twice are followed one binding deep, so the answer
/// errs on the side of `true` only.
pub fn can_be_equal(left: &[Term], right: &[Term], terms: &Terms) -> bool {
    let mut bindings = Bindings::default();
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(l, r)| bindings.match_terms(l, r, terms))
}

/// What the variables of either side were first compared with.
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

/// Whether two terms can be equal if every variable stands for anything.
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
