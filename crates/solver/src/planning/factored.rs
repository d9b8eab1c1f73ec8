//! Games that are several games, solved one by one.
//!
//! In: a puzzle. Out: a plan, if what a solution needs falls apart. Of the facts
//! that a solution is told by, each depends on some facts, now or later, and only
//! some moves have to do with these. With the other moves forbidden most facts
//! never change, and what is left is a smaller puzzle, whose plans are plans of
//! the whole: one for each part of what is needed, one after the other, each from
//! where the one before ended. If a solution needs one of several things, each is
//! tried alone.
//!
//! Parts may be in each other's way all the same: by what ends the game, or by a
//! limit of time. So a plan is played on the whole, and that there is none says
//! nothing.

use super::Position;
use super::breadth_first::{BreadthFirstOptions, breadth_first};
use super::depth_first::{DepthFirstOptions, depth_first};
use super::move_set::effects::{Conjuncts, Effects};
use super::move_set::watch;
use super::{Outcome, Plan, Puzzle};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Packed, holds, pack};
use ggp_engine::propnet::clauses::Watch;
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_gdl::game::Game;
use ggp_search::{Budget, Observer, Stats};

/// Gates of a puzzle that is looked at.
const MOST_GATES: usize = 200_000;
/// Ways to choose what is needed.
const MOST_WAYS: usize = 24;
/// States that one part may take.
const MOST_NODES: u64 = 200_000;

/// Looks for a plan part by part; no part is begun after [`Budget::time`].
/// [`Outcome::Solved`] or [`Outcome::Unknown`]; plans are not the shortest.
pub fn factored(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    if puzzle.net.network.gates() > MOST_GATES {
        return Outcome::Unknown;
    }
    let Some(effects) = Effects::new(puzzle) else {
        return Outcome::Unknown;
    };
    let watch = watch(budget);
    let reach = Reach::new(&effects);
    for way in ways(&effects) {
        if watch.is_over() {
            break;
        }
        let parts = reach.parts(&way);
        let is_whole = |part: &Part| part.moves.iter().all(|&may| may);
        if parts.iter().any(is_whole) {
            continue;
        }
        let mut search = Search {
            puzzle,
            effects: &effects,
            budget,
            watch: &watch,
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

/// Sets of literals, each such that a state where all hold may be a solution.
fn ways(effects: &Effects) -> Vec<Vec<Literal>> {
    let network = &effects.network;
    let mut ways: Vec<Vec<Literal>> = vec![Vec::new()];
    let mut conjuncts = Conjuncts::new(network);
    for &literal in conjuncts.of(effects.solved) {
        let options: Vec<Literal> = match network.node(literal.node()) {
            Node::And(operands) if literal.is_negated() => {
                operands.iter().map(|&one| !one).collect()
            }
            _ => vec![literal],
        };
        let longer = |way: &Vec<Literal>| {
            let with = |&option: &Literal| [way.as_slice(), &[option]].concat();
            options.iter().map(with).collect::<Vec<_>>()
        };
        // What may as well be left out, where there are too many.
        if ways.len() * options.len() <= MOST_WAYS {
            ways = ways.iter().flat_map(longer).collect();
        }
    }
    ways
}

/// Something that a solution needs, and what has to do with it.
struct Part {
    wanted: Vec<Literal>,
    facts: Vec<bool>,
    /// By move: whether it has to do with nothing else.
    moves: Vec<bool>,
}

/// What depends on what.
struct Reach<'e> {
    effects: &'e Effects,
    /// By move: the facts that it changes otherwise than time does.
    touched: Vec<Vec<u32>>,
    /// By fact: moves that touch it.
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

    /// What is wanted, put together where it depends on the same facts.
    fn parts(&self, wanted: &[Literal]) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for &literal in wanted {
            let mut part = Part {
                wanted: vec![literal],
                facts: self.facts(literal),
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
        // What no move has to do with comes about by itself or not at all.
        let changes = |part: &Part| {
            let mut facts = (0..part.facts.len()).filter(|&fact| part.facts[fact]);
            facts.any(|fact| !self.movers[fact].is_empty())
        };
        parts.retain(changes);
        parts
    }

    /// The facts that a literal depends on, now or later.
    fn facts(&self, literal: Literal) -> Vec<bool> {
        let effects = self.effects;
        let mut roots = vec![literal];
        let mut seen = vec![false; effects.relevant.len()];
        let mut moved = vec![false; effects.changes.len()];
        loop {
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
                return seen;
            }
        }
    }
}

struct Search<'p> {
    puzzle: &'p Puzzle,
    effects: &'p Effects,
    budget: &'p Budget,
    watch: &'p Watch,
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
        // What is left is waiting.
        let idle: Vec<bool> = reach.touched.iter().map(Vec::is_empty).collect();
        let is_solved = idle.contains(&true) && self.part(&idle, None)?;
        is_solved.then(|| std::mem::take(&mut self.plan))
    }

    /// Brings about what is wanted, a solution if nothing is said, by some of the
    /// moves. Whether that is a solution.
    fn part(&mut self, moves: &[bool], wanted: Option<&[Literal]>) -> Option<bool> {
        if self.watch.is_over() {
            return None;
        }
        let part = restricted(self.puzzle, &self.state, self.effects, moves, wanted)?;
        let nodes = MOST_NODES.min(self.budget.nodes);
        let budget = Budget {
            nodes,
            ..self.budget.clone()
        };
        let how = BreadthFirstOptions::default();
        // What a part does not do within some moves says nothing of the whole.
        let refuted = self.stats.refuted;
        // Only files can fail, and there are none.
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
            if position.holds(net.terminal) {
                break;
            }
            if !position.holds(net.legal[0][chosen as usize])
                || self.plan.len() as u32 >= self.budget.depth
            {
                return None;
            }
            self.state = pack(net.next.iter().map(|&next| position.holds(next)));
            self.plan.push(chosen);
        }
        let position = Position::new(&self.puzzle.net, &self.state, None);
        let is_solved = position.holds(self.puzzle.solved);
        (is_solved || !position.holds(net.terminal)).then_some(is_solved)
    }
}

/// The puzzle from another state on, with some of the moves, and with what is
/// wanted as its solution, if that is said.
fn restricted(
    puzzle: &Puzzle,
    state: &[u64],
    effects: &Effects,
    moves: &[bool],
    wanted: Option<&[Literal]>,
) -> Option<Puzzle> {
    let mut net = puzzle.net.clone();
    let facts = net.facts.len();
    let mut builder = Builder::new(net.network.inputs());
    let inputs: Vec<Literal> = (0..net.network.inputs())
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
    let became = of(&net.network, net.roots(), &mut builder);
    let terminal = became[net.terminal.node()].negated_if(net.terminal.is_negated());
    let end = goal.map(|goal| builder.or(&[terminal, goal]));
    net.rebuilt(builder, &became);
    if let (Some(goal), Some(end)) = (goal, end) {
        let enough = enough(&net, puzzle)?;
        net.goals[0] = vec![(net.goals[0][enough].0, goal)];
        net.terminal = end;
    }
    for (legal, &may) in net.legal[0].iter_mut().zip(moves) {
        if !may {
            *legal = Literal::FALSE;
        }
    }
    net.initial = (0..facts).map(|fact| holds(state, fact)).collect();
    net.simplify();
    Puzzle::new(net, state.to_vec(), puzzle.target)
}

/// A goal that is worth the target.
fn enough(net: &Propnet, puzzle: &Puzzle) -> Option<usize> {
    let terms = net.terms();
    let game: &Game = &net.game;
    let mut goals = net.goals[0].iter();
    goals.position(|&(value, _)| {
        game.score(&terms, value)
            .is_ok_and(|score| score >= puzzle.target)
    })
}
