//! Rewriting of a program so that it derives only what its queries demand.
//!
//! In: a program and its queries. Out: a program with the same answers in the query
//! relations, in which other relations hold only the rows that some rule can demand.
//! A relation whose uses always fix some of its columns gets a *demand* relation over
//! these columns. Its rules apply to demanded values only, and for each use another
//! rule derives the values it demands from the literals matched before it. Uses that
//! fix different columns get separate copies.
//!
//! A relation has separate demands for each query group and layer, so that one query
//! does not pay for the demands of another, and a relation that depends on the first
//! input layer does not start to depend on the second. Demands below each negation
//! are also separate: a demand behind a negation may depend on the outcome of the
//! negation and must not influence it.
//!
//! Source: magic sets, Beeri and Ramakrishnan, On the power of magic, 1991.

use ggp_stop::Stop;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::demanded::{Demanded, Part};
use super::order::{Estimate, Estimates, order};
use crate::program::strata::{for_each_body_atom, stratify};
use crate::program::{Atom, Fact, Literal, RelationId, Rule, RuleSet, Term};

/// The context in which a relation is demanded.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Context {
    /// A query needs all its rows.
    Home,
    /// Rules need all its rows.
    Whole,
    /// Rules below an origin, in a layer, need the rows with given values in a set of
    /// columns.
    Part(Origin, u8, Columns),
}

/// The start of a chain of demands.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Origin {
    /// The queries of a group.
    Group(usize),
    /// A relation that is derived completely.
    Shared,
    /// A negation: the rule, and the number of the atom in the order of its body.
    Negation(usize, usize),
}

/// A use of a derived relation in a body.
struct Use<'a> {
    /// Position of its literal in the order of the body.
    place: usize,
    atom: &'a Atom,
    /// The columns that are bound at that position.
    known: Columns,
    /// If it is negated, the origin of the demands below it.
    negation: Option<Origin>,
}

/// A set of columns, as bits.
type Columns = u64;

/// A relation demanded in one context.
type Node = (usize, Context);

/// Maximum number of copies of one relation.
const MAX_PARTS: usize = 400;

/// Rewrites a program. `layer` gives the input layer of each relation; inputs, and
/// relations that depend on no input, are not changed. `queries` are the query
/// relations with the label of their group. `None` if no relation is demanded in
/// part, or `stop` was over.
pub(super) fn demanded(
    rules: &RuleSet,
    layer: &[u8],
    is_input: &[bool],
    queries: &[(usize, Vec<RelationId>)],
    estimates: &Estimates,
    terms: &crate::terms::Terms,
    stop: &Stop,
) -> Option<Demanded> {
    let mut rewriting = Rewriting::new(rules, layer, is_input, queries, estimates);
    loop {
        let nodes = rewriting.adorn(stop)?;
        if !nodes
            .iter()
            .any(|(_, context)| matches!(context, Context::Part(..)))
        {
            return None;
        }
        let out = rewriting.rewrite(&nodes);
        // Demand can create a cycle between a negated relation and the relation that
        // uses it. The smallest such relation of each cycle is then derived
        // completely.
        let Err(cycles) = stratify(&out.rules, terms) else {
            return Some(out);
        };
        for cycle in cycles {
            let mut negated = Vec::new();
            for &rule in &cycle.members {
                for_each_body_atom(&out.rules.rules[rule], |atom, is_negated| {
                    let relation = atom.relation.index();
                    if is_negated && relation >= rules.arity.len() {
                        negated.extend(out.copies[relation]);
                    }
                });
            }
            let rows = |relation: &usize| estimates.of(*relation).rows;
            let smallest = negated
                .into_iter()
                .min_by(|a, b| rows(a).total_cmp(&rows(b)).then(a.cmp(b)))?;
            if !rewriting.whole.insert(smallest) {
                return None;
            }
        }
    }
}

/// Ordered bodies, by rule and fixed columns of the head.
type Sequences = BTreeMap<(usize, Columns), Rc<[usize]>>;

struct Rewriting<'a> {
    rules: &'a RuleSet,
    layer: &'a [u8],
    is_input: &'a [bool],
    /// By relation: the query group that needs it.
    home: Vec<Option<usize>>,
    rules_of: Vec<Vec<usize>>,
    has_facts: Vec<bool>,
    estimates: Estimates,
    /// Relations that are never demanded in part.
    whole: BTreeSet<usize>,
    /// Ordered bodies, by rule and fixed columns of the head.
    sequences: RefCell<Sequences>,
}

impl<'a> Rewriting<'a> {
    fn new(
        rules: &'a RuleSet,
        layer: &'a [u8],
        is_input: &'a [bool],
        queries: &[(usize, Vec<RelationId>)],
        estimates: &Estimates,
    ) -> Self {
        let count = rules.arity.len();
        let mut home = vec![None; count];
        for (label, asked) in queries.iter().rev() {
            for relation in asked {
                home[relation.index()] = Some(*label);
            }
        }
        let mut rules_of = vec![Vec::new(); count];
        for (number, rule) in rules.rules.iter().enumerate() {
            rules_of[rule.head.relation.index()].push(number);
        }
        let mut has_facts = vec![false; count];
        for fact in &rules.facts {
            has_facts[fact.relation.index()] = true;
        }
        // The last estimate is for the demand itself: it has few rows and is matched
        // first.
        let mut estimates = estimates.clone();
        let widest = rules.arity.iter().copied().max().unwrap_or(0);
        let demand = Estimate {
            rows: 1.0,
            distinct: vec![1.0; widest],
        };
        estimates.set(count, demand);
        Rewriting {
            rules,
            layer,
            is_input,
            home,
            rules_of,
            has_facts,
            estimates,
            whole: BTreeSet::new(),
            sequences: RefCell::default(),
        }
    }

    /// True if uses of a relation are rewritten.
    fn is_derived(&self, relation: usize) -> bool {
        self.layer[relation] > 0 && !self.is_input[relation]
    }

    /// The node that a rule of `user` demands when it uses a relation with some
    /// columns bound.
    fn asked(&self, user: Node, asking: &Use<'_>) -> Node {
        let relation = asking.atom.relation.index();
        if self.home[relation].is_some() {
            return (relation, Context::Home);
        }
        if asking.known == 0 || self.whole.contains(&relation) {
            return (relation, Context::Whole);
        }
        let home = || self.home[user.0].expect("a home node is asked for by a query");
        let origin = asking.negation.unwrap_or_else(|| match user.1 {
            Context::Home => Origin::Group(home()),
            Context::Whole => Origin::Shared,
            Context::Part(origin, ..) => origin,
        });
        let layer = self.layer[user.0];
        (relation, Context::Part(origin, layer, asking.known))
    }

    /// Finds the nodes in use, unless `stop` is over.
    fn adorn(&mut self, stop: &Stop) -> Option<Vec<Node>> {
        'again: loop {
            let mut nodes: Vec<Node> = (0..self.rules.arity.len())
                .filter(|&relation| self.home[relation].is_some() && self.is_derived(relation))
                .map(|relation| (relation, Context::Home))
                .collect();
            let mut seen: BTreeSet<Node> = nodes.iter().copied().collect();
            // By relation: true if it is needed completely, and the number of parts.
            let mut uses: BTreeMap<usize, (bool, usize)> = BTreeMap::new();
            let mut next = 0;
            while let Some(&node) = nodes.get(next) {
                next += 1;
                if stop.is_over() {
                    return None;
                }
                for number in self.rules_of[node.0].clone() {
                    for asking in self.uses(number, columns_of(node)) {
                        let target = self.asked(node, &asking);
                        if !seen.insert(target) {
                            continue;
                        }
                        nodes.push(target);
                        let (whole, parts) = uses.entry(target.0).or_default();
                        match target.1 {
                            Context::Part(..) => *parts += 1,
                            _ => *whole = true,
                        }
                        // A relation that is derived completely need not also be
                        // derived in part, and many parts are more work than the
                        // complete relation.
                        if (*whole && *parts > 0) || *parts > MAX_PARTS {
                            self.whole.insert(target.0);
                            continue 'again;
                        }
                    }
                }
            }
            return Some(nodes);
        }
    }

    /// The body in matching order when some columns of the head are bound.
    fn sequence(&self, number: usize, fixed: Columns) -> Rc<[usize]> {
        let key = (number, fixed);
        if let Some(known) = self.sequences.borrow().get(&key) {
            return Rc::clone(known);
        }
        let sequence: Rc<[usize]> = self.order(&self.rules.rules[number], fixed).into();
        self.sequences
            .borrow_mut()
            .insert(key, Rc::clone(&sequence));
        sequence
    }

    fn order(&self, rule: &Rule, fixed: Columns) -> Vec<usize> {
        let given = select(&rule.head.arguments, fixed);
        let mut bound = vec![false; rule.variables.len()];
        for term in &given {
            term.for_each_variable(&mut |v, _| bound[v.index()] = true);
        }
        let mut seeded = rule.clone();
        let seed = Literal::Positive(Atom {
            relation: RelationId::new(self.rules.arity.len()),
            arguments: given,
            span: rule.span,
        });
        seeded.body.push(seed);
        let order = order(&seeded, Some(rule.body.len()), &self.estimates);
        let mut sequence = Vec::with_capacity(rule.body.len());
        let mut tests: Vec<usize> = (0..rule.body.len())
            .filter(|&p| !matches!(rule.body[p], Literal::Positive(_)))
            .collect();
        for position in order {
            if let Some(Literal::Positive(atom)) = rule.body.get(position) {
                sequence.push(position);
                atom.for_each_variable(|v, _| bound[v.index()] = true);
            }
            tests.retain(|&test| {
                let mut ready = true;
                rule.body[test].for_each_variable(&mut |v| ready &= bound[v.index()]);
                if ready {
                    sequence.push(test);
                }
                !ready
            });
        }
        sequence
    }

    /// The uses of derived relations in a body, in order.
    fn uses(&self, number: usize, fixed: Columns) -> Vec<Use<'a>> {
        let rule = &self.rules.rules[number];
        let mut known = vec![false; rule.variables.len()];
        for term in select(&rule.head.arguments, fixed) {
            term.for_each_variable(&mut |v, _| known[v.index()] = true);
        }
        let mut uses = Vec::new();
        for (place, position) in self.sequence(number, fixed).iter().enumerate() {
            let literal = &rule.body[*position];
            literal.for_each_atom(&mut |atom, negated| {
                if self.is_derived(atom.relation.index()) {
                    let mut columns = 0;
                    for (column, term) in atom.arguments.iter().enumerate() {
                        if column < Columns::BITS as usize && is_known(term, &known) {
                            columns |= 1 << column;
                        }
                    }
                    uses.push(Use {
                        place,
                        atom,
                        known: columns,
                        negation: negated.then_some(Origin::Negation(number, uses.len())),
                    });
                }
            });
            if let Literal::Positive(atom) = literal {
                atom.for_each_variable(|v, _| known[v.index()] = true);
            }
        }
        uses
    }

    fn rewrite(&self, nodes: &[Node]) -> Demanded {
        let mut out = Demanded {
            rules: RuleSet {
                arity: self.rules.arity.clone(),
                facts: Vec::new(),
                rules: Vec::new(),
            },
            origins: Vec::new(),
            copies: (0..self.rules.arity.len()).map(Some).collect(),
            parts: Vec::new(),
        };
        // By partial node: its relation and its demand relation.
        let mut parts: BTreeMap<Node, (RelationId, RelationId)> = BTreeMap::new();
        let mut facts_of: BTreeMap<usize, RelationId> = BTreeMap::new();
        for &node in nodes {
            if let Context::Part(..) = node.1 {
                let copy = out.rules.add_relation(self.rules.arity[node.0]);
                out.copies.push(Some(node.0));
                let demand = out
                    .rules
                    .add_relation(columns_of(node).count_ones() as usize);
                out.copies.push(None);
                parts.insert(node, (copy, demand));
                out.parts.push(Part {
                    of: RelationId::new(node.0),
                    rows: copy,
                    demand: Some(demand),
                    columns: columns_of(node),
                });
                if self.has_facts[node.0] && !facts_of.contains_key(&node.0) {
                    let facts = out.rules.add_relation(self.rules.arity[node.0]);
                    out.copies.push(None);
                    facts_of.insert(node.0, facts);
                }
            }
        }
        for fact in &self.rules.facts {
            out.rules.facts.push(fact.clone());
            if let Some(facts) = facts_of.get(&fact.relation.index()) {
                let mut fact = fact.clone();
                fact.relation = *facts;
                out.rules.facts.push(fact);
            }
        }
        for rule in &self.rules.rules {
            if !self.is_derived(rule.head.relation.index()) {
                out.rules.rules.push(rule.clone());
                out.origins.push(rule.head.relation);
            }
        }
        for &node in nodes {
            for &number in &self.rules_of[node.0] {
                self.rewrite_rule(node, number, &parts, &mut out);
            }
            if let (Some((copy, demand)), Some(facts)) = (parts.get(&node), facts_of.get(&node.0)) {
                let arity = self.rules.arity[node.0];
                let all: Vec<Term> = (0..arity)
                    .map(|column| Term::Variable(crate::program::Variable::new(column)))
                    .collect();
                let given = |fact: &&Fact| fact.relation.index() == node.0;
                let fact = self.rules.facts.iter().find(given);
                let span = fact.expect("the relation has facts").span;
                let atom = |relation: RelationId, arguments| Atom {
                    relation,
                    arguments,
                    span,
                };
                let given = select(&all, columns_of(node));
                out.rules.rules.push(Rule {
                    head: atom(*copy, all.clone()),
                    body: vec![
                        Literal::Positive(atom(*demand, given)),
                        Literal::Positive(atom(*facts, all)),
                    ],
                    variables: vec!["".into(); arity],
                    span,
                });
                out.origins.push(RelationId::new(node.0));
            }
        }
        out
    }

    /// Adds a node's copy of a rule, and for each partial use the rule for its
    /// demand.
    fn rewrite_rule(
        &self,
        node: Node,
        number: usize,
        parts: &BTreeMap<Node, (RelationId, RelationId)>,
        out: &mut Demanded,
    ) {
        let rule = &self.rules.rules[number];
        let fixed = columns_of(node);
        let mut body = Vec::with_capacity(rule.body.len() + 1);
        let mut head = rule.head.clone();
        let uses = self.uses(number, fixed);
        let mut seed = None;
        if let Some((copy, demand)) = parts.get(&node) {
            head.relation = *copy;
            let given = Atom {
                relation: *demand,
                arguments: select(&rule.head.arguments, fixed),
                span: rule.head.span,
            };
            let joined = uses.iter().any(|asking| asking.negation.is_none());
            body.push(Literal::Positive(match joined && is_nested(&given) {
                true => out.taken_apart(rule, &given),
                false => given.clone(),
            }));
            seed = Some(given);
        }
        let given = body.len();
        for position in self.sequence(number, fixed).iter() {
            body.push(rule.body[*position].clone());
        }
        // The uses are in the order of the body's atoms, one for each.
        let mut targets = uses.iter().map(|asking| self.asked(node, asking));
        for literal in &mut body[given..] {
            self.redirect(literal, &mut targets, parts);
        }
        for asking in uses {
            let target = self.asked(node, &asking);
            let Use { place, atom, .. } = asking;
            let Some((_, demand)) = parts.get(&target) else {
                continue;
            };
            let demand = Atom {
                relation: *demand,
                arguments: select(&atom.arguments, columns_of(target)),
                span: atom.span,
            };
            let before = body[..given + place].to_vec();
            // A demand rule whose only literal is the same demand derives nothing
            // new.
            let is_seed = |seed: &Atom| {
                seed.relation == demand.relation && seed.arguments == demand.arguments
            };
            if before.len() == given && seed.as_ref().is_some_and(is_seed) {
                continue;
            }
            if before.is_empty() {
                let arguments = demand.arguments.iter().map(|term| match term {
                    Term::Ground(id) => *id,
                    _ => unreachable!("nothing before it binds a variable"),
                });
                out.rules.facts.push(Fact {
                    relation: demand.relation,
                    arguments: arguments.collect(),
                    span: demand.span,
                });
                continue;
            }
            out.rules.rules.push(Rule {
                head: demand,
                body: before,
                variables: rule.variables.clone(),
                span: rule.span,
            });
            out.origins.push(rule.head.relation);
        }
        out.rules.rules.push(Rule {
            head,
            body,
            variables: rule.variables.clone(),
            span: rule.span,
        });
        out.origins.push(rule.head.relation);
    }

    /// Replaces the relations of a literal's atoms by the demanded copies, one target
    /// for each atom of a derived relation.
    fn redirect(
        &self,
        literal: &mut Literal,
        targets: &mut impl Iterator<Item = Node>,
        parts: &BTreeMap<Node, (RelationId, RelationId)>,
    ) {
        match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => {
                if self.is_derived(atom.relation.index()) {
                    let target = targets.next().expect("one target for each atom");
                    if let Some((copy, _)) = parts.get(&target) {
                        atom.relation = *copy;
                    }
                }
            }
            Literal::Distinct(..) | Literal::Same(..) => {}
            Literal::Any(branches) => {
                for literal in branches.iter_mut().flatten() {
                    self.redirect(literal, targets, parts);
                }
            }
        }
    }
}

/// The columns of a node that its demand fixes.
fn columns_of(node: Node) -> Columns {
    match node.1 {
        Context::Part(_, _, columns) => columns,
        _ => 0,
    }
}

/// True if a column holds a term with variables inside.
fn is_nested(atom: &Atom) -> bool {
    (atom.arguments.iter()).any(|term| matches!(term, Term::Apply(..)))
}

fn is_known(term: &Term, known: &[bool]) -> bool {
    let mut all = true;
    term.for_each_variable(&mut |v, _| all &= known[v.index()]);
    all
}

fn select(terms: &[Term], fixed: Columns) -> Vec<Term> {
    terms
        .iter()
        .take(Columns::BITS as usize)
        .enumerate()
        .filter(|(column, _)| fixed >> column & 1 == 1)
        .map(|(_, term)| term.clone())
        .collect()
}
