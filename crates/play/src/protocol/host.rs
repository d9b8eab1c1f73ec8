//! The host of matches between network players.
//!
//! In: a game, a [`Party`] for each role, clocks. Out: the match and its record, which
//! an observer sees after each move. A player that is late, unreachable or sends an illegal
//! move gets a random legal move, and the match continues. In games with `sees`, a player is
//! sent its own moves and percepts and nothing else.

mod exchange;
mod remote;
mod spelling;

use ggp_stop::{Instant, Stop};
use std::time::Duration;

use super::message::{Info, Message, MessageLimits};
use crate::contest::{AgentContender, Clocks, Resources};
use crate::record::MatchRecord;
use crate::referee::{Asking, Contender, Lapse, Referee, Round};
use crate::{AgentSpec, Match, News, SpecError};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, RoleId, Score};
use ggp_gdl::markup;
use ggp_gdl::symbol::Case;

pub use exchange::{
    Address, AddressError, DEFAULT_PORT, Envelope, ExchangeError, Patience, exchange, request,
};
pub use remote::{BUSY, Invitation, Remote};
pub use spelling::Spelling;

/// The player of a role.
#[derive(Clone, PartialEq, Debug)]
pub enum Party {
    /// A player on the network; its name is for the record and for messages.
    Remote(Address, String),
    /// A built-in agent.
    Agent(AgentSpec),
    /// Chance: random legal moves.
    Chance,
}

impl std::str::FromStr for Party {
    type Err = PartyError;

    /// Reads an [`AgentSpec`] or an address. An address needs no `http://` if its host has a dot,
    /// is in brackets or is `localhost`.
    fn from_str(text: &str) -> Result<Self, PartyError> {
        let is_unknown = |spec: &Result<_, _>| matches!(spec, Err(SpecError::UnknownPlayer(_)));
        let spec: Result<AgentSpec, SpecError> = text.parse();
        let host = text.split(['/', ':']).next().unwrap_or_default();
        let is_host = host.contains('.') || host.starts_with('[') || host == "localhost";
        let is_address = text.contains("://") || text.contains('@');
        if is_unknown(&spec) && (is_host || is_address) {
            let address = text.parse().map_err(PartyError::Address)?;
            Ok(Party::Remote(address, String::new()))
        } else {
            spec.map(Party::Agent).map_err(PartyError::Agent)
        }
    }
}

/// The reason why a text is not a valid [`Party`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PartyError {
    /// An invalid address.
    Address(AddressError),
    /// An invalid agent.
    Agent(SpecError),
}

impl std::fmt::Display for PartyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PartyError::Address(error) => error.fmt(f),
            PartyError::Agent(error @ SpecError::UnknownPlayer(_)) => write!(
                f,
                "{error}; or an address such as http://localhost:{DEFAULT_PORT}"
            ),
            PartyError::Agent(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PartyError {}

/// The form in which network players get their percepts, in games with `sees`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum PerceptForm {
    /// The number of the turn, the player's own move and the percepts.
    #[default]
    Own,
    /// The percepts in place of the joint move, as hosts did in 2011. They do not say which
    /// move was made in place of the player's own.
    List,
}

/// The settings of a hosted match.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Seconds before the first move.
    pub start_clock: u32,
    /// Seconds for each move.
    pub play_clock: u32,
    /// The number of joint moves after which the match is aborted.
    pub most_moves: usize,
    /// True if every turn lasts for the whole clock.
    pub whole_clock: bool,
    /// Seconds for a PREVIEW of the rules before the match; `None` sends no PREVIEW.
    pub preview_clock: Option<u32>,
    /// Extra time on top of each clock.
    pub grace: Duration,
    /// The time limit for connecting.
    pub connect: Duration,
    /// The most bytes of an answer.
    pub most_bytes: usize,
    /// True if messages carry the GGP-Match headers.
    pub headers: bool,
    /// The form of percepts.
    pub percepts: PerceptForm,
    /// True if names are case-sensitive.
    pub case: Case,
    /// Aborts the match when raised.
    pub stop: Stop,
    /// The resources of built-in agents.
    pub resources: Resources,
}

/// The time limit for an INFO answer.
const INFO: Duration = Duration::from_millis(2500);
/// The most characters of a name.
const NAME: usize = 200;
/// The interval at which a wait checks for interrupts.
const TICK: Duration = Duration::from_millis(20);

/// Sends INFO to a player.
///
/// # Errors
///
/// The reason why there is no answer.
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

/// An event that an observer sees together with the record so far.
#[derive(Copy, Clone, Debug)]
pub enum Seen<'a> {
    /// All players have received START; their lapses by role.
    Begun(&'a [Option<Lapse>]),
    /// A joint move was made.
    Moved(&'a Round),
    /// The match is over or aborted.
    Ended,
}

/// Hosts a match. `record` has the match id and the moves already made; the function
/// appends states and errors to it. An error of the observer aborts the match.
///
/// # Errors
///
/// An error in the rules or in the record's moves, an error of the observer, a match that
/// is too long, and [`PlayError::Interrupted`]. Players and the observer are then notified
/// that the match is aborted.
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
    let mut referee = Referee::new(played, Asking::AtOnce, seed);
    let past = |role| {
        let turns = 0..referee.played().len();
        is_resumed.then(|| turns.map(|turn| referee.news(role, turn)).collect())
    };
    let mut contenders = contenders(&game, parties, options, record, &past)?;
    let mut begun = Instant::now();
    let lapses = referee.start(&mut contenders);
    if !is_resumed {
        let state = referee.game().history().state().clone();
        record.reached(referee.game().machine(), &state, &lapses);
    }
    let is_interrupted = || options.stop.is_raised();
    // The record is reported before the wait for the whole clock.
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
        match referee.step(&mut contenders, is_interrupted) {
            Err(error) => ended = Err(error.into()),
            Ok(Some(round)) => {
                let state = referee.game().history().state().clone();
                record.moved(&referee.last());
                record.reached(referee.game().machine(), &state, &round.lapses);
                // A record with the last move also has the end, whoever reads it and when.
                if let (Ok(true), Ok(scores)) = (referee.game().is_over(), referee.game().scores())
                {
                    complete(record, scores);
                }
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
            complete(record, scores);
            let saved = observer(record, Seen::Ended);
            referee.stop(&mut contenders);
            Ok(saved?)
        }
        Err(error) => {
            record.is_aborted = true;
            record.is_completed = false;
            record.goal_values.clear();
            // The error that ends the match takes precedence over an error of the observer.
            let _ = observer(record, Seen::Ended);
            referee.abort(&mut contenders);
            Err(error)
        }
    }
}

fn complete(record: &mut MatchRecord, scores: Vec<Score>) {
    record.goal_values = scores.into_iter().map(|score| score.get()).collect();
    record.is_completed = true;
}

fn contenders<'a>(
    game: &Game,
    parties: &[Party],
    options: &HostOptions,
    record: &MatchRecord,
    past: &dyn Fn(RoleId) -> Option<Vec<News>>,
) -> Result<Vec<Option<Box<dyn Contender + 'a>>>, HostError> {
    let seed = record.seed.unwrap_or_default();
    let scrambled = record.scrambled.then_some(seed);
    let invitation = Invitation::new(game, &record.match_id, scrambled, options);
    let clocks = Clocks {
        start: Some(Duration::from_secs(options.start_clock.into())),
        play: Some(Duration::from_secs(options.play_clock.into())),
    };
    let mut contenders: Vec<Option<Box<dyn Contender>>> = Vec::new();
    for (role, party) in game.roles().zip(parties) {
        contenders.push(match party {
            Party::Chance => None,
            Party::Agent(spec) => {
                let brief = options.resources.brief(game, role, clocks, seed);
                let contender = AgentContender::new(brief, spec, clocks);
                Some(Box::new(contender.map_err(HostError::Player)?))
            }
            Party::Remote(address, name) => {
                let remote = Remote::new(&invitation, address, name, role);
                Some(Box::new(match past(role) {
                    Some(missed) => remote.resumed(missed),
                    None => remote,
                }))
            }
        });
    }
    Ok(contenders)
}

/// The reason why a match was aborted.
#[derive(Debug)]
#[non_exhaustive]
pub enum HostError {
    /// An error in the rules, a limit, or an interrupt.
    Play(PlayError),
    /// Invalid options of an agent.
    Player(SpecError),
    /// The record to resume does not belong to these rules.
    Record(crate::record::Difference),
    /// The game was not over after this number of joint moves.
    TooLong(usize),
    /// An error of the observer.
    Observer(std::io::Error),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostError::Play(error) => error.fmt(f),
            HostError::Player(error) => error.fmt(f),
            HostError::Record(difference) => write!(f, "the record: {difference}"),
            HostError::TooLong(moves) => {
                write!(
                    f,
                    "match aborted: the game is not over after {}",
                    counted(moves, "joint move")
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
