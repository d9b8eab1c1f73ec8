//! General game playing from rule files.
#![warn(missing_docs)]

pub mod check;
pub mod conformance;
pub mod datalog;
pub mod diagnostic;
pub mod game;
pub mod ground;
pub mod machine;
pub mod program;
pub mod span;
pub mod symbol;
pub mod syntax;
