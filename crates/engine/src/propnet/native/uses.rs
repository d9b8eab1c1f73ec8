//! The next use of each value, for Belady's rule.
//!
//! In: steps. Out: for every operand and result the next step that reads it. Reads
//! in the next round of a loop do not count, since nothing stays in registers
//! between rounds.

#![forbid(unsafe_code)]

use crate::propnet::tape::{Kind, Step};

/// The value is not needed any more.
pub(super) const NEVER: u32 = u32::MAX;

/// The next uses of values.
pub(super) struct Uses {
    /// By step and operand: the next step that reads it.
    pub after: Vec<[u32; 3]>,
    /// By step: the first step that reads the result.
    pub first: Vec<u32>,
    after_loop: Vec<Vec<u32>>,
}

impl Uses {
    pub fn new(steps: &[Step], loops: &[Vec<(u32, u32)>], values: usize) -> Self {
        let mut uses = Uses {
            after: vec![[NEVER; 3]; steps.len()],
            first: vec![NEVER; steps.len()],
            after_loop: vec![Vec::new(); loops.len()],
        };
        let mut next = vec![NEVER; values];
        for (position, step) in steps.iter().enumerate().rev() {
            match step.kind {
                Kind::Begin => {}
                Kind::End => {
                    let pairs = &loops[step.number()];
                    uses.after_loop[step.number()] = pairs
                        .iter()
                        .map(|&(_, value)| next[value as usize])
                        .collect();
                    for &(_, value) in pairs {
                        next[value as usize] = position as u32;
                    }
                }
                _ => {
                    uses.first[position] = next[step.result as usize];
                    for (after, &value) in uses.after[position].iter_mut().zip(step.reads()) {
                        *after = next[value as usize];
                    }
                    for &value in step.reads() {
                        next[value as usize] = position as u32;
                    }
                }
            }
        }
        uses
    }

    /// By feedback of the loop: the next step that reads its definition.
    pub fn of_loop(&self, number: usize) -> &[u32] {
        &self.after_loop[number]
    }
}
