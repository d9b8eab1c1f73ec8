//! Register allocation: conversion of a tape to machine code.
//!
//! In: a [`Tape`] and the vectors to use. Out: [`Compiled`] bytes, and the
//! addresses they expect. Registers are evicted by Belady's rule: the value whose
//! next use is farthest is evicted, and it is stored only then and only once. Most
//! operands are read from memory by the instruction that needs them, since that
//! costs no extra instruction.
//!
//! Source: Belady, A Study of Replacement Algorithms for a Virtual-Storage Computer
//! (1966).

#![forbid(unsafe_code)]

use super::address::{Addresses, SCRATCH};
use super::encode::{Binary, Encoder, Form, Operand, RDI};
use super::fuse::fused;
use super::uses::{NEVER, Uses};
use crate::propnet::tape::{Home, Kind, LastUses, Place, Step, Tape, last_uses};

/// Machine code and its requirements.
pub(super) struct Compiled {
    pub bytes: Vec<u8>,
    pub addresses: Addresses,
    /// The number of scratch rows that it uses, each as long as a vector.
    pub scratch: usize,
    /// The number of vector instructions.
    pub instructions: usize,
}

/// True if two steps are fused to one instruction where possible.
const FUSES: bool = true;

/// The value is in no register.
const NO_REGISTER: u8 = u8::MAX;

/// Compiles a tape for rows `stride` bytes apart.
pub(super) fn compile(tape: &Tape, form: Form, stride: usize) -> Compiled {
    let steps = &match form.is_evex() && FUSES {
        true => fused(tape),
        false => tape.steps.clone(),
    };
    let uses = Uses::new(steps, &tape.loops, tape.homes.len());
    let expiring = LastUses::new(
        &last_uses(steps, &tape.loops, tape.homes.len()),
        steps.len(),
    );
    let mut is_stored = vec![false; tape.homes.len()];
    is_stored[..tape.given].fill(true);
    let homes = tape.homes.iter().map(|home| match home {
        Home::Bank(_) => *home,
        _ => Home::Nowhere,
    });
    let mut registers = form.registers();
    let has_loops = !tape.loops.is_empty();
    let mut reserve = |is_needed: bool| {
        registers -= u8::from(is_needed);
        registers
    };
    let negates = steps.iter().any(|step| step.kind == Kind::Not);
    let needs_ones = negates && !form.is_evex();
    let reserved = Reserved {
        changed: reserve(has_loops),
        temporary: reserve(has_loops),
        ones: reserve(needs_ones),
    };
    let mut allocator = Allocator {
        encoder: Encoder::new(form, steps.len() * 12),
        form,
        addresses: Addresses::new(tape, form, stride),
        homes: homes.collect(),
        is_stored,
        register_of: vec![NO_REGISTER; tape.homes.len()],
        holds: [0; 32],
        next: [NEVER; 32],
        free: u32::MAX >> (32 - u32::from(registers)),
        all: u32::MAX >> (32 - u32::from(registers)),
        slots: Vec::new(),
        scratch: 0,
        reserved,
        instructions: 0,
    };
    allocator.prologue(needs_ones);
    let mut begin = 0;
    for (position, step) in steps.iter().enumerate() {
        match step.kind {
            Kind::Begin => {
                let feedbacks = tape.loops[step.number()].iter().map(|&(value, _)| value);
                allocator.begin(feedbacks);
                begin = allocator.encoder.position();
            }
            Kind::End => {
                allocator.end(&tape.loops[step.number()], begin);
                allocator.release(expiring.at(position));
                let definitions = tape.loops[step.number()].iter();
                for (&(_, value), &next) in definitions.zip(uses.of_loop(step.number())) {
                    allocator.set_next_use(value, next);
                }
            }
            _ => allocator.step(step, &uses, position, &expiring),
        }
    }
    allocator.epilogue();
    Compiled {
        bytes: allocator.encoder.into_bytes(),
        addresses: allocator.addresses,
        scratch: allocator.scratch as usize,
        instructions: allocator.instructions,
    }
}

/// Registers that hold no values of the tape. One that is not needed has an invalid
/// number and is not used.
#[derive(Copy, Clone)]
struct Reserved {
    changed: u8,
    temporary: u8,
    ones: u8,
}

struct Allocator {
    encoder: Encoder,
    form: Form,
    addresses: Addresses,
    /// By value: its place, once it has one.
    homes: Vec<Home>,
    /// By value: true if it is stored in its place.
    is_stored: Vec<bool>,
    register_of: Vec<u8>,
    /// By register: the value in it.
    holds: [u32; 32],
    /// By register: the next step that needs it; [`NEVER`] if it is free.
    next: [u32; 32],
    free: u32,
    all: u32,
    /// Scratch rows that are free again.
    slots: Vec<u32>,
    scratch: u32,
    reserved: Reserved,
    instructions: usize,
}

impl Allocator {
    fn prologue(&mut self, needs_ones: bool) {
        for &register in self.addresses.saved() {
            self.encoder.push(register);
        }
        let mut own = None;
        for (entry, &register) in self.addresses.registers().iter().enumerate() {
            if register == RDI {
                own = Some(entry);
            } else {
                self.encoder.load_address(register, entry);
            }
        }
        // The table's own address is loaded last.
        if let Some(entry) = own {
            self.encoder.load_address(RDI, entry);
        }
        if needs_ones {
            self.encoder.ones(self.reserved.ones);
        }
    }

    fn epilogue(&mut self) {
        for &register in self.addresses.saved().iter().rev() {
            self.encoder.pop(register);
        }
        self.encoder.finish();
    }

    fn step(&mut self, step: &Step, uses: &Uses, position: usize, expiring: &LastUses) {
        let after = &uses.after[position];
        match step.kind {
            Kind::And | Kind::Or | Kind::Xor | Kind::AndNot => {
                let [mut a, mut b, _] = step.operands;
                let mut after_a = after[0];
                // The second operand of an instruction may be in memory. That of "not and"
                // is the one that is not negated.
                let is_swapped = match step.kind {
                    Kind::AndNot => true,
                    _ => {
                        let [in_a, in_b] = [a, b].map(|value| self.register_of[value as usize]);
                        match (in_a == NO_REGISTER, in_b == NO_REGISTER) {
                            (true, false) => true,
                            (true, true) => after[1] < after[0],
                            _ => false,
                        }
                    }
                };
                if is_swapped {
                    (a, b) = (b, a);
                    after_a = after[1];
                }
                let pinned = match self.register_of[b as usize] {
                    NO_REGISTER => 0,
                    register => 1 << register,
                };
                let first = self.in_register(a, after_a, pinned);
                let second = self.source(b);
                self.set_operand_uses(step, after);
                let result = self.register(0);
                let binary = match step.kind {
                    Kind::And => Binary::And,
                    Kind::Or => Binary::Or,
                    Kind::Xor => Binary::Xor,
                    _ => Binary::NotAnd,
                };
                self.instructions += 1;
                self.encoder.binary(binary, result, first, second);
                self.define(step.result, result, uses.first[position]);
            }
            Kind::Table(table) => self.table(step, table, uses, position),
            Kind::Not => {
                let source = self.source(step.operands[0]);
                self.set_operand_uses(step, after);
                let result = self.register(0);
                self.instructions += 1;
                if self.form.is_evex() {
                    self.encoder.ternary(result, result, source, 0x55);
                } else {
                    let ones = self.reserved.ones;
                    self.encoder.binary(Binary::Xor, result, ones, source);
                }
                self.define(step.result, result, uses.first[position]);
            }
            Kind::Copy => {
                let register = self.in_register(step.operands[0], after[0], 0);
                self.instructions += 1;
                let to = self.place(step.result);
                self.encoder.store(register, to);
                self.is_stored[step.result as usize] = true;
                self.set_operand_uses(step, after);
            }
            Kind::Zero | Kind::Ones => {
                let result = self.register(0);
                self.instructions += 1;
                match step.kind {
                    Kind::Zero => self.encoder.zero(result),
                    _ => self.encoder.ones(result),
                }
                self.define(step.result, result, uses.first[position]);
            }
            Kind::Begin | Kind::End => unreachable!("loops are handled apart"),
        }
        // Only now, because a value evicted for the result must not be stored where
        // an operand is still to be read.
        self.release(expiring.at(position));
    }

    /// The instruction overwrites its first operand. That is an operand at its last
    /// use, or else a copy, preferably of one that is in memory.
    fn table(&mut self, step: &Step, table: u8, uses: &Uses, position: usize) {
        let after = &uses.after[position];
        let in_register = |allocator: &Self, operand: usize| {
            allocator.register_of[step.operands[operand] as usize] != NO_REGISTER
        };
        let is_last_use = |operand: &usize| after[*operand] == NEVER && in_register(self, *operand);
        let last_use = (0..3).find(is_last_use);
        let stored = (0..3).find(|&operand| !in_register(self, operand));
        let first = last_use.or(stored).unwrap_or(0);
        let [mut second, mut third] = [(first + 1) % 3, (first + 2) % 3];
        if !in_register(self, second) && (in_register(self, third) || after[third] < after[second])
        {
            (second, third) = (third, second);
        }
        let pinned = |allocator: &Self| {
            let registers = step.operands.iter();
            let registers = registers.map(|&value| allocator.register_of[value as usize]);
            let held = registers.filter(|&register| register != NO_REGISTER);
            held.fold(0, |pinned, register| pinned | 1u32 << register)
        };
        let mask = pinned(self);
        let b = self.in_register(step.operands[second], after[second], mask);
        let c = self.source(step.operands[third]);
        let a = self.source(step.operands[first]);
        let result = match a {
            Operand::Register(register) if last_use.is_some() => {
                self.set_operand_uses(step, after);
                register
            }
            _ => {
                // Not the register of another operand, which is read later.
                let register = self.register(pinned(self));
                self.instructions += 1;
                self.encoder.load(register, a);
                self.set_operand_uses(step, after);
                register
            }
        };
        let permuted = (0..8).fold(0, |permuted, row: usize| {
            let mut original = 0;
            for (place, operand) in [first, second, third].into_iter().enumerate() {
                original |= (row >> (2 - place) & 1) << (2 - operand);
            }
            permuted | (table >> original & 1) << row
        });
        self.instructions += 1;
        self.encoder.ternary(result, b, c, permuted);
        self.define(step.result, result, uses.first[position]);
    }

    /// Stores the values in registers that are needed later, since registers are
    /// empty at the beginning of the second round.
    fn begin(&mut self, feedbacks: impl Iterator<Item = u32>) {
        let mut held = self.all & !self.free;
        while held != 0 {
            let register = held.trailing_zeros() as u8;
            held &= held - 1;
            self.evict(register);
        }
        let zero = self.reserved.temporary;
        self.encoder.zero(zero);
        for feedback in feedbacks {
            let to = self.place(feedback);
            self.encoder.store(zero, to);
            self.is_stored[feedback as usize] = true;
        }
    }

    fn end(&mut self, pairs: &[(u32, u32)], begin: usize) {
        let Reserved {
            changed, temporary, ..
        } = self.reserved;
        self.encoder.zero(changed);
        for &(feedback, definition) in pairs {
            let old = self.place(feedback);
            let new = match self.register_of[definition as usize] {
                NO_REGISTER => {
                    let from = self.source(definition);
                    self.encoder.load(temporary, from);
                    temporary
                }
                register => register,
            };
            self.instructions += 3;
            self.encoder.binary(Binary::Xor, temporary, new, old);
            let difference = Operand::Register(temporary);
            self.encoder
                .binary(Binary::Or, changed, changed, difference);
            if new == temporary {
                let from = self.source(definition);
                self.encoder.load(temporary, from);
            }
            self.encoder.store(new, old);
        }
        self.encoder.back_if_any(changed, begin);
    }

    /// The location of a value: its register if it has one.
    fn source(&mut self, value: u32) -> Operand {
        match self.register_of[value as usize] {
            NO_REGISTER => {
                assert!(
                    self.is_stored[value as usize],
                    "a value is in a register or in memory while it is needed"
                );
                self.place(value)
            }
            register => Operand::Register(register),
        }
    }

    /// The register of a value, loaded if necessary. `next` is the next step that
    /// needs it after this one.
    fn in_register(&mut self, value: u32, next: u32, pinned: u32) -> u8 {
        match self.source(value) {
            Operand::Register(register) => register,
            from => {
                let register = self.register(pinned);
                self.instructions += 1;
                self.encoder.load(register, from);
                self.hold(value, register, next);
                register
            }
        }
    }

    fn hold(&mut self, value: u32, register: u8, next: u32) {
        self.free &= !(1 << register);
        self.holds[register as usize] = value;
        self.next[register as usize] = next;
        self.register_of[value as usize] = register;
    }

    /// A free register. If there is none, a value is evicted.
    fn register(&mut self, pinned: u32) -> u8 {
        if self.free == 0 {
            let register = self.farthest(pinned);
            self.evict(register);
        }
        self.free.trailing_zeros() as u8
    }

    /// The register whose value is needed last.
    fn farthest(&self, pinned: u32) -> u8 {
        let mut best = NO_REGISTER;
        let mut farthest = 0;
        let mut candidates = self.all & !pinned;
        while candidates != 0 {
            let register = candidates.trailing_zeros() as u8;
            candidates &= candidates - 1;
            let next = self.next[register as usize];
            if next >= farthest {
                farthest = next;
                best = register;
            }
        }
        best
    }

    fn evict(&mut self, register: u8) {
        let value = self.holds[register as usize];
        if !self.is_stored[value as usize] && self.next[register as usize] != NEVER {
            self.instructions += 1;
            let to = self.place(value);
            self.encoder.store(register, to);
            self.is_stored[value as usize] = true;
        }
        self.free_register(value, register);
    }

    fn free_register(&mut self, value: u32, register: u8) {
        self.register_of[value as usize] = NO_REGISTER;
        self.next[register as usize] = NEVER;
        self.free |= 1 << register;
    }

    /// The value's place in memory, assigned if it has none.
    fn place(&mut self, value: u32) -> Operand {
        let place = match self.homes[value as usize] {
            Home::Bank(place) => place,
            Home::Scratch(index) => Place {
                bank: SCRATCH,
                index,
            },
            Home::Nowhere => {
                let index = self.slots.pop().unwrap_or_else(|| {
                    self.scratch += 1;
                    self.scratch - 1
                });
                self.homes[value as usize] = Home::Scratch(index);
                Place {
                    bank: SCRATCH,
                    index,
                }
            }
        };
        self.addresses.operand(place)
    }

    fn set_operand_uses(&mut self, step: &Step, after: &[u32; 3]) {
        for (&value, &next) in step.reads().iter().zip(after) {
            self.set_next_use(value, next);
        }
    }

    /// Records the next step that needs the value.
    fn set_next_use(&mut self, value: u32, next: u32) {
        let register = self.register_of[value as usize];
        if register != NO_REGISTER {
            if next == NEVER {
                self.free_register(value, register);
            } else {
                self.next[register as usize] = next;
            }
        }
    }

    /// Frees the scratch rows of values that are not needed any more.
    fn release(&mut self, values: &[u32]) {
        for &value in values {
            if let Home::Scratch(slot) = self.homes[value as usize] {
                self.slots.push(slot);
            }
        }
    }

    /// Records that a value was computed into a free register.
    fn define(&mut self, value: u32, register: u8, first: u32) {
        if let Home::Bank(_) = self.homes[value as usize] {
            let to = self.place(value);
            self.instructions += 1;
            self.encoder.store(register, to);
            self.is_stored[value as usize] = true;
        }
        if first != NEVER {
            self.hold(value, register, first);
        }
    }
}
