//! Reads, checks and evaluates rules written in the Game Description Language.
//!
//! Text becomes lists ([`syntax`]), lists become rules ([`program`], [`check`]), and
//! rules without errors are a [`Game`](game::Game). [`datalog`] computes least models,
//! [`analysis`] learns from rules alone, and [`rewrite`] turns rule text into other
//! rule text. No threads, no files, no C++.

pub mod analysis;
pub mod check;
pub mod datalog;
pub mod diagnostic;
pub mod game;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod markup;
pub mod program;
pub mod rewrite;
pub mod span;
pub mod symbol;
pub mod syntax;
pub mod terms;
pub mod text_grid;
