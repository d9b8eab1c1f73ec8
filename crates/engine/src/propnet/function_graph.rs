//! The functions of a network as a coloured graph, whose automorphisms are symmetries of them.
//!
//! In: a network and the literals of interest. Out: a graph with a vertex for each input, and
//! vertices that define the functions. Functions are expanded to sums of products where these
//! stay small, so that the graph does not depend on how the gates were factored. A symmetry
//! that the graph lacks is not found; an automorphism of the graph need not be a symmetry
//! of what the inputs mean.

use rustc_hash::FxHashMap;

use super::Exclusive;
use super::network::{Literal, Network, Node};
use super::rewrite::live;
use crate::automorphism::Graph;
use ggp_stop::Stop;

/// Limit on the literals of one expanded function.
const MOST_LITERALS: usize = 4_000;
/// Limit on the literals of all expanded functions in total.
const MOST_WORK: usize = 20_000_000;

/// The kind of a vertex that defines a function.
#[derive(Copy, Clone)]
enum Colour {
    Yes,
    No,
    Opposite,
    AnyOf,
    NoneOf,
    All,
    And,
    Xor,
    Feedback,
}

/// A graph of functions that grows.
#[doc(hidden)]
#[derive(Debug)]
pub struct FunctionGraph<'n> {
    network: &'n Network,
    covers: Vec<[Option<Cover>; 2]>,
    graph: Graph,
    known: FxHashMap<Literal, u32>,
    /// Literals that have a vertex but no outgoing edges yet.
    pending: Vec<(Literal, u32)>,
}

impl<'n> FunctionGraph<'n> {
    /// The first colour that is free for inputs and other vertices.
    pub const FREE: u32 = Colour::Feedback as u32 + 1;
    /// The most vertices and edges of a graph whose automorphisms are worth the search.
    pub const MOST_SIZE: usize = 400_000;

    /// The graph of the inputs, whose vertices come first; `colours` has one from
    /// [`FunctionGraph::FREE`] on for each. `roots` are all literals that will be added.
    /// `None` if the functions are too large, or `stop` is over.
    pub fn new(
        network: &'n Network,
        colours: impl Iterator<Item = u32>,
        roots: Vec<Literal>,
        exclusive: &[Exclusive],
        stop: &Stop,
    ) -> Option<Self> {
        let mut graph = FunctionGraph {
            network,
            covers: covers(network, roots, exclusive, stop)?,
            graph: Graph::default(),
            known: FxHashMap::default(),
            pending: Vec::new(),
        };
        for (input, colour) in colours.enumerate() {
            let vertex = graph.vertex(colour, &[]);
            graph.known.insert(network.input(input), vertex);
        }
        for input in 0..network.inputs() {
            let opposite = graph.inner(Colour::Opposite, &[input as u32]);
            graph.known.insert(!network.input(input), opposite);
        }
        let yes = graph.inner(Colour::Yes, &[]);
        let no = graph.inner(Colour::No, &[]);
        graph.known.insert(Literal::TRUE, yes);
        graph.known.insert(Literal::FALSE, no);
        Some(graph)
    }

    /// Adds a vertex with edges to others.
    pub fn vertex(&mut self, colour: u32, ends: &[u32]) -> u32 {
        let vertex = self.graph.vertex(colour);
        ends.iter().for_each(|&end| self.graph.edge(vertex, end));
        vertex
    }

    fn inner(&mut self, colour: Colour, ends: &[u32]) -> u32 {
        self.vertex(colour as u32, ends)
    }

    /// True while the graph is small enough to be of use.
    pub fn is_small(&self) -> bool {
        self.graph.size() <= Self::MOST_SIZE
    }

    /// The graph with the definitions of all functions; `None` if it is too large.
    pub fn finish(mut self) -> Option<Graph> {
        while let Some((literal, vertex)) = self.pending.pop() {
            self.define(literal, vertex);
            if !self.is_small() {
                return None;
            }
        }
        Some(self.graph)
    }

    /// The vertex of a function.
    pub fn literal(&mut self, literal: Literal) -> u32 {
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
        let vertex = self.inner(colour, &[]);
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
                self.inner(Colour::All, &ends);
            }
            return;
        }
        let network = self.network;
        let inputs: Vec<Literal> = match network.node(literal.node()) {
            _ if literal.is_negated() => vec![!literal],
            Node::And(operands) => operands.to_vec(),
            Node::Xor(a, b) => vec![a, b],
            Node::Feedback(number) => vec![network.definition(number)],
            Node::False | Node::Input(_) => unreachable!("these are known"),
        };
        for input in inputs {
            let end = self.literal(input);
            // The middle vertex gives the edge a direction.
            let middle = self.inner(Colour::All, &[end]);
            self.graph.edge(vertex, middle);
        }
    }
}

/// A sum of products: a disjunction of conjunctions, each sorted.
type Cover = Vec<Vec<Literal>>;

/// By node: the expansions of the node and of its negation; none where they grow
/// too large or the node is not a conjunction. None if the total is too large.
fn covers(
    network: &Network,
    roots: Vec<Literal>,
    exclusive: &[Exclusive],
    stop: &Stop,
) -> Option<Vec<[Option<Cover>; 2]>> {
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
        if work == 0 || stop.is_over() {
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
