//! Who plays which role.

use std::fmt;
use std::str::FromStr;

use anyhow::{anyhow, bail};

use crate::cli::legal;
use crate::game::{Game, RoleId};
use crate::play::{AgentSpec, KINDS};

/// Who plays a role.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A person at the terminal.
    Human,
    /// A program.
    Agent(AgentSpec),
}

/// A kind of player for one role, or for all that have none.
#[derive(Clone, PartialEq, Debug)]
pub struct Seat {
    role: Option<String>,
    kind: Kind,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Human => f.write_str("human"),
            Kind::Agent(spec) => spec.fmt(f),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "human" => Ok(Kind::Human),
            "list" => Err(kinds()),
            _ => match text.parse() {
                Ok(spec) => Ok(Kind::Agent(spec)),
                Err(why) => Err(format!("{why}; and human, for yourself")),
            },
        }
    }
}

/// All kinds, and under each its options, a line each.
fn kinds() -> String {
    let mut lines = vec!["the kinds of players:".to_owned(), "  human      you".to_owned()];
    for kind in KINDS {
        lines.push(format!("  {:<10} {}", kind.name, kind.what));
        let options = kind.options.iter();
        lines.extend(options.map(|(usage, what)| format!("    {usage:<36} {what}")));
    }
    lines.join("\n")
}

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // An option of a player may hold another `=`.
        let split = text.find('=').filter(|at| !text[..*at].contains(':'));
        let (role, kind) = match split {
            Some(at) => (Some(text[..at].to_owned()), &text[at + 1..]),
            None => (None, text),
        };
        let kind = kind.parse()?;
        Ok(Seat { role, kind })
    }
}

/// The kind of player of each role. The first role without a player is human,
/// if nobody is yet, and all others play at random.
///
/// # Errors
///
/// If a role is not in the game or has two players.
pub fn assign(game: &Game, seats: &[Seat]) -> anyhow::Result<Vec<Kind>> {
    let mut kinds: Vec<Option<Kind>> = vec![None; game.role_count()];
    for seat in seats {
        let Some(name) = &seat.role else { continue };
        let role = legal::find_role(game, name)?;
        if kinds[role.index()].replace(seat.kind.clone()).is_some() {
            bail!("the role {name} has two players");
        }
    }
    let mut others = seats.iter().filter(|seat| seat.role.is_none());
    let other = others.next().map(|seat| seat.kind.clone());
    if others.next().is_some() {
        return Err(anyhow!("two players for the other roles; write ROLE=KIND"));
    }
    let is_free = |role: &RoleId| kinds[role.index()].is_none() && !game.is_random(*role);
    let person = match &other {
        None if !kinds.contains(&Some(Kind::Human)) => game.roles().find(is_free),
        _ => None,
    };
    let random: AgentSpec = "random".parse().expect("there is such a kind");
    let default = |role: RoleId| match &other {
        Some(kind) => kind.clone(),
        None if person == Some(role) => Kind::Human,
        None => Kind::Agent(random.clone()),
    };
    Ok(game
        .roles()
        .map(|role| kinds[role.index()].clone().unwrap_or_else(|| default(role)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, role: Option<&str>, kind: &str) {
        let role = role.map(str::to_owned);
        let kind = kind.parse().unwrap();
        assert_eq!(text.parse(), Ok(Seat { role, kind }));
    }

    #[test]
    fn seats_are_read() {
        check("human", None, "human");
        check("a=random", Some("a"), "random");
        check("x=mcts:50", Some("x"), "mcts:50");
        check("x=mcts:exploration=2", Some("x"), "mcts:exploration=2");
        check("mcts:1.5s", None, "mcts:1.5s");
    }

    #[test]
    fn what_is_no_player_is_refused() {
        for text in ["", "a=", "a=wizard", "human:3"] {
            assert!(text.parse::<Seat>().is_err(), "{text}");
        }
    }
}
