//! Match records in JSON.
//!
//! In: the states, moves and errors of a match. Out: a record with the keys that hosts and
//! spectators of general game playing use, and two additional ones: `rulesheet` and `seed`. A
//! record can be checked against the rules, move by move.
//!
//! Source: ggp-base, `util/match/Match.java`; ggp.org, match format.

use std::fmt;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};

use super::Match;
use super::referee::Lapse;
use super::whole_file;
use hmac_sha256::Hash as Sha256;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, GoalChoice, Move};
use ggp_gdl::terms::TermId;

/// A record of a match. Inner lists have one entry for each role.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchRecord {
    /// The name of the match.
    pub match_id: String,
    /// 32 letters and digits that cannot be guessed.
    pub random_token: String,
    /// Milliseconds since 1970.
    #[serde(deserialize_with = "whole")]
    pub start_time: u64,
    /// The address of a description of the game.
    #[serde(rename = "gameMetaURL", skip_serializing_if = "Option::is_none")]
    pub game_meta_url: Option<String>,
    /// True if the game is over.
    pub is_completed: bool,
    /// True if the match was aborted.
    #[serde(default)]
    pub is_aborted: bool,
    /// The facts of each state, including the first.
    pub states: Vec<String>,
    /// The joint moves.
    pub moves: Vec<Vec<String>>,
    /// The time of each state in the unit of [`MatchRecord::start_time`].
    #[serde(default, deserialize_with = "whole_list")]
    pub state_times: Vec<u64>,
    /// The lapses before each state, by role; empty texts where there was none. The first
    /// entry is the preparation.
    #[serde(default)]
    pub errors: Vec<Vec<String>>,
    /// The scores, if the game is over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "whole_list")]
    pub goal_values: Vec<u8>,
    /// Seconds; -1 for no preview.
    #[serde(default = "no_clock", deserialize_with = "whole")]
    pub preview_clock: i64,
    /// Seconds; 0 if there was no clock.
    #[serde(default, deserialize_with = "whole")]
    pub start_clock: u32,
    /// Seconds; 0 if there was no clock.
    #[serde(default, deserialize_with = "whole")]
    pub play_clock: u32,
    /// The names of the players by role.
    #[serde(default)]
    pub player_names_from_host: Vec<String>,
    /// True if each player is a person.
    #[serde(default)]
    pub is_player_human: Vec<bool>,
    /// The tournament of the match.
    #[serde(default)]
    pub tournament_name_from_host: String,
    /// True if players saw scrambled names.
    #[serde(default)]
    pub scrambled: bool,
    /// The public key of the host that signed the record.
    #[serde(rename = "matchHostPK", skip_serializing_if = "Option::is_none")]
    pub match_host_pk: Option<String>,
    /// The signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_host_signature: Option<String>,
    /// The rules. Not part of the standard format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rulesheet: Option<String>,
    /// The choice among several goal values of a role; absent if they are an error. Not part of the
    /// standard format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_choice: Option<String>,
    /// The seed of random moves. Not part of the standard format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// All other keys.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

fn no_clock() -> i64 {
    -1
}

/// A whole number, which hosts also write as `100.0`.
struct Whole<T>(T);

impl<'de, T: TryFrom<i128>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(deserializer)?;
        let written_with_point = || {
            let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
            // Larger numbers are not exact.
            (value.abs() < (1_u64 << 53) as f64).then_some(value as i128)
        };
        let exact = number.as_i64().map(i128::from);
        let exact = exact.or_else(|| number.as_u64().map(i128::from));
        let value = exact.or_else(written_with_point);
        let value = value.and_then(|value| T::try_from(value).ok());
        let wrong = || D::Error::custom(format_args!("{number} is not a whole number in range"));
        value.map(Whole).ok_or_else(wrong)
    }
}

fn whole<'de, D: Deserializer<'de>, T: TryFrom<i128>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Whole::deserialize(deserializer)?.0)
}

fn whole_list<'de, D: Deserializer<'de>, T: TryFrom<i128>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::<Whole<T>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|number| number.0).collect())
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

impl MatchRecord {
    /// The record of a match that begins now. The default name consists of the game and the
    /// time.
    pub fn begin(game: &Game, id: Option<&str>) -> Self {
        let time = now();
        let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = game.name().chars().map(letters).collect();
        let id = id.map_or_else(|| format!("ggp.{name}.{time}"), str::to_owned);
        let files = game.sources().files().iter().map(|file| file.text());
        let own = format!(
            "{id} {time} {} {:?}",
            std::process::id(),
            ggp_stop::Instant::now()
        );
        MatchRecord {
            random_token: token(&own),
            match_id: id,
            start_time: time,
            preview_clock: no_clock(),
            rulesheet: Some(files.collect::<Vec<_>>().join("\n")),
            ..MatchRecord::default()
        }
        .with_goals_of(game)
    }

    /// The record with the choice among several goal values that a game was completed with.
    #[must_use]
    pub fn with_goals_of(mut self, game: &Game) -> Self {
        let choice = Some(game.goal_choice()).filter(|choice| *choice != GoalChoice::Error);
        self.goal_choice = choice.map(|choice| choice.to_string());
        self
    }

    /// The record as text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers are JSON")
    }

    /// Writes the record to a file atomically: a reader of the file always finds this record or
    /// the previous one.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        whole_file::write(path, (self.to_json() + "\n").as_bytes())
    }

    /// Appends a state with the lapses before it.
    pub fn reached<M: Machine>(&mut self, machine: &M, state: &M::State, lapses: &[Option<Lapse>]) {
        let facts = machine.facts(state).into_iter();
        let facts = facts.map(|fact| spread(&machine.game().text(machine.terms(), fact)));
        let mut facts: Vec<String> = facts.collect();
        facts.sort_unstable();
        self.states.push(format!("( {} )", facts.join(" ")));
        self.state_times.push(now());
        let text = |lapse: &Option<Lapse>| lapse.as_ref().map_or(String::new(), Lapse::to_string);
        self.errors.push(lapses.iter().map(text).collect());
    }

    /// Appends a joint move.
    pub fn moved(&mut self, joint: &[String]) {
        self.moves
            .push(joint.iter().map(|chosen| spread(chosen)).collect());
    }

    /// Replays the match from the first state to the last and calls `see` in each state with
    /// its number and the match so far.
    ///
    /// # Errors
    ///
    /// The first difference between the record and the rules.
    pub fn replay<M: Machine>(
        &self,
        machine: M,
        mut see: impl FnMut(usize, &mut Match<M>),
    ) -> Result<Match<M>, Difference> {
        let game = machine.game().clone();
        let mut machine = machine;
        let start = machine.initial().map_err(Difference::Rules)?;
        let mut played = Match::new(machine, start);
        self.compare_lengths(&game)?;
        self.compare_state(0, &mut played)?;
        see(0, &mut played);
        for (number, joint) in self.moves.iter().enumerate() {
            let moves = joint.iter().map(|text| {
                let chosen = played.machine().read_move(text);
                chosen.map_err(|error| Difference::Move {
                    number,
                    why: error.to_string(),
                })
            });
            let moves = moves.collect::<Result<Vec<Move>, _>>()?;
            played.play(moves).map_err(|error| match error {
                PlayError::IllegalMove { .. } | PlayError::GameOver => Difference::Move {
                    number,
                    why: error.to_string(),
                },
                PlayError::WrongMoveCount { .. } => Difference::Shape(format!(
                    "joint move {} does not have one move for each role",
                    number + 1
                )),
                error => Difference::Rules(error),
            })?;
            self.compare_state(number + 1, &mut played)?;
            see(number + 1, &mut played);
        }
        self.compare_end(&mut played)?;
        Ok(played)
    }

    fn compare_lengths(&self, game: &Game) -> Result<(), Difference> {
        let states = self.states.len();
        let shape = |text: String| Err(Difference::Shape(text));
        if states != self.moves.len() + 1 {
            return shape(format!(
                "{} for {}",
                counted(states, "state"),
                counted(self.moves.len(), "joint move")
            ));
        }
        for (what, count) in [
            ("time", self.state_times.len()),
            ("error", self.errors.len()),
        ] {
            if count != 0 && count != states {
                let (found, states) = (counted(count, what), counted(states, "state"));
                return shape(format!("{found} for {states}"));
            }
        }
        if let Some(at) = self
            .state_times
            .windows(2)
            .position(|pair| pair[0] > pair[1])
        {
            return shape(format!("state {} was reached before state {at}", at + 1));
        }
        let roles = game.role_count();
        for (what, count) in [
            ("playerNamesFromHost", self.player_names_from_host.len()),
            ("isPlayerHuman", self.is_player_human.len()),
        ] {
            if count != 0 && count != roles {
                let names: Vec<&str> = game.roles().map(|role| game.role_name(role)).collect();
                let names = names.join(", ");
                return shape(format!(
                    "{what} has {count} of {}, one for each role: {names}",
                    counted(roles, "entry")
                ));
            }
        }
        if self.is_completed && self.is_aborted {
            return shape("the match is both over and aborted".to_owned());
        }
        match self.errors.iter().position(|errors| errors.len() != roles) {
            Some(at) => {
                let roles = counted(roles, "role");
                shape(format!("the errors of state {at} are not of {roles}"))
            }
            None => Ok(()),
        }
    }

    fn compare_state<M: Machine>(
        &self,
        number: usize,
        played: &mut Match<M>,
    ) -> Result<(), Difference> {
        let text = self.states[number].trim();
        let inner = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let state = played.history().state().clone();
        let machine = played.machine();
        let game = machine.game().clone();
        let wrong = |why: String| Difference::State { number, why };
        let inner = inner.ok_or_else(|| wrong("not a list of facts".to_owned()))?;
        let facts = game.parse_terms(machine.terms_mut(), inner);
        let mut facts = facts.map_err(|error| wrong(error.to_string()))?;
        facts.sort_unstable();
        facts.dedup();
        let expected = machine.facts(&state);
        let text = |fact: &TermId| game.text(machine.terms(), *fact);
        if let Some(more) = facts.iter().find(|fact| !expected.contains(fact)) {
            return Err(wrong(format!("{} does not hold by the rules", text(more))));
        }
        match expected
            .iter()
            .find(|fact| facts.binary_search(fact).is_err())
        {
            Some(missing) => Err(wrong(format!("{} holds by the rules", text(missing)))),
            None => Ok(()),
        }
    }

    fn compare_end<M: Machine>(&self, played: &mut Match<M>) -> Result<(), Difference> {
        let end = |text: &str| Err(Difference::End(text.to_owned()));
        let is_over = played.is_over().map_err(Difference::Rules)?;
        match (self.is_completed, is_over) {
            (true, false) => return end("the game is not over by the rules"),
            (false, true) if !self.is_aborted => return end("the game is over by the rules"),
            _ => {}
        }
        if !self.is_completed {
            return Ok(());
        }
        let scores = played.scores().map_err(Difference::Rules)?;
        let scores: Vec<u8> = scores.into_iter().map(|score| score.get()).collect();
        match scores == self.goal_values {
            true => Ok(()),
            false => Err(Difference::End(format!(
                "the scores are {scores:?} by the rules, not {:?}",
                self.goal_values
            ))),
        }
    }
}

/// A text with spaces inside brackets, which is the form of records.
fn spread(text: &str) -> String {
    text.replace('(', "( ").replace(')', " )")
}

/// A difference between a record and the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// A list has the wrong length.
    Shape(String),
    /// A state differs.
    State {
        /// The number of the state.
        number: usize,
        /// The reason.
        why: String,
    },
    /// A joint move is not legal.
    Move {
        /// The number of the state before it.
        number: usize,
        /// The reason.
        why: String,
    },
    /// The end differs.
    End(String),
    /// The rules are invalid, or a limit is too small.
    Rules(PlayError),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Shape(what) => write!(f, "in its lists: {what}"),
            Difference::State { number, why } => write!(f, "in state {number}: {why}"),
            Difference::Move { number, why } => write!(f, "after state {number}: {why}"),
            Difference::End(what) => write!(f, "at the end: {what}"),
            Difference::Rules(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Difference {}

/// A hash of a text with 32 hexadecimal digits.
fn token(text: &str) -> String {
    let digest = Sha256::hash(text.as_bytes());
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
