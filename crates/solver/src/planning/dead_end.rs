//! Detection of dead ends by delete relaxation.
//!
//! In: states as codes. Out: the states from which no solution can be reached for
//! certain. Under delete relaxation, facts keep every value they ever had, and all
//! legal moves are made at once in each round. What is unreachable under relaxation
//! is unreachable in the game. Each literal has two bits, for whether it can be
//! true and whether it can be false, so that a round is one tape over all lanes.
//!
//! Source: delete relaxation, as in Hoffmann and Nebel, The FF planning system
//! (2001), with both values of a fact kept.

use super::Puzzle;
use super::expand::{Layout, USUAL_LANES};
use ggp_engine::propnet::batch::transpose;
use ggp_engine::propnet::code::{Code, Engine};
use ggp_engine::propnet::lanes::Rows;
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::live;
use ggp_engine::propnet::tape::{Place, Tape};

/// A detector of dead ends.
#[derive(Clone, Debug)]
pub struct DeadEnds {
    first: Code,
    round: Code,
    banks: [Rows; BANKS],
    stride: usize,
    bits: usize,
    facts: usize,
}

const STATE: u8 = 0;
/// By fact: whether it can be true; then, by fact, whether it can be false.
const CAN: u8 = 1;
/// The rows of [`CAN`] one round later; then one row for whether there can be a
/// solution.
const LATER: u8 = 2;
const BANKS: usize = 3;

/// Number of rounds after which undecided states are assumed to be solvable.
const ROUNDS: usize = 64;
/// Limit on the gates of a puzzle.
const MOST_GATES: usize = 40_000;

impl DeadEnds {
    /// Compiles the detector for `lanes` states at a time: 64, 256, 512 or 1024.
    /// None if the puzzle is too large, or after [`Puzzle::stop`].
    ///
    /// # Panics
    ///
    /// If the engine is not [available](Engine::is_available) for `lanes` lanes.
    pub fn new(puzzle: &Puzzle, layout: &Layout, lanes: usize, engine: Engine) -> Option<DeadEnds> {
        let make = || DeadEnds::make(puzzle, layout, lanes, engine);
        match (lanes, engine) {
            (USUAL_LANES, Engine::Auto) => {
                let known = &puzzle.known.dead_ends[layout.scope() as usize];
                known.get(&puzzle.stop, make)
            }
            _ => make(),
        }
    }

    fn make(puzzle: &Puzzle, layout: &Layout, lanes: usize, engine: Engine) -> Option<DeadEnds> {
        let net = &puzzle.net;
        if net.network().gates() > MOST_GATES {
            return None;
        }
        let words = lanes / 64;
        let facts = net.facts().len();
        let (bits, stride) = (layout.bits(), layout.words());
        let code = |network: &Network, bank, wanted: &[Literal]| {
            let place = |bank, index: usize| Place {
                bank,
                index: index as u32,
            };
            let from = bank - 1;
            let given =
                (0..network.inputs()).map(|row| (network.input(row).node(), place(from, row)));
            let given: Vec<_> = given.collect();
            let wanted = wanted.iter().enumerate();
            let wanted: Vec<_> = wanted.map(|(row, &one)| (one, place(bank, row))).collect();
            let tape = Tape::new(network, &given, &wanted);
            (!puzzle.stop.is_over()).then(|| Code::new(&tape, words, engine))
        };
        let mut builder = Builder::new(bits);
        let mut first = layout.facts(&mut builder);
        first.extend_from_within(..);
        first[facts..].iter_mut().for_each(|can| *can = !*can);
        let first = code(&builder.into_network(), CAN, &first)?;

        let mut builder = Builder::new(2 * facts);
        let later = later(puzzle, &mut builder);
        let round = code(&builder.into_network(), LATER, &later)?;
        let rows = |rows| Rows::new(rows, words);
        Some(DeadEnds {
            first,
            round,
            banks: [rows(bits), rows(2 * facts), rows(2 * facts + 1)],
            stride,
            bits,
            facts,
        })
    }

    /// Replaces `out` by the set of dead ends among `states`, as bits.
    pub fn dead_ends(&mut self, states: &[u64], out: &mut Vec<u64>) {
        out.clear();
        let lanes = self.banks[0].lanes();
        for chunk in states.chunks(lanes * self.stride) {
            let count = chunk.len() / self.stride;
            self.load(chunk);
            self.first.run(&mut self.banks);
            let rows = 2 * self.facts;
            let used = count.div_ceil(64);
            let mut is_settled = false;
            for _ in 0..ROUNDS {
                self.round.run(&mut self.banks);
                let [_, can, later] = &mut self.banks;
                is_settled = true;
                for row in 0..rows {
                    let (can, later) = (can.row_mut(row), later.row(row));
                    if can[..used] != later[..used] {
                        is_settled = false;
                        can[..used].copy_from_slice(&later[..used]);
                    }
                }
                if is_settled {
                    break;
                }
            }
            let mask = u64::MAX >> ((64 - count % 64) % 64);
            let solved = &self.banks[LATER as usize].row(rows)[..used];
            let dead_ends = |&word: &u64| if is_settled { !word } else { 0 };
            out.extend(solved.iter().map(dead_ends));
            if let Some(last) = out.last_mut() {
                *last &= mask;
            }
        }
    }

    fn load(&mut self, states: &[u64]) {
        for (word, codes) in states.chunks(64 * self.stride).enumerate() {
            for first in (0..self.bits).step_by(64) {
                let mut square = [0; 64];
                for (line, code) in square.iter_mut().zip(codes.chunks(self.stride)) {
                    *line = code[first / 64];
                }
                transpose(&mut square);
                for (bit, line) in (first..self.bits).zip(square) {
                    self.banks[STATE as usize].row_mut(bit)[word] = line;
                }
            }
        }
    }
}

/// By fact: whether it can be true one round later; then, by fact, whether it can
/// be false; last, whether the current facts allow a solution.
fn later(puzzle: &Puzzle, builder: &mut Builder) -> Vec<Literal> {
    let net = &puzzle.net;
    let network = net.network();
    let facts = net.facts().len();
    let mut roots = net.roots();
    roots.push(puzzle.solved);
    let live = live(network, roots);
    // By node: whether it can be true, and whether it can be false.
    let mut can = vec![[Literal::FALSE, Literal::TRUE]; network.len()];
    let of = |can: &[[Literal; 2]], literal: Literal| {
        let [is, is_not] = can[literal.node()];
        match literal.is_negated() {
            true => [is_not, is],
            false => [is, is_not],
        }
    };
    for fact in 0..facts {
        can[network.input(fact).node()] = [builder.input(fact), builder.input(facts + fact)];
    }
    // The first pass covers what moves need, the second what needs moves; a gate
    // may be built in both.
    for with_moves in [false, true] {
        for node in (0..network.len()).filter(|&node| live[node]) {
            can[node] = match network.node(node) {
                Node::False => continue,
                Node::Input(input) if input < facts => continue,
                Node::Input(input) if with_moves => {
                    let [legal, _] = of(&can, net.legal()[0][input - facts]);
                    [legal, Literal::TRUE]
                }
                Node::Input(_) | Node::Feedback(_) => [Literal::TRUE; 2],
                Node::And(operands) => {
                    let each = operands.iter().map(|&one| of(&can, one));
                    let (all, any): (Vec<_>, Vec<_>) = each.map(|[is, not]| (is, not)).unzip();
                    [builder.and(&all), builder.or(&any)]
                }
                Node::Xor(a, b) => {
                    let ([a, not_a], [b, not_b]) = (of(&can, a), of(&can, b));
                    let pair = |builder: &mut Builder, [a, b, c, d]: [Literal; 4]| {
                        let (one, other) = (builder.and(&[a, b]), builder.and(&[c, d]));
                        builder.or(&[one, other])
                    };
                    let differ = pair(builder, [a, not_b, not_a, b]);
                    [differ, pair(builder, [a, b, not_a, not_b])]
                }
            };
        }
    }
    let mut later = Vec::with_capacity(2 * facts + 1);
    for value in [0, 1] {
        for (fact, &next) in net.next().iter().enumerate() {
            let now = can[network.input(fact).node()][value];
            later.push(builder.or(&[now, of(&can, next)[value]]));
        }
    }
    later.push(of(&can, puzzle.solved)[0]);
    later
}
