//! The options of tree search by name.
//!
//! - `select=ucb|tuned|puct` and `exploration=W`: how arms are weighed;
//! - `fpu=LESS|off`: untried moves count as the position's mean less this, or
//!   are all tried first;
//! - `history=W|off`: what a move was worth elsewhere counts so much;
//! - `graph=on|off`: equal states are one position;
//! - `solver=on|off`: bounds are proved, and what is worse is left out;
//! - `simultaneous=duct|regret`: how those choose who choose at the same time;
//! - `batch=N`: the most lines that are evaluated together;
//! - `each=N|fill`: playouts of each new position, or as many as there are lanes;
//! - `depth=N`: joint moves after which a playout is cut;
//! - `playouts=uniform|mast`: whether legal moves are alike in playouts, or those
//!   that have been worth more before are made more often;
//! - `epsilon=P` and `fade=P`: how often playouts that learn choose freely, and
//!   how much of what they have learned counts after the next move.

use super::lanes::Learning;
use crate::search::mcts::{Formula, Mcts};

/// What the options say.
#[derive(Copy, Clone, Debug)]
pub(super) struct Settings {
    pub mcts: Mcts,
    /// How playouts learn, if they do.
    pub learning: Option<Learning>,
}

/// What the agent does unless told otherwise.
fn defaults(seed: u64) -> Mcts {
    Mcts {
        iterations: u64::MAX,
        exploration: 0.6,
        formula: Formula::Puct,
        fpu: Some(0.1),
        history: 0.0,
        graph: true,
        solver: true,
        regret: false,
        batch: 128,
        each: 0,
        seed,
        playout_depth: 1_000,
    }
}

/// Reads options.
pub(super) fn options(settings: &[(String, String)], seed: u64) -> Result<Settings, String> {
    let mut options = defaults(seed);
    let (mut learns, mut learning) = (false, Learning::default());
    for (name, value) in settings {
        let wrong = || format!("{name} is not `{value}`");
        let number = |most: f64| {
            let number = value.parse().ok();
            number
                .filter(|n| (0.0..=most).contains(n))
                .ok_or_else(wrong)
        };
        let count = |least: u32, most: u32| {
            let count = value.parse().ok();
            count
                .filter(|n| (least..=most).contains(n))
                .ok_or_else(wrong)
        };
        let switch = |no: &str, yes: &str| match value {
            value if value == yes => Ok(true),
            value if value == no => Ok(false),
            _ => Err(wrong()),
        };
        match &name[..] {
            "exploration" => options.exploration = number(100.0)?,
            "select" => {
                options.formula = match &value[..] {
                    "ucb" => Formula::Ucb,
                    "tuned" => Formula::Tuned,
                    "puct" => Formula::Puct,
                    _ => return Err(wrong()),
                }
            }
            "fpu" if value == "off" => options.fpu = None,
            "fpu" => options.fpu = Some(number(1.0)?),
            "history" if value == "off" => options.history = 0.0,
            "history" => options.history = number(100.0)?,
            "graph" => options.graph = switch("off", "on")?,
            "solver" => options.solver = switch("off", "on")?,
            "simultaneous" => options.regret = switch("duct", "regret")?,
            "batch" => options.batch = count(1, 4096)?,
            "each" if value == "fill" => options.each = 0,
            "each" => options.each = count(1, 1 << 20)?,
            "depth" => options.playout_depth = count(1, 1 << 30)?,
            "playouts" => learns = switch("uniform", "mast")?,
            "epsilon" => learning.epsilon = number(1.0)?,
            "fade" => learning.fade = number(1.0)?,
            _ => return Err(format!("there is no option `{name}`")),
        }
    }
    Ok(Settings {
        mcts: options,
        learning: learns.then_some(learning),
    })
}
