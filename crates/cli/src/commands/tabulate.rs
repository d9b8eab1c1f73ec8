//! `ggp tabulate`: the values of all positions of a game.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use serde::Serialize;

use super::solve::{self, left};
use crate::numbers::{seconds, thousands};
use crate::processes::{self, Member, Sharing, Watch};
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, format};
use ggp_engine::machine::Machine;
use ggp_gdl::game::Game;
use ggp_search::Budget;
use ggp_solver::table::{Progress, TableValue, TabulateError, TabulateLimits, tabulate};

/// The options of `ggp tabulate`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp tabulate connect_four_small.kif -o values.table
  ggp prove connect_four_small.kif --table values.table --moves '(drop 1)'
  ggp verify connect_four_small.kif values.table

All positions are found, and then valued backwards from the ends: for each role, the score that it
can force against all others, who know its moves, and the score that the others can force it down
to. Both are the same, unless positions repeat and play is endless, or chance decides, which is a
role named random: the first score holds for all its outcomes, the second for its best ones. Then
the file has expected scores, too, in games of one player and of two with a constant sum that take
turns. Where
the others do not know the role's move, it may get more: the second score is null in JSON. In games
of one role, and of two with a constant sum that take turns, the file also has the number of joint
moves to the end: a role that gets its lowest score delays it, all others hasten it.

The game must have a network, and all positions must fit into the memory; the more positions, the
larger the file. `ggp prove --table` reads it.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Write the values to this file
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Number of threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    #[command(flatten, next_help_heading = "Several processes")]
    processes: Sharing,
    /// Time limit in seconds, including the time to read the rules
    #[arg(long, value_name = "S", value_parser = seconds, help_heading = "Limits")]
    budget_time: Option<Duration>,
    /// Maximum number of positions
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000_000,
        help_heading = "Limits"
    )]
    budget_nodes: u64,
    /// Maximum memory for positions, in MB
    #[arg(
        long,
        value_name = "MB",
        default_value_t = 4_096,
        help_heading = "Limits"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    budget_memory: u64,
}

/// The result, as `--json` prints it.
#[derive(Serialize)]
struct Summary {
    positions: u64,
    joint_moves: u64,
    bytes: u64,
    seconds: f64,
    /// The values of the first position.
    first: Vec<First>,
    /// The number of joint moves from the first position to the end.
    distance: Option<u16>,
}

/// The value of the first position for a role.
#[derive(Serialize)]
struct First {
    role: String,
    least: u8,
    /// `null` if no bound is proved.
    most: Option<u8>,
    /// The expected score, where chance decides and it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f32>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules are invalid, have a fault or no network, a limit is reached, or the file cannot be written.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let started = Instant::now();
    options.processes.refuse_stdin(options.rules.uses_stdin())?;
    let member = options.processes.member()?;
    let is_first = member.as_ref().is_none_or(Member::is_first);
    match &member {
        Some(member) => member.follow(context),
        None if options.processes.are_several() => {
            let work = Watch {
                checkpoint: None,
                prepare: &|has_first| match has_first {
                    true => Context::can_write(&options.output),
                    false => Ok(()),
                },
                advice: ", so there are no values",
                elsewhere: "all positions are valued; process 0 has the file",
            };
            return processes::run(&options.processes, &work, context);
        }
        None => Context::can_write(&options.output)?,
    }
    let budget = Budget {
        memory_bytes: options.budget_memory.saturating_mul(1 << 20),
        time: options.budget_time,
        stop: context.stop().clone(),
        ..Budget::default()
    };
    let budget = member
        .as_ref()
        .map_or_else(|| budget.clone(), |member| member.share(&budget));
    let game = solve::game(&options.rules, &budget, context)?;
    let mut of_machine = options.rules.limits(context);
    of_machine.stop = solve::evaluation(&left(&budget, started), context);
    if super::prove::hides(&game, of_machine, context)? {
        let roles = game.roles().filter(|role| !game.is_random(*role));
        let alone = match roles.count() {
            1 => "`ggp prove` proves the value of a role against chance, and ",
            _ => "",
        };
        bail!(
            "the rules have `sees`: a table has the values of positions that all roles know; \
             {alone}`ggp export --efg` writes the tree for solvers of such games"
        );
    }
    let mut machine = solve::machine(&options.rules, &game, &left(&budget, started), context)?;
    let start = machine.initial()?;
    let Some((net, _)) = machine.network(&start) else {
        bail!(
            "positions are valued on a network, and the rules have none within the limits; see \
             --budget-time, --ground-time and --backend"
        );
    };
    let limits = TabulateLimits {
        positions: options.budget_nodes,
        memory_bytes: budget.memory_bytes,
        threads: options.threads.into(),
        processes: member.as_ref().map(Member::processes),
        stop: left(&budget, started).end(),
    };
    let spinner = context.spinner("finding positions");
    let made = tabulate(net, &limits, &mut |progress| {
        spinner.set_message(match progress {
            Progress::Found(positions) => {
                format!(
                    "{} found",
                    format::counted(thousands(positions), "position")
                )
            }
            Progress::Valued(positions) => {
                format!(
                    "{} valued",
                    format::counted(thousands(positions), "position")
                )
            }
        });
    });
    spinner.finish_and_clear();
    let leave_if_lost = |error: &TabulateError| {
        if let (Some(member), TabulateError::Processes(error)) = (&member, error) {
            member.leave_if_lost(error);
        }
    };
    let mut made = made.map_err(|error| {
        leave_if_lost(&error);
        explain(&error, &game, options, context)
    })?;
    let for_means = Budget {
        nodes: options.budget_nodes,
        ..left(&budget, started)
    };
    let means = made.find_means(&mut machine.clone(), &for_means)?;
    let mut write = |file: &mut dyn Write| made.write(net, file);
    let written = match is_first {
        true => context.write_file_by(&options.output, &mut write),
        false => write(&mut io::sink()).map_err(anyhow::Error::from),
    };
    if let Err(error) = written {
        let cause = |cause: &(dyn std::error::Error + 'static)| {
            let inner = cause.downcast_ref::<io::Error>()?.get_ref()?;
            inner.downcast_ref::<TabulateError>().map(|error| {
                leave_if_lost(error);
                explain(error, &game, options, context)
            })
        };
        return Err(error.chain().find_map(cause).unwrap_or(error));
    }
    if !is_first {
        return Ok(Exit::Done);
    }
    let TableValue {
        scores, distance, ..
    } = made.first();
    let players = game
        .roles()
        .filter(|role| !game.is_random(*role))
        .zip(scores.into_iter().zip(made.upper_bounds()));
    let mut means = means.unwrap_or_default().into_iter();
    let summary = Summary {
        positions: made.len(),
        joint_moves: made.joint_moves(),
        bytes: std::fs::metadata(&options.output).map_or(0, |known| known.len()),
        seconds: started.elapsed().as_secs_f64(),
        first: players
            .map(|(role, ([least, _], most))| First {
                role: game.role_name(role).to_owned(),
                least,
                most,
                mean: means.next().filter(|mean| !mean.is_nan()),
            })
            .collect(),
        distance,
    };
    if context.json() {
        context.print_json(&summary)?;
        return Ok(Exit::Done);
    }
    let has_chance = game.roles().any(|role| game.is_random(role));
    for First {
        role,
        least,
        most,
        mean,
    } in &summary.first
    {
        let value = value_text(*least, *most, *mean, has_chance);
        context.print(format!("{role} {value}"))?;
    }
    if let Some(distance) = summary.distance {
        let moves = format::counted(distance, "joint move");
        context.print(format!("the end after {moves}"))?;
    }
    context.note(format_args!(
        "positions: {}, joint moves: {}, {} kB, {:.2} s",
        thousands(summary.positions),
        thousands(summary.joint_moves),
        thousands(summary.bytes.div_ceil(1000)),
        summary.seconds,
    ));
    Ok(Exit::Done)
}

/// A value as text.
pub(super) fn value_text(
    least: u8,
    most: Option<u8>,
    mean: Option<f32>,
    has_chance: bool,
) -> String {
    let mean = mean.map_or(String::new(), |mean| format!("{mean:.4} on average, "));
    match most {
        None => format!("at least {least}"),
        Some(most) if least == most => least.to_string(),
        Some(most) if has_chance => format!("{mean}at least {least}, at most {most}"),
        Some(most) => format!("endless, {least} to {most}"),
    }
}

/// The reason why there are no values, and what to do.
fn explain(
    error: &TabulateError,
    game: &Game,
    options: &Options,
    context: &Context,
) -> anyhow::Error {
    let name = |role: usize| {
        let role = game.roles().nth(role);
        role.map_or("a role", |role| game.role_name(role))
    };
    match *error {
        TabulateError::Stopped if context.is_interrupted() => {
            anyhow!("interrupted; nothing is written")
        }
        TabulateError::Stopped if options.budget_time.is_none() => {
            anyhow!("another process was stopped; nothing is written")
        }
        TabulateError::Stopped => anyhow!("{error}: the time is over; see --budget-time"),
        TabulateError::TooMany(_) => anyhow!("{error}; see --budget-nodes"),
        TabulateError::TooLarge(_) => anyhow!("{error}; see --budget-memory"),
        TabulateError::NoMove { role } => anyhow!(
            "{} has no legal move in some position; `ggp check --play` shows where",
            name(role)
        ),
        TabulateError::NoScore { role } => anyhow!(
            "{} has no score, or several, at some end; `ggp check --play` shows where",
            name(role)
        ),
        _ => anyhow!("{error}"),
    }
}
