//! Counting without looking for equal states.

use anyhow::{Context as _, bail};

use super::table::Row;
use super::{Options, RuleOptions};
use crate::Context;
use crate::rules::BackendChoice;
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState, PerftEnd};
use ggp_engine::propnet::perft::{CountEnd, CountError, CountOptions, Counter};

/// The machine of the network, which has to be there.
pub(super) fn machine(rules: &RuleOptions, context: &Context) -> anyhow::Result<AnyMachine> {
    if let BackendChoice::Datalog | BackendChoice::Naive = rules.backend {
        bail!("--no-transpositions counts on the network; leave out --backend, or one of both");
    }
    let game = rules.game(context)?;
    let rules = RuleOptions {
        backend: BackendChoice::Propnet,
        ..rules.clone()
    };
    rules.machine_for(&game, context).context(
        "--no-transpositions counts on the network, which these rules have none of within \
         the limits; raise the one that is named (--ground-time, --ground-memory, \
         --ground-facts, --ground-instances), or leave the option out",
    )
}

/// Counts from a state. The inner fault is one that play shows.
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
        bail!("--no-transpositions starts only from states that play can lead to");
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

/// What the machine says of a state in which some role cannot move.
fn stuck(machine: &mut AnyMachine, packed: Vec<u64>) -> PlayError {
    let state = PropnetState::Packed(packed.into());
    let roles: Vec<_> = machine.game().roles().collect();
    let mut moves = Vec::new();
    let mut faults = roles.into_iter();
    faults
        .find_map(|role| machine.legal(&state, role, &mut moves).err())
        .expect("a role without a legal move is a fault")
}
