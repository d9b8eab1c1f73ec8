//! A role of a game with `sees` gets its own moves and percepts and nothing else.

use std::sync::{Arc, Mutex};

use super::*;
use crate::contest::{Contest, Opening};
use crate::referee::{Asking, Contender, Lapse, Position};
use ggp_engine::machine::DatalogMachine;

const SIDES: &str = include_str!("sides.kif");

fn sides() -> Game {
    Game::from_text("sides", SIDES).unwrap()
}

fn machine() -> DatalogMachine {
    DatalogMachine::new(&sides(), Limits::default()).unwrap()
}

fn parsed(text: &str) -> Move {
    machine().read_move(text).unwrap()
}

/// A contender that makes moves of a list and notes what it gets.
struct Spy {
    moves: Vec<&'static str>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Contender for Spy {
    fn start(&mut self) -> Result<(), Lapse> {
        Ok(())
    }

    fn choose(&mut self, position: &Position<'_>) -> Result<Move, Lapse> {
        let (seen, news) = (position.observation(), position.news);
        assert_eq!(seen.joint_moves(), None);
        assert_eq!(seen.len(), position.turn());
        let note = format!("{seen:?} {news:?} {:?}", position.legal);
        self.notes.lock().unwrap().push(note);
        match self.moves[seen.len()] {
            "late" => Err(Lapse::Late),
            text => Ok(parsed(text)),
        }
    }

    fn stop(&mut self, news: &News) {
        self.notes.lock().unwrap().push(format!("{news:?}"));
    }
}

#[test]
fn contenders_are_told_nothing_else() {
    for asking in [Asking::InTurn, Asking::AtOnce] {
        for seed in 0..8 {
            let play = |side: &'static str| {
                let notes = Arc::default();
                let alice = Spy {
                    moves: vec![side; 4],
                    notes: Arc::default(),
                };
                let bob = Spy {
                    moves: vec!["(guess heads)", "late", "late", "late"],
                    notes: Arc::clone(&notes),
                };
                let contest = Contest {
                    machine: machine(),
                    asking,
                    seed,
                    opening: Opening::default(),
                    most_moves: 10,
                    stop: Stop::new(),
                };
                let mut contenders: [Option<Box<dyn Contender>>; 3] =
                    [Some(Box::new(alice)), None, Some(Box::new(bob))];
                let result = contest.play(&mut contenders).unwrap();
                let notes: Vec<String> = notes.lock().unwrap().clone();
                (result.moves, notes)
            };
            let (first, notes) = play("(hide heads)");
            let (second, others) = play("(hide tails)");
            assert_ne!(first, second);
            assert_eq!(notes, others, "seed {seed}");
            assert_eq!(notes.len(), 5);
            assert!(notes[4].contains("(turn 4)"), "{}", notes[4]);
        }
    }
}

/// An agent that makes its moves by a list and notes its observations.
struct SpyAgent(Arc<Mutex<Vec<Observation>>>);

impl Agent for SpyAgent {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, _pace: &Pace) -> Result<Advice, PlayerError> {
        self.0.lock().unwrap().push(observation.clone());
        Ok(Advice::of(parsed("(guess tails)")))
    }
}

#[test]
fn agents_of_a_match_are_told_nothing_else() {
    let play = |side: &'static str, seed| {
        let game = sides();
        let notes = Arc::default();
        let bob = game.role_named("bob").unwrap();
        let brief = Brief::new(&game, bob);
        let thread = AgentThread::with(brief, |_| Ok(Box::new(SpyAgent(Arc::clone(&notes)))));
        let agent = AgentPlayer {
            thread: thread.unwrap(),
            role: bob,
            spec: "first".parse().unwrap(),
            clock: None,
            stop: Stop::new(),
            is_ready: false,
            listener: None,
        };
        let mut players: [Box<dyn Player<DatalogMachine>>; 3] = [
            Box::new(Script(vec![Some(side); 4])),
            Box::new(Chance::new(seed)),
            Box::new(agent),
        ];
        let mut played = machine();
        let start = played.initial().unwrap();
        let mut game = Match::new(played, start.clone());
        while game.step(&mut players).unwrap() == Step::Moved {}
        let seen = Observation::of_history(&sides(), bob, game.history());
        let joint_moves: Vec<_> = game
            .history()
            .plies()
            .map(|ply| ply.joint.clone())
            .collect();
        let again = Observation::of_match(&machine(), bob, start, &joint_moves);
        assert_eq!(again, Ok(seen.clone()));
        let notes: Vec<Observation> = notes.lock().unwrap().clone();
        (joint_moves, notes, seen)
    };
    for seed in 0..4 {
        let (first, notes, seen) = play("(hide heads)", seed);
        let (second, others, same) = play("(hide tails)", seed);
        assert_ne!(first, second);
        assert_eq!((&notes, &seen), (&others, &same));
        assert_eq!(notes.len(), 4);
        assert!(notes.iter().all(|seen| seen.joint_moves().is_none()));
        let text = |term| sides().text(machine().terms(), term);
        let last = seen.percepts().unwrap().last().unwrap();
        let last: Vec<String> = last.iter().map(|percept| text(*percept)).collect();
        assert_eq!(last, ["(turn 4)"]);
    }
}

#[test]
fn percepts_are_forgotten_with_the_moves_taken_back() {
    let mut played = machine();
    let start = played.initial().unwrap();
    let mut game = Match::new(played, start);
    let joint = ["(hide heads)", "(draw 1)", "(guess heads)"].map(parsed);
    game.play(joint.to_vec()).unwrap();
    game.play(joint.to_vec()).unwrap();
    let bob = sides().role_named("bob").unwrap();
    let seen = |game: &Match<_>| Observation::of_history(&sides(), bob, game.history());
    assert_eq!(seen(&game).len(), 2);
    assert_eq!(game.undo(&[bob]), Ok(1));
    assert_eq!(seen(&game).percepts().map(<[_]>::len), Some(1));
    // Chance knows all moves.
    let chance = sides().role_named("random").unwrap();
    let seen = Observation::of_history(&sides(), chance, game.history());
    assert_eq!(seen.joint_moves().map(<[_]>::len), Some(1));
}
