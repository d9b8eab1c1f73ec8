//! Pairs of moves that come in one order only.

pub(super) use crate::puzzle::commute::{commuting, is_undone_by_itself};
