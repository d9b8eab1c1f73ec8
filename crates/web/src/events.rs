//! Long-running answers: server-sent events on a connection, until the client disconnects.

use ggp_stop::Stop;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::AppState;
use super::answer::ApiError;
use super::session::Session;

/// Maximum number of events that wait to be sent; then the producer waits, or drops some.
const WAITING: usize = 16;
/// The interval between keep-alive messages.
const ALIVE: Duration = Duration::from_secs(15);

/// The sending end of an event stream.
#[derive(Clone, Debug)]
pub(super) struct Sender(mpsc::Sender<Result<Event, Infallible>>);

impl Sender {
    /// Sends an event. Returns whether the client is still connected.
    pub(super) async fn send(&self, name: &str, content: &impl Serialize) -> bool {
        self.0.send(Ok(event(name, content))).await.is_ok()
    }

    /// Sends an event, unless too many events wait to be sent.
    pub(super) fn offer(&self, name: &str, content: &impl Serialize) {
        if self.0.capacity() > 0 {
            let _ = self.0.try_send(Ok(event(name, content)));
        }
    }

    /// Sends an event from a thread of [`run`], waiting until there is room for it. Returns
    /// whether it was sent in time to a connected client.
    pub(super) fn send_before(&self, name: &str, content: &impl Serialize, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let sent = self.0.send_timeout(Ok(event(name, content)), left);
        Handle::current().block_on(sent).is_ok()
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
        self.0.closed().await;
    }
}

fn event(name: &str, content: &impl Serialize) -> Event {
    let data = serde_json::to_string(content).expect("strings and numbers are JSON");
    Event::default().event(name).data(data)
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
    (Sender(sender), response.into_response())
}

/// The right to run one player or solver; it ends when the permit is dropped.
pub(super) struct Permit {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

/// Grants a session one more player or solver.
///
/// # Errors
///
/// If there are too many.
pub(super) fn permit(app: &AppState, session: &Session) -> Result<Permit, ApiError> {
    let own = Arc::clone(&session.jobs).try_acquire_owned();
    let own = own.map_err(|_| {
        let most = app.limits.jobs_each;
        ApiError::busy(format!(
            "you already run {most} players and solvers: wait for one to finish, or stop one"
        ))
    })?;
    let all = Arc::clone(&app.jobs).try_acquire_owned();
    let all = all.map_err(|_| {
        ApiError::busy("the server is busy with other players and solvers: try again soon")
    })?;
    Ok(Permit {
        _all: all,
        _own: own,
    })
}

/// Runs work on a thread. When the client disconnects, the work is stopped, and there is no
/// answer.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    listener: Option<&Sender>,
) -> Option<Result<T, ApiError>> {
    let stop = Stop::new();
    let raised = stop.clone();
    let work = tokio::task::spawn_blocking(move || work(&raised));
    let gone = async {
        match listener {
            Some(listener) => listener.closed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        done = work => {
            let fault = |_| ApiError::rules("internal error: the work failed");
            Some(done.map_err(fault).and_then(|done| done))
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
    work: impl FnOnce(&Stop, &Sender) -> Result<T, ApiError> + Send + 'static,
) -> Response {
    let (sender, response) = channel();
    tokio::spawn(async move {
        let own = sender.clone();
        let work = move |stop: &Stop| {
            let _permit = permit;
            work(stop, &own)
        };
        match run(work, Some(&sender)).await {
            Some(Ok(result)) => {
                sender.send(name, &result).await;
            }
            Some(Err(error)) => sender.fail(error.message).await,
            None => {}
        }
    });
    response
}
