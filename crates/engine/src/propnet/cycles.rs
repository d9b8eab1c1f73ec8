//! Rows that are defined by each other.
//!
//! In: rows and the ways in which each of them holds, which may speak of other
//! rows. Out: a literal for each row. Rows are put in order by their strongly
//! connected components; a component of several rows is a cycle of the network,
//! cut at the rows that a depth-first walk comes back to.
//!
//! Source: Tarjan, Depth-first search and linear graph algorithms, 1972.

use super::factor::Exclusive;
use super::network::{Builder, Literal};

/// What a way to hold speaks of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Reference {
    /// Something that is in the network.
    Made(Literal),
    /// A row of these, or its negation.
    Row(usize, bool),
}

/// Rows and the ways in which they hold.
#[derive(Debug)]
pub(super) struct Rows {
    count: usize,
    /// Row, and where what suffices for it starts in `literals`.
    made: Vec<(u32, u32)>,
    literals: Vec<Literal>,
    /// Row, and where what suffices for it starts in `references`.
    ways: Vec<(u32, u32)>,
    references: Vec<Reference>,
    scratch: Vec<Literal>,
}

impl Rows {
    /// Rows that never hold.
    pub fn new(count: usize) -> Self {
        Rows {
            count,
            made: Vec::new(),
            literals: Vec::new(),
            ways: Vec::new(),
            references: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Bytes taken by the ways to hold, about.
    pub fn memory(&self) -> usize {
        let ways = self.made.len() + self.ways.len() + self.references.len();
        8 * ways + 4 * self.literals.len()
    }

    /// A row holds if all of the references do.
    pub fn add(&mut self, row: usize, body: &mut [Reference], builder: &mut Builder) {
        if body.contains(&Reference::Made(Literal::FALSE))
            // What needs itself adds nothing to a least fixpoint.
            || body.contains(&Reference::Row(row, false))
        {
            return;
        }
        let is_row = |reference: &Reference| matches!(reference, Reference::Row(..));
        if !body.iter().any(is_row) {
            self.made.push((row as u32, self.literals.len() as u32));
            self.literals.extend(body.iter().filter_map(literal));
            return;
        }
        self.scratch.clear();
        self.scratch.extend(body.iter().filter_map(literal));
        let made = builder.and(&self.scratch);
        if made == Literal::FALSE {
            return;
        }
        self.ways.push((row as u32, self.references.len() as u32));
        self.references.extend(body.iter().filter(|r| is_row(r)));
        if made != Literal::TRUE {
            self.references.push(Reference::Made(made));
        }
    }

    /// Holds if all references of some branch do.
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
        let mut ways = Vec::with_capacity(branches.len());
        for branch in branches {
            let branch: Vec<Literal> = branch.iter().filter_map(literal).collect();
            ways.push(builder.and(&branch));
        }
        Reference::Made(builder.or(&ways))
    }

    /// Makes all rows.
    pub fn literals(self, exclusive: &mut Exclusive, builder: &mut Builder) -> Vec<Literal> {
        let made = with_ends(&self.made, self.literals.len());
        let made = Lists::new(self.count, &made);
        let ways = with_ends(&self.ways, self.references.len());
        let ways = Lists::new(self.count, &ways);
        let mut maker = Maker {
            literals: vec![Literal::FALSE; self.count],
            made,
            ways,
            references: &self.references,
            operands: &self.literals,
            exclusive,
        };
        if self.ways.is_empty() {
            for row in 0..self.count {
                maker.make(row, builder);
            }
            return maker.literals;
        }
        let (members, ends) = maker.components();
        let mut start = 0;
        let mut position = vec![u32::MAX; self.count];
        for end in ends {
            match &members[start..end] {
                [row] => maker.make(*row as usize, builder),
                cycle => maker.make_cycle(cycle, &mut position, builder),
            }
            start = end;
        }
        maker.literals
    }
}

/// The literal of a reference to none of the rows.
fn literal(reference: &Reference) -> Option<Literal> {
    match *reference {
        Reference::Made(literal) => Some(literal),
        Reference::Row(..) => None,
    }
}

fn is_false(term: &[Literal]) -> bool {
    let opposed = |literal: &Literal| term.contains(&!*literal);
    term.contains(&Literal::FALSE) || term.iter().any(opposed)
}

/// Rows and starts as rows and ranges.
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

struct Maker<'r> {
    literals: Vec<Literal>,
    made: Lists<(u32, u32)>,
    operands: &'r [Literal],
    ways: Lists<(u32, u32)>,
    references: &'r [Reference],
    exclusive: &'r mut Exclusive,
}

impl Maker<'_> {
    /// Makes a row whose references are all made.
    fn make(&mut self, row: usize, builder: &mut Builder) {
        let mut terms: Vec<Vec<Literal>> = Vec::new();
        for &(start, end) in self.made.of(row) {
            let term = &self.operands[start as usize..end as usize];
            if !is_false(term) {
                let term = term.iter().filter(|l| **l != Literal::TRUE);
                terms.push(term.copied().collect());
            }
        }
        for &(start, end) in self.ways.of(row) {
            let references = self.references[start as usize..end as usize].iter();
            let term = references.map(|reference| match *reference {
                Reference::Made(literal) => literal,
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

    /// The rows that a row's ways speak of.
    fn uses(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        self.ways.of(row).iter().flat_map(|&(start, end)| {
            self.references[start as usize..end as usize]
                .iter()
                .filter_map(|reference| match reference {
                    Reference::Row(row, _) => Some(*row),
                    Reference::Made(_) => None,
                })
        })
    }

    /// All rows, component by component, used ones first; and where each
    /// component ends.
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

    /// Makes the rows of one component. `position` is scratch space.
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
