//! The clauses about a set of moves.
//!
//! In: the analysis of a puzzle's moves. Out: a solver with a variable for each
//! move, made at some time or never, and the last state as a function of these.
//! Every play that reaches a solution satisfies the clauses, except those guarded
//! by an assumption.
//!
//! The time of a move is encoded only where it is needed. A pair of moves then has
//! a variable for which of them is made first (for the first time, if they are
//! repeated), and the requirements of a move are a copy of the gates over the facts
//! at its time. Cycles of these orders are excluded as they occur.

use rustc_hash::FxHashMap;

use super::effects::Effects;
use super::single_changes::SingleChanges;
use super::timed_facts::{Continuation, Timeline};
use crate::planning::Puzzle;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::rewrite::live;
use ggp_stop::Stop;

/// A solver for the sets of moves that may solve a puzzle.
pub(super) struct Formula<'p> {
    puzzle: &'p Puzzle,
    effects: &'p Effects,
    timeline: &'p Timeline,
    single_changes: &'p SingleChanges,
    clauses: Clauses,
    /// By move: whether it is made. A move that can never be made is false.
    made: Vec<i32>,
    /// The gates of the last state.
    last: Frame<'p>,
    /// By fact: its variable in the last state.
    ends: Vec<i32>,
    /// By pair of moves, the lower first: whether the lower is made first.
    orders: FxHashMap<(u32, u32), i32>,
    /// By move: whether each [`Requirement`] has been added.
    has_requirements: Vec<[bool; 2]>,
    copied: usize,
    /// Assumption: no fact changes twice.
    pub changes_once: Option<i32>,
    /// Assumption: no move is made twice.
    pub no_repeats: Option<i32>,
    /// True if every clause added so far holds for all solutions.
    pub is_sound: bool,
}

/// A requirement on the state in which a move is made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Requirement {
    /// The move is legal.
    Legal,
    /// The game is not over.
    Open,
}

/// Limit on the number of nodes copied for single moves.
const MOST_COPIED: usize = 10_000_000;
/// Limit on the number of variables that count moves.
const MOST_COUNTED: usize = 4_000_000;
/// Limit on the number of cycles excluded at a time.
const MOST_CYCLES: usize = 32;

impl<'p> Formula<'p> {
    pub fn new(
        puzzle: &'p Puzzle,
        effects: &'p Effects,
        timeline: &'p Timeline,
        single_changes: &'p SingleChanges,
        stop: Stop,
    ) -> Self {
        let mut clauses = Clauses::until(&stop);
        let no = -clauses.yes();
        let network = &effects.network;
        // The solver tries true first; the variables are negated because fewer
        // moves are better.
        let made = |&possible: &bool| if possible { -clauses.variable() } else { no };
        let made: Vec<i32> = single_changes.possible.iter().map(made).collect();
        let last = Frame::new(network, &vec![no; network.inputs()], &clauses);
        let mut formula = Formula {
            puzzle,
            effects,
            timeline,
            single_changes,
            clauses,
            made,
            last,
            ends: vec![0; network.inputs()],
            orders: FxHashMap::default(),
            has_requirements: vec![[false; 2]; single_changes.possible.len()],
            copied: 0,
            changes_once: None,
            no_repeats: None,
            is_sound: true,
        };
        if single_changes.is_compared() {
            formula.exclude();
        }
        let live = live(network, [effects.solved]);
        formula.ends = formula.state(&live, None);
        formula.last = Frame::new(network, &formula.ends, &formula.clauses);
        let solved = formula.last.literal(effects.solved, &mut formula.clauses);
        formula.clauses.add(&[solved]);
        formula
    }

    /// Excludes pairs of moves of which neither is legal after the other.
    pub fn exclude(&mut self) {
        for one in 0..self.made.len() {
            for other in self
                .single_changes
                .never_after(one)
                .filter(|&other| other > one)
            {
                if self.single_changes.is_never_after(one, other) {
                    self.clauses.add(&[-self.made[one], -self.made[other]]);
                }
            }
        }
    }

    /// The variables of the facts that live nodes depend on; other facts are false.
    /// The state is the last one, or the one in which the move `at` is first made.
    fn state(&mut self, live: &[bool], at: Option<u32>) -> Vec<i32> {
        let network = &self.effects.network;
        let no = -self.clauses.yes();
        let needed = |fact: &usize| live[network.input(*fact).node()];
        let mut state = vec![no; network.inputs()];
        for fact in (0..network.inputs()).filter(needed) {
            let moved = self.moved(fact, at);
            state[fact] = if holds(&self.puzzle.start, fact) {
                -moved
            } else {
                moved
            };
        }
        let facts = self.timeline.facts.iter().enumerate();
        let clocks: Vec<(usize, usize)> = facts.map(|(place, &fact)| (place, fact)).collect();
        if clocks.iter().any(|&(_, fact)| needed(&fact)) {
            let numbers = self.numbers(at);
            for (place, fact) in clocks {
                let values = self.timeline.values.iter().zip(&numbers);
                let then: Vec<i32> = (values.clone().filter(|(values, _)| values[place]))
                    .map(|(_, &number)| number)
                    .collect();
                state[fact] = match self.timeline.then {
                    Continuation::Other => self.clauses.variable(),
                    _ => self.clauses.any(&then),
                };
                for (values, &number) in values {
                    let fact = if values[place] {
                        state[fact]
                    } else {
                        -state[fact]
                    };
                    self.clauses.add(&[-number, fact]);
                }
            }
        }
        state
    }

    /// True if a fact differs from its initial value, in the last state or in the
    /// state in which the move `at` is first made.
    fn moved(&mut self, fact: usize, at: Option<u32>) -> i32 {
        let mover = &self.single_changes.movers[fact];
        if mover.is_still() {
            return -self.clauses.yes();
        }
        let must: Vec<i32> = mover
            .must
            .iter()
            .filter_map(|&by| self.made_at(by, at))
            .collect();
        if mover.is_exact() {
            return self.clauses.any(&must);
        }
        let moved = self.clauses.variable();
        let mut any = vec![-moved];
        any.extend(&must);
        any.extend(mover.may.iter().filter_map(|&by| self.made_at(by, at)));
        self.clauses.add(&any);
        if mover.back.is_empty() {
            must.iter()
                .for_each(|&must| self.clauses.add(&[-must, moved]));
            return moved;
        }
        let changes_once = *self
            .changes_once
            .get_or_insert_with(|| self.clauses.variable());
        must.iter()
            .for_each(|&must| self.clauses.add(&[-changes_once, -must, moved]));
        for &back in mover
            .back
            .iter()
            .filter(|&back| mover.may.binary_search(back).is_err())
        {
            if let Some(back) = self.made_at(back, at) {
                self.clauses.add(&[-changes_once, -back, -moved]);
            }
        }
        moved
    }

    /// True if a move is made, and made before `at` if given; none if it never is.
    fn made_at(&mut self, by: u32, at: Option<u32>) -> Option<i32> {
        let made = self.made[by as usize];
        let Some(at) = at else {
            return self.single_changes.possible[by as usize].then_some(made);
        };
        let (one, other) = (by as usize, at as usize);
        let never = self.single_changes.is_never_after(one, other)
            && self.single_changes.is_never_after(other, one)
            || self.single_changes.is_never_after(other, one);
        if by == at || !self.single_changes.possible[one] || never {
            return None;
        }
        let first = self.order(by, at);
        let both = self.clauses.variable();
        self.clauses.add(&[-both, made]);
        self.clauses.add(&[-both, first]);
        self.clauses.add(&[both, -made, -first]);
        Some(both)
    }

    /// True if a move is made before another, if both are made.
    fn order(&mut self, first: u32, second: u32) -> i32 {
        let (low, high) = (first.min(second), first.max(second));
        let order = match self.orders.get(&(low, high)) {
            Some(&order) => order,
            None => {
                let order = self.clauses.variable();
                self.orders.insert((low, high), order);
                let both = [-self.made[low as usize], -self.made[high as usize]];
                let (l, h) = (low as usize, high as usize);
                if self.single_changes.is_never_after(h, l) {
                    self.clauses.add(&[both[0], both[1], -order]);
                }
                if self.single_changes.is_never_after(l, h) {
                    self.clauses.add(&[both[0], both[1], order]);
                }
                order
            }
        };
        if low == first { order } else { -order }
    }

    /// By number of moves: whether exactly that many are made. The last entry
    /// represents all larger numbers, if the timeline continues.
    fn numbers(&mut self, at: Option<u32>) -> Vec<i32> {
        let count =
            self.timeline.values.len() + usize::from(self.timeline.then == Continuation::Other);
        let numbers: Vec<i32> = (0..count).map(|_| self.clauses.variable()).collect();
        let (one, two) = self.clauses.one_and_two(&numbers);
        self.clauses.add(&[one]);
        self.clauses.add(&[-two]);
        if at.is_some() {
            return numbers;
        }
        let made: Vec<i32> = (0..self.made.len())
            .filter(|&chosen| self.single_changes.possible[chosen])
            .map(|chosen| self.made[chosen])
            .collect();
        if made.len() * count > MOST_COUNTED {
            return numbers;
        }
        let repeats = |chosen| {
            self.single_changes.possible[chosen]
                && !self.single_changes.is_never_after(chosen, chosen)
        };
        let no_repeats = match (0..self.made.len()).any(repeats) {
            true => *self
                .no_repeats
                .get_or_insert_with(|| self.clauses.variable()),
            false => self.clauses.yes(),
        };
        // least[k]: at least k of the moves considered so far are made.
        let (yes, no) = (self.clauses.yes(), -self.clauses.yes());
        let mut least = vec![no; count + 1];
        least[0] = yes;
        for made in made {
            let before = least.clone();
            for k in 1..=count {
                if before[k - 1] == no {
                    break;
                }
                let more = self.clauses.variable();
                self.clauses.add(&[-before[k], more]);
                self.clauses.add(&[-before[k - 1], -made, more]);
                self.clauses.add(&[-more, before[k], before[k - 1]]);
                self.clauses.add(&[-more, before[k], made]);
                least[k] = more;
            }
        }
        for (k, &number) in numbers.iter().enumerate() {
            self.clauses.add(&[-no_repeats, -number, least[k]]);
            if k + 1 < count || self.timeline.then == Continuation::End {
                self.clauses.add(&[-number, -least[k + 1]]);
            }
        }
        numbers
    }

    /// Adds a requirement of a move. False if it was added before, or if the limit
    /// is reached.
    pub fn add_requirement(&mut self, chosen: u32, requirement: Requirement) -> bool {
        if self.has_requirement(chosen, requirement) || self.copied > MOST_COPIED {
            return false;
        }
        self.has_requirements[chosen as usize][requirement as usize] = true;
        let literal = match requirement {
            Requirement::Legal => self.effects.legal[chosen as usize],
            Requirement::Open => !self.effects.terminal,
        };
        let network = &self.effects.network;
        let live = live(network, [literal]);
        self.copied += network.len() / 16 + live.iter().filter(|&&live| live).count();
        let state = self.state(&live, Some(chosen));
        let mut frame = Frame::new(network, &state, &self.clauses);
        let due = frame.literal(literal, &mut self.clauses);
        self.clauses.add(&[-self.made[chosen as usize], due]);
        true
    }

    /// True if [`Formula::add_requirement`] was called for this requirement.
    pub fn has_requirement(&self, chosen: u32, requirement: Requirement) -> bool {
        self.has_requirements[chosen as usize][requirement as usize]
    }

    /// A set of moves, ascending. None if the solver gave up; an error if there is
    /// no set.
    pub fn solve(&mut self, conflicts: i32) -> Option<Result<Vec<u32>, ()>> {
        let assumed: Vec<i32> = self
            .changes_once
            .iter()
            .chain(&self.no_repeats)
            .copied()
            .collect();
        let found = self.clauses.solve(&assumed, conflicts)?;
        if !found {
            self.is_sound &= !assumed
                .iter()
                .any(|&assumed| self.clauses.is_needed(assumed));
            return Some(Err(()));
        }
        let made = |chosen: &u32| {
            self.single_changes.possible[*chosen as usize]
                && self.clauses.holds(self.made[*chosen as usize])
        };
        Some(Ok((0..self.made.len() as u32).filter(made).collect()))
    }

    /// Excludes facts of the last state that support only each other; true if there
    /// were any.
    pub fn cut_loops(&mut self) -> bool {
        let network = &self.effects.network;
        if network.regions().is_empty() {
            return false;
        }
        let holds = |&end: &i32| u64::from(self.clauses.holds(end));
        let values = network.evaluate(&self.ends.iter().map(holds).collect::<Vec<u64>>());
        let loops = self.last.loops(&values, &self.clauses);
        loops.iter().for_each(|clause| self.clauses.add(clause));
        !loops.is_empty()
    }

    /// By position in the model's set: the positions that must come first. None if
    /// there were cycles, which are then excluded.
    pub fn before(&mut self, set: &[u32]) -> Option<Vec<Vec<u32>>> {
        let mut place = vec![u32::MAX; self.made.len()];
        for (number, &chosen) in set.iter().enumerate() {
            place[chosen as usize] = number as u32;
        }
        let mut before = vec![Vec::new(); set.len()];
        for &made in set {
            for first in self.single_changes.never_after(made as usize) {
                if place[first] != u32::MAX && first != made as usize {
                    before[place[made as usize] as usize].push(place[first]);
                }
            }
        }
        for (&(low, high), &order) in &self.orders {
            if place[low as usize] == u32::MAX || place[high as usize] == u32::MAX {
                continue;
            }
            let (first, second) = match self.clauses.holds(order) {
                true => (low, high),
                false => (high, low),
            };
            if !self
                .single_changes
                .is_never_after(first as usize, second as usize)
            {
                before[place[second as usize] as usize].push(place[first as usize]);
            }
        }
        let cycles = cycles(&before);
        for cycle in &cycles {
            let mut cut: Vec<i32> = cycle
                .iter()
                .map(|&at| -self.made[set[at] as usize])
                .collect();
            for (number, &first) in cycle.iter().enumerate() {
                let (first, second) = (set[first], set[cycle[(number + 1) % cycle.len()]]);
                if !self
                    .single_changes
                    .is_never_after(first as usize, second as usize)
                {
                    let order = self.order(first, second);
                    cut.push(-order);
                }
            }
            self.clauses.add(&cut);
        }
        cycles.is_empty().then_some(before)
    }

    /// Excludes exactly this set of moves.
    pub fn block(&mut self, set: &[u32]) {
        let mut clause: Vec<i32> = Vec::new();
        for chosen in (0..self.made.len()).filter(|&chosen| self.single_changes.possible[chosen]) {
            let made = self.made[chosen];
            clause.push(match set.binary_search(&(chosen as u32)) {
                Ok(_) => -made,
                Err(_) => made,
            });
        }
        self.clauses.add(&clause);
    }

    /// Approximate memory used, in bytes.
    pub fn memory(&self) -> u64 {
        self.clauses.memory()
    }
}

/// Cycles of the order, each listed from first to last; empty if the order has
/// none.
fn cycles(before: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut behind = vec![Vec::new(); before.len()];
    for (place, before) in before.iter().enumerate() {
        before
            .iter()
            .for_each(|&first| behind[first as usize].push(place));
    }
    let mut open: Vec<usize> = (0..before.len())
        .filter(|&place| waits[place] == 0)
        .collect();
    while let Some(place) = open.pop() {
        for &later in &behind[place] {
            waits[later] -= 1;
            if waits[later] == 0 {
                open.push(later);
            }
        }
    }
    let mut cycles = Vec::new();
    let mut seen = vec![0; before.len()];
    let mut walk = 0;
    for start in (0..before.len()).filter(|&place| waits[place] > 0) {
        // Walk back through positions that wait until one repeats.
        walk += 1;
        let (mut at, mut path) = (start, Vec::new());
        while seen[at] == 0 {
            seen[at] = walk;
            path.push(at);
            let first = before[at].iter().map(|&first| first as usize);
            at = first
                .into_iter()
                .find(|&first| waits[first] > 0)
                .expect("the position waits for another");
        }
        if seen[at] == walk {
            let from = path
                .iter()
                .position(|&place| place == at)
                .expect("the position is on the path");
            let mut cycle = path.split_off(from);
            cycle.reverse();
            cycles.push(cycle);
            if cycles.len() == MOST_CYCLES {
                break;
            }
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::cycles;

    #[test]
    fn cycles_are_listed_from_first_to_last() {
        assert!(cycles(&[vec![1, 2], vec![2], vec![]]).is_empty());
        assert_eq!(cycles(&[vec![1], vec![2], vec![0], vec![0]]), [[2, 1, 0]]);
    }
}
