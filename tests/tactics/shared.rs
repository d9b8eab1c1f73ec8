//! The file format of tactical positions.

use std::fs;
use std::path::{Path, PathBuf};

use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_play::{Advice, AgentSpec, Brief, Observation, Pace};

/// A position with its best moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tactic {
    pub game: String,
    pub role: String,
    /// The score of the role under optimal play.
    pub value: u8,
    pub best: Vec<String>,
    /// The number of legal moves.
    pub legal: usize,
    /// The joint moves that lead to the position.
    pub played: Vec<String>,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Positions with few best moves, found by exhaustive search.
pub fn few() -> PathBuf {
    root().join("tests/tactics/positions.txt")
}

pub fn game(name: &str) -> Game {
    let path = root().join(format!("games/{name}.kif"));
    let text = fs::read_to_string(&path).unwrap();
    Game::from_text(name, &text).unwrap()
}

/// The paragraph of a position in a file.
pub fn paragraph(tactic: &Tactic) -> String {
    format!(
        "\n{} {} gets {}\nbest {} of {}\nafter {}\n",
        tactic.game,
        tactic.role,
        tactic.value,
        tactic.best.join(", "),
        tactic.legal,
        tactic.played.join("; "),
    )
}

pub fn read(path: &Path) -> Vec<Tactic> {
    let text = fs::read_to_string(path).unwrap();
    let paragraphs = text.split("\n\n").skip(1);
    let tactics = paragraphs.map(|paragraph| {
        let mut lines = paragraph.lines();
        let head: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let [game, role, "gets", value] = head[..] else {
            panic!("{paragraph}");
        };
        let best = lines.next().unwrap().strip_prefix("best ").unwrap();
        let (best, legal) = best.rsplit_once(" of ").unwrap();
        let played = lines.next().unwrap().strip_prefix("after").unwrap().trim();
        let list = |text: &str, by: &str| text.split(by).map(str::to_owned).collect();
        Tactic {
            game: game.to_owned(),
            role: role.to_owned(),
            value: value.parse().unwrap(),
            best: list(best, ", "),
            legal: legal.parse().unwrap(),
            played: match played {
                "" => Vec::new(),
                _ => list(played, "; "),
            },
        }
    });
    tactics.collect()
}

/// The advice of an agent in a position, and whether its move is one of the best.
pub fn ask(tactic: &Tactic, spec: &AgentSpec) -> (Advice, bool) {
    let game = game(&tactic.game);
    let role = game.role_named(&tactic.role).unwrap();
    let mut brief = Brief::new(&game, role);
    brief.memory_bytes = 64 << 20;
    let mut agent = spec.agent(brief).unwrap();
    agent.begin(&Pace::default()).unwrap();
    let mut terms = game.terms().clone();
    let mut joint = |text: &String| {
        let terms = game.parse_terms(&mut terms, text).unwrap();
        terms.into_iter().map(Move::new).collect()
    };
    let played: Vec<Vec<Move>> = tactic.played.iter().map(&mut joint).collect();
    let (deadline, nodes) = spec.limits(None);
    let observation = Observation::of_joint_moves(role, played);
    let advice = agent
        .choose(&observation, &Pace::new(deadline, nodes))
        .unwrap();
    let mut terms = game.terms().clone();
    terms.refresh();
    let is_best = (tactic.best).contains(&game.text(&terms, advice.chosen.term()));
    (advice, is_best)
}

/// The moves of a role with which it wins by force within a number of joint moves, by plain search: for
/// games whose roles take turns.
pub fn wins(
    machine: &mut AnyMachine,
    state: &PropnetState,
    role: RoleId,
    within: usize,
) -> Vec<Move> {
    let mut best = Vec::new();
    for joint in joints(machine, state) {
        let next = machine.next(state, &joint).unwrap();
        if is_won(machine, &next, role, within - 1) {
            best.push(joint[role.index()]);
        }
    }
    best
}

/// The joint moves of a state.
fn joints(machine: &mut AnyMachine, state: &PropnetState) -> Vec<Vec<Move>> {
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let mut joints = vec![Vec::new()];
    let mut legal = Vec::new();
    for role in roles {
        machine.legal(state, role, &mut legal).unwrap();
        let longer = |joint: &Vec<Move>| {
            let with = |m: &Move| [&joint[..], &[*m]].concat();
            legal.iter().map(with).collect::<Vec<_>>()
        };
        joints = joints.iter().flat_map(longer).collect();
    }
    joints
}

fn is_won(machine: &mut AnyMachine, state: &PropnetState, role: RoleId, within: usize) -> bool {
    if machine.is_terminal(state).unwrap() {
        // Some published rules lack goals.
        let score = machine.goal(state, role);
        return score.is_ok_and(|score| score.get() == 100);
    }
    if within == 0 {
        return false;
    }
    let joints = joints(machine, state);
    let own = |joint: &Vec<Move>| joint[role.index()];
    let is_own_turn = joints.iter().any(|joint| own(joint) != own(&joints[0]));
    let mut wins = |joint: &Vec<Move>| {
        let next = machine.next(state, joint).unwrap();
        is_won(machine, &next, role, within - 1)
    };
    match is_own_turn {
        true => joints.iter().any(&mut wins),
        false => joints.iter().all(&mut wins),
    }
}
