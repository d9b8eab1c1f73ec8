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
    /// Maximum time for a player's move or for a solver.
    pub thought: Duration,
    /// Maximum size in bytes of the tables of a player or solver.
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

/// The state that all requests share.
#[derive(Debug)]
struct AppState {
    limits: WebLimits,
    /// The address of the server; requests that name another host are rejected there.
    address: IpAddr,
    shelf: GameStore,
    sessions: Sessions,
    tables: Tables,
    /// One permit for each running player or solver.
    jobs: Arc<Semaphore>,
    /// One permit for each short request.
    questions: Arc<Semaphore>,
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
        let app = AppState {
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
    ///
    /// # Errors
    ///
    /// If no more connections can be accepted.
    pub async fn serve(self, end: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let app = Arc::clone(&self.app);
        let sweep = tokio::spawn(async move {
            loop {
                tokio::time::sleep(app.limits.idle / 10).await;
                app.sessions.forget(app.limits.idle);
                app.tables.forget(app.limits.idle);
            }
        });
        // Event streams never end by themselves, so they are not waited for.
        tokio::select! {
            served = axum::serve(self.listener, router(self.app)) => served?,
            () = end => {}
        }
        sweep.abort();
        Ok(())
    }
}

fn router(app: Arc<AppState>) -> Router {
    let limit = DefaultBodyLimit::max(app.limits.request_bytes);
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
        .route("/api/tables", post(tables::create))
        .route("/api/tables/{table}", get(tables::follow))
        .route("/api/tables/{table}/moves", post(tables::choose))
        .fallback(page::missing)
        .layer(limit)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            guard::guard,
        ))
        .with_state(app)
}
