//! Fluents: facts that assign a value to each key. Finds keys that get a second value, and
//! keys that lose their only value, where the rules probably do not intend it.

mod rules;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tally::{Example, Path};
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, Evaluator, Layer, Query};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::{FunctorId, RelationId};
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
    /// The rules that keep values leave it out by `distinct`, and no other rule gives it one.
    LeftOut(Vec<Move>),
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
    /// Whether rules ask whether a key has no value.
    may_be_none: bool,
    /// The queries for the keys that rules say something about with given moves, and for those that get a
    /// value, if all rules name moves.
    keys_queries: Vec<(RelationId, Query)>,
    lost: Option<Example<(TermId, Loss)>>,
    left_out: Option<Example<(TermId, Loss)>>,
    /// For a move without its unused arguments: the values of these arguments.
    values_by_move: FxHashMap<(FunctorId, Vec<TermId>), Vec<TermId>>,
    is_ignored: bool,
    ignored: Option<Example<(TermId, Loss)>>,
}

impl Fluent {
    /// The facts of one functor in the initial state, if they form a fluent.
    pub(super) fn new(game: &Game, facts: &[TermId], terms: &Terms) -> Option<Fluent> {
        let functor = terms.functor(*facts.first()?);
        let mut found = values_of(facts, terms);
        if found.is_empty() {
            found.extend(value_of_roles(game, facts, terms));
        }
        let confirmed: Vec<usize> = (found.iter().copied())
            .filter(|&value| {
                rules::clears(game, functor, value) && rules::asks_for_none(game, functor, value)
            })
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
            may_be_none: rules::asks_for_none(game, functor, value),
            is_likely: rules::clears(game, functor, value) || rules::leads_on(game, functor, value),
            is_open: false,
            is_mixed: (facts.iter()).any(|fact| names.contains(&terms.arguments(*fact)[value])),
            keys,
            names,
            is_replaced: false,
            doubling: FxHashSet::default(),
            is_again: false,
            both: None,
            keys_queries: Vec::new(),
            lost: None,
            left_out: None,
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
        let left_out = self.left_out.as_ref();
        let left_out = left_out.filter(|_| self.is_replaced && !self.may_be_none);
        self.lost.as_ref().or(ignored).or(left_out)
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
            for is_strict in [false, true] {
                let (functor, value) = (fluents.functor, fluents.value);
                let Some(handled) = rules::handled(game, functor, value, is_strict) else {
                    continue;
                };
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
                all[number].keys_queries.push((relation, ask));
            }
            (evaluator, terms)
        });
        Fluents {
            game: game.clone(),
            all,
            unused: rules::unused(game),
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
        let fluents = &self.all[number];
        let is_shorter_loss = is_shorter(fluents.lost.as_ref(), step.length + 1);
        let is_shorter_left_out = is_shorter(fluents.left_out.as_ref(), step.length + 1);
        let handled = if is_shorter_loss || is_shorter_left_out {
            self.is_handled(number, key, step)
        } else {
            None
        };
        let fluents = &mut self.all[number];
        let joint = step.joint.to_vec();
        let example = match handled {
            Some([false, _]) if is_shorter_loss => {
                Some((&mut fluents.lost, Loss::Unhandled(joint)))
            }
            Some([true, false]) if is_shorter_left_out => {
                Some((&mut fluents.left_out, Loss::LeftOut(joint)))
            }
            _ => None,
        };
        if let Some((example, loss)) = example {
            *example = Some(Example {
                what: (fact, loss),
                path: path().into(),
            });
        }
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

    /// Returns whether some rule says what happens to a key with these moves, and whether one gives it a
    /// value, if that is known.
    fn is_handled(
        &mut self,
        number: usize,
        key: &[TermId],
        step: &Transition<'_>,
    ) -> Option<[bool; 2]> {
        let &[handled, given] = &self.all[number].keys_queries[..] else {
            return None;
        };
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
        let mut holds = |(relation, query)| {
            evaluator.ask(query, terms).ok()?;
            Some(evaluator.position(relation, key).is_some())
        };
        Some([holds(handled)?, holds(given)?])
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

/// The argument that has a value for each role, if the other one names each role once.
fn value_of_roles(game: &Game, facts: &[TermId], terms: &Terms) -> Option<usize> {
    if facts.len() != game.role_count() || facts.len() < 2 || terms.arguments(facts[0]).len() != 2 {
        return None;
    }
    let roles: FxHashSet<TermId> = game.roles().map(|role| game.role_term(role)).collect();
    let names_roles = |argument: usize| {
        let names = facts.iter().map(|fact| terms.arguments(*fact)[argument]);
        names.collect::<FxHashSet<TermId>>() == roles
    };
    match [0, 1].map(names_roles) {
        [true, false] => Some(1),
        [false, true] => Some(0),
        _ => None,
    }
}
