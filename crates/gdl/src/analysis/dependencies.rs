//! Dependencies of relations on facts of the state, by functor, and on moves.
//!
//! In: a game. Out: what rules and relations read, and which rules read given facts.
//! Direct and indirect dependencies count, negated or not. Each question takes time in
//! proportion to the rules that it meets; nothing is stored for pairs of relations.

use std::collections::BTreeSet;

use ggp_stop::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::Keyword;
use crate::game::Game;
use crate::program::reach;
use crate::program::strata::for_each_body_atom;
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

/// Something that a rule can read.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Read {
    /// The rows of a relation.
    Relation(RelationId),
    /// The facts of the state with a functor.
    Facts(FunctorId),
    /// All facts of the state.
    AllFacts,
}

/// The dependencies of all relations of a game.
pub(super) struct Dependencies<'g> {
    game: &'g Game,
    truth: Option<RelationId>,
    does: Option<RelationId>,
    /// By relation: its rules.
    rules_of: Vec<Vec<usize>>,
    /// By relation: true if it depends neither on the state nor on moves.
    is_fixed: Vec<bool>,
    /// All functors that facts of a state can have.
    facts: BTreeSet<FunctorId>,
}

impl<'g> Dependencies<'g> {
    pub(super) fn new(game: &'g Game) -> Self {
        let rules = game.rules();
        let mut rules_of = vec![Vec::new(); rules.arity.len()];
        for (number, rule) in rules.rules.iter().enumerate() {
            rules_of[rule.head.relation.index()].push(number);
        }
        let (truth, does) = (game.keyword(Keyword::True), game.keyword(Keyword::Does));
        let moving = reach::dependents(rules, truth.into_iter().chain(does));
        Dependencies {
            game,
            truth,
            does,
            rules_of,
            is_fixed: moving.iter().map(|moves| !moves).collect(),
            facts: fact_functors(game),
        }
    }

    /// All functors that facts of a state can have.
    pub(super) fn fact_functors(&self) -> &BTreeSet<FunctorId> {
        &self.facts
    }

    /// The rules of a relation.
    pub(super) fn rules_of(&self, relation: RelationId) -> impl Iterator<Item = &'g Rule> {
        let rules = self.rules_of[relation.index()].iter();
        rules.map(|&rule| &self.game.rules().rules[rule])
    }

    /// The dependencies of a relation; empty for `None`.
    pub(super) fn relation(&self, relation: Option<RelationId>) -> Reads {
        self.closure(relation.map(Read::Relation).into_iter().collect())
    }

    /// The dependencies of the body of a rule. `terms` must know its terms.
    pub(super) fn rule(&self, terms: &Terms, rule: &Rule) -> Reads {
        let mut open = Vec::new();
        for_each_body_atom(rule, |atom, _| open.push(self.read(terms, atom)));
        self.closure(open)
    }

    /// True if the truth of the body depends neither on the state nor on moves.
    pub(super) fn is_fixed(&self, rule: &Rule) -> bool {
        let mut is_fixed = true;
        for_each_body_atom(rule, |atom, _| {
            is_fixed &= self.is_fixed[atom.relation.index()];
        });
        is_fixed
    }

    /// The rows or facts that an atom of a body reads.
    fn read(&self, terms: &Terms, atom: &Atom) -> Read {
        if Some(atom.relation) != self.truth {
            return Read::Relation(atom.relation);
        }
        match atom.arguments[0].functor(terms) {
            Some(functor) => Read::Facts(functor),
            None => Read::AllFacts,
        }
    }

    /// Everything that is read through relations.
    fn closure(&self, mut open: Vec<Read>) -> Reads {
        let mut reads = Reads::default();
        let mut seen = FxHashSet::default();
        while let Some(read) = open.pop() {
            match read {
                Read::Facts(functor) => {
                    reads.facts.insert(functor);
                }
                Read::AllFacts if seen.insert(read) => reads.facts.extend(&self.facts),
                Read::Relation(relation) if Some(relation) == self.does => reads.moves = true,
                Read::Relation(relation)
                    if !self.is_fixed[relation.index()] && seen.insert(read) =>
                {
                    for rule in self.rules_of(relation) {
                        for_each_body_atom(rule, |atom, _| {
                            open.push(self.read(self.game.terms(), atom));
                        });
                    }
                }
                Read::AllFacts | Read::Relation(_) => {}
            }
        }
        reads
    }

    /// The functors that a fact matching the term can have: all of them for a
    /// variable.
    pub(super) fn functors_of(&self, terms: &Terms, term: &Term) -> Vec<FunctorId> {
        match term.functor(terms) {
            Some(functor) => vec![functor],
            None => self.facts.iter().copied().collect(),
        }
    }

    /// Groups of these functors such that no rule of `own`, through relations, links
    /// facts of two groups. They are in the order of their first functors.
    pub(super) fn groups(
        &self,
        functors: &BTreeSet<FunctorId>,
        own: &[Rule],
    ) -> Vec<BTreeSet<FunctorId>> {
        let game = self.game;
        let mut links = Links::default();
        let mut seen = FxHashSet::default();
        let mut open = Vec::new();
        for rule in own {
            let Some(&head) = self
                .functors_of(game.terms(), &rule.head.arguments[0])
                .first()
            else {
                continue;
            };
            for functor in self.functors_of(game.terms(), &rule.head.arguments[0]) {
                links.join(Read::Facts(head), Read::Facts(functor));
            }
            let read = |links: &mut Links, rule: &Rule, by: Read, open: &mut Vec<RelationId>| {
                for_each_body_atom(rule, |atom, _| match self.read(game.terms(), atom) {
                    Read::AllFacts => {
                        for functor in &self.facts {
                            links.join(by, Read::Facts(*functor));
                        }
                    }
                    Read::Facts(functor) => links.join(by, Read::Facts(functor)),
                    Read::Relation(relation) if self.is_fixed[relation.index()] => {}
                    Read::Relation(relation) => {
                        links.join(by, Read::Relation(relation));
                        open.push(relation);
                    }
                });
            };
            read(&mut links, rule, Read::Facts(head), &mut open);
            while let Some(relation) = open.pop() {
                if seen.insert(relation) {
                    for rule in self.rules_of(relation) {
                        read(&mut links, rule, Read::Relation(relation), &mut open);
                    }
                }
            }
        }
        let mut groups: FxHashMap<Read, BTreeSet<FunctorId>> = FxHashMap::default();
        for functor in functors {
            let group = links.find(Read::Facts(*functor));
            groups.entry(group).or_default().insert(*functor);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|group| group.first().copied());
        groups
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

/// Sets of reads that grow together (union-find).
#[derive(Default)]
struct Links(FxHashMap<Read, Read>);

impl Links {
    fn join(&mut self, one: Read, other: Read) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.0.insert(one, other);
        }
    }

    fn find(&mut self, read: Read) -> Read {
        let mut root = read;
        while let Some(next) = self.0.get(&root) {
            root = *next;
        }
        let mut at = read;
        while at != root {
            at = self.0.insert(at, root).expect("only roots have no parent");
        }
        root
    }
}

/// The rules that use given facts and relations.
pub(super) struct Uses<'r> {
    rules: Vec<&'r Rule>,
    /// The numbers of the rules whose bodies have each of these.
    of: FxHashMap<Read, Vec<usize>>,
}

impl<'r> Uses<'r> {
    /// The uses in these rules, which know only terms of the game.
    pub(super) fn new(
        dependencies: &Dependencies<'_>,
        rules: impl IntoIterator<Item = &'r Rule>,
    ) -> Self {
        let rules: Vec<&Rule> = rules.into_iter().collect();
        let mut of: FxHashMap<Read, Vec<usize>> = FxHashMap::default();
        for (number, rule) in rules.iter().enumerate() {
            for_each_body_atom(rule, |atom, _| {
                let read = dependencies.read(dependencies.game.terms(), atom);
                of.entry(read).or_default().push(number);
            });
        }
        Uses { rules, of }
    }

    /// Visits each rule that reads one of these, directly or through relations. What
    /// `visit` adds to its list counts as one of them, too.
    pub(super) fn for_each(
        &self,
        from: impl IntoIterator<Item = Read>,
        mut visit: impl FnMut(&Rule, &mut Vec<Read>),
    ) {
        let mut open: Vec<Read> = from.into_iter().collect();
        let mut seen = FxHashSet::default();
        let mut visited = FxHashSet::default();
        while let Some(read) = open.pop() {
            if !seen.insert(read) {
                continue;
            }
            if let Read::Facts(_) = read {
                open.push(Read::AllFacts);
            }
            for &number in self.of.get(&read).into_iter().flatten() {
                if visited.insert(number) {
                    let rule = self.rules[number];
                    open.push(Read::Relation(rule.head.relation));
                    visit(rule, &mut open);
                }
            }
        }
    }
}

/// The functors of facts on which no legal move, no goal and not the end of the game
/// depends, directly or through later facts.
pub fn unread(game: &Game) -> Vec<FunctorId> {
    let dependencies = Dependencies::new(game);
    let rules = &game.rules().rules;
    let next = game.keyword(Keyword::Next);
    // By functor: the rules for its next facts.
    let mut makers: FxHashMap<FunctorId, Vec<usize>> = FxHashMap::default();
    let mut makers_of_all = Vec::new();
    for &rule in next
        .iter()
        .flat_map(|next| &dependencies.rules_of[next.index()])
    {
        match rules[rule].head.arguments[0].functor(game.terms()) {
            Some(functor) => makers.entry(functor).or_default().push(rule),
            None => makers_of_all.push(rule),
        }
    }
    let wanted = [Keyword::Legal, Keyword::Goal, Keyword::Terminal];
    let wanted = wanted
        .into_iter()
        .filter_map(|keyword| game.keyword(keyword));
    let mut open: Vec<Read> = wanted.map(Read::Relation).collect();
    let mut seen = FxHashSet::default();
    while let Some(read) = open.pop() {
        if !seen.insert(read) {
            continue;
        }
        let makers = match read {
            Read::Facts(functor) => {
                for &rule in std::mem::take(&mut makers_of_all).iter() {
                    for_each_body_atom(&rules[rule], |atom, _| {
                        open.push(dependencies.read(game.terms(), atom));
                    });
                }
                makers.get(&functor).map_or(&[][..], |rules| rules)
            }
            Read::AllFacts => {
                open.extend(dependencies.facts.iter().map(|f| Read::Facts(*f)));
                &[]
            }
            Read::Relation(relation) => &dependencies.rules_of[relation.index()],
        };
        for &rule in makers {
            for_each_body_atom(&rules[rule], |atom, _| {
                open.push(dependencies.read(game.terms(), atom));
            });
        }
    }
    let facts = dependencies.facts.iter().copied();
    facts
        .filter(|functor| !seen.contains(&Read::Facts(*functor)))
        .collect()
}

/// The functors of facts that none of their own rules depends on: their facts in one
/// state have no influence on their facts in the next. The set is empty if `stop` is over
/// before all rules were examined.
pub fn unkept(game: &Game, stop: &Stop) -> BTreeSet<FunctorId> {
    let dependencies = Dependencies::new(game);
    let next = game.keyword(Keyword::Next);
    let mut unkept = dependencies.facts.clone();
    for rule in (game.rules().rules.iter()).filter(|rule| Some(rule.head.relation) == next) {
        if stop.is_over() {
            return BTreeSet::new();
        }
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
