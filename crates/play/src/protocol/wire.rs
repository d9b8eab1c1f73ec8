//! The HTTP server side of the protocol.
//!
//! In: a connection. Out: message texts, one for each request. Headers are parsed by
//! httparse. Bodies are read here, because a server library trusts the Content-Length header,
//! and many hosts count characters instead of bytes or omit it. A message is complete when
//! its brackets are balanced. The meaning of messages is not known here.

mod body;

use ggp_stop::Instant;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::message::trimmed;
use body::Framing;

/// Limits on the requests of a peer.
#[derive(Clone, Debug)]
pub struct WireLimits {
    /// The most bytes of a header block, and of a body.
    pub bytes: usize,
    /// The most bytes of all unanswered requests, counted in [`WireLimits::held`].
    pub all_bytes: usize,
    /// The longest silence. A peer that sends fewer than [`SLOWEST`] bytes a second counts as
    /// silent.
    pub idle: Duration,
    /// The bytes of unanswered requests over all connections.
    pub held: Arc<AtomicUsize>,
}

/// The least bytes a second of a peer that is not silent.
pub const SLOWEST: u64 = 16 << 10;
/// The time to wait for more of a message that may be complete.
const GRACE: Duration = Duration::from_millis(500);
/// The time for the peer to close the connection.
const LINGER: Duration = Duration::from_secs(1);
/// The most bytes of a method.
const METHOD: usize = 64;
/// The first byte of a greeting in TLS.
const TLS: u8 = 0x16;
/// The most header lines.
const HEADERS: usize = 100;
/// The approximate number of bytes to read at once.
const PORTION: usize = 16 << 10;

/// A request of a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The message; `None` for an OPTIONS request.
    pub message: Option<String>,
    /// The time of its first byte.
    pub received: Instant,
    /// The form of the response.
    pub manner: Manner,
}

/// The HTTP features of the peer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Manner {
    is_newer: bool,
    /// True if the response has no body: the method is HEAD.
    has_no_body: bool,
    /// True if more requests may follow the response.
    pub stays_open: bool,
}

impl Manner {
    /// HTTP/1.0, after which the connection is closed.
    const PLAIN: Manner = Manner {
        is_newer: false,
        has_no_body: false,
        stays_open: false,
    };
}

/// The reason why there is no request.
#[derive(Debug)]
pub enum WireError {
    /// The peer closed the connection, between requests or within one.
    Closed,
    /// The request was not received in time.
    Late,
    /// The request exceeds the limits.
    TooLarge,
    /// The request is not valid HTTP.
    NotHttp(&'static str),
    /// The method is not GET, HEAD, POST or OPTIONS.
    Method,
    /// The connection failed.
    Io(io::Error),
}

impl WireError {
    /// The status of the response, unless the connection is closed.
    pub fn status(&self) -> Option<&'static str> {
        match self {
            WireError::Closed | WireError::Io(_) => None,
            WireError::Late => Some("408 Request Timeout"),
            WireError::TooLarge => Some("413 Content Too Large"),
            WireError::NotHttp(_) => Some("400 Bad Request"),
            WireError::Method => Some("405 Method Not Allowed"),
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Closed => f.write_str("the peer closed the connection"),
            WireError::Late => f.write_str("the request was not received in time"),
            WireError::TooLarge => f.write_str("the request is too large"),
            WireError::NotHttp(what) => f.write_str(what),
            WireError::Method => f.write_str("only GET, HEAD, POST and OPTIONS are served"),
            WireError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WireError {}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        WireError::Io(error)
    }
}

/// A connection to a peer.
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    /// The received bytes that are not processed yet.
    buffer: Vec<u8>,
    /// The bytes of it that are counted in [`WireLimits::held`].
    counted: usize,
    /// True if a response was sent.
    was_answered: bool,
    limits: WireLimits,
}

impl<S> Connection<S> {
    fn count(&mut self, bytes: usize) {
        let held = &self.limits.held;
        held.fetch_sub(self.counted, Ordering::Relaxed);
        held.fetch_add(bytes, Ordering::Relaxed);
        self.counted = bytes;
    }
}

impl<S> Drop for Connection<S> {
    fn drop(&mut self) {
        self.count(0);
    }
}

/// The information of the headers about the body.
#[derive(Debug)]
struct Head {
    method: String,
    path: String,
    is_newer: bool,
    framing: Framing,
    stays_open: bool,
    expects: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A new connection.
    pub fn new(stream: S, limits: WireLimits) -> Self {
        Connection {
            stream,
            buffer: Vec::new(),
            counted: 0,
            was_answered: false,
            limits,
        }
    }

    /// Waits for a request.
    ///
    /// # Errors
    ///
    /// If there is no request. The connection can then only be used for a response.
    pub async fn request(&mut self) -> Result<Request, WireError> {
        let began = Instant::now();
        // Some hosts send a line break after the counted body.
        while self.buffer.is_empty() {
            match self.fill(began + self.limits.idle, 0).await {
                // The peer does not expect a response here, and would take it for that to its
                // next request.
                Err(WireError::Late) if self.was_answered => return Err(WireError::Closed),
                filled => filled?,
            }
            self.skip_line_breaks();
        }
        let received = Instant::now();
        let head = self.head(received).await?;
        let mut manner = Manner {
            is_newer: head.is_newer,
            has_no_body: head.method == "HEAD",
            stays_open: head.stays_open,
        };
        let message = match head.method.as_str() {
            "GET" | "HEAD" => Some(decoded(&head.path)),
            "OPTIONS" => {
                // A request without a body; anything after the header block is ignored.
                manner.stays_open &= matches!(head.framing, Framing::Unknown);
                None
            }
            "POST" => {
                if matches!(head.framing, Framing::Length(bytes) if bytes > self.limits.bytes) {
                    return Err(WireError::TooLarge);
                }
                let nothing_came = self.buffer.is_empty();
                if head.expects && head.is_newer && nothing_came {
                    self.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
                }
                let body = self.body(head.framing, received).await?;
                manner.stays_open &= body.is_exact;
                Some(text(body.bytes))
            }
            _ => return Err(WireError::Method),
        };
        if self.buffer.is_empty() {
            // The buffer of a long message is freed before the search for an answer.
            self.buffer = Vec::new();
        }
        // The message counts as held until it is answered.
        self.count(self.buffer.len() + message.as_ref().map_or(0, String::len));
        Ok(Request {
            message,
            received,
            manner,
        })
    }

    async fn head(&mut self, received: Instant) -> Result<Head, WireError> {
        let mut searched = 0;
        loop {
            check_start(&self.buffer)?;
            if let Some(end) = head_end(&self.buffer, searched) {
                let head = parse_head(&self.buffer[..end]);
                self.buffer.drain(..end);
                return head;
            }
            searched = self.buffer.len().saturating_sub(3);
            if self.buffer.len() > self.limits.bytes {
                return Err(WireError::TooLarge);
            }
            let deadline = self.deadline(received, self.buffer.len());
            match self.fill(deadline, 0).await {
                Ok(()) => {}
                Err(WireError::Closed) => {
                    return Err(WireError::NotHttp("the header block has no end"));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The time at which a peer that has sent `bytes` bytes since `since` counts as silent.
    fn deadline(&self, since: Instant, bytes: usize) -> Instant {
        since + self.limits.idle + Duration::from_secs(bytes as u64 / SLOWEST)
    }

    /// Reads more into the buffer, in addition to the other bytes held for the request.
    async fn fill(&mut self, deadline: Instant, other: usize) -> Result<(), WireError> {
        self.count(self.buffer.len() + other);
        // Short requests are accepted even when others hold too many bytes.
        let held = self.limits.held.load(Ordering::Relaxed);
        if held > self.limits.all_bytes && self.counted > PORTION {
            return Err(WireError::TooLarge);
        }
        self.buffer.reserve(PORTION);
        let left = deadline.saturating_duration_since(Instant::now());
        match timeout(left, self.stream.read_buf(&mut self.buffer)).await {
            Err(_) => Err(WireError::Late),
            Ok(Ok(0)) => Err(WireError::Closed),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.into()),
        }
    }

    fn skip_line_breaks(&mut self) {
        let breaks = self.buffer.iter().take_while(|b| b"\r\n".contains(b));
        let breaks = breaks.count();
        self.buffer.drain(..breaks);
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = timeout(self.limits.idle, async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        });
        sent.await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// The error of writing.
    pub async fn answer(&mut self, manner: Manner, status: &str, body: &str) -> io::Result<()> {
        let version = match manner.is_newer {
            true => "1.1",
            false => "1.0",
        };
        let connection = match (manner.is_newer, manner.stays_open) {
            (_, true) => "Connection: keep-alive\r\n",
            (true, false) => "Connection: close\r\n",
            (false, false) => "",
        };
        let length = body.len();
        // The reference player misspells a header. Both spellings are sent, for peers that rely
        // on the wrong one.
        let answer = format!(
            "HTTP/{version} {status}\r\n\
             Content-type: text/acl\r\n\
             Content-length: {length}\r\n\
             Access-Control-Allow-Origin: *\r\n\
             Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
             Access-Control-Allow-Headers: Content-Type\r\n\
             Access-Control-Allow-Age: 86400\r\n\
             Access-Control-Max-Age: 86400\r\n\
             {connection}\r\n{body}"
        );
        let sent = if manner.has_no_body {
            &answer[..answer.len() - length]
        } else {
            &answer
        };
        self.was_answered = true;
        self.count(self.buffer.len());
        self.send(sent.as_bytes()).await
    }

    /// Sends an error response, if the connection allows it.
    pub async fn refuse(&mut self, error: &WireError) {
        if let Some(status) = error.status() {
            // The peer may be gone.
            let _ = self.answer(Manner::PLAIN, status, &error.to_string()).await;
        }
    }

    /// Closes the connection so that the peer still receives the response. Unread data would
    /// make the system reset the connection.
    pub async fn close(mut self) {
        let linger = async {
            self.stream.shutdown().await?;
            self.buffer.clear();
            self.buffer.reserve(PORTION);
            while self.stream.read_buf(&mut self.buffer).await? > 0 {
                self.buffer.clear();
            }
            io::Result::Ok(())
        };
        // Further data of the peer is discarded.
        let _ = timeout(LINGER, linger).await;
    }
}

/// Checks the first bytes of a request, so that a peer that does not speak HTTP gets an answer at
/// once.
fn check_start(bytes: &[u8]) -> Result<(), WireError> {
    let is_of_method =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    match bytes.iter().find(|byte| !is_of_method(byte)) {
        None if bytes.len() <= METHOD => Ok(()),
        Some(b' ') => Ok(()),
        _ if bytes[0] == TLS => Err(WireError::NotHttp(
            "not an HTTP request but TLS; the address of this player begins with http, not https",
        )),
        _ => Err(WireError::NotHttp("not an HTTP request")),
    }
}

/// The end of the header block, after its first empty line.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = &bytes[from..];
    let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    for (at, _) in ends {
        match &rest[at + 1..] {
            [b'\n', ..] => return Some(from + at + 2),
            [b'\r', b'\n', ..] => return Some(from + at + 3),
            _ => {}
        }
    }
    None
}

fn parse_head(bytes: &[u8]) -> Result<Head, WireError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let mut config = httparse::ParserConfig::default();
    config
        .allow_multiple_spaces_in_request_line_delimiters(true)
        .ignore_invalid_headers_in_requests(true);
    let parsed = config.parse_request(&mut request, bytes);
    let is_whole = matches!(parsed, Ok(httparse::Status::Complete(_)));
    let (true, Some(method), Some(path)) = (is_whole, request.method, request.path) else {
        return Err(WireError::NotHttp("not an HTTP request"));
    };
    let is_newer = request.version == Some(1);
    let mut head = Head {
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        is_newer,
        framing: Framing::Unknown,
        stays_open: is_newer,
        expects: false,
    };
    for header in request.headers.iter() {
        let value = String::from_utf8_lossy(header.value).to_ascii_lowercase();
        let mut words = value.split(',').map(str::trim);
        match header.name.to_ascii_lowercase().as_str() {
            "transfer-encoding" if words.any(|word| word == "chunked") => {
                head.framing = Framing::Chunked;
            }
            "content-length" if !matches!(head.framing, Framing::Chunked) => {
                head.framing = length(value.trim()).map_or(Framing::Unknown, Framing::Length);
            }
            "connection" => {
                for word in words {
                    match word {
                        "close" => head.stays_open = false,
                        "keep-alive" => head.stays_open = true,
                        _ => {}
                    }
                }
            }
            "expect" => head.expects = words.any(|word| word == "100-continue"),
            _ => {}
        }
    }
    Ok(head)
}

/// The number of a Content-Length header; the largest if the number is larger.
fn length(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

/// The message in a path, or in the path of a whole URL, which proxies send.
fn decoded(path: &str) -> String {
    let path = match path.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            rest.find('/').map_or("", |start| &rest[start..])
        }
        _ => path,
    };
    let path = path.strip_prefix('/').unwrap_or(path).replace('+', " ");
    text(percent_decode_str(&path).collect())
}

/// Bytes as text. Text that is not UTF-8 is read as Latin-1, so that different names stay
/// different.
fn text(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        error
            .into_bytes()
            .iter()
            .map(|&byte| char::from(byte))
            .collect()
    });
    match trimmed(&text) {
        // Long messages are not copied.
        inner if inner.len() == text.len() => text,
        inner => inner.to_owned(),
    }
}
