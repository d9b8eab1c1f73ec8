//! The options of tree search.

use super::lanes::Learning;
use crate::OptionError;
use ggp_search::mcts::{Formula, Mcts};

/// The options with their values and descriptions.
pub const OPTIONS: &[(&str, &str)] = &[
    ("select=ucb|puct", "selection formula"),
    ("exploration=W", "weight of the exploration term"),
    ("graph=on|off", "equal states share one node"),
    ("solver=on|off", "prove score bounds and prune by them"),
    ("batch=N", "most lines that are evaluated together"),
    (
        "each=N|fill",
        "playouts for each new position; fill: as many as run in parallel at the cost of one",
    ),
    ("depth=N", "most joint moves of a playout"),
    (
        "playouts=uniform|mast",
        "playout moves: uniform, or preferring moves with high average scores (MAST)",
    ),
    (
        "epsilon=P",
        "probability of a uniform move in MAST playouts",
    ),
    (
        "fade=P",
        "share of the MAST statistics that is kept after each move of the game",
    ),
    (
        "learn=on|off",
        "use values of positions: those of a file, else learned by self-play in the start clock",
    ),
    (
        "decisive=on|off",
        "playouts make moves that win at once or prevent it, where roles take turns",
    ),
    ("reuse-tree=on|off", "keep the tree from move to move"),
    (
        "threads=N|auto",
        "search threads; auto: all threads of the player if moves have a time limit, else one",
    ),
];

/// The values of the options.
#[derive(Copy, Clone, Debug)]
pub(super) struct Settings {
    pub mcts: Mcts,
    /// The MAST parameters, if playouts learn.
    pub learning: Option<Learning>,
    /// True if values of positions are learned in the start clock.
    pub learns_values: bool,
    /// True if playouts make moves that win at once.
    pub decisive: bool,
    /// True if the tree is kept from move to move.
    pub reuses_tree: bool,
    /// The number of search threads; `None` for the default.
    pub threads: Option<usize>,
}

/// The default options of the search.
fn defaults(seed: u64) -> Mcts {
    Mcts {
        iterations: u64::MAX,
        exploration: 0.6,
        implicit: 0.0,
        formula: Formula::Puct,
        graph: true,
        solver: true,
        batch: 128,
        each: 0,
        seed,
        playout_depth: 1_000,
    }
}

/// Reads the options from names and values.
pub(super) fn options(settings: &[(String, String)], seed: u64) -> Result<Settings, OptionError> {
    let mut options = defaults(seed);
    let (mut learns, mut learning) = (false, Learning::default());
    let mut decisive = true;
    let (mut reuses_tree, mut threads, mut learns_values) = (true, None, true);
    for (name, value) in settings {
        let has_name =
            |(usage, _): &(&str, &str)| usage.split_once('=').is_some_and(|u| u.0 == name);
        if !OPTIONS.iter().any(has_name) {
            return Err(OptionError::unknown(name, OPTIONS));
        }
        let wrong = |allowed: String| OptionError::Value {
            name: name.clone(),
            allowed,
            value: value.clone(),
        };
        // `or` names a word that is allowed in place of a number.
        let number = |most: f64| {
            let number = value.parse().ok().filter(|n| (0.0..=most).contains(n));
            number.ok_or_else(|| wrong(format!("a number from 0 to {most}")))
        };
        let count = |least: u32, most: u32, or: &str| {
            let count = value.parse().ok().filter(|n| (least..=most).contains(n));
            count.ok_or_else(|| wrong(format!("a whole number from {least} to {most}{or}")))
        };
        let switch = |no: &str, yes: &str| match value {
            value if value == yes => Ok(true),
            value if value == no => Ok(false),
            _ => Err(wrong(format!("{yes} or {no}"))),
        };
        match &name[..] {
            "exploration" => options.exploration = number(100.0)?,
            "select" => {
                options.formula = match &value[..] {
                    "ucb" => Formula::Ucb,
                    "puct" => Formula::Puct,
                    _ => return Err(wrong("ucb or puct".to_owned())),
                }
            }
            "graph" => options.graph = switch("off", "on")?,
            "solver" => options.solver = switch("off", "on")?,
            "batch" => options.batch = count(1, 4096, "")?,
            "each" if value == "fill" => options.each = 0,
            "each" => options.each = count(1, 1 << 20, " or fill")?,
            "depth" => options.playout_depth = count(1, 1 << 30, "")?,
            "playouts" => learns = switch("uniform", "mast")?,
            "epsilon" => learning.epsilon = number(1.0)?,
            "fade" => learning.fade = number(1.0)?,
            "decisive" => decisive = switch("off", "on")?,
            "learn" => learns_values = switch("off", "on")?,
            "reuse-tree" => reuses_tree = switch("off", "on")?,
            "threads" if value == "auto" => threads = None,
            "threads" => threads = Some(count(1, 256, " or auto")? as usize),
            _ => unreachable!("all listed options are handled"),
        }
    }
    Ok(Settings {
        mcts: options,
        learning: learns.then_some(learning),
        learns_values,
        decisive,
        reuses_tree,
        threads,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_listed_options_are_handled() {
        for (usage, _) in OPTIONS {
            let name = usage.split('=').next().unwrap();
            let error = options(&[(name.to_owned(), "?".to_owned())], 0)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(&format!("{name} must be ")), "{error}");
            assert!(error.ends_with(", not `?`"), "{error}");
        }
        let wrong = |name: &str, value: &str| {
            options(&[(name.to_owned(), value.to_owned())], 0)
                .unwrap_err()
                .to_string()
        };
        let threads = "threads must be a whole number from 1 to 256 or auto, not `0`";
        assert_eq!(wrong("threads", "0"), threads);
        let unknown = wrong("colour", "3");
        assert!(
            unknown.starts_with("unknown option `colour`; the options are select, "),
            "{unknown}"
        );
    }
}
