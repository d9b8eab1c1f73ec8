//! Many states of one game, each asked and changed at its own will.
//!
//! In: packed states, and a joint move for each. Out: legal moves, ends, goals,
//! and the states that follow, hundreds in the time of a few. Here a state is
//! complete, and every lane goes where it is told to; random play, which needs
//! less, is the business of [`playout`](super::playout).
//!
//! ```
//! use ggp_gdl::game::Game;
//! use ggp_engine::propnet::batch::Batch;
//! use ggp_engine::propnet::code::Engine;
//! use ggp_engine::propnet::{GroundLimits, Propnet};
//!
//! let rules = "
//!     (role robot)
//!     (init (at 0)) (after 0 1) (after 1 2)
//!     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (legal robot stay) (true (at ?x)))
//!     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
//!     (<= terminal (true (at 2)))
//!     (<= (goal robot 100) (true (at 2)))
//!     (<= (goal robot 0) (not (true (at 2))))";
//! let game = Game::from_text("walk.kif", rules).expect("the rules are right");
//! let (net, _) = Propnet::ground(&game, &GroundLimits::default())?;
//!
//! // Moves come as their positions in `net.moves`, by name here: go, stay.
//! let mut batch = Batch::new(&net, 64, Engine::Auto);
//! batch.step(&[0; 64]);
//! batch.step(&[vec![0; 32], vec![1; 32]].concat());
//! assert!(batch.is_terminal(31) && !batch.is_terminal(32));
//! assert!(batch.is_legal(32, 0, 0) && !batch.is_legal(31, 0, 0));
//! assert_eq!(batch.goal_values(32, 0).count(), 1);
//!
//! // All that can follow a state.
//! let start = batch.initial().to_vec();
//! let children = batch.children(&start);
//! assert_eq!(children.len(), 2);
//! assert_eq!((&children[1].joint[..], &children[1].state), (&[1][..], &start));
//! # Ok::<(), ggp_engine::propnet::TooLarge>(())
//! ```

use super::Propnet;
use super::code::{Code, Engine};
use super::lanes::Rows;
use super::network::Literal;
use super::tape::{Place, Tape};

/// A state: bit `f % 64` of word `f / 64` says whether fact `f` of
/// [`Propnet::facts`] holds.
pub type Packed = Vec<u64>;

/// The state in which these facts hold, one value for each of
/// [`Propnet::facts`].
pub fn pack(holds: impl IntoIterator<Item = bool>) -> Packed {
    let mut state = Packed::new();
    for (fact, holds) in holds.into_iter().enumerate() {
        if fact.is_multiple_of(64) {
            state.push(0);
        }
        state[fact / 64] |= u64::from(holds) << (fact % 64);
    }
    state
}

/// Whether a fact holds in a state.
pub fn holds(state: &[u64], fact: usize) -> bool {
    state[fact / 64] >> (fact % 64) & 1 == 1
}

/// A joint move, and what it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Child {
    /// By role: the position of its move in [`Propnet::moves`].
    pub joint: Vec<usize>,
    /// The state after it.
    pub state: Packed,
}

/// States of one game, one a lane.
///
/// All lanes begin in the initial state. A lane is a number below
/// [`Batch::lanes`], a role a position among [`Propnet::legal`], and a move a
/// position among the role's. Where lanes are rows of bits, lane `64 * w + b` is
/// bit `b` of word `w`.
#[derive(Clone, Debug)]
pub struct Batch {
    status: Code,
    goals: Code,
    next: Code,
    banks: [Rows; BANKS],
    /// By role: its first row among the moves; one more at the end.
    moves: Vec<usize>,
    /// By role: its first row among the goals; one more at the end.
    values: Vec<usize>,
    initial: Packed,
    facts: usize,
    /// The rows of moves that are set in some lane.
    played: Vec<usize>,
    /// Whether the answers are those to the states.
    has_status: bool,
    has_goals: bool,
}

const STATE: u8 = 0;
const NEXT: u8 = 1;
const DOES: u8 = 2;
/// The moves that are legal, by the rows of [`DOES`]; then whether it is the end.
const STATUS: u8 = 3;
const GOALS: u8 = 4;
const BANKS: usize = 5;

impl Batch {
    /// Makes room for so many lanes: 64, 256, 512 or 1024.
    ///
    /// # Panics
    ///
    /// If the engine is not [available](Engine::is_available) for so many.
    pub fn new(net: &Propnet, lanes: usize, engine: Engine) -> Batch {
        assert_eq!(lanes % 64, 0, "lanes come by 64");
        let words = lanes / 64;
        let network = &net.network;
        let facts = net.facts.len();
        let input = |number: usize| network.input(number).node();
        let states: Vec<(usize, Place)> = (0..facts)
            .map(|fact| (input(net.fact_input(fact)), place(STATE, fact)))
            .collect();
        let does =
            (facts..network.inputs()).map(|number| (input(number), place(DOES, number - facts)));
        let all: Vec<(usize, Place)> = states.iter().copied().chain(does).collect();
        let code =
            |given: &[(usize, Place)], bank: u8, wanted: &mut dyn Iterator<Item = Literal>| {
                let wanted: Vec<(Literal, Place)> = wanted
                    .enumerate()
                    .map(|(row, literal)| (literal, place(bank, row)))
                    .collect();
                Code::new(&Tape::new(network, given, &wanted), words, engine)
            };
        let moves = starts(net.legal.iter().map(Vec::len));
        let values = starts(net.goals.iter().map(Vec::len));
        let rows = |rows: usize| Rows::new(rows, words);
        let (move_rows, value_rows) = (moves[moves.len() - 1], values[values.len() - 1]);
        let legal = net.legal.iter().flatten().copied();
        let mut batch = Batch {
            status: code(&states, STATUS, &mut legal.chain([net.terminal])),
            goals: code(
                &states,
                GOALS,
                &mut net.goals.iter().flatten().map(|goal| goal.1),
            ),
            next: code(&all, NEXT, &mut net.next.iter().copied()),
            banks: [
                rows(facts),
                rows(facts),
                rows(move_rows),
                rows(move_rows + 1),
                rows(value_rows),
            ],
            moves,
            values,
            initial: pack(net.initial.iter().copied()),
            facts,
            played: Vec::new(),
            has_status: false,
            has_goals: false,
        };
        batch.restart();
        batch
    }

    /// How it runs; never [`Engine::Auto`].
    pub fn engine(&self) -> Engine {
        self.status.engine()
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.banks[0].lanes()
    }

    /// Number of roles.
    pub fn roles(&self) -> usize {
        self.moves.len() - 1
    }

    /// Number of a role's moves.
    pub fn moves(&self, role: usize) -> usize {
        self.moves[role + 1] - self.moves[role]
    }

    /// The initial state.
    pub fn initial(&self) -> &[u64] {
        &self.initial
    }

    /// Puts all lanes into the initial state.
    pub fn restart(&mut self) {
        for fact in 0..self.facts {
            let word = if holds(&self.initial, fact) {
                u64::MAX
            } else {
                0
            };
            self.banks[STATE as usize].fill(fact, word);
        }
        self.forget();
    }

    /// Puts a lane into a state. What the answers are to a state that the
    /// network does not speak of (see [`Propnet::admits`]) is not said.
    ///
    /// # Panics
    ///
    /// If there is no such lane, or the state has too few words.
    pub fn set_state(&mut self, lane: usize, state: &[u64]) {
        for fact in 0..self.facts {
            self.banks[STATE as usize].set(fact, lane, holds(state, fact));
        }
        self.forget();
    }

    /// The state of a lane.
    pub fn state(&self, lane: usize) -> Packed {
        let rows = &self.banks[STATE as usize];
        pack((0..self.facts).map(|fact| rows.get(fact, lane)))
    }

    /// Puts the first lanes into these states, one each: cheaper than one by
    /// one.
    ///
    /// # Panics
    ///
    /// If there are more states than lanes, or one has too few words.
    pub fn set_states(&mut self, states: &[Packed]) {
        assert!(
            states.len() <= self.lanes(),
            "there is a lane for each state"
        );
        let rows = &mut self.banks[STATE as usize];
        for (word, states) in states.chunks(64).enumerate() {
            let lanes = u64::MAX >> (64 - states.len());
            for (group, first) in (0..self.facts).step_by(64).enumerate() {
                let mut square = [0; 64];
                for (line, state) in square.iter_mut().zip(states) {
                    *line = state[group];
                }
                transpose(&mut square);
                for (fact, line) in (first..self.facts).zip(square) {
                    let row = &mut rows.row_mut(fact)[word];
                    *row = (*row & !lanes) | (line & lanes);
                }
            }
        }
        self.forget();
    }

    /// The states of the first `count` lanes.
    ///
    /// # Panics
    ///
    /// If there are fewer lanes.
    pub fn states(&self, count: usize) -> Vec<Packed> {
        let mut states = vec![vec![0; self.facts.div_ceil(64)]; count];
        let rows = &self.banks[STATE as usize];
        for (word, states) in states.chunks_mut(64).enumerate() {
            for (group, first) in (0..self.facts).step_by(64).enumerate() {
                let mut square = [0; 64];
                for (fact, line) in (first..self.facts).zip(&mut square) {
                    *line = rows.row(fact)[word];
                }
                transpose(&mut square);
                for (state, line) in states.iter_mut().zip(square) {
                    state[group] = line;
                }
            }
        }
        states
    }

    /// The lanes in which a role's move is legal. At the end of a game that is
    /// what the rules say there, which is nothing to play by.
    ///
    /// # Panics
    ///
    /// If there is no such role or move; so too below.
    pub fn legal(&mut self, role: usize, chosen: usize) -> &[u64] {
        let row = row(&self.moves, role, chosen);
        self.status().row(row)
    }

    /// Whether a role's move is legal in a lane.
    pub fn is_legal(&mut self, lane: usize, role: usize, chosen: usize) -> bool {
        let row = row(&self.moves, role, chosen);
        self.status().get(row, lane)
    }

    /// A role's legal moves in a lane, ascending.
    pub fn legal_moves(&mut self, lane: usize, role: usize) -> impl Iterator<Item = usize> {
        let (first, end) = (self.moves[role], self.moves[role + 1]);
        let status = self.status();
        let legal = (first..end).filter(move |&row| status.get(row, lane));
        legal.map(move |row| row - first)
    }

    /// The lanes whose game is over.
    pub fn terminal(&mut self) -> &[u64] {
        let row = self.banks[DOES as usize].len();
        self.status().row(row)
    }

    /// Whether a lane's game is over.
    pub fn is_terminal(&mut self, lane: usize) -> bool {
        let row = self.banks[DOES as usize].len();
        self.status().get(row, lane)
    }

    /// The lanes in which a role has a goal value, by its position among
    /// [`Propnet::goals`].
    pub fn goal(&mut self, role: usize, value: usize) -> &[u64] {
        let row = row(&self.values, role, value);
        self.due().row(row)
    }

    /// The goal values that a role has in a lane, by position, ascending. Right
    /// rules give one in every state where the game is over.
    pub fn goal_values(&mut self, lane: usize, role: usize) -> impl Iterator<Item = usize> {
        let (first, end) = (self.values[role], self.values[role + 1]);
        let due = self.due();
        let values = (first..end).filter(move |&row| due.get(row, lane));
        values.map(move |row| row - first)
    }

    /// Plays a joint move in every lane: those of lane 0 by role, then those of
    /// lane 1, and so on. Lanes that are left out make no move at all, and
    /// become what the rules say then.
    ///
    /// # Panics
    ///
    /// If there are moves for more lanes than there are, or not for all roles of
    /// one.
    pub fn step(&mut self, joints: &[usize]) {
        let roles = self.roles();
        assert_eq!(joints.len() % roles, 0, "every role has a move");
        assert!(
            joints.len() <= roles * self.lanes(),
            "every joint move has a lane"
        );
        let does = &mut self.banks[DOES as usize];
        for row in self.played.drain(..) {
            does.fill(row, 0);
        }
        for (lane, joint) in joints.chunks_exact(roles).enumerate() {
            for (role, &chosen) in joint.iter().enumerate() {
                let row = row(&self.moves, role, chosen);
                does.set(row, lane, true);
                self.played.push(row);
            }
        }
        self.next.run(&mut self.banks);
        self.banks.swap(STATE as usize, NEXT as usize);
        self.forget();
    }

    /// All joint moves of legal moves in a state, the last role's changing
    /// fastest, and the states after them. Nothing if a role has no legal move.
    /// The lanes are used for it, and are in some states afterwards.
    pub fn children(&mut self, state: &[u64]) -> Vec<Child> {
        self.set_state(0, state);
        let roles = self.roles();
        let legal: Vec<Vec<usize>> = (0..roles)
            .map(|role| self.legal_moves(0, role).collect())
            .collect();
        let mut joints: Vec<Vec<usize>> = vec![Vec::new()];
        for legal in &legal {
            joints = (joints.iter())
                .flat_map(|joint| {
                    legal
                        .iter()
                        .map(move |&chosen| [joint, &[chosen][..]].concat())
                })
                .collect();
        }
        let mut children = Vec::with_capacity(joints.len());
        for joints in joints.chunks(self.lanes()) {
            for fact in 0..self.facts {
                let word = if holds(state, fact) { u64::MAX } else { 0 };
                self.banks[STATE as usize].fill(fact, word);
            }
            self.step(&joints.concat());
            let states = self.states(joints.len());
            let pairs = joints.iter().cloned().zip(states);
            children.extend(pairs.map(|(joint, state)| Child { joint, state }));
        }
        children
    }

    /// The states are others now.
    fn forget(&mut self) {
        self.has_status = false;
        self.has_goals = false;
    }

    fn status(&mut self) -> &Rows {
        if !self.has_status {
            self.status.run(&mut self.banks);
            self.has_status = true;
        }
        &self.banks[STATUS as usize]
    }

    fn due(&mut self) -> &Rows {
        if !self.has_goals {
            self.goals.run(&mut self.banks);
            self.has_goals = true;
        }
        &self.banks[GOALS as usize]
    }
}

fn place(bank: u8, row: usize) -> Place {
    Place {
        bank,
        index: row as u32,
    }
}

/// Where groups of such lengths begin, one after the other, and where they end.
pub(super) fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    starts
}

/// The row of a role's move or goal value.
pub(super) fn row(starts: &[usize], role: usize, index: usize) -> usize {
    let row = starts[role] + index;
    assert!(row < starts[role + 1], "the role has it");
    row
}

/// Makes lines columns: bit `b` of word `w` changes places with bit `w` of word
/// `b`.
///
/// Source: Warren, Hacker's Delight (2nd edition, 2012), 7-3.
#[doc(hidden)]
pub fn transpose(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width > 0 {
        for line in (0..64).filter(|line| line & width == 0) {
            let (low, high) = (square[line], square[line + width]);
            let swap = ((low >> width) ^ high) & mask;
            square[line] = low ^ (swap << width);
            square[line + width] = high ^ swap;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
pub(super) mod tests;
