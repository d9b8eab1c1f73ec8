//! Incremental evaluation of one state: only changed gates are evaluated.
//!
//! In: a network without cycles, states and joint moves. Out: legal moves, terminal
//! states, goals and next states. If a move changes little of a large network, this
//! takes a fraction of a pass over its tape. If it changes much, or the network is
//! small, the tape ([`batch`]) is faster.
//!
//! Each gate counts the operands that keep it from being true. A gate whose value
//! may have changed waits in the queue of its level until all lower levels are up
//! to date, so it is evaluated once. Gates that only the next state needs, and
//! gates that only goals need, have levels of their own after those of legal moves
//! and the terminal condition; they are evaluated on request.
//!
//! Source: selective trace in level order, as in Ulrich, Exclusive Simulation of
//! Activity in Digital Networks (1969); counters in place of operands, as in the
//! general game player Sancho.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Propnet;
use super::batch::{self, Packed, holds, pack};
use super::network::{Literal, Network, Node, read};

/// One state of a game, initially the initial state.
///
/// Roles, moves and goal values are given by index, as in
/// [`Batch`](super::batch::Batch).
#[derive(Clone, Debug)]
pub struct Differential {
    wiring: Arc<Wiring>,
    gates: Vec<Gate>,
    /// The waiting gates. Each level has its own range.
    waiting: Vec<u32>,
    /// By level: the number of waiting gates.
    counts: Vec<u32>,
    /// Levels below this one have no waiting gates.
    lowest: usize,
    answers: Vec<u64>,
    state: Packed,
    /// The inputs of the last joint move, which are still set.
    played: Vec<usize>,
    /// The work done, measured in operands notified of a change.
    work: u64,
}

/// The part that is the same in all states. Nodes that no answer needs are left
/// out. The others are numbered by level, inputs first.
#[derive(Debug)]
struct Wiring {
    /// By node: the start of its readers and answers; the last entry is the end.
    starts: Vec<Start>,
    readers: Vec<Reader>,
    /// The answers that change with a node: next facts, then moves, the terminal
    /// condition and goal values.
    answers: Vec<u32>,
    /// By level: its first node.
    levels: Vec<u32>,
    /// By [`Stage`]: the level at which it ends.
    ends: [usize; STAGES],
    /// By input: its node, if anything depends on it.
    inputs: Vec<Option<u32>>,
    initial: Packed,
    facts: usize,
    /// By role: its first move, and its first goal value; the last entry is the
    /// end.
    moves: Vec<usize>,
    values: Vec<usize>,
    /// The number of two-input gates for legal moves, the terminal condition and
    /// the next state.
    size: usize,
}

#[derive(Copy, Clone, Debug)]
struct Start {
    readers: u32,
    answers: u32,
}

/// A gate that reads a node: four times its number, plus two for an "xor", plus one
/// if it reads the negation.
#[derive(Copy, Clone, Default, Debug)]
struct Reader(u32);

/// A gate or an input. It is small, since gates are visited in random order.
#[derive(Copy, Clone, Debug)]
struct Gate {
    /// For an "and", the number of false operands. For an "xor", [`PARITY`] if the
    /// operands are equal. The gate is true if this is 0.
    unmet: u32,
    level: u16,
    value: bool,
    is_waiting: bool,
}

const PARITY: u32 = 1 << 31;

/// The amounts added to [`Gate::unmet`], by the last two bits of the [`Reader`],
/// the last of which is flipped if the node became true.
const CHANGES: [u32; 4] = [1, u32::MAX, PARITY, PARITY];

/// The cost of changing a gate, measured in operands notified.
const CHANGE: u64 = 4;

/// Groups of gates that are evaluated together, each after the previous ones.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    /// Legal moves and the terminal condition.
    Status,
    Next,
    Goals,
}

const STAGES: usize = 3;

impl Differential {
    /// The initial state; `None` if the network has cycles, or more levels than 16
    /// bits can count.
    pub fn new(net: &Propnet) -> Option<Differential> {
        let network = &net.network;
        if !network.regions().is_empty() {
            return None;
        }
        let (stages, levels) = (stages(net), levels(network));
        let is_gate = |node: usize| !network.reads(node).is_empty();
        let key = |node: usize| is_gate(node).then_some((stages[node], levels[node]));
        let is_needed = |node: &usize| stages[*node].is_some();
        // Inputs, then the stages, each by level.
        let depth = 1 + levels.iter().max().copied().unwrap_or(0);
        let group = |node: usize| {
            key(node).map_or(0, |(stage, level)| {
                1 + stage.map_or(0, |stage| stage as u32) * depth + level
            })
        };
        let needed = (1..network.len()).filter(is_needed);
        let groups = 1 + STAGES * depth as usize;
        let (_, order) = grouped(groups, || needed.clone().map(|node| (group(node), node)));
        let mut place = vec![None; network.len()];
        for (new, &old) in (0..).zip(&order) {
            place[old] = Some(new);
        }

        let mut inputs = vec![0; network.inputs()];
        for (fact, &holds) in net.initial.iter().enumerate() {
            inputs[net.fact_input(fact)] = u64::from(holds);
        }
        let values = network.evaluate(&inputs);
        let value = |literal: Literal| read(literal, &values) & 1 == 1;
        let mut gates: Vec<Gate> = Vec::with_capacity(order.len());
        let mut levels = Vec::new();
        let mut ends = [0; STAGES];
        let mut size = 0;
        let mut readers = Vec::new();
        for (new, &old) in order.iter().enumerate() {
            if new == 0 || key(order[new - 1]) != key(old) {
                levels.push(new as u32);
            }
            if let (true, Some(stage)) = (is_gate(old), stages[old]) {
                ends[stage as usize..].fill(levels.len());
                if stage != Stage::Goals {
                    size += network.reads(old).len() - 1;
                }
            }
            let mut is_xor = false;
            let unmet = match network.node(old) {
                Node::Xor(a, b) => {
                    is_xor = true;
                    if value(a) == value(b) { PARITY } else { 0 }
                }
                _ => (network.reads(old).iter()).fold(0, |sum, &l| sum + u32::from(!value(l))),
            };
            for operand in network.reads(old) {
                let of = place[operand.node()].expect("operands of needed gates are needed");
                readers.push((of, Reader::new(new, is_xor, operand.is_negated())));
            }
            gates.push(Gate {
                unmet,
                level: u16::try_from(levels.len() - 1).ok()?,
                value: value(Literal::of(old)),
                is_waiting: false,
            });
        }

        let all_answers: Vec<Literal> = all_answers(net).map(|(literal, _)| literal).collect();
        let node = |literal: &Literal| place[literal.node()];
        let answers = (0..).zip(&all_answers);
        let answers: Vec<(u32, u32)> = answers
            .filter_map(|(answer, literal)| Some((node(literal)?, answer)))
            .collect();
        let (reader_starts, readers) = grouped(order.len(), || readers.iter().copied());
        let (answer_starts, answers) = grouped(order.len(), || answers.iter().copied());
        let starts = reader_starts.into_iter().zip(answer_starts);
        let wiring = Wiring {
            starts: starts
                .map(|(readers, answers)| Start { readers, answers })
                .collect(),
            readers,
            answers,
            levels,
            ends,
            inputs: (0..network.inputs())
                .map(|i| place[network.input(i).node()])
                .collect(),
            initial: pack(net.initial.iter().copied()),
            facts: net.facts.len(),
            moves: batch::starts(net.legal.iter().map(Vec::len)),
            values: batch::starts(net.goals.iter().map(Vec::len)),
            size,
        };
        Some(Differential {
            waiting: vec![0; gates.len()],
            counts: vec![0; wiring.levels.len()],
            lowest: wiring.levels.len(),
            answers: pack(all_answers.iter().map(|&literal| value(literal))),
            state: wiring.initial.clone(),
            played: Vec::new(),
            work: 0,
            gates,
            wiring: Arc::new(wiring),
        })
    }

    /// The initial state.
    pub fn initial(&self) -> &[u64] {
        &self.wiring.initial
    }

    /// The current state.
    pub fn state(&self) -> &[u64] {
        &self.state
    }

    /// Sets the state. For a state that the network does not cover (see
    /// [`Propnet::admits`]), the answers are unspecified.
    ///
    /// # Panics
    ///
    /// If the state has the wrong number of words.
    pub fn set_state(&mut self, state: &[u64]) {
        assert_eq!(
            state.len(),
            self.state.len(),
            "the state must have the right length"
        );
        for (number, &word) in state.iter().enumerate() {
            let old = std::mem::replace(&mut self.state[number], word);
            for bit in ones(old ^ word) {
                self.set_input(64 * number + bit, word >> bit & 1 == 1);
            }
        }
    }

    /// True if the game is over.
    pub fn is_terminal(&mut self) -> bool {
        self.evaluate(Stage::Status);
        let wiring = &self.wiring;
        holds(&self.answers, wiring.facts + wiring.move_count())
    }

    /// A role's legal moves, in ascending order.
    ///
    /// # Panics
    ///
    /// If the role does not exist. The methods below panic in the same case.
    pub fn legal_moves(&mut self, role: usize) -> impl Iterator<Item = usize> {
        self.evaluate(Stage::Status);
        let wiring = &*self.wiring;
        let (first, end) = (wiring.moves[role], wiring.moves[role + 1]);
        true_answers(&self.answers, wiring.facts + first, end - first)
    }

    /// The indexes of a role's goal values, in ascending order.
    pub fn goal_values(&mut self, role: usize) -> impl Iterator<Item = usize> {
        self.evaluate(Stage::Goals);
        let wiring = &*self.wiring;
        let (first, end) = (wiring.values[role], wiring.values[role + 1]);
        true_answers(
            &self.answers,
            wiring.facts + wiring.move_count() + 1 + first,
            end - first,
        )
    }

    /// Makes a joint move, given by role.
    ///
    /// # Panics
    ///
    /// If the joint move does not have one move per role.
    pub fn step(&mut self, joint: &[usize]) {
        let wiring = Arc::clone(&self.wiring);
        assert_eq!(
            joint.len(),
            wiring.moves.len() - 1,
            "every role must have a move"
        );
        let mut played = std::mem::take(&mut self.played);
        for input in played.drain(..) {
            self.set_input(input, false);
        }
        for (role, &chosen) in joint.iter().enumerate() {
            let input = wiring.facts + batch::row(&wiring.moves, role, chosen);
            self.set_input(input, true);
            played.push(input);
        }
        self.played = played;
        self.evaluate(Stage::Next);
        let mut next: Packed = self.answers[..self.state.len()].to_vec();
        if let (Some(last), 1..) = (next.last_mut(), wiring.facts % 64) {
            *last &= u64::MAX >> (64 - wiring.facts % 64);
        }
        self.set_state(&next);
    }

    /// The number of two-input gates for legal moves, the terminal condition and
    /// the next state: the work of a joint move if all gates are evaluated.
    pub fn size(&self) -> usize {
        self.wiring.size
    }

    /// The work of a joint move, measured in operands notified of a change: the
    /// mean over `moves` moves of random play from the initial state. Afterwards
    /// the state is the initial one.
    pub fn activity(&mut self, moves: u64) -> u64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let before = self.work;
        let start = self.wiring.initial.clone();
        let roles = self.wiring.moves.len() - 1;
        for _ in 0..moves {
            let legal: Vec<Vec<usize>> = (0..roles)
                .map(|role| self.legal_moves(role).collect())
                .collect();
            if self.is_terminal() || legal.iter().any(Vec::is_empty) {
                self.set_state(&start);
                continue;
            }
            let mut choose = |legal: &Vec<usize>| legal[random.random_range(0..legal.len())];
            let joint: Vec<usize> = legal.iter().map(&mut choose).collect();
            self.step(&joint);
        }
        self.set_state(&start);
        (self.work - before) / moves.max(1)
    }

    fn set_input(&mut self, input: usize, value: bool) {
        if let Some(node) = self.wiring.inputs[input]
            && self.gates[node as usize].value != value
        {
            self.gates[node as usize].value = value;
            self.notify(node as usize, value);
        }
    }

    /// Notifies all readers of a node that it has changed.
    fn notify(&mut self, node: usize, value: bool) {
        let wiring = &*self.wiring;
        let (start, end) = (wiring.starts[node], wiring.starts[node + 1]);
        for &answer in &wiring.answers[start.answers as usize..end.answers as usize] {
            self.answers[answer as usize / 64] ^= 1 << (answer % 64);
        }
        let readers = &wiring.readers[start.readers as usize..end.readers as usize];
        self.work += CHANGE + readers.len() as u64;
        for reader in readers {
            let gate = &mut self.gates[reader.gate()];
            let change = CHANGES[reader.kind() ^ usize::from(value)];
            gate.unmet = gate.unmet.wrapping_add(change);
            if (gate.unmet == 0) != gate.value && !gate.is_waiting {
                gate.is_waiting = true;
                let level = usize::from(gate.level);
                let count = &mut self.counts[level];
                self.waiting[(wiring.levels[level] + *count) as usize] = reader.gate() as u32;
                *count += 1;
                self.lowest = self.lowest.min(level);
            }
        }
    }

    /// Evaluates the waiting gates up to the end of a stage.
    fn evaluate(&mut self, stage: Stage) {
        let end = self.wiring.ends[stage as usize];
        for level in self.lowest..end {
            let first = self.wiring.levels[level] as usize;
            for position in first..first + self.counts[level] as usize {
                let node = self.waiting[position] as usize;
                let gate = &mut self.gates[node];
                gate.is_waiting = false;
                let value = gate.unmet == 0;
                if gate.value != value {
                    gate.value = value;
                    self.notify(node, value);
                }
            }
            self.counts[level] = 0;
        }
        self.lowest = self.lowest.max(end);
    }
}

impl Wiring {
    fn move_count(&self) -> usize {
        self.moves[self.moves.len() - 1]
    }
}

impl Reader {
    fn new(gate: usize, is_xor: bool, is_negated: bool) -> Reader {
        Reader((gate as u32) << 2 | u32::from(is_xor) << 1 | u32::from(is_negated))
    }

    fn gate(self) -> usize {
        (self.0 >> 2) as usize
    }

    fn kind(self) -> usize {
        (self.0 & 3) as usize
    }
}

/// All answers, in order, with the stage that computes them.
fn all_answers(net: &Propnet) -> impl Iterator<Item = (Literal, Stage)> {
    let next = net.next.iter().map(|&next| (next, Stage::Next));
    let status = net.legal.iter().flatten().chain([&net.terminal]);
    let goals = net.goals.iter().flatten();
    next.chain(status.map(|&status| (status, Stage::Status)))
        .chain(goals.map(|goal| (goal.1, Stage::Goals)))
}

/// By node: the first stage that needs it, if any does.
fn stages(net: &Propnet) -> Vec<Option<Stage>> {
    let mut stages = vec![None; net.network.len()];
    for stage in [Stage::Status, Stage::Next, Stage::Goals] {
        let roots = all_answers(net).filter(|(_, of)| *of == stage);
        let mut open: Vec<usize> = roots.map(|(literal, _)| literal.node()).collect();
        while let Some(node) = open.pop() {
            if stages[node].is_none() {
                stages[node] = Some(stage);
                open.extend(net.network.reads(node).iter().map(|read| read.node()));
            }
        }
    }
    stages
}

/// By node: its level, one more than the highest of its operands'.
fn levels(network: &Network) -> Vec<u32> {
    let mut levels = vec![0; network.len()];
    for node in 0..network.len() {
        let operands = network.reads(node).iter();
        let highest = operands.map(|operand| levels[operand.node()] + 1).max();
        levels[node] = highest.unwrap_or(0);
    }
    levels
}

/// Groups items and keeps their order: the start of each group, with the end of the
/// last one, and all items. The items are counted first, then placed.
fn grouped<T, I>(groups: usize, items: impl Fn() -> I) -> (Vec<u32>, Vec<T>)
where
    T: Copy + Default,
    I: Iterator<Item = (u32, T)>,
{
    let mut starts = vec![0; groups + 1];
    for (group, _) in items() {
        starts[group as usize + 1] += 1;
    }
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    let mut free = starts.clone();
    let mut all = vec![T::default(); starts[groups] as usize];
    for (group, item) in items() {
        let place = &mut free[group as usize];
        all[*place as usize] = item;
        *place += 1;
    }
    (starts, all)
}

/// The answers that are true in a range, counted from its beginning.
fn true_answers(answers: &[u64], first: usize, count: usize) -> impl Iterator<Item = usize> {
    let end = first + count;
    (first / 64..end.div_ceil(64)).flat_map(move |number| {
        let mut word = answers[number];
        if number == first / 64 {
            word &= u64::MAX << (first % 64);
        }
        if number == end / 64 {
            word &= !(u64::MAX << (end % 64));
        }
        ones(word).map(move |bit| 64 * number + bit - first)
    })
}

/// The set bits, ascending.
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            bit as usize
        })
    })
}

#[cfg(test)]
mod tests;
