//! What the program that suits a game would do in somebody's place.

use std::time::{Duration, Instant};

use crate::format;
use ggp_gdl::game::{Move, RoleId};
use ggp_engine::machine::{Machine, PlayError};
use ggp_play::{
    Advice, AgentAnswer, AgentSpec, AgentThread, Brief, Candidate, Observation, Origin, Turn,
};

/// Who is asked.
const ADVISER: &str = "auto";
/// How long it thinks about the hint, and about each move that is expected to follow.
const TIME: Duration = Duration::from_secs(2);
const NODES: u64 = 20_000;
const TIME_AHEAD: Duration = Duration::from_millis(250);
const NODES_AHEAD: u64 = 2_000;
/// Joint moves that are shown to follow.
const AHEAD: usize = 4;
/// How many other moves a hint speaks of.
const OTHERS: usize = 3;

/// A program for each role, made when it is asked for the first time.
pub struct Adviser {
    brief: Brief,
    seats: Vec<Option<AgentThread>>,
}

impl Adviser {
    /// For the match of this brief, whose role does not matter.
    pub fn new(brief: Brief) -> Self {
        let seats = (0..brief.game.role_count()).map(|_| None).collect();
        Adviser { brief, seats }
    }

    /// What it would play, what else there is, and how play is expected to go on.
    ///
    /// # Errors
    ///
    /// What keeps the program from thinking.
    pub fn hint<M: Machine>(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> anyhow::Result<String> {
        let mut played: Vec<Vec<Move>> =
            turn.history.plies().map(|ply| ply.joint.clone()).collect();
        let answer = self.ask(turn.role, &played, TIME, NODES)?;
        if let Some(error) = answer.error {
            return Err(error.into());
        }
        let Some(best) = answer.advice else {
            return Ok("there is no move to advise".to_owned());
        };
        let mut text = format!("hint: {}", format::move_text(machine, best.chosen));
        if let Some(worth) = worth(&best) {
            text += &format!(", {worth}");
        }
        let others = best.candidates.iter().filter(|other| other.action != best.chosen);
        let others: Vec<&Candidate> = others.take(OTHERS).collect();
        let texts = others.iter().map(|other| {
            let text = format::move_text(machine, other.action);
            format!("{text} {:.1}", other.value)
        });
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            text += &format!("\n  others: {}", texts.join("; "));
        }
        if let Some(remark) = doubt(&best, &others) {
            text += &format!("\n  {remark}");
        }
        let first = played.len();
        let state = turn.history.state().clone();
        self.ahead(machine, state, (turn.role, best.chosen), &mut played)?;
        for (joint, number) in played[first..].iter().zip(first + 1..) {
            text += &format!("\n  expected {number}: {}", format::joint_line(machine, joint));
        }
        Ok(text)
    }

    /// What it thinks of a role's moves, unless it comes to think of nothing.
    pub fn think(
        &mut self,
        role: RoleId,
        played: &[Vec<Move>],
        time: Duration,
        nodes: u64,
    ) -> Option<Advice> {
        let answer = self.ask(role, played, time, nodes).ok()?;
        answer.advice.filter(|_| answer.origin != Origin::Random)
    }

    /// Plays on for a few joint moves as the programs would, beginning with one move
    /// that is chosen.
    ///
    /// # Errors
    ///
    /// What keeps the rules from being evaluated.
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
                    // It concerns the match only if the match gets there.
                    return Ok(());
                }
                let is_chosen = chosen.filter(|(other, _)| *other == role);
                joint.push(match (is_chosen, &legal[..]) {
                    (Some((_, chosen)), _) => chosen,
                    (None, [only]) => *only,
                    // Nobody knows what chance does.
                    (None, _) if game.is_random(role) => return Ok(()),
                    (None, _) => match self.think(role, played, TIME_AHEAD, NODES_AHEAD) {
                        Some(advice) => advice.chosen,
                        None => return Ok(()),
                    },
                });
            }
            chosen = None;
            state = machine.next(&state, &joint)?;
            played.push(joint);
            if machine.is_terminal(&state)? {
                break;
            }
        }
        Ok(())
    }

    fn ask(
        &mut self,
        role: RoleId,
        played: &[Vec<Move>],
        time: Duration,
        nodes: u64,
    ) -> anyhow::Result<AgentAnswer> {
        let seat = &mut self.seats[role.index()];
        if seat.is_none() {
            let spec: AgentSpec = ADVISER.parse().expect("there is such a kind");
            let brief = Brief {
                role,
                ..self.brief.clone()
            };
            *seat = Some(AgentThread::new(brief, &spec)?);
        }
        let seat = seat.as_mut().expect("it was just made");
        let observation = Observation::of_joint_moves(role, played);
        Ok(seat.choose(&observation, Some(Instant::now() + time), Some(nodes)))
    }
}

/// Why another move that seems to be worth more is not advised, if there is one.
fn doubt(best: &Advice, others: &[&Candidate]) -> Option<String> {
    let value = best.value?;
    let chosen = best.candidates.iter().find(|c| c.action == best.chosen)?;
    // As they are shown, to one place.
    let is_more = |other: &&&Candidate| other.value > value + 0.05;
    let better: Vec<_> = others.iter().filter(is_more).collect();
    let tries = better.iter().map(|other| other.visits).max()?;
    (tries < chosen.visits).then(|| {
        let tries = match tries {
            1 => "once".to_owned(),
            tries => format!("{tries} times at most"),
        };
        format!(
            "a higher figure is less certain: it comes from trying the move {tries}, that of the \
             hint from {}",
            chosen.visits
        )
    })
}

/// What a move is worth, in words.
fn worth(advice: &Advice) -> Option<String> {
    let (least, most) = advice.bounds;
    Some(match advice.value {
        _ if least == most => format!("worth {least:.0}, which is proved"),
        Some(value) if value == least && least > 0.0 => format!("worth {least:.0} at least"),
        Some(value) => format!("which seems worth {value:.1}"),
        None => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_gdl::game::Game;

    #[test]
    fn a_higher_figure_of_another_move_is_put_down_to_fewer_tries() {
        let rules = "(role a) (role b) (legal a x) (legal b x) terminal (goal a 1) (goal b 1)";
        let game = Game::from_text("rules", rules).unwrap();
        let moves: Vec<Move> = game.roles().map(|r| Move::new(game.role_term(r))).collect();
        let candidate = |number: usize, visits, value| Candidate {
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
            doubt(&advice, &[&candidates[1]])
        };
        let remark = said(7, 60.0).unwrap();
        assert!(remark.contains("7 times at most, that of the hint from 90"), "{remark}");
        // Shown as the same, less, or tried more often.
        assert_eq!([said(7, 50.04), said(7, 40.0), said(91, 60.0)], [None, None, None]);
    }
}
