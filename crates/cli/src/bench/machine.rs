//! Any [`Machine`] as a subject.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Pace, Readiness, Run, Subject, Tally};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};

/// A machine that plays one position at a time on each thread.
#[derive(Clone, Debug)]
pub struct MachineSubject<M: Machine> {
    machine: M,
    initial: M::State,
    name: &'static str,
    why_not: Option<String>,
}

impl<M: Machine> MachineSubject<M> {
    /// A machine of the named backend, with the initial state.
    ///
    /// # Errors
    ///
    /// If the initial state cannot be computed.
    pub fn new(name: &'static str, mut machine: M) -> Result<Self, PlayError> {
        let initial = machine.initial()?;
        Ok(MachineSubject {
            machine,
            initial,
            name,
            why_not: None,
        })
    }

    /// This machine as a substitute for a preferred backend that cannot play the game.
    #[must_use]
    pub fn instead(self, why_not: String) -> Self {
        MachineSubject {
            why_not: Some(why_not),
            ..self
        }
    }
}

impl<M: Machine> Subject for MachineSubject<M> {
    fn readiness(&self) -> Readiness {
        Readiness {
            plays: self.name,
            why_not: self.why_not.clone(),
            lanes: 1,
            ..Readiness::default()
        }
    }

    fn run(&mut self, run: &Run) -> Result<Tally, PlayError> {
        let pace = run.pace();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
        let mut threads = Vec::new();
        for _ in 0..run.threads {
            threads.push(Playing {
                machine: self.machine.clone(),
                roles: self.machine.game().roles().collect(),
                random: random.clone(),
                tally: Tally::new(self.machine.game().role_count()),
            });
            random.jump();
        }
        let mut tally = Tally::new(self.machine.game().role_count());
        let (initial, depth, pace) = (&self.initial, run.depth, &pace);
        if let [playing] = &mut threads[..] {
            playing.play(initial, depth, pace)?;
        } else {
            std::thread::scope(|scope| {
                let play = |playing| scope.spawn(|| Playing::play(playing, initial, depth, pace));
                let handles: Vec<_> = threads.iter_mut().map(play).collect();
                let join = |handle: std::thread::ScopedJoinHandle<_>| match handle.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                handles.into_iter().try_for_each(join)
            })?;
        }
        for playing in threads {
            tally.merge(playing.tally);
        }
        Ok(tally)
    }
}

/// One thread of a run.
struct Playing<M: Machine> {
    machine: M,
    roles: Vec<RoleId>,
    random: Xoshiro256PlusPlus,
    tally: Tally,
}

/// The end of a playout.
enum End<S> {
    /// The game is over.
    Terminal(S),
    /// The depth limit is reached.
    Cut,
    /// The time is over.
    GivenUp,
}

/// State changes between two readings of the clock.
const LOOK: u64 = 4;

impl<M: Machine> Playing<M> {
    fn play(&mut self, initial: &M::State, depth: u64, pace: &Pace) -> Result<(), PlayError> {
        while pace.begin(1) > 0 {
            let mut length = 0;
            let ended = self.playout(initial, depth, pace, &mut length);
            self.tally.state_changes += length;
            match ended {
                Ok(End::Terminal(last)) => {
                    self.tally.lengths.add(length);
                    self.score(&last)?;
                }
                Ok(End::Cut) => {
                    self.tally.lengths.add(length);
                    self.tally.cut += 1;
                }
                Ok(End::GivenUp) => return Ok(()),
                Err(fault @ PlayError::NoLegalMove(_)) => self.fault(&fault),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn playout(
        &mut self,
        initial: &M::State,
        depth: u64,
        pace: &Pace,
        length: &mut u64,
    ) -> Result<End<M::State>, PlayError> {
        let mut state = initial.clone();
        let mut joint: Vec<Move> = Vec::with_capacity(self.roles.len());
        let mut legal = Vec::new();
        while !self.machine.is_terminal(&state)? {
            if *length == depth {
                return Ok(End::Cut);
            }
            if (*length).is_multiple_of(LOOK) && pace.is_over() {
                return Ok(End::GivenUp);
            }
            joint.clear();
            for role in &self.roles {
                self.machine.legal(&state, *role, &mut legal)?;
                joint.push(legal[self.random.random_range(0..legal.len())]);
            }
            state = self.machine.next(&state, &joint)?;
            *length += 1;
        }
        Ok(End::Terminal(state))
    }

    fn score(&mut self, last: &M::State) -> Result<(), PlayError> {
        let machine = &mut self.machine;
        let goals = self.roles.iter().map(|role| machine.goal(last, *role));
        match goals.collect::<Result<Vec<_>, _>>() {
            Ok(goals) => {
                for (moments, goal) in self.tally.goals.iter_mut().zip(goals) {
                    moments.add(goal.get().into());
                }
            }
            Err(
                fault
                @ (PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)),
            ) => self.fault(&fault),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn fault(&mut self, fault: &PlayError) {
        self.tally.faults += 1;
        if self.tally.fault.is_none() {
            self.tally.fault = Some(fault.to_string());
        }
    }
}
