//! Roles, moves, scores and counts as text for people.

use serde::Serialize;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Game, Move, Score};
use ggp_gdl::markup;
use ggp_gdl::terms::TermId;
use ggp_play::protocol::message::compact;

/// The names of all roles, in order.
pub fn role_names(game: &Game) -> Vec<String> {
    let names = game.roles().map(|role| game.role_name(role).to_owned());
    names.collect()
}

/// The canonical texts of a joint move, in the order of the roles.
pub fn joint_texts<M: Machine>(machine: &M, joint: &[Move]) -> Vec<String> {
    let texts = joint.iter().map(|chosen| move_text(machine, *chosen));
    texts.collect()
}

/// The canonical text of a move.
pub fn move_text<M: Machine>(machine: &M, chosen: Move) -> String {
    machine.text(chosen)
}

/// `white plays (mark 1 1), black plays noop`.
pub fn joint_line<M: Machine>(machine: &M, joint: &[Move]) -> String {
    let game = machine.game();
    let texts = game.roles().zip(joint).map(|(role, chosen)| {
        let text = move_text(machine, *chosen);
        format!("{} plays {text}", game.role_name(role))
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// The canonical texts of the percepts of each role of a joint move, in the order of the roles;
/// `None` for rules without `sees`.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub fn sees<M: Machine>(
    machine: &mut M,
    state: &M::State,
    joint: &[Move],
) -> Result<Option<Vec<Vec<String>>>, PlayError> {
    if !machine.game().is_hidden() {
        return Ok(None);
    }
    let mut all = Vec::new();
    for role in machine.game().roles() {
        let mut percepts = Vec::new();
        machine.percepts(state, joint, role, &mut percepts)?;
        all.push(percept_texts(machine, &percepts));
    }
    Ok(Some(all))
}

/// The canonical texts of percepts.
pub fn percept_texts<M: Machine>(machine: &M, percepts: &[TermId]) -> Vec<String> {
    let text = |percept: &TermId| machine.game().canonical(machine.terms(), *percept);
    percepts.iter().map(text).collect()
}

/// `white sees (at 1), black sees nothing`, by the texts of all percepts. Chance is left out: it
/// knows all moves.
pub fn sees_line(game: &Game, sees: &[Vec<String>]) -> String {
    let roles = game.roles().zip(sees);
    let roles = roles.filter(|(role, _)| !game.is_random(*role));
    let texts = roles.map(|(role, percepts)| match &percepts[..] {
        [] => format!("{} sees nothing", game.role_name(role)),
        _ => format!(
            "{} sees {}",
            game.role_name(role),
            some(percepts).join(" and ")
        ),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// A name, term or error of a record or message in printable form: without spaces inside
/// brackets and without terminal control characters.
pub fn printable(text: &str) -> String {
    markup::plain(&compact(text), 1_000)
}

/// `1: white plays (mark 1 1), black plays noop [TO]`: a joint move of a record, with the
/// error codes of its players.
pub fn recorded_line(
    number: usize,
    roles: &[String],
    joint: &[String],
    errors: &[String],
) -> String {
    let plays = roles
        .iter()
        .zip(joint)
        .enumerate()
        .map(|(role, (name, chosen))| {
            let (name, chosen) = (printable(name), printable(chosen));
            match errors.get(role).filter(|error| !error.is_empty()) {
                None => format!("{name} plays {chosen}"),
                Some(error) => format!("{name} plays {chosen} [{}]", printable(error)),
            }
        });
    format!("{number}: {}", plays.collect::<Vec<_>>().join(", "))
}

/// Maximum number of names or facts in a list for people.
const LISTED: usize = 200;

/// The first words of a list for people, and the number of the others.
pub fn some(words: &[String]) -> Vec<String> {
    let mut some: Vec<String> = words.iter().take(LISTED).cloned().collect();
    if words.len() > LISTED {
        some.push(format!("and {} more", words.len() - LISTED));
    }
    some
}

/// Joins words by spaces and wraps them into lines of at most `width` columns, indented by
/// two.
pub fn wrapped(words: &[String], width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            text.push('\n');
            column = 0;
        }
        match column {
            0 => {
                text.push_str("  ");
                column = 2;
            }
            _ => {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(word);
        column += length;
    }
    text
}

/// `1 fact`, `2 facts`.
pub fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// A role's score, and the goal values that the rules give.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Goal {
    /// The role's name.
    pub role: String,
    /// The score, if there is exactly one value and it is valid.
    pub goal: Option<Score>,
    /// Canonical texts of all goal values, sorted.
    pub values: Vec<String>,
}

/// The goals of all roles, and the faults found in them.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub fn goals<M: Machine>(
    machine: &mut M,
    state: &M::State,
) -> Result<(Vec<Goal>, Vec<PlayError>), PlayError> {
    let game = machine.game().clone();
    let mut goals = Vec::new();
    let mut faults = Vec::new();
    for role in game.roles() {
        let goal = match machine.goal(state, role) {
            Ok(score) => Some(score),
            Err(
                fault
                @ (PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)),
            ) => {
                faults.push(fault);
                None
            }
            Err(error) => return Err(error),
        };
        let values = machine.goal_values(state, role)?;
        let values = values.into_iter();
        let mut values: Vec<String> = values
            .map(|value| game.canonical(machine.terms(), value))
            .collect();
        values.sort_unstable();
        goals.push(Goal {
            role: game.role_name(role).to_owned(),
            goal,
            values,
        });
    }
    Ok((goals, faults))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_records_are_printed_canonically() {
        assert_eq!(printable("( move ( a 1 ) b )"), "(move (a 1) b)");
        assert_eq!(printable("IL ( a\u{1b}[1m )"), "IL (a\u{fffd}[1m)");
    }

    #[test]
    fn words_are_wrapped_but_never_broken() {
        let words: Vec<String> = ["ab", "cd", "efghijkl", "m"].map(str::to_owned).into();
        assert_eq!(wrapped(&words, 8), "  ab cd\n  efghijkl\n  m");
        assert_eq!(wrapped(&[], 8), "");
    }
}
