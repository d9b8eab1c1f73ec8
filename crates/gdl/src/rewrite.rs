//! Tools that make other rule text of rule text.
//!
//! In: rule text without syntax errors, as a [`Tree`] that keeps comments, or as
//! lists with places. Out: text again. Nothing here asks what rules mean beyond
//! the place of heads and literals.

mod difference;
mod infix;
mod layout;
mod names;
mod scramble;
mod tree;
mod words;

pub use difference::{Change, Difference, Form, Part};
pub use infix::{from_infix, tells_infix, to_infix, unwritable};
pub use layout::{Layout, laid_out, node_laid_out};
pub use names::{CannotRename, Kind, Pattern, Use, edited, renamed, uses};
#[cfg(feature = "json")]
pub use scramble::restored_words;
pub use scramble::{
    NameMap, Scramble, are_rules, restored, scramble, scrambled_in_place, stranger, stranger_word,
};
pub use tree::{Item, Node, Note, Tree};
pub use words::{Words, is_reserved};
