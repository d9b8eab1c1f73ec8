//! The choices of agents in positions with few best moves.
//!
//! `tests/tactics/positions.txt` is written by the exhaustive search of this file, which shares
//! no code with the searches it checks. After a new game is added to [`GAMES`],
//! `TACTICS=overwrite cargo test --test all tactics::` writes it again.

use std::collections::HashMap;
use std::{env, fs};

use ggp_engine::machine::{AnyMachine, Limits, Machine, PropnetState};
use ggp_gdl::game::{Move, RoleId};
use ggp_play::AgentSpec;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

mod shared;

use shared::{Tactic, ask, few, game, paragraph, read, root, wins};

/// Constant-sum games of two roles in turn.
const GAMES: &[&str] = &[
    "amazons",
    "checkers",
    "chomp",
    "connect_four",
    "connect_four_small",
    "domineering",
    "dots_and_boxes",
    "fox_and_hounds",
    "hex",
    "kalah",
    "nim",
    "othello",
    "tic_tac_toe",
];
/// The most positions of each game.
const EACH: usize = 4;
/// The number of matches played to find them.
const MATCHES: u64 = 60;
/// The most positions of an exhaustive search.
const MET: usize = 3_000;

/// An exhaustive search.
struct Exhaustive<'m> {
    machine: &'m mut AnyMachine,
    /// The score of the first role by state.
    known: HashMap<PropnetState, u8>,
}

impl Exhaustive<'_> {
    fn legal(&mut self, state: &PropnetState) -> [Vec<Move>; 2] {
        let mut legal = [Vec::new(), Vec::new()];
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        assert_eq!(roles.len(), 2);
        for (role, legal) in roles.iter().zip(&mut legal) {
            self.machine.legal(state, *role, legal).unwrap();
        }
        assert!(
            legal.iter().any(|moves| moves.len() == 1),
            "roles take turns"
        );
        legal
    }

    /// The value of each joint move for the first role; `None` if the search is too large.
    fn moves(&mut self, state: &PropnetState) -> Option<Vec<(Vec<Move>, u8)>> {
        let [first, second] = self.legal(state);
        let joints = (first.iter()).flat_map(|a| second.iter().map(|b| vec![*a, *b]));
        let joints: Vec<Vec<Move>> = joints.collect();
        let mut found = Vec::new();
        for joint in joints {
            let next = self.machine.next(state, &joint).unwrap();
            found.push((joint, self.value(&next)?));
        }
        Some(found)
    }

    fn value(&mut self, state: &PropnetState) -> Option<u8> {
        if let Some(value) = self.known.get(state) {
            return Some(*value);
        }
        if self.known.len() >= MET {
            return None;
        }
        let value = if self.machine.is_terminal(state).unwrap() {
            let roles: Vec<RoleId> = self.machine.game().roles().collect();
            let score = |role: &RoleId| self.machine.goal(state, *role).unwrap().get();
            let scores: Vec<u8> = roles.iter().map(score).collect();
            assert_eq!(scores[0] + scores[1], 100);
            scores[0]
        } else {
            let is_first = self.legal(state)[0].len() > 1;
            let values = self.moves(state)?.into_iter().map(|(_, value)| value);
            match is_first {
                true => values.max()?,
                false => values.min()?,
            }
        };
        self.known.insert(state.clone(), value);
        Some(value)
    }
}

/// The best moves of a position, if it can be searched and is a suitable test.
fn tactic(
    machine: &mut AnyMachine,
    name: &str,
    state: &PropnetState,
    played: &[Vec<Move>],
) -> Option<Result<Tactic, ()>> {
    let mut exhaustive = Exhaustive {
        machine,
        known: HashMap::new(),
    };
    let legal = exhaustive.legal(state);
    let chooser = usize::from(legal[0].len() == 1);
    // The score of the role to move.
    let own = |value: u8| if chooser == 0 { value } else { 100 - value };
    let found = exhaustive.moves(state)?;
    let best = found.iter().map(|(_, value)| own(*value)).max()?;
    let game = machine.game().clone();
    let text = |m: &Move| game.text(machine.terms(), m.term());
    let is_best = |found: &&(Vec<Move>, u8)| own(found.1) == best;
    let best_moves: Vec<&(Vec<Move>, u8)> = found.iter().filter(is_best).collect();
    let tactic = Tactic {
        game: name.to_owned(),
        role: game.role_name(game.roles().nth(chooser)?).to_owned(),
        value: best,
        best: best_moves
            .iter()
            .map(|(joint, _)| text(&joint[chooser]))
            .collect(),
        legal: found.len(),
        played: (played.iter())
            .map(|joint| joint.iter().map(text).collect::<Vec<_>>().join(" "))
            .collect(),
    };
    let is_few = tactic.legal >= 4 && 3 * best_moves.len() <= tactic.legal
        || tactic.legal == 3 && best_moves.len() == 1;
    // A best move that ends the game at once is too easy.
    let mut is_over = |joint: &[Move]| {
        let next = machine.next(state, joint).unwrap();
        machine.is_terminal(&next).unwrap()
    };
    let is_deep = best_moves.iter().all(|(joint, _)| !is_over(joint));
    Some(if is_few && is_deep {
        Ok(tactic)
    } else {
        Err(())
    })
}

/// Plays a random match and goes back from its end as far as an exhaustive search is possible.
fn find(machine: &mut AnyMachine, name: &str, seed: u64) -> Option<Tactic> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let mut states = vec![machine.initial().unwrap()];
    let mut played = Vec::new();
    while !machine.is_terminal(&states[played.len()]).unwrap() {
        let state = &states[played.len()];
        let mut joint = Vec::new();
        let mut legal = Vec::new();
        for role in &roles {
            machine.legal(state, *role, &mut legal).unwrap();
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        states.push(machine.next(state, &joint).unwrap());
        played.push(joint);
    }
    let mut earliest = None;
    for at in (0..played.len()).rev() {
        match tactic(machine, name, &states[at], &played[..at]) {
            None => break,
            Some(found) => earliest = found.ok().or(earliest),
        }
    }
    earliest
}

fn found() -> Vec<Tactic> {
    let mut all: Vec<Tactic> = Vec::new();
    for name in GAMES {
        let (mut machine, _) = AnyMachine::auto(&game(name), Limits::default()).unwrap();
        let mut of_game = Vec::new();
        for seed in 0..MATCHES {
            let tactic = find(&mut machine, name, seed);
            of_game.extend(tactic.filter(|tactic| !of_game.contains(tactic)));
            if of_game.len() == EACH {
                break;
            }
        }
        all.extend(of_game);
    }
    all
}

#[test]
fn positions_match_an_exhaustive_search() {
    let found = found();
    if env::var_os("TACTICS").is_some_and(|value| value == "overwrite") {
        let comment = "Positions with few best moves. Written by tests/tactics.rs.";
        let paragraphs: String = found.iter().map(paragraph).collect();
        fs::write(few(), format!("# {comment}\n{paragraphs}")).unwrap();
    }
    assert_eq!(read(&few()), found);
    assert!(found.len() >= 40);
    for name in GAMES {
        assert!(found.iter().any(|tactic| tactic.game == *name), "{name}");
    }
}

/// The number of positions in which an agent finds a best move, and the others. Its proved
/// bounds must be correct.
fn solved(spec: &str, mut tactics: Vec<Tactic>) -> (usize, Vec<Tactic>) {
    let spec: AgentSpec = spec.parse().unwrap();
    let all = tactics.len();
    tactics.retain(|tactic| {
        let (advice, is_best) = ask(tactic, &spec);
        let ((least, most), value) = (advice.bounds, f64::from(tactic.value));
        assert!(least <= value && value <= most, "{tactic:?}: {advice:?}");
        !is_best
    });
    (all - tactics.len(), tactics)
}

#[test]
fn alpha_beta_finds_every_best_move() {
    let (_, failed) = solved("minimax:3000", read(&few()));
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_default_agent_finds_every_best_move() {
    let (_, failed) = solved("auto:10000", read(&few()));
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn tree_search_finds_most_best_moves() {
    let (count, failed) = solved("mcts:1000", read(&few()));
    assert!(count >= 9 * failed.len(), "{count} and not {failed:#?}");
}

/// Positions that are too large for the exhaustive search. What agents prove of them must agree with
/// the solver that found their values.
#[test]
fn nothing_proved_contradicts_another_solver() {
    for name in ["lost", "random"] {
        let path = root().join(format!("tests/tactics/{name}.txt"));
        let tactics = read(&path);
        assert!(tactics.len() >= 60, "{name}");
        for spec in ["mcts:1000", "minimax:100"] {
            let (found, _) = solved(spec, tactics.clone());
            assert!(found > 0, "{name}: {spec} finds nothing");
        }
    }
}

/// Positions of random matches with forced wins: the moves listed are those that plain search finds,
/// and players find one of them.
#[test]
fn forced_wins_are_found() {
    let mut tactics = read(&root().join("tests/tactics/mates.txt"));
    assert_eq!(tactics.len(), 40);
    let each = crate::common::sized(10, 1);
    let mut number = 0..;
    tactics.retain(|_| {
        number
            .next()
            .is_some_and(|number: usize| number.is_multiple_of(each))
    });
    for tactic in &tactics {
        let game = game(&tactic.game);
        let (mut machine, _) = AnyMachine::auto(&game, Limits::default()).unwrap();
        let mut state = machine.initial().unwrap();
        for joint in &tactic.played {
            let joint = game.parse_terms(machine.terms_mut(), joint).unwrap();
            let joint: Vec<Move> = joint.into_iter().map(Move::new).collect();
            state = machine.next(&state, &joint).unwrap();
        }
        let role = game.role_named(&tactic.role).unwrap();
        // At once, or after an answer.
        let mut best = wins(&mut machine, &state, role, 1);
        if best.is_empty() {
            best = wins(&mut machine, &state, role, 3);
        }
        let text = |m: &Move| game.text(machine.terms(), m.term());
        assert_eq!(best.iter().map(text).collect::<Vec<_>>(), tactic.best);
    }
    for spec in ["minimax:3000", "mcts:20000"] {
        let (_, failed) = solved(spec, tactics.clone());
        assert!(failed.is_empty(), "{spec}: {failed:#?}");
    }
}
