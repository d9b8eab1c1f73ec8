//! What holds in one situation, with indexes for exactly the questions asked.

use rustc_hash::FxHashMap;

use crate::datalog::Evaluator;
use crate::ground::{TermId, Terms};
use crate::program::{Atom, FunctorId, RelationId, Term};

/// The relations that one question depends on, complete.
#[derive(Debug)]
pub(super) struct Model {
    evaluator: Evaluator,
    relations: FxHashMap<RelationId, Rows>,
}

/// A place in a row: a column, and perhaps an argument of the term there.
type Place = (usize, Option<usize>);
/// What stands at a place: the functor there or around it, and the term.
type Key = (Option<FunctorId>, Option<TermId>);

#[derive(Debug, Default)]
struct Rows {
    list: Vec<Box<[TermId]>>,
    numbers: FxHashMap<Box<[TermId]>, u32>,
    indexes: FxHashMap<Place, FxHashMap<Key, Vec<u32>>>,
}

/// Values of a rule's variables, by their numbers.
pub(super) type Bindings = [Option<TermId>];

impl Model {
    /// The model of an evaluator that was asked for all that is needed.
    pub(super) fn new(evaluator: Evaluator) -> Self {
        Model {
            evaluator,
            relations: FxHashMap::default(),
        }
    }

    fn rows(&mut self, relation: RelationId) -> &mut Rows {
        let evaluator = &self.evaluator;
        self.relations.entry(relation).or_insert_with(|| {
            let list: Vec<Box<[TermId]>> = evaluator.rows(relation).map(Box::from).collect();
            let numbers = (0..).zip(&list).map(|(number, row)| (row.clone(), number));
            Rows {
                numbers: numbers.collect(),
                list,
                indexes: FxHashMap::default(),
            }
        })
    }

    /// Number of facts of a relation.
    pub(super) fn count(&mut self, relation: RelationId) -> usize {
        self.rows(relation).list.len()
    }

    /// A fact of a relation by its number.
    pub(super) fn fact(&mut self, relation: RelationId, number: u32) -> &[TermId] {
        &self.rows(relation).list[number as usize]
    }

    /// Whether a fact holds.
    pub(super) fn holds(&mut self, relation: RelationId, row: &[TermId]) -> bool {
        self.rows(relation).numbers.contains_key(row)
    }

    /// The numbers of facts among which all are that an atom matches.
    pub(super) fn candidates(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
        terms: &mut Terms,
    ) -> Candidates {
        let mut keys: Vec<(Place, Key)> = Vec::new();
        for (column, term) in atom.arguments.iter().enumerate() {
            match (value(term, bindings, terms), term) {
                (Value::Is(id), _) => keys.push(((column, None), (None, Some(id)))),
                (Value::Nothing, _) => return Candidates::Listed(Vec::new()),
                (Value::Open, Term::Apply(functor, arguments)) => {
                    let mut known = false;
                    for (place, argument) in arguments.iter().enumerate() {
                        match value(argument, bindings, terms) {
                            Value::Is(id) => {
                                let place = (column, Some(place));
                                keys.push((place, (Some(*functor), Some(id))));
                                known = true;
                            }
                            Value::Nothing => return Candidates::Listed(Vec::new()),
                            Value::Open => {}
                        }
                    }
                    if !known {
                        keys.push(((column, None), (Some(*functor), None)));
                    }
                }
                (Value::Open, _) => {}
            }
        }
        let rows = self.rows(atom.relation);
        let mut best: Option<(Place, Key)> = None;
        let mut fewest = rows.list.len();
        for (place, key) in keys {
            let count = rows.index(place, terms).get(&key).map_or(0, Vec::len);
            if best.is_none() || count < fewest {
                (best, fewest) = (Some((place, key)), count);
            }
        }
        match best {
            None => Candidates::All(rows.list.len() as u32),
            Some((place, key)) => {
                let found = rows.index(place, terms).get(&key);
                Candidates::Listed(found.cloned().unwrap_or_default())
            }
        }
    }
}

impl Rows {
    fn index(&mut self, place: Place, terms: &Terms) -> &FxHashMap<Key, Vec<u32>> {
        let list = &self.list;
        self.indexes.entry(place).or_insert_with(|| {
            let mut index: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
            let mut add = |key, number| index.entry(key).or_default().push(number);
            for (number, row) in (0..).zip(list) {
                let term = row[place.0];
                let functor = terms.functor(term);
                match place.1 {
                    None => {
                        add((None, Some(term)), number);
                        add((Some(functor), None), number);
                    }
                    Some(argument) => {
                        if let Some(&inner) = terms.arguments(term).get(argument) {
                            add((Some(functor), Some(inner)), number);
                        }
                    }
                }
            }
            index
        })
    }
}

/// Facts that an atom may match.
pub(super) enum Candidates {
    /// So many, from the first on.
    All(u32),
    /// These.
    Listed(Vec<u32>),
}

impl Candidates {
    /// How many.
    pub(super) fn len(&self) -> usize {
        match self {
            Candidates::All(count) => *count as usize,
            Candidates::Listed(list) => list.len(),
        }
    }

    /// The number at a position.
    pub(super) fn get(&self, position: usize) -> u32 {
        match self {
            Candidates::All(_) => position as u32,
            Candidates::Listed(list) => list[position],
        }
    }
}

/// What a term stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// This.
    Is(TermId),
    /// Its variables are not all bound.
    Open,
    /// A term past the limits of the table.
    Nothing,
}

/// What a term stands for under bindings.
pub(super) fn value(term: &Term, bindings: &Bindings, terms: &mut Terms) -> Value {
    match term {
        Term::Ground(id) => Value::Is(*id),
        Term::Variable(v) => bindings[v.index()].map_or(Value::Open, Value::Is),
        Term::Apply(functor, arguments) => {
            let mut ids = Vec::with_capacity(arguments.len());
            let mut outcome = Value::Nothing;
            for argument in arguments {
                match value(argument, bindings, terms) {
                    Value::Is(id) => ids.push(id),
                    Value::Open => outcome = Value::Open,
                    Value::Nothing => return Value::Nothing,
                }
            }
            match ids.len() == arguments.len() {
                true => terms
                    .intern(*functor, &ids)
                    .map_or(Value::Nothing, Value::Is),
                false => outcome,
            }
        }
    }
}

/// Makes a term equal to a value by binding variables, which are noted.
pub(super) fn bind(
    term: &Term,
    given: TermId,
    bindings: &mut Bindings,
    bound: &mut Vec<usize>,
    terms: &Terms,
) -> bool {
    match term {
        Term::Ground(id) => *id == given,
        Term::Variable(v) => match bindings[v.index()] {
            Some(known) => known == given,
            None => {
                bindings[v.index()] = Some(given);
                bound.push(v.index());
                true
            }
        },
        Term::Apply(functor, arguments) => {
            terms.functor(given) == *functor
                && arguments
                    .iter()
                    .zip(terms.arguments(given))
                    .all(|(term, given)| bind(term, *given, bindings, bound, terms))
        }
    }
}
