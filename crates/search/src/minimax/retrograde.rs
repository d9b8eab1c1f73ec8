//! Retrograde analysis: the values of all positions, computed backwards from the ends.
//!
//! In: the positions reachable from a root, within a budget. Out: the highest score that the
//! role can force, and the lowest that the others can force. Forced scores are a least
//! fixpoint, so that the analysis also handles cycles and finds positions in which no side
//! can force an end. Nothing is assumed about positions that were not expanded.
//!
//! Source: Ströhlein, "Untersuchungen über kombinatorische Spiele", 1970; Thompson,
//! "Retrograde analysis of certain endgames", 1986.

mod line;

use std::cmp::Reverse;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::expanded::Expanded;
use super::game_class::GameClass;
use super::{Line, MinimaxGame, MinimaxReport, MoveValue};
use crate::Stop;
use crate::budget::{BudgetKind, Meter};

/// The bytes of one arc, in both directions.
const ARC_BYTES: u64 = 24;

/// The number of positions between two checks of the clock.
const CHECK_INTERVAL: u32 = 1 << 16;

/// The result of a joint move.
#[derive(Copy, Clone)]
enum ChildOutcome {
    Position(u32),
    End(u8),
    /// A terminal state without a valid score.
    Wrong,
}

/// The position, the move and the answer of an outcome.
#[derive(Copy, Clone)]
struct Place {
    position: u32,
    choice: u32,
    answer: u32,
}

/// The reachable positions found so far.
pub(super) struct Graph<S> {
    role: usize,
    chance: Vec<bool>,
    numbers: FxHashMap<S, u32>,
    positions: Vec<S>,
    /// The number of expanded positions. They are expanded in the order of discovery.
    expanded: usize,
    /// By expanded position: whether no joint move was left out.
    is_whole: Vec<bool>,
    /// By expanded position: the index of its first move; the last entry is the total.
    choices: Vec<u32>,
    /// By move: the number of answers.
    answers: Vec<u32>,
    outcomes: Vec<(ChildOutcome, Place)>,
    bytes: u64,
    game_class: GameClass,
    /// The first position with a fault in the rules, and the index of the faulty child.
    fault: Option<(u32, Option<usize>)>,
    /// By position: the parent from which it was found first, and the index of the child.
    origin: Vec<(u32, u32)>,
}

/// The scores that can be forced, by position.
struct Forced {
    /// By the role.
    least: Vec<Option<ForcedScore>>,
    /// By the others.
    most: Vec<Option<ForcedScore>>,
}

/// A score that can be forced.
#[derive(Copy, Clone)]
struct ForcedScore {
    score: u8,
    /// The number of positions that were found before this one.
    rank: u32,
}

impl Forced {
    /// The score that the role can force, if any, and the upper bound that the others can
    /// force.
    fn of(&self, outcome: ChildOutcome) -> (Option<u8>, u8) {
        match outcome {
            ChildOutcome::End(score) => (Some(score), score),
            ChildOutcome::Wrong => (None, 100),
            ChildOutcome::Position(number) => {
                let number = number as usize;
                let most = self.most[number].map_or(100, |forced| forced.score);
                (self.least[number].map(|forced| forced.score), most)
            }
        }
    }
}

impl<S: Clone + Eq + std::hash::Hash> Graph<S> {
    pub(super) fn new<G: MinimaxGame<State = S>>(game: &G, root: &S, role: usize) -> Self {
        let chance: Vec<bool> = (0..game.roles()).map(|at| game.is_chance(at)).collect();
        Graph {
            role,
            game_class: GameClass::NOTHING_SEEN,
            chance,
            numbers: FxHashMap::from_iter([(root.clone(), 0)]),
            positions: vec![root.clone()],
            expanded: 0,
            is_whole: Vec::new(),
            choices: vec![0],
            answers: Vec::new(),
            outcomes: Vec::new(),
            bytes: 0,
            fault: None,
            origin: vec![(0, 0)],
        }
    }

    /// Returns true if all reachable positions are expanded.
    pub(super) fn is_complete(&self) -> bool {
        self.expanded == self.positions.len()
    }

    /// Returns true if the graph exceeds a limit on memory.
    fn is_full(&self, memory_bytes: u64) -> bool {
        let slots = self.positions.len() as u64 * (3 * size_of::<S>() as u64 + 48);
        self.bytes + slots + self.outcomes.len() as u64 * (ARC_BYTES + 16) > memory_bytes
            || self.positions.len() >= u32::MAX as usize
    }

    /// Expands up to `positions` positions and returns whether there is room for more.
    ///
    /// # Errors
    ///
    /// The exhausted limit, or the first error of the game.
    pub(super) fn grow<G: MinimaxGame<State = S>>(
        &mut self,
        game: &mut G,
        positions: u64,
        memory_bytes: u64,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop<G::Error>> {
        for _ in 0..positions {
            if self.is_complete() {
                return Ok(true);
            }
            if self.is_full(memory_bytes) {
                return Ok(false);
            }
            meter.record(self.positions.len(), self.bytes);
            meter.check()?;
            meter.spend_node()?;
            self.expand(game).map_err(Stop::Error)?;
        }
        Ok(true)
    }

    fn expand<G: MinimaxGame<State = S>>(&mut self, game: &mut G) -> Result<(), G::Error> {
        let position = self.expanded as u32;
        let state = self.positions[self.expanded].clone();
        let expansion = game.expand(&state, self.role)?;
        self.expanded += 1;
        let expanded = Expanded::new(self.role, expansion, &self.chance);
        self.game_class.record(&expanded, &self.chance);
        let children = &expanded.expansion.children;
        self.is_whole.push(expanded.expansion.is_whole);
        let wrong = children.iter().position(|child| child.is_wrong);
        if self.fault.is_none() && (wrong.is_some() || children.is_empty()) {
            self.fault = Some((position, wrong));
        }
        let moves = if children.is_empty() { 0 } else { expanded.own };
        let single: Vec<Vec<usize>>;
        let groups = match expanded.by_chance.len() {
            0 => {
                single = (0..expanded.others).map(|others| vec![others]).collect();
                &single
            }
            _ => &expanded.by_chance,
        };
        let mut answer = self
            .outcomes
            .last()
            .map_or(0, |(_, place)| place.answer + 1);
        for own in 0..moves {
            let choice = self.answers.len() as u32;
            self.answers.push(groups.len() as u32);
            for group in groups {
                for &others in group {
                    let at = expanded.at(own, others);
                    let child = &children[at];
                    let outcome = match &child.scores {
                        Some(_) if child.is_wrong => ChildOutcome::Wrong,
                        Some(scores) => ChildOutcome::End(scores[self.role]),
                        None => {
                            ChildOutcome::Position(self.number(game, &child.state, position, at))
                        }
                    };
                    let place = Place {
                        position,
                        choice,
                        answer,
                    };
                    self.outcomes.push((outcome, place));
                }
                answer += 1;
            }
        }
        self.choices.push(self.answers.len() as u32);
        Ok(())
    }

    fn number<G: MinimaxGame<State = S>>(
        &mut self,
        game: &G,
        state: &S,
        from: u32,
        child: usize,
    ) -> u32 {
        let next = self.positions.len() as u32;
        if let Some(number) = self.numbers.get(state) {
            return *number;
        }
        self.numbers.insert(state.clone(), next);
        self.positions.push(state.clone());
        self.origin.push((from, child as u32));
        self.bytes += game.state_heap_bytes(state);
        next
    }

    /// The scores that can be forced in each position.
    fn solve(&self, meter: &mut Meter<'_>) -> Result<Forced, BudgetKind> {
        Ok(Forced {
            least: self.attract(Side::Role, meter)?,
            most: match self.game_class.has_upper_bounds(&self.chance) {
                true => self.attract(Side::Others, meter)?,
                false => vec![None; self.positions.len()],
            },
        })
    }

    /// The scores that one side can force.
    fn attract(
        &self,
        side: Side,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Option<ForcedScore>>, BudgetKind> {
        let mut reached: Vec<Option<ForcedScore>> = vec![None; self.positions.len()];
        let answers = self
            .outcomes
            .last()
            .map_or(0, |(_, place)| place.answer as usize + 1);
        // The numbers of outcomes of each answer, of answers to each move (for the role) and
        // of moves of each position (for the others) that are not yet forced.
        let mut by_answer = vec![0u32; answers];
        let mut before: Vec<Vec<Place>> = vec![Vec::new(); self.positions.len()];
        let mut ends: Vec<(u8, Place)> = Vec::new();
        for (outcome, place) in &self.outcomes {
            by_answer[place.answer as usize] += 1;
            match outcome {
                ChildOutcome::Position(number) => before[*number as usize].push(*place),
                ChildOutcome::End(score) => ends.push((*score, *place)),
                ChildOutcome::Wrong => {}
            }
        }
        let mut by_choice = match side {
            Side::Role => self.answers.clone(),
            Side::Others => vec![1; self.answers.len()],
        };
        let mut by_position: Vec<u32> = match side {
            Side::Role => vec![1; self.expanded],
            Side::Others => self
                .choices
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .collect(),
        };
        ends.sort_by_key(|(score, _)| match side {
            Side::Role => 100 - score,
            Side::Others => *score,
        });
        let mut open: VecDeque<Place> = VecDeque::new();
        let mut rank = 0;
        for (score, place) in ends {
            open.push_back(place);
            while let Some(place) = open.pop_front() {
                let position = place.position as usize;
                let is_reached = reached[position].is_some()
                    || !decrement(&mut by_answer[place.answer as usize])
                    || !decrement(&mut by_choice[place.choice as usize])
                    || !decrement(&mut by_position[position])
                    || side == Side::Role && !self.is_whole[position];
                if !is_reached {
                    reached[position] = Some(ForcedScore { score, rank });
                    rank += 1;
                    if rank % CHECK_INTERVAL == 0 {
                        meter.check()?;
                    }
                    open.extend(&before[position]);
                }
            }
        }
        Ok(reached)
    }

    /// The report of a complete graph. `known` is the report of the forward search.
    ///
    /// # Errors
    ///
    /// The exhausted limit, or the first error of the game.
    pub(super) fn report<G: MinimaxGame<State = S>>(
        &self,
        game: &mut G,
        known: MinimaxReport<G::Move>,
        meter: &mut Meter<'_>,
    ) -> Result<MinimaxReport<G::Move>, Stop<G::Error>> {
        let forced = self.solve(meter)?;
        let root = game
            .expand(&self.positions[0], self.role)
            .map_err(Stop::Error)?;
        let mut moves = self.moves(&root.legal[self.role], &forced);
        // Ties are broken by the order of the forward search.
        let actions = known.moves.iter().map(|found| &found.action);
        let places: FxHashMap<&G::Move, usize> = actions.zip(0..).collect();
        moves.sort_by_key(|found| (Reverse(found.bounds), places.get(&found.action)));
        let (least, most) = match moves.first() {
            Some(best) => (best.bounds.0, moves.iter().map(|m| m.bounds.1).max()),
            None => (0, None),
        };
        let is_endless = most.is_some_and(|most| least < most)
            && self.game_class.has_upper_bounds(&self.chance)
            && self.is_whole.iter().all(|whole| *whole)
            && !self.chance.contains(&true)
            && self.fault.is_none();
        Ok(MinimaxReport {
            // Optimal play has no end.
            line: match is_endless {
                true => Vec::new(),
                false => line::line(self, game, &forced, &moves).map_err(Stop::Error)?,
            },
            moves,
            stopped: None,
            is_endless,
            fault: self.fault(game).map_err(Stop::Error)?,
            sum: self.game_class.constant_sum(),
            ..known
        })
    }

    /// The values of the moves of the root.
    fn moves<M: Clone>(&self, legal: &[M], forced: &Forced) -> Vec<MoveValue<M>> {
        let first = self
            .outcomes
            .iter()
            .take_while(|(_, place)| place.position == 0);
        let first: Vec<&(ChildOutcome, Place)> = first.collect();
        let moves = legal.iter().zip(0..).map(|(action, own)| {
            let outcomes = first.iter().filter(|(_, place)| place.choice == own);
            let mut answers: Vec<(u32, Option<u8>, u8)> = Vec::new();
            for (outcome, place) in outcomes {
                let (least, most) = forced.of(*outcome);
                match answers
                    .last_mut()
                    .filter(|(answer, ..)| *answer == place.answer)
                {
                    None => answers.push((place.answer, least, most)),
                    Some((_, lowest, highest)) => {
                        *lowest = lowest.zip(least).map(|(one, other)| one.min(other));
                        *highest = most.max(*highest);
                    }
                }
            }
            let least = answers.iter().map(|(_, least, _)| *least).min().flatten();
            let most = answers.iter().map(|(.., most)| *most).min();
            let least = least.filter(|_| self.is_whole[0]).unwrap_or(0);
            let most = most.unwrap_or(100);
            MoveValue {
                action: action.clone(),
                value: f64::from(least).midpoint(f64::from(most)),
                bounds: (least, most),
            }
        });
        moves.collect()
    }

    /// The joint moves to the first fault in the rules.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    fn fault<G: MinimaxGame<State = S>>(
        &self,
        game: &mut G,
    ) -> Result<Option<Line<G::Move>>, G::Error> {
        let Some((mut position, wrong)) = self.fault else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let mut child = wrong;
        loop {
            if let Some(child) = child {
                let state = &self.positions[position as usize];
                let expanded =
                    Expanded::new(self.role, game.expand(state, self.role)?, &self.chance);
                line.push(expanded.moves_to(child));
            }
            if position == 0 {
                line.reverse();
                return Ok(Some(line));
            }
            let (from, by) = self.origin[position as usize];
            (position, child) = (from, Some(by as usize));
        }
    }
}

/// The side that forces a score.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Side {
    Role,
    Others,
}

/// Decrements a counter and returns whether it has just reached 0.
fn decrement(count: &mut u32) -> bool {
    let was = *count;
    *count = was.saturating_sub(1);
    was == 1
}
