//! The searches by name.

/// How to search for a plan.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Several searches in turn, with growing budgets.
    #[default]
    Auto,
    /// Iterative deepening with step-stripped cycle pruning.
    Iterative,
    /// Level by level.
    BreadthFirst,
    /// Depth-first with a transposition table.
    DepthFirst,
    /// Monte Carlo tree search.
    Mcts,
    /// A method that works on the network.
    Network(Method),
}

/// A method on the network.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Linear systems, parities and potentials.
    Algebra,
    /// A set of moves that brings about a final state, by SAT.
    MoveSet,
    /// A state and a move for each step, by SAT.
    Steps,
    /// Level by level, packed states.
    Levels,
    /// Depth-first, many at a time, in several orders.
    Dive,
    /// The least estimate first.
    Greedy,
    /// What is new first, then greedily.
    Novelty,
    /// Moves made and a lower bound of those to come.
    AStar,
    /// The best of each level only.
    Beam,
    /// Nested rollout policy adaptation.
    Nrpa,
    /// Nested Monte Carlo search.
    Nested,
    /// Monte Carlo tree search in lanes.
    Uct,
    /// Iterative deepening by lower bounds.
    IdaStar,
    /// Iterative deepening, packed states.
    Deepening,
    /// Breadth-first from both ends.
    Bidirectional,
    /// Facts that few moves change first.
    Scarce,
    /// By relaxed plans and the moves they begin with.
    RelaxedPlans,
    /// What is new for its progress first.
    Progress,
    /// The deepest, of these those with the fewest legal moves.
    Mobility,
    /// Parts that have nothing to do with each other, one by one.
    Parts,
}

/// Each strategy, what it is called in commands and files, and what it does.
const STRATEGIES: [(Strategy, &str, &str); 25] = [
    (
        Strategy::Auto,
        "auto",
        "what analysis finds, then several searches in turn, with growing budgets",
    ),
    (
        Strategy::Iterative,
        "iterative",
        "iterative deepening; positions compared without step counters",
    ),
    (
        Strategy::BreadthFirst,
        "bfs",
        "breadth-first, level by level",
    ),
    (
        Strategy::DepthFirst,
        "dfs",
        "depth-first with a table of positions",
    ),
    (Strategy::Mcts, "mcts", "Monte Carlo tree search"),
    (
        Strategy::Network(Method::Algebra),
        "algebra",
        "linear systems, parities and potentials",
    ),
    (
        Strategy::Network(Method::MoveSet),
        "sat-set",
        "a set of moves that brings about a final state, by SAT",
    ),
    (
        Strategy::Network(Method::Steps),
        "sat-steps",
        "a state and a move for each step, by SAT",
    ),
    (
        Strategy::Network(Method::Levels),
        "levels",
        "breadth-first on packed states",
    ),
    (
        Strategy::Network(Method::Dive),
        "dive",
        "depth-first on packed states, in many orders at once",
    ),
    (
        Strategy::Network(Method::Greedy),
        "greedy",
        "greedy best-first by additive estimates",
    ),
    (
        Strategy::Network(Method::Novelty),
        "novelty",
        "what is new first",
    ),
    (
        Strategy::Network(Method::AStar),
        "a-star",
        "A* by a lower bound",
    ),
    (
        Strategy::Network(Method::Beam),
        "beam",
        "the best of each level only",
    ),
    (
        Strategy::Network(Method::Nrpa),
        "nrpa",
        "nested rollout policy adaptation",
    ),
    (
        Strategy::Network(Method::Nested),
        "nested",
        "nested Monte Carlo search",
    ),
    (
        Strategy::Network(Method::Uct),
        "uct",
        "Monte Carlo tree search in lanes",
    ),
    (
        Strategy::Network(Method::IdaStar),
        "ida-star",
        "iterative deepening by lower bounds of the moves to come",
    ),
    (
        Strategy::Network(Method::Deepening),
        "deepening",
        "iterative deepening on packed states",
    ),
    (
        Strategy::Network(Method::Bidirectional),
        "bidirectional",
        "breadth-first on packed states from both ends",
    ),
    (
        Strategy::Network(Method::Scarce),
        "scarce",
        "greedy by facts that have to change, those that few moves change first",
    ),
    (
        Strategy::Network(Method::RelaxedPlans),
        "relaxed-plans",
        "greedy by relaxed plans, and the moves that they begin with",
    ),
    (
        Strategy::Network(Method::Progress),
        "progress",
        "what is new first, apart for each progress",
    ),
    (
        Strategy::Network(Method::Mobility),
        "mobility",
        "the deepest first, of these those with the fewest legal moves",
    ),
    (
        Strategy::Network(Method::Parts),
        "parts",
        "what a solution needs, brought about part by part",
    ),
];

impl Strategy {
    /// Every strategy.
    pub fn all() -> impl Iterator<Item = Strategy> {
        STRATEGIES.iter().map(|&(strategy, ..)| strategy)
    }

    /// The methods on the network.
    pub fn methods() -> impl Iterator<Item = Method> {
        Strategy::all().filter_map(|strategy| match strategy {
            Strategy::Network(method) => Some(method),
            _ => None,
        })
    }

    /// What it is called in commands and files.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What it does, in a few words.
    pub fn about(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (Strategy, &'static str, &'static str) {
        let row = STRATEGIES.iter().find(|(strategy, ..)| *strategy == self);
        *row.expect("each strategy is in the table")
    }
}
