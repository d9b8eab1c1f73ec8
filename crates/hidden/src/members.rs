//! The states of a belief, with weights and histories.
//!
//! Source: Doucet, Johansen: A Tutorial on Particle Filtering and Smoothing, 2009, section 3.4
//! (systematic resampling).

use std::sync::Arc;

use ggp_gdl::game::Move;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rustc_hash::FxHashMap;

use super::knowledge::KnowledgeId;
use super::world::{State, World};

/// A state that fits what the role knows.
#[derive(Clone, Debug)]
pub struct Member {
    /// The state, with the percepts of the last joint move.
    pub state: State,
    /// The number of histories that lead to it, of those that were tried. At most 2¹²⁸ − 1.
    pub histories: u128,
    /// The probability of these histories, up to a factor that all members share, if `random` and
    /// the other roles choose among their legal moves with equal probabilities. Where the belief
    /// keeps what others know, only the choices of `random` count.
    pub weight: f64,
    /// By role: what it knows; empty if the belief does not keep it.
    pub known: Box<[KnowledgeId]>,
    /// The last joint move of one of the histories, with those before.
    pub(super) past: Option<Arc<Past>>,
    /// The member of the sample that it comes from, when these were last made independently.
    pub(super) line: u32,
}

/// A joint move and those before it.
#[derive(Debug)]
pub(super) struct Past {
    before: Option<Arc<Past>>,
    joint: Vec<Move>,
}

impl Past {
    pub fn after(before: &Option<Arc<Past>>, joint: Vec<Move>) -> Option<Arc<Past>> {
        let before = before.clone();
        Some(Arc::new(Past { before, joint }))
    }

    /// The joint moves, the first one first.
    pub fn joints(last: &Option<Arc<Past>>) -> Vec<Vec<Move>> {
        let mut joints = Vec::new();
        let mut at = last.as_ref();
        while let Some(past) = at {
            joints.push(past.joint.clone());
            at = past.before.as_ref();
        }
        joints.reverse();
        joints
    }
}

impl Drop for Past {
    /// One after another: a long history must not fill the stack.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(last) = before.and_then(Arc::into_inner) {
            let mut last = last;
            before = last.before.take();
        }
    }
}

impl Member {
    pub(super) fn new(state: State, weight: f64, known: Box<[KnowledgeId]>) -> Member {
        Member {
            state,
            histories: 1,
            weight,
            known,
            past: None,
            line: 0,
        }
    }

    pub(super) fn with_past(mut self, past: Option<Arc<Past>>) -> Member {
        self.past = past;
        self
    }

    /// The joint moves of one of the histories that lead to the state.
    pub fn history(&self) -> Vec<Vec<Move>> {
        Past::joints(&self.past)
    }
}

/// Members, each state once.
#[derive(Default)]
pub(super) struct Merged {
    pub members: Vec<Member>,
    places: FxHashMap<(State, Box<[KnowledgeId]>), usize>,
}

impl Merged {
    pub fn of(world: &World, members: Vec<Member>) -> Vec<Member> {
        let mut merged = Merged::default();
        for member in members {
            merged.add(world, member);
        }
        merged.members
    }

    pub fn add(&mut self, world: &World, member: Member) {
        let key = (world.key(&member.state), member.known.clone());
        let next = self.members.len();
        let place = *self.places.entry(key).or_insert(next);
        match self.members.get_mut(place) {
            Some(known) => {
                known.histories = known.histories.saturating_add(member.histories);
                known.weight += member.weight;
            }
            None => self.members.push(member),
        }
    }
}

/// Gives each member a line of its own.
pub(super) fn part(members: &mut [Member]) {
    for (line, member) in members.iter_mut().enumerate() {
        member.line = line as u32;
    }
}

/// The effective number of lines: one over the sum of the squares of their shares of the weight.
///
/// Source: Doucet, Johansen 2009, section 3.5 (effective sample size), for lines in place of members.
pub(super) fn lines(members: &[Member]) -> f64 {
    let mut weights: FxHashMap<u32, f64> = FxHashMap::default();
    for member in members {
        *weights.entry(member.line).or_default() += member.weight;
    }
    let total: f64 = weights.values().sum();
    total * total / weights.values().map(|weight| weight * weight).sum::<f64>()
}

/// Members drawn by weight: the position of each, in proportion to the weights.
pub(super) fn draw(weights: &[f64], count: usize, random: &mut dyn Rng) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let first: f64 = random.random();
    let (mut upto, mut at) = (0.0, 0);
    let mut drawn = Vec::with_capacity(count);
    for number in 0..count {
        let target = (number as f64 + first) / count as f64 * total;
        while at + 1 < weights.len() && upto + weights[at] <= target {
            upto += weights[at];
            at += 1;
        }
        drawn.push(at);
    }
    drawn
}

/// Keeps `most` members, drawn by weight without bias: each keeps the expectation of its weight.
/// They are shuffled first: in their order, a step as long as the choices in each state would meet
/// the same choice in all.
///
/// Source: Doucet, Johansen 2009, section 3.4 (systematic resampling).
pub(super) fn resample(members: &mut Vec<Member>, most: usize, random: &mut dyn Rng) {
    members.shuffle(random);
    let total: f64 = members.iter().map(|member| member.weight).sum();
    let share = total / most as f64;
    let mut next = share * random.random::<f64>();
    let mut upto = 0.0;
    members.retain_mut(|member| {
        upto += member.weight;
        let mut copies = 0;
        while next < upto && copies < most {
            next += share;
            copies += 1;
        }
        member.weight = share * copies as f64;
        copies > 0
    });
}
