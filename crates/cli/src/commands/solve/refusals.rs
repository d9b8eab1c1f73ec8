//! Combinations of options that `ggp solve` refuses, because an option would have no effect
//! or no meaning.

use anyhow::bail;

use super::super::prove::hides;
use super::{Goal, Options};
use crate::Context;
use ggp_engine::machine::Limits;
use ggp_gdl::game::{Game, Score};
use ggp_solver::solve::{Method, Setting};

/// Refuses contradictory options. The table of methods says which method reads an option.
///
/// # Errors
///
/// If options contradict each other, or one has no effect with another.
pub(super) fn refuse(options: &Options) -> anyhow::Result<()> {
    let search = &options.search;
    let method = search.method;
    let settings = [
        (options.all, "--all", Setting::AllPlans),
        (!search.prune.is_empty(), "--prune", Setting::Prune),
        (search.keys.is_some(), "--keys", Setting::Keys),
        (search.scoring.is_some(), "--scoring", Setting::Scoring),
        (options.count.is_some(), "--count", Setting::Count),
    ];
    for (is_given, flag, setting) in settings {
        if is_given && !method.reads(setting) {
            let names = names(|method| method.reads(setting));
            bail!("{flag} has no effect with --method {method}; it needs one of: {names}");
        }
    }
    if search.optimal && !method.proves().shortest {
        let names = names(|method| method.proves().shortest);
        bail!("--optimal needs a method that proves it; {method} does not, these do: {names}");
    }
    if search.goal == Goal::Best {
        if options.each.is_some() || options.suite {
            bail!("--goal best is for one puzzle, so it cannot be used with --each and --suite");
        }
        if options.count.is_some() {
            bail!("--count counts ends with a given score, so it cannot be used with --goal best");
        }
    }
    if options.reference.is_some() && search.goal != Goal::Least(Score::MAX) {
        bail!("--reference is about 100 points, so it cannot be used with --goal");
    }
    Ok(())
}

/// The names of the methods with a property.
fn names(has: impl Fn(Method) -> bool) -> String {
    let methods = Method::all().filter(|&method| has(method));
    methods.map(Method::name).collect::<Vec<_>>().join(", ")
}

/// Refuses options about plans for games of several roles.
///
/// # Errors
///
/// If an option is about plans, and the game has several roles, or if something is hidden.
pub(super) fn refuse_for(
    options: &Options,
    game: &Game,
    limits: Limits,
    context: &Context,
) -> anyhow::Result<()> {
    let roles = game.role_count();
    if roles > 1 && hides(game, limits, context)? {
        bail!(
            "the rules have `sees`, and a plan must not depend on what its role cannot know; `ggp prove` \
             knows the value of one role against chance, and `ggp play` has programs for such games"
        );
    }
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
             moves of each role are evaluated, and `ggp prove` proves the value of a position"
        ),
        _ => Ok(()),
    }
}
