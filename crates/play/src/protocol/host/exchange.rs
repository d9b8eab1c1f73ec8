//! One message to a player and its answer, over a new connection.
//!
//! In: bytes and a time limit. Out: the body of the answer. The request is identical to that
//! of the reference host. Answers are read without a library, because players often send
//! invalid HTTP: a single header line, bare line feeds, a missing or wrong length.

use crate::protocol::message::trimmed;
use ggp_gdl::counted::counted;
use ggp_stop::{Instant, Stop};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The default port of players.
pub const DEFAULT_PORT: u16 = 9147;
/// The interval at which a wait checks for interrupts.
const TICK: Duration = Duration::from_millis(20);

/// The address of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    host: String,
    path: String,
    sockets: Vec<SocketAddr>,
}

impl Address {
    /// Returns true if both addresses may belong to the same player.
    pub fn shares(&self, other: &Address) -> bool {
        self.path == other.path
            && self
                .sockets
                .iter()
                .any(|place| other.sockets.contains(place))
    }
}

/// The reason why a text is not a valid [`Address`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AddressError {
    /// The scheme is not `http`.
    NotHttp(String),
    /// The text has a user name or a password.
    User,
    /// The text is not a valid address.
    Malformed(String),
    /// The port is not a number from 0 to 65535.
    Port(String),
    /// The host name cannot be resolved.
    Unknown(String, io::Error),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::NotHttp(text) => {
                write!(f, "`{text}` is not http, the only protocol of players")
            }
            AddressError::User => f.write_str(
                "an address must not contain `@`: players have no user names and passwords",
            ),
            AddressError::Malformed(text) => write!(
                f,
                "`{text}` is not a valid address; expected for example \
                 http://localhost:{DEFAULT_PORT}"
            ),
            AddressError::Port(port) => write!(f, "`{port}` is not a port number"),
            AddressError::Unknown(host, error) => write!(f, "cannot resolve {host}: {error}"),
        }
    }
}

impl std::error::Error for AddressError {}

impl FromStr for Address {
    type Err = AddressError;

    /// Reads `http://HOST:PORT/PATH`, of which only the host is required, and resolves the
    /// host.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        // Other errors show the text, in which a password might be.
        if text.contains('@') {
            return Err(AddressError::User);
        }
        let scheme = "http://";
        let rest = match text.get(..scheme.len()) {
            Some(start) if start.eq_ignore_ascii_case(scheme) => &text[scheme.len()..],
            _ => text,
        };
        if rest.contains("://") {
            return Err(AddressError::NotHttp(text.to_owned()));
        }
        let (place, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        // The last colon separates the port unless it is inside brackets.
        let split = place
            .rsplit_once(':')
            .filter(|(_, port)| !port.contains(']'));
        let (host, port) = match split {
            None => (place, DEFAULT_PORT),
            Some((host, port)) => {
                let number = port.parse();
                let port = number.map_err(|_| AddressError::Port(port.to_owned()))?;
                (host, port)
            }
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(AddressError::Malformed(text.to_owned()));
        }
        let found = (host, port).to_socket_addrs();
        let sockets = found.map_err(|error| AddressError::Unknown(host.to_owned(), error))?;
        Ok(Address {
            host: host.to_owned(),
            path: path.to_owned(),
            sockets: sockets.collect(),
        })
    }
}

/// The parts of a request apart from the message.
#[derive(Copy, Clone, Debug)]
pub struct Envelope<'a> {
    /// The player's name; may be empty.
    pub receiver: &'a str,
    /// Additional headers.
    pub headers: &'a [(&'static str, String)],
}

/// The limits of an exchange.
#[derive(Clone, Debug)]
pub struct Patience<'a> {
    /// The time limit for connecting.
    pub connect: Duration,
    /// The time limit from then until the last byte of the answer.
    pub answer: Duration,
    /// The most bytes of the answer, including headers.
    pub bytes: usize,
    /// Ends the exchange when raised; `None` for messages that must always be sent.
    pub stop: Option<&'a Stop>,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub enum ExchangeError {
    /// The connection failed.
    Broken(io::Error),
    /// The time is over.
    Late,
    /// The answer has more bytes than this limit.
    TooLarge(usize),
    /// The answer is not valid HTTP.
    NotHttp,
    /// The exchange was interrupted.
    Interrupted,
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeError::Broken(error) => error.fmt(f),
            ExchangeError::Late => f.write_str("no answer in time"),
            ExchangeError::TooLarge(most) => write!(f, "more than {}", counted(most, "byte")),
            ExchangeError::NotHttp => f.write_str("the answer is not HTTP"),
            ExchangeError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ExchangeError {}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        ExchangeError::Broken(error)
    }
}

/// The request in the form of the reference host, except that the length is in bytes.
pub fn request(address: &Address, envelope: &Envelope<'_>, message: &str) -> Vec<u8> {
    let mut head = format!(
        "POST {} HTTP/1.0\r\nAccept: text/delim\r\nHost: {}\r\nSender: GAMESERVER\r\n\
         Receiver: {}\r\n",
        address.path, address.host, envelope.receiver
    );
    for (name, value) in envelope.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!(
        "Content-Type: text/acl\r\nContent-Length: {}\r\n\r\n",
        message.len()
    );
    [head.as_bytes(), message.as_bytes()].concat()
}

/// Sends a message and waits for the answer.
///
/// # Errors
///
/// The reason why there is no answer.
pub fn exchange(
    address: &Address,
    envelope: &Envelope<'_>,
    message: &str,
    patience: &Patience<'_>,
) -> Result<String, ExchangeError> {
    let mut stream = connect(address, patience)?;
    let end = Instant::now() + patience.answer;
    stream.set_read_timeout(Some(TICK))?;
    stream.set_write_timeout(Some(TICK))?;
    // The message is written at once, so delayed sending is switched off.
    stream.set_nodelay(true)?;
    let request = request(address, envelope, message);
    let mut sent = 0;
    while sent < request.len() {
        patience.check(end)?;
        match stream.write(&request[sent..]) {
            // The player may have answered without reading everything.
            Ok(0) => break,
            Ok(count) => sent += count,
            Err(error) if is_tick(&error) => {}
            Err(_) => break,
        }
    }
    let mut answer = Vec::new();
    let mut portion = [0; 4096];
    loop {
        patience.check(end)?;
        let ended = match stream.read(&mut portion) {
            Ok(0) => true,
            Ok(count) => {
                answer.extend_from_slice(&portion[..count]);
                false
            }
            Err(error) if is_tick(&error) => continue,
            // The player may have answered before it closed the connection.
            Err(_) if !answer.is_empty() => true,
            Err(error) => return Err(error.into()),
        };
        if answer.len() > patience.bytes {
            return Err(ExchangeError::TooLarge(patience.bytes));
        }
        if let Some(body) = body(&answer, ended)? {
            return Ok(trimmed(&String::from_utf8_lossy(&body)).to_owned());
        }
    }
}

impl Patience<'_> {
    fn check(&self, end: Instant) -> Result<(), ExchangeError> {
        if self.stop.is_some_and(Stop::is_raised) {
            return Err(ExchangeError::Interrupted);
        }
        match Instant::now() >= end {
            true => Err(ExchangeError::Late),
            false => Ok(()),
        }
    }
}

/// Returns true if an error is only a timeout.
fn is_tick(error: &io::Error) -> bool {
    let ticks = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ];
    ticks.contains(&error.kind())
}

fn connect(address: &Address, patience: &Patience<'_>) -> Result<TcpStream, ExchangeError> {
    let end = Instant::now() + patience.connect;
    let (sender, connected) = channel();
    let (sockets, time) = (address.sockets.clone(), patience.connect);
    // Connecting cannot be interrupted, so it runs on a thread that may be abandoned.
    std::thread::Builder::new().spawn(move || {
        let mut result = Err(io::Error::from(ErrorKind::NotFound));
        for socket in sockets {
            result = TcpStream::connect_timeout(&socket, time);
            if result.is_ok() {
                break;
            }
        }
        let _ = sender.send(result);
    })?;
    loop {
        match connected.recv_timeout(TICK) {
            Ok(result) => return Ok(result?),
            Err(RecvTimeoutError::Timeout) => patience.check(end)?,
            Err(RecvTimeoutError::Disconnected) => return Err(ExchangeError::Late),
        }
    }
}

/// The body of an answer if it is complete; `ended` is whether the connection is closed.
fn body(mut answer: &[u8], ended: bool) -> Result<Option<Vec<u8>>, ExchangeError> {
    let (head, rest) = loop {
        let start = &answer[..answer.len().min(5)];
        if !b"HTTP/"[..start.len()].eq_ignore_ascii_case(start) {
            return Err(ExchangeError::NotHttp);
        }
        let Some((head, rest)) = split_head(answer) else {
            return if ended {
                Err(ExchangeError::Broken(ErrorKind::UnexpectedEof.into()))
            } else {
                Ok(None)
            };
        };
        let head = String::from_utf8_lossy(head);
        if !is_interim(&head) {
            break (head, rest);
        }
        answer = rest;
    };
    let header = |wanted: &str| {
        let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
        found.next().map(|(_, value)| value.trim().to_owned())
    };
    let coding = header("transfer-encoding");
    if coding.is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return Ok(unchunked(rest, ended));
    }
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    Ok(match length {
        Some(length) if rest.len() >= length => Some(rest[..length].to_vec()),
        // Without a length, or with one that is too large, the body ends with the connection.
        _ => ended.then(|| rest.to_vec()),
    })
}

/// Returns true if another answer follows: the status is 100 to 199.
fn is_interim(head: &str) -> bool {
    let status = head.split_ascii_whitespace().nth(1).unwrap_or_default();
    status.len() == 3 && status.starts_with('1') && status.bytes().all(|b| b.is_ascii_digit())
}

/// The parts before and after the first empty line.
fn split_head(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut line = 0;
    for (at, _) in answer
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
    {
        if matches!(&answer[line..at], b"" | b"\r") {
            return Some((&answer[..line], &answer[at + 1..]));
        }
        line = at + 1;
    }
    None
}

/// The joined chunks.
fn unchunked(mut rest: &[u8], ended: bool) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = rest.iter().position(|byte| *byte == b'\n');
        let size = line.and_then(|line| {
            let text = std::str::from_utf8(&rest[..line]).ok()?;
            let digits = text.split(';').next().unwrap_or_default().trim();
            Some((line, usize::from_str_radix(digits, 16).ok()?))
        });
        let Some((line, size)) = size else {
            return ended.then_some(whole);
        };
        rest = &rest[line + 1..];
        if size == 0 {
            return Some(whole);
        }
        if rest.len() < size {
            return ended.then(|| [&whole[..], rest].concat());
        }
        whole.extend_from_slice(&rest[..size]);
        rest = &rest[size..];
        // The line break after the chunk.
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_the_reference_hosts() {
        let address: Address = "http://127.0.0.1:9".parse().unwrap();
        let headers = [("GGP-Match-Step", "3".to_owned())];
        let envelope = Envelope {
            receiver: "",
            headers: &headers,
        };
        let found = String::from_utf8(request(&address, &envelope, "( INFO )")).unwrap();
        let expected = "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\n\
                        Sender: GAMESERVER\r\nReceiver: \r\nGGP-Match-Step: 3\r\n\
                        Content-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )";
        assert_eq!(found, expected);
    }

    #[test]
    fn addresses_need_only_a_host() {
        let port = |text: &str| text.parse::<Address>().map(|a| a.sockets[0].port());
        assert_eq!(port("127.0.0.1").unwrap(), DEFAULT_PORT);
        assert_eq!(port("http://127.0.0.1:80/a/b").unwrap(), 80);
        assert_eq!(port("http://[::1]:81").unwrap(), 81);
        assert_eq!(port("HTTP://127.0.0.1:82").unwrap(), 82);
        assert_eq!(port("[::1]").unwrap(), DEFAULT_PORT);
        for text in [
            "",
            "http://",
            "https://a",
            "127.0.0.1:x",
            "127.0.0.1:99999",
            "127.0.0.1/ b",
        ] {
            assert!(port(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_do_not_show_a_password() {
        for scheme in ["http://", "https://", "", "ftp://"] {
            for rest in ["me:secret@a", "me:secret@a:9147", "me:sec/ret@a", "secret@"] {
                let error = format!("{scheme}{rest}").parse::<Address>().unwrap_err();
                assert!(!error.to_string().contains("sec"), "{error}");
            }
        }
    }

    #[test]
    fn interim_answers_are_skipped_wherever_they_are_split() {
        let last = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready";
        for status in 100..200 {
            let interim = format!("HTTP/1.1 {status} Wait\r\nLink: </a>; rel=b\r\n\r\n");
            for count in 1..4 {
                let answer = interim.repeat(count) + last;
                for end in 0..answer.len() {
                    let found = body(&answer.as_bytes()[..end], false);
                    assert!(matches!(found, Ok(None)), "{:?}", &answer[..end]);
                }
                check(&answer, Some("ready"), Some("ready"));
            }
            let broken = body(interim.as_bytes(), true);
            assert!(matches!(broken, Err(ExchangeError::Broken(_))), "{status}");
        }
        for status in ["10", "1000", "1xx", "200", "404"] {
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nab");
            check(&answer, Some("ab"), Some("ab"));
        }
        // The depth of the stack does not depend on the answer.
        let many = "HTTP/1.1 100\n\n".repeat(100_000) + last;
        check(&many, Some("ready"), Some("ready"));
    }

    fn check(answer: &str, whole: Option<&str>, ended: Option<&str>) {
        let found = |ended| body(answer.as_bytes(), ended).unwrap();
        let text = |body: &str| body.as_bytes().to_vec();
        assert_eq!(found(false), whole.map(text), "{answer:?}");
        assert_eq!(found(true), ended.map(text), "{answer:?}, ended");
    }

    #[test]
    fn answers_are_read_however_they_are_written() {
        let length = "HTTP/1.0 200 OK\r\nContent-length: 4\r\n\r\n";
        check(&format!("{length}noop"), Some("noop"), Some("noop"));
        check(
            &format!("{length}noop and more"),
            Some("noop"),
            Some("noop"),
        );
        check(&format!("{length}no"), None, Some("no"));
        check("HTTP/1.0 200 OK\n\nnoop", None, Some("noop"));
        check(
            "HTTP/1.1 200\njunk\n: x\ncontent-LENGTH:2\n\nab",
            Some("ab"),
            Some("ab"),
        );
        check(
            "HTTP/1.1 500 No\r\nContent-Length: x\r\n\r\nab",
            None,
            Some("ab"),
        );
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunks = format!("{chunked}2\r\nno\r\n2;x=y\r\nop\r\n0\r\n\r\n");
        check(&chunks, Some("noop"), Some("noop"));
        check(&format!("{chunked}2\r\nno\r\n9\r\nop"), None, Some("noop"));
        check(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\n\na",
            None,
            Some("a"),
        );
    }

    #[test]
    fn invalid_http_is_rejected_at_once() {
        for text in ["noop", "SSH-2.0", "HTTX"] {
            assert!(body(text.as_bytes(), false).is_err(), "{text}");
        }
        assert!(body(b"HTTP/1.0 200 OK\r\n", true).is_err());
        assert!(body(b"", true).is_err());
    }
}
