//! Puzzles whose moves flip facts independently of the state.
//!
//! In: the effects of moves. Out: a shortest plan. If each move always flips the
//! same facts, the last state depends only on whether each move is made an odd
//! number of times: a linear system over GF(2). The weight of its lightest solution
//! is a lower bound for every plan. The solution is a plan if the game allows it:
//! facts that do not depend on the moves, such as the time, are not part of the
//! system, so the plan is played on the network.
//!
//! Source: Sutner, Linear cellular automata and the Garden-of-Eden (1989).

use rustc_hash::FxHashMap;

use super::effects::{Effects, Form};
use super::gf2::{System, lightest, ones};
use super::parity::modulo_two;
use super::{Outcome, Plan, Position, Puzzle};
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::network::Literal;

/// Largest dimension of a kernel that is enumerated: if all moves are always legal,
/// where the lightest solution is likely to be a plan, and otherwise.
const MOST_KERNEL: (usize, usize) = (24, 14);
/// Limit on the number of states visited to find an order that does not end the
/// game early.
const MOST_STATES: usize = 2_000;

/// The facts of the linear system if it proves that no plan has fewer than `moves`
/// moves.
pub fn reason(puzzle: &Puzzle, effects: &Effects, moves: usize) -> Option<Vec<u32>> {
    let Outcome::Solved { plan, optimal } = solve(puzzle, effects) else {
        return None;
    };
    let flips = flipping(effects);
    let facts = (0..flips.len()).filter(|&fact| flips[fact]);
    let proves = optimal && plan.len() == moves;
    proves.then(|| facts.map(|fact| fact as u32).collect())
}

/// By fact: whether each move either always flips it or never changes it.
fn flipping(effects: &Effects) -> Vec<bool> {
    let mut flips = effects.free.clone();
    let spans = effects
        .moves
        .iter()
        .flatten()
        .map(|form| modulo_two(form).1);
    for fact in spans.flatten().flatten() {
        flips[fact] = false;
    }
    flips
}

/// Solves the linear system.
pub fn solve(puzzle: &Puzzle, effects: &Effects) -> Outcome {
    // Facts that are not simply flipped are left out. Of moves with the same effect
    // one suffices, and moves without an effect are dropped.
    let flips = flipping(effects);
    let mut by_effect: FxHashMap<Vec<usize>, u32> = FxHashMap::default();
    for (chosen, form) in effects.moves.iter().enumerate() {
        if let Some(form) = form {
            let (mut effect, _) = modulo_two(form);
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
            proved &= !puzzle.stop.is_over();
            continue;
        };
        let kernel = system.kernel();
        proved &= kernel.len() <= most;
        let kernel = &kernel[..kernel.len().min(most)];
        let (found, is_lightest) = lightest(system.solution(), kernel, &puzzle.stop);
        proved &= is_lightest;
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

/// The linear system whose solutions flip exactly the facts in which the start and
/// a solution differ; none if it is inconsistent.
fn equations(
    puzzle: &Puzzle,
    solution: &Form,
    flips: &[bool],
    of_fact: &[Vec<usize>],
    unknowns: usize,
) -> Option<System> {
    let (base, span) = modulo_two(solution);
    let mut loose = vec![false; flips.len()];
    span.iter().flatten().for_each(|&fact| loose[fact] = true);
    let mut goal = vec![false; flips.len()];
    base.iter().for_each(|&fact| goal[fact] = true);
    let mut system = System::new(unknowns);
    let fixed = (0..flips.len()).filter(|&fact| flips[fact] && !loose[fact]);
    for fact in fixed {
        if puzzle.stop.is_over() {
            return None;
        }
        let differs = holds(&puzzle.start, fact) != goal[fact];
        if !system.equation(of_fact[fact].iter().copied(), differs) {
            return None;
        }
    }
    Some(system)
}

/// Orders the moves so that they form a plan. `None` if that is not found, or after the stop.
pub(super) fn in_order(puzzle: &Puzzle, plan: Plan) -> Option<Plan> {
    let net = &puzzle.net;
    let mut left = plan;
    let mut path: Vec<(u32, Packed)> = Vec::with_capacity(left.len());
    let mut state = puzzle.start.clone();
    // By depth: the index of the remaining move to try next.
    let mut at = vec![0];
    for _ in 0..MOST_STATES.max(4 * left.len()) {
        if puzzle.stop.is_over() {
            return None;
        }
        let next = at.last_mut()?;
        let Some(&chosen) = left.get(*next) else {
            if left.is_empty() && Position::new(&puzzle.net, &state, None).holds(puzzle.solved) {
                return Some(path.into_iter().map(|(chosen, _)| chosen).collect());
            }
            at.pop();
            let (chosen, before) = path.pop()?;
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
            path.push((chosen, std::mem::replace(&mut state, after)));
            at.push(0);
        }
    }
    None
}
