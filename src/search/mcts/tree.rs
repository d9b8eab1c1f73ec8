//! The tree, and one iteration: selection, expansion, playout, backpropagation.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use super::report::{MctsReport, MoveReport, RoleReport};
use super::{GameProblem, Mcts};
use crate::search::Stop;
use crate::search::budget::{BudgetKind, Meter};

/// How far below the best a bound may be to be chosen all the same, where more
/// than one role has a choice.
///
/// Without it, roles with the same worths choose the same moves in step for
/// ever, and never see what a move is worth against another one.
const TOLERANCE: f64 = 0.01;

/// A search tree, and the line that was played last.
pub(super) struct Tree<G: GameProblem> {
    options: Mcts,
    rng: Xoshiro256PlusPlus,
    /// The root is node 0.
    nodes: Vec<Node<G>>,
    bytes: u64,
    line: Line<G::Move>,
}

/// A position in the tree.
struct Node<G: GameProblem> {
    state: G::State,
    content: Content<G::Move>,
}

enum Content<M> {
    /// What it is worth to each role, and whether the game has ended.
    Leaf {
        worth: Box<[f64]>,
        is_terminal: bool,
    },
    Inner {
        visits: u64,
        /// One entry per role, none of them without arms.
        roles: Box<[Vec<Arm<M>>]>,
        /// The positions after joint moves, by each role's index into `roles`.
        children: FxHashMap<Box<[u32]>, usize>,
    },
}

struct Arm<M> {
    action: M,
    visits: u64,
    /// The sum of what the visits were worth.
    total: f64,
}

/// The current iteration.
struct Line<M> {
    /// The inner nodes passed.
    path: Vec<usize>,
    /// The arms chosen there: one per role and node.
    choices: Vec<u32>,
    /// The joint moves from the root, one move per role and step.
    moves: Vec<M>,
    /// What the end is worth to each role.
    worth: Vec<f64>,
    is_terminal: bool,
    /// The legal moves of one role.
    legal: Vec<M>,
}

impl<G: GameProblem> Tree<G> {
    pub(super) fn new(game: &mut G, root: G::State, options: &Mcts) -> Result<Self, G::Error> {
        let mut tree = Tree {
            options: *options,
            rng: Xoshiro256PlusPlus::seed_from_u64(options.seed),
            nodes: Vec::new(),
            bytes: 0,
            line: Line {
                path: Vec::new(),
                choices: Vec::new(),
                moves: Vec::new(),
                worth: vec![0.0; game.roles()],
                is_terminal: false,
                legal: Vec::new(),
            },
        };
        tree.grow(game, root)?;
        Ok(tree)
    }

    /// Whether the root itself is the end, so that iterations tell no more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.nodes[0].content, Content::Leaf { .. })
    }

    /// The number of positions in it, the root included.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What the last line was worth to role 0 and its moves, if it reached a
    /// terminal state.
    pub(super) fn finished_line(&self) -> Option<(f64, &[G::Move])> {
        self.line
            .is_terminal
            .then_some((self.line.worth[0], &self.line.moves[..]))
    }

    /// Plays one line from the root and credits it.
    pub(super) fn iterate(
        &mut self,
        game: &mut G,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop<G::Error>> {
        meter.record(self.nodes.len(), self.bytes);
        meter.spend_node()?;
        self.line.path.clear();
        self.line.choices.clear();
        self.line.moves.clear();
        let mut node = 0;
        while let Content::Inner { .. } = self.nodes[node].content {
            let joint = self.choose(node);
            let roles = joint.len();
            let played = self.line.moves.len() - roles;
            let Content::Inner { children, .. } = &self.nodes[node].content else {
                unreachable!("the loop has just seen that it is an inner node")
            };
            meter.arc()?;
            if let Some(&child) = children.get(&joint) {
                node = child;
                continue;
            }
            let state = game
                .next(&self.nodes[node].state, &self.line.moves[played..])
                .map_err(Stop::Error)?;
            if !meter.fits(self.bytes) {
                self.playout(game, state, meter)?;
                self.credit();
                return Ok(());
            }
            let child = self.grow(game, state).map_err(Stop::Error)?;
            if let Content::Inner { children, .. } = &mut self.nodes[node].content {
                children.insert(joint, child);
            }
            if let Content::Inner { .. } = self.nodes[child].content {
                let state = self.nodes[child].state.clone();
                self.playout(game, state, meter)?;
                self.credit();
                return Ok(());
            }
            node = child;
        }
        if let Content::Leaf { worth, is_terminal } = &self.nodes[node].content {
            self.line.worth.copy_from_slice(worth);
            self.line.is_terminal = *is_terminal;
        }
        self.credit();
        Ok(())
    }

    /// Adds a position and returns its node.
    fn grow(&mut self, game: &mut G, state: G::State) -> Result<usize, G::Error> {
        let content = content(game, &state)?;
        let heap = match &content {
            Content::Leaf { worth, .. } => size_of_val::<[f64]>(worth),
            Content::Inner { roles, .. } => roles
                .iter()
                .map(|arms| size_of_val::<[Arm<G::Move>]>(arms) + size_of::<Vec<Arm<G::Move>>>())
                .sum(),
        };
        // With the entry in the parent's table of children, which is at least
        // half full.
        let entry = 2 * size_of::<(Box<[u32]>, usize)>() + game.roles() * size_of::<u32>();
        let size = (size_of::<Node<G>>() + heap + entry) as u64;
        self.bytes = self
            .bytes
            .saturating_add(size)
            .saturating_add(game.state_heap_bytes(&state));
        self.nodes.push(Node { state, content });
        Ok(self.nodes.len() - 1)
    }

    /// Chooses an arm for each role of an inner node and appends to the line.
    fn choose(&mut self, node: usize) -> Box<[u32]> {
        let Content::Inner { visits, roles, .. } = &self.nodes[node].content else {
            unreachable!("asked of inner nodes only")
        };
        self.line.path.push(node);
        let mut joint = Vec::with_capacity(roles.len());
        let choosers = roles.iter().filter(|arms| arms.len() > 1).count();
        let tolerance = if choosers > 1 { TOLERANCE } else { 0.0 };
        for arms in roles {
            let exploration = self.options.exploration;
            let arm = choose_arm(arms, *visits, exploration, tolerance, &mut self.rng);
            joint.push(arm as u32);
            self.line.choices.push(arm as u32);
            self.line.moves.push(arms[arm].action.clone());
        }
        joint.into()
    }

    /// Plays random moves from `state` to the end, or to the depth limit.
    fn playout(
        &mut self,
        game: &mut G,
        mut state: G::State,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop<G::Error>> {
        let roles = self.line.worth.len();
        self.line.is_terminal = false;
        for _ in 0..self.options.playout_depth {
            if game.is_terminal(&state).map_err(Stop::Error)? {
                break;
            }
            let played = self.line.moves.len();
            for role in 0..roles {
                self.line.legal.clear();
                game.legal(&state, role, &mut self.line.legal)
                    .map_err(Stop::Error)?;
                if self.line.legal.is_empty() {
                    self.line.moves.truncate(played);
                    return game
                        .estimate(&state, &mut self.line.worth)
                        .map_err(Stop::Error);
                }
                let choice = self.rng.random_range(0..self.line.legal.len());
                self.line.moves.push(self.line.legal.swap_remove(choice));
            }
            meter.arc()?;
            state = game
                .next(&state, &self.line.moves[played..])
                .map_err(Stop::Error)?;
        }
        self.line.is_terminal = game.is_terminal(&state).map_err(Stop::Error)?;
        if self.line.is_terminal {
            game.goals(&state, &mut self.line.worth)
                .map_err(Stop::Error)
        } else {
            game.estimate(&state, &mut self.line.worth)
                .map_err(Stop::Error)
        }
    }

    /// Adds what the line was worth to every arm it went through.
    fn credit(&mut self) {
        let mut choices = self.line.choices.iter();
        for &node in &self.line.path {
            let Content::Inner { visits, roles, .. } = &mut self.nodes[node].content else {
                continue;
            };
            *visits = visits.saturating_add(1);
            for ((arms, &choice), worth) in
                roles.iter_mut().zip(choices.by_ref()).zip(&self.line.worth)
            {
                let arm = &mut arms[choice as usize];
                arm.visits = arm.visits.saturating_add(1);
                arm.total += worth;
            }
        }
    }

    pub(super) fn report(&self, iterations: u64, stopped: BudgetKind) -> MctsReport<G::Move> {
        let roles = match &self.nodes[0].content {
            Content::Leaf { worth, .. } => worth
                .iter()
                .map(|_| RoleReport { moves: Vec::new() })
                .collect(),
            Content::Inner { roles, .. } => roles
                .iter()
                .map(|arms| RoleReport {
                    moves: arms.iter().map(Arm::report).collect(),
                })
                .collect(),
        };
        MctsReport {
            roles,
            iterations,
            positions: self.nodes.len(),
            stopped,
        }
    }
}

impl<M: Clone> Arm<M> {
    fn report(&self) -> MoveReport<M> {
        let mean = if self.visits == 0 {
            0.0
        } else {
            self.total / self.visits as f64
        };
        MoveReport {
            action: self.action.clone(),
            visits: self.visits,
            mean,
        }
    }
}

fn content<G: GameProblem>(game: &mut G, state: &G::State) -> Result<Content<G::Move>, G::Error> {
    let mut worth = vec![0.0; game.roles()];
    if game.is_terminal(state)? {
        game.goals(state, &mut worth)?;
        return Ok(Content::Leaf {
            worth: worth.into(),
            is_terminal: true,
        });
    }
    let mut roles = Vec::with_capacity(game.roles());
    for role in 0..game.roles() {
        let mut legal = Vec::new();
        game.legal(state, role, &mut legal)?;
        if legal.is_empty() {
            game.estimate(state, &mut worth)?;
            return Ok(Content::Leaf {
                worth: worth.into(),
                is_terminal: false,
            });
        }
        let arm = |action| Arm {
            action,
            visits: 0,
            total: 0.0,
        };
        roles.push(legal.into_iter().map(arm).collect());
    }
    Ok(Content::Inner {
        visits: 0,
        roles: roles.into(),
        children: FxHashMap::default(),
    })
}

/// An arm that was never tried, at random; else the one with the largest upper
/// confidence bound, of equals the first, or any of those within `tolerance`.
///
/// `arms` has at least one element and `visits` is the sum of theirs.
fn choose_arm<M>(
    arms: &[Arm<M>],
    visits: u64,
    exploration: f64,
    tolerance: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> usize {
    if arms.len() == 1 {
        return 0;
    }
    let untried = arms.iter().filter(|arm| arm.visits == 0).count();
    if untried > 0 {
        let chosen = rng.random_range(0..untried);
        let mut indices = (0..arms.len()).filter(|&arm| arms[arm].visits == 0);
        return indices.nth(chosen).expect("one of those counted");
    }
    let log = (visits.max(1) as f64).ln();
    // mean + c·sqrt(ln N / n), with the mean in 0..=1.
    let bound = |arm: &Arm<M>| {
        let tries = arm.visits as f64;
        arm.total / tries / 100.0 + exploration * (log / tries).sqrt()
    };
    let mut best = (0, f64::NEG_INFINITY);
    for (index, arm) in arms.iter().enumerate() {
        let bound = bound(arm);
        if bound > best.1 {
            best = (index, bound);
        }
    }
    if tolerance == 0.0 {
        return best.0;
    }
    // The k-th of those near the best replaces the chosen one with chance 1/k.
    let (mut chosen, mut near) = (best.0, 0);
    for (index, arm) in arms.iter().enumerate() {
        if bound(arm) >= best.1 - tolerance {
            near += 1;
            if rng.random_range(0..near) == 0 {
                chosen = index;
            }
        }
    }
    chosen
}
