//! The command line as its users meet it: arguments and files in; text, JSON,
//! files and an exit code out.

#[cfg(unix)]
mod blocked;
mod cache;
mod check;
mod engine;
mod grid;
mod help;
mod input;
mod knowledge;
mod learn;
mod percepts;
mod perft;
mod play;
mod play_blind;
mod playout;
mod questions;
mod rewrite;
mod spelling;
#[cfg(unix)]
mod terminal;
pub(crate) mod workplace;
