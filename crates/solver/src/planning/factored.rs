//! Factored puzzles: games that consist of several independent games, solved one by
//! one.
//!
//! In: a puzzle. Out: a plan, if the requirements of a solution are independent.
//! Each literal that a solution requires depends on some facts, now or later, and
//! only some moves affect these. With the other moves forbidden, most facts never
//! change, and the result is a smaller puzzle whose plans are valid for the whole
//! one. The parts are solved one after the other, each from the state where the
//! previous one ended. If a solution requires one of several alternatives, each
//! alternative is tried.
//!
//! The parts may still interfere, through what ends the game or through a time
//! limit. So plans are played on the whole puzzle, and a failure to find one proves
//! nothing.

use super::Position;
use super::breadth_first::{BreadthFirstOptions, breadth_first};
use super::depth_first::{DepthFirstOptions, depth_first};
use super::move_set::effects::{Conjuncts, Effects};
use super::{Outcome, Plan, Puzzle};
use ggp_engine::propnet::batch::{Packed, holds, pack};
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_engine::propnet::{Passes, Propnet};
use ggp_gdl::game::Game;
use ggp_search::{Budget, Observer, Stats};
use ggp_stop::Stop;

/// Limit on the gates of a puzzle.
const MOST_GATES: usize = 200_000;
/// Limit on the combinations of alternatives.
const MOST_COMBINATIONS: usize = 24;
/// Limit on the states expanded for one part.
const MOST_NODES: u64 = 200_000;

/// Searches for a plan part by part, for [`Budget::time`] in all.
///
/// The result is [`Outcome::Solved`] or [`Outcome::Unknown`]; plans need not be
/// shortest.
pub fn factored(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    if puzzle.net.network().gates() > MOST_GATES {
        return Outcome::Unknown;
    }
    let stop = budget.end();
    let puzzle = &puzzle.until(stop.clone());
    let Some(effects) = Effects::of(puzzle) else {
        return Outcome::Unknown;
    };
    let reach = Reach::new(&effects);
    for combination in requirements(&effects) {
        if stop.is_over() {
            break;
        }
        let Some(parts) = reach.parts(&combination, &stop) else {
            break;
        };
        let is_whole = |part: &Part| part.moves.iter().all(|&may| may);
        if parts.iter().any(is_whole) {
            continue;
        }
        let mut search = Search {
            puzzle,
            effects: &effects,
            budget,
            stop: &stop,
            stats,
            observer,
            plan: Plan::new(),
            state: puzzle.start.clone(),
        };
        if let Some(plan) = search.run(&parts, &reach) {
            let optimal = plan.is_empty();
            return Outcome::Solved { plan, optimal };
        }
    }
    Outcome::Unknown
}

/// Sets of literals such that a state in which all literals of a set hold may be a
/// solution.
fn requirements(effects: &Effects) -> Vec<Vec<Literal>> {
    let network = &effects.network;
    let mut requirements: Vec<Vec<Literal>> = vec![Vec::new()];
    let mut conjuncts = Conjuncts::new(network);
    for &literal in conjuncts.of(effects.solved) {
        let options: Vec<Literal> = match network.node(literal.node()) {
            Node::And(operands) if literal.is_negated() => {
                operands.iter().map(|&one| !one).collect()
            }
            _ => vec![literal],
        };
        let longer = |combination: &Vec<Literal>| {
            let with = |&option: &Literal| [combination.as_slice(), &[option]].concat();
            options.iter().map(with).collect::<Vec<_>>()
        };
        // If there are too many combinations, this requirement is left out.
        if requirements.len() * options.len() <= MOST_COMBINATIONS {
            requirements = requirements.iter().flat_map(longer).collect();
        }
    }
    requirements
}

/// A requirement of a solution, and the facts and moves that it depends on.
struct Part {
    wanted: Vec<Literal>,
    facts: Vec<bool>,
    /// By move: whether it affects only this part's facts.
    moves: Vec<bool>,
}

/// Dependencies between moves and facts.
struct Reach<'e> {
    effects: &'e Effects,
    /// By move: the facts that it changes in a way that time alone does not.
    touched: Vec<Vec<u32>>,
    /// By fact: the moves that affect it.
    movers: Vec<Vec<u32>>,
}

impl<'e> Reach<'e> {
    fn new(effects: &'e Effects) -> Self {
        let network = &effects.network;
        let facts = network.inputs();
        let drifts = |fact: &usize| {
            let stays = network.input(*fact);
            effects.relevant[*fact] && !effects.autonomous[*fact] && effects.drift[*fact] != stays
        };
        let drifting: Vec<usize> = (0..facts).filter(drifts).collect();
        let mut movers = vec![Vec::new(); facts];
        let mut touched = Vec::with_capacity(effects.changes.len());
        for (chosen, changes) in effects.changes.iter().enumerate() {
            let mut touches: Vec<u32> = (changes.iter())
                .filter(|&&(fact, becomes)| becomes != effects.drift[fact as usize])
                .map(|change| change.0)
                .collect();
            if effects.legal[chosen] != Literal::FALSE {
                let stopped = |&&fact: &&usize| {
                    let known = changes.binary_search_by_key(&(fact as u32), |change| change.0);
                    known.is_err()
                };
                touches.extend(drifting.iter().filter(stopped).map(|&fact| fact as u32));
            }
            for &fact in &touches {
                movers[fact as usize].push(chosen as u32);
            }
            touched.push(touches);
        }
        Reach {
            effects,
            touched,
            movers,
        }
    }

    /// The requirements, merged where they depend on the same facts. None after a stop.
    fn parts(&self, wanted: &[Literal], stop: &Stop) -> Option<Vec<Part>> {
        let mut parts: Vec<Part> = Vec::new();
        for &literal in wanted {
            let mut part = Part {
                wanted: vec![literal],
                facts: self.facts(literal, stop)?,
                moves: Vec::new(),
            };
            let shares = |other: &Part| {
                let mut both = part.facts.iter().zip(&other.facts).enumerate();
                both.any(|(fact, (&one, &other))| one && other && !self.effects.autonomous[fact])
            };
            let (same, others): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(shares);
            parts = others;
            for other in same {
                part.wanted.extend(other.wanted);
                let facts = part.facts.iter_mut().zip(other.facts);
                facts.for_each(|(one, other)| *one |= other);
            }
            parts.push(part);
        }
        for part in &mut parts {
            let within = |touched: &Vec<u32>| touched.iter().all(|&fact| part.facts[fact as usize]);
            part.moves = self.touched.iter().map(within).collect();
        }
        // Requirements that no move affects are fulfilled without moves or never.
        let changes = |part: &Part| {
            let mut facts = (0..part.facts.len()).filter(|&fact| part.facts[fact]);
            facts.any(|fact| !self.movers[fact].is_empty())
        };
        parts.retain(changes);
        Some(parts)
    }

    /// The facts that a literal depends on, now or later. None after a stop.
    fn facts(&self, literal: Literal, stop: &Stop) -> Option<Vec<bool>> {
        let effects = self.effects;
        let mut roots = vec![literal];
        let mut seen = vec![false; effects.relevant.len()];
        let mut moved = vec![false; effects.changes.len()];
        loop {
            if stop.is_over() {
                return None;
            }
            let before = roots.len();
            let live = live(&effects.network, roots.iter().copied());
            for fact in 0..seen.len() {
                if !live[effects.network.input(fact).node()] || seen[fact] {
                    continue;
                }
                seen[fact] = true;
                roots.push(effects.drift[fact]);
                for &chosen in &self.movers[fact] {
                    let changes = &effects.changes[chosen as usize];
                    if let Ok(place) =
                        changes.binary_search_by_key(&(fact as u32), |change| change.0)
                    {
                        roots.push(changes[place].1);
                    }
                    if !std::mem::replace(&mut moved[chosen as usize], true) {
                        roots.push(effects.legal[chosen as usize]);
                    }
                }
            }
            if roots.len() == before {
                return Some(seen);
            }
        }
    }
}

struct Search<'p> {
    puzzle: &'p Puzzle,
    effects: &'p Effects,
    budget: &'p Budget,
    stop: &'p Stop,
    stats: &'p mut Stats,
    observer: &'p mut dyn Observer,
    plan: Plan,
    state: Packed,
}

impl Search<'_> {
    fn run(&mut self, parts: &[Part], reach: &Reach<'_>) -> Option<Plan> {
        for part in parts {
            let wanted = match parts {
                [_] => None,
                _ => Some(part.wanted.as_slice()),
            };
            if self.part(&part.moves, wanted)? {
                return Some(std::mem::take(&mut self.plan));
            }
        }
        // Only moves that affect nothing remain.
        let idle: Vec<bool> = reach.touched.iter().map(Vec::is_empty).collect();
        let is_solved = idle.contains(&true) && self.part(&idle, None)?;
        is_solved.then(|| std::mem::take(&mut self.plan))
    }

    /// Reaches the wanted literals, or a solution if none are given, with some of
    /// the moves. Returns whether the reached state is a solution.
    fn part(&mut self, moves: &[bool], wanted: Option<&[Literal]>) -> Option<bool> {
        if self.stop.is_over() {
            return None;
        }
        let part = restrict(self.puzzle, &self.state, self.effects, moves, wanted)?;
        let nodes = MOST_NODES.min(self.budget.nodes);
        // All parts share the time, which began before the first one.
        let budget = Budget {
            nodes,
            time: None,
            stop: self.stop.clone(),
            ..self.budget.clone()
        };
        let how = BreadthFirstOptions::default();
        // A bound refuted for a part does not apply to the whole puzzle.
        let refuted = self.stats.refuted;
        // Only file operations can fail, and none are used.
        let searched = breadth_first(&part, &how, &budget, self.stats, self.observer);
        let mut outcome = searched.map_or(Outcome::Unknown, |(outcome, _)| outcome);
        self.stats.refuted = refuted;
        if outcome == Outcome::Unknown {
            let how = DepthFirstOptions::default();
            outcome = depth_first(&part, &how, None, &budget, self.stats, self.observer);
        }
        let Outcome::Solved { plan, .. } = outcome else {
            return None;
        };
        let net = &self.puzzle.net;
        for chosen in plan {
            let position = Position::new(&self.puzzle.net, &self.state, Some(chosen));
            if position.holds(net.terminal()) {
                break;
            }
            if !position.holds(net.legal()[0][chosen as usize])
                || self.plan.len() as u32 >= self.budget.depth
            {
                return None;
            }
            self.state = pack(net.next().iter().map(|&next| position.holds(next)));
            self.plan.push(chosen);
        }
        let position = Position::new(&self.puzzle.net, &self.state, None);
        let is_solved = position.holds(self.puzzle.solved);
        (is_solved || !position.holds(net.terminal())).then_some(is_solved)
    }
}

/// The puzzle restricted to another first state and some of the moves. If `wanted`
/// is given, it replaces the definition of a solution.
fn restrict(
    puzzle: &Puzzle,
    state: &[u64],
    effects: &Effects,
    moves: &[bool],
    wanted: Option<&[Literal]>,
) -> Option<Puzzle> {
    let mut net = Propnet::clone(&puzzle.net);
    let facts = net.facts().len();
    let mut builder = Builder::new(net.network().inputs());
    let inputs: Vec<Literal> = (0..net.network().inputs())
        .map(|input| match input < facts || moves[input - facts] {
            true => builder.input(input),
            false => Literal::FALSE,
        })
        .collect();
    let of = |network: &Network, roots: Vec<Literal>, builder: &mut Builder| {
        let live = live(network, roots);
        copy(network, &live, &inputs, builder)
    };
    let goal = wanted.map(|wanted| {
        let became = of(&effects.network, wanted.to_vec(), &mut builder);
        let wanted = wanted.iter();
        let wanted: Vec<Literal> = wanted
            .map(|one| became[one.node()].negated_if(one.is_negated()))
            .collect();
        builder.and(&wanted)
    });
    let became = of(net.network(), net.roots(), &mut builder);
    let terminal = became[net.terminal().node()].negated_if(net.terminal().is_negated());
    let end = goal.map(|goal| builder.or(&[terminal, goal]));
    net.rebuilt(builder, &became);
    if let (Some(goal), Some(end)) = (goal, end) {
        let enough = enough(&net, puzzle)?;
        net.set_end(enough, goal, end);
    }
    net.forbid(0, |chosen| !moves[chosen]);
    net.set_initial((0..facts).map(|fact| holds(state, fact)).collect());
    net.simplify_until(Passes::ALL, &puzzle.stop);
    let part = Puzzle::new(net, state.to_vec(), puzzle.target)?;
    Some(part.until(puzzle.stop.clone()))
}

/// A goal value that is at least the target.
fn enough(net: &Propnet, puzzle: &Puzzle) -> Option<usize> {
    let terms = net.terms();
    let game: &Game = net.game();
    let mut goals = net.goals()[0].iter();
    goals.position(|&(value, _)| {
        game.score(&terms, value)
            .is_ok_and(|score| score >= puzzle.target)
    })
}
