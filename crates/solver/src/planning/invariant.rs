//! Clauses about the state that show that there is no plan.
//!
//! In: a puzzle. Out: clauses that hold at the start, that every move keeps, and
//! that no solution fulfils: a proof that anyone can check move by move. Guesses
//! come first, what facts and moves rule out as far as [`move_set`] knows, less
//! those that are not kept together. What they leave open is found from the end
//! backwards: a state with a solution behind it is generalised to a cube that can
//! not be reached in so many moves, until the cubes of some number of moves are
//! those of one more.
//!
//! Source: Flanagan and Leino, Houdini (2001); Bradley, SAT-based model checking
//! without unrolling (2011).

use super::move_set::{self, watch};
use super::{Puzzle, Reason};
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::Literal;
use ggp_search::Budget;

/// Facts, and whether they hold: all of them in a cube, one of them in a clause.
pub type Facts = Vec<(u32, bool)>;

/// Literals that are dropped from a cube one by one.
const MOST_DROPPED: usize = 40;
/// Cubes found.
const MOST_CUBES: usize = 20_000;

/// Why there is no plan, as clauses; None if the budget ends before, or there is
/// a plan.
pub fn prove(puzzle: &Puzzle, budget: &Budget) -> Option<Reason> {
    let clauses = prove_no_other(puzzle, &[], budget)?;
    Some(Reason::Invariant { clauses })
}

/// Clauses that hold at the start, are kept by every move, and hold in no solution
/// but these states; None if the budget ends before, or there is another.
pub fn prove_no_other(puzzle: &Puzzle, ends: &[Packed], budget: &Budget) -> Option<Vec<Facts>> {
    let mut prover = Prover::new(puzzle, ends, budget)?;
    if !prover.solve(&[prover.solved])? {
        return Some(Vec::new());
    }
    prover.guess(move_set::guesses(puzzle))?;
    let mut clauses = match prover.suffices()? {
        true => Vec::new(),
        false => prover.search()?,
    };
    clauses.extend(prover.kept.into_iter().map(|guess| guess.facts));
    Some(clauses)
}

/// A state, a move and the state after it as clauses, and what is known of
/// states so far.
struct Prover<'p> {
    puzzle: &'p Puzzle,
    budget: &'p Budget,
    clauses: Clauses,
    frame: Frame<'p>,
    facts: Vec<i32>,
    moves: Vec<i32>,
    legal: Vec<i32>,
    over: i32,
    /// It is a solution, and none of those that are known.
    solved: i32,
    /// Where this holds, a legal move is made.
    goes_on: i32,
    start: Facts,
    /// What was guessed and is kept by every move.
    kept: Vec<Guess>,
    /// By number of moves: switches on the cubes that are not met within so many.
    levels: Vec<i32>,
    /// By number of moves: cubes that are not met within so many, but perhaps
    /// with one more.
    cubes: Vec<Vec<Facts>>,
}

/// A clause that may be kept.
struct Guess {
    facts: Facts,
    /// Switches the clause on.
    assumed: i32,
    /// Its literals after the move.
    after: Vec<i32>,
    /// Where this holds, none of these does.
    broken: i32,
}

/// How a cube is entered.
struct Entry {
    state: Facts,
    chosen: usize,
    /// The literals of the cube after the move.
    after: Vec<i32>,
}

impl<'p> Prover<'p> {
    fn new(puzzle: &'p Puzzle, ends: &[Packed], budget: &'p Budget) -> Option<Self> {
        let net = &puzzle.net;
        let mut clauses = Clauses::watched(watch(budget));
        let facts: Vec<i32> = net.facts.iter().map(|_| clauses.variable()).collect();
        let moves: Vec<i32> = net.moves[0].iter().map(|_| clauses.variable()).collect();
        let inputs = [facts.as_slice(), &moves].concat();
        let mut frame = Frame::new(&net.network, &inputs, &clauses);
        for &(fact, equal) in &net.assumed {
            let equal = frame.literal(equal, &mut clauses);
            clauses.add(&[-facts[fact], equal]);
            clauses.add(&[facts[fact], -equal]);
        }
        for group in &net.exclusive {
            let group_facts: Vec<i32> = group.facts.iter().map(|&fact| facts[fact]).collect();
            let (one, two) = clauses.one_and_two(&group_facts);
            clauses.add(&[-two]);
            if group.exact {
                clauses.add(&[one]);
            }
        }
        let over = frame.literal(net.terminal, &mut clauses);
        let mut unsolved = vec![-frame.literal(puzzle.solved, &mut clauses)];
        for end in ends {
            let other = facts
                .iter()
                .enumerate()
                .map(|(fact, &now)| match holds(end, fact) {
                    true => -now,
                    false => now,
                });
            let other: Vec<i32> = other.collect();
            unsolved.push(-clauses.any(&other));
        }
        let solved = -clauses.any(&unsolved);
        let legal: Vec<i32> = (net.legal[0].iter())
            .map(|&legal| frame.literal(legal, &mut clauses))
            .collect();
        let goes_on = clauses.variable();
        clauses.add(&[-goes_on, -over]);
        let (one, two) = clauses.one_and_two(&moves);
        clauses.add(&[-goes_on, one]);
        clauses.add(&[-goes_on, -two]);
        for (&made, &legal) in moves.iter().zip(&legal) {
            clauses.add(&[-goes_on, -made, legal]);
        }
        let start = (0..net.facts.len()).map(|fact| (fact as u32, holds(&puzzle.start, fact)));
        let mut prover = Prover {
            puzzle,
            budget,
            clauses,
            frame,
            facts,
            moves,
            legal,
            over,
            solved,
            goes_on,
            start: start.collect(),
            kept: Vec::new(),
            levels: Vec::new(),
            cubes: Vec::new(),
        };
        let start = prover.now(&prover.start.clone());
        let is_solved = prover.solve(&[start.as_slice(), &[prover.solved]].concat())?;
        (!is_solved).then_some(prover)
    }

    fn now(&self, facts: &[(u32, bool)]) -> Vec<i32> {
        let literal = |&(fact, holds): &(u32, bool)| match holds {
            true => self.facts[fact as usize],
            false => -self.facts[fact as usize],
        };
        facts.iter().map(literal).collect()
    }

    fn after(&mut self, facts: &[(u32, bool)]) -> Vec<i32> {
        let next = &self.puzzle.net.next;
        let literal = |&(fact, holds): &(u32, bool)| {
            let literal: Literal = next[fact as usize].negated_if(!holds);
            self.frame.literal(literal, &mut self.clauses)
        };
        facts.iter().map(literal).collect()
    }

    /// Whether all that is known can be, what holds in cycles only because of
    /// itself left out; None when the budget is spent.
    fn solve(&mut self, assumed: &[i32]) -> Option<bool> {
        loop {
            if self.clauses.memory() > self.budget.memory_bytes {
                return None;
            }
            if !self.clauses.solve(assumed, -1)? {
                return Some(false);
            }
            let network = &self.puzzle.net.network;
            if network.regions().is_empty() {
                return Some(true);
            }
            let inputs = self.facts.iter().chain(&self.moves);
            let values = inputs.map(|&input| u64::from(self.clauses.holds(input)));
            let values = network.evaluate(&values.collect::<Vec<u64>>());
            let loops = self.frame.loops(&values, &self.clauses);
            if loops.is_empty() {
                return Some(true);
            }
            loops.iter().for_each(|clause| self.clauses.add(clause));
        }
    }

    /// Keeps those of some clauses that hold at the start and that every move
    /// keeps, if all of them hold before.
    fn guess(&mut self, guesses: Vec<Facts>) -> Option<()> {
        let at_start =
            |&(fact, value): &(u32, bool)| holds(&self.puzzle.start, fact as usize) == value;
        let mut left = Vec::new();
        for facts in guesses
            .into_iter()
            .filter(|guess| guess.iter().any(at_start))
        {
            let [assumed, broken] = [(); 2].map(|()| self.clauses.variable());
            let mut clause = self.now(&facts);
            clause.push(-assumed);
            self.clauses.add(&clause);
            let after = self.after(&facts);
            after
                .iter()
                .for_each(|&one| self.clauses.add(&[-broken, -one]));
            left.push(Guess {
                facts,
                assumed,
                after,
                broken,
            });
        }
        loop {
            let any = self.clauses.variable();
            let mut clause: Vec<i32> = left.iter().map(|guess| guess.broken).collect();
            clause.push(-any);
            self.clauses.add(&clause);
            let mut assumed: Vec<i32> = left.iter().map(|guess| guess.assumed).collect();
            assumed.extend([any, self.goes_on]);
            if !self.solve(&assumed)? {
                break;
            }
            let clauses = &self.clauses;
            left.retain(|guess| guess.after.iter().any(|&one| clauses.holds(one)));
        }
        self.kept = left;
        Some(())
    }

    /// Whether what was guessed leaves no solution; what it does not take is
    /// forgotten then.
    fn suffices(&mut self) -> Option<bool> {
        let switches: Vec<i32> = self.kept.iter().map(|guess| guess.assumed).collect();
        let mut assumed = switches.clone();
        assumed.push(self.solved);
        if self.solve(&assumed)? {
            switches
                .iter()
                .for_each(|&switch| self.clauses.add(&[switch]));
            return Some(false);
        }
        let mut is_needed = vec![false; self.kept.len()];
        let mut open = self.needed(&mut is_needed);
        while let Some(guess) = open.pop() {
            let mut assumed = switches.clone();
            assumed.push(self.goes_on);
            assumed.extend(self.kept[guess].after.iter().map(|literal| -literal));
            if !self.solve(&assumed)? {
                open.extend(self.needed(&mut is_needed));
            }
        }
        let mut is_needed = is_needed.into_iter();
        self.kept.retain(|_| is_needed.next() == Some(true));
        Some(true)
    }

    /// The guesses that the last refutation took, if they are new.
    fn needed(&self, known: &mut [bool]) -> Vec<usize> {
        let guesses = self.kept.iter().zip(known).enumerate();
        let new = guesses.filter_map(|(number, (guess, known))| {
            let is_new = !*known && self.clauses.is_needed(guess.assumed);
            *known |= is_new;
            is_new.then_some(number)
        });
        new.collect()
    }

    /// Cubes, as clauses, none of which is ever met, and without which there is
    /// no solution.
    fn search(&mut self) -> Option<Vec<Facts>> {
        // At the start all is known.
        self.push(0);
        for last in 1.. {
            let level = self.clauses.variable();
            self.push(level);
            while let Some(cube) = self.bad(last)? {
                self.block(cube, last)?;
            }
            if let Some(level) = self.carry(last)? {
                let cubes = self.cubes[level..].iter().flatten();
                let clause =
                    |cube: &Facts| cube.iter().map(|&(fact, holds)| (fact, !holds)).collect();
                return Some(cubes.map(clause).collect());
            }
        }
        None
    }

    fn push(&mut self, level: i32) {
        self.levels.push(level);
        self.cubes.push(Vec::new());
    }

    /// What is known of states within so many moves.
    fn within(&self, level: usize) -> Vec<i32> {
        match level {
            0 => self.now(&self.start),
            _ => self.levels[level..].to_vec(),
        }
    }

    /// A solution within so many moves, as a cube of solutions.
    fn bad(&mut self, level: usize) -> Option<Option<Facts>> {
        let mut assumed = self.within(level);
        assumed.push(self.solved);
        if !self.solve(&assumed)? {
            return Some(None);
        }
        let state = self.model();
        let why = -self.solved;
        Some(Some(self.core(&state, &[why])?))
    }

    fn model(&self) -> Facts {
        let facts = (0..).zip(&self.facts);
        facts
            .map(|(fact, &variable)| (fact, self.clauses.holds(variable)))
            .collect()
    }

    /// The facts of a state that rule out these assumptions.
    fn core(&mut self, state: &Facts, assumed: &[i32]) -> Option<Facts> {
        let mut all = self.now(state);
        all.extend(assumed);
        if self.solve(&all)? {
            // What cycles leave open; the whole state is right too.
            return Some(state.clone());
        }
        let literals = self.now(state);
        let needed = state.iter().zip(literals);
        let needed = needed.filter(|&(_, literal)| self.clauses.is_needed(literal));
        Some(needed.map(|(&fact, _)| fact).collect())
    }

    /// Shows that a cube is not met within so many moves, nor what leads to it in
    /// fewer. None if it is, or the budget is spent.
    fn block(&mut self, cube: Facts, level: usize) -> Option<()> {
        let mut open = vec![(level, cube)];
        while let Some((level, cube)) = open.pop() {
            if level == 0 || self.is_at_start(&cube) {
                return None;
            }
            let mut known = self.within(level);
            known.extend(self.now(&cube));
            if !self.solve(&known)? {
                continue;
            }
            match self.enter(&cube, level)? {
                Ok(smaller) => {
                    let cube = self.generalised(smaller, level)?;
                    self.exclude(cube, level)?;
                }
                Err(entry) => {
                    let before = self.lifted(entry)?;
                    open.push((level, cube));
                    open.push((level - 1, before));
                }
            }
            if self.cubes.iter().map(Vec::len).sum::<usize>() > MOST_CUBES {
                return None;
            }
        }
        Some(())
    }

    fn is_at_start(&self, cube: &[(u32, bool)]) -> bool {
        let mut cube = cube.iter();
        cube.all(|&(fact, value)| holds(&self.puzzle.start, fact as usize) == value)
    }

    /// A state outside of a cube and within one move less that leads into it, or
    /// a part of the cube into which none does.
    fn enter(&mut self, cube: &Facts, level: usize) -> Option<Result<Facts, Entry>> {
        let outside = self.clauses.variable();
        let mut clause: Vec<i32> = self.now(cube).iter().map(|literal| -literal).collect();
        clause.push(-outside);
        self.clauses.add(&clause);
        let after = self.after(cube);
        let mut assumed = self.within(level - 1);
        assumed.extend([outside, self.goes_on]);
        assumed.extend(&after);
        let is_met = self.solve(&assumed)?;
        if !is_met {
            let needed = cube.iter().zip(&after);
            let needed = needed.filter(|&(_, &literal)| self.clauses.is_needed(literal));
            let mut smaller: Facts = needed.map(|(&fact, _)| fact).collect();
            if self.is_at_start(&smaller) {
                let apart = |&&(fact, value): &&(u32, bool)| {
                    holds(&self.puzzle.start, fact as usize) != value
                };
                smaller.extend(cube.iter().find(apart));
                smaller.sort_unstable();
            }
            self.clauses.add(&[-outside]);
            return Some(Ok(smaller));
        }
        let state = self.model();
        let chosen = self.moves.iter().position(|&made| self.clauses.holds(made));
        self.clauses.add(&[-outside]);
        let chosen = chosen.expect("a move is made");
        Some(Err(Entry {
            state,
            chosen,
            after,
        }))
    }

    /// The facts of a state for which a move is legal and has these effects.
    fn lifted(&mut self, entry: Entry) -> Option<Facts> {
        let other = self.clauses.variable();
        let mut clause: Vec<i32> = entry.after.iter().map(|literal| -literal).collect();
        clause.extend([-other, -self.legal[entry.chosen], self.over]);
        self.clauses.add(&clause);
        let mut assumed: Vec<i32> = self.moves.iter().map(|made| -made).collect();
        assumed[entry.chosen] = -assumed[entry.chosen];
        assumed.push(other);
        let facts = self.core(&entry.state, &assumed)?;
        self.clauses.add(&[-other]);
        Some(facts)
    }

    /// A part of a cube that is not met within so many moves either.
    fn generalised(&mut self, mut cube: Facts, level: usize) -> Option<Facts> {
        for fact in cube.clone().into_iter().take(MOST_DROPPED) {
            if cube.len() == 1 {
                break;
            }
            let mut smaller = cube.clone();
            smaller.retain(|&other| other != fact);
            if smaller.len() < cube.len()
                && !self.is_at_start(&smaller)
                && let Ok(even_smaller) = self.enter(&smaller, level)?
            {
                cube = even_smaller;
            }
        }
        Some(cube)
    }

    /// Says that a cube is not met within so many moves, or more if that can be
    /// seen.
    fn exclude(&mut self, cube: Facts, mut level: usize) -> Option<()> {
        while level + 1 < self.levels.len() {
            match self.enter(&cube, level + 1)? {
                Ok(_) => level += 1,
                Err(_) => break,
            }
        }
        let mut clause: Vec<i32> = self.now(&cube).iter().map(|literal| -literal).collect();
        clause.push(-self.levels[level]);
        self.clauses.add(&clause);
        self.cubes[level].push(cube);
        Some(())
    }

    /// Carries cubes over to one move more. Where all can be, they are never met:
    /// from how many moves on.
    fn carry(&mut self, last: usize) -> Option<Option<usize>> {
        for level in 1..last {
            for cube in std::mem::take(&mut self.cubes[level]) {
                let mut assumed = self.within(level);
                assumed.push(self.goes_on);
                let after = self.after(&cube);
                assumed.extend(after);
                match self.solve(&assumed)? {
                    true => self.cubes[level].push(cube),
                    false => self.exclude(cube, level + 1)?,
                }
            }
            if self.cubes[level].is_empty() {
                return Some(Some(level + 1));
            }
        }
        Some(None)
    }
}
