//! A state of a match, with the names of OpenSpiel.

mod choices;
mod making;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::belief::Belief;
use crate::errors::{Error, play_error};
use crate::explanation::Explanation;
use crate::game::Game;
use crate::interrupt::interruptible;
use crate::knowledge::{self, Turn};
use crate::shared::{Shared, role_number};
use crate::view::View;
use ggp_engine::machine::{Limits, Machine, PlayError, PropnetState};
use ggp_explain::{ExplainOptions, Explainer, Situation};
use ggp_gdl::counted::counted;
use ggp_gdl::game::Move;
use ggp_stop::Stop;

/// The player of a state in which chance chooses, several players choose at once, or the game is over.
pub const CHANCE: i32 = -1;
pub const SIMULTANEOUS: i32 = -2;
pub const OVER: i32 = -4;

/// A state of a match, with the moves that led to it. The names are those of OpenSpiel.
///
/// A player is a role other than chance, by its number among these; an action is the number of a
/// move among `Game.actions(role)`. If one player has a choice, it is the current one, and the only
/// moves of the others are made with its own; if no player has a choice, player 0 is the current
/// one. If several choose at once, the current player is `ggp.SIMULTANEOUS`. Where chance chooses,
/// too, it does so after them, and does not change what they know.
///
/// Two states are equal if their games are, the same facts hold, and the players have made the same choices where
/// chance has not chosen yet; moves that led to them do not count. With hidden information they do, as what roles
/// know depends on them: then the first states and all joint moves must be the same, too. A state that is a key of a
/// table must not change any more: go on with a `clone`.
#[pyclass(module = "ggp")]
pub struct State {
    pub shared: Arc<Shared>,
    pub state: PropnetState,
    pub history: Vec<Vec<Move>>,
    /// The facts of the first state, if it is not the initial one.
    pub start: Option<Vec<String>>,
    /// The turns, if the rules hide something. None if the state was made without them.
    pub turns: Vec<Arc<Turn>>,
    /// The moves of the players while chance has not chosen yet, by role.
    pending: Option<Vec<Move>>,
    /// True if moves that led to the first state are not known.
    pub has_lost_past: bool,
}

/// The form of [`State::serialize`].
#[derive(PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
struct Saved {
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Vec<String>>,
    moves: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_lost_past: bool,
}

#[pymethods]
impl State {
    /// The game.
    #[getter]
    fn game(&self) -> Game {
        Game {
            shared: Arc::clone(&self.shared),
        }
    }

    /// The player that chooses, or `ggp.CHANCE`, `ggp.SIMULTANEOUS` or `ggp.OVER`.
    fn current_player(&self, py: Python<'_>) -> PyResult<i32> {
        match self.is_over(py)? {
            true => Ok(OVER),
            false => self.player_now(py, &self.choices(py)?),
        }
    }

    /// Returns true if the match is over.
    fn is_terminal(&self, py: Python<'_>) -> PyResult<bool> {
        self.is_over(py)
    }

    /// Returns true if chance chooses.
    fn is_chance_node(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.current_player(py)? == CHANCE)
    }

    /// Returns true if several players choose at once.
    fn is_simultaneous_node(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.current_player(py)? == SIMULTANEOUS)
    }

    /// The legal actions of a player, in ascending order; by default, of the current one. Empty if
    /// it is not its turn, or the match is over.
    #[pyo3(signature = (player=None))]
    fn legal_actions(&self, py: Python<'_>, player: Option<i32>) -> PyResult<Vec<usize>> {
        if self.is_over(py)? {
            return Ok(Vec::new());
        }
        player.map(|player| self.role(player)).transpose()?;
        let choices = self.choices(py)?;
        let now = self.player_now(py, &choices)?;
        let player = player.unwrap_or(now);
        if player == SIMULTANEOUS {
            let why = "several players choose at once: name one";
            return Err(PyValueError::new_err(why));
        }
        if player != now && (now != SIMULTANEOUS || player < 0) {
            return Ok(Vec::new());
        }
        let role = self.role(player)?;
        let legal = choices.legal[role.index()].iter();
        let mut numbers = legal
            .map(|made| self.number(role, *made))
            .collect::<PyResult<Vec<_>>>()?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// By action of a player: 1 if it is legal, else 0.
    #[pyo3(signature = (player=None))]
    fn legal_actions_mask(&self, py: Python<'_>, player: Option<i32>) -> PyResult<Vec<u32>> {
        let now = match player {
            Some(player) => player,
            None => self.current_player(py)?,
        };
        let actions = self.legal_actions(py, Some(now))?;
        let count = match now {
            OVER => 0,
            _ => self.shared.network()?.actions.moves[self.role(now)?.index()].len(),
        };
        let mut mask = vec![0; count];
        actions.into_iter().for_each(|action| mask[action] = 1);
        Ok(mask)
    }

    /// Makes an action of the current player or of chance, with the only moves of all others.
    fn apply_action(&mut self, py: Python<'_>, action: i64) -> PyResult<()> {
        if self.is_over(py)? {
            return Err(play_error(py, &PlayError::GameOver));
        }
        let choices = self.choices(py)?;
        let now = self.player_now(py, &choices)?;
        if now == SIMULTANEOUS {
            let why = "several players choose at once: use apply_actions";
            return Err(PyValueError::new_err(why));
        }
        let role = self.role(now)?;
        let made = self.shared.action(role, action)?;
        if !choices.legal[role.index()].contains(&made) {
            let legal = choices.legal[role.index()].iter();
            let error = {
                let machine = self.shared.machine();
                PlayError::IllegalMove {
                    role: self.shared.game.role_name(role).to_owned(),
                    chosen: machine.text(made),
                    legal: legal.map(|made| machine.text(*made)).collect(),
                }
            };
            return Err(play_error(py, &error));
        }
        let mut joint = match self.pending.take() {
            Some(pending) => pending,
            None => choices.legal.iter().map(|legal| legal[0]).collect(),
        };
        joint[role.index()] = made;
        match now != CHANCE && choices.chance.is_some() {
            true => self.pending = Some(joint),
            false => self.advance(py, joint)?,
        }
        Ok(())
    }

    /// Makes an action of each player at once.
    fn apply_actions(&mut self, py: Python<'_>, actions: Vec<i64>) -> PyResult<()> {
        let players = self.shared.players();
        if self.is_over(py)? {
            return Err(play_error(py, &PlayError::GameOver));
        }
        if actions.len() != players.len() || self.pending.is_some() {
            return Err(PyValueError::new_err(match self.pending {
                None => format!(
                    "{} actions are needed, not {}",
                    players.len(),
                    actions.len()
                ),
                Some(_) => "chance chooses now: use apply_action".to_owned(),
            }));
        }
        let choices = self.choices(py)?;
        let mut joint: Vec<Move> = choices.legal.iter().map(|legal| legal[0]).collect();
        for (&role, &action) in players.iter().zip(&actions) {
            joint[role.index()] = self.shared.action(role, action)?;
        }
        match choices.chance {
            None => self.advance(py, joint),
            Some(_) => {
                // Legality does not depend on the move of chance.
                self.ask(py, |machine, state| machine.play(state, &joint))?;
                self.pending = Some(joint);
                Ok(())
            }
        }
    }

    /// Makes a joint move given by texts, one for each role in their order, such as
    /// `play("(mark 1 1)", "noop")`.
    #[pyo3(signature = (*moves))]
    fn play(&mut self, py: Python<'_>, moves: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.check_settled()?;
        let texts: Vec<String> = moves.extract()?;
        self.make(py, &texts)
    }

    /// The legal moves of a role, as texts. Empty if the match is over.
    pub fn legal_moves(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
    ) -> PyResult<Vec<String>> {
        let role = self.shared.game.roles().nth(role);
        let role = role.ok_or_else(|| PyIndexError::new_err("there is no such role"))?;
        self.ask(py, |machine, state| {
            let mut legal = Vec::new();
            if !machine.is_terminal(state)? {
                machine.legal(state, role, &mut legal)?;
            }
            Ok(legal.iter().map(|made| machine.text(*made)).collect())
        })
    }

    /// The moves of chance with their probabilities.
    fn chance_outcomes(&self, py: Python<'_>) -> PyResult<Vec<(usize, f64)>> {
        let actions = match self.current_player(py)? {
            CHANCE => self.legal_actions(py, Some(CHANCE))?,
            _ => Vec::new(),
        };
        let each = 1.0 / actions.len() as f64;
        Ok(actions.into_iter().map(|action| (action, each)).collect())
    }

    /// The text of an action: of a player, or of the current one if only the action is given.
    #[pyo3(signature = (player, action=None))]
    fn action_to_string(
        &self,
        py: Python<'_>,
        player: i32,
        action: Option<i64>,
    ) -> PyResult<String> {
        let (player, action) = match action {
            Some(action) => (player, action),
            None => (self.current_player(py)?, i64::from(player)),
        };
        let made = self.shared.action(self.role(player)?, action)?;
        Ok(self.shared.machine().text(made))
    }

    /// The action of a player with this text.
    fn string_to_action(&self, player: i32, text: &str) -> PyResult<usize> {
        let role = self.role(player)?;
        let made = self.read(text)?;
        self.number(role, made)
            .map_err(|_| PyValueError::new_err(format!("{text} is never legal for this player")))
    }

    /// By player: the score, 0 to 100, if the match is over, else 0.
    ///
    /// Raises `MatchError` if the rules give a role not exactly one score.
    fn returns(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        let players = self.shared.players();
        match self.is_over(py)? {
            false => Ok(vec![0.0; players.len()]),
            true => self.ask(py, |machine, state| {
                let scores = players.iter().map(|role| machine.goal(state, *role));
                scores.map(|score| Ok(f64::from(score?.get()))).collect()
            }),
        }
    }

    /// The same as `returns`: scores are given at the end.
    fn rewards(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.returns(py)
    }

    /// By role: its goal value in this state, also before the end; `None` if the rules give not
    /// exactly one.
    fn goals(&self, py: Python<'_>) -> PyResult<Vec<Option<u8>>> {
        let roles = self.shared.game.roles();
        self.ask(py, |machine, state| {
            let goals = roles.map(|role| match machine.goal(state, role) {
                Ok(score) => Ok(Some(score.get())),
                Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
                    Ok(None)
                }
                Err(error) => Err(error),
            });
            goals.collect()
        })
    }

    /// The facts that hold, sorted.
    fn facts(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.ask(py, |machine, state| {
            let facts = machine.facts(state);
            let (game, terms) = (machine.game(), machine.terms());
            let mut texts: Vec<String> = facts.iter().map(|fact| game.text(terms, *fact)).collect();
            texts.sort();
            Ok(texts)
        })
    }

    /// The facts that hold as numbers, 1 or 0 for each of `Game.facts`. Every player sees them.
    ///
    /// With hidden information, a player, by default the current one, sees its own percepts and actions alone: 1 for
    /// each of its `Game.percepts` that it ever had, with zeros up to the greatest number of percepts of a player, and 1
    /// for each action that it ever made, with zeros up to the greatest number of actions; then the same for the
    /// last turn alone. All are 0 before the first move. The order of earlier turns is not in it: all that a
    /// player knows is in `knowledge`.
    #[pyo3(signature = (player=None))]
    fn observation_tensor(&self, py: Python<'_>, player: Option<i32>) -> PyResult<Vec<f32>> {
        if self.shared.hides() {
            let role = self.observer(py, player)?;
            let observation = self.observation(py, role)?;
            return self.shared.observed_bits(py, role, &observation);
        }
        player.map(|player| self.role(player)).transpose()?;
        let count = self.shared.network()?.net().facts().len();
        let packed = self.ask(py, |machine, state| {
            Ok(machine.network(state).map(|(_, packed)| packed))
        })?;
        let packed = packed.ok_or_else(|| {
            PyValueError::new_err("the state has facts that no match of this game has")
        })?;
        let holds = |fact| ggp_engine::propnet::batch::holds(&packed, fact);
        Ok((0..count)
            .map(|fact| f32::from(u8::from(holds(fact))))
            .collect())
    }

    /// The facts that hold, as one text. With hidden information, the last move of the player, by default the
    /// current one, and its percepts, then its moves and percepts so far, each once.
    #[pyo3(signature = (player=None))]
    fn observation_string(&self, py: Python<'_>, player: Option<i32>) -> PyResult<String> {
        if self.shared.hides() {
            let role = self.observer(py, player)?;
            let observation = self.observation(py, role)?;
            return Ok(knowledge::observed_text(&self.shared, role, &observation));
        }
        player.map(|player| self.role(player)).transpose()?;
        Ok(self.facts(py)?.join(" "))
    }

    /// The joint moves so far, as texts.
    fn history(&self) -> Vec<Vec<String>> {
        let machine = self.shared.machine();
        let texts = self.history.iter().map(|joint| {
            let moves = joint.iter().map(|made| machine.text(*made));
            moves.collect()
        });
        texts.collect()
    }

    /// The number of joint moves so far.
    fn move_number(&self) -> usize {
        self.history.len()
    }

    /// The percepts of a role (its number) of the last joint move, as texts; of another joint move in this
    /// state, if `moves` has one. Empty before the first move.
    ///
    /// Raises `Error` if the rules have no `sees`, and `MatchError` if the moves are not legal.
    #[pyo3(signature = (role, moves=None))]
    fn percepts(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
        moves: Option<Vec<String>>,
    ) -> PyResult<Vec<String>> {
        self.percepts_as_texts(py, role, moves)
    }

    /// All that a role (its number) knows of the match: for each turn its own move, and a tuple of its percepts. The
    /// tuples of two matches that began in the same state are equal exactly if these look alike to the role.
    ///
    /// Raises `Error` if the rules have no `sees`.
    fn knowledge<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = role_number)] role: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.knowledge_as_tuple(py, role)
    }

    /// All that a player knows of the match, by default the current one, as a text: the name of its role, its own moves,
    /// and its percepts after each. Without `sees`, all joint moves. A match that did not begin in the initial
    /// state has the facts with which it began. The texts of two matches are
    /// equal exactly if these look alike to the player.
    #[pyo3(signature = (player=None))]
    fn information_state_string(&self, py: Python<'_>, player: Option<i32>) -> PyResult<String> {
        let role = self.observer(py, player)?;
        Ok(knowledge::text(
            &self.shared,
            role,
            &self.observation(py, role)?,
            self.start.as_deref(),
        ))
    }

    /// The match as a role (its number) knows it, with the legal moves of the role.
    ///
    /// Raises `Error` if the rules have no `sees`.
    fn view(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
    ) -> PyResult<View> {
        self.view_of(py, role)
    }

    /// The states that fit what a role (its number) knows of the match; see `ggp.Belief`. If the match
    /// is not over, neither is it in any of them.
    ///
    /// Raises `Error` if the rules have no `sees`.
    #[pyo3(signature = (role, *, members=2_000, joint_moves=100_000, seed=None))]
    fn belief(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
        members: usize,
        joint_moves: usize,
        seed: Option<u64>,
    ) -> PyResult<Belief> {
        self.view_of(py, role)?
            .belief(py, members, joint_moves, seed)
    }

    /// A copy that changes independently.
    #[pyo3(name = "clone")]
    fn copy(&self) -> State {
        State {
            shared: Arc::clone(&self.shared),
            state: self.state.clone(),
            history: self.history.clone(),
            turns: self.turns.clone(),
            start: self.start.clone(),
            pending: self.pending.clone(),
            has_lost_past: self.has_lost_past,
        }
    }

    fn __copy__(&self) -> State {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> State {
        self.copy()
    }

    /// The state after an action of the current player.
    fn child(&self, py: Python<'_>, action: i64) -> PyResult<State> {
        let mut child = self.copy();
        child.apply_action(py, action)?;
        Ok(child)
    }

    /// The match so far as a text, for `Game.deserialize_state`.
    fn serialize(&self) -> PyResult<String> {
        let saved = Saved {
            start: self.start.clone(),
            moves: self.history(),
            pending: self.pending_texts(),
            has_lost_past: self.has_lost_past,
        };
        serde_json::to_string(&saved).map_err(|error| Error::new_err(error.to_string()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let state = slf.borrow();
        let game = Bound::new(slf.py(), state.game())?;
        Ok((game.getattr("deserialize_state")?, (state.serialize()?,)))
    }

    /// Explains why a literal holds in this state, or why not: `terminal`, `(legal x (mark 1 1))`,
    /// `(true (cell 1 1 b))`. With `moves`, a joint move, also `(next …)` and `(does …)`.
    ///
    /// Raises `ValueError` if the text is not a question about these rules, and `LimitError` if the
    /// answer is too large.
    #[pyo3(signature = (question, *, moves=None))]
    fn why(
        &self,
        py: Python<'_>,
        question: &str,
        moves: Option<Vec<String>>,
    ) -> PyResult<Explanation> {
        let joint = moves.map(|moves| moves.iter().map(|text| self.read(text)).collect());
        let joint: Option<Vec<Move>> = joint.transpose()?;
        let (facts, terms) = {
            let machine = self.shared.machine();
            (machine.facts(&self.state), machine.terms().clone())
        };
        let stop = Stop::new();
        let limits = Limits {
            stop: stop.clone(),
            ..Limits::default()
        };
        let game = &self.shared.game;
        let work = || -> Result<Explanation, String> {
            let mut explainer = Explainer::new(game, terms, limits, ExplainOptions::default());
            let asked = explainer
                .question(question)
                .map_err(|error| error.to_string())?;
            let situation = Situation {
                facts: &facts,
                joint: joint.as_deref(),
            };
            let answer = explainer
                .explain(&asked, situation)
                .map_err(|error| error.to_string())?;
            let trees = explainer.trees(&answer);
            let texts: Vec<String> = trees.iter().map(|tree| tree.text()).collect();
            Ok(Explanation {
                text: texts.join("\n"),
                trees: serde_json::to_string(&trees),
            })
        };
        interruptible(py, &stop, work)?.map_err(PyValueError::new_err)
    }

    /// The state as a drawing in SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        let title = self.shared.game.name();
        self.drawn(py, |drawing| ggp_picture::svg(drawing, &title))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.svg(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.drawn(py, ggp_picture::text)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, State>) -> PyResult<bool> {
        let other = other.try_borrow()?;
        let has_same_facts = if Arc::ptr_eq(&self.shared, &other.shared) {
            self.state == other.state
        } else {
            self.shared.is_same(&other.shared) && self.facts(py)? == other.facts(py)?
        };
        Ok(has_same_facts && self.context() == other.context())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        (self.facts(py)?, self.context()).hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(&self) -> String {
        let name = self.shared.game.name();
        format!(
            "<state of {name} after {}>",
            counted(self.history.len(), "joint move")
        )
    }
}

impl State {
    fn drawn(
        &self,
        py: Python<'_>,
        write: impl FnOnce(&ggp_picture::Drawing) -> String + Send,
    ) -> PyResult<String> {
        let drawn = py.detach(|| {
            let picture = self.shared.picture()?;
            let machine = self.shared.machine();
            let facts = machine.facts(&self.state);
            Ok(write(&picture.draw(
                machine.terms(),
                &facts,
                Default::default(),
            )))
        });
        drawn.map_err(|error| play_error(py, &error))
    }
}
