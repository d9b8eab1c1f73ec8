//! Positions: their facts, legal moves and drawing.

use serde::{Deserialize, Serialize};

use crate::allowance::Allowance;
use crate::loaded_game::{LoadedGame, Reached};
use crate::refusal::Refusal;
use crate::seat::{Seat, View, hidden_seat};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, canonical_facts};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;
use ggp_picture::{Cell, Drawing, DrawingLimits};

/// The request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Moves {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    /// Whether the drawing may read names as people do; true by default.
    #[serde(default)]
    names: Option<bool>,
    /// The role for which the position is shown. It matters only if the rules have `sees`, and
    /// until the match is over.
    #[serde(default)]
    seat: Option<usize>,
}

impl Moves {
    /// The request for what a role knows after moves, or for all if there is no role.
    pub fn seen(moves: Vec<Vec<String>>, seat: Option<usize>, names: Option<bool>) -> Self {
        Moves { moves, names, seat }
    }
}

/// The answer.
#[derive(Serialize)]
pub struct Position {
    /// All moves that led there, if the request left out forced ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<Vec<String>>>,
    ply: usize,
    over: bool,
    facts: Vec<String>,
    legal: Vec<Vec<LegalMove>>,
    goals: Vec<Option<u8>>,
    faults: Vec<FaultText>,
    turn: Vec<usize>,
    drawing: Drawing,
    svg: String,
    text: String,
    /// The knowledge of the role for which the position is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<Seat>,
}

#[derive(Serialize)]
struct LegalMove {
    #[serde(rename = "move")]
    action: String,
    cells: Vec<Cell>,
}

/// An error in the rules that appears in the position.
#[derive(Serialize)]
pub struct FaultText {
    /// The first line of its text; the state is the position itself.
    message: String,
    rules: Vec<String>,
    /// A question whose answer explains the fault.
    question: String,
}

impl FaultText {
    /// The fault that an error is.
    pub fn new(error: PlayError) -> Result<Self, PlayError> {
        let Some(fault) = error.fault() else {
            return Err(error);
        };
        let role = &fault.role;
        Ok(FaultText {
            message: error.summary(),
            rules: fault.rules.clone(),
            question: match error {
                PlayError::NoLegalMove(_) => format!("(legal {role} ?move)"),
                _ => format!("(goal {role} ?value)"),
            },
        })
    }
}

impl Reached {
    /// The joint moves including the forced ones that were left out, if any were.
    fn filled(&self, asked: &[Vec<String>]) -> Option<Vec<Vec<String>>> {
        let whole = self.joints.iter().zip(asked);
        if whole
            .clone()
            .all(|(joint, texts)| joint.len() == texts.len())
        {
            return None;
        }
        let text = |action: &Move| self.machine.text(*action);
        let joints = self.joints.iter();
        Some(
            joints
                .map(|joint| joint.iter().map(text).collect())
                .collect(),
        )
    }

    fn position(mut self, names: bool) -> Result<Position, PlayError> {
        let picture = match names {
            true => &self.pictures.named,
            false => &self.pictures.plain,
        };
        let (machine, state) = (&mut self.machine, &self.state);
        let over = machine.is_terminal(state)?;
        let roles: Vec<_> = machine.game().roles().collect();
        let drawing = {
            let states = match picture.has_trails() {
                true => passed(machine, &self.joints)?,
                false => vec![machine.facts(state)],
            };
            let drawing = picture.draw_after(machine.terms(), &states, DrawingLimits::default());
            if over { drawing.at_end() } else { drawing }
        };
        let (mut legal, mut faults) = (Vec::new(), Vec::new());
        if !over {
            for &role in &roles {
                let mut moves = Vec::new();
                if let Err(error) = machine.legal(state, role, &mut moves) {
                    faults.push(FaultText::new(error)?);
                }
                let moves = moves.iter().map(|action| LegalMove {
                    action: machine.text(*action),
                    cells: picture.cells(machine.terms(), (role, *action), &drawing),
                });
                legal.push(moves.collect());
            }
        }
        let mut goals = Vec::new();
        for &role in &roles {
            goals.push(match machine.goal(state, role) {
                Ok(score) => Some(score.get()),
                Err(error) => {
                    let fault = FaultText::new(error)?;
                    // The rules need not give goals before the end, nor any to chance.
                    let needs_goal = over && !machine.game().is_random(role);
                    faults.extend(Some(fault).filter(|_| needs_goal));
                    None
                }
            });
        }
        let choosing = |moves: &(usize, &Vec<LegalMove>)| moves.1.len() > 1;
        let turn = legal.iter().enumerate().filter(choosing);
        Ok(Position {
            moves: None,
            ply: self.joints.len(),
            over,
            facts: canonical_facts(machine, state),
            turn: turn.map(|(role, _)| role).collect(),
            legal,
            goals,
            faults,
            svg: ggp_picture::board_svg(&drawing, &machine.game().name()).unwrap_or_default(),
            text: ggp_picture::text(&drawing),
            drawing,
            seat: None,
        })
    }

    /// The position as a role knows it: its own moves, and what holds in all positions that fit.
    fn known_position(mut self, view: &mut View<'_>, names: bool) -> Result<Position, PlayError> {
        self.machine.terms_mut().refresh();
        let (certain, seat) = view.seat(self.machine.game(), self.machine.terms())?;
        let picture = match names {
            true => &self.pictures.named,
            false => &self.pictures.plain,
        };
        let machine = &mut self.machine;
        let limits = DrawingLimits::default();
        let drawing = picture.draw_likely(machine.terms(), &view.drawn(&certain), limits);
        let role = view.role();
        let mut moves = Vec::new();
        machine.legal(&self.state, role, &mut moves)?;
        let own = moves.iter().map(|action| LegalMove {
            action: machine.text(*action),
            cells: picture.cells(machine.terms(), (role, *action), &drawing),
        });
        let count = machine.game().role_count();
        let mut legal: Vec<Vec<LegalMove>> = (0..count).map(|_| Vec::new()).collect();
        legal[role.index()] = own.collect();
        let game = machine.game();
        let mut facts: Vec<String> = certain
            .iter()
            .map(|fact| game.text(machine.terms(), *fact))
            .collect();
        facts.sort();
        Ok(Position {
            moves: None,
            ply: self.joints.len(),
            over: false,
            facts,
            turn: if moves.len() > 1 {
                vec![role.index()]
            } else {
                Vec::new()
            },
            legal,
            goals: vec![None; count],
            faults: Vec::new(),
            svg: ggp_picture::board_svg(&drawing, &game.name()).unwrap_or_default(),
            text: ggp_picture::text(&drawing),
            drawing,
            seat: Some(seat),
        })
    }
}

/// The facts of the states that joint moves lead through, from the initial one on.
fn passed(machine: &mut AnyMachine, joints: &[Vec<Move>]) -> Result<Vec<Vec<TermId>>, PlayError> {
    let mut state = machine.initial()?;
    let mut states = vec![machine.facts(&state)];
    for joint in joints {
        state = machine.next(&state, joint)?;
        states.push(machine.facts(&state));
    }
    Ok(states)
}

/// The position after moves.
///
/// # Errors
///
/// If one of them is not legal, or the rules cannot be evaluated.
pub fn position(
    game: &LoadedGame,
    asked: &Moves,
    allowance: &Allowance,
) -> Result<Position, Refusal> {
    let mut reached = game.reach(&asked.moves, allowance)?;
    let names = asked.names.unwrap_or(true);
    if let Some(role) = hidden_seat(game, asked.seat)?
        && !reached.machine.is_terminal(&reached.state)?
    {
        let mut view = View::new(game, role, &mut reached, allowance)?;
        return Ok(reached.known_position(&mut view, names)?);
    }
    let filled = reached.filled(&asked.moves);
    Ok(Position {
        moves: filled,
        ..reached.position(names)?
    })
}
