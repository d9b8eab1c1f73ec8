//! The protocol by which match hosts and players talk over the network.
//!
//! [`message`] is pure text: what is said, without a socket. With the feature
//! `net`, [`wire`] carries messages over HTTP, [`player`] answers them, and [`host`]
//! lets players meet, wherever they are.

pub mod host;
pub mod message;
#[cfg(feature = "net")]
pub mod player;
#[cfg(feature = "net")]
pub mod wire;
