//! Trials: random matches of rules that are being written.

use std::time::Duration;

use serde::Serialize;

use crate::loaded_game::{FACTS, WORK};
use crate::position::FaultText;
use crate::refusal::Refusal;
use crate::rule_set::{CheckReport, RuleSet};
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError};
use ggp_gdl::game::Game;
use ggp_playcheck::{Trial, TrialFault, TrialFaultKind, TrialOptions};
use ggp_stop::{Instant, Stop};

/// Maximum time of a trial, and the part of it in which a network is built.
const TIME: Duration = Duration::from_millis(1_500);
const GROUNDING: Duration = Duration::from_millis(400);
/// Maximum size in bytes of the network.
const NETWORK: usize = 64 << 20;
/// The number of matches, and their maximum number of joint moves.
const MATCHES: u64 = 200;
const DEPTH: usize = 1_000;

/// The answer.
#[derive(Serialize)]
pub struct TrialReport {
    /// Number of matches that were asked for, and their maximum number of joint moves.
    matches: u64,
    depth: usize,
    ended: u64,
    cut: u64,
    stuck: u64,
    seconds: f64,
    lengths: Option<Lengths>,
    branching: Option<f64>,
    roles: Vec<String>,
    means: Option<Vec<f64>>,
    faults: Vec<FaultExample>,
}

/// Numbers of joint moves.
#[derive(Serialize)]
struct Lengths {
    least: usize,
    mean: f64,
    most: usize,
}

/// A fault, and the joint moves that lead to it.
#[derive(Serialize)]
struct FaultExample {
    #[serde(flatten)]
    fault: FaultText,
    role: String,
    moves: Vec<Vec<String>>,
}

/// The fault as the position shows it; `None` if the position has none.
fn example(
    machine: &mut AnyMachine,
    fault: &TrialFault,
) -> Result<Option<FaultExample>, PlayError> {
    let mut state = machine.initial()?;
    for joint in &fault.path {
        state = machine.next(&state, joint)?;
    }
    let error = match fault.kind {
        TrialFaultKind::NoLegalMove => machine.legal(&state, fault.role, &mut Vec::new()).err(),
        TrialFaultKind::Goal => machine.goal(&state, fault.role).err(),
    };
    let Some(error) = error else {
        return Ok(None);
    };
    let joints = fault.path.iter();
    let texts = joints.map(|joint| joint.iter().map(|action| machine.text(*action)).collect());
    Ok(Some(FaultExample {
        fault: FaultText::new(error)?,
        role: machine.game().role_name(fault.role).to_owned(),
        moves: texts.collect(),
    }))
}

fn run(game: &Game, stop: &Stop) -> Result<TrialReport, PlayError> {
    let began = Instant::now();
    let own = stop.within(Some(TIME));
    let mut limits = Limits {
        facts: FACTS,
        work: WORK,
        stop: own.clone(),
        ..Limits::default()
    };
    limits.ground.time = Some(GROUNDING);
    limits.ground.memory = NETWORK;
    limits.ground.stop = own.clone();
    let options = TrialOptions {
        matches: MATCHES,
        depth: DEPTH,
        seed: 0,
    };
    let mut faults = Vec::new();
    let trial = match AnyMachine::auto(game, limits) {
        Ok((mut machine, _)) => {
            let trial = ggp_playcheck::trial(&mut machine, &options, &own)?;
            // The ways to faults are short.
            machine.set_stop(stop);
            for fault in &trial.faults {
                faults.extend(example(&mut machine, fault)?);
            }
            trial
        }
        // There was no time to play.
        Err(PlayError::Interrupted) if !stop.is_over() => Trial::default(),
        Err(error) => return Err(error),
    };
    let roles = game.roles().map(|role| game.role_name(role).to_owned());
    Ok(TrialReport {
        matches: MATCHES,
        depth: DEPTH,
        ended: trial.ended,
        cut: trial.cut,
        stuck: trial.stuck,
        seconds: began.elapsed().as_secs_f64(),
        lengths: (trial.lengths).map(|(least, mean, most)| Lengths { least, mean, most }),
        branching: trial.branching,
        roles: roles.collect(),
        means: trial.means,
        faults,
    })
}

/// Plays random matches of rules, and reports their faults. The inner error is the report
/// about rules that have errors.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub fn try_rules(set: &RuleSet, stop: &Stop) -> Result<Result<TrialReport, CheckReport>, Refusal> {
    match set.read(stop) {
        Ok((game, _)) => Ok(Ok(run(&game, stop)?)),
        Err(report) => Ok(Err(report)),
    }
}
