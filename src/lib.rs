//! General game playing: a game is only a rule file.
//!
//! Rules in the Game Description Language (GDL, in KIF syntax) become a checked [`Game`].
//! A [`State`] is a position that is played from, a [`Machine`] holds many positions for searches,
//! [`solve`] finds plans for games of one role, [`verify`] checks answers with code of its own, an [`Agent`] plays, an [`Explainer`] says
//! why a fact holds, and a [`Picture`] draws positions. Nothing about any particular game is
//! built in.
//!
//! ```
//! use ggp::{Game, State};
//!
//! let rules = "
//!     (role robot)
//!     (init (at 0)) (after 0 1) (after 1 2)
//!     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (legal robot stay) (true (at ?x)))
//!     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
//!     (<= terminal (true (at 2)))
//!     (<= (goal robot 100) (true (at 2)))
//!     (<= (goal robot 0) (not (true (at 2))))";
//! let game = Game::from_text("walk.kif", rules).expect("the rules have no errors");
//! let robot = game.role_named("robot").expect("the role is declared");
//!
//! let mut state = State::new(&game)?;
//! while !state.is_terminal()? {
//!     println!("{state}");
//!     let first = state.legal_moves(robot)?[0];
//!     state.play(&[first])?;
//! }
//! assert_eq!(state.goal(robot)?.get(), 100);
//! # Ok::<(), ggp::PlayError>(())
//! ```
//!
//! The folder `examples` has three programs that people write first: random playouts, minimax, and a
//! player of one's own in a match. The crates behind this one, such as `ggp-engine`, have everything else.
/// The findings about a rule text: an error that prints them all.
#[doc = include_str!("examples/reading.md")]
pub use ggp_gdl::check::Reading;
/// A checked rule set.
#[doc = include_str!("examples/game.md")]
pub use ggp_gdl::game::Game;
/// One role's move.
#[doc = include_str!("examples/machine.md")]
pub use ggp_gdl::game::Move;
/// A role, by its place in the rules.
#[doc = include_str!("examples/game.md")]
pub use ggp_gdl::game::RoleId;
/// A goal value from 0 to 100.
#[doc = include_str!("examples/verify.md")]
pub use ggp_gdl::game::Score;

/// A state machine on the backend chosen at run time.
#[doc = include_str!("examples/machine.md")]
pub use ggp_engine::machine::AnyMachine;
/// The choice of a backend.
#[doc = include_str!("examples/machine.md")]
pub use ggp_engine::machine::Backend;
/// A state machine that evaluates rules as they are, with no time to prepare.
#[doc = include_str!("examples/verify.md")]
pub use ggp_engine::machine::DatalogMachine;
/// The resources of a machine.
#[doc = include_str!("examples/machine.md")]
pub use ggp_engine::machine::Limits;
/// The state-machine interface that every backend has.
#[doc = include_str!("examples/machine.md")]
pub use ggp_engine::machine::Machine;
/// Depth and limits of a count.
#[doc = include_str!("examples/perft.md")]
pub use ggp_engine::machine::PerftOptions;
/// A mistake in a move, or in the rules as play shows it.
#[doc = include_str!("examples/machine.md")]
pub use ggp_engine::machine::PlayError;
/// A state machine on a network, for many moves of one game.
#[doc = include_str!("examples/batch.md")]
pub use ggp_engine::machine::PropnetMachine;
/// A position that moves change in place.
#[doc = include_str!("examples/state.md")]
pub use ggp_engine::machine::State;
/// Counts positions by depth.
#[doc = include_str!("examples/perft.md")]
pub use ggp_engine::machine::perft;
/// The reason why a game has no network.
#[doc = include_str!("examples/batch.md")]
pub use ggp_engine::propnet::GroundError;
/// The resources for making a network.
#[doc = include_str!("examples/batch.md")]
pub use ggp_engine::propnet::GroundLimits;
#[cfg(feature = "cache")]
pub use ggp_engine::propnet::NetworkCache;
/// The network of a game.
#[doc = include_str!("examples/batch.md")]
pub use ggp_engine::propnet::Propnet;
/// Many positions at once.
#[doc = include_str!("examples/batch.md")]
pub use ggp_engine::propnet::batch::Batch;
/// Machine code or portable code for a network.
#[doc = include_str!("examples/batch.md")]
pub use ggp_engine::propnet::code::Engine;

/// The limits of a search.
#[doc = include_str!("examples/search.md")]
pub use ggp_search::Budget;
/// The limit that ended a search.
#[doc = include_str!("examples/search.md")]
pub use ggp_search::BudgetKind;
/// The completeness of a list of plans.
#[doc = include_str!("examples/search.md")]
pub use ggp_search::Coverage;
/// The work of a search, readable while it runs.
#[doc = include_str!("examples/search.md")]
pub use ggp_search::Stats;
/// The result of a search.
#[doc = include_str!("examples/search.md")]
pub use ggp_search::Verdict;
/// Plans, bounds and the verdict.
#[doc = include_str!("examples/solve.md")]
pub use ggp_solver::solve::Answer;
/// A row of the table of methods, by name.
#[doc = include_str!("examples/search.md")]
pub use ggp_solver::solve::Method;
/// The reason why nothing could be searched.
#[doc = include_str!("examples/solve.md")]
pub use ggp_solver::solve::SolveError;
/// Method, budget and target of a search.
#[doc = include_str!("examples/solve.md")]
pub use ggp_solver::solve::SolveOptions;
/// Finds plans for a game of one role.
#[doc = include_str!("examples/solve.md")]
pub use ggp_solver::solve::solve;
/// A flag that anyone can raise, and a deadline, that end a computation.
#[doc = include_str!("examples/stop.md")]
pub use ggp_stop::Stop;
/// The confirmed statements, and those that could not be checked.
#[doc = include_str!("examples/verify.md")]
pub use ggp_verify::Checked;
/// An answer to check.
#[doc = include_str!("examples/verify.md")]
pub use ggp_verify::Claim;
/// The reason why an answer was not confirmed.
#[doc = include_str!("examples/verify.md")]
pub use ggp_verify::Failure as VerifyError;
/// The resources of a check.
#[doc = include_str!("examples/verify.md")]
pub use ggp_verify::Limits as VerifyLimits;
/// Checks an answer with code of its own.
#[doc = include_str!("examples/verify.md")]
pub use ggp_verify::verify;

/// The size and form of explanations.
#[doc = include_str!("examples/explain.md")]
pub use ggp_explain::ExplainOptions;
/// Answers why a fact holds, or why not.
#[doc = include_str!("examples/explain.md")]
pub use ggp_explain::Explainer;
/// The position that a question is about.
#[doc = include_str!("examples/explain.md")]
pub use ggp_explain::Situation;
/// A position as boards, tables and facts.
#[doc = include_str!("examples/picture.md")]
pub use ggp_picture::Drawing;
/// The way to draw any position of a game.
#[doc = include_str!("examples/picture.md")]
pub use ggp_picture::Picture;
/// The amount of play.
#[doc = include_str!("examples/playcheck.md")]
pub use ggp_playcheck::PlaycheckOptions;
/// The findings of play.
#[doc = include_str!("examples/playcheck.md")]
pub use ggp_playcheck::Report;
/// Finds mistakes that show up only during play.
#[doc = include_str!("examples/playcheck.md")]
pub use ggp_playcheck::playcheck;

/// A chosen move, with the reasons.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::Advice;
/// The interface of programs that play one role.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::Agent;
/// A player as text, such as `mcts:2s`.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::AgentSpec;
/// The information that an agent gets before a match.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::Brief;
/// A match from its first position on, in steps.
#[doc = include_str!("examples/match.md")]
pub use ggp_play::Match;
/// The information that an agent gets before each choice.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::Observation;
/// The time, or the number of playouts, for one choice.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::Pace;
/// The reason why a player cannot play or choose.
#[doc = include_str!("examples/play.md")]
pub use ggp_play::PlayerError;

/// The Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
