//! Beliefs: the states that fit what a role knows.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::errors::{Error, LimitError, play_error};
use crate::game::Game;
use crate::interrupt::interruptible;
use crate::knowledge;
use crate::shared::{Shared, role_number, seed_or_drawn};
use crate::state::State;
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::check::Keyword;
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{
    BeliefError, BeliefLimits, Knowledge, Member, Memories, Query, Subject, World, query_belief,
};
use ggp_play::Observation;
use ggp_stop::Stop;

/// The states that fit what a role knows of a match: its own moves, and its percepts after each.
///
/// A new belief is that before the first move; all roles know the state in which the match begins: the
/// initial one, or `start`. `update` follows a turn. All states that fit are kept while there are at most
/// `members` and a turn has at most `joint_moves` joint moves to try; else a random sample of them,
/// and `is_exact` is false. Equal seeds give equal samples; without a
/// seed, they are different each time. `State.belief` and `View.belief` make a belief
/// that has followed a match.
///
/// Raises `Error` if the rules have no `sees`.
#[pyclass(module = "ggp")]
pub struct Belief {
    shared: Arc<Shared>,
    role: RoleId,
    /// The facts of the first state, if it is not the initial one.
    start: Option<Vec<String>>,
    limits: BeliefLimits,
    kept: Kept,
}

/// The parts that change.
struct Kept {
    belief: ggp_hidden::Belief,
    memories: Memories,
    random: Xoshiro256PlusPlus,
}

/// The settings of a belief.
#[derive(Clone, Copy)]
pub struct Settings {
    pub members: usize,
    pub joint_moves: usize,
    pub seed: u64,
}

fn belief_error(py: Python<'_>, error: &BeliefError) -> PyErr {
    match error {
        BeliefError::Play(error) => play_error(py, error),
        BeliefError::Impossible { turn } => PyValueError::new_err(format!(
            "no state fits after turn {turn}: the role's last move is not legal, or its percepts cannot follow"
        )),
        _ => LimitError::new_err(format!(
            "{error}; more `members` or `joint_moves` may find one"
        )),
    }
}

impl Belief {
    /// The belief of a role before the first move.
    pub fn at_start(
        py: Python<'_>,
        shared: &Arc<Shared>,
        role: RoleId,
        start: Option<Vec<String>>,
        settings: Settings,
    ) -> PyResult<Belief> {
        if !shared.hides() {
            return Err(Error::new_err(
                "the rules have no `sees`: every role knows the state, and needs no belief",
            ));
        }
        if settings.members == 0 || settings.joint_moves == 0 {
            return Err(PyValueError::new_err(
                "`members` and `joint_moves` must be at least 1",
            ));
        }
        let facts = match &start {
            Some(facts) => Some(shared.facts(facts)?),
            None => None,
        };
        let stop = Stop::new();
        let work = || {
            shared.with_world(&stop, |world| {
                let state = world.start(facts.as_deref())?;
                let mut memories = Memories::default();
                let belief = ggp_hidden::Belief::new(world, &mut memories, role, &state, false);
                Ok::<_, PlayError>((belief, memories))
            })
        };
        let made = interruptible(py, &stop, work)?;
        let (belief, memories) = made.map_err(|error| play_error(py, &error))?;
        Ok(Belief {
            shared: Arc::clone(shared),
            role,
            start,
            limits: BeliefLimits {
                members: settings.members,
                joint_moves: settings.joint_moves,
                time: None,
            },
            kept: Kept {
                belief,
                memories,
                random: Xoshiro256PlusPlus::seed_from_u64(settings.seed),
            },
        })
    }

    /// The belief of a role with an observation.
    pub fn after(
        py: Python<'_>,
        shared: &Arc<Shared>,
        role: RoleId,
        start: Option<Vec<String>>,
        observation: &Observation,
        settings: Settings,
    ) -> PyResult<Belief> {
        let mut belief = Belief::at_start(py, shared, role, start, settings)?;
        let told = observation.percepts().unwrap_or_default();
        let turns: Vec<(Move, &[TermId])> = observation
            .own_moves()
            .iter()
            .zip(told)
            .map(|(made, told)| (*made, &told[..]))
            .collect();
        belief.follow(py, &turns)?;
        Ok(belief)
    }

    fn follow(&mut self, py: Python<'_>, turns: &[(Move, &[TermId])]) -> PyResult<()> {
        let limits = self.limits;
        let followed = self.work(py, |world, kept| {
            for turn in turns {
                let Kept {
                    belief,
                    memories,
                    random,
                } = kept;
                belief.update(world, memories, *turn, limits, random)?;
            }
            Ok::<_, BeliefError>(())
        })?;
        followed.map_err(|error| belief_error(py, &error))
    }

    /// Works on the world without the lock of the interpreter.
    fn work<T: Send, E: From<PlayError> + Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut World, &mut Kept) -> Result<T, E> + Send,
    ) -> PyResult<Result<T, E>> {
        let stop = Stop::new();
        let Belief { shared, kept, .. } = self;
        interruptible(py, &stop, || {
            shared.with_world(&stop, |world| work(world, kept))
        })
    }

    /// Drops the states in which the match is over.
    pub fn go_on(&mut self, py: Python<'_>) -> PyResult<()> {
        let left = self.work(py, |world, kept| {
            let goes_on = !kept.belief.with_end(world, false)?.is_empty();
            if goes_on {
                kept.belief.drop_ended(world)?;
            }
            Ok::<_, PlayError>(goes_on)
        })?;
        match left.map_err(|error| play_error(py, &error))? {
            true => Ok(()),
            false => Err(PyValueError::new_err(
                "the match is over in all states that fit",
            )),
        }
    }

    fn observation(&self) -> Observation {
        let past = self.kept.belief.past().iter().cloned();
        let (own, told): (Vec<Move>, Vec<Vec<TermId>>) = past.unzip();
        let mut machine = self.shared.machine();
        machine.terms_mut().refresh();
        let (game, terms) = (machine.game(), machine.terms());
        let in_order = |mut told: Vec<TermId>| {
            told.sort_by(|left, right| game.compare_terms(terms, *left, *right));
            told
        };
        let told: Vec<Vec<TermId>> = told.into_iter().map(in_order).collect();
        Observation::of_percepts(own, told)
    }

    /// The states of members.
    fn states(
        &mut self,
        py: Python<'_>,
        some: impl FnOnce(&[Member], &mut Xoshiro256PlusPlus) -> Vec<usize> + Send,
    ) -> PyResult<Vec<(State, f64)>> {
        let found = self.work(py, |world, kept| {
            let members = kept.belief.members();
            let total: f64 = members.iter().map(|member| member.weight).sum();
            let chosen = some(members, &mut kept.random).into_iter();
            let members = chosen.map(|at| {
                let member = &members[at];
                let facts = world.facts(&member.state);
                (facts, member.history(), member.weight / total)
            });
            Ok::<_, PlayError>(members.collect::<Vec<_>>())
        })?;
        let found = found.map_err(|error| play_error(py, &error))?;
        let mut machine = self.shared.machine();
        machine.terms_mut().refresh();
        let states = found.into_iter().map(|(facts, history, share)| {
            let state = machine.state(&facts);
            let state = state.map_err(|error| play_error(py, &error))?;
            let state = State::reached(&self.shared, state, history, self.start.clone());
            Ok((state, share))
        });
        states.collect()
    }
}

#[pymethods]
impl Belief {
    #[new]
    #[pyo3(signature = (game, role, *, start=None, members=2_000, joint_moves=100_000, seed=None))]
    fn new(
        py: Python<'_>,
        game: &Game,
        #[pyo3(from_py_with = role_number)] role: usize,
        start: Option<&State>,
        members: usize,
        joint_moves: usize,
        seed: Option<u64>,
    ) -> PyResult<Belief> {
        let shared = &game.shared;
        let role = shared.knower(role)?;
        let settings = Settings {
            members,
            joint_moves,
            seed: seed_or_drawn(py, seed)?,
        };
        let facts = match start {
            Some(state) => Some(state.facts_within(py, shared)?),
            None => None,
        };
        Belief::at_start(py, shared, role, facts, settings)
    }

    /// The game.
    #[getter]
    fn game(&self) -> Game {
        Game {
            shared: Arc::clone(&self.shared),
        }
    }

    /// The number of the role.
    #[getter]
    fn role(&self) -> usize {
        self.role.index()
    }

    /// True if the members are all states that fit, and not a sample.
    #[getter]
    fn is_exact(&self) -> bool {
        self.kept.belief.is_exact()
    }

    /// The number of histories that lead to the members, of those that were tried.
    #[getter]
    fn histories(&self) -> u128 {
        let members = self.kept.belief.members().iter();
        members.fold(0, |sum, member| sum.saturating_add(member.histories))
    }

    /// The number of turns so far.
    fn move_number(&self) -> usize {
        self.kept.belief.turns()
    }

    /// Follows a turn: the role's move, and its percepts of the joint move, in any order.
    ///
    /// Raises `ValueError` if no moves of the others fit, and `LimitError` if none were found within
    /// the limits. The belief is unchanged then.
    #[pyo3(name = "update")]
    fn update_by(&mut self, py: Python<'_>, r#move: &str, percepts: Vec<String>) -> PyResult<()> {
        let made = self.shared.machine().read_move(r#move);
        let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let told = self.shared.terms(&percepts)?;
        self.follow(py, &[(made, &told)])
    }

    /// Drops the states in which the match is over: a role that is asked to move knows that it is not.
    ///
    /// Raises `ValueError` if it is over in all of them.
    fn drop_ended(&mut self, py: Python<'_>) -> PyResult<()> {
        self.go_on(py)
    }

    /// The states that fit, each once, with weights of the sum 1: the probability of each if chance and the other
    /// roles choose among their legal moves with equal probabilities. The history of a state is one of those
    /// that lead to it.
    fn members(&mut self, py: Python<'_>) -> PyResult<Vec<(State, f64)>> {
        self.states(py, |members, _| (0..members.len()).collect())
    }

    /// A random state that fits, drawn by weight.
    fn sample(&mut self, py: Python<'_>) -> PyResult<State> {
        let drawn = self.states(py, |members, random| {
            let total: f64 = members.iter().map(|member| member.weight).sum();
            let mut left = random.random::<f64>() * total;
            let place = members.iter().position(|member| {
                left -= member.weight;
                left < 0.0
            });
            vec![place.unwrap_or(members.len() - 1)]
        })?;
        let drawn = drawn.into_iter().next();
        let drawn = drawn.ok_or_else(|| Error::new_err("a belief has a member"))?;
        Ok(drawn.0)
    }

    /// The probability of a fact, such as `(card left king)`, 0 to 1: the weight of the members in
    /// which it holds.
    ///
    /// Raises `ValueError` if the rules do not have its names.
    fn share(&mut self, py: Python<'_>, fact: &str) -> PyResult<f64> {
        let fact = self.shared.terms(&[fact.to_owned()])?[0];
        let answer = self.work(py, |world, kept| {
            let (mut sum, mut total, mut is_all) = (0.0, 0.0, true);
            for member in kept.belief.members() {
                let holds = world.facts(&member.state).contains(&fact);
                total += member.weight;
                sum += if holds { member.weight } else { 0.0 };
                is_all &= holds;
            }
            // Sums of weights are inexact.
            Ok::<_, PlayError>(if is_all { 1.0 } else { sum / total })
        })?;
        answer.map_err(|error| play_error(py, &error))
    }

    /// Returns true if the role knows that a fact holds: it does in all states that fit. For a sample that is
    /// proved, or refuted by another state that fits; `None` if neither is done within a fixed amount of
    /// work. States in which the match is over do not count, unless it is over in all members.
    ///
    /// Raises `ValueError` if the rules do not have its names.
    fn knows(&mut self, py: Python<'_>, fact: &str) -> PyResult<Option<bool>> {
        let fact = self.shared.terms(&[fact.to_owned()])?[0];
        let answer = self.work(py, |world, kept| {
            let belief = &kept.belief;
            let mut members = belief.with_end(world, false)?;
            let is_over = members.is_empty();
            if is_over {
                members = belief.with_end(world, true)?;
            }
            let holds = |member: &&Member| world.facts(&member.state).contains(&fact);
            let holds: Vec<bool> = members.iter().map(holds).collect();
            if holds.contains(&false) {
                return Ok(Knowledge::Proved(false));
            }
            let relation = world.game().keyword(Keyword::True);
            let subject = relation.and_then(|relation| {
                Subject::new(world, (relation, true), |_, arguments| *arguments == [fact])
            });
            let query = Query { holds, subject };
            let stop = world.machine().stop().clone();
            Ok::<_, PlayError>(query_belief(world, belief, is_over, &[query], &stop)?.remove(0))
        })?;
        Ok(match answer.map_err(|error| play_error(py, &error))? {
            Knowledge::Proved(holds) => Some(holds),
            Knowledge::Open { counterexample, .. } => counterexample.map(|_| false),
        })
    }

    /// The legal moves of the role, as texts. Empty if the match is over in all members; those in which
    /// it is over do not count otherwise.
    ///
    /// Raises `Error` if the members have different ones: the rules do not tell the role which
    /// moves are legal.
    fn legal_moves(&mut self, py: Python<'_>) -> PyResult<Vec<String>> {
        let role = self.role;
        let found = self.work(py, |world, kept| {
            let members = kept.belief.members().iter();
            let states: Vec<_> = members.map(|member| member.state.clone()).collect();
            let status = world.status(&states)?.into_iter();
            let mut open = status.filter(|status| !status.terminal);
            let Some(first) = open.next() else {
                return Ok(Some(Vec::new()));
            };
            let legal = &first.legal[role.index()];
            let is_same = open.all(|other| {
                let other = &other.legal[role.index()];
                other.len() == legal.len() && other.iter().all(|made| legal.contains(made))
            });
            Ok::<_, PlayError>(is_same.then(|| legal.clone()))
        })?;
        let legal = found.map_err(|error| play_error(py, &error))?;
        let legal = legal.ok_or_else(|| {
            Error::new_err(format!(
                "{} has other legal moves in two states that look alike to it; `Game.audit` finds such faults \
                 of the rules",
                self.shared.game.role_name(role)
            ))
        })?;
        let mut machine = self.shared.machine();
        machine.terms_mut().refresh();
        Ok(legal.iter().map(|made| machine.text(*made)).collect())
    }

    /// The role's own moves and percepts, as `State.knowledge` has them.
    fn knowledge<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        knowledge::tuple(py, &self.shared, &self.observation())
    }

    /// The role's own moves and percepts as a text.
    fn information_state_string(&self) -> String {
        let start = self.start.as_deref();
        knowledge::text(&self.shared, self.role, &self.observation(), start)
    }

    /// A copy that changes independently.
    #[pyo3(name = "clone")]
    fn copy(&self) -> Belief {
        Belief {
            shared: Arc::clone(&self.shared),
            role: self.role,
            start: self.start.clone(),
            limits: self.limits,
            kept: Kept {
                belief: self.kept.belief.clone(),
                memories: self.kept.memories.clone(),
                random: self.kept.random.clone(),
            },
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a belief cannot be pickled; pickle its game, role and `knowledge()`, and follow these turns again \
             with `update` of a new `ggp.Belief`, or pickle the `State` and call `State.belief` again",
        ))
    }

    fn __copy__(&self) -> Belief {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Belief {
        self.copy()
    }

    /// The number of members.
    fn __len__(&self) -> usize {
        self.kept.belief.members().len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<belief of {} after {}, {}{}>",
            self.shared.game.role_name(self.role),
            counted(self.kept.belief.turns(), "turn"),
            counted(self.kept.belief.members().len(), "state"),
            if self.is_exact() { "" } else { " of a sample" },
        )
    }
}
