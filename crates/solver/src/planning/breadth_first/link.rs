//! Connections to the other processes, over timely dataflow.
//!
//! A dataflow of one exchange brings packets to the processes that they are for. Each exchange
//! of the search is a timestamp of its own; it is over when the probe says so. The dataflow
//! runs in a thread of its own, which only waits and copies.
//!
//! A process that is lost takes the search of all others with it: the threads of its
//! connections then wait for the end of the process.
//!
//! Source: Murray and others, Naiad: a timely dataflow system (2013).

mod sockets;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, WorkerGuards};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};

use super::Processes;
use super::peers::Lost;
use ggp_stop::Stop;
pub use sockets::LinkError;
pub(super) use sockets::Part;
use sockets::{State, Wire};

/// Maximum size of a packet, in bytes.
const PACKET: usize = 1 << 18;
/// The time after which a waiting thread looks whether another process is lost.
const LOOK: Duration = Duration::from_millis(20);

/// Number of steps of the dataflow within which it takes all that has arrived.
const LAST_STEPS: usize = 100;

/// A part of what a process sends to another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Packet {
    exchange: u64,
    to: u32,
    from: u32,
    /// Its position among the parts.
    number: u32,
    bytes: ByteBuf,
}

/// The bytes that all processes sent to this one, by process.
type Arrived = Result<Vec<Vec<u8>>, Lost>;

pub(super) struct Link {
    index: usize,
    count: usize,
    state: State,
    /// By process: the bytes for it.
    out: Option<Sender<Vec<Vec<u8>>>>,
    arrived: Receiver<Arrived>,
    guards: Option<WorkerGuards<()>>,
}

impl Link {
    /// Connects to the others. `parts` are everything that must be the same in all of them.
    ///
    /// # Errors
    ///
    /// If not all of them are there in time, or a stop.
    pub fn new(processes: &Processes, parts: &[Part], stop: &Stop) -> Result<Link, LinkError> {
        let (index, count) = (processes.index, processes.addresses.len());
        let state = State::default();
        let sockets = sockets::connect(processes, parts, stop)?;
        let wires = sockets.into_iter().enumerate().map(|(process, socket)| {
            socket.map(|socket| Wire::new(socket, process, state.clone()))
        });
        let hooks = Hooks::default();
        let alone = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
        let (allocators, guard) =
            initialize_networking_from_sockets(alone, wires.collect(), index, 1, hooks)
                .map_err(|error| LinkError::Threads(error.to_string()))?;
        let is_running = Arc::new(AtomicBool::new(false));
        let guard = Guard {
            guard: Some(guard),
            is_running: Arc::clone(&is_running),
        };
        let allocators = allocators.into_iter().map(AllocatorBuilder::Tcp).collect();
        let (out, outgoing) = channel();
        let (sender, arrived) = channel();
        // The closure could be called for several workers, but there is only one.
        let ends = std::sync::Mutex::new(Some((outgoing, sender)));
        let watched = state.clone();
        let guards = timely::execute::execute_from(
            allocators,
            Box::new(guard),
            WorkerConfig::default(),
            move |worker| {
                let ends = ends.lock().expect("nothing panics here").take();
                if let Some((outgoing, sender)) = ends {
                    serve(worker, &outgoing, &sender, &watched);
                }
            },
        );
        let guards = guards.map_err(LinkError::Threads)?;
        is_running.store(true, Ordering::SeqCst);
        Ok(Link {
            index,
            count,
            state,
            out: Some(out),
            arrived,
            guards: Some(guards),
        })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn index(&self) -> usize {
        self.index
    }

    /// See [`super::peers::Peers::exchange`].
    pub fn exchange(&mut self, parcels: Vec<Vec<u8>>) -> Arrived {
        let lost = || self.state.lost().unwrap_or(Lost(None));
        let out = self.out.as_ref().ok_or_else(lost)?;
        out.send(parcels).map_err(|_| lost())?;
        self.arrived.recv().map_err(|_| lost())?
    }

    /// See [`super::peers::Peers::gather`].
    pub fn gather<T: Serialize + DeserializeOwned>(&mut self, said: &T) -> Result<Vec<T>, Lost> {
        let bytes = serde_json::to_vec(said).expect("texts have no maps");
        let all = self.exchange(vec![bytes; self.count])?;
        let read = |(process, bytes): (usize, Vec<u8>)| {
            serde_json::from_slice(&bytes).map_err(|_| Lost(Some(process)))
        };
        all.into_iter().enumerate().map(read).collect()
    }

    /// See [`super::peers::Peers::leave`].
    pub fn leave(mut self) -> Result<(), Lost> {
        // Who has said that it leaves may close its connections before the others do.
        self.state.leave();
        self.gather(&())?;
        self.out = None;
        if let Some(guards) = self.guards.take() {
            drop(guards.join());
        }
        Ok(())
    }
}

/// The threads of the connections. The end of a search waits for them, but not a search that did
/// not begin: the other processes do not know of that.
struct Guard {
    guard: Option<CommsGuard>,
    is_running: Arc<AtomicBool>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_running.load(Ordering::SeqCst) {
            std::mem::forget(self.guard.take());
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The threads of a search that failed end with the process; nobody waits for them.
        if let Some(guards) = self.guards.take() {
            std::mem::forget(guards);
        }
    }
}

/// Runs one exchange after the other until no more are asked for, or a process is lost.
fn serve(
    worker: &mut timely::worker::Worker,
    outgoing: &Receiver<Vec<Vec<u8>>>,
    sender: &Sender<Arrived>,
    state: &State,
) {
    let (index, count) = (worker.index() as u32, worker.peers());
    // A faster process may already send packets of the next exchange.
    let arrived = Rc::new(RefCell::new(Vec::<Packet>::new()));
    let mut input: InputHandle<u64, _> = InputHandle::new();
    let probe = ProbeHandle::new();
    worker.dataflow(|scope| {
        let taken = arrived.clone();
        let route = Exchange::new(|packet: &Packet| packet.to.into());
        scope
            .input_from(&mut input)
            .unary(route, "arrivals", |_, _| {
                move |input,
                      _: &mut timely::dataflow::operators::generic::OutputBuilderSession<
                    '_,
                    u64,
                    timely::container::CapacityContainerBuilder<Vec<()>>,
                >| {
                    input.for_each(|_, packets| taken.borrow_mut().append(packets));
                }
            })
            .probe_with(&probe);
    });
    for (exchange, parcels) in (0..).zip(outgoing) {
        for (to, bytes) in parcels.into_iter().enumerate() {
            let parts = bytes.chunks(PACKET).zip(0..);
            for (part, number) in parts {
                input.send(Packet {
                    exchange,
                    to: to as u32,
                    from: index,
                    number,
                    bytes: ByteBuf::from(part),
                });
            }
        }
        let next = exchange + 1;
        input.advance_to(next);
        while probe.less_than(&next) {
            worker.step_or_park(Some(LOOK));
            if let Some(lost) = state.lost() {
                // What the lost process sent before is here.
                for _ in 0..LAST_STEPS {
                    worker.step();
                }
                if !probe.less_than(&next) {
                    break;
                }
                // Nobody listens if the search has ended by itself.
                let _ = sender.send(Err(lost));
                loop {
                    std::thread::park();
                }
            }
        }
        let packets = std::mem::take(&mut *arrived.borrow_mut());
        let (mut packets, later): (Vec<_>, Vec<_>) = packets
            .into_iter()
            .partition(|packet| packet.exchange == exchange);
        *arrived.borrow_mut() = later;
        packets.sort_unstable_by_key(|packet| (packet.from, packet.number));
        let mut lens = vec![0; count];
        for packet in &packets {
            lens[packet.from as usize] += packet.bytes.len();
        }
        let mut by_process: Vec<_> = lens.into_iter().map(Vec::with_capacity).collect();
        for packet in packets {
            by_process[packet.from as usize].extend_from_slice(&packet.bytes);
        }
        if sender.send(Ok(by_process)).is_err() {
            break;
        }
    }
}
