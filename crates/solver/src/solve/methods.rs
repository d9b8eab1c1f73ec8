//! The table of methods: one row for each way to look for a plan.
//!
//! Everything that lists, refuses or chooses methods reads [`Method::all`]: the options
//! and the help of commands, the page, the documentation, and the portfolio of `auto`.
//! A new method is a file in `methods/` with a function of type [`OnNetwork`] or
//! [`OnStates`], and a row in [`METHODS`].

mod algebra;
mod best_first;
mod factored;
mod ida_star;
mod nrpa;
mod packed;
mod sat;
mod share;
pub(super) mod states;
pub(super) mod task;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Attempt, GameProblem, SolveError, SolveOptions};
use crate::planning::Outcome;
use ggp_engine::machine::AnyMachine;
use ggp_search::{Budget, Observer, Stats};
pub(super) use share::{PART, Share, Turn, Unit};
use share::{analysis, apt_analysis, turn};
use task::Task;

/// A way to look for a plan: a row of the table.
#[derive(Copy, Clone)]
pub struct Method(&'static Row);

/// The properties of a method.
pub(super) struct Row {
    /// The name in commands and files.
    name: &'static str,
    /// Its group in lists for people.
    group: Group,
    /// A description in a few words.
    about: &'static str,
    /// The games that it is for.
    suits: &'static str,
    /// The claims that it can prove.
    proves: Proves,
    /// The options that it reads, apart from those that all methods read.
    reads: &'static [Setting],
    /// Its part in `auto`.
    pub(super) share: Share,
    /// The search itself.
    pub(super) run: Run,
}

/// A group of methods in lists for people, by purpose or means.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// The choice of those who know nothing about methods.
    Usual,
    /// Searches whose first plan is a shortest one.
    Shortest,
    /// Searches that follow estimates, or go deep first.
    Quick,
    /// Random playouts.
    Random,
    /// Equations and logic.
    Logic,
    /// Searches on the states of any backend.
    Anywhere,
}

impl Group {
    /// A title for a reader who knows nothing about the methods.
    pub fn title(self) -> &'static str {
        match self {
            Group::Usual => "For every game",
            Group::Shortest => "The shortest solution",
            Group::Quick => "Any solution, soon",
            Group::Random => "By random play",
            Group::Logic => "By equations and logic",
            Group::Anywhere => "For rules that are too large for the others",
        }
    }
}

/// The claims that a method can prove.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Proves {
    /// Its plans are the shortest.
    pub shortest: bool,
    /// The kind of evidence that there is no plan.
    pub none: Refutes,
}

/// The evidence by which a method shows that there is no plan.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Refutes {
    /// It never does.
    Never,
    /// It refutes plans up to a length.
    UpToLength,
    /// It does so once all reachable positions were searched.
    BySearch,
    /// It finds an argument that needs no search.
    ByArgument,
}

/// An option that only some methods read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// [`SolveOptions::plans`] other than the first.
    AllPlans,
    /// [`SolveOptions::prune`].
    Prune,
    /// [`SolveOptions::keys`].
    Keys,
    /// [`SolveOptions::scoring`].
    Scoring,
    /// [`SolveOptions::packed`].
    Packed,
    /// The number of solutions to count, see [`count_from`](super::count_from).
    Count,
}

/// A search on the network: its result, and the reason why it applied.
pub(super) type OnNetwork =
    fn(&mut Task<'_>, &Budget, &mut Stats, &mut dyn Observer) -> (Outcome, String);

/// A search on the states of any machine.
pub(super) type OnStates = fn(
    &mut GameProblem<AnyMachine>,
    &SolveOptions,
    &Budget,
    &mut Stats,
    &mut dyn Observer,
) -> Result<Attempt, SolveError>;

/// The search of a row.
#[derive(Copy, Clone)]
pub(super) enum Run {
    /// The portfolio of the other rows.
    Portfolio,
    /// A search that needs the network.
    Network(OnNetwork),
    /// A search that works with every backend.
    States(OnStates),
}

const PLAN_ONLY: Proves = Proves {
    shortest: false,
    none: Refutes::Never,
};

/// The time of `sat-set` in `auto`: its plan is likely to be found.
const MOVE_SET: Duration = Duration::from_secs(20);
/// The time of `factored` in `auto`, for each part.
const PARTS: Duration = Duration::from_millis(500);
/// The time of `subgroups` in `auto`.
const GROUPS: Duration = Duration::from_secs(20);
/// The time of `bidirectional` in `auto`. It reaches twice as far as breadth-first search, so
/// that it also has a large part of a short time.
const BOTH_ENDS: Duration = Duration::from_secs(60);

/// All methods. Those with a share in `auto` run in this order.
static METHODS: &[Row] = &[
    Row {
        name: "auto",
        group: Group::Usual,
        about: "analysis first, then several searches in turn, with growing budgets",
        suits: "nothing is known about the game",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[
            Setting::AllPlans,
            Setting::Keys,
            Setting::Scoring,
            Setting::Count,
        ],
        share: Share::None,
        run: Run::Portfolio,
    },
    Row {
        name: "sat-set",
        group: Group::Logic,
        about: "a set of moves that reaches a final state, by SAT",
        suits: "each fact is written once and the order of moves hardly matters: boards to fill in",
        proves: Proves {
            shortest: false,
            none: Refutes::ByArgument,
        },
        reads: &[Setting::Count],
        share: apt_analysis(PART, MOVE_SET),
        run: Run::Network(sat::move_set),
    },
    Row {
        name: "algebra",
        group: Group::Logic,
        about: "linear systems, parities and potentials",
        suits: "moves flip facts or turn values on by fixed amounts in every state, or keep a parity or a weighted sum",
        proves: Proves {
            shortest: true,
            none: Refutes::ByArgument,
        },
        reads: &[],
        share: analysis(None),
        run: Run::Network(algebra::algebra),
    },
    Row {
        name: "factored",
        group: Group::Quick,
        about: "independent parts of the goal, one after the other",
        suits: "a solution needs several things that do not depend on each other",
        proves: PLAN_ONLY,
        reads: &[],
        share: analysis(Some(PARTS)),
        run: Run::Network(factored::factored),
    },
    Row {
        name: "subgroups",
        group: Group::Logic,
        about: "into smaller and smaller groups of moves, each by a search among cosets",
        suits: "moves are always legal and turn parts of few values, and few positions are solutions: turning puzzles",
        proves: Proves {
            shortest: true,
            none: Refutes::ByArgument,
        },
        reads: &[],
        share: apt_analysis(2, GROUPS),
        run: Run::Network(packed::subgroups),
    },
    Row {
        name: "bidirectional",
        group: Group::Shortest,
        about: "breadth-first from the start and back from all solutions",
        suits: "moves are always legal and turn parts of few values, and few positions are solutions: turning puzzles",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[],
        share: apt_analysis(2, BOTH_ENDS),
        run: Run::Network(packed::bidirectional),
    },
    Row {
        name: "breadth-first-packed",
        group: Group::Shortest,
        about: "breadth-first on packed states",
        suits: "up to tens of millions of positions are reachable",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[Setting::Packed],
        share: turn(8, Unit::Levels, true),
        run: Run::Network(packed::breadth_first),
    },
    Row {
        name: "depth-first-packed",
        group: Group::Quick,
        about: "depth-first on packed states, in many move orders at once",
        suits: "most lines go on for long, and the order of moves decides: jumping games",
        proves: Proves {
            shortest: false,
            none: Refutes::BySearch,
        },
        reads: &[],
        share: turn(2, Unit::Orders, true),
        run: Run::Network(packed::depth_first),
    },
    Row {
        name: "fewest-moves",
        group: Group::Quick,
        about: "depth-first on packed states, the position with the fewest moves first",
        suits: "moves use up the places to go: tours and paths that visit each place once",
        proves: Proves {
            shortest: false,
            none: Refutes::BySearch,
        },
        reads: &[],
        share: turn(4, Unit::States, false),
        run: Run::Network(packed::fewest_moves),
    },
    Row {
        name: "greedy-weighted",
        group: Group::Quick,
        about: "greedy best-first by a weighted goal count: facts that few moves change weigh most",
        suits: "few moves bring about the facts that are missing",
        proves: PLAN_ONLY,
        reads: &[],
        share: turn(1, Unit::States, true),
        run: Run::Network(best_first::weighted),
    },
    Row {
        name: "nrpa",
        group: Group::Random,
        about: "nested rollout policy adaptation",
        suits: "no estimate helps, and lines end soon: hundreds of playouts at once",
        proves: PLAN_ONLY,
        reads: &[Setting::Scoring],
        share: turn(3, Unit::Playouts, false),
        run: Run::Network(nrpa::nrpa),
    },
    Row {
        name: "ida-star",
        group: Group::Shortest,
        about: "iterative deepening by a lower bound on the moves to come",
        suits: "a short plan is wanted, a lower bound is known, and memory is scarce",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[],
        share: turn(5, Unit::States, false),
        run: Run::Network(ida_star::ida_star),
    },
    Row {
        name: "greedy",
        group: Group::Quick,
        about: "greedy best-first by the additive heuristic",
        suits: "counting the missing facts leads near the end",
        proves: PLAN_ONLY,
        reads: &[],
        share: turn(6, Unit::Estimates, true),
        run: Run::Network(best_first::greedy),
    },
    Row {
        name: "novelty",
        group: Group::Quick,
        about: "best-first width search: novel states first",
        suits: "counting the missing facts is misleading",
        proves: PLAN_ONLY,
        reads: &[],
        share: turn(7, Unit::States, true),
        run: Run::Network(best_first::novelty),
    },
    Row {
        name: "sat-steps",
        group: Group::Logic,
        about: "a state and a move for each step, by SAT",
        suits: "plans are short and there are many moves in each position",
        proves: Proves {
            shortest: true,
            none: Refutes::UpToLength,
        },
        reads: &[],
        share: turn(9, Unit::Conflicts, false),
        run: Run::Network(sat::steps),
    },
    Row {
        name: "a-star",
        group: Group::Shortest,
        about: "A* by a lower bound",
        suits: "a short plan is wanted, and a lower bound is known",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[],
        share: turn(10, Unit::Estimates, false),
        run: Run::Network(best_first::a_star),
    },
    Row {
        name: "beam",
        group: Group::Quick,
        about: "the best states of each level only",
        suits: "counting the missing facts leads near the end, and plans are long",
        proves: PLAN_ONLY,
        reads: &[],
        share: turn(11, Unit::Estimates, false),
        run: Run::Network(best_first::beam),
    },
    Row {
        name: "breadth-first",
        group: Group::Anywhere,
        about: "breadth-first on the states of any backend",
        suits: "there is no network, or all shortest plans are wanted (`--all`)",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[Setting::AllPlans, Setting::Keys],
        share: Share::States(states::Part::Breadth),
        run: Run::States(states::breadth_first),
    },
    Row {
        name: "depth-first",
        group: Group::Anywhere,
        about: "depth-first with a transposition table, on the states of any backend",
        suits: "there is no network, and many plans are long",
        proves: Proves {
            shortest: false,
            none: Refutes::BySearch,
        },
        reads: &[Setting::Keys],
        share: Share::States(states::Part::Depth),
        run: Run::States(states::depth_first),
    },
    Row {
        name: "mcts",
        group: Group::Random,
        about: "Monte Carlo tree search on the states of any backend",
        suits: "there is no network, and playouts reach an end",
        proves: PLAN_ONLY,
        reads: &[],
        share: Share::States(states::Part::Playouts),
        run: Run::States(states::monte_carlo),
    },
    Row {
        name: "iterative-deepening",
        group: Group::Anywhere,
        about: "iterative deepening on the states of any backend",
        suits: "there is no network and little memory, or counts by depth are wanted (`--stats`)",
        proves: Proves {
            shortest: true,
            none: Refutes::BySearch,
        },
        reads: &[Setting::AllPlans, Setting::Prune, Setting::Keys],
        share: Share::None,
        run: Run::States(states::iterative_deepening),
    },
];

impl Method {
    /// All methods, in the order of the table; the first is `auto`.
    pub fn all() -> impl Iterator<Item = Method> {
        METHODS.iter().map(Method)
    }

    /// The method that runs the others in turn.
    pub fn auto() -> Method {
        Method(&METHODS[0])
    }

    /// The name in commands and files.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The group in lists for people.
    pub fn group(self) -> Group {
        self.0.group
    }

    /// A description in a few words.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// The games that it is for, as the end of "for games in which".
    pub fn suits(self) -> &'static str {
        self.0.suits
    }

    /// The claims that it can prove.
    pub fn proves(self) -> Proves {
        self.0.proves
    }

    /// Whether it works on the network of a game, and not without.
    pub fn needs_network(self) -> bool {
        matches!(self.0.run, Run::Network(_))
    }

    /// Whether it reads an option.
    pub fn reads(self, setting: Setting) -> bool {
        self.0.reads.contains(&setting)
    }

    pub(super) fn share(self) -> Share {
        self.0.share
    }

    pub(super) fn run(self) -> Run {
        self.0.run
    }
}

impl Default for Method {
    fn default() -> Self {
        Method::auto()
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Method) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Method {}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Method({})", self.0.name)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// No method has this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownMethod(String);

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Method::all().map(Method::name).collect();
        let names = names.join(", ");
        write!(f, "`{}` is not a method; the methods are {names}", self.0)
    }
}

impl std::error::Error for UnknownMethod {}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Method, UnknownMethod> {
        Method::all()
            .find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for method in Method::all() {
            assert_eq!(method.name().parse(), Ok(method));
        }
        let names: std::collections::BTreeSet<&str> = Method::all().map(Method::name).collect();
        assert_eq!(names.len(), METHODS.len());
        assert!("levels".parse::<Method>().is_err());
    }
}
