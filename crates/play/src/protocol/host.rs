//! The host of matches whose players are on the network.
//!
//! In: a game, somebody for each role, clocks. Out: the match and its record, which
//! an observer sees after each move. A player that is late, cannot be reached or
//! says something illegal has a legal move drawn for it, and the match goes on.

mod exchange;
mod remote;
mod spelling;

use ggp_stop::Stop;
use std::time::{Duration, Instant};

use super::message::{Info, Message, MessageLimits};
use crate::contest::{Clocks, Means, SeatContender};
use crate::record::MatchRecord;
use crate::referee::{Asking, Contender, Lapse, Referee, Round};
use crate::{AgentSpec, Match, is_kind};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::Game;
use ggp_gdl::markup;
use ggp_gdl::symbol::Case;

pub use exchange::{Address, DEFAULT_PORT, Envelope, ExchangeError, Patience, exchange, request};
pub use remote::{BUSY, Invitation, Remote};
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

impl std::str::FromStr for Party {
    type Err = String;

    /// Reads an address with `http://`, or a program as [`AgentSpec`] reads it.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.contains("://") {
            true => Ok(Party::Remote(text.parse()?, String::new())),
            false => text
                .parse()
                .map(Party::Agent)
                .map_err(|why| match is_kind(text) {
                    true => why,
                    false => {
                        format!("{why}; and addresses such as http://localhost:{DEFAULT_PORT}")
                    }
                }),
        }
    }
}

/// How a match is hosted.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Seconds before the first move.
    pub start_clock: u32,
    /// Seconds for each move.
    pub play_clock: u32,
    /// Joint moves after which the match is broken off.
    pub most_moves: usize,
    /// Whether nobody is asked again before the whole clock is over.
    pub whole_clock: bool,
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
    pub stop: Stop,
    /// What agents of ours may use.
    pub means: Means,
}

/// How long a player may take to say who it is.
const INFO: Duration = Duration::from_millis(2500);
/// Characters of a name that are kept.
const NAME: usize = 200;
/// How often a wait looks whether it is interrupted.
const TICK: Duration = Duration::from_millis(20);

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
        stop: Some(&options.stop),
    };
    let answer = exchange(address, &envelope, &Message::Info.to_string(), &patience)?;
    let said = Info::parse(&answer, MessageLimits::default());
    let plain = |text: Option<String>| text.map(|text| markup::plain(&text, NAME));
    Ok(Info {
        name: plain(said.name),
        status: plain(said.status),
        species: plain(said.species),
    })
}

/// What an observer hears beside the record so far.
#[derive(Copy, Clone, Debug)]
pub enum Seen<'a> {
    /// All have been told to make ready; what went wrong, by role.
    Begun(&'a [Option<Lapse>]),
    /// A joint move was made.
    Moved(&'a Round),
    /// The match is over, or was broken off.
    Ended,
}

/// Hosts a match. `record` says how it is called and what was played already; its
/// states and errors grow with the match. The observer ends the match by an error.
///
/// # Errors
///
/// What play shows to be wrong with the rules, or with a record's moves, what the
/// observer fails with, that the match is too long, and [`PlayError::Interrupted`]: then
/// players have heard that the match is broken off, and so has the observer.
pub fn host<M: Machine>(
    mut machine: M,
    parties: &[Party],
    options: &HostOptions,
    record: &mut MatchRecord,
    observer: &mut dyn FnMut(&MatchRecord, Seen<'_>) -> std::io::Result<()>,
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
    let mut table = seats(&game, parties, options, record, is_resumed)?;
    let mut referee = Referee::new(played, Asking::AtOnce, seed);
    let mut begun = Instant::now();
    let lapses = referee.start(&mut table);
    if !is_resumed {
        let state = referee.game().history().state().clone();
        record.reached(referee.game().machine(), &state, &lapses);
    }
    let is_interrupted = || options.stop.is_raised();
    // What was played is told and kept at once, however long the next message waits.
    let wait = |begun: Instant, seconds: u32| {
        let end = begun + Duration::from_secs(seconds.into());
        while options.whole_clock && Instant::now() < end && !is_interrupted() {
            std::thread::sleep(TICK.min(end.saturating_duration_since(Instant::now())));
        }
    };
    let mut ended = observer(record, Seen::Begun(&lapses)).map_err(HostError::from);
    if ended.is_ok() {
        wait(begun, options.start_clock);
    }
    while ended.is_ok() {
        if record.moves.len() >= options.most_moves {
            match referee.game().is_over() {
                Ok(true) => break,
                Ok(false) => ended = Err(HostError::TooLong(record.moves.len())),
                Err(error) => ended = Err(error.into()),
            }
            continue;
        }
        begun = Instant::now();
        match referee.step(&mut table, is_interrupted) {
            Err(error) => ended = Err(error.into()),
            Ok(Some(round)) => {
                let state = referee.game().history().state().clone();
                record.moved(referee.last());
                record.reached(referee.game().machine(), &state, &round.lapses);
                ended = observer(record, Seen::Moved(&round)).map_err(HostError::from);
                if ended.is_ok() {
                    wait(begun, options.play_clock);
                }
            }
            Ok(None) => break,
        }
    }
    let ended = ended.and_then(|()| Ok(referee.game().scores()?));
    match ended {
        Ok(scores) => {
            record.goal_values = scores.into_iter().map(|score| score.get()).collect();
            record.is_completed = true;
            let saved = observer(record, Seen::Ended);
            referee.stop(&mut table);
            Ok(saved?)
        }
        Err(error) => {
            record.is_aborted = true;
            // What ends the match counts more than what cannot be written of it.
            let _ = observer(record, Seen::Ended);
            referee.abort(&mut table);
            Err(error)
        }
    }
}

fn seats<'a>(
    game: &Game,
    parties: &[Party],
    options: &HostOptions,
    record: &MatchRecord,
    is_resumed: bool,
) -> Result<Vec<Option<Box<dyn Contender + 'a>>>, HostError> {
    let seed = record.seed.unwrap_or_default();
    let scrambled = record.scrambled.then_some(seed);
    let invitation = Invitation::new(game, &record.match_id, scrambled, options);
    let clocks = Clocks {
        start: Some(Duration::from_secs(options.start_clock.into())),
        play: Some(Duration::from_secs(options.play_clock.into())),
    };
    let mut table: Vec<Option<Box<dyn Contender>>> = Vec::new();
    for (role, party) in game.roles().zip(parties) {
        table.push(match party {
            Party::Chance => None,
            Party::Agent(spec) => {
                let brief = options.means.brief(game, role, clocks, seed);
                let contender = SeatContender::new(brief, spec, clocks);
                Some(Box::new(contender.map_err(HostError::Player)?))
            }
            Party::Remote(address, name) => {
                let remote = Remote::new(&invitation, address, name, role);
                Some(Box::new(match is_resumed {
                    true => remote.resumed(record.moves.clone()),
                    false => remote,
                }))
            }
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
    Record(crate::record::Difference),
    /// The game was not over after so many joint moves.
    TooLong(usize),
    /// What the observer failed with.
    Observer(std::io::Error),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostError::Play(error) => error.fmt(f),
            HostError::Player(why) => f.write_str(why),
            HostError::Record(difference) => write!(f, "the record: {difference}"),
            HostError::TooLong(moves) => {
                write!(
                    f,
                    "the match is broken off: it is not over after {moves} joint moves"
                )
            }
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

impl From<crate::record::Difference> for HostError {
    fn from(difference: crate::record::Difference) -> Self {
        HostError::Record(difference)
    }
}

impl From<std::io::Error> for HostError {
    fn from(error: std::io::Error) -> Self {
        HostError::Observer(error)
    }
}
