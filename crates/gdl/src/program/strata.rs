//! The evaluation order of rules (stratification).
//!
//! In: a rule set. Out: its rules in groups, such that each group uses only relations
//! derived by earlier groups or itself, and negates only relations completed by
//! earlier groups. Dependencies are first computed between relations. Only where a
//! relation depends on its own negation are they computed between single rules, by
//! unifying heads with atoms: `(goal ?r 0) <- not (goal ?r 100)` has a valid order,
//! because the head never equals the negated atom.

use ggp_stop::Stop;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use crate::program::{Atom, Literal, RelationId, Rule, RuleSet};
use crate::span::Span;
use crate::terms::Terms;

mod unify;

pub use unify::can_be_equal;

/// Rules that are evaluated together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Indices into [`RuleSet::rules`], ascending.
    pub rules: Vec<usize>,
    /// True if the rules depend on their own results, directly or through each other;
    /// if false, one pass over them is enough.
    pub recursive: bool,
}

/// A dependency of an atom on its own negation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NegativeCycle {
    /// The rule that contains the negation.
    pub rule: usize,
    /// The place of the negated atom.
    pub negated: Span,
    /// The rules of the cycle, including `rule`.
    pub members: Vec<usize>,
}

/// Maximum number of pairs of rules compared when relations are not enough.
const MAX_PAIRS: usize = 5_000_000;

/// Groups the rules in an order of evaluation.
///
/// Facts need no group. Rules of one relation may be in different groups.
///
/// Source: stratified programs, Apt, Blair and Walker 1988; GDL specification
/// LG-2006-01, definition of stratified rules, refined from relations to unifiable
/// atoms.
///
/// # Errors
///
/// The negative cycles, one for each strongly connected component that has one.
pub fn stratify(rules: &RuleSet, terms: &Terms) -> Result<Vec<Group>, Vec<NegativeCycle>> {
    stratify_until(rules, terms, &Stop::new())
}

/// Groups the rules like [`stratify`]; stops soon after `stop` is over, with an
/// arbitrary result.
///
/// # Errors
///
/// See [`stratify`].
pub fn stratify_until(
    rules: &RuleSet,
    terms: &Terms,
    stop: &Stop,
) -> Result<Vec<Group>, Vec<NegativeCycle>> {
    if stop.is_over() {
        return Ok(Vec::new());
    }
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(rules.arity.len(), rules.rules.len());
    for _ in rules.relations() {
        graph.add_node(());
    }
    for rule in &rules.rules {
        let head = NodeIndex::new(rule.head.relation.index());
        for_each_body_atom(rule, |atom, _| {
            graph.add_edge(head, NodeIndex::new(atom.relation.index()), ());
        });
    }
    let mut heads: Vec<Vec<usize>> = vec![Vec::new(); rules.arity.len()];
    for (index, rule) in rules.rules.iter().enumerate() {
        heads[rule.head.relation.index()].push(index);
    }
    let mut component_of = vec![0; rules.arity.len()];
    let components = kosaraju_scc(&graph);
    for (number, component) in components.iter().enumerate() {
        for node in component {
            component_of[node.index()] = number;
        }
    }
    // Tarjan's algorithm emits components after those they use.
    let mut groups = Vec::new();
    let mut cycles = Vec::new();
    for (number, component) in components.iter().enumerate() {
        if stop.is_over() {
            break;
        }
        let mut members: Vec<usize> = component
            .iter()
            .flat_map(|node| heads[node.index()].iter().copied())
            .collect();
        if members.is_empty() {
            continue;
        }
        members.sort_unstable();
        let mut recursive = false;
        let mut negative = false;
        for &member in &members {
            for_each_body_atom(&rules.rules[member], |atom, negated| {
                if component_of[atom.relation.index()] == number {
                    recursive = true;
                    negative |= negated;
                }
            });
        }
        if negative {
            match refine(rules, terms, &members, stop) {
                Ok(finer) => groups.extend(finer),
                Err(cycle) => cycles.push(cycle),
            }
        } else {
            groups.push(Group {
                rules: members,
                recursive,
            });
        }
    }
    if cycles.is_empty() {
        Ok(groups)
    } else {
        Err(cycles)
    }
}

/// Groups the rules of one strongly connected component of relations by unifying
/// heads with body atoms.
fn refine(
    rules: &RuleSet,
    terms: &Terms,
    members: &[usize],
    stop: &Stop,
) -> Result<Vec<Group>, NegativeCycle> {
    let mut graph: DiGraph<(), Option<Span>> = DiGraph::new();
    for _ in members {
        graph.add_node(());
    }
    let mut heads: FxHashMap<RelationId, Vec<usize>> = FxHashMap::default();
    for (to, &member) in members.iter().enumerate() {
        let relation = rules.rules[member].head.relation;
        heads.entry(relation).or_default().push(to);
    }
    let mut pairs = 0;
    let mut too_many = None;
    for (from, &member) in members.iter().enumerate() {
        for_each_body_atom(&rules.rules[member], |atom, negated| {
            for &to in heads.get(&atom.relation).into_iter().flatten() {
                let head = &rules.rules[members[to]].head;
                pairs += 1;
                if pairs > MAX_PAIRS || stop.is_raised() {
                    too_many.get_or_insert((member, atom.span));
                    return;
                }
                if can_be_equal(&atom.arguments, &head.arguments, terms) {
                    let weight = negated.then_some(atom.span);
                    graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), weight);
                }
            }
        });
    }
    if let Some((rule, negated)) = too_many {
        return Err(NegativeCycle {
            rule,
            negated,
            members: members.to_vec(),
        });
    }
    let components = kosaraju_scc(&graph);
    let mut component_of = vec![0; members.len()];
    for (number, component) in components.iter().enumerate() {
        for node in component {
            component_of[node.index()] = number;
        }
    }
    let mut recursive = vec![false; components.len()];
    for edge in graph.raw_edges() {
        let number = component_of[edge.source().index()];
        if number != component_of[edge.target().index()] {
            continue;
        }
        recursive[number] = true;
        if let Some(negated) = edge.weight {
            let mut knot: Vec<usize> = components[number]
                .iter()
                .map(|node| members[node.index()])
                .collect();
            knot.sort_unstable();
            return Err(NegativeCycle {
                rule: members[edge.source().index()],
                negated,
                members: knot,
            });
        }
    }
    Ok(components
        .iter()
        .zip(recursive)
        .map(|(component, recursive)| {
            let mut rules: Vec<usize> = component.iter().map(|n| members[n.index()]).collect();
            rules.sort_unstable();
            Group { rules, recursive }
        })
        .collect())
}

/// Calls `visit` for each atom of a rule's body; the flag is true for a negated atom.
pub fn for_each_body_atom<'a>(rule: &'a Rule, mut visit: impl FnMut(&'a Atom, bool)) {
    for literal in &rule.body {
        Literal::for_each_atom(literal, &mut visit);
    }
}
