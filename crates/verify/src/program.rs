//! Ground rules of a game with one role.
//!
//! An atom holds if all literals of one of its bodies do, but not if it holds only because
//! of itself. Facts of the state and the move made are inputs.

use ggp_gdl::graph::strong_components;

use ggp_gdl::terms::TermId;

/// A fact of the state.
pub(crate) struct Fact {
    pub term: TermId,
    /// The atom that says that it holds.
    pub now: u32,
    /// The atom that says that it holds after the move; `None` if it never does.
    pub next: Option<u32>,
    /// Whether it holds at the start.
    pub holds: bool,
}

/// A move of the role.
pub(crate) struct Move {
    pub term: TermId,
    /// The atom that says that it is legal.
    pub legal: u32,
    /// The atom that says that it is made; `None` if no rule reads it.
    pub made: Option<u32>,
}

/// The source of an atom's value; `None` if rules define it.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    None,
    Fact(u32),
    Move(u32),
}

/// The rules of a game of one role, grounded.
pub(crate) struct Program {
    /// The first rule of each atom, and the number of rules at the end.
    starts: Vec<u32>,
    /// The end of each rule's body in `literals`.
    ends: Vec<u32>,
    /// Atoms plus 1, negated for negative literals.
    literals: Vec<i32>,
    pub inputs: Vec<Input>,
    pub facts: Vec<Fact>,
    pub moves: Vec<Move>,
    /// The goal values of the role and their atoms.
    pub goals: Vec<(TermId, u32)>,
    /// The atom that says that the game is over; `None` if it never is.
    pub terminal: Option<u32>,
    /// Groups of atoms that depend on each other; a group comes after those it depends on.
    pub loops: Vec<Vec<u32>>,
}

impl Program {
    /// A program of these rules: an atom and a body each.
    pub fn new(
        mut rules: Vec<(u32, &[i32])>,
        inputs: Vec<Input>,
        facts: Vec<Fact>,
        moves: Vec<Move>,
        goals: Vec<(TermId, u32)>,
        terminal: Option<u32>,
    ) -> Program {
        rules.sort_unstable();
        rules.dedup();
        let mut program = Program {
            starts: vec![0; inputs.len() + 1],
            ends: Vec::with_capacity(rules.len()),
            literals: Vec::new(),
            inputs,
            facts,
            moves,
            goals,
            terminal,
            loops: Vec::new(),
        };
        for (head, body) in rules {
            program.literals.extend(body);
            program.ends.push(program.literals.len() as u32);
            program.starts[head as usize + 1] += 1;
        }
        for atom in 0..program.inputs.len() {
            program.starts[atom + 1] += program.starts[atom];
        }
        program.loops = program.cycles();
        program
    }

    /// The rules of an atom.
    pub fn rules(&self, atom: u32) -> std::ops::Range<u32> {
        self.starts[atom as usize]..self.starts[atom as usize + 1]
    }

    /// The body of a rule.
    pub fn body(&self, rule: u32) -> &[i32] {
        let from = match rule {
            0 => 0,
            _ => self.ends[rule as usize - 1],
        };
        &self.literals[from as usize..self.ends[rule as usize] as usize]
    }

    /// The atoms that a rule needs.
    pub fn needs(&self, rule: u32) -> impl Iterator<Item = u32> {
        let positive = self.body(rule).iter().filter(|&&literal| literal > 0);
        positive.map(|&literal| literal as u32 - 1)
    }

    fn cycles(&self) -> Vec<Vec<u32>> {
        let mut edges = Vec::with_capacity(self.literals.len());
        for atom in 0..self.inputs.len() as u32 {
            for needed in self.rules(atom).flat_map(|rule| self.needs(rule)) {
                edges.push((atom, needed));
            }
        }
        let components = strong_components(self.inputs.len(), &edges).into_iter();
        let atoms = components.map(|component| {
            let atoms = component.iter().map(|&atom| atom as u32);
            atoms.collect::<Vec<u32>>()
        });
        let is_loop = |atoms: &Vec<u32>| {
            let atom = atoms[0];
            atoms.len() > 1
                || self
                    .rules(atom)
                    .any(|rule| self.needs(rule).any(|one| one == atom))
        };
        atoms.filter(is_loop).collect()
    }

    /// The atoms of a loop that hold only because of each other.
    pub fn unfounded(&self, atoms: &[u32], holds: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut left: Vec<u32> = atoms.iter().copied().filter(|&atom| holds(atom)).collect();
        loop {
            left.sort_unstable();
            let is_founded = |&atom: &u32| {
                self.rules(atom).any(|rule| {
                    self.body(rule).iter().all(|&literal| {
                        let needed = literal.unsigned_abs() - 1;
                        holds(needed) == (literal > 0)
                            && (literal < 0 || left.binary_search(&needed).is_err())
                    })
                })
            };
            let still: Vec<u32> = left
                .iter()
                .copied()
                .filter(|atom| !is_founded(atom))
                .collect();
            if still.len() == left.len() {
                return left;
            }
            left = still;
        }
    }
}
