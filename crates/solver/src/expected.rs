//! Expected scores in games with chance where all roles know the position.
//!
//! In: a position and a role. Out: for each of its moves, the score that it can expect: the mean over the
//! moves of chance, where the other roles play against it and know its move. All positions that can be
//! reached are valued once, depth first; where they repeat, there is no such order, and no answer.
//!
//! Source: Michie, Game-Playing and Game-Learning Automata, in: Advances in Programming and Non-Numerical
//! Computation, 1966 (expectimax).

use ggp_engine::machine::{Machine, PlayError, joint_moves};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_search::Budget;
use rustc_hash::FxHashMap;

/// The most joint moves in one position.
const MOST_JOINT_MOVES: usize = 1 << 20;
/// The bytes of a valued position besides its state.
const ENTRY: u64 = 64;

/// The expected scores of a role's moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The moves in the order of the rules, with their expected scores, 0 to 100.
    pub moves: Vec<(Move, f64)>,
    /// Whether these are values under best play of both sides; else the role can expect at least this much.
    pub is_exact: bool,
    /// The number of positions valued.
    pub positions: u64,
}

/// A position whose children are being valued.
struct Frame<S> {
    state: S,
    /// By child, that of the last role changing fastest: its joint move.
    joints: Vec<Vec<Move>>,
    /// The number of moves of the role, of joint moves of the others, and of moves of chance.
    counts: [usize; 3],
    /// The values of the children so far.
    values: Vec<f64>,
}

impl<S> Frame<S> {
    /// By move of the role: its value.
    fn of_moves(&self) -> impl Iterator<Item = f64> {
        let [_, others, outcomes] = self.counts;
        let of_move = self.values.chunks(others * outcomes);
        of_move.map(move |replies| {
            let means = replies.chunks(outcomes);
            let means = means.map(|scores| scores.iter().sum::<f64>() / outcomes as f64);
            means.fold(f64::INFINITY, f64::min)
        })
    }
}

struct Search<'m, M: Machine> {
    machine: &'m mut M,
    /// The role, the others that decide, and those that are chance.
    role: RoleId,
    others: Vec<RoleId>,
    chance: Vec<RoleId>,
    /// The sum of the scores of all deciding roles, if it was the same at all ends.
    sum: Option<u32>,
    is_sum: bool,
    /// Whether the role and another one had a choice at once.
    is_joint: bool,
    /// `None` while the children are being valued.
    values: FxHashMap<M::State, Option<f64>>,
}

impl<M: Machine> Search<'_, M> {
    /// The score at an end; `None` if the game goes on.
    fn end(&mut self, state: &M::State) -> Result<Option<f64>, PlayError> {
        if !self.machine.is_terminal(state)? {
            return Ok(None);
        }
        let score = self.machine.goal(state, self.role)?.get();
        let mut sum = u32::from(score);
        for other in &self.others {
            sum += u32::from(self.machine.goal(state, *other)?.get());
        }
        self.is_sum &= *self.sum.get_or_insert(sum) == sum;
        Ok(Some(score.into()))
    }

    /// The joint moves in a position; `None` if they are too many.
    fn frame(&mut self, state: &M::State) -> Result<Option<Frame<M::State>>, PlayError> {
        let groups = [&[self.role][..], &self.others, &self.chance];
        let roles = groups.concat();
        let mut legal = vec![Vec::new(); roles.len()];
        for (role, moves) in roles.iter().zip(&mut legal) {
            self.machine.legal(state, *role, moves)?;
        }
        let mut sizes = legal.iter().map(Vec::len);
        let counts = groups.map(|group| {
            let of_group = sizes.by_ref().take(group.len());
            of_group.fold(1, usize::saturating_mul)
        });
        if counts.into_iter().fold(1, usize::saturating_mul) > MOST_JOINT_MOVES {
            return Ok(None);
        }
        self.is_joint |= counts[0] > 1 && counts[1] > 1;
        let joints = joint_moves(&legal).map(|chosen| {
            let mut joint = chosen.clone();
            for (role, chosen) in roles.iter().zip(chosen) {
                joint[role.index()] = chosen;
            }
            joint
        });
        Ok(Some(Frame {
            state: state.clone(),
            joints: joints.collect(),
            counts,
            values: Vec::new(),
        }))
    }
}

/// The scores that a role can expect by its moves in a position that all roles know. `None` if positions
/// repeat, or the budget ends first.
///
/// # Errors
///
/// Faults of the rules.
pub fn expected_scores<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
    budget: &Budget,
) -> Result<Option<Expected>, PlayError> {
    let game = machine.game().clone();
    let rest = game.roles().filter(|other| *other != role);
    let (chance, others): (Vec<RoleId>, Vec<RoleId>) = rest.partition(|role| game.is_random(*role));
    let mut search = Search {
        machine,
        role,
        others,
        chance,
        sum: None,
        is_sum: true,
        is_joint: false,
        values: FxHashMap::default(),
    };
    let stop = budget.end();
    // All states have about as many facts as this one.
    let bytes = ENTRY + size_of::<TermId>() as u64 * search.machine.facts(state).len() as u64;
    let most = budget.nodes.min(budget.memory_bytes / bytes);
    let Some(first) = search.frame(state)? else {
        return Ok(None);
    };
    search.values.insert(state.clone(), None);
    let mut frames = vec![first];
    while let Some(frame) = frames.last_mut() {
        let Some(joint) = frame.joints.get(frame.values.len()) else {
            let done = frames.pop().expect("there is one");
            let best = done.of_moves().fold(0.0, f64::max);
            search.values.insert(done.state.clone(), Some(best));
            let Some(parent) = frames.last_mut() else {
                let moves = done.joints.iter().step_by(done.counts[1] * done.counts[2]);
                let moves = moves.map(|joint| joint[role.index()]);
                let is_two = search.others.len() == 1 && search.is_sum && !search.is_joint;
                return Ok(Some(Expected {
                    moves: moves.zip(done.of_moves()).collect(),
                    is_exact: search.others.is_empty() || is_two,
                    positions: search.values.len() as u64,
                }));
            };
            parent.values.push(best);
            continue;
        };
        let next = search.machine.next(&frame.state, joint)?;
        match search.values.get(&next) {
            Some(Some(value)) => {
                frame.values.push(*value);
                continue;
            }
            // The position leads back to itself.
            Some(None) => return Ok(None),
            None => {}
        }
        if search.values.len() as u64 >= most || stop.is_over() {
            return Ok(None);
        }
        if let Some(score) = search.end(&next)? {
            search.values.insert(next, Some(score));
            frame.values.push(score);
            continue;
        }
        let Some(child) = search.frame(&next)? else {
            return Ok(None);
        };
        search.values.insert(next, None);
        frames.push(child);
    }
    unreachable!("the first position has a value when no frame is left")
}
