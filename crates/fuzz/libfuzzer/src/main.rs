//! Runs a target of `ggp-fuzz` with libFuzzer, which keeps the inputs that reach new code.
//!
//! The target is that of the environment variable `GGP_FUZZ_TARGET`. Inputs are changed as
//! by `ggp-fuzz`, by tokens, forms and lines, and in turn as libFuzzer does it. `run` in this
//! folder builds the program and runs all targets. libFuzzer writes the input of a find to a
//! file, and `ggp-fuzz --target NAME --replay FILE` runs it again.

#![no_main]

use std::sync::OnceLock;

use ggp_fuzz::{Known, TARGETS, Target, seed};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// The target, with texts to begin with.
fn chosen() -> &'static (&'static Target, Known) {
    static CHOSEN: OnceLock<(&Target, Known)> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("GGP_FUZZ_TARGET").unwrap_or_default();
        let target = TARGETS.iter().find(|target| target.name == name);
        let names = TARGETS.each_ref().map(|target| target.name).join(", ");
        let target = target.unwrap_or_else(|| panic!("set GGP_FUZZ_TARGET to one of {names}"));
        (target, Known::new(&[]).expect("the games can be read"))
    })
}

fuzz_target!(|bytes: &[u8]| {
    let target = chosen().0;
    let input = String::from_utf8_lossy(bytes);
    if let Err(what) = (target.run)(&input, seed(&input)) {
        panic!("{}: {what}", target.name);
    }
});

fuzz_mutator!(
    |bytes: &mut [u8], size: usize, max_size: usize, seed: u32| {
        if seed % 4 > 0 {
            let (target, known) = chosen();
            let input = String::from_utf8_lossy(&bytes[..size]);
            let changed = target.changed(&input, known, seed.into());
            if (1..=max_size).contains(&changed.len()) {
                bytes[..changed.len()].copy_from_slice(changed.as_bytes());
                return changed.len();
            }
        }
        fuzzer_mutate(bytes, size, max_size)
    }
);
