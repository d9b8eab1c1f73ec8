//! The search of one position, deeper each time.

use std::cmp::Reverse;
use std::hash::Hash;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::order::{FIRST, Order, Side, key};
use super::table::{Entry, Kind, Table};
use super::{Expansion, MinimaxGame, MinimaxReport, MoveWorth, Wanted};
use crate::search::Stop;
use crate::search::budget::{BudgetKind, Meter};

/// A score of 1. What is left is for the distance of the end: a good one is worth
/// more if it is near, a bad one if it is far.
const POINT: i32 = 1_000_000;
/// More than any distance.
const FAR: i32 = 500_000;
const EVEN: i32 = 50 * POINT;
const WORST: i32 = -1;
const BEST: i32 = 101 * POINT;

/// What a position is worth.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Worth {
    /// By estimates, where nothing better is known, in units of 1 / [`POINT`].
    pub(super) value: i32,
    /// The score that is proved to be had.
    pub(super) least: u8,
    /// The score that is proved not to be passed.
    pub(super) most: u8,
}

impl Worth {
    fn end(score: u8) -> Self {
        Worth {
            value: i32::from(score) * POINT,
            least: score,
            most: score,
        }
    }

    fn estimate(score: f64) -> Self {
        // No estimate is as good or as bad as an end.
        let score = 1.0 + 0.98 * score.clamp(0.0, 100.0);
        Worth {
            value: (score * f64::from(POINT)) as i32,
            least: 0,
            most: 100,
        }
    }

    pub(super) fn is_proved(self) -> bool {
        self.least == self.most
    }

    /// With a value that fits what is proved.
    fn clipped(self) -> Self {
        Worth {
            value: self.value.clamp(lowest(self.least), highest(self.most)),
            ..self
        }
    }

    /// One joint move earlier.
    fn before(self) -> Self {
        Worth {
            value: self.value - (self.value - EVEN).signum(),
            ..self
        }
    }
}

fn lowest(score: u8) -> i32 {
    let value = i32::from(score) * POINT;
    if value > EVEN { value - FAR } else { value }
}

fn highest(score: u8) -> i32 {
    let value = i32::from(score) * POINT;
    if value < EVEN { value + FAR } else { value }
}

/// The values that matter: worse ones are not chosen, better ones not allowed.
#[derive(Copy, Clone)]
struct Window {
    alpha: i32,
    beta: i32,
}

impl Window {
    const FULL: Window = Window {
        alpha: WORST,
        beta: BEST,
    };

    /// For a position one joint move later, whose value changes by at most 1.
    fn after(self) -> Window {
        Window {
            alpha: self.alpha - 1,
            beta: self.beta + 1,
        }
    }
}

/// An expansion with the moves of the role apart from those of the others.
struct Fork<S, M> {
    expansion: Expansion<S, M>,
    /// The role's moves, and the joint moves of all others.
    own: usize,
    others: usize,
    /// The joint moves of the roles after it.
    stride: usize,
    /// By child, if they are not searched further.
    estimates: Vec<Worth>,
}

impl<S, M> Fork<S, M> {
    fn new(role: usize, expansion: Expansion<S, M>) -> Self {
        let legal = &expansion.legal;
        let product = |lists: &[Vec<M>]| lists.iter().map(Vec::len).product();
        let (before, stride): (usize, usize) =
            (product(&legal[..role]), product(&legal[role + 1..]));
        Fork {
            own: legal[role].len(),
            others: before * stride,
            stride,
            expansion,
            estimates: Vec::new(),
        }
    }

    /// The place of a child, by the role's move and that of the others.
    fn at(&self, own: usize, others: usize) -> usize {
        let (before, after) = (others / self.stride, others % self.stride);
        (before * self.own + own) * self.stride + after
    }
}

impl<S, M: Hash> Fork<S, M> {
    /// The key of one of the role's moves.
    fn own_key(&self, role: usize, own: usize) -> u64 {
        key(Side::Own, [&self.expansion.legal[role][own]])
    }

    /// The key of a joint move of the others.
    fn others_key(&self, role: usize, others: usize) -> u64 {
        let mut rest = self.at(0, others);
        let legal = self.expansion.legal.iter().enumerate().rev();
        let moves = legal.filter_map(|(at, legal)| {
            let chosen = &legal[rest % legal.len()];
            rest /= legal.len();
            (at != role).then_some(chosen)
        });
        key(Side::Others, moves)
    }
}

/// What is known of a move of the first position.
struct RootMove {
    index: usize,
    worth: Worth,
}

pub(super) struct Tree<'a, G: MinimaxGame> {
    game: &'a mut G,
    table: &'a mut Table<G::State>,
    pub(super) meter: Meter<'a>,
    role: usize,
    wanted: Wanted,
    order: Order,
    root: Option<Fork<G::State, G::Move>>,
    moves: Vec<RootMove>,
    /// Whether an estimate was used at this depth.
    was_cut: bool,
    /// Whether the role chose at the same time as others.
    has_choices_at_once: bool,
    /// The sum of all scores at the ends met so far, and whether it was the same.
    sum: Option<u32>,
    is_constant: bool,
}

impl<'a, G: MinimaxGame> Tree<'a, G> {
    pub(super) fn new(
        game: &'a mut G,
        table: &'a mut Table<G::State>,
        meter: Meter<'a>,
        role: usize,
        wanted: Wanted,
    ) -> Self {
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
            has_choices_at_once: false,
            sum: None,
            is_constant: true,
        }
    }

    /// Expands the first position.
    pub(super) fn begin(&mut self, root: &G::State, seed: u64) -> Result<(), G::Error> {
        let fork = Fork::new(self.role, self.game.expand(root, self.role)?);
        if !fork.expansion.children.is_empty() {
            let mut indices: Vec<usize> = (0..fork.own).collect();
            indices.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
            let unknown = Worth::estimate(50.0);
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
        root: &mut Fork<G::State, G::Move>,
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
            *known = Worth {
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
            let is_solved = self.moves.iter().all(|known| known.worth.is_proved());
            return Ok(is_solved || !self.was_cut);
        }
        let most = self.moves.iter().map(|known| known.worth.most).max();
        let best = self.moves.first().map(|known| known.worth.least);
        Ok(best == most || !self.was_cut)
    }

    /// The value of a state in which the game goes on, at least a joint move
    /// ahead.
    fn open(
        &mut self,
        state: &G::State,
        depth: u32,
        window: Window,
        ply: usize,
    ) -> Result<Worth, Stop<G::Error>> {
        let known = self.table.get(state);
        if let Some(entry) = known {
            if let Some(worth) = proved(entry, window) {
                return Ok(worth);
            }
            if is_deep_enough(entry, depth, window) {
                self.was_cut = true;
                return Ok(entry.worth);
            }
        }
        self.spend()?;
        let expansion = self.game.expand(state, self.role).map_err(Stop::Error)?;
        let mut fork = Fork::new(self.role, expansion);
        if fork.expansion.children.is_empty() {
            return Ok(self.estimates(&[state])?[0]);
        }
        self.note(&fork);
        if depth == 1 {
            self.look(&mut fork)?;
        }
        let hint = known.map(|entry| entry.best);
        let order = self.own_moves(&fork, depth, ply, hint);
        let mut best = Worth {
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
            best = Worth {
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
        let worth = best.clipped();
        let entry = Entry {
            worth,
            kind: match worth.value {
                value if value >= window.beta => Kind::AtLeast,
                value if value <= window.alpha => Kind::AtMost,
                _ => Kind::Exact,
            },
            depth,
            best: best_key,
        };
        let heap_bytes = self.game.state_heap_bytes(state);
        self.table.insert(state, entry, heap_bytes);
        Ok(worth)
    }

    /// What a move is worth when the others answer it, and the key of the answer.
    fn answered(
        &mut self,
        fork: &Fork<G::State, G::Move>,
        own: usize,
        depth: u32,
        window: Window,
        ply: usize,
        hint: Option<u64>,
    ) -> Result<(Worth, u64), Stop<G::Error>> {
        let mut worst = Worth {
            value: BEST,
            least: 100,
            most: 100,
        };
        let mut answer = 0;
        let order = self.answers(fork, own, depth, ply, hint);
        for (at, &others) in order.iter().enumerate() {
            let place = fork.at(own, others);
            let child = &fork.expansion.children[place];
            self.meter.arc()?;
            let found = match (&child.scores, fork.estimates.get(place)) {
                (Some(scores), _) => Worth::end(scores[self.role]),
                (None, Some(estimate)) => *estimate,
                (None, None) => {
                    let beta = window.beta.min(worst.value);
                    let window = Window { beta, ..window }.after();
                    self.open(&child.state, depth - 1, window, ply + 1)?
                }
            }
            .before();
            if found.value < worst.value {
                answer = others;
            }
            worst = Worth {
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

    /// The role's moves, the most promising first.
    fn own_moves(
        &self,
        fork: &Fork<G::State, G::Move>,
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
        fork: &Fork<G::State, G::Move>,
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
    fn look(&mut self, fork: &mut Fork<G::State, G::Move>) -> Result<(), Stop<G::Error>> {
        let children = &fork.expansion.children;
        let open: Vec<&G::State> = (children.iter())
            .filter(|child| child.scores.is_none())
            .map(|child| &child.state)
            .collect();
        let mut found = self.estimates(&open)?.into_iter();
        let estimates = children.iter().map(|child| match &child.scores {
            Some(scores) => Worth::end(scores[self.role]),
            None => found.next().expect("each open state has one"),
        });
        fork.estimates = estimates.collect();
        Ok(())
    }

    fn estimates(&mut self, states: &[&G::State]) -> Result<Vec<Worth>, Stop<G::Error>> {
        if states.is_empty() {
            return Ok(Vec::new());
        }
        self.was_cut = true;
        let mut scores = Vec::with_capacity(states.len());
        self.game
            .estimate(states, self.role, &mut scores)
            .map_err(Stop::Error)?;
        Ok(scores.into_iter().map(Worth::estimate).collect())
    }

    fn spend(&mut self) -> Result<(), Stop<G::Error>> {
        self.meter.record(self.table.len(), self.table.bytes());
        // A position may take long, so the clock is looked at each time.
        self.meter.check()?;
        self.meter.spend_node()?;
        Ok(())
    }

    /// Takes note of what kind of game it is.
    fn note(&mut self, fork: &Fork<G::State, G::Move>) {
        self.has_choices_at_once |= fork.own > 1 && fork.others > 1;
        for scores in fork.expansion.children.iter().flat_map(|c| &c.scores) {
            let sum = scores.iter().map(|score| u32::from(*score)).sum();
            self.is_constant &= self.sum.is_none_or(|known| known == sum);
            self.sum = Some(sum);
        }
    }

    pub(super) fn report(&self, depth: u32, stopped: Option<BudgetKind>) -> MinimaxReport<G::Move> {
        let root = self.root.as_ref().expect("it was begun");
        let legal = &root.expansion.legal[self.role];
        let is_most_known = self.game.roles() == 2 && self.is_constant && !self.has_choices_at_once;
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
        }
    }
}

/// What an entry says if what is proved is enough for the window.
fn proved(entry: Entry, window: Window) -> Option<Worth> {
    let Worth { least, most, .. } = entry.worth;
    let value = match () {
        () if entry.worth.is_proved() => entry.worth.value,
        () if lowest(least) >= window.beta => lowest(least),
        () if highest(most) <= window.alpha => highest(most),
        () => return None,
    };
    Some(Worth { value, least, most })
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
