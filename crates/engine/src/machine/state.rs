//! A position of one game that moves change in place: the shortest way to play.

use std::fmt;

use rand::{Rng, RngExt};

use super::answers::Answers;
use super::propnet::Walk;
use super::{AnyMachine, Backend, Limits, Machine, PlayError, PropnetState, canonical_moves};
use ggp_gdl::game::{Game, Move, RoleId, Score};

/// A position that moves change in place.
///
/// One state at a time is played faster by this than by a [`Machine`], which makes a new state with each
/// move. Searches that hold many states take the machine, or [`State::position`] and
/// [`State::set_position`]; a clone has an evaluator of its own. Methods take `&mut self` since an answer is
/// derived when it is first asked for.
///
/// ```
/// use ggp_engine::machine::State;
/// use ggp_gdl::game::Game;
///
/// let rules = "
///     (role robot)
///     (init (at 0)) (after 0 1) (after 1 2)
///     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
///     (<= (legal robot stay) (true (at ?x)))
///     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
///     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
///     (<= terminal (true (at 2)))
///     (<= (goal robot 100) (true (at 2)))
///     (<= (goal robot 0) (not (true (at 2))))";
/// let game = Game::from_text("walk.kif", rules)?;
/// let robot = game.role_named("robot").expect("it is declared");
///
/// let mut state = State::new(&game)?;
/// state.play_named(&["go"])?;
/// assert_eq!(state.to_string(), "(at 1)");
/// let go = state.legal_moves(robot)?[0];
/// state.play(&[go])?;
/// assert!(state.is_terminal()?);
/// assert_eq!(state.goal(robot)?.get(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct State {
    machine: AnyMachine,
    roles: Vec<RoleId>,
    at: At,
}

/// The place where the position is.
#[derive(Clone, Debug)]
enum At {
    Walk(Box<Walk>),
    Held(Box<Held>),
}

/// A state of the machine.
#[derive(Clone, Debug)]
struct Held {
    state: PropnetState,
    /// By role: its legal moves, if they are listed.
    legal: Vec<Option<Vec<Move>>>,
    joint: Vec<Move>,
}

impl At {
    fn of(machine: &AnyMachine, state: &PropnetState) -> At {
        if let AnyMachine::Propnet(propnet) = machine
            && let Some(mut walk) = propnet.walk()
            && walk.set_state(state)
        {
            return At::Walk(Box::new(walk));
        }
        At::Held(Box::new(Held {
            state: state.clone(),
            legal: vec![None; machine.game().role_count()],
            joint: Vec::new(),
        }))
    }
}

impl State {
    /// The initial position, on a network if the game has one within the default limits.
    ///
    /// # Errors
    ///
    /// As [`AnyMachine::new`].
    pub fn new(game: &Game) -> Result<State, PlayError> {
        State::of(AnyMachine::new(game, Backend::Auto, Limits::default())?)
    }

    /// The initial position on a machine.
    ///
    /// # Errors
    ///
    /// As [`Machine::initial`].
    pub fn of(mut machine: AnyMachine) -> Result<State, PlayError> {
        let initial = machine.initial()?;
        Ok(State {
            at: At::of(&machine, &initial),
            roles: machine.game().roles().collect(),
            machine,
        })
    }

    /// The game.
    pub fn game(&self) -> &Game {
        self.machine.game()
    }

    /// The machine, for questions about [`State::position`].
    pub fn machine(&mut self) -> &mut AnyMachine {
        &mut self.machine
    }

    /// The position as a state of the machine.
    pub fn position(&self) -> PropnetState {
        match &self.at {
            At::Walk(walk) => walk.state(),
            At::Held(held) => held.state.clone(),
        }
    }

    /// Goes to a state of the machine or of a clone.
    pub fn set_position(&mut self, state: &PropnetState) {
        if let At::Walk(walk) = &mut self.at
            && walk.set_state(state)
        {
            return;
        }
        self.at = At::of(&self.machine, state);
    }

    /// Goes back to the initial position.
    ///
    /// # Errors
    ///
    /// As [`Machine::initial`].
    pub fn restart(&mut self) -> Result<(), PlayError> {
        let initial = self.machine.initial()?;
        self.set_position(&initial);
        Ok(())
    }

    /// True if the game is over.
    ///
    /// # Errors
    ///
    /// As [`Machine::is_terminal`].
    pub fn is_terminal(&mut self) -> Result<bool, PlayError> {
        match &mut self.at {
            At::Walk(_) if self.machine.stop().is_over() => Err(PlayError::Interrupted),
            At::Walk(walk) => Ok(walk.is_terminal()),
            At::Held(held) => self.machine.is_terminal(&held.state),
        }
    }

    /// A role's legal moves, in the order of [`Machine::legal`].
    ///
    /// # Errors
    ///
    /// As [`Machine::legal`].
    pub fn legal_moves(&mut self, role: RoleId) -> Result<&[Move], PlayError> {
        self.count(role)?;
        match &mut self.at {
            At::Walk(walk) => Ok(walk.legal(role.index())),
            At::Held(held) => Ok(held.legal[role.index()].as_deref().expect("it is listed")),
        }
    }

    /// Lists a role's legal moves; returns their number.
    fn count(&mut self, role: RoleId) -> Result<usize, PlayError> {
        match &mut self.at {
            At::Walk(walk) => {
                let count = walk.count(role.index());
                if count > 0 || walk.is_terminal() {
                    return Ok(count);
                }
                Err(self.machine.no_legal_move(&walk.state(), role))
            }
            At::Held(held) => {
                let listed = &mut held.legal[role.index()];
                if let Some(legal) = listed {
                    return Ok(legal.len());
                }
                let legal = self.machine.legal_moves(&held.state, role)?;
                Ok(listed.insert(legal).len())
            }
        }
    }

    /// Chooses a move by its place among those that are listed.
    fn choose(&mut self, role: RoleId, place: usize) {
        match &mut self.at {
            At::Walk(walk) => walk.choose(role.index(), place),
            At::Held(held) => {
                let legal = held.legal[role.index()].as_ref().expect("it is listed");
                held.joint.push(legal[place]);
            }
        }
    }

    /// Makes a joint move: one for each role, in the order of [`Game::roles`]. It is compared with the legal
    /// moves, which are known by then where the caller chose from them, so there is no faster way without.
    ///
    /// # Errors
    ///
    /// As [`Machine::play`]; the position is then as before.
    pub fn play(&mut self, joint: &[Move]) -> Result<(), PlayError> {
        if self.is_terminal()? {
            return Err(PlayError::GameOver);
        }
        let (expected, found) = (self.roles.len(), joint.len());
        if expected != found {
            return Err(PlayError::WrongMoveCount { expected, found });
        }
        self.begin();
        for (index, chosen) in joint.iter().enumerate() {
            let role = self.roles[index];
            let legal = self.legal_moves(role)?;
            match legal.iter().position(|legal| legal == chosen) {
                Some(place) => self.choose(role, place),
                None => return Err(self.illegal(role, self.machine.text(*chosen))),
            }
        }
        self.step()
    }

    /// Makes a joint move whose moves are given as text, such as `(mark 1 1)`, in any letter case.
    ///
    /// # Errors
    ///
    /// As [`State::play`]; a text that is no move of the rules is an illegal one.
    pub fn play_named(&mut self, joint: &[&str]) -> Result<(), PlayError> {
        let mut moves = Vec::with_capacity(joint.len());
        for (index, text) in joint.iter().enumerate() {
            match self.machine.read_move(text) {
                Ok(chosen) => moves.push(chosen),
                Err(_) if index < self.roles.len() && !self.is_terminal()? => {
                    let role = self.roles[index];
                    self.count(role)?;
                    return Err(self.illegal(role, (*text).to_owned()));
                }
                Err(_) => break,
            }
        }
        match moves.len() == joint.len() {
            true => self.play(&moves),
            false if self.is_terminal()? => Err(PlayError::GameOver),
            false => Err(PlayError::WrongMoveCount {
                expected: self.roles.len(),
                found: joint.len(),
            }),
        }
    }

    /// Makes uniformly random legal moves until the game is over, or `most` joint moves. Returns the number of
    /// joint moves.
    ///
    /// # Errors
    ///
    /// As [`State::legal_moves`].
    ///
    /// ```
    /// use ggp_engine::machine::State;
    /// # use ggp_gdl::game::Game;
    /// use rand::SeedableRng;
    ///
    /// # let rules = "(role a) (init (n 1)) (next (n 2)) (legal a x) (legal a y) (goal a 50)
    /// #     (<= terminal (true (n 2)))";
    /// # let game = Game::from_text("rules.kif", rules)?;
    /// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    /// let mut state = State::new(&game)?;
    /// assert_eq!(state.playout(1_000, &mut random)?, 1);
    /// assert!(state.is_terminal()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn playout(&mut self, most: usize, random: &mut impl Rng) -> Result<usize, PlayError> {
        for made in 0..most {
            if self.is_terminal()? {
                return Ok(made);
            }
            self.begin();
            for index in 0..self.roles.len() {
                let role = self.roles[index];
                let count = self.count(role)?;
                self.choose(role, random.random_range(0..count));
            }
            self.step()?;
        }
        Ok(most)
    }

    /// Begins the choice of a joint move.
    fn begin(&mut self) {
        if let At::Held(held) = &mut self.at {
            held.joint.clear();
        }
    }

    /// Makes the joint move that was chosen.
    fn step(&mut self) -> Result<(), PlayError> {
        match &mut self.at {
            At::Walk(walk) => walk.step(),
            At::Held(held) => {
                held.state = self.machine.next(&held.state, &held.joint)?;
                held.legal.fill(None);
            }
        }
        Ok(())
    }

    /// A role's score.
    ///
    /// # Errors
    ///
    /// As [`Machine::goal`].
    pub fn goal(&mut self, role: RoleId) -> Result<Score, PlayError> {
        match &mut self.at {
            At::Walk(_) if self.machine.stop().is_over() => Err(PlayError::Interrupted),
            At::Walk(walk) => {
                let values = walk.goal_values(role.index());
                if let [value] = values[..]
                    && let Ok(score) = self.machine.game().score(self.machine.terms(), value)
                {
                    return Ok(score);
                }
                self.machine.score(&walk.state(), role, &values)
            }
            At::Held(held) => self.machine.goal(&held.state, role),
        }
    }

    /// The error for a move that is not among those that are listed.
    fn illegal(&mut self, role: RoleId, chosen: String) -> PlayError {
        let legal = self.legal_moves(role).map(<[Move]>::to_vec);
        PlayError::IllegalMove {
            role: self.game().role_name(role).to_owned(),
            chosen,
            legal: canonical_moves(&self.machine, &legal.unwrap_or_default()),
        }
    }
}

/// The facts, sorted by text: [`Machine::state_text`].
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.machine.state_text(&self.position()))
    }
}

#[cfg(test)]
mod tests;
