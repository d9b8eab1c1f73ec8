//! Positions of random matches from which the role to move wins by force within a few joint moves.

use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_gdl::game::{Move, RoleId};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::shared::{Tactic, game, paragraph, wins};

/// The most states of one match that are searched.
const EACH: usize = 8;

/// Prints `count` positions of each game from which the role to move wins after `within` joint moves
/// at most, but not sooner, whatever the others do.
pub fn run(within: usize, count: usize, games: &[String]) {
    for name in games {
        let game = game(name);
        let (mut machine, _) = AnyMachine::auto(&game, Limits::default()).expect("valid");
        let roles: Vec<RoleId> = game.roles().collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut found = 0;
        while found < count {
            let mut state = machine.initial().expect("valid");
            let (mut states, mut played, mut legal) = (vec![state.clone()], Vec::new(), Vec::new());
            while !machine.is_terminal(&state).expect("valid") {
                let mut joint = Vec::new();
                for role in &roles {
                    machine.legal(&state, *role, &mut legal).expect("valid");
                    joint.push(legal[random.random_range(0..legal.len())]);
                }
                state = machine.next(&state, &joint).expect("valid");
                states.push(state.clone());
                played.push(joint);
            }
            for _ in 0..EACH {
                let at = random.random_range(0..played.len());
                let mut legal = Vec::new();
                let mut has_choice = |role: &&RoleId| {
                    machine
                        .legal(&states[at], **role, &mut legal)
                        .expect("valid");
                    legal.len() > 1
                };
                let Some(&role) = roles.iter().find(|role| has_choice(role)) else {
                    continue;
                };
                if within > 2 && !wins(&mut machine, &states[at], role, within - 2).is_empty() {
                    continue;
                }
                let best = wins(&mut machine, &states[at], role, within);
                machine.legal(&states[at], role, &mut legal).expect("valid");
                if best.is_empty() || best.len() == legal.len() {
                    continue;
                }
                let text = |m: &Move| game.text(machine.terms(), m.term());
                let tactic = Tactic {
                    game: name.clone(),
                    role: game.role_name(role).to_owned(),
                    value: 100,
                    best: best.iter().map(text).collect(),
                    legal: legal.len(),
                    played: (played[..at].iter())
                        .map(|joint| joint.iter().map(text).collect::<Vec<_>>().join(" "))
                        .collect(),
                };
                print!("{}", paragraph(&tactic));
                found += 1;
                break;
            }
        }
    }
}
