//! Comparison with the published figures of other programs: `ggp seeds` as a
//! benchmark.
//!
//! ```text
//! cargo bench --bench seeds -- [--table N] [--json] [--csv DIR] [--plot DIR]
//! ```
//!
//! The runs are listed in `crates/cli/src/commands/seeds.json`. Every answer that is timed is also
//! checked; the benchmark fails if one is wrong.

use std::process::{Command, exit};

fn main() {
    // Cargo adds an option of its own.
    let arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let status = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("seeds")
        .args(arguments)
        .status()
        .expect("the program was built");
    exit(status.code().unwrap_or(2));
}
