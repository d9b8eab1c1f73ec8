//! Agreement of states that are tested many at a time with play step by step.

use std::fmt::Write as _;

use ggp_engine::machine::{DatalogMachine, Machine};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::TermId;

use super::{End, limits};

/// A joint move that was made.
pub struct Step {
    pub joint: Vec<Move>,
    /// By role: the legal moves.
    pub legal: Vec<Vec<Move>>,
    /// The facts after it.
    pub facts: Vec<TermId>,
}

/// Compares [`DatalogMachine::states_along`] with moves that were made from the initial state,
/// after which the game was over or not.
pub fn compare_along(game: &Game, work: u64, played: &[Step], is_over: bool) -> Result<(), End> {
    let mut machine = DatalogMachine::for_few_states(game, limits(work))?;
    machine.terms_mut().refresh();
    let start = machine.initial()?;
    let mut joints: Vec<&[Move]> = played.iter().map(|step| &step.joint[..]).collect();
    let differs = |what: &str| Err(End::Differs(format!("states along moves: {what}")));
    let Some(states) = machine.states_along(&start, &joints)? else {
        return differs("refused");
    };
    let facts = states.iter().map(|state| machine.facts(state));
    if !facts.eq(played.iter().map(|step| step.facts.clone())) {
        return differs("facts");
    }
    // A move that is legal at another time only.
    let others = played.iter().flat_map(|step| &step.legal);
    let others: Vec<Move> = others.flatten().copied().collect();
    for (place, step) in played.iter().enumerate() {
        let wrong = others.iter().find(|other| !step.legal[0].contains(other));
        if let Some(wrong) = wrong {
            let mut joint = step.joint.clone();
            joint[0] = *wrong;
            let mut changed = joints.clone();
            changed[place] = &joint;
            if machine.states_along(&start, &changed)?.is_some() {
                return differs("a move that is not legal");
            }
        }
    }
    if let (true, Some(last)) = (is_over, played.last()) {
        joints.push(&last.joint);
        if machine.states_along(&start, &joints)?.is_some() {
            return differs("a move after the end");
        }
    }
    Ok(())
}

#[test]
fn more_states_than_lanes_are_tested_in_portions() {
    let mut rules = String::from(
        "(role r) (init (at 0)) (<= (legal r (add ?n)) (small ?n)) (small 1) (small 2)
         (<= (next (at ?z)) (true (at ?x)) (does r (add 1)) (succ ?x ?z))
         (<= (next (at ?z)) (true (at ?x)) (does r (add 2)) (succ ?x ?y) (succ ?y ?z))
         (<= terminal (true (at 200))) (goal r 100)",
    );
    for number in 0..300 {
        let _ = write!(rules, "(succ {number} {})", number + 1);
    }
    let game = Game::from_text("count", &rules).unwrap();
    let mut machine = DatalogMachine::for_few_states(&game, limits(1_000_000)).unwrap();
    let role = game.roles().next().unwrap();
    let mut state = machine.initial().unwrap();
    let mut played = Vec::new();
    while !machine.is_terminal(&state).unwrap() {
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal).unwrap();
        let joint = vec![legal[0]];
        state = machine.play(&state, &joint).unwrap();
        played.push(Step {
            facts: machine.facts(&state),
            joint,
            legal: vec![legal],
        });
    }
    assert_eq!(played.len(), 200);
    assert!(compare_along(&game, 1_000_000, &played, true).is_ok());
    let short = &played[..130];
    assert!(compare_along(&game, 1_000_000, short, false).is_ok());
}
