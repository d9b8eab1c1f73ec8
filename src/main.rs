//! The command `ggp`.

fn main() {}
