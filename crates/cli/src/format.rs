//! Roles, moves, scores and counts as text for people.

use serde::Serialize;

use ggp_engine::machine::{DatalogMachine, Limits, Machine, PlayError};
use ggp_gdl::counted::all_listed;
pub use ggp_gdl::counted::{counted, counted_range};
use ggp_gdl::game::{Game, GoalChoice, Move, RoleId, Score};
use ggp_gdl::markup;
use ggp_gdl::terms::TermId;
use ggp_play::protocol::message::compact;

/// The names of all roles, in order.
pub fn role_names(game: &Game) -> Vec<String> {
    let names = game.roles().map(|role| game.role_name(role).to_owned());
    names.collect()
}

/// The scores of a record, a line each. A record has one of chance, too, which wants none.
pub fn score_lines(game: &Game, scores: &[u8]) -> Vec<String> {
    let scores = game.roles().zip(scores);
    let scores = scores.filter(|(role, _)| !game.is_random(*role));
    let line = |(role, score): (_, &u8)| format!("{} {score}", printable(game.role_name(role)));
    scores.map(line).collect()
}

/// The texts of a joint move, in the order of the roles.
pub fn joint_texts<M: Machine>(machine: &M, joint: &[Move]) -> Vec<String> {
    let texts = joint.iter().map(|chosen| move_text(machine, *chosen));
    texts.collect()
}

/// The text of a move.
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

/// The texts of the percepts of each role of a joint move, in the order of the roles;
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

/// The texts of percepts.
pub fn percept_texts<M: Machine>(machine: &M, percepts: &[TermId]) -> Vec<String> {
    let text = |percept: &TermId| machine.game().text(machine.terms(), *percept);
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
            if percepts.len() > LISTED {
                some(percepts).join(", ")
            } else {
                all_listed(percepts)
            }
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

/// The name of the choice among several goal values; none if they are an error.
pub fn choice_name(game: &Game) -> Option<&'static str> {
    let choice = game.goal_choice();
    (choice != GoalChoice::Error).then(|| choice.name())
}

/// A role's score, and the goal values that the rules give.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Goal {
    /// The role's name.
    pub role: String,
    /// The score, if there is exactly one value and it is valid.
    pub goal: Option<Score>,
    /// Texts of all goal values, sorted.
    pub values: Vec<String>,
}

impl Goal {
    /// `white 70`, with all values where a choice was made among several of them.
    pub fn text(&self, choice: GoalChoice) -> String {
        let Goal { role, goal, values } = self;
        match goal {
            None if values.len() > 1 => format!("{role} several: {}", values.join(", ")),
            None => format!("{role} none"),
            Some(score) if values.len() < 2 => format!("{role} {score}"),
            Some(score) => format!(
                "{role} {score} (several goal values: {}; the {choice} was taken)",
                values.join(", ")
            ),
        }
    }
}

/// The canonical texts of all goal values of a role, sorted, before any choice among them.
fn goal_values<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
) -> Result<Vec<String>, PlayError> {
    let game = machine.game().clone();
    let written = game.as_written();
    let values = if written.is_same(&game) {
        machine.goal_values(state, role)?
    } else {
        let facts = machine.facts(state);
        let limits = Limits {
            stop: machine.stop().clone(),
            ..Limits::default()
        };
        let mut all = DatalogMachine::for_one_position(written, limits)?;
        all.terms_mut().refresh();
        let state = all.state(&facts)?;
        let values = all.goal_values(&state, role)?;
        machine.terms_mut().refresh();
        values
    };
    let values = values.into_iter();
    let mut values: Vec<String> = values
        .map(|value| game.text(machine.terms(), value))
        .collect();
    values.sort_unstable();
    Ok(values)
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
                // Chance needs no score.
                faults.extend(Some(fault).filter(|_| !game.is_random(role)));
                None
            }
            Err(error) => return Err(error),
        };
        let values = goal_values(machine, state, role)?;
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
