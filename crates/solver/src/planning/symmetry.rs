//! Renamings of facts and moves under which a puzzle is the same.
//!
//! In: a puzzle. Out: generators of such renamings, each proved: whatever is
//! legal, follows, or ends the game in a state does so, renamed, in the renamed
//! state. The first state plays no part. States that differ by renamings only
//! have the same future, so a search may look at one of them, see [`Canonical`],
//! and [`lift`] gives the moves that lead along real states.
//!
//! Candidates come from a graph (`graph`, `automorphism`). That a candidate is
//! right is shown gate by gate, or by a SAT solver where gates differ, for all
//! states that obey what the network takes for granted, renamed or not.

mod canonical;
mod graph;

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Puzzle;
use super::move_set::effects::Effects;
use ggp_engine::automorphism::generators;
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::{Builder, Literal};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_search::Budget;
use ggp_stop::Stop;

pub use canonical::{Canonical, lift};

/// A renaming: by fact and by move of the network, what it becomes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry {
    /// By fact.
    pub facts: Vec<u32>,
    /// By move.
    pub moves: Vec<u32>,
}

impl Symmetry {
    /// The state in which a fact holds if the fact it was renamed from does in
    /// `state`.
    pub fn image(&self, state: &[u64]) -> Packed {
        let mut image = vec![0; state.len()];
        for (fact, &becomes) in self.facts.iter().enumerate() {
            if holds(state, fact) {
                image[becomes as usize / 64] |= 1 << (becomes % 64);
            }
        }
        image
    }

    /// This one, then another.
    pub fn then(&self, other: &Symmetry) -> Symmetry {
        let after = |one: &[u32], other: &[u32]| one.iter().map(|&to| other[to as usize]).collect();
        Symmetry {
            facts: after(&self.facts, &other.facts),
            moves: after(&self.moves, &other.moves),
        }
    }

    /// What undoes it.
    pub fn inverse(&self) -> Symmetry {
        let inverse = |one: &[u32]| {
            let mut back = vec![0; one.len()];
            for (from, &to) in one.iter().enumerate() {
                back[to as usize] = from as u32;
            }
            back
        };
        Symmetry {
            facts: inverse(&self.facts),
            moves: inverse(&self.moves),
        }
    }

    fn is_identity(&self) -> bool {
        let stays = |(fact, &to): (usize, &u32)| fact as u32 == to;
        self.facts.iter().enumerate().all(stays)
    }
}

/// The symmetries of a puzzle, or some of them.
#[derive(Clone, Debug)]
pub struct Symmetries {
    /// These and their products.
    pub generators: Vec<Symmetry>,
    elements: Vec<Symmetry>,
    is_all: bool,
}

/// Edges of the graph that are looked at.
const MOST_WORK: usize = 60_000_000;
/// Elements that are written down, and their facts and moves together.
const MOST_ELEMENTS: usize = 4_096;
const MOST_ENTRIES: usize = 4_000_000;
/// Conflicts to prove one candidate.
const CONFLICTS: i32 = 20_000;
/// Literals of pairs of gates compared for one candidate.
const MOST_PAIRS: usize = 4_000_000;
/// Facts of a group written as pairs.
const MOST_GROUP: usize = 64;

impl Symmetries {
    /// Looks for symmetries within [`Budget::time`]; what was found until then is
    /// as good as proved, too.
    pub fn of(puzzle: &Puzzle, budget: &Budget) -> Symmetries {
        let stop = budget.stop.within(budget.time);
        let mut generators = Vec::new();
        if let Some(effects) = Effects::new(puzzle) {
            let mut seen = FxHashSet::default();
            for candidate in candidates(puzzle, &effects, &stop) {
                if stop.is_over() {
                    break;
                }
                if !candidate.is_identity()
                    && seen.insert(candidate.facts.clone())
                    && keeps_start(puzzle, &candidate)
                    && is_proved(puzzle, &effects, &candidate, &stop)
                {
                    generators.push(candidate);
                }
            }
        }
        Symmetries::generated_by(puzzle, generators)
    }

    /// All products of symmetries that were proved.
    pub(super) fn generated_by(puzzle: &Puzzle, generators: Vec<Symmetry>) -> Symmetries {
        let mut symmetries = Symmetries {
            generators,
            elements: Vec::new(),
            is_all: false,
        };
        symmetries.drop_strays(puzzle);
        symmetries
    }

    /// How many there are, if they are few enough to be written down.
    pub fn order(&self) -> Option<usize> {
        self.is_all.then_some(self.elements.len())
    }

    /// All of them, the identity first; some if they are too many.
    pub fn elements(&self) -> &[Symmetry] {
        &self.elements
    }

    /// What was proved of states that obey what the network takes for granted
    /// holds of the states that are reached if all images of the first do.
    fn drop_strays(&mut self, puzzle: &Puzzle) {
        self.write_down(puzzle);
        let admits = |element: &Symmetry| keeps_start(puzzle, element);
        if !(self.is_all && self.elements.iter().all(admits)) {
            // An orbit of the start is small where the elements are many, as a rule.
            let mut orbit: FxHashSet<Packed> = FxHashSet::default();
            let mut open = vec![puzzle.start.clone()];
            while let Some(state) = open.pop() {
                for generator in &self.generators {
                    let image = closed(puzzle, generator.image(&state));
                    if orbit.len() > MOST_ELEMENTS || !admitted(puzzle, &image) {
                        self.generators.clear();
                        return self.write_down(puzzle);
                    }
                    if orbit.insert(image.clone()) {
                        open.push(image);
                    }
                }
            }
        }
    }

    fn write_down(&mut self, puzzle: &Puzzle) {
        let identity = Symmetry {
            facts: (0..puzzle.net.facts().len() as u32).collect(),
            moves: (0..puzzle.moves() as u32).collect(),
        };
        let entries = identity.facts.len() + identity.moves.len();
        let most = MOST_ELEMENTS.min(MOST_ENTRIES / entries.max(1)).max(1);
        let mut seen = FxHashSet::default();
        seen.insert(identity.facts.clone());
        self.elements = vec![identity];
        self.is_all = true;
        let mut at = 0;
        while at < self.elements.len() {
            for generator in &self.generators {
                let product = self.elements[at].then(generator);
                if !seen.contains(&product.facts) {
                    if self.elements.len() == most {
                        self.is_all = false;
                        return;
                    }
                    seen.insert(product.facts.clone());
                    self.elements.push(product);
                }
            }
            at += 1;
        }
    }
}

fn candidates(puzzle: &Puzzle, effects: &Effects, stop: &Stop) -> Vec<Symmetry> {
    let Some((graph, facts, moves)) = graph::graph(effects, puzzle.net.exclusive()) else {
        return Vec::new();
    };
    let part = |permutation: &[u32], first: u32, count: usize| -> Vec<u32> {
        let part = &permutation[first as usize..][..count];
        part.iter().map(|&image| image - first).collect()
    };
    let found = generators(&graph, MOST_WORK, stop);
    let found = found.iter().map(|permutation| Symmetry {
        facts: part(permutation, facts, puzzle.net.facts().len()),
        moves: part(permutation, moves, puzzle.moves()),
    });
    found.collect()
}

/// Whether the renamed first state obeys what the network takes for granted.
fn keeps_start(puzzle: &Puzzle, symmetry: &Symmetry) -> bool {
    admitted(puzzle, &closed(puzzle, symmetry.image(&puzzle.start)))
}

fn admitted(puzzle: &Puzzle, state: &[u64]) -> bool {
    let holds: Vec<bool> = (0..puzzle.net.facts().len())
        .map(|fact| holds(state, fact))
        .collect();
    puzzle.net.admits(&holds)
}

/// Facts that equal others are what these are.
fn closed(puzzle: &Puzzle, mut state: Packed) -> Packed {
    let net = &puzzle.net;
    for &(fact, equal) in net.assumed() {
        let other = net.network().input_number(equal.node());
        let value = other.is_some_and(|other| holds(&state, other));
        let bit = 1 << (fact % 64);
        match value != equal.is_negated() {
            true => state[fact / 64] |= bit,
            false => state[fact / 64] &= !bit,
        }
    }
    state
}

/// Whether the puzzle is the same, renamed.
fn is_proved(puzzle: &Puzzle, effects: &Effects, symmetry: &Symmetry, stop: &Stop) -> bool {
    let network = &effects.network;
    let facts = network.inputs();
    let mut roots = vec![effects.terminal, effects.solved];
    roots.extend(&effects.legal);
    roots.extend(&effects.drift);
    roots.extend(effects.changes.iter().flatten().map(|change| change.1));
    let live = live(network, roots);
    let mut builder = Builder::new(facts);
    let inputs: Vec<Literal> = (0..facts).map(|fact| builder.input(fact)).collect();
    let mut renamed = inputs.clone();
    for (fact, &to) in symmetry.facts.iter().enumerate() {
        renamed[to as usize] = inputs[fact];
    }
    let plain = copy(network, &live, &inputs, &mut builder);
    let other = copy(network, &live, &renamed, &mut builder);
    let now = |one: Literal| plain[one.node()].negated_if(one.is_negated());
    let then = |one: Literal| other[one.node()].negated_if(one.is_negated());

    // What must be equal, and where.
    let mut pairs = vec![
        (Literal::TRUE, now(effects.terminal), then(effects.terminal)),
        (Literal::TRUE, now(effects.solved), then(effects.solved)),
    ];
    let open = !now(effects.terminal);
    for fact in (0..facts).filter(|&fact| effects.autonomous[fact]) {
        if symmetry.facts[fact] as usize != fact {
            return false;
        }
        pairs.push((open, now(effects.drift[fact]), then(effects.drift[fact])));
    }
    for (chosen, &legal) in effects.legal.iter().enumerate() {
        let image = symmetry.moves[chosen] as usize;
        pairs.push((open, now(legal), then(effects.legal[image])));
        let becomes: FxHashMap<u32, Literal> = effects.changes[chosen].iter().copied().collect();
        let became: FxHashMap<u32, Literal> = effects.changes[image].iter().copied().collect();
        let condition = builder.and(&[open, now(legal)]);
        for (fact, &to) in symmetry.facts.iter().enumerate() {
            let own = becomes.get(&(fact as u32));
            let others = became.get(&to);
            if own.is_some() || others.is_some() {
                let stays = inputs[fact];
                let own = own.map_or(stays, |&becomes| now(becomes));
                pairs.push((
                    condition,
                    own,
                    others.map_or(stays, |&becomes| then(becomes)),
                ));
            }
        }
        if pairs.len() > MOST_PAIRS {
            return false;
        }
    }
    pairs.retain(|(condition, one, other)| one != other && *condition != Literal::FALSE);
    if pairs.is_empty() {
        return true;
    }
    let gates = builder.into_network();
    let mut clauses = Clauses::until(&stop);
    let variables: Vec<i32> = (0..facts).map(|_| clauses.variable()).collect();
    let mut frame = Frame::new(&gates, &variables, &clauses);
    for rename in [&inputs, &renamed] {
        obey(puzzle, effects, &mut clauses, |fact| {
            variables[rename[fact].node() - inputs[0].node()]
        });
    }
    let mut wrong = Vec::new();
    for (condition, one, other) in pairs {
        let condition = frame.literal(condition, &mut clauses);
        let one = frame.literal(one, &mut clauses);
        let other = frame.literal(other, &mut clauses);
        let differs = clauses.variable();
        clauses.add(&[-differs, condition]);
        clauses.add(&[-differs, one, other]);
        clauses.add(&[-differs, -one, -other]);
        wrong.push(differs);
    }
    clauses.add(&wrong);
    clauses.solve(&[], CONFLICTS) == Some(false)
}

/// Facts that exclude each other do so, as far as they are renamed.
fn obey(puzzle: &Puzzle, effects: &Effects, clauses: &mut Clauses, of: impl Fn(usize) -> i32) {
    for group in puzzle.net.exclusive() {
        let facts = group.facts.iter().copied();
        let facts: Vec<i32> = facts
            .filter(|&fact| effects.relevant[fact])
            .map(&of)
            .collect();
        if group.exact && facts.len() == group.facts.len() {
            clauses.add(&facts);
        }
        match facts.len() {
            0..=MOST_GROUP => {
                for (place, one) in facts.iter().enumerate() {
                    for other in &facts[..place] {
                        clauses.add(&[-one, -other]);
                    }
                }
            }
            _ => {
                let (_, two) = clauses.one_and_two(&facts);
                clauses.add(&[-two]);
            }
        }
    }
}
