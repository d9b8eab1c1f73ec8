//! Options of the system's allocator.

/// From now on, each block of a megabyte or more is returned to the system when it is freed. To
/// be called before other threads start.
///
/// The GNU allocator raises that size with each large block that is freed, and then keeps such
/// blocks for each thread. The page, which has many threads, must see soon that memory is free
/// again.
pub(crate) fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "there is no safe function for it")]
    // SAFETY: the function stores a number, and no other thread allocates then. It changes
    // nothing if it fails.
    unsafe {
        const LARGE: libc::c_int = 1 << 20;
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
    }
}

/// Returns the memory that is free to the system, also that of other threads' blocks, which
/// the GNU allocator otherwise keeps for them.
pub(crate) fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "there is no safe function for it")]
    // SAFETY: the function may be called at any time, from any thread; it changes no block
    // that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
