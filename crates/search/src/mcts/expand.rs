//! Growth: lines from the root, many at a time.
//!
//! A batch of lines is chosen one by one, each ending with a joint move that was
//! never made there; then all these are made, looked at and played out together;
//! then all are credited. A line may also end where there is nothing to find
//! out: in a position where all is proved, in one seen on another way, or in one
//! that the line has passed before.
//!
//! Where the game is asked, the tree is not needed: others may use it meanwhile.
//!
//! Source: Liu et al., "Watch the unobserved", 2020.

use std::hash::Hash;

use super::simulator::{Ahead, Sample, Simulator, Views};
use super::tree::{Chooser, Cursor, NONE, Tree, WAITING};

/// Joint moves of one position that are looked at for ends.
const AHEAD: u32 = 64;
/// Visits of the root for each line of a batch, so that the first lines, which
/// the others go by, are evaluated soon.
const SHARE: u64 = 8;

/// Lines that are chosen and wait for evaluations.
#[derive(Clone, Debug)]
pub(super) struct Batch<S, M> {
    pub(super) lines: Vec<Line>,
    pub(super) steps: Vec<Step>,
    /// The lines that end with a new joint move.
    new: Vec<usize>,
    /// By new line: where that is made, and the roles' moves.
    parents: Vec<S>,
    joints: Vec<M>,
    /// The new nodes.
    fresh: Vec<u32>,
    /// The positions that playouts are wanted of, and their nodes.
    states: Vec<S>,
    pub(super) nodes: Vec<u32>,
    /// The seed of the playouts, and how many of each position; 0 for as many as
    /// run in the time of one.
    seed: u64,
    each: u32,
}

/// From the root on.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) steps: std::ops::Range<usize>,
    pub(super) end: u32,
    /// Whether it says nothing, since another one that waits ends there too.
    pub(super) is_void: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) node: u32,
    /// The arm among those of the node; of nodes where many choose, the number of
    /// the joint move.
    pub(super) choice: u128,
}

/// Ends one joint move ahead that are looked for.
struct Question<S, M> {
    states: Vec<S>,
    joints: Vec<M>,
    /// The node and the choice of each.
    from: Vec<(u32, u32)>,
}

/// A tree of one's own, or one that others have as well.
pub(super) trait Hold<S, M> {
    /// Does something while nobody else has it.
    fn hold<R>(&mut self, work: impl FnOnce(&mut Tree<S, M>) -> R) -> R;
}

impl<S, M> Hold<S, M> for Tree<S, M> {
    fn hold<R>(&mut self, work: impl FnOnce(&mut Tree<S, M>) -> R) -> R {
        work(self)
    }
}

/// The best end seen, and the moves that lead there.
pub type Best<M> = Option<(u8, Vec<M>)>;

/// What came of a batch.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Grown {
    /// Lines that were credited.
    pub credited: u64,
    /// Whether all there is to do waits for others.
    pub is_idle: bool,
}

/// Plays lines at once, as long as those of the tree are fewer than `until`, and
/// credits them.
pub(super) fn grow<G: Simulator>(
    tree: &mut impl Hold<G::State, G::Move>,
    game: &mut G,
    until: u64,
    best: &mut Best<G::Move>,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Grown, G::Error> {
    let mut batch = tree.hold(|tree| tree.collect(until));
    match evaluate(tree, game, &mut batch, best, proceed) {
        Ok(samples) => {
            let credited = tree.hold(|tree| tree.finish(&batch, samples, best));
            Ok(Grown {
                credited,
                is_idle: credited == 0 && batch.states.is_empty(),
            })
        }
        Err(error) => {
            tree.hold(|tree| tree.abandon(&batch));
            Err(error)
        }
    }
}

/// Makes the new joint moves, nodes of where they lead, and playouts from there.
fn evaluate<G: Simulator>(
    tree: &mut impl Hold<G::State, G::Move>,
    game: &mut G,
    batch: &mut Batch<G::State, G::Move>,
    best: &mut Best<G::Move>,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Vec<Sample<G::Move>>, G::Error> {
    if !batch.new.is_empty() {
        let states = game.step(&batch.parents, &batch.joints)?;
        let is_known: Vec<bool> =
            tree.hold(|tree| states.iter().map(|s| tree.find(s).is_some()).collect());
        let unknown = states.iter().zip(&is_known).filter(|(_, known)| !**known);
        let unknown: Vec<G::State> = unknown.map(|(state, _)| state.clone()).collect();
        let mut views = Views::default();
        game.look(&unknown, &mut views)?;
        let question = tree.hold(|tree| {
            tree.arrive(game, batch, states, &is_known, &views, best);
            let asks = tree.options.solver && game.looks_ahead();
            asks.then(|| tree.question(&batch.fresh))
        });
        let ends = match &question {
            Some(question) => game.ahead(&question.states, &question.joints)?,
            None => Vec::new(),
        };
        tree.hold(|tree| {
            if let Some(question) = &question {
                tree.add_ends(game, &question.from, ends);
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
        let until = self.iterations.saturating_add(most);
        grow(self, game, until, best, proceed).map(|grown| grown.credited)
    }

    /// Chooses lines, and marks them as waiting.
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
            visits => (u64::from(visits) / SHARE).clamp(1, self.options.batch.max(1).into()),
        };
        let lines = lines.min(most) as usize;
        let mut void = 0;
        while batch.lines.len() - void < lines && void <= lines / 4 {
            self.descend(&mut batch);
            void += usize::from(batch.lines.last().is_some_and(|line| line.is_void));
        }
        self.waiting += batch.lines.len() as u64;
        for line in 0..batch.lines.len() {
            let Line { end, is_void, .. } = batch.lines[line];
            if is_void {
                continue;
            }
            if end == WAITING {
                let step = batch.steps[batch.lines[line].steps.end - 1].clone();
                batch.new.push(line);
                batch.parents.push(self.states[step.node as usize].clone());
                self.joint(step.node, step.choice, &mut batch.joints);
            } else if self.nodes[end as usize].visits == 0 {
                // Nobody has evaluated it, or its playouts were ended too early.
                self.await_playouts(end, &mut batch);
            }
        }
        batch.seed = rand::RngExt::random(&mut self.rng);
        batch
    }

    /// One line, its arms marked as pending. Its end is [`WAITING`] if it is a
    /// new joint move.
    fn descend(&mut self, batch: &mut Batch<S, M>) {
        let first = batch.steps.len();
        self.lines = self.lines.wrapping_add(1).max(1);
        let (mut node, mut is_void, mut reference) = (self.root, false, NONE);
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
            if self.is_reference(node) {
                reference = node;
            }
            let (choice, child) = self.branch(node, reference);
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
    fn branch(&mut self, node: u32, reference: u32) -> (u128, u32) {
        let data = &self.nodes[node as usize];
        let places = data.arms as usize;
        if let Chooser::One(role) = data.chooser {
            let role = role as usize;
            let count = self.counts[node as usize * self.roles + role] as usize;
            let chosen = self.choose(node, role, places..places + count, reference);
            let arm = &mut self.arms[places + chosen];
            arm.pending += 1;
            return (chosen as u128, arm.child);
        }
        let choosers: Vec<_> = self.choosers(node).collect();
        let (mut joint, mut unit) = (0, 1);
        for (role, arms) in choosers {
            let (start, count) = (arms.start, arms.len() as u128);
            let chosen = self.choose(node, role, arms, reference);
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

    /// Makes nodes of where the new joint moves lead. Those that were unknown were
    /// looked at.
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
            // Another line may have come there since.
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

    /// Joint moves that may end the game at once.
    fn question(&self, fresh: &[u32]) -> Question<S, M> {
        let mut question = Question {
            states: Vec::new(),
            joints: Vec::new(),
            from: Vec::new(),
        };
        for &node in fresh {
            let Chooser::One(role) = self.nodes[node as usize].chooser else {
                continue;
            };
            let count = self.counts[node as usize * self.roles + role as usize];
            for choice in 0..count.min(AHEAD) {
                question.states.push(self.states[node as usize].clone());
                self.joint(node, choice.into(), &mut question.joints);
                question.from.push((node, choice));
            }
        }
        question
    }

    /// Makes nodes of the ends that are one joint move away.
    fn add_ends<G: Simulator<State = S, Move = M>>(
        &mut self,
        game: &G,
        from: &[(u32, u32)],
        ends: Vec<Ahead<S>>,
    ) {
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
    }

    /// Has new nodes wait for playouts, unless what they are worth is known.
    fn await_fresh(&mut self, batch: &mut Batch<S, M>) {
        for node in std::mem::take(&mut batch.fresh) {
            let is_open = self.nodes[node as usize].chooser != Chooser::Nobody;
            if is_open && !(self.options.solver && self.is_solved(node)) {
                self.await_playouts(node, batch);
                continue;
            }
            let data = &mut self.nodes[node as usize];
            (data.visits, data.pending) = (1, 0);
            for role in 0..self.roles {
                let at = node as usize * self.roles + role;
                self.worth[at] = self.mean(node, role);
            }
        }
    }

    fn await_playouts(&mut self, node: u32, batch: &mut Batch<S, M>) {
        self.nodes[node as usize].pending = 1;
        batch.states.push(self.states[node as usize].clone());
        batch.nodes.push(node);
    }

    /// Takes back a batch that nobody evaluates.
    fn abandon(&mut self, batch: &Batch<S, M>) {
        for &node in batch.fresh.iter().chain(&batch.nodes) {
            self.nodes[node as usize].pending = 0;
        }
        for line in &batch.lines {
            if line.end == WAITING && !line.is_void {
                let step = &batch.steps[line.steps.end - 1];
                self.link(step.node, step.choice, NONE);
            }
            self.release(batch, line);
        }
    }

    /// Keeps a line if it is better than the best, or as good and shorter.
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
