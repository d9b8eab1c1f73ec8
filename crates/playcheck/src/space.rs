//! The complete state space of a small game.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::playouts::{compared, goals, legal};
use super::tally::{Path, Scores, Tally};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, joint_moves};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

/// Maximum number of joint moves that are visited in one position.
const MOST_JOINT: usize = 1_000_000;

/// The result of exploring all positions.
pub(super) struct Space {
    /// The tally of all positions.
    pub(super) tally: Tally,
    /// The termination of matches.
    pub(super) ending: Ending,
    /// All positions, the initial one first.
    pub(super) states: Vec<State>,
    /// For each position: the one before it and the moves made there.
    parents: Vec<(u32, Vec<Move>)>,
}

/// The termination of matches.
pub(super) enum Ending {
    /// Every match ends, after at most this number of joint moves.
    Within(u64),
    /// The first moves lead to a position, and the second ones lead from there back to it.
    Cycle(Path, Path),
}

pub(super) type State = <AnyMachine as Machine>::State;

struct Walk {
    numbers: HashMap<State, u32, FxBuildHasher>,
    states: Vec<State>,
    /// For each position: the one before it and the moves made there.
    parents: Vec<(u32, Vec<Move>)>,
    /// For each position: its distinct successors.
    after: Vec<Vec<u32>>,
}

impl Space {
    /// Explores all positions, unless there are more than `most` or `stop` ends it.
    pub(super) fn of(
        machine: &mut AnyMachine,
        most: usize,
        ignored: &[TermId],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Space>, PlayError> {
        let mut tally = Tally::new(machine.game().role_count());
        let mut scores = Scores::new(machine.game(), machine.terms());
        let start = machine.initial()?;
        let mut walk = Walk {
            numbers: HashMap::default(),
            states: vec![start.clone()],
            parents: vec![(0, Vec::new())],
            after: Vec::new(),
        };
        walk.numbers.insert(start, 0);
        let mut number = 0;
        while number < walk.states.len() {
            if stop() || walk.states.len() > most {
                return Ok(None);
            }
            let state = walk.states[number].clone();
            let length = length(&walk.parents, number);
            let mut after = Vec::new();
            if machine.is_terminal(&state)? {
                let goals = goals(machine, &state)?;
                tally.end(&goals, &mut scores, length, || path(&walk.parents, number));
            } else {
                let legal = legal(machine, &state)?;
                let counts: Vec<usize> = legal.iter().map(Vec::len).collect();
                let joints = counts
                    .iter()
                    .try_fold(1usize, |product, &count| product.checked_mul(count));
                if joints.is_none_or(|joints| joints > MOST_JOINT) {
                    return Ok(None);
                }
                if tally.position(&counts, length, || path(&walk.parents, number)) {
                    let here = compared(machine, &state, ignored);
                    for joint in joint_moves(&legal) {
                        if stop() {
                            return Ok(None);
                        }
                        let next = machine.next(&state, &joint)?;
                        if compared(machine, &next, ignored) == here {
                            tally.idle(|| joint.clone(), length, || path(&walk.parents, number));
                        }
                        let fresh = walk.states.len() as u32;
                        let to = *walk.numbers.entry(next.clone()).or_insert(fresh);
                        if to == fresh {
                            walk.states.push(next);
                            walk.parents.push((number as u32, joint));
                        }
                        if !after.contains(&to) {
                            after.push(to);
                        }
                    }
                }
            }
            walk.after.push(after);
            number += 1;
        }
        let ending = match longest(&walk.after, 0) {
            Some(longest) => Ending::Within(longest),
            None => walk.round(machine)?,
        };
        Ok(Some(Space {
            tally,
            ending,
            states: walk.states,
            parents: walk.parents,
        }))
    }

    /// A shortest path to a position.
    pub(super) fn path(&self, number: usize) -> Path {
        path(&self.parents, number)
    }

    /// The number of joint moves of that path.
    pub(super) fn length(&self, number: usize) -> usize {
        length(&self.parents, number)
    }
}

impl Walk {
    /// A cycle, where there is one.
    fn round(&self, machine: &mut AnyMachine) -> Result<Ending, PlayError> {
        let around = cycle(&self.after);
        let mut back = Vec::with_capacity(around.len());
        for (place, &number) in around.iter().enumerate() {
            let to = around[(place + 1) % around.len()] as usize;
            let state = &self.states[number as usize];
            for joint in joint_moves(&legal(machine, state)?) {
                if machine.next(state, &joint)? == self.states[to] {
                    back.push(joint);
                    break;
                }
            }
        }
        Ok(Ending::Cycle(path(&self.parents, around[0] as usize), back))
    }
}

fn path(parents: &[(u32, Vec<Move>)], mut number: usize) -> Path {
    let mut path = Path::new();
    while number != 0 {
        path.push(parents[number].1.clone());
        number = parents[number].0 as usize;
    }
    path.reverse();
    path
}

fn length(parents: &[(u32, Vec<Move>)], mut number: usize) -> usize {
    let mut length = 0;
    while number != 0 {
        length += 1;
        number = parents[number].0 as usize;
    }
    length
}

/// The number of edges of the longest path from a vertex, if no cycle is reachable from it.
pub(super) fn longest(after: &[Vec<u32>], first: usize) -> Option<u64> {
    let mut is_reached = vec![false; after.len()];
    is_reached[first] = true;
    let mut open = vec![first];
    let mut before = vec![0u32; after.len()];
    let mut reached = 0;
    while let Some(number) = open.pop() {
        reached += 1;
        for &to in &after[number] {
            before[to as usize] += 1;
            if !std::mem::replace(&mut is_reached[to as usize], true) {
                open.push(to as usize);
            }
        }
    }
    let mut lengths = vec![0u64; after.len()];
    if before[first] == 0 {
        open.push(first);
    }
    let mut done = 0;
    while let Some(number) = open.pop() {
        done += 1;
        for &to in &after[number] {
            let to = to as usize;
            lengths[to] = lengths[to].max(lengths[number] + 1);
            before[to] -= 1;
            if before[to] == 0 {
                open.push(to);
            }
        }
    }
    (done == reached).then(|| lengths.into_iter().max().unwrap_or(0))
}

/// A cycle, beginning with the vertex that has the lowest number.
fn cycle(after: &[Vec<u32>]) -> Vec<u32> {
    // 0: not visited, 1: on the path, 2: done.
    let mut marks = vec![0u8; after.len()];
    let mut way: Vec<(u32, usize)> = vec![(0, 0)];
    marks[0] = 1;
    while let Some((number, place)) = way.last_mut() {
        let Some(&to) = after[*number as usize].get(*place) else {
            marks[*number as usize] = 2;
            way.pop();
            continue;
        };
        *place += 1;
        match marks[to as usize] {
            0 => {
                marks[to as usize] = 1;
                way.push((to, 0));
            }
            1 => {
                let first = way.iter().position(|(number, _)| *number == to);
                let first = first.expect("it is on the path");
                return way[first..].iter().map(|(number, _)| *number).collect();
            }
            _ => {}
        }
    }
    unreachable!("there is a cycle")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_paths_and_cycles_are_found() {
        let line = [vec![1, 2], vec![2], vec![3], vec![]];
        assert_eq!(longest(&line, 0), Some(3));
        let looping = [vec![1], vec![2, 3], vec![1], vec![]];
        assert_eq!(longest(&looping, 0), None);
        assert_eq!(longest(&looping, 3), Some(0));
        assert_eq!(cycle(&looping), [1, 2]);
        assert_eq!(cycle(&[vec![0]]), [0]);
    }
}
