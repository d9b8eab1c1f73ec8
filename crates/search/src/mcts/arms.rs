//! The arms of a position: the legal moves of each role that has a choice.
//!
//! All numbers of one position are in one allocation, one kind after the other, so that a
//! choice reads few cache lines, and a loop over all arms compiles to vector instructions.

use std::ops::Range;

use super::tree::NONE;

/// The number of lists that do not depend on the role: children, visits, pending, proofs and
/// priors.
const PLAIN: usize = 5;

/// The most cache lines to touch. Later ones follow in order, and the processor foresees them.
const TOUCHED: usize = 32;

/// The arms of one position; empty until it has arms.
#[derive(Clone, Debug, Default)]
pub(super) struct Arms {
    count: u32,
    roles: u32,
    /// The lists of numbers, of each [`PLAIN`] kind, then each role's means, and each role's
    /// implicit values if they are known.
    data: Box<[u32]>,
}

/// A range of arms of one position.
pub(super) type ArmRange = Range<usize>;

impl Arms {
    /// Arms without visits. `bounds` has the proved bounds of each arm's score.
    pub fn new(roles: usize, bounds: &[[u8; 2]]) -> Self {
        let count = bounds.len();
        let mut data = vec![0; count * (PLAIN + roles)].into_boxed_slice();
        data[..count].fill(NONE);
        data[4 * count..PLAIN * count].fill((1.0 / count as f32).to_bits());
        for (arm, bounds) in bounds.iter().enumerate() {
            data[3 * count + arm] = u32::from(u16::from_le_bytes(*bounds));
        }
        Arms {
            count: count as u32,
            roles: roles as u32,
            data,
        }
    }

    /// Adds the implicit values of all roles, by arm and role.
    pub fn add_implicit(&mut self, values: &[f32]) {
        let (count, roles) = (self.len(), self.roles as usize);
        let mut data = std::mem::take(&mut self.data).into_vec();
        data.reserve_exact(count * roles);
        for role in 0..roles {
            let of_role = values.iter().skip(role).step_by(roles);
            data.extend(of_role.map(|value| value.to_bits()));
        }
        self.data = data.into();
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// The bytes on the heap.
    pub fn bytes(&self) -> u64 {
        heap_bytes(self.data.len() * size_of::<u32>())
    }

    /// Reads one number of each of the first cache lines, so that the processor loads them at
    /// once.
    #[inline]
    pub fn touch(&self) -> u32 {
        let words = self.data.iter().step_by(16).take(TOUCHED);
        words.fold(0, |all, word| all ^ word)
    }

    /// The child of each arm, if no other role has a choice.
    #[inline]
    pub fn children(&self) -> &[u32] {
        &self.data[..self.len()]
    }

    #[inline]
    pub fn child(&self, arm: usize) -> u32 {
        self.children()[arm]
    }

    #[inline]
    pub fn set_child(&mut self, arm: usize, child: u32) {
        debug_assert!(arm < self.len());
        self.data[arm] = child;
    }

    #[inline]
    pub fn visits(&self, arm: usize) -> u32 {
        self.data[self.len() + arm]
    }

    #[inline]
    pub fn add_visit(&mut self, arm: usize) {
        let visits = &mut self.data[self.count as usize + arm];
        *visits = visits.saturating_add(1);
    }

    /// The number of lines through the arm that wait for an evaluation.
    #[inline]
    pub fn pending(&self, arm: usize) -> u32 {
        self.data[2 * self.len() + arm]
    }

    #[inline]
    pub fn begin(&mut self, arm: usize) {
        self.data[2 * self.count as usize + arm] += 1;
    }

    #[inline]
    pub fn end(&mut self, arm: usize) {
        self.data[2 * self.count as usize + arm] -= 1;
    }

    /// Proved bounds of the score of the role that has this move.
    #[inline]
    pub fn bounds(&self, arm: usize) -> [u8; 2] {
        (self.data[3 * self.len() + arm] as u16).to_le_bytes()
    }

    /// The largest proved lower bound of a range of arms.
    pub fn best_low(&self, arms: ArmRange) -> u8 {
        arms.map(|arm| self.bounds(arm)[0]).max().unwrap_or(0)
    }

    /// The stamp of the child at the last update of the bounds.
    #[inline]
    pub fn stamp(&self, arm: usize) -> u16 {
        (self.data[3 * self.len() + arm] >> 16) as u16
    }

    #[inline]
    pub fn set_proof(&mut self, arm: usize, bounds: [u8; 2], stamp: u16) {
        let at = 3 * self.len() + arm;
        self.data[at] = u32::from(stamp) << 16 | u32::from(u16::from_le_bytes(bounds));
    }

    /// A role's mean score over all visits.
    #[inline]
    pub fn mean(&self, arm: usize, role: usize) -> f64 {
        f32::from_bits(self.data[(PLAIN + role) * self.len() + arm]).into()
    }

    #[inline]
    pub fn set_mean(&mut self, arm: usize, role: usize, mean: f64) {
        let at = (PLAIN + role) * self.len() + arm;
        self.data[at] = (mean as f32).to_bits();
    }

    /// The list of a role's implicit values; empty if they are not known.
    fn implicit_of(&self, role: usize) -> Range<usize> {
        let first = (PLAIN + self.roles as usize + role) * self.len();
        match first < self.data.len() {
            true => first..first + self.len(),
            false => 0..0,
        }
    }

    /// A role's implicit value of an arm, if it is known: the expected score at the end of the
    /// best line after it.
    #[inline]
    pub fn implicit(&self, arm: usize, role: usize) -> Option<f32> {
        let values = &self.data[self.implicit_of(role)];
        values.get(arm).map(|&value| f32::from_bits(value))
    }

    /// Sets an implicit value, if they are known.
    #[inline]
    pub fn set_implicit(&mut self, arm: usize, role: usize, value: f32) {
        let list = self.implicit_of(role);
        if let Some(known) = self.data[list].get_mut(arm) {
            *known = value.to_bits();
        }
    }

    /// The arm whose implicit value is the best for a role, if they are known.
    #[inline]
    pub fn best_implicit(&self, role: usize) -> Option<usize> {
        let values = &self.data[self.implicit_of(role)];
        // Numbers from 0 up have the order of their bits.
        let best = values.iter().copied().max()?;
        values.iter().position(|&value| value == best)
    }

    /// The prior probability that the move is the best.
    #[inline]
    pub fn prior(&self, arm: usize) -> f64 {
        f32::from_bits(self.data[4 * self.len() + arm]).into()
    }

    pub fn set_prior(&mut self, arm: usize, prior: f32) {
        let at = 4 * self.len() + arm;
        self.data[at] = prior.to_bits();
    }

    /// Visits, pending lines, and as bits the priors, a role's mean scores and its implicit
    /// values, which may be missing, of all arms.
    #[inline]
    pub fn lists(&self, role: usize) -> [&[u32]; 5] {
        let count = self.len();
        let (visits, rest) = self.data[count..].split_at(count);
        let (pending, rest) = rest.split_at(count);
        let (priors, rest) = rest[count..].split_at(count);
        let means = &rest[role * count..];
        let implicit = &self.data[self.implicit_of(role)];
        [visits, pending, priors, &means[..count], implicit]
    }
}

/// The bytes that an allocation takes, with the overhead of the allocator.
pub(super) fn heap_bytes(bytes: usize) -> u64 {
    match bytes {
        0 => 0,
        bytes => (bytes as u64 + 8).next_multiple_of(16).max(32),
    }
}
