//! The structure of a rule from which the gates of its matches are built.
//!
//! In: a rule. Out: one long row of terms, to be filled by a match of the rule, and
//! the ranges in it of the head and of each literal that the match does not decide.

use std::cell::Cell;
use std::ops::Range;

use ggp_gdl::program::{Atom, Literal as Condition, RelationId, Rule, Term};

/// The parts of a rule that depend on the state or that the match cannot decide, as
/// ranges in one long row of columns.
pub(super) struct Shape {
    pub columns: Vec<Term>,
    pub head: Part,
    pub parts: Vec<Part>,
    pub any: Vec<Vec<Vec<Test>>>,
}

pub(super) struct Part {
    pub relation: RelationId,
    pub columns: Range<usize>,
    pub negated: bool,
    /// The position of the last row. The next one is often near, since matches come in the order
    /// of rows.
    pub last: Cell<usize>,
}

pub(super) enum Test {
    Atom(Part),
    /// Two columns, and true if they must be equal, false if they must differ.
    Equal(usize, usize, bool),
}

impl Shape {
    pub fn new(rule: &Rule, dynamic: &[bool]) -> Shape {
        let mut columns = Vec::new();
        let part = |columns: &mut Vec<Term>, atom: &Atom, negated| {
            let start = columns.len();
            columns.extend_from_slice(&atom.arguments);
            Part {
                relation: atom.relation,
                columns: start..columns.len(),
                negated,
                last: Cell::default(),
            }
        };
        let head = part(&mut columns, &rule.head, false);
        let mut parts = Vec::new();
        let mut any = Vec::new();
        for literal in &rule.body {
            match literal {
                Condition::Positive(atom) if dynamic[atom.relation.index()] => {
                    parts.push(part(&mut columns, atom, false));
                }
                Condition::Negative(atom) if dynamic[atom.relation.index()] => {
                    parts.push(part(&mut columns, atom, true));
                }
                Condition::Any(branches) => {
                    let mut depends = false;
                    literal.for_each_atom(&mut |atom, _| depends |= dynamic[atom.relation.index()]);
                    if !depends {
                        continue;
                    }
                    let mut test = |literal: &Condition| match literal {
                        Condition::Positive(atom) => Test::Atom(part(&mut columns, atom, false)),
                        Condition::Negative(atom) => Test::Atom(part(&mut columns, atom, true)),
                        Condition::Distinct(left, right, _) | Condition::Same(left, right, _) => {
                            columns.push(left.clone());
                            columns.push(right.clone());
                            let wanted = matches!(literal, Condition::Same(..));
                            Test::Equal(columns.len() - 2, columns.len() - 1, wanted)
                        }
                        Condition::Any(_) => unreachable!("alternatives are one level deep"),
                    };
                    let branches = branches
                        .iter()
                        .map(|branch| branch.iter().map(&mut test).collect());
                    any.push(branches.collect());
                }
                _ => {}
            }
        }
        Shape {
            columns,
            head,
            parts,
            any,
        }
    }
}
