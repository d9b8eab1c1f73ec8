//! The backend that runs a game's propositional network.
//!
//! In: a [`Propnet`]. Out: the machine's answers, one state at a time, either from
//! the tapes for many lanes or by evaluating changed gates only. States and moves
//! that the network does not cover go to a Datalog machine: unreachable states, and
//! moves that are never legal. [`kept`] has the code over many positions.

mod kept;
mod walk;

use std::sync::{Arc, OnceLock};

use ggp_stop::Stop;
use rustc_hash::FxHashMap;

use super::answers::Answers;
use super::percepts::Teller;
use super::{DatalogMachine, Limits, MOVES_TEXT, Machine, PlayError, check_text};
use crate::propnet::batch::{Batch, Packed, holds, pack};
use crate::propnet::code::Engine;
use crate::propnet::differential::Differential;
use crate::propnet::network::{Literal, read};
use crate::propnet::{GroundError, Propnet};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::{TermId, Terms};
pub use kept::BatchOptions;
use kept::Kept;
pub(super) use walk::Walk;

/// A state of a [`PropnetMachine`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PropnetState {
    /// One bit for each of [`Propnet::facts`].
    Packed(Arc<[u64]>),
    /// The same for the network of a [`MixedMachine`](super::MixedMachine).
    Mixed(Arc<[u64]>),
    /// The facts of a state that the network does not cover, in ascending order.
    Facts(Arc<[TermId]>),
}

/// A machine that runs the propositional network.
#[derive(Clone, Debug)]
pub struct PropnetMachine {
    shared: Arc<Shared>,
    terms: Terms,
    limits: Limits,
    /// Created on first use.
    evaluator: Option<Evaluator>,
    /// The state loaded into the evaluator.
    loaded: Arc<[u64]>,
    datalog: Option<Box<DatalogMachine>>,
    /// The machine for percepts, made when they are first asked for; `Some(None)` if they have no
    /// network within the limits.
    teller: Option<Option<Box<Teller<PropnetMachine>>>>,
}

#[derive(Debug)]
struct Shared {
    net: Propnet,
    facts: FxHashMap<TermId, u32>,
    /// By role: the index of each move that is ever legal.
    moves: Vec<FxHashMap<Move, u32>>,
    /// The number of symbols in the text of all moves.
    symbols: usize,
    initial: Arc<[u64]>,
    /// An evaluator in the initial state, copied by each machine that needs one. It
    /// is not created if only the network is used.
    evaluator: OnceLock<Evaluator>,
    kept: Kept,
}

/// The evaluation of the gates of one state.
#[derive(Clone, Debug)]
enum Evaluator {
    /// Evaluates all gates. The first lane is used.
    Lanes(Box<Batch>),
    /// Evaluates changed gates only.
    Changes(Differential),
    /// The values of all nodes in one state, in which no move is made yet. To make one of the
    /// others takes longer than to evaluate one state.
    Once(Vec<u64>),
}

/// The method by which a [`PropnetMachine`] evaluates gates.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Evaluation {
    /// All gates, in machine code.
    MachineCode,
    /// All gates, in portable code.
    Interpreter,
    /// The gates whose operands have changed, in portable code.
    Changes,
}

impl PropnetMachine {
    /// Grounds a game within [`Limits::ground`], or takes its network from a cache, and makes a machine that runs the
    /// network.
    ///
    /// # Errors
    ///
    /// [`GroundError`] if grounding exceeds a limit or is interrupted.
    pub fn new(game: &Game, limits: Limits) -> Result<Self, GroundError> {
        let net = Propnet::simplified(game, &limits.ground)?;
        Ok(PropnetMachine::from_network(net, limits))
    }

    /// As [`PropnetMachine::new`] with a network that an earlier run left in the cache; `None` if there is
    /// none.
    pub fn kept(game: &Game, limits: Limits) -> Option<Self> {
        let net = Propnet::kept(game, &limits.ground)?;
        Some(PropnetMachine::from_network(net, limits))
    }

    /// A machine that runs a network. The method of evaluation is chosen on the
    /// first query about a second state, by the work of a few random moves; that query
    /// panics if [`Limits::engine`] is not available.
    pub fn from_network(net: Propnet, limits: Limits) -> Self {
        PropnetMachine::with(net, limits, OnceLock::new())
    }

    /// A machine that evaluates changed gates only, even if that takes more time;
    /// `None` if [`Differential`] does not support the network.
    pub fn by_changes(net: Propnet, limits: Limits) -> Option<Self> {
        let changes = Differential::new(&net)?;
        let evaluator = OnceLock::from(Evaluator::Changes(changes));
        Some(PropnetMachine::with(net, limits, evaluator))
    }

    fn with(net: Propnet, limits: Limits, evaluator: OnceLock<Evaluator>) -> Self {
        let mut terms = net.game.terms().clone();
        terms.refresh();
        let numbers = net
            .facts
            .iter()
            .zip(0..)
            .map(|(fact, number)| (*fact, number));
        let legal_ever = |(moves, legal): (&Vec<Move>, &Vec<Literal>)| {
            let mut numbers = FxHashMap::default();
            numbers.reserve(moves.len());
            let moves = moves.iter().zip(legal).zip(0..);
            let moves = moves.filter(|((_, legal), _)| **legal != Literal::FALSE);
            numbers.extend(moves.map(|((chosen, _), number)| (*chosen, number)));
            numbers
        };
        let symbols = net.moves.iter().flatten().map(|m| terms.symbols(m.term()));
        let initial: Arc<[u64]> = pack(net.initial.iter().copied()).into();
        let shared = Shared {
            facts: numbers.collect(),
            moves: net.moves.iter().zip(&net.legal).map(legal_ever).collect(),
            symbols: symbols.sum(),
            initial: Arc::clone(&initial),
            evaluator,
            kept: Kept::default(),
            net,
        };
        PropnetMachine {
            shared: Arc::new(shared),
            terms,
            limits,
            evaluator: None,
            loaded: initial,
            datalog: None,
            teller: None,
        }
    }

    /// The network.
    pub fn net(&self) -> &Propnet {
        &self.shared.net
    }

    /// The method by which gates are evaluated.
    pub fn evaluation(&self) -> Evaluation {
        match self.shared.evaluator(self.limits.engine) {
            Evaluator::Changes(_) => Evaluation::Changes,
            Evaluator::Lanes(batch) if batch.engine() == Engine::Interpreter => {
                Evaluation::Interpreter
            }
            _ => Evaluation::MachineCode,
        }
    }

    /// Loads a state, for questions about it.
    fn load(&mut self, state: &Arc<[u64]>) -> Result<(), PlayError> {
        if self.limits.stop.is_over() {
            return Err(PlayError::Interrupted);
        }
        let shared = &self.shared;
        if self.evaluator.is_none() && shared.evaluator.get().is_none() {
            self.evaluator = Some(Evaluator::Once(shared.values(state)));
            self.loaded = Arc::clone(state);
        }
        match self.evaluator {
            Some(Evaluator::Once(_)) if self.loaded == *state => Ok(()),
            _ => self.load_to_move(state),
        }
    }

    /// Loads a state into an evaluator that can make moves.
    fn load_to_move(&mut self, state: &Arc<[u64]>) -> Result<(), PlayError> {
        if self.limits.stop.is_over() {
            return Err(PlayError::Interrupted);
        }
        let shared = &self.shared;
        if let None | Some(Evaluator::Once(_)) = self.evaluator {
            self.evaluator = Some(shared.evaluator(self.limits.engine).clone());
            self.loaded = Arc::clone(&shared.initial);
        }
        if self.loaded != *state {
            match self.evaluator() {
                Evaluator::Lanes(batch) => batch.set_state(0, state),
                Evaluator::Changes(changes) => changes.set_state(state),
                Evaluator::Once(_) => unreachable!("it was replaced above"),
            }
            self.loaded = Arc::clone(state);
        }
        Ok(())
    }

    /// Refuses the legal moves of the loaded state if all roles' together are too long
    /// to be written.
    fn check_moves(&mut self) -> Result<(), PlayError> {
        let shared = Arc::clone(&self.shared);
        if shared.symbols <= self.limits.symbols {
            return Ok(());
        }
        let mut all: Vec<TermId> = Vec::new();
        for (role, moves) in shared.net.moves.iter().enumerate() {
            let to_term = |number: usize| moves[number].term();
            match self.evaluator() {
                Evaluator::Lanes(batch) => all.extend(batch.legal_moves(0, role).map(to_term)),
                Evaluator::Changes(changes) => all.extend(changes.legal_moves(role).map(to_term)),
                Evaluator::Once(values) => {
                    all.extend(true_ones(&shared.net.legal[role], values).map(to_term));
                }
            }
        }
        let limit = self.limits.symbols;
        Ok(check_text(&self.terms, all.into_iter(), MOVES_TEXT, limit)?)
    }

    /// The evaluator created by [`PropnetMachine::load`].
    fn evaluator(&mut self) -> &mut Evaluator {
        self.evaluator.as_mut().expect("a state was loaded")
    }

    fn is_over(&mut self) -> bool {
        let terminal = self.shared.net.terminal;
        match self.evaluator() {
            Evaluator::Lanes(batch) => batch.is_terminal(0),
            Evaluator::Changes(changes) => changes.is_terminal(),
            Evaluator::Once(values) => read(terminal, values) & 1 == 1,
        }
    }

    /// The machine for what the network does not cover.
    pub(super) fn datalog(&mut self) -> Result<&mut DatalogMachine, PlayError> {
        if self.datalog.is_none() {
            let game = &self.shared.net.game;
            let machine = DatalogMachine::new(game, self.limits.clone())?;
            self.datalog = Some(Box::new(machine));
        }
        Ok(self.datalog.as_mut().expect("it was created above"))
    }

    /// The state with these facts, which are in ascending order.
    fn state_of(&self, facts: &[TermId]) -> PropnetState {
        let net = &self.shared.net;
        let mut holds = vec![false; net.facts.len()];
        for fact in facts {
            match self.shared.facts.get(fact) {
                Some(&number) => holds[number as usize] = true,
                None => return PropnetState::Facts(facts.into()),
            }
        }
        match net.admits(&holds) {
            true => PropnetState::Packed(pack(holds).into()),
            false => PropnetState::Facts(facts.into()),
        }
    }

    /// The index of each role's move, if the network has them all.
    fn positions(&self, joint: &[Move]) -> Option<Vec<usize>> {
        let mut positions = Vec::with_capacity(joint.len());
        for (moves, chosen) in self.shared.moves.iter().zip(joint) {
            positions.push(*moves.get(chosen)? as usize);
        }
        Some(positions)
    }
}

impl Shared {
    fn evaluator(&self, engine: Engine) -> &Evaluator {
        self.evaluator.get_or_init(|| fastest(&self.net, engine))
    }

    /// The values of all nodes in a state: the first bit of each.
    fn values(&self, state: &[u64]) -> Vec<u64> {
        let network = &self.net.network;
        let mut inputs = vec![0; network.inputs()];
        for fact in 0..self.net.facts.len() {
            inputs[self.net.fact_input(fact)] = u64::from(holds(state, fact));
        }
        network.evaluate(&inputs)
    }
}

/// The indices of the literals that are true in the first bit of the values.
fn true_ones<'l>(
    literals: impl IntoIterator<Item = &'l Literal>,
    values: &[u64],
) -> impl Iterator<Item = usize> {
    let numbered = literals.into_iter().enumerate();
    let is_true = |(_, literal): &(usize, &Literal)| read(**literal, values) & 1 == 1;
    numbered.filter(is_true).map(|(number, _)| number)
}

/// The evaluator with less work in a few random moves.
fn fastest(net: &Propnet, engine: Engine) -> Evaluator {
    let lanes = lanes(engine);
    let (cost, floor) = match lanes {
        64 => (PER_INTERPRETED_GATE, 0),
        _ => (PER_COMPILED_GATE, LARGE),
    };
    let changes = (net.network.gates() >= floor).then(|| Differential::new(net));
    let changes = changes.flatten().and_then(|mut changes| {
        let moves = (TRIAL_GATES / changes.size().max(1)).clamp(TRIAL_MOVES.0, TRIAL_MOVES.1);
        let is_less = changes.activity(moves as u64) * PER_CHANGE < changes.size() as u64 * cost;
        is_less.then_some(changes)
    });
    match changes {
        Some(changes) => Evaluator::Changes(changes),
        None => Evaluator::Lanes(Box::new(Batch::new(net, lanes, engine))),
    }
}

/// The narrowest rows that the engine has machine code for. Wider ones take more
/// memory, which dominates the time of large networks.
pub fn lanes(engine: Engine) -> usize {
    let has_code = |native| (engine == Engine::Auto || engine == native) && native.is_available(4);
    match [Engine::Avx2, Engine::Avx512].into_iter().any(has_code) {
        true => 256,
        false => 64,
    }
}

/// The number of gates below which machine code is chosen without a trial.
const LARGE: usize = 4_000;
/// The least and the largest number of joint moves of a trial, and the number of gates of as many
/// networks as there are moves between.
const TRIAL_MOVES: (usize, usize) = (20, 200);
const TRIAL_GATES: usize = 10_000_000;
/// The approximate times, in picoseconds, to notify an operand of a change, and to
/// evaluate a gate in machine code and in portable code. Only their ratios matter.
/// They are measured by `cargo bench --bench single`.
const PER_CHANGE: u64 = 1_500;
const PER_COMPILED_GATE: u64 = 230;
const PER_INTERPRETED_GATE: u64 = 1_500;

impl Machine for PropnetMachine {
    type State = PropnetState;

    fn game(&self) -> &Game {
        &self.shared.net.game
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn terms_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn stop(&self) -> &Stop {
        &self.limits.stop
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.limits.stop = stop.clone();
        if let Some(datalog) = &mut self.datalog {
            datalog.set_stop(stop);
        }
        if let Some(Some(teller)) = &mut self.teller {
            teller.machine.set_stop(stop);
        }
    }

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        Ok(PropnetState::Packed(Arc::clone(&self.shared.initial)))
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        match state {
            PropnetState::Packed(packed) | PropnetState::Mixed(packed) => {
                self.load(packed)?;
                Ok(self.is_over())
            }
            PropnetState::Facts(facts) => self.datalog()?.is_terminal(facts),
        }
    }

    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        let packed = match state {
            PropnetState::Packed(packed) | PropnetState::Mixed(packed) => packed,
            PropnetState::Facts(facts) => {
                self.datalog()?.legal(facts, role, out)?;
                self.terms.refresh();
                return Ok(());
            }
        };
        self.load(packed)?;
        let moves = &self.shared.net.moves[role.index()];
        let to_move = |number: usize| moves[number];
        out.clear();
        match self.evaluator.as_mut().expect("a state was loaded") {
            Evaluator::Lanes(batch) => out.extend(batch.legal_moves(0, role.index()).map(to_move)),
            Evaluator::Changes(changes) => {
                out.extend(changes.legal_moves(role.index()).map(to_move));
            }
            Evaluator::Once(values) => {
                let legal = &self.shared.net.legal[role.index()];
                out.extend(true_ones(legal, values).map(to_move));
            }
        }
        if out.is_empty() && !self.is_over() {
            return Err(self.no_legal_move(state, role));
        }
        self.check_moves()
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        let positions = self.positions(joint);
        let (PropnetState::Packed(packed) | PropnetState::Mixed(packed), Some(positions)) =
            (state, positions)
        else {
            let facts = self.facts(state).into();
            let next = self.datalog()?.next(&facts, joint)?;
            self.terms.refresh();
            return Ok(self.state_of(&next));
        };
        self.load_to_move(packed)?;
        self.loaded = match self.evaluator() {
            Evaluator::Lanes(batch) => {
                batch.step(&positions);
                batch.state(0).into()
            }
            Evaluator::Changes(changes) => {
                changes.step(&positions);
                changes.state().into()
            }
            Evaluator::Once(_) => unreachable!("it cannot make moves"),
        };
        Ok(PropnetState::Packed(Arc::clone(&self.loaded)))
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        let packed = match state {
            PropnetState::Packed(packed) | PropnetState::Mixed(packed) => packed,
            PropnetState::Facts(facts) => {
                let values = self.datalog()?.goal_values(facts, role)?;
                self.terms.refresh();
                return Ok(values);
            }
        };
        self.load(packed)?;
        let goals = &self.shared.net.goals[role.index()];
        let value = |number: usize| goals[number].0;
        Ok(match self.evaluator.as_mut().expect("a state was loaded") {
            Evaluator::Lanes(batch) => batch.goal_values(0, role.index()).map(value).collect(),
            Evaluator::Changes(changes) => changes.goal_values(role.index()).map(value).collect(),
            Evaluator::Once(values) => {
                let goals = goals.iter().map(|(_, goal)| goal);
                true_ones(goals, values).map(value).collect()
            }
        })
    }

    fn percepts(
        &mut self,
        state: &Self::State,
        joint: &[Move],
        role: RoleId,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError> {
        out.clear();
        let game = self.shared.net.game.clone();
        if !game.is_hidden() {
            return Ok(());
        }
        let facts = self.facts(state);
        if self.teller.is_none() {
            let limits = self.limits.clone();
            let make = |game: &Game| PropnetMachine::new(game, limits);
            self.teller = Some(match Teller::new(&game, make) {
                Ok(teller) => Some(Box::new(teller)),
                Err(error) if self.limits.stop.is_over() => return Err(error),
                Err(_) => None,
            });
        }
        match self.teller.as_mut().expect("it was made above") {
            Some(teller) => teller.percepts(&facts, joint, role, &mut self.terms, out),
            None => {
                self.datalog()?.percepts(&facts.into(), joint, role, out)?;
                self.terms.refresh();
                Ok(())
            }
        }
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        match state {
            PropnetState::Packed(packed) | PropnetState::Mixed(packed) => {
                let facts = self.shared.net.facts.iter().enumerate();
                let facts = facts.filter(|(number, _)| holds(packed, *number));
                let mut facts: Vec<TermId> = facts.map(|(_, fact)| *fact).collect();
                facts.sort_unstable();
                facts
            }
            PropnetState::Facts(facts) => facts.to_vec(),
        }
    }

    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError> {
        let mut facts = facts.to_vec();
        facts.sort_unstable();
        facts.dedup();
        Ok(self.state_of(&facts))
    }

    fn network(&self, state: &Self::State) -> Option<(&Propnet, Packed)> {
        match state {
            PropnetState::Packed(packed) => Some((&self.shared.net, packed.to_vec())),
            PropnetState::Mixed(_) | PropnetState::Facts(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
