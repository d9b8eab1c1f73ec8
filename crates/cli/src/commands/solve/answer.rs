//! Answers in files, for `ggp verify`.

use std::path::Path;

use crate::Context;
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_gdl::game::Score;
use ggp_solver::solve::{Answer, Counted, PATIENCE, SolveOptions, claim, claim_count, lacks_proof};
use ggp_verify::{Claim, Proof, Record};

/// Writes an answer to a file.
///
/// # Errors
///
/// If the file cannot be written.
pub(super) fn write(
    path: &Path,
    machine: &AnyMachine,
    start: &<AnyMachine as Machine>::State,
    how: &SolveOptions,
    answer: &Answer,
    context: &Context,
) -> anyhow::Result<()> {
    if lacks_proof(answer) {
        note_proof(how, context);
    }
    let claim = claim(machine, start, answer, &how.budget);
    if let Claim::Unsolvable {
        proof: Proof::Refuted { .. },
    } = claim
    {
        context.note("note: this answer has no proof that `ggp verify` can check");
    }
    write_claim(path, machine, start, answer.target, claim, context)
}

/// Writes counted solutions to a file.
///
/// # Errors
///
/// If the file cannot be written.
pub(super) fn write_count(
    path: &Path,
    machine: &AnyMachine,
    start: &<AnyMachine as Machine>::State,
    how: &SolveOptions,
    counted: &Counted,
    context: &Context,
) -> anyhow::Result<()> {
    if counted.is_all {
        note_proof(how, context);
    }
    let claim = claim_count(machine, start, counted, &how.budget)?;
    write_claim(path, machine, start, how.target, claim, context)
}

/// Announces the search for a proof, which may take a while.
fn note_proof(how: &SolveOptions, context: &Context) {
    let most = how.budget.time.map_or(PATIENCE, |time| time.min(PATIENCE));
    context.note(format_args!(
        "looking for a proof that `ggp verify` can check, for at most {:.1} seconds",
        most.as_secs_f64()
    ));
}

fn write_claim(
    path: &Path,
    machine: &AnyMachine,
    start: &<AnyMachine as Machine>::State,
    target: Score,
    claim: Claim,
    context: &Context,
) -> anyhow::Result<()> {
    let facts = machine.facts(start);
    let record = Record::new(machine.game(), &facts, target.get(), claim);
    let text = serde_json::to_string_pretty(&record)?;
    context.write_file(path, (text + "\n").as_bytes())
}
