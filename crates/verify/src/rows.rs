//! Rows of relations, and their joins.
//!
//! In: patterns of terms with variables. Out: rows that match them, found by an
//! index for each way a relation is asked. Slow beside the planned evaluator and
//! written without it, so that neither repeats a mistake of the other.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use ggp_gdl::program::{RelationId, Term, Variable};
use ggp_gdl::terms::{TermId, Terms};

/// The rows of one relation, each once, in the order in which they came.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<Box<[TermId]>>,
    table: HashTable<u32>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, number: usize) -> &[TermId] {
        &self.rows[number]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[TermId]> {
        self.rows.iter().map(AsRef::as_ref)
    }

    pub fn find(&self, row: &[TermId]) -> Option<usize> {
        let is_same = |&number: &u32| *self.rows[number as usize] == *row;
        let found = self.table.find(FxBuildHasher.hash_one(row), is_same);
        found.map(|&number| number as usize)
    }

    /// Whether the row is new.
    pub fn insert(&mut self, row: &[TermId]) -> bool {
        if self.find(row).is_some() {
            return false;
        }
        let number = self.rows.len() as u32;
        self.rows.push(row.into());
        let rows = &self.rows;
        let hash = |&number: &u32| FxBuildHasher.hash_one(&*rows[number as usize]);
        self.table
            .insert_unique(FxBuildHasher.hash_one(row), number, hash);
        true
    }
}

/// What the variables of a rule stand for.
pub(crate) type Bindings = Vec<Option<TermId>>;

/// Whether a term can be the value; binds its variables.
pub(crate) fn unify(term: &Term, value: TermId, terms: &Terms, bindings: &mut Bindings) -> bool {
    match term {
        Term::Ground(id) => *id == value,
        Term::Variable(variable) => match bindings[variable.index()] {
            Some(bound) => bound == value,
            None => {
                bindings[variable.index()] = Some(value);
                true
            }
        },
        Term::Apply(functor, arguments) => {
            let values = terms.arguments(value);
            terms.functor(value) == *functor
                && (arguments.iter().zip(values))
                    .all(|(term, &value)| unify(term, value, terms, bindings))
        }
    }
}

/// Whether patterns match a row.
pub(crate) fn unify_all(
    patterns: &[Term],
    row: &[TermId],
    terms: &Terms,
    bindings: &mut Bindings,
) -> bool {
    let mut pairs = patterns.iter().zip(row);
    pairs.all(|(term, &value)| unify(term, value, terms, bindings))
}

/// A way to ask a relation: for the rows that match patterns in which some
/// variables are known.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Question {
    relation: RelationId,
    patterns: Vec<Term>,
    /// Variables that are known.
    key: Vec<Variable>,
}

/// The rows that answer a [`Question`], by the values of its key.
struct Index {
    question: Question,
    variables: usize,
    /// Rows that were looked at.
    seen: usize,
    rows: FxHashMap<Box<[TermId]>, Vec<u32>>,
}

/// All indexes.
#[derive(Default)]
pub(crate) struct Indexes {
    list: Vec<Index>,
    by_question: FxHashMap<Question, usize>,
}

impl Indexes {
    /// The number of the index for patterns of which these variables are known.
    /// They are told apart by their order only.
    pub fn index(&mut self, relation: RelationId, patterns: &[Term], key: &[Variable]) -> usize {
        let mut names = FxHashMap::default();
        let patterns: Vec<Term> = patterns.iter().map(|t| renamed(t, &mut names)).collect();
        let key: Vec<Variable> = key.iter().map(|variable| names[variable]).collect();
        let question = Question {
            relation,
            patterns,
            key,
        };
        if let Some(&number) = self.by_question.get(&question) {
            return number;
        }
        self.by_question.insert(question.clone(), self.list.len());
        self.list.push(Index {
            question,
            variables: names.len(),
            seen: 0,
            rows: FxHashMap::default(),
        });
        self.list.len() - 1
    }

    /// The rows for a key, among all that the relation has by now.
    pub fn rows(&mut self, number: usize, key: &[TermId], all: &[Rows], terms: &Terms) -> &[u32] {
        let index = &mut self.list[number];
        let question = &index.question;
        let rows = &all[question.relation.index()];
        while index.seen < rows.len() {
            let mut bindings = vec![None; index.variables];
            let row = rows.row(index.seen);
            if unify_all(&question.patterns, row, terms, &mut bindings) {
                let key = question.key.iter().map(|known| {
                    let value = bindings[known.index()];
                    value.expect("a key stands in the patterns")
                });
                let of_key = index.rows.entry(key.collect()).or_default();
                of_key.push(index.seen as u32);
            }
            index.seen += 1;
        }
        index.rows.get(key).map_or(&[], Vec::as_slice)
    }
}

/// A term with its variables numbered as they first appear.
fn renamed(term: &Term, names: &mut FxHashMap<Variable, Variable>) -> Term {
    match term {
        Term::Ground(id) => Term::Ground(*id),
        Term::Variable(variable) => {
            let next = Variable::new(names.len());
            Term::Variable(*names.entry(*variable).or_insert(next))
        }
        Term::Apply(functor, arguments) => {
            let arguments = arguments.iter().map(|term| renamed(term, names));
            Term::Apply(*functor, arguments.collect())
        }
    }
}
