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
use super::invariants::{Exclusive, exclusive, is_analysed};
use super::network::{Builder, Literal};
use super::rewrite::{copy, live};
use super::sample::sample;
use ggp_stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The number of gates from which factors are looked for again only if at least one gate in 100
/// was saved the first time.
const LARGE: usize = 300_000;

/// The passes over gates, while they are made and afterwards. None of them changes an answer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Passes {
    /// Equal gates are made once.
    pub shared_gates: bool,
    /// Gates rely on each role making exactly one move.
    pub exclusive_moves: bool,
    /// Disjunctions of moves of several roles are split into the moves of each.
    pub split_moves: bool,
    /// Disjunctions are divided by common factors when they are made.
    pub early_factors: bool,
    /// Gates that nothing reads are removed, and the others are put in level order.
    pub dead_gates: bool,
    /// Facts that never change and moves that are never legal become constants.
    pub constants: bool,
    /// Facts that exclude each other are found and proved.
    pub exclusive_facts: bool,
    /// All gates are divided by common factors.
    pub factors: bool,
    /// Facts that equal each other have one input.
    pub equal_facts: bool,
    /// Gates are divided again where facts were equal.
    pub factors_again: bool,
}

impl Passes {
    /// All of them.
    pub const ALL: Passes = Passes::new(true);
    /// Gates as the rules give them.
    pub const NONE: Passes = Passes::new(false);

    const fn new(all: bool) -> Passes {
        Passes {
            shared_gates: all,
            exclusive_moves: all,
            split_moves: all,
            early_factors: all,
            dead_gates: all,
            constants: all,
            exclusive_facts: all,
            factors: all,
            equal_facts: all,
            factors_again: all,
        }
    }
}

/// The passes that changed a network, for the networks of other games with the same rules and
/// other facts, such as the boards of one puzzle. Clones share what the first game has shown.
#[derive(Clone, Debug, Default)]
pub struct UsefulPasses(Arc<OnceLock<Passes>>);

impl UsefulPasses {
    /// These passes, without those that looked for something in vain in the first network.
    pub(super) fn among(&self, passes: Passes) -> Passes {
        let useful = self.0.get().copied().unwrap_or(Passes::ALL);
        Passes {
            exclusive_facts: passes.exclusive_facts && useful.exclusive_facts,
            factors: passes.factors && useful.factors,
            equal_facts: passes.equal_facts && useful.equal_facts,
            ..passes
        }
    }

    /// Notes what the passes have done to a network, unless that is known of another one.
    pub(super) fn note(&self, net: &Propnet, done: &[Pass]) {
        let mut pairs = done.windows(2);
        self.0.get_or_init(|| Passes {
            // A smaller network may have what was not looked for in this one.
            exclusive_facts: !net.exclusive.is_empty() || !is_analysed(net, 1),
            factors: pairs.any(|two| two[1].name == FACTORS && two[1].gates < two[0].gates),
            equal_facts: net.assumed.iter().any(|(_, equal)| !equal.is_constant()),
            ..Passes::ALL
        });
    }
}

const FACTORS: &str = "factors";

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
        self.simplify_until(Passes::ALL, &Stop::new())
    }

    /// Simplifies the network by some passes until a stop. Where the stop comes first, the network is
    /// equivalent to the simplified one, but has more gates.
    pub fn simplify_until(&mut self, passes: Passes, stop: &Stop) -> Vec<Pass> {
        let done = self.simplify_by(passes, stop);
        self.network.shrink();
        done
    }

    fn simplify_by(&mut self, passes: Passes, stop: &Stop) -> Vec<Pass> {
        let mut done = Vec::new();
        let mut ran = |net: &Propnet, name| {
            let gates = net.network.gates();
            done.push(Pass { name, gates });
        };
        ran(self, "grounding");
        if stop.is_over() {
            return done;
        }
        if passes.constants {
            self.drop_constants(passes);
            ran(self, "constants");
        }
        let states = match passes.equal_facts || passes.exclusive_facts && is_analysed(self, 1) {
            true => sample(self, stop),
            false => Vec::new(),
        };
        if passes.exclusive_facts {
            self.find_exclusive(&states, stop);
        }
        let before = self.network.gates();
        if passes.factors {
            self.factor(passes, stop);
            if stop.is_over() {
                return done;
            }
            ran(self, FACTORS);
        }
        let is_worth_it = before < LARGE || self.network.gates() < before - before / 100;
        if passes.equal_facts && self.merge_equal_facts(&states, passes, stop) {
            if passes.constants {
                self.drop_constants(passes);
            }
            self.remove_dead_gates(passes);
            ran(self, "equal facts");
            if passes.factors_again && is_worth_it {
                self.factor(passes, stop);
                ran(self, "factors again");
            }
        }
        done
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
    fn factor(&mut self, passes: Passes, stop: &Stop) {
        if stop.is_over() {
            return;
        }
        self.remove_dead_gates(passes);
        if self.network.gates() >= LARGE && !self.has_factors(passes, stop) {
            return;
        }
        let before = self.clone();
        if !factor(self, passes, stop) {
            return;
        }
        self.remove_dead_gates(passes);
        if self.network.gates() > before.network.gates() {
            *self = before;
        }
    }

    /// False if factors save fewer than 2 of 100 gates in a sample: the gates of one root in 64.
    /// True if four samples have most gates of the network, so that they would save no time.
    fn has_factors(&self, passes: Passes, stop: &Stop) -> bool {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut samples = std::iter::repeat_with(|| {
            let mut sample = self.clone();
            sample.for_each_root(|root| {
                if random.random_range(0..64) > 0 {
                    *root = Literal::FALSE;
                }
            });
            sample.remove_dead_gates(passes);
            sample
        });
        let is_small = |sample: &Propnet| 2 * sample.network.gates() <= self.network.gates();
        let Some(mut sample) = samples.by_ref().take(4).find(is_small) else {
            return true;
        };
        let gates = sample.network.gates();
        if !factor(&mut sample, passes, stop) {
            return false;
        }
        sample.remove_dead_gates(passes);
        sample.network.gates() < gates - gates / 50
    }

    /// Removes dead gates and puts the others in level order.
    pub(super) fn remove_dead_gates(&mut self, passes: Passes) {
        if !passes.dead_gates {
            return;
        }
        let mut roots = self.roots();
        self.network = remove_dead_gates(&self.network, &mut roots);
        let mut moved = roots.into_iter();
        self.for_each_root(|root| *root = moved.next().expect("one for each"));
    }

    /// Replaces facts that never change and moves that are never legal by
    /// constants.
    pub(super) fn drop_constants(&mut self, passes: Passes) {
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
        self.substitute(passes, |builder, input| match constants[input] {
            Some(constant) => of(constant),
            None => builder.input(input),
        });
    }

    /// Keeps one input for each set of facts that equal each other. Returns false
    /// if no new equality was found.
    fn merge_equal_facts(&mut self, states: &[Vec<u64>], passes: Passes, stop: &Stop) -> bool {
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
        self.substitute(passes, |builder, input| match merged.get(input) {
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

    fn substitute(&mut self, passes: Passes, input: impl Fn(&Builder, usize) -> Literal) {
        let live = live(&self.network, self.roots());
        let mut builder = Builder::with_room(self.network.inputs(), self.network.len());
        builder.share(passes.shared_gates);
        let inputs: Vec<Literal> = (0..self.network.inputs())
            .map(|number| input(&builder, number))
            .collect();
        let network = &self.network;
        let became = copy(network, &live, &inputs, &mut builder);
        self.rebuilt(builder, &became);
    }
}

#[cfg(test)]
mod tests {
    use super::super::GroundLimits;
    use super::*;
    use ggp_gdl::game::Game;

    #[test]
    fn a_sample_shows_whether_there_are_factors() {
        // Where `(at ?a)` is a common factor, a third of the gates can be saved.
        for (shared, has_factors) in [("(true (at ?a))", true), ("(true (at ?b))", false)] {
            let mut text = format!(
                "(role r) (<= (legal r (mark ?a)) (near ?a ?b)) (<= (init (at ?a)) (near ?a ?b))
                 (<= (next (by ?a)) (does r (mark ?a)))
                 (<= (next (at ?a)) {shared} (true (by ?b)) (near ?a ?b))
                 (<= terminal (true (by 0)) (true (at 1)))
                 (<= (goal r 0) (near ?a ?b))"
            );
            for a in 0..400 {
                for step in [1, 7, 29] {
                    text += &format!("(near {a} {})", (a + step) % 400);
                }
            }
            let game = Game::from_text("test", &text).expect("the rules are valid");
            let passes = Passes {
                early_factors: false,
                ..Passes::ALL
            };
            let limits = GroundLimits {
                passes,
                ..GroundLimits::default()
            };
            let (mut net, _) = Propnet::ground(&game, &limits).expect("the game is small");
            let before = net.network.gates();
            assert_eq!(
                net.has_factors(passes, &Stop::new()),
                has_factors,
                "{shared}"
            );
            net.factor(passes, &Stop::new());
            assert_eq!(net.network.gates() < before, has_factors, "{shared}");
        }
    }

    #[test]
    fn passes_that_find_nothing_are_left_out_of_later_networks() {
        let marks = "(<= (legal r (mark ?a)) (place ?a) (not (true (at ?a))))
                     (<= (next (at ?a)) (true (at ?a)))";
        let token = "(<= (legal r (mark ?a)) (place ?a)) (init (at a))";
        let game = |rules: &str, places: &str| {
            let text = format!(
                "(role r) {rules} (<= (next (at ?a)) (does r (mark ?a)))
                 (<= open (place ?a) (not (true (at ?a)))) (<= terminal (not open))
                 (<= (goal r 100) terminal) (<= (goal r 0) open) {places}"
            );
            Game::from_text("test", &text).expect("the rules are valid")
        };
        let (three, four) = (
            "(place a) (place b) (place c)",
            "(place a) (place b) (place c) (place d)",
        );
        for (rules, has_groups) in [(marks, false), (token, true)] {
            let useful = UsefulPasses::default();
            let limits = GroundLimits {
                useful: Some(useful.clone()),
                ..GroundLimits::default()
            };
            assert_eq!(useful.among(Passes::ALL), Passes::ALL);
            let ground = |places, limits| Propnet::simplified(&game(rules, places), limits);
            ground(three, &limits).expect("the game is small");
            let left = useful.among(Passes::ALL);
            assert_eq!(left.exclusive_facts, has_groups, "{rules}");
            assert!(!left.equal_facts && left.constants, "{rules}");
            let later = ground(four, &limits).expect("the game is small");
            let alone = ground(four, &GroundLimits::default()).expect("the game is small");
            assert_eq!(later.exclusive, alone.exclusive);
            assert_eq!(later.network.gates(), alone.network.gates());
        }
    }
}
