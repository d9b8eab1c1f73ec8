//! Ground rules for a SAT solver, state by state.
//!
//! In: atoms of the state after a number of moves, requested one by one. Out: a solver
//! with the clauses that they depend on: an atom holds exactly if one of its bodies does
//! (Clark's completion), and a fact of a state exactly if `next` holds for it in the state
//! before. Where atoms depend on each other, this has models that the rules do not allow.
//! They are recognized by deriving all atoms again, and loop formulas exclude them. UNSAT
//! is therefore sound, and a remaining model is a model of the rules.
//!
//! Source: Clark, Negation as failure (1978); Lin and Zhao, ASSAT: computing
//! answer sets of a logic program by SAT solvers (2004).

use ggp_engine::sat::{SatSolver, Solver};
use rustc_hash::FxHashMap;

use crate::program::{Input, Program};
use crate::{Failure, Limits};

/// The first state.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum First {
    /// The first state of the program.
    Start,
    /// Any state.
    Any,
}

/// A state, and the move made in it.
#[derive(Default)]
struct Frame {
    /// The variable of each atom; 0 if it has none yet.
    atoms: Vec<i32>,
    /// The literal of each rule's body.
    bodies: FxHashMap<u32, i32>,
}

/// States and moves as clauses. Literals are numbers other than 0; a negative number is the
/// negation.
pub(crate) struct Formula<'p> {
    program: &'p Program,
    solver: Solver,
    limits: &'p Limits,
    first: First,
    variables: i32,
    frames: Vec<Frame>,
    /// Goal atoms with at least the target score.
    enough: Vec<u32>,
}

/// The most atoms and variables of all states together.
const MOST: usize = 100_000_000;

/// The literal that is always true.
pub(crate) const YES: i32 = 1;

impl<'p> Formula<'p> {
    pub fn new(program: &'p Program, enough: Vec<u32>, first: First, limits: &'p Limits) -> Self {
        let mut solver = Solver::new();
        solver.set_stop(limits.stop.clone());
        solver.add(&[YES]);
        Formula {
            solver,
            limits,
            first,
            variables: YES,
            frames: Vec::new(),
            program,
            enough,
        }
    }

    pub fn variable(&mut self) -> i32 {
        self.variables += 1;
        self.variables
    }

    /// Adds a clause: one of these literals holds.
    pub fn add(&mut self, clause: &[i32]) {
        self.solver.add(clause);
    }

    /// The literal of an atom in the state after `moves` moves.
    pub fn atom(&mut self, moves: usize, atom: u32) -> i32 {
        let mut open = Vec::new();
        let literal = self.named(moves, atom, &mut open);
        while let Some((moves, atom)) = open.pop() {
            let of = self.frames[moves].atoms[atom as usize];
            let mut any = vec![-of];
            for rule in self.program.rules(atom) {
                let all = self.body(moves, rule, &mut open);
                self.add(&[of, -all]);
                any.push(all);
            }
            self.add(&any);
        }
        literal
    }

    /// The literal of a fact after `moves` moves.
    pub fn fact(&mut self, moves: usize, fact: usize) -> i32 {
        self.atom(moves, self.program.facts[fact].now)
    }

    /// The literal of an atom; if it is new, `open` takes it, since it still has no clauses.
    fn named(&mut self, moves: usize, atom: u32, open: &mut Vec<(usize, u32)>) -> i32 {
        while self.frames.len() <= moves {
            self.frames.push(Frame {
                atoms: vec![0; self.program.inputs.len()],
                bodies: FxHashMap::default(),
            });
        }
        let known = self.frames[moves].atoms[atom as usize];
        if known != 0 {
            return known;
        }
        let literal = match (self.program.inputs[atom as usize], moves) {
            (Input::Fact(fact), 0) => match (self.first, self.program.facts[fact as usize].holds) {
                (First::Any, _) => self.variable(),
                (First::Start, true) => YES,
                (First::Start, false) => -YES,
            },
            (Input::Fact(fact), _) => match self.program.facts[fact as usize].next {
                Some(next) => self.named(moves - 1, next, open),
                None => -YES,
            },
            (Input::Move(_), _) => self.variable(),
            (Input::None, _) if self.program.rules(atom).is_empty() => -YES,
            (Input::None, _) => {
                open.push((moves, atom));
                self.variable()
            }
        };
        self.frames[moves].atoms[atom as usize] = literal;
        literal
    }

    /// The literal of a rule's body.
    fn body(&mut self, moves: usize, rule: u32, open: &mut Vec<(usize, u32)>) -> i32 {
        let program = self.program;
        let literals: Vec<i32> = (program.body(rule).iter())
            .map(|&literal| {
                let of = self.named(moves, literal.unsigned_abs() - 1, open);
                if literal > 0 { of } else { -of }
            })
            .collect();
        let all = match literals[..] {
            [] => YES,
            [one] => one,
            _ => {
                let all = self.variable();
                let mut clause = vec![all];
                for literal in literals {
                    self.add(&[-all, literal]);
                    clause.push(-literal);
                }
                self.add(&clause);
                all
            }
        };
        self.frames[moves].bodies.insert(rule, all);
        all
    }

    /// The literal that says that the game is over after `moves` moves.
    pub fn over(&mut self, moves: usize) -> i32 {
        match self.program.terminal {
            Some(terminal) => self.atom(moves, terminal),
            None => -YES,
        }
    }

    /// A literal that implies that the game is over after `moves` moves with the target
    /// score.
    pub fn solved(&mut self, moves: usize) -> i32 {
        let over = self.over(moves);
        let solved = self.variable();
        let mut any = vec![-solved];
        for goal in self.enough.clone() {
            any.push(self.atom(moves, goal));
        }
        self.add(&any);
        self.add(&[-solved, over]);
        solved
    }

    /// A literal that implies that the game is not over after `moves` moves, and that exactly
    /// one move is made there, a legal one.
    pub fn goes_on(&mut self, moves: usize) -> i32 {
        let goes_on = self.variable();
        let over = self.over(moves);
        self.add(&[-goes_on, -over]);
        let mut any = vec![-goes_on];
        let mut before = -YES;
        for chosen in 0..self.program.moves.len() {
            let made = match self.program.moves[chosen].made {
                Some(made) => self.atom(moves, made),
                None => self.variable(),
            };
            let legal = self.atom(moves, self.program.moves[chosen].legal);
            self.add(&[-goes_on, -made, legal]);
            self.add(&[-goes_on, -made, -before]);
            let so_far = self.variable();
            self.add(&[so_far, -made]);
            self.add(&[so_far, -before]);
            before = so_far;
            any.push(made);
        }
        self.add(&any);
        goes_on
    }

    /// Adds clauses: no two of these literals hold.
    pub fn at_most_one(&mut self, of: &[i32]) {
        let mut before = -YES;
        for &one in of {
            self.add(&[-one, -before]);
            let so_far = self.variable();
            self.add(&[so_far, -one]);
            self.add(&[so_far, -before]);
            before = so_far;
        }
    }

    /// A literal that implies that two of these literals hold.
    pub fn two(&mut self, of: &[i32]) -> i32 {
        let mut pairs = vec![-self.variable()];
        let two = -pairs[0];
        let mut before = -YES;
        for &one in of {
            let pair = self.variable();
            self.add(&[-pair, before]);
            self.add(&[-pair, one]);
            pairs.push(pair);
            let so_far = self.variable();
            self.add(&[-so_far, before, one]);
            before = so_far;
        }
        self.add(&pairs);
        two
    }

    /// Whether all clauses can hold together with these assumptions.
    ///
    /// # Errors
    ///
    /// [`Failure::Unchecked`] if a limit ends the search first.
    pub fn solve(&mut self, assumed: &[i32]) -> Result<bool, Failure> {
        loop {
            if self.limits.is_over() {
                return Err(Failure::out_of_time());
            }
            let atoms = self.frames.len() * self.program.inputs.len();
            if atoms.max(self.variables as usize) > MOST {
                return Err(Failure::unchecked("there are too many steps to encode"));
            }
            let conflicts = u32::try_from(self.limits.conflicts).ok();
            match self.solver.solve(assumed, conflicts) {
                None if self.limits.is_over() => return Err(Failure::out_of_time()),
                None => return Err(Failure::unchecked("the clauses are too hard")),
                Some(false) => return Ok(false),
                Some(true) => {
                    if !self.cut_loops() {
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// The value of a literal in the last model.
    pub fn holds(&self, literal: i32) -> bool {
        self.solver.holds(literal)
    }

    /// The move made after `moves` moves in the last model.
    pub fn chosen(&self, moves: usize) -> Option<usize> {
        let is_made = |chosen: &crate::program::Move| {
            let made = chosen
                .made
                .map(|made| self.frames[moves].atoms[made as usize]);
            made.is_some_and(|made| made != 0 && self.holds(made))
        };
        self.program.moves.iter().position(is_made)
    }

    /// Excludes atoms that hold in the last model only because of themselves. Returns
    /// whether there were any.
    fn cut_loops(&mut self) -> bool {
        let mut clauses = Vec::new();
        for frame in &self.frames {
            let holds = |atom: u32| {
                let literal = frame.atoms[atom as usize];
                literal != 0 && self.holds(literal)
            };
            for atoms in &self.program.loops {
                // Either all atoms of a loop have variables, or none has.
                if frame.atoms[atoms[0] as usize] == 0 {
                    continue;
                }
                let unfounded = self.program.unfounded(atoms, holds);
                let before = clauses.len();
                self.explain(frame, unfounded, &mut clauses);
                if clauses.len() > before {
                    // Loops that depend on this one may be unfounded only because of it.
                    break;
                }
            }
        }
        clauses.iter().for_each(|clause| self.add(clause));
        !clauses.is_empty()
    }

    /// Appends loop formulas for unfounded atoms: each atom of a loop needs a rule that
    /// needs no atom of the loop.
    fn explain(&self, frame: &Frame, unfounded: Vec<u32>, clauses: &mut Vec<Vec<i32>>) {
        let mut left = unfounded.clone();
        while let Some(&atom) = left.first() {
            let mut set = vec![atom];
            let mut at = 0;
            while let Some(&atom) = set.get(at) {
                for needed in self
                    .program
                    .rules(atom)
                    .flat_map(|rule| self.program.needs(rule))
                {
                    if unfounded.binary_search(&needed).is_ok() && !set.contains(&needed) {
                        set.push(needed);
                    }
                }
                at += 1;
            }
            set.sort_unstable();
            let outside = |rule: &u32| {
                let mut needs = self.program.needs(*rule);
                needs.all(|needed| set.binary_search(&needed).is_err())
            };
            let rules = set.iter().flat_map(|&atom| self.program.rules(atom));
            let mut support: Vec<i32> = rules
                .filter(outside)
                .map(|rule| frame.bodies[&rule])
                .collect();
            support.sort_unstable();
            support.dedup();
            for &atom in &set {
                let mut clause = support.clone();
                clause.push(-frame.atoms[atom as usize]);
                clauses.push(clause);
            }
            left.retain(|atom| set.binary_search(atom).is_err());
        }
    }
}
