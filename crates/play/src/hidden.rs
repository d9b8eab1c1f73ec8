//! Agents for games with hidden information (GDL-II).
//!
//! In: a role's own moves and percepts. Out: advice. All of them keep a [`Belief`], the positions
//! that fit what the role knows, and never see anything else. [`KnowledgeAgent`] searches over what
//! roles know. [`GuessingAgent`] asks an agent for games without hidden information what it would
//! do in some of the positions that fit, each taken as known to all.
//!
//! Source for guessing: Long, Sturtevant, Buro, Furtak: Understanding the Success of Perfect
//! Information Monte Carlo Sampling in Game Tree Search, AAAI 2010.

use std::fmt;
use std::ops::ControlFlow;

use ggp_engine::machine::{AnyMachine, Backend, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{
    Belief, BeliefError, BeliefLimits, KnowledgeId, Memories, SearchOptions, State, Trees, World,
    ascending,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, Brief, Candidate, Observation, OptionError, Pace, PlayerError};

/// The positions that fit what a role knows, kept up to date.
#[derive(Debug)]
struct Knowledge {
    world: World,
    /// The belief, unless the next observation must be followed from the start.
    belief: Option<Belief>,
    start: State,
    /// Whether positions stay apart in which other roles know other things.
    is_apart: bool,
    /// Whether more is wanted than a legal move.
    thinks: bool,
    random: Xoshiro256PlusPlus,
}

impl Knowledge {
    fn new(brief: &Brief, is_apart: bool, thinks: bool, pace: &Pace) -> Result<Self, PlayerError> {
        let mut limits = brief.limits.clone();
        // Without a network in time, Datalog does the same, if slower.
        limits.stop = limits.stop.within(pace.part(GROUNDING).remaining());
        let world = match World::new(&brief.game, Backend::Propnet, limits) {
            Ok(world) => Ok(world),
            Err(_) => World::new(&brief.game, Backend::Datalog, brief.limits.clone()),
        };
        let mut world = world?;
        world.set_stop(&brief.limits.stop);
        let start = world.start(brief.start.as_deref())?;
        Ok(Knowledge {
            world,
            belief: None,
            start,
            is_apart,
            thinks,
            random: Xoshiro256PlusPlus::seed_from_u64(brief.seed),
        })
    }

    /// Brings the belief up to the turns of a role. Where no history that fits is found, it stays
    /// behind, and the result is the reason.
    fn follow(
        &mut self,
        memories: &mut Memories,
        turns: &[(Move, Vec<TermId>)],
        pace: &Pace,
    ) -> Result<Option<BeliefError>, PlayError> {
        let belief = self.belief.as_mut().expect("there is a belief");
        for (made, told) in &turns[belief.turns()..] {
            let turn = (*made, &told[..]);
            let (world, random) = (&mut self.world, &mut self.random);
            match belief.update(world, memories, turn, limits(pace, self.thinks), random) {
                Ok(()) => {}
                Err(BeliefError::Play(error)) => return Err(error),
                Err(lost) => return Ok(Some(lost)),
            }
        }
        Ok(None)
    }

    /// One of some moves, before a search.
    fn unsearched(&self, chosen: Move, moves: &[Move]) -> Advice {
        Advice {
            is_blind: self.thinks && moves.iter().any(|other| *other != chosen),
            ..Advice::of(chosen)
        }
    }

    /// A move that is legal in most of the positions nearest to a role's turns, if it has one.
    fn likely(
        &mut self,
        memories: &mut Memories,
        turns: &[(Move, Vec<TermId>)],
    ) -> Result<Option<Advice>, PlayError> {
        let belief = self.belief.as_ref().expect("there is a belief");
        let (role, turns) = (belief.role().index(), &turns[belief.turns()..]);
        let (world, random) = (&mut self.world, &mut self.random);
        let states = belief.nearest(world, memories, turns, NEAREST, random)?;
        let status = world.status(&states)?.into_iter();
        let open = status.filter(|status| !status.terminal);
        let legal: Vec<Move> = open
            .flat_map(|mut status| status.legal.swap_remove(role))
            .collect();
        let likely = legal.iter().max_by_key(|made| {
            let count = legal.iter().filter(|other| other == made).count();
            (count, random.random::<u32>())
        });
        Ok(likely.map(|made| self.unsearched(*made, &legal)))
    }

    /// The role's legal moves after an observation, which are the same in all positions that fit. If
    /// the rules do not tell the role what is legal, the moves that are legal in the most of them. The
    /// first one is published, so that there is a move from now on. The search ends here with a single
    /// move, or where no position that fits is found, with one that is likely to be legal.
    fn legal(
        &mut self,
        memories: &mut Memories,
        role: RoleId,
        observation: &Observation,
        pace: &Pace,
    ) -> Result<ControlFlow<Advice, Vec<Move>>, PlayerError> {
        let Some(percepts) = observation.percepts() else {
            let reason = "an observation of a game with hidden information has percepts";
            return Err(PlayerError::Other(reason.into()));
        };
        let own = observation.own_moves().iter().copied();
        let turns: Vec<(Move, Vec<TermId>)> = own.zip(percepts.iter().cloned()).collect();
        let is_behind = self.belief.as_ref().is_some_and(|belief| {
            let mut both = belief.past().iter().zip(&turns);
            belief.turns() <= turns.len()
                && both.all(|(before, (made, told))| *before == (*made, ascending(told)))
        });
        if !is_behind {
            let start = Belief::new(&self.world, memories, role, &self.start, self.is_apart);
            self.belief = Some(start);
        }
        let mut likely = None;
        if self
            .belief
            .as_ref()
            .is_some_and(|belief| !belief.is_exact())
        {
            // The update may take all of the time.
            likely = self.likely(memories, &turns)?;
            if let Some(advice) = &likely {
                pace.publish(advice.clone());
            }
        }
        if let Some(lost) = self.follow(memories, &turns, pace)? {
            if likely.is_none() {
                likely = self.likely(memories, &turns)?;
            }
            let lost = PlayerError::Other(lost.into());
            return likely.map(ControlFlow::Break).ok_or(lost);
        }
        let belief = self.belief.as_mut().expect("it was followed");
        // The role is asked, so the match is not over.
        let open = belief.drop_ended(&mut self.world)?;
        if open.is_empty() {
            self.belief = None;
            let reason = "the match is over in all positions that fit the role's percepts";
            return Err(PlayerError::Other(reason.into()));
        }
        let weights = belief.members().iter().map(|member| member.weight);
        let legal: Vec<&[Move]> = open.iter().map(|s| &s.legal[role.index()][..]).collect();
        let legal = surest(&legal, weights);
        let first = self.unsearched(legal[0], &legal);
        if legal.len() == 1 {
            return Ok(ControlFlow::Break(first));
        }
        pace.publish(first);
        Ok(ControlFlow::Continue(legal))
    }
}

/// The moves that are legal in positions with the largest sum of weights, given the legal moves of each
/// position.
fn surest(legal: &[&[Move]], weights: impl Iterator<Item = f64>) -> Vec<Move> {
    if legal.iter().all(|moves| moves == &legal[0]) {
        return legal[0].to_vec();
    }
    let mut sums: Vec<(Move, f64)> = Vec::new();
    for (moves, weight) in legal.iter().zip(weights) {
        for made in *moves {
            match sums.iter_mut().find(|(known, _)| known == made) {
                Some((_, sum)) => *sum += weight,
                None => sums.push((*made, weight)),
            }
        }
    }
    let most = sums.iter().map(|(_, sum)| *sum).fold(0.0, f64::max);
    // Sums of weights are inexact.
    sums.retain(|(_, sum)| *sum >= most * (1.0 - 1e-9));
    sums.into_iter().map(|(made, _)| made).collect()
}

/// The limits of a belief: in the time that is left the update must be a small part, and who does
/// not think needs few positions.
fn limits(pace: &Pace, thinks: bool) -> BeliefLimits {
    let most = BeliefLimits::default();
    let left = pace.part(1.0).remaining();
    let share = match left {
        _ if !thinks => LEAST,
        None => COUNTED,
        Some(left) => left.as_secs_f64().clamp(LEAST, 1.0),
    };
    BeliefLimits {
        members: (most.members as f64 * share) as usize,
        joint_moves: (most.joint_moves as f64 * share) as usize,
        time: left.map(|left| left.mul_f64(FINDING)),
    }
}

/// The least part of the usual limits of a belief.
const LEAST: f64 = 0.05;
/// The part of the usual limits of a belief where iterations are counted and not time.
const COUNTED: f64 = 0.25;
/// The share of the time that is left in which histories are looked for where none is left.
const FINDING: f64 = 0.3;
/// The positions in which a likely move is looked for.
const NEAREST: usize = 16;
/// The share of the start clock for grounding.
const GROUNDING: f64 = 0.8;

/// An agent that searches over what roles know.
#[derive(Debug)]
pub struct KnowledgeAgent {
    brief: Brief,
    options: SearchOptions,
    knowledge: Option<Knowledge>,
    trees: Trees,
}

/// The options of [`KnowledgeAgent`].
pub(super) const OPTIONS: &[(&str, &str)] = &[("c=NUMBER", "weight of exploration, 1 by default")];

impl KnowledgeAgent {
    /// An agent with options as names and values. The only option is `c`.
    ///
    /// # Errors
    ///
    /// An unknown option, or a value that the option does not accept.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, OptionError> {
        let mut options = SearchOptions {
            // A node has some hundred bytes with its share of memories.
            nodes: usize::try_from(brief.memory_bytes / 1_000).unwrap_or(usize::MAX),
            ..SearchOptions::default()
        };
        for (name, value) in settings {
            let wrong = || OptionError::Value {
                name: name.clone(),
                allowed: "a number from 0 to 100".to_owned(),
                value: value.clone(),
            };
            match &name[..] {
                "c" => {
                    let number: f64 = value.parse().map_err(|_| wrong())?;
                    if !(0.0..=100.0).contains(&number) {
                        return Err(wrong());
                    }
                    options.exploration = number;
                }
                _ => return Err(OptionError::unknown(name, OPTIONS)),
            }
        }
        Ok(KnowledgeAgent {
            brief,
            options,
            knowledge: None,
            trees: Trees::default(),
        })
    }

    fn prepare(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        if self.knowledge.is_none() {
            let knowledge = Knowledge::new(&self.brief, true, true, pace)?;
            let knowledge = self.knowledge.insert(knowledge);
            let (steps, seed) = (self.options.steps, self.brief.seed);
            knowledge.world.prepare_playouts(steps, seed);
        }
        Ok(())
    }

    /// The knowledge of the role in the belief.
    fn known(&self) -> Option<KnowledgeId> {
        let belief = self.knowledge.as_ref()?.belief.as_ref()?;
        Some(belief.members()[0].known[self.brief.role.index()])
    }

    /// The advice of the trees, among some moves.
    fn advice(&mut self, legal: &[Move]) -> Option<Advice> {
        let mut options = self.trees.options(self.known()?);
        options.retain(|option| legal.contains(&option.made));
        let knowledge = self.knowledge.as_mut()?;
        let mut left: f64 = knowledge.random.clone().random();
        let drawn = options.iter().find(|option| {
            left -= option.share;
            left < 0.0
        });
        let drawn = drawn.or(options.first())?;
        let candidates = options.iter().map(|option| Candidate {
            action: option.made,
            visits: option.visits,
            value: option.value,
            bounds: (0.0, 100.0),
            distance: None,
        });
        Some(Advice {
            value: Some(drawn.value),
            nodes: self.trees.iterations(),
            candidates: candidates.collect(),
            mix: options
                .iter()
                .map(|option| (option.made, option.share))
                .collect(),
            ..Advice::of(drawn.made)
        })
    }
}

impl Agent for KnowledgeAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.prepare(pace)
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        self.prepare(pace)?;
        let role = self.brief.role;
        let knowledge = self.knowledge.as_mut().expect("it is prepared");
        let memories = &mut self.trees.memories;
        let legal = match knowledge.legal(memories, role, observation, pace)? {
            ControlFlow::Continue(legal) => legal,
            ControlFlow::Break(advice) => return Ok(advice),
        };
        let before = self.trees.iterations();
        knowledge.world.set_stop(&pace.part(1.0));
        let outcome = loop {
            let made = self.trees.iterations() - before;
            let left = pace
                .nodes()
                .map_or(u64::MAX, |nodes| nodes.saturating_sub(made));
            if left == 0 || pace.is_over() {
                break Ok(());
            }
            let Knowledge {
                world,
                belief,
                random,
                ..
            } = self.knowledge.as_mut().expect("it is prepared");
            let options = SearchOptions {
                lanes: usize::try_from(left)
                    .unwrap_or(usize::MAX)
                    .min(self.options.lanes),
                ..self.options
            };
            let belief = belief.as_ref().expect("it was followed");
            if let Err(error) = self.trees.grow(world, belief, &options, random) {
                break Err(error);
            }
            if let Some(advice) = self.advice(&legal) {
                pace.publish(advice);
            }
        };
        let advice = self.advice(&legal);
        let knowledge = self.knowledge.as_mut().expect("it is prepared");
        knowledge.world.set_stop(&self.brief.limits.stop);
        // The next draw is another one.
        let _: u64 = knowledge.random.random();
        match (advice, outcome) {
            (Some(advice), Ok(()) | Err(PlayError::Interrupted)) => Ok(advice),
            (None, Ok(()) | Err(PlayError::Interrupted)) => {
                Ok(knowledge.unsearched(legal[0], &legal))
            }
            (_, Err(error)) => Err(error.into()),
        }
    }
}

/// An agent that asks another one about positions that fit, each taken as known to all.
pub struct GuessingAgent {
    brief: Brief,
    make: Box<dyn Fn(Brief) -> Box<dyn Agent> + Send>,
    /// Whether the other agent searches. One that does not is asked about one position.
    thinks: bool,
    knowledge: Option<Knowledge>,
    memories: Memories,
    /// The machine of the game as it is written.
    machine: Option<AnyMachine>,
}

impl fmt::Debug for GuessingAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("GuessingAgent");
        text.field("brief", &self.brief).finish_non_exhaustive()
    }
}

/// The positions that a guessing agent asks about for one choice.
const GUESSES: usize = 16;

impl GuessingAgent {
    /// An agent that asks the agents that `make` makes, which search or not.
    pub fn new(
        brief: Brief,
        thinks: bool,
        make: impl Fn(Brief) -> Box<dyn Agent> + Send + 'static,
    ) -> Self {
        GuessingAgent {
            brief,
            make: Box::new(make),
            thinks,
            knowledge: None,
            memories: Memories::default(),
            machine: None,
        }
    }

    fn prepare(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        if self.knowledge.is_none() {
            self.knowledge = Some(Knowledge::new(&self.brief, false, self.thinks, pace)?);
        }
        if self.machine.is_none() && self.thinks {
            self.machine = match &self.brief.machine {
                Some(machine) => Some(machine.clone()),
                None => {
                    let limits = self.brief.limits.clone();
                    Some(AnyMachine::new(&self.brief.game, Backend::Auto, limits)?)
                }
            };
        }
        Ok(())
    }
}

impl Agent for GuessingAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.prepare(pace)
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        self.prepare(pace)?;
        let role = self.brief.role;
        let knowledge = self.knowledge.as_mut().expect("it is prepared");
        let legal = match knowledge.legal(&mut self.memories, role, observation, pace)? {
            ControlFlow::Continue(legal) => legal,
            ControlFlow::Break(advice) => return Ok(advice),
        };
        let guesses = if self.thinks { GUESSES } else { 1 };
        let mut candidates: Vec<Candidate> = legal
            .iter()
            .map(|made| Candidate {
                action: *made,
                visits: 0,
                value: 0.0,
                bounds: (0.0, 100.0),
                distance: None,
            })
            .collect();
        let belief = knowledge.belief.as_ref().expect("it was followed");
        let members = belief.members();
        let total: f64 = members.iter().map(|member| member.weight).sum();
        // All that fit, if they are few; or else some that are drawn.
        let random = &mut knowledge.random;
        let chosen: Vec<(usize, f64)> = match belief.is_exact() && members.len() <= guesses {
            true => (members.iter().enumerate())
                .map(|(at, member)| (at, member.weight / total * members.len() as f64))
                .collect(),
            false => (0..guesses)
                .map(|_| {
                    let mut left = random.random::<f64>() * total;
                    let place = members.iter().position(|member| {
                        left -= member.weight;
                        left < 0.0
                    });
                    (place.unwrap_or(members.len() - 1), 1.0)
                })
                .collect(),
        };
        let guesses = chosen.len();
        let (mut nodes, mut is_blind) = (0, self.thinks);
        let (mut weights, mut only) = (0.0, None);
        for (guess, (place, weight)) in chosen.into_iter().enumerate() {
            if guess > 0 && pace.is_over() {
                break;
            }
            let Knowledge {
                world,
                belief,
                random,
                ..
            } = knowledge;
            let state = &belief.as_ref().expect("it was followed").members()[place].state;
            let brief = Brief {
                start: Some(world.facts(state)),
                seed: random.random(),
                machine: self.machine.clone(),
                ..self.brief.clone()
            };
            let share = pace.first(1.0 / (guesses - guess) as f64);
            let share = match pace.nodes() {
                Some(nodes) => share.with_nodes(nodes.div_ceil(guesses as u64)),
                None => share,
            };
            let mut agent = (self.make)(brief);
            let answer = agent
                .begin(&share.first(0.0))
                .and_then(|()| agent.choose(&Observation::of_joint_moves(role, []), &share));
            let advice = match answer {
                Ok(advice) => advice,
                Err(PlayerError::Play(PlayError::Interrupted)) if guess > 0 => break,
                Err(error) => return Err(error),
            };
            nodes += advice.nodes;
            is_blind &= advice.is_blind;
            weights += weight;
            for candidate in &mut candidates {
                let action = candidate.action;
                let is_chosen = action == advice.chosen;
                let mut same = advice.candidates.iter().filter(|one| one.action == action);
                let (visits, value) = match same.next() {
                    Some(one) if one.bounds.0 == one.bounds.1 => (one.visits, one.bounds.0),
                    Some(one) if one.visits > 0 => (one.visits, one.value),
                    // Nothing is known of it.
                    _ => (0, 0.0),
                };
                candidate.visits += visits.max(is_chosen.into());
                candidate.value += weight * value;
            }
            only = (guesses == 1).then_some(advice.chosen);
        }
        if candidates.iter().all(|candidate| candidate.visits == 0) {
            // The rules do not tell the role what is legal, and the guesses are less likely to be.
            let drawn = knowledge.random.random_range(0..candidates.len());
            candidates[drawn].visits = 1;
            is_blind = self.thinks;
        }
        for candidate in &mut candidates {
            candidate.value /= weights;
        }
        // Without doubt, the choice of the other agent; or else the move with the best mean. The visits
        // of a search that a proof has ended say little.
        candidates.sort_by(|a, b| {
            let is_only = |one: &Candidate| Some(one.action) == only;
            let best = b.value.total_cmp(&a.value);
            let first = is_only(b).cmp(&is_only(a));
            first.then(best).then(b.visits.cmp(&a.visits))
        });
        Ok(Advice {
            value: self.thinks.then_some(candidates[0].value),
            nodes,
            is_blind,
            candidates: candidates.clone(),
            ..Advice::of(candidates[0].action)
        })
    }
}
