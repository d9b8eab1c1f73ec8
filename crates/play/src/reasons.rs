//! Reasons for a move, in words.
//!
//! In: advice, the position and, if there are any, learned values. Out: sentences about the
//! proofs and the visits of the search, and about the facts that the move changes and
//! that speak for it or against it.

use super::{Advice, Candidate};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_learn::{Change, Values, facts_text};

/// The most facts in a reason, and the most characters of each.
const FACTS: usize = 3;
const FACT_TEXT: usize = 60;
/// The least share of a fact that is shown, in logarithms of odds.
const LEAST: f32 = 0.05;

/// The reasons for the chosen move of a role in a state, the strongest first. Empty if
/// nothing is known but the move. Learned values give none if the rules cannot be evaluated
/// after the move.
///
/// # Errors
///
/// [`PlayError::Interrupted`].
pub fn reasons<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
    advice: &Advice,
    values: Option<&Values>,
) -> Result<Vec<String>, PlayError> {
    let mut reasons = of_search(advice, best_play(machine.game()));
    if let Some(values) = values {
        match of_values(machine, state, role, advice, values) {
            Err(PlayError::Interrupted) => return Err(PlayError::Interrupted),
            learned => reasons.extend(learned.unwrap_or_default()),
        }
    }
    Ok(reasons)
}

/// The assumption about play, in words, behind the proved values of a search for all roles.
pub fn best_play(game: &Game) -> &'static str {
    // Of three players two may play against the third: `ggp prove` supposes that.
    match game.roles().filter(|role| !game.is_random(*role)).count() {
        0..=2 => "with best play",
        _ => "if each role plays its best",
    }
}

/// The reasons that a search gives.
fn of_search(advice: &Advice, best_play: &str) -> Vec<String> {
    let candidates = advice.candidates.iter();
    let (chosen, others): (Vec<&Candidate>, Vec<_>) =
        candidates.partition(|candidate| candidate.action == advice.chosen);
    let (least, most) = chosen.first().map_or(advice.bounds, |chosen| chosen.bounds);
    let mut found = Vec::new();
    // Of several roles whose scores have no constant sum, others need not play their best.
    if least == most {
        found.push(format!("proved: the move is worth {least:.0} {best_play}"));
    } else if least > 0.0 {
        found.push(format!(
            "proved: the move is worth at least {least:.0} {best_play}"
        ));
    }
    // A move is worse for certain if it cannot reach what this one is worth.
    let worth = advice.value.unwrap_or(least).max(least);
    let worse = others.iter().map(|other| other.bounds.1);
    let worse: Vec<f64> = worse.filter(|&best| best < worth).collect();
    if !worse.is_empty() {
        let best = worse.iter().fold(0.0, |a: f64, &b| a.max(b));
        found.push(match (worse.len(), others.len()) {
            (1, 1) => format!("the other move cannot reach more than {best:.0} (proved)"),
            (few, all) if few == all => {
                format!("none of the {all} other moves can reach more than {best:.0} (proved)")
            }
            (few, all) => {
                format!("of the {all} other moves, {few} cannot reach more than {best:.0} (proved)")
            }
        });
    }
    let tries: u64 = advice.candidates.iter().map(|one| one.visits).sum();
    if let Some(chosen) = chosen
        .first()
        .filter(|_| least < most && !others.is_empty())
        && others.iter().all(|other| other.visits < chosen.visits)
    {
        let visits = chosen.visits;
        found.push(format!(
            "the search tried it most often: {visits} of {}",
            counted(tries, "try")
        ));
    }
    found
}

/// The reasons that learned values give, if the position after the move is known and has a
/// value.
fn of_values<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
    advice: &Advice,
    values: &Values,
) -> Result<Vec<String>, PlayError> {
    let Some(joint) = expected(machine, state, role, advice)? else {
        return Ok(Vec::new());
    };
    let next = machine.next(state, &joint)?;
    if machine.is_terminal(&next)? {
        return Ok(Vec::new());
    }
    let (Some((_, before)), Some((net, after))) = (machine.network(state), machine.network(&next))
    else {
        return Ok(Vec::new());
    };
    let changes = values.changes(&before, &after);
    let (value, later) = changes.values[role.index()];
    let mut found = vec![format!(
        "learned values: {value:.1} before the move, {later:.1} after it"
    )];
    let mut shares: Vec<(f32, String)> = changes
        .facts
        .iter()
        .map(
            |Change {
                 fact,
                 holds,
                 weights,
             }| {
                let text = facts_text(net, &[*fact as u32], FACT_TEXT);
                let beginning = if *holds { "" } else { "no longer: " };
                (weights[role.index()], format!("{beginning}{text}"))
            },
        )
        .collect();
    shares.push((changes.turn[role.index()], "the turn passes".to_owned()));
    shares.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    for (sign, label) in [(1.0, "for it"), (-1.0, "against it")] {
        let of_sign = shares.iter().filter(|(weight, _)| sign * weight > LEAST);
        let texts = of_sign
            .take(FACTS)
            .map(|(weight, text)| format!("{text} {weight:+.1}"));
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            found.push(format!("{label}: {}", texts.join(", ")));
        }
    }
    Ok(found)
}

/// The joint move that is expected: the first of the main line, or else the only one with the
/// chosen move.
fn expected<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
    advice: &Advice,
) -> Result<Option<Vec<Move>>, PlayError> {
    if let Some(joint) = advice.line.first() {
        return Ok(Some(joint.iter().map(|(action, _)| *action).collect()));
    }
    let game = machine.game().clone();
    let (mut joint, mut legal) = (Vec::new(), Vec::new());
    for other in game.roles() {
        machine.legal(state, other, &mut legal)?;
        match &legal[..] {
            _ if other == role => joint.push(advice.chosen),
            [only] => joint.push(*only),
            _ => return Ok(None),
        }
    }
    Ok(Some(joint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_gdl::game::Game;

    #[test]
    fn a_search_gives_what_it_proved_and_tried() {
        let rules = "(role a) (role b) (role c) (legal a x) (legal b x) (legal c x) terminal";
        let goals = "(goal a 1) (goal b 1) (goal c 1)";
        let game = Game::from_text("rules", &format!("{rules} {goals}")).unwrap();
        let moves: Vec<Move> = game.roles().map(|r| Move::new(game.role_term(r))).collect();
        let said = |of_moves: [(u64, f64, (f64, f64)); 3]| {
            let candidates = moves.iter().zip(of_moves);
            let candidates = candidates.map(|(&action, (visits, value, bounds))| Candidate {
                distance: None,
                action,
                visits,
                value,
                bounds,
            });
            let advice = Advice {
                value: Some(of_moves[0].1),
                candidates: candidates.collect(),
                ..Advice::of(moves[0])
            };
            of_search(&advice, "with best play")
        };
        let open = (0.0, 100.0);
        let won = said([
            (5, 100.0, (100.0, 100.0)),
            (9, 50.0, open),
            (1, 40.0, (0.0, 50.0)),
        ]);
        let expected = [
            "proved: the move is worth 100 with best play",
            "of the 2 other moves, 1 cannot reach more than 50 (proved)",
        ];
        assert_eq!(won, expected);
        let threatened = said([
            (9, 50.0, open),
            (2, 0.0, (0.0, 0.0)),
            (1, 25.0, (0.0, 25.0)),
        ]);
        let expected = [
            "none of the 2 other moves can reach more than 25 (proved)",
            "the search tried it most often: 9 of 12 tries",
        ];
        assert_eq!(threatened, expected);
        assert!(said([(2, 50.0, open), (2, 50.0, open), (2, 50.0, open)]).is_empty());
        assert!(of_search(&Advice::of(moves[0]), "").is_empty());
    }
}
