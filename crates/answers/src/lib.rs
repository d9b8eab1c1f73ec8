//! Answers about games in JSON: positions and their drawings, explanations, players, solvers,
//! game graphs, and the requests of a rule editor.
//!
//! In: a [`LoadedGame`] or a [`RuleSet`], a request as it comes from a client, and an
//! [`Allowance`]. Out: an answer that can be serialized, or a [`Refusal`]; long work tells a
//! [`Listener`] how it goes. The server of the page answers with this over HTTP, and the page
//! without a server does in WebAssembly. Nothing here knows of networks or sessions, and
//! threads are those of the [`Background`]. Nothing here draws, plays or explains: see
//! [`picture`](ggp_picture), [`play`](ggp_play) and [`explain`](ggp_explain).
//!
//! A position is a game and the moves made from its initial state.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use ggp_answers::{Allowance, LoadedGame, NoBackground, RuleSet, Rules, position};
//! use ggp_stop::Stop;
//!
//! let text = "(role r) (init a) (legal r go) (<= (next b) (true a)) \
//!             (<= terminal (true b)) (goal r 100)";
//! let set = RuleSet::one("small.kif", text);
//! let stop = Stop::new();
//! let game = LoadedGame::new(Arc::new(Rules::uploaded(set)), 64 << 20, &stop).expect("no errors");
//! let allowance = Allowance {
//!     stop: &stop,
//!     memory_bytes: 64 << 20,
//!     time: Duration::from_secs(1),
//!     tables: &Arc::default(),
//!     background: &NoBackground,
//! };
//! let asked = serde_json::from_str(r#"{"moves": [["go"]]}"#).expect("a request");
//! let found = position::position(&game, &asked, &allowance).expect("the move is legal");
//! let answer = serde_json::to_value(found).expect("it is JSON");
//! assert_eq!(answer["over"], true);
//! assert_eq!(answer["goals"][0], 100);
//! ```

mod allowance;
mod description;
pub mod editing;
mod film;
pub mod graph;
mod loaded_game;
mod network;
pub mod players;
pub mod position;
pub mod preview;
mod refusal;
mod rule_set;
mod seat;
pub mod solving;
pub mod think;
pub mod trial;
pub mod values;
pub mod why;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use allowance::{Allowance, Background, Content, Listener, NoBackground, Work};
pub use description::{GameDescription, Role};
pub use ggp_play::Tables;
pub use loaded_game::{LoadedGame, Reached};
pub use refusal::{Refusal, RefusalKind};
pub use rule_set::{CheckReport, File, Finding, RuleSet, Rules};

/// Locks a mutex. A thread that panicked left the content intact, since every change is a
/// single one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
