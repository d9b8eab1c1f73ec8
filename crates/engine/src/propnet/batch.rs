//! Many states of one game, each queried and changed independently.
//!
//! In: packed states, and a joint move for each. Out: legal moves, terminal states,
//! goals and successor states, for hundreds of states in the time of a few. Every
//! state here is complete, and every lane can be set to any state. Random play
//! needs less; see [`playout`](super::playout).
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
//! let game = Game::from_text("walk.kif", rules).expect("the rules are valid");
//! let (net, _) = Propnet::ground(&game, &GroundLimits::default())?;
//!
//! // A move is given by its position in `net.moves()`, here by name: go, stay.
//! let mut batch = Batch::new(&net, 64, Engine::Auto);
//! batch.step(&[0; 64]);
//! batch.step(&[vec![0; 32], vec![1; 32]].concat());
//! assert!(batch.is_terminal(31) && !batch.is_terminal(32));
//! assert!(batch.is_legal(32, 0, 0) && !batch.is_legal(31, 0, 0));
//! assert_eq!(batch.goal_values(32, 0).count(), 1);
//!
//! // All successors of a state.
//! let start = batch.initial().to_vec();
//! let children = batch.children(&start);
//! assert_eq!(children.len(), 2);
//! assert_eq!((&children[1].joint[..], &children[1].state), (&[1][..], &start));
//! # Ok::<(), ggp_engine::propnet::GroundError>(())
//! ```

mod environments;
mod uniform;

pub use environments::{
    CUT, EnvironmentOptions, Environments, IllegalAction, ONGOING, STUCK, TERMINAL, UNSCORED,
};

use super::Propnet;
use super::code::{Code, Engine};
use super::lanes::Rows;
use super::network::Literal;
use super::tape::{Place, Tape};
use ggp_stop::Stop;
#[cfg(feature = "simd")]
use multiversion::multiversion;

/// A state: bit `f % 64` of word `f / 64` is set if fact `f` of [`Propnet::facts`]
/// holds.
pub type Packed = Vec<u64>;

/// The state in which the facts marked `true` hold: one value for each of
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

/// True if a fact holds in a state.
pub fn holds(state: &[u64], fact: usize) -> bool {
    state[fact / 64] >> (fact % 64) & 1 == 1
}

/// A joint move and the state after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Child {
    /// By role: the position of its move in [`Propnet::moves`].
    pub joint: Vec<usize>,
    /// The state after it.
    pub state: Packed,
}

/// States of one game, one per lane.
///
/// All lanes begin in the initial state. A lane is a number below [`Batch::lanes`],
/// a role an index of [`Propnet::legal`], and a move an index of that role's moves.
/// In a row of bits, lane `64 * w + b` is bit `b` of word `w`.
#[derive(Clone, Debug)]
pub struct Batch {
    status: Code,
    /// Computes the terminal flag alone, if it is prepared.
    terminal: Option<Code>,
    goals: Code,
    next: Code,
    banks: [Rows; BANKS],
    /// By role: its first row among the moves; the last entry is the number of
    /// rows.
    moves: Vec<usize>,
    /// By role: its first row among the goals; the last entry is the number of
    /// rows.
    values: Vec<usize>,
    initial: Packed,
    facts: usize,
    /// The rows of moves that are set in any lane.
    played: Vec<usize>,
    /// True if the bank matches the current states.
    has_status: bool,
    has_goals: bool,
}

const STATE: u8 = 0;
const NEXT: u8 = 1;
const DOES: u8 = 2;
/// The legal moves, by the rows of [`DOES`], followed by the terminal flag.
const STATUS: u8 = 3;
const GOALS: u8 = 4;
/// Random bits, and the actions that are drawn with them. Empty unless actions are drawn.
const RANDOM: u8 = 5;
const DRAWN: u8 = 6;
const BANKS: usize = 7;

impl Batch {
    /// Allocates `lanes` lanes: 64, 256, 512 or 1024.
    ///
    /// # Panics
    ///
    /// If the engine is not [available](Engine::is_available) for that width.
    pub fn new(net: &Propnet, lanes: usize, engine: Engine) -> Batch {
        Batch::until(net, lanes, engine, &Stop::new()).expect("this stop is never raised")
    }

    /// Allocates lanes as [`Batch::new`] does; `None` if a stop comes first.
    ///
    /// # Panics
    ///
    /// As [`Batch::new`].
    pub fn until(net: &Propnet, lanes: usize, engine: Engine, stop: &Stop) -> Option<Batch> {
        assert_eq!(
            lanes % 64,
            0,
            "the number of lanes must be a multiple of 64"
        );
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
                if stop.is_over() {
                    return None;
                }
                let tape = Tape::new(network, given, &wanted);
                (!stop.is_over()).then(|| Code::new(&tape, words, engine))
            };
        let moves = starts(net.legal.iter().map(Vec::len));
        let values = starts(net.goals.iter().map(Vec::len));
        let rows = |rows: usize| Rows::new(rows, words);
        let (move_rows, value_rows) = (moves[moves.len() - 1], values[values.len() - 1]);
        let legal = net.legal.iter().flatten().copied();
        let mut batch = Batch {
            status: code(&states, STATUS, &mut legal.chain([net.terminal]))?,
            terminal: None,
            goals: code(
                &states,
                GOALS,
                &mut net.goals.iter().flatten().map(|goal| goal.1),
            )?,
            next: code(&all, NEXT, &mut net.next.iter().copied())?,
            banks: [
                rows(facts),
                rows(facts),
                rows(move_rows),
                rows(move_rows + 1),
                rows(value_rows),
                rows(0),
                rows(0),
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
        Some(batch)
    }

    /// The engine that runs the code; never [`Engine::Auto`].
    pub fn engine(&self) -> Engine {
        self.status.engine()
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.banks[0].lanes()
    }

    /// The number of roles.
    pub fn roles(&self) -> usize {
        self.moves.len() - 1
    }

    /// The number of a role's moves.
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
        self.invalidate();
    }

    /// Sets the state of a lane. For a state that the network does not cover (see
    /// [`Propnet::admits`]), the answers are unspecified.
    ///
    /// # Panics
    ///
    /// If the lane does not exist, or the state has too few words.
    pub fn set_state(&mut self, lane: usize, state: &[u64]) {
        for fact in 0..self.facts {
            self.banks[STATE as usize].set(fact, lane, holds(state, fact));
        }
        self.invalidate();
    }

    /// The state of a lane.
    pub fn state(&self, lane: usize) -> Packed {
        let rows = &self.banks[STATE as usize];
        let (words, word, bit) = (rows.words(), lane / 64, lane % 64);
        let mut state = vec![0; self.facts.div_ceil(64)];
        for (fact, row) in rows.flat().chunks_exact(words).enumerate() {
            state[fact / 64] |= (row[word] >> bit & 1) << (fact % 64);
        }
        state
    }

    /// Sets the states of the first lanes, one each. This is cheaper than one by
    /// one.
    ///
    /// # Panics
    ///
    /// If there are more states than lanes, or a state has too few words.
    pub fn set_states<S: AsRef<[u64]>>(&mut self, states: &[S]) {
        assert!(
            states.len() <= self.lanes(),
            "there must be a lane for each state"
        );
        let rows = &mut self.banks[STATE as usize];
        for (word, states) in states.chunks(64).enumerate() {
            let lanes = u64::MAX >> (64 - states.len());
            for (group, first) in (0..self.facts).step_by(64).enumerate() {
                let mut square = [0; 64];
                for (line, state) in square.iter_mut().zip(states) {
                    *line = state.as_ref()[group];
                }
                transpose(&mut square);
                for (fact, line) in (first..self.facts).zip(square) {
                    let row = &mut rows.row_mut(fact)[word];
                    *row = (*row & !lanes) | (line & lanes);
                }
            }
        }
        self.invalidate();
    }

    /// The states of the first `count` lanes.
    ///
    /// # Panics
    ///
    /// If there are fewer than `count` lanes.
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

    /// The lanes in which a fact holds.
    ///
    /// # Panics
    ///
    /// If there is no such fact.
    pub fn fact(&self, fact: usize) -> &[u64] {
        self.banks[STATE as usize].row(fact)
    }

    /// The lanes in which a role's move is legal. In terminal states, this is what
    /// the rules derive; it cannot be played.
    ///
    /// # Panics
    ///
    /// If the role or the move does not exist. The methods below panic in the same
    /// case.
    pub fn legal(&mut self, role: usize, chosen: usize) -> &[u64] {
        let row = row(&self.moves, role, chosen);
        self.status().row(row)
    }

    /// True if a role's move is legal in a lane.
    pub fn is_legal(&mut self, lane: usize, role: usize, chosen: usize) -> bool {
        let row = row(&self.moves, role, chosen);
        self.status().get(row, lane)
    }

    /// A role's legal moves in a lane, in ascending order.
    pub fn legal_moves(&mut self, lane: usize, role: usize) -> impl Iterator<Item = usize> {
        let (first, end) = (self.moves[role], self.moves[role + 1]);
        let status = self.status();
        let words = status.words();
        let rows = status.flat()[first * words..end * words].chunks_exact(words);
        let is_legal = move |row: &[u64]| row[lane / 64] >> (lane % 64) & 1 == 1;
        let legal = rows.enumerate().filter(move |(_, row)| is_legal(row));
        legal.map(|(chosen, _)| chosen)
    }

    /// Writes a role's legal moves in the first lane to the beginning of `out`, in ascending order, and returns
    /// their number: as [`Batch::legal_moves`], for those who ask about one state after another.
    ///
    /// # Panics
    ///
    /// If `out` has fewer entries than the role has moves.
    pub fn list_legal(&mut self, role: usize, out: &mut [u32]) -> usize {
        let (first, end) = (self.moves[role], self.moves[role + 1]);
        let status = self.status();
        let words = status.words();
        let flags = &status.flat()[first * words..end * words];
        let out = &mut out[..end - first];
        // Each number is written, and stays if its move is legal: no branch depends on that.
        let mut count = 0;
        for number in 0..end - first {
            out[count] = number as u32;
            count += (flags[number * words] & 1) as usize;
        }
        count
    }

    /// The numbers of a role's legal moves in the first `lanes` lanes.
    pub fn legal_counts(&mut self, role: usize, lanes: usize) -> Vec<u32> {
        let (first, end) = (self.moves[role], self.moves[role + 1]);
        let status = self.status();
        // The digits of the counts: bit by bit, those of 64 lanes in a word.
        let mut digits = vec![[0_u64; u32::BITS as usize]; lanes.div_ceil(64)];
        for row in first..end {
            for (word, digits) in status.row(row).iter().zip(&mut digits) {
                let mut carry = *word;
                for digit in digits {
                    (*digit, carry) = (*digit ^ carry, *digit & carry);
                    if carry == 0 {
                        break;
                    }
                }
            }
        }
        let used = u32::BITS - ((end - first) as u32).leading_zeros();
        let count = |lane: usize| {
            let digits = digits[lane / 64][..used as usize].iter().zip(0..);
            let bits = digits.map(|(digit, place)| (digit >> (lane % 64) & 1) << place);
            bits.sum::<u64>() as u32
        };
        (0..lanes).map(count).collect()
    }

    /// The lanes in terminal states.
    pub fn terminal(&mut self) -> &[u64] {
        let row = self.banks[DOES as usize].len();
        self.status().row(row)
    }

    /// True if a lane is in a terminal state.
    pub fn is_terminal(&mut self, lane: usize) -> bool {
        let row = self.banks[DOES as usize].len();
        self.status().get(row, lane)
    }

    /// The lanes in which a role has a goal value, given by its index in
    /// [`Propnet::goals`].
    pub fn goal(&mut self, role: usize, value: usize) -> &[u64] {
        let row = row(&self.values, role, value);
        self.goal_rows().row(row)
    }

    /// The indexes of a role's goal values in a lane, in ascending order. Correct
    /// rules give exactly one in every terminal state.
    pub fn goal_values(&mut self, lane: usize, role: usize) -> impl Iterator<Item = usize> {
        let (first, end) = (self.values[role], self.values[role + 1]);
        let goal_rows = self.goal_rows();
        let values = (first..end).filter(move |&row| goal_rows.get(row, lane));
        values.map(move |row| row - first)
    }

    /// Makes a joint move in every lane. `joints` lists the moves of lane 0 by
    /// role, then those of lane 1, and so on. In lanes without an entry no role
    /// moves, and the next state is what the rules derive from that.
    ///
    /// # Panics
    ///
    /// If there are moves for more lanes than exist, or a joint move is incomplete.
    pub fn step(&mut self, joints: &[usize]) {
        let roles = self.roles();
        assert_eq!(joints.len() % roles, 0, "every role must have a move");
        assert!(
            joints.len() <= roles * self.lanes(),
            "every joint move must have a lane"
        );
        let does = &mut self.banks[DOES as usize];
        if self.played.len() < does.len() {
            self.played.iter().for_each(|&row| does.fill(row, 0));
        } else {
            does.flat_mut().fill(0);
        }
        self.played.clear();
        for (lane, joint) in joints.chunks_exact(roles).enumerate() {
            for (role, &chosen) in joint.iter().enumerate() {
                let row = row(&self.moves, role, chosen);
                does.set(row, lane, true);
                self.played.push(row);
            }
        }
        self.next.run(&mut self.banks);
        self.banks.swap(STATE as usize, NEXT as usize);
        self.invalidate();
    }

    /// Prepares [`Batch::terminal_only`].
    pub fn prepare_terminal(&mut self, net: &Propnet) {
        let input = |fact: usize| net.network.input(net.fact_input(fact)).node();
        let given = (0..self.facts).map(|fact| (input(fact), place(STATE, fact)));
        let given: Vec<(usize, Place)> = given.collect();
        let wanted = [(net.terminal, place(STATUS, self.banks[DOES as usize].len()))];
        let tape = Tape::new(&net.network, &given, &wanted);
        let words = self.lanes() / 64;
        self.terminal = Some(Code::new(&tape, words, self.status.engine()));
    }

    /// The lanes in terminal states, without the legal moves.
    ///
    /// # Panics
    ///
    /// If it is not [prepared](Batch::prepare_terminal).
    pub fn terminal_only(&mut self) -> &[u64] {
        let row = self.banks[DOES as usize].len();
        if !self.has_status {
            let terminal = self.terminal.as_mut().expect("it is prepared");
            terminal.run(&mut self.banks);
        }
        self.banks[STATUS as usize].row(row)
    }

    /// All joint moves of legal moves in a state, in odometer order (the last role
    /// changes fastest), with the states after them. Empty if a role has no legal
    /// move. This overwrites the states of the lanes.
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

    /// Marks cached answers as outdated.
    fn invalidate(&mut self) {
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

    fn goal_rows(&mut self) -> &Rows {
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

/// The first index of each of several consecutive groups, given their lengths,
/// followed by the end of the last.
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
    assert!(row < starts[role + 1], "the role must have this entry");
    row
}

/// Transposes a bit matrix: bit `b` of word `w` is exchanged with bit `w` of word
/// `b`.
///
/// Source: Warren, Hacker's Delight (2nd edition, 2012), 7-3.
#[doc(hidden)]
// With AVX-512, the compiler's code takes three times as long.
#[cfg_attr(feature = "simd", multiversion(targets("x86_64+avx2")))]
pub fn transpose(square: &mut [u64; 64]) {
    exchange::<32>(square, 0x0000_0000_FFFF_FFFF);
    exchange::<16>(square, 0x0000_FFFF_0000_FFFF);
    exchange::<8>(square, 0x00FF_00FF_00FF_00FF);
    exchange::<4>(square, 0x0F0F_0F0F_0F0F_0F0F);
    exchange::<2>(square, 0x3333_3333_3333_3333);
    exchange::<1>(square, 0x5555_5555_5555_5555);
}

/// Exchanges the high half of the bits of each line with the low half of those of the line `WIDTH`
/// below it, in squares of twice that width; `mask` has the low halves.
#[inline(always)]
fn exchange<const WIDTH: usize>(square: &mut [u64; 64], mask: u64) {
    let mut first = 0;
    while first < 64 {
        for line in first..first + WIDTH {
            let (above, below) = (square[line], square[line + WIDTH]);
            let swap = ((above >> WIDTH) ^ below) & mask;
            square[line] = above ^ (swap << WIDTH);
            square[line + WIDTH] = below ^ swap;
        }
        first += 2 * WIDTH;
    }
}

#[cfg(test)]
pub(super) mod tests;
