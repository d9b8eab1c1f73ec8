//! Compilation of rules into an [`Evaluator`]: layers, the static part, plans.

use ggp_stop::Stop;
use std::sync::Arc;

use rustc_hash::FxHashSet as HashSet;

use super::demand::demanded;
use super::demanded::Part;
use super::group::{Deltas, Group};
use super::order::{Estimate, Estimates, UNKNOWN_ROWS, UNKNOWN_VALUES, guessed};
use super::plan::{Plan, plan};
use super::relation::Relation;
use super::{Bounds, EvaluationError, Evaluator, Failure, Layer, Query, run};
use crate::program::strata::{for_each_body_atom, stratify};
use crate::program::{Literal, RelationId, Rule, RuleSet, reach};
use crate::terms::{TermId, Terms};

/// A program before compilation.
struct Given {
    rules: RuleSet,
    origins: Vec<RelationId>,
    guesses: Vec<Option<Estimate>>,
    /// Number of relations before demand rewriting; these come first.
    relations: usize,
    parts: Vec<Part>,
}

/// The observed sizes of relations, for plans of the same rules with other facts.
#[derive(Clone, Debug)]
pub struct Sizes(Vec<Estimate>);

impl Sizes {
    /// True if a rule set has relations with these numbers of columns.
    pub fn fit(&self, rules: &RuleSet) -> bool {
        let columns = self.0.iter().map(|size| size.distinct.len());
        columns.eq(rules.arity.iter().copied())
    }
}

/// Data shared by all clones of an evaluator.
#[derive(Clone, Debug)]
pub(super) struct Program {
    rules: RuleSet,
    /// By rule: the original relation that it is a rule of.
    origins: Vec<RelationId>,
    inputs: Vec<(RelationId, Layer)>,
    asked: Vec<(usize, Vec<RelationId>)>,
    /// By relation: its estimated size until one was observed.
    guesses: Vec<Option<Estimate>>,
    /// The relations that hold the rows of each original relation.
    pub parts: Vec<Part>,
    /// The layer of each relation; 0 for relations that depend on no input.
    pub relation_layer: Vec<u8>,
    /// Groups in order of evaluation.
    pub groups: Vec<Group>,
    /// The queries.
    pub queries: Vec<Asked>,
    /// By layer: the relations that are emptied with it.
    pub dynamic: [Vec<usize>; 2],
    /// By layer: the groups to evaluate again.
    pub layer_groups: [Vec<usize>; 2],
    /// By layer: rows that always hold, in relations that are emptied.
    pub always: [Vec<(usize, Rows)>; 2],
}

/// The groups to evaluate for a query.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Those that derive its relations.
    pub groups: Vec<usize>,
    /// These and all that they use, in order of evaluation, unless there are too many
    /// queries to keep this for each.
    pub order: Option<Vec<usize>>,
}

/// Maximum number of queries with a list of all groups.
const LISTS: usize = 64;

/// Rows of one relation.
type Rows = Vec<Box<[TermId]>>;

/// A program rewritten to derive only what its queries demand.
pub struct OnDemand {
    /// The rules. Relations of the original program keep their ids.
    pub rules: RuleSet,
    /// By relation: true for demand relations, which hold no rows of the original
    /// program. Without their literals, rules derive more than is demanded, but
    /// nothing wrong.
    pub is_demand: Vec<bool>,
}

/// Rewrites a program before any sizes are known; `None` if rewriting would save
/// nothing, or `stop` was over. The arguments are those of [`Evaluator::new`].
pub fn on_demand(
    rules: &RuleSet,
    inputs: &[(RelationId, Layer)],
    queries: &[(usize, Vec<RelationId>)],
    terms: &Terms,
    stop: &Stop,
) -> Option<OnDemand> {
    let mut is_input = vec![false; rules.arity.len()];
    for (input, _) in inputs {
        is_input[input.index()] = true;
    }
    let layer = layers(rules, inputs);
    let estimates = guessed(rules);
    let rewritten = demanded(rules, &layer, &is_input, queries, &estimates, terms, stop)?;
    Some(OnDemand {
        is_demand: rewritten.copies.iter().map(Option::is_none).collect(),
        rules: rewritten.rules,
    })
}

/// The error of a computation that is to stop, if it is.
///
/// # Errors
///
/// [`Failure::Interrupted`] or [`Failure::Late`].
pub fn check_stop(stop: &Stop) -> Result<(), EvaluationError> {
    match stop.reason() {
        Some(reason) => Err(Failure::from(reason).into()),
        None => Ok(()),
    }
}

impl Evaluator {
    /// Compiles a program and evaluates its static part.
    ///
    /// `inputs` are the relations given from outside; they have no rules. `queries`
    /// are the sets of relations that will be queried together, each with a label;
    /// queries with the same label are usually evaluated for the same inputs. The
    /// [`Query`] handles are returned in the same order. Rules that no query needs
    /// are dropped.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] if the static part grows past a limit.
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
        Evaluator::with_sizes(rules, inputs, queries, None, terms, bounds)
    }

    /// As [`Evaluator::new`], planned by the sizes that another evaluator has observed, which
    /// must [fit](Sizes::fit) the rules.
    ///
    /// # Errors
    ///
    /// See [`Evaluator::new`].
    ///
    /// # Panics
    ///
    /// See [`Evaluator::new`].
    pub fn with_sizes(
        rules: RuleSet,
        inputs: &[(RelationId, Layer)],
        queries: &[(usize, Vec<RelationId>)],
        sizes: Option<&Sizes>,
        terms: &mut Terms,
        bounds: Bounds,
    ) -> Result<(Evaluator, Vec<Query>), EvaluationError> {
        let origins = rules.rules.iter().map(|r| r.head.relation).collect();
        let guesses = match sizes {
            Some(sizes) => sizes.0.iter().cloned().map(Some).collect(),
            None => vec![None; rules.arity.len()],
        };
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

    /// The same program rewritten to derive only what is demanded, with the same
    /// query handles; `None` if rewriting would save nothing. Literal orders are
    /// chosen by the sizes observed so far.
    ///
    /// # Errors
    ///
    /// See [`Evaluator::new`].
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
        let guess = |copied: &Option<usize>| copied.map(|r| estimates.of(r).clone());
        // This program may itself be rewritten; errors name what was given first.
        let mut first: Vec<RelationId> = program.rules.relations().collect();
        for (rule, origin) in program.rules.rules.iter().zip(&program.origins) {
            first[rule.head.relation.index()] = *origin;
        }
        let given = Given {
            guesses: rewritten.copies.iter().map(guess).collect(),
            relations: program.rules.arity.len(),
            parts: rewritten.parts,
            rules: rewritten.rules,
            origins: rewritten
                .origins
                .iter()
                .map(|of| first[of.index()])
                .collect(),
        };
        let bounds = self.bounds.clone();
        Evaluator::build(given, &program.inputs, &program.asked, terms, bounds).map(Some)
    }

    /// A program that derives only what is demanded, including relations in `lazy`,
    /// which depend on no input but are too large to derive completely. `None` if
    /// some query needs all rows.
    ///
    /// # Errors
    ///
    /// See [`Evaluator::new`].
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

    /// The sizes of relations observed so far.
    pub fn sizes(&self) -> Sizes {
        let relations = 0..self.relations.len();
        Sizes(relations.map(|r| self.estimate(r, false)).collect())
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
        check_stop(&bounds.stop)?;
        let groups = stratify(&rules, terms).expect("the rules were checked to be stratified");
        check_stop(&bounds.stop)?;
        let relation_layer = layers(&rules, inputs);
        let needed = reach::needed(&rules, queries.iter().flat_map(|(_, asked)| asked).copied());
        // Relations needed under their own name are derived completely.
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
        // Rules that depend on no input are evaluated once, even if their relation
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
            check_stop(&evaluator.bounds.stop)?;
            if !fixed.is_empty() {
                let mut group = Group::new(fixed, group.recursive, &program.rules);
                evaluator.plan_group(&program, &mut group, &estimates);
                evaluator.evaluate(&group, terms)?;
                for &head in &group.heads {
                    estimates.set(head, evaluator.estimate(head, true));
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
        let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); arity.len()];
        check_stop(&evaluator.bounds.stop)?;
        for (number, group) in program.groups.iter_mut().enumerate() {
            for &rule in &group.rules {
                for_each_body_atom(&program.rules.rules[rule], |atom, _| {
                    group.uses.extend(&groups_of[atom.relation.index()]);
                });
            }
            group.uses.sort_unstable();
            group.uses.dedup();
            for &head in &group.heads {
                groups_of[head].push(number);
            }
        }
        for (_, asked) in queries {
            let groups = asked.iter().flat_map(|asked| &groups_of[asked.index()]);
            let groups: Vec<usize> = groups.copied().collect();
            let is_listed = queries.len() <= LISTS;
            let order = is_listed.then(|| program.order(&groups, &evaluator.done));
            program.queries.push(Asked { groups, order });
        }
        evaluator.observed.fill((0, 0));
        let stop = evaluator.bounds.stop.clone();
        evaluator.replan_program(program, &stop);
        check_stop(&evaluator.bounds.stop)?;
        Ok(evaluator)
    }

    /// Plans all rules again with the observed sizes of relations.
    pub fn replan(&mut self) {
        // The current contents of the relations count as observed.
        self.begin(Layer::First);
        self.replan_program(Program::clone(&self.program), &Stop::new());
    }

    /// Plans the rules of a program. Soon after `stop` is over, it ends with a part of them.
    fn replan_program(&mut self, mut program: Program, stop: &Stop) {
        let estimates = self.estimates(false);
        for relation in &mut self.relations {
            relation.drop_indexes();
        }
        let mut groups = std::mem::take(&mut program.groups);
        for group in &mut groups {
            if stop.is_over() {
                break;
            }
            self.plan_group(&program, group, &estimates);
        }
        program.groups = groups;
        self.program = Arc::new(program);
        self.begin(Layer::First);
    }

    /// Plans a rule with the current sizes of relations.
    pub(super) fn plan_now(&mut self, rule: &Rule) -> Plan {
        let mut estimates = Estimates::default();
        for_each_body_atom(rule, |atom, _| {
            let relation = atom.relation.index();
            estimates.set(relation, self.estimate(relation, true));
        });
        let relations = &mut self.relations;
        let mut index_on =
            |relation: u32, columns: &[u16]| relations[relation as usize].index_on(columns);
        plan(rule, rule.head.relation, None, &estimates, &mut index_on)
    }

    fn plan_group(&mut self, program: &Program, group: &mut Group, estimates: &Estimates) {
        let relations = &mut self.relations;
        let mut index_on =
            |relation: u32, columns: &[u16]| relations[relation as usize].index_on(columns);
        group.plans.clear();
        group.deltas.clear();
        group.deltas_of.fill(Deltas::default());
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
                    Literal::Positive(atom) => {
                        if let Ok(head) = group.heads.binary_search(&atom.relation.index()) {
                            let plan = plan(rule, origin, Some(position), estimates, &mut index_on);
                            group.deltas_of[head].add(atom, group.deltas.len());
                            group.deltas.push(plan);
                        }
                    }
                    Literal::Any(_) => literal.for_each_atom(&mut |atom, negated| {
                        let head = group.heads.binary_search(&atom.relation.index());
                        rerun |= !negated && head.is_ok();
                    }),
                    _ => {}
                }
            }
            if rerun {
                group.reruns.push(number);
            }
        }
    }

    /// Sizes: current ones (while the static part is built) or observed ones.
    fn estimates(&self, current: bool) -> Estimates {
        let numbers = 0..self.relations.len();
        numbers
            .map(|number| (number, self.estimate(number, current)))
            .collect()
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

impl Program {
    /// The groups that these use, with themselves and without those that are done, in
    /// order of evaluation.
    pub(super) fn order(&self, groups: &[usize], done: &[bool]) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = HashSet::default();
        let mut open = groups.to_vec();
        while let Some(group) = open.pop() {
            if !done[group] && seen.insert(group) {
                order.push(group);
                open.extend(&self.groups[group].uses);
            }
        }
        // Groups use only earlier ones.
        order.sort_unstable();
        order
    }

    /// The outermost layer that a rule's body uses.
    fn rule_layer(&self, rule: usize) -> u8 {
        let mut layer = 0;
        for_each_body_atom(&self.rules.rules[rule], |atom, _| {
            layer = layer.max(self.relation_layer[atom.relation.index()]);
        });
        layer
    }
}

/// By relation: the outermost layer of inputs that it depends on.
fn layers(rules: &RuleSet, inputs: &[(RelationId, Layer)]) -> Vec<u8> {
    let mut layer = vec![0; rules.arity.len()];
    for number in [Layer::First, Layer::Second] {
        let sources = inputs.iter().filter(|(_, of)| *of == number);
        let found = reach::dependents(rules, sources.map(|(relation, _)| *relation));
        for (layer, found) in layer.iter_mut().zip(found) {
            *layer = if found { number as u8 } else { *layer };
        }
    }
    layer
}
