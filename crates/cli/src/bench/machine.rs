//! Any [`Machine`] as a subject.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Pace, Readiness, Run, Subject, Tally};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PlayoutEnd, PropnetState, play_to_end};
use ggp_gdl::datalog::RowMemory;
use ggp_gdl::game::{Move, Score};

/// A machine that plays one position at a time on each thread.
#[derive(Clone, Debug)]
pub struct MachineSubject {
    machine: AnyMachine,
    initial: PropnetState,
    name: &'static str,
    why_not: Option<String>,
    rows: Option<RowMemory>,
}

impl MachineSubject {
    /// A machine of the named backend, with the initial state.
    ///
    /// # Errors
    ///
    /// If the initial state cannot be computed.
    pub fn new(name: &'static str, mut machine: AnyMachine) -> Result<Self, PlayError> {
        let initial = machine.initial()?;
        Ok(MachineSubject {
            machine,
            initial,
            name,
            why_not: None,
            rows: None,
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

    /// The rows after all questions about the initial state, with Datalog.
    fn initial_rows(&mut self) -> Option<RowMemory> {
        if !matches!(self.machine, AnyMachine::Datalog(_)) {
            return None;
        }
        let (machine, initial) = (&mut self.machine, &self.initial);
        let mut joint: Vec<Move> = Vec::new();
        for role in machine.game().roles() {
            let mut moves = Vec::new();
            // What cannot be answered has the rows that it needed.
            let _ = machine.legal(initial, role, &mut moves);
            let _ = machine.goal_values(initial, role);
            joint.extend(moves.first());
        }
        if joint.len() == machine.game().role_count() {
            let _ = machine.next(initial, &joint);
        }
        match machine {
            AnyMachine::Datalog(machine) => Some(machine.row_memory()),
            _ => None,
        }
    }
}

impl Subject for MachineSubject {
    fn readiness(&mut self) -> Readiness {
        if self.rows.is_none() {
            self.rows = self.initial_rows();
        }
        Readiness {
            plays: self.name,
            why_not: self.why_not.clone(),
            lanes: 1,
            rows: self.rows,
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
struct Playing {
    machine: AnyMachine,
    random: Xoshiro256PlusPlus,
    tally: Tally,
}

impl Playing {
    fn play(&mut self, initial: &PropnetState, depth: u64, pace: &Pace) -> Result<(), PlayError> {
        while pace.begin(1) > 0 {
            let mut length = 0;
            let ended = play_to_end(
                &mut self.machine,
                initial,
                depth,
                &mut self.random,
                &mut || !pace.is_over(),
                &mut length,
            );
            self.tally.state_changes += length;
            match ended {
                Ok(PlayoutEnd::Terminal(scores)) => {
                    self.tally.lengths.add(length);
                    for (role, score) in scores.into_iter().enumerate() {
                        self.score(role, score)?;
                    }
                }
                Ok(PlayoutEnd::Cut) => {
                    self.tally.lengths.add(length);
                    self.tally.cut += 1;
                }
                Ok(PlayoutEnd::Interrupted) => return Ok(()),
                Err(fault @ PlayError::NoLegalMove(_)) => {
                    self.tally.lengths.add(length);
                    self.fault(&fault);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn score(&mut self, role: usize, score: Result<Score, PlayError>) -> Result<(), PlayError> {
        match score {
            Ok(score) => self.tally.goals[role].add(score.get().into()),
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
