//! The interface of a machine to alpha-beta search: children and estimates of states.
//!
//! With a network, all children of a state are computed at once, one in each lane, and so are
//! their scores and estimates.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::OptionError;
use ggp_engine::machine::{
    AnyMachine, BatchOptions, Limits, Machine, PlayError, PlayoutEnd, PropnetState, narrow_lanes,
    play_to_end,
};
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_learn::Values;
use ggp_search::minimax::{Child, Expansion, MinimaxGame};
use ggp_stop::{Instant, Stop};

/// The evaluation of states that are not terminal.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Evaluation {
    /// The goal value of the role in the state.
    Goals,
    /// The number of legal moves of the role compared to the others.
    Mobility,
    /// A mixture of goal value and mobility.
    #[default]
    Mixed,
    /// The mean score of a few random playouts.
    Playouts,
}

impl FromStr for Evaluation {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "goals" => Ok(Evaluation::Goals),
            "mobility" => Ok(Evaluation::Mobility),
            "mixed" => Ok(Evaluation::Mixed),
            "playouts" => Ok(Evaluation::Playouts),
            _ => Err(OptionError::Value {
                name: "eval".to_owned(),
                allowed: "goals, mobility, mixed or playouts".to_owned(),
                value: text.to_owned(),
            }),
        }
    }
}

/// The most joint moves of a state, with lanes and one by one. There are more only if the role
/// has more moves.
const JOINTS: usize = 4_096;
const JOINTS_ALONE: usize = 512;
/// The number of playouts for each state.
const PLAYOUTS: usize = 4;
/// The most joint moves of a playout.
const PLAYOUT_DEPTH: u64 = 1_000;

/// The lanes of a game's network, with the scores of its goal values.
pub struct Lanes {
    batch: Batch,
    /// By role and goal value; `None` if the value is not a valid score.
    scores: Vec<Vec<Option<u8>>>,
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lanes", self.batch.lanes())
    }
}

impl Lanes {
    /// The lanes of a machine's network, if it has one.
    pub fn new(machine: &AnyMachine, limits: &Limits) -> Option<Self> {
        let AnyMachine::Propnet(machine) = machine else {
            return None;
        };
        let net = machine.net();
        let terms = net.terms();
        let score = |value| net.game().score(&terms, value).ok();
        let scores = net.goals().iter().map(|values| {
            let scores = values.iter().map(|(value, _)| score(*value));
            scores.map(|score| score.map(|score| score.get())).collect()
        });
        Some(Lanes {
            scores: scores.collect(),
            batch: machine.batch(BatchOptions {
                lanes: narrow_lanes(limits.engine),
                engine: limits.engine,
                looks_ahead: false,
            })?,
        })
    }

    /// A role's score in a lane.
    fn score(&mut self, lane: usize, role: usize) -> Option<u8> {
        let mut values = self.batch.goal_values(lane, role);
        match (values.next(), values.next()) {
            (Some(value), None) => self.scores[role][value],
            _ => None,
        }
    }
}

/// Values that are learned by self-play once a proof takes long.
#[derive(Debug)]
pub struct Learner {
    due: Instant,
    time: Duration,
    memory_bytes: u64,
    engine: Engine,
    /// Absent before it is due.
    learned: Option<Option<Values>>,
}

impl Learner {
    /// A learner that takes some time from an instant on, and at most some memory. It learns
    /// nothing without a network, and in games of one player.
    pub fn new(due: Instant, time: Duration, memory_bytes: u64, engine: Engine) -> Learner {
        Learner {
            due,
            time,
            memory_bytes,
            engine,
            learned: None,
        }
    }

    fn values(&mut self, machine: &AnyMachine, stop: &Stop) -> Option<&Values> {
        if self.learned.is_none() && Instant::now() >= self.due {
            self.learned = Some(self.learn(machine, stop));
        }
        self.learned.as_ref()?.as_ref()
    }

    fn learn(&self, machine: &AnyMachine, stop: &Stop) -> Option<Values> {
        let AnyMachine::Propnet(machine) = machine else {
            return None;
        };
        let (net, game) = (machine.net(), machine.game());
        let players = game.roles().filter(|role| !game.is_random(*role)).count();
        if players < 2 || ggp_learn::weight_bytes(net) > self.memory_bytes / 2 {
            return None;
        }
        let options = ggp_learn::Options {
            memory_bytes: (self.memory_bytes / 2) as usize,
            engine: self.engine,
            ..ggp_learn::Options::default()
        };
        let learned = ggp_learn::learn(net, &options, &stop.within(Some(self.time)), |_| ());
        Some(learned.values)
    }
}

/// A machine as a [`MinimaxGame`].
#[derive(Debug)]
pub struct Outlook<'m> {
    /// The machine.
    pub machine: &'m mut AnyMachine,
    /// The lanes of the machine, if it has any.
    pub lanes: Option<&'m mut Lanes>,
    /// The evaluation of states.
    pub evaluation: Evaluation,
    /// Learns values for forecasts. Without it, moves are not counted either, since only
    /// proof-number search needs both.
    pub learner: Option<Learner>,
    /// Ends the evaluation of a state.
    pub stop: Stop,
    /// The random numbers of playouts.
    pub random: Xoshiro256PlusPlus,
}

impl MinimaxGame for Outlook<'_> {
    type State = PropnetState;
    type Move = Move;
    type Error = PlayError;

    fn roles(&self) -> usize {
        self.machine.game().role_count()
    }

    fn is_chance(&self, role: usize) -> bool {
        self.machine.game().is_random(self.role(role))
    }

    fn expand(
        &mut self,
        state: &PropnetState,
        role: usize,
    ) -> Result<Expansion<PropnetState, Move>, PlayError> {
        match (state, &mut self.lanes) {
            (PropnetState::Packed(packed), Some(lanes)) => expand_in_lanes(
                self.machine,
                lanes,
                packed,
                role,
                self.learner.is_some(),
                &self.stop,
            ),
            _ => self.one_by_one(state, role),
        }
    }

    fn estimate(
        &mut self,
        states: &[&PropnetState],
        role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), PlayError> {
        if let Some(lanes) = &mut self.lanes
            && let Some(packed) = packed(states)
        {
            match self.evaluation {
                Evaluation::Playouts => {
                    play_out_in_lanes(lanes, &packed, role, &mut self.random, out)
                }
                evaluation => evaluate_in_lanes(lanes, &packed, role, evaluation, out),
            }
            return Ok(());
        }
        for state in states {
            out.push(match self.evaluation {
                Evaluation::Playouts => self.played_out(state, role)?,
                evaluation => {
                    let score = self.score(state, role)?;
                    let roles = self.machine.game().roles();
                    let count = |role| self.legal(state, role).map(|legal| legal.len());
                    let counts = roles.map(count).collect::<Result<Vec<_>, _>>()?;
                    evaluation.of(score, &counts, role)
                }
            });
        }
        Ok(())
    }

    fn forecast(&mut self, states: &[&PropnetState], role: usize, out: &mut Vec<f64>) {
        let learner = self.learner.as_mut();
        let values = learner.and_then(|learner| learner.values(self.machine, &self.stop));
        let Some((values, packed)) = values.zip(packed(states)) else {
            return out.extend(states.iter().map(|_| 50.0));
        };
        let roles = values.roles();
        let mut scores = vec![0.0; packed.len() * roles];
        values.evaluate(&packed, &mut scores);
        let own = scores.iter().skip(role).step_by(roles);
        out.extend(own.map(|score| f64::from(*score)));
    }

    fn state_heap_bytes(&self, state: &PropnetState) -> u64 {
        // The counters of the `Arc`, and its contents.
        16 + match state {
            PropnetState::Packed(words) | PropnetState::Mixed(words) => 8 * words.len() as u64,
            PropnetState::Facts(facts) => size_of_val(&facts[..]) as u64,
        }
    }
}

impl Evaluation {
    /// The estimate from the role's score and the number of moves of each role.
    fn of(self, score: Option<u8>, moves: &[usize], role: usize) -> f64 {
        let goal = score.map_or(50.0, f64::from);
        let own = moves[role] as f64;
        let others = moves.iter().enumerate().filter(|(at, _)| *at != role);
        let most = others.map(|(_, count)| *count).max().unwrap_or(1) as f64;
        let mobility = match own + most {
            0.0 => 50.0,
            sum => 50.0 + 50.0 * (own - most) / sum,
        };
        match self {
            Evaluation::Goals | Evaluation::Playouts => goal,
            Evaluation::Mobility => mobility,
            Evaluation::Mixed => 0.8 * goal + 0.2 * mobility,
        }
    }
}

impl Outlook<'_> {
    fn role(&self, role: usize) -> RoleId {
        let mut roles = self.machine.game().roles();
        roles.nth(role).expect("the role is in the game")
    }

    fn legal(&mut self, state: &PropnetState, role: RoleId) -> Result<Vec<Move>, PlayError> {
        let mut legal = Vec::new();
        match self.machine.legal(state, role, &mut legal) {
            // This matters only if the match reaches the state.
            Err(PlayError::NoLegalMove(_)) => Ok(Vec::new()),
            result => result.map(|()| legal),
        }
    }

    fn score(&mut self, state: &PropnetState, role: usize) -> Result<Option<u8>, PlayError> {
        let role = self.role(role);
        match self.machine.goal(state, role) {
            Ok(score) => Ok(Some(score.get())),
            Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn one_by_one(
        &mut self,
        state: &PropnetState,
        role: usize,
    ) -> Result<Expansion<PropnetState, Move>, PlayError> {
        let roles = self.machine.game().roles();
        let legal = roles.map(|role| self.legal(state, role));
        let mut legal = legal.collect::<Result<Vec<_>, _>>()?;
        let is_whole = thin_out(&mut legal, role, JOINTS_ALONE);
        let mut children = Vec::new();
        for joint in joints(&legal) {
            let state = self.machine.next(state, &joint)?;
            let scores = match self.machine.is_terminal(&state)? {
                false => None,
                true => {
                    let scores = (0..self.roles()).map(|role| self.score(&state, role));
                    Some(scores.collect::<Result<Vec<_>, PlayError>>()?)
                }
            };
            children.push(child(self.machine.game(), state, scores));
        }
        Ok(Expansion {
            legal,
            children,
            is_whole,
        })
    }

    fn played_out(&mut self, state: &PropnetState, role: usize) -> Result<f64, PlayError> {
        let (random, depth) = (&mut self.random, PLAYOUT_DEPTH);
        let mut sum = 0.0;
        for _ in 0..PLAYOUTS {
            let ended = play_to_end(self.machine, state, depth, random, &mut || true, &mut 0);
            let score = match ended {
                Ok(PlayoutEnd::Terminal(mut scores)) => scores.swap_remove(role),
                Ok(_) | Err(PlayError::NoLegalMove(_)) => {
                    sum += 50.0;
                    continue;
                }
                Err(error) => return Err(error),
            };
            sum += match score {
                Ok(score) => f64::from(score.get()),
                // Without a score it is 0, as in lanes.
                Err(error) if error.fault().is_some() => 0.0,
                Err(error) => return Err(error),
            };
        }
        Ok(sum / PLAYOUTS as f64)
    }
}

/// The packed states, if all are packed.
fn packed(states: &[&PropnetState]) -> Option<Vec<Packed>> {
    let packed = states.iter().map(|state| match state {
        PropnetState::Packed(packed) => Some(packed.to_vec()),
        PropnetState::Mixed(_) | PropnetState::Facts(_) => None,
    });
    packed.collect()
}

/// Leaves out moves of other roles until there are at most `most` joint moves. Returns whether
/// nothing was left out.
fn thin_out<M: Copy>(legal: &mut [Vec<M>], role: usize, most: usize) -> bool {
    let mut is_whole = true;
    loop {
        let lengths = legal.iter().map(Vec::len);
        let count = lengths.fold(1, |product: usize, length| product.saturating_mul(length));
        let others = legal.iter_mut().enumerate().filter(|(at, _)| *at != role);
        match others
            .map(|(_, moves)| moves)
            .max_by_key(|moves| moves.len())
        {
            Some(longest) if count > most && longest.len() > 1 => {
                *longest = longest.iter().step_by(2).copied().collect();
                is_whole = false;
            }
            _ => return is_whole,
        }
    }
}

/// All joint moves, with the last role's move changing fastest.
fn joints<M: Copy>(legal: &[Vec<M>]) -> Vec<Vec<M>> {
    let mut joints: Vec<Vec<M>> = vec![Vec::new()];
    for legal in legal {
        let with = |joint: &Vec<M>, chosen| [&joint[..], &[chosen]].concat();
        joints = (joints.iter())
            .flat_map(|joint| legal.iter().map(move |chosen| with(joint, *chosen)))
            .collect();
    }
    joints
}

/// A child with the scores of the roles if it is terminal.
fn child(game: &Game, state: PropnetState, scores: Option<Vec<Option<u8>>>) -> Child<PropnetState> {
    // The score of chance is not needed.
    let roles = game.roles().zip(scores.iter().flatten());
    let mut chosen = roles.filter(|(role, _)| !game.is_random(*role));
    let is_wrong = chosen.any(|(_, score)| score.is_none());
    // A missing score counts as 0.
    let scores = scores.map(|scores| scores.into_iter().map(Option::unwrap_or_default));
    Child {
        state,
        scores: scores.map(Iterator::collect),
        is_wrong,
        choices: [1, 1],
    }
}

/// The children of a state, one in each lane.
///
/// # Errors
///
/// If the stop is over.
fn expand_in_lanes(
    machine: &AnyMachine,
    lanes: &mut Lanes,
    state: &[u64],
    role: usize,
    counts_moves: bool,
    stop: &Stop,
) -> Result<Expansion<PropnetState, Move>, PlayError> {
    let AnyMachine::Propnet(machine) = machine else {
        unreachable!("only a network has lanes");
    };
    let roles = lanes.batch.roles();
    lanes.batch.set_states(&[state.to_vec()]);
    let legal = |role| lanes.batch.legal_moves(0, role).collect();
    let mut legal: Vec<Vec<usize>> = (0..roles).map(legal).collect();
    let is_whole = thin_out(&mut legal, role, JOINTS);
    let joints = joints(&legal);
    let mut children = Vec::with_capacity(joints.len());
    for joints in joints.chunks(lanes.batch.lanes()) {
        if stop.is_over() {
            return Err(PlayError::Interrupted);
        }
        lanes.batch.set_states(&vec![state.to_vec(); joints.len()]);
        lanes.batch.step(&joints.concat());
        let states = lanes.batch.states(joints.len());
        let count = |role| lanes.batch.legal_counts(role, joints.len());
        let counts: Vec<Vec<u32>> = match counts_moves {
            true => (0..roles).map(count).collect(),
            false => vec![vec![1; joints.len()]; roles],
        };
        for (lane, state) in states.iter().enumerate() {
            let scores = lanes.batch.is_terminal(lane).then(|| {
                let score = |role| lanes.score(lane, role);
                (0..roles).map(score).collect()
            });
            let state = PropnetState::Packed(state[..].into());
            let others = (0..roles).filter(|other| *other != role);
            let answers = others.fold(1, |all: u32, other| all.saturating_mul(counts[other][lane]));
            children.push(Child {
                choices: [counts[role][lane], answers],
                ..child(machine.game(), state, scores)
            });
        }
    }
    let moves = legal.iter().zip(machine.net().moves());
    let moves = moves.map(|(legal, moves)| legal.iter().map(|&chosen| moves[chosen]).collect());
    Ok(Expansion {
        legal: moves.collect(),
        children,
        is_whole,
    })
}

/// Estimates states without playouts, one in each lane.
fn evaluate_in_lanes(
    lanes: &mut Lanes,
    states: &[Packed],
    role: usize,
    evaluation: Evaluation,
    out: &mut Vec<f64>,
) {
    let roles = lanes.batch.roles();
    for states in states.chunks(lanes.batch.lanes()) {
        lanes.batch.set_states(states);
        for lane in 0..states.len() {
            let score = lanes.score(lane, role);
            let counts: Vec<usize> = match evaluation {
                Evaluation::Goals => vec![0; roles],
                _ => (0..roles)
                    .map(|role| lanes.batch.legal_moves(lane, role).count())
                    .collect(),
            };
            out.push(evaluation.of(score, &counts, role));
        }
    }
}

/// Estimates states by playouts, each in several lanes.
fn play_out_in_lanes(
    lanes: &mut Lanes,
    states: &[Packed],
    role: usize,
    random: &mut Xoshiro256PlusPlus,
    out: &mut Vec<f64>,
) {
    let roles = lanes.batch.roles();
    for states in states.chunks(lanes.batch.lanes() / PLAYOUTS) {
        let starts: Vec<Packed> = states
            .iter()
            .flat_map(|state| std::iter::repeat_n(state.clone(), PLAYOUTS))
            .collect();
        lanes.batch.set_states(&starts);
        let mut scores: Vec<Option<f64>> = vec![None; starts.len()];
        for _ in 0..PLAYOUT_DEPTH {
            let mut joints = Vec::with_capacity(starts.len() * roles);
            for (lane, score) in scores.iter_mut().enumerate() {
                if score.is_none() && lanes.batch.is_terminal(lane) {
                    *score = Some(lanes.score(lane, role).map_or(0.0, f64::from));
                }
                for role in 0..roles {
                    let legal: Vec<usize> = match score {
                        None => lanes.batch.legal_moves(lane, role).collect(),
                        Some(_) => Vec::new(),
                    };
                    joints.push(match legal.len() {
                        0 => {
                            // Without a legal move, the playout is undecided.
                            score.get_or_insert(50.0);
                            0
                        }
                        count => legal[random.random_range(0..count)],
                    });
                }
            }
            if scores.iter().all(Option::is_some) {
                break;
            }
            lanes.batch.step(&joints);
        }
        let means = scores.chunks(PLAYOUTS).map(|scores| {
            let sum: f64 = scores.iter().map(|score| score.unwrap_or(50.0)).sum();
            sum / PLAYOUTS as f64
        });
        out.extend(means);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize], most: usize, expected: &[usize]) {
        let mut legal: Vec<Vec<usize>> =
            lengths.iter().map(|count| (0..*count).collect()).collect();
        let is_whole = thin_out(&mut legal, 1, most);
        let found: Vec<usize> = legal.iter().map(Vec::len).collect();
        assert_eq!(found, expected);
        assert_eq!(is_whole, found == lengths);
        assert_eq!(joints(&legal).len(), found.iter().product::<usize>());
    }

    #[test]
    fn only_moves_of_others_are_left_out() {
        check(&[5, 6, 7], 210, &[5, 6, 7]);
        check(&[5, 6, 7], 209, &[5, 6, 4]);
        check(&[9, 6, 7], 50, &[3, 6, 2]);
        check(&[9, 60, 7], 50, &[1, 60, 1]);
        check(&[9, 0, 7], 50, &[9, 0, 7]);
    }
}
