//! General game playing from rule files.
#![warn(missing_docs)]

pub mod analysis;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod game;
pub mod grid;
pub mod ground;
pub mod machine;
pub mod program;
pub mod search;
pub mod solve;
pub mod span;
pub mod symbol;
pub mod syntax;
