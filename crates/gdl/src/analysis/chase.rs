//! Forward chaining over atoms whose variables denote fixed, unknown objects.
//!
//! In: atoms that hold, and rules. Out: their consequences. In a *closed* world
//! everything unknown is false, which makes this a plain evaluator; the rules must
//! then be applied stratum by stratum. In an *open* world only listed atoms are
//! false, so the consequences hold whatever the unknown objects are and whatever else
//! holds.
//!
//! Source: the chase of a canonical database, Aho, Beeri and Ullman 1979.

use std::collections::VecDeque;

use ggp_stop::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

use super::resolve::{are_apart, rebuilt};
use crate::game::Game;
use crate::program::strata::for_each_body_atom;
use crate::program::{Atom, Literal, RelationId, Rule, Term};
use crate::terms::Terms;

/// The arguments of an atom; a variable in them is equal to itself only.
type Arguments = Vec<Term>;

/// The limit of work or time was reached.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct GaveUp;

/// The rule for what counts as false.
pub(super) enum World {
    /// Every atom that is not known is false.
    Closed,
    /// Only the listed atoms are false.
    Open {
        /// Atoms that do not hold.
        refuted: FxHashSet<(RelationId, Arguments)>,
        /// Pairs of terms that differ.
        apart: Vec<(Term, Term)>,
    },
}

/// The atoms derived so far.
pub(super) struct Chase {
    terms: Terms,
    world: World,
    facts: Vec<Vec<Arguments>>,
    known: Vec<FxHashSet<Arguments>>,
    work: u64,
    stop: Stop,
}

impl Chase {
    /// An empty set of atoms over `relations` relations; `work` is the maximum number
    /// of matches to try. Matching gives up soon after `stop` is over.
    pub(super) fn new(game: &Game, relations: usize, world: World, work: u64, stop: &Stop) -> Self {
        let mut terms = game.terms().clone();
        // Unfolded rules have terms that the game does not have.
        terms.refresh();
        Chase {
            terms,
            world,
            facts: vec![Vec::new(); relations],
            known: vec![FxHashSet::default(); relations],
            work,
            stop: stop.clone(),
        }
    }

    /// Adds an atom; returns false if it was known.
    pub(super) fn add(&mut self, relation: RelationId, arguments: Arguments) -> bool {
        let is_new = self.known[relation.index()].insert(arguments.clone());
        if is_new {
            self.facts[relation.index()].push(arguments);
        }
        is_new
    }

    /// Removes all atoms of a relation.
    pub(super) fn clear(&mut self, relation: RelationId) {
        self.facts[relation.index()].clear();
        self.known[relation.index()].clear();
    }

    /// The atoms of a relation, in order of derivation.
    pub(super) fn of(&self, relation: RelationId) -> &[Arguments] {
        &self.facts[relation.index()]
    }

    /// The terms used so far.
    pub(super) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The terms used.
    pub(super) fn into_terms(self) -> Terms {
        self.terms
    }

    /// Derives consequences of the rules until a fixpoint.
    pub(super) fn close<'r>(
        &mut self,
        rules: impl Iterator<Item = &'r Rule>,
    ) -> Result<(), GaveUp> {
        let rules: Vec<&Rule> = rules.collect();
        let mut users: Option<FxHashMap<RelationId, Vec<usize>>> = None;
        let mut is_open = vec![true; rules.len()];
        let mut open: VecDeque<usize> = (0..rules.len()).collect();
        while let Some(number) = open.pop_front() {
            is_open[number] = false;
            let rule = rules[number];
            self.spend()?;
            let mut attempt = Attempt {
                chase: self,
                rule,
                bindings: vec![None; rule.variables.len()],
                bound: Vec::new(),
                heads: Vec::new(),
            };
            attempt.extend(0)?;
            let mut has_grown = false;
            for head in attempt.heads {
                has_grown |= self.add(rule.head.relation, head);
            }
            if has_grown {
                let users = users.get_or_insert_with(|| users_of(&rules));
                for &user in users.get(&rule.head.relation).into_iter().flatten() {
                    if !std::mem::replace(&mut is_open[user], true) {
                        open.push_back(user);
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts one match.
    fn spend(&mut self) -> Result<(), GaveUp> {
        self.work = self.work.checked_sub(1).ok_or(GaveUp)?;
        match self.work.is_multiple_of(1024) && self.stop.is_over() {
            true => Err(GaveUp),
            false => Ok(()),
        }
    }
}

/// By relation: the numbers of the rules whose bodies have it.
fn users_of(rules: &[&Rule]) -> FxHashMap<RelationId, Vec<usize>> {
    let mut users: FxHashMap<RelationId, Vec<usize>> = FxHashMap::default();
    for (number, rule) in rules.iter().enumerate() {
        for_each_body_atom(rule, |atom, _| {
            users.entry(atom.relation).or_default().push(number);
        });
    }
    users
}

/// The match of one rule in progress.
struct Attempt<'a> {
    chase: &'a mut Chase,
    rule: &'a Rule,
    bindings: Vec<Option<Term>>,
    /// The variables bound so far, for backtracking.
    bound: Vec<usize>,
    heads: Vec<Arguments>,
}

impl Attempt<'_> {
    /// Matches the positive literals from `position` on, then tests the others.
    fn extend(&mut self, position: usize) -> Result<(), GaveUp> {
        let rule = self.rule;
        let Some(literal) = rule.body.get(position) else {
            for literal in &rule.body {
                if !self.holds(literal)? {
                    return Ok(());
                }
            }
            let head = self.instance(&rule.head.arguments)?;
            self.heads.push(head);
            return Ok(());
        };
        let Literal::Positive(atom) = literal else {
            return self.extend(position + 1);
        };
        for index in 0..self.chase.of(atom.relation).len() {
            self.chase.spend()?;
            let before = self.bound.len();
            let fits = (0..atom.arguments.len()).all(|column| {
                let value = self.chase.of(atom.relation)[index][column].clone();
                self.matches(&atom.arguments[column], &value)
            });
            if fits {
                self.extend(position + 1)?;
            }
            for variable in self.bound.drain(before..) {
                self.bindings[variable] = None;
            }
        }
        Ok(())
    }

    fn matches(&mut self, pattern: &Term, value: &Term) -> bool {
        match pattern {
            Term::Ground(_) => pattern == value,
            Term::Variable(v) => match &self.bindings[v.index()] {
                Some(bound) => bound == value,
                None => {
                    self.bindings[v.index()] = Some(value.clone());
                    self.bound.push(v.index());
                    true
                }
            },
            Term::Apply(functor, arguments) => {
                value.functor(&self.chase.terms) == Some(*functor)
                    && arguments
                        .iter()
                        .zip(value.arguments(&self.chase.terms))
                        .all(|(pattern, value)| self.matches(pattern, &value))
            }
        }
    }

    fn holds(&mut self, literal: &Literal) -> Result<bool, GaveUp> {
        Ok(match literal {
            Literal::Positive(atom) => self.is_known(atom)?,
            Literal::Negative(atom) => match &self.chase.world {
                World::Closed => !self.is_known(atom)?,
                World::Open { .. } => {
                    let arguments = self.instance(&atom.arguments)?;
                    let World::Open { refuted, .. } = &self.chase.world else {
                        unreachable!("matched above");
                    };
                    refuted.contains(&(atom.relation, arguments))
                }
            },
            Literal::Distinct(left, right, _) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                match &self.chase.world {
                    World::Closed => left != right,
                    World::Open { apart, .. } => {
                        are_apart(&left, &right, &self.chase.terms)
                            || apart.iter().any(|(l, r)| {
                                (*l == left && *r == right) || (*l == right && *r == left)
                            })
                    }
                }
            }
            Literal::Same(left, right, _) => self.term(left)? == self.term(right)?,
            Literal::Any(branches) => {
                for branch in branches {
                    let mut all = true;
                    for literal in branch {
                        all = all && self.holds(literal)?;
                    }
                    if all {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    fn is_known(&mut self, atom: &Atom) -> Result<bool, GaveUp> {
        let arguments = self.instance(&atom.arguments)?;
        Ok(self.chase.known[atom.relation.index()].contains(&arguments))
    }

    fn instance(&mut self, arguments: &[Term]) -> Result<Arguments, GaveUp> {
        arguments.iter().map(|term| self.term(term)).collect()
    }

    fn term(&mut self, term: &Term) -> Result<Term, GaveUp> {
        let bindings = &self.bindings;
        let mut value = |v: usize| bindings[v].clone().expect("a safe rule binds it");
        rebuilt(term, &mut value, &mut self.chase.terms).ok_or(GaveUp)
    }
}
