//! Perfect play from files of values.

use std::sync::{Arc, OnceLock};

use super::{Advice, Agent, Backends, Brief, Candidate, Observation, Pace, PlayerError};
use ggp_engine::machine::{Machine, PropnetState};
use ggp_gdl::game::Game;
use ggp_solver::table::{FactOrder, LookError, MoveValue, Table};

/// Files of values, each for its own rules.
#[derive(Debug, Default)]
pub struct Tables {
    tables: Vec<Arc<Table>>,
    gap: OnceLock<Gap>,
}

/// A position that a file of values should have and did not tell.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The digest of the rules of the file.
    pub rules: String,
    /// The reason why it did not.
    pub why: String,
}

impl Tables {
    /// Adds a file.
    pub fn add(&mut self, table: Table) {
        self.tables.push(Arc::new(table));
    }

    /// The first position that an agent did not find, if there was one.
    pub fn gap(&self) -> Option<&Gap> {
        self.gap.get()
    }

    /// Notes what an agent did not find, unless the file cannot tell.
    fn note(&self, table: &Table, error: &LookError) {
        if matches!(error, LookError::Missing | LookError::Table(_)) {
            self.gap.get_or_init(|| Gap {
                rules: table.header().rules.clone(),
                why: error.to_string(),
            });
        }
    }

    /// The file that was made from these rules, if there is one.
    pub fn of(&self, game: &Game) -> Option<Arc<Table>> {
        self.tables.iter().find(|table| table.is_of(game)).cloned()
    }
}

/// The length of the expected continuation in [`Advice::line`].
const LINE: usize = 40;

/// An agent that looks its moves up, and leaves those that it does not find to another one.
///
/// It relies on files with distances or expected scores only: in games of one role, and in games of two with a
/// constant sum that take turns, the moves with the best value are best against everybody.
pub struct LookupAgent {
    brief: Brief,
    table: Arc<Table>,
    other: Box<dyn Agent>,
    has_other_begun: bool,
    backends: Option<Backends>,
    /// The order of the current network's facts in the file, once it was needed.
    order: Option<FactOrder>,
}

impl LookupAgent {
    /// An agent with a file of values for the game, if that says what is best; otherwise `other`.
    pub fn or_else(brief: Brief, other: Box<dyn Agent>) -> Box<dyn Agent> {
        let table = brief.tables.of(&brief.game);
        let is_best = |table: &Arc<Table>| {
            let header = table.header();
            header.has_distances || header.has_means
        };
        match table.filter(is_best) {
            Some(table) if !brief.game.is_random(brief.role) => Box::new(LookupAgent {
                brief,
                table,
                other,
                has_other_begun: false,
                backends: None,
                order: None,
            }),
            _ => other,
        }
    }

    fn backends(&mut self) -> Result<&mut Backends, PlayerError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::new(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }

    /// The moves of the role in a state, best first.
    fn moves(&mut self, state: &PropnetState) -> Result<Vec<MoveValue>, LookError> {
        let backends = self.backends.as_mut().ok_or(LookError::NoNetwork)?;
        let machine = backends.machine();
        let order = match self.order.take() {
            Some(order) => order,
            None => self.table.order_of(machine, state)?,
        };
        let moves = self.table.moves(&order, machine, state, self.brief.role);
        self.order = Some(order);
        moves
    }

    /// The expected continuation, beginning with a joint move of best moves.
    fn line(&mut self, mut state: PropnetState, pace: &Pace) -> Result<Advice, LookError> {
        let own = self.moves(&state)?;
        let [best, ..] = own[..] else {
            return Err(LookError::Missing);
        };
        let candidate = |found: &MoveValue| {
            let [least, most] = found.scores.map(f64::from);
            Candidate {
                action: found.action,
                visits: 0,
                value: found.mean.map_or(least, f64::from),
                bounds: (least, most),
                distance: found.distance,
            }
        };
        let mut advice = Advice {
            value: Some(candidate(&best).value),
            bounds: candidate(&best).bounds,
            nodes: own.len() as u64,
            candidates: own.iter().map(candidate).collect(),
            ..Advice::of(best.action)
        };
        pace.publish(advice.clone());
        let (Some(backends), Some(order)) = (&mut self.backends, &self.order) else {
            return Ok(advice);
        };
        let machine = backends.machine();
        let game = machine.game().clone();
        while advice.line.len() < LINE && !pace.is_over() && !machine.is_terminal(&state)? {
            let mut joint = Vec::new();
            for role in game.roles() {
                let moves = match self.table.moves(order, machine, &state, role) {
                    Ok(moves) => moves,
                    // Nobody knows the move of chance.
                    Err(LookError::Chance) => return Ok(advice),
                    Err(error) => return Err(error),
                };
                let best = moves.first().ok_or(LookError::Missing)?;
                joint.push((best.action, moves.len() > 1));
            }
            let actions: Vec<_> = joint.iter().map(|&(action, _)| action).collect();
            state = machine.next(&state, &actions)?;
            advice.line.push(joint);
        }
        Ok(advice)
    }
}

impl Agent for LookupAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        // Some time is left for the other agent, if it is needed.
        let part = pace.part(0.5);
        let table = Arc::clone(&self.table);
        let backends = self.backends()?;
        backends.wait(&part);
        let start = backends.state_after(&[])?;
        let machine = backends.machine();
        let order = table.order_of(machine, &start);
        let known = order.and_then(|order| table.value_of(&order, machine, &start));
        if let Err(error) = known {
            self.brief.tables.note(&table, &error);
            self.has_other_begun = true;
            self.other.begin(pace)?;
        }
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        let joints = observation.required_joint_moves()?;
        let backends = self.backends()?;
        if backends.poll() {
            self.order = None;
        }
        let backends = self.backends()?;
        let state = backends.state_after(joints)?;
        match self.line(state, pace) {
            Ok(advice) => return Ok(advice),
            Err(LookError::Play(error)) => return Err(error.into()),
            // The other agent knows what to do.
            Err(error) => self.brief.tables.note(&self.table, &error),
        }
        if !self.has_other_begun {
            self.has_other_begun = true;
            self.other.begin(&pace.first(0.5))?;
        }
        self.other.choose(observation, pace)
    }

    fn ponder(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        match self.has_other_begun {
            true => self.other.ponder(pace),
            false => Ok(()),
        }
    }
}
