//! The line of play that follows from what each side can force.

use std::hash::Hash;

use super::{ChildOutcome, Forced, ForcedScore, Graph};
use crate::Joint;
use crate::minimax::expanded::Expanded;
use crate::minimax::{MinimaxGame, MoveValue};

/// The joint moves to a forced end, as long as only one side has a choice in each position.
///
/// # Errors
///
/// The first error of the game.
pub(super) fn line<G: MinimaxGame>(
    graph: &Graph<G::State>,
    game: &mut G,
    forced: &Forced,
    moves: &[MoveValue<G::Move>],
) -> Result<Vec<Joint<G::Move>>, G::Error>
where
    G::State: Clone + Eq + Hash,
{
    let mut line = Vec::new();
    let mut number = 0;
    let first = moves.first().map(|found| &found.action);
    // The rank decreases with each joint move of the side that forces the end.
    while line.len() <= graph.positions.len() {
        let state = &graph.positions[number];
        let expanded = Expanded::new(graph.role, game.expand(state, graph.role)?, &graph.chance);
        if expanded.is_simultaneous() || !expanded.by_chance.is_empty() {
            break;
        }
        let (least, most) = (forced.least[number], forced.most[number]);
        let children = expanded.expansion.children.iter().enumerate();
        let children = children.filter(|(place, _)| {
            let own = expanded.joint(*place)[graph.role];
            number > 0 || first == Some(&expanded.expansion.legal[graph.role][own])
        });
        // The priority is the score for the side that chooses, then the nearness of the end.
        let priority = |place: usize| {
            let child = &expanded.expansion.children[place];
            let outcome = match (&child.scores, graph.numbers.get(&child.state)) {
                (Some(_), _) if child.is_wrong => ChildOutcome::Wrong,
                (Some(scores), _) => ChildOutcome::End(scores[graph.role]),
                (None, number) => ChildOutcome::Position(*number?),
            };
            let (low, high) = forced.of(outcome);
            let rank = |of: &[Option<ForcedScore>]| match outcome {
                ChildOutcome::Position(number) => {
                    of[number as usize].map(|forced| i64::from(forced.rank))
                }
                _ => Some(-1),
            };
            let (to_least, to_most) = (rank(&forced.least), rank(&forced.most));
            let nears =
                |to: Option<i64>, from: ForcedScore| to.is_some_and(|to| to < from.rank.into());
            let low = i64::from(low.unwrap_or(0));
            let high = i64::from(high);
            Some(match (least, most) {
                // The role forces the end against all answers.
                (Some(least), _) if nears(to_least, least) => match expanded.own {
                    1 => (-high, to_least?),
                    _ => (low, -to_least?),
                },
                (_, Some(most)) if nears(to_most, most) => match expanded.own {
                    1 => (-high, -to_most?),
                    _ => (high, to_most?),
                },
                _ => return None,
            })
        };
        let best = children
            .filter_map(|(place, _)| Some((priority(place)?, place)))
            .max();
        let Some((_, place)) = best else { break };
        line.push(expanded.joint_to(place));
        let child = &expanded.expansion.children[place];
        match graph.numbers.get(&child.state) {
            Some(next) if child.scores.is_none() => number = *next as usize,
            _ => break,
        }
    }
    Ok(line)
}
