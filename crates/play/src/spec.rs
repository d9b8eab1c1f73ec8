//! Agents as users write them.
//!
//! The syntax is `KIND[:OPTION,…]`, where an option is a number of iterations, a time such
//! as `2s`, or `NAME=VALUE`.

use ggp_stop::Instant;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::hidden;
use super::mcts;
use super::outlook::Evaluation;
use super::{
    Agent, Brief, Greedy, GuessingAgent, KnowledgeAgent, MctsAgent, MinimaxAgent, Picker,
    PuzzleAgent,
};

/// The limits for one move of an agent.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
struct MoveLimits {
    /// The most iterations or positions.
    nodes: Option<u64>,
    /// The most time.
    time: Option<Duration>,
}

/// A kind of agent with its options.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentSpec {
    text: String,
    kind: &'static AgentKind,
    limits: MoveLimits,
    settings: Vec<(String, String)>,
}

/// One row of the table of agents.
#[derive(Debug)]
pub struct AgentKind {
    /// The name in an [`AgentSpec`].
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The options: usage and description.
    pub options: &'static [(&'static str, &'static str)],
    make: Make,
    /// Whether the agent plays by what its role knows where the rules have `sees`. Others guess.
    knows: bool,
    /// The default number of iterations or positions for a move without a time limit; `None`
    /// for an agent that does not search.
    nodes: Option<u64>,
}

/// A constructor that takes the options as names and values.
type Make = fn(Brief, &[(String, String)]) -> Result<Box<dyn Agent>, OptionError>;

impl AgentKind {
    /// Returns true if the agent searches, so that it accepts a time or a number of iterations.
    pub fn thinks(&self) -> bool {
        self.nodes.is_some()
    }
}

impl PartialEq for AgentKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The reason why an option of an agent was rejected.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionError {
    /// The agent does not have this option.
    Unknown {
        /// The option.
        name: String,
        /// The options that the agent has.
        known: Vec<&'static str>,
    },
    /// The option does not accept this value.
    Value {
        /// The option.
        name: String,
        /// The values that it accepts.
        allowed: String,
        /// The rejected value.
        value: String,
    },
}

impl OptionError {
    /// An option that is not in a table of options.
    pub(super) fn unknown(name: &str, options: &[(&'static str, &'static str)]) -> Self {
        let names = options
            .iter()
            .map(|(usage, _)| usage.split('=').next().unwrap_or(usage));
        OptionError::Unknown {
            name: name.to_owned(),
            known: names.collect(),
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown { name, known } => match &known[..] {
                [] => write!(f, "unknown option `{name}`; this player takes no options"),
                [only] => write!(f, "unknown option `{name}`; the only option is {only}"),
                known => write!(
                    f,
                    "unknown option `{name}`; the options are {}",
                    known.join(", ")
                ),
            },
            OptionError::Value {
                name,
                allowed,
                value,
            } => {
                write!(f, "{name} must be {allowed}, not `{value}`")
            }
        }
    }
}

impl Error for OptionError {}

ggp_gdl::debug_as_display!(OptionError);

/// The reason why a text is not a valid [`AgentSpec`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no agent of this name.
    UnknownPlayer(String),
    /// The option is not a number, a time, or a name with a value.
    Malformed(String),
    /// The agent does not search, so it cannot be limited.
    Unlimited {
        /// The agent.
        player: &'static str,
        /// The limit.
        option: String,
    },
    /// The limit is zero.
    NoTime(String),
    /// The agent rejected an option.
    Option {
        /// The whole text.
        spec: String,
        /// The reason.
        error: OptionError,
    },
    /// The system gives no thread to the agent, for this reason.
    NoThread(String),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::UnknownPlayer(name) => {
                let names: Vec<&str> = AGENT_KINDS.iter().map(|kind| kind.name).collect();
                write!(
                    f,
                    "unknown player `{name}`; the players are {}",
                    names.join(", ")
                )
            }
            SpecError::Malformed(option) => write!(
                f,
                "`{option}` is not a number of iterations, a time such as 2s, or NAME=VALUE"
            ),
            SpecError::Unlimited { player, option } => write!(
                f,
                "{player} has no time or iteration limit; remove `{option}`"
            ),
            SpecError::NoTime(option) => write!(
                f,
                "`{option}` leaves no time to choose; use `random` to play without search"
            ),
            SpecError::Option { spec, error } => write!(f, "{spec}: {error}"),
            SpecError::NoThread(reason) => {
                write!(f, "the system gives no thread to the agent: {reason}")
            }
        }
    }
}

impl Error for SpecError {}

ggp_gdl::debug_as_display!(SpecError);

/// The longest time for a move, 30 years: later instants may not exist.
const MOST_SECONDS: f64 = 1e9;

/// All kinds of agents.
pub const AGENT_KINDS: &[AgentKind] = &[
    AgentKind {
        name: "auto",
        about: "solver for games with one deciding role, ismcts for rules with `sees`, Monte Carlo tree search for all others",
        options: &[],
        make: |brief, settings| none(settings).map(|()| auto(brief)),
        knows: true,
        nodes: Some(10_000),
    },
    AgentKind {
        name: "first",
        about: "plays the first legal move",
        options: &[],
        make: |brief, settings| none(settings).map(|()| Box::new(Picker::first(brief)) as _),
        knows: false,
        nodes: None,
    },
    AgentKind {
        name: "random",
        about: "plays a legal move drawn uniformly at random",
        options: &[],
        make: |brief, settings| none(settings).map(|()| Box::new(Picker::random(brief)) as _),
        knows: false,
        nodes: None,
    },
    AgentKind {
        name: "greedy",
        about: "plays the move with the best average value one joint move ahead",
        options: EVALUATION,
        make: |brief, settings| Greedy::new(brief, settings).map(|agent| Box::new(agent) as _),
        knows: false,
        nodes: None,
    },
    AgentKind {
        name: "minimax",
        about: "alpha-beta search with iterative deepening",
        options: EVALUATION,
        make: |brief, settings| {
            MinimaxAgent::new(brief, settings).map(|agent| Box::new(agent) as _)
        },
        knows: false,
        nodes: Some(10_000),
    },
    AgentKind {
        name: "mcts",
        about: "Monte Carlo tree search",
        options: mcts::OPTIONS,
        make: |brief, settings| MctsAgent::new(brief, settings).map(|agent| Box::new(agent) as _),
        knows: false,
        nodes: Some(10_000),
    },
    AgentKind {
        name: "ismcts",
        about: "Monte Carlo tree search over what roles know, for rules with `sees`",
        options: hidden::OPTIONS,
        make: |brief, settings| match brief.game.is_hidden() {
            true => KnowledgeAgent::new(brief, settings).map(|agent| Box::new(agent) as _),
            // Where all is known, the other search is the same and has more.
            false => none(settings).map(|()| auto(brief)),
        },
        knows: true,
        nodes: Some(10_000),
    },
];

/// The default agent for a game.
fn auto(brief: Brief) -> Box<dyn Agent> {
    let game = &brief.game;
    if game.is_hidden() {
        return Box::new(KnowledgeAgent::new(brief, &[]).expect("it is given no options"));
    }
    let agent: Box<dyn Agent> = match game.role_count() == 1 && !game.is_random(brief.role) {
        true => Box::new(PuzzleAgent::new(brief.clone())),
        false => Box::new(MctsAgent::new(brief.clone(), &[]).expect("it is given no options")),
    };
    #[cfg(feature = "tables")]
    let agent = super::LookupAgent::or_else(brief, agent);
    agent
}

/// Alternative names of agents.
const ALIASES: &[(&str, &str)] = &[("legal", "first"), ("alpha-beta", "minimax")];

/// The option of agents that evaluate positions.
const EVALUATION: &[(&str, &str)] = &[(
    "eval=goals|mobility|mixed|playouts",
    "evaluation of positions",
)];

/// Reads the options of an agent whose only option is `eval`.
pub(super) fn evaluation(settings: &[(String, String)]) -> Result<Evaluation, OptionError> {
    let mut evaluation = Evaluation::default();
    for (name, value) in settings {
        match &name[..] {
            "eval" => evaluation = value.parse()?,
            _ => return Err(OptionError::unknown(name, EVALUATION)),
        }
    }
    Ok(evaluation)
}

/// Rejects all options, for agents that have none.
fn none(settings: &[(String, String)]) -> Result<(), OptionError> {
    match settings.first() {
        None => Ok(()),
        Some((name, _)) => Err(OptionError::unknown(name, &[])),
    }
}

/// Returns true if a text begins with the name of an agent, whatever follows the colon.
pub fn is_agent(text: &str) -> bool {
    kind(text.split(':').next().unwrap_or_default()).is_some()
}

/// The agent of this name or alias.
fn kind(name: &str) -> Option<&'static AgentKind> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    AGENT_KINDS.iter().find(|kind| kind.name == name)
}

impl FromStr for AgentSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let kind = kind(name).ok_or_else(|| SpecError::UnknownPlayer(name.to_owned()))?;
        let mut spec = AgentSpec {
            text: text.to_owned(),
            kind,
            limits: MoveLimits::default(),
            settings: Vec::new(),
        };
        if text.contains(':') {
            for option in options.split(',') {
                spec.option(option)?;
            }
        }
        Ok(spec)
    }
}

impl AgentSpec {
    fn option(&mut self, option: &str) -> Result<(), SpecError> {
        let malformed = || SpecError::Malformed(option.to_owned());
        if let Some((name, value)) = option.split_once('=') {
            self.settings.push((name.to_owned(), value.to_owned()));
            return Ok(());
        }
        if let Some(seconds) = option.strip_suffix('s') {
            let seconds: f64 = seconds.parse().map_err(|_| malformed())?;
            if !(0.0..=MOST_SECONDS).contains(&seconds) {
                return Err(malformed());
            }
            let time = Duration::from_secs_f64(seconds);
            self.limits.time = Some(time);
        } else {
            self.limits.nodes = Some(option.parse().map_err(|_| malformed())?);
        }
        if !self.thinks() {
            return Err(SpecError::Unlimited {
                player: self.kind.name,
                option: option.to_owned(),
            });
        }
        match self.limits {
            MoveLimits {
                time: Some(Duration::ZERO),
                ..
            }
            | MoveLimits { nodes: Some(0), .. } => Err(SpecError::NoTime(option.to_owned())),
            _ => Ok(()),
        }
    }

    /// Returns true if the agent searches, so that it accepts a time or a number of iterations.
    pub fn thinks(&self) -> bool {
        self.kind.thinks()
    }

    /// The name of the kind.
    pub fn name(&self) -> &'static str {
        self.kind.name
    }

    /// Creates the agent.
    ///
    /// # Errors
    ///
    /// [`SpecError::Option`] if the agent does not have an option, or the option does not
    /// accept its value.
    pub fn agent(&self, brief: Brief) -> Result<Box<dyn Agent>, SpecError> {
        let agent = (self.kind.make)(brief.clone(), &self.settings);
        let agent = agent.map_err(|error| SpecError::Option {
            spec: self.text.clone(),
            error,
        })?;
        if brief.game.is_hidden() && brief.game.is_random(brief.role) {
            // This role is chance: it knows all moves and draws from the true ones.
            return Ok(Box::new(Picker::random(brief)));
        }
        if !brief.game.is_hidden() || self.kind.knows {
            return Ok(agent);
        }
        let (make, settings) = (self.kind.make, self.settings.clone());
        let make = move |brief| make(brief, &settings).expect("the options were accepted above");
        Ok(Box::new(GuessingAgent::new(brief, self.thinks(), make)))
    }

    /// True if the agent searches before it chooses.
    pub fn searches(&self) -> bool {
        self.kind.nodes.is_some()
    }

    /// The deadline and the number of iterations for a choice that begins now and must end
    /// at `deadline`.
    pub fn limits(&self, deadline: Option<Instant>) -> (Option<Instant>, Option<u64>) {
        let own = self.limits.time.map(|time| Instant::now() + time);
        let deadline = match (own, deadline) {
            (Some(own), Some(deadline)) => Some(own.min(deadline)),
            (own, deadline) => own.or(deadline),
        };
        let nodes = match (self.limits.nodes, deadline) {
            (None, None) => self.kind.nodes,
            (nodes, _) => nodes,
        };
        (deadline, nodes)
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> AgentSpec {
        text.parse().unwrap()
    }

    #[test]
    fn limits_are_numbers_or_times() {
        assert_eq!(spec("mcts:50").limits(None), (None, Some(50)));
        assert_eq!(spec("mcts").limits(None), (None, Some(10_000)));
        assert_eq!(spec("mcts").limits(Some(Instant::now())).1, None);
        let limits = spec("mcts:1.5s,7").limits;
        let time = Some(Duration::from_millis(1500));
        assert_eq!(
            limits,
            MoveLimits {
                nodes: Some(7),
                time
            }
        );
        assert_eq!(spec("legal").name(), "first");
    }

    #[test]
    fn texts_that_do_not_name_a_player_are_rejected() {
        for text in ["", "wizard", "mcts:", "mcts:x", "mcts:-1s", "mcts:1e400s"] {
            assert!(text.parse::<AgentSpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn limits_are_for_players_that_search_and_never_zero() {
        for (text, part) in [
            ("mcts:0s", "no time to choose"),
            ("minimax:0", "no time to choose"),
            ("mcts:5,0.0s", "no time to choose"),
            ("random:3", "remove `3`"),
            ("legal:1s", "remove `1s`"),
            ("greedy:eval=goals,1s", "remove `1s`"),
        ] {
            let error = text.parse::<AgentSpec>().unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
