//! The history of facts of the state over the moves of a match.

use rustc_hash::FxHashSet;

use super::model::bind;
use super::question::QuestionKind;
use super::{
    Derivation, ExplainError, Explainer, Explanation, GroundAtom, Missing, MissingReason, Question,
    Reason, Situation,
};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Move;
use ggp_gdl::program::{Atom, Term};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

/// The reason why a fact became true.
#[derive(Clone, Debug)]
pub enum PeriodStart {
    /// It is true in the initial state; with its derivation from `init`, if there is
    /// one.
    Start(Option<Derivation>),
    /// It was derived by `next` after a move.
    Move(Derivation),
}

/// A period during which a fact is true.
#[derive(Clone, Debug)]
pub struct TruePeriod {
    /// The first state with the fact. This is also the number of the move before it;
    /// 0 is the initial state.
    pub from: usize,
    /// The last state with the fact.
    pub to: usize,
    /// The reason why it became true.
    pub change: PeriodStart,
    /// The rules that kept it true, each with the number of moves.
    pub kept: Vec<(usize, usize)>,
    /// The reason why the next move did not keep it true, if there is a next move.
    pub gone: Option<Missing>,
}

/// All periods of one fact.
#[derive(Clone, Debug)]
pub struct FactHistory {
    /// The fact.
    pub fact: GroundAtom,
    /// The periods, in order of time.
    pub stays: Vec<TruePeriod>,
}

/// The histories of the facts that match a question.
#[derive(Clone, Debug)]
pub enum FactHistories {
    /// At least one matching fact was true at some time.
    Some {
        /// The histories of the facts followed, those true latest first.
        followed: Vec<FactHistory>,
        /// The other facts.
        others: Vec<GroundAtom>,
    },
    /// No matching fact was ever true; with the reason for the last move, or for the
    /// initial state.
    Never(Atom, Vec<Box<str>>, Missing),
}

impl Explainer {
    /// Follows facts of the state through a match, given by its states and the joint
    /// moves between them.
    ///
    /// # Errors
    ///
    /// [`ExplainError`] if a fact cannot be explained.
    ///
    /// # Panics
    ///
    /// If the number of states is not one more than the number of joint moves, or the
    /// question is not [about the state](Question::is_of_state).
    pub fn history(
        &mut self,
        question: &Question,
        states: &[Vec<TermId>],
        joints: &[Vec<Move>],
    ) -> Result<FactHistories, ExplainError> {
        assert_eq!(states.len(), joints.len() + 1);
        let QuestionKind::Some(atom) = &question.kind else {
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
                    found.push(GroundAtom {
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
            // The first state may differ from the initial state of the rules.
            let missing = missing
                .err()
                .unwrap_or_else(|| without_rules(atom, &question.names));
            return Ok(FactHistories::Never(
                atom.clone(),
                question.names.clone(),
                missing,
            ));
        }
        let others = found.split_off(found.len().min(self.options.facts.max(1)));
        let followed = found
            .into_iter()
            .map(|fact| self.course(fact, states, joints));
        Ok(FactHistories::Some {
            followed: followed.collect::<Result<_, _>>()?,
            others,
        })
    }

    fn course(
        &mut self,
        fact: GroundAtom,
        states: &[Vec<TermId>],
        joints: &[Vec<Move>],
    ) -> Result<FactHistory, ExplainError> {
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
                0 => PeriodStart::Start(self.changed(&atom, &[], None)?.ok()),
                at => {
                    PeriodStart::Move(self.changed(&atom, &[], before(at))?.map_err(underivable)?)
                }
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
            stays.push(TruePeriod {
                from,
                to: at,
                change,
                kept,
                gone,
            });
            at += 1;
        }
        Ok(FactHistory { fact, stays })
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

    /// The number of the move after which the last fact that matches an atom was no
    /// longer true, if there was one in an earlier state.
    pub(super) fn gone(&self, atom: &Atom, names: &[Box<str>]) -> Option<usize> {
        let mut past = self.past.iter();
        let has = |facts: &Vec<TermId>| facts.iter().any(|fact| self.matches(atom, names, *fact));
        past.rposition(has).map(|at| at + 1)
    }

    /// The derivation of a fact of the state after a move, or initially if there is
    /// no move; or the reason why it has no derivation.
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
        let Some(relation) = self.game.keyword(keyword) else {
            return Ok(Err(without_rules(atom, names)));
        };
        let atom = Atom {
            relation,
            ..atom.clone()
        };
        let situation = Situation {
            facts: step.map_or(&[], |(facts, _)| facts),
            joint: step.map(|(_, joint)| joint),
        };
        Ok(match self.asked(&atom, names, situation)? {
            Explanation::Holds { derivations, .. } => Ok(derivations
                .into_iter()
                .next()
                .ok_or(ExplainError::Underivable)?),
            Explanation::Fails(missing) => Err(missing),
            Explanation::Not(_) | Explanation::Test { .. } => unreachable!("an atom is asked"),
        })
    }
}

/// The reason why an atom does not hold that no rule can derive.
fn without_rules(atom: &Atom, names: &[Box<str>]) -> Missing {
    Missing {
        atom: atom.clone(),
        names: names.into(),
        reason: MissingReason::Given(Vec::new()),
        cost: 0,
        never: false,
    }
}
