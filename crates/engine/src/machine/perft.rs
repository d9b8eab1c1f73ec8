//! Counts of positions by depth: a test that reveals errors in rules and engines.
//!
//! Equal states of one depth are expanded once and weighted by the number of
//! joint-move sequences that lead to them.

use crate::threads::usable;
use ggp_stop::Instant;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::game::Move;

/// Options of counting.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PerftOptions {
    /// The last depth.
    pub depth: u32,
    /// The number of threads; 0 counts as 1. The result does not depend on it.
    pub threads: usize,
    /// The maximum number of distinct states kept per depth.
    pub states: usize,
    /// The time after which no further depth is begun. A depth in progress is
    /// completed.
    pub time: Option<Duration>,
}

impl Default for PerftOptions {
    fn default() -> Self {
        PerftOptions {
            depth: u32::MAX,
            threads: 1,
            states: 20_000_000,
            time: None,
        }
    }
}

/// The counts of one depth.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Level {
    /// The number of joint moves.
    pub depth: u32,
    /// Joint-move sequences of this length. A sequence does not continue after the
    /// end of the game.
    pub paths: u128,
    /// The distinct states after them.
    pub distinct: u64,
    /// Sequences that end the game.
    pub terminal_paths: u128,
    /// Distinct states in which the game is over.
    pub terminal_distinct: u64,
    /// By role: the sum of its scores over the ending sequences.
    pub goal_sums: Vec<u128>,
    /// Pairs of an ending sequence and a role without exactly one valid score.
    pub goal_errors: u128,
}

/// The reason why counting ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PerftEnd {
    /// No sequence continues: the whole game was counted.
    Exhausted,
    /// The requested depth was reached.
    Depth,
    /// There were more distinct states than allowed.
    States,
    /// The time was over.
    Time,
    /// A number of sequences exceeded 128 bits.
    Overflow,
}

/// The counts of all depths from 0.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Perft {
    /// One entry for each depth.
    pub levels: Vec<Level>,
    /// The reason why there are no more depths.
    pub stop: PerftEnd,
}

/// Counts positions from a state on, depth by depth.
///
/// `on_level` gets each depth as soon as it is counted.
///
/// # Errors
///
/// Any error of the rules that shows up during play, except for scores, which are
/// counted in [`Level::goal_errors`]. `on_level` has received the levels before the
/// error.
pub fn perft(
    machine: &mut AnyMachine,
    from: &PropnetState,
    options: PerftOptions,
    mut on_level: impl FnMut(&Level),
) -> Result<Perft, PlayError> {
    count_depths(machine, from, options, &mut on_level)
}

/// [`perft`], compiled here, with the optimization of this crate.
fn count_depths(
    machine: &mut AnyMachine,
    from: &PropnetState,
    options: PerftOptions,
    on_level: &mut dyn FnMut(&Level),
) -> Result<Perft, PlayError> {
    let start = Instant::now();
    let mut levels = Vec::new();
    let mut frontier: Vec<(PropnetState, u128)> = vec![(from.clone(), 1)];
    let mut machines: Vec<AnyMachine> = (1..usable(options.threads))
        .map(|_| machine.clone())
        .collect();
    machines.push(machine.clone());
    let mut depth = 0;
    loop {
        let expand = depth < options.depth && frontier.len() <= options.states;
        let Some(batch) = expand_all(&mut machines, &frontier, expand)? else {
            return Ok(Perft {
                levels,
                stop: PerftEnd::Overflow,
            });
        };
        let level = Level {
            depth,
            ..batch.level
        };
        on_level(&level);
        let exhausted = level.terminal_distinct == level.distinct;
        levels.push(level);
        let late = options.time.is_some_and(|time| start.elapsed() >= time);
        let stop = if exhausted {
            Some(PerftEnd::Exhausted)
        } else if depth == options.depth {
            Some(PerftEnd::Depth)
        } else if !expand {
            Some(PerftEnd::States)
        } else if late {
            Some(PerftEnd::Time)
        } else {
            None
        };
        if let Some(stop) = stop {
            return Ok(Perft { levels, stop });
        }
        frontier = batch.next.into_iter().collect();
        depth += 1;
    }
}

/// The counts of the states of one depth, and the states after them.
struct Batch {
    level: Level,
    next: FxHashMap<PropnetState, u128>,
}

/// Counts and expands all states of a depth; `None` if a number overflows.
fn expand_all(
    machines: &mut [AnyMachine],
    frontier: &[(PropnetState, u128)],
    expand: bool,
) -> Result<Option<Batch>, PlayError> {
    const CHUNK: usize = 64;
    let taken = AtomicUsize::new(0);
    let work = |machine: &mut AnyMachine| {
        let mut batch = Batch {
            level: Level {
                goal_sums: vec![0; machine.game().role_count()],
                ..Level::default()
            },
            next: FxHashMap::default(),
        };
        loop {
            let from = taken.fetch_add(CHUNK, Ordering::Relaxed);
            if from >= frontier.len() {
                return Ok(Some(batch));
            }
            for (state, paths) in &frontier[from..frontier.len().min(from + CHUNK)] {
                if count(machine, state, *paths, expand, &mut batch)?.is_none() {
                    return Ok(None);
                }
            }
        }
    };
    let (first, others) = machines
        .split_first_mut()
        .expect("there is at least one machine");
    let results: Vec<Result<Option<Batch>, PlayError>> = if frontier.len() <= CHUNK {
        vec![work(first)]
    } else {
        std::thread::scope(|scope| {
            // Threads that the system does not give are left out: all take from one list.
            let start = |m| std::thread::Builder::new().spawn_scoped(scope, || work(m));
            let handles: Vec<_> = others.iter_mut().flat_map(start).collect();
            let mut results = vec![work(first)];
            results.extend(
                handles
                    .into_iter()
                    .map(|h| h.join().expect("a worker does not panic")),
            );
            results
        })
    };
    let mut total: Option<Batch> = None;
    for result in results {
        let Some(batch) = result? else {
            return Ok(None);
        };
        total = Some(match total {
            None => batch,
            Some(total) => match merge(total, batch) {
                Some(total) => total,
                None => return Ok(None),
            },
        });
    }
    Ok(total)
}

/// Adds one state to a batch; `None` if a number overflows.
fn count(
    machine: &mut AnyMachine,
    state: &PropnetState,
    paths: u128,
    expand: bool,
    batch: &mut Batch,
) -> Result<Option<()>, PlayError> {
    let level = &mut batch.level;
    level.distinct += 1;
    let Some(sum) = level.paths.checked_add(paths) else {
        return Ok(None);
    };
    level.paths = sum;
    let roles: Vec<_> = machine.game().roles().collect();
    if machine.is_terminal(state)? {
        level.terminal_distinct += 1;
        level.terminal_paths += paths;
        for role in roles {
            match super::score(machine, state, role) {
                Ok(score) => {
                    let value = paths.checked_mul(u128::from(score.get()));
                    let sum = &mut level.goal_sums[role.index()];
                    match value.and_then(|value| sum.checked_add(value)) {
                        Some(total) => *sum = total,
                        None => return Ok(None),
                    }
                }
                Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
                    level.goal_errors += paths
                }
                Err(error) => return Err(error),
            }
        }
        return Ok(Some(()));
    }
    if !expand {
        return Ok(Some(()));
    }
    let mut legal = vec![Vec::new(); roles.len()];
    for role in roles {
        machine.legal(state, role, &mut legal[role.index()])?;
    }
    let mut joint: Vec<Move> = legal.iter().map(|moves| moves[0]).collect();
    let mut choice = vec![0; legal.len()];
    loop {
        let next = machine.next(state, &joint)?;
        let known = batch.next.entry(next).or_insert(0);
        match known.checked_add(paths) {
            Some(sum) => *known = sum,
            None => return Ok(None),
        }
        // Advance to the next joint move; the last role's choice changes fastest.
        let Some(role) = (0..legal.len())
            .rev()
            .find(|&role| choice[role] + 1 < legal[role].len())
        else {
            return Ok(Some(()));
        };
        choice[role] += 1;
        choice[role + 1..].fill(0);
        for role in role..legal.len() {
            joint[role] = legal[role][choice[role]];
        }
    }
}

/// Merges two batches of one depth; `None` if a number overflows.
fn merge(mut left: Batch, right: Batch) -> Option<Batch> {
    let (to, from) = (&mut left.level, right.level);
    to.paths = to.paths.checked_add(from.paths)?;
    to.distinct += from.distinct;
    to.terminal_paths += from.terminal_paths;
    to.terminal_distinct += from.terminal_distinct;
    to.goal_errors = to.goal_errors.checked_add(from.goal_errors)?;
    for (to, from) in to.goal_sums.iter_mut().zip(from.goal_sums) {
        *to = to.checked_add(from)?;
    }
    for (state, paths) in right.next {
        let known = left.next.entry(state).or_insert(0);
        *known = known.checked_add(paths)?;
    }
    Some(left)
}
