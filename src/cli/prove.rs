//! `ggp prove`: what a position is worth, and the best moves.

use std::cmp::Reverse;
use std::time::Duration;

use anyhow::bail;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::legal::find_role;
use super::position::PositionOptions;
use super::rules::RuleOptions;
use super::solve::seconds;
use super::{Context, Exit, show};
use crate::game::{Move, RoleId};
use crate::machine::{AnyMachine, Machine, PropnetState};
use crate::play::{Evaluation, Lanes, Outlook};
use crate::search::minimax::{Minimax, MinimaxReport, Table, Wanted, minimax};
use crate::search::{Budget, BudgetKind, Observer, Stats};

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
of, and nothing is said of the most.

The exit code is 1 if the value of the position, or of a move, is still open.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Whose moves; by default the role that has a choice
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Only look for a best move
    #[arg(long)]
    best: bool,
    /// Most seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    budget_time: Option<Duration>,
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

#[derive(Serialize)]
struct Answer {
    role: String,
    /// Whether the least is the most that the role can be sure of.
    proved: bool,
    least: u8,
    most: u8,
    moves: Vec<MoveAnswer>,
    /// Joint moves looked ahead in full.
    depth: u32,
    positions: u64,
    seconds: f64,
    ran_out: Option<&'static str>,
}

#[derive(Serialize)]
struct MoveAnswer {
    #[serde(rename = "move")]
    action: String,
    least: u8,
    most: u8,
}

/// Shows how deep the search is.
struct Progress(indicatif::ProgressBar);

impl Observer for Progress {
    fn tick(&mut self, stats: &Stats) {
        let depth = stats.levels.last().map_or(0, |level| level.depth);
        let positions = stats.total().expanded;
        self.0
            .set_message(format!("{depth} moves ahead, {positions} positions"));
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the role or the position are wrong, the game is over, or play
/// shows the rules to be wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine(context)?;
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
    let mut stats = Stats::default();
    let mut report = search(options, &mut machine, &state, role, &mut stats, context)?;
    if !options.best {
        // Moves of the same worth stand in the order of the rules.
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal)?;
        let place = |action| legal.iter().position(|other| *other == action);
        (report.moves).sort_by_key(|found| (Reverse(found.bounds), place(found.action)));
    }
    let (least, most) = report.bounds();
    let text = |found: &Move| show::move_text(&machine, *found);
    let answer = Answer {
        role: machine.game().role_name(role).to_owned(),
        proved: report.stopped.is_none(),
        least,
        most,
        moves: (report.moves.iter())
            .map(|found| MoveAnswer {
                action: text(&found.action),
                least: found.bounds.0,
                most: found.bounds.1,
            })
            .collect(),
        depth: report.depth,
        positions: report.positions,
        seconds: stats.elapsed.as_secs_f64(),
        ran_out: report.stopped.map(what),
    };
    if context.json() {
        context.print_json(&answer)?;
    } else {
        let shown = if options.best { 1 } else { answer.moves.len() };
        let lines = answer.moves.iter().take(shown);
        context.print_lines(lines.map(|m| format!("{} {}", m.action, range(m.least, m.most))))?;
        context.note(summary(&answer));
    }
    Ok(match answer.proved {
        true => Exit::Done,
        false => Exit::Negative,
    })
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

fn search(
    options: &Options,
    machine: &mut AnyMachine,
    state: &PropnetState,
    role: RoleId,
    stats: &mut Stats,
    context: &Context,
) -> anyhow::Result<MinimaxReport<Move>> {
    let memory_bytes = options.budget_memory.saturating_mul(1 << 20);
    let budget = Budget {
        nodes: options.budget_nodes.unwrap_or(u64::MAX),
        time: options.budget_time,
        interrupt: Some(context.interrupt().clone()),
        memory_bytes,
        ..Budget::default()
    };
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
    let report = minimax(
        &mut outlook,
        &mut Table::new(memory_bytes),
        state,
        role.index(),
        &Minimax { wanted, seed: 0 },
        &budget,
        stats,
        &mut progress,
        &mut |_| (),
    );
    progress.0.finish_and_clear();
    Ok(report?)
}

fn what(kind: BudgetKind) -> &'static str {
    match kind {
        BudgetKind::Nodes => "positions",
        BudgetKind::Time => "time",
        BudgetKind::Interrupt => "interrupted",
        _ => "other",
    }
}

/// The scores from the least to the most.
fn range(least: u8, most: u8) -> String {
    match (least, most) {
        _ if least == most => least.to_string(),
        (_, 100) => format!("at least {least}"),
        (0, _) => format!("at most {most}"),
        _ => format!("{least} to {most}"),
    }
}

fn summary(answer: &Answer) -> String {
    let Answer {
        role,
        depth,
        positions,
        seconds,
        ..
    } = answer;
    let worth = range(answer.least, answer.most);
    let cost = format!("{depth} moves ahead, {positions} positions, {seconds:.2} s");
    match answer.ran_out {
        None => format!("{role} gets {worth}: proved, {cost}"),
        Some(what) => format!("{role} gets {worth}: no more is proved ({what}), {cost}"),
    }
}
