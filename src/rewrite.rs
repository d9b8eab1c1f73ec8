//! Tools that make other rule text of rule text.
//!
//! In: rule text without syntax errors, as a [`Tree`] that keeps comments. Out:
//! text again. Nothing here asks what rules mean beyond the place of heads and
//! literals.

mod layout;
mod tree;

pub use layout::{Layout, laid_out};
pub use tree::{Item, Node, Note, Tree};
