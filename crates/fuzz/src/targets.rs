//! The targets: what is done with an input, and what must be true of it.

mod agree;
mod answer;
mod checkpoint;
mod editor;
mod message;
mod page;
mod read;
mod rewrite;

pub use read::reading;

use std::time::Duration;

use ggp_engine::machine::Limits;
use ggp_engine::propnet::GroundLimits;
use ggp_stop::Stop;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Known;

/// The inputs of a target.
pub enum Inputs {
    /// Texts of rules.
    Rules,
    /// Inputs that this function makes.
    Own(fn(&Known, &mut Xoshiro256PlusPlus) -> String),
}

/// A target.
pub struct Target {
    /// The name, for `--target`.
    pub name: &'static str,
    /// Its inputs.
    pub inputs: Inputs,
    /// Runs it on an input, with a seed for choices. Returns the number of answers that were
    /// compared, or what is wrong.
    pub run: fn(&str, u64) -> Result<u64, String>,
}

/// All targets.
pub static TARGETS: [Target; 8] = [
    Target {
        name: "read",
        inputs: Inputs::Rules,
        run: read::run,
    },
    Target {
        name: "agree",
        inputs: Inputs::Rules,
        run: agree::run,
    },
    Target {
        name: "rewrite",
        inputs: Inputs::Rules,
        run: rewrite::run,
    },
    Target {
        name: "message",
        inputs: Inputs::Rules,
        run: message::run,
    },
    Target {
        name: "page",
        inputs: Inputs::Own(page::make),
        run: page::run,
    },
    Target {
        name: "answer",
        inputs: Inputs::Own(answer::make),
        run: answer::run,
    },
    Target {
        name: "checkpoint",
        inputs: Inputs::Own(checkpoint::make),
        run: checkpoint::run,
    },
    Target {
        name: "editor",
        inputs: Inputs::Own(editor::make),
        run: editor::run,
    },
];

/// Limits for rules that nobody has looked at, and a time for all that is done with them.
fn small_limits(time: Duration) -> Limits {
    Limits {
        facts: 3_000,
        work: 300_000,
        ground: GroundLimits {
            facts: 30_000,
            work: 3_000_000,
            instances: 100_000,
            time: Some(Duration::from_secs(2)),
            ..GroundLimits::default()
        },
        stop: Stop::after(time),
        ..Limits::default()
    }
}
