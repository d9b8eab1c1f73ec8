//! One match: a thread that hears what the host says and answers in time.

use ggp_stop::Stop;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::match_progress::{Course, Heard};
use super::{Event, LatencyMargin, Log, PlayerOptions};
use crate::protocol::message::Reply;
use crate::{Brief, Origin, Seat};
use ggp_gdl::check::{self, Keyword};
use ggp_gdl::diagnostic::{Diagnostic, Severity};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::span::{Source, Sources};

/// Reasons that are told why rules cannot be played.
const MOST_REASONS: usize = 10;
/// Characters of each.
const LONGEST_REASON: usize = 300;
/// An answer that came so shortly before its deadline took the whole clock.
const NEARLY: Duration = Duration::from_millis(50);

/// What a START says.
#[derive(Debug)]
pub(super) struct Terms {
    pub id: String,
    pub role: String,
    pub rules: String,
    pub start_clock: u32,
    pub play_clock: u32,
}

/// A match as the server sees it.
#[derive(Debug)]
pub(super) struct Table {
    pub id: String,
    pub play_clock: u32,
    asks: Sender<Ask>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Ends what the seat waits for. It is a part of `over`.
    stop: Stop,
    /// Ends the match.
    over: Stop,
    /// Ends reading the rules, of which nobody will ask more.
    unwanted: Stop,
    /// What the thread works on. Whoever asks holds it, so that nothing is begun
    /// that somebody has just put an end to.
    work: Mutex<Option<Work>>,
    /// Whether the host has our last answer.
    is_answered: AtomicBool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Work {
    Begin,
    Answer(Vec<String>),
}

#[derive(Debug)]
enum Ask {
    Play {
        moves: Vec<String>,
        received: Instant,
        deadline: Instant,
        is_answered: bool,
        answer: oneshot::Sender<Reply>,
    },
    Stop {
        moves: Vec<String>,
        is_answered: bool,
    },
    End(&'static str),
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on nothing is interrupted that was not asked for yet.
    fn finish(&self) {
        let mut work = self.work();
        *work = None;
        self.stop.lower();
    }
}

impl Ask {
    /// Whether it asks for what is worked on.
    fn repeats(&self, work: &Work) -> bool {
        match (self, work) {
            (Ask::Play { moves, .. }, Work::Answer(answered)) => moves == answered,
            _ => false,
        }
    }
}

impl Table {
    /// Begins a match. `ready` hears whether it can be played, when the agent is
    /// ready or the deadline has come; the permit is given back when nothing of
    /// the match is left.
    pub(super) fn new(
        terms: Terms,
        deadline: Instant,
        server: Arc<Server>,
        permit: OwnedSemaphorePermit,
    ) -> (Self, oneshot::Receiver<bool>) {
        let (asks, heard) = channel();
        let (ready, is_ready) = oneshot::channel();
        let over = Stop::new();
        let shared = Arc::new(Shared {
            stop: over.child(),
            over,
            ..Shared::default()
        });
        *shared.work() = Some(Work::Begin);
        let table = Table {
            id: terms.id.clone(),
            play_clock: terms.play_clock,
            asks,
            shared: Arc::clone(&shared),
        };
        std::thread::spawn(move || {
            let sitting = Sitting::new(terms, &server, &shared, deadline);
            // Nobody waits any more if the match was aborted.
            let _ = ready.send(sitting.is_some());
            if let Some(mut sitting) = sitting {
                sitting.attend(&heard);
            }
            drop(permit);
        });
        (table, is_ready)
    }

    /// Asks for a move.
    pub(super) fn ask(
        &self,
        moves: Vec<String>,
        received: Instant,
        deadline: Instant,
    ) -> oneshot::Receiver<Reply> {
        let (answer, reply) = oneshot::channel();
        self.post(Ask::Play {
            moves,
            received,
            deadline,
            is_answered: self.take_answered(),
            answer,
        });
        reply
    }

    /// Says whether the host has our answer.
    pub(super) fn was_answered(&self, is_answered: bool) {
        self.shared
            .is_answered
            .store(is_answered, Ordering::Relaxed);
    }

    fn take_answered(&self) -> bool {
        self.shared.is_answered.swap(false, Ordering::Relaxed)
    }

    /// Ends the match in the background, after these moves.
    pub(super) fn stop(self, moves: Vec<String>) {
        self.shared.unwanted.raise();
        self.post(Ask::Stop {
            is_answered: self.take_answered(),
            moves,
        });
    }

    /// Ends the match because the player goes; what is asked just now is answered
    /// with what is known. Whether there is such an answer.
    pub(super) fn leave(&self, how: &'static str) -> bool {
        let work = self.shared.work();
        let is_asked = matches!(*work, Some(Work::Answer(_)));
        drop(work);
        match is_asked {
            true => self.post(Ask::End(how)),
            false => self.end(how),
        }
        is_asked
    }

    /// Breaks the match off, whatever is going on.
    pub(super) fn abort(self, how: &'static str) {
        self.end(how);
    }

    fn end(&self, how: &'static str) {
        let work = self.shared.work();
        self.shared.over.raise();
        self.shared.unwanted.raise();
        self.shared.stop.raise();
        drop(work);
        self.post(Ask::End(how));
    }

    /// Asks, and ends what is worked on unless it is just that.
    fn post(&self, ask: Ask) {
        let work = self.shared.work();
        if work.as_ref().is_some_and(|work| !ask.repeats(work)) {
            self.shared.stop.raise();
        }
        // A match that cannot be played answers nothing.
        let _ = self.asks.send(ask);
    }
}

/// What matches have of the server.
#[derive(Debug)]
pub(super) struct Server {
    pub options: PlayerOptions,
    pub log: Log,
    pub margin: Mutex<LatencyMargin>,
    /// Whoever holds it reads rules: one at a time, which bounds the memory.
    pub reader: Mutex<()>,
}

impl Server {
    pub(super) fn margin(&self) -> MutexGuard<'_, LatencyMargin> {
        self.margin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A match as its thread sees it.
struct Sitting<'a> {
    terms: Terms,
    server: &'a Server,
    shared: &'a Shared,
    role: RoleId,
    course: Course,
    seat: Seat,
    /// The number of joint moves after which our answer took the whole clock.
    slow: Option<usize>,
}

impl<'a> Sitting<'a> {
    /// Sits down; none if the match cannot be played, which is told.
    fn new(
        mut terms: Terms,
        server: &'a Server,
        shared: &'a Shared,
        deadline: Instant,
    ) -> Option<Self> {
        let rules = std::mem::take(&mut terms.rules);
        let unplayable = |reasons| {
            let id = terms.id.clone();
            server.log.tell(Event::Unplayable { id, reasons });
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
            limits
        };
        let brief = Brief {
            play_clock: Some(Duration::from_secs(terms.play_clock.into())),
            threads: options.threads,
            memory_bytes: options.memory_bytes,
            seed: options.seed,
            limits: limits(&shared.stop),
            ..Brief::new(&game, role)
        };
        let seat = Seat::new(brief, &options.agent);
        let mut seat = seat.map_err(|error| unplayable(vec![error])).ok()?;
        seat.set_ponders(options.ponders);
        server.log.tell(Event::Started {
            id: terms.id.clone(),
            role: game.role_name(role).to_owned(),
            roles: game.roles().map(|r| game.role_name(r).to_owned()).collect(),
            start_clock: terms.start_clock,
            play_clock: terms.play_clock,
            warnings,
        });
        let course = Course::new(&game, role, &limits(&shared.over));
        let failed = seat.begin(Some(deadline));
        shared.finish();
        if let Some(error) = failed {
            let (id, reason) = (terms.id.clone(), error.to_string());
            server.log.tell(Event::Failed { id, reason });
        }
        Some(Sitting {
            terms,
            server,
            shared,
            role,
            course,
            seat,
            slow: None,
        })
    }

    /// Answers until the match is over.
    fn attend(&mut self, asks: &Receiver<Ask>) {
        let mut how = "interrupted";
        let mut scores = Vec::new();
        let mut queue = VecDeque::new();
        while let Some(ask) = queue.pop_front().or_else(|| asks.recv().ok()) {
            match ask {
                Ask::Play {
                    moves,
                    received,
                    deadline,
                    is_answered,
                    answer,
                } => {
                    let mut work = self.shared.work();
                    let answered = work.insert(Work::Answer(moves.clone()));
                    queue.extend(asks.try_iter());
                    if queue.iter().any(|next: &Ask| !next.repeats(answered)) {
                        self.shared.stop.raise();
                    }
                    drop(work);
                    let made = self.hear(&moves, is_answered);
                    let reply = self.answer(made, received, deadline);
                    self.shared.finish();
                    // The host may have given up.
                    let _ = answer.send(reply);
                }
                Ask::Stop { moves, is_answered } => {
                    if !moves.is_empty() {
                        self.hear(&moves, is_answered);
                        scores = self.course.scores().unwrap_or_default();
                    }
                    how = "stop";
                    break;
                }
                Ask::End(why) => {
                    how = why;
                    break;
                }
            }
        }
        self.shared.over.raise();
        let scores = scores.into_iter().map(|(role, score)| (role, score.get()));
        self.server.log.tell(Event::Ended {
            id: self.terms.id.clone(),
            how,
            made: self.course.played().len(),
            scores: scores.collect(),
        });
    }

    fn answer(&mut self, made: usize, received: Instant, deadline: Instant) -> Reply {
        if let Some(said) = self.course.answer(made) {
            return self.reply(said);
        }
        let options = &self.server.options;
        let (until, nodes) = options.agent.limits(Some(deadline));
        let played = &self.course.played()[..made];
        let answer = self.seat.choose(played, until, nodes);
        if let Some(error) = answer.error {
            let (id, reason) = (self.terms.id.clone(), error.to_string());
            self.server.log.tell(Event::Failed { id, reason });
        }
        let Some(advice) = answer.advice else {
            return Reply::Nil;
        };
        if Instant::now() + NEARLY > deadline {
            self.slow = Some(made);
        }
        self.course.set_answer(made, advice.chosen);
        let reply = self.reply(advice.chosen);
        self.server.log.tell(Event::Chose {
            id: self.terms.id.clone(),
            made,
            chosen: reply.to_string(),
            origin: match answer.origin {
                Origin::Agent => "agent",
                Origin::Published => "published",
                Origin::Chance => "chance",
            },
            value: advice.value,
            nodes: advice.nodes,
            seconds: received.elapsed().as_secs_f64(),
        });
        reply
    }

    fn reply(&mut self, chosen: Move) -> Reply {
        self.course.text(chosen).map_or(Reply::Nil, Reply::Move)
    }

    /// The number of joint moves after which the host is.
    fn hear(&mut self, moves: &[String], is_answered: bool) -> usize {
        let before = self.course.played().len();
        let out_of_step = |reason| Event::OutOfStep {
            id: self.terms.id.clone(),
            reason,
        };
        let made = match self.course.hear(moves, is_answered) {
            Ok(Heard::After(made)) => made,
            Ok(Heard::Guessed) => {
                let reason = "a message was lost; its moves follow from this one".to_owned();
                self.server.log.tell(out_of_step(reason));
                self.course.played().len()
            }
            Err(reason) => {
                self.server.log.tell(out_of_step(reason));
                before
            }
        };
        if made == before + 1 {
            self.compare(before);
        }
        made
    }

    /// Whether the host played our answer.
    fn compare(&mut self, before: usize) {
        let played = self.course.played()[before][self.role.index()];
        let Some(answered) = self.course.answer(before) else {
            return;
        };
        if self.slow == Some(before) {
            self.server.margin().was_played(played == answered);
        }
        if played != answered {
            let text = |course: &mut Course, chosen| course.text(chosen).unwrap_or_default();
            self.server.log.tell(Event::Replaced {
                id: self.terms.id.clone(),
                made: before,
                answered: text(&mut self.course, answered),
                played: text(&mut self.course, played),
            });
        }
    }
}

/// The game of a rule text and the number of warnings, or what is wrong with it.
fn read(rules: String, server: &Server, unwanted: &Stop) -> Result<(Game, usize), Vec<String>> {
    let reader = server.reader.lock();
    let reader = reader.unwrap_or_else(PoisonError::into_inner);
    let sources = Sources::from(Source::new("rules", rules));
    let reading = check::read_until(sources, &server.options.reading, unwanted);
    drop(reader);
    if unwanted.is_raised() {
        return Err(vec!["it ended before the rules were read".to_owned()]);
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
    if game.keyword(Keyword::Sees).is_some() {
        let reason = "the rules say what players see: games with imperfect information \
                      (GDL-II) are not played";
        return Err(vec![reason.to_owned()]);
    }
    Ok((game, reading.findings.len() + reading.omitted))
}
