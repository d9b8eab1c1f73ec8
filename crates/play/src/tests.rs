mod secrecy;

use super::*;
use ggp_engine::machine::{AnyMachine, Backend, Limits};
use ggp_gdl::game::Game;

/// Two players take one or two of five matches in turn; taking the last one wins.
const RULES: &str = "
    (role a) (role b)
    (init (left 5)) (init (turn a))
    (minus 5 1 4) (minus 4 1 3) (minus 3 1 2) (minus 2 1 1) (minus 1 1 0)
    (minus 5 2 3) (minus 4 2 2) (minus 3 2 1) (minus 2 2 0)
    (other a b) (other b a)
    (<= (legal ?r ?k) (true (turn ?r)) (true (left ?n)) (minus ?n ?k ?m))
    (<= (legal ?r wait) (true (turn ?s)) (other ?r ?s))
    (<= (next (left ?m)) (true (left ?n)) (does ?r ?k) (minus ?n ?k ?m))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (left 0)))
    (<= (goal ?r 100) (true (left 0)) (true (turn ?s)) (other ?r ?s))
    (<= (goal ?r 0) (true (turn ?r)))";

fn game() -> Match<AnyMachine> {
    let game = Game::from_text("matches", RULES).unwrap();
    let mut machine = AnyMachine::new(&game, Backend::default(), Limits::default()).unwrap();
    let start = machine.initial().unwrap();
    Match::new(machine, start)
}

/// An agent of the kind, for a role.
fn agent(text: &str, role: usize, seed: u64) -> Box<dyn Player<AnyMachine>> {
    let game = game().machine().game().clone();
    let role = game.roles().nth(role).unwrap();
    let brief = Brief {
        seed,
        ..Brief::new(&game, role)
    };
    Box::new(AgentPlayer::new(brief, text.parse().unwrap()).unwrap())
}

/// Makes scripted decisions: a move, `quit`, or `None` to undo.
struct Script(Vec<Option<&'static str>>);

impl<M: Machine> Player<M> for Script {
    fn choose(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        assert!(
            turn.legal.len() > 1,
            "a player is asked only if it has a choice"
        );
        match self.0.remove(0) {
            None => Ok(Choice::Undo),
            Some("quit") => Ok(Choice::Quit),
            Some(text) => {
                let game = machine.game().clone();
                let term = game.parse_term(machine.terms_mut(), text).unwrap();
                Ok(Choice::Play(Move::new(term)))
            }
        }
    }
}

/// Plays to the end and carries out every undo.
fn run(game: &mut Match<AnyMachine>, players: [Box<dyn Player<AnyMachine>>; 2]) -> String {
    let mut players = players;
    let mut steps = Vec::new();
    loop {
        steps.push(match game.step(&mut players).unwrap() {
            Step::Moved => "moved".to_owned(),
            Step::Undo(role) => format!("back {}", game.undo(&[role]).unwrap()),
            Step::Over | Step::Quit(_) => return steps.join(" "),
        });
    }
}

#[test]
fn undo_goes_back_to_the_last_choice() {
    let mut game = game();
    let a = Script(vec![Some("1"), None, Some("2"), None, None, Some("quit")]);
    let steps = run(&mut game, [Box::new(a), agent("first", 1, 0)]);
    assert_eq!(steps, "moved moved back 2 moved moved back 2 back 0");
    assert!(game.history().is_empty());
}

#[test]
fn a_cloned_history_does_not_change_when_the_match_goes_back() {
    let mut game = game();
    run(&mut game, [agent("first", 0, 0), agent("first", 1, 0)]);
    let history = game.history().clone();
    let roles: Vec<RoleId> = game.machine().game().roles().collect();
    let left = |game: &Match<_>| game.history().len();
    assert_eq!(left(&game), 5);
    // The last match is taken without a choice.
    assert_eq!(game.undo(&roles), Ok(2));
    assert_eq!((left(&game), history.len()), (3, 5));
}

#[test]
fn illegal_moves_change_nothing() {
    let mut game = game();
    let mut players: [Box<dyn Player<AnyMachine>>; 2] =
        [Box::new(Script(vec![Some("wait")])), agent("first", 1, 0)];
    let error = game.step(&mut players).unwrap_err();
    let PlayerError::Play(PlayError::IllegalMove { legal, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(legal, ["1", "2"]);
    assert!(game.history().is_empty());
}

#[test]
fn random_players_are_reproducible_by_seed() {
    let play = |seed| {
        let mut game = game();
        run(
            &mut game,
            [agent("random", 0, seed), agent("random", 1, seed + 1)],
        );
        let joint = game.history().plies().map(|ply| ply.joint.clone());
        joint.collect::<Vec<_>>()
    };
    for seed in 0..8 {
        assert_eq!(play(seed), play(seed), "seed {seed}");
    }
    assert!((1..8).any(|seed| play(seed) != play(0)));
}

#[test]
fn tree_search_wins_a_won_game() {
    for seed in 0..4 {
        let mut game = game();
        run(
            &mut game,
            [agent("mcts:300", 0, seed), agent("random", 1, seed)],
        );
        let scores: Vec<u8> = game.scores().unwrap().iter().map(|s| s.get()).collect();
        assert_eq!(scores, [100, 0], "seed {seed}");
    }
}

/// Never chooses and returns only when stopped, or panics.
struct Sleeper(bool);

impl Agent for Sleeper {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        assert!(!self.0, "this agent panics");
        while !pace.is_over() {
            std::thread::yield_now();
        }
        Err(PlayError::Interrupted.into())
    }
}

#[test]
fn an_agent_thread_has_a_legal_move_whatever_its_agent_does() {
    let game = game().machine().game().clone();
    for panics in [false, true] {
        let role = game.roles().next().unwrap();
        let mut thread =
            AgentThread::with(Brief::new(&game, role), |_| Ok(Box::new(Sleeper(panics)))).unwrap();
        assert!(thread.begin(None).is_none());
        let deadline = Instant::now() + Duration::from_secs(2);
        let answer = thread.choose(&Observation::of_joint_moves(role, []), Some(deadline), None);
        assert_eq!(answer.origin, Origin::Random);
        let chosen = answer.advice.unwrap().chosen;
        let text = game.text(game.terms(), chosen.term());
        assert!(["1", "2"].contains(&&text[..]), "{text}");
        assert_eq!(answer.error.is_some(), panics);
    }
}

/// Publishes a move only after its time is over.
struct Belated(Move);

impl Agent for Belated {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        while !pace.is_over() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(200));
        pace.publish(Advice::of(self.0));
        Err(PlayError::Interrupted.into())
    }
}

/// The brief of the first role, with its legal moves.
fn first_role() -> (Brief, Vec<Move>) {
    let mut game = game();
    let start = game.history().state().clone();
    let role = game.machine().game().roles().next().unwrap();
    let mut legal = Vec::new();
    game.machine().legal(&start, role, &mut legal).unwrap();
    let brief = Brief::new(game.machine().game(), role);
    (brief, legal)
}

#[test]
fn a_late_move_is_better_than_none() {
    let (brief, legal) = first_role();
    let mut thread = AgentThread::with(brief, |_| Ok(Box::new(Belated(legal[1])))).unwrap();
    // With percepts alone, the fallback mover has no move.
    let observation = Observation::of_percepts([], []);
    let now = Instant::now();
    let answer = thread.choose(&observation, Some(now + Duration::from_millis(50)), None);
    assert!(answer.advice.is_none());
    let late = thread.choose_late(now + Duration::from_secs(60));
    assert_eq!(late.unwrap().chosen, legal[1]);
}

/// Publishes a move when it has thought this long in all, and thinks on.
struct Slow(Move, Duration);

impl Agent for Slow {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        let began = Instant::now();
        while !pace.is_over() {
            std::thread::yield_now();
            if began.elapsed() > self.1 {
                pace.publish(Advice::of(self.0));
            }
        }
        self.1 = self.1.saturating_sub(began.elapsed());
        Err(PlayError::Interrupted.into())
    }
}

#[test]
fn an_agent_without_a_move_at_its_own_limit_has_the_rest_of_the_clock() {
    let (brief, legal) = first_role();
    let role = brief.role;
    let slow = Slow(legal[1], Duration::from_millis(300));
    let mut thread = AgentThread::with(brief, |_| Ok(Box::new(slow))).unwrap();
    let observation = Observation::of_joint_moves(role, []);
    let began = Instant::now();
    let due = Some(began + Duration::from_secs(60));
    let answer = thread.choose_within(&"mcts:0.02s".parse().unwrap(), &observation, due);
    assert_eq!(answer.origin, Origin::Published);
    assert_eq!(answer.advice.unwrap().chosen, legal[1]);
    // The rest of the clock is not used.
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// Has no move.
struct Clueless;

impl Agent for Clueless {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _observation: &Observation, _pace: &Pace) -> Result<Advice, PlayerError> {
        Err(PlayerError::HiddenMoves)
    }
}

#[test]
fn nobody_waits_for_an_agent_that_has_failed() {
    let game = game().machine().game().clone();
    let brief = Brief::new(&game, game.roles().next().unwrap());
    let mut thread = AgentThread::with(brief, |_| Ok(Box::new(Clueless))).unwrap();
    let answer = thread.choose(&Observation::of_percepts([], []), None, None);
    assert!(matches!(answer.error, Some(PlayerError::HiddenMoves)));
    let began = Instant::now();
    let late = thread.choose_late(began + Duration::from_secs(600));
    assert!(late.is_none() && began.elapsed() < Duration::from_secs(60));
}

/// Returns a move exactly when its time is over.
struct Punctual(Move);

impl Agent for Punctual {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        while !pace.is_over() {
            std::thread::yield_now();
        }
        Ok(Advice::of(self.0))
    }
}

#[test]
fn the_answer_of_an_agent_that_returns_on_time_is_used() {
    let (brief, legal) = first_role();
    let role = brief.role;
    let mut thread = AgentThread::with(brief, |_| Ok(Box::new(Punctual(legal[1])))).unwrap();
    // On a loaded machine some attempts may be late.
    let is_used = (0..10).any(|_| {
        let deadline = Instant::now() + Duration::from_secs(1);
        let answer = thread.choose(&Observation::of_joint_moves(role, []), Some(deadline), None);
        answer.origin == Origin::Agent && answer.advice == Some(Advice::of(legal[1]))
    });
    assert!(is_used);
}

#[test]
fn raising_the_interrupt_ends_a_choice() {
    let game = game().machine().game().clone();
    let role = game.roles().next().unwrap();
    let brief = Brief::new(&game, role);
    let stop = brief.limits.stop.clone();
    let mut thread = AgentThread::with(brief, |_| Ok(Box::new(Sleeper(false)))).unwrap();
    stop.raise();
    // Without the interrupt this would never return.
    thread.choose(&Observation::of_joint_moves(role, []), None, None);
}
