//! Who plays which role.

use std::str::FromStr;
use std::time::Duration;

use anyhow::{anyhow, bail};

use crate::cli::{Context, legal, perft};
use crate::game::{Game, RoleId};
use crate::machine::Machine;
use crate::play::{FirstPlayer, MctsPlayer, Player, RandomPlayer};
use crate::search::Budget;
use crate::search::mcts::Mcts;

/// A kind of player.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A person at the terminal.
    Human,
    /// Uniformly at random.
    Random,
    /// The first legal move.
    First,
    /// Tree search.
    Mcts(Thought),
}

/// How long a search may think about a move.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Thought {
    /// A number of iterations.
    Iterations(u64),
    /// A time.
    Time(Duration),
}

/// A kind of player for one role, or for all that have none.
#[derive(Clone, PartialEq, Debug)]
pub struct Seat {
    role: Option<String>,
    kind: Kind,
}

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (role, kind) = match text.rsplit_once('=') {
            Some((role, kind)) => (Some(role.to_owned()), kind),
            None => (None, text),
        };
        let kind = match kind.split_once(':') {
            None => match kind {
                "human" => Kind::Human,
                "random" => Kind::Random,
                "first" => Kind::First,
                "mcts" => Kind::Mcts(Thought::Iterations(Mcts::default().iterations)),
                _ => {
                    return Err(format!(
                        "`{kind}` is no player; there are human, random, first and mcts"
                    ));
                }
            },
            Some(("mcts", thought)) => Kind::Mcts(match thought.strip_suffix('s') {
                Some(seconds) => Thought::Time(perft::parse_seconds(seconds)?),
                None => Thought::Iterations(thought.parse().map_err(|_| {
                    format!("`{thought}` is neither a number of iterations nor a time such as 2s")
                })?),
            }),
            Some((kind, _)) => return Err(format!("`{kind}` takes nothing after a colon")),
        };
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
    let default = |role: RoleId| match &other {
        Some(kind) => kind.clone(),
        None if person == Some(role) => Kind::Human,
        None => Kind::Random,
    };
    Ok(game
        .roles()
        .map(|role| kinds[role.index()].clone().unwrap_or_else(|| default(role)))
        .collect())
}

impl Kind {
    /// A player of this kind that is a program; for a person, one that plays the
    /// first legal move.
    pub fn player<'a, M: Machine + 'a>(
        &self,
        seed: u64,
        context: &Context,
    ) -> Box<dyn Player<M> + 'a> {
        match self {
            Kind::Human | Kind::First => Box::new(FirstPlayer),
            Kind::Random => Box::new(RandomPlayer::new(seed)),
            Kind::Mcts(thought) => Box::new(searcher(*thought, seed, context)),
        }
    }
}

/// A searching player that Ctrl-C ends.
pub fn searcher(thought: Thought, seed: u64, context: &Context) -> MctsPlayer {
    let options = Mcts {
        iterations: match thought {
            Thought::Iterations(iterations) => iterations,
            Thought::Time(_) => u64::MAX,
        },
        seed,
        ..Mcts::default()
    };
    let budget = Budget {
        time: match thought {
            Thought::Iterations(_) => None,
            Thought::Time(time) => Some(time),
        },
        interrupt: Some(context.interrupt().clone()),
        ..Budget::default()
    };
    MctsPlayer::new(options, budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, role: Option<&str>, kind: Kind) {
        let role = role.map(str::to_owned);
        assert_eq!(text.parse(), Ok(Seat { role, kind }));
    }

    #[test]
    fn seats_are_read() {
        check("human", None, Kind::Human);
        check("a=random", Some("a"), Kind::Random);
        check("a=b=first", Some("a=b"), Kind::First);
        let iterations = Kind::Mcts(Thought::Iterations(50));
        check("x=mcts:50", Some("x"), iterations);
        let time = Thought::Time(Duration::from_millis(1500));
        check("mcts:1.5s", None, Kind::Mcts(time));
    }

    #[test]
    fn what_is_no_player_is_refused() {
        for text in ["", "a=", "wizard", "mcts:", "mcts:x", "mcts:-1s", "first:3"] {
            assert!(text.parse::<Seat>().is_err(), "{text}");
        }
    }
}
