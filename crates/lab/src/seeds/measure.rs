//! Runs and their results.
//!
//! In: a [`spec`](super::spec) and folders. Out: rows with counts, times and faults (results
//! that are not as expected). Each plan is played again by the Datalog evaluator, and each
//! proof is checked by `verify`; the times do not include these checks. The times of boards
//! are CPU time, so that other work on the machine is not measured.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};

use super::replay::wrong_plans;
use super::rows::{BoardRow, BoardsRow, GraphRow, LevelRow, SearchRow};
use super::spec::{Board, BoardRun, Boards, Expect, Game, GraphRun, Merge, Reached, SearchRun};
use ggp_cli::bench::usage::cpu_time;
use ggp_cli::{Context, texts, verdict_name, whole_text};
use ggp_engine::machine::{AnyMachine, Limits, Machine, PropnetState};
use ggp_engine::propnet::GroundLimits;
use ggp_gdl::check::{self, ReadOptions};
use ggp_gdl::diagnostic::Severity;
use ggp_gdl::game::Score;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::text_grid::{self, Grid};
use ggp_search::graph::{Explore, explore};
use ggp_search::{Budget, LevelStats, Plans, Stats, Verdict, graph};
use ggp_solver::planning::breadth_first::Classes;
use ggp_solver::solve::{
    Checker, GameProblem, Keys, Scoring, SolveOptions, claim, count_from, solve,
};
use ggp_verify::verify;

/// The maximum number of cells of a board that is given by its size.
const MOST_CELLS: usize = 250_000;

/// A stopwatch for wall time and CPU time.
struct Clock {
    wall: Instant,
    /// `None` if CPU time is not available.
    cpu: Option<Duration>,
}

impl Clock {
    fn new() -> Clock {
        Clock {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// The elapsed wall time.
    fn passed(&self) -> Duration {
        self.wall.elapsed()
    }

    /// The CPU time spent, or the elapsed wall time if CPU time is not available.
    fn spent(&self) -> Duration {
        let spent = cpu_time().zip(self.cpu).map(|(now, then)| now - then);
        spent.unwrap_or_else(|| self.passed())
    }
}

/// A game that is ready to play.
struct Ready {
    machine: AnyMachine,
    start: PropnetState,
    took: Duration,
}

/// A checked answer.
struct Solved {
    verdict: &'static str,
    length: Option<usize>,
    optimal: Option<bool>,
    plans: Vec<String>,
    settled_by: String,
    solutions: Option<(usize, bool)>,
    /// CPU time.
    took: Duration,
    /// Wall time.
    passed: Duration,
    faults: Vec<String>,
}

/// The folders of games and boards, and the time limit.
pub(super) struct Bench<'c> {
    pub context: &'c Context,
    pub games: PathBuf,
    pub boards: Option<PathBuf>,
    /// The time limit of each search in seconds, even if the run allows more.
    pub most_seconds: f64,
}

impl Bench<'_> {
    pub fn graph(&self, run: &GraphRun) -> anyhow::Result<GraphRow> {
        let Ready { machine, start, .. } = self.game(&run.game)?;
        let began = Instant::now();
        let (merge, keys) = match run.merge {
            Merge::Stripped => (graph::Merge::Key, Keys::Stripped),
            Merge::Exact => (graph::Merge::State, Keys::Exact),
            Merge::Tree => (graph::Merge::Nothing, Keys::Exact),
        };
        let mut problem = GameProblem::new(&machine, &start, Score::MAX, keys)?;
        let how = Explore {
            merge,
            ..Explore::default()
        };
        let budget = self.budget(60.0, run.depth)?;
        let graph = explore(&mut problem, &how, &budget, &mut Stats::default(), &mut ())?;
        if graph.stopped().is_some() {
            bail!("{}: the graph is too large for the budget", run.label);
        }
        let mut has_way_on = vec![false; graph.nodes().len()];
        graph
            .arcs()
            .iter()
            .for_each(|arc| has_way_on[arc.from] = true);
        let deepest = graph
            .nodes()
            .iter()
            .map(|node| node.level)
            .max()
            .unwrap_or(0);
        let mut levels = vec![0; deepest as usize + 1];
        graph
            .nodes()
            .iter()
            .for_each(|node| levels[node.level as usize] += 1);
        let known = run.known.clone();
        let ours = Reached {
            nodes: Some(graph.nodes().len() as u64),
            arcs: Some(graph.arcs().len() as u64),
            leaves: Some(has_way_on.iter().filter(|&&on| !on).count() as u64),
            levels: Some(levels),
        };
        let mut faults = Vec::new();
        let mut compare = |what: &str, known: Option<u64>, ours: Option<u64>| {
            if known.is_some() && known != ours {
                let of = |number: Option<u64>| number.unwrap_or_default();
                faults.push(format!("{} {what} instead of {}", of(ours), of(known)));
            }
        };
        compare("nodes", known.nodes, ours.nodes);
        compare("arcs", known.arcs, ours.arcs);
        compare("leaves", known.leaves, ours.leaves);
        if known.levels.is_some() && known.levels != ours.levels {
            faults.push(format!("levels of {:?} nodes", ours.levels));
        }
        Ok(GraphRow {
            label: run.label.clone(),
            known,
            ours,
            seconds: began.elapsed().as_secs_f64(),
            faults,
        })
    }

    pub fn search(&self, run: &SearchRun) -> anyhow::Result<SearchRow> {
        let ready = self.game(&run.game)?;
        let mut stats = Stats::default();
        let plans = match run.all {
            true => Plans::AllShortest { max: 1_000 },
            false => Plans::First,
        };
        let mut how = self.how(&run.method, plans, run.most_seconds)?;
        how.threads = run.threads.max(1);
        how.packed.whole = run.whole;
        if run.symmetry {
            how.packed.classes = Classes::Always;
        }
        let spinner = self.context.spinner(&run.label);
        let solved = answer(&ready, &how, &mut stats);
        spinner.finish_and_clear();
        let solved = solved.with_context(|| run.label.clone())?;
        let total = stats.total();
        let mut faults = solved.faults.clone();
        faults.extend(self.unexpected(&run.expect, &solved));
        let wanted = run.expect.positions.filter(|_| stats.ran_out.is_none());
        if wanted.is_some_and(|wanted| wanted != total.generated) {
            faults.push(ggp_gdl::counted::counted(total.generated, "position"));
        }
        let levels = levels(&stats.levels);
        Ok(SearchRow {
            label: run.label.clone(),
            theirs: run.theirs.clone(),
            verdict: solved.verdict,
            length: solved.length,
            optimal: solved.optimal,
            settled_by: solved.settled_by,
            expanded: total.expanded,
            generated: total.generated,
            frontier: levels.last().map(|level| level.frontier),
            peak_bytes: stats.peak_bytes,
            load_seconds: ready.took.as_secs_f64(),
            cpu_seconds: solved.took.as_secs_f64(),
            seconds: solved.passed.as_secs_f64(),
            levels,
            faults,
        })
    }

    fn unexpected(&self, expect: &Expect, solved: &Solved) -> Vec<String> {
        let mut faults = Vec::new();
        let is_spent = solved.verdict == "out_of_budget" && expect.may_fail;
        if let Some(verdict) = &expect.verdict
            && *verdict != solved.verdict
            && !is_spent
        {
            faults.push(format!("{} instead of {verdict}", solved.verdict));
        }
        faults.extend(too_many(expect.least, solved.length, solved.optimal));
        if let Some(plans) = &expect.plans
            && *plans != solved.plans
        {
            faults.push(format!("other plans: {:?}", solved.plans));
        }
        faults
    }

    /// Solves the boards of a run. Returns `None` if the file of boards is missing.
    pub fn boards(&self, run: &BoardRun) -> anyhow::Result<Option<BoardsRow>> {
        let Some(boards) = self.listed(&run.boards)? else {
            return Ok(None);
        };
        let mut how = self.how(&run.method, Plans::First, run.most_seconds)?;
        how.scoring = match run.by_length {
            true => Scoring::Length,
            false => Scoring::Points,
        };
        let mut row = BoardsRow {
            label: run.label.clone(),
            theirs: run.theirs.clone(),
            goal: run.goal.clone(),
            each: Vec::new(),
            seconds: 0.0,
            faults: Vec::new(),
        };
        let bar = self.context.bar(boards.len() as u64, &run.label);
        for (number, (board, least)) in (1..).zip(&boards) {
            if self.context.is_interrupted() {
                break;
            }
            let mut stats = Stats::default();
            let ready = self.ready(&run.rules, Some(board))?;
            let solved = match run.count {
                Some(most) => counted(&ready, &how, most),
                None => answer(&ready, &how, &mut stats),
            };
            let solved = solved.with_context(|| format!("{}: board {number}", run.label))?;
            let is_spent = solved.verdict == "out_of_budget" && run.expect.may_fail;
            let mut faults = solved.faults;
            if let Some(verdict) = &run.expect.verdict
                && *verdict != solved.verdict
                && !is_spent
            {
                faults.push(format!("{} instead of {verdict}", solved.verdict));
            }
            if run.expect.unique {
                let is_right = match (solved.solutions, run.expect.several.contains(&number)) {
                    (Some((found, _)), true) => found > 1,
                    (found, false) => found == Some((1, true)),
                    _ => false,
                };
                if !is_right {
                    let found = solved.solutions;
                    faults.push(format!("solutions, and whether these are all: {found:?}"));
                }
            }
            faults.extend(too_many(*least, solved.length, solved.optimal));
            let faults = faults
                .into_iter()
                .map(|fault| format!("board {number}: {fault}"));
            row.faults.extend(faults);
            row.seconds += (ready.took + solved.took).as_secs_f64();
            row.each.push(BoardRow {
                board: number,
                verdict: solved.verdict,
                length: solved.length,
                optimal: solved.optimal,
                solutions: solved.solutions,
                expanded: stats.total().expanded,
                load_seconds: ready.took.as_secs_f64(),
                seconds: solved.took.as_secs_f64(),
            });
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(Some(row))
    }

    /// The boards of a run, each with the fewest moves if known; `None` if the file is missing.
    #[allow(clippy::type_complexity)] // A named type would be used only here.
    fn listed(&self, boards: &Boards) -> anyhow::Result<Option<Vec<(Grid, Option<usize>)>>> {
        let (file, has_least) = match boards {
            Boards::List(list) => {
                let read = |known: &super::spec::KnownBoard| {
                    anyhow::Ok((drawn(&known.board)?, known.least))
                };
                return list
                    .iter()
                    .map(read)
                    .collect::<anyhow::Result<_>>()
                    .map(Some);
            }
            Boards::File { file, least } => (file, *least),
        };
        let places = [self.boards.clone(), Some(self.games.join("instances"))];
        let places = places.into_iter().flatten();
        let Some(path) = places
            .map(|place| place.join(file))
            .find(|path| path.is_file())
        else {
            return Ok(None);
        };
        let text = read(&path)?;
        let lines: Vec<&str> = text.lines().collect();
        let least = |board: &Grid| -> anyhow::Result<Option<usize>> {
            if !has_least {
                return Ok(None);
            }
            let line = board.line();
            let word = lines[line - 1].split_whitespace().nth(1);
            let number = word.and_then(|word| word.parse().ok());
            let missing = || anyhow!("{file}:{line}: no number of moves after the board");
            Ok(Some(number.ok_or_else(missing)?))
        };
        let boards = text_grid::puzzles(file, &text)?;
        let boards = boards
            .into_iter()
            .map(|board| anyhow::Ok((board.clone(), least(&board)?)));
        boards.collect::<anyhow::Result<_>>().map(Some)
    }

    fn game(&self, game: &Game) -> anyhow::Result<Ready> {
        let board = match &game.board {
            Some(board) => Some(drawn(board)?),
            None => None,
        };
        self.ready(&game.rules, board.as_ref())
    }

    /// Reads rules and creates a machine, as commands do.
    fn ready(&self, rules: &[String], board: Option<&Grid>) -> anyhow::Result<Ready> {
        let clock = Clock::new();
        let mut sources = Vec::new();
        for name in rules {
            sources.push(Source::new(name, read(&self.games.join(name))?));
        }
        sources.extend(board.map(Grid::to_source));
        let reading = check::read(Sources::new(sources), &ReadOptions::default());
        let Some(game) = reading.game else {
            let mut errors = reading
                .findings
                .iter()
                .filter(|f| f.severity == Severity::Error);
            let first = errors
                .next()
                .map_or("the rules have errors", |error| &error.message);
            bail!("{}: {first}", rules.join(" + "));
        };
        let stop = self.context.stop().clone();
        let limits = Limits {
            ground: GroundLimits {
                time: Some(Duration::from_secs(30)),
                stop: stop.clone(),
                ..GroundLimits::default()
            },
            stop,
            ..Limits::default()
        };
        let (mut machine, _) = AnyMachine::auto(&game, limits)?;
        let start = machine.initial()?;
        Ok(Ready {
            machine,
            start,
            took: clock.spent(),
        })
    }

    fn how(&self, method: &str, plans: Plans, seconds: f64) -> anyhow::Result<SolveOptions> {
        let mut options = SolveOptions::default();
        options.method = method.parse()?;
        options.plans = plans;
        options.budget = self.budget(seconds, None)?;
        options.checker = Checker::Nobody;
        Ok(options)
    }

    fn budget(&self, seconds: f64, depth: Option<u32>) -> anyhow::Result<Budget> {
        let time = Duration::try_from_secs_f64(seconds.min(self.most_seconds));
        Ok(Budget {
            time: Some(time.with_context(|| format!("{seconds} is not a number of seconds"))?),
            stop: self.context.stop().clone(),
            depth: depth.unwrap_or(u32::MAX),
            ..Budget::default()
        })
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    whole_text::read(path)
}

fn drawn(board: &Board) -> anyhow::Result<Grid> {
    if let Board::Plain { rows, columns, .. } = board
        && rows.saturating_mul(*columns) > MOST_CELLS
    {
        bail!("a board of {rows} by {columns} cells is too large");
    }
    Ok(Grid::read("board", &board.text())?)
}

/// The fault if the length of a plan contradicts the known fewest moves.
fn too_many(least: Option<usize>, ours: Option<usize>, optimal: Option<bool>) -> Option<String> {
    let (least, ours) = (least?, ours?);
    (ours < least || optimal == Some(true) && ours != least).then(|| {
        format!(
            "{} instead of {least}",
            ggp_gdl::counted::counted(ours, "move")
        )
    })
}

/// The levels, if they are those of a single search by length; otherwise none.
fn levels(levels: &[LevelStats]) -> Vec<LevelRow> {
    let is_one = levels.windows(2).all(|pair| pair[0].depth < pair[1].depth);
    let row = |level: &LevelStats| LevelRow {
        depth: level.depth,
        expanded: level.counts.expanded,
        generated: level.counts.generated,
        frontier: level.frontier,
        seconds: level.elapsed.as_secs_f64(),
    };
    match is_one && levels.len() > 1 {
        true => levels.iter().map(row).collect(),
        false => Vec::new(),
    }
}

/// Solves a game and checks the answer.
fn answer(ready: &Ready, how: &SolveOptions, stats: &mut Stats) -> anyhow::Result<Solved> {
    let clock = Clock::new();
    let answer = solve(&ready.machine, how, stats, &mut ())?;
    let (took, passed) = (clock.spent(), clock.passed());
    let mut solved = Solved {
        verdict: verdict_name(&answer.verdict),
        length: None,
        optimal: None,
        plans: Vec::new(),
        settled_by: answer.chosen.clone(),
        solutions: None,
        took,
        passed,
        faults: Vec::new(),
    };
    match &answer.verdict {
        Verdict::Solved { plans, optimal, .. } => {
            solved.length = plans.first().map(Vec::len);
            solved.optimal = Some(*optimal);
            solved.plans = (plans.iter())
                .map(|plan| texts(&ready.machine, plan).join(" "))
                .collect();
            solved
                .faults
                .extend(wrong_plans(ready.machine.game(), plans));
        }
        Verdict::Unsolvable => {
            let (machine, start) = (&ready.machine, &ready.start);
            let said = claim(machine, start, &answer, &how.budget);
            let limits = ggp_verify::Limits {
                stop: how.budget.stop.clone(),
                ..ggp_verify::Limits::default()
            };
            let (game, facts) = (machine.game(), machine.facts(start));
            let checked = verify(game, &facts, how.target, &said, &limits);
            let wrong = |error| format!("the proof: {error}");
            solved.faults.extend(checked.err().map(wrong));
        }
        _ => {}
    }
    Ok(solved)
}

/// Counts solutions that differ in more than the order of moves, and checks them.
fn counted(ready: &Ready, how: &SolveOptions, most: usize) -> anyhow::Result<Solved> {
    let clock = Clock::new();
    let found = count_from(&ready.machine, &ready.start, how, most)?;
    let plans = found.plans;
    let (took, passed) = (clock.spent(), clock.passed());
    Ok(Solved {
        verdict: match (plans.is_empty(), found.is_all) {
            (false, _) => "solved",
            (true, true) => "unsolvable",
            (true, false) => "out_of_budget",
        },
        length: plans.first().map(Vec::len),
        optimal: (!plans.is_empty()).then_some(false),
        plans: Vec::new(),
        settled_by: "sets of moves by SAT".to_owned(),
        solutions: Some((plans.len(), found.is_all)),
        took,
        passed,
        faults: wrong_plans(ready.machine.game(), &plans),
    })
}
