//! Many positions of a game with percepts at once.
//!
//! In: states and joint moves. Out: legal moves, next states and percepts. Where
//! the rules have a network, each question is asked for all states at once, in lanes; otherwise
//! Datalog answers for one after another.

use std::sync::{Arc, Mutex};

use ggp_engine::machine::{
    AnyMachine, Backend, BatchOptions, Limits, Machine, PlayError, PropnetMachine, PropnetState,
};
use ggp_engine::propnet::batch::{Batch, holds};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_gdl::game::{Game, Move, RoleId, Score, Telling};
use ggp_gdl::terms::{TermId, Terms};
use ggp_stop::Stop;
use rustc_hash::FxHashMap;

use super::certain::Proofs;

/// A state with the percepts of the last joint move.
pub type State = PropnetState;

/// The answers about one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Whether the game is over.
    pub terminal: bool,
    /// By role: the legal moves, in the order of [`Machine::legal`]; empty if the game is over.
    pub legal: Vec<Vec<Move>>,
}

/// A game whose states hold percepts.
#[derive(Debug)]
pub struct World {
    game: Game,
    telling: Telling,
    machine: AnyMachine,
    lanes: Option<Lanes>,
    /// Random playouts, once they are asked for.
    playouts: Option<Rollouts>,
    proofs: Arc<Mutex<Proofs>>,
}

/// The network in machine code.
#[derive(Debug)]
pub(super) struct Lanes {
    pub batch: Batch,
    /// By role: the number of each move.
    pub moves: Vec<FxHashMap<Move, u32>>,
    /// By role: the facts that hold its percepts, with the percepts, ascending by percept.
    pub told: Vec<Vec<(u32, TermId)>>,
    /// The bits of all other facts.
    plain: Box<[u64]>,
}

/// The states that are evaluated at once.
pub(super) const LANES: usize = 256;

impl World {
    /// The world of a game on a backend. `limits` are those of a machine and of grounding.
    ///
    /// # Errors
    ///
    /// [`PlayError`] if the rules exceed the limits.
    pub fn new(game: &Game, backend: Backend, limits: Limits) -> Result<World, PlayError> {
        let telling = game.telling();
        let telling = telling.map_err(|overflow| {
            PlayError::TooLarge(ggp_engine::machine::Excess::of_terms(game, overflow))
        })?;
        let machine = AnyMachine::new(&telling.game, backend, limits)?;
        let lanes = match &machine {
            AnyMachine::Propnet(machine) => {
                Some(Lanes::new(machine, &telling).ok_or(PlayError::Interrupted)?)
            }
            _ => None,
        };
        Ok(World {
            game: game.clone(),
            telling,
            machine,
            lanes,
            playouts: None,
            proofs: Arc::default(),
        })
    }

    /// The facts proved of positions.
    pub(super) fn proofs(&self) -> Arc<Mutex<Proofs>> {
        Arc::clone(&self.proofs)
    }

    /// The game, as it is written.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// A view of the terms of all answers.
    pub fn terms(&self) -> &Terms {
        self.machine.terms()
    }

    /// The view for parsing new terms.
    pub fn terms_mut(&mut self) -> &mut Terms {
        self.machine.terms_mut()
    }

    /// The machine of the game with percepts in its states.
    pub fn machine(&mut self) -> &mut AnyMachine {
        &mut self.machine
    }

    /// Changes the end of questions.
    pub fn set_stop(&mut self, stop: &Stop) {
        self.machine.set_stop(stop);
    }

    /// True if the rules have a network, so that many states are evaluated at once.
    pub fn has_network(&self) -> bool {
        self.lanes.is_some()
    }

    /// The network in machine code, and the moves of each role by their numbers.
    pub(super) fn lanes(&mut self) -> Option<(&mut Lanes, &[Vec<Move>])> {
        match (&mut self.lanes, &self.machine) {
            (Some(lanes), AnyMachine::Propnet(machine)) => Some((lanes, machine.net().moves())),
            _ => None,
        }
    }

    /// The initial state, or the one with the given facts.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub fn start(&mut self, facts: Option<&[TermId]>) -> Result<State, PlayError> {
        match facts {
            Some(facts) => self.machine.state(facts),
            None => self.machine.initial(),
        }
    }

    /// The facts of a state without percepts, ascending.
    pub fn facts(&self, state: &State) -> Vec<TermId> {
        let mut facts = self.machine.facts(state);
        facts.retain(|fact| !self.is_percept(*fact));
        facts
    }

    /// Whether a fact of the machine holds a percept.
    pub(super) fn is_percept(&self, fact: TermId) -> bool {
        self.telling.told(self.terms(), fact).is_some()
    }

    /// A value that is equal for two states if they differ at most in percepts. It cannot be
    /// played from.
    pub fn key(&self, state: &State) -> State {
        match (&self.lanes, state) {
            (Some(lanes), State::Packed(words)) => {
                let words = words
                    .iter()
                    .zip(&*lanes.plain)
                    .map(|(word, bits)| word & bits);
                State::Packed(words.collect())
            }
            _ => State::Facts(self.facts(state).into()),
        }
    }

    /// The percepts that a role may ever have, ascending by id, each after the number of the fact
    /// that holds it; `None` without a network.
    pub fn all_percepts(&self, role: RoleId) -> Option<&[(u32, TermId)]> {
        Some(&self.lanes.as_ref()?.told[role.index()])
    }

    /// The percepts of a role of the last joint move, ascending by id.
    pub fn told(&self, state: &State, role: RoleId) -> Vec<TermId> {
        if let (Some(lanes), State::Packed(words)) = (&self.lanes, state) {
            let told = lanes.told[role.index()].iter();
            let told = told.filter(|(fact, _)| holds(words, *fact as usize));
            return told.map(|(_, percept)| *percept).collect();
        }
        let name = self.game.role_term(role);
        let facts = self.machine.facts(state).into_iter();
        let told = facts.filter_map(|fact| self.telling.told(self.terms(), fact));
        let mut told: Vec<TermId> = told.filter(|told| told.0 == name).map(|t| t.1).collect();
        told.sort_unstable();
        told
    }

    /// True if these are a role's percepts of the last joint move, ascending by id.
    pub fn was_told(&self, state: &State, role: RoleId, percepts: &[TermId]) -> bool {
        if let (Some(lanes), State::Packed(words)) = (&self.lanes, state) {
            let told = lanes.told[role.index()].iter();
            let told = told.filter(|(fact, _)| holds(words, *fact as usize));
            return told.map(|(_, percept)| percept).eq(percepts);
        }
        self.told(state, role) == percepts
    }

    /// The answers about states, one for each.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::is_terminal`] and [`Machine::legal`].
    pub fn status(&mut self, states: &[State]) -> Result<Vec<Status>, PlayError> {
        let roles: Vec<RoleId> = self.game.roles().collect();
        let mut out = Vec::with_capacity(states.len());
        for some in states.chunks(LANES) {
            self.check_stop()?;
            let packed = self.lanes.as_ref().and_then(|_| words(some.iter()));
            let (Some(lanes), Some(packed)) = (&mut self.lanes, packed) else {
                for state in some {
                    let terminal = self.machine.is_terminal(state)?;
                    let mut legal = vec![Vec::new(); roles.len()];
                    for (role, legal) in roles.iter().zip(&mut legal).filter(|_| !terminal) {
                        self.machine.legal(state, *role, legal)?;
                    }
                    out.push(Status { terminal, legal });
                }
                continue;
            };
            lanes.batch.set_states(&packed);
            let AnyMachine::Propnet(machine) = &self.machine else {
                unreachable!("lanes have a network");
            };
            let moves = machine.net().moves();
            let first = out.len();
            out.extend((0..some.len()).map(|lane| Status {
                terminal: lanes.batch.is_terminal(lane),
                legal: vec![Vec::new(); roles.len()],
            }));
            for (role, moves) in moves.iter().enumerate() {
                for (number, made) in moves.iter().enumerate() {
                    let row = lanes.batch.legal(role, number);
                    for lane in set_bits(row).take_while(|lane| *lane < some.len()) {
                        let status: &mut Status = &mut out[first + lane];
                        if !status.terminal {
                            status.legal[role].push(*made);
                        }
                    }
                }
            }
            for (status, state) in out[first..].iter().zip(some) {
                for (role, legal) in roles.iter().zip(&status.legal) {
                    if !status.terminal && legal.is_empty() {
                        // The machine's error says where.
                        self.machine.legal(state, *role, &mut Vec::new())?;
                    }
                }
            }
        }
        Ok(out)
    }

    /// The states after joint moves, one for each pair.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::next`].
    pub fn steps(&mut self, pairs: &[(&State, &[Move])]) -> Result<Vec<State>, PlayError> {
        let mut out = Vec::with_capacity(pairs.len());
        for some in pairs.chunks(LANES) {
            self.check_stop()?;
            if let Some(lanes) = &mut self.lanes
                && lanes.step(some)
            {
                let next = lanes.batch.states(some.len()).into_iter();
                out.extend(next.map(|words| State::Packed(words.into())));
                continue;
            }
            for (state, joint) in some {
                out.push(self.machine.next(state, joint)?);
            }
        }
        Ok(out)
    }

    /// The states after joint moves, each if a role has these percepts then, ascending by id.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::next`].
    pub fn steps_told(
        &mut self,
        pairs: &[(&State, &[Move])],
        role: RoleId,
        percepts: &[TermId],
    ) -> Result<Vec<Option<State>>, PlayError> {
        let mut out = Vec::with_capacity(pairs.len());
        for some in pairs.chunks(LANES) {
            self.check_stop()?;
            if let Some(lanes) = &mut self.lanes
                && lanes.step(some)
            {
                let mut fits = [u64::MAX; LANES / 64];
                lanes.wrong(role, percepts, &[u64::MAX; LANES / 64], |wrong| {
                    fits.iter_mut()
                        .zip(wrong)
                        .for_each(|(fits, wrong)| *fits &= !wrong);
                });
                let states = lanes.batch.states(some.len()).into_iter();
                out.extend(
                    states.enumerate().map(|(lane, state)| {
                        is_set(&fits, lane).then(|| State::Packed(state.into()))
                    }),
                );
                continue;
            }
            for (state, joint) in some {
                let next = self.machine.next(state, joint)?;
                let fits = self.was_told(&next, role, percepts);
                out.push(fits.then_some(next));
            }
        }
        Ok(out)
    }

    /// A role's scores in terminal states.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::goal`].
    pub fn scores(&mut self, states: &[State], role: RoleId) -> Result<Vec<Score>, PlayError> {
        let mut out = Vec::with_capacity(states.len());
        for some in states.chunks(LANES) {
            let packed = self.lanes.as_ref().and_then(|_| words(some.iter()));
            let first = out.len();
            if let (Some(lanes), Some(packed)) = (&mut self.lanes, packed) {
                lanes.batch.set_states(&packed);
                let AnyMachine::Propnet(machine) = &self.machine else {
                    unreachable!("lanes have a network");
                };
                let (game, terms) = (&self.telling.game, machine.terms());
                let values = &machine.net().goals()[role.index()];
                for lane in 0..some.len() {
                    let mut found = lanes.batch.goal_values(lane, role.index());
                    let only = match (found.next(), found.next()) {
                        (Some(only), None) => game.score(terms, values[only].0).ok(),
                        _ => None,
                    };
                    out.extend(only);
                    if only.is_none() {
                        break;
                    }
                }
            }
            for state in &some[out.len() - first..] {
                out.push(self.machine.goal(state, role)?);
            }
        }
        Ok(out)
    }

    /// A role's scores in terminal states; `None` where the rules give it none, or several.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::goal`] that are no fault of the rules.
    pub fn outcomes(
        &mut self,
        states: &[State],
        role: RoleId,
    ) -> Result<Vec<Option<Score>>, PlayError> {
        match self.scores(states, role) {
            Ok(scores) => return Ok(scores.into_iter().map(Some).collect()),
            Err(PlayError::Interrupted) => return Err(PlayError::Interrupted),
            Err(_) => {}
        }
        let each = states
            .iter()
            .map(|state| match self.machine.goal(state, role) {
                Ok(score) => Ok(Some(score)),
                Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
                    Ok(None)
                }
                Err(error) => Err(error),
            });
        each.collect()
    }

    /// Compiles random playouts, if the rules have a network.
    pub fn prepare_playouts(&mut self, steps: usize, seed: u64) {
        if let (AnyMachine::Propnet(machine), None) = (&self.machine, &self.playouts) {
            let options = RolloutOptions {
                depth: Some(steps as u64),
                ..RolloutOptions::default()
            };
            self.playouts = machine.rollouts(options, seed);
        }
    }

    /// True if random playouts are compiled.
    pub fn has_playouts(&self) -> bool {
        self.playouts.is_some()
    }

    /// The scores of all roles, 0 to 1, on average over `each` random playouts from each state;
    /// `None` for a state whose playouts have no end, and for all if playouts are not compiled.
    ///
    /// # Errors
    ///
    /// [`PlayError::Interrupted`].
    pub fn playouts(
        &mut self,
        states: &[State],
        each: u32,
    ) -> Result<Vec<Option<Vec<f64>>>, PlayError> {
        let packed = words(states.iter());
        let (Some(playouts), Some(packed)) = (&mut self.playouts, packed) else {
            return Ok(vec![None; states.len()]);
        };
        let stop = self.machine.stop();
        let mut proceed = || match stop.is_over() {
            true => Proceed::Drop,
            false => Proceed::On,
        };
        let roles = self.game.role_count();
        let outcomes = playouts.run(&packed, each, &mut proceed);
        let means = outcomes.iter().map(|outcome| {
            let mean = |role| Some(outcome.mean(role)? / 100.0);
            (0..roles).map(mean).collect()
        });
        let means = means.collect();
        self.check_stop()?;
        Ok(means)
    }

    pub(super) fn stop(&self) -> &Stop {
        self.machine.stop()
    }

    pub(super) fn check_stop(&self) -> Result<(), PlayError> {
        match self.machine.stop().is_over() {
            true => Err(PlayError::Interrupted),
            false => Ok(()),
        }
    }
}

pub(super) fn is_set(bits: &[u64], lane: usize) -> bool {
    bits[lane / 64] >> (lane % 64) & 1 == 1
}

/// The bits that are set, ascending.
pub(super) fn set_bits(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(place, word)| {
        let mut word = *word;
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(64 * place + bit)
        })
    })
}

/// The words of states, if all are packed.
fn words<'a>(states: impl Iterator<Item = &'a State>) -> Option<Vec<Arc<[u64]>>> {
    let words = states.map(|state| match state {
        State::Packed(words) => Some(Arc::clone(words)),
        State::Mixed(_) | State::Facts(_) => None,
    });
    words.collect()
}

impl Lanes {
    fn new(machine: &PropnetMachine, telling: &Telling) -> Option<Lanes> {
        let net = machine.net();
        let options = BatchOptions {
            lanes: LANES,
            engine: Engine::Auto,
            looks_ahead: false,
        };
        let mut plain = vec![0; net.facts().len().div_ceil(64)];
        let roles = telling.game.role_count();
        let mut told = vec![Vec::new(); roles];
        for (number, &fact) in net.facts().iter().enumerate() {
            let bit = 1u64 << (number % 64);
            match telling.told(machine.terms(), fact) {
                None => plain[number / 64] |= bit,
                Some((name, percept)) => {
                    if let Some(role) = telling.game.role_of(name) {
                        told[role.index()].push((number as u32, percept));
                    }
                }
            }
        }
        for told in &mut told {
            told.sort_unstable_by_key(|(_, percept): &(u32, TermId)| *percept);
        }
        let moves = net.moves().iter();
        Some(Lanes {
            batch: machine.batch(options)?,
            moves: moves
                .map(|moves| {
                    moves
                        .iter()
                        .zip(0..)
                        .map(|(made, at)| (*made, at))
                        .collect()
                })
                .collect(),
            told,
            plain: plain.into(),
        })
    }

    /// Visits, for each percept that a role may have, those of the open lanes in which it has it and
    /// should not, or the other way round, if there are any.
    pub fn wrong(
        &self,
        role: RoleId,
        percepts: &[TermId],
        open: &[u64; LANES / 64],
        mut visit: impl FnMut([u64; LANES / 64]),
    ) {
        let mut due = percepts;
        for (fact, percept) in &self.told[role.index()] {
            // A percept that it can never have is lacking in all lanes.
            while due.first().is_some_and(|due| due < percept) {
                visit(*open);
                due = &due[1..];
            }
            let mut flip = 0;
            if due.first() == Some(percept) {
                (flip, due) = (u64::MAX, &due[1..]);
            }
            let row = self.batch.fact(*fact as usize).iter().zip(open);
            let mut wrong = [0; LANES / 64];
            for (wrong, (word, open)) in wrong.iter_mut().zip(row) {
                *wrong = (word ^ flip) & open;
            }
            if wrong != [0; LANES / 64] {
                visit(wrong);
            }
        }
        due.iter().for_each(|_| visit(*open));
    }

    /// Makes joint moves, one in each lane; returns false, and does nothing, if a state is not packed
    /// or a move has no number.
    fn step(&mut self, pairs: &[(&State, &[Move])]) -> bool {
        let states = words(pairs.iter().map(|pair| pair.0));
        let (Some(states), Some(joints)) = (states, self.joints(pairs)) else {
            return false;
        };
        self.batch.set_states(&states);
        self.batch.step(&joints);
        true
    }

    /// The numbers of all moves, joint move by joint move; `None` if the network lacks one.
    fn joints(&self, pairs: &[(&State, &[Move])]) -> Option<Vec<usize>> {
        let mut joints = Vec::with_capacity(pairs.len() * self.moves.len());
        for (_, joint) in pairs {
            for (moves, made) in self.moves.iter().zip(*joint) {
                joints.push(*moves.get(made)? as usize);
            }
        }
        Some(joints)
    }
}
