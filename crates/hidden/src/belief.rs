//! The positions that a role has to reckon with.
//!
//! In: a role's own moves and its percepts after each. Out: the states that fit, with the
//! number of histories that lead to each and with weights: all of them while they are few, a
//! sample where they are too many.
//!
//! A turn asks for every joint move of the others in every state, many in lanes at once, and
//! keeps those after which the role would have its percepts. Where few of a sample are left,
//! `chains` moves them apart. Where none is, it changes histories that nearly fit, and `replay`
//! finds others from the start.
//!
//! Sources: Schofield, Cerexhe, Thielscher: HyperPlay: A Solution to General Game Playing with
//! Imperfect Information, AAAI 2012 (samples of histories); Doucet, Johansen: A Tutorial on
//! Particle Filtering and Smoothing, 2009 (weights and resampling).

use std::fmt;
use std::time::Duration;

use ggp_engine::machine::PlayError;
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use rand::Rng;
use rand::seq::SliceRandom;

use super::chains::{Aim, Chains, Rate};
use super::knowledge::Memories;
use super::members::{Member, Merged, draw, lines, part, resample};
use super::replay;
use super::step::Step;
use super::world::{LANES, State, Status, World};

/// The limits of a belief.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BeliefLimits {
    /// The most members kept after a turn.
    pub members: usize,
    /// The most joint moves tried in a turn. Where no state is left, up to 256 times as many are
    /// tried, but in lanes, where each costs much less.
    pub joint_moves: usize,
    /// The most time for histories where no state is left, and again for others where few are.
    pub time: Option<Duration>,
}

impl Default for BeliefLimits {
    fn default() -> Self {
        BeliefLimits {
            members: 2_000,
            joint_moves: 100_000,
            time: None,
        }
    }
}

/// The reason why there is no belief.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BeliefError {
    /// A fault of the rules, a limit or a stop.
    Play(PlayError),
    /// No history fits: the role cannot have been told this.
    Impossible {
        /// The number of joint moves after which nothing fits.
        turn: usize,
    },
    /// No history was found within the limits, though some may fit.
    NotFound {
        /// The number of joint moves made.
        turn: usize,
        /// The joint moves tried.
        tried: usize,
    },
}

impl From<PlayError> for BeliefError {
    fn from(error: PlayError) -> Self {
        BeliefError::Play(error)
    }
}

impl fmt::Display for BeliefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeliefError::Play(error) => error.fmt(f),
            BeliefError::Impossible { turn } => write!(
                f,
                "no moves of the others fit the role's percepts of the first {}",
                counted(turn, "turn")
            ),
            BeliefError::NotFound { turn, tried } => write!(
                f,
                "no history of the first {} that fits the role's percepts was found among {}; \
                 more positions make it likelier",
                counted(turn, "turn"),
                counted(tried, "joint move")
            ),
        }
    }
}

impl std::error::Error for BeliefError {}

/// The factor of the most joint moves of a turn where histories are looked for in lanes.
const FINDING: usize = 256;
/// The same where a sample is mixed that comes from few lines, times their number, and the number
/// below which it is no larger.
const MIXING: f64 = 1_024.0;
const FEW: f64 = 16.0;
/// The effective lines above which a sample is never mixed.
const ENOUGH: f64 = 128.0;

/// The states that fit what one role knows.
#[derive(Clone, Debug)]
pub struct Belief {
    role: RoleId,
    members: Vec<Member>,
    /// The role's moves, and its percepts after each, ascending by id.
    turns: Vec<(Move, Vec<TermId>)>,
    start: State,
    is_exact: bool,
    is_apart: bool,
    /// The logarithm of the factor by which the weights of members were divided, so that they do not
    /// become too small for numbers in a long match.
    scale: f64,
    /// By turn: what the chains learned about it.
    rates: Vec<[Rate; 2]>,
    /// The most lines since the sample was mixed.
    most: f64,
}

impl Belief {
    /// The belief of a role before the first move. If `is_apart`, two members with the same state
    /// stay apart if any role knows other things in them.
    pub fn new(
        world: &World,
        memories: &mut Memories,
        role: RoleId,
        start: &State,
        is_apart: bool,
    ) -> Belief {
        let known = world.game().roles().filter(|_| is_apart);
        let known = known.map(|role| memories.start(role)).collect();
        Belief {
            role,
            members: vec![Member::new(start.clone(), 1.0, known)],
            turns: Vec::new(),
            start: start.clone(),
            is_exact: true,
            is_apart,
            scale: 0.0,
            rates: Vec::new(),
            most: 1.0,
        }
    }

    /// The role.
    pub fn role(&self) -> RoleId {
        self.role
    }

    /// The states that fit, at least one.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// True if the members are all states that fit.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The number of lines that the members come from, by their weights: the members that share one
    /// had the same history when the sample was last mixed, so the shares of a sample are about as
    /// uncertain as those of this many positions drawn independently, or more uncertain.
    pub fn lines(&self) -> f64 {
        lines(&self.members)
    }

    /// The number of joint moves made.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// The role's moves, and its percepts after each, ascending by id.
    pub fn past(&self) -> &[(Move, Vec<TermId>)] {
        &self.turns
    }

    /// The factor by which the weights of members were divided.
    pub(super) fn scale(&self) -> f64 {
        self.scale.exp()
    }

    /// Whether members stay apart in which other roles know other things.
    pub(super) fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// The state before the first move.
    pub(super) fn start(&self) -> &State {
        &self.start
    }

    /// The member before the first move.
    pub(super) fn first(&self, world: &World, memories: &mut Memories) -> Member {
        let mut first = Belief::new(world, memories, self.role, &self.start, self.is_apart);
        first.members.remove(0)
    }

    /// The belief after one more joint move, in which the role made a move and had these percepts.
    ///
    /// # Errors
    ///
    /// [`BeliefError`]; the belief is unchanged then.
    pub fn update(
        &mut self,
        world: &mut World,
        memories: &mut Memories,
        (made, told): (Move, &[TermId]),
        limits: BeliefLimits,
        random: &mut dyn Rng,
    ) -> Result<(), BeliefError> {
        let told = ascending(told);
        let mut step = Step {
            world,
            memories,
            role: self.role,
            made,
            told: &told,
        };
        let (mut members, mut is_exact) = step.after(&self.members, limits, random)?;
        let turn = self.turns.len() + 1;
        if members.is_empty() {
            if self.members.is_empty() || self.is_exact && is_exact {
                return Err(BeliefError::Impossible { turn });
            }
            let mut past = self.turns.clone();
            past.push((made, told.clone()));
            let passes = limits.joint_moves.saturating_mul(FINDING) / LANES / turn;
            let aim = (Aim::Find, passes, limits);
            let (mut found, passes) = self.chains(world, memories, &past, aim, random)?;
            if found.is_empty() && limits.time.is_some() && world.has_network() {
                let tried = passes * LANES * turn;
                return Err(BeliefError::NotFound { turn, tried });
            }
            if found.is_empty() {
                found = replay::find(world, memories, self, &past, limits, random)?;
                part(&mut found);
            }
            members = Merged::of(world, found);
            is_exact = false;
        }
        if members.len() > limits.members {
            resample(&mut members, limits.members, random);
            is_exact = false;
        }
        let total: f64 = members.iter().map(|member| member.weight).sum();
        if total > 0.0 {
            self.scale += total.ln();
        }
        for member in &mut members {
            member.weight = if total > 0.0 {
                member.weight / total
            } else {
                1.0
            };
        }
        if self.is_exact {
            part(&mut members);
        }
        self.members = members;
        self.is_exact &= is_exact;
        self.turns.push((made, told));
        let now = lines(&self.members);
        self.most = self.most.max(now).min(ENOUGH);
        if 2.0 * now < self.most && !self.is_exact {
            let joints = limits.joint_moves as f64 * MIXING / now.max(FEW);
            let passes = joints as usize / LANES / turn;
            let past = self.turns.clone();
            // Without others, the sample is as good as it was: a stop ends the next question.
            let aim = (Aim::Mix, passes, limits);
            let mixed = self.chains(world, memories, &past, aim, random);
            let mut mixed = Merged::of(world, mixed.unwrap_or_default().0);
            resample(&mut mixed, limits.members, random);
            self.most = now;
            let then = lines(&mixed);
            if then > now {
                (self.members, self.most) = (mixed, then);
            }
        }
        Ok(())
    }

    /// Members by chains, and the passes over the past that these made.
    fn chains(
        &mut self,
        world: &mut World,
        memories: &mut Memories,
        past: &[(Move, Vec<TermId>)],
        (aim, passes, limits): (Aim, usize, BeliefLimits),
        random: &mut dyn Rng,
    ) -> Result<(Vec<Member>, usize), PlayError> {
        let mut rates = std::mem::take(&mut self.rates);
        rates.resize(past.len(), [Rate::default(); 2]);
        let mut chains = Chains {
            world,
            memories,
            belief: self,
            past,
            rates: &mut rates,
        };
        let members = chains.run(aim, passes, limits, random);
        self.rates = rates;
        members
    }

    /// States after turns that the belief does not have yet, from at most `most` of its members:
    /// after joint moves for which few of the role's percepts are wrong, and its moves legal. For a
    /// role that must move though no history that fits was found.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub fn nearest(
        &self,
        world: &mut World,
        memories: &mut Memories,
        turns: &[(Move, Vec<TermId>)],
        most: usize,
        random: &mut dyn Rng,
    ) -> Result<Vec<State>, PlayError> {
        let weights: Vec<f64> = self.members.iter().map(|member| member.weight).collect();
        let drawn = draw(&weights, most, random).into_iter();
        let drawn = drawn.filter_map(|at| self.members.get(at));
        // Each with the number of percepts that are wrong so far.
        let mut states: Vec<(usize, State)> =
            drawn.map(|member| (0, member.state.clone())).collect();
        states.dedup();
        for (turn, (made, told)) in turns.iter().enumerate() {
            let told = ascending(told);
            let mut step = Step {
                world,
                memories,
                role: self.role,
                made: *made,
                told: &told,
            };
            let mut after = Vec::new();
            for (before, state) in &states {
                let (wrong, mut joints) = step.nearest(state, random)?;
                joints.shuffle(random);
                joints.truncate(most);
                let pairs: Vec<_> = joints.iter().map(|joint| (state, &joint[..])).collect();
                let found = step.world.steps(&pairs)?.into_iter();
                after.extend(found.map(|state| (before + wrong, state)));
            }
            if let Some((next, _)) = turns.get(turn + 1) {
                step.made = *next;
                let found: Vec<State> = after.iter().map(|(_, state)| state.clone()).collect();
                let status = step.world.status(&found)?;
                let mut status = status.iter();
                after.retain(|_| status.next().is_some_and(|status| step.is_possible(status)));
            }
            after.shuffle(random);
            after.sort_by_key(|(wrong, _)| *wrong);
            after.truncate(most);
            states = after;
        }
        Ok(states.into_iter().map(|(_, state)| state).collect())
    }

    /// The members whose game is over if it is over for the role, and the others if not.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub fn with_end(&self, world: &mut World, is_over: bool) -> Result<Vec<&Member>, PlayError> {
        let states: Vec<State> = self.members.iter().map(|m| m.state.clone()).collect();
        let status = world.status(&states)?;
        let both = self.members.iter().zip(status);
        let same = both.filter(|(_, status)| status.terminal == is_over);
        Ok(same.map(|(member, _)| member).collect())
    }

    /// Drops the members whose game is over, for a role that is asked to move. The result has the
    /// answers about the members that are left, in their order.
    ///
    /// # Errors
    ///
    /// Those of the machine; the belief is unchanged then.
    pub fn drop_ended(&mut self, world: &mut World) -> Result<Vec<Status>, PlayError> {
        let states: Vec<State> = self.members.iter().map(|m| m.state.clone()).collect();
        let mut status = world.status(&states)?;
        let mut is_over = status.iter().map(|status| status.terminal);
        self.members.retain(|_| is_over.next() == Some(false));
        status.retain(|status| !status.terminal);
        Ok(status)
    }
}

/// Percepts as beliefs keep them: ascending by id, each once.
pub fn ascending(percepts: &[TermId]) -> Vec<TermId> {
    let mut percepts = percepts.to_vec();
    percepts.sort_unstable();
    percepts.dedup();
    percepts
}

#[cfg(test)]
mod tests {
    use ggp_engine::machine::{Backend, Limits};
    use ggp_gdl::game::Game;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn the_chance_of_a_past_is_the_weight_and_its_scale() {
        let text = include_str!("../../../games/kuhn_poker.kif");
        let game = Game::from_text("kuhn_poker", text).unwrap();
        let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
        let mut memories = Memories::default();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let start = world.start(None).unwrap();
        let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
        let mut belief = Belief::new(&world, &mut memories, role, &start, true);
        let status = world
            .status(std::slice::from_ref(&start))
            .unwrap()
            .remove(0);
        let joint: Vec<Move> = status.legal.iter().map(|legal| legal[0]).collect();
        let after = world.steps(&[(&start, &joint[..])]).unwrap().remove(0);
        let told = world.told(&after, role);
        let limits = BeliefLimits::default();
        let turn = (joint[role.index()], &told[..]);
        belief
            .update(&mut world, &mut memories, turn, limits, &mut random)
            .unwrap();
        let weight: f64 = belief.members().iter().map(|member| member.weight).sum();
        assert_eq!(belief.members().len(), 2);
        assert!(
            (weight * belief.scale() - 1.0 / 3.0).abs() < 1e-9,
            "one of three cards"
        );
    }
}
