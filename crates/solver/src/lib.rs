//! Solves games: methods that find plans and proofs, and the portfolio that runs them.

pub mod expected;
pub mod planning;
pub mod solve;
#[cfg(feature = "tables")]
pub mod table;
