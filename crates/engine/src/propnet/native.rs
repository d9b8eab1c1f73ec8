//! Execution of a tape as x86-64 machine code, with AVX2 or AVX-512.
//!
//! In: a [`Tape`], the width of the rows, the instructions to use. Out: code in
//! memory that is never writable and executable at once, and a safe way to call it.
//! Its unsafe code is the call itself.

#![allow(unsafe_code)]

mod address;
mod allocate;
mod encode;
mod fuse;
mod uses;

use memmap2::{Mmap, MmapMut};

use super::lanes::Rows;
use super::tape::{BANKS, Tape};
use address::{Base, SCRATCH};
use allocate::compile;
use encode::Form;

/// The instructions to use.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Instructions {
    Avx2,
    Avx512,
}

impl Instructions {
    /// True if this machine has the instructions, and rows of `words` words can be
    /// divided into their vectors.
    pub fn is_available(self, words: usize) -> bool {
        let is_divisible = words > 0 && words.is_multiple_of(4);
        is_divisible
            && match self {
                Instructions::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
                Instructions::Avx512 => {
                    std::arch::is_x86_feature_detected!("avx512f")
                        && std::arch::is_x86_feature_detected!("avx512vl")
                }
            }
    }
}

/// A tape as machine code.
#[derive(Debug)]
pub(super) struct Native {
    code: Mmap,
    bases: Vec<Base>,
    /// By bank: the number of rows it must have.
    rows: [usize; BANKS],
    scratch: usize,
    /// The words of the rows, and of one vector.
    words: usize,
    vector: usize,
    instructions: usize,
}

impl Native {
    /// Compiles a tape for rows of `words` words. Returns `None` if the system
    /// provides no memory for code.
    ///
    /// # Panics
    ///
    /// If the instructions are not available for the width.
    pub fn new(tape: &Tape, words: usize, instructions: Instructions) -> Option<Native> {
        assert!(
            instructions.is_available(words),
            "{instructions:?} must be available for rows of {words} words"
        );
        let form = match instructions {
            Instructions::Avx2 => Form::Vex256,
            Instructions::Avx512 if words.is_multiple_of(8) => Form::Evex512,
            Instructions::Avx512 => Form::Evex256,
        };
        let compiled = compile(tape, form, words * 8);
        let mut code = MmapMut::map_anon(compiled.bytes.len()).ok()?;
        code.copy_from_slice(&compiled.bytes);
        Some(Native {
            code: code.make_exec().ok()?,
            bases: compiled.addresses.bases().to_vec(),
            rows: *tape.rows(),
            scratch: compiled.scratch,
            words,
            vector: form.bytes() / 8,
            instructions: compiled.instructions,
        })
    }

    /// New scratch rows for this code.
    pub fn scratch(&self) -> Rows {
        Rows::new(self.scratch, self.vector)
    }

    /// The number of vector instructions, counting loops once.
    pub fn instructions(&self) -> usize {
        self.instructions
    }

    /// Runs the code, one vector of the rows' width after the other.
    ///
    /// # Panics
    ///
    /// If a bank is missing, too short or of another width, or `scratch` was not
    /// made by [`Native::scratch`].
    pub fn run(&self, banks: &mut [Rows], scratch: &mut Rows) {
        assert!(
            scratch.len() >= self.scratch,
            "there must be enough scratch rows"
        );
        assert_eq!(scratch.words(), self.vector, "scratch rows must be vectors");
        let mut starts = [std::ptr::null_mut::<u64>(); BANKS + 1];
        for (number, &rows) in self.rows.iter().enumerate() {
            if rows > 0 {
                let bank = &mut banks[number];
                assert!(
                    bank.len() >= rows,
                    "bank {number} must have the tape's rows"
                );
                assert_eq!(
                    bank.words(),
                    self.words,
                    "bank {number} must have the code's width"
                );
                starts[number] = bank.flat_mut().as_mut_ptr();
            }
        }
        starts[SCRATCH as usize] = scratch.flat_mut().as_mut_ptr();
        // SAFETY: a function pointer is as large as a data pointer on this target.
        // The bytes are one function of this calling convention, as written by
        // `compile`. `self` owns the mapping, which is executable and has not been
        // writable since before `self` existed. So the pointer stays valid while
        // `self` is borrowed.
        let function = unsafe {
            std::mem::transmute::<*const u8, unsafe extern "sysv64" fn(*const *mut u64)>(
                self.code.as_ptr(),
            )
        };
        let mut first = 0;
        while first < self.words {
            // At most as many as there are general registers.
            let mut table = [std::ptr::null_mut::<u64>(); 16];
            for (entry, base) in table.iter_mut().zip(&self.bases) {
                let start = if base.bank == SCRATCH { 0 } else { first };
                *entry = starts[base.bank as usize]
                    .wrapping_add(start)
                    .wrapping_byte_offset(base.offset as isize);
            }
            // SAFETY: the instructions are available, as `new` asserted on this
            // machine. The function reads its table only where a base was entered
            // above. Through these bases it accesses vectors in rows below `rows` of
            // each bank, which `Addresses::operand` asserted for every operand, and
            // below `scratch` of the scratch rows, since the allocator counts the rows
            // that it assigns. All these lie inside the buffers by the assertions
            // above, including the vector from word `first` of each row on, since rows
            // are whole vectors. All buffers are borrowed uniquely for this call, are
            // disjoint, and may hold any bits. The function preserves the registers
            // that the convention reserves for the caller and calls nothing.
            unsafe { function(table.as_ptr()) };
            first += self.vector;
        }
    }
}
