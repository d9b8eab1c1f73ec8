//! Growth of a tree by batches of lines from the root.
//!
//! The lines of a batch are selected one by one. Each ends with a joint move that is new in
//! its position. All new positions are then computed and played out together, and all lines
//! are backed up. A line may also end in a position whose values are proved, that is new but
//! reached by another line, or that repeats a position of the same line.
//!
//! While the game is evaluated, other threads may use the tree.
//!
//! Source: Liu et al., "Watch the unobserved", 2020.

use std::hash::Hash;

use super::simulator::{Sample, Simulator, TerminalChild, Views};
use super::tree::{Chooser, Cursor, NONE, Tree, WAITING};

/// The most joint moves of a new position that are probed for terminal states.
const PROBED: u32 = 64;
/// The number of root visits for each line of a batch. It keeps the first batches small,
/// because later lines depend on their results.
const VISITS_PER_LINE: u64 = 8;

/// Lines that are selected and wait for evaluation.
#[derive(Clone, Debug)]
pub(super) struct Batch<S, M> {
    pub(super) lines: Vec<Line>,
    pub(super) steps: Vec<Step>,
    /// The indices of the lines that end with a new joint move.
    new: Vec<usize>,
    /// The state and the joint move at the end of each new line.
    parents: Vec<S>,
    joints: Vec<M>,
    /// The new nodes.
    fresh: Vec<u32>,
    /// The positions to play out, and their nodes.
    states: Vec<S>,
    pub(super) nodes: Vec<u32>,
    /// The seed of the playouts, and the number for each position; 0 for as many as run in
    /// parallel at the cost of one.
    seed: u64,
    each: u32,
}

/// A path from the root.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) steps: std::ops::Range<usize>,
    pub(super) end: u32,
    /// True if another waiting line has the same end, so that this one is not backed up.
    pub(super) is_duplicate: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) node: u32,
    /// The index of the arm at the node; the number of the joint move if several roles
    /// choose.
    pub(super) choice: u128,
}

/// Joint moves to probe for terminal states.
struct Probe<S, M> {
    states: Vec<S>,
    joints: Vec<M>,
    /// The node and the choice of each joint move.
    from: Vec<(u32, u32)>,
}

/// Exclusive access to a tree, which several threads may share.
pub(super) trait TreeAccess<S, M> {
    /// Runs a function while no other thread has access.
    fn with_tree<R>(&mut self, work: impl FnOnce(&mut Tree<S, M>) -> R) -> R;
}

impl<S, M> TreeAccess<S, M> for Tree<S, M> {
    fn with_tree<R>(&mut self, work: impl FnOnce(&mut Tree<S, M>) -> R) -> R {
        work(self)
    }
}

/// The best score of a terminal state so far, and the moves that lead there.
pub type Best<M> = Option<(u8, Vec<M>)>;

/// The result of a batch.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Grown {
    /// The number of lines that were backed up.
    pub lines: u64,
    /// True if the thread has to wait for evaluations of other threads.
    pub is_idle: bool,
}

/// Plays a batch of lines and backs it up. The tree gets at most `until` iterations.
pub(super) fn grow<G: Simulator>(
    tree: &mut impl TreeAccess<G::State, G::Move>,
    game: &mut G,
    until: u64,
    best: &mut Best<G::Move>,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Grown, G::Error> {
    let mut batch = tree.with_tree(|tree| tree.collect(until));
    match evaluate(tree, game, &mut batch, best, proceed) {
        Ok(samples) => {
            let lines = tree.with_tree(|tree| tree.finish(&batch, samples, best));
            Ok(Grown {
                lines,
                is_idle: lines == 0 && batch.states.is_empty(),
            })
        }
        Err(error) => {
            tree.with_tree(|tree| tree.abandon(&batch));
            Err(error)
        }
    }
}

/// Makes the new joint moves, adds nodes for the resulting states and plays them out.
fn evaluate<G: Simulator>(
    tree: &mut impl TreeAccess<G::State, G::Move>,
    game: &mut G,
    batch: &mut Batch<G::State, G::Move>,
    best: &mut Best<G::Move>,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Vec<Sample<G::Move>>, G::Error> {
    if !batch.new.is_empty() {
        let states = game.step(&batch.parents, &batch.joints)?;
        let is_known: Vec<bool> =
            tree.with_tree(|tree| states.iter().map(|s| tree.find(s).is_some()).collect());
        let unknown = states.iter().zip(&is_known).filter(|(_, known)| !**known);
        let unknown: Vec<G::State> = unknown.map(|(state, _)| state.clone()).collect();
        let mut views = Views::default();
        game.look(&unknown, &mut views)?;
        let probe = tree.with_tree(|tree| {
            tree.arrive(game, batch, states, &is_known, &views, best);
            let is_probed = tree.options.solver && game.looks_ahead();
            is_probed.then(|| tree.probe(&batch.fresh))
        });
        let ends = match &probe {
            Some(probe) => game.terminal_children(&probe.states, &probe.joints)?,
            None => Vec::new(),
        };
        tree.with_tree(|tree| {
            if let Some(probe) = &probe {
                tree.add_ends(game, &probe.from, ends);
            }
            tree.await_fresh(batch);
        });
    }
    if batch.states.is_empty() {
        return Ok(Vec::new());
    }
    let each = match batch.each {
        0 => (game.lanes() / batch.states.len()).max(1) as u32,
        each => each,
    };
    game.playouts(&batch.states, each, batch.seed, proceed)
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Plays a batch of up to `most` lines and backs it up. The result is the number of
    /// lines, 0 if `proceed` ended the playouts.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn grow<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        most: u64,
        best: &mut Best<M>,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<u64, G::Error> {
        let until = self.iterations.saturating_add(most);
        grow(self, game, until, best, proceed).map(|grown| grown.lines)
    }

    /// Selects a batch of lines and marks them as waiting.
    fn collect(&mut self, until: u64) -> Batch<S, M> {
        let mut batch = Batch {
            lines: Vec::new(),
            steps: Vec::new(),
            new: Vec::new(),
            parents: Vec::new(),
            joints: Vec::new(),
            fresh: Vec::new(),
            states: Vec::new(),
            nodes: Vec::new(),
            seed: 0,
            each: self.options.each,
        };
        let root = &self.nodes[self.root as usize];
        let most = until.saturating_sub(self.iterations + self.waiting);
        let lines = match root.visits {
            0 => u64::from(root.pending == 0),
            visits => {
                (u64::from(visits) / VISITS_PER_LINE).clamp(1, self.options.batch.max(1).into())
            }
        };
        let lines = lines.min(most) as usize;
        let mut void = 0;
        while batch.lines.len() - void < lines && void <= lines / 4 {
            self.descend(&mut batch);
            void += usize::from(batch.lines.last().is_some_and(|line| line.is_duplicate));
        }
        self.waiting += batch.lines.len() as u64;
        for line in 0..batch.lines.len() {
            let Line {
                end, is_duplicate, ..
            } = batch.lines[line];
            if is_duplicate {
                continue;
            }
            if end == WAITING {
                let step = batch.steps[batch.lines[line].steps.end - 1].clone();
                batch.new.push(line);
                batch.parents.push(self.states[step.node as usize].clone());
                self.joint(step.node, step.choice, &mut batch.joints);
            } else if self.nodes[end as usize].visits == 0 {
                // It was never evaluated, or its playouts were interrupted.
                self.await_playouts(end, &mut batch);
            }
        }
        batch.seed = rand::RngExt::random(&mut self.rng);
        batch
    }

    /// Selects one line and marks its arms as pending. The end is [`WAITING`] if the last
    /// joint move is new.
    fn descend(&mut self, batch: &mut Batch<S, M>) {
        let first = batch.steps.len();
        self.lines = self.lines.wrapping_add(1).max(1);
        let (mut node, mut is_duplicate) = (self.root, false);
        loop {
            let data = &mut self.nodes[node as usize];
            if data.mark == self.lines || data.chooser == Chooser::Closed {
                break;
            }
            if data.visits == 0 {
                is_duplicate = data.pending > 0;
                break;
            }
            if self.options.graph {
                data.mark = self.lines;
            }
            data.pending += 1;
            if self.options.solver && self.is_solved(node) {
                self.nodes[node as usize].pending -= 1;
                break;
            }
            if self.nodes[node as usize].arms == NONE {
                self.add_arms(node);
            }
            let (choice, child) = self.branch(node);
            batch.steps.push(Step { node, choice });
            match child {
                NONE => {
                    self.link(node, choice, WAITING);
                    node = WAITING;
                    break;
                }
                WAITING => {
                    is_duplicate = true;
                    break;
                }
                child => node = child,
            }
        }
        batch.lines.push(Line {
            steps: first..batch.steps.len(),
            end: node,
            is_duplicate,
        });
    }

    /// Selects a joint move at a node. The result is its number and its child.
    fn branch(&mut self, node: u32) -> (u128, u32) {
        let data = &self.nodes[node as usize];
        let first = data.arms as usize;
        if let Chooser::One(role) = data.chooser {
            let role = role as usize;
            let count = self.counts[node as usize * self.roles + role] as usize;
            let chosen = self.choose(node, role, first..first + count);
            let arm = &mut self.arms[first + chosen];
            arm.pending += 1;
            return (chosen as u128, arm.child);
        }
        let choosers: Vec<_> = self.choosers(node).collect();
        let (mut joint, mut unit) = (0, 1);
        for (role, arms) in choosers {
            let (start, count) = (arms.start, arms.len() as u128);
            let chosen = self.choose(node, role, arms);
            self.arms[start + chosen].pending += 1;
            joint += unit * chosen as u128;
            unit *= count;
        }
        let child = self.edges.get(&(node, joint)).copied().unwrap_or(NONE);
        (joint, child)
    }

    fn link(&mut self, node: u32, choice: u128, child: u32) {
        let data = &self.nodes[node as usize];
        match data.chooser {
            Chooser::Many => {
                self.edges.insert((node, choice), child);
            }
            _ => self.arms[data.arms as usize + choice as usize].child = child,
        }
    }

    /// Appends the joint move with a given number to `out`.
    pub(super) fn joint(&self, node: u32, choice: u128, out: &mut Vec<M>) {
        let chooser = self.nodes[node as usize].chooser;
        let mut rest = choice;
        for role in 0..self.roles {
            let moves = self.moves_of(node, role);
            let count = moves.len() as u128;
            let index = match chooser {
                Chooser::One(one) if one as usize == role => choice,
                Chooser::Many if count > 1 => {
                    let index = rest % count;
                    rest /= count;
                    index
                }
                _ => 0,
            };
            out.push(moves[index as usize].clone());
        }
    }

    /// Links the new joint moves to nodes. `views` has the states that were unknown.
    fn arrive<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &G,
        batch: &mut Batch<S, M>,
        states: Vec<S>,
        is_known: &[bool],
        views: &Views<M>,
        best: &mut Best<M>,
    ) {
        let mut at = Cursor::default();
        for (index, state) in states.into_iter().enumerate() {
            let line = batch.new[index];
            let step = batch.steps[batch.lines[line].steps.end - 1].clone();
            // Another thread may have added the state in the meantime.
            let node = match (is_known[index], self.find(&state)) {
                (true, Some(node)) => {
                    let data = &self.nodes[node as usize];
                    if data.visits == 0 && data.pending == 0 {
                        self.await_playouts(node, batch);
                    }
                    node
                }
                (_, Some(node)) => {
                    at.skip(views, self.roles);
                    node
                }
                (_, None) => {
                    let bytes = game.state_heap_bytes(&state);
                    let node = self.add(state, views, &mut at, bytes);
                    if self.nodes[node as usize].visits == 0 {
                        self.nodes[node as usize].pending = 1;
                    }
                    batch.fresh.push(node);
                    node
                }
            };
            self.link(step.node, step.choice, node);
            batch.lines[line].end = node;
            if self.nodes[node as usize].is_end && self.roles == 1 {
                let score = self.bounds[node as usize][0];
                self.improve(best, score, batch, line, &[]);
            }
        }
    }

    /// The joint moves of new nodes that may end the game at once.
    fn probe(&self, fresh: &[u32]) -> Probe<S, M> {
        let mut probe = Probe {
            states: Vec::new(),
            joints: Vec::new(),
            from: Vec::new(),
        };
        for &node in fresh {
            let Chooser::One(role) = self.nodes[node as usize].chooser else {
                continue;
            };
            let count = self.counts[node as usize * self.roles + role as usize];
            for choice in 0..count.min(PROBED) {
                probe.states.push(self.states[node as usize].clone());
                self.joint(node, choice.into(), &mut probe.joints);
                probe.from.push((node, choice));
            }
        }
        probe
    }

    /// Adds nodes for the terminal states that the probe found.
    fn add_ends<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &G,
        from: &[(u32, u32)],
        ends: Vec<TerminalChild<S>>,
    ) {
        let mut last = NONE;
        for end in ends {
            let (node, choice) = from[end.index];
            if last != NONE && last != node {
                self.prove(last);
            }
            last = node;
            if self.nodes[node as usize].arms == NONE {
                self.add_arms(node);
            }
            let child = match self.find(&end.state) {
                Some(child) => child,
                None => {
                    let bytes = game.state_heap_bytes(&end.state);
                    self.add_end(end.state, &end.goals, bytes)
                }
            };
            self.link(node, choice.into(), child);
        }
        if last != NONE {
            self.prove(last);
        }
    }

    /// Queues new nodes for playouts unless their values are known.
    fn await_fresh(&mut self, batch: &mut Batch<S, M>) {
        for node in std::mem::take(&mut batch.fresh) {
            let is_open = self.nodes[node as usize].chooser != Chooser::Closed;
            if is_open && !(self.options.solver && self.is_solved(node)) {
                self.await_playouts(node, batch);
                continue;
            }
            let data = &mut self.nodes[node as usize];
            (data.visits, data.pending) = (1, 0);
            for role in 0..self.roles {
                let at = node as usize * self.roles + role;
                self.values[at] = self.mean(node, role);
            }
        }
    }

    fn await_playouts(&mut self, node: u32, batch: &mut Batch<S, M>) {
        self.nodes[node as usize].pending = 1;
        batch.states.push(self.states[node as usize].clone());
        batch.nodes.push(node);
    }

    /// Undoes a batch that cannot be evaluated.
    fn abandon(&mut self, batch: &Batch<S, M>) {
        for &node in batch.fresh.iter().chain(&batch.nodes) {
            self.nodes[node as usize].pending = 0;
        }
        for line in &batch.lines {
            if line.end == WAITING && !line.is_duplicate {
                let step = &batch.steps[line.steps.end - 1];
                self.link(step.node, step.choice, NONE);
            }
            self.release(batch, line);
        }
    }

    /// Replaces the best line if this one has a higher score, or an equal score and fewer
    /// moves.
    pub(super) fn improve(
        &self,
        best: &mut Best<M>,
        score: u8,
        batch: &Batch<S, M>,
        line: usize,
        rest: &[M],
    ) {
        let steps = &batch.steps[batch.lines[line].steps.clone()];
        let length = steps.len() + rest.len();
        let is_better = best
            .as_ref()
            .is_none_or(|(known, plan)| score > *known || score == *known && length < plan.len());
        if is_better {
            let mut plan = Vec::with_capacity(length);
            for step in steps {
                self.joint(step.node, step.choice, &mut plan);
            }
            plan.extend_from_slice(rest);
            *best = Some((score, plan));
        }
    }
}
