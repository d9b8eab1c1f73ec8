//! A limit that was exceeded, with the rule that reached it.

use std::borrow::Cow;
use std::fmt;

use ggp_gdl::counted::counted_phrase;
use ggp_gdl::datalog::{EvaluationError, Failure};
use ggp_gdl::game::Game;
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermOverflow;
use serde::Serialize;

/// The limit that was exceeded, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Excess {
    /// The counted things, as a plural noun: `facts in one state`.
    pub what: Cow<'static, str>,
    /// The largest number allowed.
    pub limit: u64,
    /// The rule that was being evaluated, as `file:line:column`.
    pub rule: Option<String>,
    /// The beginning of a term that became too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
}

impl Excess {
    /// More than the limit, reached outside of any rule.
    pub fn new(what: &'static str, limit: u64) -> Excess {
        Excess {
            what: what.into(),
            limit,
            rule: None,
            term: None,
        }
    }

    /// A term that is too large, or one too many.
    pub fn of_terms(game: &Game, overflow: TermOverflow) -> Excess {
        let (what, limit) = overflow.what();
        let term = match overflow {
            TermOverflow::Symbols { part, .. } => {
                let mut terms = game.terms().clone();
                terms.refresh();
                Some(game.start_of_text(&terms, part))
            }
            _ => None,
        };
        Excess {
            term,
            ..Excess::new(what, limit as u64)
        }
    }

    /// The limit that a failed evaluation exceeded; `None` if it was stopped. The
    /// numbers of facts and rows are called what `names` calls them.
    pub(crate) fn of(
        game: &Game,
        error: EvaluationError,
        [facts, rows]: [&'static str; 2],
    ) -> Option<Excess> {
        let excess = match error.failure {
            Failure::Facts(limit) => Excess::new(facts, limit as u64),
            Failure::Work(limit) => Excess::new(rows, limit),
            Failure::Terms(overflow) => Excess::of_terms(game, overflow),
            Failure::Interrupted | Failure::Refused | Failure::Late => return None,
        };
        Some(excess.at(game, error.rule))
    }

    /// The same with the place of the rule.
    pub(crate) fn at(self, game: &Game, rule: Option<Span>) -> Excess {
        Excess {
            rule: rule.map(|span| game.sources().place(span)),
            ..self
        }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {}", counted_phrase(self.limit, &self.what))?;
        if let Some(rule) = &self.rule {
            write!(f, ", reached by the rule at {rule}")?;
        }
        match &self.term {
            Some(term) => write!(f, ", in a term around {term}"),
            None => Ok(()),
        }
    }
}
