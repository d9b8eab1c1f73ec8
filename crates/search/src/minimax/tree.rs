//! Alpha-beta search of one position with increasing depth.

use std::cmp::Reverse;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::expanded::Expanded;
use super::order::{FIRST, Order, Side};
use super::table::{BoundKind, Entry, FINAL, TranspositionTable};
use super::value::{BEST, POINT, Value, WORST, Window, highest, lowest};
use super::{Line, MinimaxGame, MinimaxReport, MoveValue, Wanted, Way};
use crate::budget::{BudgetKind, Meter};
use crate::{Joint, Stop};

/// A move of the root with its value.
pub(super) struct RootMove {
    pub(super) index: usize,
    pub(super) value: Value,
}

pub(super) struct Tree<'a, G: MinimaxGame> {
    pub(super) game: &'a mut G,
    table: &'a mut TranspositionTable<G::State>,
    pub(super) meter: Meter<'a>,
    pub(super) role: usize,
    pub(super) wanted: Wanted,
    order: Order,
    pub(super) root: Option<Expanded<G::State, G::Move>>,
    pub(super) moves: Vec<RootMove>,
    /// True if this depth used an estimate.
    was_cut: bool,
    /// By role: whether it is played by chance.
    pub(super) chance: Vec<bool>,
    /// The positions from the root to the one being searched.
    pub(super) path: Vec<G::State>,
    /// The indices of the children on the path.
    pub(super) places: Vec<usize>,
    pub(super) seen: &'a mut Seen,
}

/// The observations of all searches of one position.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// True if a position repeated on its own path.
    pub(super) has_cycles: bool,
    /// The indices of the children that lead to the first fault in the rules.
    fault: Option<Vec<usize>>,
}

impl<'a, G: MinimaxGame> Tree<'a, G> {
    pub(super) fn new(
        game: &'a mut G,
        table: &'a mut TranspositionTable<G::State>,
        seen: &'a mut Seen,
        meter: Meter<'a>,
        role: usize,
        wanted: Wanted,
    ) -> Self {
        let chance: Vec<bool> = (0..game.roles()).map(|at| game.is_chance(at)).collect();
        Tree {
            game,
            table,
            meter,
            role,
            wanted,
            order: Order::default(),
            root: None,
            moves: Vec::new(),
            was_cut: false,
            chance,
            path: Vec::new(),
            places: Vec::new(),
            seen,
        }
    }

    /// Expands the root.
    pub(super) fn begin(&mut self, root: &G::State, seed: u64) -> Result<(), G::Error> {
        let expansion = self.game.expand(root, self.role)?;
        let expanded = Expanded::new(self.role, expansion, &self.chance);
        self.path.push(root.clone());
        if !expanded.expansion.children.is_empty() {
            let mut indices: Vec<usize> = (0..expanded.own).collect();
            indices.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
            let unknown = Value::estimate(50.0);
            let moves = indices.into_iter().map(|index| RootMove {
                index,
                value: unknown,
            });
            self.moves = moves.collect();
        }
        self.record(&expanded);
        self.root = Some(expanded);
        Ok(())
    }

    /// Searches to a depth and returns whether the search is complete.
    pub(super) fn deepen(&mut self, depth: u32) -> Result<bool, Stop<G::Error>> {
        let mut root = self.root.take().expect("`begin` expanded the root");
        let searched = self.deepen_from(&mut root, depth);
        self.root = Some(root);
        searched
    }

    fn deepen_from(
        &mut self,
        root: &mut Expanded<G::State, G::Move>,
        depth: u32,
    ) -> Result<bool, Stop<G::Error>> {
        self.was_cut = false;
        self.spend()?;
        if depth == 1 {
            self.estimate_children(root)?;
        } else {
            root.estimates.clear();
        }
        let mut window = Window::FULL;
        for at in 0..self.moves.len() {
            if self.wanted == Wanted::All && self.moves[at].value.is_proved() {
                continue;
            }
            let own = self.moves[at].index;
            let (found, _) = self.value_of_move(root, own, depth, window, 0, None)?;
            let known = &mut self.moves[at].value;
            *known = Value {
                expected: found.expected,
                least: found.least.max(known.least),
                most: found.most.min(known.most),
            }
            .clipped();
            if self.wanted == Wanted::All {
                continue;
            }
            // The best move so far goes first, so that an interrupted search reports it.
            if known.expected > window.alpha {
                window.alpha = known.expected;
                self.moves[..=at].rotate_right(1);
                if self.moves[0].value.least == 100 {
                    break;
                }
            }
        }
        if self.wanted == Wanted::All {
            self.moves
                .sort_by_key(|known| Reverse(known.value.expected));
        }
        Ok(self.is_over())
    }

    /// Returns true if the last depth has found everything that is wanted.
    pub(super) fn is_over(&self) -> bool {
        let is_enough = match self.wanted {
            Wanted::All => self.moves.iter().all(|known| known.value.is_proved()),
            Wanted::Best => {
                let most = self.moves.iter().map(|known| known.value.most).max();
                self.moves.first().map(|known| known.value.least) == most
            }
        };
        is_enough || !self.was_cut
    }

    /// The value of a state that is not terminal, by a search of at least one joint move.
    fn search_state(
        &mut self,
        state: &G::State,
        depth: u32,
        window: Window,
        ply: usize,
    ) -> Result<Value, Stop<G::Error>> {
        let known = self.table.get(state);
        if let Some(entry) = known {
            if let Some(value) = proved(entry, window) {
                return Ok(value);
            }
            if is_deep_enough(entry, depth, window) {
                self.was_cut |= entry.depth != FINAL;
                return Ok(entry.value);
            }
        }
        self.seen.has_cycles = self.seen.has_cycles || self.path.contains(state);
        self.spend()?;
        let expansion = self.game.expand(state, self.role).map_err(Stop::Error)?;
        let mut expanded = Expanded::new(self.role, expansion, &self.chance);
        self.record(&expanded);
        if expanded.expansion.children.is_empty() {
            return Ok(Value::unknown());
        }
        let was_cut = std::mem::replace(&mut self.was_cut, false);
        self.path.push(state.clone());
        if depth == 1 {
            self.estimate_children(&mut expanded)?;
        }
        let hint = known.map(|entry| entry.best);
        let order = self.own_moves(&expanded, depth, ply, hint);
        let mut best = Value {
            expected: WORST,
            least: 0,
            most: 0,
        };
        let mut best_key = 0;
        for (at, &own) in order.iter().enumerate() {
            let alpha = window.alpha.max(best.expected);
            let window = Window { alpha, ..window };
            let (found, answer) = self.value_of_move(&expanded, own, depth, window, ply, hint)?;
            if found.expected > best.expected {
                best_key = match expanded.own {
                    1 => answer,
                    _ => expanded.own_key(self.role, own),
                };
            }
            best = Value {
                expected: best.expected.max(found.expected),
                least: best.least.max(found.least),
                most: best.most.max(found.most),
            };
            if best.expected >= window.beta || best.least == 100 {
                if at + 1 < order.len() {
                    best.most = 100;
                    self.order.record_cutoff(Side::Own, ply, depth, best_key);
                }
                break;
            }
        }
        self.path.pop();
        let value = best.clipped();
        let entry = Entry {
            value,
            kind: match value.expected {
                value if value >= window.beta => BoundKind::AtLeast,
                value if value <= window.alpha => BoundKind::AtMost,
                _ => BoundKind::Exact,
            },
            depth: match self.was_cut {
                true => depth,
                false => FINAL,
            },
            best: best_key,
        };
        self.was_cut |= was_cut;
        let heap_bytes = self.game.state_heap_bytes(state);
        self.table.insert(state, entry, heap_bytes);
        Ok(value)
    }

    /// The value of a move after the best answer of the others, and the key of that answer.
    fn value_of_move(
        &mut self,
        expanded: &Expanded<G::State, G::Move>,
        own: usize,
        depth: u32,
        window: Window,
        ply: usize,
        hint: Option<u64>,
    ) -> Result<(Value, u64), Stop<G::Error>> {
        let mut worst = Value {
            expected: BEST,
            least: 100,
            most: 100,
        };
        let mut answer = 0;
        let order = match expanded.by_chance.len() {
            0 => self.answers(expanded, own, depth, ply, hint),
            // Each group is represented by its first joint move.
            _ => expanded.by_chance.iter().map(|drawn| drawn[0]).collect(),
        };
        for (at, &others) in order.iter().enumerate() {
            let beta = window.beta.min(worst.expected);
            let window = Window { beta, ..window };
            let found = match expanded.by_chance.get(at) {
                None => {
                    self.value_of_child(expanded, expanded.at(own, others), depth, window, ply)?
                }
                Some(drawn) => self.mean_over_chance(expanded, own, drawn, depth, ply)?,
            };
            if found.expected < worst.expected {
                answer = others;
            }
            worst = Value {
                expected: worst.expected.min(found.expected),
                least: worst.least.min(found.least),
                most: worst.most.min(found.most),
            };
            if worst.expected <= window.alpha || worst.most == 0 {
                if at + 1 < order.len() {
                    worst.least = 0;
                    let key = expanded.others_key(self.role, answer);
                    self.order.record_cutoff(Side::Others, ply, depth, key);
                }
                break;
            }
        }
        if !expanded.expansion.is_whole {
            worst.least = 0;
        }
        let answer = match expanded.others {
            1 => 0,
            _ => expanded.others_key(self.role, answer),
        };
        Ok((worst.clipped(), answer))
    }

    /// The value of a child, one joint move earlier.
    fn value_of_child(
        &mut self,
        expanded: &Expanded<G::State, G::Move>,
        place: usize,
        depth: u32,
        window: Window,
        ply: usize,
    ) -> Result<Value, Stop<G::Error>> {
        let child = &expanded.expansion.children[place];
        self.meter.arc()?;
        let found = match (&child.scores, expanded.estimates.get(place)) {
            (Some(_), _) if child.is_wrong => Value::unknown(),
            (Some(scores), _) => Value::end(scores[self.role]),
            (None, Some(estimate)) => *estimate,
            (None, None) => {
                self.places.push(place);
                let found = self.search_state(&child.state, depth - 1, window.after(), ply + 1)?;
                self.places.pop();
                found
            }
        };
        Ok(found.before())
    }

    /// The mean value of a move over all moves of chance, for one answer of the others.
    fn mean_over_chance(
        &mut self,
        expanded: &Expanded<G::State, G::Move>,
        own: usize,
        drawn: &[usize],
        depth: u32,
        ply: usize,
    ) -> Result<Value, Stop<G::Error>> {
        let (mut sum, mut least, mut most) = (0, 100, 0);
        for &others in drawn {
            let found =
                self.value_of_child(expanded, expanded.at(own, others), depth, Window::FULL, ply)?;
            sum += i64::from(found.expected);
            least = least.min(found.least);
            most = most.max(found.most);
        }
        let value = sum / drawn.len() as i64;
        Ok(Value {
            expected: i32::try_from(value).expect("a mean is between the values"),
            least,
            most,
        })
    }

    /// The role's moves in order of decreasing priority.
    fn own_moves(
        &self,
        expanded: &Expanded<G::State, G::Move>,
        depth: u32,
        ply: usize,
        hint: Option<u64>,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..expanded.own).collect();
        if order.len() > 1 && depth > 1 {
            order.sort_by_cached_key(|&own| {
                let key = expanded.own_key(self.role, own);
                let scores = expanded.expansion.children[expanded.at(own, 0)]
                    .scores
                    .as_ref();
                Reverse(match scores.map(|scores| scores[self.role]) {
                    _ if Some(key) == hint => u64::MAX,
                    Some(100) if expanded.others == 1 => FIRST,
                    Some(0) => 0,
                    _ => self.order.priority(Side::Own, ply, key).max(1),
                })
            });
        }
        order
    }

    /// The answers of the others in order of decreasing priority.
    fn answers(
        &self,
        expanded: &Expanded<G::State, G::Move>,
        own: usize,
        depth: u32,
        ply: usize,
        hint: Option<u64>,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..expanded.others).collect();
        if order.len() > 1 && depth > 1 {
            order.sort_by_cached_key(|&others| {
                let key = expanded.others_key(self.role, others);
                let scores = expanded.expansion.children[expanded.at(own, others)]
                    .scores
                    .as_ref();
                Reverse(match scores.map(|scores| scores[self.role]) {
                    _ if Some(key) == hint => u64::MAX,
                    Some(0) => FIRST,
                    Some(100) => 0,
                    _ => self.order.priority(Side::Others, ply, key).max(1),
                })
            });
        }
        order
    }

    /// Sets the estimates of all children.
    fn estimate_children(
        &mut self,
        expanded: &mut Expanded<G::State, G::Move>,
    ) -> Result<(), Stop<G::Error>> {
        let children = &expanded.expansion.children;
        let open: Vec<&G::State> = (children.iter())
            .filter(|child| child.scores.is_none())
            .map(|child| &child.state)
            .collect();
        let mut found = self.estimates(&open)?.into_iter();
        let estimates = children.iter().map(|child| match &child.scores {
            Some(_) if child.is_wrong => Value::unknown(),
            Some(scores) => Value::end(scores[self.role]),
            None => found.next().expect("each open state has one"),
        });
        expanded.estimates = estimates.collect();
        Ok(())
    }

    fn estimates(&mut self, states: &[&G::State]) -> Result<Vec<Value>, Stop<G::Error>> {
        if states.is_empty() {
            return Ok(Vec::new());
        }
        self.was_cut = true;
        let mut scores = Vec::with_capacity(states.len());
        self.game
            .estimate(states, self.role, &mut scores)
            .map_err(Stop::Error)?;
        Ok(scores.into_iter().map(Value::estimate).collect())
    }

    pub(super) fn spend(&mut self) -> Result<(), Stop<G::Error>> {
        self.meter.record(self.table.len(), self.table.bytes());
        // The expansion of one position may take long, so each one checks the clock.
        self.meter.check()?;
        self.meter.spend_node()?;
        Ok(())
    }

    /// Updates the game class and records the first fault in the rules.
    pub(super) fn record(&mut self, expanded: &Expanded<G::State, G::Move>) {
        self.table.game_class.record(expanded, &self.chance);
        let children = &expanded.expansion.children;
        let wrong = children.iter().position(|child| child.is_wrong);
        if self.seen.fault.is_none() && (wrong.is_some() || children.is_empty()) {
            self.seen.fault = Some(self.places.iter().copied().chain(wrong).collect());
        }
    }

    /// Adds the expected continuation and the first fault to a report.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub(super) fn complete(&mut self, report: &mut MinimaxReport<G::Move>) -> Result<(), G::Error> {
        report.line = self.line()?;
        report.fault = self.fault()?;
        Ok(())
    }

    /// The joint moves to the first fault in the rules.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub(super) fn fault(&mut self) -> Result<Option<Line<G::Move>>, G::Error> {
        let (Some(places), Some(root)) = (&self.seen.fault, self.path.first()) else {
            return Ok(None);
        };
        let mut state = root.clone();
        let mut line = Vec::new();
        for &place in places {
            let expansion = self.game.expand(&state, self.role)?;
            let expanded = Expanded::new(self.role, expansion, &self.chance);
            line.push(expanded.moves_to(place));
            state = expanded.expansion.children[place].state.clone();
        }
        Ok(Some(line))
    }

    /// The expected continuation as far as the table has it: the best move, its answer, and so
    /// on.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub(super) fn line(&mut self) -> Result<Vec<Joint<G::Move>>, G::Error> {
        let mut line = Vec::new();
        let (Some(first), Some(root)) = (self.moves.first(), self.path.first()) else {
            return Ok(line);
        };
        let (mut best, mut met) = (None, vec![root.clone()]);
        let index = first.index;
        loop {
            let state = met.last().expect("the root is in the list");
            let expansion = self.game.expand(state, self.role)?;
            let expanded = Expanded::new(self.role, expansion, &self.chance);
            let own = (0..expanded.own).find(|own| match best {
                None => *own == index,
                Some(best) => expanded.own == 1 || expanded.own_key(self.role, *own) == best,
            });
            let is_answer = |others: &usize| {
                expanded.others == 1 || best == Some(expanded.others_key(self.role, *others))
            };
            let others = (0..expanded.others).find(is_answer);
            let (Some(own), Some(others)) = (own, others) else {
                return Ok(line);
            };
            let place = expanded.at(own, others);
            line.push(expanded.joint_to(place));
            let child = &expanded.expansion.children[place];
            let known = self.table.get(&child.state);
            let (Some(known), None) = (known, &child.scores) else {
                return Ok(line);
            };
            best = Some(known.best);
            if met.contains(&child.state) {
                return Ok(line);
            }
            met.push(child.state.clone());
        }
    }

    /// Returns true if upper bounds hold in what was seen of the game.
    pub(super) fn has_upper_bounds(&self) -> bool {
        self.table.game_class.has_upper_bounds(&self.chance)
    }

    /// The values so far; no moves if the root is not expanded.
    pub(super) fn report(&self, depth: u32, stopped: Option<BudgetKind>) -> MinimaxReport<G::Move> {
        let root = self.root.iter();
        let legal = root.flat_map(|root| {
            let legal = &root.expansion.legal[self.role];
            self.moves.iter().map(|known| (&legal[known.index], known))
        });
        let has_upper_bounds = self.has_upper_bounds();
        let moves = legal.map(|(action, known)| MoveValue {
            action: action.clone(),
            value: match known.value {
                value if value.is_proved() => f64::from(value.least),
                value => f64::from(value.expected) / f64::from(POINT),
            },
            bounds: match has_upper_bounds {
                true => (known.value.least, known.value.most),
                false => (known.value.least, 100),
            },
        });
        MinimaxReport {
            moves: moves.collect(),
            depth,
            way: Way::Ahead,
            positions: self.meter.stats().total().expanded,
            stopped,
            has_cycles: self.seen.has_cycles,
            is_endless: false,
            fault: None,
            line: Vec::new(),
            sum: self.table.game_class.constant_sum(),
        }
    }
}

/// The value of an entry if its proved bounds decide the window.
fn proved(entry: Entry, window: Window) -> Option<Value> {
    let Value { least, most, .. } = entry.value;
    let expected = match () {
        () if entry.value.is_proved() => entry.value.expected,
        () if lowest(least) >= window.beta => lowest(least),
        () if highest(most) <= window.alpha => highest(most),
        () => return None,
    };
    Some(Value {
        expected,
        least,
        most,
    })
}

/// Returns true if an entry is deep enough and decides the window.
fn is_deep_enough(entry: Entry, depth: u32, window: Window) -> bool {
    entry.depth >= depth
        && match entry.kind {
            BoundKind::Exact => true,
            BoundKind::AtLeast => entry.value.expected >= window.beta,
            BoundKind::AtMost => entry.value.expected <= window.alpha,
        }
}
