//! Clauses that hold at the start, are kept by every move, and hold in no
//! solution.
//!
//! That is all an invariant has to do: a play that solves the game would lead from
//! a state in which it holds to one in which it does not, and some move would be
//! the first not to keep it.

use super::formula::{First, Formula};
use super::program::Program;
use super::{Failure, Question};

/// A fact, none if it can never hold, and whether it is to hold.
type Literal = (Option<usize>, bool);

impl Question<'_> {
    pub(super) fn invariant(
        &self,
        clauses: &[Vec<String>],
        exclusive: &[Vec<String>],
    ) -> Result<String, Failure> {
        let program = self.ground()?;
        let clauses = self.literals(&program, clauses)?;
        let exclusive = self.literals(&program, exclusive)?;
        for clause in &clauses {
            if !clause
                .iter()
                .any(|&(fact, holds)| at_start(&program, fact) == holds)
            {
                return Err(Failure::wrong("a clause does not hold at the start"));
            }
        }
        for group in &exclusive {
            let holding = group.iter().filter(|(fact, _)| at_start(&program, *fact));
            if holding.count() > 1 || group.iter().any(|(_, holds)| !holds) {
                return Err(Failure::wrong("two facts of a group hold at the start"));
            }
        }
        let mut formula = self.formula(&program, First::Any);
        for clause in &clauses {
            let clause = literals(&mut formula, 0, clause);
            formula.add(&clause);
        }
        for group in &exclusive {
            let group = literals(&mut formula, 0, group);
            formula.at_most_one(&group);
        }
        let solved = formula.solved(0);
        if formula.solve(&[solved])? {
            return Err(Failure::wrong("all clauses may hold in a solution"));
        }
        let goes_on = formula.goes_on(0);
        for (number, clause) in clauses.iter().enumerate() {
            let mut assumed: Vec<i32> = literals(&mut formula, 1, clause);
            assumed.iter_mut().for_each(|literal| *literal = -*literal);
            assumed.push(goes_on);
            if formula.solve(&assumed)? {
                return Err(self.broken(&program, &formula, &format!("clause {}", number + 1)));
            }
        }
        for (number, group) in exclusive.iter().enumerate() {
            let group = literals(&mut formula, 1, group);
            let two = formula.two(&group);
            if formula.solve(&[goes_on, two])? {
                return Err(self.broken(&program, &formula, &format!("group {}", number + 1)));
            }
        }
        Ok(format!(
            "{} clauses and {} groups hold at the start, are kept by every move, and in no solution",
            clauses.len(),
            exclusive.len()
        ))
    }

    fn broken(&self, program: &Program, formula: &Formula<'_>, what: &str) -> Failure {
        let mut terms = self.game.terms().clone();
        terms.refresh();
        let by = match formula.chosen(0) {
            Some(chosen) => self.game.canonical(&terms, program.moves[chosen].term),
            None => "a move".to_owned(),
        };
        Failure::Wrong(format!("{what} may be broken by {by}"))
    }

    fn literals(
        &self,
        program: &Program,
        clauses: &[Vec<String>],
    ) -> Result<Vec<Vec<Literal>>, Failure> {
        let mut terms = self.game.terms().clone();
        terms.refresh();
        let mut literal = |text: &String| {
            let inner = text
                .strip_prefix("(not ")
                .and_then(|text| text.strip_suffix(')'));
            let term = self.game.parse_term(&mut terms, inner.unwrap_or(text));
            let term = term.map_err(|error| Failure::wrong(error.to_string()))?;
            Ok((program.fact(term), inner.is_none()))
        };
        clauses
            .iter()
            .map(|clause| clause.iter().map(&mut literal).collect())
            .collect()
    }
}

fn at_start(program: &Program, fact: Option<usize>) -> bool {
    fact.is_some_and(|fact| program.facts[fact].holds)
}

/// Variables for a clause after so many moves; what can never hold is left out,
/// and what always does is true.
fn literals(formula: &mut Formula<'_>, moves: usize, clause: &[Literal]) -> Vec<i32> {
    let mut variable = |&(fact, holds): &Literal| {
        let fact = match fact {
            Some(fact) => formula.fact(moves, fact),
            None => -super::formula::YES,
        };
        if holds { fact } else { -fact }
    };
    clause.iter().map(&mut variable).collect()
}
