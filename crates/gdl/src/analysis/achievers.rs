//! Achievers: the facts and rules that could make an atom hold.
//!
//! In: a [`Game`]. Out: for each atom, the facts and rules whose head can match it,
//! and whether any of them can ever apply. A rule with a condition that nothing
//! achieves achieves nothing. A fact of a state was true initially or derived by
//! `next`; a move made was legal. The result is an over-approximation: an atom
//! reported as never holding does not hold in any play from the initial state;
//! nothing is claimed about the other atoms.

use rustc_hash::FxHashMap;

use super::domains::{Domains, Place};
use crate::check::Keyword;
use crate::game::Game;
use crate::program::{Atom, FunctorId, Literal, RelationId, Shape, Term};
use crate::terms::Terms;

/// Maximum number of comparisons of a fact or head with an atom.
const MAX_COMPARED: u64 = 20_000_000;

/// Maximum number of names compared to find the most similar one.
const MAX_NAMES: usize = 10_000;

/// A fact or rule that could make an atom hold.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Achiever {
    /// A fact, as an index into the game's facts.
    Fact(usize),
    /// A rule, as an index into the game's rules.
    Rule(usize),
}

/// The achievers of all atoms of a game.
#[derive(Debug)]
pub struct Achievers {
    game: Game,
    /// Achievers by relation and, if known, the functor of the last argument.
    found: FxHashMap<(RelationId, Option<FunctorId>), Vec<Achiever>>,
    of_relation: FxHashMap<RelationId, Vec<Achiever>>,
    /// By rule: true if every condition of the rule can be achieved.
    is_live: Vec<bool>,
    domains: Option<Domains>,
}

impl Achievers {
    /// Computes the achievers of a game.
    pub fn new(game: &Game) -> Achievers {
        let mut achievers = Achievers {
            found: FxHashMap::default(),
            of_relation: FxHashMap::default(),
            is_live: vec![false; game.rules().rules.len()],
            domains: Domains::of(game),
            game: game.clone(),
        };
        let set = game.rules();
        for (number, fact) in set.facts.iter().enumerate() {
            let last = fact
                .arguments
                .last()
                .map(|term| game.terms().functor(*term));
            achievers.add(fact.relation, last, Achiever::Fact(number));
        }
        for (number, rule) in set.rules.iter().enumerate() {
            let last = rule.head.arguments.last();
            let last = last.and_then(|term| term.functor(game.terms()));
            achievers.add(rule.head.relation, last, Achiever::Rule(number));
        }
        let (mut grown, mut compared) = (true, 0);
        while std::mem::take(&mut grown) {
            for (number, rule) in set.rules.iter().enumerate() {
                if !achievers.is_live[number] && achievers.all_achievable(&rule.body, &mut compared)
                {
                    achievers.is_live[number] = true;
                    grown = true;
                }
            }
            if compared > MAX_COMPARED {
                achievers.is_live.fill(true);
            }
        }
        achievers
    }

    fn add(&mut self, relation: RelationId, last: Option<FunctorId>, achiever: Achiever) {
        self.found
            .entry((relation, last))
            .or_default()
            .push(achiever);
        self.of_relation.entry(relation).or_default().push(achiever);
    }

    fn all_achievable(&self, body: &[Literal], compared: &mut u64) -> bool {
        body.iter().all(|literal| match literal {
            Literal::Positive(atom) => self.is_achieved(atom, self.game.terms(), compared),
            Literal::Any(branches) => branches
                .iter()
                .any(|all| self.all_achievable(all, compared)),
            _ => true,
        })
    }

    fn is_achieved(&self, atom: &Atom, terms: &Terms, compared: &mut u64) -> bool {
        self.candidates(atom, terms).any(|achiever| {
            *compared += 1;
            self.is_live(achiever) && self.fits(achiever, atom, terms)
        })
    }

    fn is_live(&self, achiever: Achiever) -> bool {
        match achiever {
            Achiever::Fact(_) => true,
            Achiever::Rule(rule) => self.is_live[rule],
        }
    }

    /// The relations whose facts become facts of this one.
    fn sources(&self, relation: RelationId) -> [Option<RelationId>; 2] {
        let is = |keyword| self.game.keyword(keyword) == Some(relation);
        let from = |keyword| self.game.keyword(keyword);
        match () {
            () if is(Keyword::True) => [from(Keyword::Init), from(Keyword::Next)],
            () if is(Keyword::Does) => [from(Keyword::Legal), None],
            () => [Some(relation), None],
        }
    }

    /// The achievers whose last argument may match the atom's.
    fn candidates(&self, atom: &Atom, terms: &Terms) -> impl Iterator<Item = Achiever> {
        let last = atom.arguments.last().map(|term| term.functor(terms));
        let sources = self.sources(atom.relation).into_iter().flatten();
        let lists = sources.flat_map(move |source| match last {
            Some(Some(functor)) => [
                self.found.get(&(source, Some(functor))),
                self.found.get(&(source, None)),
            ],
            _ => [self.of_relation.get(&source), None],
        });
        lists.flatten().flatten().copied()
    }

    /// True if the head of an achiever may match an atom.
    fn fits(&self, achiever: Achiever, atom: &Atom, terms: &Terms) -> bool {
        let set = self.game.rules();
        match achiever {
            Achiever::Fact(fact) => (set.facts[fact].arguments.iter().zip(&atom.arguments))
                .all(|(given, term)| may_be(&Term::Ground(*given), term, terms)),
            Achiever::Rule(rule) => (set.rules[rule].head.arguments.iter().zip(&atom.arguments))
                .all(|(given, term)| may_be(given, term, terms)),
        }
    }

    /// All achievers of an atom, whether or not their own conditions can be achieved.
    /// `terms` must know the terms of the atom.
    pub fn of(&self, atom: &Atom, terms: &Terms) -> impl Iterator<Item = Achiever> {
        let candidates = self.candidates(atom, terms);
        candidates.filter(move |achiever| self.fits(*achiever, atom, terms))
    }

    /// True if no fact and no head of a rule matches an atom, so that it can never
    /// hold, whatever conditions the rules have.
    pub fn has_no_achiever(&self, atom: &Atom, terms: &Terms) -> bool {
        self.of(atom, terms).next().is_none()
            || self.is_achieved(atom, terms, &mut 0)
                && !self.foreign_constants(atom, terms).is_empty()
    }

    /// True if it is proved that an atom never holds.
    pub fn is_unachievable(&self, atom: &Atom, terms: &Terms) -> bool {
        !self.is_achieved(atom, terms, &mut 0) || !self.foreign_constants(atom, terms).is_empty()
    }

    /// True if it is proved that a literal never holds; see [`Achievers::is_unachievable`].
    pub fn never_holds(&self, literal: &Literal, terms: &Terms) -> bool {
        match literal {
            Literal::Positive(atom) => self.is_unachievable(atom, terms),
            Literal::Any(branches) => {
                let mut branches = branches.iter();
                branches.all(|all| all.iter().any(|one| self.never_holds(one, terms)))
            }
            _ => false,
        }
    }

    /// True if a fact or rule defines the relation.
    pub fn is_defined(&self, relation: RelationId) -> bool {
        let sources = self.sources(relation).into_iter().flatten();
        sources
            .into_iter()
            .any(|source| self.of_relation.contains_key(&source))
    }

    /// A name in the atom that never occurs in its place, and a similar name that
    /// does occur there.
    pub fn similar_name(&self, atom: &Atom, terms: &Terms) -> Option<(&str, &str)> {
        let name = |functor| {
            self.game
                .symbols()
                .name(self.game.functors().functor(functor).name)
        };
        if !self.has_no_achiever(atom, terms) {
            return None;
        }
        let found = self.foreign_constants(atom, terms);
        let mut found = found.into_iter().filter_map(|(foreign, known)| {
            let candidates = known.into_iter().map(|known| {
                let distance = strsim::damerau_levenshtein(name(foreign), name(known));
                (distance, name(known))
            });
            // The same name in another form is no other spelling.
            let (distance, nearest) = candidates.min().filter(|(distance, _)| *distance > 0)?;
            (3 * distance <= name(foreign).chars().count()).then(|| (name(foreign), nearest))
        });
        found.next()
    }

    /// The most similar name for the first name of a fact or move that nothing
    /// achieves, or for the name of an undefined relation.
    pub fn nearest(&self, atom: &Atom, terms: &Terms) -> Option<&str> {
        let name = |functor| {
            let functor = self.game.functors().functor(functor);
            self.game.symbols().name(functor.name)
        };
        let is_input = [Keyword::True, Keyword::Does]
            .iter()
            .any(|keyword| self.game.keyword(*keyword) == Some(atom.relation));
        let (own, known): (&str, Vec<&str>) = if is_input {
            let own = atom.arguments.last()?.functor(terms)?;
            let known = self.known_last(atom.relation, atom.arguments.len() - 1)?;
            match known.contains(&own) {
                true => return None,
                false => (name(own), known.into_iter().map(name).collect()),
            }
        } else if !self.is_defined(atom.relation) {
            let keywords = Keyword::ALL.iter().map(|keyword| keyword.as_str());
            let defined = self.of_relation.keys();
            let defined = defined.map(|relation| self.game.relation_name(*relation));
            let known = defined.take(MAX_NAMES).chain(keywords).collect();
            (self.game.relation_name(atom.relation), known)
        } else {
            return None;
        };
        let others = known.into_iter().filter(|known| *known != own);
        let candidates = others.map(|known| (strsim::damerau_levenshtein(own, known), known));
        let (distance, nearest) = candidates.min()?;
        (3 * distance <= own.chars().count()).then_some(nearest)
    }

    /// The keyword that probably should enclose atoms of this relation: its name and
    /// arity are those of facts of the state, or of moves.
    pub fn missing_keyword(&self, relation: RelationId) -> Option<Keyword> {
        let functor = self.game.relation_functor(relation);
        let inputs = [(Keyword::True, 0), (Keyword::Does, 1)];
        let mut found = inputs.into_iter().filter(|(keyword, column)| {
            let sources = match keyword {
                Keyword::True => [Some(Keyword::Init), Some(Keyword::Next)],
                _ => [Some(Keyword::Legal), None],
            };
            let relations = sources
                .into_iter()
                .flatten()
                .filter_map(|k| self.game.keyword(k));
            let Some(domains) = &self.domains else {
                return false;
            };
            relations
                .into_iter()
                .any(|source| domains.column(source, *column).contains(&functor))
        });
        found.next().map(|(keyword, _)| keyword)
    }

    /// The functors that occur in a column of the source relations of a relation.
    fn known_last(&self, relation: RelationId, column: usize) -> Option<Vec<FunctorId>> {
        let domains = self.domains.as_ref()?;
        let sources = self.sources(relation).into_iter().flatten();
        let known = sources.flat_map(|source| domains.column(source, column));
        Some(known.take(MAX_NAMES).collect())
    }

    /// The constants of an atom that never occur in their place, each with the
    /// functors that do.
    fn foreign_constants(&self, atom: &Atom, terms: &Terms) -> Vec<(FunctorId, Vec<FunctorId>)> {
        let mut found = Vec::new();
        let Some(domains) = &self.domains else {
            return found;
        };
        let mut open: Vec<(Term, Vec<Place>)> = Vec::new();
        for (column, term) in atom.arguments.iter().enumerate() {
            let sources = self.sources(atom.relation).into_iter().flatten();
            let places = sources.map(|source| Place::Column(source, column));
            open.push((term.clone(), places.collect()));
        }
        while let Some((term, places)) = open.pop() {
            let Some(functor) = term.functor(terms) else {
                continue;
            };
            let is_constant = self.game.functors().functor(functor).shape == Shape::Bare;
            if is_constant && !places.iter().any(|place| domains.has(*place, functor)) {
                let known = places.iter().flat_map(|place| domains.at(*place));
                found.push((functor, known.collect()));
            }
            for (place, argument) in term.arguments(terms).into_iter().enumerate() {
                open.push((argument, vec![Place::Argument(functor, place)]));
            }
        }
        found
    }

    /// True if a rule only keeps what was true before, such as `next ?f <- true ?f`.
    pub fn is_frame_rule(&self, rule: usize) -> bool {
        let rule = &self.game.rules().rules[rule];
        let truth = self.game.keyword(Keyword::True);
        self.game.keyword(Keyword::Next) == Some(rule.head.relation)
            && rule.body.iter().any(|literal| {
                matches!(literal, Literal::Positive(atom) if Some(atom.relation) == truth
                    && atom.arguments == rule.head.arguments)
            })
    }
}

/// True if two terms may be equal when each variable may be any term.
fn may_be(one: &Term, other: &Term, terms: &Terms) -> bool {
    match (one, other) {
        (Term::Variable(_), _) | (_, Term::Variable(_)) => true,
        (Term::Ground(one), Term::Ground(other)) => one == other,
        _ => {
            one.functor(terms) == other.functor(terms)
                && (one.arguments(terms).iter().zip(other.arguments(terms)))
                    .all(|(one, other)| may_be(one, &other, terms))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the literals of a game's rules that never hold, as written, each with
    /// the suggested name.
    fn check(rules: &str, expected: &[&str]) {
        let game = Game::from_text("test.kif", rules).unwrap();
        let achievers = Achievers::new(&game);
        let mut found = Vec::new();
        for rule in &game.rules().rules {
            for literal in &rule.body {
                literal.for_each_atom(&mut |atom, _| {
                    if achievers.is_unachievable(atom, game.terms()) {
                        let text = game.sources().text(atom.span);
                        found.push(match achievers.similar_name(atom, game.terms()) {
                            Some((given, similar_name)) => {
                                format!("{text}: {given}, {similar_name}")
                            }
                            None => text.to_owned(),
                        });
                    }
                });
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn unachievable_literals_are_found_with_suggestions() {
        let rules = "(role r) (init (at north)) (road north south)
            (<= (legal r (go ?y)) (true (at ?x)) (road ?x ?y))
            (<= (next (at ?y)) (does r (go ?y)))
            (goal r 0)";
        check(&format!("{rules} (<= terminal (true (at south)))"), &[]);
        check(
            &format!("{rules} (<= terminal (true (at soth)))"),
            &["(true (at soth)): soth, south"],
        );
        check(
            &format!(
                "{rules} (<= (next (at ?x)) (does r (stay)) (true (at ?x)))
                (<= terminal (true (at south))) (<= near (rode ?x ?y))"
            ),
            &["(does r (stay))", "(rode ?x ?y)"],
        );
        // A rule whose condition nothing achieves achieves nothing.
        check(
            &format!("{rules} (<= (next lost) (rode ?x ?y)) (<= terminal (true lost))"),
            &["(rode ?x ?y)", "(true lost)"],
        );
        check(
            &format!(
                "{rules} (<= (legal s fly) (wings)) (<= (next high) (does s fly))
                (<= terminal (true high)) (role s) (goal s 0)"
            ),
            &["(wings)", "(does s fly)", "(true high)"],
        );
        check(
            &format!("{rules} (<= terminal (or (true (at east)) (true (at south))))"),
            &["(true (at east))"],
        );
    }
}
