//! Comparison of what roles can know, and of values of games with hidden information.

use std::collections::BTreeMap;

use super::compare::End;
use super::corpus::{Entry, Placed};
use super::digest::list_digest;
use super::record::{BeliefRecord, KnownRecord, TraceRecord, Value};
use super::report::{Difference, GameReport};
use ggp_engine::machine::{Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{
    Belief, BeliefError, BeliefLimits, Member, Memories, PlanError, State, World, best_plan,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

/// Positions that the search for a best plan may look at; plans that need more are left out.
const MOST_POSITIONS: usize = 100_000;
/// All members are kept, so that beliefs are exact.
const LIMITS: BeliefLimits = BeliefLimits {
    members: usize::MAX,
    joint_moves: usize::MAX,
    time: None,
};

/// The results of comparing all beliefs and values of a game.
pub(super) fn compare(
    entry: &Entry,
    game: &Game,
    limits: &Limits,
    report: &mut GameReport,
) -> Vec<Result<(), End>> {
    let mut outcomes = Vec::new();
    if entry.beliefs.is_empty() && entry.values.is_empty() {
        return outcomes;
    }
    let mut world = match World::new(game, Backend::Auto, limits.clone()) {
        Ok(world) => world,
        Err(PlayError::Interrupted) => return vec![Err(End::Interrupted)],
        Err(error) => {
            let mut comparison = Comparison::new(None, &entry.place, report);
            return vec![comparison.differs("world", "an answer", error.to_string())];
        }
    };
    for line in &entry.beliefs {
        let trace = entry.traces.iter();
        let mut trace = trace.filter(|trace| trace.record.playout == line.record.playout);
        let mut comparison = Comparison::new(Some(&mut world), &line.place, report);
        outcomes.push(match trace.next() {
            Some(trace) => comparison.belief(trace, &line.record),
            None => comparison.differs("playout", "a playout in traces*.jsonl", "nothing"),
        });
    }
    for line in &entry.values {
        let mut comparison = Comparison::new(Some(&mut world), &line.place, report);
        outcomes.push(comparison.value(&line.record));
    }
    outcomes
}

struct Comparison<'a> {
    world: Option<&'a mut World>,
    place: &'a str,
    report: &'a mut GameReport,
}

impl<'a> Comparison<'a> {
    fn new(world: Option<&'a mut World>, place: &'a str, report: &'a mut GameReport) -> Self {
        Comparison {
            world,
            place,
            report,
        }
    }

    fn world(&mut self) -> &mut World {
        self.world
            .as_mut()
            .expect("only its absence is reported without it")
    }

    fn differs<T>(
        &mut self,
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Result<T, End> {
        self.report.differences.push(Difference {
            game: self.report.game.clone(),
            place: self.place.to_owned(),
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
        });
        Err(End::Differs)
    }

    fn answer<T>(&mut self, what: &str, answer: Result<T, PlayError>) -> Result<T, End> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(PlayError::Interrupted) => Err(End::Interrupted),
            Err(error) => self.differs(what, "an answer", error.to_string()),
        }
    }

    fn term(&mut self, what: &str, text: &str) -> Result<TermId, End> {
        let game = self.world().game().clone();
        match game.parse_term(self.world().terms_mut(), text) {
            Ok(term) => Ok(term),
            Err(error) => self.differs(what, format!("a term: {text}"), error.to_string()),
        }
    }

    fn role(&mut self, name: &str) -> Result<RoleId, End> {
        match self.world().game().role_named(name) {
            Some(role) => Ok(role),
            None => self.differs("role", name, "no such role"),
        }
    }

    /// Compares what a role can know after each step of a playout.
    fn belief(&mut self, trace: &Placed<TraceRecord>, record: &BeliefRecord) -> Result<(), End> {
        let role = self.role(&record.role)?;
        let start = self.world().start(None);
        let start = self.answer("init", start)?;
        let mut memories = Memories::default();
        let mut belief = Belief::new(self.world(), &mut memories, role, &start, false);
        // Nothing is drawn where all are kept.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let steps = &trace.record.steps;
        for (turn, expected) in record.after.iter().enumerate() {
            let at = format!(
                "playout {} belief of {} after {turn}",
                record.playout, record.role
            );
            if turn > 0 {
                let step = &steps[(turn - 1).min(steps.len().saturating_sub(1))];
                let made = step.joint.get(role.index()).map_or("", String::as_str);
                let made = Move::new(self.term(&at, made)?);
                let told = step.sees.as_ref().and_then(|sees| sees.get(role.index()));
                let told = told.into_iter().flatten().map(|text| self.term(&at, text));
                let told = told.collect::<Result<Vec<_>, _>>()?;
                let world = self.world();
                let turn = (made, &told[..]);
                let updated = belief.update(world, &mut memories, turn, LIMITS, &mut random);
                match updated {
                    Ok(()) => {}
                    Err(BeliefError::Play(error)) => return self.answer(&at, Err(error)),
                    Err(error) => return self.differs(at, "some states", error.to_string()),
                }
            }
            let is_over = turn == steps.len() && trace.record.end == "terminal";
            self.known(&at, &belief, is_over, expected)?;
            self.report.beliefs += 1;
        }
        Ok(())
    }

    fn known(
        &mut self,
        at: &str,
        belief: &Belief,
        is_over: bool,
        expected: &KnownRecord,
    ) -> Result<(), End> {
        let all: Vec<&Member> = belief.members().iter().collect();
        let found = self.summary(&all);
        self.same(
            at,
            (expected.states, expected.histories, &expected.sha),
            found,
        )?;
        let same = belief.with_end(self.world(), is_over);
        let same = self.answer(at, same)?;
        let found = self.summary(&same);
        let (states, histories, sha) = &expected.same_end;
        self.same(&format!("{at} same_end"), (*states, *histories, sha), found)
    }

    /// Number of states, number of histories and digest.
    fn summary(&mut self, members: &[&Member]) -> (usize, u128, String) {
        let world = self.world();
        let game = world.game().clone();
        let digests = members.iter().map(|member| {
            let facts = world.facts(&member.state).into_iter();
            let texts = facts.map(|fact| game.canonical(world.terms(), fact).to_lowercase());
            list_digest(&texts.collect::<Vec<_>>())
        });
        let digests: Vec<String> = digests.collect();
        let histories = members.iter().map(|member| member.histories).sum();
        (members.len(), histories, list_digest(&digests))
    }

    fn same(
        &mut self,
        at: &str,
        (states, histories, sha): (usize, u64, &str),
        found: (usize, u128, String),
    ) -> Result<(), End> {
        if (found.0, found.1, &*found.2) == (states, histories.into(), sha) {
            return Ok(());
        }
        let text = |states: usize, histories: u128, sha: &str| {
            format!("{states} states, {histories} histories, digest {sha}")
        };
        let expected = text(states, histories.into(), sha);
        self.differs(at, expected, text(found.0, found.1, &found.2))
    }

    fn value(&mut self, value: &Value) -> Result<(), End> {
        match value {
            Value::BestOnePlayer {
                role,
                value,
                first_moves,
                information_sets,
                with_choice,
            } => {
                let role = self.role(role)?;
                let start = self.world().start(None);
                let start = self.answer("init", start)?;
                let plan = match best_plan(self.world(), role, &start, MOST_POSITIONS) {
                    Ok(plan) => plan,
                    Err(PlanError::TooLarge(_)) => return Ok(()),
                    Err(PlanError::Play(error)) => return self.answer("best plan", Err(error)),
                    Err(PlanError::Interrupted(_)) => {
                        return self.answer("best plan", Err(PlayError::Interrupted));
                    }
                    Err(error) => return self.differs("best plan", "a plan", error.to_string()),
                };
                self.number("best plan", value, plan.value)?;
                for (made, value) in &plan.moves {
                    let text = self.world().machine().text(*made).to_lowercase();
                    match first_moves.get(&text) {
                        Some(expected) => {
                            self.number(&format!("best plan {text}"), expected, *value)?
                        }
                        None if first_moves.is_empty() => {}
                        None => return self.differs("best plan", "no such move", text),
                    }
                }
                let counts = [
                    (*information_sets, plan.asked),
                    (*with_choice, plan.choices),
                ];
                for (expected, found) in counts {
                    if let Some(expected) = expected.filter(|expected| *expected != found) {
                        let (expected, found) = (expected.to_string(), found.to_string());
                        return self.differs("information sets", expected, found);
                    }
                }
            }
            Value::Equilibrium { roles, value, mix } => self.equilibrium(roles, value, mix)?,
            Value::UniformPlay {
                expected_goals,
                expected_length,
                states_by_depth,
            } => self.uniform(expected_goals, expected_length, *states_by_depth)?,
        }
        self.report.values += 1;
        Ok(())
    }

    /// Compares a number with a fraction.
    fn number(&mut self, what: &str, expected: &str, found: f64) -> Result<(), End> {
        let mut parts = expected.split('/').map(str::parse::<f64>);
        let value = match (parts.next(), parts.next()) {
            (Some(Ok(value)), None) => value,
            (Some(Ok(above)), Some(Ok(below))) => above / below,
            _ => return self.differs(what, "a fraction", expected),
        };
        match (value - found).abs() <= 1e-9 * value.abs().max(1.0) {
            true => Ok(()),
            false => self.differs(what, expected, found.to_string()),
        }
    }

    /// Compares what a mix of first moves earns against each move of the other role.
    fn equilibrium(
        &mut self,
        roles: &[String],
        value: &[String],
        mix: &BTreeMap<String, String>,
    ) -> Result<(), End> {
        let start = self.world().start(None);
        let start = self.answer("init", start)?;
        let status = self.world().status(std::slice::from_ref(&start));
        let status = self.answer("init", status)?.remove(0);
        for (name, value) in roles.iter().zip(value) {
            let role = self.role(name)?;
            let other = self.world().game().roles().find(|other| *other != role);
            let other = other.expect("an equilibrium has two roles");
            for reply in &status.legal[other.index()] {
                let mut sum = 0.0;
                for (made, share) in mix {
                    let made = Move::new(self.term("mix", made)?);
                    let mut joint = [*reply; 2];
                    joint[role.index()] = made;
                    let after = self.world().steps(&[(&start, &joint)]);
                    let after = self.answer("next", after)?;
                    let score = self.world().scores(&after, role);
                    let score = f64::from(self.answer("goal", score)?[0].get());
                    let share: Vec<f64> = share.split('/').flat_map(str::parse).collect();
                    sum += score * share[0] / share.get(1).copied().unwrap_or(1.0);
                }
                let least = value.parse::<f64>().unwrap_or(f64::NAN);
                if sum < least - 1e-9 {
                    let what = format!("equilibrium {name}");
                    return self.differs(what, format!("at least {value}"), sum.to_string());
                }
            }
        }
        Ok(())
    }

    /// Compares the play of roles that choose with equal probabilities.
    fn uniform(
        &mut self,
        goals: &[Option<String>],
        length: &str,
        states: usize,
    ) -> Result<(), End> {
        let start = self.world().start(None);
        let mut level = vec![(self.answer("init", start)?, 1.0)];
        let roles: Vec<RoleId> = self.world().game().roles().collect();
        let mut sums = vec![0.0; roles.len()];
        let (mut count, mut steps) = (0, 0.0);
        while !level.is_empty() {
            count += level.len();
            let all: Vec<State> = level.iter().map(|(state, _)| state.clone()).collect();
            let status = self.world().status(&all);
            let status = self.answer("legal", status)?;
            let (mut tries, mut ended) = (Vec::new(), Vec::new());
            for ((state, weight), status) in level.iter().zip(&status) {
                if status.terminal {
                    ended.push((state.clone(), *weight));
                    continue;
                }
                steps += weight;
                let mut joints = vec![Vec::new()];
                for legal in &status.legal {
                    let each = |joint: &Vec<Move>| {
                        let longer = |next: &Move| [joint, std::slice::from_ref(next)].concat();
                        legal.iter().map(longer).collect::<Vec<_>>()
                    };
                    joints = joints.iter().flat_map(each).collect();
                }
                let share = weight / joints.len() as f64;
                tries.extend(joints.into_iter().map(|joint| (state, joint, share)));
            }
            let over: Vec<State> = ended.iter().map(|(state, _)| state.clone()).collect();
            for ((role, sum), goal) in roles.iter().zip(&mut sums).zip(goals) {
                if goal.is_some() {
                    let scores = self.world().scores(&over, *role);
                    let scores = self.answer("goal", scores)?;
                    let pairs = ended.iter().zip(scores);
                    *sum += pairs
                        .map(|((_, w), score)| w * f64::from(score.get()))
                        .sum::<f64>();
                }
            }
            let pairs: Vec<(&State, &[Move])> = tries.iter().map(|t| (t.0, &t.1[..])).collect();
            let after = self.world().steps(&pairs);
            let after = self.answer("next", after)?;
            let mut next: Vec<(State, f64)> = Vec::new();
            let mut places: FxHashMap<State, usize> = FxHashMap::default();
            for ((_, _, share), state) in tries.iter().zip(after) {
                let key = self.world().key(&state);
                let place = *places.entry(key).or_insert(next.len());
                match next.get_mut(place) {
                    Some(known) => known.1 += share,
                    None => next.push((state, *share)),
                }
            }
            level = next;
        }
        for ((role, sum), goal) in roles.iter().zip(&sums).zip(goals) {
            if let Some(goal) = goal {
                let name = self.world().game().role_name(*role).to_owned();
                self.number(&format!("uniform play goal {name}"), goal, *sum)?;
            }
        }
        self.number("uniform play length", length, steps)?;
        match count == states {
            true => Ok(()),
            false => self.differs("uniform play states", states.to_string(), count.to_string()),
        }
    }
}
