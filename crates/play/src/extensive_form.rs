//! A game as a tree for programs of game theory, in the EFG format of Gambit.
//!
//! In: a machine and a state. Out: the tree of all matches from there, with an information set for
//! each choice. Roles that choose at once do so one after another in the tree; their information
//! sets hide what the others chose in the same turn. What was made in earlier turns is known to all.
//! Chance chooses last, with equal probabilities.
//!
//! Source: McKelvey, McLennan and Turocy, "Gambit: Software tools for game theory", the EFG file
//! format.

use std::error::Error;
use std::fmt::{self, Write};
use std::rc::Rc;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Move, RoleId};

/// A tree as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtensiveForm {
    /// The content of an EFG file.
    pub text: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of information sets of each player, in the order of the roles without chance.
    pub information_sets: Vec<usize>,
}

/// The reason why there is no tree.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ExtensiveFormError {
    /// A fault of the rules, or an interrupt.
    Play(PlayError),
    /// The tree has more nodes than this.
    TooLarge(usize),
    /// The rules have percepts, which are not computed yet.
    Percepts,
}

impl From<PlayError> for ExtensiveFormError {
    fn from(error: PlayError) -> Self {
        ExtensiveFormError::Play(error)
    }
}

impl fmt::Display for ExtensiveFormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtensiveFormError::Play(error) => error.fmt(f),
            ExtensiveFormError::TooLarge(most) => {
                write!(f, "the game tree has more than {most} nodes")
            }
            ExtensiveFormError::Percepts => f.write_str(
                "the rules have `sees`; games with hidden information cannot be exported yet",
            ),
        }
    }
}

impl Error for ExtensiveFormError {}

/// A node that is not written yet.
enum Open<S> {
    /// The beginning of a turn.
    Turn(S),
    /// The choice of the next role of a turn, after those that have chosen.
    Choice {
        turn: Rc<Turn<S>>,
        chosen: usize,
        joint: Vec<Move>,
    },
}

/// A state in which roles choose.
struct Turn<S> {
    state: S,
    /// By role: the legal moves.
    legal: Vec<Vec<Move>>,
    /// The roles with a choice, chance last, each with its number among the players (0 for chance) and
    /// the number of its information set.
    choosers: Vec<(RoleId, usize, usize)>,
}

/// The tree of a game from a state on, with at most some nodes.
///
/// # Errors
///
/// [`ExtensiveFormError`]: also if a match ends without a score for each role, or cannot go on.
pub fn extensive_form<M: Machine>(
    machine: &mut M,
    start: &M::State,
    most_nodes: usize,
) -> Result<ExtensiveForm, ExtensiveFormError> {
    let game = machine.game().clone();
    if game.keyword(Keyword::Sees).is_some() {
        return Err(ExtensiveFormError::Percepts);
    }
    let roles: Vec<RoleId> = game.roles().collect();
    let is_player = |role: &RoleId| !game.is_random(*role);
    let players: Vec<RoleId> = roles.iter().copied().filter(is_player).collect();
    let mut text = format!("EFG 2 R {} {{", quoted(&game.name()));
    for player in &players {
        write_to(
            &mut text,
            format_args!(" {}", quoted(game.role_name(*player))),
        );
    }
    text.push_str(" }\n\"\"\n\n");
    let (mut nodes, mut outcomes, mut chances) = (0, 0, 0);
    let mut sets = vec![0; players.len()];
    let mut open = vec![Open::Turn(start.clone())];
    while let Some(next) = open.pop() {
        if machine.stop().is_raised() {
            return Err(PlayError::Interrupted.into());
        }
        let (turn, chosen, joint) = match next {
            Open::Choice {
                turn,
                chosen,
                joint,
            } if chosen < turn.choosers.len() => (turn, chosen, joint),
            Open::Choice { turn, joint, .. } => {
                let state = machine.next(&turn.state, &joint)?;
                open.push(Open::Turn(state));
                continue;
            }
            Open::Turn(state) if machine.is_terminal(&state)? => {
                let scores = players.iter().map(|role| machine.goal(&state, *role));
                let scores = scores.map(|score| score.map(|score| score.to_string()));
                let scores = scores.collect::<Result<Vec<_>, _>>()?.join(", ");
                nodes += 1;
                outcomes += 1;
                if nodes > most_nodes {
                    return Err(ExtensiveFormError::TooLarge(most_nodes));
                }
                write_to(
                    &mut text,
                    format_args!("t \"\" {outcomes} \"\" {{ {scores} }}\n"),
                );
                continue;
            }
            Open::Turn(state) => {
                let legal = roles.iter().map(|&role| {
                    let mut legal = Vec::new();
                    machine.legal(&state, role, &mut legal).map(|()| legal)
                });
                let legal = legal.collect::<Result<Vec<_>, _>>()?;
                let joint = legal.iter().map(|legal| legal[0]).collect();
                let mut choosers = Vec::new();
                for (player, &role) in players.iter().enumerate() {
                    if legal[role.index()].len() > 1 {
                        sets[player] += 1;
                        choosers.push((role, player + 1, sets[player]));
                    }
                }
                let chance = roles.iter().filter(|role| !is_player(role));
                for &role in chance.filter(|role| legal[role.index()].len() > 1) {
                    chances += 1;
                    choosers.push((role, 0, chances));
                }
                let turn = Rc::new(Turn {
                    state,
                    legal,
                    choosers,
                });
                open.push(Open::Choice {
                    turn,
                    chosen: 0,
                    joint,
                });
                continue;
            }
        };
        nodes += 1;
        if nodes > most_nodes {
            return Err(ExtensiveFormError::TooLarge(most_nodes));
        }
        let (role, player, set) = turn.choosers[chosen];
        let legal = &turn.legal[role.index()];
        match player {
            0 => write_to(&mut text, format_args!("c \"\" {set} \"\" {{")),
            _ => write_to(&mut text, format_args!("p \"\" {player} {set} \"\" {{")),
        }
        for made in legal {
            write_to(&mut text, format_args!(" {}", quoted(&machine.text(*made))));
            if player == 0 {
                write_to(&mut text, format_args!(" 1/{}", legal.len()));
            }
        }
        text.push_str(" } 0\n");
        // The last one that is pushed is written first.
        for &made in legal.iter().rev() {
            let mut joint = joint.clone();
            joint[role.index()] = made;
            open.push(Open::Choice {
                turn: Rc::clone(&turn),
                chosen: chosen + 1,
                joint,
            });
        }
    }
    Ok(ExtensiveForm {
        text,
        nodes,
        information_sets: sets,
    })
}

fn write_to(text: &mut String, part: fmt::Arguments<'_>) {
    text.write_fmt(part).expect("a string takes everything");
}

/// A text in quotation marks, as the format has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{DatalogMachine, Limits};
    use ggp_gdl::game::Game;

    fn form(rules: &str, most: usize) -> Result<ExtensiveForm, ExtensiveFormError> {
        let game = Game::from_text("coins", rules).unwrap();
        let mut machine = DatalogMachine::new(&game, Limits::default()).unwrap();
        let start = machine.initial().unwrap();
        extensive_form(&mut machine, &start, most)
    }

    const RULES: &str = "
        (role random) (role a) (role b) (side heads) (side tails) (init first)
        (<= (legal ?r ?s) (role ?r) (side ?s) (true first))
        (<= (next (fell ?r ?s)) (does ?r ?s))
        (<= terminal (true (fell a ?s)))
        (<= equal (true (fell a ?s)) (true (fell b ?s)))
        (<= (goal a 100) equal) (<= (goal a 0) (not equal))
        (<= (goal b 0) equal) (<= (goal b 100) (not equal)) (goal random 0)";

    #[test]
    fn choices_of_one_turn_hide_each_other() {
        let form = form(RULES, 15).unwrap();
        assert_eq!((form.nodes, &form.information_sets[..]), (15, &[1, 1][..]));
        let lines: Vec<&str> = form.text.lines().collect();
        assert_eq!(lines[0], r#"EFG 2 R "coins" { "a" "b" }"#);
        assert_eq!(lines[3], r#"p "" 1 1 "" { "heads" "tails" } 0"#);
        // Both nodes of the second player are in one information set.
        let second = r#"p "" 2 1 "" { "heads" "tails" } 0"#;
        assert_eq!(lines.iter().filter(|line| **line == second).count(), 2);
        assert_eq!(lines[5], r#"c "" 1 "" { "heads" 1/2 "tails" 1/2 } 0"#);
        assert_eq!(lines[6], r#"t "" 1 "" { 100, 0 }"#);
        assert_eq!(lines.len(), 3 + 15);
    }

    #[test]
    fn large_trees_and_faults_are_refused() {
        assert_eq!(form(RULES, 14), Err(ExtensiveFormError::TooLarge(14)));
        let endless = "(role a) (role b) (init here) (move l) (move r)
            (<= (legal ?r ?m) (role ?r) (move ?m))
            (<= (next here) (true here)) (<= terminal (not (true here)))
            (goal a 0) (goal b 0)";
        assert_eq!(
            form(endless, 1_000),
            Err(ExtensiveFormError::TooLarge(1_000))
        );
        let unscored = RULES.replace("(goal b 100)", "(goal b -1)");
        assert!(matches!(
            form(&unscored, 100),
            Err(ExtensiveFormError::Play(_))
        ));
        let percepts = format!("{RULES} (<= (sees a ?s) (does b ?s))");
        assert_eq!(form(&percepts, 100), Err(ExtensiveFormError::Percepts));
    }
}
