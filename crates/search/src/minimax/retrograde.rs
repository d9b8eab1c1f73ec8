//! What every position is worth, from the ends backwards.
//!
//! In: all that can be reached from a position, as far as a budget goes. Out: the
//! least that the role can force an end to be worth, and the most that the others can.
//! Where positions come again a search that looks ahead never ends, and a position may
//! be such that nobody can force an end; here both are seen, since what can be forced
//! is a least fixpoint. Of what was not expanded nothing is taken for granted.
//!
//! Source: Ströhlein, "Untersuchungen über kombinatorische Spiele", 1970; Thompson,
//! "Retrograde analysis of certain endgames", 1986.

mod line;

use std::cmp::Reverse;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::expanded::Expanded;
use super::game_class::GameClass;
use super::{Line, MinimaxGame, MinimaxReport, MoveWorth};
use crate::Stop;
use crate::budget::{BudgetKind, Meter};

/// Bytes of what leads to one child, in both directions.
const ARC_BYTES: u64 = 24;

/// Positions between two looks at the clock.
const LOOK: u32 = 1 << 16;

/// Where a move may lead.
#[derive(Copy, Clone)]
enum Outcome {
    Position(u32),
    End(u8),
    /// An end without a score.
    Wrong,
}

/// What an outcome belongs to: an answer, of a move, of a position.
#[derive(Copy, Clone)]
struct Place {
    position: u32,
    choice: u32,
    answer: u32,
}

/// The positions that can be reached, as far as they were looked at.
pub(super) struct Graph<S> {
    role: usize,
    chance: Vec<bool>,
    numbers: FxHashMap<S, u32>,
    positions: Vec<S>,
    /// How many of them were expanded, in the order in which they were met.
    expanded: usize,
    /// By expanded position: whether all moves were looked at.
    is_whole: Vec<bool>,
    /// By expanded position: the first of its moves, and the number of them in all.
    choices: Vec<u32>,
    /// By move: its answers.
    answers: Vec<u32>,
    outcomes: Vec<(Outcome, Place)>,
    bytes: u64,
    nature: GameClass,
    /// The first position with something wrong, and which of its children it is.
    fault: Option<(u32, Option<usize>)>,
    /// By position: from where it was met first, and by which child.
    origin: Vec<(u32, u32)>,
}

/// What can be forced, by position.
struct Forced {
    least: Vec<Option<Reached>>,
    most: Vec<Option<Reached>>,
}

/// What an end is worth that can be forced, and how many positions were found to have
/// one before this.
#[derive(Copy, Clone)]
struct Reached {
    score: u8,
    rank: u32,
}

impl Forced {
    /// The least, if there is any, and the most.
    fn of(&self, outcome: Outcome) -> (Option<u8>, u8) {
        match outcome {
            Outcome::End(score) => (Some(score), score),
            Outcome::Wrong => (None, 100),
            Outcome::Position(number) => {
                let number = number as usize;
                let most = self.most[number].map_or(100, |reached| reached.score);
                (self.least[number].map(|reached| reached.score), most)
            }
        }
    }
}

impl<S: Clone + Eq + std::hash::Hash> Graph<S> {
    pub(super) fn new<G: MinimaxGame<State = S>>(game: &G, root: &S, role: usize) -> Self {
        let chance: Vec<bool> = (0..game.roles()).map(|at| game.is_chance(at)).collect();
        Graph {
            role,
            nature: GameClass::new(&chance),
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

    /// Whether everything that can be reached is here.
    pub(super) fn is_complete(&self) -> bool {
        self.expanded == self.positions.len()
    }

    /// Whether it takes more than so much memory.
    fn is_full(&self, memory_bytes: u64) -> bool {
        let slots = self.positions.len() as u64 * (3 * size_of::<S>() as u64 + 48);
        self.bytes + slots + self.outcomes.len() as u64 * (ARC_BYTES + 16) > memory_bytes
            || self.positions.len() >= u32::MAX as usize
    }

    /// Expands so many positions; whether there is room for more.
    ///
    /// # Errors
    ///
    /// What ran out, or the first error of the game.
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
        let fork = Expanded::new(self.role, expansion, &self.chance);
        self.nature.note(&fork);
        let children = &fork.expansion.children;
        self.is_whole.push(fork.expansion.is_whole);
        let wrong = children.iter().position(|child| child.is_wrong);
        if self.fault.is_none() && (wrong.is_some() || children.is_empty()) {
            self.fault = Some((position, wrong));
        }
        let moves = if children.is_empty() { 0 } else { fork.own };
        let single: Vec<Vec<usize>>;
        let groups = match fork.by_chance.len() {
            0 => {
                single = (0..fork.others).map(|others| vec![others]).collect();
                &single
            }
            _ => &fork.by_chance,
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
                    let at = fork.at(own, others);
                    let child = &children[at];
                    let outcome = match &child.scores {
                        Some(_) if child.is_wrong => Outcome::Wrong,
                        Some(scores) => Outcome::End(scores[self.role]),
                        None => Outcome::Position(self.number(game, &child.state, position, at)),
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

    /// What can be forced in each position.
    fn solve(&self, meter: &mut Meter<'_>) -> Result<Forced, BudgetKind> {
        Ok(Forced {
            least: self.attract(Who::Role, meter)?,
            most: match self.nature.is_most_known() {
                true => self.attract(Who::Others, meter)?,
                false => vec![None; self.positions.len()],
            },
        })
    }

    /// What one side can force the end to be worth, at least or at most.
    fn attract(&self, who: Who, meter: &mut Meter<'_>) -> Result<Vec<Option<Reached>>, BudgetKind> {
        let mut reached: Vec<Option<Reached>> = vec![None; self.positions.len()];
        let answers = self
            .outcomes
            .last()
            .map_or(0, |(_, place)| place.answer as usize + 1);
        // What must still be forced: of the outcomes of each answer, of the answers to
        // each move (for the role), of the moves of each position (for the others).
        let mut by_answer = vec![0u32; answers];
        let mut before: Vec<Vec<Place>> = vec![Vec::new(); self.positions.len()];
        let mut ends: Vec<(u8, Place)> = Vec::new();
        for (outcome, place) in &self.outcomes {
            by_answer[place.answer as usize] += 1;
            match outcome {
                Outcome::Position(number) => before[*number as usize].push(*place),
                Outcome::End(score) => ends.push((*score, *place)),
                Outcome::Wrong => {}
            }
        }
        let mut by_choice = match who {
            Who::Role => self.answers.clone(),
            Who::Others => vec![1; self.answers.len()],
        };
        let mut by_position: Vec<u32> = match who {
            Who::Role => vec![1; self.expanded],
            Who::Others => self
                .choices
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .collect(),
        };
        ends.sort_by_key(|(score, _)| match who {
            Who::Role => 100 - score,
            Who::Others => *score,
        });
        let mut open: VecDeque<Place> = VecDeque::new();
        let mut rank = 0;
        for (score, place) in ends {
            open.push_back(place);
            while let Some(place) = open.pop_front() {
                let position = place.position as usize;
                let is_reached = reached[position].is_some()
                    || !spend(&mut by_answer[place.answer as usize])
                    || !spend(&mut by_choice[place.choice as usize])
                    || !spend(&mut by_position[position])
                    || who == Who::Role && !self.is_whole[position];
                if !is_reached {
                    reached[position] = Some(Reached { score, rank });
                    rank += 1;
                    if rank % LOOK == 0 {
                        meter.check()?;
                    }
                    open.extend(&before[position]);
                }
            }
        }
        Ok(reached)
    }

    /// A report of what is there, when everything is; `known` is that of looking ahead.
    ///
    /// # Errors
    ///
    /// What ran out, or the first error of the game.
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
        // Of equal ones what looked best before.
        let place = |action: &G::Move| known.moves.iter().position(|m| m.action == *action);
        moves.sort_by_key(|found| (Reverse(found.bounds), place(&found.action)));
        let (least, most) = match moves.first() {
            Some(best) => (best.bounds.0, moves.iter().map(|m| m.bounds.1).max()),
            None => (0, None),
        };
        let is_endless = most.is_some_and(|most| least < most)
            && self.nature.is_most_known()
            && self.is_whole.iter().all(|whole| *whole)
            && !self.chance.contains(&true)
            && self.fault.is_none();
        Ok(MinimaxReport {
            // Nobody who does the best comes to an end of it.
            line: match is_endless {
                true => Vec::new(),
                false => line::line(self, game, &forced, &moves).map_err(Stop::Error)?,
            },
            moves,
            stopped: None,
            is_endless,
            fault: self.fault(game).map_err(Stop::Error)?,
            ..known
        })
    }

    /// What is known of the moves of the first position.
    fn moves<M: Clone>(&self, legal: &[M], forced: &Forced) -> Vec<MoveWorth<M>> {
        let first = self
            .outcomes
            .iter()
            .take_while(|(_, place)| place.position == 0);
        let first: Vec<&(Outcome, Place)> = first.collect();
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
            MoveWorth {
                action: action.clone(),
                value: f64::from(least).midpoint(f64::from(most)),
                bounds: (least, most),
            }
        });
        moves.collect()
    }

    /// The joint moves to something wrong with the rules.
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
                let fork = Expanded::new(self.role, game.expand(state, self.role)?, &self.chance);
                line.push(fork.moves_to(child));
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

/// Who forces.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Who {
    Role,
    Others,
}

/// Takes one off; whether nothing is left by that.
fn spend(count: &mut u32) -> bool {
    let was = *count;
    *count = was.saturating_sub(1);
    was == 1
}
