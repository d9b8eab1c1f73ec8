//! States along given moves, tested 64 at a time.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::DatalogMachine;
use crate::machine::{Machine, PlayError};
use ggp_gdl::datalog::Failure;
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

/// The number of states tested at once.
const LANES: usize = 64;
/// The rows that may be visited for them, besides a share of those that they would take one by
/// one.
const LITTLE_WORK: u64 = 10_000;
/// The denominator of that share.
const SHARE: u64 = 4;

impl DatalogMachine {
    /// The state after each of some joint moves that follow each other, if it is shown that each
    /// of these moves is legal and that the game is not over before it. `None` says nothing: a
    /// move may be wrong, or the test would take too much work, and
    /// [`play`](Machine::play) tells.
    ///
    /// # Errors
    ///
    /// [`PlayError::Interrupted`].
    pub fn states_along(
        &mut self,
        start: &<Self as Machine>::State,
        joints: &[&[Move]],
    ) -> Result<Option<Vec<<Self as Machine>::State>>, PlayError> {
        let mut states = vec![Arc::clone(start)];
        let Some(alone) = self.work_of(start)? else {
            return Ok(None);
        };
        for joints in joints.chunks(LANES) {
            let first = states.len() - 1;
            for joint in joints {
                let is_for_all = joint.len() == self.shared.game.role_count();
                let next = match is_for_all {
                    true => self.next(&states[states.len() - 1], joint),
                    false => return Ok(None),
                };
                match next {
                    Ok(next) => states.push(next),
                    Err(PlayError::Interrupted) => return Err(PlayError::Interrupted),
                    Err(_) => return Ok(None),
                }
            }
            let most = alone * joints.len() as u64 / SHARE + LITTLE_WORK;
            if !self.are_legal(&states[first..states.len() - 1], joints, most)? {
                return Ok(None);
            }
        }
        states.remove(0);
        Ok(Some(states))
    }

    /// The rows visited to know whether a state ends the game and which moves are legal; `None`
    /// if a limit is reached.
    fn work_of(&mut self, state: &Arc<[TermId]>) -> Result<Option<u64>, PlayError> {
        self.forget();
        self.load_state(state);
        let before = self.evaluator.work();
        for query in [self.shared.ask_terminal, self.shared.ask_legal] {
            match self.ask(query) {
                Ok(()) => {}
                Err(PlayError::Interrupted) => return Err(PlayError::Interrupted),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(self.evaluator.work() - before))
    }

    /// True if it is shown, within some rows, that none of these states, at most 64, ends the game, and that in
    /// each of them its joint move is legal.
    fn are_legal(
        &mut self,
        states: &[Arc<[TermId]>],
        joints: &[&[Move]],
        most_work: u64,
    ) -> Result<bool, PlayError> {
        self.load_lanes(states);
        let shared = Arc::clone(&self.shared);
        for query in [shared.ask_terminal, shared.ask_legal] {
            match self.evaluator.ask_lanes(query, &mut self.terms, most_work) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(Failure::Interrupted | Failure::Late) => return Err(PlayError::Interrupted),
                Err(_) => return Ok(false),
            }
        }
        let all = u64::MAX >> (LANES - states.len());
        let ended = shared.terminal.map(|of| self.evaluator.lanes(of, &[]));
        if ended.unwrap_or(0) & all != 0 || self.has_long_moves() {
            return Ok(false);
        }
        for (lane, joint) in joints.iter().enumerate() {
            for (role, chosen) in shared.game.roles().zip(*joint) {
                let name = shared.game.role_term(role);
                if self.lanes_of_move(name, *chosen) >> lane & 1 == 0 {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Loads several states into the first input layer, each as a lane.
    fn load_lanes(&mut self, states: &[Arc<[TermId]>]) {
        self.forget();
        let mut place: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut facts: Vec<(TermId, u64)> = Vec::new();
        for (lane, state) in states.iter().enumerate() {
            for &fact in state.iter() {
                let at = *place.entry(fact).or_insert(facts.len());
                if at == facts.len() {
                    facts.push((fact, 0));
                }
                facts[at].1 |= 1 << lane;
            }
        }
        self.evaluator.begin_lanes();
        let wrapped = &self.shared.state;
        for (fact, lanes) in facts {
            let functor = self.terms.functor(fact);
            if let Some(relation) = wrapped.by_functor[functor.index()] {
                let row = self.terms.arguments(fact);
                self.evaluator.give_lanes(relation, row, lanes);
            }
            if let Some(relation) = wrapped.whole {
                self.evaluator.give_lanes(relation, &[fact], lanes);
            }
        }
    }

    /// True if the text of all legal moves may be longer than the limit for one state.
    fn has_long_moves(&self) -> bool {
        let flat = self.shared.legal.iter().map(|(relation, _)| *relation);
        let relations = flat.chain(self.shared.legal_whole);
        let rows = relations.flat_map(|relation| self.evaluator.rows(relation));
        let symbols = rows.flatten().map(|&term| self.terms.symbols(term));
        symbols.sum::<usize>() > self.symbols
    }

    /// The lanes in which a role may make a move.
    fn lanes_of_move(&mut self, role: TermId, chosen: Move) -> u64 {
        let term = chosen.term();
        let functor = self.terms.functor(term);
        let mut lanes = 0;
        for &(relation, of) in &self.shared.legal {
            if of == functor {
                self.row.clear();
                self.row.push(role);
                self.row.extend_from_slice(self.terms.arguments(term));
                lanes |= self.evaluator.lanes(relation, &self.row);
            }
        }
        if let Some(relation) = self.shared.legal_whole {
            lanes |= self.evaluator.lanes(relation, &[role, term]);
        }
        lanes
    }
}
