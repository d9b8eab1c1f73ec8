//! Gates that are asked for, as code.
//!
//! In: literals and where they go, some of them saying what states are worth;
//! and what is taken for granted. Out: a [`Work`], which leaves the worth out
//! where that saves much.

use rustc_hash::FxHashMap;

use super::assume::Assumed;
use crate::propnet::Propnet;
use crate::propnet::code::{Code, Engine};
use crate::propnet::network::{Builder, Literal};
use crate::propnet::tape::{Place, Tape};

/// The rows that say which goal value is a role's only one, by role with the
/// value.
pub(super) type Worth = Vec<Vec<(usize, u8)>>;

/// How code is made.
#[derive(Copy, Clone, Debug)]
pub(super) struct Making<'n> {
    pub net: &'n Propnet,
    pub words: usize,
    pub engine: Engine,
}

/// Code, and what it costs and says.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub code: Code,
    pub operations: usize,
    /// None if it does not say what states are worth.
    pub worth: Option<Worth>,
}

/// What a tape shall write, and what of it says what states are worth.
pub(super) struct Wanted {
    pub outputs: Vec<(Literal, Place)>,
    pub goals: Vec<Vec<(Literal, u8)>>,
    /// Bank, and first row, of what states are worth.
    pub worth: (u8, usize),
}

impl Wanted {
    /// The tape, in the gates that are left under the assumptions. Unless
    /// `always`, what states are worth is left out if that saves much.
    pub fn work(
        mut self,
        builder: &Builder,
        given: &[(usize, Place)],
        assumed: &Assumed,
        always: bool,
        making: Making,
    ) -> Work {
        let outputs = self.outputs.iter_mut().map(|output| &mut output.0);
        let goals = self.goals.iter_mut().flatten().map(|goal| &mut goal.0);
        let network = assumed.put_in(builder.network(), outputs.chain(goals));
        let mut all = self.outputs.clone();
        let mut known: FxHashMap<Literal, usize> = FxHashMap::default();
        let (bank, first) = self.worth;
        let mut worth = Worth::new();
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
            worth.push(of_role);
        }
        let plain = Tape::new(&network, given, &self.outputs);
        let full = Tape::new(&network, given, &all);
        let is_cheap = full.operations() <= plain.operations() * 5 / 4 + 32;
        let (tape, worth) = match always || is_cheap {
            true => (full, Some(worth)),
            false => (plain, None),
        };
        Work {
            operations: tape.operations(),
            code: Code::new(&tape, making.words, making.engine),
            worth,
        }
    }
}
