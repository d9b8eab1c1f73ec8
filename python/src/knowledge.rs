//! Knowledge of a role: its own moves, and its percepts after each.
//!
//! In: the joint moves of a match, or an observation of the library. Out: tuples and texts of Python,
//! which are equal for two matches exactly if they look alike to the role.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{Error, LimitError, play_error};
use crate::interrupt::interruptible;
use crate::shared::{Percepts, Shared};
use crate::state::State;
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_play::Observation;
use ggp_stop::Stop;

/// A turn of a match with hidden information. States that follow each other share it.
pub struct Turn {
    before: PropnetState,
    /// By role: the percepts of the joint move, once they are asked for.
    told: OnceLock<Vec<Vec<TermId>>>,
}

impl Turn {
    pub fn new(before: PropnetState) -> Arc<Self> {
        Arc::new(Turn {
            before,
            told: OnceLock::new(),
        })
    }
}

/// The percepts of each role of a joint move.
fn percepts_of_all(
    machine: &mut AnyMachine,
    state: &PropnetState,
    joint: &[Move],
) -> Result<Vec<Vec<TermId>>, PlayError> {
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let told = roles.into_iter().map(|role| {
        let mut told = Vec::new();
        machine.percepts(state, joint, role, &mut told)?;
        Ok(told)
    });
    told.collect()
}

/// A role's knowledge as a tuple: for each turn its move, and a tuple of its percepts.
pub fn tuple<'py>(
    py: Python<'py>,
    shared: &Shared,
    observation: &Observation,
) -> PyResult<Bound<'py, PyTuple>> {
    let told = observation.percepts().unwrap_or_default();
    let texts: Vec<(String, Vec<String>)> = {
        let mut machine = shared.machine();
        machine.terms_mut().refresh();
        let both = observation.own_moves().iter().zip(told);
        let turn = both.map(|(made, told)| (machine.text(*made), percepts(&machine, told)));
        turn.collect()
    };
    let turns = texts
        .into_iter()
        .map(|(made, told)| Ok((made, PyTuple::new(py, told)?)));
    PyTuple::new(py, turns.collect::<PyResult<Vec<_>>>()?)
}

/// The texts of percepts.
pub fn percepts(machine: &AnyMachine, told: &[TermId]) -> Vec<String> {
    let texts = told
        .iter()
        .map(|percept| machine.game().text(machine.terms(), *percept));
    texts.collect()
}

/// A role's knowledge as a text: its name, the facts of the first state if it is not the initial one, and the
/// labels of information sets in the EFG format. If all is known, the joint moves.
pub fn text(
    shared: &Shared,
    role: RoleId,
    observation: &Observation,
    start: Option<&[String]>,
) -> String {
    let mut machine = shared.machine();
    machine.terms_mut().refresh();
    let turns: Vec<String> = match (observation.joint_moves(), observation.percepts()) {
        (Some(joints), _) => {
            let texts = |joint: &Vec<Move>| -> Vec<String> {
                joint.iter().map(|made| machine.text(*made)).collect()
            };
            joints.iter().map(|joint| texts(joint).join(" ")).collect()
        }
        (None, told) => {
            let own = observation.own_moves().iter();
            let both = own.zip(told.unwrap_or_default());
            both.map(|(made, told)| turn(&machine, *made, told))
                .collect()
        }
    };
    let mut text = shared.game.role_name(role).to_owned();
    if let Some(facts) = start {
        text += &format!(" from {}", facts.join(" "));
    }
    match &turns[..] {
        [] => format!("{text}:"),
        turns => format!("{text}: {}", turns.join("; ")),
    }
}

/// The text of [`Shared::observed_bits`]: the last turn of a role after its name, and its moves and percepts of
/// all turns, each once.
pub fn observed_text(shared: &Shared, role: RoleId, observation: &Observation) -> String {
    let (own, told) = (observation.own_moves(), observation.percepts());
    let told = told.unwrap_or_default();
    let name = shared.game.role_name(role);
    let mut machine = shared.machine();
    machine.terms_mut().refresh();
    let Some((made, last)) = own.last().zip(told.last()) else {
        return format!("{name}:");
    };
    let sorted = |texts: Vec<String>| texts.into_iter().collect::<BTreeSet<_>>();
    let moves = sorted(own.iter().map(|made| machine.text(*made)).collect());
    let told = sorted(percepts(&machine, &told.concat()));
    let list = |texts: BTreeSet<String>| texts.into_iter().collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "{name}: {}; so far did {}",
        turn(&machine, *made, last),
        list(moves)
    );
    if !told.is_empty() {
        text += &format!(" | saw {}", list(told));
    }
    text
}

fn turn(machine: &AnyMachine, made: Move, told: &[TermId]) -> String {
    let did = format!("did {}", machine.text(made));
    match told {
        [] => did,
        told => format!("{did} | saw {}", percepts(machine, told).join(", ")),
    }
}

impl State {
    /// The turns so far, with the percepts of all roles.
    fn told(&self, py: Python<'_>) -> PyResult<Vec<Arc<Turn>>> {
        let facts = self.first_facts()?;
        let work = || -> Result<Vec<Arc<Turn>>, PlayError> {
            let mut machine = self.shared.machine();
            let mut turns = self.turns.clone();
            if turns.len() < self.history.len() {
                let mut state = match facts {
                    Some(facts) => machine.state(&facts)?,
                    None => machine.initial()?,
                };
                turns.clear();
                for joint in &self.history {
                    turns.push(Turn::new(state.clone()));
                    state = machine.next(&state, joint)?;
                }
            }
            for (turn, joint) in turns.iter().zip(&self.history) {
                if turn.told.get().is_none() {
                    let told = percepts_of_all(&mut machine, &turn.before, joint)?;
                    turn.told.get_or_init(|| told);
                }
            }
            Ok(turns)
        };
        py.detach(work).map_err(|error| play_error(py, &error))
    }

    /// The role's knowledge of the match that led to this state.
    ///
    /// # Errors
    ///
    /// `Error` if earlier moves are not known.
    pub fn observation(&self, py: Python<'_>, role: RoleId) -> PyResult<Observation> {
        self.check_past()?;
        if !self.shared.hides() || self.shared.game.is_random(role) {
            return Ok(Observation::of_joint_moves(role, &*self.history));
        }
        let own: Vec<Move> = self
            .history
            .iter()
            .map(|joint| joint[role.index()])
            .collect();
        let turns = self.told(py)?;
        let told = turns.iter().map(|turn| {
            turn.told
                .get()
                .map_or_else(Vec::new, |told| told[role.index()].clone())
        });
        Ok(Observation::of_percepts(own, told.collect::<Vec<_>>()))
    }

    /// The percepts of a role of the last joint move, or of one that is given, as texts.
    pub fn percepts_as_texts(
        &self,
        py: Python<'_>,
        role: usize,
        moves: Option<Vec<String>>,
    ) -> PyResult<Vec<String>> {
        self.shared.check_hides()?;
        let role = self.shared.numbered(role)?;
        let told = match moves {
            None => {
                if self.history.is_empty() {
                    self.check_past()?;
                }
                let last = self.told(py)?.pop();
                last.and_then(|turn| turn.told.get().map(|told| told[role.index()].clone()))
            }
            Some(texts) => {
                let joint = texts
                    .iter()
                    .map(|text| self.read(text))
                    .collect::<PyResult<Vec<_>>>()?;
                Some(self.ask(py, |machine, state| {
                    machine.play(state, &joint)?;
                    let mut told = Vec::new();
                    machine.percepts(state, &joint, role, &mut told)?;
                    Ok(told)
                })?)
            }
        };
        Ok(percepts(&self.shared.machine(), &told.unwrap_or_default()))
    }

    /// The role's own moves and percepts as a tuple.
    pub fn knowledge_as_tuple<'py>(
        &self,
        py: Python<'py>,
        role: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.shared.check_hides()?;
        let role = self.shared.knower(role)?;
        tuple(py, &self.shared, &self.observation(py, role)?)
    }
}

impl Shared {
    /// The percepts that roles may ever have.
    ///
    /// # Errors
    ///
    /// `Error` if the rules have no `sees`, `LimitError` if they have no network with percepts.
    pub fn all_percepts(&self, py: Python<'_>) -> PyResult<&Percepts> {
        self.check_hides()?;
        if let Some(known) = self.percepts.get() {
            return Ok(known);
        }
        let stop = Stop::new();
        let work = || {
            self.with_world(&stop, |world| {
                let (game, terms) = (&self.game, world.terms());
                let percepts = game.roles().map(|role| {
                    let mut all = world.all_percepts(role)?.to_vec();
                    all.sort_by(|left, right| game.compare_terms(terms, left.1, right.1));
                    Some(all)
                });
                let by_role = percepts.collect::<Option<Vec<_>>>();
                let network = match world.machine() {
                    AnyMachine::Propnet(machine) => Some((**machine).clone()),
                    _ => None,
                };
                let both = by_role.zip(network);
                Ok::<_, PlayError>(both.map(|(by_role, mut network)| {
                    // Nothing stops it later.
                    network.set_stop(&Stop::new());
                    Percepts { network, by_role }
                }))
            })
        };
        let found = interruptible(py, &stop, work)?.map_err(|error| play_error(py, &error))?;
        let found = found.ok_or_else(|| {
            LimitError::new_err("this needs a network with percepts, and the game has none")
        })?;
        Ok(self.percepts.get_or_init(|| found))
    }

    /// Refuses rules whose roles know all moves.
    pub fn check_hides(&self) -> PyResult<()> {
        match self.hides() {
            true => Ok(()),
            false => Err(Error::new_err(
                "the rules have no `sees`: every role knows all joint moves, which `State.history` lists",
            )),
        }
    }

    /// The number of numbers of an observation: of the facts, or, with hidden information, twice that of
    /// percepts and actions of a player.
    pub fn observation_size(&self, py: Python<'_>) -> PyResult<usize> {
        let network = self.network()?;
        if !self.hides() {
            return Ok(network.net().facts().len());
        }
        Ok(2 * (self.most_percepts(py)? + self.most_actions()?))
    }

    /// The greatest number of percepts that a player may have.
    fn most_percepts(&self, py: Python<'_>) -> PyResult<usize> {
        let all = &self.all_percepts(py)?.by_role;
        let players = self.players();
        let counts = players.iter().map(|role| all[role.index()].len());
        Ok(counts.max().unwrap_or(0))
    }

    /// The greatest number of actions of a player.
    fn most_actions(&self) -> PyResult<usize> {
        let moves = &self.network()?.actions.moves;
        let players = self.players();
        let counts = players.iter().map(|role| moves[role.index()].len());
        Ok(counts.max().unwrap_or(0))
    }

    /// A role's knowledge as numbers, 1 or 0: for each of its percepts whether it ever had it, and for each of its
    /// actions whether it ever made it; then the same for the last turn alone.
    pub fn observed_bits(
        &self,
        py: Python<'_>,
        role: RoleId,
        observation: &Observation,
    ) -> PyResult<Vec<f32>> {
        let all = &self.all_percepts(py)?.by_role[role.index()];
        let numbers = &self.network()?.actions.numbers[role.index()];
        let most = self.most_percepts(py)?;
        let mut bits = vec![0.0; self.observation_size(py)?];
        let (ever, last) = bits.split_at_mut(most + self.most_actions()?);
        let own = observation.own_moves();
        let turns = own.iter().zip(observation.percepts().unwrap_or_default());
        for (turn, (made, told)) in turns.enumerate() {
            let had = all.iter().enumerate();
            let had = had.filter(|(_, (_, percept))| told.contains(percept));
            let made = numbers.get(made).map(|number| most + number);
            for bit in had.map(|(bit, _)| bit).chain(made) {
                ever[bit] = 1.0;
                if turn + 1 == own.len() {
                    last[bit] = 1.0;
                }
            }
        }
        Ok(bits)
    }

    /// The role of this number.
    ///
    /// # Errors
    ///
    /// `IndexError` otherwise.
    pub fn numbered(&self, role: usize) -> PyResult<RoleId> {
        let found = self.game.roles().nth(role);
        found.ok_or_else(|| {
            let count = self.game.role_count();
            PyIndexError::new_err(format!(
                "the game has {}, so there is no role {role}",
                counted(count, "role")
            ))
        })
    }

    /// The role of this number, if it is not chance, which knows everything.
    ///
    /// # Errors
    ///
    /// `IndexError` if there is no such role, `ValueError` if it is chance.
    pub fn knower(&self, role: usize) -> PyResult<RoleId> {
        let found = self.numbered(role)?;
        match self.game.is_random(found) {
            false => Ok(found),
            true => Err(PyValueError::new_err(format!(
                "role {role} is `random`, which is chance: name another role"
            ))),
        }
    }
}
