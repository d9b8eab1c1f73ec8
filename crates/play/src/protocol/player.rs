//! A network player: a server that answers the messages of match hosts.
//!
//! In: an address and an agent. Out: matches, one at a time. Each match has its own threads,
//! while one thread serves all connections, so that the player answers during searches. The
//! message format is in [`message`](super::message), HTTP in [`wire`](super::wire), agents in
//! the [crate root](crate).

mod connections;
mod event;
mod latency_margin;
mod match_progress;
mod match_thread;
mod percept_progress;
mod progress;

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

/// The default port of players.
pub const PORT: u16 = 9147;
/// The interval at which interrupts and expired matches are checked.
const TICK: Duration = Duration::from_millis(50);
/// The time limit for connections and matches to end at shutdown.
const FAREWELL: Duration = Duration::from_secs(3);

/// The settings of a network player.
#[derive(Clone, Debug)]
pub struct PlayerOptions {
    /// The name of the player.
    pub name: String,
    /// The agent that plays.
    pub agent: AgentSpec,
    /// The most threads that search at once.
    pub threads: usize,
    /// The most bytes for search tables.
    pub memory_bytes: u64,
    /// The seed of random choices.
    pub seed: u64,
    /// Learned values of games.
    pub values: Arc<ggp_learn::Library>,
    /// Values of all positions of games.
    #[cfg(feature = "tables")]
    pub tables: Arc<crate::Tables>,
    /// True if the agent continues to think while others choose.
    pub ponders: bool,
    /// The part of each clock reserved for the network; `None` for an adaptive
    /// [`LatencyMargin`].
    pub margin: Option<Duration>,
    /// The options for reading rules.
    pub reading: ReadOptions,
    /// Limits for machines. Each match has its own interrupt.
    pub limits: Limits,
    /// Limits on the size of messages.
    pub message: MessageLimits,
    /// The most simultaneous connections. For one more, the idle connection that is open
    /// longest is closed.
    pub connections: usize,
    /// The longest silence of a peer.
    pub idle: Duration,
    /// The time after the end of a clock at which a match without messages is aborted;
    /// `None` means ten play clocks, at least a minute and at most an hour.
    pub patience: Option<Duration>,
    /// The number of matches after which the player stops.
    pub matches: Option<u64>,
}

impl PlayerOptions {
    /// One thread, 1 GiB, 256 connections, ten seconds of silence, any number of matches.
    pub fn new(agent: AgentSpec) -> Self {
        PlayerOptions {
            name: "ggp".to_owned(),
            agent,
            threads: 1,
            memory_bytes: 1 << 30,
            seed: 0,
            values: Arc::default(),
            #[cfg(feature = "tables")]
            tables: Arc::default(),
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

/// A callback for events. It is called on the thread on which an event happens.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Event) + Send + Sync>);

impl Log {
    /// A log that calls a function with each event.
    pub fn new(on_event: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Log(Arc::new(on_event))
    }

    fn record(&self, event: Event) {
        (self.0)(&event);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// A player that is bound to a port and does not answer yet.
#[derive(Debug)]
pub struct Player {
    listener: TcpListener,
    options: PlayerOptions,
}

impl Player {
    /// Binds an address. Port 0 means any free port.
    ///
    /// # Errors
    ///
    /// If the address is not available.
    pub fn bind(address: SocketAddr, options: PlayerOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Player { listener, options })
    }

    /// Binds [`PORT`] or the next free port.
    ///
    /// # Errors
    ///
    /// If a hundred ports are in use, or the address is not local.
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

    /// The bound address.
    ///
    /// # Errors
    ///
    /// If the system cannot determine it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers messages until it is interrupted or has played [`PlayerOptions::matches`]
    /// matches. The result is the number of matches.
    ///
    /// # Errors
    ///
    /// If the server cannot be started.
    pub fn run(self, stop: &Stop, log: Log) -> io::Result<u64> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let address = self.address()?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            log.record(Event::Listening { address });
            let server = Arc::new(Connections::new(self.options, log));
            let mut tasks = JoinSet::new();
            let mut tick = interval(TICK);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while !server.is_done() && !stop.is_raised() {
                tokio::select! {
                    _ = tick.tick() => server.end_expired_match(),
                    // An error concerns one connection, or is temporary.
                    accepted = listener.accept() => match accepted {
                        Ok((stream, peer)) => server.admit(stream, peer, &mut tasks),
                        Err(_) => tokio::time::sleep(TICK).await,
                    },
                }
                while tasks.try_join_next().is_some() {}
            }
            drop(listener);
            let pending = server.shut_down();
            let farewell = async {
                while tasks.join_next().await.is_some() {}
                drop(pending);
                server.all_matches_over().await;
            };
            // A match that does not end in time is left behind.
            let _ = timeout(FAREWELL, farewell).await;
            io::Result::Ok(server.ended())
        });
        // Long messages may still be parsed on another thread.
        runtime.shutdown_background();
        served
    }
}
