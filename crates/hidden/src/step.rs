//! One turn of a role: the joint moves of the others that may have been made.
//!
//! In: the states that fit before the turn, the role's move and its percepts. Out: the states that
//! fit after it.

use ggp_engine::machine::PlayError;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::belief::BeliefLimits;
use super::knowledge::{KnowledgeId, Memories};
use super::members::{Member, Merged, Past, draw};
use super::world::{LANES, State, Status, World};

/// One turn of a role.
pub(super) struct Step<'a> {
    pub world: &'a mut World,
    pub memories: &'a mut Memories,
    pub role: RoleId,
    pub made: Move,
    pub told: &'a [TermId],
}

impl Step<'_> {
    /// The members after the turn, and whether all joint moves of the others were tried.
    pub fn after(
        &mut self,
        members: &[Member],
        limits: BeliefLimits,
        random: &mut dyn Rng,
    ) -> Result<(Vec<Member>, bool), PlayError> {
        let states: Vec<State> = members.iter().map(|m| m.state.clone()).collect();
        let status = self.world.status(&states)?;
        let open: Vec<(&Member, Status)> = members
            .iter()
            .zip(status)
            .filter(|(_, status)| self.is_possible(status))
            .collect();
        for (member, status) in &open {
            self.note_choices(&member.known, status);
        }
        let counts = open.iter().map(|(_, status)| self.count(status));
        let all = counts.fold(0usize, usize::saturating_add);
        let is_all = all <= limits.joint_moves;
        let enough = limits.members.saturating_mul(ENOUGH);
        // Each by the position of its member, and its number if all are tried.
        let mut drawn: Vec<(usize, usize)> = match is_all {
            true => (open.iter().enumerate())
                .flat_map(|(at, (_, status))| {
                    (0..self.count(status)).map(move |number| (at, number))
                })
                .collect(),
            false => {
                let weights: Vec<f64> = open.iter().map(|(member, _)| member.weight).collect();
                let places = draw(&weights, limits.joint_moves, random);
                places.into_iter().map(|at| (at, 0)).collect()
            }
        };
        if drawn.len() > enough {
            drawn.shuffle(random);
        }
        let mut merged = Merged::default();
        for some in drawn.chunks(FLUSH) {
            // More are not kept, so all of them are not needed.
            if merged.members.len() >= enough {
                break;
            }
            let mut tries: Vec<(&Member, Vec<Move>, f64, u128)> = Vec::with_capacity(some.len());
            for &(at, number) in some {
                let (member, status) = &open[at];
                let (joint, weight, histories) = match is_all {
                    true => {
                        let chance = self.chance(status, !member.known.is_empty());
                        let joint = self.joint(status, number);
                        (joint, member.weight * chance, member.histories)
                    }
                    // Drawn by weight and uniformly: each counts the same, but for the choices that
                    // a belief that keeps knowledge leaves out.
                    false => {
                        let weight = match member.known.is_empty() {
                            true => 1.0,
                            false => self.choices(status),
                        };
                        (self.random_joint(status, random), weight, 1)
                    }
                };
                tries.push((member, joint, weight, histories));
            }
            self.keep(tries, &mut merged)?;
        }
        Ok((merged.members, is_all))
    }

    /// Notes how many moves each role has in a state.
    pub fn note_choices(&mut self, known: &[KnowledgeId], status: &Status) {
        for (known, legal) in known.iter().zip(&status.legal) {
            self.memories.note_choices(*known, legal.len());
        }
    }

    /// True if the role can have made its move in a state.
    pub fn is_possible(&self, status: &Status) -> bool {
        !status.terminal && status.legal[self.role.index()].contains(&self.made)
    }

    /// The number of joint moves in which the role makes its move.
    pub fn count(&self, status: &Status) -> usize {
        let others = self.others(status).map(|(_, legal)| legal.len());
        others.fold(1, usize::saturating_mul)
    }

    fn others<'s>(&self, status: &'s Status) -> impl Iterator<Item = (usize, &'s Vec<Move>)> {
        let own = self.role.index();
        let roles = status.legal.iter().enumerate();
        roles.filter(move |(role, _)| *role != own)
    }

    /// The probability of each joint move, of `random` only or of all others.
    fn chance(&self, status: &Status, only_random: bool) -> f64 {
        let game = self.world.game();
        let roles = game.roles().filter(|role| *role != self.role);
        let counted = roles.filter(|role| !only_random || game.is_random(*role));
        let each = counted.map(|role| 1.0 / status.legal[role.index()].len() as f64);
        each.product()
    }

    /// The number of choices of the roles other than `random`.
    pub fn choices(&self, status: &Status) -> f64 {
        self.chance(status, true) / self.chance(status, false)
    }

    /// The joint moves in which the role makes its move.
    pub fn for_each_joint(&self, status: &Status, visit: &mut impl FnMut(&[Move])) {
        let mut legal = status.legal.clone();
        legal[self.role.index()] = vec![self.made];
        joints(&legal, visit);
    }

    /// The joint moves after a state for which least of the percepts is wrong, and how much, or some
    /// of them where there are many; none if the game is over or the role's move is not legal.
    pub fn nearest(
        &mut self,
        state: &State,
        random: &mut dyn Rng,
    ) -> Result<(usize, Vec<Vec<Move>>), PlayError> {
        let status = self.world.status(std::slice::from_ref(state))?.remove(0);
        let mut joints = Vec::new();
        if !self.is_possible(&status) {
            return Ok((0, joints));
        }
        match self.count(&status) <= LANES {
            true => self.for_each_joint(&status, &mut |joint| joints.push(joint.to_vec())),
            false => joints.extend((0..LANES).map(|_| self.random_joint(&status, random))),
        }
        let pairs = joints.iter().map(|joint| (state, &joint[..]));
        let states = self.world.steps(&pairs.collect::<Vec<_>>())?;
        let wrong = states.iter().map(|state| {
            let now = self.world.told(state, self.role);
            let is_added = |percept: &&TermId| self.told.binary_search(percept).is_err();
            2 * now.iter().filter(is_added).count() + self.told.len() - now.len()
        });
        let wrong: Vec<usize> = wrong.collect();
        let least = wrong.iter().min().copied().unwrap_or(0);
        let mut each = wrong.iter();
        joints.retain(|_| each.next() == Some(&least));
        Ok((least, joints))
    }

    /// One of the joint moves in which the role makes its move, by its number below their count.
    fn joint(&self, status: &Status, mut number: usize) -> Vec<Move> {
        let own = self.role.index();
        let mut joint = vec![self.made; status.legal.len()];
        for (role, legal) in status.legal.iter().enumerate().rev() {
            if role != own {
                joint[role] = legal[number % legal.len()];
                number /= legal.len();
            }
        }
        joint
    }

    pub fn random_joint(&self, status: &Status, random: &mut dyn Rng) -> Vec<Move> {
        let own = self.role.index();
        let roles = status.legal.iter().enumerate();
        roles
            .map(|(role, legal)| match role == own {
                true => self.made,
                false => legal[random.random_range(0..legal.len())],
            })
            .collect()
    }

    /// Makes joint moves, and adds the states after which the role has its percepts.
    fn keep(
        &mut self,
        tries: Vec<(&Member, Vec<Move>, f64, u128)>,
        merged: &mut Merged,
    ) -> Result<(), PlayError> {
        let pairs: Vec<(&State, &[Move])> = tries
            .iter()
            .map(|(member, joint, ..)| (&member.state, &joint[..]))
            .collect();
        let states = self.world.steps_told(&pairs, self.role, self.told)?;
        for ((member, joint, weight, histories), state) in tries.into_iter().zip(states) {
            if let Some(state) = state {
                let known = self.known(&member.known, &joint, &state);
                let mut kept = Member::new(state, weight, known);
                kept.histories = histories;
                kept.line = member.line;
                let member = kept.with_past(Past::after(&member.past, joint));
                merged.add(self.world, member);
            }
        }
        Ok(())
    }

    /// The knowledge of each role after a joint move.
    pub fn known(
        &mut self,
        before: &[KnowledgeId],
        joint: &[Move],
        state: &State,
    ) -> Box<[KnowledgeId]> {
        let roles = self.world.game().roles().zip(before);
        let known = roles.map(|(role, before)| {
            let told = self.world.told(state, role);
            self.memories.after(*before, joint[role.index()], &told)
        });
        known.collect()
    }
}

/// The joint moves of legal moves, by role; the last role changes fastest.
pub(super) fn joints(legal: &[Vec<Move>], visit: &mut impl FnMut(&[Move])) {
    let mut joint: Vec<Move> = legal.iter().map(|legal| legal[0]).collect();
    let mut at = vec![0; joint.len()];
    loop {
        visit(&joint);
        let mut role = joint.len();
        loop {
            if role == 0 {
                return;
            }
            role -= 1;
            at[role] += 1;
            if let Some(next) = legal[role].get(at[role]) {
                joint[role] = *next;
                break;
            }
            at[role] = 0;
            joint[role] = legal[role][0];
        }
    }
}

/// The factor of the most members kept at which no more are looked for in a turn.
const ENOUGH: usize = 4;
/// The joint moves that are made at once.
const FLUSH: usize = 4_096;
