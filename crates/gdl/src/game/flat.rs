//! GDL's wrapped facts as plain relations.
//!
//! In: a game. Out: a rule set in which `(true (f a b))` is a row of a separate
//! relation with two columns, and likewise for `next`, `init`, `does` and `legal`.
//! Where a body has a variable in place of the wrapped term, the relation with one
//! column for the whole term is kept: additionally for inputs, instead of the
//! separate relations for derived keywords.

use super::Game;
use crate::check::Keyword;
use crate::program::{Atom, FunctorId, Literal, RelationId, RuleSet, Term};

/// A keyword's facts, distributed over relations.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Wrapped {
    /// By functor of the wrapped term: its relation, if it has one.
    pub by_functor: Vec<Option<RelationId>>,
    /// The relation with a column for the whole term, if there is one.
    pub whole: Option<RelationId>,
}

impl Wrapped {
    /// All relations of the keyword.
    pub fn relations(&self) -> impl Iterator<Item = RelationId> + '_ {
        self.by_functor.iter().copied().flatten().chain(self.whole)
    }

    /// Its relations for one functor each.
    pub fn flat(&self, functors: &crate::program::Functors) -> Vec<(RelationId, FunctorId)> {
        functors
            .iter()
            .filter_map(|(id, _)| Some((self.by_functor[id.index()]?, id)))
            .collect()
    }
}

/// A game's rules over flat relations.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Flat {
    pub rules: RuleSet,
    pub state: Wrapped,
    pub next: Wrapped,
    pub init: Wrapped,
    pub does: Wrapped,
    pub legal: Wrapped,
}

impl Flat {
    /// The same game with other rules over the same relations.
    pub fn with(&self, rules: RuleSet) -> Flat {
        Flat {
            rules,
            state: self.state.clone(),
            next: self.next.clone(),
            init: self.init.clone(),
            does: self.does.clone(),
            legal: self.legal.clone(),
        }
    }
}

/// Rewrites a game's rules.
#[doc(hidden)]
pub fn flatten(game: &Game) -> Flat {
    let mut flat = Flat {
        rules: RuleSet {
            arity: game.rules().arity.clone(),
            ..RuleSet::default()
        },
        state: Wrapped::default(),
        next: Wrapped::default(),
        init: Wrapped::default(),
        does: Wrapped::default(),
        legal: Wrapped::default(),
    };
    for (keyword, position, given) in [
        (Keyword::True, 0, true),
        (Keyword::Next, 0, false),
        (Keyword::Init, 0, false),
        (Keyword::Does, 1, true),
        (Keyword::Legal, 1, false),
    ] {
        let wrapped = wrap(game, &mut flat.rules, keyword, position, given);
        *flat.slot(keyword) = wrapped;
    }
    let mut rules = std::mem::take(&mut flat.rules);
    for fact in &game.rules().facts {
        let terms = fact.arguments.iter().map(|&id| Term::Ground(id)).collect();
        let mut atom = Atom {
            relation: fact.relation,
            arguments: terms,
            span: fact.span,
        };
        flat.rewrite(game, &mut atom);
        let arguments = atom.arguments.iter().map(|term| match term {
            Term::Ground(id) => *id,
            _ => unreachable!("facts are ground"),
        });
        rules.facts.push(crate::program::Fact {
            relation: atom.relation,
            arguments: arguments.collect(),
            span: fact.span,
        });
    }
    for rule in &game.rules().rules {
        let mut rule = rule.clone();
        flat.rewrite(game, &mut rule.head);
        for literal in &mut rule.body {
            flat.rewrite_literal(game, literal);
        }
        rules.rules.push(rule);
    }
    flat.rules = rules;
    flat
}

/// Creates the relations of a keyword whose wrapped term is the argument at
/// `position`.
fn wrap(
    game: &Game,
    rules: &mut RuleSet,
    keyword: Keyword,
    position: usize,
    given: bool,
) -> Wrapped {
    let mut wrapped = Wrapped {
        by_functor: vec![None; game.functors().len()],
        whole: None,
    };
    let Some(relation) = game.keyword(keyword) else {
        return wrapped;
    };
    let mut functors = Vec::new();
    let mut variable = false;
    let mut see = |atom: &Atom| {
        if atom.relation == relation {
            match atom.arguments[position].functor(game.terms()) {
                Some(functor) => functors.push(functor),
                None => variable = true,
            }
        }
    };
    for rule in &game.rules().rules {
        see(&rule.head);
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| see(atom));
        }
    }
    for fact in &game.rules().facts {
        if fact.relation == relation {
            functors.push(game.terms().functor(fact.arguments[position]));
        }
    }
    if variable {
        wrapped.whole = Some(relation);
    }
    if given || !variable {
        functors.sort_unstable();
        functors.dedup();
        for functor in functors {
            let arity = position + game.functors().functor(functor).arity();
            wrapped.by_functor[functor.index()] = Some(rules.add_relation(arity));
        }
    }
    wrapped
}

impl Flat {
    fn slot(&mut self, keyword: Keyword) -> &mut Wrapped {
        match keyword {
            Keyword::True => &mut self.state,
            Keyword::Next => &mut self.next,
            Keyword::Init => &mut self.init,
            Keyword::Does => &mut self.does,
            _ => &mut self.legal,
        }
    }

    fn rewrite_literal(&mut self, game: &Game, literal: &mut Literal) {
        match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => self.rewrite(game, atom),
            Literal::Distinct(..) | Literal::Same(..) => {}
            Literal::Any(branches) => {
                for literal in branches.iter_mut().flatten() {
                    self.rewrite_literal(game, literal);
                }
            }
        }
    }

    fn rewrite(&mut self, game: &Game, atom: &mut Atom) {
        for keyword in [
            Keyword::True,
            Keyword::Next,
            Keyword::Init,
            Keyword::Does,
            Keyword::Legal,
        ] {
            if game.keyword(keyword) != Some(atom.relation) {
                continue;
            }
            let term = atom.arguments.last().expect("keywords have arguments");
            let Some(functor) = term.functor(game.terms()) else {
                return;
            };
            let Some(relation) = self.slot(keyword).by_functor[functor.index()] else {
                return;
            };
            let inner = term.arguments(game.terms());
            atom.relation = relation;
            atom.arguments.pop();
            atom.arguments.extend(inner);
            return;
        }
    }
}
