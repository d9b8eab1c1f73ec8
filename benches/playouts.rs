//! Random playouts of each game: `ggp engine bench` in a benchmark build.
//!
//! ```text
//! cargo bench --bench playouts -- [ARGUMENTS OF ggp engine bench]
//! ```
//!
//! Without arguments it plays the games of `games/` and compares the results with
//! `reference.json`, which is the output of `ggp engine bench games --backend datalog
//! --seconds 15 --json` without the times. `peers.csv` has figures of other engines
//! for the rules of the public game repository; use it with `--against` on those
//! rules, not on the rules in `games/`.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // Cargo adds --bench to the user's arguments.
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    arguments.retain(|argument| argument != "--bench");
    if arguments.is_empty() {
        let usual = ["games", "--reference", "benches/reference.json"];
        arguments.extend(usual.map(Into::into));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let status = command.args(["engine", "bench"]).args(arguments).status();
    match status.expect("the program was built").code() {
        Some(code) => ExitCode::from(code.clamp(0, 255) as u8),
        None => ExitCode::FAILURE,
    }
}
