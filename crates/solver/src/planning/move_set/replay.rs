//! Moves of a set, played in an order that the rules allow.
//!
//! In: a set of moves, and which must come before which. Out: a plan, or the
//! moves that it came to a halt at. No choice is taken back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::effects::{Conjuncts, Effects};
use super::timed_facts::Course;
use crate::planning::{Plan, Puzzle};
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::{Builder, Literal, Network, Node, read};
use ggp_engine::propnet::rewrite::{copy, live};

/// How a replay ended.
#[derive(Debug)]
pub(super) enum Replay {
    /// With a solution; moves may be left over.
    Solved(Plan),
    /// None of these moves is legal though those before them were made.
    Illegal(Vec<u32>),
    /// The game would be over before these moves.
    TooEarly(Vec<u32>),
}

/// What a set of moves needs of the network.
struct Reduced {
    network: Network,
    terminal: Literal,
    solved: Literal,
    /// By move of the set.
    legal: Vec<Literal>,
    /// By move of the set.
    changes: Vec<Vec<(u32, Literal)>>,
}

impl Reduced {
    /// Facts that no move of the set changes are constants.
    fn new(puzzle: &Puzzle, effects: &Effects, course: &Course, set: &[u32]) -> Reduced {
        let old = &effects.network;
        let mut varies = vec![false; old.inputs()];
        course.facts.iter().for_each(|&fact| varies[fact] = true);
        let changes = |chosen: &u32| &effects.changes[*chosen as usize];
        for &(fact, _) in set.iter().flat_map(changes) {
            varies[fact as usize] = true;
        }
        let legal = set.iter().map(|&chosen| effects.legal[chosen as usize]);
        let mut roots = vec![effects.terminal, effects.solved];
        roots.extend(legal.clone());
        roots.extend(set.iter().flat_map(changes).map(|change| change.1));
        let live = live(old, roots);
        let mut builder = Builder::new(old.inputs());
        let inputs: Vec<Literal> = (0..old.inputs())
            .map(|fact| match varies[fact] {
                true => builder.input(fact),
                false => Literal::FALSE.negated_if(holds(&puzzle.start, fact)),
            })
            .collect();
        let became = copy(old, &live, &inputs, &mut builder);
        let of = |literal: Literal| became[literal.node()].negated_if(literal.is_negated());
        let changes = set.iter().map(|chosen| {
            let changes = changes(chosen).iter();
            changes
                .map(|&(fact, becomes)| (fact, of(becomes)))
                .collect()
        });
        Reduced {
            terminal: of(effects.terminal),
            solved: of(effects.solved),
            legal: legal.map(of).collect(),
            changes: changes.collect(),
            network: builder.into_network(),
        }
    }

    /// The plan that makes each move as soon as what it plainly needs is there,
    /// if that is one: all its states are looked at side by side.
    fn in_order_of_needs(
        &self,
        puzzle: &Puzzle,
        course: &Course,
        set: &[u32],
        before: &[Vec<u32>],
    ) -> Option<Plan> {
        let constant =
            |changes: &Vec<(u32, Literal)>| changes.iter().all(|change| change.1.is_constant());
        if !self.changes.iter().all(constant) {
            return None;
        }
        let mut before = before.to_vec();
        self.add_needs(puzzle, &mut before);
        let order = in_order(&before)?;
        let mut state: Vec<bool> = (0..self.network.inputs())
            .map(|fact| holds(&puzzle.start, fact))
            .collect();
        let mut made = 0;
        while made < order.len() {
            // A state in each lane, and the move that is made in it.
            let lanes = order.len() + 1 - made;
            let lanes = lanes.min(64);
            let mut states = vec![0; state.len()];
            for lane in 0..lanes {
                let clock = course.after(made + lane)?;
                for (&fact, &value) in course.facts.iter().zip(clock) {
                    state[fact] = value;
                }
                for (word, &holds) in states.iter_mut().zip(&state) {
                    *word |= u64::from(holds) << lane;
                }
                if let Some(&place) = order.get(made + lane).filter(|_| lane + 1 < lanes) {
                    for &(fact, becomes) in &self.changes[place] {
                        state[fact as usize] = becomes == Literal::TRUE;
                    }
                }
            }
            let values = self.network.evaluate(&states);
            let (solved, over) = (read(self.solved, &values), read(self.terminal, &values));
            for lane in 0..lanes {
                if solved >> lane & 1 == 1 {
                    let plan = &order[..made + lane];
                    return Some(plan.iter().map(|&place| set[place]).collect());
                }
                let legal = |place: &usize| read(self.legal[*place], &values) >> lane & 1 == 1;
                if over >> lane & 1 == 1 || !order.get(made + lane).is_some_and(legal) {
                    return None;
                }
            }
            made += lanes - 1;
        }
        None
    }

    /// A move that needs a fact comes behind the only one that brings it about.
    fn add_needs(&self, puzzle: &Puzzle, before: &mut [Vec<u32>]) {
        let mut movers = vec![Vec::new(); self.network.inputs()];
        for (place, changes) in self.changes.iter().enumerate() {
            for &(fact, becomes) in changes {
                if (becomes == Literal::TRUE) != holds(&puzzle.start, fact as usize) {
                    movers[fact as usize].push(place);
                }
            }
        }
        let mut conjuncts = Conjuncts::new(&self.network);
        for (place, &legal) in self.legal.iter().enumerate() {
            for &literal in conjuncts.of(legal) {
                let Node::Input(fact) = self.network.node(literal.node()) else {
                    continue;
                };
                if let &[mover] = movers[fact].as_slice()
                    && mover != place
                {
                    // It is legal before the fact changes, or behind that.
                    let is_first = holds(&puzzle.start, fact) != literal.is_negated();
                    let (first, second) = match is_first {
                        true => (place, mover),
                        false => (mover, place),
                    };
                    before[second].push(first as u32);
                }
            }
        }
    }
}

/// Places in an order in which those before come first, else ascending; None if
/// there is a cycle.
fn in_order(before: &[Vec<u32>]) -> Option<Vec<usize>> {
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut behind = vec![Vec::new(); before.len()];
    for (place, before) in before.iter().enumerate() {
        before
            .iter()
            .for_each(|&first| behind[first as usize].push(place));
    }
    let ready = (0..before.len()).filter(|&place| waits[place] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
    let mut order = Vec::with_capacity(before.len());
    while let Some(Reverse(place)) = ready.pop() {
        order.push(place);
        for &later in &behind[place] {
            waits[later] -= 1;
            if waits[later] == 0 {
                ready.push(Reverse(later));
            }
        }
    }
    (order.len() == before.len()).then_some(order)
}

/// Plays all moves of a set, each once. `before` says by place in the set which
/// places come first; it has no cycle. Where no move with nothing left before it
/// is legal, `any` says whether others may be made.
pub(super) fn replay(
    puzzle: &Puzzle,
    effects: &Effects,
    course: &Course,
    set: &[u32],
    before: &[Vec<u32>],
    any: impl Fn(&[u32]) -> bool,
) -> Replay {
    let reduced = Reduced::new(puzzle, effects, course, set);
    if let Some(plan) = reduced.in_order_of_needs(puzzle, course, set, before) {
        return Replay::Solved(plan);
    }
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut behind = vec![Vec::new(); set.len()];
    for (place, before) in before.iter().enumerate() {
        before
            .iter()
            .for_each(|&first| behind[first as usize].push(place));
    }
    let mut left: Vec<usize> = (0..set.len()).collect();
    let mut state: Vec<u64> = (0..effects.network.inputs())
        .map(|fact| u64::from(holds(&puzzle.start, fact)))
        .collect();
    let mut values = reduced.network.evaluate(&state);
    let mut lane = 0;
    let mut plan = Plan::new();
    let named = |places: &[usize]| places.iter().map(|&place| set[place]).collect::<Vec<u32>>();
    loop {
        let is_legal = |place: &usize| read(reduced.legal[*place], &values) >> lane & 1 == 1;
        let first: Vec<usize> = (left.iter().copied())
            .filter(|&place| waits[place] == 0)
            .collect();
        let mut tried: Vec<usize> = first.iter().copied().filter(is_legal).take(64).collect();
        if tried.is_empty() {
            let first = named(&first);
            if any(&first) {
                tried = left.iter().copied().filter(is_legal).take(64).collect();
            }
            if tried.is_empty() {
                return Replay::Illegal(first);
            }
        }
        // A lane for each move that is tried.
        let mut next: Vec<u64> = state
            .iter()
            .map(|word| (word >> lane & 1).wrapping_neg())
            .collect();
        let Some(steps) = course.after(plan.len() + 1) else {
            return Replay::TooEarly(named(&left));
        };
        for (&fact, &value) in course.facts.iter().zip(steps) {
            next[fact] = u64::from(value).wrapping_neg();
        }
        for (number, &place) in tried.iter().enumerate() {
            for &(fact, becomes) in &reduced.changes[place] {
                let bit = read(becomes, &values) >> lane & 1;
                next[fact as usize] = next[fact as usize] & !(1 << number) | bit << number;
            }
        }
        let after = reduced.network.evaluate(&next);
        let solved = read(reduced.solved, &after);
        let over = read(reduced.terminal, &after);
        let lanes = 0..tried.len();
        let number = (lanes.clone().find(|number| solved >> number & 1 == 1))
            .or_else(|| lanes.clone().find(|number| over >> number & 1 == 0));
        let Some(number) = number else {
            return Replay::TooEarly(named(&left));
        };
        let place = tried[number];
        plan.push(set[place]);
        if solved >> number & 1 == 1 {
            return Replay::Solved(plan);
        }
        left.retain(|&other| other != place);
        behind[place]
            .iter()
            .for_each(|&later| waits[later] = waits[later].saturating_sub(1));
        (state, values, lane) = (next, after, number);
    }
}
