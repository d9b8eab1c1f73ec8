//! Ground rules as gates.
//!
//! In: a program, and facts with known values or equal to other facts. Out: a network
//! whose inputs are the facts, the moves, and the values that mutually dependent atoms read
//! of each other, which stay open.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Input, Program};
use ggp_engine::propnet::network::{Builder, Literal, Network};

/// The known value of a node.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Known(bool),
    /// The value of a fact, or of its negation.
    Fact(usize, bool),
    Open,
}

impl Value {
    pub fn negated_if(self, negate: bool) -> Value {
        match self {
            Value::Known(value) => Value::Known(value != negate),
            Value::Fact(fact, negated) => Value::Fact(fact, negated != negate),
            Value::Open => Value::Open,
        }
    }
}

/// The value of each fact according to clauses of one or two facts.
pub(crate) fn stands(count: usize, clauses: &[Vec<(Option<usize>, bool)>]) -> Vec<Value> {
    let mut stands: Vec<Value> = (0..count).map(|fact| Value::Fact(fact, false)).collect();
    let root = |stands: &[Value], mut fact: usize, mut negated: bool| {
        while let Value::Fact(other, other_negated) = stands[fact]
            && other != fact
        {
            (fact, negated) = (other, negated != other_negated);
        }
        (fact, negated)
    };
    let pairs: FxHashSet<&[(Option<usize>, bool)]> = clauses.iter().map(Vec::as_slice).collect();
    for clause in clauses {
        // a or b, and not a or not b
        if let [(Some(one), value), (Some(other), other_value)] = clause[..]
            && pairs.contains(&[(Some(one), !value), (Some(other), !other_value)][..])
        {
            let (one, one_negated) = root(&stands, one, false);
            let (other, other_negated) = root(&stands, other, value == other_value);
            let negated = one_negated != other_negated;
            match one.cmp(&other) {
                Ordering::Less => stands[other] = Value::Fact(one, negated),
                Ordering::Greater => stands[one] = Value::Fact(other, negated),
                Ordering::Equal => {}
            }
        }
    }
    for clause in clauses {
        if let [(Some(fact), value)] = clause[..] {
            let (fact, negated) = root(&stands, fact, false);
            stands[fact] = Value::Known(value != negated);
        }
    }
    stands
}

/// Ground rules as gates.
pub(crate) struct Gates<'p> {
    program: &'p Program,
    stands: &'p [Value],
    builder: Builder,
    /// The literal of each atom, once it was made.
    made: Vec<Option<Literal>>,
    /// For atoms that depend on themselves: the loop, and the input that the loop's atoms
    /// read.
    open: FxHashMap<u32, (usize, Literal)>,
}

impl<'p> Gates<'p> {
    pub fn new(program: &'p Program, stands: &'p [Value]) -> Self {
        let mut builder = Builder::new(program.facts.len() + program.moves.len());
        let mut open = FxHashMap::default();
        for (number, atoms) in program.loops.iter().enumerate() {
            for &atom in atoms {
                open.insert(atom, (number, builder.add_input()));
            }
        }
        Gates {
            program,
            stands,
            builder,
            made: vec![None; program.inputs.len()],
            open,
        }
    }

    /// The literal that an atom reads, if it was made.
    fn read(&self, by: u32, literal: i32) -> Option<Literal> {
        let atom = literal.unsigned_abs() - 1;
        let read = match (self.open.get(&by), self.open.get(&atom)) {
            (Some((own, _)), Some(&(other, open))) if *own == other => Some(open),
            _ => self.made[atom as usize],
        };
        read.map(|read| read.negated_if(literal < 0))
    }

    pub fn into_network(self) -> Network {
        self.builder.into_network()
    }

    /// Makes the literal of an atom, after those of the atoms that it depends on.
    pub fn atom(&mut self, atom: u32) -> Literal {
        let mut open = vec![atom];
        while let Some(&atom) = open.last() {
            if self.made[atom as usize].is_none() {
                let missing = self.missing(atom);
                if !missing.is_empty() {
                    open.extend(missing);
                    continue;
                }
                self.made[atom as usize] = Some(self.make(atom));
            }
            open.pop();
        }
        self.made[atom as usize].expect("it was made")
    }

    fn missing(&self, atom: u32) -> Vec<u32> {
        let literals = (self.program.rules(atom)).flat_map(|rule| self.program.body(rule));
        let missing = literals.filter(|&&literal| self.read(atom, literal).is_none());
        missing.map(|literal| literal.unsigned_abs() - 1).collect()
    }

    fn make(&mut self, atom: u32) -> Literal {
        let program = self.program;
        match program.inputs[atom as usize] {
            Input::Fact(fact) => self.fact(fact as usize),
            Input::Move(chosen) => self.builder.input(program.facts.len() + chosen as usize),
            Input::None => {
                let mut any = Vec::new();
                for rule in program.rules(atom) {
                    let all: Vec<Literal> = (program.body(rule).iter())
                        .map(|&literal| self.read(atom, literal).expect("it comes first"))
                        .collect();
                    any.push(self.builder.and(&all));
                }
                self.builder.or(&any)
            }
        }
    }

    fn fact(&self, fact: usize) -> Literal {
        match self.stands[fact] {
            Value::Known(value) => Literal::FALSE.negated_if(value),
            Value::Fact(other, negated) if other != fact => self.fact(other).negated_if(negated),
            _ => self.builder.input(fact),
        }
    }
}
