//! Replay of a set of moves in an order that the rules allow.
//!
//! In: a set of moves, and which must come before which. Out: a plan, or the moves
//! at which the replay stopped. There is no backtracking.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::effects::{Conjuncts, Effects};
use super::timed_facts::Timeline;
use crate::planning::{Plan, Puzzle};
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::{Builder, Literal, Network, Node, read};
use ggp_engine::propnet::rewrite::{copy, live};

/// The result of a replay.
#[derive(Debug)]
pub(super) enum Replay {
    /// A plan that reaches a solution; it may not use all moves.
    Solved(Plan),
    /// All of these moves are illegal although their predecessors were made.
    Illegal(Vec<u32>),
    /// The game would end before these moves.
    TooEarly(Vec<u32>),
}

/// A plan that makes each move of a set as soon as its direct requirements hold, if that works.
pub(super) fn in_order_of_needs(
    puzzle: &Puzzle,
    effects: &Effects,
    timeline: &Timeline,
    set: &[u32],
) -> Option<Plan> {
    let reduced = Reduced::new(puzzle, effects, timeline, set);
    reduced.in_order_of_needs(puzzle, timeline, set, &vec![Vec::new(); set.len()])
}

/// The part of the network that depends on a set of moves.
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
    /// Simplifies the network: facts that no move of the set changes are constants.
    fn new(puzzle: &Puzzle, effects: &Effects, timeline: &Timeline, set: &[u32]) -> Reduced {
        let old = &effects.network;
        let mut varies = vec![false; old.inputs()];
        timeline.facts.iter().for_each(|&fact| varies[fact] = true);
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

    /// A plan that makes each move as soon as its direct requirements hold, if that
    /// works. All states of the plan are evaluated in parallel lanes.
    fn in_order_of_needs(
        &self,
        puzzle: &Puzzle,
        timeline: &Timeline,
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
            // One lane per state; the last lane is a state whose move is not yet
            // known.
            let lanes = order.len() + 1 - made;
            let lanes = lanes.min(64);
            let mut states = vec![0; state.len()];
            for lane in 0..lanes {
                let clock = timeline.after(made + lane)?;
                for (&fact, &value) in timeline.facts.iter().zip(clock) {
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

    /// Orders each move that needs a changed fact after the only move that changes
    /// it.
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
                    // The move is legal only before the fact changes, or only
                    // after.
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

/// A topological order that prefers lower positions; none if there is a cycle.
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

/// Plays all moves of a set once each.
///
/// `before` gives the predecessors of each position in the set and has no cycle. If
/// no move without open predecessors is legal, `any` decides whether other moves
/// may be made.
pub(super) fn replay(
    puzzle: &Puzzle,
    effects: &Effects,
    timeline: &Timeline,
    set: &[u32],
    before: &[Vec<u32>],
    any: impl Fn(&[u32]) -> bool,
) -> Replay {
    let reduced = Reduced::new(puzzle, effects, timeline, set);
    if let Some(plan) = reduced.in_order_of_needs(puzzle, timeline, set, before) {
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
        // One lane per move that is tried.
        let mut next: Vec<u64> = state
            .iter()
            .map(|word| (word >> lane & 1).wrapping_neg())
            .collect();
        let Some(steps) = timeline.after(plan.len() + 1) else {
            return Replay::TooEarly(named(&left));
        };
        for (&fact, &value) in timeline.facts.iter().zip(steps) {
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
