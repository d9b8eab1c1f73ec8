//! Growth of a tree by batches of lines from the root.
//!
//! The lines of a batch descend together, one joint move at a time: while one line waits for
//! memory, others are served. Each ends with a joint move that is new in its position. All
//! new positions are then computed and played out together, and all lines are backed up. A
//! line may also end in a position whose values are proved, that is new but reached by another
//! line, or that repeats a position of the same line.
//!
//! Source: Liu et al., "Watch the unobserved", 2020.

use std::hash::Hash;
use std::hint::black_box;
use std::time::Duration;

use super::simulator::{Sample, Simulator, TerminalChild, Views};
use super::tree::{Chooser, Cursor, NONE, Tree, WAITING};

/// The most joint moves of a new position that are probed for terminal states.
const PROBED: usize = 64;
/// The visits of a position before its moves get priors.
const VISITS_BEFORE_PRIORS: u32 = 2;
/// The difference of values, 0 to 100, by which the prior of a move is e times as large.
const TEMPERATURE: f32 = 10.0;
/// The share of equal priors in priors.
const UNIFORM: f32 = 0.15;
/// The least number of lines of a batch for each root visit so far. It keeps the first batches small,
/// because later lines depend on their results.
pub(super) const LINES_PER_VISIT: f64 = 0.125;

/// The part of the time in which batches may be small.
const SMALL: f64 = 0.25;

/// Lines that are selected and wait for evaluation.
#[derive(Clone, Debug)]
pub(super) struct Batch<M> {
    pub(super) lines: Vec<Line>,
    steps: Vec<Step>,
    /// The indices of the lines that end with a new joint move, and the joint moves.
    new: Vec<usize>,
    joints: Vec<M>,
    /// The new nodes.
    fresh: Vec<u32>,
    /// The positions to play out.
    pub(super) nodes: Vec<u32>,
    /// The positions whose moves get priors.
    wanting: Vec<u32>,
    /// The lines that go on, with their positions.
    open: Vec<(usize, u32)>,
}

impl<M> Default for Batch<M> {
    fn default() -> Self {
        Batch {
            lines: Vec::new(),
            steps: Vec::new(),
            new: Vec::new(),
            joints: Vec::new(),
            fresh: Vec::new(),
            nodes: Vec::new(),
            wanting: Vec::new(),
            open: Vec::new(),
        }
    }
}

/// A path from the root.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The index of its last step, [`NONE`] if it has none.
    last: u32,
    pub(super) end: u32,
    /// True if another waiting line has the same end, so that this one is not backed up.
    pub(super) is_duplicate: bool,
    /// True if it made a step to a position that was found with as few moves or fewer. Before
    /// that, it cannot meet a position twice.
    goes_back: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) node: u32,
    /// The index of the step before, [`NONE`] for the first.
    before: u32,
    /// The index of the arm at the node; the number of the joint move if several roles
    /// choose.
    pub(super) choice: u128,
}

impl<M> Batch<M> {
    fn clear(&mut self) {
        self.lines.clear();
        self.steps.clear();
        self.new.clear();
        self.joints.clear();
        self.fresh.clear();
        self.nodes.clear();
        self.wanting.clear();
    }

    /// The steps of a line, from its end to the root.
    pub(super) fn path(&self, line: &Line) -> impl Iterator<Item = &Step> + Clone {
        let mut at = line.last;
        std::iter::from_fn(move || {
            let step = self.steps.get(at as usize)?;
            at = step.before;
            Some(step)
        })
    }

    /// The last step of a line that has one.
    fn last(&self, line: usize) -> &Step {
        &self.steps[self.lines[line].last as usize]
    }
}

/// The best score of a terminal state so far, and the moves that lead there.
pub type Best<M> = Option<(u8, Vec<M>)>;

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Plays a batch of up to `most` lines and backs it up. The result is the number of
    /// lines, 0 if there was no room in memory yet, or `proceed` ended the playouts.
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
        if !self.make_room(game) {
            return Ok(0);
        }
        let mut batch = std::mem::take(&mut self.batch);
        self.collect(&mut batch, most, game.has_values());
        let samples = self.evaluate(game, &mut batch, best, proceed);
        let samples = samples.and_then(|samples| {
            self.set_priors(game, &batch)?;
            Ok(samples)
        });
        let result = match samples {
            Ok(samples) => Ok(self.finish(&batch, samples, best)),
            Err(error) => {
                self.abandon(&batch);
                Err(error)
            }
        };
        for &node in &batch.nodes {
            self.nodes[node as usize].is_awaited = false;
        }
        batch.clear();
        self.batch = batch;
        if self.are_bounds_invalid() && self.nodes[self.root as usize].chooser != Chooser::Closed {
            self.restart(game);
        }
        result
    }

    /// Sets the growth of batches by the time that one takes and the time that is left, if it is
    /// limited: after a [`SMALL`] part of it, batches have as many lines as they may.
    pub(super) fn set_growth(&mut self, batch: Duration, left: Option<Duration>) {
        self.lines_per_visit = LINES_PER_VISIT;
        if let Some(left) = left {
            let batches = SMALL * left.as_secs_f64() / batch.as_secs_f64().max(1e-9);
            let growth = (f64::from(self.options.batch).ln() / batches).exp_m1();
            self.lines_per_visit = growth.max(LINES_PER_VISIT);
        }
    }

    /// Makes the new joint moves, adds nodes for the resulting states and plays them out.
    fn evaluate<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        batch: &mut Batch<M>,
        best: &mut Best<M>,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<M>>, G::Error> {
        if !batch.new.is_empty() {
            let parents = batch.new.iter().map(|&line| batch.last(line).node);
            let parents: Vec<&S> = parents.map(|node| self.state(node)).collect();
            let states = game.step(&parents, &batch.joints)?;
            let hashes: Vec<u32> = states.iter().map(|state| self.hash(state)).collect();
            let known = states.iter().zip(&hashes);
            let is_known: Vec<bool> = { known }
                .map(|(state, &hash)| self.find(hash, state).is_some())
                .collect();
            let unknown = states.iter().zip(&is_known).filter(|(_, known)| !**known);
            let unknown: Vec<&S> = unknown.map(|(state, _)| state).collect();
            let mut views = Views::default();
            game.look(&unknown, &mut views)?;
            self.arrive(
                game,
                batch,
                states.into_iter().zip(hashes),
                &is_known,
                &views,
                best,
            );
            if self.options.solver && game.looks_ahead() {
                self.probe(game, &batch.fresh)?;
            }
            self.await_fresh(batch);
        }
        if batch.nodes.is_empty() {
            return Ok(Vec::new());
        }
        let each = match self.options.each {
            0 => (game.lanes() / batch.nodes.len()).max(1) as u32,
            each => each,
        };
        let seed = rand::RngExt::random(&mut self.rng);
        let states: Vec<&S> = batch.nodes.iter().map(|&node| self.state(node)).collect();
        game.playouts(&states, each, seed, proceed)
    }

    /// Selects a batch of up to `most` lines and marks them as waiting.
    fn collect(&mut self, batch: &mut Batch<M>, most: u64, has_values: bool) {
        let lines = match self.nodes[self.root as usize].visits {
            0 => 1,
            visits => {
                let lines = (f64::from(visits) * self.lines_per_visit) as u64;
                lines.clamp(1, self.options.batch.max(1).into())
            }
        };
        let lines = lines.min(most) as usize;
        let mut void = 0;
        while batch.lines.len() - void < lines && void <= lines / 4 {
            let first = batch.lines.len();
            self.descend(batch, lines + void - first);
            let new = &batch.lines[first..];
            void += new.iter().filter(|line| line.is_duplicate).count();
        }
        if has_values {
            for step in &batch.steps {
                let data = &self.nodes[step.node as usize];
                let is_ready = data.visits >= VISITS_BEFORE_PRIORS && !data.has_priors;
                if is_ready && matches!(data.chooser, Chooser::One(_)) && data.arms.len() > 1 {
                    batch.wanting.push(step.node);
                }
            }
            batch.wanting.sort_unstable();
            batch.wanting.dedup();
        }
        for line in 0..batch.lines.len() {
            let Line {
                end, is_duplicate, ..
            } = batch.lines[line];
            if end == WAITING && !is_duplicate {
                let step = &batch.steps[batch.lines[line].last as usize];
                batch.new.push(line);
                self.joint(step.node, step.choice, &mut batch.joints);
            }
        }
    }

    /// Selects lines and marks their arms as pending. The end of a line is [`WAITING`] if its
    /// last joint move is new.
    fn descend(&mut self, batch: &mut Batch<M>, count: usize) {
        let first = batch.lines.len();
        batch.lines.resize(
            first + count,
            Line {
                last: NONE,
                end: self.root,
                is_duplicate: false,
                goes_back: false,
            },
        );
        let mut open = std::mem::take(&mut batch.open);
        open.extend((first..first + count).map(|line| (line, self.root)));
        while !open.is_empty() {
            // Independent reads, for which the processor waits together.
            let nodes = open.iter().map(|&(_, node)| &self.nodes[node as usize]);
            black_box(nodes.clone().fold(0, |all, node| all ^ node.visits));
            black_box(nodes.fold(0, |all, node| all ^ node.arms.touch()));
            open.retain_mut(|(line, node)| {
                let next = self.advance(batch, *line, *node);
                *node = next.unwrap_or(NONE);
                next.is_some()
            });
        }
        batch.open = open;
    }

    /// Moves a line that reached `node` one step on, or sets its end.
    fn advance(&mut self, batch: &mut Batch<M>, number: usize, node: u32) -> Option<u32> {
        let line = &mut batch.lines[number];
        line.end = node;
        let data = &self.nodes[node as usize];
        if data.chooser == Chooser::Closed {
            return None;
        }
        if data.visits == 0 {
            // Another line of this batch may end here, too.
            line.is_duplicate = data.is_awaited;
            if !data.is_awaited {
                // It was never evaluated, or its playouts were interrupted.
                self.nodes[node as usize].is_awaited = true;
                batch.nodes.push(node);
            }
            return None;
        }
        let last = line.last;
        if let Some(step) = batch.steps.get(last as usize) {
            line.goes_back |= data.ply <= self.nodes[step.node as usize].ply;
        }
        if (self.options.solver && self.is_solved(node))
            || (line.goes_back && self.is_repeated(batch, number, node))
        {
            return None;
        }
        if data.arms.is_empty() {
            self.add_arms(node);
        }
        let (choice, child) = self.branch(node);
        self.nodes[node as usize].pending += 1;
        let line = &mut batch.lines[number];
        line.last = batch.steps.len() as u32;
        batch.steps.push(Step {
            node,
            before: last,
            choice,
        });
        match child {
            NONE => {
                line.end = WAITING;
                self.link(node, choice, WAITING);
                None
            }
            WAITING => {
                (line.end, line.is_duplicate) = (WAITING, true);
                None
            }
            child => Some(child),
        }
    }

    /// Returns true if a line meets a position for the second time.
    fn is_repeated(&self, batch: &Batch<M>, line: usize, node: u32) -> bool {
        let mut path = batch.path(&batch.lines[line]);
        path.any(|step| step.node == node)
    }

    /// Selects a joint move at a node. The result is its number and its child.
    fn branch(&mut self, node: u32) -> (u128, u32) {
        if let Chooser::One(role) = self.nodes[node as usize].chooser {
            let count = self.nodes[node as usize].arms.len();
            let chosen = self.choose(node, role as usize, 0..count);
            let arms = &mut self.nodes[node as usize].arms;
            arms.begin(chosen);
            return (chosen as u128, arms.child(chosen));
        }
        let choosers: Vec<_> = self.choosers(node).collect();
        let (mut joint, mut unit) = (0, 1);
        for (role, arms) in choosers {
            let (start, count) = (arms.start, arms.len() as u128);
            let chosen = self.choose(node, role, arms);
            self.nodes[node as usize].arms.begin(start + chosen);
            joint += unit * chosen as u128;
            unit *= count;
        }
        (joint, self.child(node, joint))
    }

    /// Appends the joint move with a given number to `out`.
    pub(super) fn joint(&self, node: u32, choice: u128, out: &mut Vec<M>) {
        let data = &self.nodes[node as usize];
        if let Chooser::One(one) = data.chooser {
            let (one, choice) = (one as usize, choice as usize);
            let after = data.moves.len() - (self.roles - 1) + one;
            out.extend_from_slice(&data.moves[..one]);
            out.push(data.moves[one + choice].clone());
            out.extend_from_slice(&data.moves[after..]);
            return;
        }
        let mut rest = choice;
        for role in 0..self.roles {
            let moves = self.moves_of(node, role);
            let count = moves.len() as u128;
            out.push(moves[(rest % count) as usize].clone());
            rest /= count;
        }
    }

    /// Links the new joint moves to nodes. `views` has the states that were unknown.
    fn arrive<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &G,
        batch: &mut Batch<M>,
        states: impl Iterator<Item = (S, u32)>,
        is_known: &[bool],
        views: &Views<M>,
        best: &mut Best<M>,
    ) {
        let mut at = Cursor::default();
        for (index, (state, hash)) in states.enumerate() {
            let line = batch.new[index];
            let step = batch.last(line).clone();
            let node = match self.find(hash, &state) {
                Some(node) => {
                    // Another line of this batch may have added it.
                    if !is_known[index] {
                        at.skip(views, self.roles);
                    } else {
                        let data = &mut self.nodes[node as usize];
                        if data.visits == 0 && !data.is_awaited {
                            data.is_awaited = true;
                            batch.nodes.push(node);
                        }
                    }
                    node
                }
                None => {
                    let bytes = game.state_heap_bytes(&state);
                    let ply = self.nodes[step.node as usize].ply.saturating_add(1);
                    let node = self.add(state, hash, views, &mut at, ply, bytes);
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

    /// Sets the priors and implicit values of positions by the values one joint move ahead.
    fn set_priors<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        batch: &Batch<M>,
    ) -> Result<(), G::Error> {
        if batch.wanting.is_empty() {
            return Ok(());
        }
        let (mut joints, mut counts) = (Vec::new(), Vec::new());
        for &node in &batch.wanting {
            let count = self.nodes[node as usize].arms.len();
            counts.push(count);
            (0..count).for_each(|arm| self.joint(node, arm as u128, &mut joints));
        }
        let states: Vec<&S> = batch.wanting.iter().map(|&node| self.state(node)).collect();
        let values = game.values_after(&states, &counts, &joints)?;
        let mut values = &values[..];
        for (&node, count) in batch.wanting.iter().zip(counts) {
            let (after, rest) = values.split_at(count * self.roles);
            values = rest;
            let data = &mut self.nodes[node as usize];
            let Chooser::One(role) = data.chooser else {
                continue;
            };
            let own = after.iter().copied().skip(role.into()).step_by(self.roles);
            let most = own.clone().fold(0.0_f32, f32::max);
            let weight = |value: f32| ((value - most) / TEMPERATURE).exp();
            let sum: f32 = own.clone().map(weight).sum();
            for (arm, value) in own.enumerate() {
                let prior = (1.0 - UNIFORM) * weight(value) / sum + UNIFORM / count as f32;
                data.arms.set_prior(arm, prior);
            }
            if self.options.implicit > 0.0 {
                self.heap -= data.arms.bytes();
                data.arms.add_implicit(after);
                self.heap += data.arms.bytes();
            }
            data.has_priors = true;
        }
        Ok(())
    }

    /// Adds nodes for terminal states one joint move after new nodes.
    fn probe<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        fresh: &[u32],
    ) -> Result<(), G::Error> {
        let is_probed = |&node: &u32| matches!(self.nodes[node as usize].chooser, Chooser::One(_));
        let probed: Vec<u32> = fresh.iter().copied().filter(is_probed).collect();
        let (mut joints, mut from, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for &node in &probed {
            let moves = self.nodes[node as usize].moves.len();
            let count = (moves - (self.roles - 1)).min(PROBED);
            for choice in 0..count {
                self.joint(node, choice as u128, &mut joints);
                from.push((node, choice));
            }
            counts.push(count);
        }
        let states: Vec<&S> = probed.iter().map(|&node| self.state(node)).collect();
        let ends = game.terminal_children(&states, &counts, &joints)?;
        self.add_ends(game, &from, ends);
        Ok(())
    }

    /// Adds nodes for the terminal states that the probe found.
    fn add_ends<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &G,
        from: &[(u32, usize)],
        ends: Vec<TerminalChild<S>>,
    ) {
        let mut last = NONE;
        for end in ends {
            let (node, choice) = from[end.index];
            if last != NONE && last != node {
                self.prove(last);
            }
            last = node;
            if self.nodes[node as usize].arms.is_empty() {
                self.add_arms(node);
            }
            let hash = self.hash(&end.state);
            let child = match self.find(hash, &end.state) {
                Some(child) => child,
                None => {
                    let bytes = game.state_heap_bytes(&end.state);
                    let ply = self.nodes[node as usize].ply.saturating_add(1);
                    self.add_end(end.state, hash, &end.goals, ply, bytes)
                }
            };
            self.link(node, choice as u128, child);
        }
        if last != NONE {
            self.prove(last);
        }
    }

    /// Queues new nodes for playouts unless their values are known.
    fn await_fresh(&mut self, batch: &mut Batch<M>) {
        for &node in &batch.fresh {
            let is_open = self.nodes[node as usize].chooser != Chooser::Closed;
            if is_open && !(self.options.solver && self.is_solved(node)) {
                batch.nodes.push(node);
                continue;
            }
            self.nodes[node as usize].visits = 1;
            for role in 0..self.roles {
                let at = node as usize * self.roles + role;
                self.values[at] = self.mean(node, role);
            }
        }
    }

    /// Undoes a batch that cannot be evaluated.
    fn abandon(&mut self, batch: &Batch<M>) {
        for line in &batch.lines {
            if line.end == WAITING && !line.is_duplicate {
                let step = &batch.steps[line.last as usize];
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
        batch: &Batch<M>,
        line: usize,
        rest: &[M],
    ) {
        let path = batch.path(&batch.lines[line]);
        let length = path.clone().count() + rest.len();
        let is_better = best
            .as_ref()
            .is_none_or(|(known, plan)| score > *known || score == *known && length < plan.len());
        if is_better {
            let mut steps: Vec<&Step> = path.collect();
            steps.reverse();
            let mut plan = Vec::with_capacity(length);
            for step in steps {
                self.joint(step.node, step.choice, &mut plan);
            }
            plan.extend_from_slice(rest);
            *best = Some((score, plan));
        }
    }
}
