//! One state for all that are the same but for a renaming.
//!
//! In: codes of states, hundreds at a time. Out: of each the least code among its
//! images. With many symmetries only some images are looked at: then states that
//! are the same may remain different, but never the other way round.

use super::{Symmetries, Symmetry};
use crate::planning::expand::Layout;
use crate::planning::{Plan, Puzzle};
use ggp_engine::propnet::batch::transpose;
use ggp_engine::propnet::code::{Code, Engine};
use ggp_engine::propnet::lanes::Rows;
use ggp_engine::propnet::network::{Builder, Literal};
use ggp_engine::propnet::tape::{Place, Tape};

/// Gives canonical codes.
#[derive(Clone, Debug)]
pub struct Canonical {
    code: Code,
    banks: [Rows; 2],
    key_bits: usize,
    stride: usize,
    is_exact: bool,
}

/// Gates of all images and comparisons.
const MOST_GATES: usize = 60_000;

impl Canonical {
    /// Makes code for so many lanes: 64, 256, 512 or 1024. None if no symmetry
    /// changes a key.
    ///
    /// # Panics
    ///
    /// If the engine is not [available](Engine::is_available) for so many.
    pub fn new(
        puzzle: &Puzzle,
        layout: &Layout,
        symmetries: &Symmetries,
        lanes: usize,
        engine: Engine,
    ) -> Option<Canonical> {
        let bits = layout.key_bits();
        let in_key = layout.in_key();
        // What is beside the key is the same for all states of a level, and
        // remains.
        let within = |facts: &[u32]| {
            let mut moved = facts.iter().enumerate();
            moved.all(|(fact, &to)| fact as u32 == to || in_key[fact] && in_key[to as usize])
        };
        let generators = &symmetries.generators;
        if generators.is_empty() || !generators.iter().all(|one| within(&one.facts)) {
            return None;
        }
        let mut builder = Builder::new(layout.bits());
        let mut least: Vec<Literal> = (0..bits).map(|bit| builder.input(bit)).collect();
        let mut is_exact = symmetries.order().is_some();
        for element in &symmetries.elements()[1..] {
            if builder.network().gates() > MOST_GATES {
                is_exact = false;
                break;
            }
            let mut from = vec![0; puzzle.net.facts().len()];
            for (fact, &to) in element.facts.iter().enumerate() {
                from[to as usize] = fact as u32;
            }
            let image = layout.image(&from, &mut builder);
            // The last bit that differs tells which is less: a majority of the
            // two and of what the bits before have told.
            let mut less = Literal::FALSE;
            for (&one, &other) in image.iter().zip(&least) {
                let both = builder.and(&[!one, other]);
                let either = builder.or(&[!one, other]);
                let told = builder.and(&[either, less]);
                less = builder.or(&[both, told]);
            }
            for (least, &one) in least.iter_mut().zip(&image) {
                *least = builder.choose(less, one, *least);
            }
        }
        let place = |bank, index: usize| Place {
            bank,
            index: index as u32,
        };
        let network = builder.into_network();
        let given: Vec<_> = (0..bits)
            .map(|bit| (network.input(bit).node(), place(0, bit)))
            .collect();
        let wanted = least.iter().enumerate();
        let wanted: Vec<_> = wanted.map(|(bit, &least)| (least, place(1, bit))).collect();
        let words = lanes / 64;
        Some(Canonical {
            code: Code::new(&Tape::new(&network, &given, &wanted), words, engine),
            banks: [Rows::new(bits, words), Rows::new(bits, words)],
            key_bits: bits,
            stride: layout.words(),
            is_exact,
        })
    }

    /// Whether states that are the same always get the same code.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Replaces codes by canonical ones. What is beside the key stays.
    pub fn reduce(&mut self, codes: &mut [u64]) {
        let lanes = self.banks[0].lanes();
        for chunk in codes.chunks_mut(lanes * self.stride) {
            self.exchange(chunk, |rows, code, lane, bit| {
                rows[0].row_mut(bit)[lane] = code;
                code
            });
            self.code.run(&mut self.banks);
            self.exchange(chunk, |rows, _, lane, bit| rows[1].row(bit)[lane]);
        }
    }

    /// Goes through the key bits of codes, 64 codes at a time: `with` gets a bit
    /// of each and gives what it is to be.
    fn exchange(
        &mut self,
        codes: &mut [u64],
        mut with: impl FnMut(&mut [Rows; 2], u64, usize, usize) -> u64,
    ) {
        let stride = self.stride;
        for (word, codes) in codes.chunks_mut(64 * stride).enumerate() {
            for first in (0..self.key_bits).step_by(64) {
                let mut square = [0; 64];
                for (line, code) in square.iter_mut().zip(codes.chunks(stride)) {
                    *line = code[first / 64];
                }
                transpose(&mut square);
                for (bit, line) in (first..self.key_bits).zip(&mut square) {
                    *line = with(&mut self.banks, *line, word, bit);
                }
                transpose(&mut square);
                for (line, code) in square.iter().zip(codes.chunks_mut(stride)) {
                    code[first / 64] = *line;
                }
            }
        }
    }
}

/// The moves of a plan along real states. `start` is the code of the first;
/// `steps` are the moves made in canonical states, the first of them that of
/// `start`, and the codes that these led to, as they were before they were made
/// canonical.
pub fn lift(
    layout: &Layout,
    symmetries: &Symmetries,
    canonical: &mut Canonical,
    start: &[u64],
    steps: &[(u32, Vec<u64>)],
) -> Plan {
    let mut back = renaming(layout, symmetries, canonical, start).inverse();
    let mut plan = Plan::with_capacity(steps.len());
    for (chosen, reached) in steps {
        plan.push(back.moves[*chosen as usize]);
        let there = renaming(layout, symmetries, canonical, reached);
        back = there.inverse().then(&back);
    }
    plan
}

/// The symmetry that makes a code canonical.
fn renaming<'s>(
    layout: &Layout,
    symmetries: &'s Symmetries,
    canonical: &mut Canonical,
    code: &[u64],
) -> &'s Symmetry {
    let mut least = code.to_vec();
    canonical.reduce(&mut least);
    let mut state = Vec::new();
    layout.decode(code, &mut state);
    let key = |code: &[u64]| -> Vec<u64> {
        let left = layout.key_bits();
        let mask = |word: usize| match left.saturating_sub(64 * word) {
            64.. => u64::MAX,
            bits => !(u64::MAX << bits),
        };
        let words = code.iter().enumerate();
        words.map(|(word, &value)| value & mask(word)).collect()
    };
    let least = key(&least);
    let mut elements = symmetries.elements().iter();
    elements
        .find(|element| key(&layout.encode(&element.image(&state))) == least)
        .expect("the least code is that of an image")
}
