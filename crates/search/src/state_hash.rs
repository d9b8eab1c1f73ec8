//! Hashes of 64 bits for states.

/// A hasher whose results have 64 good bits on every machine. `FxHasher` has 32 where addresses
/// have 32, as in WebAssembly.
#[cfg(target_pointer_width = "64")]
pub type StateHasher = rustc_hash::FxHasher;
/// A hasher whose results have 64 good bits on every machine.
#[cfg(not(target_pointer_width = "64"))]
pub type StateHasher = std::hash::DefaultHasher;

/// The hash of a state.
pub fn state_hash(state: &(impl std::hash::Hash + ?Sized)) -> u64 {
    use std::hash::Hasher;

    let mut hasher = StateHasher::default();
    state.hash(&mut hasher);
    hasher.finish()
}
