//! Interfaces to a game: one position at a time, or many at once.

use std::hash::Hash;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A game that can be simulated.
///
/// Roles are `0..roles()`. The methods take `&mut self` so that an evaluator
/// may keep scratch space; their answers must depend on their arguments only.
pub trait GameProblem {
    /// A position.
    type State: Clone + Eq + Hash;
    /// A move of one role.
    type Move: Clone + Eq + Hash;
    /// The error of an evaluation. It ends the search.
    type Error;

    /// The number of roles, at least 1.
    fn roles(&self) -> usize;

    /// Returns true if a role is played by chance, with equal probabilities for all legal moves.
    fn is_chance(&self, _role: usize) -> bool {
        false
    }

    /// Returns true if the game has ended in `state`.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, Self::Error>;

    /// Appends the legal moves of `role` to `out`, in a fixed order.
    ///
    /// Called for states that are not terminal, with an empty `out`. If a role has no legal
    /// move, the state is scored like a playout that is cut.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn legal(
        &mut self,
        state: &Self::State,
        role: usize,
        out: &mut Vec<Self::Move>,
    ) -> Result<(), Self::Error>;

    /// The state after `joint`, which holds one legal move of each role.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn next(
        &mut self,
        state: &Self::State,
        joint: &[Self::Move],
    ) -> Result<Self::State, Self::Error>;

    /// Writes the score of each role in a terminal `state`, 0 to 100.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn goals(&mut self, state: &Self::State, out: &mut [u8]) -> Result<(), Self::Error>;

    /// The bytes that `state` owns on the heap, for
    /// [`Budget::memory_bytes`](crate::Budget::memory_bytes).
    fn state_heap_bytes(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// The status of a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum View {
    /// Every role has a legal move.
    Open,
    /// The game is over.
    End,
    /// The game is not over, and a role has no legal move.
    Stuck,
}

/// The status, moves and scores of a list of positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Views<M> {
    /// By position.
    pub views: Vec<View>,
    /// By position and role: the number of legal moves, 0 unless the position is open.
    pub counts: Vec<u32>,
    /// The legal moves in the order of `counts`.
    pub moves: Vec<M>,
    /// By position and role: the score if the game is over, otherwise 0.
    pub goals: Vec<u8>,
}

impl<M> Default for Views<M> {
    fn default() -> Self {
        Views {
            views: Vec::new(),
            counts: Vec::new(),
            moves: Vec::new(),
            goals: Vec::new(),
        }
    }
}

impl<M> Views<M> {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.views.clear();
        self.counts.clear();
        self.moves.clear();
        self.goals.clear();
    }
}

/// A terminal state one joint move ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TerminalChild<S> {
    /// The index of the joint move that leads there.
    pub index: usize,
    /// The state.
    pub state: S,
    /// The scores.
    pub goals: Vec<u8>,
}

/// The result of playouts from a position.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample<M> {
    /// The number of playouts, 0 if they were interrupted before the first.
    pub playouts: u64,
    /// By role: the sum of their scores.
    pub sums: Vec<f64>,
    /// True if all playouts reached a terminal state.
    pub ended: bool,
    /// For games with one role: the best score of a terminal state and the moves that lead
    /// there, if the simulator records them.
    pub line: Option<(u8, Vec<M>)>,
}

/// A game that evaluates many positions at once.
pub trait Simulator {
    /// A position.
    type State: Clone + Eq + Hash;
    /// A move of one role.
    type Move: Clone + Eq + Hash;
    /// The error of an evaluation. It ends the search.
    type Error;

    /// The number of roles, at least 1.
    fn roles(&self) -> usize;

    /// Returns true if a role is played by chance.
    fn is_chance(&self, role: usize) -> bool;

    /// Bounds of the score of a role over all terminal states.
    fn range(&self, _role: usize) -> [u8; 2] {
        [0, 100]
    }

    /// The number of playouts that run in parallel at the cost of one.
    fn lanes(&self) -> usize {
        1
    }

    /// The states after one joint move in each state. `joints` has the moves of all roles for
    /// the first state, then those for the second, and so on.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn step(
        &mut self,
        states: &[&Self::State],
        joints: &[Self::Move],
    ) -> Result<Vec<Self::State>, Self::Error>;

    /// Writes the status, moves and scores of the states to `out`, which is empty.
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn look(
        &mut self,
        states: &[&Self::State],
        out: &mut Views<Self::Move>,
    ) -> Result<(), Self::Error>;

    /// Returns true if [`Simulator::terminal_children`] is cheap compared to playouts.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// The terminal states one joint move ahead, by the index of the joint move. `counts` has
    /// the number of joint moves to try in each state, `joints` all of them.
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn terminal_children(
        &mut self,
        _states: &[&Self::State],
        _counts: &[usize],
        _joints: &[Self::Move],
    ) -> Result<Vec<TerminalChild<Self::State>>, Self::Error> {
        Ok(Vec::new())
    }

    /// Returns true if [`Simulator::values_after`] knows anything.
    fn has_values(&self) -> bool {
        false
    }

    /// The expected scores, 0 to 100, one joint move ahead, by the index of the joint move and
    /// by role. The arguments are as in [`Simulator::terminal_children`].
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn values_after(
        &mut self,
        _states: &[&Self::State],
        _counts: &[usize],
        _joints: &[Self::Move],
    ) -> Result<Vec<f32>, Self::Error> {
        Ok(Vec::new())
    }

    /// Begins the search for a move, with the time for it if it is limited. Playouts that take too much of
    /// it may be cut.
    fn begin_move(&mut self, _time: Option<Duration>) {}

    /// Plays `each` playouts from each state. `proceed` is called regularly; when it returns
    /// false, the playouts may stop early. Otherwise equal seeds give equal results.
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn playouts(
        &mut self,
        states: &[&Self::State],
        each: u32,
        seed: u64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<Self::Move>>, Self::Error>;

    /// The bytes that a state owns on the heap.
    fn state_heap_bytes(&self, state: &Self::State) -> u64;
}

/// The value of a playout that is cut, for every role.
const UNDECIDED: f64 = 50.0;

/// A [`Simulator`] that evaluates a [`GameProblem`] one position at a time.
#[derive(Debug)]
pub struct OneByOne<'g, G> {
    /// The game.
    pub game: &'g mut G,
    /// The most moves of a playout.
    pub depth: u32,
}

impl<'g, G: GameProblem> OneByOne<'g, G> {
    /// A simulator whose playouts have at most `depth` joint moves.
    pub fn new(game: &'g mut G, depth: u32) -> Self {
        OneByOne { game, depth }
    }

    fn playout(
        &mut self,
        start: &G::State,
        rng: &mut Xoshiro256PlusPlus,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Sample<G::Move>, G::Error> {
        let roles = self.game.roles();
        let mut sample = Sample {
            playouts: 1,
            sums: vec![UNDECIDED; roles],
            ended: false,
            line: None,
        };
        let (mut state, mut line, mut legal) = (start.clone(), Vec::new(), Vec::new());
        let mut joint = Vec::with_capacity(roles);
        for _ in 0..self.depth {
            if !proceed() {
                sample.playouts = 0;
                return Ok(sample);
            }
            if self.game.is_terminal(&state)? {
                break;
            }
            joint.clear();
            for role in 0..roles {
                legal.clear();
                self.game.legal(&state, role, &mut legal)?;
                if legal.is_empty() {
                    return Ok(sample);
                }
                joint.push(legal.swap_remove(rng.random_range(0..legal.len())));
            }
            state = self.game.next(&state, &joint)?;
            if roles == 1 {
                line.extend(joint.pop());
            }
        }
        if self.game.is_terminal(&state)? {
            let mut goals = vec![0; roles];
            self.game.goals(&state, &mut goals)?;
            sample.sums = goals.iter().map(|&goal| f64::from(goal)).collect();
            sample.ended = true;
            sample.line = (roles == 1).then(|| (goals[0], line));
        }
        Ok(sample)
    }
}

impl<G: GameProblem> Simulator for OneByOne<'_, G> {
    type State = G::State;
    type Move = G::Move;
    type Error = G::Error;

    fn roles(&self) -> usize {
        self.game.roles()
    }

    fn is_chance(&self, role: usize) -> bool {
        self.game.is_chance(role)
    }

    fn step(
        &mut self,
        states: &[&G::State],
        joints: &[G::Move],
    ) -> Result<Vec<G::State>, G::Error> {
        let joints = joints.chunks_exact(self.game.roles());
        let pairs = states.iter().zip(joints);
        pairs
            .map(|(state, joint)| self.game.next(state, joint))
            .collect()
    }

    fn look(&mut self, states: &[&G::State], out: &mut Views<G::Move>) -> Result<(), G::Error> {
        let roles = self.game.roles();
        let mut legal = Vec::new();
        for state in states {
            let (first, counted) = (out.moves.len(), out.counts.len());
            out.goals.resize(out.goals.len() + roles, 0);
            out.counts.resize(counted + roles, 0);
            if self.game.is_terminal(state)? {
                let goals = out.goals.len() - roles;
                self.game.goals(state, &mut out.goals[goals..])?;
                out.views.push(View::End);
                continue;
            }
            let mut view = View::Open;
            for role in 0..roles {
                legal.clear();
                self.game.legal(state, role, &mut legal)?;
                if legal.is_empty() {
                    view = View::Stuck;
                    out.moves.truncate(first);
                    out.counts[counted..].fill(0);
                    break;
                }
                out.counts[counted + role] = legal.len() as u32;
                out.moves.append(&mut legal);
            }
            out.views.push(view);
        }
        Ok(())
    }

    fn playouts(
        &mut self,
        states: &[&G::State],
        each: u32,
        seed: u64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<G::Move>>, G::Error> {
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut samples = Vec::with_capacity(states.len());
        for state in states {
            let mut all = self.playout(state, rng, proceed)?;
            for _ in 1..each {
                let one = self.playout(state, rng, proceed)?;
                if one.playouts == 0 {
                    break;
                }
                all.playouts += 1;
                all.ended &= one.ended;
                let sums = all.sums.iter_mut().zip(&one.sums);
                sums.for_each(|(sum, value)| *sum += value);
                if let Some((score, line)) = one.line
                    && all.line.as_ref().is_none_or(|best| best.0 < score)
                {
                    all.line = Some((score, line));
                }
            }
            samples.push(all);
        }
        Ok(samples)
    }

    fn state_heap_bytes(&self, state: &G::State) -> u64 {
        self.game.state_heap_bytes(state)
    }
}
