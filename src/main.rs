//! The command `ggp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ggp::cli::main()
}
