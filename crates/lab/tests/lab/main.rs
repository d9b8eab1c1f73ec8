//! Tests of the laboratory.

mod plot;
mod seeds;

use std::process::{Command, Output};

/// Runs the program in the folder of the repository.
fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ggp-lab"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env_remove("GGP_CORPUS")
        .args(arguments)
        .output()
        .expect("the program was built")
}
