//! Combinations of options that `ggp solve` refuses, because an option would have no effect
//! or no meaning.

use anyhow::bail;

use super::{Goal, Options};
use ggp_gdl::game::Score;
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
