//! The protocol by which match hosts and players talk over the network.
//!
//! [`message`] is pure text: what is said, without a socket.

pub mod message;
