//! What a game must answer to be searched: one position at a time, or many.

use std::hash::Hash;

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
    /// What an evaluation may fail with. It ends the search.
    type Error;

    /// The number of roles; never 0.
    fn roles(&self) -> usize;

    /// Whether a role plays by chance: each legal move is as likely.
    fn is_chance(&self, _role: usize) -> bool {
        false
    }

    /// Whether the game has ended in `state`.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, Self::Error>;

    /// Appends the legal moves of `role` to `out`, in a fixed order.
    ///
    /// Asked of states that are not terminal, and always with an empty `out`.
    /// If a role has none, the state is scored like one that is too deep.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
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
    /// Whatever the evaluation of the game fails with.
    fn next(
        &mut self,
        state: &Self::State,
        joint: &[Self::Move],
    ) -> Result<Self::State, Self::Error>;

    /// Writes what a terminal `state` is worth to each role, 0 to 100.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn goals(&mut self, state: &Self::State, out: &mut [u8]) -> Result<(), Self::Error>;

    /// The bytes that `state` owns on the heap, for
    /// [`Budget::memory_bytes`](crate::Budget::memory_bytes).
    fn state_heap_bytes(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// What a position is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum View {
    /// Every role has a legal move.
    Open,
    /// The game is over.
    End,
    /// It is not over, and some role cannot move.
    Stuck,
}

/// What there is to see of some positions, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Views<M> {
    /// By position.
    pub views: Vec<View>,
    /// By position and role: how many legal moves; 0 where not all can move.
    pub counts: Vec<u32>,
    /// The moves, in that order.
    pub moves: Vec<M>,
    /// By position and role: the score, where the game is over, else 0.
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
    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.views.clear();
        self.counts.clear();
        self.moves.clear();
        self.goals.clear();
    }
}

/// An end one joint move ahead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ahead<S> {
    /// Which of the joint moves leads there.
    pub index: usize,
    /// The state.
    pub state: S,
    /// The scores.
    pub goals: Vec<u8>,
}

/// What playouts from a position were worth.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample<M> {
    /// Playouts that count; 0 if they were ended before they began.
    pub playouts: u64,
    /// By role: the sum of their scores.
    pub sums: Vec<f64>,
    /// Whether all of them came to an end of the game.
    pub ended: bool,
    /// Of a game with one role: the best end seen, and the moves that lead
    /// there, if somebody keeps them.
    pub line: Option<(u8, Vec<M>)>,
    /// The moves that were made, if somebody keeps them. One may be there several
    /// times, each with a part of the playouts.
    pub seen: Vec<Seen<M>>,
}

/// A move that some of the playouts made.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen<M> {
    /// Whose it is.
    pub role: u16,
    /// The move.
    pub action: M,
    /// Which part of all playouts.
    pub share: f32,
    /// That part of what they were worth to the role.
    pub worth: f32,
}

/// A game of which many positions are asked at once.
pub trait Simulator {
    /// A position.
    type State: Clone + Eq + Hash;
    /// A move of one role.
    type Move: Clone + Eq + Hash;
    /// What an evaluation may fail with. It ends the search.
    type Error;

    /// The number of roles; never 0.
    fn roles(&self) -> usize;

    /// Whether a role plays by chance.
    fn is_chance(&self, role: usize) -> bool;

    /// The least and the most that an end may be worth to a role.
    fn range(&self, _role: usize) -> [u8; 2] {
        [0, 100]
    }

    /// Playouts that run in the time of one.
    fn lanes(&self) -> usize {
        1
    }

    /// The states after joint moves, one of each of the states. `joints` has the
    /// roles' moves for the first state, then those for the second, and so on.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with, here and below.
    fn step(
        &mut self,
        states: &[Self::State],
        joints: &[Self::Move],
    ) -> Result<Vec<Self::State>, Self::Error>;

    /// What there is to see in some states; `out` comes empty.
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn look(
        &mut self,
        states: &[Self::State],
        out: &mut Views<Self::Move>,
    ) -> Result<(), Self::Error>;

    /// Whether [`Simulator::ahead`] costs little beside playouts.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// As [`Simulator::step`], but only what ends there.
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn ahead(
        &mut self,
        _states: &[Self::State],
        _joints: &[Self::Move],
    ) -> Result<Vec<Ahead<Self::State>>, Self::Error> {
        Ok(Vec::new())
    }

    /// Plays `each` playouts from each state. They may end early when `proceed`,
    /// asked now and then, says so. Equal seeds give equal answers unless it does.
    ///
    /// # Errors
    ///
    /// As [`Simulator::step`].
    fn playouts(
        &mut self,
        states: &[Self::State],
        each: u32,
        seed: u64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<Self::Move>>, Self::Error>;

    /// The bytes that a state owns on the heap.
    fn state_heap_bytes(&self, state: &Self::State) -> u64;
}

/// What a playout that comes to no end is worth to everybody.
const UNDECIDED: f64 = 50.0;

/// One position at a time, by turns.
#[derive(Debug)]
pub struct OneByOne<'g, G> {
    /// The game.
    pub game: &'g mut G,
    /// The most moves of a playout.
    pub depth: u32,
}

impl<'g, G: GameProblem> OneByOne<'g, G> {
    /// Playouts have at most so many moves.
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
            seen: Vec::new(),
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

    fn step(&mut self, states: &[G::State], joints: &[G::Move]) -> Result<Vec<G::State>, G::Error> {
        let joints = joints.chunks_exact(self.game.roles());
        let pairs = states.iter().zip(joints);
        pairs
            .map(|(state, joint)| self.game.next(state, joint))
            .collect()
    }

    fn look(&mut self, states: &[G::State], out: &mut Views<G::Move>) -> Result<(), G::Error> {
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
        states: &[G::State],
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
                sums.for_each(|(sum, worth)| *sum += worth);
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
