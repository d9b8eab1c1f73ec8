//! Nested Monte Carlo search.
//!
//! In: a puzzle. Out: a plan, or the best end met. A search of level 1 plays
//! every legal move and then by chance, and follows the best line met so far; one
//! of level n asks searches of level n − 1 instead of chance. All searches of a
//! level go on together, so that there are lines for all lanes.
//!
//! Source: Cazenave, Nested Monte-Carlo search (2009), figure 2, with the best
//! sequence kept.

use super::rollout::{LANES, Line, Policy, Rollouts, Sampling, Start};
use super::{BestSoFar, Outcome, Plan, Puzzle};
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

/// How to search.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    /// What is common to samplings.
    pub sampling: Sampling,
}

/// Searches of level 1, as many as fill the lanes, before the first of level 2,
/// and so on.
const TIMES: u32 = 4;

/// Looks for a plan until the budget ends, at higher and higher levels.
pub fn nested(
    puzzle: &Puzzle,
    how: &Nested,
    budget: &Budget,
    best: &mut Option<BestSoFar>,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let mut rollouts = Rollouts::new(puzzle, &how.sampling, budget);
    let start = Start {
        state: puzzle.start.clone(),
        plan: Plan::new(),
    };
    meter.begin_level(0, Compare::State);
    let (mut level, mut times) = (0, 0);
    let end = loop {
        let width = if level < 2 { LANES >> (4 * level) } else { 1 };
        match search(&mut rollouts, level, vec![start.clone(); width], &mut meter) {
            Err(end) => break end,
            Ok(lines) if lines.iter().all(|line| line.plan.is_empty()) => break End::Nothing,
            Ok(_) => times += 1,
        }
        if times == TIMES {
            (level, times) = (level + 1, 0);
        }
    };
    meter.end_level();
    *best = rollouts.best.take();
    match end {
        End::Solved(plan) => Outcome::Solved {
            optimal: plan.is_empty(),
            plan,
        },
        End::Nothing | End::Budget => Outcome::Unknown,
    }
}

/// What ends all searches.
enum End {
    Solved(Plan),
    /// There is no move.
    Nothing,
    Budget,
}

impl From<BudgetKind> for End {
    fn from(_: BudgetKind) -> End {
        End::Budget
    }
}

/// By start: the best line of a search of that level.
fn search(
    rollouts: &mut Rollouts,
    level: u32,
    mut starts: Vec<Start>,
    meter: &mut Meter<'_>,
) -> Result<Vec<Line>, End> {
    let mut best: Vec<Line> = Vec::with_capacity(starts.len());
    // What is played by chance from a start is a line to follow.
    for starts in starts.chunks(LANES) {
        if let Some(plan) = rollouts.play(starts, &Policy::Uniform, meter)? {
            return Err(End::Solved(plan));
        }
        best.extend_from_slice(rollouts.lines());
    }
    let mut open: Vec<usize> = match level {
        0 => Vec::new(),
        _ => (0..starts.len()).collect(),
    };
    while !open.is_empty() {
        let states: Vec<_> = open.iter().map(|&one| starts[one].state.clone()).collect();
        let legal = rollouts.legal(&states);
        let mut parents = Vec::new();
        let mut children = Vec::new();
        for (&one, legal) in open.iter().zip(&legal) {
            for &chosen in legal {
                let mut child = starts[one].clone();
                child.plan.push(chosen);
                children.push(child);
                parents.push(one);
            }
        }
        for children in children.chunks_mut(LANES) {
            let states: Vec<_> = children.iter().map(|child| child.state.clone()).collect();
            let moves = children
                .iter()
                .map(|child| *child.plan.last().expect("it moved"));
            let moves: Vec<usize> = moves.map(|chosen| chosen as usize).collect();
            for (child, state) in children.iter_mut().zip(rollouts.step(&states, &moves)) {
                child.state = state;
            }
        }
        let lines = search(rollouts, level - 1, children.clone(), meter)?;
        for (&parent, line) in parents.iter().zip(lines) {
            if line.value > best[parent].value {
                best[parent] = line;
            }
        }
        // On along the best lines.
        open.retain(|&one| best[one].plan.len() > starts[one].plan.len());
        let mut of = parents.iter().zip(children).peekable();
        for &one in &open {
            let chosen = best[one].plan[starts[one].plan.len()];
            while let Some((&parent, child)) = of.next_if(|(parent, _)| **parent <= one) {
                if parent == one && child.plan.last() == Some(&chosen) {
                    starts[one] = child;
                }
            }
        }
    }
    Ok(best)
}
