//! The table of commands: one row and one module for each.

pub mod bench;
pub mod check;
pub mod completions;
pub mod conformance;
pub mod convert;
pub mod diff;
pub mod draw;
pub mod export;
pub mod fmt;
pub mod goal;
pub mod graph;
pub mod host;
pub mod info;
pub mod init;
pub mod learn;
pub mod legal;
pub mod lsp;
pub mod man;
pub mod next;
pub mod perft;
pub mod play;
pub mod player;
pub mod playout;
pub mod plot;
pub mod prove;
pub mod rename;
pub mod replay;
pub mod scramble;
pub mod seeds;
pub mod solve;
pub mod tabulate;
pub mod tournament;
pub mod verify;
#[cfg(feature = "web")]
pub mod web;
pub mod why;

use clap::Subcommand;

use crate::{Context, Exit};

macro_rules! commands {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident = $module:ident;)*) => {
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
    /// Report every error in a rule set
    Check = check;
    /// Format rule files
    Fmt = fmt;
    /// Rename a symbol
    Rename = rename;
    /// Obfuscate all names (reversible)
    Scramble = scramble;
    /// Compare two rule files rule by rule
    Diff = diff;
    /// Convert between KIF and infix notation
    Convert = convert;
    /// Run a language server for editors: diagnostics, fixes, hover, renaming, completion
    Lsp = lsp;
    /// Show the roles, relations and sizes of a rule set
    Info = info;
    /// Print the facts of the initial state
    Init = init;
    /// Draw a state; boards are recognized from the rules
    Draw = draw;
    /// Print the legal moves
    Legal = legal;
    /// Print the facts after a joint move
    Next = next;
    /// Print the scores, and whether the game is over
    Goal = goal;
    /// Explain why a fact holds in a position, or why it does not
    Why = why;
    /// Count the positions at each depth
    Perft = perft;
    /// Play random games
    Playout = playout;
    /// Play a match, by hand or between programs
    Play = play;
    /// Play a tournament between programs and rate them
    Tournament = tournament;
    /// Serve a web page: browse games, play them, watch programs think
    #[cfg(feature = "web")]
    Web = web;
    /// Run a GGP network player
    Player = player;
    /// Host a match between network players
    Host = host;
    /// Replay a match record and check it
    Replay = replay;
    /// Find plans, or prove that none exists
    Solve = solve;
    /// Compute the value of a position and its best moves
    Prove = prove;
    /// Compute the values of all positions, and write them to a file
    Tabulate = tabulate;
    /// Learn the values of positions by self-play
    Learn = learn;
    /// Check answers of `solve`, and values of `tabulate`
    Verify = verify;
    /// Export the graph that a search explores
    Graph = graph;
    /// Export the game tree for programs of game theory
    Export = export;
    /// Plot columns of a CSV table
    Plot = plot;
    /// Compare solving times with the published times of other programs
    Seeds = seeds;
    /// Compare answers with a folder of reference answers
    Conformance = conformance;
    /// Measure random playouts on every backend
    Bench = bench;
    /// Print a shell completion script
    Completions = completions;
    /// Print or write the manual pages
    Man = man;
}
