//! The passes that make a network small, in order.
//!
//! In: a network as the rules say it. Out: the same facts, moves, goals and end,
//! said by fewer gates, for every state that is reached from the initial one.

use super::Propnet;
use super::constants::constants;
use super::dead_gates::tidy;
use super::equivalence::representatives;
use super::factor::factor;
use super::invariants::exclusive;
use super::network::{Builder, Literal};
use super::rewrite::{copy, live};
use super::sample::sample;

/// A pass, and what it left.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// Gates behind it, as two-input gates.
    pub gates: usize,
}

impl Propnet {
    /// Makes the network small. The result says what each pass left.
    pub fn simplify(&mut self) -> Vec<Pass> {
        let mut passes = Vec::new();
        let mut ran = |net: &Propnet, name| {
            let gates = net.network.gates();
            passes.push(Pass { name, gates });
        };
        ran(self, "grounding");
        self.drop_constants();
        ran(self, "constants");
        let states = sample(self);
        self.exclusive = exclusive(self, &states);
        self.factor();
        ran(self, "factors");
        if self.merge_equal_facts(&states) {
            self.drop_constants();
            self.tidy();
            ran(self, "equal facts");
            self.factor();
            ran(self, "factors again");
        }
        passes
    }

    /// Factors gates, unless that undoes more sharing than it finds.
    fn factor(&mut self) {
        self.tidy();
        let before = self.clone();
        factor(self);
        self.tidy();
        if self.network.gates() > before.network.gates() {
            *self = before;
        }
    }

    /// Drops dead gates and puts the others in level order.
    pub(super) fn tidy(&mut self) {
        let mut roots = self.roots();
        self.network = tidy(&self.network, &mut roots);
        let mut moved = roots.into_iter();
        self.for_each_root(|root| *root = moved.next().expect("one for each"));
    }

    /// Facts that never change and moves that are never legal are no inputs.
    fn drop_constants(&mut self) {
        let constants = constants(self);
        let of = |constant: bool| Literal::FALSE.negated_if(constant);
        let known: Vec<bool> = self.assumed_inputs();
        for (fact, constant) in constants[..self.facts.len()].iter().enumerate() {
            if let (Some(constant), false) = (constant, known[fact]) {
                self.assumed.push((fact, of(*constant)));
            }
        }
        self.substitute(|builder, input| match constants[input] {
            Some(constant) => of(constant),
            None => builder.input(input),
        });
    }

    /// Of facts that equal each other one is left as an input. False if there
    /// are none.
    fn merge_equal_facts(&mut self, states: &[Vec<u64>]) -> bool {
        let stands = representatives(self, states);
        let known = self.assumed_inputs();
        let news = |(fact, stand): (usize, &(usize, bool))| stand.0 != fact && !known[fact];
        if !stands.iter().enumerate().any(news) {
            return false;
        }
        for (fact, &(first, negated)) in stands.iter().enumerate() {
            if first != fact && !known[fact] {
                let literal = self.network.input(first).negated_if(negated);
                self.assumed.push((fact, literal));
            }
        }
        self.substitute(|builder, input| match stands.get(input) {
            Some(&(first, negated)) => builder.input(first).negated_if(negated),
            None => builder.input(input),
        });
        true
    }

    /// By fact: whether what it equals is known.
    fn assumed_inputs(&self) -> Vec<bool> {
        let mut known = vec![false; self.facts.len()];
        for &(fact, _) in &self.assumed {
            known[fact] = true;
        }
        known
    }

    fn substitute(&mut self, input: impl Fn(&Builder, usize) -> Literal) {
        let live = live(&self.network, self.roots());
        let mut builder = Builder::new(self.network.inputs());
        let inputs: Vec<Literal> = (0..self.network.inputs())
            .map(|number| input(&builder, number))
            .collect();
        let network = &self.network;
        let became = copy(network, &live, &inputs, &mut builder);
        self.rebuilt(builder, &became);
    }
}
