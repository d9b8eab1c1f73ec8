//! How a fact of the state came, stayed and went over the moves of a match.

use super::model::bind;
use super::{Answer, Derivation, ExplainError, Explainer, Missing, Question, Reason, Situation};
use crate::check::Keyword;
use crate::game::Move;
use crate::ground::TermId;
use crate::program::Term;

/// How a fact came.
#[derive(Clone, Debug)]
pub enum Change {
    /// It is true at first: why `init` gives it.
    Start(Derivation),
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

/// All such times.
#[derive(Clone, Debug)]
pub struct Course {
    /// The fact, or what was asked if it never held.
    pub question: Question,
    /// In order of time.
    pub stays: Vec<Stay>,
    /// If there are none: why the last move, or the start, does not bring it.
    pub never: Option<Missing>,
}

impl Explainer {
    /// Follows a fact of the state through a match: its states, and the joint
    /// moves between them. Of a question with variables, a fact that matches as
    /// late as possible is followed.
    ///
    /// # Errors
    ///
    /// [`ExplainError`].
    ///
    /// # Panics
    ///
    /// If there is not one state more than there are joint moves.
    pub fn history(
        &mut self,
        question: &Question,
        states: &[Vec<TermId>],
        joints: &[Vec<Move>],
    ) -> Result<Course, ExplainError> {
        assert_eq!(states.len(), joints.len() + 1);
        let known = |fact: &TermId| self.terms.knows(*fact);
        if !states.iter().flatten().all(known) {
            self.terms.refresh();
        }
        let mut matches = states.iter().rev().flatten();
        let Some(&fact) = matches.find(|fact| self.matches(question, **fact)) else {
            let missing = match joints.len() {
                0 => self.changed(question, None)?,
                last => self.changed(question, Some((&states[last - 1], &joints[last - 1])))?,
            };
            return Ok(Course {
                question: question.clone(),
                stays: Vec::new(),
                never: missing.err(),
            });
        };
        let mut question = question.clone();
        question.atom.arguments = vec![Term::Ground(fact)];
        question.names.clear();
        let holds: Vec<bool> = states.iter().map(|facts| facts.contains(&fact)).collect();
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
                0 => Change::Start(self.changed(&question, None)?.map_err(underivable)?),
                at => Change::Move(self.changed(&question, before(at))?.map_err(underivable)?),
            };
            let from = at;
            let mut kept: Vec<(usize, usize)> = Vec::new();
            while at + 1 < states.len() && holds[at + 1] {
                at += 1;
                let derivation = self.changed(&question, before(at))?.map_err(underivable)?;
                if let Reason::Rule { rule, .. } = derivation.proofs[0].reason {
                    match kept.iter_mut().find(|(known, _)| *known == rule) {
                        Some((_, times)) => *times += 1,
                        None => kept.push((rule, 1)),
                    }
                }
            }
            let gone = match at + 1 < states.len() {
                true => self.changed(&question, before(at + 1))?.err(),
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
        Ok(Course {
            question,
            stays,
            never: None,
        })
    }

    fn matches(&self, question: &Question, fact: TermId) -> bool {
        let mut bindings = vec![None; question.names.len()];
        let [term] = &question.atom.arguments[..] else {
            return false;
        };
        bind(term, fact, &mut bindings, &mut Vec::new(), &self.terms)
    }

    /// Why a move brings what is asked, or the start if there is no move; or why
    /// not.
    fn changed(
        &mut self,
        question: &Question,
        step: Option<(&[TermId], &[Move])>,
    ) -> Result<Result<Derivation, Missing>, ExplainError> {
        let keyword = match step {
            None => Keyword::Init,
            Some(_) => Keyword::Next,
        };
        let Some(relation) = self.game.keyword(keyword) else {
            return Err(ExplainError::Underivable);
        };
        let situation = Situation {
            facts: step.map_or(&[], |(facts, _)| facts),
            joint: step.map(|(_, joint)| joint),
        };
        Ok(match self.explain(&question.of(relation), situation)? {
            Answer::Holds { derivations, .. } => Ok(derivations
                .into_iter()
                .next()
                .ok_or(ExplainError::Underivable)?),
            Answer::Fails(missing) => Err(missing),
        })
    }
}
