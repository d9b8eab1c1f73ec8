//! Grounding: conversion of rules to gates.
//!
//! In: a game. Out: its [`Propnet`], not yet simplified. First the Datalog engine
//! finds every row that a relation can ever have ([`relax`]). Then it enumerates,
//! rule by rule, the matches of the bodies among these rows. Each match is an "and"
//! of literals and is added to the network at once; a row that depends on the state
//! is the "or" of its matches. Only mutually recursive relations are collected
//! first and then ordered row by row.

use ggp_stop::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Propnet;
use super::cycles::{Reference, Rows as CyclicRows};
use super::decompose::Pieces;
use super::factor::{Exclusive, groups_of_moves};
use super::grounding_methods::{GroundError, GroundLimits, Grounded, LATE, ROWS, WORK};
use super::network::{Builder, Literal};
use super::relax;
use super::shape::{Part, Shape, Test};
use crate::excess::Excess;
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Apart, Bounds, EvaluationError, Evaluator, Failure, Rows, check_stop};
use ggp_gdl::game::flat::{Flat, Wrapped};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::strata::for_each_body_atom;
use ggp_gdl::program::{Atom, RelationId, Rule, RuleSet};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};

/// The relations that the network computes.
pub(super) fn output_relations(game: &Game, flat: &Flat) -> Vec<RelationId> {
    [&flat.next, &flat.init, &flat.legal, &flat.state, &flat.does]
        .iter()
        .flat_map(|wrapped| wrapped.relations())
        .chain(game.keyword(Keyword::Terminal))
        .chain(game.keyword(Keyword::Goal))
        .collect()
}

/// Grounding stops early if the predicted number of rows exceeds the limit by this
/// factor.
const FORESIGHT: f64 = 4.0;

/// Grounds decomposed rules of a game. More than `gates` gates are an error. `fixed` is the limit
/// on the rows of relations that do not depend on the state, if they are not to count as others.
///
/// # Errors
///
/// [`GroundError`] if a limit is exceeded.
pub(super) fn ground_pieces(
    game: &Game,
    flat: &Flat,
    pieces: Pieces,
    limits: &GroundLimits,
    gates: usize,
    fixed: Option<usize>,
    stop: &Stop,
) -> Result<(Propnet, Grounded), GroundError> {
    let reporter = Reporter { game, limits };
    let fail = |error| reporter.failure(error);
    check_stop(stop).map_err(fail)?;
    let mut terms = game.terms().clone();
    let flat = flat.with(pieces.rules.clone());
    let dynamic = relax::dynamic(&flat);
    let relaxed = relax::relaxed(game, &flat, &pieces, &dynamic, &mut terms);
    let relaxed = relaxed.map_err(|overflow| fail(Failure::Terms(overflow).into()))?;
    check_stop(stop).map_err(fail)?;
    let wanted = output_relations(game, &flat);
    let bounds = Bounds {
        facts: limits.facts,
        work: limits.work,
        stop: stop.clone(),
        foresight: Some(FORESIGHT),
        apart: fixed.map(|facts| {
            let mut relations: Vec<bool> = dynamic.iter().map(|dynamic| !dynamic).collect();
            // What is asked for depends on the state.
            for rule in &pieces.guard_rules {
                relations[rule.head.relation.index()] = false;
            }
            let relations = relations.into();
            Apart { relations, facts }
        }),
    };
    let components = relax::components(&flat.rules, &wanted);
    // Includes relations that only negations use, which the relaxed program lacks.
    let asked = components.iter().flatten().map(|&r| RelationId::new(r));
    let queries = [(0, asked.collect())];
    let (evaluator, _) =
        Evaluator::new(relaxed.clone(), &[], &queries, &mut terms, bounds).map_err(fail)?;
    let mut grounder = Grounder {
        game,
        limits,
        rules: &flat.rules,
        relaxed: &relaxed,
        dynamic,
        reporter,
        stop,
        terms,
        builder: Builder::new(0),
        exclusive: Exclusive::new(Vec::new(), 0, stop),
        row_bytes: evaluator.memory(),
        evaluator,
        rules_of: vec![Vec::new(); flat.rules.arity.len()],
        facts_of: vec![Vec::new(); flat.rules.arity.len()],
        first: vec![0; flat.rules.arity.len()],
        literals: vec![Vec::new(); flat.rules.arity.len()],
        grounded: Grounded::default(),
    };
    let evaluator = &grounder.evaluator;
    let relations = (0..flat.rules.arity.len()).map(RelationId::new);
    grounder.grounded.rows = relations.map(|relation| evaluator.count(relation)).sum();
    grounder.grounded.work = evaluator.work();
    let (facts, initial, moves) = grounder.inputs(&flat).map_err(fail)?;
    let symbols: usize = facts.iter().map(|f| grounder.terms.symbols(*f)).sum();
    if symbols > limits.symbols {
        let what = "symbols in the text of all facts";
        return Err(reporter.too_large(what, limits.symbols as u64, None));
    }
    for (number, rule) in flat.rules.rules.iter().enumerate() {
        grounder.rules_of[rule.head.relation.index()].push(number);
    }
    for (number, fact) in flat.rules.facts.iter().enumerate() {
        grounder.facts_of[fact.relation.index()].push(number);
    }
    for relations in &components {
        if grounder.dynamic[relations[0]] {
            grounder.define(relations)?;
            if grounder.builder.network().gates() > gates {
                return Err(reporter.too_large("gates", gates as u64, None));
            }
        }
    }
    grounder.finish(&flat, facts, initial, moves)
}

struct Grounder<'g> {
    game: &'g Game,
    limits: &'g GroundLimits,
    rules: &'g RuleSet,
    relaxed: &'g RuleSet,
    reporter: Reporter<'g>,
    stop: &'g Stop,
    dynamic: Vec<bool>,
    evaluator: Evaluator,
    terms: Terms,
    builder: Builder,
    exclusive: Exclusive,
    /// The memory of the evaluator's rows, which do not change.
    row_bytes: usize,
    /// By relation: its rules.
    rules_of: Vec<Vec<usize>>,
    /// By relation: its facts in the rules.
    facts_of: Vec<Vec<usize>>,
    /// By relation of those that are built: the number of its first row.
    first: Vec<usize>,
    /// By relation that depends on the state, and row: the row's literal.
    literals: Vec<Vec<Literal>>,
    grounded: Grounded,
}

/// Facts, initial values, and moves by role.
type Inputs = (Vec<TermId>, Vec<bool>, Vec<Vec<Move>>);

impl Grounder<'_> {
    /// Makes an input for each fact and move.
    fn inputs(&mut self, flat: &Flat) -> Result<Inputs, EvaluationError> {
        let initial = self.wrapped_terms(&flat.init)?;
        let initial: FxHashSet<TermId> = initial.into_iter().map(|(_, _, term)| term).collect();
        let next = self.wrapped_terms(&flat.next)?;
        let mut facts: Vec<TermId> = next.into_iter().map(|(_, _, term)| term).collect();
        facts.extend(&initial);
        let (game, terms) = (self.game, &self.terms);
        facts.sort_by(|a, b| game.compare_terms(terms, *a, *b));
        facts.dedup();
        let initial = facts.iter().map(|fact| initial.contains(fact)).collect();
        let mut moves = vec![Vec::new(); self.game.role_count()];
        for (_, row, term) in self.wrapped_terms(&flat.legal)? {
            if let Some(role) = self.game.role_of(row) {
                moves[role.index()].push(Move::new(term));
            }
        }
        for moves in &mut moves {
            let (game, terms) = (self.game, &self.terms);
            moves.sort_by(|a, b| game.compare_terms(terms, a.term(), b.term()));
            moves.dedup();
        }
        let count = facts.len() + moves.iter().map(Vec::len).sum::<usize>();
        let passes = self.limits.passes;
        self.builder = Builder::new(count);
        self.builder.share(passes.shared_gates);
        let groups = match passes.exclusive_moves {
            true => groups_of_moves(facts.len(), &moves),
            false => Vec::new(),
        };
        self.exclusive = Exclusive::new(groups, count, self.stop);
        self.exclusive.divides = passes.early_factors;
        self.exclusive.splits = passes.split_moves;
        let places = places(&facts);
        for (relation, _, term) in self.wrapped_terms(&flat.state)? {
            let input = self.builder.input(places[&term]);
            self.literals[relation.index()].push(input);
        }
        let mut numbers: FxHashMap<(usize, Move), usize> = Default::default();
        for (role, moves) in moves.iter().enumerate() {
            for chosen in moves {
                numbers.insert((role, *chosen), facts.len() + numbers.len());
            }
        }
        for (relation, row, term) in self.wrapped_terms(&flat.does)? {
            let role = self.game.role_of(row).expect("only roles make moves");
            let number = numbers[&(role.index(), Move::new(term))];
            self.literals[relation.index()].push(self.builder.input(number));
        }
        Ok((facts, initial, moves))
    }

    /// For each row of a keyword's relations: relation, first column (the role's
    /// where there is one), wrapped term.
    fn wrapped_terms(
        &mut self,
        wrapped: &Wrapped,
    ) -> Result<Vec<(RelationId, TermId, TermId)>, EvaluationError> {
        let mut found = Vec::new();
        for (relation, functor) in wrapped.flat(self.game.functors()) {
            let arity = self.game.functors().functor(functor).arity();
            for row in self.evaluator.rows(relation) {
                let inner = &row[row.len() - arity..];
                let term = self
                    .terms
                    .intern(functor, inner)
                    .map_err(|overflow| EvaluationError::from(Failure::Terms(overflow)))?;
                found.push((relation, row.first().copied().unwrap_or(term), term));
            }
        }
        if let Some(relation) = wrapped.whole {
            for row in self.evaluator.rows(relation) {
                found.push((relation, row[0], row[row.len() - 1]));
            }
        }
        Ok(found)
    }

    /// Builds the literals of relations whose dependencies, except for each other,
    /// have theirs.
    fn define(&mut self, relations: &[usize]) -> Result<(), GroundError> {
        let is_own = |relation: usize| relations.binary_search(&relation).is_ok();
        let mut rules: Vec<usize> = relations
            .iter()
            .flat_map(|&relation| self.rules_of[relation].iter().copied())
            .collect();
        rules.sort_unstable();
        if rules.is_empty() && relations.iter().all(|&r| !self.literals[r].is_empty()) {
            // Inputs have their literals already.
            return Ok(());
        }
        let mut recursive = false;
        for &rule in &rules {
            for_each_body_atom(&self.rules.rules[rule], |atom, _| {
                recursive |= is_own(atom.relation.index());
            });
        }
        let mut count = 0;
        for &relation in relations {
            self.first[relation] = count;
            count += self.evaluator.count(RelationId::new(relation));
        }
        let mut rows = CyclicRows::new(count);
        for &relation in relations {
            for &fact in &self.facts_of[relation] {
                let fact = &self.rules.facts[fact];
                let row = self.evaluator.position(fact.relation, &fact.arguments);
                let row = self.first[relation] + row.expect("facts are rows");
                rows.add(row, &mut [], &mut self.builder);
            }
        }
        for rule in rules {
            self.instances(rule, recursive.then_some(relations), &mut rows)?;
        }
        let literals = rows.literals(&mut self.exclusive, &mut self.builder);
        self.check_stop()?;
        for &relation in relations {
            let count = self.evaluator.count(RelationId::new(relation));
            self.literals[relation] = literals[self.first[relation]..][..count].to_vec();
        }
        Ok(())
    }

    fn check_stop(&self) -> Result<(), GroundError> {
        match self.stop.reason() {
            Some(reason) => Err(self.reporter.failure(Failure::from(reason).into())),
            None => Ok(()),
        }
    }

    /// Adds the matches of a rule to the rows of its head.
    fn instances(
        &mut self,
        number: usize,
        recursive: Option<&[usize]>,
        rows: &mut CyclicRows,
    ) -> Result<(), GroundError> {
        self.check_stop()?;
        let rule = &self.rules.rules[number];
        let shape = Shape::new(rule, &self.dynamic);
        let matched = Rule {
            head: Atom {
                relation: rule.head.relation,
                arguments: shape.columns.clone(),
                span: rule.head.span,
            },
            ..self.relaxed.rules[number].clone()
        };
        let (literals, first) = (&self.literals, &self.first);
        let builder = &mut self.builder;
        let grounded = &mut self.grounded;
        let (memory, allowed) = (self.limits.memory, self.limits.instances);
        let fixed = self.row_bytes;
        let mut full = false;
        let reporter = self.reporter;
        let place = rule.span;
        let is_own = |relation: usize| {
            recursive.is_some_and(|relations| relations.binary_search(&relation).is_ok())
        };
        let mut body = Vec::new();
        let mut branch = Vec::new();
        let mut branches = Vec::new();
        let outcome =
            self.evaluator
                .for_each_match(&matched, &mut self.terms, &mut |model, columns| {
                    grounded.instances += 1;
                    if grounded.instances.is_multiple_of(256) {
                        full = fixed + rows.memory() + builder.memory() > memory;
                    }
                    if full || grounded.instances > allowed {
                        return false;
                    }
                    let position = |model: &mut Rows, part: &Part| {
                        let mut last = part.last.get();
                        let row = &columns[part.columns.clone()];
                        let found = model.position(part.relation, row, &mut last);
                        part.last.set(last);
                        found
                    };
                    let reference = |model: &mut Rows, part: &Part| -> Reference {
                        let relation = part.relation.index();
                        let Some(row) = position(model, part) else {
                            return Reference::Known(Literal::FALSE.negated_if(part.negated));
                        };
                        if !self.dynamic[relation] {
                            return Reference::Known(Literal::TRUE.negated_if(part.negated));
                        }
                        if is_own(relation) {
                            return Reference::Row(first[relation] + row, part.negated);
                        }
                        Reference::Known(literals[relation][row].negated_if(part.negated))
                    };
                    body.clear();
                    for part in &shape.parts {
                        match reference(model, part) {
                            Reference::Known(Literal::TRUE) => {}
                            Reference::Known(Literal::FALSE) => return true,
                            other => body.push(other),
                        }
                    }
                    for any in &shape.any {
                        branches.clear();
                        for tests in any {
                            branch.clear();
                            for test in tests {
                                branch.push(match test {
                                    Test::Atom(part) => reference(model, part),
                                    Test::Equal(left, right, wanted) => {
                                        let equal = columns[*left] == columns[*right];
                                        Reference::Known(Literal::TRUE.negated_if(equal != *wanted))
                                    }
                                });
                            }
                            branches.push(branch.clone());
                        }
                        body.push(rows.any(&mut branches, builder));
                    }
                    let head = position(model, &shape.head);
                    let head = head.expect("the relaxed program derives every head");
                    rows.add(
                        first[shape.head.relation.index()] + head,
                        &mut body,
                        builder,
                    );
                    true
                });
        match outcome {
            Err(error) if error.failure == Failure::Refused => Err(match full {
                true => reporter.too_large("bytes of rows and gates", memory as u64, Some(place)),
                false => {
                    let limit = self.limits.instances;
                    reporter.too_large("instances of rules", limit, Some(place))
                }
            }),
            other => other.map_err(|error| reporter.failure(error)),
        }
    }

    fn finish(
        mut self,
        flat: &Flat,
        facts: Vec<TermId>,
        initial: Vec<bool>,
        moves: Vec<Vec<Move>>,
    ) -> Result<(Propnet, Grounded), GroundError> {
        self.grounded.memory = self.evaluator.row_memory();
        let game = self.game;
        let reporter = self.reporter;
        let fail = |error| reporter.failure(error);
        let mut next = vec![Vec::new(); facts.len()];
        let places = places(&facts);
        let mut numbers = vec![0; self.rules.arity.len()];
        let mut literal = |grounder: &mut Self, relation: RelationId| {
            let number = &mut numbers[relation.index()];
            *number += 1;
            match grounder.dynamic[relation.index()] {
                true => grounder.literals[relation.index()][*number - 1],
                false => Literal::TRUE,
            }
        };
        for (relation, _, term) in self.wrapped_terms(&flat.next).map_err(fail)? {
            let fact = places[&term];
            let literal = literal(&mut self, relation);
            next[fact].push(literal);
        }
        let next = next
            .iter()
            .map(|disjuncts| self.builder.or(disjuncts))
            .collect();
        let mut legal: Vec<Vec<Vec<Literal>>> = moves
            .iter()
            .map(|moves| vec![Vec::new(); moves.len()])
            .collect();
        let mut places: FxHashMap<(usize, Move), usize> = Default::default();
        for (role, moves) in moves.iter().enumerate() {
            for (number, chosen) in moves.iter().enumerate() {
                places.insert((role, *chosen), number);
            }
        }
        for (relation, name, term) in self.wrapped_terms(&flat.legal).map_err(fail)? {
            let literal = literal(&mut self, relation);
            if let Some(role) = game.role_of(name) {
                let place = places[&(role.index(), Move::new(term))];
                legal[role.index()][place].push(literal);
            }
        }
        let legal = legal
            .iter()
            .map(|moves| {
                moves
                    .iter()
                    .map(|disjuncts| self.builder.or(disjuncts))
                    .collect()
            })
            .collect();
        let mut goals = vec![Vec::new(); game.role_count()];
        if let Some(relation) = game.keyword(Keyword::Goal) {
            let rows: Vec<(TermId, TermId)> = self
                .evaluator
                .rows(relation)
                .map(|row| (row[0], row[1]))
                .collect();
            for (name, value) in rows {
                let literal = literal(&mut self, relation);
                if let Some(role) = game.role_of(name) {
                    goals[role.index()].push((value, literal));
                }
            }
        }
        for values in &mut goals {
            values.sort_by(|a, b| game.compare_terms(&self.terms, a.0, b.0));
        }
        let terminal = match game.keyword(Keyword::Terminal) {
            Some(relation) if self.evaluator.count(relation) > 0 => literal(&mut self, relation),
            _ => Literal::FALSE,
        };
        let propnet = Propnet {
            game: game.clone(),
            network: self.builder.into_network(),
            facts,
            moves,
            initial,
            next,
            legal,
            terminal,
            goals,
            assumed: Vec::new(),
            exclusive: Vec::new(),
        };
        Ok((propnet, self.grounded))
    }
}

/// By fact: its index in the list.
fn places(facts: &[TermId]) -> FxHashMap<TermId, usize> {
    facts.iter().copied().zip(0..).collect()
}

/// Creates error values with the source of the rule.
#[derive(Copy, Clone)]
struct Reporter<'g> {
    game: &'g Game,
    limits: &'g GroundLimits,
}

impl Reporter<'_> {
    fn failure(self, error: EvaluationError) -> GroundError {
        if error.failure == Failure::Late {
            let time = self.limits.time.unwrap_or_default();
            return self.too_large(LATE, time.as_millis() as u64, error.rule);
        }
        match Excess::of(self.game, error, [ROWS, WORK]) {
            Some(excess) => GroundError::TooLarge(excess),
            None => GroundError::Interrupted,
        }
    }

    fn too_large(self, what: &'static str, limit: u64, rule: Option<Span>) -> GroundError {
        GroundError::TooLarge(Excess::new(what, limit).at(self.game, rule))
    }
}
