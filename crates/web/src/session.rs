//! Sessions: browsers, identified by a cookie, with the rule sets that they uploaded.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use rand::TryRng;
use rand::rngs::SysRng;

use super::WebLimits;
use super::turns::Asker;
use ggp_answers::Rules;

/// The prefix of cookie names, before the port. Browsers share cookies between all ports of
/// a host.
const COOKIE: &str = "ggp_session";

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    name: Arc<str>,
    /// The address of its first request.
    address: IpAddr,
    /// True once a request has named it.
    is_known: AtomicBool,
    heard: Mutex<Instant>,
    /// By age, the most recently used rules last.
    rules: Mutex<Vec<Arc<Rules>>>,
}

/// A request's session, and the share of the server that it asks for.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) session: Arc<Session>,
    pub(super) asker: Asker,
    /// True if the request named no session.
    pub(super) is_new: bool,
}

impl Session {
    /// A rule set that the session uploaded.
    pub(super) fn rules(&self, id: &str) -> Option<Arc<Rules>> {
        let mut rules = locked(&self.rules);
        let at = rules.iter().position(|rules| rules.id == id)?;
        let found = rules.remove(at);
        rules.push(Arc::clone(&found));
        Some(found)
    }

    /// Stores a rule set.
    fn keep(&self, rules: Arc<Rules>, most: usize) {
        let mut kept = locked(&self.rules);
        kept.retain(|other| other.id != rules.id);
        kept.push(rules);
        let too_many = kept.len().saturating_sub(most);
        kept.drain(..too_many);
    }

    /// The size of its rule sets in bytes.
    fn bytes(&self) -> usize {
        locked(&self.rules).iter().map(|rules| rules.bytes()).sum()
    }
}

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    known: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    /// The name of its cookies.
    cookie: String,
    most: usize,
    rule_sets: usize,
    bytes: usize,
}

impl Sessions {
    /// The sessions of the server at a port, with `bytes` for the texts of all rule sets.
    pub(super) fn new(limits: &WebLimits, port: u16, bytes: usize) -> Self {
        Sessions {
            known: Mutex::default(),
            cookie: format!("{COOKIE}_{port}"),
            most: limits.sessions.max(1),
            rule_sets: limits.games,
            bytes,
        }
    }

    /// The session that a request names, or a new one.
    pub(super) fn visitor(&self, headers: &HeaderMap, address: IpAddr) -> Visitor {
        let mut known = locked(&self.known);
        if let Some(session) = self.named(headers).and_then(|name| known.get(name)) {
            *locked(&session.heard) = Instant::now();
            session.is_known.store(true, Ordering::Relaxed);
            return Visitor {
                session: Arc::clone(session),
                asker: Asker {
                    key: Arc::clone(&session.name),
                    session: Arc::clone(&session.name),
                    address,
                },
                is_new: false,
            };
        }
        if known.len() >= self.most {
            let name = least_needed(&known).expect("there are too many");
            known.remove(&name);
        }
        let session = Arc::new(Session {
            name: secret().into(),
            address,
            is_known: AtomicBool::new(false),
            heard: Mutex::new(Instant::now()),
            rules: Mutex::default(),
        });
        known.insert(Arc::clone(&session.name), Arc::clone(&session));
        Visitor {
            asker: Asker {
                key: address.to_string().into(),
                session: Arc::clone(&session.name),
                address,
            },
            session,
            is_new: true,
        }
    }

    /// Stores a rule set. If all texts together are too large, the session with the largest
    /// ones loses those that it used the longest ago.
    pub(super) fn keep(&self, session: &Session, rules: Arc<Rules>) {
        session.keep(rules, self.rule_sets);
        let known = locked(&self.known);
        let mut sizes: Vec<(usize, &Arc<Session>)> = (known.values())
            .map(|session| (session.bytes(), session))
            .collect();
        let mut total: usize = sizes.iter().map(|(bytes, _)| bytes).sum();
        while total > self.bytes {
            let (bytes, largest) = (sizes.iter_mut())
                .max_by_key(|(bytes, _)| *bytes)
                .expect("there are texts");
            let mut rules = locked(&largest.rules);
            if rules.is_empty() {
                return;
            }
            let dropped = rules.remove(0).bytes();
            total -= dropped.min(total);
            *bytes -= dropped.min(*bytes);
        }
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

/// The session to drop: of the address with the most sessions, one that was never named
/// again if there is any, and the one that was inactive the longest.
fn least_needed(known: &HashMap<Arc<str>, Arc<Session>>) -> Option<Arc<str>> {
    let mut counts: HashMap<IpAddr, usize> = HashMap::new();
    for session in known.values() {
        *counts.entry(session.address).or_default() += 1;
    }
    let need = |session: &&Arc<Session>| {
        (
            Reverse(counts[&session.address]),
            session.is_known.load(Ordering::Relaxed),
            *locked(&session.heard),
        )
    };
    let session = known.values().min_by_key(need)?;
    Some(Arc::clone(&session.name))
}

/// A random token that cannot be guessed.
pub(super) fn secret() -> String {
    let mut bytes = [0; 16];
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A seed that cannot be guessed.
pub(super) fn seed() -> u64 {
    SysRng
        .try_next_u64()
        .expect("the system has random numbers")
}

/// Locks a mutex. A thread that panicked left the content intact, since every change is a
/// single one.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use ggp_answers::RuleSet;

    fn sessions(most: usize, bytes: usize) -> Sessions {
        let limits = WebLimits {
            sessions: most,
            ..WebLimits::default()
        };
        Sessions::new(&limits, 80, bytes)
    }

    fn again(sessions: &Sessions, visitor: &Visitor) -> Visitor {
        let cookie = sessions.cookie(&visitor.session);
        let mut headers = HeaderMap::new();
        let cookie = HeaderValue::from_str(&cookie).expect("a header");
        headers.insert(header::COOKIE, cookie);
        sessions.visitor(&headers, visitor.asker.address)
    }

    #[test]
    fn a_flood_of_sessions_drops_its_own_only() {
        let (calm, flood) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let sessions = sessions(10, 100);
        let first = sessions.visitor(&HeaderMap::new(), calm);
        for _ in 0..100 {
            let new = sessions.visitor(&HeaderMap::new(), flood);
            assert!(!again(&sessions, &new).is_new, "the newest is kept");
        }
        assert!(!again(&sessions, &first).is_new);
        // From one address, those that were named again stay.
        for _ in 0..100 {
            sessions.visitor(&HeaderMap::new(), calm);
        }
        assert!(!again(&sessions, &first).is_new);
        assert_eq!(locked(&sessions.known).len(), 10);
    }

    #[test]
    fn large_texts_make_room_for_small_ones() {
        let rules = |name: &str, size: usize| {
            let set = RuleSet::one(name, &"x".repeat(size));
            Arc::new(Rules::uploaded(set))
        };
        let sessions = sessions(10, 1_000);
        let [calm, greedy] = [1, 2].map(|last| {
            let address = [192, 0, 2, last].into();
            sessions.visitor(&HeaderMap::new(), address).session
        });
        sessions.keep(&calm, rules("small", 100));
        for number in 0..10 {
            sessions.keep(&greedy, rules(&format!("large {number}"), 300));
        }
        assert_eq!(calm.bytes(), 105);
        assert_eq!(locked(&greedy.rules).len(), 2);
        sessions.keep(&calm, rules("other", 250));
        assert_eq!(
            (locked(&calm.rules).len(), locked(&greedy.rules).len()),
            (2, 2)
        );
    }
}
