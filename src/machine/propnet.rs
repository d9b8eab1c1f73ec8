//! The backend that runs a game's propositional network.
//!
//! In: a [`Propnet`]. Out: the machine's answers, one state at a time, from the
//! same tapes that run many lanes. What the network does not speak of goes to a
//! Datalog machine: states that no play leads to, and moves that are never
//! legal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use super::answers::Answers;
use super::{DatalogMachine, Limits, Machine, PlayError};
use crate::game::{Game, Move, RoleId};
use crate::ground::{TermId, Terms};
use crate::propnet::code::{Code, Engine};
use crate::propnet::lanes::Rows;
use crate::propnet::network::Literal;
use crate::propnet::tape::{Place, Tape};
use crate::propnet::{GroundLimits, Propnet, TooLarge};

/// A state of a [`PropnetMachine`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PropnetState {
    /// One bit for each of [`Propnet::facts`].
    Packed(Arc<[u64]>),
    /// Facts in ascending order, of a state that the network does not speak of.
    Facts(Arc<[TermId]>),
}

/// A machine that runs the propositional network.
#[derive(Clone, Debug)]
pub struct PropnetMachine {
    shared: Arc<Shared>,
    terms: Terms,
    limits: Limits,
    /// Legal moves and end.
    status: Code,
    goals: Code,
    next: Code,
    banks: Vec<Rows>,
    /// The state in the bank of states, and whether its status is in the bank
    /// of answers.
    loaded: Option<Arc<[u64]>>,
    known: bool,
    datalog: Option<Box<DatalogMachine>>,
}

#[derive(Debug)]
struct Shared {
    net: Propnet,
    facts: FxHashMap<TermId, u32>,
    /// By role: position of each move that is ever legal.
    moves: Vec<FxHashMap<Move, u32>>,
    initial: Arc<[u64]>,
}

/// Banks of rows: the state's facts, the moves, and the answers.
const STATE: u8 = 0;
const MOVES: u8 = 1;
const ANSWERS: u8 = 2;

impl PropnetMachine {
    /// Grounds a game and makes a machine of it.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] past a limit of grounding.
    pub fn new(game: &Game, limits: Limits, ground: &GroundLimits) -> Result<Self, TooLarge> {
        let (mut net, _) = Propnet::ground(game, ground)?;
        net.simplify();
        Ok(PropnetMachine::from_network(net, limits))
    }

    /// A machine that runs a network.
    pub fn from_network(net: Propnet, limits: Limits) -> Self {
        let node = |input: usize| net.network.input(input).node();
        let facts = net.facts.len();
        let states: Vec<(usize, Place)> = (0..facts)
            .map(|fact| (node(net.fact_input(fact)), place(STATE, fact)))
            .collect();
        let moves = (facts..net.network.inputs()).map(|i| (node(i), place(MOVES, i - facts)));
        let all: Vec<(usize, Place)> = states.iter().copied().chain(moves).collect();
        let answers = |literals: &mut dyn Iterator<Item = Literal>| -> Vec<(Literal, Place)> {
            literals
                .enumerate()
                .map(|(row, literal)| (literal, place(ANSWERS, row)))
                .collect()
        };
        let legal = net.legal.iter().flatten().copied();
        let status = answers(&mut [net.terminal].into_iter().chain(legal));
        let goals = answers(&mut net.goals.iter().flatten().map(|goal| goal.1));
        let next = answers(&mut net.next.iter().copied());
        let longest = status.len().max(goals.len()).max(next.len());
        let code = |given: &[(usize, Place)], wanted: &[(Literal, Place)]| {
            Code::new(&Tape::new(&net.network, given, wanted), WORDS, Engine::Auto)
        };
        let (status, goals) = (code(&states, &status), code(&states, &goals));
        let next = code(&all, &next);
        let banks = vec![
            Rows::new(facts, WORDS),
            Rows::new(net.network.inputs() - facts, WORDS),
            Rows::new(longest, WORDS),
        ];
        let mut terms = net.game.terms().clone();
        terms.refresh();
        let numbers = net
            .facts
            .iter()
            .zip(0..)
            .map(|(fact, number)| (*fact, number));
        let legal_ever = |(moves, legal): (&Vec<Move>, &Vec<Literal>)| {
            let moves = moves.iter().zip(legal).zip(0..);
            let moves = moves.filter(|((_, legal), _)| **legal != Literal::FALSE);
            moves
                .map(|((chosen, _), number)| (*chosen, number))
                .collect()
        };
        let shared = Shared {
            facts: numbers.collect(),
            moves: net.moves.iter().zip(&net.legal).map(legal_ever).collect(),
            initial: pack(&net.initial),
            net,
        };
        PropnetMachine {
            shared: Arc::new(shared),
            terms,
            limits,
            status,
            goals,
            next,
            banks,
            loaded: None,
            known: false,
            datalog: None,
        }
    }

    /// The network.
    pub fn net(&self) -> &Propnet {
        &self.shared.net
    }

    fn load(&mut self, state: &Arc<[u64]>) -> Result<(), PlayError> {
        if self.limits.interrupt.load(Ordering::Relaxed) {
            return Err(PlayError::Interrupted);
        }
        if self.loaded.as_ref().is_some_and(|loaded| loaded == state) {
            return Ok(());
        }
        let rows = &mut self.banks[STATE as usize];
        for fact in 0..self.shared.net.facts.len() {
            rows.row_mut(fact)[0] = state[fact / 64] >> (fact % 64) & 1;
        }
        self.loaded = Some(Arc::clone(state));
        self.known = false;
        Ok(())
    }

    /// Fills the bank of answers with legal moves and end.
    fn know(&mut self, state: &Arc<[u64]>) -> Result<(), PlayError> {
        self.load(state)?;
        if !self.known {
            self.status.run(&mut self.banks);
            self.known = true;
        }
        Ok(())
    }

    fn answer(&self, row: usize) -> bool {
        self.banks[ANSWERS as usize].row(row)[0] & 1 == 1
    }

    fn datalog(&mut self) -> Result<&mut DatalogMachine, PlayError> {
        if self.datalog.is_none() {
            let game = &self.shared.net.game;
            let machine = DatalogMachine::new(game, self.limits.clone())?;
            self.datalog = Some(Box::new(machine));
        }
        Ok(self.datalog.as_mut().expect("just made"))
    }

    /// The state with these facts, ascending.
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
            true => PropnetState::Packed(pack(&holds)),
            false => PropnetState::Facts(facts.into()),
        }
    }

    /// The position of each role's move, if the network has them all.
    fn positions(&self, joint: &[Move]) -> Option<Vec<usize>> {
        let mut positions = Vec::with_capacity(joint.len());
        for (moves, chosen) in self.shared.moves.iter().zip(joint) {
            positions.push(*moves.get(chosen)? as usize);
        }
        Some(positions)
    }
}

/// Words of the rows, of which one lane is used.
const WORDS: usize = 4;

fn place(bank: u8, row: usize) -> Place {
    Place {
        bank,
        index: row as u32,
    }
}

fn pack(holds: &[bool]) -> Arc<[u64]> {
    let mut words = vec![0; holds.len().div_ceil(64)];
    for (fact, holds) in holds.iter().enumerate() {
        words[fact / 64] |= u64::from(*holds) << (fact % 64);
    }
    words.into()
}

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

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        Ok(PropnetState::Packed(Arc::clone(&self.shared.initial)))
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        match state {
            PropnetState::Packed(packed) => {
                self.know(packed)?;
                Ok(self.answer(0))
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
            PropnetState::Packed(packed) => packed,
            PropnetState::Facts(facts) => {
                self.datalog()?.legal(facts, role, out)?;
                self.terms.refresh();
                return Ok(());
            }
        };
        self.know(packed)?;
        let moves = &self.shared.net.moves;
        let first: usize = 1 + moves[..role.index()].iter().map(Vec::len).sum::<usize>();
        out.clear();
        for (number, chosen) in moves[role.index()].iter().enumerate() {
            if self.answer(first + number) {
                out.push(*chosen);
            }
        }
        if out.is_empty() && !self.answer(0) {
            return Err(self.no_legal_move(state, role));
        }
        Ok(())
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        let positions = self.positions(joint);
        let (PropnetState::Packed(packed), Some(positions)) = (state, positions) else {
            let facts = self.facts(state).into();
            let next = self.datalog()?.next(&facts, joint)?;
            self.terms.refresh();
            return Ok(self.state_of(&next));
        };
        self.load(packed)?;
        let shared = Arc::clone(&self.shared);
        let net = &shared.net;
        let rows: Vec<usize> = positions
            .iter()
            .enumerate()
            .map(|(role, &position)| net.move_input(role, position) - net.facts.len())
            .collect();
        for &row in &rows {
            self.banks[MOVES as usize].row_mut(row)[0] = 1;
        }
        self.next.run(&mut self.banks);
        self.known = false;
        for &row in &rows {
            self.banks[MOVES as usize].row_mut(row)[0] = 0;
        }
        let mut next = vec![0; net.facts.len().div_ceil(64)];
        for fact in 0..net.facts.len() {
            next[fact / 64] |= u64::from(self.answer(fact)) << (fact % 64);
        }
        Ok(PropnetState::Packed(next.into()))
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        let packed = match state {
            PropnetState::Packed(packed) => packed,
            PropnetState::Facts(facts) => {
                let values = self.datalog()?.goal_values(facts, role)?;
                self.terms.refresh();
                return Ok(values);
            }
        };
        self.load(packed)?;
        self.goals.run(&mut self.banks);
        self.known = false;
        let goals = &self.shared.net.goals;
        let first: usize = goals[..role.index()].iter().map(Vec::len).sum();
        let values = goals[role.index()].iter().enumerate();
        let due = values.filter(|(number, _)| self.answer(first + number));
        Ok(due.map(|(_, goal)| goal.0).collect())
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        match state {
            PropnetState::Packed(packed) => {
                let facts = self.shared.net.facts.iter().enumerate();
                let holds =
                    |&(number, _): &(usize, _)| packed[number / 64] >> (number % 64) & 1 == 1;
                let mut facts: Vec<TermId> = facts.filter(holds).map(|(_, fact)| *fact).collect();
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
}
