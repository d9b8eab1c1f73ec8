//! The agent for games that one role decides: plan, and simulate as well.

use std::time::Duration;

use super::{Advice, Agent, Brief, MctsAgent, Pace, PlayerError};
use ggp_gdl::game::{Move, Score};
use ggp_search::{Budget, Stats, Verdict};
use ggp_solver::solve::{Checker, SolveError, SolveOptions, solve_best_from};

/// Of the time for a move, the part that goes into looking for plans: at first, when
/// a plan saves most, and later. The rest goes into simulations.
const PLANNING_FIRST: f64 = 0.6;
const PLANNING: f64 = 0.3;
const FIRST_MOVES: usize = 2;
/// Time that is left for a search to come to its end, and the least that is worth
/// beginning one, at first and later.
const SLACK: Duration = Duration::from_millis(30);
const LEAST_FIRST: Duration = Duration::from_millis(20);
const LEAST: Duration = Duration::from_millis(100);

/// Plays a line that is proved to be best as soon as it knows one. Until then it
/// looks for better lines, and plays what Monte Carlo tree search finds best, unless
/// the best line known is worth much more than that.
#[derive(Debug)]
pub struct PuzzleAgent {
    brief: Brief,
    line: Option<Line>,
    /// The machines are those of this one.
    sampler: MctsAgent,
    /// Positions looked at for the current move.
    nodes: u64,
}

/// Moves from the beginning of the match to an end.
#[derive(Debug)]
struct Line {
    moves: Vec<Move>,
    score: Score,
    /// Whether no line is worth more.
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

    /// Looks for a better line from the state after some moves.
    fn improve(&mut self, played: &[Vec<Move>], budget: Budget) -> Result<(), PlayerError> {
        let backends = self.sampler.backends()?;
        // Without its network a large game has no plans in the time of a move.
        let least = match played.len() < FIRST_MOVES {
            true => LEAST_FIRST,
            false => LEAST,
        };
        if !backends.is_settled() || budget.time.is_some_and(|time| time < least) {
            return Ok(());
        }
        let options = SolveOptions {
            budget,
            // What was tried in vain is not tried again.
            seed: self.brief.seed.wrapping_add(played.len() as u64),
            threads: self.brief.threads,
            // What a move leads to is found out by making it.
            checker: Checker::Nobody,
            ..SolveOptions::default()
        };
        let state = backends.state_after(played)?;
        let (machine, stats) = (backends.machine().clone(), &mut Stats::default());
        let answer = match solve_best_from(&machine, &state, &options, stats, &mut ()) {
            Ok(answer) => answer,
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

    /// What is left of the pace for planning: a part of it, if it ends.
    fn budget(&self, pace: &Pace, part: f64) -> Budget {
        let mut budget = pace.budget(self.brief.memory_bytes);
        budget.time = budget
            .time
            .map(|time| time.mul_f64(part).saturating_sub(SLACK));
        budget
    }
}

impl Line {
    /// Whether its next move is to be made, although tree search advises something.
    fn goes_before(&self, advice: &Advice) -> bool {
        let score = f64::from(self.score.get());
        let Some(value) = advice.value else {
            return true;
        };
        if self.is_best || advice.bounds.0 == advice.bounds.1 {
            return score >= advice.bounds.0;
        }
        // A mean says too little of what tree search will come to: as the end comes
        // near it finds much better ones; unless it has seen nothing at all.
        score > 75.0 + value / 4.0 || value < 1.0 && score > value
    }
}

impl Agent for PuzzleAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.sampler.backends()?.wait(pace);
        if pace.deadline().is_some() {
            self.improve(&[], self.budget(pace, PLANNING_FIRST))?;
        }
        match &self.line {
            Some(line) if line.is_best => Ok(()),
            _ => self.sampler.begin(pace),
        }
    }

    fn choose(&mut self, played: &[Vec<Move>], pace: &Pace) -> Result<Advice, PlayerError> {
        self.nodes = 0;
        self.sampler.backends()?.poll();
        let made = played.iter().map(|joint| joint[0]);
        let is_on_it = |line: &Line| {
            line.moves
                .iter()
                .copied()
                .take(played.len())
                .eq(made.clone())
        };
        self.line = self.line.take().filter(is_on_it);
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
        let sampled = match (self.sampler.choose(played, pace), &planned) {
            (Err(_), Some(planned)) => return Ok(planned.clone()),
            (sampled, _) => sampled?,
        };
        let line = self.line.as_ref();
        match planned.filter(|_| line.is_some_and(|line| line.goes_before(&sampled))) {
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

    /// Count up by 1 or 2 until 6 moves are made; who has counted to 12 has solved it,
    /// and everybody else gets five points for each that was counted.
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

    /// A game in which 100 can be had by counting to 12, or nothing more than 60.
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

        fn choose(&mut self, nodes: u64) -> Advice {
            let pace = Pace::new(None, Some(nodes));
            let advice = self.agent.choose(&self.played, &pace).unwrap();
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
    fn a_plan_that_the_match_has_left_is_made_anew() {
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
    fn better_lines_are_looked_for_until_one_is_best() {
        let mut session = Session::new(&count("100"));
        let made = session.machine.initial().unwrap();
        let mut legal = Vec::new();
        let role = session.machine.game().roles().next().unwrap();
        session.machine.legal(&made, role, &mut legal).unwrap();
        // Counting by one is worth 30 in the end, and nobody has proved more.
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
        // Too little to plan by, and too little for a proof.
        session.agent.line = None;
        let pace = Pace::new(None, Some(1));
        let advice = session.agent.choose(&[], &pace).unwrap();
        assert_eq!(advice.candidates.len(), 2);
        assert!(advice.bounds.0 < advice.bounds.1);
    }

    #[test]
    fn a_line_goes_before_only_if_it_is_worth_much_more() {
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
            let told = format!("{score} {is_best} {value} {bounds:?}");
            assert_eq!(line.goes_before(&advice), expected, "{told}");
        };
        let open = (0.0, 100.0);
        check(15, false, 12.0, open, false);
        check(60, false, 12.0, open, false);
        check(80, false, 12.0, open, true);
        check(60, false, 40.0, open, false);
        check(90, false, 40.0, open, true);
        // What was never sampled.
        check(5, false, 0.0, open, true);
        check(0, false, 0.0, open, false);
        // What is proved.
        check(40, false, 40.0, (40.0, 40.0), true);
        check(30, false, 40.0, (40.0, 40.0), false);
        check(30, true, 29.0, open, true);
    }
}
