//! How a fact of the state came, stayed and went over the moves of a match.

use rustc_hash::FxHashSet;

use super::model::bind;
use super::question::Kind;
use super::{
    Answer, Derivation, ExplainError, Explainer, FactOf, Missing, Nothing, Question, Reason,
    Situation,
};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Move;
use ggp_gdl::program::{Atom, Term};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

/// How a fact came.
#[derive(Clone, Debug)]
pub enum Change {
    /// It is true at first: why `init` gives it, if it does.
    Start(Option<Derivation>),
    /// A move brought it: why `next` gives it.
    Move(Derivation),
}

/// A time during which a fact is true.
#[derive(Clone, Debug)]
pub struct Stay {
    /// The first state with the fact; also the number of the move that brought
    /// it, 0 for the start.
    pub from: usize,
    /// The last state with it.
    pub to: usize,
    /// How it came.
    pub change: Change,
    /// The rules that kept it, each with the number of moves.
    pub kept: Vec<(usize, usize)>,
    /// Why the next move did not keep it, if there is one.
    pub gone: Option<Missing>,
}

/// All such times of one fact.
#[derive(Clone, Debug)]
pub struct Course {
    /// The fact.
    pub fact: FactOf,
    /// In order of time.
    pub stays: Vec<Stay>,
}

/// What became of the facts that match a question.
#[derive(Clone, Debug)]
pub enum Courses {
    /// Some were true.
    Some {
        /// As many as were to be followed, first those that were true latest.
        followed: Vec<Course>,
        /// The others.
        others: Vec<FactOf>,
    },
    /// None ever was; why the last move, or the start, does not bring one.
    Never(Atom, Vec<Box<str>>, Missing),
}

impl Explainer {
    /// Follows facts of the state through a match: its states, and the joint
    /// moves between them.
    ///
    /// # Errors
    ///
    /// [`ExplainError`].
    ///
    /// # Panics
    ///
    /// If there is not one state more than there are joint moves, or the question
    /// is not [of the state](Question::is_of_state).
    pub fn history(
        &mut self,
        question: &Question,
        states: &[Vec<TermId>],
        joints: &[Vec<Move>],
    ) -> Result<Courses, ExplainError> {
        assert_eq!(states.len(), joints.len() + 1);
        let Kind::Some(atom) = &question.kind else {
            panic!("only a fact of the state has a history");
        };
        let known = |fact: &TermId| self.terms.knows(*fact);
        if !states.iter().flatten().all(known) {
            self.terms.refresh();
        }
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for facts in states.iter().rev() {
            let first = found.len();
            for &fact in facts {
                if self.matches(atom, &question.names, fact) && seen.insert(fact) {
                    found.push(FactOf {
                        relation: atom.relation,
                        arguments: [fact].into(),
                    });
                }
            }
            found[first..].sort_by(|left, right| self.compare(left, right));
        }
        if found.is_empty() {
            let last = joints.len().checked_sub(1);
            let step = last.map(|last| (&states[last][..], &joints[last][..]));
            let missing = self.changed(atom, &question.names, step)?;
            // It may start with other facts than the rules say.
            let missing = missing.err().unwrap_or_else(|| Missing {
                atom: atom.clone(),
                names: question.names.clone().into(),
                reason: Nothing::Given(Vec::new()),
                cost: 0,
                never: false,
            });
            return Ok(Courses::Never(
                atom.clone(),
                question.names.clone(),
                missing,
            ));
        }
        let others = found.split_off(found.len().min(self.options.facts.max(1)));
        let followed = found
            .into_iter()
            .map(|fact| self.course(fact, states, joints));
        Ok(Courses::Some {
            followed: followed.collect::<Result<_, _>>()?,
            others,
        })
    }

    fn course(
        &mut self,
        fact: FactOf,
        states: &[Vec<TermId>],
        joints: &[Vec<Move>],
    ) -> Result<Course, ExplainError> {
        let term = fact.arguments[0];
        let atom = Atom {
            relation: fact.relation,
            arguments: vec![Term::Ground(term)],
            span: Span::default(),
        };
        let holds: Vec<bool> = states.iter().map(|facts| facts.contains(&term)).collect();
        let mut stays = Vec::new();
        let mut at = 0;
        while at < states.len() {
            if !holds[at] {
                at += 1;
                continue;
            }
            let before = |at: usize| Some((&states[at - 1][..], &joints[at - 1][..]));
            let underivable = |_| ExplainError::Underivable;
            let change = match at {
                0 => Change::Start(self.changed(&atom, &[], None)?.ok()),
                at => Change::Move(self.changed(&atom, &[], before(at))?.map_err(underivable)?),
            };
            let from = at;
            let mut kept: Vec<(usize, usize)> = Vec::new();
            while at + 1 < states.len() && holds[at + 1] {
                at += 1;
                let derivation = self.changed(&atom, &[], before(at))?.map_err(underivable)?;
                if let Reason::Rule { rule, .. } = derivation.proofs[0].reason {
                    match kept.iter_mut().find(|(known, _)| *known == rule) {
                        Some((_, times)) => *times += 1,
                        None => kept.push((rule, 1)),
                    }
                }
            }
            let gone = match at + 1 < states.len() {
                true => self.changed(&atom, &[], before(at + 1))?.err(),
                false => None,
            };
            stays.push(Stay {
                from,
                to: at,
                change,
                kept,
                gone,
            });
            at += 1;
        }
        Ok(Course { fact, stays })
    }

    fn matches(&self, atom: &Atom, names: &[Box<str>], fact: TermId) -> bool {
        let mut bindings = vec![None; names.len()];
        bind(
            &atom.arguments[0],
            fact,
            &mut bindings,
            &mut Vec::new(),
            &self.terms,
        )
    }

    /// The number of the move with which the last fact that matches an atom went, if
    /// there was one in an earlier state.
    pub(super) fn gone(&self, atom: &Atom, names: &[Box<str>]) -> Option<usize> {
        let mut past = self.past.iter();
        let has = |facts: &Vec<TermId>| facts.iter().any(|fact| self.matches(atom, names, *fact));
        past.rposition(has).map(|at| at + 1)
    }

    /// Why a move brings a fact of the state, or the start if there is no move; or
    /// why not.
    fn changed(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        step: Option<(&[TermId], &[Move])>,
    ) -> Result<Result<Derivation, Missing>, ExplainError> {
        let keyword = match step {
            None => Keyword::Init,
            Some(_) => Keyword::Next,
        };
        let atom = Atom {
            relation: self
                .game
                .keyword(keyword)
                .ok_or(ExplainError::Underivable)?,
            ..atom.clone()
        };
        let situation = Situation {
            facts: step.map_or(&[], |(facts, _)| facts),
            joint: step.map(|(_, joint)| joint),
        };
        Ok(match self.asked(&atom, names, situation)? {
            Answer::Holds { derivations, .. } => Ok(derivations
                .into_iter()
                .next()
                .ok_or(ExplainError::Underivable)?),
            Answer::Fails(missing) => Err(missing),
            Answer::Not(_) | Answer::Test { .. } => unreachable!("an atom is asked"),
        })
    }
}
