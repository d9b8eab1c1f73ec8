//! Facts that change at most once, and moves that rule each other out.
//!
//! In: a puzzle move by move. Out: for each fact, which moves change it and
//! whether anything changes it back; for each two moves, whether one is never
//! legal once the other has been made.

use super::effects::{Change, Conjuncts, Effects, Readers};
use super::ternary::Ternary;
use super::timed_facts::Course;
use crate::planning::Puzzle;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::Literal;
use ggp_engine::propnet::rewrite::live;

/// A fact that moves change.
#[derive(Clone, Debug, Default)]
pub(super) struct Mover {
    /// Moves after which it is not as at the start.
    pub must: Vec<u32>,
    /// Moves after which it may not be as at the start.
    pub may: Vec<u32>,
    /// Moves after which it may be as at the start although it was not before.
    pub back: Vec<u32>,
}

impl Mover {
    /// Whether it is always as at the start.
    pub fn is_still(&self) -> bool {
        self.must.is_empty() && self.may.is_empty()
    }

    /// Whether it is known from the set of moves made alone.
    pub fn is_exact(&self) -> bool {
        self.may.is_empty() && self.back.is_empty()
    }
}

/// What is known of a puzzle's facts and moves.
#[derive(Debug)]
pub(super) struct Once {
    /// By fact.
    pub movers: Vec<Mover>,
    /// By move: whether it may ever be legal.
    pub possible: Vec<bool>,
    /// By move, as a set: the moves that are never legal after it.
    after: Vec<Vec<u64>>,
}

/// Nodes that become known, all moves together.
const EFFORT: usize = 40_000_000;
/// Moves from which on pairs are not looked at.
const MOST_MOVES: usize = 16_000;

impl Once {
    pub fn new(puzzle: &Puzzle, effects: &Effects, course: &Course) -> Once {
        let facts = effects.relevant.len();
        let holds: Vec<bool> = (0..facts).map(|fact| holds(&puzzle.start, fact)).collect();
        let mut movers = vec![Mover::default(); facts];
        for (chosen, changes) in effects.changes.iter().enumerate() {
            for &(fact, becomes) in changes {
                let mover = &mut movers[fact as usize];
                let (must, may, back) = match (effects.change(fact, becomes), holds[fact as usize])
                {
                    (Change::Set, false) | (Change::Clear, true) => (true, false, false),
                    (Change::Set, true) | (Change::Clear, false) => (false, false, true),
                    (Change::Rise, false) | (Change::Fall, true) => (false, true, false),
                    (Change::Rise, true) | (Change::Fall, false) => (false, false, true),
                    (Change::Any, _) => (false, true, true),
                };
                let lists = [&mut mover.must, &mut mover.may, &mut mover.back];
                for (list, _) in lists.into_iter().zip([must, may, back]).filter(|it| it.1) {
                    list.push(chosen as u32);
                }
            }
        }
        settle(&mut movers, effects, &holds);
        let mut known = vec![None; facts];
        for (fact, mover) in movers.iter_mut().enumerate() {
            if effects.relevant[fact] && mover.is_still() {
                known[fact] = Some(holds[fact]);
                mover.back.clear();
            }
        }
        course.facts.iter().for_each(|&fact| known[fact] = None);
        // What the end alone depends on is not looked at for each move.
        let network = &effects.network;
        let all = Readers::new(network, &vec![true; network.len()]);
        let legal = Readers::new(network, &live(network, effects.legal.iter().copied()));
        let mut ternary = Ternary::new(network, &all, &known);
        let possible: Vec<bool> = (effects.legal.iter())
            .map(|&legal| ternary.read(legal) != Some(false))
            .collect();
        let mut once = Once {
            movers,
            possible,
            after: Vec::new(),
        };
        let last = once.last(effects, &mut ternary);
        for mover in &mut once.movers {
            // Nothing changes back what ends the game.
            let ends = |by: &u32| last[*by as usize];
            if mover.must.iter().chain(&mover.may).all(ends) {
                mover.back.clear();
            }
        }
        once.pairs(puzzle, effects, &last, &mut ternary.reading(&legal));
        once
    }

    /// By move: whether it is known to end the game, if it changes what others
    /// change back.
    fn last(&self, effects: &Effects, ternary: &mut Ternary<'_>) -> Vec<bool> {
        let mut last = vec![false; self.possible.len()];
        for (made, changes) in effects.changes.iter().enumerate() {
            let is_doubtful = |&(fact, _): &(u32, Literal)| {
                let mover = &self.movers[fact as usize];
                !mover.back.is_empty() && mover.must.binary_search(&(made as u32)).is_ok()
            };
            if self.possible[made] && changes.iter().any(is_doubtful) {
                let constant = changes.iter().filter(|change| change.1.is_constant());
                let facts: Vec<(usize, bool)> = constant
                    .map(|&(fact, becomes)| (fact as usize, becomes == Literal::TRUE))
                    .collect();
                ternary.suppose(facts, |ternary, _| {
                    last[made] = ternary.read(effects.terminal) == Some(true);
                    Vec::new()
                });
            }
        }
        last
    }

    fn pairs(
        &mut self,
        puzzle: &Puzzle,
        effects: &Effects,
        last: &[bool],
        ternary: &mut Ternary<'_>,
    ) {
        let moves = self.possible.len();
        if moves > MOST_MOVES {
            return;
        }
        let mut legal_of = vec![Vec::new(); effects.network.len()];
        for chosen in (0..moves).filter(|&chosen| self.possible[chosen]) {
            legal_of[effects.legal[chosen].node()].push(chosen);
        }
        let mut groups_of = vec![Vec::new(); self.movers.len()];
        for (number, group) in puzzle.net.exclusive().iter().enumerate() {
            for &fact in &group.facts {
                groups_of[fact].push(number);
            }
        }
        let holds: Vec<bool> = (0..self.movers.len())
            .map(|fact| holds(&puzzle.start, fact))
            .collect();
        let mut conjuncts = Conjuncts::new(&effects.network);
        let mut effort = EFFORT;
        let mut after = vec![vec![0; moves.div_ceil(64)]; moves];
        for made in (0..moves).filter(|&made| self.possible[made]) {
            if last[made] {
                for chosen in 0..moves {
                    after[made][chosen / 64] |= 1 << (chosen % 64);
                }
                continue;
            }
            let mut facts = Vec::new();
            for &(fact, becomes) in &effects.changes[made] {
                let mover = &self.movers[fact as usize];
                if !mover.back.is_empty() || mover.must.binary_search(&(made as u32)).is_err() {
                    continue;
                }
                let set = effects.change(fact, becomes) == Change::Set;
                facts.push((fact as usize, set));
                for &group in groups_of[fact as usize].iter().filter(|_| set) {
                    let others = puzzle.net.exclusive()[group].facts.iter();
                    let others = others.filter(|&&other| other != fact as usize);
                    facts.extend(others.map(|&other| (other, false)));
                }
            }
            let row = &mut after[made];
            let mut is_first = true;
            let learned = ternary.suppose(facts, |ternary, learned| {
                for &chosen in learned.iter().flat_map(|&node| &legal_of[node]) {
                    if ternary.read(effects.legal[chosen]) == Some(false) {
                        row[chosen / 64] |= 1 << (chosen % 64);
                    }
                }
                // What the move needs as at the start remains so, if nothing that is
                // legal after it changes that.
                let remains = |&fact: &usize| {
                    let mover = &self.movers[fact];
                    let away = mover.must.iter().chain(&mover.may);
                    let mut away = away.map(|&by| by as usize);
                    !mover.is_still()
                        && away.all(|by| by != made && row[by / 64] >> (by % 64) & 1 == 1)
                };
                if !std::mem::take(&mut is_first) {
                    return Vec::new();
                }
                let needs = needs(&mut conjuncts, effects, made, &holds);
                let remaining = needs.into_iter().filter(remains);
                remaining.map(|fact| (fact, holds[fact])).collect()
            });
            let Some(left) = effort.checked_sub(learned) else {
                return;
            };
            effort = left;
        }
        self.after = after;
    }

    /// Whether a move is never legal once another was made; both may be one.
    pub fn is_never_after(&self, chosen: usize, made: usize) -> bool {
        (self.after.get(made)).is_some_and(|row| row[chosen / 64] >> (chosen % 64) & 1 == 1)
    }

    /// The moves that are never legal once this one was made.
    pub fn never_after(&self, made: usize) -> impl Iterator<Item = usize> {
        let words = self.after.get(made).into_iter().flatten().enumerate();
        words.flat_map(|(place, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| 64 * place + bit)
        })
    }
}

/// Drops moves that change nothing back, because they are only legal while that
/// is as at the start: whatever changes it changes for ever another fact that
/// they need as it was.
fn settle(movers: &mut [Mover], effects: &Effects, holds: &[bool]) {
    let mut conjuncts = Conjuncts::new(&effects.network);
    let mut needs_of: Vec<Option<Vec<usize>>> = vec![None; effects.legal.len()];
    for fact in 0..movers.len() {
        if movers[fact].back.is_empty() || movers[fact].is_still() {
            continue;
        }
        let mut back = std::mem::take(&mut movers[fact].back);
        let away: Vec<u32> = [movers[fact].must.as_slice(), &movers[fact].may].concat();
        back.retain(|&by| {
            let by = by as usize;
            let needs =
                needs_of[by].get_or_insert_with(|| needs(&mut conjuncts, effects, by, holds));
            let is_gone = |&other: &usize| {
                let other_mover = &movers[other];
                other != fact
                    && other_mover.back.is_empty()
                    && away
                        .iter()
                        .all(|by| other_mover.must.binary_search(by).is_ok())
            };
            !needs.iter().any(is_gone)
        });
        movers[fact].back = back;
    }
}

/// Facts that are as at the start whenever a move is legal.
fn needs(
    conjuncts: &mut Conjuncts<'_>,
    effects: &Effects,
    chosen: usize,
    holds: &[bool],
) -> Vec<usize> {
    let parts = conjuncts.of(effects.legal[chosen]);
    let needed = |literal: &Literal| {
        let fact = effects.network.input_number(literal.node())?;
        (holds[fact] != literal.is_negated()).then_some(fact)
    };
    parts.iter().filter_map(needed).collect()
}
