//! Common factors of large gates, and moves that leave a fact as it is.
//!
//! In: a network. Out: the same functions with fewer gates. Every "or" of
//! "and"s is divided by the literal that most of them share, again and again, so
//! that `ab + ac + d` becomes `a(b + c) + d`; by duality the same is done to
//! "and"s of "or"s. An "or" of most moves of a role is the negation of the "or" of
//! the others, since a role makes exactly one move: so what the rules say by
//! listing all moves that leave a fact alone becomes "keep unless".
//!
//! Source: algebraic factoring, Brayton and McMullen, The decomposition and
//! factorization of Boolean expressions (1982).

use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Propnet;
use super::network::{Builder, Literal, Node};
use super::rewrite::{live, same_gate, transcribe};
use crate::game::Move;

/// Factors all gates.
pub(super) fn factor(net: &mut Propnet) {
    let roots = net.roots();
    let live = live(&net.network, roots.iter().copied());
    let mut readers = vec![0u32; net.network.len()];
    for node in (0..net.network.len()).filter(|&node| live[node]) {
        for read in net.network.reads(node) {
            readers[read.node()] += 1;
        }
    }
    for root in &roots {
        readers[root.node()] += 1;
    }
    let mut builder = Builder::new(net.network.inputs());
    let inputs: Vec<Literal> = (0..net.network.inputs())
        .map(|i| builder.input(i))
        .collect();
    let mut moves = Moves::new(net.facts.len(), &net.moves);
    let network = &net.network;
    // Of gates that only one gate reads, as they are: these dissolve in it.
    let mut dissolve: FxHashSet<usize> = FxHashSet::default();
    let became = transcribe(
        network,
        &live,
        &inputs,
        &mut builder,
        |builder, node, operands| {
            let Node::And(_) = network.node(node) else {
                return same_gate(network, builder, node, operands);
            };
            let mut terms: Vec<Vec<Literal>> = Vec::with_capacity(operands.len());
            for &operand in operands.iter() {
                let is_gate = |literal: Literal| {
                    matches!(builder.network().node(literal.node()), Node::And(_))
                };
                if !operand.is_negated() && is_gate(operand) && dissolve.contains(&operand.node()) {
                    for &inner in builder.network().reads(operand.node()) {
                        terms.push(term(builder, !inner));
                    }
                } else {
                    terms.push(term(builder, !operand));
                }
            }
            let made = !moves.any(builder, terms);
            if readers[node] == 1 && !made.is_negated() {
                dissolve.insert(made.node());
            }
            made
        },
    );
    net.rebuilt(builder, &became);
}

/// The literals whose "and" a literal is.
fn term(builder: &Builder, literal: Literal) -> Vec<Literal> {
    match builder.network().node(literal.node()) {
        Node::And(operands) if !literal.is_negated() => operands.to_vec(),
        _ => vec![literal],
    }
}

/// What is known of moves: a role makes exactly one.
#[derive(Debug)]
pub(super) struct Moves {
    /// By role: the nodes of its moves' inputs.
    all: Vec<Range<usize>>,
    /// Literals that are the "or" of several moves of one role, by node.
    sets: FxHashMap<Literal, Rc<[u32]>>,
    made: FxHashMap<Rc<[u32]>, Literal>,
    stored: usize,
}

impl Moves {
    /// Of a network whose inputs are so many facts and then these moves.
    pub fn new(facts: usize, moves: &[Vec<Move>]) -> Moves {
        let mut start = 1 + facts;
        let ranges = moves.iter().map(|moves| {
            start += moves.len();
            start - moves.len()..start
        });
        Moves {
            all: ranges.collect(),
            sets: FxHashMap::default(),
            made: FxHashMap::default(),
            stored: 0,
        }
    }

    /// The role of a move, if the literal is one.
    fn role(&self, literal: Literal) -> Option<usize> {
        if literal.is_negated() || literal.node() >= self.all.last()?.end {
            return None;
        }
        self.all
            .iter()
            .position(|moves| moves.contains(&literal.node()))
    }

    /// Whether two literals are moves of one role.
    fn exclude(&self, term: &[Literal]) -> bool {
        let mut seen: Option<usize> = None;
        let mut more: Vec<usize> = Vec::new();
        for role in term.iter().filter_map(|literal| self.role(*literal)) {
            if seen == Some(role) || more.contains(&role) {
                return true;
            }
            if let Some(other) = seen.replace(role) {
                more.push(other);
            }
        }
        false
    }

    /// The "or" of the "and"s of the terms.
    pub fn any(&mut self, builder: &mut Builder, mut terms: Vec<Vec<Literal>>) -> Literal {
        terms.retain(|term| !self.exclude(term));
        if terms.iter().any(Vec::is_empty) {
            return Literal::TRUE;
        }
        let mut ways: Vec<Literal> = Vec::new();
        absorb(&mut terms, &mut ways);
        if terms.iter().any(Vec::is_empty) {
            return Literal::TRUE;
        }
        let mut shared = Occurrences::new(&terms);
        let mut alive = vec![true; terms.len()];
        while let Some((literal, members)) = shared.most_frequent(&terms, &mut alive) {
            let rest = members
                .iter()
                .map(|&term| {
                    let term = terms[term].iter().copied();
                    term.filter(|other| *other != literal).collect()
                })
                .collect();
            let rest = self.any(builder, rest);
            ways.push(builder.and(&[literal, rest]));
        }
        for (term, _) in terms.iter().zip(alive).filter(|(_, alive)| *alive) {
            ways.push(builder.and(term));
        }
        self.or(builder, ways)
    }

    /// The "or" of literals; most moves of a role are replaced by the others.
    fn or(&mut self, builder: &mut Builder, mut ways: Vec<Literal>) -> Literal {
        ways.sort_unstable();
        ways.dedup();
        for role in 0..self.all.len() {
            self.or_of_moves(builder, role, &mut ways);
        }
        builder.or(&ways)
    }

    /// Replaces those ways that are moves of a role, or an "or" of some, by less
    /// if that is possible.
    fn or_of_moves(&mut self, builder: &mut Builder, role: usize, ways: &mut Vec<Literal>) {
        let all = self.all[role].clone();
        let size = |way: &Literal| match self.sets.get(way) {
            Some(set) if all.contains(&(set[0] as usize)) => set.len(),
            _ => usize::from(!way.is_negated() && all.contains(&way.node())),
        };
        let sizes: Vec<usize> = ways.iter().map(size).collect();
        let count = sizes.iter().filter(|size| **size > 0).count();
        let total: usize = sizes.iter().sum();
        let is_all = count == ways.len();
        let many = total * 2 > all.len();
        if count < 2 || !(many || is_all && total <= MOST_IN_SET) {
            return;
        }
        let mut union: Vec<u32> = Vec::with_capacity(total);
        for (way, _) in ways.iter().zip(&sizes).filter(|(_, size)| **size > 0) {
            match self.sets.get(way) {
                Some(set) => union.extend_from_slice(set),
                None => union.push(way.node() as u32),
            }
        }
        union.sort_unstable();
        union.dedup();
        let mut next = union.iter().peekable();
        let others: Vec<u32> = match many {
            true => all
                .clone()
                .map(|node| node as u32)
                .filter(|node| next.next_if_eq(&node).is_none())
                .collect(),
            false => Vec::new(),
        };
        if many && (others.len() < count || self.made.contains_key(others.as_slice())) {
            let others = self.or_of_set(builder, others);
            let mut kept = sizes.iter().map(|size| *size == 0);
            ways.retain(|_| kept.next().expect("one for each"));
            ways.push(!others);
            ways.sort_unstable();
        } else if is_all {
            let literal = builder.or(ways);
            self.remember(union, literal);
            *ways = vec![literal];
        }
    }

    fn or_of_set(&mut self, builder: &mut Builder, set: Vec<u32>) -> Literal {
        if let Some(known) = self.made.get(set.as_slice()) {
            return *known;
        }
        let moves: Vec<Literal> = set.iter().map(|&node| Literal::of(node as usize)).collect();
        let literal = builder.or(&moves);
        self.remember(set, literal);
        literal
    }

    fn remember(&mut self, set: Vec<u32>, literal: Literal) {
        if set.len() < 2 || set.len() > MOST_IN_SET || self.stored + set.len() > MOST_STORED {
            return;
        }
        self.stored += set.len();
        let set: Rc<[u32]> = set.into();
        self.made.entry(Rc::clone(&set)).or_insert(literal);
        self.sets.insert(literal, set);
    }
}

/// Largest set of moves that is remembered, and how many moves all sets may have
/// together.
const MOST_IN_SET: usize = 4096;
const MOST_STORED: usize = 8_000_000;

/// Moves terms of one literal to `ways`, and drops what they make superfluous.
fn absorb(terms: &mut Vec<Vec<Literal>>, ways: &mut Vec<Literal>) {
    let mut single: FxHashSet<Literal> = FxHashSet::default();
    loop {
        let before = single.len();
        single.extend(
            terms
                .iter()
                .filter(|term| term.len() == 1)
                .map(|term| term[0]),
        );
        if single.len() == before {
            break;
        }
        terms.retain_mut(|term| {
            if term.len() > 1 {
                // a + !a b = a + b
                term.retain(|literal| !single.contains(&!*literal));
                if term.is_empty() {
                    return true;
                }
            }
            term.len() == 1 || !term.iter().any(|literal| single.contains(literal))
        });
    }
    terms.retain(|term| {
        if let [one] = term.as_slice() {
            ways.push(*one);
        }
        term.len() != 1
    });
}

/// In which terms a literal occurs.
struct Occurrences {
    terms: FxHashMap<Literal, Vec<usize>>,
    /// Number of terms and literal; numbers may be out of date, never too low.
    heap: BinaryHeap<(usize, Literal)>,
}

impl Occurrences {
    fn new(terms: &[Vec<Literal>]) -> Self {
        let mut occurrences: FxHashMap<Literal, Vec<usize>> = FxHashMap::default();
        for (number, term) in terms.iter().enumerate() {
            for literal in term {
                occurrences.entry(*literal).or_default().push(number);
            }
        }
        let heap = occurrences
            .iter()
            .filter(|(_, terms)| terms.len() > 1)
            .map(|(literal, terms)| (terms.len(), *literal))
            .collect();
        Occurrences {
            terms: occurrences,
            heap,
        }
    }

    /// The literal that occurs in most living terms, if it does in two, and
    /// these terms, which die.
    fn most_frequent(
        &mut self,
        terms: &[Vec<Literal>],
        alive: &mut [bool],
    ) -> Option<(Literal, Vec<usize>)> {
        debug_assert_eq!(terms.len(), alive.len());
        while let Some((count, literal)) = self.heap.pop() {
            let members = self.terms.get_mut(&literal).expect("it occurs");
            members.retain(|&term| alive[term]);
            if members.len() < 2 {
                continue;
            }
            if members.len() < count {
                self.heap.push((members.len(), literal));
                continue;
            }
            for &term in members.iter() {
                alive[term] = false;
            }
            return Some((literal, members.clone()));
        }
        None
    }
}
