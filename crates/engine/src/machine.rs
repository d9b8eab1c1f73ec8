//! The state machine of a game: one API for all backends.
//!
//! In: a [`Game`]. Out: roles, the initial state, legal moves, next states, goals
//! and terminal states, the same from each backend. Callers that need speed can also
//! ask for its network ([`Machine::network`]).

mod answers;
mod any;
mod datalog;
mod error;
mod mixed;
mod move_order;
mod naive;
mod percepts;
mod perft;
mod playout;
mod propnet;
mod state;

use ggp_stop::Stop;
use std::fmt;
use std::hash::Hash;

pub use crate::excess::Excess;
use crate::propnet::batch::Packed;
use crate::propnet::code::Engine;
use crate::propnet::{GroundLimits, Propnet};
use answers::Answers;
use ggp_gdl::game::{Game, Move, ParseTermError, RoleId, Score};
#[allow(unused_imports)] // For the comment of `Limits`.
use ggp_gdl::terms::TermLimits;
use ggp_gdl::terms::{TermId, Terms};

pub use any::{AnyMachine, Backend};
#[doc(hidden)]
pub use datalog::play_error;
pub use datalog::{DatalogMachine, Learned};
pub use error::{Fault, PlayError};
pub use mixed::MixedMachine;
pub use naive::NaiveMachine;
pub use perft::{Level, Perft, PerftEnd, PerftOptions, perft};
pub use playout::{
    Playout, PlayoutEnd, PlayoutOptions, PlayoutStep, play_to_end, playout, random_step, score,
    scores,
};
#[doc(hidden)]
pub use propnet::lanes as narrow_lanes;
pub use propnet::{BatchOptions, Evaluation, PropnetMachine, PropnetState};
pub use state::State;

/// The resources that a machine may use for one query, and the engine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The number of facts derived in one state.
    pub facts: usize,
    /// The number of matches tried in one state.
    pub work: u64,
    /// The number of symbols in the text of one state's facts, and in that of its
    /// legal moves. The limit on a single term is [`TermLimits::symbols`].
    pub symbols: usize,
    /// The limits of grounding.
    pub ground: GroundLimits,
    /// The engine that runs the network.
    pub engine: Engine,
    /// The most threads that prepare code for many positions of a large network.
    pub threads: usize,
    /// Ends every query with [`PlayError::Interrupted`] when it fires.
    pub stop: Stop,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            facts: 5_000_000,
            work: 1_000_000_000,
            symbols: 1_000_000,
            ground: GroundLimits::default(),
            engine: Engine::Auto,
            threads: 1,
            stop: Stop::new(),
        }
    }
}

/// A state machine.
///
/// Methods take `&mut self` for scratch space only: answers depend on the state
/// alone. Cloning is cheap, so each thread can have its own machine; states may be
/// passed between clones. The examples use a robot that walks from square 0 to
/// square 2 with the moves `go` and `stay`.
pub trait Machine: Clone + Send {
    /// A state: cheap to clone, hash and compare. Two states are equal if and only
    /// if the same facts are true in them.
    type State: Clone + Eq + Hash + Send + Sync + fmt::Debug;

    /// The game.
    fn game(&self) -> &Game;

    /// A view of the game's terms that includes every term of the machine's answers
    /// so far.
    fn terms(&self) -> &Terms;

    /// The view for parsing new terms.
    fn terms_mut(&mut self) -> &mut Terms;

    /// The end of queries: [`Limits::stop`] at first.
    fn stop(&self) -> &Stop;

    /// Changes the end of queries.
    fn set_stop(&mut self, stop: &Stop);

    /// The initial state.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// assert_eq!(canonical_facts(&machine, &start), ["(at 0)"]);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn initial(&mut self) -> Result<Self::State, PlayError>;

    /// True if the game is over.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// assert!(!machine.is_terminal(&start)?);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError>;

    /// Replaces the content of `out` by the role's legal moves, without repetition,
    /// ordered by [`Game::compare_terms`]: the order of first appearance in the
    /// rules, independent of the names.
    ///
    /// # Errors
    ///
    /// [`PlayError::NoLegalMove`] if there are none although the game is not over.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let robot = machine.game().role_named("robot").expect("it is declared");
    /// let mut moves = Vec::new();
    /// machine.legal(&start, robot, &mut moves)?;
    /// assert_eq!(canonical_moves(&machine, &moves), ["go", "stay"]);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError>;

    /// The legal moves of a role as a list of their own; [`Machine::legal`] fills one that can be used again.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::legal`].
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let robot = machine.game().role_named("robot").expect("it is declared");
    /// assert_eq!(machine.legal_moves(&start, robot)?.len(), 2);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn legal_moves(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<Move>, PlayError> {
        let mut moves = Vec::new();
        self.legal(state, role, &mut moves)?;
        Ok(moves)
    }

    /// The state after a joint move: one move for each role, in the order of
    /// [`Game::roles`]. The moves are not checked for legality; see
    /// [`Machine::play`].
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let robot = machine.game().role_named("robot").expect("it is declared");
    /// let mut moves = Vec::new();
    /// machine.legal(&start, robot, &mut moves)?;
    /// let after = machine.next(&start, &[moves[0]])?;
    /// assert_eq!(canonical_facts(&machine, &after), ["(at 1)"]);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError>;

    /// The role's score.
    ///
    /// # Errors
    ///
    /// If the rules give no value, several, or one that is not an integer from 0 to
    /// 100.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let robot = machine.game().role_named("robot").expect("it is declared");
    /// assert_eq!(machine.goal(&start, robot)?.get(), 0);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn goal(&mut self, state: &Self::State, role: RoleId) -> Result<Score, PlayError> {
        let values = self.goal_values(state, role)?;
        self.score(state, role, &values)
    }

    /// All values `n` with `(goal role n)`, ordered by [`Game::compare_terms`].
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let robot = machine.game().role_named("robot").expect("it is declared");
    /// let values = machine.goal_values(&start, robot)?;
    /// assert_eq!(machine.game().text(machine.terms(), values[0]), "0");
    /// # Ok::<(), PlayError>(())
    /// ```
    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError>;

    /// Replaces the content of `out` by a role's percepts of a joint move in a state: the `p`
    /// with `(sees role p)`, without repetition, ordered by [`Game::compare_terms`]. Empty for
    /// rules without `sees`, where every role knows the joint move itself. The moves are not
    /// checked for legality.
    ///
    /// Source: Thielscher: A General Game Description Language for Incomplete Information Games,
    /// AAAI 2010.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// use ggp_gdl::game::Game;
    ///
    /// let rules = "(role hider) (role seeker) (legal hider left) (legal hider right)
    ///     (legal seeker wait) (init hiding) terminal (goal hider 0) (goal seeker 0)
    ///     (<= (sees seeker noise) (does hider left))";
    /// let game = Game::from_text("rules", rules)?;
    /// let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
    /// let start = machine.initial()?;
    /// let joint = [machine.read_move("left")?, machine.read_move("wait")?];
    /// let seeker = game.role_named("seeker").expect("it is declared");
    /// let mut told = Vec::new();
    /// machine.percepts(&start, &joint, seeker, &mut told)?;
    /// assert_eq!(game.text(machine.terms(), told[0]), "noise");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn percepts(
        &mut self,
        state: &Self::State,
        joint: &[Move],
        role: RoleId,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError>;

    /// The facts of a state, in ascending order of id.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// assert_eq!(machine.facts(&start).len(), 1);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn facts(&self, state: &Self::State) -> Vec<TermId>;

    /// The state with the given facts, which may be in any order.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let game = machine.game().clone();
    /// let end = game.parse_term(machine.terms_mut(), "(at 2)").expect("the rules have it");
    /// let state = machine.state(&[end])?;
    /// assert!(machine.is_terminal(&state)?);
    /// # Ok::<(), PlayError>(())
    /// ```
    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError>;

    /// The network that evaluates a state, and the packed state; `None` if another
    /// backend does.
    fn network(&self, _state: &Self::State) -> Option<(&Propnet, Packed)> {
        None
    }

    /// The state after a joint move, whose legality is checked.
    ///
    /// # Errors
    ///
    /// [`PlayError::GameOver`], [`PlayError::WrongMoveCount`] or
    /// [`PlayError::IllegalMove`].
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let go = machine.read_move("go").expect("the rules have it");
    /// let after = machine.play(&start, &[go])?;
    /// let end = machine.play(&after, &[go])?;
    /// assert_eq!(machine.play(&end, &[go]), Err(PlayError::GameOver));
    /// # Ok::<(), PlayError>(())
    /// ```
    fn play(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        if self.is_terminal(state)? {
            return Err(PlayError::GameOver);
        }
        if joint.len() != self.game().role_count() {
            return Err(PlayError::WrongMoveCount {
                expected: self.game().role_count(),
                found: joint.len(),
            });
        }
        let mut legal = Vec::new();
        for (role, chosen) in self.game().roles().zip(joint) {
            self.legal(state, role, &mut legal)?;
            if !legal.contains(chosen) {
                let game = self.game();
                return Err(PlayError::IllegalMove {
                    role: game.role_name(role).to_owned(),
                    chosen: self.text(*chosen),
                    legal: canonical_moves(self, &legal),
                });
            }
        }
        self.next(state, joint)
    }

    /// The text of a move, see [`Game::text`].
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// let robot = machine.game().role_named("robot").expect("it is declared");
    /// let mut moves = Vec::new();
    /// machine.legal(&start, robot, &mut moves)?;
    /// assert_eq!(machine.text(moves[0]), "go");
    /// # Ok::<(), PlayError>(())
    /// ```
    fn text(&self, chosen: Move) -> String {
        self.game().text(self.terms(), chosen.term())
    }

    /// Reads a move from text, in any letter case and with any blanks between
    /// names. It need not be legal in any state; see [`Machine::play`].
    ///
    /// # Errors
    ///
    /// [`ParseTermError`] if the text is not one term or uses names that the
    /// rules do not have.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let go = machine.read_move("go")?;
    /// let start = machine.initial()?;
    /// let after = machine.play(&start, &[go])?;
    /// assert_eq!(machine.state_text(&after), "(at 1)");
    /// assert!(machine.read_move("fly").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn read_move(&mut self, text: &str) -> Result<Move, ParseTermError> {
        let game = self.game().clone();
        game.parse_term(self.terms_mut(), text).map(Move::new)
    }

    /// The texts of a state's facts, sorted and separated by blanks.
    /// Equal states have equal texts, also on other machines for the same rules.
    ///
    /// ```
    /// # use ggp_engine::machine::*;
    /// # let mut machine = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/walk.rs"));
    /// let start = machine.initial()?;
    /// assert_eq!(machine.state_text(&start), "(at 0)");
    /// # Ok::<(), PlayError>(())
    /// ```
    fn state_text(&self, state: &Self::State) -> String {
        canonical_facts(self, state).join(" ")
    }
}

/// The joint move given by `given`, in the order of the roles. Roles with a single
/// legal move may be left out. Legality is not checked.
///
/// # Errors
///
/// [`PlayError::WrongMoveCount`], [`PlayError::GameOver`], or an error of [`Machine::legal`].
pub fn completed<M: Machine>(
    machine: &mut M,
    state: &M::State,
    given: Vec<Move>,
) -> Result<Vec<Move>, PlayError> {
    let game = machine.game().clone();
    let (expected, found) = (game.role_count(), given.len());
    if found == expected {
        return Ok(given);
    }
    if machine.is_terminal(state)? {
        return Err(PlayError::GameOver);
    }
    let wrong = PlayError::WrongMoveCount { expected, found };
    if found > expected {
        return Err(wrong);
    }
    let mut legal = vec![Vec::new(); expected];
    for (role, moves) in game.roles().zip(&mut legal) {
        machine.legal(state, role, moves)?;
    }
    let mut choosers = legal.iter().filter(|moves| moves.len() != 1).count();
    let mut given = given.into_iter().peekable();
    let mut joint = Vec::with_capacity(expected);
    for moves in &legal {
        // A forced move may be given. It is, if more moves remain than roles with a
        // choice.
        let is_given = match moves[..] {
            [only] => given.len() > choosers && given.peek() == Some(&only),
            _ => {
                choosers -= 1;
                true
            }
        };
        match is_given {
            true => joint.push(given.next().ok_or_else(|| wrong.clone())?),
            false => joint.push(moves[0]),
        }
    }
    match given.next() {
        None => Ok(joint),
        Some(_) => Err(wrong),
    }
}

/// All joint moves, where each role has these legal moves. The last role's move changes fastest.
pub fn joint_moves(legal: &[Vec<Move>]) -> impl Iterator<Item = Vec<Move>> + use<> {
    let legal = legal.to_vec();
    let count = legal.iter().map(Vec::len).fold(1, usize::saturating_mul);
    (0..count).map(move |number| {
        let mut left = number;
        let mut joint: Vec<Move> = (legal.iter().rev())
            .map(|moves| {
                let chosen = moves[left % moves.len()];
                left /= moves.len();
                chosen
            })
            .collect();
        joint.reverse();
        joint
    })
}

/// The texts of a state's facts, sorted.
pub fn canonical_facts<M: Machine>(machine: &M, state: &M::State) -> Vec<String> {
    let facts = machine.facts(state);
    canonical_terms(machine, facts.into_iter())
}

/// The texts of moves, sorted. For texts in the order of the moves, see
/// [`Machine::text`].
pub fn canonical_moves<M: Machine>(machine: &M, moves: &[Move]) -> Vec<String> {
    canonical_terms(machine, moves.iter().map(|m| m.term()))
}

fn canonical_terms<M: Machine>(machine: &M, terms: impl Iterator<Item = TermId>) -> Vec<String> {
    let game = machine.game();
    let mut texts: Vec<String> = terms.map(|t| game.text(machine.terms(), t)).collect();
    texts.sort_unstable();
    texts
}

/// Refuses terms whose texts together are too long to be written.
fn check_text(
    terms: &Terms,
    mut list: impl Iterator<Item = TermId>,
    what: &'static str,
    limit: usize,
) -> Result<(), Excess> {
    let mut symbols = 0;
    match list.all(|term| {
        symbols += terms.symbols(term);
        symbols <= limit
    }) {
        true => Ok(()),
        false => Err(Excess::new(what, limit as u64)),
    }
}

/// The two things that [`check_text`] counts.
const STATE_TEXT: &str = "symbols in the text of one state";
const MOVES_TEXT: &str = "symbols in the text of the legal moves of one state";
