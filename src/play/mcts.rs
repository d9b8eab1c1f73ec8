//! The agent that searches by simulation.
//!
//! In: the state after the moves made, and a pace. Out: advice, again and again.
//! It searches by Datalog until the network is there and in lanes from then on,
//! keeps one tree from move to move, and thinks on while others choose.

mod lanes;
mod machine;
mod settings;

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, Backends, Brief, Candidate, Pace, PlayerError};
use crate::game::Move;
use crate::machine::{AnyMachine, PlayError, PropnetMachine, PropnetState};
use crate::propnet::batch::Packed;
use crate::search::BudgetKind;
use crate::search::mcts::{Mcts, OneByOne, RoleReport, Simulator, Tree};
pub use lanes::{Lanes, Learning};
pub use machine::Simulation;

/// How often what was found is published.
const TICK: Duration = Duration::from_millis(20);

/// Plays by Monte Carlo tree search.
#[derive(Debug)]
pub struct MctsAgent {
    brief: Brief,
    options: Mcts,
    learning: Option<Learning>,
    backends: Option<Backends>,
    searcher: Option<Searcher>,
    /// The moves before its last choice.
    played: Vec<Vec<Move>>,
    random: Xoshiro256PlusPlus,
}

/// A tree, and what it grows by.
#[derive(Debug)]
enum Searcher {
    Machine(Box<Tree<PropnetState, Move>>),
    Lanes(Box<InLanes>),
}

#[derive(Debug)]
struct InLanes {
    tree: Tree<Packed, u32>,
    lanes: Lanes,
}

/// How far to search.
struct Stint<'p> {
    role: usize,
    pace: &'p Pace,
    /// Iterations after which it ends.
    until: u64,
    memory_bytes: u64,
}

impl MctsAgent {
    /// An agent with these options, by name.
    ///
    /// # Errors
    ///
    /// If there is no such option, or it has no such value.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, String> {
        let settings = settings::options(settings, brief.seed)?;
        Ok(MctsAgent {
            random: Xoshiro256PlusPlus::seed_from_u64(brief.seed),
            brief,
            options: settings.mcts,
            learning: settings.learning,
            backends: None,
            searcher: None,
            played: Vec::new(),
        })
    }

    pub(super) fn backends(&mut self) -> Result<&mut Backends, PlayError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::new(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }

    /// Searches the state after the moves until the pace is over, so many
    /// iterations are made, or nothing is left to find out. Every now and then
    /// `tell` gets what is known, and ends it with its answer.
    fn search(
        &mut self,
        played: &[Vec<Move>],
        pace: &Pace,
        tell: &mut dyn FnMut(Advice) -> ControlFlow<()>,
    ) -> Result<(), PlayError> {
        let (role, memory_bytes) = (self.brief.role, self.brief.memory_bytes);
        let depth = self.options.playout_depth;
        let (mut made, mut is_first) = (0, true);
        let number = self.random.random_range(0.0..1.0);
        if pace.deadline().is_none() {
            // What comes of it shall not depend on time.
            self.backends()?.wait(pace);
        }
        loop {
            let backends = self.backends()?;
            let is_new = backends.poll();
            let state = backends.state_after(played)?;
            self.look(&state, is_new || is_first)?;
            let (Some(backends), Some(searcher)) = (&mut self.backends, &mut self.searcher) else {
                return Ok(());
            };
            let left = pace.nodes().map_or(u64::MAX, |nodes| nodes - made);
            let stint = |before: u64| Stint {
                role: role.index(),
                pace,
                until: before.saturating_add(left),
                memory_bytes,
            };
            let (before, after, is_over, found) = match searcher {
                Searcher::Machine(tree) => {
                    let before = tree.iterations();
                    let mut game = Simulation(backends.machine());
                    let mut game = OneByOne::new(&mut game, depth);
                    let is_over = is_first || stint(before).run(tree, &mut game)?;
                    let report = tree.report(BudgetKind::Time);
                    let found = advise(&report.roles[role.index()], number, |made| *made);
                    (before, tree.iterations(), is_over, found)
                }
                Searcher::Lanes(own) => {
                    let before = own.tree.iterations();
                    let is_over =
                        is_first || sure(stint(before).run(&mut own.tree, &mut own.lanes));
                    let report = own.tree.report(BudgetKind::Time);
                    let moves = &network(backends.machine()).net().moves[role.index()];
                    let name = |made: &u32| moves[*made as usize];
                    let found = advise(&report.roles[role.index()], number, name);
                    (before, own.tree.iterations(), is_over, found)
                }
            };
            made += after - before;
            let nodes = made;
            let ends = found.is_none_or(|advice| tell(Advice { nodes, ..advice }).is_break());
            if ends || pace.is_over() || (is_over && !is_first) {
                return Ok(());
            }
            is_first = false;
        }
    }

    /// Sees to it that the tree's root is the state.
    fn look(&mut self, state: &PropnetState, is_new: bool) -> Result<(), PlayError> {
        if !is_new && self.searcher.is_some() {
            return Ok(());
        }
        let Some(backends) = &mut self.backends else {
            return Ok(());
        };
        let machine = backends.machine();
        let PropnetState::Packed(packed) = state else {
            let mut game = Simulation(machine);
            let mut game = OneByOne::new(&mut game, self.options.playout_depth);
            return match &mut self.searcher {
                Some(Searcher::Machine(tree)) => {
                    tree.reroot(&mut game, state.clone())?;
                    Ok(())
                }
                searcher => {
                    // One state at a time.
                    let options = Mcts {
                        batch: 1,
                        each: 1,
                        ..self.options
                    };
                    let tree = Tree::new(&mut game, state.clone(), &options)?;
                    *searcher = Some(Searcher::Machine(Box::new(tree)));
                    Ok(())
                }
            };
        };
        let root = packed.to_vec();
        if let Some(Searcher::Lanes(own)) = &mut self.searcher {
            if *own.tree.root() != root {
                own.lanes.fade();
            }
            sure(own.tree.reroot(&mut own.lanes, root));
            return Ok(());
        }
        let (net, depth) = (network(machine).net(), self.options.playout_depth);
        let engine = self.brief.limits.engine;
        let mut lanes = Lanes::new(net, engine, depth, self.learning, self.options.seed);
        let tree = sure(Tree::new(&mut lanes, root, &self.options));
        self.searcher = Some(Searcher::Lanes(Box::new(InLanes { tree, lanes })));
        Ok(())
    }
}

/// Lanes never fail.
fn sure<T>(came: Result<T, Infallible>) -> T {
    came.unwrap_or_else(|never| match never {})
}

/// The machine, of which a packed state has come.
fn network(machine: &mut AnyMachine) -> &PropnetMachine {
    match machine {
        AnyMachine::Propnet(machine) => machine,
        AnyMachine::Datalog(_) | AnyMachine::Naive(_) => {
            unreachable!("only a network packs states")
        }
    }
}

impl Stint<'_> {
    /// Searches for about a tick; whether nothing more is to be done.
    fn run<G: Simulator>(
        &self,
        tree: &mut Tree<G::State, G::Move>,
        game: &mut G,
    ) -> Result<bool, G::Error> {
        let end = Instant::now() + TICK;
        loop {
            if tree.is_settled(self.role) || self.pace.is_over() {
                return Ok(true);
            }
            if !tree.fits(self.memory_bytes) {
                tree.fit(game, self.memory_bytes);
            }
            let most = self.until.saturating_sub(tree.iterations());
            if most == 0 {
                return Ok(true);
            }
            tree.grow(game, most, &mut None, &mut || !self.pace.is_over())?;
            if Instant::now() >= end {
                return Ok(false);
            }
        }
    }
}

/// What a report says to a role that has a move.
fn advise<M>(report: &RoleReport<M>, number: f64, name: impl Fn(&M) -> Move) -> Option<Advice> {
    let best = report.draw(number)?;
    let bounds = |[low, high]: [u8; 2]| (f64::from(low), f64::from(high));
    let chosen = name(&best.action);
    let mut candidates: Vec<Candidate> = (report.moves.iter())
        .map(|entry| Candidate {
            action: name(&entry.action),
            visits: entry.visits,
            value: entry.mean,
            bounds: bounds(entry.bounds),
        })
        .collect();
    candidates.sort_by(|one, other| {
        let is_other = |candidate: &Candidate| candidate.action != chosen;
        (is_other(one), other.visits)
            .cmp(&(is_other(other), one.visits))
            .then(other.value.total_cmp(&one.value))
    });
    Some(Advice {
        value: Some(best.mean),
        bounds: bounds(report.bounds),
        candidates,
        ..Advice::of(chosen)
    })
}

impl Agent for MctsAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        match pace.deadline() {
            None => {
                self.backends()?.wait(pace);
            }
            Some(_) => {
                self.search(&[], pace, &mut |_| ControlFlow::Continue(()))?;
            }
        }
        Ok(())
    }

    fn choose(&mut self, played: &[Vec<Move>], pace: &Pace) -> Result<Advice, PlayerError> {
        self.played = played.to_vec();
        let mut last = None;
        let came = self.search(played, pace, &mut |advice| {
            // A single move is made at once; there is time to think afterwards.
            let is_forced = advice.candidates.len() < 2;
            pace.publish(advice.clone());
            last = Some(advice);
            match is_forced {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        match (last, came) {
            (Some(advice), Ok(_) | Err(PlayError::Interrupted)) => Ok(advice),
            (_, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Err(PlayError::Interrupted.into()),
        }
    }

    fn ponder(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let played = std::mem::take(&mut self.played);
        self.search(&played, pace, &mut |_| ControlFlow::Continue(()))?;
        Ok(())
    }
}
