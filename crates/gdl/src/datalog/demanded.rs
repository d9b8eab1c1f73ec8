//! A program that derives only what is demanded.
//!
//! In: the rules that [`demand`](super::demand) makes. Out: the same, with the relation of the
//! original program that each of them is for.

use crate::program::{Atom, Literal, RelationId, Rule, RuleSet, Term};

/// A program that derives on demand.
pub(super) struct Demanded {
    pub rules: RuleSet,
    /// By rule: the relation of the original program that it is a rule of, or whose
    /// rule makes its demand.
    pub origins: Vec<RelationId>,
    /// By relation: the relation of the original program whose rows it holds.
    pub copies: Vec<Option<usize>>,
    pub parts: Vec<Part>,
}

impl Demanded {
    /// An atom over the variables of a demand of `rule`, with the rule that takes the demanded
    /// terms apart. Joins can then look up parts of a term, which no index of the demand finds.
    pub fn taken_apart(&mut self, rule: &Rule, demand: &Atom) -> Atom {
        let mut variables = Vec::new();
        demand.for_each_variable(|variable, _| {
            if !variables.contains(&variable) {
                variables.push(variable);
            }
        });
        let head = Atom {
            relation: self.rules.add_relation(variables.len()),
            arguments: variables.into_iter().map(Term::Variable).collect(),
            span: demand.span,
        };
        self.copies.push(None);
        self.rules.rules.push(Rule {
            head: head.clone(),
            body: vec![Literal::Positive(demand.clone())],
            variables: rule.variables.clone(),
            span: rule.span,
        });
        self.origins.push(rule.head.relation);
        head
    }
}

/// A relation that holds the demanded rows of an original relation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The relation of the original program.
    pub of: RelationId,
    /// The relation that holds its rows.
    pub rows: RelationId,
    /// The relation of demanded values; `None` if all rows are demanded.
    pub demand: Option<RelationId>,
    /// The columns of these values, as a bit set.
    pub columns: u64,
}
