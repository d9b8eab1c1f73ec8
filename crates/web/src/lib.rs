//! The page: a game in a browser, and the same as JSON for programs.
//!
//! In: requests over HTTP, from this machine unless told otherwise. Out: what the rules
//! and the players say. A position is a game and the moves made from its start, which each
//! request brings along, so that a link says it all and nothing is lost; what is kept is
//! rule sets and tables of several people, by session and bounded. `openapi.json`
//! beside this file has all requests and answers. Nothing here draws, plays or explains:
//! [`picture`](ggp_picture), [`play`](ggp_play) and [`explain`](ggp_explain) do.
//!
//! Rules are from strangers. Their texts are shown as text only; the page may run no script
//! but its own, and load nothing from elsewhere. Requests of other sites' pages are refused
//! by their host and origin.

mod answer;
mod bundled;
mod events;
mod game_store;
mod graph;
mod guard;
mod page;
mod players;
mod position;
mod session;
mod solving;
mod tables;
mod think;
mod why;

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use game_store::GameStore;
use session::Sessions;
use tables::Tables;

/// What requests may cost.
#[derive(Clone, Debug)]
pub struct WebLimits {
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Rule sets that a session keeps; past it the one goes that was not asked for longest.
    pub games: usize,
    /// Sessions; past it the one goes that was not heard of longest.
    pub sessions: usize,
    /// After so long without a request a session is forgotten, and so is a table.
    pub idle: Duration,
    /// Players and solvers at work at once, and those of one session.
    pub jobs: usize,
    /// Of one session.
    pub jobs_each: usize,
    /// Tables at once.
    pub tables: usize,
    /// The longest that a player thinks about a move, or a solver about a plan.
    pub thought: Duration,
    /// Bytes of the tables of a player or solver.
    pub memory_bytes: u64,
}

impl Default for WebLimits {
    fn default() -> Self {
        WebLimits {
            request_bytes: 4 << 20,
            games: 16,
            sessions: 1_000,
            idle: Duration::from_secs(3_600),
            jobs: 64,
            jobs_each: 4,
            tables: 1_000,
            thought: Duration::from_secs(300),
            memory_bytes: 256 << 20,
        }
    }
}

/// What all requests share.
#[derive(Debug)]
struct House {
    limits: WebLimits,
    /// The address that it listens at, where other names than that are refused.
    address: IpAddr,
    shelf: GameStore,
    sessions: Sessions,
    tables: Tables,
    /// One for each player or solver at work.
    jobs: Arc<Semaphore>,
    /// One for each short question.
    questions: Arc<Semaphore>,
}

type Shared = axum::extract::State<Arc<House>>;

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    house: Arc<House>,
}

impl Server {
    /// Listens at an address; port 0 is any free one. Must be called within a runtime
    /// that has I/O and time.
    ///
    /// # Errors
    ///
    /// If the address cannot be had.
    pub async fn bind(address: SocketAddr, limits: WebLimits) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let house = House {
            address: address.ip(),
            shelf: GameStore::default(),
            sessions: Sessions::new(&limits, listener.local_addr()?.port()),
            tables: Tables::default(),
            jobs: Arc::new(Semaphore::new(limits.jobs)),
            questions: Arc::new(Semaphore::new(2 * cores)),
            limits,
        };
        Ok(Server {
            listener,
            house: Arc::new(house),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until something has come to pass.
    ///
    /// # Errors
    ///
    /// If no connection can be taken any more.
    pub async fn serve(self, end: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let house = Arc::clone(&self.house);
        let sweep = tokio::spawn(async move {
            loop {
                tokio::time::sleep(house.limits.idle / 10).await;
                house.sessions.forget(house.limits.idle);
                house.tables.forget(house.limits.idle);
            }
        });
        // Streams to browsers never end by themselves, so nobody waits for them.
        tokio::select! {
            served = axum::serve(self.listener, router(self.house)) => served?,
            () = end => {}
        }
        sweep.abort();
        Ok(())
    }
}

fn router(house: Arc<House>) -> Router {
    let limit = DefaultBodyLimit::max(house.limits.request_bytes);
    Router::new()
        .route("/", get(page::index))
        .route("/page/{*path}", get(page::asset))
        .route("/api/openapi.json", get(page::openapi))
        .route("/api/games", get(game_store::games).post(game_store::load))
        .route("/api/check", post(game_store::check))
        .route("/api/players", get(players::kinds))
        .route("/api/methods", get(solving::methods))
        .route("/api/games/{game}", get(game_store::game))
        .route("/api/games/{game}/picture.svg", get(position::picture))
        .route("/api/games/{game}/position", post(position::position))
        .route("/api/games/{game}/why", post(why::why))
        .route("/api/games/{game}/think", post(think::think))
        .route("/api/games/{game}/solve", post(solving::solve))
        .route("/api/games/{game}/graph", post(graph::graph))
        .route("/api/tables", post(tables::lay))
        .route("/api/tables/{table}", get(tables::follow))
        .route("/api/tables/{table}/moves", post(tables::choose))
        .fallback(page::missing)
        .layer(limit)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&house),
            guard::guard,
        ))
        .with_state(house)
}
