//! Solving: a solver searches for a plan and reports its progress.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::allowance::{Allowance, Listener};
use crate::loaded_game::LoadedGame;
use crate::refusal::Refusal;
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_gdl::counted::counted;
use ggp_gdl::game::Move;
use ggp_search::{LevelStats, Observer, Stats, Verdict};
use ggp_solver::solve::{self, SolveOptions, budget_name, solve_from};
use ggp_stop::Instant;

/// The interval between two progress reports.
const PAUSE: Duration = Duration::from_millis(150);
/// Default time limit in seconds.
const TIME: f64 = 60.0;
/// Maximum number of depths in a report; the last ones are kept.
const LEVELS: usize = 1_000;

/// The request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Solve {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    seconds: Option<f64>,
}

/// The progress of a search.
#[derive(Clone, Debug, Serialize)]
struct Progress {
    seconds: f64,
    method: Option<&'static str>,
    nodes: u64,
    depth: Option<u32>,
    levels: Vec<u64>,
    said: String,
}

/// The result of a search.
#[derive(Debug, Serialize)]
pub struct Answer {
    solved: bool,
    proved: bool,
    plan: Option<Vec<String>>,
    said: String,
    seconds: f64,
    nodes: u64,
    levels: Vec<u64>,
}

/// Reports the progress of a search.
struct Teller<'t> {
    began: Instant,
    last: Instant,
    listener: &'t dyn Listener,
}

impl Observer for Teller<'_> {
    fn level(&mut self, stats: &Stats) {
        self.tick(stats);
    }

    fn tick(&mut self, stats: &Stats) {
        if self.last.elapsed() < PAUSE {
            return;
        }
        self.last = Instant::now();
        let total = stats.total();
        let mut said = Vec::new();
        if let Some(length) = stats.best_length {
            said.push(format!("found a plan of {}", moves(length as u64)));
        }
        if let Some(score) = stats.best_score {
            said.push(format!(
                "the best terminal position so far has score {score}"
            ));
        }
        if let Some(depth) = stats.refuted {
            said.push(format!("it takes more than {}", moves(depth.into())));
        }
        let progress = Progress {
            seconds: self.began.elapsed().as_secs_f64(),
            method: stats.method,
            nodes: total.expanded,
            depth: stats.levels.last().map(|level| level.depth),
            levels: levels(stats),
            said: said.join("; "),
        };
        self.listener.offer("progress", &progress);
    }
}

/// A search to be run.
#[derive(Debug)]
pub struct SolveTask {
    game: Arc<LoadedGame>,
    moves: Vec<Vec<String>>,
    method: solve::Method,
    time: Duration,
}

impl SolveTask {
    /// The search that a request asks for, in at most the time given.
    ///
    /// # Errors
    ///
    /// If there is no such method, or the time is wrong.
    pub fn new(game: Arc<LoadedGame>, asked: Solve, most: Duration) -> Result<Self, Refusal> {
        let seconds = asked.seconds.unwrap_or(TIME);
        if !(seconds > 0.0 && seconds < 1e6) {
            return Err(Refusal::wrong(
                "`seconds` must be more than 0 and less than a million",
            ));
        }
        Ok(SolveTask {
            game,
            moves: asked.moves,
            method: match asked.method {
                Some(name) => (name.parse())
                    .map_err(|unknown: solve::UnknownMethod| Refusal::wrong(unknown.to_string()))?,
                None => solve::Method::auto(),
            },
            time: Duration::from_secs_f64(seconds).min(most),
        })
    }

    /// Searches for a plan.
    ///
    /// # Errors
    ///
    /// If the moves are wrong, or the rules cannot be evaluated.
    pub fn run(self, allowance: &Allowance, listener: &dyn Listener) -> Result<Answer, Refusal> {
        let reached = self.game.reach(&self.moves, allowance)?;
        let began = Instant::now();
        let stop = allowance.stop;
        let mut limits = self.game.limits(stop);
        limits.ground.time = Some(self.time / 2);
        let facts = reached.machine.facts(&reached.state);
        let mut machine = match &reached.machine {
            AnyMachine::Propnet(_) => reached.machine,
            _ => AnyMachine::auto(&self.game.game, limits)?.0,
        };
        let start = machine.state(&facts)?;
        let mut options = SolveOptions::default();
        options.method = self.method;
        options.budget.time = Some(self.time.saturating_sub(began.elapsed()));
        options.budget.memory_bytes = allowance.memory_bytes;
        options.budget.stop = stop.clone();
        let mut stats = Stats::default();
        let mut teller = Teller {
            began,
            last: began,
            listener,
        };
        let answer = solve_from(&machine, &start, &options, &mut stats, &mut teller);
        let answer = answer.map_err(|error| Refusal::rules(error.to_string()))?;
        Ok(told(&answer, &machine, &stats, began.elapsed()))
    }
}

fn told(answer: &solve::Answer, machine: &AnyMachine, stats: &Stats, time: Duration) -> Answer {
    let best = answer.best.as_ref();
    let (said, plan, proved): (String, Option<&[Move]>, bool) = match &answer.verdict {
        Verdict::Solved { plans, optimal, .. } => {
            let plan = &plans[0];
            let shortest = match optimal {
                true => "; no plan is shorter",
                false => "; a shorter one may exist",
            };
            let said = format!("a plan of {}{shortest}", moves(plan.len() as u64));
            (said, Some(plan), *optimal)
        }
        Verdict::Unsolvable => ("there is no plan of any length".to_owned(), None, true),
        Verdict::NoSolutionWithin(depth) => (
            format!("there is no plan of {} or fewer", moves((*depth).into())),
            None,
            true,
        ),
        Verdict::OutOfBudget {
            depth_completed,
            what,
        } => {
            let mut said = format!("no plan was found ({})", budget_name(*what));
            if let Some(depth) = depth_completed {
                said += &format!("; it takes more than {}", moves((*depth).into()));
            }
            (said, None, false)
        }
    };
    let said = match (plan, best) {
        (None, Some(best)) => {
            let score = best.score.get();
            format!("{said}; the best terminal position found has score {score}")
        }
        _ => said,
    };
    let (game, terms) = (machine.game(), machine.terms());
    let text = |action: &Move| game.text(terms, action.term());
    let plan = plan.or(best.map(|best| &best.plan[..]));
    Answer {
        solved: matches!(answer.verdict, Verdict::Solved { .. }),
        proved,
        plan: plan.map(|plan| plan.iter().map(text).collect()),
        said,
        seconds: time.as_secs_f64(),
        nodes: stats.total().expanded,
        levels: levels(stats),
    }
}

/// New positions by depth in the last search; empty if it has no depth.
fn levels(stats: &Stats) -> Vec<u64> {
    // The levels of earlier searches are still there.
    let follows = |pair: &[LevelStats]| pair[1].depth == pair[0].depth + 1;
    let pairs = stats.levels.windows(2).rev();
    let count = pairs.take_while(|pair| follows(pair)).take(LEVELS).count();
    let last = &stats.levels[stats.levels.len().saturating_sub(count + 1)..];
    match last {
        [] | [_] => Vec::new(),
        _ => last.iter().map(|level| level.counts.generated).collect(),
    }
}

/// A solving method.
#[derive(Serialize)]
pub struct Method {
    name: &'static str,
    title: &'static str,
    group: &'static str,
}

/// Lists all solving methods, group by group.
pub fn methods() -> Vec<Method> {
    let method = |method: solve::Method| Method {
        name: method.name(),
        title: method.about(),
        group: method.group().title(),
    };
    let mut all: Vec<solve::Method> = solve::Method::all().collect();
    all.sort_by_key(|method| method.group());
    all.into_iter().map(method).collect()
}

/// A number of moves as text.
pub(crate) fn moves(count: u64) -> String {
    counted(count, "move")
}
