//! Potentials: weighted sums of facts that no move increases.
//!
//! In: the effects of moves, and states from which no solution was found. Out:
//! weights such that no move increases the weighted sum of the facts that hold,
//! while every solution has a larger sum than the state. They are found by linear
//! programming, scaled to integers, and verified as integers before they are used.
//! A state is then refuted by adding up weights.
//!
//! Source: pagoda functions, Berlekamp, Conway and Guy, Winning Ways (1982); by
//! linear programming as in Seipp, Pommerening and Helmert, New optimization
//! functions for potential heuristics (2015).

pub mod bound;
#[cfg(feature = "lp")]
use microlp as solver;
#[cfg(not(feature = "lp"))]
mod solver;

use std::cell::Cell;
use std::time::Duration;

use self::solver::{
    ComparisonOp, LinearExpr, OptimizationDirection, Problem, Solution, SolveOutcome, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{Effects, Form, Sparse};
use super::{Outcome, Puzzle, Reason};
use ggp_engine::propnet::batch::{Packed, holds, pack};
use ggp_engine::threads::unless_stopped;
use ggp_search::Budget;
use ggp_stop::{Instant, Stop};

/// Limit on the number of potentials kept.
const MOST_KEPT: usize = 128;
/// Limit on the number of states skipped after a failure.
const MOST_SKIPPED: u32 = 512;
/// Number of failed attempts to exclude an option after which no more are made.
const MOST_MISSES: usize = 6;
/// Time limit for one linear program.
const MOST_TIME: Duration = Duration::from_secs(2);
/// Interval between checks for a stop request.
const SLICE: Duration = Duration::from_millis(50);
/// Linear programs for learned states may use this share of the time since the
/// first one, and this much in any case.
const SHARE: u32 = 4;
const GRACE: Duration = Duration::from_millis(100);
/// Limit on the number of coefficients in the linear program.
const MOST_NUMBERS: usize = 60_000;
/// Number of coefficients from which a linear program may end long after a stop.
const LARGE: usize = 1_000;
/// Largest factor tried to scale the weights to integers.
const MOST_SCALE: u32 = 720;
/// Tolerance for numerical errors of the solver.
const ERROR: f64 = 1e-6;

/// The potentials found so far, and the data needed to find more.
pub struct Potentials {
    moves: Vec<Form>,
    solutions: Vec<Form>,
    program: Program,
    kept: Vec<Potential>,
    /// Number of states to skip after a failure, doubled after each one; and the
    /// number of these still to be skipped.
    pause: u32,
    left: u32,
    limits: Limits,
}

/// Limits on the time spent on linear programs.
#[derive(Default)]
struct Limits {
    stop: Stop,
    /// Time spent by all linear programs.
    spent: Cell<Duration>,
    /// Time of the first attempt to learn from a state.
    since: Option<Instant>,
}

impl Potentials {
    /// None if the effects are too many, or if nothing is known about solutions.
    pub fn new(puzzle: &Puzzle) -> Option<Self> {
        Self::of(puzzle, &*Effects::of(puzzle)?)
    }

    /// Uses effects that have already been computed.
    pub fn of(puzzle: &Puzzle, effects: &Effects) -> Option<Self> {
        if effects.solutions.is_empty() || !cfg!(feature = "lp") {
            return None;
        }
        let mut seen = FxHashSet::default();
        let moves = effects.moves.iter().flatten();
        let moves: Vec<Form> = moves.filter(|form| seen.insert(*form)).cloned().collect();
        let solutions = effects.solutions.clone();
        let numbers =
            |form: &Form| form.sure.len() + form.choices.iter().flatten().flatten().count();
        if moves.iter().chain(&solutions).map(numbers).sum::<usize>() > MOST_NUMBERS {
            return None;
        }
        Some(Potentials {
            program: Program::new(puzzle, &effects.free, &moves),
            moves,
            solutions,
            kept: Vec::new(),
            pause: 0,
            left: 0,
            limits: Limits::default(),
        })
    }

    /// Limits all linear programs from now on: they stop at [`Budget::time`],
    /// counted from this call, or soon after [`Budget::stop`].
    pub fn within(&mut self, budget: &Budget) {
        self.limits.stop = budget.end();
    }

    /// True if one of the potentials proves that no solution can be reached from a
    /// state.
    pub fn refutes(&self, state: &[u64]) -> bool {
        self.kept.iter().any(|potential| potential.refutes(state))
    }

    /// Searches for a potential that refutes a state, and keeps it. False if there
    /// is none, if enough potentials are kept, if the state is skipped after
    /// earlier failures, or if the attempts take too large a share of the time.
    pub fn learn(&mut self, state: &[u64]) -> bool {
        if self.kept.len() == MOST_KEPT {
            return false;
        }
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        let since = *self.limits.since.get_or_insert_with(Instant::now);
        if self.limits.spent.get() > GRACE + since.elapsed() / SHARE {
            return false;
        }
        match self.find(state, &self.solutions) {
            Some(potential) => {
                self.pause = 0;
                self.kept.push(potential);
                true
            }
            None => {
                self.pause = (2 * self.pause + 1).min(MOST_SKIPPED);
                self.left = self.pause;
                false
            }
        }
    }

    /// Tries to refute the first state.
    pub fn refute(&self, puzzle: &Puzzle) -> Outcome {
        match self.find(&puzzle.start, &self.solutions) {
            Some(Potential { weights, .. }) => Outcome::Unsolvable(Reason::Potential { weights }),
            None => Outcome::Unknown,
        }
    }

    /// The forms of solutions that may be reachable from a state according to
    /// potentials, and the weights of these potentials.
    pub fn narrowed(&self, state: &[u64]) -> (Vec<Form>, Vec<Weights>) {
        let mut weights = Vec::new();
        let mut narrowed = Vec::new();
        let mut misses = 0;
        for form in &self.solutions {
            let mut form = Some(form.clone());
            while let Some(wide) = &form
                && let Some(potential) = self.first_exclusion(state, wide, &mut misses)
            {
                form = potential.narrow(wide, state);
                weights.push(potential.weights);
            }
            narrowed.extend(form);
        }
        (narrowed, weights)
    }

    /// A potential that excludes one of a form's options.
    fn first_exclusion(&self, state: &[u64], form: &Form, misses: &mut usize) -> Option<Potential> {
        let options = |choice: usize| (0..form.choices[choice].len()).map(move |one| (choice, one));
        let mut all = (0..form.choices.len()).flat_map(options);
        all.find_map(|(choice, one)| {
            if *misses == MOST_MISSES {
                return None;
            }
            let found = self.find(state, &[with(form, choice, one)]);
            *misses += usize::from(found.is_none());
            found
        })
    }

    /// A potential whose sum in the state is smaller than in all solutions of the
    /// forms.
    fn find(&self, state: &[u64], solutions: &[Form]) -> Option<Potential> {
        let weights = self.program.solve(state, solutions, &self.limits)?;
        let weights = integers(&weights)?;
        let mut potential = Potential::new(weights, state.len());
        let least = solutions.iter().map(|form| potential.least(form));
        potential.bound = least.min()?;
        let falls = self.moves.iter().all(|form| potential.most(form) <= 0);
        (falls && potential.refutes(state)).then_some(potential)
    }
}

/// A form with one of its choices fixed.
fn with(form: &Form, choice: usize, option: usize) -> Form {
    let mut form = form.clone();
    let option = form.choices.remove(choice).swap_remove(option);
    form.sure.extend(option);
    form
}

/// Facts and their weights.
pub type Weights = Vec<(u32, i64)>;

/// Weights, and the smallest sum of a solution.
#[derive(Debug)]
struct Potential {
    weights: Weights,
    bound: i64,
    by_fact: FxHashMap<u32, i64>,
    /// The binary digits of the weights: for each signed power of two, the set of
    /// facts whose weight contains it.
    planes: Vec<(i64, Packed)>,
}

impl Potential {
    fn new(weights: Weights, words: usize) -> Self {
        let mut planes = Vec::new();
        for sign in [1, -1] {
            for bit in 0..32 {
                let mut holds = vec![false; 64 * words];
                for &(fact, weight) in &weights {
                    holds[fact as usize] = sign * weight > 0 && (sign * weight) >> bit & 1 == 1;
                }
                if holds.contains(&true) {
                    planes.push((sign << bit, pack(holds)));
                }
            }
        }
        Potential {
            by_fact: weights.iter().copied().collect(),
            weights,
            bound: i64::MIN,
            planes,
        }
    }

    fn refutes(&self, state: &[u64]) -> bool {
        self.sum(state) < self.bound
    }

    /// The total weight of the facts that hold in a state.
    fn sum(&self, state: &[u64]) -> i64 {
        let count = |plane: &[u64]| -> u32 {
            let words = plane.iter().zip(state);
            words.map(|(plane, word)| (plane & word).count_ones()).sum()
        };
        let planes = self.planes.iter();
        planes
            .map(|(unit, plane)| unit * i64::from(count(plane)))
            .sum()
    }

    fn product(&self, vector: &Sparse) -> i64 {
        let product = |&(fact, value): &(u32, i32)| {
            i64::from(value) * self.by_fact.get(&fact).copied().unwrap_or(0)
        };
        vector.iter().map(product).sum()
    }

    /// The largest sum that a form can have.
    fn most(&self, form: &Form) -> i64 {
        let choices = form.choices.iter();
        let most = choices.map(|options| options.iter().map(|one| self.product(one)).max());
        self.product(&form.sure) + most.flatten().sum::<i64>()
    }

    /// The smallest sum that a form can have.
    fn least(&self, form: &Form) -> i64 {
        let choices = form.choices.iter();
        let least = choices.map(|options| options.iter().map(|one| self.product(one)).min());
        self.product(&form.sure) + least.flatten().sum::<i64>()
    }

    /// The form without the options that cannot be reached from a state; none if no
    /// option is left.
    fn narrow(&self, form: &Form, state: &[u64]) -> Option<Form> {
        let sum = self.sum(state);
        let mut narrow = Form {
            sure: form.sure.clone(),
            choices: Vec::new(),
        };
        for (choice, options) in form.choices.iter().enumerate() {
            let can = |&one: &usize| self.least(&with(form, choice, one)) <= sum;
            let left: Vec<Sparse> = (0..options.len())
                .filter(can)
                .map(|one| options[one].clone())
                .collect();
            match left.as_slice() {
                [] => return None,
                [one] => narrow.sure.extend(one),
                _ => narrow.choices.push(left),
            }
        }
        narrow.sure.sort_unstable();
        Some(narrow)
    }
}

/// A linear program whose solutions are the weights of non-increasing sums.
struct Program {
    most: Most,
    gap: Variable,
    /// By fact that may have a weight: the variable of its weight.
    weights: Vec<(u32, Variable)>,
}

impl Program {
    fn new(puzzle: &Puzzle, free: &[bool], moves: &[Form]) -> Self {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let gap = problem.add_var(1.0, (0.0, f64::INFINITY));
        let weights: Vec<(u32, Variable)> = (0..puzzle.net.facts().len())
            .filter(|&fact| free[fact])
            .map(|fact| (fact as u32, problem.add_var(0.0, (-1.0, 1.0))))
            .collect();
        let mut most = Most {
            of_fact: weights.iter().copied().collect(),
            problem,
            size: 0,
            known: FxHashMap::default(),
        };
        for form in moves {
            let sum = most.of(form, 1);
            most.at_most(sum);
        }
        Program { most, gap, weights }
    }

    /// Weights that give all solutions a larger sum than the state.
    fn solve(&self, state: &[u64], solutions: &[Form], limits: &Limits) -> Option<Vec<(u32, f64)>> {
        if limits.stop.is_over() {
            return None;
        }
        let started = Instant::now();
        let mut most = self.most.clone();
        for form in solutions {
            // The state's sum plus the gap must not exceed the smallest sum of the
            // solutions.
            let mut sum = most.of(form, -1);
            sum.push((self.gap, 1.0));
            let held = self.weights.iter();
            let held = held.filter(|&&(fact, _)| holds(state, fact as usize));
            sum.extend(held.map(|&(_, weight)| (weight, 1.0)));
            most.at_most(sum);
        }
        let solution = most.solve(&limits.stop.within_work(Some(MOST_TIME)));
        limits.spent.set(limits.spent.get() + started.elapsed());
        let solution = solution?;
        let weights = self.weights.iter();
        let weights = weights.map(|&(fact, weight)| (fact, solution.var_value(weight)));
        (solution.objective() > ERROR).then(|| weights.collect())
    }
}

/// Upper bounds for the sums of forms, as variables of a linear program.
#[derive(Clone)]
struct Most {
    problem: Problem,
    of_fact: FxHashMap<u32, Variable>,
    /// The number of coefficients.
    size: usize,
    /// By options and sign: a variable that is at least the sum of each option.
    known: FxHashMap<(Vec<Sparse>, i32), Variable>,
}

impl Most {
    /// The solution of the linear program; `None` if it has none, or after a stop.
    fn solve(self, stop: &Stop) -> Option<Solution> {
        let Most {
            mut problem, size, ..
        } = self;
        problem.set_time_limit(SLICE);
        let end = stop.clone();
        let work = move || {
            let mut outcome = problem.solve();
            while let Ok(SolveOutcome::Interrupted(stopped)) = outcome {
                if end.is_over() {
                    return None;
                }
                // Resume with the same time slice.
                outcome = SolveOutcome::Interrupted(stopped).resume();
            }
            outcome.ok()?.into_solution().ok()
        };
        // The library looks at the clock once in 1000 pivots, which take long if there are
        // many numbers.
        match size < LARGE {
            true => work(),
            false => unless_stopped(stop, work)?,
        }
    }

    /// An upper bound for the sum of a form, or of its negation.
    fn of(&mut self, form: &Form, sign: i32) -> Vec<(Variable, f64)> {
        let mut sum = self.times(&form.sure, sign);
        for options in &form.choices {
            let key = (options.clone(), sign);
            let most = match self.known.get(&key) {
                Some(&most) => most,
                None => {
                    let all = (f64::NEG_INFINITY, f64::INFINITY);
                    let most = self.problem.add_var(0.0, all);
                    for option in options {
                        let mut sum = self.times(option, sign);
                        sum.push((most, -1.0));
                        self.at_most(sum);
                    }
                    self.known.insert(key, most);
                    most
                }
            };
            sum.push((most, 1.0));
        }
        sum
    }

    fn times(&self, vector: &Sparse, sign: i32) -> Vec<(Variable, f64)> {
        let of = |&(fact, value): &(u32, i32)| (self.of_fact[&fact], f64::from(sign * value));
        vector.iter().map(of).collect()
    }

    /// Constrains a sum to be at most 0.
    fn at_most(&mut self, sum: Vec<(Variable, f64)>) {
        self.size += sum.len();
        self.problem
            .add_constraint(linear_expression(sum), ComparisonOp::Le, 0.0);
    }
}

/// A linear expression with one term per variable.
fn linear_expression(mut parts: Vec<(Variable, f64)>) -> LinearExpr {
    parts.sort_by_key(|(variable, _)| variable.idx());
    parts.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
    let mut sum = LinearExpr::empty();
    for (variable, value) in parts {
        if value != 0.0 {
            sum.add(variable, value);
        }
    }
    sum
}

/// Scales the weights to integers and drops those that are 0.
fn integers(weights: &[(u32, f64)]) -> Option<Vec<(u32, i64)>> {
    let near = |scale: f64| {
        move |&&(_, weight): &&(u32, f64)| {
            let scaled = weight * scale;
            (scaled - scaled.round()).abs() < ERROR * scale
        }
    };
    let scale = (1..=MOST_SCALE)
        .map(f64::from)
        .find(|&scale| weights.iter().filter(near(scale)).count() == weights.len())?;
    let scaled = weights.iter();
    let scaled = scaled.map(|&(fact, weight)| (fact, (weight * scale).round() as i64));
    Some(scaled.filter(|&(_, weight)| weight != 0).collect())
}
