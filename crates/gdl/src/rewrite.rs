//! Transformations of rule text.
//!
//! In: rule text without syntax errors, as a [`Tree`] that keeps comments, or as
//! lists with places. Out: text. The meaning of the rules is not considered, except
//! for which parts of a form are heads and literals.

mod difference;
mod infix;
mod layout;
mod names;
mod scramble;
mod text_form;
mod tree;
mod words;

pub use difference::{Change, Difference, Form, Part};
pub use infix::{NOT_KIF, detect_infix, from_infix, infix_finding, to_infix, unwritable};
pub use layout::{Layout, laid_out, node_laid_out};
pub use names::{NameKind, Pattern, RenameError, Use, edited, renamed, uses};
#[cfg(feature = "json")]
pub use scramble::restored_words;
pub use scramble::{
    NameMap, Scramble, are_rules, foreign_word, foreign_word_in_text, restored, scramble,
    scrambled_in_place,
};
pub use text_form::TextForm;
pub use tree::{Item, Node, Note, Tree};
pub use words::{Words, is_reserved};
