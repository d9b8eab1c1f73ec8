//! Answers in files, for `ggp verify`.

use std::path::Path;

use crate::cli::Context;
use crate::machine::{AnyMachine, Machine};
use crate::solve::{Answer, SolveOptions, claim};
use crate::verify::{self, Proof, Record};

/// Writes an answer to a file.
///
/// # Errors
///
/// Those of writing.
pub(super) fn write(
    path: &Path,
    machine: &AnyMachine,
    start: &<AnyMachine as Machine>::State,
    how: &SolveOptions,
    answer: &Answer,
    context: &Context,
) -> anyhow::Result<()> {
    let claim = claim(machine, start, answer.target, answer, &how.budget);
    if let verify::Answer::Unsolvable {
        proof: Proof::Refuted { .. },
    } = claim
    {
        context.note("note: this answer has no proof that `ggp verify` could check");
    }
    let facts = machine.facts(start);
    let record = Record::new(machine.game(), &facts, answer.target.get(), claim);
    let text = serde_json::to_string_pretty(&record)?;
    context.write_file(path, (text + "\n").as_bytes())
}
