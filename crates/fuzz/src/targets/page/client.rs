//! A small HTTP client: one connection that stays open, with a cookie.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(40);

/// A client.
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
    cookie: Option<String>,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    /// The content type, without parameters.
    pub kind: String,
    pub body: Vec<u8>,
}

/// The head of an answer.
#[derive(Default)]
struct Head {
    status: u16,
    kind: String,
    length: usize,
    is_chunked: bool,
    closes: bool,
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        Client {
            address,
            stream: None,
            cookie: None,
        }
    }

    /// Sends a request and reads the answer. Of a stream that is followed, only the first
    /// part is read.
    pub fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        is_followed: bool,
    ) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(self.address)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let is_plain = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c);
        let path: String = path.chars().filter(|&c| is_plain(c)).collect();
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n",
            self.address,
            body.len()
        );
        if !body.is_empty() {
            request += "content-type: application/json\r\n";
        }
        if let Some(cookie) = &self.cookie {
            request += &format!("cookie: {cookie}\r\n");
        }
        request += "\r\n";
        request += body;
        stream.get_mut().write_all(request.as_bytes())?;
        let head = self.head(&mut stream)?;
        let body = match head.is_chunked {
            true => chunks(&mut stream, is_followed)?,
            false => {
                let mut body = vec![0; head.length];
                stream.read_exact(&mut body)?;
                body
            }
        };
        if !(head.closes || is_followed) {
            self.stream = Some(stream);
        }
        Ok(Answer {
            status: head.status,
            kind: head.kind,
            body,
        })
    }

    fn head(&mut self, stream: &mut impl BufRead) -> io::Result<Head> {
        let mut head = Head::default();
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        head.status = status.ok_or_else(|| fault(&format!("no status: {line:?}")))?;
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                return Ok(head);
            };
            let first = value.split(';').next().unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-type" => head.kind = first.to_owned(),
                "content-length" => head.length = value.parse().map_err(|_| fault(value))?,
                "transfer-encoding" => head.is_chunked = value == "chunked",
                "connection" => head.closes = value == "close",
                "set-cookie" => self.cookie = Some(first.to_owned()),
                _ => {}
            }
        }
    }
}

/// The body of an answer in chunks.
fn chunks(stream: &mut impl BufRead, first_only: bool) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let mut body = Vec::new();
    loop {
        if Instant::now() > until {
            return Err(fault("the answer does not end"));
        }
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16);
        let length = length.map_err(|_| fault(&format!("no chunk: {line:?}")))?;
        let mut chunk = vec![0; length + 2];
        stream.read_exact(&mut chunk)?;
        body.extend_from_slice(&chunk[..length]);
        if length == 0 || first_only {
            return Ok(body);
        }
    }
}

fn fault(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
