//! A player that match hosts can reach: a server that answers their messages.
//!
//! In: an address and an agent. Out: its matches, one at a time, each on threads
//! of its own, while one thread serves all connections and so answers whatever
//! is searched. Not done here: what messages look like ([`message`](super::message)),
//! HTTP ([`wire`](super::wire)), thinking ([`play`](crate)).

mod connections;
mod event;
mod latency_margin;
mod match_progress;
mod match_thread;

use ggp_stop::Stop;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::message::MessageLimits;
use crate::AgentSpec;
use ggp_engine::machine::Limits;
use ggp_gdl::check::ReadOptions;

use connections::Connections;

pub use event::Event;
pub use latency_margin::LatencyMargin;

/// Where players are reached as a rule.
pub const PORT: u16 = 9147;
/// How often it is looked whether somebody wants an end.
const TICK: Duration = Duration::from_millis(50);
/// How long connections and matches may take to end.
const FAREWELL: Duration = Duration::from_secs(3);

/// How a player plays, and what it may spend.
#[derive(Clone, Debug)]
pub struct PlayerOptions {
    /// What it calls itself.
    pub name: String,
    /// Who thinks.
    pub agent: AgentSpec,
    /// Threads that may search at once.
    pub threads: usize,
    /// Bytes that the agent's tables may take.
    pub memory_bytes: u64,
    /// The seed of random choices.
    pub seed: u64,
    /// Whether it thinks on while others choose.
    pub ponders: bool,
    /// What is left of each clock for the network; see [`LatencyMargin`] if none.
    pub margin: Option<Duration>,
    /// How rules are read.
    pub reading: ReadOptions,
    /// What machines may spend. Each match has an interrupt of its own.
    pub limits: Limits,
    /// What messages may grow to.
    pub message: MessageLimits,
    /// Connections at once. Past them, the one is closed that has been silent for
    /// longest.
    pub connections: usize,
    /// How long a peer may be silent.
    pub idle: Duration,
    /// How long after the end of a clock a match without a message is over; ten
    /// play clocks, but a minute at least and an hour at most, if none.
    pub patience: Option<Duration>,
    /// Matches after which it ends.
    pub matches: Option<u64>,
}

impl PlayerOptions {
    /// One thread, 1 GiB, 256 connections, ten seconds of silence, no end.
    pub fn new(agent: AgentSpec) -> Self {
        PlayerOptions {
            name: "ggp".to_owned(),
            agent,
            threads: 1,
            memory_bytes: 1 << 30,
            seed: 0,
            ponders: true,
            margin: None,
            reading: ReadOptions::default(),
            limits: Limits::default(),
            message: MessageLimits::default(),
            connections: 256,
            idle: Duration::from_secs(10),
            patience: None,
            matches: None,
        }
    }
}

/// Who hears what happens, on whatever thread it does.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Event) + Send + Sync>);

impl Log {
    /// One that is called with each event.
    pub fn new(hear: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Log(Arc::new(hear))
    }

    fn tell(&self, event: Event) {
        (self.0)(&event);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// A player that can be reached and does not answer yet.
#[derive(Debug)]
pub struct Player {
    listener: TcpListener,
    options: PlayerOptions,
}

impl Player {
    /// Takes a port; any free one if it is 0.
    ///
    /// # Errors
    ///
    /// If it is not to be had.
    pub fn bind(address: SocketAddr, options: PlayerOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Player { listener, options })
    }

    /// Takes [`PORT`], or the next free one.
    ///
    /// # Errors
    ///
    /// If a hundred ports are taken, or the address is not ours.
    pub fn bind_default(address: IpAddr, options: PlayerOptions) -> io::Result<Self> {
        let mut port = PORT;
        loop {
            match Player::bind((address, port).into(), options.clone()) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && port < PORT + 100 => {
                    port += 1;
                }
                bound => return bound,
            }
        }
    }

    /// Where it can be reached.
    ///
    /// # Errors
    ///
    /// If the system does not know.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until it is interrupted or has played as many matches as it should.
    /// The result is how many that were.
    ///
    /// # Errors
    ///
    /// If the system does not let it serve.
    pub fn run(self, stop: &Stop, log: Log) -> io::Result<u64> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let address = self.address()?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            log.tell(Event::Listening { address });
            let desk = Arc::new(Connections::new(self.options, log));
            let mut connections = JoinSet::new();
            let mut tick = interval(TICK);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while !desk.is_done() && !stop.is_raised() {
                tokio::select! {
                    _ = tick.tick() => desk.look_after(),
                    // What fails here is one connection, or the system for a while.
                    accepted = listener.accept() => match accepted {
                        Ok((stream, peer)) => desk.admit(stream, peer, &mut connections),
                        Err(_) => tokio::time::sleep(TICK).await,
                    },
                }
                while connections.try_join_next().is_some() {}
            }
            drop(listener);
            let asked = desk.leave();
            let farewell = async {
                while connections.join_next().await.is_some() {}
                drop(asked);
                desk.all_over().await;
            };
            // A match that does not end is no reason to stay.
            let _ = timeout(FAREWELL, farewell).await;
            io::Result::Ok(desk.ended())
        });
        // Long messages may still be looked at.
        runtime.shutdown_background();
        served
    }
}
