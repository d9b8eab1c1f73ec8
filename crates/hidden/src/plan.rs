//! The best plan of a role against others whose choices are known.
//!
//! In: a game with hidden information, and the mixes of moves by which the other roles choose;
//! none if only `random` has choices. Out: the largest score that the role can expect, by plans
//! that depend on its own moves and its percepts alone: a best response.
//!
//! The search goes over what the role knows: the positions that fit, with their probabilities.
//! Each of its moves splits them by the percepts that follow.

use std::fmt;

use ggp_engine::machine::PlayError;
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Move, RoleId};
use rustc_hash::FxHashMap;

use super::knowledge::{KnowledgeId, Memories};
use super::world::{State, Status, World};

/// The value of a role's best plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The score that the plan can expect.
    pub value: f64,
    /// The expected score of each first move.
    pub moves: Vec<(Move, f64)>,
    /// The number of times that the role can be asked to move, told apart by what it knows then.
    pub asked: usize,
    /// Those of them in which it has a choice.
    pub choices: usize,
}

/// The reason why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// A fault of the rules, or a stop before the search.
    Play(PlayError),
    /// A stop after this number of positions.
    Interrupted(usize),
    /// Another role than `random` has a choice.
    Opponent(RoleId),
    /// The role has other legal moves in two positions that look alike to it.
    UnknownMoves,
    /// More positions than this would be looked at.
    TooLarge(usize),
    /// A match can have more moves than this.
    Endless(usize),
}

impl From<PlayError> for PlanError {
    fn from(error: PlayError) -> Self {
        PlanError::Play(error)
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Play(error) => error.fmt(f),
            PlanError::Interrupted(_) => PlayError::Interrupted.fmt(f),
            PlanError::Opponent(_) => f.write_str("another role than `random` has a choice"),
            PlanError::UnknownMoves => {
                f.write_str("the role has other legal moves in two positions that look alike to it")
            }
            PlanError::TooLarge(most) => {
                write!(f, "a plan needs more than {}", counted(most, "position"))
            }
            PlanError::Endless(most) => write!(
                f,
                "a match can have more than {}, so a plan by what the role knows may have no end",
                counted(most, "joint move")
            ),
        }
    }
}

impl std::error::Error for PlanError {}

/// The mix by which a role chooses, by what it knows: a probability for each legal move.
pub type Mix<'a> = dyn FnMut(RoleId, KnowledgeId, &[Move]) -> Vec<f64> + 'a;

/// A position of a plan.
#[derive(Clone, Debug)]
struct Place {
    state: State,
    weight: f64,
    /// By role: what it knows.
    known: Box<[KnowledgeId]>,
}

/// The best plan of a role from a state on, where no other role but `random` has a choice. It
/// looks at no more than `most` positions.
///
/// # Errors
///
/// [`PlanError`].
pub fn best_plan(
    world: &mut World,
    role: RoleId,
    start: &State,
    most: usize,
) -> Result<Plan, PlanError> {
    let mut memories = Memories::default();
    plan(world, &mut memories, Some(role), start, None, most)
}

/// The best response of a role from a state on to the mixes of the others. It looks at no more
/// than `most` positions.
///
/// # Errors
///
/// [`PlanError`].
pub fn best_response(
    world: &mut World,
    memories: &mut Memories,
    role: RoleId,
    start: &State,
    mix: &mut Mix<'_>,
    most: usize,
) -> Result<Plan, PlanError> {
    plan(world, memories, Some(role), start, Some(mix), most)
}

/// The scores that the roles can expect, in their order, if all but `random` choose by mixes. It
/// looks at no more than `most` positions.
///
/// # Errors
///
/// [`PlanError`].
pub fn expected_scores(
    world: &mut World,
    memories: &mut Memories,
    start: &State,
    mix: &mut Mix<'_>,
    most: usize,
) -> Result<Vec<f64>, PlanError> {
    let roles: Vec<RoleId> = world.game().roles().collect();
    let mut search = Search::new(world, memories, None, Some(mix), most);
    let mut sums = vec![0.0; roles.len()];
    let mut level = vec![search.start(start)];
    while !level.is_empty() {
        let (ended, open) = search.split(level)?;
        let states: Vec<State> = ended.iter().map(|place| place.state.clone()).collect();
        for (role, sum) in roles.iter().zip(&mut sums) {
            if !search.world.game().is_random(*role) {
                let scores = search.world.scores(&states, *role)?;
                let pairs = ended.iter().zip(scores);
                *sum += pairs
                    .map(|(e, score)| e.weight * f64::from(score.get()))
                    .sum::<f64>();
            }
        }
        level = search.after(&open, None)?.into_iter().flatten().collect();
    }
    Ok(sums.into_iter().map(without_noise).collect())
}

fn plan<'a>(
    world: &'a mut World,
    memories: &'a mut Memories,
    role: Option<RoleId>,
    start: &State,
    mix: Option<&'a mut Mix<'a>>,
    most: usize,
) -> Result<Plan, PlanError> {
    let mut search = Search::new(world, memories, role, mix, most);
    let first = search.start(start);
    let found = search.value(vec![first]);
    let (value, moves) = found.map_err(|error| match error {
        PlanError::Play(PlayError::Interrupted) => PlanError::Interrupted(most - search.left),
        error => error,
    })?;
    Ok(Plan {
        value: without_noise(value),
        moves: (moves.into_iter())
            .map(|(made, value)| (made, without_noise(value)))
            .collect(),
        asked: search.asked,
        choices: search.choices,
    })
}

/// An expected score without the inexact digits of its sum, so that equal moves have equal scores.
fn without_noise(score: f64) -> f64 {
    const DIGITS: f64 = 1e9;
    ((score * DIGITS).round() / DIGITS).clamp(0.0, 100.0)
}

/// Positions whose game is over, and others with their legal moves.
type Split = (Vec<Place>, Vec<(Place, Status)>);

/// The most moves of a match that a plan looks at.
const MOST_MOVES: usize = 10_000;

/// Positions that look alike, which a role was asked to move in.
struct Asked {
    /// The part of the value of those whose game is over.
    ended: f64,
    open: Vec<(Place, Status)>,
    legal: Vec<Move>,
    /// The moves that are valued.
    moves: Vec<(Move, f64)>,
    /// The move that is being valued, the sets of positions after it that are left, and the sum of the others.
    made: Option<Move>,
    groups: Vec<Vec<Place>>,
    sum: f64,
}

/// Positions that look alike.
enum Entered {
    /// The game is over in all of them; the sum of their scores.
    Ended(f64),
    Open(Asked),
}

struct Search<'a> {
    world: &'a mut World,
    memories: &'a mut Memories,
    /// The role that plans.
    role: Option<RoleId>,
    mix: Option<&'a mut Mix<'a>>,
    left: usize,
    most: usize,
    asked: usize,
    choices: usize,
}

impl<'a> Search<'a> {
    fn new(
        world: &'a mut World,
        memories: &'a mut Memories,
        role: Option<RoleId>,
        mix: Option<&'a mut Mix<'a>>,
        most: usize,
    ) -> Self {
        Search {
            world,
            memories,
            role,
            mix,
            left: most,
            most,
            asked: 0,
            choices: 0,
        }
    }

    fn start(&mut self, state: &State) -> Place {
        let roles = self.world.game().roles();
        Place {
            state: state.clone(),
            weight: 1.0,
            known: roles.map(|role| self.memories.start(role)).collect(),
        }
    }

    /// The positions whose game is over, and the others with their legal moves.
    fn split(&mut self, places: Vec<Place>) -> Result<Split, PlanError> {
        let left = self.left.checked_sub(places.len());
        self.left = left.ok_or(PlanError::TooLarge(self.most))?;
        let states: Vec<State> = places.iter().map(|place| place.state.clone()).collect();
        let status = self.world.status(&states)?;
        let (mut ended, mut open) = (Vec::new(), Vec::new());
        for (place, status) in places.into_iter().zip(status) {
            match status.terminal {
                true => ended.push(place),
                false => open.push((place, status)),
            }
        }
        Ok((ended, open))
    }

    /// The value of positions that look alike, weighted by their probabilities, and of each move. Matches may
    /// be long, so what is open is kept here and not on the stack of calls.
    fn value(&mut self, alike: Vec<Place>) -> Result<(f64, Vec<(Move, f64)>), PlanError> {
        let mut path = Vec::new();
        let mut entered = self.enter(alike)?;
        loop {
            // The value of a set without a choice, or the next set to look at.
            let (value, moves) = match entered {
                Entered::Ended(value) => (value, Vec::new()),
                Entered::Open(asked) => {
                    if path.len() >= MOST_MOVES {
                        return Err(PlanError::Endless(MOST_MOVES));
                    }
                    path.push(asked);
                    (0.0, Vec::new())
                }
            };
            let (mut value, mut moves) = (value, moves);
            entered = loop {
                let Some(last) = path.last_mut() else {
                    return Ok((value, moves));
                };
                last.sum += value;
                value = 0.0;
                if let Some(group) = last.groups.pop() {
                    break self.enter(group)?;
                }
                if let Some(made) = last.made.take() {
                    last.moves.push((made, last.sum));
                }
                let next = last.legal.get(last.moves.len()).copied();
                if let Some(made) = next {
                    let mut groups = self.after(&last.open, Some(made))?;
                    groups.reverse();
                    (last.made, last.groups, last.sum) = (Some(made), groups, 0.0);
                    continue;
                }
                let done = path.pop().expect("it is the last");
                let best = done.moves.iter().map(|(_, value)| *value);
                value = done.ended + best.fold(f64::NEG_INFINITY, f64::max);
                moves = done.moves;
            };
        }
    }

    /// Looks at positions that look alike.
    fn enter(&mut self, alike: Vec<Place>) -> Result<Entered, PlanError> {
        let role = self.role.expect("a role plans");
        let (ended, open) = self.split(alike)?;
        let states: Vec<State> = ended.iter().map(|place| place.state.clone()).collect();
        let scores = self.world.scores(&states, role)?;
        let pairs = ended.iter().zip(scores);
        let ended: f64 = pairs
            .map(|(e, score)| e.weight * f64::from(score.get()))
            .sum();
        let Some((_, first)) = open.first() else {
            return Ok(Entered::Ended(ended));
        };
        let legal = first.legal[role.index()].clone();
        self.asked += 1;
        self.choices += usize::from(legal.len() > 1);
        let differs = |(_, status): &(Place, Status)| status.legal[role.index()] != legal;
        if open.iter().any(differs) {
            return Err(PlanError::UnknownMoves);
        }
        Ok(Entered::Open(Asked {
            ended,
            open,
            legal,
            moves: Vec::new(),
            made: None,
            groups: Vec::new(),
            sum: 0.0,
        }))
    }

    /// The probability of each move of a role.
    fn chances(
        &mut self,
        role: RoleId,
        place: &Place,
        legal: &[Move],
    ) -> Result<Vec<f64>, PlanError> {
        let equal = || vec![1.0 / legal.len() as f64; legal.len()];
        if legal.len() == 1 || self.world.game().is_random(role) {
            return Ok(equal());
        }
        match &mut self.mix {
            None => Err(PlanError::Opponent(role)),
            Some(mix) => Ok(mix(role, place.known[role.index()], legal)),
        }
    }

    /// The positions after a move of the role that plans, or after all moves, in groups that look
    /// alike to it.
    fn after(
        &mut self,
        open: &[(Place, Status)],
        made: Option<Move>,
    ) -> Result<Vec<Vec<Place>>, PlanError> {
        let roles: Vec<RoleId> = self.world.game().roles().collect();
        let mut tries: Vec<(&Place, Vec<Move>, f64)> = Vec::new();
        for (place, status) in open {
            let mut joints: Vec<(Vec<Move>, f64)> = vec![(Vec::new(), place.weight)];
            for (role, legal) in roles.iter().zip(&status.legal) {
                let (legal, chances) = match made.filter(|_| Some(*role) == self.role) {
                    Some(made) => (vec![made], vec![1.0]),
                    None => (legal.clone(), self.chances(*role, place, legal)?),
                };
                let mut longer = Vec::with_capacity(joints.len() * legal.len());
                for (joint, weight) in &joints {
                    for (next, chance) in legal.iter().zip(&chances).filter(|each| *each.1 > 0.0) {
                        let joint = [joint, std::slice::from_ref(next)].concat();
                        longer.push((joint, weight * chance));
                    }
                }
                joints = longer;
            }
            tries.extend(
                joints
                    .into_iter()
                    .map(|(joint, weight)| (place, joint, weight)),
            );
        }
        let pairs = tries
            .iter()
            .map(|(place, joint, _)| (&place.state, &joint[..]));
        let pairs: Vec<(&State, &[Move])> = pairs.collect();
        let states = self.world.steps(&pairs)?;
        let mut groups: Vec<Vec<Place>> = Vec::new();
        let mut by_known: FxHashMap<Option<KnowledgeId>, usize> = FxHashMap::default();
        let mut places: FxHashMap<(State, Box<[KnowledgeId]>), usize> = FxHashMap::default();
        for ((before, joint, weight), state) in tries.into_iter().zip(states) {
            let each = roles.iter().zip(&before.known);
            let known = each.map(|(role, known)| {
                let told = self.world.told(&state, *role);
                self.memories.after(*known, joint[role.index()], &told)
            });
            let known: Box<[KnowledgeId]> = known.collect();
            let own = self.role.map(|role| known[role.index()]);
            let group = *by_known.entry(own).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            let key = (self.world.key(&state), known.clone());
            let next = groups[group].len();
            let place = *places.entry(key).or_insert(next);
            match groups[group].get_mut(place) {
                Some(known) => known.weight += weight,
                None => groups[group].push(Place {
                    state,
                    weight,
                    known,
                }),
            }
        }
        Ok(groups)
    }
}
