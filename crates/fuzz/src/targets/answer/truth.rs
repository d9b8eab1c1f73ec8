//! The truth about a small game, by trying all plays on the naive evaluator.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ggp_engine::machine::{Limits, Machine, NaiveMachine, PlayError};
use ggp_gdl::game::{Game, Score};
use ggp_gdl::terms::TermId;
use ggp_stop::Stop;
use ggp_verify::Claim;

/// The most positions.
const MOST: usize = 2_000;

type Facts = Vec<TermId>;

/// A position.
enum Position {
    /// The score at an end, if there is exactly one.
    End(Option<Score>),
    /// The positions after each move.
    Open(Vec<Facts>),
}

/// All positions that can be reached.
struct Graph<'g> {
    machine: NaiveMachine,
    game: &'g Game,
    start: Facts,
    target: Score,
    positions: BTreeMap<Facts, Position>,
}

/// The end of a plan.
struct End {
    moves: Vec<TermId>,
    score: Score,
    facts: Facts,
}

/// Whether a claim is true. `None` if the game is too large to find out.
pub fn is_true(game: &Game, start: &[TermId], target: Score, claim: &Claim) -> Option<bool> {
    let limits = Limits {
        stop: Stop::after(Duration::from_secs(10)),
        ..Limits::default()
    };
    let mut graph = Graph::new(game, start, target, limits).ok().flatten()?;
    Some(graph.is_true(claim))
}

impl<'g> Graph<'g> {
    fn new(
        game: &'g Game,
        start: &[TermId],
        target: Score,
        limits: Limits,
    ) -> Result<Option<Graph<'g>>, PlayError> {
        let mut machine = NaiveMachine::new(game, limits);
        machine.terms_mut().refresh();
        let role = game.roles().next().expect("there is one");
        let first = machine.state(start)?;
        let mut graph = Graph {
            start: machine.facts(&first),
            machine,
            game,
            target,
            positions: BTreeMap::new(),
        };
        let mut open = vec![graph.start.clone()];
        while let Some(facts) = open.pop() {
            if graph.positions.contains_key(&facts) {
                continue;
            }
            if graph.positions.len() >= MOST {
                return Ok(None);
            }
            let machine = &mut graph.machine;
            let state = machine.state(&facts)?;
            let position = if machine.is_terminal(&state)? {
                match machine.goal(&state, role) {
                    Err(error @ (PlayError::Interrupted | PlayError::TooLarge(_))) => {
                        return Err(error);
                    }
                    score => Position::End(score.ok()),
                }
            } else {
                let mut legal = Vec::new();
                match machine.legal(&state, role, &mut legal) {
                    Err(PlayError::NoLegalMove(_)) => legal.clear(),
                    other => other?,
                }
                let mut after = Vec::new();
                for chosen in legal {
                    let next = machine.next(&state, &[chosen])?;
                    after.push(machine.facts(&next));
                }
                open.extend(after.iter().cloned());
                Position::Open(after)
            };
            graph.positions.insert(facts, position);
        }
        Ok(Some(graph))
    }

    fn is_solved(&self, facts: &Facts) -> bool {
        matches!(self.positions[facts], Position::End(Some(score)) if score >= self.target)
    }

    /// The numbers of plans with 0, 1, … moves, and the number of plays of each length that
    /// go on or have just ended.
    fn counts(&self, most: usize) -> Vec<(u128, usize)> {
        let mut level = BTreeMap::from([(&self.start, 1_u128)]);
        let mut counts = Vec::new();
        while counts.len() <= most && !level.is_empty() {
            let solved = level.iter().filter(|(facts, _)| self.is_solved(facts));
            counts.push((solved.map(|(_, ways)| ways).sum(), level.len()));
            let mut below: BTreeMap<&Facts, u128> = BTreeMap::new();
            for (facts, ways) in level {
                if let Position::Open(after) = &self.positions[facts] {
                    for next in after {
                        let sum = below.entry(next).or_default();
                        *sum = sum.saturating_add(ways);
                    }
                }
            }
            level = below;
        }
        counts
    }

    /// The length of the shortest plans.
    fn shortest(&self) -> Option<usize> {
        let counts = self.counts(self.positions.len());
        counts.iter().position(|(plans, _)| *plans > 0)
    }

    /// The end of a plan; `None` if it does not end the game with one score.
    fn end(&mut self, plan: &[String]) -> Option<End> {
        let machine = &mut self.machine;
        let mut state = machine.state(&self.start).ok()?;
        let mut moves = Vec::new();
        for text in plan {
            let chosen = machine.read_move(text).ok()?;
            moves.push(chosen.term());
            state = machine.play(&state, &[chosen]).ok()?;
        }
        let role = self.game.roles().next()?;
        machine.is_terminal(&state).ok()?.then_some(())?;
        Some(End {
            moves,
            score: machine.goal(&state, role).ok()?,
            facts: machine.facts(&state),
        })
    }

    fn solutions(&mut self, plans: &[Vec<String>]) -> Option<Vec<End>> {
        let ends: Option<Vec<End>> = plans.iter().map(|plan| self.end(plan)).collect();
        ends.filter(|ends| ends.iter().all(|end| end.score >= self.target))
    }

    fn is_true(&mut self, claim: &Claim) -> bool {
        let shortest = self.shortest();
        let all_longer = |moves: u32| shortest.is_none_or(|least| least > moves as usize);
        match claim {
            Claim::Solved {
                plans,
                optimal,
                all,
                ..
            } => {
                let Some(ends) = self.solutions(plans).filter(|ends| !ends.is_empty()) else {
                    return false;
                };
                let different: BTreeSet<_> = ends.iter().map(|end| &end.moves).collect();
                let lengths: BTreeSet<usize> = plans.iter().map(Vec::len).collect();
                let is_all = || {
                    let Some(&length) = lengths.first() else {
                        return false;
                    };
                    let counts = self.counts(length);
                    lengths.len() == 1 && counts[length].0 == plans.len() as u128
                };
                different.len() == plans.len()
                    && (!optimal || lengths.iter().eq(&shortest))
                    && (!all || is_all())
            }
            Claim::Counted { plans, all, .. } => {
                let Some(ends) = self.solutions(plans) else {
                    return false;
                };
                let different: BTreeSet<_> = ends.iter().map(|end| &end.facts).collect();
                let positions = self.positions.keys();
                let all_ends = positions.filter(|facts| self.is_solved(facts)).count();
                different.len() == plans.len() && (!all || plans.len() == all_ends)
            }
            Claim::Unsolvable { proof } => {
                let is_bound = match proof {
                    ggp_verify::Proof::Exhausted { positions } => {
                        positions.is_none_or(|count| count <= self.positions.len() as u64)
                    }
                    // Without a play of more moves than positions, there is no endless one.
                    ggp_verify::Proof::Over { moves } => {
                        let most = self.positions.len();
                        let lengths = self.counts(most).len();
                        lengths <= most && lengths <= *moves as usize + 1
                    }
                    _ => true,
                };
                shortest.is_none() && is_bound
            }
            Claim::NoSolutionWithin { moves } => all_longer(*moves),
            Claim::OutOfBudget {
                no_solution_within,
                best,
            } => {
                no_solution_within.is_none_or(all_longer)
                    && best.as_ref().is_none_or(|best| {
                        self.end(&best.plan)
                            .is_some_and(|end| end.score.get() == best.score)
                    })
            }
            _ => false,
        }
    }
}
