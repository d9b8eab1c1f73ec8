//! Facts whose values are implied.

use crate::propnet::Propnet;
use crate::propnet::network::{Literal, Network, Node};

/// What facts say about each other in every state reached.
pub(super) struct Links<'n> {
    net: &'n Propnet,
    /// By fact: the groups of facts that exclude each other which it is in.
    groups: Vec<Vec<usize>>,
    /// By fact: facts that equal it, or its negation.
    equal: Vec<Vec<(usize, bool)>>,
}

impl<'n> Links<'n> {
    pub fn new(net: &'n Propnet) -> Self {
        let mut groups = vec![Vec::new(); net.facts.len()];
        for (number, group) in net.exclusive.iter().enumerate() {
            for &fact in &group.facts {
                groups[fact].push(number);
            }
        }
        let mut equal = vec![Vec::new(); net.facts.len()];
        for &(fact, stands) in &net.assumed {
            if let Node::Input(other) = net.network.node(stands.node()) {
                equal[fact].push((other, stands.is_negated()));
                equal[other].push((fact, stands.is_negated()));
            }
        }
        Links { net, groups, equal }
    }

    pub fn groups(&self, fact: usize) -> &[usize] {
        &self.groups[fact]
    }
}

/// Cases that each tell less than this part of what is not known are not told
/// apart.
const WORTH: usize = 8;

/// Values of some facts.
#[derive(Clone)]
pub(super) struct Cube {
    values: Vec<Option<bool>>,
    /// Facts whose value is known, in the order in which it became known.
    known: Vec<usize>,
    /// "And" gates that are known not to hold.
    open: Vec<usize>,
}

impl Cube {
    pub fn new(facts: usize) -> Self {
        Cube {
            values: vec![None; facts],
            known: Vec::new(),
            open: Vec::new(),
        }
    }

    pub fn value(&self, fact: usize) -> Option<bool> {
        self.values[fact]
    }

    /// Adds what follows at once from a literal; None if it can not hold.
    pub fn assume(&mut self, network: &Network, links: &Links, literal: Literal) -> Option<()> {
        let mut due = vec![literal];
        while let Some(literal) = due.pop() {
            match network.node(literal.node()) {
                Node::False if !literal.is_negated() => return None,
                Node::Input(fact) if fact < self.values.len() => {
                    self.set(links, fact, !literal.is_negated())?;
                }
                Node::And(operands) if !literal.is_negated() => due.extend(operands),
                Node::And(_) => self.open.push(literal.node()),
                _ => {}
            }
        }
        Some(())
    }

    fn set(&mut self, links: &Links, fact: usize, value: bool) -> Option<()> {
        let mut due = vec![(fact, value)];
        while let Some((fact, value)) = due.pop() {
            match self.values[fact] {
                Some(known) if known == value => continue,
                Some(_) => return None,
                None => self.values[fact] = Some(value),
            }
            self.known.push(fact);
            let equal = links.equal[fact].iter();
            due.extend(equal.map(|&(other, negated)| (other, value != negated)));
            for &group in &links.groups[fact] {
                let group = &links.net.exclusive[group];
                let others = group.facts.iter().filter(|&&other| other != fact);
                if value {
                    due.extend(others.map(|&other| (other, false)));
                } else if group.exact {
                    let mut may = others.filter(|&&other| self.values[other] != Some(false));
                    match (may.next(), may.next()) {
                        (None, _) => return None,
                        (Some(&one), None) => due.push((one, true)),
                        _ => {}
                    }
                }
            }
        }
        Some(())
    }

    /// The value of a literal, where it follows gate by gate. Cycles are not
    /// looked into.
    fn evaluate(&self, network: &Network, literal: Literal) -> Option<bool> {
        let value = match network.node(literal.node()) {
            Node::False => Some(false),
            Node::Input(fact) => self.values.get(fact).copied().flatten(),
            Node::And(operands) => {
                let values = || operands.iter().map(|&one| self.evaluate(network, one));
                if values().any(|value| value == Some(false)) {
                    Some(false)
                } else if values().all(|value| value == Some(true)) {
                    Some(true)
                } else {
                    None
                }
            }
            Node::Xor(a, b) => match (self.evaluate(network, a), self.evaluate(network, b)) {
                (Some(a), Some(b)) => Some(a != b),
                _ => None,
            },
            Node::Feedback(_) => None,
        };
        value.map(|value| value != literal.is_negated())
    }

    /// Looks at gates that do not hold until nothing follows; None if that is
    /// impossible.
    fn propagate(&mut self, network: &Network, links: &Links) -> Option<()> {
        loop {
            let before = self.known.len();
            for node in std::mem::take(&mut self.open) {
                let Node::And(operands) = network.node(node) else {
                    continue;
                };
                let mut left = Vec::new();
                let mut is_false = false;
                for &operand in operands {
                    match self.evaluate(network, operand) {
                        Some(true) => {}
                        Some(false) => is_false = true,
                        None => left.push(operand),
                    }
                }
                match left.as_slice() {
                    _ if is_false => {}
                    [] => return None,
                    [one] => self.assume(network, links, !*one)?,
                    _ => self.open.push(node),
                }
            }
            if self.known.len() == before {
                return Some(());
            }
        }
    }
}

/// Cubes such that in each state where a literal holds one of them does.
pub(super) fn cubes(network: &Network, links: &Links, literal: Literal, most: usize) -> Vec<Cube> {
    let mut first = Cube::new(links.groups.len());
    let held = first.assume(network, links, literal);
    if held
        .and_then(|()| first.propagate(network, links))
        .is_none()
    {
        return Vec::new();
    }
    let mut done = Vec::new();
    let mut open = vec![first];
    while let Some(mut cube) = open.pop() {
        let room = most.saturating_sub(done.len() + open.len());
        match best_split(network, links, &cube, room) {
            Some((node, branches)) => {
                open.extend(branches.into_iter().map(|mut branch| {
                    branch.open.retain(|&other| other != node);
                    branch
                }));
            }
            None => {
                cube.open.clear();
                done.push(cube);
            }
        }
    }
    done
}

/// Of the gates that do not hold the one whose cases all tell most, if that is a
/// good part of what is not known.
fn best_split(
    network: &Network,
    links: &Links,
    cube: &Cube,
    room: usize,
) -> Option<(usize, Vec<Cube>)> {
    let unknown = cube.values.len() - cube.known.len();
    let cases = cube.open.iter().filter_map(|&node| {
        let Node::And(operands) = network.node(node) else {
            return None;
        };
        let undecided = |literal: &&Literal| cube.evaluate(network, **literal).is_none();
        let operands: Vec<Literal> = operands.iter().filter(undecided).copied().collect();
        if operands.len() > room {
            return None;
        }
        let case = |&operand: &Literal| {
            let mut case = cube.clone();
            case.assume(network, links, !operand)?;
            case.propagate(network, links)?;
            Some(case)
        };
        let cases: Vec<Cube> = operands.iter().filter_map(case).collect();
        let told = |case: &Cube| case.known.len() - cube.known.len();
        let least = cases.iter().map(told).min().unwrap_or(usize::MAX);
        (least > unknown / WORTH).then_some((least, node, cases))
    });
    let best = cases.max_by_key(|&(least, ..)| least)?;
    Some((best.1, best.2))
}
