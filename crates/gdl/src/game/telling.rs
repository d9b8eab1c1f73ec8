//! Percepts as facts of the next state.
//!
//! In: a game with `sees` (GDL-II). Out: the same game, in which the state after a joint
//! move also holds the percepts of each role. So every part that runs games, from the
//! reference evaluator to machine code over many lanes, computes percepts, and games
//! without `sees` take no part in it.
//!
//! `sees` holds by the state and the joint move, as `next` does. Bodies of `sees` may ask
//! for `next` of the same step; the rules for it are copied for them.
//!
//! Source: Thielscher: A General Game Description Language for Incomplete Information
//! Games, AAAI 2010.

use rustc_hash::FxHashMap;

use super::Game;
use crate::check::Keyword;
use crate::check::lower::Lowered;
use crate::program::{
    Atom, Fact, Functor, FunctorId, Literal, RelationId, Rule, Shape, Term, Variable,
};
use crate::span::Span;
use crate::terms::{TermId, TermOverflow, Terms};

/// A game with percepts in its states. Its terms are those of the original game: ids mean
/// the same in both.
#[derive(Clone, Debug)]
pub struct Telling {
    /// The game.
    pub game: Game,
    told: FunctorId,
}

impl Telling {
    /// The name of a role and its percept of the last joint move that a fact of the state
    /// holds. `None` for the original game's facts.
    pub fn told(&self, terms: &Terms, fact: TermId) -> Option<(TermId, TermId)> {
        (terms.functor(fact) == self.told).then(|| match terms.arguments(fact) {
            &[name, percept] => (name, percept),
            _ => unreachable!("the functor has two arguments"),
        })
    }
}

impl Game {
    /// True if roles get percepts in place of all moves: the rules have `sees`.
    ///
    /// ```
    /// # use ggp_gdl::game::Game;
    /// let rules = "(role a) (role b) (legal a x) (legal b y) (init p) terminal
    ///     (goal a 1) (goal b 1) (<= (sees a ?m) (does b ?m))";
    /// assert!(Game::from_text("rules", rules)?.is_hidden());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_hidden(&self) -> bool {
        self.keyword(Keyword::Sees).is_some()
    }

    /// The same game with percepts in its states.
    ///
    /// # Errors
    ///
    /// [`TermOverflow`] if a percept that always holds is too large.
    pub fn telling(&self) -> Result<Telling, TermOverflow> {
        let mut lowered = self.inner.lowered.clone();
        let told = told(&mut lowered);
        let next = relation(&mut lowered, Keyword::Next.as_str(), 1);
        if let Some(sees) = self.keyword(Keyword::Sees) {
            copy_next(&mut lowered, next);
            percepts(&mut lowered, sees, next, told)?;
            if let Some(truth) = self.keyword(Keyword::True) {
                exclude_percepts(&mut lowered, truth, told)?;
            }
        }
        let (roles, sources) = (self.inner.roles.clone(), self.inner.sources.clone());
        Ok(Telling {
            game: Game::new(lowered, roles, sources),
            told,
        })
    }
}

/// The functor of percepts in states, with a name that the rules do not have.
fn told(lowered: &mut Lowered) -> FunctorId {
    let mut name = "told".to_owned();
    while lowered.symbols.get(&name).is_some() {
        name.push('_');
    }
    let name = lowered.symbols.intern(&name);
    let shape = Shape::Applied(2);
    lowered.functors.intern(Functor { name, shape })
}

/// The relation with a name, created if it is new.
fn relation(lowered: &mut Lowered, name: &str, arity: u16) -> RelationId {
    let name = lowered.symbols.intern(name);
    let shape = Shape::Applied(arity);
    let functor = lowered.functors.intern(Functor { name, shape });
    if let Some(relation) = lowered.relations.get(&functor) {
        return *relation;
    }
    let relation = add_relation(lowered, functor, arity.into());
    lowered.relations.insert(functor, relation);
    relation
}

pub(super) fn add_relation(lowered: &mut Lowered, functor: FunctorId, arity: usize) -> RelationId {
    lowered.relation_functor.push(functor);
    lowered.rules.add_relation(arity)
}

/// Rules for `next` that bodies ask for become rules of other relations, so that percepts
/// can be facts of the next state that depend on others.
fn copy_next(lowered: &mut Lowered, next: RelationId) {
    let mut wanted: Vec<Option<FunctorId>> = Vec::new();
    for rule in &lowered.rules.rules {
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| {
                if atom.relation == next {
                    wanted.push(atom.arguments[0].functor(&lowered.terms));
                }
            });
        }
    }
    let is_next = |rule: &&Rule| rule.head.relation == next;
    let rules: Vec<Rule> = lowered
        .rules
        .rules
        .iter()
        .filter(is_next)
        .cloned()
        .collect();
    let facts = lowered.rules.facts.iter();
    let facts: Vec<Fact> = facts
        .filter(|fact| fact.relation == next)
        .cloned()
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    // Where a functor is unknown, all share one relation with a column for the whole fact.
    let heads = rules.iter().map(|rule| &rule.head.arguments[0]);
    let is_whole = wanted.first() == Some(&None)
        || heads
            .into_iter()
            .any(|head| head.functor(&lowered.terms).is_none());
    let mut copies: FxHashMap<Option<FunctorId>, RelationId> = FxHashMap::default();
    let functor_of_next = lowered.relation_functor[next.index()];
    for functor in wanted {
        let functor = functor.filter(|_| !is_whole);
        let arity = functor.map_or(1, |functor| lowered.functors.functor(functor).arity());
        copies
            .entry(functor)
            .or_insert_with(|| add_relation(lowered, functor_of_next, arity));
    }
    if copies.is_empty() {
        return;
    }
    let Lowered {
        rules: all, terms, ..
    } = lowered;
    let copy = |atom: &mut Atom| {
        let functor = atom.arguments[0].functor(terms).filter(|_| !is_whole);
        let Some(relation) = copies.get(&functor) else {
            return false;
        };
        atom.relation = *relation;
        if functor.is_some() {
            atom.arguments = atom.arguments[0].arguments(terms);
        }
        true
    };
    for rule in &mut all.rules {
        for literal in &mut rule.body {
            for_each_atom(literal, &mut |atom| {
                if atom.relation == next {
                    copy(atom);
                }
            });
        }
    }
    for mut rule in rules {
        if copy(&mut rule.head) {
            all.rules.push(rule);
        }
    }
    for fact in facts {
        let functor = Some(terms.functor(fact.arguments[0])).filter(|_| !is_whole);
        if let Some(&relation) = copies.get(&functor) {
            let arguments = match functor {
                Some(_) => terms.arguments(fact.arguments[0]).into(),
                None => fact.arguments,
            };
            all.facts.push(Fact {
                relation,
                arguments,
                span: fact.span,
            });
        }
    }
}

fn for_each_atom(literal: &mut Literal, visit: &mut impl FnMut(&mut Atom)) {
    match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => visit(atom),
        Literal::Distinct(..) | Literal::Same(..) => {}
        Literal::Any(branches) => {
            for literal in branches.iter_mut().flatten() {
                for_each_atom(literal, visit);
            }
        }
    }
}

/// Rules for `sees` become rules for `next`. If bodies ask for `sees`, it is kept.
fn percepts(
    lowered: &mut Lowered,
    sees: RelationId,
    next: RelationId,
    told: FunctorId,
) -> Result<(), TermOverflow> {
    let mut is_asked = false;
    for rule in &lowered.rules.rules {
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| is_asked |= atom.relation == sees);
        }
    }
    if is_asked {
        let (role, percept) = (Variable::new(0), Variable::new(1));
        let both = || vec![Term::Variable(role), Term::Variable(percept)];
        let span = Span::default();
        let atom = |relation, arguments| Atom {
            relation,
            arguments,
            span,
        };
        lowered.rules.rules.push(Rule {
            head: atom(next, vec![Term::Apply(told, both().into())]),
            body: vec![Literal::Positive(atom(sees, both()))],
            variables: vec!["?role".into(), "?percept".into()],
            span,
        });
        return Ok(());
    }
    let Lowered { rules, terms, .. } = lowered;
    for rule in &mut rules.rules {
        if rule.head.relation == sees {
            rule.head.relation = next;
            let arguments = std::mem::take(&mut rule.head.arguments);
            rule.head.arguments = vec![apply(terms, told, arguments)?];
        }
    }
    for fact in &mut rules.facts {
        if fact.relation == sees {
            fact.relation = next;
            fact.arguments = [terms.intern(told, &fact.arguments)?].into();
        }
    }
    Ok(())
}

/// Rules that match whole facts by a variable, such as `(<= (next ?f) (true ?f))`, do not match
/// facts that hold percepts: they ask a relation of all others, which has a rule for each functor.
fn exclude_percepts(
    lowered: &mut Lowered,
    truth: RelationId,
    told: FunctorId,
) -> Result<(), TermOverflow> {
    // The variables of other literals are bound by positive ones.
    let is_whole = |literal: &Literal| match literal {
        Literal::Positive(atom) => {
            atom.relation == truth && matches!(atom.arguments[..], [Term::Variable(_)])
        }
        _ => false,
    };
    let mut bodies = lowered.rules.rules.iter().map(|rule| &rule.body);
    if !bodies.any(|body| body.iter().any(is_whole)) {
        return Ok(());
    }
    let plain = add_relation(lowered, lowered.relation_functor[truth.index()], 1);
    let bodies = lowered
        .rules
        .rules
        .iter_mut()
        .flat_map(|rule| &mut rule.body);
    for literal in bodies.filter(|literal| is_whole(literal)) {
        for_each_atom(literal, &mut |atom| atom.relation = plain);
    }
    let span = Span::default();
    for (functor, named) in lowered
        .functors
        .iter()
        .filter(|(functor, _)| *functor != told)
    {
        let numbers = 0..named.arity();
        let arguments = numbers.map(|number| Term::Variable(Variable::new(number)));
        let fact = apply(&mut lowered.terms, functor, arguments.collect())?;
        let atom = |relation| Atom {
            relation,
            arguments: vec![fact.clone()],
            span,
        };
        lowered.rules.rules.push(Rule {
            head: atom(plain),
            body: vec![Literal::Positive(atom(truth))],
            variables: (0..named.arity())
                .map(|number| format!("?{number}").into())
                .collect(),
            span,
        });
    }
    Ok(())
}

/// A functor applied to terms.
fn apply(
    terms: &mut Terms,
    functor: FunctorId,
    arguments: Vec<Term>,
) -> Result<Term, TermOverflow> {
    let ground = arguments.iter().map(|term| match term {
        Term::Ground(id) => Some(*id),
        _ => None,
    });
    Ok(match ground.collect::<Option<Vec<TermId>>>() {
        Some(ground) => Term::Ground(terms.intern(functor, &ground)?),
        None => Term::Apply(functor, arguments.into()),
    })
}
