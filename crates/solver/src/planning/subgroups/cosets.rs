//! The search of one stage: breadth-first from both ends among the cosets of a group.
//!
//! A coset is kept as its first element, by the images of the points.

use std::ops::Range;

use super::chain::Stage;
use super::group::{Permutation, identity, inverse, product};
use super::{MOST_KEPT, Moves};
use crate::planning::expand::states::{Full, States};
use ggp_search::{BudgetKind, Meter};

/// Number of cosets that are expanded together.
const TOGETHER: usize = 64;

/// The cosets found from one end.
struct Side {
    states: States,
    /// By coset: the one that it was found from, and the element that was applied.
    from: Vec<(u32, u32)>,
    outermost: Range<usize>,
    /// The elements to apply: the moves, or their inverses.
    elements: Vec<Permutation>,
}

/// The sides of a [`Search`].
const FROM_START: usize = 0;
const FROM_END: usize = 1;

struct Search<'s> {
    stage: &'s Stage,
    sides: [Side; 2],
    /// Number of bits of a point, and of words of a coset.
    width: usize,
    stride: usize,
    room: Permutation,
}

/// The moves that take an element into the group of a stage, by their positions in
/// [`Moves::elements`]. None if no moves do, or if more than [`MOST_KEPT`] cosets are kept before
/// a level.
pub(super) fn way(
    moves: &Moves,
    stage: &Stage,
    element: &Permutation,
    meter: &mut Meter<'_>,
) -> Result<Option<Vec<usize>>, BudgetKind> {
    let width = (usize::BITS - moves.points.leading_zeros()) as usize;
    let side = |elements: Vec<Permutation>| Side {
        states: States::new(width * moves.points, moves.memory_bytes / 4),
        from: Vec::new(),
        outermost: 0..0,
        elements,
    };
    let elements = || {
        stage
            .elements
            .iter()
            .map(|&element| &moves.elements[element])
    };
    let forward: Vec<Permutation> = elements().cloned().collect();
    let backward = elements().map(|element| inverse(element)).collect();
    let sides = [side(forward), side(backward)];
    let mut search = Search {
        stage,
        sides,
        width,
        stride: (width * moves.points).div_ceil(64),
        room: Vec::new(),
    };
    let found = search.run([element.clone(), identity(moves.points)], meter)?;
    Ok(found.map(|way| way.iter().map(|&chosen| stage.elements[chosen]).collect()))
}

impl Search<'_> {
    /// Searches between two elements. Returns positions in [`Stage::elements`].
    fn run(
        &mut self,
        ends: [Permutation; 2],
        meter: &mut Meter<'_>,
    ) -> Result<Option<Vec<usize>>, BudgetKind> {
        for (side, mut end) in [FROM_START, FROM_END].into_iter().zip(ends) {
            let mut codes = Vec::new();
            self.stage.into.first_of_coset(&mut end, &mut self.room);
            self.pack(&end, &mut codes);
            if side == FROM_END && self.sides[FROM_START].states.find(&codes).is_some() {
                return Ok(Some(Vec::new()));
            }
            let side = &mut self.sides[side];
            let added = side.states.insert_all(&codes, self.stride, |_, _, _| {});
            added.map_err(|Full| BudgetKind::Memory)?;
            side.from.push((0, 0));
            side.outermost = 0..1;
        }
        loop {
            let sizes = self.sides.each_ref().map(|side| side.outermost.len());
            let chosen = match sizes[FROM_START] <= sizes[FROM_END] {
                true => FROM_START,
                false => FROM_END,
            };
            let kept: usize = self.sides.iter().map(|side| side.states.len()).sum();
            if sizes[chosen] == 0 || kept > MOST_KEPT {
                return Ok(None);
            }
            let Range { mut start, end } = self.sides[chosen].outermost;
            while start < end {
                let until = end.min(start + TOGETHER);
                if let Some(met) = self.expand(chosen, start..until, meter)? {
                    return Ok(Some(self.way(met)));
                }
                start = until;
            }
            self.sides[chosen].outermost = end..self.sides[chosen].states.len();
        }
    }

    /// Expands cosets of a side. Returns the numbers of a coset on both sides.
    fn expand(
        &mut self,
        chosen: usize,
        numbers: Range<usize>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<[usize; 2]>, BudgetKind> {
        if numbers.len() as u64 > meter.nodes_left() {
            return Err(BudgetKind::Nodes);
        }
        let mut codes = Vec::new();
        let mut code = vec![0; self.stride];
        for number in numbers.clone() {
            self.sides[chosen].states.read(number, &mut code);
            let element = self.unpack(&code);
            for applied in 0..self.stage.elements.len() {
                let mut child = product(&self.sides[chosen].elements[applied], &element);
                self.stage.into.first_of_coset(&mut child, &mut self.room);
                self.pack(&child, &mut codes);
            }
        }
        let cosets: usize = self.sides.iter().map(|side| side.states.len()).sum();
        let bytes = |side: &Side| side.states.memory() + (side.from.len() * 8) as u64;
        let nodes = numbers.len() as u64;
        let arcs = nodes * self.stage.elements.len() as u64;
        meter.spend(nodes, arcs, cosets, self.sides.iter().map(bytes).sum())?;
        let mut new: Vec<(usize, usize)> = Vec::new();
        let side = &mut self.sides[chosen];
        let added = side
            .states
            .insert_all(&codes, self.stride, |child, number, is_new| {
                if is_new {
                    new.push((child, number as usize));
                }
            });
        added.map_err(|Full| BudgetKind::Memory)?;
        meter.level().counts.generated += new.len() as u64;
        let mut met = None;
        for (child, number) in new {
            let applied = (child % self.stage.elements.len()) as u32;
            let parent = numbers.start + child / self.stage.elements.len();
            self.sides[chosen].from.push((parent as u32, applied));
            let code = &codes[child * self.stride..][..self.stride];
            if let (Some(other), None) = (self.sides[1 - chosen].states.find(code), met) {
                let mut both = [number; 2];
                both[1 - chosen] = other as usize;
                met = Some(both);
            }
        }
        Ok(met)
    }

    /// The way from the start to the end by way of a coset that was found from both.
    fn way(&self, met: [usize; 2]) -> Vec<usize> {
        let [mut before, after] = [FROM_START, FROM_END].map(|side| {
            let (from, mut number) = (&self.sides[side].from, met[side]);
            let mut way = Vec::new();
            while number > 0 {
                let (parent, applied) = from[number];
                way.push(applied as usize);
                number = parent as usize;
            }
            way
        });
        before.reverse();
        before.extend(after);
        before
    }

    /// Appends the code of an element.
    fn pack(&self, element: &[u16], codes: &mut Vec<u64>) {
        let at = codes.len();
        codes.resize(at + self.stride, 0);
        for (number, &image) in element.iter().enumerate() {
            let (word, shift) = (self.width * number / 64, self.width * number % 64);
            codes[at + word] |= u64::from(image) << shift;
            if shift + self.width > 64 {
                codes[at + word + 1] |= u64::from(image) >> (64 - shift);
            }
        }
    }

    fn unpack(&self, code: &[u64]) -> Permutation {
        let points = self.sides[FROM_START].elements[0].len();
        let image = |number: usize| {
            let (word, shift) = (self.width * number / 64, self.width * number % 64);
            let mut image = code[word] >> shift;
            if shift + self.width > 64 {
                image |= code[word + 1] << (64 - shift);
            }
            (image & ((1 << self.width) - 1)) as u16
        };
        (0..points).map(image).collect()
    }
}
