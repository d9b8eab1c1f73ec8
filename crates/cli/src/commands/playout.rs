//! `ggp playout`: random games.

use anyhow::{Context as _, bail};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::position::PositionOptions;
use crate::record::{Facts, Record, StateRecord, StepRecord};
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, format};
use ggp_engine::machine::{
    AnyMachine, Machine, PlayError, PlayoutOptions, playout, random_step, scores,
};
use ggp_gdl::game::Score;

/// The options of `ggp playout`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp playout tic_tac_toe.kif --seed 7
  ggp playout tic_tac_toe.kif --verbose --depth 3
  ggp playout tic_tac_toe.kif --count 1000

Playout number i of --count, counted from 0, has the seed SEED + i, so that each can be
repeated alone. Equal seeds give equal playouts.

In games with hidden information (rules with `sees`), --verbose also tells what each role sees of each
joint move. With --json, `sees` has a list of percepts for each role.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// The seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Make N playouts and print their statistics
    #[arg(long, value_name = "N", conflicts_with = "verbose")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Cut playouts off after N joint moves
    #[arg(long, value_name = "N", default_value_t = PlayoutOptions::default().depth)]
    depth: usize,
    /// Also print the facts of every state, and what roles see
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    position: PositionOptions,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are invalid, or the rules turn out to be during play.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = match options.count {
        None => options.rules.machine_for_few_states(context)?,
        Some(_) => options.rules.machine(context)?,
    };
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    match options.count {
        None => trace(options, machine, state, context),
        Some(count) => summarize(options, machine, state, count, context),
    }
}

type State = <AnyMachine as Machine>::State;

/// Maximum number of bytes of the texts of a playout that are kept for JSON.
const LARGEST: usize = 512 << 20;
/// The bytes of a text that are not its own.
const TEXT: usize = 32;

/// One playout; each step is printed as soon as it is made.
fn trace(
    options: &Options,
    mut machine: AnyMachine,
    mut state: State,
    context: &Context,
) -> anyhow::Result<Exit> {
    let facts = match options.verbose {
        true => Facts::Listed,
        false => Facts::Counted,
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    // JSON is printed at the end.
    let (mut steps, mut made, mut size) = (Vec::new(), 0, 0);
    let found = loop {
        if context.is_interrupted() {
            break Err(PlayError::Interrupted);
        }
        match machine.is_terminal(&state) {
            Ok(true) => break scores(&mut machine, &state).map(Some),
            Ok(false) if made == options.depth => break Ok(None),
            Ok(false) => {}
            Err(error) => break Err(error),
        }
        let (step, next) = match random_step(&mut machine, state.clone(), &mut random) {
            Ok(made) => made,
            Err(error) => break Err(error),
        };
        let record = StepRecord {
            state: StateRecord::new(&machine, &state, facts),
            legal: step.legal.iter().map(Vec::len).collect(),
            joint: format::joint_texts(&machine, &step.joint),
            sees: match options.verbose || context.json() {
                true => format::sees(&mut machine, &state, &step.joint)?,
                false => None,
            },
        };
        if context.json() {
            let facts = record.state.state.iter().flatten();
            let seen = record.sees.iter().flatten().flatten();
            let texts = facts
                .chain(&record.joint)
                .chain(seen)
                .map(|text| text.len() + TEXT);
            size += texts.sum::<usize>();
            if size > LARGEST {
                let most = LARGEST >> 20;
                bail!("the playout has more than {most} MB of text as JSON; set a smaller --depth");
            }
            steps.push(record);
        } else {
            let line = format::joint_line(&machine, &step.joint);
            context.print(step_text(made, &record, &line))?;
            if let Some(sees) = &record.sees {
                context.print(format::sees_line(machine.game(), sees))?;
            }
        }
        made += 1;
        state = next;
    };
    let last = StateRecord::new(&machine, &state, Facts::Listed);
    let (terminal, end) = match &found {
        Ok(Some(_)) => (true, "terminal"),
        Ok(None) => (false, "depth"),
        Err(PlayError::Interrupted) => (false, "interrupted"),
        Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
            (true, "error")
        }
        Err(_) => (false, "error"),
    };
    let goals = match terminal {
        true => Some(format::goals(&mut machine, &state)?.0),
        false => None,
    };
    if context.json() {
        context.print_json(&Record {
            seed: Some(options.seed),
            roles: format::role_names(machine.game()),
            steps,
            last,
            terminal,
            goals,
            goal_choice: format::choice_name(machine.game()),
            end,
        })?;
    } else {
        let why = match end {
            "terminal" => "the game is over",
            "depth" => "cut off, see --depth",
            "interrupted" => "interrupted",
            _ => "the rules fail",
        };
        let moves = format::counted(made, "move");
        let count = format::counted(last.facts, "fact");
        context.print(format!("end after {moves} ({why}): {count}"))?;
        let state = last.state.expect("the facts are listed");
        if !state.is_empty() {
            context.print(format::wrapped(&format::some(&state), 100))?;
        }
        for goal in goals.iter().flatten() {
            context.print(goal.text(machine.game().goal_choice()))?;
        }
    }
    found?;
    Ok(Exit::Done)
}

fn step_text(number: usize, record: &StepRecord, moves: &str) -> String {
    let facts = format::counted(record.state.facts, "fact");
    let legal: Vec<String> = record.legal.iter().map(usize::to_string).collect();
    let legal = format::some(&legal).join(", ");
    let line = format!("step {number}: {facts}; legal {legal}; {moves}");
    match &record.state.state {
        Some(state) if !state.is_empty() => {
            format!("{line}\n{}", format::wrapped(&format::some(state), 100))
        }
        _ => line,
    }
}

/// The statistics of many playouts.
#[derive(Serialize)]
struct Summary {
    roles: Vec<String>,
    seed: u64,
    /// Number of playouts.
    count: u64,
    /// Number of playouts cut off before the end of the game.
    cut: u64,
    /// By role, over the playouts that reached the end; `None` if there are none.
    scores: Vec<Option<Spread>>,
    /// Joint moves, over all playouts.
    moves: Option<Spread>,
    interrupted: bool,
}

/// Mean, minimum and maximum.
#[derive(Copy, Clone, Serialize)]
struct Spread {
    mean: f64,
    least: u64,
    most: u64,
}

/// The running totals of a series of numbers.
#[derive(Copy, Clone, Default)]
struct Numbers {
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Numbers {
    fn add(&mut self, number: u64) {
        self.least = match self.count {
            0 => number,
            _ => self.least.min(number),
        };
        self.most = self.most.max(number);
        self.sum += u128::from(number);
        self.count += 1;
    }

    fn spread(self) -> Option<Spread> {
        (self.count > 0).then(|| Spread {
            mean: self.sum as f64 / self.count as f64,
            least: self.least,
            most: self.most,
        })
    }
}

fn summarize(
    options: &Options,
    mut machine: AnyMachine,
    state: State,
    count: u64,
    context: &Context,
) -> anyhow::Result<Exit> {
    let roles = format::role_names(machine.game());
    let depth = PlayoutOptions {
        depth: options.depth,
    };
    let bar = context.bar(count, "playing");
    let mut scores = vec![Numbers::default(); roles.len()];
    let mut moves = Numbers::default();
    let mut cut = 0;
    let mut made = 0;
    while made < count && !context.is_interrupted() {
        let seed = options.seed.wrapping_add(made);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let one = match playout(&mut machine, &state, depth, &mut random) {
            Ok(one) => one,
            Err(PlayError::Interrupted) => break,
            Err(error) => {
                return Err(error).with_context(|| format!("in the playout with --seed {seed}"));
            }
        };
        moves.add(one.steps.len() as u64);
        match &one.scores {
            None => cut += 1,
            Some(all) => {
                let all = all.iter().copied().map(Score::get);
                for (numbers, score) in scores.iter_mut().zip(all) {
                    numbers.add(score.into());
                }
            }
        }
        made += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let summary = Summary {
        roles,
        seed: options.seed,
        count: made,
        cut,
        scores: scores.into_iter().map(Numbers::spread).collect(),
        moves: moves.spread(),
        interrupted: made < count,
    };
    match context.json() {
        true => context.print_json(&summary)?,
        false => context.print(summary_text(&summary))?,
    }
    if summary.interrupted {
        bail!(
            "interrupted after {made} of {}",
            format::counted(count, "playout")
        );
    }
    Ok(Exit::Done)
}

fn summary_text(summary: &Summary) -> String {
    let mut text = format!(
        "{} from seed {}",
        format::counted(summary.count as usize, "playout"),
        summary.seed
    );
    if summary.cut > 0 {
        text.push_str(&format!(", {} of them cut off", summary.cut));
    }
    let mut row = |name: &str, spread: &Option<Spread>| match spread {
        None => text.push_str(&format!("\n{name}: no playout reached the end")),
        Some(Spread { mean, least, most }) => {
            text.push_str(&format!(
                "\n{name}: mean {mean:.3}, minimum {least}, maximum {most}"
            ));
        }
    };
    row("moves", &summary.moves);
    for (role, spread) in summary.roles.iter().zip(&summary.scores) {
        row(role, spread);
    }
    text
}
