//! The command `ggp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ggp_cli::main()
}
