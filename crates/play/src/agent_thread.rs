//! A thread for an agent, and a move on time whatever the agent does.

use ggp_stop::{Instant, Stop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, AgentSpec, Backends, Brief, Observation, Pace, PlayerError, SpecError};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::Move;

/// The source of a chosen move.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The agent returned the move.
    Agent,
    /// The agent published the move before the deadline and did not return.
    Published,
    /// The move was drawn at random, because the agent had no legal move to offer.
    Random,
}

/// The result of a choice.
#[derive(Debug)]
pub struct AgentAnswer {
    /// The move; absent if neither the agent nor the fallback mover had one in time.
    pub advice: Option<Advice>,
    /// The source of the move.
    pub origin: Origin,
    /// True if the agent returned in time without an error.
    pub finished: bool,
    /// True if a clock ended the choice.
    pub is_late: bool,
    /// The error that the agent returned.
    pub error: Option<PlayerError>,
}

impl AgentAnswer {
    /// The answer of an agent that chose on this thread: its move, or else the last one that it
    /// published, or else that of `fallback`.
    pub fn of(
        chosen: Result<Advice, PlayerError>,
        pace: &Pace,
        fallback: &mut dyn FnMut() -> Option<Advice>,
    ) -> Self {
        let is_late = pace.is_late();
        let finished = chosen.is_ok();
        let (advice, error) = match chosen {
            Ok(advice) => (Some((advice, Origin::Agent)), None),
            Err(PlayerError::Play(PlayError::Interrupted)) => (None, None),
            Err(error) => (None, Some(error)),
        };
        let published = || Some((pace.published()?, Origin::Published));
        let (advice, origin) = match advice.or_else(published) {
            Some((advice, origin)) => (Some(advice), origin),
            None => (fallback(), Origin::Random),
        };
        AgentAnswer {
            advice,
            origin,
            finished,
            is_late,
            error,
        }
    }
}

/// An agent on its own thread, with a fallback mover on another.
///
/// The fallback mover computes the legal moves and draws a random one in case the agent has
/// no legal move in time. It needs the joint moves, so it has no move where an observation
/// has percepts.
#[derive(Debug)]
pub struct AgentThread {
    shared: Arc<Shared>,
    agent: Worker,
    fallback: Worker,
    /// Raised from outside.
    stop: Stop,
    /// Raised when the match is over, for the machines.
    ended: Stop,
    ponders: bool,
    /// The pace of the last choice.
    pace: Pace,
}

/// The results that the two threads report.
#[derive(Debug, Default)]
struct Shared {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    job: u64,
    finished: Option<Result<Option<Advice>, PlayerError>>,
    /// The legal moves, and one of them drawn at random.
    legal: Option<(Vec<Move>, Move)>,
    /// True if the fallback mover failed.
    failed: bool,
    /// True if the agent's result was taken: it has nothing more to report.
    is_taken: bool,
}

#[derive(Clone, Debug)]
struct Job {
    number: u64,
    task: Task,
    pace: Pace,
}

#[derive(Clone, Debug)]
enum Task {
    Begin,
    Choose(Observation),
    Ponder,
}

#[derive(Debug)]
struct Worker {
    jobs: Option<Sender<Job>>,
    pace: Pace,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(work: impl FnOnce(Receiver<Job>) + Send + 'static) -> Result<Self, SpecError> {
        let (jobs, receiver) = channel();
        let thread = std::thread::Builder::new().spawn(move || work(receiver));
        Ok(Worker {
            jobs: Some(jobs),
            pace: Pace::default(),
            thread: Some(thread.map_err(|error| SpecError::NoThread(error.to_string()))?),
        })
    }

    /// Stops the current job and assigns another.
    fn assign(&mut self, job: Job) {
        self.pace.stop();
        self.pace = job.pace.clone();
        if let Some(jobs) = &self.jobs {
            // If this thread has died, the other one still supplies a move.
            let _ = jobs.send(job);
        }
    }

    fn end(&mut self) {
        self.pace.stop();
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the progress of a job, if it is still the current one.
    fn report(&self, job: u64, update: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress();
        if progress.job == job {
            update(&mut progress);
            self.changed.notify_all();
        }
    }
}

/// The end of a wait for an agent that does not return.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Until {
    /// The deadline.
    Deadline,
    /// The first move that the agent publishes, or the deadline.
    FirstMove,
}

/// The interval at which a wait checks for interrupts.
const TICK: Duration = Duration::from_millis(20);
/// The interval at which the agent's preferred move is reported.
const REPORT: Duration = Duration::from_millis(150);

/// The time before the deadline at which the agent should return, at most.
const SLACK: Duration = Duration::from_millis(50);
/// The time before the deadline at which the published move is taken, at most. A thread
/// wakes up later than the time it asks for.
const LAST: Duration = Duration::from_millis(15);

impl AgentThread {
    /// Starts the threads of an agent. The interrupt of the brief's limits, raised from
    /// outside, ends every wait.
    ///
    /// # Errors
    ///
    /// As [`AgentSpec::agent`], and [`SpecError::NoThread`].
    pub fn new(brief: Brief, spec: &AgentSpec) -> Result<Self, SpecError> {
        AgentThread::with(brief, |brief| spec.agent(brief))
    }

    pub(super) fn with(
        mut brief: Brief,
        make: impl FnOnce(Brief) -> Result<Box<dyn Agent>, SpecError>,
    ) -> Result<Self, SpecError> {
        let own = Stop::new();
        let stop = std::mem::replace(&mut brief.limits.stop, own.clone());
        let agent = make(brief.clone())?;
        let shared = Arc::new(Shared::default());
        let reports = Arc::clone(&shared);
        let agent = Worker::new(move |jobs| run_agent(agent, &jobs, &reports))?;
        let reports = Arc::clone(&shared);
        let fallback = Worker::new(move |jobs| run_fallback(&brief, &jobs, &reports))?;
        Ok(AgentThread {
            shared,
            agent,
            fallback,
            stop,
            ended: own,
            ponders: false,
            pace: Pace::default(),
        })
    }

    /// Sets whether the agent continues to think while others choose. Off by default.
    pub fn set_ponders(&mut self, ponders: bool) {
        self.ponders = ponders;
    }

    /// Lets the agent prepare. Returns when it is ready or at the deadline, with the
    /// agent's error if it failed.
    pub fn begin(&mut self, deadline: Option<Instant>) -> Option<PlayerError> {
        self.begin_and_report(deadline, || {})
    }

    /// As [`AgentThread::begin`]; calls `meanwhile` several times a second.
    pub fn begin_and_report(
        &mut self,
        deadline: Option<Instant>,
        meanwhile: impl FnMut(),
    ) -> Option<PlayerError> {
        if self.stop.is_raised() {
            return None;
        }
        let pace = Pace::new(deadline, None);
        self.post(Task::Begin, &pace, &Pace::default());
        self.wait(deadline, |progress| progress.finished.is_some(), meanwhile);
        if self.stop.is_raised() {
            pace.stop();
        }
        self.shared.progress().finished.take().and_then(Result::err)
    }

    /// Chooses a move in the state after the observed moves, which is not terminal.
    ///
    /// Returns at the deadline, whatever the agent does. If `nodes` limits the agent and
    /// there is no deadline, the choice is reproducible.
    pub fn choose(
        &mut self,
        observation: &Observation,
        deadline: Option<Instant>,
        nodes: Option<u64>,
    ) -> AgentAnswer {
        self.choose_and_report(observation, deadline, nodes, &mut |_| {})
    }

    /// As [`AgentThread::choose`] with the limits of a spec and a clock that ends at `due`. An agent
    /// without a move when its own limit has passed continues until it has one, or until the
    /// clock ends.
    pub fn choose_within(
        &mut self,
        spec: &AgentSpec,
        observation: &Observation,
        due: Option<Instant>,
    ) -> AgentAnswer {
        let (deadline, nodes) = spec.limits(due);
        let answer = self.choose(observation, deadline, nodes);
        let has_ended = answer.error.is_some() || answer.origin != Origin::Random;
        if has_ended || deadline == due || self.stop.is_raised() {
            return answer;
        }
        self.choose_until(observation, due, nodes, Until::FirstMove, &mut |_| {})
    }

    /// As [`AgentThread::choose`]; several times a second, `report` gets the move that the
    /// agent prefers so far.
    pub fn choose_and_report(
        &mut self,
        observation: &Observation,
        deadline: Option<Instant>,
        nodes: Option<u64>,
        report: &mut dyn FnMut(Advice),
    ) -> AgentAnswer {
        self.choose_until(observation, deadline, nodes, Until::Deadline, report)
    }

    fn choose_until(
        &mut self,
        observation: &Observation,
        deadline: Option<Instant>,
        nodes: Option<u64>,
        until: Until,
        report: &mut dyn FnMut(Advice),
    ) -> AgentAnswer {
        if self.stop.is_raised() {
            return AgentAnswer {
                advice: None,
                origin: Origin::Random,
                finished: false,
                is_late: false,
                error: None,
            };
        }
        let now = Instant::now();
        // The agent returns before the deadline, so that its answer is used rather than
        // the move it published last.
        let before = |part: u32, most: Duration| {
            deadline.map(|end| end - (end.saturating_duration_since(now) / part).min(most))
        };
        let (agent_end, last) = (before(10, SLACK), before(25, LAST));
        let pace = Pace::new(agent_end, nodes);
        self.pace = pace.clone();
        self.post(Task::Choose(observation.clone()), &pace, &Pace::default());
        let mut reported = Instant::now();
        let is_complete = |progress: &Progress| {
            let has_enough = until == Until::FirstMove && pace.published().is_some();
            let has_ended = progress.finished.is_some() || has_enough;
            has_ended && (progress.legal.is_some() || progress.failed)
        };
        self.wait(last, is_complete, || {
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                pace.published().into_iter().for_each(&mut *report);
            }
        });
        let is_late = pace.is_late();
        pace.stop();
        let mut progress = self.shared.progress();
        let (finished, legal) = (progress.finished.take(), progress.legal.take());
        progress.is_taken = finished.is_some();
        drop(progress);
        let is_finished = matches!(finished, Some(Ok(_)));
        let (advice, error) = match finished {
            Some(Ok(advice)) => (advice.map(|advice| (advice, Origin::Agent)), None),
            // Time was up before it had a move.
            None | Some(Err(PlayerError::Play(PlayError::Interrupted))) => (None, None),
            Some(Err(error)) => (None, Some(error)),
        };
        let published = || Some((pace.published()?, Origin::Published));
        let advice = advice.or_else(published).filter(|(advice, _)| {
            let legal = legal.as_ref();
            legal.is_none_or(|(legal, _)| legal.contains(&advice.chosen))
        });
        if self.ponders {
            self.agent.assign(Job {
                number: 0,
                task: Task::Ponder,
                pace: Pace::default(),
            });
        }
        let (advice, origin) = match (advice, legal) {
            (Some((advice, origin)), _) => (Some(advice), origin),
            (None, Some((legal, drawn))) => (Some(Advice::blind(drawn, &legal)), Origin::Random),
            (None, None) => (None, Origin::Random),
        };
        AgentAnswer {
            advice,
            origin,
            finished: is_finished,
            is_late,
            error,
        }
    }

    /// A move for the last choice, which ended without one: the first that the agent or the
    /// fallback mover has before the deadline.
    pub fn choose_late(&self, deadline: Instant) -> Option<Advice> {
        let has_move = |progress: &Progress| {
            let has_ended = progress.is_taken || progress.finished.is_some();
            let is_hopeless = progress.failed && has_ended;
            is_hopeless || progress.legal.is_some() || self.pace.published().is_some()
        };
        self.wait(Some(deadline), has_move, || {});
        let drawn = { self.shared.progress() }.legal.take();
        let drawn = drawn.map(|(legal, drawn)| Advice::blind(drawn, &legal));
        self.pace.published().or(drawn)
    }

    /// The move that the agent would choose if time ran out now.
    pub fn published(&self) -> Option<Advice> {
        self.agent.pace.published()
    }

    /// Waits until the condition holds, the deadline passes or an interrupt is raised, and
    /// calls `meanwhile` after every wake-up.
    fn wait(
        &self,
        deadline: Option<Instant>,
        condition: impl Fn(&Progress) -> bool,
        mut meanwhile: impl FnMut(),
    ) {
        let mut progress = self.shared.progress();
        while !condition(&progress) && !self.stop.is_raised() {
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return;
            }
            let patience = left.map_or(TICK, |left| left.min(TICK));
            let woken = self.shared.changed.wait_timeout(progress, patience);
            drop(woken.unwrap_or_else(PoisonError::into_inner));
            meanwhile();
            progress = self.shared.progress();
        }
    }

    fn post(&mut self, task: Task, pace: &Pace, fallback_pace: &Pace) {
        let mut progress = self.shared.progress();
        let number = progress.job + 1;
        *progress = Progress {
            job: number,
            ..Progress::default()
        };
        drop(progress);
        let job = |pace: &Pace| Job {
            number,
            task: task.clone(),
            pace: pace.clone(),
        };
        self.agent.assign(job(pace));
        self.fallback.assign(job(fallback_pace));
    }
}

impl Drop for AgentThread {
    fn drop(&mut self) {
        self.ended.raise();
        self.agent.end();
        self.fallback.end();
    }
}

/// The main function of the agent's thread.
fn run_agent(mut agent: Box<dyn Agent>, jobs: &Receiver<Job>, shared: &Shared) {
    while let Ok(job) = jobs.recv() {
        let pace = &job.pace;
        // A bug in an agent must not lose the match.
        let result = catch_unwind(AssertUnwindSafe(|| match &job.task {
            Task::Begin => agent.begin(pace).map(|()| None),
            Task::Choose(observation) => agent.choose(observation, pace).map(Some),
            Task::Ponder => agent.ponder(pace).map(|()| None),
        }));
        let result =
            result.unwrap_or_else(|_| Err(PlayerError::Other("the agent panicked".into())));
        shared.report(job.number, |progress| progress.finished = Some(result));
    }
}

/// The main function of the fallback mover's thread.
fn run_fallback(brief: &Brief, jobs: &Receiver<Job>, shared: &Shared) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(brief.seed);
    let mut backends = Backends::without_grounding(brief);
    while let Ok(job) = jobs.recv() {
        let Task::Choose(observation) = job.task else {
            continue;
        };
        let mut legal = Vec::new();
        let mut find_legal = || -> Result<(), PlayerError> {
            let backends = backends.as_mut().map_err(|error| error.clone())?;
            let state = backends.state_after(observation.required_joint_moves()?)?;
            Ok(backends.machine().legal(&state, brief.role, &mut legal)?)
        };
        let result = find_legal();
        shared.report(job.number, |progress| match result {
            Ok(()) if !legal.is_empty() => {
                let drawn = legal[random.random_range(0..legal.len())];
                progress.legal = Some((legal, drawn));
            }
            _ => progress.failed = true,
        });
    }
}
