//! Claims about what roles can find out in games with hidden information.

use ggp_engine::machine::{Backend, Limits, Machine, PlayError};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_hidden::{Extent, Needed, World, well_formed};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bodies::places_of;
use super::claims::MOST_ROLES;
use super::{Basis, Claim, ClaimVerdict, PlaycheckOptions, Severity, Subject};

/// The most positions for a comparison of all matches, and the random matches otherwise.
const POSITIONS: usize = 50_000;
const MATCHES: usize = 50;
/// The most joint moves of a random match.
const DEPTH: usize = 200;

/// One claim for each role.
pub(super) fn claims(
    game: &Game,
    limits: &Limits,
    options: &PlaycheckOptions,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Vec<Claim>, PlayError> {
    let mut world = World::new(game, Backend::Auto, limits.clone())?;
    let start = world.start(None)?;
    let extent = Extent {
        positions: POSITIONS.min(options.states),
        matches: MATCHES.min(usize::try_from(options.playouts).unwrap_or(usize::MAX)),
        depth: DEPTH.min(options.depth),
    };
    let found = well_formed(&mut world, &start, extent, random)?;
    let roles: Vec<RoleId> = game.roles().filter(|role| !game.is_random(*role)).collect();
    let machine = world.machine();
    let line = |joint: &Vec<Move>| {
        let texts: Vec<String> = joint.iter().map(|made| machine.text(*made)).collect();
        texts.join(" ")
    };
    let mut terms = machine.terms().clone();
    let mut claim = |role: &RoleId| {
        let name = game.role_name(*role);
        let gap = found.gaps.iter().find(|gap| gap.role == *role);
        let what = match gap.map(|gap| gap.needed) {
            None => "which moves are legal, whether the match is over, and its score",
            Some(Needed::End) => "whether the match is over",
            Some(Needed::Moves) => "which moves are legal",
            Some(Needed::Score) => "its score at the end",
        };
        let made = gap.and_then(|gap| gap.moves.first());
        let such = made.map(|made| format!(", such as {}", machine.text(*made)));
        let matches = gap.map(|gap| gap.matches.clone().map(|m| m.iter().map(line).collect()));
        let [moves, alike] =
            matches.map_or([None, None], |matches: [Vec<String>; 2]| matches.map(Some));
        Claim {
            subject: Subject::Knows,
            role: Some(name.to_owned()),
            verdict: match (gap, found.positions) {
                (Some(_), _) => ClaimVerdict::Fails,
                (None, 0) => ClaimVerdict::Open,
                (None, _) => ClaimVerdict::Holds,
            },
            basis: match (gap, found.is_whole) {
                (Some(_), _) => Basis::Example,
                (None, true) => Basis::Positions,
                (None, false) => Basis::Seen,
            },
            severity: Severity::Warning,
            text: match gap {
                None => format!("{name} can find out by its percepts {what}"),
                Some(_) => format!(
                    "{name} cannot find out by its percepts {what}{}",
                    such.unwrap_or_default()
                ),
            },
            has_several_goals: false,
            moves,
            cycle: None,
            alike,
            places: made.map_or(Vec::new(), |made| {
                let derived = [game.role_term(*role), made.term()];
                let mut rules = places_of(game, Keyword::Legal, derived, &mut terms);
                rules.dedup();
                let sources = game.sources();
                rules.into_iter().map(|rule| sources.place(rule)).collect()
            }),
        }
    };
    Ok(roles.iter().take(MOST_ROLES).map(&mut claim).collect())
}
