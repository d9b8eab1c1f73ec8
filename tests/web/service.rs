//! A server in its own process, and browsers that send requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A timeout that is only reached by errors.
const EVER: Duration = Duration::from_secs(120);

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A browser that is connected to a server.
pub struct Service {
    process: Arc<Process>,
    host: String,
    cookie: Mutex<Option<String>>,
}

/// A complete answer.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Service {
    /// Starts a server, and returns its first browser.
    pub fn start(options: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args(["web", "--port", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let out = process.stdout.as_mut().expect("it is piped");
        BufReader::new(out)
            .read_line(&mut line)
            .expect("it says where it is");
        let host = line
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/');
        Service {
            host: host.to_owned(),
            process: Arc::new(Process(process)),
            cookie: Mutex::default(),
        }
    }

    /// Another browser at the same server.
    pub fn anew(&self) -> Self {
        Service {
            process: Arc::clone(&self.process),
            host: self.host.clone(),
            cookie: Mutex::default(),
        }
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// A number of bytes that Linux tells of the process, such as `VmRSS`, in MB.
    pub fn megabytes(&self, what: &str) -> u64 {
        let file = format!("/proc/{}/status", self.process.0.id());
        let text = std::fs::read_to_string(file).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix(what));
        let kilobytes =
            line.and_then(|line| line.trim_matches([':', ' ', '\t', 'k', 'B']).parse().ok());
        kilobytes.map_or(0, |bytes: u64| bytes >> 10)
    }

    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream
            .set_read_timeout(Some(EVER))
            .expect("it has timeouts");
        let cookie = self.cookie.lock().unwrap().clone();
        let cookie = cookie.map_or(String::new(), |cookie| format!("Cookie: {cookie}\r\n"));
        // In HTTP 1.0, an answer is not chunked and ends with the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\n{headers}{cookie}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        // A server that rejects a long request may not read all of it.
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut bytes = Vec::new();
        let mut stream = self.open(method, path, headers, body);
        if let Err(error) = stream.read_to_end(&mut bytes) {
            assert!(!bytes.is_empty(), "{method} {path}: {error}");
        }
        let text = String::from_utf8(bytes).expect("it is text");
        let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
        for line in head.lines() {
            if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("set-cookie")
            {
                let cookie = value.split(';').next().expect("it has a value");
                *self.cookie.lock().unwrap() = Some(cookie.to_owned());
            }
        }
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.expect("it has a status"),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &format!("Host: {}\r\n", self.host), "")
    }

    pub fn get_with(&self, path: &str, headers: &str) -> Answer {
        self.ask("GET", path, headers, "")
    }

    /// The head, in small letters, and the bytes of the answer to a request with these headers.
    pub fn bytes(&self, path: &str, headers: &str) -> (String, Vec<u8>) {
        let headers = format!("Host: {}\r\n{headers}", self.host);
        let mut bytes = Vec::new();
        let mut stream = self.open("GET", path, &headers, "");
        stream.read_to_end(&mut bytes).expect("it answers");
        let mut ends = bytes.windows(4);
        let end = ends.position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        (head, bytes.split_off(end + 4))
    }

    /// Sends a request, and goes away before it is answered.
    pub fn abandon(&self, path: &str, body: &Value) {
        let host = format!("Host: {}\r\n", self.host);
        let stream = self.open("POST", path, &host, &body.to_string());
        std::thread::sleep(Duration::from_millis(50));
        drop(stream);
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let host = format!("Host: {}\r\n", self.host);
        self.ask("POST", path, &host, &body.to_string())
    }

    /// The events of a path, as they arrive.
    pub fn stream(&self, path: &str) -> Events {
        let host = format!("Host: {}\r\n", self.host);
        Events::new(self.open("GET", path, &host, ""))
    }

    /// The events that answer a request, as they arrive.
    pub fn stream_of(&self, path: &str, body: &Value) -> Events {
        if self.cookie.lock().unwrap().is_none() {
            self.get("/api/players");
        }
        let host = format!("Host: {}\r\n", self.host);
        Events::new(self.open("POST", path, &host, &body.to_string()))
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The content of a successful answer.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()
    }

    /// The events of the answer, with their names.
    pub fn events(&self) -> Vec<(String, Value)> {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body.split("\n\n").filter_map(event).collect()
    }
}

fn event(text: &str) -> Option<(String, Value)> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let data = field("data: ")?;
    let name = field("event: ")?.to_owned();
    Some((name, serde_json::from_str(data).expect("it is JSON")))
}

/// Events as they arrive.
pub struct Events(BufReader<TcpStream>);

impl Events {
    fn new(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert_ne!(reader.read_line(&mut line).expect("it answers"), 0);
        }
        Events(reader)
    }

    pub fn next_event(&mut self) -> (String, Value) {
        let mut text = String::new();
        loop {
            let start = text.len();
            assert_ne!(
                self.0.read_line(&mut text).expect("it goes on"),
                0,
                "it ended: {text}"
            );
            if &text[start..] == "\n" {
                if let Some(event) = event(&text) {
                    return event;
                }
                text.clear();
            }
        }
    }
}

/// The rules of a bundled game with other names.
pub fn scrambled(game: &str) -> String {
    scrambled_by(game, 5)
}

/// The same with a number on which the names depend.
pub fn scrambled_by(game: &str, seed: u64) -> String {
    let file = format!("{}/games/{game}.kif", env!("CARGO_MANIFEST_DIR"));
    let out = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["rules", "scramble", &file, "--seed", &seed.to_string()])
        .output()
        .expect("it runs");
    assert!(out.status.success());
    String::from_utf8(out.stdout).expect("it is text")
}
