//! Players as options name them, or a list of their kinds.
//!
//! `list` in place of a player prints the kinds and ends the process, as `--help` does.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::TypedValueParser;

use ggp_play::AGENT_KINDS;

/// Reads a player, or prints the list.
pub struct OrList<T> {
    /// A kind that only this command has, with what it is.
    more: Option<(&'static str, &'static str)>,
    player: PhantomData<fn() -> T>,
}

impl<T> OrList<T> {
    /// One for the programs alone.
    pub fn new() -> Self {
        OrList {
            more: None,
            player: PhantomData,
        }
    }

    /// One for a person, too.
    pub fn or_human() -> Self {
        OrList {
            more: Some(("human", "you")),
            ..OrList::new()
        }
    }

    fn list(&self) -> String {
        let kinds = AGENT_KINDS
            .iter()
            .map(|kind| (kind.name, kind.about, kind.options));
        let more = self.more.map(|(name, what)| (name, what, &[][..]));
        let mut text = "the kinds of players, and their options:\n".to_owned();
        for (name, what, options) in more.into_iter().chain(kinds) {
            text += &format!("  {name:<10} {what}\n");
            for (usage, what) in options {
                text += &format!("    {usage:<36} {what}\n");
            }
        }
        let thinking = AGENT_KINDS
            .iter()
            .filter(|kind| kind.thinks())
            .map(|kind| kind.name);
        text += &format!(
            "of {}: KIND:N thinks for N iterations a move, KIND:2s for two seconds\n\
             options follow a colon, with commas between them: mcts:2s,exploration=1\n",
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
            // Whoever closes the pipe has seen enough.
            let _ = io::stdout().lock().write_all(self.list().as_bytes());
            std::process::exit(0);
        }
        let read = |text: &str| text.parse::<T>();
        read.parse_ref(command, argument, value)
    }
}
