//! Separate conditions on values of which a state has one at most.
//!
//! In: rules, and columns of state facts whose value follows from the other columns in every reachable
//! state, as the mark of a cell. Out: equivalent rules without some large relations. If a rule asks for a
//! row of such a relation, `(<= (good ?i) (true (mark ?i 1 ?a)) (true (mark ?i 2 ?b)) (different ?a ?b)
//! (sorted ?a ?b))`, then `?a` and `?b` are the same in each of its conditions, so each can be asked for
//! alone: it becomes a piece of its own, in which the rules of the relation take its place. They are
//! matched with the values in the state then, and not with all combinations of values.
//!
//! Source: functional dependencies, Abiteboul, Hull and Vianu, Foundations of Databases, 1995, chapter 8;
//! unfolding, Tamaki and Sato, Unfold/fold transformation of logic programs, 1984.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Propnet;
use super::invariants::Exclusive;
use ggp_gdl::game::flat::Flat;
use ggp_gdl::program::unify::Unifier;
use ggp_gdl::program::{Atom, FunctorId, Literal, RelationId, Rule, RuleSet, Term, Variable};
use ggp_gdl::terms::{TermId, Terms};

/// The most rules that take the place of large relations.
const MOST_RULES: usize = 10_000;

/// The columns of state facts whose value follows from the others.
pub(super) type Unique = FxHashSet<(RelationId, usize)>;

/// The unique columns, by the facts of a network that exclude each other.
pub(super) fn unique(flat: &Flat, net: &Propnet, groups: &[Exclusive]) -> Unique {
    let terms = net.terms();
    let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); net.facts().len()];
    for (number, group) in groups.iter().enumerate() {
        for &fact in &group.facts {
            groups_of[fact].push(number);
        }
    }
    let mut by_functor: FxHashMap<FunctorId, Vec<usize>> = FxHashMap::default();
    for (fact, &term) in net.facts().iter().enumerate() {
        by_functor
            .entry(terms.functor(term))
            .or_default()
            .push(fact);
    }
    let mut found = Unique::default();
    for (functor, facts) in by_functor {
        let relation = flat.state.by_functor.get(functor.index());
        let Some(relation) = relation.copied().flatten() else {
            continue;
        };
        for column in 0..flat.rules.arity[relation.index()] {
            // By the values of the other columns: the groups that all facts are in.
            let mut shared: FxHashMap<Vec<TermId>, (usize, Vec<usize>)> = FxHashMap::default();
            for &fact in &facts {
                let mut others = terms.arguments(net.facts()[fact]).to_vec();
                others.remove(column);
                let (count, groups) = shared
                    .entry(others)
                    .or_insert_with(|| (0, groups_of[fact].clone()));
                *count += 1;
                groups.retain(|group| groups_of[fact].contains(group));
            }
            if shared
                .values()
                .all(|(count, groups)| *count == 1 || !groups.is_empty())
            {
                found.insert((relation, column));
            }
        }
    }
    found
}

/// The rules without `large` relations, which do not depend on the state or on themselves. `None` if a
/// use of one stays, or there would be too many rules.
pub(super) fn separate(
    flat: &Flat,
    large: &[bool],
    unique: &Unique,
    terms: &mut Terms,
) -> Option<RuleSet> {
    let mut rules = RuleSet {
        rules: Vec::new(),
        ..flat.rules.clone()
    };
    let is_large = |literal: &Literal| match literal {
        Literal::Positive(atom) => large[atom.relation.index()],
        _ => false,
    };
    for rule in &flat.rules.rules {
        if large[rule.head.relation.index()] {
            continue;
        }
        let mut is_lost = false;
        for literal in rule.body.iter().filter(|literal| !is_large(literal)) {
            literal.for_each_atom(&mut |atom, _| is_lost |= large[atom.relation.index()]);
        }
        if is_lost {
            return None;
        }
        if !rule.body.iter().any(is_large) {
            rules.rules.push(rule.clone());
            continue;
        }
        let (conditions, body): (Vec<_>, Vec<_>) = rule.body.iter().cloned().partition(is_large);
        let values = Values::of(rule, &body, &conditions, unique)?;
        let mut asked = Vec::with_capacity(conditions.len());
        for condition in &conditions {
            let (key, piece) = values.piece(condition);
            let relation = rules.add_relation(key.len());
            let head = Atom {
                relation,
                arguments: key.into_iter().map(Term::Variable).collect(),
                span: rule.span,
            };
            asked.push(Literal::Positive(head.clone()));
            let piece = Rule {
                head,
                body: piece,
                ..rule.clone()
            };
            unfold(piece, &flat.rules, large, terms, &mut rules.rules)?;
        }
        rules.rules.push(Rule {
            body: [body, asked].concat(),
            ..rule.clone()
        });
    }
    Some(rules)
}

/// The values that the large relations of a rule are asked for.
struct Values<'r> {
    /// The variables that the state determines, each with the fact that does.
    by: FxHashMap<Variable, &'r Atom>,
}

impl<'r> Values<'r> {
    /// `None` if a condition has a variable that is neither in the head nor determined.
    fn of(
        rule: &Rule,
        body: &'r [Literal],
        conditions: &[Literal],
        unique: &Unique,
    ) -> Option<Self> {
        let mut open: BTreeSet<Variable> = BTreeSet::new();
        for condition in conditions {
            condition.for_each_variable(&mut |variable| {
                open.insert(variable);
            });
        }
        rule.head.for_each_variable(|variable, _| {
            open.remove(&variable);
        });
        let facts: Vec<&Atom> = (body.iter())
            .filter_map(|literal| match literal {
                Literal::Positive(atom) => Some(atom),
                _ => None,
            })
            .collect();
        let mut by = FxHashMap::default();
        // The fact must not have other open variables: those in the head, and those that no large
        // relation is asked for, are part of the key.
        let determines = |variable: Variable, atom: &Atom, open: &BTreeSet<Variable>| {
            let is_it = |term: &Term| *term == Term::Variable(variable);
            let Some(column) = atom.arguments.iter().position(is_it) else {
                return false;
            };
            let mut is_free = true;
            for (other, term) in atom.arguments.iter().enumerate() {
                if other != column {
                    term.for_each_variable(&mut |variable, _| is_free &= !open.contains(&variable));
                }
            }
            is_free && unique.contains(&(atom.relation, column))
        };
        while !open.is_empty() {
            let (variable, fact) = open.iter().find_map(|&variable| {
                let fact = facts.iter().find(|fact| determines(variable, fact, &open));
                Some((variable, *fact?))
            })?;
            open.remove(&variable);
            by.insert(variable, fact);
        }
        Some(Values { by })
    }

    /// The variables of the key of a condition, and the condition with the facts that determine its
    /// values.
    fn piece(&self, condition: &Literal) -> (Vec<Variable>, Vec<Literal>) {
        let (mut key, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut body = vec![condition.clone()];
        let mut next = 0;
        while next < body.len() {
            let mut facts = Vec::new();
            body[next].for_each_variable(&mut |variable| match self.by.get(&variable) {
                Some(fact) if seen.insert(variable) => facts.push((*fact).clone()),
                Some(_) => {}
                None => {
                    key.insert(variable);
                }
            });
            body.extend(facts.into_iter().map(Literal::Positive));
            next += 1;
        }
        (key.into_iter().collect(), body)
    }
}

/// Adds a rule in which the rules of large relations take their place.
fn unfold(
    rule: Rule,
    of: &RuleSet,
    large: &[bool],
    terms: &mut Terms,
    to: &mut Vec<Rule>,
) -> Option<()> {
    let mut open = vec![rule];
    while let Some(mut rule) = open.pop() {
        let use_of_large = rule.body.iter().position(|literal| match literal {
            Literal::Positive(atom) => large[atom.relation.index()],
            _ => false,
        });
        let Some(place) = use_of_large else {
            to.push(rule);
            if to.len() > MOST_RULES {
                return None;
            }
            continue;
        };
        let Literal::Positive(atom) = rule.body.swap_remove(place) else {
            unreachable!("it is the use that was just found");
        };
        let offset = rule.variables.len();
        for definition in &of.rules {
            if definition.head.relation != atom.relation {
                continue;
            }
            let count = offset + definition.variables.len();
            let mut unifier = Unifier::new(count, terms);
            let pairs = atom.arguments.iter().zip(&definition.head.arguments);
            let mut pairs = pairs.map(|(given, own)| unifier.unify((given, 0), (own, offset)));
            if !pairs.all(|is_equal| is_equal) {
                continue;
            }
            let mut body = Vec::with_capacity(rule.body.len() + definition.body.len());
            for literal in &rule.body {
                body.push(unifier.literal(literal, 0)?);
            }
            for literal in &definition.body {
                body.push(unifier.literal(literal, offset)?);
            }
            let variables = rule.variables.iter().chain(&definition.variables);
            open.push(Rule {
                head: unifier.atom(&rule.head, 0)?,
                body,
                variables: variables.cloned().collect(),
                span: rule.span,
            });
        }
        if open.len() > MOST_RULES {
            return None;
        }
    }
    Some(())
}
