//! A game as a tree for programs of game theory, in the EFG format of Gambit.
//!
//! In: a machine and a state. Out: the tree of all matches from there, with an information set for
//! each choice. Roles that choose at once do so one after another in the tree; their information
//! sets hide what the others chose in the same turn. What was made in earlier turns is known to all,
//! unless the rules have `sees`: then a role knows its own moves and its percepts after each turn. They
//! are the label of an information set.
//! Chance chooses last, with equal probabilities.
//!
//! Source: McKelvey, McLennan and Turocy, "Gambit: Software tools for game theory", the EFG file
//! format.

use std::error::Error;
use std::fmt::{self, Write};
use std::rc::Rc;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Move, RoleId};

use knowledge::{Knowledge, Known};

mod knowledge;

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
    /// The tree has more nodes than this. Turns in which nobody has a choice count as well.
    TooLarge(usize),
    /// Two matches look alike to a role, but its legal moves differ.
    LegalMoves {
        /// The name of the role.
        role: String,
        /// The joint moves of both matches.
        matches: [String; 2],
        /// The role's legal moves after them.
        moves: [String; 2],
    },
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
                let nodes = counted(most, "node");
                write!(
                    f,
                    "the game tree has more than {nodes}, with the turns in which nobody has a choice \
                     (if positions repeat, it has no end)"
                )
            }
            ExtensiveFormError::LegalMoves {
                role,
                matches,
                moves,
            } => write!(
                f,
                "two matches look alike to {role}, but its legal moves differ: \
                 after `{}` they are {}; after `{}` they are {}",
                matches[0], moves[0], matches[1], moves[1]
            ),
        }
    }
}

impl Error for ExtensiveFormError {}

/// The number of nodes from one report of progress to the next.
const WATCHED: usize = 1_000;

/// A node that is not written yet.
enum Open<S> {
    /// The beginning of a turn. Where information is hidden, the players know something there.
    Turn(S, Option<Known>),
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
    known: Option<Known>,
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
    watched_extensive_form(machine, start, most_nodes, |_| ())
}

/// As [`extensive_form`]; `watch` gets the number of nodes so far from time to time.
///
/// # Errors
///
/// As [`extensive_form`].
pub fn watched_extensive_form<M: Machine>(
    machine: &mut M,
    start: &M::State,
    most_nodes: usize,
    mut watch: impl FnMut(usize),
) -> Result<ExtensiveForm, ExtensiveFormError> {
    let game = machine.game().clone();
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
    let mut knowledge = game
        .is_hidden()
        .then(|| Knowledge::new(&players, roles.len()));
    let mut forced = 0;
    let at_start = knowledge.as_ref().map(Knowledge::start);
    let mut open = vec![Open::Turn(start.clone(), at_start)];
    while let Some(next) = open.pop() {
        if machine.stop().is_over() {
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
                let known = match (&mut knowledge, &turn.known) {
                    (Some(all), Some(known)) if !machine.is_terminal(&state)? => {
                        Some(all.after(machine, known, &turn.state, &joint)?)
                    }
                    _ => None,
                };
                open.push(Open::Turn(state, known));
                continue;
            }
            Open::Turn(state, _) if machine.is_terminal(&state)? => {
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
            Open::Turn(state, known) => {
                let legal = roles.iter().map(|&role| {
                    let mut legal = Vec::new();
                    machine.legal(&state, role, &mut legal).map(|()| legal)
                });
                let mut legal = legal.collect::<Result<Vec<_>, _>>()?;
                let joint = legal.iter().map(|legal| legal[0]).collect();
                let mut choosers = Vec::new();
                for (player, &role) in players.iter().enumerate() {
                    let legal = &mut legal[role.index()];
                    let set = match (&mut knowledge, &known) {
                        (Some(all), Some(known)) => all.set(machine, player, known, legal)?,
                        _ => sets[player] + 1,
                    };
                    if legal.len() > 1 {
                        sets[player] = sets[player].max(set);
                        choosers.push((role, player + 1, set));
                    }
                }
                let chance = roles.iter().filter(|role| !is_player(role));
                for &role in chance.filter(|role| legal[role.index()].len() > 1) {
                    chances += 1;
                    choosers.push((role, 0, chances));
                }
                if choosers.is_empty() {
                    // There may be such turns without end, and what players know grows in them, too.
                    forced += 1;
                    if nodes + forced > most_nodes {
                        return Err(ExtensiveFormError::TooLarge(most_nodes));
                    }
                }
                let turn = Rc::new(Turn {
                    state,
                    legal,
                    choosers,
                    known,
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
        if nodes.is_multiple_of(WATCHED) {
            watch(nodes);
        }
        let (role, player, set) = turn.choosers[chosen];
        let legal = &turn.legal[role.index()];
        match player {
            0 => write_to(&mut text, format_args!("c \"\" {set} \"\" {{")),
            _ => {
                let label = match (&knowledge, &turn.known) {
                    (Some(all), Some(known)) => all.text(machine, player - 1, known),
                    _ => String::new(),
                };
                write_to(
                    &mut text,
                    format_args!("p \"\" {player} {set} {} {{", quoted(&label)),
                );
            }
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
        // Turns without a choice count where players remember them.
        let forced = "(role a) (legal a wait) (init here) (next here) (sees a tick)
            (<= terminal (not (true here))) (goal a 0)";
        assert_eq!(
            form(forced, 1_000),
            Err(ExtensiveFormError::TooLarge(1_000))
        );
    }

    /// Chance tosses a coin, which only `a` sees. Then `a` says something, and at last both do.
    const COIN: &str = "
        (role random) (role a) (role b) (side heads) (side tails)
        (init (step 1)) (after 1 2) (after 2 3) (after 3 4) (acts random 1) (acts a 2) (acts a 3) (acts b 3)
        (<= (legal ?r ?s) (acts ?r ?n) (true (step ?n)) (side ?s))
        (<= (legal ?r wait) (role ?r) (true (step ?n)) (not (acts ?r ?n)))
        (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
        (<= (next (coin ?s)) (does random ?s) (side ?s))
        (<= (next (coin ?s)) (true (coin ?s)))
        (<= (next (said ?r ?s)) (does ?r ?s))
        (<= (sees a (coin ?s)) (does random ?s) (side ?s))
        (<= terminal (true (step 4)))
        (<= right (true (coin ?s)) (true (said b ?s)))
        (<= (goal b 100) right) (<= (goal b 0) (not right))
        (<= (goal a 0) right) (<= (goal a 100) (not right))";

    #[test]
    fn a_role_knows_its_moves_and_percepts() {
        let nothing = form(COIN, 31).unwrap();
        // By the coin, and then by what was said as well. There is no goal for chance.
        assert_eq!(
            (nothing.nodes, &nothing.information_sets[..]),
            (31, &[6, 1][..])
        );
        let lines: Vec<&str> = nothing.text.lines().collect();
        assert_eq!(lines[3], r#"c "" 1 "" { "heads" 1/2 "tails" 1/2 } 0"#);
        let sides = r#"{ "heads" "tails" } 0"#;
        let a = r#""did wait | saw (coin heads)""#;
        assert_eq!(lines[4], format!(r#"p "" 1 1 {a} {sides}"#));
        let a = r#""did wait | saw (coin heads); did heads""#;
        assert_eq!(lines[5], format!(r#"p "" 1 2 {a} {sides}"#));
        let b = format!(r#"p "" 2 1 "did wait; did wait" {sides}"#);
        assert_eq!(lines.iter().filter(|line| **line == b).count(), 8);

        let words = format!("{COIN} (<= (sees b ?s) (does a ?s) (side ?s) (true (step 2)))");
        let words = form(&words, 31).unwrap();
        assert_eq!(words.information_sets, [6, 2]);
        let b = format!(r#"p "" 2 2 "did wait; did wait | saw tails" {sides}"#);
        assert!(words.text.lines().any(|line| line == b));

        // Percepts of one turn are different from those of two.
        let late = "(<= (sees b (coin ?s)) (true (coin ?s)) (true (step 2)))";
        let early = "(<= (sees b tossed) (does random heads))
            (<= (sees b tossed) (true (coin tails)) (true (step 2)))";
        for percepts in [late, early] {
            let form = form(&format!("{COIN} {percepts}"), 31).unwrap();
            assert_eq!(form.information_sets, [6, 2]);
        }
    }

    #[test]
    fn moves_that_show_what_is_hidden_are_refused() {
        let rules = format!("{COIN} (<= (legal b pass) (true (step 3)) (true (coin tails)))");
        let error = form(&rules, 100).unwrap_err();
        let expected = "two matches look alike to b, but its legal moves differ: \
            after `heads wait wait; wait heads wait` they are heads, tails; \
            after `tails wait wait; wait heads wait` they are heads, tails, pass";
        assert_eq!(error.to_string(), expected);
        // They may differ where the role can see why.
        let told = format!("{rules} (<= (sees b ?s) (does random ?s) (side ?s))");
        assert_eq!(form(&told, 100).unwrap().information_sets, [6, 2]);
    }
}
