//! Questions about a whole game.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::errors::{Error, LimitError, findings, from_json, play_error};
use crate::interrupt::interruptible;
use crate::knowledge;
use crate::shared::{Shared, role_number};
use crate::solution::Solution;
use crate::state::State;
use ggp_engine::machine::{Limits, Machine, PerftOptions, PlayError, PropnetState, perft};
use ggp_gdl::game::{Move, Score};
use ggp_gdl::terms::TermId;
use ggp_hidden::is_open;
use ggp_play::extensive_form::{ExtensiveFormError, extensive_form};
use ggp_play::{Evaluation, Lanes, Learner, Outlook};
use ggp_playcheck::{PlaycheckOptions, playcheck};
use ggp_search::minimax::{Minimax, TranspositionTable, Wanted, prove};
use ggp_search::{Budget, Plans, Stats, Verdict};
use ggp_solver::solve::{Method, SolveError, SolveOptions, claim, solve_from};
use ggp_stop::Stop;
use ggp_verify::{Failure, Record, verify};

/// The most plans that are listed.
const MOST_PLANS: usize = 1_000_000;

/// A game: rules that were read and checked. `ggp.load` makes it.
///
/// Threads may share it. Two games are equal if their rules have the same texts, in the same order, and both
/// are case-sensitive or neither is.
#[pyclass(frozen, eq, hash, module = "ggp")]
pub struct Game {
    pub shared: Arc<Shared>,
}

impl PartialEq for Game {
    fn eq(&self, other: &Self) -> bool {
        self.shared.is_same(&other.shared)
    }
}

impl Hash for Game {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.shared.rules().hash(hasher);
    }
}

/// A number of seconds of Python.
pub fn seconds(number: f64, name: &str) -> PyResult<Duration> {
    match (0.0..=1e9).contains(&number) {
        true => Ok(Duration::from_secs_f64(number)),
        false => Err(PyValueError::new_err(format!(
            "{name} must be from 0 to 1e9 seconds, not {number}"
        ))),
    }
}

#[pymethods]
impl Game {
    /// The name of the game: that of its file.
    #[getter]
    fn name(&self) -> String {
        self.shared.game.name()
    }

    /// The names of the roles, in their order.
    #[getter]
    fn roles(&self) -> Vec<String> {
        let game = &self.shared.game;
        let names = game.roles().map(|role| game.role_name(role).to_owned());
        names.collect()
    }

    /// True if the rules run as a network, which actions and batches need.
    #[getter]
    fn has_network(&self) -> bool {
        self.shared.network.is_some()
    }

    /// True if the rules have `sees`: then the roles do not know all facts.
    #[getter]
    fn has_hidden_information(&self) -> bool {
        self.shared.hides()
    }

    /// The warnings about the rules, as dictionaries.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        findings(py, &self.shared.reading)
    }

    /// The facts that change in the course of a match, in the order of observations.
    #[getter]
    fn facts(&self) -> PyResult<Vec<String>> {
        let net = self.shared.network()?.net();
        let terms = net.terms();
        let texts = net
            .facts()
            .iter()
            .map(|fact| self.shared.game.text(&terms, *fact));
        Ok(texts.collect())
    }

    /// The moves of a role that may ever be legal, by the number of the action.
    fn actions(&self, #[pyo3(from_py_with = role_number)] role: usize) -> PyResult<Vec<String>> {
        let network = self.shared.network()?;
        let terms = network.net().terms();
        let moves = network.actions.moves.get(role);
        let moves =
            moves.ok_or_else(|| PyValueError::new_err(format!("there is no role {role}")))?;
        let texts = moves
            .iter()
            .map(|made| self.shared.game.text(&terms, made.term()));
        Ok(texts.collect())
    }

    /// The number of players: of roles other than chance.
    fn num_players(&self) -> usize {
        self.shared.players().len()
    }

    /// The greatest number of actions of a role.
    fn num_distinct_actions(&self) -> PyResult<usize> {
        let network = self.shared.network()?;
        Ok(network
            .actions
            .moves
            .iter()
            .map(Vec::len)
            .max()
            .unwrap_or(0))
    }

    /// The shape of `State.observation_tensor`: one number for each fact; with hidden information,
    /// twice the greatest number of percepts and of actions of a player, added.
    fn observation_tensor_shape(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        Ok(vec![self.shared.observation_size(py)?])
    }

    /// The percepts that a role (its number) may ever have, as texts, by the number in observations.
    ///
    /// Raises `Error` if the rules have no `sees`, and `LimitError` without a network.
    fn percepts(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
    ) -> PyResult<Vec<String>> {
        let role = self.shared.numbered(role)?;
        let all = &self.shared.all_percepts(py)?.by_role[role.index()];
        let all: Vec<TermId> = all.iter().map(|(_, percept)| *percept).collect();
        let mut machine = self.shared.machine();
        machine.terms_mut().refresh();
        Ok(knowledge::percepts(&machine, &all))
    }

    /// The state at the beginning of a match.
    fn new_initial_state(&self, py: Python<'_>) -> PyResult<State> {
        State::initial(py, &self.shared)
    }

    /// The state with these facts, such as `(cell 1 1 x)`, without a history.
    fn state(&self, py: Python<'_>, facts: Vec<String>) -> PyResult<State> {
        State::of_facts(py, &self.shared, &facts)
    }

    /// The state that `State.serialize` has written.
    fn deserialize_state(&self, py: Python<'_>, text: &str) -> PyResult<State> {
        State::deserialize(py, &self.shared, text)
    }

    /// Counts joint-move sequences and states by depth: a list of dictionaries with `depth`,
    /// `paths`, `distinct`, `terminal_paths`, `terminal_distinct`, `goal_sums` and `goal_errors`.
    #[pyo3(signature = (depth, *, threads=1, state=None))]
    fn perft<'py>(
        &self,
        py: Python<'py>,
        depth: u32,
        threads: usize,
        state: Option<&State>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let from = self.from(py, state)?;
        let stop = Stop::new();
        let mut machine = self.shared.machine().clone();
        machine.set_stop(&stop);
        let mut options = PerftOptions::default();
        (options.depth, options.threads) = (depth, threads);
        let work = || perft(&mut machine, &from, options, |_| ());
        match interruptible(py, &stop, work)? {
            Ok(counted) => from_json(py, &counted.levels),
            Err(error) => Err(play_error(py, &error)),
        }
    }

    /// Looks for mistakes that show up only during play, and for properties of all matches, by random
    /// playouts, all positions of a small game, and proofs by induction.
    ///
    /// `time` is in seconds. The result is a dictionary with `claims`: each has a `subject`, such as
    /// `turns` (roles never choose at once), `sum` (the scores have a constant sum) or `ends` (every
    /// match ends), a `verdict` (`holds`, `fails` or `open`) and a `basis`: `positions`, `induction` and
    /// `rules` are proofs, `seen` is not.
    #[pyo3(signature = (*, playouts=1000, states=100_000, time=20.0, seed=0))]
    fn audit<'py>(
        &self,
        py: Python<'py>,
        playouts: u64,
        states: usize,
        time: f64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stop = Stop::new();
        let limits = Limits {
            stop: stop.clone(),
            ..Limits::default()
        };
        let mut machine = self.shared.machine().clone();
        machine.set_stop(&stop);
        let mut options = PlaycheckOptions::default();
        (options.playouts, options.states, options.seed) = (playouts, states, seed);
        options.time = seconds(time, "time")?;
        let work = || playcheck(&mut machine, &limits, &options);
        match interruptible(py, &stop, work)? {
            Ok(report) => from_json(py, &report),
            Err(error) => Err(play_error(py, &error)),
        }
    }

    /// Looks for the moves of the only role to a score of at least `target`.
    ///
    /// `method` is a name of `ggp solve --method`; `time` is in seconds, `memory` in megabytes. With
    /// `all`, all shortest plans are listed. With `proof`, an answer without a plan has a proof that
    /// `verify` can check, if one is found.
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    #[pyo3(signature = (*, method="auto", target=100, time=None, memory=1024, threads=1, seed=0,
        all=false, optimal=false, proof=false, state=None))]
    fn solve(
        &self,
        py: Python<'_>,
        method: &str,
        target: u8,
        time: Option<f64>,
        memory: u64,
        threads: usize,
        seed: u64,
        all: bool,
        optimal: bool,
        proof: bool,
        state: Option<&State>,
    ) -> PyResult<Solution> {
        let start = self.from(py, state)?;
        let stop = Stop::new();
        let mut machine = self.shared.machine().clone();
        machine.set_stop(&stop);
        let mut options = SolveOptions::default();
        options.method = method.parse::<Method>().map_err(|_| {
            let names: Vec<&str> = Method::all().map(|method| method.name()).collect();
            PyValueError::new_err(format!("there is no method {method}; {}", names.join(", ")))
        })?;
        let target = Score::new(target).filter(|score| score.get() > 0);
        options.target =
            target.ok_or_else(|| PyValueError::new_err("target must be from 1 to 100"))?;
        options.plans = match all {
            true => Plans::AllShortest { max: MOST_PLANS },
            false => Plans::First,
        };
        (options.threads, options.seed, options.optimal) = (threads.max(1), seed, optimal);
        options.budget = Budget {
            time: time.map(|time| seconds(time, "time")).transpose()?,
            memory_bytes: memory.saturating_mul(1 << 20),
            stop: stop.clone(),
            ..options.budget
        };
        let work = || {
            let answer = solve_from(&machine, &start, &options, &mut Stats::default(), &mut ())?;
            let plans = match &answer.verdict {
                Verdict::Solved { plans, .. } => plans.clone(),
                _ => Vec::new(),
            };
            let record = (proof || !plans.is_empty()).then(|| {
                let claim = claim(&machine, &start, &answer, &options.budget);
                let facts = machine.facts(&start);
                Record::new(machine.game(), &facts, answer.target.get(), claim)
            });
            let texts = |plan: &Vec<Move>| plan.iter().map(|made| machine.text(*made)).collect();
            let verdict = match &answer.verdict {
                Verdict::Solved { .. } => "solved",
                Verdict::Unsolvable => "unsolvable",
                Verdict::NoSolutionWithin(_) => "no solution within",
                Verdict::OutOfBudget { .. } => "out of budget",
            };
            Ok(Solution {
                verdict: verdict.to_owned(),
                plans: plans.iter().map(texts).collect(),
                optimal: matches!(answer.verdict, Verdict::Solved { optimal: true, .. }),
                score: answer.best.as_ref().map(|end| end.score.get()),
                best: answer.best.as_ref().map(|end| texts(&end.plan)),
                method: answer.chosen.clone(),
                record: record.map(|record| serde_json::to_string(&record)),
            })
        };
        match interruptible(py, &stop, work)? {
            Ok(solution) => Ok(solution),
            Err(SolveError::Play(error)) => Err(play_error(py, &error)),
            Err(error) => Err(Error::new_err(error.to_string())),
        }
    }

    /// Checks an answer of `solve` or of `ggp solve --answer` with code of its own: the record, as a
    /// dictionary or as JSON. The result is a dictionary with `verdict` (`right`, `wrong` or
    /// `unchecked`), `checked`, `unchecked` and `reason`.
    #[pyo3(signature = (record, *, time=60.0))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        record: &Bound<'py, PyAny>,
        time: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let text: String = match record.cast::<PyString>() {
            Ok(text) => text.to_str()?.to_owned(),
            Err(_) => py
                .import("json")?
                .call_method1("dumps", (record,))?
                .extract()?,
        };
        let bad = |why: String| PyValueError::new_err(format!("this is not an answer: {why}"));
        let record: Record = serde_json::from_str(&text).map_err(|why| bad(why.to_string()))?;
        let again = serde_json::to_value(&record).map_err(|why| bad(why.to_string()))?;
        if serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|value| value != again) {
            return Err(bad(
                "it has values that the solver writes in another way".to_owned()
            ));
        }
        let game = &self.shared.game;
        let (start, target) = record.question(game).map_err(|why| bad(why.to_string()))?;
        let stop = Stop::new();
        let limits = ggp_verify::Limits {
            stop: stop.within(Some(seconds(time, "time")?)),
            ..ggp_verify::Limits::default()
        };
        let outcome = interruptible(py, &stop, || {
            verify(game, &start, target, &record.answer, &limits)
        })?;
        let (verdict, checked, open, reason) = match outcome {
            Ok(checked) => ("right", checked.how, checked.open, None),
            Err(Failure::Wrong(why)) => ("wrong", Vec::new(), Vec::new(), Some(why)),
            Err(Failure::Unchecked(why)) => ("unchecked", Vec::new(), Vec::new(), Some(why)),
        };
        let result = PyDict::new(py);
        result.set_item("verdict", verdict)?;
        result.set_item("checked", checked)?;
        result.set_item("unchecked", open)?;
        result.set_item("reason", reason)?;
        Ok(result)
    }

    /// The game tree in the EFG format of Gambit, which `pyspiel.load_efg_game` reads as well.
    ///
    /// Roles that choose at once do so one after another, in information sets that hide the choices of
    /// the same turn. If the rules have `sees`, a player knows only its own moves and its percepts after
    /// each turn; they are the label of an information set. Raises `LimitError` if there are more than
    /// `max_nodes` nodes, and `Error` if matches look alike to a player whose legal moves differ, or if the rules
    /// have `sees` and `state` comes after moves: what roles do not know of it is not part of a tree.
    #[pyo3(signature = (*, max_nodes=1_000_000, state=None))]
    fn efg(&self, py: Python<'_>, max_nodes: usize, state: Option<&State>) -> PyResult<String> {
        let start = self.from(py, state)?;
        if self.shared.hides() && state.is_some_and(|state| !state.is_first()) {
            return Err(Error::new_err(
                "the tree of a game with hidden information begins where all roles know the state: without `state`, \
                 or with one of `Game.state(facts)`",
            ));
        }
        let stop = Stop::new();
        let mut machine = self.shared.machine().clone();
        machine.set_stop(&stop);
        let made = interruptible(py, &stop, || {
            extensive_form(&mut machine, &start, max_nodes)
        })?;
        made.map(|form| form.text).map_err(|error| match error {
            ExtensiveFormError::Play(error) => play_error(py, &error),
            ExtensiveFormError::TooLarge(_) => LimitError::new_err(error.to_string()),
            error => Error::new_err(error.to_string()),
        })
    }

    /// The value of a state for a role, and of each of its moves, with proofs.
    ///
    /// Where the rules have `sees`, this holds only if all roles always know the state, which is found out
    /// first, up to 2,000,000 states. `Error` if they may not.
    ///
    /// All other roles play against the role and know its move. `time` is in seconds, `memory` in
    /// megabytes. With `best`, only the best move is looked for. The result is a dictionary with
    /// `proved` (nothing more is to be found out), `value` (a score, or `None`), `bounds`, `positions`,
    /// and `moves`: dictionaries with `move`, `value` and `bounds`, best first. Where roles choose at
    /// once, or by chance, bounds may differ although they are proved.
    #[pyo3(signature = (role=0, *, time=60.0, memory=1024, best=false, state=None))]
    fn prove<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = role_number)] role: usize,
        time: f64,
        memory: u64,
        best: bool,
        state: Option<&State>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let start = self.from(py, state)?;
        if role >= self.shared.game.role_count() {
            return Err(PyValueError::new_err(format!("there is no role {role}")));
        }
        let (time, memory) = (seconds(time, "time")?, memory.saturating_mul(1 << 20));
        let stop = Stop::new();
        let mut machine = self.shared.machine().clone();
        // One deadline for both, so that an evaluation never ends before the budget is spent.
        let end = stop.within(Some(time));
        machine.set_stop(&end);
        if self.shared.game.is_hidden() {
            self.all_is_known(py, &stop, &end, &start)?;
        }
        let work = || {
            if machine.is_terminal(&start)? {
                return Err(PlayError::GameOver);
            }
            let limits = Limits::default();
            let mut lanes = Lanes::new(&machine, &limits);
            // As the command does: a tenth of the time, and an eighth of the memory.
            let learning = time / 10;
            let due = Instant::now() + learning;
            let mut outlook = Outlook {
                stop: machine.stop().clone(),
                learner: Some(Learner::new(due, learning, memory / 8, limits.engine)),
                lanes: lanes.as_mut(),
                machine: &mut machine,
                evaluation: Evaluation::Goals,
                random: Xoshiro256PlusPlus::seed_from_u64(0),
            };
            let budget = Budget {
                stop: end,
                memory_bytes: (memory - memory / 8) / 2,
                ..Budget::default()
            };
            let how = Minimax {
                wanted: if best { Wanted::Best } else { Wanted::All },
                seed: 0,
            };
            let mut table = TranspositionTable::new(budget.memory_bytes);
            let stats = &mut Stats::default();
            let report = prove(
                &mut outlook,
                &mut table,
                &start,
                role,
                &how,
                &budget,
                stats,
                &mut (),
            )?;
            let moves = report.moves.iter().map(|found| {
                let text = outlook.machine.text(found.action);
                (text, found.bounds)
            });
            Ok((
                moves.collect::<Vec<_>>(),
                report.bounds(),
                report.positions,
                report.stopped.is_none(),
            ))
        };
        let (moves, bounds, positions, proved) = match interruptible(py, &stop, work)? {
            Ok(report) => report,
            Err(PlayError::Interrupted) if !stop.is_raised() => (Vec::new(), (0, 100), 0, false),
            Err(error) => return Err(play_error(py, &error)),
        };
        // There may have been no time to look at the first moves.
        let moves = match moves.is_empty() {
            true => {
                let nothing = |made| (made, (0, 100));
                let moves = self.legal(py, role, state)?.into_iter().map(nothing);
                moves.collect()
            }
            false => moves,
        };
        let value = |(low, high): (u8, u8)| (low == high).then_some(low);
        let result = PyDict::new(py);
        result.set_item("proved", proved)?;
        result.set_item("value", value(bounds))?;
        result.set_item("bounds", bounds)?;
        result.set_item("positions", positions)?;
        let moves = moves.into_iter().map(|(text, bounds)| {
            let one = PyDict::new(py);
            one.set_item("move", text)?;
            one.set_item("value", value(bounds))?;
            one.set_item("bounds", bounds)?;
            Ok(one)
        });
        result.set_item("moves", moves.collect::<PyResult<Vec<_>>>()?)?;
        Ok(result)
    }

    fn __repr__(&self) -> String {
        format!("ggp.Game({:?}, roles={:?})", self.name(), self.roles())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let files = self.shared.game.sources().files();
        let texts: Vec<(&str, &str)> = files
            .iter()
            .map(|file| (file.name(), file.text()))
            .collect();
        let options = self.shared.options;
        let arguments = (
            texts,
            options.strict,
            options.case_sensitive,
            options.ground_time,
            options.cache,
        );
        let made = py.import("ggp._ggp")?.getattr("_load_texts")?;
        Ok((made, arguments.into_pyobject(py)?))
    }
}

/// The states looked at to find out whether something is hidden.
const OPEN: usize = 2_000_000;

impl Game {
    /// Refuses, unless all roles always know the state, from the initial one and from `start` on.
    fn all_is_known(
        &self,
        py: Python<'_>,
        stop: &Stop,
        end: &Stop,
        start: &PropnetState,
    ) -> PyResult<()> {
        let facts = self.shared.machine().facts(start);
        let is_known = interruptible(py, stop, || {
            self.shared.with_world(end, |world| {
                let starts = [world.start(None)?, world.start(Some(&facts))?];
                for start in &starts {
                    if is_open(world, start, OPEN)? != Some(true) {
                        return Ok(false);
                    }
                }
                Ok(true)
            })
        })?;
        match is_known {
            Ok(true) => Ok(()),
            Ok(false) | Err(PlayError::Interrupted) => Err(Error::new_err(
                "the rules have `sees`: a state has no value for a role that does not know it. `ggp prove` \
                 has the best plan against chance, and OpenSpiel finds equilibria (`ggp.openspiel`)",
            )),
            Err(error) => Err(play_error(py, &error)),
        }
    }

    /// The legal moves of a role in the given state, or in the initial one, as texts.
    fn legal(&self, py: Python<'_>, role: usize, state: Option<&State>) -> PyResult<Vec<String>> {
        match state {
            Some(state) => state.legal_moves(py, role),
            None => State::initial(py, &self.shared)?.legal_moves(py, role),
        }
    }

    /// The given state, or the initial one.
    fn from(&self, py: Python<'_>, state: Option<&State>) -> PyResult<PropnetState> {
        match state {
            Some(state) if Arc::ptr_eq(&state.shared, &self.shared) => {
                state.check_settled().map(|()| state.state.clone())
            }
            Some(state) => {
                let facts = state.facts_within(py, &self.shared)?;
                Ok(State::of_facts(py, &self.shared, &facts)?.state)
            }
            None => {
                let first = py.detach(|| self.shared.machine().initial());
                first.map_err(|error| play_error(py, &error))
            }
        }
    }
}
