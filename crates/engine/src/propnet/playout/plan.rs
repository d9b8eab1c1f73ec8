//! The tapes for playouts of a game, by phase.
//!
//! In: a network, and a state of the game. Out: a [`Cycle`], ready to run. It has a
//! single phase for all states, or several where that is less work.

use std::ops::Range;

use super::Width;
use super::circuit::{self, Blueprint, Choice, Circuit, Extras, Frame, Score};
use super::decisive::{Allowance, Tactics, Wins};
use super::estimate;
use super::phase::Phases;
use super::terminal_pool::TerminalPool;
use crate::propnet::Propnet;
use crate::propnet::code::{Code, Engine};
use crate::threads::Workers;

/// The place where lanes restart.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::propnet) enum Restart {
    /// In the state that the plan is made for, after the last phase.
    Here,
    /// The caller sets the state; the tapes do not.
    Elsewhere,
}

/// All phases, as gates.
#[derive(Debug)]
pub(in crate::propnet) struct Plan {
    facts: Vec<Option<usize>>,
    values: Vec<Vec<Option<bool>>>,
    phases: Vec<Blueprint>,
    restart: Restart,
}

/// All phases, ready to run.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct Cycle {
    pub phases: Vec<Phase>,
    /// By fact: its row in a state, ascending; `None` if the fact is irrelevant or
    /// constant in a phase.
    pub facts: Vec<Option<usize>>,
    /// By phase and fact: the value of the fact there, if it is constant.
    pub values: Vec<Vec<Option<bool>>>,
    /// The number of rows of each bank.
    pub rows: [usize; circuit::BANKS],
    /// The mean number of two-input gates of a pass, without those for scores.
    pub operations: f64,
}

/// The code of one phase.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct Phase {
    pub look: Code,
    pub play: Code,
    /// The pool that scores terminal states, unless the first tape does.
    pub pool: Option<TerminalPool>,
    pub choices: Vec<Choice>,
    pub goals: Vec<Vec<usize>>,
    pub scores: usize,
    /// The rows of [`circuit::CHOSEN`] that it writes.
    pub chosen: Vec<usize>,
    /// True if lanes may restart after it.
    pub refill: bool,
}

/// The longest cycle of phases that is tried.
pub(in crate::propnet) const LONGEST_CYCLE: usize = 8;

/// The most gates for moves that win at once, and for those that prevent it: of each condition,
/// and of all as a share of all others.
const TACTICS_EACH: usize = 6;
const TACTICS: f64 = 0.25;

impl Plan {
    /// The plan with the least work for a state and its successors, of at most
    /// `longest` phases; `None` if a stop comes first.
    pub fn best(
        net: &Propnet,
        start: &[bool],
        longest: usize,
        restart: Restart,
        extras: Extras,
        workers: &Workers<'_>,
    ) -> Option<Plan> {
        let relevant = Frame::relevant(net);
        let [plain, cyclic] = Phases::find(net, start, longest.min(LONGEST_CYCLE));
        if workers.is_stopped() {
            return None;
        }
        let is_cyclic = cyclic.len() > 1 && {
            let phases = plain.values.iter().chain(&cyclic.values);
            let rowless = phases.map(|values| {
                let facts = values.iter().zip(&relevant);
                facts.map(|(&value, &is)| value.or((!is).then_some(false)))
            });
            let rowless: Vec<Vec<Option<bool>>> = rowless.map(Iterator::collect).collect();
            let [best, other] = estimate::gates(net, &rowless, extras.level_bits);
            // Lanes that wait for the first phase are idle.
            10 * other < 9 * best * cyclic.len()
        };
        let phases = if is_cyclic { &cyclic } else { &plain };
        let plan = Plan::new(net, start, phases, &relevant, restart, extras, &[], workers)?;
        match extras.decisive && is_cyclic {
            true => plan.with_tactics(net, start, phases, &relevant, extras, workers),
            false => Some(plan),
        }
    }

    fn new(
        net: &Propnet,
        start: &[bool],
        phases: &Phases,
        relevant: &[bool],
        restart: Restart,
        extras: Extras,
        tactics: &[Tactics<'_>],
        workers: &Workers<'_>,
    ) -> Option<Plan> {
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
        let blueprints = phases.values.iter().enumerate().collect();
        let blueprints = workers.map(blueprints, |(phase, constants): (usize, &Vec<_>)| {
            let refill = restart == Restart::Here && phase == last;
            let tactics = tactics.get(phase).copied().unwrap_or_default();
            Blueprint::new(&frame, constants, refill, tactics)
        });
        Some(Plan {
            phases: blueprints?,
            facts: frame.rows,
            values: phases.values.clone(),
            restart,
        })
    }

    /// The plan in which roles make moves that win at once, or that prevent it.
    fn with_tactics(
        self,
        net: &Propnet,
        start: &[bool],
        phases: &Phases,
        relevant: &[bool],
        extras: Extras,
        workers: &Workers<'_>,
    ) -> Option<Plan> {
        let most = |phase: usize| Allowance {
            each: TACTICS_EACH,
            all: (TACTICS * self.phases[phase].gates() as f64) as usize,
        };
        let all = phases.values.iter().enumerate().collect();
        let wins = workers.map(all, |(phase, constants): (usize, &Vec<_>)| {
            Wins::find(net, constants, most(phase))
        })?;
        if wins.iter().all(Option::is_none) {
            return Some(self);
        }
        let tactics = (0..phases.len()).map(|phase| {
            let next = (phase + 1) % phases.len();
            let constants = &phases.values[next][..];
            Tactics {
                own: wins[phase].as_ref(),
                next: wins[next].as_ref().map(|wins| (wins, constants)),
                most: most(phase),
            }
        });
        let tactics: Vec<Tactics<'_>> = tactics.collect();
        Plan::new(
            net,
            start,
            phases,
            relevant,
            self.restart,
            extras,
            &tactics,
            workers,
        )
    }

    /// Compiles the tapes; `None` if a stop comes first.
    pub fn compile(self, width: Width, engine: Engine, workers: &Workers<'_>) -> Option<Cycle> {
        let mut rows = [0; circuit::BANKS];
        let circuits = workers.map(self.phases, Blueprint::circuit)?;
        for circuit in &circuits {
            for tape in [&circuit.look, &circuit.play] {
                for (rows, more) in rows.iter_mut().zip(tape.rows()) {
                    *rows = (*rows).max(*more);
                }
            }
            for choice in &circuit.choices {
                let drawn = &mut rows[circuit::DRAWN as usize];
                *drawn = (*drawn).max(choice.numbers.end);
            }
        }
        let drawn = &mut rows[circuit::DRAWN as usize];
        *drawn = (*drawn).max(circuit::REFILL + 1);
        // The two banks are exchanged after each pass.
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
        let code = |tape| (!workers.is_stopped()).then(|| Code::new(&tape, words, engine));
        let pool = |score: Score, rows| {
            let code = code(score.tape)?;
            Some(TerminalPool::new(code, score.sources, rows))
        };
        let circuits = circuits.into_iter().enumerate().collect();
        let phases = workers.map(circuits, |(number, circuit): (usize, Circuit)| {
            Some(Phase {
                look: code(circuit.look)?,
                play: code(circuit.play)?,
                pool: match circuit.score {
                    Some(score) => Some(pool(score, circuit.scores)?),
                    None => None,
                },
                choices: circuit.choices,
                goals: circuit.goals,
                scores: circuit.scores,
                chosen: circuit.chosen,
                refill: self.restart == Restart::Here && number == last,
            })
        });
        Some(Cycle {
            phases: phases?.into_iter().collect::<Option<_>>()?,
            facts: self.facts,
            values: self.values,
            rows,
            operations,
        })
    }
}
