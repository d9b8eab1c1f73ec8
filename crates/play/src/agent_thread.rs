//! A thread for an agent, and a move in time whatever it does.

use ggp_stop::Stop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, AgentSpec, Backends, Brief, Pace, PlayerError};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::Move;

/// Who a move comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The agent, which had finished.
    Agent,
    /// The agent, which had not finished.
    Published,
    /// Chance, since the agent had no move, or none that is legal.
    Chance,
}

/// What came of a choice.
#[derive(Debug)]
pub struct Answer {
    /// The move; none if nobody could say in time what is legal.
    pub advice: Option<Advice>,
    /// Who it comes from.
    pub origin: Origin,
    /// Whether the agent had come to its end, with a move or without.
    pub finished: bool,
    /// What the agent failed with.
    pub error: Option<PlayerError>,
}

/// A place at a match: an agent on a thread of its own, and a clerk on another
/// who knows what is legal and has a random move at hand.
#[derive(Debug)]
pub struct Seat {
    board: Arc<Board>,
    agent: Worker,
    clerk: Worker,
    /// Raised from outside.
    stop: Stop,
    /// Raised when the match is over, for the machines.
    ended: Stop,
    ponders: bool,
}

/// What the threads tell.
#[derive(Debug, Default)]
struct Board {
    told: Mutex<Told>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Told {
    job: u64,
    finished: Option<Result<Option<Advice>, PlayerError>>,
    /// The legal moves, and one of them drawn at random.
    legal: Option<(Vec<Move>, Move)>,
    /// The clerk's failure.
    failed: bool,
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
    Choose(Arc<[Vec<Move>]>),
    Ponder,
}

#[derive(Debug)]
struct Worker {
    jobs: Option<Sender<Job>>,
    pace: Pace,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(work: impl FnOnce(Receiver<Job>) + Send + 'static) -> Self {
        let (jobs, receiver) = channel();
        Worker {
            jobs: Some(jobs),
            pace: Pace::default(),
            thread: Some(std::thread::spawn(move || work(receiver))),
        }
    }

    /// Ends what it does and gives it something else.
    fn give(&mut self, job: Job) {
        self.pace.stop();
        self.pace = job.pace.clone();
        if let Some(jobs) = &self.jobs {
            // One that has died gives no answers, and the other has a move.
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

impl Board {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is told of a job, if it is still the current one.
    fn tell(&self, job: u64, change: impl FnOnce(&mut Told)) {
        let mut told = self.told();
        if told.job == job {
            change(&mut told);
            self.changed.notify_all();
        }
    }
}

/// How often a wait looks whether it is interrupted.
const TICK: Duration = Duration::from_millis(20);
/// How often it is told what an agent would choose.
const PAUSE: Duration = Duration::from_millis(150);

/// How long before a deadline an agent is to end, and when what it has published is
/// taken, at most: a thread that is to be woken at a time wakes later.
const SLACK: Duration = Duration::from_millis(50);
const LAST: Duration = Duration::from_millis(15);

impl Seat {
    /// A seat for an agent. The interrupt of the brief's limits, raised from
    /// outside, ends whatever is waited for.
    ///
    /// # Errors
    ///
    /// As [`AgentSpec::agent`].
    pub fn new(brief: Brief, spec: &AgentSpec) -> Result<Self, String> {
        Seat::with(brief, |brief| spec.agent(brief))
    }

    pub(super) fn with(
        mut brief: Brief,
        make: impl FnOnce(Brief) -> Result<Box<dyn Agent>, String>,
    ) -> Result<Self, String> {
        let own = Stop::new();
        let stop = std::mem::replace(&mut brief.limits.stop, own.clone());
        let agent = make(brief.clone())?;
        let board = Arc::new(Board::default());
        let told = Arc::clone(&board);
        let agent = Worker::new(move |jobs| serve(agent, &jobs, &told));
        let told = Arc::clone(&board);
        let clerk = Worker::new(move |jobs| keep(&brief, &jobs, &told));
        Ok(Seat {
            board,
            agent,
            clerk,
            stop,
            ended: own,
            ponders: false,
        })
    }

    /// Whether the agent thinks on while others choose; it does not at first.
    pub fn set_ponders(&mut self, ponders: bool) {
        self.ponders = ponders;
    }

    /// Lets the agent make ready. The result comes when it is, or when the time
    /// is up, and is what it failed with.
    pub fn begin(&mut self, deadline: Option<Instant>) -> Option<PlayerError> {
        let pace = Pace::new(deadline, None);
        self.post(Task::Begin, &pace, &Pace::default());
        self.wait(deadline, |told| told.finished.is_some(), || {});
        self.board.told().finished.take().and_then(Result::err)
    }

    /// Has a move chosen in the state after these joint moves, in which the game
    /// is not over.
    ///
    /// The answer is there at the deadline, whatever the agent does; a match in
    /// which `nodes` limits the agent and no deadline does is the same each time.
    pub fn choose(
        &mut self,
        played: &[Vec<Move>],
        deadline: Option<Instant>,
        nodes: Option<u64>,
    ) -> Answer {
        self.choose_and_tell(played, deadline, nodes, &mut |_| {})
    }

    /// As [`Seat::choose`]; meanwhile `tell` gets what the agent would choose, several times
    /// a second.
    pub fn choose_and_tell(
        &mut self,
        played: &[Vec<Move>],
        deadline: Option<Instant>,
        nodes: Option<u64>,
        tell: &mut dyn FnMut(Advice),
    ) -> Answer {
        let now = Instant::now();
        // An agent that ends on time shall be heard, not only what it published.
        let before = |part: u32, most: Duration| {
            deadline.map(|end| end - (end.saturating_duration_since(now) / part).min(most))
        };
        let (heard, last) = (before(10, SLACK), before(25, LAST));
        let pace = Pace::new(heard, nodes);
        self.post(Task::Choose(played.into()), &pace, &Pace::default());
        let mut told = Instant::now();
        let is_there =
            |told: &Told| told.finished.is_some() && (told.legal.is_some() || told.failed);
        self.wait(last, is_there, || {
            if told.elapsed() >= PAUSE {
                told = Instant::now();
                pace.published().into_iter().for_each(&mut *tell);
            }
        });
        pace.stop();
        let mut told = self.board.told();
        let (finished, legal) = (told.finished.take(), told.legal.take());
        drop(told);
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
            self.agent.give(Job {
                number: 0,
                task: Task::Ponder,
                pace: Pace::default(),
            });
        }
        let (advice, origin) = match (advice, legal) {
            (Some((advice, origin)), _) => (Some(advice), origin),
            (None, Some((_, drawn))) => (Some(Advice::of(drawn)), Origin::Chance),
            (None, None) => (None, Origin::Chance),
        };
        Answer {
            advice,
            origin,
            finished: is_finished,
            error,
        }
    }

    /// What the agent would choose if the time were up now.
    pub fn published(&self) -> Option<Advice> {
        self.agent.pace.published()
    }

    /// Waits until something is so or the time is up, and does something meanwhile.
    fn wait(
        &self,
        deadline: Option<Instant>,
        is_so: impl Fn(&Told) -> bool,
        mut meanwhile: impl FnMut(),
    ) {
        let mut told = self.board.told();
        while !is_so(&told) && !self.stop.is_raised() {
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return;
            }
            let patience = left.map_or(TICK, |left| left.min(TICK));
            let woken = self.board.changed.wait_timeout(told, patience);
            drop(woken.unwrap_or_else(PoisonError::into_inner));
            meanwhile();
            told = self.board.told();
        }
    }

    fn post(&mut self, task: Task, pace: &Pace, clerks: &Pace) {
        let mut told = self.board.told();
        let number = told.job + 1;
        *told = Told {
            job: number,
            ..Told::default()
        };
        drop(told);
        let job = |pace: &Pace| Job {
            number,
            task: task.clone(),
            pace: pace.clone(),
        };
        self.agent.give(job(pace));
        self.clerk.give(job(clerks));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.ended.raise();
        self.agent.end();
        self.clerk.end();
    }
}

/// What the agent's thread does.
fn serve(mut agent: Box<dyn Agent>, jobs: &Receiver<Job>, board: &Board) {
    while let Ok(job) = jobs.recv() {
        let pace = &job.pace;
        // A bug in an agent must not lose the match.
        let came = catch_unwind(AssertUnwindSafe(|| match &job.task {
            Task::Begin => agent.begin(pace).map(|()| None),
            Task::Choose(played) => agent.choose(played, pace).map(Some),
            Task::Ponder => agent.ponder(pace).map(|()| None),
        }));
        let came = came.unwrap_or_else(|_| Err(PlayerError::Other("the agent panicked".into())));
        board.tell(job.number, |told| told.finished = Some(came));
    }
}

/// What the clerk's thread does.
fn keep(brief: &Brief, jobs: &Receiver<Job>, board: &Board) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(brief.seed);
    let mut backends = Backends::datalog(brief);
    while let Ok(job) = jobs.recv() {
        let Task::Choose(played) = job.task else {
            continue;
        };
        let mut legal = Vec::new();
        let mut look = || -> Result<(), PlayError> {
            let backends = backends.as_mut().map_err(|error| error.clone())?;
            let state = backends.state_after(&played)?;
            backends.machine().legal(&state, brief.role, &mut legal)
        };
        let came = look();
        board.tell(job.number, |told| match came {
            Ok(()) if !legal.is_empty() => {
                let drawn = legal[random.random_range(0..legal.len())];
                told.legal = Some((legal, drawn));
            }
            _ => told.failed = true,
        });
    }
}
