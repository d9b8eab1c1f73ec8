//! Breadth-first search from both ends.
//!
//! In: a puzzle whose solutions can be counted, and whose moves can be taken back.
//! Out: a shortest plan, or the proof that there is none; unknown where the
//! analysis does not show the rules to be such. What a move can have changed comes
//! from its effects, case by case of its legality; every state that may have come
//! before is tried by playing the move, so that none is taken that did not.
//!
//! Source: Pohl, Bi-directional search (1971).

use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{Effects, Form, Sparse, cases};
use super::expand::states::{Full, States};
use super::expand::{Children, Ends, Expander, Facts, Layout};
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_engine::propnet::batch::{Batch, Packed, holds};
use ggp_engine::propnet::code::Engine;
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

/// Lanes of the expander, and states expanded at once.
const LANES: usize = 512;
/// Cases of a move's legality; steps of the search for what a move may have
/// changed; solutions.
const MOST_CASES: usize = 64;
const MOST_STEPS: usize = 1 << 10;
const MOST_SOLUTIONS: usize = 1 << 12;

/// Looks for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `n` of `stats` holds what was done in the `n`th expansion of a whole
/// level, of either side.
pub fn bidirectional(
    puzzle: &Puzzle,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let Some(mut search) = Search::new(puzzle, budget) else {
        return Outcome::Unknown;
    };
    let came = search.run(budget.depth, &mut meter);
    meter.ended(came).unwrap_or(Outcome::Unknown)
}

struct Search {
    layout: Layout,
    expander: Expander,
    /// Plays moves that are to be taken back.
    batch: Batch,
    /// By move: the changes of facts of the key that it can make.
    changes: Vec<Vec<Change>>,
    start: Packed,
    solutions: Vec<Packed>,
    sides: [Side; 2],
    key: Vec<bool>,
    most_bytes: u64,
    children: Children,
}

/// What was reached from one end.
struct Side {
    states: States,
    /// By state: the state nearer to the end from which it was reached, and the
    /// move between them.
    ways: Vec<(u32, u32)>,
    /// Where the last level begins, and how many moves it is from the end.
    first: usize,
    depth: u32,
}

/// The ends have no parent.
const NOBODY: u32 = u32::MAX;

impl Search {
    /// None if it does not apply.
    fn new(puzzle: &Puzzle, budget: &Budget) -> Option<Search> {
        let layout = Layout::new(puzzle, Facts::Relevant);
        let key = layout.key_facts();
        let of_key = |forms: Vec<Form>| {
            let mut forms: Vec<Change> = forms.iter().map(|form| Change::new(form, &key)).collect();
            forms.sort_unstable();
            forms.dedup();
            forms
        };
        let changes = cases(puzzle, MOST_CASES)?.into_iter().map(of_key).collect();
        let mut expander = Expander::new(puzzle, &layout, LANES, Engine::Auto);
        let mut solutions: Vec<Packed> = Vec::new();
        for form in Effects::of(puzzle)?.solutions {
            for vector in vectors(&form, &key, MOST_SOLUTIONS)? {
                // Facts that are not of the key are as at the start.
                let mut state = puzzle.start.clone();
                (0..key.len())
                    .filter(|&fact| key[fact])
                    .for_each(|fact| set(&mut state, fact, false));
                vector
                    .iter()
                    .for_each(|&(fact, _)| set(&mut state, fact as usize, true));
                let code = layout.encode(&state);
                let mut ends = Ends::default();
                expander.ends(&code, &mut ends);
                if ends.solved[0] == 1 && is_told(&layout, &key, &code, &state, &mut Packed::new())
                {
                    solutions.push(code);
                }
            }
        }
        solutions.sort_unstable();
        solutions.dedup();
        let side = || Side {
            states: States::new(layout.key_bits(), budget.memory_bytes / 3),
            ways: Vec::new(),
            first: 0,
            depth: 0,
        };
        let sides = [side(), side()];
        (!solutions.is_empty() && solutions.len() <= MOST_SOLUTIONS).then_some(Search {
            start: layout.encode(&puzzle.start),
            batch: Batch::new(&puzzle.net, LANES, Engine::Auto),
            expander,
            changes,
            solutions,
            sides,
            key,
            most_bytes: budget.memory_bytes / 2,
            children: Children::default(),
            layout,
        })
    }

    fn run(&mut self, depth: u32, meter: &mut Meter<'_>) -> Result<Outcome, BudgetKind> {
        let stride = self.layout.words();
        let ends = [self.start.clone(), self.solutions.concat()];
        for (side, codes) in ends.iter().enumerate() {
            let nobody = vec![(NOBODY, 0); codes.len() / stride];
            if let Some(met) = self.enter(side, codes, &nobody)? {
                return Ok(self.solved(met));
            }
        }
        loop {
            let [there, back] = &self.sides;
            if there.depth + back.depth >= depth {
                return Ok(Outcome::NoPlanWithin(depth));
            }
            let width = |side: &Side| side.states.len() - side.first;
            if width(there) == 0 {
                let positions = there.states.len() as u64;
                return Ok(Outcome::Unsolvable(Reason::Exhausted { positions }));
            }
            // Nothing may lead to a solution: then all that can be reached is looked at.
            let side = usize::from((1..=width(there)).contains(&width(back)));
            meter.begin_level(there.depth + back.depth + 1, Compare::Key);
            let met = self.advance(side, meter)?;
            meter.end_level();
            if let Some(met) = met {
                return Ok(self.solved(met));
            }
        }
    }

    /// Expands the last level of a side; states of both sides that are the same, if
    /// there are any.
    fn advance(
        &mut self,
        side: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<[u32; 2]>, BudgetKind> {
        let stride = self.layout.words();
        let (mut at, end) = (self.sides[side].first, self.sides[side].states.len());
        self.sides[side].depth += 1;
        self.sides[side].first = end;
        let mut codes = Vec::new();
        while at < end {
            let count = LANES.min(end - at);
            if meter.nodes_left() < count as u64 {
                return Err(BudgetKind::Nodes);
            }
            codes.clear();
            for number in at..at + count {
                // What is beside the key is as at the start.
                codes.extend_from_slice(&self.start);
                let place = codes.len() - stride;
                self.sides[side].states.read(number, &mut codes[place..]);
            }
            let (found, ways) = match side {
                0 => self.after(&codes, at as u32),
                _ => self.before(&codes, at as u32)?,
            };
            at += count;
            let [there, back] = &self.sides;
            let bytes = there.memory() + back.memory();
            let entries = there.states.len() + back.states.len();
            meter.spend(count as u64, ways.len() as u64, entries, bytes)?;
            let before = self.sides[side].states.len();
            let met = self.enter(side, &found, &ways)?;
            meter.level().counts.generated += (self.sides[side].states.len() - before) as u64;
            if met.is_some() {
                return Ok(met);
            }
        }
        meter.level().frontier = (self.sides[side].states.len() - end) as u64;
        Ok(None)
    }

    /// What follows some states that are numbered from `first` on, and how.
    fn after(&mut self, codes: &[u64], first: u32) -> Found {
        self.expander.expand(codes, &mut self.children);
        let parents = self.children.parents.iter().map(|parent| first + parent);
        let ways = parents.zip(self.children.moves.iter().copied()).collect();
        (std::mem::take(&mut self.children.states), ways)
    }

    /// What can have come before some states that are numbered from `first` on.
    fn before(&mut self, codes: &[u64], first: u32) -> Result<Found, BudgetKind> {
        let mut tries = Tries::default();
        let mut state = Packed::new();
        let mut known = Packed::new();
        let mut vectors = Vec::new();
        for (number, code) in (first..).zip(codes.chunks(self.layout.words())) {
            self.layout.decode(code, &mut state);
            for chosen in 0..self.changes.len() {
                vectors.clear();
                for change in &self.changes[chosen] {
                    change.fitting(&state, &mut vectors)?;
                }
                vectors.sort_unstable();
                vectors.dedup();
                for vector in &vectors {
                    let mut before = state.clone();
                    for &(fact, value) in vector {
                        set(&mut before, fact as usize, value < 0);
                    }
                    let code = self.layout.encode(&before);
                    if !is_told(&self.layout, &self.key, &code, &before, &mut known) {
                        continue;
                    }
                    // With what equals other facts.
                    self.layout.decode(&code, &mut before);
                    tries.states.push(before);
                    tries.moves.push(chosen);
                    tries.after.push(number);
                    if tries.states.len() == LANES {
                        self.play(&mut tries, codes, first);
                    }
                }
            }
        }
        self.play(&mut tries, codes, first);
        Ok((tries.found, tries.ways))
    }

    /// Keeps the states tried from which the moves lead where they should.
    fn play(&mut self, tries: &mut Tries, codes: &[u64], first: u32) {
        let stride = self.layout.words();
        self.batch.set_states(&tries.states);
        let is_open = |batch: &mut Batch, lane: usize, chosen: usize| {
            batch.is_legal(lane, 0, chosen) && !batch.is_terminal(lane)
        };
        let moves = tries.moves.iter().enumerate();
        let open: Vec<bool> = moves
            .map(|(lane, &chosen)| is_open(&mut self.batch, lane, chosen))
            .collect();
        self.batch.step(&tries.moves);
        let results = self.batch.states(tries.states.len());
        for (lane, result) in results.iter().enumerate() {
            let after = (tries.after[lane] - first) as usize;
            let mut result = self.layout.encode(result);
            let mut wanted = codes[after * stride..][..stride].to_vec();
            let bits = self.layout.key_bits();
            keep(&mut result, bits);
            keep(&mut wanted, bits);
            if open[lane] && result == wanted {
                tries.found.extend(self.layout.encode(&tries.states[lane]));
                tries
                    .ways
                    .push((tries.after[lane], tries.moves[lane] as u32));
            }
        }
        tries.states.clear();
        tries.moves.clear();
        tries.after.clear();
    }

    /// Adds states to a side; those of both sides that are the same, if there are
    /// any.
    fn enter(
        &mut self,
        side: usize,
        codes: &[u64],
        ways: &[(u32, u32)],
    ) -> Result<Option<[u32; 2]>, BudgetKind> {
        let stride = self.layout.words();
        let [there, back] = &mut self.sides;
        let (this, other) = match side {
            0 => (there, &*back),
            _ => (back, &*there),
        };
        let nodes = &mut this.ways;
        let mut met = None;
        let see = |position: usize, number: u32, is_new: bool| {
            if !is_new {
                return;
            }
            nodes.push(ways[position]);
            let code = &codes[position * stride..][..stride];
            if let (None, Some(same)) = (met, other.states.find(code)) {
                met = Some(match side {
                    0 => [number, same],
                    _ => [same, number],
                });
            }
        };
        let entered = this.states.insert_all(codes, stride, see);
        entered.map_err(|Full| BudgetKind::Memory)?;
        match this.memory() > self.most_bytes {
            true => Err(BudgetKind::Memory),
            false => Ok(met),
        }
    }

    /// The plan by way of a state that both sides have, if it is one: what keys
    /// leave out may end the game before.
    fn solved(&mut self, met: [u32; 2]) -> Outcome {
        let [there, back] = &self.sides;
        let mut plan = Plan::new();
        let mut at = met[0] as usize;
        while there.ways[at].0 != NOBODY {
            plan.push(there.ways[at].1);
            at = there.ways[at].0 as usize;
        }
        plan.reverse();
        at = met[1] as usize;
        while back.ways[at].0 != NOBODY {
            plan.push(back.ways[at].1);
            at = back.ways[at].0 as usize;
        }
        let mut code = self.start.clone();
        for chosen in &plan {
            self.expander.expand(&code, &mut self.children);
            let Some(child) = self.children.moves.iter().position(|one| one == chosen) else {
                return Outcome::Unknown;
            };
            let stride = self.layout.words();
            code.copy_from_slice(&self.children.states[child * stride..][..stride]);
        }
        let mut ends = Ends::default();
        self.expander.ends(&code, &mut ends);
        match ends.solved[0] == 1 {
            true => Outcome::Solved {
                plan,
                optimal: true,
            },
            false => Outcome::Unknown,
        }
    }
}

impl Side {
    fn memory(&self) -> u64 {
        self.states.memory() + (self.ways.capacity() * size_of::<(u32, u32)>()) as u64
    }
}

/// States that may come before others, and those that do.
#[derive(Default)]
struct Tries {
    states: Vec<Packed>,
    moves: Vec<usize>,
    /// The numbers of the states that are to follow.
    after: Vec<u32>,
    found: Vec<u64>,
    ways: Vec<(u32, u32)>,
}

/// Codes of states, and for each the state nearer to the end and the move between.
type Found = (Vec<u64>, Vec<(u32, u32)>);

/// What a move can have changed of the key's facts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    sure: Sparse,
    choices: Vec<Vec<Sparse>>,
    /// By choice: the facts that no later one speaks of.
    settled: Vec<Vec<u32>>,
}

impl Change {
    fn new(form: &Form, key: &[bool]) -> Change {
        let of_key = |vector: &Sparse| -> Sparse {
            let kept = vector.iter().filter(|&&(fact, _)| key[fact as usize]);
            kept.copied().collect()
        };
        let mut choices: Vec<Vec<Sparse>> = Vec::new();
        for options in &form.choices {
            let mut options: Vec<Sparse> = options.iter().map(of_key).collect();
            options.sort_unstable();
            options.dedup();
            if options != [Sparse::new()] {
                choices.push(options);
            }
        }
        let mut settled: Vec<Vec<u32>> = vec![Vec::new(); choices.len() + 1];
        let sure = of_key(&form.sure);
        let mut last: FxHashMap<u32, usize> = FxHashMap::default();
        last.extend(sure.iter().map(|&(fact, _)| (fact, 0)));
        for (number, options) in (1..).zip(&choices) {
            last.extend(options.iter().flatten().map(|&(fact, _)| (fact, number)));
        }
        for (fact, number) in last {
            settled[number].push(fact);
        }
        settled.iter_mut().for_each(|facts| facts.sort_unstable());
        Change {
            sure,
            choices,
            settled,
        }
    }

    /// Adds the changes that can have led to a state.
    fn fitting(&self, state: &[u64], out: &mut Vec<Sparse>) -> Result<(), BudgetKind> {
        let mut steps = MOST_STEPS;
        self.go_on(0, &self.sure, state, &mut steps, out)
    }

    fn go_on(
        &self,
        number: usize,
        sum: &Sparse,
        state: &[u64],
        steps: &mut usize,
        out: &mut Vec<Sparse>,
    ) -> Result<(), BudgetKind> {
        *steps = steps.checked_sub(1).ok_or(BudgetKind::Method)?;
        // A fact that holds was made true or left, and the other way round.
        let fits = |fact: &u32| {
            let change = sum.iter().find(|(other, _)| other == fact);
            match change.map_or(0, |&(_, value)| value) {
                0 => true,
                1 => holds(state, *fact as usize),
                -1 => !holds(state, *fact as usize),
                _ => false,
            }
        };
        if !self.settled[number].iter().all(fits) {
            return Ok(());
        }
        let Some(options) = self.choices.get(number) else {
            out.push(sum.clone());
            return Ok(());
        };
        for option in options {
            self.go_on(number + 1, &added(sum, option), state, steps, out)?;
        }
        Ok(())
    }
}

/// What a form can be, of some facts; None if it is more than so many.
fn vectors(form: &Form, key: &[bool], most: usize) -> Option<Vec<Sparse>> {
    let of_key = |vector: &Sparse| -> Sparse {
        let kept = vector.iter().filter(|&&(fact, _)| key[fact as usize]);
        kept.copied().collect()
    };
    let mut all = vec![of_key(&form.sure)];
    for options in &form.choices {
        let options: FxHashSet<Sparse> = options.iter().map(of_key).collect();
        if options.len() * all.len() > most {
            return None;
        }
        let with = |one: &Sparse| {
            options
                .iter()
                .map(|option| added(one, option))
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn added(one: &Sparse, other: &Sparse) -> Sparse {
    let mut sum: Sparse = [&one[..], other].concat();
    sum.sort_unstable();
    sum.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        first.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    sum.retain(|&(_, value)| value != 0);
    sum
}

/// Whether a code tells all facts of the key as they are.
fn is_told(layout: &Layout, key: &[bool], code: &[u64], state: &[u64], told: &mut Packed) -> bool {
    layout.decode(code, told);
    (0..key.len()).all(|fact| !key[fact] || holds(told, fact) == holds(state, fact))
}

fn set(state: &mut [u64], fact: usize, value: bool) {
    let bit = 1 << (fact % 64);
    match value {
        true => state[fact / 64] |= bit,
        false => state[fact / 64] &= !bit,
    }
}

/// Clears all but the first bits.
fn keep(code: &mut [u64], bits: usize) {
    for (word, value) in code.iter_mut().enumerate() {
        if let left @ 0..64 = bits.saturating_sub(64 * word) {
            *value &= !(u64::MAX << left);
        }
    }
}
