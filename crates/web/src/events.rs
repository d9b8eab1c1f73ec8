//! Long-running answers: server-sent events on a connection, until the client disconnects.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::answer::ApiError;
use super::memory::MemoryShare;
use super::session::Visitor;
use super::turns::Turn;
use super::workers::{self, Pace};
use super::{AppState, WebLimits};
use ggp_answers::{Allowance, Content, Listener};
use ggp_stop::Instant;

/// Maximum number of events that wait to be sent; then the producer waits, or drops some.
const WAITING: usize = 16;
/// The interval between keep-alive messages.
const ALIVE: Duration = Duration::from_secs(15);

/// The sending end of an event stream.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    events: mpsc::Sender<Result<Event, Infallible>>,
    runtime: Handle,
}

impl Sender {
    /// Sends an event. Returns whether the client is still connected.
    pub(super) async fn send(&self, name: &str, content: &impl Serialize) -> bool {
        self.events.send(Ok(event(name, content))).await.is_ok()
    }

    /// Sends an error.
    pub(super) async fn fail(&self, message: impl Into<String>) {
        let failure = Failure {
            message: message.into(),
        };
        self.send("failed", &failure).await;
    }

    /// Completes when the client disconnects.
    pub(super) async fn closed(&self) {
        self.events.closed().await;
    }
}

impl Listener for Sender {
    fn offer(&self, name: &'static str, content: &dyn Content) {
        if self.events.capacity() > 0 {
            let _ = self.events.try_send(Ok(event(name, content)));
        }
    }

    /// Must be called from a thread of [`run`].
    fn send_before(&self, name: &'static str, content: &dyn Content, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let sent = self.events.send_timeout(Ok(event(name, content)), left);
        self.runtime.block_on(sent).is_ok()
    }
}

fn event(name: &str, content: &dyn Content) -> Event {
    Event::default().event(name).data(content.json())
}

#[derive(Serialize)]
struct Failure {
    message: String,
}

/// An event stream and its sending end.
pub(super) fn channel() -> (Sender, Response) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let stream = Sse::new(ReceiverStream::new(receiver));
    let response = stream.keep_alive(KeepAlive::new().interval(ALIVE));
    let sender = Sender {
        events: sender,
        runtime: Handle::current(),
    };
    (sender, response.into_response())
}

/// The right to run one player or solver; it ends when the permit is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    pub(super) turn: Turn,
    memory: MemoryShare,
}

impl Permit {
    /// The means for its work.
    pub(super) fn allowance<'a>(&'a self, limits: &'a WebLimits) -> Allowance<'a> {
        Allowance {
            memory_bytes: self.memory.bytes(),
            time: limits.thought,
            ..self.turn.allowance(limits)
        }
    }

    /// A permit for a turn.
    pub(super) fn of(app: &AppState, turn: Turn) -> Self {
        Permit {
            turn,
            memory: app.memory.share(),
        }
    }
}

/// Grants a session one more player or solver.
///
/// # Errors
///
/// If there are too many.
pub(super) fn permit(app: &AppState, visitor: &Visitor) -> Result<Permit, ApiError> {
    let turn = app.jobs.try_take(&visitor.asker).ok_or_else(|| {
        let most = app.limits.jobs_each;
        ApiError::busy(format!(
            "you already run as many players and solvers as allowed ({most}), or the server is busy \
             with those of others: stop one, or try again soon"
        ))
    })?;
    Ok(Permit::of(app, turn))
}

/// Runs work on a thread. When the client disconnects, the work is stopped, and there is no
/// answer.
pub(super) async fn run<T: Send + 'static>(
    permit: Permit,
    work: impl FnOnce(&Permit) -> Result<T, ApiError> + Send + 'static,
    listener: Option<&Sender>,
) -> Option<Result<T, ApiError>> {
    let stop = permit.turn.stop().clone();
    let pace = permit.turn.pace(Pace::Steady);
    let work = workers::run(pace, move || work(&permit));
    let gone = async {
        match listener {
            Some(listener) => listener.closed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        done = work => {
            let fault = || Err(ApiError::rules("internal error: the work failed"));
            Some(done.unwrap_or_else(fault))
        }
        () = gone => {
            stop.raise();
            None
        }
    }
}

/// Answers with events that the work sends while it runs, and then with its result as an
/// event of the given name, or with `failed`.
pub(super) fn stream<T: Serialize + Send + Sync + 'static>(
    permit: Permit,
    name: &'static str,
    work: impl FnOnce(&Permit, &Arc<dyn Listener>) -> Result<T, ApiError> + Send + 'static,
) -> Response {
    let (sender, response) = channel();
    tokio::spawn(async move {
        let own: Arc<dyn Listener> = Arc::new(sender.clone());
        let work = move |permit: &Permit| work(permit, &own);
        match run(permit, work, Some(&sender)).await {
            Some(Ok(result)) => {
                sender.send(name, &result).await;
            }
            Some(Err(error)) => sender.fail(error.message).await,
            None => {}
        }
    });
    response
}
