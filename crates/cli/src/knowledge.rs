//! The positions that fit what a role knows, in games with hidden information.

use std::time::Duration;

use anyhow::anyhow;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_engine::machine::{Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Belief, BeliefLimits, Memories, World};

/// A belief, and what asks about its positions.
pub struct Known {
    /// The positions of the belief.
    pub world: World,
    /// The belief of the role.
    pub belief: Belief,
    /// Whether the game is over, which the role knows.
    pub is_over: bool,
}

impl Known {
    /// The facts of the positions in which the game is over or not, as the role knows, with weights.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub fn likely(&mut self) -> Result<Vec<(Vec<TermId>, f64)>, PlayError> {
        let members = self.belief.with_end(&mut self.world, self.is_over)?;
        let likely = members
            .iter()
            .map(|member| (self.world.facts(&member.state), member.weight));
        Ok(likely.collect())
    }

    /// A note where the positions are not all that fit.
    pub fn note(&self, positions: usize) -> Option<String> {
        (!self.belief.is_exact()).then(|| {
            format!(
                "a sample of the positions that fit ({positions}): what is the same in all of them may \
                 still be open"
            )
        })
    }
}

/// The most time for histories where no position is left, for each position that is kept.
const TIME: Duration = Duration::from_micros(500);
/// A sample keeps only a part of the positions that all that fit may be: one in so many.
const SAMPLE: usize = 10;

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
    if !game.is_hidden() {
        return Err(anyhow!(
            "the rules have no `sees`, so every role knows every move; leave --known-by out"
        ));
    }
    let limits = |is_exact: bool| {
        let members = match is_exact {
            true => positions,
            false => positions.div_ceil(SAMPLE),
        };
        BeliefLimits {
            members,
            joint_moves: members.saturating_mul(100),
            time: Some(TIME * u32::try_from(members).unwrap_or(u32::MAX)),
        }
    };
    let mut world = World::new(&game, Backend::Auto, of_machine)?;
    let start = world.start(Some(&states[0]))?;
    let mut memories = Memories::default();
    let mut belief = Belief::new(&world, &mut memories, role, &start, false);
    // The same question has the same answer.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    for (facts, joint) in states.iter().zip(joints) {
        let state = machine.state(facts)?;
        let mut told = Vec::new();
        machine.percepts(&state, joint, role, &mut told)?;
        let turn = (joint[role.index()], &told[..]);
        let limits = limits(belief.is_exact());
        belief.update(&mut world, &mut memories, turn, limits, &mut random)?;
    }
    let last = machine.state(states.last().expect("there is a first state"))?;
    let is_over = machine.is_terminal(&last)?;
    Ok(Known {
        world,
        belief,
        is_over,
    })
}
