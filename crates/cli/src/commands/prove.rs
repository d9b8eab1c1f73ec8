//! `ggp prove`: what a position is worth, and the best moves.

mod answer;

use std::time::{Duration, Instant};

use anyhow::bail;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::legal::find_role;
use super::play::hint::Adviser;
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::numbers::seconds;
use super::solve::{self, left};
use crate::{Context, Exit};
use ggp_gdl::game::{Move, RoleId};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_play::{Brief, Evaluation, Lanes, Outlook};
use ggp_search::minimax::{Minimax, MinimaxReport, TranspositionTable, Wanted, prove};
use ggp_search::{Budget, Observer, Stats};
use answer::{Answer, Guess};

/// The options of `ggp prove`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp prove tic_tac_toe.kif --moves '(mark 1 1)'     what each answer is worth
  ggp prove nim.kif --best                           a best move, sooner
  ggp prove kalah.kif --budget-time 60 --json

Each line is a move and the score that its role gets after it, the best first; where that is
not known, the least and the most that are proved. All other roles are taken to play against
the role, and with knowledge of its move. Where two roles take turns and one gets what the
other does not, that is the value of the position; otherwise it is what the role can be sure
of, and nothing is said of the most. What a role named random does is left to chance: what is
proved holds whatever it does.

A move is `endless` if play goes on for ever after it when each side does its best: the role
cannot force an end that is worth more than the first number, nor the others one that is
worth less than the second. That is told where all positions fit into the memory.

Where a value is still open, a search by simulation says what seems best. It has a part of the
time. The exit code is 1 then, and if something is wrong with the rules.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Whose moves; by default the role that has a choice
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Only look for a best move
    #[arg(long)]
    best: bool,
    /// Most seconds, reading the rules included
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "60")]
    budget_time: Duration,
    /// Most positions to expand
    #[arg(long, value_name = "N")]
    budget_nodes: Option<u64>,
    /// Most memory for known positions, in MiB; when it is full, old ones are forgotten
    #[arg(long, value_name = "MB", default_value_t = 1_024)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    budget_memory: u64,
    #[command(flatten)]
    position: PositionOptions,
}

/// The part of the time that is left for what seems best.
const GUESS: f64 = 0.1;
const LONGEST_GUESS: Duration = Duration::from_secs(2);
/// Iterations after which a guess is good enough.
const GUESSES: u64 = 20_000;
/// Joint moves of the expected line that are shown.
const SHOWN: usize = 12;

/// Shows how deep the search is.
struct Progress(indicatif::ProgressBar);

impl Observer for Progress {
    fn tick(&mut self, stats: &Stats) {
        let positions = stats.total().expanded;
        self.0.set_message(match stats.levels.last().map_or(0, |level| level.depth) {
            0 => format!("backwards from the ends, {positions} positions"),
            depth => format!("{depth} moves ahead, {positions} positions"),
        });
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the role or the position are wrong, the game is over, or play
/// shows the rules to be wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let budget = options.budget(context);
    let game = options.rules.game(context)?;
    let mut machine = solve::machine(&options.rules, &game, &left(&budget, started), context)?;
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    if machine.is_terminal(&state)? {
        bail!("the game is over in this position");
    }
    let role = match &options.role {
        Some(name) => find_role(machine.game(), name)?,
        None => chooser(&mut machine, &state)?,
    };
    let budget = left(&budget, started);
    let report = search(options, &mut machine, &state, role, &budget, context)?;
    let guess = match report.stopped {
        Some(_) => guess(options, &mut machine, &state, role, context)?,
        None => None,
    };
    let mut answer = Answer::new(&mut machine, &state, role, &report, guess.as_ref())?;
    answer.seconds = started.elapsed().as_secs_f64();
    if context.json() {
        context.print_json(&answer)?;
    } else {
        let shown = if options.best { 1 } else { answer.moves.len() };
        let lines = answer.moves.iter().take(shown);
        context.print_lines(lines.map(ToString::to_string))?;
        for note in answer.notes() {
            context.note(note);
        }
    }
    Ok(match answer.proved && answer.fault.is_none() {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

/// What a program that plays thinks of the moves, if it comes to think of anything, and
/// how it would play on.
fn guess(
    options: &Options,
    machine: &mut AnyMachine,
    state: &PropnetState,
    role: RoleId,
    context: &Context,
) -> Result<Option<Guess>, PlayError> {
    let brief = Brief {
        start: Some(machine.facts(state)),
        limits: options.rules.limits(context),
        memory_bytes: options.budget_memory.saturating_mul(1 << 20),
        ..Brief::new(machine.game(), role)
    };
    let mut adviser = Adviser::new(brief);
    let nodes = options.budget_nodes.unwrap_or(GUESSES).min(GUESSES);
    let Some(advice) = adviser.think(role, &[], guess_time(options), nodes) else {
        return Ok(None);
    };
    let mut line = Vec::new();
    let chosen = (role, advice.chosen);
    adviser.ahead(machine, state.clone(), chosen, &mut line)?;
    Ok(Some(Guess { advice, line }))
}

fn guess_time(options: &Options) -> Duration {
    options.budget_time.mul_f64(GUESS).min(LONGEST_GUESS)
}

/// The only role with a choice, or the first if nobody has one.
fn chooser(machine: &mut AnyMachine, state: &PropnetState) -> anyhow::Result<RoleId> {
    let game = machine.game().clone();
    let mut choosers = Vec::new();
    let mut legal = Vec::new();
    for role in game.roles() {
        machine.legal(state, role, &mut legal)?;
        if legal.len() > 1 {
            choosers.push(role);
        }
    }
    match choosers[..] {
        [] => Ok(game.roles().next().expect("a game has roles")),
        [only] => Ok(only),
        _ => {
            let names: Vec<&str> = choosers.iter().map(|role| game.role_name(*role)).collect();
            bail!("say with --role whose moves: {} choose", names.join(" and "));
        }
    }
}

impl Options {
    /// What reading the rules and searching may take together.
    fn budget(&self, context: &Context) -> Budget {
        Budget {
            nodes: self.budget_nodes.unwrap_or(u64::MAX),
            time: Some(self.budget_time - guess_time(self)),
            stop: context.stop().clone(),
            // A half for looking ahead, a half for going backwards.
            memory_bytes: self.budget_memory.saturating_mul(1 << 20) / 2,
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
    let wanted = match options.best {
        true => Wanted::Best,
        false => Wanted::All,
    };
    let mut lanes = Lanes::new(machine, &options.rules.limits(context));
    let mut outlook = Outlook {
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
        budget,
        &mut Stats::default(),
        &mut progress,
    );
    progress.0.finish_and_clear();
    Ok(report?)
}
