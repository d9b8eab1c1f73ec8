//! Who is at the player's door, and what they are told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout_at;

use super::match_thread::{Server, Table, Terms};
use super::{Event, LatencyMargin, Log, PlayerOptions};
use crate::protocol::message::{Info, Message, MessageError, Reply};
use crate::protocol::wire::{Connection, Request, WireError, WireLimits};

/// Matches that may exist at once: one is played, others come to their end.
const TABLES: u32 = 4;
/// Requests that may be read at once, each as long as it may be.
const LONG_REQUESTS: usize = 4;
/// Bytes of a message that are read beside other work.
const LONG: usize = 1 << 16;
/// The margin's base.
const BASE: Duration = Duration::from_millis(500);
/// The longest time that a clock or a silence holds a match.
const LONGEST: Duration = Duration::from_secs(3600);
/// The least that a silence may take.
const SHORTEST: Duration = Duration::from_secs(60);
/// An answer that is due so soon took the whole clock.
const NEARLY: Duration = Duration::from_millis(50);

/// What all connections share.
pub(super) struct Connections {
    server: Arc<Server>,
    book: Mutex<Sessions>,
    tables: Arc<Semaphore>,
    /// Bytes of requests.
    held: Arc<AtomicUsize>,
    /// Number of connections so far.
    admitted: AtomicUsize,
}

#[derive(Debug, Default)]
struct Sessions {
    current: Option<Current>,
    /// Whether a match waits for a table.
    is_starting: bool,
    /// Number of matches so far.
    begun: u64,
    ended: u64,
    guests: BTreeMap<usize, MatchState>,
}

/// The match that is played.
#[derive(Debug)]
struct Current {
    number: u64,
    table: Table,
    /// When it is over unless the host says something.
    expires: Instant,
    /// Dropped with it, which wakes whoever waits.
    present: watch::Sender<()>,
}

/// A connection.
#[derive(Debug)]
struct MatchState {
    handle: AbortHandle,
    /// Whether nothing is lost if it is closed.
    is_idle: bool,
}

/// An answer, and what is to be noted when it is sent.
struct Answer {
    status: &'static str,
    body: String,
    note: Option<Note>,
}

/// A match and when a move for it was due.
struct Note {
    number: u64,
    due: Instant,
    is_move: bool,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Answer {
            status: "200 OK",
            body: reply.to_string(),
            note: None,
        }
    }
}

impl Connections {
    pub(super) fn new(options: PlayerOptions, log: Log) -> Self {
        let margin = LatencyMargin::new(options.margin, BASE);
        Connections {
            server: Arc::new(Server {
                options,
                log,
                margin: Mutex::new(margin),
                reader: Mutex::default(),
            }),
            book: Mutex::default(),
            tables: Arc::new(Semaphore::new(TABLES as usize)),
            held: Arc::default(),
            admitted: AtomicUsize::new(0),
        }
    }

    fn book(&self) -> MutexGuard<'_, Sessions> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn options(&self) -> &PlayerOptions {
        &self.server.options
    }

    /// Matches that are over.
    pub(super) fn ended(&self) -> u64 {
        self.book().ended
    }

    /// Whether it has played enough.
    pub(super) fn is_done(&self) -> bool {
        let matches = self.options().matches;
        matches.is_some_and(|most| self.ended() >= most)
    }

    /// Ends a match whose host is gone.
    pub(super) fn look_after(&self) {
        let mut book = self.book();
        let current = &book.current;
        if current
            .as_ref()
            .is_some_and(|current| Instant::now() > current.expires)
        {
            book.end(|table| table.abort("deserted"));
        }
    }

    /// Ends the match, and tells who waits for nothing more to come. Whoever asks for
    /// a move is answered while the result is kept.
    pub(super) fn leave(&self) -> impl Sized + use<> {
        let mut book = self.book();
        let current = book.current.take();
        book.ended += u64::from(current.is_some());
        let current = current.filter(|current| current.table.leave("interrupted"));
        for guest in book.guests.values().filter(|guest| guest.is_idle) {
            guest.handle.abort();
        }
        current
    }

    /// Waits until nothing is left of any match.
    pub(super) async fn all_over(&self) {
        // It is never closed.
        let _ = self.tables.acquire_many(TABLES).await;
    }

    /// Serves a connection. If there are too many, one that is idle has to go, or
    /// else this one.
    pub(super) fn admit(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        connections: &mut JoinSet<()>,
    ) {
        let mut book = self.book();
        if connections.len() >= self.options().connections {
            let idle = book.guests.iter().find(|(_, guest)| guest.is_idle);
            let Some(number) = idle.map(|(number, _)| *number) else {
                return;
            };
            let guest = book.guests.remove(&number).expect("it was just found");
            guest.handle.abort();
        }
        let number = self.admitted.fetch_add(1, Ordering::Relaxed);
        let door = Door {
            desk: Arc::clone(self),
            number,
            peer,
        };
        let handle = connections.spawn(async move { door.serve(stream).await });
        let is_idle = true;
        book.guests.insert(number, MatchState { handle, is_idle });
    }

    async fn answer(&self, text: String, received: Instant, peer: SocketAddr) -> Answer {
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
                self.server.log.tell(Event::Refused { peer, reason });
                return Answer {
                    status: "400 Bad Request",
                    body: error.to_string(),
                    note: None,
                };
            }
        };
        let (kind, id) = (message.kind(), message.id().map(str::to_owned));
        let answer = match message {
            Message::Info => self.info().into(),
            Message::Preview { .. } => match self.book().is_free() {
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
                let terms = Terms {
                    id,
                    role,
                    rules,
                    start_clock,
                    play_clock,
                };
                self.start(terms, received).await.into()
            }
            Message::Play { id, moves } => self.play(&id, moves, received).await,
            Message::Stop { id, moves } => {
                let end = |book: &mut Sessions| book.end(|table| table.stop(moves));
                self.end_of(&id, end, Reply::Done).into()
            }
            Message::Abort { id } => {
                let end = |book: &mut Sessions| book.end(|table| table.abort("abort"));
                self.end_of(&id, end, Reply::Aborted).into()
            }
        };
        self.server.log.tell(Event::Answered {
            peer,
            kind,
            id,
            reply: answer.body.clone(),
            seconds: received.elapsed().as_secs_f64(),
        });
        answer
    }

    fn info(&self) -> Reply {
        let status = match self.book().is_free() {
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
        let mut book = self.book();
        match book.is_playing(id) {
            true => {
                end(&mut book);
                reply
            }
            false => Reply::Busy,
        }
    }

    async fn start(&self, terms: Terms, received: Instant) -> Reply {
        let clock = Duration::from_secs(terms.start_clock.into()).min(LONGEST);
        let margin = self.server.margin().of(clock);
        let due = received + clock - margin;
        {
            let mut book = self.book();
            if !book.is_free() {
                return Reply::Busy;
            }
            book.is_starting = true;
        }
        let table = Arc::clone(&self.tables).acquire_owned();
        let table = timeout_at(due.into(), table).await;
        let (is_ready, mut present, number) = {
            let mut book = self.book();
            book.is_starting = false;
            let Ok(Ok(permit)) = table else {
                return Reply::Busy;
            };
            let expires = received + clock + self.patience(terms.play_clock);
            let (table, is_ready) = Table::new(terms, due, Arc::clone(&self.server), permit);
            let (present, is_present) = watch::channel(());
            book.begun += 1;
            book.current = Some(Current {
                number: book.begun,
                table,
                expires,
                present,
            });
            (is_ready, is_present, book.begun)
        };
        let is_ready = tokio::select! {
            biased;
            is_ready = is_ready => is_ready.unwrap_or(false),
            _ = present.changed() => return Reply::Busy,
            // Rules that take long to read may still be read in time for a move.
            () = tokio::time::sleep_until((due + margin / 2).into()) => true,
        };
        match is_ready {
            true => Reply::Ready,
            false => {
                let mut book = self.book();
                if book.current_number() == Some(number) {
                    book.current = None;
                }
                Reply::Busy
            }
        }
    }

    async fn play(&self, id: &str, moves: Vec<String>, received: Instant) -> Answer {
        let (reply, mut present, number, due, margin) = {
            let mut book = self.book();
            if !book.is_playing(id) {
                return Reply::Busy.into();
            }
            let current = book.current.as_mut().expect("it is played");
            let play_clock = current.table.play_clock;
            let clock = Duration::from_secs(play_clock.into()).min(LONGEST);
            let margin = self.server.margin().of(clock);
            let due = received + clock - margin;
            current.expires = received + clock + self.patience(play_clock);
            let reply = current.table.ask(moves, received, due);
            let present = current.present.subscribe();
            (reply, present, current.number, due, margin)
        };
        let reply = tokio::select! {
            biased;
            // What a search that was ended comes to is no answer any more.
            _ = present.changed() => Reply::Nil,
            reply = reply => reply.unwrap_or(Reply::Nil),
            () = tokio::time::sleep_until((due + margin / 2).into()) => Reply::Nil,
        };
        let is_move = matches!(reply, Reply::Move(_));
        Answer {
            note: Some(Note {
                number,
                due,
                is_move,
            }),
            ..reply.into()
        }
    }

    /// How long after a clock a host may say nothing.
    fn patience(&self, play_clock: u32) -> Duration {
        let play_clock = Duration::from_secs(play_clock.into());
        let usual = play_clock.saturating_mul(10).clamp(SHORTEST, LONGEST);
        self.options().patience.unwrap_or(usual)
    }

    /// Takes note of an answer that was sent, or could not be.
    fn sent(&self, note: &Note, was_sent: bool) {
        let now = Instant::now();
        if now + NEARLY > note.due {
            let late = now.saturating_duration_since(note.due);
            self.server.margin().was_late(late);
        }
        let book = self.book();
        if let Some(current) = &book.current
            && current.number == note.number
        {
            current.table.was_answered(was_sent && note.is_move);
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

    /// Whether this is the match that is played.
    fn is_playing(&self, id: &str) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|current| current.table.id.eq_ignore_ascii_case(id))
    }

    /// Ends the match that is played, if there is one.
    fn end(&mut self, end: impl FnOnce(Table)) {
        if let Some(current) = self.current.take() {
            self.ended += 1;
            end(current.table);
        }
    }
}

/// One connection.
struct Door {
    desk: Arc<Connections>,
    number: usize,
    peer: SocketAddr,
}

impl Door {
    async fn serve(self, stream: TcpStream) {
        // Answers are short, and somebody waits for each.
        let _ = stream.set_nodelay(true);
        let options = self.desk.options();
        let bytes = options.message.bytes;
        let limits = WireLimits {
            bytes,
            all_bytes: bytes.saturating_mul(LONG_REQUESTS),
            idle: options.idle,
            held: Arc::clone(&self.desk.held),
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
                        self.desk.server.log.tell(refused);
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

    /// Whether another request may follow.
    async fn answer(&self, connection: &mut Connection<TcpStream>, request: Request) -> bool {
        let answer = match request.message {
            None => Answer {
                status: "200 OK",
                body: String::new(),
                note: None,
            },
            Some(text) => self.desk.answer(text, request.received, self.peer).await,
        };
        let sent = connection
            .answer(request.manner, answer.status, &answer.body)
            .await;
        if let Some(note) = &answer.note {
            self.desk.sent(note, sent.is_ok());
        }
        sent.is_ok() && request.manner.stays_open
    }

    fn set_idle(&self, is_idle: bool) {
        if let Some(guest) = self.desk.book().guests.get_mut(&self.number) {
            guest.is_idle = is_idle;
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.desk.book().guests.remove(&self.number);
    }
}
