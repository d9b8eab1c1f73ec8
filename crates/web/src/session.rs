//! Sessions: browsers, identified by a cookie, with the rule sets that they uploaded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use rand::TryRng;
use rand::rngs::SysRng;
use tokio::sync::Semaphore;

use super::WebLimits;
use super::game_store::LoadedGame;

/// The prefix of cookie names, before the port. Browsers share cookies between all ports of
/// a host.
const COOKIE: &str = "ggp_session";

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    is_new: AtomicBool,
    heard: Mutex<Instant>,
    /// By age, the most recently used game last.
    games: Mutex<Vec<Arc<LoadedGame>>>,
    /// One permit for each running player or solver.
    pub(super) jobs: Arc<Semaphore>,
}

impl Session {
    /// Returns true for the first request of the session only.
    pub(super) fn is_new(&self) -> bool {
        self.is_new.swap(false, Ordering::Relaxed)
    }

    /// A rule set that the session uploaded.
    pub(super) fn game(&self, id: &str) -> Option<Arc<LoadedGame>> {
        let mut games = locked(&self.games);
        let at = games.iter().position(|game| game.id == id)?;
        let game = games.remove(at);
        games.push(Arc::clone(&game));
        Some(game)
    }

    /// Stores a rule set.
    pub(super) fn keep(&self, game: Arc<LoadedGame>, most: usize) {
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
    /// The name of its cookies.
    cookie: String,
    most: usize,
    jobs_each: usize,
}

impl Sessions {
    /// The sessions of the server at a port.
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

    /// The cookie that makes a browser name the session from now on.
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

    /// Drops sessions that were inactive for `idle`.
    pub(super) fn forget(&self, idle: Duration) {
        locked(&self.known).retain(|_, session| locked(&session.heard).elapsed() < idle);
    }
}

/// A random token that cannot be guessed.
pub(super) fn secret() -> String {
    let mut bytes = [0; 16];
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Locks a mutex. A thread that panicked left the content intact, since every change is a
/// single one.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
