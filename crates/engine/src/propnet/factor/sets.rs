//! Sets of inputs of one group, by the literal that is true if one of them is.
//!
//! In: literals and the inputs whose "or" they are. Out: the inputs of a literal, and the literal
//! of inputs.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::propnet::network::Literal;

/// The largest set of inputs that is stored.
pub(super) const MOST_IN_SET: usize = 4096;
/// The maximum total size of all stored sets.
const MOST_STORED: usize = 8_000_000;

/// Inputs of one group.
#[derive(Debug)]
pub(super) struct Set {
    pub group: u32,
    /// The inputs' nodes, ascending.
    pub nodes: Rc<[u32]>,
}

/// The sets that were made.
#[derive(Default, Debug)]
pub(super) struct Sets {
    /// By literal: one more than the number of its set, 0 without one. Literals after the end have
    /// none.
    numbers: Vec<u32>,
    sets: Vec<Set>,
    made: FxHashMap<Rc<[u32]>, Literal>,
    stored: usize,
}

impl Sets {
    /// The set of a literal.
    #[inline]
    pub fn get(&self, literal: Literal) -> Option<&Set> {
        match self.numbers.get(literal.index()) {
            None | Some(0) => None,
            Some(&number) => Some(&self.sets[number as usize - 1]),
        }
    }

    /// The literal that was made first for these inputs, ascending.
    pub fn literal(&self, nodes: &[u32]) -> Option<Literal> {
        self.made.get(nodes).copied()
    }

    /// Stores the inputs of a literal, ascending, unless they are fewer than two or too many.
    pub fn insert(&mut self, group: u32, nodes: Vec<u32>, literal: Literal) {
        let is_stored = (2..=MOST_IN_SET).contains(&nodes.len());
        if !is_stored || self.stored + nodes.len() > MOST_STORED {
            return;
        }
        self.stored += nodes.len();
        let nodes: Rc<[u32]> = nodes.into();
        self.made.entry(Rc::clone(&nodes)).or_insert(literal);
        self.sets.push(Set { group, nodes });
        if self.numbers.len() <= literal.index() {
            self.numbers.resize(literal.index() + 1, 0);
        }
        self.numbers[literal.index()] = self.sets.len() as u32;
    }
}
