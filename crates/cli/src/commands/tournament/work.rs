//! Matches of a tournament, as many at once as there may be.
//!
//! A player on the network plays one match at a time, so a match waits until all of
//! its players of that kind are free, and others go before it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::anyhow;

use super::rows::Row;
use super::setup::Entrant;
use ggp_play::protocol::host::{HostOptions, Invitation, Party, Remote};
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError};
use ggp_play::contest::{Clocks, Contest, Resources, AgentContender};
use ggp_play::referee::{Asking, Contender};

/// A match to be played.
pub(super) struct Task {
    pub game: usize,
    /// The number of each role's player; none for chance.
    pub players: Vec<Option<usize>>,
    pub row: Row,
}

/// Matches that are to be played.
pub(super) struct Queue<'a> {
    entrants: &'a [Entrant],
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    open: VecDeque<Task>,
    /// Players on the network that play.
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

    /// Players of a match that are on the network.
    fn remote(&self, players: &[Option<usize>]) -> Vec<usize> {
        let players = players.iter().flatten().copied();
        players.filter(|player| self.entrants[*player].address().is_some()).collect()
    }

    /// A match whose players are free; waits for one unless there is none at all.
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

    /// Leaves all that was not begun.
    pub(super) fn clear(&self) {
        self.waiting().open.clear();
        self.changed.notify_all();
    }
}

/// Who plays matches, with machines of its own.
pub(super) struct Worker {
    /// By game, as the limits.
    pub machines: Vec<AnyMachine>,
    pub limits: Vec<Limits>,
    pub clocks: Clocks,
    /// How players on the network are asked.
    pub host: HostOptions,
    pub most_moves: usize,
    /// Whether a host before this one may have been broken off.
    pub is_resumed: bool,
}

impl Worker {
    /// Plays matches until there are none.
    pub(super) fn work(self, queue: &Queue<'_>, ended: &Sender<anyhow::Result<Row>>) {
        while let Some(Task { game, players, row }) = queue.next() {
            let row = self.play(game, &players, row, queue.entrants);
            queue.ended(&players);
            // Nobody listens if all has failed.
            let _ = ended.send(row);
        }
    }

    fn play(
        &self,
        game: usize,
        players: &[Option<usize>],
        mut row: Row,
        entrants: &[Entrant],
    ) -> anyhow::Result<Row> {
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
            // Nobody takes the processor from another.
            false => Asking::InTurn,
        };
        let invite = || Invitation::new(&rules, &id, None, &self.host);
        let invitation = (asking == Asking::AtOnce).then(invite);
        let mut table: Vec<Option<Box<dyn Contender>>> = Vec::new();
        for (role, player) in rules.roles().zip(players) {
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
                        // It may still sit at this match, of which nothing was kept.
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
