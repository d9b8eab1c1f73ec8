//! Whether roles can find out what they must know.
//!
//! In: a game with hidden information. Out: for each role, two matches that look alike to it
//! after which its legal moves, the end of the match or its own score differ; or that there are
//! none. All matches are compared while they are few, and otherwise random ones, each with all
//! that look alike to a role or with a sample of them.
//!
//! Source: Schiffel, Thielscher: Representing and Reasoning About the Rules of General Games
//! With Imperfect Information, JAIR 49, 2014 (valid games).

use std::sync::Arc;

use ggp_engine::machine::PlayError;
use ggp_gdl::game::{Move, RoleId, Score};
use rand::{Rng, RngExt};
use rustc_hash::FxHashMap;

use super::belief::{Belief, BeliefError, BeliefLimits};
use super::knowledge::{KnowledgeId, Memories};
use super::members::Past;
use super::step::joints;
use super::world::{State, World};

/// A thing that a role must be able to find out.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Needed {
    /// Whether the match is over.
    End,
    /// Its legal moves.
    Moves,
    /// Its score at the end.
    Score,
}

/// Two matches that look alike to a role, and yet differ for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The role.
    pub role: RoleId,
    /// The difference.
    pub needed: Needed,
    /// The joint moves of each match.
    pub matches: [Vec<Vec<Move>>; 2],
    /// The moves that are legal for the role after only one of them; empty unless
    /// [`Needed::Moves`] is the difference.
    pub moves: Vec<Move>,
}

/// The result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WellFormed {
    /// At most one gap for each role.
    pub gaps: Vec<Gap>,
    /// Whether all matches were compared.
    pub is_whole: bool,
    /// The positions that were compared.
    pub positions: usize,
}

/// The extent of a comparison.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The most positions for a comparison of all matches.
    pub positions: usize,
    /// The number of random matches if there are more.
    pub matches: usize,
    /// The most joint moves of such a match.
    pub depth: usize,
}

/// The things that a role finds in a position.
type Found = (bool, Vec<Move>, Option<Score>);

/// Compares matches from a state on, until a stop of the world's machine. What was compared until
/// then counts.
///
/// # Errors
///
/// Those of the machine, but for a stop.
pub fn well_formed(
    world: &mut World,
    start: &State,
    extent: Extent,
    random: &mut dyn Rng,
) -> Result<WellFormed, PlayError> {
    let mut comparison = Comparison {
        world,
        found: WellFormed {
            gaps: Vec::new(),
            is_whole: false,
            positions: 0,
        },
    };
    let outcome = match comparison.all(start, extent.positions) {
        Ok(true) => {
            comparison.found.is_whole = true;
            Ok(())
        }
        Ok(false) => {
            comparison.found.positions = 0;
            comparison.some(start, extent, random)
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) | Err(PlayError::Interrupted) => Ok(comparison.found),
        Err(error) => Err(error),
    }
}

struct Comparison<'w> {
    world: &'w mut World,
    found: WellFormed,
}

impl Comparison<'_> {
    /// The roles about which nothing was found.
    fn roles(&self) -> Vec<RoleId> {
        let game = self.world.game();
        let roles = game.roles().filter(|role| !game.is_random(*role));
        let is_open = |role: &RoleId| self.found.gaps.iter().all(|gap| gap.role != *role);
        roles.filter(is_open).collect()
    }

    /// The things that each role finds in each position: by role, then by position.
    fn findings(&mut self, states: &[State]) -> Result<Vec<Vec<Found>>, PlayError> {
        let status = self.world.status(states)?;
        let over: Vec<State> = states
            .iter()
            .zip(&status)
            .filter(|(_, status)| status.terminal)
            .map(|(state, _)| state.clone())
            .collect();
        let roles: Vec<RoleId> = self.world.game().roles().collect();
        let mut findings = Vec::new();
        for role in roles {
            let mut scores = match self.world.game().is_random(role) {
                true => vec![None; over.len()],
                false => self.world.outcomes(&over, role)?,
            }
            .into_iter();
            let each = status.iter().map(|status| match status.terminal {
                true => (true, Vec::new(), scores.next().flatten()),
                false => (false, status.legal[role.index()].clone(), None),
            });
            findings.push(each.collect());
        }
        Ok(findings)
    }

    fn compare(
        &mut self,
        role: RoleId,
        (one, other): (&Found, &Found),
        matches: impl FnOnce() -> [Vec<Vec<Move>>; 2],
    ) {
        let needed = match () {
            () if one == other => return,
            () if one.0 != other.0 => Needed::End,
            () if one.1 != other.1 => Needed::Moves,
            () => Needed::Score,
        };
        let of_one = |made: &&Move| !one.1.contains(made) || !other.1.contains(made);
        let moves = one.1.iter().chain(&other.1).filter(of_one).copied();
        self.found.gaps.push(Gap {
            role,
            moves: match needed {
                Needed::Moves => moves.collect(),
                Needed::End | Needed::Score => Vec::new(),
            },
            needed,
            matches: matches(),
        });
    }

    /// Compares all matches; false if there are too many positions.
    fn all(&mut self, start: &State, most: usize) -> Result<bool, PlayError> {
        let mut memories = Memories::default();
        let known = self.world.game().roles().map(|role| memories.start(role));
        let mut level = vec![(
            start.clone(),
            known.collect::<Box<[_]>>(),
            None::<Arc<Past>>,
        )];
        while !level.is_empty() {
            self.found.positions += level.len();
            if self.found.positions > most {
                return Ok(false);
            }
            let states: Vec<State> = level.iter().map(|place| place.0.clone()).collect();
            let findings = self.findings(&states)?;
            for role in self.roles() {
                let mut first: FxHashMap<KnowledgeId, usize> = FxHashMap::default();
                for (at, found) in findings[role.index()].iter().enumerate() {
                    let other = *first.entry(level[at].1[role.index()]).or_insert(at);
                    let both = (&findings[role.index()][other], found);
                    let matches = || [Past::joints(&level[other].2), Past::joints(&level[at].2)];
                    self.compare(role, both, matches);
                    if self.found.gaps.last().is_some_and(|gap| gap.role == role) {
                        break;
                    }
                }
            }
            let status = self.world.status(&states)?;
            let mut tries: Vec<(usize, Vec<Move>)> = Vec::new();
            for (at, status) in status
                .iter()
                .enumerate()
                .filter(|(_, status)| !status.terminal)
            {
                joints(&status.legal, &mut |joint| tries.push((at, joint.to_vec())));
                if tries.len() > most.saturating_mul(4) {
                    return Ok(false);
                }
            }
            let pairs: Vec<(&State, &[Move])> = tries
                .iter()
                .map(|(at, joint)| (&states[*at], &joint[..]))
                .collect();
            let after = self.world.steps(&pairs)?;
            let mut next = Vec::new();
            let mut met: FxHashMap<(State, Box<[KnowledgeId]>), ()> = FxHashMap::default();
            for ((at, joint), state) in tries.into_iter().zip(after) {
                let each = self.world.game().roles().zip(&level[at].1);
                let known = each.map(|(role, before)| {
                    let told = self.world.told(&state, role);
                    memories.after(*before, joint[role.index()], &told)
                });
                let known: Box<[KnowledgeId]> = known.collect();
                let key = (self.world.key(&state), known.clone());
                if met.insert(key, ()).is_none() {
                    next.push((state, known, Past::after(&level[at].2, joint)));
                }
            }
            level = next;
        }
        Ok(true)
    }

    /// Compares random matches, each with those that look alike to a role.
    fn some(
        &mut self,
        start: &State,
        extent: Extent,
        random: &mut dyn Rng,
    ) -> Result<(), PlayError> {
        let limits = BeliefLimits {
            members: 500,
            joint_moves: 20_000,
            time: None,
        };
        for _ in 0..extent.matches {
            let roles = self.roles();
            let mut memories = Memories::default();
            let mut beliefs: Vec<Belief> = roles
                .iter()
                .map(|role| Belief::new(self.world, &mut memories, *role, start, false))
                .collect();
            let mut state = start.clone();
            let mut past: Option<Arc<Past>> = None;
            for _ in 0..extent.depth {
                let status = self.world.status(std::slice::from_ref(&state))?.remove(0);
                if status.terminal {
                    break;
                }
                let legal = status.legal.iter();
                let joint: Vec<Move> = legal
                    .map(|legal| legal[random.random_range(0..legal.len())])
                    .collect();
                state = self.world.steps(&[(&state, &joint)])?.remove(0);
                past = Past::after(&past, joint.clone());
                let own = self.findings(std::slice::from_ref(&state))?;
                let mut kept = Vec::new();
                for mut belief in beliefs {
                    let role = belief.role();
                    let told = self.world.told(&state, role);
                    let turn = (joint[role.index()], &told[..]);
                    match belief.update(self.world, &mut memories, turn, limits, random) {
                        Ok(()) => {}
                        Err(BeliefError::Play(error)) => return Err(error),
                        // A sample that died out says nothing.
                        Err(_) => continue,
                    }
                    let members: Vec<State> = belief
                        .members()
                        .iter()
                        .map(|member| member.state.clone())
                        .collect();
                    let findings = self.findings(&members)?;
                    self.found.positions += members.len();
                    for (member, found) in belief.members().iter().zip(&findings[role.index()]) {
                        let both = (&own[role.index()][0], found);
                        let matches = || [Past::joints(&past), member.history()];
                        self.compare(role, both, matches);
                        if self.found.gaps.last().is_some_and(|gap| gap.role == role) {
                            break;
                        }
                    }
                    if self.found.gaps.iter().all(|gap| gap.role != role) {
                        kept.push(belief);
                    }
                }
                beliefs = kept;
                if beliefs.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }
}
