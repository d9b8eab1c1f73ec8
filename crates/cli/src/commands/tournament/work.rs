//! The queue of matches and the threads that play them.
//!
//! A network player plays one match at a time, so a match waits until all its network players
//! are free, and other matches go first.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::anyhow;

use super::setup::Entrant;
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError};
use ggp_play::contest::{AgentContender, Clocks, Contest, Resources};
use ggp_play::protocol::host::{HostOptions, Invitation, Party, Remote};
use ggp_play::referee::{Asking, Contender};
use ggp_play::tournament::{Row, Task};

/// The queue of matches.
pub(super) struct Queue<'a> {
    entrants: &'a [Entrant],
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    open: VecDeque<Task>,
    /// The network players that are in a match.
    busy: BTreeSet<usize>,
}

impl<'a> Queue<'a> {
    pub(super) fn new(entrants: &'a [Entrant], open: VecDeque<Task>) -> Self {
        let busy = BTreeSet::new();
        Queue {
            entrants,
            waiting: Mutex::new(Waiting { open, busy }),
            changed: Condvar::new(),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The network players of a match.
    fn remote(&self, players: &[Option<usize>]) -> Vec<usize> {
        let players = players.iter().flatten().copied();
        players
            .filter(|player| self.entrants[*player].address().is_some())
            .collect()
    }

    /// The next match whose players are free. Waits for one; `None` if the queue is empty.
    fn next(&self) -> Option<Task> {
        let mut waiting = self.waiting();
        loop {
            if waiting.open.is_empty() {
                return None;
            }
            let is_free = |task: &Task| {
                let remote = self.remote(&task.players);
                remote.iter().all(|player| !waiting.busy.contains(player))
            };
            if let Some(place) = waiting.open.iter().position(is_free) {
                let task = waiting.open.remove(place).expect("it was just found");
                waiting.busy.extend(self.remote(&task.players));
                return Some(task);
            }
            let woken = self.changed.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn ended(&self, players: &[Option<usize>]) {
        let mut waiting = self.waiting();
        for player in self.remote(players) {
            waiting.busy.remove(&player);
        }
        self.changed.notify_all();
    }

    /// Drops all matches that have not begun.
    pub(super) fn clear(&self) {
        self.waiting().open.clear();
        self.changed.notify_all();
    }
}

/// A thread that plays matches, with its own machines.
pub(super) struct Worker {
    /// By game, as the limits.
    pub machines: Vec<AnyMachine>,
    pub limits: Vec<Limits>,
    pub clocks: Clocks,
    /// The settings for network players.
    pub host: HostOptions,
    pub most_moves: usize,
    /// True if an earlier host may have been interrupted.
    pub is_resumed: bool,
}

impl Worker {
    /// Plays matches until the queue is empty.
    pub(super) fn work(self, queue: &Queue<'_>, ended: &Sender<anyhow::Result<Row>>) {
        while let Some(task) = queue.next() {
            let players = task.players.clone();
            let row = self.play(task, queue.entrants);
            queue.ended(&players);
            // The receiver is gone if the tournament has failed.
            let _ = ended.send(row);
        }
    }

    fn play(&self, task: Task, entrants: &[Entrant]) -> anyhow::Result<Row> {
        let Task {
            game,
            players,
            opening,
            mut row,
        } = task;
        let limits = &self.limits[game];
        let machine = self.machines[game].clone();
        let rules = machine.game().clone();
        let resources = Resources {
            limits: limits.clone(),
            ..self.host.resources.clone()
        };
        let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = row.game.chars().map(letters).collect();
        let id = format!("ggp.{name}.{}", row.id);
        let is_remote = |player: &usize| entrants[*player].address().is_some();
        let asking = match players.iter().flatten().any(is_remote) {
            true => Asking::AtOnce,
            // Players do not compete for processors.
            false => Asking::InTurn,
        };
        let invite = || Invitation::new(&rules, &id, None, &self.host);
        let invitation = (asking == Asking::AtOnce).then(invite);
        let mut table: Vec<Option<Box<dyn Contender>>> = Vec::new();
        for (role, player) in rules.roles().zip(&players) {
            let party = player.map(|player| &entrants[player].party);
            table.push(match (party, &invitation) {
                (Some(Party::Agent(spec)), _) => {
                    let brief = resources.brief(&rules, role, self.clocks, row.seed);
                    let contender = AgentContender::new(brief, spec, self.clocks);
                    Some(Box::new(contender.map_err(|why| anyhow!(why))?))
                }
                (Some(Party::Remote(address, name)), Some(invitation)) => {
                    let remote = Remote::new(invitation, address, name, role);
                    Some(Box::new(match self.is_resumed {
                        // The player may still be in this match from an interrupted run.
                        true => remote.resumed(Vec::new()),
                        false => remote,
                    }))
                }
                _ => None,
            });
        }
        let contest = Contest {
            machine,
            asking,
            seed: row.seed,
            opening,
            most_moves: self.most_moves,
            stop: limits.stop.clone(),
        };
        match contest.play(&mut table) {
            Ok(outcome) => row.set(outcome),
            Err(_) if limits.stop.is_raised() => {
                return Err(PlayError::Interrupted.into());
            }
            Err(error) => row.fault = Some(error.to_string()),
        }
        Ok(row)
    }
}
