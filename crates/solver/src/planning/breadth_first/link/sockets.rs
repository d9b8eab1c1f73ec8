//! Sockets to the other processes of a search.
//!
//! A process listens for those with a higher number and calls those with a lower one. Both
//! show that they know the secret and search the same before anything else is sent.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use hmac_sha256::HMAC;
use socket2::{SockRef, TcpKeepalive};
use timely::communication::allocator::zero_copy::stream::Stream;

use super::super::Processes;
use super::super::peers::Lost;
use ggp_stop::{Instant, Stop};

/// The time within which all processes must be there.
const ARRIVAL: Duration = Duration::from_secs(60);
/// The same after one was lost: its machine may have to start again.
const RETURN: Duration = Duration::from_secs(600);
/// The time after which a silent connection is tested, and the time between tests. After several
/// without an answer, the other machine is gone.
const SILENCE: Duration = Duration::from_secs(10);
const TEST: Duration = Duration::from_secs(5);
/// Time after which a machine that does not confirm what it gets is given up.
#[cfg(any(target_os = "android", target_os = "linux"))]
const GONE: Duration = Duration::from_secs(25);
/// The time between two attempts to call.
const PAUSE: Duration = Duration::from_millis(20);
/// The time within which a caller must say who it is.
const GREETING: Duration = Duration::from_secs(5);
const MAGIC: &[u8; 8] = b"ggp link";
/// Bytes at the beginning of a greeting: the magic bytes, the number of the process, and the proofs
/// that it knows the secret and has the same version.
const HEAD: usize = KNOWN + 32;
/// Bytes before the version.
const KNOWN: usize = 8 + 8 + 32;
/// Bytes of the digest of each other thing that must be equal.
const PART: usize = 8;
/// A thing that must be equal in all processes: its name and its digest.
pub(in super::super) type Part = (&'static str, [u8; 32]);

/// An error while the processes of a search connect.
#[derive(Debug)]
#[non_exhaustive]
pub enum LinkError {
    /// This process cannot listen at its address.
    Listen(String, io::Error),
    /// This process, at this address, did not come within this time.
    Missing(usize, String, Duration),
    /// This process searches something else, or with other options: what differs.
    Other(usize, Vec<&'static str>),
    /// An error of a connection.
    Io(io::Error),
    /// The threads of the connections cannot be started.
    Threads(String),
    /// Another process is gone before the search began.
    Lost(Lost),
    /// The search was stopped.
    Stopped,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Listen(address, error) => write!(f, "cannot listen at {address}: {error}"),
            LinkError::Missing(process, address, time) => {
                let time = match time.as_secs() / 60 {
                    1 => "a minute".to_owned(),
                    minutes => format!("{minutes} minutes"),
                };
                write!(f, "process {process} ({address}) is not there after {time}")
            }
            LinkError::Other(process, what) => {
                let verb = if what.len() == 1 { "differs" } else { "differ" };
                let what = what.join(", ");
                write!(
                    f,
                    "process {process} searches something else: {what} {verb}"
                )
            }
            LinkError::Io(error) => error.fmt(f),
            LinkError::Threads(error) => {
                write!(f, "cannot start the threads of its connections: {error}")
            }
            LinkError::Lost(lost) => lost.fmt(f),
            LinkError::Stopped => f.write_str("the search was stopped"),
        }
    }
}

/// The time left, and whether to go on.
struct Wait<'s> {
    end: Instant,
    time: Duration,
    stop: &'s Stop,
}

impl Wait<'_> {
    /// False when the time is over.
    fn goes_on(&self) -> Result<bool, LinkError> {
        match self.stop.is_over() {
            true => Err(LinkError::Stopped),
            false => Ok(Instant::now() < self.end),
        }
    }

    fn missing(&self, process: usize, address: &str) -> LinkError {
        LinkError::Missing(process, address.to_owned(), self.time)
    }
}

/// Connects to all others, by process; `None` for this one.
pub(super) fn connect(
    processes: &Processes,
    parts: &[Part],
    stop: &Stop,
) -> Result<Vec<Option<TcpStream>>, LinkError> {
    let (index, addresses) = (processes.index, &processes.addresses);
    let time = match processes.goes_on {
        true => RETURN,
        false => ARRIVAL,
    };
    let wait = Wait {
        end: Instant::now() + time,
        time,
        stop,
    };
    let hello = |process: usize| {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((process as u64).to_le_bytes());
        bytes.extend(HMAC::mac(b"secret", &processes.secret));
        bytes.extend(HMAC::mac(env!("CARGO_PKG_VERSION"), &processes.secret));
        for (_, digest) in parts {
            bytes.extend(&HMAC::mac(digest, &processes.secret)[..PART]);
        }
        bytes
    };
    let differs = |process: usize, told: &[u8]| {
        let expected = hello(process);
        if told[..HEAD] != expected[..HEAD] {
            return vec!["the version of ggp"];
        }
        let pairs = told[HEAD..].chunks(PART).zip(expected[HEAD..].chunks(PART));
        let others = parts.iter().zip(pairs).filter(|(_, (a, b))| a != b);
        others.map(|((name, _), _)| *name).collect()
    };
    let own = hello(index);
    let listener = match index + 1 < addresses.len() {
        true => {
            let listener = TcpListener::bind(&*addresses[index]);
            let listener = listener.and_then(|l| l.set_nonblocking(true).map(|()| l));
            Some(listener.map_err(|e| LinkError::Listen(addresses[index].clone(), e))?)
        }
        false => None,
    };
    let mut sockets: Vec<Option<TcpStream>> = addresses.iter().map(|_| None).collect();
    for process in 0..index {
        let (socket, told) = call(process, &addresses[process], &own, &hello, &wait)?;
        if told != hello(process) {
            return Err(LinkError::Other(process, differs(process, &told)));
        }
        sockets[process] = Some(socket);
    }
    if let Some(listener) = listener {
        while let Some(missing) = (index + 1..addresses.len()).find(|&p| sockets[p].is_none()) {
            match listener.accept() {
                Ok((socket, _)) => {
                    // Whoever is not one of the processes is sent away.
                    if let Some((process, socket, told)) = welcome(socket, &own, &hello)
                        && (index + 1..addresses.len()).contains(&process)
                    {
                        if told != hello(process) {
                            return Err(LinkError::Other(process, differs(process, &told)));
                        }
                        sockets[process] = Some(socket);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !wait.goes_on()? {
                        return Err(wait.missing(missing, &addresses[missing]));
                    }
                    thread::sleep(PAUSE);
                }
                Err(error) => return Err(LinkError::Io(error)),
            }
        }
    }
    Ok(sockets)
}

/// Calls a process until it answers: the connection, and what it told.
fn call(
    process: usize,
    address: &str,
    own: &[u8],
    hello: &dyn Fn(usize) -> Vec<u8>,
    wait: &Wait<'_>,
) -> Result<(TcpStream, Vec<u8>), LinkError> {
    let expected = hello(process);
    loop {
        // Who knows the secret may still search something else.
        if let Ok((socket, told)) = attempt(address, own, &expected)
            && told[..KNOWN] == expected[..KNOWN]
        {
            return Ok((socket, told));
        }
        if !wait.goes_on()? {
            return Err(wait.missing(process, address));
        }
        thread::sleep(PAUSE);
    }
}

fn attempt(address: &str, own: &[u8], expected: &[u8]) -> io::Result<(TcpStream, Vec<u8>)> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, GREETING) {
            Ok(mut socket) => {
                socket.set_read_timeout(Some(GREETING))?;
                prepare(&socket)?;
                socket.write_all(own)?;
                let mut told = vec![0; HEAD];
                socket.read_exact(&mut told)?;
                read_parts(&mut socket, &mut told, expected)?;
                socket.set_read_timeout(None)?;
                return Ok((socket, told));
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Sends small packets at once, and notices a machine that is gone without a word.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let tests = TcpKeepalive::new().with_time(SILENCE).with_interval(TEST);
    let options = SockRef::from(socket);
    // Tests begin only when all that was sent has arrived; before, the system would try to send it
    // again for many minutes.
    #[cfg(any(target_os = "android", target_os = "linux"))]
    options.set_tcp_user_timeout(Some(GONE))?;
    options.set_tcp_keepalive(&tests)
}

/// Reads what follows the head of a greeting, which is known for the same version only.
fn read_parts(socket: &mut TcpStream, told: &mut Vec<u8>, expected: &[u8]) -> io::Result<()> {
    if told[..] == expected[..HEAD] {
        told.resize(expected.len(), 0);
        socket.read_exact(&mut told[HEAD..])?;
    }
    Ok(())
}

/// Answers a caller: its number, the connection and what it told. `None` for those who
/// are not processes of this search.
fn welcome(
    mut socket: TcpStream,
    own: &[u8],
    hello: &dyn Fn(usize) -> Vec<u8>,
) -> Option<(usize, TcpStream, Vec<u8>)> {
    socket.set_nonblocking(false).ok()?;
    prepare(&socket).ok()?;
    socket.set_read_timeout(Some(GREETING)).ok()?;
    let mut told = vec![0; HEAD];
    socket.read_exact(&mut told).ok()?;
    let number = told[8..16].try_into().expect("there are eight bytes");
    let process = usize::try_from(u64::from_le_bytes(number)).ok()?;
    let expected = hello(process);
    if told[..KNOWN] != expected[..KNOWN] {
        return None;
    }
    socket.write_all(own).ok()?;
    read_parts(&mut socket, &mut told, &expected).ok()?;
    socket.set_read_timeout(None).ok()?;
    Some((process, socket, told))
}

/// The state of the connections.
#[derive(Clone, Default)]
pub(super) struct State(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The process that was lost first.
    lost: OnceLock<usize>,
    is_leaving: AtomicBool,
}

impl State {
    pub fn lost(&self) -> Option<Lost> {
        self.0.lost.get().map(|&process| Lost(Some(process)))
    }

    /// From now on connections may be closed.
    pub fn leave(&self) {
        self.0.is_leaving.store(true, Ordering::SeqCst);
    }
}

/// A socket that never fails: if the other process is lost, it says so and waits for the end
/// of this one, as the engine would panic.
pub(super) struct Wire {
    socket: TcpStream,
    process: usize,
    state: State,
}

impl Wire {
    pub fn new(socket: TcpStream, process: usize, state: State) -> Wire {
        Wire {
            socket,
            process,
            state,
        }
    }

    /// The other process is gone. Once all leave, this is right, as one is the first to go.
    fn lose<T>(&self, result: io::Result<T>) -> io::Result<T> {
        let _ = self.state.0.lost.set(self.process);
        while !self.state.0.is_leaving.load(Ordering::SeqCst) {
            thread::park();
        }
        result
    }
}

impl Read for Wire {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.socket.read(bytes) {
            Ok(0) if !bytes.is_empty() => self.lose(Ok(0)),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => self.lose(Err(error)),
            result => result,
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => self.lose(Err(error)),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        let socket = self.socket.try_clone()?;
        Ok(Wire::new(socket, self.process, self.state.clone()))
    }

    fn set_nonblocking(&self, is_nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(is_nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.shutdown(how)
    }
}
