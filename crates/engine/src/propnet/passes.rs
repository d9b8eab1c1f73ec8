//! The passes that simplify a network, in order.
//!
//! In: the network of the rules as written. Out: a network with the same facts,
//! moves, goals and terminal condition but fewer gates, equivalent in every state
//! reachable from the initial one.

use super::Propnet;
use super::constants::constants;
use super::dead_gates::remove_dead_gates;
use super::equivalence::representatives;
use super::factor::factor;
use super::invariants::{Exclusive, exclusive};
use super::network::{Builder, Literal};
use super::rewrite::{copy, live};
use super::sample::sample;
use ggp_stop::Stop;
use rustc_hash::FxHashMap;

/// The number of gates from which factors are looked for again only if at least one gate in 100
/// was saved the first time.
const LARGE: usize = 300_000;

/// A pass and its result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// The number of two-input gates after it.
    pub gates: usize,
}

impl Propnet {
    /// Simplifies the network. The result lists the passes that ran.
    pub fn simplify(&mut self) -> Vec<Pass> {
        self.simplify_until(&Stop::new())
    }

    /// Simplifies the network until a stop. Where the stop comes first, the network is
    /// equivalent to the simplified one, but has more gates.
    pub fn simplify_until(&mut self, stop: &Stop) -> Vec<Pass> {
        let mut passes = Vec::new();
        let mut ran = |net: &Propnet, name| {
            let gates = net.network.gates();
            passes.push(Pass { name, gates });
        };
        ran(self, "grounding");
        if stop.is_over() {
            return passes;
        }
        self.drop_constants();
        ran(self, "constants");
        let states = sample(self, stop);
        self.find_exclusive(&states, stop);
        let before = self.network.gates();
        self.factor(stop);
        if stop.is_over() {
            return passes;
        }
        ran(self, "factors");
        let is_worth_it = before < LARGE || self.network.gates() < before - before / 100;
        if self.merge_equal_facts(&states, stop) {
            self.drop_constants();
            self.remove_dead_gates();
            ran(self, "equal facts");
            if is_worth_it {
                self.factor(stop);
                ran(self, "factors again");
            }
        }
        passes
    }

    /// Adds groups of exclusive facts to those that the network relies on.
    fn find_exclusive(&mut self, states: &[Vec<u64>], stop: &Stop) {
        let more = exclusive(self, states, 1, stop);
        let mut is_known = vec![false; self.facts.len()];
        for &fact in self.exclusive.iter().flat_map(|group| &group.facts) {
            is_known[fact] = true;
        }
        let is_new = |group: &Exclusive| group.facts.iter().all(|&fact| !is_known[fact]);
        self.exclusive.extend(more.into_iter().filter(is_new));
        self.exclusive.sort_by(|a, b| a.facts.cmp(&b.facts));
    }

    /// Groups of exclusive facts as those of another network of the same game.
    pub(super) fn exclusive_in(&self, groups: &[Exclusive], other: &Propnet) -> Vec<Exclusive> {
        let numbers = other.facts.iter().zip(0..);
        let numbers: FxHashMap<_, usize> = numbers.map(|(fact, number)| (*fact, number)).collect();
        let of = |group: &Exclusive| {
            let facts = group.facts.iter();
            let mut facts: Vec<usize> = facts
                .filter_map(|&fact| numbers.get(&self.facts[fact]).copied())
                .collect();
            facts.sort_unstable();
            Exclusive {
                // A fact that the other network lacks may be the one that holds.
                exact: group.exact && facts.len() == group.facts.len(),
                facts,
            }
        };
        let groups = groups.iter().map(of);
        groups.filter(|group| group.facts.len() > 1).collect()
    }

    /// Factors gates, unless that undoes more sharing than it finds.
    fn factor(&mut self, stop: &Stop) {
        if stop.is_over() {
            return;
        }
        self.remove_dead_gates();
        let before = self.clone();
        if !factor(self, stop) {
            return;
        }
        self.remove_dead_gates();
        if self.network.gates() > before.network.gates() {
            *self = before;
        }
    }

    /// Removes dead gates and puts the others in level order.
    pub(super) fn remove_dead_gates(&mut self) {
        let mut roots = self.roots();
        self.network = remove_dead_gates(&self.network, &mut roots);
        let mut moved = roots.into_iter();
        self.for_each_root(|root| *root = moved.next().expect("one for each"));
    }

    /// Replaces facts that never change and moves that are never legal by
    /// constants.
    pub(super) fn drop_constants(&mut self) {
        let constants = constants(self);
        let of = |constant: bool| Literal::FALSE.negated_if(constant);
        let known: Vec<bool> = self.assumed_inputs();
        for (fact, constant) in constants[..self.facts.len()].iter().enumerate() {
            if let (Some(constant), false) = (constant, known[fact]) {
                self.assumed.push((fact, of(*constant)));
            }
        }
        let live = live(&self.network, self.roots());
        let is_read = |input: usize| live[self.network.input(input).node()];
        if !(0..constants.len()).any(|input| constants[input].is_some() && is_read(input)) {
            return;
        }
        self.substitute(|builder, input| match constants[input] {
            Some(constant) => of(constant),
            None => builder.input(input),
        });
    }

    /// Keeps one input for each set of facts that equal each other. Returns false
    /// if no new equality was found.
    fn merge_equal_facts(&mut self, states: &[Vec<u64>], stop: &Stop) -> bool {
        let merged = representatives(self, states, stop);
        let known = self.assumed_inputs();
        let is_new = |(fact, representative): (usize, &(usize, bool))| {
            representative.0 != fact && !known[fact]
        };
        if !merged.iter().enumerate().any(is_new) {
            return false;
        }
        for (fact, &(first, negated)) in merged.iter().enumerate() {
            if first != fact && !known[fact] {
                let literal = self.network.input(first).negated_if(negated);
                self.assumed.push((fact, literal));
            }
        }
        self.substitute(|builder, input| match merged.get(input) {
            Some(&(first, negated)) => builder.input(first).negated_if(negated),
            None => builder.input(input),
        });
        true
    }

    /// By fact: true if an equality for it is already known.
    fn assumed_inputs(&self) -> Vec<bool> {
        let mut known = vec![false; self.facts.len()];
        for &(fact, _) in &self.assumed {
            known[fact] = true;
        }
        known
    }

    fn substitute(&mut self, input: impl Fn(&Builder, usize) -> Literal) {
        let live = live(&self.network, self.roots());
        let mut builder = Builder::with_room(self.network.inputs(), self.network.len());
        let inputs: Vec<Literal> = (0..self.network.inputs())
            .map(|number| input(&builder, number))
            .collect();
        let network = &self.network;
        let became = copy(network, &live, &inputs, &mut builder);
        self.rebuilt(builder, &became);
    }
}
