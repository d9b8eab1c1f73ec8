//! Answers that take time: events on a connection, until nobody listens.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
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
        let data = serde_json::to_string(content).expect("strings and numbers are JSON");
        let event = Event::default().event(name).data(data);
        self.0.send(Ok(event)).await.is_ok()
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

/// Does work on a thread. What it reports meanwhile, the newest only, goes to a listener
/// as events of a name; when that is gone the work is given up, and there is no answer.
pub(super) async fn run<R: Serialize + Clone + Send + Sync + 'static, T: Send + 'static>(
    work: impl FnOnce(&Arc<AtomicBool>, &watch::Sender<Option<R>>) -> Result<T, Refusal>
    + Send
    + 'static,
    listener: Option<(&Sender, &str)>,
) -> Option<Result<T, Refusal>> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut reports) = watch::channel(None);
    let raised = Arc::clone(&stop);
    let mut work = tokio::task::spawn_blocking(move || work(&raised, &sender));
    loop {
        let gone = async {
            match listener {
                Some((listener, _)) => listener.0.closed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            done = &mut work => {
                let fault = |_| Refusal::rules("this failed, which is a fault of this program");
                return Some(done.map_err(fault).and_then(|done| done));
            }
            Ok(()) = reports.changed() => {
                let report = reports.borrow_and_update().clone();
                if let (Some(report), Some((listener, name))) = (report, listener) {
                    listener.send(name, &report).await;
                }
            }
            () = gone => {
                stop.store(true, Ordering::Relaxed);
                return None;
            }
        }
    }
}
