//! Who asks: a browser, by a cookie, with the rule sets that it has given.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use rand::TryRng;
use rand::rngs::SysRng;
use tokio::sync::Semaphore;

use super::WebLimits;
use super::game_store::Loaded;

/// What cookies are called, before the port: browsers have them in common for all ports
/// of a host.
const COOKIE: &str = "ggp_session";

/// A browser.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    is_new: AtomicBool,
    heard: Mutex<Instant>,
    /// By age, the one that was asked for last at the end.
    games: Mutex<Vec<Arc<Loaded>>>,
    /// One for each player or solver at work.
    pub(super) jobs: Arc<Semaphore>,
}

impl Session {
    /// Whether this is its first request. Says so once.
    pub(super) fn is_new(&self) -> bool {
        self.is_new.swap(false, Ordering::Relaxed)
    }

    /// A rule set that it has given.
    pub(super) fn game(&self, id: &str) -> Option<Arc<Loaded>> {
        let mut games = locked(&self.games);
        let at = games.iter().position(|game| game.id == id)?;
        let game = games.remove(at);
        games.push(Arc::clone(&game));
        Some(game)
    }

    /// Keeps a rule set.
    pub(super) fn keep(&self, game: Arc<Loaded>, most: usize) {
        let mut games = locked(&self.games);
        games.retain(|other| other.id != game.id);
        games.push(game);
        let too_many = games.len().saturating_sub(most);
        games.drain(..too_many);
    }
}

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    known: Mutex<HashMap<String, Arc<Session>>>,
    /// What its cookies are called.
    cookie: String,
    most: usize,
    jobs_each: usize,
}

impl Sessions {
    /// Those of the server at a port.
    pub(super) fn new(limits: &WebLimits, port: u16) -> Self {
        Sessions {
            known: Mutex::default(),
            cookie: format!("{COOKIE}_{port}"),
            most: limits.sessions.max(1),
            jobs_each: limits.jobs_each,
        }
    }

    /// The session that a request names, or a new one.
    pub(super) fn session(&self, headers: &HeaderMap) -> Arc<Session> {
        let mut known = locked(&self.known);
        if let Some(session) = self.named(headers).and_then(|name| known.get(name)) {
            *locked(&session.heard) = Instant::now();
            return Arc::clone(session);
        }
        while known.len() >= self.most {
            let oldest = known.values().min_by_key(|session| *locked(&session.heard));
            let name = oldest.map(|session| session.name.clone());
            known.remove(&name.expect("there are too many"));
        }
        let session = Arc::new(Session {
            name: secret(),
            is_new: AtomicBool::new(true),
            heard: Mutex::new(Instant::now()),
            games: Mutex::default(),
            jobs: Arc::new(Semaphore::new(self.jobs_each)),
        });
        known.insert(session.name.clone(), Arc::clone(&session));
        session
    }

    /// What has a browser name a session from now on.
    pub(super) fn cookie(&self, session: &Session) -> String {
        let (cookie, name) = (&self.cookie, &session.name);
        format!("{cookie}={name}; Path=/; HttpOnly; SameSite=Strict")
    }

    /// The name of the session that a request belongs to.
    fn named<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|cookies| cookies.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
        pairs.find_map(|pair| pair.trim().strip_prefix(&*self.cookie)?.strip_prefix('='))
    }

    /// Forgets sessions that were not heard of for some time.
    pub(super) fn forget(&self, idle: Duration) {
        locked(&self.known).retain(|_, session| locked(&session.heard).elapsed() < idle);
    }
}

/// A word that nobody can guess.
pub(super) fn secret() -> String {
    let mut bytes = [0; 16];
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is guarded; a thread that panicked left it whole, as all changes are single ones.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
