//! Runs a tape as machine code of x86-64, with AVX2 or AVX-512.
//!
//! In: a [`Tape`], the width of the rows, the instructions to use. Out: code in
//! memory that is never writable and executable at once, and a safe way to call
//! it. This is the only module with unsafe code: the call itself.

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
    /// Whether this machine has them, and rows of so many words can be cut into
    /// their vectors.
    pub fn is_available(self, words: usize) -> bool {
        let is_cut = words > 0 && words.is_multiple_of(4);
        is_cut
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
    /// By bank: rows that it must have.
    rows: [usize; BANKS],
    scratch: usize,
    /// Words of the rows, and of one vector.
    words: usize,
    vector: usize,
    instructions: usize,
}

impl Native {
    /// Compiles a tape for rows of so many words; none if the system gives no
    /// memory for code.
    ///
    /// # Panics
    ///
    /// If the instructions are not available for the width.
    pub fn new(tape: &Tape, words: usize, instructions: Instructions) -> Option<Native> {
        assert!(
            instructions.is_available(words),
            "{instructions:?} is there for rows of {words} words"
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

    /// Scratch rows to run with: how many, and their words.
    pub fn scratch(&self) -> Rows {
        Rows::new(self.scratch, self.vector)
    }

    /// Instructions on vectors, loops once.
    pub fn instructions(&self) -> usize {
        self.instructions
    }

    /// Runs it, vector by vector of the rows' width.
    ///
    /// # Panics
    ///
    /// If a bank is missing, too short or of another width, or `scratch` is not
    /// such as [`Native::scratch`] makes.
    pub fn run(&self, banks: &mut [Rows], scratch: &mut Rows) {
        assert!(scratch.len() >= self.scratch, "the scratch rows suffice");
        assert_eq!(scratch.words(), self.vector, "scratch rows are vectors");
        let mut starts = [std::ptr::null_mut::<u64>(); BANKS + 1];
        for (number, &rows) in self.rows.iter().enumerate() {
            if rows > 0 {
                let bank = &mut banks[number];
                assert!(bank.len() >= rows, "bank {number} has the tape's rows");
                assert_eq!(bank.words(), self.words, "bank {number} has the width");
                starts[number] = bank.flat_mut().as_mut_ptr();
            }
        }
        starts[SCRATCH as usize] = scratch.flat_mut().as_mut_ptr();
        // SAFETY: a function pointer is as large as a data pointer here. The
        // bytes are one function of this calling convention, as `compile` wrote
        // it; `self` owns the mapping, which is executable and, since before
        // `self` was made, not writable. So the pointer stays valid while
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
            // SAFETY: the instructions are there, as `new` asserted on this
            // machine. The function reads its table only where a base was
            // entered above. From there on it touches vectors in rows below
            // `rows` of each bank, which `Addresses::operand` asserted for every
            // operand, and below `scratch` of the scratch rows, as the
            // allocator counts those that it deals out. All these lie inside
            // the buffers by the assertions above, the vector from word `first`
            // of each row on included, as rows are whole vectors. All buffers
            // are borrowed uniquely for this call, differ from each other, and
            // may hold any bits. It keeps the registers that the convention
            // says are the caller's and calls nothing.
            unsafe { function(table.as_ptr()) };
            first += self.vector;
        }
    }
}
