//! What holds in one situation, with indexes for exactly the questions asked.

use rustc_hash::FxHashMap;

use super::ExplainError;
use super::asked::Asked;
use ggp_gdl::datalog::Evaluator;
use ggp_gdl::program::{Atom, FunctorId, RelationId, Term};
use ggp_gdl::terms::{TermId, Terms};

/// What one question depends on.
#[derive(Debug)]
pub(super) struct Model {
    evaluator: Evaluator,
    relations: FxHashMap<RelationId, Rows>,
    /// By relation: whether it is derived only as it is asked for.
    is_asked: Vec<bool>,
    asked: Asked,
    /// Rows that may be looked at to answer what is asked.
    work: u64,
}

/// A place in a row: a column, and perhaps an argument of the term there.
type Place = (usize, Option<usize>);
/// What stands at a place: the functor there or around it, and the term.
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
    /// Number of rows that are in it.
    upto: usize,
    found: FxHashMap<Key, Vec<u32>>,
}

/// Values of a rule's variables, by their numbers.
pub(super) type Bindings = [Option<TermId>];

impl Model {
    /// The model of an evaluator that was asked for all that is needed, and what
    /// answers for the rest.
    pub(super) fn new(evaluator: Evaluator, is_asked: Vec<bool>, asked: Asked) -> Self {
        Model {
            evaluator,
            relations: FxHashMap::default(),
            is_asked,
            asked,
            work: u64::MAX,
        }
    }

    /// What answers for relations that are derived as they are asked for.
    pub(super) fn into_asked(self) -> Asked {
        self.asked
    }

    /// Sets the rows that may be looked at for one answer, past which it is
    /// unknown; what was set before. Without a limit of its own an answer past
    /// those of the user is an error.
    pub(super) fn set_work(&mut self, work: u64) -> u64 {
        std::mem::replace(&mut self.work, work)
    }

    fn rows(&mut self, relation: RelationId) -> &mut Rows {
        if self.is_asked[relation.index()] {
            return self.asked.rows(relation);
        }
        let evaluator = &self.evaluator;
        self.relations.entry(relation).or_insert_with(|| {
            let mut rows = Rows::default();
            evaluator.rows(relation).for_each(|row| rows.add(row));
            rows
        })
    }

    /// Number of facts of a relation that are known.
    pub(super) fn count(&mut self, relation: RelationId) -> usize {
        self.rows(relation).list.len()
    }

    /// A fact of a relation by its number.
    pub(super) fn fact(&mut self, relation: RelationId, number: u32) -> &[TermId] {
        &self.rows(relation).list[number as usize]
    }

    /// Whether a fact holds; nothing if that is unknown.
    pub(super) fn holds(
        &mut self,
        relation: RelationId,
        row: &[TermId],
        terms: &mut Terms,
    ) -> Result<Option<bool>, ExplainError> {
        if self.is_asked[relation.index()] {
            let values: Vec<_> = row.iter().copied().map(Some).collect();
            if !self.asked.know(relation, &values, self.work, terms)? {
                return Ok(None);
            }
        }
        Ok(Some(self.rows(relation).numbers.contains_key(row)))
    }

    /// Whether the facts that an atom matches are known without further
    /// derivations; if not, the number of its columns that have values.
    pub(super) fn is_ready(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
        terms: &mut Terms,
    ) -> Result<(), usize> {
        if !self.is_asked[atom.relation.index()] {
            return Ok(());
        }
        match values(atom, bindings, terms) {
            Some(values) if !self.asked.is_known(atom.relation, &values) => {
                Err(values.iter().flatten().count())
            }
            _ => Ok(()),
        }
    }

    /// The numbers of facts among which all are that an atom matches; nothing
    /// if they are unknown.
    pub(super) fn candidates(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
        terms: &mut Terms,
    ) -> Result<Option<Candidates>, ExplainError> {
        let Some(values) = values(atom, bindings, terms) else {
            return Ok(Some(Candidates::Listed(Vec::new())));
        };
        if self.is_asked[atom.relation.index()]
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

/// The values of an atom's columns that are known; nothing if one can't have any.
fn values(atom: &Atom, bindings: &Bindings, terms: &mut Terms) -> Option<Vec<Option<TermId>>> {
    let values = atom
        .arguments
        .iter()
        .map(|term| match value(term, bindings, terms) {
            Value::Is(id) => Some(Some(id)),
            Value::Open => Some(None),
            Value::Nothing => None,
        });
    values.collect()
}

impl Rows {
    /// Adds a row if it is not there.
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
