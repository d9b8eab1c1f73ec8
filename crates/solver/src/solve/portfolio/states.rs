//! Searches on the states of any backend in turn.
//!
//! Each round gives every search eight times the budget of the round before, so that
//! repeated work costs little. Breadth-first comes first: for small games it ends with a
//! shortest plan or a proof. Depth-first follows with another move order each round, since
//! the order alone can decide, and playouts come last.

use ggp_stop::Instant;

use super::super::methods::states::{Part, breadth_first};
use super::super::methods::{Method, OnStates, Run, Share};
use super::super::{Attempt, BestEnd, GameProblem, MoveOrder, SolveError, SolveOptions};
use ggp_engine::machine::AnyMachine;
use ggp_gdl::counted::counted;
use ggp_gdl::game::Move;
use ggp_search::{Budget, BudgetKind, Observer, Plans, Stats, Verdict};

/// States that a search may expand in the first round.
const FIRST_ROUND: u64 = 4_000;
/// The factor for each further round.
const GROWTH: u64 = 8;
/// Expansions that cost about as much as a playout.
const PLAYOUT: u64 = 32;

/// The fewest states that breadth-first may expand to shorten a long plan.
const LONG_PLAN_SHARE: u64 = 100_000;
/// A plan is long if it has this many times the moves that breadth-first looked ahead.
const LONG_PLAN: usize = 10;

/// The searches that have not yet run out of memory.
struct Active {
    breadth: bool,
    depth: bool,
    playouts: bool,
}

/// A search of the table that takes turns.
struct Search {
    method: Method,
    part: Part,
    run: OnStates,
}

fn searches() -> Vec<Search> {
    let turns = Method::all().filter_map(|method| match (method.share(), method.run()) {
        (Share::States(part), Run::States(run)) => Some(Search { method, part, run }),
        _ => None,
    });
    turns.collect()
}

/// Runs the searches until one has an answer or the budget is spent.
pub(super) fn run(
    problem: &mut GameProblem<AnyMachine>,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Attempt, SolveError> {
    let searches = searches();
    let started = Instant::now();
    let mut spent = 0;
    let mut line: Option<BestEnd> = None;
    let mut completed: Option<u32> = None;
    // Plans of the least length are what only a search by length can promise.
    let by_length = options.plans != Plans::First || options.optimal;
    let mut active = Active {
        breadth: true,
        depth: !by_length,
        playouts: !by_length && options.budget.depth == u32::MAX,
    };
    let mut round = 0;
    let mut allowed = FIRST_ROUND;
    let mut ran_out = BudgetKind::Memory;
    while active.breadth || active.depth {
        for search in &searches {
            let (takes_part, share) = match search.part {
                Part::Breadth if !active.depth => (active.breadth, u64::MAX),
                Part::Breadth => (active.breadth, allowed),
                Part::Depth => (active.depth, allowed),
                Part::Playouts => (active.playouts, allowed.div_ceil(PLAYOUT)),
            };
            if !takes_part {
                continue;
            }
            let left = Budget {
                nodes: options.budget.nodes.saturating_sub(spent),
                time: options
                    .budget
                    .time
                    .map(|t| t.saturating_sub(started.elapsed())),
                ..options.budget.clone()
            };
            let budget = Budget {
                nodes: share.min(left.nodes),
                ..left.clone()
            };
            problem.set_order(match search.part {
                Part::Depth => order(round, options),
                _ => options.order,
            });
            let before = stats.total().expanded;
            let how = SolveOptions {
                seed: options.seed.wrapping_add(round),
                ..options.clone()
            };
            stats.method = Some(search.method.name());
            let found = (search.run)(problem, &how, &budget, stats, observer)?;
            let used = stats.total().expanded - before;
            spent += used;
            line = better(line, found.best.clone());
            let Verdict::OutOfBudget {
                depth_completed,
                what,
            } = found.verdict
            else {
                if search.part != Part::Breadth
                    && active.breadth
                    && is_long(&found.verdict, completed)
                {
                    // A plan that wanders is worth a longer search for a short one.
                    let share = (spent * GROWTH).max(LONG_PLAN_SHARE);
                    let budget = Budget {
                        nodes: share.min(options.budget.nodes.saturating_sub(spent)),
                        ..left
                    };
                    problem.set_order(options.order);
                    let shorter = breadth_first(problem, &how, &budget, stats, observer)?;
                    if let Verdict::Solved { .. } = shorter.verdict {
                        let why = explain(problem, Part::Breadth, round, options, completed);
                        return Ok(Attempt {
                            best: line,
                            ..Attempt::new(shorter.verdict, why)
                        });
                    }
                }
                let why = explain(problem, search.part, round, options, completed);
                return Ok(Attempt {
                    best: line,
                    ..Attempt::new(found.verdict, why)
                });
            };
            completed = completed.max(depth_completed);
            let is_all = match what {
                BudgetKind::Time | BudgetKind::Interrupt => true,
                BudgetKind::Nodes => budget.nodes == left.nodes,
                BudgetKind::Memory
                | BudgetKind::Disk
                | BudgetKind::Iterations
                | BudgetKind::Method => false,
            };
            if is_all {
                ran_out = what;
                active.breadth = false;
                active.depth = false;
                break;
            }
            if what == BudgetKind::Memory {
                match search.part {
                    Part::Breadth => active.breadth = false,
                    Part::Depth | Part::Playouts => active.depth = false,
                }
            }
        }
        round += 1;
        allowed = allowed.saturating_mul(GROWTH);
    }
    let verdict = Verdict::OutOfBudget {
        depth_completed: completed,
        what: ran_out,
    };
    let rounds = if round == 1 { "round" } else { "rounds" };
    let why = format!(
        "auto: breadth-first, depth-first and playouts in {round} {rounds}; {}",
        problem.tables()
    );
    Ok(Attempt {
        best: line,
        ..Attempt::new(verdict, why)
    })
}

/// Whether a plan has far more moves than breadth-first has looked ahead.
fn is_long(verdict: &Verdict<Move>, completed: Option<u32>) -> bool {
    let Verdict::Solved { plans, .. } = verdict else {
        return false;
    };
    let looked = completed.map_or(0, |depth| depth as usize + 1);
    plans.iter().any(|plan| plan.len() > LONG_PLAN * looked)
}

/// The end with the higher score; of equals the first.
fn better(one: Option<BestEnd>, other: Option<BestEnd>) -> Option<BestEnd> {
    match (one, other) {
        (Some(one), Some(other)) if other.score <= one.score => Some(one),
        (one, other) => other.or(one),
    }
}

/// The move order of a round.
fn order(round: u64, options: &SolveOptions) -> MoveOrder {
    match round {
        0 => options.order,
        1 => MoveOrder::Reversed,
        _ => MoveOrder::Mixed(options.seed.wrapping_add(round)),
    }
}

/// The search that gave the answer, and why it was used, in one line.
fn explain(
    problem: &GameProblem<AnyMachine>,
    part: Part,
    round: u64,
    options: &SolveOptions,
    completed: Option<u32>,
) -> String {
    let name = searches()
        .iter()
        .find(|search| search.part == part)
        .map_or("", |search| search.method.name());
    let reason = match (part, completed) {
        (Part::Breadth, _) if options.plans != Plans::First => "for all shortest plans".to_owned(),
        (Part::Breadth, _) => "small enough to search level by level".to_owned(),
        (_, Some(depth)) => {
            let moves = counted(depth, "move");
            format!("breadth-first found no plan of up to {moves} in its share")
        }
        (_, None) => "breadth-first did not get far in its share".to_owned(),
    };
    let order = match (part, order(round, options)) {
        (Part::Depth, MoveOrder::Reversed) => ", moves reversed",
        (Part::Depth, MoveOrder::Mixed(_)) => ", moves mixed",
        _ => "",
    };
    format!(
        "auto: {name}{order} (round {}): {reason}; {}",
        round + 1,
        problem.tables()
    )
}
