//! Monte Carlo tree search over what roles know.
//!
//! In: the belief of a role. Out: for each of its moves, visits and values, and a mix of moves.
//! Each role has a tree of its own, whose nodes are what it knows; positions that look alike to
//! it share one node. An iteration begins in a position that fits, weighted by what the trees say
//! of the others' choices; or at the start of the match, so that the trees learn these choices.
//! In a node, a role plays by upper confidence bounds or by the average of its choices so far.
//! That average is the mix.
//!
//! Iterations run in lanes: as many at once as a network evaluates states.
//!
//! Sources: Cowling, Powley, Whitehouse: Information Set Monte Carlo Tree Search, IEEE
//! Transactions on Computational Intelligence and AI in Games 4 (2), 2012 (one tree for each
//! role: MO-ISMCTS); Heinrich, Silver: Smooth UCT Search in Computer Poker, IJCAI 2015 (averages);
//! Lisý, Lanctot, Bowling: Online Monte Carlo Counterfactual Regret Minimization for Search in
//! Imperfect Information Games, AAMAS 2015 (iterations that begin in what fits).

use ggp_engine::machine::PlayError;
use ggp_gdl::game::{Game, Move, RoleId};
use rand::{Rng, RngExt};
use rustc_hash::FxHashMap;

use super::belief::Belief;
use super::knowledge::{KnowledgeId, Memories};
use super::members::Member;
use super::world::{State, Status, World};

/// Parameters of the search.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct SearchOptions {
    /// The weight of exploration in upper confidence bounds, for scores from 0 to 1.
    pub exploration: f64,
    /// The iterations that run at once, at least 1.
    pub lanes: usize,
    /// The most nodes of all trees together.
    pub nodes: usize,
    /// The joint moves after which an iteration ends without a score.
    pub steps: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            exploration: 1.0,
            lanes: 256,
            nodes: 1_000_000,
            steps: 1_000,
        }
    }
}

/// The findings about one move.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub made: Move,
    /// The times that it was chosen.
    pub visits: u64,
    /// The average score, 0 to 100.
    pub value: f64,
    /// Its probability in the mix.
    pub share: f64,
}

/// A node: what one role knows when it must choose.
#[derive(Clone, Debug)]
struct Node {
    moves: Vec<Move>,
    arms: Vec<Arm>,
    total: u32,
}

#[derive(Copy, Clone, Debug, Default)]
struct Arm {
    visits: u32,
    /// Choices whose iterations are not over.
    pending: u32,
    sum: f64,
    /// The choices in the node after which its average score was the best one.
    best: u32,
}

impl Arm {
    /// The average score.
    fn mean(&self) -> f64 {
        match self.visits {
            0 => UNKNOWN,
            visits => self.sum / f64::from(visits),
        }
    }
}

/// A choice of a lane.
#[derive(Copy, Clone, Debug)]
struct Step {
    role: usize,
    node: u32,
    arm: u32,
}

/// The trees of all roles.
#[derive(Debug, Default)]
pub struct Trees {
    /// The memories of all roles.
    pub memories: Memories,
    /// The position of each node, by what its role knows.
    places: FxHashMap<KnowledgeId, u32>,
    nodes: Vec<Node>,
    iterations: u64,
}

/// An iteration in progress.
struct Lane {
    state: State,
    /// By role: what it knows, while it is in its tree.
    known: Vec<Option<KnowledgeId>>,
    /// The choices made: role, node and arm.
    path: Vec<Step>,
    steps: usize,
    /// The only role whose choices count, if not all do.
    only: Option<usize>,
}

/// The shares of choices by upper confidence bounds: at first, at least, and how fast they fall.
///
/// Source: Heinrich and Silver 2015, section 4.
const BOUNDS: (f64, f64, f64) = (0.9, 0.1, 0.001);

impl Trees {
    /// The number of iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Runs one set of iterations for the role of a belief that keeps what others know, and has no
    /// members whose game is over ([`Belief::drop_ended`]).
    ///
    /// # Errors
    ///
    /// Those of the machine; the trees keep what they have.
    pub fn grow(
        &mut self,
        world: &mut World,
        belief: &Belief,
        options: &SearchOptions,
        random: &mut dyn Rng,
    ) -> Result<(), PlayError> {
        let mut lanes = self.begin(world, belief, options, random);
        let outcome = self.run(world, &mut lanes, options, random);
        for step in lanes.iter().flat_map(|lane| &lane.path) {
            self.nodes[step.node as usize].arms[step.arm as usize].pending -= 1;
        }
        self.score(&lanes, outcome?);
        Ok(())
    }

    /// Runs iterations to their ends. The result has the scores of each lane by role, if the game
    /// is over in it.
    fn run(
        &mut self,
        world: &mut World,
        lanes: &mut [Lane],
        options: &SearchOptions,
        random: &mut dyn Rng,
    ) -> Result<Vec<Option<Vec<f64>>>, PlayError> {
        let roles: Vec<RoleId> = world.game().roles().collect();
        let mut open: Vec<usize> = (0..lanes.len()).collect();
        let (mut over, mut outside) = (Vec::new(), Vec::new());
        while !open.is_empty() {
            let states: Vec<State> = open.iter().map(|&lane| lanes[lane].state.clone()).collect();
            let status = world.status(&states)?;
            let (mut going, mut joints) = (Vec::new(), Vec::new());
            for (lane, status) in open.into_iter().zip(status) {
                if status.terminal {
                    over.push(lane);
                } else if world.has_playouts() && lanes[lane].is_outside(world.game()) {
                    outside.push(lane);
                } else if lanes[lane].steps < options.steps {
                    joints.push(self.choose(world, &mut lanes[lane], &status, options, random));
                    going.push(lane);
                }
            }
            let pairs = going.iter().zip(&joints);
            let pairs = pairs.map(|(&lane, joint)| (&lanes[lane].state, &joint[..]));
            let pairs: Vec<(&State, &[Move])> = pairs.collect();
            let after = world.steps(&pairs)?;
            for ((&lane, joint), state) in going.iter().zip(&joints).zip(after) {
                let lane = &mut lanes[lane];
                for &role in &roles {
                    if let Some(known) = &mut lane.known[role.index()] {
                        let told = world.told(&state, role);
                        *known = self.memories.after(*known, joint[role.index()], &told);
                    }
                }
                lane.state = state;
                lane.steps += 1;
            }
            open = going;
        }
        let states: Vec<State> = over.iter().map(|&lane| lanes[lane].state.clone()).collect();
        let mut scores = vec![None; lanes.len()];
        let ends: Vec<State> = outside
            .iter()
            .map(|&lane| lanes[lane].state.clone())
            .collect();
        for (lane, found) in outside.into_iter().zip(world.playouts(&ends, PLAYOUTS)?) {
            scores[lane] = found;
        }
        for &lane in &over {
            scores[lane] = Some(vec![0.0; roles.len()]);
        }
        for role in roles {
            if world.game().is_random(role) {
                continue;
            }
            for (&lane, score) in over.iter().zip(world.outcomes(&states, role)?) {
                let scores = scores[lane].as_mut().expect("it is over");
                scores[role.index()] =
                    score.map_or(UNKNOWN, |score| f64::from(score.get()) / 100.0);
            }
        }
        Ok(scores)
    }

    /// The moves of the belief's role, most visited first, with their shares of the mix.
    pub fn options(&self, known: KnowledgeId) -> Vec<Candidate> {
        let Some(place) = self.places.get(&known) else {
            return Vec::new();
        };
        let node = &self.nodes[*place as usize];
        let most = |of: fn(&Arm) -> u32| node.arms.iter().map(of).max().unwrap_or(0);
        let (visits, best) = (most(|arm| arm.visits), most(|arm| arm.best));
        let is_rare = |count: u32, most: u32| f64::from(count) < f64::from(most) * RARE;
        let common = node.arms.iter().filter(|arm| !is_rare(arm.visits, visits));
        let score = common.map(Arm::mean).fold(0.0, f64::max);
        let is_worse = |arm: &Arm| arm.mean() < score - WORSE && is_rare(arm.best, best);
        // Moves that are tried only to look at them are no part of the mix.
        let counted = |arm: &Arm| match is_rare(arm.visits, visits) || is_worse(arm) {
            true => 0.0,
            false => f64::from(arm.visits),
        };
        let total: f64 = node.arms.iter().map(counted).sum();
        let mut options: Vec<Candidate> = node
            .moves
            .iter()
            .zip(&node.arms)
            .map(|(made, arm)| Candidate {
                made: *made,
                visits: arm.visits.into(),
                value: 100.0 * arm.mean(),
                share: counted(arm) / total.max(1.0),
            })
            .collect();
        options.sort_by_key(|option| std::cmp::Reverse(option.visits));
        options
    }

    /// The first positions of iterations.
    fn begin(
        &mut self,
        world: &World,
        belief: &Belief,
        options: &SearchOptions,
        random: &mut dyn Rng,
    ) -> Vec<Lane> {
        let members = belief.members();
        let weights = self.weights(world, belief.role(), members);
        let total: f64 = weights.iter().sum();
        // The longer the match, the less its beginning matters.
        let from_start = match belief.turns() {
            0 => 0.0,
            turns => 1.0 / (1.0 + turns as f64),
        };
        let start = &belief.first(world, &mut self.memories);
        let own = belief.role().index();
        // Where iterations from the start come here often enough, the others learn from them alone:
        // here they would learn what they cannot know.
        let is_known = belief.is_exact() && from_start > 0.0 && {
            let known = belief.members()[0].known[own];
            let own = self.reach(known, &mut FxHashMap::default());
            total * belief.scale() * own >= OFTEN
        };
        let mut lanes = Vec::with_capacity(options.lanes);
        for _ in 0..options.lanes.max(1) {
            let is_start = from_start > 0.0 && random.random_bool(from_start);
            let member = match is_start || members.is_empty() {
                true => start,
                false => {
                    let mut left = random.random::<f64>() * total;
                    let place = weights.iter().position(|weight| {
                        left -= weight;
                        left < 0.0
                    });
                    &members[place.unwrap_or(members.len() - 1)]
                }
            };
            lanes.push(Lane {
                state: member.state.clone(),
                known: member.known.iter().copied().map(Some).collect(),
                path: Vec::new(),
                steps: 0,
                only: (!is_start && is_known).then_some(own),
            });
        }
        lanes
    }

    /// The probability of each member, up to a common factor, by the other roles' mixes.
    fn weights(&self, world: &World, role: RoleId, members: &[Member]) -> Vec<f64> {
        let game = world.game();
        let others = game
            .roles()
            .filter(|other| *other != role && !game.is_random(*other));
        let others: Vec<RoleId> = others.collect();
        let mut reach: FxHashMap<KnowledgeId, f64> = FxHashMap::default();
        let mut weight = |member: &Member| {
            let each = others
                .iter()
                .map(|other| self.reach(member.known[other.index()], &mut reach));
            member.weight * each.product::<f64>()
        };
        members.iter().map(&mut weight).collect()
    }

    /// The probability that a role's mixes lead to what it knows.
    fn reach(&self, known: KnowledgeId, reach: &mut FxHashMap<KnowledgeId, f64>) -> f64 {
        let mut open = Vec::new();
        let mut at = known;
        let mut product = loop {
            if let Some(found) = reach.get(&at) {
                break *found;
            }
            let Some(before) = self.memories.last(at).before else {
                reach.insert(at, 1.0);
                break 1.0;
            };
            open.push((at, before));
            at = before;
        };
        for (at, before) in open.into_iter().rev() {
            let made = self.memories.last(at).made.expect("it is not the first");
            product *= self.share(before, made);
            reach.insert(at, product);
        }
        product
    }

    /// The probability of a move of the role that knows this, by its mix so far.
    fn share(&self, known: KnowledgeId, made: Move) -> f64 {
        let count = f64::from(self.memories.choices(known));
        let Some(place) = self.places.get(&known) else {
            return 1.0 / count;
        };
        let node = &self.nodes[*place as usize];
        let at = node.moves.iter().position(|other| *other == made);
        let visits = at.map_or(0, |at| node.arms[at].visits);
        // As if each move had been made once before.
        (f64::from(visits) + 1.0) / (f64::from(node.total) + count)
    }

    /// A joint move. Roles in their trees choose there; others, and `random`, choose among all
    /// moves with equal probabilities.
    fn choose(
        &mut self,
        world: &World,
        lane: &mut Lane,
        status: &Status,
        options: &SearchOptions,
        random: &mut dyn Rng,
    ) -> Vec<Move> {
        let mut joint = Vec::with_capacity(status.legal.len());
        for role in world.game().roles() {
            let legal = &status.legal[role.index()];
            let known = lane.known[role.index()].filter(|_| legal.len() > 1);
            let Some(known) = known.filter(|_| !world.game().is_random(role)) else {
                joint.push(legal[random.random_range(0..legal.len())]);
                continue;
            };
            let (place, is_new) = match self.places.get(&known) {
                Some(place) => (*place, false),
                None if self.nodes.len() >= options.nodes => {
                    lane.known[role.index()] = None;
                    joint.push(legal[random.random_range(0..legal.len())]);
                    continue;
                }
                None => {
                    let place = self.nodes.len() as u32;
                    self.nodes.push(Node {
                        moves: legal.clone(),
                        arms: vec![Arm::default(); legal.len()],
                        total: 0,
                    });
                    self.places.insert(known, place);
                    (place, true)
                }
            };
            let node = &mut self.nodes[place as usize];
            node.add(legal);
            let arm = node.choose(legal, options, random);
            lane.path.push(Step {
                role: role.index(),
                node: place,
                arm: arm as u32,
            });
            node.arms[arm].pending += 1;
            joint.push(node.moves[arm]);
            if is_new {
                // One new node for each role in an iteration.
                lane.known[role.index()] = None;
            }
        }
        joint
    }

    /// Adds the scores of iterations to the nodes that they passed.
    fn score(&mut self, lanes: &[Lane], scores: Vec<Option<Vec<f64>>>) {
        for (lane, scores) in lanes.iter().zip(scores) {
            let score = |role: usize| scores.as_ref().map_or(UNKNOWN, |scores| scores[role]);
            for step in &lane.path {
                let node = &mut self.nodes[step.node as usize];
                if lane.only.is_some_and(|only| only != step.role) {
                    continue;
                }
                node.total += 1;
                let arm = &mut node.arms[step.arm as usize];
                arm.visits += 1;
                arm.sum += score(step.role);
                let best = node.arms.iter_mut();
                let best = best.max_by(|one, other| one.mean().total_cmp(&other.mean()));
                best.expect("a node has moves").best += 1;
            }
        }
        self.iterations += lanes.len() as u64;
    }
}

impl Lane {
    /// True if all roles that choose have left their trees.
    fn is_outside(&self, game: &Game) -> bool {
        let mut roles = game.roles();
        roles.all(|role| game.is_random(role) || self.known[role.index()].is_none())
    }
}

/// The playouts of an iteration that has left the trees.
const PLAYOUTS: u32 = 2;
/// The score of an iteration without one.
const UNKNOWN: f64 = 0.5;
/// The probability of what a role knows above which iterations from the start are enough for others.
const OFTEN: f64 = 0.05;
/// The share of the most visited move below which a move is left out of the mix; also that of the
/// move that was the best one most often, for a move with a clearly lower score.
const RARE: f64 = 0.1;
/// The distance from the best average score at which a score is clearly lower.
const WORSE: f64 = 0.05;

impl Node {
    /// Adds the legal moves that the node does not have. There are such moves only where the rules do
    /// not tell the role which moves are legal.
    fn add(&mut self, legal: &[Move]) {
        if *legal == *self.moves {
            return;
        }
        for made in legal {
            if !self.moves.contains(made) {
                self.moves.push(*made);
                self.arms.push(Arm::default());
            }
        }
    }

    /// The position of a move among those that are legal.
    fn choose(&self, legal: &[Move], options: &SearchOptions, random: &mut dyn Rng) -> usize {
        let (first, least, fall) = BOUNDS;
        let total = f64::from(self.total);
        let by_bounds = (first / (1.0 + fall * total.sqrt())).max(least);
        let same = *legal == *self.moves;
        let is_legal = |made: &Move| same || legal.contains(made);
        if self.total > 0 && !random.random_bool(by_bounds) {
            let mut left = random.random::<f64>() * total;
            for (at, (made, arm)) in self.moves.iter().zip(&self.arms).enumerate() {
                left -= f64::from(arm.visits);
                if left < 0.0 && is_legal(made) {
                    return at;
                }
            }
        }
        let all: u32 = self.arms.iter().map(|arm| arm.visits + arm.pending).sum();
        let logarithm = f64::from(all.max(1)).ln();
        let mut best = (f64::NEG_INFINITY, 0, 0);
        for (at, (made, arm)) in self.moves.iter().zip(&self.arms).enumerate() {
            if !is_legal(made) {
                continue;
            }
            let tried = f64::from(arm.visits + arm.pending);
            let bound = match arm.visits + arm.pending {
                0 => f64::INFINITY,
                _ => arm.mean() + options.exploration * (logarithm / tried).sqrt(),
            };
            // Equal bounds are drawn from.
            let (most, _, count) = best;
            if bound > most {
                best = (bound, at, 1);
            } else if bound == most {
                let is_drawn = random.random_range(0..=count) == 0;
                best = (bound, if is_drawn { at } else { best.1 }, count + 1);
            }
        }
        best.1
    }
}
