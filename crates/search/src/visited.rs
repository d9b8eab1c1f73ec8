//! The visited table: the least step at which each key was reached.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::BudgetKind;

/// Maps keys to the least step at which they were visited, and numbers them.
///
/// Membership is not enough: a key that is reached again nearer to the start may have plans
/// that the depth limit cut off before.
pub(super) struct Visited<K> {
    entries: FxHashMap<K, Entry>,
    heap_bytes: u64,
}

#[derive(Copy, Clone)]
struct Entry {
    node: u32,
    step: u32,
}

/// The earlier visits of a key. The number is its node: `0, 1, 2, …` in the order of first
/// visits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Visit {
    /// The key is new.
    Fresh(u32),
    /// The key was visited at larger steps only.
    Nearer(u32),
    /// The least step of the key is this one.
    SameStep(u32),
    /// The least step of the key is smaller.
    Farther(u32),
}

impl<K: Clone + Eq + Hash> Visited<K> {
    pub(super) fn new() -> Self {
        Visited {
            entries: FxHashMap::default(),
            heap_bytes: 0,
        }
    }

    /// Removes all keys and keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.heap_bytes = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The approximate size of the table.
    pub(super) fn bytes(&self) -> u64 {
        // Each slot has one control byte, and one slot in eight is always empty.
        let slot = size_of::<(K, Entry)>() + 1;
        (self.entries.capacity() as u64)
            .saturating_mul(slot as u64)
            .saturating_mul(8)
            .saturating_div(7)
            .saturating_add(self.heap_bytes)
    }

    /// Records that `key`, which owns `heap_bytes`, was reached at `step`.
    ///
    /// # Errors
    ///
    /// [`BudgetKind::Memory`] if node numbers run out.
    pub(super) fn visit(
        &mut self,
        key: K,
        heap_bytes: u64,
        step: u32,
    ) -> Result<Visit, BudgetKind> {
        let fresh = Entry {
            node: node_number(self.entries.len())?,
            step,
        };
        let known = self.entries.entry(key).or_insert(fresh);
        if known.node == fresh.node {
            self.heap_bytes = self.heap_bytes.saturating_add(heap_bytes);
            return Ok(Visit::Fresh(known.node));
        }
        let node = known.node;
        Ok(match step.cmp(&known.step) {
            std::cmp::Ordering::Less => {
                known.step = step;
                Visit::Nearer(node)
            }
            std::cmp::Ordering::Equal => Visit::SameStep(node),
            std::cmp::Ordering::Greater => Visit::Farther(node),
        })
    }
}

/// The number of the next node after `count` nodes.
///
/// # Errors
///
/// [`BudgetKind::Memory`] if node numbers run out; the largest is `u32::MAX - 1`.
pub(super) fn node_number(count: usize) -> Result<u32, BudgetKind> {
    u32::try_from(count)
        .ok()
        .filter(|&node| node < u32::MAX)
        .ok_or(BudgetKind::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_step_is_kept() {
        let mut visited = Visited::new();
        let mut visit = |key, step| visited.visit(key, 0, step).unwrap();
        assert_eq!(visit('x', 4), Visit::Fresh(0));
        assert_eq!(visit('y', 1), Visit::Fresh(1));
        assert_eq!(visit('x', 5), Visit::Farther(0));
        assert_eq!(visit('x', 2), Visit::Nearer(0));
        assert_eq!(visit('x', 4), Visit::Farther(0));
        assert_eq!(visit('x', 2), Visit::SameStep(0));
    }

    #[test]
    fn node_numbers_end_before_the_sentinel() {
        assert_eq!(node_number(7), Ok(7));
        assert_eq!(node_number(u32::MAX as usize - 1), Ok(u32::MAX - 1));
        assert_eq!(node_number(u32::MAX as usize), Err(BudgetKind::Memory));
    }
}
