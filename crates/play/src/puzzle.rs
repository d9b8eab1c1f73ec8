//! The agent for games of one role: it combines planning with tree search.

use std::time::Duration;

use super::{Advice, Agent, Brief, MctsAgent, Observation, Pace, PlayerError};
use ggp_engine::machine::PlayError;
use ggp_gdl::game::{Move, Score};
use ggp_search::{Budget, Stats, Verdict};
use ggp_solver::solve::{Checker, SolveError, SolveOptions, solve_best_from};

/// The share of the time for a move that goes into planning. It is larger at the start, when a
/// plan saves most. The rest goes into simulations.
const PLANNING_FIRST: f64 = 0.6;
const PLANNING: f64 = 0.3;
const FIRST_MOVES: usize = 1;
/// The time reserved for a search to return.
const SLACK: Duration = Duration::from_millis(30);
/// The least time worth starting a search with, for the first moves and later.
const LEAST_FIRST: Duration = Duration::from_millis(20);
const LEAST: Duration = Duration::from_millis(100);

/// Plays a line that is proved optimal as soon as it knows one. Until then it looks for
/// better lines, and plays the best move of Monte Carlo tree search, unless that has seen no
/// points.
#[derive(Debug)]
pub struct PuzzleAgent {
    brief: Brief,
    line: Option<Line>,
    /// The tree search, which also owns the machines.
    sampler: MctsAgent,
    /// The number of positions expanded for the current move.
    nodes: u64,
}

/// Moves from the beginning of the match to a terminal state.
#[derive(Debug)]
struct Line {
    moves: Vec<Move>,
    score: Score,
    /// True if no line has a higher score.
    is_best: bool,
}

impl PuzzleAgent {
    /// An agent for a game of one role.
    pub fn new(brief: Brief) -> Self {
        let sampler = MctsAgent::new(brief.clone(), &[]).expect("it is given no options");
        PuzzleAgent {
            brief,
            line: None,
            sampler,
            nodes: 0,
        }
    }

    /// Looks for a better line from the state after the joint moves.
    fn improve(&mut self, played: &[Vec<Move>], budget: Budget) -> Result<(), PlayerError> {
        let backends = self.sampler.backends()?;
        // Without a network, planning in a large game takes longer than a move.
        let least = match played.len() < FIRST_MOVES {
            true => LEAST_FIRST,
            false => LEAST,
        };
        if !backends.is_settled() || budget.time.is_some_and(|time| time < least) {
            return Ok(());
        }
        let mut options = SolveOptions::default();
        options.budget = budget;
        // Another seed, so that no failed attempt is repeated.
        options.seed = self.brief.seed.wrapping_add(played.len() as u64);
        options.threads = self.brief.threads;
        // Making the moves checks the plan.
        options.checker = Checker::Nobody;
        let state = backends.state_after(played)?;
        let (machine, stats) = (backends.machine().clone(), &mut Stats::default());
        let answer = match solve_best_from(&machine, &state, &options, stats, &mut ()) {
            Ok(answer) => answer,
            // It matters only if the match reaches the state.
            Err(SolveError::Play(PlayError::AmbiguousGoal(_))) => return Ok(()),
            Err(SolveError::Play(error)) => return Err(error.into()),
            Err(error) => return Err(PlayerError::Other(error.into())),
        };
        self.nodes += stats
            .levels
            .iter()
            .map(|level| level.counts.expanded)
            .sum::<u64>();
        let found = match answer.verdict {
            Verdict::Solved { mut plans, .. } => {
                let is_best = answer.target == Score::MAX || answer.bound == Some(answer.target);
                plans.pop().map(|plan| (plan, answer.target, is_best))
            }
            _ => answer
                .best
                .map(|end| (end.plan, end.score, answer.bound == Some(end.score))),
        };
        let known = self.line.as_ref().map(|line| line.score);
        if let Some((plan, score, is_best)) = found
            && (known.is_none_or(|known| score > known) || is_best)
        {
            let made = played.iter().map(|joint| joint[0]);
            self.line = Some(Line {
                moves: made.chain(plan).collect(),
                score,
                is_best,
            });
        }
        Ok(())
    }

    /// The next move of the line.
    fn advice(&self, made: usize) -> Option<Advice> {
        let line = self.line.as_ref()?;
        let score = f64::from(line.score.get());
        Some(Advice {
            value: Some(score),
            bounds: (score, if line.is_best { score } else { 100.0 }),
            nodes: self.nodes,
            line: line
                .moves
                .get(made..)?
                .iter()
                .map(|action| vec![(*action, true)])
                .collect(),
            ..Advice::of(*line.moves.get(made)?)
        })
    }

    /// The budget for planning: the given share of the remaining time.
    fn budget(&self, pace: &Pace, part: f64) -> Budget {
        let mut budget = pace.budget(self.brief.memory_bytes);
        budget.time = budget
            .time
            .map(|time| time.mul_f64(part).saturating_sub(SLACK));
        budget
    }
}

impl Line {
    /// Returns true if its next move is preferred to the move of tree search.
    fn is_preferred_to(&self, advice: &Advice) -> bool {
        let score = f64::from(self.score.get());
        let Some(value) = advice.value else {
            return true;
        };
        if self.is_best || advice.bounds.0 == advice.bounds.1 {
            return score >= advice.bounds.0;
        }
        // Tree search finds much better lines near the end, unless it has seen no points at all.
        value < 1.0 && score > value
    }
}

impl Agent for PuzzleAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.sampler.backends()?.wait(&pace.part(1.0));
        if pace.deadline().is_some() {
            self.improve(&[], self.budget(pace, PLANNING_FIRST))?;
        }
        match &self.line {
            Some(line) if line.is_best => Ok(()),
            _ => self.sampler.begin(pace),
        }
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        let played = observation.required_joint_moves()?;
        self.nodes = 0;
        self.sampler.backends()?.poll();
        let follows_line = |line: &Line| line.moves.starts_with(observation.own_moves());
        self.line = self.line.take().filter(follows_line);
        let is_best = |line: &Option<Line>| line.as_ref().is_some_and(|line| line.is_best);
        if !is_best(&self.line) {
            let part = match played.len() < FIRST_MOVES {
                true => PLANNING_FIRST,
                false => PLANNING,
            };
            self.improve(played, self.budget(pace, part))?;
        }
        let planned = self.advice(played.len());
        if let Some(planned) = planned.as_ref().filter(|_| is_best(&self.line)) {
            return Ok(planned.clone());
        }
        let sampled = match (self.sampler.choose(observation, pace), &planned) {
            (Err(_), Some(planned)) => return Ok(planned.clone()),
            (sampled, _) => sampled?,
        };
        let line = self.line.as_ref();
        match planned.filter(|_| line.is_some_and(|line| line.is_preferred_to(&sampled))) {
            Some(planned) => Ok(Advice {
                candidates: sampled.candidates,
                tree: sampled.tree,
                ..planned
            }),
            None => Ok(sampled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{AnyMachine, Limits, Machine};
    use ggp_gdl::game::Game;

    /// Count up by 1 or 2 for six moves. Counting to 12 solves the game; a smaller count
    /// scores five points for each step.
    const COUNT: &str = "
        (role me) (init (sum 0)) (init (turn 0))
        (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7)
        (after 7 8) (after 8 9) (after 9 10) (after 10 11) (after 11 12)
        (legal me one) (legal me two)
        (<= (next (turn ?n)) (true (turn ?m)) (after ?m ?n))
        (<= (next (sum ?n)) (does me one) (true (sum ?m)) (after ?m ?n))
        (<= (next (sum ?o)) (does me two) (true (sum ?m)) (after ?m ?n) (after ?n ?o))
        (<= terminal (true (turn 6)))
        (score 6 30) (score 7 35) (score 8 40) (score 9 45) (score 10 50) (score 11 MOST)
        (score 12 LAST)
        (<= (goal me ?g) (true (sum ?n)) (score ?n ?g))";

    /// The game with the score `last` for counting to 12.
    fn count(last: &str) -> Game {
        let text = COUNT.replace("MOST", "55").replace("LAST", last);
        Game::from_text("count", &text).unwrap()
    }

    struct Session {
        agent: PuzzleAgent,
        machine: AnyMachine,
        played: Vec<Vec<Move>>,
    }

    impl Session {
        fn new(game: &Game) -> Session {
            let role = game.roles().next().unwrap();
            Session {
                agent: PuzzleAgent::new(Brief::new(game, role)),
                machine: AnyMachine::auto(game, Limits::default()).unwrap().0,
                played: Vec::new(),
            }
        }

        fn observation(&self) -> Observation {
            Observation::of_joint_moves(self.agent.brief.role, self.played.clone())
        }

        fn choose(&mut self, nodes: u64) -> Advice {
            let pace = Pace::new(None, Some(nodes));
            let observation = self.observation();
            let advice = self.agent.choose(&observation, &pace).unwrap();
            self.played.push(vec![advice.chosen]);
            advice
        }

        /// The score at the end.
        fn score(&mut self) -> u8 {
            let mut state = self.machine.initial().unwrap();
            for joint in &self.played {
                state = self.machine.play(&state, joint).unwrap();
            }
            let role = self.machine.game().roles().next().unwrap();
            assert!(self.machine.is_terminal(&state).unwrap());
            self.machine.goal(&state, role).unwrap().get()
        }
    }

    #[test]
    fn a_plan_is_found_once_and_followed() {
        for (last, best) in [("100", 100), ("60", 60)] {
            let mut session = Session::new(&count(last));
            session.agent.begin(&Pace::default()).unwrap();
            for number in 0..6 {
                let advice = session.choose(10_000);
                assert_eq!(advice.value, Some(f64::from(best)), "move {number}");
                assert_eq!(advice.bounds, (f64::from(best), f64::from(best)));
                // The plan was made before the first move.
                assert_eq!(advice.nodes > 0, number == 0, "move {number}");
            }
            assert_eq!(session.score(), best);
        }
    }

    #[test]
    fn the_agent_plans_again_when_the_match_leaves_its_plan() {
        let game = count("60");
        let mut session = Session::new(&game);
        let first = session.choose(10_000);
        let mut legal = Vec::new();
        let start = session.machine.initial().unwrap();
        let role = game.roles().next().unwrap();
        session.machine.legal(&start, role, &mut legal).unwrap();
        legal.retain(|other| *other != first.chosen);
        session.played = vec![legal];
        assert_eq!(session.choose(10_000).value, Some(55.0));
        for _ in 2..6 {
            session.choose(10_000);
        }
        assert_eq!(session.score(), 55);
    }

    #[test]
    fn the_agent_improves_its_line_until_one_is_optimal() {
        let mut session = Session::new(&count("100"));
        let made = session.machine.initial().unwrap();
        let mut legal = Vec::new();
        let role = session.machine.game().roles().next().unwrap();
        session.machine.legal(&made, role, &mut legal).unwrap();
        // Counting by one scores 30, and no higher score is proved.
        session.agent.line = Some(Line {
            moves: vec![legal[0]; 6],
            score: Score::new(30).unwrap(),
            is_best: false,
        });
        for _ in 0..6 {
            session.choose(10_000);
        }
        assert_eq!(session.score(), 100);
    }

    #[test]
    fn without_a_plan_tree_search_chooses() {
        let mut session = Session::new(&count("100"));
        // One node is not enough for a plan or a proof.
        session.agent.line = None;
        let pace = Pace::new(None, Some(1));
        let observation = session.observation();
        let advice = session.agent.choose(&observation, &pace).unwrap();
        assert_eq!(advice.candidates.len(), 2);
        assert!(advice.bounds.0 < advice.bounds.1);
    }

    #[test]
    fn a_line_is_preferred_only_if_it_is_best_or_tree_search_sees_no_points() {
        let chosen = Session::new(&count("100")).choose(1).chosen;
        let check = |score: u8, is_best, value, bounds, expected| {
            let line = Line {
                moves: Vec::new(),
                score: Score::new(score).unwrap(),
                is_best,
            };
            let advice = Advice {
                value: Some(value),
                bounds,
                ..Advice::of(chosen)
            };
            let case = format!("{score} {is_best} {value} {bounds:?}");
            assert_eq!(line.is_preferred_to(&advice), expected, "{case}");
        };
        let open = (0.0, 100.0);
        check(15, false, 12.0, open, false);
        check(60, false, 12.0, open, false);
        check(80, false, 12.0, open, false);
        check(60, false, 40.0, open, false);
        check(99, false, 40.0, open, false);
        // Tree search saw no points.
        check(5, false, 0.0, open, true);
        check(0, false, 0.0, open, false);
        // Proved values.
        check(40, false, 40.0, (40.0, 40.0), true);
        check(30, false, 40.0, (40.0, 40.0), false);
        check(30, true, 29.0, open, true);
    }
}
