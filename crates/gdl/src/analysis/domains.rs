//! Domains: the functors that can occur in each argument place.
//!
//! In: a [`Game`]. Out: for every argument of a relation or a functor, the functors
//! of the terms that can occur there. This is an over-approximation: the variables of
//! a rule are treated as independent.
//!
//! Source: Schkufza, Love, Genesereth, "Propositional automata and cell automata",
//! 2008 (domain graphs).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::check::Keyword;
use crate::game::Game;
use crate::program::{Atom, FunctorId, Literal, RelationId, Rule, Term, Variable};
use crate::terms::TermId;

/// Maximum memory for the sets, in words of 64 bits.
const LARGEST: usize = 8 << 20;
/// Maximum work for the sets, in words that are read or written.
const MOST_WORK: usize = 1 << 30;

/// An argument place.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    Column(RelationId, usize),
    Argument(FunctorId, usize),
}

/// The functors that can occur in each argument place.
#[derive(Clone, Debug)]
pub struct Domains {
    /// By place: bit `f` is set if functor `f` can occur there.
    sets: FxHashMap<Place, Vec<u64>>,
    words: usize,
    /// The places whose sets have grown since they were last looked at.
    grown: Vec<Place>,
}

impl Domains {
    /// The domains of a game, or `None` if they would take too much memory or time.
    pub fn of(game: &Game) -> Option<Domains> {
        let words = game.functors().len().div_ceil(64);
        let columns: usize = game.rules().arity.iter().sum();
        let functors = game.functors().iter();
        let arguments: usize = functors.map(|(_, functor)| functor.arity()).sum();
        if (columns + arguments).saturating_mul(words) > LARGEST {
            return None;
        }
        let mut domains = Domains {
            sets: FxHashMap::default(),
            words,
            grown: Vec::new(),
        };
        for fact in &game.rules().facts {
            for (column, &term) in fact.arguments.iter().enumerate() {
                domains.add_ground(game, Place::Column(fact.relation, column), term);
            }
        }
        // Facts that are true were initial or derived by `next`; moves made were
        // legal.
        let pairs = [
            (Keyword::Init, Keyword::True),
            (Keyword::Next, Keyword::True),
            (Keyword::Legal, Keyword::Does),
        ];
        let copied = pairs.map(|(from, to)| game.keyword(from).zip(game.keyword(to)));
        let rules = &game.rules().rules;
        let users = users(rules);
        let mut is_open = vec![true; rules.len()];
        let mut open: VecDeque<usize> = (0..rules.len()).collect();
        let mut work = 0;
        loop {
            while let Some(place) = domains.grown.pop() {
                if let Place::Column(relation, column) = place {
                    for (_, to) in copied
                        .iter()
                        .flatten()
                        .filter(|(from, _)| *from == relation)
                    {
                        let set = domains.sets[&place].clone();
                        domains.add_all(Place::Column(*to, column), &set);
                    }
                }
                for &user in users.get(&place).into_iter().flatten() {
                    if !std::mem::replace(&mut is_open[user], true) {
                        open.push_back(user);
                    }
                }
            }
            let Some(number) = open.pop_front() else {
                return Some(domains);
            };
            is_open[number] = false;
            domains.apply(game, &rules[number]);
            work += words * (1 + rules[number].variables.len());
            if work > MOST_WORK {
                return None;
            }
        }
    }

    /// The functors of terms in a column of a relation, ascending.
    pub fn column(&self, relation: RelationId, column: usize) -> Vec<FunctorId> {
        self.at(Place::Column(relation, column))
    }

    /// The functors of terms that are arguments of a functor, ascending.
    pub fn argument(&self, functor: FunctorId, argument: usize) -> Vec<FunctorId> {
        self.at(Place::Argument(functor, argument))
    }

    /// True if terms with a functor can occur in a place.
    pub(super) fn has(&self, place: Place, functor: FunctorId) -> bool {
        let set = self.sets.get(&place);
        set.is_some_and(|set| set[functor.index() / 64] >> (functor.index() % 64) & 1 == 1)
    }

    /// The functors of terms that can occur in a place, ascending.
    pub(super) fn at(&self, place: Place) -> Vec<FunctorId> {
        let set = self.sets.get(&place).map_or(&[][..], |set| &set[..]);
        let functors = (0..64 * set.len()).filter(|f| set[f / 64] >> (f % 64) & 1 == 1);
        functors.map(FunctorId::new).collect()
    }

    fn apply(&mut self, game: &Game, rule: &Rule) {
        let mut found: Vec<Option<Vec<u64>>> = vec![None; rule.variables.len()];
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                self.narrow(atom, &mut found);
            }
        }
        let is_empty = |set: &Vec<u64>| set.iter().all(|word| *word == 0);
        if found.iter().flatten().any(is_empty) {
            return;
        }
        for (column, term) in rule.head.arguments.iter().enumerate() {
            self.add(
                game,
                Place::Column(rule.head.relation, column),
                term,
                &found,
            );
        }
    }

    /// Intersects the domain of each variable with the domains of its places in an
    /// atom.
    fn narrow(&self, atom: &Atom, found: &mut [Option<Vec<u64>>]) {
        for (place, variable) in variables(atom) {
            let none = || vec![0; self.words];
            let here = self.sets.get(&place);
            match &mut found[variable.index()] {
                Some(set) => match here {
                    Some(here) => set.iter_mut().zip(here).for_each(|(a, b)| *a &= b),
                    None => *set = none(),
                },
                unknown => *unknown = Some(here.cloned().unwrap_or_else(none)),
            }
        }
    }

    fn add(&mut self, game: &Game, place: Place, term: &Term, found: &[Option<Vec<u64>>]) {
        let mut open = vec![(place, term)];
        while let Some((place, term)) = open.pop() {
            match term {
                Term::Ground(id) => self.add_ground(game, place, *id),
                Term::Apply(functor, arguments) => {
                    self.add_one(place, *functor);
                    let arguments = arguments.iter().enumerate();
                    open.extend(arguments.map(|(k, term)| (Place::Argument(*functor, k), term)));
                }
                Term::Variable(variable) => {
                    let set = found[variable.index()].as_ref();
                    self.add_all(place, set.expect("safe rules bind their variables"));
                }
            }
        }
    }

    fn add_ground(&mut self, game: &Game, place: Place, term: TermId) {
        let mut open = vec![(place, term)];
        while let Some((place, term)) = open.pop() {
            let functor = game.terms().functor(term);
            self.add_one(place, functor);
            let arguments = game.terms().arguments(term).iter().enumerate();
            open.extend(arguments.map(|(k, &term)| (Place::Argument(functor, k), term)));
        }
    }

    fn add_one(&mut self, place: Place, functor: FunctorId) {
        let words = self.words;
        let set = self.sets.entry(place).or_insert_with(|| vec![0; words]);
        let word = &mut set[functor.index() / 64];
        let bit = 1 << (functor.index() % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.grown.push(place);
        }
    }

    fn add_all(&mut self, place: Place, more: &[u64]) {
        let words = self.words;
        let set = self.sets.entry(place).or_insert_with(|| vec![0; words]);
        let mut has_grown = false;
        for (word, more) in set.iter_mut().zip(more) {
            has_grown |= more & !*word != 0;
            *word |= more;
        }
        if has_grown {
            self.grown.push(place);
        }
    }
}

/// By place: the rules whose bodies have a variable there.
fn users(rules: &[Rule]) -> FxHashMap<Place, Vec<usize>> {
    let mut users: FxHashMap<Place, Vec<usize>> = FxHashMap::default();
    for (number, rule) in rules.iter().enumerate() {
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                for (place, _) in variables(atom) {
                    users.entry(place).or_default().push(number);
                }
            }
        }
    }
    users
}

/// The places of an atom that hold variables.
fn variables(atom: &Atom) -> Vec<(Place, Variable)> {
    let columns = atom.arguments.iter().enumerate();
    let mut open: Vec<(Place, &Term)> = columns
        .map(|(column, term)| (Place::Column(atom.relation, column), term))
        .collect();
    let mut found = Vec::new();
    while let Some((place, term)) = open.pop() {
        match term {
            Term::Ground(_) => {}
            Term::Apply(functor, arguments) => {
                let arguments = arguments.iter().enumerate();
                open.extend(arguments.map(|(k, term)| (Place::Argument(*functor, k), term)));
            }
            Term::Variable(variable) => found.push((place, *variable)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_of_variables_are_intersections() {
        let rules = "
            (role robot)
            (init (at a 1)) (after 1 2) (after 2 3) (far b) (far c)
            (<= (legal robot (go ?x)) (far ?x))
            (<= (next (at ?x ?m)) (does robot (go ?x)) (true (at ?y ?n)) (after ?n ?m))
            (<= terminal (true (at ?x 3)))
            (goal robot 100)";
        let game = Game::from_text("walk", rules).unwrap();
        let domains = Domains::of(&game).unwrap();
        let names = |functors: Vec<FunctorId>| {
            let names = functors.iter().map(|f| game.functors().functor(*f).name);
            let names: Vec<&str> = names.map(|name| game.symbols().name(name)).collect();
            names.join(" ")
        };
        let holds = domains.column(game.keyword(Keyword::True).unwrap(), 0);
        assert_eq!(names(holds.clone()), "at");
        assert_eq!(names(domains.argument(holds[0], 0)), "a b c");
        assert_eq!(names(domains.argument(holds[0], 1)), "1 2 3");
    }
}
