//! The network of a game, which is built in the background.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use crate::allowance::Allowance;
use crate::loaded_game::LoadedGame;
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_stop::{Instant, Stop};

/// The interval between two looks whether the network is ready.
const LOOK: Duration = Duration::from_millis(1);

/// The network of a game, which is built in the background.
#[derive(Debug)]
pub(crate) enum Network {
    /// No thread was free for it yet.
    Wanted,
    Grounding(Grounding),
    /// The machine uses it, or the game has no network, not even one without goals.
    Settled,
}

#[derive(Debug)]
pub(crate) struct Grounding {
    pub(crate) began: Instant,
    network: Receiver<Option<AnyMachine>>,
    stop: Stop,
}

impl Drop for Grounding {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

impl Network {
    /// Starts to build the network, if it is wanted and there is room for it.
    pub(crate) fn start(&mut self, loaded: &LoadedGame, allowance: &Allowance) {
        if !matches!(self, Network::Wanted) {
            return;
        }
        let (sender, network) = channel();
        let (game, limits) = (loaded.game.clone(), loaded.limits(allowance.stop));
        let work = move |stop: &Stop| {
            let mut limits = limits;
            limits.stop = stop.clone();
            limits.ground.stop = stop.clone();
            // The receiver is gone if the game is.
            let _ = sender.send(AnyMachine::grounded(&game, limits).ok().map(|made| made.0));
        };
        if let Some(stop) = allowance.background.start(Box::new(work)) {
            *self = Network::Grounding(Grounding {
                began: Instant::now(),
                network,
                stop,
            });
        }
    }

    /// The machine, if it is ready within a time.
    pub(crate) fn wait(&mut self, patience: Duration, allowance: &Allowance) -> Option<AnyMachine> {
        let end = Instant::now() + patience;
        loop {
            let ready = self.take(allowance);
            let is_pending = matches!(self, Network::Grounding(_));
            if ready.is_some() || !is_pending || Instant::now() >= end {
                return ready;
            }
            allowance.background.wait(LOOK);
        }
    }

    /// The machine, once it is ready.
    pub(crate) fn take(&mut self, allowance: &Allowance) -> Option<AnyMachine> {
        let Network::Grounding(grounding) = self else {
            return None;
        };
        let machine = match grounding.network.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
            Ok(machine) => machine,
        };
        *self = Network::Settled;
        let mut machine = machine?;
        machine.set_stop(allowance.stop);
        Some(machine)
    }
}
