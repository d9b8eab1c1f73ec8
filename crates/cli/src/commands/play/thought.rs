//! The thoughts of agents about their moves, as text.

use ggp_gdl::counted::counted;
use std::cell::RefCell;
use std::rc::Rc;

use crate::numbers::thousands;
use ggp_play::{AgentAnswer, AgentSpec};

/// The thoughts that were not shown yet.
pub type Thoughts = Rc<RefCell<Vec<Thought>>>;

/// The thought of an agent about one move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thought {
    /// The player and the result of its search.
    pub text: String,
    /// True if its search had no result.
    pub is_blind: bool,
}

/// A listener that adds the thoughts of an agent that searches.
pub fn listener(role: String, spec: &AgentSpec, to: &Thoughts) -> impl FnMut(&AgentAnswer) + use<> {
    let (player, to) = (format!("{role} ({spec})"), Rc::clone(to));
    move |answer| to.borrow_mut().extend(thought(&player, answer))
}

/// The thought of a player that searches. `None` if it had no choice.
fn thought(player: &str, answer: &AgentAnswer) -> Option<Thought> {
    if answer.error.is_some() {
        return None;
    }
    let advice = answer.advice.as_ref();
    if advice.is_none_or(|advice| advice.is_blind) {
        let reason = if answer.is_late {
            "found no move in its time and makes any legal one; give it more time"
        } else {
            "makes any legal move: its search is too short; allow more iterations"
        };
        return Some(Thought {
            text: format!("{player} {reason}"),
            is_blind: true,
        });
    }
    let advice = advice.filter(|advice| advice.nodes > 0)?;
    let steps = counted(thousands(advice.nodes), "search step");
    let value = advice.value.map(|value| format!("expects {value:.1}"));
    let text = [Some(steps), value].into_iter().flatten();
    Some(Thought {
        text: format!("{player}: {}", text.collect::<Vec<_>>().join(", ")),
        is_blind: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
    use ggp_gdl::game::Game;
    use ggp_play::{Advice, Origin};

    /// The text for an answer after some steps of search.
    fn text(nodes: u64, is_blind: bool, is_late: bool) -> Option<(String, bool)> {
        let rules = "(role a) (init p) (legal a m) terminal (goal a 50)";
        let game = Game::from_text("one.kif", rules).expect("the rules are valid");
        let machine = AnyMachine::new(&game, Backend::Datalog, Limits::default());
        let chosen = machine.expect("it is small").read_move("m");
        let advice = Advice {
            nodes,
            is_blind,
            value: (nodes > 0).then_some(50.0),
            ..Advice::of(chosen.expect("it is a move"))
        };
        let answer = AgentAnswer {
            advice: Some(advice),
            origin: Origin::Agent,
            finished: true,
            is_late,
            error: None,
        };
        let thought = thought("a (mcts)", &answer)?;
        Some((thought.text, thought.is_blind))
    }

    #[test]
    fn only_moves_without_search_are_reported_as_such() {
        let found = text(0, true, true).expect("it is reported");
        assert!(
            found.0.ends_with("give it more time") && found.1,
            "{found:?}"
        );
        let found = text(0, true, false).expect("it is reported");
        assert!(!found.0.contains("time") && found.1, "{found:?}");
        // Earlier work may have decided the move.
        assert_eq!(text(0, false, true), None);
        let said = "a (mcts): 1,234 search steps, expects 50.0".to_owned();
        assert_eq!(text(1234, false, false), Some((said, false)));
    }
}
