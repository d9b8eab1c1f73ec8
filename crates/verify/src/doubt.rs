//! Questions that following the effects of a move through gates leaves open, answered by a
//! SAT solver if they are small.

use crate::Failure;
use crate::formula::Formula;
use crate::program::Program;

/// The most facts that a move may change, counted before and after it, and the most
/// combinations of their values.
const MOST_FACTS: usize = 24;
const MOST_WAYS: usize = 5_000;

/// A formula for any state in which an invariant holds, and a legal move in it.
pub(crate) struct Doubt<'f, 'p> {
    formula: &'f mut Formula<'p>,
    goes_on: i32,
}

impl<'f, 'p> Doubt<'f, 'p> {
    pub fn new(formula: &'f mut Formula<'p>) -> Self {
        let goes_on = formula.goes_on(0);
        Doubt { formula, goes_on }
    }

    /// Whether a solution may exist in which the facts have these values (`None`: either
    /// value) and the weighted sum is bad.
    pub fn may_be(
        &mut self,
        facts: &[Option<bool>],
        weights: &[i64],
        is_bad: impl Fn(i64) -> bool,
    ) -> Result<bool, Failure> {
        let mut assumed = vec![self.formula.solved(0)];
        for (fact, known) in facts.iter().enumerate() {
            if let Some(holds) = known {
                let fact = self.formula.fact(0, fact);
                assumed.push(if *holds { fact } else { -fact });
            }
        }
        let weights = weights.iter().enumerate().filter(|weight| *weight.1 != 0);
        let weights = weights.map(|(fact, &weight)| (weight, self.formula.fact(0, fact)));
        let sum: Vec<(i64, i32)> = weights.collect();
        self.meets(assumed, &sum, is_bad)
    }

    /// Whether a move may change a sum by a bad amount; true if that is too hard to decide.
    pub fn may_change(
        &mut self,
        program: &Program,
        chosen: usize,
        weights: &[i64],
        is_bad: impl Fn(i64) -> bool,
    ) -> Result<bool, Failure> {
        let Some(made) = program.moves[chosen].made else {
            return Ok(true);
        };
        let made = self.formula.atom(0, made);
        let mut moving = Vec::new();
        for (fact, &weight) in weights.iter().enumerate() {
            if weight == 0 {
                continue;
            }
            let (now, then) = (self.formula.fact(0, fact), self.formula.fact(1, fact));
            if self.formula.solve(&[self.goes_on, made, now, -then])?
                || self.formula.solve(&[self.goes_on, made, -now, then])?
            {
                moving.extend([(-weight, now), (weight, then)]);
            }
            if moving.len() > MOST_FACTS {
                return Ok(true);
            }
        }
        self.meets(vec![self.goes_on, made], &moving, is_bad)
    }

    /// Whether a move flips a fact in every state; `None` if that depends on the state.
    pub fn flips(
        &mut self,
        program: &Program,
        chosen: usize,
        fact: usize,
    ) -> Result<Option<bool>, Failure> {
        let Some(made) = program.moves[chosen].made else {
            return Err(Failure::unchecked("nothing reads whether a move is made"));
        };
        let made = self.formula.atom(0, made);
        let (now, then) = (self.formula.fact(0, fact), self.formula.fact(1, fact));
        let mut may = |now: i32, then: i32| {
            let goes_on = self.goes_on;
            self.formula.solve(&[goes_on, made, now, then])
        };
        let flips = may(now, -then)? || may(-now, then)?;
        let stays = may(now, then)? || may(-now, -then)?;
        Ok((!(flips && stays)).then_some(flips))
    }

    /// Whether the sum over the literals that hold may be bad, combination by combination.
    fn meets(
        &mut self,
        mut assumed: Vec<i32>,
        sum: &[(i64, i32)],
        is_bad: impl Fn(i64) -> bool,
    ) -> Result<bool, Failure> {
        let others = self.formula.variable();
        assumed.push(others);
        for _ in 0..MOST_WAYS {
            if !self.formula.solve(&assumed)? {
                return Ok(false);
            }
            let (mut total, mut clause) = (0, vec![-others]);
            for &(weight, literal) in sum {
                let holds = self.formula.holds(literal);
                total += if holds { weight } else { 0 };
                clause.push(if holds { -literal } else { literal });
            }
            if is_bad(total) {
                return Ok(true);
            }
            self.formula.add(&clause);
        }
        Ok(true)
    }
}
