//! The findings of playing a rule set, as text and JSON.

use std::io;
use std::time::Instant;

use anyhow::bail;
use serde::Serialize;

use crate::numbers::seconds;
use crate::rule_files::RuleOptions;
use crate::{Context, format};
use ggp_gdl::diagnostic::DiagnosticRecord;
use ggp_gdl::game::Game;
use ggp_gdl::span::Sources;
use ggp_playcheck::{
    Alarm, Basis, Claim, ClaimVerdict, PlaycheckOptions, Report, Severity, playcheck_within,
};

/// The limits of playing.
#[derive(clap::Args)]
pub struct PlayOptions {
    /// Also play the game to find mistakes that show up only during play
    #[arg(long)]
    pub(super) play: bool,
    /// Number of random playouts
    #[arg(long, value_name = "N", requires = "play", default_value_t = PlaycheckOptions::default().playouts)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..), help_heading = "Play")]
    playouts: u64,
    /// Maximum number of joint moves of a playout
    #[arg(long, value_name = "N", requires = "play", default_value_t = PlaycheckOptions::default().depth)]
    #[arg(help_heading = "Play")]
    depth: usize,
    /// Examine all positions if there are at most N; 0 for never
    #[arg(long, value_name = "N", requires = "play", default_value_t = PlaycheckOptions::default().states)]
    #[arg(help_heading = "Play")]
    states: usize,
    /// The seed of the random playouts
    #[arg(
        long,
        value_name = "N",
        requires = "play",
        default_value_t = 0,
        help_heading = "Play"
    )]
    seed: u64,
    /// Maximum seconds for the whole check; reading the rules counts, but is never cut
    #[arg(long, value_name = "S", requires = "play", value_parser = seconds, default_value = "20")]
    #[arg(help_heading = "Play")]
    time: std::time::Duration,
}

/// The share of the time for building a network.
const NETWORK: f64 = 0.25;
/// Maximum number of rules shown that did not fire.
const SHOWN: usize = 12;
/// Maximum length of the moves to an example, in bytes.
const LONGEST: usize = 1_000;
/// Maximum number of claims printed.
const CLAIMS: usize = 100;

/// A report with the places of its findings.
#[derive(Serialize)]
pub struct Record {
    #[serde(flatten)]
    report: Report,
    findings: Vec<DiagnosticRecord>,
}

impl Record {
    pub(super) fn new(report: &Report, sources: &Sources) -> Self {
        let findings = report.findings.iter();
        Record {
            report: report.clone(),
            findings: findings.map(|finding| finding.to_record(sources)).collect(),
        }
    }
}

/// Plays the game and returns the report. The time counts from `began`.
pub(super) fn look(
    game: &Game,
    rules: &RuleOptions,
    options: &PlayOptions,
    began: Instant,
    context: &Context,
) -> anyhow::Result<Report> {
    let alarm = Alarm::new(context.stop().clone());
    let mut limits = rules.limits(context);
    limits.stop = alarm.bell();
    limits.ground.stop = alarm.bell();
    let of_network = options.time.mul_f64(NETWORK);
    limits.ground.time = Some(
        limits
            .ground
            .time
            .map_or(of_network, |time| time.min(of_network)),
    );
    let prepared = alarm.within(began + options.time, || {
        rules.machine_within(game, limits.clone(), context)
    });
    let Some(mut machine) = prepared? else {
        if alarm.is_raised() {
            bail!("interrupted before the rules were prepared");
        }
        bail!("the rules could not be prepared in time; give it more with --time");
    };
    let mut within = PlaycheckOptions::default();
    within.playouts = options.playouts;
    within.depth = options.depth;
    within.states = options.states;
    within.seed = options.seed;
    within.time = options.time.saturating_sub(began.elapsed());
    let spinner = context.spinner("playing");
    let report = playcheck_within(&mut machine, &limits, &alarm, &within);
    spinner.finish_and_clear();
    Ok(report?)
}

/// Prints a report.
pub(super) fn print(
    report: &Report,
    has_empty: bool,
    sources: &Sources,
    context: &Context,
) -> anyhow::Result<()> {
    let mut looked = vec![format::counted(report.playouts as usize, "playout")];
    if let Some((least, most)) = report.lengths {
        looked.push(format::counted_range(least, most, "move"));
    }
    if report.stopped > 0 {
        let longest = format::counted(report.most_moves, "move");
        let why = match report.space {
            Some(count) if report.most_moves as u64 == 2 * count => {
                ", twice the number of positions"
            }
            _ => "",
        };
        looked.push(format!("{} stopped after {longest}{why}", report.stopped));
    }
    if report.stuck > 0 {
        looked.push(format!("{} stuck without a legal move", report.stuck));
    }
    looked.push(match report.space {
        Some(1) => "the only position".to_owned(),
        Some(count) => format!("all {}", format::counted(count as usize, "position")),
        None => {
            let positions = format::counted(report.positions as usize, "position");
            format!("{positions} with repetitions")
        }
    });
    context.print(format!("play: {}", looked.join(", ")))?;
    for claim in shown(&report.claims) {
        context.print_lines(lines(claim))?;
    }
    if report.claims.len() > CLAIMS {
        let more = report.claims.len() - CLAIMS;
        context.print(format!("  {more} more; --json lists them all"))?;
    }
    if report.interrupted {
        context.print("  open    interrupted; these are the findings so far")?;
    } else if report.cut && report.watched > 0 {
        context.print(
            "  open    the time was over before everything was examined; give it more with --time",
        )?;
    }
    let repeated = if report.space.is_none() {
        " with repetitions"
    } else {
        ""
    };
    match report.findings.len() {
        // No rule could fire, or not all rules were watched.
        0 if report.space == Some(1) || report.interrupted => {}
        _ if report.watched == 0 => {
            context.print(
                "  open    which rules fire was not seen within --time, --max-facts and --max-work",
            )?;
        }
        0 => context.print(format!(
            "  seen    every rule{} fired, in {}{repeated}",
            // A rule with an empty `or` is dropped when it is read.
            if has_empty {
                " without an empty or"
            } else {
                ""
            },
            format::counted(report.watched, "position")
        ))?,
        _ => context.print("")?,
    }
    let style = context.style(&io::stdout());
    for finding in report.findings.iter().take(SHOWN) {
        context.print(finding.render(sources, style))?;
        context.print("")?;
    }
    if report.findings.len() > SHOWN {
        let more = report.findings.len() - SHOWN;
        context.print(format!(
            "{} did not fire; --json lists them all\n",
            format::counted(more, "more rule")
        ))?;
    }
    let (errors, warnings) = (
        report.count(Severity::Error),
        report.count(Severity::Warning) + report.dead_rules,
    );
    if errors + warnings > 0 {
        context.print(format!(
            "play shows {}, {}",
            format::counted(errors, "error"),
            format::counted(warnings, "warning")
        ))?;
    }
    Ok(())
}

/// The claims to print, in their order: if there are too many, rather those that do not hold.
fn shown(claims: &[Claim]) -> Vec<&Claim> {
    let mut places: Vec<usize> = (0..claims.len()).collect();
    places.sort_by_key(|&place| match claims[place].verdict {
        ClaimVerdict::Fails => 0,
        ClaimVerdict::Open => 1,
        ClaimVerdict::Holds => 2,
    });
    places.truncate(CLAIMS);
    places.sort_unstable();
    places.into_iter().map(|place| &claims[place]).collect()
}

/// A claim, its basis, and moves to an example where it fails.
fn lines(claim: &Claim) -> Vec<String> {
    let basis = match (claim.verdict, claim.severity, claim.basis) {
        (ClaimVerdict::Fails, Severity::Error, _) => "ERROR".to_owned(),
        (ClaimVerdict::Fails | ClaimVerdict::Open, Severity::Warning, _) => "warning".to_owned(),
        (ClaimVerdict::Open, ..) => "open".to_owned(),
        (_, _, Basis::Seen) => "seen".to_owned(),
        (_, _, Basis::Example) => "example".to_owned(),
        _ => "proved".to_owned(),
    };
    let mut lines = vec![format!("  {basis:7} {}", claim.text)];
    if claim.verdict == ClaimVerdict::Holds {
        return lines;
    }
    let quoted = |moves: &[String]| match moves.join("; ") {
        text if text.len() <= LONGEST => format!("--moves '{text}'"),
        _ => format!(
            "after {}; --json has them",
            format::counted(moves.len(), "joint move")
        ),
    };
    match &claim.moves {
        Some(moves) if moves.is_empty() => lines.push(format!("{:10}in the initial state", "")),
        Some(moves) => lines.push(format!("{:10}{}", "", quoted(moves))),
        None => {}
    }
    if claim.has_several_goals {
        lines.push(format!("{:10}{}", "", crate::GOALS));
    }
    if let Some(alike) = &claim.alike {
        lines.push(format!("{:10}and alike: {}", "", quoted(alike)));
    }
    if !claim.places.is_empty() {
        let rules = match claim.has_several_goals {
            true => format!("rules for these values: {}", claim.places.join(", ")),
            false => format!("by the rule at {}", claim.places.join(" or ")),
        };
        lines.push(format!("{:10}{rules}", ""));
    }
    if let Some(cycle) = &claim.cycle {
        lines.push(format!(
            "{:10}and then, repeatedly: {}",
            "",
            cycle.join("; ")
        ));
    }
    lines
}
