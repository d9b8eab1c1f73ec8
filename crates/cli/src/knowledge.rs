//! The positions that fit what a role knows, in games with hidden information.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use ggp_engine::machine::{Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Belief, BeliefError, BeliefLimits, Memories, World};
use ggp_picture::{Drawing, DrawingLimits, Picture};

use crate::format::counted;

/// The options for a drawing of what a role knows.
#[derive(clap::Args)]
pub struct KnownByOptions {
    /// In a game with hidden information, draw what this role knows; contents that are not certain
    /// have their share of the positions that fit
    #[arg(long, value_name = "ROLE")]
    pub known_by: Option<String>,
    /// Maximum number of positions that fit, for --known-by; of more, a sample is kept
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "known_by")]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub positions: usize,
    /// Seed of the sample, for --known-by; with it, work is counted instead of time, so that the
    /// answer can be repeated, but may take longer
    #[arg(long, value_name = "N", requires = "known_by")]
    pub seed: Option<u64>,
}

/// The limits of a sample.
#[derive(Copy, Clone)]
pub struct SampleLimits {
    /// The most positions.
    pub positions: usize,
    /// The seed of the sample. Without it, time is limited as well.
    pub seed: Option<u64>,
}

impl KnownByOptions {
    /// The limits of the sample.
    pub fn sample(&self) -> SampleLimits {
        SampleLimits {
            positions: self.positions,
            seed: self.seed,
        }
    }
}

/// The drawing of a role's knowledge.
#[derive(Serialize)]
pub struct DrawnKnowledge {
    /// The drawing.
    #[serde(flatten)]
    pub drawing: Drawing,
    /// The positions that it is made of.
    pub known_by: Extent,
    /// A note where they are not all that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Positions that fit what a role knows.
#[derive(Serialize)]
pub struct Extent {
    role: String,
    /// Their number.
    pub positions: usize,
    /// Whether they are all that fit, or a sample.
    pub exact: bool,
}

/// A belief, and what asks about its positions.
pub struct Known {
    /// The positions of the belief.
    pub world: World,
    /// The belief of the role.
    pub belief: Belief,
    /// Whether the game is over, which the role knows.
    pub is_over: bool,
    memories: Memories,
    sample: SampleLimits,
    /// The first turn whose search the limit of time may have ended.
    late: Option<usize>,
    random: Xoshiro256PlusPlus,
}

impl Known {
    /// The knowledge of a role at the start of a match, given the facts of the state.
    ///
    /// # Errors
    ///
    /// If the rules have no `sees`, or they cannot be evaluated.
    pub fn at_start(
        game: &Game,
        role: RoleId,
        start: &[TermId],
        of_machine: Limits,
        sample: SampleLimits,
    ) -> anyhow::Result<Known> {
        if !game.is_hidden() {
            return Err(anyhow!(
                "the rules have no `sees`, so every role knows every move; leave --known-by out"
            ));
        }
        let mut world = World::new(game, Backend::Auto, of_machine)?;
        let start = world.start(Some(start))?;
        let mut memories = Memories::default();
        let belief = Belief::new(&world, &mut memories, role, &start, false);
        Ok(Known {
            world,
            belief,
            is_over: false,
            memories,
            sample,
            late: None,
            // The same question has the same answer.
            random: Xoshiro256PlusPlus::seed_from_u64(sample.seed.unwrap_or(0)),
        })
    }

    /// Adds the role's move and its percepts after it.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated, or no position is found that fits.
    pub fn turn(&mut self, made: Move, told: &[TermId]) -> Result<(), BeliefError> {
        let (world, memories) = (&mut self.world, &mut self.memories);
        let random = &mut self.random;
        // Of a sample, fewer are enough.
        let positions = self.sample.positions;
        let members = match self.belief.is_exact() {
            true => positions,
            false => positions.min(SAMPLE.max(positions / 10)),
        };
        let time = TIME * u32::try_from(members).unwrap_or(u32::MAX);
        let limits = BeliefLimits {
            members,
            joint_moves: members.saturating_mul(100),
            time: Some(time).filter(|_| self.sample.seed.is_none()),
        };
        let started = Instant::now();
        self.belief
            .update(world, memories, (made, told), limits, random)?;
        if limits.time.is_some() && started.elapsed() >= time {
            self.late.get_or_insert(self.belief.turns());
        }
        Ok(())
    }

    /// A drawing of the positions that fit, with a note where they are not all.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub fn drawing<M: Machine>(
        &mut self,
        machine: &mut M,
        picture: &Picture,
        limits: DrawingLimits,
    ) -> Result<DrawnKnowledge, PlayError> {
        let likely = self.likely()?;
        machine.terms_mut().refresh();
        let drawing = picture.draw_likely(machine.terms(), &likely, limits);
        Ok(DrawnKnowledge {
            drawing: if self.is_over {
                drawing.at_end()
            } else {
                drawing
            },
            known_by: Extent {
                role: self.world.game().role_name(self.belief.role()).to_owned(),
                positions: likely.len(),
                exact: self.belief.is_exact(),
            },
            note: self.note(),
        })
    }

    /// The facts of the positions in which the game is over or not, as the role knows, with weights.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    fn likely(&mut self) -> Result<Vec<(Vec<TermId>, f64)>, PlayError> {
        let members = self.belief.with_end(&mut self.world, self.is_over)?;
        let likely = members
            .iter()
            .map(|member| (self.world.facts(&member.state), member.weight));
        Ok(likely.collect())
    }

    /// A note where the positions are not all that fit.
    pub fn note(&self) -> Option<String> {
        (!self.belief.is_exact()).then(|| {
            let late = self.late_note();
            format!(
                "a sample of the positions that fit, worth at most about {}: shares can be off, and what is \
                 the same in all of them may still be open{}{}",
                counted(self.belief.lines().round() as usize, "independent position"),
                if late.is_some() { "; " } else { "" },
                late.unwrap_or_default()
            )
        })
    }

    /// A note where the limit of time ended a search, so that another run may find other positions.
    fn late_note(&self) -> Option<String> {
        let turn = self.late?;
        Some(format!(
            "the limit of time ended the search in turn {turn}, so another run may find other positions; \
             --seed N limits work instead, and the same N has the same answer"
        ))
    }
}

/// The most time for histories where no position is left, for each position that is kept.
const TIME: Duration = Duration::from_millis(1);
/// The positions of a sample, if a tenth of the most positions is less.
const SAMPLE: usize = 1_000;

/// The belief of a role after joint moves. `states` are the facts before each of them and after
/// the last; only the role's own moves and percepts are used.
///
/// # Errors
///
/// If the rules have no `sees`, they cannot be evaluated, or no position is found that fits.
pub fn belief<M: Machine>(
    machine: &mut M,
    role: RoleId,
    states: &[Vec<TermId>],
    joints: &[Vec<Move>],
    of_machine: Limits,
    sample: SampleLimits,
) -> anyhow::Result<Known> {
    let game = machine.game().clone();
    let mut known = Known::at_start(&game, role, &states[0], of_machine, sample)?;
    for (facts, joint) in states.iter().zip(joints) {
        let state = machine.state(facts)?;
        let mut told = Vec::new();
        machine.percepts(&state, joint, role, &mut told)?;
        known.turn(joint[role.index()], &told)?;
    }
    let last = machine.state(states.last().expect("there is a first state"))?;
    known.is_over = machine.is_terminal(&last)?;
    Ok(known)
}
