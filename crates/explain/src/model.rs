//! The model of one situation, with indexes for exactly the questions asked.

use rustc_hash::FxHashMap;

use super::ExplainError;
use super::on_demand::OnDemand;
use ggp_gdl::datalog::Evaluator;
use ggp_gdl::program::{Atom, FunctorId, RelationId, Term};
use ggp_gdl::terms::{TermId, Terms};

/// The model of everything a question depends on.
#[derive(Debug)]
pub(super) struct Model {
    evaluator: Evaluator,
    relations: FxHashMap<RelationId, Rows>,
    /// By relation: true if it is derived on demand only.
    is_on_demand: Vec<bool>,
    asked: OnDemand,
    /// Maximum number of rows visited for an answer.
    work: u64,
}

/// A place in a row: a column, and optionally an argument of the term there.
type Place = (usize, Option<usize>);
/// The contents of a place: the functor there or around it, and the term.
type Key = (Option<FunctorId>, Option<TermId>);

/// Rows of one relation.
#[derive(Debug, Default)]
pub(super) struct Rows {
    list: Vec<Box<[TermId]>>,
    numbers: FxHashMap<Box<[TermId]>, u32>,
    indexes: FxHashMap<Place, Index>,
}

#[derive(Debug, Default)]
struct Index {
    /// Number of rows in the index.
    upto: usize,
    found: FxHashMap<Key, Vec<u32>>,
}

/// Values of a rule's variables, by their numbers.
pub(super) type Bindings = [Option<TermId>];

impl Model {
    /// The model of an evaluator that has evaluated everything needed, and the
    /// answers derived on demand.
    pub(super) fn new(evaluator: Evaluator, is_on_demand: Vec<bool>, asked: OnDemand) -> Self {
        Model {
            evaluator,
            relations: FxHashMap::default(),
            is_on_demand,
            asked,
            work: u64::MAX,
        }
    }

    /// The answers for relations that are derived on demand.
    pub(super) fn into_on_demand(self) -> OnDemand {
        self.asked
    }

    /// Sets the number of rows that may be visited for one answer, after which the
    /// answer is unknown; returns the previous number. Without such a limit,
    /// exceeding the user's limit is an error.
    pub(super) fn set_work(&mut self, work: u64) -> u64 {
        std::mem::replace(&mut self.work, work)
    }

    fn rows(&mut self, relation: RelationId) -> &mut Rows {
        if self.is_on_demand[relation.index()] {
            return self.asked.rows(relation);
        }
        let evaluator = &self.evaluator;
        self.relations.entry(relation).or_insert_with(|| {
            let mut rows = Rows::default();
            evaluator.rows(relation).for_each(|row| rows.add(row));
            rows
        })
    }

    /// Number of known facts of a relation.
    pub(super) fn count(&mut self, relation: RelationId) -> usize {
        self.rows(relation).list.len()
    }

    /// A fact of a relation by its number.
    pub(super) fn fact(&mut self, relation: RelationId, number: u32) -> &[TermId] {
        &self.rows(relation).list[number as usize]
    }

    /// The truth of a fact; `None` if that is unknown.
    pub(super) fn holds(
        &mut self,
        relation: RelationId,
        row: &[TermId],
        terms: &mut Terms,
    ) -> Result<Option<bool>, ExplainError> {
        if self.is_on_demand[relation.index()] {
            let values: Vec<_> = row.iter().copied().map(Some).collect();
            if !self.asked.know(relation, &values, self.work, terms)? {
                return Ok(None);
            }
        }
        Ok(Some(self.rows(relation).numbers.contains_key(row)))
    }

    /// `Ok` if the facts that an atom matches are known without further derivations;
    /// otherwise the number of its columns that have values.
    pub(super) fn is_ready(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
        terms: &mut Terms,
    ) -> Result<(), usize> {
        if !self.is_on_demand[atom.relation.index()] {
            return Ok(());
        }
        match values(atom, bindings, terms) {
            Some(values) if !self.asked.is_known(atom.relation, &values) => {
                Err(values.iter().flatten().count())
            }
            _ => Ok(()),
        }
    }

    /// The numbers of facts that include all that an atom matches; `None` if they are
    /// unknown.
    pub(super) fn candidates(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
        terms: &mut Terms,
    ) -> Result<Option<Candidates>, ExplainError> {
        let Some(values) = values(atom, bindings, terms) else {
            return Ok(Some(Candidates::Listed(Vec::new())));
        };
        if self.is_on_demand[atom.relation.index()]
            && !self.asked.know(atom.relation, &values, self.work, terms)?
        {
            return Ok(None);
        }
        let mut keys: Vec<(Place, Key)> = Vec::new();
        for (column, (known, term)) in values.into_iter().zip(&atom.arguments).enumerate() {
            if let Some(id) = known {
                keys.push(((column, None), (None, Some(id))));
            } else if let Term::Apply(functor, arguments) = term {
                let before = keys.len();
                for (place, argument) in arguments.iter().enumerate() {
                    if let Value::Is(id) = value(argument, bindings, terms) {
                        keys.push(((column, Some(place)), (Some(*functor), Some(id))));
                    }
                }
                if keys.len() == before {
                    keys.push(((column, None), (Some(*functor), None)));
                }
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
        Ok(Some(match best {
            None => Candidates::All(rows.list.len() as u32),
            Some((place, key)) => {
                let found = rows.index(place, terms).get(&key);
                Candidates::Listed(found.cloned().unwrap_or_default())
            }
        }))
    }
}

/// The known values of an atom's columns; `None` if one cannot have any value.
fn values(atom: &Atom, bindings: &Bindings, terms: &mut Terms) -> Option<Vec<Option<TermId>>> {
    let values = atom
        .arguments
        .iter()
        .map(|term| match value(term, bindings, terms) {
            Value::Is(id) => Some(Some(id)),
            Value::Open => Some(None),
            Value::TooLarge => None,
        });
    values.collect()
}

impl Rows {
    /// Adds a row unless it exists.
    pub(super) fn add(&mut self, row: &[TermId]) {
        if !self.numbers.contains_key(row) {
            self.numbers.insert(row.into(), self.list.len() as u32);
            self.list.push(row.into());
        }
    }

    fn index(&mut self, place: Place, terms: &Terms) -> &FxHashMap<Key, Vec<u32>> {
        let index = self.indexes.entry(place).or_default();
        for number in index.upto..self.list.len() {
            let mut add = |key| index.found.entry(key).or_default().push(number as u32);
            let term = self.list[number][place.0];
            let functor = terms.functor(term);
            match place.1 {
                None => {
                    add((None, Some(term)));
                    add((Some(functor), None));
                }
                Some(argument) => {
                    if let Some(&inner) = terms.arguments(term).get(argument) {
                        add((Some(functor), Some(inner)));
                    }
                }
            }
        }
        index.upto = self.list.len();
        &index.found
    }
}

/// Facts that an atom may match.
pub(super) enum Candidates {
    /// The first *n* facts.
    All(u32),
    /// The listed facts.
    Listed(Vec<u32>),
}

impl Candidates {
    /// Number of candidates.
    pub(super) fn len(&self) -> usize {
        match self {
            Candidates::All(count) => *count as usize,
            Candidates::Listed(list) => list.len(),
        }
    }

    /// The number of the fact at a position.
    pub(super) fn get(&self, position: usize) -> u32 {
        match self {
            Candidates::All(_) => position as u32,
            Candidates::Listed(list) => list[position],
        }
    }
}

/// The value of a term under bindings.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A ground term.
    Is(TermId),
    /// Some of its variables are not bound.
    Open,
    /// The term exceeds the limits of the table.
    TooLarge,
}

/// The value of a term under bindings.
pub(super) fn value(term: &Term, bindings: &Bindings, terms: &mut Terms) -> Value {
    match term {
        Term::Ground(id) => Value::Is(*id),
        Term::Variable(v) => bindings[v.index()].map_or(Value::Open, Value::Is),
        Term::Apply(functor, arguments) => {
            let mut ids = Vec::with_capacity(arguments.len());
            let mut outcome = Value::TooLarge;
            for argument in arguments {
                match value(argument, bindings, terms) {
                    Value::Is(id) => ids.push(id),
                    Value::Open => outcome = Value::Open,
                    Value::TooLarge => return Value::TooLarge,
                }
            }
            match ids.len() == arguments.len() {
                true => terms
                    .intern(*functor, &ids)
                    .map_or(Value::TooLarge, Value::Is),
                false => outcome,
            }
        }
    }
}

/// Makes a term equal to a value by binding variables, which are recorded.
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
