//! A game of one role as a search problem.
//!
//! In: a machine and a start state. Out: statuses, moves, successors and keys for
//! [`search`](ggp_search). A state is solved if it is terminal and its score reaches the
//! target; a score alone does not make a state a solution.

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::analysis::{Stripping, counters};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, Move, RoleId, Score, parse_score};
use ggp_gdl::program::{Shape, Term};
use ggp_gdl::terms::TermId;
use ggp_search::{KeyMeaning, Problem, Status};

use super::order::MoveOrder;
use super::trail::Trail;
use super::{BestEnd, SolveError, role_of_plan};

/// The parts of a state that the visited tables compare.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Keys {
    /// States without those counters that do not affect the result, or at least not the
    /// moves; after that whole states, if a claim needs them.
    #[default]
    Auto,
    /// States without those counters that do not affect what can follow but for the end.
    Harmless,
    /// Whole states.
    Exact,
    /// States without any counter, even if nothing is proved then.
    Stripped,
}

/// A game of one role, starting from a given state.
#[derive(Clone, Debug)]
pub struct GameProblem<M: Machine> {
    machine: M,
    start: M::State,
    role: RoleId,
    target: Score,
    /// By functor: whether the keys leave out its facts.
    stripped: Vec<bool>,
    stripped_count: usize,
    meaning: KeyMeaning,
    order: MoveOrder,
    /// Present if ends can have scores between 0 and the target.
    trail: Option<Trail>,
    best: Option<(Score, M::State)>,
    fault: Option<PlayError>,
}

/// The part of a state that is compared.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Key<S> {
    /// The whole state.
    Whole(S),
    /// The facts of the state without the counters, in ascending order.
    Stripped(Box<[TermId]>),
}

impl<M: Machine> GameProblem<M> {
    /// The problem of reaching a terminal state with a score of at least `target`.
    ///
    /// # Errors
    ///
    /// As [`role_of_plan`].
    pub fn new(
        machine: &M,
        start: &M::State,
        target: Score,
        keys: Keys,
    ) -> Result<Self, SolveError> {
        let machine = machine.clone();
        let game = machine.game().clone();
        let role = role_of_plan(&game)?;
        let mut stripped = vec![false; game.functors().len()];
        let mut stripped_count = 0;
        let mut meaning = KeyMeaning::SameFuture;
        for counter in counters(&game, target, machine.stop()) {
            let leave_out = match keys {
                Keys::Auto => counter.stripping.may_guide_search(),
                Keys::Harmless => counter.stripping.is_harmless(),
                Keys::Exact => false,
                Keys::Stripped => true,
            };
            if !leave_out {
                continue;
            }
            stripped_count += 1;
            for functor in &counter.functors {
                stripped[functor.index()] = true;
            }
            meaning = match (counter.stripping, meaning) {
                (Stripping::Unread, meaning) => meaning,
                (Stripping::EndsOnly, KeyMeaning::SameFuture) => KeyMeaning::EarlierIsBetter,
                (Stripping::EndsOnly, meaning) => meaning,
                _ => KeyMeaning::Hint,
            };
        }
        let trail = is_graded(&game, target).then(|| Trail::new(start));
        Ok(GameProblem {
            machine,
            start: start.clone(),
            role,
            target,
            stripped,
            stripped_count,
            meaning,
            order: MoveOrder::default(),
            trail,
            best: None,
            fault: None,
        })
    }

    /// The machine.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Sets the order in which moves are tried.
    pub fn set_order(&mut self, order: MoveOrder) {
        self.order = order;
    }

    /// The facts of a state that the keys compare, in ascending order of id.
    pub fn compared_facts(&self, state: &M::State) -> Vec<TermId> {
        let terms = self.machine.terms();
        let mut facts = self.machine.facts(state);
        if self.stripped_count > 0 {
            facts.retain(|fact| !self.stripped[terms.functor(*fact).index()]);
        }
        facts
    }

    /// The number of counters that the keys leave out.
    pub fn stripped_count(&self) -> usize {
        self.stripped_count
    }

    /// A description of the parts of states that the tables compare.
    pub(super) fn tables(&self) -> &'static str {
        match (self.stripped_count, self.meaning) {
            (0, _) => "whole states compared",
            (_, KeyMeaning::Hint) => "states compared without counters, then whole",
            _ => "states compared without counters",
        }
    }

    pub(super) fn start_state(&self) -> &M::State {
        &self.start
    }

    pub(super) fn target(&self) -> Score {
        self.target
    }

    pub(super) fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Removes and returns the first fault of the rules that was met.
    pub(super) fn take_fault(&mut self) -> Option<PlayError> {
        self.fault.take()
    }

    /// The best end met so far, and the moves that lead there.
    pub(super) fn best_end(&self) -> Best {
        let end = self.best.as_ref().and_then(|(score, state)| {
            let plan = self.trail.as_ref()?.way(state)?;
            Some(BestEnd {
                score: *score,
                plan,
            })
        });
        Best(end)
    }

    /// The score of a terminal state; `None` if the rules give no valid score.
    ///
    /// # Errors
    ///
    /// [`PlayError::AmbiguousGoal`] if the rules give several values: a score is for the user to choose.
    pub(super) fn score(&mut self, state: &M::State) -> Result<Option<Score>, PlayError> {
        match self.machine.goal(state, self.role) {
            Ok(score) => Ok(Some(score)),
            Err(fault @ (PlayError::NoGoal(_) | PlayError::BadGoal(_))) => {
                self.fault.get_or_insert(fault);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Replaces the content of `out` by the legal moves in order. Leaves `out` empty if the
    /// rules give no legal move.
    pub(super) fn moves(&mut self, state: &M::State, out: &mut Vec<Move>) -> Result<(), PlayError> {
        match self.machine.legal(state, self.role, out) {
            Ok(()) => self.order.sort(self.machine.terms(), out),
            Err(fault @ PlayError::NoLegalMove(_)) => {
                self.fault.get_or_insert(fault);
                out.clear();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl<M: Machine> Problem for GameProblem<M> {
    type State = M::State;
    type Key = Key<M::State>;
    type Action = Move;
    type Error = PlayError;

    fn start(&mut self) -> Result<M::State, PlayError> {
        Ok(self.start.clone())
    }

    fn status(&mut self, state: &M::State) -> Result<Status, PlayError> {
        if !self.machine.is_terminal(state)? {
            return Ok(Status::Open);
        }
        let Some(score) = self.score(state)? else {
            return Ok(Status::Dead);
        };
        if score >= self.target {
            return Ok(Status::Solved);
        }
        let least = self.best.as_ref().map_or(0, |(best, _)| best.get());
        if self.trail.is_some() && score.get() > least {
            self.best = Some((score, state.clone()));
        }
        Ok(Status::Dead)
    }

    fn actions(&mut self, state: &M::State, out: &mut Vec<Move>) -> Result<(), PlayError> {
        self.moves(state, out)
    }

    fn result(&mut self, state: &M::State, action: &Move) -> Result<M::State, PlayError> {
        let next = self.machine.next(state, &[*action])?;
        if let Some(trail) = &mut self.trail {
            trail.note(state, *action, &next);
        }
        Ok(next)
    }

    fn key(&self, state: &M::State) -> Key<M::State> {
        if self.stripped_count == 0 {
            return Key::Whole(state.clone());
        }
        Key::Stripped(self.compared_facts(state).into())
    }

    fn key_meaning(&self) -> KeyMeaning {
        self.meaning
    }

    fn state_heap_bytes(&self, state: &M::State) -> u64 {
        let facts = self.machine.facts(state).len() * size_of::<TermId>();
        let trail = self.trail.as_ref().map_or(0, |_| Trail::BYTES);
        // An `Arc` stores two counts before the shared value.
        facts as u64 + 16 + trail
    }

    fn key_heap_bytes(&self, key: &Key<M::State>) -> u64 {
        match key {
            Key::Whole(state) => self.state_heap_bytes(state),
            Key::Stripped(facts) => size_of_val(&**facts) as u64,
        }
    }
}

/// The best end of a search, if any.
pub(super) struct Best(Option<BestEnd>);

impl Best {
    /// The better of two ends; of equal scores, the one with the shorter plan.
    pub(super) fn max_by_score(self, other: Option<BestEnd>) -> Option<BestEnd> {
        match (self.0, other) {
            (Some(one), Some(other)) => {
                let is_better = (other.score, std::cmp::Reverse(other.plan.len()))
                    > (one.score, std::cmp::Reverse(one.plan.len()));
                Some(if is_better { other } else { one })
            }
            (one, other) => one.or(other),
        }
    }
}

/// Whether an end can have a score above 0 and below `target`.
fn is_graded(game: &Game, target: Score) -> bool {
    let goal = game.keyword(Keyword::Goal);
    let between = |value: TermId| {
        let functor = game.functors().functor(game.terms().functor(value));
        let score = parse_score(game.symbols().name(functor.name));
        functor.shape == Shape::Bare && score.is_ok_and(|s| s.get() > 0 && s < target)
    };
    let rules = game.rules();
    let facts = rules.facts.iter().filter(|f| Some(f.relation) == goal);
    let mut heads = rules
        .rules
        .iter()
        .map(|rule| &rule.head)
        .filter(|head| Some(head.relation) == goal);
    heads.any(|head| match &head.arguments[1] {
        Term::Ground(value) => between(*value),
        _ => true,
    }) || facts.into_iter().any(|fact| between(fact.arguments[1]))
}
