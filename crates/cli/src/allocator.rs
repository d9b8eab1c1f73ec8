//! The allocator of the program, which returns freed memory to the system at once.
//!
//! The page stops work when the process is near its memory, and must see soon that the memory
//! is free again. The allocator of the system keeps it for each thread: with many threads the
//! process was more than twice as large as allowed.

use std::ffi::{c_int, c_long};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of the option `mi_option_purge_delay` (`mimalloc.h`), which is the time in
/// milliseconds until memory that is not used is returned.
const PURGE_DELAY: c_int = 15;

/// From now on, memory that is freed is returned at once. To be called before other threads
/// start. The environment variable `MIMALLOC_PURGE_DELAY` goes first.
pub(crate) fn return_at_once() {
    const AT_ONCE: c_long = 0;
    // SAFETY: the function stores a number, and no other thread stores or allocates then.
    #[expect(unsafe_code, reason = "the library has no safe function for it")]
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, AT_ONCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_the_one_that_is_meant() {
        // SAFETY: the function reads a number.
        #[expect(unsafe_code, reason = "the library has no safe function for it")]
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        // The delay as the library has it at first; no other option near it is the same.
        let before = delay();
        return_at_once();
        let after = delay();
        assert_eq!((before, after), (10, 0));
    }
}
