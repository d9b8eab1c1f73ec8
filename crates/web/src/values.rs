//! Learned values of positions: self-play on request, the values along a match, and the facts
//! that speak for each role.

use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::answer::{ApiError, JsonBody};
use super::events::{self, Permit, Sender};
use super::game_store::{blocking, find};
use super::loaded_game::{LoadedGame, Reached};
use super::session::Visitor;
use super::turns::Turn;
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_learn::{Options, Progress, Share, Values, facts_text};

/// The default time for learning, in seconds.
const SECONDS: f64 = 10.0;
/// The interval between reports, and between two looks whether there is a network.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of facts for each role in an answer, and of the characters of each.
const FACTS: usize = 5;
const FACT_TEXT: usize = 120;
/// The share of the memory for the positions of self-play. The rest is for weights.
const POSITIONS: u64 = 2;

/// The request to learn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Learn {
    #[serde(default)]
    seconds: Option<f64>,
}

/// The state of learning, or its result.
#[derive(Serialize)]
struct Lessons {
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
pub(super) struct Asked {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    /// The number of moves before the position whose facts are wanted; all by default.
    #[serde(default)]
    at: Option<usize>,
}

/// The learned values along a match.
#[derive(Default, Serialize)]
pub(super) struct Valued {
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
pub(super) fn fits(values: &Values, net: &Propnet) -> bool {
    values.features().facts() == net.facts().len()
}

/// Learns values for a time, which ends with the turn.
fn learned(
    game: &LoadedGame,
    time: Duration,
    permit: &Permit,
    sender: &Sender,
) -> Result<Lessons, ApiError> {
    let stop = permit.turn.stop().within(Some(time));
    let mut reached = game.reach(&[], &permit.turn)?;
    while reached.machine.network(&reached.state).is_none() && game.awaits_network() {
        if permit.turn.stop().is_raised() {
            return Err(ApiError::short_of_memory());
        }
        if stop.is_over() {
            return Err(ApiError::rules(
                "the time ended before the network of the rules was ready: give it more seconds",
            ));
        }
        std::thread::sleep(PAUSE);
        reached = game.reach(&[], &permit.turn)?;
    }
    let Some((net, _)) = reached.machine.network(&reached.state) else {
        return Err(ApiError::rules(
            "values are learned on a network, and the rules have none within the limits of the \
             server",
        ));
    };
    let memory = permit.memory_bytes();
    if ggp_learn::weight_bytes(net) > memory {
        return Err(ApiError::rules(
            "the game has too many facts to learn values in the memory of the server; \
             `ggp learn` has more",
        ));
    }
    let options = Options {
        memory_bytes: (memory / POSITIONS) as usize,
        ..Options::default()
    };
    let mut reported = Instant::now();
    let fresh = ggp_learn::learn(net, &options, &stop, |progress| {
        if reported.elapsed() >= PAUSE {
            reported = Instant::now();
            sender.offer("learning", &Lessons::of(progress));
        }
    });
    if fresh.progress.games == 0 && permit.turn.stop().is_raised() {
        return Err(ApiError::short_of_memory());
    }
    if fresh.progress.games == 0 {
        return Err(ApiError::rules(
            "not one game of self-play ended in the time: give it more seconds",
        ));
    }
    Ok(Lessons::of(&game.keep(fresh).progress))
}

/// The values of all positions on the way to the last one.
fn valued(game: &LoadedGame, asked: &Asked, turn: &Turn) -> Result<Valued, ApiError> {
    let at = asked.at.unwrap_or(asked.moves.len());
    if at > asked.moves.len() {
        return Err(ApiError::wrong(format!(
            "`at` is a number of moves from 0 to {}",
            asked.moves.len()
        )));
    }
    let Reached {
        mut machine,
        joints,
        ..
    } = game.reach(&asked.moves, turn)?;
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

/// Learns values of a game's positions by self-play, which all requests for this game use.
pub(super) async fn learn(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Learn>,
) -> Result<Response, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    let seconds = asked.seconds.unwrap_or(SECONDS);
    if !(seconds > 0.0 && seconds < 1e6) {
        return Err(ApiError::wrong(
            "`seconds` must be more than 0 and less than a million",
        ));
    }
    let time = Duration::from_secs_f64(seconds).min(app.limits.thought);
    let permit = events::permit(&app, &visitor)?;
    let work = move |permit: &_, sender: &_| learned(&game, time, permit, sender);
    Ok(events::stream(permit, "learned", work))
}

/// The learned values along a match, and the facts of a position that count.
pub(super) async fn values(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Asked>,
) -> Result<Json<Valued>, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    let found = blocking(&app, &visitor, move |turn| valued(&game, &asked, turn)).await?;
    Ok(Json(found))
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
