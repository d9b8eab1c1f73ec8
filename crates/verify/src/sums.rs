//! Weighted sums of facts that moves keep, or do not make larger.
//!
//! For each move, the ground rules are evaluated as gates, together with the facts that its
//! legality implies. A node is true, false, equal to a fact or its negation, or open. The
//! change of a sum is then a sum over the unknown facts, and its bounds are computed fact by
//! fact, or group by group where facts exclude each other. Mutually dependent atoms stay
//! open.

mod flips;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::doubt::Doubt;
use crate::gates::{Gates, Value, stands};
use crate::invariant::Invariant;
use crate::program::Program;
use crate::{Failure, Question};
use ggp_engine::propnet::network::{Literal, Network, Node};
use ggp_gdl::terms::TermId;

/// The most cases of the end that are distinguished.
const MOST_CASES: usize = 64;
/// The greatest depth of gates that are examined for cases.
const MOST_DEPTH: usize = 64;

/// The known value of each fact.
type Facts = Vec<Option<bool>>;

/// A sum of a constant, of facts times weights, and of optional numbers.
#[derive(Default)]
struct Sum {
    known: i64,
    facts: BTreeMap<usize, i64>,
    open: Vec<i64>,
}

impl Sum {
    fn add(&mut self, value: Value, times: i64) {
        match value {
            Value::Known(value) => self.known += i64::from(value) * times,
            Value::Fact(fact, negated) => {
                self.known += i64::from(negated) * times;
                *self.facts.entry(fact).or_default() += if negated { -times } else { times };
            }
            Value::Open => self.open.push(times),
        }
    }
}

/// The possible values of a sum: a constant plus one number of each list.
struct Range {
    known: i64,
    options: Vec<Vec<i64>>,
}

impl Range {
    fn most(&self) -> i64 {
        self.known
            + self
                .options
                .iter()
                .flat_map(|list| list.iter().max())
                .sum::<i64>()
    }

    fn least(&self) -> i64 {
        self.known
            + self
                .options
                .iter()
                .flat_map(|list| list.iter().min())
                .sum::<i64>()
    }

    /// Whether the sum is odd; `None` if both are possible.
    fn is_odd(&self) -> Option<bool> {
        let mut sum = self.known;
        for list in &self.options {
            if list.iter().any(|number| (number - list[0]) % 2 != 0) {
                return None;
            }
            sum += list[0];
        }
        Some(sum % 2 != 0)
    }
}

/// A group of facts of which no two hold together.
struct Group {
    facts: Vec<usize>,
    /// Whether one of them always holds.
    exact: bool,
}

/// A program as gates, its first state, and the known facts of solutions. The inputs are the
/// facts, the moves, and the open values.
pub(crate) struct Sums<'q> {
    question: &'q Question<'q>,
    program: &'q Program,
    network: Network,
    next: Vec<Literal>,
    legal: Vec<Literal>,
    exclusive: Vec<Group>,
    by_term: FxHashMap<TermId, usize>,
    /// The value of each fact in every state; the fact itself if nothing is known.
    stands: Vec<Value>,
    /// The groups of each fact.
    groups: Vec<Vec<usize>>,
    /// The cases of solutions: each solution belongs to one.
    solutions: Vec<Facts>,
}

impl<'q> Sums<'q> {
    /// The gates of a program with an invariant that was checked.
    pub fn new(question: &'q Question<'q>, program: &'q Program, known: &Invariant) -> Sums<'q> {
        let count = program.facts.len();
        let facts = program.facts.iter().enumerate();
        let by_term = facts.map(|(number, fact)| (fact.term, number)).collect();
        let stands = stands(count, &known.clauses);
        let exclusive: Vec<Group> = (known.exclusive.iter())
            .map(|group| Group {
                exact: known
                    .clauses
                    .iter()
                    .any(|clause| clause.iter().all(|one| one.1 && group.contains(one))),
                facts: group.iter().filter_map(|one| one.0).collect(),
            })
            .collect();
        let mut groups = vec![Vec::new(); count];
        for (number, group) in exclusive.iter().enumerate() {
            group
                .facts
                .iter()
                .for_each(|&fact| groups[fact].push(number));
        }
        let mut gates = Gates::new(program, &stands);
        let next = program.facts.iter();
        let next = next.map(|fact| fact.next.map_or(Literal::FALSE, |atom| gates.atom(atom)));
        let next = next.collect();
        let legal = program
            .moves
            .iter()
            .map(|chosen| gates.atom(chosen.legal))
            .collect();
        let over = program
            .terminal
            .map_or(Literal::FALSE, |atom| gates.atom(atom));
        let enough: Vec<Literal> = (question.enough(program).into_iter())
            .map(|atom| gates.atom(atom))
            .collect();
        let mut sums = Sums {
            question,
            program,
            network: gates.into_network(),
            next,
            legal,
            exclusive,
            by_term,
            stands,
            groups,
            solutions: Vec::new(),
        };
        for due in enough {
            let cases = sums
                .all(&[over, due], 0)
                .unwrap_or_else(|| vec![Vec::new()]);
            for case in cases {
                let mut facts = vec![None; count];
                if sums.learn(&mut facts, &case) {
                    sums.solutions.push(facts);
                }
            }
        }
        sums
    }

    /// Checks that no move makes a sum larger, and that it is smaller at the start than in
    /// every solution.
    pub fn potential(
        &self,
        weights: &[(String, i64)],
        doubt: &mut Doubt<'_, '_>,
    ) -> Result<(), Failure> {
        let weights = self.weights(weights)?;
        self.never_grows(&weights, doubt)?;
        let start = self.at_start(&weights);
        for facts in &self.solutions {
            if self.state(facts, &weights).least() <= start
                && doubt.may_be(facts, &weights, |sum| sum <= start)?
            {
                let why = format!("a solution may have {start}, as the start does, or less");
                return Err(Failure::Wrong(why));
            }
        }
        Ok(())
    }

    /// Checks that every move keeps the parity of the number of facts that hold, and that the
    /// start and all solutions differ in it.
    pub fn parity(
        &self,
        facts: &[String],
        told: &[Vec<(String, i64)>],
        doubt: &mut Doubt<'_, '_>,
    ) -> Result<(), Failure> {
        let weights: Vec<(String, i64)> = facts.iter().map(|fact| (fact.clone(), 1)).collect();
        let weights = self.weights(&weights)?;
        for chosen in 0..self.legal.len() {
            if let Some(change) = self.change(chosen, &weights)?
                && change.is_odd() != Some(false)
                && doubt.may_change(self.program, chosen, &weights, |sum| sum % 2 != 0)?
            {
                let by = self.text(chosen);
                return Err(Failure::Wrong(format!("{by} may change an odd number")));
            }
        }
        let mut tells = Vec::new();
        for told in told {
            let weights = self.weights(told)?;
            self.never_grows(&weights, doubt)?;
            let start = self.at_start(&weights);
            tells.push((weights, start));
        }
        let start = self.at_start(&weights) % 2 != 0;
        for solution in &self.solutions {
            if let Some(facts) = self.narrowed(solution.clone(), &tells)
                && self.state(&facts, &weights).is_odd() != Some(!start)
                && doubt.may_be(&facts, &weights, |sum| (sum % 2 != 0) == start)?
            {
                return Err(Failure::wrong("a solution may agree with the start"));
            }
        }
        Ok(())
    }

    /// The weight of each fact.
    fn weights(&self, weights: &[(String, i64)]) -> Result<Vec<i64>, Failure> {
        let mut terms = self.question.game.terms().clone();
        terms.refresh();
        let mut known = FxHashSet::default();
        let mut by_fact = vec![0; self.stands.len()];
        for (text, weight) in weights {
            let term = self.question.game.parse_term(&mut terms, text);
            let term = term.map_err(Failure::wrong)?;
            if !known.insert(term) || weight.unsigned_abs() > u64::from(u32::MAX) {
                let why = format!("{text} has no one weight, or a huge one");
                return Err(Failure::Wrong(why));
            }
            // A fact that can never hold adds nothing.
            let Some(&fact) = self.by_term.get(&term) else {
                continue;
            };
            by_fact[fact] = *weight;
        }
        Ok(by_fact)
    }

    fn at_start(&self, weights: &[i64]) -> i64 {
        let facts = self.program.facts.iter().zip(weights);
        let held = facts.filter(|(fact, _)| fact.holds);
        held.map(|(_, weight)| weight).sum()
    }

    fn never_grows(&self, weights: &[i64], doubt: &mut Doubt<'_, '_>) -> Result<(), Failure> {
        for chosen in 0..self.legal.len() {
            if let Some(change) = self.change(chosen, weights)?
                && change.most() > 0
                && doubt.may_change(self.program, chosen, weights, |sum| sum > 0)?
            {
                let (by, most) = (self.text(chosen), change.most());
                return Err(Failure::Wrong(format!("{by} may add {most}")));
            }
        }
        Ok(())
    }

    fn text(&self, chosen: usize) -> String {
        self.question.text(self.program.moves[chosen].term)
    }

    /// The known facts where a move is legal, and the values of nodes when it is made; `None`
    /// if it is never legal.
    fn made(&self, chosen: usize) -> Result<Option<(Facts, Vec<Value>)>, Failure> {
        if self.question.limits.is_over() {
            return Err(Failure::out_of_time());
        }
        let mut known = vec![None; self.stands.len()];
        let implied = self.implied(self.legal[chosen]);
        if !implied.is_some_and(|implied| self.learn(&mut known, &implied)) {
            return Ok(None);
        }
        let values = self.values(&known, chosen);
        Ok(Some((known, values)))
    }

    /// The possible changes of a sum by a legal move; `None` if it is never legal.
    fn change(&self, chosen: usize, weights: &[i64]) -> Result<Option<Range>, Failure> {
        let Some((known, values)) = self.made(chosen)? else {
            return Ok(None);
        };
        let mut sum = Sum::default();
        let weighty = weights
            .iter()
            .enumerate()
            .filter(|&(_, &weight)| weight != 0);
        for (fact, &weight) in weighty {
            let next = self.next[fact];
            sum.add(values[next.node()].negated_if(next.is_negated()), weight);
            sum.add(self.now(fact, &known), -weight);
        }
        Ok(Some(self.range(sum, &known)))
    }

    /// The possible values of a sum where some facts are known.
    fn state(&self, known: &Facts, weights: &[i64]) -> Range {
        let mut sum = Sum::default();
        for (fact, &weight) in weights.iter().enumerate() {
            if weight != 0 {
                sum.add(self.now(fact, known), weight);
            }
        }
        self.range(sum, known)
    }

    fn now(&self, fact: usize, known: &Facts) -> Value {
        match (known[fact], self.stands[fact]) {
            (Some(value), _) => Value::Known(value),
            (None, Value::Fact(other, negated)) if other != fact => {
                self.now(other, known).negated_if(negated)
            }
            (None, value) => value,
        }
    }

    fn range(&self, sum: Sum, known: &Facts) -> Range {
        let mut left = sum.facts;
        left.retain(|_, times| *times != 0);
        let mut range = Range {
            known: sum.known,
            options: sum.open.iter().map(|&number| vec![0, number]).collect(),
        };
        while let Some((fact, times)) = left.pop_first() {
            let mut options = vec![times];
            let mut one_holds = false;
            // Using one of the groups of a fact is sound.
            if let Some(&group) = self.groups[fact].first() {
                let group = &self.exclusive[group];
                one_holds = group.exact;
                for other in group.facts.iter().filter(|&&other| other != fact) {
                    match left.remove(other) {
                        Some(times) => options.push(times),
                        None => one_holds &= known[*other] == Some(false),
                    }
                }
            }
            if !one_holds {
                options.push(0);
            }
            range.options.push(options);
        }
        range
    }

    /// The facts that a literal directly implies; `None` if it never holds.
    fn implied(&self, literal: Literal) -> Option<Vec<(usize, bool)>> {
        let mut implied = Vec::new();
        let mut open = vec![literal];
        while let Some(literal) = open.pop() {
            match self.network.node(literal.node()) {
                Node::False if !literal.is_negated() => return None,
                Node::Input(fact) if fact < self.stands.len() => {
                    implied.push((fact, !literal.is_negated()));
                }
                Node::And(operands) if !literal.is_negated() => open.extend(operands),
                _ => {}
            }
        }
        Some(implied)
    }

    /// Adds known facts and their consequences; returns false on a contradiction.
    fn learn(&self, known: &mut Facts, more: &[(usize, bool)]) -> bool {
        let mut open = more.to_vec();
        loop {
            for (fact, value) in std::mem::take(&mut open) {
                if known[fact]
                    .replace(value)
                    .is_some_and(|before| before != value)
                {
                    return false;
                }
            }
            for (fact, stands) in self.stands.iter().enumerate() {
                match (*stands, known[fact]) {
                    (Value::Known(value), None) => open.push((fact, value)),
                    (Value::Known(value), Some(known)) if value != known => return false,
                    (Value::Fact(other, negated), _) => match (known[fact], known[other]) {
                        (Some(value), None) => open.push((other, value != negated)),
                        (None, Some(value)) => open.push((fact, value != negated)),
                        (Some(one), Some(two)) if one != (two != negated) => return false,
                        _ => {}
                    },
                    _ => {}
                }
            }
            for group in &self.exclusive {
                let with = |value| {
                    let facts = group.facts.iter().copied();
                    facts
                        .filter(|&fact| known[fact] == value)
                        .collect::<Vec<_>>()
                };
                match (with(Some(true)).len(), with(None).len()) {
                    (2.., _) => return false,
                    (1, 1..) => open.extend(with(None).into_iter().map(|fact| (fact, false))),
                    (0, 0) if group.exact => return false,
                    (0, 1) if group.exact => {
                        open.extend(with(None).into_iter().map(|fact| (fact, true)))
                    }
                    _ => {}
                }
            }
            if open.is_empty() {
                return true;
            }
        }
    }

    /// The facts of a solution that follow from sums that never grow; `None` if the solution
    /// is impossible.
    fn narrowed(&self, mut known: Facts, tells: &[(Vec<i64>, i64)]) -> Option<Facts> {
        let may_be = |facts: &Facts| {
            let mut tells = tells.iter();
            tells.all(|(weights, start)| self.state(facts, weights).least() <= *start)
        };
        if tells.is_empty() {
            return Some(known);
        }
        if !may_be(&known) {
            return None;
        }
        for fact in 0..known.len() {
            for value in [true, false] {
                if known[fact].is_some() {
                    continue;
                }
                let mut case = known.clone();
                let is_possible = self.learn(&mut case, &[(fact, value)]) && may_be(&case);
                if !is_possible && !self.learn(&mut known, &[(fact, !value)]) {
                    return None;
                }
            }
        }
        Some(known)
    }

    /// The value of each node when a move is made.
    fn values(&self, known: &Facts, chosen: usize) -> Vec<Value> {
        let network = &self.network;
        let open = known.len() + self.legal.len();
        let mut values = vec![Value::Open; network.len()];
        for node in 0..network.len() {
            let read = |one: &Literal| values[one.node()].negated_if(one.is_negated());
            values[node] = match network.node(node) {
                Node::False => Value::Known(false),
                Node::Input(input) if input < known.len() => self.now(input, known),
                Node::Input(input) if input < open => Value::Known(input == known.len() + chosen),
                Node::Input(_) | Node::Feedback(_) => Value::Open,
                Node::And(operands) => all_of(operands.iter().map(read)),
                Node::Xor(a, b) => match (read(&a), read(&b)) {
                    (Value::Known(a), b) => b.negated_if(a),
                    (a, Value::Known(b)) => a.negated_if(b),
                    (Value::Fact(a, x), Value::Fact(b, y)) if a == b => Value::Known(x != y),
                    _ => Value::Open,
                },
            };
        }
        values
    }

    /// Cases of which one holds if all literals do; `None` if nothing is known.
    fn all(&self, literals: &[Literal], depth: usize) -> Option<Vec<Vec<(usize, bool)>>> {
        let cases = literals
            .iter()
            .filter_map(|&one| self.cases(one, depth + 1));
        let mut lists: Vec<_> = cases.collect();
        lists.sort_by_key(Vec::len);
        let mut product = vec![Vec::new()];
        for list in lists {
            if product.len() * list.len() > MOST_CASES {
                break;
            }
            let with = |case: &Vec<(usize, bool)>| -> Vec<_> {
                list.iter()
                    .map(|other| [case.as_slice(), other].concat())
                    .collect()
            };
            product = product.iter().flat_map(with).collect();
        }
        Some(product)
    }

    fn cases(&self, literal: Literal, depth: usize) -> Option<Vec<Vec<(usize, bool)>>> {
        if depth > MOST_DEPTH {
            return None;
        }
        match (self.network.node(literal.node()), literal.is_negated()) {
            (Node::False, negated) => Some(if negated {
                vec![Vec::new()]
            } else {
                Vec::new()
            }),
            (Node::Input(fact), negated) if fact < self.stands.len() => {
                Some(vec![vec![(fact, !negated)]])
            }
            (Node::And(operands), false) => self.all(operands, depth),
            (Node::And(operands), true) => {
                let mut cases = Vec::new();
                for &operand in operands {
                    cases.extend(self.cases(!operand, depth + 1)?);
                    if cases.len() > MOST_CASES {
                        return None;
                    }
                }
                Some(cases)
            }
            _ => None,
        }
    }
}

/// The conjunction of some values.
fn all_of(values: impl Iterator<Item = Value>) -> Value {
    let mut all = Value::Known(true);
    for value in values {
        all = match (all, value) {
            (Value::Known(false), _) | (_, Value::Known(false)) => return Value::Known(false),
            (Value::Known(true), other) | (other, Value::Known(true)) => other,
            (Value::Fact(a, x), Value::Fact(b, y)) if a == b && x == y => all,
            (Value::Fact(a, _), Value::Fact(b, _)) if a == b => return Value::Known(false),
            _ => Value::Open,
        };
    }
    all
}
