//! The table of commands: one row and one module for each, in the groups that `ggp --help` shows.

pub mod check;
pub mod completions;
pub mod draw;
pub mod engine;
pub mod export;
pub mod fmt;
pub mod graph;
pub mod host;
pub mod info;
pub mod learn;
pub mod legal;
pub mod lsp;
pub mod man;
pub mod next;
pub mod play;
pub mod player;
pub mod playout;
pub mod prove;
pub mod replay;
pub mod rules;
pub mod solve;
pub mod state;
pub mod tabulate;
pub mod tournament;
pub mod verify;
#[cfg(feature = "web")]
pub mod web;
pub mod why;

use clap::Subcommand;

use crate::{Context, Exit};

macro_rules! commands {
    ($($group:literal {
        $($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident = $module:ident;)*
    })*) => {
        #[derive(Subcommand)]
        pub enum Command {
            $($($(#[doc = $doc])* $(#[cfg($cfg)])? $name(Box<$module::Options>),)*)*
        }

        impl Command {
            pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
                match self {
                    $($($(#[cfg($cfg)])? Command::$name(options) => $module::run(options, context),)*)*
                }
            }
        }

        /// The names of the commands by group. Those of the group without a name are not listed.
        pub const GROUPS: &[(&str, &[&str])] =
            &[$(($group, &[$($(#[cfg($cfg)])? stringify!($module),)*])),*];
    };
}

commands! {
    "Write rules" {
        /// Report every error in a rule set
        Check = check;
        /// Format rule files
        Fmt = fmt;
        /// Convert, rename, compare and obfuscate rule files
        Rules = rules;
        /// Run a language server for editors
        Lsp = lsp;
    }
    "Look at a game" {
        /// Show the roles, relations and sizes of a rule set
        Info = info;
        /// Print a state: its facts, scores, and whether the game is over
        State = state;
        /// Print the legal moves
        Legal = legal;
        /// Print the facts after a joint move
        Next = next;
        /// Draw a state; boards are recognized from the rules
        Draw = draw;
        /// Explain why a fact holds in a position, or why it does not
        Why = why;
    }
    "Play" {
        /// Play a match, by hand or between programs
        Play = play;
        /// Serve a web page: browse games, play them, watch programs think
        #[cfg(feature = "web")]
        Web = web;
        /// Play a tournament between programs and rate them
        Tournament = tournament;
        /// Replay a match record and check it
        Replay = replay;
        /// Learn the values of positions by self-play
        Learn = learn;
    }
    "Solve" {
        /// Find plans, or prove that none exists
        Solve = solve;
        /// Compute the value of a position and its best moves
        Prove = prove;
        /// Compute the values of all positions, and write them to a file
        Tabulate = tabulate;
        /// Check answers of `solve`, and values of `tabulate`
        Verify = verify;
        /// Export the graph that a search explores
        Graph = graph;
    }
    "Connect and measure" {
        /// Run a GGP network player
        Player = player;
        /// Host a match between network players
        Host = host;
        /// Play random games
        Playout = playout;
        /// Export the game tree for programs of game theory
        Export = export;
        /// Count positions, measure speed, compare with reference answers
        Engine = engine;
    }
    "" {
        /// Print a shell completion script
        Completions = completions;
        /// Print or write the manual pages
        Man = man;
    }
}
