//! Reads, checks and evaluates rules written in the Game Description Language.
//!
//! [`syntax`] turns text into lists, [`check`] turns lists into rules ([`program`]),
//! and rules without errors form a [`Game`](game::Game). [`datalog`] computes least
//! models, [`analysis`] derives properties from the rules alone, and [`rewrite`]
//! transforms rule texts. This crate uses no threads, no files and no C++.

pub mod analysis;
pub mod check;
pub mod counted;
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

/// Makes the debug form of an error its message. A program whose `main` returns the error prints it.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}
