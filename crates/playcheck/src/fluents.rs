//! Fluents: facts that assign a value to each key. Finds keys that get a second value, and
//! keys that lose their only value, where the rules probably do not intend it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::coverage::moving;
use super::tally::{Example, Path};
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, Evaluator, Layer, Query};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::{Atom, FunctorId, Literal, RelationId, Rule, Term, Variable};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};

/// Minimum number of keys for which an initial state with exactly one value each is
/// believed to be intended. With fewer keys, the rules must confirm it.
const ENOUGH_KEYS: usize = 3;
/// Maximum number of lost values for which the rules are queried.
const MAX_QUERIES: usize = 2_000;

/// The reason why a key lost its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Loss {
    /// No rule says what happens to the key with these moves.
    Unhandled(Vec<Move>),
    /// Nothing depends on this argument of the move, counted from 0, and no key ever gets
    /// another value.
    UnusedArgument(Move, usize),
}

/// The facts of one functor, read as an assignment: all arguments but one are the key, and
/// that one is the value.
#[derive(Debug)]
pub(super) struct Fluent {
    pub(super) functor: FunctorId,
    value: usize,
    /// Keys that have a value initially, and the constants in them.
    keys: FxHashSet<Vec<TermId>>,
    names: FxHashSet<TermId>,
    /// True if rules clear a key, and ask whether a key has no value.
    is_confirmed: bool,
    /// True if rules clear a key, or lead from one value to the next.
    is_likely: bool,
    /// True if keys were seen that had no value initially.
    is_open: bool,
    /// True if values were seen that also occur in keys.
    is_mixed: bool,
    /// True if a key was seen to exchange its value for another.
    is_replaced: bool,
    /// Moves with which a key got a second value, and whether one of them was repeated.
    doubling: FxHashSet<Vec<Move>>,
    is_again: bool,
    /// Two values of one key.
    both: Option<Example<[TermId; 2]>>,
    /// The query for the keys that have a value with given moves, if all rules name moves.
    keys_query: Option<(RelationId, Query)>,
    lost: Option<Example<(TermId, Loss)>>,
    /// For a move without its unused arguments: the values of these arguments.
    values_by_move: FxHashMap<(FunctorId, Vec<TermId>), Vec<TermId>>,
    is_ignored: bool,
    ignored: Option<Example<(TermId, Loss)>>,
}

impl Fluent {
    /// The facts of one functor in the initial state, if they form a fluent.
    pub(super) fn new(game: &Game, facts: &[TermId], terms: &Terms) -> Option<Fluent> {
        let functor = terms.functor(*facts.first()?);
        let found = values_of(facts, terms);
        let confirmed: Vec<usize> = (found.iter().copied())
            .filter(|&value| clears(game, functor, value) && asks_for_none(game, functor, value))
            .collect();
        let value = match (&found[..], &confirmed[..]) {
            (_, [value]) | ([value], _) => *value,
            _ => return None,
        };
        let keys: FxHashSet<_> = facts.iter().map(|fact| key(*fact, value, terms)).collect();
        let names: FxHashSet<TermId> = keys.iter().flatten().copied().collect();
        Some(Fluent {
            functor,
            value,
            is_confirmed: confirmed.contains(&value),
            is_likely: clears(game, functor, value) || leads_on(game, functor, value),
            is_open: false,
            is_mixed: (facts.iter()).any(|fact| names.contains(&terms.arguments(*fact)[value])),
            keys,
            names,
            is_replaced: false,
            doubling: FxHashSet::default(),
            is_again: false,
            both: None,
            keys_query: None,
            lost: None,
            values_by_move: FxHashMap::default(),
            is_ignored: false,
            ignored: None,
        })
    }

    /// Visits a position that `length` moves lead to.
    pub(super) fn visit(
        &mut self,
        facts: &[TermId],
        terms: &Terms,
        length: usize,
        path: &dyn Fn() -> Path,
    ) {
        if self.is_done() {
            return;
        }
        let is_shorter = is_shorter(self.both.as_ref(), length);
        let mut known: FxHashMap<Vec<TermId>, TermId> = FxHashMap::default();
        let mut both = None;
        for &fact in facts.iter().filter(|f| terms.functor(**f) == self.functor) {
            let key = key(fact, self.value, terms);
            self.is_open |= !self.keys.contains(&key);
            self.is_mixed |= self.names.contains(&terms.arguments(fact)[self.value]);
            if let Some(other) = known.insert(key, fact) {
                both.get_or_insert([other, fact]);
            }
        }
        let is_whole = self.is_confirmed
            || self.keys.len() >= ENOUGH_KEYS
            || self.keys.iter().all(|key| known.contains_key(key));
        if let Some(what) = both.filter(|_| is_shorter && is_whole) {
            self.both = Some(Example {
                what,
                path: path().into(),
            });
        }
    }

    /// Returns whether nothing more can be learned.
    fn is_done(&self) -> bool {
        self.is_open && !self.is_confirmed
    }

    /// Two facts for one key that held at once.
    pub(super) fn both(&self) -> Option<&Example<[TermId; 2]>> {
        let is_seen = self.is_likely || self.is_replaced || self.is_again;
        let is_believed = self.keys.len() >= ENOUGH_KEYS || !self.is_mixed && is_seen;
        let is_reported = self.is_confirmed || !self.is_open && is_believed;
        self.both.as_ref().filter(|_| is_reported)
    }

    /// A key that lost its only value.
    pub(super) fn lost(&self) -> Option<&Example<(TermId, Loss)>> {
        if self.is_open || self.both.is_some() {
            return None;
        }
        let ignored = self.ignored.as_ref();
        let ignored = ignored.filter(|_| self.is_ignored && !self.is_replaced);
        self.lost.as_ref().or(ignored)
    }
}

/// A transition from a position to the next one.
pub(super) struct Transition<'a> {
    pub(super) facts: &'a FxHashSet<TermId>,
    pub(super) after: &'a FxHashSet<TermId>,
    pub(super) joint: &'a [Move],
    /// True if nothing changes apart from counters and turns.
    pub(super) is_idle: bool,
    /// True if the match is over after it; a loss does not matter then.
    pub(super) is_last: bool,
    /// Number of moves before it, and the path.
    pub(super) length: usize,
    pub(super) path: &'a dyn Fn() -> Path,
}

/// All fluents of a game, and the knowledge about their rules.
pub(super) struct Fluents {
    game: Game,
    pub(super) all: Vec<Fluent>,
    /// For each functor of moves: the arguments that nothing depends on.
    unused: FxHashMap<FunctorId, Vec<usize>>,
    evaluator: Option<(Evaluator, Terms)>,
    keys_query: usize,
}

impl Fluents {
    pub(super) fn new(game: &Game, mut all: Vec<Fluent>, terms: &Terms, bounds: Bounds) -> Self {
        let mut rules = game.rules().clone();
        let mut queries = Vec::new();
        let mut asking = Vec::new();
        for (number, fluents) in all.iter().enumerate() {
            if let Some(handled) = handled(game, fluents.functor, fluents.value) {
                let columns = fluents.keys.iter().next().map_or(0, Vec::len);
                let relation = rules.add_relation(columns);
                rules.rules.extend(handled.into_iter().map(|mut rule| {
                    rule.head.relation = relation;
                    rule
                }));
                queries.push((1, vec![relation]));
                asking.push((number, relation));
            }
        }
        let mut terms = terms.clone();
        let inputs = [
            (Keyword::True, Layer::First),
            (Keyword::Does, Layer::Second),
        ];
        let inputs = inputs.map(|(keyword, layer)| Some((game.keyword(keyword)?, layer)));
        let inputs: Vec<_> = inputs.into_iter().flatten().collect();
        let made = (!asking.is_empty())
            .then(|| Evaluator::new(rules, &inputs, &queries, &mut terms, bounds).ok())
            .flatten();
        let evaluator = made.map(|(evaluator, asks)| {
            for ((number, relation), ask) in asking.into_iter().zip(asks) {
                all[number].keys_query = Some((relation, ask));
            }
            (evaluator, terms)
        });
        Fluents {
            game: game.clone(),
            all,
            unused: unused(game),
            evaluator,
            keys_query: 0,
        }
    }

    /// Returns whether some keys may still be seen to lose their value.
    pub(super) fn is_watching(&self) -> bool {
        self.all.iter().any(|fluents| !fluents.is_open)
    }

    /// Visits a transition.
    pub(super) fn step(&mut self, step: &Transition<'_>, terms: &Terms) {
        for number in 0..self.all.len() {
            let fluents = &mut self.all[number];
            if fluents.is_open {
                continue;
            }
            if step.is_idle {
                fluents.is_again |= fluents.doubling.contains(step.joint);
                continue;
            }
            let of = |facts: &FxHashSet<TermId>| -> FxHashMap<Vec<TermId>, Vec<TermId>> {
                let mut found: FxHashMap<_, Vec<TermId>> = FxHashMap::default();
                for fact in facts
                    .iter()
                    .filter(|f| terms.functor(**f) == fluents.functor)
                {
                    let key = key(*fact, fluents.value, terms);
                    found.entry(key).or_default().push(*fact);
                }
                found
            };
            let (before, after) = (of(step.facts), of(step.after));
            let is_whole = (fluents.keys.iter())
                .all(|key| before.get(key).is_some_and(|facts| facts.len() == 1));
            let mut lost = Vec::new();
            for (key, facts) in &before {
                match after.get(key).map_or(&[][..], |facts| &facts[..]) {
                    [] if is_whole && !step.is_last => lost.push((key, facts[0])),
                    [one] => fluents.is_replaced |= facts[..] != [*one],
                    [_, _, ..] if facts.len() == 1 => {
                        fluents.doubling.insert(step.joint.to_vec());
                    }
                    _ => {}
                }
            }
            lost.sort_unstable();
            for (key, fact) in lost {
                self.lose(number, key, fact, step, terms);
            }
        }
    }

    /// Records that a key lost its only value.
    fn lose(
        &mut self,
        number: usize,
        key: &[TermId],
        fact: TermId,
        step: &Transition<'_>,
        terms: &Terms,
    ) {
        let path = || {
            let mut path = (step.path)();
            path.push(step.joint.to_vec());
            path
        };
        if is_shorter(self.all[number].lost.as_ref(), step.length + 1)
            && self.is_handled(number, key, step) == Some(false)
        {
            let what = (fact, Loss::Unhandled(step.joint.to_vec()));
            self.all[number].lost = Some(Example {
                what,
                path: path().into(),
            });
        }
        let fluents = &mut self.all[number];
        for chosen in step.joint {
            let functor = terms.functor(chosen.term());
            let Some(unused) = self.unused.get(&functor) else {
                continue;
            };
            let arguments = terms.arguments(chosen.term());
            let (without, with): (Vec<usize>, Vec<usize>) =
                (0..arguments.len()).partition(|argument| unused.contains(argument));
            let [without, with] = [without, with].map(|columns| -> Vec<TermId> {
                columns
                    .into_iter()
                    .map(|column| arguments[column])
                    .collect()
            });
            if !key.iter().all(|name| with.contains(name)) {
                continue;
            }
            let known = fluents
                .values_by_move
                .entry((functor, with))
                .or_insert_with(|| without.clone());
            fluents.is_ignored |= *known != without;
            if is_shorter(fluents.ignored.as_ref(), step.length + 1) {
                let what = (fact, Loss::UnusedArgument(*chosen, unused[0]));
                fluents.ignored = Some(Example {
                    what,
                    path: path().into(),
                });
            }
        }
    }

    /// Returns whether some rule says what happens to a key with these moves, if that is known.
    fn is_handled(&mut self, number: usize, key: &[TermId], step: &Transition<'_>) -> Option<bool> {
        let (relation, query) = self.all[number].keys_query?;
        let (evaluator, terms) = self.evaluator.as_mut()?;
        self.keys_query += 1;
        if self.keys_query > MAX_QUERIES {
            return None;
        }
        terms.refresh();
        evaluator.begin(Layer::First);
        if let Some(state) = self.game.keyword(Keyword::True) {
            for fact in step.facts {
                evaluator.give(state, &[*fact]);
            }
        }
        evaluator.begin(Layer::Second);
        if let Some(does) = self.game.keyword(Keyword::Does) {
            for (role, chosen) in self.game.roles().zip(step.joint) {
                evaluator.give(does, &[self.game.role_term(role), chosen.term()]);
            }
        }
        evaluator.ask(query, terms).ok()?;
        Some(evaluator.position(relation, key).is_some())
    }
}

fn is_shorter<T>(known: Option<&Example<T>>, length: usize) -> bool {
    known.is_none_or(|known| length < known.path.len())
}

/// The arguments of a fact without the value.
fn key(fact: TermId, value: usize, terms: &Terms) -> Vec<TermId> {
    let mut key = terms.arguments(fact).to_vec();
    key.remove(value);
    key
}

/// The arguments that the other arguments determine and that have the same value for
/// several keys.
fn values_of(facts: &[TermId], terms: &Terms) -> Vec<usize> {
    let arity = terms.arguments(facts[0]).len();
    if facts.len() < 2 || arity < 2 {
        return Vec::new();
    }
    let found = (0..arity).filter(|&value| {
        let keys: FxHashSet<Vec<TermId>> =
            facts.iter().map(|fact| key(*fact, value, terms)).collect();
        let values: FxHashSet<TermId> = facts.iter().map(|f| terms.arguments(*f)[value]).collect();
        keys.len() == facts.len() && values.len() < facts.len()
    });
    found.collect()
}

/// The rules for facts of a functor, with the facts that they derive. Rules that could
/// derive any fact are excluded.
fn rules_for(game: &Game, functor: FunctorId) -> impl Iterator<Item = (&Rule, Vec<Term>)> {
    let next = game.keyword(Keyword::Next);
    let rules = (game.rules().rules.iter()).filter(move |rule| Some(rule.head.relation) == next);
    rules.filter_map(move |rule| {
        let fact = &rule.head.arguments[0];
        (fact.functor(game.terms()) == Some(functor)).then(|| (rule, fact.arguments(game.terms())))
    })
}

/// The arguments of a literal that says that a fact of a functor is true.
fn is_true(game: &Game, literal: &Literal, functor: FunctorId) -> Option<Vec<Term>> {
    let Literal::Positive(atom) = literal else {
        return None;
    };
    let is_true = game.keyword(Keyword::True) == Some(atom.relation);
    let fact = atom.arguments.first().filter(|_| is_true)?;
    (fact.functor(game.terms()) == Some(functor)).then(|| fact.arguments(game.terms()))
}

fn variables_of<'t>(terms: impl IntoIterator<Item = &'t Term>) -> FxHashSet<Variable> {
    let mut found = FxHashSet::default();
    for term in terms {
        term.for_each_variable(&mut |variable, _| {
            found.insert(variable);
        });
    }
    found
}

/// The variables of all arguments but one, and those of that one.
fn split(arguments: &[Term], value: usize) -> (FxHashSet<Variable>, FxHashSet<Variable>) {
    let others = arguments
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != value);
    (
        variables_of(others.map(|(_, term)| term)),
        variables_of([&arguments[value]]),
    )
}

/// Returns whether a rule keeps a key's value unless the moves meet a condition on the key that
/// does not involve its value.
fn clears(game: &Game, functor: FunctorId, value: usize) -> bool {
    let moving = moving(game);
    rules_for(game, functor).any(|(rule, given)| {
        let keeps = |literal| is_true(game, literal, functor).is_some_and(|kept| kept == given);
        let (of_key, of_value) = split(&given, value);
        rule.body.iter().any(keeps)
            && !of_value.is_empty()
            && rule.body.iter().any(|literal| match literal {
                Literal::Negative(atom) if moving[atom.relation.index()] => {
                    let has = variables_of(&atom.arguments);
                    !has.is_disjoint(&of_key) && has.is_disjoint(&of_value)
                }
                _ => false,
            })
    })
}

/// Returns whether a rule asks whether a key has no value at all.
fn asks_for_none(game: &Game, functor: FunctorId, value: usize) -> bool {
    let set = game.rules();
    let mut denied = vec![false; set.arity.len()];
    for literal in set.rules.iter().flat_map(|rule| &rule.body) {
        literal.for_each_atom(&mut |atom, is_denied| {
            denied[atom.relation.index()] |= is_denied;
        });
    }
    let mut rules = set.rules.iter();
    rules.any(|rule| {
        let [literal] = &rule.body[..] else {
            return false;
        };
        is_true(game, literal, functor).is_some_and(|read| {
            let (of_key, of_value) = split(&read, value);
            denied[rule.head.relation.index()]
                && !of_value.is_empty()
                && variables_of(&rule.head.arguments) == of_key
                && of_key.is_disjoint(&of_value)
        })
    })
}

/// Returns whether a rule leads from the value of a key to its successor, by facts that give each
/// value at most one successor and one predecessor.
fn leads_on(game: &Game, functor: FunctorId, value: usize) -> bool {
    let set = game.rules();
    let is_chain = |relation: RelationId| {
        let facts = || set.facts.iter().filter(|fact| fact.relation == relation);
        let column = |at: usize| facts().map(move |fact| fact.arguments[at]);
        let [from, to] = [0, 1].map(|at| column(at).collect::<FxHashSet<_>>().len());
        set.rules.iter().all(|rule| rule.head.relation != relation)
            && from > 0
            && facts().count() == from
            && from == to
    };
    rules_for(game, functor).any(|(rule, given)| {
        let reads = rule
            .body
            .iter()
            .filter_map(|literal| is_true(game, literal, functor));
        let mut reads = reads.filter(|read| {
            let others = |arguments: &[Term]| {
                let mut key = arguments.to_vec();
                key.remove(value);
                key
            };
            others(read) == others(&given) && read[value] != given[value]
        });
        reads.any(|read| {
            rule.body.iter().any(|literal| match literal {
                Literal::Positive(atom) if atom.arguments.len() == 2 => {
                    let pair = [&read[value], &given[value]];
                    pair.iter().all(|term| atom.arguments.contains(term)) && is_chain(atom.relation)
                }
                _ => false,
            })
        })
    })
}

/// Rules for the keys that the moves made say something about, if all rules for them name
/// moves.
fn handled(game: &Game, functor: FunctorId, value: usize) -> Option<Vec<Rule>> {
    let next = game.keyword(Keyword::Next);
    let mut heads = game
        .rules()
        .rules
        .iter()
        .filter(|rule| Some(rule.head.relation) == next);
    let is_any = |rule: &Rule| matches!(rule.head.arguments[0], Term::Variable(_));
    if heads.any(is_any) {
        return None;
    }
    let moving = moving(game);
    let names_move = |literal: &&Literal| matches!(literal, Literal::Positive(atom) if moving[atom.relation.index()]);
    let rules = rules_for(game, functor).map(|(rule, mut given)| {
        given.remove(value);
        let mut body: Vec<Literal> = rule.body.iter().filter(names_move).cloned().collect();
        if body.is_empty() {
            return None;
        }
        let needed = variables_of(&given);
        let mut bound = FxHashSet::default();
        for literal in &body {
            literal.for_each_variable(&mut |variable| {
                bound.insert(variable);
            });
        }
        // Other literals about the key, with a value that it has.
        for literal in &rule.body {
            if needed.is_subset(&bound) {
                break;
            }
            if let Some(read) = is_true(game, literal, functor) {
                bound.extend(variables_of(&read));
                body.push(literal.clone());
            }
        }
        // Other literals about the key, with any value.
        for literal in &rule.body {
            if needed.is_subset(&bound) {
                break;
            }
            if let Literal::Positive(atom) = literal
                && !moving[atom.relation.index()]
            {
                bound.extend(variables_of(&atom.arguments));
                body.push(literal.clone());
            }
        }
        let head = Atom {
            relation: rule.head.relation,
            arguments: given,
            span: Span::default(),
        };
        needed.is_subset(&bound).then(|| Rule {
            head,
            body,
            ..rule.clone()
        })
    });
    let rules: Option<Vec<Rule>> = rules.collect();
    rules.filter(|rules| !rules.is_empty())
}

/// For each functor of moves: the arguments that nothing depends on.
fn unused(game: &Game) -> FxHashMap<FunctorId, Vec<usize>> {
    let mut used: FxHashMap<FunctorId, Vec<bool>> = FxHashMap::default();
    let does = game.keyword(Keyword::Does);
    for rule in &game.rules().rules {
        let mut counts = vec![0usize; rule.variables.len()];
        let mut count = |variable: Variable| counts[variable.index()] += 1;
        rule.head.for_each_variable(|variable, _| count(variable));
        for literal in &rule.body {
            literal.for_each_variable(&mut |variable| count(variable));
        }
        let mut atoms = Vec::new();
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| atoms.push(atom));
        }
        for atom in atoms.into_iter().filter(|atom| Some(atom.relation) == does) {
            let made = &atom.arguments[1];
            let Some(functor) = made.functor(game.terms()) else {
                match made {
                    Term::Variable(variable) if counts[variable.index()] == 1 => continue,
                    // A rule that uses a move as a whole.
                    _ => return FxHashMap::default(),
                }
            };
            let arguments = made.arguments(game.terms());
            let used = used
                .entry(functor)
                .or_insert_with(|| vec![false; arguments.len()]);
            for (used, argument) in used.iter_mut().zip(&arguments) {
                *used |= match argument {
                    Term::Variable(variable) => counts[variable.index()] > 1,
                    _ => true,
                };
            }
        }
    }
    let unused = used.into_iter().map(|(functor, used)| {
        let fluents = (0..used.len()).filter(|&argument| !used[argument]);
        (functor, fluents.collect::<Vec<usize>>())
    });
    unused.filter(|(_, unused)| !unused.is_empty()).collect()
}
