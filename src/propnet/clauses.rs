//! A network for a SAT solver.
//!
//! In: literals of a network, asked for one by one. Out: a solver that knows
//! what they depend on, and nothing else. A cycle is any fixpoint of its
//! definitions, not only the least: what is refuted then is refuted, a model may
//! be none.
//!
//! Source: Tseitin, On the complexity of derivation in propositional calculus
//! (1968); CaDiCaL by Biere et al.

use super::network::{Literal, Network, Node};

/// A solver and the variables it has given away. Variables and their negations
/// are numbers other than 0, as in DIMACS.
pub(super) struct Clauses {
    solver: cadical::Solver,
    variables: i32,
}

impl Clauses {
    /// No variables but one that is true.
    pub fn new() -> Self {
        Self::with(cadical::Solver::new())
    }

    /// As [`Clauses::new`], without time spent on making long searches short.
    pub fn for_short_questions() -> Self {
        let solver = cadical::Solver::with_config("plain");
        Self::with(solver.expect("the solver knows this configuration"))
    }

    fn with(solver: cadical::Solver) -> Self {
        let mut clauses = Clauses {
            solver,
            variables: 0,
        };
        let yes = clauses.variable();
        clauses.add(&[yes]);
        clauses
    }

    /// True.
    pub fn yes(&self) -> i32 {
        1
    }

    /// A new variable.
    pub fn variable(&mut self) -> i32 {
        self.variables += 1;
        self.variables
    }

    /// One of these holds.
    pub fn add(&mut self, clause: &[i32]) {
        self.solver.add_clause(clause.iter().copied());
    }

    /// A variable that holds if any of these does, and only then.
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

    /// Whether one of these holds at least, and whether two do.
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

    /// Whether all clauses can hold with these assumptions; None if that was not
    /// found out within so many conflicts; less than none is no limit.
    pub fn solve(&mut self, assumptions: &[i32], conflicts: i32) -> Option<bool> {
        self.solver
            .set_limit("conflicts", conflicts)
            .expect("the solver knows this limit");
        self.solver.solve_with(assumptions.iter().copied())
    }

    /// A variable's value in the model found.
    pub fn holds(&self, variable: i32) -> bool {
        self.solver.value(variable) == Some(true)
    }
}

/// A network's nodes as variables.
pub(super) struct Frame<'n> {
    network: &'n Network,
    /// By node: its variable, 0 if there is none yet.
    variables: Vec<i32>,
}

impl<'n> Frame<'n> {
    /// A network whose inputs are these variables.
    pub fn new(network: &'n Network, inputs: &[i32], clauses: &Clauses) -> Self {
        let mut variables = vec![0; network.len()];
        variables[0] = -clauses.yes();
        for (number, &input) in inputs.iter().enumerate() {
            variables[network.input(number).node()] = input;
        }
        Frame { network, variables }
    }

    /// A literal's variable, or its negation.
    pub fn literal(&mut self, literal: Literal, clauses: &mut Clauses) -> i32 {
        self.define(literal.node(), clauses);
        self.known(literal)
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
        // Feedbacks have variables before their definitions do.
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

    /// Makes a node's variable if its operands have theirs, else opens these.
    fn visit(
        &mut self,
        node: usize,
        open: &mut Vec<usize>,
        later: &mut Vec<(usize, Literal)>,
        clauses: &mut Clauses,
    ) {
        let missing = self.network.reads(node).iter().map(|read| read.node());
        let missing: Vec<usize> = missing.filter(|&read| self.variables[read] == 0).collect();
        if !missing.is_empty() {
            open.push(node);
            open.extend(missing);
            return;
        }
        let variable = clauses.variable();
        self.variables[node] = variable;
        match self.network.node(node) {
            Node::And(operands) => {
                let mut clause = vec![variable];
                for &operand in operands {
                    let operand = self.known(operand);
                    clauses.add(&[-variable, operand]);
                    clause.push(-operand);
                }
                clauses.add(&clause);
            }
            Node::Xor(a, b) => {
                let (a, b) = (self.known(a), self.known(b));
                clauses.add(&[-variable, a, b]);
                clauses.add(&[-variable, -a, -b]);
                clauses.add(&[variable, -a, b]);
                clauses.add(&[variable, a, -b]);
            }
            Node::Feedback(number) => {
                let regions = self.network.regions();
                let region = regions.partition_point(|region| region.feedbacks.end <= number);
                let region = &regions[region];
                later.push((node, region.definitions[number - region.feedbacks.start]));
            }
            Node::False | Node::Input(_) => unreachable!("these have variables"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::network::read;
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
            // The least fixpoint is one of the models, without cycles the only one.
            let mut right = given.clone();
            right.extend(wrong.iter().map(|variable| -variable));
            assert_eq!(clauses.solve(&right, -1), Some(true), "seed {seed}");
            if acyclic {
                let wrong = clauses.any(&wrong);
                let mut given = given.clone();
                given.push(wrong);
                assert_eq!(clauses.solve(&given, -1), Some(false), "seed {seed}");
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
