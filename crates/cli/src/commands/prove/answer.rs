//! The answer of `ggp prove`.

use std::cmp::Reverse;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{MOVES, SHOWN};
use crate::{Context, format};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::game::{Move, RoleId};
use ggp_play::Advice;
use ggp_search::BudgetKind;
use ggp_search::minimax::{MinimaxReport, Way};
use ggp_solver::solve::Joint;

/// The result for a position, also as JSON.
#[derive(Serialize)]
pub(super) struct Answer {
    role: String,
    /// The roles that play against the role.
    #[serde(skip)]
    others: Vec<String>,
    /// Whether the search is complete.
    pub(super) proved: bool,
    least: u8,
    most: u8,
    /// Whether optimal play never ends: no side can force an end within these bounds.
    endless: bool,
    moves: Vec<MoveAnswer>,
    /// The expected continuation, in joint moves.
    line: Vec<String>,
    /// A fault in the rules.
    pub(super) fault: Option<Fault>,
    /// Whether a position can repeat.
    cycles: bool,
    /// The last completed depth, in joint moves.
    depth: u32,
    #[serde(skip)]
    way: Way,
    positions: u64,
    pub(super) seconds: f64,
    ran_out: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct MoveAnswer {
    #[serde(rename = "move")]
    action: String,
    least: u8,
    most: u8,
    endless: bool,
    /// Whether no other role decides.
    #[serde(skip)]
    is_alone: bool,
    /// The score estimated by simulation.
    estimate: Option<f64>,
}

/// The estimate of a position by simulation.
pub(super) struct Guess {
    pub(super) advice: Advice,
    /// The expected continuation, in joint moves.
    pub(super) line: Vec<Vec<Move>>,
}

/// A fault of the rules in a position, and the moves to this position.
#[derive(Serialize)]
pub(super) struct Fault {
    what: String,
    moves: Vec<String>,
    #[serde(skip)]
    has_several_goals: bool,
}

impl Answer {
    /// Creates the answer from the report of a search and, if there is one, an estimate.
    /// `legal` are the moves of the role, in the order of the rules.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated.
    pub(super) fn new(
        machine: &mut AnyMachine,
        state: &PropnetState,
        role: RoleId,
        legal: &[Move],
        report: &MinimaxReport<Move>,
        guess: Option<&Guess>,
    ) -> Result<Answer, PlayError> {
        let fault = match &report.fault {
            Some(line) => Some(Fault::new(machine, state, line)?),
            None => None,
        };
        let candidates = guess.iter().flat_map(|guess| &guess.advice.candidates);
        let seen = candidates.filter(|found| found.visits > 0);
        let estimates: FxHashMap<Move, f64> =
            seen.map(|found| (found.action, found.value)).collect();
        let estimate = |action: Move| estimates.get(&action).copied();
        let places: FxHashMap<Move, usize> = legal.iter().copied().zip(0..).collect();
        let chosen = guess.map(|guess| guess.advice.chosen);
        let mut moves: Vec<_> = report.moves.iter().collect();
        // Moves of equal value are in the order of the rules.
        moves.sort_by_key(|found| {
            let is_chosen = chosen == Some(found.action);
            (Reverse(found.bounds), !is_chosen, places.get(&found.action))
        });
        // The move with the best estimate is first unless another is proved to be as good.
        let low = report.moves.iter().map(|found| found.bounds.0).max();
        if let Some(at) = moves.iter().position(|found| Some(found.action) == chosen)
            && (Some(moves[at].bounds.1) > low || Some(moves[at].bounds.0) == low)
        {
            moves[..=at].rotate_right(1);
        }
        let game = machine.game();
        let others = game
            .roles()
            .filter(|other| *other != role && !game.is_random(*other));
        let others: Vec<String> = others
            .map(|other| game.role_name(other).to_owned())
            .collect();
        let moves = moves.into_iter().map(|found| MoveAnswer {
            is_alone: others.is_empty(),
            action: format::move_text(machine, found.action),
            least: found.bounds.0,
            most: found.bounds.1,
            endless: report.is_endless && found.bounds.0 < found.bounds.1,
            // A simulation knows nothing of the proof.
            estimate: estimate(found.action)
                .filter(|_| found.bounds.0 < found.bounds.1)
                .map(|value| value.clamp(found.bounds.0.into(), found.bounds.1.into())),
        });
        let (least, most) = report.bounds();
        let moves_of = |joint: &Joint| joint.iter().map(|(chosen, _)| *chosen).collect();
        let proved: Vec<Vec<Move>> = report.line.iter().map(moves_of).collect();
        let moves: Vec<MoveAnswer> = moves.collect();
        let proved = until_chance(machine, state, proved);
        let said = |joint: &Vec<Move>| format::joint_texts(machine, joint).join(" ");
        Ok(Answer {
            others,
            role: machine.game().role_name(role).to_owned(),
            proved: report.stopped.is_none(),
            least,
            most,
            endless: report.is_endless,
            moves,
            line: match guess {
                Some(guess) => guess.line.iter().map(said).collect(),
                None => proved.iter().map(said).collect(),
            },
            fault,
            cycles: report.has_cycles,
            depth: report.depth,
            way: report.way,
            positions: report.positions,
            seconds: 0.0,
            ran_out: report.stopped.map(what),
        })
    }

    /// Prints the moves, or only the best one, and notes. Lines begin with the role if it is named.
    ///
    /// # Errors
    ///
    /// Errors of writing.
    pub(super) fn print(
        &self,
        only_best: bool,
        is_named: bool,
        context: &Context,
    ) -> anyhow::Result<()> {
        if context.json() {
            return context.print_json(self);
        }
        let name = if is_named {
            format!("{} ", self.role)
        } else {
            String::new()
        };
        let shown = if only_best { 1 } else { MOVES };
        let lines = self.moves.iter().take(shown);
        context.print_lines(lines.map(|found| format!("{name}{found}")))?;
        if !only_best && self.moves.len() > MOVES {
            let more = self.moves.len() - MOVES;
            context.print(format!("{name}{more} more; --json lists them all"))?;
        }
        for note in self.notes(&name) {
            context.note(note);
        }
        Ok(())
    }

    /// The notes that are printed in addition to the moves.
    fn notes(&self, name: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(fault) = &self.fault {
            let after = match &fault.moves[..] {
                [] => "in this position".to_owned(),
                moves => format!("after {}", moves.join("; ")),
            };
            notes.push(format!("the rules are wrong {after}: {}", fault.what));
            if fault.has_several_goals {
                notes.push(format!("  help: {}", crate::GOALS));
            }
        }
        if !self.line.is_empty() {
            let more = if self.line.len() > SHOWN { "; ..." } else { "" };
            let line = self.line.iter().take(SHOWN).cloned().collect::<Vec<_>>();
            let against = match &self.others[..] {
                [] | [_] => String::new(),
                _ => format!(", if the others play against {}", self.role),
            };
            notes.push(format!(
                "{name}expected{against}: {}{more}",
                line.join("; ")
            ));
        }
        if self.cycles && !self.proved {
            notes.push("positions can repeat, and not all of them are known".to_owned());
        }
        notes.push(self.summary());
        notes
    }

    fn summary(&self) -> String {
        let Answer {
            role,
            least,
            most,
            depth,
            positions,
            seconds,
            ..
        } = self;
        let worth = range(*least, *most);
        let way = match self.way {
            Way::Ahead => format!(
                "searched {} ahead",
                format::counted(*depth as usize, "move")
            ),
            Way::Retrograde => "retrograde analysis".to_owned(),
            Way::ProofNumbers => "proof-number search".to_owned(),
        };
        // Several searches may visit a position, or one several times.
        let visits = format::counted(*positions as usize, "visit");
        let cost = format!("{way}, {visits} of positions, {seconds:.2} s");
        let others = match &self.others[..] {
            [] => None,
            [other] => Some(&other[..]),
            _ => Some("the others"),
        };
        match (self.ran_out, others) {
            (None, None) if self.endless => format!(
                "play can go on forever, and {role} cannot reach an end worth more than {least}: \
                 proved, {cost}"
            ),
            (None, Some(others)) if self.endless => format!(
                "play can go on forever: {role} cannot force an end worth more than {least}, nor \
                 {others} one worth less than {most}: proved, {cost}"
            ),
            (None, _) => format!("{role} gets {worth}: proved, {cost}"),
            (Some("time"), _) if self.positions == 0 => format!(
                "the time was over before the search began, {seconds:.2} s; raise --budget-time"
            ),
            (Some(what), _) => {
                format!("{role} gets {worth}: nothing more is proved (stopped: {what}), {cost}")
            }
        }
    }
}

/// The moves up to the first that chance draws, which nobody expects.
fn until_chance(
    machine: &mut AnyMachine,
    state: &PropnetState,
    mut line: Vec<Vec<Move>>,
) -> Vec<Vec<Move>> {
    let game = machine.game().clone();
    let Some(chance) = game.roles().find(|role| game.is_random(*role)) else {
        return line;
    };
    let (mut state, mut legal) = (state.clone(), Vec::new());
    for ply in 0..line.len() {
        let is_drawn = machine.legal(&state, chance, &mut legal).is_err() || legal.len() > 1;
        let next = machine.next(&state, &line[ply]);
        match next {
            Ok(next) if !is_drawn => state = next,
            _ => {
                line.truncate(ply);
                break;
            }
        }
    }
    line
}

impl fmt::Display for MoveAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (self.least, self.most);
        match self.endless {
            true if self.is_alone => write!(f, "{} {least}, if it ends", self.action)?,
            true => write!(f, "{} endless, {least} to {most}", self.action)?,
            false => write!(f, "{} {}", self.action, range(least, most))?,
        }
        match self.estimate {
            Some(value) => write!(f, ", estimate {value:.1}"),
            None => Ok(()),
        }
    }
}

impl Fault {
    fn new(
        machine: &mut AnyMachine,
        state: &PropnetState,
        line: &[Vec<Move>],
    ) -> Result<Fault, PlayError> {
        let mut state = state.clone();
        let mut moves = Vec::new();
        for joint in line {
            moves.push(format::joint_texts(machine, joint).join(" "));
            state = machine.next(&state, joint)?;
        }
        let is_over = machine.is_terminal(&state)?;
        let mut legal = Vec::new();
        for role in machine.game().clone().roles() {
            let came = match is_over {
                true if machine.game().is_random(role) => continue,
                true => machine.goal(&state, role).map(|_| ()),
                false => machine.legal(&state, role, &mut legal),
            };
            match came {
                Ok(()) => {}
                Err(error @ (PlayError::Interrupted | PlayError::TooLarge(_))) => {
                    return Err(error);
                }
                Err(wrong) => {
                    return Ok(Fault {
                        what: wrong.to_string(),
                        moves,
                        has_several_goals: matches!(wrong, PlayError::AmbiguousGoal(_)),
                    });
                }
            }
        }
        unreachable!("all backends find the same faults");
    }
}

fn what(kind: BudgetKind) -> &'static str {
    match kind {
        BudgetKind::Nodes => "positions",
        BudgetKind::Memory => "memory",
        BudgetKind::Time => "time",
        BudgetKind::Interrupt => "interrupted",
        _ => "other",
    }
}

/// The range of scores as text.
fn range(least: u8, most: u8) -> String {
    match (least, most) {
        _ if least == most => least.to_string(),
        (_, 100) => format!("at least {least}"),
        (0, _) => format!("at most {most}"),
        _ => format!("{least} to {most}"),
    }
}
