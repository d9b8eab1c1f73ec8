//! The command-line syntax of players.
//!
//! `list` in place of a player prints all kinds and ends the process, like `--help`.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::TypedValueParser;

use ggp_play::AGENT_KINDS;

/// Shown in errors in place of an address with a password.
const HIDDEN: &str = "...@...";

/// An argument parser for a player that also accepts `list`.
pub struct OrList<T> {
    /// An additional kind of this command: name and description.
    more: Option<(&'static str, &'static str)>,
    player: PhantomData<fn() -> T>,
}

impl<T> OrList<T> {
    /// A parser for agents only.
    pub fn new() -> Self {
        OrList {
            more: None,
            player: PhantomData,
        }
    }

    /// A parser for agents and people.
    pub fn or_human() -> Self {
        OrList {
            more: Some(("human", "a person at the terminal")),
            ..OrList::new()
        }
    }

    fn list(&self) -> String {
        let kinds = AGENT_KINDS
            .iter()
            .map(|kind| (kind.name, kind.about, kind.options));
        let more = self.more.map(|(name, about)| (name, about, &[][..]));
        let mut text = "players and their options:\n".to_owned();
        for (name, about, options) in more.into_iter().chain(kinds) {
            text += &format!("  {name:<10} {about}\n");
            for (usage, about) in options {
                text += &format!("    {usage:<36} {about}\n");
            }
        }
        let thinking = AGENT_KINDS
            .iter()
            .filter(|kind| kind.thinks())
            .map(|kind| kind.name);
        text += &format!(
            "{}: KIND:N searches N iterations a move, KIND:2s two seconds\n\
             options follow a colon and are separated by commas: mcts:2s,exploration=1\n",
            thinking.collect::<Vec<_>>().join(", ")
        );
        text
    }
}

impl<T> Clone for OrList<T> {
    fn clone(&self) -> Self {
        OrList {
            more: self.more,
            player: PhantomData,
        }
    }
}

impl<T> TypedValueParser for OrList<T>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        if value == "list" {
            let mut out = io::stdout().lock();
            let listed = out.write_all(self.list().as_bytes());
            crate::end(listed.and_then(|()| out.flush()), 0);
        }
        let read = |text: &str| text.parse::<T>();
        let is_address = value.to_string_lossy().contains('@');
        let player = read.parse_ref(command, argument, value);
        match player {
            // The error shows the value, in which a password might be.
            Err(_) if is_address => read.parse_ref(command, argument, OsStr::new(HIDDEN)),
            player => player,
        }
    }
}
