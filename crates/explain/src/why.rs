//! Smallest derivations, by Knuth's generalization of Dijkstra's shortest paths: of
//! all facts whose derivations use settled facts only, the one with the smallest
//! derivation is settled next. The size of a derivation is the size of the tree it
//! unfolds to; it is never circular.
//!
//! Source: D. E. Knuth, A Generalization of Dijkstra's Algorithm, Information
//! Processing Letters 6(1), 1977.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::matching::{Matching, holds};
use super::model::{Bindings, Model, Value, bind, value};
use super::{Derivation, ExplainError, Explainer, GroundAtom, Premise, Proof, Reason};
use ggp_gdl::program::{Atom, Literal};
use ggp_gdl::terms::{TermId, Terms};

/// An instance of a rule whose body holds.
struct Instance {
    head: usize,
    rule: usize,
    bindings: Box<[Option<TermId>]>,
    premises: Vec<Premise>,
    /// Number of premises that are facts not yet settled.
    waiting: usize,
    cost: u64,
}

/// The facts that a derivation may use, as far as they are known.
#[derive(Default)]
struct Cone {
    facts: Vec<GroundAtom>,
    numbers: FxHashMap<GroundAtom, usize>,
    instances: Vec<Instance>,
}

impl Cone {
    fn number(&mut self, fact: GroundAtom) -> usize {
        if let Some(&number) = self.numbers.get(&fact) {
            return number;
        }
        self.facts.push(fact.clone());
        self.numbers.insert(fact, self.facts.len() - 1);
        self.facts.len() - 1
    }
}

/// Maximum numbers of instances examined for one fact, tried in turn when there are
/// too many.
const FEWER: [usize; 3] = [usize::MAX, 64, 4];

impl Explainer {
    /// The smallest derivation of a fact that holds.
    pub(super) fn derive(
        &mut self,
        fact: &GroundAtom,
        model: &mut Model,
    ) -> Result<Derivation, ExplainError> {
        let mut first = None;
        for most in FEWER {
            self.budget.start();
            let work = model.set_work(u64::MAX);
            let derived = self.derive_from(fact, model, most);
            model.set_work(work);
            match derived {
                Ok(mut derivation) => {
                    derivation.smallest = most == usize::MAX;
                    return Ok(derivation);
                }
                Err(error @ (ExplainError::Large(_) | ExplainError::Underivable)) => {
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(first.expect("each try failed"))
    }

    fn derive_from(
        &mut self,
        fact: &GroundAtom,
        model: &mut Model,
        most: usize,
    ) -> Result<Derivation, ExplainError> {
        let mut cone = Cone::default();
        cone.number(fact.clone());
        let mut leaves = Vec::new();
        let mut next = 0;
        while next < cone.facts.len() {
            let fact = cone.facts[next].clone();
            match self.given(&fact) {
                Some(reason) => leaves.push((next, reason)),
                None => self.instances(next, &fact, model, most, &mut cone)?,
            }
            next += 1;
        }
        let mut uses: Vec<Vec<usize>> = vec![Vec::new(); cone.facts.len()];
        let mut heap = BinaryHeap::new();
        for (number, instance) in cone.instances.iter_mut().enumerate() {
            let mut of: Vec<usize> = instance.premises.iter().filter_map(Premise::fact).collect();
            of.sort_unstable();
            of.dedup();
            instance.waiting = of.len();
            instance.cost = 1 + instance.premises.len() as u64 - of.len() as u64;
            for fact in of {
                uses[fact].push(number);
            }
            if instance.waiting == 0 {
                heap.push(Reverse((instance.cost, number)));
            }
        }
        let mut settled: Vec<Option<Option<usize>>> = vec![None; cone.facts.len()];
        let mut costs = vec![0u64; cone.facts.len()];
        let mut reached = Vec::new();
        for (leaf, _) in &leaves {
            settled[*leaf] = Some(None);
            costs[*leaf] = 1;
            reached.push(*leaf);
        }
        loop {
            while let Some(fact) = reached.pop() {
                for &number in &uses[fact] {
                    let instance = &mut cone.instances[number];
                    instance.waiting -= 1;
                    instance.cost = instance.cost.saturating_add(costs[fact]);
                    if instance.waiting == 0 {
                        heap.push(Reverse((instance.cost, number)));
                    }
                }
            }
            if settled[0].is_some() {
                break;
            }
            let Some(Reverse((cost, number))) = heap.pop() else {
                return Err(ExplainError::Underivable);
            };
            let head = cone.instances[number].head;
            if settled[head].is_none() {
                settled[head] = Some(Some(number));
                costs[head] = cost;
                reached.push(head);
            }
        }
        let mut derivation = Derivation {
            proofs: Vec::new(),
            instances: (cone.instances.iter())
                .filter(|instance| instance.head == 0)
                .count(),
            smallest: true,
        };
        let leaves: FxHashMap<usize, Reason> = leaves.into_iter().collect();
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        places.insert(0, 0);
        let mut order = vec![0];
        let mut at = 0;
        while at < order.len() {
            let number = order[at];
            let reason = match settled[number].expect("it was settled before its uses") {
                None => leaves[&number].clone(),
                Some(instance) => {
                    let instance = &cone.instances[instance];
                    let mut premises = instance.premises.clone();
                    for premise in &mut premises {
                        if let Premise::Fact(fact) = premise {
                            let count = order.len();
                            let place = *places.entry(*fact).or_insert(count);
                            if place == count {
                                order.push(*fact);
                            }
                            *fact = place;
                        }
                    }
                    Reason::Rule {
                        rule: instance.rule,
                        bindings: instance.bindings.clone(),
                        premises,
                    }
                }
            };
            let fact = cone.facts[number].clone();
            derivation.proofs.push(Proof { fact, reason });
            at += 1;
        }
        Ok(derivation)
    }

    /// Adds the instances of rules whose head is a fact and whose body holds.
    fn instances(
        &mut self,
        head: usize,
        fact: &GroundAtom,
        model: &mut Model,
        most: usize,
        cone: &mut Cone,
    ) -> Result<(), ExplainError> {
        let game = self.game.clone();
        let mut found = 0;
        for &number in self.rules_of(fact.relation).iter() {
            let rule = &game.rules().rules[number];
            let mut bindings = vec![None; rule.variables.len()];
            let mut bound = Vec::new();
            let fits = (rule.head.arguments.iter())
                .zip(&fact.arguments)
                .all(|(term, given)| bind(term, *given, &mut bindings, &mut bound, &self.terms));
            if !fits || found >= most {
                continue;
            }
            let mut matches: Vec<Box<Bindings>> = Vec::new();
            let mut search = Matching {
                body: &rule.body,
                model,
                terms: &mut self.terms,
                budget: &mut self.budget,
                costs: &[],
                most: 0,
            };
            let _ = search.run(&mut bindings, &mut |bindings, _| {
                matches.push(bindings.into());
                match matches.len() + found < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            found += matches.len();
            for bindings in matches {
                let mut bodies = vec![Vec::new()];
                for literal in &rule.body {
                    bodies = self.extended(bodies, literal, &bindings, model, cone)?;
                }
                for premises in bodies {
                    self.budget.spend(1)?;
                    cone.instances.push(Instance {
                        head,
                        rule: number,
                        bindings: bindings.clone(),
                        premises,
                        waiting: 0,
                        cost: 0,
                    });
                }
            }
        }
        Ok(())
    }

    /// Extends each list of premises with the premises of a literal that holds; a
    /// disjunction can have several.
    fn extended(
        &mut self,
        bodies: Vec<Vec<Premise>>,
        literal: &Literal,
        bindings: &Bindings,
        model: &mut Model,
        cone: &mut Cone,
    ) -> Result<Vec<Vec<Premise>>, ExplainError> {
        let instances: Vec<Vec<Premise>> = match literal {
            Literal::Any(branches) => {
                let mut instances = Vec::new();
                for branch in branches {
                    let mut all = true;
                    for literal in branch {
                        all &= holds(literal, bindings, model, &mut self.terms)? == Some(true);
                    }
                    if !all {
                        continue;
                    }
                    let mut of_branch = vec![Vec::new()];
                    for literal in branch {
                        of_branch = self.extended(of_branch, literal, bindings, model, cone)?;
                    }
                    instances.extend(of_branch);
                }
                instances
            }
            Literal::Positive(atom) => {
                let fact = fact_of(atom, bindings, &mut self.terms);
                vec![vec![Premise::Fact(cone.number(fact))]]
            }
            Literal::Negative(atom) => {
                vec![vec![Premise::Absent(fact_of(
                    atom,
                    bindings,
                    &mut self.terms,
                ))]]
            }
            Literal::Distinct(left, right, _) | Literal::Same(left, right, _) => {
                let [left, right] = [left, right].map(|t| ground(t, bindings, &mut self.terms));
                let equal = matches!(literal, Literal::Same(..));
                vec![vec![Premise::Test { equal, left, right }]]
            }
        };
        let mut all = Vec::with_capacity(bodies.len() * instances.len());
        for body in &bodies {
            for way in &instances {
                self.budget.spend(1)?;
                all.push(body.iter().chain(way).cloned().collect());
            }
        }
        Ok(all)
    }
}

/// The fact denoted by an atom when all its variables are bound.
pub(super) fn fact_of(atom: &Atom, bindings: &Bindings, terms: &mut Terms) -> GroundAtom {
    GroundAtom {
        relation: atom.relation,
        arguments: (atom.arguments.iter())
            .map(|term| ground(term, bindings, terms))
            .collect(),
    }
}

fn ground(term: &ggp_gdl::program::Term, bindings: &Bindings, terms: &mut Terms) -> TermId {
    match value(term, bindings, terms) {
        Value::Is(id) => id,
        _ => unreachable!("a match binds all variables, and its terms were made"),
    }
}
