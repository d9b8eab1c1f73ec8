//! The host of matches whose players are on the network.
//!
//! In: a game, somebody for each role, clocks. Out: the match and its record, which
//! an observer sees after each move. A player that is late, cannot be reached or
//! says something illegal has a legal move drawn for it, and the match goes on.

mod exchange;
mod spelling;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::message::{Info, Message, MessageLimits, parse_move, spaced};
use crate::game::{Game, Move, RoleId};
use crate::ground::Terms;
use crate::machine::{Machine, PlayError};
use crate::play::contest::{Clocks, Means, SeatContender};
use crate::play::record::MatchRecord;
use crate::play::referee::{Asked, Asking, Contender, Lapse, Referee, Round};
use crate::play::{AgentSpec, Match};
use crate::symbol::Case;

pub use exchange::{Address, DEFAULT_PORT, Envelope, ExchangeError, Patience, exchange, request};
pub use spelling::Spelling;

/// Who plays a role.
#[derive(Clone, PartialEq, Debug)]
pub enum Party {
    /// A player on the network; its name is for the record and for messages.
    Remote(Address, String),
    /// A program of ours.
    Agent(AgentSpec),
    /// Nobody: moves are drawn.
    Chance,
}

/// How a match is hosted.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Seconds before the first move.
    pub start_clock: u32,
    /// Seconds for each move.
    pub play_clock: u32,
    /// Seconds to look at the rules before the match; none for no look.
    pub preview_clock: Option<u32>,
    /// What is allowed on top of each clock.
    pub grace: Duration,
    /// Until there is a connection.
    pub connect: Duration,
    /// Bytes of an answer.
    pub most_bytes: usize,
    /// Whether messages carry the headers that say which match and move it is.
    pub headers: bool,
    /// Whether letter case tells names apart.
    pub case: Case,
    /// Raised from outside to break the match off.
    pub interrupt: Arc<AtomicBool>,
    /// What agents of ours may use.
    pub means: Means,
}

/// How long a player may take to say who it is.
const INFO: Duration = Duration::from_millis(2500);
/// How long a player may take to hear that the match is broken off.
const ABORT: Duration = Duration::from_secs(1);
/// Characters of an answer that a record keeps.
const SHOWN: usize = 200;

/// What all players of a match share.
#[derive(Debug)]
struct Desk {
    game: Game,
    id: String,
    spelling: Spelling,
    options: HostOptions,
}

/// A player on the network as a contender.
#[derive(Debug)]
struct Remote {
    desk: Arc<Desk>,
    address: Address,
    name: String,
    role: RoleId,
    terms: Terms,
    /// Moves of before, when the match goes on.
    missed: Vec<Vec<String>>,
    is_resumed: bool,
}

impl Remote {
    fn send(&self, message: &Message, time: Duration, ply: usize) -> Result<String, ExchangeError> {
        let options = &self.desk.options;
        let headers = match options.headers {
            false => Vec::new(),
            true => vec![
                ("GGP-Match-ID", self.desk.id.clone()),
                ("GGP-Match-Step", ply.to_string()),
                ("GGP-Match-Host", "ggp".to_owned()),
            ],
        };
        let envelope = Envelope {
            receiver: &self.name,
            headers: &headers,
        };
        let is_last = matches!(message, Message::Abort { .. });
        let connect = match is_last {
            true => options.connect.min(time),
            false => options.connect,
        };
        let patience = Patience {
            connect,
            answer: time,
            bytes: options.most_bytes,
            // Players are told that the match is broken off though it is.
            interrupt: (!is_last).then_some(&*options.interrupt),
        };
        exchange(&self.address, &envelope, &message.to_string(), &patience)
    }

    fn clock(&self, seconds: u32) -> Duration {
        Duration::from_secs(seconds.into()) + self.desk.options.grace
    }

    fn sent(&self, joint: &[String]) -> Vec<String> {
        joint
            .iter()
            .map(|chosen| self.desk.spelling.send(chosen))
            .collect()
    }

    fn play(&self, joint: &[String], ply: usize) -> Result<String, ExchangeError> {
        let message = Message::Play {
            id: self.desk.id.clone(),
            moves: self.sent(joint),
        };
        self.send(&message, self.clock(self.desk.options.play_clock), ply)
    }

    /// The move that an answer means.
    fn understand(&mut self, answer: &str, asked: &Asked<'_>) -> Result<Move, Lapse> {
        let limits = MessageLimits::default();
        let said = parse_move(answer, limits);
        let said = said.map_err(|_| Lapse::Illegal(shown(answer)))?;
        let said = self.desk.spelling.receive(&said);
        let game = &self.desk.game;
        let parsed = game.parse_term(&mut self.terms, &said).ok().map(Move::new);
        if let Some(chosen) = parsed.filter(|chosen| asked.legal.contains(chosen)) {
            return Ok(chosen);
        }
        // Letter case matters only where nothing else differs.
        let text = |chosen: &Move| spaced(&game.text(asked.terms, chosen.term())).to_lowercase();
        let lower = said.to_lowercase();
        let mut alike = asked.legal.iter().filter(|chosen| text(chosen) == lower);
        match (alike.next(), alike.next()) {
            (Some(chosen), None) => Ok(*chosen),
            _ => Err(Lapse::Illegal(shown(&said))),
        }
    }
}

/// As much of an answer as a record keeps.
fn shown(answer: &str) -> String {
    answer.trim().chars().take(SHOWN).collect()
}

fn lapse(error: &ExchangeError) -> Lapse {
    match error {
        ExchangeError::Late | ExchangeError::Interrupted => Lapse::Late,
        ExchangeError::Broken(_) | ExchangeError::NotHttp => Lapse::Unreachable,
        ExchangeError::TooLarge(_) => Lapse::Illegal(error.to_string()),
    }
}

impl Contender for Remote {
    fn start(&mut self) -> Result<(), Lapse> {
        if self.is_resumed {
            // Nobody knows what it heard last, so it is told everything anew.
            self.abort();
        }
        let (options, rules) = (&self.desk.options, self.desk.spelling.rules());
        if let Some(clock) = options.preview_clock {
            let message = Message::Preview {
                rules: rules.to_owned(),
                clock,
            };
            // Many players do not know this message.
            let _ = self.send(&message, self.clock(clock), 0);
        }
        let message = Message::Start {
            id: self.desk.id.clone(),
            role: self.desk.spelling.send(self.desk.game.role_name(self.role)),
            rules: rules.to_owned(),
            start_clock: options.start_clock,
            play_clock: options.play_clock,
        };
        let answer = self.send(&message, self.clock(options.start_clock), 0);
        // What it has missed; the last joint move comes when it is asked.
        for ply in 0..self.missed.len() {
            let before = ply
                .checked_sub(1)
                .map_or(&[][..], |before| &self.missed[before]);
            let _ = self.play(before, ply);
        }
        answer.map(|_| ()).map_err(|error| lapse(&error))
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Result<Move, Lapse> {
        let answer = self.play(asked.last, asked.played.len());
        let answer = answer.map_err(|error| lapse(&error))?;
        self.understand(&answer, asked)
    }

    fn stop(&mut self, last: &[String]) {
        let message = Message::Stop {
            id: self.desk.id.clone(),
            moves: self.sent(last),
        };
        // The match is over whatever it says.
        let _ = self.send(&message, self.clock(self.desk.options.play_clock), 0);
    }

    fn abort(&mut self) {
        let message = Message::Abort {
            id: self.desk.id.clone(),
        };
        let _ = self.send(&message, ABORT, 0);
    }
}

/// Asks a player who it is.
///
/// # Errors
///
/// Why it does not say.
pub fn info(address: &Address, options: &HostOptions) -> Result<Info, ExchangeError> {
    let envelope = Envelope {
        receiver: "",
        headers: &[],
    };
    let patience = Patience {
        connect: options.connect.min(INFO),
        answer: INFO,
        bytes: options.most_bytes,
        interrupt: Some(&options.interrupt),
    };
    let answer = exchange(address, &envelope, &Message::Info.to_string(), &patience)?;
    Ok(Info::parse(&answer, MessageLimits::default()))
}

/// What an observer hears: the record so far, and what was done last, but for the
/// first state.
pub type Seen<'a> = (&'a MatchRecord, Option<&'a Round>);

/// Hosts a match. `record` says how it is called and what was played already; its
/// states and errors grow with the match. The observer ends the match by an error.
///
/// # Errors
///
/// What play shows to be wrong with the rules, or with a record's moves, what the
/// observer fails with, and [`PlayError::Interrupted`]: then players have heard that
/// the match is broken off, and so has the observer.
pub fn host<M: Machine>(
    mut machine: M,
    parties: &[Party],
    options: &HostOptions,
    record: &mut MatchRecord,
    observer: &mut dyn FnMut(Seen<'_>) -> std::io::Result<()>,
) -> Result<(), HostError> {
    let game = machine.game().clone();
    let seed = record.seed.unwrap_or_default();
    let is_resumed = !record.states.is_empty();
    let played = match is_resumed {
        true => {
            (record.is_aborted, record.is_completed) = (false, false);
            record.goal_values.clear();
            record.replay(machine.clone(), |_, _| ())?
        }
        false => {
            let start = machine.initial()?;
            Match::new(machine, start)
        }
    };
    let spelling = match record.scrambled {
        true => Spelling::scrambled(&game, options.case, seed),
        false => Spelling::plain(&game, options.case),
    };
    let desk = Arc::new(Desk {
        game: game.clone(),
        id: record.match_id.clone(),
        spelling,
        options: options.clone(),
    });
    let mut table = seats(&game, parties, &desk, record, is_resumed)?;
    let mut referee = Referee::new(played, Asking::AtOnce, seed);
    let lapses = referee.start(&mut table);
    if !is_resumed {
        let state = referee.game().history().state().clone();
        record.reached(referee.game().machine(), &state, &lapses);
    }
    let is_interrupted = || options.interrupt.load(Ordering::Relaxed);
    let mut ended = observer((record, None)).map_err(HostError::from);
    while ended.is_ok() {
        match referee.step(&mut table, is_interrupted) {
            Err(error) => ended = Err(error.into()),
            Ok(Some(round)) => {
                let state = referee.game().history().state().clone();
                record.moved(referee.last());
                record.reached(referee.game().machine(), &state, &round.lapses);
                ended = observer((record, Some(&round))).map_err(HostError::from);
            }
            Ok(None) => break,
        }
    }
    let ended = ended.and_then(|()| Ok(referee.game().scores()?));
    match ended {
        Ok(scores) => {
            record.goal_values = scores.into_iter().map(|score| score.get()).collect();
            record.is_completed = true;
            let saved = observer((record, None));
            referee.stop(&mut table);
            Ok(saved?)
        }
        Err(error) => {
            record.is_aborted = true;
            // What ends the match counts more than what cannot be written of it.
            let _ = observer((record, None));
            referee.abort(&mut table);
            Err(error)
        }
    }
}

fn seats<'a>(
    game: &Game,
    parties: &[Party],
    desk: &Arc<Desk>,
    record: &MatchRecord,
    is_resumed: bool,
) -> Result<Vec<Option<Box<dyn Contender + 'a>>>, HostError> {
    let options = &desk.options;
    let clocks = Clocks {
        start: Some(Duration::from_secs(options.start_clock.into())),
        play: Some(Duration::from_secs(options.play_clock.into())),
    };
    let mut table: Vec<Option<Box<dyn Contender>>> = Vec::new();
    for (role, party) in game.roles().zip(parties) {
        table.push(match party {
            Party::Chance => None,
            Party::Agent(spec) => {
                let seed = record.seed.unwrap_or_default();
                let brief = options.means.brief(game, role, clocks, seed);
                let contender = SeatContender::new(brief, spec, clocks);
                Some(Box::new(contender.map_err(HostError::Player)?))
            }
            Party::Remote(address, name) => Some(Box::new(Remote {
                desk: Arc::clone(desk),
                address: address.clone(),
                name: name.clone(),
                role,
                terms: game.terms().clone(),
                missed: record.moves.clone(),
                is_resumed,
            })),
        });
    }
    Ok(table)
}

/// Why a match did not come to its end.
#[derive(Debug)]
pub enum HostError {
    /// The rules, a limit, or an interrupt.
    Play(PlayError),
    /// A player's options.
    Player(String),
    /// A record that is to be gone on with is not of these rules.
    Record(crate::play::record::Difference),
    /// What the observer failed with.
    Observer(std::io::Error),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostError::Play(error) => error.fmt(f),
            HostError::Player(why) => f.write_str(why),
            HostError::Record(difference) => write!(f, "the record: {difference}"),
            HostError::Observer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HostError {}

impl From<PlayError> for HostError {
    fn from(error: PlayError) -> Self {
        HostError::Play(error)
    }
}

impl From<crate::play::record::Difference> for HostError {
    fn from(difference: crate::play::record::Difference) -> Self {
        HostError::Record(difference)
    }
}

impl From<std::io::Error> for HostError {
    fn from(error: std::io::Error) -> Self {
        HostError::Observer(error)
    }
}
