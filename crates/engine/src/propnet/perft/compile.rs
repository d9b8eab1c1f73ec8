//! Compilation of outputs to code.
//!
//! In: literals with the places they are written to, some of them for scores; and
//! assumptions. Out: [`Compiled`] code, which omits the scores if that saves much.

use rustc_hash::FxHashMap;

use super::assume::Assumed;
use crate::propnet::Propnet;
use crate::propnet::code::{Code, Engine};
use crate::propnet::network::{Builder, Literal};
use crate::propnet::tape::{Place, Tape};

/// By role: the rows that are set if a goal value is the only one, each with the
/// score.
pub(super) type ScoreRows = Vec<Vec<(usize, u8)>>;

/// The parameters of code generation.
#[derive(Copy, Clone, Debug)]
pub(super) struct Target<'n> {
    pub net: &'n Propnet,
    pub words: usize,
    pub engine: Engine,
}

/// Code, its cost, and the rows of its scores.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub code: Code,
    pub operations: usize,
    /// `None` if it does not compute scores.
    pub scores: Option<ScoreRows>,
}

/// The outputs of a tape, with those for scores apart.
pub(super) struct Outputs {
    pub outputs: Vec<(Literal, Place)>,
    pub goals: Vec<Vec<(Literal, u8)>>,
    /// The bank and the first row of the scores.
    pub scores: (u8, usize),
}

impl Outputs {
    /// Compiles the outputs to the gates that remain under the assumptions. Unless
    /// `always`, scores are omitted if that saves much.
    pub fn compile(
        mut self,
        builder: &Builder,
        given: &[(usize, Place)],
        assumed: &Assumed,
        always: bool,
        target: Target,
    ) -> Compiled {
        let outputs = self.outputs.iter_mut().map(|output| &mut output.0);
        let goals = self.goals.iter_mut().flatten().map(|goal| &mut goal.0);
        let network = assumed.simplified(builder.network(), outputs.chain(goals));
        let mut all = self.outputs.clone();
        let mut known: FxHashMap<Literal, usize> = FxHashMap::default();
        let (bank, first) = self.scores;
        let mut scores = ScoreRows::new();
        for goals in &self.goals {
            let mut of_role = Vec::new();
            for &(literal, score) in goals.iter().filter(|goal| goal.0 != Literal::FALSE) {
                let free = first + known.len();
                let row = *known.entry(literal).or_insert_with(|| {
                    all.push((
                        literal,
                        Place {
                            bank,
                            index: free as u32,
                        },
                    ));
                    free
                });
                of_role.push((row, score));
            }
            scores.push(of_role);
        }
        let plain = Tape::new(&network, given, &self.outputs);
        let full = Tape::new(&network, given, &all);
        let is_cheap = full.operations() <= plain.operations() * 5 / 4 + 32;
        let (tape, scores) = match always || is_cheap {
            true => (full, Some(scores)),
            false => (plain, None),
        };
        Compiled {
            operations: tape.operations(),
            code: Code::new(&tape, target.words, target.engine),
            scores,
        }
    }
}
