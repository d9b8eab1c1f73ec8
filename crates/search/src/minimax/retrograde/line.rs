//! How play goes on by what each side can force.

use std::hash::Hash;

use super::{Forced, Graph, Outcome, Reached};
use crate::Joint;
use crate::minimax::expanded::Expanded;
use crate::minimax::{MinimaxGame, MoveWorth};

/// The joint moves to an end that is forced; as far as one side is the only one to
/// choose in each position.
///
/// # Errors
///
/// The first error of the game.
pub(super) fn line<G: MinimaxGame>(
    graph: &Graph<G::State>,
    game: &mut G,
    forced: &Forced,
    moves: &[MoveWorth<G::Move>],
) -> Result<Vec<Joint<G::Move>>, G::Error>
where
    G::State: Clone + Eq + Hash,
{
    let mut line = Vec::new();
    let mut number = 0;
    let first = moves.first().map(|found| &found.action);
    // Whoever can force an end comes nearer to it by each joint move.
    while line.len() <= graph.positions.len() {
        let state = &graph.positions[number];
        let fork = Expanded::new(graph.role, game.expand(state, graph.role)?, &graph.chance);
        if fork.is_at_once() || !fork.by_chance.is_empty() {
            break;
        }
        let (least, most) = (forced.least[number], forced.most[number]);
        let children = fork.expansion.children.iter().enumerate();
        let children = children.filter(|(place, _)| {
            let own = fork.joint(*place)[graph.role];
            number > 0 || first == Some(&fork.expansion.legal[graph.role][own])
        });
        // By how good it is for who chooses, and how soon the end is.
        let promise = |place: usize| {
            let child = &fork.expansion.children[place];
            let outcome = match (&child.scores, graph.numbers.get(&child.state)) {
                (Some(_), _) if child.is_wrong => Outcome::Wrong,
                (Some(scores), _) => Outcome::End(scores[graph.role]),
                (None, number) => Outcome::Position(*number?),
            };
            let (low, high) = forced.of(outcome);
            let rank = |of: &[Option<Reached>]| match outcome {
                Outcome::Position(number) => {
                    of[number as usize].map(|reached| i64::from(reached.rank))
                }
                _ => Some(-1),
            };
            let (to_least, to_most) = (rank(&forced.least), rank(&forced.most));
            let nears = |to: Option<i64>, from: Reached| to.is_some_and(|to| to < from.rank.into());
            let low = i64::from(low.unwrap_or(0));
            let high = i64::from(high);
            Some(match (least, most) {
                // The role forces it, whatever others do.
                (Some(least), _) if nears(to_least, least) => match fork.own {
                    1 => (-high, to_least?),
                    _ => (low, -to_least?),
                },
                (_, Some(most)) if nears(to_most, most) => match fork.own {
                    1 => (-high, -to_most?),
                    _ => (high, to_most?),
                },
                _ => return None,
            })
        };
        let best = children
            .filter_map(|(place, _)| Some((promise(place)?, place)))
            .max();
        let Some((_, place)) = best else { break };
        line.push(fork.joint_to(place));
        let child = &fork.expansion.children[place];
        match graph.numbers.get(&child.state) {
            Some(next) if child.scores.is_none() => number = *next as usize,
            _ => break,
        }
    }
    Ok(line)
}
