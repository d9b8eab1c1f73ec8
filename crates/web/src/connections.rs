//! Connections: bounded in number, in all and for each address, and closed when they are
//! idle or slow.
//!
//! A new connection is never refused for the sake of an idle one: beyond a limit, the one
//! that has been idle the longest is closed.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

use super::session::locked;

/// The pause after an error of the system, which may be out of files.
const PAUSE: Duration = Duration::from_millis(50);
/// The time for the answer that a connection is sending when it is closed.
const FAREWELL: Duration = Duration::from_secs(5);
/// Maximum size of the head of a request in bytes.
const HEAD: usize = 64 << 10;
/// The first byte of a greeting in TLS.
const TLS: u8 = 0x16;

/// Limits on connections.
#[derive(Copy, Clone, Debug)]
pub(super) struct ConnectionLimits {
    /// Maximum number of connections.
    pub(super) all: usize,
    /// Maximum number of connections from one address.
    pub(super) each: usize,
    /// Maximum time for a head to arrive, and for a client to take a part of an answer.
    pub(super) time: Duration,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) address: IpAddr,
    activity: Mutex<Activity>,
    close: Notify,
}

#[derive(Debug)]
struct Activity {
    /// The number of requests that are being answered.
    requests: usize,
    since: Instant,
    is_closing: bool,
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Connection>);

impl Connection {
    fn new(address: IpAddr) -> Arc<Self> {
        Arc::new(Connection {
            address,
            activity: Mutex::new(Activity {
                requests: 0,
                since: Instant::now(),
                is_closing: false,
            }),
            close: Notify::new(),
        })
    }

    /// Counts a request until the result is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        locked(&self.activity).requests += 1;
        Busy(Arc::clone(self))
    }

    /// The time since which the connection is idle, if it is.
    fn idle_since(&self) -> Option<Instant> {
        let activity = locked(&self.activity);
        (activity.requests == 0 && !activity.is_closing).then_some(activity.since)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut activity = locked(&self.0.activity);
        activity.requests -= 1;
        activity.since = Instant::now();
    }
}

/// All connections.
#[derive(Debug)]
pub(super) struct Connections {
    limits: ConnectionLimits,
    open: Mutex<Vec<Arc<Connection>>>,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Connections {
            limits,
            open: Mutex::default(),
        })
    }

    /// Accepts connections and serves them, until it is dropped.
    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener, router: Router) {
        loop {
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(_) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Some(connection) = self.admit(address.ip()) else {
                continue;
            };
            let (all, router) = (Arc::clone(&self), router.clone());
            tokio::spawn(async move {
                all.answer(&connection, stream, router).await;
                locked(&all.open).retain(|other| !Arc::ptr_eq(other, &connection));
            });
        }
    }

    /// Admits a connection, if necessary in the place of an idle one. `None` if all others
    /// are busy.
    fn admit(&self, address: IpAddr) -> Option<Arc<Connection>> {
        let mut open = locked(&self.open);
        let of_address = open.iter().filter(|other| other.address == address).count();
        let all = |_: &&Arc<Connection>| true;
        let own = |other: &&Arc<Connection>| other.address == address;
        if of_address >= self.limits.each {
            close_one(&mut open, own)?;
        } else if open.len() >= self.limits.all {
            close_one(&mut open, all)?;
        }
        let connection = Connection::new(address);
        open.push(Arc::clone(&connection));
        Some(connection)
    }

    async fn answer(&self, connection: &Arc<Connection>, stream: TcpStream, router: Router) {
        let time = self.limits.time;
        let mut first = [0];
        let seen = tokio::select! {
            seen = timeout(time, stream.peek(&mut first)) => seen,
            () = connection.close.notified() => return,
        };
        match (seen, first) {
            (Ok(Ok(1)), [TLS]) => {
                // An error of a connection is the client's affair.
                let _ = timeout(FAREWELL, refuse_tls(stream)).await;
                return;
            }
            (Ok(Ok(1)), _) => {}
            _ => return,
        }
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(time));
        let stream = TokioIo::new(Box::pin(stream));
        let service = hyper::service::service_fn(|mut request: hyper::Request<_>| {
            request.extensions_mut().insert(Arc::clone(connection));
            router.clone().call(request)
        });
        let mut builder = http1::Builder::new();
        let builder = builder
            .timer(TokioTimer::new())
            .header_read_timeout(time)
            .max_buf_size(HEAD);
        let mut served = std::pin::pin!(builder.serve_connection(stream, service));
        // An error of a connection is the client's affair.
        tokio::select! {
            _ = served.as_mut() => return,
            () = connection.close.notified() => {}
        }
        served.as_mut().graceful_shutdown();
        let _ = timeout(FAREWELL, served).await;
    }
}

/// Answers a greeting in TLS, and reads until the client closes the connection: unread data would
/// make the system reset it before the answer arrives.
async fn refuse_tls(mut stream: TcpStream) -> io::Result<()> {
    let text =
        "not an HTTP request but TLS; the address of this page begins with http, not https\n";
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    while stream.read(&mut [0; 1 << 10]).await? > 0 {}
    Ok(())
}

/// Closes the connection that has been idle the longest. `None` if all are busy.
fn close_one(
    open: &mut Vec<Arc<Connection>>,
    is_meant: impl Fn(&&Arc<Connection>) -> bool,
) -> Option<()> {
    let idle = open.iter().filter(is_meant);
    let idle = idle.filter_map(|other| Some((other.idle_since()?, other)));
    let (_, oldest) = idle.min_by_key(|(since, _)| *since)?;
    let oldest = Arc::clone(oldest);
    locked(&oldest.activity).is_closing = true;
    oldest.close.notify_one();
    open.retain(|other| !Arc::ptr_eq(other, &oldest));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_makes_room() {
        let (one, two): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let connections = Connections::new(ConnectionLimits {
            all: 4,
            each: 3,
            time: Duration::from_secs(1),
        });
        let admit = |address| connections.admit(address).expect("there is room");
        let first = admit(one);
        let busy = first.begin();
        let second = admit(one);
        let third = admit(one);
        // The address has its three: its idle one goes.
        let _fourth = admit(one);
        assert!(second.idle_since().is_none() && third.idle_since().is_some());
        assert_eq!(locked(&connections.open).len(), 3);
        // All together are four then: the next takes the place of any.
        let other = admit(two);
        let _busy = (other.begin(), third.begin(), _fourth.begin());
        assert!(connections.admit(two).is_none(), "all are busy");
        drop(busy);
        let _last = admit(two);
        assert!(first.idle_since().is_none());
    }
}
