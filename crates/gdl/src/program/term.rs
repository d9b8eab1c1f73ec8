//! Terms of rules, and the functors they are built from.

use rustc_hash::FxHashMap;

use crate::symbol::Symbol;
use crate::terms::{TermId, Terms};

/// The form in which a name is applied.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shape {
    /// A name alone: `p`.
    Bare,
    /// A name with arguments in brackets, possibly none: `(p)`, `(f a b)`.
    Applied(u16),
}

/// A name with the form in which it is applied. `p`, `(p)` and `(p a)` have three
/// different functors.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Functor {
    /// The name.
    pub name: Symbol,
    /// The form.
    pub shape: Shape,
}

impl Functor {
    /// Number of arguments.
    pub fn arity(self) -> usize {
        match self.shape {
            Shape::Bare => 0,
            Shape::Applied(arity) => arity.into(),
        }
    }
}

/// A functor of one game; ids are dense and ordered by first appearance.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctorId(u32);

impl FunctorId {
    /// The functor at a position among the game's functors.
    pub fn new(index: usize) -> Self {
        FunctorId(u32::try_from(index).expect("fewer functors than bytes"))
    }

    /// Position among the game's functors.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The functors of a game.
#[derive(Clone, Debug, Default)]
pub struct Functors {
    list: Vec<Functor>,
    ids: FxHashMap<Functor, FunctorId>,
}

impl Functors {
    /// The id of a functor, created if it is new.
    pub fn intern(&mut self, functor: Functor) -> FunctorId {
        *self.ids.entry(functor).or_insert_with(|| {
            self.list.push(functor);
            FunctorId(self.list.len() as u32 - 1)
        })
    }

    /// The id of a functor, if the game has it.
    pub fn get(&self, functor: Functor) -> Option<FunctorId> {
        self.ids.get(&functor).copied()
    }

    /// The functor of an id.
    pub fn functor(&self, id: FunctorId) -> Functor {
        self.list[id.index()]
    }

    /// Number of functors.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if there are no functors.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All functors with their ids, in order.
    pub fn iter(&self) -> impl Iterator<Item = (FunctorId, Functor)> + '_ {
        self.list
            .iter()
            .enumerate()
            .map(|(i, f)| (FunctorId(i as u32), *f))
    }
}

/// A variable of one rule; ids are dense in that rule.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(u32);

impl Variable {
    /// The variable at a position of its rule's variable list.
    pub fn new(index: usize) -> Self {
        Variable(u32::try_from(index).expect("a rule has fewer variables than bytes"))
    }

    /// Position in its rule's variable list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A term of a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// A variable of the rule.
    Variable(Variable),
    /// A term without variables.
    Ground(TermId),
    /// A compound term that contains at least one variable.
    Apply(FunctorId, Box<[Term]>),
}

impl Term {
    /// Calls `visit` for each occurrence of a variable, with the number of functors
    /// around it.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(Variable, usize)) {
        fn walk(term: &Term, depth: usize, visit: &mut impl FnMut(Variable, usize)) {
            match term {
                Term::Variable(variable) => visit(*variable, depth),
                Term::Ground(_) => {}
                Term::Apply(_, arguments) => {
                    for argument in arguments {
                        walk(argument, depth + 1, visit);
                    }
                }
            }
        }
        walk(self, 0, visit);
    }

    /// The functor at the top, unless the term is a variable.
    pub fn functor(&self, terms: &Terms) -> Option<FunctorId> {
        match self {
            Term::Variable(_) => None,
            Term::Ground(id) => Some(terms.functor(*id)),
            Term::Apply(functor, _) => Some(*functor),
        }
    }

    /// The term's arguments; empty for a variable.
    pub fn arguments(&self, terms: &Terms) -> Vec<Term> {
        match self {
            Term::Variable(_) => Vec::new(),
            Term::Ground(id) => terms
                .arguments(*id)
                .iter()
                .map(|&a| Term::Ground(a))
                .collect(),
            Term::Apply(_, arguments) => arguments.to_vec(),
        }
    }
}
