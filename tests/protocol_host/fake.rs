//! Players that answer exactly like the reference implementation, and misbehaving players.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use ggp_engine::machine::{DatalogMachine, Limits, Machine};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_play::protocol::message::{Message, MessageLimits};

/// The way in which a player answers PLAY.
#[derive(Clone, Debug)]
pub enum Manner {
    /// The answer has the form of the reference player.
    Reference,
    /// The answer is in capitals.
    Upper,
    /// The answer is delayed.
    Slow(Duration),
    /// The answer is chunked HTTP/1.1.
    Chunked,
    /// The answer has no length.
    NoLength,
    /// The header lines end with bare line feeds, and some are invalid.
    Bare,
    /// Interim answers precede the answer, which ends with blanks and a zero byte.
    Interim,
    /// The answer has a length, and the connection stays open.
    Open,
    /// The answer has a move and an explanation.
    Talks,
    /// There is no answer.
    Silent,
    /// Messages of this kind get no answer; others are answered like the reference player.
    SilentAt(&'static str),
    /// The connection is closed for writing within the headers.
    HalfClosed,
    /// The answer is not HTTP.
    Garbage,
    /// The answer is not a legal move.
    Says(&'static str),
    /// The answer is endless.
    Giant,
    /// The answer is sent byte by byte.
    Trickle,
}

/// A player that listens on a port.
pub struct Fake {
    pub address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    manner: Manner,
    heard: Mutex<Vec<String>>,
    session: Mutex<Option<PlayerSession>>,
    /// The number of matches that were over by the rules at their last message.
    finished: AtomicUsize,
    is_ended: AtomicBool,
}

/// The state of a match at the player.
struct PlayerSession {
    id: String,
    role: RoleId,
    machine: DatalogMachine,
    state: <DatalogMachine as Machine>::State,
    draws: u64,
}

impl Fake {
    pub fn new(manner: Manner) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            manner,
            heard: Mutex::default(),
            session: Mutex::default(),
            finished: AtomicUsize::new(0),
            is_ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream.unwrap(), &shared));
            }
        });
        Fake {
            address,
            state,
            thread: Some(thread),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, including headers.
    pub fn heard(&self) -> Vec<String> {
        self.state.heard.lock().unwrap().clone()
    }

    /// The number of matches that were over by the rules when the host sent STOP.
    pub fn finished(&self) -> usize {
        self.state.finished.load(Ordering::SeqCst)
    }

    /// The number of messages of a kind.
    pub fn count(&self, kind: &str) -> usize {
        let heard = self.heard();
        heard
            .iter()
            .filter(|text| text.contains(&format!("( {kind} ")))
            .count()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.state.is_ended.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

fn serve(mut stream: TcpStream, state: &State) {
    let Some(request) = read(&mut stream) else {
        return;
    };
    state.heard.lock().unwrap().push(request.clone());
    let body = request.split_once("\r\n\r\n").unwrap().1;
    let message = Message::parse(body, MessageLimits::default()).unwrap();
    let is_play = matches!(message, Message::Play { .. });
    let is_silent = matches!(state.manner, Manner::SilentAt(kind) if kind == message.kind());
    let answer = answer(message, state);
    let plain = match is_play {
        _ if is_silent => Manner::Silent,
        true => state.manner.clone(),
        false => Manner::Reference,
    };
    // The host may have closed the connection.
    let _ = send(&mut stream, &answer, &plain, state);
}

fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut portion = [0; 4096];
    loop {
        let count = stream.read(&mut portion).ok()?;
        bytes.extend_from_slice(&portion[..count]);
        let text = String::from_utf8(bytes.clone()).ok()?;
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .split("Content-Length: ")
                .nth(1)
                .expect("there is a length");
            if body.len()
                == length
                    .split("\r\n")
                    .next()
                    .unwrap()
                    .parse::<usize>()
                    .unwrap()
            {
                return Some(text);
            }
        }
        if count == 0 {
            return None;
        }
    }
}

fn answer(message: Message, state: &State) -> String {
    let mut session = state.session.lock().unwrap();
    match message {
        // The answer is never sent.
        Message::Play { .. } if matches!(state.manner, Manner::Silent | Manner::Trickle) => {
            "nil".to_owned()
        }
        Message::Info => {
            let status = if session.is_some() {
                "busy"
            } else {
                "available"
            };
            format!("( ( name Random ) ( status {status} ) )")
        }
        Message::Preview { .. } => "ready".to_owned(),
        Message::Start {
            id, role, rules, ..
        } => {
            let game = Game::from_text("rules", &rules).expect("the rules are right");
            let mut machine = DatalogMachine::new(&game, Limits::default()).unwrap();
            *session = Some(PlayerSession {
                id,
                role: game.role_named(&role).expect("it is a role"),
                state: machine.initial().unwrap(),
                machine,
                draws: 0,
            });
            "ready".to_owned()
        }
        Message::Play { id, last } => match session.as_mut().filter(|session| session.id == id) {
            None => "busy".to_owned(),
            Some(session) => match session.receive(last.list()) {
                true => session.choose(),
                false => "confused".to_owned(),
            },
        },
        Message::Stop { id, last } => match session.take_if(|session| session.id == id) {
            None => "busy".to_owned(),
            Some(mut sitting) => {
                let is_over = sitting.receive(last.list())
                    && sitting.machine.is_terminal(&sitting.state).unwrap();
                state
                    .finished
                    .fetch_add(usize::from(is_over), Ordering::SeqCst);
                "done".to_owned()
            }
        },
        Message::Abort { .. } => {
            *session = None;
            "aborted".to_owned()
        }
    }
}

impl PlayerSession {
    /// Makes a joint move if it is legal.
    fn receive(&mut self, moves: &[String]) -> bool {
        if moves.is_empty() {
            return true;
        }
        let game = self.machine.game().clone();
        let parse = |text: &String| {
            let term = game.parse_term(self.machine.terms_mut(), text);
            Move::new(term.expect("moves are of the game"))
        };
        let joint: Vec<Move> = moves.iter().map(parse).collect();
        match self.machine.play(&self.state, &joint) {
            Ok(state) => self.state = state,
            Err(_) => return false,
        }
        true
    }

    /// A random legal move.
    fn choose(&mut self) -> String {
        let mut legal = Vec::new();
        self.machine
            .legal(&self.state, self.role, &mut legal)
            .unwrap();
        self.draws += 1;
        let draw = self.draws.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let chosen = legal[draw as usize % legal.len()];
        let game = self.machine.game();
        game.text(self.machine.terms(), chosen.term())
            .replace('(', "( ")
            .replace(')', " )")
    }
}

/// The answer in the form of the reference player.
fn reference(body: &str) -> String {
    format!(
        "HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: {}\r\n\
         Access-Control-Allow-Origin: *\r\n\
         Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\n\
         Access-Control-Allow-Age: 86400\r\n\r\n{body}",
        body.len()
    )
}

fn send(stream: &mut TcpStream, body: &str, manner: &Manner, state: &State) -> std::io::Result<()> {
    let wait = |time: Duration| {
        // The thread ends with the test.
        let end = std::time::Instant::now() + time;
        while std::time::Instant::now() < end && !state.is_ended.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let text = match manner {
        Manner::Reference | Manner::SilentAt(_) => reference(body),
        Manner::Upper => reference(&body.to_uppercase()),
        Manner::Slow(time) => {
            wait(*time);
            reference(body)
        }
        Manner::Chunked => {
            let (first, second) = body.split_at(body.len() / 2);
            let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
            let chunks = [first, second].map(|part| match part.is_empty() {
                true => String::new(),
                false => chunk(part),
            });
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            format!("{head}{}0\r\n\r\n", chunks.concat())
        }
        Manner::NoLength => format!("HTTP/1.0 200 OK\r\n\r\n{body}"),
        Manner::Bare => format!("HTTP/1.0 200\njunk\n:::\nx y: z\n\n\n  {body}\n"),
        Manner::Interim => {
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=b\r\n\r\n";
            format!(
                "HTTP/1.1 102\n\n{interim}{}",
                reference(&format!("{body} ; why\n\0"))
            )
        }
        Manner::Open => {
            stream.write_all(reference(body).as_bytes())?;
            wait(Duration::from_secs(60));
            return Ok(());
        }
        Manner::Talks => reference(&format!("{body} (explanation \"why (not\")")),
        Manner::Silent => {
            wait(Duration::from_secs(60));
            return Ok(());
        }
        Manner::HalfClosed => {
            stream.write_all(b"HTTP/1.0 200 OK\r\nContent-le")?;
            stream.shutdown(Shutdown::Write)?;
            wait(Duration::from_secs(2));
            return Ok(());
        }
        Manner::Garbage => "\0\u{1}\u{2} what do you want".to_owned(),
        Manner::Says(text) => reference(text),
        Manner::Giant => {
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n")?;
            let much = vec![b'x'; 1 << 16];
            loop {
                stream.write_all(&much)?;
            }
        }
        Manner::Trickle => {
            for byte in reference(body).bytes() {
                stream.write_all(&[byte])?;
                wait(Duration::from_millis(100));
            }
            return Ok(());
        }
    };
    stream.write_all(text.as_bytes())
}
