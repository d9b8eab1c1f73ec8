//! The thoughts of agents about their moves, as text.

use std::cell::RefCell;
use std::rc::Rc;

use crate::numbers::thousands;
use ggp_play::{Advice, AgentAnswer, AgentSpec, Origin};

/// The thoughts that were not shown yet.
pub type Thoughts = Rc<RefCell<Vec<Thought>>>;

/// The thought of an agent about one move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thought {
    /// The player and the result of its search.
    pub text: String,
    /// True if the time was over before its search had any result.
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
    let found = advice.filter(|_| answer.origin != Origin::Random);
    let is_blind = found.is_none_or(Advice::is_blind);
    if is_blind {
        return Some(Thought {
            text: format!("{player} found no move in its time and makes any legal one"),
            is_blind,
        });
    }
    let advice = found.filter(|advice| advice.nodes > 0)?;
    let steps = match advice.nodes {
        1 => "1 step of search".to_owned(),
        nodes => format!("{} steps of search", thousands(nodes)),
    };
    let value = advice.value.map(|value| format!("expects {value:.1}"));
    let text = [Some(steps), value].into_iter().flatten();
    Some(Thought {
        text: format!("{player}: {}", text.collect::<Vec<_>>().join(", ")),
        is_blind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{DatalogMachine, Limits, Machine};
    use ggp_gdl::game::Game;
    use ggp_play::Candidate;

    /// The text for an answer with some steps of search and some listed moves.
    fn text(nodes: u64, listed: usize, origin: Origin) -> Option<(String, bool)> {
        let rules =
            "(role a) (init p) (legal a m) (legal a n) (<= terminal (not (true p))) (goal a 50)";
        let game = Game::from_text("two.kif", rules).expect("the rules are valid");
        let mut machine = DatalogMachine::new(&game, Limits::default()).expect("it is small");
        let state = machine.initial().expect("it is small");
        let role = game.roles().next().expect("there is one");
        let mut legal = Vec::new();
        machine
            .legal(&state, role, &mut legal)
            .expect("it is small");
        let candidate = |action: &_| Candidate {
            action: *action,
            visits: 1,
            value: 50.0,
            bounds: (0.0, 100.0),
            distance: None,
        };
        let advice = Advice {
            nodes,
            value: (nodes > 0).then_some(50.0),
            candidates: legal.iter().take(listed).map(candidate).collect(),
            ..Advice::of(legal[0])
        };
        let answer = AgentAnswer {
            advice: Some(advice),
            origin,
            finished: true,
            error: None,
        };
        let thought = thought("a (mcts)", &answer)?;
        Some((thought.text, thought.is_blind))
    }

    #[test]
    fn moves_without_search_are_reported() {
        let said = |text: &str, is_blind| Some((text.to_owned(), is_blind));
        let blind = said(
            "a (mcts) found no move in its time and makes any legal one",
            true,
        );
        assert_eq!(text(0, 2, Origin::Published), blind);
        assert_eq!(text(9, 2, Origin::Random), blind);
        // A forced move.
        assert_eq!(text(0, 1, Origin::Agent), None);
        let searched = said("a (mcts): 1,234 steps of search, expects 50.0", false);
        assert_eq!(text(1234, 2, Origin::Agent), searched);
    }
}
