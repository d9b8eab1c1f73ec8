//! Cubes: partial assignments of facts with their implications.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::network::{Literal, Network, Node};
use ggp_engine::propnet::rewrite::live;
use ggp_stop::Stop;

/// Relations between facts that hold in every reachable state.
pub(super) struct Links<'n> {
    net: &'n Propnet,
    /// By fact: the groups of mutually exclusive facts that contain it.
    groups: Vec<Vec<usize>>,
    /// By fact: the facts that equal it or its negation.
    equal: Vec<Vec<(usize, bool)>>,
}

impl<'n> Links<'n> {
    pub fn new(net: &'n Propnet) -> Self {
        let mut groups = vec![Vec::new(); net.facts().len()];
        for (number, group) in net.exclusive().iter().enumerate() {
            for &fact in &group.facts {
                groups[fact].push(number);
            }
        }
        let mut equal = vec![Vec::new(); net.facts().len()];
        for &(fact, stands) in net.assumed() {
            if let Node::Input(other) = net.network().node(stands.node()) {
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

/// A case split is made only if each case determines at least this fraction of the
/// unknown facts.
const MIN_SHARE: usize = 8;
/// Limit on the number of nodes visited for case splits.
const MOST_WORK: usize = 4_000_000;
/// Values that are copied in the time of a visit.
const COPIED: usize = 32;

/// Values of some facts.
#[derive(Clone)]
pub(super) struct Cube {
    values: Vec<Option<bool>>,
    /// Facts whose value is known, in the order in which it became known.
    known: Vec<usize>,
    /// Conjunctions that are known to be false.
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

    /// Adds a literal and its immediate consequences; none if it contradicts the
    /// cube.
    pub fn assume(&mut self, network: &Network, links: &Links, literal: Literal) -> Option<()> {
        let mut pending = vec![literal];
        while let Some(literal) = pending.pop() {
            match network.node(literal.node()) {
                Node::False if !literal.is_negated() => return None,
                Node::Input(fact) if fact < self.values.len() => {
                    self.set(links, fact, !literal.is_negated())?;
                }
                Node::And(operands) if !literal.is_negated() => pending.extend(operands),
                Node::And(_) => self.open.push(literal.node()),
                _ => {}
            }
        }
        Some(())
    }

    fn set(&mut self, links: &Links, fact: usize, value: bool) -> Option<()> {
        let mut pending = vec![(fact, value)];
        while let Some((fact, value)) = pending.pop() {
            match self.values[fact] {
                Some(known) if known == value => continue,
                Some(_) => return None,
                None => self.values[fact] = Some(value),
            }
            self.known.push(fact);
            let equal = links.equal[fact].iter();
            pending.extend(equal.map(|&(other, negated)| (other, value != negated)));
            for &group in &links.groups[fact] {
                let group = &links.net.exclusive()[group];
                let others = group.facts.iter().filter(|&&other| other != fact);
                if value {
                    pending.extend(others.map(|&other| (other, false)));
                } else if group.exact {
                    let mut may = others.filter(|&&other| self.values[other] != Some(false));
                    match (may.next(), may.next()) {
                        (None, _) => return None,
                        (Some(&one), None) => pending.push((one, true)),
                        _ => {}
                    }
                }
            }
        }
        Some(())
    }

    /// Propagates through the conjunctions that are false until nothing more
    /// follows; none on a contradiction.
    fn propagate(&mut self, cone: &Cone<'_>) -> Option<()> {
        loop {
            let before = self.known.len();
            let values = cone.values(self);
            for node in std::mem::take(&mut self.open) {
                let mut left = Vec::new();
                let mut is_false = false;
                for &operand in cone.network.reads(node) {
                    match cone.value(&values, operand) {
                        Some(true) => {}
                        Some(false) => is_false = true,
                        None => left.push(operand),
                    }
                }
                match left.as_slice() {
                    _ if is_false => {}
                    [] => return None,
                    [one] => self.assume(cone.network, cone.links, !*one)?,
                    _ => self.open.push(node),
                }
            }
            if self.known.len() == before || cone.is_spent() {
                return Some(());
            }
        }
    }
}

/// The cone of a literal, for repeated evaluation.
struct Cone<'n> {
    network: &'n Network,
    links: &'n Links<'n>,
    /// The nodes of the cone, ascending.
    cone: Vec<usize>,
    /// By node: its position in the cone.
    places: FxHashMap<usize, usize>,
    /// Number of nodes that may still be visited.
    work: Cell<usize>,
    stop: &'n Stop,
}

impl<'n> Cone<'n> {
    fn new(
        (network, literal): (&'n Network, Literal),
        links: &'n Links<'n>,
        stop: &'n Stop,
    ) -> Self {
        let live = live(network, [literal]);
        let cone: Vec<usize> = (0..network.len()).filter(|&node| live[node]).collect();
        let places = cone.iter().enumerate().map(|(place, &node)| (node, place));
        Cone {
            network,
            links,
            places: places.collect(),
            cone,
            work: Cell::new(MOST_WORK),
            stop,
        }
    }

    fn is_spent(&self) -> bool {
        self.work.get() == 0 || self.stop.is_over()
    }

    /// By position: the value of a node, where it follows gate by gate. Cycles are
    /// not evaluated.
    fn values(&self, cube: &Cube) -> Vec<Option<bool>> {
        self.work.set(
            self.work
                .get()
                .saturating_sub(self.cone.len() + cube.values.len() / COPIED),
        );
        let mut values = vec![None; self.cone.len()];
        for (place, &node) in self.cone.iter().enumerate() {
            values[place] = match self.network.node(node) {
                Node::False => Some(false),
                Node::Input(fact) => cube.values.get(fact).copied().flatten(),
                Node::Feedback(_) => None,
                Node::And(operands) => {
                    let mut all = Some(true);
                    for &operand in operands {
                        match self.value(&values, operand) {
                            Some(true) => {}
                            Some(false) => {
                                all = Some(false);
                                break;
                            }
                            None => all = None,
                        }
                    }
                    all
                }
                Node::Xor(a, b) => match (self.value(&values, a), self.value(&values, b)) {
                    (Some(a), Some(b)) => Some(a != b),
                    _ => None,
                },
            };
        }
        values
    }

    fn value(&self, values: &[Option<bool>], literal: Literal) -> Option<bool> {
        values[self.places[&literal.node()]].map(|value| value != literal.is_negated())
    }
}

/// Cubes that cover a literal of a network: in each state in which it holds, one of them does. After a
/// stop, they are not split any further.
pub(super) fn cubes(
    (network, literal): (&Network, Literal),
    links: &Links,
    most: usize,
    stop: &Stop,
) -> Vec<Cube> {
    let cone = Cone::new((network, literal), links, stop);
    let mut first = Cube::new(links.groups.len());
    let held = first.assume(network, links, literal);
    if held.and_then(|()| first.propagate(&cone)).is_none() {
        return Vec::new();
    }
    let mut done = Vec::new();
    let mut open = vec![first];
    while let Some(cube) = open.pop() {
        let room = most.saturating_sub(done.len() + open.len());
        match best_split(&cone, &cube, room) {
            Some((node, branches)) => {
                open.extend(branches.into_iter().map(|mut branch| {
                    branch.open.retain(|&other| other != node);
                    branch
                }));
            }
            None => done.push(cube),
        }
    }
    done
}

/// The false conjunction whose case split determines most in every case, if that is
/// a large enough share of the unknown facts.
fn best_split(cone: &Cone<'_>, cube: &Cube, room: usize) -> Option<(usize, Vec<Cube>)> {
    let unknown = cube.values.len() - cube.known.len();
    let values = cone.values(cube);
    let mut best: Option<(usize, usize, Vec<Cube>)> = None;
    for &node in &cube.open {
        let operands = cone.network.reads(node).iter().copied();
        let operands: Vec<Literal> = operands
            .filter(|&operand| cone.value(&values, operand).is_none())
            .collect();
        if operands.len() > room {
            continue;
        }
        if cone.is_spent() {
            return None;
        }
        let case = |&operand: &Literal| {
            let mut case = cube.clone();
            case.assume(cone.network, cone.links, !operand)?;
            case.propagate(cone)?;
            Some(case)
        };
        let cases: Vec<Cube> = operands.iter().filter_map(case).collect();
        let learned = |case: &Cube| case.known.len() - cube.known.len();
        let least = cases.iter().map(learned).min().unwrap_or(usize::MAX);
        let enough = best.as_ref().map_or(unknown / MIN_SHARE, |best| best.0);
        if least > enough {
            best = Some((least, node, cases));
        }
    }
    best.map(|(_, node, cases)| (node, cases))
}
