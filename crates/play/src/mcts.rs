//! The agent for Monte Carlo tree search.
//!
//! In: the joint moves so far, and a pace. Out: advice, published regularly. It searches with
//! Datalog until the network is ready, and on its lanes from then on. It keeps one tree from
//! move to move and can think while others choose.

mod lanes;
mod settings;

use ggp_stop::Instant;
use std::convert::Infallible;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::{
    Advice, Agent, Backends, Brief, Candidate, Observation, OptionError, Pace, PlayerError,
};
use ggp_engine::machine::{AnyMachine, MixedMachine, PlayError, PropnetMachine, PropnetState};
use ggp_engine::propnet::batch::Packed;
use ggp_gdl::game::Move;
use ggp_learn::{Trust, Values};
use ggp_search::BudgetKind;
use ggp_search::mcts::{
    Mcts, MctsReport, MoveReport, OneByOne, Others, RoleReport, Simulator, Tree, TreeSummary,
    grow_in_parallel, named,
};
use ggp_solver::solve::Table;
use lanes::Lanes;
pub use settings::OPTIONS;
use settings::Settings;

/// The interval at which advice is published.
const TICK: Duration = Duration::from_millis(20);
/// The share of the start clock in which the first position is searched before anything is
/// learned.
const BEFORE: f64 = 0.1;
/// The longest share of the start clock for the network, without which nothing is learned.
const WAITING: f64 = 0.25;
/// The share of the rest of the start clock in which values are learned.
const LEARNING: f64 = 0.5;
/// The share of what is left then in which it is found out what they are worth.
const TRUST: f64 = 0.25;
/// The least interval between summaries of the tree.
const SUMMARY_INTERVAL: Duration = Duration::from_millis(500);
/// The time between two summaries is at least this many times the time that one takes.
const SUMMARY_FACTOR: u32 = 20;

/// Plays by Monte Carlo tree search.
#[derive(Debug)]
pub struct MctsAgent {
    brief: Brief,
    settings: Settings,
    backends: Option<Backends>,
    searcher: Option<Searcher>,
    /// Learned values, and their share in the values of new positions.
    values: Option<(Arc<Values>, f32)>,
    /// True if the values are those of a file, even if their share is 0.
    are_known: bool,
    /// The joint moves before the last choice.
    played: Vec<Vec<Move>>,
}

/// A tree with its simulator.
#[derive(Debug)]
enum Searcher {
    Machine(Box<Tree<PropnetState, Move>>),
    Lanes(Box<InLanes>),
}

/// A tree and a simulator for each thread.
#[derive(Debug)]
struct InLanes {
    trees: Vec<Tree<Packed, u32>>,
    lanes: Vec<Lanes>,
}

/// A search for one move.
struct SearchSlice<'p> {
    role: usize,
    pace: &'p Pace,
    memory_bytes: u64,
    /// The number of iterations so far.
    made: u64,
    /// The most positions of a tree summary, 0 for no summaries.
    summary_size: usize,
    summary: Option<Arc<TreeSummary<Move>>>,
    /// The time of the next summary.
    summary_due: Instant,
    /// Receives advice regularly and can end the search.
    report: &'p mut dyn FnMut(Advice) -> ControlFlow<()>,
}

impl MctsAgent {
    /// An agent with options as names and values.
    ///
    /// # Errors
    ///
    /// An unknown option, or a value that the option does not accept.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, OptionError> {
        let settings = settings::options(settings, brief.seed)?;
        Ok(MctsAgent {
            brief,
            settings,
            backends: None,
            searcher: None,
            values: None,
            are_known: false,
            played: Vec::new(),
        })
    }

    pub(super) fn backends(&mut self) -> Result<&mut Backends, PlayError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::new(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }

    /// Searches the state after the joint moves until the pace is over or the value of the
    /// root is proved. `report` receives advice regularly and can end the search.
    fn search(
        &mut self,
        played: &[Vec<Move>],
        pace: &Pace,
        report: &mut dyn FnMut(Advice) -> ControlFlow<()>,
    ) -> Result<(), PlayerError> {
        let depth = self.settings.mcts.playout_depth;
        let mut is_first = true;
        let mut slice = SearchSlice {
            role: self.brief.role.index(),
            pace,
            memory_bytes: self.brief.memory_bytes,
            made: 0,
            summary_size: self.brief.tree,
            summary: None,
            summary_due: Instant::now(),
            report,
        };
        if pace.deadline().is_none() {
            // Without a deadline the result must not depend on time.
            self.backends()?.wait(&pace.part(1.0));
        }
        loop {
            let backends = self.backends()?;
            let is_new = backends.poll();
            let state = backends.state_after(played)?;
            if is_new || (is_first && self.searcher.is_none()) {
                self.take_values()?;
            }
            self.set_root(&state, is_new || is_first)?;
            is_first = false;
            let threads = self.threads(pace);
            let (Some(backends), Some(searcher)) = (&mut self.backends, &mut self.searcher) else {
                return Ok(());
            };
            let is_over = match searcher {
                Searcher::Machine(tree) => {
                    let is_last = backends.is_settled();
                    let mut game = Table::new(backends.machine());
                    let game = OneByOne::new(&mut game, depth);
                    let trees = std::slice::from_mut(&mut **tree);
                    slice.run(trees, &mut [game], |_, made| *made, is_last)?
                }
                Searcher::Lanes(own) => {
                    own.spawn(threads, &self.settings.mcts);
                    let moves = network(backends.machine()).0.net().moves();
                    let name = |role: usize, made: &u32| moves[role][*made as usize];
                    let (trees, lanes) = (&mut own.trees[..threads], &mut own.lanes[..threads]);
                    infallible(slice.run(trees, lanes, name, true))
                }
            };
            if is_over {
                return Ok(());
            }
        }
    }

    /// Learns values of positions, if the network is ready in time and there is somebody to play
    /// against.
    fn learn(&mut self, pace: &Pace) -> Result<(), PlayError> {
        let game = &self.brief.game;
        let players = game.roles().filter(|&role| !game.is_random(role)).count();
        if !self.settings.learns_values || self.are_known || players < 2 {
            return Ok(());
        }
        let (limits, seed) = (self.brief.limits.clone(), self.brief.seed);
        let memory = self.brief.memory_bytes;
        let backends = self.backends()?;
        backends.wait(&pace.part(WAITING));
        let state = backends.state_after(&[])?;
        if !matches!(state, PropnetState::Packed(_)) {
            return Ok(());
        }
        let net = network(backends.machine()).0.net();
        if ggp_learn::weight_bytes(net) > memory / 4 {
            return Ok(());
        }
        let options = ggp_learn::Options {
            seed,
            memory_bytes: (memory / 4) as usize,
            engine: limits.engine,
            ..ggp_learn::Options::default()
        };
        let learned = ggp_learn::learn(net, &options, &pace.part(LEARNING), |_| ());
        let stop = pace.part(TRUST);
        let trust = ggp_learn::trust(net, limits.engine, &learned.values, seed, &stop);
        if trust.share() > 0.0 {
            self.use_values(learned.values, trust);
            // The search begins again, with values.
            self.searcher = None;
        }
        Ok(())
    }

    fn use_values(&mut self, values: Values, trust: Trust) {
        self.values = Some((Arc::new(values), trust.share()));
        self.settings.mcts.implicit = trust.implicit();
    }

    /// The number of search threads. If only the iterations are limited, the default is one,
    /// because the result of several threads depends on timing.
    fn threads(&self, pace: &Pace) -> usize {
        let is_timed = pace.deadline().is_some() || pace.nodes().is_none();
        let own = if is_timed { self.brief.threads } else { 1 };
        self.settings.threads.unwrap_or(own).max(1)
    }

    /// Takes the values of a file for these rules, if there is one.
    fn take_values(&mut self) -> Result<(), PlayerError> {
        let Some(backends) = self
            .backends
            .as_mut()
            .filter(|_| self.settings.learns_values)
        else {
            return Ok(());
        };
        let AnyMachine::Propnet(machine) = backends.machine() else {
            return Ok(());
        };
        let found = self.brief.values.values(machine.net());
        let found = found.map_err(|error| PlayerError::Other(Box::new(error)))?;
        if let Some((values, trust)) = found {
            self.are_known = true;
            if trust.share() > 0.0 {
                self.use_values(values, trust);
            }
        }
        Ok(())
    }

    /// Makes the state the root of the tree.
    fn set_root(&mut self, state: &PropnetState, is_new: bool) -> Result<(), PlayerError> {
        if !is_new && self.searcher.is_some() {
            return Ok(());
        }
        let Some(backends) = &mut self.backends else {
            return Ok(());
        };
        let (machine, reuses_tree) = (backends.machine(), self.settings.reuses_tree);
        let (PropnetState::Packed(packed) | PropnetState::Mixed(packed)) = state else {
            let mut game = Table::new(machine);
            let mut game = OneByOne::new(&mut game, self.settings.mcts.playout_depth);
            return match &mut self.searcher {
                Some(Searcher::Machine(tree)) => {
                    Ok(follow(tree, &mut game, state.clone(), reuses_tree)?)
                }
                searcher => {
                    // A machine evaluates one state at a time.
                    let options = Mcts {
                        batch: 1,
                        each: 1,
                        ..self.settings.mcts
                    };
                    let tree = Tree::new(&mut game, state.clone(), &options)?;
                    *searcher = Some(Searcher::Machine(Box::new(tree)));
                    Ok(())
                }
            };
        };
        let root = packed.to_vec();
        if let Some(Searcher::Lanes(own)) = &mut self.searcher {
            if *own.trees[0].root() != root {
                own.lanes.iter_mut().for_each(Lanes::fade);
            }
            for (tree, lanes) in own.trees.iter_mut().zip(&mut own.lanes) {
                infallible(follow(tree, lanes, root.clone(), reuses_tree));
            }
            return Ok(());
        }
        let mut lanes = lanes(machine, &self.brief, &self.settings)?;
        if let Some((values, share)) = &self.values {
            lanes.set_values(Arc::clone(values), *share);
        }
        let tree = infallible(Tree::new(&mut lanes, root, &self.settings.mcts));
        self.searcher = Some(Searcher::Lanes(Box::new(InLanes {
            trees: vec![tree],
            lanes: vec![lanes],
        })));
        Ok(())
    }
}

/// New lanes on the network of a machine, which keeps their code.
fn lanes(machine: &AnyMachine, brief: &Brief, settings: &Settings) -> Result<Lanes, PlayError> {
    let (network, asked) = network(machine);
    let lanes = Lanes::new(
        network,
        asked,
        brief.limits.engine,
        settings.mcts.playout_depth,
        settings.learning,
        settings.decisive,
        settings.mcts.seed,
    );
    lanes.ok_or(PlayError::Interrupted)
}

/// Moves the root of a tree, or starts a new tree if trees are not reused.
fn follow<G: Simulator>(
    tree: &mut Tree<G::State, G::Move>,
    game: &mut G,
    root: G::State,
    reuses_tree: bool,
) -> Result<(), G::Error> {
    match reuses_tree || *tree.root() == root {
        true => tree.reroot(game, root).map(|_| ()),
        false => tree.reset(game, root),
    }
}

/// The value of a result of lanes, which never fail.
fn infallible<T>(result: Result<T, Infallible>) -> T {
    result.unwrap_or_else(|never| match never {})
}

/// The machine that made a packed state, and the one that knows goals if its network has none.
fn network(machine: &AnyMachine) -> (&PropnetMachine, Option<&MixedMachine>) {
    match machine {
        AnyMachine::Propnet(machine) => (machine, None),
        AnyMachine::Mixed(machine) => (machine.moves(), Some(machine)),
        AnyMachine::Datalog(_) | AnyMachine::Naive(_) => {
            unreachable!("only a network packs states")
        }
    }
}

impl InLanes {
    /// Adds trees and simulators until there is one for each thread.
    fn spawn(&mut self, threads: usize, options: &Mcts) {
        for thread in self.lanes.len()..threads {
            let options = Mcts {
                seed: options.seed.wrapping_add(thread as u64),
                ..*options
            };
            let mut lanes = self.lanes[0].another(options.seed);
            let root = self.trees[0].root().clone();
            self.trees
                .push(infallible(Tree::new(&mut lanes, root, &options)));
            self.lanes.push(lanes);
        }
    }
}

impl SearchSlice<'_> {
    /// Searches with a thread for each tree, to the end or for about [`TICK`]. Returns whether
    /// the search is over.
    fn run<G>(
        &mut self,
        trees: &mut [Tree<G::State, G::Move>],
        games: &mut [G],
        name: impl Fn(usize, &G::Move) -> Move,
        to_the_end: bool,
    ) -> Result<bool, G::Error>
    where
        G: Simulator<State: Send, Move: Send, Error: Send> + Send,
    {
        let (pace, role, count) = (self.pace, self.role, trees.len() as u64);
        let left = pace
            .nodes()
            .map_or(u64::MAX, |nodes| nodes.saturating_sub(self.made));
        for tree in &mut *trees {
            tree.set_memory(self.memory_bytes / count);
        }
        let before = joined(trees);
        let earlier = self.made;
        let made = |report: &MctsReport<_>| earlier + report.iterations - before.iterations;
        let mut ends = self.report(&trees[0], &before, &name);
        let (mut tick, mut waits) = (Instant::now() + TICK, false);
        let is_settled = |tree: &Tree<_, _>| tree.is_settled(role);
        let go_on = &mut |tree: &Tree<_, _>, others: &Others<_>| {
            if !ends && Instant::now() >= tick {
                let mut report = tree.report(BudgetKind::Time);
                others.add_to(&mut report);
                self.made = made(&report);
                ends = self.report(tree, &report, &name);
                tick = Instant::now() + TICK;
                waits = !to_the_end;
            }
            !(ends || waits)
        };
        let most = left.div_ceil(count);
        let proceed = || !pace.is_over();
        grow_in_parallel(
            trees,
            games,
            most,
            pace.deadline(),
            &proceed,
            &is_settled,
            go_on,
        )?;
        let all = joined(trees);
        self.made = made(&all);
        ends |= !waits;
        if ends && self.summary_size > 0 {
            self.summary_due = Instant::now();
        }
        Ok(self.report(&trees[0], &all, &name) || ends)
    }

    /// Reports advice and returns whether to end the search.
    fn report<S, M>(
        &mut self,
        tree: &Tree<S, M>,
        report: &MctsReport<M>,
        name: impl Fn(usize, &M) -> Move,
    ) -> bool
    where
        S: Clone + Eq + Hash,
        M: Clone + Eq + Hash,
    {
        let role = self.role;
        let Some(best) = report.roles[role].best() else {
            return true;
        };
        if self.summary_size > 0 && Instant::now() >= self.summary_due {
            let began = Instant::now();
            let summary = tree.summary(role, self.summary_size).named(&name);
            self.summary = Some(Arc::new(summary));
            let pause = SUMMARY_INTERVAL.max(SUMMARY_FACTOR * began.elapsed());
            self.summary_due = Instant::now() + pause;
        }
        let line = tree.line(role, &best.action);
        let advice = Advice {
            nodes: self.made,
            line: line.iter().map(|joint| named(joint, &name)).collect(),
            tree: self.summary.clone(),
            ..advise(&report.roles[role], best, |made| name(role, made))
        };
        (self.report)(advice).is_break()
    }
}

/// The statistics of all trees of a position.
fn joined<S, M>(trees: &[Tree<S, M>]) -> MctsReport<M>
where
    S: Clone + Eq + Hash,
    M: Clone + Eq + Hash,
{
    let mut report = trees[0].report(BudgetKind::Time);
    for tree in &trees[1..] {
        report.add(&tree.report(BudgetKind::Time));
    }
    report
}

/// The advice from the report for a role.
fn advise<M>(report: &RoleReport<M>, best: &MoveReport<M>, name: impl Fn(&M) -> Move) -> Advice {
    let bounds = |[low, high]: [u8; 2]| (f64::from(low), f64::from(high));
    // A move that was proved and never visited has no mean.
    let value = |entry: &MoveReport<M>| {
        let (low, high) = bounds(entry.bounds);
        entry.mean.clamp(low, high)
    };
    let chosen = name(&best.action);
    let mut candidates: Vec<Candidate> = (report.moves.iter())
        .map(|entry| Candidate {
            distance: None,
            action: name(&entry.action),
            visits: entry.visits,
            value: value(entry),
            bounds: bounds(entry.bounds),
        })
        .collect();
    candidates.sort_by(|one, other| {
        let is_other = |candidate: &Candidate| candidate.action != chosen;
        (is_other(one), other.visits)
            .cmp(&(is_other(other), one.visits))
            .then(other.value.total_cmp(&one.value))
    });
    let [least, most] = report.bounds;
    let is_unvisited = candidates.iter().all(|candidate| candidate.visits == 0);
    Advice {
        value: Some(value(best)),
        bounds: bounds(report.bounds),
        is_blind: is_unvisited && least < most && candidates.len() > 1,
        candidates,
        ..Advice::of(chosen)
    }
}

impl Agent for MctsAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        match pace.deadline() {
            None => {
                self.backends()?.wait(&pace.part(1.0));
                // The first choice finds the code compiled.
                let machine = self.backends()?.machine().clone();
                if let AnyMachine::Propnet(_) | AnyMachine::Mixed(_) = machine {
                    lanes(&machine, &self.brief, &self.settings)?;
                }
            }
            Some(_) => {
                // What is proved soon needs no values.
                let first = pace.first(BEFORE);
                self.search(&[], &first, &mut |_| ControlFlow::Continue(()))?;
                if !first.is_over() {
                    return Ok(());
                }
                self.learn(pace)?;
                self.search(&[], pace, &mut |_| ControlFlow::Continue(()))?;
            }
        }
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        let played = observation.required_joint_moves()?;
        self.played = played.to_vec();
        let mut last = None;
        let result = self.search(played, pace, &mut |advice| {
            // A forced move is made at once; the agent can think afterwards.
            let is_forced = advice.candidates.len() < 2;
            pace.publish(advice.clone());
            last = Some(advice);
            match is_forced {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        match (last, result) {
            (Some(advice), Ok(_) | Err(PlayerError::Play(PlayError::Interrupted))) => Ok(advice),
            (_, Err(error)) => Err(error),
            (None, Ok(_)) => Err(PlayError::Interrupted.into()),
        }
    }

    fn ponder(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let played = std::mem::take(&mut self.played);
        self.search(&played, pace, &mut |_| ControlFlow::Continue(()))?;
        Ok(())
    }
}
