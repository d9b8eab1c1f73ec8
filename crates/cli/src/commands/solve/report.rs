//! The output of `ggp solve`.

use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::{Goal, Options, StatsFormat, texts};
use crate::{Context, format};
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_gdl::analysis::{Finding, findings};
use ggp_gdl::counted::counted;
use ggp_gdl::game::Score;
use ggp_search::{BudgetKind, Compare, Counts, Coverage, LevelStats, Stats, Verdict};
use ggp_solver::solve::{Answer, Checker, Counted, SolveOptions, budget_name};
use ggp_verify::Proof;

/// An answer as `--json` prints it.
#[derive(Serialize)]
struct Record {
    game: String,
    verdict: &'static str,
    /// No plan has at most this length.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_plan_within: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_out: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal: Option<bool>,
    /// Whether these are all the shortest plans: `all`, `capped` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<&'static str>,
    plans: Vec<Vec<String>>,
    /// The least score that counts as solved.
    target: u8,
    /// The score where the rules give several goal values: `highest` or `lowest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    goals: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<BestRecord>,
    /// An upper bound of the score of all ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u8>,
    /// The proof that there is no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    method: String,
    checked_by: Checker,
    /// With `--method breadth-first-packed`: whether all positions were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    all_seen: Option<bool>,
    /// The number of symmetries, if symmetric positions count as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetries: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    findings: Vec<Finding>,
    statistics: StatsRecord,
}

#[derive(Serialize)]
struct BestRecord {
    score: u8,
    plan: Vec<String>,
}

/// Statistics as JSON.
#[derive(Serialize)]
pub(super) struct StatsRecord {
    levels: Vec<LevelRecord>,
    total: CountsRecord,
    peak_entries: u64,
    peak_bytes: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct LevelRecord {
    depth: u32,
    compared: &'static str,
    #[serde(flatten)]
    counts: CountsRecord,
    frontier: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct CountsRecord {
    nodes: u64,
    arcs: u64,
    generated: u64,
    pruned_cycles: u64,
    pruned_dead_leaves: u64,
    solutions: u64,
}

impl From<&Counts> for CountsRecord {
    fn from(counts: &Counts) -> Self {
        CountsRecord {
            nodes: counts.expanded,
            arcs: counts.arcs,
            generated: counts.generated,
            pruned_cycles: counts.cycles,
            pruned_dead_leaves: counts.dead_leaves,
            solutions: counts.solutions,
        }
    }
}

impl StatsRecord {
    fn new(stats: &Stats, answer: &Answer) -> Self {
        let level = |level: &LevelStats| LevelRecord {
            depth: level.depth,
            compared: compared(level.compare, answer),
            counts: (&level.counts).into(),
            frontier: level.frontier,
            seconds: level.elapsed.as_secs_f64(),
        };
        StatsRecord {
            levels: stats.levels.iter().map(level).collect(),
            total: (&stats.total()).into(),
            peak_entries: stats.peak_entries,
            peak_bytes: stats.peak_bytes,
            seconds: stats.elapsed.as_secs_f64(),
        }
    }
}

/// The part of a position that a table compared.
fn compared(compare: Compare, answer: &Answer) -> &'static str {
    let is_up_to_symmetry = answer.seen.is_some_and(|seen| seen.symmetries > 1);
    match (compare, answer.stripped) {
        (Compare::Key, _) if is_up_to_symmetry => "symmetric",
        (Compare::State, _) | (Compare::Key, 0) => "whole",
        (Compare::Key, _) => "stripped",
    }
}

/// The verdict as a word of a file format.
pub fn verdict_name<A>(verdict: &Verdict<A>) -> &'static str {
    match verdict {
        Verdict::Solved { .. } => "solved",
        Verdict::Unsolvable => "unsolvable",
        Verdict::NoSolutionWithin(_) => "no_solution_within",
        Verdict::OutOfBudget { .. } => "out_of_budget",
    }
}

/// The verdict in one line.
pub(super) fn verdict_text(answer: &Answer) -> String {
    match &answer.verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => {
            let moves = plans.first().map_or(0, Vec::len);
            let points = match answer.target.get() {
                100 => String::new(),
                most if answer.bound == Some(answer.target) => {
                    let most = counted(most, "point");
                    format!("with {most}, the highest possible score, ")
                }
                least => format!("with {} or more ", counted(least, "point")),
            };
            let length = match (optimal, moves) {
                (true, 0) => format!("{points}at the start"),
                (true, moves) => format!("{points}in {}, and not in fewer", counted(moves, "move")),
                (false, moves) => {
                    format!(
                        "{points}in {}; a shorter plan may exist",
                        counted(moves, "move")
                    )
                }
            };
            let count = match (plans.len(), coverage) {
                (1, Coverage::Capped) => "; the first of more plans".to_owned(),
                (count, Coverage::Capped) => format!("; the first {count} of more plans"),
                (1, Coverage::All) => "; the only shortest plan".to_owned(),
                (count, Coverage::All) => format!("; all {count} shortest plans"),
                (_, Coverage::Unknown) => String::new(),
            };
            // Of several plans, at most the first is known to have the least length.
            format!("solved {length}{count}")
        }
        Verdict::Unsolvable => format!(
            "unsolvable: no sequence of moves ends with {}",
            score_text(answer.target)
        ),
        Verdict::NoSolutionWithin(depth) => {
            let moves = counted(depth, "move");
            format!("no solution within {moves}; longer plans were not looked for")
        }
        Verdict::OutOfBudget {
            depth_completed,
            what,
        } => {
            let proved = match depth_completed {
                Some(depth) => format!("; no plan has {} or fewer", counted(depth, "move")),
                None => String::new(),
            };
            format!("not solved: {}{proved}", ran_out(*what))
        }
    }
}

fn score_text(target: Score) -> String {
    match target.get() {
        100 => "100 points".to_owned(),
        least => format!("{} or more", counted(least, "point")),
    }
}

pub(super) fn ran_out(what: BudgetKind) -> &'static str {
    match what {
        BudgetKind::Nodes => "the limit on positions was reached",
        BudgetKind::Memory => "the memory limit was reached",
        BudgetKind::Disk => "the limit on disk space was reached",
        BudgetKind::Time => "the time limit was reached",
        BudgetKind::Interrupt => "interrupted",
        BudgetKind::Method => "the method does not apply, or gave up",
        BudgetKind::Iterations => "the limit on playouts was reached",
    }
}

/// Prints an answer, and the statistics if they are requested.
pub(super) fn print(
    machine: &AnyMachine,
    how: &SolveOptions,
    answer: &Answer,
    stats: &Stats,
    options: &Options,
    context: &Context,
) -> anyhow::Result<()> {
    if let Some(path) = &options.stats_file {
        let format = options.stats.unwrap_or(StatsFormat::Csv);
        context.write_file(path, statistics(stats, answer, format).as_bytes())?;
    }
    if context.json() {
        return context.print_json(&record(machine, answer, stats));
    }
    if let Some(fault) = &answer.fault {
        context.note(format_args!(
            "note: the rules have a fault, and states with a fault count as lost: {fault}"
        ));
    }
    context.note(format_args!("method: {}", answer.chosen));
    let is_solved = matches!(answer.verdict, Verdict::Solved { .. });
    let mut lines = Vec::new();
    if let Verdict::Solved { plans, .. } = &answer.verdict {
        // Standard output has only the plans; the verdict is a note.
        context.note(verdict_text(answer));
        for plan in plans.iter().filter(|plan| !plan.is_empty()) {
            lines.push(texts(machine, plan).join(" "));
        }
    }
    if !is_solved {
        lines.push(match (options.search.goal, &answer.verdict) {
            (Goal::Best, Verdict::Unsolvable) => {
                "no end with a score above 0 can be reached".to_owned()
            }
            _ => verdict_text(answer),
        });
    }
    if let Some(best) = &answer.best {
        let points = counted(best.score, "point");
        if best.plan.is_empty() {
            lines.push(format!("best end found: {points}, without a move"));
        } else {
            lines.push(format!("best end found: {points}, with the plan"));
            lines.push(texts(machine, &best.plan).join(" "));
        }
    }
    if let Some(bound) = answer.bound.filter(|bound| !is_solved && bound.get() > 0) {
        lines.push(format!("no end has more than {}", counted(bound, "point")));
    }
    if answer.checked == Checker::Datalog && how.checker == Checker::Naive {
        context.note("note: checking the plan with the naive evaluator would take too long");
    }
    if let (Some(format), None) = (options.stats, &options.stats_file) {
        lines.push(String::new());
        lines.push(statistics(stats, answer, format).trim_end().to_owned());
    }
    Ok(context.print_lines(lines)?)
}

/// The longest time for looking for counters.
const ANALYSIS: Duration = Duration::from_millis(200);

fn record(machine: &AnyMachine, answer: &Answer, stats: &Stats) -> Record {
    let mut record = Record {
        game: machine.game().name(),
        verdict: verdict_name(&answer.verdict),
        no_plan_within: None,
        ran_out: None,
        length: None,
        optimal: None,
        coverage: None,
        plans: Vec::new(),
        best: answer.best.as_ref().map(|best| BestRecord {
            score: best.score.get(),
            plan: texts(machine, &best.plan),
        }),
        target: answer.target.get(),
        goals: format::choice_name(machine.game()),
        bound: answer.bound.map(|bound| bound.get()),
        proof: ggp_solver::solve::proof(answer),
        method: answer.chosen.clone(),
        checked_by: answer.checked,
        all_seen: answer.seen.map(|seen| seen.is_all),
        symmetries: answer
            .seen
            .map(|seen| seen.symmetries)
            .filter(|&count| count > 1),
        fault: answer.fault.as_ref().map(ToString::to_string),
        findings: findings(machine.game(), &machine.stop().within_work(Some(ANALYSIS))),
        statistics: StatsRecord::new(stats, answer),
    };
    match &answer.verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => {
            record.length = plans.first().map(Vec::len);
            record.optimal = Some(*optimal);
            record.coverage = Some(match coverage {
                Coverage::All => "all",
                Coverage::Capped => "capped",
                Coverage::Unknown => "unknown",
            });
            record.plans = plans.iter().map(|plan| texts(machine, plan)).collect();
        }
        Verdict::Unsolvable => {}
        Verdict::NoSolutionWithin(depth) => record.no_plan_within = Some(*depth),
        Verdict::OutOfBudget {
            depth_completed,
            what,
        } => {
            record.no_plan_within = *depth_completed;
            record.ran_out = Some(budget_name(*what));
        }
    }
    record
}

const COLUMNS: [&str; 10] = [
    "depth",
    "compared",
    "nodes",
    "arcs",
    "generated",
    "pruned_cycles",
    "pruned_dead_leaves",
    "solutions",
    "frontier",
    "seconds",
];

fn cells(level: &LevelStats, answer: &Answer) -> [String; 10] {
    let counts = &level.counts;
    [
        level.depth.to_string(),
        compared(level.compare, answer).to_owned(),
        counts.expanded.to_string(),
        counts.arcs.to_string(),
        counts.generated.to_string(),
        counts.cycles.to_string(),
        counts.dead_leaves.to_string(),
        counts.solutions.to_string(),
        level.frontier.to_string(),
        format!("{:.3}", level.elapsed.as_secs_f64()),
    ]
}

/// The statistics in a format.
fn statistics(stats: &Stats, answer: &Answer, format: StatsFormat) -> String {
    match format {
        StatsFormat::Json => {
            let text = serde_json::to_string(&StatsRecord::new(stats, answer));
            text.expect("numbers are JSON") + "\n"
        }
        StatsFormat::Csv => {
            let mut text = COLUMNS.join(",") + "\n";
            for level in &stats.levels {
                let line = cells(level, answer).join(",");
                writeln!(text, "{line}").expect("writing to a string does not fail");
            }
            text
        }
        StatsFormat::Table => {
            let mut table = Table::new();
            table.load_style(presets::NOTHING);
            table.set_content_arrangement(ContentArrangement::Disabled);
            table.set_header(COLUMNS.map(|name| name.replace('_', " ")));
            for level in &stats.levels {
                table.add_row(cells(level, answer));
            }
            let total = LevelStats {
                depth: 0,
                compare: Compare::Key,
                counts: stats.total(),
                frontier: 0,
                elapsed: stats.elapsed,
            };
            let mut last = cells(&total, answer);
            last[0] = "total".to_owned();
            last[1].clear();
            last[8].clear();
            table.add_row(last);
            for column in table.column_iter_mut() {
                column.set_cell_alignment(CellAlignment::Right);
            }
            let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
            lines.collect()
        }
    }
}

/// Prints the number of solutions and the plans.
pub(super) fn print_count(
    machine: &AnyMachine,
    counted: &Counted,
    target: Score,
    context: &Context,
) -> anyhow::Result<()> {
    let count = counted.plans.len();
    let plans: Vec<Vec<String>> = (counted.plans.iter())
        .map(|plan| texts(machine, plan))
        .collect();
    if context.json() {
        let mut record = serde_json::json!({
            "game": machine.game().name(),
            "verdict": match (count, counted.is_all) {
                (0, true) => "unsolvable",
                (0, false) => "out_of_budget",
                _ => "solved",
            },
            "solutions": count,
            "complete": counted.is_all,
            "plans": plans,
            "target": target.get(),
            "checked_by": counted.checked,
        });
        if let Some(choice) = format::choice_name(machine.game()) {
            record["goals"] = choice.into();
        }
        return context.print_json(&record);
    }
    let number = ggp_gdl::counted::counted(count, "solution");
    context.note(match counted.is_all {
        true => format!("exactly {number}"),
        false if count == 0 => {
            "nothing was counted: counting is for games that write each fact once".to_owned()
        }
        false => format!("{number}; there may be more"),
    });
    let lines = plans.iter().filter(|plan| !plan.is_empty());
    Ok(context.print_lines(lines.map(|plan| plan.join(" ")))?)
}
