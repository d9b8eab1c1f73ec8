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
use timely::communication::allocator::zero_copy::stream::Stream;

use super::super::Processes;
use super::super::peers::Lost;
use ggp_stop::{Instant, Stop};

/// The time within which all processes must be there.
const ARRIVAL: Duration = Duration::from_secs(60);
/// The time between two attempts to call.
const PAUSE: Duration = Duration::from_millis(20);
/// The time within which a caller must say who it is.
const GREETING: Duration = Duration::from_secs(5);
const MAGIC: &[u8; 8] = b"ggp link";
/// Bytes of a greeting: the magic bytes, the number of the process, and the proofs that it
/// knows the secret and searches the same.
const HELLO: usize = 8 + 8 + 32 + 32;

/// An error while the processes of a search connect.
#[derive(Debug)]
#[non_exhaustive]
pub enum LinkError {
    /// This process cannot listen at its address.
    Listen(String, io::Error),
    /// This process, at this address, did not come.
    Missing(usize, String),
    /// This process searches something else, or with other options.
    Other(usize),
    /// An error of a connection.
    Io(io::Error),
    /// An error of the dataflow engine.
    Engine(String),
    /// The search was stopped.
    Stopped,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Listen(address, error) => write!(f, "cannot listen at {address}: {error}"),
            LinkError::Missing(process, address) => {
                write!(
                    f,
                    "process {process} ({address}) is not there after a minute"
                )
            }
            LinkError::Other(process) => write!(
                f,
                "process {process} searches something else: the rules, the options or the \
                 version differ"
            ),
            LinkError::Io(error) => error.fmt(f),
            LinkError::Engine(text) => f.write_str(text),
            LinkError::Stopped => f.write_str("the search was stopped"),
        }
    }
}

/// The time left, and whether to go on.
struct Wait<'s> {
    end: Instant,
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
}

/// Connects to all others, by process; `None` for this one.
pub(super) fn connect(
    processes: &Processes,
    digest: [u8; 32],
    stop: &Stop,
) -> Result<Vec<Option<TcpStream>>, LinkError> {
    let (index, addresses) = (processes.index, &processes.addresses);
    let wait = Wait {
        end: Instant::now() + ARRIVAL,
        stop,
    };
    let hello = |process: usize| {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((process as u64).to_le_bytes());
        bytes.extend(HMAC::mac(b"secret", &processes.secret));
        bytes.extend(HMAC::mac(digest, &processes.secret));
        bytes
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
        sockets[process] = Some(call(process, &addresses[process], &own, &hello, &wait)?);
    }
    if let Some(listener) = listener {
        while let Some(missing) = (index + 1..addresses.len()).find(|&p| sockets[p].is_none()) {
            match listener.accept() {
                Ok((socket, _)) => {
                    // Whoever is not one of the processes is sent away.
                    if let Some((process, socket)) = welcome(socket, &own, &hello)
                        && (index + 1..addresses.len()).contains(&process)
                    {
                        let socket = socket.ok_or(LinkError::Other(process))?;
                        sockets[process] = Some(socket);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !wait.goes_on()? {
                        return Err(LinkError::Missing(missing, addresses[missing].clone()));
                    }
                    thread::sleep(PAUSE);
                }
                Err(error) => return Err(LinkError::Io(error)),
            }
        }
    }
    Ok(sockets)
}

/// Calls a process until it answers.
fn call(
    process: usize,
    address: &str,
    own: &[u8],
    hello: &dyn Fn(usize) -> Vec<u8>,
    wait: &Wait<'_>,
) -> Result<TcpStream, LinkError> {
    loop {
        let answered = attempt(address, own);
        match answered {
            Ok((socket, told)) if told == hello(process) => return Ok(socket),
            // It knows the secret but searches something else.
            Ok((_, told)) if told[..HELLO - 32] == hello(process)[..HELLO - 32] => {
                return Err(LinkError::Other(process));
            }
            _ => {}
        }
        if !wait.goes_on()? {
            return Err(LinkError::Missing(process, address.to_owned()));
        }
        thread::sleep(PAUSE);
    }
}

fn attempt(address: &str, own: &[u8]) -> io::Result<(TcpStream, Vec<u8>)> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, GREETING) {
            Ok(mut socket) => {
                socket.set_read_timeout(Some(GREETING))?;
                socket.set_nodelay(true)?;
                socket.write_all(own)?;
                let mut told = vec![0; HELLO];
                socket.read_exact(&mut told)?;
                socket.set_read_timeout(None)?;
                return Ok((socket, told));
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Answers a caller: its number, and the socket if it searches the same. `None` for those who
/// are not processes of this search.
fn welcome(
    mut socket: TcpStream,
    own: &[u8],
    hello: &dyn Fn(usize) -> Vec<u8>,
) -> Option<(usize, Option<TcpStream>)> {
    socket.set_nonblocking(false).ok()?;
    socket.set_nodelay(true).ok()?;
    socket.set_read_timeout(Some(GREETING)).ok()?;
    let mut told = vec![0; HELLO];
    socket.read_exact(&mut told).ok()?;
    let number = told[8..16].try_into().expect("there are eight bytes");
    let process = usize::try_from(u64::from_le_bytes(number)).ok()?;
    let expected = hello(process);
    if told[..HELLO - 32] != expected[..HELLO - 32] {
        return None;
    }
    socket.write_all(own).ok()?;
    socket.set_read_timeout(None).ok()?;
    Some((process, (told == expected).then_some(socket)))
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
