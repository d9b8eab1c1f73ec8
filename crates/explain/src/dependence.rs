//! Dependencies between relations.

use ggp_gdl::program::strata::for_each_body_atom;
use ggp_gdl::program::{RelationId, RuleSet};

/// By relation: true if it is in the set or depends on a relation in it.
pub(super) fn dependent(rules: &RuleSet, mut set: Vec<bool>) -> Vec<bool> {
    let mut grown = true;
    while std::mem::take(&mut grown) {
        for rule in &rules.rules {
            let head = rule.head.relation.index();
            let mut reads = set[head];
            for_each_body_atom(rule, |atom, _| reads |= set[atom.relation.index()]);
            grown |= reads && !set[head];
            set[head] = reads;
        }
    }
    set
}

/// By relation: true if `relation` depends on it or is it.
pub(super) fn needed(rules: &RuleSet, relation: RelationId) -> Vec<bool> {
    let mut set = vec![false; rules.arity.len()];
    set[relation.index()] = true;
    let mut grown = true;
    while std::mem::take(&mut grown) {
        for rule in rules
            .rules
            .iter()
            .filter(|r| set[r.head.relation.index()])
            .collect::<Vec<_>>()
        {
            for_each_body_atom(rule, |atom, _| {
                grown |= !std::mem::replace(&mut set[atom.relation.index()], true);
            });
        }
    }
    set
}
