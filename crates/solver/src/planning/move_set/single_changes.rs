//! Facts that change at most once, and moves that exclude each other.
//!
//! In: the effects of each move. Out: for each fact, the moves that change it and
//! those that change it back; for each pair of moves, once they are compared, whether
//! one is never legal after the other.

use std::cell::OnceCell;

use super::effects::{Change, Conjuncts, Effects, Readers};
use super::ternary::Ternary;
use super::timed_facts::Timeline;
use crate::planning::Puzzle;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::Literal;
use ggp_engine::propnet::rewrite::live;

/// The moves that change a fact.
#[derive(Clone, Debug, Default)]
pub(super) struct Mover {
    /// Moves after which the fact differs from its initial value.
    pub must: Vec<u32>,
    /// Moves after which the fact may differ from its initial value.
    pub may: Vec<u32>,
    /// Moves that may restore the fact's initial value.
    pub back: Vec<u32>,
}

impl Mover {
    /// True if the fact always keeps its initial value.
    pub fn is_still(&self) -> bool {
        self.must.is_empty() && self.may.is_empty()
    }

    /// True if the fact's value is a function of the set of moves made.
    pub fn is_exact(&self) -> bool {
        self.may.is_empty() && self.back.is_empty()
    }
}

/// The analysis of a puzzle's facts and moves.
#[derive(Debug)]
pub(super) struct SingleChanges {
    /// By fact: the moves that change it.
    pub movers: Vec<Mover>,
    /// By move: whether it may ever be legal.
    pub possible: Vec<bool>,
    /// By fact: its value in all states, if known.
    known: Vec<Option<bool>>,
    /// By move: whether it is known to end the game.
    last: Vec<bool>,
    /// By move, as a bit set: the moves that are never legal after it. Unset until
    /// [`SingleChanges::compare`], and empty if that took too long.
    after: OnceCell<Vec<Vec<u64>>>,
}

/// Limit on the number of nodes that become known, for all moves together.
const MAX_WORK: usize = 40_000_000;
/// Number of moves above which pairs are not compared.
const MOST_MOVES: usize = 16_000;

impl SingleChanges {
    pub fn new(puzzle: &Puzzle, effects: &Effects, timeline: &Timeline) -> SingleChanges {
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
        drop_ineffective(&mut movers, puzzle, effects, &holds);
        let mut known = vec![None; facts];
        for (fact, mover) in movers.iter_mut().enumerate() {
            if effects.relevant[fact] && mover.is_still() {
                known[fact] = Some(holds[fact]);
                mover.back.clear();
            }
        }
        timeline.facts.iter().for_each(|&fact| known[fact] = None);
        let network = &effects.network;
        let readers = Readers::new(network, &vec![true; network.len()]);
        let mut ternary = Ternary::new(network, &readers, &known);
        let possible: Vec<bool> = (effects.legal.iter())
            .map(|&legal| ternary.read(legal) != Some(false))
            .collect();
        let mut analysis = SingleChanges {
            movers,
            possible,
            known,
            last: Vec::new(),
            after: OnceCell::new(),
        };
        analysis.last = analysis.last(puzzle, effects, &mut ternary);
        let last = &analysis.last;
        for mover in &mut analysis.movers {
            // A fact whose changes end the game is never changed back.
            let ends = |by: &u32| last[*by as usize];
            if mover.must.iter().chain(&mover.may).all(ends) {
                mover.back.clear();
            }
        }
        analysis
    }

    /// Compares all pairs of moves, unless that was done before.
    pub fn compare(&self, puzzle: &Puzzle, effects: &Effects) {
        self.after
            .get_or_init(|| self.pairs(puzzle, effects).unwrap_or_default());
    }

    /// True if the pairs of moves were compared.
    pub fn is_compared(&self) -> bool {
        self.after.get().is_some()
    }

    /// By move: whether it is known to end the game. Only moves that change facts
    /// which others change back are examined.
    fn last(&self, puzzle: &Puzzle, effects: &Effects, ternary: &mut Ternary<'_>) -> Vec<bool> {
        let mut last = vec![false; self.possible.len()];
        for (made, changes) in effects.changes.iter().enumerate() {
            if puzzle.stop.is_over() {
                break;
            }
            let is_doubtful = |&(fact, _): &(u32, Literal)| {
                let mover = &self.movers[fact as usize];
                !mover.back.is_empty() && mover.must.binary_search(&(made as u32)).is_ok()
            };
            if self.possible[made] && changes.iter().any(is_doubtful) {
                let constant = changes.iter().filter(|change| change.1.is_constant());
                let facts: Vec<(usize, bool)> = constant
                    .map(|&(fact, becomes)| (fact as usize, becomes == Literal::TRUE))
                    .collect();
                ternary.assume(facts, |ternary, _| {
                    last[made] = ternary.read(effects.terminal) == Some(true);
                    Vec::new()
                });
            }
        }
        last
    }

    /// By move, as a bit set: the moves that are never legal after it. None if that
    /// takes too long.
    fn pairs(&self, puzzle: &Puzzle, effects: &Effects) -> Option<Vec<Vec<u64>>> {
        let moves = self.possible.len();
        if moves > MOST_MOVES {
            return None;
        }
        // Nodes that only the end depends on are not evaluated for each move.
        let network = &effects.network;
        let legal = Readers::new(network, &live(network, effects.legal.iter().copied()));
        let mut ternary = Ternary::new(network, &legal, &self.known);
        let mut legal_of = vec![Vec::new(); network.len()];
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
        let mut effort = MAX_WORK;
        let mut after = vec![vec![0; moves.div_ceil(64)]; moves];
        for made in (0..moves).filter(|&made| self.possible[made]) {
            if puzzle.stop.is_over() {
                return None;
            }
            if self.last[made] {
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
            let learned = ternary.assume(facts, |ternary, learned| {
                for &chosen in learned.iter().flat_map(|&node| &legal_of[node]) {
                    if ternary.read(effects.legal[chosen]) == Some(false) {
                        row[chosen / 64] |= 1 << (chosen % 64);
                    }
                }
                // A requirement that has its initial value keeps it if nothing that
                // changes it is legal after the move.
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
            effort = effort.checked_sub(learned)?;
        }
        Some(after)
    }

    /// True if `chosen` is known never to be legal after `made`; both may be the same move.
    pub fn is_never_after(&self, chosen: usize, made: usize) -> bool {
        let row = self.after.get().and_then(|after| after.get(made));
        row.is_some_and(|row| row[chosen / 64] >> (chosen % 64) & 1 == 1)
    }

    /// The moves that are known never to be legal after `made`.
    pub fn never_after(&self, made: usize) -> impl Iterator<Item = usize> {
        let row = self.after.get().and_then(|after| after.get(made));
        let words = row.into_iter().flatten().enumerate();
        words.flat_map(|(place, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * place + bit)
            })
        })
    }
}

/// Drops moves from `back` that never change the fact back: they require another
/// fact to have its initial value, and every move that changes this fact changes
/// that one for good.
fn drop_ineffective(movers: &mut [Mover], puzzle: &Puzzle, effects: &Effects, holds: &[bool]) {
    let mut conjuncts = Conjuncts::new(&effects.network);
    let mut needs_of: Vec<Option<Vec<usize>>> = vec![None; effects.legal.len()];
    for fact in 0..movers.len() {
        if puzzle.stop.is_over() {
            return;
        }
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

/// Facts that have their initial value whenever a move is legal.
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
