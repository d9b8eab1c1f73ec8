//! Pairs of moves that come in one order only.

pub(super) use crate::planning::commute::{commuting, is_undone_by_itself};
