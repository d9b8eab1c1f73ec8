//! A machine that is ready at once, and a faster one later.

use ggp_stop::Stop;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Brief;
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError, PropnetState};
use ggp_engine::propnet::GroundError;
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::TermId;

/// The time to wait for the network before a Datalog machine is made.
const PATIENCE: Duration = Duration::from_millis(100);
/// The interval at which a wait checks the stop.
const TICK: Duration = Duration::from_millis(5);

/// The machines of a match: Datalog until another thread has grounded the network.
#[derive(Debug)]
pub struct Backends {
    machine: AnyMachine,
    start: Option<Vec<TermId>>,
    grounding: Option<Grounding>,
    /// The joint moves of the last query and the state after them, for the current machine.
    reached: Option<(Vec<Vec<Move>>, PropnetState)>,
}

#[derive(Debug)]
struct Grounding {
    network: Receiver<Result<AnyMachine, GroundError>>,
    thread: Option<JoinHandle<()>>,
    stop: Stop,
}

impl Drop for Grounding {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            // Its result is no longer needed.
            let _ = thread.join();
        }
    }
}

impl Grounding {
    fn new(game: &Game, limits: &Limits) -> Self {
        let (sender, network) = channel();
        let stop = Stop::new();
        let mut limits = limits.clone();
        limits.ground.stop = stop.clone();
        let game = game.clone();
        // Without a thread there is no network, and the sender is gone at once.
        let thread = std::thread::Builder::new().spawn(move || {
            // The receiver is gone if the match is over.
            let _ = sender.send(AnyMachine::grounded(&game, limits).map(|made| made.0));
        });
        Grounding {
            network,
            thread: thread.ok(),
            stop,
        }
    }
}

impl Backends {
    /// The machines for a match: the prepared one of the brief, if there is one.
    ///
    /// # Errors
    ///
    /// As [`AnyMachine::new`] with Datalog, if there is no network.
    pub fn new(brief: &Brief) -> Result<Self, PlayError> {
        if let Some(prepared) = Backends::prepared(brief) {
            return Ok(prepared);
        }
        let grounding = Grounding::new(&brief.game, &brief.limits);
        let limits = brief.limits.clone();
        let datalog = |limits| AnyMachine::new(&brief.game, Backend::Datalog, limits);
        let patience = brief.limits.stop.within(Some(PATIENCE));
        let network = loop {
            match grounding.network.recv_timeout(TICK) {
                Err(RecvTimeoutError::Timeout) if !patience.is_over() => {}
                ended => break ended,
            }
        };
        let (machine, grounding) = match network {
            Ok(Ok(machine)) => (machine, None),
            Err(RecvTimeoutError::Timeout) => (datalog(limits)?, Some(grounding)),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => (datalog(limits)?, None),
        };
        Ok(Backends::with(machine, grounding, brief))
    }

    /// The prepared machine of the brief, or Datalog alone.
    ///
    /// # Errors
    ///
    /// As [`AnyMachine::new`] with Datalog.
    pub fn without_grounding(brief: &Brief) -> Result<Self, PlayError> {
        if let Some(prepared) = Backends::prepared(brief) {
            return Ok(prepared);
        }
        let machine = AnyMachine::new(&brief.game, Backend::Datalog, brief.limits.clone())?;
        Ok(Backends::with(machine, None, brief))
    }

    fn prepared(brief: &Brief) -> Option<Self> {
        let mut machine = brief.machine.clone()?;
        machine.set_stop(&brief.limits.stop);
        Some(Backends::with(machine, None, brief))
    }

    fn with(machine: AnyMachine, grounding: Option<Grounding>, brief: &Brief) -> Self {
        Backends {
            machine,
            start: brief.start.clone(),
            grounding,
            reached: None,
        }
    }

    /// The best machine so far. It cannot use states of an earlier one.
    pub fn machine(&mut self) -> &mut AnyMachine {
        &mut self.machine
    }

    /// Returns true if the current machine is final.
    pub fn is_settled(&self) -> bool {
        self.grounding.is_none()
    }

    /// Switches to the network if it is ready, and returns whether the machine has changed.
    pub fn poll(&mut self) -> bool {
        self.take(Duration::ZERO)
    }

    /// Waits for the network, and returns whether the machine has changed.
    pub fn wait(&mut self, stop: &Stop) -> bool {
        while !self.is_settled() && !stop.is_over() {
            if self.take(TICK) {
                return true;
            }
        }
        false
    }

    fn take(&mut self, patience: Duration) -> bool {
        let Some(grounding) = &self.grounding else {
            return false;
        };
        match grounding.network.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => false,
            Ok(Ok(machine)) => {
                self.machine = machine;
                self.reached = None;
                self.grounding = None;
                true
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                self.grounding = None;
                false
            }
        }
    }

    /// The state after joint moves that must be legal.
    ///
    /// # Errors
    ///
    /// As [`Machine::next`].
    pub fn state_after(&mut self, played: &[Vec<Move>]) -> Result<PropnetState, PlayError> {
        let known = self.reached.take();
        let (mut made, mut state) = match known.filter(|(made, _)| played.starts_with(made)) {
            Some(known) => known,
            None => (Vec::new(), self.first()?),
        };
        for joint in &played[made.len()..] {
            state = self.machine.next(&state, joint)?;
            made.push(joint.clone());
        }
        self.reached = Some((made, state.clone()));
        Ok(state)
    }

    fn first(&mut self) -> Result<PropnetState, PlayError> {
        match &self.start {
            None => self.machine.initial(),
            Some(facts) => self.machine.state(facts),
        }
    }
}
