//! Histories that fit what a role knows, found from the start.
//!
//! In: a role's moves and its percepts after each. Out: members, each by one history. A
//! search goes forward by joint moves that fit, in random order, and back where none does. The
//! weight of a history corrects for the choices that did not fit.
//!
//! Source: Schofield, Cerexhe, Thielscher: HyperPlay, AAAI 2012, section 3 (the choice points of
//! a history).

use std::sync::Arc;

use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;
use rand::Rng;
use rand::seq::SliceRandom;

use super::belief::{Belief, BeliefError, BeliefLimits};
use super::knowledge::{KnowledgeId, Memories};
use super::members::{Member, Past};
use super::step::Step;
use super::world::{State, World};

/// The most children tried in one position, and the histories that are looked for.
const MOST_CHILDREN: usize = 512;
const HISTORIES: usize = 64;

/// A position of the history that is tried.
struct Level {
    known: Box<[KnowledgeId]>,
    weight: f64,
    made: Option<Arc<Past>>,
    /// The children that fit and were not tried.
    open: Vec<(State, Vec<Move>)>,
    /// The factor of their weights.
    share: f64,
}

/// Members for a past, each by one history; at least one.
///
/// # Errors
///
/// [`BeliefError`].
pub(super) fn find(
    world: &mut World,
    memories: &mut Memories,
    belief: &Belief,
    past: &[(Move, Vec<TermId>)],
    limits: BeliefLimits,
    random: &mut dyn Rng,
) -> Result<Vec<Member>, BeliefError> {
    let mut found = Vec::new();
    let mut tried = 0;
    while found.len() < HISTORIES.min(limits.members) && tried < limits.joint_moves {
        match one(world, memories, belief, past, &mut tried, limits, random)? {
            Some(member) => found.push(member),
            None => break,
        }
    }
    match found.is_empty() {
        true => Err(BeliefError::NotFound {
            turn: past.len(),
            tried,
        }),
        false => Ok(found),
    }
}

/// One history, or `None` if the search ended without one.
fn one(
    world: &mut World,
    memories: &mut Memories,
    belief: &Belief,
    past: &[(Move, Vec<TermId>)],
    tried: &mut usize,
    limits: BeliefLimits,
    random: &mut dyn Rng,
) -> Result<Option<Member>, BeliefError> {
    let first = belief.first(world, memories);
    let mut levels: Vec<Level> = Vec::new();
    let mut next = Some((first.state.clone(), first.known.clone(), 1.0, None));
    loop {
        if let Some((state, known, weight, made_so_far)) = next.take() {
            if levels.len() == past.len() {
                return Ok(Some(
                    Member::new(state, weight, known).with_past(made_so_far),
                ));
            }
            let mut step = step(world, memories, belief, &past[levels.len()]);
            let (open, share) = children(&mut step, (&state, &known), tried, random)?;
            levels.push(Level {
                known,
                weight,
                made: made_so_far,
                open,
                share,
            });
        }
        let turn = levels.len();
        let Some(level) = levels.last_mut() else {
            return Ok(None);
        };
        if *tried >= limits.joint_moves {
            return Ok(None);
        }
        match level.open.pop() {
            None => {
                levels.pop();
            }
            Some((state, joint)) => {
                let mut step = step(world, memories, belief, &past[turn - 1]);
                let known = step.known(&level.known, &joint, &state);
                let made = Past::after(&level.made, joint);
                next = Some((state, known, level.weight * level.share, made));
            }
        }
    }
}

/// A turn of the role of a belief.
fn step<'a>(
    world: &'a mut World,
    memories: &'a mut Memories,
    belief: &Belief,
    (made, told): &'a (Move, Vec<TermId>),
) -> Step<'a> {
    Step {
        world,
        memories,
        role: belief.role(),
        made: *made,
        told,
    }
}

/// States with the joint moves that lead to them, and the probability that one fits.
type Children = (Vec<(State, Vec<Move>)>, f64);

/// The joint moves that fit after a state, in random order, and the probability that one fits.
fn children(
    step: &mut Step<'_>,
    (state, known): (&State, &[KnowledgeId]),
    tried: &mut usize,
    random: &mut dyn Rng,
) -> Result<Children, BeliefError> {
    let status = step.world.status(std::slice::from_ref(state))?.remove(0);
    if !step.is_possible(&status) {
        return Ok((Vec::new(), 0.0));
    }
    step.note_choices(known, &status);
    let all = step.count(&status);
    let mut joints = Vec::new();
    match all <= MOST_CHILDREN {
        true => step.for_each_joint(&status, &mut |joint| joints.push(joint.to_vec())),
        false => joints.extend((0..MOST_CHILDREN).map(|_| step.random_joint(&status, random))),
    }
    let asked = joints.len();
    *tried += asked;
    let pairs: Vec<(&State, &[Move])> = joints.iter().map(|joint| (state, &joint[..])).collect();
    let states = step.world.steps_told(&pairs, step.role, step.told)?;
    let both = states.into_iter().zip(joints);
    let mut open: Vec<(State, Vec<Move>)> = both
        .filter_map(|(state, joint)| Some((state?, joint)))
        .collect();
    open.shuffle(random);
    let mut share = open.len() as f64 / asked as f64;
    if !known.is_empty() {
        // Only the choices of `random` count; the others' are weighed by what they know.
        share *= step.choices(&status);
    }
    Ok((open, share))
}
