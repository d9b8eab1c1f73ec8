//! A position as one role knows it, in games with hidden information.
//!
//! In: the moves of a match, of which only the role's own moves and percepts are used. Out: what
//! the role knows to hold, and with what share the rest does.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::time::Duration;

use crate::allowance::Allowance;
use crate::loaded_game::{LoadedGame, Reached};
use crate::locked;
use crate::refusal::Refusal;
use ggp_engine::machine::{Backend, Machine, PlayError};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::program::RelationId;
use ggp_gdl::terms::{TermId, Terms};
use ggp_hidden::{
    Belief, BeliefError, BeliefLimits, Claim, Knowledge, Memories, Query, Subject, World,
    ascending, query_belief,
};
use ggp_stop::Stop;

/// Time limit for building a network. Without one, Datalog answers.
const GROUNDING: Duration = Duration::from_secs(3);
/// The most positions of a belief: a quarter of the time of the usual limit in large games.
const POSITIONS: usize = 500;
/// The most beliefs that are remembered, and the most positions in them.
const KNOWN: (usize, usize) = (24, 30_000);
/// The most facts that are listed as uncertain.
const UNSURE: usize = 1_000;
/// The share of a position without what may not hold, though it does in a whole sample.
const OPEN: f64 = 1e-6;

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
    /// the other roles choose with equal probabilities; the likeliest first. A share of 1 is that of a fact that
    /// holds in all positions of a sample, and that is not proved to hold in others.
    unsure: Vec<(String, f64)>,
}

/// The positions that a role reckons with.
pub(crate) struct View<'g> {
    beliefs: Taken<'g>,
    belief: Belief,
    is_over: bool,
    stop: Stop,
    /// The facts of each position, with its weight.
    states: Vec<(Vec<TermId>, f64)>,
}

/// The beliefs of a game while one view uses them. Nobody waits for another one's belief: who comes
/// meanwhile begins anew.
struct Taken<'g> {
    game: &'g LoadedGame,
    beliefs: Option<Beliefs>,
}

impl<'g> Taken<'g> {
    fn new(game: &'g LoadedGame, allowance: &Allowance) -> Result<Self, PlayError> {
        let taken = locked(&game.beliefs).take();
        let mut beliefs = match taken {
            Some(beliefs) => beliefs,
            None => Beliefs::new(game, allowance)?,
        };
        beliefs.world.set_stop(allowance.stop);
        Ok(Taken {
            game,
            beliefs: Some(beliefs),
        })
    }

    fn get(&mut self) -> &mut Beliefs {
        self.beliefs.as_mut().expect("they are put back at the end")
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *locked(&self.game.beliefs) = self.beliefs.take();
    }
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
        let updated = turns[belief.turns()..].iter().try_for_each(|(made, told)| {
            let limits = BeliefLimits {
                members: POSITIONS,
                ..BeliefLimits::default()
            };
            let turn = (*made, &told[..]);
            belief.update(&mut self.world, &mut memories, turn, limits, &mut random)
        });
        // What was done is kept after an error, too: the next question goes on from it.
        self.known
            .retain(|known| known.past() != belief.past() || known.role() != role);
        self.known.push(belief.clone());
        let size = |known: &[Belief]| known.iter().map(|belief| belief.members().len()).sum();
        while self.known.len() > KNOWN.0 || (self.known.len() > 1 && KNOWN.1 < size(&self.known)) {
            self.known.remove(0);
        }
        updated.map(|()| belief)
    }
}

/// The seat from which something is hidden, if one is given.
///
/// # Errors
///
/// If the game has no such role.
pub(crate) fn hidden_seat(
    game: &LoadedGame,
    seat: Option<usize>,
) -> Result<Option<usize>, Refusal> {
    if seat.is_some_and(|seat| seat >= game.game.role_count()) {
        return Err(Refusal::no_role(&game.game));
    }
    Ok(seat.filter(|_| game.game.is_hidden()))
}

impl<'g> View<'g> {
    /// The positions that fit what a role knows after the moves made.
    ///
    /// # Errors
    ///
    /// If there is no such role, the rules cannot be evaluated, or no position is found that fits.
    pub fn new(
        game: &'g LoadedGame,
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
        let mut beliefs = Taken::new(game, allowance)?;
        let belief = beliefs.get().after(role, &turns);
        let belief = belief.map_err(|error| match error {
            BeliefError::Play(error) => error.into(),
            other => Refusal::rules(other.to_string()),
        })?;
        let world = &mut beliefs.get().world;
        let members = belief.with_end(world, is_over)?;
        let states = members
            .iter()
            .map(|member| (world.facts(&member.state), member.weight));
        let states = states.collect();
        Ok(View {
            beliefs,
            belief,
            is_over,
            stop: allowance.stop.clone(),
            states,
        })
    }

    /// The role.
    pub fn role(&self) -> RoleId {
        self.belief.role()
    }

    /// The facts of each position.
    pub fn positions(&self) -> impl Iterator<Item = &[TermId]> {
        self.states.iter().map(|(facts, _)| &facts[..])
    }

    /// The claims of a relation: see [`Subject::new`].
    pub fn subject(
        &mut self,
        question: (RelationId, bool),
        matches: impl Fn(&World, &[TermId]) -> bool,
    ) -> Option<Subject> {
        Subject::new(&mut self.beliefs.get().world, question, matches)
    }

    /// The role's knowledge about queries. Proofs take half of the time that is left; the next question goes on
    /// from them.
    pub fn query(&mut self, queries: &[Query]) -> Result<Vec<Knowledge>, PlayError> {
        let stop = self.stop.within(self.stop.remaining().map(|left| left / 2));
        let world = &mut self.beliefs.get().world;
        query_belief(world, &self.belief, self.is_over, queries, &stop)
    }

    /// Whether the positions are all that fit.
    pub fn is_exact(&self) -> bool {
        self.belief.is_exact()
    }

    /// The number of positions in words.
    pub fn count(&self) -> String {
        match (self.states.len(), self.is_exact()) {
            (1, true) => "the only position that fits".to_owned(),
            (count, true) => format!("all {count} positions that fit"),
            (count, false) => format!("a sample of {} that fit", counted(count, "position")),
        }
    }

    /// The positions to draw, each with its share: those that fit, or the sample of them. What holds in a whole
    /// sample without being certain is missing in one more position, which has next to no share.
    pub fn drawn(&self, certain: &[TermId]) -> Vec<(Vec<TermId>, f64)> {
        let mut drawn = self.states.clone();
        let Some((first, others)) = self.states.split_first().filter(|_| !self.is_exact()) else {
            return drawn;
        };
        let mut common: FxHashSet<TermId> = first.0.iter().copied().collect();
        for (facts, _) in others {
            let facts: FxHashSet<TermId> = facts.iter().copied().collect();
            common.retain(|fact| facts.contains(fact));
        }
        certain.iter().for_each(|fact| _ = common.remove(fact));
        if !common.is_empty() {
            let facts = first.0.iter().copied();
            drawn.push((facts.filter(|fact| !common.contains(fact)).collect(), OPEN));
        }
        drawn
    }

    /// The facts that the role knows to hold, and the others that may.
    pub fn seat(&mut self, game: &Game, terms: &Terms) -> Result<(Vec<TermId>, Seat), PlayError> {
        let mut places: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
        for (place, facts) in self.positions().enumerate() {
            for fact in facts {
                places.entry(*fact).or_default().push(place);
            }
        }
        // Questions are in the order of their texts, so that the answers do not depend on other matches.
        let mut places: Vec<(TermId, Vec<usize>)> = places.into_iter().collect();
        places.sort_by(|a, b| game.compare_terms(terms, a.0, b.0));
        let (facts, queries): (Vec<TermId>, Vec<Query>) = places
            .into_iter()
            .map(|(fact, places)| {
                let mut holds = vec![false; self.states.len()];
                places.into_iter().for_each(|place| holds[place] = true);
                let subject = Subject {
                    any_of: vec![Claim::Fact(fact)],
                    is_positive: true,
                };
                let subject = Some(subject);
                (fact, Query { holds, subject })
            })
            .unzip();
        let (mut certain, mut unsure) = (Vec::new(), Vec::new());
        for (fact, knowledge) in facts.into_iter().zip(self.query(&queries)?) {
            match knowledge {
                Knowledge::Proved(_) => certain.push(fact),
                Knowledge::Open { share, .. } => unsure.push((fact, share)),
            }
        }
        unsure.sort_by(|(a, p), (b, q)| q.total_cmp(p).then(game.compare_terms(terms, *a, *b)));
        let text = |fact: &TermId| game.text(terms, *fact);
        let unsure = unsure.iter().take(UNSURE);
        let turns = self.belief.past().iter();
        let percepts = turns.clone().map(|(_, told)| {
            let mut texts: Vec<String> = told.iter().map(text).collect();
            texts.sort();
            texts
        });
        let own_moves = turns.map(|(made, _)| text(&made.term()));
        let seat = Seat {
            role: self.role().index(),
            own: own_moves.collect(),
            seen: percepts.collect(),
            positions: self.states.len(),
            exact: self.is_exact(),
            unsure: unsure.map(|(fact, share)| (text(fact), *share)).collect(),
        };
        Ok((certain, seat))
    }
}
