//! The protocol by which match hosts and players talk over the network.
//!
//! [`message`] is pure text: what is said, without a socket. With the feature
//! `net`, [`wire`] carries messages over HTTP, and [`player`] answers them.
//! [`message`] is pure text: what is said, without a socket. [`host`] lets players
//! meet, wherever they are.

pub mod host;
pub mod message;
#[cfg(feature = "net")]
pub mod player;
#[cfg(feature = "net")]
pub mod wire;
