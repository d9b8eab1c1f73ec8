//! What `ggp solve` refuses, because it would have no effect or no meaning.

use anyhow::bail;

use super::{Goal, Options};
use ggp_gdl::game::{Game, Score};
use ggp_solver::solve::{Method, Strategy};

/// Searches by length on states of any game.
const BY_LENGTH: [Strategy; 3] = [Strategy::Auto, Strategy::Iterative, Strategy::BreadthFirst];

/// Methods on the network whose plans are the shortest.
const PROVERS: [Method; 7] = [
    Method::Levels,
    Method::AStar,
    Method::IdaStar,
    Method::Deepening,
    Method::Bidirectional,
    Method::Steps,
    Method::Algebra,
];

/// # Errors
///
/// If options contradict each other, or one has no effect with another.
pub(super) fn refuse(options: &Options) -> anyhow::Result<()> {
    let search = &options.search;
    let strategy = search.strategy;
    let name = strategy.name();
    if options.all && !BY_LENGTH.contains(&strategy) {
        bail!("--all needs a search by length: --strategy auto, iterative or bfs");
    }
    let proves: Vec<Strategy> = BY_LENGTH
        .into_iter()
        .chain(PROVERS.map(Strategy::Network))
        .collect();
    if search.optimal && !proves.contains(&strategy) {
        let names: Vec<&str> = proves.into_iter().map(Strategy::name).collect();
        bail!(
            "--optimal needs a strategy that proves it: {}",
            names.join(", ")
        );
    }
    if !search.prune.is_empty() && strategy != Strategy::Iterative {
        bail!("--prune is for --strategy iterative; {name} leaves out what it does, whatever is said");
    }
    if search.keys.is_some() && matches!(strategy, Strategy::Network(_)) {
        bail!("--keys is for strategies that work without a network, and {name} is none");
    }
    let samples = [Method::Nrpa, Method::Nested, Method::Uct].map(Strategy::Network);
    if search.scoring.is_some() && strategy != Strategy::Auto && !samples.contains(&strategy) {
        bail!("--scoring is for auto, nrpa, nested and uct, and not for {name}");
    }
    let counts = [Strategy::Auto, Strategy::Network(Method::MoveSet)];
    if options.count.is_some() && !counts.contains(&strategy) {
        bail!("--count is what --strategy sat-set does, and no other");
    }
    if search.goal == Goal::Best {
        if options.each.is_some() || options.suite {
            bail!("--goal best is for one puzzle, so it does not go with --each and --suite");
        }
        if options.count.is_some() {
            bail!("--count counts ends that are worth so much, so it does not go with --goal best");
        }
    }
    if options.reference.is_some() && search.goal != Goal::Least(Score::MAX) {
        bail!("--reference tells of 100 points, so it does not go with --goal");
    }
    Ok(())
}

/// # Errors
///
/// If an option is about plans, and the game has several roles.
pub(super) fn refuse_for(options: &Options, game: &Game) -> anyhow::Result<()> {
    let roles = game.role_count();
    let search = &options.search;
    let about_plans = [
        (search.optimal, "--optimal"),
        (options.all, "--all"),
        (options.count.is_some(), "--count"),
        (options.answer.is_some(), "--answer"),
        (search.depth.is_some(), "--depth"),
        (search.goal != Goal::Least(Score::MAX), "--goal"),
    ];
    let given = about_plans.iter().find(|(is_given, _)| *is_given);
    match given {
        Some((_, flag)) if roles > 1 => bail!(
            "{flag} is about the plan of one role, and this game has {roles}; without it the \
             moves of each role are evaluated, and `ggp prove` says what a position is worth"
        ),
        _ => Ok(()),
    }
}
