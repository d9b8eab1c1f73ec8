//! Moves as permutations of the values of parts.
//!
//! In: the effects of each move. Out: the parts of a position with their possible values,
//! and for each move a table of the values after and before it. The facts of a part are
//! those that depend on each other. Its possible values are those that moves reach from its
//! first value, whatever the values of the other parts.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::Puzzle;
use super::effects;
use super::move_set::effects::Effects;
use super::move_set::timed_facts::{Continuation, Timeline};
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::network::{Literal, read};
use ggp_engine::propnet::rewrite::live;

/// A puzzle whose moves permute the values of parts.
pub(super) struct Permutations {
    /// Number of bits and of words of a position's code.
    pub bits: usize,
    pub stride: usize,
    /// The moves that change anything; of equal ones the first.
    pub names: Vec<u32>,
    /// By move: the code after it; then the same for the code before it.
    pub moves: [Vec<Table>; 2],
    /// The codes of the start, then those of all solutions.
    pub ends: [Vec<u64>; 2],
    pub parts: Vec<Part>,
    /// The most moves that a play may have.
    pub last: u32,
    blocks: Vec<Block>,
}

/// By block and its old value: its new value, at its place in the word.
pub(super) type Table = Vec<u64>;

/// By part: the old value of each new one.
type Inverse = Vec<Vec<u32>>;

/// Some parts whose values are looked up together.
struct Block {
    word: usize,
    shift: usize,
    width: usize,
    /// The position of its values in a [`Table`].
    first: usize,
}

/// Facts that depend on each other.
#[derive(Default)]
pub(super) struct Part {
    facts: Vec<usize>,
    /// The possible values: by position in `facts`, whether each holds.
    pub values: Vec<Packed>,
    /// By move: the number of the next value, by the number of the old one.
    pub next: Vec<Vec<u32>>,
    /// The place of the number of its value in a code.
    word: usize,
    shift: usize,
    width: usize,
}

/// Limits on the values of a part, on the entries of all tables, and on the solutions.
const MOST_VALUES: usize = 1 << 12;
const MOST_ENTRIES: usize = 1 << 22;
const MOST_SOLUTIONS: usize = 1 << 16;
/// Limit on the nodes evaluated to find the values.
const MOST_WORK: usize = 200_000_000;
/// Bits of a block of several parts.
const BLOCK: usize = 10;

impl Permutations {
    /// None if the moves are not permutations of parts, if they are not always legal, if a
    /// part changes by itself, if there are too many values or solutions, or after [`Puzzle::stop`].
    pub fn of(puzzle: &Puzzle) -> Option<Permutations> {
        let effects = &Effects::of(puzzle)?;
        let allowed = |&legal: &Literal| legal == Literal::TRUE || legal == Literal::FALSE;
        if !effects.legal.iter().all(allowed) {
            return None;
        }
        let mut parts = parts(effects, puzzle)?;
        find_values(puzzle, effects, &mut parts)?;
        let (names, inverses) = permutations(effects, &parts)?;
        if names.is_empty() {
            return None;
        }
        let (bits, blocks) = place(&mut parts);
        let entries: usize = blocks.iter().map(|block| 1 << block.width).sum();
        if entries.saturating_mul(2 * names.len()) > MOST_ENTRIES {
            return None;
        }
        let stride = bits.div_ceil(64).max(1);
        let forward = names.iter().map(|&name| {
            let next = |part: &Part, value: usize| part.next[name as usize][value];
            table(&parts, &blocks, entries, |_, part, value| next(part, value))
        });
        let forward = forward.collect();
        let backward = inverses.iter().map(|inverse| {
            table(&parts, &blocks, entries, |number, _, value| {
                inverse[number][value]
            })
        });
        let backward = backward.collect();
        let start = vec![0; stride];
        let solutions = solutions(puzzle, &parts, stride)?;
        let timeline = Timeline::new(puzzle, effects);
        let last = match timeline.then {
            Continuation::End => (timeline.values.len() - 1) as u32,
            _ => u32::MAX,
        };
        Some(Permutations {
            bits,
            stride,
            names,
            moves: [forward, backward],
            ends: [start, solutions],
            parts,
            last,
            blocks,
        })
    }

    /// Appends the code that a table gives for a code.
    pub fn apply(&self, table: &Table, code: &[u64], out: &mut Vec<u64>) {
        let at = out.len();
        out.resize(at + self.stride, 0);
        let out = &mut out[at..];
        for block in &self.blocks {
            let value = code[block.word] >> block.shift & ((1 << block.width) - 1);
            out[block.word] |= table[block.first + value as usize];
        }
    }
}

impl Part {
    /// The number of the value in a code.
    pub fn value(&self, code: &[u64]) -> usize {
        // A part with one value may lie behind the last bit.
        match self.width {
            0 => 0,
            width => (code[self.word] >> self.shift) as usize & ((1 << width) - 1),
        }
    }
}

/// The facts that the moves change, by the facts that they depend on.
fn parts(effects: &Effects, puzzle: &Puzzle) -> Option<Vec<Part>> {
    let network = &effects.network;
    let facts = effects.relevant.len();
    let mut groups: Vec<usize> = (0..facts).collect();
    fn root(groups: &mut [usize], mut fact: usize) -> usize {
        while groups[fact] != fact {
            groups[fact] = groups[groups[fact]];
            fact = groups[fact];
        }
        fact
    }
    let mut changes = vec![false; facts];
    // By literal: the facts that it reads.
    let mut reads: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut work = 0;
    for &(fact, becomes) in effects.changes.iter().flatten() {
        changes[fact as usize] = true;
        let read = match reads.entry(becomes.node()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                work += network.len();
                if work > MOST_WORK || puzzle.stop.is_over() {
                    return None;
                }
                let live = live(network, [becomes]);
                let read = (0..facts).filter(|&fact| live[network.input(fact).node()]);
                place.insert(read.collect())
            }
        };
        for &mut read in read {
            let (one, other) = (root(&mut groups, fact as usize), root(&mut groups, read));
            groups[one] = other;
        }
    }
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    let mut parts: Vec<Part> = Vec::new();
    let members: Vec<usize> = (0..facts).map(|fact| root(&mut groups, fact)).collect();
    let mut is_changed = vec![false; facts];
    (0..facts).for_each(|fact| is_changed[members[fact]] |= changes[fact]);
    for fact in (0..facts).filter(|&fact| is_changed[members[fact]]) {
        if effects.autonomous[fact] {
            return None;
        }
        let number = *numbers.entry(members[fact]).or_insert(parts.len());
        if number == parts.len() {
            parts.push(Part::default());
        }
        parts[number].facts.push(fact);
    }
    Some(parts)
}

/// Finds the values of all parts, 64 of each at a time.
fn find_values(puzzle: &Puzzle, effects: &Effects, parts: &mut [Part]) -> Option<()> {
    let network = &effects.network;
    let moves = effects.changes.len();
    // By fact: its part, and its position there.
    let mut places = vec![None; effects.relevant.len()];
    let mut known: Vec<FxHashMap<Packed, u32>> = Vec::new();
    for (number, part) in parts.iter_mut().enumerate() {
        for (position, &fact) in part.facts.iter().enumerate() {
            places[fact] = Some((number, position));
        }
        let mut first: Packed = vec![0; part.facts.len().div_ceil(64)];
        for (position, &fact) in part.facts.iter().enumerate() {
            first[position / 64] |= u64::from(holds(&puzzle.start, fact)) << (position % 64);
        }
        known.push([(first.clone(), 0)].into_iter().collect());
        part.values.push(first);
        part.next = vec![Vec::new(); moves];
    }
    let mut work = 0;
    loop {
        // By part: the values whose next ones are not known, at most one for each lane.
        let rounds: Vec<Vec<Packed>> = (parts.iter())
            .map(|part| {
                let done = part.next.first().map_or(part.values.len(), Vec::len);
                part.values.iter().skip(done).take(64).cloned().collect()
            })
            .collect();
        if rounds.iter().all(Vec::is_empty) {
            return Some(());
        }
        work += network.len() + moves * parts.len();
        if work > MOST_WORK || puzzle.stop.is_over() {
            return None;
        }
        let mut inputs = vec![0; network.inputs()];
        for (part, round) in parts.iter().zip(&rounds) {
            for (lane, value) in round.iter().enumerate() {
                for (position, &fact) in part.facts.iter().enumerate() {
                    inputs[fact] |= u64::from(holds(value, position)) << lane;
                }
            }
        }
        let gates = network.evaluate(&inputs);
        for (chosen, changes) in effects.changes.iter().enumerate() {
            let mut nexts = rounds.clone();
            for &(fact, becomes) in changes {
                let (number, position) = places[fact as usize]?;
                let became = read(becomes, &gates);
                for (lane, next) in nexts[number].iter_mut().enumerate() {
                    next[position / 64] &= !(1 << (position % 64));
                    next[position / 64] |= (became >> lane & 1) << (position % 64);
                }
            }
            for ((part, known), nexts) in parts.iter_mut().zip(&mut known).zip(nexts) {
                for next in nexts {
                    let new = part.values.len() as u32;
                    let value = *known.entry(next).or_insert_with_key(|next| {
                        part.values.push(next.clone());
                        new
                    });
                    part.next[chosen].push(value);
                }
                if part.values.len() > MOST_VALUES {
                    return None;
                }
            }
        }
    }
}

/// The moves that change anything, without those that equal an earlier one, and by move
/// the inverse. None if values get lost.
fn permutations(effects: &Effects, parts: &[Part]) -> Option<(Vec<u32>, Vec<Inverse>)> {
    let mut seen: FxHashMap<Vec<&[u32]>, u32> = FxHashMap::default();
    let (mut names, mut inverses) = (Vec::new(), Vec::new());
    for chosen in (0..effects.changes.len()).filter(|&m| effects.legal[m] == Literal::TRUE) {
        let next: Vec<&[u32]> = parts.iter().map(|part| &part.next[chosen][..]).collect();
        let is_idle = |next: &&[u32]| next.iter().zip(0..).all(|(&next, value)| next == value);
        if next.iter().all(is_idle) || seen.contains_key(&next) {
            continue;
        }
        let mut inverse = Vec::with_capacity(parts.len());
        for next in &next {
            let mut before = vec![u32::MAX; next.len()];
            for (&next, value) in next.iter().zip(0..) {
                if std::mem::replace(&mut before[next as usize], value) != u32::MAX {
                    return None;
                }
            }
            inverse.push(before);
        }
        seen.insert(next, chosen as u32);
        names.push(chosen as u32);
        inverses.push(inverse);
    }
    Some((names, inverses))
}

/// Gives each part its place in a code. Also returns the number of bits.
fn place(parts: &mut [Part]) -> (usize, Vec<Block>) {
    let mut blocks: Vec<Block> = Vec::new();
    for part in parts {
        part.width = (u32::BITS - (part.values.len() as u32 - 1).leading_zeros()) as usize;
        match blocks.last_mut() {
            Some(block) if block.width + part.width <= BLOCK.min(64 - block.shift) => {
                (part.word, part.shift) = (block.word, block.shift + block.width);
                block.width += part.width;
            }
            last => {
                let (word, shift, first) = last.map_or((0, 0, 0), |block| {
                    let first = block.first + (1 << block.width);
                    (block.word, block.shift + block.width, first)
                });
                let (word, shift) = match shift + part.width > 64 {
                    true => (word + 1, 0),
                    false => (word, shift),
                };
                (part.word, part.shift) = (word, shift);
                let width = part.width;
                blocks.push(Block {
                    word,
                    shift,
                    width,
                    first,
                });
            }
        }
    }
    let bits = blocks
        .last()
        .map_or(0, |block| 64 * block.word + block.shift + block.width);
    (bits, blocks)
}

/// The table of a move, whose effect on a part is given by number, part and old value.
fn table(
    parts: &[Part],
    blocks: &[Block],
    entries: usize,
    next: impl Fn(usize, &Part, usize) -> u32,
) -> Table {
    let mut table = vec![0; entries];
    for block in blocks {
        let here = |part: &Part| part.word == block.word && part.shift >= block.shift;
        let inside = |part: &Part| here(part) && part.shift < block.shift + block.width.max(1);
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| inside(part)) {
            for old in 0..1usize << block.width {
                let value = old >> (part.shift - block.shift) & ((1 << part.width) - 1);
                if value < part.values.len() {
                    let next = u64::from(next(number, part, value));
                    table[block.first + old] |= next << part.shift;
                }
            }
        }
    }
    table
}

/// The codes of all positions that may be solutions. None if they are too many.
fn solutions(puzzle: &Puzzle, parts: &[Part], stride: usize) -> Option<Vec<u64>> {
    let effects = effects::Effects::of(puzzle)?;
    let mut codes = Vec::new();
    for form in &effects.solutions {
        // By fact: whether it holds, if that is known.
        let mut known: Vec<Option<bool>> =
            effects.free.iter().map(|&f| f.then_some(false)).collect();
        for &(fact, value) in &form.sure {
            known[fact as usize] = Some(value == 1);
        }
        for &(fact, _) in form.choices.iter().flatten().flatten() {
            known[fact as usize] = None;
        }
        let mut some = vec![vec![0; stride]];
        for part in parts {
            let fits = |value: &&Packed| {
                let mut facts = part.facts.iter().enumerate();
                facts.all(|(position, &fact)| {
                    known[fact].is_none_or(|known| known == holds(value, position))
                })
            };
            let fitting: Vec<u64> = (part.values.iter().zip(0..))
                .filter(|(value, _)| fits(value))
                .map(|(_, number)| number)
                .collect();
            if some.len() * fitting.len() * stride > MOST_SOLUTIONS {
                return None;
            }
            some = some
                .iter()
                .flat_map(|code| {
                    fitting.iter().map(|number| {
                        let mut code: Vec<u64> = code.clone();
                        // A part with one value may lie behind the last bit.
                        code[part.word] |= number.wrapping_shl(part.shift as u32);
                        code
                    })
                })
                .collect();
        }
        codes.extend(some.into_iter().flatten());
        if codes.len() > MOST_SOLUTIONS {
            return None;
        }
    }
    Some(codes)
}
