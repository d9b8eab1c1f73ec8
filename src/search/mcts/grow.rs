//! Growth: lines from the root, many at a time.
//!
//! A batch of lines is chosen one by one, each ending with a joint move that was
//! never made there; then all these are made, looked at and played out together;
//! then all are credited. A line may also end where there is nothing to find
//! out: in a position where all is proved, in one seen on another way, or in one
//! that the line has passed before.
//!
//! A node's worth is the mean of its own evaluation and of what its arms are
//! worth, each weighed by its visits. An arm takes over the mean of the node it
//! leads to, so that a node that several lead to tells all of them.
//!
//! Source: Childs, Brodeur and Kocsis, "Transpositions and move groups in Monte
//! Carlo tree search", 2008; Saffidine, Cazenave and Méhat, "UCD: upper
//! confidence bound for rooted directed acyclic graphs", 2012; Czech, Korus and
//! Kersting, "Improving AlphaZero using Monte-Carlo graph search", 2021; Liu et
//! al., "Watch the unobserved", 2020.

use std::hash::Hash;

use super::simulator::{Sample, Simulator, Views};
use super::tree::{Chooser, Cursor, NONE, Tree, WAITING};

/// Joint moves of one position that are looked at for ends.
const AHEAD: u32 = 64;
/// Visits of the root for each line of a batch, so that the first lines, which
/// the others go by, are evaluated soon.
const SHARE: u64 = 8;

/// Lines that are chosen and wait for evaluations.
#[derive(Clone, Debug)]
pub struct Batch<S> {
    lines: Vec<Line>,
    steps: Vec<Step>,
    /// The new positions that playouts are wanted of.
    pub states: Vec<S>,
    /// Their nodes.
    fresh: Vec<u32>,
}

/// From the root on.
#[derive(Clone, Debug)]
struct Line {
    steps: std::ops::Range<usize>,
    end: u32,
    /// Whether it says nothing, since another one of the batch ends there too.
    is_void: bool,
}

#[derive(Clone, Debug)]
struct Step {
    node: u32,
    /// The arm among those of the node; of nodes where many choose, the number of
    /// the joint move.
    choice: u128,
}

/// The best end seen, and the moves that lead there.
pub type Best<M> = Option<(u8, Vec<M>)>;

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Plays up to `most` lines at once, and credits them. The result is their
    /// number; 0 if the playouts were ended.
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
        let batch = self.collect(game, most, best)?;
        let each = self.each(batch.states.len(), game.lanes());
        let seed = rand::RngExt::random(&mut self.rng);
        let samples = match batch.states.is_empty() {
            true => Vec::new(),
            false => game.playouts(&batch.states, each, seed, proceed)?,
        };
        Ok(self.finish(&batch, samples, best))
    }

    /// Playouts of each new position.
    fn each(&self, positions: usize, lanes: usize) -> u32 {
        let fill = (lanes / positions.max(1)) as u32;
        match self.options.each {
            0 => fill.max(1),
            each => each,
        }
    }

    /// Chooses lines, and makes the nodes they end in.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub fn collect<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        most: u64,
        best: &mut Best<M>,
    ) -> Result<Batch<S>, G::Error> {
        let mut batch = Batch {
            lines: Vec::new(),
            steps: Vec::new(),
            states: Vec::new(),
            fresh: Vec::new(),
        };
        if self.nodes[self.root as usize].visits == 0 {
            if self.nodes[self.root as usize].pending == 0 {
                self.descend(&mut batch);
                self.await_playouts(self.root, &mut batch);
            }
            return Ok(batch);
        }
        let lines = (self.visits() / SHARE).clamp(1, self.options.batch.max(1).into());
        let lines = lines.min(most) as usize;
        let mut void = 0;
        while batch.lines.len() - void < lines && void <= lines / 4 {
            self.descend(&mut batch);
            void += usize::from(batch.lines.last().is_some_and(|line| line.is_void));
        }
        self.expand(game, &mut batch, best)?;
        Ok(batch)
    }

    /// One line, its arms marked as pending. Its end is [`WAITING`] if it is a
    /// new joint move.
    fn descend(&mut self, batch: &mut Batch<S>) {
        let first = batch.steps.len();
        self.lines = self.lines.wrapping_add(1).max(1);
        let (mut node, mut is_void) = (self.root, false);
        loop {
            let data = &mut self.nodes[node as usize];
            if data.mark == self.lines || data.chooser == Chooser::Nobody {
                break;
            }
            if data.visits == 0 {
                is_void = data.pending > 0;
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
                self.unfold(node);
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
                    is_void = true;
                    break;
                }
                child => node = child,
            }
        }
        batch.lines.push(Line {
            steps: first..batch.steps.len(),
            end: node,
            is_void,
        });
    }

    /// Chooses a joint move at a node: its number, and where it leads.
    fn branch(&mut self, node: u32) -> (u128, u32) {
        let data = &self.nodes[node as usize];
        let places = data.arms as usize;
        if let Chooser::One(role) = data.chooser {
            let role = role as usize;
            let count = self.counts[node as usize * self.roles + role] as usize;
            let chosen = self.choose(node, role, places..places + count);
            let arm = &mut self.arms[places + chosen];
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

    /// The joint move of a number.
    fn joint(&self, node: u32, choice: u128, out: &mut Vec<M>) {
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

    /// Makes the new joint moves, and nodes of where they lead.
    fn expand<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        batch: &mut Batch<S>,
        best: &mut Best<M>,
    ) -> Result<(), G::Error> {
        let new: Vec<usize> = (0..batch.lines.len())
            .filter(|&line| batch.lines[line].end == WAITING && !batch.lines[line].is_void)
            .collect();
        for line in 0..batch.lines.len() {
            let Line { end, is_void, .. } = batch.lines[line];
            // Its playouts were ended too early.
            if !is_void && end != WAITING && self.nodes[end as usize].visits == 0 {
                self.await_playouts(end, batch);
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let (mut parents, mut joints) = (Vec::with_capacity(new.len()), Vec::new());
        for &line in &new {
            let step = &batch.steps[batch.lines[line].steps.end - 1];
            parents.push(self.states[step.node as usize].clone());
            self.joint(step.node, step.choice, &mut joints);
        }
        let states = game.step(&parents, &joints)?;
        let mut views = Views::default();
        let known: Vec<Option<u32>> = states.iter().map(|state| self.find(state)).collect();
        let unknown = states
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let unknown: Vec<S> = unknown.map(|(state, _)| state.clone()).collect();
        game.look(&unknown, &mut views)?;
        let (mut at, mut fresh) = (Cursor::default(), Vec::new());
        for ((&line, state), known) in new.iter().zip(states).zip(known) {
            let step = batch.steps[batch.lines[line].steps.end - 1].clone();
            // Another line of the batch may have come there before.
            let again = known.or_else(|| self.find(&state));
            let bytes = game.state_heap_bytes(&state);
            let node = match (known, again) {
                (Some(node), _) => {
                    let data = &self.nodes[node as usize];
                    if data.visits == 0 && data.pending == 0 {
                        self.await_playouts(node, batch);
                    }
                    node
                }
                (None, Some(node)) => {
                    at.skip(&views, self.roles);
                    node
                }
                (None, None) => {
                    let node = self.add(state, &views, &mut at, bytes);
                    fresh.push(node);
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
        if self.options.solver && game.looks_ahead() {
            self.look_ahead(game, &fresh)?;
        }
        for node in fresh {
            let is_open = self.nodes[node as usize].chooser != Chooser::Nobody;
            if is_open && !(self.options.solver && self.is_solved(node)) {
                self.await_playouts(node, batch);
            } else {
                self.nodes[node as usize].visits = 1;
                for role in 0..self.roles {
                    let at = node as usize * self.roles + role;
                    self.worth[at] = self.mean(node, role);
                }
            }
        }
        Ok(())
    }

    fn await_playouts(&mut self, node: u32, batch: &mut Batch<S>) {
        self.nodes[node as usize].pending = 1;
        batch.states.push(self.states[node as usize].clone());
        batch.fresh.push(node);
    }

    /// Makes nodes of the ends that are one joint move away.
    fn look_ahead<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &mut G,
        fresh: &[u32],
    ) -> Result<(), G::Error> {
        let (mut states, mut joints, mut from) = (Vec::new(), Vec::new(), Vec::new());
        for &node in fresh {
            let Chooser::One(role) = self.nodes[node as usize].chooser else {
                continue;
            };
            let count = self.counts[node as usize * self.roles + role as usize];
            for choice in 0..count.min(AHEAD) {
                states.push(self.states[node as usize].clone());
                self.joint(node, choice.into(), &mut joints);
                from.push((node, choice));
            }
        }
        let ends = game.ahead(&states, &joints)?;
        let mut last = NONE;
        for end in ends {
            let (node, choice) = from[end.index];
            if last != NONE && last != node {
                self.prove(last);
            }
            last = node;
            if self.nodes[node as usize].arms == NONE {
                self.unfold(node);
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
        Ok(())
    }

    /// Credits the lines of a batch; the result is their number.
    pub fn finish(&mut self, batch: &Batch<S>, samples: Vec<Sample<M>>, best: &mut Best<M>) -> u64 {
        let mut samples = samples.into_iter();
        for &node in &batch.fresh {
            let first = node as usize * self.roles;
            self.nodes[node as usize].pending = 0;
            let sample = samples.next().filter(|sample| sample.playouts > 0);
            let Some(sample) = sample else {
                continue;
            };
            let playouts = sample.playouts as f64;
            for (role, sum) in sample.sums.iter().enumerate() {
                self.worth[first + role] = sum / playouts;
            }
            self.nodes[node as usize].visits = 1;
            if sample.ended {
                let sum = self.sum_of(sample.sums.iter().map(|sum| sum / playouts));
                self.witness(sum, sample.playouts);
            }
            if let Some((score, line)) = sample.line {
                let at = batch.lines.iter().position(|line| line.end == node);
                if let Some(at) = at {
                    self.improve(best, score, batch, at, &line);
                }
            }
        }
        let mut credited = 0;
        for line in &batch.lines {
            let is_evaluated = line.end < WAITING && self.nodes[line.end as usize].visits > 0;
            if line.is_void || !is_evaluated {
                self.release(batch, line);
            } else {
                self.credit(batch, line);
                credited += 1;
            }
        }
        self.iterations += credited;
        credited
    }

    /// Keeps a line if it is better than the best, or as good and shorter.
    fn improve(&self, best: &mut Best<M>, score: u8, batch: &Batch<S>, line: usize, rest: &[M]) {
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

    /// The arms of a step.
    fn chosen(&self, step: &Step, out: &mut Vec<(usize, usize)>) {
        out.clear();
        let mut rest = step.choice;
        for (role, arms) in self.choosers(step.node) {
            let count = arms.len() as u128;
            out.push((role, arms.start + (rest % count) as usize));
            rest /= count;
        }
    }

    /// Takes back what marks a line as pending.
    fn release(&mut self, batch: &Batch<S>, line: &Line) {
        let mut chosen = Vec::new();
        for step in &batch.steps[line.steps.clone()] {
            self.nodes[step.node as usize].pending -= 1;
            self.chosen(step, &mut chosen);
            for &(_, arm) in &chosen {
                self.arms[arm].pending -= 1;
            }
        }
    }

    /// Carries the worth of a line's end to all that it passed.
    fn credit(&mut self, batch: &Batch<S>, line: &Line) {
        let roles = self.roles;
        let mut worth: Vec<f64> = (0..roles).map(|role| self.mean(line.end, role)).collect();
        let (mut child, mut chosen) = (line.end, Vec::new());
        for step in batch.steps[line.steps.clone()].iter().rev() {
            let node = step.node as usize;
            self.nodes[node].pending -= 1;
            self.nodes[node].visits = self.nodes[node].visits.saturating_add(1);
            self.chosen(step, &mut chosen);
            if self.options.history > 0.0 {
                self.learn(step, &chosen, &worth);
            }
            let is_alone = self.nodes[node].chooser != Chooser::Many;
            if self.options.regret && !is_alone {
                self.regret(step.node, step.choice, &worth);
            }
            for &(_, arm) in &chosen {
                self.arms[arm].pending -= 1;
                self.arms[arm].visits = self.arms[arm].visits.saturating_add(1);
            }
            match chosen[..] {
                [(_, arm)] if is_alone => self.take_over(arm, child, &mut worth),
                _ => {
                    for &(_, arm) in &chosen {
                        let sums = &mut self.arm_worth[arm * roles..(arm + 1) * roles];
                        sums.iter_mut()
                            .zip(&worth)
                            .for_each(|(sum, worth)| *sum += worth);
                    }
                }
            }
            let sums = &mut self.worth[node * roles..(node + 1) * roles];
            sums.iter_mut()
                .zip(&worth)
                .for_each(|(sum, worth)| *sum += worth);
            if self.options.solver {
                let stamp = self.nodes[child as usize].stamp;
                let is_news = match chosen[..] {
                    [(_, arm)] if is_alone => self.arms[arm].stamp != stamp,
                    _ => stamp != 0,
                };
                if is_news {
                    self.prove(step.node);
                }
            }
            child = step.node;
        }
    }

    /// Brings an arm, once more visited, up to date with its child; `worth`
    /// becomes the difference.
    fn take_over(&mut self, arm: usize, child: u32, worth: &mut [f64]) {
        let visits = self.arms[arm].visits;
        let is_known = (self.options.graph && self.nodes[child as usize].visits >= visits)
            || (self.options.solver && self.is_solved(child));
        for (role, worth) in worth.iter_mut().enumerate() {
            let sum = self.arm_worth[arm * self.roles + role];
            if is_known {
                *worth = f64::from(visits) * self.mean(child, role) - sum;
            }
            self.arm_worth[arm * self.roles + role] = sum + *worth;
        }
    }

    fn learn(&mut self, step: &Step, chosen: &[(usize, usize)], worth: &[f64]) {
        let mut rest = step.choice;
        for &(role, _) in chosen {
            let moves = self.moves_of(step.node, role);
            let made = moves[(rest % moves.len() as u128) as usize].clone();
            rest /= moves.len() as u128;
            let known = self.history.entry((role as u16, made)).or_insert((0, 0.0));
            known.0 = known.0.saturating_add(1);
            known.1 += worth[role];
        }
    }
}
