//! The agent that searches by simulation.
//!
//! In: the state after the moves made, and a pace. Out: advice, again and again.
//! It searches by Datalog until the network is there and in lanes from then on,
//! keeps one tree from move to move, and thinks on while others choose.

mod lanes;
mod settings;

use std::convert::Infallible;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, Backends, Brief, Candidate, Pace, PlayerError};
use ggp_engine::machine::{AnyMachine, PlayError, PropnetMachine, PropnetState};
use ggp_engine::propnet::batch::Packed;
use ggp_gdl::game::Move;
use ggp_search::BudgetKind;
use ggp_search::mcts::{
    Excerpt, Mcts, MoveReport, OneByOne, RoleReport, Simulator, Tree, grow_together, named,
};
use ggp_solver::solve::{Faults, Table};
use lanes::Lanes;
pub use settings::OPTIONS;
use settings::Settings;

/// How often what was found is published.
const TICK: Duration = Duration::from_millis(20);
/// How often a tree is looked at as a whole; that takes one part in so many of the time at
/// most.
const LOOK: Duration = Duration::from_millis(500);
const PART: u32 = 20;

/// Plays by Monte Carlo tree search.
#[derive(Debug)]
pub struct MctsAgent {
    brief: Brief,
    settings: Settings,
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
    /// One for each thread.
    lanes: Vec<Lanes>,
}

/// A search for a move.
struct SearchSlice<'p> {
    role: usize,
    pace: &'p Pace,
    memory_bytes: u64,
    /// Draws the move, where moves are to be drawn.
    number: f64,
    /// Iterations so far.
    made: u64,
    /// Positions of the tree that are to be told of, what was told last, and when to
    /// look again.
    most: usize,
    seen: Option<Arc<Excerpt<Move>>>,
    due: Instant,
    /// Gets what is known every now and then, and ends the search with its answer.
    tell: &'p mut dyn FnMut(Advice) -> ControlFlow<()>,
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
            settings,
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
        let depth = self.settings.mcts.playout_depth;
        let mut is_first = true;
        let mut stint = SearchSlice {
            role: self.brief.role.index(),
            pace,
            memory_bytes: self.brief.memory_bytes,
            number: self.random.random_range(0.0..1.0),
            made: 0,
            most: self.brief.tree,
            seen: None,
            due: Instant::now(),
            tell,
        };
        if pace.deadline().is_none() {
            // What comes of it shall not depend on time.
            self.backends()?.wait(pace);
        }
        loop {
            let backends = self.backends()?;
            let is_new = backends.poll();
            let state = backends.state_after(played)?;
            self.look(&state, is_new || is_first)?;
            is_first = false;
            let threads = self.threads(pace);
            let (Some(backends), Some(searcher)) = (&mut self.backends, &mut self.searcher) else {
                return Ok(());
            };
            let is_over = match searcher {
                Searcher::Machine(tree) => {
                    let is_last = backends.is_settled();
                    let mut game = Table::new(backends.machine(), Faults::Nothing);
                    let game = OneByOne::new(&mut game, depth);
                    stint.run(tree, &mut [game], |_, made| *made, is_last)?
                }
                Searcher::Lanes(own) => {
                    own.hire(threads, self.settings.mcts.seed);
                    let moves = &network(backends.machine()).net().moves();
                    let name = |role: usize, made: &u32| moves[role][*made as usize];
                    let lanes = &mut own.lanes[..threads];
                    sure(stint.run(&mut own.tree, lanes, name, true))
                }
            };
            if is_over {
                return Ok(());
            }
        }
    }

    /// Threads to search on: one unless told otherwise where iterations alone are
    /// limited, as several come to results that depend on time.
    fn threads(&self, pace: &Pace) -> usize {
        let is_timed = pace.deadline().is_some() || pace.nodes().is_none();
        let own = if is_timed { self.brief.threads } else { 1 };
        self.settings.threads.unwrap_or(own).max(1)
    }

    /// Sees to it that the tree's root is the state.
    fn look(&mut self, state: &PropnetState, is_new: bool) -> Result<(), PlayError> {
        if !is_new && self.searcher.is_some() {
            return Ok(());
        }
        let Some(backends) = &mut self.backends else {
            return Ok(());
        };
        let (machine, keep) = (backends.machine(), self.settings.keep);
        let PropnetState::Packed(packed) = state else {
            let mut game = Table::new(machine, Faults::Nothing);
            let mut game = OneByOne::new(&mut game, self.settings.mcts.playout_depth);
            return match &mut self.searcher {
                Some(Searcher::Machine(tree)) => follow(tree, &mut game, state.clone(), keep),
                searcher => {
                    // One state at a time.
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
            if *own.tree.root() != root {
                own.lanes.iter_mut().for_each(Lanes::fade);
            }
            sure(follow(&mut own.tree, &mut own.lanes[0], root, keep));
            return Ok(());
        }
        let (net, depth) = (network(machine).net(), self.settings.mcts.playout_depth);
        let engine = self.brief.limits.engine;
        let mut lanes = Lanes::new(
            net,
            engine,
            depth,
            self.settings.learning,
            self.settings.mcts.rave.is_some(),
            self.settings.mcts.seed,
        );
        let tree = sure(Tree::new(&mut lanes, root, &self.settings.mcts));
        let lanes = vec![lanes];
        self.searcher = Some(Searcher::Lanes(Box::new(InLanes { tree, lanes })));
        Ok(())
    }
}

/// Moves the root of a tree, which stays as it is or begins anew.
fn follow<G: Simulator>(
    tree: &mut Tree<G::State, G::Move>,
    game: &mut G,
    root: G::State,
    keep: bool,
) -> Result<(), G::Error> {
    match keep || *tree.root() == root {
        true => tree.reroot(game, root).map(|_| ()),
        false => tree.plant(game, root),
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

impl InLanes {
    /// Has lanes for so many threads.
    fn hire(&mut self, threads: usize, seed: u64) {
        for thread in self.lanes.len()..threads {
            let lanes = self.lanes[0].another(seed.wrapping_add(thread as u64));
            self.lanes.push(lanes);
        }
    }
}

impl SearchSlice<'_> {
    /// Searches on as many threads as there are games, to the end or for about a
    /// tick; whether nothing more is to be done.
    fn run<G>(
        &mut self,
        tree: &mut Tree<G::State, G::Move>,
        games: &mut [G],
        name: impl Fn(usize, &G::Move) -> Move,
        to_the_end: bool,
    ) -> Result<bool, G::Error>
    where
        G: Simulator<State: Send, Move: Send, Error: Send> + Send,
    {
        let (pace, before, earlier) = (self.pace, tree.iterations(), self.made);
        let left = pace
            .nodes()
            .map_or(u64::MAX, |nodes| nodes.saturating_sub(self.made));
        let until = before.saturating_add(left);
        let mut ends = self.tell(tree, &name);
        let mut tick = Instant::now() + TICK;
        while !ends {
            if tree.is_settled(self.role) || pace.is_over() || tree.iterations() >= until {
                if self.most > 0 {
                    self.due = Instant::now();
                    self.tell(tree, &name);
                }
                return Ok(true);
            }
            if !tree.fits(self.memory_bytes) {
                tree.fit(&games[0], self.memory_bytes);
            }
            let begun = tree.iterations();
            let mut is_tick = false;
            let go_on = &mut |tree: &Tree<_, _>| {
                self.made = earlier + tree.iterations() - before;
                is_tick = Instant::now() >= tick;
                if is_tick {
                    ends = self.tell(tree, &name);
                    tick = Instant::now() + TICK;
                }
                let is_full = tree.iterations() > begun && !tree.fits(self.memory_bytes);
                !(ends || is_full || tree.is_settled(self.role) || is_tick && !to_the_end)
            };
            grow_together(tree, games, until, &|| !pace.is_over(), go_on)?;
            self.made = earlier + tree.iterations() - before;
            if !ends {
                ends = self.tell(tree, &name);
            }
            if is_tick && !to_the_end {
                return Ok(ends);
            }
        }
        Ok(true)
    }

    /// Tells what is known; whether that is enough.
    fn tell<S, M>(&mut self, tree: &Tree<S, M>, name: impl Fn(usize, &M) -> Move) -> bool
    where
        S: Clone + Eq + Hash,
        M: Clone + Eq + Hash,
    {
        let (role, report) = (self.role, tree.report(BudgetKind::Time));
        let Some(best) = report.roles[role].draw(self.number) else {
            return true;
        };
        if self.most > 0 && Instant::now() >= self.due {
            let began = Instant::now();
            self.seen = Some(Arc::new(tree.excerpt(role, self.most).named(&name)));
            self.due = Instant::now() + LOOK.max(PART * began.elapsed());
        }
        let line = tree.line(role, &best.action);
        let advice = Advice {
            nodes: self.made,
            line: line.iter().map(|joint| named(joint, &name)).collect(),
            tree: self.seen.clone(),
            ..advise(&report.roles[role], best, |made| name(role, made))
        };
        (self.tell)(advice).is_break()
    }
}

/// What a report says to a role that is to make a move.
fn advise<M>(report: &RoleReport<M>, best: &MoveReport<M>, name: impl Fn(&M) -> Move) -> Advice {
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
    Advice {
        value: Some(best.mean),
        bounds: bounds(report.bounds),
        candidates,
        ..Advice::of(chosen)
    }
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
