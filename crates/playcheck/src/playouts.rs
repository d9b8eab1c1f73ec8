//! Random playouts: in the lanes of a network, or one by one.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::tally::{Path, Scores, Tally};
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

/// Number of lanes.
const LANES: usize = 256;

/// The number and the length of playouts.
pub(super) struct SamplingOptions<'a> {
    pub(super) playouts: u64,
    pub(super) depth: usize,
    pub(super) stop: &'a dyn Fn() -> bool,
    /// Facts that are ignored when positions are compared.
    pub(super) ignored: &'a [TermId],
    /// Maximum number of joint moves of the sampled playouts.
    pub(super) samples: usize,
}

/// Runs random playouts; `samples` are some of them.
pub(super) fn play(
    machine: &mut AnyMachine,
    options: &SamplingOptions<'_>,
    tally: &mut Tally,
    samples: &mut Vec<Path>,
    random: &mut Xoshiro256PlusPlus,
) -> Result<(), PlayError> {
    let start = machine.initial()?;
    let net = machine.network(&start).map(|(net, _)| net.clone());
    let mut scores = Scores::new(machine.game(), machine.terms());
    match net {
        Some(net) if net.moves().iter().all(|moves| !moves.is_empty()) => {
            *samples = on_lanes(&net, options, tally, &mut scores, random);
            Ok(())
        }
        _ => one_by_one(machine, options, tally, samples, &mut scores, random),
    }
}

fn on_lanes(
    net: &Propnet,
    options: &SamplingOptions<'_>,
    tally: &mut Tally,
    scores: &mut Scores,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Path> {
    let mut batch = Batch::new(net, LANES, Engine::Auto);
    let roles = batch.roles();
    let compared: Packed = ggp_engine::propnet::batch::pack(
        net.facts()
            .iter()
            .map(|fact| !options.ignored.contains(fact)),
    );
    let initial = batch.initial().to_vec();
    let mut begun = (LANES as u64).min(options.playouts);
    // For each lane: the moves made so far, if a playout is running.
    let mut made: Vec<Option<Vec<usize>>> = (0..LANES as u64)
        .map(|lane| (lane < begun).then(Vec::new))
        .collect();
    let (mut samples, mut sampled_moves) = (Vec::new(), 0);
    let path = |made: &[usize]| -> Path {
        let joints = made.chunks_exact(roles);
        joints.map(|joint| moves_of(net, joint)).collect()
    };
    let mut legal: Vec<Vec<usize>> = vec![Vec::new(); roles];
    let mut counts = vec![0; roles];
    while made.iter().any(Option::is_some) && !(options.stop)() {
        let mut joints = vec![0; LANES * roles];
        let mut again = Vec::new();
        for lane in 0..LANES {
            let Some(so_far) = &mut made[lane] else {
                continue;
            };
            let length = so_far.len() / roles;
            let is_over = if batch.is_terminal(lane) {
                let goals: Vec<Vec<TermId>> = (0..roles)
                    .map(|role| {
                        let values = batch.goal_values(lane, role);
                        values.map(|value| net.goals()[role][value].0).collect()
                    })
                    .collect();
                tally.end(&goals, scores, length, || path(so_far));
                true
            } else {
                for role in 0..roles {
                    legal[role].clear();
                    legal[role].extend(batch.legal_moves(lane, role));
                    counts[role] = legal[role].len();
                }
                !tally.position(&counts, length, || path(so_far))
            };
            let is_cut = !is_over && length == options.depth;
            if is_cut {
                tally.cut();
            }
            if is_over || is_cut {
                if sampled_moves + length <= options.samples {
                    sampled_moves += length;
                    samples.push(path(so_far));
                }
                made[lane] = (begun < options.playouts).then(Vec::new);
                if made[lane].is_some() {
                    begun += 1;
                    again.push(lane);
                }
                continue;
            }
            for (role, legal) in legal.iter().enumerate() {
                let chosen = legal[random.random_range(0..legal.len())];
                joints[lane * roles + role] = chosen;
                so_far.push(chosen);
            }
        }
        let before = batch.states(LANES);
        batch.step(&joints);
        let after = batch.states(LANES);
        for (lane, (before, after)) in before.iter().zip(&after).enumerate() {
            let Some(so_far) = &made[lane] else {
                continue;
            };
            let mut words = before.iter().zip(after).zip(&compared);
            if !so_far.is_empty()
                && words.all(|((before, after), compared)| (before ^ after) & compared == 0)
            {
                let (earlier, last) = so_far.split_at(so_far.len() - roles);
                tally.idle(
                    || moves_of(net, last),
                    earlier.len() / roles,
                    || path(earlier),
                );
            }
        }
        for lane in again {
            batch.set_state(lane, &initial);
        }
    }
    samples.extend(made.iter().flatten().map(|so_far| path(so_far)));
    samples
}

fn moves_of(net: &Propnet, joint: &[usize]) -> Vec<Move> {
    let chosen = joint.iter().enumerate();
    chosen
        .map(|(role, &chosen)| net.moves()[role][chosen])
        .collect()
}

fn one_by_one(
    machine: &mut AnyMachine,
    options: &SamplingOptions<'_>,
    tally: &mut Tally,
    samples: &mut Vec<Path>,
    scores: &mut Scores,
    random: &mut Xoshiro256PlusPlus,
) -> Result<(), PlayError> {
    let mut sampled_moves = 0;
    let initial = machine.initial()?;
    for _ in 0..options.playouts {
        let mut state = initial.clone();
        let mut so_far: Path = Vec::new();
        loop {
            if (options.stop)() {
                // The playout in progress is a sample, too.
                samples.push(so_far);
                return Ok(());
            }
            let length = so_far.len();
            if machine.is_terminal(&state)? {
                let goals = goals(machine, &state)?;
                tally.end(&goals, scores, length, || so_far.clone());
                break;
            }
            let legal = legal(machine, &state)?;
            let counts: Vec<usize> = legal.iter().map(Vec::len).collect();
            if !tally.position(&counts, length, || so_far.clone()) {
                break;
            }
            if length == options.depth {
                tally.cut();
                break;
            }
            let joint: Vec<Move> = (legal.iter())
                .map(|legal| legal[random.random_range(0..legal.len())])
                .collect();
            let next = match machine.next(&state, &joint) {
                Ok(next) => next,
                Err(error) => {
                    samples.push(so_far);
                    return Err(error);
                }
            };
            if compared(machine, &state, options.ignored)
                == compared(machine, &next, options.ignored)
            {
                tally.idle(|| joint.clone(), length, || so_far.clone());
            }
            state = next;
            so_far.push(joint);
        }
        if sampled_moves + so_far.len() <= options.samples {
            sampled_moves += so_far.len();
            samples.push(so_far);
        }
    }
    Ok(())
}

/// The legal moves of all roles; `None` for a role without any.
pub(super) fn legal(
    machine: &mut AnyMachine,
    state: &<AnyMachine as Machine>::State,
) -> Result<Vec<Vec<Move>>, PlayError> {
    let roles: Vec<_> = machine.game().roles().collect();
    let legal = roles.into_iter().map(|role| {
        let mut moves = Vec::new();
        match machine.legal(state, role, &mut moves) {
            Ok(()) => Ok(moves),
            Err(PlayError::NoLegalMove(_)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    });
    legal.collect()
}

/// The goal values of all roles.
pub(super) fn goals(
    machine: &mut AnyMachine,
    state: &<AnyMachine as Machine>::State,
) -> Result<Vec<Vec<TermId>>, PlayError> {
    let roles: Vec<_> = machine.game().roles().collect();
    let goals = roles
        .into_iter()
        .map(|role| machine.goal_values(state, role));
    goals.collect()
}

/// The facts by which positions are compared.
pub(super) fn compared(
    machine: &AnyMachine,
    state: &<AnyMachine as Machine>::State,
    ignored: &[TermId],
) -> Vec<TermId> {
    let mut facts = machine.facts(state);
    facts.retain(|fact| !ignored.contains(fact));
    facts
}
