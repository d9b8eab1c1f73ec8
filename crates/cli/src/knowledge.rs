//! The positions that fit what a role knows, in games with hidden information.

use std::time::Duration;

use anyhow::anyhow;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_engine::machine::{Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Belief, BeliefError, BeliefLimits, Memories, World};
use ggp_picture::{Drawing, DrawingLimits, Picture};

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
    /// The most positions, if they are all that fit.
    positions: usize,
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
        positions: usize,
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
            positions,
            // The same question has the same answer.
            random: Xoshiro256PlusPlus::seed_from_u64(0),
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
        let members = match self.belief.is_exact() {
            true => self.positions,
            false => self.positions.min(SAMPLE.max(self.positions / 10)),
        };
        let limits = BeliefLimits {
            members,
            joint_moves: members.saturating_mul(100),
            time: Some(TIME * u32::try_from(members).unwrap_or(u32::MAX)),
        };
        self.belief
            .update(world, memories, (made, told), limits, random)
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
    ) -> Result<(Drawing, Option<String>), PlayError> {
        let likely = self.likely()?;
        machine.terms_mut().refresh();
        let drawing = picture.draw_likely(machine.terms(), &likely, limits);
        Ok((drawing, self.note(likely.len())))
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
    fn note(&self, positions: usize) -> Option<String> {
        let weights = || self.belief.members().iter().map(|member| member.weight);
        // As many with equal weights are as good.
        let (sum, squares) = (
            weights().sum::<f64>(),
            weights().map(|w| w * w).sum::<f64>(),
        );
        (!self.belief.is_exact()).then(|| {
            format!(
                "a sample of the positions that fit ({positions}, as good as {:.0} with equal weights): \
                 shares are rough, and what is the same in all of them may still be open",
                sum * sum / squares
            )
        })
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
    positions: usize,
) -> anyhow::Result<Known> {
    let game = machine.game().clone();
    let mut known = Known::at_start(&game, role, &states[0], of_machine, positions)?;
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
