//! The last way to a network: rules without large fixed relations.
//!
//! In: a game for which no method gives a network within the limits. Out: the network of rules in
//! which conditions on unique values are separate, if that helps. See [`unique_values`].

use rustc_hash::FxHashSet;

use super::{GroundLimits, Grounding, Outcome, combinations, fixed_relations, values};
use crate::propnet::invariants::exclusive;
use crate::propnet::network::Literal;
use crate::propnet::relax::{components, dynamic};
use crate::propnet::sample::sample;
use crate::propnet::unique_values;
use ggp_gdl::game::flat::{Flat, Wrapped};
use ggp_gdl::program::reach;
use ggp_gdl::program::strata::for_each_body_atom;

/// This many times the usual effort goes into groups of exclusive facts without which there is no
/// network.
const MORE_EFFORT: u16 = 20;

impl Grounding<'_> {
    /// The network of rules in which conditions on unique values are separate, in place of large
    /// relations. `None` without such conditions.
    pub(super) fn with_unique_values(&self, limits: &GroundLimits) -> Option<Outcome> {
        let rules = &self.flat.rules;
        let large = self.large_fixed_relations(limits)?;
        let sources = rules.relations().filter(|relation| large[relation.index()]);
        let is_affected = reach::dependents(rules, sources);
        let moves = [&self.flat.init, &self.flat.next, &self.flat.legal];
        let mut moves = moves.into_iter().flat_map(Wrapped::relations);
        if moves.any(|relation| is_affected[relation.index()]) {
            return None;
        }
        // What is exclusive does not depend on goals, nor on the end.
        let mut dynamics = rules.clone();
        dynamics
            .rules
            .retain(|rule| !is_affected[rule.head.relation.index()]);
        let within = |flat: &Flat| {
            let grounding = Grounding { flat, ..*self };
            grounding.best(limits)
        };
        let (mut net, _) = within(&self.flat.with(dynamics)).ok()?;
        net.drop_constants(limits.passes);
        let states = sample(&net, self.stop);
        let groups = exclusive(&net, &states, MORE_EFFORT, self.stop);
        let unique = unique_values::unique(self.flat, &net, &groups);
        let mut terms = self.game.terms().clone();
        let separate = unique_values::separate(self.flat, &large, &unique, &mut terms)?;
        let outcome = within(&self.flat.with(separate));
        Some(outcome.map(|(mut whole, grounded)| {
            whole.exclusive = net.exclusive_in(&groups, &whole);
            // What is unique was proved without facts that moves never make true.
            let can_hold: FxHashSet<_> = net.facts().iter().collect();
            let never = whole.facts.iter().zip(0..);
            let never = never.filter(|(fact, _)| !can_hold.contains(fact));
            let never = never.map(|(_, number)| (number, Literal::FALSE));
            whole.assumed.extend(never);
            (whole, grounded)
        }))
    }

    /// By relation: true if rules that do not depend on the state or on themselves give it more
    /// combinations of values than rows are allowed. `None` without any.
    fn large_fixed_relations(&self, limits: &GroundLimits) -> Option<Vec<bool>> {
        let rules = &self.flat.rules;
        let (dynamic, fixed) = (dynamic(self.flat), fixed_relations(self.game, self.flat));
        let values = values(self.game, self.flat, &self.whole())?;
        let mut is_large: Vec<bool> = (rules.relations())
            .map(|relation| {
                let columns = 0..rules.arity[relation.index()];
                !dynamic[relation.index()]
                    && !fixed.contains(&relation)
                    && combinations(&values, relation, columns) > limits.facts as f64
            })
            .collect();
        for fact in &rules.facts {
            is_large[fact.relation.index()] = false;
        }
        for rule in &rules.rules {
            let head = rule.head.relation.index();
            for_each_body_atom(rule, |atom, _| {
                is_large[head] &= atom.relation.index() != head
            });
        }
        for relations in components(rules, &rules.relations().collect::<Vec<_>>()) {
            if relations.len() > 1 {
                relations
                    .iter()
                    .for_each(|&relation| is_large[relation] = false);
            }
        }
        is_large.contains(&true).then_some(is_large)
    }
}
