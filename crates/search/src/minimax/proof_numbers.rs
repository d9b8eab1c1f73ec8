//! Depth-first proof-number search: what a role can force, where alpha-beta search does not
//! reach the end of the game.
//!
//! A question is whether the role can force at least a certain score. The proof number of a
//! position is a lower bound of the effort to answer yes, the disproof number one to answer no;
//! the search goes where the answer seems to cost the least. It needs no estimates. An answer
//! gives bounds of the score that hold for other questions, too.
//!
//! A position that repeats ends the search, since this method cannot tell endless play from play
//! that is lost.
//!
//! Source: Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", 2002;
//! Ueda, Hashimoto, Hashimoto and Iida, "Weak proof-number search", 2008; Pawlewicz and Lew,
//! "Improving depth-first PN-search: 1 + ε trick", 2007.

use std::cmp::Reverse;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::expanded::Expanded;
use super::table::Halves;
use super::tree::Tree;
use super::{Child, MOST_AHEAD, MinimaxGame, Wanted};
use crate::{Joint, Stop};

/// The number of what cannot be answered this way, or is answered the other way.
const NEVER: u32 = 1 << 30;
/// The first number of a position in which both sides have the same choice and prospects. It is
/// large enough for smaller efforts, and so large that a position weighs more than one of many
/// parts. Measured.
const EVEN: u32 = 16;
/// The weight of a forecast: the effort for a score that is sure is e to half of this times less
/// than for an even one. Measured.
const STEEPNESS: f64 = 8.0;
/// The question of numbers that do not depend on it.
const ANY: u8 = u8::MAX;

/// The knowledge about a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Known {
    /// Proved bounds of the score.
    least: u8,
    most: u8,
    /// The score whose proof and disproof numbers these are.
    goal: u8,
    numbers: Numbers,
}

/// A proof and a disproof number, or limits of both.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Numbers {
    proof: u32,
    disproof: u32,
}

/// The answers of a search so far.
pub(super) struct Proofs<S> {
    known: Halves<S, Known>,
    /// True for the scores of terminal states that were seen.
    seen: [bool; 101],
}

/// The reasons to end a search.
pub(super) enum End<E> {
    Stop(Stop<E>),
    /// A position repeats, or is too far ahead.
    Unfit,
}

impl<E> From<Stop<E>> for End<E> {
    fn from(stop: Stop<E>) -> Self {
        End::Stop(stop)
    }
}

impl Known {
    const NOTHING: Known = Known {
        least: 0,
        most: 100,
        goal: ANY,
        numbers: Numbers {
            proof: EVEN,
            disproof: EVEN,
        },
    };

    /// A position about which nothing can be proved.
    const WRONG: Known = Known {
        numbers: Numbers {
            proof: NEVER,
            disproof: NEVER,
        },
        ..Known::NOTHING
    };

    /// A position with these numbers of moves of the role and of joint moves of the others, and a
    /// forecast of the score. The side with the choice needs one good move, the other an answer
    /// to each.
    fn new([own, others]: [u32; 2], score: f64) -> Self {
        let choice = f64::from(others.max(1)) / f64::from(own.max(1));
        let effort = choice * (STEEPNESS * (0.5 - score / 100.0)).exp();
        let number = |effort: f64| 1 + (f64::from(EVEN) * effort).min(f64::from(NEVER / 2)) as u32;
        Known {
            numbers: Numbers {
                proof: number(effort),
                disproof: number(1.0 / effort),
            },
            ..Known::NOTHING
        }
    }

    /// A terminal state.
    fn end(score: u8) -> Self {
        Known {
            least: score,
            most: score,
            ..Known::NOTHING
        }
    }

    fn is_exact(self) -> bool {
        self.least == self.most
    }

    fn numbers(self, goal: u8) -> Numbers {
        let (proof, disproof) = match () {
            () if self.least >= goal => (0, NEVER),
            () if self.most < goal => (NEVER, 0),
            () if self.goal == goal || self.goal == ANY => return self.numbers,
            () => (EVEN, EVEN),
        };
        Numbers { proof, disproof }
    }
}

impl<S: Clone + Eq + Hash> Proofs<S> {
    /// Nothing yet, with a limit in bytes.
    pub(super) fn new(memory_bytes: u64) -> Self {
        Proofs {
            known: Halves::new(memory_bytes),
            seen: [false; 101],
        }
    }

    /// The knowledge about a child, for a role.
    fn of_child(&self, child: &Child<S>, role: usize) -> Known {
        match &child.scores {
            Some(_) if child.is_wrong => Known::WRONG,
            Some(scores) => Known::end(scores[role]),
            None => self.known.get(&child.state).unwrap_or(Known::NOTHING),
        }
    }

    /// The bounds of a move of the role.
    fn of_move<M>(&self, expanded: &Expanded<S, M>, own: usize, role: usize) -> (u8, u8) {
        let answers = (0..expanded.others).map(|others| {
            let place = expanded.at(own, others);
            self.of_child(&expanded.expansion.children[place], role)
        });
        let least = answers.clone().map(|answer| answer.least).min();
        let most = answers.map(|answer| answer.most).min();
        let least = least.filter(|_| expanded.expansion.is_whole);
        (least.unwrap_or(0), most.unwrap_or(100))
    }

    /// The score to ask for next: the middle one of those seen that decide something.
    fn goal(&self, known: Known) -> u8 {
        let seen = (known.least + 1..=known.most).filter(|score| self.seen[usize::from(*score)]);
        let seen: Vec<u8> = seen.collect();
        seen.get(seen.len() / 2).copied().unwrap_or(known.least + 1)
    }
}

/// The effort for all parts of a question. Parts may have positions in common, so their sum
/// would be too much.
fn all(parts: impl Iterator<Item = u32>) -> u32 {
    let (mut most, mut open) = (0, 0_u32);
    for part in parts {
        most = part.max(most);
        open += u32::from(part > 0);
    }
    match most {
        0 | NEVER => most,
        most => (most + open - 1).min(NEVER - 1),
    }
}

/// The limit for one of the parts, if there is one for all.
fn part_of(limit: u32, parts: impl Iterator<Item = u32>) -> u32 {
    let open = parts.filter(|part| *part > 0).count() as u32;
    limit - open.saturating_sub(1).min(limit)
}

/// The least number, its place, and the least of the others.
fn least(numbers: impl Iterator<Item = u32>) -> (usize, u32, u32) {
    let (mut place, mut best, mut next) = (0, NEVER, NEVER);
    for (at, number) in numbers.enumerate() {
        if number < best {
            (place, best, next) = (at, number, best);
        } else {
            next = next.min(number);
        }
    }
    (place, best, next)
}

/// The limit of the best way: a little more than the next best, so that the search does not
/// go to and fro.
fn ahead_of(next: u32) -> u32 {
    (next + next / 4 + 1).min(NEVER)
}

impl<G: MinimaxGame> Tree<'_, G> {
    /// Looks for what is wanted about the moves of the root, in this order. Returns true if it
    /// was found.
    pub(super) fn settle(
        &mut self,
        proofs: &mut Proofs<G::State>,
        order: &[&G::Move],
    ) -> Result<bool, End<G::Error>> {
        let root = self.path.pop().expect("the root is on the path");
        let expanded = self.root.take().expect("`begin` expanded the root");
        let found = self.settle_root(proofs, &root, &expanded, order);
        self.root = Some(expanded);
        self.path.clear();
        self.path.push(root);
        found
    }

    fn settle_root(
        &mut self,
        proofs: &mut Proofs<G::State>,
        root: &G::State,
        expanded: &Expanded<G::State, G::Move>,
        order: &[&G::Move],
    ) -> Result<bool, End<G::Error>> {
        let Some(score) = self.settle_state(proofs, root)? else {
            return Ok(false);
        };
        let legal = &expanded.expansion.legal[self.role];
        let places: FxHashMap<&G::Move, usize> = order.iter().copied().zip(0..).collect();
        let mut moves: Vec<usize> = (0..expanded.own).collect();
        moves.sort_by_cached_key(|&own| {
            let is_best = proofs.of_move(expanded, own, self.role).0 == score;
            (!is_best, places.get(&legal[own]))
        });
        let known_at = self.moves.iter().map(|found| found.index).zip(0..);
        let known_at: FxHashMap<usize, usize> = known_at.collect();
        self.path.push(root.clone());
        for own in moves {
            let Some(found) = self.settle_move(proofs, expanded, own)? else {
                return Ok(false);
            };
            // The entries may be dropped before the end.
            let value = &mut self.moves[known_at[&own]].value;
            (value.least, value.most) = (found, found);
            if self.wanted == Wanted::Best && found == score {
                break;
            }
        }
        Ok(true)
    }

    /// Looks for the score of a move of the root.
    fn settle_move(
        &mut self,
        proofs: &mut Proofs<G::State>,
        root: &Expanded<G::State, G::Move>,
        own: usize,
    ) -> Result<Option<u8>, End<G::Error>> {
        let children = &root.expansion.children;
        let places = (0..root.others).map(|others| root.at(own, others));
        let mut answers: Vec<(Known, usize)> = places
            .map(|place| (proofs.of_child(&children[place], self.role), place))
            .collect();
        loop {
            let most = answers.iter().map(|(known, _)| known.most).min();
            let Some((known, place)) = answers.iter_mut().min_by_key(|(known, _)| known.least)
            else {
                return Ok(None);
            };
            if Some(known.least) == most {
                return Ok(most);
            }
            if *known == Known::WRONG {
                return Ok(None);
            }
            self.places.push(*place);
            let Some(score) = self.settle_state(proofs, &children[*place].state)? else {
                return Ok(None);
            };
            self.places.pop();
            *known = Known::end(score);
        }
    }

    /// Looks for the score of a position.
    fn settle_state(
        &mut self,
        proofs: &mut Proofs<G::State>,
        state: &G::State,
    ) -> Result<Option<u8>, End<G::Error>> {
        let mut known = proofs.known.get(state).unwrap_or(Known::NOTHING);
        while !known.is_exact() {
            let (goal, before) = (proofs.goal(known), known);
            let limits = Numbers {
                proof: NEVER,
                disproof: NEVER,
            };
            known = self.search_for(proofs, state, goal, limits)?;
            if (known.least, known.most) == (before.least, before.most) {
                return Ok(None);
            }
        }
        Ok(Some(known.least))
    }

    /// Searches a state that is not terminal until one of its numbers reaches its limit.
    fn search_for(
        &mut self,
        proofs: &mut Proofs<G::State>,
        state: &G::State,
        goal: u8,
        limits: Numbers,
    ) -> Result<Known, End<G::Error>> {
        let has_cycles = self.seen.has_cycles || self.path.contains(state);
        self.seen.has_cycles = has_cycles;
        if has_cycles || self.path.len() >= MOST_AHEAD as usize {
            return Err(End::Unfit);
        }
        self.spend()?;
        let expansion = self.game.expand(state, self.role).map_err(Stop::Error)?;
        let expanded = Expanded::new(self.role, expansion, &self.chance);
        self.record(&expanded);
        let mut children: Vec<Known> = Vec::with_capacity(expanded.expansion.children.len());
        for child in &expanded.expansion.children {
            let known = proofs.of_child(child, self.role);
            if child.scores.is_some() && known.is_exact() {
                proofs.seen[usize::from(known.least)] = true;
            }
            children.push(known);
        }
        self.set_first_numbers(&expanded, &mut children);
        self.path.push(state.clone());
        let known = loop {
            let known = of_children(&expanded, &children, goal);
            let Numbers { proof, disproof } = known.numbers(goal);
            let is_answered = proof == 0 || disproof == 0;
            if is_answered || proof >= limits.proof || disproof >= limits.disproof {
                break known;
            }
            let (place, limits) = way(&expanded, &children, goal, limits);
            let child = &expanded.expansion.children[place].state;
            self.places.push(place);
            children[place] = self.search_for(proofs, child, goal, limits)?;
            self.places.pop();
        };
        self.path.pop();
        let heap_bytes = self.game.state_heap_bytes(state);
        proofs.known.insert(state, known, heap_bytes);
        Ok(known)
    }

    /// Sets the numbers of children that have none.
    fn set_first_numbers(
        &mut self,
        expanded: &Expanded<G::State, G::Move>,
        children: &mut [Known],
    ) {
        let all = expanded.expansion.children.iter().zip(children);
        let is_unknown = |(child, known): &(&Child<_>, &mut Known)| {
            child.scores.is_none() && **known == Known::NOTHING
        };
        let unknown: Vec<_> = all.filter(is_unknown).collect();
        let states: Vec<&G::State> = unknown.iter().map(|(child, _)| &child.state).collect();
        let mut scores = Vec::with_capacity(states.len());
        self.game.forecast(&states, self.role, &mut scores);
        for ((child, known), score) in unknown.into_iter().zip(scores) {
            *known = Known::new(child.choices, score);
        }
    }

    /// Tightens the bounds of the moves of the root, and puts the best first.
    pub(super) fn learn(&mut self, proofs: &Proofs<G::State>) {
        let Some(root) = &self.root else {
            return;
        };
        let known = proofs.known.get(&self.path[0]).unwrap_or(Known::NOTHING);
        for found in &mut self.moves {
            let (least, most) = proofs.of_move(root, found.index, self.role);
            let value = &mut found.value;
            value.least = value.least.max(least);
            value.most = value.most.min(most).min(known.most);
            *value = value.clipped();
        }
        self.moves.sort_by_key(|found| {
            let value = found.value;
            Reverse((value.least, value.most, value.expected))
        });
    }

    /// The expected continuation as far as it is known. Proof numbers do not know how long it
    /// takes.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub(super) fn proved_line(
        &mut self,
        proofs: &Proofs<G::State>,
    ) -> Result<Vec<Joint<G::Move>>, G::Error> {
        let mut line = Vec::new();
        let (Some(first), Some(root)) = (self.moves.first(), self.path.first()) else {
            return Ok(line);
        };
        let (mut state, mut own) = (root.clone(), Some(first.index));
        while line.len() < MOST_AHEAD as usize {
            let expansion = self.game.expand(&state, self.role)?;
            let expanded = Expanded::new(self.role, expansion, &self.chance);
            let children = &expanded.expansion.children;
            let known = |own: usize, others: usize| {
                proofs.of_child(&children[expanded.at(own, others)], self.role)
            };
            let answer = |own: usize| {
                let answers = (0..expanded.others).map(|others| (known(own, others), others));
                answers.min_by_key(|(known, _)| (known.most, known.least))
            };
            let best = match own.take() {
                Some(own) => answer(own).map(|(known, others)| (known, own, others)),
                None => (0..expanded.own)
                    .filter_map(|own| answer(own).map(|(known, others)| (known, own, others)))
                    .max_by_key(|(known, own, _)| (known.least, known.most, Reverse(*own))),
            };
            let Some((_, own, others)) = best.filter(|(known, ..)| known.is_exact()) else {
                break;
            };
            let place = expanded.at(own, others);
            line.push(expanded.joint_to(place));
            if children[place].scores.is_some() {
                break;
            }
            state = children[place].state.clone();
        }
        Ok(line)
    }
}

/// The knowledge about a position that follows from its children.
fn of_children<S, M>(expanded: &Expanded<S, M>, children: &[Known], goal: u8) -> Known {
    if children.is_empty() {
        return Known::WRONG;
    }
    let moves = || 0..expanded.own;
    let answers = |own| (0..expanded.others).map(move |others| children[expanded.at(own, others)]);
    let least = moves().map(|own| answers(own).map(|known| known.least).min());
    let most = moves().map(|own| answers(own).map(|known| known.most).min());
    let (least, most) = (least.max().flatten(), most.max().flatten());
    let proof = |own| all(answers(own).map(|known| known.numbers(goal).proof));
    let disproof = |own| answers(own).map(|known| known.numbers(goal).disproof).min();
    let numbers = Numbers {
        proof: match expanded.expansion.is_whole {
            true => moves().map(proof).min().unwrap_or(NEVER),
            false => NEVER,
        },
        disproof: all(moves().filter_map(disproof)),
    };
    Known {
        least: match expanded.expansion.is_whole {
            true => least.unwrap_or(0),
            false => 0,
        },
        most: most.unwrap_or(100),
        goal,
        numbers,
    }
}

/// The child to search next, and its limits.
fn way<S, M>(
    expanded: &Expanded<S, M>,
    children: &[Known],
    goal: u8,
    limits: Numbers,
) -> (usize, Numbers) {
    let moves = || 0..expanded.own;
    let answers = |own| {
        (0..expanded.others).map(move |others| children[expanded.at(own, others)].numbers(goal))
    };
    let proof = |own| all(answers(own).map(|numbers| numbers.proof));
    let disproof = |own| answers(own).map(|numbers| numbers.disproof).min();
    let (own, _, next) = least(moves().map(proof));
    let of_move = Numbers {
        proof: limits.proof.min(ahead_of(next)),
        disproof: part_of(limits.disproof, moves().filter_map(disproof)),
    };
    let (others, _, next) = least(answers(own).map(|numbers| numbers.disproof));
    let of_answer = Numbers {
        proof: part_of(of_move.proof, answers(own).map(|numbers| numbers.proof)),
        disproof: of_move.disproof.min(ahead_of(next)),
    };
    (expanded.at(own, others), of_answer)
}
