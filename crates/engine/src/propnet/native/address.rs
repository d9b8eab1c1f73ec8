//! General registers that point into the banks.
//!
//! In: the places a tape names. Out: the addresses that registers hold, and an
//! operand for every place. Near a register's address a displacement takes one byte
//! instead of four, so frequently used banks get several registers.

#![forbid(unsafe_code)]

use super::encode::{Form, Operand, RDI};
use crate::propnet::tape::{BANKS, Home, Place, Tape};

/// The bank of scratch rows, in addition to those of a tape.
pub(super) const SCRATCH: u8 = BANKS as u8;

/// All general registers but the stack pointer and `r12`, first those that a
/// function may change.
const REGISTERS: [u8; 14] = [0, 1, 2, 6, 8, 9, 10, 11, RDI, 3, 5, 13, 14, 15];
/// The number of registers that a function may change.
const VOLATILE: usize = 9;

/// An address that the code expects: `offset` bytes from the start of a bank.
#[derive(Copy, Clone, Debug)]
pub(super) struct Base {
    pub bank: u8,
    pub offset: i32,
}

/// The assignment of addresses to registers.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// By register, in the order of [`REGISTERS`].
    bases: Vec<Base>,
    /// By bank and window: its base; the last entry is a base for all other
    /// windows.
    windows: [Vec<u8>; BANKS + 1],
    /// By bank: the number of rows that the code may access.
    rows: [usize; BANKS],
    /// By bank: bytes between rows.
    strides: [i32; BANKS + 1],
    /// By bank: the rows of a window, as a power of two.
    shifts: [u32; BANKS + 1],
}

/// The window has no base.
const NONE: u8 = u8::MAX;

impl Addresses {
    /// The rows of the banks are `stride` bytes apart; scratch rows are contiguous.
    pub fn new(tape: &Tape, form: Form, stride: usize) -> Self {
        let mut strides = [stride as i32; BANKS + 1];
        strides[SCRATCH as usize] = form.bytes() as i32;
        // Without AVX-512 a one-byte displacement has almost no range, so each bank
        // gets one base.
        let shift = |stride: i32| match form.is_evex() {
            true => (2 * form.reach() / stride).ilog2(),
            false => 31,
        };
        let shifts = strides.map(shift);
        let mut counts: [Vec<u32>; BANKS + 1] = Default::default();
        for (bank, counts) in counts.iter_mut().enumerate() {
            let rows = match tape.rows().get(bank) {
                Some(&rows) => rows,
                None => tape.scratch(),
            };
            if rows > 0 {
                counts.resize(((rows - 1) >> shifts[bank]) + 1, 0);
            }
        }
        for home in &tape.homes {
            let (bank, index) = match *home {
                Home::Bank(place) => (place.bank, place.index),
                Home::Scratch(index) => (SCRATCH, index),
                Home::Nowhere => continue,
            };
            counts[bank as usize][index as usize >> shifts[bank as usize]] += 1;
        }
        let mut candidates: Vec<(bool, u32, u8, usize)> = Vec::new();
        for (bank, counts) in counts.iter().enumerate() {
            let best = counts.iter().enumerate().max_by_key(|&(_, count)| count);
            for (window, &count) in counts.iter().enumerate() {
                let is_first = best.is_some_and(|(best, _)| best == window);
                candidates.push((is_first, count, bank as u8, window));
            }
        }
        candidates.sort_by(|a, b| b.cmp(a));
        candidates.truncate(REGISTERS.len());
        let mut windows = counts.map(|counts| vec![NONE; counts.len()]);
        let mut bases = Vec::new();
        for (_, _, bank, window) in candidates {
            let start = (window << shifts[bank as usize]) * strides[bank as usize] as usize;
            let middle = if form.is_evex() { form.reach() } else { 0 };
            let start = i32::try_from(start).expect("banks are smaller than 2 GiB");
            let windows = &mut windows[bank as usize];
            windows[window] = bases.len() as u8;
            bases.push(Base {
                bank,
                offset: start + middle,
            });
        }
        for windows in &mut windows {
            let any = windows.iter().copied().find(|&base| base != NONE);
            windows.extend(any);
        }
        Addresses {
            bases,
            windows,
            rows: *tape.rows(),
            strides,
            shifts,
        }
    }

    /// The addresses to pass to the code, in order.
    pub fn bases(&self) -> &[Base] {
        &self.bases
    }

    /// The registers of these addresses.
    pub fn registers(&self) -> &'static [u8] {
        &REGISTERS[..self.bases.len()]
    }

    /// The registers among them that must be preserved for the caller.
    pub fn saved(&self) -> &'static [u8] {
        &REGISTERS[VOLATILE.min(self.bases.len())..self.bases.len()]
    }

    /// The operand of a row of a bank, or of a scratch row.
    ///
    /// # Panics
    ///
    /// If the bank is not required to have that row.
    pub fn operand(&self, place: Place) -> Operand {
        let bank = place.bank as usize;
        let index = place.index as usize;
        assert!(
            place.bank == SCRATCH || index < self.rows[bank],
            "code accesses only rows that the tape names"
        );
        let windows = &self.windows[bank];
        let any = *windows.last().expect("every used bank has a base");
        let base = match windows[(index >> self.shifts[bank]).min(windows.len() - 1)] {
            NONE => any,
            base => base,
        };
        let at = i64::from(place.index) * i64::from(self.strides[bank]);
        let displacement = at - i64::from(self.bases[base as usize].offset);
        Operand::Memory {
            base: REGISTERS[base as usize],
            displacement: i32::try_from(displacement).expect("banks are smaller than 2 GiB"),
        }
    }
}
