//! The GGP communication protocol between match hosts and players.
//!
//! [`message`] reads and writes messages as text, without sockets. [`host`] runs matches
//! between network players. With the feature `net`, [`wire`] carries messages over HTTP, and
//! [`player`] answers them.

pub mod host;
pub mod message;
#[cfg(feature = "net")]
pub mod player;
#[cfg(feature = "net")]
pub mod wire;
