//! A puzzle as a coloured graph.
//!
//! In: the effects of each move. Out: a graph whose vertices are facts, moves, and
//! the functions that define legality, successor values and the end of the game.
//! Functions are expanded to sums of products where these stay small, so that the
//! graph does not depend on how the gates were factored. A symmetry of the puzzle
//! that the graph lacks is not found; an automorphism of the graph that is not a
//! symmetry is rejected later.

use rustc_hash::FxHashMap;

use crate::planning::move_set::effects::Effects;
use ggp_engine::automorphism::Graph;
use ggp_engine::propnet::Exclusive;
use ggp_engine::propnet::network::{Literal, Network, Node};
use ggp_engine::propnet::rewrite::live;

/// Limit on the literals of one expanded function.
const MOST_LITERALS: usize = 4_000;
/// Limit on the literals of all expanded functions in total.
const MOST_WORK: usize = 20_000_000;
/// Limit on vertices plus edges.
const MOST_SIZE: usize = 400_000;

/// The kind of a vertex.
#[derive(Copy, Clone)]
enum Colour {
    Yes,
    No,
    Fact,
    Opposite,
    Move,
    Legal,
    Sets,
    Clears,
    Flips,
    Becomes,
    Over,
    Solved,
    AnyOf,
    NoneOf,
    All,
    And,
    Xor,
    Feedback,
    /// The first of the individual colours: facts that no symmetry may move get one
    /// each.
    Own,
}

/// Builds the graph. Returns it with the first fact vertex and the first move
/// vertex; facts and moves each occupy consecutive vertices. None if the graph is
/// too large.
pub(super) fn graph(effects: &Effects, exclusive: &[Exclusive]) -> Option<(Graph, u32, u32)> {
    let network = &effects.network;
    let mut drawing = Drawing {
        network,
        covers: covers(effects, exclusive)?,
        graph: Graph::default(),
        known: FxHashMap::default(),
        pending: Vec::new(),
    };
    let facts = 0;
    for fact in 0..network.inputs() {
        let colour = match effects.relevant[fact] && !effects.autonomous[fact] {
            true => Colour::Fact as u32,
            false => Colour::Own as u32 + fact as u32,
        };
        let vertex = drawing.graph.vertex(colour);
        drawing.known.insert(network.input(fact), vertex);
    }
    for fact in 0..network.inputs() {
        let opposite = drawing.vertex(Colour::Opposite, &[fact as u32]);
        drawing.known.insert(!network.input(fact), opposite);
    }
    let yes = drawing.vertex(Colour::Yes, &[]);
    let no = drawing.vertex(Colour::No, &[]);
    drawing.known.insert(Literal::TRUE, yes);
    drawing.known.insert(Literal::FALSE, no);
    let moves = no + 1;
    for _ in &effects.legal {
        drawing.vertex(Colour::Move, &[]);
    }
    for (chosen, &legal) in effects.legal.iter().enumerate() {
        let chosen = moves + chosen as u32;
        let legal = drawing.literal(legal);
        drawing.vertex(Colour::Legal, &[chosen, legal]);
    }
    for (chosen, changes) in effects.changes.iter().enumerate() {
        for &(fact, becomes) in changes {
            let ends = [moves + chosen as u32, fact];
            match becomes {
                Literal::TRUE => drawing.vertex(Colour::Sets, &ends),
                Literal::FALSE => drawing.vertex(Colour::Clears, &ends),
                _ if becomes == !network.input(fact as usize) => {
                    drawing.vertex(Colour::Flips, &ends)
                }
                _ => {
                    let becomes = drawing.literal(becomes);
                    drawing.vertex(Colour::Becomes, &[ends[0], ends[1], becomes])
                }
            };
        }
        if drawing.graph.size() > MOST_SIZE {
            return None;
        }
    }
    for (colour, end) in [
        (Colour::Over, effects.terminal),
        (Colour::Solved, effects.solved),
    ] {
        let end = drawing.literal(end);
        drawing.vertex(colour, &[end]);
    }
    while let Some((literal, vertex)) = drawing.pending.pop() {
        drawing.define(literal, vertex);
        if drawing.graph.size() > MOST_SIZE {
            return None;
        }
    }
    Some((drawing.graph, facts, moves))
}

struct Drawing<'e> {
    network: &'e Network,
    covers: Vec<[Option<Cover>; 2]>,
    graph: Graph,
    known: FxHashMap<Literal, u32>,
    /// Literals that have a vertex but no outgoing edges yet.
    pending: Vec<(Literal, u32)>,
}

impl Drawing<'_> {
    fn vertex(&mut self, colour: Colour, ends: &[u32]) -> u32 {
        let vertex = self.graph.vertex(colour as u32);
        ends.iter().for_each(|&end| self.graph.edge(vertex, end));
        vertex
    }

    fn literal(&mut self, literal: Literal) -> u32 {
        if let Some(&vertex) = self.known.get(&literal) {
            return vertex;
        }
        let colour = match self.shorter(literal) {
            Some((_, negated)) if negated => Colour::NoneOf,
            Some(_) => Colour::AnyOf,
            None => match (self.network.node(literal.node()), literal.is_negated()) {
                (_, true) => Colour::Opposite,
                (Node::Xor(..), _) => Colour::Xor,
                (Node::Feedback(_), _) => Colour::Feedback,
                _ => Colour::And,
            },
        };
        let vertex = self.vertex(colour, &[]);
        self.known.insert(literal, vertex);
        self.pending.push((literal, vertex));
        vertex
    }

    /// The shorter of the expansions of a literal and of its negation; true if it
    /// is the negation's.
    fn shorter(&self, literal: Literal) -> Option<(&Cover, bool)> {
        let [plain, negated] = &self.covers[literal.node()];
        let (own, other) = match literal.is_negated() {
            false => (plain, negated),
            true => (negated, plain),
        };
        let size = |cover: &Cover| (cover.len(), cover.iter().map(Vec::len).sum::<usize>());
        match (own, other) {
            (Some(own), Some(other)) if size(other) < size(own) => Some((other, true)),
            (Some(own), _) => Some((own, false)),
            (None, Some(other)) => Some((other, true)),
            (None, None) => None,
        }
    }

    fn define(&mut self, literal: Literal, vertex: u32) {
        if let Some((cover, _)) = self.shorter(literal) {
            for term in cover.clone() {
                let mut ends: Vec<u32> = term.iter().map(|&one| self.literal(one)).collect();
                ends.push(vertex);
                self.vertex(Colour::All, &ends);
            }
            return;
        }
        let network = self.network;
        let inputs: Vec<Literal> = match network.node(literal.node()) {
            _ if literal.is_negated() => vec![!literal],
            Node::And(operands) => operands.to_vec(),
            Node::Xor(a, b) => vec![a, b],
            Node::Feedback(number) => {
                let regions = network.regions();
                let region = regions.partition_point(|region| region.feedbacks.end <= number);
                let region = &regions[region];
                vec![region.definitions[number - region.feedbacks.start]]
            }
            Node::False | Node::Input(_) => unreachable!("these are known"),
        };
        for input in inputs {
            let end = self.literal(input);
            // The middle vertex gives the edge a direction.
            let middle = self.vertex(Colour::All, &[end]);
            self.graph.edge(vertex, middle);
        }
    }
}

/// A sum of products: a disjunction of conjunctions, each sorted.
type Cover = Vec<Vec<Literal>>;

/// By node: the expansions of the node and of its negation; none where they grow
/// too large or the node is not a conjunction. None if the total is too large.
fn covers(effects: &Effects, exclusive: &[Exclusive]) -> Option<Vec<[Option<Cover>; 2]>> {
    let network = &effects.network;
    let mut roots = vec![effects.terminal, effects.solved];
    roots.extend(&effects.legal);
    roots.extend(effects.changes.iter().flatten().map(|change| change.1));
    let live = live(network, roots);
    let mut groups = vec![Vec::new(); network.inputs() + 1];
    for (number, group) in exclusive.iter().enumerate() {
        for &fact in &group.facts {
            groups[network.input(fact).node()].push(number);
        }
    }
    let mut expansions: Vec<[Option<Cover>; 2]> = vec![[None, None]; network.len()];
    let mut work = MOST_WORK;
    for node in (0..network.len()).filter(|&node| live[node]) {
        let Node::And(operands) = network.node(node) else {
            continue;
        };
        let of = |literal: Literal| -> Cover {
            let own = &expansions[literal.node()][usize::from(literal.is_negated())];
            own.clone().unwrap_or_else(|| vec![vec![literal]])
        };
        let mut all: Option<Cover> = Some(vec![Vec::new()]);
        let mut any: Option<Cover> = Some(Vec::new());
        for &operand in operands {
            let (one, other) = (of(operand), of(!operand));
            all = all.and_then(|all| times(&all, &one, &groups, &mut work));
            any = any.and_then(|any| plus(any, other, &mut work));
        }
        if work == 0 {
            return None;
        }
        expansions[node] = [all, any];
    }
    Some(expansions)
}

fn times(one: &Cover, other: &Cover, groups: &[Vec<usize>], work: &mut usize) -> Option<Cover> {
    let literals = |cover: &Cover| cover.iter().map(Vec::len).sum::<usize>();
    if literals(one) * other.len() + literals(other) * one.len() > MOST_LITERALS {
        return None;
    }
    let mut product = Cover::new();
    for one in one {
        for other in other {
            product.extend(conjunction(one, other, groups));
        }
    }
    absorb(product, work)
}

fn plus(mut one: Cover, other: Cover, work: &mut usize) -> Option<Cover> {
    one.extend(other);
    if one.iter().map(Vec::len).sum::<usize>() > MOST_LITERALS {
        return None;
    }
    absorb(one, work)
}

/// The conjunction of two terms, without literals implied by mutual exclusion; none
/// if they contradict each other.
fn conjunction(one: &[Literal], other: &[Literal], groups: &[Vec<usize>]) -> Option<Vec<Literal>> {
    let mut conjunction = [one, other].concat();
    conjunction.sort_unstable();
    conjunction.dedup();
    if conjunction.windows(2).any(|pair| pair[0] == !pair[1]) {
        return None;
    }
    let of = |literal: Literal| groups.get(literal.node()).map_or(&[][..], Vec::as_slice);
    let holding = conjunction.iter().copied().filter(|one| !one.is_negated());
    let taken: Vec<(usize, Literal)> = holding
        .flat_map(|one| of(one).iter().map(move |&group| (group, one)))
        .collect();
    let excluded = |literal: Literal| {
        taken
            .iter()
            .any(|&(group, one)| one.node() != literal.node() && of(literal).contains(&group))
    };
    if conjunction
        .iter()
        .any(|&one| !one.is_negated() && excluded(one))
    {
        return None;
    }
    conjunction.retain(|&one| !(one.is_negated() && excluded(one)));
    Some(conjunction)
}

/// Removes the terms that are implied by a shorter term.
fn absorb(mut cover: Cover, work: &mut usize) -> Option<Cover> {
    cover.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    cover.dedup();
    let mut kept = Cover::new();
    for term in cover {
        *work = work.checked_sub(kept.len() + term.len()).or_else(|| {
            *work = 0;
            None
        })?;
        let within = |shorter: &Vec<Literal>| {
            shorter.len() < term.len() && shorter.iter().all(|one| term.binary_search(one).is_ok())
        };
        if !kept.iter().any(within) {
            kept.push(term);
        }
    }
    Some(kept)
}
