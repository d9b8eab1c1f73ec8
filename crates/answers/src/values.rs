//! Learned values of positions: self-play on request, the values along a match, and the facts
//! that speak for each role.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::allowance::{Allowance, Content, Listener};
use crate::loaded_game::{LoadedGame, Reached};
use crate::refusal::Refusal;
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_learn::{Learned, Options, Progress, Share, Trust, Values, facts_text};
use ggp_stop::Instant;

/// The default time for learning, in seconds.
const SECONDS: f64 = 10.0;
/// The interval between reports, and between two looks whether there is a network.
const PAUSE: Duration = Duration::from_millis(100);
/// The interval in which values are kept while they are learned.
const KEEP: Duration = Duration::from_secs(1);
/// Maximum number of facts for each role in an answer, and of the characters of each.
const FACTS: usize = 5;
const FACT_TEXT: usize = 120;
/// The share of the memory for the positions of self-play. The rest is for weights.
const POSITIONS: u64 = 2;

/// The request to learn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Learn {
    #[serde(default)]
    seconds: Option<f64>,
}

impl Learn {
    /// The time to learn.
    ///
    /// # Errors
    ///
    /// If it is out of range.
    pub fn time(&self) -> Result<Duration, Refusal> {
        let seconds = self.seconds.unwrap_or(SECONDS);
        if !(seconds > 0.0 && seconds < 1e6) {
            return Err(Refusal::wrong(
                "`seconds` must be more than 0 and less than a million",
            ));
        }
        Ok(Duration::from_secs_f64(seconds))
    }
}

/// The state of learning, or its result.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lessons {
    games: u64,
    positions: u64,
    groups: usize,
}

impl Lessons {
    fn of(progress: &Progress) -> Self {
        Lessons {
            games: progress.games,
            positions: progress.positions,
            groups: progress.groups,
        }
    }
}

/// The request for values along a match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Asked {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    /// The number of moves before the position whose facts are wanted; all by default.
    #[serde(default)]
    at: Option<usize>,
}

/// The learned values along a match.
#[derive(Default, Serialize)]
pub struct Valued {
    /// `None` if nothing was learned.
    learned: Option<Lessons>,
    /// By number of moves made, then by role; `None` if the game is over, or no network covers
    /// the position.
    values: Vec<Option<Vec<f32>>>,
    /// The facts of the wanted position that speak most for a role.
    facts: Vec<FactShare>,
    /// By role: the sum of the shares of all other facts, and that of every position of the
    /// phase.
    others: Vec<f32>,
    base: Vec<f32>,
}

#[derive(Serialize)]
struct FactShare {
    fact: String,
    weights: Vec<f32>,
}

/// True if values belong to a network of the same game.
pub(crate) fn fits(values: &Values, net: &Propnet) -> bool {
    values.features().facts() == net.facts().len()
}

/// Learns values of a game's positions by self-play, which all requests for this game use.
///
/// # Errors
///
/// If the time is wrong, or the game has no network or is too large.
pub fn learn(
    game: &LoadedGame,
    asked: &Learn,
    allowance: &Allowance,
    listener: &dyn Listener,
) -> Result<Lessons, Refusal> {
    let time = asked.time()?.min(allowance.time);
    let stop = allowance.stop.within(Some(time));
    let mut reached = game.reach(&[], allowance)?;
    while reached.machine.network(&reached.state).is_none() && game.awaits_network() {
        if allowance.stop.is_raised() {
            return Err(Refusal::short_of_memory());
        }
        if stop.is_over() {
            return Err(Refusal::rules(
                "the time ended before the network of the rules was ready: give it more seconds",
            ));
        }
        allowance.background.wait(PAUSE);
        reached = game.reach(&[], allowance)?;
    }
    let Some((net, _)) = reached.machine.network(&reached.state) else {
        return Err(Refusal::rules(
            "values are learned on a network, and the rules have none within the limits",
        ));
    };
    let memory = allowance.memory_bytes;
    if ggp_learn::weight_bytes(net) > memory {
        return Err(Refusal::rules(
            "the game has too many facts to learn values in the memory that there is; \
             `ggp learn` has more",
        ));
    }
    let options = Options {
        memory_bytes: (memory / POSITIONS) as usize,
        ..Options::default()
    };
    let mut reported = Instant::now();
    let mut kept: Option<Instant> = None;
    let fresh = ggp_learn::learn(net, &options, &stop, |lesson| {
        if reported.elapsed() < PAUSE {
            return;
        }
        reported = Instant::now();
        // A browser ends the work when it is stopped.
        if lesson.progress.games > 0 && kept.is_none_or(|kept| kept.elapsed() >= KEEP) {
            kept = Some(reported);
            game.keep(lesson.learned());
        }
        listener.offer("learning", &Lessons::of(&lesson.progress));
    });
    if fresh.progress.games == 0 && allowance.stop.is_raised() {
        return Err(Refusal::short_of_memory());
    }
    if fresh.progress.games == 0 {
        return Err(Refusal::rules(
            "not one game of self-play ended in the time: give it more seconds",
        ));
    }
    Ok(Lessons::of(&game.keep(fresh).progress))
}

/// Learned values on their way from one engine to another.
#[derive(Serialize, Deserialize)]
struct Transfer {
    lessons: Lessons,
    values: String,
}

/// The values that were learned for a game, as text; `None` if nothing was learned.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub fn learned(game: &LoadedGame, allowance: &Allowance) -> Result<Option<String>, Refusal> {
    let Reached { machine, state, .. } = game.reach(&[], allowance)?;
    let (Some(learned), Some((net, _))) = (game.learned(), machine.network(&state)) else {
        return Ok(None);
    };
    let transfer = Transfer {
        lessons: Lessons::of(&learned.progress),
        values: ggp_learn::write(net, &learned.values, Trust::default()),
    };
    Ok(Some(transfer.json()))
}

/// Keeps values that were learned elsewhere, as [`learned`] gives them.
///
/// # Errors
///
/// If the text belongs to other rules, or the rules have no network.
pub fn teach(game: &LoadedGame, text: &str, allowance: &Allowance) -> Result<(), Refusal> {
    let wrong = |error: String| Refusal::wrong(format!("not learned values: {error}"));
    let transfer: Transfer =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    game.prepare(allowance, |_| ())?;
    let Reached { machine, state, .. } = game.reach(&[], allowance)?;
    let Some((net, _)) = machine.network(&state) else {
        return Err(wrong("the rules have no network".to_owned()));
    };
    let values = ggp_learn::read(net, &transfer.values);
    let (values, _) = values.map_err(|error| wrong(error.to_string()))?;
    game.keep(Learned {
        values,
        progress: Progress {
            games: transfer.lessons.games,
            positions: transfer.lessons.positions,
            groups: transfer.lessons.groups,
            ..Progress::default()
        },
    });
    Ok(())
}

/// The values of all positions on the way to the last one.
///
/// # Errors
///
/// If the moves are wrong, or the rules cannot be evaluated.
pub fn values(game: &LoadedGame, asked: &Asked, allowance: &Allowance) -> Result<Valued, Refusal> {
    let at = asked.at.unwrap_or(asked.moves.len());
    if at > asked.moves.len() {
        return Err(Refusal::wrong(format!(
            "`at` is a number of moves from 0 to {}",
            asked.moves.len()
        )));
    }
    let Reached {
        mut machine,
        joints,
        ..
    } = game.reach(&asked.moves, allowance)?;
    let mut found = Valued::default();
    let Some(learned) = game.learned() else {
        return Ok(found);
    };
    let values = &learned.values;
    found.learned = Some(Lessons::of(&learned.progress));
    let mut state = machine.initial()?;
    for ply in 0..=joints.len() {
        if machine.stop().is_over() {
            return Err(PlayError::Interrupted.into());
        }
        if ply > 0 {
            state = machine.next(&state, &joints[ply - 1])?;
        }
        let is_over = machine.is_terminal(&state)?;
        let network = machine.network(&state).filter(|_| !is_over);
        let Some((net, packed)) = network.filter(|(net, _)| fits(values, net)) else {
            found.values.push(None);
            continue;
        };
        if ply == at {
            found.explain(net, values, &packed);
        }
        let mut of_roles = vec![0.0; values.roles()];
        values.evaluate(&[packed], &mut of_roles);
        found.values.push(Some(of_roles));
    }
    Ok(found)
}

impl Valued {
    fn explain(&mut self, net: &Propnet, values: &Values, state: &[u64]) {
        let account = values.facts_at_work(state);
        let (shown, rest) = speaking(account.shares, account.base.len());
        let fact = |share: &Share| FactShare {
            fact: facts_text(net, &share.facts, FACT_TEXT),
            weights: share.weights.clone(),
        };
        self.facts = shown.iter().map(fact).collect();
        let roles = 0..account.base.len();
        let sum = |role: usize| rest.iter().map(|share| share.weights[role]).sum();
        self.others = roles.map(sum).collect();
        self.base = account.base;
    }
}

/// The shares that speak most for each role, and all others.
fn speaking(shares: Vec<Share>, roles: usize) -> (Vec<Share>, Vec<Share>) {
    let mut is_shown = vec![false; shares.len()];
    for role in 0..roles {
        let weight = |index: usize| shares[index].weights[role];
        let positive = (0..shares.len()).filter(|&index| weight(index) > 0.0);
        let mut positive: Vec<usize> = positive.collect();
        positive.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        for index in positive.into_iter().take(FACTS) {
            is_shown[index] = true;
        }
    }
    let mut is_shown = is_shown.into_iter();
    (shares.into_iter()).partition(|_| is_shown.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_shown_for_each_role() {
        let share = |(fact, &weight): (u32, &f32)| Share {
            facts: vec![fact],
            weights: vec![weight, -weight],
        };
        // Fourteen large facts speak for the first role, two small ones for the second.
        let mut weights: Vec<f32> = (1..15).rev().map(|size| size as f32).collect();
        weights.extend([-0.5, -0.25]);
        let shares = (0..).zip(&weights).map(share).collect();
        let (shown, rest) = speaking(shares, 2);
        let facts = |shares: &[Share]| -> Vec<u32> {
            shares
                .iter()
                .flat_map(|share| share.facts.clone())
                .collect()
        };
        assert_eq!(facts(&shown), [0, 1, 2, 3, 4, 14, 15]);
        assert_eq!(facts(&rest), (5..14).collect::<Vec<u32>>());
    }
}
