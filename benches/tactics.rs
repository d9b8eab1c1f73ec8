//! Number of positions with few best moves in which agents find one of them.
//!
//! ```text
//! cargo bench --bench tactics -- [--positions FILE] [PLAYER ...]
//! cargo bench --bench tactics -- --find SECONDS MATCHES [GAME ...]
//! cargo bench --bench tactics -- --values COUNT
//! cargo bench --bench tactics -- --wins JOINT_MOVES COUNT [GAME ...]
//! ```
//!
//! A player is written as for `ggp play`. Without one, several built-in players
//! run: some with one second per position, others with a number of iterations or
//! positions. The positions are those of `tests/tactics/positions.txt` if no other file is given.
//!
//! `--find` prints those of `tests/tactics/lost.txt`: matches of `mcts` against itself with SECONDS for
//! each move, searched from their ends for the move that gave them up. `--values` prints those of
//! `tests/tactics/random.txt`: random positions of which the values of all moves are known.
//! `--wins` prints those of `tests/tactics/mates.txt`: positions of random matches from which the role to
//! move wins by force within a number of joint moves, but not sooner.

use std::collections::BTreeMap;
use std::time::Instant;

use ggp_play::AgentSpec;

#[path = "tactics/find.rs"]
mod find;
#[path = "tactics/perfect.rs"]
mod perfect;
#[path = "../tests/tactics/shared.rs"]
mod shared;
#[path = "tactics/wins.rs"]
mod wins;

use shared::{ask, read};

const PLAYERS: &[&str] = &[
    "random",
    "greedy",
    "auto:1s",
    "mcts:1s",
    "minimax:1s",
    "mcts:1000",
    "minimax:1000",
];

fn main() {
    // Cargo adds --bench to the user's arguments.
    let mut players: Vec<String> = std::env::args().skip(1).collect();
    players.retain(|argument| argument != "--bench");
    if players.first().is_some_and(|first| first == "--find") {
        let seconds = players[1].parse().expect("SECONDS is a number");
        let matches = players[2].parse().expect("MATCHES is a number");
        return find::run(seconds, matches, &players[3..]);
    }
    if players.first().is_some_and(|first| first == "--values") {
        return perfect::run(players[1].parse().expect("COUNT is a number"));
    }
    if players.first().is_some_and(|first| first == "--wins") {
        let within = players[1].parse().expect("JOINT_MOVES is a number");
        let count = players[2].parse().expect("COUNT is a number");
        return wins::run(within, count, &players[3..]);
    }
    let mut path = shared::few();
    if players.first().is_some_and(|first| first == "--positions") {
        path = players[1].clone().into();
        players.drain(..2);
    }
    let tactics = read(&path);
    if players.is_empty() {
        players = PLAYERS.iter().map(|player| (*player).to_owned()).collect();
    }
    for player in players {
        let spec: AgentSpec = player.parse().expect("the player is valid");
        let started = Instant::now();
        let mut by_game: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut proved = 0;
        let mut slowest = 0.0_f64;
        for tactic in &tactics {
            let asked = Instant::now();
            let (advice, is_best) = ask(tactic, &spec);
            slowest = slowest.max(asked.elapsed().as_secs_f64());
            let (found, all) = by_game.entry(&tactic.game).or_default();
            *found += usize::from(is_best);
            *all += 1;
            proved += usize::from(advice.bounds.0 == advice.bounds.1);
        }
        let found: usize = by_game.values().map(|(found, _)| found).sum();
        println!(
            "{player}: {found} of {}, {proved} with proof, {:.1} s in total, {slowest:.2} s at most",
            tactics.len(),
            started.elapsed().as_secs_f64(),
        );
        let line = |(game, (found, all)): (&&str, &(usize, usize))| format!("{game} {found}/{all}");
        let lines: Vec<String> = by_game.iter().map(line).collect();
        println!("  {}", lines.join(", "));
    }
}
