//! Pairs of moves that are allowed in one order only.

pub(super) use crate::planning::partial_order::{commuting, is_undone_by_itself};
