//! The features of positions: single facts and groups of facts, by phase.
//!
//! In: a packed state. Out: the numbers of its active features. A *phase* is the
//! role that chooses, recognized by a fact. Each phase has weights of its own.
//! Nothing here has weights.

use ggp_engine::propnet::batch::{holds, pack};

/// The groups that extend one feature by the facts of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    word: u32,
    mask: u64,
    /// The number of the first of these groups.
    first: u32,
}

/// The features of a game's positions.
///
/// Feature 0 is always active. It is followed by one feature for each fact, then by one
/// for each group of facts, which is active if all of them hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// All numbers of facts.
    numbers: Vec<u32>,
    /// The facts that count, one bit for each.
    mask: Vec<u64>,
    /// By role that chooses: the fact that tells.
    phases: Vec<u32>,
    /// The groups of two or more facts: short ones first, then in ascending order.
    groups: Vec<Vec<u32>>,
    /// The groups of two facts, of three, and so on.
    levels: Vec<Level>,
    program: Vec<Step>,
}

/// The groups of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    /// The feature of the first one.
    first: usize,
    /// By fact, or by group of the level before.
    extensions: Extensions,
}

/// By feature: the larger features that one more fact makes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Extensions {
    blocks: Vec<Block>,
    /// By feature: its first block; one entry more than features.
    starts: Vec<u32>,
    /// By feature: its first larger feature; one entry more than features.
    firsts: Vec<u32>,
}

impl Extensions {
    /// `extended` lists the feature and the additional fact of each larger feature,
    /// in ascending order.
    fn new(features: usize, extended: impl Iterator<Item = (usize, u32)>) -> Extensions {
        let mut extensions = Extensions {
            blocks: Vec::new(),
            starts: vec![0; features + 1],
            firsts: vec![0; features + 1],
        };
        let (blocks, starts) = (&mut extensions.blocks, &mut extensions.starts);
        let firsts = &mut extensions.firsts;
        let mut last = None;
        for (number, (feature, fact)) in extended.enumerate() {
            let word = fact / 64;
            if last != Some((feature, word)) {
                blocks.push(Block {
                    word,
                    mask: 0,
                    first: number as u32,
                });
                starts[feature + 1] = blocks.len() as u32;
                last = Some((feature, word));
            }
            let block = blocks.last_mut().expect("one was pushed");
            block.mask |= 1 << (fact % 64);
            firsts[feature + 1] = number as u32 + 1;
        }
        for feature in 0..features {
            starts[feature + 1] = starts[feature + 1].max(starts[feature]);
            firsts[feature + 1] = firsts[feature + 1].max(firsts[feature]);
        }
        extensions
    }

    /// Calls `act` with the number of each larger feature that is active.
    #[inline]
    fn each(&self, feature: usize, state: &[u64], mut act: impl FnMut(usize)) {
        let blocks = self.starts[feature] as usize..self.starts[feature + 1] as usize;
        for block in &self.blocks[blocks] {
            let mut others = state[block.word as usize] & block.mask;
            while others != 0 {
                let below = (others & others.wrapping_neg()) - 1;
                others &= others - 1;
                act((block.first + (block.mask & below).count_ones()) as usize);
            }
        }
    }
}

/// A feature, in an order in which each group follows the one that it extends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub feature: u32,
    /// The last fact.
    pub fact: u32,
    /// The number of facts before the last.
    pub depth: u32,
    /// The step after all groups that extend this one.
    pub skip: u32,
}

impl Features {
    /// The most facts of a group.
    pub const MOST_FACTS: usize = 3;

    /// The features of single facts. `counts` marks the facts that count.
    pub(crate) fn new(counts: &[bool], phases: Vec<u32>) -> Features {
        let mut features = Features {
            numbers: (0..counts.len() as u32).collect(),
            mask: pack(counts.iter().copied()),
            phases,
            groups: Vec::new(),
            levels: Vec::new(),
            program: Vec::new(),
        };
        features.set_groups(Vec::new());
        features
    }

    /// Replaces the groups. Each lists at most [`Features::MOST_FACTS`] different facts.
    /// All but the last are one of the groups, too, or a single fact.
    pub(crate) fn set_groups(&mut self, mut groups: Vec<Vec<u32>>) {
        groups.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        groups.dedup();
        self.levels.clear();
        let (mut before, mut start) = (0..0, 0);
        for size in 2..=Self::MOST_FACTS {
            let end = start + groups[start..].partition_point(|group| group.len() == size);
            let extended = groups[start..end].iter().map(|group| {
                let (&last, base) = group.split_last().expect("groups have facts");
                let base = match base {
                    [fact] => *fact as usize,
                    _ => {
                        let found = groups[before.clone()].binary_search_by(|g| g[..].cmp(base));
                        found.expect("a group extends another one")
                    }
                };
                (base, last)
            });
            let bases = if size == 2 {
                self.facts()
            } else {
                before.len()
            };
            self.levels.push(Level {
                first: 1 + self.facts() + start,
                extensions: Extensions::new(bases, extended),
            });
            before = start..end;
            start = end;
        }
        self.groups = groups;
        self.program = Vec::new();
        for fact in self.counting() {
            self.add_steps(0, fact as usize, 1 + fact as usize, fact);
        }
    }

    /// Adds the step of a feature, and those of all groups that extend it.
    fn add_steps(&mut self, depth: usize, index: usize, feature: usize, fact: u32) {
        let step = self.program.len();
        self.program.push(Step {
            feature: feature as u32,
            fact,
            depth: depth as u32,
            skip: 0,
        });
        if let Some(level) = self.levels.get(depth) {
            let first = level.first;
            let firsts = &level.extensions.firsts;
            for number in firsts[index] as usize..firsts[index + 1] as usize {
                let group = &self.groups[first + number - 1 - self.numbers.len()];
                let last = *group.last().expect("groups have facts");
                self.add_steps(depth + 1, number, first + number, last);
            }
        }
        self.program[step].skip = self.program.len() as u32;
    }

    /// The number of facts of a state, of which not all count.
    pub fn facts(&self) -> usize {
        self.numbers.len()
    }

    /// True if a fact counts.
    pub fn counts(&self, fact: usize) -> bool {
        holds(&self.mask, fact)
    }

    /// The facts that count, in ascending order.
    pub(crate) fn counting(&self) -> Vec<u32> {
        let facts = self.numbers.iter().copied();
        facts.filter(|&fact| self.counts(fact as usize)).collect()
    }

    /// By role that chooses: the fact that tells.
    pub fn phase_facts(&self) -> &[u32] {
        &self.phases
    }

    /// The groups of facts: short ones first, then in ascending order.
    pub fn groups(&self) -> &[Vec<u32>] {
        &self.groups
    }

    /// The number of features.
    pub fn count(&self) -> usize {
        1 + self.facts() + self.groups.len()
    }

    /// The facts of a feature; none for feature 0.
    pub fn facts_of(&self, feature: usize) -> &[u32] {
        match feature.checked_sub(1 + self.facts()) {
            Some(group) => &self.groups[group],
            None if feature == 0 => &[],
            None => std::slice::from_ref(&self.numbers[feature - 1]),
        }
    }

    /// The feature of a group, if it is one.
    pub(crate) fn feature_of(&self, group: &[u32]) -> Option<usize> {
        let order = |other: &Vec<u32>| {
            let by_size = other.len().cmp(&group.len());
            by_size.then_with(|| other[..].cmp(group))
        };
        let found = self.groups.binary_search_by(order).ok();
        found.map(|found| 1 + self.facts() + found)
    }

    /// All features but the first.
    pub(crate) fn program(&self) -> &[Step] {
        &self.program
    }

    /// The number of phases. The last is that of positions without a known chooser.
    pub fn phases(&self) -> usize {
        self.phases.len() + 1
    }

    /// The phase of a position.
    #[inline]
    pub fn phase(&self, state: &[u64]) -> usize {
        let mut facts = self.phases.iter();
        let found = facts.position(|&fact| holds(state, fact as usize));
        found.unwrap_or(self.phases.len())
    }

    /// Calls `act` with each active feature, in an order that depends on
    /// the groups alone.
    #[inline]
    pub fn each(&self, state: &[u64], mut act: impl FnMut(usize)) {
        act(0);
        for (word, (&bits, &mask)) in state.iter().zip(&self.mask).enumerate() {
            let mut bits = bits & mask;
            while bits != 0 {
                let fact = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                act(1 + fact);
                self.extend(0, fact, state, &mut act);
            }
        }
    }

    /// Calls `act` with each active group that extends a fact or a group.
    fn extend(&self, level: usize, index: usize, state: &[u64], act: &mut impl FnMut(usize)) {
        let Some(Level { first, extensions }) = self.levels.get(level) else {
            return;
        };
        extensions.each(index, state, |number| {
            act(first + number);
            self.extend(level + 1, number, state, act);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Features;

    #[test]
    fn active_features_are_listed_in_the_order_of_the_program() {
        let mut features = Features::new(&[true; 70], vec![3]);
        let groups = [&[1, 5][..], &[1, 69], &[2, 1], &[1, 5, 69], &[1, 5, 0]];
        features.set_groups(groups.map(<[u32]>::to_vec).into());
        assert_eq!(features.count(), 1 + 70 + 5);
        // The facts 1, 2, 5 and 69.
        let state = [0b10_0110, 1 << 5];
        let mut active = Vec::new();
        features.each(&state, |feature| {
            active.push(features.facts_of(feature).to_vec())
        });
        let expected = [
            &[][..],
            &[1],
            &[1, 5],
            &[1, 5, 69],
            &[1, 69],
            &[2],
            &[2, 1],
            &[5],
            &[69],
        ];
        assert_eq!(active, expected);
        let program = features.program().iter();
        let program = program.map(|step| features.facts_of(step.feature as usize).to_vec());
        let mut program = program.filter(|facts| active.contains(facts));
        assert!(
            active[1..]
                .iter()
                .all(|facts| program.next().as_ref() == Some(facts))
        );
        for group in features.groups() {
            let found = features.feature_of(group).expect("it is a group");
            assert_eq!(features.facts_of(found), group);
        }
        assert_eq!(features.feature_of(&[5, 69]), None);
        assert_eq!(
            (features.phase(&state), features.phase(&[0b1000, 0])),
            (1, 0)
        );
    }

    #[test]
    fn facts_that_do_not_count_are_never_active() {
        let features = Features::new(&[true, false, true], Vec::new());
        let mut active = Vec::new();
        features.each(&[0b111], |feature| active.push(feature));
        assert_eq!(active, [0, 1, 3]);
        assert_eq!(features.counting(), [0, 2]);
    }
}
