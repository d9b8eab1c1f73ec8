//! SAT planning with a bounded number of moves: 1, 2, 3, and so on.
//!
//! In: a puzzle. Out: a shortest plan, or the number of moves up to which there is
//! none. One solver holds all steps and reuses what it learned for shorter plans.
//! Only the last state is terminal. Facts that depend only on the number of moves
//! are constants of their step. Commuting moves are allowed in one order only.
//!
//! Source: Kautz and Selman, Planning as satisfiability (1992).

mod partial_order;

use super::move_set::effects::{Change, Effects};
use super::move_set::timed_facts::{Continuation, Timeline};
use super::move_set::{Answer, at_start};
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::Literal;
use ggp_gdl::counted::counted;
use ggp_search::Budget;
use ggp_stop::Stop;

/// Searches for a shortest plan of at most [`Budget::depth`] moves.
pub fn bounded(puzzle: &Puzzle, budget: &Budget) -> Answer {
    let stop = budget.end();
    let puzzle = &puzzle.until(stop.clone());
    if let Some(outcome) = at_start(puzzle) {
        let found = "the first state is terminal".to_owned();
        return Answer { outcome, found };
    }
    let Some(effects) = Effects::of(puzzle) else {
        return Answer {
            outcome: Outcome::Unknown,
            found: "moves occur in recursive rules, or the puzzle is too large".to_owned(),
        };
    };
    let timeline = Timeline::new(puzzle, &effects);
    let mut steps = Steps::new(puzzle, &effects, &timeline, stop);
    let outcome = steps.solve(budget);
    let pairs: usize = steps.after.iter().map(Vec::len).sum();
    let found = format!(
        "{}, {} of moves with a fixed order",
        counted(steps.moves.len(), "time step"),
        counted(pairs, "pair")
    );
    Answer { outcome, found }
}

/// The clauses for all steps.
struct Steps<'p> {
    effects: &'p Effects,
    timeline: &'p Timeline,
    clauses: Clauses,
    stop: Stop,
    /// By step: the variables of the facts; false for facts that nothing depends
    /// on.
    states: Vec<Vec<i32>>,
    frames: Vec<Frame<'p>>,
    /// By step: the variables of the moves.
    moves: Vec<Vec<i32>>,
    /// By fact: the moves that may change it.
    movers: Vec<Vec<u32>>,
    /// By move: the moves directly after which it need not be tried.
    after: Vec<Vec<u32>>,
}

impl<'p> Steps<'p> {
    fn new(puzzle: &Puzzle, effects: &'p Effects, timeline: &'p Timeline, stop: Stop) -> Self {
        let mut movers = vec![Vec::new(); effects.relevant.len()];
        for (chosen, changes) in effects.changes.iter().enumerate() {
            for &(fact, _) in changes {
                movers[fact as usize].push(chosen as u32);
            }
        }
        let mut after = partial_order::commuting(effects, &stop);
        if timeline.facts.is_empty() {
            for (chosen, after) in after.iter_mut().enumerate() {
                if partial_order::is_undone_by_itself(effects, chosen) {
                    after.push(chosen as u32);
                }
            }
        }
        let mut steps = Steps {
            effects,
            timeline,
            clauses: Clauses::until(&stop),
            stop,
            states: Vec::new(),
            frames: Vec::new(),
            moves: Vec::new(),
            movers,
            after,
        };
        let yes = steps.clauses.yes();
        let fact = |fact| {
            if holds(&puzzle.start, fact) {
                yes
            } else {
                -yes
            }
        };
        steps.push((0..effects.relevant.len()).map(fact).collect());
        steps
    }

    fn push(&mut self, state: Vec<i32>) {
        let frame = Frame::new(&self.effects.network, &state, &self.clauses);
        self.states.push(state);
        self.frames.push(frame);
    }

    fn solve(&mut self, budget: &Budget) -> Outcome {
        let conflicts = i32::try_from(budget.nodes).unwrap_or(-1);
        // The start is not a solution.
        let mut refuted = None;
        let done = |refuted: Option<u32>| refuted.map_or(Outcome::Unknown, Outcome::NoPlanWithin);
        for depth in 1..=budget.depth {
            if self.stop.is_over() || self.clauses.memory() > budget.memory_bytes {
                return done(refuted);
            }
            let over = Reason::Over { moves: depth - 1 };
            let is_known = self.step();
            if self.stop.is_over() {
                return done(refuted);
            }
            if !is_known {
                return match self.timeline.then {
                    Continuation::End => Outcome::Unsolvable(over),
                    _ => done(refuted),
                };
            }
            let last = depth as usize;
            let solved = self.frames[last].literal(self.effects.solved, &mut self.clauses);
            loop {
                match self.clauses.solve(&[solved], conflicts) {
                    None => return done(refuted),
                    Some(false) if !self.clauses.is_needed(solved) => {
                        return Outcome::Unsolvable(match self.leaves_out_detours() {
                            true => Reason::Refuted {
                                what: format!(
                                    "every play of {} contains a detour",
                                    counted(depth, "move")
                                ),
                            },
                            false => over,
                        });
                    }
                    Some(false) => break,
                    Some(true) => {}
                }
                let plan: Plan = self.moves.iter().map(|moves| self.chosen(moves)).collect();
                if !self.cut_loops() {
                    let optimal = true;
                    return Outcome::Solved { plan, optimal };
                }
            }
            self.clauses.add(&[-solved]);
            refuted = Some(depth);
        }
        done(refuted)
    }

    /// True if moves that undo themselves are excluded directly after themselves.
    fn leaves_out_detours(&self) -> bool {
        let mut after = (0..).zip(&self.after);
        after.any(|(chosen, after)| after.contains(&chosen))
    }

    fn chosen(&self, moves: &[i32]) -> u32 {
        let chosen = moves.iter().position(|&chosen| self.clauses.holds(chosen));
        chosen.expect("a move is made at each step") as u32
    }

    /// Excludes facts of the model that support only each other; true if there were
    /// any.
    fn cut_loops(&mut self) -> bool {
        let network = &self.effects.network;
        if network.regions().is_empty() {
            return false;
        }
        let mut loops = Vec::new();
        for (frame, state) in self.frames.iter().zip(&self.states) {
            let values: Vec<u64> = (state.iter())
                .map(|&fact| u64::from(self.clauses.holds(fact)))
                .collect();
            loops.extend(frame.loops(&network.evaluate(&values), &self.clauses));
        }
        loops.iter().for_each(|clause| self.clauses.add(clause));
        !loops.is_empty()
    }

    /// Adds a step. False if the game is over by then, or if the facts that depend
    /// on time are not known for it. After a stop it is incomplete.
    fn step(&mut self) -> bool {
        let Some(clock) = self.timeline.after(self.states.len()) else {
            return false;
        };
        let effects = self.effects;
        let now = self.states.len() - 1;
        let clauses = &mut self.clauses;
        let no = -clauses.yes();
        let frame = &mut self.frames[now];
        let over = frame.literal(effects.terminal, clauses);
        clauses.add(&[-over]);
        let mut moves = vec![no; effects.legal.len()];
        for (chosen, &legal) in effects.legal.iter().enumerate() {
            if self.stop.is_over() {
                return false;
            }
            if legal == Literal::FALSE {
                continue;
            }
            // What is known of this step, such as its number, rules out many moves.
            let legal = frame.literal(legal, clauses);
            if legal != no {
                moves[chosen] = clauses.variable();
                clauses.add(&[-moves[chosen], legal]);
            }
        }
        let possible: Vec<i32> = moves
            .iter()
            .copied()
            .filter(|&chosen| chosen != no)
            .collect();
        let (one, two) = clauses.one_and_two(&possible);
        clauses.add(&[one]);
        clauses.add(&[-two]);
        let state = &self.states[now];
        let mut next = vec![no; state.len()];
        for (fact, movers) in self.movers.iter().enumerate() {
            let movers = movers.iter().map(|&by| moves[by as usize]);
            let movers: Vec<i32> = movers.filter(|&chosen| chosen != no).collect();
            next[fact] = match (effects.relevant[fact], movers.is_empty()) {
                (false, _) => no,
                (true, true) => state[fact],
                (true, false) => clauses.variable(),
            };
            if !movers.is_empty() {
                let mut clause = movers.clone();
                clause.extend([state[fact], -next[fact]]);
                clauses.add(&clause);
                clause.truncate(movers.len());
                clause.extend([-state[fact], next[fact]]);
                clauses.add(&clause);
            }
        }
        for (&fact, &value) in self.timeline.facts.iter().zip(clock) {
            next[fact] = if value { -no } else { no };
        }
        for (chosen, changes) in effects.changes.iter().enumerate() {
            if self.stop.is_over() {
                return false;
            }
            if moves[chosen] == no {
                continue;
            }
            for &(fact, becomes) in changes {
                let after = next[fact as usize];
                match effects.change(fact, becomes) {
                    Change::Set => clauses.add(&[-moves[chosen], after]),
                    Change::Clear => clauses.add(&[-moves[chosen], -after]),
                    _ => {
                        let becomes = frame.literal(becomes, clauses);
                        clauses.add(&[-moves[chosen], -becomes, after]);
                        clauses.add(&[-moves[chosen], becomes, -after]);
                    }
                }
            }
        }
        if let Some(before) = self.moves.last() {
            for (chosen, after) in self.after.iter().enumerate() {
                for &first in after {
                    let first = before[first as usize];
                    if first != no && moves[chosen] != no {
                        clauses.add(&[-first, -moves[chosen]]);
                    }
                }
            }
        }
        self.moves.push(moves);
        self.push(next);
        true
    }
}

#[cfg(test)]
mod tests;
