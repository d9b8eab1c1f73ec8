//! The propositional network of a game, run over hundreds of positions at once.
//!
//! In: a game's rules, grounded. Out: for every fact that can ever hold, when it
//! holds next; for every move, when it is legal; when the game is over and what
//! it is worth then: all as gates of one [`network::Network`].

pub mod code;
pub mod draw;
mod interpret;
pub mod lanes;
pub mod network;
pub mod streams;
pub mod tape;

use crate::game::{Game, Move};
use crate::ground::TermId;
use network::{Literal, Network};

/// A game as a network.
///
/// The network's first inputs are the facts, in the order of
/// [`Propnet::facts`]; then come the moves, role by role, in the order of
/// [`Propnet::moves`].
#[derive(Clone, Debug)]
pub struct Propnet {
    /// The game.
    pub game: Game,
    /// All gates.
    pub network: Network,
    /// Every fact that may ever hold, ascending by id.
    pub facts: Vec<TermId>,
    /// By role: every move that may ever be legal, in the order of
    /// [`Game::compare_terms`].
    pub moves: Vec<Vec<Move>>,
    /// By fact: whether it holds initially.
    pub initial: Vec<bool>,
    /// By fact: whether it holds after the joint move. Depends on facts and
    /// moves.
    pub next: Vec<Literal>,
    /// By role and move: whether the move is legal. Depends on facts only.
    pub legal: Vec<Vec<Literal>>,
    /// Whether the game is over. Depends on facts only.
    pub terminal: Literal,
    /// By role: goal values as the rules write them, and when they are due.
    /// Depends on facts only.
    pub goals: Vec<Vec<(TermId, Literal)>>,
}

impl Propnet {
    /// The input of a fact, by its position in [`Propnet::facts`].
    pub fn fact_input(&self, fact: usize) -> usize {
        fact
    }

    /// The input of a role's move, by its position in [`Propnet::moves`].
    pub fn move_input(&self, role: usize, chosen: usize) -> usize {
        let before: usize = self.moves[..role].iter().map(Vec::len).sum();
        self.facts.len() + before + chosen
    }
}
