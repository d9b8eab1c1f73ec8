//! The propositional network of a game, run over hundreds of positions at once.
//!
//! In: a game's rules, grounded. Out: for every fact that can ever hold, when it
//! holds next; for every move, when it is legal; when the game is over and what
//! it is worth then: all as gates of one [`network::Network`].

pub mod batch;
#[doc(hidden)]
pub mod clauses;
pub mod code;
mod constants;
mod cycles;
mod dead_gates;
mod decompose;
pub mod differential;
mod equivalence;
mod factor;
mod grounding;
mod grounding_methods;
mod interpret;
mod invariants;
pub mod lanes;
#[cfg(target_arch = "x86_64")]
mod native;
pub mod network;
mod passes;
pub mod perft;
pub mod playout;
mod possible;
mod relax;
pub mod rewrite;
pub mod rollouts;
mod sample;
pub mod select;
mod shape;
pub mod streams;
pub mod tape;

use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::{TermId, Terms};
pub use grounding_methods::{Approach, GroundLimits, Grounded, TooLarge};
pub use invariants::Exclusive;
use network::{Builder, Literal, Network, Node};
pub use passes::Pass;
pub use possible::possible_facts;

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
    /// Every fact that may ever hold, ordered by [`Game::compare_terms`].
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
    /// What the gates take for granted of every state: a fact, and the constant
    /// or fact that it equals. It holds in the initial state and is kept by
    /// every move of [`Propnet::moves`]; a state given from outside must be
    /// looked at, see [`Propnet::admits`].
    pub assumed: Vec<(usize, Literal)>,
    /// Facts that exclude each other in every state reached. The gates take that
    /// for granted too.
    pub exclusive: Vec<Exclusive>,
}

impl Propnet {
    /// Grounds a game.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] past a limit.
    pub fn ground(game: &Game, limits: &GroundLimits) -> Result<(Propnet, Grounded), TooLarge> {
        grounding_methods::ground(game, limits)
    }

    /// The terms, with those of all facts, moves and goal values.
    pub fn terms(&self) -> Terms {
        let mut terms = self.game.terms().clone();
        terms.refresh();
        terms
    }

    /// Everything that is asked of the network.
    pub fn roots(&self) -> Vec<Literal> {
        let mut roots = self.next.clone();
        roots.extend(self.legal.iter().flatten());
        roots.push(self.terminal);
        roots.extend(self.goals.iter().flatten().map(|goal| goal.1));
        roots
    }

    /// Whether the network speaks of a state: by fact, whether it holds.
    pub fn admits(&self, holds: &[bool]) -> bool {
        let equal = self.assumed.iter().all(|&(fact, equal)| {
            let value = match self.network.node(equal.node()) {
                Node::Input(other) => holds[other],
                _ => false,
            };
            holds[fact] == (value != equal.is_negated())
        });
        equal
            && self.exclusive.iter().all(|group| {
                let count = group.facts.iter().filter(|&&fact| holds[fact]).count();
                count == 1 || count == 0 && !group.exact
            })
    }

    /// Changes every literal that is asked for.
    fn for_each_root(&mut self, mut change: impl FnMut(&mut Literal)) {
        self.next.iter_mut().for_each(&mut change);
        self.legal.iter_mut().flatten().for_each(&mut change);
        change(&mut self.terminal);
        for goal in self.goals.iter_mut().flatten() {
            change(&mut goal.1);
        }
    }

    /// Takes over a rewritten network; `became` is by old node.
    #[doc(hidden)]
    pub fn rebuilt(&mut self, builder: Builder, became: &[Literal]) {
        self.network = builder.into_network();
        self.for_each_root(|root| *root = became[root.node()].negated_if(root.is_negated()));
    }

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
