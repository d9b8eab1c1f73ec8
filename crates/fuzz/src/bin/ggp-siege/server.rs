//! The server that is used or attacked, and its clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::Options;

/// A server that ends with this value.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// A process that ends with this value.
    pub fn new(child: Child) -> Self {
        Server(child)
    }

    /// The exit status, if it has ended.
    pub fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Starts a command that says where it listens: `web` with `http://ADDRESS`, a player with
    /// `listening on ADDRESS`.
    pub fn start(options: &Options, command: &[&str]) -> anyhow::Result<(Self, SocketAddr)> {
        let mut child = Command::new(&options.ggp)
            .args(command)
            .args(&options.options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", options.ggp.display()))?;
        let outputs: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("it is piped")),
            Box::new(child.stderr.take().expect("it is piped")),
        ];
        let server = Server(child);
        let (sender, addresses) = channel();
        for output in outputs {
            let sender = sender.clone();
            // What it prints later is not needed, but must be taken.
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let said = ["http://", "listening on "].iter();
                    let address = said.filter_map(|before| line.split_once(before));
                    for (_, address) in address {
                        let _ = sender.send(address.trim_end_matches('/').to_owned());
                    }
                }
            });
        }
        drop(sender);
        let address = addresses.recv().context("the server ended")?;
        Ok((server, address.parse()?))
    }

    /// A size of the process in MB, as Linux tells it: `VmHWM` is the most memory that it has
    /// had, `VmRSS` what it has now. 0 elsewhere.
    pub fn size(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kilobytes = line.map(|line| line.trim_matches(|c: char| !c.is_ascii_digit()));
        let kilobytes: u64 = kilobytes
            .and_then(|kilobytes| kilobytes.parse().ok())
            .unwrap_or(0);
        kilobytes >> 10
    }
}

/// A client with one connection at a time.
pub struct Client {
    address: SocketAddr,
    pub cookie: Option<String>,
}

/// An answer: its status and its body.
pub type Answer = (u16, String);

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Client {
            address,
            cookie: None,
        }
    }

    /// Sends a request and reads the answer for at most `time`.
    pub fn send(
        &mut self,
        path: &str,
        body: Option<&Value>,
        time: Duration,
    ) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect_timeout(&self.address, time)?;
        stream.set_read_timeout(Some(time))?;
        stream.set_write_timeout(Some(time))?;
        let cookie = self.cookie.as_deref().unwrap_or("none=0");
        let head = match body {
            None => format!("GET {path}"),
            Some(_) => format!("POST {path}"),
        };
        let body = body.map(Value::to_string).unwrap_or_default();
        write!(
            stream,
            "{head} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: {cookie}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        let began = Instant::now();
        let mut part = [0; 1 << 16];
        loop {
            let length = stream.read(&mut part)?;
            answer.extend_from_slice(&part[..length]);
            if length == 0 {
                break;
            }
            if began.elapsed() > time {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
        }
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.ok_or(std::io::ErrorKind::UnexpectedEof)?;
        let mut lines = head.lines();
        if let Some(cookie) = lines.find_map(|line| line.strip_prefix("set-cookie: ")) {
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        Ok((status, body.to_owned()))
    }
}

/// Sends a message to a player, and reads its answer.
pub fn tell(address: SocketAddr, message: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let length = message.len();
    write!(
        stream,
        "POST / HTTP/1.0\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{message}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

pub fn beginning(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Sizes of a server during its use. They grow if the last is above the second by more than a
/// tenth and 20 MB.
pub struct Sizes(pub Vec<u64>);

impl Sizes {
    /// Shows the size after each tenth of the use.
    pub fn watch(&mut self, server: &Server, done: u32, all: u32) {
        if done.is_multiple_of((all / 10).max(1)) {
            let size = server.size("VmRSS");
            println!("after {done}: {size} MB");
            self.0.push(size);
        }
    }

    pub fn are_flat(&self) -> bool {
        match &self.0[..] {
            [_, second, .., last] => *last <= second + second / 10 + 20,
            _ => true,
        }
    }
}
