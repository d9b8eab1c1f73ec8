//! Decomposition of long rules.
//!
//! In: a rule set. Out: an equivalent rule set. If only a part of a rule's body
//! contains some variable, that part becomes a rule of its own, for a new relation
//! over the variables that the rest needs. The matches of a rule are then no longer
//! all combinations of values that its body allows, but only those of each piece.
//!
//! A negation that is separated from the literals that bind its variables is
//! matched within *guards*: all values that these variables can have in the rest of
//! the body. A relation that only negations use can be *asked*: then its rules are matched
//! within the rows that these negations have.
//!
//! Source: variable elimination, Dechter, Bucket elimination (1999); for logic
//! programs Bichler, Morak and Woltran, lpopt: A Rule Optimization Tool for Answer
//! Set Programming (2016).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use ggp_gdl::datalog::OnDemand;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, RuleSet, Term, Variable};
use ggp_gdl::span::Span;

/// A decomposed rule set.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The rules. The first ones replace the original rules, in order. A piece need
    /// not bind all its variables.
    pub rules: RuleSet,
    /// By rule: literals that its matches must satisfy in the relaxed program, in
    /// addition to its body. They hold whenever the rule contributes to an answer.
    pub guards: Vec<Vec<Literal>>,
    /// Rules of the relations in guards, for the relaxed program alone.
    pub guard_rules: Vec<Rule>,
}

impl Pieces {
    /// All rules, not decomposed.
    pub fn whole(rules: RuleSet) -> Pieces {
        Pieces {
            guards: vec![Vec::new(); rules.rules.len()],
            guard_rules: Vec::new(),
            rules,
        }
    }

    /// The rules of an on-demand program. Its demand literals become guards.
    pub fn on_demand(program: OnDemand) -> Pieces {
        let mut pieces = Pieces::whole(RuleSet {
            rules: Vec::new(),
            ..program.rules
        });
        let is_demand = |relation: RelationId| program.is_demand[relation.index()];
        for rule in program.rules.rules {
            if is_demand(rule.head.relation) {
                pieces.guard_rules.push(rule);
                continue;
            }
            let (guards, body) = rule.body.into_iter().partition(|literal| match literal {
                Literal::Positive(atom) => is_demand(atom.relation),
                _ => false,
            });
            pieces.rules.rules.push(Rule { body, ..rule });
            pieces.guards.push(guards);
        }
        pieces
    }

    /// Restricts the relations that `is_large` chooses to the rows that rules ask for, where only
    /// negations and alternatives use them.
    pub fn asked(mut self, is_large: impl Fn(RelationId) -> bool) -> Pieces {
        let count = self.rules.arity.len();
        let mut is_asked: Vec<bool> = self.rules.relations().map(is_large).collect();
        let positive = |literal: &Literal| match literal {
            Literal::Positive(atom) => Some(atom.relation.index()),
            _ => None,
        };
        let rules = self.rules.rules.iter().chain(&self.guard_rules);
        let bodies = rules.map(|rule| &rule.body).chain(&self.guards);
        for relation in bodies.flatten().filter_map(positive) {
            is_asked[relation] = false;
        }
        let mut asked: Vec<Option<RelationId>> = vec![None; count];
        for number in 0..self.rules.rules.len() {
            let rule = &self.rules.rules[number];
            let given = rule.body.iter().chain(&self.guards[number]);
            let given: Vec<Literal> = given
                .filter(|literal| matches!(literal, Literal::Positive(_)))
                .cloned()
                .collect();
            let mut uses: Vec<Atom> = Vec::new();
            for literal in &rule.body {
                literal.for_each_atom(&mut |atom, _| {
                    if is_asked[atom.relation.index()] && !uses.contains(atom) {
                        uses.push(atom.clone());
                    }
                });
            }
            let (variables, span) = (rule.variables.clone(), rule.span);
            for atom in uses {
                let relation = *asked[atom.relation.index()]
                    .get_or_insert_with(|| self.rules.add_relation(atom.arguments.len()));
                self.guard_rules.push(Rule {
                    head: Atom { relation, ..atom },
                    body: given.clone(),
                    variables: variables.clone(),
                    span,
                });
            }
        }
        for (rule, guards) in self.rules.rules.iter().zip(&mut self.guards) {
            if let Some(relation) = asked.get(rule.head.relation.index()).copied().flatten() {
                guards.push(Literal::Positive(Atom {
                    relation,
                    ..rule.head.clone()
                }));
            }
        }
        self
    }

    /// Decomposes rules where possible. If it `shares`, conditions on the state that have only
    /// some of a rule's variables become a rule of their own, too. `dynamic` says which relations
    /// depend on the state.
    pub fn cut(self, shares: bool, dynamic: Vec<bool>) -> Pieces {
        let mut decomposer = Decomposer {
            pieces: self,
            shares,
            dynamic,
            known: FxHashMap::default(),
        };
        let mut number = 0;
        let given = decomposer.pieces.rules.rules.len();
        while number < given || shares && number < decomposer.pieces.rules.rules.len() {
            decomposer.cut(number);
            number += 1;
        }
        decomposer.pieces
    }
}

type Variables = BTreeSet<Variable>;

/// The most conditions on the state in a rule for which shared pieces are looked for.
const MOST_CONDITIONS: usize = 200;

struct Decomposer {
    pieces: Pieces,
    /// True if conditions with some of a rule's variables become pieces.
    shares: bool,
    /// By relation: true if it depends on the state.
    dynamic: Vec<bool>,
    /// Relations of pieces made so far, by their rule.
    known: FxHashMap<(Vec<Literal>, Vec<Literal>, usize), RelationId>,
}

/// A part of a body that can be separated.
struct Part {
    /// Positions in the body.
    literals: Vec<usize>,
    variables: Variables,
    /// The variables that the rest needs.
    kept: Variables,
}

impl Decomposer {
    fn cut(&mut self, number: usize) {
        loop {
            let rule = &self.pieces.rules.rules[number];
            let mut part = best_part(rule, self.shares);
            if part.is_none() && self.shares {
                part = shared_part(rule, &self.dynamic);
            }
            let Some(part) = part else { return };
            let span = Span::default();
            let names = rule.variables.clone();
            let (inside, rest): (Vec<_>, Vec<_>) = rule
                .body
                .iter()
                .cloned()
                .enumerate()
                .partition(|(position, _)| part.literals.contains(position));
            let body: Vec<Literal> = inside.into_iter().map(|(_, literal)| literal).collect();
            let mut rest: Vec<Literal> = rest.into_iter().map(|(_, literal)| literal).collect();
            let guards = self.guards(&body, &part.kept, &rest, number);
            let arguments: Vec<Term> = part.kept.iter().map(|v| Term::Variable(*v)).collect();
            let piece = Rule {
                head: Atom {
                    relation: RelationId::new(0),
                    arguments: arguments.clone(),
                    span,
                },
                body,
                variables: names,
                span,
            };
            let relation = self.relation(piece, guards);
            rest.push(Literal::Positive(Atom {
                relation,
                arguments,
                span,
            }));
            self.pieces.rules.rules[number].body = rest;
        }
    }

    /// The relation of a piece. An equal rule is reused.
    fn relation(&mut self, piece: Rule, guards: Vec<Literal>) -> RelationId {
        let (piece, guards) = renamed(piece, guards);
        let key = (
            piece.body.clone(),
            guards.clone(),
            piece.head.arguments.len(),
        );
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let relation = self.pieces.rules.add_relation(piece.head.arguments.len());
        let depends = piece
            .body
            .iter()
            .any(|literal| depends(literal, &self.dynamic));
        self.dynamic.push(depends);
        self.known.insert(key, relation);
        let head = Atom {
            relation,
            ..piece.head
        };
        self.pieces.rules.rules.push(Rule { head, ..piece });
        self.pieces.guards.push(guards);
        relation
    }

    /// Literals over the kept variables that the body does not bind.
    fn guards(
        &mut self,
        body: &[Literal],
        kept: &Variables,
        rest: &[Literal],
        number: usize,
    ) -> Vec<Literal> {
        let rule = &self.pieces.rules.rules[number].clone();
        let mut bound = Variables::new();
        for literal in body {
            if matches!(literal, Literal::Positive(_)) {
                bound.extend(variables(literal));
            }
        }
        let mut missing: Variables = kept.difference(&bound).copied().collect();
        let mut guards = Vec::new();
        let of_rule = self.pieces.guards[number].clone();
        while !missing.is_empty() {
            let binders = rest
                .iter()
                .chain(&of_rule)
                .filter(|literal| matches!(literal, Literal::Positive(_)));
            let binds = |literal: &&Literal| variables(literal).intersection(&missing).count();
            let binder = binders.max_by_key(binds).expect("a safe rule binds them");
            // Its other columns exclude combinations.
            let shared: Variables = variables(binder).intersection(kept).copied().collect();
            guards.push(self.projection(binder.clone(), &shared, rule));
            missing.retain(|variable| !shared.contains(variable));
        }
        // The guards of the whole rule, restricted to these variables.
        for guard in of_rule {
            let shared: Variables = variables(&guard).intersection(kept).copied().collect();
            if !shared.is_empty() {
                guards.push(self.projection(guard, &shared, rule));
            }
        }
        guards
    }

    /// A guard for some variables of a literal.
    fn projection(&mut self, literal: Literal, columns: &Variables, rule: &Rule) -> Literal {
        let arguments: Vec<Term> = columns.iter().map(|v| Term::Variable(*v)).collect();
        Literal::Positive(Atom {
            relation: self.guard(literal, arguments.clone(), rule),
            arguments,
            span: Span::default(),
        })
    }

    /// The relation of some columns of a literal's possible values.
    fn guard(&mut self, binder: Literal, arguments: Vec<Term>, rule: &Rule) -> RelationId {
        let guard = Rule {
            head: Atom {
                relation: RelationId::new(0),
                arguments,
                span: Span::default(),
            },
            body: vec![binder],
            variables: rule.variables.clone(),
            span: rule.span,
        };
        let (mut guard, _) = renamed(guard, Vec::new());
        let key = (
            guard.body.clone(),
            Vec::new(),
            usize::MAX - guard.head.arguments.len(),
        );
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let relation = self.pieces.rules.add_relation(guard.head.arguments.len());
        self.dynamic.push(false);
        self.known.insert(key, relation);
        guard.head.relation = relation;
        self.pieces.guard_rules.push(guard);
        relation
    }
}

fn variables(literal: &Literal) -> Variables {
    let mut found = Variables::new();
    literal.for_each_variable(&mut |variable| {
        found.insert(variable);
    });
    found
}

/// The separable part with the fewest variables that eliminates a variable. With `needed_only`,
/// literals without an eliminated variable stay in the rule, so that more pieces are equal.
fn best_part(rule: &Rule, needed_only: bool) -> Option<Part> {
    let of_literal: Vec<Variables> = rule.body.iter().map(variables).collect();
    let mut head = Variables::new();
    rule.head.for_each_variable(|variable, _| {
        head.insert(variable);
    });
    let all: Variables = of_literal.iter().flatten().chain(&head).copied().collect();
    let mut best: Option<Part> = None;
    for variable in all.difference(&head) {
        let together: Variables = of_literal
            .iter()
            .filter(|variables| variables.contains(variable))
            .flatten()
            .copied()
            .collect();
        if together.len() == all.len() {
            continue;
        }
        let mut literals: Vec<usize> = (0..rule.body.len())
            .filter(|&position| {
                let own = &of_literal[position];
                !own.is_empty() && own.is_subset(&together)
            })
            .collect();
        let outside: Variables = (0..rule.body.len())
            .filter(|position| !literals.contains(position))
            .flat_map(|position| &of_literal[position])
            .chain(&head)
            .copied()
            .collect();
        if needed_only {
            literals.retain(|&position| !of_literal[position].is_subset(&outside));
        }
        let part = Part {
            kept: together.intersection(&outside).copied().collect(),
            literals,
            variables: together,
        };
        let size = |part: &Part| (part.variables.len(), part.kept.len());
        if best.as_ref().is_none_or(|best| size(&part) < size(best)) {
            best = Some(part);
        }
    }
    best
}

/// True if a literal depends on the state.
fn depends(literal: &Literal, dynamic: &[bool]) -> bool {
    let mut depends = false;
    literal.for_each_atom(&mut |atom, _| depends |= dynamic[atom.relation.index()]);
    depends
}

/// The part with the most conditions on the state over the variables of one of them, if other
/// conditions have further variables: a row of it is shared by all their values.
fn shared_part(rule: &Rule, dynamic: &[bool]) -> Option<Part> {
    let of_literal: Vec<Variables> = rule.body.iter().map(variables).collect();
    let conditions: Vec<usize> = (0..rule.body.len())
        .filter(|&position| depends(&rule.body[position], dynamic))
        .collect();
    let mut best: Option<(usize, Part)> = None;
    if conditions.len() > MOST_CONDITIONS {
        return None;
    }
    for &condition in &conditions {
        let own = &of_literal[condition];
        let is_inside = |position: &usize| {
            !of_literal[*position].is_empty() && of_literal[*position].is_subset(own)
        };
        let inside = conditions
            .iter()
            .filter(|condition| is_inside(condition))
            .count();
        let is_better = best.as_ref().is_none_or(|(most, _)| inside > *most);
        if inside >= 2 && inside < conditions.len() && is_better {
            let part = Part {
                literals: (0..rule.body.len()).filter(is_inside).collect(),
                variables: own.clone(),
                kept: own.clone(),
            };
            best = Some((inside, part));
        }
    }
    best.map(|(_, part)| part)
}

/// A rule and its guards with variables numbered by first occurrence, and without
/// source spans, so that equivalent rules are equal.
fn renamed(mut rule: Rule, mut guards: Vec<Literal>) -> (Rule, Vec<Literal>) {
    let mut names: Vec<Variable> = Vec::new();
    let mut number = |variable: &mut Variable| {
        let known = names.iter().position(|name| name == variable);
        let position = known.unwrap_or_else(|| {
            names.push(*variable);
            names.len() - 1
        });
        *variable = Variable::new(position);
    };
    // The head first: its columns are in the order of the old numbers.
    for term in &mut rule.head.arguments {
        rename_term(term, &mut number);
    }
    for literal in rule.body.iter_mut().chain(&mut guards) {
        rename(literal, &mut number);
    }
    rule.variables = names
        .iter()
        .map(|name| rule.variables[name.index()].clone())
        .collect();
    (rule, guards)
}

fn rename(literal: &mut Literal, number: &mut dyn FnMut(&mut Variable)) {
    match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => {
            atom.span = Span::default();
            for term in &mut atom.arguments {
                rename_term(term, number);
            }
        }
        Literal::Distinct(left, right, span) | Literal::Same(left, right, span) => {
            *span = Span::default();
            rename_term(left, number);
            rename_term(right, number);
        }
        Literal::Any(branches) => {
            for literal in branches.iter_mut().flatten() {
                rename(literal, number);
            }
        }
    }
}

fn rename_term(term: &mut Term, number: &mut dyn FnMut(&mut Variable)) {
    match term {
        Term::Variable(variable) => number(variable),
        Term::Ground(_) => {}
        Term::Apply(_, arguments) => {
            for argument in arguments {
                rename_term(argument, number);
            }
        }
    }
}
