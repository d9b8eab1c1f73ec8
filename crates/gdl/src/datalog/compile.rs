//! From rules to an [`Evaluator`]: layers, the static part, plans.

use ggp_stop::Stop;
use std::sync::Arc;

use rustc_hash::FxHashSet as HashSet;

use super::demand::{Part, demanded};
use super::order::{Estimate, Estimates, UNKNOWN_ROWS, UNKNOWN_VALUES};
use super::plan::{Plan, plan};
use super::relation::Relation;
use super::{Bounds, EvaluationError, Evaluator, Failure, Layer, Query, run};
use crate::program::strata::{for_each_body_atom, stratify};
use crate::program::{Literal, RelationId, Rule, RuleSet};
use crate::terms::{TermId, Terms};

/// A program before it is compiled.
struct Given {
    rules: RuleSet,
    origins: Vec<usize>,
    guesses: Vec<Option<Estimate>>,
    /// Number of its relations before it was rewritten, if it was; they come first.
    relations: usize,
    parts: Vec<Part>,
}

/// What all clones of an evaluator share.
#[derive(Clone, Debug)]
pub(super) struct Program {
    rules: RuleSet,
    /// By rule: its number in the rules as they were given.
    origins: Vec<usize>,
    inputs: Vec<(RelationId, Layer)>,
    asked: Vec<(usize, Vec<RelationId>)>,
    /// By relation: the size to expect until one was observed.
    guesses: Vec<Option<Estimate>>,
    /// Where the rows of relations are, as they were given.
    pub parts: Vec<Part>,
    /// 0 for relations that depend on no input.
    pub relation_layer: Vec<u8>,
    /// In order of evaluation.
    pub groups: Vec<Group>,
    /// By query: the groups it needs, in order.
    pub queries: Vec<Vec<usize>>,
    /// By layer: the relations that are emptied with it.
    pub dynamic: [Vec<usize>; 2],
    /// By layer: the groups to evaluate anew.
    pub layer_groups: [Vec<usize>; 2],
    /// By layer: rows that always hold in relations that are emptied.
    pub always: [Vec<(usize, Rows)>; 2],
}

/// Rows of one relation.
type Rows = Vec<Box<[TermId]>>;

/// Rules that are evaluated together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    rules: Vec<usize>,
    pub recursive: bool,
    pub plans: Vec<Plan>,
    /// For recursive groups: plans for new rows of one relation each.
    pub deltas: Vec<(usize, Plan)>,
    /// Indices into `plans` of those without plans for new rows.
    pub reruns: Vec<usize>,
    /// Relations that the group derives.
    pub heads: Vec<usize>,
}

/// A program rewritten to derive only what is asked for.
pub struct OnDemand {
    /// The rules. Relations of the program given keep their ids.
    pub rules: RuleSet,
    /// By rule: the rule given that it comes from.
    pub origins: Vec<usize>,
    /// By relation: whether it says what is asked for, and has no rows of the
    /// program given. Without such literals, rules derive more than is asked for,
    /// but nothing wrong.
    pub is_demand: Vec<bool>,
}

/// Rewrites a program before anything is known of its sizes; None if there is
/// nothing to be spared. Arguments as for [`Evaluator::new`].
pub fn on_demand(
    rules: &RuleSet,
    inputs: &[(RelationId, Layer)],
    queries: &[(usize, Vec<RelationId>)],
    terms: &Terms,
) -> Option<OnDemand> {
    let mut is_input = vec![false; rules.arity.len()];
    for (input, _) in inputs {
        is_input[input.index()] = true;
    }
    let layer = layers(rules, inputs);
    let estimates = guessed(rules);
    let never = Stop::new();
    let rewritten = demanded(rules, &layer, &is_input, queries, &estimates, terms, &never)?;
    Some(OnDemand {
        is_demand: rewritten.copies.iter().map(Option::is_none).collect(),
        rules: rewritten.rules,
        origins: rewritten.origins,
    })
}

impl Evaluator {
    /// Compiles a program and evaluates its static part.
    ///
    /// `inputs` are the relations given from outside; they have no rules.
    /// `queries` are the sets of relations that will be asked for together,
    /// each with a label; queries of one label are mostly asked for of the same
    /// inputs. Their [`Query`] handles come back in the same order. Rules that no query
    /// needs are dropped.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] if the static part grows past a bound.
    ///
    /// # Panics
    ///
    /// If the rules are not stratified.
    pub fn new(
        rules: RuleSet,
        inputs: &[(RelationId, Layer)],
        queries: &[(usize, Vec<RelationId>)],
        terms: &mut Terms,
        bounds: Bounds,
    ) -> Result<(Evaluator, Vec<Query>), EvaluationError> {
        let origins = (0..rules.rules.len()).collect();
        let guesses = vec![None; rules.arity.len()];
        let given = Given {
            relations: rules.arity.len(),
            rules,
            origins,
            guesses,
            parts: Vec::new(),
        };
        let evaluator = Evaluator::build(given, inputs, queries, terms, bounds)?;
        Ok((evaluator, (0..queries.len()).map(Query).collect()))
    }

    /// The same program rewritten to derive only what is asked for, with the
    /// same query handles; None if there is nothing to be spared. Orders are
    /// chosen by the sizes seen so far.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::new`].
    pub fn on_demand(&self, terms: &mut Terms) -> Result<Option<Evaluator>, EvaluationError> {
        let program = &self.program;
        let mut is_input = vec![false; program.rules.arity.len()];
        for (input, _) in &program.inputs {
            is_input[input.index()] = true;
        }
        let estimates = self.estimates(false);
        let layer = &program.relation_layer;
        let rewritten = demanded(
            &program.rules,
            layer,
            &is_input,
            &program.asked,
            &estimates,
            terms,
            &self.bounds.stop,
        );
        let Some(rewritten) = rewritten else {
            return Ok(None);
        };
        let guess = |copied: &Option<usize>| copied.map(|r| estimates.relations[r].clone());
        let given = Given {
            guesses: rewritten.copies.iter().map(guess).collect(),
            relations: program.rules.arity.len(),
            parts: rewritten.parts,
            rules: rewritten.rules,
            origins: rewritten.origins,
        };
        let bounds = self.bounds.clone();
        Evaluator::build(given, &program.inputs, &program.asked, terms, bounds).map(Some)
    }

    /// A program that derives only what is asked for, also of the relations in
    /// `lazy`, which depend on no input but are too large to derive as a whole.
    /// None if some query needs all there is.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::new`].
    pub fn lazy(
        rules: &RuleSet,
        inputs: &[(RelationId, Layer)],
        lazy: &[RelationId],
        queries: &[(usize, Vec<RelationId>)],
        terms: &mut Terms,
        bounds: Bounds,
    ) -> Result<Option<(Evaluator, Vec<Query>)>, EvaluationError> {
        let mut is_input = vec![false; rules.arity.len()];
        for (input, _) in inputs {
            is_input[input.index()] = true;
        }
        let lazy = lazy.iter().map(|relation| (*relation, Layer::First));
        let sources: Vec<(RelationId, Layer)> = inputs.iter().copied().chain(lazy).collect();
        let layer = layers(rules, &sources);
        let estimates = guessed(rules);
        let stop = &bounds.stop;
        let rewritten = demanded(rules, &layer, &is_input, queries, &estimates, terms, stop);
        let Some(rewritten) = rewritten else {
            return Ok(None);
        };
        let given = Given {
            guesses: vec![None; rewritten.copies.len()],
            relations: rules.arity.len(),
            parts: rewritten.parts,
            rules: rewritten.rules,
            origins: rewritten.origins,
        };
        let evaluator = Evaluator::build(given, inputs, queries, terms, bounds)?;
        Ok(Some((evaluator, (0..queries.len()).map(Query).collect())))
    }

    fn build(
        given: Given,
        inputs: &[(RelationId, Layer)],
        queries: &[(usize, Vec<RelationId>)],
        terms: &mut Terms,
        bounds: Bounds,
    ) -> Result<Evaluator, EvaluationError> {
        let Given {
            rules,
            origins,
            guesses,
            relations,
            mut parts,
        } = given;
        let groups = stratify(&rules, terms).expect("the rules were checked to be stratified");
        let relation_layer = layers(&rules, inputs);
        let needed = needed_relations(&rules, queries.iter().flat_map(|(_, asked)| asked).copied());
        // What is needed under its own name is derived as a whole.
        let whole = rules
            .relations()
            .take(relations)
            .filter(|r| needed[r.index()]);
        parts.extend(whole.map(|relation| Part {
            of: relation,
            rows: relation,
            demand: None,
            columns: 0,
        }));
        let mut program = Program {
            parts,
            relation_layer,
            groups: Vec::new(),
            queries: Vec::new(),
            dynamic: Default::default(),
            layer_groups: Default::default(),
            always: Default::default(),
            inputs: inputs.to_vec(),
            asked: queries.to_vec(),
            origins,
            guesses,
            rules,
        };
        let arity = program.rules.arity.clone();
        let mut evaluator = Evaluator {
            program: Arc::new(program.clone()),
            relations: arity.iter().map(|&arity| Relation::new(arity)).collect(),
            done: Vec::new(),
            bounds,
            scratch: run::Scratch::default(),
            observed: vec![(0, 0); arity.len()],
        };
        evaluator.scratch.start();
        for fact in &program.rules.facts {
            let relation = fact.relation.index();
            if needed[relation] {
                evaluator.relations[relation].insert(&fact.arguments);
            }
        }
        // What depends on no input is evaluated once, also where the relation
        // has other rules.
        let mut estimates = evaluator.estimates(true);
        for group in &groups {
            let fixed: Vec<usize> = group
                .rules
                .iter()
                .copied()
                .filter(|&rule| needed[program.rules.rules[rule].head.relation.index()])
                .filter(|&rule| program.rule_layer(rule) == 0)
                .collect();
            if let Some(&rule) = fixed.first() {
                evaluator.heed(program.origins[rule])?;
                let mut group = Group::new(fixed, group.recursive, &program.rules);
                evaluator.plan_group(&program, &mut group, &estimates);
                evaluator.evaluate(&group, terms)?;
                for &head in &group.heads {
                    estimates.relations[head] = evaluator.estimate(head, true);
                }
            }
        }
        for (relation, rows) in evaluator.relations.iter_mut().enumerate() {
            rows.drop_indexes();
            let layer = program.relation_layer[relation];
            if layer > 0 && needed[relation] {
                let always: Rows = rows.rows().map(Into::into).collect();
                rows.clear();
                for outer in 0..usize::from(layer) {
                    program.dynamic[outer].push(relation);
                    if !always.is_empty() {
                        program.always[outer].push((relation, always.clone()));
                    }
                }
            }
        }
        for group in &groups {
            let moving: Vec<usize> = group
                .rules
                .iter()
                .copied()
                .filter(|&rule| needed[program.rules.rules[rule].head.relation.index()])
                .filter(|&rule| program.rule_layer(rule) > 0)
                .collect();
            if moving.is_empty() {
                continue;
            }
            // A rule is evaluated as often as its relation is emptied.
            let layer = moving
                .iter()
                .map(|&rule| {
                    program.relation_layer[program.rules.rules[rule].head.relation.index()]
                })
                .max()
                .expect("the group has rules");
            for outer in 0..usize::from(layer) {
                program.layer_groups[outer].push(program.groups.len());
            }
            program
                .groups
                .push(Group::new(moving, group.recursive, &program.rules));
        }
        evaluator.done = vec![false; program.groups.len()];
        for (_, asked) in queries {
            let needed = needed_relations(&program.rules, asked.iter().copied());
            let groups = (0..program.groups.len())
                .filter(|&group| program.groups[group].heads.iter().any(|&head| needed[head]));
            let groups = groups.collect();
            program.queries.push(groups);
        }
        evaluator.observed.fill((0, 0));
        evaluator.replan_program(program);
        Ok(evaluator)
    }

    /// Ends what is done for a rule if it is stopped from outside.
    fn heed(&self, rule: usize) -> Result<(), EvaluationError> {
        let failure = Failure::Interrupted;
        match self.bounds.stop.is_raised() {
            true => Err(EvaluationError { failure, rule }),
            false => Ok(()),
        }
    }

    /// Plans all rules anew with the sizes that relations were seen to have.
    pub fn replan(&mut self) {
        // What lies in the relations now counts as seen.
        self.begin(Layer::First);
        self.replan_program(Program::clone(&self.program));
    }

    fn replan_program(&mut self, mut program: Program) {
        let estimates = self.estimates(false);
        for relation in &mut self.relations {
            relation.drop_indexes();
        }
        let mut groups = std::mem::take(&mut program.groups);
        for group in &mut groups {
            self.plan_group(&program, group, &estimates);
        }
        program.groups = groups;
        self.program = Arc::new(program);
        self.begin(Layer::First);
    }

    /// Plans a rule by the sizes that relations have now.
    pub(super) fn plan_now(&mut self, rule: &Rule, number: usize) -> Plan {
        let estimates = self.estimates(true);
        let relations = &mut self.relations;
        let mut index_on =
            |relation: u32, columns: &[u16]| relations[relation as usize].index_on(columns);
        plan(rule, number, None, &estimates, &mut index_on)
    }

    fn plan_group(&mut self, program: &Program, group: &mut Group, estimates: &Estimates) {
        let relations = &mut self.relations;
        let mut index_on =
            |relation: u32, columns: &[u16]| relations[relation as usize].index_on(columns);
        group.plans.clear();
        group.deltas.clear();
        group.reruns.clear();
        for (number, &rule_number) in group.rules.iter().enumerate() {
            let rule = &program.rules.rules[rule_number];
            let origin = program.origins[rule_number];
            group
                .plans
                .push(plan(rule, origin, None, estimates, &mut index_on));
            if !group.recursive {
                continue;
            }
            let mut rerun = false;
            for (position, literal) in rule.body.iter().enumerate() {
                match literal {
                    Literal::Positive(atom) if group.heads.contains(&atom.relation.index()) => {
                        let plan = plan(rule, origin, Some(position), estimates, &mut index_on);
                        group.deltas.push((atom.relation.index(), plan));
                    }
                    Literal::Any(_) => literal.for_each_atom(&mut |atom, negated| {
                        rerun |= !negated && group.heads.contains(&atom.relation.index());
                    }),
                    _ => {}
                }
            }
            if rerun {
                group.reruns.push(number);
            }
        }
    }

    /// Sizes as they are (while the static part is built) or as observed.
    fn estimates(&self, current: bool) -> Estimates {
        let numbers = 0..self.relations.len();
        Estimates {
            relations: numbers
                .map(|number| self.estimate(number, current))
                .collect(),
        }
    }

    /// The size of one relation.
    fn estimate(&self, number: usize, current: bool) -> Estimate {
        let relation = &self.relations[number];
        let (rows, times) = self.observed[number];
        let is_static = current || self.program.relation_layer[number] == 0;
        let guess = self.program.guesses[number].as_ref();
        let rows = match (is_static, times) {
            (true, _) => f64::from(relation.count()),
            (false, 0) => guess.map_or(UNKNOWN_ROWS, |guess| guess.rows),
            (false, _) => rows as f64 / times as f64,
        };
        let distinct = (0..relation.arity())
            .map(|column| match relation.distinct(column) {
                0 => guess.map_or(UNKNOWN_VALUES, |guess| guess.distinct[column]),
                seen => seen as f64,
            })
            .collect();
        Estimate { rows, distinct }
    }
}

impl Group {
    fn new(rules: Vec<usize>, recursive: bool, set: &RuleSet) -> Self {
        let mut heads: Vec<usize> = rules
            .iter()
            .map(|&rule| set.rules[rule].head.relation.index())
            .collect();
        heads.sort_unstable();
        heads.dedup();
        Group {
            rules,
            recursive,
            plans: Vec::new(),
            deltas: Vec::new(),
            reruns: Vec::new(),
            heads,
        }
    }
}

impl Program {
    /// The outermost layer that a rule's body uses.
    fn rule_layer(&self, rule: usize) -> u8 {
        let mut layer = 0;
        for_each_body_atom(&self.rules.rules[rule], |atom, _| {
            layer = layer.max(self.relation_layer[atom.relation.index()]);
        });
        layer
    }
}

/// Sizes before anything was evaluated: relations given by facts are as large
/// as they are, others may hold any combination of values. So what is derived
/// is matched late, when much of it is known.
fn guessed(rules: &RuleSet) -> Estimates {
    let mut values: Vec<Vec<HashSet<TermId>>> = rules
        .arity
        .iter()
        .map(|&arity| vec![HashSet::default(); arity])
        .collect();
    let mut facts = vec![0.0; rules.arity.len()];
    for fact in &rules.facts {
        facts[fact.relation.index()] += 1.0;
        for (seen, value) in values[fact.relation.index()]
            .iter_mut()
            .zip(&fact.arguments)
        {
            seen.insert(*value);
        }
    }
    for rule in &rules.rules {
        facts[rule.head.relation.index()] = 0.0;
    }
    let estimate = |(facts, values): (f64, Vec<HashSet<TermId>>)| match facts > 0.0 {
        true => Estimate {
            rows: facts,
            distinct: values.iter().map(|seen| seen.len() as f64).collect(),
        },
        false => Estimate {
            rows: UNKNOWN_VALUES.powi(values.len().min(20) as i32),
            distinct: vec![UNKNOWN_VALUES; values.len()],
        },
    };
    Estimates {
        relations: facts.into_iter().zip(values).map(estimate).collect(),
    }
}

/// By relation: the outermost layer of inputs that it depends on.
fn layers(rules: &RuleSet, inputs: &[(RelationId, Layer)]) -> Vec<u8> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); rules.arity.len()];
    for rule in &rules.rules {
        for_each_body_atom(rule, |atom, _| {
            users[atom.relation.index()].push(rule.head.relation.index());
        });
    }
    let mut layer = vec![0; rules.arity.len()];
    for (source, number) in inputs.iter().map(|(r, l)| (r.index(), *l as u8)) {
        let mut open = vec![source];
        while let Some(relation) = open.pop() {
            if layer[relation] < number {
                layer[relation] = number;
                open.extend(&users[relation]);
            }
        }
    }
    layer
}

/// By relation: whether any of the wanted ones depends on it.
fn needed_relations(rules: &RuleSet, wanted: impl Iterator<Item = RelationId>) -> Vec<bool> {
    let mut rules_of: Vec<Vec<usize>> = vec![Vec::new(); rules.arity.len()];
    for (number, rule) in rules.rules.iter().enumerate() {
        rules_of[rule.head.relation.index()].push(number);
    }
    let mut needed = vec![false; rules.arity.len()];
    let mut open: Vec<usize> = wanted.map(RelationId::index).collect();
    while let Some(relation) = open.pop() {
        if std::mem::replace(&mut needed[relation], true) {
            continue;
        }
        for &rule in &rules_of[relation] {
            for_each_body_atom(&rules.rules[rule], |atom, _| {
                open.push(atom.relation.index())
            });
        }
    }
    needed
}
