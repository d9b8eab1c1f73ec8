//! Invariants: clauses that hold at the start, that every move keeps, and that hold in no
//! solution.
//!
//! These three properties prove that there is no plan: a play that solves the game would
//! lead from a state in which the invariant holds to one in which it does not, and some
//! move would be the first not to keep it.

use rustc_hash::FxHashMap;

use crate::formula::{First, Formula};
use crate::program::Program;
use crate::{Failure, Given, Question};
use ggp_gdl::counted::counted;
use ggp_gdl::terms::TermId;

/// A fact (`None` if it can never hold) and its value.
type Literal = (Option<usize>, bool);

/// Clauses and groups of an invariant.
pub(crate) struct Invariant {
    /// In each clause one literal holds.
    pub clauses: Vec<Vec<Literal>>,
    /// In each group no two literals hold.
    pub exclusive: Vec<Vec<Literal>>,
}

impl Question<'_> {
    /// Checks that clauses hold at the start, that every move keeps them, and that they hold
    /// in no solution except `ends`.
    pub(crate) fn invariant(&self, given: &Given, ends: &[Vec<TermId>]) -> Result<String, Failure> {
        let program = self.ground()?;
        let invariant = self.read(&program, given)?;
        let mut formula = self.assuming(&program, &invariant);
        let solved = formula.solved(0);
        for end in ends {
            let mut clause = vec![-solved];
            for (number, fact) in program.facts.iter().enumerate() {
                let holds = formula.fact(0, number);
                clause.push(if end.contains(&fact.term) {
                    -holds
                } else {
                    holds
                });
            }
            formula.add(&clause);
        }
        if formula.solve(&[solved])? {
            return Err(Failure::wrong("all clauses may hold in a solution"));
        }
        self.keeps(&program, &mut formula, &invariant)?;
        let clauses = counted(invariant.clauses.len(), "clause");
        let groups = counted(invariant.exclusive.len(), "group");
        Ok(format!(
            "{clauses} and {groups} of facts that exclude each other hold at the start, every move keeps them, \
             and no {}solution has them",
            if ends.is_empty() { "" } else { "other " }
        ))
    }

    /// Checks that clauses hold at the start and that every move keeps them. Also returns a
    /// formula for any state in which they hold.
    pub(crate) fn kept<'p>(
        &'p self,
        program: &'p Program,
        given: &Given,
    ) -> Result<(Invariant, Formula<'p>), Failure> {
        let invariant = self.read(program, given)?;
        let mut formula = self.assuming(program, &invariant);
        self.keeps(program, &mut formula, &invariant)?;
        Ok((invariant, formula))
    }

    fn read(&self, program: &Program, given: &Given) -> Result<Invariant, Failure> {
        let invariant = Invariant {
            clauses: self.literals(program, &given.clauses)?,
            exclusive: self.literals(program, &given.exclusive)?,
        };
        let holds = |&(fact, value): &Literal| at_start(program, fact) == value;
        if !invariant
            .clauses
            .iter()
            .all(|clause| clause.iter().any(holds))
        {
            return Err(Failure::wrong("a clause does not hold at the start"));
        }
        for group in &invariant.exclusive {
            if group.iter().filter(|&one| holds(one)).count() > 1 {
                return Err(Failure::wrong("two facts of a group hold at the start"));
            }
        }
        Ok(invariant)
    }

    /// A formula for any state in which an invariant holds.
    fn assuming<'p>(&'p self, program: &'p Program, invariant: &Invariant) -> Formula<'p> {
        let mut formula = self.formula(program, First::Any);
        for clause in &invariant.clauses {
            let clause = literals(&mut formula, 0, clause);
            formula.add(&clause);
        }
        for group in &invariant.exclusive {
            let group = literals(&mut formula, 0, group);
            formula.at_most_one(&group);
        }
        formula
    }

    fn keeps(
        &self,
        program: &Program,
        formula: &mut Formula<'_>,
        invariant: &Invariant,
    ) -> Result<(), Failure> {
        let goes_on = formula.goes_on(0);
        for (number, clause) in (1..).zip(&invariant.clauses) {
            let mut assumed: Vec<i32> = literals(formula, 1, clause);
            assumed.iter_mut().for_each(|literal| *literal = -*literal);
            assumed.push(goes_on);
            if formula.solve(&assumed)? {
                return Err(self.broken(program, formula, &format!("clause {number}")));
            }
        }
        for (number, group) in (1..).zip(&invariant.exclusive) {
            let group = literals(formula, 1, group);
            let two = formula.two(&group);
            if formula.solve(&[goes_on, two])? {
                return Err(self.broken(program, formula, &format!("group {number}")));
            }
        }
        Ok(())
    }

    fn broken(&self, program: &Program, formula: &Formula<'_>, what: &str) -> Failure {
        let by = match formula.chosen(0) {
            Some(chosen) => self.text(program.moves[chosen].term),
            None => "a move".to_owned(),
        };
        Failure::Wrong(format!("{what} may be broken by {by}"))
    }

    fn literals(
        &self,
        program: &Program,
        clauses: &[Vec<String>],
    ) -> Result<Vec<Vec<Literal>>, Failure> {
        let facts = program.facts.iter().enumerate();
        let by_term: FxHashMap<TermId, usize> =
            facts.map(|(number, fact)| (fact.term, number)).collect();
        let mut terms = self.game.terms().clone();
        terms.refresh();
        let mut literal = |text: &String| {
            let inner = text
                .strip_prefix("(not ")
                .and_then(|text| text.strip_suffix(')'));
            let term = self.game.parse_term(&mut terms, inner.unwrap_or(text));
            let term = term.map_err(|error| Failure::wrong(error.to_string()))?;
            Ok((by_term.get(&term).copied(), inner.is_none()))
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

/// The literals of a clause after `moves` moves.
fn literals(formula: &mut Formula<'_>, moves: usize, clause: &[Literal]) -> Vec<i32> {
    let mut variable = |&(fact, holds): &Literal| {
        let fact = match fact {
            Some(fact) => formula.fact(moves, fact),
            None => -crate::formula::YES,
        };
        if holds { fact } else { -fact }
    };
    clause.iter().map(&mut variable).collect()
}
