//! Several searches in turn, with growing budgets.
//!
//! Each round gives every search eight times what it had the round before, so
//! that what is searched again costs little. Breadth-first comes first: for
//! small games it ends with a shortest plan or a proof. Depth-first follows
//! with another move order each round, since the order alone can decide, and
//! playouts come last.

use std::time::Instant;

use super::{BestEnd, GameProblem, MoveOrder, SolveError, SolveOptions, Strategy, run};
use ggp_engine::machine::Machine;
use ggp_gdl::game::Move;
use ggp_search::{Budget, BudgetKind, Observer, Plans, Stats, Verdict};

/// States that a search may expand in the first round.
const FIRST_ROUND: u64 = 4_000;
/// How much more it may in the next.
const GROWTH: u64 = 8;
/// A playout costs about as much as so many expansions.
const PLAYOUT: u64 = 32;

/// States at least that breadth-first may expand to shorten a long plan.
const LONG_PLAN_SHARE: u64 = 100_000;
/// A plan is long if it has so many times the moves that breadth-first looked
/// ahead.
const LONG_PLAN: usize = 10;

/// The searches that have not failed for want of memory.
struct Portfolio {
    breadth: bool,
    depth: bool,
    playouts: bool,
}

/// The verdict, the best line of playouts, and which search gave the verdict.
pub(super) fn search<M: Machine>(
    problem: &mut GameProblem<M>,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<(Verdict<Move>, Option<BestEnd>, String), SolveError> {
    let started = Instant::now();
    let mut spent = 0;
    let mut line: Option<BestEnd> = None;
    let mut completed: Option<u32> = None;
    // Plans of the least length are what only a search by length can promise.
    let by_length = options.plans != Plans::First || options.optimal;
    let mut portfolio = Portfolio {
        breadth: true,
        depth: !by_length,
        playouts: !by_length && options.budget.depth == u32::MAX,
    };
    let mut round = 0;
    let mut allowed = FIRST_ROUND;
    let mut ran_out = BudgetKind::Memory;
    while portfolio.breadth || portfolio.depth {
        for strategy in [Strategy::BreadthFirst, Strategy::DepthFirst, Strategy::Mcts] {
            let (takes_part, share) = match strategy {
                Strategy::BreadthFirst if !portfolio.depth => (portfolio.breadth, u64::MAX),
                Strategy::BreadthFirst => (portfolio.breadth, allowed),
                Strategy::DepthFirst => (portfolio.depth, allowed),
                _ => (portfolio.playouts, allowed.div_ceil(PLAYOUT)),
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
            problem.set_order(match strategy {
                Strategy::DepthFirst => order(round, options),
                _ => options.order,
            });
            let before = stats.total().expanded;
            let how = SolveOptions {
                seed: options.seed.wrapping_add(round),
                ..options.clone()
            };
            let outcome = run(problem, strategy, &how, &budget, stats, observer)?;
            let used = stats.total().expanded - before;
            spent += used;
            line = problem_line(line, outcome.line);
            let Verdict::OutOfBudget {
                depth_completed,
                what,
            } = outcome.verdict
            else {
                if strategy != Strategy::BreadthFirst
                    && portfolio.breadth
                    && is_long(&outcome.verdict, completed)
                {
                    // A way that wanders is worth a better look for a short one.
                    let share = (spent * GROWTH).max(LONG_PLAN_SHARE);
                    let budget = Budget {
                        nodes: share.min(options.budget.nodes.saturating_sub(spent)),
                        ..left
                    };
                    problem.set_order(options.order);
                    let breadth = Strategy::BreadthFirst;
                    let shorter = run(problem, breadth, &how, &budget, stats, observer)?;
                    if let Verdict::Solved { .. } = shorter.verdict {
                        let chosen = explain(problem, breadth, round, options, completed);
                        return Ok((shorter.verdict, line, chosen));
                    }
                }
                let chosen = explain(problem, strategy, round, options, completed);
                return Ok((outcome.verdict, line, chosen));
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
                portfolio.breadth = false;
                portfolio.depth = false;
                break;
            }
            if what == BudgetKind::Memory {
                match strategy {
                    Strategy::BreadthFirst => portfolio.breadth = false,
                    _ => portfolio.depth = false,
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
    let chosen = format!(
        "auto: breadth-first, depth-first and playouts in {round} {rounds}; {}",
        problem.tables()
    );
    Ok((verdict, line, chosen))
}

/// Whether a plan has far more moves than breadth-first has looked ahead.
fn is_long(verdict: &Verdict<Move>, completed: Option<u32>) -> bool {
    let Verdict::Solved { plans, .. } = verdict else {
        return false;
    };
    let looked = completed.map_or(0, |depth| depth as usize + 1);
    plans.iter().any(|plan| plan.len() > LONG_PLAN * looked)
}

fn problem_line(one: Option<BestEnd>, other: Option<BestEnd>) -> Option<BestEnd> {
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

fn explain<M: Machine>(
    problem: &GameProblem<M>,
    strategy: Strategy,
    round: u64,
    options: &SolveOptions,
    completed: Option<u32>,
) -> String {
    let reason = match (strategy, completed) {
        (Strategy::BreadthFirst, _) if options.plans != Plans::First => {
            "for all shortest plans".to_owned()
        }
        (Strategy::BreadthFirst, _) => "small enough to search level by level".to_owned(),
        (_, Some(depth)) => format!("breadth-first found none of up to {depth} moves in its share"),
        (_, None) => "breadth-first did not get far in its share".to_owned(),
    };
    let order = match (strategy, order(round, options)) {
        (Strategy::DepthFirst, MoveOrder::Reversed) => ", moves reversed",
        (Strategy::DepthFirst, MoveOrder::Mixed(_)) => ", moves mixed",
        _ => "",
    };
    format!(
        "auto: {}{order} (round {}): {reason}; {}",
        strategy.name(),
        round + 1,
        problem.tables()
    )
}
