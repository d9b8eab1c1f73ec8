//! The options of tree search by name.

use super::lanes::Learning;
use crate::OptionError;
use ggp_search::mcts::{Formula, Mcts, Rave};

/// Their names, values and meanings.
pub const OPTIONS: &[(&str, &str)] = &[
    ("select=ucb|tuned|puct", "how moves are weighed"),
    ("exploration=W", "how much is tried that looks worse"),
    (
        "fpu=LESS|off",
        "a move never tried counts as the position less this; off: all are tried first",
    ),
    (
        "history=W|off",
        "what a move was worth elsewhere counts so much",
    ),
    (
        "rave=grave:LINES|off",
        "moves count as where they were made later on, by a position with so many lines",
    ),
    ("equivalence=VISITS", "until when they do so"),
    ("graph=on|off", "equal states are one position"),
    ("solver=on|off", "what is proved is left out if it is worse"),
    (
        "simultaneous=duct|regret",
        "how those choose who choose at the same time",
    ),
    ("batch=N", "the most lines that are evaluated together"),
    (
        "each=N|fill",
        "playouts of each new position; fill: as many as run in the time of one",
    ),
    ("depth=N", "joint moves after which a playout is cut"),
    (
        "playouts=uniform|mast",
        "all moves alike, or more often those that were worth more",
    ),
    ("epsilon=P", "how often playouts that learn choose freely"),
    (
        "fade=P",
        "how much of what they have learned counts after the next move",
    ),
    ("keep=on|off", "what was found before the last moves stays"),
    (
        "threads=N|auto",
        "auto: all that the player has where moves have a time, else one",
    ),
];

/// Visits at which moves made later on count half, see [`Rave`].
const EQUIVALENCE: f64 = 250.0;

/// What the options say.
#[derive(Copy, Clone, Debug)]
pub(super) struct Settings {
    pub mcts: Mcts,
    /// How playouts learn, if they do.
    pub learning: Option<Learning>,
    /// Whether the tree stays from move to move.
    pub keep: bool,
    /// Threads that search, if that is said.
    pub threads: Option<usize>,
}

/// What the agent does unless told otherwise.
fn defaults(seed: u64) -> Mcts {
    Mcts {
        iterations: u64::MAX,
        exploration: 0.6,
        formula: Formula::Puct,
        fpu: None,
        history: 0.0,
        rave: None,
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
pub(super) fn options(settings: &[(String, String)], seed: u64) -> Result<Settings, OptionError> {
    let mut options = defaults(seed);
    let (mut learns, mut learning) = (false, Learning::default());
    let (mut keep, mut threads) = (true, None);
    let (mut reference, mut equivalence) = (None, EQUIVALENCE);
    for (name, value) in settings {
        let is_it = |(usage, _): &(&str, &str)| usage.split_once('=').is_some_and(|u| u.0 == name);
        if !OPTIONS.iter().any(is_it) {
            return Err(OptionError::unknown(name, OPTIONS));
        }
        let wrong = |allowed: String| OptionError::Value {
            name: name.clone(),
            allowed,
            value: value.clone(),
        };
        // `or` is a word that may stand in place of the number.
        let number = |most: f64, or: &str| {
            let number = value.parse().ok().filter(|n| (0.0..=most).contains(n));
            number.ok_or_else(|| wrong(format!("a number from 0 to {most}{or}")))
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
            "exploration" => options.exploration = number(100.0, "")?,
            "select" => {
                options.formula = match &value[..] {
                    "ucb" => Formula::Ucb,
                    "tuned" => Formula::Tuned,
                    "puct" => Formula::Puct,
                    _ => return Err(wrong("ucb, tuned or puct".to_owned())),
                }
            }
            "fpu" if value == "off" => options.fpu = None,
            "fpu" => options.fpu = Some(number(1.0, " or off")?),
            "history" if value == "off" => options.history = 0.0,
            "history" => options.history = number(100.0, " or off")?,
            "rave" if value == "off" => reference = None,
            "rave" => {
                let lines = value.strip_prefix("grave:").and_then(|n| n.parse().ok());
                let lines = lines.ok_or_else(|| wrong("grave:LINES or off".to_owned()));
                reference = Some(lines?);
            }
            "equivalence" => equivalence = number(1e9, "")?,
            "graph" => options.graph = switch("off", "on")?,
            "solver" => options.solver = switch("off", "on")?,
            "simultaneous" => options.regret = switch("duct", "regret")?,
            "batch" => options.batch = count(1, 4096, "")?,
            "each" if value == "fill" => options.each = 0,
            "each" => options.each = count(1, 1 << 20, " or fill")?,
            "depth" => options.playout_depth = count(1, 1 << 30, "")?,
            "playouts" => learns = switch("uniform", "mast")?,
            "epsilon" => learning.epsilon = number(1.0, "")?,
            "fade" => learning.fade = number(1.0, "")?,
            "keep" => keep = switch("off", "on")?,
            "threads" if value == "auto" => threads = None,
            "threads" => threads = Some(count(1, 256, " or auto")? as usize),
            _ => unreachable!("options that are listed are known"),
        }
    }
    options.rave = reference.map(|reference| Rave {
        reference,
        equivalence,
    });
    Ok(Settings {
        mcts: options,
        learning: learns.then_some(learning),
        keep,
        threads,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_listed_are_known() {
        for (usage, _) in OPTIONS {
            let name = usage.split('=').next().unwrap();
            let error = options(&[(name.to_owned(), "?".to_owned())], 0).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} must be ")), "{error}");
            assert!(error.ends_with(", not `?`"), "{error}");
        }
        let wrong = |name: &str, value: &str| {
            options(&[(name.to_owned(), value.to_owned())], 0).unwrap_err().to_string()
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
