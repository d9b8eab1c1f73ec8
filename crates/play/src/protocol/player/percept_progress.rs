//! The progress of a match of which the player knows its own moves and percepts.
//!
//! In: the last turns of messages, in either form for games with `sees`. Out: the player's
//! knowledge at each message. The state is unknown, so moves are not compared with the rules.

use super::match_progress::{OutOfStep, spelled};
use super::progress::Receipt;
use crate::Observation;
use crate::protocol::message::LastTurn;
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::{TermId, Terms};

/// The player's moves and percepts so far, and its answers.
#[derive(Debug)]
pub(super) struct PerceptProgress {
    game: Game,
    terms: Terms,
    own: Vec<Move>,
    percepts: Vec<Vec<TermId>>,
    /// The answers, by the number of earlier turns.
    answers: Vec<Option<Move>>,
    /// The last list of the form without numbers.
    last: Option<LastTurn>,
}

impl PerceptProgress {
    /// A match without moves.
    pub(super) fn new(game: &Game) -> Self {
        PerceptProgress {
            game: game.clone(),
            terms: game.terms().clone(),
            own: Vec::new(),
            percepts: Vec::new(),
            answers: vec![None],
            last: None,
        }
    }

    /// The number of turns so far.
    pub(super) fn made(&self) -> usize {
        self.own.len()
    }

    /// The knowledge after a number of turns.
    pub(super) fn observation(&self, made: usize) -> Observation {
        Observation::of_percepts(&self.own[..made], &self.percepts[..made])
    }

    /// The move that the host made for the player in a turn.
    pub(super) fn own_move(&self, turn: usize) -> Move {
        self.own[turn]
    }

    /// The answer after a number of turns.
    pub(super) fn answer(&self, made: usize) -> Option<Move> {
        self.answers[made]
    }

    /// Records the answer after a number of turns.
    pub(super) fn set_answer(&mut self, made: usize, chosen: Move) {
        self.answers[made] = Some(chosen);
    }

    /// A move in the spelling of the rules; `None` if it is too long to send.
    pub(super) fn text(&mut self, chosen: Move) -> Option<String> {
        spelled(&self.game, &mut self.terms, chosen)
    }

    /// Processes the last turn of a message. `is_answered` is whether the host received the
    /// last answer.
    ///
    /// # Errors
    ///
    /// The reason why the turn does not follow the known ones. Nothing is changed then.
    pub(super) fn receive(
        &mut self,
        last: &LastTurn,
        is_answered: bool,
    ) -> Result<Receipt, OutOfStep> {
        match last {
            LastTurn::List(_) => self.receive_list(last, is_answered),
            LastTurn::Own {
                turn,
                own_move,
                percepts: _,
            } => self.receive_own(*turn, own_move.as_deref(), last.list()),
        }
    }

    /// Processes a turn with its number and the own move.
    fn receive_own(
        &mut self,
        turn: u64,
        own_move: Option<&str>,
        percepts: &[String],
    ) -> Result<Receipt, OutOfStep> {
        let made = self.made();
        let mut remarks = Vec::new();
        match usize::try_from(turn) {
            Ok(turn) if turn <= made => return Ok(Receipt::after(turn)),
            Ok(turn) if turn == made + 1 => {}
            // The message before this one was lost, and with it the percepts of one turn.
            Ok(turn) if turn == made + 2 && self.answers[made].is_some() => {
                remarks.push(format!(
                    "the message with the percepts of turn {} was lost; they are unknown",
                    made + 1
                ));
            }
            _ => {
                return Err(OutOfStep::Lost(format!(
                    "turn {turn} follows turn {made}; the messages between them were lost"
                )));
            }
        }
        let is_lost = !remarks.is_empty();
        // After a lost message there is no answer for the last turn.
        let answer = self.answers[made].filter(|_| !is_lost);
        let own = own_move.map(|text| self.game.parse_term(&mut self.terms, text).map(Move::new));
        let own = match (own, answer) {
            (Some(Ok(own)), _) => own,
            (unreadable, Some(answer)) => {
                remarks.push(match unreadable {
                    Some(Err(error)) => format!("the own move cannot be read: {error}"),
                    _ => "the own move is missing".to_owned(),
                });
                answer
            }
            (Some(Err(error)), None) => return Err(OutOfStep::Malformed(error.to_string())),
            (None, None) => return Err(OutOfStep::Lost("the own move is missing".to_owned())),
        };
        if let Some(before) = self.answers[made].filter(|_| is_lost) {
            self.push(before, Vec::new());
        }
        let percepts = self.read(percepts, &mut remarks);
        self.push(own, percepts);
        Ok(Receipt {
            made: self.made(),
            remarks,
        })
    }

    /// Processes a list of percepts without the number of the turn and without the own move.
    fn receive_list(&mut self, last: &LastTurn, is_answered: bool) -> Result<Receipt, OutOfStep> {
        let made = self.made();
        let Some(before) = &self.last else {
            if !last.is_empty() {
                let reason = "the first message was lost; the own move is unknown";
                return Err(OutOfStep::Lost(reason.to_owned()));
            }
            self.last = Some(last.clone());
            return Ok(Receipt::after(made));
        };
        // A host without the answer may repeat its message. It may also have gone on, with the
        // same percepts; then nothing shows it.
        if !is_answered && before == last {
            return Ok(Receipt::after(made));
        }
        let Some(own) = self.answers[made] else {
            return Err(OutOfStep::Lost(format!(
                "the own move of turn {} is unknown: there was no answer",
                made + 1
            )));
        };
        let mut remarks = Vec::new();
        if !is_answered {
            remarks.push(format!(
                "the answer of turn {} was late, and the host does not say which move it made",
                made + 1
            ));
        }
        self.last = Some(last.clone());
        let percepts = self.read(last.list(), &mut remarks);
        self.push(own, percepts);
        Ok(Receipt {
            made: self.made(),
            remarks,
        })
    }

    /// The percepts of a list, in the order of machines. Those that cannot be read are left
    /// out and remarked on.
    fn read(&mut self, texts: &[String], remarks: &mut Vec<String>) -> Vec<TermId> {
        let mut percepts = Vec::with_capacity(texts.len());
        for text in texts {
            match self.game.parse_term(&mut self.terms, text) {
                Ok(percept) => percepts.push(percept),
                Err(error) => remarks.push(format!("a percept is left out: {error}")),
            }
        }
        percepts.sort_by(|a, b| self.game.compare_terms(&self.terms, *a, *b));
        percepts.dedup();
        percepts
    }

    fn push(&mut self, own: Move, percepts: Vec<TermId>) {
        self.own.push(own);
        self.percepts.push(percepts);
        self.answers.push(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "(role a) (role b) (legal a x) (legal a y) (legal b z) (init p) terminal
        (goal a 1) (goal b 1) (<= (sees a (did ?m)) (does b ?m)) (<= (sees a p) (true p))";

    fn progress() -> PerceptProgress {
        PerceptProgress::new(&Game::from_text("rules", RULES).unwrap())
    }

    fn list(percepts: &[&str]) -> LastTurn {
        let percepts = percepts.iter().map(|text| (*text).to_owned());
        LastTurn::List(Some(percepts.collect()))
    }

    fn own(turn: u64, own_move: &str, percepts: &[&str]) -> LastTurn {
        let percepts = percepts.iter().map(|text| (*text).to_owned());
        LastTurn::Own {
            turn,
            own_move: (turn > 0).then(|| own_move.to_owned()),
            percepts: Some(percepts.collect()),
        }
    }

    fn chosen(progress: &mut PerceptProgress, text: &str) -> Move {
        let game = progress.game.clone();
        Move::new(game.parse_term(&mut progress.terms, text).unwrap())
    }

    /// The turns, as text.
    fn known(progress: &PerceptProgress) -> Vec<String> {
        let text = |term| progress.game.text(&progress.terms, term);
        let seen = progress.own.iter().zip(&progress.percepts);
        let line = |(own, percepts): (&Move, &Vec<TermId>)| {
            let percepts: Vec<String> = percepts.iter().map(|one| text(*one)).collect();
            format!("{}: {}", text(own.term()), percepts.join(" "))
        };
        seen.map(line).collect()
    }

    fn made(progress: &mut PerceptProgress, last: &LastTurn, is_answered: bool) -> (usize, usize) {
        let receipt = progress.receive(last, is_answered).unwrap();
        (receipt.made, receipt.remarks.len())
    }

    #[test]
    fn numbered_turns_are_followed_and_may_be_repeated() {
        let mut progress = progress();
        assert_eq!(made(&mut progress, &own(0, "", &[]), false), (0, 0));
        // The host replaced the answer.
        let answer = chosen(&mut progress, "x");
        progress.set_answer(0, answer);
        assert_eq!(
            made(&mut progress, &own(1, "Y", &["P", "(did z)"]), false),
            (1, 0)
        );
        assert_eq!(made(&mut progress, &own(1, "y", &["p"]), true), (1, 0));
        assert_eq!(made(&mut progress, &own(0, "", &[]), true), (0, 0));
        assert_eq!(made(&mut progress, &own(2, "x", &[]), true), (2, 0));
        assert_eq!(known(&progress), ["y: p (did z)", "x: "]);
    }

    #[test]
    fn a_lost_message_leaves_percepts_unknown() {
        let mut progress = progress();
        progress.receive(&own(0, "", &[]), false).unwrap();
        let lost = progress.receive(&own(2, "y", &["p"]), true);
        assert!(matches!(lost, Err(OutOfStep::Lost(_))), "{lost:?}");
        let answer = chosen(&mut progress, "x");
        progress.set_answer(0, answer);
        assert_eq!(made(&mut progress, &own(2, "y", &["p"]), true), (2, 1));
        assert_eq!(known(&progress), ["x: ", "y: p"]);
        let lost = progress.receive(&own(u64::MAX, "y", &[]), true);
        assert!(matches!(lost, Err(OutOfStep::Lost(_))), "{lost:?}");
    }

    #[test]
    fn unreadable_percepts_and_moves_are_remarked_on() {
        let mut progress = progress();
        progress.receive(&own(0, "", &[]), false).unwrap();
        let wrong = progress.receive(&own(1, "unheard", &[]), true);
        assert!(matches!(wrong, Err(OutOfStep::Malformed(_))), "{wrong:?}");
        let answer = chosen(&mut progress, "x");
        progress.set_answer(0, answer);
        let odd = own(1, "nil", &["p", "(unheard of)", "(did", "?x", "(did z)"]);
        let receipt = progress.receive(&odd, true).unwrap();
        assert_eq!(receipt.remarks.len(), 4, "{:?}", receipt.remarks);
        assert_eq!(known(&progress), ["x: p (did z)"]);
    }

    #[test]
    fn lists_without_numbers_are_followed_by_the_answers() {
        let mut progress = progress();
        assert_eq!(made(&mut progress, &LastTurn::List(None), false), (0, 0));
        assert_eq!(made(&mut progress, &LastTurn::List(None), false), (0, 0));
        let answer = chosen(&mut progress, "x");
        progress.set_answer(0, answer);
        assert_eq!(made(&mut progress, &list(&["p"]), true), (1, 0));
        // Repeated, because the host has no answer yet.
        assert_eq!(made(&mut progress, &list(&["p"]), false), (1, 0));
        let lost = progress.receive(&list(&[]), false);
        assert!(matches!(lost, Err(OutOfStep::Lost(_))), "{lost:?}");
        progress.set_answer(1, answer);
        assert_eq!(made(&mut progress, &list(&["p"]), true), (2, 0));
        progress.set_answer(2, answer);
        assert_eq!(made(&mut progress, &list(&[]), false), (3, 1));
        progress.set_answer(3, answer);
        assert_eq!(made(&mut progress, &list(&[]), true), (4, 0));
        assert_eq!(known(&progress), ["x: p", "x: p", "x: ", "x: "]);
    }

    #[test]
    fn a_lost_first_list_is_noticed() {
        let lost = progress().receive(&list(&["p"]), false);
        assert!(matches!(lost, Err(OutOfStep::Lost(_))), "{lost:?}");
    }
}
