//! Mutually recursive rows.
//!
//! In: rows and the rule bodies under which each holds, which may refer to other
//! rows. Out: a literal for each row. Rows are ordered by their strongly connected
//! components. A component of several rows becomes a cycle of the network, cut at
//! the rows that a depth-first search returns to.
//!
//! Source: Tarjan, Depth-first search and linear graph algorithms, 1972.

use super::factor::Exclusive;
use super::network::{Builder, Literal};

/// A literal of a rule body.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Reference {
    /// A literal of the network.
    Known(Literal),
    /// A row, or its negation if true.
    Row(usize, bool),
}

/// Rows and the bodies under which they hold.
#[derive(Debug)]
pub(super) struct Rows {
    count: usize,
    /// The row of each body without references to rows, and the body's start in
    /// `literals`.
    known: Vec<(u32, u32)>,
    literals: Vec<Literal>,
    /// The row of each other body, and the body's start in `references`.
    bodies: Vec<(u32, u32)>,
    references: Vec<Reference>,
    scratch: Vec<Literal>,
}

impl Rows {
    /// Rows that never hold.
    pub fn new(count: usize) -> Self {
        Rows {
            count,
            known: Vec::new(),
            literals: Vec::new(),
            bodies: Vec::new(),
            references: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The approximate number of bytes of the bodies.
    pub fn memory(&self) -> usize {
        let bodies = self.known.len() + self.bodies.len() + self.references.len();
        8 * bodies + 4 * self.literals.len()
    }

    /// Adds a body: the row holds if all references do.
    pub fn add(&mut self, row: usize, body: &mut [Reference], builder: &mut Builder) {
        if body.contains(&Reference::Known(Literal::FALSE))
            // A row that depends on itself adds nothing to a least fixpoint.
            || body.contains(&Reference::Row(row, false))
        {
            return;
        }
        let is_row = |reference: &Reference| matches!(reference, Reference::Row(..));
        if !body.iter().any(is_row) {
            self.known.push((row as u32, self.literals.len() as u32));
            self.literals.extend(body.iter().filter_map(literal));
            return;
        }
        self.scratch.clear();
        self.scratch.extend(body.iter().filter_map(literal));
        let known = builder.and(&self.scratch);
        if known == Literal::FALSE {
            return;
        }
        self.bodies.push((row as u32, self.references.len() as u32));
        self.references.extend(body.iter().filter(|r| is_row(r)));
        if known != Literal::TRUE {
            self.references.push(Reference::Known(known));
        }
    }

    /// A reference that is true if all references of some branch are.
    pub fn any(&mut self, branches: &mut [Vec<Reference>], builder: &mut Builder) -> Reference {
        let is_row = |reference: &Reference| matches!(reference, Reference::Row(..));
        if branches.iter().flatten().any(is_row) {
            let row = self.count;
            self.count += 1;
            for branch in branches {
                self.add(row, branch, builder);
            }
            return Reference::Row(row, false);
        }
        let mut bodies = Vec::with_capacity(branches.len());
        for branch in branches {
            let branch: Vec<Literal> = branch.iter().filter_map(literal).collect();
            bodies.push(builder.and(&branch));
        }
        Reference::Known(builder.or(&bodies))
    }

    /// Builds the literals of all rows.
    pub fn literals(self, exclusive: &mut Exclusive, builder: &mut Builder) -> Vec<Literal> {
        let known = with_ends(&self.known, self.literals.len());
        let known = Lists::new(self.count, &known);
        let bodies = with_ends(&self.bodies, self.references.len());
        let bodies = Lists::new(self.count, &bodies);
        let mut row_builder = RowBuilder {
            literals: vec![Literal::FALSE; self.count],
            known,
            bodies,
            references: &self.references,
            operands: &self.literals,
            exclusive,
        };
        if self.bodies.is_empty() {
            for row in 0..self.count {
                row_builder.make(row, builder);
            }
            return row_builder.literals;
        }
        let (members, ends) = row_builder.components();
        let mut start = 0;
        let mut position = vec![u32::MAX; self.count];
        for end in ends {
            match &members[start..end] {
                [row] => row_builder.make(*row as usize, builder),
                cycle => row_builder.make_cycle(cycle, &mut position, builder),
            }
            start = end;
        }
        row_builder.literals
    }
}

/// The literal of a reference, unless it refers to a row.
fn literal(reference: &Reference) -> Option<Literal> {
    match *reference {
        Reference::Known(literal) => Some(literal),
        Reference::Row(..) => None,
    }
}

fn is_false(term: &[Literal]) -> bool {
    let opposed = |literal: &Literal| term.contains(&!*literal);
    term.contains(&Literal::FALSE) || term.iter().any(opposed)
}

/// Converts rows and starts to rows and ranges.
fn with_ends(starts: &[(u32, u32)], end: usize) -> Vec<(u32, (u32, u32))> {
    let ends = starts.iter().skip(1).map(|start| start.1);
    let ends = ends.chain([end as u32]);
    let ranges = starts.iter().zip(ends);
    ranges
        .map(|(&(row, start), end)| (row, (start, end)))
        .collect()
}

/// Values by row.
struct Lists<T> {
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy> Lists<T> {
    fn new(count: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &(row, _) in pairs {
            starts[row as usize + 1] += 1;
        }
        for row in 0..count {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut values: Vec<T> = pairs.iter().map(|&(_, value)| value).collect();
        for &(row, value) in pairs {
            values[next[row as usize] as usize] = value;
            next[row as usize] += 1;
        }
        Lists { starts, values }
    }

    fn of(&self, row: usize) -> &[T] {
        &self.values[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

struct RowBuilder<'r> {
    literals: Vec<Literal>,
    known: Lists<(u32, u32)>,
    operands: &'r [Literal],
    bodies: Lists<(u32, u32)>,
    references: &'r [Reference],
    exclusive: &'r mut Exclusive,
}

impl RowBuilder<'_> {
    /// Builds a row whose references all have literals.
    fn make(&mut self, row: usize, builder: &mut Builder) {
        if let ([(start, end)], []) = (self.known.of(row), self.bodies.of(row)) {
            self.literals[row] = builder.and(&self.operands[*start as usize..*end as usize]);
            return;
        }
        let mut terms: Vec<Vec<Literal>> = Vec::new();
        for &(start, end) in self.known.of(row) {
            let term = &self.operands[start as usize..end as usize];
            if !is_false(term) {
                let term = term.iter().filter(|l| **l != Literal::TRUE);
                terms.push(term.copied().collect());
            }
        }
        for &(start, end) in self.bodies.of(row) {
            let references = self.references[start as usize..end as usize].iter();
            let term = references.map(|reference| match *reference {
                Reference::Known(literal) => literal,
                Reference::Row(row, negated) => self.literals[row].negated_if(negated),
            });
            let term: Vec<Literal> = term.filter(|l| *l != Literal::TRUE).collect();
            if !is_false(&term) {
                terms.push(term);
            }
        }
        for term in &mut terms {
            term.sort_unstable();
            term.dedup();
        }
        self.literals[row] = match terms.as_slice() {
            [] => Literal::FALSE,
            [term] => builder.and(term),
            _ => self.exclusive.any(builder, terms),
        };
    }

    /// The rows that a row's bodies refer to.
    fn uses(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        self.bodies.of(row).iter().flat_map(|&(start, end)| {
            self.references[start as usize..end as usize]
                .iter()
                .filter_map(|reference| match reference {
                    Reference::Row(row, _) => Some(*row),
                    Reference::Known(_) => None,
                })
        })
    }

    /// All rows, by component, dependencies first, and the end of each component.
    fn components(&self) -> (Vec<u32>, Vec<usize>) {
        const NEW: u32 = u32::MAX;
        let count = self.literals.len();
        let mut number = vec![NEW; count];
        let mut low = vec![0u32; count];
        let mut placed = vec![false; count];
        let mut stack: Vec<u32> = Vec::new();
        let mut members = Vec::with_capacity(count);
        let mut ends = Vec::new();
        let mut next = 0;
        let mut walk: Vec<(usize, Vec<usize>)> = Vec::new();
        for root in 0..count {
            if number[root] != NEW {
                continue;
            }
            walk.push((root, self.uses(root).collect()));
            number[root] = next;
            low[root] = next;
            next += 1;
            stack.push(root as u32);
            while let Some((row, uses)) = walk.last_mut() {
                let row = *row;
                if let Some(used) = uses.pop() {
                    if number[used] == NEW {
                        number[used] = next;
                        low[used] = next;
                        next += 1;
                        stack.push(used as u32);
                        walk.push((used, self.uses(used).collect()));
                    } else if !placed[used] {
                        low[row] = low[row].min(number[used]);
                    }
                    continue;
                }
                walk.pop();
                if let Some((user, _)) = walk.last() {
                    low[*user] = low[*user].min(low[row]);
                }
                if low[row] == number[row] {
                    loop {
                        let member = stack.pop().expect("the root is on the stack");
                        placed[member as usize] = true;
                        members.push(member);
                        if member as usize == row {
                            break;
                        }
                    }
                    ends.push(members.len());
                }
            }
        }
        (members, ends)
    }

    /// Builds the rows of one component. `position` is scratch space.
    fn make_cycle(&mut self, cycle: &[u32], position: &mut [u32], builder: &mut Builder) {
        const OUTSIDE: u32 = u32::MAX;
        const NEW: u32 = 0;
        const OPEN: u32 = 1;
        const DONE: u32 = 2;
        for &row in cycle {
            position[row as usize] = NEW;
        }
        let mut cut = Vec::new();
        let mut order = Vec::with_capacity(cycle.len());
        let root = cycle[0] as usize;
        let mut walk: Vec<(usize, Vec<usize>)> = vec![(root, self.uses(root).collect())];
        position[root] = OPEN;
        while let Some((row, uses)) = walk.last_mut() {
            let row = *row;
            let Some(used) = uses.pop() else {
                position[row] = DONE;
                order.push(row);
                walk.pop();
                continue;
            };
            match position[used] {
                NEW => {
                    position[used] = OPEN;
                    walk.push((used, self.uses(used).collect()));
                }
                OPEN => cut.push(used),
                _ => {}
            }
        }
        for &row in cycle {
            position[row as usize] = OUTSIDE;
        }
        cut.sort_unstable();
        cut.dedup();
        let feedbacks = builder.open(cut.len());
        for (&row, &feedback) in cut.iter().zip(&feedbacks) {
            self.literals[row] = feedback;
        }
        for row in order {
            self.make(row, builder);
        }
        let definitions: Vec<Literal> = cut.iter().map(|&row| self.literals[row]).collect();
        builder.close(&definitions);
    }
}
