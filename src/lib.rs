//! General game playing: a game is only a rule file.
//!
//! A rule set in the Game Description Language (GDL, written in KIF) is read
//! and checked ([`check`]), given meaning by a Datalog evaluator ([`datalog`]),
//! and asked through one state-machine API ([`machine`]). Searches ([`search`],
//! [`solve`]) and players ([`play`]) stand on that API and know of no game.
//!
//! ```
//! use ggp::game::Game;
//! use ggp::machine::{AnyMachine, Backend, Limits, Machine, canonical_moves};
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
//! let game = Game::from_text("walk.kif", rules).expect("the rules are right");
//! let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default())?;
//! let robot = game.role_named("robot").expect("it is declared");
//!
//! let mut state = machine.initial()?;
//! let mut legal = Vec::new();
//! machine.legal(&state, robot, &mut legal)?;
//! assert_eq!(canonical_moves(&machine, &legal), ["go", "stay"]);
//!
//! while !machine.is_terminal(&state)? {
//!     machine.legal(&state, robot, &mut legal)?;
//!     state = machine.play(&state, &[legal[0]])?;
//! }
//! assert_eq!(machine.goal(&state, robot)?.get(), 100);
//!
//! // Or let a search find the way.
//! use ggp::search::{Stats, Verdict};
//! use ggp::solve::{SolveOptions, solve};
//!
//! let answer = solve(&machine, &SolveOptions::default(), &mut Stats::default(), &mut ())?;
//! let Verdict::Solved { plans, .. } = answer.verdict else {
//!     panic!("there is a plan");
//! };
//! assert_eq!(canonical_moves(&machine, &plans[0]), ["go", "go"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]
#![deny(unsafe_code)]

pub mod analysis;
pub mod audit;
#[cfg(feature = "cli")]
pub mod bench;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod conformance;
pub mod datalog;
pub mod diagnostic;
pub mod explain;
pub mod game;
pub mod ggp;
pub mod grid;
pub mod ground;
#[cfg(feature = "cli")]
mod layered;
#[cfg(feature = "cli")]
pub mod lsp;
pub mod machine;
mod markup;
pub mod picture;
pub mod play;
pub mod program;
pub mod propnet;
pub mod puzzle;
pub mod rewrite;
pub mod search;
pub mod solve;
pub mod span;
pub mod symbol;
pub mod syntax;
pub mod verify;
#[cfg(feature = "web")]
pub mod web;
