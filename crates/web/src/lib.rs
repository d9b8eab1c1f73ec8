//! The web page: games in a browser, and the same functions as a JSON interface for
//! programs.
//!
//! In: HTTP requests, from this machine only unless configured otherwise. Out: the answers
//! of the rules and the players. A position is a game and the moves made from its initial
//! state. Each request contains them, so that a link describes a position completely and no
//! position is lost. The server stores only uploaded rule sets and the tables of matches
//! between several people, by session and in bounded number. `openapi.json` next to this
//! file describes all requests and answers. Nothing here draws, plays or explains: see
//! [`picture`](ggp_picture), [`play`](ggp_play) and [`explain`](ggp_explain).
//!
//! Rules come from strangers. Their texts are shown only as text; the page may run no
//! script but its own, and load nothing from elsewhere. Requests from other sites' pages
//! are rejected by their host and origin.

mod answer;
pub mod bundled;
mod connections;
mod events;
mod export;
mod game_store;
mod guard;
mod jobs;
mod memory;
mod page;
mod questions;
mod session;
mod tables;
mod turns;
mod workers;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;

use ggp_engine::propnet::NetworkCache;

use connections::{ConnectionLimits, Connections};
pub use export::{Engine, ExportError, Exported, export};
use game_store::GameStore;
use memory::Memory;
use questions::TraitsOf;
use session::Sessions;
use tables::Tables;
use turns::{TurnLimits, Turns};

/// Limits on the cost of requests.
#[derive(Clone, Debug)]
pub struct WebLimits {
    /// Maximum size of a request in bytes.
    pub request_bytes: usize,
    /// Maximum number of rule sets of a session; beyond it, the least recently used one is
    /// dropped.
    pub games: usize,
    /// Maximum number of sessions; beyond it, the one that was inactive the longest is
    /// dropped.
    pub sessions: usize,
    /// The time without a request after which a session or a table expires.
    pub idle: Duration,
    /// Maximum number of players and solvers that run at once.
    pub jobs: usize,
    /// Maximum number of players and solvers that run at once for one session.
    pub jobs_each: usize,
    /// Maximum number of tables.
    pub tables: usize,
    /// Maximum number of tables of one session.
    pub tables_each: usize,
    /// Maximum time for a player's move or for a solver.
    pub thought: Duration,
    /// Maximum time for any other answer.
    pub question: Duration,
    /// Maximum number of connections; beyond it, the one that was idle the longest is closed.
    pub connections: usize,
    /// Maximum number of connections from one address.
    pub connections_each: usize,
    /// Maximum time for the head of a request to arrive, for its body, and for a client to
    /// take a part of an answer.
    pub receive: Duration,
    /// Memory of the process in bytes. A quarter is for games that are ready for use, half
    /// for the tables of all players and solvers, an eighth for those of one. If the process
    /// is larger all the same, the longest work is stopped (on Linux).
    pub memory_bytes: u64,
    /// A function that returns free memory to the system, called where it runs short.
    pub release: Option<fn()>,
    /// Further names of this server, which requests may call it by.
    pub hosts: Vec<String>,
    /// Values of all positions of games, for the player `auto`.
    pub values: Arc<ggp_play::Tables>,
    /// The networks of other runs.
    pub networks: Option<NetworkCache>,
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
            tables_each: 50,
            thought: Duration::from_secs(300),
            question: Duration::from_secs(10),
            connections: 500,
            connections_each: 250,
            receive: Duration::from_secs(20),
            memory_bytes: 2 << 30,
            release: None,
            hosts: Vec::new(),
            values: Arc::default(),
            networks: None,
        }
    }
}

/// Maximum number of questions answered at once, for each processor and for one session.
const QUESTIONS: (usize, usize) = (32, 2);
/// Maximum number of questions of a session that wait.
const WAITING: usize = 64;

/// The state that all requests share.
#[derive(Debug)]
struct AppState {
    limits: WebLimits,
    shelf: GameStore,
    /// The traits of the bundled games, once they are known.
    traits: OnceLock<Vec<TraitsOf>>,
    sessions: Sessions,
    tables: Tables,
    /// The turns of players and solvers.
    jobs: Arc<Turns>,
    /// The turns of short requests.
    questions: Arc<Turns>,
    /// The turns of threads that build networks.
    groundings: Arc<Turns>,
    /// The tables of players and solvers.
    memory: Arc<Memory>,
}

type Shared = axum::extract::State<Arc<AppState>>;

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    app: Arc<AppState>,
}

impl Server {
    /// Listens at an address; port 0 selects any free port. Must be called within a runtime
    /// that has I/O and time enabled.
    ///
    /// # Errors
    ///
    /// If the address is not available.
    pub async fn bind(address: SocketAddr, limits: WebLimits) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (loads, of_tables) = (Arc::default(), Arc::default());
        let of = |all, each, waiting, time| TurnLimits {
            all,
            each,
            waiting,
            time,
        };
        let memory = limits.memory_bytes;
        let texts = usize::try_from(memory / 16).unwrap_or(usize::MAX);
        let games = usize::try_from(memory / 4).unwrap_or(usize::MAX);
        let groundings = Turns::new(of(2 * cores, 1, 0, None), &loads);
        let app = AppState {
            shelf: GameStore::new(games, limits.networks.clone()),
            traits: OnceLock::new(),
            sessions: Sessions::new(&limits, listener.local_addr()?.port(), texts),
            tables: Tables::new(Turns::new(
                of(limits.tables, limits.tables_each, 0, None),
                &of_tables,
            )),
            jobs: Turns::with_background(
                of(
                    limits.jobs,
                    limits.jobs_each,
                    limits.tables_each,
                    // Positions are reached before the time of a player or solver begins.
                    Some(limits.thought + limits.question),
                ),
                &loads,
                &groundings,
            ),
            questions: Turns::with_background(
                of(
                    QUESTIONS.0 * cores,
                    QUESTIONS.1,
                    WAITING,
                    Some(limits.question),
                ),
                &loads,
                &groundings,
            ),
            groundings,
            memory: Memory::new(memory / 2, limits.jobs, memory / 8),
            limits,
        };
        Ok(Server {
            listener,
            app: Arc::new(app),
        })
    }

    /// The address of the server.
    ///
    /// # Errors
    ///
    /// If the system does not report it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves requests until `end` completes.
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let app = Arc::clone(&self.app);
        let sweep = tokio::spawn(async move {
            loop {
                tokio::time::sleep(app.limits.idle / 10).await;
                app.sessions.forget(app.limits.idle);
                app.tables.forget(app.limits.idle);
            }
        });
        let connections = Connections::new(ConnectionLimits {
            all: self.app.limits.connections,
            each: self.app.limits.connections_each,
            time: self.app.limits.receive,
        });
        // Event streams never end by themselves, so they are not waited for.
        tokio::select! {
            () = connections.serve(self.listener, router(Arc::clone(&self.app))) => {}
            () = memory::watch(self.app) => {}
            () = end => {}
        }
        sweep.abort();
    }
}

fn router(app: Arc<AppState>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/page/{*path}", get(page::asset))
        .route("/api/openapi.json", get(page::openapi))
        .route("/api/games", get(game_store::games).post(game_store::load))
        .route("/api/check", post(questions::check))
        .route("/api/try", post(questions::try_rules))
        .route("/api/hover", post(questions::hover))
        .route("/api/completion", post(questions::completion))
        .route("/api/definition", post(questions::definition))
        .route("/api/players", get(questions::players))
        .route("/api/methods", get(questions::methods))
        .route("/api/traits", get(questions::traits))
        .route("/api/games/{game}", get(game_store::game))
        .route("/api/games/{game}/picture.svg", get(questions::picture))
        .route("/api/games/{game}/film.svg", get(questions::film))
        .route("/api/games/{game}/position", post(questions::position))
        .route("/api/games/{game}/why", post(questions::why))
        .route("/api/games/{game}/think", post(jobs::think))
        .route("/api/games/{game}/solve", post(jobs::solve))
        .route("/api/games/{game}/graph", post(jobs::graph))
        .route("/api/games/{game}/learn", post(jobs::learn))
        .route("/api/games/{game}/values", post(questions::values))
        .route("/api/tables", post(tables::create))
        .route("/api/tables/{table}", get(tables::follow))
        .route("/api/tables/{table}/again", post(tables::again))
        .route("/api/tables/{table}/moves", post(tables::choose))
        .route(
            "/api/tables/{table}/position",
            post(tables::views::position),
        )
        .route("/api/tables/{table}/why", post(tables::views::why))
        .fallback(page::missing)
        .method_not_allowed_fallback(page::wrong_method)
        // Bodies are limited where they are read.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            guard::guard,
        ))
        .with_state(app)
}
