//! `ggp prove`: the value of a position and the best moves.

mod answer;
mod chance;
mod hidden;
mod table;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::legal::find_role;
use super::play::hint::Adviser;
use super::solve::{self, left};
use crate::numbers::seconds;
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit};
use answer::{Answer, Guess};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_play::{Brief, Evaluation, Lanes, Learner, Outlook};
use ggp_search::minimax::{Minimax, MinimaxReport, TranspositionTable, Wanted, prove};
use ggp_search::{Budget, BudgetKind, Observer, Stats};
pub(super) use hidden::{hides, openness};

/// The options of `ggp prove`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp prove tic_tac_toe.kif --moves '(mark 1 1)'     the value of each answer
  ggp prove nim.kif --best                           only a best move, sooner
  ggp prove kalah.kif --budget-time 60 --json
  ggp prove kalah.kif --table kalah.table            looked up, after `ggp tabulate`

Each line is a move and the score that its role gets after it, best first; if the score is not
known, its proved bounds are shown. All other roles are assumed to play against the role and to
know its move: the best score is what the role can force against them. If two roles take turns, and
their scores have the same sum in all ends that the search saw, that is the value of the position.
Otherwise nobody need play so, and it is shown as `at least`. With --table, all ends count.

A role named random is chance: the scores are means over its moves. If positions repeat, or are too
many for half of the time and the memory, bounds are shown that hold for every outcome.

If several roles have a choice, each of them has its lines, which begin with its name; with --json,
each has an object on a line of its own. Two roles with a constant sum of scores bound each other:
neither gets more than the other leaves.

A move is `endless` if play can go on forever after it: the role cannot force an end that is worth
more than the first number, and the others cannot force one that is worth less than the second. This
is reported only if all positions fit into the memory and, without --table, the sum is constant.

In a game with hidden information (rules with `sees`), the lines have what the best plan can expect
that depends only on what the role knows. Where another role than random has choices as well, there
is no such value, and the command says so; but if the search of all positions shows that nothing is
hidden, the answer is that of a game without `sees`. If something is, plans begin at the first
position: what can be reached from a later one depends on what the role knows there.

If a value is still open when a limit is reached, the player `auto` names the move that it would
make, with its estimates where it plays out positions; not where the rules have `sees`. A part of the
time is reserved for it. The exit code is 1 if a value is open or the rules have a
fault.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Role whose moves are evaluated [default: each role that has a choice]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Search only for a best move
    #[arg(long)]
    best: bool,
    /// Time limit in seconds, including the time to read the rules
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "60")]
    budget_time: Duration,
    /// Maximum number of positions expanded
    #[arg(long, value_name = "N")]
    budget_nodes: Option<u64>,
    /// Maximum memory for known positions, in MB; when it is full, old ones are dropped
    #[arg(long, value_name = "MB", default_value_t = 1_024)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    budget_memory: u64,
    /// Look the values up in this file of `ggp tabulate`, instead of searching
    #[arg(long, value_name = "FILE", conflicts_with_all = ["budget_nodes", "budget_memory"])]
    table: Option<PathBuf>,
    #[command(flatten)]
    position: PositionOptions,
}

/// The share of the time that is reserved for estimates.
const GUESS: f64 = 0.1;
/// The share of the time after which values are learned, and that of learning them.
const LEARNING: f64 = 0.1;
/// The part of the memory for learning values.
const LEARNING_MEMORY: u64 = 8;
/// The maximum time for estimates.
const LONGEST_GUESS: Duration = Duration::from_secs(2);
/// The maximum number of iterations for estimates.
const GUESSES: u64 = 20_000;
/// The maximum number of moves that are shown.
const MOVES: usize = 1_000;
/// The maximum number of joint moves of the expected line that are shown.
const SHOWN: usize = 12;

/// Shows the depth of the search.
struct Progress(indicatif::ProgressBar);

impl Observer for Progress {
    fn tick(&mut self, stats: &Stats) {
        let positions = counted(stats.total().expanded, "position");
        self.0
            .set_message(match stats.levels.last().map_or(0, |level| level.depth) {
                0 => format!("searching to the end of the game, {positions}"),
                depth => format!("searching {} ahead, {positions}", counted(depth, "move")),
            });
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the role or the position are invalid, the game is over, or play shows an error
/// in the rules.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let budget = options.budget(context);
    let game = solve::game(&options.rules, &budget, context)?;
    if game.is_hidden() {
        let mut limits = options.rules.limits(context);
        limits.stop = solve::evaluation(&left(&budget, started), context);
        if let Some(exit) = hidden::run(options, &game, limits, context)? {
            return Ok(exit);
        }
        context.note("all roles always know the position, as in rules without `sees`");
    }
    let mut machine = solve::machine(&options.rules, &game, &left(&budget, started), context)?;
    machine.set_stop(&solve::evaluation(&left(&budget, started), context));
    let question = question(options, &mut machine, context);
    let (state, roles) = solve::in_time(question, context)?;
    if let Some(path) = &options.table {
        for (role, _) in &roles {
            let role = (*role, roles.len() > 1);
            table::run(path, options, &mut machine, &state, role, context)?;
        }
        return Ok(Exit::Done);
    }
    if game.roles().any(|role| game.is_random(role)) {
        let left = left(&budget, started);
        let half = Budget {
            time: left.time.map(|time| time / 2),
            ..left
        };
        machine.set_stop(&solve::evaluation(&half, context));
        let exit = chance::run(options, &mut machine, &state, &roles, &half, context)?;
        if let Some(exit) = exit {
            return Ok(exit);
        }
    }
    let other = other_role(&mut machine, &state, &roles)?;
    let choose_at_once = roles.len() + usize::from(other.is_some_and(|(_, chooses)| chooses));
    let asked = roles.iter().map(|(role, _)| *role);
    let mut reports: Vec<MinimaxReport<Move>> = Vec::new();
    for (done, role) in asked.chain(other.map(|(role, _)| role)).enumerate() {
        if done == roles.len() && !is_bounded_by_other(&reports[0], choose_at_once > done) {
            break;
        }
        let left = left(&budget, started);
        let parts = choose_at_once.saturating_sub(done).max(1);
        let share = Budget {
            time: left.time.map(|time| time / parts as u32),
            ..left
        };
        machine.set_stop(&solve::evaluation(&share, context));
        let report = search(options, &mut machine, &state, role, &share, context)?;
        reports.push(report);
    }
    let game = machine.game();
    if let [one, other] = &mut reports[..]
        && game.roles().filter(|role| !game.is_random(*role)).count() == 2
    {
        other.bound_by(one);
        one.bound_by(other);
    }
    let mut is_proved = true;
    for ((role, legal), report) in roles.iter().zip(&reports) {
        let guess = match report.stopped {
            None | Some(BudgetKind::Interrupt) => None,
            // What had no time for the search has none for an estimate, and the agent that estimates
            // would first read all terms of the naive evaluator.
            Some(BudgetKind::Time) if report.positions == 0 => None,
            Some(_) if matches!(machine, AnyMachine::Naive(_)) => None,
            Some(_) => {
                let time = guess_time(options) / roles.len() as u32;
                let budget = Budget {
                    time: Some(time),
                    ..Budget::default()
                };
                machine.set_stop(&solve::evaluation(&budget, context));
                guess(options, &mut machine, (&state, *role), time, context)?
            }
        };
        machine.set_stop(context.stop());
        let guess = guess.as_ref();
        let mut answer = Answer::new(&mut machine, &state, *role, legal, report, guess)?;
        answer.seconds = started.elapsed().as_secs_f64();
        is_proved &= answer.proved && answer.fault.is_none();
        answer.print(options.best, roles.len() > 1, context)?;
    }
    Ok(if is_proved {
        Exit::Done
    } else {
        Exit::Negative
    })
}

/// If one role is asked for and one other is not chance: the other, and whether it has a choice in the
/// position.
fn other_role(
    machine: &mut AnyMachine,
    state: &PropnetState,
    asked: &Asked,
) -> Result<Option<(RoleId, bool)>, PlayError> {
    let ([(asked, _)], game) = (&asked[..], machine.game().clone()) else {
        return Ok(None);
    };
    let mut others = game
        .roles()
        .filter(|role| role != asked && !game.is_random(*role));
    let (Some(other), None) = (others.next(), others.next()) else {
        return Ok(None);
    };
    let mut legal = Vec::new();
    machine.legal(state, other, &mut legal)?;
    Ok(Some((other, legal.len() > 1)))
}

/// Whether a search for the other role may bound what is open in a report. If both roles choose in the
/// position, it has a part of the time; else it has what a complete search leaves.
fn is_bounded_by_other(report: &MinimaxReport<Move>, has_time: bool) -> bool {
    let is_open = matches!(report.bounds(), (0..100, 100)) && !report.is_endless;
    is_open && (has_time || report.stopped.is_none())
}

/// The roles whose moves are evaluated, with their legal moves.
type Asked = Vec<(RoleId, Vec<Move>)>;

/// The position, and the roles whose moves are evaluated.
fn question(
    options: &Options,
    machine: &mut AnyMachine,
    context: &Context,
) -> anyhow::Result<(PropnetState, Asked)> {
    let state = options.position.state(machine, &options.rules, context)?;
    if machine.is_terminal(&state)? {
        bail!("the game is over in this position");
    }
    let roles = match &options.role {
        Some(name) => vec![deciding_role(machine.game(), name)?],
        None => choosers(machine, &state)?,
    };
    let mut asked = Vec::new();
    for role in roles {
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal)?;
        asked.push((role, legal));
    }
    Ok((state, asked))
}

/// The role with a name, which is not chance.
fn deciding_role(game: &Game, name: &str) -> anyhow::Result<RoleId> {
    let role = find_role(game, name)?;
    if game.is_random(role) {
        let others = game.roles().filter(|role| !game.is_random(*role));
        let names: Vec<&str> = others.map(|role| game.role_name(role)).collect();
        bail!(
            "{name} is chance: it draws its moves with equal probabilities and wants no score, so \
             there is no value to prove; the roles that decide are {}",
            names.join(", ")
        );
    }
    Ok(role)
}

/// Estimates the moves by simulation. Returns `None` if the search has no result.
fn guess(
    options: &Options,
    machine: &mut AnyMachine,
    (state, role): (&PropnetState, RoleId),
    time: Duration,
    context: &Context,
) -> Result<Option<Guess>, PlayError> {
    let brief = Brief {
        start: Some(machine.facts(state)),
        limits: options.rules.limits(context),
        memory_bytes: options.memory_bytes(),
        ..Brief::new(machine.game(), role)
    };
    let mut adviser = Adviser::new(brief);
    let nodes = options.budget_nodes.unwrap_or(GUESSES).min(GUESSES);
    let Some(advice) = adviser.think(role, &[], time, nodes) else {
        return Ok(None);
    };
    let mut line = Vec::new();
    let chosen = (role, advice.chosen);
    match adviser.ahead(machine, state.clone(), chosen, &mut line) {
        Err(PlayError::Interrupted) if !context.is_interrupted() => {}
        other => other?,
    }
    Ok(Some(Guess { advice, line }))
}

fn guess_time(options: &Options) -> Duration {
    options.budget_time.mul_f64(GUESS).min(LONGEST_GUESS)
}

/// The roles with a choice, chance apart; the first role that is not chance if there is no such role.
fn choosers(machine: &mut AnyMachine, state: &PropnetState) -> Result<Vec<RoleId>, PlayError> {
    let game = machine.game().clone();
    let mut choosers = Vec::new();
    let mut legal = Vec::new();
    let roles = || game.roles().filter(|role| !game.is_random(*role));
    for role in roles() {
        machine.legal(state, role, &mut legal)?;
        if legal.len() > 1 {
            choosers.push(role);
        }
    }
    if choosers.is_empty() {
        choosers.extend(roles().chain(game.roles()).next());
    }
    Ok(choosers)
}

impl Options {
    fn memory_bytes(&self) -> u64 {
        self.budget_memory.saturating_mul(1 << 20)
    }

    /// The joint budget for reading the rules and for the search.
    fn budget(&self, context: &Context) -> Budget {
        Budget {
            nodes: self.budget_nodes.unwrap_or(u64::MAX),
            time: Some(self.budget_time - guess_time(self)),
            stop: context.stop().clone(),
            // One part is for alpha-beta search, one for the searches that alternate with it.
            memory_bytes: (self.memory_bytes() - self.memory_bytes() / LEARNING_MEMORY) / 2,
            ..Budget::default()
        }
    }
}

fn search(
    options: &Options,
    machine: &mut AnyMachine,
    state: &PropnetState,
    role: RoleId,
    budget: &Budget,
    context: &Context,
) -> anyhow::Result<MinimaxReport<Move>> {
    // The search ends with the evaluations, although code for the lanes is compiled first.
    let began = Instant::now();
    let wanted = match options.best {
        true => Wanted::Best,
        false => Wanted::All,
    };
    let limits = options.rules.limits(context);
    let mut lanes = Lanes::new(machine, &limits);
    let learning = options.budget_time.mul_f64(LEARNING);
    let mut outlook = Outlook {
        stop: machine.stop().clone(),
        learner: Some(Learner::new(
            Instant::now() + learning,
            learning,
            options.memory_bytes() / LEARNING_MEMORY,
            limits.engine,
        )),
        machine,
        lanes: lanes.as_mut(),
        evaluation: Evaluation::Goals,
        random: Xoshiro256PlusPlus::seed_from_u64(0),
    };
    let mut progress = Progress(context.spinner("searching"));
    let report = prove(
        &mut outlook,
        &mut TranspositionTable::new(budget.memory_bytes),
        state,
        role.index(),
        &Minimax { wanted, seed: 0 },
        &left(budget, began),
        &mut Stats::default(),
        &mut progress,
    );
    progress.0.finish_and_clear();
    Ok(report?)
}
