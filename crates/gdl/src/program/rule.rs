//! Facts, rules and sets of them.

use crate::program::{Term, Variable};
use crate::span::Span;
use crate::terms::TermId;

/// A relation of one [`RuleSet`]; dense, so it indexes plain vectors.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationId(u32);

impl RelationId {
    /// The relation at a position of its rule set's relation list.
    pub fn new(index: usize) -> Self {
        RelationId(u32::try_from(index).expect("fewer relations than bytes"))
    }

    /// Position in its rule set's relation list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A relation applied to terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atom {
    /// The relation.
    pub relation: RelationId,
    /// As many terms as the relation has columns.
    pub arguments: Vec<Term>,
    /// Where it was written.
    pub span: Span,
}

impl Atom {
    /// Calls `visit` for each occurrence of a variable, with the number of
    /// functors around it inside its argument.
    pub fn for_each_variable(&self, mut visit: impl FnMut(Variable, usize)) {
        for argument in &self.arguments {
            argument.for_each_variable(&mut visit);
        }
    }
}

/// A condition in the body of a rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// The atom holds. The only literal that binds variables.
    Positive(Atom),
    /// The atom does not hold.
    Negative(Atom),
    /// The two terms differ.
    Distinct(Term, Term, Span),
    /// The two terms are the same. A test: it binds nothing.
    Same(Term, Term, Span),
    /// At least one of the conjunctions holds. A test: all its variables are
    /// bound by positive literals beside it, and it is at most one level deep.
    Any(Vec<Vec<Literal>>),
}

impl Literal {
    /// Calls `visit` for each occurrence of a variable.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(Variable)) {
        match self {
            Literal::Positive(atom) | Literal::Negative(atom) => {
                atom.for_each_variable(|v, _| visit(v));
            }
            Literal::Distinct(left, right, _) | Literal::Same(left, right, _) => {
                left.for_each_variable(&mut |v, _| visit(v));
                right.for_each_variable(&mut |v, _| visit(v));
            }
            Literal::Any(branches) => {
                for literal in branches.iter().flatten() {
                    literal.for_each_variable(visit);
                }
            }
        }
    }

    /// Calls `visit` for each atom, `true` standing for a negated one.
    pub fn for_each_atom<'a>(&'a self, visit: &mut impl FnMut(&'a Atom, bool)) {
        match self {
            Literal::Positive(atom) => visit(atom, false),
            Literal::Negative(atom) => visit(atom, true),
            Literal::Distinct(..) | Literal::Same(..) => {}
            Literal::Any(branches) => {
                for literal in branches.iter().flatten() {
                    literal.for_each_atom(visit);
                }
            }
        }
    }
}

/// A rule: the head holds if all literals of the body do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// What is derived.
    pub head: Atom,
    /// The conditions; their order carries no meaning.
    pub body: Vec<Literal>,
    /// The variables' names, indexed by [`Variable::index`].
    pub variables: Vec<Box<str>>,
    /// Where the whole rule was written.
    pub span: Span,
}

/// Something that holds always.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    /// The relation.
    pub relation: RelationId,
    /// As many terms as the relation has columns.
    pub arguments: Box<[TermId]>,
    /// Where it was written.
    pub span: Span,
}

/// A logic program: facts and rules over relations with fixed columns.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// Number of columns of each relation.
    pub arity: Vec<usize>,
    /// What holds without condition, in the order of the text.
    pub facts: Vec<Fact>,
    /// What holds under conditions, in the order of the text.
    pub rules: Vec<Rule>,
}

impl RuleSet {
    /// Adds a relation with the given number of columns.
    pub fn add_relation(&mut self, arity: usize) -> RelationId {
        self.arity.push(arity);
        RelationId::new(self.arity.len() - 1)
    }

    /// All relations.
    pub fn relations(&self) -> impl Iterator<Item = RelationId> + use<> {
        (0..self.arity.len()).map(RelationId::new)
    }
}
