//! One match: a thread that processes the host's messages and answers in time.

use ggp_stop::{Instant, Stop};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};

use super::progress::Progress;
use super::{Event, LatencyMargin, Log, PlayerOptions};
use crate::protocol::message::{LastTurn, Reply};
use crate::{AgentThread, Brief, Origin};
use ggp_engine::machine::PlayError;
use ggp_gdl::check;
use ggp_gdl::diagnostic::{Diagnostic, Severity};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::span::{Source, Sources};

/// The most reported errors of rules that cannot be played.
const MOST_REASONS: usize = 10;
/// The most characters of each.
const LONGEST_REASON: usize = 300;
/// An answer within this time of its deadline counts as taking the whole clock.
const NEARLY: Duration = Duration::from_millis(50);

/// The end of a clock.
#[derive(Copy, Clone, Debug)]
pub(super) struct Clock {
    /// The time by which a move should be chosen.
    pub due: Instant,
    /// The time by which any move is better than none.
    pub last: Instant,
}

/// The contents of a START message.
#[derive(Debug, Hash)]
pub(super) struct MatchTerms {
    pub id: String,
    pub role: String,
    pub rules: String,
    pub start_clock: u32,
    pub play_clock: u32,
}

impl MatchTerms {
    /// A number that is the same for equal messages.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// The handle of a match for the connections.
#[derive(Debug)]
pub(super) struct MatchHandle {
    pub id: String,
    pub play_clock: u32,
    requests: Sender<MatchRequest>,
    shared: Arc<Shared>,
}

/// The state shared by a match thread and its handle.
#[derive(Debug, Default)]
struct Shared {
    /// Ends the current choice of the agent.
    stop: Stop,
    /// Ends the match.
    over: Stop,
    /// Ends the reading of rules that are no longer needed.
    unwanted: Stop,
    /// The current work of the thread. A request holds the lock, so that the thread does not
    /// start work that the request has just made obsolete.
    work: Mutex<Option<Work>>,
    /// True if the last answer was sent to the host.
    is_answered: AtomicBool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Work {
    Begin,
    Answer(LastTurn),
}

#[derive(Debug)]
enum MatchRequest {
    Play {
        last: LastTurn,
        received: Instant,
        clock: Clock,
        is_answered: bool,
        answer: oneshot::Sender<Reply>,
    },
    Stop {
        last: LastTurn,
        is_answered: bool,
    },
    End(&'static str),
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the current work as finished, so that later requests are not interrupted.
    fn finish(&self) {
        let mut work = self.work();
        *work = None;
        self.stop.lower();
    }
}

impl MatchRequest {
    /// Returns true if the request repeats the current work.
    fn repeats(&self, work: &Work) -> bool {
        match (self, work) {
            (MatchRequest::Play { last, .. }, Work::Answer(answered)) => last == answered,
            _ => false,
        }
    }
}

impl MatchHandle {
    /// Starts a match. The receiver gets whether it can be played, once the agent is ready or
    /// the deadline has passed. The permit is released when all threads of the match have
    /// ended.
    pub(super) fn new(
        terms: MatchTerms,
        deadline: Instant,
        server: Arc<Server>,
        permit: OwnedSemaphorePermit,
    ) -> (Self, watch::Receiver<Option<bool>>) {
        let (requests, received) = channel();
        let (ready, is_ready) = watch::channel(None);
        let over = Stop::new();
        let shared = Arc::new(Shared {
            stop: over.child(),
            over,
            ..Shared::default()
        });
        *shared.work() = Some(Work::Begin);
        let handle = MatchHandle {
            id: terms.id.clone(),
            play_clock: terms.play_clock,
            requests,
            shared: Arc::clone(&shared),
        };
        std::thread::spawn(move || {
            let thread = MatchThread::new(terms, &server, &shared, deadline);
            // An aborted match has no receiver.
            let _ = ready.send(Some(thread.is_some()));
            if let Some(mut thread) = thread {
                thread.run(&received);
            }
            drop(permit);
        });
        (handle, is_ready)
    }

    /// Requests a move.
    pub(super) fn request(
        &self,
        last: LastTurn,
        received: Instant,
        clock: Clock,
    ) -> oneshot::Receiver<Reply> {
        let (answer, reply) = oneshot::channel();
        self.post(MatchRequest::Play {
            last,
            received,
            clock,
            is_answered: self.take_answered(),
            answer,
        });
        reply
    }

    /// Records whether the last answer was sent to the host.
    pub(super) fn was_answered(&self, is_answered: bool) {
        self.shared
            .is_answered
            .store(is_answered, Ordering::Relaxed);
    }

    fn take_answered(&self) -> bool {
        self.shared.is_answered.swap(false, Ordering::Relaxed)
    }

    /// Ends the match in the background, after this turn.
    pub(super) fn stop(self, last: LastTurn) {
        self.shared.unwanted.raise();
        self.post(MatchRequest::Stop {
            is_answered: self.take_answered(),
            last,
        });
    }

    /// Ends the match because the player shuts down. A pending request is answered with the
    /// best move so far; the result is whether there is one.
    pub(super) fn leave(&self, how: &'static str) -> bool {
        let work = self.shared.work();
        let is_pending = matches!(*work, Some(Work::Answer(_)));
        drop(work);
        match is_pending {
            true => self.post(MatchRequest::End(how)),
            false => self.end(how),
        }
        is_pending
    }

    /// Aborts the match immediately.
    pub(super) fn abort(self, how: &'static str) {
        self.end(how);
    }

    fn end(&self, how: &'static str) {
        let work = self.shared.work();
        self.shared.over.raise();
        self.shared.unwanted.raise();
        self.shared.stop.raise();
        drop(work);
        self.post(MatchRequest::End(how));
    }

    /// Sends a request and interrupts the current work unless the request repeats it.
    fn post(&self, request: MatchRequest) {
        let work = self.shared.work();
        if work.as_ref().is_some_and(|work| !request.repeats(work)) {
            self.shared.stop.raise();
        }
        // The thread of a match that cannot be played has ended.
        let _ = self.requests.send(request);
    }
}

/// The state of the server that matches use.
#[derive(Debug)]
pub(super) struct Server {
    pub options: PlayerOptions,
    pub log: Log,
    pub margin: Mutex<LatencyMargin>,
    /// Held while rules are read: one match at a time, which bounds the memory.
    pub reader: Mutex<()>,
}

impl Server {
    pub(super) fn margin(&self) -> MutexGuard<'_, LatencyMargin> {
        self.margin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the match thread.
struct MatchThread<'a> {
    terms: MatchTerms,
    server: &'a Server,
    shared: &'a Shared,
    progress: Progress,
    agent: AgentThread,
    /// The number of turns before an answer that took the whole clock.
    slow: Option<usize>,
}

impl<'a> MatchThread<'a> {
    /// Reads the rules and prepares the agent. `None` if the match cannot be played, which is
    /// logged.
    fn new(
        mut terms: MatchTerms,
        server: &'a Server,
        shared: &'a Shared,
        deadline: Instant,
    ) -> Option<Self> {
        let rules = std::mem::take(&mut terms.rules);
        let unplayable = |reasons| {
            let id = terms.id.clone();
            server.log.record(Event::Unplayable { id, reasons });
        };
        let read = read(rules, server, &shared.unwanted);
        let (game, warnings) = read.map_err(unplayable).ok()?;
        if shared.over.is_raised() {
            return None;
        }
        let Some(role) = game.role_named(&terms.role) else {
            unplayable(vec![format!("the rules have no role `{}`", terms.role)]);
            return None;
        };
        let options = &server.options;
        let limits = |stop: &Stop| {
            let mut limits = options.limits.clone();
            limits.stop = stop.clone();
            limits.threads = options.threads;
            limits
        };
        let brief = Brief {
            play_clock: Some(Duration::from_secs(terms.play_clock.into())),
            threads: options.threads,
            memory_bytes: options.memory_bytes,
            seed: options.seed,
            values: Arc::clone(&options.values),
            #[cfg(feature = "tables")]
            tables: Arc::clone(&options.tables),
            limits: limits(&shared.stop),
            ..Brief::new(&game, role)
        };
        let agent = AgentThread::new(brief, &options.agent);
        let mut agent = agent
            .map_err(|error| unplayable(vec![error.to_string()]))
            .ok()?;
        agent.set_ponders(options.ponders);
        server.log.record(Event::Started {
            id: terms.id.clone(),
            role: game.role_name(role).to_owned(),
            roles: game.roles().map(|r| game.role_name(r).to_owned()).collect(),
            start_clock: terms.start_clock,
            play_clock: terms.play_clock,
            warnings,
        });
        let progress = Progress::new(&game, role, &limits(&shared.over));
        let failed = agent.begin(Some(deadline));
        shared.finish();
        if let Some(error) = failed {
            let (id, reason) = (terms.id.clone(), error.to_string());
            server.log.record(Event::Failed { id, reason });
        }
        Some(MatchThread {
            terms,
            server,
            shared,
            progress,
            agent,
            slow: None,
        })
    }

    /// Answers requests until the match is over.
    fn run(&mut self, requests: &Receiver<MatchRequest>) {
        let mut how = "interrupted";
        let mut scores = Ok(Vec::new());
        let mut queue = VecDeque::new();
        while let Some(request) = queue.pop_front().or_else(|| requests.recv().ok()) {
            match request {
                MatchRequest::Play {
                    last,
                    received,
                    clock,
                    is_answered,
                    answer,
                } => {
                    let mut work = self.shared.work();
                    let answered = work.insert(Work::Answer(last.clone()));
                    queue.extend(requests.try_iter());
                    if queue
                        .iter()
                        .any(|next: &MatchRequest| !next.repeats(answered))
                    {
                        self.shared.stop.raise();
                    }
                    drop(work);
                    let made = self.receive(&last, is_answered);
                    let reply = self.answer(made, received, clock);
                    self.shared.finish();
                    // The connection may be closed.
                    let _ = answer.send(reply);
                }
                MatchRequest::Stop { last, is_answered } => {
                    if self.progress.needs(&last) {
                        self.receive(&last, is_answered);
                        scores = self.progress.scores();
                    }
                    how = "stop";
                    break;
                }
                MatchRequest::End(reason) => {
                    how = reason;
                    break;
                }
            }
        }
        self.shared.over.raise();
        let (scores, fault) = match scores {
            Ok(scores) => (scores, None),
            Err(PlayError::Interrupted) => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        self.server.log.record(Event::Ended {
            id: self.terms.id.clone(),
            how,
            made: self.progress.made(),
            scores,
            fault,
        });
    }

    fn answer(&mut self, made: usize, received: Instant, clock: Clock) -> Reply {
        if let Some(answered) = self.progress.answer(made) {
            return self.reply(answered);
        }
        let options = &self.server.options;
        let observation = self.progress.observation(made);
        let due = Some(clock.due);
        let answer = self.agent.choose_within(&options.agent, &observation, due);
        if let Some(error) = answer.error {
            let (id, reason) = (self.terms.id.clone(), error.to_string());
            self.server.log.record(Event::Failed { id, reason });
        }
        let late = || self.agent.choose_late(clock.last);
        let Some(advice) = answer.advice.or_else(late) else {
            return Reply::Nil;
        };
        if Instant::now() + NEARLY > clock.due {
            self.slow = Some(made);
        }
        self.progress.set_answer(made, advice.chosen);
        let reply = self.reply(advice.chosen);
        self.server.log.record(Event::Chose {
            id: self.terms.id.clone(),
            made,
            chosen: reply.to_string(),
            origin: match answer.origin {
                Origin::Agent => "agent",
                Origin::Published => "published",
                Origin::Random => "random",
            },
            value: advice.value,
            nodes: advice.nodes,
            seconds: received.elapsed().as_secs_f64(),
        });
        reply
    }

    fn reply(&mut self, chosen: Move) -> Reply {
        self.progress.text(chosen).map_or(Reply::Nil, Reply::Move)
    }

    /// Processes the last turn of a message. The result is the number of turns so far.
    fn receive(&mut self, last: &LastTurn, is_answered: bool) -> usize {
        let before = self.progress.made();
        let (made, remarks) = match self.progress.receive(last, is_answered) {
            Ok(receipt) => (receipt.made, receipt.remarks),
            Err(error) => (before, vec![error.to_string()]),
        };
        for reason in remarks {
            let id = self.terms.id.clone();
            self.server.log.record(Event::OutOfStep { id, reason });
        }
        if made == before + 1 {
            self.compare(before);
        }
        made
    }

    /// Checks whether the host played the answered move.
    fn compare(&mut self, before: usize) {
        let played = self.progress.own_move(before);
        let Some(answered) = self.progress.answer(before) else {
            return;
        };
        if self.slow == Some(before) {
            self.server.margin().was_played(played == answered);
        }
        if played != answered {
            let text = |progress: &mut Progress, chosen| progress.text(chosen).unwrap_or_default();
            self.server.log.record(Event::Replaced {
                id: self.terms.id.clone(),
                made: before,
                answered: text(&mut self.progress, answered),
                played: text(&mut self.progress, played),
            });
        }
    }
}

/// The game of a rule text and the number of warnings, or the errors.
fn read(rules: String, server: &Server, unwanted: &Stop) -> Result<(Game, usize), Vec<String>> {
    let reader = server.reader.lock();
    let reader = reader.unwrap_or_else(PoisonError::into_inner);
    let sources = Sources::from(Source::new("rules", rules));
    let reading = check::read_until(sources, &server.options.reading, unwanted);
    drop(reader);
    if unwanted.is_raised() {
        return Err(vec![
            "the match ended before the rules were read".to_owned(),
        ]);
    }
    let Some(game) = reading.game else {
        let errors = reading.findings.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        let line = |finding: &Diagnostic| {
            let place = finding.span.map(|span| reading.sources.text(span));
            let place = place.map_or(String::new(), |text| format!(": {text}"));
            let line = format!("error[{}]: {}{place}", finding.code, finding.message);
            line.chars().take(LONGEST_REASON).collect()
        };
        return Err(errors.take(MOST_REASONS).map(line).collect());
    };
    Ok((game, reading.findings.len() + reading.omitted))
}
