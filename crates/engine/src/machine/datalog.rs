//! The machine that uses the planned bottom-up evaluator.

mod lanes;
mod learned;

use std::sync::Arc;

use ggp_stop::Stop;

use super::answers::Answers;
use super::move_order::MoveOrder;
use super::percepts::Teller;
use super::{Excess, Limits, MOVES_TEXT, Machine, PlayError, STATE_TEXT, check_text};
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{
    Bounds, EvaluationError, Evaluator, Failure, Layer, Query, RowMemory, Sizes,
};
use ggp_gdl::game::flat::{Flat, Wrapped, flatten};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::program::{FunctorId, RelationId, RuleSet};
use ggp_gdl::terms::{TermId, Terms};
pub use learned::Learned;
use learned::{FEW_MOVES, SAMPLE_MOVES};

/// A machine that uses the planned bottom-up evaluator. A state is its facts in
/// ascending order of id.
#[derive(Clone, Debug)]
pub struct DatalogMachine {
    terms: Terms,
    evaluator: Evaluator,
    shared: Arc<Shared>,
    order: MoveOrder,
    /// The state and the joint move in the evaluator's inputs.
    state: Option<Arc<[TermId]>>,
    joint: Option<Vec<Move>>,
    /// By role: the legal moves in the state, once they were computed.
    legal: Vec<Vec<Move>>,
    legal_known: bool,
    /// The limit on the text of a state, and on that of its legal moves.
    symbols: usize,
    learned: Option<Learned>,
    /// The machine for percepts, made when they are first asked for.
    teller: Option<Box<Teller<DatalogMachine>>>,
    /// Scratch.
    row: Vec<TermId>,
    facts: Vec<TermId>,
}

/// The part that all clones share.
#[derive(Debug)]
struct Shared {
    game: Game,
    initial: Arc<[TermId]>,
    state: Wrapped,
    does: Wrapped,
    /// Relation, functor and columns before the wrapped term.
    next: Vec<(RelationId, FunctorId)>,
    next_whole: Option<RelationId>,
    legal: Vec<(RelationId, FunctorId)>,
    legal_whole: Option<RelationId>,
    terminal: Option<RelationId>,
    goal: Option<RelationId>,
    ask_terminal: Query,
    ask_legal: Query,
    ask_next: Query,
    ask_goal: Query,
}

impl DatalogMachine {
    /// A machine for a game. This evaluates the facts that hold in every state, and
    /// plans the rest by the relation sizes in a few random playouts.
    ///
    /// # Errors
    ///
    /// [`PlayError::TooLarge`] if the facts that hold in every state exceed the
    /// limits.
    pub fn new(game: &Game, limits: Limits) -> Result<Self, PlayError> {
        DatalogMachine::learned(game, limits, SAMPLE_MOVES)
    }

    /// A machine for use on a few states: it learns from fewer moves than that of
    /// [`DatalogMachine::new`].
    ///
    /// # Errors
    ///
    /// The errors of [`DatalogMachine::new`].
    pub fn for_few_states(game: &Game, limits: Limits) -> Result<Self, PlayError> {
        DatalogMachine::learned(game, limits, FEW_MOVES)
    }

    /// A machine for queries about one position. A plan that needs little work in the
    /// initial state is used without further learning.
    ///
    /// # Errors
    ///
    /// The errors of [`DatalogMachine::new`].
    pub fn for_one_position(game: &Game, limits: Limits) -> Result<Self, PlayError> {
        let mut machine = DatalogMachine::unlearned(game, limits, None)?;
        machine.plan_for_one_position()?;
        Ok(machine)
    }

    /// The rows of the state and joint move asked about last, with those that hold in every state,
    /// and the memory that they keep.
    pub fn row_memory(&self) -> RowMemory {
        self.evaluator.row_memory()
    }

    fn learned(game: &Game, limits: Limits, most_moves: usize) -> Result<Self, PlayError> {
        let mut machine = DatalogMachine::unlearned(game, limits, None)?;
        machine.learn(most_moves)?;
        Ok(machine)
    }

    /// A machine with plans made without playouts, by the sizes that relations have in another
    /// game, if they are given.
    fn unlearned(game: &Game, limits: Limits, known: Option<&Learned>) -> Result<Self, PlayError> {
        let Flat {
            rules,
            state,
            next,
            init,
            does,
            legal,
        } = flatten(game);
        let mut terms = game.terms().clone();
        let inputs: Vec<(RelationId, Layer)> = state
            .relations()
            .map(|relation| (relation, Layer::First))
            .chain(does.relations().map(|relation| (relation, Layer::Second)))
            .collect();
        let of = |keyword: Keyword| game.keyword(keyword).into_iter().collect::<Vec<_>>();
        // The terminal condition and the legal moves are always queried together.
        // The demands of other queries are kept apart.
        let queries = [
            (0, of(Keyword::Terminal)),
            (0, legal.relations().collect()),
            (1, next.relations().collect()),
            (2, of(Keyword::Goal)),
            (3, init.relations().collect()),
        ];
        let bounds = Bounds {
            facts: limits.facts,
            work: limits.work,
            stop: limits.stop,
            foresight: None,
            apart: None,
        };
        let known = known.filter(|known| known.fits(game, &rules));
        let sizes = known.map(|known| &known.sizes);
        let (mut evaluator, asks) = compile(rules, &inputs, &queries, sizes, &mut terms, bounds)
            .map_err(|error| play_error(game, error))?;
        evaluator
            .ask(asks[4], &mut terms)
            .map_err(|error| play_error(game, error))?;
        let mut facts = Vec::new();
        let flat = init.flat(game.functors());
        gather(game, &evaluator, &mut terms, &flat, init.whole, &mut facts)?;
        let all = facts.iter().copied();
        check_text(&terms, all, STATE_TEXT, limits.symbols)?;
        facts.sort_unstable();
        let shared = Shared {
            game: game.clone(),
            initial: facts.into(),
            state,
            does,
            next: next.flat(game.functors()),
            next_whole: next.whole,
            legal: legal.flat(game.functors()),
            legal_whole: legal.whole,
            terminal: game.keyword(Keyword::Terminal),
            goal: game.keyword(Keyword::Goal),
            ask_terminal: asks[0],
            ask_legal: asks[1],
            ask_next: asks[2],
            ask_goal: asks[3],
        };
        Ok(DatalogMachine {
            terms,
            evaluator,
            shared: Arc::new(shared),
            order: MoveOrder::default(),
            state: None,
            joint: None,
            legal: vec![Vec::new(); game.role_count()],
            legal_known: false,
            symbols: limits.symbols,
            learned: known.cloned(),
            teller: None,
            row: Vec::new(),
            facts: Vec::new(),
        })
    }

    fn forget(&mut self) {
        self.state = None;
        self.joint = None;
        self.legal_known = false;
    }

    /// Loads the facts of a state into the evaluator's first input layer.
    fn load_state(&mut self, state: &Arc<[TermId]>) {
        if let Some(known) = &self.state
            && (Arc::ptr_eq(known, state) || known == state)
        {
            return;
        }
        self.forget();
        if state.last().is_some_and(|last| !self.terms.knows(*last)) {
            self.terms.refresh();
        }
        self.evaluator.begin(Layer::First);
        let wrapped = &self.shared.state;
        for &fact in state.iter() {
            let functor = self.terms.functor(fact);
            if let Some(relation) = wrapped.by_functor[functor.index()] {
                self.evaluator.give(relation, self.terms.arguments(fact));
            }
            if let Some(relation) = wrapped.whole {
                self.evaluator.give(relation, &[fact]);
            }
        }
        self.state = Some(Arc::clone(state));
    }

    /// Loads a joint move into the evaluator's second input layer.
    fn load_joint(&mut self, joint: &[Move]) {
        if self.joint.as_deref() == Some(joint) {
            return;
        }
        let mut kept = self.joint.take().unwrap_or_default();
        self.evaluator.begin(Layer::Second);
        let shared = &self.shared;
        for (role, chosen) in shared.game.roles().zip(joint) {
            let term = chosen.term();
            if !self.terms.knows(term) {
                self.terms.refresh();
            }
            let name = shared.game.role_term(role);
            let functor = self.terms.functor(term);
            if let Some(relation) = shared.does.by_functor[functor.index()] {
                self.row.clear();
                self.row.push(name);
                self.row.extend_from_slice(self.terms.arguments(term));
                self.evaluator.give(relation, &self.row);
            }
            if let Some(relation) = shared.does.whole {
                self.evaluator.give(relation, &[name, term]);
            }
        }
        kept.clear();
        kept.extend_from_slice(joint);
        self.joint = Some(kept);
    }

    fn ask(&mut self, query: Query) -> Result<(), PlayError> {
        let outcome = self.evaluator.ask(query, &mut self.terms);
        outcome.map_err(|error| {
            self.forget();
            play_error(&self.shared.game, error)
        })
    }

    fn collect_legal(&mut self) -> Result<(), PlayError> {
        let shared = Arc::clone(&self.shared);
        for moves in &mut self.legal {
            moves.clear();
        }
        let game = &shared.game;
        for &(relation, functor) in &shared.legal {
            for row in self.evaluator.rows(relation) {
                if let Some(role) = game.role_of(row[0]) {
                    let term = self.terms.intern(functor, &row[1..]);
                    let term = term.map_err(|overflow| Excess::of_terms(game, overflow))?;
                    self.legal[role.index()].push(Move::new(term));
                }
            }
        }
        if let Some(relation) = shared.legal_whole {
            for row in self.evaluator.rows(relation) {
                if let Some(role) = game.role_of(row[0]) {
                    self.legal[role.index()].push(Move::new(row[1]));
                }
            }
        }
        for moves in &mut self.legal {
            self.order.sort(game, &self.terms, moves);
        }
        let all = self.legal.iter().flatten().map(|m| m.term());
        check_text(&self.terms, all, MOVES_TEXT, self.symbols)?;
        self.legal_known = true;
        Ok(())
    }
}

/// The maximum number of facts, and of rows examined, for deriving all facts that
/// hold in every state without trying to derive fewer.
const MOST_FIXED_FACTS: usize = 2_000_000;
const MOST_FIXED_WORK: u64 = 100_000_000;
/// Evaluation stops early if the predicted size exceeds these limits by this
/// factor.
const FORESIGHT: f64 = 4.0;

/// An evaluator of a program. Relations with too many facts in every state are
/// derived on demand, if the program allows that.
fn compile(
    rules: RuleSet,
    inputs: &[(RelationId, Layer)],
    queries: &[(usize, Vec<RelationId>)],
    sizes: Option<&Sizes>,
    terms: &mut Terms,
    bounds: Bounds,
) -> Result<(Evaluator, Vec<Query>), EvaluationError> {
    let tight = Bounds {
        facts: bounds.facts.min(MOST_FIXED_FACTS),
        work: bounds.work.min(MOST_FIXED_WORK),
        foresight: Some(FORESIGHT),
        ..bounds.clone()
    };
    let mut own_terms = terms.clone();
    let mut outcome = Evaluator::with_sizes(
        rules.clone(),
        inputs,
        queries,
        sizes,
        &mut own_terms,
        tight.clone(),
    )
    .map(Some);
    let mut lazy = Vec::new();
    while let Err(error) = &outcome {
        let Some(large) = error.relation.filter(|large| !lazy.contains(large)) else {
            break;
        };
        if matches!(error.failure, Failure::Interrupted | Failure::Late) {
            break;
        }
        lazy.push(large);
        outcome = Evaluator::lazy(
            &rules,
            inputs,
            &lazy,
            queries,
            &mut own_terms,
            tight.clone(),
        );
    }
    match outcome {
        Ok(Some((mut evaluator, asks))) => {
            evaluator.set_bounds(bounds);
            *terms = own_terms;
            Ok((evaluator, asks))
        }
        _ => Evaluator::new(rules, inputs, queries, terms, bounds),
    }
}

/// Appends the terms for the rows of wrapped relations.
fn gather(
    game: &Game,
    evaluator: &Evaluator,
    terms: &mut Terms,
    flat: &[(RelationId, FunctorId)],
    whole: Option<RelationId>,
    out: &mut Vec<TermId>,
) -> Result<(), PlayError> {
    for &(relation, functor) in flat {
        for row in evaluator.rows(relation) {
            let term = terms.intern(functor, row);
            out.push(term.map_err(|overflow| Excess::of_terms(game, overflow))?);
        }
    }
    if let Some(relation) = whole {
        out.extend(evaluator.rows(relation).map(|row| row[0]));
    }
    Ok(())
}

/// The error of a failed evaluation of a game's rules as written.
pub fn play_error(game: &Game, error: EvaluationError) -> PlayError {
    let names = ["facts in one state", "rows examined in one state"];
    Excess::of(game, error, names).map_or(PlayError::Interrupted, PlayError::TooLarge)
}

impl Machine for DatalogMachine {
    type State = Arc<[TermId]>;

    fn game(&self) -> &Game {
        &self.shared.game
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn terms_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn stop(&self) -> &Stop {
        &self.evaluator.bounds().stop
    }

    fn set_stop(&mut self, stop: &Stop) {
        let bounds = self.evaluator.bounds().clone();
        self.evaluator.set_bounds(Bounds {
            stop: stop.clone(),
            ..bounds
        });
        if let Some(teller) = &mut self.teller {
            teller.machine.set_stop(stop);
        }
    }

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        Ok(Arc::clone(&self.shared.initial))
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        self.load_state(state);
        self.ask(self.shared.ask_terminal)?;
        let terminal = self.shared.terminal;
        Ok(terminal.is_some_and(|relation| self.evaluator.count(relation) > 0))
    }

    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        self.load_state(state);
        if !self.legal_known {
            self.ask(self.shared.ask_legal)?;
            self.collect_legal()?;
        }
        out.clear();
        out.extend_from_slice(&self.legal[role.index()]);
        if out.is_empty() && !self.is_terminal(state)? {
            return Err(self.no_legal_move(state, role));
        }
        Ok(())
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        self.load_state(state);
        self.load_joint(joint);
        self.ask(self.shared.ask_next)?;
        let mut facts = std::mem::take(&mut self.facts);
        facts.clear();
        let shared = &self.shared;
        gather(
            &shared.game,
            &self.evaluator,
            &mut self.terms,
            &shared.next,
            shared.next_whole,
            &mut facts,
        )?;
        let all = facts.iter().copied();
        check_text(&self.terms, all, STATE_TEXT, self.symbols)?;
        facts.sort_unstable();
        let next = facts.as_slice().into();
        self.facts = facts;
        Ok(next)
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        self.load_state(state);
        self.ask(self.shared.ask_goal)?;
        let name = self.shared.game.role_term(role);
        let Some(goal) = self.shared.goal else {
            return Ok(Vec::new());
        };
        let rows = self.evaluator.rows(goal).filter(|row| row[0] == name);
        let mut values: Vec<TermId> = rows.map(|row| row[1]).collect();
        values.sort_by(|a, b| self.shared.game.compare_terms(&self.terms, *a, *b));
        Ok(values)
    }

    fn percepts(
        &mut self,
        state: &Self::State,
        joint: &[Move],
        role: RoleId,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError> {
        out.clear();
        if !self.shared.game.is_hidden() {
            return Ok(());
        }
        if self.teller.is_none() {
            let bounds = self.evaluator.bounds();
            let limits = Limits {
                facts: bounds.facts,
                work: bounds.work,
                symbols: self.symbols,
                stop: bounds.stop.clone(),
                ..Limits::default()
            };
            let make = |game: &Game| DatalogMachine::for_few_states(game, limits);
            self.teller = Some(Box::new(Teller::new(&self.shared.game, make)?));
        }
        let teller = self.teller.as_mut().expect("it was made above");
        teller.percepts(state, joint, role, &mut self.terms, out)
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        state.to_vec()
    }

    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError> {
        let mut facts = facts.to_vec();
        facts.sort_unstable();
        facts.dedup();
        Ok(facts.into())
    }
}
