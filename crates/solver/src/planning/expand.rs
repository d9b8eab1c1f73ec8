//! Expansion of hundreds of states at once.
//!
//! In: states as codes of a [`Layout`]. Out: their children, by parent and move,
//! and which states are solved or terminal. Each query is one tape that runs over
//! all lanes. For successors, each pair of a state and a legal joint move has a lane
//! of its own.

pub mod layout;
#[cfg(feature = "tables")]
pub(super) mod scorer;
pub(super) mod states;
mod table;

use crate::planning::Puzzle;
use ggp_engine::propnet::batch::transpose;
use ggp_engine::propnet::code::{Code, Engine};
use ggp_engine::propnet::lanes::Rows;
use ggp_engine::propnet::network::{Literal, Network};
use ggp_engine::propnet::tape::{Place, Tape};
pub use layout::{Facts, Layout};

/// Computes the children of states.
#[derive(Clone, Debug)]
pub struct Expander {
    legal: Code,
    ends: Code,
    next: Code,
    banks: [Rows; BANKS],
    stride: usize,
    bits: usize,
    moves: usize,
    /// By role: the number of its first move; the last entry is the number of all.
    roles: Vec<usize>,
    /// By lane: its legal moves as a bit set.
    chosen: Vec<u64>,
    /// By role: its legal moves in a state.
    legal_moves: Vec<Vec<u32>>,
}

/// The children of some states, in the order of their parents and then of the
/// joint moves, in which the move of the first role changes fastest.
#[derive(Clone, Debug, Default)]
pub struct Children {
    /// The codes of the children, one after the other.
    pub states: Vec<u64>,
    /// By child: the position of its parent.
    pub parents: Vec<u32>,
    /// By child: the move of each role that leads to it, as a number among those of all roles.
    pub moves: Vec<u32>,
    /// By parent: the position of its first child; the last entry is the number of
    /// children.
    pub starts: Vec<u32>,
    /// Number of parents that are not terminal.
    pub open: u64,
    /// With several roles, by parent and role: number of legal moves.
    pub choices: Vec<u32>,
}

/// The most joint moves of a state with several roles; a state with more counts as one without
/// children.
pub const MOST_JOINT_MOVES: usize = 1 << 16;

/// The terminal and the solved states, as bit sets.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// States that are solved.
    pub solved: Vec<u64>,
    /// States that are terminal, including all solved ones.
    pub over: Vec<u64>,
}

impl Ends {
    /// The position of the first solved state.
    pub fn first_solved(&self) -> Option<usize> {
        let word = self.solved.iter().position(|&word| word != 0)?;
        Some(64 * word + self.solved[word].trailing_zeros() as usize)
    }
}

/// The number of lanes of most searches. Code for them is made once.
pub(super) const USUAL_LANES: usize = 512;

const STATE: u8 = 0;
const NEXT: u8 = 1;
const DOES: u8 = 2;
/// One row per move, then one for terminal.
const LEGAL: u8 = 3;
/// Two rows: solved, then terminal.
const ENDS: u8 = 4;
const BANKS: usize = 5;

impl Expander {
    /// Compiles the queries for `lanes` states at a time: 64, 256, 512 or 1024. None after
    /// [`Puzzle::stop`].
    ///
    /// # Panics
    ///
    /// If the engine is not [available](Engine::is_available) for `lanes` lanes.
    pub fn new(puzzle: &Puzzle, layout: &Layout, lanes: usize, engine: Engine) -> Option<Expander> {
        let make = || Expander::make(puzzle, layout, lanes, engine);
        match (lanes, engine) {
            (USUAL_LANES, Engine::Auto) => {
                let known = &puzzle.known.expanders[layout.scope() as usize];
                known.get(&puzzle.stop, make)
            }
            _ => make(),
        }
    }

    fn make(puzzle: &Puzzle, layout: &Layout, lanes: usize, engine: Engine) -> Option<Expander> {
        let words = lanes / 64;
        let coded = layout.network(puzzle);
        let (bits, moves) = (layout.bits(), puzzle.moves());
        let code = |with_moves: usize, bank: u8, wanted: &[Literal]| {
            if puzzle.stop.is_over() {
                return None;
            }
            let tape = tape(&coded.network, bits, with_moves, bank, wanted);
            (!puzzle.stop.is_over()).then(|| Code::new(&tape, words, engine))
        };
        let mut legal = coded.legal.clone();
        legal.push(coded.terminal);
        let rows = |rows: usize| Rows::new(rows, words);
        Some(Expander {
            legal: code(0, LEGAL, &legal)?,
            ends: code(0, ENDS, &[coded.solved, coded.terminal])?,
            next: code(moves, NEXT, &coded.next)?,
            banks: [
                rows(bits),
                rows(bits),
                rows(moves),
                rows(moves + 1),
                rows(2),
            ],
            stride: layout.words(),
            bits,
            moves,
            legal_moves: vec![Vec::new(); puzzle.net.moves().len()],
            roles: puzzle.first_moves(),
            chosen: Vec::new(),
        })
    }

    /// Number of states that are expanded at once.
    pub fn lanes(&self) -> usize {
        self.banks[0].lanes()
    }

    /// Number of words of a state's code.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Replaces `out` by the children of `states`.
    pub fn expand(&mut self, states: &[u64], out: &mut Children) {
        out.clear();
        let (stride, moves) = (self.stride, self.moves.div_ceil(64));
        for (number, chunk) in states.chunks(self.lanes() * self.stride).enumerate() {
            let first = number * self.lanes();
            let count = chunk.len() / self.stride;
            load(
                &mut self.banks[STATE as usize],
                self.bits,
                count,
                |lane, word| chunk[lane * stride + word],
            );
            self.legal.run(&mut self.banks);
            let legal = &self.banks[LEGAL as usize];
            self.chosen.resize(self.lanes() * moves.max(1), 0);
            columns(legal, self.moves, count, moves.max(1), &mut self.chosen);
            let over = legal.row(self.moves);
            let over = (0..count).filter(|lane| over[lane / 64] >> (lane % 64) & 1 == 1);
            out.open += (count - over.count()) as u64;
            for (lane, chosen) in self.chosen.chunks(moves.max(1)).take(count).enumerate() {
                out.starts.push(out.parents.len() as u32);
                let parent = (first + lane) as u32;
                if self.roles.len() > 2 {
                    let legal = &mut self.legal_moves;
                    by_role(chosen, &self.roles, legal);
                    out.add_joint_moves(parent, legal);
                    continue;
                }
                each_bit(chosen, |chosen| {
                    out.parents.push(parent);
                    out.moves.push(chosen);
                });
            }
        }
        out.starts.push(out.parents.len() as u32);
        self.step_all(states, out);
    }

    /// Replaces `out` by the terminal and solved states among `states`.
    pub fn ends(&mut self, states: &[u64], out: &mut Ends) {
        out.solved.clear();
        out.over.clear();
        let stride = self.stride;
        for chunk in states.chunks(self.lanes() * self.stride) {
            let count = chunk.len() / self.stride;
            load(
                &mut self.banks[STATE as usize],
                self.bits,
                count,
                |lane, word| chunk[lane * stride + word],
            );
            self.ends.run(&mut self.banks);
            let words = count.div_ceil(64);
            let mask = u64::MAX >> ((64 - count % 64) % 64);
            for (row, bits) in [&mut out.solved, &mut out.over].into_iter().enumerate() {
                bits.extend(&self.banks[ENDS as usize].row(row)[..words]);
                if let Some(last) = bits.last_mut() {
                    *last &= mask;
                }
            }
        }
    }

    fn step_all(&mut self, states: &[u64], out: &mut Children) {
        let (lanes, stride, roles) = (self.lanes(), self.stride, self.legal_moves.len());
        out.states.resize(out.parents.len() * stride, 0);
        let parents = (out.parents.chunks(lanes)).zip(out.moves.chunks(lanes * roles));
        for ((parents, moves), children) in parents.zip(out.states.chunks_mut(lanes * stride)) {
            load(
                &mut self.banks[STATE as usize],
                self.bits,
                parents.len(),
                |lane, word| states[parents[lane] as usize * stride + word],
            );
            let does = &mut self.banks[DOES as usize];
            does.flat_mut().fill(0);
            for (lane, joint) in moves.chunks_exact(roles).enumerate() {
                for &chosen in joint {
                    does.row_mut(chosen as usize)[lane / 64] |= 1 << (lane % 64);
                }
            }
            self.next.run(&mut self.banks);
            let next = &self.banks[NEXT as usize];
            columns(next, self.bits, parents.len(), stride, children);
        }
    }
}

impl Children {
    /// Number of children.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// True if there are no children.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Memory used, in bytes.
    pub fn memory(&self) -> u64 {
        let numbers = self.parents.capacity() + self.moves.capacity() + self.starts.capacity();
        (8 * self.states.capacity() + 4 * (numbers + self.choices.capacity())) as u64
    }

    /// Adds the joint moves of a parent whose roles have these legal moves.
    fn add_joint_moves(&mut self, parent: u32, legal: &[Vec<u32>]) {
        let count = legal.iter().map(Vec::len).fold(1, usize::saturating_mul);
        self.choices
            .extend(legal.iter().map(|moves| moves.len() as u32));
        if count > MOST_JOINT_MOVES {
            return;
        }
        for joint in 0..count {
            self.parents.push(parent);
            let mut rest = joint;
            for moves in legal {
                self.moves.push(moves[rest % moves.len()]);
                rest /= moves.len();
            }
        }
    }

    fn clear(&mut self) {
        self.states.clear();
        self.parents.clear();
        self.moves.clear();
        self.starts.clear();
        self.open = 0;
        self.choices.clear();
    }
}

/// Calls `see` with the position of each bit that is set.
fn each_bit(words: &[u64], mut see: impl FnMut(u32)) {
    for (&word, group) in words.iter().zip(0..) {
        let mut word = word;
        while word != 0 {
            see(64 * group + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

/// Distributes moves, given as a bit set, to the roles; `firsts` has the first move of each.
fn by_role(chosen: &[u64], firsts: &[usize], legal: &mut [Vec<u32>]) {
    legal.iter_mut().for_each(Vec::clear);
    let mut role = 0;
    each_bit(chosen, |chosen| {
        while chosen as usize >= firsts[role + 1] {
            role += 1;
        }
        legal[role].push(chosen);
    });
}

/// Loads the first `bits` bits of `count` states into the first lanes; `word_of` gives each word
/// by lane and position.
fn load(rows: &mut Rows, bits: usize, count: usize, word_of: impl Fn(usize, usize) -> u64) {
    for word in 0..count.div_ceil(64) {
        let lanes = 64.min(count - 64 * word);
        for first in (0..bits).step_by(64) {
            let mut square = [0; 64];
            for (line, value) in square.iter_mut().take(lanes).enumerate() {
                *value = word_of(64 * word + line, first / 64);
            }
            transpose(&mut square);
            for (bit, line) in (first..bits).zip(square) {
                rows.row_mut(bit)[word] = line;
            }
        }
    }
}

/// Transposes `bits` rows: `out` receives `stride` words for each of the first
/// `count` lanes.
fn columns(rows: &Rows, bits: usize, count: usize, stride: usize, out: &mut [u64]) {
    for (word, out) in out
        .chunks_mut(64 * stride)
        .take(count.div_ceil(64))
        .enumerate()
    {
        for first in (0..bits).step_by(64) {
            let mut square = [0; 64];
            for (bit, line) in (first..bits).zip(&mut square) {
                *line = rows.row(bit)[word];
            }
            transpose(&mut square);
            for (lane, line) in out.chunks_mut(stride).zip(square) {
                lane[first / 64] = line;
            }
        }
    }
}

/// The tape that computes the rows of `bank` from the bits of a code and the chosen
/// moves.
fn tape(network: &Network, bits: usize, moves: usize, bank: u8, wanted: &[Literal]) -> Tape {
    let place = |bank, index: usize| Place {
        bank,
        index: index as u32,
    };
    let states = (0..bits).map(|bit| (network.input(bit).node(), place(STATE, bit)));
    let does = (0..moves).map(|row| (network.input(bits + row).node(), place(DOES, row)));
    let given: Vec<(usize, Place)> = states.chain(does).collect();
    let wanted: Vec<(Literal, Place)> = wanted
        .iter()
        .enumerate()
        .map(|(row, &literal)| (literal, place(bank, row)))
        .collect();
    Tape::new(network, &given, &wanted)
}
