//! Compact encoding of a puzzle's states.
//!
//! In: a puzzle. Out: a [`Layout`] that maps facts to the bits of a code. Facts
//! that are equal to other facts, and facts that nothing depends on, are left out.
//! Of a group of mutually exclusive facts only the index of the one that holds is
//! stored. Harmless counters come last, so that the leading bits are a key; see
//! [`analysis`](ggp_gdl::analysis).

mod image;

use crate::planning::Puzzle;
use ggp_engine::propnet::Propnet;
#[cfg(feature = "tables")]
use ggp_engine::propnet::batch::transpose;
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_gdl::analysis::{Stripping, counters};
use ggp_search::KeyMeaning;

/// The assignment of facts to the bits of a code.
#[derive(Clone, Debug)]
pub struct Layout {
    fields: Vec<Field>,
    /// Facts without bits of their own, each with the literal that it equals.
    equal: Vec<(usize, Literal)>,
    facts: usize,
    bits: usize,
    key_bits: usize,
    meaning: KeyMeaning,
    /// Whether keys leave out facts that change.
    is_partial: bool,
    scope: Facts,
}

/// Some bits, and the facts that they encode.
#[derive(Clone, Debug)]
struct Field {
    facts: Vec<usize>,
    /// The number that encodes the first of the facts; smaller numbers mean that
    /// none of them holds.
    first: usize,
    at: usize,
    width: usize,
}

/// The facts that a code represents.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Facts {
    /// All facts; those that nothing depends on are not part of the key.
    All,
    /// The facts that legal moves, ends and solutions depend on, now or later.
    Relevant,
    /// All facts, and all of them are part of the key.
    Each,
}

impl Layout {
    /// Assigns bits to the facts of a puzzle. After [`Puzzle::stop`] they may be more than
    /// needed.
    pub fn new(puzzle: &Puzzle, facts: Facts) -> Layout {
        let known = &puzzle.known.layouts[facts as usize];
        let make = || Some(Layout::make(puzzle, facts));
        let known = known.get(&puzzle.stop, make);
        known.unwrap_or_else(|| Layout::make(puzzle, facts))
    }

    fn make(puzzle: &Puzzle, facts: Facts) -> Layout {
        let net = &puzzle.net;
        let none = vec![false; net.facts().len()];
        let (relevant, (counters, meaning)) = match facts {
            Facts::Each => (vec![true; none.len()], (none, KeyMeaning::SameFuture)),
            _ => (relevant(puzzle), harmless(puzzle)),
        };
        let mut layout = Layout {
            fields: Vec::new(),
            equal: net.assumed().to_vec(),
            facts: net.facts().len(),
            bits: 0,
            key_bits: 0,
            meaning: KeyMeaning::SameFuture,
            is_partial: false,
            scope: facts,
        };
        let mut open: Vec<bool> = vec![true; layout.facts];
        for &(fact, _) in net.assumed() {
            open[fact] = false;
        }
        let wanted = |part: &dyn Fn(usize) -> bool| -> Vec<bool> {
            (0..open.len())
                .map(|fact| open[fact] && part(fact))
                .collect()
        };
        layout.is_partial =
            (0..open.len()).any(|fact| open[fact] && (!relevant[fact] || counters[fact]));
        layout.add(net, wanted(&|fact| relevant[fact] && !counters[fact]));
        layout.key_bits = layout.bits;
        layout.add(net, wanted(&|fact| relevant[fact] && counters[fact]));
        if layout.bits > layout.key_bits {
            layout.meaning = meaning;
        }
        if facts == Facts::All {
            layout.add(net, wanted(&|fact| !relevant[fact]));
        }
        layout
    }

    /// Number of bits of a code.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The facts that a code represents.
    pub fn scope(&self) -> Facts {
        self.scope
    }

    /// Number of leading bits that are the key.
    pub fn key_bits(&self) -> usize {
        self.key_bits
    }

    /// By fact: whether the key represents it.
    pub fn key_facts(&self) -> Vec<bool> {
        let mut facts = vec![false; self.facts];
        for field in self.fields.iter().filter(|field| field.at < self.key_bits) {
            field.facts.iter().for_each(|&fact| facts[fact] = true);
        }
        facts
    }

    /// Whether keys leave out facts that change.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// The meaning of equal keys; never only a hint.
    pub fn meaning(&self) -> KeyMeaning {
        self.meaning
    }

    /// Number of words of a code.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64).max(1)
    }

    /// The code of a state.
    pub fn encode(&self, state: &[u64]) -> Packed {
        let mut code = vec![0; self.words()];
        for field in &self.fields {
            let holding = field.facts.iter().position(|&fact| holds(state, fact));
            let number = holding.map_or(0, |position| field.first + position);
            for bit in 0..field.width {
                let at = field.at + bit;
                code[at / 64] |= (number as u64 >> bit & 1) << (at % 64);
            }
        }
        code
    }

    /// Replaces `state` by the state of a code. Facts that the code does not
    /// represent are false.
    pub fn decode(&self, code: &[u64], state: &mut Packed) {
        state.clear();
        state.resize(self.facts.div_ceil(64), 0);
        for field in &self.fields {
            let (word, shift) = (field.at / 64, field.at % 64);
            let mut number = code[word] >> shift;
            if shift + field.width > 64 {
                number |= code[word + 1] << (64 - shift);
            }
            let number = (number & !(u64::MAX << field.width)) as usize;
            if let Some(&fact) = number
                .checked_sub(field.first)
                .and_then(|position| field.facts.get(position))
            {
                state[fact / 64] |= 1 << (fact % 64);
            }
        }
        for &(fact, equal) in &self.equal {
            // The inputs follow node 0, and the facts are the first inputs.
            let value = equal.node() > 0 && holds(state, equal.node() - 1);
            if value != equal.is_negated() {
                state[fact / 64] |= 1 << (fact % 64);
            }
        }
    }

    /// Replaces `states` by the states of at most 64 codes, as [`Layout::decode`] does for one.
    #[cfg(feature = "tables")]
    pub(crate) fn decode_64(&self, codes: &[u64], states: &mut Vec<u64>) {
        let (stride, words) = (self.words(), self.facts.div_ceil(64));
        let count = codes.len() / stride;
        // By bit, and then by fact: a bit for each code.
        let mut bits = vec![0; 64 * stride];
        for (word, bits) in bits.as_chunks_mut().0.iter_mut().enumerate() {
            for (lane, bits) in bits.iter_mut().take(count).enumerate() {
                *bits = codes[lane * stride + word];
            }
            transpose(bits);
        }
        let mut facts = vec![0; 64 * words];
        for field in &self.fields {
            let bits = &bits[field.at..field.at + field.width];
            for (number, &fact) in (field.first..).zip(&field.facts) {
                let all = bits.iter().enumerate().fold(u64::MAX, |all, (bit, lanes)| {
                    let is_one = number >> bit & 1 == 1;
                    all & if is_one { *lanes } else { !lanes }
                });
                facts[fact] = all;
            }
        }
        for &(fact, equal) in &self.equal {
            // The inputs follow node 0, and the facts are the first inputs.
            let value = equal.node().checked_sub(1).map_or(0, |other| facts[other]);
            facts[fact] = if equal.is_negated() { !value } else { value };
        }
        states.clear();
        states.resize(count * words, 0);
        for (word, facts) in facts.as_chunks_mut().0.iter_mut().enumerate() {
            transpose(facts);
            for (lane, &facts) in facts.iter().take(count).enumerate() {
                states[lane * words + word] = facts;
            }
        }
    }

    /// Assigns bits to the facts that are wanted.
    fn add(&mut self, net: &Propnet, mut wanted: Vec<bool>) {
        let mut groups: Vec<(usize, Field)> = Vec::new();
        loop {
            groups.clear();
            for group in net.exclusive() {
                let facts = group.facts.iter().copied();
                let facts: Vec<usize> = facts.filter(|&fact| wanted[fact]).collect();
                let is_exact = group.exact && facts.len() == group.facts.len();
                let first = usize::from(!is_exact);
                let width = width(facts.len() + first);
                if width < facts.len() {
                    let saved = facts.len() - width;
                    let field = Field {
                        facts,
                        first,
                        at: self.bits,
                        width,
                    };
                    groups.push((saved, field));
                }
            }
            // Of several groups that save the same number of bits, the first is
            // taken.
            let best = groups
                .drain(..)
                .reduce(|a, b| if b.0 > a.0 { b } else { a });
            let Some((_, field)) = best else { break };
            field.facts.iter().for_each(|&fact| wanted[fact] = false);
            self.bits += field.width;
            self.fields.push(field);
        }
        for fact in (0..wanted.len()).filter(|&fact| wanted[fact]) {
            self.fields.push(Field {
                facts: vec![fact],
                first: 1,
                at: self.bits,
                width: 1,
            });
            self.bits += 1;
        }
    }

    /// The puzzle on codes: the inputs are the bits of a code, then the moves.
    pub(super) fn network(&self, puzzle: &Puzzle) -> Coded {
        let net = &puzzle.net;
        let moves = puzzle.moves();
        let mut builder = Builder::new(self.bits + moves);
        let mut inputs = vec![Literal::FALSE; net.network().inputs()];
        for field in &self.fields {
            for (position, &fact) in field.facts.iter().enumerate() {
                let number = field.first + position;
                let bits: Vec<Literal> = (0..field.width)
                    .map(|bit| {
                        builder
                            .input(field.at + bit)
                            .negated_if(number >> bit & 1 == 0)
                    })
                    .collect();
                inputs[fact] = builder.and(&bits);
            }
        }
        for &(fact, equal) in &self.equal {
            let value = match net.network().node(equal.node()) {
                Node::Input(other) => inputs[other],
                _ => Literal::FALSE,
            };
            inputs[fact] = value.negated_if(equal.is_negated());
        }
        for number in 0..moves {
            // The moves of all roles follow each other.
            inputs[net.move_input(0, 0) + number] = builder.input(self.bits + number);
        }
        let mut roots = net.roots();
        roots.push(puzzle.solved);
        let live = live(net.network(), roots);
        let became = copy(net.network(), &live, &inputs, &mut builder);
        let of = |literal: Literal| became[literal.node()].negated_if(literal.is_negated());
        let mut next = Vec::with_capacity(self.bits);
        for field in &self.fields {
            for bit in 0..field.width {
                let set = field.facts.iter().enumerate();
                let set = set.filter(|(position, _)| (field.first + position) >> bit & 1 == 1);
                let set: Vec<Literal> = set.map(|(_, &fact)| of(net.next()[fact])).collect();
                next.push(builder.or(&set));
            }
        }
        let terminal = of(net.terminal());
        let legal = net.legal().iter().flatten();
        #[cfg(feature = "tables")]
        let goals = net.goals().iter();
        Coded {
            #[cfg(feature = "tables")]
            goals: goals
                .map(|goals| goals.iter().map(|&(_, due)| of(due)).collect())
                .collect(),
            legal: legal
                .map(|&legal| builder.and(&[of(legal), !terminal]))
                .collect(),
            solved: of(puzzle.solved),
            terminal,
            next,
            network: builder.into_network(),
        }
    }
}

/// A puzzle on codes.
pub(super) struct Coded {
    pub network: Network,
    /// By move, first those of the first role: whether it is legal and the state is not terminal.
    pub legal: Vec<Literal>,
    pub solved: Literal,
    pub terminal: Literal,
    /// By role and goal value: whether it is due.
    #[cfg(feature = "tables")]
    pub goals: Vec<Vec<Literal>>,
    /// By bit of the successor's code.
    pub next: Vec<Literal>,
}

/// Number of bits that represent `numbers` values.
fn width(numbers: usize) -> usize {
    (usize::BITS - numbers.saturating_sub(1).leading_zeros()) as usize
}

/// By fact: whether legal moves, ends or solutions depend on it, now or later.
fn relevant(puzzle: &Puzzle) -> Vec<bool> {
    let net = &puzzle.net;
    let mut roots: Vec<Literal> = net.legal()[0].clone();
    roots.extend([net.terminal(), puzzle.solved]);
    let mut relevant = vec![false; net.facts().len()];
    loop {
        if puzzle.stop.is_over() {
            return vec![true; relevant.len()];
        }
        let live = live(net.network(), roots.iter().copied());
        let before = roots.len();
        for (fact, relevant) in relevant.iter_mut().enumerate() {
            if live[net.network().input(net.fact_input(fact)).node()] && !*relevant {
                *relevant = true;
                roots.push(net.next()[fact]);
            }
        }
        if roots.len() == before {
            return relevant;
        }
    }
}

/// By fact: whether it belongs to a harmless counter. Also returns what equality of
/// keys without these counters implies.
fn harmless(puzzle: &Puzzle) -> (Vec<bool>, KeyMeaning) {
    let net = &puzzle.net;
    let terms = net.terms();
    let mut stripped = vec![false; net.game().functors().len()];
    let mut meaning = KeyMeaning::SameFuture;
    for counter in counters(net.game(), puzzle.target, &puzzle.stop) {
        if !counter.stripping.is_harmless() {
            continue;
        }
        if counter.stripping == Stripping::EndsOnly {
            meaning = KeyMeaning::EarlierIsBetter;
        }
        for functor in &counter.functors {
            stripped[functor.index()] = true;
        }
    }
    let facts = net.facts().iter();
    let facts = facts.map(|&fact| stripped[terms.functor(fact).index()]);
    (facts.collect(), meaning)
}
