//! Known results of games, and comparison with the results found here.
//!
//! In: a table as CSV with the columns `game`, `known` (`solvable`, `unsolvable` or `open`),
//! `moves` (of a plan), `proved` (`shortest` if no plan is shorter), `settled_by`, `source`
//! and optionally `rules` (the beginning of the digest of the rules). Out: contradictions.
//! Games are identified by their rules, whatever their files are called; by name only if the
//! table has no digest.

use ggp_gdl::counted::counted;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::whole_text;

/// The known result of a game.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Known {
    game: String,
    known: Status,
    moves: Option<usize>,
    proved: Option<Proved>,
    settled_by: String,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<String>,
}

#[derive(Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Solvable,
    Unsolvable,
    Open,
}

#[derive(Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Proved {
    /// No plan is shorter.
    Shortest,
}

/// The result of a game found here.
#[derive(Copy, Clone)]
pub(super) enum Ours {
    /// A plan of this number of moves, and whether it is proved that no plan is shorter.
    Plan(usize, bool),
    Unsolvable,
    /// No plan has at most this number of moves; `None` if nothing is known.
    NoPlan(Option<u32>),
}

/// The result of looking up a game in a table.
#[derive(Copy, Clone)]
pub(super) enum Match<'r> {
    Known(&'r Known),
    /// The table has only a game of the same name with other rules.
    OtherRules,
    Unknown,
}

/// A table of known results.
pub(super) struct Reference(Vec<Known>);

impl Reference {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not such a table.
    pub fn read(path: &Path) -> anyhow::Result<Reference> {
        let name = path.display();
        let text = whole_text::read(path)?;
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
        let rows: Result<Vec<Known>, csv::Error> = rows.collect();
        Ok(Reference(rows.with_context(|| {
            format!("{name} is not a table of known results")
        })?))
    }

    /// Looks up the game with this name and this digest of its rules.
    pub fn of(&self, game: &str, rules: &str) -> Match<'_> {
        let has_rules = |known: &&Known| {
            let begins = known.rules.as_ref().filter(|begin| !begin.is_empty());
            begins.is_some_and(|begin| rules.starts_with(begin))
        };
        let mut of_name = self.0.iter().filter(|known| known.game == game);
        match (self.0.iter().find(has_rules), of_name.clone().next()) {
            (Some(known), _) => Match::Known(known),
            (None, None) => Match::Unknown,
            (None, Some(_)) => match of_name.find(|known| known.rules.is_none()) {
                Some(known) => Match::Known(known),
                None => Match::OtherRules,
            },
        }
    }
}

impl Known {
    /// A short text.
    pub fn text(&self) -> String {
        let moves = match (self.moves, self.proved) {
            (Some(moves), Some(Proved::Shortest)) => format!(", {moves}"),
            (Some(moves), None) => format!(", <= {moves}"),
            (None, _) => String::new(),
        };
        match self.known {
            Status::Solvable => format!("yes{moves}"),
            Status::Unsolvable => "no".to_owned(),
            Status::Open => "open".to_owned(),
        }
    }

    /// The contradiction between a result and this one, if there is one.
    pub fn contradiction(&self, ours: Ours) -> Option<String> {
        let shortest = self.moves.filter(|_| self.proved.is_some());
        match (self.known, ours) {
            (Status::Unsolvable, Ours::Plan(moves, _)) => Some(format!(
                "a plan of {}, but the game is known to be unsolvable",
                counted(moves, "move")
            )),
            (Status::Solvable, Ours::Unsolvable) => {
                Some("unsolvable, but a plan is known".to_owned())
            }
            (_, Ours::Plan(moves, _)) if shortest.is_some_and(|least| moves < least) => {
                Some(format!(
                    "a plan of {}, fewer than the proved minimum",
                    counted(moves, "move")
                ))
            }
            (_, Ours::Plan(moves, true)) if self.moves.is_some_and(|known| known < moves) => {
                Some(format!(
                    "{} as the fewest, but a shorter plan is known",
                    counted(moves, "move")
                ))
            }
            (_, Ours::NoPlan(Some(within)))
                if self.moves.is_some_and(|moves| moves <= within as usize) =>
            {
                Some(format!(
                    "no plan within {}, but one is known",
                    counted(within, "move")
                ))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Match, Ours, Reference};

    fn table(head: &str, rows: &str) -> Reference {
        let text = format!("game,known,moves,proved,settled_by,source{head}\n{rows}\n");
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
        Reference(rows.map(|row| row.expect("it is a row")).collect())
    }

    fn known(rows: &str) -> Known {
        match table("", rows).of("a", "1234") {
            Match::Known(known) => known.clone(),
            Match::OtherRules | Match::Unknown => panic!("it is there"),
        }
    }

    #[test]
    fn games_are_known_by_their_rules() {
        let table = table(
            ",rules",
            "a,solvable,9,,x,y,12ab\nb,unsolvable,,,x,y,34cd\nc,open,,,x,y,",
        );
        let moves = |name, rules| match table.of(name, rules) {
            Match::Known(known) => known.text(),
            Match::OtherRules => "other rules".to_owned(),
            Match::Unknown => "unknown".to_owned(),
        };
        assert_eq!(moves("a", "12ab99"), "yes, <= 9");
        assert_eq!(moves("a", "12ac99"), "other rules");
        assert_eq!(moves("a", "34cd99"), "no");
        assert_eq!(moves("z", "12ab99"), "yes, <= 9");
        assert_eq!(moves("z", "99"), "unknown");
        // The table has no digest of its rules.
        assert_eq!(moves("c", "99"), "open");
    }

    #[test]
    fn what_cannot_be_right_is_told() {
        let told = |rows, ours| known(rows).contradiction(ours).is_some();
        let shortest = "a,solvable,9,shortest,x,y";
        assert!(told(shortest, Ours::Plan(8, false)));
        assert!(told(shortest, Ours::Plan(10, true)));
        assert!(told(shortest, Ours::Unsolvable));
        assert!(told(shortest, Ours::NoPlan(Some(9))));
        assert!(!told(shortest, Ours::NoPlan(Some(8))));
        assert!(!told(shortest, Ours::NoPlan(None)));
        assert!(!told(shortest, Ours::Plan(9, true)));
        assert!(!told(shortest, Ours::Plan(10, false)));
        let bound = "a,solvable,9,,x,y";
        assert!(!told(bound, Ours::Plan(8, true)));
        assert!(told(bound, Ours::Plan(10, true)));
        assert!(told("a,unsolvable,,,x,y", Ours::Plan(1, false)));
        assert!(!told("a,open,,,x,y", Ours::Unsolvable));
    }
}
