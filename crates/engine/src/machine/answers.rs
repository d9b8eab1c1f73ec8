//! The parts of answers that all backends share: scores and faults.

use super::{Fault, Machine, PlayError, canonical_facts};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, RoleId, Score};
use ggp_gdl::program::{Rule, Term};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

/// Answers derived from other answers.
pub(super) trait Answers: Machine {
    /// The score for a role's goal values.
    fn score(
        &self,
        state: &Self::State,
        role: RoleId,
        values: &[TermId],
    ) -> Result<Score, PlayError> {
        match values {
            [] => Err(PlayError::NoGoal(self.fault(
                state,
                role,
                Keyword::Goal,
                values,
            ))),
            [value] => self
                .game()
                .score(self.terms(), *value)
                .map_err(|_| PlayError::BadGoal(self.fault(state, role, Keyword::Goal, values))),
            _ => Err(PlayError::AmbiguousGoal(self.fault(
                state,
                role,
                Keyword::Goal,
                values,
            ))),
        }
    }

    /// The error for a role that cannot move.
    fn no_legal_move(&self, state: &Self::State, role: RoleId) -> PlayError {
        PlayError::NoLegalMove(self.fault(state, role, Keyword::Legal, &[]))
    }

    /// A fault, with the rules of a keyword that may be involved.
    fn fault(
        &self,
        state: &Self::State,
        role: RoleId,
        keyword: Keyword,
        found: &[TermId],
    ) -> Fault {
        let game = self.game();
        let name = game.role_term(role);
        let rules = game.rules();
        let concerns = |rule: &&Rule| {
            Some(rule.head.relation) == game.keyword(keyword)
                && match (&rule.head.arguments[0], &rule.head.arguments[1]) {
                    (Term::Ground(other), _) if *other != name => false,
                    (_, Term::Ground(value)) => found.is_empty() || found.contains(value),
                    _ => true,
                }
        };
        let mut places: Vec<_> = rules
            .rules
            .iter()
            .filter(concerns)
            .map(|r| r.span)
            .collect();
        places.dedup();
        let found = found.iter();
        let mut found: Vec<String> = found.map(|value| game.text(self.terms(), *value)).collect();
        found.sort_unstable();
        Fault {
            role: game.role_name(role).to_owned(),
            found,
            state: canonical_facts(self, state),
            rules: places.iter().map(|p| game.sources().place(*p)).collect(),
        }
    }
}

impl<M: Machine> Answers for M {}

impl PlayError {
    /// The error with the place of the rule that was being evaluated.
    pub(super) fn at(self, game: &Game, at: Option<Span>) -> PlayError {
        match self {
            PlayError::TooLarge(excess) if excess.rule.is_none() => {
                PlayError::TooLarge(excess.at(game, at))
            }
            other => other,
        }
    }
}
