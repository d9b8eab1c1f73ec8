//! The agent that searches by alpha-beta.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::outlook::{Evaluation, Lanes, Outlook};
use super::spec::evaluation;
use super::{Advice, Agent, Backends, Brief, Candidate, Pace, PlayerError};
use ggp_engine::machine::{Machine, PlayError, PropnetState};
use ggp_gdl::game::Move;
use ggp_search::minimax::{Minimax, MinimaxReport, Table, minimax};
use ggp_search::{Budget, Stats};

/// Joint moves to look ahead at most: each takes some of the stack.
const MOST_AHEAD: u32 = 500;

/// Plays the move that alpha-beta finds best against all others.
#[derive(Debug)]
pub struct MinimaxAgent {
    brief: Brief,
    evaluation: Evaluation,
    ready: Option<Ready>,
    moves: u64,
    /// What was played before the last choice, and the choice.
    chosen: Option<(Vec<Vec<Move>>, Move)>,
}

/// What is there once the rules are read.
#[derive(Debug)]
struct Ready {
    backends: Backends,
    /// Of the machine now in use.
    lanes: Option<Lanes>,
    table: Table<PropnetState>,
}

impl Ready {
    fn new(brief: &Brief) -> Result<Self, PlayError> {
        let mut backends = Backends::new(brief)?;
        let lanes = Lanes::new(backends.machine(), &brief.limits);
        Ok(Ready {
            backends,
            lanes,
            table: Table::new(brief.memory_bytes),
        })
    }

    /// Whatever belonged to another machine is of no use.
    fn changed(&mut self, brief: &Brief) {
        self.table.clear();
        self.lanes = Lanes::new(self.backends.machine(), &brief.limits);
    }
}

impl MinimaxAgent {
    /// An agent with these options, by name: `eval`.
    ///
    /// # Errors
    ///
    /// If there is no such option, or it has no such value.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, String> {
        Ok(MinimaxAgent {
            brief,
            evaluation: evaluation(settings)?,
            ready: None,
            moves: 0,
            chosen: None,
        })
    }

    fn ready(&mut self) -> Result<&mut Ready, PlayError> {
        if self.ready.is_none() {
            self.ready = Some(Ready::new(&self.brief)?);
        }
        Ok(self.ready.as_mut().expect("it was just made"))
    }

    /// Searches the state after these joint moves.
    fn search(
        &mut self,
        played: &[Vec<Move>],
        pace: &Pace,
        told: &mut dyn FnMut(&MinimaxReport<Move>),
    ) -> Result<MinimaxReport<Move>, PlayError> {
        self.ready()?;
        let ready = self.ready.as_mut().expect("it was just made");
        if ready.backends.poll() {
            ready.changed(&self.brief);
        }
        let state = ready.backends.state_after(played)?;
        // Moves of equal value are drawn anew each time.
        let seed = self.brief.seed.wrapping_add(self.moves);
        self.moves += 1;
        let mut outlook = Outlook {
            machine: ready.backends.machine(),
            lanes: ready.lanes.as_mut(),
            evaluation: self.evaluation,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        minimax(
            &mut outlook,
            &mut ready.table,
            &state,
            self.brief.role.index(),
            &Minimax {
                seed,
                ..Minimax::default()
            },
            &Budget {
                depth: MOST_AHEAD,
                ..pace.budget(self.brief.memory_bytes)
            },
            &mut Stats::default(),
            &mut (),
            told,
        )
    }
}

/// What a report says of a choice; none if there is no move.
fn advice(report: &MinimaxReport<Move>) -> Option<Advice> {
    let bounds = |(least, most): (u8, u8)| (least.into(), most.into());
    let best = report.moves.first()?;
    let candidates = report.moves.iter().map(|found| Candidate {
        action: found.action,
        visits: 0,
        value: found.value,
        bounds: bounds(found.bounds),
    });
    Some(Advice {
        chosen: best.action,
        value: Some(best.value),
        bounds: bounds(report.bounds()),
        nodes: report.positions,
        candidates: candidates.collect(),
        line: report.line.clone(),
        tree: None,
    })
}

impl Agent for MinimaxAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let ready = self.ready()?;
        if ready.backends.wait(pace) {
            let brief = self.brief.clone();
            self.ready()?.changed(&brief);
        }
        Ok(())
    }

    fn choose(&mut self, played: &[Vec<Move>], pace: &Pace) -> Result<Advice, PlayerError> {
        self.chosen = None;
        let publish = |report: &_| {
            if let Some(advice) = advice(report) {
                pace.publish(advice);
            }
        };
        let report = self.search(played, pace, &mut { publish })?;
        let advice = advice(&report).ok_or(PlayError::Interrupted)?;
        self.chosen = Some((played.to_vec(), advice.chosen));
        Ok(advice)
    }

    /// Searches the state after its own choice, if nobody else had one.
    fn ponder(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let Some((mut played, chosen)) = self.chosen.take() else {
            return Ok(());
        };
        let role = self.brief.role;
        let ready = self.ready()?;
        let state = ready.backends.state_after(&played)?;
        let machine = ready.backends.machine();
        let mut joint = Vec::new();
        let mut legal = Vec::new();
        for other in machine.game().clone().roles() {
            machine.legal(&state, other, &mut legal)?;
            match legal[..] {
                _ if other == role => joint.push(chosen),
                [only] => joint.push(only),
                _ => return Ok(()),
            }
        }
        let next = machine.next(&state, &joint)?;
        if !machine.is_terminal(&next)? {
            played.push(joint);
            self.search(&played, pace, &mut |_| ())?;
        }
        Ok(())
    }
}
