//! A network without goals as a subject: many positions at once, and Datalog for their ends.

use ggp_engine::machine::{AnyMachine, Limits, Machine, MixedMachine, PlayError};
use ggp_engine::propnet::batch::{Packed, pack};
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_gdl::game::Game;

use super::lanes::{example, width};
use super::{Pace, Readiness, Run, Settings, Subject, Tally};

/// A machine with lanes.
#[derive(Debug)]
pub struct MixedSubject {
    machine: MixedMachine,
    rollouts: Rollouts,
    initial: Packed,
    why_not: Option<String>,
}

impl MixedSubject {
    /// Grounds a game without its goals and compiles the network.
    ///
    /// # Errors
    ///
    /// As [`MixedMachine::new`].
    pub fn new(game: &Game, settings: &Settings, limits: Limits) -> Result<Self, PlayError> {
        let machine = MixedMachine::new(game, limits)?;
        let options = RolloutOptions {
            width: width(settings),
            engine: settings.engine,
            lists_ends: true,
            threads: settings.threads,
            ..RolloutOptions::default()
        };
        let net = machine.moves().net();
        Ok(MixedSubject {
            rollouts: Rollouts::new(net, &options, 0),
            initial: pack(net.initial().iter().copied()),
            machine,
            why_not: None,
        })
    }

    /// This machine as a substitute for a preferred backend that cannot play the game.
    #[must_use]
    pub fn instead(self, why_not: String) -> Self {
        MixedSubject {
            why_not: Some(why_not),
            ..self
        }
    }
}

impl Subject for MixedSubject {
    fn readiness(&mut self) -> Readiness {
        let network = self.machine.moves().net().network();
        Readiness {
            plays: "mixed",
            why_not: self.why_not.clone(),
            gates: Some(network.gates() as u64),
            network_bytes: Some(network.bytes() as u64),
            lanes: self.rollouts.lanes() as u64,
            ..Readiness::default()
        }
    }

    fn run(&mut self, run: &Run) -> Result<Tally, PlayError> {
        let pace = run.pace();
        let play = |thread: usize| {
            let mut playing = Playing {
                machine: self.machine.clone(),
                rollouts: self.rollouts.clone(),
                tally: Tally::new(self.machine.game().role_count()),
            };
            playing
                .rollouts
                .reseed(run.seed.wrapping_add(thread as u64));
            playing.rollouts.set_depth(Some(run.depth));
            playing.play(&self.initial, &pace).map(|()| playing.tally)
        };
        let tallies: Vec<Result<Tally, PlayError>> = std::thread::scope(|scope| {
            let play = &play;
            let threads = (0..run.threads).map(|thread| scope.spawn(move || play(thread)));
            let threads: Vec<_> = threads.collect();
            let join = |thread: std::thread::ScopedJoinHandle<_>| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        });
        let mut tally = Tally::new(self.machine.game().role_count());
        for found in tallies {
            tally.merge(found?);
        }
        if tally.faults > 0 {
            let found = example(AnyMachine::Mixed(Box::new(self.machine.clone())), run);
            let unknown = "a role has no legal move before the end, or not one goal value";
            tally.fault = Some(found.unwrap_or_else(|| unknown.to_owned()));
        }
        Ok(tally)
    }
}

/// One thread of a run.
struct Playing {
    machine: MixedMachine,
    rollouts: Rollouts,
    tally: Tally,
}

impl Playing {
    fn play(&mut self, initial: &Packed, pace: &Pace) -> Result<(), PlayError> {
        let (machine, tally) = (&mut self.machine, &mut self.tally);
        loop {
            let count = pace.begin(self.rollouts.lanes() as u64);
            if count == 0 {
                break;
            }
            let mut proceed = || match pace.is_over() {
                true => Proceed::Drop,
                false => Proceed::On,
            };
            let outcome = &self.rollouts.run(&[initial], count as u32, &mut proceed)[0];
            let (stuck, cut) = (outcome.stuck, outcome.cut);
            let mut failed = None;
            let mut ended = 0;
            self.rollouts.score_ends(|state| {
                if pace.is_over() {
                    return None;
                }
                let scores = machine
                    .scores(state)
                    .map_err(|error| failed = Some(error))
                    .ok()?;
                ended += 1;
                for (goals, score) in tally.goals.iter_mut().zip(&scores) {
                    match score {
                        Some(score) => goals.add(u64::from(*score)),
                        None => tally.faults += 1,
                    }
                }
                Some(scores)
            });
            if let Some(error) = failed {
                return Err(error);
            }
            tally.lengths.count += ended + stuck + cut;
            tally.cut += cut;
            tally.faults += stuck;
            // Some playouts were dropped: their moves count, but not their lengths.
            tally.lengths_unknown |= pace.is_over();
        }
        tally.state_changes = self.rollouts.state_changes();
        tally.lengths.sum = tally.state_changes.into();
        Ok(())
    }
}
