//! The last turn of a match in `PLAY` and `STOP`.

use std::fmt;

use super::spaced;

/// The part of a message that says what happened in the last turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LastTurn {
    /// One list or, at first, `NIL`: the joint move, one move for each role. In games with
    /// `sees`, the percepts of the player (the form of 2011).
    List(Option<Vec<String>>),
    /// The later form for games with `sees`.
    Own {
        /// The number of joint moves so far.
        turn: u64,
        /// The move that the host made for the player; absent before the first.
        own_move: Option<String>,
        /// The percepts of the player; `NIL` at first.
        percepts: Option<Vec<String>>,
    },
}

impl LastTurn {
    /// A joint move; `NIL` if it is empty.
    pub fn of_joint_move(moves: Vec<String>) -> Self {
        LastTurn::List(Some(moves).filter(|moves| !moves.is_empty()))
    }

    /// The list of moves or percepts.
    pub fn list(&self) -> &[String] {
        match self {
            LastTurn::List(list) | LastTurn::Own { percepts: list, .. } => {
                list.as_deref().unwrap_or_default()
            }
        }
    }

    /// Returns true if nothing has happened yet, or a list is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            LastTurn::List(_) => self.list().is_empty(),
            LastTurn::Own { turn, .. } => *turn == 0,
        }
    }
}

/// The form in messages.
impl fmt::Display for LastTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = match self {
            LastTurn::List(list) => list,
            LastTurn::Own {
                turn,
                own_move,
                percepts,
            } => {
                let own_move = own_move.as_deref().map(spaced);
                write!(f, "{turn} {} ", own_move.as_deref().unwrap_or("NIL"))?;
                percepts
            }
        };
        match list.as_deref() {
            None => f.write_str("NIL"),
            Some([]) => f.write_str("( )"),
            Some(list) => {
                f.write_str("(")?;
                for element in list {
                    write!(f, "{} ", spaced(element))?;
                }
                f.write_str(")")
            }
        }
    }
}
