//! `ggp learn`: the values of positions, learned by self-play.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use serde::Serialize;

use super::solve::{self, left};
use crate::numbers::thousands;
use crate::position::PositionOptions;
use crate::rule_files::{self, RuleOptions};
use crate::{Context, Exit};
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_engine::propnet::Propnet;
use ggp_gdl::counted::counted;
use ggp_gdl::game::RoleId;
use ggp_learn::{
    Learned, Progress, Share, Trust, Values, facts_text, learn, read, trust, weight_bytes, write,
};
use ggp_search::Budget;

/// The options of `ggp learn`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp learn tic_tac_toe.kif --time 10 -o values.json
  ggp learn tic_tac_toe.kif --games 20000 --seed 7 -o values.json
  ggp learn tic_tac_toe.kif --explain values.json --moves '(mark 2 2)'

Hundreds of games are played at the same time. Every role chooses the move with the best value
after it, and the results improve the values. Facts, and groups of up to three facts, have weights
in logarithms of odds. At last, matches against a player that makes random playouts show whether
the values deserve a share in mixtures with playouts; 0 means no gain, or that the time was too
short. `ggp play`, `host`, `player` and `tournament` use the file with --values.

Equal seeds and equal numbers of games give equal files. A file fits rules whose names were
changed, in the same order. Ctrl-C ends learning early; the values learned so far are written.

With --explain, the values of a position are printed, and the facts that contribute most, or with
--groups the facts and groups of facts that have weights of their own. All contributions add up
to the value: a value of 50 is a sum of 0, and each 0.7 doubles the odds.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Learn for S seconds, reading the rules included; the last fifth is for testing
    #[arg(long, value_name = "S", default_value = "60", value_parser = crate::numbers::seconds)]
    #[arg(conflicts_with = "games")]
    time: Duration,
    /// Learn from N games instead, and those that are being played then
    #[arg(long, value_name = "N")]
    games: Option<NonZeroU64>,
    /// The seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the values to this file
    #[arg(long, short, value_name = "FILE", required_unless_present = "explain")]
    output: Option<PathBuf>,
    /// Explain the values in this file instead of learning
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "games", "time"])]
    explain: Option<PathBuf>,
    /// Show the N facts that contribute most
    #[arg(long, value_name = "N", default_value_t = 10, requires = "explain")]
    top: usize,
    /// Show the weights of facts and of groups of facts, instead of dividing groups among facts
    #[arg(long, requires = "explain")]
    groups: bool,
    #[command(flatten)]
    position: PositionOptions,
}

/// The most characters of a contribution in a line.
const FACT_TEXT: usize = 120;
/// The most bytes for weights.
const MOST_BYTES: u64 = 4 << 30;
/// The share of the time that is reserved for testing.
const TESTING: f64 = 0.2;

/// The result of learning, as `--json` prints it.
#[derive(Serialize)]
struct Summary {
    games: u64,
    positions: u64,
    groups: usize,
    loss: f64,
    trust: f32,
    implicit: f32,
}

/// The value of a position for a role, as `--json` prints it.
#[derive(Serialize)]
struct Explained {
    role: String,
    value: f32,
    facts: Vec<Contribution>,
    /// The sum of the contributions that are not listed.
    others: f32,
    /// The contribution to every position of the phase.
    base: f32,
}

/// The contribution of a fact, or of facts that hold together.
#[derive(Serialize)]
struct Contribution {
    fact: String,
    weight: f32,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules are invalid or have no network, or a file cannot be read or written.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if let Some(path) = &options.output {
        Context::can_write(path)?;
    }
    match (&options.explain, &options.output) {
        (Some(path), _) => explain(path, options, options.rules.machine(context)?, context),
        (None, Some(path)) => learn_to(path, options, context),
        (None, None) => unreachable!("one of both is required"),
    }
}

fn learn_to(path: &Path, options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let budget = Budget {
        time: options.games.is_none().then_some(options.time),
        stop: context.stop().clone(),
        ..Budget::default()
    };
    let game = solve::game(&options.rules, &budget, context)?;
    let mut machine = solve::machine(&options.rules, &game, &left(&budget, began), context)?;
    let start = machine.initial()?;
    let Some((net, _)) = machine.network(&start) else {
        bail!("values are learned on a network, and the rules have none within the limits");
    };
    if weight_bytes(net) > MOST_BYTES {
        bail!("the game has too many roles and facts: nothing is learned about it");
    }
    if game.is_hidden() {
        context.note(
            "the rules have `sees`: the values are those of positions that all roles know; players that \
             guess the position, such as mcts, use them, and ismcts does not",
        );
    }
    let engine = options.rules.limits(context).engine;
    let learning = ggp_learn::Options {
        games: options.games.map(NonZeroU64::get),
        seed: options.seed,
        engine,
        ..ggp_learn::Options::default()
    };
    let (stop, end) = match options.games {
        Some(_) => (context.stop().clone(), context.stop().clone()),
        None => {
            let time = options.time.saturating_sub(began.elapsed());
            let within = |time| context.stop().within(Some(time));
            (within(time.mul_f64(1.0 - TESTING)), within(time))
        }
    };
    let spinner = context.spinner("learning");
    let learned = learn(net, &learning, &stop, |lesson| {
        let progress = &lesson.progress;
        let games = thousands(progress.games);
        spinner.set_message(format!(
            "learning, {}, loss {:.3}",
            counted(games, "game"),
            progress.loss
        ));
    });
    spinner.set_message("testing");
    let trust = trust(net, engine, &learned.values, options.seed, &end);
    spinner.finish_and_clear();
    context.write_file(path, write(net, &learned.values, trust).as_bytes())?;
    report(&learned, trust, context)?;
    match context.is_interrupted() {
        true => bail!("interrupted; the values learned so far are written"),
        false => Ok(Exit::Done),
    }
}

fn report(learned: &Learned, trust: Trust, context: &Context) -> anyhow::Result<()> {
    let Progress {
        games,
        positions,
        loss,
        groups,
        ..
    } = learned.progress;
    let (trust, implicit) = (trust.share(), trust.implicit());
    if context.json() {
        return context.print_json(&Summary {
            games,
            positions,
            groups,
            loss,
            trust,
            implicit,
        });
    }
    context.print(format!(
        "{}, {}, {} of facts",
        counted(thousands(games), "game"),
        counted(thousands(positions), "position"),
        counted(thousands(groups as u64), "group"),
    ))?;
    context.print(match trust > 0.0 {
        true => format!(
            "share in mixtures with random playouts: {trust}; of the ends of best lines: {implicit:.2}"
        ),
        false if context.is_interrupted() => {
            "share in mixtures with random playouts: 0 (not tested)".to_owned()
        }
        false => "share in mixtures with random playouts: 0 (no gain)".to_owned(),
    })?;
    Ok(())
}

fn explain(
    path: &Path,
    options: &Options,
    mut machine: AnyMachine,
    context: &Context,
) -> anyhow::Result<Exit> {
    let text = rule_files::read_text(path, options.rules.max_bytes, context)?;
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let Some((net, state)) = machine.network(&state) else {
        bail!("values belong to a network, and no network covers this position");
    };
    let (values, _) =
        read(net, &text).map_err(|error| anyhow!("cannot use {}: {error}", path.display()))?;
    let text = if context.json() {
        usize::MAX
    } else {
        FACT_TEXT
    };
    let found = explained(net, &values, &state, options, text);
    if context.json() {
        context.print_json(&found)?;
        return Ok(Exit::Done);
    }
    for of_role in found {
        context.print(format!("{} {:.1}", of_role.role, of_role.value))?;
        let print = |weight: f32, text: &str| context.print(format!("  {weight:+.2}  {text}"));
        for Contribution { fact, weight } in &of_role.facts {
            print(*weight, fact)?;
        }
        let rest = [
            (of_role.others, "all other facts"),
            (of_role.base, "every position with the same role to move"),
        ];
        for (weight, text) in rest.iter().filter(|(weight, _)| weight.abs() >= 0.005) {
            print(*weight, text)?;
        }
    }
    Ok(Exit::Done)
}

/// The values and the contributions, each in a text of at most `text` characters.
fn explained(
    net: &Propnet,
    values: &Values,
    state: &[u64],
    options: &Options,
    text: usize,
) -> Vec<Explained> {
    let game = net.game();
    let account = match options.groups {
        true => values.features_at_work(state),
        false => values.facts_at_work(state),
    };
    let of_role = |role: RoleId| {
        let role_index = role.index();
        let weight = |share: &Share| share.weights[role_index];
        let mut shares: Vec<&Share> = account.shares.iter().collect();
        shares.sort_by(|a, b| weight(b).abs().total_cmp(&weight(a).abs()));
        let (shown, others) = shares.split_at(options.top.min(shares.len()));
        let contribution = |share: &&Share| Contribution {
            fact: facts_text(net, &share.facts, text),
            weight: weight(share),
        };
        Explained {
            role: game.role_name(role).to_owned(),
            value: account.values[role_index],
            facts: shown.iter().map(contribution).collect(),
            others: others.iter().map(|share| weight(share)).sum(),
            base: account.base[role_index],
        }
    };
    game.roles().map(of_role).collect()
}
