//! The tapes that playouts of a game need, phase by phase.
//!
//! In: a network, and a state of the game. Out: a [`Cycle`], ready to run, of a
//! single phase that serves all states or of several where that is less work.

use std::ops::Range;

use super::Width;
use super::circuit::{self, Blueprint, Circuit, Draw, Extras, Frame, Score};
use super::phase::Phases;
use super::terminal_pool::Pool;
use crate::propnet::Propnet;
use crate::propnet::code::{Code, Engine};

/// Where lanes begin anew.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::propnet) enum Anew {
    /// In the state that the plan is made for, after the last phase.
    Here,
    /// The tapes do not see to that.
    Elsewhere,
}

/// All phases, as gates.
#[derive(Debug)]
pub(in crate::propnet) struct Plan {
    facts: Vec<Option<usize>>,
    values: Vec<Vec<Option<bool>>>,
    phases: Vec<Blueprint>,
    anew: Anew,
}

/// All phases, ready to run.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct Cycle {
    pub phases: Vec<Phase>,
    /// By fact: its row in a state, ascending; none if it does not matter or is
    /// constant in a phase.
    pub facts: Vec<Option<usize>>,
    /// By phase and fact: the value that it has there, if it is constant.
    pub values: Vec<Vec<Option<bool>>>,
    /// Rows that each bank needs.
    pub rows: [usize; circuit::BANKS],
    /// Two-input gates of a pass on average, those for scores aside.
    pub operations: f64,
}

/// What is run in one phase.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct Phase {
    pub look: Code,
    pub play: Code,
    /// Where last states are scored, if not at once.
    pub pool: Option<Pool>,
    pub draws: Vec<Draw>,
    pub goals: Vec<Vec<usize>>,
    pub scores: usize,
    /// Rows of [`circuit::CHOSEN`] that it writes.
    pub chosen: Vec<usize>,
    /// Whether lanes may begin anew after it.
    pub refill: bool,
}

/// Longest circle of phases that is looked for.
const LONGEST_CIRCLE: usize = 8;

impl Plan {
    /// The plan with the least work, for a state and those that follow it.
    pub fn best(net: &Propnet, start: &[bool], anew: Anew, extras: Extras) -> Plan {
        let plain = Phases::find(net, start, 1);
        let circle = Phases::find(net, start, LONGEST_CIRCLE);
        let is_circle = circle.len() > 1;
        let best = Plan::new(net, start, plain, anew, extras);
        if is_circle {
            let other = Plan::new(net, start, circle, anew, extras);
            // Lanes that wait for the first phase are lost to others.
            if other.gates() < 0.9 * best.gates() {
                return other;
            }
        }
        best
    }

    fn new(net: &Propnet, start: &[bool], phases: Phases, anew: Anew, extras: Extras) -> Plan {
        let relevant = Frame::relevant(net);
        let mut free: Range<usize> = 0..usize::MAX;
        let facts = relevant.iter().zip(&phases.values[0]);
        let rows = facts.map(|(is, constant)| match *is && constant.is_none() {
            true => free.next(),
            false => None,
        });
        let frame = Frame {
            net,
            rows: rows.collect(),
            start,
            extras,
        };
        let last = phases.len() - 1;
        let blueprints = phases.values.iter().enumerate();
        let blueprints = blueprints.map(|(phase, constants)| {
            Blueprint::new(&frame, constants, anew == Anew::Here && phase == last)
        });
        Plan {
            phases: blueprints.collect(),
            facts: frame.rows,
            values: phases.values,
            anew,
        }
    }

    /// Gates of a pass.
    fn gates(&self) -> f64 {
        let all: usize = self.phases.iter().map(Blueprint::gates).sum();
        all as f64 / self.phases.len() as f64
    }

    /// The tapes, ready to run.
    pub fn compile(self, width: Width, engine: Engine) -> Cycle {
        let mut rows = [0; circuit::BANKS];
        let circuits: Vec<Circuit> = self.phases.into_iter().map(Blueprint::circuit).collect();
        for circuit in &circuits {
            for tape in [&circuit.look, &circuit.play] {
                for (rows, more) in rows.iter_mut().zip(tape.rows()) {
                    *rows = (*rows).max(*more);
                }
            }
            for draw in &circuit.draws {
                let drawn = &mut rows[circuit::DRAWN as usize];
                *drawn = (*drawn).max(draw.numbers.end);
            }
        }
        let drawn = &mut rows[circuit::DRAWN as usize];
        *drawn = (*drawn).max(circuit::REFILL + 1);
        // Exchanged with each other after each pass.
        let [state, next] = [circuit::STATE, circuit::NEXT].map(usize::from);
        let both = rows[state].max(rows[next]);
        let both = both.max(self.facts.iter().flatten().count());
        (rows[state], rows[next]) = (both, both);
        let words = width.words();
        let operations = circuits
            .iter()
            .map(|c| c.look.operations() + c.play.operations());
        let operations = operations.sum::<usize>() as f64 / circuits.len() as f64;
        let last = circuits.len() - 1;
        let code = |tape| Code::new(&tape, words, engine);
        let pool = |score: Score, rows| Pool::new(code(score.tape), score.sources, rows);
        let phases = circuits.into_iter().enumerate();
        let phases = phases.map(|(number, circuit)| Phase {
            look: code(circuit.look),
            play: code(circuit.play),
            pool: circuit.score.map(|score| pool(score, circuit.scores)),
            draws: circuit.draws,
            goals: circuit.goals,
            scores: circuit.scores,
            chosen: circuit.chosen,
            refill: self.anew == Anew::Here && number == last,
        });
        Cycle {
            phases: phases.collect(),
            facts: self.facts,
            values: self.values,
            rows,
            operations,
        }
    }
}
