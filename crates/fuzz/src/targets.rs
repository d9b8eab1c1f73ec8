//! The targets: what is done with an input, and what must be true of it.

mod agree;
mod message;
mod read;
mod rewrite;

/// A target.
pub struct Target {
    /// The name, for `--target`.
    pub name: &'static str,
    /// Runs it on a text, with a seed for choices. Returns the number of answers that were
    /// compared, or what is wrong.
    pub run: fn(&str, u64) -> Result<u64, String>,
}

/// All targets.
pub const TARGETS: [Target; 4] = [
    Target {
        name: "read",
        run: read::run,
    },
    Target {
        name: "agree",
        run: agree::run,
    },
    Target {
        name: "rewrite",
        run: rewrite::run,
    },
    Target {
        name: "message",
        run: message::run,
    },
];
