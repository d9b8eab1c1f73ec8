//! Dependencies of relations on facts of the state, by functor, and on moves.
//!
//! In: a game. Out: for each relation, and each rule, its [`Reads`]. Direct and
//! indirect dependencies count, negated or not.

use std::collections::BTreeSet;

use crate::check::Keyword;
use crate::game::Game;
use crate::program::{Atom, FunctorId, Literal, RelationId, Rule, Term};
use crate::terms::Terms;

/// The dependencies of a relation or rule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Reads {
    /// The functors of the facts of the state it depends on.
    pub(super) facts: BTreeSet<FunctorId>,
    /// True if it depends on the moves made.
    pub(super) moves: bool,
}

impl Reads {
    /// True if its truth does not depend on the state or the moves.
    pub(super) fn is_fixed(&self) -> bool {
        self.facts.is_empty() && !self.moves
    }

    fn add(&mut self, other: &Reads) -> bool {
        let before = (self.facts.len(), self.moves);
        self.facts.extend(&other.facts);
        self.moves |= other.moves;
        before != (self.facts.len(), self.moves)
    }
}

/// The dependencies of all relations of a game.
pub(super) struct Dependencies {
    truth: Option<RelationId>,
    does: Option<RelationId>,
    relations: Vec<Reads>,
    /// All functors that facts of a state can have.
    facts: BTreeSet<FunctorId>,
}

impl Dependencies {
    pub(super) fn new(game: &Game) -> Self {
        let mut dependencies = Dependencies {
            truth: game.keyword(Keyword::True),
            does: game.keyword(Keyword::Does),
            relations: vec![Reads::default(); game.rules().arity.len()],
            facts: fact_functors(game),
        };
        let mut grown = true;
        while grown {
            grown = false;
            for rule in &game.rules().rules {
                let reads = dependencies.rule(game.terms(), rule);
                grown |= dependencies.relations[rule.head.relation.index()].add(&reads);
            }
        }
        dependencies
    }

    /// All functors that facts of a state can have.
    pub(super) fn fact_functors(&self) -> &BTreeSet<FunctorId> {
        &self.facts
    }

    /// The dependencies of a relation; empty for `None`.
    pub(super) fn relation(&self, relation: Option<RelationId>) -> Reads {
        relation.map_or_else(Reads::default, |r| self.relations[r.index()].clone())
    }

    /// The dependencies of the body of a rule. `terms` must know its terms.
    pub(super) fn rule(&self, terms: &Terms, rule: &Rule) -> Reads {
        let mut reads = Reads::default();
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| self.add_atom(terms, atom, &mut reads));
        }
        reads
    }

    fn add_atom(&self, terms: &Terms, atom: &Atom, reads: &mut Reads) {
        if Some(atom.relation) == self.truth {
            reads
                .facts
                .extend(self.functors_of(terms, &atom.arguments[0]));
        } else if Some(atom.relation) == self.does {
            reads.moves = true;
        } else {
            reads.add(&self.relations[atom.relation.index()]);
        }
    }

    /// The functors that a fact matching the term can have: all of them for a
    /// variable.
    pub(super) fn functors_of(&self, terms: &Terms, term: &Term) -> Vec<FunctorId> {
        match term.functor(terms) {
            Some(functor) => vec![functor],
            None => self.facts.iter().copied().collect(),
        }
    }

    /// The rule without conditions that hold whenever a move is made: those that say
    /// that some role makes some move and share no variable with the rest of the
    /// rule.
    pub(super) fn without_empty_conditions(&self, game: &Game, rule: &Rule) -> Rule {
        let mut uses = vec![0u32; rule.variables.len()];
        rule.head.for_each_variable(|v, _| uses[v.index()] += 1);
        for literal in &rule.body {
            literal.for_each_variable(&mut |v| uses[v.index()] += 1);
        }
        let is_free = |term: &Term| matches!(term, Term::Variable(v) if uses[v.index()] == 1);
        let is_empty = |literal: &Literal| match literal {
            Literal::Positive(atom) if Some(atom.relation) == self.does => {
                let is_role = |term: &Term| match term {
                    Term::Ground(term) => game.role_of(*term).is_some(),
                    other => is_free(other),
                };
                is_role(&atom.arguments[0]) && is_free(&atom.arguments[1])
            }
            _ => false,
        };
        let mut rule = rule.clone();
        rule.body.retain(|literal| !is_empty(literal));
        rule
    }
}

/// The functors of facts on which no legal move, no goal and not the end of the game
/// depends, directly or through later facts.
pub fn unread(game: &Game) -> Vec<FunctorId> {
    let dependencies = Dependencies::new(game);
    let mut read = Reads::default();
    for keyword in [Keyword::Legal, Keyword::Goal, Keyword::Terminal] {
        read.add(&dependencies.relation(game.keyword(keyword)));
    }
    let next = game.keyword(Keyword::Next);
    let mut grown = true;
    while grown {
        grown = false;
        for rule in game
            .rules()
            .rules
            .iter()
            .filter(|rule| Some(rule.head.relation) == next)
        {
            let mut heads = dependencies
                .functors_of(game.terms(), &rule.head.arguments[0])
                .into_iter();
            if heads.any(|functor| read.facts.contains(&functor)) {
                grown |= read.add(&dependencies.rule(game.terms(), rule));
            }
        }
    }
    dependencies
        .facts
        .iter()
        .copied()
        .filter(|functor| !read.facts.contains(functor))
        .collect()
}

/// The functors of facts that none of their own rules depends on: their facts in one
/// state have no influence on their facts in the next.
pub fn unkept(game: &Game) -> BTreeSet<FunctorId> {
    let dependencies = Dependencies::new(game);
    let next = game.keyword(Keyword::Next);
    let mut unkept = dependencies.facts.clone();
    for rule in (game.rules().rules.iter()).filter(|rule| Some(rule.head.relation) == next) {
        let read = dependencies.rule(game.terms(), rule).facts;
        for functor in dependencies.functors_of(game.terms(), &rule.head.arguments[0]) {
            if read.contains(&functor) {
                unkept.remove(&functor);
            }
        }
    }
    unkept
}

/// The functors of facts that a keyword depends on within one state.
pub fn read_by(game: &Game, keyword: Keyword) -> BTreeSet<FunctorId> {
    let dependencies = Dependencies::new(game);
    dependencies.relation(game.keyword(keyword)).facts
}

fn fact_functors(game: &Game) -> BTreeSet<FunctorId> {
    let rules = game.rules();
    let holds_facts = |relation: RelationId| {
        [Keyword::Init, Keyword::True, Keyword::Next]
            .iter()
            .any(|keyword| game.keyword(*keyword) == Some(relation))
    };
    let mut functors = BTreeSet::new();
    for fact in &rules.facts {
        if holds_facts(fact.relation) {
            functors.insert(game.terms().functor(fact.arguments[0]));
        }
    }
    for rule in &rules.rules {
        let mut note = |atom: &Atom| {
            if holds_facts(atom.relation) {
                functors.extend(atom.arguments[0].functor(game.terms()));
            }
        };
        note(&rule.head);
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| note(atom));
        }
    }
    functors
}
