//! The result of lowering.

use rustc_hash::FxHashMap;

use crate::check::Keyword;
use crate::program::{Functor, FunctorId, Functors, RelationId, RuleSet, Shape};
use crate::span::Span;
use crate::symbol::{Symbol, Symbols};
use crate::terms::Terms;

/// A rule set as it was written, with every name it uses.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Names, in order of first appearance.
    pub symbols: Symbols,
    /// Functors of relations and of terms.
    pub functors: Functors,
    /// Ground terms of the rules.
    pub terms: Terms,
    /// The facts and rules, with disjunctions expanded.
    pub rules: RuleSet,
    /// The functor of each relation.
    pub relation_functor: Vec<FunctorId>,
    /// Each use of a relation: the relation, head or body, and the place.
    pub uses: Vec<(RelationId, Position, Span)>,
    /// First use of each functor as a function or constant.
    pub term_functors: FxHashMap<FunctorId, Span>,
    /// The relation of each functor that has one.
    pub(crate) relations: FxHashMap<FunctorId, RelationId>,
}

/// The position of an atom in a form.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// A fact or the head of a rule.
    Head,
    /// The body of a rule.
    Body,
}

impl Lowered {
    /// The relation's name as it was written.
    pub fn relation_name(&self, relation: RelationId) -> &str {
        self.symbols.name(self.relation_symbol(relation))
    }

    /// The relation's name as a symbol.
    pub fn relation_symbol(&self, relation: RelationId) -> Symbol {
        self.functors
            .functor(self.relation_functor[relation.index()])
            .name
    }

    /// The relation of a keyword, if the rules use it.
    pub fn keyword_relation(&self, keyword: Keyword) -> Option<RelationId> {
        let name = self.symbols.get(keyword.as_str())?;
        let shape = match keyword.arity()? {
            0 => Shape::Bare,
            arity => Shape::Applied(arity as u16),
        };
        let functor = self.functors.get(Functor { name, shape })?;
        self.relations.get(&functor).copied()
    }

    /// The keyword that names a relation, if any.
    pub fn keyword_of(&self, relation: RelationId) -> Option<Keyword> {
        Keyword::of(self.relation_name(relation))
    }
}
