//! Rows of relations, and their joins.
//!
//! In: patterns of terms with variables. Out: rows that match them, found by an index for
//! each combination of known variables. This is slower than the planned evaluator and
//! written independently, so that neither repeats an error of the other.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use ggp_gdl::program::{RelationId, Term, Variable};
use ggp_gdl::terms::{TermId, Terms};

/// The rows of one relation, each once, in order of insertion.
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

    /// Inserts a row. Returns true if it is new.
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

/// The values of the variables of a rule.
pub(crate) type Bindings = Vec<Option<TermId>>;

/// Matches a term against a value and binds its variables. Returns true if they match.
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

/// Matches patterns against a row and binds their variables. Returns true if they match.
pub(crate) fn unify_all(
    patterns: &[Term],
    row: &[TermId],
    terms: &Terms,
    bindings: &mut Bindings,
) -> bool {
    let mut pairs = patterns.iter().zip(row);
    pairs.all(|(term, &value)| unify(term, value, terms, bindings))
}

/// A query of a relation: patterns in which the values of some variables are known.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Question {
    relation: RelationId,
    patterns: Vec<Term>,
    /// The known variables.
    key: Vec<Variable>,
}

/// The rows that answer a query, by the values of its known variables.
struct Index {
    question: Question,
    variables: usize,
    /// The number of rows indexed so far.
    seen: usize,
    rows: FxHashMap<Box<[TermId]>, Vec<u32>>,
}

/// The indexes of all queries.
#[derive(Default)]
pub(crate) struct Indexes {
    list: Vec<Index>,
    by_question: FxHashMap<Question, usize>,
}

impl Indexes {
    /// The number of the index for patterns with these known variables. Variables are
    /// distinguished by their order of appearance only.
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

    /// The rows for a key, among all present rows of the relation.
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
                    value.expect("a key occurs in the patterns")
                });
                let of_key = index.rows.entry(key.collect()).or_default();
                of_key.push(index.seen as u32);
            }
            index.seen += 1;
        }
        index.rows.get(key).map_or(&[], Vec::as_slice)
    }
}

/// A term with its variables numbered in order of first appearance.
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
