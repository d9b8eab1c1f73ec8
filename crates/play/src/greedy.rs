//! An agent that looks one joint move ahead.

use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::outlook::{Evaluation, Lanes, Outlook};
use super::spec::evaluation;
use super::{
    Advice, Agent, Backends, Brief, Candidate, Observation, OptionError, Pace, PlayerError,
};
use ggp_engine::machine::PlayError;
use ggp_search::minimax::MinimaxGame;

/// Plays the move with the best average value, assuming that all other roles play
/// uniformly at random.
#[derive(Debug)]
pub struct Greedy {
    brief: Brief,
    evaluation: Evaluation,
    backends: Option<(Backends, Option<Lanes>)>,
    random: Xoshiro256PlusPlus,
}

impl Greedy {
    /// An agent with options as names and values. The only option is `eval`.
    ///
    /// # Errors
    ///
    /// An unknown option, or a value that the option does not accept.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, OptionError> {
        Ok(Greedy {
            random: Xoshiro256PlusPlus::seed_from_u64(brief.seed),
            evaluation: evaluation(settings)?,
            backends: None,
            brief,
        })
    }

    fn backends(&mut self) -> Result<&mut (Backends, Option<Lanes>), PlayError> {
        if self.backends.is_none() {
            let mut backends = Backends::new(&self.brief)?;
            let lanes = Lanes::new(backends.machine(), &self.brief.limits);
            self.backends = Some((backends, lanes));
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }
}

impl Agent for Greedy {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.backends()?.0.wait(&pace.part(1.0));
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        let (role, limits) = (self.brief.role.index(), self.brief.limits.clone());
        self.backends()?;
        let (backends, lanes) = self.backends.as_mut().expect("it was just made");
        if backends.poll() || lanes.is_none() {
            *lanes = Lanes::new(backends.machine(), &limits);
        }
        let state = backends.state_after(observation.required_joint_moves()?)?;
        let mut outlook = Outlook {
            machine: backends.machine(),
            lanes: lanes.as_mut(),
            evaluation: self.evaluation,
            learner: None,
            stop: pace.part(1.0),
            random: self.random.clone(),
        };
        let expansion = outlook.expand(&state, role)?;
        let children = &expansion.children;
        let open = children.iter().filter(|child| child.scores.is_none());
        let open: Vec<_> = open.map(|child| &child.state).collect();
        let mut estimates = Vec::new();
        outlook.estimate(&open, role, &mut estimates)?;
        self.random = outlook.random;

        let mut estimates = estimates.into_iter();
        let mut moves: Vec<Candidate> = (expansion.legal[role].iter())
            .map(|action| Candidate {
                distance: None,
                action: *action,
                visits: 0,
                value: 0.0,
                bounds: (0.0, 100.0),
            })
            .collect();
        // The role's move changes once in `stride` children.
        let stride: usize = expansion.legal[role + 1..].iter().map(Vec::len).product();
        for (place, child) in children.iter().enumerate() {
            let value = match &child.scores {
                Some(scores) => f64::from(scores[role]),
                None => estimates.next().expect("each open state has one"),
            };
            let own = place / stride % moves.len();
            moves[own].visits += 1;
            moves[own].value += value;
        }
        for found in &mut moves {
            found.value /= found.visits.max(1) as f64;
        }
        moves.sort_by(|a, b| b.value.total_cmp(&a.value));
        let best = moves.first().ok_or(PlayError::Interrupted)?.value;
        let equal = moves.partition_point(|found| found.value == best);
        let chosen = moves[..equal]
            .choose(&mut self.random)
            .expect("the best is one");
        Ok(Advice {
            value: Some(best),
            nodes: children.len() as u64,
            candidates: moves.clone(),
            ..Advice::of(chosen.action)
        })
    }
}
