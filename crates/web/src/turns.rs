//! Fair shares: a bounded number of turns, handed out evenly between sessions and
//! addresses.
//!
//! A session that has no turn goes before one that has some, and the last quarter of all
//! turns is for those that have none. Other machines get three quarters of all turns at
//! most, each. Requests from this machine may come from a proxy, so only their
//! sessions distinguish them.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use super::WebLimits;
use super::session::locked;
use super::workers::{self, Pace};
use ggp_answers::{Allowance, Background, Work};
use ggp_stop::Stop;

/// Maximum number of sessions whose last turn is remembered.
const REMEMBERED: usize = 4_096;
/// The time after which work counts half.
const HALF: Duration = Duration::from_secs(10);
/// The load of a session whose work gives way to that of others. One player that thinks all
/// the time has a load of 14 seconds, which is [`HALF`] over the logarithm of 2.
const MUCH: Duration = Duration::from_secs(20);

/// The session and address that a request for a turn belongs to.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    /// The session, or the address for all sessions that are new.
    pub(super) key: Arc<str>,
    /// The session, also if it is new: its next request has it as key.
    pub(super) session: Arc<str>,
    pub(super) address: IpAddr,
}

/// Limits on the number of turns.
#[derive(Copy, Clone, Debug)]
pub(super) struct TurnLimits {
    /// Maximum number of turns at once.
    pub(super) all: usize,
    /// Maximum number of turns at once for one session.
    pub(super) each: usize,
    /// Maximum number of requests of a session that wait for a turn.
    pub(super) waiting: usize,
    /// Maximum time of a turn, after which its stop is raised.
    pub(super) time: Option<Duration>,
}

/// By session: the time that its work has run lately, which counts half after each
/// [`HALF`].
#[derive(Debug, Default)]
pub(super) struct Loads(Mutex<FxHashMap<Arc<str>, (Duration, Instant)>>);

impl Loads {
    fn add(&self, key: &Arc<str>, time: Duration) {
        let mut known = locked(&self.0);
        if known.len() >= REMEMBERED {
            known.retain(|_, (_, when)| when.elapsed() < 10 * HALF);
        }
        let (load, when) = known
            .entry(Arc::clone(key))
            .or_insert((time, Instant::now()));
        *load = faded(*load, *when) + time;
        *when = Instant::now();
    }

    fn of(&self, key: &str) -> Duration {
        let known = locked(&self.0);
        known
            .get(key)
            .map_or(Duration::ZERO, |(load, when)| faded(*load, *when))
    }
}

fn faded(load: Duration, since: Instant) -> Duration {
    let halves = since.elapsed().as_secs_f64() / HALF.as_secs_f64();
    load.mul_f64(0.5_f64.powf(halves))
}

/// The turns of one kind of work.
#[derive(Debug)]
pub(super) struct Turns {
    loads: Arc<Loads>,
    limits: TurnLimits,
    /// The turns of work that goes on after an answer.
    background: Option<Arc<Turns>>,
    state: Mutex<TurnState>,
}

#[derive(Debug, Default)]
struct TurnState {
    /// The number of turns so far.
    given: u64,
    running: Vec<Running>,
    waiting: Vec<Waiting>,
    /// By session: the number of its last turn.
    last: FxHashMap<Arc<str>, u64>,
}

#[derive(Debug)]
struct Running {
    number: u64,
    asker: Asker,
    began: Instant,
    stop: Stop,
}

#[derive(Debug)]
struct Waiting {
    asker: Asker,
    turn: oneshot::Sender<Turn>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    number: u64,
    asker: Asker,
    began: Instant,
    stop: Stop,
}

impl Turn {
    /// The priority of its work: `usual`, unless the session has had much lately.
    pub(super) fn pace(&self, usual: Pace) -> Pace {
        let running: Duration = {
            let state = locked(&self.turns.state);
            let running = state.running.iter();
            let own = running.filter(|turn| turn.asker.key == self.asker.key);
            own.map(|turn| turn.began.elapsed()).sum()
        };
        match self.turns.loads.of(&self.asker.key) + running > MUCH {
            true => Pace::Background,
            false => usual,
        }
    }

    /// The means for its work, which is short.
    pub(super) fn allowance<'a>(&'a self, limits: &'a WebLimits) -> Allowance<'a> {
        Allowance {
            stop: &self.stop,
            memory_bytes: 0,
            time: limits.question,
            tables: &limits.values,
            background: self,
        }
    }

    /// Raised when the work must end.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }
}

impl Background for Turn {
    fn start(&self, work: Work) -> Option<Stop> {
        let turn = self.turns.background.as_ref()?.try_take(&self.asker)?;
        let stop = turn.stop().clone();
        let work = move || work(turn.stop());
        let pace = self.pace(Pace::Steady);
        workers::start(pace, work).ok()?;
        Some(stop)
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn is_parallel(&self) -> bool {
        true
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.loads.add(&self.asker.key, self.began.elapsed());
        let mut state = locked(&self.turns.state);
        state.running.retain(|turn| turn.number != self.number);
        let granted = Turns::granted(&self.turns, &mut state);
        drop(state);
        for (waiting, turn) in granted {
            // A turn that nobody waits for any more is dropped here, which grants the next.
            let _ = waiting.send(turn);
        }
    }
}

impl Turns {
    pub(super) fn new(limits: TurnLimits, loads: &Arc<Loads>) -> Arc<Self> {
        Arc::new(Turns {
            loads: Arc::clone(loads),
            limits,
            background: None,
            state: Mutex::default(),
        })
    }

    /// Turns whose work may start other work in the background.
    pub(super) fn with_background(
        limits: TurnLimits,
        loads: &Arc<Loads>,
        background: &Arc<Turns>,
    ) -> Arc<Self> {
        Arc::new(Turns {
            loads: Arc::clone(loads),
            limits,
            background: Some(Arc::clone(background)),
            state: Mutex::default(),
        })
    }

    /// Waits for a turn. `None` if too many requests of the session wait.
    pub(super) async fn take(self: &Arc<Self>, asker: &Asker) -> Option<Turn> {
        let granted = {
            let mut state = locked(&self.state);
            let own = |waiting: &&Waiting| waiting.asker.key == asker.key;
            if state.waiting.iter().filter(own).count() >= self.limits.waiting {
                return None;
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push(Waiting {
                asker: asker.clone(),
                turn: sender,
            });
            let granted = Turns::granted(self, &mut state);
            (receiver, granted)
        };
        let (receiver, granted) = granted;
        for (waiting, turn) in granted {
            let _ = waiting.send(turn);
        }
        receiver.await.ok()
    }

    /// Takes a turn if there is one now.
    pub(super) fn try_take(self: &Arc<Self>, asker: &Asker) -> Option<Turn> {
        let mut state = locked(&self.state);
        (state.waiting.is_empty() && self.admits(&state, asker))
            .then(|| Turns::start(self, &mut state, asker))
    }

    /// The session whose turns have run the longest in total, with their stops. Turns that
    /// were stopped before do not count.
    pub(super) fn heaviest(&self) -> Option<(Duration, Vec<Stop>)> {
        let state = locked(&self.state);
        let mut sums: FxHashMap<&Arc<str>, (Duration, Vec<Stop>)> = FxHashMap::default();
        let running = state.running.iter();
        for turn in running.filter(|turn| !turn.stop.is_raised()) {
            let sum = sums.entry(&turn.asker.key).or_default();
            sum.0 += turn.began.elapsed();
            sum.1.push(turn.stop.clone());
        }
        sums.into_values().max_by_key(|(time, _)| *time)
    }

    fn admits(&self, state: &TurnState, asker: &Asker) -> bool {
        let (own, address) = state.counts(asker);
        let most = self.limits.all - self.limits.all / 4;
        let total = state.running.len();
        total < self.limits.all
            && own < self.limits.each
            && (own == 0 || total < most)
            && (asker.address.is_loopback() || address < most)
    }

    fn start(self: &Arc<Self>, state: &mut TurnState, asker: &Asker) -> Turn {
        state.given += 1;
        if state.last.len() >= REMEMBERED {
            state.last.clear();
        }
        state.last.insert(Arc::clone(&asker.key), state.given);
        let stop = self.limits.time.map_or_else(Stop::new, Stop::after);
        state.running.push(Running {
            number: state.given,
            asker: asker.clone(),
            began: Instant::now(),
            stop: stop.clone(),
        });
        Turn {
            turns: Arc::clone(self),
            number: state.given,
            asker: asker.clone(),
            began: Instant::now(),
            stop,
        }
    }

    /// Starts turns for those that wait, as long as there are any. The least busy address
    /// and session is first, and then the one whose last turn was the longest ago.
    fn granted(turns: &Arc<Self>, state: &mut TurnState) -> Vec<(oneshot::Sender<Turn>, Turn)> {
        let mut granted = Vec::new();
        state.waiting.retain(|waiting| !waiting.turn.is_closed());
        loop {
            let order = |index: &usize| {
                let asker = &state.waiting[*index].asker;
                let (own, address) = state.counts(asker);
                let address = if asker.address.is_loopback() {
                    0
                } else {
                    address
                };
                let last = state.last.get(&asker.key).copied().unwrap_or(0);
                (own, address, last, *index)
            };
            let admitted = (0..state.waiting.len())
                .filter(|index| turns.admits(state, &state.waiting[*index].asker));
            let Some(next) = admitted.min_by_key(order) else {
                return granted;
            };
            let next = state.waiting.remove(next);
            let turn = Turns::start(turns, state, &next.asker);
            granted.push((next.turn, turn));
        }
    }
}

impl TurnState {
    /// The number of turns of the session, and of the address.
    fn counts(&self, asker: &Asker) -> (usize, usize) {
        let count = |is_of: &dyn Fn(&Asker) -> bool| {
            let running = self.running.iter();
            running.filter(|turn| is_of(&turn.asker)).count()
        };
        (
            count(&|other| other.key == asker.key || other.session == asker.key),
            count(&|other| other.address == asker.address),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(key: &str, address: &str) -> Asker {
        Asker {
            key: key.into(),
            session: key.into(),
            address: address.parse().expect("an address"),
        }
    }

    fn turns(all: usize, each: usize) -> Arc<Turns> {
        let limits = TurnLimits {
            all,
            each,
            waiting: 3,
            time: None,
        };
        Turns::new(limits, &Arc::default())
    }

    /// Takes as many turns as there are, in this order of askers.
    fn taken(turns: &Arc<Turns>, askers: &[Asker]) -> Vec<Option<Turn>> {
        askers.iter().map(|asker| turns.try_take(asker)).collect()
    }

    #[test]
    fn the_last_quarter_is_for_those_who_have_none() {
        let turns = turns(8, 4);
        let (one, two) = (asker("one", "127.0.0.1"), asker("two", "127.0.0.1"));
        let busy = [&one, &one, &one, &one, &one, &two, &two, &two];
        let busy = taken(&turns, &busy.map(Clone::clone));
        let got: Vec<bool> = busy.iter().map(Option::is_some).collect();
        assert_eq!(got, [true, true, true, true, false, true, true, false]);
        let others = ["three", "four", "five"].map(|key| asker(key, "127.0.0.1"));
        let others = taken(&turns, &others);
        let got: Vec<bool> = others.iter().map(Option::is_some).collect();
        assert_eq!(got, [true, true, false]);
    }

    #[test]
    fn another_machine_gets_three_quarters_at_most() {
        let turns = turns(8, 4);
        let sessions: Vec<Asker> = (0..8)
            .map(|number| asker(&number.to_string(), "192.0.2.1"))
            .collect();
        let got = taken(&turns, &sessions);
        assert_eq!(got.iter().flatten().count(), 6);
        assert!(turns.try_take(&asker("other", "192.0.2.2")).is_some());
    }

    #[test]
    fn long_work_fades() {
        let loads = Loads::default();
        let key: Arc<str> = "one".into();
        loads.add(&key, 2 * MUCH);
        assert!(loads.of(&key) > MUCH && loads.of("other").is_zero());
        let past = Instant::now().checked_sub(2 * HALF);
        let past = past.expect("the machine has run for a while");
        let load = faded(2 * MUCH, past);
        assert!(load < MUCH && load > MUCH / 3, "{load:?}");
    }

    #[tokio::test]
    async fn turns_go_round() {
        let turns = turns(1, 1);
        let (busy, calm) = (asker("busy", "127.0.0.1"), asker("calm", "127.0.0.1"));
        let first = turns.take(&busy).await.expect("it is free");
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for asker in [&busy, &busy, &busy, &calm] {
            let (turns, asker, order) = (Arc::clone(&turns), asker.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let turn = turns.take(&asker).await.expect("few wait");
                locked(&order).push(asker.key.to_string());
                drop(turn);
            }));
            tokio::task::yield_now().await;
        }
        assert!(turns.take(&busy).await.is_none(), "three wait already");
        drop(first);
        for task in tasks {
            task.await.expect("it ends");
        }
        assert_eq!(*locked(&order), ["calm", "busy", "busy", "busy"]);
    }

    #[tokio::test]
    async fn who_has_gone_is_passed_over() {
        let turns = turns(1, 1);
        let (one, two) = (asker("one", "127.0.0.1"), asker("two", "127.0.0.1"));
        let first = turns.take(&one).await.expect("it is free");
        let gone = turns.take(&one);
        let gone = tokio::time::timeout(Duration::from_millis(10), gone).await;
        assert!(gone.is_err());
        let waiting = tokio::spawn({
            let turns = Arc::clone(&turns);
            async move { turns.take(&two).await.is_some() }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert!(waiting.await.expect("it ends"));
        assert!(locked(&turns.state).running.is_empty());
    }
}
