//! Moves of a set, played in an order that the rules allow.
//!
//! In: a set of moves, and which must come before which. Out: a plan, or the
//! moves that it came to a halt at. No choice is taken back.

use super::course::Course;
use super::effects::Effects;
use crate::propnet::batch::holds;
use crate::propnet::network::{Builder, Literal, Network, read};
use crate::propnet::rewrite::{live, same_gate, transcribe};
use crate::puzzle::{Plan, Puzzle};

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
        let became = transcribe(old, &live, &inputs, &mut builder, |b, node, operands| {
            same_gate(old, b, node, operands)
        });
        let of = |literal: Literal| became[literal.node()].negated_if(literal.is_negated());
        let changes = set.iter().map(|chosen| {
            let changes = changes(chosen).iter();
            changes.map(|&(fact, becomes)| (fact, of(becomes))).collect()
        });
        Reduced {
            terminal: of(effects.terminal),
            solved: of(effects.solved),
            legal: legal.map(of).collect(),
            changes: changes.collect(),
            network: builder.into_network(),
        }
    }
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
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut behind = vec![Vec::new(); set.len()];
    for (place, before) in before.iter().enumerate() {
        before.iter().for_each(|&first| behind[first as usize].push(place));
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
        let first: Vec<usize> = (left.iter().copied()).filter(|&place| waits[place] == 0).collect();
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
        let mut next: Vec<u64> = state.iter().map(|word| (word >> lane & 1).wrapping_neg()).collect();
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
        behind[place].iter().for_each(|&later| waits[later] = waits[later].saturating_sub(1));
        (state, values, lane) = (next, after, number);
    }
}
