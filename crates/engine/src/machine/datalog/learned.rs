//! Lessons from a few random playouts: the sizes of relations, by which a machine plans,
//! and whether it is less work to derive on demand.
//!
//! A [`Learned`] is for further games with the same rules and other facts, such as the boards of
//! one puzzle. It changes plans only, never answers.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

use super::{DatalogMachine, play_error};
use crate::machine::{Limits, Machine, PlayError};
use ggp_gdl::datalog::{Bounds, Sizes, check_stop};
use ggp_gdl::game::{Game, RoleId};
use ggp_gdl::program::RuleSet;

/// The sizes of relations that a machine has seen in playouts of a game, for machines of games
/// with the same rules.
#[derive(Clone, Debug)]
pub struct Learned {
    game: Game,
    pub(super) sizes: Sizes,
    /// Whether it was less work to derive on demand.
    is_on_demand: bool,
}

impl Learned {
    /// True for a game with the same rules, which are these as flat ones.
    pub(super) fn fits(&self, game: &Game, flat: &RuleSet) -> bool {
        self.game.rules().rules == game.rules().rules && self.sizes.fit(flat)
    }
}

/// The number of joint moves of the playouts from which sizes and costs are
/// learned: for long use, and for use on a few states only.
pub(super) const SAMPLE_MOVES: usize = 60;
pub(super) const FEW_MOVES: usize = 10;
/// The maximum number of such playouts.
const SAMPLE_PLAYOUTS: usize = 4;
/// The number of rows examined after which a sample ends, and the maximum for one
/// state: first, and if no move was made.
const SAMPLE_WORK: [u64; 2] = [100_000, 1_000_000];
/// The number of rows examined per state below which no better plan is searched.
const LITTLE_WORK: u64 = 1_000;

impl DatalogMachine {
    /// A machine that plans by what a machine of another game with the same rules has learned,
    /// without playouts of its own. If the rules are others, as
    /// [`DatalogMachine::for_few_states`].
    ///
    /// # Errors
    ///
    /// The errors of [`DatalogMachine::new`].
    pub fn as_learned(game: &Game, limits: Limits, known: &Learned) -> Result<Self, PlayError> {
        let mut machine = DatalogMachine::unlearned(game, limits, Some(known))?;
        if machine.learned.is_none() {
            machine.learn(FEW_MOVES)?;
            return Ok(machine);
        }
        if known.is_on_demand {
            let on_demand = machine.evaluator.on_demand(&mut machine.terms);
            if let Some(evaluator) = on_demand.map_err(|error| play_error(game, error))? {
                machine.evaluator = evaluator;
            }
        }
        Ok(machine)
    }

    /// The sizes that this machine has learned, unless it was made for one position.
    pub fn learned_sizes(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Switches to evaluation on demand if one joint move from the initial state then
    /// takes little work, and learns from playouts otherwise.
    pub(super) fn plan_for_one_position(&mut self) -> Result<(), PlayError> {
        let game = self.shared.game.clone();
        let on_demand = self.evaluator.on_demand(&mut self.terms);
        let on_demand = on_demand.map_err(|error| play_error(&game, error))?;
        let mut first = self.clone();
        if let Some(evaluator) = on_demand {
            first.evaluator = evaluator;
        }
        first.forget();
        let work = first.sample(1, SAMPLE_WORK[1]);
        if work.is_infinite() {
            return self.learn(FEW_MOVES);
        }
        // Deriving everything may be much less work than deriving on demand.
        let most = work as u64 / 32;
        if most < LITTLE_WORK || self.sample(1, most).is_infinite() {
            *self = first;
        }
        // The initial state stays loaded: it is the position most often queried.
        Ok(())
    }

    /// Plans by the relation sizes in a few random playouts, and switches to
    /// evaluation on demand if that is less work there.
    pub(super) fn learn(&mut self, most_moves: usize) -> Result<(), PlayError> {
        for most_work in SAMPLE_WORK {
            if self.learn_within(most_moves, most_work)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns false if no move was made within the rows of a sample.
    fn learn_within(&mut self, most_moves: usize, most_work: u64) -> Result<bool, PlayError> {
        let game = self.shared.game.clone();
        let stop = self.evaluator.bounds().stop.clone();
        let go_on = || check_stop(&stop).map_err(|error| play_error(&game, error));
        self.sample(most_moves, most_work);
        go_on()?;
        self.evaluator.replan();
        let mut work = self.sample(most_moves, most_work);
        go_on()?;
        let mut learned = Learned {
            game: game.clone(),
            sizes: self.evaluator.sizes(),
            is_on_demand: false,
        };
        let on_demand = self.evaluator.on_demand(&mut self.terms);
        if let Some(evaluator) = on_demand.map_err(|error| play_error(&game, error))? {
            let mut other = self.clone();
            other.evaluator = evaluator;
            other.forget();
            other.sample(most_moves, most_work);
            go_on()?;
            other.evaluator.replan();
            let on_demand = other.sample(most_moves, most_work);
            if on_demand < work {
                *self = other;
                learned.is_on_demand = true;
                work = on_demand;
            }
        }
        go_on()?;
        self.evaluator.replan();
        self.learned = Some(learned);
        self.forget();
        Ok(work.is_finite())
    }

    /// The rows examined per joint move of a few playouts, at most about `most_work` in
    /// total; infinite if no move was made. Errors are ignored here; they recur in
    /// play.
    fn sample(&mut self, most_moves: usize, most_work: u64) -> f64 {
        self.forget();
        let before = self.evaluator.work();
        let bounds = self.evaluator.bounds().clone();
        self.evaluator.set_bounds(Bounds {
            work: most_work.min(bounds.work),
            ..bounds.clone()
        });
        let mut moves = 0;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..SAMPLE_PLAYOUTS {
            if self
                .sample_playout(&mut moves, (most_moves, most_work), before, &mut random)
                .is_err()
            {
                break;
            }
        }
        self.evaluator.set_bounds(bounds);
        match moves {
            0 => f64::INFINITY,
            moves => (self.evaluator.work() - before) as f64 / moves as f64,
        }
    }

    fn sample_playout(
        &mut self,
        moves: &mut usize,
        (most_moves, most_work): (usize, u64),
        before: u64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<(), PlayError> {
        let roles: Vec<RoleId> = self.shared.game.roles().collect();
        let mut legal = Vec::new();
        let mut joint = Vec::new();
        let mut state = Arc::clone(&self.shared.initial);
        while *moves < most_moves && self.evaluator.work() - before < most_work {
            if self.is_terminal(&state)? {
                for role in &roles {
                    self.goal_values(&state, *role)?;
                }
                return Ok(());
            }
            joint.clear();
            for role in &roles {
                self.legal(&state, *role, &mut legal)?;
                joint.push(legal[random.random_range(0..legal.len())]);
            }
            state = self.next(&state, &joint)?;
            *moves += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(rules: &str, ways: &str) -> Game {
        let rest = "(role r) (init (at 0)) (<= (legal r (go ?y)) (true (at ?x)) (path ?x ?y))
            (<= (next (at ?y)) (does r (go ?y))) (<= (next (been ?x)) (true (at ?x)))
            (<= (next (been ?x)) (true (been ?x))) (<= terminal (true (at 9)))
            (<= (goal r 100) (true (at 9))) (<= (goal r 0) (not (true (at 9))))";
        Game::from_text("walk", &format!("{rest} {rules} {ways}")).expect("the rules are right")
    }

    const PATHS: &str = "(<= (path ?x ?y) (way ?x ?y) (not (true (been ?y))))
        (<= (path ?x ?z) (path ?x ?y) (way ?y ?z) (not (true (been ?z))))";
    const STEPS: &str = "(<= (path ?x ?y) (way ?x ?y) (not (true (been ?y))))";

    /// The number of legal moves in the first states.
    fn moves(machine: &mut DatalogMachine) -> Vec<usize> {
        let role = machine.game().roles().next().expect("there is a role");
        let mut state = machine.initial().expect("it is small");
        let mut counts = Vec::new();
        while !machine.is_terminal(&state).expect("it is small") {
            let mut legal = Vec::new();
            machine
                .legal(&state, role, &mut legal)
                .expect("it is small");
            counts.push(legal.len());
            state = machine.next(&state, &legal[..1]).expect("it is small");
        }
        counts
    }

    #[test]
    fn what_one_board_has_taught_saves_the_playouts_of_the_next() {
        let first = game(PATHS, "(way 0 1) (way 1 2) (way 2 9)");
        let first = DatalogMachine::for_few_states(&first, Limits::default()).expect("small");
        let known = first.learned_sizes().expect("it has learned");
        let next = game(PATHS, "(way 0 3) (way 3 4) (way 4 5) (way 3 9) (way 5 9)");
        let mut fresh = DatalogMachine::for_few_states(&next, Limits::default()).expect("small");
        let mut taught =
            DatalogMachine::as_learned(&next, Limits::default(), known).expect("small");
        assert!(taught.evaluator.work() < fresh.evaluator.work());
        assert_eq!(moves(&mut taught), moves(&mut fresh));
        // Other rules: what is known says nothing about them.
        let other = game(STEPS, "(way 0 3) (way 3 9)");
        let mut fresh = DatalogMachine::for_few_states(&other, Limits::default()).expect("small");
        let mut taught =
            DatalogMachine::as_learned(&other, Limits::default(), known).expect("small");
        assert_eq!(taught.evaluator.work(), fresh.evaluator.work());
        assert_eq!(moves(&mut taught), moves(&mut fresh));
    }
}
