//! Inductive invariants that prove unsolvability.
//!
//! In: a puzzle. Out: clauses that hold at the start, are preserved by every move,
//! and that no solution satisfies: a proof that can be checked move by move. First
//! come candidate clauses, derived from facts and moves that exclude each other as
//! in [`move_set`]; those that are not inductive together are dropped. If they do
//! not suffice, the search works backwards from the end: a state from which a
//! solution can be reached is generalised to a cube that is unreachable within a
//! number of moves, until the cubes of two successive numbers agree.
//!
//! Source: Flanagan and Leino, Houdini (2001); Bradley, SAT-based model checking
//! without unrolling (2011).

use super::move_set;
use super::{Puzzle, Reason};
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::Literal;
use ggp_search::Budget;

/// Facts and their values: a conjunction if used as a cube, a disjunction if used
/// as a clause.
pub type Facts = Vec<(u32, bool)>;

/// Limit on the number of literals that are tentatively dropped from a cube.
const MOST_DROPPED: usize = 40;
/// Limit on the number of cubes.
const MOST_CUBES: usize = 20_000;

/// A proof by clauses that there is no plan. None if the budget is exhausted, or if
/// there is a plan.
pub fn prove(puzzle: &Puzzle, budget: &Budget) -> Option<Reason> {
    let clauses = prove_no_other(puzzle, &[], budget)?;
    Some(Reason::Invariant { clauses })
}

/// Clauses that hold at the start, are preserved by every move, and hold in no
/// solution except the states `ends`. None if the budget is exhausted, or if there
/// is another solution.
pub fn prove_no_other(puzzle: &Puzzle, ends: &[Packed], budget: &Budget) -> Option<Vec<Facts>> {
    let mut prover = Prover::new(puzzle, ends, budget)?;
    if !prover.solve(&[prover.solved])? {
        return Some(Vec::new());
    }
    prover.keep_inductive(move_set::candidates(puzzle))?;
    let mut clauses = match prover.suffices()? {
        true => Vec::new(),
        false => prover.search()?,
    };
    clauses.extend(prover.kept.into_iter().map(|candidate| candidate.facts));
    Some(clauses)
}

/// A state, a move and its successor state as clauses, and the invariants found so
/// far.
struct Prover<'p> {
    puzzle: &'p Puzzle,
    budget: &'p Budget,
    clauses: Clauses,
    frame: Frame<'p>,
    facts: Vec<i32>,
    moves: Vec<i32>,
    legal: Vec<i32>,
    over: i32,
    /// True if the state is a solution other than the known ones.
    solved: i32,
    /// If true, a legal move is made.
    continues: i32,
    start: Facts,
    /// Candidate clauses that every move preserves.
    kept: Vec<Candidate>,
    /// By number of moves: the switch for the cubes unreachable within that many
    /// moves.
    levels: Vec<i32>,
    /// By number of moves: the cubes unreachable within that many moves, but
    /// perhaps reachable with one more.
    cubes: Vec<Vec<Facts>>,
}

/// A candidate clause.
struct Candidate {
    facts: Facts,
    /// Switch for the clause.
    assumed: i32,
    /// The clause's literals in the successor state.
    after: Vec<i32>,
    /// If true, none of these literals holds.
    broken: i32,
}

/// A transition that leads into a cube.
struct Entry {
    state: Facts,
    chosen: usize,
    /// The cube's literals in the successor state.
    after: Vec<i32>,
}

impl<'p> Prover<'p> {
    fn new(puzzle: &'p Puzzle, ends: &[Packed], budget: &'p Budget) -> Option<Self> {
        let net = &puzzle.net;
        let mut clauses = Clauses::until(&budget.end());
        let facts: Vec<i32> = net.facts().iter().map(|_| clauses.variable()).collect();
        let moves: Vec<i32> = net.moves()[0].iter().map(|_| clauses.variable()).collect();
        let inputs = [facts.as_slice(), &moves].concat();
        let mut frame = Frame::new(net.network(), &inputs, &clauses);
        frame.add_known(net, &mut clauses);
        let over = frame.literal(net.terminal(), &mut clauses);
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
        let legal: Vec<i32> = (net.legal()[0].iter())
            .map(|&legal| frame.literal(legal, &mut clauses))
            .collect();
        let continues = clauses.variable();
        clauses.add(&[-continues, -over]);
        let (one, two) = clauses.one_and_two(&moves);
        clauses.add(&[-continues, one]);
        clauses.add(&[-continues, -two]);
        for (&made, &legal) in moves.iter().zip(&legal) {
            clauses.add(&[-continues, -made, legal]);
        }
        let start = (0..net.facts().len()).map(|fact| (fact as u32, holds(&puzzle.start, fact)));
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
            continues,
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
        let next = self.puzzle.net.next();
        let literal = |&(fact, holds): &(u32, bool)| {
            let literal: Literal = next[fact as usize].negated_if(!holds);
            self.frame.literal(literal, &mut self.clauses)
        };
        facts.iter().map(literal).collect()
    }

    /// True if the clauses are satisfiable under the assumptions, ignoring models
    /// in which facts of a cycle support only each other. None if the budget is
    /// exhausted.
    fn solve(&mut self, assumed: &[i32]) -> Option<bool> {
        loop {
            if self.clauses.memory() > self.budget.memory_bytes {
                return None;
            }
            if !self.clauses.solve(assumed, -1)? {
                return Some(false);
            }
            let network = self.puzzle.net.network();
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

    /// Keeps the clauses that hold at the start and that every move preserves if
    /// all of them hold before it.
    fn keep_inductive(&mut self, candidates: Vec<Facts>) -> Option<()> {
        let at_start =
            |&(fact, value): &(u32, bool)| holds(&self.puzzle.start, fact as usize) == value;
        let mut left = Vec::new();
        for facts in candidates
            .into_iter()
            .filter(|candidate| candidate.iter().any(at_start))
        {
            let [assumed, broken] = [(); 2].map(|()| self.clauses.variable());
            let mut clause = self.now(&facts);
            clause.push(-assumed);
            self.clauses.add(&clause);
            let after = self.after(&facts);
            after
                .iter()
                .for_each(|&one| self.clauses.add(&[-broken, -one]));
            left.push(Candidate {
                facts,
                assumed,
                after,
                broken,
            });
        }
        loop {
            let any = self.clauses.variable();
            let mut clause: Vec<i32> = left.iter().map(|candidate| candidate.broken).collect();
            clause.push(-any);
            self.clauses.add(&clause);
            let mut assumed: Vec<i32> = left.iter().map(|candidate| candidate.assumed).collect();
            assumed.extend([any, self.continues]);
            if !self.solve(&assumed)? {
                break;
            }
            let clauses = &self.clauses;
            left.retain(|candidate| candidate.after.iter().any(|&one| clauses.holds(one)));
        }
        self.kept = left;
        Some(())
    }

    /// True if the kept clauses exclude all solutions. If so, clauses that are not
    /// needed are dropped.
    fn suffices(&mut self) -> Option<bool> {
        let switches: Vec<i32> = self
            .kept
            .iter()
            .map(|candidate| candidate.assumed)
            .collect();
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
        while let Some(candidate) = open.pop() {
            let mut assumed = switches.clone();
            assumed.push(self.continues);
            assumed.extend(self.kept[candidate].after.iter().map(|literal| -literal));
            if !self.solve(&assumed)? {
                open.extend(self.needed(&mut is_needed));
            }
        }
        let mut is_needed = is_needed.into_iter();
        self.kept.retain(|_| is_needed.next() == Some(true));
        Some(true)
    }

    /// The clauses that the last refutation needed and that were not yet marked.
    fn needed(&self, known: &mut [bool]) -> Vec<usize> {
        let candidates = self.kept.iter().zip(known).enumerate();
        let new = candidates.filter_map(|(number, (candidate, known))| {
            let is_new = !*known && self.clauses.is_needed(candidate.assumed);
            *known |= is_new;
            is_new.then_some(number)
        });
        new.collect()
    }

    /// Clauses whose cubes are all unreachable and which together exclude all
    /// solutions.
    fn search(&mut self) -> Option<Vec<Facts>> {
        // At level 0 the state is the start.
        self.push(0);
        for last in 1.. {
            let level = self.clauses.variable();
            self.push(level);
            while let Some(cube) = self.bad(last)? {
                self.block(cube, last)?;
            }
            if let Some(level) = self.propagate(last)? {
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

    /// The assumptions that describe the states reachable within `level` moves.
    fn within(&self, level: usize) -> Vec<i32> {
        match level {
            0 => self.now(&self.start),
            _ => self.levels[level..].to_vec(),
        }
    }

    /// A cube of solutions that contains one not yet excluded within `level` moves.
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

    /// The facts of a state that suffice to contradict the assumptions.
    fn core(&mut self, state: &Facts, assumed: &[i32]) -> Option<Facts> {
        let mut all = self.now(state);
        all.extend(assumed);
        if self.solve(&all)? {
            // The SAT model was spurious because of cycles; the whole state is also
            // correct.
            return Some(state.clone());
        }
        let literals = self.now(state);
        let needed = state.iter().zip(literals);
        let needed = needed.filter(|&(_, literal)| self.clauses.is_needed(literal));
        Some(needed.map(|(&fact, _)| fact).collect())
    }

    /// Proves that a cube, and the cubes that lead into it, are unreachable within
    /// `level` moves. None if it is reachable, or if the budget is exhausted.
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

    /// Either a transition into the cube from a state outside it that may be
    /// reachable with one move less, or a part of the cube into which there is
    /// none.
    fn enter(&mut self, cube: &Facts, level: usize) -> Option<Result<Facts, Entry>> {
        let outside = self.clauses.variable();
        let mut clause: Vec<i32> = self.now(cube).iter().map(|literal| -literal).collect();
        clause.push(-outside);
        self.clauses.add(&clause);
        let after = self.after(cube);
        let mut assumed = self.within(level - 1);
        assumed.extend([outside, self.continues]);
        assumed.extend(&after);
        let is_met = self.solve(&assumed)?;
        if !is_met {
            let needed = cube.iter().zip(&after);
            let needed = needed.filter(|&(_, &literal)| self.clauses.is_needed(literal));
            let mut smaller: Facts = needed.map(|(&fact, _)| fact).collect();
            if self.is_at_start(&smaller) {
                let differs = |&&(fact, value): &&(u32, bool)| {
                    holds(&self.puzzle.start, fact as usize) != value
                };
                smaller.extend(cube.iter().find(differs));
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

    /// The facts of a state that suffice for a move to be legal and to have these
    /// effects.
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

    /// A smaller cube that is also unreachable within `level` moves.
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

    /// Records that a cube is unreachable within `level` moves, or within more if
    /// that can be proved.
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

    /// Propagates cubes to the next level. If all cubes of a level are, they are
    /// unreachable: returns the level from which this holds.
    fn propagate(&mut self, last: usize) -> Option<Option<usize>> {
        for level in 1..last {
            for cube in std::mem::take(&mut self.cubes[level]) {
                let mut assumed = self.within(level);
                assumed.push(self.continues);
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
