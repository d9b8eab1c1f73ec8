//! A player in this process, and hosts that say to it whatever they like.

use ggp_stop::Stop;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ggp_play::protocol::player::{Event, Log, Player, PlayerOptions};

/// How long anything may take; nothing does, unless it is broken.
pub const EVER: Duration = Duration::from_secs(60);

/// A player that answers.
pub struct Running {
    pub address: SocketAddr,
    stop: Stop,
    events: Mutex<Receiver<Event>>,
    thread: Option<JoinHandle<u64>>,
}

/// Options with the agent of a spec, on little memory.
pub fn options(agent: &str) -> PlayerOptions {
    PlayerOptions {
        memory_bytes: 64 << 20,
        ..PlayerOptions::new(agent.parse().expect("there is such an agent"))
    }
}

impl Running {
    pub fn new(options: PlayerOptions) -> Self {
        let here = (Ipv4Addr::LOCALHOST, 0).into();
        let player = Player::bind(here, options).expect("there is a free port");
        let address = player.address().expect("it has one");
        let stop = Stop::new();
        let (tell, events) = channel();
        let raised = stop.clone();
        let log = Log::new(move |event| {
            // The test may be over.
            let _ = tell.send(event.clone());
        });
        let thread =
            std::thread::spawn(move || player.run(&raised, log).expect("the player serves"));
        Running {
            address,
            stop,
            events: Mutex::new(events),
            thread: Some(thread),
        }
    }

    /// The next event of some kind.
    pub fn wait_for<T>(&self, mut kind: impl FnMut(&Event) -> Option<T>) -> T {
        let events = self.events.lock().unwrap();
        let end = Instant::now() + EVER;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let event = events.recv_timeout(left).expect("it happens in time");
            if let Some(found) = kind(&event) {
                return found;
            }
        }
    }

    /// What it answers to a message, sent as the reference host sends it.
    pub fn say(&self, message: &str) -> String {
        body(&exchange(self.address, &request(message)))
    }

    /// A connection on which a message was sent and no answer was read.
    pub fn ask(&self, message: &str) -> TcpStream {
        let mut stream = connect(self.address);
        stream.write_all(&request(message)).unwrap();
        stream
    }

    /// Starts a match and waits for the answer.
    pub fn start(&self, id: &str, role: &str, rules: &str, clocks: (u32, u32)) -> String {
        self.say(&start(id, role, rules, clocks))
    }

    /// Ends it; the number of matches it played.
    pub fn end(mut self) -> u64 {
        self.stop.raise();
        self.join()
    }

    /// Waits for its end.
    pub fn join(&mut self) -> u64 {
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("the player does not panic")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub fn start(id: &str, role: &str, rules: &str, (start, play): (u32, u32)) -> String {
    format!("( START {id} {role} ({rules}\n) {start} {play})")
}

/// A message as the reference host sends it.
pub fn request(message: &str) -> Vec<u8> {
    let length = message.chars().count();
    format!(
        "POST / HTTP/1.0\r\n\
         Accept: text/delim\r\n\
         Host: localhost\r\n\
         Sender: GAMESERVER\r\n\
         Receiver: us\r\n\
         Content-Type: text/acl\r\n\
         Content-Length: {length}\r\n\
         \r\n\
         {message}"
    )
    .into_bytes()
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the player can be reached");
    stream.set_read_timeout(Some(EVER)).unwrap();
    stream
}

/// What comes until the peer closes the connection.
pub fn read(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    stream
        .read_to_end(&mut text)
        .expect("the player answers and closes");
    String::from_utf8(text).expect("answers are text")
}

/// What is answered to bytes; the connection is closed afterwards.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    // It may be refused before all of it is sent.
    let _ = stream.write_all(bytes);
    read(&mut stream)
}

/// An answer without its head.
pub fn body(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let length = format!("Content-length: {}\r\n", body.len());
    assert!(head.contains(&length), "{answer}");
    body.to_owned()
}
