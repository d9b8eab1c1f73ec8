//! On-demand derivation of relations that are too large to be derived completely.
//!
//! Each combination of columns that a question fixes gets a separate program: the
//! rules, a relation for the values, and a relation for the answers, rewritten to
//! derive on demand. All rows derived on the way are kept, because later questions
//! mostly need the same rows.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ExplainError;
use super::model::Rows;
use ggp_engine::machine::play_error;
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, EvaluationError, Evaluator, Failure, Layer, Part, Query};
use ggp_gdl::game::Game;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, RuleSet, Term, Variable};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};

/// A set of columns, as bits.
pub(super) type Columns = u64;

/// Numbers of visited rows after which an evaluation is planned again.
pub(super) const FIRST_WORK: [u64; 3] = [100_000, 1_000_000, 10_000_000];
/// Maximum cost of deriving a relation completely, in facts and visited rows; and the
/// factor by which a prediction must exceed it for the evaluation to be given up at
/// once.
pub(super) const MAX_FACTS: usize = 1_000_000;
pub(super) const MAX_WORK: u64 = 100_000_000;
pub(super) const FORESIGHT: f64 = 4.0;

/// The minimum cost charged for an answer, in rows.
const OVERHEAD: u64 = 1_000;

/// An evaluator, its query, and its input and output relations.
#[derive(Clone, Debug)]
struct Program {
    evaluator: Evaluator,
    query: Query,
    given: RelationId,
    /// True if it holds the inputs of the current situation.
    is_loaded: bool,
}

/// The known rows of one relation, and the questions they answer.
#[derive(Debug, Default)]
struct Known {
    rows: Rows,
    complete: FxHashMap<Columns, FxHashSet<Box<[TermId]>>>,
    /// Questions that were too expensive.
    refused: FxHashSet<(Columns, Box<[TermId]>)>,
}

/// Answers about relations derived on demand, in one situation.
#[derive(Debug)]
pub(super) struct OnDemand {
    game: Game,
    bounds: Bounds,
    /// Relations that depend on no input and are too large to derive completely.
    lazy: Vec<RelationId>,
    programs: FxHashMap<(RelationId, Columns), Program>,
    /// Programs whose compilation exceeded the small limits.
    unmade: FxHashSet<(RelationId, Columns)>,
    facts: Vec<TermId>,
    /// The moves made: role and move.
    made: Vec<[TermId; 2]>,
    known: FxHashMap<RelationId, Known>,
    /// Rows visited in this situation.
    spent: u64,
    nothing: Rows,
}

impl OnDemand {
    /// Answers for a game, with no relation known to be too large.
    pub(super) fn new(game: &Game, bounds: Bounds) -> Self {
        OnDemand {
            game: game.clone(),
            bounds,
            lazy: Vec::new(),
            programs: FxHashMap::default(),
            unmade: FxHashSet::default(),
            facts: Vec::new(),
            made: Vec::new(),
            known: FxHashMap::default(),
            spent: 0,
            nothing: Rows::default(),
        }
    }

    /// Adds a relation that depends on no input and is too large to derive
    /// completely.
    pub(super) fn leave(&mut self, relation: RelationId) {
        if !self.lazy.contains(&relation) {
            self.lazy.push(relation);
            self.programs.clear();
        }
    }

    /// Starts a situation.
    pub(super) fn load(&mut self, facts: &[TermId], made: &[[TermId; 2]]) {
        self.facts = facts.to_vec();
        self.made = made.to_vec();
        self.known.clear();
        self.spent = 0;
        self.programs.values_mut().for_each(|p| p.is_loaded = false);
    }

    /// The known rows of a relation.
    pub(super) fn rows(&mut self, relation: RelationId) -> &mut Rows {
        match self.known.get_mut(&relation) {
            Some(known) => &mut known.rows,
            None => &mut self.nothing,
        }
    }

    /// True if all rows with these values in these columns are known.
    pub(super) fn is_known(&self, relation: RelationId, values: &[Option<TermId>]) -> bool {
        self.known.get(&relation).is_some_and(|known| {
            (known.complete.iter())
                .any(|(columns, keys)| key(values, *columns).is_some_and(|key| keys.contains(&key)))
        })
    }

    /// Derives all rows with these values; returns whether that was possible within
    /// the limits, of which `work` may be smaller than the overall one.
    pub(super) fn know(
        &mut self,
        relation: RelationId,
        values: &[Option<TermId>],
        work: u64,
        terms: &mut Terms,
    ) -> Result<bool, ExplainError> {
        if self.is_known(relation, values) {
            return Ok(true);
        }
        let work = work.min(self.bounds.work);
        let values = &values[..values.len().min(Columns::BITS as usize)];
        let given = (0..values.len()).filter(|column| values[*column].is_some());
        let columns = given.fold(0, |columns: Columns, column| columns | 1 << column);
        let key = key(values, columns).expect("these are the columns with values");
        let question = (columns, key);
        let known = self.known.entry(relation).or_default();
        if work < self.bounds.work && known.refused.contains(&question) {
            return Ok(false);
        }
        match self.ask(relation, &question, work, terms) {
            Ok(()) => Ok(true),
            Err(error) if is_size(&error) && work < self.bounds.work => {
                let known = self.known.entry(relation).or_default();
                known.refused.insert(question);
                Ok(false)
            }
            Err(error) => Err(ExplainError::Play(play_error(&self.game, error))),
        }
    }

    fn ask(
        &mut self,
        relation: RelationId,
        (columns, key): &(Columns, Box<[TermId]>),
        work: u64,
        terms: &mut Terms,
    ) -> Result<(), EvaluationError> {
        if self.spent > self.bounds.work {
            return Err(Failure::Work(self.bounds.work).into());
        }
        let mut program = match self.programs.remove(&(relation, *columns)) {
            Some(program) => program,
            None if work < self.bounds.work && self.unmade.contains(&(relation, *columns)) => {
                return Err(Failure::Work(work).into());
            }
            None => match self.program(relation, *columns, work, terms) {
                Ok(program) => program,
                Err(error) => {
                    self.unmade.insert((relation, *columns));
                    return Err(error);
                }
            },
        };
        let before = program.evaluator.work();
        let mut outcome = Ok(());
        for limit in FIRST_WORK.into_iter().filter(|w| *w < work).chain([work]) {
            program.evaluator.set_bounds(Bounds {
                work: limit,
                ..self.bounds.clone()
            });
            if !program.is_loaded {
                self.give(&mut program.evaluator);
                program.is_loaded = true;
            }
            program.evaluator.begin(Layer::Second);
            if *columns != 0 {
                program.evaluator.give(program.given, key);
            }
            outcome = program.evaluator.ask(program.query, terms);
            match outcome {
                Err(error) if matches!(error.failure, Failure::Work(_)) && limit < work => {
                    program.evaluator.replan();
                    program.is_loaded = false;
                }
                _ => break,
            }
        }
        self.spent += OVERHEAD + program.evaluator.work() - before;
        match outcome {
            Ok(()) => self.keep(&program.evaluator),
            Err(_) => program.is_loaded = false,
        }
        self.programs.insert((relation, *columns), program);
        outcome
    }

    fn give(&self, evaluator: &mut Evaluator) {
        evaluator.begin(Layer::First);
        if let Some(state) = self.game.keyword(Keyword::True) {
            for fact in &self.facts {
                evaluator.give(state, &[*fact]);
            }
        }
        if let Some(does) = self.game.keyword(Keyword::Does) {
            for made in &self.made {
                evaluator.give(does, made);
            }
        }
    }

    /// Keeps the derived rows.
    fn keep(&mut self, evaluator: &Evaluator) {
        let own = self.game.rules().arity.len();
        for part in evaluator
            .parts()
            .iter()
            .filter(|part| part.of.index() < own)
        {
            let Part {
                of,
                rows,
                demand,
                columns,
            } = *part;
            let known = self.known.entry(of).or_default();
            evaluator.rows(rows).for_each(|row| known.rows.add(row));
            let keys = known.complete.entry(columns).or_default();
            match demand {
                None => drop(keys.insert([].into())),
                Some(demand) => keys.extend(evaluator.rows(demand).map(Box::from)),
            }
        }
    }

    /// A program that returns the rows with given values in some columns.
    fn program(
        &mut self,
        relation: RelationId,
        columns: Columns,
        work: u64,
        terms: &mut Terms,
    ) -> Result<Program, EvaluationError> {
        let mut rules: RuleSet = self.game.rules().clone();
        let arity = rules.arity[relation.index()];
        let given = rules.add_relation(columns.count_ones() as usize);
        let answer = rules.add_relation(arity);
        let all: Vec<Term> = (0..arity)
            .map(|c| Term::Variable(Variable::new(c)))
            .collect();
        let atom = |relation: RelationId, arguments: Vec<Term>| Atom {
            relation,
            arguments,
            span: Span::default(),
        };
        // answer(x, y, z) <- given(x), relation(x, y, z)
        let fixed = (0..arity).filter(|column| has(columns, *column));
        let fixed: Vec<Term> = fixed.map(|column| all[column].clone()).collect();
        let mut body = vec![Literal::Positive(atom(relation, all.clone()))];
        if columns != 0 {
            body.insert(0, Literal::Positive(atom(given, fixed)));
        }
        rules.rules.push(Rule {
            head: atom(answer, all),
            body,
            variables: vec!["".into(); arity],
            span: Span::default(),
        });
        let inputs = [Keyword::True, Keyword::Does].map(|k| self.game.keyword(k));
        let inputs = inputs.into_iter().flatten().map(|r| (r, Layer::First));
        let inputs: Vec<_> = inputs.chain([(given, Layer::Second)]).collect();
        // Relations that are too large are found with small limits, and then left to
        // demand.
        let little = Bounds {
            facts: self.bounds.facts.min(MAX_FACTS),
            work: work.min(MAX_WORK),
            foresight: Some(FORESIGHT),
            ..self.bounds.clone()
        };
        let mut made = self.compiled(&rules, &inputs, answer, little, terms);
        if work == self.bounds.work && made.as_ref().is_err_and(is_size) {
            let much = self.bounds.clone();
            made = self.compiled(&rules, &inputs, answer, much, terms);
        }
        let (evaluator, query) = made?;
        Ok(Program {
            evaluator,
            query,
            given,
            is_loaded: false,
        })
    }

    fn compiled(
        &mut self,
        rules: &RuleSet,
        inputs: &[(RelationId, Layer)],
        answer: RelationId,
        bounds: Bounds,
        terms: &mut Terms,
    ) -> Result<(Evaluator, Query), EvaluationError> {
        let queries = [(0, vec![answer])];
        loop {
            let lazy = Evaluator::lazy(rules, inputs, &self.lazy, &queries, terms, bounds.clone());
            let made = match lazy.transpose() {
                Some(made) => made,
                // The program needs all rows.
                None => Evaluator::new(rules.clone(), inputs, &queries, terms, bounds.clone()),
            };
            match made {
                Ok((evaluator, asks)) => return Ok((evaluator, asks[0])),
                Err(error) => {
                    let own = self.game.rules().arity.len();
                    let large = error.relation.filter(|large| large.index() < own);
                    let large = large.filter(|large| is_size(&error) && !self.lazy.contains(large));
                    self.lazy.push(large.ok_or(error)?);
                }
            }
        }
    }
}

/// True if an evaluation failed because there was too much to derive.
pub(super) fn is_size(error: &EvaluationError) -> bool {
    matches!(error.failure, Failure::Facts(_) | Failure::Work(_))
}

fn has(columns: Columns, column: usize) -> bool {
    column < Columns::BITS as usize && columns >> column & 1 == 1
}

/// The values in some columns, if all of them are given.
fn key(values: &[Option<TermId>], columns: Columns) -> Option<Box<[TermId]>> {
    let chosen = (0..values.len()).filter(|column| has(columns, *column));
    chosen.map(|column| values[column]).collect()
}
