//! Hints: the move of the default agent for a role.

use std::time::{Duration, Instant};

use crate::format;
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_learn::Values;
use ggp_play::{
    Advice, AgentAnswer, AgentSpec, AgentThread, Brief, Candidate, Observation, PlayerError, Turn,
    best_play, reasons,
};

/// The agent that gives hints.
const ADVISER: &str = "auto";
/// The limits for the hint, and for each move of the expected continuation.
const TIME: Duration = Duration::from_secs(2);
const NODES: u64 = 20_000;
const TIME_AHEAD: Duration = Duration::from_millis(250);
const NODES_AHEAD: u64 = 2_000;
/// The most time until the agent has more than a legal move, which large rules and long matches with
/// hidden moves need.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of joint moves of the expected continuation.
const AHEAD: usize = 4;
/// The least probability of a move of a mix that is shown.
const LEAST: f64 = 0.01;
/// The number of alternative moves in a hint.
const OTHERS: usize = 3;

/// The agents of the roles, each created at its first use.
pub struct Adviser {
    brief: Brief,
    agents: Vec<Option<AgentThread>>,
    /// The learned values of the game, once they were read.
    values: Option<Option<Values>>,
}

impl Adviser {
    /// An adviser for the match of a brief. The role of the brief is ignored.
    pub fn new(brief: Brief) -> Self {
        let agents = (0..brief.game.role_count()).map(|_| None).collect();
        Adviser {
            brief,
            agents,
            values: None,
        }
    }

    /// The best move, the reasons for it, alternatives and the expected continuation as text.
    ///
    /// # Errors
    ///
    /// The error of the agent.
    pub fn hint<M: Machine>(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> anyhow::Result<String> {
        let observation = Observation::of_history(machine.game(), turn.role, turn.history);
        let is_hidden = machine.game().is_hidden();
        let started = Instant::now();
        let answer = loop {
            let answer = self.ask(turn.role, &observation, TIME, NODES)?;
            if self.brief.limits.stop.is_raised() {
                return Err(PlayError::Interrupted.into());
            }
            let is_over = started.elapsed() >= PATIENCE;
            let is_thought = answer.advice.as_ref().is_some_and(|best| !best.is_blind);
            if answer.error.is_some() || is_thought || is_over {
                break answer;
            }
        };
        match answer.error {
            Some(PlayerError::Play(error)) => return Err(error.into()),
            // The match goes on without a hint.
            Some(error) => return Ok(format!("no hint is available: {error}")),
            None => {}
        }
        let Some(best) = answer.advice.filter(|best| !best.is_blind) else {
            return Ok(NONE_YET.to_owned());
        };
        if !turn.legal.contains(&best.chosen) {
            return Ok(NOT_KNOWN.to_owned());
        }
        let mut text = format!("hint: {}", format::move_text(machine, best.chosen));
        let late = if answer.is_late && is_hidden {
            LATE
        } else {
            ""
        };
        if best.mix.iter().filter(|(_, share)| *share >= LEAST).count() > 1 {
            let game = machine.game();
            let is_opposed = game.roles().filter(|role| !game.is_random(*role)).count() > 1;
            return Ok(text + &mix_text(machine, &best, is_opposed) + late);
        }
        if let Some(value) = value_text(&best, best_play(machine.game())) {
            let mut candidates = best.candidates.iter();
            let chosen = candidates.find(|one| one.action == best.chosen);
            let distance = chosen.and_then(|one| one.distance);
            text += &format!(", {value}{}", end_text(distance));
        }
        let others = best
            .candidates
            .iter()
            .filter(|other| other.action != best.chosen && is_known(other));
        let others: Vec<&Candidate> = others.take(OTHERS).collect();
        let texts = others.iter().map(|other| {
            let text = format::move_text(machine, other.action);
            let about = if other.bounds.0 == other.bounds.1 {
                ""
            } else {
                "about "
            };
            let value = format!("{about}{:.1}", other.value);
            format!("{text} {value}{}", end_text(other.distance))
        });
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            text += &format!("\n  others: {}", texts.join("; "));
        }
        if let Some(remark) = caveat(&best, &others) {
            text += &format!("\n  {remark}");
        }
        let Some(joint_moves) = observation.joint_moves() else {
            // Reasons and expected moves would speak of what the role does not know.
            return Ok(text + late);
        };
        let mut played = joint_moves.to_vec();
        let state = turn.history.state().clone();
        let is_proved = best.bounds.0 == best.bounds.1;
        if best.value.is_some() && !is_proved && others_choose(machine, &state, turn.role) {
            text += SIMULTANEOUS;
        }
        if self.values.is_none()
            && let Some((net, _)) = machine.network(&state)
        {
            // A hint is good without values. An agent that uses them reports errors.
            let found = self.brief.values.values(net).ok().flatten();
            self.values = Some(found.map(|(values, _)| values));
        }
        let values = self.values.as_ref().and_then(Option::as_ref);
        for reason in reasons(machine, &state, turn.role, &best, values)? {
            text += &format!("\n  why: {reason}");
        }
        let first = played.len();
        self.ahead(machine, state, (turn.role, best.chosen), &mut played)?;
        for (joint, number) in played[first..].iter().zip(first + 1..) {
            text += &format!(
                "\n  expected {number}: {}",
                format::joint_line(machine, joint)
            );
        }
        Ok(text)
    }

    /// The agent's advice for a role, if it has any.
    pub fn think(
        &mut self,
        role: RoleId,
        played: &[Vec<Move>],
        time: Duration,
        nodes: u64,
    ) -> Option<Advice> {
        let observation = Observation::of_joint_moves(role, played);
        let answer = self.ask(role, &observation, time, nodes).ok()?;
        answer.advice.filter(|advice| !advice.is_blind)
    }

    /// Appends a few joint moves of the expected continuation, beginning with a given move.
    ///
    /// # Errors
    ///
    /// [`PlayError::Interrupted`].
    pub fn ahead<M: Machine>(
        &mut self,
        machine: &mut M,
        mut state: M::State,
        chosen: (RoleId, Move),
        played: &mut Vec<Vec<Move>>,
    ) -> Result<(), PlayError> {
        let game = machine.game().clone();
        let mut chosen = Some(chosen);
        let mut legal = Vec::new();
        for _ in 0..AHEAD {
            let mut joint = Vec::new();
            for role in game.roles() {
                if machine.legal(&state, role, &mut legal).is_err() {
                    // This matters only if the match reaches the state.
                    return Ok(());
                }
                let is_chosen = chosen.filter(|(other, _)| *other == role);
                joint.push(match (is_chosen, &legal[..]) {
                    (Some((_, chosen)), _) => chosen,
                    (None, [only]) => *only,
                    // The moves of chance cannot be predicted.
                    (None, _) if game.is_random(role) => return Ok(()),
                    (None, _) => match self.think(role, played, TIME_AHEAD, NODES_AHEAD) {
                        Some(advice) => advice.chosen,
                        None => return Ok(()),
                    },
                });
            }
            chosen = None;
            let next = machine.next(&state, &joint);
            played.push(joint);
            let next = next.and_then(|next| Ok((machine.is_terminal(&next)?, next)));
            match next {
                Ok((false, next)) => state = next,
                Err(PlayError::Interrupted) => return Err(PlayError::Interrupted),
                // An error matters only if the match reaches the state.
                Ok((true, _)) | Err(_) => break,
            }
        }
        Ok(())
    }

    fn ask(
        &mut self,
        role: RoleId,
        observation: &Observation,
        time: Duration,
        nodes: u64,
    ) -> anyhow::Result<AgentAnswer> {
        let agent = &mut self.agents[role.index()];
        if agent.is_none() {
            let spec: AgentSpec = ADVISER.parse().expect("the agent exists");
            let brief = Brief {
                role,
                ..self.brief.clone()
            };
            *agent = Some(AgentThread::new(brief, &spec)?);
        }
        let agent = agent.as_mut().expect("it was just made");
        Ok(agent.choose(observation, Some(Instant::now() + time), Some(nodes)))
    }
}

/// The remark where time ended the search.
const LATE: &str = "\n  time ended the search: another run may have another hint";

/// The remark where others choose a move at the same time.
const SIMULTANEOUS: &str = "\n  others choose at the same time: a value is the average against the moves that the \
                            search expected of them, and who foresees this move may do better";

/// The text where the agent chose a move that is not legal.
const NOT_KNOWN: &str = "no hint is available: the role cannot find out by its percepts which moves are legal; \
                         the rules are at fault, and ggp check --play shows where";

/// The text where the agent has no move yet.
const NONE_YET: &str = "no hint yet: the program is still reading the rules or finding the positions that \
                        fit; type hint again, and it continues";

/// The mix that a move was drawn from, with the values of the moves.
fn mix_text<M: Machine>(machine: &M, best: &Advice, is_opposed: bool) -> String {
    let mut mix: Vec<_> = best
        .mix
        .iter()
        .filter(|(_, share)| *share >= LEAST)
        .collect();
    mix.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut text = ", drawn from a mix of moves".to_owned();
    for (made, share) in mix {
        let candidate = best.candidates.iter().find(|one| one.action == *made);
        let name = format::move_text(machine, *made);
        text += &format!("\n  {:.0} % {name}", share * 100.0);
        if let Some(candidate) = candidate {
            text += &format!(", value about {:.1}", candidate.value);
        }
    }
    let why = if is_opposed {
        ", so that others cannot predict it"
    } else {
        ""
    };
    text + "\n  the shares tell how often to make each move"
        + why
        + "; values are averages of the search so far"
}

/// Whether another player than a role has a choice in a state.
fn others_choose<M: Machine>(machine: &mut M, state: &M::State, role: RoleId) -> bool {
    let game = machine.game().clone();
    let mut legal = Vec::new();
    let mut others = game
        .roles()
        .filter(|other| *other != role && !game.is_random(*other));
    others.any(|other| machine.legal(state, other, &mut legal).is_ok() && legal.len() > 1)
}

/// Whether the search tried a move, or proved its value without that.
fn is_known(candidate: &Candidate) -> bool {
    candidate.visits > 0 || candidate.bounds.0 == candidate.bounds.1
}

/// An explanation if another move has a higher value than the hint.
fn caveat(best: &Advice, others: &[&Candidate]) -> Option<String> {
    let value = best.value?;
    let chosen = best.candidates.iter().find(|c| c.action == best.chosen)?;
    // Values are shown with one decimal.
    let is_more = |other: &&&Candidate| other.value > value + 0.05;
    let better: Vec<_> = others.iter().filter(is_more).collect();
    let tries = better.iter().map(|other| other.visits).max()?;
    (tries < chosen.visits).then(|| {
        let tries = match tries {
            1 => "once".to_owned(),
            tries => format!("at most {tries} times"),
        };
        format!(
            "a higher value is less certain if its move was tried less often: {tries}, \
             the hint {}",
            format::counted(chosen.visits, "time")
        )
    })
}

/// The number of joint moves to the end as text, if it is known.
fn end_text(distance: Option<u16>) -> String {
    distance.map_or_else(String::new, |distance| {
        let moves = format::counted(distance, "joint move");
        format!(", the end after {moves}")
    })
}

/// The value of a move as text.
fn value_text(advice: &Advice, best_play: &str) -> Option<String> {
    let (least, most) = advice.bounds;
    Some(match advice.value {
        _ if least == most => format!("proved value {least:.0}"),
        Some(value) if value == least && least > 0.0 => {
            format!("value at least {least:.0} {best_play}")
        }
        Some(value) => format!("value about {value:.1}"),
        None => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_gdl::game::Game;

    #[test]
    fn a_higher_value_of_another_move_is_explained_by_fewer_tries() {
        let rules = "(role a) (role b) (legal a x) (legal b x) terminal (goal a 1) (goal b 1)";
        let game = Game::from_text("rules", rules).unwrap();
        let moves: Vec<Move> = game.roles().map(|r| Move::new(game.role_term(r))).collect();
        let candidate = |number: usize, visits, value| Candidate {
            distance: None,
            action: moves[number],
            visits,
            value,
            bounds: (0.0, 100.0),
        };
        let said = |visits, value| {
            let candidates = vec![candidate(0, 90, 50.0), candidate(1, visits, value)];
            let advice = Advice {
                value: Some(50.0),
                candidates: candidates.clone(),
                ..Advice::of(moves[0])
            };
            caveat(&advice, &[&candidates[1]])
        };
        let remark = said(7, 60.0).unwrap();
        assert!(
            remark.contains("at most 7 times, the hint 90 times"),
            "{remark}"
        );
        // An equal value, a lower value, or more tries.
        assert_eq!(
            [said(7, 50.04), said(7, 40.0), said(91, 60.0)],
            [None, None, None]
        );
    }
}
