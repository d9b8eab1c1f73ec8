//! The connections to a network player, and its answers to their messages.

use ggp_stop::Instant;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout_at;

use super::match_thread::{Clock, MatchHandle, MatchTerms, Server};
use super::{Event, LatencyMargin, Log, PlayerOptions};
use crate::protocol::message::{Info, LastTurn, Message, MessageError, Reply};
use crate::protocol::wire::{Connection, Request, WireError, WireLimits};

/// The most matches at once: one is played, others are ending.
const MOST_MATCHES: u32 = 4;
/// The number of requests of maximum length that may be read at once.
const LONG_REQUESTS: usize = 4;
/// The bytes of a message from which it is parsed on another thread.
const LONG: usize = 1 << 16;
/// The longest clock, and the longest silence within a match.
const LONGEST: Duration = Duration::from_secs(3600);
/// The shortest silence after which a match is aborted.
const SHORTEST: Duration = Duration::from_secs(60);
/// An answer within this time of its deadline counts as taking the whole clock.
const NEARLY: Duration = Duration::from_millis(50);

/// The state shared by all connections.
pub(super) struct Connections {
    server: Arc<Server>,
    sessions: Mutex<Sessions>,
    matches: Arc<Semaphore>,
    /// The bytes of requests in memory.
    held: Arc<AtomicUsize>,
    /// The number of connections so far.
    admitted: AtomicUsize,
}

/// The current match and the open connections.
#[derive(Debug, Default)]
struct Sessions {
    current: Option<Current>,
    /// True if a match waits for an earlier one to end.
    is_starting: bool,
    /// The number of matches started.
    begun: u64,
    /// The number of matches ended.
    ended: u64,
    /// The last match that a host ended, and the answer.
    last: Option<(String, Reply)>,
    open: BTreeMap<usize, OpenConnection>,
}

/// The current match.
#[derive(Debug)]
struct Current {
    number: u64,
    handle: MatchHandle,
    /// The digest of its START message.
    digest: u64,
    /// Whether it can be played, once that is known.
    is_ready: watch::Receiver<Option<bool>>,
    /// The time at which it is aborted unless the host sends a message.
    expires: Instant,
    /// Dropped with the match, which wakes all waiting requests.
    present: watch::Sender<()>,
}

impl Current {
    /// Whether it can be played, its end, and its number, for the answer to START.
    fn begun(&self) -> (watch::Receiver<Option<bool>>, watch::Receiver<()>, u64) {
        (self.is_ready.clone(), self.present.subscribe(), self.number)
    }
}

/// An open connection.
#[derive(Debug)]
struct OpenConnection {
    handle: AbortHandle,
    /// True if the connection has no request in progress, so that it may be closed.
    is_idle: bool,
}

/// An HTTP response, with a record to update once it is sent.
struct Response {
    status: &'static str,
    body: String,
    note: Option<Note>,
}

/// A match and the deadline of a requested move.
struct Note {
    number: u64,
    due: Instant,
    is_move: bool,
}

impl From<Reply> for Response {
    fn from(reply: Reply) -> Self {
        Response {
            status: "200 OK",
            body: reply.to_string(),
            note: None,
        }
    }
}

impl Connections {
    pub(super) fn new(options: PlayerOptions, log: Log) -> Self {
        let margin = LatencyMargin::new(options.margin);
        Connections {
            server: Arc::new(Server {
                options,
                log,
                margin: Mutex::new(margin),
                reader: Mutex::default(),
            }),
            sessions: Mutex::default(),
            matches: Arc::new(Semaphore::new(MOST_MATCHES as usize)),
            held: Arc::default(),
            admitted: AtomicUsize::new(0),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn options(&self) -> &PlayerOptions {
        &self.server.options
    }

    /// The number of matches that are over.
    pub(super) fn ended(&self) -> u64 {
        self.sessions().ended
    }

    /// Returns true if the player has played all its matches.
    pub(super) fn is_done(&self) -> bool {
        let matches = self.options().matches;
        matches.is_some_and(|most| self.ended() >= most)
    }

    /// Aborts a match whose host is silent for too long.
    pub(super) fn end_expired_match(&self) {
        let mut sessions = self.sessions();
        let current = &sessions.current;
        if current
            .as_ref()
            .is_some_and(|current| Instant::now() > current.expires)
        {
            sessions.end(|handle| handle.abort("deserted"));
        }
    }

    /// Ends the match and closes idle connections. A pending request for a move is answered as
    /// long as the result is not dropped.
    pub(super) fn shut_down(&self) -> impl Sized + use<> {
        let mut sessions = self.sessions();
        let current = sessions.current.take();
        sessions.ended += u64::from(current.is_some());
        let current = current.filter(|current| current.handle.leave("interrupted"));
        for connection in sessions.open.values().filter(|open| open.is_idle) {
            connection.handle.abort();
        }
        current
    }

    /// Waits until all threads of all matches have ended.
    pub(super) async fn all_matches_over(&self) {
        // The semaphore is never closed.
        let _ = self.matches.acquire_many(MOST_MATCHES).await;
    }

    /// Serves a connection. If there are too many, an idle one is closed, or this one if none
    /// is idle.
    pub(super) fn admit(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        tasks: &mut JoinSet<()>,
    ) {
        let mut sessions = self.sessions();
        if tasks.len() >= self.options().connections {
            let idle = sessions.open.iter().find(|(_, open)| open.is_idle);
            let Some(number) = idle.map(|(number, _)| *number) else {
                return;
            };
            let closed = sessions.open.remove(&number).expect("it was just found");
            closed.handle.abort();
        }
        let number = self.admitted.fetch_add(1, Ordering::Relaxed);
        let task = ConnectionTask {
            connections: Arc::clone(self),
            number,
            peer,
        };
        let handle = tasks.spawn(async move { task.serve(stream).await });
        let is_idle = true;
        sessions
            .open
            .insert(number, OpenConnection { handle, is_idle });
    }

    async fn answer(&self, text: String, received: Instant, peer: SocketAddr) -> Response {
        let limits = self.options().message;
        let parsed = match text.len() < LONG {
            true => Message::parse(&text, limits),
            false => {
                let parse = move || Message::parse(&text, limits);
                let parsed = tokio::task::spawn_blocking(parse).await;
                parsed.unwrap_or(Err(MessageError::NotAMessage))
            }
        };
        let message = match parsed {
            Ok(message) => message,
            Err(error) => {
                let reason = error.to_string();
                self.server.log.record(Event::Refused { peer, reason });
                return Response {
                    status: "400 Bad Request",
                    body: error.to_string(),
                    note: None,
                };
            }
        };
        let (kind, id) = (message.kind(), message.id().map(str::to_owned));
        let is_near = peer.ip().to_canonical().is_loopback();
        let answer = match message {
            Message::Info => self.info().into(),
            Message::Preview { .. } => match self.sessions().is_free() {
                true => Reply::Ready.into(),
                false => Reply::Busy.into(),
            },
            Message::Start {
                id,
                role,
                rules,
                start_clock,
                play_clock,
            } => {
                let terms = MatchTerms {
                    id,
                    role,
                    rules,
                    start_clock,
                    play_clock,
                };
                self.start(terms, received, is_near).await.into()
            }
            Message::Play { id, last } => self.play(&id, last, received, is_near).await,
            Message::Stop { id, last } => {
                let end = |sessions: &mut Sessions| sessions.end(|handle| handle.stop(last));
                self.end_of(&id, end, Reply::Done).into()
            }
            Message::Abort { id } => {
                let end = |sessions: &mut Sessions| sessions.end(|handle| handle.abort("abort"));
                self.end_of(&id, end, Reply::Aborted).into()
            }
        };
        self.server.log.record(Event::Answered {
            peer,
            kind,
            id,
            reply: answer.body.clone(),
            seconds: received.elapsed().as_secs_f64(),
        });
        answer
    }

    fn info(&self) -> Reply {
        let status = match self.sessions().is_free() {
            true => "available",
            false => "busy",
        };
        Reply::Info(Info {
            name: Some(self.options().name.clone()),
            status: Some(status.to_owned()),
            species: None,
        })
    }

    fn end_of(&self, id: &str, end: impl FnOnce(&mut Sessions), reply: Reply) -> Reply {
        let mut sessions = self.sessions();
        if sessions.is_playing(id) {
            end(&mut sessions);
            sessions.last = Some((id.to_owned(), reply.clone()));
            return reply;
        }
        // A repeated message gets the same answer.
        let last = sessions.last.as_ref();
        if last.is_some_and(|(last, said)| last.eq_ignore_ascii_case(id) && *said == reply) {
            reply
        } else {
            Reply::Busy
        }
    }

    async fn start(&self, terms: MatchTerms, received: Instant, is_near: bool) -> Reply {
        let clock = Duration::from_secs(terms.start_clock.into()).min(LONGEST);
        let margin = self.server.margin().of(clock, is_near);
        let due = received + clock - margin;
        let expires = received + clock + self.patience(terms.play_clock);
        let digest = terms.digest();
        let repeated = {
            let mut sessions = self.sessions();
            let current = sessions.current.as_mut();
            let repeated = current.filter(|current| current.digest == digest);
            let repeated = repeated.map(|current| {
                current.expires = current.expires.max(expires);
                current.begun()
            });
            if repeated.is_none() {
                if !sessions.is_free() {
                    return Reply::Busy;
                }
                sessions.is_starting = true;
            }
            repeated
        };
        let begun = match repeated {
            // A repeated message gets the same answer.
            Some(begun) => begun,
            None => {
                let permit = Arc::clone(&self.matches).acquire_owned();
                let permit = timeout_at(due.into(), permit).await;
                let mut sessions = self.sessions();
                sessions.is_starting = false;
                let Ok(Ok(permit)) = permit else {
                    return Reply::Busy;
                };
                let server = Arc::clone(&self.server);
                let (handle, is_ready) = MatchHandle::new(terms, due, server, permit);
                sessions.begun += 1;
                let current = Current {
                    number: sessions.begun,
                    handle,
                    digest,
                    is_ready,
                    expires,
                    present: watch::Sender::new(()),
                };
                let begun = current.begun();
                sessions.current = Some(current);
                begun
            }
        };
        let (mut is_ready, mut present, number) = begun;
        let is_ready = tokio::select! {
            biased;
            is_ready = is_ready.wait_for(Option::is_some) => {
                is_ready.is_ok_and(|is_ready| *is_ready == Some(true))
            }
            _ = present.changed() => return Reply::Busy,
            // Rules that take long to read may still be ready in time for a move.
            () = tokio::time::sleep_until((due + margin / 2).into()) => true,
        };
        match is_ready {
            true => Reply::Ready,
            false => {
                let mut sessions = self.sessions();
                if sessions.current_number() == Some(number) {
                    sessions.current = None;
                }
                Reply::Busy
            }
        }
    }

    async fn play(&self, id: &str, last: LastTurn, received: Instant, is_near: bool) -> Response {
        let (reply, mut present, number, due, margin) = {
            let mut sessions = self.sessions();
            if !sessions.is_playing(id) {
                return Reply::Busy.into();
            }
            let current = sessions.current.as_mut().expect("a match is played");
            let play_clock = current.handle.play_clock;
            let clock = Duration::from_secs(play_clock.into()).min(LONGEST);
            let margin = self.server.margin().of(clock, is_near);
            let due = received + clock - margin;
            current.expires = received + clock + self.patience(play_clock);
            let clock = Clock {
                due,
                last: due + margin / 2,
            };
            let reply = current.handle.request(last, received, clock);
            let present = current.present.subscribe();
            (reply, present, current.number, due, margin)
        };
        let reply = tokio::select! {
            biased;
            // The result of an ended match is not an answer.
            _ = present.changed() => Reply::Nil,
            reply = reply => reply.unwrap_or(Reply::Nil),
            () = tokio::time::sleep_until((due + margin * 3 / 4).into()) => Reply::Nil,
        };
        let is_move = matches!(reply, Reply::Move(_));
        Response {
            note: Some(Note {
                number,
                due,
                is_move,
            }),
            ..reply.into()
        }
    }

    /// The longest silence of the host after a clock.
    fn patience(&self, play_clock: u32) -> Duration {
        let play_clock = Duration::from_secs(play_clock.into());
        let usual = play_clock.saturating_mul(10).clamp(SHORTEST, LONGEST);
        self.options().patience.unwrap_or(usual)
    }

    /// Records whether an answer was sent, and its delay.
    fn sent(&self, note: &Note, was_sent: bool) {
        let now = Instant::now();
        if now + NEARLY > note.due {
            let late = now.saturating_duration_since(note.due);
            self.server.margin().was_late(late);
        }
        let sessions = self.sessions();
        if let Some(current) = &sessions.current
            && current.number == note.number
        {
            current.handle.was_answered(was_sent && note.is_move);
        }
    }
}

impl Sessions {
    fn is_free(&self) -> bool {
        self.current.is_none() && !self.is_starting
    }

    fn current_number(&self) -> Option<u64> {
        self.current.as_ref().map(|current| current.number)
    }

    /// Returns true if this is the current match.
    fn is_playing(&self, id: &str) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|current| current.handle.id.eq_ignore_ascii_case(id))
    }

    /// Ends the current match, if there is one.
    fn end(&mut self, end: impl FnOnce(MatchHandle)) {
        if let Some(current) = self.current.take() {
            self.ended += 1;
            end(current.handle);
        }
    }
}

/// The task that serves one connection.
struct ConnectionTask {
    connections: Arc<Connections>,
    number: usize,
    peer: SocketAddr,
}

impl ConnectionTask {
    async fn serve(self, stream: TcpStream) {
        // Responses are short and must be sent at once.
        let _ = stream.set_nodelay(true);
        let options = self.connections.options();
        let bytes = options.message.bytes;
        let limits = WireLimits {
            bytes,
            all_bytes: bytes.saturating_mul(LONG_REQUESTS),
            idle: options.idle,
            held: Arc::clone(&self.connections.held),
        };
        let mut connection = Connection::new(stream, limits);
        loop {
            let request = connection.request().await;
            self.set_idle(false);
            match request {
                Err(error) => {
                    if !matches!(error, WireError::Closed | WireError::Io(_)) {
                        let (peer, reason) = (self.peer, error.to_string());
                        let refused = Event::Refused { peer, reason };
                        self.connections.server.log.record(refused);
                    }
                    connection.refuse(&error).await;
                    break;
                }
                Ok(request) => {
                    if !self.answer(&mut connection, request).await {
                        break;
                    }
                }
            }
            self.set_idle(true);
        }
        self.set_idle(true);
        connection.close().await;
    }

    /// Sends the response and returns whether the connection stays open.
    async fn answer(&self, connection: &mut Connection<TcpStream>, request: Request) -> bool {
        let response = match request.message {
            None => Response {
                status: "200 OK",
                body: String::new(),
                note: None,
            },
            Some(text) => {
                self.connections
                    .answer(text, request.received, self.peer)
                    .await
            }
        };
        let sent = connection
            .answer(request.manner, response.status, &response.body)
            .await;
        if let Some(note) = &response.note {
            self.connections.sent(note, sent.is_ok());
        }
        sent.is_ok() && request.manner.stays_open
    }

    fn set_idle(&self, is_idle: bool) {
        if let Some(open) = self.connections.sessions().open.get_mut(&self.number) {
            open.is_idle = is_idle;
        }
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.connections.sessions().open.remove(&self.number);
    }
}
