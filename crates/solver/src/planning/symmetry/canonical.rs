//! Canonical representatives of states under symmetry.
//!
//! In: codes of states, hundreds at a time. Out: the least code among the images of
//! each. With many symmetries only some images are compared. Equivalent states may
//! then get different codes, but inequivalent states never get the same one.

use super::{Symmetries, Symmetry};
use crate::planning::expand::Layout;
use crate::planning::{Plan, Puzzle};
use ggp_engine::propnet::batch::transpose;
use ggp_engine::propnet::code::{Code, Engine};
use ggp_engine::propnet::lanes::Rows;
use ggp_engine::propnet::network::{Builder, Literal};
use ggp_engine::propnet::tape::{Place, Tape};

/// Computes canonical codes.
#[derive(Clone, Debug)]
pub struct Canonical {
    code: Code,
    banks: [Rows; 2],
    key_bits: usize,
    stride: usize,
    is_exact: bool,
}

/// Limit on the gates for all images and comparisons.
const MOST_GATES: usize = 60_000;

impl Canonical {
    /// Compiles the computation for `lanes` states at a time: 64, 256, 512 or 1024.
    /// None if no symmetry changes a key.
    ///
    /// # Panics
    ///
    /// If the engine is not [available](Engine::is_available) for `lanes` lanes.
    pub fn new(
        puzzle: &Puzzle,
        layout: &Layout,
        symmetries: &Symmetries,
        lanes: usize,
        engine: Engine,
    ) -> Option<Canonical> {
        let bits = layout.key_bits();
        let in_key = layout.key_facts();
        // Bits outside the key are equal for all states of a level and must stay
        // fixed.
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
            // The last differing bit decides the comparison. The recurrence is the
            // majority of the two bits (one negated) and the result for the bits
            // before.
            let mut less = Literal::FALSE;
            for (&one, &other) in image.iter().zip(&least) {
                let both = builder.and(&[!one, other]);
                let either = builder.or(&[!one, other]);
                let earlier = builder.and(&[either, less]);
                less = builder.or(&[both, earlier]);
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

    /// True if equivalent states always get the same code.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Replaces codes by canonical ones. Bits outside the key are unchanged.
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

    /// Replaces the key bits of codes, 64 codes at a time: `with` maps a word that
    /// holds one bit of each code to its new value.
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

/// Translates a plan over canonical states to a plan over real states.
///
/// `start` is the code of the first real state. Each step is a move made in a
/// canonical state and the code that the move led to before that code was made
/// canonical.
pub fn lift(
    layout: &Layout,
    symmetries: &Symmetries,
    canonical: &mut Canonical,
    start: &[u64],
    steps: &[(u32, Vec<u64>)],
) -> Plan {
    let mut back = canonicalizing(layout, symmetries, canonical, start).inverse();
    let mut plan = Plan::with_capacity(steps.len());
    for (chosen, reached) in steps {
        plan.push(back.moves[*chosen as usize]);
        let there = canonicalizing(layout, symmetries, canonical, reached);
        back = there.inverse().then(&back);
    }
    plan
}

/// The symmetry that maps a code to its canonical code.
fn canonicalizing<'s>(
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
