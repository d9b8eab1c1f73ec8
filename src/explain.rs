//! Why something holds in a position, and why not.
//!
//! In: a [`Game`], a [`Situation`] and a [`Question`]. Out: an [`Answer`]: the
//! smallest derivation of each fact that matches, or for each rule that could
//! give one, what it misses. [`tree`] makes text, JSON and HTML of it. Nothing
//! here plays: situations come from a machine.

mod history;
mod matching;
mod missing;
mod model;
mod question;
pub mod tree;
mod why;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::check::Keyword;
use crate::datalog::{Bounds, Evaluator, Failure, Layer, Query};
use crate::game::{Game, Move};
use crate::ground::{TermId, Terms};
use crate::machine::{Limits, PlayError, play_error};
use crate::program::strata::for_each_body_atom;
use crate::program::{Atom, Literal, RelationId};
use crate::span::Span;
use model::Model;

pub use history::{Change, Course, Stay};
pub use question::Question;

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

/// A relation applied to ground terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FactOf {
    /// The relation.
    pub relation: RelationId,
    /// As many terms as it has columns.
    pub arguments: Box<[TermId]>,
}

/// What is said of a question.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Facts match it.
    Holds {
        /// The first of them, explained.
        derivations: Vec<Derivation>,
        /// The others.
        others: Vec<FactOf>,
    },
    /// Nothing does.
    Fails(Missing),
}

/// Why a fact holds: facts that rest on each other, never in a circle.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The fact in question first, each but once.
    pub proofs: Vec<Proof>,
    /// Whether no derivation is smaller when written as a tree. It may be where
    /// there were too many to look at.
    pub smallest: bool,
}

/// A fact and what it rests on.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The fact.
    pub fact: FactOf,
    /// Why it holds.
    pub reason: Reason,
}

/// Why a fact holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The rules state it.
    Stated(Span),
    /// It is true in the state.
    InState,
    /// It is a move made.
    Made,
    /// A rule gives it.
    Rule {
        /// As an index into [`RuleSet::rules`](crate::program::RuleSet::rules).
        rule: usize,
        /// The values of its variables; nothing for those it does not use.
        bindings: Box<[Option<TermId>]>,
        /// What its body rests on, in the order of its literals.
        premises: Vec<Premise>,
    },
}

/// Something that a rule's body rests on.
#[derive(Clone, PartialEq, Debug)]
pub enum Premise {
    /// A fact, as an index into [`Derivation::proofs`].
    Fact(usize),
    /// A fact that does not hold.
    Absent(FactOf),
    /// Two terms that are the same, or are not.
    Test {
        /// Whether they are to be the same.
        equal: bool,
        /// One.
        left: TermId,
        /// The other.
        right: TermId,
    },
}

impl Premise {
    fn fact(&self) -> Option<usize> {
        match self {
            Premise::Fact(fact) => Some(*fact),
            _ => None,
        }
    }
}

/// An atom that no fact matches.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The atom.
    pub atom: Atom,
    /// The names of its variables.
    pub names: Box<[Box<str>]>,
    /// Why there is none.
    pub reason: Nothing,
}

/// Why no fact matches an atom.
#[derive(Clone, Debug)]
pub enum Nothing {
    /// No rule could give one: it is part of the state, a move, or stated. Facts
    /// that differ least.
    Given(Vec<FactOf>),
    /// It is being explained already.
    Above,
    /// As deep as was asked for. Facts that differ least.
    Cut(Vec<FactOf>),
    /// Each rule misses something.
    Rules {
        /// The rules that miss least, best first.
        attempts: Vec<Attempt>,
        /// Number of rules that are left out because they miss more.
        worse: usize,
        /// Rules of the relation whose heads are never of this form.
        apart: Vec<usize>,
        /// Facts that differ least, if all rules are such.
        nearest: Vec<FactOf>,
    },
}

/// What a rule misses to give a fact.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// As an index into [`RuleSet::rules`](crate::program::RuleSet::rules).
    pub rule: usize,
    /// The names of the variables in the outcomes.
    pub names: Box<[Box<str>]>,
    /// What became of each literal, in the order of the body.
    pub outcomes: Vec<Outcome>,
}

/// A literal of a rule that does not apply.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The literal, bound variables replaced.
    pub literal: Literal,
    /// What is the matter with it.
    pub state: State,
}

/// What is the matter with a literal.
#[derive(Clone, Debug)]
pub enum State {
    /// It holds.
    Holds,
    /// Its variables depend on what is missed.
    Open,
    /// No fact matches it.
    Missing(Box<Missing>),
    /// It is the negation of a fact that holds.
    Unwanted(Derivation),
    /// It compares terms, and they are not as it wants them.
    Fails,
    /// It is an alternative of which no branch holds.
    NoBranch(Vec<Vec<Outcome>>),
}

/// Why there is no explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExplainError {
    /// The question depends on moves, and none were given.
    NoMoves,
    /// More work than [`Options::work`], the number.
    Large(u64),
    /// A fact of the model has no derivation: a defect of this program.
    Underivable,
    /// The rules derive too much, or an interrupt.
    Play(PlayError),
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::NoMoves => f.write_str("this depends on moves, and none are made"),
            ExplainError::Large(limit) => {
                write!(
                    f,
                    "more than {limit} facts and instances of rules to look at; raise --max-instances"
                )
            }
            ExplainError::Underivable => f.write_str("no derivation of a fact that holds"),
            ExplainError::Play(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExplainError {}

impl From<PlayError> for ExplainError {
    fn from(error: PlayError) -> Self {
        ExplainError::Play(error)
    }
}

/// What may still be spent.
#[derive(Debug)]
struct Budget {
    most: u64,
    spent: u64,
    interrupt: Arc<std::sync::atomic::AtomicBool>,
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
        if self.spent.is_multiple_of(1024) && self.interrupt.load(Ordering::Relaxed) {
            return Err(PlayError::Interrupted.into());
        }
        Ok(())
    }
}

/// Rows looked at after which an evaluation is planned anew.
const FIRST_WORK: [u64; 3] = [100_000, 1_000_000, 10_000_000];

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
            let mut grown = true;
            while grown {
                grown = false;
                for rule in &set.rules {
                    let head = rule.head.relation.index();
                    let mut reads = found[head];
                    for_each_body_atom(rule, |atom, _| reads |= found[atom.relation.index()]);
                    grown |= reads && !found[head];
                    found[head] = reads;
                }
            }
            found
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
                interrupt: Arc::clone(&limits.interrupt),
            },
            game: game.clone(),
            terms,
            limits,
            options,
            evaluators: FxHashMap::default(),
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
        self.moving[question.atom.relation.index()]
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
        let atom = &question.atom;
        let mut model = self.model(atom.relation, situation)?;
        let mut matching = Vec::new();
        let mut bindings = vec![None; question.names.len()];
        let candidates = model.candidates(atom, &bindings, &mut self.terms);
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
            let mut above = Vec::new();
            let missing = self.missing(atom, &question.names, &mut model, &mut above)?;
            return Ok(Answer::Fails(missing));
        }
        matching.sort_by(|left, right| {
            let pairs = left.arguments.iter().zip(&right.arguments);
            let orders = pairs.map(|(l, r)| self.game.compare_terms(&self.terms, *l, *r));
            orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        let others = matching.split_off(matching.len().min(self.options.facts.max(1)));
        let derivations = matching.iter().map(|fact| self.derive(fact, &mut model));
        Ok(Answer::Holds {
            derivations: derivations.collect::<Result<_, _>>()?,
            others,
        })
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
        let of_joint = situation.joint.unwrap_or_default().iter().map(|m| m.term());
        let mut given = situation.facts.iter().copied().chain(of_joint);
        if given.any(|term| !self.terms.knows(term)) {
            self.terms.refresh();
        }
        let game = self.game.clone();
        let [state, does] = [Keyword::True, Keyword::Does].map(|keyword| game.keyword(keyword));
        let failed = |error| ExplainError::Play(play_error(&game, error));
        let (mut evaluator, query) = match self.evaluators.get(&relation) {
            Some(known) => known.clone(),
            None => {
                let inputs = [(state, Layer::First), (does, Layer::Second)];
                let inputs = inputs
                    .into_iter()
                    .filter_map(|(r, layer)| Some((r?, layer)));
                let inputs: Vec<_> = inputs.collect();
                let queries = [(0, vec![relation])];
                let bounds = Bounds {
                    facts: self.limits.facts,
                    work: self.limits.work,
                    interrupt: Arc::clone(&self.limits.interrupt),
                    ..Bounds::default()
                };
                let rules = game.rules().clone();
                let (evaluator, asks) =
                    Evaluator::new(rules, &inputs, &queries, &mut self.terms, bounds)
                        .map_err(failed)?;
                let made = (evaluator, asks[0]);
                self.evaluators.insert(relation, made.clone());
                made
            }
        };
        let most = self.limits.work;
        // Rules are planned by sizes that are only known once they were evaluated.
        for work in FIRST_WORK.into_iter().chain([most]) {
            evaluator.set_bounds(Bounds {
                work: work.min(most),
                ..evaluator.bounds().clone()
            });
            evaluator.begin(Layer::First);
            if let Some(state) = state {
                for fact in situation.facts {
                    evaluator.give(state, &[*fact]);
                }
            }
            evaluator.begin(Layer::Second);
            if let (Some(does), Some(joint)) = (does, situation.joint) {
                for (role, chosen) in game.roles().zip(joint) {
                    evaluator.give(does, &[game.role_term(role), chosen.term()]);
                }
            }
            match evaluator.ask(query, &mut self.terms) {
                Ok(()) => break,
                Err(error) if matches!(error.failure, Failure::Work(_)) && work < most => {
                    evaluator.replan();
                    let known = (evaluator.clone(), query);
                    self.evaluators.insert(relation, known);
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(Model::new(evaluator))
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
