//! Moves that flip facts, whatever the state.
//!
//! In: the effects of moves. Out: a shortest plan. Where the facts that a move
//! flips are always the same, only how often each move is made matters for the
//! last state, and only whether that is odd: a linear system over two elements.
//! Its lightest solution is a lower bound for every plan, and is a plan if the
//! game goes along: what does not depend on the moves made, such as the time, is
//! not part of the system, but the plan is played on the network.
//!
//! Source: Sutner, Linear cellular automata and the Garden-of-Eden (1989).

use rustc_hash::FxHashMap;

use super::effects::{Effects, Form};
use super::gf2::{System, lightest, ones};
use super::parity::odd;
use super::{Outcome, Plan, Position, Puzzle};
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::network::Literal;

/// Vectors of a kernel whose sums are all looked at, where all moves are legal
/// and the least sum is likely to be a plan, and elsewhere.
const MOST_KERNEL: (usize, usize) = (24, 14);
/// States looked at to find an order of the moves that does not end too early.
const MOST_STATES: usize = 2_000;

/// The facts that say why no plan has fewer moves than this, if they do.
pub fn reason(puzzle: &Puzzle, effects: &Effects, moves: usize) -> Option<Vec<u32>> {
    let Outcome::Solved { plan, optimal } = solve(puzzle, effects) else {
        return None;
    };
    let flips = flipping(effects);
    let facts = (0..flips.len()).filter(|&fact| flips[fact]);
    let proves = optimal && plan.len() == moves;
    proves.then(|| facts.map(|fact| fact as u32).collect())
}

/// By fact: whether each move flips it or leaves it as it is.
fn flipping(effects: &Effects) -> Vec<bool> {
    let mut flips = effects.free.clone();
    let spans = effects.moves.iter().flatten().map(|form| odd(form).1);
    for fact in spans.flatten().flatten() {
        flips[fact] = false;
    }
    flips
}

/// Solves the system, if there is one.
pub fn solve(puzzle: &Puzzle, effects: &Effects) -> Outcome {
    // Facts that do not just flip are left out; of moves with the same effect
    // one is enough, and moves without any are none.
    let flips = flipping(effects);
    let mut by_effect: FxHashMap<Vec<usize>, u32> = FxHashMap::default();
    for (chosen, form) in effects.moves.iter().enumerate() {
        if let Some(form) = form {
            let (mut effect, _) = odd(form);
            effect.retain(|&fact| flips[fact]);
            if !effect.is_empty() {
                by_effect.entry(effect).or_insert(chosen as u32);
            }
        }
    }
    let mut moves: Vec<(u32, Vec<usize>)> = by_effect
        .into_iter()
        .map(|(effect, chosen)| (chosen, effect))
        .collect();
    moves.sort_unstable();
    let mut of_fact: Vec<Vec<usize>> = vec![Vec::new(); flips.len()];
    for (unknown, (_, effect)) in moves.iter().enumerate() {
        effect.iter().for_each(|&fact| of_fact[fact].push(unknown));
    }
    let net = &puzzle.net;
    let always = |legal: &Literal| [Literal::TRUE, Literal::FALSE, !net.terminal()].contains(legal);
    let most = match net.legal()[0].iter().all(always) {
        true => MOST_KERNEL.0,
        false => MOST_KERNEL.1,
    };
    let mut best: Option<Plan> = None;
    let mut proved = true;
    for solution in &effects.solutions {
        let Some(system) = equations(puzzle, solution, &flips, &of_fact, moves.len()) else {
            continue;
        };
        let kernel = system.kernel();
        proved &= kernel.len() <= most;
        let kernel = &kernel[..kernel.len().min(most)];
        let found = lightest(system.solution(), kernel);
        let plan: Plan = ones(&found).map(|unknown| moves[unknown].0).collect();
        if best.as_ref().is_none_or(|best| plan.len() < best.len()) {
            best = Some(plan);
        }
    }
    let Some(least) = best else {
        return Outcome::Unknown;
    };
    let length = least.len();
    match in_order(puzzle, least) {
        Some(plan) => Outcome::Solved {
            plan,
            optimal: proved,
        },
        None if proved && length > 0 => Outcome::NoPlanWithin(length as u32 - 1),
        None => Outcome::Unknown,
    }
}

/// That an odd number of moves flips what differs between the start and a
/// solution. None if that is impossible.
fn equations(
    puzzle: &Puzzle,
    solution: &Form,
    flips: &[bool],
    of_fact: &[Vec<usize>],
    unknowns: usize,
) -> Option<System> {
    let (base, span) = odd(solution);
    let mut loose = vec![false; flips.len()];
    span.iter().flatten().for_each(|&fact| loose[fact] = true);
    let mut goal = vec![false; flips.len()];
    base.iter().for_each(|&fact| goal[fact] = true);
    let mut system = System::new(unknowns);
    let fixed = (0..flips.len()).filter(|&fact| flips[fact] && !loose[fact]);
    for fact in fixed {
        let differs = holds(&puzzle.start, fact) != goal[fact];
        if !system.equation(of_fact[fact].iter().copied(), differs) {
            return None;
        }
    }
    Some(system)
}

/// The same moves in an order in which they are a plan.
fn in_order(puzzle: &Puzzle, plan: Plan) -> Option<Plan> {
    let net = &puzzle.net;
    let mut left = plan;
    let mut made: Vec<(u32, Packed)> = Vec::with_capacity(left.len());
    let mut state = puzzle.start.clone();
    // By depth: which of the moves left is tried next.
    let mut at = vec![0];
    for _ in 0..MOST_STATES.max(4 * left.len()) {
        let next = at.last_mut()?;
        let Some(&chosen) = left.get(*next) else {
            if left.is_empty() && Position::new(&puzzle.net, &state, None).holds(puzzle.solved) {
                return Some(made.into_iter().map(|(chosen, _)| chosen).collect());
            }
            at.pop();
            let (chosen, before) = made.pop()?;
            left.insert(*at.last()? - 1, chosen);
            state = before;
            continue;
        };
        *next += 1;
        let index = *next - 1;
        let position = Position::new(&puzzle.net, &state, Some(chosen));
        if position.holds(net.terminal()) {
            *next = left.len();
        } else if position.holds(net.legal()[0][chosen as usize]) {
            let after = position.after(net);
            left.remove(index);
            made.push((chosen, std::mem::replace(&mut state, after)));
            at.push(0);
        }
    }
    None
}
