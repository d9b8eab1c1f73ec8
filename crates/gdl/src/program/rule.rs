//! Facts, rules and rule sets.

use crate::program::{Term, Variable};
use crate::span::Span;
use crate::terms::TermId;

/// A relation of one [`RuleSet`]; ids are dense, so they index plain vectors.
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
    /// One term for each column of the relation.
    pub arguments: Vec<Term>,
    /// The place in the rule text.
    pub span: Span,
}

impl Atom {
    /// Calls `visit` for each occurrence of a variable, with the number of functors
    /// around it inside its argument.
    pub fn for_each_variable(&self, mut visit: impl FnMut(Variable, usize)) {
        for argument in &self.arguments {
            argument.for_each_variable(&mut visit);
        }
    }
}

/// A condition in the body of a rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// The atom holds. Only these literals bind variables.
    Positive(Atom),
    /// The atom does not hold.
    Negative(Atom),
    /// The two terms differ.
    Distinct(Term, Term, Span),
    /// The two terms are equal. This is a test and binds no variables.
    Same(Term, Term, Span),
    /// At least one of the conjunctions holds. This is a test: all its variables are
    /// bound by positive literals outside it. It is not nested in another `Any`.
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

    /// Calls `visit` for each atom; the flag is true for a negated atom.
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

/// A rule: the head holds if all literals of the body hold.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The derived atom.
    pub head: Atom,
    /// The conditions; their order has no meaning.
    pub body: Vec<Literal>,
    /// The variables' names, indexed by [`Variable::index`].
    pub variables: Vec<Box<str>>,
    /// The place of the whole rule in the rule text.
    pub span: Span,
}

/// An atom without variables that always holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    /// The relation.
    pub relation: RelationId,
    /// One term for each column of the relation.
    pub arguments: Box<[TermId]>,
    /// The place in the rule text.
    pub span: Span,
}

/// A logic program: facts and rules over relations with fixed numbers of columns.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// Number of columns of each relation.
    pub arity: Vec<usize>,
    /// The facts, in the order of the text.
    pub facts: Vec<Fact>,
    /// The rules, in the order of the text.
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
