//! Explains why something holds in a position, or why not.
//!
//! In: a [`Game`], a [`Situation`] and a [`Question`]. Out: an [`Explanation`]: the
//! smallest derivation of each matching fact, or, for each rule that could derive
//! one, what it lacks. [`tree`] converts it to text, JSON and HTML. Nothing here
//! plays: situations come from a machine.

mod answer;
mod history;
mod lines;
mod matching;
mod missing;
mod model;
mod on_demand;
mod question;
pub mod tree;
mod why;
mod words;

use ggp_stop::Stop;
use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use ggp_engine::machine::{Limits, PlayError, play_error};
use ggp_gdl::analysis::achievers::Achievers;
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, EvaluationError, Evaluator, Failure, Layer, Query};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::reach::{dependents, needed};
use ggp_gdl::program::{Atom, RelationId};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};
use model::Model;
use on_demand::{FIRST_WORK, FORESIGHT, MAX_FACTS, MAX_WORK, OnDemand, is_size};
use question::QuestionKind;

pub use answer::*;
pub use history::{FactHistories, FactHistory, PeriodStart, TruePeriod};
pub use question::{Question, QuestionError};

/// A position, with the moves made in it if there are any.
#[derive(Copy, Clone, Debug)]
pub struct Situation<'a> {
    /// The facts that are true.
    pub facts: &'a [TermId],
    /// A move for each role, in the order of the roles.
    pub joint: Option<&'a [Move]>,
}

/// Limits on explanations.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ExplainOptions {
    /// Maximum number of matching facts explained; the others are listed only.
    pub facts: usize,
    /// Maximum depth of rules examined to explain why something does not hold.
    pub depth: usize,
    /// Maximum number of rules shown at each depth.
    pub rules: usize,
    /// Maximum cost of a shown rule above the cost of the best one.
    pub margin: u32,
    /// Maximum number of rule instances and facts examined for one derivation or
    /// rule.
    pub work: u64,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        ExplainOptions {
            facts: 1,
            depth: 4,
            rules: 4,
            margin: 2,
            work: 1_000_000,
        }
    }
}

/// The remaining work.
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
    options: ExplainOptions,
    budget: Budget,
    /// By relation: the rules that derive it.
    rules: Vec<Arc<[usize]>>,
    /// By relation: true if it depends on the state or the moves; in the next field,
    /// if it depends on the moves.
    changing: Vec<bool>,
    moving: Vec<bool>,
    stated: FxHashMap<GroundAtom, Span>,
    evaluators: FxHashMap<RelationId, (Evaluator, Query)>,
    /// By relation: true if it is too large to be derived completely, or depends on
    /// one that is.
    is_on_demand: Vec<bool>,
    asked: Option<OnDemand>,
    achievers: Option<Achievers>,
    /// The states before the current one, the initial state first.
    past: Vec<Vec<TermId>>,
}

impl Explainer {
    /// An explainer for a game. `terms` must know the terms of all future situations,
    /// or share its table with a view that does.
    pub fn new(game: &Game, terms: Terms, limits: Limits, options: ExplainOptions) -> Self {
        let set = game.rules();
        let mut rules = vec![Vec::new(); set.arity.len()];
        for (number, rule) in set.rules.iter().enumerate() {
            rules[rule.head.relation.index()].push(number);
        }
        let depends = |inputs: &[Keyword]| {
            let inputs = inputs.iter().filter_map(|keyword| game.keyword(*keyword));
            dependents(set, inputs)
        };
        let stated = set.facts.iter().map(|fact| {
            let of = GroundAtom {
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
            is_on_demand: vec![false; set.arity.len()],
            asked: None,
            achievers: None,
            past: Vec::new(),
            terms,
            limits,
            options,
            evaluators: FxHashMap::default(),
        }
    }

    /// Sets the states before the current one, the initial state first. The
    /// explanation of a fact that is not true then mentions the move after which it
    /// ceased to be true.
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

    /// True if a question depends on the moves made.
    pub fn needs_moves(&self, question: &Question) -> bool {
        let relation = question.relation();
        relation.is_some_and(|relation| self.moving[relation.index()])
    }

    /// Explains why something holds in a situation, or why not.
    ///
    /// # Errors
    ///
    /// [`ExplainError`] if the question needs moves, or a limit was reached.
    pub fn explain(
        &mut self,
        question: &Question,
        situation: Situation<'_>,
    ) -> Result<Explanation, ExplainError> {
        Ok(match &question.kind {
            QuestionKind::Some(atom) => self.asked(atom, &question.names, situation)?,
            QuestionKind::None(atom) => {
                Explanation::Not(Box::new(self.asked(atom, &question.names, situation)?))
            }
            &QuestionKind::Test { equal, left, right } => Explanation::Test { equal, left, right },
        })
    }

    fn asked(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        situation: Situation<'_>,
    ) -> Result<Explanation, ExplainError> {
        let mut model = self.model(atom.relation, situation)?;
        let answer = self.answer(atom, names, &mut model);
        self.asked = Some(model.into_on_demand());
        answer
    }

    fn answer(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        model: &mut Model,
    ) -> Result<Explanation, ExplainError> {
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
                matching.push(GroundAtom {
                    relation: atom.relation,
                    arguments: row.into(),
                });
            }
        }
        if matching.is_empty() {
            return Ok(Explanation::Fails(self.missing(atom, names, model)?));
        }
        matching.sort_by(|left, right| self.compare(left, right));
        let others = matching.split_off(matching.len().min(self.options.facts.max(1)));
        let derivations = matching.iter().map(|fact| self.derive(fact, model));
        Ok(Explanation::Holds {
            derivations: derivations.collect::<Result<_, _>>()?,
            others,
        })
    }

    /// The order in which facts of one relation are listed.
    fn compare(&self, left: &GroundAtom, right: &GroundAtom) -> Ordering {
        let pairs = left.arguments.iter().zip(&right.arguments);
        let orders = pairs.map(|(l, r)| self.game.compare_terms(&self.terms, *l, *r));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// The model of a situation, restricted to what a relation depends on.
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
        // Of equally good explanations the first is taken: names and earlier questions do not matter.
        let mut facts = situation.facts.to_vec();
        facts.sort_by(|left, right| self.game.compare_terms(&self.terms, *left, *right));
        let situation = Situation {
            facts: &facts,
            ..situation
        };
        let roles = self.game.roles().map(|role| self.game.role_term(role));
        let made: Vec<_> = roles.zip(joint).map(|(r, m)| [r, m.term()]).collect();
        let failed = |game: &Game, error| ExplainError::Play(play_error(game, error));
        loop {
            let error = match self.evaluated(relation, situation.facts, &made) {
                Ok(evaluator) => {
                    let bounds = self.bounds();
                    let fresh = || OnDemand::new(&self.game, bounds);
                    let mut asked = self.asked.take().unwrap_or_else(fresh);
                    asked.load(situation.facts, &made);
                    return Ok(Model::new(evaluator, self.is_on_demand.clone(), asked));
                }
                Err(error) => error,
            };
            let large = error.relation.filter(|_| is_size(&error));
            let Some(large) = large.filter(|large| !self.is_on_demand[large.index()]) else {
                return Err(failed(&self.game, error));
            };
            if !self.changes(large) {
                let bounds = self.bounds();
                let asked = self
                    .asked
                    .get_or_insert_with(|| OnDemand::new(&self.game, bounds));
                asked.leave(large);
            }
            let found = dependents(self.game.rules(), [large]);
            for (is_on_demand, found) in self.is_on_demand.iter_mut().zip(found) {
                *is_on_demand |= found;
            }
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

    /// Evaluates everything a relation depends on, except for relations derived on
    /// demand.
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
            facts: bounds.facts.min(MAX_FACTS),
            work: bounds.work.min(MAX_WORK),
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
                let needed = needed(game.rules(), [relation]);
                let wanted = game.rules().relations();
                let wanted = wanted.filter(|r| needed[r.index()] && !self.is_on_demand[r.index()]);
                let queries = [(0, wanted.collect())];
                let rules = game.rules().clone();
                let (evaluator, asks) =
                    Evaluator::new(rules, &inputs, &queries, &mut self.terms, tight.clone())?;
                let made = (evaluator, asks[0]);
                self.evaluators.insert(relation, made.clone());
                made
            }
        };
        // Good plans need sizes that are known only after a first evaluation.
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

    /// The reason why a fact holds, if it needs no rule.
    fn given(&self, fact: &GroundAtom) -> Option<Reason> {
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
