//! `ggp info`: the parts of a rule set, and the findings of analyses.

use std::collections::BTreeSet;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::Value;

use crate::rule_files::RuleOptions;
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Evaluation, Limits, Machine, PlayError};
use ggp_gdl::analysis;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::reach::dependents;
use ggp_gdl::program::strata::stratify;

/// The options of `ggp info`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp info tic_tac_toe.kif
  ggp info tic_tac_toe.kif --relations
  ggp info tic_tac_toe.kif --json | jq .initial")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Also print a table of all relations
    #[arg(long)]
    relations: bool,
}

/// One finding of an analysis.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The subject, in a word or two.
    pub title: &'static str,
    /// The finding, in a line.
    pub text: String,
    /// The finding as JSON.
    pub value: Value,
}

/// The dependence of a relation's facts.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Depends {
    /// The facts do not change: each holds in every state or in none.
    Nothing,
    /// The facts depend on the state.
    State,
    /// The facts depend on the moves made in it.
    Moves,
}

#[derive(Serialize)]
struct Relation {
    name: String,
    arity: usize,
    facts: usize,
    rules: usize,
    depends_on: Depends,
}

#[derive(Serialize)]
struct Report {
    name: String,
    files: Vec<String>,
    roles: Vec<String>,
    /// Whether a role may not know the position in some match; `null` if that was not found out.
    hidden_information: Option<bool>,
    /// Whether the rules have `sees`.
    percepts: bool,
    facts: usize,
    rules: usize,
    rule_groups: usize,
    recursive_groups: usize,
    names: usize,
    terms: usize,
    relations: Vec<Relation>,
    initial: Initial,
    evaluation: &'static str,
    findings: Vec<Finding>,
    /// Whether the analyses ended in time.
    all_findings: bool,
}

#[derive(Serialize)]
struct Initial {
    facts: usize,
    terminal: bool,
    /// One entry for each role; `None` if the game is over or a role cannot move.
    legal: Option<Vec<usize>>,
    /// The reason why a role has no legal move.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules are invalid.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine_for_few_states(context)?;
    let game = machine.game().clone();
    let spinner = context.spinner("reading the rules");
    let limits = options.rules.limits(context);
    let report = context.preparing(|| report(&game, &mut machine, limits));
    spinner.finish_and_clear();
    let report = report?;
    if context.json() {
        context.print_json(&report)?;
        return Ok(Exit::Done);
    }
    context.print(summary(&report))?;
    if options.relations {
        context.print(relation_table(&report.relations))?;
    }
    Ok(Exit::Done)
}

/// The CPU time to look for counters.
const ANALYSIS: Duration = Duration::from_millis(250);
/// The CPU time to find out whether nothing is hidden.
const OPENNESS: Duration = Duration::from_millis(250);

fn report(game: &Game, machine: &mut AnyMachine, mut of_world: Limits) -> anyhow::Result<Report> {
    let groups = stratify(game.rules(), game.terms()).expect("a game is stratified");
    let files = game.sources().files();
    let mut findings = Vec::new();
    let stop = machine.stop().within_work(Some(ANALYSIS));
    for finding in analysis::findings(game, &stop) {
        findings.push(Finding {
            title: "found",
            text: finding.to_string(),
            value: serde_json::to_value(&finding)?,
        });
    }
    let all_findings = !stop.is_over();
    of_world.stop = of_world.stop.within_work(Some(OPENNESS));
    Ok(Report {
        name: game.name(),
        files: files.iter().map(|file| file.name().to_owned()).collect(),
        roles: format::role_names(game),
        // Faults of the rules are reported elsewhere.
        hidden_information: super::prove::openness(game, of_world)
            .unwrap_or(None)
            .map(|open| !open),
        percepts: game.is_hidden(),
        facts: game.rules().facts.len(),
        rules: game.rules().rules.len(),
        rule_groups: groups.len(),
        recursive_groups: groups.iter().filter(|group| group.recursive).count(),
        names: names(game),
        terms: game.terms().len(),
        relations: relations(game),
        initial: initial(machine)?,
        evaluation: match machine {
            AnyMachine::Propnet(machine) => match machine.evaluation() {
                Evaluation::MachineCode => "machine code of the network",
                Evaluation::Interpreter => "interpreter of the network",
                Evaluation::Changes => "changes of the network",
            },
            AnyMachine::Mixed(_) => "datalog for goals, a network for the rest",
            AnyMachine::Datalog(_) => "datalog",
            AnyMachine::Naive(_) => "naive",
        },
        findings,
        all_findings,
    })
}

fn initial(machine: &mut AnyMachine) -> Result<Initial, PlayError> {
    let state = machine.initial()?;
    let terminal = machine.is_terminal(&state)?;
    let (mut legal, mut fault) = (Some(Vec::new()), None);
    let roles = machine.game().roles();
    let mut moves = Vec::new();
    for role in roles {
        match machine.legal(&state, role, &mut moves) {
            Ok(()) => legal.iter_mut().for_each(|counts| counts.push(moves.len())),
            Err(error @ PlayError::NoLegalMove(_)) => {
                fault.get_or_insert(error.summary());
                legal = None;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Initial {
        facts: machine.facts(&state).len(),
        terminal,
        legal: legal.filter(|_| !terminal),
        fault: fault.filter(|_| !terminal),
    })
}

/// All relations, in the order in which the rules first use them.
fn relations(game: &Game) -> Vec<Relation> {
    let rules = game.rules();
    let [on_moves, on_state] =
        [Keyword::Does, Keyword::True].map(|input| dependents(rules, game.keyword(input)));
    let mut all: Vec<Relation> = rules
        .relations()
        .map(|relation| Relation {
            name: game.relation_name(relation).to_owned(),
            arity: rules.arity[relation.index()],
            facts: 0,
            rules: 0,
            depends_on: match relation.index() {
                number if on_moves[number] => Depends::Moves,
                number if on_state[number] => Depends::State,
                _ => Depends::Nothing,
            },
        })
        .collect();
    for fact in &rules.facts {
        all[fact.relation.index()].facts += 1;
    }
    for rule in &rules.rules {
        all[rule.head.relation.index()].rules += 1;
    }
    all
}

fn summary(report: &Report) -> String {
    let of = |depends| {
        let relations = report.relations.iter();
        relations.filter(|r| r.depends_on == depends).count()
    };
    let mut rows = vec![
        ("game", report.name.clone()),
        ("files", report.files.join(", ")),
        (
            "roles",
            format!(
                "{} ({})",
                report.roles.len(),
                format::some(&report.roles).join(", ")
            ),
        ),
        ("facts", report.facts.to_string()),
        (
            "rules",
            format!(
                "{}, evaluated in {}, {} of them recursive",
                report.rules,
                format::counted(report.rule_groups, "group"),
                report.recursive_groups
            ),
        ),
        (
            "relations",
            format!(
                "{}: {} fixed, {} depend on the state, {} on the moves made",
                report.relations.len(),
                of(Depends::Nothing),
                of(Depends::State),
                of(Depends::Moves)
            ),
        ),
        ("names", report.names.to_string()),
        ("terms", format!("{} in the text", report.terms)),
    ];
    if report.percepts {
        let text = match report.hidden_information {
            Some(true) => "hidden (rules with `sees`): a role knows its own moves and its percepts",
            None => "by percepts (`sees`); whether they tell all was not found out in time",
            Some(false) => {
                "complete: all roles always know the position, by their percepts (`sees`)"
            }
        };
        rows.insert(3, ("information", text.to_owned()));
    }
    let initial = &report.initial;
    let legal = match &initial.legal {
        _ if initial.terminal => "the game is over".to_owned(),
        None => initial.fault.clone().unwrap_or_default(),
        Some(counts) => {
            let counts = report.roles.iter().zip(counts);
            let counts: Vec<String> = counts
                .map(|(role, count)| format!("{role} {count}"))
                .collect();
            format!("legal moves: {}", format::some(&counts).join(", "))
        }
    };
    let facts = format::counted(initial.facts, "fact");
    rows.push(("initial state", format!("{facts}; {legal}")));
    for finding in &report.findings {
        rows.push((finding.title, finding.text.clone()));
    }
    if !report.all_findings {
        let text = "whether more facts count the moves was not found out in time";
        rows.push(("open", text.to_owned()));
    }
    let width = rows.iter().map(|(title, _)| title.len()).max().unwrap_or(0);
    let rows = rows
        .iter()
        .map(|(title, text)| format!("{title:width$}  {text}"));
    rows.collect::<Vec<_>>().join("\n")
}

/// The number of names that the rules give to relations, functions and constants.
fn names(game: &Game) -> usize {
    let functors = game.functors().iter();
    let names: BTreeSet<&str> = functors
        .map(|(_, functor)| game.symbols().name(functor.name))
        .filter(|name| Keyword::of(name).is_none())
        .collect();
    names.len()
}

fn relation_table(relations: &[Relation]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["relation", "facts", "rules", "depends on"]);
    for relation in relations {
        table.add_row([
            format!("{}/{}", relation.name, relation.arity),
            relation.facts.to_string(),
            relation.rules.to_string(),
            match relation.depends_on {
                Depends::Nothing => "nothing".to_owned(),
                Depends::State => "the state".to_owned(),
                Depends::Moves => "the moves".to_owned(),
            },
        ]);
    }
    for column in table.column_iter_mut().skip(1).take(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
