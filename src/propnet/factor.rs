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

use rustc_hash::{FxHashMap, FxHashSet};

use super::network::{Builder, Literal, Node, live, same_gate, transcribe};
use super::{Propnet, moves_by_node};

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
    let moves = Moves::new(net);
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
struct Moves {
    /// By node: role of the move that it is the input of.
    role: FxHashMap<usize, usize>,
    /// By role: the inputs of its moves.
    all: Vec<Vec<Literal>>,
}

impl Moves {
    fn new(net: &Propnet) -> Moves {
        let role = moves_by_node(net);
        let mut all = vec![Vec::new(); net.moves.len()];
        for (&node, &role) in &role {
            all[role].push(Literal::of(node));
        }
        for moves in &mut all {
            moves.sort_unstable();
        }
        Moves { role, all }
    }

    /// Whether two literals are moves of one role.
    fn exclude(&self, term: &[Literal]) -> bool {
        let mut seen: Vec<usize> = Vec::new();
        for literal in term.iter().filter(|literal| !literal.is_negated()) {
            if let Some(&role) = self.role.get(&literal.node()) {
                if seen.contains(&role) {
                    return true;
                }
                seen.push(role);
            }
        }
        false
    }

    /// The "or" of the "and"s of the terms.
    fn any(&self, builder: &mut Builder, mut terms: Vec<Vec<Literal>>) -> Literal {
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

    /// The "or" of literals, most moves of a role being replaced by the others.
    fn or(&self, builder: &mut Builder, mut ways: Vec<Literal>) -> Literal {
        ways.sort_unstable();
        ways.dedup();
        let mut count = vec![0; self.all.len()];
        for way in ways.iter().filter(|way| !way.is_negated()) {
            if let Some(&role) = self.role.get(&way.node()) {
                count[role] += 1;
            }
        }
        for (role, all) in self.all.iter().enumerate() {
            if count[role] * 2 <= all.len() || all.is_empty() {
                continue;
            }
            let mut others = Vec::new();
            for chosen in all {
                if ways.binary_search(chosen).is_err() {
                    others.push(*chosen);
                }
            }
            ways.retain(|way| way.is_negated() || self.role.get(&way.node()) != Some(&role));
            let others = builder.or(&others);
            ways.push(!others);
            ways.sort_unstable();
        }
        builder.or(&ways)
    }
}

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
