//! A position as one role knows it, in games with hidden information.
//!
//! In: the moves of a match, of which only the role's own moves and percepts are used. Out: what
//! holds in all positions that fit them, and with what share the rest does.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::time::Duration;

use crate::allowance::Allowance;
use crate::loaded_game::{LoadedGame, Reached};
use crate::locked;
use crate::refusal::Refusal;
use ggp_engine::machine::{Backend, Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Belief, BeliefError, BeliefLimits, Memories, World, ascending};

/// Time limit for building a network. Without one, Datalog answers.
const GROUNDING: Duration = Duration::from_secs(3);
/// The most positions of a belief: a quarter of the time of the usual limit in large games.
const POSITIONS: usize = 500;
/// The most beliefs that are remembered, and the most positions in them.
const KNOWN: (usize, usize) = (24, 30_000);
/// The most facts that are listed as uncertain.
const UNSURE: usize = 1_000;
/// The most positions that are drawn.
const DRAWN: usize = 200;
/// The share from which on a fact is certain.
const CERTAIN: f64 = 1.0 - 1e-9;

/// A role's moves, and its percepts after each, ascending by id.
type Turns = Vec<(Move, Vec<TermId>)>;

/// The knowledge of a role.
#[derive(Serialize)]
pub struct Seat {
    /// The number of the role.
    role: usize,
    /// The role's own moves.
    own: Vec<String>,
    /// Its percepts after each of them.
    seen: Vec<Vec<String>>,
    /// The number of positions that fit.
    positions: usize,
    /// Whether these are all, or a sample.
    exact: bool,
    /// The facts that hold in some of them, with their shares of the probability, if `random` and
    /// the other roles choose with equal probabilities; the likeliest first.
    unsure: Vec<(String, f64)>,
}

/// The positions that a role reckons with.
pub(crate) struct View {
    role: RoleId,
    turns: Turns,
    is_exact: bool,
    /// The facts of each position, with its weight.
    pub states: Vec<(Vec<TermId>, f64)>,
}

/// Beliefs about the matches of one game, which later questions about these matches extend.
#[derive(Debug)]
pub(crate) struct Beliefs {
    world: World,
    /// The one that was asked for last is the last.
    known: Vec<Belief>,
}

impl Beliefs {
    fn new(game: &LoadedGame, allowance: &Allowance) -> Result<Self, PlayError> {
        let mut limits = game.limits(allowance.stop);
        limits.ground.time = Some(GROUNDING);
        Ok(Beliefs {
            world: World::new(&game.game, Backend::Auto, limits)?,
            known: Vec::new(),
        })
    }

    /// The belief of a role after its turns.
    fn after(&mut self, role: RoleId, turns: &Turns) -> Result<Belief, BeliefError> {
        let of_role = self.known.iter().filter(|belief| belief.role() == role);
        let begun = of_role.filter(|belief| turns.starts_with(belief.past()));
        let longest = begun.max_by_key(|belief| belief.turns()).cloned();
        let mut memories = Memories::default();
        let mut belief = match longest {
            Some(belief) => belief,
            None => {
                let start = self.world.start(None)?;
                Belief::new(&self.world, &mut memories, role, &start, false)
            }
        };
        // The same question has the same answer.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        for (made, told) in &turns[belief.turns()..] {
            let limits = BeliefLimits {
                members: POSITIONS,
                ..BeliefLimits::default()
            };
            let turn = (*made, &told[..]);
            belief.update(&mut self.world, &mut memories, turn, limits, &mut random)?;
        }
        self.known
            .retain(|known| known.past() != belief.past() || known.role() != role);
        self.known.push(belief.clone());
        let size = |known: &[Belief]| known.iter().map(|belief| belief.members().len()).sum();
        while self.known.len() > KNOWN.0 || (self.known.len() > 1 && KNOWN.1 < size(&self.known)) {
            self.known.remove(0);
        }
        Ok(belief)
    }
}

impl View {
    /// The positions that fit what a role knows after the moves made.
    ///
    /// # Errors
    ///
    /// If there is no such role, the rules cannot be evaluated, or no position is found that fits.
    pub fn new(
        game: &LoadedGame,
        role: usize,
        reached: &mut Reached,
        allowance: &Allowance,
    ) -> Result<Self, Refusal> {
        let role = game.game.roles().nth(role);
        let role = role.ok_or_else(|| Refusal::no_role(&game.game))?;
        let machine = &mut reached.machine;
        let mut state = machine.initial()?;
        let mut turns = Turns::new();
        for joint in &reached.joints {
            let mut told = Vec::new();
            machine.percepts(&state, joint, role, &mut told)?;
            turns.push((joint[role.index()], ascending(&told)));
            state = machine.next(&state, joint)?;
        }
        let is_over = machine.is_terminal(&state)?;
        // Nobody waits for another one's belief: who comes meanwhile begins anew.
        let taken = locked(&game.beliefs).take();
        let mut beliefs = match taken {
            Some(beliefs) => beliefs,
            None => Beliefs::new(game, allowance)?,
        };
        beliefs.world.set_stop(allowance.stop);
        let found = beliefs.after(role, &turns);
        let view = found.and_then(|belief| {
            let world = &mut beliefs.world;
            let members = belief.with_end(world, is_over)?;
            let states = members
                .iter()
                .map(|member| (world.facts(&member.state), member.weight));
            Ok(View {
                role,
                is_exact: belief.is_exact(),
                states: states.collect(),
                turns,
            })
        });
        *locked(&game.beliefs) = Some(beliefs);
        view.map_err(|error| match error {
            BeliefError::Play(error) => error.into(),
            other => Refusal::rules(other.to_string()),
        })
    }

    /// The role.
    pub fn role(&self) -> RoleId {
        self.role
    }

    /// The facts, each with the share of the probability with which it holds.
    pub fn shares(&self) -> FxHashMap<TermId, f64> {
        let total: f64 = self.states.iter().map(|(_, weight)| weight).sum();
        let mut shares = FxHashMap::default();
        for (facts, weight) in &self.states {
            for fact in facts {
                *shares.entry(*fact).or_default() += weight / total;
            }
        }
        shares
    }

    /// The share of the positions for which something holds, and whether all positions that fit
    /// are known to agree.
    pub fn share<E>(
        &self,
        mut holds: impl FnMut(&[TermId]) -> Result<bool, E>,
    ) -> Result<(f64, Option<bool>), E> {
        let total: f64 = self.states.iter().map(|(_, weight)| weight).sum();
        let (mut share, mut count) = (0.0, 0);
        for (facts, weight) in &self.states {
            if holds(facts)? {
                share += weight / total;
                count += 1;
            }
        }
        let known = match count {
            0 => Some(false),
            all if all == self.states.len() => Some(true),
            _ => None,
        };
        Ok((share, known.filter(|_| self.is_exact)))
    }

    /// The number of positions in words.
    pub fn count(&self) -> String {
        match (self.states.len(), self.is_exact) {
            (1, true) => "the only position that fits".to_owned(),
            (count, true) => format!("all {count} positions that fit"),
            (count, false) => format!("a sample of {count} positions that fit"),
        }
    }

    /// Some positions, as many as are drawn.
    pub fn drawn(&self) -> Vec<(Vec<TermId>, f64)> {
        let step = self.states.len().div_ceil(DRAWN);
        self.states.iter().step_by(step).cloned().collect()
    }

    /// The certain facts, and what else the role knows.
    pub fn seat(&self, reached: &mut Reached) -> (Vec<TermId>, Seat) {
        let machine = &mut reached.machine;
        machine.terms_mut().refresh();
        let (game, terms) = (machine.game(), machine.terms());
        let shares = self.shares();
        let (certain, mut unsure): (Vec<_>, Vec<_>) =
            shares.into_iter().partition(|(_, share)| *share >= CERTAIN);
        unsure.sort_by(|(a, p), (b, q)| q.total_cmp(p).then(game.compare_terms(terms, *a, *b)));
        let text = |fact: &TermId| game.canonical(terms, *fact);
        let unsure = unsure.iter().take(UNSURE);
        let seen = self.turns.iter();
        let seen = seen.map(|(_, told)| {
            let mut texts: Vec<String> = told.iter().map(text).collect();
            texts.sort();
            texts
        });
        let own = self.turns.iter().map(|(made, _)| text(&made.term()));
        let seat = Seat {
            role: self.role.index(),
            own: own.collect(),
            seen: seen.collect(),
            positions: self.states.len(),
            exact: self.is_exact,
            unsure: unsure.map(|(fact, share)| (text(fact), *share)).collect(),
        };
        (certain.into_iter().map(|(fact, _)| fact).collect(), seat)
    }
}
