//! Why something holds in a position, and why not.
//!
//! In: a [`Game`], a [`Situation`] and a [`Question`]. Out: an [`Answer`]: the
//! smallest derivation of each fact that matches, or for each rule that could
//! give one, what it misses. [`tree`] makes text, JSON and HTML of it. Nothing
//! here plays: situations come from a machine.

mod answer;
mod asked;
mod dependence;
mod history;
mod matching;
mod missing;
mod model;
mod question;
mod told;
pub mod tree;
mod why;
mod words;

use ggp_stop::Stop;
use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use asked::{Asked, FIRST_WORK, FORESIGHT, MOST_FACTS, MOST_WORK, is_size};
use dependence::{dependent, needed};
use ggp_engine::machine::{Limits, PlayError, play_error};
use ggp_gdl::analysis::achievers::Makers;
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, EvaluationError, Evaluator, Failure, Layer, Query};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::{Atom, RelationId};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};
use model::Model;
use question::Kind;

pub use answer::*;
pub use history::{Change, Course, Courses, Stay};
pub use question::{Question, QuestionError};

/// A position, with the moves made in it if there are any.
#[derive(Copy, Clone, Debug)]
pub struct Situation<'a> {
    /// The facts that are true.
    pub facts: &'a [TermId],
    /// A move for each role, in the order of the roles.
    pub joint: Option<&'a [Move]>,
}

/// How far explanations go.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Facts that match a question and are explained; the rest is counted.
    pub facts: usize,
    /// Levels of rules looked at to say why something does not hold.
    pub depth: usize,
    /// Rules shown on each of these levels.
    pub rules: usize,
    /// How much more than the best rule the others shown may miss.
    pub margin: u32,
    /// Instances of rules and facts looked at for one derivation or rule.
    pub work: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            facts: 1,
            depth: 4,
            rules: 4,
            margin: 2,
            work: 1_000_000,
        }
    }
}

/// What may still be spent.
#[derive(Debug)]
struct Budget {
    most: u64,
    spent: u64,
    stop: Stop,
}

impl Budget {
    fn start(&mut self) {
        self.spent = 0;
    }

    fn spend(&mut self, work: u64) -> Result<(), ExplainError> {
        self.spent += work;
        if self.spent > self.most {
            return Err(ExplainError::Large(self.most));
        }
        if self.spent.is_multiple_of(1024) && self.stop.is_raised() {
            return Err(PlayError::Interrupted.into());
        }
        Ok(())
    }
}

/// Answers questions about one game.
#[derive(Debug)]
pub struct Explainer {
    game: Game,
    terms: Terms,
    limits: Limits,
    options: Options,
    budget: Budget,
    /// By relation: the rules that give it.
    rules: Vec<Arc<[usize]>>,
    /// By relation: whether it depends on the state or the moves, and whether
    /// on the moves.
    changing: Vec<bool>,
    moving: Vec<bool>,
    stated: FxHashMap<FactOf, Span>,
    evaluators: FxHashMap<RelationId, (Evaluator, Query)>,
    /// By relation: whether it is too large to be derived as a whole, or depends
    /// on one that is.
    is_asked: Vec<bool>,
    asked: Option<Asked>,
    makers: Option<Makers>,
    /// The states before the one asked about, the first state first.
    past: Vec<Vec<TermId>>,
}

impl Explainer {
    /// For a game and a view of its terms that knows those of all situations
    /// to come, or shares its table with a view that does.
    pub fn new(game: &Game, terms: Terms, limits: Limits, options: Options) -> Self {
        let set = game.rules();
        let mut rules = vec![Vec::new(); set.arity.len()];
        for (number, rule) in set.rules.iter().enumerate() {
            rules[rule.head.relation.index()].push(number);
        }
        let depends = |inputs: &[Keyword]| {
            let mut found = vec![false; set.arity.len()];
            for input in inputs.iter().filter_map(|keyword| game.keyword(*keyword)) {
                found[input.index()] = true;
            }
            dependent(set, found)
        };
        let stated = set.facts.iter().map(|fact| {
            let of = FactOf {
                relation: fact.relation,
                arguments: fact.arguments.clone(),
            };
            (of, fact.span)
        });
        Explainer {
            rules: rules.into_iter().map(Arc::from).collect(),
            changing: depends(&[Keyword::True, Keyword::Does]),
            moving: depends(&[Keyword::Does]),
            stated: stated.collect(),
            budget: Budget {
                most: options.work,
                spent: 0,
                stop: limits.stop.clone(),
            },
            game: game.clone(),
            is_asked: vec![false; set.arity.len()],
            asked: None,
            makers: None,
            past: Vec::new(),
            terms,
            limits,
            options,
            evaluators: FxHashMap::default(),
        }
    }

    /// Tells of the states before the one that is asked about, the first state first:
    /// a fact that is not true is then said to have gone if it was.
    pub fn set_past(&mut self, states: &[Vec<TermId>]) {
        self.past = states.to_vec();
        if !self
            .past
            .iter()
            .flatten()
            .all(|fact| self.terms.knows(*fact))
        {
            self.terms.refresh();
        }
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// A view of the game's terms that knows those of all answers.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Whether a question depends on the moves that are made.
    pub fn needs_moves(&self, question: &Question) -> bool {
        let relation = question.relation();
        relation.is_some_and(|relation| self.moving[relation.index()])
    }

    /// Says why something holds in a situation, or why not.
    ///
    /// # Errors
    ///
    /// [`ExplainError`].
    pub fn explain(
        &mut self,
        question: &Question,
        situation: Situation<'_>,
    ) -> Result<Answer, ExplainError> {
        Ok(match &question.kind {
            Kind::Some(atom) => self.asked(atom, &question.names, situation)?,
            Kind::None(atom) => {
                Answer::Not(Box::new(self.asked(atom, &question.names, situation)?))
            }
            &Kind::Test { equal, left, right } => Answer::Test { equal, left, right },
        })
    }

    fn asked(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        situation: Situation<'_>,
    ) -> Result<Answer, ExplainError> {
        let mut model = self.model(atom.relation, situation)?;
        let answer = self.answer(atom, names, &mut model);
        self.asked = Some(model.into_asked());
        answer
    }

    fn answer(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        model: &mut Model,
    ) -> Result<Answer, ExplainError> {
        let mut bindings = vec![None; names.len()];
        let mut matching = Vec::new();
        let candidates = model.candidates(atom, &bindings, &mut self.terms)?;
        let candidates = candidates.expect("its work has no limit of its own");
        for position in 0..candidates.len() {
            let row = model.fact(atom.relation, candidates.get(position));
            let mut bound = Vec::new();
            let fits = (atom.arguments.iter().zip(row)).all(|(term, given)| {
                model::bind(term, *given, &mut bindings, &mut bound, &self.terms)
            });
            bindings.fill(None);
            if fits {
                matching.push(FactOf {
                    relation: atom.relation,
                    arguments: row.into(),
                });
            }
        }
        if matching.is_empty() {
            return Ok(Answer::Fails(self.missing(atom, names, model)?));
        }
        matching.sort_by(|left, right| self.compare(left, right));
        let others = matching.split_off(matching.len().min(self.options.facts.max(1)));
        let derivations = matching.iter().map(|fact| self.derive(fact, model));
        Ok(Answer::Holds {
            derivations: derivations.collect::<Result<_, _>>()?,
            others,
        })
    }

    /// The order in which facts of one relation are said.
    fn compare(&self, left: &FactOf, right: &FactOf) -> Ordering {
        let pairs = left.arguments.iter().zip(&right.arguments);
        let orders = pairs.map(|(l, r)| self.game.compare_terms(&self.terms, *l, *r));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// What holds in a situation, as far as a relation depends on it.
    fn model(
        &mut self,
        relation: RelationId,
        situation: Situation<'_>,
    ) -> Result<Model, ExplainError> {
        if situation.joint.is_none() && self.moving[relation.index()] {
            return Err(ExplainError::NoMoves);
        }
        let joint = situation.joint.unwrap_or_default();
        let of_joint = joint.iter().map(|m| m.term());
        let mut given = situation.facts.iter().copied().chain(of_joint);
        if given.any(|term| !self.terms.knows(term)) {
            self.terms.refresh();
        }
        let roles = self.game.roles().map(|role| self.game.role_term(role));
        let made: Vec<_> = roles.zip(joint).map(|(r, m)| [r, m.term()]).collect();
        let failed = |game: &Game, error| ExplainError::Play(play_error(game, error));
        loop {
            let error = match self.evaluated(relation, situation.facts, &made) {
                Ok(evaluator) => {
                    let bounds = self.bounds();
                    let fresh = || Asked::new(&self.game, bounds);
                    let mut asked = self.asked.take().unwrap_or_else(fresh);
                    asked.load(situation.facts, &made);
                    return Ok(Model::new(evaluator, self.is_asked.clone(), asked));
                }
                Err(error) => error,
            };
            let large = self.game.rules().rules[error.rule].head.relation;
            if !is_size(&error) || self.is_asked[large.index()] {
                return Err(failed(&self.game, error));
            }
            if !self.changes(large) {
                let bounds = self.bounds();
                let asked = self
                    .asked
                    .get_or_insert_with(|| Asked::new(&self.game, bounds));
                asked.leave(large);
            }
            self.is_asked[large.index()] = true;
            self.is_asked = dependent(self.game.rules(), std::mem::take(&mut self.is_asked));
            self.evaluators.clear();
        }
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            facts: self.limits.facts,
            work: self.limits.work,
            stop: self.limits.stop.clone(),
            ..Bounds::default()
        }
    }

    /// Evaluates what a relation depends on, other than what is derived as it is
    /// asked for.
    fn evaluated(
        &mut self,
        relation: RelationId,
        facts: &[TermId],
        made: &[[TermId; 2]],
    ) -> Result<Evaluator, EvaluationError> {
        let game = self.game.clone();
        let [state, does] = [Keyword::True, Keyword::Does].map(|keyword| game.keyword(keyword));
        let bounds = self.bounds();
        let tight = Bounds {
            facts: bounds.facts.min(MOST_FACTS),
            work: bounds.work.min(MOST_WORK),
            foresight: Some(FORESIGHT),
            ..bounds
        };
        let (mut evaluator, query) = match self.evaluators.get(&relation) {
            Some(known) => known.clone(),
            None => {
                let inputs = [(state, Layer::First), (does, Layer::Second)];
                let inputs = inputs
                    .into_iter()
                    .filter_map(|(r, layer)| Some((r?, layer)));
                let inputs: Vec<_> = inputs.collect();
                let needed = needed(game.rules(), relation);
                let wanted = game.rules().relations();
                let wanted = wanted.filter(|r| needed[r.index()] && !self.is_asked[r.index()]);
                let queries = [(0, wanted.collect())];
                let rules = game.rules().clone();
                let (evaluator, asks) =
                    Evaluator::new(rules, &inputs, &queries, &mut self.terms, tight.clone())?;
                let made = (evaluator, asks[0]);
                self.evaluators.insert(relation, made.clone());
                made
            }
        };
        // Rules are planned by sizes that are only known once they were evaluated.
        for work in FIRST_WORK.into_iter().chain([tight.work]) {
            evaluator.set_bounds(Bounds {
                work: work.min(tight.work),
                ..tight.clone()
            });
            evaluator.begin(Layer::First);
            if let Some(state) = state {
                facts
                    .iter()
                    .for_each(|fact| evaluator.give(state, &[*fact]));
            }
            evaluator.begin(Layer::Second);
            if let Some(does) = does {
                made.iter().for_each(|made| evaluator.give(does, made));
            }
            match evaluator.ask(query, &mut self.terms) {
                Ok(()) => break,
                Err(error) if matches!(error.failure, Failure::Work(_)) && work < tight.work => {
                    evaluator.replan();
                    let known = (evaluator.clone(), query);
                    self.evaluators.insert(relation, known);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(evaluator)
    }

    fn rules_of(&self, relation: RelationId) -> Arc<[usize]> {
        Arc::clone(&self.rules[relation.index()])
    }

    fn is_input(&self, relation: RelationId) -> bool {
        let inputs = [Keyword::True, Keyword::Does];
        (inputs.iter()).any(|keyword| self.game.keyword(*keyword) == Some(relation))
    }

    /// Why a fact holds, if no rule is needed for it.
    fn given(&self, fact: &FactOf) -> Option<Reason> {
        if self.game.keyword(Keyword::True) == Some(fact.relation) {
            return Some(Reason::InState);
        }
        if self.game.keyword(Keyword::Does) == Some(fact.relation) {
            return Some(Reason::Made);
        }
        self.stated.get(fact).map(|span| Reason::Stated(*span))
    }
}

#[cfg(test)]
mod tests;
