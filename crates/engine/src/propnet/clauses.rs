//! Conversion of a network to clauses for a SAT solver.
//!
//! In: literals of a network, requested one by one. Out: a solver with clauses for
//! the nodes that these depend on. Cycles may have any fixpoint of their
//! definitions, not only the least one. So UNSAT is sound, but a model may not be a
//! real state.
//!
//! Source: Tseitin, On the complexity of derivation in propositional calculus
//! (1968).

use ggp_stop::Stop;

use crate::sat::{SatSolver, Solver};
use crate::threads::drop_aside;

use super::Propnet;
use super::network::{Literal, Network, Node, Region, read};

/// A solver and its number of variables. Variables and their negations are nonzero
/// numbers, as in DIMACS.
#[doc(hidden)]
pub struct Clauses {
    solver: Solver,
    variables: i32,
    written: u64,
    clauses: u64,
    stop: Option<Stop>,
    /// True if clauses were left out after the stop.
    is_stopped: bool,
}

/// Clauses between two looks at the stop.
const CLAUSES_PER_CHECK: u64 = 256;

const BYTES_OF_VARIABLE: u64 = 300;
const BYTES_OF_CLAUSE: u64 = 90;
/// The bytes of a solver that takes so long to drop that one would notice.
const LARGE: u64 = 1 << 26;

impl Drop for Clauses {
    fn drop(&mut self) {
        if self.memory() > LARGE {
            drop_aside(std::mem::replace(&mut self.solver, Solver::new()));
        }
    }
}

impl Default for Clauses {
    fn default() -> Self {
        Self::new()
    }
}

impl Clauses {
    /// A solver with one variable, which is true.
    pub fn new() -> Self {
        Self::with(Solver::new())
    }

    /// A solver as from [`Clauses::new`], without preprocessing, for many short
    /// queries.
    pub fn for_short_questions() -> Self {
        Self::with(Solver::for_short_questions())
    }

    fn with(solver: Solver) -> Self {
        let mut clauses = Clauses {
            solver,
            variables: 0,
            written: 0,
            clauses: 0,
            stop: None,
            is_stopped: false,
        };
        let yes = clauses.variable();
        clauses.add(&[yes]);
        clauses
    }

    /// A solver as from [`Clauses::new`] whose queries end with `stop`.
    pub fn until(stop: &Stop) -> Self {
        let mut clauses = Clauses::new();
        clauses.set_stop(stop);
        clauses
    }

    /// Sets the end of all later queries. Clauses added after a stop are left out; all
    /// queries are undecided then.
    pub fn set_stop(&mut self, stop: &Stop) {
        self.solver.set_stop(stop.clone());
        self.stop = Some(stop.clone());
    }

    /// The approximate number of bytes used.
    pub fn memory(&self) -> u64 {
        // A variable has values, watches and scores. A clause has a head, two watches and
        // the numbers of its literals.
        let variables = u64::from(self.variables.unsigned_abs());
        BYTES_OF_VARIABLE * variables + BYTES_OF_CLAUSE * self.clauses + 4 * self.written
    }

    /// The literal that is always true.
    pub fn yes(&self) -> i32 {
        1
    }

    /// A new variable.
    pub fn variable(&mut self) -> i32 {
        self.variables += 1;
        self.variables
    }

    /// Adds a clause: at least one of these literals is true.
    pub fn add(&mut self, clause: &[i32]) {
        self.written += clause.len() as u64 + 1;
        self.clauses += 1;
        if self.clauses.is_multiple_of(CLAUSES_PER_CHECK)
            && self.stop.as_ref().is_some_and(Stop::is_over)
        {
            self.is_stopped = true;
        }
        if !self.is_stopped {
            self.solver.add(clause);
        }
    }

    /// A variable that is equivalent to the disjunction of these literals.
    pub fn any(&mut self, of: &[i32]) -> i32 {
        let any = self.variable();
        for &one in of {
            self.add(&[any, -one]);
        }
        let mut clause = of.to_vec();
        clause.push(-any);
        self.add(&clause);
        any
    }

    /// Variables for "at least one of these is true" and "at least two are".
    pub fn one_and_two(&mut self, of: &[i32]) -> (i32, i32) {
        let (mut one, mut two) = (-self.yes(), Vec::new());
        for &next in of {
            let both = self.variable();
            self.add(&[-both, one]);
            self.add(&[-both, next]);
            self.add(&[both, -one, -next]);
            two.push(both);
            one = self.any(&[one, next]);
        }
        (one, self.any(&two))
    }

    /// True if the clauses are satisfiable under the assumptions; `None` if that is
    /// not decided within `conflicts` conflicts. A negative number means no limit.
    pub fn solve(&mut self, assumptions: &[i32], conflicts: i32) -> Option<bool> {
        if self.is_stopped {
            return None;
        }
        self.solver
            .solve(assumptions, u32::try_from(conflicts).ok())
    }

    /// True if the last refutation used this assumption.
    pub fn is_needed(&self, assumption: i32) -> bool {
        self.solver.is_needed(assumption)
    }

    /// The value of a literal in the last model.
    pub fn holds(&self, literal: i32) -> bool {
        self.solver.holds(literal)
    }
}

/// The maximum number of clauses derived from one model.
const MOST_LOOPS: usize = 64;

/// The variables of a network's nodes.
#[doc(hidden)]
pub struct Frame<'n> {
    network: &'n Network,
    /// By node: its variable, or 0.
    variables: Vec<i32>,
    /// Scratch.
    clause: Vec<i32>,
}

impl<'n> Frame<'n> {
    /// A frame for a network whose inputs are these variables.
    pub fn new(network: &'n Network, inputs: &[i32], clauses: &Clauses) -> Self {
        let mut variables = vec![0; network.len()];
        variables[0] = -clauses.yes();
        for (number, &input) in inputs.iter().enumerate() {
            variables[network.input(number).node()] = input;
        }
        Frame {
            network,
            variables,
            clause: Vec::new(),
        }
    }

    /// Adds what is known of every reachable state of a propositional network, whose gates rely on
    /// it: facts that are equal to others, and facts that exclude each other.
    pub fn add_known(&mut self, net: &Propnet, clauses: &mut Clauses) {
        let input = |fact| net.network().input(net.fact_input(fact));
        for &(fact, equal) in net.assumed() {
            let fact = self.literal(input(fact), clauses);
            let equal = self.literal(equal, clauses);
            clauses.add(&[-fact, equal]);
            clauses.add(&[fact, -equal]);
        }
        for group in net.exclusive() {
            let facts = group
                .facts
                .iter()
                .map(|&fact| self.literal(input(fact), clauses));
            let facts: Vec<i32> = facts.collect();
            let (one, two) = clauses.one_and_two(&facts);
            clauses.add(&[-two]);
            if group.exact {
                clauses.add(&[one]);
            }
        }
    }

    /// The variable of a literal's node, negated if the literal is.
    pub fn literal(&mut self, literal: Literal, clauses: &mut Clauses) -> i32 {
        self.define(literal.node(), clauses);
        self.known(literal)
    }

    /// Loop formulas: clauses that the least fixpoint satisfies and the last model
    /// violates, if the model makes cycle nodes true without support from the
    /// inputs. `values` are the values of all nodes in the least fixpoint, in lane
    /// 0.
    ///
    /// A node that is true only because of itself is false in the least fixpoint.
    /// So as long as none of its external supports changes, it cannot be true.
    ///
    /// Source: loop formulas, as in Lin and Zhao, ASSAT: computing answer sets of a
    /// logic program by SAT solvers (2004).
    pub fn loops(&self, values: &[u64], clauses: &Clauses) -> Vec<Vec<i32>> {
        let mut loops = Vec::new();
        for region in self.network.regions() {
            let is_unfounded = |&node: &usize| {
                matches!(self.network.node(node), Node::Feedback(_))
                    && self.variables[node] != 0
                    && values[node] & 1 == 0
                    && clauses.holds(self.variables[node])
            };
            let unfounded = region.nodes.clone().filter(is_unfounded);
            for node in unfounded.take(MOST_LOOPS) {
                let mut clause = self.supports(region, node, values, clauses.yes());
                clause.push(-self.variables[node]);
                loops.push(clause);
            }
            // Later regions that depend on this one may be wrong because of it.
            if !loops.is_empty() {
                break;
            }
        }
        loops
    }

    /// External literals of a cycle, all false. As long as they are, a false
    /// feedback remains false.
    fn supports(&self, region: &Region, feedback: usize, values: &[u64], yes: i32) -> Vec<i32> {
        let inside = |literal: Literal| region.nodes.contains(&literal.node());
        let is_false = |literal: Literal| read(literal, values) & 1 == 0;
        let mut supports = Vec::new();
        let mut seen = vec![false; 2 * region.nodes.len()];
        let mut open = vec![Literal::of(feedback)];
        while let Some(literal) = open.pop() {
            // Constants are false for all inputs; their operands may have no variables.
            if self.known(literal) == -yes {
                continue;
            }
            if !inside(literal) {
                supports.push(self.known(literal));
                continue;
            }
            let place = 2 * (literal.node() - region.nodes.start);
            if std::mem::replace(&mut seen[place + usize::from(literal.is_negated())], true) {
                continue;
            }
            match (self.network.node(literal.node()), literal.is_negated()) {
                (Node::Feedback(number), false) => {
                    open.push(region.definitions[number - region.feedbacks.start]);
                }
                // One false operand is sufficient; an external one ends the search.
                (Node::And(operands), false) => {
                    let operands = operands.iter().filter(|&&operand| is_false(operand));
                    let least = operands.min_by_key(|&&operand| inside(operand));
                    open.push(*least.expect("a gate is false for a reason"));
                }
                (Node::And(operands), true) => open.extend(operands.iter().map(|&one| !one)),
                // Not monotone, so not part of the cycle itself.
                _ => supports.push(self.known(literal)),
            }
        }
        supports.sort_unstable();
        supports.dedup();
        supports
    }

    fn known(&self, literal: Literal) -> i32 {
        let variable = self.variables[literal.node()];
        if literal.is_negated() {
            -variable
        } else {
            variable
        }
    }

    fn define(&mut self, node: usize, clauses: &mut Clauses) {
        let mut open = vec![node];
        // Feedbacks get variables before their definitions do.
        let mut later: Vec<(usize, Literal)> = Vec::new();
        while let Some(node) = open.pop() {
            if self.variables[node] == 0 {
                self.visit(node, &mut open, &mut later, clauses);
            }
            if open.is_empty() {
                while let Some((feedback, definition)) = later.pop() {
                    if self.variables[definition.node()] == 0 {
                        later.push((feedback, definition));
                        open.push(definition.node());
                        break;
                    }
                    let (feedback, definition) = (self.variables[feedback], self.known(definition));
                    clauses.add(&[feedback, -definition]);
                    clauses.add(&[-feedback, definition]);
                }
            }
        }
    }

    /// Makes a node's variable if its operands have theirs; otherwise pushes the
    /// operands. A node that is constant, or equal to one of its operands, has no variable of its
    /// own.
    fn visit(
        &mut self,
        node: usize,
        open: &mut Vec<usize>,
        later: &mut Vec<(usize, Literal)>,
        clauses: &mut Clauses,
    ) {
        let (yes, network) = (clauses.yes(), self.network);
        // One false operand is sufficient, whatever the others are.
        if let Node::And(operands) = network.node(node)
            && operands.iter().any(|&operand| self.known(operand) == -yes)
        {
            self.variables[node] = -yes;
            return;
        }
        let before = open.len();
        open.push(node);
        let missing = network.reads(node).iter().map(|read| read.node());
        open.extend(missing.filter(|&read| self.variables[read] == 0));
        if open.len() > before + 1 {
            return;
        }
        open.pop();
        self.variables[node] = match network.node(node) {
            Node::And(operands) => {
                let mut clause = std::mem::take(&mut self.clause);
                clause.clear();
                clause.extend(operands.iter().map(|&operand| -self.known(operand)));
                clause.retain(|&operand| operand != -yes);
                let variable = match clause[..] {
                    [] => yes,
                    [only] => -only,
                    _ => {
                        let variable = clauses.variable();
                        for &operand in &clause {
                            clauses.add(&[-variable, -operand]);
                        }
                        clause.push(variable);
                        clauses.add(&clause);
                        variable
                    }
                };
                self.clause = clause;
                variable
            }
            Node::Xor(a, b) => match (self.known(a), self.known(b)) {
                (a, b) | (b, a) if a.abs() == yes => -a * b,
                (a, b) => {
                    let variable = clauses.variable();
                    clauses.add(&[-variable, a, b]);
                    clauses.add(&[-variable, -a, -b]);
                    clauses.add(&[variable, -a, b]);
                    clauses.add(&[variable, a, -b]);
                    variable
                }
            },
            Node::Feedback(number) => {
                let regions = self.network.regions();
                let region = regions.partition_point(|region| region.feedbacks.end <= number);
                let region = &regions[region];
                later.push((node, region.definitions[number - region.feedbacks.start]));
                clauses.variable()
            }
            Node::False | Node::Input(_) => unreachable!("these have variables"),
        };
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::network::tests::random_network;
    use super::*;

    #[test]
    fn models_are_values_of_the_network() {
        for seed in 0..100 {
            let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
            let (network, roots) = random_network(8, 60, &mut random);
            let acyclic = network.regions().is_empty();
            let mut clauses = Clauses::new();
            let inputs: Vec<i32> = (0..8).map(|_| clauses.variable()).collect();
            let mut frame = Frame::new(&network, &inputs, &clauses);
            let roots: Vec<(Literal, i32)> = roots
                .iter()
                .map(|&root| (root, frame.literal(root, &mut clauses)))
                .collect();
            let bits: u64 = random.random();
            let words: Vec<u64> = (0..8).map(|input| bits >> input & 1).collect();
            let values = network.evaluate(&words);
            let given: Vec<i32> = inputs
                .iter()
                .zip(&words)
                .map(|(&input, &word)| if word == 1 { input } else { -input })
                .collect();
            let wrong: Vec<i32> = roots
                .iter()
                .map(|&(root, variable)| match read(root, &values) & 1 {
                    1 => -variable,
                    _ => variable,
                })
                .collect();
            // The least fixpoint is one of the models; without cycles, the only one.
            let mut right = given.clone();
            right.extend(wrong.iter().map(|variable| -variable));
            assert_eq!(clauses.solve(&right, -1), Some(true), "seed {seed}");
            if acyclic {
                let wrong = clauses.any(&wrong);
                let mut given = given.clone();
                given.push(wrong);
                assert_eq!(clauses.solve(&given, -1), Some(false), "seed {seed}");
                // What depends on constants alone is constant.
                let yes = clauses.yes();
                let signed = |word: u64| if word == 1 { yes } else { -yes };
                let constants: Vec<i32> = words.iter().map(|&word| signed(word)).collect();
                let mut frame = Frame::new(&network, &constants, &clauses);
                for &(root, _) in &roots {
                    let expected = signed(read(root, &values) & 1);
                    assert_eq!(frame.literal(root, &mut clauses), expected, "seed {seed}");
                }
                // With half of them, literals have the same values.
                let half = [&constants[..4], &inputs[4..]].concat();
                let mut frame = Frame::new(&network, &half, &clauses);
                for &(root, variable) in &roots {
                    let other = frame.literal(root, &mut clauses);
                    let start = given.len() - 1;
                    for (one, other) in [(variable, -other), (-variable, other)] {
                        given.truncate(start);
                        given.extend([one, other]);
                        assert_eq!(clauses.solve(&given, -1), Some(false), "seed {seed}");
                    }
                    given.truncate(start + 1);
                }
            }
        }
    }

    #[test]
    fn one_and_two_count() {
        let mut clauses = Clauses::new();
        let of: Vec<i32> = (0..4).map(|_| clauses.variable()).collect();
        let (one, two) = clauses.one_and_two(&of);
        for bits in 0..16u32 {
            let mut given: Vec<i32> = (0..4)
                .map(|bit| {
                    if bits & 1 << bit == 0 {
                        -of[bit]
                    } else {
                        of[bit]
                    }
                })
                .collect();
            given.push(if bits.count_ones() >= 1 { one } else { -one });
            given.push(if bits.count_ones() >= 2 { two } else { -two });
            assert_eq!(clauses.solve(&given, -1), Some(true), "{bits}");
            let last = given.len() - 1;
            given[last] = -given[last];
            assert_eq!(clauses.solve(&given, -1), Some(false), "{bits}");
        }
    }
}
