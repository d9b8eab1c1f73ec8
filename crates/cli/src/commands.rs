//! The table of commands: one line and one file each.

use clap::Subcommand;

use crate::{Context, Exit};

macro_rules! commands {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident = $module:ident;)*) => {
        $($(#[cfg($cfg)])? pub mod $module;)*

        #[derive(Subcommand)]
        pub enum Command {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $name(Box<$module::Options>),)*
        }

        impl Command {
            pub fn run(&self, context: &Context) -> anyhow::Result<Exit> {
                match self {
                    $($(#[cfg($cfg)])? Command::$name(options) => $module::run(options, context),)*
                }
            }
        }
    };
}

commands! {
    /// Say everything that is wrong with a rule set
    Check = check;
    /// Lay rule files out in one way
    Fmt = fmt;
    /// Put another name in the place of one
    Rename = rename;
    /// Put words that say nothing in the place of all names, and back
    Scramble = scramble;
    /// Compare two rule files rule by rule
    Diff = diff;
    /// Make infix notation of KIF, and back
    Convert = convert;
    /// Serve an editor: diagnostics, mends, hover, definitions, renaming, completion, formatting
    Lsp = lsp;
    /// Show what a rule set consists of
    Info = info;
    /// Print the facts of the initial state
    Init = init;
    /// Draw a state: boards are found in the rules
    Draw = draw;
    /// Print the legal moves
    Legal = legal;
    /// Print the facts after a joint move
    Next = next;
    /// Print whether the game is over, and the scores
    Goal = goal;
    /// Say why something holds in a position, or why not
    Why = why;
    /// Count positions by depth
    Perft = perft;
    /// Play at random
    Playout = playout;
    /// Play a match, by hand or between programs
    Play = play;
    /// Play many matches between programs, and rate them
    Tournament = tournament;
    /// Serve a page for browsers: see games, play them, watch programs think
    #[cfg(feature = "web")]
    Web = web;
    /// Be a player that match hosts reach over the network
    Player = player;
    /// Host a match between players on the network
    Host = host;
    /// Play a match record again, and check it
    Replay = replay;
    /// Find plans, or show that there are none
    Solve = solve;
    /// Say what a position is worth, and which moves are best
    Prove = prove;
    /// Check answers that `solve` has written
    Verify = verify;
    /// Write the graph that a search explores
    Graph = graph;
    /// Draw curves of a table of numbers (CSV)
    Plot = plot;
    /// Solve what other programs solved, and show their figures beside ours
    Seeds = seeds;
    /// Compare our answers with a folder of reference answers
    Conformance = conformance;
    /// Measure random playouts, for every backend
    Bench = bench;
    /// Print a script that completes commands in a shell
    Completions = completions;
    /// Print or write the manual pages
    Man = man;
}
