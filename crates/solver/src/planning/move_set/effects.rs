//! The effects of each move.
//!
//! In: a puzzle. Out: its gates as functions of the facts alone, and for each move
//! the facts that it may change, each with the gate of its new value. Only facts
//! that legal moves or the end depend on, now or later, are considered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::planning::Puzzle;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::{copy, live, same_gate};

/// A puzzle as legality and effects of each move.
#[derive(Debug)]
pub(in crate::planning) struct Effects {
    /// Gates over facts; the inputs are the facts.
    pub network: Network,
    /// By move: whether it is legal.
    pub legal: Vec<Literal>,
    /// True if the game is over.
    pub terminal: Literal,
    /// True if the game is over with at least the target score.
    pub solved: Literal,
    /// By fact: whether legal moves or the end depend on it, now or later.
    pub relevant: Vec<bool>,
    /// By fact: whether it is relevant and depends only on the number of moves
    /// made.
    pub autonomous: Vec<bool>,
    /// By fact: its next value if no move is made.
    pub drift: Vec<Literal>,
    /// By move: the relevant, not autonomous facts that it may change, each with
    /// its new value; ascending.
    pub changes: Vec<Vec<(u32, Literal)>>,
}

/// The ways in which a move may change a fact.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::planning) enum Change {
    /// The fact becomes true.
    Set,
    /// The fact becomes false.
    Clear,
    /// The fact may become true; it never becomes false.
    Rise,
    /// The fact may become false; it never becomes true.
    Fall,
    /// The fact may become true or false.
    Any,
}

/// Limit on the gates and changes visited, for all moves together.
const MAX_WORK: usize = 40_000_000;

impl Effects {
    /// The effects of a puzzle. None if moves occur in a cycle of the network, if the puzzle is too large, or
    /// after [`Puzzle::stop`].
    pub fn of(puzzle: &Puzzle) -> Option<Arc<Effects>> {
        let known = &puzzle.known.move_effects;
        known.get(&puzzle.stop, || Effects::make(puzzle).map(Arc::new))
    }

    fn make(puzzle: &Puzzle) -> Option<Effects> {
        let net = &puzzle.net;
        let old = net.network();
        let facts = net.facts().len();
        let relevant = relevant(puzzle);
        let mut roots = vec![puzzle.solved, net.terminal()];
        roots.extend(&net.legal()[0]);
        let next = |fact: &usize| net.next()[*fact];
        roots.extend(
            (0..facts)
                .filter(|&fact| relevant[fact])
                .map(|fact| next(&fact)),
        );
        let live = live(old, roots);
        let readers = Readers::new(old, &live);
        let by_moves = readers.spread(
            (0..net.moves()[0].len()).map(|m| net.move_input(0, m)),
            |_| None,
        );
        if (old.regions().iter()).any(|region| region.nodes.clone().any(|node| by_moves[node])) {
            return None;
        }
        let mut next_of = vec![Vec::new(); old.len()];
        for fact in (0..facts).filter(|&fact| relevant[fact]) {
            next_of[net.next()[fact].node()].push(fact);
        }
        let moves = (0..net.moves()[0].len()).map(|m| net.move_input(0, m));
        let driven = readers.spread(moves, |node| Some(next_of[node].as_slice()));
        let autonomous: Vec<bool> = (0..facts)
            .map(|fact| relevant[fact] && !driven[old.input(fact).node()])
            .collect();

        let mut builder = Builder::new(facts);
        let inputs: Vec<Literal> = (0..old.inputs())
            .map(|input| match input < facts {
                true => builder.input(input),
                false => Literal::FALSE,
            })
            .collect();
        let became = copy(old, &live, &inputs, &mut builder);
        let of = |literal: Literal| became[literal.node()].negated_if(literal.is_negated());
        let mut stays: Vec<Literal> = (0..facts).map(|fact| builder.input(fact)).collect();
        for &(fact, equal) in net.assumed() {
            stays[fact] = of(equal);
        }
        let drift: Vec<Literal> = (0..facts).map(|fact| of(net.next()[fact])).collect();
        let counts = |fact: usize| relevant[fact] && !autonomous[fact];
        let drifting: Vec<u32> = (0..facts)
            .filter(|&fact| counts(fact) && drift[fact] != stays[fact])
            .map(|fact| fact as u32)
            .collect();

        let mut one = OneMove {
            network: old,
            readers: &readers,
            became: &became,
            now: became.clone(),
            queued: vec![0; old.len()],
            falsified: vec![0; old.len()],
            stamp: 0,
            work_left: MAX_WORK,
        };
        let mut implied = Implied::new(net);
        let mut changes = Vec::with_capacity(net.moves()[0].len());
        for (chosen, &legal) in net.legal()[0].iter().enumerate() {
            let mut changed = Vec::new();
            if puzzle.stop.is_over() {
                return None;
            }
            if legal != Literal::FALSE {
                let input = old.input(net.move_input(0, chosen)).node();
                let touched = one.evaluate(input, &mut builder)?;
                let becomes = |fact: u32| {
                    let next = net.next()[fact as usize];
                    one.now[next.node()].negated_if(next.is_negated())
                };
                let facts = touched.iter().flat_map(|&node| &next_of[node]);
                let mut facts: Vec<u32> = facts.map(|&fact| fact as u32).collect();
                facts.extend(&drifting);
                facts.sort_unstable();
                facts.dedup();
                let implied = implied.by(legal);
                let changing = |&fact: &u32| {
                    let known =
                        implied[fact as usize].map(|value| Literal::FALSE.negated_if(value));
                    let becomes = becomes(fact);
                    counts(fact as usize)
                        && becomes != stays[fact as usize]
                        && known != Some(becomes)
                };
                changed = (facts.into_iter().filter(changing))
                    .map(|fact| (fact, becomes(fact)))
                    .collect();
                touched
                    .iter()
                    .for_each(|&node| one.now[node] = became[node]);
                one.work_left = one.work_left.checked_sub(drifting.len())?;
            }
            changes.push(changed);
        }
        Some(Effects {
            legal: net.legal()[0].iter().map(|&legal| of(legal)).collect(),
            terminal: of(net.terminal()),
            solved: of(puzzle.solved),
            network: builder.into_network(),
            relevant,
            autonomous,
            drift,
            changes,
        })
    }

    /// The way in which a fact changes if its new value is `becomes`.
    pub fn change(&self, fact: u32, becomes: Literal) -> Change {
        let stays = self.network.input(fact as usize);
        match becomes {
            Literal::TRUE => return Change::Set,
            Literal::FALSE => return Change::Clear,
            _ => {}
        }
        match self.network.node(becomes.node()) {
            Node::And(operands) if !becomes.is_negated() && operands.contains(&stays) => {
                Change::Fall
            }
            Node::And(operands) if becomes.is_negated() && operands.contains(&!stays) => {
                Change::Rise
            }
            _ => Change::Any,
        }
    }
}

/// By fact: whether legal moves or the end depend on it, now or later.
fn relevant(puzzle: &Puzzle) -> Vec<bool> {
    let net = &puzzle.net;
    let network = net.network();
    let mut relevant = vec![false; net.facts().len()];
    let mut seen = vec![false; network.len()];
    let mut open = vec![puzzle.solved.node(), net.terminal().node()];
    open.extend(net.legal()[0].iter().map(|legal| legal.node()));
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        open.extend(network.reads(node).iter().map(|read| read.node()));
        match network.node(node) {
            Node::Input(fact) if fact < relevant.len() => {
                relevant[fact] = true;
                open.push(net.next()[fact].node());
            }
            Node::Feedback(number) => {
                let regions = network.regions();
                let region = regions.partition_point(|region| region.feedbacks.end <= number);
                let region = &regions[region];
                open.push(region.definitions[number - region.feedbacks.start].node());
            }
            _ => {}
        }
    }
    relevant
}

/// Facts whose values follow from a conjunction, also by mutual exclusion.
struct Implied<'p> {
    net: &'p Propnet,
    conjuncts: Conjuncts<'p>,
    /// By fact: the exclusive groups that contain it.
    groups_of: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    /// The facts that have a value.
    known: Vec<usize>,
}

impl<'p> Implied<'p> {
    fn new(net: &'p Propnet) -> Self {
        let mut groups_of = vec![Vec::new(); net.facts().len()];
        for (number, group) in net.exclusive().iter().enumerate() {
            group
                .facts
                .iter()
                .for_each(|&fact| groups_of[fact].push(number));
        }
        Implied {
            net,
            conjuncts: Conjuncts::new(net.network()),
            groups_of,
            values: vec![None; net.facts().len()],
            known: Vec::new(),
        }
    }

    /// By fact: its value whenever `all` holds, if that is known.
    fn by(&mut self, all: Literal) -> &[Option<bool>] {
        self.known
            .drain(..)
            .for_each(|fact| self.values[fact] = None);
        for &literal in self.conjuncts.of(all) {
            if let Some(fact) = self.net.network().input_number(literal.node()) {
                self.values[fact] = Some(!literal.is_negated());
                self.known.push(fact);
            }
        }
        for place in 0..self.known.len() {
            let fact = self.known[place];
            if self.values[fact] == Some(true) {
                let groups = self.groups_of[fact].iter();
                for &other in groups.flat_map(|&group| &self.net.exclusive()[group].facts) {
                    if self.values[other].is_none() {
                        self.values[other] = Some(false);
                        self.known.push(other);
                    }
                }
            }
        }
        &self.values
    }
}

/// The conjuncts of literals, with nested conjunctions expanded.
pub(in crate::planning) struct Conjuncts<'n> {
    network: &'n Network,
    /// By literal, plain and negated: the last query that visited it.
    seen: Vec<[u32; 2]>,
    query: u32,
    open: Vec<Literal>,
    conjuncts: Vec<Literal>,
}

impl<'n> Conjuncts<'n> {
    pub fn new(network: &'n Network) -> Self {
        Conjuncts {
            network,
            seen: vec![[0; 2]; network.len()],
            query: 0,
            open: Vec::new(),
            conjuncts: Vec::new(),
        }
    }

    /// The conjuncts of a literal; the literal itself if it is not a conjunction.
    pub fn of(&mut self, all: Literal) -> &[Literal] {
        self.query += 1;
        self.conjuncts.clear();
        self.open.push(all);
        while let Some(literal) = self.open.pop() {
            let seen = &mut self.seen[literal.node()][usize::from(literal.is_negated())];
            if std::mem::replace(seen, self.query) == self.query {
                continue;
            }
            match self.network.conjunction(literal.node()) {
                Some(operands) if !literal.is_negated() => self.open.extend(operands),
                _ => self.conjuncts.push(literal),
            }
        }
        &self.conjuncts
    }
}

/// The readers of each node. A feedback reads the node that defines it.
pub(in crate::planning) struct Readers {
    starts: Vec<u32>,
    readers: Vec<Literal>,
    inputs: Vec<u32>,
}

impl Readers {
    pub fn new(network: &Network, live: &[bool]) -> Readers {
        let mut pairs: Vec<(u32, Literal)> = Vec::new();
        let reader = |read: &Literal, node: usize| Literal::of(node).negated_if(read.is_negated());
        for node in (0..network.len()).filter(|&node| live[node]) {
            let reads = network.reads(node).iter();
            pairs.extend(reads.map(|read| (read.node() as u32, reader(read, node))));
        }
        for region in network.regions() {
            let mut definitions = region.definitions.iter();
            for node in region.nodes.clone().filter(|&node| live[node]) {
                if let Node::Feedback(_) = network.node(node) {
                    let definition = definitions.next().expect("one for each feedback");
                    pairs.push((definition.node() as u32, reader(definition, node)));
                }
            }
        }
        let mut starts = vec![0; network.len() + 1];
        for &(read, _) in &pairs {
            starts[read as usize + 1] += 1;
        }
        for node in 0..network.len() {
            starts[node + 1] += starts[node];
        }
        let mut place = starts.clone();
        let mut readers = vec![Literal::FALSE; pairs.len()];
        for &(read, reader) in &pairs {
            readers[place[read as usize] as usize] = reader;
            place[read as usize] += 1;
        }
        let inputs = (0..network.inputs()).map(|input| network.input(input).node() as u32);
        Readers {
            starts,
            readers,
            inputs: inputs.collect(),
        }
    }

    /// The nodes that read a node, negated where they read its negation.
    pub fn of(&self, node: usize) -> &[Literal] {
        &self.readers[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// By node: whether it depends on any of the inputs `from`, also through inputs
    /// that `next` gives as the successors of a node.
    fn spread<'a>(
        &self,
        from: impl Iterator<Item = usize>,
        next: impl Fn(usize) -> Option<&'a [usize]>,
    ) -> Vec<bool> {
        let mut reached = vec![false; self.starts.len() - 1];
        let mut open: Vec<usize> = from.map(|input| self.inputs[input] as usize).collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                open.extend(self.of(node).iter().map(|reader| reader.node()));
                let carried = next(node).unwrap_or_default().iter();
                open.extend(carried.map(|&input| self.inputs[input] as usize));
            }
        }
        reached
    }
}

/// Evaluates the part of a network that depends on one move.
struct OneMove<'n> {
    network: &'n Network,
    readers: &'n Readers,
    /// By node: its value if no move is made.
    became: &'n [Literal],
    now: Vec<Literal>,
    /// By node: the last move for which it was queued, or had a false operand.
    queued: Vec<u32>,
    falsified: Vec<u32>,
    stamp: u32,
    work_left: usize,
}

impl OneMove<'_> {
    /// Evaluates the network with the move; the result is the nodes whose values in
    /// `now` differ from those without a move.
    fn evaluate(&mut self, input: usize, builder: &mut Builder) -> Option<Vec<usize>> {
        self.stamp += 1;
        let mut waiting = BinaryHeap::new();
        let mut touched = vec![input];
        self.now[input] = Literal::TRUE;
        self.notify_readers(input, &mut waiting)?;
        let mut operands = Vec::new();
        while let Some(Reverse(node)) = waiting.pop() {
            let value = if self.falsified[node] == self.stamp {
                Literal::FALSE
            } else {
                let reads = self.network.reads(node);
                self.work_left = self.work_left.checked_sub(reads.len())?;
                operands.clear();
                operands.extend(reads.iter().map(|&read| self.value(read)));
                same_gate(self.network, builder, node, &operands)
            };
            if value != self.became[node] {
                self.now[node] = value;
                touched.push(node);
                self.notify_readers(node, &mut waiting)?;
            }
        }
        Some(touched)
    }

    fn value(&self, literal: Literal) -> Literal {
        self.now[literal.node()].negated_if(literal.is_negated())
    }

    fn notify_readers(
        &mut self,
        node: usize,
        waiting: &mut BinaryHeap<Reverse<usize>>,
    ) -> Option<()> {
        let readers = self.readers.of(node);
        self.work_left = self.work_left.checked_sub(readers.len())?;
        for &edge in readers {
            let reader = edge.node();
            if self.queued[reader] != self.stamp {
                self.queued[reader] = self.stamp;
                waiting.push(Reverse(reader));
            }
            if self.now[node].negated_if(edge.is_negated()) == Literal::FALSE
                && matches!(self.network.node(reader), Node::And(_))
            {
                self.falsified[reader] = self.stamp;
            }
        }
        Some(())
    }
}
