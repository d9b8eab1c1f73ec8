//! The search of one position, deeper each time.

use std::cmp::Reverse;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::expanded::Expanded;
use super::game_class::GameClass;
use super::order::{FIRST, Order, Side};
use super::table::{Entry, FINAL, Kind, Table};
use super::value::{BEST, POINT, Value, WORST, Window, highest, lowest};
use super::{Line, MinimaxGame, MinimaxReport, MoveWorth, Wanted};
use crate::budget::{BudgetKind, Meter};
use crate::{Joint, Stop};

/// What is known of a move of the first position.
struct RootMove {
    index: usize,
    worth: Value,
}

pub(super) struct Tree<'a, G: MinimaxGame> {
    game: &'a mut G,
    table: &'a mut Table<G::State>,
    pub(super) meter: Meter<'a>,
    role: usize,
    wanted: Wanted,
    order: Order,
    root: Option<Expanded<G::State, G::Move>>,
    moves: Vec<RootMove>,
    /// Whether an estimate was used at this depth.
    was_cut: bool,
    /// By role: whether it is played by chance.
    chance: Vec<bool>,
    nature: GameClass,
    /// The positions from the first to the one being searched, and the children
    /// that lead on.
    path: Vec<G::State>,
    places: Vec<usize>,
    /// Whether a position came again on the way to itself.
    pub(super) has_cycles: bool,
    /// The children that lead to the first wrong end or position met.
    fault: Option<Vec<usize>>,
}

impl<'a, G: MinimaxGame> Tree<'a, G> {
    pub(super) fn new(
        game: &'a mut G,
        table: &'a mut Table<G::State>,
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
            nature: GameClass::new(&chance),
            chance,
            path: Vec::new(),
            places: Vec::new(),
            has_cycles: false,
            fault: None,
        }
    }

    /// Expands the first position.
    pub(super) fn begin(&mut self, root: &G::State, seed: u64) -> Result<(), G::Error> {
        let expansion = self.game.expand(root, self.role)?;
        let fork = Expanded::new(self.role, expansion, &self.chance);
        self.path.push(root.clone());
        if !fork.expansion.children.is_empty() {
            let mut indices: Vec<usize> = (0..fork.own).collect();
            indices.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
            let unknown = Value::estimate(50.0);
            let moves = indices.into_iter().map(|index| RootMove {
                index,
                worth: unknown,
            });
            self.moves = moves.collect();
        }
        self.note(&fork);
        self.root = Some(fork);
        Ok(())
    }

    /// Searches to a depth. Returns whether there is no more to be found.
    pub(super) fn deepen(&mut self, depth: u32) -> Result<bool, Stop<G::Error>> {
        let mut root = self.root.take().expect("it was begun");
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
            self.look(root)?;
        } else {
            root.estimates.clear();
        }
        let mut window = Window::FULL;
        for at in 0..self.moves.len() {
            if self.wanted == Wanted::All && self.moves[at].worth.is_proved() {
                continue;
            }
            let own = self.moves[at].index;
            let (found, _) = self.answered(root, own, depth, window, 0, None)?;
            let known = &mut self.moves[at].worth;
            *known = Value {
                value: found.value,
                least: found.least.max(known.least),
                most: found.most.min(known.most),
            }
            .clipped();
            if self.wanted == Wanted::All {
                continue;
            }
            // The first of those that are best so far goes first, so that a
            // search that is cut short has chosen it.
            if known.value > window.alpha {
                window.alpha = known.value;
                self.moves[..=at].rotate_right(1);
                if self.moves[0].worth.least == 100 {
                    break;
                }
            }
        }
        if self.wanted == Wanted::All {
            self.moves.sort_by_key(|known| Reverse(known.worth.value));
        }
        Ok(self.is_over())
    }

    /// Whether the last depth has found out all that is wanted.
    pub(super) fn is_over(&self) -> bool {
        let is_enough = match self.wanted {
            Wanted::All => self.moves.iter().all(|known| known.worth.is_proved()),
            Wanted::Best => {
                let most = self.moves.iter().map(|known| known.worth.most).max();
                self.moves.first().map(|known| known.worth.least) == most
            }
        };
        is_enough || !self.was_cut
    }

    /// The value of a state in which the game goes on, at least a joint move
    /// ahead.
    fn open(
        &mut self,
        state: &G::State,
        depth: u32,
        window: Window,
        ply: usize,
    ) -> Result<Value, Stop<G::Error>> {
        let known = self.table.get(state);
        if let Some(entry) = known {
            if let Some(worth) = proved(entry, window) {
                return Ok(worth);
            }
            if is_deep_enough(entry, depth, window) {
                self.was_cut |= entry.depth != FINAL;
                return Ok(entry.worth);
            }
        }
        self.has_cycles = self.has_cycles || self.path.contains(state);
        self.spend()?;
        let expansion = self.game.expand(state, self.role).map_err(Stop::Error)?;
        let mut fork = Expanded::new(self.role, expansion, &self.chance);
        self.note(&fork);
        if fork.expansion.children.is_empty() {
            return Ok(Value::unknown());
        }
        let was_cut = std::mem::replace(&mut self.was_cut, false);
        self.path.push(state.clone());
        if depth == 1 {
            self.look(&mut fork)?;
        }
        let hint = known.map(|entry| entry.best);
        let order = self.own_moves(&fork, depth, ply, hint);
        let mut best = Value {
            value: WORST,
            least: 0,
            most: 0,
        };
        let mut best_key = 0;
        for (at, &own) in order.iter().enumerate() {
            let alpha = window.alpha.max(best.value);
            let window = Window { alpha, ..window };
            let (found, answer) = self.answered(&fork, own, depth, window, ply, hint)?;
            if found.value > best.value {
                best_key = match fork.own {
                    1 => answer,
                    _ => fork.own_key(self.role, own),
                };
            }
            best = Value {
                value: best.value.max(found.value),
                least: best.least.max(found.least),
                most: best.most.max(found.most),
            };
            if best.value >= window.beta || best.least == 100 {
                if at + 1 < order.len() {
                    best.most = 100;
                    self.order.cut(Side::Own, ply, depth, best_key);
                }
                break;
            }
        }
        self.path.pop();
        let worth = best.clipped();
        let entry = Entry {
            worth,
            kind: match worth.value {
                value if value >= window.beta => Kind::AtLeast,
                value if value <= window.alpha => Kind::AtMost,
                _ => Kind::Exact,
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
        Ok(worth)
    }

    /// What a move is worth when the others answer it, and the key of the answer.
    fn answered(
        &mut self,
        fork: &Expanded<G::State, G::Move>,
        own: usize,
        depth: u32,
        window: Window,
        ply: usize,
        hint: Option<u64>,
    ) -> Result<(Value, u64), Stop<G::Error>> {
        let mut worst = Value {
            value: BEST,
            least: 100,
            most: 100,
        };
        let mut answer = 0;
        let order = match fork.by_chance.len() {
            0 => self.answers(fork, own, depth, ply, hint),
            // By the first of what chance may add.
            _ => fork.by_chance.iter().map(|drawn| drawn[0]).collect(),
        };
        for (at, &others) in order.iter().enumerate() {
            let beta = window.beta.min(worst.value);
            let window = Window { beta, ..window };
            let found = match fork.by_chance.get(at) {
                None => self.after(fork, fork.at(own, others), depth, window, ply)?,
                Some(drawn) => self.drawn(fork, own, drawn, depth, ply)?,
            };
            if found.value < worst.value {
                answer = others;
            }
            worst = Value {
                value: worst.value.min(found.value),
                least: worst.least.min(found.least),
                most: worst.most.min(found.most),
            };
            if worst.value <= window.alpha || worst.most == 0 {
                if at + 1 < order.len() {
                    worst.least = 0;
                    let key = fork.others_key(self.role, answer);
                    self.order.cut(Side::Others, ply, depth, key);
                }
                break;
            }
        }
        if !fork.expansion.is_whole {
            worst.least = 0;
        }
        let answer = match fork.others {
            1 => 0,
            _ => fork.others_key(self.role, answer),
        };
        Ok((worst.clipped(), answer))
    }

    /// What a child is worth.
    fn after(
        &mut self,
        fork: &Expanded<G::State, G::Move>,
        place: usize,
        depth: u32,
        window: Window,
        ply: usize,
    ) -> Result<Value, Stop<G::Error>> {
        let child = &fork.expansion.children[place];
        self.meter.arc()?;
        let found = match (&child.scores, fork.estimates.get(place)) {
            (Some(_), _) if child.is_wrong => Value::unknown(),
            (Some(scores), _) => Value::end(scores[self.role]),
            (None, Some(estimate)) => *estimate,
            (None, None) => {
                self.places.push(place);
                let found = self.open(&child.state, depth - 1, window.after(), ply + 1)?;
                self.places.pop();
                found
            }
        };
        Ok(found.before())
    }

    /// What a move is worth on the average when others answer it, and chance does
    /// one thing or another.
    fn drawn(
        &mut self,
        fork: &Expanded<G::State, G::Move>,
        own: usize,
        drawn: &[usize],
        depth: u32,
        ply: usize,
    ) -> Result<Value, Stop<G::Error>> {
        let (mut sum, mut least, mut most) = (0, 100, 0);
        for &others in drawn {
            let found = self.after(fork, fork.at(own, others), depth, Window::FULL, ply)?;
            sum += i64::from(found.value);
            least = least.min(found.least);
            most = most.max(found.most);
        }
        let value = sum / drawn.len() as i64;
        Ok(Value {
            value: i32::try_from(value).expect("it is one between values"),
            least,
            most,
        })
    }

    /// The role's moves, the most promising first.
    fn own_moves(
        &self,
        fork: &Expanded<G::State, G::Move>,
        depth: u32,
        ply: usize,
        hint: Option<u64>,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..fork.own).collect();
        if order.len() > 1 && depth > 1 {
            order.sort_by_cached_key(|&own| {
                let key = fork.own_key(self.role, own);
                let scores = fork.expansion.children[fork.at(own, 0)].scores.as_ref();
                Reverse(match scores.map(|scores| scores[self.role]) {
                    _ if Some(key) == hint => u64::MAX,
                    Some(100) if fork.others == 1 => FIRST,
                    Some(0) => 0,
                    _ => self.order.promise(Side::Own, ply, key).max(1),
                })
            });
        }
        order
    }

    /// The others' joint answers, the most promising first.
    fn answers(
        &self,
        fork: &Expanded<G::State, G::Move>,
        own: usize,
        depth: u32,
        ply: usize,
        hint: Option<u64>,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..fork.others).collect();
        if order.len() > 1 && depth > 1 {
            order.sort_by_cached_key(|&others| {
                let key = fork.others_key(self.role, others);
                let scores = fork.expansion.children[fork.at(own, others)]
                    .scores
                    .as_ref();
                Reverse(match scores.map(|scores| scores[self.role]) {
                    _ if Some(key) == hint => u64::MAX,
                    Some(0) => FIRST,
                    Some(100) => 0,
                    _ => self.order.promise(Side::Others, ply, key).max(1),
                })
            });
        }
        order
    }

    /// Estimates the children that are no ends.
    fn look(&mut self, fork: &mut Expanded<G::State, G::Move>) -> Result<(), Stop<G::Error>> {
        let children = &fork.expansion.children;
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
        fork.estimates = estimates.collect();
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

    fn spend(&mut self) -> Result<(), Stop<G::Error>> {
        self.meter.record(self.table.len(), self.table.bytes());
        // A position may take long, so the clock is looked at each time.
        self.meter.check()?;
        self.meter.spend_node()?;
        Ok(())
    }

    /// Takes note of what kind of game it is, and of what is wrong with it.
    fn note(&mut self, fork: &Expanded<G::State, G::Move>) {
        self.nature.note(fork);
        let children = &fork.expansion.children;
        let wrong = children.iter().position(|child| child.is_wrong);
        if self.fault.is_none() && (wrong.is_some() || children.is_empty()) {
            self.fault = Some(self.places.iter().copied().chain(wrong).collect());
        }
    }

    /// The joint moves to something wrong with the rules.
    ///
    /// # Errors
    ///
    /// The first error of the game.
    pub(super) fn fault(&mut self) -> Result<Option<Line<G::Move>>, G::Error> {
        let (Some(places), Some(root)) = (&self.fault, self.path.first()) else {
            return Ok(None);
        };
        let mut state = root.clone();
        let mut line = Vec::new();
        for &place in places {
            let expansion = self.game.expand(&state, self.role)?;
            let fork = Expanded::new(self.role, expansion, &self.chance);
            line.push(fork.moves_to(place));
            state = fork.expansion.children[place].state.clone();
        }
        Ok(Some(line))
    }

    /// How play is expected to go on, as far as it is known: the best move, its
    /// answer, and so on.
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
            let state = met.last().expect("there is the first");
            let expansion = self.game.expand(state, self.role)?;
            let fork = Expanded::new(self.role, expansion, &self.chance);
            let own = (0..fork.own).find(|own| match best {
                None => *own == index,
                Some(best) => fork.own == 1 || fork.own_key(self.role, *own) == best,
            });
            let is_answer = |others: &usize| {
                fork.others == 1 || best == Some(fork.others_key(self.role, *others))
            };
            let others = (0..fork.others).find(is_answer);
            let (Some(own), Some(others)) = (own, others) else {
                return Ok(line);
            };
            let place = fork.at(own, others);
            line.push(fork.joint_to(place));
            let child = &fork.expansion.children[place];
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

    pub(super) fn report(&self, depth: u32, stopped: Option<BudgetKind>) -> MinimaxReport<G::Move> {
        let root = self.root.as_ref().expect("it was begun");
        let legal = &root.expansion.legal[self.role];
        let is_most_known = self.nature.is_most_known();
        let moves = self.moves.iter().map(|known| MoveWorth {
            action: legal[known.index].clone(),
            value: match known.worth {
                worth if worth.is_proved() => f64::from(worth.least),
                worth => f64::from(worth.value) / f64::from(POINT),
            },
            bounds: match is_most_known {
                true => (known.worth.least, known.worth.most),
                false => (known.worth.least, 100),
            },
        });
        MinimaxReport {
            moves: moves.collect(),
            depth,
            positions: self.meter.stats().total().expanded,
            stopped,
            has_cycles: self.has_cycles,
            is_endless: false,
            fault: None,
            line: Vec::new(),
        }
    }
}

/// What an entry says if what is proved is enough for the window.
fn proved(entry: Entry, window: Window) -> Option<Value> {
    let Value { least, most, .. } = entry.worth;
    let value = match () {
        () if entry.worth.is_proved() => entry.worth.value,
        () if lowest(least) >= window.beta => lowest(least),
        () if highest(most) <= window.alpha => highest(most),
        () => return None,
    };
    Some(Value { value, least, most })
}

/// Whether an entry's value is enough for the window and the depth.
fn is_deep_enough(entry: Entry, depth: u32, window: Window) -> bool {
    entry.depth >= depth
        && match entry.kind {
            Kind::Exact => true,
            Kind::AtLeast => entry.worth.value >= window.beta,
            Kind::AtMost => entry.worth.value <= window.alpha,
        }
}
