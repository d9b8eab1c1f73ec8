//! Answers that take time: events on a connection, until nobody listens.

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

use super::House;
use super::answer::Refusal;
use super::session::Session;

/// Events that wait to be sent; whoever makes more waits, or leaves some out.
const WAITING: usize = 16;
/// Between signs of life.
const ALIVE: Duration = Duration::from_secs(15);

/// Where events go.
#[derive(Clone, Debug)]
pub(super) struct Sender(mpsc::Sender<Result<Event, Infallible>>);

impl Sender {
    /// Sends an event; whether anybody listens.
    pub(super) async fn send(&self, name: &str, content: &impl Serialize) -> bool {
        self.0.send(Ok(event(name, content))).await.is_ok()
    }

    /// Sends an event, unless too many wait to be sent.
    pub(super) fn offer(&self, name: &str, content: &impl Serialize) {
        if self.0.capacity() > 0 {
            let _ = self.0.try_send(Ok(event(name, content)));
        }
    }

    /// Sends an event from a thread of [`run`], which waits until there is room for it;
    /// whether there was in time, and somebody listens.
    pub(super) fn press(&self, name: &str, content: &impl Serialize, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let sent = self.0.send_timeout(Ok(event(name, content)), left);
        Handle::current().block_on(sent).is_ok()
    }

    /// Sends what went wrong.
    pub(super) async fn fail(&self, message: impl Into<String>) {
        let failure = Failure {
            message: message.into(),
        };
        self.send("failed", &failure).await;
    }

    /// Comes back when nobody listens any more.
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

/// A stream of events, and where they go in.
pub(super) fn channel() -> (Sender, Response) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let stream = Sse::new(ReceiverStream::new(receiver));
    let response = stream.keep_alive(KeepAlive::new().interval(ALIVE));
    (Sender(sender), response.into_response())
}

/// What a player or solver needs before it may begin; it ends when that is dropped.
pub(super) struct Permit {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

/// Lets one more player or solver of a session work.
///
/// # Errors
///
/// If there are too many.
pub(super) fn permit(house: &House, session: &Session) -> Result<Permit, Refusal> {
    let own = Arc::clone(&session.jobs).try_acquire_owned();
    let own = own.map_err(|_| {
        let most = house.limits.jobs_each;
        Refusal::busy(format!(
            "{most} players and solvers are at work for you already: wait for one, or stop it"
        ))
    })?;
    let all = Arc::clone(&house.jobs).try_acquire_owned();
    let all = all.map_err(|_| {
        Refusal::busy(
            "as many players and solvers are at work as the server allows: try again soon",
        )
    })?;
    Ok(Permit {
        _all: all,
        _own: own,
    })
}

/// Does work on a thread. When nobody listens any more, if somebody did, the work is to
/// stop, and there is no answer.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T, Refusal> + Send + 'static,
    listener: Option<&Sender>,
) -> Option<Result<T, Refusal>> {
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
            let fault = |_| Refusal::rules("this failed, which is a fault of this program");
            Some(done.map_err(fault).and_then(|done| done))
        }
        () = gone => {
            stop.raise();
            None
        }
    }
}

/// Answers with what work tells while it goes on, and then with what it came to, as an
/// event of a name, or with `failed`.
pub(super) fn told<T: Serialize + Send + Sync + 'static>(
    permit: Permit,
    name: &'static str,
    work: impl FnOnce(&Stop, &Sender) -> Result<T, Refusal> + Send + 'static,
) -> Response {
    let (sender, response) = channel();
    tokio::spawn(async move {
        let own = sender.clone();
        let work = move |stop: &Stop| {
            let _permit = permit;
            work(stop, &own)
        };
        match run(work, Some(&sender)).await {
            Some(Ok(came)) => {
                sender.send(name, &came).await;
            }
            Some(Err(refusal)) => sender.fail(refusal.message).await,
            None => {}
        }
    });
    response
}
