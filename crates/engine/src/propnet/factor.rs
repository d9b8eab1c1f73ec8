//! Common factors of large gates, and moves that leave a fact unchanged.
//!
//! In: a network. Out: the same functions with fewer gates. Every "or" of "and"s is
//! divided repeatedly by the literal that most of them share, so that `ab + ac + d`
//! becomes `a(b + c) + d`. By duality, "and"s of "or"s are factored too. An "or" of
//! most moves of a role is replaced by the negated "or" of the others, since a role
//! makes exactly one move, and an "or" of most moves of each role likewise. Rules that list all moves that leave a fact alone thus
//! become "keep unless".
//!
//! Source: algebraic factoring, Brayton and McMullen, The decomposition and
//! factorization of Boolean expressions (1982).

mod sets;
mod split;

use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::Propnet;
use super::network::{Builder, Literal, Node};
use super::passes::Passes;
use super::rewrite::{live, same_gate, transcribe};
use ggp_gdl::game::Move;
use ggp_stop::Stop;
use sets::{MOST_IN_SET, Sets};

/// Factors all gates. Returns false, and leaves the network as it was, after a stop, or if that
/// takes far more gates.
pub(super) fn factor(net: &mut Propnet, passes: Passes, stop: &Stop) -> bool {
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
    let mut builder = Builder::with_room(net.network.inputs(), net.network.len());
    builder.share(passes.shared_gates);
    let inputs: Vec<Literal> = (0..net.network.inputs())
        .map(|i| builder.input(i))
        .collect();
    let mut groups = match passes.exclusive_moves {
        true => groups_of_moves(net.facts.len(), &net.moves),
        false => Vec::new(),
    };
    groups.extend(groups_of_facts(net));
    let mut exclusive = Exclusive::new(groups, net.network.inputs(), stop);
    exclusive.splits = passes.split_moves;
    exclusive.most_gates = MORE_GATES + GROWTH * net.network.gates();
    let network = &net.network;
    // By new gate: true if its old gate has only one reader. It is merged into that.
    let mut dissolve: Vec<bool> = Vec::new();
    let mut disjuncts: Vec<Literal> = Vec::new();
    let became = transcribe(
        network,
        &live,
        &inputs,
        &mut builder,
        |builder, node, operands| {
            if exclusive.is_stopped(operands.len()) {
                return Literal::FALSE;
            }
            let Node::And(_) = network.node(node) else {
                return same_gate(network, builder, node, operands);
            };
            disjuncts.clear();
            for &operand in operands.iter() {
                let is_dissolved = dissolve.get(operand.node()) == Some(&true);
                match builder.network().node(operand.node()) {
                    Node::And(inner) if is_dissolved && !operand.is_negated() => {
                        disjuncts.extend(inner.iter().map(|&inner| !inner));
                    }
                    _ => disjuncts.push(!operand),
                }
            }
            let made = !exclusive.any_literal(builder, &disjuncts);
            if readers[node] == 1 && !made.is_negated() {
                dissolve.resize(builder.network().len().max(dissolve.len()), false);
                dissolve[made.node()] = true;
            }
            made
        },
    );
    let is_whole = !exclusive.is_stopped(0);
    if is_whole {
        net.rebuilt(builder, &became);
    }
    is_whole
}

/// Factors are given up once they need this many times the gates of the network, and some more.
const GROWTH: usize = 2;
const MORE_GATES: usize = 1_000;

/// The literals whose "and" a literal is.
fn term<'b>(builder: &'b Builder, literal: &'b Literal) -> &'b [Literal] {
    match builder.network().node(literal.node()) {
        Node::And(operands) if !literal.is_negated() => operands,
        _ => std::slice::from_ref(literal),
    }
}

/// A group of inputs of which at most one is true, or exactly one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Group {
    /// The inputs' nodes, ascending.
    pub nodes: Vec<u32>,
    /// True if one of them always is.
    pub exact: bool,
}

/// One group per role: a role makes exactly one move.
pub(super) fn groups_of_moves(facts: usize, moves: &[Vec<Move>]) -> Vec<Group> {
    let mut start = 1 + facts as u32;
    let group = |moves: &Vec<Move>| {
        start += moves.len() as u32;
        let nodes = (start - moves.len() as u32..start).collect();
        Group { nodes, exact: true }
    };
    moves.iter().map(group).collect()
}

/// Groups of facts that exclude each other, in terms of the inputs that gates still
/// read.
fn groups_of_facts(net: &Propnet) -> Vec<Group> {
    let mut equals: Vec<Literal> = (0..net.facts.len()).map(|f| net.network.input(f)).collect();
    for &(fact, equal) in &net.assumed {
        equals[fact] = equal;
    }
    let mut groups = Vec::new();
    for group in &net.exclusive {
        let members = group.facts.iter().map(|&fact| equals[fact]);
        let mut members: Vec<Literal> = members.filter(|&fact| fact != Literal::FALSE).collect();
        members.sort_unstable();
        let is_input = |&member: &Literal| match net.network.node(member.node()) {
            Node::Input(_) => !member.is_negated(),
            _ => false,
        };
        if members.iter().all(is_input) {
            let nodes: Vec<u32> = members.iter().map(|member| member.node() as u32).collect();
            let exact = group.exact;
            groups.push(Group { nodes, exact });
        }
    }
    groups
}

/// The knowledge about inputs that exclude each other: a role makes exactly one
/// move, and facts have proved exclusions.
#[derive(Debug)]
pub(super) struct Exclusive {
    groups: Vec<Group>,
    /// By node of an input: its groups.
    memberships: Vec<Vec<u32>>,
    /// Literals that are the "or" of several inputs of one group, with the group
    /// and the inputs.
    sets: Sets,
    marks: Marks,
    /// True if disjunctions are divided by common factors.
    pub divides: bool,
    /// True if disjunctions of moves of several roles are split.
    pub splits: bool,
    stop: Stop,
    is_stopped: bool,
    /// The number of gates of a network past which no more are made.
    most_gates: usize,
    until_check: usize,
}

/// The number of terms between two looks at a stop.
const TERMS_PER_CHECK: usize = 4_096;

impl Exclusive {
    /// Creates the tables for groups of inputs. `inputs` is the number of all
    /// inputs. What is made after a stop is wrong.
    pub fn new(groups: Vec<Group>, inputs: usize, stop: &Stop) -> Exclusive {
        let mut memberships = vec![Vec::new(); 1 + inputs];
        for (number, members) in groups.iter().enumerate() {
            for &node in &members.nodes {
                memberships[node as usize].push(number as u32);
            }
        }
        Exclusive {
            groups,
            memberships,
            sets: Sets::default(),
            marks: Marks::default(),
            divides: true,
            splits: true,
            stop: stop.clone(),
            is_stopped: false,
            most_gates: usize::MAX,
            until_check: 0,
        }
    }

    /// True after a stop. It is looked at once in many calls; `terms` are the terms of
    /// the gate that would be made.
    pub fn is_stopped(&mut self, terms: usize) -> bool {
        if self.until_check <= terms {
            self.is_stopped |= self.stop.is_over();
            self.until_check = TERMS_PER_CHECK;
        }
        self.until_check = self.until_check.saturating_sub(1 + terms);
        self.is_stopped
    }

    /// The groups of a literal that is an input or an "or" of inputs.
    fn groups(&self, literal: Literal) -> &[u32] {
        match self.sets.get(literal) {
            Some(set) => std::slice::from_ref(&set.group),
            None => self.input_groups(literal),
        }
    }

    /// The groups of an input that is not negated.
    fn input_groups(&self, literal: Literal) -> &[u32] {
        match self.memberships.get(literal.node()) {
            Some(groups) if !literal.is_negated() => groups,
            _ => &[],
        }
    }

    /// True if a literal that is an input or an "or" of inputs covers this input.
    fn includes(&self, literal: Literal, input: Literal) -> bool {
        match self.sets.get(literal) {
            Some(set) => set.nodes.binary_search(&(input.node() as u32)).is_ok(),
            None => literal == input,
        }
    }

    /// Drops from an "and" the literals that follow from one of its inputs. Returns
    /// false if that input excludes another literal.
    fn reduce(&self, term: &mut Vec<Literal>) -> bool {
        let mut at = 0;
        while at < term.len() {
            let input = term[at];
            at += 1;
            let groups = self.input_groups(input);
            if groups.is_empty() {
                continue;
            }
            let overlaps = |other: Literal| self.groups(other).iter().any(|g| groups.contains(g));
            let mut possible = true;
            let before = term.len();
            term.retain(|&other| {
                if other == input {
                    return true;
                }
                let negated = overlaps(!other);
                if !negated && !overlaps(other) {
                    return true;
                }
                let positive = other.negated_if(negated);
                possible &= self.includes(positive, input) != negated;
                false
            });
            if !possible {
                return false;
            }
            if term.len() < before {
                at = 0;
            }
        }
        true
    }

    /// The "or" of literals, each of which may be an "and".
    fn any_literal(&mut self, builder: &mut Builder, literals: &[Literal]) -> Literal {
        let terms = literals.iter().map(|literal| term(builder, literal));
        if self.shares_nothing(terms.clone()) {
            return self.or(builder, literals.to_vec());
        }
        let terms = terms.map(<[Literal]>::to_vec).collect();
        self.any(builder, terms)
    }

    /// True if the terms have no factor, and nothing can be dropped.
    fn shares_nothing<'t>(&mut self, terms: impl Iterator<Item = &'t [Literal]> + Clone) -> bool {
        self.marks.clear();
        let mut literals = terms.clone().flatten();
        if !literals.all(|&literal| self.marks.is_first(literal)) {
            return false;
        }
        terms.clone().all(|term| match term {
            [] => false,
            [one] => !self.marks.has(!*one),
            _ => {
                let is_grouped = |&literal: &Literal| !self.input_groups(literal).is_empty();
                let mut reduced = match term.iter().any(is_grouped) {
                    true => term.to_vec(),
                    false => return true,
                };
                self.reduce(&mut reduced) && reduced.len() == term.len()
            }
        })
    }

    /// The "or" of the "and"s of the terms.
    pub fn any(&mut self, builder: &mut Builder, mut terms: Vec<Vec<Literal>>) -> Literal {
        self.is_stopped |= builder.network().gates() > self.most_gates;
        if self.is_stopped(terms.len()) {
            return Literal::FALSE;
        }
        if !self.divides || self.shares_nothing(terms.iter().map(Vec::as_slice)) {
            let disjuncts = terms.iter().map(|term| builder.and(term)).collect();
            return self.or(builder, disjuncts);
        }
        terms.retain_mut(|term| self.reduce(term));
        if terms.iter().any(Vec::is_empty) {
            return Literal::TRUE;
        }
        let mut disjuncts: Vec<Literal> = Vec::new();
        absorb(&mut terms, &mut disjuncts);
        if terms.iter().any(Vec::is_empty) {
            return Literal::TRUE;
        }
        let mut shared = Occurrences::new(&terms);
        let mut live_terms = vec![true; terms.len()];
        while let Some((literal, members)) = shared.most_frequent(&mut live_terms) {
            let rest = members
                .iter()
                .map(|&term| {
                    let term = terms[term].iter().copied();
                    term.filter(|other| *other != literal).collect()
                })
                .collect();
            let rest = self.any(builder, rest);
            disjuncts.push(builder.and(&[literal, rest]));
        }
        for (term, _) in terms
            .iter()
            .zip(live_terms)
            .filter(|(_, live_terms)| *live_terms)
        {
            disjuncts.push(builder.and(term));
        }
        self.or(builder, disjuncts)
    }

    /// The "or" of literals. If it contains most inputs of a group, they are
    /// replaced by the others.
    fn or(&mut self, builder: &mut Builder, mut disjuncts: Vec<Literal>) -> Literal {
        disjuncts.sort_unstable();
        disjuncts.dedup();
        // The negation is an "and", from which more may be dropped.
        disjuncts
            .iter_mut()
            .for_each(|disjunct| *disjunct = !*disjunct);
        let possible = self.reduce(&mut disjuncts);
        if !possible {
            return Literal::TRUE;
        }
        disjuncts
            .iter_mut()
            .for_each(|disjunct| *disjunct = !*disjunct);
        if self.splits
            && let Some(inputs) = self.split(builder, &disjuncts)
        {
            disjuncts = inputs;
        }
        let groups = disjuncts.iter().flat_map(|&disjunct| self.groups(disjunct));
        let mut groups: Vec<u32> = groups.copied().collect();
        groups.sort_unstable();
        for group in groups
            .chunk_by(|a, b| a == b)
            .filter(|group| group.len() > 1)
        {
            self.or_of_inputs(builder, group[0], &mut disjuncts);
        }
        builder.or(&disjuncts)
    }

    /// Replaces the disjuncts that are inputs of a group, or "or"s of some, by
    /// fewer literals if possible.
    fn or_of_inputs(&mut self, builder: &mut Builder, group: u32, disjuncts: &mut Vec<Literal>) {
        let is_of = |disjunct: &Literal| self.groups(*disjunct).contains(&group);
        let count = disjuncts.iter().filter(|disjunct| is_of(disjunct)).count();
        let mut union: Vec<u32> = Vec::new();
        for disjunct in disjuncts.iter().filter(|disjunct| is_of(disjunct)) {
            match self.sets.get(*disjunct) {
                Some(set) => union.extend_from_slice(&set.nodes),
                None => union.push(disjunct.node() as u32),
            }
        }
        union.sort_unstable();
        union.dedup();
        let Group { nodes: all, exact } = &self.groups[group as usize];
        let is_all = count == disjuncts.len();
        let many = *exact && union.len() * 2 > all.len();
        if !(many || is_all && union.len() <= MOST_IN_SET) {
            return;
        }
        let mut next = union.iter().peekable();
        let others: Vec<u32> = match many {
            true => all
                .iter()
                .copied()
                .filter(|node| next.next_if_eq(&node).is_none())
                .collect(),
            false => Vec::new(),
        };
        if many && (others.len() < count || self.sets.literal(&others).is_some()) {
            disjuncts.retain(|disjunct| !self.groups(*disjunct).contains(&group));
            let others = self.or_of_set(builder, group, others);
            disjuncts.push(!others);
            disjuncts.sort_unstable();
        } else if is_all {
            let literal = builder.or(disjuncts);
            self.sets.insert(group, union, literal);
            *disjuncts = vec![literal];
        }
    }

    fn or_of_set(&mut self, builder: &mut Builder, group: u32, set: Vec<u32>) -> Literal {
        if let Some(known) = self.sets.literal(&set) {
            return known;
        }
        let inputs: Vec<Literal> = set.iter().map(|&node| Literal::of(node as usize)).collect();
        let literal = builder.or(&inputs);
        self.sets.insert(group, set, literal);
        literal
    }
}

/// Marks of literals, which are cleared at once.
#[derive(Default, Debug)]
struct Marks {
    /// By literal: the round in which it was marked last.
    rounds: Vec<u32>,
    round: u32,
}

impl Marks {
    fn clear(&mut self) {
        self.round += 1;
    }

    /// Marks a literal; true if it was not marked.
    fn is_first(&mut self, literal: Literal) -> bool {
        let index = literal.index();
        if index >= self.rounds.len() {
            self.rounds.resize(2 * index + 2, 0);
        }
        std::mem::replace(&mut self.rounds[index], self.round) != self.round
    }

    fn has(&self, literal: Literal) -> bool {
        self.rounds.get(literal.index()) == Some(&self.round)
    }
}

/// Moves terms of one literal to `disjuncts`, and drops the terms and literals that
/// they make redundant.
fn absorb(terms: &mut Vec<Vec<Literal>>, disjuncts: &mut Vec<Literal>) {
    if terms.iter().all(|term| term.len() != 1) {
        return;
    }
    if terms.iter().all(|term| term.len() == 1) {
        disjuncts.extend(terms.drain(..).map(|term| term[0]));
        return;
    }
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
            disjuncts.push(*one);
        }
        term.len() != 1
    });
}

/// The terms in which literals occur that several terms have.
struct Occurrences {
    /// Literals with the terms that they occur in, ascending. A pair is one number, since
    /// these are sorted faster.
    all: Vec<u64>,
    /// The number of terms with the literal, and where it is in the list. Numbers of terms may
    /// be outdated, but never too low.
    heap: BinaryHeap<(u64, usize)>,
}

/// Two numbers in one, which is ordered by the first.
fn pair(first: usize, second: usize) -> u64 {
    (first as u64) << 32 | second as u64
}

impl Occurrences {
    fn new(terms: &[Vec<Literal>]) -> Self {
        let mut all = Vec::with_capacity(terms.iter().map(Vec::len).sum());
        for (number, term) in terms.iter().enumerate() {
            all.extend(term.iter().map(|literal| pair(literal.index(), number)));
        }
        all.sort_unstable();
        let mut heap = BinaryHeap::new();
        let mut start = 0;
        for same in all.chunk_by(|a, b| a >> 32 == b >> 32) {
            if same.len() > 1 {
                heap.push((pair(same.len(), (same[0] >> 32) as usize), start));
            }
            start += same.len();
        }
        Occurrences { all, heap }
    }

    /// The literal that occurs in the most live terms, if in at least two, with
    /// these terms, which are then no longer live.
    fn most_frequent(&mut self, live_terms: &mut [bool]) -> Option<(Literal, Vec<usize>)> {
        while let Some((top, start)) = self.heap.pop() {
            let (count, literal) = ((top >> 32) as usize, top as u32 as usize);
            let members = self.all[start..].iter();
            let members = members.take_while(|&&other| (other >> 32) as usize == literal);
            let members = members.map(|&other| other as u32 as usize);
            let members: Vec<usize> = members.filter(|&term| live_terms[term]).collect();
            if members.len() < 2 {
                continue;
            }
            if members.len() < count {
                self.heap.push((pair(members.len(), literal), start));
                continue;
            }
            members.iter().for_each(|&term| live_terms[term] = false);
            return Some((Literal::at(literal), members));
        }
        None
    }
}
