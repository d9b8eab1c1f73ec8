//! Counting without merging equal states.

use anyhow::{Context as _, bail};

use super::table::Row;
use super::{Options, RuleOptions};
use crate::Context;
use ggp_engine::machine::{AnyMachine, Backend, Machine, PerftEnd, PlayError, PropnetState};
use ggp_engine::propnet::perft::{CountEnd, CountError, CountOptions, Counter};

/// The machine of the network; fails if the game has none.
pub(super) fn machine(rules: &RuleOptions, context: &Context) -> anyhow::Result<AnyMachine> {
    if let Backend::Datalog | Backend::Naive = rules.backend {
        bail!("--no-transpositions needs the network; remove --backend or --no-transpositions");
    }
    let game = rules.game(context)?;
    let rules = RuleOptions {
        backend: Backend::Propnet,
        ..rules.clone()
    };
    rules.machine_for(&game, context).context(
        "--no-transpositions needs a network, and these rules have none within \
         the limits; raise the limit named below (--ground-time, --ground-memory, \
         --ground-facts, --ground-instances), or remove the option",
    )
}

/// Counts from a state. The inner error is a fault that play reveals.
pub(super) fn count(
    machine: &mut AnyMachine,
    root: &PropnetState,
    options: &Options,
    threads: usize,
    context: &Context,
    mut on_level: impl FnMut(Row),
) -> anyhow::Result<Result<PerftEnd, PlayError>> {
    let AnyMachine::Propnet(network) = &*machine else {
        unreachable!("it was made for the network");
    };
    let PropnetState::Packed(start) = root else {
        bail!("--no-transpositions starts only from states that can be reached by play");
    };
    let count_options = CountOptions {
        start: Some(start.to_vec()),
        threads,
        engine: options.rules.engine.engine(),
        one_by_one: options.time.is_some(),
        ..CountOptions::default()
    };
    let counter = Counter::new(network.net(), &count_options);
    let found = counter.run(
        options.depth,
        || !context.is_interrupted(),
        |level| on_level(level.into()),
    );
    Ok(match found {
        Ok(CountEnd::Exhausted) => Ok(PerftEnd::Exhausted),
        Ok(CountEnd::Depth) => Ok(PerftEnd::Depth),
        Err(CountError::Interrupted) => Err(PlayError::Interrupted),
        Err(CountError::Stuck(packed)) => Err(stuck(machine, packed)),
    })
}

/// The machine's error for a state in which a role cannot move.
fn stuck(machine: &mut AnyMachine, packed: Vec<u64>) -> PlayError {
    let state = PropnetState::Packed(packed.into());
    let roles: Vec<_> = machine.game().roles().collect();
    let mut moves = Vec::new();
    let mut faults = roles.into_iter();
    faults
        .find_map(|role| machine.legal(&state, role, &mut moves).err())
        .expect("a role without a legal move is a fault")
}
