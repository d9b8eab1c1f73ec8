//! Conversion of events to steps: the choice of values and of the polarity in which
//! each is stored.
//!
//! In: a [`Cone`] and [`Event`]s. Out: [`Step`]s on values, each value made once,
//! so gates whose first operands agree share values. The polarity of a value
//! follows from those of its operands: exactly one of "and", "and not", "or" fits,
//! so negated edges cost nothing.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::propnet::network::{Literal, Node};

use super::cone::{Cone, NONE};
use super::schedule::Event;
use super::{Home, Kind, Place, Step, Tape};

/// A value, and true if it is the negation of the node's.
#[derive(Copy, Clone)]
struct Signed {
    value: u32,
    is_negated: bool,
}

pub(super) struct Emitter<'c, 'n> {
    cone: &'c Cone<'n>,
    steps: Vec<Step>,
    loops: Vec<Vec<(u32, u32)>>,
    homes: Vec<Home>,
    /// By node: its value, or the value of the operands folded so far.
    values: Vec<Option<Signed>>,
    /// Steps of two operands, found by their kind and operands.
    known: HashTable<u32>,
    given: usize,
}

impl<'c, 'n> Emitter<'c, 'n> {
    pub fn new(cone: &'c Cone<'n>, given: &[(usize, Place)]) -> Self {
        let mut emitter = Emitter {
            cone,
            steps: Vec::new(),
            loops: vec![Vec::new(); cone.loops.len()],
            homes: Vec::new(),
            values: vec![None; cone.network.len()],
            known: HashTable::new(),
            given: 0,
        };
        for (position, &(node, place)) in given.iter().enumerate() {
            if cone.reached[node] && cone.given[node] == position as u32 {
                let value = emitter.value(Home::Bank(place));
                emitter.set(node, value);
            }
        }
        emitter.given = emitter.homes.len();
        emitter
    }

    pub fn emit(mut self, events: &[Event], outputs: &[(Literal, Place)]) -> Tape {
        // Most gates have two operands. The table is empty, so nothing is hashed.
        self.known.reserve(events.len() / 2, |_| 0);
        self.steps.reserve(events.len() / 2);
        self.homes.reserve(events.len() / 2 + outputs.len());
        self.constant();
        for &event in events {
            match event {
                Event::Fold(node, operand) => self.fold(node as usize, operand),
                Event::Begin(number) => {
                    self.mark(Kind::Begin, number);
                    let feedbacks = &self.cone.loops[number as usize].feedbacks;
                    for &(node, _) in feedbacks {
                        let value = self.value(Home::Nowhere);
                        self.set(node, value);
                        self.loops[number as usize].push((value, value));
                    }
                }
                Event::End(number) => {
                    let feedbacks = &self.cone.loops[number as usize].feedbacks;
                    for (position, &(_, definition)) in feedbacks.iter().enumerate() {
                        let next = self.read(definition);
                        let next = match next.is_negated {
                            true => self.step(Kind::Not, next.value, next.value),
                            false => next.value,
                        };
                        self.loops[number as usize][position].1 = next;
                    }
                    self.mark(Kind::End, number);
                }
            }
        }
        self.outputs(outputs);
        Tape::of(self.steps, self.loops, self.homes, self.given)
    }

    fn value(&mut self, home: Home) -> u32 {
        self.homes.push(home);
        self.homes.len() as u32 - 1
    }

    fn set(&mut self, node: usize, value: u32) {
        self.values[node] = Some(Signed {
            value,
            is_negated: false,
        });
    }

    fn step(&mut self, kind: Kind, a: u32, b: u32) -> u32 {
        let result = self.value(Home::Nowhere);
        let operands = [a, b, 0];
        self.steps.push(Step {
            kind,
            result,
            operands,
        });
        result
    }

    fn mark(&mut self, kind: Kind, number: u32) {
        let step = Step {
            kind,
            result: number,
            operands: [number; 3],
        };
        self.steps.push(step);
    }

    /// Networks fold constants, but a definition may be constant.
    fn constant(&mut self) {
        let mut defined = self.cone.loops.iter().flat_map(|found| &found.feedbacks);
        let is_read =
            |literal: Literal| matches!(self.cone.network.node(literal.node()), Node::False);
        if self.cone.given[0] == NONE && defined.any(|&(_, literal)| is_read(literal)) {
            let value = self.step(Kind::Zero, 0, 0);
            self.set(0, value);
        }
    }

    fn read(&self, literal: Literal) -> Signed {
        let found = self.values[literal.node()].expect("operands are complete when they are read");
        Signed {
            value: found.value,
            is_negated: found.is_negated != literal.is_negated(),
        }
    }

    fn fold(&mut self, node: usize, operand: Literal) {
        let b = self.read(operand);
        let Some(a) = self.values[node] else {
            self.values[node] = Some(b);
            return;
        };
        let (kind, swap, is_negated) = if matches!(self.cone.network.node(node), Node::Xor(..)) {
            (Kind::Xor, false, a.is_negated != b.is_negated)
        } else {
            match (a.is_negated, b.is_negated) {
                (false, false) => (Kind::And, false, false),
                (false, true) => (Kind::AndNot, false, false),
                (true, false) => (Kind::AndNot, true, false),
                (true, true) => (Kind::Or, false, true),
            }
        };
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let (a, b) = match kind {
            Kind::AndNot => (a.value, b.value),
            _ => (a.value.min(b.value), a.value.max(b.value)),
        };
        let (hash, steps) = (hash(kind, a, b), &self.steps);
        let is_same = |&step: &u32| {
            let step = &steps[step as usize];
            step.kind == kind && step.operands[..2] == [a, b]
        };
        let value = match self.known.find(hash, is_same) {
            Some(&step) => steps[step as usize].result,
            None => {
                let number = steps.len() as u32;
                let value = self.step(kind, a, b);
                let steps = &self.steps;
                self.known
                    .insert_unique(hash, number, |&step| hash_of(&steps[step as usize]));
                value
            }
        };
        self.values[node] = Some(Signed { value, is_negated });
    }

    /// An output that is stored in the required polarity gets its place as home.
    /// Any other output is a copy or a negation, made as early as possible so that
    /// nothing is kept for it.
    fn outputs(&mut self, outputs: &[(Literal, Place)]) {
        let available = self.available();
        let mut copies: Vec<(u32, Step)> = Vec::new();
        for &(literal, place) in outputs {
            if literal.is_constant() {
                let kind = if literal == Literal::FALSE {
                    Kind::Zero
                } else {
                    Kind::Ones
                };
                let result = self.value(Home::Bank(place));
                let step = Step {
                    kind,
                    result,
                    operands: [0; 3],
                };
                copies.push((self.steps.len() as u32, step));
                continue;
            }
            let found = self.read(literal);
            let home = &mut self.homes[found.value as usize];
            if !found.is_negated && *home == Home::Nowhere {
                *home = Home::Bank(place);
                continue;
            }
            let kind = if found.is_negated {
                Kind::Not
            } else {
                Kind::Copy
            };
            let result = self.value(Home::Bank(place));
            let step = Step {
                kind,
                result,
                operands: [found.value; 3],
            };
            copies.push((available[found.value as usize], step));
        }
        copies.sort_by_key(|&(after, _)| after);
        let mut copies = copies.into_iter().peekable();
        let mut steps = Vec::with_capacity(self.steps.len() + copies.len());
        for (position, &step) in self.steps.iter().enumerate() {
            while let Some((_, copies)) = copies.next_if(|&(after, _)| after as usize <= position) {
                steps.push(copies);
            }
            steps.push(step);
        }
        steps.extend(copies.map(|(_, step)| step));
        self.steps = steps;
    }

    /// By value: the first step after the one that makes it and after the loop
    /// around that.
    fn available(&self) -> Vec<u32> {
        let mut available = vec![0; self.homes.len()];
        let mut waiting = Vec::new();
        let mut is_open = false;
        for (position, step) in self.steps.iter().enumerate() {
            match step.kind {
                Kind::Begin => {
                    is_open = true;
                    let feedbacks = &self.loops[step.operands[0] as usize];
                    waiting.extend(feedbacks.iter().map(|&(feedback, _)| feedback));
                }
                Kind::End => {
                    is_open = false;
                    for value in waiting.drain(..) {
                        available[value as usize] = position as u32 + 1;
                    }
                }
                _ if is_open => waiting.push(step.result),
                _ => available[step.result as usize] = position as u32 + 1,
            }
        }
        available
    }
}

fn hash(kind: Kind, a: u32, b: u32) -> u64 {
    FxBuildHasher.hash_one((kind, a, b))
}

fn hash_of(step: &Step) -> u64 {
    hash(step.kind, step.operands[0], step.operands[1])
}
