//! The agent for alpha-beta search.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::outlook::{Evaluation, Lanes, Outlook};
use super::spec::evaluation;
use super::{
    Advice, Agent, Backends, Brief, Candidate, Observation, OptionError, Pace, PlayerError,
};
use ggp_engine::machine::{Machine, PlayError, PropnetState};
use ggp_gdl::game::Move;
use ggp_search::minimax::{Minimax, MinimaxReport, TranspositionTable, minimax};
use ggp_search::{Budget, Stats};

/// The greatest depth in joint moves. Each level uses stack space.
const MOST_AHEAD: u32 = 500;

/// Plays the best move by alpha-beta search, with all other roles as one opponent.
#[derive(Debug)]
pub struct MinimaxAgent {
    brief: Brief,
    evaluation: Evaluation,
    prepared: Option<Prepared>,
    moves: u64,
    /// The joint moves before the last choice, and the choice.
    chosen: Option<(Vec<Vec<Move>>, Move)>,
}

/// The search state that exists once the rules are compiled.
#[derive(Debug)]
struct Prepared {
    backends: Backends,
    /// The lanes of the current machine.
    lanes: Option<Lanes>,
    table: TranspositionTable<PropnetState>,
}

impl Prepared {
    fn new(brief: &Brief) -> Result<Self, PlayError> {
        let mut backends = Backends::new(brief)?;
        let lanes = Lanes::new(backends.machine(), &brief.limits);
        Ok(Prepared {
            backends,
            lanes,
            table: TranspositionTable::new(brief.memory_bytes),
        })
    }

    /// Drops everything that belongs to the previous machine.
    fn replace_machine(&mut self, brief: &Brief) {
        self.table.clear();
        self.lanes = Lanes::new(self.backends.machine(), &brief.limits);
    }
}

impl MinimaxAgent {
    /// An agent with options as names and values. The only option is `eval`.
    ///
    /// # Errors
    ///
    /// An unknown option, or a value that the option does not accept.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, OptionError> {
        Ok(MinimaxAgent {
            brief,
            evaluation: evaluation(settings)?,
            prepared: None,
            moves: 0,
            chosen: None,
        })
    }

    fn prepared(&mut self) -> Result<&mut Prepared, PlayError> {
        if self.prepared.is_none() {
            self.prepared = Some(Prepared::new(&self.brief)?);
        }
        Ok(self.prepared.as_mut().expect("it was just made"))
    }

    /// Searches the state after these joint moves.
    fn search(
        &mut self,
        played: &[Vec<Move>],
        pace: &Pace,
        on_report: &mut dyn FnMut(&MinimaxReport<Move>),
    ) -> Result<MinimaxReport<Move>, PlayError> {
        self.prepared()?;
        let prepared = self.prepared.as_mut().expect("it was just made");
        if prepared.backends.poll() {
            prepared.replace_machine(&self.brief);
        }
        let state = prepared.backends.state_after(played)?;
        // Each choice breaks ties between equal moves with its own seed.
        let seed = self.brief.seed.wrapping_add(self.moves);
        self.moves += 1;
        let mut outlook = Outlook {
            machine: prepared.backends.machine(),
            lanes: prepared.lanes.as_mut(),
            evaluation: self.evaluation,
            learner: None,
            stop: pace.part(1.0),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        minimax(
            &mut outlook,
            &mut prepared.table,
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
            on_report,
        )
    }
}

/// The advice from a search report, `None` if it has no move.
fn advice(report: &MinimaxReport<Move>) -> Option<Advice> {
    let bounds = |(least, most): (u8, u8)| (least.into(), most.into());
    let best = report.moves.first()?;
    let candidates = report.moves.iter().map(|found| Candidate {
        distance: None,
        action: found.action,
        visits: 0,
        value: found.value,
        bounds: bounds(found.bounds),
    });
    Some(Advice {
        value: Some(best.value),
        bounds: bounds(report.bounds()),
        nodes: report.positions,
        // Before the first depth is complete, only proved bounds tell moves apart.
        is_blind: report.moves.len() > 1 && report.depth == 0 && best.bounds == (0, 100),
        candidates: candidates.collect(),
        line: report.line.clone(),
        ..Advice::of(best.action)
    })
}

impl Agent for MinimaxAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let prepared = self.prepared()?;
        if prepared.backends.wait(&pace.part(1.0)) {
            let brief = self.brief.clone();
            self.prepared()?.replace_machine(&brief);
        }
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        let played = observation.required_joint_moves()?;
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

    /// Searches the state after its own choice, if no other role has more than one move.
    fn ponder(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let Some((mut played, chosen)) = self.chosen.take() else {
            return Ok(());
        };
        let role = self.brief.role;
        let prepared = self.prepared()?;
        let state = prepared.backends.state_after(&played)?;
        let machine = prepared.backends.machine();
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
