//! The players of the roles.

use std::fmt;
use std::str::FromStr;

use anyhow::{anyhow, bail};

use crate::commands::legal;
use ggp_gdl::game::{Game, RoleId};
use ggp_play::record::MatchRecord;
use ggp_play::{AgentSpec, SpecError, is_agent};

/// The name of a person in options.
const HUMAN: &str = "human";

/// The player of a role.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A person at the terminal.
    Human,
    /// An agent.
    Agent(AgentSpec),
}

/// A player for one role, or for all roles without one.
#[derive(Clone, PartialEq, Debug)]
pub struct RolePlayer {
    role: Option<String>,
    kind: Kind,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Human => f.write_str(HUMAN),
            Kind::Agent(spec) => spec.fmt(f),
        }
    }
}

/// The reason why a text does not name a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KindError(SpecError);

impl fmt::Display for KindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            error @ SpecError::UnknownPlayer(_) => {
                write!(f, "{error}; or `{HUMAN}` to play yourself")
            }
            error => error.fmt(f),
        }
    }
}

impl std::error::Error for KindError {}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        match text {
            HUMAN => Ok(Kind::Human),
            _ => text.parse().map(Kind::Agent).map_err(KindError),
        }
    }
}

impl FromStr for RolePlayer {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        // An option of a player may hold another `=`.
        let split = text.find('=').filter(|at| !text[..*at].contains(':'));
        let (role, kind) = match split {
            Some(at) => (Some(text[..at].to_owned()), &text[at + 1..]),
            None => (None, text),
        };
        let kind = kind.parse()?;
        Ok(RolePlayer { role, kind })
    }
}

/// The players of all roles, separated by commas.
#[derive(Clone, PartialEq, Debug)]
pub struct Kinds(pub Vec<Kind>);

impl FromStr for Kinds {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        let mut players: Vec<String> = Vec::new();
        for part in text.split(',') {
            match players.last_mut() {
                // The options of a player are also separated by commas.
                Some(player) if player.contains(':') && part != HUMAN && !is_agent(part) => {
                    *player += ",";
                    *player += part;
                }
                _ => players.push(part.to_owned()),
            }
        }
        let kinds = players.iter().map(|player| player.parse());
        Ok(Kinds(kinds.collect::<Result<_, _>>()?))
    }
}

/// The players of a record by role, an error for players that are not available here; empty if
/// the record names none.
pub fn of_record(record: &MatchRecord) -> Vec<Result<Kind, KindError>> {
    let is_human = |role: usize| record.is_player_human.get(role) == Some(&true);
    let names = record.player_names_from_host.iter().enumerate();
    names
        .map(|(role, name)| match is_human(role) {
            true => Ok(Kind::Human),
            false => name.parse(),
        })
        .collect()
}

/// The player of each role. The default is the player of the record. Without a record, the
/// first role without a player is human, unless another role is, and all others play at
/// random.
///
/// # Errors
///
/// If a role is not in the game or has two players, or a player of the record is not available
/// here.
pub fn assign(
    game: &Game,
    players: &[RolePlayer],
    before: &[Result<Kind, KindError>],
) -> anyhow::Result<Vec<Kind>> {
    let mut kinds: Vec<Option<Kind>> = vec![None; game.role_count()];
    for player in players {
        let Some(name) = &player.role else { continue };
        let role = legal::find_role(game, name)?;
        if kinds[role.index()].replace(player.kind.clone()).is_some() {
            bail!("the role {name} has two players");
        }
    }
    let mut others = players.iter().filter(|player| player.role.is_none());
    let other = others.next().map(|player| player.kind.clone());
    if others.next().is_some() {
        return Err(anyhow!("two players for the other roles; write ROLE=KIND"));
    }
    if other.is_none() && before.len() == game.role_count() {
        let kinds = game.roles().map(|role| {
            let named = kinds[role.index()].clone().map(Ok);
            let recorded = || before[role.index()].clone();
            named.unwrap_or_else(recorded).map_err(|error| {
                let role = game.role_name(role);
                anyhow!("the recorded player of {role}: {error}; use --player {role}=KIND")
            })
        });
        return kinds.collect();
    }
    let is_free = |role: &RoleId| kinds[role.index()].is_none() && !game.is_random(*role);
    let person = match &other {
        None if !kinds.contains(&Some(Kind::Human)) => game.roles().find(is_free),
        _ => None,
    };
    let random: AgentSpec = "random".parse().expect("the agent exists");
    let default = |role: RoleId| match &other {
        // Chance wants no score.
        Some(kind) if !game.is_random(role) => kind.clone(),
        _ if person == Some(role) => Kind::Human,
        _ => Kind::Agent(random.clone()),
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
        assert_eq!(text.parse(), Ok(RolePlayer { role, kind }));
    }

    #[test]
    fn role_players_are_parsed() {
        check("human", None, "human");
        check("a=random", Some("a"), "random");
        check("x=mcts:50", Some("x"), "mcts:50");
        check("x=mcts:exploration=2", Some("x"), "mcts:exploration=2");
        check("mcts:1.5s", None, "mcts:1.5s");
    }

    #[test]
    fn commas_separate_players_and_their_options() {
        let kinds = |text: &str| text.parse::<Kinds>().map(|kinds| kinds.0);
        let expected = |texts: &[&str]| Ok(texts.iter().map(|t| t.parse().unwrap()).collect());
        assert_eq!(kinds("human,first"), expected(&["human", "first"]));
        assert_eq!(
            kinds("mcts:500,exploration=2,human,legal,mcts:1s,7"),
            expected(&["mcts:500,exploration=2", "human", "legal", "mcts:1s,7"])
        );
        for text in ["", "first,", "first,7", "mcts:5,wizard", "mcts:,first"] {
            assert!(kinds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn invalid_players_are_rejected() {
        for text in ["", "a=", "a=wizard", "human:3"] {
            assert!(text.parse::<RolePlayer>().is_err(), "{text}");
        }
    }
}
