//! Agents by name, as people write them.
//!
//! `KIND[:OPTION,…]`, where an option is a number of iterations, a time such as
//! `2s`, or `NAME=VALUE`.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use super::mcts;
use super::outlook::Evaluation;
use super::{Agent, Brief, Greedy, MctsAgent, MinimaxAgent, Picker, PuzzleAgent};

/// How long an agent may think about a move.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Thought {
    /// The most iterations, or positions.
    pub nodes: Option<u64>,
    /// The most time.
    pub time: Option<Duration>,
}

/// A kind of agent with its options.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentSpec {
    text: String,
    kind: &'static Kind,
    thought: Thought,
    settings: Vec<(String, String)>,
}

/// What is known of a kind of agent.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub what: &'static str,
    /// Its options with names and values, and what each says.
    pub options: &'static [(&'static str, &'static str)],
    make: Make,
    /// Iterations or positions a move if nothing else limits it; none for one that does
    /// not think longer when it may.
    nodes: Option<u64>,
}

/// From a brief and the options with names and values.
type Make = fn(Brief, &[(String, String)]) -> Result<Box<dyn Agent>, String>;

impl Kind {
    /// Whether it thinks for as long as it may, so that a time or a number of iterations
    /// can be given.
    pub fn thinks(&self) -> bool {
        self.nodes.is_some()
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All kinds of agents.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "auto",
        what: "a solver where one role decides, Monte Carlo tree search elsewhere",
        options: &[],
        make: |brief, settings| none(settings).map(|()| auto(brief)),
        nodes: Some(10_000),
    },
    Kind {
        name: "first",
        what: "plays the first legal move",
        options: &[],
        make: |brief, settings| none(settings).map(|()| Box::new(Picker::first(brief)) as _),
        nodes: None,
    },
    Kind {
        name: "random",
        what: "plays every legal move with the same chance",
        options: &[],
        make: |brief, settings| none(settings).map(|()| Box::new(Picker::random(brief)) as _),
        nodes: None,
    },
    Kind {
        name: "greedy",
        what: "plays the move after which it is best off, one move ahead",
        options: EVALUATION,
        make: |brief, settings| Greedy::new(brief, settings).map(|agent| Box::new(agent) as _),
        nodes: None,
    },
    Kind {
        name: "minimax",
        what: "alpha-beta search, deeper and deeper",
        options: EVALUATION,
        make: |brief, settings| {
            MinimaxAgent::new(brief, settings).map(|agent| Box::new(agent) as _)
        },
        nodes: Some(10_000),
    },
    Kind {
        name: "mcts",
        what: "Monte Carlo tree search",
        options: mcts::OPTIONS,
        make: |brief, settings| MctsAgent::new(brief, settings).map(|agent| Box::new(agent) as _),
        nodes: Some(10_000),
    },
];

/// The agent that suits a game.
fn auto(brief: Brief) -> Box<dyn Agent> {
    let game = &brief.game;
    if game.role_count() == 1 && !game.is_random(brief.role) {
        return Box::new(PuzzleAgent::new(brief));
    }
    Box::new(MctsAgent::new(brief, &[]).expect("it is given no options"))
}

/// Other names.
const ALIASES: &[(&str, &str)] = &[("legal", "first"), ("alpha-beta", "minimax")];

/// The option of kinds that value positions.
const EVALUATION: &[(&str, &str)] = &[(
    "eval=goals|mobility|mixed|playouts",
    "what positions are valued by",
)];

/// How positions are valued by kinds whose one option says it: `eval`.
pub(super) fn evaluation(settings: &[(String, String)]) -> Result<Evaluation, String> {
    let mut evaluation = Evaluation::default();
    for (name, value) in settings {
        match &name[..] {
            "eval" => evaluation = value.parse()?,
            _ => return Err(no_option(name, EVALUATION)),
        }
    }
    Ok(evaluation)
}

/// For kinds without options.
fn none(settings: &[(String, String)]) -> Result<(), String> {
    match settings.first() {
        None => Ok(()),
        Some((name, _)) => Err(no_option(name, &[])),
    }
}

/// What is said of an option that a kind does not have.
pub(super) fn no_option(name: &str, options: &[(&str, &str)]) -> String {
    let names = options
        .iter()
        .map(|(usage, _)| usage.split('=').next().unwrap_or(usage));
    match &names.collect::<Vec<_>>()[..] {
        [] => format!("there is no option `{name}`, nor any other"),
        [only] => format!("there is no option `{name}`; there is {only}"),
        names => format!(
            "there is no option `{name}`; there are {}",
            names.join(", ")
        ),
    }
}

/// Whether a text begins with the name of a kind, whatever its options are.
pub fn is_kind(text: &str) -> bool {
    kind(text.split(':').next().unwrap_or_default()).is_some()
}

/// The kind that is called so.
fn kind(name: &str) -> Option<&'static Kind> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    KINDS.iter().find(|kind| kind.name == name)
}

impl FromStr for AgentSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let kind = kind(name).ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            format!("`{name}` is no player; there are {}", names.join(", "))
        })?;
        let mut spec = AgentSpec {
            text: text.to_owned(),
            kind,
            thought: Thought::default(),
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
    fn option(&mut self, option: &str) -> Result<(), String> {
        let wrong = || {
            format!(
                "`{option}` is neither a number of iterations, nor a time such as 2s, \
                 nor NAME=VALUE"
            )
        };
        if let Some((name, value)) = option.split_once('=') {
            self.settings.push((name.to_owned(), value.to_owned()));
            return Ok(());
        }
        if let Some(seconds) = option.strip_suffix('s') {
            let seconds: f64 = seconds.parse().map_err(|_| wrong())?;
            let time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
            self.thought.time = Some(time);
        } else {
            self.thought.nodes = Some(option.parse().map_err(|_| wrong())?);
        }
        if !self.thinks() {
            let name = self.kind.name;
            return Err(format!(
                "{name} takes as long as it takes: write it without `{option}`"
            ));
        }
        match self.thought {
            Thought {
                time: Some(Duration::ZERO),
                ..
            }
            | Thought { nodes: Some(0), .. } => Err(format!(
                "`{option}` leaves no time to choose; `random` plays without thinking"
            )),
            _ => Ok(()),
        }
    }

    /// Whether a time or a number of iterations can be given.
    pub fn thinks(&self) -> bool {
        self.kind.thinks()
    }

    /// The kind's name.
    pub fn name(&self) -> &'static str {
        self.kind.name
    }

    /// An agent.
    ///
    /// # Errors
    ///
    /// If there is no such option, or it has no such value.
    pub fn agent(&self, brief: Brief) -> Result<Box<dyn Agent>, String> {
        (self.kind.make)(brief, &self.settings).map_err(|why| format!("{self}: {why}"))
    }

    /// The deadline and the number of iterations of a choice that begins now,
    /// if it must end at `deadline`.
    pub fn limits(&self, deadline: Option<Instant>) -> (Option<Instant>, Option<u64>) {
        let own = self.thought.time.map(|time| Instant::now() + time);
        let deadline = match (own, deadline) {
            (Some(own), Some(deadline)) => Some(own.min(deadline)),
            (own, deadline) => own.or(deadline),
        };
        let nodes = match (self.thought.nodes, deadline) {
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
    fn thoughts_are_numbers_or_times() {
        assert_eq!(spec("mcts:50").limits(None), (None, Some(50)));
        assert_eq!(spec("mcts").limits(None), (None, Some(10_000)));
        assert_eq!(spec("mcts").limits(Some(Instant::now())).1, None);
        let thought = spec("mcts:1.5s,7").thought;
        let time = Some(Duration::from_millis(1500));
        assert_eq!(
            thought,
            Thought {
                nodes: Some(7),
                time
            }
        );
        assert_eq!(spec("legal").name(), "first");
    }

    #[test]
    fn what_is_no_player_is_refused() {
        for text in ["", "wizard", "mcts:", "mcts:x", "mcts:-1s", "mcts:1e400s"] {
            assert!(text.parse::<AgentSpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn thoughts_are_for_those_who_think_and_never_nothing() {
        for (text, part) in [
            ("mcts:0s", "no time to choose"),
            ("minimax:0", "no time to choose"),
            ("mcts:5,0.0s", "no time to choose"),
            ("random:3", "write it without `3`"),
            ("legal:1s", "write it without `1s`"),
            ("greedy:eval=goals,1s", "write it without `1s`"),
        ] {
            let error = text.parse::<AgentSpec>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
